"""Searches: queens that do not attack one another, exchanges that shorten a tour, boxes in a tree."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float32, int32

SOLUTIONS = (1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184)


def queens_counts(size, counts):
    """Placements of queens, one a row, whose first four rows are the thread's number in base `size`."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    full = (1 << size) - 1
    columns = 0
    left = 0
    right = 0
    rest = i
    for _ in range(4):
        queen = 1 << (rest % size)
        rest //= size
        if (columns | left | right) & queen:
            counts[i] = 0
            return
        columns |= queen
        left = (left | queen) << 1
        right = (right | queen) >> 1
    column_stack = cuda.local.array(20, int32)
    left_stack = cuda.local.array(20, int32)
    right_stack = cuda.local.array(20, int32)
    free_stack = cuda.local.array(20, int32)
    depth = 0
    column_stack[0] = columns
    left_stack[0] = left
    right_stack[0] = right
    free_stack[0] = full & ~(columns | left | right)
    found = 0
    while depth >= 0:
        free = free_stack[depth]
        if free == 0:
            if column_stack[depth] == full:
                found += 1
            depth -= 1
        else:
            queen = free & -free
            free_stack[depth] = free ^ queen
            columns = column_stack[depth] | queen
            left = (left_stack[depth] | queen) << 1
            right = (right_stack[depth] | queen) >> 1
            depth += 1
            column_stack[depth] = columns
            left_stack[depth] = left
            right_stack[depth] = right
            free_stack[depth] = full & ~(columns | left | right)
    counts[i] = found


def rounded_distance(x, y, a, b):
    """TSPLIB's: Euclid's, rounded to a whole number."""
    dx = x[a] - x[b]
    dy = y[a] - y[b]
    return int((dx * dx + dy * dy) ** 0.5 + 0.5)


def best_exchange(x, y, gain, partner):
    """2-opt: for each edge of a tour the later one with which to exchange ends, and how much shorter it becomes."""
    i = cuda.grid(1)
    n = x.size
    if i >= n:
        return
    best = 0
    best_j = -1
    own = rounded_distance(x, y, i, (i + 1) % n)
    for j in range(i + 2, n):
        after = (j + 1) % n
        if after == i:
            continue
        shorter = own + rounded_distance(x, y, j, after)
        shorter -= rounded_distance(x, y, i, j) + rounded_distance(x, y, (i + 1) % n, after)
        if shorter > best:
            best = shorter
            best_j = j
    gain[i] = best
    partner[i] = best_j


def overlap(low, high, node, box):
    """Whether the box of a node, of any number of coordinates, meets the four numbers of a box in the plane."""
    x0, y0, x1, y1 = box
    return low[node, 0] <= x1 and high[node, 0] >= x0 and low[node, 1] <= y1 and high[node, 1] >= y0


def boxes_met(low, high, item_low, item_high, leaf, queries, counts, first):
    """How many boxes a query meets, and the least number of one; through a complete tree with `leaf` boxes a leaf."""
    i = cuda.grid(1)
    if i >= queries.shape[0]:
        return
    q = queries[i]
    box = (q[0], q[1], q[2], q[3])
    inner = low.shape[0] // 2
    stack = cuda.local.array(40, int32)
    stack[0] = 0
    size = 1
    count = 0
    least = item_low.shape[0]
    while size > 0:
        size -= 1
        node = stack[size]
        if not overlap(low, high, node, box):
            continue
        if node >= inner:
            begin = (node - inner) * leaf
            for k in range(begin, min(begin + leaf, item_low.shape[0])):
                if overlap(item_low, item_high, k, box):
                    count += 1
                    least = min(least, k)
        else:
            stack[size] = 2 * node + 1
            stack[size + 1] = 2 * node + 2
            size += 2
    counts[i] = count
    first[i] = least


def queens_problem(rng, n):
    n = max(n, 5)
    counts = np.zeros(n**4, np.int32)

    def expected():
        return [(0, SOLUTIONS[n], 0)]

    def outcome(found):
        return (np.array([found.sum()]),)

    return Problem((n, counts), (counts.size,), (1,), expected, threads=counts.size, outcome=outcome)


