"""Triton's vector add; a module of its own, since Triton reads its source and is not always installed."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def contestant(n, loop):
    t = [torch.zeros(n, device="cuda") for _ in range(3)]
    add[(1,)](*t, n, BLOCK=256)
    return loop(lambda *a: add[(1,)](*a, BLOCK=256), *t, n)
