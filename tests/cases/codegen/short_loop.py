# sig: int32[::1], int32[::1], float32[::1], float32[::1], float32[::1]
# Eight rounds of a loop between bounds that were read: columns and values first, each if there is such a round, then what they point to.
from pyptx import cuda


@cuda.jit
def kernel(start, column, value, x, y):
    row = cuda.grid(1)
    acc = 0.0
    for k in range(start[row], start[row + 1]):
        acc += value[k] * x[column[k]]
    y[row] = acc
