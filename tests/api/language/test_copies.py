"""mbarriers, cp.async and bulk copies: pipelines of threads and copies, the PTX of each, and what the host device finds wrong."""

import re

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, _pyptx, cuda
from test_instructions import has, on_device
from test_ptx import assemble, ptx_of

ampere = pytest.mark.skipif("not has(8, 0)", reason="needs compute capability 8.0, and a GPU or the host device")


def make_pipeline(fenced):
    """fenced: each thread that reads has a proxy fence of its own behind its loads."""

    @cuda.jit
    def pipeline(out, x, n):
        """One thread copies tiles of 64 numbers to two stages in turn, a warp adds them up."""
        s = cuda.shared.array((2, 64), np.float32)
        full = cuda.shared.array(2, cuda.mbarrier)
        empty = cuda.shared.array(2, cuda.mbarrier)
        t = cuda.threadIdx.x
        if t == 0:
            for k in range(2):
                cuda.mbarrier_init(full, k, 1)
                cuda.mbarrier_init(empty, k, 32)
            cuda.fence_mbarrier_init()
        cuda.syncthreads()
        if t == 32:
            for k in range(n):
                cuda.mbarrier_wait_parity(empty, k % 2, (k // 2 + 1) % 2)
                cuda.mbarrier_arrive_expect_tx(full, k % 2, 256)
                cuda.cp_async_bulk(s[k % 2], x[64 * k : 64 * k + 64], full, k % 2)
        elif t < 32:
            total = np.float32(0)
            for k in range(n):
                cuda.mbarrier_wait_parity(full, k % 2, k // 2 % 2)
                total += s[k % 2, t] + s[k % 2, t + 32]
                if fenced:
                    cuda.fence_proxy_async_shared()
                cuda.mbarrier_arrive(empty, k % 2)
            out[t] = total

    return pipeline


pipeline, fenced_by_readers = make_pipeline(False), make_pipeline(True)


@on_device
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_producer_and_consumers(n):
    x = np.arange(64 * 7, dtype=np.float32)  # sums of whole numbers below 2**24 are exact
    out = np.full(32, -1, np.float32)
    pipeline[1, 64](out, x, n)
    assert (out == x[: 64 * n].reshape(n, 2, 32).sum((0, 1))).all()


@on_device
def test_copies_over_what_readers_have_fenced():
    x = np.arange(64 * 7, dtype=np.float32)
    out = np.full(32, -1, np.float32)
    fenced_by_readers[1, 64](out, x, 7)
    assert (out == x.reshape(7, 2, 32).sum((0, 1))).all()


def test_the_producer_fences_what_readers_do_not():
    def in_front_of_copies(kernel):
        ptx = ptx_of(kernel.py_func, "float32[::1], float32[::1], int32", "sm_90")
        return re.findall(r"(fence\.proxy[^;]*;)[^;]*cp\.async\.bulk\.shared", ptx)

    assert in_front_of_copies(pipeline) and not in_front_of_copies(fenced_by_readers)


@cuda.jit
def threads_arrive(out, rounds):
    """Warps take turns: each writes what the other reads in the next phase."""
    s = cuda.shared.array(64, np.int32)
    ready = cuda.shared.array((1, 1), cuda.mbarrier)
    t = cuda.threadIdx.x
    if t == 0:
        cuda.mbarrier_init(ready, (0, 0), 64)
    s[t] = t
    cuda.syncthreads()
    for k in range(rounds):
        v = s[63 - t]
        cuda.mbarrier_arrive(ready, (0, 0))
        cuda.mbarrier_wait_parity(ready, (0, 0), 0)
        s[t] = v + 1
        cuda.mbarrier_arrive(ready, (0, 0))
        while not cuda.mbarrier_try_wait_parity(ready, (0, 0), 1):
            out[64] = k
    out[t] = s[t]
    cuda.syncthreads()
    if t == 0:
        cuda.mbarrier_inval(ready, (0, 0))
        cuda.mbarrier_init(ready, (0, 0), 1)
        cuda.mbarrier_expect_tx(ready, (0, 0), 0)


@on_device
def test_threads_arrive():
    out = np.zeros(65, np.int32)
    threads_arrive[1, 64](out, 4)
    assert (out[:64] == np.arange(64) + 4).all()


@cuda.jit
def older_pipeline(out, x):
    """cp.async in two groups, and one that an mbarrier tells of."""
    s = cuda.shared.array((3, 128), np.float32)
    done = cuda.shared.array(1, cuda.mbarrier)
    t = cuda.threadIdx.x
    if t == 0:
        cuda.mbarrier_init(done, 0, 32)
    cuda.syncthreads()
    cuda.cp_async(s, (0, 4 * t), x, 4 * t, 4)
    cuda.cp_async_commit_group()
    for k in range(4):
        i = 128 + 32 * k + t
        cuda.cp_async(s, (1, 32 * k + t), x, min(i, x.size - 1), 1, valid=i < x.size)
    cuda.cp_async_commit_group()
    cuda.cp_async(s, (2, 4 * t), x, 4 * t, 4)
    cuda.cp_async_mbarrier_arrive(done, 0)
    cuda.cp_async_wait_group(1)
    cuda.syncthreads()
    out[t] = s[0, 127 - t]
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    out[32 + t] = s[1, 127 - t]
    cuda.mbarrier_wait_parity(done, 0, 0)
    out[64 + t] = s[2, 127 - t]


@ampere
def test_copies_of_each_thread():
    x = np.arange(1, 251, dtype=np.float32)
    out = np.zeros(96, np.float32)
    older_pipeline[1, 32](out, x)
    padded = np.append(x, np.zeros(6))
    assert (out == np.concatenate([x[127:95:-1], padded[255:223:-1], x[127:95:-1]])).all()


@cuda.jit
def turn_round(out, x):
    """Each block stores its tile backwards, twice, through one buffer."""
    s = cuda.shared.array(128, np.float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for k in range(2):
        s[127 - t] = x[256 * b + 128 * k + t]
        cuda.fence_proxy_async_shared()
        cuda.syncthreads()
        if t == 0:
            cuda.cp_async_bulk_store(out[256 * b + 128 * k : 256 * b + 128 * k + 128], s)
            cuda.cp_async_bulk_commit_group()
            if k == 0:
                cuda.cp_async_bulk_wait_group(0, read=True)
        cuda.syncthreads()


@on_device
def test_stores():
    x = np.arange(1024, dtype=np.float32)
    out = np.zeros_like(x)
    turn_round[4, 128](out, x)
    assert (out.reshape(8, 128) == x.reshape(8, 128)[:, ::-1]).all()


@cuda.jit
def both_blocks(out, x):
    """Each block of two loads half a tile for both, and tells the other when it has read it."""
    s = cuda.shared.array((2, 32), np.float32)
    full = cuda.shared.array(1, cuda.mbarrier)
    empty = cuda.shared.array(1, cuda.mbarrier)
    c = cuda.cg.this_cluster()
    t, me = cuda.threadIdx.x, c.block_rank()
    if t == 0:
        cuda.mbarrier_init(full, 0, 1)
        cuda.mbarrier_init(empty, 0, 64)
        cuda.fence_mbarrier_init()
    c.sync()
    for k in range(3):
        if t == 0:
            if k:
                cuda.mbarrier_wait_parity(empty, 0, (k + 1) % 2)
            cuda.mbarrier_arrive_expect_tx(full, 0, 256)
            cuda.cp_async_bulk(s[me], x[64 * k + 32 * me : 64 * k + 32 * me + 32], full, 0, multicast=0b11)
        cuda.mbarrier_wait_parity(full, 0, k % 2)
        out[me, k, t] = s[0, t] + 1000 * s[1, t]
        cuda.mbarrier_arrive_cluster(empty, 0, 1 - me)
        cuda.mbarrier_arrive(c.map_shared_rank(empty, me), 0)
    c.sync()


@on_device
def test_multicast_in_a_cluster():
    x = np.arange(192, dtype=np.float32)
    out = np.zeros((2, 3, 32), np.float32)
    both_blocks[2, 32, 0, 0, 2](out, x)
    tiles = x.reshape(3, 2, 32)
    assert (out == tiles[:, 0] + 1000 * tiles[:, 1]).all()


@cuda.jit
def all_to_all(out, x, wide):
    """Each block tells all of its cluster its numbers, twice, by one, two and four of 4 bytes and two of 8 at a time."""
    s = cuda.shared.array((2, 8, 7), x.dtype)
    w = cuda.shared.array((2, 16), wide.dtype)
    came = cuda.shared.array(2, cuda.mbarrier)
    c = cuda.cg.this_cluster()
    t, me, n = cuda.threadIdx.x, c.block_rank(), c.num_blocks()
    if t == 0:
        cuda.mbarrier_init(came, 0, 1)
        cuda.mbarrier_init(came, 1, 1)
        cuda.fence_mbarrier_init()
    c.sync()
    for turn in range(4):
        k = turn % 2
        if t == 0:
            cuda.mbarrier_arrive_expect_tx(came, k, n * (7 * 4 + 16))
        if t < n:
            v = x[cuda.blockIdx.x] + turn
            cuda.st_async(s[k].reshape(56), 4 * me, (v, v + 1, v + 2, v + 3), came, k, t)
            cuda.st_async(s[k].reshape(56), 32 + 2 * me, (v + 4, v + 5), came, k, t)
            cuda.st_async(s[k], (6 + me // 7, me % 7), v + 6, came, k, t)
            cuda.st_async(w[k], 2 * me, (wide[cuda.blockIdx.x], -v), came, k, t)
        cuda.mbarrier_wait_parity(came, k, turn // 2)
        if t < n:
            flat = s[k].reshape(56)
            for e in range(4):
                out[cuda.blockIdx.x, turn, t, e] = flat[4 * t + e]
            out[cuda.blockIdx.x, turn, t, 4] = flat[32 + 2 * t]
            out[cuda.blockIdx.x, turn, t, 5] = flat[33 + 2 * t]
            out[cuda.blockIdx.x, turn, t, 6] = s[k, 6 + t // 7, t % 7]
            out[cuda.blockIdx.x, turn, t, 7] = w[k, 2 * t]
            out[cuda.blockIdx.x, turn, t, 8] = w[k, 2 * t + 1]


@pytest.mark.unsanitized("four blocks do not end under memcheck and racecheck")
@on_device
@pytest.mark.parametrize("dtypes", [(np.float32, np.float64), (np.int32, np.int64)], ids=["floats", "integers"])
@pytest.mark.parametrize("blocks", [1, 4])
def test_stores_to_all_of_a_cluster(blocks, dtypes):
    x = (100 * np.arange(8)).astype(dtypes[0])
    wide = (1e10 * np.arange(1, 9)).astype(dtypes[1])
    out = np.zeros((8, 4, blocks, 9))
    all_to_all.configure(8, 32, cluster=blocks)(out, x, wide)
    for b in range(8):
        for turn in range(4):
            for t in range(blocks):
                sender = b // blocks * blocks + t
                v = x[sender] + turn
                assert out[b, turn, t].tolist() == [*(v + np.arange(7)), wide[sender], -v]


# --- what the host device finds ---

HEAD = """def kernel(out, x):
    s = cuda.shared.array((2, 64), np.float32)
    full = cuda.shared.array(2, cuda.mbarrier)
    c = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
"""
INIT = HEAD + "    if t == 0:\n        cuda.mbarrier_init(full, 1, {count})\n        cuda.fence_mbarrier_init()\n    c.sync()\n"
LOAD = "    if t == 0:\n        cuda.mbarrier_arrive_expect_tx(full, 1, {bytes})\n        cuda.cp_async_bulk(s[0], x[:64], full, 1)\n"
ONE = INIT.format(count=1)
WAIT = "    cuda.mbarrier_wait_parity(full, 1, 0)\n"
WAIT0 = "    if t == 0:\n    " + WAIT
FENCED = "        cuda.fence_mbarrier_init()\n"
MAKE = "    if t == 0:\n        cuda.mbarrier_init(full, 1, 1)\n" + FENCED
STORE = HEAD + "    s[0, t] = 1\n    cuda.fence_proxy_async_shared()\n    cuda.syncthreads()\n    if t == 0:\n        cuda.cp_async_bulk_store(out[:32], s[0, :32])\n"
CHANGED = r"cp_async_bulk_store: byte \d+ of the 128 was written before the copy had read it: its thread calls cp_async_bulk_commit_group\(\) and cp_async_bulk_wait_group"
FOUND = [
    (HEAD + "    cuda.mbarrier_arrive(full, 0)\n", r"cuda\.mbarrier_arrive: full\[0\] is no barrier: one thread calls mbarrier_init"),
    (HEAD + "    cuda.mbarrier_wait_parity(full, 1, 0)\n", r"mbarrier_wait_parity: full\[1\] is no barrier"),
    (HEAD + "    if t == 0:\n        cuda.mbarrier_init(full, 0, 1)\n        cuda.mbarrier_init(full, 0, 1)\n", r"full\[0\] is a barrier already, and in phase 0"),
    (HEAD + "    if t == 0:\n        cuda.mbarrier_init(full, 0, t)\n", r"full\[0\] cannot be for 0 arrivals"),
    (HEAD + "    if t == 0:\n        cuda.mbarrier_init(full, 0, 1 << 20)\n", r"full\[0\] cannot be for 1048576 arrivals"),
    (ONE + "    cuda.mbarrier_inval(full, 1)\n    cuda.mbarrier_arrive(full, 1)\n", r"full\[1\] is no barrier"),
    (INIT.format(count=40) + "    cuda.mbarrier_arrive(full, 1)\n    cuda.mbarrier_wait_parity(full, 1, 0)\n",
     r"full\[1\] is waited for in vain: phase 0 still needs 8 arrivals and 0 bytes"),
    (INIT.format(count=40) + "    cuda.mbarrier_arrive(full, 1)\n    while not cuda.mbarrier_try_wait_parity(full, 1, 0):\n        pass\n",
     r"try_wait_parity: full\[1\] is waited for in vain: phase 0 still needs 8 arrivals"),
    (ONE + LOAD.format(bytes=512) + "    cuda.mbarrier_wait_parity(full, 1, 0)\n", r"full\[1\] is waited for in vain: phase 0 still needs 0 arrivals and 256 bytes"),
    (ONE + LOAD.format(bytes=128) + "    cuda.mbarrier_wait_parity(full, 1, 0)\n", r"full\[1\] has got 128 bytes more in phase 0 than mbarrier_expect_tx said"),
    (ONE + LOAD.format(bytes=256) + "    cuda.mbarrier_wait_parity(full, 1, 1)\n", r"cp_async_bulk: the block ends, and no thread has waited for these 256 bytes"),
    (ONE + LOAD.format(bytes=256) + "    cuda.mbarrier_wait_parity(full, 0, 0)\n", r"full\[0\] is no barrier"),
    (ONE + LOAD.format(bytes="1 << 20"), r"full\[1\] cannot expect 1048576 bytes in phase 0"),
    (ONE + LOAD.format(bytes=-16), r"full\[1\] cannot expect -16 bytes"),
    (ONE + LOAD.format(bytes=256) + "    cuda.mbarrier_wait_parity(full, 1, 0)\n    cuda.mbarrier_wait_parity(full, 1, 0)\n",
     r"full\[1\] is waited for with parity 0 again by a thread that has waited for it before, and phase 1 has not ended since"),
    (ONE + "    cuda.mbarrier_wait_parity(full, 1, 2)\n", r"full\[1\] has phases of parity 0 and 1, and none of 2"),
    (ONE + "    if t == 0:\n        cuda.mbarrier_arrive_expect_tx(full, 1, 64)\n        cuda.mbarrier_arrive(full, 1)\n",
     r"full\[1\] has had all arrivals of phase 0, of which 64 bytes are still to come"),
    (ONE + "    if t == 0:\n        cuda.cp_async_bulk(s[0], x[1:65], full, 1)\n", r"cp_async_bulk: the address that is read is 4 bytes beyond a multiple of 16"),
    (ONE + "    if t == 0:\n        cuda.cp_async_bulk(s[0, 2:34], x[:32], full, 1)\n", r"the address that is written is 8 bytes beyond a multiple of 16"),
    (ONE + "    if t == 0:\n        cuda.cp_async_bulk(s[0, :30], x[:30], full, 1)\n", r"it copies a multiple of 16 bytes, and not 120"),
    (ONE + "    if t == 0:\n        cuda.cp_async_bulk(s[0], x[100:164], full, 1)\n", r"28 elements are to be copied to a place for 64"),
    (ONE + "    if t == 0:\n        cuda.cp_async_bulk(s[0], x[:64], full, 1, multicast=0b110)\n", r"multicast=0x0*6 names no block, or blocks that the cluster does not have: it has 2"),
    (HEAD + "    if t == 0:\n        cuda.cp_async_bulk(s[0], x[:64], full, 1)\n", r"cp_async_bulk: full\[1\] is no barrier"),
    (HEAD + "    s[0, t] = 1\n    cuda.syncthreads()\n    if t == 0:\n        cuda.cp_async_bulk_store(out[:32], s[0, :32])\n",
     r"cp_async_bulk_store: byte 0 of the 128 has been written since the last fence_proxy_async_shared"),
    (HEAD + "    cuda.fence_proxy_async()\n    s[0, t] = 1\n    cuda.syncthreads()\n    if t == 0:\n        cuda.cp_async_bulk_store(out[:32], s[0, :32])\n", r"byte \d+ of the 128 has been written"),
    (HEAD + "    s[0, t] = 1\n    cuda.fence_proxy_async_shared()\n    cuda.syncthreads()\n    if t == 0:\n        cuda.cp_async_bulk_store(out[:32], s[0, :32])\n"
     "        cuda.cp_async_bulk_commit_group()\n    cuda.syncthreads()\n    s[0, t] = 2\n    cuda.syncthreads()\n    if t == 0:\n        cuda.cp_async_bulk_wait_group(0)\n",
     r"cp_async_bulk_store: byte 2 of the 128 was written before the copy had read it"),
    (ONE + "    if c.block_rank() == 1:\n        return\n    c.sync()\n    cuda.mbarrier_arrive_cluster(full, 1, 1)\n", r"the block of rank 1 has ended"),
    (ONE + "    e = c.map_shared_rank(full, 1)\n    c.sync()\n    if c.block_rank() == 1:\n        return\n    c.sync()\n    cuda.mbarrier_arrive(e, 1)\n",
     r"full\[1\] is in the block of rank 1, which has ended"),
    (ONE + "    cuda.mbarrier_arrive_cluster(full, 1, 2)\n", r"the cluster has no block of rank 2: it has 2 blocks"),
    (ONE + "    cuda.st_async(s[0], t, 1, full, 1, 2)\n", r"the cluster has no block of rank 2: it has 2 blocks"),
    (ONE + "    if c.block_rank() == 1:\n        return\n    c.sync()\n    cuda.st_async(s[0], t, 1, full, 1, 1)\n", r"the block of rank 1 has ended"),
    (ONE + "    cuda.st_async(s[0], t, 1, full, 0, 1)\n", r"st_async: full\[0\] is no barrier"),
    (ONE + "    if t == 0:\n        cuda.mbarrier_arrive_expect_tx(full, 1, 8)\n        cuda.st_async(s[0], 0, (1, 2, 3, 4), full, 1, 1 - c.block_rank())\n    cuda.mbarrier_wait_parity(full, 1, 0)\n",
     r"full\[1\] has got 8 bytes more in phase 0 than mbarrier_expect_tx said"),
    (ONE + "    if t == 0:\n        cuda.mbarrier_arrive_expect_tx(full, 1, 16)\n    if t == 0 and c.block_rank() == 1:\n        cuda.st_async(s[0], 0, (1, 2, 3, 4), full, 1, 0)\n    cuda.mbarrier_wait_parity(full, 1, 0)\n",
     r"full\[1\] is waited for in vain: phase 0 still needs 0 arrivals and 16 bytes"),
    (ONE + "    if t == 0:\n        cuda.st_async(s[0], 0, 1, full, 1, 1 - c.block_rank())\n    c.sync()\n", r"st_async: the block ends, and no thread has waited for these 4 bytes"),
    (INIT.format(count=64) + "    if c.block_rank() == 0:\n        cuda.mbarrier_arrive_cluster(full, 1, 1)\n        cuda.mbarrier_wait_parity(full, 1, 0)\n    else:\n        cuda.mbarrier_wait_parity(full, 1, 0)\n",
     r"full\[1\] is waited for in vain: phase 0 still needs (64|32) arrivals"),
    # barriers that threads do not know of yet, or copies
    (HEAD + MAKE + "    cuda.mbarrier_arrive(full, 1)\n", r"mbarrier_arrive: full\[1\] is no barrier yet for this thread: thread 0 made it, and the two have not met since"),
    (HEAD + MAKE + "    cuda.mbarrier_wait_parity(full, 1, 1)\n", r"mbarrier_wait_parity: full\[1\] is no barrier yet for this thread"),
    (HEAD + MAKE + "    if t == 1:\n        cuda.mbarrier_arrive_expect_tx(full, 1, 256)\n", r"arrive_expect_tx: full\[1\] is no barrier yet for this thread"),
    (HEAD + "    c.sync()\n" + MAKE + "    cuda.syncthreads()\n    cuda.mbarrier_arrive_cluster(full, 1, 1 - c.block_rank())\n", r"mbarrier_arrive_cluster: full\[1\] is no barrier"),
    (HEAD + MAKE + "    cuda.syncthreads()\n    if c.block_rank() == 0:\n        while not cuda.mbarrier_try_wait_parity(full, 1, 0):\n            pass\n    else:\n        cuda.mbarrier_arrive_cluster(full, 1, 0)\n",
     r"mbarrier_arrive_cluster: full\[1\] is no barrier yet for this thread"),
    (HEAD + "    cuda.mbarrier_arrive(full, 1)\n    if t == 31:\n        cuda.mbarrier_init(full, 1, 32)\n", r"mbarrier_arrive: full\[1\] is no barrier: one thread"),
    (ONE.replace(FENCED, "") + LOAD.format(bytes=256), r"cp_async_bulk: full\[1\] may not be seen by the copy: thread 0 calls fence_mbarrier_init"),
    (ONE.replace(FENCED, "") + "    if t == 1:\n        cuda.fence_mbarrier_init()\n    c.sync()\n" + LOAD.format(bytes=256), r"full\[1\] may not be seen by the copy"),
    (ONE.replace(FENCED, "") + "    m = cuda.tensor_map(x, (64,))\n    if t == 0:\n        cuda.cp_async_bulk_tensor(s[0], m, (0,), full, 1)\n", r"cp_async_bulk_tensor: full\[1\] may not be seen by the copy"),
    # phases
    (INIT.format(count=2) + LOAD.format(bytes=0) + "    cuda.mbarrier_wait_parity(full, 1, 0)\n",
     r"full\[1\] is waited for in vain: phase 0 still needs 1 arrivals, and 256 bytes more have come in it than mbarrier_expect_tx or mbarrier_arrive_expect_tx said"),
    (ONE + "    if t == 0:\n        cuda.mbarrier_arrive(full, 1)\n        cuda.mbarrier_arrive(full, 1)\n    c.sync()\n    cuda.mbarrier_wait_parity(full, 1, 0)\n",
     r"full\[1\] is waited for in vain: phase 0 with that parity has passed, and phase 2 does not end: a thread may be one phase behind a barrier, not more"),
    (ONE + "    if t == 0:\n        cuda.mbarrier_arrive_expect_tx(full, 1, 512)\n", r"mbarrier_arrive_expect_tx: full\[1\] expects 512 bytes in phase 0, and the block ends before they have come"),
    (ONE + "    if t == 0:\n        cuda.mbarrier_expect_tx(full, 1, 16)\n    c.sync()\n", r"mbarrier_expect_tx: full\[1\] expects 16 bytes in phase 0, and the block ends"),
    (ONE + "    if t == 0:\n        cuda.cp_async_bulk(s[0], x[:64], full, 1, multicast=int(x[0]))\n", r"multicast=0x0+ names no block"),
    # places of copies that have not arrived
    (ONE + LOAD.format(bytes=512) + "    if t == 1:\n        cuda.cp_async_bulk(s[0], x[64:], full, 1)\n", r"cp_async_bulk: another copy that has not arrived writes to this place"),
    (ONE + LOAD.format(bytes=256) + "    cuda.cp_async(s, (0, t), x, t, 1)\n", r"cp_async: another copy that has not arrived writes to this place"),
    (HEAD + "    cuda.cp_async(s, (0, 0), x, 4 * t, 4)\n", r"cp_async: another copy that has not arrived .*\n(.*\n)*  in thread \(1, 0, 0\)"),
    (ONE + "    cuda.st_async(s[0], 0, 1, full, 1, c.block_rank())\n", r"st_async: another copy that has not arrived writes to this place"),
    (ONE + LOAD.format(bytes=256) + "    s[0, t] = 1\n    cuda.mbarrier_wait_parity(full, 1, 0)\n", r"cp_async_bulk: byte 0 of the 256 has been written by threads before the copy arrived.*\n(.*\n)*  in thread \(0, 0, 0\)"),
    (ONE + LOAD.format(bytes=256) + "    if t == 31:\n        s[0, 63] = 1\n    cuda.mbarrier_wait_parity(full, 1, 0)\n", r"cp_async_bulk: byte 25[23] of the 256 has been written by threads"),
    (HEAD + "    cuda.cp_async(s, (0, t), x, t, 1)\n    s[0, t] = 7\n    cuda.cp_async_wait_group(0)\n    cuda.cp_async_commit_group()\n    cuda.cp_async_wait_group(0)\n",
     r"cp_async: byte 0 of the 4 has been written by threads before the copy arrived"),
    (ONE + LOAD.format(bytes=256) + "    if t == 0:\n        cuda.fence_proxy_async_shared()\n        cuda.cp_async_bulk_store(out[:64], s[0])\n", r"cp_async_bulk_store: another copy that has not arrived writes what is to be copied"),
    (HEAD + "    h = cuda.shared.array((8, 4), np.float32)\n    if t < 8:\n        cuda.cp_async(h, (t, 0), x, 4 * t, 4)\n    cuda.cp_async_commit_group()\n    cuda.syncwarp()\n"
     "    out[t] = cuda.ldmatrix(h, (t % 8, 0), 1)[0]\n    cuda.cp_async_wait_group(0)\n", r"h: a copy to what is read here is under way"),
    # who reads and writes without having met
    (ONE + LOAD.format(bytes=256) + "    out[t] = s[0, t]\n", r"s: a copy to what is read here is under way, and this thread has not waited for it"),
    (ONE + LOAD.format(bytes=256) + WAIT0 + "    out[t] = s[0, t]\n", r"(s: what is read here came with a copy that this thread has not waited for|thread \d+ read this place in line 15, and this thread has not met it)"),
    (HEAD + "    cuda.cp_async(s, (0, t), x, t, 1)\n    cuda.cp_async_commit_group()\n    cuda.syncthreads()\n    out[t] = s[0, 31 - t]\n    cuda.cp_async_wait_group(0)\n    out[t] = s[0, 31 - t]\n", r"s: a copy to what is read here is under way"),
    (HEAD + "    cuda.cp_async(s, (0, t), x, t, 1)\n    cuda.cp_async_commit_group()\n    cuda.cp_async_wait_group(0)\n    if t == 31:\n        out[t] = s[0, 0]\n", r"s: what is read here came with cuda.cp_async of thread 0, which this thread has not met since"),
    (INIT.format(count=32) + "    cuda.cp_async(s, (0, t), x, t, 1)\n    cuda.cp_async_mbarrier_arrive(full, 1)\n    out[t] = s[0, t ^ 1]\n    cuda.mbarrier_wait_parity(full, 1, 0)\n", r"s: (what is read here came with cuda.cp_async of thread|a copy to what)"),
    (INIT.format(count=32) + "    s[0, t] = x[t]\n    cuda.mbarrier_arrive(full, 1)\n    out[t] = s[0, t ^ 1]\n", r"s: what is read here was written in line 10 by thread \d+, which this thread has not met since"),
    (INIT.format(count=32) + "    s[0, t] = x[t]\n    cuda.mbarrier_arrive(full, 1)\n    if t != 5:\n        cuda.mbarrier_wait_parity(full, 1, 0)\n    out[t] = s[0, t ^ 1]\n", r"s: what is read here was written .*\n(.*\n)*  in thread \(5, 0, 0\)"),
    (INIT.format(count=32) + "    cuda.mbarrier_arrive(full, 1)\n    s[0, t] = x[t]\n    cuda.mbarrier_wait_parity(full, 1, 0)\n    out[t] = s[0, t ^ 1]\n", r"s: what is read here was written in line 11 by"),
    (HEAD + "    s[0, t] = t\n    c.sync()\n    out[t] = s[0, 31 - t]\n    s[0, t] = 1 + x[t]\n", r"s: what is (written|read) here was (read|written) in line [89] by thread \d+, which this thread has not met since"),
    (HEAD + "    s[0, t] = x[t]\n    cuda.barrier_arrive(1, 32)\n    out[t] = s[0, 31 - t]\n", r"s: what is read here was written in line 6"),
    (HEAD + "    e = cuda.shared.array(4, np.int32)\n    cuda.atomic.add(e, t % 4, 1)\n    out[t] = e[t % 4]\n    cuda.barrier_sync(1, 32)\n", r"e: what is read here was written in line 7"),
    (HEAD + "    c.sync()\n    far = c.map_shared_rank(s, 1 - c.block_rank())\n    s[0, t] = 1 + t\n    out[t] = far[0, t]\n    c.sync()\n    c.sync()\n", r"what is (read|written) here was (written|read) in line [89]"),
    # a stage that is filled again
    (ONE + LOAD.format(bytes=256) + WAIT + "    v = s[0, 31 - t]\n" + LOAD.format(bytes=256) + "    cuda.mbarrier_wait_parity(full, 1, 1)\n    out[t] = v\n",
     r"cp_async_bulk: thread \d+ read this place in line 14, and this thread has not met it since"),
    (ONE + "    s[0, t] = 1\n" + LOAD.format(bytes=256) + WAIT, r"cp_async_bulk: thread \d+ wrote to this place in line 10, and this thread has not met it since"),
    (ONE + "    cuda.cp_async(s, (0, t), x, t, 1)\n    cuda.cp_async_commit_group()\n    cuda.cp_async_wait_group(0)\n" + LOAD.format(bytes=256) + WAIT,
     r"cp_async_bulk: cuda.cp_async of thread \d+ wrote to this place, and this thread has not met it since"),
    (ONE + 2 * LOAD.format(bytes=256), r"full\[1\] has had all arrivals of phase 0, of which \d+ bytes are still to come"),
    (INIT.format(count=2) + "    if t == 0 and c.block_rank() == 1:\n        cuda.mbarrier_arrive_cluster(full, 1, 0)\n",
     r"mbarrier_arrive_cluster: it comes to the block of rank 0, which ends without having waited for it"),
    # what bulk stores read
    (STORE + "    cuda.syncthreads()\n    s[0, t] = 2\n", CHANGED),
    (STORE + "        cuda.cp_async_bulk_commit_group()\n    cuda.syncthreads()\n    s[0, t] = 2\n", CHANGED),
    (STORE + "        cuda.cp_async_bulk_wait_group(0, read=True)\n    cuda.syncthreads()\n    s[0, t] = 2\n", CHANGED),
    (STORE + "        cuda.cp_async_bulk_commit_group()\n    if t == 1:\n        cuda.cp_async_bulk_wait_group(0, read=True)\n    cuda.syncthreads()\n    s[0, t] = 2\n", CHANGED),
    (STORE + "        cuda.cp_async_bulk_commit_group()\n        cuda.cp_async_bulk_wait_group(1, read=True)\n    cuda.syncthreads()\n    s[0, t] = 2\n", CHANGED),
    (STORE + "        cuda.cp_async_bulk_commit_group()\n        cuda.cp_async_bulk_wait_group(0, read=True)\n    s[0, t] = 2\n    cuda.syncthreads()\n    s[0, t] = 1\n", CHANGED + r"|byte \d+ of the 128 has been written since"),
    (STORE + "        cuda.cp_async_bulk_commit_group()\n    cuda.syncthreads()\n    s[0, t] = 2\n    cuda.fence_proxy_async_shared()\n    cuda.syncthreads()\n    s[0, t] = 1\n", CHANGED),
]  # fmt: skip


@pytest.mark.host_only
@pytest.mark.parametrize("valid", [-1, 5])
def test_valid_elements_are_some_of_the_count(valid):
    kernel = cuda.jit(define("def kernel(x, n):\n    s = cuda.shared.array(4, np.float32)\n    cuda.cp_async(s, 0, x, 0, 4, valid=n)\n    cuda.cp_async_wait_group(0)\n"))
    kernel[1, 1](np.zeros(8, np.float32), 4)
    with pytest.raises(ValueError, match=f"cuda.cp_async: valid={valid}, of 0 to 4 elements"):
        kernel[1, 1](np.zeros(8, np.float32), valid)


@pytest.mark.host_only
@pytest.mark.parametrize("text, what", FOUND, ids=range(len(FOUND)))
def test_wrong_use(text, what):
    """Of two blocks in a cluster; each error names the line of the instruction."""
    with pytest.raises(RuntimeError, match=what) as e:
        cuda.jit(define(text))[2, 32, 0, 0, 2](np.zeros(128, np.float32), np.zeros(128, np.float32))
    assert re.search(r"line \d+|:\d+", str(e.value)) and "thread" in str(e.value)


# of shared numbers s and a barrier: threads that know of each other, or need not
ORDERED = [
    # the same value, a place of its own in one word
    "    s[0] = 5\n    v = s[0]\n",
    "    b = cuda.shared.array(64, np.int8)\n    b[t] = t\n    v = b[t]\n    b[t] = v + 1\n    v = b[t] + 4 - t\n",
    # locks, flags, counters
    "    while cuda.atomic.cas(f, 0, 0, 1) != 0:\n        pass\n    s[0] += 1\n    cuda.threadfence_block()\n    cuda.atomic.exch(f, 0, 0)\n    cuda.barrier_sync(1, 64)\n    v = s[0] - 59\n",
    "    if t == 0:\n        s[1] = 5\n        cuda.threadfence_block()\n        f[0] = 1\n    while f[0] == 0:\n        pass\n    v = s[1]\n",
    "    if t == 0:\n        s[1] = 5\n        cuda.threadfence_block()\n        cuda.atomic.exch(f, 0, 1)\n    while cuda.atomic.or_(f, 0, 0) == 0:\n        pass\n    v = s[1]\n",
    "    s[t] = 5\n    cuda.threadfence_block()\n    n = cuda.atomic.add(f, 0, 1)\n    v = s[63 - t] if n == 63 else 5\n",
    "    cuda.atomic.add(f, 0, 1)\n    cuda.barrier_sync(1, 64)\n    v = f[0] - 59\n",
    # a warp, a chain, arrivals one after the other
    "    s[t] = 5\n    cuda.syncwarp()\n    v = s[t ^ 1]\n",
    "    s[t] = 5\n    u = cuda.shfl_xor_sync(0xffffffff, t, 1)\n    v = s[u]\n",
    "    s[t] = 5\n    if t < 32:\n        cuda.barrier_arrive(1, 64)\n        v = 5\n    else:\n        cuda.barrier_sync(1, 64)\n        v = s[t - 32]\n",
    "    s[t] = 5\n    cuda.mbarrier_arrive(full, 0)\n    cuda.mbarrier_wait_parity(full, 0, 0)\n    v = s[63 - t]\n    cuda.mbarrier_arrive(full, 0)\n    cuda.mbarrier_wait_parity(full, 0, 1)\n    s[63 - t] = t\n",
    "    s[t] = 5\n    cuda.mbarrier_arrive(full, 0)\n    if t % 32 == 7:\n        cuda.mbarrier_wait_parity(full, 0, 0)\n    cuda.syncwarp()\n    v = s[63 - t]\n",
    "    cuda.cp_async(s, t, x, t, 1)\n    cuda.cp_async_commit_group()\n    cuda.cp_async_wait_group(0)\n    cuda.syncthreads()\n    v = s[63 - t]\n    cuda.syncthreads()\n    cuda.cp_async(s, t, x, t, 1)\n    cuda.cp_async_commit_group()\n    cuda.cp_async_wait_group(0)\n",
]  # fmt: skip
UNSEEN = {2, 3, 4, 5, 8, 11}
UNKNOWN_TO_RACECHECK = pytest.mark.unsanitized(
    "racecheck knows no order by locks, flags, fences and shuffles, and none through another thread's wait"
)


@on_device
@pytest.mark.parametrize("body", [pytest.param(b, id=str(k), marks=[UNKNOWN_TO_RACECHECK] * (k in UNSEEN)) for k, b in enumerate(ORDERED)])
def test_right_orders(body):
    """What orders threads, beside plain barriers, is known: nothing is complained of."""
    kernel = cuda.jit(define(
        "def kernel(out, x):\n    s = cuda.shared.array(64, np.float32)\n    f = cuda.shared.array(1, np.int32)\n    full = cuda.shared.array(1, cuda.mbarrier)\n    t = cuda.threadIdx.x\n"
        "    if t == 0:\n        cuda.mbarrier_init(full, 0, 64)\n        f[0] = 0\n        s[0] = 0\n    cuda.syncthreads()\n" + body + "    out[t] = v\n"))  # fmt: skip
    out = np.zeros(64, np.float32)
    kernel[1, 64](out, np.full(64, 5, np.float32))
    assert (out == 5).all()


@pytest.mark.host_only
@pytest.mark.parametrize("index, error, what", [("2", ValueError, "the address of element 2 is 8 bytes beyond a multiple of 16"), ("64", IndexError, "index 64 is out of bounds for axis 0 with size 64")])
def test_places_of_stores(index, error, what):
    with pytest.raises(error, match=what):
        cuda.jit(define(ONE + f"    cuda.st_async(s[0], {index}, (1, 2, 3, 4), full, 1, 1)\n"))[2, 32, 0, 0, 2](np.zeros(128, np.float32), np.zeros(128, np.float32))


@pytest.mark.parametrize("body, what", [
    ("cuda.mbarrier_init(x, 0, 1)", "must be an array of cuda.shared.array(n, cuda.mbarrier)"),
    ("cuda.mbarrier_init(cuda.shared.array(2, np.uint64), 0, 1)", "must be an array of cuda.shared.array(n, cuda.mbarrier)"),
    ("cuda.mbarrier_init(b, 0, 1.5)", "must be an integer"), ("cuda.mbarrier_arrive(b, 0.5)", "an index must be an integer"),
    ("cuda.mbarrier_wait_parity(cuda.cg.this_cluster().map_shared_rank(b, 0), 0, 0)", "must be an array of cuda.shared.array(n, cuda.mbarrier)"),
    ("cuda.local.array(2, cuda.mbarrier)", "cuda.local.array"),
    ("cuda.cp_async(s, 0, x, 0, 3)", "it copies 4, 8 or 16 bytes, not 3 elements of type float32"), ("cuda.cp_async(s, 0, x, 0, len(x))", "must be known"),
    ("cuda.cp_async(x, 0, s, 0, 4)", "must be an array of numbers in global memory"), ("cuda.cp_async(s, 0, y, 0, 4)", "a copy keeps the type: float64 is not float32"),
    ("cuda.cp_async_wait_group(len(x))", "must be known"), ("cuda.cp_async_wait_group(-1)", "is not negative"),
    ("cuda.cp_async_bulk(s, x[::2], b, 0)", "needs a C-contiguous array"), ("cuda.cp_async_bulk_store(x, y)", "must be an array of numbers of cuda.shared.array"),
    ("cuda.st_async(x, 0, 1.0, b, 0, 0)", "must be a C-contiguous array of numbers of cuda.shared.array"), ("cuda.st_async(s, 0, (1, 2, 3), b, 0, 0)", "must be a number or a tuple of 2 or 4"),
    ("cuda.st_async(cuda.shared.array(4, np.float16), 0, 1, b, 0, 0)", "must be an array of integers or floats of 4 or 8 bytes"),
    ("cuda.st_async(cuda.shared.array(4, np.float64), 0, (1, 2, 3, 4), b, 0, 0)", "must be a number or a tuple of 2"),
    ("cuda.st_async(s, 0, 1j, b, 0, 0)", "complex"), ("cuda.st_async(s, 0, 1, s, 0, 0)", "must be an array of cuda.shared.array(n, cuda.mbarrier)"),
    ("cuda.st_async(s, 0, 1, b, 0, 16)", "cuda.st_async: a cluster has ranks 0 to 15 at most, and none 16"), ("cuda.st_async(s, 0, 1, b, 0, 1.5)", "cuda.st_async: argument 6 ('rank') must be an integer"),
    ("cuda.mbarrier_arrive_cluster(b, 0, -1)", "cuda.mbarrier_arrive_cluster: a cluster has ranks 0 to 15 at most, and none -1"),
    ("cuda.mbarrier_arrive_cluster(b, 0, x)", "cuda.mbarrier_arrive_cluster: argument 3 ('rank') must be an integer"),
    ("cuda.cp_async_bulk(s, x, b, 0, multicast=0)", "1 to 65535, not 0"), ("cuda.cp_async_bulk(s, x, b, 0, multicast=1 << 16)", "1 to 65535, not 65536"),
    ("cuda.cp_async_bulk_tensor(s, cuda.tensor_map(x, 64), 0, b, 0, multicast=0)", "cuda.cp_async_bulk_tensor: multicast= has a bit for each block"),
    ("cuda.cp_async_bulk(s, x, b, 0, multicast=1.5)", "must be an integer"), ("cuda.cp_async_bulk_wait_group(0, read=len(x))", "must be known"),
])  # fmt: skip
def test_wrong_calls(body, what):
    kernel = define(f"def kernel(x, y):\n    s = cuda.shared.array(64, np.float32)\n    b = cuda.shared.array(2, cuda.mbarrier)\n    {body}\n")
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(kernel, "float32[::1], float64[::1]", "sm_90")


# --- PTX ---

TABLE = {
    **dict.fromkeys(("MBARRIER_INIT", "MBARRIER_ARRIVE", "MBARRIER_ARRIVE_EXPECT_TX", "MBARRIER_WAIT", "FENCE_MBARRIER_INIT", "CP_ASYNC_BULK"),
                    (pipeline, "float32[::1], float32[::1], int64")),
    **dict.fromkeys(("MBARRIER_INVAL", "MBARRIER_EXPECT_TX", "MBARRIER_TRY_WAIT"), (threads_arrive, "int32[::1], int64")),
    **dict.fromkeys(("CP_ASYNC", "CP_ASYNC_COMMIT", "CP_ASYNC_WAIT", "CP_ASYNC_ARRIVE"), (older_pipeline, "float32[::1], float32[::1]")),
    **dict.fromkeys(("CP_ASYNC_BULK_STORE", "CP_ASYNC_BULK_COMMIT", "CP_ASYNC_BULK_WAIT"), (turn_round, "float32[::1], float32[::1]")),
    "ST_ASYNC": (all_to_all, "float64[:,:,:,::1], float32[::1], float64[::1]"),
    "MBARRIER_ARRIVE_CLUSTER": (both_blocks, "float32[:,:,::1], float32[::1]"),
}  # fmt: skip


@pytest.mark.parametrize("name, arch", [(n, a) for n in ("MBARRIER_WAIT", "MBARRIER_INVAL", "CP_ASYNC_BULK_STORE", "MBARRIER_ARRIVE_CLUSTER", "ST_ASYNC") for a in ("sm_90", "sm_90a", "sm_100")]
                         + [("CP_ASYNC", a) for a in ("sm_80", "sm_89", "sm_90a")])  # fmt: skip
def test_assembles(name, arch, tmp_path):
    kernel, signature = TABLE[name]
    assemble(ptx_of(kernel.py_func, signature, arch), arch, tmp_path)


def test_instructions_in_full():
    """Operands as PTX documents them; before sm_90 a wait tests in a loop; a kernel that stores waits at its end."""
    text = ptx_of(both_blocks.py_func, TABLE["MBARRIER_ARRIVE_CLUSTER"][1], "sm_90")
    assert re.search(r"cp\.async\.bulk\.shared::cluster\.global\.mbarrier::complete_tx::bytes\.multicast::cluster \[%r\d+\], \[%rd\d+\], %r\d+, \[%r\d+\], %rs\d+;", text), text
    assert re.search(r"mbarrier\.arrive\.shared::cluster\.b64 _, \[%r\d+\];", text) and "release.cluster.shared" not in text
    text = ptx_of(all_to_all.py_func, TABLE["ST_ASYNC"][1], "sm_90")
    start = r"st\.async\.weak\.shared::cluster\.mbarrier::complete_tx::bytes"
    for operands in (r"\.v4\.b32 \[%r\d+\], \{(%r\d+, ){3}%r\d+\}", r"\.v2\.b32 \[%r\d+\], \{%r\d+, %r\d+\}", r"\.b32 \[%r\d+\], %r\d+", r"\.v2\.b64 \[%r\d+\], \{%rd\d+, %rd\d+\}"):
        assert re.search(start + operands + r", \[%r\d+\];", text), operands
    assert ".version 8.1" in text
    text = ptx_of(older_pipeline.py_func, "float32[::1], float32[::1]", "sm_80")
    assert "mbarrier.test_wait.parity.shared.b64 p, [" in text and "try_wait" not in text
    assert re.search(r"cp\.async\.cg\.shared\.global \[%r\d+\], \[%rd\d+\], 16;", text) and re.search(r"cp\.async\.ca\.shared\.global \[%r\d+\], \[%rd\d+\], 4, %r\d+;", text)
    text = ptx_of(turn_round.py_func, "float32[::1], float32[::1]", "sm_90")
    assert text.rindex("cp.async.bulk.wait_group.read 0;") > text.rindex("cp.async.bulk.commit_group") and text.count("cp.async.bulk.wait_group.read 0;") >= 2


@pytest.mark.parametrize("commit", [False, True])
def test_a_store_without_a_commit_is_waited_for_too(commit):
    """A wait is for groups: what nobody has committed is, at the kernel's end, right before it."""
    kernel = define("def kernel(x):\n    s = cuda.shared.array(64, np.float32)\n    s[cuda.threadIdx.x] = 1\n    cuda.fence_proxy_async_shared()\n    cuda.syncthreads()\n"
                    "    if cuda.threadIdx.x == 0:\n        cuda.cp_async_bulk_store(x[:64], s)\n" + "        cuda.cp_async_bulk_commit_group()\n" * commit)
    text = ptx_of(kernel, "float32[::1]", "sm_90")
    stored = text[text.index("cp.async.bulk.global.shared::cta.bulk_group"):]
    assert re.findall(r"cp\.async\.bulk\.(?:commit|wait)_group[^;]*", stored) == ["cp.async.bulk.commit_group"] * (1 + commit) + ["cp.async.bulk.wait_group.read 0"]


STORED = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"


@pytest.mark.parametrize("text, waits", [
    ("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;", True),
    ("{ cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256; cp.async.bulk.commit_group; }", True),
    ("st.global.b32 [%0], %1;", False),
])  # fmt: skip
def test_stores_of_inline_ptx_are_waited_for(text, waits, tmp_path):
    """By the thread that may have begun one; the others, and kernels without, return by themselves."""
    kernel = define("def kernel(x):\n    s = cuda.shared.array(64, np.float32)\n    s[cuda.threadIdx.x] = 1\n    cuda.fence_proxy_async_shared()\n    cuda.syncthreads()\n"
                    f"    if cuda.threadIdx.x == 0:\n        cuda.inline_ptx({text!r}, 'l', x, 'r', s)\n")
    ptx = ptx_of(kernel, "float32[::1]", "sm_90")
    assert ptx.count(STORED) == waits and ptx.count("ret;") == 1 + waits, ptx
    assert not waits or ptx.index("bulk_group [" if "reduce" not in text else "bulk_group.add") < ptx.index(STORED)
    assemble(ptx, "sm_90", tmp_path)


@pytest.mark.parametrize("call, ptx, version", [("st_async(s, 0, 1, b, 0, 1)", "st.async.weak", 81), ("mbarrier_arrive_cluster(b, 0, 1)", "mbarrier.arrive.shared::cluster", 80)])
@pytest.mark.parametrize("debug", [False, True])
def test_what_is_lacking_has_the_name_of_the_call(call, ptx, version, debug):
    """They map an array first: that is a part of them."""
    kernel = define(f"def kernel(x, i):\n    s = cuda.shared.array(64, np.float32)\n    b = cuda.shared.array(2, cuda.mbarrier)\n    cuda.{call.replace('0, 1)', 'i, 1)')}\n    cuda.cg.this_cluster().map_shared_rank(s, 0)[0] = 1\n")
    with pytest.raises(ValueError, match=rf"PT410: cuda\.{call.partition('(')[0]} \({ptx}\S* needs sm_90 or a newer"):
        ptx_of(kernel, "float32[::1], int64", "sm_80", debug=debug)
    with pytest.raises(ValueError, match=rf"PT410: cuda\.{call.partition('(')[0]} .* needs PTX {version / 10}"):
        _pyptx._compile(kernel, "float32[::1], int64", "nvptx", "sm_90", 78, {"debug": debug}, "ptx")


@pytest.mark.parametrize("use", ["b[0] = 1", "b[1] = b[0]", "b[:] = 1", "b[:1] = b[1:]", "b.fill(0)", "b[0].mbarrier = 1", "x[0] = b['mbarrier'][0]", "cuda.cg.this_cluster().map_shared_rank(b, 0)[1] = 1"])
def test_barriers_are_no_numbers(use):
    kernel = define(f"def kernel(x):\n    b = cuda.shared.array(2, cuda.mbarrier)\n    {use}\n")
    with pytest.raises(TypeError, match="PT319: a barrier of cuda.mbarrier is neither read nor assigned to"):
        ptx_of(kernel, "float32[::1]", "sm_90")
