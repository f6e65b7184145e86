"""A matrix product of bfloat16 or float16 as libraries have it, for GPUs of compute capability 9.0
(H100, H200): roles of warps, tensor maps, wgmma.

A block computes tiles of m x n of C = A @ B, one after the other. One thread of its first
warpgroup, the producer, fills a ring of stages with boxes of A and B. Two or three warpgroups, the
consumers, multiply, with one group of operations in flight while the next is issued, and give a
stage back when it has been read. `full` and `empty` are the barriers of the ring. Results go to C
in boxes, too, by way of shared memory, so edges need no tests: what is outside of a matrix arrives
as 0 and is not stored.

The consumers share a tile, 64 rows each, or take turns at whole tiles ("ping-pong"): then one
stores its tile while the other multiplies. Blocks with neighbouring tiles may share what they copy:
a cluster of two what it copies of B, one of four of A, too. `pick` says which form a product takes.

Tensor maps are of rows that begin at multiples of 16 bytes. What does not is copied to padded rows
before; such a C is stored by threads. So every size and every view is right, and those whose
contiguous axes are multiples of 8 are fastest, best of 16.
"""

import functools
import sys
from collections.abc import Callable
from typing import NamedTuple

from gemm_warps import aligned, check, padded
from pyptx import cuda, float32, int32, uint32

K = 64  # elements, the 128 bytes of the swizzle
BOX = 64 * 64  # elements of a box of C
GROUP = 8  # rows of tiles, or of clusters, taken together, so that what they read is in the L2 cache
ALL = 0xFFFFFFFF
MOST_SHARED = 226 * 1024  # bytes, beside the barriers


class Form(NamedTuple):
    """A kernel's tile of m x n, its ring, whether the consumers take turns, and the rows and columns
    of tiles of a cluster: its blocks share what they copy, of A along a row, of B along a column."""

    m: int
    n: int
    stages: int
    turns: bool
    cluster: tuple[int, int] = (1, 1)


FORMS = Form(128, 256, 4, False), Form(128, 192, 4, True), Form(128, 128, 6, True), Form(192, 192, 3, False)
CLUSTERS = (1, 1), (2, 1), (2, 2)


