"""Narrow versions of kernels: which launches take them, and that no door lets a number into code that is too narrow for it. The GPU's code runs on the
CPU (tests/ptx_on_cpu), in processes of their own."""

import re
from pathlib import Path

import numpy as np
import pytest
import standin
from pyptx import cuda
from standin import needs_standin

EDGE = 1 << 30  # integers and extents below it fit a narrow version
TESTS = str(Path(__file__).parents[2])
PREAMBLE = f"import sys; sys.path.insert(0, {TESTS!r})" """
import numpy as np, ptx_on_cpu
ptx_on_cpu.choose()
from pyptx import cuda
EDGE = 1 << 30
NUMBERS = [0, 5, -3, EDGE - 1, EDGE, EDGE + 1, -EDGE, -EDGE - 1, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 46341, 46341**2, 2**62]

def wrapped(x):
    return (int(x) + 2**63) % 2**64 - 2**63

def work(n, out):
    i = n - 2
    rounds = 0
    while i < n:
        i += 1
        rounds += 1
    out[0] = i + 1
    out[1] = n * n + n
    out[2] = min(max(n + 5, -7), n + 1)
    out[3] = n % 7 + n // 3
    out[4] = -n - abs(n)
    out[5] = 2 * n + 3 * rounds
    out[6] = 0
    if 0 <= n < 1000:
        out[6] = n + (n + 1) % 3
    out[7] = (n ^ 12345) + (n >> 3) + (n | -2) + (n & 255)

def expected(n):
    out = [0] * 8
    work(int(n), out)
    return [wrapped(x) for x in out]

def texts(kernel):
    return sorted(k.signature_text for k in kernel.overloads.values())

def fresh():
    return cuda.to_device(np.zeros(8, np.int64))

def check(out, n):
    assert out.copy_to_host().tolist() == expected(n), n

def fits(n):
    return -EDGE <= n < EDGE
"""


def run(source):
    return standin.run(PREAMBLE + source)


@needs_standin
def test_each_launch_has_the_right_numbers():
    """In any order, by plans and without, of Python's integers and NumPy's, by position and name, and in a tuple."""
    run("""
kernel, out = cuda.jit(work), fresh()
for rounds in range(2):
    for n in NUMBERS + NUMBERS[::-1]:
        kernel[1, 1](n, out)
        check(out, n)
        kernel[1, 1](np.int64(n), out)
        check(out, n)
        kernel[1, 1](out=out, n=n)
        check(out, n)
        kernel.forall(1)(n, out)
        check(out, n)

@cuda.jit
def from_tuple(numbers, out):
    work_of = numbers[1]
    out[0] = work_of + 1
    out[1] = numbers[0] - 1

for n in NUMBERS:
    from_tuple[1, 1]((5, n), out)
    assert out.copy_to_host()[:2].tolist() == [wrapped(n + 1), 4]
""")


@needs_standin
def test_unsigned():
    run("""
@cuda.jit
def kernel(n, out):
    out[0] = n + np.uint64(1)
    out[1] = n - np.uint64(1)

out = cuda.to_device(np.zeros(2, np.uint64))
for n in [0, 1, EDGE - 1, EDGE, 2**31, 2**32, 2**63, 2**64 - 1] * 2:
    kernel[1, 1](np.uint64(n), out)
    assert out.copy_to_host().tolist() == [(n + 1) % 2**64, (n - 1) % 2**64], n
""")


@needs_standin
def test_dates_and_spans():
    """They are integers of 64 bits in compiled code."""
    run("""
@cuda.jit
def kernel(span, date, pair, out):
    out[0] = span
    out[1] = pair[1]
    out[2] = date - np.datetime64(0, "ms")

out = cuda.to_device(np.zeros(3, "m8[ms]"))
for n in NUMBERS + NUMBERS[::-1]:
    for given in ((n, 5, 5), (5, n, 5), (5, 5, n)):
        span, date, other = given
        kernel[1, 1](np.timedelta64(span, "ms"), np.datetime64(date, "ms"), (1, np.timedelta64(other, "ms")), out)
        assert out.copy_to_host().astype(np.int64).tolist() == [span, other, date], given
""")


@needs_standin
def test_bound_launches():
    run("""
kernel, out = cuda.jit(work), fresh()
bound = [kernel[1, 1].bind(n, out) for n in NUMBERS]
for _ in range(2):
    for n, launch in zip(NUMBERS, bound):
        launch()
        check(out, n)
""")


