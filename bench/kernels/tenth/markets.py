"""Markets: returns, netted exposures, mortgages, a tree of rates, orders that meet, the worst of scenarios."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32, float64, int32


def log_returns(prices, returns):
    """Logarithms of how prices change from one day to the next."""
    share, day = cuda.grid(2)
    if day < returns.shape[0] and share < returns.shape[1]:
        returns[day, share] = math.log(prices[day + 1, share] / prices[day, share])


def netted_exposures(rates, dates, fixed, notional, first, last, threshold, exposures):
    """What the other side owes at each date of each path: swaps netted, and what exceeds the collateral."""
    path, date = cuda.grid(2)
    if date >= dates.size or path >= rates.shape[1]:
        return
    r = rates[date, path]
    net = float32(0)
    for trade in range(fixed.size):
        if last[trade] <= date:
            continue
        begin = max(date, int(first[trade]))
        start = math.exp(-r * (dates[begin] - dates[date]))
        floating = start - math.exp(-r * (dates[last[trade]] - dates[date]))
        annuity = float32(0)
        before = dates[begin]
        for k in range(begin + 1, last[trade] + 1):
            annuity += (dates[k] - before) * math.exp(-r * (dates[k] - dates[date]))
            before = dates[k]
        net += notional[trade] * (floating - fixed[trade] * annuity)
    exposures[date, path] = max(net - threshold, 0)


def mortgage_values(balances, coupons, months, ages, speeds, rates, values, lives):
    """Mortgages that are paid back early at the speed of PSA: their value at a curve of rates, and average life."""
    i = cuda.grid(1)
    if i >= balances.size:
        return
    balance = balances[i]
    monthly = coupons[i] / 1200
    left = int(months[i])
    discount = 1.0
    value = 0.0
    life = 0.0
    for month in range(left):
        discount /= 1 + rates[month] / 1200
        payment = balance * monthly / (1 - (1 + monthly) ** (month - left))
        interest = balance * monthly
        ramp = min(int(ages[i]) + month + 1, 30) / 30
        yearly = min(0.06 * ramp * speeds[i] / 100, 1.0)
        early = (balance - payment + interest) * (1 - (1 - yearly) ** (1 / 12))
        principal = min(payment - interest + early, balance)
        value += discount * (principal + interest)
        life += (month + 1) * principal
        balance -= principal
        if balance < 0.005:
            break
    values[i] = value
    lives[i] = life / (12 * balances[i])


def callable_bonds(coupons, call_prices, drifts, volatility, reversion, step, prices):
    """Bonds that the issuer may call, down a trinomial tree of rates that return to a mean; a block a bond."""
    now = cuda.shared.array(256, float32)
    after = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    bond = cuda.blockIdx.x
    steps = drifts.size
    spread = volatility * math.sqrt(3 * step)
    top = int(0.184 / (reversion * step)) + 1
    for k in range(t, 2 * steps + 1, cuda.blockDim.x):
        after[k] = 100
    cuda.syncthreads()
    for s in range(steps - 1, -1, -1):
        reach = min(s, top)
        for k in range(t, 2 * reach + 1, cuda.blockDim.x):
            j = k - reach
            rate = drifts[s] + j * spread
            drift = j * reversion * step
            middle = j
            if j == top:
                middle = j - 1
            elif j == -top:
                middle = j + 1
            x = middle - j + drift
            up = float32(1) / 6 + (x * x - x) / 2
            down = float32(1) / 6 + (x * x + x) / 2
            place = middle + min(s + 1, top)
            value = up * after[place + 1] + (1 - up - down) * after[place] + down * after[place - 1]
            value = value * math.exp(-rate * step) + coupons[bond] * step
            if s > 0:
                value = min(value, call_prices[bond])
            now[k] = value
        cuda.syncthreads()
        for k in range(t, 2 * reach + 1, cuda.blockDim.x):
            after[k] = now[k]
        cuda.syncthreads()
    if t == 0:
        prices[bond] = after[0]


def matched_orders(sides, limits, sizes, starts, traded, turnover):
    """An order book of 64 prices for each share: an order takes what waits at better prices, and its rest waits."""
    share = cuda.grid(1)
    if share >= starts.size - 1:
        return
    bids = cuda.local.array(64, int32)
    asks = cuda.local.array(64, int32)
    for k in range(64):
        bids[k] = 0
        asks[k] = 0
    best_bid = -1
    best_ask = 64
    money = 0
    for k in range(starts[share], starts[share + 1]):
        left = int(sizes[k])
        limit = int(limits[k])
        done = 0
        if sides[k] > 0:
            while left > 0 and best_ask <= limit:
                take = min(left, int(asks[best_ask]))
                asks[best_ask] -= take
                left -= take
                done += take
                money += take * best_ask
                while best_ask < 64 and asks[best_ask] == 0:
                    best_ask += 1
            if left > 0:
                bids[limit] += left
                best_bid = max(best_bid, limit)
        else:
            while left > 0 and best_bid >= limit:
                take = min(left, int(bids[best_bid]))
                bids[best_bid] -= take
                left -= take
                done += take
                money += take * best_bid
                while best_bid >= 0 and bids[best_bid] == 0:
                    best_bid -= 1
            if left > 0:
                asks[limit] += left
                best_ask = min(best_ask, limit)
        traded[k] = done
    turnover[share] = money


def worst_losses(positions, kinds, grades, deltas, gammas, shocks, losses, worst):
    """The worst of scenarios for each account: a warp an account, whose lanes take scenarios in turn."""
    account = cuda.grid(1) // 32
    lane = cuda.grid(1) % 32
    if account >= losses.size:
        return
    loss = float32(-1e30)
    place = -1
    for s in range(lane, shocks.shape[0], 32):
        total = float32(0)
        for p in range(positions.shape[1]):
            k = kinds[account, p]
            move = shocks[s, grades[k]]
            total -= positions[account, p] * (deltas[k] * move + float32(0.5) * gammas[k] * move * move)
        if total > loss:
            loss = total
            place = s
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(0xFFFFFFFF, loss, step)
        from_place = cuda.shfl_down_sync(0xFFFFFFFF, place, step)
        if other > loss or other == loss and from_place < place:
            loss = other
            place = from_place
    if lane == 0:
        losses[account] = loss
        worst[account] = place


def returns_problem(rng, n):
    days = 253
    prices = (100 * np.exp(0.01 * np.cumsum(rng.standard_normal((days, n), np.float32), 0))).astype(np.float32)

    def expected():
        p = prices.astype(float)
        # A quotient of about 1 is rounded; that is what its logarithm is off by.
        return [(slice(None), np.log(p[1:] / p[:-1]), 4 * EPS32)]

    args = (prices, np.full((days - 1, n), 99, np.float32))
    return Problem(args, (days - 1, n), (1,), expected, threads=(n, days - 1), bytes=8.0 * days * n, flops=30.0 * days * n)


def exposure_problem(rng, n):
    dates_count, trades = 41, 19
    dates = np.cumsum(np.append(0, rng.uniform(0.2, 0.3, dates_count - 1))).astype(np.float32)
    rates = (0.03 + 0.01 * np.cumsum(0.1 * rng.standard_normal((dates_count, n)), 0)).astype(np.float32)
    first = rng.integers(0, 10, trades).astype(np.int32)
    last = (first + rng.integers(4, 30, trades)).astype(np.int32)
    fixed = rng.uniform(0.01, 0.05, trades).astype(np.float32)
    notional = (rng.uniform(1, 10, trades) * np.where(np.arange(trades) % 3 == 1, -1, 1)).astype(np.float32)
    threshold = np.float32(0.05)

    def expected():
        at = sampled(rng, n, 400)
        values, sizes = np.zeros((dates_count, len(at))), np.zeros((dates_count, len(at)))
        t = dates.astype(float)
        for d in range(dates_count):
            r = rates[d, at].astype(float)[:, None]
            net, size = 0, 0
            for k in range(trades):
                if last[k] > d:
                    begin = max(d, first[k])
                    p = np.exp(-r * (t[begin : last[k] + 1] - t[d]))
                    annuity = p[:, 1:] @ np.diff(t[begin : last[k] + 1])
                    net = net + notional[k] * (p[:, 0] - p[:, -1] - fixed[k] * annuity)
                    size = size + abs(notional[k]) * 2
            values[d], sizes[d] = np.maximum(net - float(threshold), 0), size + 1
        return [((slice(None), at), values, 12 * EPS32 * sizes)]

    args = (rates, dates, fixed, notional, first, last, threshold, np.full((dates_count, n), -1, np.float32))
    flops = 10.0 * n * sum(max(0, int(last[k]) - max(d, int(first[k]))) for k in range(trades) for d in range(dates_count))
    return Problem(
        args, (dates_count, n, trades), (7,), expected, threads=(n, dates_count), bytes=8.0 * dates_count * n, flops=flops,
    )  # fmt: skip


def mortgage_problem(rng, n):
    balances, coupons = rng.uniform(5e4, 8e5, n), rng.uniform(2, 8, n)
    months, ages = rng.integers(12, 361, n).astype(np.int32), rng.integers(0, 40, n).astype(np.int16)
    speeds, rates = rng.uniform(50, 400, n), 3 + 2 * np.sin(np.arange(360) / 90)

    def expected():
        at = sampled(rng, n, 3000)
        balance, monthly, left = balances[at].copy(), coupons[at] / 1200, months[at].astype(int)
        discount, value, life = 1.0, np.zeros(len(at)), np.zeros(len(at))
        for month in range(int(left.max())):
            discount /= 1 + rates[month] / 1200
            going = (month < left) & (balance >= 0.005)
            payment = balance * monthly / np.where(going, 1 - (1 + monthly) ** np.minimum(month - left, -1.0), 1)
            interest = balance * monthly
            yearly = np.minimum(0.06 * np.minimum(ages[at] + month + 1, 30) / 30 * speeds[at] / 100, 1)
            early = (balance - payment + interest) * (1 - (1 - yearly) ** (1 / 12))
            principal = np.where(going, np.minimum(payment - interest + early, balance), 0)
            value += np.where(going, discount * (principal + interest), 0)
            life += (month + 1) * principal
            balance = balance - principal
        # What is left below half a cent may be one payment more.
        return [(at, value, 1e-11 * value + 0.01), (at, life / (12 * balances[at]), 1e-5)]

    args = (balances, coupons, months, ages, speeds, rates, np.full(n, -1.0), np.full(n, -1.0))
    return Problem(args, (n,), (6, 7), expected, threads=n, bytes=46.0 * n, flops=150.0 * 180 * n)


def callable_problem(rng, n):
    steps = 101
    coupons = rng.uniform(1, 8, n).astype(np.float32)
    calls = rng.uniform(98, 108, n).astype(np.float32)
    drifts = (0.03 + 0.01 * np.sin(np.arange(steps) / 20)).astype(np.float32)
    volatility, reversion, step = np.float32(0.01), np.float32(0.1), np.float32(0.05)

    def expected():
        at = sampled(rng, n, 500)
        c, call, h = coupons[at].astype(float)[:, None], calls[at].astype(float)[:, None], float(step)
        top = int(0.184 / (float(reversion) * h)) + 1
        after = np.full((len(at), 2 * min(steps, top) + 1), 100.0)
        for s in range(steps - 1, -1, -1):
            reach = min(s, top)
            j = np.arange(-reach, reach + 1)
            rate = float(drifts[s]) + j * float(volatility) * np.sqrt(3 * h)
            middle = np.where(j == top, j - 1, np.where(j == -top, j + 1, j))
            x = middle - j + j * float(reversion) * h
            up, down = 1 / 6 + (x * x - x) / 2, 1 / 6 + (x * x + x) / 2
            place = middle + min(s + 1, top)
            value = up * after[:, place + 1] + (1 - up - down) * after[:, place] + down * after[:, place - 1]
            after = value * np.exp(-rate * h) + c * h
            if s > 0:
                after = np.minimum(after, call)
        return [(at, after[:, 0], 12 * EPS32 * steps * 110)]

    args = (coupons, calls, drifts, volatility, reversion, step, np.full(n, -1, np.float32))
    return Problem(args, (n, steps), (6,), expected, grid=n, bytes=12.0 * n, flops=20.0 * 2 * 37 * steps * n)


def orders_problem(rng, n):
    counts = rng.integers(5, 140, n)
    starts = np.cumsum([0, *counts]).astype(np.int32)
    total = int(starts[-1])
    sides = rng.choice(np.array([-1, 1], np.int8), total)
    limits = np.clip(np.rint(32 - 2 * sides + 6 * rng.standard_normal(total)), 0, 63).astype(np.uint8)
    sizes = rng.integers(1, 500, total).astype(np.int16)

    def expected():
        at = sampled(rng, n, 100)
        places, done, money = [], [], []
        for share in at:
            books, spent = {1: np.zeros(64, int), -1: np.zeros(64, int)}, 0
            for k in range(starts[share], starts[share + 1]):
                side, limit, left = int(sides[k]), int(limits[k]), int(sizes[k])
                other = books[-side]
                for price in range(0, limit + 1) if side > 0 else range(63, limit - 1, -1):
                    take = min(left, other[price])
                    other[price] -= take
                    left -= take
                    spent += take * price
                books[side][limit] += left
                places.append(k)
                done.append(int(sizes[k]) - left)
            money.append(spent)
        return [(np.array(places), np.array(done), 0), (at, np.array(money), 0)]

    args = (sides, limits, sizes, starts, np.full(total, -1, np.int32), np.full(n, -1, np.int64))
    return Problem(args, (n,), (4, 5), expected, threads=n, bytes=8.0 * total + 12.0 * n)


def losses_problem(rng, n):
    positions_count, instruments, grades_count, scenarios = 27, 301, 13, 211
    positions = rng.integers(-50, 51, (n, positions_count)).astype(np.float32)
    kinds = rng.integers(0, instruments, (n, positions_count)).astype(np.int16)
    grades = rng.integers(0, grades_count, instruments).astype(np.uint8)
    # Few bits each, so that sums are exact and ties are ties.
    deltas, gammas = (rng.integers(-8, 9, instruments).astype(np.float32) / 8 for _ in range(2))
    shocks = rng.integers(-12, 13, (scenarios, grades_count)).astype(np.float32) / 4

    def expected():
        at = sampled(rng, n, 1000)
        p, k = positions[at].astype(float), kinds[at].astype(int)
        move = shocks.astype(float)[:, grades[k]]
        loss = -(p * (deltas[k] * move + 0.5 * gammas[k] * move * move)).sum(2)
        return [(at, loss.max(0), 0), (at, loss.argmax(0), 0)]

    args = (positions, kinds, grades, deltas, gammas, shocks, np.full(n, -1, np.float32), np.full(n, -9, np.int32))
    return Problem(
        args, (n, positions_count, scenarios, grades_count), (6, 7), expected, threads=32 * n,
        bytes=6.0 * positions.size, flops=7.0 * positions.size * scenarios,
    )  # fmt: skip


RETURNS = plane(
    "log_returns(const float *__restrict__ prices, float *__restrict__ returns, int rows, int cols)",
    """
    returns[row * cols + col] = logf(prices[(row + 1) * cols + col] / prices[row * cols + col]);
