"""cuda.fp16.*: each function over all 65536 values of float16, against NumPy; its PTX on every architecture.

What rounds once is compared bit for bit. The other functions are computed in float32 with an error
of a few ulps (the C library's, libdevice's), which moves the rounding to 11 bits by one step at most.
"""

import numpy as np
import pytest
from harness import define, jit, same
from pyptx import cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of

X = np.arange(65536, dtype=np.uint16).view(np.float16)
Y = np.random.default_rng(1).permutation(X)
Z = np.random.default_rng(2).permutation(X)


def wide(f):
    """f of float64, rounded to float16 at the end: float64 keeps more than twice the bits, so that is one rounding."""
    return lambda *args: f(*(a.astype(np.float64) for a in args)).astype(np.float16)


EXACT = {
    "hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hneg": np.negative, "habs": np.abs,
    "hsqrt": np.sqrt, "hrcp": wide(lambda a: 1 / a), "hceil": np.ceil, "hfloor": np.floor, "htrunc": np.trunc,
    "hrint": np.rint, "heq": np.equal, "hne": np.not_equal, "hlt": np.less, "hle": np.less_equal, "hgt": np.greater,
    "hge": np.greater_equal,
}  # fmt: skip
ROUNDED = {
    "hrsqrt": lambda a: 1 / np.sqrt(a), "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh, "hexp": np.exp, "hexp2": np.exp2,
    "hexp10": lambda a: 10.0**a, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10,
}  # fmt: skip
BINARY = {"hadd", "hsub", "hmul", "hdiv", "heq", "hne", "hlt", "hle", "hgt", "hge", "hmax", "hmin"}


def call(name):
    return f"cuda.fp16.{name}({'x[i], y[i], z[i]' if name == 'hfma' else 'x[i], y[i]' if name in BINARY else 'x[i]'})"


def in_kernel(name, dtype=np.float16):
    kernel = define(f"def kernel(x, y, z, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = {call(name)}\n")
    out = np.zeros(X.size, dtype)
    jit(kernel, fma=False)[256, 256](X, Y, Z, out)
    cuda.synchronize()
    return out


def check(name, want, ulps=0):
    got = in_kernel(name, want.dtype)
    right = same(got, want, ulps)
    worst = np.argmin(right)
    assert right.all(), f"{name} of {X[worst]}, {Y[worst]}, {Z[worst]}: {got[worst]}, NumPy {want[worst]}"


@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    with np.errstate(all="ignore"):
        check(name, EXACT[name](X, Y) if name in BINARY else EXACT[name](X))


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded(name):
    with np.errstate(all="ignore"):
        check(name, wide(ROUNDED[name])(X), 1)


@pytest.mark.parametrize("name", ["hmax", "hmin"])
def test_extremes_pass_over_nans(name):
    f = np.fmax if name == "hmax" else np.fmin
    want = f(X, Y)
    zeros = (X == 0) & (Y == 0)
    want[zeros] = np.copysign(0, f(np.copysign(1, X), np.copysign(1, Y)))[zeros]
    check(name, want)


def test_fma_rounds_once():
    """The exact value as a fraction of 2**48 in Python's integers, rounded once."""
    some = slice(0, 65536, 7)

    def exact(a, b, c):
        if not np.isfinite([a, b, c]).all():
            with np.errstate(all="ignore"):
                return np.float16(np.float64(a) * np.float64(b) + np.float64(c))
        total = int(np.float64(a) * 2**24) * int(np.float64(b) * 2**24) + int(np.float64(c) * 2**24) * 2**24
        if total == 0:
            return np.float16(np.float64(a) * np.float64(b) + np.float64(c))
        drop = max(abs(total).bit_length() - 11, 24)
        kept, rest = abs(total) >> drop, abs(total) & ((1 << drop) - 1)
        kept += rest > 1 << drop - 1 or (rest == 1 << drop - 1 and kept & 1)
        with np.errstate(over="ignore"):
            return np.float16(np.copysign(np.ldexp(float(kept), drop - 48), total))

    got = in_kernel("hfma")[some]
    want = np.array([exact(*v) for v in zip(X[some], Y[some], Z[some])])
    right = same(got, want)
    assert right.all(), [v[some][~right][:3] for v in (X, Y, Z)]


def test_fma_just_below_a_tie():
    """The exact result is 2**-31 below the middle between two values. Rounded to float32 it would be that middle, and go up."""

    def kernel(x, out):
        out[0] = cuda.fp16.hfma(x[0], x[1], x[2])

    x, out = np.array([(1 + 2**-10) * 2**-5, (1 - 2**-10) * 2**-6, 1 + 2**-10], np.float16), np.zeros(1, np.float16)
    jit(kernel)[1, 1](x, out)
    cuda.synchronize()
    assert np.float16(np.float32(x[0]) * np.float32(x[1]) + np.float32(x[2])) == 1 + 2**-9
    assert out[0] == 1 + 2**-10


def test_other_numbers_become_float16():
    def kernel(n, out):
        out[0] = cuda.fp16.hadd(2049, n)
        out[1] = cuda.fp16.hmul(0.1, True)
        out[2] = cuda.fp16.hadd(out[0], out[1]) / 3

    out = np.zeros(3)
    jit(kernel)[1, 1](np.int8(1), out)
    cuda.synchronize()
    h = np.float16
    assert out.tolist() == [2048, float(h(0.1)), float((h(2048) + h(0.1)) / h(3))]


def test_complex_numbers_are_an_error():
    kernel = define("def kernel(x):\n    x[0] = cuda.fp16.habs(1j)\n")
    with pytest.raises(TypeError, match="fp16.habs"):
        jit(kernel)[1, 1](np.zeros(1))


NATIVE = {"hadd": "add", "hsub": "sub", "hmul": "mul", "hfma": "fma.rn", "hfloor": "cvt.rmi.f16", "hrint": "cvt.rni.f16"}


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_assembles(arch, tmp_path):
    names = [*EXACT, *ROUNDED, "hmax", "hmin", "hfma"]
    lines = "".join(f"    out[{n}, i] = {call(name)}\n" for n, name in enumerate(names))
    kernel = define(f"def kernel(x, y, z, out):\n    i = cuda.grid(1)\n{lines}")
    ptx = ptx_of(kernel, "float16[:], float16[:], float16[:], float16[:, :]", arch)
    assemble(ptx, arch, tmp_path)
    for name, instruction in NATIVE.items():
        assert f"\t{instruction}.f16 " in ptx, name
    if int(arch[3:]) >= 80:
        assert "\tmax.f16 " in ptx and "\tmin.f16 " in ptx
