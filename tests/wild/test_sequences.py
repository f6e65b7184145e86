"""Time warping, alignments and losses of sequences: dynamic programs whose diagonals run in parallel.

Tolerances: a cell is a sum of at most len(x) + len(y) terms, each rounded once, so float64 results differ by at most that many units of
rounding of the largest partial sum: RTOL below is 64 such units for the sizes here. Logarithms of sums add a few ulp a cell.
"""

import math

import numpy as np
import pytest
from pyptx import cuda

RTOL = 1e-12
INF = math.inf


def test_dynamic_time_warping(jit):
    @jit
    def warp(x, y, cost, n, m):
        i = cuda.threadIdx.x
        for diagonal in range(n + m - 1):
            j = diagonal - i
            if i < n and 0 <= j < m:
                d = (x[i] - y[j]) ** 2
                if i == 0 and j == 0:
                    best = 0.0
                elif i == 0:
                    best = cost[i, j - 1]
                elif j == 0:
                    best = cost[i - 1, j]
                else:
                    best = min(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
                cost[i, j] = d + best
            cuda.syncthreads()

    rng = np.random.default_rng(1)
    for n, m in ((1, 1), (7, 13), (33, 20)):
        x, y, cost = rng.normal(size=n), rng.normal(size=m), np.zeros((n, m))
        warp[1, 64](x, y, cost, n, m)
        right = np.full((n + 1, m + 1), INF)
        right[0, 0] = 0
        for i in range(n):
            for j in range(m):
                right[i + 1, j + 1] = (x[i] - y[j]) ** 2 + min(right[i, j], right[i, j + 1], right[i + 1, j])
        np.testing.assert_allclose(cost, right[1:, 1:], rtol=RTOL)


def test_soft_time_warping(jit):
    @jit
    def soft(d, gamma, bandwidth, r):
        b, i = cuda.blockIdx.x, cuda.threadIdx.x
        n, m = d.shape[1], d.shape[2]
        inverse = 1.0 / gamma
        for p in range(2 * max(n, m) - 1):
            j = max(0, min(p - i, m - 1))
            if i + j == p and (i < n and j < m):
                if not (abs(i - j) > bandwidth > 0):
                    r0 = -r[b, i, j] * inverse
                    r1 = -r[b, i, j + 1] * inverse
                    r2 = -r[b, i + 1, j] * inverse
                    top = max(max(r0, r1), r2)
                    s = math.exp(r0 - top) + math.exp(r1 - top) + math.exp(r2 - top)
                    r[b, i + 1, j + 1] = d[b, i, j] - gamma * (math.log(s) + top)
            cuda.syncthreads()

    rng = np.random.default_rng(2)
    d = rng.random((3, 9, 11))
    gamma, n, m = 0.5, 9, 11
    r = np.full((3, n + 2, m + 2), INF)
    r[:, 0, 0] = 0
    right = r.copy()
    soft[3, 16](d, gamma, 0.0, r)
    for b in range(3):
        for i in range(n):
            for j in range(m):
                before = -np.array([right[b, i, j], right[b, i, j + 1], right[b, i + 1, j]]) / gamma
                top = before.max()
                right[b, i + 1, j + 1] = d[b, i, j] - gamma * (np.log(np.exp(before - top).sum()) + top)
    np.testing.assert_allclose(r, right, rtol=RTOL)


def test_edit_distance(jit):
    @jit
    def distance(words, lengths, others, other_lengths, out):
        k = cuda.grid(1)
        if k >= lengths.size:
            return
        row = cuda.local.array(33, np.int32)
        n, m = lengths[k], other_lengths[k]
        for j in range(m + 1):
            row[j] = j
        for i in range(n):
            corner = row[0]
            row[0] = i + 1
            for j in range(m):
                above = row[j + 1]
                same = words[k, i] == others[k, j]
                row[j + 1] = min(min(above, row[j]) + 1, corner + (0 if same else 1))
                corner = above
        out[k] = row[m]

    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, (50, 32), dtype=np.uint8), rng.integers(0, 4, (50, 32), dtype=np.uint8)
    n, m, out = rng.integers(0, 33, 50), rng.integers(0, 33, 50), np.zeros(50, np.int32)
    distance[2, 32](a, n, b, m, out)
    for k in range(50):
        row = list(range(m[k] + 1))
        for i in range(n[k]):
            corner, row[0] = row[0], i + 1
            for j in range(m[k]):
                corner, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, corner + (a[k, i] != b[k, j]))
        assert out[k] == row[-1]


