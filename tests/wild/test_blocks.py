"""What blocks and warps do together: sorts, scans, reductions, sparse rows, graphs, clusters, transforms."""

import cmath
import math

import numpy as np
import pytest
from pyptx import cuda

EPS = 2.0**-52


def test_bitonic_sort(jit):
    N = 256

    @jit
    def sort(x):
        tile = cuda.shared.array(N, np.float32)
        t, base = cuda.threadIdx.x, cuda.blockIdx.x * N
        tile[t] = x[base + t]
        cuda.syncthreads()
        k = 2
        while k <= N:
            j = k // 2
            while j > 0:
                other = t ^ j
                if other > t:
                    ascending = (t & k) == 0
                    if (tile[t] > tile[other]) == ascending:
                        tile[t], tile[other] = tile[other], tile[t]
                cuda.syncthreads()
                j //= 2
            k *= 2
        x[base + t] = tile[t]

    x = np.random.default_rng(1).normal(size=4 * N).astype(np.float32)
    right = np.sort(x.reshape(4, N), axis=1)
    sort[4, N](x)
    assert (x.reshape(4, N) == right).all()


@pytest.mark.parametrize("n", [1, 100, 1000])
def test_scan_and_compaction(jit, n):
    @jit
    def scan(flags, places, sums):
        tile = cuda.shared.array(128, np.int32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        tile[t] = flags[i] if i < flags.size else 0
        cuda.syncthreads()
        step = 1
        while step < 128:
            if t >= step:
                add = tile[t - step]
            cuda.syncthreads()
            if t >= step:
                tile[t] += add
            cuda.syncthreads()
            step *= 2
        if i < flags.size:
            places[i] = tile[t]
        if t == 127:
            sums[cuda.blockIdx.x] = tile[t]

    @jit
    def scatter(x, flags, places, sums, out):
        i = cuda.grid(1)
        if i < x.size and flags[i]:
            before = 0
            for b in range(cuda.blockIdx.x):
                before += sums[b]
            out[before + places[i] - 1] = x[i]

    x = np.random.default_rng(n).normal(size=n)
    flags, blocks = (x > 0).astype(np.int32), (n + 127) // 128
    places, sums, out = np.zeros(n, np.int32), np.zeros(blocks, np.int32), np.zeros(int(flags.sum()) + 1)
    scan[blocks, 128](flags, places, sums)
    scatter[blocks, 128](x, flags, places, sums, out)
    assert (out[:-1] == x[x > 0]).all() and out[-1] == 0


def test_sums_by_shuffles(jit):
    """Sums of whole numbers in float64: exact in any order."""

    @jit
    def total(x, out):
        s = 0.0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            s += x[i]
        offset = 16
        while offset > 0:
            s += cuda.shfl_down_sync(0xFFFFFFFF, s, offset)
            offset //= 2
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, s)

    x, out = np.random.default_rng(2).integers(-1000, 1000, 5000).astype(float), np.zeros(1)
    total[7, 96](x, out)
    assert out[0] == x.sum()


