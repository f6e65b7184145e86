# sig: float32[:, ::1], float32[::1]
# Rows of a matrix: a pointer that moves on by four rows a round, and three at a distance.
from pyptx import cuda


@cuda.jit
def kernel(m, out):
    low = m[0, 0]
    for p in range(m.shape[0]):
        low = min(low, m[p, 0] * m[p, 1] - m[p, 2] * m[p, 3] + m[p, 4])
    out[cuda.grid(1)] = low
