"""Number theory and sorting: symbols of Jacobi, factors, periods of roots, rows sorted by the lanes of a warp."""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda


def jacobi_symbols(numbers, moduli, symbols):
    """Jacobi's symbol of pairs of numbers, the second odd."""
    i = cuda.grid(1)
    if i >= symbols.size:
        return
    n = int(moduli[i])
    a = int(numbers[i]) % n
    sign = 1
    while a != 0:
        while a % 2 == 0:
            a //= 2
            if n % 8 == 3 or n % 8 == 5:
                sign = -sign
        a, n = n, a
        if a % 4 == 3 and n % 4 == 3:
            sign = -sign
        a %= n
    symbols[i] = sign if n == 1 else 0


def rho_factors(numbers, limit, factors):
    """Pollard's rho: a factor of each number below 2**31, 0 where none is found in so many steps."""
    i = cuda.grid(1)
    if i >= numbers.size:
        return
    n = int(numbers[i])
    for c in range(1, 4):
        slow = 2
        fast = 2
        found = 1
        steps = 0
        while found == 1 and steps < limit:
            slow = (slow * slow + c) % n
            fast = (fast * fast + c) % n
            fast = (fast * fast + c) % n
            found = math.gcd(abs(slow - fast), n)
            steps += 1
        if 1 < found < n:
            factors[i] = min(found, n // found)
            return
    factors[i] = 0


def root_periods(first, limit, periods):
    """How long the period of the continued fraction of a square root is; 0 for squares, -1 beyond a limit."""
    i = cuda.grid(1)
    if i >= periods.size:
        return
    n = first + i
    root = math.isqrt(n)
    if root * root == n:
        periods[i] = 0
        return
    m = 0
    d = 1
    a = root
    length = 0
    while a != 2 * root:
        m = d * a - m
        d = (n - m * m) // d
        a = (root + m) // d
        length += 1
        if length > limit:
            length = -1
            break
    periods[i] = length


def lane_sorted_rows(keys, sizes, ordered, places):
    """Rows of up to 32 keys in order, with their places: a warp a row, Batcher's bitonic network by shuffles."""
    row = cuda.grid(1) // 32
    lane = cuda.grid(1) % 32
    inside = row < sizes.size and lane < sizes[min(row, sizes.size - 1)]
    key = int(keys[row, lane]) if inside else 1 << 20
    place = lane
    size = 2
    while size <= 32:
        step = size // 2
        while step > 0:
            other = cuda.shfl_xor_sync(0xFFFFFFFF, key, step)
            from_place = cuda.shfl_xor_sync(0xFFFFFFFF, place, step)
            less = other < key or other == key and from_place < place
            if less == ((lane & size == 0) == (lane & step == 0)):
                key = other
                place = from_place
            step //= 2
        size *= 2
    if inside:
        ordered[row, lane] = key
        places[row, lane] = place


def jacobi_problem(rng, n):
    numbers = rng.integers(-(1 << 40), 1 << 40, n)
    moduli = rng.integers(1, 1 << 40, n) | 1

    def symbol(a, n):
        a, sign = a % n, 1
        while a:
            zeros = (a & -a).bit_length() - 1
            a >>= zeros
            if zeros % 2 and n % 8 in (3, 5):
                sign = -sign
            if a % 4 == 3 and n % 4 == 3:
                sign = -sign
            a, n = n % a, a
        return sign if n == 1 else 0

    def expected():
        at = sampled(rng, n, 5000)
        return [(at, np.array([symbol(a, m) for a, m in zip(numbers[at].tolist(), moduli[at].tolist())]), 0)]

    args = (numbers, moduli, np.full(n, 9, np.int8))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=17.0 * n, flops=300.0 * n)


def rho_problem(rng, n):
    sieve = np.ones(46000, bool)
    sieve[:2] = False
    for k in range(2, 215):
        if sieve[k]:
            sieve[k * k :: k] = False
    primes = np.flatnonzero(sieve)
    primes = primes[(primes > 1000)]
    p, q = rng.choice(primes, n), rng.choice(primes, n)
    numbers, limit = (p * q).astype(np.int32), 2000

    def expected():
        # Where a factor is found it is the smaller prime, and it nearly always is; squares of primes may fail.
        at, values = sampled(rng, n, 2000), []
        for m, a, b in zip(numbers[at].tolist(), p[at].tolist(), q[at].tolist()):
            found = 0
            for c in (1, 2, 3):
                slow = fast = 2
                d, steps = 1, 0
                while d == 1 and steps < limit:
                    slow = (slow * slow + c) % m
                    fast = ((fast * fast + c) ** 2 + c) % m
                    d, steps = math.gcd(slow - fast, m), steps + 1
                if 1 < d < m:
                    found = min(a, b)
                    break
            values.append(found)
        return [(at, np.array(values), 0)]

    args = (numbers, limit, np.full(n, -1, np.int32))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=8.0 * n, flops=30.0 * 150 * n)


def periods_problem(rng, n):
    first, limit = 1001, 1500

    def expected():
        at, values = sampled(rng, n, 400), []
        for k in at:
            number = first + int(k)
            root = math.isqrt(number)
            m, d, a, length = 0, 1, root, 0
            while root * root != number and a != 2 * root and length <= limit:
                m = d * a - m
                d = (number - m * m) // d
                a = (root + m) // d
                length += 1
            values.append(length if length <= limit else -1)
        return [(at, np.array(values), 0)]

    args = (first, limit, np.full(n, -9, np.int32))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=4.0 * n, flops=60.0 * 100 * n)


