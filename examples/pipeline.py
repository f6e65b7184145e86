"""Column sums with a producer and consumers: one thread keeps stages of shared memory full by bulk copies, the others add up what has arrived.
Needs compute capability 9.0 on a GPU; the host device checks barriers, byte counts and fences while it runs it."""

import sys

import numpy as np
from pyptx import cuda, float32

WIDTH, STAGES, ROWS = 128, 4, 8  # columns of a block, tiles under way, rows of a tile
TILE_BYTES = ROWS * WIDTH * 4


@cuda.jit
def column_sums(x: cuda.Array, out: cuda.Array) -> None:
    """x: tiles of ROWS rows, one after the other. Block b adds up tiles b, b + gridDim.x, …"""
    tiles = cuda.shared.array((STAGES, ROWS, WIDTH), float32)
    full = cuda.shared.array(STAGES, cuda.mbarrier)  # the stage's bytes have come
    empty = cuda.shared.array(STAGES, cuda.mbarrier)  # all consumers have read it
    t = cuda.threadIdx.x
    if t == 0:
        for stage in range(STAGES):
            cuda.mbarrier_init(full, stage, 1)
            cuda.mbarrier_init(empty, stage, WIDTH)
        cuda.fence_mbarrier_init()
    cuda.syncthreads()

    stage, parity = 0, 0
    if t < WIDTH:
        total = float32(0)
        for _ in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
            cuda.mbarrier_wait_parity(full, stage, parity)
            for row in range(ROWS):
                total += tiles[stage, row, t]
            cuda.mbarrier_arrive(empty, stage)
            stage += 1
            if stage == STAGES:
                stage, parity = 0, 1 - parity
        cuda.atomic.add(out, t, total)
    elif t == WIDTH:
        for tile in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
            cuda.mbarrier_wait_parity(empty, stage, 1 - parity)  # the first round does not wait
            cuda.mbarrier_arrive_expect_tx(full, stage, TILE_BYTES)
            cuda.cp_async_bulk(tiles[stage], x[tile], full, stage)
            stage += 1
            if stage == STAGES:
                stage, parity = 0, 1 - parity


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    if on_gpu and device.compute_capability < (9, 0):
        print(f"bulk copies need compute capability 9.0, which is not that of the device: nothing is computed on {device.name}")
        return 0
    tiles, blocks = (20000, 264) if on_gpu else (200, 8)
    print(f"sums of {tiles * ROWS} rows of {WIDTH} float32 on {device.name}")

    x = np.random.default_rng(3).standard_normal((tiles, ROWS, WIDTH)).astype(np.float32)
    out = np.zeros(WIDTH, np.float32)
    column_sums[blocks, WIDTH + 32](cuda.to_device(x), out)

    # n additions of float32 err by at most n * 2**-24 of the sum of the sizes
    rows = x.reshape(-1, WIDTH).astype(np.float64)
    error = abs(out - rows.sum(0))
    bound = len(rows) * 2.0**-24 * abs(rows).sum(0)
    print(f"largest error {error.max():.2e}, bound {bound.min():.2e}")
    return 0 if (error <= bound).all() else 1


if __name__ == "__main__":
    sys.exit(main())
