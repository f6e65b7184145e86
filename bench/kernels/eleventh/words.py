"""Words: merges of pairs, hashed grams, names by their sound, grams that two sentences share."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.eleventh.adds import with_adds
from kernels.texts import each, indexed
from pyptx import cuda, uint32, uint64

EMPTY = 0xFFFFFFFF


def rank_of_pair(keys, ranks, one, two):
    """The rank of a merge in a table with open addresses; a large one if there is none."""
    key = uint32(one << 16 | two)
    mask = keys.size - 1
    slot = int(key * uint32(0x9E3779B1) >> 8) & mask
    while keys[slot] != EMPTY:
        if keys[slot] == key:
            return int(ranks[slot])
        slot = (slot + 1) & mask
    return 1 << 30


def pair_merges(starts, text, keys, ranks, tokens, counts):
    """Byte pairs: in each word the pair of least rank becomes one token, until no pair is in the table."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    begin, end = int(starts[i]), int(starts[i + 1])
    word = cuda.local.array(32, np.int32)
    size = end - begin
    for k in range(size):
        word[k] = text[begin + k]
    while size > 1:
        best = 1 << 30
        where = -1
        for k in range(size - 1):
            rank = rank_of_pair(keys, ranks, int(word[k]), int(word[k + 1]))
            if rank < best:
                best, where = rank, k
        if where < 0:
            break
        word[where] = 256 + best
        size -= 1
        for k in range(where + 1, size):
            word[k] = word[k + 1]
    for k in range(size):
        tokens[begin + k] = word[k]
    counts[i] = size


def hashed_grams(text, shortest, longest, buckets):
    """Grams of some lengths, hashed: each adds or takes one from its bucket."""
    for i in range(cuda.grid(1), text.size, cuda.gridsize(1)):
        h = uint32(2166136261)
        for k in range(longest):
            if i + k >= text.size or text[i + k] == 32:
                break
            h = (h ^ text[i + k]) * uint32(16777619)
            if k + 1 >= shortest:
                cuda.atomic.add(buckets, int(h % uint32(buckets.size)), 1 if h >> 31 else -1)


SOUNDS = b"01230120022455012623010202"


def name_sounds(names, codes):
    """Soundex: a letter and three digits of names in capitals, behind which there are zeros; h and w part no sounds."""
    i = cuda.grid(1)
    if i >= codes.shape[0]:
        return
    first = names[i, 0]
    codes[i, 0] = first
    count = 1
    before = SOUNDS[int(first) - 65]
    for k in range(1, names.shape[1]):
        c = int(names[i, k])
        if c == 0 or count == 4:
            break
        sound = SOUNDS[c - 65]
        if sound != 48 and sound != before:
            codes[i, count] = sound
            count += 1
        if c != 72 and c != 87:
            before = sound
    while count < 4:
        codes[i, count] = 48
        count += 1


def shared_grams(ones, others, sizes, matches):
    """Grams of one to four tokens that a sentence shares with another, each of the other's at most once."""
    i, longer = cuda.grid(2)
    if i >= ones.shape[0] or longer >= matches.shape[1]:
        return
    count = 0
    used = uint64(0)
    for a in range(sizes[i, 0] - longer):
        for b in range(sizes[i, 1] - longer):
            if used >> b & 1:
                continue
            same = True
            for k in range(longer + 1):
                if ones[i, a + k] != others[i, b + k]:
                    same = False
                    break
            if same:
                used |= uint64(1) << b
                count += 1
                break
    matches[i, longer] = count


