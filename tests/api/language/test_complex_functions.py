"""cmath and NumPy's ufuncs of complex numbers in kernels: accuracy, special values, branch cuts, types.

Accuracy is norm-wise, |got - want| / |want| in units of the type's epsilon. The reference is NumPy in the next wider type (for
complex128 the long double, whose own error is below 0.01 of these units). LIMIT is the documented bound: on the host a result
combines at most three functions of the C library, of 1 ulp each at most, and a few roundings; libdevice's functions are within
2 ulp where CUDA's guide says so, and 4 ulp at most.
"""

import cmath
import math
from fractions import Fraction

import numpy as np
import pytest
from harness import COMPLEX, STRONG, define, jit, same
from pyptx import cuda
from test_language_complex import check, results
from test_ptx import assemble, ptx_of

LIMIT = {"host": 4, "gpu": 12}
WIDER = {"complex64": np.complex128, "complex128": np.clongdouble}
CMATH = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "log10", "sin", "sinh", "sqrt", "tan", "tanh"]
NUMPY = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "cos": "cos",
    "cosh": "cosh", "exp": "exp", "log": "log", "log10": "log10", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
    "log2": None, "log1p": None, "exp2": None, "expm1": None, "sign": None, "reciprocal": None,
}  # fmt: skip


def points(dtype, n=3000):
    """Ordinary values; many magnitudes; near the unit circle, near 1, -1, 1j and -1j, where functions have zeros and poles."""
    rng = np.random.default_rng(7)
    part = np.dtype(dtype).type().real.dtype
    limit = 30 if dtype == "complex64" else 250
    normal = rng.normal(size=(n, 2))
    angle, radius = rng.uniform(-np.pi, np.pi, n), 1 + rng.normal(size=n) * 10.0 ** rng.uniform(-16, 0, n)
    small = rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-16, 0, (n, 2))
    near = (small + [1, 0]) * rng.choice([-1, 1], (n, 2))
    rows = [
        normal, normal * 10.0 ** rng.uniform(-6, 6, (n, 2)), normal * 10.0 ** rng.uniform(-limit, limit, (n, 2)),
        np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1), near, near[:, ::-1],
    ]  # fmt: skip
    parts = np.concatenate(rows).astype(part)
    z = np.empty(len(parts), dtype)
    z.real, z.imag = parts.T
    return z


def accurate_log1p(z):
    """NumPy's own loses all digits where log1p is small: the real part from the exact sum 2x + x*x + y*y."""
    wide = np.clongdouble(z)
    want = np.log(1 + wide)
    for k, v in enumerate(z):
        x, y = Fraction(float(v.real)), Fraction(float(v.imag))
        s = 2 * x + x * x + y * y
        if abs(s) < Fraction(1, 2):
            want[k] = 0.5 * math.log1p(float(s)) + 1j * np.arctan2(wide[k].imag, 1 + wide[k].real)
    return want


def reference(name, z, wider):
    with np.errstate(all="ignore"):
        if name == "log1p":
            return accurate_log1p(z)
        w = z.astype(wider)
        return w / np.abs(w) if name == "sign" else getattr(np, name)(w)


def errors(got, want, dtype):
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        inside = np.isfinite(want) & (np.abs(want.real) < info.max) & (np.abs(want.imag) < info.max)
        return np.where(inside, np.abs(got - want) / (info.eps * np.maximum(np.abs(want), info.tiny)), 0)


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_accuracy(dtype, name, device):
    z = points(dtype, 300 if name == "log1p" else 3000)
    got = results(f"np.{name}(x)", [z], np.zeros(z.size, dtype), fma=True)
    e = errors(got, reference(name, z, WIDER[dtype]), dtype)
    if name == "exp2":  # the angle is y * log(2), rounded: its error grows with it
        e = e / (1 + np.abs(z.imag))
    worst = int(np.argmax(np.where(np.isnan(e), np.inf, e)))
    assert e[worst] <= LIMIT[device], f"{name}({z[worst]!r}) = {got[worst]!r}, off by {e[worst]:.3} ulp"


PARTS = [0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 2.5, -3.0, np.inf, -np.inf, np.nan]
GRID = np.array([complex(x, y) for x in PARTS for y in PARTS])


def agrees(got, want):
    """Signs of zeros and infinities count; a nan is a nan; finite parts to 1e-13 of each."""
    for a, b in ((got.real, want.real), (got.imag, want.imag)):
        if math.isnan(a) or math.isnan(b):
            if math.isnan(a) != math.isnan(b):
                return False
        elif math.copysign(1, a) != math.copysign(1, b) or (a != b and not math.isclose(a, b, rel_tol=1e-13)):
            return False
    return True


