"""Arrays of one launch that overlap: code that relies on it that they lie apart is for launches where they do, through every door. A kernel here
gives another result where a store to one array may be read through another; CPython runs the same function on NumPy's views. The GPU's code
runs on the CPU (tests/ptx_on_cpu), in processes of their own."""

from pathlib import Path

import numpy as np
import pytest
from pyptx import cuda
from standin import needs_standin, run

TESTS = str(Path(__file__).parents[2])
PREAMBLE = f"import sys; sys.path.insert(0, {TESTS!r})" """
import numpy as np, ptx_on_cpu
ptx_on_cpu.choose()
from pyptx import cuda

N = 12

def running(x, weights, out):
    for k in range(out.size):
        out[k] += x[k] * weights[0] + weights[k % 2]

def fresh():
    return np.arange(1, N + 1, dtype=np.float32)

VIEWS = {  # of one array: what the kernel is given, and whether some of it overlaps
    "apart": (lambda a: (a[:4], a[4:6], a[6:10]), False),
    "in front": (lambda a: (a[:8], a[10:], a[1:9]), True),
    "behind": (lambda a: (a[1:9], a[10:], a[:8]), True),
    "the same": (lambda a: (a[:8], a[8:], a[:8]), True),
    "weights": (lambda a: (a[6:], a[:2], a[:6]), True),
    "touching": (lambda a: (a[:5], a[5:7], a[7:]), False),
    "read alone": (lambda a: (a[:4], a[:2], a[4:8]), True),
    "backwards": (lambda a: (a[8:2:-1], a[10:], a[1:7]), True),
    "between": (lambda a: (a[:8:2], a[9:], a[1:8:2]), True),
    "empty": (lambda a: (a[:0], a[:2], a[3:3]), False),
}

def right(launch, name, device=True):
    views, _ = VIEWS[name]
    with np.errstate(over="ignore"):
        mine, theirs = fresh(), fresh()
        running(*views(theirs))
        given = cuda.to_device(mine) if device else mine
        launch(*views(given))
        result = given.copy_to_host() if device else mine
    assert result.tolist() == theirs.tolist(), (name, result, theirs)

def texts(kernel):
    return [k.signature_text for k in kernel.overloads.values()]
"""


@needs_standin
def test_every_door():
    """In any order: positions, names, forall, bound, NumPy's arrays, tuples."""
    run(PREAMBLE + """
def bound(*arrays):
    kernel[1, 1].bind(*arrays)()

def named(x, weights, out):
    kernel[1, 1](out=out, weights=weights, x=x)

kernel = cuda.jit(running)
for rounds in range(3):
    for name in [*VIEWS, *reversed(VIEWS), "apart", "apart", "in front", "in front", "apart"]:
        right(kernel[1, 1], name)
        right(kernel.forall(1, tpb=1), name)
        right(named, name)
        right(bound, name)
        right(kernel[1, 1], name, device=False)

@cuda.jit
def of_pair(pair, out):
    running_too(pair[0], pair[1], out)

running_too = cuda.jit(device=True)(running)
for name in [*VIEWS, *reversed(VIEWS)]:
    right(lambda x, w, out: of_pair[1, 1]((x, w), out), name)
""")


@needs_standin
def test_which_version_a_launch_takes():
    """The narrow one where arrays lie apart, the wide one where not, and where nothing comes of it the narrow one for all."""
    run(PREAMBLE + """
import os, pathlib, tempfile

def versions(function, launches):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYPTX_CACHE_DIR"] = folder
        kernel = cuda.jit(cache=True)(function)
        for launch in launches:
            launch(kernel)
        return len(list(pathlib.Path(folder).rglob("*.kernel")))

def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]

a = cuda.to_device(fresh())
for name, (views, overlap) in VIEWS.items():
    assert versions(running, [lambda k: k[1, 1](*views(a))] * 3) == 1 + overlap, name
assert versions(add, [lambda k: k[1, 32](a, a, a), lambda k: k[1, 32](a[:3], a[3:6], a[6:9])]) == 1
""")


@needs_standin
def test_graphs():
    """A node has the wide version, whose arrays may be any; one that was bound before is checked again."""
    run(PREAMBLE + """
kernel = cuda.jit(running)
a = cuda.to_device(fresh())
stream = cuda.stream()
with cuda.graph(stream) as g:
    kernel[1, 1, stream](*VIEWS["apart"][0](a))
bound = kernel[1, 1, stream].bind(*VIEWS["apart"][0](a))
with cuda.graph(stream) as of_bound:
    bound()
try:
    of_bound.nodes[0].set_args(*VIEWS["the same"][0](a))
except TypeError as e:
    assert "capture the graph again" in str(e)
else:
    raise AssertionError("code that wants arrays apart was given others")
for name in ("apart", "in front", "behind", "the same", "apart"):
    def launch(*arrays):
        g.nodes[0].set_args(*arrays)
        g.launch(stream)
        stream.synchronize()
    right(launch, name)
""")


