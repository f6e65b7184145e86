"""Threads that wait for one another in loops: locks, flags, tickets, producers and consumers, look-back across blocks. What waits gives the other
threads, and then the other blocks, their turn; what does not keeps its code."""

import os
import threading

import numpy as np
import pytest
from harness import define
from pyptx import cuda

pytestmark = [
    pytest.mark.skipif(os.environ["PYPTX_DEVICE"] == "ptx", reason="threads run one after the other in tests/ptx_on_cpu"),
    # what may never end there runs in a process of its own
    pytest.mark.host_only("GPUs do not promise turns to all lanes of a warp: tests/gpu/test_gpu_waiting.py"),
]


def test_antidiagonals_as_in_a_transducers_loss():
    """Thread u of a block goes along row u of a table, as soon as row u - 1 is far enough; counters say how far."""
    @cuda.jit
    def alphas(log_blank, log_label, alpha, counts):
        b, u = cuda.blockIdx.x, cuda.threadIdx.x
        steps = alpha.shape[1]
        t = 0
        while t < steps:
            if u > 0:
                while cuda.atomic.add(counts, (b, u - 1), 0) <= t:
                    pass
            if t == 0 and u == 0:
                alpha[b, 0, 0] = 0
            elif u == 0:
                alpha[b, t, 0] = alpha[b, t - 1, 0] + log_blank[b, t - 1, 0]
            elif t == 0:
                alpha[b, 0, u] = alpha[b, 0, u - 1] + log_label[b, 0, u - 1]
            else:
                x = alpha[b, t - 1, u] + log_blank[b, t - 1, u]
                y = alpha[b, t, u - 1] + log_label[b, t, u - 1]
                alpha[b, t, u] = max(x, y)
            cuda.threadfence()
            cuda.atomic.add(counts, (b, u), 1)
            t += 1

    rng = np.random.default_rng(1)
    blank, label = -rng.random((5, 30, 48)), -rng.random((5, 30, 48))
    alpha = np.zeros_like(blank)
    alphas[5, 48](blank, label, alpha, np.zeros((5, 48), np.int32))
    expected = np.zeros_like(blank)
    for t in range(30):
        for u in range(48):
            ways = [expected[:, t - 1, u] + blank[:, t - 1, u]] * (t > 0) + [expected[:, t, u - 1] + label[:, t, u - 1]] * (u > 0)
            if ways:
                expected[:, t, u] = np.max(ways, axis=0)
    assert (alpha == expected).all()


LOCKS = {
    "cas": ("while cuda.atomic.cas(lock, 0, 0, 1) != 0:\n        pass", "cuda.atomic.exch(lock, 0, 0)"),
    "exch": ("while cuda.atomic.exch(lock, 0, 1) == 1:\n        pass", "cuda.atomic.exch(lock, 0, 0)"),
    "max": ("while cuda.atomic.max(lock, 0, 1):\n        cuda.nanosleep(8)", "lock[0] = 0"),
    "looks first": ("while lock[0] != 0 or cuda.atomic.cas(lock, 0, 0, 1) != 0:\n        pass", "cuda.atomic.exch(lock, 0, 0)"),
    "adds": ("while cuda.atomic.add(lock, 0, 1) != 0:\n        cuda.atomic.sub(lock, 0, 1)", "cuda.atomic.sub(lock, 0, 1)"),
    "ticket": ("mine = cuda.atomic.add(lock, 1, 1)\n    while cuda.atomic.add(lock, 2, 0) != mine:\n        pass", "cuda.atomic.add(lock, 2, 1)"),
    "function": ("while not taken(lock):\n        pass", "cuda.atomic.exch(lock, 0, 0)"),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.unchecked("a plain store to the lock")) if "lock[0] = 0" in LOCKS[n] else n for n in LOCKS])
@pytest.mark.parametrize("shape", [(1, 64), (7, 32), (40, 1)])
def test_locks_are_held_across_other_waits(name, shape):
    """Inside the lock a thread waits for its turn of a second kind, so that others meet the lock while it is taken."""
    take, release = LOCKS[name]
    kernel = cuda.jit(define(f"""
def taken(lock):
    return cuda.atomic.cas(lock, 0, 0, 1) == 0

def kernel(lock, bell, total, order):
    i = cuda.grid(1)
    {take}
    cuda.threadfence()
    before = total[0]
    rung = cuda.atomic.add(bell, 0, 1)
    while cuda.atomic.add(bell, 1, 0) < rung:       # the bell-ringer, the last thread of all, hears every ring
        if i == cuda.gridsize(1) - 1:
            cuda.atomic.add(bell, 1, 1)
    total[0] = before + 1
    order[i] = before
    cuda.threadfence()
    cuda.atomic.add(bell, 1, 1)
    {release}
"""))
    n = shape[0] * shape[1]
    total, order = np.zeros(1, np.int64), np.full(n, -1)
    kernel[shape](np.zeros(3, np.int64), np.zeros(2, np.int64), total, order)
    assert total[0] == n and sorted(order) == list(range(n))


