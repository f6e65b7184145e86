# sig: float32[::1], float64[::1]
from pyptx import cuda


def half(v):
    return cuda.float32x2(v.x / 2, v.y / 2)


@cuda.jit
def kernel(x, out):
    v = cuda.float4(half(cuda.float2(x[0], 3)), x[1], 1)
    out[0] = v.x + v.w
    out[1] = cuda.fp16.hfma(v.y, 2, v.z)
