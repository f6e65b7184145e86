# sig: float32[:, ::1], float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a, row):
    a[0] = 1
    a[1, :2] = (2, 3)
    a[2:4, 1] = row[:2]
    a[4] += row
    a[5, ::-1] *= 2
