# sig: float32[::1]
import math

from pyptx import cuda




def twice(f, x, *rest, scale=1):
    for r in rest:
        x += r
    return f(f(x)) * scale


def adder(k):
    def outer(m):
        return lambda v: v + k + m

    return outer(2)


plus = adder(40)


@cuda.jit
def kernel(a):
    a[0] = twice(plus, a[1])
    a[2] = twice(math.floor, a[3], 1, 2, scale=3)
    a[4] = twice(lambda v: v * a[5], a[6], *(1, 2))
