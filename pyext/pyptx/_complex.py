"""Functions of complex numbers, compiled with the kernels that need them.

Each takes and returns the real and imaginary parts as floats, of float32 or float64, and computes in that type. They are what `cmath.exp(z)`,
`np.exp(z)` or `z ** w` mean in a kernel. Typing calls them by name (typeinfer/rules/complex_functions.c); they are compiled without contraction of
multiplications and additions, which the error-free sums below need. Special values are those of C's Annex G, as CPython and NumPy have them.

Sources: W. Kahan, "Branch Cuts for Complex Elementary Functions, or Much Ado About Nothing's Sign Bit" (1987), for sqrt, tanh and the
inverse functions; D. E. Knuth, The Art of Computer Programming 2, 4.2.2, for the sum with its rounding error. All thresholds are powers
of two that serve both types.
"""
import math

PI = math.pi
HALF_PI = math.pi / 2
LN2 = math.log(2)
TINY = 2.0**-60  # squares of larger numbers are normal in float32
HUGE = 2.0**60  # squares of smaller numbers are finite in float32
VAST = 2.0**100
UP, DOWN = 2.0**64, 2.0**-100


# --- logarithms ---


def two_sum(a, b):
    """a + b and its rounding error, exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def sum_of_squares(a, x, y):
    """a + x*x + y*y with an error of about one ulp even where it nearly vanishes; nothing overflows."""
    p = x * x
    q = y * y
    s, e = two_sum(a, p)
    s, f = two_sum(s, q)
    g, h = two_sum(math.fma(x, x, -p), math.fma(y, y, -q))
    e, f = two_sum(e, f)
    e, g = two_sum(e, g)
    s, e = two_sum(s, e)
    return s + (e + (f + (g + h)))


def log_abs(x, y):
    """log |x + iy|"""
    a = math.fabs(x)
    b = math.fabs(y)
    if math.isinf(a) or math.isinf(b):
        return a if math.isinf(a) else b
    if a < TINY and b < TINY:
        return math.log(math.hypot(a * UP, b * UP)) - 64 * LN2
    if a > VAST or b > VAST:
        return math.log(math.hypot(a * DOWN, b * DOWN)) + 100 * LN2
    h = math.hypot(a, b)
    if h > 0.5 and h < 2.0:
        if a < b:
            a, b = b, a
        return 0.5 * math.log1p(sum_of_squares(-1.0, a, b))
    return math.log(h)


def log(x, y):
    return log_abs(x, y), math.atan2(y, x)


def log10(x, y):
    return log_abs(x, y) * 0.4342944819032518, math.atan2(y, x) * 0.4342944819032518


def log2(x, y):
    return log_abs(x, y) * 1.4426950408889634, math.atan2(y, x) * 1.4426950408889634


def log1p(x, y):
    u = x + 1.0
    h = math.hypot(u, y)
    if h > 0.5 and h < 2.0:
        return 0.5 * math.log1p(sum_of_squares(2.0 * x, x, y)), math.atan2(y, u)
    return log_abs(u, y), math.atan2(y, u)


# --- exponential functions ---


def exp(x, y):
    if y == 0.0:
        return math.exp(x), y
    if math.isinf(x) and not math.isfinite(y):
        return (0.0, math.copysign(0.0, y)) if x < 0.0 else (x, y - y)
    e = math.exp(x)
    if math.isinf(e) and math.isfinite(x):
        e = math.exp(0.5 * x)  # the product may be finite
        return e * math.cos(y) * e, e * math.sin(y) * e
    return e * math.cos(y), e * math.sin(y)


def exp2(x, y):
    angle = y * LN2
    if angle == 0.0:
        return math.exp2(x), angle
    if math.isinf(x) or math.isnan(x):
        return exp(x, angle)
    e = math.exp2(x)
    if math.isinf(e):
        e = math.exp2(0.5 * x)
        return e * math.cos(angle) * e, e * math.sin(angle) * e
    return e * math.cos(angle), e * math.sin(angle)


def expm1(x, y):
    if x > 40.0:
        return exp(x, y)
    if y == 0.0:
        return math.expm1(x), y
    s = math.sin(0.5 * y)
    return math.expm1(x) * math.cos(y) - 2.0 * s * s, math.exp(x) * math.sin(y)


def sinh(x, y):
    if y == 0.0:
        return math.sinh(x), y
    if not math.isfinite(y) and (x == 0.0 or math.isinf(x)):
        return (x if x == 0.0 else math.fabs(x)), y - y
    c = math.cosh(x)
    if math.isinf(c) and math.isfinite(x):
        e = math.exp(0.5 * math.fabs(x))
        return math.copysign(0.5 * e, x) * math.cos(y) * e, 0.5 * e * math.sin(y) * e
    return math.sinh(x) * math.cos(y), c * math.sin(y)


def cosh(x, y):
    if y == 0.0:
        return math.cosh(x), math.copysign(1.0, x) * y
    if x == 0.0:
        return (math.cos(y), x * math.sin(y)) if math.isfinite(y) else (y - y, math.fabs(x))
    if math.isinf(x) and not math.isfinite(y):
        return math.fabs(x), y - y
    c = math.cosh(x)
    if math.isinf(c) and math.isfinite(x):
        e = math.exp(0.5 * math.fabs(x))
        return 0.5 * e * math.cos(y) * e, math.copysign(0.5 * e, x) * math.sin(y) * e
    return c * math.cos(y), math.sinh(x) * math.sin(y)


def tanh(x, y):
    if math.isinf(x):
        return math.copysign(1.0, x), math.copysign(0.0, math.sin(2.0 * y) if math.isfinite(y) else y)
    if y == 0.0:
        return math.tanh(x), y
    if x == 0.0:
        return x, math.tan(y)
    if math.fabs(x) > 22.0:
        e = math.exp(-math.fabs(x))
        return math.copysign(1.0, x), 4.0 * (math.sin(y) * e) * (math.cos(y) * e)
    t = math.tan(y)
    b = 1.0 + t * t
    s = math.sinh(x)
    d = 1.0 + b * s * s
    return b * math.sqrt(1.0 + s * s) * s / d, t / d


def sin(x, y):
    a, b = sinh(-y, x)
    return b, -a


def cos(x, y):
    return cosh(-y, x)


def tan(x, y):
    a, b = tanh(-y, x)
    return b, -a


# --- roots and inverse functions ---


def sqrt(x, y):
    if x == 0.0 and y == 0.0:
        return 0.0, y
    if math.isinf(y):
        return math.fabs(y), y
    if math.isinf(x):
        return (math.fabs(y - y), math.copysign(x, y)) if x < 0.0 else (x, math.copysign(y - y, y))
    a = math.fabs(x)
    b = math.fabs(y)
    scale = 1.0
    if a < TINY and b < TINY:
        a *= UP
        b *= UP
        scale = 2.0**-32
    elif a > VAST or b > VAST:
        a *= DOWN
        b *= DOWN
        scale = 2.0**50
    t = scale * math.sqrt(0.5 * (a + math.hypot(a, b)))
    u = math.fabs(y) / (2.0 * t)
    if x < 0.0:
        return u, math.copysign(t, y)
    return t, math.copysign(u, y)


def asinh(x, y):
    if math.isinf(x) or math.isinf(y):
        re = math.inf if math.isnan(x) else math.copysign(math.inf, x)
        return re, math.copysign(math.atan2(math.fabs(y), math.fabs(x)), y)
    if math.isnan(x) and y == 0.0:
        return x, y
    if math.fabs(x) > HUGE or math.fabs(y) > HUGE:
        return math.copysign(log_abs(x, y) + LN2, x), math.copysign(math.atan2(math.fabs(y), math.fabs(x)), y)
    a, b = sqrt(1.0 + y, -x)
    c, d = sqrt(1.0 - y, x)
    return math.asinh(a * d - c * b), math.atan2(y, a * c - b * d)


def acos(x, y):
    if math.isinf(x) or math.isinf(y):
        return math.atan2(math.fabs(y), x), -math.copysign(math.inf, y)
    if math.isnan(y) and x == 0.0:
        return HALF_PI, y
    if math.fabs(x) > HUGE or math.fabs(y) > HUGE:
        return math.atan2(math.fabs(y), x), -math.copysign(log_abs(x, y) + LN2, y)
    a, b = sqrt(1.0 - x, -y)
    c, d = sqrt(1.0 + x, y)
    return 2.0 * math.atan2(a, c), math.asinh(c * b - d * a)


def atanh(x, y):
    a = math.fabs(x)
    b = math.fabs(y)
    if math.isinf(a) or math.isinf(b):
        return math.copysign(0.0, x), math.copysign(HALF_PI, y) if not math.isnan(y) else y
    if a == 0.0 and math.isnan(b):
        return x, y
    if a > HUGE or b > HUGE:
        h = math.hypot(0.5 * a, 0.5 * b)
        return math.copysign(0.25 * a / h / h, x), math.copysign(HALF_PI, y)
    if a == 1.0 and b < TINY:
        if b == 0.0:
            return math.copysign(math.inf, x), y
        return (
            math.copysign(-math.log(math.sqrt(b) / math.sqrt(math.hypot(b, 2.0))), x),
            math.copysign(0.5 * math.atan2(2.0, -b), y),
        )
    u = 1.0 - a
    re = 0.25 * math.log1p(4.0 * a / (u * u + b * b))
    return math.copysign(re, x), math.copysign(0.5 * math.atan2(2.0 * b, u * (1.0 + a) - b * b), y)


def asin(x, y):
    a, b = asinh(-y, x)
    return b, -a


def acosh(x, y):
    a, b = acos(x, y)
    return math.fabs(b), math.copysign(a, y)


def atan(x, y):
    a, b = atanh(-y, x)
    return b, -a


# --- powers, and what is left ---


def multiply(a, b, c, d):
    return a * c - b * d, a * d + b * c


def reciprocal(x, y):
    """1 / z, scaled as NumPy does it."""
    if math.fabs(y) <= math.fabs(x):
        r = y / x
        d = x + y * r
        return 1.0 / d, -r / d
    r = x / y
    d = x * r + y
    return r / d, -1.0 / d


def inverse(x, y):
    """1 / z by Smith's division, with the roundings of NumPy's."""
    if x == 0.0 and y == 0.0:
        return math.inf, math.nan
    if math.fabs(x) >= math.fabs(y):
        ratio = y / x
        scale = 1.0 / (x + y * ratio)
        return scale, (0.0 - ratio) * scale
    ratio = x / y
    scale = 1.0 / (y + x * ratio)
    return (ratio + 0.0) * scale, -scale


def whole_power(x, y, n):
    """z ** n by squaring, in NumPy's order."""
    a = 1.0
    b = 0.0
    mask = 1
    while True:
        if n & mask:
            a, b = multiply(a, b, x, y)
        mask <<= 1
        if n < mask:
            break
        x, y = multiply(x, y, x, y)
    return a, b


