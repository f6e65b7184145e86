"""Strings and tables: patterns of SQL's LIKE, routes by longest prefix, groups of TPC-H's first query."""

import re

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int64


def like_match(pattern, text, starts, found):
    """Which strings a pattern of LIKE matches: % stands for any characters, _ for one."""
    i = cuda.grid(1)
    if i >= found.size:
        return
    s = int(starts[i])
    end = int(starts[i + 1])
    p = 0
    star = -1
    mark = 0
    while s < end:
        if p < pattern.size and pattern[p] == ord("%"):
            star = p
            mark = s
            p += 1
        elif p < pattern.size and (pattern[p] == ord("_") or pattern[p] == text[s]):
            p += 1
            s += 1
        elif star >= 0:
            mark += 1
            s = mark
            p = star + 1
        else:
            break
    matched = s >= end
    while p < pattern.size and pattern[p] == ord("%"):
        p += 1
    found[i] = matched and p == pattern.size


def route_lookup(addresses, children, routes, default, hops):
    """The route of an address: that of the longest prefix in a trie, which has two children a node, or none (-1)."""
    start = cuda.grid(1)
    step = cuda.gridsize(1)
    for i in range(start, addresses.size, step):
        address = addresses[i]
        node = 0
        best = default
        bit = 31
        while node >= 0:
            if routes[node] >= 0:
                best = routes[node]
            if bit < 0:
                break
            node = children[node, (address >> bit) & 1]
            bit -= 1
        hops[i] = best


