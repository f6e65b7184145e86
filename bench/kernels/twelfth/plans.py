"""Plans: workers for jobs, knapsacks, tours of ants, moves of 2048."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int32, uint32, uint64

FAR = 1 << 30


def assigned_costs(costs, totals):
    """The cheapest assignment of jobs to workers (Kuhn and Munkres): workers come one by one, each along a shortest path of exchanges."""
    i = cuda.grid(1)
    if i >= totals.size:
        return
    size = costs.shape[0]
    of_worker = cuda.local.array(17, int32)
    of_job = cuda.local.array(17, int32)
    worker = cuda.local.array(17, int32)  # who has a job; job 0 is the start of a path
    least = cuda.local.array(17, int32)
    before = cuda.local.array(17, int32)
    for j in range(size + 1):
        of_worker[j] = 0
        of_job[j] = 0
        worker[j] = 0
    for w in range(1, size + 1):
        worker[0] = w
        job = 0
        seen = 0
        for j in range(size + 1):
            least[j] = FAR
        while True:
            seen |= 1 << job
            row = worker[job]
            step, nearest = FAR, 0
            for j in range(1, size + 1):
                if seen >> j & 1:
                    continue
                cost = int(costs[row - 1, j - 1, i]) - of_worker[row] - of_job[j]
                if cost < least[j]:
                    least[j] = cost
                    before[j] = job
                if least[j] < step:
                    step, nearest = least[j], j
            for j in range(size + 1):
                if seen >> j & 1:
                    of_worker[worker[j]] += step
                    of_job[j] -= step
                else:
                    least[j] -= step
            job = nearest
            if worker[job] == 0:
                break
        while job != 0:
            worker[job] = worker[before[job]]
            job = before[job]
    totals[i] = -of_job[0]


def knapsack_values(weights, values, capacity, best):
    """The most that fits into a knapsack, each item once: a block a knapsack, a table of all capacities after each item."""
    row = cuda.blockIdx.x
    table = cuda.shared.array((2, 1024), int32)
    for c in range(cuda.threadIdx.x, capacity + 1, cuda.blockDim.x):
        table[0, c] = 0
    cuda.syncthreads()
    now = 0
    for k in range(weights.shape[1]):
        weight = int(weights[row, k])
        for c in range(cuda.threadIdx.x, capacity + 1, cuda.blockDim.x):
            value = table[now, c]
            if c >= weight:
                value = max(value, table[now, c - weight] + values[row, k])
            table[1 - now, c] = value
        now = 1 - now
        cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        best[row] = table[now, capacity]


def ant_tours(attractions, distances, seed, tours, lengths):
    """Tours of ants: the next city by lot, by its attraction from here, among those not yet visited."""
    i = cuda.grid(1)
    if i >= lengths.size:
        return
    cities = distances.shape[0]
    state = uint32(i + 1) * uint32(2654435761) ^ uint32(seed)
    start = here = i % cities
    visited = uint64(1) << uint64(here)
    tours[0, i] = here
    length = 0
    for step in range(1, cities):
        total = 0
        for c in range(cities):
            if visited >> uint64(c) & 1 == 0:
                total += int(attractions[here, c])
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        lot = int(state) % total
        city = 0
        for c in range(cities):
            if visited >> uint64(c) & 1:
                continue
            lot -= int(attractions[here, c])
            if lot < 0:
                city = c
                break
        length += distances[here, city]
        here = city
        visited |= uint64(1) << uint64(here)
        tours[step, i] = here
    lengths[i] = length + distances[here, start]


def turned_board(x):
    """Rows of a board of 16 nibbles as columns."""
    a = x & 0xF0F00F0FF0F00F0F | (x & 0x0000F0F00000F0F0) << 12 | (x & 0x0F0F00000F0F0000) >> 12
    return a & 0xFF00FF0000FF00FF | (a & 0x00FF00FF00000000) >> 24 | (a & 0x00000000FF00FF00) << 24


def slid_rows(board, table):
    slid = uint64(0)
    gain = 0
    for r in range(4):
        entry = table[board >> 16 * r & 0xFFFF]
        slid |= uint64(entry & 0xFFFF) << 16 * r
        gain += int(entry >> 16)
    return slid, gain


def best_slides(boards, lefts, rights, moves, after):
    """2048: of four moves the one after which gain and free places are worth most; a table has each row slid, and its gain."""
    i = cuda.grid(1)
    if i >= boards.size:
        return
    board = boards[i]
    best, move, then = -1, 4, board
    for m in range(4):
        side = board if m < 2 else turned_board(board)
        slid, gain = slid_rows(side, lefts if m % 2 == 0 else rights)
        if slid == side:
            continue
        taken = slid | slid >> 1
        taken |= taken >> 2
        free = 16 - (taken & 0x1111111111111111).bit_count()
        if gain + 3 * free > best:
            best = gain + 3 * free
            move = m
            then = slid if m < 2 else turned_board(slid)
    moves[i] = move
    after[i] = then


def assigned_problem(rng, n):
    size = 9
    costs = rng.integers(1, 1000, (size, size, n)).astype(np.int16)

    def expected():
        at = sampled(rng, n, 1000)
        c = costs[:, :, at].astype(np.int64)
        best = np.zeros((1 << size, len(at)), np.int64)
        for jobs in range(1, 1 << size):
            w = jobs.bit_count() - 1
            best[jobs] = np.min([best[jobs ^ 1 << j] + c[w, j] for j in range(size) if jobs >> j & 1], 0)
        return [(at, best[-1], 0)]

    return Problem((costs, np.full(n, -1, np.int32)), (size, n), (1,), expected, threads=n, bytes=2.0 * size * size * n + 4.0 * n)


def knapsack_problem(rng, n):
    items, capacity = 45, 777
    weights = rng.integers(5, 120, (n, items)).astype(np.uint8)
    values = (weights * rng.uniform(0.7, 1.3, weights.shape)).astype(np.int32) + rng.integers(0, 20, weights.shape).astype(np.int32)

    def expected():
        at = sampled(rng, n, 30)
        best = []
        for row in at:
            table = np.zeros(capacity + 1, np.int64)
            for w, v in zip(weights[row].tolist(), values[row].tolist()):
                table[w:] = np.maximum(table[w:], table[:-w] + v)
            best.append(table[-1])
        return [(at, best, 0)]

    args = (weights, values, capacity, np.full(n, -1, np.int32))
    return Problem(args, (items, n), (3,), expected, grid=n, bytes=5.0 * items * n, flops=3.0 * items * capacity * n)


def ants_problem(rng, n):
    cities, seed = 47, 4711
    x, y = rng.uniform(0, 1000, (2, cities))
    distances = np.rint(np.hypot(x[:, None] - x, y[:, None] - y)).astype(np.int32)
    attractions = np.clip(rng.uniform(0.5, 2, distances.shape) * 4e6 / (distances + 50.0) ** 2, 1, 65535).astype(np.uint16)

    def expected():
        at = sampled(rng, n, 500)
        state = (at + 1).astype(np.uint32) * np.uint32(2654435761) ^ np.uint32(seed)
        here = start = at % cities
        rows = np.arange(len(at))
        free = np.ones((len(at), cities), bool)
        free[rows, here] = False
        tour, length = [here], 0
        for _ in range(1, cities):
            weights = np.cumsum(attractions[here] * free, 1, dtype=np.int64)
            state = state ^ state << np.uint32(13)
            state = state ^ state >> np.uint32(17)
            state = state ^ state << np.uint32(5)
            lot = state.astype(np.int64) % weights[:, -1]
            there = np.argmax(weights > lot[:, None], 1)
            length = length + distances[here, there]
            here = there
            free[rows, here] = False
            tour.append(here)
        return [((slice(None), at), np.stack(tour), 0), (at, length + distances[here, start], 0)]

    args = (attractions, distances, seed, np.full((cities, n), 99, np.uint8), np.full(n, -1, np.int32))
    return Problem(args, (cities, n), (3, 4), expected, threads=n, bytes=(cities + 4.0) * n, flops=5.0 * cities * cities * n)


def slide_tables():
    """For each row of four nibbles, lowest first: slid to the lowest nibble and to the highest, its gain above."""
    lefts = np.zeros(65536, np.uint32)
    backwards = np.arange(65536)
    backwards = backwards >> 12 | backwards >> 4 & 0xF0 | backwards << 4 & 0xF00 | backwards << 12 & 0xF000
    for row in range(65536):
        full = [v for k in range(4) if (v := row >> 4 * k & 15)]
        slid, gain = [], 0
        while full:
            v = full.pop(0)
            if full and full[0] == v < 15:
                full.pop(0)
                v += 1
                gain += v
            slid.append(v)
        lefts[row] = gain << 16 | sum(v << 4 * k for k, v in enumerate(slid))
    rights = np.zeros(65536, np.uint32)
    rights[backwards] = lefts & 0xFFFF0000 | backwards[lefts & 0xFFFF].astype(np.uint32)
    return lefts, rights


def slides_problem(rng, n):
    lefts, rights = slide_tables()
    cells = rng.integers(1, 12, (n, 4, 4), np.uint8) * (rng.integers(0, 10, (n, 4, 4), np.uint8) < 7)
    cells[::3] = rng.integers(1, 5, cells[::3].shape, np.uint8)

    def packed(cells):
        cells = cells.astype(np.uint8).reshape(-1, 16)
        return (cells[:, ::2] | cells[:, 1::2] << 4).view(np.uint64).ravel()

    def expected():
        at = sampled(rng, n, 20000)
        best, move, then = np.full(len(at), -1), np.full(len(at), 4), cells[at]
        for m in range(4):
            side = cells[at] if m < 2 else cells[at].transpose(0, 2, 1)
            entry = (rights if m % 2 else lefts)[(side << 4 * np.arange(4)).sum(2)].astype(np.int64)
            slid = entry[:, :, None] >> 4 * np.arange(4) & 15
            worth = (entry >> 16).sum(1) + 3 * (slid == 0).sum((1, 2))
            better = np.any(slid != side, (1, 2)) & (worth > best)
            best, move = np.where(better, worth, best), np.where(better, m, move)
            then = np.where(better[:, None, None], slid if m < 2 else slid.transpose(0, 2, 1), then)
        return [(at, move, 0), (at, packed(then), 0)]

    args = (packed(cells), lefts, rights, np.full(n, 99, np.uint8), np.full(n, 99, np.uint64))
    return Problem(args, (n,), (3, 4), expected, threads=n, bytes=17.0 * n, flops=100.0 * n)


ASSIGNED = each(
    "assigned_costs(const short *__restrict__ costs, int *__restrict__ totals, int size, int n)",
    """
    const int far = 1 << 30;
    int of_worker[17], of_job[17], worker[17], least[17], before[17];
    for (int j = 0; j <= size; j++)
      of_worker[j] = of_job[j] = worker[j] = 0;
    for (int w = 1; w <= size; w++) {
      worker[0] = w;
      int job = 0, seen = 0;
      for (int j = 0; j <= size; j++)
        least[j] = far;
      do {
        seen |= 1 << job;
        int row = worker[job], step = far, nearest = 0;
        for (int j = 1; j <= size; j++) {
          if (seen >> j & 1) continue;
          int cost = costs[((INDEX)(row - 1) * size + j - 1) * n + i] - of_worker[row] - of_job[j];
          if (cost < least[j]) {
            least[j] = cost;
            before[j] = job;
          }
          if (least[j] < step) {
            step = least[j];
            nearest = j;
          }
        }
        for (int j = 0; j <= size; j++)
          if (seen >> j & 1) {
            of_worker[worker[j]] += step;
            of_job[j] -= step;
          } else
            least[j] -= step;
        job = nearest;
      } while (worker[job] != 0);
      while (job != 0) {
        worker[job] = worker[before[job]];
        job = before[job];
      }
    }
    totals[i] = -of_job[0];