def power(x, y, u, v):
    """z ** w: small whole powers by multiplication, as NumPy does them; the others in polar form, as CPython does."""
    if u == 0.0 and v == 0.0:
        return 1.0, 0.0
    if x == 0.0 and y == 0.0:
        return (0.0, 0.0) if u > 0.0 else (math.nan, math.nan)
    if v == 0.0 and u > -100.0 and u < 100.0 and u == math.floor(u):
        n = int(u)
        if n == 1:
            return x, y
        if n == 2:
            return multiply(x, y, x, y)
        if n == 3:
            a, b = multiply(x, y, x, y)
            return multiply(x, y, a, b)
        a, b = whole_power(x, y, n if n > 0 else -n)
        return (a, b) if n > 0 else inverse(a, b)
    if math.isinf(u) or math.isinf(v) or (v != 0.0 and (math.isinf(x) or math.isinf(y))):  # 0 or infinite, whatever the angle
        size = log_abs(x, y)
        angle = math.atan2(y, x)
        return exp(u * size - v * angle, u * angle + v * size)
    return polar_power(x, y, u, v)


def python_power(x, y, u, v):
    """The same of two Python numbers, with CPython's roundings: 100 is a small power too, and its division differs."""
    if u == 0.0 and v == 0.0:
        return 1.0, 0.0
    if x == 0.0 and y == 0.0:
        return (0.0, 0.0) if u > 0.0 else (math.nan, math.nan)
    if v == 0.0 and u >= -100.0 and u <= 100.0 and u == math.floor(u):
        n = int(u)
        a, b = whole_power(x, y, n if n > 0 else -n)
        if n > 0:
            return a, b
        if a == 0.0 and b == 0.0:
            return math.inf, math.nan
        if math.fabs(a) >= math.fabs(b):
            ratio = b / a
            scale = a + b * ratio
            return 1.0 / scale, (0.0 - ratio) / scale
        ratio = a / b
        scale = a * ratio + b
        return (ratio + 0.0) / scale, -1.0 / scale
    return polar_power(x, y, u, v)


