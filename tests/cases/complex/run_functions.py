"""Functions, joins, tuples and views of complex numbers: run on the host device."""
import cmath

import numpy as np

from pyptx import cuda


@cuda.jit(fma=False)
def kernel(x, out, w):
    i = cuda.grid(1)
    if i < x.size:
        z = 0
        for a, b in ((x[i], 1), (w, 2j)):
            z += a * b
        out[i] = z if i % 2 else z.conjugate()
        out.real[i] += i
    if i == 0:
        print(x[0], cmath.sqrt(-4), x[1] ** 2, x[0] == 1 + 2j, cmath.polar(w)[0])


x = np.array([1 + 2j, 3 - 4j, -1], np.complex64)
out = np.zeros(3, np.complex128)
kernel[1, 4](x, out, 3 - 4j)
cuda.synchronize()
print(out)
