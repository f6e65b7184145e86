"""Step 1: a thread for each element of C = A @ B, and the loop of the definition.

Each thread reads a row of A and a column of B from global memory, element by element: two loads for
a multiplication and an addition. Sums are float32 in all steps.
"""

import sys

from pyptx import bfloat16, cuda, float32
from steps import main


@cuda.jit(coarsen=1)  # one element a thread, as written: the compiler would take several
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    column, row = cuda.grid(2)  # neighbouring threads take neighbouring columns
    if row < c.shape[0] and column < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += float32(a[row, k]) * float32(b[k, column])
        c[row, column] = bfloat16(total)


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    m, n = c.shape
    gemm[(-(-n // 32), -(-m // 8)), (32, 8)](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch))
