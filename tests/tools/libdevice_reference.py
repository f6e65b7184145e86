#!/usr/bin/env python3
"""Write tests/data/libdevice.txt: values of libdevice's real functions, from mpmath (1.4.1; a tool's need, not the tests').

usage: python tests/tools/libdevice_reference.py

A line is `name argument… = value`, numbers as float.hex or integers. Arguments are float32 numbers, so that one line serves
the float64 and the float32 function; values are the true ones, computed with 420 digits and rounded once to float64.
"""
from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 420  # erfcinv(1e-300) is erfinv(1 - 1e-300)
OUT = Path(__file__).resolve().parents[1] / "data" / "libdevice.txt"


def cbrt(x):
    return mp.sign(x) * mp.cbrt(abs(x))


def norm(*v):
    return mp.sqrt(sum(x * x for x in v))


def inverse_normal(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def bessel(f):
    """Bessel functions converge slowly at 420 digits; 60 are enough."""

    def value(*args):
        with mp.workdps(60):
            return f(*args)

    return value


WIDE = [0.001, -0.75, 1.0, 2.5, -10.3, 47.0, -300.25, 1e4]
POSITIVE = [1e-30, 0.001, 0.5, 0.999, 1.0, 1.001, 2.5, 10.0, 47.5, 1e4, 1e20]
UNIT = [-1.0, -0.999, -0.7, -0.1, 1e-6, 0.25, 0.5, 0.51, 0.9, 0.9999]
SMALL = [-9.5, -3.0, -1.0, -0.2, 1e-5, 0.3, 1.0, 2.0, 4.5, 9.25]
QUARTERS = [-2.75, -1.0, -0.5, 0.01, 0.25, 0.3, 0.75, 1.5, 2.0, 100.125, 4097.3]
ORDER = [0.01, 0.5, 1.0, 2.5, 4.0, 6.5, 7.9, 9.0, 20.5, 100.0]
PLANE = [(3.0, -4.0), (0.1, 0.7), (-1e-3, 5e3), (1e18, 3e18), (-2.0, -0.25), (1.0, 1e-10)]
SPACE = [(3.0, -4.0, 12.0), (0.1, 0.7, -0.3), (1e-3, 5e3, 2.0), (1e18, 3e18, -2e18), (0.0, 0.0, 2.5)]

# name: (the function, arguments)
FUNCTIONS = {
    "acos": (mp.acos, UNIT), "acosh": (mp.acosh, [1.0, 1.001, 1.5, 3.0, 100.0, 1e10]), "asin": (mp.asin, UNIT),
    "asinh": (mp.asinh, WIDE), "atan": (mp.atan, WIDE), "atan2": (mp.atan2, PLANE), "atanh": (mp.atanh, UNIT[1:]),
    "cbrt": (cbrt, WIDE), "rcbrt": (lambda x: 1 / cbrt(x), WIDE), "cos": (mp.cos, WIDE), "cosh": (mp.cosh, SMALL),
    "cospi": (mp.cospi, QUARTERS), "exp": (mp.exp, SMALL), "exp10": (lambda x: mp.mpf(10) ** x, SMALL),
    "exp2": (lambda x: mp.mpf(2) ** x, SMALL), "expm1": (mp.expm1, SMALL), "log": (mp.log, POSITIVE),
    "log10": (mp.log10, POSITIVE), "log1p": (mp.log1p, [-0.99, -0.5, 1e-10, 0.001, 0.5, 3.0, 1e6]),
    "log2": (lambda x: mp.log(x, 2), POSITIVE), "pow": (mp.power, [(0.5, 3.25), (2.5, -7.5), (1.0001, 999.0), (9.75, 20.0), (1e-3, 0.1)]),
    "sin": (mp.sin, WIDE), "sinh": (mp.sinh, SMALL), "sinpi": (mp.sinpi, QUARTERS), "sqrt": (mp.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), POSITIVE), "tan": (mp.tan, WIDE), "tanh": (mp.tanh, SMALL),
    "hypot": (norm, PLANE), "rhypot": (lambda *v: 1 / norm(*v), PLANE), "norm3d": (norm, SPACE), "rnorm3d": (lambda *v: 1 / norm(*v), SPACE),
    "norm4d": (norm, [(*v, 1.5) for v in SPACE]), "rnorm4d": (lambda *v: 1 / norm(*v), [(*v, 1.5) for v in SPACE]),
    "erf": (mp.erf, SMALL), "erfc": (mp.erfc, SMALL), "erfinv": (mp.erfinv, UNIT[1:]),
    "erfcinv": (lambda x: mp.erfinv(1 - x), [1e-30, 1e-10, 0.01, 0.3, 0.5, 0.7, 0.999, 1.2, 1.6, 1.999]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [-5.0, -0.5, 0.01, 0.7, 2.0, 9.0, 25.0, 27.0, 60.0, 1e6]),
    "normcdf": (mp.ncdf, [-12.0, -5.5, -1.0, -0.01, 0.0, 0.3, 1.5, 5.0]),
    "normcdfinv": (inverse_normal, [1e-30, 1e-10, 0.01, 0.2, 0.45, 0.6, 0.75, 0.99, 0.99999]),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), [-20.5, 0.01, 0.5, 0.9, 1.3, 2.7, 5.0, 20.25, 1e5]),
    "tgamma": (mp.gamma, [-4.5, -0.3, 0.01, 0.5, 1.3, 2.5, 5.0, 12.75, 30.5]),
    "j0": (bessel(lambda x: mp.besselj(0, x)), ORDER), "j1": (bessel(lambda x: mp.besselj(1, x)), ORDER),
    "y0": (bessel(lambda x: mp.bessely(0, x)), ORDER), "y1": (bessel(lambda x: mp.bessely(1, x)), ORDER),
    "jn": (bessel(mp.besselj), [(n, x) for n in (0, 1, 2, 3, 5) for x in (0.5, 4.0, 9.0, 20.5)]),
    "yn": (bessel(mp.bessely), [(n, x) for n in (0, 1, 2, 3, 5) for x in (0.5, 4.0, 9.0, 20.5)]),
    "cyl_bessel_i0": (bessel(lambda x: mp.besseli(0, x)), [-3.5, 0.01, *ORDER[1:9], 29.9, 30.5, 80.0]),
    "cyl_bessel_i1": (bessel(lambda x: mp.besseli(1, x)), [-3.5, 0.01, *ORDER[1:9], 29.9, 30.5, 80.0]),
}  # fmt: skip


def main():
    lines = [f"# Written by tests/tools/{Path(__file__).name}."]
    for name, (function, rows) in FUNCTIONS.items():
        for row in rows:
            args = [x if isinstance(x, int) else float(np.float32(x)) for x in (row if isinstance(row, tuple) else (row,))]
            value = float(function(*map(mp.mpf, args)))
            text = " ".join(x.hex() if isinstance(x, float) else str(x) for x in args)
            lines.append(f"{name} {text} = {value.hex()}")
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
