# sig: record(x: float32 @0, y: int32 @4, p: record(a: int8 @0, b: float32 @1; 5) @8, v: float64[3] @16; 40)[::1], record(x: float32 @0, y: int32 @4, p: record(a: int8 @0, b: float32 @1; 5) @8, v: float64[3] @16; 40)[], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, one, i):
    r = a[i]
    r.x = one["y"]
    r["p"]["b"] += a.x[i]
    a["v"][i, 1] = r.v[2]
    a[0] = one
