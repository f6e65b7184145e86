# sig: float32[::1], int32[::1]
from pyptx import cuda


@cuda.jit(typing="numba")
def kernel(f, i):
    k = cuda.grid(1)
    f[k] = f[k] * 0.5 + i[k]
    i[k] = i[k] * i[k] + cuda.threadIdx.x
    f[0] = f[1] ** 2 + i[1] / 2
