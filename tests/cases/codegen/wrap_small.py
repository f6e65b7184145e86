# sig: int32[::1], float32[::1], float32[::1]
# An index of 32 bits that may be negative: one minimum; a bound of a slice is none.
from pyptx import cuda


@cuda.jit
def kernel(at, x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[at[i]] + len(x[at[i] :])
