# sig: float64[::1]
import numpy as np
from pyptx import cuda, float32, int32

TABLE = np.arange(6, dtype=np.float32).reshape(2, 3)


@cuda.jit
def kernel(out):
    dynamic = cuda.shared.array(0, float32)
    counts = cuda.shared.array(0, dtype=int32)[8:]
    tile = cuda.shared.array((4, 8), dtype=float32, alignment=32)
    table = cuda.const.array_like(TABLE)
    mine = cuda.local.array(16, float32)
    i = cuda.threadIdx.x
    dynamic[i] = table[i % 2, i % 3]
    counts[i] = i
    tile[i // 8, i % 8] = 0
    mine[i % 16] = 1
    cuda.syncthreads()
    out[i] = dynamic[7 - i] + counts[7 - i] + tile[0, i] + mine[3] + TABLE[1, i % 3]
