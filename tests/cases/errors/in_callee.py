# kernel: kernel
# sig: float32[::1]
from pyptx import cuda


def helper(x, y):
    return x @ y


@cuda.jit
def kernel(a):
    a[0] = helper(a[1], a[2])
