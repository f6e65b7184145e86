"""Arithmetic of the GPU's code alone. float32 roots without slow paths: which are, and that they are those of IEEE, with that code run on the
CPU; t + t + c in one operation."""

import collections
import math
import re

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda, float32

V = "float32[::1]"


def softened(x, out):  # of at least 0.001
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(x[i] * x[i] + float32(0.001))


def inverse(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = float32(1.0) / math.sqrt(abs(x[i]) + float32(0.5))


def length(x, out):  # of anything but a negative number
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(abs(x[i]))


def signed(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(x[i])


def nested(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = float32(1.0) / math.sqrt(math.sqrt(x[i] * x[i]) + max(abs(x[i]), float32(0.25)))


def of_quotient(x, out):  # less than 0 for x = -0.0
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(float32(2.0) / math.sqrt(x[i]))


def of_clipped(x, out):  # keeps -0.0
    i = cuda.grid(1)
    if i < x.size:
        y = x[i] if x[i] >= float32(0.0) else float32(0.0)
        out[i] = math.sqrt(float32(2.0) / y)


def of_ratio(x, out):  # the divisor is never -0.0
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(float32(2.0) / (x[i] * x[i] + abs(x[i])))


def ptx_of(kernel, **options):
    return cuda.compile_ptx(kernel, f"void({V}, {V})", cc="sm_90", **options)[0]


def roots_in(ptx):
    """(with ptxas's slow path, without)"""
    return ptx.count("sqrt.rn.f32") + ptx.count("rcp.rn.f32") + ptx.count("div.rn.f32"), ptx.count(".approx.ftz.f32")


@pytest.mark.usefixtures("one_entry")
@pytest.mark.parametrize(
    "kernel, slow, fast",
    [(softened, 0, 1), (inverse, 0, 2), (length, 0, 1), (signed, 1, 0), (nested, 0, 3), (of_quotient, 3, 0), (of_clipped, 2, 0), (of_ratio, 1, 1)],
)
def test_which_roots_need_no_slow_path(kernel, slow, fast):
    assert roots_in(ptx_of(kernel)) == (slow, fast)


@pytest.mark.parametrize("options", [{"fastmath": True}, {"fastmath": {"ftz"}}, {"opt": 0}], ids=str)
def test_other_arithmetic_is_left_alone(options):
    assert "rsqrt.approx" not in ptx_of(softened, **options)


def numbers():
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 2**32, 60000, dtype=np.uint32).view(np.float32)  # of every size, nan and infinity among them
    tiny, largest = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max
    near = np.float32(2.0) ** np.array([-149, -126, -102, -101, -100, -64, 0, 64, 126, 127], np.float32)
    with np.errstate(over="ignore"):
        above = np.nextafter(near, np.float32(np.inf))
    edges = [0.0, -0.0, tiny, largest, np.inf, -np.inf, np.nan, *near, *np.nextafter(near, np.float32(0)), *above]
    return np.concatenate([bits, np.array(edges, np.float32), -np.array(edges, np.float32), rng.random(5000, np.float32)])


@needs_llc
@pytest.mark.parametrize("kernel", [softened, inverse, length, nested, of_quotient, of_clipped, of_ratio])
def test_they_are_rounded_as_ieee_wants(kernel):
    """The steps round correctly as long as the GPU's approximation, here a float32 quotient, is as good as ptxas needs it. Zeros, infinities, nan and
    numbers whose steps would leave float32's range are what the range and the maximum are about: nothing may be off by a bit."""
    x = numbers()
    out = np.zeros_like(x)
    entries = Entries(kernel, f"void({V}, {V})", 1, fma=False)
    entries.run((-(-x.size // 64), 1, 1), (64, 1, 1), [x, out], False)
    half, quarter = np.float32(0.5), np.float32(0.25)
    with np.errstate(all="ignore"):
        expected = {
            softened: lambda: np.sqrt(x * x + np.float32(0.001)),
            inverse: lambda: np.float32(1) / np.sqrt(abs(x) + half),
            length: lambda: np.sqrt(abs(x)),
            of_quotient: lambda: np.sqrt(np.float32(2) / np.sqrt(x)),
            of_clipped: lambda: np.sqrt(np.float32(2) / np.where(x >= 0, x, np.float32(0))),
            of_ratio: lambda: np.sqrt(np.float32(2) / (x * x + abs(x))),
            nested: lambda: np.float32(1) / np.sqrt(np.sqrt(x * x) + np.where(quarter > abs(x), quarter, abs(x))),
        }[kernel]()
    assert np.array_equal(out, expected, equal_nan=True)
    assert np.array_equal(np.signbit(out[expected == 0]), np.signbit(expected[expected == 0]))


def step(z, c, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = z[i] * z[i] + c[i]


def doubled(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        t = x[i] * y[i]
        out[i] = y[i] - (t + t)
        out[i] += t + t


def operations(kernel, signature, **options):
    ptx = cuda.compile_ptx(kernel, signature, cc="sm_90", **options)[0]
    return [line.split()[0] for line in ptx.splitlines() if line.strip().startswith(("fma.", "mul.f", "mul.rn.f", "add.f", "add.rn.f", "sub.f"))]


@pytest.mark.usefixtures("one_entry")
def test_the_step_of_an_orbit_takes_five_operations():
    """Real: a product, a fused one, an addition. Imaginary: the product, and twice it plus c fused."""
    assert sorted(operations(step, "void(complex64[::1], complex64[::1], complex64[::1])")) == [
        "add.f32", "fma.rn.f32", "fma.rn.f32", "mul.f32", "mul.rn.f32",
    ]  # fmt: skip
    assert not any("fma" in o for o in operations(step, "void(complex64[::1], complex64[::1], complex64[::1])", fma=False))


@needs_llc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_twice_a_number_is_added_with_one_rounding(dtype):
    signature = f"void({', '.join([dtype + '[::1]'] * 3)})"
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 5000)).astype(dtype)
    x[:4], y[:4] = [0, -0.0, np.inf, np.nan], [-0.0, 0, 1, 2]
    results = []
    for fma in (False, True):
        out = np.zeros_like(x)
        Entries(doubled, signature, 1, fma=fma).run((79, 1, 1), (64, 1, 1), [x, y, out], False)
        results.append(out)
    # t is exact or rounded on both sides alike, twice it is exact: nothing is left to differ but t's own rounding.
    with np.errstate(all="ignore"):
        t = abs(x * y) * np.finfo(dtype).eps
        bound = 3 * (t + abs(y) * np.finfo(dtype).eps)
    ok = (abs(results[0] - results[1]) <= bound) | (np.isnan(results[0]) & np.isnan(results[1])) | (results[0] == results[1])
    assert ok.all()


def orbit(cr, ci, out):
    i = cuda.grid(1)
    if i < out.size:
        x, y, n = cr[i], ci[i], 0
        while n < 50 and x * x + y * y <= 4.0:
            x, y = x * x - y * y + cr[i], 2 * x * y + ci[i]
            n += 1
        out[i] = n


def kept(c, out, squares):  # a square that the loop needs by itself too
    i = cuda.grid(1)
    if i < out.size:
        x, n = c[i], 0
        while n < 50 and x * x <= 4.0:
            squares[i] = x * x
            x = x * x + c[i]
            n += 1
        out[i] = n


def test_squares_that_a_condition_has_computed_are_part_of_fused_operations():
    """|z|**2: a product and a fused one. z * z + c: two fused ones, two additions, of which one doubles."""
    ptx = cuda.compile_ptx(orbit, f"void({V}, {V}, int32[::1])", cc="sm_90")[0]
    loop = re.search(r"^(\$L\S+):\n(?:(?!\$L).*\n)*?.*bra\s+\1;", ptx, re.M).group()
    assert collections.Counter(re.findall(r"\b(?:fma|mul|add|sub|neg)(?=\.rn\.f32|\.f32)", loop)) == {"fma": 3, "mul": 1, "add": 2, "neg": 1}
    ptx = cuda.compile_ptx(kept, f"void({V}, int32[::1], {V})", cc="sm_90")[0]
    assert ptx.count("mul.f32") <= 2 and ptx.count("mul.rn.f32") == 0


@needs_llc
def test_orbits_end_where_they_do():
    """Contracted or not, an orbit whose every |z|**2 is further from 4 than 50 steps' roundings can take it ends at the same step."""
    grid = np.linspace(-2, 1.2, 60)
    cr, ci = (v.ravel().astype(np.float32) for v in np.meshgrid(grid, grid[:50] / 2))
    out = [np.zeros(cr.size, np.int32) for _ in range(2)]
    for fma in (False, True):
        Entries(orbit, f"{V}, {V}, int32[::1]", 1, fma=fma).run((-(-cr.size // 64), 1, 1), (64, 1, 1), [cr, ci, out[fma]], False)
    c = cr.astype(complex) + 1j * ci
    z, sure, steps, off = c.copy(), np.ones(c.shape, bool), np.zeros(c.shape, int), np.zeros(c.shape)
    alive = np.ones(c.shape, bool)
    for _ in range(50):
        size = abs(z)
        sure &= ~alive | (abs(size**2 - 4) > 2 * size * off + 1e-6 * (1 + size**2))
        alive &= size**2 <= 4
        steps += alive
        z = np.where(alive, z * z + c, z)
        off = np.where(alive, 2 * size * off + off**2 + 6e-7 * (size**2 + abs(c)), off)  # four roundings of 2**-23 a step
    assert sure.mean() > 0.6
    for o in out:
        assert np.array_equal(o[sure], steps[sure])
