"""float64 quotients by one number, which the GPU's code computes with one reciprocal, and those of integers, without a slow path
(codegen/nvptx/floats/common_divisors.c): which do, and that they are those of IEEE, with that code run on the CPU."""

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda

D = "float64[::1]"


def both(x, z, y, first, second):
    i = cuda.grid(1)
    if i < x.size:
        by = y[i]
        first[i] = x[i] / by
        second[i] = z[i] / by


def three(x, z, y, first, second):
    i = cuda.grid(1)
    if i < x.size:
        by = y[i]
        first[i] = x[i] / by
        second[i] = (z[i] / by) / by


def either(x, z, y, first, second):
    i = cuda.grid(1)
    if i < x.size:
        by = y[i]
        if x[i] < z[i]:
            first[i] = x[i] / by
        else:
            second[i] = z[i] / by


def ptx_of(kernel, **options):
    return cuda.compile_ptx(kernel, f"void({D}, {D}, {D}, {D}, {D})", cc="sm_90", **options)[0]


@pytest.mark.parametrize("kernel, reciprocals", [(both, 1), (three, 1), (either, 0)])
def test_which_share_a_reciprocal(kernel, reciprocals):
    assert ptx_of(kernel).count("rcp.approx.ftz.f64") == reciprocals


@pytest.mark.parametrize("options", [{"fastmath": True}, {"fastmath": {"ftz"}}, {"opt": 0}], ids=str)
def test_other_arithmetic_is_left_alone(options):
    assert "rcp.approx" not in ptx_of(both, **options)


def numbers():
    """Of every size, with what has no upper half to tell its size by; each by each."""
    rng = np.random.default_rng(3)
    edges = [0.0, 5e-324, 2.0**-1022, np.nextafter(2.0**-1022, 0), 2.0**-1000, 2.0**-970, 2.0**-512, 1, 3, 1 + 2.0**-52, 2.0**1000, 2.0**1022, 1.7976931348623157e308]
    bits = rng.integers(0, 2**64, 200, dtype=np.uint64).view(np.float64)
    all_of = np.concatenate([edges, np.negative(edges), [np.inf, -np.inf, np.nan], bits, rng.random(60), np.ldexp(rng.random(40), rng.integers(-1070, -900, 40))])
    return (a.ravel() for a in np.meshgrid(all_of, all_of))


@needs_llc
@pytest.mark.parametrize("kernel", [both, three])
def test_they_are_rounded_as_ieee_wants(kernel):
    """As long as the GPU's estimate, here the upper half of the reciprocal, is as good as ptxas needs it."""
    x, y = numbers()
    z = np.roll(x, 77)
    outs = np.zeros_like(x), np.zeros_like(x)
    entries = Entries(kernel, f"void({D}, {D}, {D}, {D}, {D})", 1, fma=False)
    entries.run((-(-x.size // 64), 1, 1), (64, 1, 1), [x, z, y, *outs], False)
    with np.errstate(all="ignore"):
        for out, expected in zip(outs, (x / y, z / y if kernel is both else z / y / y)):
            assert np.array_equal(out, expected, equal_nan=True)
            zero = expected == 0
            assert np.array_equal(np.signbit(out[zero]), np.signbit(expected[zero]))


def parts(x, y, out, rest):
    """Quotients of sums, as of a histogram's: those by 0 are infinite or nan."""
    i = cuda.grid(1)
    if i < out.size:
        total = count = 0
        for k in range(8):
            total += k * int(x[i, k])
            count += int(y[i, k])
        out[i] = total / count
        if count != 0 and total != count:
            rest[i] = count / (total - count)


SUMS = "int32[:,::1], int32[:,::1], float64[::1], float64[::1]"


def test_sums_of_few_small_numbers_are_exact_as_floats():
    """So their quotients need neither the long division of larger integers nor a slow path."""
    ptx = cuda.compile_ptx(parts, f"void({SUMS})", cc="sm_90")[0]
    assert ptx.count("rcp.approx.ftz.f64") == 2 and "div." not in ptx


@needs_llc
def test_quotients_of_integers_are_rounded_as_ieee_wants():
    rng = np.random.default_rng(5)
    x, y = (rng.integers(-(2**31), 2**31, (640, 8)).astype(np.int32) >> rng.integers(0, 32, (640, 1)).astype(np.int32) for _ in range(2))
    x[::5] = 0
    y[::7] = 0
    y[3::7, 1:] = 0
    x[4::7] = -(2**31)
    x[5::7] = 2**31 - 1
    out, rest = np.full(640, 7.0), np.full(640, 7.0)
    Entries(parts, f"void({SUMS})", 1, fma=False).run((10, 1, 1), (64, 1, 1), [x, y, out, rest], False)
    total, count = (x.astype(np.int64) * np.arange(8)).sum(1), y.astype(np.int64).sum(1)
    with np.errstate(all="ignore"):
        expected = total / count
        assert np.array_equal(rest, np.where((count != 0) & (total != count), count / (total - count), 7.0))
    assert np.array_equal(out, expected, equal_nan=True)
    zero = expected == 0
    assert np.array_equal(np.signbit(out[zero]), np.signbit(expected[zero]))
