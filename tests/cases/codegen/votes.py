# sig: int32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    t = cuda.threadIdx.x
    n = cuda.syncthreads_count(a[t] > 0)
    if cuda.syncthreads_or(n == t):
        cuda.threadfence()
    a[t] = cuda.syncthreads_and(t < 5)
