"""cuda.ldca, ldcg, ldcs, ldlu, ldcv and stcg, stcs, stwb, stwt: the elements that plain accesses give, with PTX's modifiers."""

import re

import numpy as np
import pytest
from harness import STRONG, define, jit
from pyptx import CompileError, cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of

LOADS = ["ldca", "ldcg", "ldcs", "ldlu", "ldcv"]
STORES = ["stcg", "stcs", "stwb", "stwt"]
DTYPES = [*STRONG, "complex64", "complex128"]


def values(dtype, n):
    x = np.random.default_rng(1).integers(0, 100, n).astype(dtype)
    return x + (1j * x[::-1] if "complex" in dtype else 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LOADS)
def test_loads(name, dtype):
    kernel = define(f"""def kernel(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = cuda.{name}(x, i)
        out[1, i] = cuda.{name}(y, (i % 2, -1))
        out[2, i] = cuda.{name}(y[:, ::-1], (0, i % 3))
""")
    x, y, out = values(dtype, 64), values(dtype, 6).reshape(2, 3), np.zeros((3, 64), dtype)
    jit(kernel)[2, 32](x, y, out)
    cuda.synchronize()
    i = np.arange(64)
    assert np.array_equal(out, [x, y[i % 2, -1], y[0, 2 - i % 3]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STORES)
def test_stores(name, dtype):
    kernel = define(f"""def kernel(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.{name}(out, i, x[i])
        cuda.{name}(out, (i + 64,), 3)
        if i < 6:
            cuda.{name}(y, (i // 3, i % 3 - 3), x[i])
""")
    x, y, out = values(dtype, 64), np.zeros((2, 3), dtype), np.zeros(128, dtype)
    jit(kernel)[2, 32](x, y, out)
    cuda.synchronize()
    assert np.array_equal(out[:64], x) and np.array_equal(out[64:], np.full(64, 3, dtype))
    assert np.array_equal(y.ravel(), x[:6])


def test_values_are_converted_as_in_a_store():
    def kernel(a, b, x):
        cuda.stcg(a, 0, x[0])
        cuda.stwt(a, 1, 300)
        cuda.stcs(b, 0, True)
        b[1] = cuda.ldcg(a, 0) + cuda.ldcv(a, 1)

    a, b = np.zeros(2, np.int8), np.zeros(2, np.float32)
    jit(kernel)[1, 1](a, b, np.array([1e9]))
    cuda.synchronize()
    assert a.tolist() == [127, 44] and b.tolist() == [1, np.int16(127 + 44).astype(np.int8)]


def test_other_memories():
    """Shared, local and constant memory have no such caches: plain accesses, with the same values."""
    table = np.arange(4, dtype=np.float32)

    def kernel(out):
        tile = cuda.shared.array(4, np.float32)
        mine = cuda.local.array(4, np.float32)
        constant = cuda.const.array_like(table)
        t = cuda.threadIdx.x
        cuda.stcg(tile, t, 2 * t)
        cuda.stwt(mine, t, 3)
        cuda.syncthreads()
        out[t] = cuda.ldcs(tile, 3 - t) + cuda.ldcv(mine, t) + cuda.ldlu(constant, t)

    out = np.zeros(4)
    jit(kernel)[1, 4](out)
    cuda.synchronize()
    assert out.tolist() == [9, 8, 7, 6]


@pytest.mark.host_only("the GPU checks indices with debug only")
@pytest.mark.parametrize("call", ["cuda.ldcg(x, 5)", "cuda.stwt(x, -6, 0)"])
def test_bounds_are_checked(call):
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        jit(define(f"def kernel(x):\n    {call}\n"))[1, 1](np.zeros(5))
        cuda.synchronize()


ERRORS = {
    "cuda.ldca(3, 0)": r"argument 1 \(.array.\) must be an array of numbers",
    "cuda.ldcs(x, (0, 0))": "too many indices",
    "cuda.ldcs(x, 0.5)": "an index must be",
    "cuda.ldcs(x, slice(2))": r"argument 2 \(.index.\) must be an index with 1 integer",
    "cuda.stcg(x, 0, (1, 2))": "cannot store a tuple",
    "cuda.stcg(x, 0, 1j)": "cannot store a Python complex",
    "cuda.stcg(x, 0)": "value",
    "cuda.stwb(table, 0, 1)": "read-only",
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors(line):
    kernel = define(f"def kernel(x):\n    {line}\n", table=np.zeros(3))
    with pytest.raises((TypeError, IndexError)) as caught:
        jit(kernel)[1, 1](np.zeros(3))
    assert isinstance(caught.value, CompileError) and re.search(ERRORS[line], str(caught.value)), caught.value


WIDTH = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "v2.b64"}


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_modifiers(dtype, arch, tmp_path):
    """One access with its modifier each; the same hint twice is two accesses where the value may have changed in between."""
    lines = "".join(f"    cuda.stwb(y, {n}, cuda.{name}(x, {n}))\n" for n, name in enumerate(LOADS))
    lines += "".join(f"    cuda.{name}(y, {n + 5}, x[{n}])\n" for n, name in enumerate(STORES))
    kernel = define(f"""def kernel(x, y):
    tile = cuda.shared.array(2, np.{'bool_' if dtype == 'bool' else dtype})
{lines}
    cuda.stcg(tile, 0, y[0])
    y[1] = cuda.ldcv(tile, 1)
    y[2] = cuda.ldcv(x, 0)
    y[3] = cuda.ldcv(x, 0)
""")
    ptx = ptx_of(kernel, f"{dtype}[::1], {dtype}[::1]", arch)
    assemble(ptx, arch, tmp_path)
    width = WIDTH[np.dtype(dtype).itemsize]
    for name in LOADS + STORES:
        access = f"{name[:2]}.global.{name[2:]}.{width} "
        count = {"ldcv": 3, "stwb": 6}.get(name, 1)
        assert ptx.count(access) == count, (access, ptx)
    assert not re.search(r"\.shared\.c", ptx)
