"""Objects outside of a kernel: device arrays captured by address, NumPy scalars and dtypes, closures over closures."""

import gc
import re
import weakref

import numpy as np
import pyptx
import pytest
from harness import define, jit, run
from pyptx import cuda, float32


def launched(kernel, *args):
    kernel[1, 1](*args)
    cuda.synchronize()


def test_device_array_is_read_and_written_in_place():
    d = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    kernel = jit(define("def kernel(out):\n    out[0] = D[1, 2] + D.shape[1] + D.size\n    D[2, -1] = 5\n    D[0] += 1\n", D=d))
    out = np.zeros(1)
    launched(kernel, out)
    assert out[0] == 6 + 4 + 12
    want = np.arange(12, dtype=np.float32).reshape(3, 4)
    want[2, -1] = 5
    want[0] += 1
    assert (d.copy_to_host() == want).all()
    d.copy_to_device(np.ones((3, 4), np.float32))
    launched(kernel, out)
    assert out[0] == 1 + 4 + 12, "the memory is captured, not the values"


LAYOUTS = {
    "C": lambda d: d,
    "F": lambda d: d.T,
    "step": lambda d: d[::2, 1::2],
    "row": lambda d: d[1],
    "element": lambda d: d[1, 2:3].reshape(()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "i1", "u8", "c8", "f2"])
def test_layouts_and_dtypes(layout, dtype):
    values = np.arange(24).reshape(4, 6).astype(dtype)
    d = LAYOUTS[layout](cuda.to_device(values))
    host = d.copy_to_host()
    index = {0: "()", 1: "i", 2: "i, i"}[d.ndim]
    kernel = jit(define(f"def kernel(out):\n    for i in range(D.shape[0] if D.ndim else 1):\n        if D.ndim < 2 or i < D.shape[1]:\n            out[i] = D[{index}]\n            D[{index}] = D[{index}] * 2\n", D=d))
    out = cuda.to_device(np.zeros(8, dtype))
    launched(kernel, out)
    diagonal = host.reshape(-1) if host.ndim < 2 else np.diagonal(host)
    assert (out.copy_to_host()[: diagonal.size] == diagonal).all()
    after = d.copy_to_host()
    assert ((after.reshape(-1) if after.ndim < 2 else np.diagonal(after)) == diagonal * 2).all()


def test_closure_tuple_default_and_device_function():
    x, y, z = (cuda.to_device(np.full(4, v)) for v in (1.0, 2.0, 3.0))

    def helper(i):
        return x[i]

    pair = (y, 10)

    def kernel(out, more=z):
        i = cuda.grid(1)
        v = pair[0] if out.size > 2 else more
        out[i] = helper(i) + v[i] + pair[1] + more[i]

    out = np.zeros(4)
    kernel = jit(kernel)
    kernel[1, 4](out)
    cuda.synchronize()
    assert (out == 1 + 2 + 10 + 3).all()


def test_owner_lives_as_long_as_the_kernel():
    class Owner:
        pass

    d = cuda.to_device(np.arange(4.0))
    memory = d.gpu_data
    kernel = jit(define("def kernel(out):\n    out[0] = D[3]\n", D=d))
    out = np.zeros(1)
    launched(kernel, out)
    (overload,) = kernel.overloads.values()
    assert overload.frozen_arrays == (d,)
    kernel.py_func.__globals__["D"] = None
    address = d.device_ctypes_pointer.value
    del d, overload, memory
    gc.collect()
    others = [cuda.to_device(np.zeros(4)) for _ in range(16)]
    assert all(o.device_ctypes_pointer.value != address for o in others)
    launched(kernel, out)
    assert out[0] == 3


def test_kernel_with_arrays_is_collected():
    d = cuda.to_device(np.arange(4.0))
    kernel = jit(define("def kernel(out):\n    out[0] = D[3]\n", D=d))
    launched(kernel, np.zeros(1))
    reference = weakref.ref(kernel)
    del kernel, d
    gc.collect()
    assert reference() is None


