# sig: float32[::1], float32[::1]
"""acc starts as a Python int and grows to float32, throughout."""
from pyptx import cuda


@cuda.jit
def total(a, out):
    acc = 0
    for k in range(a.size):
        acc += a[k]
    out[0] = acc
