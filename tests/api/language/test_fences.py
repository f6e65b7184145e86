"""Proxy fences on the host device: the threads that write shared memory fence, then meet, then one
begins a bulk store, or a warpgroup multiplies. What is wrong is found, however it is disguised, and
what is right passes."""

import re

import numpy as np
import pytest
from harness import define
from pyptx import cuda

HEAD = """def kernel(out, x):
    s = cuda.shared.array((64, 64), np.float16, alignment=1024)
    b = cuda.shared.array((64, 64), np.float16, alignment=1024)
    bar = cuda.shared.array(1, cuda.mbarrier)
    boxes = cuda.tensor_map(out, (64, 64))
    c = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    if t == 0:
        cuda.mbarrier_init(bar, 0, 128)
        cuda.fence_mbarrier_init()
    for i in range(t, 4096, 128):
        b[i // 64, i % 64] = 1
    cuda.fence_proxy_async_shared()
    cuda.syncthreads()
"""
FENCE = "    cuda.fence_proxy_async_shared()\n"
# what threads write: all of them; some warps; vectors; matrices; atomically; one after another; a function; another block
WRITES = {
    "elements": "    for i in range(t, 4096, 128):\n        s[i // 64, i % 64] = 1 + t\n",
    "one warp": "    if t // 32 == 2:\n        for i in range(t % 32, 4096, 32):\n            s[i // 64, i % 64] = 1 + t\n",
    "vectors": "    for i in range(8 * t, 4096, 1024):\n        cuda.vector.store(s, (i // 64, i % 64), (np.float16(t + 1),) * 8)\n",
    "stmatrix": "    v = np.float16(t + 1)\n    for i in range(0, 64, 16):\n        cuda.stmatrix(s, (16 * (t // 32) + t % 16, i + 8 * (t % 32 // 16)), (v, v, v, v, v, v, v, v))\n",
    "one element": "    if t == 100:\n        s[33, 7] = 5\n",
    "the same values": "    for i in range(t, 4096, 128):\n        s[i // 64, i % 64] = 0\n",
    "through a view": "    flat = s.reshape(-1)[2048:]\n    if t >= 64:\n        flat[16 * (t - 64)] = 3\n",
}
READS = {  # by thread 0, or by all
    "bulk": "    if t == 0:\n        cuda.cp_async_bulk_store(out, s)\n        cuda.cp_async_bulk_commit_group()\n        cuda.cp_async_bulk_wait_group(0)\n",
    "reduce": "    if t == 0:\n        cuda.cp_async_bulk_store(out, s, reduce='add')\n        cuda.cp_async_bulk_commit_group()\n        cuda.cp_async_bulk_wait_group(0)\n",
    "box": "    if t == 0:\n        cuda.cp_async_bulk_tensor_store(boxes, (0, 0), s)\n        cuda.cp_async_bulk_commit_group()\n        cuda.cp_async_bulk_wait_group(0)\n",
    "box of a part": "    if t < 32 and cuda.elect_sync(0xFFFFFFFF):\n        cuda.cp_async_bulk_tensor_store(boxes, (0, 0), s, reduce='add')\n        cuda.cp_async_bulk_commit_group()\n",
    "mma": "    acc = cuda.wgmma.zeros(64, 64, np.float32)\n    cuda.wgmma.fence()\n    for k in range(0, 64, 16):\n        acc = cuda.wgmma.mma(s[:, k : k + 16], b[:, k : k + 16], acc)\n    cuda.wgmma.commit()\n    acc = cuda.wgmma.wait(0, acc)\n",
    "mma of b": "    acc = cuda.wgmma.zeros(64, 64, np.float32)\n    cuda.wgmma.fence()\n    for k in range(0, 64, 16):\n        acc = cuda.wgmma.mma(b[:, k : k + 16], s[:, k : k + 16], acc)\n    cuda.wgmma.commit()\n    acc = cuda.wgmma.wait(0, acc)\n",
}
MEETINGS = {
    "threads": "    cuda.syncthreads()\n",
    "named": "    cuda.barrier_sync(3, 128)\n",
    "cluster": "    c.sync()\n",
    "halves": "    c.barrier_arrive()\n    c.barrier_wait()\n",
    "mbarrier": "    cuda.mbarrier_arrive(bar, 0)\n    cuda.mbarrier_wait_parity(bar, 0, 0)\n",
}
BY = {  # a fence that is another's
    "the thread that copies": "    if t == 0:\n    " + FENCE,
    "its warp": "    if t < 32:\n    " + FENCE,
    "one that writes nothing": "    if t == 127:\n    " + FENCE,
}
UNFENCED = r"was written in line {line} by thread {by}, which has not called (cuda\.)?fence_proxy_async_shared\(\) since"
UNMET = r"byte \d+ of the 8192 was written in line {line} by thread {by}, and this thread has not met it since its fence_proxy_async_shared\(\)"
MMA_UNMET = r"tile [ab] has been written by threads, and thread \d+ of the warpgroup has not met them since"


