"""Rows of ir/instructions.def: named barriers, election, registers, fences, clusters and their shared memory; the PTX of each, what it needs of an
architecture, and what the host device finds wrong."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, _pyptx, cuda
from test_ptx import assemble, ptx_of

ROWS = re.findall(r'^N\((\w+), "([\w.]+)", "(.*?)", .*?, "([^"]*)", "(sm_\w+)[^"]*", (\d+), "', (Path(__file__).resolve().parents[3] / "ir/instructions.def").read_text(), re.M)


def has(*needed):
    """Runs it here: the host device has all, the translation of PTX to C (PYPTX_DEVICE=ptx) none of these."""
    where = os.environ["PYPTX_DEVICE"]
    return where == "host" or (where != "ptx" and cuda.get_current_device().compute_capability >= needed)


on_device = pytest.mark.skipif("not has(9, 0)", reason="needs compute capability 9.0, and a GPU or the host device")


# --- named barriers ---


@cuda.jit
def halves(out):
    """64 threads meet twice in each turn, the others once at a barrier of their own."""
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    if t < 64:
        for k in range(5):
            s[t] = t + k
            cuda.barrier_sync(1, 64)
            out[t] += s[63 - t]
            cuda.barrier_sync(1, 64)
    else:
        cuda.barrier_sync(15, 64)
        out[t] = 1


@cuda.jit
def hand_over(out):
    """A warp fills, a warp empties, the buffer is free again when it has been read."""
    s = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    if t < 32:
        for k in range(4):
            if k:
                cuda.barrier_sync(2, 64)
            s[t] = 10 * k + t
            cuda.barrier_arrive(1, 64)
    else:
        for k in range(4):
            cuda.barrier_sync(1, 64)
            out[k, t - 32] = s[t - 32]
            if k < 3:
                cuda.barrier_arrive(2, 64)


@pytest.mark.skipif("not has(7, 0)", reason="the translation of PTX to C has no named barriers")
def test_a_part_of_a_block_meets():
    out = np.zeros(128, np.int32)
    halves[1, 128](out)
    assert (out == np.append(5 * np.arange(64)[::-1] + 10, np.ones(64))).all()


@pytest.mark.skipif("not has(7, 0)", reason="the translation of PTX to C has no named barriers")
def test_producer_and_consumer():
    out = np.zeros((4, 32), np.int32)
    hand_over[1, 64](out)
    assert (out == 10 * np.arange(4)[:, None] + np.arange(32)).all()


@pytest.mark.host_only
@pytest.mark.parametrize("body, what", [
    ("    if t < 32:\n        cuda.barrier_sync(3, 64)\n", r"barrier_sync: 32 of the 64 threads of barrier 3 have come, and the others"),
    ("    cuda.barrier_sync(3, 32 if t < 32 else 64)\n", r"barrier 3 is for 64 threads here, and \d+ of 32 have come|of the 64 threads of barrier 3 have come"),
    ("    cuda.barrier_sync(t + 40, 64)\n", r"barrier 40 is for 64 threads here"),
    ("    cuda.barrier_sync(1, t + 1)\n", r"barrier 1 is for 1 threads here"),
    ("    if t < 32:\n        cuda.barrier_sync(1, 64)\n    cuda.syncthreads()\n", r"32 of the 64 threads of barrier 1 have come"),
])  # fmt: skip
def test_wrong_use_of_named_barriers(body, what):
    kernel = define("def kernel(x):\n    t = cuda.threadIdx.x\n" + body)
    with pytest.raises(RuntimeError, match=what):
        cuda.jit(kernel)[1, 64](np.zeros(4))


@pytest.mark.parametrize("call, what", [
    ("barrier_sync(0, 64)", "barriers 1 to 15 (0 is syncthreads's), and none 0"), ("barrier_sync(16, 64)", "and none 16"),
    ("barrier_arrive(1, 33)", "a multiple of 32 threads, at most 1024, not for 33"), ("barrier_sync(1.5, 32)", "must be an integer"),
    ("setmaxregister_increase(20)", "a multiple of 8 from 24 to 256, not 20"), ("setmaxregister_decrease(len(x))", "must be known"),
    ("elect_sync(1 << 40)", "has 32 bits"), ("cg.this_cluster().map_shared_rank(x, 0)", "must be an array of cuda.shared.array"),
    ("cg.this_cluster().map_shared_rank(cuda.shared.array(4, np.int8), 16)", "a cluster has ranks 0 to 15 at most, and none 16"),
])  # fmt: skip
def test_wrong_calls(call, what):
    kernel = define(f"def kernel(x):\n    cuda.{call}\n")
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(kernel, "float32[::1]", "sm_90")


# --- one lane, registers, fences, dependent launches ---


@cuda.jit
def leaders(out):
    t = cuda.threadIdx.x
    if cuda.elect_sync():
        cuda.atomic.add(out, 0, 1)
    if t % 32 >= 8 and cuda.elect_sync(0xFFFFFF00):
        cuda.atomic.add(out, 1, t % 32 >= 8)


@on_device
def test_one_lane_of_each_warp():
    out = np.zeros(2, np.int32)
    leaders[3, 128](out)
    assert out.tolist() == [12, 12]


@cuda.jit
def orders(out):
    cuda.grid_dependency_control_wait()
    cuda.fence_proxy_async()
    cuda.fence_proxy_async_shared()
    cuda.fence_proxy_async_global()
    cuda.fence_proxy_alias()
    out[cuda.grid(1)] += 1
    cuda.grid_dependency_control_launch_dependents()


@on_device
@pytest.mark.parametrize("dependent", [False, True])
def test_launches_that_may_overlap(dependent):
    d = cuda.to_device(np.zeros(512, np.int32))
    for _ in range(3):
        launch = orders.configure(8, 64, programmatic_dependent_launch=dependent)
        launch(d)
    assert launch.programmatic_dependent_launch is dependent and (d.copy_to_host() == 3).all()


@cuda.jit
def registers(out):
    if cuda.threadIdx.x < 128:
        cuda.setmaxregister_decrease(40)
    else:
        cuda.setmaxregister_increase(160)
    out[cuda.grid(1)] = 1


@on_device
def test_registers_move():
    out = np.zeros(256, np.int32)
    registers[1, 256](out)
    assert (out == 1).all()


@pytest.mark.host_only
def test_registers_move_for_whole_warps():
    @cuda.jit
    def kernel(x):
        if cuda.laneid < 16:
            cuda.setmaxregister_decrease(40)

    kernel[1, 16](np.zeros(4))  # a warp of 16 lanes


LESS, MORE = "cuda.setmaxregister_decrease({})\n", "cuda.setmaxregister_increase({})\n"
HALVES = "    if t < {}:\n        {}    else:\n        {}"


@pytest.mark.host_only
@pytest.mark.parametrize("bounds, body, what", [
    (None, "    if t % 32 < 16:\n        " + LESS.format(40) + "    cuda.syncthreads()\n", "decrease: 192 of the 384 threads|decrease: 64 of the 128 threads of warpgroup 0 have come, and the others have ended or wait elsewhere"),
    (None, "    if t < 32:\n        " + LESS.format(40), "decrease: 32 of the 128 threads of warpgroup 0 have come"),
    (None, "    if t < 128 + 96:\n        " + LESS.format(40), "decrease: 96 of the 128 threads of warpgroup 1 have come"),
    (None, HALVES.format(32, LESS.format(40), MORE.format(160)), r"crease: thread \d+ of warpgroup 0 sets \d+ registers, and others of it change to \d+"),
    (None, HALVES.format(64, LESS.format(40), LESS.format(24)), r"decrease: thread \d+ of warpgroup 0 sets (40|24) registers"),
    (None, "    " + MORE.format(240), "increase: warpgroup 2 waits in vain for 240 registers a thread: the others of the block keep 61440 of its 65536"),
    (None, HALVES.format(256, MORE.format(232), MORE.format(168)), "increase: warpgroup 2 waits in vain for 168 registers a thread: the others of the block keep 59392 of its 65536"),
    ((384, 1), HALVES.format(128, "pass\n", MORE.format(232)), "increase: warpgroup 1 waits in vain for 232 registers a thread: the others of the block keep 43008 of its 64512"),
    ((384, 1), HALVES.format(128, LESS.format(40), MORE.format(240)), "increase: warpgroup 2 waits in vain for 240 registers"),
    ((384, 1), "    " + LESS.format(232), "decrease: warpgroup 0 has 168 registers a thread, so that this is no change to 232 in that direction"),
    ((384, 1), "    " + MORE.format(160), "increase: warpgroup 0 has 168 registers a thread"),
    (None, "    " + LESS.format(40) + "    " + LESS.format(48), "decrease: warpgroup 0 has 40 registers a thread"),
])  # fmt: skip
def test_wrong_use_of_registers(bounds, body, what):
    kernel = define("def kernel(x):\n    t = cuda.threadIdx.x\n" + body)
    with pytest.raises(RuntimeError, match=r"cuda\.setmaxregister_.*" + what) as e:
        cuda.jit(kernel, launch_bounds=bounds)[1, 384](np.zeros(4))
    assert "thread" in str(e.value)


@pytest.mark.host_only
@pytest.mark.parametrize("bounds, threads, body", [
    ((384, 1), 384, HALVES.format(128, LESS.format(40), MORE.format(232))), ((384, 1), 384, HALVES.format(256, MORE.format(232), LESS.format(40))),
    ((416, 1), 416, HALVES.format(384, MORE.format(160), LESS.format(24))), (None, 384, "    for k in range(2):\n        " + LESS.format(40)),
    ((256, 1), 256, HALVES.format(128, LESS.format(40), "pass\n") + "    cuda.syncthreads()\n    if t < 128:\n        " + MORE.format(256))])  # fmt: skip
def test_right_use_of_registers(bounds, threads, body):
    cuda.jit(define("def kernel(x):\n    t = cuda.threadIdx.x\n" + body), launch_bounds=bounds)[2, threads](np.zeros(4))


# --- clusters ---


@cuda.jit
def places(out):
    c = cuda.cg.this_cluster()
    if cuda.threadIdx.x == 0:
        b = cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y
        out[b, 0], out[b, 1] = c.block_rank(), c.num_blocks()
        out[b, 2], out[b, 3], out[b, 4] = c.block_index()
        out[b, 5], out[b, 6], out[b, 7] = c.dim_blocks()


@cuda.jit
def rotate(out, x, times):
    """Each block reads the shared memory of the next one of its cluster."""
    s = cuda.shared.array(32, np.float32)
    c = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    c.sync()
    for _ in range(times):
        v = c.map_shared_rank(s, (c.block_rank() + 1) % c.num_blocks())[31 - t]
        c.sync()
        s[t] = v
        c.barrier_arrive()
        c.barrier_wait()
    out[cuda.grid(1)] = s[t]


@cuda.jit
def histogram(out, x):
    """Each block of a cluster has a part of the bins; atomics reach them all."""
    part = cuda.shared.array(16, np.int32)
    c = cuda.cg.this_cluster()
    t, blocks = cuda.threadIdx.x, c.num_blocks()
    if t < 16:
        part[t] = 0
    c.sync()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        bin = x[i]
        cuda.atomic.add(c.map_shared_rank(part, bin // 16), bin % 16, 1)
    c.sync()
    if t < 16:
        cuda.atomic.add(out, 16 * c.block_rank() + t, part[t])


@on_device
@pytest.mark.parametrize("cluster", [None, 1, 2, (3, 2), (1, 4, 1), 6])
def test_places_in_a_cluster(cluster):
    grid, (x, y, _) = (6, 4), (*np.atleast_1d(cluster or 1), 1, 1)[:3]
    out = np.zeros((24, 8), np.int64)
    places.configure(grid, 32, cluster=cluster)(out)
    for b in range(24):
        i, j = b % 6 % x, b // 6 % y
        assert out[b].tolist() == [i + x * j, x * y, i, j, 0, x, y, 1]


@on_device
@pytest.mark.parametrize("cluster, times", [(1, 2), (2, 1), (4, 3), (8, 5)])
def test_shared_memory_of_other_blocks(cluster, times):
    x = np.random.default_rng(cluster).random(32 * 16, np.float32)
    out, want = np.zeros_like(x), x.reshape(-1, cluster, 32)
    rotate[16, 32, 0, 0, cluster](out, x, times)
    for _ in range(times):
        want = np.roll(want, -1, axis=1)[..., ::-1]
    assert np.array_equal(out, want.reshape(-1))


@on_device
@pytest.mark.parametrize("blocks", [2, 4, 8])
def test_atomics_on_shared_memory_of_other_blocks(blocks):
    x = np.random.default_rng(blocks).integers(0, 16 * blocks, 10000).astype(np.int32)
    out = np.zeros(16 * blocks, np.int32)
    histogram[4 * blocks, 128, 0, 0, blocks](out, x)
    assert (out == np.bincount(x, minlength=16 * blocks)).all()


@on_device
def test_in_a_graph_and_bound():
    x, out = cuda.to_device(np.arange(128, dtype=np.float32)), cuda.device_array(128, np.float32)
    launch = rotate.configure(4, 32, cluster=4)
    bound = launch.bind(out, x, 1)
    bound()
    want = out.copy_to_host()
    graph = cuda.graph()
    with graph:
        launch(out, x, 1)
    out[:] = 0
    graph.launch()
    assert np.array_equal(out.copy_to_host(), want) and want[0] == 63


@pytest.mark.host_only
@pytest.mark.parametrize("body, what", [
    ("    c.map_shared_rank(s, c.num_blocks())[0] = 1\n", "the cluster has no block of rank 2: it has 2 blocks"),
    ("    c.map_shared_rank(s, c.block_rank() - 3)[0] = 1\n", "the cluster has no block of rank -[32]: it has 2 blocks"),
    ("    if c.block_rank() == 1:\n        return\n    c.sync()\n    x[0] = c.map_shared_rank(s, 1)[0]\n", "the block of rank 1 has ended, and its shared memory with it"),
    ("    c.sync()\n    x[0] = c.map_shared_rank(s, 0)[0]\n", "nothing keeps the block of rank [01] from ending before this block uses its shared memory"),
    ("    c.sync()\n    if c.block_rank() == 1:\n        x[0] = c.map_shared_rank(s, 0)[0]\n        cuda.syncthreads()\n", "nothing keeps the block of rank 0"),
    ("    c.barrier_wait()\n", "barrier_wait: this thread has not arrived: call barrier_arrive"),
    ("    c.barrier_arrive()\n    c.barrier_arrive()\n", "barrier_arrive: this thread has arrived already: call barrier_wait"),
    ("    if c.block_rank() == 0:\n        c.sync()\n    else:\n        if cuda.threadIdx.x < 16:\n            c.sync()\n        cuda.syncthreads()\n",
     r"ClusterGroup\.sync: \d+ of the 64 threads of the cluster have not come"),
    ("    x[0] = c.map_shared_rank(s, 1 - c.block_rank())[0]\n    c.sync()\n", "nothing says that the block of rank 1 has begun and written its shared memory, which is used here"),
    ("    cuda.syncthreads()\n    x[0] = c.map_shared_rank(s[1:], 1)[1]\n    c.sync()\n", "nothing says that the block of rank 1 has begun"),
    ("    c.barrier_arrive()\n    c.map_shared_rank(s, 1)[0] = 3\n    c.barrier_wait()\n    c.sync()\n", "nothing says that the block of rank 1 has begun"),
    ("    cuda.atomic.add(c.map_shared_rank(s, 1), 0, 1)\n    c.sync()\n", "nothing says that the block of rank 1 has begun"),
])  # fmt: skip
def test_wrong_use_of_clusters(body, what):
    kernel = define("def kernel(x):\n    s = cuda.shared.array(4, np.float64)\n    c = cuda.cg.this_cluster()\n    s[0] = 1\n" + body)
    with pytest.raises(RuntimeError, match=what):
        cuda.jit(kernel)[4, 32, 0, 0, 2](np.zeros(4))


@on_device
def test_threads_that_have_ended_are_not_waited_for():
    @cuda.jit
    def kernel(out):
        c = cuda.cg.this_cluster()
        if c.block_rank() == 1 or cuda.threadIdx.x >= 40:
            return
        c.sync()
        out[cuda.grid(1)] = 1

    out = np.zeros(256, np.int32)
    kernel[4, 64, 0, 0, 2](out)
    assert (out.reshape(2, 2, 64) == (np.arange(2)[:, None] == 0) * (np.arange(64) < 40)).all()


# --- the table ---

KERNELS = {
    "BARRIER_SYNC": (halves, "int32[::1]"), "BARRIER_ARRIVE": (hand_over, "int32[:,::1]"), "ELECT_SYNC": (leaders, "int32[::1]"),
    "SETMAXREGISTER_INCREASE": (registers, "int32[::1]"), "SETMAXREGISTER_DECREASE": (registers, "int32[::1]"),
    **dict.fromkeys(("FENCE_PROXY_ASYNC", "FENCE_PROXY_ASYNC_SHARED", "FENCE_PROXY_ASYNC_GLOBAL", "FENCE_PROXY_ALIAS", "GRID_DEPENDENCY_WAIT",
                     "GRID_DEPENDENCY_LAUNCH"), (orders, "int32[::1]")),
    **dict.fromkeys(("CLUSTER_RANK", "CLUSTER_BLOCKS", "CLUSTER_INDEX", "CLUSTER_DIM"), (places, "int64[:,::1]")),
    **dict.fromkeys(("CLUSTER_SYNC", "CLUSTER_ARRIVE", "CLUSTER_WAIT", "CLUSTER_MAP"), (rotate, "float32[::1], float32[::1], int64")),
}  # fmt: skip


def elsewhere(name):
    import test_copies  # which import this file
    import test_matrices
    import test_tensor_maps

    if name.startswith("WGMMA"):
        import test_wgmma  # and this one

        return test_wgmma.gemm, "float32[:,::1], float16[:,::1], float16[:,::1]"
    table = {**test_copies.TABLE, **test_tensor_maps.TABLE}
    if name in table:
        return table[name]
    return (test_matrices.through, "uint16[:,::1], uint16[:,::1]") if name != "MMA_SYNC" else (test_matrices.matmul, "float32[:,::1], float16[:,::1], float16[:,::1]")


@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_ptx_and_what_it_needs(row, one_entry):
    """Each row's PTX stands in a kernel that uses it, for the first architecture, and is an error for one before."""
    name, path, _, ptx, arch, version = row
    kernel, signature = KERNELS[name] if name in KERNELS else elsewhere(name)
    newest = "sm_90"
    text = ptx_of(kernel.py_func, signature, newest)
    for word in re.sub(r"(?<!::)cta\.|mov ", "", ptx).split(", "):
        assert word in text, text
    wanted = re.search(r"\.version (\d)\.(\d)\n\.target (\w+)", text)
    assert int(wanted[1]) * 10 + int(wanted[2]) >= int(version)
    assert (wanted[3] == "sm_90a") == (name.startswith(("SETMAX", "WGMMA")))
    if arch.startswith("sm_90"):
        with pytest.raises(ValueError, match=r"PT410: .* needs sm_90(a[, ].*| or a newer architecture), and this is code for sm_89"):
            ptx_of(kernel.py_func, signature, "sm_89")
        with pytest.raises(ValueError, match=rf"needs PTX {version[0]}\.{version[1]}, and this is code for PTX"):
            _pyptx._compile(kernel.py_func, signature, "nvptx", arch.rstrip("a"), int(version) - 1, {}, "ptx")


