"""Triton's side of three kernels; a module of its own, since Triton reads its source and is not always installed."""

import triton
import triton.language as tl


@triton.jit
def vadd_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * cols + i, e / tl.sum(e, axis=0), mask=i < cols)


@triton.jit
def matmul_kernel(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, n, K):
        left = tl.load(a + rows[:, None] * n + (start + inner)[None, :])
        right = tl.load(b + (start + inner)[:, None] * n + cols[None, :])
        acc += tl.dot(left, right, input_precision="ieee")
    tl.store(c + rows[:, None] * n + cols[None, :], acc)


def vadd(x, y, out):
    n = out.numel()
    return lambda: vadd_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024) and None


def softmax(x, out):
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    return lambda: softmax_kernel[(rows,)](x, out, cols, BLOCK=block) and None


def matmul(a, b, c):
    n = a.shape[0]
    grid = (triton.cdiv(n, 64), triton.cdiv(n, 64))
    return lambda: matmul_kernel[grid](a, b, c, n, M=64, N=64, K=32) and None