def log_add(a, b):
    if a == -INF:
        return b
    if b == -INF:
        return a
    if a > b:
        return a + math.log1p(math.exp(b - a))
    return b + math.log1p(math.exp(a - b))


def test_transducer_forward(jit):
    add = jit(device=True)(log_add)

    @jit
    def forward(log_probs, labels, alpha, log_p, blank):
        b, u = cuda.blockIdx.x, cuda.threadIdx.x
        t_max, u_max = alpha.shape[1], alpha.shape[2]
        if u == 0:
            alpha[b, 0, 0] = 0
        cuda.syncthreads()
        for n in range(1, t_max + u_max - 1):
            t = n - u
            if u < u_max and 0 <= t < t_max:
                if t > 0:
                    no_emit = alpha[b, t - 1, u] + log_probs[b, t - 1, u, blank]
                if u > 0:
                    emit = alpha[b, t, u - 1] + log_probs[b, t, u - 1, labels[b, u - 1]]
                if t == 0:
                    alpha[b, t, u] = emit
                elif u == 0:
                    alpha[b, t, u] = no_emit
                else:
                    alpha[b, t, u] = add(no_emit, emit)
            cuda.syncthreads()
        if u == u_max - 1:
            log_p[b] = alpha[b, t_max - 1, u] + log_probs[b, t_max - 1, u, blank]

    rng = np.random.default_rng(4)
    batch, t_max, u_max, symbols = 3, 6, 5, 8
    log_probs = np.log(rng.dirichlet(np.ones(symbols), (batch, t_max, u_max)))
    labels = rng.integers(1, symbols, (batch, u_max - 1))
    alpha, log_p = np.zeros((batch, t_max, u_max)), np.zeros(batch)
    forward[batch, 32](log_probs, labels, alpha, log_p, 0)
    for b in range(batch):
        right = np.full((t_max, u_max), -INF)
        right[0, 0] = 0
        for t in range(t_max):
            for u in range(u_max):
                if t:
                    right[t, u] = np.logaddexp(right[t, u], right[t - 1, u] + log_probs[b, t - 1, u, 0])
                if u:
                    right[t, u] = np.logaddexp(right[t, u], right[t, u - 1] + log_probs[b, t, u - 1, labels[b, u - 1]])
        np.testing.assert_allclose(alpha[b], right, rtol=RTOL)
        np.testing.assert_allclose(log_p[b], right[-1, -1] + log_probs[b, -1, -1, 0], rtol=RTOL)