def polar_power(x, y, u, v):
    size = math.hypot(x, y)
    angle = math.atan2(y, x)
    if v == 0.0 and math.isinf(size):
        m = math.pow(size, u)
        return m * math.cos(angle * u), m * math.sin(angle * u)
    log_size = log_abs(x, y)
    m = math.pow(size, u) * math.exp(-angle * v)
    if not (m > 0.0 and m < math.inf):
        m = math.exp(u * log_size - v * angle)
    t = angle * u + v * log_size
    return m * math.cos(t), m * math.sin(t)


def sign(x, y):
    """z / |z|, 0 for 0; along the axis of an infinite part."""
    if math.isinf(x) and math.isinf(y):
        return math.nan, math.nan
    if math.isinf(x) and not math.isnan(y):
        return math.copysign(1.0, x), 0.0
    if math.isinf(y) and not math.isnan(x):
        return 0.0, math.copysign(1.0, y)
    h = math.hypot(x, y)
    if h == 0.0:
        return 0.0, 0.0
    return x / h, y / h


def rect(r, phi):
    if phi == 0.0:
        return r, math.copysign(1.0, r) * phi
    if not math.isfinite(phi):
        if r == 0.0:
            return 0.0, 0.0
        if math.isinf(r):
            return math.fabs(r), phi - phi
    return r * math.cos(phi), r * math.sin(phi)


FUNCTIONS = (
    log, log10, log2, log1p, exp, exp2, expm1, sinh, cosh, tanh, sin, cos, tan, sqrt, asinh, acos, atanh, asin, acosh, atan, reciprocal,
    power, python_power, sign, rect,
)
