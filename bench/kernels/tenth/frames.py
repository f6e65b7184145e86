"""Columns of a data frame: working days, card numbers, addresses, quotients that may be missing, sums over time."""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, int32


def weekdays_before(day):
    """Mondays to Fridays from 1970-01-05, a Monday, to before a day."""
    weeks, rest = divmod(day - 4, 7)
    return 5 * weeks + min(rest, 5)


def working_days(first, last, holidays, out):
    """Days from one date to before another that are neither at the end of a week nor holidays; dates are days since
    1970.
    """
    i = cuda.grid(1)
    if i >= out.size:
        return
    a = int(first[i])
    b = int(last[i])
    sign = 1
    if a > b:
        a, b = b, a
        sign = -1
    free = 0
    for day in (a, b):
        low = 0
        high = holidays.size
        while low < high:
            middle = (low + high) // 2
            if holidays[middle] < day:
                low = middle + 1
            else:
                high = middle
        free = low - free
    out[i] = sign * (weekdays_before(b) - weekdays_before(a) - free)


def valid_cards(text, starts, valid):
    """Luhn's check of numbers in a column of strings, with blanks and dashes in between."""
    i = cuda.grid(1)
    if i >= valid.size:
        return
    total = 0
    digits = 0
    for k in range(starts[i + 1] - 1, starts[i] - 1, -1):
        c = text[k]
        if c == ord(" ") or c == ord("-"):
            continue
        if c < ord("0") or c > ord("9"):
            valid[i] = False
            return
        d = int(c) - ord("0")
        if digits % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
        digits += 1
    valid[i] = 12 <= digits <= 19 and total % 10 == 0


def parsed_addresses(text, starts, addresses):
    """IPv4 addresses of a column of strings as numbers, -1 where a string is none."""
    i = cuda.grid(1)
    if i >= addresses.size:
        return
    address = 0
    part = 0
    digits = 0
    dots = 0
    for k in range(starts[i], starts[i + 1]):
        c = int(text[k])
        if ord("0") <= c <= ord("9") and digits < 3:
            part = 10 * part + c - ord("0")
            digits += 1
        elif c == ord(".") and digits > 0 and part < 256 and dots < 3:
            address = address << 8 | part
            part = 0
            digits = 0
            dots += 1
        else:
            dots = 9
            break
    addresses[i] = address << 8 | part if dots == 3 and digits > 0 and part < 256 else -1


