# sig: uint32[::1], int32[::1]
# An if at the end of a loop has two ways back: they are joined, and a selection is all that is left of it.
from pyptx import cuda


@cuda.jit
def kernel(x, out):
    state = x[cuda.threadIdx.x]
    inside = 0
    for _ in range(1000):
        state ^= state << 13
        state ^= state >> 17
        if state < 99:
            inside += 1
    out[cuda.threadIdx.x] = inside