def launch(text, grid=1, cluster=1, opt=False):
    """Not optimised, which is made in a fifth of the time and notes the same accesses one by one."""
    out = np.zeros((64, 64), np.float16)
    cuda.jit(define(text), opt=opt)[grid, 128, 0, 0, cluster](out, out)


def found(text, what, line, grid=1, cluster=1, opt=False):
    """An error with the line of the read, and its thread, that names the line of the write."""
    number = 1 + text.splitlines().index(line)
    with pytest.raises(RuntimeError, match=what.format(line=number, by=r"\d+")) as e:
        launch(text, grid, cluster, opt)
    said = str(e.value)
    at = int(re.search(r":(\d+)(:\d+)?, in kernel|line (\d+), in", said)[1])
    assert re.search(r"cp_async_bulk|wgmma\.mma", text.splitlines()[at - 1]), said
    assert "in thread (" in said and "of block (" in said


def line_of(write):
    """The one that stores."""
    return next(line for line in write.splitlines() if re.search(r"\] = |store\(|stmatrix\(", line))


pytestmark = pytest.mark.host_only


@pytest.mark.parametrize("write, read", [("elements", read) for read in READS] + [(write, read) for write in WRITES for read in ("bulk", "mma") if write != "elements"])
def test_right(write, read):
    for meet in MEETINGS if (write, read) in (("elements", "bulk"), ("elements", "mma")) else ("threads",):
        launch(HEAD + WRITES[write] + FENCE + MEETINGS[meet] + READS[read], 2, 2, opt=True)
    # a fence too many, of anybody
    launch(HEAD + WRITES[write] + FENCE + MEETINGS["threads"] + BY["the thread that copies"] + READS[read])


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("by", BY)
def test_a_fence_of_another_thread(read, by):
    """Behind the meeting, in front of it, and between two."""
    write = WRITES["one warp"]
    for meet in MEETINGS if by == "the thread that copies" and read in ("box", "mma") else ("threads",):
        text = HEAD + write + MEETINGS[meet] + BY[by] + (MEETINGS["threads"] if "mma" in read or meet == "named" else "") + READS[read]
        found(text, UNFENCED + "|has been written since the last", line_of(write))
    found(HEAD + write + BY[by] + MEETINGS["threads"] + BY[by] + MEETINGS["threads"] + READS[read], UNFENCED, line_of(write))


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("read", ["bulk", "mma"])
def test_of_whatever_is_written(write, read):
    found(HEAD + WRITES[write] + MEETINGS["threads"] + BY["the thread that copies"] + MEETINGS["threads"] + READS[read], UNFENCED, line_of(WRITES[write]), opt=True)


@pytest.mark.parametrize("read", ["box", "mma"])
@pytest.mark.parametrize("some", ["t < 64", "t >= 64", "t % 32 < 16", "t != 77"])
def test_a_fence_of_a_part_of_those_who_write(read, some):
    text = HEAD + WRITES["elements"] + f"    if {some}:\n    " + FENCE + MEETINGS["threads"] + READS[read]
    found(text, UNFENCED, line_of(WRITES["elements"]))


@pytest.mark.parametrize("write, read", [("elements", read) for read in ("bulk", "reduce", "box", "box of a part")] + [(write, "bulk") for write in ("one warp", "vectors", "one element", "the same values")])
def test_no_meeting_behind_the_fence(write, read):
    for before in ("", MEETINGS["threads"], MEETINGS["mbarrier"], "    cuda.syncwarp()\n"):
        found(HEAD + WRITES[write] + before + FENCE + READS[read], UNMET, line_of(WRITES[write]))
    for others in () if write == "vectors" else ("    cuda.syncwarp()\n", "    if t >= 32:\n        cuda.barrier_sync(2, 96)\n", "    if t > 0:\n        cuda.mbarrier_arrive(bar, 0)\n"):
        found(HEAD + WRITES[write] + FENCE + others + READS[read], UNMET, line_of(WRITES[write]))


