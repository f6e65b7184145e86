"""Constants in the indices of shared arrays as offsets of their accesses (codegen/nvptx/memory/shared_offsets.c)."""

import numpy as np
from harness import run
from pyptx import cuda, float64


def test_rows_of_a_tile():
    """Of whatever axis, with negative constants too."""
    def kernel(x, out):
        tile = cuda.shared.array((6, 5, 7), float64)
        t = cuda.threadIdx.x
        z, y = t // 5, t % 5
        for k in range(7):
            tile[z, y, k] = x[z, y, k]
        cuda.syncthreads()
        total = 0.0
        if 2 <= z < 4:
            for k in range(5):
                total = 0.5 * total + tile[z, k, y] - tile[z - 2, k, y + 2]
            for k in range(-2, 3):
                total = 0.5 * total + tile[z + k, y, 6] + tile[5, y, z + k]
        out[t] = total

    x = np.random.default_rng(3).integers(0, 100, (6, 5, 7)).astype(np.float64)
    run(kernel, [x, np.zeros(30)], 1, 30)