# Costs 0.1 s an architecture and text, most of it ptxas.
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"])
@pytest.mark.parametrize("text, numbers", [("wgmma.fence.sync.aligned;", "90"), ("tcgen05.fence::before_thread_sync;", "100 103 110"),
                                           ("setmaxnreg.dec.sync.aligned.u32 24;", "90 100 103 110 120 121")])  # fmt: skip
def test_one_architecture_alone(text, numbers, arch, tmp_path):
    """What is for one architecture alone compiles, called or as text, where ptxas takes it, and is an error elsewhere that names all that have it."""
    call = {"wgmma": "wgmma.fence()", "setma": "setmaxregister_decrease(24)"}.get(text[:5], "syncthreads()")
    has = [f"sm_{n}a" for n in numbers.split()]
    kernels = [define(f"def kernel(x):\n    cuda.{c}\n    x[0] = 1\n") for c in (call, f"inline_ptx({text!r})")]
    ptx = {a: ptx_of(kernels[1], "float32[::1]", a) for a in (has[-1], has[-1][:-1])}
    assert ptx[has[-1]] == ptx[has[-1][:-1]] and f".target {has[-1]}\n" in ptx[has[-1]]
    if arch + "a" in has:
        for kernel in kernels:
            own = ptx_of(kernel, "float32[::1]", arch)
            assert f".target {arch}{'a' * (kernel is kernels[1] or call != 'syncthreads()')}\n" in own
            assemble(own, re.search(r"\.target (\w+)", own)[1], tmp_path)
        return
    for kernel in kernels[call == "syncthreads()":]:
        with pytest.raises(ValueError, match=rf"PT410: .* needs {', '.join(has[:-1])}{' or ' * (len(has) > 1)}{has[-1]}, and this is code for {arch}\b"):
            ptx_of(kernel, "float32[::1]", arch)
    letter = "a" * (arch != "sm_80")
    with pytest.raises(AssertionError, match=f"not supported on .target '{arch}{letter}'"):
        assemble(re.sub(r"\.version .*\n\.target .*", f".version 9.0\n.target {arch}{letter}", ptx[has[-1]]), arch + letter, tmp_path)