@pytest.mark.parametrize("meet, right", [
    ("    if t < 64:\n        cuda.barrier_sync(4, 64)\n", False),  # of others
    ("    if t >= 32:\n        cuda.barrier_sync(4, 96)\n", False),  # without the thread that copies
    ("    if t < 64:\n        cuda.barrier_sync(4, 64)\n    if 32 <= t < 96:\n        cuda.barrier_sync(5, 64)\n", False),  # the wrong way round
    ("    if t < 32:\n        cuda.barrier_arrive(4, 64)\n    elif 64 <= t < 96:\n        cuda.barrier_sync(4, 64)\n", False),  # who copies does not wait
    ("    if t < 32:\n        cuda.barrier_sync(4, 64)\n    elif 64 <= t < 96:\n        cuda.barrier_arrive(4, 64)\n", True),
    ("    if t < 32 or 64 <= t < 96:\n        cuda.barrier_sync(4, 64)\n", True),
    ("    if 32 <= t < 96:\n        cuda.barrier_sync(5, 64)\n    if t < 64:\n        cuda.barrier_sync(4, 64)\n", True),  # by way of the second warp
    ("    if t >= 96:\n        cuda.barrier_sync(5, 64)\n        cuda.syncwarp()\n        cuda.barrier_arrive(4, 64)\n    elif t >= 64:\n        cuda.barrier_arrive(5, 64)\n    elif t < 32:\n        cuda.barrier_sync(4, 64)\n", True),
    ("    for k in range(100):\n        if t < 64:\n            cuda.barrier_sync(4, 64)\n    if 32 <= t < 96:\n        cuda.barrier_sync(5, 64)\n    if t < 64:\n        cuda.barrier_sync(4, 64)\n", True),
])  # fmt: skip
def test_who_meets_at_named_barriers(meet, right):
    """The third warp writes, a thread of the first one copies."""
    text = HEAD + WRITES["one warp"] + FENCE + meet + READS["bulk"]
    if right:
        launch(text)
    else:
        found(text, UNMET, line_of(WRITES["one warp"]))


# two mbarriers more, one of 64 arrivals and one of 1
MORE = HEAD.replace("    boxes", "    two = cuda.shared.array(2, cuda.mbarrier)\n    boxes").replace("        cuda.fence", "        cuda.mbarrier_init(two, 0, 64)\n        cuda.mbarrier_init(two, 1, 1)\n        cuda.fence")
WAIT = "        cuda.mbarrier_wait_parity(two, {}, 0)\n"
ARRIVE = "        cuda.mbarrier_arrive(two, {})\n"


@pytest.mark.parametrize("meet, right", [
    # at a phase: arrivals of others; who copies does not wait; who writes only waits; it has arrived before its fence
    ("    if t < 64:\n" + ARRIVE.format(0) + WAIT.format(0), False),
    ("    if 32 <= t < 96:\n" + ARRIVE.format(0) + "    if 32 <= t:\n" + WAIT.format(0), False),
    ("    if t == 127:\n" + ARRIVE.format(1) + "    if t < 96:\n" + WAIT.format(1), False),
    ("    if 32 <= t < 96:\n" + ARRIVE.format(0) + FENCE + "    if t < 32:\n" + WAIT.format(0), False),
    ("    if 32 <= t < 96:\n" + ARRIVE.format(0) + "    if t < 32:\n" + WAIT.format(0), True),
    ("    if t == 64:\n" + ARRIVE.format(1) + "    if t == 0:\n" + WAIT.format(1), False),  # of lane 0 alone
    ("    cuda.syncwarp()\n    if t == 64:\n" + ARRIVE.format(1) + "    if t == 5:\n" + WAIT.format(1) + "    cuda.syncwarp()\n", True),
    # by way of another warp, and that the wrong way round; of the phase before
    ("    if t >= 64:\n" + ARRIVE.format(0) + "    if t == 32:\n" + WAIT.format(0) + ARRIVE.format(1) + "    if t == 0:\n" + WAIT.format(1), True),
    ("    if t == 32:\n" + ARRIVE.format(1) + "    if t == 0:\n" + WAIT.format(1) + "    if t >= 64:\n" + ARRIVE.format(0) + "    if t == 32:\n" + WAIT.format(0), False),
    ("    if t < 64:\n" + ARRIVE.format(0) + WAIT.format(0) + "    if 64 <= t < 96:\n" + ARRIVE.format(0), False),
    # at the cluster's barrier: behind the arrival; in front of it; a thread that has only arrived
    ("    c.barrier_arrive()\n" + FENCE + "    c.barrier_wait()\n", False),
    ("    c.barrier_arrive()\n    if t >= 64:\n        c.barrier_wait()\n", False),
    ("    c.barrier_arrive()\n    if t < 64:\n        c.barrier_wait()\n", True),
    # named barriers: it has arrived before its fence
    ("    if t < 32:\n        cuda.barrier_sync(4, 64)\n    elif 64 <= t < 96:\n        cuda.barrier_arrive(4, 64)\n" + FENCE, False),
])  # fmt: skip
def test_who_meets_at_phases_and_clusters(meet, right):
    """The third warp writes, a thread of the first one copies. Fences in `meet` are the only ones."""
    blocks = 2 if "c.barrier" in meet else 1
    text = MORE + WRITES["one warp"] + FENCE * (FENCE not in meet) + meet + READS["bulk"]
    if right:
        launch(text, blocks, blocks)
    else:
        found(text, UNMET, line_of(WRITES["one warp"]), blocks, blocks)


