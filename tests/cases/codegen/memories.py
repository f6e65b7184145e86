# sig: float32[::1]
import numpy as np

from pyptx import cuda

TABLE = np.array([1, 2, 3, 4], np.float32)


@cuda.jit
def kernel(a):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(64, np.float32)
    more = cuda.shared.array(0, np.float32)
    mine = cuda.local.array(8, np.float32)
    table = cuda.const.array_like(TABLE)
    for i in range(8):
        mine[(i + t) % 8] = a[i]
    tile[t] = mine[t % 8] + table[t % 4]
    more[t] = a[t]
    cuda.syncthreads()
    a[t] = tile[63 - t] + more[63 - t]
