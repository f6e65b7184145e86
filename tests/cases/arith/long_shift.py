# sig: int64[::1], int64[::1]
"""A 64-bit count is clamped before the shift, which looks at 32 bits of it."""
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    a[0] = a[1] << n[0]
    a[2] = a[3] >> n[1]
