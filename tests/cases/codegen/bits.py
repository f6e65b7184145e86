# sig: uint32[::1], uint64[::1], float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a, b, f):
    a[0] = cuda.popc(a[1]) + cuda.clz(a[2]) + cuda.ffs(a[3])
    a[4] = cuda.brev(a[5])
    b[0] = cuda.popc(b[1]) + cuda.clz(b[2])
    b[4] = cuda.brev(b[5])
    f[0] = cuda.selp(a[0] > 3, f[1], f[2])
    f[3] = cuda.fma(f[4], f[5], f[6])