def q1_groups(flags, states, dates, quantities, prices, discounts, taxes, last, totals):
    """TPC-H's first query: per flag (A, N, R) and state (F, O) five sums, in cents and shares of them, and a count."""
    sums = cuda.shared.array((6, 6), int64)
    t = cuda.threadIdx.x
    if t < 36:
        sums[t // 6, t % 6] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), dates.size, cuda.gridsize(1)):
        if dates[i] <= last:
            flag = flags[i]
            group = 0
            if flag == ord("N"):
                group = 2
            elif flag == ord("R"):
                group = 4
            if states[i] == ord("O"):
                group += 1
            price = int64(prices[i])
            reduced = price * (100 - int64(discounts[i]))
            cuda.atomic.add(sums, (group, 0), int64(quantities[i]))
            cuda.atomic.add(sums, (group, 1), price)
            cuda.atomic.add(sums, (group, 2), reduced)
            cuda.atomic.add(sums, (group, 3), reduced * (100 + int64(taxes[i])))
            cuda.atomic.add(sums, (group, 4), int64(discounts[i]))
            cuda.atomic.add(sums, (group, 5), int64(1))
    cuda.syncthreads()
    if t < 36:
        cuda.atomic.add(totals, (t // 6, t % 6), sums[t // 6, t % 6])


def like_problem(rng, n):
    pattern = np.frombuffer(b"%an_ac%ba%", np.uint8).copy()
    lengths = rng.integers(0, 120, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    text = rng.choice(np.frombuffer(b"aaabbcnn", np.uint8), starts[-1])

    def expected():
        at, wanted = sampled(rng, n, 5000), re.compile(rb"(?s).*an.ac.*ba.*")
        found = [wanted.fullmatch(text[starts[k] : starts[k + 1]].tobytes()) is not None for k in at]
        return [(at, np.array(found), 0)]

    args = (pattern, text, starts, np.zeros(n, np.bool_))
    return Problem(args, (pattern.size, n), (3,), expected, threads=n, bytes=text.size + 5.0 * n)


def trie_of(prefixes, lengths):
    """children[nodes, 2] and the number of the prefix that ends at a node, or -1."""
    children, routes = [[-1, -1]], [-1]
    for k, (prefix, length) in enumerate(zip(prefixes.tolist(), lengths.tolist())):
        node = 0
        for bit in range(31, 31 - length, -1):
            side = prefix >> bit & 1
            if children[node][side] < 0:
                children[node][side] = len(routes)
                children.append([-1, -1])
                routes.append(-1)
            node = children[node][side]
        routes[node] = k
    return np.array(children, np.int32), np.array(routes, np.int32)


def route_problem(rng, n):
    shares = {8: 0.02, 12: 0.03, 16: 0.15, 20: 0.1, 22: 0.2, 24: 0.4, 28: 0.05, 32: 0.05}
    lengths = np.sort(rng.choice(list(shares), 6000, p=list(shares.values())))
    bases = rng.integers(0, 1 << 32, 300)  # prefixes crowd
    prefixes = bases[rng.integers(0, 300, lengths.size)] ^ rng.integers(0, 1 << 20, lengths.size)
    masks = (0xFFFFFFFF << (32 - lengths)) & 0xFFFFFFFF
    prefixes &= masks
    children, routes = trie_of(prefixes, lengths)
    near = prefixes[rng.integers(0, lengths.size, n)] | rng.integers(0, 1 << 12, n)
    addresses = np.where(rng.random(n) < 0.8, near, rng.integers(0, 1 << 32, n)).astype(np.uint32)

    def expected():
        best = np.full(n, 999_999, np.int32)
        for length in np.unique(lengths):
            of = {int(p): k for k, p in enumerate(prefixes) if lengths[k] == length}
            keys = np.sort(np.array(list(of)))
            values = np.array([of[int(p)] for p in keys])
            masked = addresses.astype(np.int64) & int(masks[lengths == length][0])
            at = np.minimum(np.searchsorted(keys, masked), keys.size - 1)
            best = np.where(keys[at] == masked, values[at], best)
        return [(slice(None), best.astype(np.int32), 0)]

    args = (addresses, children, routes, np.int32(999_999), np.zeros(n, np.int32))
    return Problem(args, (n,), (4,), expected, grid=min(2112, -(-n // 256)), bytes=8.0 * n)


def query_problem(rng, n):
    flags = rng.choice(np.frombuffer(b"ANNR", np.uint8), n)
    states = rng.choice(np.frombuffer(b"FO", np.uint8), n)
    dates, quantities = rng.integers(8000, 10600, n, np.int32), rng.integers(1, 51, n, np.int32)
    prices = rng.integers(90_000, 10_500_000, n, np.int32)
    discounts, taxes, last = rng.integers(0, 11, n, np.uint8), rng.integers(0, 9, n, np.uint8), 10_471

    def expected():
        group = 2 * np.searchsorted(np.frombuffer(b"ANR", np.uint8), flags) + (states == ord("O"))
        price, rebate, tax = (v.astype(np.int64) for v in (prices, discounts, taxes))
        reduced = price * (100 - rebate)
        columns = (quantities, price, reduced, reduced * (100 + tax), rebate, np.ones(n, np.int64))
        totals = np.zeros((6, 6), np.int64)
        for k, column in enumerate(columns):
            np.add.at(totals[:, k], group[dates <= last], column[dates <= last])
        return [(slice(None), totals, 0)]

    args = (flags, states, dates, quantities, prices, discounts, taxes, last, np.zeros((6, 6), np.int64))
    return Problem(args, (n,), (8,), expected, grid=min(528, -(-n // 256)), bytes=16.0 * n)


LIKE = each(
    """like_match(const unsigned char *__restrict__ pattern, const unsigned char *__restrict__ text,
               const int *__restrict__ starts, unsigned char *__restrict__ found, int size, int n)""",
    """
    INDEX s = starts[i], end = starts[i + 1], p = 0, star = -1, mark = 0;
    while (s < end) {
      if (p < size && pattern[p] == '%') {
        star = p;
        mark = s;
        p++;
      } else if (p < size && (pattern[p] == '_' || pattern[p] == text[s])) {
        p++;
        s++;
      } else if (star >= 0) {
        mark++;
        s = mark;
        p = star + 1;
      } else {
        break;
      }
    }
    int matched = s >= end;
    while (p < size && pattern[p] == '%')
      p++;
    found[i] = matched && p == size;
""",
)

ROUTE_HEAD = """route_lookup(const unsigned *__restrict__ addresses, const int *__restrict__ children,
                  const int *__restrict__ routes, int none, int *__restrict__ hops, int n)"""
ROUTE_BODY = """
    unsigned address = addresses[i];
    int node = 0, best = none, bit = 31;
    while (node >= 0) {
      if (routes[node] >= 0) best = routes[node];
      if (bit < 0) break;
      node = children[2 * (INDEX)node + ((address >> bit) & 1)];
      bit--;
    }
    hops[i] = best;
"""
ROUTE = indexed(
    f"""
__global__ void {ROUTE_HEAD} {{
  INDEX step = gridDim.x * (INDEX)blockDim.x;
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += step) {{{ROUTE_BODY}  }}
}}
""",
    f"""
void {ROUTE_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{ROUTE_BODY}  }}
}}
""",
)

QUERY_HEAD = """q1_groups(const unsigned char *__restrict__ flags, const unsigned char *__restrict__ states,
               const int *__restrict__ dates, const int *__restrict__ quantities, const int *__restrict__ prices,
               const unsigned char *__restrict__ discounts, const unsigned char *__restrict__ taxes, int last,
               SUM *__restrict__ totals, int n)"""
QUERY_BODY = """
    if (dates[i] <= last) {
      int group = flags[i] == 'N' ? 2 : flags[i] == 'R' ? 4 : 0;
      if (states[i] == 'O') group++;
      long long price = prices[i], reduced = price * (100 - discounts[i]);
      ADD(0, quantities[i]);
      ADD(1, price);
      ADD(2, reduced);
      ADD(3, (reduced * (100 + taxes[i])));
      ADD(4, discounts[i]);
      ADD(5, 1);
    }
"""
ADDED = r"ADD\((\d), (.*)\);"
IN_SHARED = re.sub(ADDED, r"atomicAdd(&sums[group][\1], (unsigned long long)\2);", QUERY_BODY)
IN_LOOPS = re.sub(ADDED, r"sums[6 * group + \1] += \2;", QUERY_BODY)
QUERY = indexed(
    f"""
__global__ void {QUERY_HEAD.replace("SUM", "unsigned long long")} {{
  __shared__ unsigned long long sums[6][6];
  INDEX t = threadIdx.x, step = gridDim.x * (INDEX)blockDim.x;
  if (t < 36) sums[t / 6][t % 6] = 0;
  __syncthreads();
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += step) {{
{IN_SHARED}
  }}
  __syncthreads();
  if (t < 36) atomicAdd(&totals[t], sums[t / 6][t % 6]);
}}
""",
    f"""
void {QUERY_HEAD.replace("SUM", "long long")} {{
  long long sums[36] = {{0}};
#pragma omp parallel for reduction(+ : sums)
  for (INDEX i = 0; i < n; i++) {{
{IN_LOOPS}
  }}
  for (int k = 0; k < 36; k++)
    totals[k] += sums[k];
}}
""",
)

KERNELS = [
    Kernel(
        "strings that are LIKE", like_match, "uint8[::1], uint8[::1], int32[::1], bool[::1]", 128, like_problem,
        gpu=500_009, host=20_011, test=403, kind="irregular", **LIKE,
    ),
    Kernel(
        "routes of addresses", route_lookup, "uint32[::1], int32[:,::1], int32[::1], int32, int32[::1]", 256,
        route_problem,
        gpu=5_000_011, host=100_003, test=1003, kind="irregular", **ROUTE,
    ),
    Kernel(
        "groups of a query", q1_groups,
        "uint8[::1], uint8[::1], int32[::1], int32[::1], int32[::1], uint8[::1], uint8[::1], pyint, int64[:,::1]", 256,
        query_problem,
        gpu=1_000_003, host=300_007, test=1003, kind="shared", **QUERY,
    ),
]  # fmt: skip