""",
)

KNAPSACK_HEAD = """knapsack_values(const unsigned char *__restrict__ weights, const int *__restrict__ values, int capacity,
                     int *__restrict__ best, int items, int n)"""
KNAPSACK = indexed(
    f"""
__global__ void {KNAPSACK_HEAD} {{
  __shared__ int table[2][1024];
  INDEX row = blockIdx.x;
  for (INDEX c = threadIdx.x; c <= capacity; c += blockDim.x)
    table[0][c] = 0;
  __syncthreads();
  int now = 0;
  for (INDEX k = 0; k < items; k++) {{
    INDEX weight = weights[row * items + k];
    for (INDEX c = threadIdx.x; c <= capacity; c += blockDim.x) {{
      int value = table[now][c];
      if (c >= weight) value = max(value, table[now][c - weight] + values[row * items + k]);
      table[1 - now][c] = value;
    }}
    now = 1 - now;
    __syncthreads();
  }}
  if (threadIdx.x == 0) best[row] = table[now][capacity];
}}
""",
    f"""
void {KNAPSACK_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++) {{
    int table[1024] = {{0}};
    for (INDEX k = 0; k < items; k++) {{
      int weight = weights[row * items + k], value = values[row * items + k];
      for (INDEX c = capacity; c >= weight; c--)
        table[c] = MAX(table[c], table[c - weight] + value);
    }}
    best[row] = table[capacity];
  }}
}}
""",
)

ANTS = each(
    """ant_tours(const unsigned short *__restrict__ attractions, const int *__restrict__ distances, int seed,
               unsigned char *__restrict__ tours, int *__restrict__ lengths, int cities, int n)""",
    """
    unsigned state = ((unsigned)i + 1) * 2654435761u ^ seed;
    INDEX start = i % cities, here = start;
    unsigned long long visited = 1ull << here;
    tours[i] = here;
    int length = 0;
    for (INDEX step = 1; step < cities; step++) {
      unsigned total = 0;
      for (INDEX c = 0; c < cities; c++)
        if (!(visited >> c & 1)) total += attractions[here * cities + c];
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      int lot = state % total;
      INDEX city = 0;
      for (INDEX c = 0; c < cities; c++) {
        if (visited >> c & 1) continue;
        lot -= attractions[here * cities + c];
        if (lot < 0) {
          city = c;
          break;
        }
      }
      length += distances[here * cities + city];
      here = city;
      visited |= 1ull << here;
      tours[step * n + i] = here;
    }
    lengths[i] = length + distances[here * cities + start];
