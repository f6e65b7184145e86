# sig: record(k: int8 @0, x: float64 @1; 9)[::1], align4 float64[::1]
from pyptx import cuda


@cuda.jit
def kernel(a, out):
    out[0] = a[1].x