def masked_quotients(top, top_valid, bottom, bottom_valid, out, out_valid):
    """Quotients of two columns with bits that say what is there, as Arrow has them; by zero nothing is there."""
    i = cuda.grid(1)
    there = False
    if i < out.size:
        word = i // 32
        bit = i % 32
        there = bool(top_valid[word] & bottom_valid[word] & np.uint32(1) << bit) and bottom[i] != 0
        out[i] = top[i] / bottom[i] if there else 0.0
    bits = cuda.ballot_sync(0xFFFFFFFF, there)
    if i % 32 == 0 and i < out.size:
        out_valid[i // 32] = bits


def rolling_sums(times, values, span, sums, counts):
    """Sums over the rows of the last seconds before each row, found by bisection; rows are in the order of time."""
    i = cuda.grid(1)
    if i >= times.size:
        return
    earliest = times[i] - span
    low = 0
    high = i
    while low < high:
        middle = (low + high) // 2
        if times[middle] > earliest:
            high = middle
        else:
            low = middle + 1
    total = np.float64(0)
    for k in range(low, i + 1):
        total += values[k]
    sums[i] = total
    counts[i] = i + 1 - low


def cross_counts(rows, cols, weights, table):
    """A cross-tabulation: the weights of each pair of categories, first in shared memory; -1 is no category."""
    part = cuda.shared.array(4096, int32)
    height, width = table.shape
    t = cuda.threadIdx.x
    for k in range(t, height * width, cuda.blockDim.x):
        part[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), rows.size, cuda.gridsize(1)):
        if rows[i] >= 0 and cols[i] >= 0:
            cuda.atomic.add(part, int(rows[i]) * width + int(cols[i]), int32(weights[i]))
    cuda.syncthreads()
    for k in range(t, height * width, cuda.blockDim.x):
        if part[k] != 0:
            cuda.atomic.add(table, (k // width, k % width), part[k])


def fading_means(times, values, starts, half, out):
    """Exponentially weighted means of groups of rows, which fade by half in a given time; a missing value is nan."""
    group = cuda.grid(1)
    if group >= starts.size - 1:
        return
    top = 0.0
    bottom = 0.0
    before = times[starts[group]] if starts[group] < starts[group + 1] else 0
    for k in range(starts[group], starts[group + 1]):
        keep = 0.5 ** ((times[k] - before) / half)
        before = times[k]
        top *= keep
        bottom *= keep
        if not np.isnan(values[k]):
            top += values[k]
            bottom += 1
        out[k] = top / bottom if bottom > 0 else np.nan


def days_problem(rng, n):
    first = rng.integers(-3000, 25000, n).astype(np.int32)
    last = (first + rng.integers(-400, 900, n)).astype(np.int32)
    days = np.unique(rng.integers(-4000, 26000, 900))
    holidays = days[(days - 4) % 7 < 5].astype(np.int32)

    def expected():
        day = "datetime64[D]"
        begin, end = np.minimum(first, last).astype(day), np.maximum(first, last).astype(day)
        forward = np.busday_count(begin, end, holidays=holidays.astype(day))
        return [(slice(None), np.where(first > last, -forward, forward), 0)]

    args = (first, last, holidays, np.full(n, 1 << 30, np.int32))
    return Problem(args, (len(holidays), n), (3,), expected, threads=n, bytes=12.0 * n, flops=120.0 * n)


def string_column(texts):
    """(bytes, starts) of a list of different strings and which of them each row has."""
    kinds, which = texts
    sizes = np.array([len(k) for k in kinds])
    most = int(sizes.max())
    table = np.zeros((len(kinds), most), np.uint8)
    for k, text in enumerate(kinds):
        table[k, : len(text)] = np.frombuffer(text, np.uint8)
    starts = np.cumsum([0, *sizes[which]]).astype(np.int32)
    rows = table[which]
    return rows[np.arange(most) < sizes[which][:, None]].copy(), starts


def cards_problem(rng, n):
    kinds = []
    for k in range(min(n, 1000)):
        digits = rng.integers(0, 10, rng.integers(11, 21)).tolist()
        luhn = sum(d if j % 2 == 0 else (2 * d - 9 if d > 4 else 2 * d) for j, d in enumerate(digits[::-1][1:], 1))
        if k % 2:
            digits[-1] = -luhn % 10
        text = "".join(map(str, digits))
        text = {0: text, 1: "-".join(text[j : j + 4] for j in range(0, len(text), 4)), 2: text[:4] + " " + text[4:]}[k % 3]
        kinds.append((text if k % 17 else text[:5] + "x" + text[5:]).encode())
    which = rng.integers(0, len(kinds), n)
    text, starts = string_column((kinds, which))

    def check_one(card):
        digits = [int(c) for c in card.decode() if c not in " -" and c.isdigit()][::-1]
        if any(c not in b"0123456789 -" for c in card):
            return False
        doubled = [d if j % 2 == 0 else sum(divmod(2 * d, 10)) for j, d in enumerate(digits)]
        return 12 <= len(digits) <= 19 and sum(doubled) % 10 == 0

    def expected():
        return [(slice(None), np.array([check_one(c) for c in kinds])[which], 0)]

    args = (text, starts, np.full(n, True))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=5.0 * n + text.size, flops=5.0 * text.size)


def addresses_problem(rng, n):
    import ipaddress

    kinds = []
    for k in range(min(n, 1000)):
        text = ".".join(map(str, rng.integers(0, 256 if k % 4 else 300, 4)))
        kinds.append((text + {5: ".", 6: "x", 7: ".1"}.get(k % 40, "")).encode())
    kinds[:6] = [b"", b"1..2.3", b"1.2.3", b"1234.1.1.1", b"999.9.9.9", b"1.2.3.4"][: len(kinds)]
    which = rng.integers(0, len(kinds), n)
    text, starts = string_column((kinds, which))

    def number(s):
        try:
            return int(ipaddress.IPv4Address(s.decode()))
        except ValueError:
            return -1

    def expected():
        return [(slice(None), np.array([number(s) for s in kinds])[which], 0)]

    args = (text, starts, np.full(n, -9, np.int64))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=12.0 * n + text.size, flops=5.0 * text.size)


