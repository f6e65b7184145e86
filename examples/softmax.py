"""Row softmax, one block per row: out[r, c] = exp(x[r, c] - max) / sum of exp(x[r, :] - max)."""

import math
import sys

import numpy as np
from pyptx import cuda, float32

THREADS = 128


@cuda.jit
def softmax(x: cuda.Array, out: cuda.Array) -> None:
    shared = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x

    largest = x[row, 0]
    for c in range(t, x.shape[1], THREADS):
        largest = max(largest, x[row, c])
    shared[t] = largest
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            shared[t] = max(shared[t], shared[t + half])
        cuda.syncthreads()
        half //= 2
    largest = shared[0]
    cuda.syncthreads()  # all have read shared[0] before it is written again

    total = 0.0
    for c in range(t, x.shape[1], THREADS):
        e = math.exp(x[row, c] - largest)
        out[row, c] = e
        total += e
    shared[t] = total
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        cuda.syncthreads()
        half //= 2

    scale = 1.0 / shared[0]
    for c in range(t, x.shape[1], THREADS):
        out[row, c] *= scale


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    rows, cols = (16384, 1000) if on_gpu else (512, 1000)
    print(f"softmax of {rows} rows of {cols} float32 on {device.name}")

    x = (3 * np.random.default_rng(9).standard_normal((rows, cols))).astype(np.float32)
    d_out = cuda.device_array_like(x)
    softmax[rows, THREADS](cuda.to_device(x), d_out)

    x64 = x.astype(np.float64)
    shifted = x64 - x64.max(axis=1, keepdims=True)
    expected = np.exp(shifted)
    expected /= expected.sum(axis=1, keepdims=True)
    # Relative error, in eps: the difference is rounded (half an eps of it, which exp turns into a
    # relative error, for the element and for the sum); exp is within 2 eps; the sum has cols /
    # THREADS + log2(THREADS) additions; then a division and a product.
    eps = np.finfo(np.float32).eps
    additions = cols / THREADS + math.log2(THREADS)
    bound = eps * (np.abs(shifted).max(axis=1, keepdims=True) + 2 + 2 + additions / 2 + 1) * expected
    share = np.max(np.abs(d_out.copy_to_host() - expected) / bound)
    correct = bool(share <= 1)
    print(f"  largest error {share:.3f} of the bound")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
