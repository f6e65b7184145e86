# sig: float32[::1], int32[:, ::1], int64, bool
# arch: sm_90
from pyptx import cuda

scale = cuda.declare_device("scale", "float32(float32, int32[:, :])")
check = cuda.declare_device("check", "bool(int16, bool)", abi="c")
note = cuda.declare_device("note", "void(float32[::1])", abi="c")


@cuda.jit
def kernel(x, table, n, flag):
    i = cuda.grid(1)
    if i < n and check(i, flag):
        x[i] = scale(i, table)
        note(x)
