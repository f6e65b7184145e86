"""The kernel that saxpy.c launches. Here it is compiled and described; no Python runs in the program."""

from pyptx import cuda


@cuda.jit("void(float32, float32[::1], float32[::1])")
def saxpy(a: float, x: cuda.Array, y: cuda.Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
