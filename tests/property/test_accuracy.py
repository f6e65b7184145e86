"""Errors of math functions on the device, over dense samples, against a wider type; none exceeds its documented bound.

float32: every exponent with many mantissas, against NumPy's float64 functions, whose own error is 2**-28 of a
float32 ulp. float64: against the long double of the C library, where that is wider than a double (x86): its own
error is below 0.01 ulp of a double. Specials: nan, infinities, subnormals, zeros of both signs, ends of the type.
"""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from accuracy import BOUNDS, bound
from differential import device_name
from harness import define
from pyptx import cuda

NUMPY = {name: ("arc" + name[1:] if name[0] == "a" else name) for name in BOUNDS}
NUMPY["pow"] = "power"
WITHOUT_UFUNC = {"erf", "erfc"}  # NumPy has none: math's own, in double
TWO = {"atan2", "hypot", "pow"}
WIDE = np.finfo(np.longdouble).nmant > 60


def samples(dtype, n):
    """Floats of every exponent, the same number of each, then the special ones."""
    bits = np.dtype(dtype).itemsize * 8
    info = np.finfo(dtype)
    exponents = 1 << info.nexp if hasattr(info, "nexp") else 1 << info.iexp
    rng = np.random.default_rng(bits)
    each = max(2, n // (2 * exponents))
    mantissas = rng.integers(0, 1 << info.nmant, (2 * exponents, each), np.uint64)
    top = np.arange(2 * exponents, dtype=np.uint64)[:, None] << np.uint64(info.nmant)
    dense = (top | mantissas).ravel().astype(f"u{bits // 8}").view(dtype)
    near = rng.uniform(-8, 8, n // 2).astype(dtype)  # where most calls are
    special = [0.0, 1.0, 0.5, math.pi, info.max, info.tiny, info.smallest_subnormal, np.inf]
    special = np.array([*special, *(-x for x in special), np.nan], dtype)
    return np.concatenate([dense, near, special])


def reference(name, arguments):
    """(correct values in a wider type)."""
    wide = np.float64 if arguments[0].dtype == np.float32 else np.longdouble
    wider = [a.astype(wide) for a in arguments]
    with np.errstate(all="ignore"):
        if name in WITHOUT_UFUNC:
            return np.array([getattr(math, name)(float(x)) for x in wider[0]], np.float64)
        return getattr(np, NUMPY[name])(*wider)


def ulps_off(got, want):
    """Distance from the rounded reference, in representable numbers; 0 for two nans, infinite where only one is."""
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
    kind = np.int32 if got.dtype == np.float32 else np.int64
    low = np.iinfo(kind).min

    def ordered(x):
        bits = np.ascontiguousarray(x).view(kind)
        return np.where(bits < 0, low - bits, bits).astype(np.float64)

    distance = np.abs(ordered(got) - ordered(rounded))
    with np.errstate(all="ignore"):
        near = np.abs(got - rounded) <= 64 * np.spacing(np.abs(rounded))
    if kind is np.int64:  # the difference of ordered 64-bit integers, exactly where they are near
        exact = np.where(np.ascontiguousarray(got).view(kind) < 0, low - got.view(kind), got.view(kind))
        other = np.where(np.ascontiguousarray(rounded).view(kind) < 0, low - rounded.view(kind), rounded.view(kind))
        distance = np.where(near, np.abs((exact - other).astype(np.float64)), distance)
    nans = np.isnan(got), np.isnan(rounded)
    return np.where(nans[0] & nans[1], 0, np.where(nans[0] ^ nans[1], np.inf, distance))


def measured(name, dtype, n):
    """(largest error in ulps, the arguments that gave it)."""
    x = samples(dtype, n)
    arguments = [x] if name not in TWO else [x, np.random.default_rng(1).permutation(x)]
    call = ", ".join(f"{a}[i]" for a in "xy"[: len(arguments)])
    kernel = cuda.jit(
        define(
            f"def kernel({', '.join('xy'[: len(arguments)])}, out):\n    i = cuda.grid(1)\n"
            f"    if i < out.size:\n        out[i] = math.{name}({call})\n"
        )
    )
    out = np.zeros(x.size, dtype)
    kernel[-(-x.size // 256), 256](*arguments, out)
    cuda.synchronize()
    off = ulps_off(out, reference(name, arguments))
    worst = int(np.argmax(off))
    return off[worst], [a[worst] for a in arguments], out[worst]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_error_is_within_the_documented_bound(name, dtype):
    if dtype is np.float64 and not WIDE and name not in WITHOUT_UFUNC:
        pytest.skip("no wider float here")
    n = 1_000_000 if name not in WITHOUT_UFUNC and "PYPTX_ON_PTX" not in os.environ else 100_000
    off, arguments, got = measured(name, dtype, n)
    allowed = bound(name, np.dtype(dtype).name, device_name())
    if dtype is np.float64 and name in WITHOUT_UFUNC:
        allowed += bound(name, "float64", "host")  # the reference is the C library's double; test_worst_arguments.py has a better one
    assert off <= allowed, f"math.{name}{tuple(arguments)} = {got!r}: {off} ulps, documented {allowed}"


def test_the_guide_has_the_table():
    text = (Path(__file__).parents[2] / "docs/guide/accuracy.md").read_text()
    for name, row in BOUNDS.items():
        assert f"| `{name}` | {' | '.join(map(str, row))} |" in text
