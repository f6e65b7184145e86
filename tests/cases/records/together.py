# sig: record(x: float32 @0, y: float32 @4, z: float32 @8, w: float32 @12; 16)[::1], float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(points, out):
    i = cuda.grid(1)
    p = points[i]
    out[i] = p.x + p.y + p.z + p.w
