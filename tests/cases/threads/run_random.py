"""cuda.random: two generators of seed 42, run on the host device. The integers are Numba's."""
import numpy as np
from pyptx import cuda
from pyptx.cuda.random import create_xoroshiro128p_states, xoroshiro128p_next, xoroshiro128p_uniform_float64


@cuda.jit
def kernel(states, out, unit):
    i = cuda.grid(1)
    for k in range(2):
        out[i, k] = xoroshiro128p_next(states, i)
    unit[i] = xoroshiro128p_uniform_float64(states, i)


out, unit = np.zeros((2, 2), np.uint64), np.zeros(2)
kernel[1, 2](create_xoroshiro128p_states(2, seed=42), out, unit)
cuda.synchronize()
print(out.tolist(), [u.hex() for u in unit.tolist()])
