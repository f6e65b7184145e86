"""Markets: paths that a barrier ends, bars of ticks, quotes before trades, an integral by Sobol's points."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda, float32, float64, uint32, uint64


def pcg_next(state):
    """PCG32: the next state and what it puts out."""
    mixed = uint32((state >> 18 ^ state) >> 27)
    turn = uint32(state >> 59)
    value = (mixed >> turn) | (mixed << (uint32(32) - turn & uint32(31)))
    return state * uint64(6364136223846793005) + uint64(1442695040888963407), value


def barrier_paths(seeds, paths, steps, spot, strike, barrier, drift, volatility, dt, payoffs):
    """A call that ends where its price falls below a barrier, also between steps (a Brownian bridge): a
    thread some paths.
    """
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    state = seeds[i]
    spread = volatility * math.sqrt(dt)
    level = math.log(barrier / spot)
    total = 0.0
    for _ in range(paths):
        x = 0.0
        alive = 1.0
        step = 0
        while step < steps and alive > 0:
            state, a = pcg_next(state)
            state, b = pcg_next(state)
            radius = math.sqrt(-2 * math.log((a + 0.5) / 4294967296.0))
            z = radius * math.cos(6.283185307179586 * (b / 4294967296.0))
            after = x + drift * dt + spread * z
            if after <= level:
                alive = 0.0
            else:
                alive *= 1 - math.exp(-2 * (x - level) * (after - level) / (spread * spread))
            x = after
            step += 1
        total += alive * max(spot * math.exp(x) - strike, 0.0)
    payoffs[i] = total / paths


def price_bars(prices, volumes, starts, bars):
    """Open, high, low, close and the mean by volume of each bar's ticks: a warp a bar, four bars a block."""
    bar = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    if bar >= bars.shape[0]:
        return
    begin = int(starts[bar])
    end = int(starts[bar + 1])
    high = -math.inf
    low = math.inf
    turnover = 0.0
    volume = 0
    for k in range(begin + lane, end, 32):
        price = prices[k]
        high = max(high, price)
        low = min(low, price)
        turnover += price * volumes[k]
        volume += volumes[k]
    step = 16
    while step > 0:
        high = max(high, cuda.shfl_xor_sync(0xFFFFFFFF, high, step))
        low = min(low, cuda.shfl_xor_sync(0xFFFFFFFF, low, step))
        turnover += cuda.shfl_xor_sync(0xFFFFFFFF, turnover, step)
        volume += cuda.shfl_xor_sync(0xFFFFFFFF, volume, step)
        step //= 2
    if lane == 0:
        bars[bar, 0] = prices[begin]
        bars[bar, 1] = high
        bars[bar, 2] = low
        bars[bar, 3] = prices[end - 1]
        bars[bar, 4] = turnover / volume


def quotes_before(times, symbols, starts, quote_times, quotes, patience, found, prices):
    """The last quote of a trade's symbol before it, unless that is too old (an asof join)."""
    i = cuda.grid(1)
    if i >= times.size:
        return
    time = times[i]
    symbol = symbols[i]
    low = starts[symbol]
    high = starts[symbol + 1]
    begin = low
    while low < high:
        middle = (low + high) // 2
        if quote_times[middle] <= time:
            low = middle + 1
        else:
            high = middle
    if low > begin and time - quote_times[low - 1] <= patience:
        found[i] = low - 1
        prices[i] = (quotes[low - 1, 0] + quotes[low - 1, 1]) / 2
    else:
        found[i] = -1
        prices[i] = 0