""",
)

EXPOSURE_HEAD = """netted_exposures(const float *__restrict__ rates, const float *__restrict__ dates,
                 const float *__restrict__ fixed,
                      const float *__restrict__ notional, const int *__restrict__ first, const int *__restrict__ last,
                      float threshold, float *__restrict__ exposures, int count, int n, int trades)"""
EXPOSURE_BODY = """
      float r = rates[date * n + path], net = 0;
      for (INDEX trade = 0; trade < trades; trade++) {
        INDEX end = last[trade], begin = first[trade];
        if (end <= date) continue;
        if (begin < date) begin = date;
        float leg = expf(-r * (dates[begin] - dates[date])) - expf(-r * (dates[end] - dates[date]));
        float annuity = 0, before = dates[begin];
        for (INDEX k = begin + 1; k <= end; k++) {
          annuity += (dates[k] - before) * expf(-r * (dates[k] - dates[date]));
          before = dates[k];
        }
        net += notional[trade] * (leg - fixed[trade] * annuity);
      }
      exposures[date * n + path] = fmaxf(net - threshold, 0);
"""
EXPOSURES = indexed(
    f"""
__global__ void {EXPOSURE_HEAD} {{
  INDEX path = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, date = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (date < count && path < n) {{{EXPOSURE_BODY}  }}
}}
""",
    f"""
