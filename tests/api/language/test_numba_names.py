"""What programs for Numba name besides kernels: attributes of a kernel, its driver layer, its settings, constants written for int32's bits."""

import functools
import importlib.util
import os
import subprocess
import sys
import types

import numpy as np
import pytest
import pyptx
from pyptx import config, cuda


def test_a_kernel_has_the_attributes_of_its_function():
    def function(x):
        "Its text."
        x[0] = 1

    kernel = cuda.jit(function)
    assert (kernel.__name__, kernel.__qualname__, kernel.__doc__) == (function.__name__, function.__qualname__, "Its text.")
    assert kernel.__module__ == __name__ and kernel.__wrapped__ is function
    assert isinstance(type(kernel).__module__, str) and "kernel" in type(kernel).__doc__

    def other(y):
        "Another."

    assert functools.wraps(other)(kernel) is kernel
    assert (kernel.__name__, kernel.__doc__, kernel.__wrapped__) == ("other", "Another.", other)
    kernel.__doc__ = "Mine."
    kernel.note = 3
    assert kernel.__doc__ == "Mine." and kernel.note == 3 and kernel.py_func is function
    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 1


def test_attributes_that_a_module_makes_when_asked():
    asked = []

    def attribute(name):
        asked.append(name)
        if name in ("SCALE", "double"):
            return {"SCALE": 7, "double": lambda x: 2 * x}[name]
        raise AttributeError(name)

    lazy = types.ModuleType("lazy")
    lazy.__getattr__ = attribute

    @cuda.jit
    def kernel(x):
        x[0] = lazy.SCALE + lazy.double(x[1])

    x = np.array([0, 4])
    kernel[1, 1](x)
    assert x[0] == 15 and "SCALE" in asked

    @cuda.jit
    def wrong(x):
        x[0] = lazy.nothing

    with pytest.raises(AttributeError, match="'lazy' has no attribute 'nothing'"):
        wrong[1, 1](x)


def test_a_module_that_is_loaded_lazily(tmp_path, monkeypatch):
    (tmp_path / "pyptx_test_lazily.py").write_text("STEP = 5\ndef twice(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = importlib.util.find_spec("pyptx_test_lazily")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    lazily = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lazily)

    @cuda.jit
    def kernel(x):
        x[0] = lazily.twice(lazily.STEP)

    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 10


def test_constants_written_for_their_bits():
    def mix(x):
        s = x[0]
        s ^= 0xA5366B4D * s
        x[0] = s

    def cast(x):
        x[0] = np.int32(0x9E3779B9)

    x = np.array([5], np.int32)
    with pytest.raises(OverflowError, match=r"write np.int32\(-1523160243\), or compute with np.uint32\(x\)"):
        cuda.jit(mix)[1, 1](x)
    with pytest.raises(OverflowError, match=r"np.int32\(-1640531527\)"):
        cuda.jit(cast)[1, 1](x)
    with pytest.raises(OverflowError) as told:
        cuda.jit(lambda x: cuda.atomic.add(x, 0, x[0] + 2**40))[1, 1](x)
    assert "np.uint32" not in str(told.value)
    cuda.jit(mix, typing="numba")[1, 1](x)
    assert x[0] == np.int64(5 ^ (0xA5366B4D * 5)).astype(np.int32)
    cuda.jit(cast, typing="numba")[1, 1](x)
    assert x[0] == -1640531527


def test_the_driver_layer():
    import pyptx.cuda.cudadrv.driver
    from pyptx.cuda.cudadrv import devicearray, devices, error
    from pyptx.cuda.cudadrv.runtime import runtime

    assert devices.gpus.current is cuda.get_current_device() and devices.get_context().device is cuda.get_current_device()
    assert cuda.cudadrv.devices is devices and pyptx.cuda.cudadrv.driver.CudaAPIError is cuda.CudaAPIError
    assert issubclass(error.CudaSupportError, error.CudaDriverError) and issubclass(pyptx.CompileError, error.NvvmError)
    assert devicearray.is_cuda_ndarray(cuda.device_array(1)) and not devicearray.is_cuda_ndarray(np.zeros(1))
    assert cuda.runtime is runtime and runtime.is_supported_version() == cuda.is_supported_version()
    assert cuda.cudadrv.driver.driver.get_device_count() == len(cuda.gpus)
    if cuda.is_available():
        major, minor = runtime.get_version()
        assert major >= 11 and 0 <= minor < 10
    else:
        with pytest.raises(error.CudaSupportError):
            cuda.cudadrv.driver.driver.get_version()


def test_the_warning_that_programs_silence():
    from pyptx.errors import NumbaPerformanceWarning

    assert NumbaPerformanceWarning is pyptx.Advice and issubclass(NumbaPerformanceWarning, Warning)


def test_deallocations():
    pending = cuda.current_context().deallocations
    assert pending.clear() is None and len(pending) == 0 and not pending.is_locked
    with pending.disable():
        cuda.device_array(8)


def test_settings():
    assert pyptx.config is config and config.ENABLE_CUDASIM == int(cuda.get_current_device().is_host)
    before = config.CUDA_LOW_OCCUPANCY_WARNINGS
    config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0
    assert config.CUDA_LOW_OCCUPANCY_WARNINGS == config.CUDA_WARN_ON_IMPLICIT_COPY == 0
    config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = before
    for use in (lambda: config.CUDA_NOTHING, lambda: setattr(config, "CUDA_NOTHING", 1)):
        with pytest.raises(AttributeError, match="no setting 'CUDA_NOTHING'"):
            use()


def test_settings_that_do_something(monkeypatch):
    monkeypatch.setenv("PYPTX_CAI_SYNC", "1")
    config.CUDA_ARRAY_INTERFACE_SYNC = 0
    assert os.environ["PYPTX_CAI_SYNC"] == "0" and config.CUDA_ARRAY_INTERFACE_SYNC == 0
    config.CUDA_ARRAY_INTERFACE_SYNC = True
    assert os.environ["PYPTX_CAI_SYNC"] == "1" and config.CUDA_ARRAY_INTERFACE_SYNC == 1
    program = "from pyptx import config, cuda\nconfig.ENABLE_CUDASIM = 1\nassert cuda.get_current_device().is_host and config.ENABLE_CUDASIM == 1\n"
    environment = {name: value for name, value in os.environ.items() if name != "PYPTX_DEVICE"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=120)
