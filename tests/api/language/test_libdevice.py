"""cuda.libdevice.*: every function on both devices.

Real functions are compared with true values (tests/data/libdevice.txt, from mpmath) within the bounds of NVIDIA's CUDA C++
Programming Guide, "Mathematical Functions Appendix", which libdevice states for itself; the host device keeps them too. All other functions
are exact: they are compared with models in Python's integers and fractions.
"""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from harness import define, jit, ulp_distance
from pyptx import _pyptx, cuda
from pyptx.cuda import libdevice
from standin import needs_standin
from standin import run as run_on_standin
from test_ptx import ARCHITECTURES, PTXAS, assemble, ptx_of

NAMES = dir(_pyptx.intrinsics["libdevice"])
TUPLES = {"sincos", "sincosf", "sincospi", "sincospif", "fast_sincosf", "frexp", "frexpf", "modf", "modff", "remquo", "remquof"}


def parameters(name):
    return getattr(libdevice, name).__text_signature__.strip("()").split(", ")


def source(name, names):
    """A kernel that stores what libdevice.NAME gives for each row, integers and floats apart."""
    call = f"libdevice.{name}({', '.join(f'{n}[i]' for n in names)})"
    lines = f"        out[i] = {call}\n"
    if name in TUPLES:
        lines = f"        r = {call}\n        out[i] = r[0]\n        out2[i] = r[1]\n"
    return f"def kernel({', '.join(names)}, out, out2):\n    i = cuda.grid(1)\n    if i < out.size:\n{lines}"