def test_values_are_frozen_names_are_not():
    a, b = cuda.to_device(np.ones(1)), cuda.to_device(np.full(1, 2.0))
    kernel = jit(define("def kernel(out):\n    out[0] = D[0]\n", D=a))
    out = np.zeros(1)
    launched(kernel, out)
    kernel.py_func.__globals__["D"] = b
    launched(kernel, out)
    assert out[0] == 1, "the array of the first compilation"
    narrow = np.zeros(1, np.float32)
    launched(kernel, narrow)
    assert narrow[0] == 2, "this overload is compiled now"


def test_read_only_array_cannot_be_stored_to():
    d = cuda.to_device(np.arange(4.0))
    source = "def kernel(out):\n    D[0] = 1\n    out[0] = 1\n"
    if hasattr(d, "__cuda_array_interface__"):
        interface = dict(d.__cuda_array_interface__)
        interface["data"] = (interface["data"][0], True)
        kernel = jit(define(source, D=cuda.from_cuda_array_interface(interface, owner=d)))
        with pytest.raises(TypeError, match="read-only"):
            launched(kernel, np.zeros(1))


def test_objects_with_array_interface():
    d = cuda.to_device(np.arange(4.0))

    class Foreign:
        __cuda_array_interface__ = getattr(d, "__cuda_array_interface__", {})

    foreign = Foreign()
    kernel = jit(define("def kernel(out):\n    out[0] = F[3]\n    F[1] = 9\n", F=foreign))
    out = np.zeros(1)
    if not Foreign.__cuda_array_interface__:  # the host device has no GPU's memory
        with pytest.raises(TypeError, match="Foreign"):
            launched(kernel, out)
        return
    launched(kernel, out)
    assert out[0] == 3 and d.copy_to_host()[1] == 9


def test_const_array_like_needs_a_host_array():
    kernel = jit(define("def kernel(out):\n    out[0] = cuda.const.array_like(D)[0]\n", D=cuda.to_device(np.ones(1))))
    with pytest.raises(TypeError, match="const.array_like needs a NumPy array"):
        launched(kernel, np.zeros(1))


def test_a_table_is_in_a_kernel_once():
    """However often it is read, in functions too: constants beyond 2 KB do not fit the constant cache."""
    table = np.random.default_rng(0).permutation(512).astype(np.int32)
    code = """
def at(k):
    return T[k & 511]

def kernel(x, out):
    i = cuda.grid(1)
    t = cuda.const.array_like(T)
    k = x[i] & 511
    out[i] = t[t[k]] + t[(k + 1) & 511] + T[k] + at(at(k)) + S[k]
"""
    kernel = define(code, T=table, S=table[::-1].copy())
    x = np.arange(64, dtype=np.int32)
    out = np.zeros_like(x)
    jit(kernel)[2, 32](x, out)
    assert (out == 2 * table[table[x]] + table[x + 1] + table[x] + table[511 - x]).all()
    ptx = cuda.compile_ptx(kernel, "int32[::1], int32[::1]", cc="sm_90")[0]
    assert len(re.findall(r"^\.const ", ptx, re.M)) == 2


def test_numpy_scalars_and_dtypes():
    values = [np.dtype(t).type(3) for t in "?bBhHiIqQefdFD"]
    for value in values:
        kernel = define(
            "def kernel(out):\n    t = cuda.local.array(2, D)\n    t[0] = V\n    out[0] = t[0] + D.type(1)\n    out[1] = V\n",
            V=value,
            D=value.dtype,
        )
        jitted = jit(kernel)
        out = np.zeros(2, value.dtype)
        launched(jitted, out)
        want = value | value.dtype.type(1) if value.dtype == bool else value + value.dtype.type(1)
        assert out[0] == want and out[1] == value