""",
)

SLIDES = each(
    """best_slides(const unsigned long long *__restrict__ boards, const unsigned *__restrict__ lefts, const unsigned *__restrict__ rights,
                 unsigned char *__restrict__ moves, unsigned long long *__restrict__ after, int n)""",
    """
    unsigned long long board = boards[i], then = board;
    int best = -1, move = 4;
    for (int m = 0; m < 4; m++) {
      unsigned long long side = m < 2 ? board : turned_2048(board), slid = 0;
      const unsigned *table = m % 2 == 0 ? lefts : rights;
      int gain = 0;
      for (int r = 0; r < 4; r++) {
        unsigned entry = table[side >> 16 * r & 0xFFFF];
        slid |= (unsigned long long)(entry & 0xFFFF) << 16 * r;
        gain += entry >> 16;
      }
      if (slid == side) continue;
      unsigned long long taken = slid | slid >> 1;
      taken |= taken >> 2;
      int free = 16 - __popcll(taken & 0x1111111111111111ull);
      if (gain + 3 * free > best) {
        best = gain + 3 * free;
        move = m;
        then = m < 2 ? slid : turned_2048(slid);
      }
    }
    moves[i] = move;
    after[i] = then;
""",
    before="""
DEVICE unsigned long long turned_2048(unsigned long long x) {
  unsigned long long a = (x & 0xF0F00F0FF0F00F0Full) | (x & 0x0000F0F00000F0F0ull) << 12 | (x & 0x0F0F00000F0F0000ull) >> 12;
  return (a & 0xFF00FF0000FF00FFull) | (a & 0x00FF00FF00000000ull) >> 24 | (a & 0x00000000FF00FF00ull) << 24;
}
""",
)
SLIDES["openmp"] = SLIDES["openmp"].replace("__popcll", "__builtin_popcountll")

KERNELS = [
    Kernel(
        "workers for jobs", assigned_costs, "int16[:,:,::1], int32[::1]", 128, assigned_problem, gpu=50_021, host=2003, test=203,
        kind="irregular", **ASSIGNED,
    ),
    Kernel(
        "knapsacks", knapsack_values, "uint8[:,::1], int32[:,::1], pyint, int32[::1]", 256, knapsack_problem, gpu=20_011, host=211,
        test=7, kind="shared", **KNAPSACK,
    ),
    Kernel(
        "tours of ants", ant_tours, "uint16[:,::1], int32[:,::1], pyint, uint8[:,::1], int32[::1]", 64, ants_problem, gpu=50_021,
        host=1003, test=203, kind="irregular", **ANTS,
    ),
    Kernel(
        "moves of 2048", best_slides, "uint64[::1], uint32[::1], uint32[::1], uint8[::1], uint64[::1]", 256, slides_problem,
        gpu=5_000_011, host=50_021, test=1003, kind="irregular", **SLIDES,
    ),
]  # fmt: skip
