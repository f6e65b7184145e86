# sig: uint64[::1], uint8[::1], float64[::1]
"""A loop is typed from what enters it, not from what was thought of it before earlier loops had their types."""
from pyptx import cuda


@cuda.jit
def kernel(x, flags, out):
    v = flags[0] > 0
    for e in x:
        v -= e
    for _ in range(4):
        v *= 1
    out[0] = v
