"""Unrolled loops and what is left over of them (codegen/nvptx/loops/masked_unroll.c, strided_unroll.c): every trip count
from 0 to 70, and steps of every size, beside plain Python. `PYPTX_DEVICE=ptx` runs the GPU's own code."""

import math
import re

import numpy as np
import pytest
from harness import jit, run, simulate
from pyptx import cuda, float32, int64, uint64

COUNTS = 71
THREADS = 3


def sums(x, out):
    t = cuda.threadIdx.x
    s = float32(0)
    for k in range(t, cuda.blockIdx.x * 3, 3):
        s += x[k]
    out[cuda.blockIdx.x, t] = s


def strided_products(x, out):
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        s += x[k] * x[-1 - k]
    out[cuda.blockIdx.x, t] = s


def extremes(x, out):
    t = cuda.threadIdx.x
    high, low = -math.inf, float32(100)
    for k in range(t, cuda.blockIdx.x * 3, 3):
        high = max(high, x[k])
        low = min(low, x[k])
    out[cuda.blockIdx.x, t] = high - 3 * low


def places(x, out):
    t = cuda.threadIdx.x
    best, place = float32(-100), -1
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        if x[k] > best:
            best, place = x[k], k
    out[cuda.blockIdx.x, t] = place


def backwards(x, out):
    t = cuda.threadIdx.x
    s = 1.0
    for k in range(cuda.blockIdx.x - 1, -1, -1):
        s = s * 0.5 + x[k + t]
    out[cuda.blockIdx.x, t] = s


def divided(x, out):
    """A division, and a value from the iteration before: behind the loads one by one."""
    t = cuda.threadIdx.x
    s, before = 0.0, 1.0
    for k in range(t, cuda.blockIdx.x * 3, 3):
        s += before / (x[k] + 20)
        before = x[k] * 1.0
    out[cuda.blockIdx.x, t] = s + 100 * before


def polynomials(x, out):
    """Much behind the loads."""
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t, cuda.blockIdx.x * 3, 3):
        v = x[k]
        s = s * 0.5 + ((v * v - 3) * v + 2) * (v - 1)
    out[cuda.blockIdx.x, t] = s


def ratios(x, out):
    """Of float64, more loads than registers: in rounds of fewer copies."""
    t = cuda.threadIdx.x
    s, n = 0.0, 0
    for k in range(t, cuda.blockIdx.x * 3, 3):
        s += x[k] / (x[-1 - k] + 20)
        n = k
    out[cuda.blockIdx.x, t] = s + n


def quotients(x, out):
    t = cuda.threadIdx.x
    s = 0
    for k in range(t, cuda.blockIdx.x * 3, 3):
        n = int(x[k])
        s += 1000 // n if n != 0 else 77 % (n + 5)
    out[cuda.blockIdx.x, t] = s


def gathered(x, out):
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t, cuda.blockIdx.x * 3, 3):
        s = x[int(x[k]) + 10] - s
    out[cuda.blockIdx.x, t] = s


def conditional(x, out):
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        v = x[k]
        if v > 0:
            s += x[k + 1] / v
    out[cuda.blockIdx.x, t] = s


def staged(x, out):
    tile = cuda.shared.array(3 * 71, float32)
    t = cuda.threadIdx.x
    for k in range(t, cuda.blockIdx.x * 3, 3):
        tile[k] = x[k] * 2
    cuda.syncthreads()
    s = 0.0
    for k in range(cuda.blockIdx.x):
        s = s * 0.5 + tile[3 * k + (t + 1) % 3]
    out[cuda.blockIdx.x, t] = s


def in_place(x, out):
    """What an iteration stores, the next one loads."""
    t = cuda.threadIdx.x
    out[cuda.blockIdx.x, t] = 1
    for k in range(t, cuda.blockIdx.x * 3, 3):
        out[cuda.blockIdx.x, t] = out[cuda.blockIdx.x, t] * 0.5 + x[k]


def in_shared_memory(x, out):
    """The same in shared memory, while other loads go ahead."""
    sums = cuda.shared.array(3, float32)
    t = cuda.threadIdx.x
    sums[t] = 1
    for k in range(t, cuda.blockIdx.x * 3, 3):
        sums[t] = sums[t] * 0.5 + x[k]
    out[cuda.blockIdx.x, t] = sums[t]


