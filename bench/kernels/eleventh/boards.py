"""Boards: steps of a knight, moves of pieces, liberties of stones."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, uint64


def knight_moves(places):
    one = places >> 1 & 0x7F7F7F7F7F7F7F7F | places << 1 & 0xFEFEFEFEFEFEFEFE
    two = places >> 2 & 0x3F3F3F3F3F3F3F3F | places << 2 & 0xFCFCFCFCFCFCFCFC
    return one << 16 | one >> 16 | two << 8 | two >> 8


def knight_steps(blocked, starts, targets, steps, reached):
    """Steps that a knight needs around what is blocked, all its ways at once in the bits of a word; -1 if it cannot."""
    i = cuda.grid(1)
    if i >= steps.size:
        return
    free = ~blocked[i]
    target = uint64(1) << targets[i]
    seen = uint64(1) << starts[i]
    count = 0
    while seen & target == 0:
        grown = seen | knight_moves(seen) & free
        if grown == seen:
            count = -1
            break
        seen = grown
        count += 1
    steps[i] = count
    reached[i] = seen.bit_count()


STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
JUMPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))


def ray_moves(boards, i, row, col, directions, reach):
    """(squares that a piece may go to, how many of them it would take)"""
    moves = 0
    takes = 0
    for dr, dc in directions:
        r, c = row + dr, col + dc
        left = reach
        while left > 0 and 0 <= r < 8 and 0 <= c < 8:
            there = boards[i, r, c]
            if there > 0:
                break
            moves += 1
            if there < 0:
                takes += 1
                break
            r += dr
            c += dc
            left -= 1
    return moves, takes


def piece_mobility(boards, moves, takes):
    """Chess: moves of the side with the positive pieces, kings left in check or not; 1 is a pawn, 2 to 6 knight to king."""
    i = cuda.grid(1)
    if i >= moves.size:
        return
    total = 0
    taken = 0
    for row in range(8):
        for col in range(8):
            piece = boards[i, row, col]
            if piece <= 0:
                continue
            m = t = 0
            if piece == 1:
                if row > 0 and boards[i, row - 1, col] == 0:
                    m += 1
                    if row == 6 and boards[i, 4, col] == 0:
                        m += 1
                for side in (-1, 1):
                    if row > 0 and 0 <= col + side < 8 and boards[i, row - 1, col + side] < 0:
                        m += 1
                        t += 1
            elif piece == 2:
                m, t = ray_moves(boards, i, row, col, JUMPS, 1)
            elif piece == 3:
                m, t = ray_moves(boards, i, row, col, STEPS[4:], 7)
            elif piece == 4:
                m, t = ray_moves(boards, i, row, col, STEPS[:4], 7)
            else:
                m, t = ray_moves(boards, i, row, col, STEPS, 7 if piece == 5 else 1)
            total += m
            taken += t
    moves[i] = total
    takes[i] = taken


def stone_liberties(boards, places, sizes, liberties):
    """Go: the stones that hang together with one, and the free points beside them."""
    i = cuda.grid(1)
    if i >= sizes.size:
        return
    side = boards.shape[1]
    seen = cuda.local.array(361, np.uint8)
    stack = cuda.local.array(361, np.int16)
    for k in range(side * side):
        seen[k] = 0
    row, col = places[i]
    colour = boards[i, row, col]
    stack[0] = int(row) * side + int(col)
    seen[stack[0]] = 1
    top = 1
    stones = 0
    free = 0
    while top > 0:
        top -= 1
        r, c = divmod(int(stack[top]), side)
        stones += 1
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            nr, nc = r + dr, c + dc
            if not (0 <= nr < side and 0 <= nc < side):
                continue
            p = nr * side + nc
            if seen[p]:
                continue
            there = boards[i, nr, nc]
            if there == colour:
                seen[p] = 1
                stack[top] = p
                top += 1
            elif there == 0:
                seen[p] = 1
                free += 1
    sizes[i] = stones
    liberties[i] = free


def knight_problem(rng, n):
    words = rng.integers(0, 1 << 63, (3, n), np.uint64) << np.uint64(1)  # one square stays free
    blocked = np.where(rng.random(n) < 0.4, words[0], words[0] & words[1] & words[2])
    starts, targets = rng.integers(0, 64, n).astype(np.uint8), rng.integers(0, 64, n).astype(np.uint8)

    def expected():
        at = sampled(rng, n, 3000)
        bits = blocked[at, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1) == 1
        r, c = np.divmod(np.arange(64), 8)
        gaps = abs(r[:, None] - r), abs(c[:, None] - c)
        near = ((gaps[0] == 1) & (gaps[1] == 2) | (gaps[0] == 2) & (gaps[1] == 1)).astype(np.int64)
        k = np.arange(len(at))
        seen = np.zeros((len(at), 64), bool)
        seen[k, starts[at]] = True
        count, on = np.zeros(len(at), np.int64), ~seen[k, targets[at]]
        while on.any():
            grown = seen | (seen @ near > 0) & ~bits
            stuck = on & (grown == seen).all(1)
            count = np.where(stuck, -1, count + on)
            seen = np.where(on[:, None], grown, seen)
            on &= ~stuck & ~seen[k, targets[at]]
        return [(at, count, 0), (at, seen.sum(1), 0)]

    args = (blocked, starts, targets, np.full(n, 99, np.int8), np.full(n, 99, np.uint8))
    return Problem(args, (n,), (3, 4), expected, threads=n, bytes=12.0 * n, flops=5 * 25.0 * n)


def mobility_problem(rng, n):
    boards = np.where(rng.random((n, 8, 8)) < 0.45, rng.choice([1, 1, 1, 2, 3, 4, 5, 6], (n, 8, 8)), 0)
    boards = (boards * rng.choice([-1, 1], boards.shape)).astype(np.int8)

    def expected():
        at = sampled(rng, n, 300)
        values = np.zeros((2, len(at)), np.int64)
        for k, i in enumerate(at):
            b = np.zeros((12, 12), int) + 9  # 9 is the edge
            b[2:10, 2:10] = boards[i]
            for r, c in zip(*np.nonzero((b > 0) & (b < 9))):
                piece = b[r, c]
                if piece == 1:
                    ahead = int(b[r - 1, c] == 0) + int(b[r - 1, c] == 0 and r == 8 and b[r - 2, c] == 0)
                    hit = int(b[r - 1, c - 1] < 0) + int(b[r - 1, c + 1] < 0)
                    values[:, k] += ahead + hit, hit
                    continue
                for d in {2: JUMPS, 3: STEPS[4:], 4: STEPS[:4]}.get(piece, STEPS):
                    for far in range(1, 2 if piece in (2, 6) else 8):
                        there = b[r + far * d[0], c + far * d[1]]
                        if there > 0:
                            break
                        values[:, k] += 1, there < 0
                        if there < 0:
                            break
        return [(at, values[0], 0), (at, values[1], 0)]

    args = (boards, np.full(n, -1, np.int16), np.full(n, 255, np.uint8))
    return Problem(args, (n,), (1, 2), expected, threads=n, bytes=67.0 * n, flops=900.0 * n)


def stones_problem(rng, n):
    side = 19
    smooth = rng.random((n, side, side)) + np.roll(rng.random((n, side, side)), 1, 1)
    boards = np.select([smooth < 0.75, smooth < 1.25], [1, -1], 0).astype(np.int8)
    places = rng.integers(0, side, (n, 2)).astype(np.uint8)
    boards[np.arange(n), places[:, 0], places[:, 1]] = 1

    def expected():
        at = sampled(rng, n, 500)

        def grown(x):
            y = x.copy()
            y[:, 1:] |= x[:, :-1]
            y[:, :-1] |= x[:, 1:]
            y[:, :, 1:] |= x[:, :, :-1]
            y[:, :, :-1] |= x[:, :, 1:]
            return y

        b = boards[at]
        group = np.zeros(b.shape, bool)
        group[np.arange(len(at)), places[at, 0], places[at, 1]] = True
        while True:
            more = grown(group) & (b == 1)
            if (more == group).all():
                break
            group = more
        return [(at, group.sum((1, 2)), 0), (at, (grown(group) & (b == 0)).sum((1, 2)), 0)]

    args = (boards, places, np.full(n, -1, np.int16), np.full(n, -1, np.int16))
    return Problem(args, (n, side), (2, 3), expected, threads=n, bytes=367.0 * n)


KNIGHT = each(
    """knight_steps(const unsigned long long *__restrict__ blocked, const unsigned char *__restrict__ starts,
                  const unsigned char *__restrict__ targets, signed char *__restrict__ steps, unsigned char *__restrict__ reached,
                  int n)""",
    """
    unsigned long long unblocked = ~blocked[i], target = 1ull << targets[i], seen = 1ull << starts[i];
    INDEX count = 0;
    while (!(seen & target)) {
      unsigned long long grown = seen | (knight_moves_of(seen) & unblocked);
      if (grown == seen) {
        count = -1;
        break;
      }
      seen = grown;
      count++;
    }
    steps[i] = count;
    reached[i] = BITS(seen);
