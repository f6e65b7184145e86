# sig: float32[::1], float32[::1]
from pyptx import cuda, float32


@cuda.jit
def total(a, out):
    s = cuda.shared.array(128, dtype=float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k >>= 1
    if t == 0:
        cuda.atomic.add(out, 0, s[0])
