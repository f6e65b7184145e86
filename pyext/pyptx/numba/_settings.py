"""numba.config: Numba's public settings where it is not installed, and where it is, those that
pyptx has too."""

import importlib
import os
import sys
from importlib.abc import Loader
from types import ModuleType

MODULE = "numba.core.config"
_OURS = ("ENABLE_CUDASIM", "CUDA_ARRAY_INTERFACE_SYNC", "CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY", "CUDA_DEBUGINFO_DEFAULT")

# --- beside an installed Numba: what a program sets is set here too


class _Told:
    """What the class of Numba's module has in front of its own."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name in _OURS:
            setattr(importlib.import_module("pyptx.config"), name, value)


class _Then(Loader):
    """The loader of Numba's module, which listens afterwards."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        listen()


def spec_of(found):
    """The spec of Numba's module, by which settings are heard of once it is imported."""
    found.loader = _Then(found.loader)
    return found


def listen():
    """From now on settings of numba.config, if it is imported, are pyptx.config's too."""
    module = sys.modules.get(MODULE)
    if module is not None and not isinstance(module, _Told):
        module.__class__ = type("module", (_Told, type(module)), {"_before": type(module)})


def stop_listening():
    """Undoes listen()."""
    module = sys.modules.get(MODULE)
    if isinstance(module, _Told):
        module.__class__ = type(module)._before


# --- without one. The public settings of Numba's reference ("Environment variables") with their
# defaults. Those of _OURS are pyptx.config's; DISABLE_JIT is asked by njit; nothing here needs the
# others.
_DEFAULTS = {
    "BOUNDSCHECK": None, "CACHE_DIR": "", "CACHE_LOCATOR_CLASSES": "", "CAPTURED_ERRORS": "new_style", "CHROME_TRACE": "", "COLOR_SCHEME": "no_color",
    "CPU_FEATURES": None, "CPU_NAME": None, "CUDA_DEFAULT_PTX_CC": (5, 0), "CUDA_DRIVER": "", "CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY": 0,
    "CUDA_ENABLE_PYNVJITLINK": 0, "CUDA_INCLUDE_PATH": "/usr/local/cuda/include", "CUDA_LOG_API_ARGS": 0, "CUDA_LOG_LEVEL": "", "CUDA_LOG_SIZE": 1024,
    "CUDA_DEALLOCS_COUNT": 10, "CUDA_DEALLOCS_RATIO": 0.2, "CUDA_MEMORY_MANAGER": "default", "CUDA_PER_THREAD_DEFAULT_STREAM": 0,
    "CUDA_USE_NVIDIA_BINDING": 0, "CUDA_VERBOSE_JIT_LOG": 1, "DEBUG": 0, "DEBUGINFO_DEFAULT": 0, "DEBUG_ARRAY_OPT": 0, "DEBUG_ARRAY_OPT_RUNTIME": 0,
    "DEBUG_ARRAY_OPT_STATS": 0, "DEBUG_CACHE": 0, "DEBUG_FRONTEND": 0, "DEBUG_JIT": 0, "DEBUG_NRT": 0, "DEBUG_TYPEINFER": 0, "DEVELOPER_MODE": 0,
    "DISABLE_CUDA": 0, "DISABLE_INTEL_SVML": 0, "DISABLE_JIT": 0, "DISABLE_PERFORMANCE_WARNINGS": 0, "DUMP_ASSEMBLY": 0, "DUMP_BYTECODE": 0, "DUMP_CFG": 0,
    "DUMP_FUNC_OPT": 0, "DUMP_IR": 0, "DUMP_LLVM": 0, "DUMP_OPTIMIZED": 0, "DUMP_SSA": 0, "ENABLE_AVX": 1, "ENABLE_PROFILING": 0,
    "ENABLE_SYS_MONITORING": 0, "EXTEND_VARIABLE_LIFETIMES": 0, "FORCE_CUDA_CC": None, "FULL_TRACEBACKS": 0, "FUNCTION_CACHE_SIZE": 128,
    "GDB_BINARY": "gdb", "HIGHLIGHT_DUMPS": 0, "JIT_COVERAGE": 0, "LLVM_PASS_TIMINGS": 0, "LOOP_VECTORIZE": 1, "NRT_STATS": 0, "OPT": 3,
    "PARALLEL_DIAGNOSTICS": 0, "SHOW_HELP": 0, "SLP_VECTORIZE": 0, "THREADING_LAYER": "default", "THREADING_LAYER_PRIORITY": ["tbb", "omp", "workqueue"],
    "TRACE": 0,
}  # fmt: skip


def _initial(name, default):
    """What a setting is at first: NUMBA_ and its name in the environment, if that is like the
    default; else the default."""
    text = os.environ.get(f"NUMBA_{name}")
    if text is None or not isinstance(default, (int, str, list)):
        return default
    if isinstance(default, list):
        return text.split()
    try:
        return type(default)(text)
    except ValueError:
        return default


class Settings(ModuleType):
    """The module numba.config."""

    def __init__(self, name):
        super().__init__(name, "Numba's settings.")
        values = {name: _initial(name, default) for name, default in _DEFAULTS.items()}
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        values["NUMBA_DEFAULT_NUM_THREADS"] = threads
        values["NUMBA_NUM_THREADS"] = _initial("NUM_THREADS", threads)
        self.__dict__.update(values)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'", name=name)
        if name in _OURS:
            return getattr(importlib.import_module("pyptx.config"), name)
        raise _unknown(name)

    def __setattr__(self, name, value):
        if name in _OURS:
            setattr(importlib.import_module("pyptx.config"), name, value)
        elif name in self.__dict__ or name.startswith("__") or isinstance(value, ModuleType):
            super().__setattr__(name, value)
        else:
            raise _unknown(name)

    def __delattr__(self, name):
        raise AttributeError(f"settings of numba.config stay: set numba.config.{name}", name=name)


def _unknown(name):
    return AttributeError(f"numba.config (which is pyptx's, since Numba is not installed) has no setting '{name}'", name=name)


_settings = None


def settings(name):
    """The one module that stands for numba.config and numba.core.config."""
    global _settings
    if _settings is None:
        _settings = Settings(name)
    return _settings