""",
    before="""
DEVICE unsigned long long knight_moves_of(unsigned long long b) {
  unsigned long long one = (b >> 1 & 0x7F7F7F7F7F7F7F7Full) | (b << 1 & 0xFEFEFEFEFEFEFEFEull);
  unsigned long long two = (b >> 2 & 0x3F3F3F3F3F3F3F3Full) | (b << 2 & 0xFCFCFCFCFCFCFCFCull);
  return one << 16 | one >> 16 | two << 8 | two >> 8;
}
""",
)
KNIGHT = {k: text.replace("BITS(", "__builtin_popcountll(" if k == "openmp" else "__popcll(") for k, text in KNIGHT.items()}

MOBILITY = each(
    "piece_mobility(const signed char *__restrict__ boards, short *__restrict__ moves, unsigned char *__restrict__ takes, int n)",
    """
    const int steps[8][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    const int jumps[8][2] = {{1, 2}, {2, 1}, {-1, 2}, {-2, 1}, {1, -2}, {2, -1}, {-1, -2}, {-2, -1}};
    const signed char *board = boards + 64 * i;
    int total = 0, taken = 0;
    for (int row = 0; row < 8; row++)
      for (int col = 0; col < 8; col++) {
        int piece = board[8 * row + col];
        if (piece <= 0) continue;
        if (piece == 1) {
          if (row == 0) continue;
          if (board[8 * row - 8 + col] == 0) {
            total++;
            if (row == 6 && board[32 + col] == 0) total++;
          }
          for (int side = -1; side <= 1; side += 2)
            if (col + side >= 0 && col + side < 8 && board[8 * row - 8 + col + side] < 0) {
              total++;
              taken++;
            }
        } else if (piece == 2)
          ray_moves_of(board, row, col, jumps, 8, 1, &total, &taken);
        else if (piece == 3)
          ray_moves_of(board, row, col, steps + 4, 4, 7, &total, &taken);
        else
          ray_moves_of(board, row, col, steps, piece == 4 ? 4 : 8, piece == 6 ? 1 : 7, &total, &taken);
      }
    moves[i] = total;
    takes[i] = taken;
""",
    before="""
DEVICE void ray_moves_of(const signed char *board, int row, int col, const int (*directions)[2], int count, int reach,
                         int *total, int *taken) {
  for (int d = 0; d < count; d++) {
    int r = row + directions[d][0], c = col + directions[d][1];
    for (int left = reach; left > 0 && r >= 0 && r < 8 && c >= 0 && c < 8; left--) {
      int there = board[8 * r + c];
      if (there > 0) break;
      ++*total;
      if (there < 0) {
        ++*taken;
        break;
      }
      r += directions[d][0];
      c += directions[d][1];
    }
  }
}
""",
)

STONES = each(
    """stone_liberties(const signed char *__restrict__ boards, const unsigned char *__restrict__ places, short *__restrict__ sizes,
                     short *__restrict__ liberties, int n, int side)""",
    """
    unsigned char seen[361];
    short stack[361];
    const signed char *board = boards + i * side * side;
    for (int k = 0; k < side * side; k++)
      seen[k] = 0;
    int place = places[2 * i] * side + places[2 * i + 1], colour = board[place], top = 1, stones = 0, unused = 0;
    stack[0] = place;
    seen[place] = 1;
    while (top > 0) {
      int at = stack[--top], r = at / side, c = at % side;
      const int steps[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
      stones++;
      for (int d = 0; d < 4; d++) {
        int nr = r + steps[d][0], nc = c + steps[d][1], p = nr * side + nc;
        if (nr < 0 || nr >= side || nc < 0 || nc >= side || seen[p]) continue;
        if (board[p] == colour) {
          seen[p] = 1;
          stack[top++] = p;
        } else if (board[p] == 0) {
          seen[p] = 1;
          unused++;
        }
      }
    }
    sizes[i] = stones;
    liberties[i] = unused;
""",
)

KERNELS = [
    Kernel(
        "steps of a knight", knight_steps, "uint64[::1], uint8[::1], uint8[::1], int8[::1], uint8[::1]", 128, knight_problem,
        gpu=5_000_011, host=100_003, test=1003, kind="irregular", **KNIGHT,
    ),
    Kernel(
        "moves of pieces", piece_mobility, "int8[:,:,::1], int16[::1], uint8[::1]", 64, mobility_problem, gpu=500_009,
        host=5003, test=203, kind="irregular", **MOBILITY,
    ),
    Kernel(
        "liberties of stones", stone_liberties, "int8[:,:,::1], uint8[:,::1], int16[::1], int16[::1]", 64, stones_problem,
        gpu=100_003, host=3001, test=203, kind="irregular", **STONES,
    ),
]  # fmt: skip
