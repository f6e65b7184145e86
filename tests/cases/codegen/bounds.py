# sig: float32[::1]
# options: --launch-bounds 256,2 --max-registers 64 --ptx-version 8.0
from pyptx import cuda


@cuda.jit
def kernel(a):
    a[cuda.grid(1)] = 0
