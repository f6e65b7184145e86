"""Text and dates in bytes: decimals of a CSV file, UTF-16 to UTF-8, counts of words, days to years,
months and days.

The calendar is Hinnant's "chrono-compatible low-level date algorithms". Results are equal, so the
bounds are 0.
"""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int32


def parse_decimals(data, starts, powers, values):
    """Field i, from starts[i] to the separator before starts[i + 1]: blanks, a sign, digits, a point."""
    i = cuda.grid(1)
    if i >= values.size:
        return
    k = starts[i]
    end = starts[i + 1] - 1
    while k < end and data[k] == ord(" "):
        k += 1
    negative = False
    if k < end and (data[k] == ord("-") or data[k] == ord("+")):
        negative = data[k] == ord("-")
        k += 1
    number = 0
    digits_after = 0
    point = False
    valid = k < end
    while k < end:
        c = int(data[k])
        if ord("0") <= c <= ord("9"):
            number = number * 10 + (c - ord("0"))
            if point:
                digits_after += 1
        elif c == ord(".") and not point:
            point = True
        else:
            valid = False
            break
        k += 1
    if valid:
        value = number / powers[digits_after]
        values[i] = -value if negative else value
    else:
        values[i] = -1e300


def utf16_to_utf8(units, starts, places, out):
    """A thread writes one string; places has where. Lone surrogates become U+FFFD."""
    i = cuda.grid(1)
    if i >= places.size:
        return
    k = starts[i]
    end = starts[i + 1]
    at = places[i]
    while k < end:
        code = int(units[k])
        k += 1
        if 0xD800 <= code < 0xE000:
            if code < 0xDC00 and k < end and 0xDC00 <= units[k] < 0xE000:
                code = 0x10000 + ((code - 0xD800) << 10) + (int(units[k]) - 0xDC00)
                k += 1
            else:
                code = 0xFFFD
        if code < 0x80:
            out[at] = code
            at += 1
        elif code < 0x800:
            out[at] = 0xC0 | (code >> 6)
            out[at + 1] = 0x80 | (code & 63)
            at += 2
        elif code < 0x10000:
            out[at] = 0xE0 | (code >> 12)
            out[at + 1] = 0x80 | ((code >> 6) & 63)
            out[at + 2] = 0x80 | (code & 63)
            at += 3
        else:
            out[at] = 0xF0 | (code >> 18)
            out[at + 1] = 0x80 | ((code >> 12) & 63)
            out[at + 2] = 0x80 | ((code >> 6) & 63)
            out[at + 3] = 0x80 | (code & 63)
            at += 4


def is_letter(c):
    return ord("a") <= c <= ord("z") or ord("A") <= c <= ord("Z") or c == ord("'")


def count_words(text, counts):
    """[words, lines]: the threads stride over the text, a block adds up before it adds to the result."""
    block_counts = cuda.shared.array(2, int32)
    if cuda.threadIdx.x < 2:
        block_counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    words = 0
    lines = 0
    for i in range(cuda.grid(1), text.size, cuda.gridsize(1)):
        if is_letter(text[i]) and (i == 0 or not is_letter(text[i - 1])):
            words += 1
        if text[i] == ord("\n"):
            lines += 1
    cuda.atomic.add(block_counts, 0, words)
    cuda.atomic.add(block_counts, 1, lines)
    cuda.syncthreads()
    if cuda.threadIdx.x < 2:
        cuda.atomic.add(counts, cuda.threadIdx.x, block_counts[cuda.threadIdx.x])


def civil_dates(days, years, months, dates, weekdays):
    """From days since 1970-01-01 in the Gregorian calendar, before it too."""
    i = cuda.grid(1)
    if i < days.size:
        z = days[i] + 719468
        era = z // 146097
        doe = z - era * 146097
        yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
        doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
        mp = (5 * doy + 2) // 153
        month = mp + 3 if mp < 10 else mp - 9
        years[i] = yoe + era * 400 + (1 if month <= 2 else 0)
        months[i] = month
        dates[i] = doy - (153 * mp + 2) // 5 + 1
        weekdays[i] = (days[i] + 4) % 7