@needs_standin
def test_addresses_that_are_numbers():
    """A text that gets an address as a number may reach any array: what is loaded beside it is loaded again."""
    run(PREAMBLE + """
def through_a_table(x, table, y, out):
    for k in range(out.size):
        x[0] = 3 * k
        cuda.inline_ptx("st.global.b64 [%0], %1;", "l", table[k % 2], "l", np.int64(7 * k), host=lambda at, v: None)
        out[k] = x[0] + y[0]
        x[1] = k
        out[k] += cuda.inline_ptx("ld.global.b64 %0, [%1];", "=l", np.int64, "l", table[1], host=lambda at: np.int64(0))

x, y, out = (cuda.to_device(np.zeros(8, np.int64)) for _ in range(3))
at = x.__cuda_array_interface__["data"][0]
cuda.jit(through_a_table)[1, 1](x, cuda.to_device(np.array([at, at + 8])), y, out)
assert out.tolist() == [(3 * k if k % 2 else 7 * k) + k for k in range(8)], out
""")


def test_functions_of_others():
    """What they reach by numbers, or have kept, is not known: an iteration reads what the last one may write."""
    other = cuda.declare_device("other", "int32(int64)")

    def scaled(x, weights, out):
        for k in range(out.size):
            out[k] = x[k] * weights[0] + other(k)

    text = cuda.compile_ptx(scaled, "narrow (int32[::1], int32[::1], int32[::1])", cc="sm_80", coarsen=False)[0]
    loop = text[: text.index("call.uni")].rsplit("$L__BB", 1)[1]
    assert loop.count("ld.global") == 2, text


MEETINGS = {"barrier": "cuda.syncthreads()", "warp": "cuda.syncwarp()", "fence": "cuda.threadfence()", "text": "cuda.inline_ptx('bar.sync 0;')", "grid": "cuda.cg.this_grid().sync()",
            "cluster": "cuda.cg.this_cluster().sync()", "count": "cuda.syncthreads_count(t > 3)", "pause": "cuda.nanosleep(100)"}  # fmt: skip


@pytest.mark.parametrize("meet", MEETINGS.values(), ids=MEETINGS)
def test_what_other_threads_store_is_read_again(meet):
    """LLVM takes arrays that lie apart for the thread's own. Those that nobody stores to are read once."""
    space = {"cuda": cuda}
    exec(f"""def exchange(x, seen, out, weight):
    t = cuda.threadIdx.x
    a = x[t + 1]
    {meet}
    x[t] = a * weight[0]
    seen[t] = x[2]
    {meet}
    out[t] = x[t + 1] + seen[t + 1]
    {meet}
    seen[t] = weight[0]
""", space)
    text = cuda.compile_ptx(space["exchange"], "narrow (int32[::1], int32[::1], int32[::1], int32[::1])", cc="sm_90", coarsen=False)[0]
    assert text.count("\tld.global") == 5 and text.count("\tst.global") == 4, text


@needs_standin
def test_a_blocks_threads_exchange_numbers():
    run(PREAMBLE + """
@cuda.jit
def exchange(x, y, z):
    t = cuda.threadIdx.x
    a = x[t + 1]
    cuda.syncthreads()
    x[t] = a * 2 + y[t]
    y[t] = z[0]
    cuda.syncthreads()
    y[t] = x[t + 1] + z[t]

x, y, z = (np.arange(17, dtype=np.int64) * k for k in (1, 3, 7))
first = x[1:] * 2 + y[:16]
given = [cuda.to_device(a) for a in (x, y, z)]
exchange[1, 16](*given)
assert given[0].tolist() == [*first, 16]
assert given[1].tolist() == [*(np.append(first[1:], 16) + z[:16]), y[16]]
""")


@needs_standin
def test_disk_cache(tmp_path):
    """What is read back says it, too."""
    for _ in range(2):
        run(PREAMBLE + """
kernel = cuda.jit(running)
for name in VIEWS:
    right(kernel[1, 1], name)
""", PYPTX_CACHE_DIR=str(tmp_path))


def test_many_arrays(device):
    """More than are compared count as overlapping."""
    n = 40
    names = [f"a{k}" for k in range(n)]
    space = {}
    exec(f"def kernel({', '.join(names)}):\n for k in range(1, 5):\n" + "".join(f"  {x}[k] += {y}[k - 1]\n" for x, y in zip(names, names[1:])), space)
    block = np.arange(n * 5, dtype=np.float32).reshape(n, 5)
    expected = block.copy()
    space["kernel"](*expected[::-1], )
    given = cuda.to_device(block)
    cuda.jit(space["kernel"])[1, 1](*[given[k] for k in reversed(range(n))])
    np.testing.assert_array_equal(given.copy_to_host(), expected)


def shift(x, out, n):
    for k in range(n):
        out[k] = x[k] + out[0]


@pytest.mark.parametrize("ahead", [-2, -1, 0, 1, 2, 40])
def test_on_the_device(ahead, device):
    block = np.arange(100, dtype=np.int32)
    expected = block.copy()
    low = max(0, -ahead)
    shift(expected[low : low + 40], expected[low + ahead : low + ahead + 40], 40)
    kernel = cuda.jit(shift)
    for _ in range(3):
        given = cuda.to_device(block)
        kernel[1, 1](given[low : low + 40], given[low + ahead : low + ahead + 40], 40)
        np.testing.assert_array_equal(given.copy_to_host(), expected)


def test_no_load_stays_behind_a_store():
    """The narrow version loads what the loop does not change once, the wide one again behind each store."""
    def scaled(scale, x, out):
        for k in range(cuda.grid(1), out.size, 1000):
            out[k] = x[k] * scale[0]

    types = "narrow (float32[::1], float32[::1], float32[::1])"
    narrow, wide = (cuda.compile_ptx(scaled, t, cc="sm_80", coarsen=False)[0].count("ld.global") for t in (types, types.removeprefix("narrow ")))
    assert narrow < wide, (narrow, wide)
