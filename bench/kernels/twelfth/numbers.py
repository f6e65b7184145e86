"""Numbers: square roots modulo primes, tails of Student's distribution, integrals whose steps adapt."""

import math

import numpy as np
from kernels.declare import EPS64, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float64, int32, uint64


def power_of(x, exponent, p):
    result = uint64(1)
    while exponent > 0:
        if exponent & 1:
            result = result * x % p
        x = x * x % p
        exponent >>= 1
    return result


def modular_roots(numbers, primes, roots):
    """The smaller square root of a number modulo an odd prime below 2**31 after Tonelli and Shanks, 0 if there is none."""
    i = cuda.grid(1)
    if i >= numbers.size:
        return
    p = uint64(primes[i])
    a = uint64(numbers[i]) % p
    if a == 0 or power_of(a, p >> 1, p) != 1:
        roots[i] = 0
        return
    odd = p - 1
    twos = 0
    while odd & 1 == 0:
        odd >>= 1
        twos += 1
    z = uint64(2)
    while power_of(z, p >> 1, p) == 1:
        z += 1
    c = power_of(z, odd, p)
    root = power_of(a, odd + 1 >> 1, p)
    t = power_of(a, odd, p)
    while t != 1:
        order = 0
        square = t
        while square != 1:
            square = square * square % p
            order += 1
        b = c
        for _ in range(twos - order - 1):
            b = b * b % p
        root = root * b % p
        c = b * b % p
        t = t * c % p
        twos = order
    roots[i] = min(root, p - root)


def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function, after Lentz."""
    tiny = 1e-300
    c = 1.0
    d = 1 / max(1 - (a + b) * x / (a + 1), tiny)
    h = d
    m = 1
    while m <= 300:
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 + even * d
        c = 1 + even / c
        if abs(d) < tiny:
            d = tiny
        if abs(c) < tiny:
            c = tiny
        d = 1 / d
        h *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 + odd * d
        c = 1 + odd / c
        if abs(d) < tiny:
            d = tiny
        if abs(c) < tiny:
            c = tiny
        d = 1 / d
        change = d * c
        h *= change
        if abs(change - 1) < 1e-15:
            break
        m += 1
    return h


def student_tails(statistics, freedoms, tails):
    """How probable a value of Student's t is that is at least as far from 0."""
    i = cuda.grid(1)
    if i >= statistics.size:
        return
    t = statistics[i]
    v = float(freedoms[i])
    x, y = v / (v + t * t), t * t / (v + t * t)
    a, b = 0.5 * v, 0.5
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y))
    if x < (a + 1) / (a + b + 2):
        tails[i] = front * beta_fraction(a, b, x) / a
    else:
        tails[i] = 1 - front * beta_fraction(b, a, y) / b


def resonance(e, lines, k):
    """Breit and Wigner's cross section of three lines, each by its place, half width and height."""
    total = 0.0
    for j in range(3):
        d = (e - lines[k, j, 0]) / lines[k, j, 1]
        total += lines[k, j, 2] / (1 + d * d)
    return total


def adaptive_integrals(lines, low, high, tolerance, integrals):
    """Integrals by Simpson's rule: a part is halved until both halves agree with it; those not yet done are on a stack."""
    i = cuda.grid(1)
    if i >= integrals.size:
        return
    left = cuda.local.array(40, float64)
    width = cuda.local.array(40, float64)
    values = cuda.local.array((40, 3), float64)
    depth = cuda.local.array(40, int32)
    left[0] = low
    width[0] = high - low
    values[0, 0] = resonance(low, lines, i)
    values[0, 1] = resonance((low + high) / 2, lines, i)
    values[0, 2] = resonance(high, lines, i)
    depth[0] = 0
    size = 1
    total = 0.0
    while size > 0:
        size -= 1
        x, h, level = left[size], width[size], depth[size]
        fa, fm, fb = values[size]
        fl = resonance(x + h / 4, lines, i)
        fr = resonance(x + 3 * h / 4, lines, i)
        whole = h / 6 * (fa + 4 * fm + fb)
        halves = h / 12 * (fa + 4 * fl + 2 * fm + 4 * fr + fb)
        error = (halves - whole) / 15
        if (level >= 7 and abs(error) <= tolerance * h) or level >= 35:
            total += halves + error
            continue
        left[size], width[size], depth[size] = x + h / 2, h / 2, level + 1
        values[size, 0], values[size, 1], values[size, 2] = fm, fr, fb
        size += 1
        left[size], width[size], depth[size] = x, h / 2, level + 1
        values[size, 0], values[size, 1], values[size, 2] = fa, fl, fm
        size += 1
    integrals[i] = total


