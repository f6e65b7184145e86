"""The grid's barrier: this_grid().sync(), on both devices; what cannot be launched, and what cannot work."""

import numpy as np
import pytest
from pyptx import cuda
from pyptx.cuda import cg


def test_every_block_sees_what_all_wrote():
    @cuda.jit
    def life(a, turns):
        grid = cg.this_grid()
        i = cuda.grid(1)
        n = a.shape[1]
        for t in range(turns):
            now = t % 2
            a[1 - now, i] = a[now, i - 1] ^ a[now, (i + 1) % n]
            grid.sync()

    a = np.zeros((2, 512), np.uint8)
    a[0, 100] = a[0, 300] = 1
    expected = a.copy()
    for t in range(50):
        now = expected[t % 2]
        expected[1 - t % 2] = np.roll(now, 1) ^ np.roll(now, -1)
    life[8, 64](a, 50)
    assert (a == expected).all()


def test_sum_without_a_second_kernel():
    @cuda.jit
    def total(x, partial, out):
        tile = cuda.shared.array(128, np.int64)
        t = cuda.threadIdx.x
        tile[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        if t == 0:
            s = 0
            for k in range(128):
                s += tile[k]
            partial[cuda.blockIdx.x] = s
        cuda.cg.this_grid().sync()
        if cuda.grid(1) == 0:
            for k in range(cuda.gridDim.x):
                out[0] += partial[k]

    x = np.random.default_rng(1).integers(0, 1000, 16 * 128)
    out = np.zeros(1, np.int64)
    total[16, 128](x, np.zeros(16, np.int64), out)
    assert out[0] == x.sum()


@pytest.mark.parametrize("grid, block", [((3, 2, 2), (4, 3, 2)), (1, 96), ((2, 4), 33)])
@pytest.mark.unchecked("threads end before a barrier")
def test_shapes_and_what_lives_across(grid, block):
    """Local arrays, shared memory, votes and shuffles on both sides of the barrier; device functions; some threads have returned."""

    @cuda.jit(device=True)
    def everyone():
        cuda.cooperative_groups.this_grid().sync()

    @cuda.jit
    def kernel(counts, out):
        mine = cuda.local.array(3, np.int64)
        shared = cuda.shared.array(1, np.int64)
        b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        n = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
        blocks = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z
        if t == 0:
            shared[0] = 10 * b
        for k in range(3):
            mine[k] = k + t
        if t % 7 == 6:
            return
        votes = cuda.syncthreads_count(t % 2)
        for k in range(3):
            cuda.atomic.add(counts, k, 1)
            everyone()
            mine[k] += counts[k]
            everyone()
        votes += cuda.syncthreads_count(t % 3 == 0)
        first = cuda.shfl_sync(0xFFFFFFFF, t, 0)
        out[b, t] = mine[0] + mine[1] + mine[2] + shared[0] + 1000 * votes + 100000 * (first == t // 32 * 32)
        if blocks == b + 1:
            counts[3] = n

    def size(v):
        return int(np.prod(v))

    nblocks, nthreads = size(grid), size(block)
    counts, out = np.zeros(4, np.int64), np.zeros((nblocks, nthreads), np.int64)
    kernel[grid, block](counts, out)
    t = np.arange(nthreads)
    alive = t % 7 != 6
    each = nblocks * int(alive.sum())
    votes = int((t[alive] % 2).sum() + (t[alive] % 3 == 0).sum())
    row = 3 * t + 3 + 3 * each + 1000 * votes + 100000
    expected = np.where(alive, row + 10 * np.arange(nblocks)[:, None], 0)
    assert (counts == [each] * 3 + [nthreads]).all()
    assert (out == expected).all()


def test_a_branch_that_all_take_and_one_that_none_takes():
    @cuda.jit
    def kernel(x, flag):
        i = cuda.grid(1)
        if flag[0] > 0:
            x[0, i] = i
            cg.this_grid().sync()
            x[1, i] = x[0, x.shape[1] - 1 - i]
        else:
            x[1, i] = -1
        if flag[0] > 5:
            cg.this_grid().sync()

    x = np.zeros((2, 128), np.int64)
    kernel[4, 32](x, np.array([1]))
    assert (x[1] == np.arange(128)[::-1]).all()
    kernel[4, 32](x, np.array([0]))
    assert (x[1] == -1).all()


def test_launches_on_several_streams():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        for turn in range(20):
            x[turn + 1, i] = x[turn, (i + 37) % x.shape[1]] + 1
            cg.this_grid().sync()

    streams = [cuda.stream() for _ in range(3)]
    arrays = [cuda.to_device(np.zeros((21, 128), np.int64)) for _ in range(6)]
    for k, a in enumerate(arrays):
        kernel[4, 32, streams[k % 3]](a)
    for s in streams:
        s.synchronize()
    for a in arrays:
        assert (a.copy_to_host()[20] == 20).all()


def test_the_largest_grid():
    @cuda.jit
    def kernel(count, bad):
        cuda.atomic.add(count, 0, 1)
        cg.this_grid().sync()
        if count[0] != cuda.gridsize(1):
            bad[0] = 1

    kernel[1, 128](np.zeros(1, np.int64), np.zeros(1, np.int64))
    compiled = kernel.overloads[kernel.signatures[0]]
    most = compiled.max_cooperative_grid_blocks(128)
    assert most > 0 and compiled.max_cooperative_grid_blocks(blockdim=(16, 8), dynsmemsize=0) == most
    assert compiled.max_cooperative_grid_blocks(1024) <= most
    assert compiled.max_cooperative_grid_blocks(128, 30000) <= most
    assert compiled.max_cooperative_grid_blocks(4096) == 0
    with pytest.raises(ValueError, match=f"the grid has {most + 1}; .* room for {most}"):
        kernel[most + 1, 128](np.zeros(1, np.int64), np.zeros(1, np.int64))
    few = min(most, 2000)
    count, bad = np.zeros(1, np.int64), np.zeros(1, np.int64)
    kernel[few, 128](count, bad)
    assert count[0] == few * 128 and bad[0] == 0
    with pytest.raises(ValueError, match="at least 1"):
        compiled.max_cooperative_grid_blocks(0)
    with pytest.raises(ValueError, match="-1 bytes"):
        compiled.max_cooperative_grid_blocks(1, -1)


def test_an_exception_ends_the_launch():
    @cuda.jit(debug=True)
    def kernel(x, n):
        i = cuda.grid(1)
        if i == n:
            raise ValueError("no such thread")
        cg.this_grid().sync()
        x[i] = 1

    with pytest.raises(ValueError, match="no such thread"):
        kernel[4, 32](np.zeros(128), 64)
        cuda.synchronize()


@pytest.mark.host_only("a GPU waits for ever")
@pytest.mark.unchecked("a block misses the grid's barrier")
def test_a_block_that_has_ended():
    @cuda.jit
    def kernel():
        if cuda.blockIdx.x == 2:
            return
        cg.this_grid().sync()

    with pytest.raises(RuntimeError, match="this block waits for 1 of the grid's 5 blocks that have ended") as e:
        kernel[5, 32]()
    assert e.value.block == (0, 0, 0)


@pytest.mark.host_only("undefined on a GPU")
@pytest.mark.unchecked("threads wait at different barriers")
def test_threads_at_different_barriers():
    @cuda.jit
    def kernel():
        if cuda.threadIdx.x == 7:
            cuda.syncthreads()
        else:
            cg.this_grid().sync()

    with pytest.raises(RuntimeError, match="some threads of the block wait for the grid, others at another"):
        kernel[2, 32]()


def test_names():
    assert cuda.cooperative_groups is cuda.cg is cg
    with pytest.raises(TypeError, match="in a kernel only"):
        cg.this_grid()

    @cuda.jit
    def kernel(x):
        cg.this_grid().synk()

    with pytest.raises(AttributeError, match="did you mean 'sync'"):
        kernel[1, 1](np.zeros(1))


def test_fences_of_the_host_device_are_fences():
    """A block runs on one OS thread, so its fence orders for the compiler only; the others are instructions."""
    import platform

    from harness import define
    from pyptx import _pyptx

    if platform.machine() != "x86_64":
        pytest.skip("looks at x86-64 code")
    for name, is_instruction in [("threadfence_block", False), ("threadfence", True), ("threadfence_system", True)]:
        kernel = define(f"def kernel(x):\n    x[0] = 1\n    cuda.{name}()\n    x[0] = 2\n")
        code = _pyptx._compile(kernel, "int64[::1]", "host", None, 0, {}, "asm")["asm"]
        assert ("mfence" in code or "lock\t" in code or "\tlock" in code) == is_instruction
        # Neither store goes away, though the second one writes over the first.
        assert code.count("$1,") + code.count("$2,") >= 2
