"""Functions of math, cmath, NumPy and the builtins that kernels get as Python functions, compiled with the kernel.

What a kernel names as math.ulp is compiled as ulp below. Where math.gcd is a row of ir/intrinsics.def its rule brings the arguments to
one exact type first; gcd below computes with these. Integers are 64 bits wide and wrap; floats follow math's own rule.
"""
import cmath
import math
import types

import numpy as np


# --- integers: uint64 counts, in which nothing is negative; constants of that type, so that both
# typings keep to it

ZERO = np.uint64(0)
ONE = np.uint64(1)
LARGEST = np.uint64(9223372036854775807)  # of a Python int's values in a kernel
SQUARE_ROOT = np.uint64(2**32)  # of the first number that is no uint64
EXACT_ROOTS = np.uint64(2**52)  # a float64 root of less is rounded to no integer that is above it


def divisor(x, y):
    while y != ZERO:
        x, y = y, x % y
    return x


def gcd(*integers):
    """Greatest common divisor of uint64s."""
    x = ZERO
    for v in integers:
        x = divisor(x, v)
    return x


def lcm(*integers):
    """Least common multiple of uint64s, its lower 64 bits.

    Each number brings the factors that those before it lack. What they have of them divides the number, so that it is found without the
    multiple so far, which may have wrapped.
    """
    r = ONE
    for k in range(len(integers)):
        v = integers[k]
        if v == ZERO:
            return ZERO
        shared = ONE
        for j in range(k):
            part = divisor(integers[j], v)
            shared *= part // divisor(shared, part)
        r *= v // shared
    return r


def isqrt(n):
    """Largest integer whose square is not above n."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    x = np.uint64(n)
    r = np.uint64(math.sqrt(float(x)))
    if x < EXACT_ROOTS:
        return r
    while r > ZERO and r > x // r:
        r -= ONE
    while r + ONE <= x // (r + ONE):
        r += ONE
    return r


def factorial(n):
    """Product of 1 to n; exact up to 20."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("factorial() of more than 20 does not fit 64 bits: use math.gamma(n + 1)")
    r = 1
    for k in range(2, int(n) + 1):
        r *= k
    return r


def perm(n, k):
    """Ways to choose k of n items in order."""
    if n < 0 or k < 0:
        raise ValueError("perm() arguments must be non-negative integers")
    x = np.uint64(n)
    y = np.uint64(k)
    if y > x:
        return ZERO
    r = ONE
    while y > ZERO:
        if r > LARGEST // x:
            raise OverflowError("perm() does not fit 64 bits: use math.gamma")
        r *= x
        x -= ONE
        y -= ONE
    return r


def comb(n, k):
    """Ways to choose k of n items without order."""
    if n < 0 or k < 0:
        raise ValueError("comb() arguments must be non-negative integers")
    x = np.uint64(n)
    y = np.uint64(k)
    if y > x:
        return ZERO
    if y > x - y:
        y = x - y
    r = ONE
    i = ZERO
    while i < y:  # r is comb(n, i)
        top = x - i
        i += ONE
        common = divisor(r, i)
        r //= common
        top //= i // common
        if r > LARGEST // top:
            raise OverflowError("comb() does not fit 64 bits: use math.gamma")
        r *= top
    return r


# --- floats: the arguments have the type that they are computed in


def isclose(a, b, rel_tol, abs_tol):
    """Are two floats within the given tolerances of each other."""
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    diff = math.fabs(b - a)
    return bool(diff <= math.fabs(rel_tol * b) or diff <= math.fabs(rel_tol * a) or diff <= abs_tol)


def dist(p, q, zero):
    """Euclidean distance of two points of one length, in the type of zero."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    number = type(zero)
    s = zero
    for a, b in zip(p, q):
        s = math.hypot(s, number(a) - number(b))
    return s


def prod(iterable, start):
    """Product of an array's items."""
    for x in iterable:
        start = start * x
    return start


def ulp(x):
    """Value of the least significant bit of x."""
    y = math.fabs(x)
    if math.isnan(y) or math.isinf(y):
        return y
    above = math.nextafter(y, math.inf)
    if math.isinf(above):
        return y - math.nextafter(y, 0.0)
    return above - y


def complex_isclose(a, b, rel_tol, abs_tol):
    """Are two complex numbers within the given tolerances of each other."""
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if cmath.isinf(a) or cmath.isinf(b):
        return False
    diff = abs(a - b)
    return bool(diff <= rel_tol * abs(b) or diff <= rel_tol * abs(a) or diff <= abs_tol)


def times_mod(a, b, m):
    """a * b % m of uint64s below m, which is 2**63 at most."""
    if m <= SQUARE_ROOT:
        return a * b % m
    r = ZERO
    while b != ZERO:
        if b & ONE != ZERO:
            r = r - (m - a) if r >= m - a else r + a
        a = a - (m - a) if a >= m - a else a + a
        b >>= ONE
    return r