@needs_standin
def test_declared_signatures():
    run("""
for types in ("void(int64, int64[:])", "void(pyint, int64[::1])"):
    kernel, out = cuda.jit(types)(work), fresh()
    for n in NUMBERS:
        kernel[1, 1](n, out)
        check(out, n)
    assert len(kernel.overloads) == 1 and "narrow" not in texts(kernel)[0]

kernel = cuda.jit("narrow (int64, int64[::1])")(work)
for n in NUMBERS:
    try:
        kernel[1, 1](np.int64(n), out)
    except TypeError as e:
        assert not fits(n) and "No matching definition" in str(e)
    else:
        assert fits(n)
        check(out, n)
""")


@needs_standin
def test_compiled_by_signature():
    """It serves every launch; nothing else is compiled."""
    run("""
kernel, out = cuda.jit(work), fresh()
kernel.compile("void(pyint, int64[::1])")
for n in NUMBERS:
    kernel[1, 1](n, out)
    check(out, n)
assert texts(kernel) == ["(pyint, int64[::1])"]
special = cuda.jit(work).specialize(5, out)
for n in NUMBERS:
    special[1, 1](n, out)
    check(out, n)
""")


@needs_standin
def test_only_what_a_launch_takes_is_compiled():
    run("""
kernel, out = cuda.jit(work), fresh()
compiled = []
for n in (5, EDGE - 1, EDGE, 2**40, 7):
    kernel[1, 1](n, out)
    compiled.append(texts(kernel))
assert compiled == [["narrow (pyint, int64[::1])"]] * 5  # of two for the same types a dict has the narrow one
other = cuda.jit(work)
other[1, 1](EDGE, out)
assert texts(other) == ["(pyint, int64[::1])"]
# what inspects by the types shows what launches take
assert cuda.jit(work).inspect_asm("(pyint, int64[::1])") == other.inspect_asm("(pyint, int64[::1])")
assert kernel.get_regs_per_thread("(pyint, int64[::1])") >= 0
narrow = cuda.jit(work)
narrow[1, 1](5, out)
assert narrow.inspect_asm("(pyint, int64[::1])") == next(iter(narrow.inspect_asm().values())) != other.inspect_asm("(pyint, int64[::1])")
""")


@needs_standin
def test_disk_cache():
    run("""
import tempfile, os
os.environ["PYPTX_CACHE_DIR"] = tempfile.mkdtemp()
for _ in range(2):
    for first in (5, 2**40):
        kernel, out = cuda.jit(cache=True)(work), fresh()
        for n in (first, *NUMBERS):
            kernel[1, 1](n, out)
            check(out, n)
""")


@needs_standin
def test_long_arrays():
    """Of zero strides, where memory does not reach: extents on both sides of the edge, and in arrays of no elements."""
    run("""
@cuda.jit
def kernel(a, out):
    n = a.shape[0]
    out[0] = n + n
    out[1] = n + n + n
    i = n - 1
    while i < n:
        i += 1
    out[2] = i + n + 1
    out[3] = a[n - 1]

@cuda.jit
def empty(a, out):
    out[0] = a.shape[0] + a.shape[1]
    out[1] = a.shape[1] + a.shape[1]

one, out = cuda.to_device(np.array([7], np.int8)), cuda.to_device(np.zeros(4, np.int64))
interface = one.__cuda_array_interface__
for n in [5, EDGE - 1, EDGE, EDGE + 1, 2**31 - 1025, 2**31 - 1, 2**31, 2**33] * 2:
    a = cuda.from_cuda_array_interface({**interface, "shape": (n,), "strides": (0,)}, owner=one)
    kernel[1, 1](a, out)
    assert out.copy_to_host().tolist() == [2 * n, 3 * n, 2 * n + 1, 7], n
    a = cuda.from_cuda_array_interface({**interface, "shape": (0, n), "strides": None}, owner=one)
    empty[1, 1](a, out)
    assert out.copy_to_host()[:2].tolist() == [n, 2 * n], n
""")


