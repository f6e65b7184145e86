# sig: pyint, (pyint, float32), float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(n, pair, out):
    match n:
        case 1 | 2:
            out[0] = 1
        case k if k > 10:
            out[0] = k
        case _:
            out[0] = 2
    match pair:
        case (0, v):
            out[1] = v
        case (u, v) if (w := u * v) > 2:
            out[1] = w
        case (u, *rest):
            out[1] = u + rest[0]
    while n > 0:
        n -= 1
        if n == 5:
            break
    else:
        out[2] = n
