# kernel: kernel
# sig: Body(at: Point(x: float32, n: pyint), data: float32[::1]), float32[::1]
"""Named tuples as arguments, made in kernels, passed to and from functions: their leaves are all that is left."""
from collections import namedtuple

from pyptx import cuda

Point = namedtuple("Point", "x n", defaults=[1])


def moved(p, by):
    return p._replace(x=p.x + by)


@cuda.jit
def kernel(body, out):
    p = moved(body.at, body.data[0])
    x, n = Point(p.x)
    out[p.n] = x * n
