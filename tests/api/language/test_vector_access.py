"""cuda.vector.load and store: widths, types, spaces of memory, ends of arrays, alignment; and that PTX has one access."""

import re

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cuda
from test_ptx import assemble, ptx_of

WIDTHS = [(t, n) for t in ("int8", "uint16", "float16", "bfloat16", "int32", "float32", "int64", "float64")
          for n in (2, 4, 8, 16) if np.dtype("V2" if t == "bfloat16" else t).itemsize * n <= 16]  # fmt: skip


@cuda.jit
def scale(out, x, a):
    i = 4 * cuda.grid(1)
    if i < x.size:
        v = cuda.vector.load(x, i, 4)
        cuda.vector.store(out, i, (v.x * a, v.y * a, v[2] * a, v.w * a))


@pytest.mark.parametrize("dtype, n", WIDTHS)
def test_widths(dtype, n):
    """Through shared memory, which begins where the access needs it though it was not asked to."""
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    kernel = define(
        f"def kernel(out, x):\n    i = {n} * cuda.threadIdx.x\n    pad = cuda.shared.array(1, np.int8)\n    pad[0] = 1\n"
        f"    s = cuda.shared.array({32 * n}, x.dtype)\n    own = cuda.local.array({n}, x.dtype)\n"
        f"    cuda.vector.store(own, 0, cuda.vector.load(x, i, {n}))\n    cuda.vector.store(s, i, cuda.vector.load(own, 0, {n}))\n"
        f"    cuda.syncthreads()\n    j = {n} * (31 - cuda.threadIdx.x)\n    cuda.vector.store(out, j, cuda.vector.load(s, j, {n}))\n"
    )
    x = (np.arange(32 * n) % 120).astype(np.float32).astype(dtype)
    out = np.zeros_like(x)
    cuda.jit(kernel)[1, 32](out, x)
    assert np.array_equal(out, x)


@pytest.mark.parametrize("dtype, n", WIDTHS)
def test_one_access(dtype, n, tmp_path, one_entry):
    kernel = define(f"def kernel(out, x):\n    i = {n} * cuda.grid(1)\n    cuda.vector.store(out, i, cuda.vector.load(x, i, {n}))\n")
    ptx = ptx_of(kernel, f"{dtype}[::1], {dtype}[::1]", "sm_75")
    for way in ("ld", "st"):
        accesses = re.findall(rf"\b{way}\.global(?:\.nc)?((?:\.v\d)?)\.b(\d+)", ptx)
        assert len(accesses) == 1, ptx
        vector, bits = accesses[0]
        size = 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
        assert int(vector[2:] or 1) * int(bits) // 8 == n * size
    assemble(ptx, "sm_75", tmp_path)


def test_values():
    x = np.arange(1024, dtype=np.float32)
    out = np.zeros_like(x)
    scale[4, 64](out, x, np.float32(3))
    assert np.array_equal(out, 3 * x)


def test_along_the_last_axis_and_of_an_alignment_of_one_s_own():
    @cuda.jit
    def kernel(out, x):
        i, j = cuda.grid(2)
        if i < x.shape[0] and 2 * j < x.shape[1]:
            v = cuda.vector.load(x, (i, 2 * j), 2)
            w = cuda.vector.load(x, (i, -2), (2,), alignment=8)
            out[i, j] = v[0] + v[1] + w.y

    x = np.arange(80, dtype=np.float64).reshape(8, 10)
    out = np.zeros((8, 5))
    kernel[1, (8, 5)](out, x)
    assert np.array_equal(out, x.reshape(8, 5, 2).sum(2) + x[:, -1:])


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_aligned(dtype):
    @cuda.jit
    def kernel(out, x, rows):
        i = cuda.threadIdx.x
        s = cuda.shared.array(64, x.dtype)
        out[0, i] = cuda.vector.aligned(x, i, 2)
        out[1, i] = cuda.vector.aligned(x[1:], i, 2)
        out[2, i] = cuda.vector.aligned(rows, (i, 1), 2)
        out[3, i] = cuda.vector.aligned(rows, (i, -4), 2)
        if cuda.vector.aligned(s, i, 2):
            cuda.vector.store(s, i, (x[i], x[i + 1]))
        cuda.syncthreads()
        out[4, i] = s[i] == x[i]

    x = cuda.to_device(np.arange(65).astype(dtype))
    out = cuda.to_device(np.zeros((5, 32), bool))
    kernel[1, 32](out, x, cuda.to_device(np.zeros((32, 5), dtype)))
    even = np.arange(32) % 2 == 0
    assert np.array_equal(out.copy_to_host(), [even, ~even, ~even, ~even, [True] * 32])