@needs_standin
def test_graphs():
    """A captured launch takes the wide version: its node may be given other numbers. One that was bound before is checked again."""
    run("""
kernel, out = cuda.jit(work), fresh()
kernel[1, 1](5, out)
kernel[1, 1](5, out)  # by a plan
for first in (5, 2**40):
    with cuda.graph() as g:
        kernel[1, 1](first, out)
    for n in [first, *NUMBERS]:
        g.nodes[0].set_args(n, out)
        g.launch()
        cuda.synchronize()
        check(out, n)
bound = kernel[1, 1].bind(5, out)
with cuda.graph() as g:
    bound()
for n in NUMBERS:
    try:
        g.nodes[0].set_args(n, out)
    except TypeError as e:
        assert not fits(n) and "capture the graph again" in str(e), (n, e)
    else:
        assert fits(n)
        g.launch()
        cuda.synchronize()
        check(out, n)
""")


@needs_standin
def test_large_grids():
    """More than 2^30 - 1 threads or 2^23 blocks along an axis take the wide version, by every door, and leave nothing
    behind for other launches. The stand-in driver runs nothing here."""
    standin.run("""
import numpy as np
from pyptx import cuda

def work(n, out):
    if n == cuda.grid(1) + cuda.grid(3)[2] - cuda.gridsize(1):
        out[0] = 1

out = cuda.to_device(np.zeros(8, np.int64))
NARROW, WIDE = "narrow (pyint, int64[::1])", "(pyint, int64[::1])"
SMALL = [((2**20 - 1, 1), 1024), ((2**23 - 1, 3, 5), (128, 2)), ((7, 65535), (1, 1024)), ((2**23,), 32)]
LARGE = [((2**20, 1), 1024), ((2**23, 3, 5), (128, 2)), ((2**23 + 1,), 32), ((2**23 + 1,), 1), ((2**31 - 1, 1), 1024)]

def compiled(launch):
    kernel = cuda.jit(work)
    for _ in range(3):
        launch(kernel)
    return [k.signature_text for k in kernel.overloads.values()], kernel

doors = [lambda kernel, *c: kernel[c](5, out), lambda kernel, *c: kernel[c](out=out, n=5), lambda kernel, *c: kernel[c].bind(5, out)(),
         lambda kernel, *c: kernel.configure(*c)(np.int64(5), out)]
for door in doors:
    for grids, wanted in ((SMALL, "narrow "), (LARGE, "")):
        for config in grids:
            texts, kernel = compiled(lambda kernel: door(kernel, *config))
            assert [t.startswith("narrow ") for t in texts] == [bool(wanted)], (config, texts)
            kernel[1, 1](5, out)  # no plan of a large grid serves it
            assert kernel.inspect_asm(NARROW)
for tasks, wanted in ((2**30 - 1025, NARROW), (2**30 - 1024, WIDE), (2**30, WIDE)):  # a last block of 1,024 may have 1,023 more
    for tpb in (128, 1024):
        texts, _ = compiled(lambda kernel: kernel.forall(tasks, tpb=tpb)(5, out))
        assert texts == [wanted], (tasks, texts)
for tasks, tpb, wanted in ((2**28, 0, NARROW), (2**28 + 1, 0, WIDE), (2**23, 1, NARROW), (2**23 + 1, 1, WIDE), (3 * 2**23, 3, NARROW)):
    texts, _ = compiled(lambda kernel: kernel.forall(tasks, tpb=tpb)(5, out))
    assert texts == [wanted], (tasks, tpb, texts)
""")


@needs_standin
def test_numbers_that_are_not_negative_by_any_number():
    """Divided as unsigned numbers by the magnitude, with a correction for the sign."""
    run("""
@cuda.jit
def kernel(numbers, n, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        d = numbers[i % 3] & 1023  # not negative
        out[i, 0] = i // n
        out[i, 1] = i % n
        out[i, 2] = d // n + d % n
        q, r = divmod(d, n)
        out[i, 3] = q * 1000 + r

numbers = cuda.to_device(np.array([7, -5, 1023], np.int32))
host = numbers.copy_to_host()
for n in (1, -1, 2, -2, 3, -3, 7, -7, 100, -1000, 0, EDGE - 1, -EDGE):
    out = cuda.to_device(np.zeros((40, 4), np.int64))
    kernel[1, 64](numbers, n, out)
    both = lambda x: divmod(int(x), n) if n else (0, 0)
    wanted = []
    for i in range(40):
        q, r = both(host[i % 3] & 1023)
        wanted.append([*both(i), q + r, q * 1000 + r])
    assert out.copy_to_host().tolist() == wanted, n
assert any(t.startswith("narrow ") for t in texts(kernel))
""")


