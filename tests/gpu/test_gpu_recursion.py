"""The lanes of a warp run together again behind a recursive function, whatever their depths: results beside CPython's and cuda.activemask(), over many
launches. (Code that calls itself loses this on NVIDIA's hardware: codegen/flatten/README.md.)"""

import numpy as np
import pytest
from pyptx import cuda

LAUNCHES = 200


def step(n, x):
    if n <= 0:
        return (x * 7) % 63 + 1
    below = step(n - 1, x if x < n else n)
    return below // 3 + below % 5 if below > 1 else 1 - below


def pick(n, x):
    """A loop that calls may leave out, two functions that call each other."""
    total = x
    for k in range(n):
        if (k + x) % 2:
            total += other(n - 1 - k, total % 5)
    return total % 1009


def other(n, x):
    return x if n <= 0 else pick(n - 1, x + 1) * 3 + pick(n - 2, x)


def kernel(depth, out, masks, n):
    i = cuda.threadIdx.x
    d = depth[i]
    r = 5
    if d >= 0:
        r = step(d, i + n)
        masks[1, i] = cuda.activemask()
        r = r * 3 + step(r & 3, i)
        r += pick(d, i % 4)
    else:
        for j in range(n - d):
            r = (r * r + j % 7) % 65521
        masks[1, i] = cuda.activemask()
    masks[0, i] = cuda.activemask()
    out[i] = r


def python(depth, n):
    out = []
    for i, d in enumerate(depth.tolist()):
        r = 5
        if d >= 0:
            r = step(d, i + n)
            r = r * 3 + step(r & 3, i) + pick(d, i % 4)
        else:
            for j in range(n - d):
                r = (r * r + j % 7) % 65521
        out.append(r)
    return out


def depths(rng, s):
    d = rng.integers(-8, 8, 32)
    if s % 2:
        d = np.where(d < 0, d, d & 3)
    return np.where(d < 0, -d - 1, d) if s % 4 == 3 else d


@pytest.mark.parametrize("opt", [0, 3])
def test_warps_stay_together(opt):
    rng = np.random.default_rng(2)
    launch = cuda.jit(opt=opt)(kernel)[1, 32]
    for s in range(LAUNCHES):
        depth, out, masks = depths(rng, s), np.zeros(32, np.int64), np.zeros((2, 32), np.uint32)
        launch(depth, out, masks, 3)
        cuda.synchronize()
        assert out.tolist() == python(depth, 3), s
        assert (masks[0] == 0xFFFFFFFF).all(), (s, masks)
        inside = int(sum(1 << i for i in range(32) if depth[i] >= 0))
        assert (masks[1] == np.where(depth >= 0, inside, ~inside & 0xFFFFFFFF)).all(), (s, masks)


@pytest.mark.parametrize("opt", [0, 3])
def test_operations_of_a_warp_inside(opt):
    """All lanes come to them together, some by way of deeper calls than others."""

    def meet(n, v):
        if n == 0:
            return v
        below = meet(n - 1, v + n)
        return below + cuda.shfl_xor_sync(0xFFFFFFFF, below, n)

    def several(n, own, v):
        if n < 0:
            return several(n + 1, own, v * 2) + 1 if n < -own else v
        if n == 0:
            return v
        below = several(-4, own, v) + several(n - 1, own, v + n)
        return below + cuda.shfl_xor_sync(0xFFFFFFFF, below, n)

    def kernel(own, x, y):
        i = cuda.threadIdx.x
        x[i] = meet(4, x[i])
        y[i] = several(4, own[i], y[i])

    def meet_all(n, v):
        if n == 0:
            return v
        below = meet_all(n - 1, v + n)
        return below + below[np.arange(32) ^ n]

    def down(n, own, v):
        return down(n + 1, own, v * 2) + 1 if n < -own else v

    def several_all(n, own, v):
        if n == 0:
            return v
        below = np.array([down(-4, int(o), int(w)) for o, w in zip(own, v)]) + several_all(n - 1, own, v + n)
        return below + below[np.arange(32) ^ n]

    rng = np.random.default_rng(3)
    launch = cuda.jit(opt=opt)(kernel)[1, 32]
    for _ in range(50):
        own, x, y = rng.integers(0, 5, 32), rng.integers(0, 100, 32), rng.integers(0, 100, 32)
        want_x, want_y = meet_all(4, x), several_all(4, own, y)
        launch(own, x, y)
        cuda.synchronize()
        assert x.tolist() == want_x.tolist() and y.tolist() == want_y.tolist()