@pytest.mark.parametrize("signature", ["float32[:]", "complex64[::1]", "bool[::1]", "align4 float64[::1]", "record(x: float32 @0, v: int32 @4; 8)[::1]"])
def test_arrays_that_vectors_do_not_take_are_not_aligned(signature):
    """Known when the kernel is compiled: the code behind it, which is wrong for them, is not typed."""
    kernel = define("def kernel(x):\n    if cuda.vector.aligned(x, 0, 2):\n        cuda.vector.store(x, 0, (1, 2))\n")
    assert "st.global" not in ptx_of(kernel, signature, "sm_75")
    assert "st.global.v2" in ptx_of(kernel, "float64[::1]", "sm_75")


@pytest.mark.host_only
def test_an_alignment_that_the_call_names():
    kernel = cuda.jit(define("def kernel(x):\n    x[0] = cuda.vector.load(x, 4, 2, alignment=64).x\n"))
    with pytest.raises(ValueError, match=r"begin at a multiple of 16 elements\n"):
        kernel[1, 1](cuda.to_device(np.zeros(16, np.float32)))


@pytest.mark.host_only
@pytest.mark.parametrize("at, error, what", [
    (1, ValueError, "address of element 1 is 4 bytes beyond a multiple of 16, to which an access of 4 elements must be aligned: "
     "begin at a multiple of 4 elements, or pass alignment="),
    (10, ValueError, "address of element 10 is 8 bytes beyond"), (16, IndexError, "index 16|out of"), (-20, IndexError, "-20|out of"),
    (13, IndexError, "4 elements from 13 on of axis 0, which has 16"),
])  # fmt: skip
def test_wrong_places(at, error, what):
    @cuda.jit
    def kernel(out, x, k):
        out[0] = cuda.vector.load(x, k, 4).x

    with pytest.raises(error, match=what):
        kernel[1, 1](np.zeros(4, np.float32), cuda.to_device(np.zeros(16, np.float32)), at)


@pytest.mark.parametrize("call, what", [
    ("load(x, 0, 3)", "the number of elements of type float32 is a power of two from 2 to 4, not 3"),
    ("load(x, 0, 8)", "from 2 to 4, not 8"), ("load(x, 0, x.size)", "the number of cuda.vector.load must be known"),
    ("aligned(x, 0, 8)", "from 2 to 4, not 8"), ("aligned(3, 0, 2)", "must be an array"), ("aligned(x, slice(2), 2)", "must be an index of one element"),
    ("load(x[::2], 0, 2)", "needs a C-contiguous array"), ("load(3, 0, 2)", "argument 1 .* must be an array"),
    ("load(x, 0, 4, alignment=3)", "the alignment .* from 4 to 1024, not 3"), ("load(x, (0, 0), 4)", "too many indices"), ("load(x, slice(2), 4)", "must be an index of one element"),
    ("store(x, 0, 1.5)", "must be a tuple of 2 to 4 numbers"), ("store(x, 0, (1, 2, 3))", "must be a tuple of 2 to 4 numbers"),
    ("store(x, 0, (1, 2j))", "cannot store"), ("store(TABLE, 0, (1, 2))", "which is read-only"),
])  # fmt: skip
def test_wrong_calls(call, what):
    kernel = define(f"TABLE = np.zeros(8, np.float32)\ndef kernel(x):\n    cuda.vector.{call}\n")
    with pytest.raises(CompileError, match=what):
        ptx_of(kernel, "float32[::1]")