def unsigned(z):
    return complex(abs(z.real), abs(z.imag))


@pytest.mark.parametrize("name", CMATH)
def test_special_values_and_branch_cuts(name):
    """As CPython's cmath or the C library under NumPy has it; where both parts of the argument are not finite, or one is a nan, but for
    the signs that the C standard leaves open."""
    numpys = getattr(np, {v: k for k, v in NUMPY.items()}[name])
    got = results(f"cmath.{name}(x)", [GRID], np.zeros(GRID.size, complex))
    for z, g in zip(GRID, got):
        candidates = []
        try:
            candidates.append(getattr(cmath, name)(z))
        except (ValueError, OverflowError):  # C gives an infinity or a nan there
            pass
        with np.errstate(all="ignore"):
            candidates.append(complex(numpys(z)))
        open_signs = math.isnan(z.real) or math.isnan(z.imag) or not (math.isfinite(z.real) or math.isfinite(z.imag))
        fine = any(agrees(g, w) or (open_signs and agrees(unsigned(g), unsigned(w))) for w in candidates)
        assert fine, f"{name}({z}) = {g}, not one of {candidates}"


@pytest.mark.parametrize("name", ["exp", "sqrt", "log", "sinh", "tan", "asin", "acosh", "atanh"])
def test_extreme_magnitudes(name):
    """Nothing overflows or vanishes on the way to a result that fits."""
    tiny, big = 5e-324, 1.7e308
    grid = [complex(x, y) for x in (tiny, -3e-310, big, -big, 1e-160, 1e160) for y in (tiny, -1e-309, big, 1e155, 3.0)]
    grid += [complex(x, y) for x in (709.9, 711.0, -744.0) for y in (1.5707, 0.1, -3.0)]
    z = np.array(grid)
    got = results(f"cmath.{name}(x)", [z], np.zeros(z.size, complex))
    with np.errstate(all="ignore"):
        want = getattr(np, {v: k for k, v in NUMPY.items()}[name])(z.astype(np.clongdouble)).astype(complex)
    for v, g, w in zip(z, got, want):
        with np.errstate(all="ignore"):
            difference = np.abs(g - w)
        close = difference <= 16 * np.finfo(float).eps * np.abs(w) + 2 * tiny or agrees(g, w)
        assert close or not np.isfinite(w), f"{name}({v}) = {g}, not {w}"


# --- powers ---