def clusters_of(form: Form, blocks: int) -> int:
    """Clusters that run at once. Those of four leave some multiprocessors idle: of the parts of a GPU,
    with 14, 16 or 18 each, they take 12 or 16."""
    size = form.cluster[0] * form.cluster[1]
    return max(1, (blocks * 6 // 7 if size == 4 else blocks) // size)


def pick(m: int, n: int, k: int, blocks: int, slow_a: bool = False, slow_b: bool = False) -> Form:
    """The form that takes the fewest cycles: rounds of tiles over the GPU, in each the k blocks, and
    about 3,000 cycles to store a tile, which turns hide for every tile but the last.

    A k block takes the matrix operations' time, 5 % more for the narrow tile's traffic, or that of
    its copies, a cycle for 68 bytes. It is slow where rows do not begin at multiples of 32 bytes:
    28 bytes a cycle. There clusters pay, which copy each box once for two blocks; elsewhere not, as
    a GPU places them so that fewer of their copies meet in its cache."""

    def cycles(form: Form) -> tuple:
        rows, columns = form.cluster
        tiles = -(-m // (form.m * rows)) * -(-n // (form.n * columns))
        rounds = -(-tiles // clusters_of(form, blocks))
        copies = 2 * K * (form.m / columns / (28 if slow_a else 68) + form.n / rows / (28 if slow_b else 68))
        block = max(form.m * form.n // 32 * (1.05 if form.n == 128 else 1), copies)
        return rounds * -(-k // K) * block + 3000 * (1 if form.turns else rounds), rows * columns

    forms = (form._replace(cluster=cluster) for form in FORMS for cluster in CLUSTERS if cluster[0] * cluster[1] <= blocks)
    return min(forms, key=cycles)


@cuda.jit(device=True)
def place(tile: int, rows: int, columns: int, group: int) -> tuple:
    """Which tile of C it is, in rows and columns of tiles: a group of rows column by column, then
    the next."""
    first = tile // (group * columns) * group
    height = min(group, rows - first)
    rest = tile - first * columns
    column = rest // height
    return first + rest - column * height, column


@functools.cache
def make_gemm(form: Form, a_major: str, b_major: str, epilogue: Callable | None, residual: bool, direct: bool = False):
    """The kernel (a, b, c, d, group, more) of a form: c = a @ b. direct: c has no tensor map.

    a is m x k where its contiguous axis is "k", else k x m; b is k x n ("n") or n x k.
    epilogue(value, row, column, *more) is what c gets at (row, column) for a sum in float32; with
    residual, epilogue(value, old, row, column, *more), where old is d's element there."""
    M, N, STAGES, TURNS, (ROWS, COLUMNS) = form
    CLUSTER = ROWS * COLUMNS
    CONSUMERS = 2 if TURNS else M // 64
    PARTS = M // 64 if TURNS else 1  # of 64 rows that a consumer multiplies
    FEW, MANY = (40, 232) if CONSUMERS == 2 else (32, 160)  # registers of a producer, of a consumer
    THREADS = 128 * (1 + CONSUMERS)
    BOXES = N // 64
    BUFFERS = BOXES if residual or BOXES % 2 else 2  # boxes of C in turn; of D, those of 64 rows of a tile
    STAGE_BYTES = 2 * (M + N) * K
    STAGES = min(STAGES, (MOST_SHARED - 2 * CONSUMERS * BUFFERS * BOX) // STAGE_BYTES)
    SIDE_A, SIDE_B, SIDE_C = STAGES * M * K, STAGES * N * K, CONSUMERS * BUFFERS * BOX
    ROW, COLUMN = (1 << COLUMNS) - 1, sum(1 << COLUMNS * i for i in range(ROWS))  # blocks of a cluster
    # of a stage: what is multiplied, and what each block of the cluster copies
    if a_major == "k":
        box_a, shape_a, shape_a_shares = (M // COLUMNS, K), (STAGES, M, K), (STAGES, COLUMNS, M // COLUMNS, K)
    else:
        box_a, shape_a, shape_a_shares = (K // COLUMNS, 64), (STAGES, M // 64, K, 64), (STAGES, M // 64, COLUMNS, K // COLUMNS, 64)
    if b_major == "k":
        box_b, shape_b, shape_b_shares = (N // ROWS, K), (STAGES, N, K), (STAGES, ROWS, N // ROWS, K)
    else:
        box_b, shape_b, shape_b_shares = (K // ROWS, 64), (STAGES, BOXES, K, 64), (STAGES, BOXES, ROWS, K // ROWS, 64)

    @cuda.jit(device=True)
    def after(stage: int, phase: int, count: int) -> tuple:
        """Where the ring is so many stages later."""
        there = uint32(stage + count)
        return int32(there % uint32(STAGES)), phase ^ int32(there // uint32(STAGES) % uint32(2))

    @cuda.jit(device=True)
    def release(empty: cuda.Array, stage: int) -> None:
        """This consumer has read the stage, of which other blocks have copied a part."""
        if CLUSTER == 1:
            cuda.mbarrier_arrive(empty, stage)
        else:
            for rank in range(CLUSTER):
                cuda.mbarrier_arrive_cluster(empty, stage, rank)

    @cuda.jit(device=True)
    def store(c: cuda.Array, box: cuda.Array, top: int, left: int) -> None:
        """The warps of a consumer store a box, a row each, at (top, left)."""
        quarter, lane = cuda.threadIdx.x // 32 % 4, cuda.threadIdx.x % 32
        for r in range(quarter, min(64, c.shape[0] - top), 4):
            for s in range(lane, min(64, c.shape[1] - left), 32):
                c[top + r, left + s] = box[r, 8 * (s // 8 ^ r % 8) + s % 8]

    @cuda.jit(device=True)
    def finish(value: float, old: float, i: int, row: int, column: int, shape: tuple, more: tuple) -> float:
        """What c gets for the sum i of a thread whose first is at (row, column)."""
        if epilogue is None:
            return value
        r, s = row + uint32(8 * (i // 2 % 2)), column + uint32(8 * (i // 4))
        r = min(r, uint32(shape[0] - 1))  # one that there is
        s = min(s + uint32(i % 2), uint32(shape[1] - 1)) if direct else min(s, uint32(shape[1] - 8) + column % uint32(8)) + uint32(i % 2)
        return epilogue(value, old, r, s, *more) if residual else epilogue(value, r, s, *more)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array, d: cuda.Array, group: int, more: tuple) -> None:
        boxes_a = cuda.tensor_map(a, box_a, swizzle=128)
        boxes_b = cuda.tensor_map(b, box_b, swizzle=128)
        boxes_c = cuda.tensor_map(b if direct else c, (64, 64), swizzle=128)
        boxes_d = cuda.tensor_map(d if residual else b, (64, 64), swizzle=128)
        memory = cuda.shared.array(0, a.dtype, alignment=1024)
        sa, sb = memory[:SIDE_A].reshape(shape_a), memory[SIDE_A : SIDE_A + SIDE_B].reshape(shape_b)
        shares_a, shares_b = sa.reshape(shape_a_shares), sb.reshape(shape_b_shares)
        sc = memory[SIDE_A + SIDE_B : SIDE_A + SIDE_B + SIDE_C].reshape(CONSUMERS, BUFFERS, 64, 64)
        full = cuda.shared.array(STAGES, cuda.mbarrier)  # the copies of a stage have arrived
        empty = cuda.shared.array(STAGES, cuda.mbarrier)  # those who multiply it have read it
        came = cuda.shared.array(CONSUMERS * BUFFERS, cuda.mbarrier)  # boxes of D
        cluster = cuda.cg.this_cluster()
        t, rank = cuda.threadIdx.x, int32(cluster.block_rank()) if CLUSTER > 1 else int32(0)
        y, x = rank // COLUMNS, rank % COLUMNS
        if t == 0:
            for i in range(STAGES):
                cuda.mbarrier_init(full, i, 1)
                cuda.mbarrier_init(empty, i, CLUSTER * (1 if TURNS else CONSUMERS))
            for i in range(CONSUMERS * BUFFERS if residual else 0):
                cuda.mbarrier_init(came, i, 1)
            cuda.fence_mbarrier_init()
        if CLUSTER > 1:
            cluster.sync()
        else:
            cuda.syncthreads()
        warp = cuda.shfl_sync(ALL, int32(t // 32), 0)  # known to be the same in all lanes
        depth = a.shape[1 if a_major == "k" else 0]
        rows, columns = uint32((c.shape[0] + ROWS * M - 1) // (ROWS * M)), uint32((c.shape[1] + COLUMNS * N - 1) // (COLUMNS * N))
        tiles, first, stride = int32(rows * columns), cuda.blockIdx.x // CLUSTER, cuda.gridDim.x // CLUSTER
        if warp < 4:
            cuda.setmaxregister_decrease(FEW)
            if warp == 0 and cuda.elect_sync(ALL):
                stage, phase = 0, 1
                for tile in range(first, tiles, stride):
                    i, j = place(uint32(tile), rows, columns, uint32(group))
                    top, left = M * (ROWS * i + y), N * (COLUMNS * j + x)
                    for k in range(0, depth, K):
                        cuda.mbarrier_wait_parity(empty, stage, phase)  # the first round falls through
                        cuda.mbarrier_arrive_expect_tx(full, stage, STAGE_BYTES)
                        to = ROW << COLUMNS * y if COLUMNS > 1 else None
                        if a_major == "k":
                            at = top + M // COLUMNS * x, k
                            cuda.cp_async_bulk_tensor(shares_a[stage, x], boxes_a, at, full, stage, multicast=to)
                        else:
                            for i in range(M // 64):
                                at = k + K // COLUMNS * x, top + 64 * i
                                cuda.cp_async_bulk_tensor(shares_a[stage, i, x], boxes_a, at, full, stage, multicast=to)
                        to = COLUMN << x if ROWS > 1 else None
                        if b_major == "k":
                            at = left + N // ROWS * y, k
                            cuda.cp_async_bulk_tensor(shares_b[stage, y], boxes_b, at, full, stage, multicast=to)
                        else:
                            for j in range(BOXES):
                                at = k + K // ROWS * y, left + 64 * j
                                cuda.cp_async_bulk_tensor(shares_b[stage, j, y], boxes_b, at, full, stage, multicast=to)
                        stage, phase = after(stage, phase, 1)
        else:
            cuda.setmaxregister_increase(MANY)
            me, quarter, lane = warp // 4 - 1, warp % 4, int32(t % 32)
            half = 0 if TURNS else me  # the first part of this consumer
            leader = quarter == 0 and cuda.elect_sync(ALL)
            stage, phase, turn = 0, 0, 0
            if TURNS:
                first += me * stride
                stage, phase = after(stage, phase, me * ((depth + K - 1) // K))
                stride *= 2
                if me == 1:
                    cuda.barrier_arrive(3, 256)  # the first turn is the other's
            for tile in range(first, tiles, stride):
                i, j = place(uint32(tile), rows, columns, uint32(group))
                top, left = M * (ROWS * i + y) + 64 * half, N * (COLUMNS * j + x)
                sums = cuda.wgmma.zeros(64, N, float32)
                more_sums = cuda.wgmma.zeros(64, N, float32)
                before = 0
                if TURNS:
                    cuda.barrier_sync(3 + me, 256)
                for k in range(0, depth, K):
                    cuda.mbarrier_wait_parity(full, stage, phase)
                    cuda.wgmma.fence()
                    for kk in range(0, K, 16):
                        tile_b = sb[stage, :, kk : kk + 16]
                        tile_a = sa[stage, 64 * half : 64 * half + 64, kk : kk + 16] if a_major == "k" else sa[stage, half, kk : kk + 16]
                        sums = cuda.wgmma.mma(tile_a, tile_b, sums, a_major=a_major, b_major=b_major)
                        if TURNS:
                            tile_a = sa[stage, 64:128, kk : kk + 16] if a_major == "k" else sa[stage, 1, kk : kk + 16]
                            more_sums = cuda.wgmma.mma(tile_a, tile_b, more_sums, a_major=a_major, b_major=b_major)
                    cuda.wgmma.commit()
                    if residual and k == 0 and leader:
                        cuda.cp_async_bulk_wait_group(0, read=True)  # the stores of the tile before
                        for j in range(BOXES):
                            cuda.mbarrier_arrive_expect_tx(came, BUFFERS * me + j, 2 * BOX)
                            cuda.cp_async_bulk_tensor(sc[me, j], boxes_d, (top, left + 64 * j), came, BUFFERS * me + j)
                    cuda.wgmma.wait(1)  # the stage before has been read
                    if k > 0 and leader:
                        release(empty, before)
                    before = stage
                    stage, phase = after(stage, phase, 1)
                if TURNS:
                    cuda.barrier_arrive(4 - me, 256)
                    sums, more_sums = cuda.wgmma.wait(0, sums, more_sums)
                    stage, phase = after(stage, phase, (depth + K - 1) // K)  # the other's
                else:
                    sums = cuda.wgmma.wait(0, sums)
                if leader:
                    release(empty, before)
                row = 16 * quarter + lane % 16
                values = cuda.local.array(32, c.dtype)
                for part in range(PARTS):
                    acc = (sums, more_sums)[part]
                    r, s = uint32(top + 64 * part + 16 * quarter + lane // 4), uint32(left + 2 * (lane % 4))
                    for j in range(BOXES):
                        box = sc[me, (part * BOXES + j) % BUFFERS]
                        if residual:
                            cuda.mbarrier_wait_parity(came, BUFFERS * me + j, turn)
                        else:
                            if leader:
                                cuda.cp_async_bulk_wait_group(BUFFERS - 1, read=True)  # the last store from this box has read it
                            cuda.barrier_sync(1 + me, 128)
                        for e in range(0, 32, 8):
                            at = row, 8 * ((e // 4 + lane // 16) ^ row % 8)  # where the swizzle has these 8 columns
                            old = cuda.ldmatrix(box, at, 4) if residual else (c.dtype.type(0),) * 8
                            for i in range(8):
                                values[e + i] = finish(acc[32 * j + e + i], float32(old[i]), 32 * j + e + i, r, s, c.shape, more)
                            low = values[e], values[e + 1], values[e + 2], values[e + 3]
                            cuda.stmatrix(box, at, (*low, values[e + 4], values[e + 5], values[e + 6], values[e + 7]))
                        cuda.fence_proxy_async_shared()  # so that the copy sees what this thread has stored
                        cuda.barrier_sync(1 + me, 128)
                        if direct:
                            store(c, box, top + 64 * part, left + 64 * j)
                            if residual:
                                cuda.barrier_sync(1 + me, 128)  # all have read the box
                        elif leader:
                            cuda.cp_async_bulk_tensor_store(boxes_c, (top + 64 * part, left + 64 * j), box)
                            cuda.cp_async_bulk_commit_group()
                        if leader:
                            if residual and 0 < part * BOXES + j <= (PARTS - 1) * BOXES:  # the box before, of the next 64 rows
                                last = (j - 1) % BOXES
                                below = top + 64 * (part if j == 0 else part + 1)
                                cuda.cp_async_bulk_wait_group(1, read=True)
                                cuda.mbarrier_arrive_expect_tx(came, BUFFERS * me + last, 2 * BOX)
                                cuda.cp_async_bulk_tensor(sc[me, last], boxes_d, (below, left + 64 * last), came, BUFFERS * me + last)
                    turn ^= 1
        if CLUSTER > 1:
            cluster.sync()  # nothing arrives at a block that has ended

    gemm.threads, gemm.shared_bytes = THREADS, 2 * (SIDE_A + SIDE_B + SIDE_C)
    return gemm


gemm = make_gemm(FORMS[0], "k", "n", None, False, False)


def launch(
    blocks: int,
    a_major: str = "k",
    b_major: str = "n",
    epilogue: Callable | None = None,
    residual: bool = False,
    group: int = GROUP,
    form: Form | None = None,
) -> Callable:
    """A function of a, b, c (with residual also d) and what the epilogue takes, which computes
    c = a @ b by so many blocks, as many as there are multiprocessors. Arrays have any
    sizes and strides; of those of a, b and d that tensor maps cannot take, copies are made."""

    def run(a, b, c, *more):
        m, n = c.shape
        k = a.shape[1 if a_major == "k" else 0]
        a, b = (x if aligned(x) else padded(x) for x in (a, b))
        chosen = form or pick(m, n, k, blocks, a.shape[1] % 16 != 0, b.shape[1] % 16 != 0)
        direct = not aligned(c)
        kernel = make_gemm(chosen, a_major, b_major, epilogue, residual, direct)
        d, more = (more[0] if aligned(more[0]) else padded(more[0]), more[1:]) if residual else (c, more)
        cluster = chosen.cluster[0] * chosen.cluster[1]
        kernel[cluster * clusters_of(chosen, blocks), kernel.threads, 0, kernel.shared_bytes, cluster](a, b, c, d, group, more)

    return run


def main() -> int:
    device = cuda.get_current_device()
    m, n, k = (264, 520, 200) if device.is_host else (4096, 4096, 4096)
    if not device.is_host and device.compute_capability[0] != 9:
        print("wgmma needs compute capability 9.0")
        return 0
    print(f"{m} x {k} by {k} x {n} bfloat16, sums in float32, on {device.name}")
    blocks = 2 if device.is_host else device.MULTIPROCESSOR_COUNT
    correct = all([check(launch(blocks, form=form), m, n, k) for form in (FORMS if device.is_host else [pick(m, n, k, blocks)])])
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
