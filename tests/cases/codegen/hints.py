# sig: float32[::1], complex128[::1], bool[::1]
from pyptx import cuda


@cuda.jit
def kernel(x, c, b):
    i = cuda.threadIdx.x
    cuda.stwt(x, i, cuda.ldcg(x, i + 1))
    cuda.stcs(c, i, cuda.ldlu(c, i + 1))
    if cuda.ldcv(b, i):
        cuda.stwb(b, i, False)
