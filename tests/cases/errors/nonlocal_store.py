# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    count = 0

    def add():
        nonlocal count
        count += 1

    add()
    a[0] = count