def sobol_means(directions, first, count, corner, sums):
    """Means of a product over Sobol's points (up to 8 axes, Gray's order), blocks' sums by halves in shared memory."""
    table = cuda.shared.array((8, 32), uint32)
    part = cuda.shared.array(256, float64)
    axes = directions.shape[0]
    t = cuda.threadIdx.x
    for k in range(t, axes * 32, cuda.blockDim.x):
        table[k // 32, k % 32] = directions[k // 32, k % 32]
    cuda.syncthreads()
    total = 0.0
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        index = first + i
        gray = index ^ index >> 1
        value = float32(1)
        for axis in range(axes):
            bits = uint32(0)
            rest = gray
            k = 0
            while rest > 0:
                if rest & 1:
                    bits ^= table[axis, k]
                rest >>= 1
                k += 1
            x = float32(bits >> 8) * float32(2.0**-24)
            value *= (abs(4 * x - 2) + corner[axis]) / (1 + corner[axis])
        total += value
    part[t] = total
    width = cuda.blockDim.x // 2
    while width > 0:
        cuda.syncthreads()
        if t < width:
            part[t] += part[t + width]
        width //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


def pcg_values(state):
    """The same for an array of states."""
    u = np.uint64
    mixed = ((state >> u(18) ^ state) >> u(27)) & u(0xFFFFFFFF)
    turn = state >> u(59)
    value = (mixed >> turn | mixed << (u(32) - turn & u(31))) & u(0xFFFFFFFF)
    return state * u(6364136223846793005) + u(1442695040888963407), value.astype(float)


def barrier_problem(rng, n):
    paths, steps = 4, 37
    seeds = rng.integers(0, 1 << 63, n, np.uint64)
    numbers = tuple(np.float64(v) for v in (100.0, 103.0, 85.0, 0.01, 0.25, 1 / 52))

    def expected():
        at = sampled(rng, n, 3000)
        spot, strike, barrier, drift, volatility, dt = numbers
        spread, level = volatility * np.sqrt(dt), np.log(barrier / spot)
        state, total = seeds[at], np.zeros(len(at))
        for _ in range(paths):
            x, alive = np.zeros(len(at)), np.ones(len(at))
            for _ in range(steps):
                go = alive > 0
                after_a, a = pcg_values(state)
                after_b, b = pcg_values(after_a)
                state = np.where(go, after_b, state)
                z = np.sqrt(-2 * np.log((a + 0.5) / 2**32)) * np.cos(2 * np.pi * (b / 2**32))
                after = x + drift * dt + spread * z
                through = 1 - np.exp(-2 * (x - level) * (after - level) / spread**2)
                alive = np.where(go, np.where(after <= level, 0, alive * through), alive)
                x = np.where(go, after, x)
            total += alive * np.maximum(spot * np.exp(x) - strike, 0)
        # A step rounds x some times; the bridge's exponent has x divided by a square of 0.03, so 2000 times that.
        return [(at, total / paths, EPS64 * 16 * steps * 2000 * (total / paths + 1))]

    args = (seeds, paths, steps, *numbers, np.full(n, -1.0))
    return Problem(args, (n,), (9,), expected, threads=n, bytes=16.0 * n, flops=150.0 * n * paths * steps)


def bars_problem(rng, n):
    sizes = rng.integers(1, 160, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    count = int(starts[-1])
    prices = 100 + np.cumsum(rng.integers(-5, 6, count)) * 0.01
    volumes = rng.integers(1, 1000, count).astype(np.int32)

    def expected():
        traded = np.add.reduceat(volumes, starts[:-1], dtype=int)
        values = np.stack([
            prices[starts[:-1]], np.maximum.reduceat(prices, starts[:-1]), np.minimum.reduceat(prices, starts[:-1]),
            prices[starts[1:] - 1], np.add.reduceat(prices * volumes, starts[:-1]) / traded,
        ], 1)  # fmt: skip
        sizes_of = np.add.reduceat(np.abs(prices) * volumes, starts[:-1]) / traded
        bound = np.zeros((n, 5))
        bound[:, 4] = 2 * sum_bound(sizes, sizes_of, EPS64) + EPS64 * sizes_of  # NumPy's sums round too
        return [(slice(None), values, bound)]

    args = (prices, volumes, starts, np.zeros((n, 5)))
    return Problem(args, (n,), (3,), expected, grid=-(-n // 4), bytes=12.0 * count + 44.0 * n)


def quotes_problem(rng, n):
    kinds, patience = 301, 3000
    sizes = rng.integers(0, 2 * max(3, n // 100), kinds)
    sizes[rng.integers(0, kinds, 5)] = 0
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    count = int(starts[-1])
    owner = np.repeat(np.arange(kinds), sizes)
    base = 1_700_000_000_000_000
    quote_times = rng.integers(0, 1000 * max(3, n // 100), count)
    quote_times = (np.sort(quote_times + (owner.astype(np.int64) << 40)) & ((1 << 40) - 1)) + base
    quotes = 100 + rng.random((count, 2))
    times = base + rng.integers(0, 1000 * max(3, n // 100), n)
    symbols = rng.integers(0, kinds, n).astype(np.int32)

    def expected():
        keys = quote_times - base + (owner.astype(np.int64) << 40)
        last = np.searchsorted(keys, times - base + (symbols.astype(np.int64) << 40), "right") - 1
        fits = last >= starts[symbols]
        fits &= times - quote_times[np.maximum(last, 0)] <= patience
        middle = (quotes[last, 0] + quotes[last, 1]) / 2
        return [(slice(None), np.where(fits, last, -1), 0), (slice(None), np.where(fits, middle, 0), 0)]

    args = (times, symbols, starts, quote_times, quotes, patience, np.zeros(n, np.int32), np.zeros(n))
    return Problem(args, (n,), (6, 7), expected, threads=n, bytes=24.0 * n + 24.0 * count)


def sobol_problem(rng, n):
    """Direction numbers of Joe and Kuo's first six axes."""
    rows = [(1, 0, [1]), (2, 1, [1, 3]), (3, 1, [1, 3, 1]), (3, 2, [1, 1, 1]), (4, 1, [1, 1, 3, 3])]
    directions = np.zeros((1 + len(rows), 32), np.uint32)
    directions[0] = 1 << np.arange(31, -1, -1)
    for axis, (degree, a, m) in enumerate(rows, 1):
        v = [m[k] << (31 - k) for k in range(degree)]
        for k in range(degree, 32):
            value = v[k - degree] ^ (v[k - degree] >> degree)
            for j in range(1, degree):
                value ^= (a >> (degree - 1 - j) & 1) * v[k - j]
            v.append(value)
        directions[axis] = v
    first, corner = 1001, np.array([0, 0.5, 1, 2, 4.5, 9], np.float32)
    grid = max(1, min(1056, n // 256))

    def expected():
        total, large = 0.0, 0.0
        for begin in range(0, n, 1 << 20):
            index = np.arange(first + begin, first + min(n, begin + (1 << 20)))
            gray, value = index ^ index >> 1, np.ones(len(index))
            for axis in range(len(directions)):
                bits = np.zeros(len(index), np.uint32)
                for k in range(int(gray.max()).bit_length()):
                    bits ^= np.where(gray >> k & 1, directions[axis, k], np.uint32(0))
                x = (bits >> 8) * 2.0**-24
                value *= (np.abs(4 * x - 2) + corner[axis]) / (1 + corner[axis])
            total, large = total + value.sum(), large + np.abs(value).sum()
        # A product of six quotients has 24 roundings of float32; the sums are of float64.
        return [(slice(None), np.array([total / n]), (12 * EPS32 + EPS64 * n / 4) * large / n)]

    args = (directions, first, n, corner, np.zeros(grid))
    return Problem(
        args, (len(directions), grid), (4,), expected, grid=grid, flops=6.0 * 60 * n,
        outcome=lambda sums: [np.array([sums.sum() / n])],
    )  # fmt: skip


BARRIER = each(
    """barrier_paths(const unsigned long long *__restrict__ seeds, int paths, int steps, double spot, double strike,
                  double barrier, double drift, double volatility, double dt, double *__restrict__ payoffs, int n)""",
    """
    unsigned long long state = seeds[i];
    double spread = volatility * sqrt(dt), level = log(barrier / spot), total = 0;
    for (INDEX path = 0; path < paths; path++) {
      double x = 0, alive = 1;
      for (INDEX step = 0; step < steps && alive > 0; step++) {
        unsigned a = pcg_value(&state), b = pcg_value(&state);
        double radius = sqrt(-2 * log((a + 0.5) / 4294967296.0));
        double z = radius * cos(6.283185307179586 * (b / 4294967296.0));
        double after = x + drift * dt + spread * z;
        if (after <= level)
          alive = 0;
        else
          alive *= 1 - exp(-2 * (x - level) * (after - level) / (spread * spread));
        x = after;
      }
      total += alive * fmax(spot * exp(x) - strike, 0.0);
    }
    payoffs[i] = total / paths;
""",
    before="""
DEVICE unsigned pcg_value(unsigned long long *state) {
  unsigned mixed = (unsigned)((*state >> 18 ^ *state) >> 27), turn = (unsigned)(*state >> 59);
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return mixed >> turn | mixed << ((32 - turn) & 31);
}
""",
)

BARS_HEAD = """price_bars(const double *__restrict__ prices, const int *__restrict__ volumes,
                    const int *__restrict__ starts,
                double *__restrict__ bars, int n)"""
BARS = indexed(
    f"""
__global__ void {BARS_HEAD} {{
  INDEX bar = blockIdx.x * (INDEX)blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (bar >= n) return;
  INDEX begin = starts[bar], end = starts[bar + 1];
  int volume = 0;
  double high = -INFINITY, low = INFINITY, turnover = 0;
  for (INDEX k = begin + lane; k < end; k += 32) {{
    double price = prices[k];
    high = fmax(high, price);
    low = fmin(low, price);
    turnover += price * volumes[k];
    volume += volumes[k];
  }}
  for (int step = 16; step > 0; step /= 2) {{
    high = fmax(high, __shfl_xor_sync(0xffffffff, high, step));
    low = fmin(low, __shfl_xor_sync(0xffffffff, low, step));
    turnover += __shfl_xor_sync(0xffffffff, turnover, step);
    volume += __shfl_xor_sync(0xffffffff, volume, step);
  }}
  if (lane == 0) {{
    bars[5 * bar] = prices[begin];
    bars[5 * bar + 1] = high;
    bars[5 * bar + 2] = low;
    bars[5 * bar + 3] = prices[end - 1];
    bars[5 * bar + 4] = turnover / volume;
  }}
}}
""",
    f"""
void {BARS_HEAD} {{
#pragma omp parallel for schedule(static, 256)
  for (INDEX bar = 0; bar < n; bar++) {{
    INDEX begin = starts[bar], end = starts[bar + 1];
    double high = prices[begin], low = high, turnover = 0;
    int volume = 0;
    for (INDEX k = begin; k < end; k++) {{
      high = fmax(high, prices[k]);
      low = fmin(low, prices[k]);
      turnover += prices[k] * volumes[k];
      volume += volumes[k];
    }}
    bars[5 * bar] = prices[begin];
    bars[5 * bar + 1] = high;
    bars[5 * bar + 2] = low;
    bars[5 * bar + 3] = prices[end - 1];
    bars[5 * bar + 4] = turnover / volume;
  }}
}}
""",
)

QUOTES = each(
    """quotes_before(const long long *__restrict__ times, const int *__restrict__ symbols,
      const int *__restrict__ starts,
                   const long long *__restrict__ quote_times, const double *__restrict__ quotes, int patience,
                   int *__restrict__ found, double *__restrict__ prices, int n)""",
    """
    long long time = times[i];
    int symbol = symbols[i];
    INDEX low = starts[symbol], high = starts[symbol + 1], begin = low;
    while (low < high) {
      INDEX middle = (low + high) / 2;
      if (quote_times[middle] <= time)
        low = middle + 1;
      else
        high = middle;
    }
    if (low > begin && time - quote_times[low - 1] <= patience) {
      found[i] = low - 1;
      prices[i] = (quotes[2 * (low - 1)] + quotes[2 * (low - 1) + 1]) / 2;
    } else {
      found[i] = -1;
      prices[i] = 0;
    }
""",
)

SOBOL_HEAD = """sobol_means(const unsigned *__restrict__ directions, int first, int count,
                    const float *__restrict__ corner,
                 double *__restrict__ sums, int axes, int parts)"""
SOBOL_VALUE = """
    INDEX index = first + i, gray = index ^ index >> 1;
    float value = 1;
    for (INDEX axis = 0; axis < axes; axis++) {
      unsigned bits = 0;
      INDEX k = 0;
      for (INDEX rest = gray; rest > 0; rest >>= 1, k++)
        if (rest & 1) bits ^= TABLE;
      float x = (bits >> 8) * (1.0f / 16777216);
      value *= (fabsf(4 * x - 2) + corner[axis]) / (1 + corner[axis]);
    }
    total += value;
"""
SOBOL = indexed(
    f"""
__global__ void {SOBOL_HEAD} {{
  __shared__ unsigned table[8][32];
  __shared__ double part[256];
  INDEX t = threadIdx.x, stride = gridDim.x * (INDEX)blockDim.x;
  for (INDEX k = t; k < axes * 32; k += blockDim.x)
    table[k / 32][k % 32] = directions[k];
  __syncthreads();
  double total = 0;
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + t; i < count; i += stride) {{
{SOBOL_VALUE.replace("TABLE", "table[axis][k]")}
  }}
  part[t] = total;
  for (int width = blockDim.x / 2; width > 0; width /= 2) {{
    __syncthreads();
    if (t < width) part[t] += part[t + width];
  }}
  if (t == 0) sums[blockIdx.x] = part[0];
}}
""",
    f"""
void {SOBOL_HEAD} {{
  double total = 0;
#pragma omp parallel for reduction(+ : total)
  for (INDEX i = 0; i < count; i++) {{
{SOBOL_VALUE.replace("TABLE", "directions[axis * 32 + k]")}
  }}
  sums[0] = total;
  for (INDEX k = 1; k < parts; k++)
    sums[k] = 0;
}}
""",
)

KERNELS = [
    Kernel(
        "paths that a barrier ends", barrier_paths,
        "uint64[::1], pyint, pyint, float64, float64, float64, float64, float64, float64, float64[::1]", 128,
        barrier_problem,
        gpu=100_003, host=3001, test=67, **BARRIER,
    ),
    Kernel(
        "bars of ticks", price_bars, "float64[::1], int32[::1], int32[::1], float64[:,::1]", (32, 4), bars_problem,
        gpu=300_007, host=30_011, test=23, kind="streaming", **BARS,
    ),
    Kernel(
        "quotes before trades", quotes_before,
        "int64[::1], int32[::1], int32[::1], int64[::1], float64[:,::1], pyint, int32[::1], float64[::1]", 256,
        quotes_problem,
        gpu=2_000_003, host=100_003, test=1003, kind="irregular", **QUOTES,
    ),
    Kernel(
        "integral by Sobol's points", sobol_means, "uint32[:,::1], pyint, pyint, float32[::1], float64[::1]", 256,
        sobol_problem,
        gpu=6_000_011, host=200_003, test=3001, kind="shared", **SOBOL,
    ),
]  # fmt: skip
