# sig: float32[::1]
import numpy as np
from pyptx import cuda


@cuda.jit
def kernel(a):
    t = cuda.local.array(int(a[0]), np.float32)
    a[0] = t[0]
