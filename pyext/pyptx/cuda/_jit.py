"""@cuda.jit: reads the decorator's many forms and options, and makes a Dispatcher (in C) of a function."""

import os

from pyptx import _pyptx
from pyptx._numbers import whole
from pyptx._pyptx import Dispatcher, Type
from pyptx.cuda._link import read_link

_FUNCTION = type(lambda: None)
_INLINE = {None: 0, False: 0, "auto": 0, True: 1, "always": 1, "never": 2}
_FAST = {"ftz": 1, "div": 2, "sqrt": 4, "func": 8, "nnan": 16, "ninf": 32, "nsz": 64, "reassoc": 128, "arcp": 256, "afn": 8}
_FAST_ALL = 1 | 2 | 4 | 8  # semantics.md, section 6: approximations; assumptions and reassociation are asked for by name


def _flag(name, value):
    if value not in (True, False, None):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def _count(name, value):
    if value is None:
        return 0
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, not {value!r}")
    value = value.__index__()
    if not 0 <= value < 1 << 31:
        raise ValueError(f"{name} must not be negative or huge: {value}")
    return value


def _opt(out, value):
    if value == "unchecked" and isinstance(value, str):
        out["unchecked"] = True
    elif value is True or value is None:
        pass
    elif value is False:
        out["opt"] = 0
    elif isinstance(value, int) and 0 <= value <= 3:
        out["opt"] = value
    else:
        raise ValueError(f"opt must be 0 to 3, True, False or 'unchecked', not {value!r}")


def _fastmath(out, value):
    if value is True:
        out["fastmath"] = _FAST_ALL
    elif value is False or value is None:
        out["fastmath"] = 0
    else:
        names = {value} if isinstance(value, str) else set(value) if isinstance(value, (set, frozenset, list, tuple)) else {None}
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"fastmath must be True, False or a set of flags ({', '.join(_FAST)}), not {value!r}")
        unknown = names - _FAST.keys() - {"fast", "contract"}
        if unknown:
            raise ValueError(f"unknown fastmath flag {sorted(unknown)[0]!r}; known: {', '.join(_FAST)}")
        out["fastmath"] = 511 if "fast" in names else sum({_FAST[n] for n in names if n in _FAST})


def _launch_bounds(out, value):
    if value is None:
        return
    bounds = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(bounds) <= 2:
        raise ValueError(f"launch_bounds is max_threads or (max_threads, min_blocks), not {value!r}")
    out["max_threads"] = _count("launch_bounds", bounds[0])
    out["min_blocks"] = _count("launch_bounds", bounds[1]) if len(bounds) == 2 else 0


def _typing(out, value):
    if value not in ("numpy", "numba"):
        raise ValueError(f"typing must be 'numpy' or 'numba', not {value!r}")
    out["numba_typing"] = value == "numba"


def _inline(out, value):
    if not isinstance(value, (str, bool, type(None))) or value not in _INLINE:
        raise ValueError(f"inline must be 'always', 'never' or 'auto', not {value!r}")
    out["inline"] = _INLINE[value]


def _forceinline(out, value):
    if _flag("forceinline", value):
        out["inline"] = 1


def _link(out, value):
    out["link"] = read_link(value)


def _coarsen(out, value):
    if value is None:
        return
    if isinstance(value, bool):
        out["coarsen"] = -1 if value else 1  # True: as without the option, and so in compile_ptx too
        return
    factor = _count("coarsen", value)
    if not 1 <= factor <= 8:
        raise ValueError(f"coarsen is the number of blocks that one block runs, 1 (off) to 8, not {value!r}")
    out["coarsen"] = factor


def _stack(out, value):
    if value is None:
        return
    size = _count("stack", value)
    if not 64 <= size <= 256 << 10:
        raise ValueError(f"stack is the bytes of a thread's stack for recursion, 64 to 262144, not {value!r}")
    out["stack"] = size


def _dump(out, value):
    if value is not None and not isinstance(value, str):
        raise TypeError(f"dump must be letters of passes, not {value!r}")
    out["dump"] = value