def merges_problem(rng, n):
    letters = np.frombuffer(b"etaoinshrdlucmfwyp", np.uint8)
    weights = 1 / np.arange(1, len(letters) + 1)
    sizes = rng.integers(1, 15, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    text = rng.choice(letters, starts[-1], p=weights / weights.sum())
    ids, table = list(letters[:10].astype(int)), {}
    for rank in range(500):
        pair = tuple(int(ids[k]) for k in np.minimum(rng.geometric(0.08, 2) - 1, len(ids) - 1))
        if pair not in table:
            table[pair] = len(table)
            ids.append(256 + table[pair])
    keys, ranks = np.full(2048, EMPTY, np.uint32), np.zeros(2048, np.int32)
    for (a, b), rank in table.items():
        slot = ((a << 16 | b) * 0x9E3779B1 & EMPTY) >> 8 & 2047
        while keys[slot] != EMPTY:
            slot = slot + 1 & 2047
        keys[slot], ranks[slot] = a << 16 | b, rank

    def expected():
        at = sampled(rng, n, 2000)
        places, values, counts = [], [], []
        for i in at:
            word = text[starts[i] : starts[i + 1]].tolist()
            while len(word) > 1:
                best = min((table.get(pair, 1 << 30), k) for k, pair in enumerate(zip(word, word[1:])))
                if best[0] == 1 << 30:
                    break
                word[best[1] : best[1] + 2] = [256 + best[0]]
            places += range(starts[i], starts[i] + len(word))
            values += word
            counts.append(len(word))
        return [(places, values, 0), (at, counts, 0)]

    args = (starts, text, keys, ranks, np.zeros(len(text), np.int32), np.full(n, 99, np.uint8))
    return Problem(args, (n, 2048), (4, 5), expected, threads=n, bytes=5.0 * len(text) + 5.0 * n, flops=40 * 20.0 * n)


def grams_problem(rng, n):
    shortest, longest, count = 3, 5, 10_007
    weights = 1 / np.arange(1, 28)
    text = rng.choice(np.frombuffer(b" etaoinshrdlucmfwypvbgkjqxz", np.uint8), n, p=weights / weights.sum())

    def expected():
        buckets = np.zeros(count, np.int64)
        h, ok = np.full(n, 2166136261, np.uint32), np.ones(n, bool)
        padded = np.concatenate([text, np.full(longest, 32, np.uint8)])
        for k in range(longest):
            c = padded[k : k + n]
            ok &= c != 32
            h = (h ^ c) * np.uint32(16777619)
            if k + 1 >= shortest:
                buckets += np.bincount(h[ok] % count, np.where(h[ok] >> 31, 1, -1), count).astype(np.int64)
        return [(slice(None), buckets, 0)]

    args = (text, shortest, longest, np.zeros(count, np.int32))
    return Problem(args, (n, count), (3,), expected, grid=703, bytes=1.0 * n, flops=20.0 * n)


def sounds_problem(rng, n):
    width = 13
    names = rng.choice(np.frombuffer(b"EAIOHWRSTNLDMCKBPGFVJYUXQZ", np.uint8), (n, width))
    names[np.arange(width) >= rng.integers(1, width + 1, (n, 1))] = 0

    def expected():
        at = sampled(rng, n, 3000)
        values = []
        for name in names[at]:
            code, before = [int(name[0])], SOUNDS[name[0] - 65]
            for c in name[1:]:
                if c == 0:
                    break
                sound = SOUNDS[c - 65]
                if sound != 48 and sound != before:
                    code.append(sound)
                if c not in b"HW":
                    before = sound
            values.append((code + [48, 48, 48])[:4])
        return [(at, np.array(values), 0)]

    args = (names, np.full((n, 4), 99, np.uint8))
    return Problem(args, (n, width), (1,), expected, threads=n, bytes=17.0 * n, flops=60.0 * n)


def shared_problem(rng, n):
    width = 31
    ones = np.minimum(rng.geometric(0.05, (n, width)), 200).astype(np.int32)
    others = np.where(rng.random((n, width)) < 0.7, ones, np.minimum(rng.geometric(0.05, (n, width)), 200)).astype(np.int32)
    others = np.roll(others, 1, 1)
    sizes = rng.integers(1, width + 1, (n, 2)).astype(np.uint8).astype(np.int32)

    def expected():
        at = sampled(rng, n, 300)
        values = np.zeros((len(at), 4), int)
        for row, i in enumerate(at):
            a, b = ones[i, : sizes[i, 0]].tolist(), others[i, : sizes[i, 1]].tolist()
            for k in range(1, 5):
                grams = [tuple(b[j : j + k]) for j in range(len(b) - k + 1)]
                for gram in (tuple(a[j : j + k]) for j in range(len(a) - k + 1)):
                    if gram in grams:
                        grams.remove(gram)
                        values[row, k - 1] += 1
        return [(at, values, 0)]

    args = (ones, others, sizes, np.full((n, 4), -1, np.int32))
    return Problem(args, (n, width, 4), (3,), expected, threads=(n, 4), bytes=280.0 * n, flops=4 * 200 * 4.0 * n)


MERGES = each(
    """pair_merges(const int *__restrict__ starts, const unsigned char *__restrict__ text, const unsigned *__restrict__ keys,
                 const int *__restrict__ ranks, int *__restrict__ tokens, unsigned char *__restrict__ counts, int n, int slots)""",
    """
    INDEX begin = starts[i], size = starts[i + 1] - begin;
    int word[32];
    for (INDEX k = 0; k < size; k++)
      word[k] = text[begin + k];
    while (size > 1) {
      int best = 1 << 30;
      INDEX where = -1;
      for (INDEX k = 0; k < size - 1; k++) {
        int rank = rank_of_merge(keys, ranks, slots, word[k], word[k + 1]);
        if (rank < best) {
          best = rank;
          where = k;
        }
      }
      if (where < 0) break;
      word[where] = 256 + best;
      size--;
      for (INDEX k = where + 1; k < size; k++)
        word[k] = word[k + 1];
    }
    for (INDEX k = 0; k < size; k++)
      tokens[begin + k] = word[k];
    counts[i] = size;
""",
    before="""
DEVICE int rank_of_merge(const unsigned *keys, const int *ranks, int slots, int one, int two) {
  unsigned key = (unsigned)one << 16 | two;
  INDEX slot = key * 0x9E3779B1u >> 8 & (slots - 1);
  while (keys[slot] != 0xFFFFFFFFu) {
    if (keys[slot] == key) return ranks[slot];
    slot = (slot + 1) & (slots - 1);
  }
  return 1 << 30;
}
""",
)

GRAMS_HEAD = "hashed_grams(const unsigned char *__restrict__ text, int shortest, int longest, int *__restrict__ buckets, int n, int count)"
GRAMS_BODY = """
    unsigned h = 2166136261u;
    for (INDEX k = 0; k < longest; k++) {
      if (i + k >= n || text[i + k] == 32) break;
      h = (h ^ text[i + k]) * 16777619u;
      if (k + 1 >= shortest) {
        ADD(buckets[h % count], h >> 31 ? 1 : -1);
      }
    }
"""
GRAMS = with_adds(indexed(
    f"""
__global__ void {GRAMS_HEAD} {{
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {{{GRAMS_BODY}  }}
}}
""",
    f"""
void {GRAMS_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{GRAMS_BODY}  }}
}}
""",
))  # fmt: skip

SOUND = each(
    "name_sounds(const unsigned char *__restrict__ names, unsigned char *__restrict__ codes, int n, int width)",
    """
    const char sounds[] = "01230120022455012623010202";
    const unsigned char *name = names + i * width;
    unsigned char *code = codes + 4 * i;
    code[0] = name[0];
    int count = 1, before = sounds[name[0] - 65];
    for (INDEX k = 1; k < width; k++) {
      int c = name[k];
      if (c == 0 || count == 4) break;
      int sound = sounds[c - 65];
      if (sound != '0' && sound != before) code[count++] = sound;
      if (c != 'H' && c != 'W') before = sound;
    }
    while (count < 4)
      code[count++] = '0';
""",
)

SHARED_HEAD = """shared_grams(const int *__restrict__ ones, const int *__restrict__ others, const int *__restrict__ sizes,
                  int *__restrict__ matches, int n, int width, int orders)"""
SHARED_BODY = """
    const int *one = ones + i * width, *other = others + i * width;
    INDEX count = 0, last_a = sizes[2 * i] - longer, last_b = sizes[2 * i + 1] - longer;
    unsigned long long used = 0;
    for (INDEX a = 0; a < last_a; a++)
      for (INDEX b = 0; b < last_b; b++) {
        if (used >> b & 1) continue;
        INDEX k = 0;
        while (k <= longer && one[a + k] == other[b + k]) k++;
        if (k > longer) {
          used |= 1ull << b;
          count++;
          break;
        }
      }
    matches[i * orders + longer] = count;
"""
SHARED = indexed(
    f"""
__global__ void {SHARED_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, longer = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (i < n && longer < orders) {{{SHARED_BODY}  }}
}}
""",
    f"""
void {SHARED_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++)
    for (INDEX longer = 0; longer < orders; longer++) {{{SHARED_BODY}    }}
}}
""",
)

KERNELS = [
    Kernel(
        "merges of pairs", pair_merges, "int32[::1], uint8[::1], uint32[::1], int32[::1], int32[::1], uint8[::1]", 64,
        merges_problem, gpu=500_009, host=10_007, test=303, kind="irregular", **MERGES,
    ),
    Kernel(
        "hashed grams", hashed_grams, "uint8[::1], pyint, pyint, int32[::1]", 256, grams_problem, gpu=5_000_011, host=100_003,
        test=5003, kind="irregular", **GRAMS,
    ),
    Kernel(
        "sounds of names", name_sounds, "uint8[:,::1], uint8[:,::1]", 128, sounds_problem, gpu=5_000_011, host=30_011,
        test=503, kind="irregular", **SOUND,
    ),
    Kernel(
        "grams that are shared", shared_grams, "int32[:,::1], int32[:,::1], int32[:,::1], int32[:,::1]", (64, 1),
        shared_problem, gpu=100_003, host=3001, test=203, kind="irregular", **SHARED,
    ),
]  # fmt: skip