def test_code_for_a_family_stays_it(tmp_path):
    kernel = define("def kernel(x):\n    cuda.setmaxregister_decrease(24)\n    x[0] = 1\n")
    ptx = ptx_of(kernel, "float32[::1]", "sm_120f")
    assert ".target sm_120f\n" in ptx
    assemble(ptx, "sm_120f", tmp_path)


@pytest.mark.parametrize("name, arch", [(n, a) for n in ("ELECT_SYNC", "CLUSTER_MAP", "CLUSTER_RANK", "FENCE_PROXY_ALIAS", "SETMAXREGISTER_INCREASE", "BARRIER_ARRIVE")
                                        for a in ("sm_90", "sm_100", "sm_120")])  # fmt: skip
def test_assembles(name, arch, tmp_path):
    kernel, signature = KERNELS[name]
    ptx = ptx_of(kernel.py_func, signature, arch)
    assemble(ptx, re.search(r"\.target (\w+)", ptx)[1], tmp_path)


def test_atomics_and_pairs_on_shared_memory_of_other_blocks(tmp_path):
    assemble(ptx_of(histogram.py_func, "int32[::1], int32[::1]", "sm_90"), "sm_90", tmp_path)


THEIRS = {  # numba-cuda-mlir's names: what they are here
    "cluster_ctarank()": "cg.this_cluster().block_rank()", "cluster_arrive()": "cg.this_cluster().barrier_arrive()",
    "cluster_arrive_relaxed()": "cg.this_cluster().barrier_arrive()", "cluster_wait()": "cg.this_cluster().barrier_wait()", "elect_sync()": "elect_sync()",
    "elect_sync_mask(0xff)": "elect_sync(0xff)", "barrier()": "syncthreads()", "mapa(s, 1)[0, 0]": "cg.this_cluster().map_shared_rank(s, 1)[0, 0]",
    "fence_mbarrier_init()": "fence_mbarrier_init()", "mbarrier_init(b, 1)": "mbarrier_init(b, 0, 1)", "mbarrier_init(b[1:], n)": "mbarrier_init(b[1:], 0, n)",
    "mbarrier_arrive_expect_tx(b, 64)": "mbarrier_arrive_expect_tx(b, 0, 64)", "mbarrier_try_wait(b[n:], 1)": "mbarrier_wait_parity(b[n:], 0, 1)",
    "cp_async_bulk_tensor_2d(s, m, n, 8, b[1:])": "cp_async_bulk_tensor(s, m, (8, n), b[1:], 0)",
    "cp_async_bulk_tensor_2d_multicast(s, m, n, 8, b[1:], 3)": "cp_async_bulk_tensor(s, m, (8, n), b[1:], 0, multicast=3)",
}  # fmt: skip


