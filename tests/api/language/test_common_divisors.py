"""float64 quotients by one number, which the GPU's code computes with one reciprocal (codegen/nvptx/floats/common_divisors.c): which do, and that they
are those of IEEE, with that code run on the CPU."""

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