def counters(x, out):
    t = cuda.threadIdx.x
    k, s, last = t, 0.0, -1
    while k < cuda.blockIdx.x * 3:
        s += x[k]
        last = k
        k += 3
    out[cuda.blockIdx.x, t] = s + 1000 * k + last


def nested(x, out):
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(3):
        for k in range(t + i, cuda.blockIdx.x * 3, 3):
            s += x[k]
        s *= 0.5
    out[cuda.blockIdx.x, t] = s


def pairs(x, out):
    """Two loads of which the second may be of the round before."""
    t = cuda.threadIdx.x
    z, p, q = 0j, 0.0, 1.0
    for k in range(cuda.blockIdx.x):
        z = z * 0.5j + x[k + t]
        p, q = q, p * 0.5 + x[k]
    out[cuda.blockIdx.x, t] = z.real - z.imag + p - 3 * q


def of_windows(x, out):
    """Bounds around a place, a radius away; sums of narrower integers in int64."""
    t = cuda.threadIdx.x
    n, last, radius = 0, -1, cuda.blockIdx.x // 2
    for k in range(100 + t - radius, 100 + t + radius + cuda.blockIdx.x % 2):
        n += int(x[min(max(k, 0), 200)])
        last = k
    out[cuda.blockIdx.x, t] = n + 1000 * last


def chained(x, out):
    """Nothing is loaded: each iteration waits for the one before."""
    t = cuda.threadIdx.x
    state, total = uint64(7 + t), uint64(0)
    for _ in range(cuda.blockIdx.x):
        state = state * uint64(6364136223846793005) + uint64(1442695040888963407)
        total += state >> uint64(40)
    out[cuda.blockIdx.x, t] = float(total)


def one_after_the_other(x, out):
    """A step known at run time, branches around all loads, in another loop."""
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(3):
        for k in range(t + i, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
            if k % 5 != i:
                s = s * 0.5 + x[k]
            elif k > 7:
                s -= x[k + 1]
        s *= 0.5
    out[cuda.blockIdx.x, t] = s


def strided_counter(x, out):
    t = cuda.threadIdx.x
    k, s, before = t, 0.0, -1
    while k < cuda.blockIdx.x * cuda.blockDim.x:
        s = s * 0.5 + x[k]
        before = k
        k += cuda.blockDim.x
    out[cuda.blockIdx.x, t] = s + 1000 * k + before


def strided_from_the_first(x, out):
    """The first iteration is there in any case."""
    t = cuda.threadIdx.x
    s, last = 0.0, -1
    for k in range(t & 3, 4 + cuda.blockIdx.x * 2, cuda.blockDim.x):
        s = s * 0.5 + x[k]
        last = k
    out[cuda.blockIdx.x, t] = s + 1000 * last


def strided_stores(x, out):
    """What an iteration stores, the next one loads."""
    t = cuda.threadIdx.x
    out[cuda.blockIdx.x, t] = 1
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        out[cuda.blockIdx.x, t] = out[cuda.blockIdx.x, t] * 0.5 + x[k]


def strided_words(x, out):
    """More loads than have registers under masks: two iterations at once."""
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        s = (s * 0.5 + x[k]) * x[k + 1] - x[-1 - k] * x[-2 - k] + x[210 - k]
    out[cuda.blockIdx.x, t] = s


def strided_remainders(x, out):
    """What masks are not made of: two iterations, then one."""
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        s = s * 0.5 + x[k % (t + 5)]
    out[cuda.blockIdx.x, t] = s


def strided_on_the_grid(x, out):
    """Each block has an iteration less than the one before, down to none."""
    t, b = cuda.grid(1), cuda.blockIdx.x
    s = 0.0
    for k in range(t, x.size, cuda.blockDim.x * (b + 1)):
        s = s * 0.5 + x[k]
    out[b, cuda.threadIdx.x] = s


def beyond_both_ends(x, out):
    """Places around one, behind a comparison each, from before the first element to behind the last."""
    t = cuda.threadIdx.x
    s, n = 0.0, 0
    for k in range(-cuda.blockIdx.x, cuda.blockIdx.x + 1):
        j = 100 * t + k
        if 0 <= j < x.size:
            s = s * 0.5 + x[j]
            n += 1
    out[cuda.blockIdx.x, t] = s + n


def by_lanes(x, out):
    """Threads that begin side by side have all rounds in common."""
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t & 1, cuda.blockIdx.x, 2):
        s = s * 0.5 + x[k]
    out[cuda.blockIdx.x, t] = s