@pytest.mark.parametrize("exponent", ["2", "3", "1", "0", "-1", "-7", "13", "99", "2.0", "np.int8(-3)", "np.float32(5)", "(4+0j)"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_whole_powers_have_numpys_bits(dtype, exponent):
    rng = np.random.default_rng(11)
    z = (rng.normal(size=300) + 1j * rng.normal(size=300)).astype(dtype)
    edges = np.array([complex(x, y) for x in (0.0, -0.0, 1.0, -2.0) for y in (0.0, -0.0, 1.0)], dtype)
    check(f"x ** {exponent}", np.concatenate([z, edges]))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_powers(dtype, device):
    """The angle is rounded before its sine is taken, so the error grows with |w log z|, as it does in NumPy and CPython."""
    rng = np.random.default_rng(12)
    n = 3000
    z = ((rng.normal(size=n) + 1j * rng.normal(size=n)) * 10.0 ** rng.uniform(-3, 3, n)).astype(dtype)
    w = ((rng.normal(size=n) + 1j * rng.normal(size=n)) * 10.0 ** rng.uniform(-3, 0.7, n)).astype(dtype)
    want = z.astype(WIDER[dtype]) ** w.astype(WIDER[dtype])
    for expression in ("x ** y", "np.power(x, y)", "pow(x, y)"):
        e = errors(results(expression, [z, w], np.zeros(n, dtype)), want, dtype) / (1 + np.abs(w * np.log(z)))
        assert np.max(e) <= LIMIT[device]


@pytest.mark.parametrize("dtype", COMPLEX)
def test_powers_of_zero(dtype):
    zero = np.zeros(7, dtype)
    w = np.array([0, 1, 2.5, -1, 1j, 1 + 1j, -0.5], dtype)
    check("x ** y", zero, w)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_powers_by_infinities(dtype):
    """0 or infinite as C's cpow, whatever is left of the angle; the signs of zeros are the C library's."""
    z = np.array([2, 0.5, 1, -2, 2 + 1j, 1j, 0.3 + 0.3j, np.inf, -np.inf, 1e-3, -1e30j], dtype)
    w = np.array([np.inf, -np.inf, complex(np.inf, 1), complex(-np.inf, -1), complex(1, np.inf), complex(0, -np.inf)], dtype)
    z, w = (x.ravel() for x in np.meshgrid(z, w))
    with np.errstate(all="ignore"):
        want = z**w
    got = results("x ** y", [z, w], np.zeros(z.size, dtype))
    np.testing.assert_array_equal(got.real, want.real)
    np.testing.assert_array_equal(got.imag, want.imag)
    z = np.array([np.inf, -np.inf, complex(0, np.inf)], dtype)
    got = results("x ** y", [z, np.full(3, 1 + 1j, dtype)], np.zeros(3, dtype))
    assert np.isinf(got.real).all() and np.isnan(got.imag).all()


@pytest.mark.parametrize("other", ["float32", "float64", "int32", "int8", "uint64"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_types_of_powers(dtype, other):
    z, n = np.array([1.5 - 0.5j], dtype), np.array([2], other)
    check("x ** y", z, n)
    check("x ** 0.0", z)


# --- cmath's own ---


def python_value(expression, *args):
    """The expression over Python numbers in a kernel; out[1] is what twice np.float32(1) times it is, which shows its type."""
    kernel = define(f"def kernel(out, x, y):\n    out[0] = {expression}\n", cmath=cmath)
    out = np.zeros(1, complex)
    jit(kernel, fma=False)[1, 1](out, *args)
    cuda.synchronize()
    return out[0]


@pytest.mark.parametrize(
    "expression",
    [
        "cmath.phase(x)", "cmath.polar(x)[0]", "cmath.polar(x)[1]", "cmath.rect(abs(x), y)", "cmath.log(x, 2)", "x ** y", "y ** x", "x ** (1j - y)", "x ** 0", "cmath.log(x, y)",
        "cmath.log(x)", "cmath.isclose(x, y)", "cmath.isclose(x, x + 1e-11)",
        "cmath.isclose(x, x + 0.5, rel_tol=0.3)", "cmath.isclose(x, x + 0.5, abs_tol=1.0)", "cmath.sqrt(y)", "cmath.exp(3)",
        "cmath.isnan(x)", "cmath.isinf(x * cmath.inf)", "cmath.isfinite(y)", "cmath.e", "cmath.pi", "cmath.tau", "cmath.infj", "cmath.nanj.real",
    ],
)  # fmt: skip
def test_cmath(expression, device):
    for x, y in ((1.5 - 2.5j, 0.75), (-3.25 + 1e-3j, 4.0), (2j, -0.5), (-1.0 + 0j, 1.25)):
        if "rect" in expression or "log(x, y" in expression:
            y = abs(y)
        got = python_value(expression, x, y)
        want = complex(eval(expression, {"cmath": cmath, "x": x, "y": y}))
        if same(np.array(got), np.array(want)):
            continue
        assert abs(got - want) <= LIMIT[device] * 2**-52 * abs(want), (x, y, got, want)


@pytest.mark.parametrize("r", [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf])
@pytest.mark.parametrize("phi", [0.0, -0.0, 0.5, -2.0, 4.0])
def test_rect(r, phi):
    got = python_value("cmath.rect(x, y)", r, phi)
    assert agrees(got, cmath.rect(r, phi)), (got, cmath.rect(r, phi))


@pytest.mark.parametrize("function", ["isnan", "isinf", "isfinite"])
@pytest.mark.parametrize("module", ["cmath", "np"])
def test_predicates(module, function):
    out = results(f"{module}.{function}(x)", [GRID], np.zeros(GRID.size, bool))
    assert (out == getattr(np, function)(GRID)).all()


def test_complex64_stays_complex64():
    """cmath keeps complex64, as math keeps float32; of everything else it makes Python numbers."""

    def kernel(x, f, out):
        out[0] = (cmath.sqrt(x[0]) * 0.1).real
        out[1] = cmath.phase(x[0]) * 0.1
        out[2] = (cmath.exp(f[0]) * 0.1).real
        out[3] = (cmath.sqrt(np.float64(2)) * np.float32(0.1)).real
        out[4] = (cmath.rect(f[0], f[0]) * 0.1).imag

    x, f, out = np.array([2 + 1j], np.complex64), np.array([1.5], np.float32), np.zeros(5)
    jit(kernel, fma=False)[1, 1](x, f, out)
    cuda.synchronize()
    assert all(v == np.float32(v) for v in out)  # float32 values: nothing was computed in float64
    want = [
        np.sqrt(x[0]).real * 0.1, np.angle(x[0]) * np.float32(0.1), np.exp(f[0]) * 0.1, math.sqrt(2) * np.float32(0.1), 1.5 * math.sin(1.5) * 0.1,
    ]  # fmt: skip
    assert np.allclose(out, want, rtol=16 * 2**-23)


# --- NumPy's other ufuncs ---


OPERATORS = {  # NumPy's loops may fuse these, its scalars do not
    "np.multiply(x, y)": "x * y", "np.divide(x, y)": "x / y", "np.true_divide(x, 2)": "x / 2", "np.square(x)": "x * x",
}  # fmt: skip


@pytest.mark.parametrize(
    "expression",
    [
        "np.conj(x)", "np.conjugate(x)", "np.real(x)", "np.imag(x)", "np.square(x)", "np.positive(x)", "np.negative(x)", "np.rint(x)",
        "np.add(x, y)", "np.subtract(x, y)", "np.multiply(x, y)", "np.divide(x, y)", "np.true_divide(x, 2)", "np.equal(x, y)",
        "np.not_equal(x, 1j)", "np.less(x, y)", "np.less_equal(x, y)", "np.greater(x, y)", "np.greater_equal(x, y)", "np.minimum(x, y)",
        "np.maximum(x, y)", "np.fmin(x, y)", "np.fmax(x, y)", "np.logical_and(x, y)", "np.logical_or(x, y)", "np.logical_xor(x, y)",
        "np.logical_not(x)", "np.isnan(x)", "np.isinf(x)", "np.isfinite(x)", "np.reciprocal(x)", "min(x, y)", "max(x, y)",
        "np.power(x, 2)", "np.add(x, 2j)", "np.maximum(x, 0.5)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", COMPLEX)
def test_exact_ufuncs(dtype, expression):
    x = np.concatenate([GRID, points(dtype, 20)]).astype(dtype)
    check(expression, x, np.roll(x, 5), reference=OPERATORS.get(expression))


@pytest.mark.parametrize("expression", ["np.absolute(x)", "np.abs(x)", "np.angle(x)", "np.angle(x, deg=True)"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_sizes_and_angles(dtype, expression, device):
    check(expression, np.concatenate([GRID, points(dtype, 20)]).astype(dtype), ulps=LIMIT[device])


@pytest.mark.parametrize("expression", ["np.conj(x)", "np.real(x)", "np.imag(x)"])
@pytest.mark.parametrize("dtype", STRONG)
def test_functions_for_complex_numbers_of_real_ones(dtype, expression):
    if dtype == "bool" and "conj" not in expression:
        pytest.skip("a Python int in a kernel, NumPy's int64 on the host")
    check(expression, np.array([0, 1, 2, 100], dtype))


def test_angle_of_real_numbers():
    for dtype in ("float32", "float64", "int64"):
        check("np.angle(x)", np.array([-2, 0, 3], dtype), ulps=1)


@pytest.mark.parametrize(
    "call",
    ["np.floor(z)", "np.cbrt(z)", "np.fabs(z)", "np.signbit(z)", "np.hypot(z, 1.0)", "np.arctan2(1.0, z)", "np.fmod(z, 2)", "np.floor_divide(z, 2)",
     "np.remainder(z, z)", "np.invert(z)", "np.deg2rad(z)", "math.exp(z)", "cmath.rect(z, 1.0)", "cmath.exp((z, z))"],
)  # fmt: skip
def test_what_has_no_complex_form(call):
    kernel = define(f"def kernel(out, z):\n    out[0] = {call}\n", cmath=cmath)
    with pytest.raises(TypeError):
        jit(kernel)[1, 1](np.zeros(1, complex), np.complex64(1))


def test_a_misspelt_name():
    kernel = define("def kernel(out):\n    out[0] = cmath.fase(1j)\n", cmath=cmath)
    with pytest.raises(AttributeError, match="phase"):
        jit(kernel)[1, 1](np.zeros(1, complex))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_functions_assemble(dtype, tmp_path):
    lines = "".join(f"        out[i] = cmath.{n}(out[i])\n" for n in CMATH)
    lines += "".join(f"        out[i] = np.{n}(out[i])\n" for n, other in NUMPY.items() if not other)
    kernel = define(
        f"def kernel(out, w):\n    i = cuda.grid(1)\n    if i < out.size:\n{lines}"
        "        out[i] = cmath.rect(abs(out[i]), cmath.phase(out[i])) ** w\n        out[i] **= -5\n",
        cmath=cmath,
    )
    for arch in ("sm_75", "sm_90", "sm_120"):
        assemble(ptx_of(kernel, f"{dtype}[::1], {dtype}", arch), arch, tmp_path)