@pytest.mark.unchecked("reads the total while other warps add to it")
def test_a_lock_of_the_lanes_of_a_warp():
    @cuda.jit
    def kernel(lock, total):
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True
        cuda.syncwarp()
        total[1] = total[0]

    total = np.zeros(2, np.int64)
    kernel[20, 96](np.zeros(1, np.int32), total)
    assert total[0] == 20 * 96


@pytest.mark.unchecked("a plain store to a flag that others poll is a race")
@pytest.mark.parametrize("threads", [1, 16, 33, 256])
def test_a_plain_flag_that_a_later_thread_sets(threads):
    @cuda.jit
    def kernel(flag, out):
        t = cuda.threadIdx.x
        own = cuda.shared.array(1, np.int32)
        if t == 0:
            own[0] = 0
        cuda.syncthreads()
        if t == cuda.blockDim.x - 1:
            flag[0] = 1
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        if t == cuda.blockDim.x // 2:
            own[0] = 5
        while cuda.atomic.or_(own, 0, 0) == 0:
            pass
        votes = cuda.syncthreads_count(t % 3 == 0)
        out[t] = own[0] + t + votes

    out = np.zeros(threads, np.int64)
    kernel[1, threads](np.zeros(1, np.int32), out)
    assert (out == 5 + np.arange(threads) + len(range(0, threads, 3))).all()