def last_by_lanes(x, out):
    """What is left over has a form that masks are not made of."""
    t = cuda.threadIdx.x
    s, last = 0.0, -1
    for k in range(t & 1, cuda.blockIdx.x, 2):
        s = s * 0.5 + x[k]
        last = k
    out[cuda.blockIdx.x, t] = s + 1000 * last


def polynomials_by_lanes(x, out):
    """Four at once, and what is behind the loads one by one."""
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t % 3, cuda.blockIdx.x, 3):
        v = x[k]
        s = s * 0.5 + ((v * v - 3) * v + 2) * (v - 1) - math.exp(v * 0.1) * x[k + 1] * (v + 5)
    out[cuda.blockIdx.x, t] = s


def least_by_lanes(x, out):
    t = cuda.threadIdx.x
    best, place = float32(100), -1
    for k in range(t % 4, cuda.blockIdx.x, 4):
        if x[k] < best:
            best, place = x[k], k
    out[cuda.blockIdx.x, t] = 1000 * best + place


def quotients_by_lanes(x, out):
    """A slow operation, and a value from the iteration before."""
    t = cuda.threadIdx.x
    s, before = 0.0, 1.0
    for k in range(t % 3, cuda.blockIdx.x, 3):
        s += before / (x[k] + 20)
        before = x[k] * 1.0
    out[cuda.blockIdx.x, t] = s + 100 * before


def stores_by_lanes(x, out):
    tile = cuda.shared.array(71, float32)
    t = cuda.threadIdx.x
    for k in range(t & 3, cuda.blockIdx.x, 4):
        tile[k] = x[k] / (x[k] + 20)
    if t == 0:
        for k in range(3, cuda.blockIdx.x, 4):
            tile[k] = x[k] / (x[k] + 20)
    cuda.syncthreads()
    s = 0.0
    for k in range(cuda.blockIdx.x):
        s = s * 0.5 + tile[k]
    out[cuda.blockIdx.x, t] = s


def own_elements(x, out):
    """A thread's own elements of shared arrays, stored behind a condition."""
    best, place = cuda.shared.array(3, float32), cuda.shared.array(3, int64)
    t = cuda.threadIdx.x
    best[t], place[t] = float32(100), -1
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        if x[k] < best[t]:
            best[t], place[t] = x[k], k
    cuda.syncthreads()
    other = (t + 1) % 3
    out[cuda.blockIdx.x, t] = 1000 * best[t] + place[t] + 7 * best[other] - 5 * place[other]


def elements_of_others(x, out):
    """A barrier lies between the element's first store and the loop: another thread has stored it since."""
    best = cuda.shared.array(3, float32)
    t = cuda.threadIdx.x
    best[t] = 100
    cuda.syncthreads()
    best[(t + 1) % 3] = t - 5
    cuda.syncthreads()
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        if x[k] < best[t]:
            best[t] = x[k]
    cuda.syncthreads()
    out[cuda.blockIdx.x, t] = best[t] + 7 * best[(t + 2) % 3]


def one_element(x, out):
    """An element that several threads may set: none of them stores it because it has read it."""
    found = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        found[0] = 1
    cuda.syncthreads()
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        if x[k] == 7:
            found[0] = 5
    cuda.syncthreads()
    out[cuda.blockIdx.x, t] = found[0] + t


def two_of_one_array(x, out):
    """Two elements of one array, and a loop that is left early."""
    both = cuda.shared.array(6, float32)
    t = cuda.threadIdx.x
    both[t], both[t + 3] = 50, -50
    for k in range(t, cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x):
        if x[k] < both[t]:
            both[t] = x[k]
        if x[k] > both[t + 3]:
            both[t + 3] = x[k]
        if both[t] + both[t + 3] == 13:
            break
    out[cuda.blockIdx.x, t] = both[t] * 100 + both[t + 3]


LOOPS = [
    sums, strided_products, extremes, places, backwards, divided, polynomials, ratios, quotients, gathered, conditional, staged, in_place,
    in_shared_memory, counters, nested, pairs, of_windows, chained, one_after_the_other,
    strided_counter, strided_from_the_first, strided_stores, strided_words, strided_remainders,
    strided_on_the_grid, beyond_both_ends, by_lanes,
    last_by_lanes, polynomials_by_lanes, least_by_lanes, quotients_by_lanes, stores_by_lanes,
    own_elements, elements_of_others, one_element, two_of_one_array,
]  # fmt: skip