def test_places_by_ballots(jit):
    @jit
    def places(x, out, counts):
        i = cuda.grid(1)
        keep = i < x.size and x[i] % 3 == 0
        votes = cuda.ballot_sync(0xFFFFFFFF, keep)
        lane = cuda.laneid
        if i < x.size:
            out[i] = cuda.popc(votes & ((1 << lane) - 1)) if keep else -1
        if lane == 0:
            counts[i // 32] = cuda.popc(votes)

    x = np.random.default_rng(3).integers(0, 100, 300)
    out, counts = np.zeros(300, np.int32), np.zeros(12, np.int32)
    places[3, 128](x, out, counts)
    for w in range(10):
        keep = x[32 * w : 32 * w + 32] % 3 == 0
        assert (out[32 * w : 32 * w + 32] == np.where(keep, np.cumsum(keep) - keep, -1)).all() and counts[w] == keep.sum()


def test_sparse_rows_times_vectors(jit):
    """At most 20 products a row: rtol 40 * EPS of the sum of magnitudes."""

    @jit
    def multiply(start, columns, values, x, y):
        row = cuda.grid(1)
        if row < y.size:
            s = 0.0
            for k in range(start[row], start[row + 1]):
                s += values[k] * x[columns[k]]
            y[row] = s

    rng = np.random.default_rng(4)
    lengths = rng.integers(0, 20, 101)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns, values, x, y = rng.integers(0, 50, start[-1]).astype(np.int32), rng.normal(size=start[-1]), rng.normal(size=50), np.zeros(101)
    multiply[4, 32](start, columns, values, x, y)
    for r in range(101):
        terms = values[start[r] : start[r + 1]] * x[columns[start[r] : start[r + 1]]]
        assert abs(y[r] - terms.sum()) <= 40 * EPS * np.abs(terms).sum()


@pytest.mark.unchecked("level[v] is read plainly beside another thread's cas: a race by the rules, if a harmless one")
def test_levels_of_a_graph(jit):
    @jit
    def step(start, edges, level, depth, changed):
        v = cuda.grid(1)
        if v < level.size and level[v] == depth:
            for k in range(start[v], start[v + 1]):
                w = edges[k]
                if cuda.atomic.cas(level, w, -1, depth + 1) == -1:
                    changed[0] = 1

    rng = np.random.default_rng(5)
    n = 120
    links = [rng.integers(0, n, rng.integers(0, 4)) for _ in range(n)]
    start, edges = np.cumsum([0, *map(len, links)]), np.concatenate(links)
    level, changed, depth = cuda.to_device(np.where(np.arange(n) == 0, 0, -1)), np.ones(1, np.int32), 0
    while changed[0]:
        changed[0] = 0
        step[2, 64](start, edges, level, depth, changed)
        depth += 1
    right, front, d = np.full(n, -1), {0}, 0
    while front:
        for v in front:
            right[v] = d
        front, d = {w for v in front for w in links[v] if right[w] < 0}, d + 1
    assert (level.copy_to_host() == right).all() and (right >= 0).sum() > 20


def test_means_of_clusters(jit):
    """Coordinates are whole numbers, so sums and the nearest centre are exact."""
    K = 4

    @jit
    def assign(points, centres, labels, sums, counts):
        local = cuda.shared.array((K, 3), np.float64)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        if t < K * 3:
            local[t // 3, t % 3] = 0
        cuda.syncthreads()
        if i < points.shape[0]:
            for c in range(K):
                d = 0.0
                for k in range(2):
                    d += (points[i, k] - centres[c, k]) ** 2
                if c == 0 or d < least:
                    least = d
                    label = c
            labels[i] = label
            for k in range(2):
                cuda.atomic.add(local, (label, k), points[i, k])
            cuda.atomic.add(local, (label, 2), 1)
        cuda.syncthreads()
        if t < K * 3:
            if t % 3 < 2:
                cuda.atomic.add(sums, (t // 3, t % 3), local[t // 3, t % 3])
            else:
                cuda.atomic.add(counts, t // 3, local[t // 3, 2])

    rng = np.random.default_rng(6)
    points, centres = rng.integers(-50, 50, (500, 2)).astype(float), rng.integers(-40, 40, (K, 2)).astype(float)
    labels, sums, counts = np.zeros(500, np.int32), np.zeros((K, 2)), np.zeros(K)
    assign[4, 128](points, centres, labels, sums, counts)
    right = ((points[:, None] - centres[None]) ** 2).sum(2).argmin(1)
    assert (labels == right).all() and (counts == np.bincount(right, minlength=K)).all()
    for c in range(K):
        assert (sums[c] == points[right == c].sum(0)).all()


def test_fourier_transform_in_a_block(jit):
    """log2(64) levels of complex sums of magnitude up to 64: atol 64 * 6 * 4 * EPS."""
    N = 64

    @jit
    def transform(x, out):
        tile = cuda.shared.array(N, np.complex128)
        t, row = cuda.threadIdx.x, cuda.blockIdx.x
        for k in range(t, N, cuda.blockDim.x):
            r = 0
            for bit in range(6):
                r = (r << 1) | ((k >> bit) & 1)
            tile[r] = x[row, k]
        cuda.syncthreads()
        half = 1
        while half < N:
            where = (t // half) * 2 * half + t % half
            w = cmath.exp(-1j * math.pi * (t % half) / half)
            a, b = tile[where], w * tile[where + half]
            cuda.syncthreads()
            tile[where] = a + b
            tile[where + half] = a - b
            cuda.syncthreads()
            half *= 2
        for k in range(t, N, cuda.blockDim.x):
            out[row, k] = tile[k]

    rng = np.random.default_rng(7)
    x = rng.normal(size=(5, N)) + 1j * rng.normal(size=(5, N))
    out = np.zeros_like(x)
    transform[5, N // 2](x, out)
    np.testing.assert_allclose(out, np.fft.fft(x, axis=1), rtol=0, atol=64 * 6 * 4 * EPS)


def test_options_by_a_tree(jit):
    """200 levels of one product and one sum each, all terms of one sign: rtol 800 * EPS."""
    STEPS = 200

    @jit
    def price(spot, strike, years, rate, volatility, out):
        tree = cuda.shared.array(STEPS + 1, np.float64)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        dt = years[b] / STEPS
        up = math.exp(volatility[b] * math.sqrt(dt))
        p = (math.exp(rate * dt) - 1 / up) / (up - 1 / up)
        discount = math.exp(-rate * dt)
        if t <= STEPS:
            tree[t] = max(strike[b] - spot[b] * up ** (2 * t - STEPS), 0.0)
        cuda.syncthreads()
        for level in range(STEPS - 1, -1, -1):
            if t <= level:
                value = discount * (p * tree[t + 1] + (1 - p) * tree[t])
            cuda.syncthreads()
            if t <= level:
                tree[t] = value
            cuda.syncthreads()
        if t == 0:
            out[b] = tree[0]

    rng = np.random.default_rng(8)
    spot, strike, years, volatility, out = rng.uniform(80, 120, 6), rng.uniform(80, 120, 6), rng.uniform(0.5, 2, 6), rng.uniform(0.1, 0.4, 6), np.zeros(6)
    price[6, 224](spot, strike, years, 0.03, volatility, out)
    for b in range(6):
        dt = years[b] / STEPS
        up = np.exp(volatility[b] * np.sqrt(dt))
        p, discount = (np.exp(0.03 * dt) - 1 / up) / (up - 1 / up), np.exp(-0.03 * dt)
        tree = np.maximum(strike[b] - spot[b] * up ** (2 * np.arange(STEPS + 1) - STEPS), 0)
        for _ in range(STEPS):
            tree = discount * (p * tree[1:] + (1 - p) * tree[:-1])
        np.testing.assert_allclose(out[b], tree[0], rtol=800 * EPS, atol=1e-11)


def test_softmax_of_masked_rows(jit):
    """At most 70 terms of one sign, each an exponential within 2 ulp: rtol 300 * EPS."""

    @jit
    def softmax(x, lengths, out):
        row, t = cuda.blockIdx.x, cuda.threadIdx.x
        part = cuda.shared.array(64, np.float64)
        n = lengths[row]
        top = -math.inf
        for k in range(t, n, 64):
            top = max(top, x[row, k])
        part[t] = top
        cuda.syncthreads()
        step = 32
        while step:
            if t < step:
                part[t] = max(part[t], part[t + step])
            cuda.syncthreads()
            step >>= 1
        top = part[0]
        cuda.syncthreads()
        s = 0.0
        for k in range(t, n, 64):
            s += math.exp(x[row, k] - top)
        part[t] = s
        cuda.syncthreads()
        step = 32
        while step:
            if t < step:
                part[t] += part[t + step]
            cuda.syncthreads()
            step >>= 1
        for k in range(t, x.shape[1], 64):
            out[row, k] = math.exp(x[row, k] - top) / part[0] if k < n else 0.0

    rng = np.random.default_rng(9)
    x, lengths = rng.normal(size=(9, 70)), rng.integers(1, 71, 9)
    out = np.ones_like(x)
    softmax[9, 64](x, lengths, out)
    for r in range(9):
        e = np.exp(x[r, : lengths[r]] - x[r, : lengths[r]].max())
        np.testing.assert_allclose(out[r, : lengths[r]], e / e.sum(), rtol=300 * EPS)
        assert (out[r, lengths[r] :] == 0).all()


def test_products_by_tiles(jit):
    """50 products a cell: 100 * EPS of the product of magnitudes."""
    TILE = 8

    @jit
    def multiply(a, b, c):
        left = cuda.shared.array((TILE, TILE), np.float64)
        right = cuda.shared.array((TILE, TILE), np.float64)
        y, x = cuda.grid(2)
        ty, tx = cuda.threadIdx.x, cuda.threadIdx.y
        s = 0.0
        for k in range((a.shape[1] + TILE - 1) // TILE):
            left[ty, tx] = a[y, k * TILE + tx] if y < a.shape[0] and k * TILE + tx < a.shape[1] else 0.0
            right[ty, tx] = b[k * TILE + ty, x] if x < b.shape[1] and k * TILE + ty < b.shape[0] else 0.0
            cuda.syncthreads()
            for j in range(TILE):
                s += left[ty, j] * right[j, tx]
            cuda.syncthreads()
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = s

    rng = np.random.default_rng(10)
    a, b, c = rng.normal(size=(21, 50)), rng.normal(size=(50, 13)), np.zeros((21, 13))
    multiply[(3, 2), (TILE, TILE)](a, b, c)
    assert (np.abs(c - a @ b) <= 100 * EPS * (np.abs(a) @ np.abs(b))).all()
