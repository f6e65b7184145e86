"""Functions of floats as exact as anyone asks: by integers of hundreds of bits, without a library that could be wrong as well.

Each takes a finite float and gives a Fraction whose relative error is below 2**-120 wherever the result of the true function is not 0.
"""

from fractions import Fraction
from functools import cache
from math import floor, frexp, isqrt

GUARD = 180  # bits of a result that are computed


def _arctan_of_inverse(n, bits):
    """arctan(1 / n) * 2**bits"""
    power = total = (1 << bits) // n
    k = 1
    while power:
        power //= -n * n
        k += 2
        total += power // k
    return total


@cache
def pi(bits):
    """pi * 2**bits, by Machin's formula, within 1"""
    return (16 * _arctan_of_inverse(5, bits + 16) - 4 * _arctan_of_inverse(239, bits + 16)) >> 16


@cache
def ln2(bits):
    """log(2) * 2**bits = 2 artanh(1/3), within 1"""
    total, power, k = 0, (1 << bits + 16) // 3, 1
    while power:
        total += power // k
        power //= 9
        k += 2
    return 2 * total >> 16


def _series(r, bits, first):
    """The sum of r**k / k! with alternating signs over k = first, first + 2, …; r and the sum times 2**bits"""
    square = r * r >> bits
    term = total = r if first else 1 << bits
    k = first
    while term:
        term = -(term * square >> bits) // ((k + 1) * (k + 2))
        k += 2
        total += term
        if abs(term) <= 1:
            break
    return total


def _turned(quarter, r):
    """(sine, cosine) of quarter * pi/2 + r, of a Fraction r between -1 and 1"""
    bits = GUARD + max(0, r.denominator.bit_length() - r.numerator.bit_length())
    fixed = floor(r * (1 << bits))
    if not fixed:
        s, c = r, Fraction(1)
    else:
        s, c = (Fraction(_series(fixed, bits, first), 1 << bits) for first in (1, 0))
    return ((s, c), (c, -s), (-s, -c), (-c, s))[quarter & 3]


def sine_and_cosine(x):
    x = Fraction(x)
    bits = 400 + max(0, floor(abs(x)).bit_length())
    half = Fraction(pi(bits), 1 << bits + 1)
    n = round(x / half)
    return _turned(n, x - n * half)


def sine_and_cosine_of_pi_times(x):
    x = Fraction(x)
    n = round(2 * x)
    rest = x - Fraction(n, 2)
    bits = GUARD + 64
    return _turned(n, rest * Fraction(pi(bits), 1 << bits))


def sin(x):
    return sine_and_cosine(x)[0]


def cos(x):
    return sine_and_cosine(x)[1]


def tan(x):
    s, c = sine_and_cosine(x)
    return s / c


def exp(x):
    """Of a float or a Fraction"""
    x = Fraction(x)
    bits = 2 * GUARD
    k = round(x * (1 << bits) / ln2(bits))
    fixed = floor(x * (1 << bits)) - k * ln2(bits)
    term = total = 1 << bits
    n = 0
    while term:
        n += 1
        term = (term * fixed >> bits) // n
        total += term
        if abs(term) <= 1:
            break
    return Fraction(total, 1 << bits) * Fraction(2) ** k


def log(x):
    """Of a positive float or Fraction: k log(2) + 2 artanh((m - 1) / (m + 1)) of x = 2**k m"""
    m = Fraction(x)
    k = m.numerator.bit_length() - m.denominator.bit_length()
    m /= Fraction(2) ** k
    if m < Fraction(7, 10):
        m, k = 2 * m, k - 1
    elif m > Fraction(14, 10):
        m, k = m / 2, k + 1
    s = (m - 1) / (m + 1)
    bits = 2 * GUARD + max(0, s.denominator.bit_length() - s.numerator.bit_length() if s else 0)
    s = floor(s * (1 << bits))
    square, power, total, n = s * s >> bits, s, 0, 1
    while power not in (0, -1):
        total += power // n
        power = power * square >> bits
        n += 2
    return Fraction(2 * total + k * ln2(bits), 1 << bits)


def log2(x):
    return log(x) / Fraction(ln2(2 * GUARD), 1 << 2 * GUARD)


def log10(x):
    return log(x) / log(10)


def log1p(x):
    return log(1 + Fraction(x))


def exp2(x):
    return exp(Fraction(x) * Fraction(ln2(2 * GUARD + 64), 1 << 2 * GUARD + 64))


def pow(x, y):
    """Of a positive x"""
    return exp(log(x) * Fraction(y))


def erfc(x):
    """1 - 2 / sqrt(pi) * sum of (-1)**n x**(2n + 1) / (n! (2n + 1)); its terms grow to exp(x**2), the result falls to that inverted"""
    bits = 2 * GUARD + 2 * floor(1.5 * min(abs(x), 30) ** 2) + max(0, -2 * frexp(x)[1])
    square = floor(Fraction(x) ** 2 * (1 << bits))
    power = total = floor(Fraction(x) * (1 << bits))
    n = 0
    while abs(power) > 1:
        n += 1
        power = -(power * square >> bits) // n
        total += power // (2 * n + 1)
    root = isqrt(pi(bits) << bits)
    return 1 - Fraction(2 * total, root)


def erf(x):
    return 1 - erfc(x)


def hypot(x, y):
    square = Fraction(x) ** 2 + Fraction(y) ** 2
    shift = 2 * GUARD + 2 * max(0, square.denominator.bit_length() - square.numerator.bit_length())
    shift += shift & 1
    return Fraction(isqrt(floor(square * (1 << shift))), 1 << shift // 2)