def quotients_problem(rng, n):
    words = -(-n // 32)
    top, bottom = rng.integers(-1000, 1000, n).astype(np.int32), rng.integers(-9, 10, n).astype(np.int32)
    top_valid, bottom_valid = rng.integers(0, 1 << 32, (2, words), np.uint32) | rng.integers(0, 1 << 32, (2, words), np.uint32)

    def expected():
        i = np.arange(n)
        bits = (top_valid & bottom_valid)[i // 32] >> (i % 32).astype(np.uint32) & 1
        there = (bits == 1) & (bottom != 0)
        values = np.where(there, top / np.where(bottom == 0, 1, bottom), 0)
        padded = np.zeros(32 * words, np.uint64)
        padded[:n] = there
        return [(slice(None), values, 0), (slice(None), (padded.reshape(-1, 32) << np.arange(32, dtype=np.uint64)).sum(1), 0)]

    args = (top, top_valid, bottom, bottom_valid, np.full(n, 99.0), np.full(words, 12345, np.uint32))
    return Problem(args, (n,), (4, 5), expected, threads=n, bytes=16.4 * n, flops=1.0 * n)


def rolling_problem(rng, n):
    times = np.cumsum(rng.integers(0, 5, n)).astype(np.int64)
    values = rng.standard_normal(n, np.float32)
    span = np.int64(77)

    def expected():
        at = sampled(rng, n, 20000)
        low = np.searchsorted(times, times[at] - span, side="right")
        sums = np.concatenate([[0], np.cumsum(values.astype(np.longdouble))])
        return [(at, (sums[at + 1] - sums[low]).astype(float), 1e-10), (at, at + 1 - low, 0)]

    args = (times, values, span, np.full(n, 99.0), np.full(n, -1, np.int32))
    return Problem(args, (n,), (3, 4), expected, threads=n, bytes=24.0 * n, flops=40.0 * n)


def cross_problem(rng, n):
    height, width = 47, 61
    rows, cols = rng.integers(-1, height, n).astype(np.int8), rng.integers(-1, width, n).astype(np.int16)
    cols[::3] = 5
    weights = rng.integers(1, 100, n).astype(np.uint8)

    def expected():
        good = (rows >= 0) & (cols >= 0)
        at = rows[good].astype(int) * width + cols[good]
        return [(slice(None), np.bincount(at, weights[good], height * width).reshape(height, width).astype(int), 0)]

    args = (rows, cols, weights, np.zeros((height, width), np.int32))
    return Problem(args, (n, height, width), (3,), expected, grid=max(1, min(264, n // 512)), bytes=4.0 * n)


def fading_problem(rng, n):
    sizes = rng.integers(0, 120, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    count = int(starts[-1])
    times = np.cumsum(rng.integers(0, 30, count)).astype(np.int64)
    values = rng.standard_normal(count)
    values[rng.random(count) < 0.1] = np.nan
    values[starts[:-1][sizes > 0]] = 1.5
    half = np.float64(40)

    def expected():
        groups = sampled(rng, n, 500)
        at = np.concatenate([np.arange(starts[g], starts[g + 1]) for g in groups]).astype(int)
        results = []
        for g in groups:
            top = bottom = 0.0
            for k in range(starts[g], starts[g + 1]):
                keep = 0.5 ** ((times[k] - times[max(k - 1, starts[g])]) / half)
                top, bottom = top * keep, bottom * keep
                if not np.isnan(values[k]):
                    top, bottom = top + values[k], bottom + 1
                results.append(top / bottom)
        return [(at, np.array(results), 120 * 16 * EPS64 * 5)]

    args = (times, values, starts, half, np.full(count, 99.0))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=24.0 * count, flops=60.0 * count)


DAYS = each(
    """working_days(const int *__restrict__ first, const int *__restrict__ last, const int *__restrict__ holidays,
                  int *__restrict__ out, int size, int n)""",
    """
    int a = first[i], b = last[i], sign = 1;
    if (a > b) {
      int c = a;
      a = b;
      b = c;
      sign = -1;
    }
    INDEX away = days_off_before(holidays, size, b) - days_off_before(holidays, size, a);
    out[i] = sign * (weekdays_up_to(b) - weekdays_up_to(a) - away);
""",
    before="""
DEVICE int weekdays_up_to(int day) {
  int rest = (day - 4) % 7, weeks = (day - 4) / 7;
  if (rest < 0) {
    rest += 7;
    weeks--;
  }
  return 5 * weeks + MIN(rest, 5);
}
DEVICE INDEX days_off_before(const int *__restrict__ holidays, INDEX size, int day) {
  INDEX low = 0, high = size;
  while (low < high) {
    INDEX middle = (low + high) / 2;
    if (holidays[middle] < day)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
""",
)

CARDS = each(
    "valid_cards(const unsigned char *__restrict__ text, const int *__restrict__ starts, bool *__restrict__ valid, int n)",
    """
    int total = 0, digits = 0, good = 1;
    for (INDEX k = starts[i + 1] - 1; k >= starts[i]; k--) {
      int c = text[k];
      if (c == ' ' || c == '-') continue;
      if (c < '0' || c > '9') {
        good = 0;
        break;
      }
      int d = c - '0';
      if (digits % 2 == 1) {
        d *= 2;
        if (d > 9) d -= 9;
      }
      total += d;
      digits++;
    }
    valid[i] = good && 12 <= digits && digits <= 19 && total % 10 == 0;
""",
)

ADDRESSES = each(
    """parsed_addresses(const unsigned char *__restrict__ text, const int *__restrict__ starts,
                 long long *__restrict__ addresses, int n)""",
    """
    unsigned address = 0;
    int part = 0, digits = 0, dots = 0;
    for (INDEX k = starts[i]; k < starts[i + 1]; k++) {
      int c = text[k];
      if ('0' <= c && c <= '9' && digits < 3) {
        part = 10 * part + c - '0';
        digits++;
      } else if (c == '.' && digits > 0 && part < 256 && dots < 3) {
        address = address << 8 | part;
        part = digits = 0;
        dots++;
      } else {
        dots = 9;
        break;
      }
    }
    addresses[i] = dots == 3 && digits > 0 && part < 256 ? (long long)(address << 8 | part) : -1;
""",
)

CARDS["openmp"] = CARDS["openmp"].replace("bool", "_Bool")

QUOTIENTS_HEAD = """masked_quotients(const int *__restrict__ top, const unsigned *__restrict__ top_valid,
                 const int *__restrict__ bottom,
                      const unsigned *__restrict__ bottom_valid, double *__restrict__ out,
                      unsigned *__restrict__ out_valid, int n)"""
QUOTIENTS = indexed(
    f"""
__global__ void {QUOTIENTS_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  bool there = false;
  if (i < n) {{
    there = (top_valid[i / 32] & bottom_valid[i / 32]) >> (i % 32) & 1 && bottom[i] != 0;
    out[i] = there ? (double)top[i] / bottom[i] : 0.0;
  }}
  unsigned bits = __ballot_sync(0xffffffff, there);
  if (i % 32 == 0 && i < n) out_valid[i / 32] = bits;
}}
""",
    f"""
void {QUOTIENTS_HEAD} {{
#pragma omp parallel for
  for (INDEX word = 0; word < (n + 31) / 32; word++) {{
    unsigned both = top_valid[word] & bottom_valid[word], bits = 0;
    for (INDEX i = 32 * word; i < 32 * word + 32 && i < n; i++) {{
      int there = both >> (i % 32) & 1 && bottom[i] != 0;
      out[i] = there ? (double)top[i] / bottom[i] : 0.0;
      bits |= (unsigned)there << (i % 32);
    }}
    out_valid[word] = bits;
  }}
}}
""",
)

ROLLING = each(
    """rolling_sums(const long long *__restrict__ times, const float *__restrict__ values, long long span,
                  double *__restrict__ sums, int *__restrict__ counts, int n)""",
    """
    long long earliest = times[i] - span;
    INDEX low = 0, high = i;
    while (low < high) {
      INDEX middle = (low + high) / 2;
      if (times[middle] > earliest)
        high = middle;
      else
        low = middle + 1;
    }
    double total = 0;
    for (INDEX k = low; k <= i; k++)
      total += values[k];
    sums[i] = total;
    counts[i] = i + 1 - low;
""",
)

CROSS_HEAD = """cross_counts(const signed char *__restrict__ rows, const short *__restrict__ cols,
                  const unsigned char *__restrict__ weights, int *__restrict__ table, int n, int height, int width)"""
CROSS = indexed(
    f"""
__global__ void {CROSS_HEAD} {{
  __shared__ int part[4096];
  INDEX t = threadIdx.x, size = (INDEX)height * width;
  for (INDEX k = t; k < size; k += blockDim.x)
    part[k] = 0;
  __syncthreads();
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + t; i < n; i += (INDEX)gridDim.x * blockDim.x)
    if (rows[i] >= 0 && cols[i] >= 0) atomicAdd(&part[rows[i] * width + cols[i]], (int)weights[i]);
  __syncthreads();
  for (INDEX k = t; k < size; k += blockDim.x)
    if (part[k] != 0) atomicAdd(&table[k], part[k]);
}}
""",
    f"""
void {CROSS_HEAD} {{
#pragma omp parallel for reduction(+ : table[:height * width])
  for (INDEX i = 0; i < n; i++)
    if (rows[i] >= 0 && cols[i] >= 0) table[rows[i] * width + cols[i]] += weights[i];
}}
""",
)

FADING = each(
    """fading_means(const long long *__restrict__ times, const double *__restrict__ values, const int *__restrict__ starts,
                  double half_life, double *__restrict__ out, int n)""",
    """
    double top = 0, bottom = 0;
    INDEX begin = starts[i], end = starts[i + 1];
    long long before = begin < end ? times[begin] : 0;
    for (INDEX k = begin; k < end; k++) {
      double keep = pow(0.5, (times[k] - before) / half_life);
      before = times[k];
      top *= keep;
      bottom *= keep;
      if (!isnan(values[k])) {
        top += values[k];
        bottom += 1;
      }
      out[k] = bottom > 0 ? top / bottom : NAN;
    }
""",
)

KERNELS = [
    Kernel(
        "working days", working_days, "int32[::1], int32[::1], int32[::1], int32[::1]", 256, days_problem, gpu=10_000_019,
        host=100_003, test=501, kind="irregular", **DAYS,
    ),
    Kernel(
        "numbers of cards", valid_cards, "uint8[::1], int32[::1], bool[::1]", 128, cards_problem, gpu=3_000_017,
        host=50_021, test=501, kind="irregular", **CARDS,
    ),
    Kernel(
        "addresses of the net", parsed_addresses, "uint8[::1], int32[::1], int64[::1]", 128, addresses_problem,
        gpu=3_000_017, host=50_021, test=501, kind="irregular", **ADDRESSES,
    ),
    Kernel(
        "quotients that may be missing", masked_quotients,
        "int32[::1], uint32[::1], int32[::1], uint32[::1], float64[::1], uint32[::1]", 256, quotients_problem,
        gpu=10_000_019, host=100_003, test=1001, kind="streaming", **QUOTIENTS,
    ),
    Kernel(
        "sums of the last seconds", rolling_sums, "int64[::1], float32[::1], int64, float64[::1], int32[::1]", 256,
        rolling_problem, gpu=3_000_017, host=50_021, test=1001, kind="irregular", **ROLLING,
    ),
    Kernel(
        "a table of pairs", cross_counts, "int8[::1], int16[::1], uint8[::1], int32[:,::1]", 256, cross_problem,
        gpu=30_000_001, host=300_007, test=2001, kind="shared", **CROSS,
    ),
    Kernel(
        "means that fade", fading_means, "int64[::1], float64[::1], int32[::1], float64, float64[::1]", 64, fading_problem,
        gpu=100_003, host=2003, test=101, kind="irregular", **FADING,
    ),
]  # fmt: skip
