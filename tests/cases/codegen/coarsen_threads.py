# sig: float32[:, ::1], float32[:, ::1]
# options: --coarsen 2
from pyptx import cuda


@cuda.jit
def kernel(u, new):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and j < u.shape[1]:
        new[i, j] = u[i - 1, j] - 2 * u[i, j] + u[i + 1, j]