@pytest.mark.parametrize(
    "loop, dtype",
    [(loop, np.float32) for loop in LOOPS]
    + [(loop, np.int8) for loop in (extremes, divided, quotients, of_windows)]
    + [(loop, np.float64) for loop in (strided_products, extremes, ratios, conditional, strided_words, by_lanes)],
)
def test_every_trip_count(loop, dtype):
    x = np.random.default_rng(4).integers(-9, 10, COUNTS * THREADS + 2).astype(dtype)
    run(loop, [x, np.zeros((COUNTS, THREADS))], COUNTS, THREADS)


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_what_is_left_over_is_no_loop(one_entry):
    signature = "void(float32[::1], float64[:,::1])"
    # bodies: one alone, of blocks two and three, of lanes up to four; of one load an iteration sixteen at once, then
    # eight, then those that are left; of lanes eight to twelve, or four to eight; where all threads have as many, that
    # many or one more
    for loop, bodies, jumps in (
        (sums, 1 + 16 + 8 + 7, 1), (strided_products, 1 + 2 + 3 + 4 + 3, 6), (extremes, 1 + 16 + 8 + 7, 1),
        (by_lanes, 1 + 4 + 16 + 8 + 12 + 8, 3), (own_elements, 1 + 2 + 3 + 4 + 3, 6), (backwards, 16 + 8 + 1 + 3 + 5 + 7, 6),
    ):  # fmt: skip
        ptx = cuda.compile_ptx(loop, signature, cc="sm_90", coarsen=1)[0]
        loads = len(re.findall(r"\bld\.global", ptx))
        assert loads == bodies * (2 if loop is strided_products else 1), loop.__name__
        assert len(re.findall(r"@%p\d+ bra", ptx)) >= 6 and ptx.count("bra.uni") <= jumps


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_ptxas_may_unroll_what_loads_nothing(one_entry):
    ptx = cuda.compile_ptx(chained, "void(float32[::1], float64[:,::1])", cc="sm_90", coarsen=1)[0]
    assert ptx.count("nounroll") == 1  # of what is left over


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_loads_that_wait_for_stores_stay_in_a_loop(one_entry):
    ptx = cuda.compile_ptx(in_place, "void(float32[::1], float64[:,::1])", cc="sm_90", coarsen=1)[0]
    assert ptx.count("nounroll") >= 1


def lanes_sums(x, out):
    """Lanes share a row: one iteration, up to four of them, and more have code of their own."""
    s = float32(0)
    for k in range(cuda.laneid, x.shape[1], 32):
        s = s * float32(0.5) + x[cuda.blockIdx.x, k]
    out[cuda.blockIdx.x, cuda.laneid] = s


def lanes_places(x, out):
    """Eight threads a row, where the last place is used behind the loop."""
    lane, row = cuda.threadIdx.x % 8, cuda.blockIdx.x
    best, place = float32(100), -1
    for k in range(lane, x.shape[1], 8):
        if x[row, k] < best:
            best, place = x[row, k], k
    out[row, cuda.threadIdx.x] = best + 1000 * place


def lanes_stores(x, out):
    """A longer body that divides, and stores elsewhere."""
    lane, row = cuda.laneid, cuda.blockIdx.x
    for k in range(lane, x.shape[1], 32):
        v = x[row, k]
        out[row, k] = ((v * v - 3) * v + 2) * (v - 1) / (v + 20) + v / (v * v + 1)


def lanes_in_place(x, out):
    """What an iteration stores, the next one loads."""
    lane, row = cuda.laneid, cuda.blockIdx.x
    out[row, lane] = 1
    for k in range(lane, x.shape[1], 32):
        out[row, lane] = out[row, lane] * 0.5 + x[row, k]


@pytest.mark.parametrize("width", [1, 7, 8, 9, 16, 17, 24, 31, 32, 33, 40, 64, 65, 96, 97, 127, 128, 129, 160, 224, 225, 256, 257, 300, 512, 530])
@pytest.mark.parametrize("loop", [lanes_sums, lanes_places, lanes_stores, lanes_in_place])
def test_rows_of_lanes(loop, width):
    x = np.random.default_rng(width).integers(-9, 10, (3, width)).astype(np.float32)
    run(loop, [x, np.zeros((3, max(width, 32)))], 3, 32)


