# sig: uint16[::1], uint16[::1]
"""The first value of a counter is no literal: -2 need not fit uint16 here."""
from pyptx import cuda


@cuda.jit
def kernel(x, out):
    for k in range(-2, 3):
        if k ^ x[1]:
            out[0] += 1
