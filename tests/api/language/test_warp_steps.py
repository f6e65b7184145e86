"""Reductions and scans over a warp that kernels write by shuffles, as fewer instructions on a GPU
(codegen/nvptx/branches/warp_steps.c), beside NumPy."""

import re

import numpy as np
import pytest
from pyptx import cuda
from test_ptx import assemble, ptx_of

FULL = np.uint32(0xFFFFFFFF)
OPERATIONS = {
    "add": (lambda a, b: a + b, np.add),
    "and": (lambda a, b: a & b, np.bitwise_and),
    "or": (lambda a, b: b | a, np.bitwise_or),
    "xor": (lambda a, b: a ^ b, np.bitwise_xor),
    "min": (lambda a, b: min(a, b), np.minimum),
    "max": (lambda a, b: max(b, a), np.maximum),
}


def reduction(op, distances):
    def kernel(x, out):
        v = x[cuda.threadIdx.x]
        for d in distances:
            v = x.dtype.type(op(v, cuda.shfl_xor_sync(FULL, v, d)))
        out[cuda.threadIdx.x] = v

    return kernel


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_reductions(name, dtype):
    op, want = OPERATIONS[name]
    kernel = reduction(op, (1, 8, 4, 16, 2))
    x = np.random.default_rng(1).integers(0, 2**32, 64).astype(np.uint32).view(dtype)
    x[32:] |= np.array(1 << 30, dtype)  # so that `and` leaves something
    out = np.zeros(64, dtype)
    cuda.jit(kernel)[1, 64](x, out)
    cuda.synchronize()
    assert (out == np.repeat(want.reduce(x.reshape(2, 32), axis=1, dtype=dtype), 32)).all()
    signed = name in ("min", "max") and dtype == "int32"
    ptx = ptx_of(kernel, f"{dtype}[::1], {dtype}[::1]", "sm_80")
    wanted = {"add": "add.s32", "min": "min.s32" if signed else "min.u32", "max": "max.s32" if signed else "max.u32"}.get(name, name + ".b32")
    assert f"redux.sync.{wanted}" in ptx and "shfl" not in ptx
    older = ptx_of(kernel, f"{dtype}[::1], {dtype}[::1]", "sm_75")
    assert "redux" not in older and older.count("shfl.sync.bfly") == 5


@pytest.mark.parametrize("distances", [(1, 2, 4, 8), (1, 2, 4, 8, 8), (1, 2, 4, 8, 16, 1), (1, 2, 4, 8, 3)], ids=str)
def test_what_is_no_reduction_of_a_warp(distances):
    kernel = reduction(OPERATIONS["add"][0], distances)
    x = np.arange(32, dtype=np.int32) ** 2
    out, want = np.zeros(32, np.int32), x.copy()
    cuda.jit(kernel)[1, 32](x, out)
    cuda.synchronize()
    for d in distances:
        want = want + want[np.arange(32) ^ d]
    assert (out == want).all()
    shuffles = ptx_of(kernel, "int32[::1], int32[::1]", "sm_80").count("shfl.sync.bfly")
    assert shuffles == (1 if len(distances) == 6 else len(distances))  # of six, five are a reduction


@pytest.mark.parametrize("dtype", ["int32", "float32", "int64", "float64"])
def test_scans(dtype, tmp_path):
    def kernel(x, out, late):
        i, lane = cuda.threadIdx.x, cuda.laneid
        v = w = x[i]
        for d in (1, 2, 4, 8, 16):
            other = cuda.shfl_up_sync(FULL, v, d)
            if lane >= d:
                v = other + v
            other = cuda.shfl_up_sync(FULL, w, d)
            if lane > d:  # another lane than the shuffle's
                w = other - w
        out[i], late[i] = v, w

    x = np.random.default_rng(2).integers(-1000, 1000, 64).astype(dtype)  # whose sums are exact in each type
    out, late, want = np.zeros(64, dtype), np.zeros(64, dtype), x.reshape(2, 32).copy()
    cuda.jit(kernel)[1, 64](x, out, late)
    cuda.synchronize()
    assert (out == np.cumsum(x.reshape(2, 32), axis=1).ravel()).all()
    for d in (1, 2, 4, 8, 16):
        want[:, d + 1 :] = want[:, 1:-d] - want[:, d + 1 :]
    assert (late == want.ravel()).all()
    ptx = ptx_of(kernel, ", ".join([f"{dtype}[::1]"] * 3), "sm_90")
    assert len(re.findall(r"shfl\.sync\.up\.b32 \t%r\d+\|%p", ptx)) == 5
    assemble(ptx, "sm_90", tmp_path)