def block_sums(x, out):
    """Threads share a row: one iteration, two and three have code of their own (codegen/nvptx/loops/short_rows.c)."""
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    s, last = float32(0), -1
    for k in range(t, x.shape[1], cuda.blockDim.x):
        s = s * float32(0.5) + x[row, k]
        last = k
    out[row, cuda.threadIdx.y, t] = s + 1000 * last


def block_places(x, out):
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    best, place = float32(100), x.shape[1]
    for k in range(t, x.shape[1], cuda.blockDim.x):
        if x[row, k] < best:
            best, place = x[row, k], k
    out[row, cuda.threadIdx.y, t] = best + 1000 * place


def block_in_place(x, out):
    """What an iteration stores, the next one loads."""
    row, t, y = cuda.blockIdx.x, cuda.threadIdx.x, cuda.threadIdx.y
    out[row, y, t] = 1
    for k in range(t, x.shape[1], cuda.blockDim.x):
        out[row, y, t] = out[row, y, t] * 0.5 + x[row, k]


@pytest.mark.parametrize("shape", [(7, 1), (32, 1), (33, 2), (40, 1), (100, 1)])
@pytest.mark.parametrize("loop", [block_sums, block_places, block_in_place])
def test_rows_of_blocks(loop, shape):
    n = shape[0]
    rng = np.random.default_rng(n)
    for width in (1, *(k * n + d for k in (1, 2, 3, 5) for d in (-1, 0, 1, 33))):
        x = rng.integers(-9, 10, (1, width)).astype(np.float32)
        run(loop, [x, np.zeros((1, shape[1], n))], 1, shape)


def thread_sums(x, out):
    """A thread for each row: all have as many iterations left over."""
    row = cuda.threadIdx.x
    s, last = float32(0), -1
    for k in range(x.shape[1]):
        s = s * float32(0.5) + x[row, k]
        last = k
    out[row] = s + 1000 * last


def thread_places(x, out):
    row = cuda.threadIdx.x
    best, place = 100, -1
    for k in range(x.shape[1]):
        v = int(x[row, k])
        if v < best:
            best, place = v, k
    out[row] = best + 1000 * place


def thread_products(x, out):
    """Two loads, from the second element on."""
    row = cuda.threadIdx.x
    s = 0.0
    for k in range(1, x.shape[1]):
        s = s * 0.5 + x[row, k] * x[0, k - 1]
    out[row] = s


def thread_integers(x, out):
    """Sums that need no selections, and the largest."""
    row = cuda.threadIdx.x
    s, most = 0, -100
    for k in range(x.shape[1]):
        s += int(x[row, k])
        most = max(most, int(x[row, k]))
    out[row] = s + 1000 * most


@pytest.mark.filterwarnings("ignore::pyptx.Advice")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
@pytest.mark.parametrize("loop", [thread_sums, thread_places, thread_products, thread_integers])
def test_rows_of_threads(loop, dtype):
    rng = np.random.default_rng(11)
    for width in (*range(1, 26), 33):
        x = rng.integers(-9, 10, (2, width)).astype(dtype)
        run(loop, [x, np.zeros(2)], 1, 2)


def extremes_of_nans(x, out):
    """What begins with a number keeps it where a nan comes; what begins with a nan, or takes it, stays one."""
    t = cuda.threadIdx.x
    high, low, capped = float32(-math.inf), float32(4), float32(0)
    begun, taken = x[t], float32(0)
    for k in range(t, cuda.blockIdx.x * 3, 3):
        high = max(high, x[k])
        low = x[k] if x[k] < low else low
        capped = min(max(capped, x[k]), 3)
        begun = min(begun, x[k])
        taken = max(x[k], taken)
    row = out[cuda.blockIdx.x, t]
    row[0], row[1], row[2], row[3], row[4] = high, low, capped, begun, taken


def test_extremes_of_nans():
    """codegen/nvptx/floats/extremes.c: 0.1 s."""
    x = np.random.default_rng(7).integers(-9, 10, COUNTS * THREADS).astype(np.float32)
    x[[1, 3, 8, 9, 31, 50, 51, 52, 120]] = np.nan
    run(extremes_of_nans, [x, np.zeros((COUNTS, THREADS, 5))], COUNTS, THREADS)


# --- steps that are known at run time, between bounds that are near the ends of the integers


