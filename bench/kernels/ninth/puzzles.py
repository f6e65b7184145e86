"""Puzzles and texts: moves on a board of bits, sudokus, distinct keys, names alike, checksums, words found at once."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, int32, uint8, uint32, uint64

FILES = 0x7E7E7E7E7E7E7E7E  # all but the outer columns


def board_moves(own, other, moves, counts):
    """Reversi: the squares where the side to move may play, and how many they are; 64 squares in 64 bits."""
    i = cuda.grid(1)
    if i >= own.size:
        return
    mine = own[i]
    theirs = other[i]
    empty = ~(mine | theirs)
    inner = theirs & uint64(FILES)
    found = uint64(0)
    for shift, between in ((1, inner), (7, inner), (8, theirs), (9, inner)):
        up = mine << shift & between
        down = mine >> shift & between
        for _ in range(5):
            up |= up << shift & between
            down |= down >> shift & between
        found |= up << shift
        found |= down >> shift
    found &= empty
    moves[i] = found
    counts[i] = cuda.popc(found)


def sudoku_solved(givens, out, tries):
    """Sudokus by trying: the empty cells in order, what rows, columns and boxes have as bits; a thread a puzzle."""
    i = cuda.grid(1)
    if i >= givens.shape[0]:
        return
    used = cuda.local.array(27, int32)
    empty = cuda.local.array(81, uint8)
    rest = cuda.local.array(81, int32)
    for k in range(27):
        used[k] = 0
    count = 0
    for cell in range(81):
        digit = givens[i, cell]
        out[i, cell] = digit
        if digit == 0:
            empty[count] = cell
            count += 1
        else:
            bit = 1 << int(digit)
            used[cell // 9] |= bit
            used[9 + cell % 9] |= bit
            used[18 + cell // 27 * 3 + cell % 9 // 3] |= bit
    depth = 0
    steps = 0
    fresh = True
    while 0 <= depth < count:
        cell = int(empty[depth])
        row, col = divmod(cell, 9)
        box = 18 + row // 3 * 3 + col // 3
        if fresh:
            rest[depth] = ~(used[row] | used[9 + col] | used[box]) & 0x3FE
        else:
            bit = 1 << int(out[i, cell])
            used[row] ^= bit
            used[9 + col] ^= bit
            used[box] ^= bit
            out[i, cell] = 0
        left = rest[depth]
        if left == 0:
            depth -= 1
            fresh = False
        else:
            bit = left & -left
            rest[depth] = left ^ bit
            used[row] |= bit
            used[9 + col] |= bit
            used[box] |= bit
            digit = 0
            while bit > 1:
                bit >>= 1
                digit += 1
            out[i, cell] = digit
            depth += 1
            steps += 1
            fresh = True
    tries[i] = steps


def distinct_registers(keys, registers):
    """HyperLogLog: the longest run of zeros in hashes of each of 2048 classes, in shared memory first."""
    table = cuda.shared.array(2048, int32)
    t = cuda.threadIdx.x
    for k in range(t, 2048, cuda.blockDim.x):
        table[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
        h = uint64(keys[i])
        h ^= h >> 33
        h *= uint64(0xFF51AFD7ED558CCD)
        h ^= h >> 33
        h *= uint64(0xC4CEB9FE1A85EC53)
        h ^= h >> 33
        place = int(h & uint64(2047))
        zeros = cuda.clz(uint32(h >> 32)) + 1
        if zeros > table[place]:
            cuda.atomic.max(table, place, zeros)
    cuda.syncthreads()
    for k in range(t, 2048, cuda.blockDim.x):
        if table[k] > 0:
            cuda.atomic.max(registers, k, table[k])


def names_alike(first, second, lengths, prefix_weight, out):
    """Jaro and Winkler's similarity of names of up to 32 letters; which letters have partners are bits."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    a = first[i]
    b = second[i]
    size_a, size_b = int(lengths[i, 0]), int(lengths[i, 1])
    window = max(max(size_a, size_b) // 2 - 1, 0)
    taken_a = 0
    taken_b = 0
    matches = 0
    for j in range(size_a):
        for k in range(max(0, j - window), min(size_b, j + window + 1)):
            if not taken_b >> k & 1 and a[j] == b[k]:
                taken_a |= 1 << j
                taken_b |= 1 << k
                matches += 1
                break
    if matches == 0:
        out[i] = 0
        return
    swapped = 0
    k = 0
    for j in range(size_a):
        if taken_a >> j & 1:
            while not taken_b >> k & 1:
                k += 1
            if a[j] != b[k]:
                swapped += 1
            k += 1
    m = float32(matches)
    alike = (m / size_a + m / size_b + (m - float32(swapped) / 2) / m) / 3
    same = 0
    while same < min(4, size_a, size_b) and a[same] == b[same]:
        same += 1
    out[i] = alike + same * prefix_weight * (1 - alike)


def adler_sums(data, starts, sums):
    """Adler-32 of pieces of data: a warp a piece, whose lanes take bytes in turn."""
    piece = cuda.grid(1) // 32
    lane = cuda.laneid
    if piece >= sums.size:
        return
    begin = int(starts[piece])
    end = int(starts[piece + 1])
    a = 0
    b = 0
    for k in range(begin + lane, end, 32):
        v = int(data[k])
        a += v
        b += v * (end - k)
    step = 16
    while step > 0:
        a += cuda.shfl_down_sync(0xFFFFFFFF, a, step)
        b += cuda.shfl_down_sync(0xFFFFFFFF, b, step)
        step >>= 1
    if lane == 0:
        a = (a + 1) % 65521
        b = (b + end - begin) % 65521
        sums[piece] = b << 16 | a


def words_found(text, table, weights, longest, size, found):
    """Aho and Corasick: how many words end in each piece of a text; an automaton warms up on what is
    before the piece.
    """
    i = cuda.grid(1)
    begin = i * size
    if begin >= text.size:
        return
    end = min(begin + size, text.size)
    state = 0
    for k in range(max(0, begin - longest + 1), begin):
        state = int(table[state, text[k] & 31])
    total = 0
    for k in range(begin, end):
        state = int(table[state, text[k] & 31])
        total += int(weights[state])
    found[i] = total


def moves_problem(rng, n):
    seen = rng.integers(0, 1 << 63, (3, n), np.uint64) * np.uint64(2) + rng.integers(0, 2, (3, n), np.uint64)
    taken, who = seen[0] | seen[1], seen[2]
    own, other = taken & who, taken & ~who

    def expected():
        u = np.uint64
        inner = other & u(FILES)
        found = np.zeros(n, np.uint64)
        for shift, between in ((1, inner), (7, inner), (8, other), (9, inner)):
            for turn in (np.left_shift, np.right_shift):
                line = turn(own, u(shift)) & between
                for _ in range(5):
                    line |= turn(line, u(shift)) & between
                found |= turn(line, u(shift))
        found &= ~(own | other)
        return [(slice(None), found, 0), (slice(None), np.bitwise_count(found), 0)]

    args = (own, other, np.zeros(n, np.uint64), np.full(n, 99, np.uint8))
    return Problem(args, (n,), (2, 3), expected, threads=n, bytes=25.0 * n, flops=100.0 * n)


def sudoku_problem(rng, n):
    base = np.array([[(3 * r + r // 3 + c) % 9 for c in range(9)] for r in range(9)])
    kinds = []
    for _ in range(min(n, 501)):
        rows = np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])
        cols = np.concatenate([3 * band + rng.permutation(3) for band in rng.permutation(3)])
        grid = (1 + rng.permutation(9))[base[rows][:, cols]].ravel()
        grid[rng.choice(81, rng.integers(38, 47), replace=False)] = 0
        kinds.append(grid)
    kinds = np.array(kinds, np.uint8)
    which = rng.integers(0, len(kinds), n)

    def solve(givens):
        grid, empty = givens.astype(int).reshape(9, 9), [divmod(k, 9) for k in range(81) if givens[k] == 0]
        steps, depth, least = 0, 0, 1
        while 0 <= depth < len(empty):
            r, c = empty[depth]
            grid[r, c] = 0
            seen = {*grid[r], *grid[:, c], *grid[r // 3 * 3 : r // 3 * 3 + 3, c // 3 * 3 : c // 3 * 3 + 3].ravel()}
            digit = next((d for d in range(least, 10) if d not in seen), None)
            if digit is None:
                depth -= 1
                if depth >= 0:
                    least = grid[empty[depth]] + 1
            else:
                grid[r, c], steps, depth, least = digit, steps + 1, depth + 1, 1
        return grid.ravel(), steps

    def expected():
        some = min(len(kinds), 20)
        solved = [solve(g) for g in kinds[:some]]
        at = np.flatnonzero(which < some)
        grids, steps = np.array([g for g, _ in solved]), np.array([s for _, s in solved])
        return [(at, grids[which[at]], 0), (at, steps[which[at]], 0)]

    args = (kinds[which], np.full((n, 81), 99, np.uint8), np.full(n, -1, np.int32))
    return Problem(args, (n,), (1, 2), expected, threads=n, bytes=166.0 * n)


def registers_problem(rng, n):
    keys = rng.integers(-(1 << 40), 1 << 40, n)

    def expected():
        registers = np.zeros(2048, np.int32)
        u = np.uint64
        for begin in range(0, n, 1 << 22):
            h = keys[begin : begin + (1 << 22)].astype(u)
            h = (h ^ h >> u(33)) * u(0xFF51AFD7ED558CCD)
            h = (h ^ h >> u(33)) * u(0xC4CEB9FE1A85EC53)
            h ^= h >> u(33)
            zeros = 33 - np.frexp((h >> u(32)).astype(float))[1]
            np.maximum.at(registers, (h & u(2047)).astype(int), zeros)
        return [(slice(None), registers, 0)]

    args = (keys, np.zeros(2048, np.int32))
    return Problem(args, (n,), (1,), expected, grid=max(1, min(528, n // 1024)), bytes=8.0 * n)


def names_problem(rng, n):
    first = rng.integers(97, 110, (n, 32), np.uint8)
    lengths = rng.integers(1, 25, (n, 2)).astype(np.int32)
    second = np.where(rng.random((n, 32), np.float32) < 0.2, rng.integers(97, 110, (n, 32), np.uint8), first)
    second[::2, 3:] = np.roll(second[::2, 3:], 1, 1)
    weight = np.float32(0.1)

    def alike(a, b):
        window = max(max(len(a), len(b)) // 2 - 1, 0)
        of_a, of_b = [], set()
        for j, letter in enumerate(a):
            for k in range(max(0, j - window), min(len(b), j + window + 1)):
                if k not in of_b and letter == b[k]:
                    of_a.append(letter)
                    of_b.add(k)
                    break
        m = len(of_a)
        if not m:
            return 0
        swapped = sum(x != b[k] for x, k in zip(of_a, sorted(of_b)))
        share = (m / len(a) + m / len(b) + (m - swapped / 2) / m) / 3
        same = 0
        while same < min(4, len(a), len(b)) and a[same] == b[same]:
            same += 1
        return share + same * float(weight) * (1 - share)

    def expected():
        at = sampled(rng, n, 3000)
        values = [alike(first[i, : lengths[i, 0]].tolist(), second[i, : lengths[i, 1]].tolist()) for i in at]
        return [(at, np.array(values), 6 * EPS32)]  # a dozen roundings of numbers up to 1

    args = (first, second, lengths, weight, np.full(n, -1, np.float32))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=76.0 * n)


def adler_problem(rng, n):
    sizes = rng.integers(1, 5500, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    data = rng.integers(0, 256, int(starts[-1]), np.uint8)

    def expected():
        import zlib

        at = sampled(rng, n, 3000)
        return [(at, np.array([zlib.adler32(data[starts[i] : starts[i + 1]].tobytes()) for i in at], np.uint32), 0)]

    args = (data, starts, np.zeros(n, np.uint32))
    return Problem(args, (n,), (2,), expected, threads=32 * n, bytes=1.0 * data.size)


def words_problem(rng, n):
    size = 61
    words = [bytes(rng.integers(97, 101, k)) for k in rng.integers(2, 12, 40)]
    longest = max(map(len, words))
    goto, weights, fail = [{}], [0], [0]
    for word in words:
        state = 0
        for c in word:
            if c not in goto[state]:
                goto[state][c] = len(goto)
                goto.append({})
                weights.append(0)
                fail.append(0)
            state = goto[state][c]
        weights[state] += 1
    table, queue = np.zeros((len(goto), 32), np.int16), [0]
    for state in queue:
        for c in range(97, 123):
            if c in goto[state]:
                child = goto[state][c]
                fail[child] = int(table[fail[state], c & 31]) if state else 0
                weights[child] += weights[fail[child]]
                table[state, c & 31] = child
                queue.append(child)
            else:
                table[state, c & 31] = table[fail[state], c & 31] if state else 0
    pieces, text = -(-n // size), rng.integers(97, 101, n, np.uint8)
    text[rng.integers(0, n, n // 10)] += np.uint8(9)

    def expected():
        at = sampled(rng, pieces, 20_000)
        wide = np.concatenate([np.zeros(longest, np.uint8), text, np.zeros(size, np.uint8)])
        near = np.lib.stride_tricks.sliding_window_view(wide, longest + size)[at * size]
        found = np.zeros(len(at), np.int32)
        for word in words:  # places where it ends in the piece
            begin = longest + 1 - len(word)
            hits = np.ones((len(at), size), bool)
            for k, c in enumerate(word):
                hits &= near[:, begin + k : begin + k + size] == c
            found += hits.sum(1, dtype=np.int32)
        return [(at, found, 0)]

    args = (text, table, np.array(weights, np.int16), longest, size, np.full(pieces, -1, np.int32))
    return Problem(args, (n,), (5,), expected, threads=pieces, bytes=n * 1.2)


MOVES_SIDES = each(
    """board_moves(const unsigned long long *__restrict__ own, const unsigned long long *__restrict__ other,
                unsigned long long *__restrict__ moves, unsigned char *__restrict__ counts, int n)""",
    """
    unsigned long long mine = own[i], theirs = other[i], inner = theirs & 0x7e7e7e7e7e7e7e7eULL, found = 0;
    const int shifts[4] = {1, 7, 8, 9};
    for (int d = 0; d < 4; d++) {
      int shift = shifts[d];
      unsigned long long between = shift == 8 ? theirs : inner, up = mine << shift & between,
        down = mine >> shift & between;
      for (int k = 0; k < 5; k++) {
        up |= up << shift & between;
        down |= down >> shift & between;
      }
      found |= up << shift | down >> shift;
    }
    found &= ~(mine | theirs);
    moves[i] = found;
    counts[i] = POPCOUNT(found);
""",
)
MOVES = {
    key: text.replace("POPCOUNT", "__builtin_popcountll" if key == "openmp" else "__popcll")
    for key, text in MOVES_SIDES.items()
}

SUDOKU = each(
    """sudoku_solved(const unsigned char *__restrict__ givens, unsigned char *__restrict__ out, int *__restrict__ tries,
                  int n)""",
    """
    int used[27], rest[81], count = 0, depth = 0, steps = 0, fresh = 1;
    unsigned char empty[81], *grid = out + 81 * i;
    for (int k = 0; k < 27; k++)
      used[k] = 0;
    for (int cell = 0; cell < 81; cell++) {
      int digit = givens[81 * i + cell];
      grid[cell] = digit;
      if (digit == 0) {
        empty[count++] = cell;
      } else {
        used[cell / 9] |= 1 << digit;
        used[9 + cell % 9] |= 1 << digit;
        used[18 + cell / 27 * 3 + cell % 9 / 3] |= 1 << digit;
      }
    }
    while (0 <= depth && depth < count) {
      int cell = empty[depth], row = cell / 9, col = cell % 9, box = 18 + row / 3 * 3 + col / 3;
      if (fresh) {
        rest[depth] = ~(used[row] | used[9 + col] | used[box]) & 0x3fe;
      } else {
        int bit = 1 << grid[cell];
        used[row] ^= bit;
        used[9 + col] ^= bit;
        used[box] ^= bit;
        grid[cell] = 0;
      }
      int left = rest[depth];
      if (left == 0) {
        depth--;
        fresh = 0;
      } else {
        int bit = left & -left, digit = 0;
        rest[depth] = left ^ bit;
        used[row] |= bit;
        used[9 + col] |= bit;
        used[box] |= bit;
        while (bit > 1) {
          bit >>= 1;
          digit++;
        }
        grid[cell] = digit;
        depth++;
        steps++;
        fresh = 1;
      }
    }
    tries[i] = steps;
""",
    schedule=" schedule(dynamic, 16)",
)

REGISTERS_HEAD = "distinct_registers(const long long *__restrict__ keys, int *__restrict__ registers, int n)"
REGISTERS_HASH = """
    unsigned long long h = keys[i];
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ULL;
    h ^= h >> 33;
    int place = h & 2047;
"""
REGISTERS = indexed(
    f"""
__global__ void {REGISTERS_HEAD} {{
  __shared__ int table[2048];
  INDEX t = threadIdx.x, stride = gridDim.x * (INDEX)blockDim.x;
  for (INDEX k = t; k < 2048; k += blockDim.x)
    table[k] = 0;
  __syncthreads();
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + t; i < n; i += stride) {{
{REGISTERS_HASH}
    int zeros = __clz((int)(h >> 32)) + 1;
    if (zeros > table[place]) atomicMax(&table[place], zeros);
  }}
  __syncthreads();
  for (INDEX k = t; k < 2048; k += blockDim.x)
    if (table[k] > 0) atomicMax(&registers[k], table[k]);
}}
""",
    f"""
void {REGISTERS_HEAD} {{
#pragma omp parallel
  {{
    int table[2048] = {{0}};
#pragma omp for
    for (INDEX i = 0; i < n; i++) {{
{REGISTERS_HASH}
      unsigned high = (unsigned)(h >> 32);
      int zeros = (high ? __builtin_clz(high) : 32) + 1;
      table[place] = MAX(table[place], zeros);
    }}
#pragma omp critical
    for (INDEX k = 0; k < 2048; k++)
      registers[k] = MAX(registers[k], table[k]);
  }}
}}
""",
)

NAMES = each(
    """names_alike(const unsigned char *__restrict__ first, const unsigned char *__restrict__ second,
                const int *__restrict__ lengths, float prefix_weight, float *__restrict__ out, int n)""",
    """
    const unsigned char *a = first + 32 * i, *b = second + 32 * i;
    int size_a = lengths[2 * i], size_b = lengths[2 * i + 1], window = MAX(MAX(size_a, size_b) / 2 - 1, 0);
    unsigned taken_a = 0, taken_b = 0;
    int matches = 0, swapped = 0, same = 0;
    for (int j = 0; j < size_a; j++)
      for (int k = MAX(0, j - window); k < MIN(size_b, j + window + 1); k++)
        if (!(taken_b >> k & 1) && a[j] == b[k]) {
          taken_a |= 1u << j;
          taken_b |= 1u << k;
          matches++;
          break;
        }
    if (matches == 0) {
      out[i] = 0;
    } else {
      for (int j = 0, k = 0; j < size_a; j++)
        if (taken_a >> j & 1) {
          while (!(taken_b >> k & 1))
            k++;
          if (a[j] != b[k]) swapped++;
          k++;
        }
      float m = matches, alike = (m / size_a + m / size_b + (m - swapped / 2.0f) / m) / 3;
      while (same < MIN(4, MIN(size_a, size_b)) && a[same] == b[same])
        same++;
      out[i] = alike + same * prefix_weight * (1 - alike);
    }
""",
    schedule=" schedule(static, 64)",
)

ADLER_HEAD = """adler_sums(const unsigned char *__restrict__ data, const int *__restrict__ starts,
                    unsigned *__restrict__ sums, int n)"""
ADLER = indexed(
    f"""
__global__ void {ADLER_HEAD} {{
  INDEX piece = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (piece >= n) return;
  INDEX begin = starts[piece], end = starts[piece + 1];
  long long a = 0, b = 0;
  for (INDEX k = begin + lane; k < end; k += 32) {{
    long long v = data[k];
    a += v;
    b += v * (end - k);
  }}
  for (int step = 16; step > 0; step >>= 1) {{
    a += __shfl_down_sync(0xffffffff, a, step);
    b += __shfl_down_sync(0xffffffff, b, step);
  }}
  if (lane == 0) sums[piece] = (unsigned)((b + end - begin) % 65521) << 16 | (unsigned)((a + 1) % 65521);
}}
""",
    f"""
void {ADLER_HEAD} {{
#pragma omp parallel for schedule(dynamic, 16)
  for (INDEX piece = 0; piece < n; piece++) {{
    INDEX begin = starts[piece], end = starts[piece + 1];
    long a = 0, b = 0;
    for (INDEX k = begin; k < end; k++) {{
      long v = data[k];
      a += v;
      b += v * (end - k);
    }}
    sums[piece] = (unsigned)((b + end - begin) % 65521) << 16 | (unsigned)((a + 1) % 65521);
  }}
}}
""",
)

WORDS_HEAD = """words_found(const unsigned char *__restrict__ text, const short *__restrict__ table,
                    const short *__restrict__ weights,
                 int longest, int size, int *__restrict__ found, int n)"""
WORDS = each(
    WORDS_HEAD,
    """
    INDEX begin = i * size, end = MIN(begin + size, (INDEX)n);
    int state = 0, total = 0;
    for (INDEX k = MAX((INDEX)0, begin - longest + 1); k < begin; k++)
      state = table[state * 32 + (text[k] & 31)];
    for (INDEX k = begin; k < end; k++) {
      state = table[state * 32 + (text[k] & 31)];
      total += weights[state];
    }
    found[i] = total;
""",
    extent="(n + size - 1) / size",
)

KERNELS = [
    Kernel(
        "moves on a board of bits", board_moves, "uint64[::1], uint64[::1], uint64[::1], uint8[::1]",
        256, moves_problem,
        gpu=20_000_003, host=500_009, test=1003, kind="streaming", **MOVES,
    ),
    Kernel(
        "sudokus", sudoku_solved, "uint8[:,::1], uint8[:,::1], int32[::1]", 64, sudoku_problem,
        gpu=50_021, host=2003, test=31, kind="irregular", **SUDOKU,
    ),
    Kernel(
        "distinct keys", distinct_registers, "int64[::1], int32[::1]", 256, registers_problem,
        gpu=50_000_017, host=500_009, test=3001, kind="shared", **REGISTERS,
    ),
    Kernel(
        "names alike", names_alike, "uint8[:,::1], uint8[:,::1], int32[:,::1], float32, float32[::1]",
        128, names_problem,
        gpu=1_000_003, host=50_021, test=503, kind="irregular", **NAMES,
    ),
    Kernel(
        "Adler-32 of pieces", adler_sums, "uint8[::1], int32[::1], uint32[::1]", 256, adler_problem,
        gpu=100_003, host=2003, test=11, kind="streaming", **ADLER,
    ),
    Kernel(
        "words found at once", words_found, "uint8[::1], int16[:,::1], int16[::1], pyint, pyint, int32[::1]", 128,
        words_problem,
        gpu=30_000_001, host=1_000_003, test=5003, kind="irregular", **WORDS,
    ),
]  # fmt: skip