def evaluate(name, columns, dtype):
    names = parameters(name)
    kernel = define(source(name, names), libdevice=libdevice)
    columns = [np.ascontiguousarray(c) for c in columns]
    out, out2 = np.zeros(len(columns[0]), dtype), np.zeros(len(columns[0]), np.float64)
    jit(kernel)[-(-out.size // 64), 64](*columns, out, out2)
    cuda.synchronize()
    return (out, out2) if name in TUPLES else out


# --- real functions ---

# name: (ulps of float64, ulps of float32)
BOUNDS = {
    "acos": (2, 3), "acosh": (3, 4), "asin": (3, 4), "asinh": (3, 3), "atan": (2, 2), "atan2": (2, 3), "atanh": (3, 3),
    "cbrt": (1, 1), "rcbrt": (1, 2), "cos": (2, 2), "cosh": (2, 2), "cospi": (2, 2), "exp": (1, 2), "exp10": (1, 2),
    "exp2": (1, 2), "expm1": (1, 1), "log": (1, 1), "log10": (1, 3), "log1p": (1, 1), "log2": (1, 1), "pow": (2, 4),
    "sin": (2, 2), "sinh": (2, 3), "sinpi": (2, 2), "sqrt": (0, 0), "rsqrt": (1, 2), "tan": (2, 4), "tanh": (2, 2),
    "hypot": (2, 3), "rhypot": (1, 2), "norm3d": (1, 3), "rnorm3d": (1, 2), "norm4d": (1, 3), "rnorm4d": (1, 2),
    "erf": (2, 2), "erfc": (5, 4), "erfinv": (5, 3), "erfcinv": (6, 4), "erfcx": (4, 4), "normcdf": (5, 5),
    "normcdfinv": (8, 5), "lgamma": (4, 6), "tgamma": (10, 5), "cyl_bessel_i0": (6, 6), "cyl_bessel_i1": (6, 6),
    "j0": (7, 9), "j1": (7, 9), "y0": (7, 9), "y1": (7, 9), "jn": (7, 9), "yn": (15, 15),
}  # fmt: skip
# glibc's expm1 is documented with up to 2 ulps on x86-64 (manual, "Errors in Math Functions").
C_LIBRARY = {"expm1": 2}
# Bessel functions of the first and second kind, near their zeros and of larger arguments: absolute. yn in ulps is 2 + 2.5 n.
BESSEL = {"float64": 5e-12, "float32": 2.2e-6}


def references():
    table = {}
    for line in (Path(__file__).resolve().parents[2] / "data" / "libdevice.txt").read_text().splitlines():
        if not line.startswith("#"):
            call, value = line.split(" = ")
            name, *args = call.split()
            row = [float.fromhex(a) if "x" in a else int(a) for a in args]
            table.setdefault(name, []).append((*row, float.fromhex(value)))
    return table


REFERENCES = references()
REAL = {name + suffix for name in REFERENCES for suffix in ("", "f")}


@pytest.mark.parametrize("name", sorted(REAL))
def test_real_function(name, device):
    base = name if name in REFERENCES else name.removesuffix("f")
    dtype = np.float64 if name == base else np.float32
    *columns, want = map(np.array, zip(*REFERENCES[base]))
    with np.errstate(all="ignore"):
        want = want.astype(dtype)
    columns = [c.astype(dtype) if c.dtype.kind == "f" else c for c in columns]
    got = evaluate(name, columns, dtype)
    bound = BOUNDS[base][dtype == np.float32]
    if device == "host" and dtype == np.float64:
        bound = max(bound, C_LIBRARY.get(base, 0))
    right = ulp_distance(got, want) <= bound
    if re.fullmatch("[jy][01n]", base):
        right |= (columns[-1] >= 8) & (np.abs(got - want) <= BESSEL[np.dtype(dtype).name])
    if base == "jn" and device == "gpu":  # documented as an absolute error: the CUDA guide's table of functions
        right |= np.abs(got - want) <= {"float32": 2.2e-6, "float64": 1.4e-12}[np.dtype(dtype).name]
    worst = int(np.argmin(right))
    assert right.all(), f"{[c[worst] for c in columns]}: {got[worst]!r}, true {want[worst]!r}"


@pytest.mark.parametrize("name", ["sincos", "sincosf", "sincospi", "sincospif"])
def test_sine_and_cosine_together(name):
    """The same values as the functions for one of them, which test_real_function bounds."""
    suffix, parts = ("f", name[:-1]) if name.endswith("f") else ("", name)
    pi = parts.removeprefix("sincos")
    dtype = np.float32 if suffix else np.float64
    x = np.array([0.0, 0.3, -2.75, 11.5, 100.25], dtype)
    for got, function in zip(evaluate(name, [x], dtype), ("sin", "cos")):
        assert (ulp_distance(got.astype(dtype), evaluate(function + pi + suffix, [x], dtype)) <= 2).all()


@pytest.mark.parametrize("name", ["powi", "powif"])
def test_integer_power(name):
    """Repeated multiplication: at most one rounding a bit of the exponent and one a set bit, and the inversion."""
    dtype = np.float32 if name == "powif" else np.float64
    x, n = np.array([1.5, -0.7, 3.0, 2.5, 1.125, -2.0, 7.0], dtype), np.array([3, 5, -4, 0, 31, 7, 1], np.int32)
    want = np.array([float(Fraction(float(a)) ** int(k)) for a, k in zip(x, n)], dtype)
    assert (ulp_distance(evaluate(name, [x, n], dtype), want) <= 12).all()


SPECIAL_VALUES = [
    ("erfinv", 1.0, math.inf), ("erfinv", -1.0, -math.inf), ("erfinv", 1.5, math.nan), ("erfinv", 0.0, 0.0),
    ("erfcinv", 0.0, math.inf), ("erfcinv", 2.0, -math.inf), ("erfcinv", -0.5, math.nan), ("erfcinv", 1.0, 0.0),
    ("normcdfinv", 0.0, -math.inf), ("normcdfinv", 1.0, math.inf), ("normcdfinv", 1.5, math.nan), ("normcdfinv", 0.5, 0.0),
    ("erfcx", math.inf, 0.0), ("erfcx", -math.inf, math.inf), ("erfcx", -30.0, math.inf), ("erfcx", math.nan, math.nan),
    ("normcdf", -math.inf, 0.0), ("normcdf", math.inf, 1.0), ("sinpi", math.inf, math.nan), ("sinpi", -0.0, -0.0),
    ("sinpi", 3.0, 0.0), ("cospi", 0.5, 0.0), ("cospi", 3.0, -1.0), ("cyl_bessel_i0", 0.0, 1.0), ("cyl_bessel_i1", 0.0, 0.0),
    ("cyl_bessel_i0", 800.0, math.inf), ("exp10", 400.0, math.inf), ("rsqrt", 0.0, math.inf), ("rcbrt", -math.inf, 0.0),
    ("lgamma", -3.0, math.inf), ("tgamma", 0.0, math.inf), ("saturatef", math.nan, 0.0), ("saturatef", 7.0, 1.0),
    ("saturatef", 0.25, 0.25), ("saturatef", -3.0, 0.0), ("logb", 0.0, -math.inf), ("fmax", math.nan, None), ("y0", 0.0, -math.inf),
]  # fmt: skip


@pytest.mark.parametrize("name", sorted({name for name, _, want in SPECIAL_VALUES if want is not None}))
def test_ends_of_the_domain(name):
    x, want = np.array([(x, w) for n, x, w in SPECIAL_VALUES if n == name]).T
    got = evaluate(name, [x], np.float64)
    assert np.array_equal(got, want, equal_nan=True), (x, got, want)


def test_norm_of_an_infinite_vector():
    inf, nan = np.array([math.inf]), np.array([math.nan])
    assert evaluate("norm3d", [nan, inf, nan], np.float64)[0] == math.inf
    assert evaluate("rnorm3d", [inf, nan, nan], np.float64)[0] == 0
    assert np.isnan(evaluate("norm3d", [nan, nan, nan], np.float64)[0])


# Intrinsic functions of the same appendix: error bound of the value w at the argument x.
FAST = {
    "fast_sinf": (math.sin, (-3.1, 3.1), lambda x, w: 2**-21.41),
    "fast_cosf": (math.cos, (-3.1, 3.1), lambda x, w: 2**-21.19),
    "fast_tanf": (math.tan, (-1, 1), lambda x, w: (2**-21.41 + abs(w) * 2**-21.19) / math.cos(x) + 2**-22),
    "fast_tanhf": (math.tanh, (-5, 5), lambda x, w: abs(w) * 2**-10.98),
    "fast_expf": (math.exp, (-20, 20), lambda x, w: (2 + abs(1.173 * x)) * np.spacing(np.float32(w))),
    "fast_exp10f": (lambda x: 10.0**x, (-10, 10), lambda x, w: (2 + abs(2.97 * x)) * np.spacing(np.float32(w))),
    "fast_logf": (math.log, (0.5, 2), lambda x, w: 2**-21.41),
    "fast_log2f": (math.log2, (0.5, 2), lambda x, w: 2**-22),
    "fast_log10f": (math.log10, (0.5, 2), lambda x, w: 2**-24),
}


@pytest.mark.parametrize("name", FAST)
def test_fast_function(name):
    function, ends, bound = FAST[name]
    x = np.linspace(*ends, 200).astype(np.float32)
    got = evaluate(name, [x], np.float32)
    for a, r in zip(x.tolist(), got.tolist()):
        w = function(a)
        assert abs(r - w) <= bound(a, w) + np.spacing(np.float32(abs(w))) / 2, (a, r, w)


def test_fast_functions_of_two():
    x, y = np.array([1.5, -7.25, 1e10, 0.3], np.float32), np.array([3.0, 0.7, -1e5, 1e-3], np.float32)
    assert (ulp_distance(evaluate("fast_fdividef", [x, y], np.float32), x / y) <= 2).all()
    s, c = evaluate("fast_sincosf", [y[:2]], np.float32)
    assert np.allclose(s, np.sin(y[:2].astype(float)), rtol=0, atol=2**-21.4)
    assert np.allclose(c, np.cos(y[:2].astype(float)), rtol=0, atol=2**-21.1)
    # exp2f(y * log2f(x)): the error of the logarithm, 2**-22 absolute or 2 ulps, is multiplied by y.
    got, want = evaluate("fast_powf", [np.abs(x), y], np.float32), np.abs(x).astype(float) ** y.astype(float)
    assert np.allclose(got, want, rtol=1e-6 + 40 * 2**-21, atol=1e-38)


# --- directed rounding, in fractions ---

FLOAT64 = [0.0, 1.0, -1.0, 0.1, -0.1, 1 / 3, 3.0, -7.5, 1e-160, -3e-170, 1e-310, 5e-324, 1e300, -1.7e308, 1e16, 9007199254740993.0]
FLOAT32 = [0.0, 1.0, -1.0, 0.1, -0.1, 1 / 3, 3.0, -7.5, 1e-22, -3e-25, 1e-40, 1e-45, 1e30, -3.4e38, 1.7e7, 16777217.0]
VALUES = {"d": np.array(FLOAT64), "f": np.array(FLOAT32, np.float32)}


def rounded(value, dtype, mode):
    """The number of that dtype next to a fraction: below it (rd), above it (ru), towards zero (rz) or nearest, ties to even (rn)."""
    largest = Fraction(float(np.finfo(dtype).max))
    if mode == "rz":
        mode = "rd" if value > 0 else "ru"
    if abs(value) > largest:
        up = value > 0
        half = largest + (largest - Fraction(float(np.nextafter(np.finfo(dtype).max, dtype(0))))) / 2
        if mode == ("rd" if up else "ru") or mode == "rn" and abs(value) < half:
            return dtype(largest if up else -largest)
        return dtype(math.inf if up else -math.inf)
    with np.errstate(over="ignore"):
        near = dtype(float(value))
    if np.isinf(near):
        near = np.copysign(np.finfo(dtype).max, near)
    low = near if Fraction(float(near)) <= value else np.nextafter(near, dtype(-math.inf))
    high = near if Fraction(float(near)) >= value else np.nextafter(near, dtype(math.inf))
    if mode == "rd" or mode == "ru":
        return low if mode == "rd" else high
    below, above = value - Fraction(float(low)), Fraction(float(high)) - value
    if below != above:
        return low if below < above else high
    bits = np.int64 if dtype == np.float64 else np.int32
    return low if low.view(bits) % 2 == 0 else high


def root(value):
    """A fraction that rounds as the square root does: it has 400 bits, and one more if they are not all."""
    if value < 0:
        return None
    scaled = value * 4**1600
    r = math.isqrt(scaled.numerator // scaled.denominator)
    exact = r * r == scaled
    return Fraction(2 * r + (not exact), 2 * 2**1600)


OPERATIONS = {
    "add": (2, lambda x, y: x + y), "sub": (2, lambda x, y: x - y), "mul": (2, lambda x, y: x * y),
    "div": (2, lambda x, y: x / y if y else None), "rcp": (1, lambda x: 1 / x if x else None), "sqrt": (1, root),
    "fma": (3, lambda x, y, z: x * y + z),
}  # fmt: skip
DIRECTED = {}
for n in NAMES:
    m = re.fullmatch(r"([df])(add|sub|mul|div|rcp|sqrt)_(r[dnuz])|(fma|fmaf)(?:_ieee)?_(r[dnuz])|()(fma)(f?)", n)
    if m and m[1]:
        DIRECTED[n] = m[1], m[2], m[3]
    elif m:
        DIRECTED[n] = "f" if "fmaf" in n else "d", "fma", m[5] or "rn"


@pytest.mark.parametrize("name", DIRECTED)
def test_directed_rounding(name):
    letter, operation, mode = DIRECTED[name]
    arity, function = OPERATIONS[operation]
    values = VALUES[letter]
    dtype = values.dtype.type
    rng = np.random.default_rng(3)
    with np.errstate(over="ignore"):
        rows = rng.choice(values, (150, arity)) * rng.choice([1, 0.7, 1.1], (150, arity)).astype(dtype)
    rows = rows[np.isfinite(rows).all(axis=1)]
    wanted = [function(*(Fraction(float(v)) for v in row)) for row in rows]
    keep = [k for k, w in enumerate(wanted) if w is not None]
    rows, wanted = rows[keep], [wanted[k] for k in keep]
    got = evaluate(name, list(rows.T), dtype)
    for row, g, w in zip(rows, got, wanted):
        want = rounded(w, dtype, mode)
        assert g == want, f"{name}{tuple(row.tolist())} = {float(g).hex()}, exact {float(want).hex()}"


# --- conversions ---

INTEGERS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
WHOLE = {"rd": math.floor, "ru": math.ceil, "rz": math.trunc, "rn": round}
TO_INTEGER, FROM_INTEGER = {}, {}
for n in NAMES:
    if m := re.fullmatch(r"(double|float)2(int|uint|ll|ull)_(r[dnuz])", n):
        TO_INTEGER[n] = m.groups()
    elif m := re.fullmatch(r"(int|uint|ll|ull|double)2(double|float)_(r[dnuz])", n):
        FROM_INTEGER[n] = m.groups()


@pytest.mark.parametrize("name", TO_INTEGER)
def test_float_to_integer(name):
    """Saturating; unsigned results are the bits of signed ones."""
    source, target, mode = TO_INTEGER[name]
    dtype, integer = np.float64 if source == "double" else np.float32, INTEGERS[target]
    info = np.iinfo(integer)
    x = np.array([0.0, -0.5, 0.5, 1.5, 2.5, -2.5, 3.99, 1e9, 2147483647.0, 2147483648.5, 4294967295.5, -2147483649.0, 1e18, 1e19, -1e19,
                  2e19, math.inf, -math.inf], dtype)  # fmt: skip
    ends = {math.inf: info.max, -math.inf: info.min}
    want = [ends[v] if v in ends else min(max(WHOLE[mode](v), info.min), info.max) for v in x.tolist()]
    signed = np.int32 if info.bits == 32 else np.int64
    assert np.array_equal(evaluate(name, [x], signed), np.array(want, integer).view(signed))


@pytest.mark.parametrize("name", FROM_INTEGER)
def test_conversion_to_a_float(name):
    source, target, mode = FROM_INTEGER[name]
    dtype = np.float64 if target == "double" else np.float32
    if source == "double":
        x = np.append(VALUES["d"], [1e-46, -1e-46, 3.5e38, -3.5e38, 16777217.0, 16777219.0])
    else:
        info = np.iinfo(INTEGERS[source])
        x = [0, 1, 5, info.max, info.min, info.max - 1, 16777217, 16777219, info.max // 3]
        x = np.array(x + ([-16777217, -7] if info.min else []), INTEGERS[source])
    got = evaluate(name, [x], dtype)
    for v, g in zip(x.tolist(), got):
        assert g == rounded(Fraction(v), dtype, mode), (v, g)


def test_half():
    bits = np.arange(-32768, 32768, 7, dtype=np.int16)
    halves = bits.view(np.float16)
    got = evaluate("half2float", [bits], np.float32)
    assert np.array_equal(got, halves.astype(np.float32), equal_nan=True)
    x = np.array([0.0, -0.0, 1.0, 0.1, -65504.0, 65519.9, 65520.0, 1e-8, 2.98e-8, 2.99e-8, 6.1e-5, 1 + 2**-11, 1 + 3 * 2**-11, math.inf, -1e30],
                 np.float32)  # fmt: skip
    with np.errstate(over="ignore"):
        want = x.astype(np.float16)
    assert np.array_equal(evaluate("float2half_rn", [x], np.int16).view(np.float16), want)


# --- exact functions ---


def ints(bits, unsigned=False):
    rng = np.random.default_rng(5)
    dtype = np.dtype(f"{'u' if unsigned else 'i'}{bits // 8}")
    info = np.iinfo(dtype)
    edge = [0, 1, 2, info.max, info.min, info.max // 3, info.max - 7]
    return np.append(np.array(edge, dtype), rng.integers(info.min, info.max, 20, dtype, True))


def unsigned(v, bits):
    return v % 2**bits


def wrap(v, bits):
    return (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def low24(v):
    return wrap(v, 24)


def byte_perm(x, y, s):
    both = x | y << 32
    return sum((both >> 8 * (s >> 4 * k & 7) & 255) << 8 * k for k in range(4))


def lead(bits):
    return lambda x: bits - unsigned(x, bits).bit_length()


def first(bits):
    return lambda x: (unsigned(x, bits) & -unsigned(x, bits)).bit_length()


# name: (bits of the arguments, are they unsigned, the model in Python's integers)
INTEGER_FUNCTIONS = {
    "abs": (32, False, abs), "llabs": (64, False, abs), "max": (32, False, max), "min": (32, False, min), "umax": (32, True, max),
    "umin": (32, True, min), "llmax": (64, False, max), "llmin": (64, False, min), "ullmax": (64, True, max), "ullmin": (64, True, min),
    "hadd": (32, False, lambda x, y: (x + y) >> 1), "uhadd": (32, True, lambda x, y: (x + y) >> 1),
    "rhadd": (32, False, lambda x, y: (x + y + 1) >> 1), "urhadd": (32, True, lambda x, y: (x + y + 1) >> 1),
    "mul24": (32, False, lambda x, y: low24(x) * low24(y)), "umul24": (32, True, lambda x, y: (x % 2**24) * (y % 2**24)),
    "mulhi": (32, False, lambda x, y: x * y >> 32), "umulhi": (32, True, lambda x, y: x * y >> 32),
    "mul64hi": (64, False, lambda x, y: x * y >> 64), "umul64hi": (64, True, lambda x, y: x * y >> 64),
    "sad": (32, False, lambda x, y, z: abs(x - y) + z), "usad": (32, True, lambda x, y, z: abs(x - y) + z),
    "brev": (32, True, lambda x: int(f"{x:032b}"[::-1], 2)), "brevll": (64, True, lambda x: int(f"{x:064b}"[::-1], 2)),
    "byte_perm": (32, True, byte_perm), "clz": (32, False, lead(32)), "clzll": (64, False, lead(64)), "ffs": (32, False, first(32)),
    "ffsll": (64, False, first(64)), "popc": (32, True, int.bit_count), "popcll": (64, True, int.bit_count),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGER_FUNCTIONS)
def test_integer_function(name):
    """Exact, modulo the width; unsigned numbers as the bits of signed ones."""
    bits, is_unsigned, model = INTEGER_FUNCTIONS[name]
    values = ints(bits, is_unsigned)
    columns = [np.roll(values, k * 5) for k in range(len(parameters(name)))]
    got = evaluate(name, columns, np.int64)
    want = [wrap(model(*row), bits) for row in zip(*(c.tolist() for c in columns))]
    assert got.tolist() == want


FLOATS_EXACTLY = {  # the model on NumPy's arrays
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint, "fabs": np.fabs,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x), "copysign": np.copysign, "fmax": np.fmax, "fmin": np.fmin,
    "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0)).astype(x.dtype), "fmod": np.fmod,
    "remainder": lambda x, y: np.array([math.remainder(*p) if np.isfinite(p[0]) and p[1] else math.nan for p in zip(x.tolist(), y.tolist())], x.dtype),
    "nextafter": np.nextafter,
}  # fmt: skip
PLAIN = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.75, -7.25, 1e10, -1e-10, 100.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("name", [n + s for n in FLOATS_EXACTLY for s in ("", "f")])
def test_exact_function(name):
    model = FLOATS_EXACTLY.get(name) or FLOATS_EXACTLY[name[:-1]]
    dtype = np.float64 if name in FLOATS_EXACTLY else np.float32
    x = np.array(PLAIN, dtype)
    columns = [np.repeat(x, x.size), np.tile(x, x.size)] if len(parameters(name)) == 2 else [x]
    with np.errstate(all="ignore"):
        want = model(*columns)
    got = evaluate(name, columns, dtype)
    wrong = ~((got == want) | np.isnan(got) & np.isnan(want))
    assert not wrong.any(), [(*(c[wrong][0] for c in columns), got[wrong][0], want[wrong][0])]


@pytest.mark.parametrize("suffix", ["", "f"])
def test_parts(suffix):
    dtype = np.float32 if suffix else np.float64
    x = np.array([1.0, -0.75, 12.5, -1e-30, 3e20, 0.0, 1e-40], dtype)
    m, e = evaluate("frexp" + suffix, [x], dtype)
    want = np.frexp(x)
    assert np.array_equal(m, want[0]) and np.array_equal(e, want[1])
    fraction, whole = evaluate("modf" + suffix, [x], dtype)
    assert np.array_equal(fraction, np.modf(x)[0]) and np.array_equal(whole, np.modf(x)[1])
    two = np.array([3, -5, 0, 10, -20, 7, 100], np.int32)
    for name in ("ldexp", "scalbn"):
        assert np.array_equal(evaluate(name + suffix, [x, two], dtype), np.ldexp(x, two))
    finite = x[x != 0]
    assert np.array_equal(evaluate("logb" + suffix, [finite], dtype), np.floor(np.log2(np.abs(finite.astype(np.longdouble)))))
    assert np.array_equal(evaluate("ilogb" + suffix, [finite], np.int64), np.floor(np.log2(np.abs(finite.astype(np.longdouble)))))
    edge = np.array([0.0, math.nan, math.inf], dtype)
    assert evaluate("ilogb" + suffix, [edge], np.int64).tolist() == [-(2**31), -(2**31), 2**31 - 1]


@pytest.mark.parametrize("suffix", ["", "f"])
def test_remquo(suffix):
    """The remainder, and at least the three low bits of the quotient with its sign."""
    dtype = np.float32 if suffix else np.float64
    x, y = np.array([7.0, -7.0, 29.5, 1.0, -100.0], dtype), np.array([2.0, 2.0, -3.0, 4.0, 7.0], dtype)
    r, q = evaluate("remquo" + suffix, [x, y], dtype)
    for a, b, rest, quotient in zip(x.tolist(), y.tolist(), r.tolist(), q.tolist()):
        n = round(Fraction(a) / Fraction(b))
        assert rest == math.remainder(a, b)
        assert abs(n) % 8 == abs(quotient) % 8 and n * quotient >= 0


@pytest.mark.parametrize("suffix", ["", "f"])
def test_round_to_integer(suffix):
    dtype = np.float32 if suffix else np.float64
    x = np.array([0.5, 1.5, -0.5, -2.5, 2.4999, 1e15, -3.75], dtype)
    assert np.array_equal(evaluate("llrint" + suffix, [x], np.int64), np.rint(x).astype(np.int64))
    assert np.array_equal(evaluate("llround" + suffix, [x], np.int64), np.copysign(np.floor(np.abs(x) + dtype(0.5)), x).astype(np.int64))


CLASSES = {"isinf": np.isinf, "isnan": np.isnan, "signbit": np.signbit, "isfinite": np.isfinite}


@pytest.mark.parametrize("name", ["isinfd", "isinff", "isnand", "isnanf", "signbitd", "signbitf", "isfinited", "finitef"])
def test_classes(name):
    x = np.array(PLAIN[:-1] + [np.copysign(np.nan, 1)], np.float64 if name.endswith("d") else np.float32)
    model = CLASSES["isfinite" if "finite" in name else name[:-1]]
    assert np.array_equal(evaluate(name, [x], np.int32) != 0, model(x))


def test_bits():
    x = np.array([1.5, -0.0, 1e-300, math.inf, -7.25])
    bits = x.view(np.int64)
    high, low = (bits >> 32).astype(np.int32), bits.astype(np.int32)
    assert np.array_equal(evaluate("double_as_longlong", [x], np.int64), bits)
    assert np.array_equal(evaluate("longlong_as_double", [bits], np.float64).view(np.int64), bits)
    assert np.array_equal(evaluate("double2hiint", [x], np.int32), high)
    assert np.array_equal(evaluate("double2loint", [x], np.int32), low)
    assert np.array_equal(evaluate("hiloint2double", [high, low], np.float64).view(np.int64), bits)
    y = np.array([1.5, -0.0, 1e-40, math.inf, -7.25], np.float32)
    for name in ("float_as_int", "float_as_uint"):
        assert np.array_equal(evaluate(name, [y], np.int32), y.view(np.int32))
    for name in ("int_as_float", "uint_as_float"):
        assert np.array_equal(evaluate(name, [y.view(np.int32)], np.float32).view(np.int32), y.view(np.int32))


def test_reciprocals():
    x = np.array([3.0, -0.7, 1e10, 1e-5])
    got = evaluate("rcp64h", [x], np.float64)
    # 20 bits of fraction, of which the last may be wrong
    assert np.allclose(got, 1 / x, rtol=2**-19, atol=0) and not (got.view(np.int64) & 0xFFFFFFFF).any()
    y = np.array([3.0, 0.7, 1e10, 1e-5, 2.0], np.float32)
    assert (ulp_distance(evaluate("frsqrt_rn", [y], np.float32), (1 / np.sqrt(y.astype(float))).astype(np.float32)) == 0).all()


def test_every_function_is_tested():
    tested = REAL | TUPLES | {"powi", "powif", "half2float", "float2half_rn", "rcp64h", "frsqrt_rn", "saturatef"}
    tested |= set(FAST) | {"fast_fdividef", "fast_powf", *DIRECTED, *TO_INTEGER, *FROM_INTEGER, *INTEGER_FUNCTIONS}
    tested |= {n + s for n in [*FLOATS_EXACTLY, "ldexp", "scalbn", "logb", "ilogb", "llrint", "llround"] for s in ("", "f")}
    tested |= {"isinfd", "isinff", "isnand", "isnanf", "signbitd", "signbitf", "isfinited", "finitef"}
    tested |= {n for n in NAMES if "_as_" in n} | {"double2hiint", "double2loint", "hiloint2double"}
    assert tested == set(NAMES)


# --- types and names ---


def test_results_are_strong():
    """A float32 stays one beside a Python float, an int32 wraps at 32 bits."""

    def kernel(x, out):
        out[0] = libdevice.sqrtf(x[0]) + 1e-9 == libdevice.sqrtf(x[0])
        out[1] = libdevice.sqrt(x[0]) + 1e-9 == libdevice.sqrt(x[0])
        out[2] = libdevice.abs(x[0]) * 2147483647 * 4 == -4 * 2
        m, e = libdevice.frexpf(x[0])
        out[3] = e * 65536 * 65536 == 0
        out[4] = libdevice.abs(-4.75) == 4

    out = np.zeros(5, np.bool_)
    jit(kernel)[1, 1](np.array([2.0]), out)
    cuda.synchronize()
    assert out.tolist() == [True, False, True, True, True]


def test_module_and_space():
    import pyptx.cuda.libdevice as module

    assert module.sin is cuda.libdevice.sin and "erfcinv" in dir(cuda.libdevice) and "x" in module.sin.__text_signature__

    def kernel(x, out):
        out[0] = cuda.libdevice.fabs(x[0])
        out[1] = module.fabs(x[0])

    out = np.zeros(2)
    jit(kernel)[1, 1](np.array([-2.5]), out)
    cuda.synchronize()
    assert out.tolist() == [2.5, 2.5]


def test_misspelt_and_mistyped():
    def misspelt(out):
        out[0] = libdevice.erfcinvv(0.5)

    with pytest.raises(AttributeError, match="erfcinv"):
        jit(misspelt)[1, 1](np.zeros(1))

    def mistyped(out):
        out[0] = libdevice.sin((1, 2))

    with pytest.raises(TypeError, match="a number"):
        jit(mistyped)[1, 1](np.zeros(1))


# --- PTX ---

GROUPS = [NAMES[k :: 8] for k in range(8)]


def group_source(names):
    lines = ""
    for k, name in enumerate(names):
        call = f"libdevice.{name}({', '.join(f'x[{j}]' for j in range(len(parameters(name))))})"
        lines += f"    r{k} = {call}\n" + (f"    out[{k}] = r{k}[0]\n    out[{k}] += r{k}[1]\n" if name in TUPLES else f"    out[{k}] = r{k}\n")
    return f"def kernel(x, out):\n{lines}"


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_assembles(number, tmp_path):
    """Every function, calls of it gone into the code or left as functions, for an architecture a group in turn."""
    kernel = define(group_source(GROUPS[number]), libdevice=libdevice)
    try:
        for arch in {ARCHITECTURES[number % len(ARCHITECTURES)], "sm_90"}:
            ptx = ptx_of(kernel, "float64[::1], float64[::1]", arch)
            assert ".extern" not in ptx
            assemble(ptx, arch, tmp_path)
    except RuntimeError as e:
        assert "PT400" in str(e) and not PTXAS
        pytest.skip("libdevice was not found")


@pytest.mark.parametrize("mode, word", [("rd", "rm"), ("ru", "rp"), ("rz", "rz"), ("rn", "rn")])
def test_directed_rounding_is_one_instruction(mode, word):
    kernel = define(f"def kernel(x, out):\n    out[0] = libdevice.fadd_{mode}(x[0], x[1])\n    out[1] = libdevice.fma_{mode}(x[0], x[1], x[2])\n",
                    libdevice=libdevice)  # fmt: skip
    ptx = ptx_of(kernel, "float64[::1], float64[::1]")
    assert f"add.{word}.f32" in ptx and f"fma.{word}.f64" in ptx


PAIRS = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})" """
import hashlib, math, numpy as np, ptx_on_cpu
ptx_on_cpu.choose()
from pyptx import cuda

@cuda.jit
def kernel(x, sines, cosines):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        cosines[i] = math.cos(v)
        sines[i] = math.sin(v)

for dtype in (np.float32, np.float64):
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000) * 10.0 ** rng.integers(-30, 30, 4000)
    x = np.concatenate([x, np.arange(-300, 301) * np.pi / 4, [0.0, -0.0, np.inf, -np.inf]]).astype(dtype)
    sines, cosines = np.zeros_like(x), np.zeros_like(x)
    kernel[-(-x.size // 128), 128](x, sines, cosines)
    assert np.isnan(sines[-2:]).all() and np.isnan(cosines[-2:]).all()
    print(hashlib.sha256(sines[:-2].tobytes() + cosines[:-2].tobytes()).hexdigest(), list(kernel.inspect_asm().values())[0].count("mad.lo.cc.u32"))
"""


@needs_standin
def test_sine_and_cosine_of_one_number_have_the_bits_of_each():
    """Together they are one call, which reduces large numbers once (nvptx.sine_pairs)."""
    together, apart = (run_on_standin(PAIRS, PYPTX_SKIP=skip).split() for skip in ("", "nvptx.sine_pairs"))
    assert together[0] == apart[0] and together[2] == apart[2]
    assert int(together[1]) < int(apart[1])


@needs_standin
def test_a_function_of_one_number_twice_has_its_bits():
    """It is called once (nvptx.equal_calls)."""
    twice = PAIRS.replace("math.cos(v)", "(math.cos(x[i]) + math.cos(x[i])) / 2")
    once, each = (run_on_standin(twice, PYPTX_SKIP=skip).split() for skip in ("", "nvptx.equal_calls"))
    assert once[0] == each[0] == run_on_standin(PAIRS).split()[0]
    assert int(once[1]) < int(each[1])