def is_prime(p):
    return p > 2 and p % 2 and all(p % q for q in range(3, math.isqrt(p) + 1, 2))


def modular_problem(rng, n):
    candidates = [1 + (k << s) for s in (1, 2, 4, 9, 14, 20) for k in rng.integers(1, (1 << 31) - 2 >> s, 150).tolist()]
    known = np.array([p for p in candidates if is_prime(p)], np.uint32)
    primes = rng.choice(known, n)
    secret = rng.integers(1, 1 << 31, n) % primes.astype(np.int64)
    numbers = secret * secret % primes
    numbers[::2] = rng.integers(1, 1 << 31, len(numbers[::2]))

    def outcome(roots):
        p, a = primes.astype(np.int64), numbers.astype(np.int64)
        squares = roots.astype(np.int64) ** 2 % p
        return np.where(roots == 0, -1, squares - a % p), np.where(roots <= p >> 1, roots, -1) > 0

    def expected():
        p, base, exponent = primes.astype(np.int64), numbers % primes, primes.astype(np.int64) >> 1
        legendre = np.ones(n, np.int64)
        while exponent.any():
            legendre = np.where(exponent & 1, legendre * base % p, legendre)
            base, exponent = base * base % p, exponent >> 1
        return [(slice(None), np.where(legendre == 1, 0, -1), 0), (slice(None), legendre == 1, 0)]

    args = (numbers.astype(np.uint32), primes, np.full(n, 0xFFFFFFFF, np.uint32))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=12.0 * n, flops=200.0 * n, outcome=outcome)


def student_problem(rng, n):
    statistics, freedoms = rng.standard_t(4, n) * 1.5, rng.integers(1, 200, n).astype(np.int32)
    statistics[statistics == 0] = 1

    def expected():
        at = sampled(rng, n, 5000)
        t, v = np.abs(statistics[at]), freedoms[at]
        theta = np.arctan(t / np.sqrt(v))
        cosine, sine = np.cos(theta), np.sin(theta)
        odd = v % 2 == 1
        term, total = np.where(odd, cosine, 1.0), np.zeros(len(at))
        for k in range(0, 200, 2):  # Abramowitz and Stegun, 26.7.3 and 4
            total += np.where(k < v - 1, term, 0)
            term = term * cosine**2 * np.where(odd, (k + 2) / (k + 3), (k + 1) / (k + 2))
        inside = np.where(odd, 2 / np.pi * (theta + sine * total), sine * total)
        return [(at, 1 - inside, 2e-12)]  # lgamma(100) is 360, whose last place is 6e-14; functions are off by some of these

    args = (statistics, freedoms, np.full(n, -1.0))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=20.0 * n, flops=300.0 * n)


def adaptive_problem(rng, n):
    lines = np.stack([rng.uniform(1, 9, (n, 3)), 10 ** rng.uniform(-1, 0, (n, 3)), rng.uniform(1, 10, (n, 3))], 2)
    low, high, tolerance = np.float64(0), np.float64(10), np.float64(1e-6)

    def expected():
        place, width, height = lines.transpose(2, 0, 1)
        parts = height * width * (np.arctan((high - place) / width) - np.arctan((low - place) / width))
        return [(slice(None), parts.sum(1), 10 * tolerance * (high - low) + 100 * EPS64 * parts.sum(1))]

    args = (lines, low, high, tolerance, np.full(n, -1.0))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=80.0 * n, flops=200 * 30.0 * n)