def test_closures_over_closures():
    def outer(scale):
        def middle(x):
            def inner(y):
                return x * scale + y

            return inner(scale) + inner(1)

        return middle

    function = outer(np.float32(3))

    def kernel(out):
        i = cuda.grid(1)
        out[i] = function(i) + outer_two(i)

    outer_two = outer(2)
    run(kernel, [np.zeros(4)], block=4)


def test_type_objects_as_arguments_of_functions():
    def make(dtype):
        def kernel(out):
            s = cuda.local.array(3, dtype)
            s[0] = dtype(2.75)
            out[0] = s[0]

        return kernel

    for dtype, want in ((np.int32, 2), (float32, 2.75), (np.dtype("i8").type, 2)):
        out = np.zeros(1)
        launched(jit(make(dtype)), out)
        assert out[0] == want


def test_the_shape_of_an_array_that_is_too_large_to_copy(tmp_path, monkeypatch):
    """Memory that nobody touches: 8 GB of zeros, and a view that repeats one number. Neither is copied, or looked at."""
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    for table in np.zeros((1 << 20, 1 << 10)), np.broadcast_to(np.int8(1), (3, 10**9)):
        def kernel(out):
            out[0], out[1], out[2], out[3] = table.shape[0], table.shape[1], len(table), table.ndim

        for _ in range(2):  # compiled, and from the disk
            out = np.zeros(4, np.int64)
            launched(jit(kernel), out)
            assert out.tolist() == [*table.shape, len(table), 2]

    def reads(out):
        out[0] = table[1, 2]

    with pytest.raises(pyptx.CompileError, match="PT318.*has 3000000000 bytes"):
        jit(reads)[1, 1](np.zeros(1))


def test_the_largest_array_that_is_copied():
    table = np.zeros(64 << 20, np.int8)
    table[-1] = 7
    out = np.zeros(1, np.int64)

    def kernel(out):
        out[0] = table.size

    launched(jit(kernel), out)
    assert out[0] == table.size
    whole = table.tobytes()

    def last(out):
        out[0] = len(whole) if whole else 0

    launched(jit(last), out)
    assert out[0] == table.size
    whole += b"x"
    with pytest.raises(pyptx.CompileError, match="a bytes object of 67108865 bytes, more than a kernel holds"):
        jit(last)[1, 1](out)


def test_functions_that_ask_one_namespace_for_different_attributes():
    """What the second function reads of the inner namespace is frozen too, though the first has frozen the namespace itself."""
    import types

    outer = types.SimpleNamespace(inner=types.SimpleNamespace(first=3, second=40))

    def first():
        return outer.inner.first

    def second():
        return outer.inner.second

    @cuda.jit
    def kernel(o):
        o[0] = first() + second()

    o = np.zeros(1)
    kernel[1, 1](o)
    cuda.synchronize()
    assert o[0] == 43


def test_functions_know_the_sizes_of_local_arrays():
    """Where they need a constant; each size is a function of its own."""

    def twice(x):
        y = cuda.local.array((2, len(x)), x.dtype)
        for k in range(2 * len(x)):
            y[k // len(x), k % len(x)] = x[k % len(x)]
        total = y[0, 0] * 0
        for row in y:
            for v in row:
                total += v
        return total

    @cuda.jit
    def kernel(o):
        a, b = cuda.local.array(3, np.float32), cuda.local.array(5, np.float32)
        a.fill(2)
        b.fill(10)
        cuda.static_assert(len(a) < len(b), "the second is larger")
        o[0], o[1] = twice(a), twice(b)

    o = np.zeros(2)
    kernel[1, 1](o)
    cuda.synchronize()
    assert o.tolist() == [12, 100]


def test_functions_that_need_the_size_of_an_argument():
    def copy(x):
        return cuda.local.array(len(x), x.dtype)

    @cuda.jit
    def kernel(x):
        x[0] = copy(x)[0]

    with pytest.raises(TypeError, match="must be known when the kernel is compiled"):
        kernel[1, 1](np.zeros(3))
