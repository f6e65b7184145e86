# sig: float32[:,::1], float32[:,::1]
# Numbers of elements have 32 bits; the fastest index's constant is the access's own.
from pyptx import cuda


@cuda.jit
def kernel(u, out):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        out[i, j] = u[i, j - 1] + u[i, j + 1] + u[i - 1, j]
