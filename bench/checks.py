"""What `debug=True` and `boundscheck=True` cost streaming kernels on a GPU: time over that of the kernel without checks.

    scripts/gpu run python bench/checks.py [--json OUT]

Vector add, saxpy, a 5-point stencil in two dimensions, row sums by blocks, a naive product of 1024 x 1024, a transposition through shared
memory; float32, but for the product arrays beyond the cache. Times are those of bench/kernels: by events, the variants in turns, medians. `coarsen=1` is the kernel without checks and without
copies (docs/COARSENING.md).
"""

import sys

import numpy as np
from _bench import Report, parser
from kernels.gpu import Clock

from pyptx import cuda

SIZE = 1 << 25


def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def stencil(u, out):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        out[i, j] = np.float32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def row_sum(x, out):
    tile = cuda.shared.array(256, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = np.float32(0)
    for k in range(t, x.shape[1], 256):
        total += x[row, k]
    tile[t] = total
    cuda.syncthreads()
    half = 128
    while half:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[row] = tile[0]


def transpose(x, out):
    tile = cuda.shared.array((32, 33), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
    for k in range(0, 32, 8):
        if row + k < x.shape[0] and column < x.shape[1]:
            tile[ty + k, tx] = x[row + k, column]
    cuda.syncthreads()
    column, row = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    for k in range(0, 32, 8):
        if row + k < out.shape[0] and column < out.shape[1]:
            out[row + k, column] = tile[tx, ty + k]


def matmul(a, b, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        out[i, j] = total


def cases():
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(SIZE).astype(np.float32) for _ in range(2))
    u = x[: 5120 * 5120].reshape(5120, 5120)
    wide = x.reshape(4096, -1)
    flat, box = ((SIZE + 255) // 256, 256), ((160, 640), (32, 8))
    inner = np.zeros_like(u)
    inner[1:-1, 1:-1] = np.float32(0.25) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    yield add, flat, (x, y, np.zeros_like(x)), (2, x + y, 0)
    yield saxpy, flat, (np.float32(0), x, y), (2, y, 0)  # a is 0, so that y stays what it is
    yield stencil, box, (u, np.zeros_like(u)), (1, inner, 0)
    yield row_sum, (4096, 256), (wide, np.zeros(4096, np.float32)), (1, wide.sum(1), 0.05)  # 40 roundings of a sum of 8,192 |x| of 0.8, ours and NumPy's
    a, b = x[: 1 << 20].reshape(1024, 1024), y[: 1 << 20].reshape(1024, 1024)
    yield matmul, ((32, 128), (32, 8)), (a, b, np.zeros_like(a)), (2, a @ b, 0.02)  # 1,024 roundings of sums below 256, ours and NumPy's
    yield transpose, ((160, 160), (32, 8)), (u, np.zeros_like(u)), (1, u.T, 0)


VARIANTS = {"plain": {}, "coarsen=1": {"coarsen": 1}, "boundscheck": {"boundscheck": True}, "debug": {"debug": True}}


def main():
    options = parser(__doc__).parse_args()
    clock = Clock()
    report = Report(f"Checks on {cuda.get_current_device().name}", [("kernel", 10), ("ms", 8), *((v, 12) for v in list(VARIANTS)[1:])])
    for function, config, arguments, (result, right, error) in cases():
        kernels = {name: cuda.jit(**how)(function) for name, how in VARIANTS.items()}
        given = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
        for name, kernel in kernels.items():
            given[result].copy_to_device(arguments[result])
            kernel[config](*given)
            np.testing.assert_allclose(given[result].copy_to_host(), right, rtol=0, atol=error, err_msg=f"{function.__name__} {name}")
        taken = clock.medians({name: (lambda k=k: k[config](*given)) for name, k in kernels.items()})
        report.row(function.__name__, taken["plain"], *(taken[v] / taken["plain"] for v in list(VARIANTS)[1:]))
    report.save(options.json)


if __name__ == "__main__":
    sys.exit(main())
