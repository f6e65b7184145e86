# sig: uint8[::1], int16[::1], bool[::1], uint64[::1], pyint, float64[::1]
from pyptx import cuda


@cuda.jit
def kernel(u, i, b, w, n, out):
    v = n
    for k in range(3):
        if n > k:
            v = u[k]
    out[0] = v  # a uint8
    if n > 9:
        v = i[0]
    out[1] = v  # an int16, of n itself
    out[2] = n and (b[0] or w[0])  # a uint64
