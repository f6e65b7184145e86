# sig: float32[:,:], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, i):
    row = a[i]
    part = a[1:4, ::2]
    back = a[::-1]
    row[0] = part[0, 0] + back[-1, 0] + a.T[0, 1]