def tour_problem(rng, n):
    angle, radius = np.sort(rng.uniform(0, 2 * np.pi, n)), rng.uniform(300, 1000, n)
    x, y = (np.rint(radius * f(angle)).astype(np.float32) for f in (np.cos, np.sin))

    def expected():
        at = sampled(rng, n, 300)

        def distance(a, b):  # squares are whole numbers: the root is rounded once, and the sum
            return (np.sqrt((x[a] - x[b]) ** 2 + (y[a] - y[b]) ** 2) + np.float32(0.5)).astype(np.int32)

        gains, partners = [], []
        for i in at:
            j = np.arange(i + 2, n if i else n - 1)
            j_next, i_next = (j + 1) % n, (i + 1) % n
            shorter = distance(i, i_next) + distance(j, j_next) - distance(i, j) - distance(i_next, j_next)
            best = shorter.argmax() if j.size else -1
            good = j.size and shorter[best] > 0
            gains.append(shorter[best] if good else 0)
            partners.append(j[best] if good else -1)
        return [(at, np.array(gains, np.int32), 0), (at, np.array(partners, np.int32), 0)]

    args = (x, y, np.zeros(n, np.int32), np.zeros(n, np.int32))
    return Problem(args, (n,), (2, 3), expected, threads=n, flops=7.0 * n * n)