def lanes_problem(rng, n):
    keys = rng.integers(-300, 300, (n, 32)).astype(np.int16)
    sizes = rng.integers(0, 33, n).astype(np.uint8)

    def expected():
        inside = np.arange(32) < sizes[:, None]
        places = np.argsort(np.where(inside, keys.astype(int), 1 << 20), 1, kind="stable")
        ordered = np.where(inside, np.take_along_axis(keys, places, 1), 999)
        return [(slice(None), ordered, 0), (slice(None), np.where(inside, places, 99), 0)]

    args = (keys, sizes, np.full((n, 32), 999, np.int16), np.full((n, 32), 99, np.uint8))
    return Problem(args, (n,), (2, 3), expected, threads=32 * n, bytes=160.0 * n, flops=15.0 * 10 * 32 * n)


JACOBI = each(
    """jacobi_symbols(const long long *__restrict__ numbers, const long long *__restrict__ moduli,
                    signed char *__restrict__ symbols, int n)""",
    """
    long long m = moduli[i], a = numbers[i] % m;
    if (a < 0) a += m;
    int sign = 1;
    while (a != 0) {
      while (a % 2 == 0) {
        a /= 2;
        if (m % 8 == 3 || m % 8 == 5) sign = -sign;
      }
      long long b = a;
      a = m;
      m = b;
      if (a % 4 == 3 && m % 4 == 3) sign = -sign;
      a %= m;
    }
    symbols[i] = m == 1 ? sign : 0;
""",
)

RHO = each(
    "rho_factors(const int *__restrict__ numbers, int limit, int *__restrict__ factors, int n)",
    """
    long long m = numbers[i], factor = 0;
    for (int c = 1; c < 4 && factor == 0; c++) {
      long long slow = 2, fast = 2, found = 1;
      for (INDEX step = 0; found == 1 && step < limit; step++) {
        slow = (slow * slow + c) % m;
        fast = (fast * fast + c) % m;
        fast = (fast * fast + c) % m;
        found = rho_divisor(slow < fast ? fast - slow : slow - fast, m);
      }
      if (1 < found && found < m) factor = MIN(found, m / found);
    }
    factors[i] = factor;
""",
    before="""
DEVICE long long rho_divisor(long long a, long long b) {
  while (b) {
    long long c = a % b;
    a = b;
    b = c;
  }
  return a;
}
""",
)

PERIODS = each(
    "root_periods(int first, int limit, int *__restrict__ periods, int n)",
    """
    INDEX number = first + i, root = (INDEX)sqrt((double)number), m = 0, d = 1, a = root;
    int length = 0;
    if (root * root != number)
      while (a != 2 * root) {
        m = d * a - m;
        d = (number - m * m) / d;
        a = (root + m) / d;
        if (++length > limit) {
          length = -1;
          break;
        }
      }
    periods[i] = length;
""",
)

LANES_HEAD = """lane_sorted_rows(const short *__restrict__ keys, const unsigned char *__restrict__ sizes,
                      short *__restrict__ ordered, unsigned char *__restrict__ places, int n)"""
LANES = indexed(
    f"""
__global__ void {LANES_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, row = i / 32;
  int lane = threadIdx.x % 32, place = lane;
  bool inside = row < n && lane < sizes[row];
  int key = inside ? keys[i] : 1 << 20;
  for (int size = 2; size <= 32; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {{
      int other = __shfl_xor_sync(0xffffffff, key, step), from = __shfl_xor_sync(0xffffffff, place, step);
      bool less = other < key || (other == key && from < place);
      if (less == (((lane & size) == 0) == ((lane & step) == 0))) {{
        key = other;
        place = from;
      }}
    }}
  if (inside) {{
    ordered[i] = key;
    places[i] = place;
  }}
}}
""",
    f"""
void {LANES_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++)
    for (int k = 0; k < sizes[row]; k++) {{
      short key = keys[row * 32 + k];
      int at = k;
      for (; at > 0 && ordered[row * 32 + at - 1] > key; at--) {{
        ordered[row * 32 + at] = ordered[row * 32 + at - 1];
        places[row * 32 + at] = places[row * 32 + at - 1];
      }}
      ordered[row * 32 + at] = key;
      places[row * 32 + at] = k;
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "Jacobi's symbols", jacobi_symbols, "int64[::1], int64[::1], int8[::1]", 128, jacobi_problem, gpu=500_009,
        host=10_007, test=503, kind="irregular", **JACOBI,
    ),
    Kernel(
        "factors by rho", rho_factors, "int32[::1], pyint, int32[::1]", 128, rho_problem, gpu=30_011, host=503, test=103,
        kind="irregular", **RHO,
    ),
    Kernel(
        "periods of roots", root_periods, "pyint, pyint, int32[::1]", 128, periods_problem, gpu=100_003, host=2003, test=503,
        kind="irregular", **PERIODS,
    ),
    Kernel(
        "rows sorted by lanes", lane_sorted_rows, "int16[:,::1], uint8[::1], int16[:,::1], uint8[:,::1]", 128, lanes_problem,
        gpu=500_009, host=5003, test=27, **LANES,
    ),
]  # fmt: skip