MODULAR = each(
    "modular_roots(const unsigned *__restrict__ numbers, const unsigned *__restrict__ primes, unsigned *__restrict__ roots, int n)",
    """
    unsigned long long p = primes[i], a = numbers[i] % p;
    if (a == 0 || modular_power_of(a, p >> 1, p) != 1)
      roots[i] = 0;
    else {
      unsigned long long odd = p - 1, z = 2;
      int twos = 0;
      while ((odd & 1) == 0) {
        odd >>= 1;
        twos++;
      }
      while (modular_power_of(z, p >> 1, p) == 1) z++;
      unsigned long long c = modular_power_of(z, odd, p), root = modular_power_of(a, (odd + 1) >> 1, p);
      unsigned long long t = modular_power_of(a, odd, p);
      while (t != 1) {
        int order = 0;
        for (unsigned long long square = t; square != 1; order++)
          square = square * square % p;
        unsigned long long b = c;
        for (int k = 0; k < twos - order - 1; k++)
          b = b * b % p;
        root = root * b % p;
        c = b * b % p;
        t = t * c % p;
        twos = order;
      }
      roots[i] = MIN(root, p - root);
    }
""",
    before="""
DEVICE unsigned long long modular_power_of(unsigned long long x, unsigned long long exponent, unsigned long long p) {
  unsigned long long result = 1;
  while (exponent > 0) {
    if (exponent & 1) result = result * x % p;
    x = x * x % p;
    exponent >>= 1;
  }
  return result;
}
""",
)

STUDENT = each(
    "student_tails(const double *__restrict__ statistics, const int *__restrict__ freedoms, double *__restrict__ tails, int n)",
    """
    double t = statistics[i], v = freedoms[i], x = v / (v + t * t), y = t * t / (v + t * t), a = 0.5 * v, b = 0.5;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    tails[i] = x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, y) / b;
""",
    before="""
DEVICE double beta_fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1, d = 1 / fmax(1 - (a + b) * x / (a + 1), tiny), h = d;
  for (int m = 1; m <= 300; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    if (fabs(d) < tiny) d = tiny;
    if (fabs(c) < tiny) c = tiny;
    d = 1 / d;
    h *= d * c;
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    if (fabs(d) < tiny) d = tiny;
    if (fabs(c) < tiny) c = tiny;
    d = 1 / d;
    double change = d * c;
    h *= change;
    if (fabs(change - 1) < 1e-15) break;
  }
  return h;
}
""",
)

ADAPTIVE = each(
    """adaptive_integrals(const double *__restrict__ lines, double low, double high, double tolerance,
                        double *__restrict__ integrals, int n)""",
    """
    double left[40], width[40], values[40][3], total = 0;
    int depth[40], size = 1;
    const double *own = lines + i * 9;
    left[0] = low;
    width[0] = high - low;
    values[0][0] = resonance_of(low, own);
    values[0][1] = resonance_of((low + high) / 2, own);
    values[0][2] = resonance_of(high, own);
    depth[0] = 0;
    while (size > 0) {
      size--;
      double x = left[size], h = width[size], fa = values[size][0], fm = values[size][1], fb = values[size][2];
      int level = depth[size];
      double fl = resonance_of(x + h / 4, own), fr = resonance_of(x + 3 * h / 4, own);
      double whole = h / 6 * (fa + 4 * fm + fb), halves = h / 12 * (fa + 4 * fl + 2 * fm + 4 * fr + fb);
      double error = (halves - whole) / 15;
      if ((level >= 7 && fabs(error) <= tolerance * h) || level >= 35) {
        total += halves + error;
        continue;
      }
      left[size] = x + h / 2;
      width[size] = h / 2;
      depth[size] = level + 1;
      values[size][0] = fm;
      values[size][1] = fr;
      values[size][2] = fb;
      size++;
      left[size] = x;
      width[size] = h / 2;
      depth[size] = level + 1;
      values[size][0] = fa;
      values[size][1] = fl;
      values[size][2] = fm;
      size++;
    }
    integrals[i] = total;
""",
    before="""
DEVICE double resonance_of(double e, const double *lines) {
  double total = 0;
  for (int j = 0; j < 3; j++) {
    double d = (e - lines[3 * j]) / lines[3 * j + 1];
    total += lines[3 * j + 2] / (1 + d * d);
  }
  return total;
}
""",
)

KERNELS = [
    Kernel(
        "square roots modulo primes", modular_roots, "uint32[::1], uint32[::1], uint32[::1]", 128, modular_problem, gpu=200_003,
        host=10_007, test=503, kind="irregular", **MODULAR,
    ),
    Kernel(
        "tails of Student's t", student_tails, "float64[::1], int32[::1], float64[::1]", 128, student_problem, gpu=500_009,
        host=10_007, test=503, kind="irregular", **STUDENT,
    ),
    Kernel(
        "integrals that adapt", adaptive_integrals, "float64[:,:,::1], float64, float64, float64, float64[::1]", 64,
        adaptive_problem, gpu=50_021, host=1003, test=103, kind="irregular", **ADAPTIVE,
    ),
]  # fmt: skip
