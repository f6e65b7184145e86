"""k-means: njit functions shared by the host and kernels, types as values, local and constant arrays, several processes. Checks against NumPy."""

import multiprocessing

import numpy as np
from numba import cuda, float64, int32, njit, prange, types

K = 3
CENTRES = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 8.0]])


@njit
def distance(x, y, cx, cy):
    return (x - cx) ** 2 + (y - cy) ** 2


@njit(parallel=True)
def spread(points, labels, centres):
    total = 0.0
    for i in prange(points.shape[0]):
        total += distance(points[i, 0], points[i, 1], centres[labels[i], 0], centres[labels[i], 1])
    return total


@cuda.jit
def assign(points, centres, labels):
    i = cuda.grid(1)
    if i >= points.shape[0]:
        return
    d = cuda.local.array(K, dtype=float64)
    for k in range(K):
        d[k] = distance(points[i, 0], points[i, 1], centres[k, 0], centres[k, 1])
    best = int32(0)
    for k in range(1, K):
        if d[k] < d[best]:
            best = k
    labels[i] = best


@cuda.jit
def gather(points, labels, sums, counts):
    i = cuda.grid(1)
    mine = cuda.shared.array((K, 3), dtype=types.float64)
    t = cuda.threadIdx.x
    if t < K:
        for c in range(3):
            mine[t, c] = 0
    cuda.syncthreads()
    if i < points.shape[0]:
        cuda.atomic.add(mine, (labels[i], 0), points[i, 0])
        cuda.atomic.add(mine, (labels[i], 1), points[i, 1])
        cuda.atomic.add(mine, (labels[i], 2), 1)
    cuda.syncthreads()
    if t < K:
        cuda.atomic.add(sums, (t, 0), mine[t, 0])
        cuda.atomic.add(sums, (t, 1), mine[t, 1])
        cuda.atomic.add(counts, t, mine[t, 2])


def cluster(seed, rounds=8):
    rng = np.random.default_rng(seed)
    points = np.concatenate([c + rng.normal(size=(200, 2)) for c in CENTRES])
    d_points, labels = cuda.to_device(points), cuda.device_array(len(points), np.int32)
    centres = CENTRES + 1
    blocks = (len(points) + 127) // 128
    for _ in range(rounds):
        assign[blocks, 128](d_points, centres, labels)
        sums, counts = cuda.to_device(np.zeros((K, 2))), cuda.to_device(np.zeros(K))
        gather[blocks, 128](d_points, labels, sums, counts)
        centres = sums.copy_to_host() / counts.copy_to_host()[:, None]
    found = labels.copy_to_host()
    nearest = ((points[:, None] - centres) ** 2).sum(axis=2)
    means = np.array([points[found == k].mean(axis=0) for k in range(K)])
    # Sums of n numbers below 16 in any order differ by at most n * eps of their sum.
    np.testing.assert_allclose(centres, means, atol=16 * len(points) * 2**-52)
    exact = nearest[np.arange(len(points)), found].sum()
    assert abs(spread(points, found, centres) - exact) <= len(points) * 2**-52 * exact
    return centres.round(3).tolist()


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(cluster, [1, 2]) == [cluster(1), cluster(2)]
    print("clusters: two processes and this one agree")
