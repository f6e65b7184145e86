# sig: float32, pyint, (pyint, float64)
from pyptx import cuda


@cuda.jit
def kernel(x, n, t):
    print("x", x, n, sep="|", end="!\n")
    print(f"{x:8.3f} {n:>5d} {n:x} {n=}")
    print(t, True, None)