def test_producers_and_consumers_across_blocks():
    """A ring of 8 places: the blocks with low numbers take, those with high numbers give."""
    @cuda.jit
    def kernel(ring, full, counters, got, each):
        half = cuda.gridDim.x // 2
        if cuda.threadIdx.x == 0:
            for k in range(each):
                if cuda.blockIdx.x < half:
                    n = cuda.atomic.add(counters, 0, 1)
                    while cuda.atomic.add(full, n % 8, 0) != 2 * (n // 8) + 1:
                        pass
                    got[n] = ring[n % 8]
                else:
                    n = cuda.atomic.add(counters, 1, 1)
                    while cuda.atomic.add(full, n % 8, 0) != 2 * (n // 8):
                        pass
                    ring[n % 8] = n * n
                cuda.threadfence()
                cuda.atomic.add(full, n % 8, 1)
        cuda.syncthreads()

    got = np.full(60, -1)
    kernel[12, 3](np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(2, np.int64), got, 10)
    assert (got == np.arange(60) ** 2).all()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("blocks", [1, 2, 30, 300])
def test_decoupled_look_back(blocks, reverse):
    @cuda.jit
    def scan(x, status, aggregate, prefix, out, backwards):
        tile, base = cuda.shared.array(64, np.int64), cuda.shared.array(1, np.int64)
        t = cuda.threadIdx.x
        b = cuda.gridDim.x - 1 - cuda.blockIdx.x if backwards else cuda.blockIdx.x
        i = b * 64 + t
        tile[t] = x[i]
        cuda.syncthreads()
        step = 1
        while step < 64:
            v = tile[t - step] if t >= step else 0
            cuda.syncthreads()
            tile[t] += v
            cuda.syncthreads()
            step *= 2
        if t == 0:
            aggregate[b] = tile[63]
            cuda.threadfence()
            cuda.atomic.exch(status, b, 1)
            before = 0
            j = b - 1
            while j >= 0:
                s = cuda.atomic.add(status, j, 0)
                if s == 2:
                    before += prefix[j]
                    break
                if s == 1:
                    before += aggregate[j]
                    j -= 1
            prefix[b] = before + tile[63]
            cuda.threadfence()
            cuda.atomic.exch(status, b, 2)
            base[0] = before
        cuda.syncthreads()
        out[i] = base[0] + tile[t]

    x = np.random.default_rng(1).integers(0, 9, blocks * 64)
    out = np.zeros_like(x)
    scan[blocks, 64](x, np.zeros(blocks, np.int32), np.zeros(blocks, np.int64), np.zeros(blocks, np.int64), out, reverse)
    assert (out == np.cumsum(x)).all()


@pytest.mark.unchecked("a plain store to a flag that others poll is a race")
def test_a_chain_of_many_blocks_in_either_direction():
    @cuda.jit
    def chain(flags, out, step):
        b = cuda.blockIdx.x
        before = b + step
        if 0 <= before < cuda.gridDim.x:
            while flags[before] == 0:
                cuda.syncthreads()
            out[b] = out[before] + 1
        cuda.threadfence()
        cuda.syncthreads()
        flags[b] = 1

    n = 3000
    for step in (1, -1):
        out = np.zeros(n, np.int64)
        chain[n, 1](np.zeros(n, np.int32), out, step)
        assert (out == (np.arange(n)[::-1] if step == 1 else np.arange(n))).all()


def test_waits_beside_the_barrier_of_the_grid():
    from pyptx.cuda import cg

    @cuda.jit
    def kernel(flags, out, rounds):
        grid = cg.this_grid()
        b, last = cuda.blockIdx.x, cuda.gridDim.x - 1
        for k in range(rounds):
            if b < last:
                while cuda.atomic.add(flags, b + 1, 0) <= k:
                    pass
            out[b] += 1 + (out[b + 1] if b < last else 0)
            cuda.threadfence()
            cuda.atomic.add(flags, b, 1)
            grid.sync()

    out, expected = np.zeros(9, np.int64), np.zeros(9, np.int64)
    kernel[9, 1](np.zeros(9, np.int32), out, 6)
    for _ in range(6):
        for b in range(8, -1, -1):
            expected[b] += 1 + (expected[b + 1] if b < 8 else 0)
    assert (out == expected).all()


def test_more_blocks_wait_than_have_places():
    """The first block waits for the last one of very many, which wait for nobody."""
    @cuda.jit
    def kernel(flag, out):
        frame = cuda.local.array(256, np.float64)
        b = cuda.blockIdx.x
        frame[b % 256] = b
        if b == cuda.gridDim.x - 1:
            cuda.atomic.exch(flag, 0, 1)
        while b % 100 == 0 and cuda.atomic.add(flag, 0, 0) == 0:
            pass
        if cuda.threadIdx.x == 0:
            out[b] = frame[b % 256]

    out = np.zeros(4000)
    kernel[4000, 64](np.zeros(1, np.int32), out)
    assert (out == np.arange(4000)).all()


def test_a_launch_waits_for_another_one():
    @cuda.jit
    def waits(flag, out):
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        out[cuda.grid(1)] = flag[0]

    @cuda.jit
    def sets(flag):
        cuda.atomic.exch(flag, 0, 7)

    flag, out = cuda.to_device(np.zeros(1, np.int64)), cuda.to_device(np.zeros(200, np.int64))
    sets.compile("(int64[::1],)")
    thread = threading.Thread(target=lambda: waits[5, 40, cuda.stream()](flag, out))
    thread.start()
    thread.join(0.3)
    assert not out.copy_to_host(stream=cuda.stream()).any()
    sets[1, 1, cuda.stream()](flag)
    thread.join(60)
    assert not thread.is_alive()
    cuda.synchronize()
    assert (out.copy_to_host() == 7).all()


WAIT = {
    "flag": "while x[0] == 0: pass",
    "flag of a thread": "while x[t + 1] <= y: pass",
    "atomic": "while cuda.atomic.add(x, 0, 0) == 0: pass",
    "carried": "s = x[0]\nwhile s == 0: s = x[0]",
    "carried cas": "s = cuda.atomic.cas(x, 0, 0, 1)\nwhile s != 0: s = cuda.atomic.cas(x, 0, 0, 1)",
    "shared": "s = cuda.shared.array(4, np.int64)\nwhile s[t] != y: pass",
    "looks back": "j = y\nwhile j >= 0:\n    s = x[j]\n    if s == 2: break\n    if s == 1: j -= 1\nx[t] = 2",
    "other element": "while x[t] == 0: x[t + 1] = 5",
    "sleeps": "for k in range(1000):\n    if x[0]: break\n    cuda.nanosleep(10)",
    "barrier": "while x[0] == 0: cuda.syncthreads()",
    "counts and stays": "k = 0\nwhile x[t] == 0:\n    if k < y: k += 1",
    "counts again": "k = 0\nwhile x[t] == 0:\n    if k < 5: k += 1\n    else: k = 0",
    "up and down": "k = 0\nwhile x[t] == 0:\n    if k < 5: k += 1\n    else: k -= 5",
    "down and up": "k = 9\nwhile x[t] == 0:\n    if k > y: k -= 1\n    else: k += 5",
    "moves its bound": "j, k, m = 0, 0, y\nwhile x[j] == 0:\n    if k < m:\n        k += 1\n        m += 1\n    else: j += 1\nx[t] = 2",
    "turns back where nothing is read": "k = 0\nwhile True:\n    if k < 5:\n        if x[t]: break\n        k += 1\n    else: k = 0",
}
NO_WAIT = {
    "back, in what it only reads": "j = y\nwhile j >= 0:\n    s = x[j]\n    if s == 2: break\n    if s == 1: j -= 1",
    "merge of what it only reads": "j = k = 0\nwhile j < y and k < y:\n    s = min(x[j], x[k + y])\n    while j < y and x[j] <= s: j += 1\n    while k < y and x[k + y] <= s: k += 1",
    "counts": "for k in range(x[0]): x[1] += k",
    "bound in memory": "k = 0\nwhile k < x[0]: k += 1",
    "compressed row": "k = x[t]\nwhile k < x[t + 1]:\n    x[2] += k\n    k += 1",
    "search": "lo, hi = 0, x.size\nwhile lo < hi:\n    mid = (lo + hi) // 2\n    if x[mid] < y: lo = mid + 1\n    else: hi = mid",
    "search, selected": "lo, hi = 0, x.size\nwhile lo < hi:\n    mid = (lo + hi) // 2\n    less = x[mid] < y\n    lo, hi = (mid + 1 if less else lo), (hi if less else mid)",
    "list": "node = y\nwhile node >= 0: node = x[node]",
    "probing": "k = y\nwhile x[k] != 0 and x[k] != y: k = (k + 1) % x.size",
    "hash table": "k = y\nwhile True:\n    old = cuda.atomic.cas(x, k, 0, y)\n    if old == 0 or old == y: break\n    k = (k + 1) % x.size",
    "retry": "old = x[0]\nwhile old < y:\n    seen = cuda.atomic.cas(x, 0, old, y)\n    if seen == old: break\n    old = seen",
    "retry anew": "while True:\n    old = x[0]\n    if cuda.atomic.cas(x, 0, old, old + y) == old: break",
    "queue": "k = cuda.atomic.add(x, 0, 1)\nwhile k < y:\n    x[k] = t\n    k = cuda.atomic.add(x, 0, 1)",
    "queue to a bound in memory": "while True:\n    k = cuda.atomic.add(x, 0, 1)\n    if k >= x[1]: break",
    "own element": "while x[t] > y: x[t] //= 2",
    "generator": "while True:\n    s = x[t] * 6364136223846793005 + 1442695040888963407\n    x[t] = s\n    if s % 8 == 0: break",
    "by iterations": "again = True\nwhile again:\n    cuda.syncthreads()\n    s = cuda.shared.array(1, np.int64)\n    if t == 0: s[0] = x[0]\n    cuda.syncthreads()\n    again = s[0] > 0\n    if t == 0: x[0] -= 1",
    "flag in a counted loop": "for k in range(y):\n    if x[0]: break\n    x[k + 1] += k",
    "local": "s = cuda.local.array(4, np.int64)\ns[0] = y\nwhile s[0] > 0: s[0] -= 1",
    "greatest common divisor": "a, b = x[0], y\nwhile b: a, b = b, a % b\nx[1] = a",
    "never": "while y: pass",
    "two texts": "j = k = 0\nwhile j < y:\n    if x[j] == 3: j += 1\n    elif k < 50: k += 1\n    else: j += 1\nx[t] = k",
    "two texts to their ends": "j = k = 0\nwhile j < y:\n    if k < x.size and x[k] == 3: k += 1\n    elif x[j] == 2:\n        j += 1\n        k = 0\n    else: break\nx[t] = k",
    "downwards": "j, k = 0, y\nwhile j < y:\n    if x[j] == 3: j += 1\n    elif 0 <= k: k -= 1\n    else: j += 1\nx[t] = k",
}


def yields(text, capfd):
    lines = "\n    ".join(text.split("\n"))
    function = define(f"def kernel(x, y):\n    t = cuda.threadIdx.x\n    {lines}\n")
    kernel = cuda.jit(function, dump="L")
    kernel.compile("(int64[::1], int64)")
    return "@pyptx.meet(i32 2," in capfd.readouterr().err


@pytest.mark.host_only("the GPU's threads have their turn in any case")
@pytest.mark.parametrize("text", WAIT.values(), ids=WAIT)
def test_what_waits_gives_others_their_turn(text, capfd):
    assert yields(text, capfd)


@pytest.mark.host_only("the GPU's threads have their turn in any case")
@pytest.mark.parametrize("text", NO_WAIT.values(), ids=NO_WAIT)
def test_what_does_not_wait_stays_as_it_is(text, capfd):
    assert not yields(text, capfd)


def volatile_loads(text):
    function = define("def kernel(x, y):\n    t = cuda.threadIdx.x\n    " + "\n    ".join(text.split("\n")) + "\n")
    return cuda.compile_ptx(function, "(int64[::1], int64)", cc="sm_90")[0].count("ld.volatile")


@pytest.mark.parametrize("text", [text for text in WAIT.values() if "atomic" not in text])
def test_a_gpu_reads_each_time(text):
    """What is read once would be waited for in vain; 0.1 s for all."""
    assert volatile_loads(text)


@pytest.mark.parametrize("text", NO_WAIT.values(), ids=NO_WAIT)
def test_a_gpu_reads_as_it_likes(text):
    assert not volatile_loads(text)
