"""Games and graphs: falling sand, four in a row, cores, independent sets, communities."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int32, int64, uint32


def sand_step(cells, offset, seed, out):
    """Sand that falls, in blocks of 2x2 that shift each turn: 0 is air, 1 sand, 2 stone; the edges are joined."""
    x, y = cuda.grid(2)
    rows, cols = cells.shape
    if 2 * y >= rows or 2 * x >= cols:
        return
    top = (2 * y + offset) % rows
    bottom = (top + 1) % rows
    left = (2 * x + offset) % cols
    right = (left + 1) % cols
    a, b = cells[top, left], cells[top, right]
    c, d = cells[bottom, left], cells[bottom, right]
    h = uint32(y * cols + x) * uint32(0x9E3779B1) ^ uint32(seed)
    h ^= h >> 15
    h *= uint32(0x85EBCA77)
    sticks = h >> 29 == 0
    if not sticks:
        if a == 1 and c == 0:
            a, c = c, a
        if b == 1 and d == 0:
            b, d = d, b
        if a == 1 and d == 0 and b == 0:
            a, d = d, a
        elif b == 1 and c == 0 and a == 0:
            b, c = c, b
    out[top, left] = a
    out[top, right] = b
    out[bottom, left] = c
    out[bottom, right] = d


def four_in_row(board):
    for shift in (1, 7, 6, 8):
        pairs = board & board >> shift
        if pairs & pairs >> 2 * shift:
            return True
    return False


def random_games(mine, theirs, games, seed, scores):
    """Four in a row, played at random from each position: games won less games lost by the side to move."""
    i = cuda.grid(1)
    if i >= scores.size:
        return
    state = uint32(i) * uint32(2654435761) ^ uint32(seed)
    if state == 0:
        state = uint32(1)
    score = 0
    for _ in range(games):
        us = int(mine[i])
        them = int(theirs[i])
        turn = 1
        while True:
            taken = us | them
            if taken & 0xFDFBF7EFDFBF == 0xFDFBF7EFDFBF:
                break
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            col = int(state >> 4) % 7
            while taken >> (7 * col + 5) & 1:
                col = (col + 1) % 7
            us |= taken + (1 << 7 * col) & 63 << 7 * col
            if four_in_row(us):
                score += turn
                break
            us, them = them, us
            turn = -turn
    scores[i] = score


def core_step(first, neighbours, cores, new_cores, changed):
    """The cores of a graph, step by step: the largest h such that h neighbours have at least h."""
    v = cuda.grid(1)
    if v >= cores.size:
        return
    begin, end = int(first[v]), int(first[v + 1])
    h = min(int(cores[v]), end - begin)
    while h > 0:
        count = 0
        for k in range(begin, end):
            if cores[neighbours[k]] >= h:
                count += 1
                if count == h:
                    break
        if count == h:
            break
        h -= 1
    new_cores[v] = h
    if h < cores[v]:
        cuda.atomic.max(changed, 0, 1)


def rank_of(v, seed):
    h = uint32(v) * uint32(0x9E3779B1) ^ uint32(seed)
    h ^= h >> 16
    h *= uint32(0x7FEB352D)
    return h ^ h >> 15


def independent_round(first, neighbours, states, seed, new_states):
    """A round of Luby's independent set: 0 is undecided, 1 in the set, 2 out of it."""
    v = cuda.grid(1)
    if v >= states.size:
        return
    state = states[v]
    if state != 0:
        new_states[v] = state
        return
    mine = rank_of(v, seed)
    wins = True
    for k in range(first[v], first[v + 1]):
        u = neighbours[k]
        if states[u] == 1:
            new_states[v] = 2
            return
        if states[u] == 0:
            other = rank_of(u, seed)
            if other > mine or other == mine and u > v:
                wins = False
    new_states[v] = 1 if wins else 0


