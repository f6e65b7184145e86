# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    match a[0]:
        case float(x):
            a[1] = x