@pytest.mark.parametrize("theirs", THEIRS)
def test_numba_cuda_mlir_s_names(theirs):
    """The same PTX; an error names what was called."""
    def ptx(call):
        return ptx_of(define("def kernel(x, n):\n    s = cuda.shared.array((4, 8), np.float32, alignment=128)\n    b = cuda.shared.array(4, cuda.mbarrier)\n"
                             f"    m = cuda.tensor_map(x, (4, 8))\n    v = cuda.{call}\n    x[0, 0] = 0 if v is None else v\n"), "float32[:,::1], int64", "sm_90")

    assert ptx("intrin." + theirs) == ptx(THEIRS[theirs])


@pytest.mark.parametrize("call, what", [
    ("mapa(x, 0)", "cuda.intrin.mapa: argument 1 ('array') must be an array of cuda.shared.array"), ("mbarrier_init(x, 1)", "cuda.intrin.mbarrier_init: argument 1 ('barriers')"),
    ("mbarrier_init(b, 1.5)", "cuda.intrin.mbarrier_init: argument"), ("mbarrier_init(b, 0, 1)", "cuda.intrin.mbarrier_init: it takes 2 arguments, but 3 are given"),
    ("cp_async_bulk_tensor_2d(x, x, 0, 0, b)", "cuda.intrin.cp_async_bulk_tensor_2d: argument 2 ('tensor_map')"),
    ("cp_async_bulk_store(x, x, 16)", "cuda.intrin.cp_async_bulk_store: argument 2 ('src')"), ("cp_async_bulk_store(x, s, 1.5)", "argument 3 ('nbytes') must be an integer"),
    ("cp_async_bulk_load(s, x, b, 24)", "cuda.intrin.cp_async_bulk_load: it copies a multiple of 16 bytes, not 24"), ("cp_async_bulk_load(s, x, x, 32)", "argument 3 ('barriers')"),
    ("cp_async_bulk_prefetch(x, 16)", "copy slices as long as they are"), ("warp_idx()", "the names of PTX are in cuda itself"),
])  # fmt: skip
def test_wrong_calls_by_their_names(call, what):
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(define(f"def kernel(x):\n    s, b = cuda.shared.array(8, np.float32), cuda.shared.array(4, cuda.mbarrier)\n    cuda.intrin.{call}\n"), "float32[:,::1]", "sm_90")