def _cache(out, value):
    if value is not None:
        out["cache"] = 2 if _flag("cache", value) else 1  # PxCaching; unset: PYPTX_CACHE_DIR decides


def _accepted(out, value):
    """Hints that change no result and are not used yet: shared_memory_carveout; and lto, which is about how Numba links."""


def _extensions(out, value):
    if value:
        raise TypeError("extensions= is of Numba's own types: an argument is a number, an array or a tuple of these, so take what the kernel needs out of "
                        "the object before the launch; objects with __cuda_array_interface__ or __dlpack__ are arrays")


def _as(name, read):
    def option(out, value):
        out[name] = read(name, value)

    return option


_OPTIONS = {
    "device": _as("device", _flag),
    "debug": _as("debug", _flag),
    "fma": _as("fma", _flag),
    "lineinfo": _as("lineinfo", _flag),
    "exceptions": _as("exceptions", _flag),
    "boundscheck": _as("boundscheck", _flag),
    "max_registers": _as("max_registers", _count),
    "opt": _opt,
    "fastmath": _fastmath,
    "launch_bounds": _launch_bounds,
    "typing": _typing,
    "inline": _inline,
    "forceinline": _forceinline,
    "link": _link,
    "coarsen": _coarsen,
    "stack": _stack,
    "dump": _dump,
    "cache": _cache,
    "shared_memory_carveout": _accepted,
    "lto": _accepted,
    "extensions": _extensions,
}


