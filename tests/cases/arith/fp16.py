# sig: float16[::1]
from pyptx import cuda


@cuda.jit
def kernel(h):
    h[0] = cuda.fp16.hadd(h[1], h[2])
    h[3] = cuda.fp16.hfma(h[4], h[5], h[6])
    h[7] = cuda.fp16.hmax(h[8], h[9])
    if cuda.fp16.hlt(h[10], h[11]):
        h[12] = cuda.fp16.hneg(h[13])
