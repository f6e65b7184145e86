# sig: float32[:, ::1], uint8[::1], float64[:, :]
import numpy as np
from pyptx import cuda

TINY = np.finfo(np.float32).tiny


@cuda.jit
def kernel(a, raw, b):
    i = cuda.grid(1)
    bits = a.view(np.int32)
    words = raw.view(np.uint32)
    a.flat[i] = max(a[0, i], TINY)
    bits[1, i] = bits[0, i] >> 23
    words[i] += np.iinfo(raw.dtype).max
    b.view(np.int64)[i, 0] = b.T.view(np.uint64)[1, i] & ((1 << 64) - 1)