def boxes_problem(rng, n):
    leaf, items = 5, n // 3 + 50
    centres = rng.uniform(0, 1, (items, 2))
    cells = (centres * 1024).astype(int)
    key = sum(((cells[:, a] >> b) & 1) << (2 * b + a) for a in (0, 1) for b in range(10))
    centres = centres[np.argsort(key, kind="stable")]
    sizes = rng.exponential(0.4 / np.sqrt(items), (items, 2))
    item_low, item_high = np.float32(centres - sizes), np.float32(centres + sizes)
    leaves = 1 << int(np.ceil(np.log2(-(-items // leaf))))
    low, high = np.full((2 * leaves - 1, 2), 9, np.float32), np.full((2 * leaves - 1, 2), -9, np.float32)
    groups = np.arange(0, items, leaf)
    low[leaves - 1 : leaves - 1 + groups.size] = np.minimum.reduceat(item_low, groups)
    high[leaves - 1 : leaves - 1 + groups.size] = np.maximum.reduceat(item_high, groups)
    for node in range(leaves - 2, -1, -1):
        low[node] = np.minimum(low[2 * node + 1], low[2 * node + 2])
        high[node] = np.maximum(high[2 * node + 1], high[2 * node + 2])
    middle, reach = rng.uniform(0, 1, (n, 2)), rng.exponential(0.8 / np.sqrt(items), (n, 2))
    queries = np.float32(np.hstack([middle - reach, middle + reach]))

    def expected():
        at = sampled(rng, n, 500)
        x0, y0, x1, y1 = queries[at].T[:, :, None]
        met = (item_low[:, 0] <= x1) & (item_high[:, 0] >= x0) & (item_low[:, 1] <= y1) & (item_high[:, 1] >= y0)
        first = np.where(met.any(1), met.argmax(1), items)
        return [(at, met.sum(1).astype(np.int32), 0), (at, first.astype(np.int32), 0)]

    args = (low, high, item_low, item_high, leaf, queries, np.zeros(n, np.int32), np.zeros(n, np.int32))
    return Problem(args, (n, items, leaves - 1), (6, 7), expected, threads=n)


QUEENS = each(
    "queens_counts(int size, int *__restrict__ counts, int n)",
    """
    INDEX full = (1 << size) - 1, columns = 0, left = 0, right = 0, rest = i, found = 0, depth = 0;
    int fits = 1;
    for (int k = 0; k < 4; k++) {
      INDEX queen = (INDEX)1 << (rest % size);
      rest /= size;
      if ((columns | left | right) & queen) {
        fits = 0;
        break;
      }
      columns |= queen;
      left = (left | queen) << 1;
      right = (right | queen) >> 1;
    }
    if (fits) {
      int column_stack[20], left_stack[20], right_stack[20], free_stack[20];
      column_stack[0] = columns;
      left_stack[0] = left;
      right_stack[0] = right;
      free_stack[0] = full & ~(columns | left | right);
      while (depth >= 0) {
        int free = free_stack[depth];
        if (free == 0) {
          if (column_stack[depth] == full) found++;
          depth--;
        } else {
          int queen = free & -free;
          free_stack[depth] = free ^ queen;
          int c = column_stack[depth] | queen, l = (left_stack[depth] | queen) << 1;
          int r = (right_stack[depth] | queen) >> 1;
          depth++;
          column_stack[depth] = c;
          left_stack[depth] = l;
          right_stack[depth] = r;
          free_stack[depth] = full & ~(c | l | r);
        }
      }
    }
    counts[i] = found;
""",
    schedule=" schedule(dynamic, 64)",
)

TOUR = each(
    """best_exchange(const float *__restrict__ x, const float *__restrict__ y, int *__restrict__ gain,
                  int *__restrict__ partner, int n)""",
    """
    INDEX best = 0, best_j = -1, next = (i + 1) % n, own = tour_distance(x, y, i, next);
    for (INDEX j = i + 2; j < n; j++) {
      INDEX after = (j + 1) % n;
      if (after == i) continue;
      INDEX shorter = own + tour_distance(x, y, j, after);
      shorter -= tour_distance(x, y, i, j) + tour_distance(x, y, next, after);
      if (shorter > best) {
        best = shorter;
        best_j = j;
      }
    }
    gain[i] = best;
    partner[i] = best_j;
""",
    before="""
DEVICE INDEX tour_distance(const float *x, const float *y, INDEX a, INDEX b) {
  float dx = x[a] - x[b], dy = y[a] - y[b];
  return (INDEX)(sqrtf(dx * dx + dy * dy) + 0.5f);
}
""",
    schedule=" schedule(dynamic, 64)",
)

BOXES = each(
    """boxes_met(const float *__restrict__ low, const float *__restrict__ high, const float *__restrict__ item_low,
              const float *__restrict__ item_high, int leaf, const float *__restrict__ queries,
              int *__restrict__ counts, int *__restrict__ first, int n, int items, int inner)""",
    """
    float x0 = queries[4 * i], y0 = queries[4 * i + 1], x1 = queries[4 * i + 2], y1 = queries[4 * i + 3];
    int stack[40];
    stack[0] = 0;
    INDEX size = 1, count = 0, least = items;
    while (size > 0) {
      INDEX node = stack[--size];
      if (!box_overlap(low, high, node, x0, y0, x1, y1)) continue;
      if (node >= inner) {
        INDEX begin = (node - inner) * leaf, end = MIN(begin + leaf, (INDEX)items);
        for (INDEX k = begin; k < end; k++)
          if (box_overlap(item_low, item_high, k, x0, y0, x1, y1)) {
            count++;
            least = MIN(least, k);
          }
      } else {
        stack[size++] = 2 * node + 1;
        stack[size++] = 2 * node + 2;
      }
    }
    counts[i] = count;
    first[i] = least;
""",
    before="""
DEVICE int box_overlap(const float *low, const float *high, INDEX k, float x0, float y0, float x1, float y1) {
  return low[2 * k] <= x1 && high[2 * k] >= x0 && low[2 * k + 1] <= y1 && high[2 * k + 1] >= y0;
}
""",
)

KERNELS = [
    Kernel(
        "queens", queens_counts, "pyint, int32[::1]", 64, queens_problem,
        gpu=13, host=10, test=8, power=18, kind="irregular", **QUEENS,
    ),
    Kernel(
        "exchanges of a tour", best_exchange, "float32[::1], float32[::1], int32[::1], int32[::1]", 128, tour_problem,
        gpu=10_007, host=1003, test=103, power=2, **TOUR,
    ),
    Kernel(
        "boxes in a tree", boxes_met,
        "float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], pyint, float32[:,::1], int32[::1], int32[::1]",
        128, boxes_problem,
        gpu=500_009, host=20_011, test=203, kind="irregular", **BOXES,
    ),
]  # fmt: skip
