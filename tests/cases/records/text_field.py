# sig: record(id: int32 @0, name: void[12] @4; 16)[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    a[0] = a[1]
    a[0].id = a[1].name
