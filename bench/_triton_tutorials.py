"""Triton's side of matrix products, attention and rows, in the shape that Triton's tutorials have: a
product in grouped order, softmax and layer norm with a row in registers, attention with a running
maximum. Configurations are chosen by Triton's autotuner. A module of its own, since Triton reads its
source and is not always installed.

Each function below returns one that launches. What their kernels do not take is a ValueError."""

import functools

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

ROW_BYTES = 65536  # of a row that is held in registers, as the tutorial of layer norm has it
SHORT = functools.partial(triton.testing.do_bench, warmup=5, rep=30)  # ms for each configuration


def quick(call, quantiles):
    return SHORT(call, quantiles=quantiles)


def product_configs():
    sizes = (128, 256, 64, 3, 8), (256, 128, 64, 3, 8), (128, 128, 64, 4, 8), (128, 128, 64, 4, 4), (64, 256, 32, 4, 4), (64, 64, 64, 4, 4)
    return [triton.Config({"M": m, "N": n, "K": k, "GROUP": 8}, num_stages=stages, num_warps=warps) for m, n, k, stages, warps in sizes]


@triton.autotune(configs=product_configs(), key=["m", "n", "k", "ak", "bk"], do_bench=quick)
@triton.jit
def matmul_kernel(a, b, c, m, n, k, am, ak, bk, bn, cm, cn, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.cdiv(m, M), tl.cdiv(n, N)
    pid = tl.program_id(0)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    row, column = first + pid % (GROUP * columns) % height, pid % (GROUP * columns) // height
    inner = tl.arange(0, K)
    i, j = (row * M + tl.arange(0, M)) % m, (column * N + tl.arange(0, N)) % n
    left, right = a + i[:, None] * am + inner[None, :] * ak, b + inner[:, None] * bk + j[None, :] * bn
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        x = tl.load(left, mask=inner[None, :] < k - step * K, other=0.0)
        y = tl.load(right, mask=inner[:, None] < k - step * K, other=0.0)
        acc = tl.dot(x, y, acc)
        left += K * ak
        right += K * bk
    i, j = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    tl.store(c + i[:, None] * cm + j[None, :] * cn, acc.to(c.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))


def matmul(a, b, c):
    """c = a @ b, of any strides."""
    (m, k), n = a.shape, b.shape[1]

    def grid(config):
        return (triton.cdiv(m, config["M"]) * triton.cdiv(n, config["N"]),)

    return lambda: matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()) and None


@triton.jit
def softmax_kernel(x, out, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        at = row.to(tl.int64) * columns
        values = tl.load(x + at + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        e = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + at + i, (e / tl.sum(e, axis=0)).to(out.dtype.element_ty), mask=i < columns)


def whole_row(x):
    """The power of two that holds a row, and the warps for it."""
    block = triton.next_power_of_2(x.shape[1])
    if block * x.element_size() > ROW_BYTES:
        raise ValueError(f"Triton's tutorial kernels hold rows of at most {ROW_BYTES} bytes")
    return block, min(max(block // 256, 1), 8)


def softmax(x, out):
    """Blocks that stay: as many as run at once."""
    rows, columns = x.shape
    block, warps = whole_row(x)
    sms = triton.runtime.driver.active.utils.get_device_properties(x.device.index)["multiprocessor_count"]
    blocks = min(rows, sms * max(1, 2048 // (32 * warps) // 2))  # half of a multiprocessor's threads: 64 registers each
    return lambda: softmax_kernel[(blocks,)](x, out, rows, columns, BLOCK=block, STAGES=2, num_warps=warps) and None


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + at + i, mask=i < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        far = tl.where(i < columns, tl.load(x + at + i, mask=i < columns, other=0.0).to(tl.float32) - mean, 0.0)
        total += far * far
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        values = tl.load(x + at + i, mask=i < columns, other=0.0).to(tl.float32)
        w, b = tl.load(weight + i, mask=i < columns).to(tl.float32), tl.load(bias + i, mask=i < columns).to(tl.float32)
        tl.store(out + at + i, ((values - mean) * scale * w + b).to(out.dtype.element_ty), mask=i < columns)


def layer_norm(x, weight, bias, out, eps):
    rows, columns = x.shape
    block, warps = whole_row(x)
    return lambda: layer_norm_kernel[(rows,)](x, weight, bias, out, columns, eps, BLOCK=block, num_warps=warps) and None


def boxes_of(arguments):
    """A configuration's boxes, set before its launches."""
    for name, rows in (("q", "M"), ("k", "N"), ("v", "N"), ("out", "M")):
        arguments[name].block_shape = [arguments[rows], arguments["HEAD"]]


def attention_configs():
    sizes = (128, 64, 3, 4), (128, 64, 3, 8), (128, 128, 2, 8), (128, 128, 3, 8)
    return [triton.Config({"M": m, "N": n}, num_stages=stages, num_warps=warps, pre_hook=boxes_of) for m, n, stages, warps in sizes]


@triton.jit
def attended(acc, total, most, q, k, v, base, first, scale, low, high, M: tl.constexpr, N: tl.constexpr, MASKED: tl.constexpr):
    """What the keys from low to high bring."""
    rows = first + tl.arange(0, M)
    for start in tl.range(low, high, N):
        start = tl.multiple_of(start, N)
        s = tl.dot(q, k.load([base + start, 0]).T)
        if MASKED:
            s = s * scale + tl.where(rows[:, None] >= start + tl.arange(0, N)[None, :], 0, -1.0e6)
            larger = tl.maximum(most, tl.max(s, 1))
            p = tl.math.exp2(s - larger[:, None])
        else:
            larger = tl.maximum(most, tl.max(s, 1) * scale)
            p = tl.math.exp2(s * scale - larger[:, None])
        shrink = tl.math.exp2(most - larger)
        acc = tl.dot(p.to(v.dtype), v.load([base + start, 0]), acc * shrink[:, None])
        total = total * shrink + tl.sum(p, 1)
        most = larger
    return acc, total, most


@triton.autotune(configs=attention_configs(), key=["n", "HEAD", "CAUSAL"], do_bench=quick)
@triton.jit
def attention_kernel(q, k, v, out, n, scale, HEAD: tl.constexpr, CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    base, first = tl.program_id(1) * n, tl.program_id(0) * M
    most = tl.zeros((M,), dtype=tl.float32) - float("inf")
    total = tl.zeros((M,), dtype=tl.float32)
    acc = tl.zeros((M, HEAD), dtype=tl.float32)
    queries = q.load([base + first, 0])
    whole = first if CAUSAL else n  # keys that need no mask
    acc, total, most = attended(acc, total, most, queries, k, v, base, first, scale, 0, whole, M, N, False)
    if CAUSAL:
        acc, total, most = attended(acc, total, most, queries, k, v, base, first, scale, first, first + M, M, N, True)
    out.store([base + first, 0], (acc / total[:, None]).to(out.dtype))


def attention(q, k, v, out, causal):
    """Arrays (batch, heads, n, d), contiguous, n a multiple of 128."""
    batch, heads, n, d = q.shape
    if n % 128:
        raise ValueError("Triton's tutorial kernel takes multiples of 128 places")
    boxes = [TensorDescriptor(x, shape=[batch * heads * n, d], strides=[d, 1], block_shape=[1, 1]) for x in (q, k, v, out)]
    scale = 1.4426950408889634 / d**0.5  # of exp2

    def grid(config):
        return (triton.cdiv(n, config["M"]), batch * heads)

    return lambda: attention_kernel[grid](*boxes, n, scale, HEAD=d, CAUSAL=causal) and None