def decimals_problem(rng, n):
    """n fields of up to 15 digits, one of 64 of them not a number."""
    numbers, after = rng.integers(-(10 ** rng.integers(1, 15, n)), 10 ** rng.integers(1, 15, n)), rng.integers(0, 7, n)
    style = rng.integers(0, 64, n)
    fields = []
    for number, places, kind in zip(numbers.tolist(), after.tolist(), style.tolist()):
        digits = str(abs(number)).rjust(places + 1, "0")
        text = f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}" if places else digits
        sign = "-" if number < 0 else "+" if kind % 8 == 1 else ""
        fields.append("n/a" if kind == 0 else "  " * (kind % 4 == 2) + sign + text)
    data = np.frombuffer((",".join(fields) + "\n").encode(), np.uint8)
    starts = np.r_[0, np.flatnonzero((data == ord(",")) | (data == ord("\n"))) + 1].astype(np.int32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        return [(some, np.array([-1e300 if fields[k] == "n/a" else float(fields[k]) for k in some]), 0)]

    # Numbers below 2**53 and powers of ten below 10**22: the quotient is the nearest float64.
    return Problem(
        (data, starts, 10.0 ** np.arange(17), np.zeros(n)), (len(data), n + 1, 17, n), (3,), expected, threads=n,
        bytes=len(data) + 12 * n, flops=4 * len(data),
    )  # fmt: skip


def utf16_problem(rng, n):
    """n strings of 0 to 30 characters: half of them ASCII, the rest of all lengths, some surrogates alone."""
    count = rng.integers(0, 31, n)
    total = int(count.sum())
    high = np.array([0x80, 0x800, 0x3000, 0xD800, 0x110000, 0xE000])[rng.choice(6, total, p=[0.5, 0.2, 0.15, 0.09, 0.05, 0.01])]
    low = np.select([high == 0x80, high == 0xE000, high == 0x110000], [0x20, 0xD800, 0x10000], 0x80)
    codes = rng.integers(low, high)
    wide = codes >= 0x10000
    at = np.cumsum(1 + wide) - (1 + wide)
    units = np.zeros(total + int(wide.sum()), np.uint16)
    units[at] = np.where(wide, 0xD800 + ((codes - 0x10000) >> 10), codes)
    units[at[wide] + 1] = 0xDC00 + ((codes[wide] - 0x10000) & 0x3FF)
    ends = np.r_[at, len(units)][np.cumsum(count)]
    starts = np.r_[0, ends].astype(np.int32)
    # Two lone surrogates may make a pair, so there is room for three bytes a unit.
    places = (3 * starts[:-1]).astype(np.int32)
    out = np.zeros(3 * len(units), np.uint8)

    def expected():
        last = min(n, 20000)
        values = np.zeros(3 * starts[last], np.uint8)
        for k in range(last):
            text = units[starts[k] : starts[k + 1]].tobytes().decode("utf-16-le", "surrogatepass")
            encoded = "".join("\ufffd" if "\ud800" <= c < "\ue000" else c for c in text).encode()
            values[places[k] : places[k] + len(encoded)] = np.frombuffer(encoded, np.uint8)
        return [(written(values, last), values[written(values, last)], 0)]

    def written(values, last):
        return np.flatnonzero(values[: 3 * starts[last]])

    return Problem(
        (units, starts, places, out), (len(units), n + 1, n, len(out)), (3,), expected, threads=n,
        bytes=4 * len(units) + 8 * n, flops=12 * len(units),
    )  # fmt: skip


def words_problem(rng, n):
    """n bytes of words of 1 to 12 letters, between blanks, signs and ends of lines."""
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'", np.uint8)
    text = letters[rng.integers(0, len(letters), n)]
    gaps = np.frombuffer(b"   ,.;-\n", np.uint8)
    ends = np.cumsum(rng.integers(1, 13, n // 6 + 1))
    ends = ends[ends < n]
    text[ends] = gaps[rng.integers(0, len(gaps), len(ends))]

    def expected():
        letter = np.isin(text, letters)
        words = np.count_nonzero(letter & ~np.r_[False, letter[:-1]])
        return [(np.s_[:], np.array([words, np.count_nonzero(text == ord("\n"))]), 0)]

    return Problem((text, np.zeros(2, np.int32)), (n,), (1,), expected, grid=min(1056, -(-n // 256)), bytes=n, flops=12 * n)


def civil_problem(rng, n):
    """n days within 10,000 years of 1970."""
    days = rng.integers(-3_650_000, 3_650_000, n, np.int32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 100_000)
        at = days[some].astype("M8[D]")
        months, years = at.astype("M8[M]"), at.astype("M8[Y]")
        return [
            (some, years.astype(int) + 1970, 0), (some, (months - years).astype(int) + 1, 0),
            (some, (at - months).astype(int) + 1, 0), (some, (days[some] + 4) % 7, 0),
        ]  # fmt: skip

    return Problem(
        (days, np.zeros(n, np.int32), *(np.zeros(n, np.uint8) for _ in range(3))), (n,), (1, 2, 3, 4), expected, threads=n,
        bytes=11 * n, flops=40 * n,
    )  # fmt: skip


DECIMALS = each(
    """parse_decimals(const unsigned char *data, const int *starts, const double *powers, double *values, int size,
                    int count, int most, int n)""",
    """
    INDEX k = starts[i], end = starts[i + 1] - 1;
    while (k < end && data[k] == ' ')
      k++;
    int negative = 0;
    if (k < end && (data[k] == '-' || data[k] == '+'))
      negative = data[k++] == '-';
    long long number = 0;
    INDEX digits_after = 0;
    int point = 0, valid = k < end;
    for (; k < end; k++) {
      unsigned char c = data[k];
      if ('0' <= c && c <= '9') {
        number = number * 10 + (c - '0');
        if (point)
          digits_after++;
      } else if (c == '.' && !point) {
        point = 1;
      } else {
        valid = 0;
        break;
      }
    }
    if (valid) {
      double value = number / powers[digits_after];
      values[i] = negative ? -value : value;
    } else {
      values[i] = -1e300;
    }
""",
)

UTF16 = each(
    """utf16_to_utf8(const unsigned short *units, const int *starts, const int *places, unsigned char *out, int size,
                   int count, int n, int room)""",
    """
    INDEX k = starts[i], end = starts[i + 1];
    unsigned char *to = out + places[i];
    while (k < end) {
      unsigned code = units[k++];
      if (0xd800 <= code && code < 0xe000) {
        if (code < 0xdc00 && k < end && 0xdc00 <= units[k] && units[k] < 0xe000)
          code = 0x10000 + ((code - 0xd800) << 10) + (units[k++] - 0xdc00);
        else
          code = 0xfffd;
      }
      if (code < 0x80) {
        *to++ = code;
      } else if (code < 0x800) {
        *to++ = 0xc0 | code >> 6;
        *to++ = 0x80 | (code & 63);
      } else if (code < 0x10000) {
        *to++ = 0xe0 | code >> 12;
        *to++ = 0x80 | (code >> 6 & 63);
        *to++ = 0x80 | (code & 63);
      } else {
        *to++ = 0xf0 | code >> 18;
        *to++ = 0x80 | (code >> 12 & 63);
        *to++ = 0x80 | (code >> 6 & 63);
        *to++ = 0x80 | (code & 63);
      }
    }
""",
)

LETTER = """
DEVICE int is_letter(unsigned char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '\\'';
}
"""
WORDS = indexed(
    LETTER
    + """
__global__ void count_words(const unsigned char *text, int *counts, int n) {
  __shared__ int block_counts[2];
  if (threadIdx.x < 2)
    block_counts[threadIdx.x] = 0;
  __syncthreads();
  int words = 0, lines = 0;
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {
    if (is_letter(text[i]) && (i == 0 || !is_letter(text[i - 1])))
      words++;
    if (text[i] == '\\n')
      lines++;
  }
  atomicAdd(block_counts, words);
  atomicAdd(block_counts + 1, lines);
  __syncthreads();
  if (threadIdx.x < 2)
    atomicAdd(counts + threadIdx.x, block_counts[threadIdx.x]);
}
""",
    LETTER
    + """
void count_words(const unsigned char *text, int *counts, int n) {
  int words = 0, lines = 0;
#pragma omp parallel for reduction(+ : words, lines)
  for (int i = 0; i < n; i++) {
    if (is_letter(text[i]) && (i == 0 || !is_letter(text[i - 1])))
      words++;
    if (text[i] == '\\n')
      lines++;
  }
  counts[0] += words;
  counts[1] += lines;
}
""",
)

CIVIL = each(
    """civil_dates(const int *days, int *years, unsigned char *months, unsigned char *dates, unsigned char *weekdays,
                 int n)""",
    """
    int z = days[i] + 719468;
    int era = (z >= 0 ? z : z - 146096) / 146097;
    int doe = z - era * 146097;
    int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int mp = (5 * doy + 2) / 153;
    int month = mp < 10 ? mp + 3 : mp - 9;
    years[i] = yoe + era * 400 + (month <= 2);
    months[i] = month;
    dates[i] = doy - (153 * mp + 2) / 5 + 1;
    int weekday = (days[i] + 4) % 7;
    weekdays[i] = weekday < 0 ? weekday + 7 : weekday;
""",
)

KERNELS = [
    Kernel(
        "decimals of a CSV file", parse_decimals, "uint8[::1], int32[::1], float64[::1], float64[::1]", 128,
        decimals_problem, gpu=1_000_003, host=100_003, test=1013, kind="irregular", **DECIMALS,
    ),
    Kernel(
        "UTF-16 to UTF-8", utf16_to_utf8, "uint16[::1], int32[::1], int32[::1], uint8[::1]", 128, utf16_problem,
        gpu=1_000_003, host=100_003, test=1013, kind="irregular", **UTF16,
    ),
    Kernel(
        "words and lines", count_words, "uint8[::1], int32[::1]", 256, words_problem,
        gpu=100_000_007, host=5_000_011, test=5_003, **WORDS,
    ),
    Kernel(
        "days to dates", civil_dates, "int32[::1], int32[::1], uint8[::1], uint8[::1], uint8[::1]", 256, civil_problem,
        gpu=30_000_001, host=1_000_003, test=1013, **CIVIL,
    ),
]  # fmt: skip
