"""reduce= and cache= of bulk copies: every operation and type against NumPy, the PTX, and what is wrong."""

import re

import numpy as np
import pytest
import pyptx
from harness import define
from pyptx import CompileError, cuda
from test_instructions import has, on_device  # noqa: F401 (on_device names it)
from test_ptx import assemble, ptx_of

OPERATIONS = {
    "add": ("int32", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"),
    "min": ("int32", "uint32", "int64", "uint64", "float16", "bfloat16"), "max": ("int32", "uint32", "int64", "uint64", "float16", "bfloat16"),
    **dict.fromkeys(("and", "or", "xor"), ("int32", "uint32", "int64", "uint64")),
}  # fmt: skip
CASES = [(op, dtype) for op, dtypes in OPERATIONS.items() for dtype in dtypes]
ROWS, COLUMNS = 8, 16


def stored(op, dtype, tensor, cache=None):
    """A kernel of several blocks that all store the same box, or the whole of an array, in one place, each its own rows of x."""
    call = f"cuda.cp_async_bulk_tensor_store(cuda.tensor_map(out, ({ROWS}, {COLUMNS})), (0, 0), s, reduce={op!r}, cache={cache!r})" if tensor else \
           f"cuda.cp_async_bulk_store(out, s, reduce={op!r}, cache={cache!r})"
    return define(f"""def kernel(out, x):
    s = cuda.shared.array(({ROWS}, {COLUMNS}), dtype)
    for k in range(cuda.threadIdx.x, {ROWS * COLUMNS}, 32):
        s[k // {COLUMNS}, k % {COLUMNS}] = x[cuda.blockIdx.x, k // {COLUMNS}, k % {COLUMNS}]
    cuda.fence_proxy_async_shared()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        {call}
        cuda.cp_async_bulk_commit_group()
        cuda.cp_async_bulk_wait_group(0)
""", dtype=getattr(pyptx, dtype))  # fmt: skip


def numbers(op, dtype, blocks):
    """Small whole numbers for sums: exact in every type, in any order."""
    rng = np.random.default_rng(1)
    dtype = np.dtype(__import__("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype)
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -1000
        x = rng.integers(low, 1000, (blocks + 1, ROWS, COLUMNS)) if op == "add" else rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (blocks + 1, ROWS, COLUMNS), dtype=dtype)
    else:
        x = rng.integers(-8, 9, (blocks + 1, ROWS, COLUMNS))
    return x.astype(dtype)


@on_device
@pytest.mark.parametrize("tensor", [True, False], ids=["box", "bytes"])
@pytest.mark.parametrize("op, dtype", CASES)
def test_reductions(op, dtype, tensor):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    blocks = 5
    x = numbers(op, dtype, blocks)
    out = x[blocks].copy()
    cuda.jit(stored(op, dtype, tensor))[blocks, 32](out, x[:blocks])
    ufunc = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[op]
    wide = x.astype(np.float64) if x.dtype.kind not in "iu" else x
    want = ufunc.reduce(wide, axis=0, dtype=wide.dtype)
    assert np.array_equal(out, want.astype(x.dtype)), (op, dtype)


@on_device
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_sums_are_rounded_once(dtype):
    """As the addition of that type: nearest, ties to even; overflow is an infinity."""
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(2)
    kind = np.dtype(__import__("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype)
    x = (rng.standard_normal((2, ROWS, COLUMNS)) * 10.0 ** rng.integers(-6, 5, (2, ROWS, COLUMNS))).astype(kind)
    x[:, 0, 0] = np.finfo(np.float16).max if dtype == "float16" else x[:, 0, 0]
    out = x[1].copy()
    cuda.jit(stored("add", dtype, True))[1, 32](out, x[:1])
    with np.errstate(over="ignore"):
        assert np.array_equal(out, (x[0].astype(np.float64) + x[1].astype(np.float64)).astype(kind))


@pytest.mark.parametrize("cache", ["evict_first", "evict_normal", "evict_last"])
@on_device
def test_policies_change_no_result(cache):
    x = np.arange(2 * ROWS * COLUMNS, dtype=np.float32).reshape(2, ROWS, COLUMNS)
    for tensor in (True, False):
        out = np.zeros((ROWS, COLUMNS), np.float32)
        cuda.jit(stored("add", "float32", tensor, cache))[2, 32](out, x)
        assert np.array_equal(out, x.sum(0))
    load = define(f"""def kernel(out, x):
    s = cuda.shared.array((2, {ROWS}, {COLUMNS}), np.float32)
    full = cuda.shared.array(1, cuda.mbarrier)
    m = cuda.tensor_map(x, ({ROWS}, {COLUMNS}))
    if cuda.threadIdx.x == 0:
        cuda.mbarrier_init(full, 0, 1)
        cuda.fence_mbarrier_init()
        cuda.mbarrier_arrive_expect_tx(full, 0, 2 * m.nbytes)
        cuda.cp_async_bulk_tensor(s[0], m, (0, 0), full, 0, cache={cache!r})
        cuda.cp_async_bulk(s[1], x, full, 0, cache={cache!r})
    cuda.syncthreads()
    cuda.mbarrier_wait_parity(full, 0, 0)
    for k in range(cuda.threadIdx.x, {2 * ROWS * COLUMNS}, 32):
        out[k // {ROWS * COLUMNS}, k % {ROWS * COLUMNS} // {COLUMNS}, k % {COLUMNS}] = s.reshape(-1)[k]
""")
    out = np.zeros((2, ROWS, COLUMNS), np.float32)
    cuda.jit(load)[1, 32](out, x[0])
    assert np.array_equal(out[0], x[0]) and np.array_equal(out[1], x[0])


@pytest.mark.parametrize("op, dtype", CASES)
def test_ptx(op, dtype, tmp_path, one_entry):
    bits = dtype[-2:]
    kind = f"b{bits}" if op in ("and", "or", "xor") else {"i": "s", "u": "u", "f": "f", "b": "bf"}[dtype[0]] + bits
    kind = "noftz." + kind if op == "add" and bits == "16" else kind
    for tensor in (True, False):
        text = ptx_of(stored(op, dtype, tensor, "evict_first"), f"{dtype}[:,::1], {dtype}[:,:,::1]", "sm_90")
        want = f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.tile.bulk_group.L2::cache_hint" if tensor else \
               f"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.{op}.{kind}"
        assert want in text and "createpolicy.fractional.L2::evict_first.b64" in text
        assert "cp.async.bulk.wait_group.read 0" in text  # a block does not end before that
        assemble(text, "sm_90", tmp_path)


@pytest.mark.parametrize("dtype, what, text", [
    ("float32", "reduce='min'", "reduce='min' is for int32, uint32, int64, uint64, float16, bfloat16, and these are elements of float32"),
    ("int64", "reduce='add'", "and these are elements of int64"), ("uint8", "reduce='or'", "and these are elements of uint8"), ("float64", "reduce='xor'", "and these are elements of float64"),
    ("int32", "reduce='sum'", "must be 'add', 'min', 'max', 'and', 'or' or 'xor'"), ("int32", "reduce=1", "must be 'add'"), ("int32", "cache='l2'", "must be 'evict_first', 'evict_normal' or 'evict_last'"),
])  # fmt: skip
def test_wrong_calls(dtype, what, text):
    kernel = define(f"def kernel(x):\n    s = cuda.shared.array((8, 16), np.{dtype})\n    cuda.cp_async_bulk_store(x, s, {what})\n")
    with pytest.raises(CompileError, match=re.escape(text)):
        ptx_of(kernel, f"{dtype}[:,::1]", "sm_90")
