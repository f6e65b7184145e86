# sig: float32[::1], uint32[::1], uint64[::1]
from pyptx import cuda


@cuda.jit
def kernel(f, u, w):
    f[2] = cuda.atomic.nanmin(f, 0, f[1])
    u[1] = cuda.atomic.inc(u, 0, 9)
    w[1] = cuda.atomic.dec(w, 0, 9)
