"""A matrix product of bfloat16 or float16 as libraries have it, for GPUs of compute capability 9.0
(H100, H200): roles of warps, tensor maps, wgmma.

A block computes tiles of m x n of C = A @ B, one after the other. One thread of its first
warpgroup, the producer, fills a ring of stages with boxes of A and B. Two or three warpgroups, the
consumers, multiply, with one group of operations in flight while the next is issued, and give a
stage back when it has been read. `full` and `empty` are the barriers of the ring. Results go to C
in boxes, too, by way of shared memory, so edges need no tests: what is outside of a matrix arrives
as 0 and is not stored. Boxes of another matrix that an epilogue reads follow a tile's last stage.

The consumers share a tile, 64 rows each, or take turns at whole tiles ("ping-pong"): then one
stores its tile while the other multiplies. Blocks with neighbouring tiles may share what they copy:
a cluster of two what it copies of B, or of A, one of four both. A kernel may compute the transpose
of C, whose tiles have any multiple of 8 as their other side, so that a few rounds of them fill the
GPU, and whose threads keep to few columns, for an epilogue that reads a bias. `pick` says which
form a product takes.

Tensor maps are of rows that begin at multiples of 16 bytes. What does not is copied to padded rows
before; such a C is stored by threads. So every size and every view is right, and those whose
contiguous axes are multiples of 8 are fastest, best of 16.
"""

import dis
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
    """A kernel's tile of m x n, its ring, whether the consumers take turns, the rows and columns of
    tiles of a cluster, whose blocks share what they copy, of A along a row, of B along a column, and
    whether it computes the transpose of C, B.T @ A.T: then n, of C's rows, is any multiple of 8."""

    m: int
    n: int
    stages: int
    turns: bool
    cluster: tuple[int, int] = (1, 1)
    transposed: bool = False


FORMS = Form(128, 256, 4, False), Form(128, 192, 4, True), Form(128, 128, 6, True), Form(192, 192, 3, False)
CLUSTERS = (1, 1), (2, 1), (2, 2)


