# kernel: kernel
# sig: int64[::1]
from pyptx import cuda


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@cuda.jit
def kernel(a):
    a[0] = fib(a[1])