void {EXPOSURE_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX date = 0; date < count; date++)
    for (INDEX path = 0; path < n; path++) {{{EXPOSURE_BODY}    }}
}}
""",
)

MORTGAGES = each(
    """mortgage_values(const double *__restrict__ balances, const double *__restrict__ coupons, const int *__restrict__ months,
                     const short *__restrict__ ages, const double *__restrict__ speeds, const double *__restrict__ rates,
                     double *__restrict__ values, double *__restrict__ lives, int n)""",
    """
    double balance = balances[i], monthly = coupons[i] / 1200, discount = 1, value = 0, life = 0;
    INDEX left = months[i];
    for (INDEX month = 0; month < left; month++) {
      discount /= 1 + rates[month] / 1200;
      double payment = balance * monthly / (1 - pow(1 + monthly, (double)(month - left))), interest = balance * monthly;
      INDEX age = ages[i] + month + 1;
      double ramp = (age < 30 ? age : 30) / 30.0, yearly = fmin(0.06 * ramp * speeds[i] / 100, 1.0);
      double early = (balance - payment + interest) * (1 - pow(1 - yearly, 1.0 / 12));
      double principal = fmin(payment - interest + early, balance);
      value += discount * (principal + interest);
      life += (month + 1) * principal;
      balance -= principal;
      if (balance < 0.005) break;
    }
    values[i] = value;
    lives[i] = life / (12 * balances[i]);
