# The first program of most Numba-CUDA tutorials. Only the import line is new, which said "from numba
# import cuda", and the annotations, which type checkers read.
from pyptx import cuda
import numpy as np


@cuda.jit
def add_kernel(x: cuda.Array, y: cuda.Array, out: cuda.Array) -> None:
    idx = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if idx < out.size:
        out[idx] = x[idx] + y[idx]


n = 100000
x = np.arange(n).astype(np.float32)
y = 2 * x

# Copy the inputs to the device and make room for the output there
d_x = cuda.to_device(x)
d_y = cuda.to_device(y)
d_out = cuda.device_array_like(d_x)

# Enough blocks to cover the entire vector
threads_per_block = 128
blocks_per_grid = (n + threads_per_block - 1) // threads_per_block

add_kernel[blocks_per_grid, threads_per_block](d_x, d_y, d_out)

out = d_out.copy_to_host()
print(out[:10])
print("on", cuda.get_current_device().name)

# One float32 addition is rounded the same way everywhere, so the comparison is exact
np.testing.assert_array_equal(out, x + y)
