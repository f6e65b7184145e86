"""A bf16 or fp16 matrix product on tensor cores, as GPUs from compute capability 8.0 on have them:
cp_async, ldmatrix, mma_sync.

A block of 8 warps computes 256 x 128 of C = A @ B, a warp 64 x 64 of that. Copies fill a ring of
four stages in shared memory, three of them ahead of the one that is multiplied; within a stage the
fragments of the next 16 of K are loaded while these are multiplied. Chunks of 16 bytes change
places in shared memory, so that the 8 rows of a matrix that ldmatrix reads lie in different banks.

Chunks of 16 bytes are copied. Matrices whose rows do not begin at multiples of that are copied to
padded rows before, such a C after.
"""

import sys
import time

import numpy as np
from pyptx import bfloat16, cuda, float32, uint32

M, N, K = 256, 128, 32  # of a block's tiles
STAGES = 4
THREADS = M * N // 128  # a warp has 64 x 64
GROUP = 8  # rows of tiles that blocks take together, so that what they read is in the L2 cache
SHARED = max(STAGES * (M + N) * K, M * N) * 2


@cuda.jit(device=True)
def at_a(row: int, chunk: int) -> int:
    """Column of the chunk of 8 elements in a tile of A, whose rows have 64 bytes: two to a line of
    banks."""
    return 8 * (chunk ^ row // 2 % 4)


@cuda.jit(device=True)
def at_b(row: int, chunk: int) -> int:
    """The same in a tile of B or C, whose rows have several lines."""
    return 8 * (chunk ^ row % 8)


@cuda.jit(device=True)
def copy(sa: cuda.Array, sb: cuda.Array, a: cuda.Array, b: cuda.Array, top: int, left: int, k: int, edge: bool) -> None:
    """Begins to fill a stage. Rows and columns beyond the matrices are the last ones once more;
    their products are not stored. Where k is negative, at the edge, there are zeros."""
    t = cuda.threadIdx.x
    chunk = t % (K // 8)
    for i in range(0, M, THREADS * 8 // K):
        row = i + t // (K // 8)
        source = min(top + row, a.shape[0] - 1)
        if edge:
            cuda.cp_async(sa, (row, at_a(row, chunk)), a, (source, max(k + 8 * chunk, 0)), 8, valid=8 if k + 8 * chunk >= 0 else 0)
        else:
            cuda.cp_async(sa, (row, at_a(row, chunk)), a, (source, uint32(k + 8 * chunk)), 8)
    chunk = t % (N // 8)
    source = min(left + 8 * chunk, b.shape[1] - 8)
    for i in range(0, K, THREADS * 8 // N):
        row = i + t // (N // 8)
        if edge:
            cuda.cp_async(sb, (row, at_b(row, chunk)), b, (max(k + row, 0), source), 8, valid=8 if k + row >= 0 else 0)
        else:
            cuda.cp_async(sb, (row, at_b(row, chunk)), b, (uint32(k + row), source), 8)


@cuda.jit(device=True)
def load(sa: cuda.Array, sb: cuda.Array, kk: int, row: int, column: int) -> tuple:
    """Fragments of this warp's 64 x 16 of A and 16 x 64 of B."""
    lane = cuda.laneid
    row += lane % 16
    at = at_a(row, kk // 8 + lane // 16)
    a0, a1 = cuda.ldmatrix(sa, (row, at), 4), cuda.ldmatrix(sa, (row + 16, at), 4)
    a2, a3 = cuda.ldmatrix(sa, (row + 32, at), 4), cuda.ldmatrix(sa, (row + 48, at), 4)
    row = kk + lane % 16
    chunk = column // 8 + lane // 16
    b0, b1 = cuda.ldmatrix(sb, (row, at_b(row, chunk)), 4, trans=True), cuda.ldmatrix(sb, (row, at_b(row, chunk + 2)), 4, trans=True)
    b2, b3 = cuda.ldmatrix(sb, (row, at_b(row, chunk + 4)), 4, trans=True), cuda.ldmatrix(sb, (row, at_b(row, chunk + 6)), 4, trans=True)
    return (a0, a1, a2, a3), (b0[:4], b0[4:], b1[:4], b1[4:], b2[:4], b2[4:], b3[:4], b3[4:])


@cuda.jit(device=True)
def multiply(sums: cuda.Array, fragments: tuple) -> None:
    a, b = fragments
    for i in range(4):
        for j in range(8):
            old = sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3]
            sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3] = cuda.mma_sync(a[i], b[j], old)


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    number = c.dtype.type
    memory = cuda.shared.array(0, a.dtype, alignment=128)
    sa = memory[: STAGES * M * K].reshape(STAGES, M, K)
    sb = memory[STAGES * M * K : STAGES * (M + N) * K].reshape(STAGES, K, N)
    sums = cuda.local.array((4, 8, 4), float32)
    t, lane = cuda.threadIdx.x, cuda.laneid
    rows, columns = (c.shape[0] + M - 1) // M, (c.shape[1] + N - 1) // N
    first = cuda.blockIdx.x // (GROUP * columns) * GROUP
    height = min(GROUP, rows - first)
    rest = cuda.blockIdx.x - first * columns
    top, left = M * (first + rest % height), N * (rest // height)
    row, column = t // 32 // (N // 64) * 64, t // 32 % (N // 64) * 64  # of this warp
    for i in range(4):
        for j in range(8):
            for e in range(4):
                sums[i, j, e] = 0
    steps = (a.shape[1] + K - 1) // K
    begin = a.shape[1] - K * steps  # the first step, and not the last, is the one at the edge
    copy(sa[0], sb[0], a, b, top, left, begin, True)
    cuda.cp_async_commit_group()
    for s in range(1, STAGES - 1):
        if s < steps:
            copy(sa[s], sb[s], a, b, top, left, begin + K * s, False)
        cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(STAGES - 2)
    cuda.syncthreads()
    stage, free = 0, STAGES - 1  # what is multiplied, and what all have read
    now = load(sa[0], sb[0], 0, row, column)
    for step in range(steps):
        later = load(sa[stage], sb[stage], 16, row, column)
        if step + STAGES - 1 < steps:
            copy(sa[free], sb[free], a, b, top, left, begin + K * (step + STAGES - 1), False)
        cuda.cp_async_commit_group()
        multiply(sums, now)
        cuda.cp_async_wait_group(STAGES - 2)
        cuda.syncthreads()
        free = stage
        stage = stage + 1 if stage < STAGES - 1 else 0
        now = load(sa[stage], sb[stage], 0, row, column)
        multiply(sums, later)
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    sc = memory[: M * N].reshape(M, N)
    for i in range(4):
        for j in range(8):
            for h in range(2):
                r = row + 16 * i + 8 * h + lane // 4
                pair = number(sums[i, j, 2 * h]), number(sums[i, j, 2 * h + 1])
                cuda.vector.store(sc, (r, at_b(r, column // 8 + j) + 2 * (lane % 4)), pair)
    cuda.syncthreads()
    chunk = t % (N // 8)
    if left + 8 * chunk < c.shape[1]:
        for r in range(t // (N // 8), min(M, c.shape[0] - top), THREADS * 8 // N):
            cuda.vector.store(c, (top + r, left + 8 * chunk), cuda.vector.load(sc, (r, at_b(r, chunk)), 8))


ROWS, COLUMNS = 16, 256  # of a block of padding


@cuda.jit(launch_bounds=(COLUMNS, 1))
def padding(out: cuda.Array, x: cuda.Array) -> None:
    """out = x, and 0 where out has more columns or rows. A block copies ROWS x COLUMNS; a thread reads
    its column of that before it writes."""
    top, j = ROWS * cuda.blockIdx.y, COLUMNS * cuda.blockIdx.x + cuda.threadIdx.x
    values = cuda.local.array(ROWS, out.dtype)
    for i in range(ROWS):
        values[i] = x[min(top + i, x.shape[0] - 1), min(j, x.shape[1] - 1)]
    for i in range(ROWS):
        if top + i < out.shape[0] and j < out.shape[1]:
            out[top + i, j] = values[i] if top + i < x.shape[0] and j < x.shape[1] else 0


def aligned(x) -> bool:
    """Whether a matrix of 16-bit elements is contiguous, with rows that begin at multiples of 16 bytes."""
    if isinstance(x, np.ndarray):
        address, whole = x.ctypes.data, x.flags.c_contiguous
    else:
        x = cuda.as_cuda_array(x, sync=False)
        address, whole = x.device_ctypes_pointer.value, x.is_c_contiguous()
    return whole and address % 16 == 0 and x.shape[1] % 8 == 0


def copy_padded(out, x) -> None:
    padding[(-(-out.shape[1] // COLUMNS), -(-out.shape[0] // ROWS)), COLUMNS](out, x)


def roomy(x, rows: int = 0):
    """An array for a matrix like x, of at least so many rows, which begin at multiples of 32 bytes."""
    dtype = x.dtype if isinstance(x, np.ndarray) else cuda.as_cuda_array(x, sync=False).dtype
    return cuda.device_array((max(rows, x.shape[0]), -(-x.shape[1] // 16) * 16), dtype=dtype)


def padded(x, rows: int = 0):
    """A copy of a matrix in such an array."""
    out = roomy(x, rows)
    copy_padded(out, x)
    return out


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    """c = a @ b, of any sizes and strides."""
    a = a if aligned(a) else padded(a)
    b = b if aligned(b) and b.shape[0] == a.shape[1] else padded(b, a.shape[1])
    out = c if aligned(c) else roomy(c)
    gemm[-(-c.shape[0] // M) * -(-c.shape[1] // N), THREADS, 0, SHARED](a, b, out)
    if out is not c:
        copy_padded(c, out)


@cuda.jit
def rounded(out: cuda.Array, x: cuda.Array) -> None:
    """float32 to bfloat16, which NumPy does not have."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i // out.shape[1], i % out.shape[1]] = bfloat16(x[i // out.shape[1], i % out.shape[1]])


@cuda.jit
def widened(out: cuda.Array, x: cuda.Array) -> None:
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i // out.shape[1], i % out.shape[1]] = float32(x[i // out.shape[1], i % out.shape[1]])


def check(launch, m: int, n: int, k: int) -> bool:
    """Compares what launch(a, b, c) stores with NumPy's product of the same bfloat16 numbers, and
    prints how long it takes."""
    rng = np.random.default_rng(5)
    d_a, d_b, d_c = (cuda.device_array(shape, dtype=bfloat16) for shape in ((m, k), (k, n), (m, n)))
    exact = []
    for d in (d_a, d_b):
        wide = cuda.to_device(rng.standard_normal(d.shape, dtype=np.float32))
        rounded[256, 256](d, wide)
        widened[256, 256](wide, d)
        exact.append(wide.copy_to_host().astype(np.float64))
    launch(d_a, d_b, d_c)  # compiles
    cuda.synchronize()
    start = time.perf_counter()
    launch(d_a, d_b, d_c)
    cuda.synchronize()
    seconds = time.perf_counter() - start
    got = cuda.device_array((m, n), dtype=np.float32)
    widened[256, 256](got, d_c)
    # Sums of k exact products in float32: k roundings or truncations, each of at most 2**-23 of the sum of the sizes; then one rounding of
    # the result to the 8 bits of a bfloat16.
    a, b = exact
    want, size = a @ b, np.abs(a) @ np.abs(b)
    share = np.max(np.abs(got.copy_to_host() - want) / (2.0**-8 * np.abs(want) + (1 + 2.0**-8) * k * 2.0**-23 * size))
    print(f"  {seconds * 1e3:8.3f} ms  {2 * m * n * k / seconds / 1e12:8.4f} TFLOP/s  largest error {share:.4f} of the bound")
    return bool(share <= 1)


def main() -> int:
    device = cuda.get_current_device()
    m, n, k = (200, 520, 104) if device.is_host else (4096, 4096, 4096)
    if not device.is_host and device.compute_capability < (8, 0):
        print("bfloat16 tensor cores need compute capability 8.0")
        return 0
    print(f"{m} x {k} by {k} x {n} bfloat16, sums in float32, on {device.name}")
    correct = check(launch, m, n, k)
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