def pow_mod(base, exp, mod):
    """base ** exp % mod of Python ints, with mod's sign."""
    e = exp
    if e < 0:
        raise ValueError("pow() with a negative exponent and a modulus is not available in a kernel")
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    m = np.uint64(mod if mod > 0 else -mod)  # -(-2**63) is -2**63, whose bits are 2**63's
    rest = base % mod
    x = np.uint64(rest if rest >= 0 else rest - mod)
    r = ONE % m
    while e > 0:
        if e & 1:
            r = times_mod(r, x, m)
        x = times_mod(x, x, m)
        e >>= 1
    return np.int64(r) + mod if mod < 0 and r != ZERO else np.int64(r)


def numpy_gcd(x1, x2):
    """np.gcd: greatest common divisor of two integers of any sign, of their common type."""
    a = np.maximum(x1, x2)
    b = np.minimum(x1, x2)
    _ = a | b  # integers only
    while b != 0:
        a, b = b, np.remainder(a, b)  # % of Numba's typing has 64 bits
    return np.absolute(a)


def numpy_lcm(x1, x2):
    """np.lcm: least common multiple of two integers of any sign, of their common type."""
    a = np.absolute(np.maximum(x1, x2))
    b = np.absolute(np.minimum(x1, x2))
    g = numpy_gcd(a, b)
    return np.multiply(np.floor_divide(a, g), b)  # 0 // 0 is 0


def format_int(out, magnitude, negative, base, letters, sign, prefix, group, every, fill, align, width):
    """Writes an integer as format() has it into out, an array of bytes, and a 0 behind it.

    letters: code of 'a' or 'A' less 10; sign, prefix, group: codes of '+' or ' ', of 'b' 'o' 'x' 'X', of ',' or '_', or 0; every: digits
    in a group; fill, align: codes of the fill and of '<', '>', '^' or '='. Digits are written from the end, then moved to the front.
    """
    end = out.size
    at = end
    digits = 0
    while True:
        d = int(magnitude % base)
        if group != 0 and digits != 0 and digits % every == 0:
            at -= 1
            out[at] = group
        at -= 1
        out[at] = d + (48 if d < 10 else letters)
        digits += 1
        magnitude //= base
        if magnitude == 0:
            break
    front = (1 if negative or sign != 0 else 0) + (2 if prefix != 0 else 0)
    if align == 61:  # =
        while end - at + front < width:
            if fill == 48 and group != 0 and digits % every == 0:
                at -= 1
                out[at] = group
            at -= 1
            out[at] = fill
            digits += 1
    if prefix != 0:
        out[at - 1] = prefix
        out[at - 2] = 48
        at -= 2
    if negative:
        at -= 1
        out[at] = 45  # -
    elif sign != 0:
        at -= 1
        out[at] = sign
    pad = max(width - (end - at), 0)
    left = pad if align == 62 else pad // 2 if align == 94 else 0  # > ^
    for k in range(left):
        out[k] = fill
    for k in range(end - at):
        out[left + k] = out[at + k]
    last = left + end - at
    for k in range(last, last + pad - left):
        out[k] = fill
    out[last + pad - left] = 0


def along(x, i, out):
    """Part i of x along the first axis of out, to which it is broadcast."""
    if np.ndim(x) < out.ndim:
        return x
    return x[i if x.shape[0] != 1 else 0]


def check_extents(x, out):
    if np.ndim(x) == out.ndim and x.shape[0] != out.shape[0] and x.shape[0] != 1:
        raise ValueError("an operand could not be broadcast to the output's shape")


def ufunc1(f, x, out):
    """out[...] = f(x), element by element."""
    check_extents(x, out)
    for i in range(out.shape[0]):
        if out.ndim == 1:
            out[i] = f(along(x, i, out))
        else:
            ufunc1(f, along(x, i, out), out[i])


def ufunc2(f, x, y, out):
    """out[...] = f(x, y), element by element."""
    check_extents(x, out)
    check_extents(y, out)
    for i in range(out.shape[0]):
        if out.ndim == 1:
            out[i] = f(along(x, i, out), along(y, i, out))
        else:
            ufunc2(f, along(x, i, out), along(y, i, out), out[i])


def round_to(x, digits):
    """round(x, digits) of a float as NumPy computes it: scaled by a power of ten, rounded half to even, scaled back. Where the
    scaled number is too large (more digits than x has) it is x."""
    n = int(digits)
    scale = 1.0
    for _ in range(min(abs(n), 308)):
        scale *= 10.0
    if not math.isfinite(x):
        return x
    if n < 0:
        y = round(x / scale, 0)
        return y if y == 0 else y * scale
    y = x * scale
    if not math.isfinite(y):
        return x
    return round(y, 0) / scale


FUNCTIONS = {f: (None, ufunc1, ufunc2)[f.nin] for f in vars(np).values() if isinstance(f, np.ufunc) and f.nin <= 2 and f.nout == 1}
FUNCTIONS |= {getattr(math, f.__name__): f for f in (gcd, lcm, isqrt, factorial, perm, comb, isclose, dist, prod, ulp)}
# max(x) of an array or a range is max(v for v in x)
ITEMS = types.FunctionType((x for x in ()).gi_code, {})
FUNCTIONS |= dict.fromkeys((min, max, sum, any, all), ITEMS)
FUNCTIONS |= {pow: pow_mod, print: format_int, round: round_to, np.gcd: numpy_gcd, np.lcm: numpy_lcm, cmath.isclose: complex_isclose}
