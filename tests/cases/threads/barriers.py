# sig: int32[::1], bool
from pyptx import cuda


@cuda.jit
def kernel(out, flag):
    i = cuda.grid(1)
    out[i] = cuda.syncthreads_count(flag)
    cuda.threadfence_block()
    out[i] += cuda.syncthreads_and(out[i] > 1)
    cuda.threadfence()
    out[i] -= cuda.syncthreads_or(i == 3)
    cuda.threadfence_system()
    cuda.nanosleep(100)
    cuda.syncthreads()
