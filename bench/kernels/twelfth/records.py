"""Records: account numbers, numbers as text, words with mistakes, sums of groups."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int64, uint8, uint64

HASH = uint64(0x9E3779B97F4A7C15)


def valid_ibans(text, starts, sizes, verdicts):
    """Account numbers: 0 is right, 1 has a wrong character, 2 a wrong length for its country, 3 a wrong check; blanks may stand between."""
    for i in range(cuda.grid(1), verdicts.size, cuda.gridsize(1)):
        iban = text[starts[i] : starts[i + 1]]
        rest = 0  # of the digits so far, divided by 97
        head = 0  # country and check, which count last
        count = size = 0
        verdict = 0
        for c in iban:
            if c == ord(" "):
                continue
            if ord("0") <= c <= ord("9"):
                digits = int(c) - 48
            elif ord("A") <= c <= ord("Z"):
                digits = int(c) - 55
            else:
                verdict = 1
                break
            if (count < 2) != (digits > 9) and count < 4:
                verdict = 1
                break
            if count < 4:
                head = head * (100 if digits > 9 else 10) + digits
                if count == 1:
                    size = int(sizes[head // 100 - 10, digits - 10])
            else:
                rest = (rest * (100 if digits > 9 else 10) + digits) % 97
            count += 1
        if verdict == 0:
            if count < 4 or count != size:
                verdict = 2
            elif (rest * 1_000_000 + head) % 97 != 1:
                verdict = 3
        verdicts[i] = verdict


def written_numbers(numbers, rows, sizes):
    """Numbers of 64 bits as decimal text, from the left of rows of blanks."""
    i = cuda.grid(1)
    if i >= numbers.size:
        return
    digits = cuda.local.array(20, uint8)
    rest = uint64(numbers[i])
    size = 0
    if numbers[i] < 0:
        rest = -rest
        rows[i, 0] = ord("-")
        size = 1
    count = 0
    while True:
        digits[count] = 48 + rest % 10
        count += 1
        rest //= 10
        if rest == 0:
            break
    while count > 0:
        count -= 1
        rows[i, size] = digits[count]
        size += 1
    sizes[i] = size


def fuzzy_finds(text, starts, masks, size, mistakes, fewest, ends):
    """Where a pattern of up to 64 letters ends in documents with the fewest mistakes (Wu and Manber): a word of bits for each number."""
    i = cuda.grid(1)
    if i >= fewest.size:
        return
    state = cuda.local.array(8, uint64)
    for d in range(mistakes + 1):
        state[d] = (uint64(1) << uint64(d)) - 1
    final = uint64(1) << uint64(size - 1)
    allowed = mistakes
    best, end = mistakes + 1, -1
    for p in range(starts[i], starts[i + 1]):
        mask = masks[text[p]]
        before = state[0]
        state[0] = (before << 1 | 1) & mask
        for d in range(1, allowed + 1):
            kept = state[d]
            state[d] = (kept << 1 | 1) & mask | before | (before | state[d - 1]) << 1 | 1
            before = kept
        while allowed >= 0 and state[allowed] & final != 0:
            best, end = allowed, p - starts[i]
            allowed -= 1
        if allowed < 0:
            break
    fewest[i] = best
    ends[i] = end


def grouped_totals(keys, amounts, table, totals, counts):
    """Sums and counts by key in a table of hashes; -1 is an empty place."""
    i = cuda.grid(1)
    if i >= keys.size:
        return
    key = keys[i]
    place = int((uint64(key) * HASH >> 32) % table.size)
    while True:
        found = table[place]
        if found == -1:
            found = cuda.atomic.cas(table, place, -1, key)
            if found == -1:
                break
        if found == key:
            break
        place += 1
        if place == table.size:
            place = 0
    cuda.atomic.add(totals, place, int64(amounts[i]))
    cuda.atomic.add(counts, place, 1)


COUNTRIES = {"DE": 22, "FR": 27, "GB": 22, "NL": 18, "NO": 15, "MT": 31, "CH": 21, "ES": 24}


def iban_of(country, rest, mistake):
    checked = "".join(str(int(c, 36)) for c in rest + country + "00")
    check = 98 - int(checked) % 97
    text = f"{country}{check:02}{rest}"
    if mistake == 1:
        text = text[:6] + "-" + text[7:]
    elif mistake == 2:
        text = text[:-1]
    elif mistake == 3:
        text = text[:-1] + str((int(text[-1]) + 1) % 10)
    if len(rest) % 2:
        text = " ".join(text[k : k + 4] for k in range(0, len(text), 4))
    return text.encode()


def ibans_problem(rng, n):
    kinds, letters = min(n, 1000), "0123456789ABCDEF"
    mistakes = rng.choice(4, kinds, p=[0.7, 0.1, 0.1, 0.1])
    texts = []
    for mistake in mistakes:
        country = list(COUNTRIES)[rng.integers(len(COUNTRIES))]
        rest = "".join(letters[k] for k in rng.integers(0, 16 if country in ("GB", "MT", "NL") else 10, COUNTRIES[country] - 5))
        texts.append(iban_of(country, rest + str(rng.integers(0, 10)), mistake))
    which = rng.integers(0, kinds, n)
    starts = np.cumsum([0, *np.array([len(t) for t in texts])[which]]).astype(np.int32)
    text = np.frombuffer(b"".join(texts[k] for k in which), np.uint8).copy()
    sizes = np.zeros((26, 26), np.uint8)
    for country, size in COUNTRIES.items():
        sizes[ord(country[0]) - 65, ord(country[1]) - 65] = size

    def expected():
        return [(slice(None), mistakes[which], 0)]

    return Problem((text, starts, sizes, np.full(n, 99, np.uint8)), (n,), (3,), expected, grid=1009, bytes=text.size + 5.0 * n)


def written_problem(rng, n):
    numbers = rng.integers(-(1 << 62), 1 << 62, n) >> rng.integers(0, 62, n)
    numbers[:2] = -(1 << 63), 0

    def expected():
        at = sampled(rng, n, 5000)
        texts = [str(v).encode() for v in numbers[at].tolist()]
        rows = np.frombuffer(b"".join(t.ljust(20) for t in texts), np.uint8).reshape(-1, 20)
        return [(at, rows, 0), (at, [len(t) for t in texts], 0)]

    args = (numbers, np.full((n, 20), ord(" "), np.uint8), np.full(n, 99, np.uint8))
    return Problem(args, (n,), (1, 2), expected, threads=n, bytes=29.0 * n, flops=40.0 * n)


def fuzzy_problem(rng, n):
    pattern, mistakes = b"acetylcholinesterase", 4
    lengths = rng.integers(30, 250, n)
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    text = rng.choice(np.frombuffer(b"aaceeeillnorsstty h", np.uint8), starts[-1])
    for i in range(0, n, 3):  # the word with mistakes in every third document
        word = np.frombuffer(pattern, np.uint8).copy()
        word[rng.integers(0, 20, rng.integers(0, 5))] = ord("x")
        word = np.delete(word, rng.integers(0, 20, rng.integers(0, 2)))
        place = starts[i] + rng.integers(0, lengths[i] - 20)
        text[place : place + len(word)] = word
    masks = np.zeros(256, np.uint64)
    for k, c in enumerate(pattern):
        masks[c] |= np.uint64(1 << k)

    def expected():
        at = sampled(rng, n, 2000)
        column = np.tile(np.arange(len(pattern) + 1), (len(at), 1))
        best, end = np.full(len(at), mistakes + 1), np.full(len(at), -1)
        for p in range(lengths[at].max()):
            c = text[np.minimum(starts[at] + p, len(text) - 1)]
            after = [np.zeros(len(at), int)]
            for k, letter in enumerate(pattern):
                after.append(np.minimum(np.minimum(after[-1], column[:, k + 1]) + 1, column[:, k] + (c != letter)))
            column = np.stack(after, 1)
            better = (p < lengths[at]) & (column[:, -1] < best)
            best, end = np.where(better, column[:, -1], best), np.where(better, p, end)
        return [(at, best, 0), (at, end, 0)]

    args = (text, starts, masks, len(pattern), mistakes, np.full(n, 99, np.uint8), np.full(n, 9999, np.int16))
    return Problem(args, (n,), (5, 6), expected, threads=n, bytes=text.size + 7.0 * n, flops=8.0 * (mistakes + 1) * text.size)


def grouped_problem(rng, n):
    groups = n // 9 + 1
    size = 2 * groups + 1
    names = rng.integers(1 << 20, 1 << 60, groups)
    chosen = np.minimum(rng.geometric(2.0 / groups, n) - 1, groups - 1)
    keys, amounts = names[chosen], rng.integers(-500, 10_000, n).astype(np.int32)

    def outcome(table, totals, counts):
        order = np.argsort(table)
        full = order[table[order] != -1]
        return table[full], totals[full], counts[full]

    def expected():
        found, group = np.unique(keys, return_inverse=True)
        totals = np.zeros(len(found), np.int64)
        np.add.at(totals, group, amounts)
        return [(slice(None), found, 0), (slice(None), totals, 0), (slice(None), np.bincount(group), 0)]

    args = (keys, amounts, np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int32))
    return Problem(args, (n, size), (2, 3, 4), expected, threads=n, bytes=12.0 * n + 20.0 * size, outcome=outcome)


IBANS_HEAD = """valid_ibans(const unsigned char *__restrict__ text, const int *__restrict__ starts, const unsigned char *__restrict__ sizes,
                 unsigned char *__restrict__ verdicts, int n)"""
IBANS_BODY = """
    int rest = 0, head = 0, count = 0, verdict = 0, size = 0;
    INDEX end = starts[i + 1];
    for (INDEX p = starts[i]; p < end; p++) {
      int c = text[p], digits;
      if (c == ' ') continue;
      if ('0' <= c && c <= '9')
        digits = c - '0';
      else if ('A' <= c && c <= 'Z')
        digits = c - 'A' + 10;
      else {
        verdict = 1;
        break;
      }
      if (count < 4 && (count < 2) != (digits > 9)) {
        verdict = 1;
        break;
      }
      if (count < 4) {
        head = head * (digits > 9 ? 100 : 10) + digits;
        if (count == 1) size = sizes[(head / 100 - 10) * 26 + digits - 10];
      } else
        rest = (rest * (digits > 9 ? 100 : 10) + digits) % 97;
      count++;
    }
    if (verdict == 0) {
      if (count < 4 || count != size)
        verdict = 2;
      else if ((rest * 1000000 + head) % 97 != 1)
        verdict = 3;
    }
    verdicts[i] = verdict;
