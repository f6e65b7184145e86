# sig: int32[::1], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    k = 0
    for i in range(n):
        for j in range(i, n, 2):
            if a[j] < 0:
                continue
            if a[j] > 100:
                break
            k += 1
        else:
            k += 10
        if k > 1000:
            return
    while k > 0:
        k -= 3
    a[0] = k