""",
)

CALLABLE_HEAD = """callable_bonds(const float *__restrict__ coupons, const float *__restrict__ call_prices,
                    const float *__restrict__ drifts, float volatility, float reversion, float step,
                    float *__restrict__ prices, int n, int steps)"""
CALLABLE_START = """
  float spread = volatility * sqrtf(3 * step);
  INDEX top = (INDEX)(0.184f / (reversion * step)) + 1;
"""
CALLABLE_NODE = """
      INDEX j = k - reach, middle = j;
      float rate = drifts[s] + j * spread, drift = j * reversion * step;
      if (j == top)
        middle = j - 1;
      else if (j == -top)
        middle = j + 1;
      float x = middle - j + drift, up = 1.0f / 6 + (x * x - x) / 2, down = 1.0f / 6 + (x * x + x) / 2;
      INDEX place = middle + (s + 1 < top ? s + 1 : top);
      float value = up * after[place + 1] + (1 - up - down) * after[place] + down * after[place - 1];
      value = value * expf(-rate * step) + coupons[bond] * step;
      if (s > 0) value = fminf(value, call_prices[bond]);
      now[k] = value;
"""
CALLABLE = indexed(
    f"""
__global__ void {CALLABLE_HEAD} {{
  __shared__ float now[256], after[256];
  INDEX t = threadIdx.x, bond = blockIdx.x;
{CALLABLE_START}
  for (INDEX k = t; k < 2 * steps + 1; k += blockDim.x)
    after[k] = 100;
  __syncthreads();
  for (INDEX s = steps - 1; s >= 0; s--) {{
    INDEX reach = s < top ? s : top;
    for (INDEX k = t; k < 2 * reach + 1; k += blockDim.x) {{{CALLABLE_NODE}    }}
    __syncthreads();
    for (INDEX k = t; k < 2 * reach + 1; k += blockDim.x)
      after[k] = now[k];
    __syncthreads();
  }}
  if (t == 0) prices[bond] = after[0];
}}
""",
    f"""
