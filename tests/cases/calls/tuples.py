# sig: float32[::1], (float32[::1], (int32, pyfloat)), int64[:]
from pyptx import cuda


def swap(pair):
    a, b = pair
    return b, a


@cuda.jit
def kernel(out, t, s):
    array, (n, scale) = t
    scale, n = swap((n, scale))
    first, *rest = (n, 1, 2)
    out[0] = array[1] * n + sum(rest) + rest[-1] + len(t) + (3, 4, 5)[::-1][0]
    out[1] = (scale, 2) < (3, first) and s[-1] in (1, 2, 3)