@on_device
def test_a_copy_by_their_names():
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array((4, 8), np.float32, alignment=128)
        b = cuda.shared.array(1, cuda.mbarrier)
        m = cuda.tensor_map(x, (4, 8))
        if cuda.intrin.elect_sync():
            cuda.intrin.mbarrier_init(b, 1)
            cuda.intrin.fence_mbarrier_init()
            cuda.intrin.mbarrier_arrive_expect_tx(b, m.nbytes)
            cuda.intrin.cp_async_bulk_tensor_2d(s, m, 8, 4, b)
        cuda.intrin.barrier()
        cuda.intrin.mbarrier_try_wait(b, 0)
        out[cuda.threadIdx.x // 8, cuda.threadIdx.x % 8] = s[cuda.threadIdx.x // 8, cuda.threadIdx.x % 8]

    x, out = np.arange(16 * 32, dtype=np.float32).reshape(16, 32), np.zeros((4, 8), np.float32)
    kernel[1, 32](x, out)
    assert np.array_equal(out, x[4:8, 8:16])


@cuda.jit
def first_bytes(x, out, nbytes):
    s = cuda.shared.array((4, 8), np.float32)
    b = cuda.shared.array(1, cuda.mbarrier)
    if cuda.intrin.elect_sync():
        cuda.intrin.mbarrier_init(b, 1)
        cuda.intrin.fence_mbarrier_init()
        cuda.intrin.cp_async_bulk_load(s, x[8:], b, nbytes)
        cuda.intrin.mbarrier_arrive_expect_tx(b, nbytes)
    cuda.intrin.barrier()
    cuda.intrin.mbarrier_try_wait(b, 0)
    if cuda.intrin.elect_sync():
        cuda.intrin.cp_async_bulk_store(out, s, nbytes)


@on_device
def test_bytes_by_their_names():
    x, out = np.arange(32, dtype=np.float32), np.zeros(40, np.float32)
    first_bytes[1, 32](x, out, 80)
    assert np.array_equal(out, [*x[8:28], *[0] * 20])


@pytest.mark.host_only("indices are checked")
@pytest.mark.parametrize("nbytes, error, what", [
    (112, IndexError, "cuda.intrin.cp_async_bulk_load: 112 bytes of an array of 96"), (24, ValueError, "cuda.intrin.cp_async_bulk_load: it copies a multiple of 16 bytes, not 24"),
    (-16, ValueError, "cuda.intrin.cp_async_bulk_load: it copies a multiple of 16 bytes, not -16"),
])  # fmt: skip
def test_wrong_bytes_by_their_names(nbytes, error, what):
    with pytest.raises(error, match=re.escape(what)):
        first_bytes[1, 32](np.zeros(32, np.float32), np.zeros(40, np.float32), nbytes)