void {CALLABLE_HEAD} {{
{CALLABLE_START}
#pragma omp parallel for
  for (INDEX bond = 0; bond < n; bond++) {{
    float now[256], after[256];
    for (INDEX k = 0; k < 256; k++)
      after[k] = 100;
    for (INDEX s = steps - 1; s >= 0; s--) {{
      INDEX reach = s < top ? s : top;
      for (INDEX k = 0; k < 2 * reach + 1; k++) {{{CALLABLE_NODE}      }}
      for (INDEX k = 0; k < 2 * reach + 1; k++)
        after[k] = now[k];
    }}
    prices[bond] = after[0];
  }}
}}
""",
)

ORDERS = each(
    """matched_orders(const signed char *__restrict__ sides, const unsigned char *__restrict__ limits,
                    const short *__restrict__ sizes, const int *__restrict__ starts, int *__restrict__ traded,
                    long long *__restrict__ turnover, int n)""",
    """
    int bids[64] = {0}, asks[64] = {0}, best_bid = -1, best_ask = 64;
    long long money = 0;
    for (INDEX k = starts[i]; k < starts[i + 1]; k++) {
      int left = sizes[k], limit = limits[k], done = 0;
      if (sides[k] > 0) {
        while (left > 0 && best_ask <= limit) {
          int take = MIN(left, asks[best_ask]);
          asks[best_ask] -= take;
          left -= take;
          done += take;
          money += take * best_ask;
          while (best_ask < 64 && asks[best_ask] == 0) best_ask++;
        }
        if (left > 0) {
          bids[limit] += left;
          best_bid = MAX(best_bid, limit);
        }
      } else {
        while (left > 0 && best_bid >= limit) {
          int take = MIN(left, bids[best_bid]);
          bids[best_bid] -= take;
          left -= take;
          done += take;
          money += take * best_bid;
          while (best_bid >= 0 && bids[best_bid] == 0) best_bid--;
        }
        if (left > 0) {
          asks[limit] += left;
          best_ask = MIN(best_ask, limit);
        }
      }
      traded[k] = done;
    }
    turnover[i] = money;
