# sig: void(float64[:], float32)
# kernel: kernel
from pyptx import cuda


@cuda.jit("float32(float32, int32)", device=True)
def scaled(x, n):
    return x * n / 2.0


@cuda.jit
def kernel(out, x):
    out[0] = scaled(2 * x, out[1])
