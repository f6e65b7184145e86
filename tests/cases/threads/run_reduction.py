"""Barriers in a loop, dynamic shared memory, atomics from many blocks: run on the host device."""
import numpy as np

from pyptx import cuda, int64


@cuda.jit
def total(a, out):
    s = cuda.shared.array(0, dtype=int64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


a = np.arange(10_000)
out = np.zeros(1, np.int64)
total[(a.size + 127) // 128, 128, 0, 128 * 8](a, out)
print(out[0], a.sum())
