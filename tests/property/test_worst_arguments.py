"""The documented bounds where they are hardest to keep: worst_arguments.py has the arguments, exact.py the values.

All ways to a function are tried: math's, NumPy's, libdevice's, and a complex function's. 6 s on the host device.
"""

import cmath
from functools import cache

import exact
import numpy as np
import pytest
import worst_arguments as worst
from accuracy import bound
from differential import device_name
from harness import define, jit
from pyptx import cuda
from pyptx.cuda import libdevice
from test_accuracy import WITHOUT_UFUNC, ulps_off

DTYPES = [np.float32, np.float64]
ARGUMENTS = {
    **dict.fromkeys(["sin", "cos", "tan"], worst.angles),
    **dict.fromkeys(["sinpi", "cospi"], worst.half_turns),
    **dict.fromkeys(["log", "log2", "log10"], worst.around_one),
    "log1p": lambda dtype, rng: worst.around_one(dtype, rng) - dtype(1),
    "exp": worst.exponents,
    "exp2": lambda dtype, rng: worst.exponents(dtype, rng, 2),
    "pow": worst.powers,
    **dict.fromkeys(["erf", "erfc"], worst.errors),
    "hypot": worst.sides,
}


@cache
def table(name, dtype):
    """(arguments, correctly rounded values)"""
    columns = ARGUMENTS[name](dtype, np.random.default_rng(5))
    columns = columns if isinstance(columns, tuple) else (columns,)
    return columns, rounded([VALUES[name](*map(float, row)) for row in zip(*columns)], dtype)


VALUES = {name: getattr(exact, name, None) for name in ARGUMENTS}
VALUES["sinpi"] = lambda x: exact.sine_and_cosine_of_pi_times(x)[0]
VALUES["cospi"] = lambda x: exact.sine_and_cosine_of_pi_times(x)[1]


def rounded(values, dtype):
    def one(v):
        try:
            return float(v)
        except OverflowError:
            return np.inf if v > 0 else -np.inf

    with np.errstate(over="ignore", under="ignore"):
        return np.array([one(v) for v in values]).astype(dtype)


def run(expression, columns, dtype, **options):
    names = "xy"[: len(columns)]
    each = "".join(f"        {n} = {n}s[i]\n" for n in names)
    kernel = define(
        f"def kernel({', '.join(n + 's' for n in names)}, out):\n    i = cuda.grid(1)\n    if i < out.size:\n{each}        out[i] = {expression}\n",
        libdevice=libdevice,
        cmath=cmath,
    )
    out = np.zeros(len(columns[0]), dtype)
    jit(kernel, **options)[-(-out.size // 256), 256](*columns, out)
    cuda.synchronize()
    return out


def check(expression, name, dtype, allowed, **options):
    columns, want = table(name, dtype)
    got = run(expression, columns, dtype, **options)
    off = ulps_off(got, want)
    k = int(np.argmax(off))
    row = [c[k] for c in columns]
    assert off[k] <= allowed, f"{expression} of {row}: {got[k]!r}, right is {want[k]!r}: {off[k]} ulps, documented {allowed}"


OF_LIBDEVICE = {"sinpi": (2, 2), "cospi": (2, 2)}  # float32 and float64, on both devices


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in ARGUMENTS if n not in OF_LIBDEVICE])
def test_functions(name, dtype):
    both = "x, y" if name in ("pow", "hypot") else "x"
    allowed = bound(name, np.dtype(dtype).name, device_name())
    check(f"math.{name}({both})", name, dtype, allowed)
    if name not in WITHOUT_UFUNC:
        check(f"np.{'power' if name == 'pow' else name}({both})", name, dtype, allowed, opt=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sin", "cos", "tan", *OF_LIBDEVICE])
def test_libdevice(name, dtype):
    suffix = "f" if dtype is np.float32 else ""
    allowed = OF_LIBDEVICE[name][dtype is np.float64] if name in OF_LIBDEVICE else bound(name, np.dtype(dtype).name, "gpu")
    check(f"libdevice.{name}{suffix}(x)", name, dtype, allowed)
    if name != "tan":
        together = f"libdevice.sincos{name[3:]}{suffix}(x)[{int(name.startswith('cos'))}]"
        check(together, name, dtype, allowed)


@pytest.mark.parametrize("dtype", DTYPES)
def test_complex_functions(dtype):
    """Parts that are one function of the angle have that function's bound; abs() has hypot's."""
    both = {np.float32: "np.complex64", np.float64: "complex"}[dtype]
    name = np.dtype(dtype).name
    for part, function in (("real", "cos"), ("imag", "sin")):
        check(f"cmath.exp({both}(1j * x)).{part}", function, dtype, bound(function, name, device_name()))
        check(f"cmath.rect({both}(1).real, x).{part}", function, dtype, bound(function, name, device_name()))
    for expression in ("abs(z)", "np.abs(z)", "cmath.polar(z)[0]"):
        made = "complex(x, y)" if dtype is np.float64 else "np.complex64(complex(x, y))"
        check(expression.replace("z", made), "hypot", dtype, bound("hypot", name, device_name()))


def test_constant_angles():
    """What the compiler knows is computed like all else."""
    assert run("math.cos(1.5986289000543612e+74) + 0 * x", [np.zeros(1)], np.float64)[0] == float(exact.cos(1.5986289000543612e74))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_arguments_are_hard(dtype):
    """Most cancel in all bits but one or two. 6381956970095103 * 2**797 is the float64 nearest to a multiple of pi/2 (Muller, Elementary Functions)."""
    x = worst.near_quarter_turns(dtype)
    x = x[np.abs(x) > 4]
    bits = np.finfo(dtype).nmant + 1
    sizes = np.array([min(map(abs, exact.sine_and_cosine(float(v)))) for v in x], float)
    assert np.median(sizes) < 2.0 ** (1 - bits)
    assert dtype is np.float32 or np.abs(x[sizes.argmin()]) == np.ldexp(6381956970095103.0, 797)
