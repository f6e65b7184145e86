# kernel: kernel
# sig: float32[::1]
from pyptx import cuda


async def wait(a):
    return a


@cuda.jit
def kernel(a):
    wait(a)
