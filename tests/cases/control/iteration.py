# sig: float32[:, ::1], int8[::1]
from pyptx import cuda


@cuda.jit
def kernel(a, b):
    total = 0.0
    for row in a:
        for v in row[::-2]:
            total += v
    for i, (x, y) in enumerate(zip(b, reversed(range(10))), 1):
        total += i * x * y
    for k in (1, 2, 3):
        total += k
    a[0, 0] = total