def clusters_of(form: Form, blocks: int) -> int:
    """Clusters that run at once. Those of four leave some multiprocessors idle: of the parts of a GPU,
    with 14, 16 or 18 each, they take 12 or 16."""
    size = form.cluster[0] * form.cluster[1]
    return max(1, (blocks * 6 // 7 if size == 4 else blocks) // size)


def transposed_forms() -> list[Form]:
    """Those whose accumulators, n / 2 for each part of 64 rows that a consumer has, fit in its registers."""
    forms = []
    for m, turns, most in ((128, True, 192), (128, False, 256), (192, True, 128), (192, False, 192), (256, False, 192)):
        for n in range(64, most + 1, 8):
            forms += [Form(m, n, 8, turns, cluster, True) for cluster in (*CLUSTERS, (1, 2)) if cluster[0] == 1 or n % 16 == 0]
    return forms


TRANSPOSED = transposed_forms()


def rounds_of(form: Form, m: int, n: int, blocks: int) -> int:
    """How many tiles a block computes one after the other, at most."""
    height, width = form.m * form.cluster[0], form.n * form.cluster[1]
    tiles = -(-n // height) * -(-m // width) if form.transposed else -(-m // height) * -(-n // width)
    return -(-tiles // clusters_of(form, blocks))


def copying(extent: int, row: int, sharers: int) -> float:
    """Cycles for a k block of so many lines of a matrix, of which each block copies a share. Rows that
    begin at multiples of 128 bytes are fast, those at multiples of 16 take more than twice as long. Of
    those at multiples of 32 bytes shares bring nothing."""
    if row % 64 and row % 16 == 0:
        return 2 * K * extent / 54
    return 2 * K * extent / sharers / (28 if row % 16 else 68)


def cycles(form: Form, m: int, n: int, k: int, blocks: int, a_row: int, b_row: int) -> float:
    """About how many a product takes: rounds of tiles over the GPU, in each the k blocks, and what
    storing a tile takes, which turns hide for every tile but the last.

    A k block takes the time of the matrix operations, longer for a narrow tile, whose operations
    read more of shared memory, or that of its copies; where both are near, they disturb each other."""
    left, right = (b_row, a_row) if form.transposed else (a_row, b_row)
    rows, columns = form.cluster
    operations = form.m * form.n / 32 * (1 + max(0, 192 - form.n) / 1400)
    copies = copying(form.m, left, columns) + copying(form.n, right, rows)
    consumers = 1 if form.turns else 2 if form.m == 256 else form.m // 64  # that share a tile
    rounds, storing = rounds_of(form, m, n, blocks), 500 + 1000 * max(1, consumers - 1) + 6 * form.m // 64 // consumers * form.n
    return rounds * k / K * (operations**16 + copies**16) ** (1 / 16) + storing * (1 if form.turns else rounds)


@functools.cache
def reads(epilogue: Callable | None, residual: bool = False) -> str:
    """Which one of "row" and "column" an epilogue looks at; "" if it is neither, or both, or another
    matrix is read, too."""
    code = getattr(getattr(epilogue, "py_func", epilogue), "__code__", None)
    if residual or code is None or code.co_argcount < 3:
        return ""
    row, column = code.co_varnames[1:3]
    variables = [i.argval for i in dis.get_instructions(code) if any(kind in i.opname for kind in ("FAST", "DEREF", "CLOSURE"))]
    used = {name for of_one in variables for name in (of_one if isinstance(of_one, tuple) else (of_one,))}
    return "" if (row in used) == (column in used) else "row" if row in used else "column"


@functools.cache
def pick(m: int, n: int, k: int, blocks: int, a_row: int = 64, b_row: int = 64, a_major: str = "k", by: str = "") -> Form:
    """The form that takes the fewest cycles, for matrices A and B with rows of so many elements. by:
    what `reads` says of the epilogue.

    Clusters cost 2 %, or 4 % where they share parts of A, since a GPU places their blocks so that
    fewer of their copies meet in its cache, and 1,500 cycles to begin and to end together. Where
    copies are slow they pay all the same.

    A thread has two rows of 64 of a tile, and a quarter of its columns, for each of which it reads,
    say, a bias: 4 cycles a column of the tile, 1.25 where the other consumer multiplies meanwhile.
    The transpose has it the other way round. On an H200 a bias cost 2.1 % at 4096 x 4096 x 4096 and
    0.6 % in the transpose, with gelu 4.3 and 2.7 %; at 8192 x 8192 x 1024 1.9 and 0, 3.5 and 0.9 %; at
    4096 x 4096 x 1024 2.2 and 0.3 %, 4.8 and 3.5 %. There tiles whose last box is cut, 176, took
    1.1 % longer than those of 128 with a bias, and as long with gelu. What adds another matrix gains
    nothing."""
    plain = [form._replace(cluster=cluster) for form in FORMS for cluster in CLUSTERS]
    forms = [form for form in plain + TRANSPOSED * (a_major == "k") if form.cluster[0] * form.cluster[1] <= blocks]

    def cost(form: Form) -> float:
        rows, columns = form.cluster
        cut = form.transposed and by == "column" and form.n % 64 > 0
        handicap = 1 + 0.02 * (rows > 1) + 0.04 * (columns > 1) + 0.005 * (form.transposed + cut)
        reading = 0.0
        if by and form.transposed == (by == "row"):
            reading = (1.25 if form.turns else 4) * form.n * rounds_of(form, m, n, blocks)
        return handicap * cycles(form, m, n, k, blocks, a_row, b_row) + reading + 1500 * (rows * columns > 1)

    return min(forms, key=cost)


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
def make_gemm(
    form: Form,
    a_major: str,
    b_major: str,
    epilogue: Callable | None,
    residual: bool,
    direct: bool = False,
    steps: int = 4,
    early: bool = False,
    once: bool = False,
    of_column: Callable | None = None,
):
    """The kernel (a, b, c, d, group, more) of a form: c = a @ b; of a transposed one (b, a, c, …).
    direct: c has no tensor map. steps: of 16 columns that the last k block has, 1 to 4. early: it
    begins before the launch in front of it has ended, and lets the next one do so. once: d and c are
    larger than the cache, which better keeps a and b.

    a is m x k where its contiguous axis is "k", else k x m; b is k x n ("n") or n x k.
    epilogue(value, row, column, *more) is what c gets at (row, column) for a sum in float32; with
    residual, epilogue(value, old, row, column, *more), where old is d's element there. of_column(column,
    *more) is what it gets in place of the column: a thread of a transposed tile, which has few columns,
    calls it before it multiplies, and then a box ahead, so that nothing waits for what it reads."""
    M, N, STAGES, TURNS, (ROWS, COLUMNS), TRANSPOSED = form
    CLUSTER = ROWS * COLUMNS
    CONSUMERS = 2 if TURNS or M == 256 else M // 64
    PARTS = M // 64 // (1 if TURNS else CONSUMERS)  # of 64 rows that a consumer multiplies
    STEPS = 4 if residual and TURNS else steps  # of 16 columns in the last k block
    CACHE = "evict_first" if once else None
    AHEAD = of_column is not None and TRANSPOSED
    if TRANSPOSED:
        a_major, b_major = "k" if b_major == "k" else "m", "k" if a_major == "k" else "n"
    FEW, MANY = (40, 232) if CONSUMERS == 2 else (32, 160)  # registers of a producer, of a consumer
    THREADS = 128 * (1 + CONSUMERS)
    BOXES = -(-N // 64)
    REST = N - 64 * (BOXES - 1)  # rows of the last box of a transposed tile
    # Boxes of D come by the ring, behind a tile's last k block; or where consumers take turns, whose stages would
    # wait for one while the other needs them, to where those of C are to be.
    RINGED, APART = residual and not TURNS, residual and TURNS
    BUFFERS = BOXES if APART or BOXES % 2 else 2  # boxes of C in turn; of D, those of 64 rows of a tile
    STAGE_BYTES = 2 * (M + N) * K
    STAGES = min(STAGES, (MOST_SHARED - 2 * CONSUMERS * BUFFERS * BOX) // STAGE_BYTES)
    SIDE_A, SIDE_B, SIDE_C = STAGES * M * K, STAGES * N * K, CONSUMERS * BUFFERS * BOX
    IN_A = M >= N  # of the ring, which part of a stage has boxes of D
    IN_STAGE, OF_D = max(M, N) // 64 // CONSUMERS, PARTS * BOXES if RINGED else 0  # how many of a consumer, and of all its
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
    def multiply(a: cuda.Array, b: cuda.Array, part: int, k: int, sums: tuple) -> tuple:
        """Begins the operations on 16 columns of a stage, for each part of 64 rows from that one on."""
        if len(sums) == 0:
            return ()
        of_part = a[64 * part : 64 * part + 64, k : k + 16] if a_major == "k" else a[part, k : k + 16]
        more = cuda.wgmma.mma(of_part, b[:, k : k + 16], sums[0], a_major=a_major, b_major=b_major)
        return (more, *multiply(a, b, part + 1, k, sums[1:]))

    @cuda.jit(device=True)
    def begin(full: cuda.Array, stage: int, phase: int, a: cuda.Array, b: cuda.Array, part: int, steps: int, sums: tuple) -> tuple:
        """Begins a group of operations on so many times 16 columns of a stage, once they are there."""
        cuda.mbarrier_wait_parity(full, stage, phase)
        cuda.wgmma.fence()
        for k in range(0, 16 * steps, 16):
            sums = multiply(a, b, part, k, sums)
        cuda.wgmma.commit()
        return sums

    @cuda.jit(device=True)
    def box_of_d(memory: cuda.Array, stage: int, consumer: int, number: int) -> cuda.Array:
        """Where a stage has that box of D of a consumer."""
        at = (stage * M if IN_A else STAGES * M + stage * N) * K + (consumer * IN_STAGE + number % IN_STAGE) * BOX
        return memory[at : at + BOX].reshape(64, 64)

    @cuda.jit(device=True)
    def fetch(d: cuda.Array, top: int, left: int, thread: int) -> None:
        """To the L2 cache, what a consumer has of D below its first 64 rows, by lines of 128 bytes."""
        rows, columns = (N, M - 64) if TRANSPOSED else (M - 64, N)
        for line in range(thread, rows * ((columns + 63) // 64), 128):
            r, s = (left if TRANSPOSED else top + 64) + line % rows, (top + 64 if TRANSPOSED else left) + 64 * (line // rows)
            if r < d.shape[0] and s < d.shape[1]:
                cuda.inline_ptx("prefetch.global.L2 [%0];", "l", d[r, s:], host=lambda at: None)

    @cuda.jit(device=True)
    def store(c: cuda.Array, box: cuda.Array, top: int, left: int, height: int) -> None:
        """The warps of a consumer store a box, a row each, at (top, left)."""
        quarter, lane = cuda.threadIdx.x // 32 % 4, cuda.threadIdx.x % 32
        for r in range(quarter, min(height, c.shape[0] - top), 4):
            for s in range(lane, min(64, c.shape[1] - left), 32):
                c[top + r, left + s] = box[r, 8 * (s // 8 ^ r % 8) + s % 8]

    @cuda.jit(device=True)
    def two_of(column: int, width: int, more: tuple) -> tuple:
        """What `of_column` gives for the two columns that a thread has of a part of a transposed tile, or for
        others that there are."""
        return of_column(min(column, uint32(width - 1)), *more), of_column(min(column + uint32(8), uint32(width - 1)), *more)

    @cuda.jit(device=True)
    def finish(value: float, old: float, i: int, row: int, column: int, ahead: tuple, shape: tuple, more: tuple) -> float:
        """What c gets for the sum i of a thread whose first is at (row, column). ahead: of the part's two columns."""
        if epilogue is None:
            return value
        r, s = row + uint32(8 * (i // 2 % 2)), column + uint32(8 * (i // 4))
        if TRANSPOSED:
            r, s = min(s + uint32(i % 2), uint32(shape[0] - 1)), min(r, uint32(shape[1] - 1))
            at = ahead[i // 2 % 2] if AHEAD else s
            return epilogue(value, old, r, at, *more) if residual else epilogue(value, r, at, *more)
        r = min(r, uint32(shape[0] - 1))  # one that there is
        s = min(s + uint32(i % 2), uint32(shape[1] - 1)) if direct else min(s, uint32(shape[1] - 8) + column % uint32(8)) + uint32(i % 2)
        at = s if of_column is None else of_column(s, *more)
        return epilogue(value, old, r, at, *more) if residual else epilogue(value, r, at, *more)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array, d: cuda.Array, group: int, more: tuple) -> None:
        boxes_a = cuda.tensor_map(a, box_a, swizzle=128)
        boxes_b = cuda.tensor_map(b, box_b, swizzle=128)
        boxes_c = cuda.tensor_map(b if direct else c, (64, 64), swizzle=128)
        boxes_c_rest = cuda.tensor_map(b if direct else c, (REST if TRANSPOSED else 64, 64), swizzle=128)
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
            for i in range(CONSUMERS * BUFFERS if APART else 0):
                cuda.mbarrier_init(came, i, 1)
            cuda.fence_mbarrier_init()
        if CLUSTER > 1:
            cluster.sync()
        else:
            cuda.syncthreads()
        if early:
            cuda.grid_dependency_control_launch_dependents()
            cuda.grid_dependency_control_wait()
        warp = cuda.shfl_sync(ALL, int32(t // 32), 0)  # known to be the same in all lanes
        depth = a.shape[1 if a_major == "k" else 0]
        whole = depth // K * K if STEPS < 4 else depth
        height, width = (c.shape[1], c.shape[0]) if TRANSPOSED else c.shape
        rows, columns = uint32((height + ROWS * M - 1) // (ROWS * M)), uint32((width + COLUMNS * N - 1) // (COLUMNS * N))
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
                    for begin_d in range(0, OF_D, IN_STAGE):
                        count = min(IN_STAGE, OF_D - begin_d)
                        cuda.mbarrier_wait_parity(empty, stage, phase)
                        cuda.mbarrier_arrive_expect_tx(full, stage, 2 * BOX * CONSUMERS * count)
                        for i in range(CONSUMERS * count):
                            consumer, number = i // count, begin_d + i % count
                            r, s = top + 64 * (PARTS * consumer + number // BOXES), left + 64 * (number % BOXES)
                            at = (s, r) if TRANSPOSED else (r, s)
                            cuda.cp_async_bulk_tensor(box_of_d(memory, stage, consumer, number), boxes_d, at, full, stage, cache=CACHE)
                        stage, phase = after(stage, phase, 1)
        else:
            cuda.setmaxregister_increase(MANY)
            me, quarter, lane = warp // 4 - 1, warp % 4, int32(t % 32)
            half = 0 if TURNS else PARTS * me  # the first part of this consumer
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
                sums = (cuda.wgmma.zeros(64, N, float32), cuda.wgmma.zeros(64, N, float32), cuda.wgmma.zeros(64, N, float32))[:PARTS]
                before = 0
                if AHEAD:
                    ahead = two_of(uint32(top + 16 * quarter + lane // 4), c.shape[1], more)
                if TURNS:
                    cuda.barrier_sync(3 + me, 256)
                for k in range(0, whole, K):
                    sums = begin(full, stage, phase, sa[stage], sb[stage], half, 4, sums)
                    if APART and k == 0 and leader:
                        cuda.cp_async_bulk_wait_group(0, read=True)  # the stores of the tile before
                        for j in range(BOXES):
                            cuda.mbarrier_arrive_expect_tx(came, BUFFERS * me + j, 2 * BOX)
                            at = (left + 64 * j, top) if TRANSPOSED else (top, left + 64 * j)
                            cuda.cp_async_bulk_tensor(sc[me, j], boxes_d, at, came, BUFFERS * me + j, cache=CACHE)
                    if APART and PARTS > 1 and k == max(0, whole - 5 * K):  # else they would be waited for at the end
                        fetch(d, top, left, int32(t % 128))
                    cuda.wgmma.wait(1)  # the stage before has been read
                    if k > 0 and leader:
                        release(empty, before)
                    before = stage
                    stage, phase = after(stage, phase, 1)
                if STEPS < 4:
                    sums = begin(full, stage, phase, sa[stage], sb[stage], half, STEPS, sums)
                    cuda.wgmma.wait(1)
                    if whole > 0 and leader:
                        release(empty, before)
                    before = stage
                    stage, phase = after(stage, phase, 1)
                if TURNS:
                    cuda.barrier_arrive(4 - me, 256)
                sums = (cuda.wgmma.wait(0, *sums),) if PARTS == 1 else cuda.wgmma.wait(0, *sums)
                if TURNS:
                    stage, phase = after(stage, phase, (depth + K - 1) // K)  # the other's
                if leader:
                    release(empty, before)
                # the row of a box and the first of its 8 columns, over 8, that this lane tells stmatrix
                row, eight = (8 * (lane // 16) + lane % 8, 2 * quarter + lane // 8 % 2) if TRANSPOSED else (16 * quarter + lane % 16, lane // 16)
                values = cuda.local.array(32, c.dtype)
                for part in range(PARTS):
                    acc = sums[part]
                    r, s = uint32(top + 64 * part + 16 * quarter + lane // 4), uint32(left + 2 * (lane % 4))
                    for j in range(BOXES):
                        number = part * BOXES + j
                        box = sc[me, number % BUFFERS]
                        if APART:
                            cuda.mbarrier_wait_parity(came, BUFFERS * me + j, turn)
                        else:
                            if leader:
                                cuda.cp_async_bulk_wait_group(BUFFERS - 1, read=True)  # the last store from this box has read it
                            cuda.barrier_sync(1 + me, 128)
                        box_d = box_of_d(memory, stage, me, number) if RINGED else box
                        if RINGED and number % IN_STAGE == 0:
                            cuda.mbarrier_wait_parity(full, stage, phase)
                        if AHEAD:  # of the next box, not of all: else all would be finished before one is stored
                            following = two_of(r + uint32(64 * ((j + 1) // BOXES)), c.shape[1], more)
                        for e in range(0, 32, 8):
                            if 32 * j + e < N // 2:
                                # where the swizzle has these 8 columns
                                at = (2 * e + row, 8 * (eight ^ row % 8)) if TRANSPOSED else (row, 8 * ((e // 4 + eight) ^ row % 8))
                                old = cuda.ldmatrix(box_d, at, 4, trans=TRANSPOSED) if residual else (c.dtype.type(0),) * 8
                                for i in range(8):
                                    if 32 * j + e + i < N // 2:
                                        values[e + i] = finish(acc[32 * j + e + i], float32(old[i]), 32 * j + e + i, r, s, ahead if AHEAD else (), c.shape, more)
                                low = values[e], values[e + 1], values[e + 2], values[e + 3]
                                cuda.stmatrix(box, at, (*low, values[e + 4], values[e + 5], values[e + 6], values[e + 7]), trans=TRANSPOSED)
                        if AHEAD:
                            ahead = following
                        cuda.fence_proxy_async_shared()  # so that the copy sees what this thread has stored
                        cuda.barrier_sync(1 + me, 128)
                        if RINGED and (number % IN_STAGE == IN_STAGE - 1 or number == OF_D - 1):
                            if leader:
                                release(empty, stage)
                            stage, phase = after(stage, phase, 1)
                        at = (left + 64 * j, top + 64 * part) if TRANSPOSED else (top + 64 * part, left + 64 * j)
                        if direct:
                            store(c, box, *at, REST if TRANSPOSED and j == BOXES - 1 else 64)
                            if APART:
                                cuda.barrier_sync(1 + me, 128)  # all have read the box
                        elif leader:
                            if TRANSPOSED and j == BOXES - 1:
                                cuda.cp_async_bulk_tensor_store(boxes_c_rest, at, box[:REST], cache=CACHE)
                            else:
                                cuda.cp_async_bulk_tensor_store(boxes_c, at, box, cache=CACHE)
                            cuda.cp_async_bulk_commit_group()
                        if leader:
                            if APART and 0 < part * BOXES + j <= (PARTS - 1) * BOXES:  # the box before, of the next 64 rows
                                last_box = (j - 1) % BOXES
                                below = top + 64 * (part if j == 0 else part + 1)
                                at = (left + 64 * last_box, below) if TRANSPOSED else (below, left + 64 * last_box)
                                cuda.cp_async_bulk_wait_group(1, read=True)
                                cuda.mbarrier_arrive_expect_tx(came, BUFFERS * me + last_box, 2 * BOX)
                                cuda.cp_async_bulk_tensor(sc[me, last_box], boxes_d, at, came, BUFFERS * me + last_box, cache=CACHE)
                    turn ^= 1
        if CLUSTER > 1:
            cluster.sync()  # nothing arrives at a block that has ended

    gemm.threads, gemm.shared_bytes = THREADS, 2 * (SIDE_A + SIDE_B + SIDE_C)
    return gemm


gemm = make_gemm(FORMS[0], "k", "n", None, False, False)


def is_beyond_cache(nbytes: int) -> bool:
    """Another matrix and C, of so many bytes each, which are read and written once, would push A and B
    out of an L2 cache that does not hold them. On an H200 a residual at 8192 x 8192 x 1024 went from
    0.93 to 0.94 of the plain product's speed; at 4096 x 4096 x 1024, 34 MB, it lost as much."""
    device = cuda.get_current_device()
    return not device.is_host and nbytes > device.L2_CACHE_SIZE


def launch(
    blocks: int,
    a_major: str = "k",
    b_major: str = "n",
    epilogue: Callable | None = None,
    residual: bool = False,
    group: int = GROUP,
    form: Form | None = None,
    of_column: Callable | None = None,
) -> Callable:
    """A function of a, b, c (with residual also d) and what the epilogue takes, which computes
    c = a @ b by so many blocks, as many as there are multiprocessors. Arrays have any
    sizes and strides; of those of a, b and d that tensor maps cannot take, copies are made."""
    by = reads(epilogue, residual)

    def run(a, b, c, *more):
        m, n = c.shape
        k = a.shape[1 if a_major == "k" else 0]
        a, b = (x if aligned(x) else padded(x) for x in (a, b))
        chosen = form or pick(m, n, k, blocks, a.shape[1], b.shape[1], a_major, by)
        direct = not aligned(c)
        early = rounds_of(chosen, m, n, blocks) == 1  # a short kernel: its beginning counts
        once = residual and is_beyond_cache(2 * m * n)
        kernel = make_gemm(chosen, a_major, b_major, epilogue, residual, direct, -(-k // 16) % 4 or 4, early, once, of_column)
        d, more = (more[0] if aligned(more[0]) else padded(more[0]), more[1:]) if residual else (c, more)
        cluster = chosen.cluster[0] * chosen.cluster[1]
        left, right = (b, a) if chosen.transposed else (a, b)
        grid = cluster * clusters_of(chosen, blocks)
        kernel.configure(grid, kernel.threads, 0, kernel.shared_bytes, cluster, programmatic_dependent_launch=early)(left, right, c, d, group, more)

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
