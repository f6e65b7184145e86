# sig: float32[::1], int16[::1], pyfloat
import operator

import numpy as np
from pyptx import cuda


@cuda.jit
def kernel(f, h, w):
    f[0] = np.hypot(f[1], w) + np.maximum(f[2], h[0])
    f[3] = np.sqrt(h[1]) + np.exp(f[4]) + np.logaddexp(w, f[5])
    h[2] = np.bitwise_xor(h[3], 5) + np.left_shift(h[4], np.int8(2)) + operator.floordiv(h[5], 3)
    h[6] = np.isnan(f[6]) and np.logical_not(h[7])
    f[7] = np.float64(f[8]) * w + np.uint8(h[8])