"""
IBANS = indexed(
    f"""
__global__ void {IBANS_HEAD} {{
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {{{IBANS_BODY}  }}
}}
""",
    f"""
void {IBANS_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{IBANS_BODY}  }}
}}
""",
)

WRITTEN = each(
    "written_numbers(const long long *__restrict__ numbers, unsigned char *__restrict__ rows, unsigned char *__restrict__ sizes, int n)",
    """
    unsigned char digits[20], *row = rows + i * 20;
    unsigned long long rest = numbers[i];
    int size = 0, count = 0;
    if (numbers[i] < 0) {
      rest = -rest;
      row[0] = '-';
      size = 1;
    }
    do {
      digits[count++] = '0' + rest % 10;
      rest /= 10;
    } while (rest != 0);
    while (count > 0)
      row[size++] = digits[--count];
    sizes[i] = size;
""",
)

FUZZY = each(
    """fuzzy_finds(const unsigned char *__restrict__ text, const int *__restrict__ starts, const unsigned long long *__restrict__ masks,
                 int size, int mistakes, unsigned char *__restrict__ fewest, short *__restrict__ ends, int n)""",
    """
    unsigned long long state[8], final = 1ull << (size - 1);
    for (int d = 0; d <= mistakes; d++)
      state[d] = (1ull << d) - 1;
    int allowed = mistakes, best = mistakes + 1;
    INDEX start = starts[i], stop = starts[i + 1], end = -1;
    for (INDEX p = start; p < stop && allowed >= 0; p++) {
      unsigned long long mask = masks[text[p]], before = state[0];
      state[0] = (before << 1 | 1) & mask;
      for (int d = 1; d <= allowed; d++) {
        unsigned long long kept = state[d];
        state[d] = ((kept << 1 | 1) & mask) | before | (before | state[d - 1]) << 1 | 1;
        before = kept;
      }
      while (allowed >= 0 && state[allowed] & final) {
        best = allowed;
        end = p - start;
        allowed--;
      }
    }
    fewest[i] = best;
    ends[i] = end;