def test_connectionist_temporal_forward(jit):
    add = jit(device=True)(log_add)

    @jit
    def forward(log_probs, labels, alpha, out):
        s = cuda.threadIdx.x
        states = 2 * labels.size + 1
        for t in range(log_probs.shape[0]):
            if s < states:
                label = labels[s // 2] if s % 2 else 0
                if t == 0:
                    value = log_probs[0, label] if s < 2 else -math.inf
                else:
                    value = alpha[t - 1, s]
                    if s > 0:
                        value = add(value, alpha[t - 1, s - 1])
                    if s > 1 and s % 2 and label != labels[s // 2 - 1]:
                        value = add(value, alpha[t - 1, s - 2])
                    value += log_probs[t, label]
                alpha[t, s] = value
            cuda.syncthreads()
        if s == 0:
            out[0] = add(alpha[log_probs.shape[0] - 1, states - 1], alpha[log_probs.shape[0] - 1, states - 2])

    rng = np.random.default_rng(5)
    labels = np.array([2, 2, 1, 3], np.int64)
    log_probs = np.log(rng.dirichlet(np.ones(5), 12))
    alpha, out = np.zeros((12, 9)), np.zeros(1)
    forward[1, 16](log_probs, labels, alpha, out)
    extended = np.zeros(9, int)
    extended[1::2] = labels
    right = np.full(9, -INF)
    right[:2] = log_probs[0, extended[:2]]
    for t in range(1, 12):
        before, right = right, np.full(9, -INF)
        for s in range(9):
            total = before[s]
            if s:
                total = np.logaddexp(total, before[s - 1])
            if s > 1 and extended[s] and extended[s] != extended[s - 2]:
                total = np.logaddexp(total, before[s - 2])
            right[s] = total + log_probs[t, extended[s]]
        np.testing.assert_allclose(alpha[t], right, rtol=RTOL)
    np.testing.assert_allclose(out[0], np.logaddexp(right[-1], right[-2]), rtol=RTOL)


def test_viterbi(jit):
    @jit
    def viterbi(start, step, emit, seen, score, back, path):
        s = cuda.threadIdx.x
        states = start.size
        if s < states:
            score[0, s] = start[s] + emit[s, seen[0]]
        cuda.syncthreads()
        for t in range(1, seen.size):
            if s < states:
                best, where = -math.inf, 0
                for k in range(states):
                    here = score[t - 1, k] + step[k, s]
                    if here > best:
                        best, where = here, k
                score[t, s] = best + emit[s, seen[t]]
                back[t, s] = where
            cuda.syncthreads()
        if s == 0:
            last = 0
            for k in range(1, states):
                if score[seen.size - 1, k] > score[seen.size - 1, last]:
                    last = k
            for t in range(seen.size - 1, -1, -1):
                path[t] = last
                if t > 0:
                    last = back[t, last]

    rng = np.random.default_rng(6)
    start, step, emit = (np.log(rng.dirichlet(np.ones(n), rows).reshape(shape)) for n, rows, shape in ((4, 1, 4), (4, 4, (4, 4)), (6, 4, (4, 6))))
    seen, score = rng.integers(0, 6, 30), np.zeros((30, 4))
    back, path = np.zeros((30, 4), np.int32), np.zeros(30, np.int32)
    viterbi[1, 32](start, step, emit, seen, score, back, path)
    right, links = start + emit[:, seen[0]], []
    for t in range(1, 30):
        options = right[:, None] + step
        links.append(options.argmax(0))
        right = options.max(0) + emit[:, seen[t]]
    best = [right.argmax()]
    for link in reversed(links):
        best.append(link[best[-1]])
    assert path.tolist() == best[::-1]


@pytest.mark.parametrize("n", [1, 31, 200])
def test_monotonic_alignment(jit, n):
    @jit
    def align(value, path):
        b = cuda.grid(1)
        if b < value.shape[0]:
            t_x, t_y = value.shape[1], value.shape[2]
            for y in range(t_y):
                for x in range(max(0, t_x + y - t_y), min(t_x, y + 1)):
                    if x == y:
                        current = -1e9
                    else:
                        current = value[b, x, y - 1]
                    if x == 0:
                        previous = 0.0 if y == 0 else -1e9
                    else:
                        previous = value[b, x - 1, y - 1]
                    value[b, x, y] = max(current, previous) + value[b, x, y]
            index = t_x - 1
            for y in range(t_y - 1, -1, -1):
                path[b, index, y] = 1
                if index != 0 and (index == y or value[b, index, y - 1] < value[b, index - 1, y - 1]):
                    index -= 1

    rng = np.random.default_rng(n)
    value = rng.normal(size=(n, 5, 9))
    path, right, expect = np.zeros(value.shape, np.int32), value.copy(), np.zeros(value.shape, np.int32)
    align[(n + 63) // 64, 64](value, path)
    for b in range(n):
        for y in range(9):
            for x in range(max(0, 5 + y - 9), min(5, y + 1)):
                current = -1e9 if x == y else right[b, x, y - 1]
                previous = (0.0 if y == 0 else -1e9) if x == 0 else right[b, x - 1, y - 1]
                right[b, x, y] += max(current, previous)
        index = 4
        for y in range(8, -1, -1):
            expect[b, index, y] = 1
            if index and (index == y or right[b, index, y - 1] < right[b, index - 1, y - 1]):
                index -= 1
    assert (path == expect).all()