@pytest.mark.parametrize("there", ["1 - ", ""])
def test_a_meeting_by_way_of_another_block(there):
    """The third warp arrives at the other block's barrier, whose thread 32 arrives here: right. It
    arrives here, and thread 32 at the other block's: this one knows nothing of it."""
    meet = "    first, then = c.map_shared_rank(two, there c.block_rank()), c.map_shared_rank(two, 1 - c.block_rank())\n"
    meet = meet.replace("there ", there) + "    if 64 <= t < 96:\n        cuda.mbarrier_arrive(first, 0)\n    if t >= 96:\n" + ARRIVE.format(0)
    meet += "    if t == 32:\n" + WAIT.format(0) + "        cuda.mbarrier_arrive(then, 1)\n    if t == 0:\n" + WAIT.format(1)
    text = MORE.replace("    cuda.syncthreads()\n", "    c.sync()\n") + WRITES["one warp"] + FENCE + meet + READS["bulk"] + "    c.sync()\n"
    if there:
        launch(text, 2, 2)
    else:
        found(text, UNMET, line_of(WRITES["one warp"]), 2, 2)


def test_an_mbarrier_that_others_know():
    """A thread of the last warp makes it; the first one, which arrives, has met the second alone."""
    text = MORE.replace("(two, 0, 64)", "(bar, 0, 1)").replace("mbarrier_init(bar, 0, 1)", "fence_mbarrier_init()") + "    if t == 96:\n        cuda.mbarrier_init(two, 0, 32)\n    cuda.barrier_sync(4, {})\n    if t < 32:\n" + ARRIVE.format(0)
    launch(text.format(128))
    with pytest.raises(RuntimeError, match=r"two\[0\] is no barrier yet for this thread: thread 96 made it, and the two have not met since"):
        launch(text.replace("    cuda.barrier_sync(4", "    if t < 64:\n        cuda.barrier_sync(4").format(64))


MULTIPLY = READS["mma of b"]  # s is tile b, which all warps read


@pytest.mark.parametrize("meet, right", [
    # each thread meets others behind the fence, but not, by any way, the warp that writes
    ("    cuda.barrier_sync(4 + t // 32, 32)\n", False),
    ("    if t // 32 == 2:\n        cuda.barrier_sync(4, 32)\n    else:\n        cuda.barrier_sync(5, 96)\n", False),
    ("    if t < 64:\n" + ARRIVE.format(0) + WAIT.format(0).replace("        ", "    "), False),
    # it has arrived before its fence
    ("    if 32 <= t < 96:\n" + ARRIVE.format(0) + FENCE + WAIT.format(0).replace("        ", "    "), False),
    ("    c.barrier_arrive()\n" + FENCE + "    c.barrier_wait()\n", False),
    # all but one warp, or but one lane, have met it
    ("    cuda.barrier_sync(4 + t // 96, 96 - 64 * (t // 96))\n", False),
    ("    if 64 <= t < 96:\n        for k in range(2):\n            if t - 64 < 32:\n                cuda.barrier_arrive(4 + k, 64)\n        cuda.barrier_sync(6, 64)\n    elif t < 64:\n        cuda.barrier_sync(4 + t // 32, 64)\n    else:\n        cuda.barrier_sync(6, 64)\n", True),
    ("    if 64 <= t < 128:\n" + ARRIVE.format(0) + "    if t:\n" + WAIT.format(0), False),
    ("    if 64 <= t < 128:\n" + ARRIVE.format(0) + WAIT.format(0).replace("        ", "    "), True),
    ("    if 64 <= t < 128:\n" + ARRIVE.format(0) + "    if t % 32 == 0:\n" + WAIT.format(0) + "    cuda.syncwarp()\n", True),
    # the warps meet too early
    ("    if 64 <= t < 128:\n" + ARRIVE.format(0) + "    cuda.syncwarp()\n    if t % 32 == 0:\n" + WAIT.format(0), False),
    ("    if 64 <= t < 96:\n        cuda.barrier_sync(4, 64)\n    elif t < 32:\n        cuda.barrier_sync(4, 64)\n    cuda.barrier_sync(5, 128)\n", True),
])  # fmt: skip
def test_who_meets_before_a_matrix_operation(meet, right):
    """A barrier that does not order the writes, whichever threads come to it, is no meeting with those who wrote."""
    blocks = 2 if "c.barrier" in meet else 1
    text = MORE + WRITES["one warp"] + FENCE * (FENCE not in meet) + meet + MULTIPLY
    if right:
        launch(text, blocks, blocks)
    else:
        found(text, MMA_UNMET, line_of(WRITES["one warp"]), blocks, blocks)


