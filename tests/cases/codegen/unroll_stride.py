# sig: float32[::1], float32[::1]
# A grid's stride: 32 bits count, four loads stand in a row without a quotient; the up to three behind them are no loop.
from pyptx import cuda


@cuda.jit
def kernel(x, out):
    acc = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    out[cuda.threadIdx.x] = acc
