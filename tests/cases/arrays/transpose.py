# sig: float32[:,::1], float32[:,::1]
from pyptx import cuda, float32

TILE = 32


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((TILE, TILE + 1), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if y < a.shape[0] and x < a.shape[1]:
        tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[tx, ty]