# two warpgroups; a bulk copy to s comes to one, a barrier of one arrival
PAIR = MORE.replace("range(t, 4096, 128)", "range(t, 4096, 256)").replace("(two, 0, 64)", "(two, 0, 256)") + """    if t == 0:
        cuda.mbarrier_arrive_expect_tx(two, 1, 8192)
        cuda.cp_async_bulk(s, x, two, 1)
"""
# it lets others go on meanwhile
STORED = "        cuda.cp_async_bulk_store(out, b)\n        cuda.cp_async_bulk_commit_group()\n        cuda.cp_async_bulk_wait_group(0)\n"


def launch_pair(text):
    out = np.zeros((64, 64), np.float16)
    cuda.jit(define(text), opt=False)[1, 256](out, out)


@pytest.mark.parametrize("meet, right", [
    ("    cuda.mbarrier_wait_parity(two, 1, 0)\n", True),
    ("    if t < 128:\n" + WAIT.format(1) + "    cuda.barrier_sync(4, 256)\n", True),
    ("    if t == 200:\n" + WAIT.format(1) + "    cuda.mbarrier_arrive(two, 0)\n    cuda.mbarrier_wait_parity(two, 0, 0)\n", True),
    ("    if t % 32 == 5:\n" + WAIT.format(1) + "    cuda.syncwarp()\n", True),
    # the copy has come, since others wait for it
    ("    if t < 128:\n" + WAIT.format(1) + "    cuda.barrier_sync(4 + t // 128, 128)\n", False),
    ("    if t < 128:\n" + WAIT.format(1) + "        cuda.barrier_sync(4, 128)\n    else:\n" + STORED + "        cuda.barrier_sync(5, 128)\n", False),
    ("    cuda.barrier_sync(4, 256)\n    if t != 130:\n" + WAIT.format(1), False),
    # behind its arrival
    ("    cuda.mbarrier_arrive(two, 0)\n    if t < 128:\n" + WAIT.format(1) + "    cuda.mbarrier_wait_parity(two, 0, 0)\n", False),
])  # fmt: skip
def test_who_has_waited_for_a_copy(meet, right):
    """Both warpgroups multiply what a copy brings."""
    text = PAIR + meet + MULTIPLY
    if right:
        launch_pair(text)
        return
    with pytest.raises(RuntimeError, match=r"wgmma\.mma: row 0 of tile b (is still being copied|has been copied, and thread \d+ of the warpgroup has not waited for the copy)"):
        launch_pair(text)


@pytest.mark.parametrize("right", [True, False])
def test_a_store_of_what_a_copy_brings(right):
    waits = "    cuda.mbarrier_wait_parity(two, 1, 0)\n" if right else "    if t >= 32:\n" + WAIT.format(1) + "    if t == 0:\n" + STORED
    if right:
        launch_pair(PAIR + waits + READS["bulk"])
    else:
        with pytest.raises(RuntimeError, match=r"byte 0 of the 8192 came with a copy that this thread has not waited for"):
            launch_pair(PAIR + waits + READS["bulk"])


AGAIN = "        cuda.mbarrier_arrive_expect_tx(two, 1, 8192)\n        cuda.cp_async_bulk(s, x, two, 1)\n"
WRITE = "        s[3, 5] = 9\n"
LAST = "    if t == 255:\n        cuda.mbarrier_wait_parity(two, 1, 1)\n"


