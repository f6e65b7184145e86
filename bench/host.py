"""The host device beside NumPy on the same arrays: what a kernel costs where there is no GPU.

python bench/host.py [--json OUT]
"""

import math
import os

os.environ["PYPTX_DEVICE"] = "host"

import numpy as np
from _bench import Report, batches, loop, parser
from pyptx import cuda, float32


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def waves(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sqrt(x[i]) * math.exp(-x[i])


@cuda.jit
def block_sum(x, out):
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    tile[t] = acc
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@cuda.jit
def matmul(a, b, c):
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = 0.0
    for start in range(0, a.shape[1], 16):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for k in range(16):
            acc += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, col] = acc


@cuda.jit
def jacobi(u, new):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def numpy_jacobi(u, new):
    new[1:-1, 1:-1] = np.float32(0.25) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def main():
    args = parser(__doc__).parse_args()
    rng = np.random.default_rng(1)
    n = 1 << 22
    x, y, out = rng.random(n, np.float32), rng.random(n, np.float32), np.zeros(n, np.float32)
    a, b, c = (rng.random((512, 512), np.float32) for _ in range(3))
    u, new = rng.random((2048, 2048), np.float32), np.zeros((2048, 2048), np.float32)
    d = {id(v): cuda.to_device(v) for v in (x, y, out, a, b, c, u, new)}
    grid = n // 256

    def on(*arrays):
        return [d.get(id(v), v) for v in arrays]

    cases = [
        ("vector add, 2^22", loop(add[grid, 256], *on(x, y, out)), loop(np.add, x, y, out)),
        (
            "saxpy, 2^22",
            loop(saxpy[grid, 256], 2.5, *on(x, y, out)),
            loop(lambda: np.add(np.float32(2.5) * x, y, out=out)),
        ),
        (
            "sqrt(x) exp(-x), 2^22",
            loop(waves[grid, 256], *on(x, out)),
            loop(lambda: np.multiply(np.sqrt(x), np.exp(-x), out=out)),
        ),
        ("sum, 2^22", loop(block_sum[64, 256], *on(x, out)), loop(x.sum)),
        ("matmul 512, tiles of 16", loop(matmul[(32, 32), (16, 16)], *on(a, b, c)), loop(np.matmul, a, b, c)),
        ("Jacobi 2048^2", loop(jacobi[(64, 256), (32, 8)], *on(u, new)), loop(numpy_jacobi, u, new)),
    ]
    report = Report(
        f"host device: {cuda.get_current_device().name}",
        [("kernel", 26), ("pyptx ms", 10), ("NumPy ms", 10), ("NumPy / pyptx", 13)],
    )
    for name, ours, numpys in cases:
        t = batches({"pyptx": ours, "NumPy": numpys}, 3, 7, cuda.synchronize)
        report.row(name, t["pyptx"] * 1e3, t["NumPy"] * 1e3, t["NumPy"] / t["pyptx"])
    report.save(args.json)


if __name__ == "__main__":
    main()
