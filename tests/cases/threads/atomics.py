# sig: int32[::1], uint64[::1], float64[::1], float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(i, u, d, f):
    t = cuda.grid(1)
    old = cuda.atomic.add(i, 0, t)
    cuda.atomic.max(i, 1, old)
    cuda.atomic.and_(u, 0, 255)
    cuda.atomic.exch(u, 1, 3)
    cuda.atomic.add(d, 0, 1.5)
    cuda.atomic.min(f, 0, -1)
    cuda.atomic.cas(i, 2, 0, 7)
