# sig: float32[:,::1], float32[::1], bool[::1], float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(x, y, mask, out):
    i = cuda.grid(1)
    if i < out.size and any(mask[k] for k in range(y.size)):
        out[i] = sum(x[i, k] * y[k] for k in range(y.size) if mask[k]) + max(v for v in y)
