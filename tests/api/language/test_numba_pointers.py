"""CPointer: addresses as parameters of kernels and of declared device functions, x.ctypes and ffi.from_buffer."""

import ctypes
import re
import sys
import types as python_types

import numpy as np
import pytest
from pyptx import cuda, float32, types, uint32, void


def address(x):
    return x.device_ctypes_pointer.value


def test_the_type():
    pointer = types.CPointer(types.uint8)
    assert str(pointer) == "CPointer(uint8)" and pointer == types.CPointer(types.uint8) != types.CPointer(types.int8)
    assert void(pointer, uint32).args == (pointer, uint32) and isinstance(pointer, types.Type)
    for wrong in (types.float32[:], types.none, types.Tuple((types.int8,))):
        with pytest.raises(ValueError, match="a CPointer is of numbers|bad signature"):
            types.CPointer(wrong)


@pytest.mark.parametrize("signature", [void(types.CPointer(types.uint8), uint32), "void(CPointer(uint8), uint32)", (types.CPointer(types.uint8), uint32)], ids=str)
def test_a_kernel_indexes_an_address(signature):
    @cuda.jit(signature)
    def add_one(x, n):
        i = cuda.grid(1)
        if i < n:
            x[i] += 1

    x = cuda.to_device(np.arange(10, dtype=np.uint8))
    for k in range(3):
        add_one[1, 32](np.uint64(address(x)) if k else address(x), 8)
    assert list(x.copy_to_host()) == [*range(3, 11), 8, 9]
    assert add_one.signatures == [(types.CPointer(types.uint8), uint32)]
    for wrong in (x, 1.5, True, np.int32(0)):
        with pytest.raises(TypeError, match="No matching definition"):
            add_one[1, 32](wrong, 8)


def test_a_pointer_counts_backwards_and_has_no_extent():
    @cuda.jit("void(CPointer(float64), int64)", debug=True)
    def kernel(p, k):
        p[-1] = p[k] + p[-k]

    x = cuda.to_device(np.arange(5.0))
    kernel[1, 1](address(x[2:]), 2)
    assert list(x.copy_to_host()) == [0, 4, 2, 3, 4]
    for use in (lambda p: len(p), lambda p: p[1:], lambda p: p.size, lambda p: p.shape):
        with pytest.raises(AttributeError, match=r"CPointer\(float64\) has no attribute 'shape'"):
            cuda.jit("void(CPointer(float64))")(use)


def test_a_pointer_into_an_array():
    """Where a pointer's memory ends is not known, so a loop's loads never go ahead of stores by one."""
    @cuda.jit("void(CPointer(float32), float32[:], int64)")
    def kernel(p, x, n):
        for j in range(n):
            p[j + 1] = x[j] * 2

    x = cuda.to_device(np.ones(20, np.float32))
    kernel[1, 1](address(x), x, 19)
    assert list(x.copy_to_host()) == [2.0**k for k in range(20)]


def test_the_address_of_an_array():
    @cuda.jit
    def kernel(x, out):
        t = cuda.shared.array(4, np.float32)
        out[0], out[1], out[2] = x.ctypes.data, x[1:].ctypes.data - x.ctypes.data, t.ctypes.data % 4

    x, out = cuda.to_device(np.zeros((3, 2), np.float32)), cuda.to_device(np.ones(3, np.uint64))
    kernel[1, 1](x, out)
    assert list(out.copy_to_host()) == [address(x), 8, 0]


def test_what_is_no_address():
    """Each says what to pass; a ctypes object goes to no other kernel either."""
    @cuda.jit("void(CPointer(float32))")
    def kernel(x):
        x[0] = 1

    x = np.zeros(4, np.float32)
    for wrong in (x, x[::2], np.zeros((2, 2), np.float32), None, 1.5, np.zeros(4, np.int32)):
        with pytest.raises(TypeError, match=r"argument 1 \('x'\) is an address: pass an int, .*x\.ctypes\.data"):
            kernel[1, 1](wrong)
    pointer = ctypes.POINTER(ctypes.c_float)
    for wrong in (x.ctypes, ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(), pointer(), x.ctypes.data_as(pointer), ctypes.c_char_p(b"")):
        for k in (kernel, cuda.jit(kernel.py_func)):
            with pytest.raises(TypeError, match=r"argument 1 \('x'\) has type .*ctypes.cast\(p, ctypes.c_void_p\).value, to a types.CPointer"):
                k[1, 1](wrong)


def test_voidptr():
    """A void*: 64 bits without a type of elements."""
    assert types.voidptr == types.uint64
    total = cuda.declare_device("total", "float32(voidptr, int32)")

    def kernel(out, x):
        out[0] = total(x.ctypes.data, len(x))

    text = cuda.compile_ptx(kernel, "void(float32[:], float32[:])", cc=(8, 0))[0]
    assert re.search(r"\.extern \.func +\(\.param \.b32 \w+\) total\s*\(\s*\.param \.b64 \w+,\s*\.param \.b64 \w+,", text)


@pytest.fixture
def ffi(monkeypatch):
    """A cffi.FFI(), or where cffi is not installed an object whose class has the same name."""
    try:
        import cffi

        return cffi.FFI()
    except ImportError:
        module = python_types.ModuleType("cffi.api")
        monkeypatch.setitem(sys.modules, "cffi.api", module)
        return type("FFI", (), {"__module__": "cffi.api"})()


def test_pointers_of_declared_functions(ffi):
    total = cuda.declare_device("total", "float32(CPointer(float32), int32)")
    assert total.sig == float32(types.CPointer(float32), types.int32)

    def kernel(out, x):
        out[0] = total(ffi.from_buffer(x), len(x)) + total(x.ctypes, 2) + total(x, 1)

    text = cuda.compile_ptx(kernel, "void(float32[:], float32[::1])", cc=(8, 0))[0]
    assert text.count("call.uni") == 3 and ".extern .func" in text
    for bad in ("float32[:]", "float64[::1]"):
        with pytest.raises(TypeError, match=r"CPointer\(float32\)"):
            cuda.compile_ptx(kernel, f"void(float32[:], {bad})", cc=(8, 0))
    with pytest.raises(ValueError, match="cannot be passed"):
        cuda.declare_device("f", "int32(CPointer(float16))")
    with pytest.raises(ValueError, match="is not a type"):
        cuda.declare_device("f", "CPointer(float32)(int32)")
