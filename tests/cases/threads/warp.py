# sig: float32[::1], float64[::1], int8[::1], uint32[::1]
from pyptx import cuda


@cuda.jit
def kernel(f, d, b, out):
    i = cuda.grid(1)
    total = f[i]
    for k in range(5):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16 >> k)
    wide, narrow = cuda.shfl_xor_sync(-1, (d[i], b[i]), 1)
    if cuda.any_sync(0xFFFFFFFF, wide > total) or cuda.eq_sync(0xFFFFFFFF, narrow):
        out[i] = cuda.ballot_sync(cuda.activemask(), total > 0) & cuda.lanemask_lt()
    cuda.syncwarp()
    lanes, same = cuda.match_all_sync(0xFFFFFFFF, wide)
    if same:
        out[i] += cuda.match_any_sync(lanes, cuda.shfl_up_sync(lanes, narrow, 1))
    out[i] += cuda.shfl_sync(0xFFFFFFFF, i, out[i])
