"""Edges without tests: tensor maps copy tiles with their halo, and what lies outside of the array arrives as 0. One step of the heat equation with
cold edges. Needs compute capability 9.0 on a GPU."""

import sys

import numpy as np
from pyptx import cuda, float32

HEIGHT, WIDTH = 16, 32  # of a block's tile, with one row around it and 4 columns: rows of a box are multiples of 16 bytes
BOX = (HEIGHT + 2, WIDTH + 8)


@cuda.jit
def step(new: cuda.Array, old: cuda.Array, rate: float) -> None:
    boxes = cuda.tensor_map(old, BOX)
    s = cuda.shared.array(BOX, float32)
    full = cuda.shared.array(1, cuda.mbarrier)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = HEIGHT * cuda.blockIdx.y, WIDTH * cuda.blockIdx.x
    if tx == 0 and ty == 0:
        cuda.mbarrier_init(full, 0, 1)
        cuda.fence_mbarrier_init()
        cuda.mbarrier_arrive_expect_tx(full, 0, boxes.nbytes)
        cuda.cp_async_bulk_tensor(s, boxes, (row - 1, column - 4), full, 0)
    cuda.syncthreads()  # all see the barrier
    cuda.mbarrier_wait_parity(full, 0, 0)
    i, j = ty + 1, tx + 4
    around = s[i - 1, j] + s[i + 1, j] + s[i, j - 1] + s[i, j + 1]
    if row + ty < new.shape[0] and column + tx < new.shape[1]:
        new[row + ty, column + tx] = s[i, j] + rate * (around - 4 * s[i, j])


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    if on_gpu and device.compute_capability < (9, 0):
        print(f"tensor maps need compute capability 9.0, which is not that of the device: nothing is computed on {device.name}")
        return 0
    rows, columns = (5000, 6000) if on_gpu else (300, 500)
    print(f"a step of the heat equation for {rows} x {columns} float32 on {device.name}")

    old = np.random.default_rng(5).random((rows, columns), np.float32)
    new = np.zeros_like(old)
    step[(-(-columns // WIDTH), -(-rows // HEIGHT)), (WIDTH, HEIGHT)](new, old, 0.1)

    wide = np.pad(old.astype(np.float64), 1)
    around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    error = abs(new - (old + 0.1 * (around - 4 * old.astype(np.float64)))).max()
    # seven operations on numbers of at most 4, each rounded to float32
    bound = 7 * 4 * 2.0**-24
    print(f"largest error {error:.2e}, bound {bound:.2e}")
    return 0 if error <= bound else 1


if __name__ == "__main__":
    sys.exit(main())