def far(x, first, end, step, out):
    s, last = 0.0, -1
    for k in range(first, end, max(step, 1)):
        s = s * 0.5 + x[k & 63]
        last = k
    out[0] = s
    out[1] = last


def far_blocks(x, first, end, step, out):
    s, last = 0.0, -1
    for k in range(first, end, cuda.blockDim.x):
        s = s * 0.5 + x[k & 63]
        last = k
    if cuda.threadIdx.x == 0:
        out[0] = s
        out[1] = last


def far_cases(rng, steps, edge):
    """(first, end, step): 0 to 9 iterations, or some more, from the least integer, from 0, from anywhere, and up to the
    largest that int64 allows."""
    for step in steps:
        last = edge - 1 - step * (edge > 2**32)
        for n in (*range(10), 37, 70):
            far = step * n - int(rng.integers(0, step)) * (n > 0)
            if far < last:
                yield from ((first, first + far, step) for first in (-edge, 0, int(rng.integers(-far, last - far)), last - far))


@pytest.mark.parametrize("number, edge", ((int, 2**30), (int, 2**31), (int, 2**63), (np.int32, 2**31)))
@pytest.mark.parametrize(
    "loop, steps",
    ((far, (1, 3, 32, 12345, 2**29 + 1, 715827882, 715827883, 2**30 - 1)), (far_blocks, (1, 3, 32))),
)
def test_strides_of_all_sizes(loop, steps, number, edge):
    """Python's integers up to 2**30 take the narrow version."""
    x = np.random.default_rng(5).integers(-9, 10, 64).astype(np.float32)
    kernel, out = jit(loop, fma=False), np.zeros(2)
    d_x, d_out = cuda.to_device(x), cuda.to_device(out)
    for bounds in far_cases(np.random.default_rng(6), steps, edge):
        arguments, threads = [number(n) for n in bounds], bounds[-1] if loop is far_blocks else 1
        simulate(kernel, [x, *arguments, out], 1, threads)
        kernel[1, threads](d_x, *arguments, d_out)
        assert (d_out.copy_to_host() == out).all(), bounds


# --- loads ahead of stores (codegen/ssa/apart_versions.c, codegen/nvptx/memory/loads_ahead.c): overlapping arrays take another
# version
# of the loop than those that are apart


def slid(x, more, out):
    t = cuda.threadIdx.x
    for k in range(out.shape[0]):
        out[k, t] = x[k, t] * 3 + x[k + 1, t] - more[k, t]


def windows(x, more, out):
    """Loads behind conditions, one of which is another's opposite; a running sum."""
    t = cuda.threadIdx.x
    total, radius = more[0, t], 3
    for k in range(out.shape[0]):
        if k + radius < x.shape[0]:
            total += x[k + radius, t]
        if k - radius >= 0:
            total -= x[k - radius, t]
        else:
            total += more[k, t]
        out[k, t] = total


def table_rows(x, more, out):
    """A row of a table in place: what is loaded from it is in front of what was stored."""
    t = cuda.threadIdx.x
    before = 7
    for k in range(1, out.shape[0]):
        above = out[k, t]
        out[k, t] = above - before + x[k - 1, t]
        before = above


def read_again(x, more, out):
    """What an earlier iteration has stored."""
    t = cuda.threadIdx.x
    s = 0
    for k in range(out.shape[0] - 2):
        out[k + 2, t] = x[k, t] + s
        s = out[k, t] - s


def read_next(x, more, out):
    """Behind the store, but of the next row."""
    t = cuda.threadIdx.x
    s = 0
    for k in range(out.shape[0] - 1):
        out[k, t] = x[k, t] + s
        s = out[k + 1, t] - more[k, t]


def picked(x, more, out):
    """By indices that are loaded ahead, too; a step known at run time only."""
    t = cuda.threadIdx.x
    for k in range(0, out.shape[0], cuda.blockDim.x):
        out[k, t] = x[more[k, t] & 7, t] + 1


def two_stores(x, more, out):
    t = cuda.threadIdx.x
    for k in range(out.shape[0]):
        out[k, t] = x[k, t] + 1
        more[k, t] = x[k + 1, t] * 2


def scaled(x, more, out):
    """By what all iterations load."""
    t = cuda.threadIdx.x
    for k in range(out.shape[0]):
        out[k, t] = x[k, t] * more[2, t] - more[2, t]


