"""cuda.ldmatrix, stmatrix and mma_sync: every shape and type against NumPy's products, fragments as PTX documents them."""

import re
from pathlib import Path

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cuda
from test_instructions import has
from test_ptx import assemble, ptx_of

SHAPES = re.findall(r'^X\((\d+),\s*(\d+),\s*(\d+),\s*(\w+),\s*(\w+),\s*(\w+),\s*"(\w+)",\s*"(\w+)"\)', (Path(__file__).resolve().parents[3] / "ir/matrices.def").read_text(), re.M)
DTYPES = {"F16": "float16", "BF16": "bfloat16", "E4M3": "float8_e4m3fn", "E5M2": "float8_e5m2", "F32": "float32", "F64": "float64", "I8": "int8", "U8": "uint8", "I32": "int32"}
on_device = pytest.mark.skipif("not has(8, 0)", reason="needs compute capability 8.0, and a GPU or the host device")


def product(m, n, k, factor, sum):
    """A kernel of one warp: the fragments by the formulas of the PTX ISA, element by element."""
    each = max(1, 4 // (getattr(cuda, factor).bitwidth // 8))
    step, na, nb, nc = 2 if m == 16 else 1, m * k // 32, k * n // 32, m * n // 32
    a = ", ".join(f"a[g + {8 * (i // each % step)}, t * {each} + {i % each + 4 * each * (i // each // step)}]" for i in range(na))
    b = ", ".join(f"b[t * {each} + {i % each + 4 * each * (i // each)}, g]" for i in range(nb))
    places = [f"g + {8 * (i // 2)}, 2 * t + {i % 2}" for i in range(nc)]
    return define("def kernel(d, a, b, c):\n    g, t = cuda.laneid // 4, cuda.laneid % 4\n"
                  f"    x = cuda.mma_sync(({a},), ({b},), ({', '.join(f'c[{p}]' for p in places)}))\n"
                  + "".join(f"    d[{p}] = x[{i}]\n" for i, p in enumerate(places)))  # fmt: skip


def factors(rng, dtype, *shape):
    if "int" in dtype:
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    x = rng.standard_normal(shape)
    if dtype == "float32":  # what tf32 keeps: 10 bits of the fraction
        return (x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return x.astype(np.float32).astype(dtype if dtype in ("float16", "float64") else getattr(cuda, dtype).dtype)


@on_device
@pytest.mark.parametrize("m, n, k, factor, sum, code, ptx, ptx_sum", SHAPES, ids=[f"{s[5]}-{s[4]}-k{s[2]}" for s in SHAPES])
def test_products(m, n, k, factor, sum, code, ptx, ptx_sum):
    """Integers have NumPy's sums. Floats: 2**-10 of the sum of the sizes allows for sums in float16, 2**-21 for those of float32 in any order and
    with the hardware's truncation; float64 rounds each step. Of 8-bit floats the hardware keeps, of each of the 32 products and of the sum before,
    13 bits behind the leading one of the largest of them, and with sums in float16 not fewer than a float16 has."""
    if factor in ("BF16", "E4M3", "E5M2"):
        pytest.importorskip("ml_dtypes")
    m, n, k, factor, sum = int(m), int(n), int(k), DTYPES[factor], DTYPES[sum]
    rng = np.random.default_rng(k)
    a, b = factors(rng, factor, m, k), factors(rng, factor, k, n)
    c = rng.integers(-(2**31), 2**31, (m, n)).astype(sum) if sum == "int32" else rng.standard_normal((m, n)).astype(sum)
    d = np.zeros_like(c)
    cuda.jit(product(m, n, k, factor, sum))[1, 32](d, a, b, c)
    if sum == "int32":
        assert np.array_equal(d, (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32))
        return
    a, b, c = (v.astype(np.float64) for v in (a, b, c))
    bound = {"float16": 2.0**-10, "float32": 2.0**-21, "float64": 2.0**-51}[sum]
    if "float8" in factor and not cuda.get_current_device().is_host:
        bound = (k + 1) * {"float16": 2.0**-10, "float32": 2.0**-13}[sum]
    bound = bound * (abs(a) @ abs(b) + abs(c))
    assert (abs(d.astype(np.float64) - (a @ b + c)) <= bound).all()


@pytest.mark.parametrize("m, n, k, factor, sum, code, ptx, ptx_sum", SHAPES, ids=[f"{s[5]}-{s[4]}-k{s[2]}" for s in SHAPES])
def test_ptx_of_products(m, n, k, factor, sum, code, ptx, ptx_sum, tmp_path, one_entry):
    factor, sum = DTYPES[factor], DTYPES[sum]
    kernel = product(int(m), int(n), int(k), factor, sum)
    arch = "sm_89" if "float8" in factor else "sm_80"
    text = ptx_of(kernel, f"{sum}[:,::1], {factor}[:,::1], {factor}[:,::1], {sum}[:,::1]", arch)
    assert f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{ptx_sum}.{ptx}.{ptx}.{ptx_sum} {{" in text
    assemble(text, arch, tmp_path)


def test_products_of_8_bit_floats_need_sm_89():
    kernel = product(16, 8, 32, "float8_e5m2", "float32")
    with pytest.raises(CompileError, match="8-bit floats.* needs sm_89"):
        ptx_of(kernel, "float32[:,::1], float8_e5m2[:,::1], float8_e5m2[:,::1], float32[:,::1]", "sm_80")


@pytest.mark.parametrize("k, sum, version", [(32, "float32", "8.4"), (16, "float32", "8.7"), (32, "float16", "8.7"), (16, "float16", "8.7")])
def test_the_ptx_version_of_8_bit_floats(k, sum, version):
    text = ptx_of(product(16, 8, k, "float8_e4m3fn", sum), f"{sum}[:,::1], float8_e4m3fn[:,::1], float8_e4m3fn[:,::1], {sum}[:,::1]", "sm_89")
    assert f".version {version}" in text


@cuda.jit
def matmul(out, a, b):
    """16 x 8 of A @ B for each warp: A by rows of its tile, B transposed while it is loaded."""
    sa = cuda.shared.array((16, 16), np.float16)
    sb = cuda.shared.array((16, 8), np.float16)
    lane = cuda.laneid
    row, column = 16 * cuda.blockIdx.y, 8 * cuda.blockIdx.x
    acc = (0.0, 0.0, 0.0, 0.0)
    for k in range(0, a.shape[1], 16):
        for i in range(lane, 256, 32):
            sa[i // 16, i % 16] = a[row + i // 16, k + i % 16]
        for i in range(lane, 128, 32):
            sb[i // 8, i % 8] = b[k + i // 8, column + i % 8]
        cuda.syncwarp()
        fa = cuda.ldmatrix(sa, (lane % 16, 8 * (lane // 16)), 4)
        fb = cuda.ldmatrix(sb, (lane % 16, 0), 2, trans=True)
        acc = cuda.mma_sync(fa, fb, acc)
        cuda.syncwarp()
    g, t = lane // 4, lane % 4
    out[row + g, column + 2 * t], out[row + g, column + 2 * t + 1] = acc[0], acc[1]
    out[row + g + 8, column + 2 * t], out[row + g + 8, column + 2 * t + 1] = acc[2], acc[3]


@on_device
def test_a_product_of_tiles():
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((32, 48)).astype(np.float16), rng.standard_normal((48, 24)).astype(np.float16)
    out = np.zeros((32, 24), np.float32)
    matmul[(3, 2), 32](out, a, b)
    x, y = a.astype(np.float64), b.astype(np.float64)
    assert (abs(out - x @ y) <= 2.0**-19 * (abs(x) @ abs(y))).all()


def test_a_product_of_tiles_assembles(tmp_path):
    ptx = ptx_of(matmul.py_func, "float32[:,::1], float16[:,::1], float16[:,::1]", "sm_80")
    assert "ldmatrix.sync.aligned.m8n8.x4.shared.b16" in ptx and "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16" in ptx
    assemble(ptx, "sm_80", tmp_path)


@cuda.jit
def through(out, x):
    s = cuda.shared.array((32, 8), np.uint16)
    u = cuda.shared.array((32, 8), np.uint16)
    lane = cuda.laneid
    for k in range(8):
        s[lane, k] = x[lane, k]
    cuda.syncwarp()
    cuda.stmatrix(u, (lane, 0), cuda.ldmatrix(s, (lane, 0), 4, trans=True))
    cuda.syncwarp()
    for k in range(8):
        out[lane, k] = u[lane, k]


@pytest.mark.skipif("not has(9, 0)", reason="stmatrix needs compute capability 9.0, and a GPU or the host device")
def test_transposed_through_registers():
    x = np.arange(256, dtype=np.uint16).reshape(32, 8)
    out = np.zeros_like(x)
    through[1, 32](out, x)
    assert np.array_equal(out, x.reshape(4, 8, 8).transpose(0, 2, 1).reshape(32, 8))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32"])
@pytest.mark.parametrize("num", [1, 2, 4])
@pytest.mark.skipif("not has(9, 0)", reason="stmatrix needs compute capability 9.0, and a GPU or the host device")
def test_rows_of_all_sizes(dtype, num):
    """A register is 4 bytes of row lane // 4: what is stored with the registers moved on by one lies one place further."""
    each = 4 // np.dtype(dtype).itemsize
    kernel = define(
        f"def kernel(out, x):\n    s = cuda.shared.array((32, {4 * each}), np.{dtype})\n    u = cuda.shared.array((32, {4 * each}), np.{dtype})\n"
        f"    lane = cuda.laneid\n    for k in range({4 * each}):\n        s[lane, k] = x[lane, k]\n        u[lane, k] = 0\n    cuda.syncwarp()\n"
        f"    v = cuda.ldmatrix(s, (lane, 0), {num})\n    cuda.stmatrix(u, (lane, 0), v[{each}:] + v[:{each}])\n    cuda.syncwarp()\n"
        f"    for k in range({4 * each}):\n        out[lane, k] = u[lane, k]\n"
    )
    x = (np.arange(128 * each) % 127).reshape(32, 4 * each).astype(dtype)
    out, want = np.zeros_like(x), np.zeros_like(x)
    cuda.jit(kernel)[1, 32](out, x)
    want[: 8 * num] = np.roll(x[: 8 * num].reshape(num, 8, -1), -1, axis=0).reshape(8 * num, -1)
    assert np.array_equal(out, want)


@pytest.mark.parametrize("call, what", [
    ("mma_sync((x[0],), (x[0],), (x[0],))", "no shape has fragments of"), ("mma_sync(1, (x[0],), (x[0],))", "argument 1 ('a') must be a tuple"),
    ("ldmatrix(x, 0, 1)", "must be a shared array of numbers of 1, 2 or 4 bytes"), ("ldmatrix(s, (0, 0), 3)", "it loads 1, 2 or 4 matrices"),
    ("ldmatrix(s, (0, 0), len(x))", "must be known"), ("ldmatrix(s, (0, 0), 1, trans=True)", "trans= is for elements of 2 bytes"),
    ("stmatrix(s, (0, 0), (1, 2, 3))", "a tuple of 1, 2 or 4 numbers"), ("stmatrix(s, (0, 0), (1j,))", "cannot store"),
])  # fmt: skip
def test_wrong_calls(call, what):
    kernel = define(f"def kernel(x):\n    s = cuda.shared.array((8, 4), np.float32)\n    cuda.{call}\n")
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(kernel, "float32[::1]", "sm_90")


@pytest.mark.host_only
@pytest.mark.parametrize("threads, index, what", [
    (16, "(lane % 8, 0)", "16 of the 32 lanes of warp 0 are there"), (32, "(lane % 8, 4)", "8 bytes beyond a multiple of 16"),
    (32, "(lane % 8, 12)", "8 elements from 12 on of axis 1, which has 16"),
])  # fmt: skip
def test_wrong_use(threads, index, what):
    kernel = define(f"def kernel(x):\n    lane = cuda.laneid\n    s = cuda.shared.array((8, 16), np.uint16)\n    x[lane] = cuda.ldmatrix(s, {index}, 1)[0]\n")
    with pytest.raises((RuntimeError, ValueError, IndexError), match=what):
        cuda.jit(kernel)[1, threads](np.zeros(32))