""",
)

LOSSES_HEAD = """worst_losses(const float *__restrict__ positions, const short *__restrict__ kinds,
                  const unsigned char *__restrict__ grades, const float *__restrict__ deltas,
                  const float *__restrict__ gammas, const float *__restrict__ shocks, float *__restrict__ losses,
                  int *__restrict__ worst, int n, int count, int scenarios, int width)"""
LOSSES_SCENARIO = """
    float total = 0;
    for (INDEX p = 0; p < count; p++) {
      int k = kinds[account * count + p];
      float move = shocks[s * width + grades[k]];
      total -= positions[account * count + p] * (deltas[k] * move + 0.5f * gammas[k] * move * move);
    }
    if (total > loss) {
      loss = total;
      place = s;
    }
"""
LOSSES = indexed(
    f"""
__global__ void {LOSSES_HEAD} {{
  INDEX account = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32, place = -1;
  if (account >= n) return;
  float loss = -1e30f;
  for (INDEX s = lane; s < scenarios; s += 32) {{{LOSSES_SCENARIO}  }}
  for (int step = 16; step > 0; step /= 2) {{
    float other = __shfl_down_sync(0xffffffff, loss, step);
    int from = __shfl_down_sync(0xffffffff, place, step);
    if (other > loss || (other == loss && from < place)) {{
      loss = other;
      place = from;
    }}
  }}
  if (lane == 0) {{
    losses[account] = loss;
    worst[account] = place;
  }}
}}
""",
    f"""
void {LOSSES_HEAD} {{
#pragma omp parallel for
  for (INDEX account = 0; account < n; account++) {{
    float loss = -1e30f;
    int place = -1;
    for (INDEX s = 0; s < scenarios; s++) {{{LOSSES_SCENARIO}    }}
    losses[account] = loss;
    worst[account] = place;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "returns of shares", log_returns, "float32[:,::1], float32[:,::1]", (128, 2), returns_problem, gpu=100_003,
        host=3001, test=101, kind="streaming", **RETURNS,
    ),
    Kernel(
        "exposures of netted trades", netted_exposures,
        "float32[:,::1], float32[::1], float32[::1], float32[::1], int32[::1], int32[::1], float32, float32[:,::1]", (128, 1),
        exposure_problem, gpu=50_021, host=503, test=101, **EXPOSURES,
    ),
    Kernel(
        "mortgages paid early", mortgage_values,
        "float64[::1], float64[::1], int32[::1], int16[::1], float64[::1], float64[::1], float64[::1], float64[::1]", 64,
        mortgage_problem, gpu=30_011, host=1003, test=203, **MORTGAGES,
    ),
    Kernel(
        "bonds that may be called", callable_bonds,
        "float32[::1], float32[::1], float32[::1], float32, float32, float32, float32[::1]", 96, callable_problem, gpu=10_007,
        host=503, test=2, kind="shared", **CALLABLE,
    ),
    Kernel(
        "orders that meet", matched_orders, "int8[::1], uint8[::1], int16[::1], int32[::1], int32[::1], int64[::1]", 64,
        orders_problem, gpu=30_011, host=2003, test=103, kind="irregular", **ORDERS,
    ),
    Kernel(
        "worst of scenarios", worst_losses,
        "float32[:,::1], int16[:,::1], uint8[::1], float32[::1], float32[::1], float32[:,::1], float32[::1], int32[::1]", 128,
        losses_problem, gpu=30_011, host=503, test=23, **LOSSES,
    ),
]  # fmt: skip
