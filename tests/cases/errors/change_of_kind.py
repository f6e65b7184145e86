# sig: float32[::1]
import numpy as np
from pyptx import cuda


@cuda.jit
def kernel(a):
    n = cuda.local.array(4, np.int32)
    n += 1.5
