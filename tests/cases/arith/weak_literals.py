# sig: float32[::1], uint8[::1], pyint
"""Literals take the type of what they meet; a weak float meets an integer in float64."""
from pyptx import cuda


@cuda.jit
def kernel(f, u, n):
    f[0] = f[1] * 2.0 + 1
    u[0] = u[1] + 1
    f[2] = u[2] * 0.5
    f[3] = n / 2