def added(x, more, out):
    """In place, by a step that is known to be positive."""
    t = cuda.threadIdx.x
    for k in range(0, out.shape[0], cuda.blockDim.x):
        out[k, t] += x[k, t]


def counted(x, more, out):
    """Atomic sums, which other memory does not wait for."""
    t = cuda.threadIdx.x
    for k in range(out.shape[0]):
        if x[k + 1, t] > 40:
            cuda.atomic.add(out, (k, t), more[k, t])


APART = [slid, windows, table_rows, read_again, read_next, picked, two_stores, scaled, added, counted]


@pytest.mark.parametrize(
    "loop, dtype",
    [(loop, np.int32) for loop in APART]
    + [(loop, np.uint8) for loop in (windows, picked)]
    + [(loop, np.float64) for loop in (table_rows, read_next, added)],
)
def test_arrays_that_overlap(loop, dtype):
    """Rows of one array, so many rows after the first array's: 0.15 s each, as PTX 0.3 s."""
    kernel = cuda.jit(fma=False)(loop)
    start = np.random.default_rng(3).integers(0, 100, (150, THREADS)).astype(dtype)
    for n in (0, 1, 3, 4, 9, 18):
        for more, out in ((40, 80), (40, 1), (40, -1), (40, 0), (40, 4), (40, -2), (2, 80), (80, 2), (0, 5), (n + 9, 2 * n + 18), (40, -n), (3, 3)):
            places = [(20, n + 9), (20 + more, n + 9), (20 + out, n)]
            want, memory = start.copy(), cuda.to_device(start)
            simulate(kernel, [want[at : at + rows] for at, rows in places], 1, THREADS)
            kernel[1, THREADS](*(memory[at : at + rows] for at, rows in places))
            assert memory.copy_to_host().tobytes() == want.tobytes(), (loop.__name__, n, more, out)


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
@pytest.mark.parametrize(("loop", "loads"), [(slid, 6), (windows, 6), (table_rows, 8), (read_again, 8), (read_next, 8), (picked, 8), (two_stores, 5), (scaled, 8), (added, 8), (counted, 8)])
def test_loads_go_ahead_of_stores(loop, loads, one_entry):
    signature = "void(int32[:,::1], int32[:,::1], int32[:,::1])"
    ptx = cuda.compile_ptx(loop, signature, cc="sm_90", coarsen=1)[0]
    first = [loop.replace("atom.global", "st.global").split("st.global")[0].count("ld.global") for loop in ptx.split('.pragma "nounroll"')[1:]]
    few = loop in (picked, added)  # there the loop for few iterations, as it was written, is first
    assert first[few] == loads, first


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_an_array_in_place_has_one_version(one_entry, monkeypatch):
    def in_place(x):
        t = cuda.threadIdx.x
        for k in range(x.shape[0] - 1):
            x[k, t] = x[k + 1, t] * 2

    ptx = cuda.compile_ptx(in_place, "void(float32[:,::1])", cc="sm_90", coarsen=1)[0]
    monkeypatch.setenv("PYPTX_SKIP", "ssa.apart_versions")
    assert ptx == cuda.compile_ptx(in_place, "void(float32[:,::1])", cc="sm_90", coarsen=1)[0]


def swept_down(x):
    t = cuda.threadIdx.x
    for k in range(x.shape[0] - 2, -1, -1):
        if x[k + 1, t] + 1 < x[k, t]:
            x[k, t] = x[k + 1, t] + 1


def swept_up(x):
    t = cuda.threadIdx.x
    for k in range(1, x.shape[0]):
        if x[k - 1, t] + 1 < x[k, t]:
            x[k, t] = x[k - 1, t] + 1


@pytest.mark.parametrize("loop", [swept_down, swept_up])
def test_what_an_iteration_has_stored_is_not_loaded(loop, one_entry):
    """Elements that the iteration before stored behind a condition, or loaded (llvm/optimize.def): 0.1 s."""
    ptx = cuda.compile_ptx(loop, "void(int32[:,::1])", cc="sm_90", coarsen=1)[0]
    assert sorted(part.count("ld.global") for part in ptx.split('.pragma "nounroll"')[1:]) == [2, 9]
    for rows in (1, 2, 9, 10, 25):
        run(loop, [np.random.default_rng(rows).integers(0, 20, (rows, THREADS)).astype(np.int32)], 1, THREADS)
