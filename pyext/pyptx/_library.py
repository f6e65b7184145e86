"""Functions of the math module that kernels get as Python functions, compiled with the kernel.

What a kernel names as math.gcd is compiled as gcd below. Integers are 64 bits wide and wrap; floats follow math's own rule.
"""
import math


def gcd(a, b):
    """Greatest common divisor of two integers, not negative."""
    x = int(abs(a))
    y = int(abs(b))
    while y != 0:
        x, y = y, x % y
    return x


def lcm(a, b):
    """Least common multiple of two integers, not negative."""
    x = int(a)
    y = int(b)
    if x == 0 or y == 0:
        return 0
    return abs(x // gcd(x, y) * y)


def isqrt(n):
    """Largest integer whose square is not above n."""
    x = int(n)
    if x < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    r = int(math.sqrt(float(x)))
    while r > 0 and r > x // r:
        r -= 1
    while r + 1 <= x // (r + 1):
        r += 1
    return r


def factorial(n):
    """Product of 1 to n; exact up to 20."""
    x = int(n)
    if x < 0:
        raise ValueError("factorial() not defined for negative values")
    r = 1
    for k in range(2, x + 1):
        r *= k
    return r


def perm(n, k):
    """Ways to choose k of n items in order."""
    x = int(n)
    y = int(k)
    if x < 0 or y < 0:
        raise ValueError("perm() arguments must be non-negative integers")
    r = 1
    for i in range(y):
        r *= x - i
    return r if y <= x else 0


def comb(n, k):
    """Ways to choose k of n items without order."""
    x = int(n)
    y = int(k)
    if x < 0 or y < 0:
        raise ValueError("comb() arguments must be non-negative integers")
    if y > x:
        return 0
    if y > x - y:
        y = x - y
    r = 1
    for i in range(y):
        r = r * (x - i) // (i + 1)
    return r


def isclose(a, b, *, rel_tol=1e-9, abs_tol=0.0):
    """Are two numbers within the given tolerances of each other."""
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    diff = math.fabs(b - a)
    return bool(diff <= math.fabs(rel_tol * b) or diff <= math.fabs(rel_tol * a) or diff <= abs_tol)


def dist(p, q):
    """Euclidean distance of two points, given as tuples of one length."""
    s = 0.0
    for a, b in zip(p, q):
        s = math.hypot(s, a - b)
    return s


def prod(iterable, *, start=1):
    """Product of a tuple's or an array's items."""
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


FUNCTIONS = {getattr(math, f.__name__): f for f in (gcd, lcm, isqrt, factorial, perm, comb, isclose, dist, prod, ulp)}
