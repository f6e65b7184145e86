# kernel: kernel
# sig: float32[::1], int32
from pyptx import cuda


@cuda.jit(device=True)
def clamp(x, low=0, high=1.0):
    if x < low:
        return low
    return high if x > high else x


def both(x, y):
    return x + y, x - y


@cuda.jit
def kernel(a, n):
    s, d = both(a[0], a[1])
    a[2] = clamp(s, high=2.5)
    a[3] = clamp(d * n)