""",
)

GROUPED = each(
    """grouped_totals(const long long *__restrict__ keys, const int *__restrict__ amounts, long long *__restrict__ table,
                    long long *__restrict__ totals, int *__restrict__ counts, int n, int size)""",
    """
    long long key = keys[i];
    INDEX place = ((unsigned long long)key * 0x9E3779B97F4A7C15ull >> 32) % size;
    while (1) {
      long long found = table[place];
      if (found == -1) {
        found = CAS(table[place], -1, key);
        if (found == -1) break;
      }
      if (found == key) break;
      if (++place == size) place = 0;
    }
    ADD64(totals[place], amounts[i]);
    ADD(counts[place], 1);
""",
)
WORD = "unsigned long long"
DEFINED = {
    "cuda": f"#define CAS(x, old, v) atomicCAS(({WORD} *)&x, ({WORD})(old), ({WORD})(v))\n"
    f"#define ADD64(x, v) atomicAdd(({WORD} *)&x, ({WORD})(long long)(v))\n#define ADD(x, v) atomicAdd(&x, v)\n",
    "openmp": '#define CAS(x, old, v) __sync_val_compare_and_swap(&x, old, v)\n#define ADD(x, v) _Pragma("omp atomic") x += v\n'
    "#define ADD64 ADD\n",
}  # fmt: skip
UNDEFINED = "#undef CAS\n#undef ADD64\n#undef ADD\n"
GROUPED = {k: UNDEFINED + DEFINED["openmp" if k == "openmp" else "cuda"] + text + UNDEFINED for k, text in GROUPED.items()}

KERNELS = [
    Kernel(
        "account numbers", valid_ibans, "uint8[::1], int32[::1], uint8[:,::1], uint8[::1]", 128, ibans_problem, gpu=2_000_003,
        host=30_011, test=503, kind="irregular", **IBANS,
    ),
    Kernel(
        "numbers written", written_numbers, "int64[::1], uint8[:,::1], uint8[::1]", 256, written_problem, gpu=5_000_011,
        host=50_021, test=1003, kind="irregular", **WRITTEN,
    ),
    Kernel(
        "words with mistakes", fuzzy_finds, "uint8[::1], int32[::1], uint64[::1], pyint, pyint, uint8[::1], int16[::1]", 128,
        fuzzy_problem, gpu=200_003, host=3001, test=203, kind="irregular", **FUZZY,
    ),
    Kernel(
        "sums of groups", grouped_totals, "int64[::1], int32[::1], int64[::1], int64[::1], int32[::1]", 256, grouped_problem,
        gpu=5_000_011, host=50_021, test=1003, kind="irregular", **GROUPED,
    ),
]  # fmt: skip