@pytest.mark.parametrize("then, words", [(AGAIN + LAST, r"cp_async_bulk: the mma in line \d+ (reads this place, and this thread has not met its warpgroup|may still read this place)"),
                                         (WRITE, r"wgmma\.(mma|wait): tile b (has been written in line \d+ by this thread, which has not met the warpgroup|of the mma in line \d+ has been written)")])
@pytest.mark.parametrize("behind, right", [
    ("    cuda.barrier_sync(4, 256)\n    if t == 255:\n", True),
    # of 129 arrivals
    ("    if t == 0:\n" + ARRIVE.format(0) + "    elif t >= 128:\n" + ARRIVE.format(0) + "    if t == 255:\n" + WAIT.format(0), True),
    # a wait for something else lets the operation end; barriers of others, and one in front of the wait
    ("    if t == 255:\n" + STORED, False),
    ("    if t >= 128:\n        cuda.barrier_sync(5, 128)\n    if t == 255:\n" + STORED, False),
    ("    if t < 128:\n        cuda.barrier_sync(5, 128)\n    if t == 255:\n" + STORED, False),
    ("EARLY    if t == 255:\n" + STORED, False),
])  # fmt: skip
def test_who_knows_that_a_tile_has_been_read(then, words, behind, right):
    """The first warpgroup multiplies s; then a thread of the second one fills it again."""
    multiply = "".join(("    " + line if line.strip() else line) + "\n" for line in MULTIPLY.splitlines())
    early = "    cuda.barrier_sync(6, 256)\n" if behind.startswith("EARLY") else ""
    text = PAIR.replace("(two, 0, 256)", "(two, 0, 129)") + "    cuda.mbarrier_wait_parity(two, 1, 0)\n" + early + "    if t < 128:\n" + multiply + behind.replace("EARLY", "") + then
    if right:
        launch_pair(text)
        return
    with pytest.raises(RuntimeError, match=words):
        launch_pair(text)


def test_no_meeting_of_a_warpgroup():
    for before in ("", MEETINGS["threads"]):
        found(HEAD + WRITES["elements"] + before + FENCE + READS["mma"], MMA_UNMET, line_of(WRITES["elements"]))


def test_of_several_stages():
    """In a loop: the second round's fence is missing, or its meeting; and all is right."""
    loop = HEAD + "    for k in range(3):\n        s[t // 2, t % 2] = k\n        if {fence}:\n            cuda.fence_proxy_async_shared()\n        if {meet}:\n            cuda.syncthreads()\n        if t == 0:\n            cuda.cp_async_bulk_store(out, s)\n            cuda.cp_async_bulk_commit_group()\n            cuda.cp_async_bulk_wait_group(0, read=True)\n        cuda.syncthreads()\n"
    launch(loop.format(fence="t >= 0", meet="k < 3"))
    found(loop.format(fence="k < 2 or t == 0", meet="k < 3"), UNFENCED, "        s[t // 2, t % 2] = k")
    found(loop.format(fence="t >= 0", meet="k < 2"), UNMET, "        s[t // 2, t % 2] = k")


@pytest.mark.parametrize("read", ["bulk", "box"])
def test_of_another_block(read):
    """What a block writes to the other's memory needs a fence there, behind the meeting."""
    write = "    other = c.map_shared_rank(s, 1 - c.block_rank())\n    other[t // 2, t % 2] = 7\n"
    head, end = HEAD.replace("    cuda.syncthreads()\n", "    c.sync()\n"), "    c.sync()\n"
    launch(head + write + end + BY["the thread that copies"] + READS[read] + end, 2, 2)
    for fence in ("", FENCE):
        found(head + write + fence + end + READS[read] + end, "has been written since the last", "    other[t // 2, t % 2] = 7", 2, 2)


def test_a_copy_between():
    """What a bulk load has brought since needs no fence of who wrote there before."""
    text = HEAD.replace("bar, 0, 128", "bar, 0, 1") + WRITES["elements"] + FENCE + """    cuda.syncthreads()
    if t == 0:
        cuda.mbarrier_arrive_expect_tx(bar, 0, 8192)
        cuda.cp_async_bulk(s, x, bar, 0)
    cuda.mbarrier_wait_parity(bar, 0, 0)
""" + READS["bulk"]
    launch(text)
    launch(text.replace(FENCE + "    cuda.syncthreads()\n    if t == 0:\n        cuda.mbarrier_arrive", "    cuda.syncthreads()\n    if t == 0:\n        cuda.mbarrier_arrive"))
