# sig: float32[::1], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, steps):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for step in range(steps):
        left = a[i - 1] if i > 0 else a[i]
        grid.sync()
        a[i] = left + step
        grid.sync()