def places(out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < out.size:
        out[i] = i
        i += cuda.gridsize(1)


def test_places_in_32_bits():
    narrow, wide = (ptx(places, f"{how}(int64[::1])") for how in ("narrow ", ""))
    assert not re.search(r"mul\.wide\.u32|mad\.wide\.u32", narrow) and re.search(r"(mul|mad)\.(wide|lo)\.[us](32|64)", wide)
    assert narrow.count("64") < wide.count("64")


def test_places_of_tiles_in_32_bits():
    """blockIdx times the size of a tile, which the kernel knows and the launch does not."""
    def tiles(x, out):
        i = cuda.blockIdx.x * 64 + cuda.threadIdx.x
        if i < x.size:
            out[cuda.gridDim.x * 64 - 1 - i] = x[i]

    narrow, wide = (ptx(tiles, f"{how}(float32[::1], float32[::1])") for how in ("narrow ", ""))
    assert "shl.b64" not in narrow and narrow.count("64") < wide.count("64")


def ptx(function, signature):
    return cuda.compile_ptx(function, signature, cc="sm_90")[0]


def inner_loop(text):
    """The lines of the last loop that has no other in it."""
    lines = text.splitlines()
    labels = {m[1]: at for at, line in enumerate(lines) if (m := re.match(r"(\$\w+):", line.strip()))}
    jumps = [(labels[m[1]], at) for at, line in enumerate(lines) if (m := re.search(r"bra(?:\.uni)?\s+(\$\w+)", line)) and labels[m[1]] < at]
    start, end = min(jumps, key=lambda jump: jump[1] - jump[0])
    return lines[start : end + 1]


def wide_integers(text):
    """64-bit operations of the innermost loop: orderings, min, max, remainders, products, selections. (LLVM counts the rounds that are left when
    a loop is unrolled in 64 bits, and compares them with setp.ne.)"""
    return [line for line in inner_loop(text) if re.search(r"\b(setp\.[lg][te]|min|max|rem|div|mul\.lo|selp)\.[bsu]64", line)]


def escape(x, limit, out):
    k = 0
    z = x[0]
    while k < limit and z < np.float32(4):
        z = z * z + np.float32(0.25)
        k += 1
    out[0] = k


def clamped(a, radius, out):
    x = cuda.grid(1)
    if x < a.size:
        total = np.float32(0)
        for k in range(-radius, radius + 1):
            total += a[min(max(x + k, 0), a.size - 1)]
        out[x] = total


def turns(n, out):
    for d in range(n):
        out[(d + 1) % 3] += out[d % 3]


def search(a, wanted, out):
    low = 0
    high = a.size
    while low < high:
        middle = (low + high) // 2
        if a[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    out[0] = low


@pytest.mark.parametrize(
    ("function", "types"),
    [
        (escape, "float32[::1], pyint, int64[::1]"),
        (clamped, "float32[::1], pyint, float32[::1]"),
        (turns, "int64, float32[::1]"),
        (search, "float32[::1], float32, int64[::1]"),
    ],
)
def test_no_wide_integer_in_the_inner_loop(function, types):
    narrow = ptx(function, f"narrow ({types})")
    assert not wide_integers(narrow), wide_integers(narrow)


@pytest.mark.parametrize(
    ("function", "types"), [(escape, "float32[::1], pyint, int64[::1]"), (clamped, "float32[::1], pyint, float32[::1]")]
)
def test_the_wide_version_has_them(function, types):
    assert wide_integers(ptx(function, types))


def test_a_product_is_wide():
    def kernel(n, m, out):
        out[0] = n * m

    text = ptx(kernel, "narrow (pyint, pyint, int64[::1])")
    assert "mul.wide.s32" in text or "mul.lo.s64" in text


def test_the_host_device_has_the_wide_version_alone(device):
    if device != "host":
        pytest.skip("another device")

    @cuda.jit
    def kernel(n, out):
        out[0] = n + 1

    out = np.zeros(1, np.int64)
    for n in (5, EDGE, 2**31 - 1, 2**31, 2**62):
        kernel[1, 1](n, out)
        assert out[0] == n + 1
    assert [k.signature_text for k in kernel.overloads.values()] == ["(pyint, int64[::1])"]