def community_moves(first, neighbours, weights, communities, degrees, totals, double_weight, moves, gains):
    """Louvain: the neighbouring community that a vertex gains most by joining, and the gain; all in integers."""
    v = cuda.grid(1)
    if v >= communities.size:
        return
    begin, end = first[v], first[v + 1]
    own = communities[v]
    degree = int(degrees[v])
    inside = 0
    for k in range(begin, end):
        if communities[neighbours[k]] == own and neighbours[k] != v:
            inside += int(weights[k])
    stay = inside * double_weight - degree * (int(totals[own]) - degree)
    best = 0
    place = own
    for k in range(begin, end):
        c = communities[neighbours[k]]
        if c == own:
            continue
        link = 0
        for j in range(begin, end):
            if communities[neighbours[j]] == c:
                if j < k:
                    link = -1
                    break
                link += int(weights[j])
        if link < 0:
            continue
        gain = link * double_weight - degree * int(totals[c]) - stay
        if gain > best or gain == best and gain > 0 and c < place:
            best = gain
            place = c
    moves[v] = place
    gains[v] = best


def sand_problem(rng, n):
    rows, cols, offset, seed = 2 * n, 2 * n + 6, 1, 4711
    cells = rng.choice(np.array([0, 1, 2], np.uint8), (rows, cols), p=[0.5, 0.4, 0.1])

    def expected():
        u = np.uint32
        y, x = np.arange(n)[:, None], np.arange(cols // 2)
        top, left = (2 * y + offset) % rows, (2 * x + offset) % cols
        bottom, right = (top + 1) % rows, (left + 1) % cols
        a, b, c, d = cells[top, left], cells[top, right], cells[bottom, left], cells[bottom, right]
        h = (y * cols + x).astype(u) * u(0x9E3779B1) ^ u(seed)
        h = (h ^ h >> u(15)) * u(0x85EBCA77)
        loose = h >> u(29) != 0
        swap = loose & (a == 1) & (c == 0)
        a, c = np.where(swap, c, a), np.where(swap, a, c)
        swap = loose & (b == 1) & (d == 0)
        b, d = np.where(swap, d, b), np.where(swap, b, d)
        swap = loose & (a == 1) & (d == 0) & (b == 0)
        other = loose & ~swap & (b == 1) & (c == 0) & (a == 0)
        a, d = np.where(swap, d, a), np.where(swap, a, d)
        b, c = np.where(other, c, b), np.where(other, b, c)
        out = np.zeros_like(cells)
        out[top, left], out[top, right], out[bottom, left], out[bottom, right] = a, b, c, d
        return [(slice(None), out, 0)]

    args = (cells, offset, seed, np.full((rows, cols), 9, np.uint8))
    return Problem(args, (rows, cols), (3,), expected, threads=(cols // 2, n), bytes=2.0 * rows * cols)


def games_problem(rng, n):
    games, seed = 7, 31337
    sides, heights = np.zeros((2, n), np.int64), np.zeros((n, 7), int)
    for k in range(8):
        col = rng.integers(0, 7, n)
        sides[k % 2] |= np.int64(1) << 7 * col + heights[np.arange(n), col]
        heights[np.arange(n), col] += 1
        heights[heights == 6] = 5  # a stone may be taken twice, rarely; then there is one less
    both = sides[0] & sides[1]
    sides[1] &= ~both

    def won(board):
        return any((b := board & board >> s) & b >> 2 * s for s in (1, 7, 6, 8))

    def expected():
        at, scores = sampled(rng, n, 300), []
        full = sum(0b111111 << 7 * c for c in range(7))
        for i in at:
            state = ((int(i) * 2654435761 & 0xFFFFFFFF) ^ seed) or 1
            score = 0
            for _ in range(games):
                us, them, turn = int(sides[0, i]), int(sides[1, i]), 1
                while (us | them) & full & 0xFDFBF7EFDFBF != 0xFDFBF7EFDFBF:
                    state ^= state << 13 & 0xFFFFFFFF
                    state ^= state >> 17
                    state ^= state << 5 & 0xFFFFFFFF
                    col = (state >> 4) % 7
                    while (us | them) >> (7 * col + 5) & 1:
                        col = (col + 1) % 7
                    us |= ((us | them) + (1 << 7 * col)) & 63 << 7 * col
                    if won(us):
                        score += turn
                        break
                    us, them, turn = them, us, -turn
            scores.append(score)
        return [(at, np.array(scores), 0)]

    args = (sides[0].copy(), sides[1].copy(), games, seed, np.full(n, 99, np.int32))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=20.0 * n, flops=40.0 * 20 * games * n)


def graph(rng, n, mean):
    """(first, neighbours) of a graph whose edges go both ways, without loops; some vertices have many."""
    edges = int(n * mean / 2)
    a = (n * rng.random(edges) ** 1.5).astype(np.int64)
    b = np.clip(a + np.rint(rng.standard_normal(edges) * 50).astype(int), 0, n - 1)
    far = rng.random(edges) < 0.3
    b[far] = rng.integers(0, n, int(far.sum()))
    keys = np.sort(np.concatenate([a * n + b, b * n + a])[np.tile(a != b, 2)])
    keys = keys[np.append(True, np.diff(keys) > 0)]
    return np.searchsorted(keys // n, np.arange(n + 1)).astype(np.int32), (keys % n).astype(np.int32)


def core_problem(rng, n):
    first, neighbours = graph(rng, n, 14)
    cores = np.minimum(np.diff(first), rng.integers(3, 40, n)).astype(np.int32)

    def expected():
        at, values = sampled(rng, n, 3000), []
        for v in at:
            near = np.sort(cores[neighbours[first[v] : first[v + 1]]])[::-1]
            values.append(min(int((near >= np.arange(1, near.size + 1)).sum()), int(cores[v])))
        values = np.array(values)
        return [(at, values, 0), (slice(None), np.array([int((values < cores[at]).any())]), 0)]

    args = (first, neighbours, cores, np.full(n, -1, np.int32), np.zeros(1, np.int32))
    return Problem(args, (n,), (3, 4), expected, threads=n, bytes=12.0 * n + 8.0 * neighbours.size)


def round_problem(rng, n):
    first, neighbours = graph(rng, n, 9)
    states, seed = rng.choice(np.array([0, 1, 2], np.int8), n, p=[0.8, 0.05, 0.15]), 77

    def expected():
        u = np.uint32
        h = np.arange(n).astype(u) * u(0x9E3779B1) ^ u(seed)
        h = (h ^ h >> u(16)) * u(0x7FEB352D)
        h ^= h >> u(15)
        at, values = sampled(rng, n, 3000), []
        for v in at:
            near = neighbours[first[v] : first[v + 1]]
            open_ones = near[states[near] == 0]
            wins = not ((h[open_ones] > h[v]) | ((h[open_ones] == h[v]) & (open_ones > v))).any()
            values.append(states[v] if states[v] else 2 if (states[near] == 1).any() else int(wins))
        return [(at, np.array(values), 0)]

    args = (first, neighbours, states, seed, np.full(n, 9, np.int8))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=6.0 * n + 5.0 * neighbours.size)


def moves_problem(rng, n):
    first, neighbours = graph(rng, n, 10)
    source = np.repeat(np.arange(n), np.diff(first))
    weights = ((source + neighbours) * 7919 % 97 % 9 + 1).astype(np.uint8)  # the same both ways
    communities = np.minimum(np.arange(n) // 7 + rng.integers(0, 2, n), n - 1).astype(np.int32)
    degrees = np.bincount(source, weights, n).astype(np.int32)
    totals = np.bincount(communities, degrees, n).astype(np.int64)
    whole = int(degrees.sum())

    def expected():
        at, moves, gains = sampled(rng, n, 2000), [], []
        for v in at:
            links = {}
            for k in range(first[v], first[v + 1]):
                c = int(communities[neighbours[k]])
                links[c] = links.get(c, 0) + int(weights[k])
            own, degree = int(communities[v]), int(degrees[v])
            stay = links.pop(own, 0) * whole - degree * (int(totals[own]) - degree)
            found = [(w * whole - degree * int(totals[c]) - stay, -c) for c, w in links.items()]
            gain, place = max(found, default=(0, 0))
            moves.append(-place if gain > 0 else own)
            gains.append(max(gain, 0))
        return [(at, np.array(moves), 0), (at, np.array(gains), 0)]

    args = (first, neighbours, weights, communities, degrees, totals, whole, np.full(n, -1, np.int32), np.full(n, -1, np.int64))
    return Problem(args, (n,), (7, 8), expected, threads=n, bytes=28.0 * n + 9.0 * neighbours.size)


SAND_HEAD = """sand_step(const unsigned char *__restrict__ cells, int offset, int seed,
                 unsigned char *__restrict__ out, int rows, int cols)"""
SAND_BODY = """
    INDEX top = (2 * y + offset) % rows, bottom = (top + 1) % rows, left = (2 * x + offset) % cols, right = (left + 1) % cols;
    unsigned char a = cells[top * cols + left], b = cells[top * cols + right], c = cells[bottom * cols + left];
    unsigned char d = cells[bottom * cols + right], e;
    unsigned h = (unsigned)(y * cols + x) * 0x9e3779b1u ^ (unsigned)seed;
    h ^= h >> 15;
    h *= 0x85ebca77u;
    if (h >> 29 != 0) {
      if (a == 1 && c == 0) e = a, a = c, c = e;
      if (b == 1 && d == 0) e = b, b = d, d = e;
      if (a == 1 && d == 0 && b == 0)
        e = a, a = d, d = e;
      else if (b == 1 && c == 0 && a == 0)
        e = b, b = c, c = e;
    }
    out[top * cols + left] = a;
    out[top * cols + right] = b;
    out[bottom * cols + left] = c;
    out[bottom * cols + right] = d;
"""
SAND = indexed(
    f"""
__global__ void {SAND_HEAD} {{
  INDEX x = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, y = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (2 * y < rows && 2 * x < cols) {{{SAND_BODY}  }}
}}
""",
    f"""
void {SAND_HEAD} {{
#pragma omp parallel for
  for (INDEX y = 0; y < rows / 2; y++)
    for (INDEX x = 0; x < cols / 2; x++) {{{SAND_BODY}    }}
}}
""",
)

GAMES = each(
    """random_games(const long long *__restrict__ mine, const long long *__restrict__ theirs, int games, int seed,
                  int *__restrict__ scores, int n)""",
    """
    const long long full = 0xfdfbf7efdfbf;
    unsigned state = (unsigned)i * 2654435761u ^ (unsigned)seed;
    if (state == 0) state = 1;
    int score = 0;
    for (INDEX game = 0; game < games; game++) {
      long long us = mine[i], them = theirs[i];
      int turn = 1;
      while (1) {
        long long taken = us | them;
        if ((taken & full) == full) break;
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        int col = (state >> 4) % 7;
        while (taken >> (7 * col + 5) & 1) col = (col + 1) % 7;
        us |= (taken + (1ll << 7 * col)) & 63ll << 7 * col;
        if (four_stones(us)) {
          score += turn;
          break;
        }
        long long other = us;
        us = them;
        them = other;
        turn = -turn;
      }
    }
    scores[i] = score;
""",
    before="""
DEVICE int four_stones(long long board) {
  long long b = board & board >> 1, c = board & board >> 7, d = board & board >> 6, e = board & board >> 8;
  return (b & b >> 2) || (c & c >> 14) || (d & d >> 12) || (e & e >> 16);
}
""",
)

CORES_SIDES = each(
    """core_step(const int *__restrict__ first, const int *__restrict__ neighbours, const int *__restrict__ cores,
               int *__restrict__ new_cores, int *__restrict__ changed, int n)""",
    """
    INDEX begin = first[i], end = first[i + 1];
    int h = cores[i] < end - begin ? cores[i] : end - begin;
    for (; h > 0; h--) {
      int count = 0;
      for (INDEX k = begin; k < end && count < h; k++)
        if (cores[neighbours[k]] >= h) count++;
      if (count == h) break;
    }
    new_cores[i] = h;
    if (h < cores[i]) CHANGED
""",
)
CORES = {
    k: text.replace("CHANGED", '{ _Pragma("omp atomic write") *changed = 1; }' if k == "openmp" else "atomicMax(changed, 1);")
    for k, text in CORES_SIDES.items()
}  # fmt: skip

ROUND = each(
    """independent_round(const int *__restrict__ first, const int *__restrict__ neighbours,
                       const signed char *__restrict__ states, int seed, signed char *__restrict__ new_states, int n)""",
    """
    int state = states[i];
    if (state == 0) {
      unsigned mine = vertex_rank(i, seed);
      state = 1;
      for (INDEX k = first[i]; k < first[i + 1]; k++) {
        int u = neighbours[k];
        if (states[u] == 1) {
          state = 2;
          break;
        }
        if (states[u] == 0) {
          unsigned other = vertex_rank(u, seed);
          if (other > mine || (other == mine && u > i)) state = 0;
        }
      }
    }
    new_states[i] = state;
""",
    before="""
DEVICE unsigned vertex_rank(unsigned v, unsigned seed) {
  unsigned h = v * 0x9e3779b1u ^ seed;
  h ^= h >> 16;
  h *= 0x7feb352du;
  return h ^ h >> 15;
}
""",
)

MOVES = each(
    """community_moves(const int *__restrict__ first, const int *__restrict__ neighbours,
                     const unsigned char *__restrict__ weights, const int *__restrict__ communities,
                     const int *__restrict__ degrees, const long long *__restrict__ totals, int double_weight,
                     int *__restrict__ moves, long long *__restrict__ gains, int n)""",
    """
    INDEX begin = first[i], end = first[i + 1];
    int own = communities[i], place = own;
    long long degree = degrees[i], inside = 0, best = 0;
    for (INDEX k = begin; k < end; k++)
      if (communities[neighbours[k]] == own && neighbours[k] != i) inside += weights[k];
    long long stay = inside * double_weight - degree * (totals[own] - degree);
    for (INDEX k = begin; k < end; k++) {
      int c = communities[neighbours[k]];
      if (c == own) continue;
      long long link = 0;
      for (INDEX j = begin; j < end; j++)
        if (communities[neighbours[j]] == c) {
          if (j < k) {
            link = -1;
            break;
          }
          link += weights[j];
        }
      if (link < 0) continue;
      long long gain = link * double_weight - degree * totals[c] - stay;
      if (gain > best || (gain == best && gain > 0 && c < place)) {
        best = gain;
        place = c;
      }
    }
    moves[i] = place;
    gains[i] = best;
""",
)

KERNELS = [
    Kernel(
        "falling sand", sand_step, "uint8[:,::1], pyint, pyint, uint8[:,::1]", (32, 8), sand_problem, gpu=3001, host=201,
        test=31, power=2, kind="stencil", **SAND,
    ),
    Kernel(
        "random games of four in a row", random_games, "int64[::1], int64[::1], pyint, pyint, int32[::1]", 128,
        games_problem, gpu=100_003, host=2003, test=103, kind="irregular", **GAMES,
    ),
    Kernel(
        "cores of a graph", core_step, "int32[::1], int32[::1], int32[::1], int32[::1], int32[::1]", 128, core_problem,
        gpu=1_000_003, host=10_007, test=503, kind="irregular", **CORES,
    ),
    Kernel(
        "round of an independent set", independent_round, "int32[::1], int32[::1], int8[::1], pyint, int8[::1]", 128,
        round_problem, gpu=2_000_003, host=10_007, test=503, kind="irregular", **ROUND,
    ),
    Kernel(
        "moves between communities", community_moves,
        "int32[::1], int32[::1], uint8[::1], int32[::1], int32[::1], int64[::1], pyint, int32[::1], int64[::1]", 128,
        moves_problem, gpu=500_009, host=10_007, test=503, kind="irregular", **MOVES,
    ),
]  # fmt: skip