def _read_options(options):
    out = {}
    if "typing" not in options and os.environ.get("PYPTX_TYPING"):
        _typing(out, os.environ["PYPTX_TYPING"])
    if "coarsen" not in options and os.environ.get("PYPTX_COARSEN"):
        try:
            _coarsen(out, whole(os.environ["PYPTX_COARSEN"], 1, 8))
        except ValueError as error:
            raise ValueError(f"PYPTX_COARSEN {error}") from None
    for name, value in options.items():
        read = _OPTIONS.get(name)
        if read is None:
            import difflib

            near = difflib.get_close_matches(name, _OPTIONS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else f": they are {', '.join(n for n in sorted(_OPTIONS) if n[0] != '_')}"
            raise TypeError(f"@cuda.jit has no option '{name}'{hint}")
        read(out, value)
    return out


def _is_signature_list(value):
    """A list of signatures, as distinct from one signature that is a list or tuple of types."""
    return isinstance(value, list) and all(isinstance(s, (str, tuple, list)) or _is_signature(s) for s in value) and not all(
        isinstance(s, str) and "(" not in s and "," not in s for s in value)


def _is_signature(value):
    if not isinstance(value, Type) or not repr(value).endswith(")") or repr(value).startswith(("(", "enum ")):
        return False
    return not repr(value).partition("(")[2].partition(":")[0].isidentifier()  # the type of a named tuple: Point(x: float32)


def _plain_function(function):
    function = _pyptx._own(function)  # numba.njit(f) is f
    if isinstance(function, Dispatcher):
        return function.py_func
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if not isinstance(function, _FUNCTION):
        kind = "a class" if isinstance(function, type) else f"a {type(function).__name__}"
        raise TypeError(f"@cuda.jit decorates a function written in Python, not {kind}")
    return function


def _make(function, signatures, read):
    kernel = Dispatcher(_plain_function(function), signatures, **read)
    if signatures and not kernel.device:
        for signature in signatures:
            kernel.compile(signature)
    return kernel


def jit(func_or_sig=None, **options):
    """Makes a kernel, or with device=True a function that kernels call, of a Python function.

    Forms: ``@cuda.jit``; ``@cuda.jit(options)``; ``@cuda.jit("void(float32[:], int32)", options)`` with a signature as text, as
    ``void(float32[:], int32)``, as a tuple of types, or a list of these: it is then compiled at once and for these types only.

    Options, with their defaults:
        device=False            a function for kernels to call
        debug=False             check indices and integer division, raise exceptions, keep line numbers
        opt=3                   0 to 3; "unchecked" also leaves out the host device's index checks
        fastmath=False          approximate math; or a set of ftz, div, sqrt, func, nnan, ninf, nsz, reassoc, arcp
        fma=True                contract a * b + c
        lineinfo=False          line numbers for profilers
        exceptions=False        assert and raise stop a GPU kernel without debug
        boundscheck=False       check indices without debug
        typing="numpy"          or "numba": Numba's type promotion
        inline="auto"           or "always", "never": where kernels call it; forceinline=True is "always"
        max_registers, launch_bounds   limits of registers a thread; threads a block, or (threads, blocks)
        coarsen=None            GPU: blocks of a large launch that one block runs; 1: off, 2 to 8: of every launch, where the kernel allows it;
                                None: the compiler decides; True: in compile_ptx too
        stack=1024              GPU: bytes of local memory that a thread has for the frames of recursive functions
        cache=None              True: keep compiled kernels on disk for later processes; False: never; None: if PYPTX_CACHE_DIR is set
        link=None               a file or a list of files (.ptx .cubin .fatbin .o .a .cu) or cuda.PTXSource(text) and its like, linked with the
                                kernel on a GPU: what defines the functions that cuda.declare_device declares
        dump                    letters of compiler passes to print
    """
    read = _read_options(options)
    func_or_sig = _pyptx._own(func_or_sig)
    if func_or_sig is None or func_or_sig == []:
        return lambda function: _make(function, (), read)
    if _is_signature_list(func_or_sig):
        signatures = tuple(func_or_sig)
    elif isinstance(func_or_sig, (str, tuple, list, Type)):
        signatures = (func_or_sig,)
    else:
        return _make(func_or_sig, (), read)
    return lambda function: _make(function, signatures, read)


def cache_info():
    """Settings of the disk cache and what it did for this process: a named tuple (docs/guide/caching.md).

    Fields: directory, enabled (for every kernel), readonly (directories), limit (bytes), hits, misses, stored (files), damaged (files).
    """
    from pyptx import _cache

    return _cache.cache_info()


# --- compiling without launching ------------------------------------------------------------------------------------------


def _arch(cc):
    if cc is None:
        device = _pyptx.get_current_device()
        if device.is_host:
            return "sm_75"
        cc = device.compute_capability
    if isinstance(cc, str):
        return cc
    if not isinstance(cc, tuple) or len(cc) != 2:
        raise TypeError(f'cc is (major, minor) or "sm_90", not {cc!r}')
    return f"sm_{cc[0]}{cc[1]}"


def compile_ptx(pyfunc, sig, cc=None, device=False, **options):
    """(PTX text, result type) of a function for a signature. cc: (major, minor) or "sm_90"; the current GPU's, or sm_75 without one."""
    if device:
        options["device"] = True
    text = sig if isinstance(sig, str) else _signature_text(sig)
    out = _pyptx._compile(pyfunc, text, "nvptx", _arch(cc), 0, options, "ptx")
    result = out.get("result")
    return out["ptx"], _pyptx._type(result if result and result != "none" else "none")


def compile(pyfunc, sig, cc=None, device=True, output="ptx", **options):
    """As compile_ptx, for device functions by default; output is "ptx"."""
    if output != "ptx":
        raise ValueError(f"output is 'ptx', not {output!r}; `pyptx compile --emit` has the others")
    return compile_ptx(pyfunc, sig, cc=cc, device=device, **options)


def compile_ptx_for_current_device(pyfunc, sig, device=False, **options):
    """compile_ptx for the GPU that is current."""
    return compile_ptx(pyfunc, sig, device=device, **options)


def _signature_text(sig):
    sig = _pyptx._own(sig)
    if isinstance(sig, Type):
        return repr(sig) if _is_signature(sig) else f"({sig!r})"

    def one(item):
        if isinstance(item, (tuple, list)):
            return "(" + ", ".join(map(one, item)) + ("," if len(item) == 1 else "") + ")"
        return item if isinstance(item, str) else repr(item)

    return "(" + ", ".join(map(one, sig)) + ")"
