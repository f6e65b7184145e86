"""Branches with short sides, which become selections on a GPU (codegen/nvptx/branches/if_conversion.c), and what loops count: the results are those of
CPython running the same function."""

import math
import re

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from harness import define, run, simulate
from pyptx import cuda as gpu
from test_ptx import ptx_of

X = np.array([0.0, -0.0, 1.0, -1.0, 0.25, -3.5, 7.0, math.inf, -math.inf, math.nan, 1e-45, 2.0, 100.0], np.float32)

# what follows `v = x[k]` in a loop over x; s, t: float32, m, n: int
BODIES = {
    "elif": """
            if v > 0:
                n += 1
            elif v < 0:
                n -= 1
""",
    "four ways": """
            if v < -1:
                n += 1
            elif v < 1:
                m += 2
                s += v
            elif v == 7:
                t = v
            else:
                m -= 1
""",
    "both sides": """
            if v >= 1:
                s = v - t
                n = k
            else:
                s = (v + t) * w
                m += k
""",
    "nested": """
            if v < 2:
                if v > -2:
                    n += 1
                    s -= v
            elif v < 50:
                s += v * w
                m += 1
""",
    "guarded": """
            if v > 0:
                s += one / v
                if v > 1:
                    n += 1
            elif v < 0:
                s += x[-k]
                m += 1
""",
    "two best": """
            if not v <= s:
                t = s
                s = v
                n = k
            elif v > t:
                t = v
                m = k
""",
    "leaves": """
            if v > 5:
                n = k
                break
            elif v < -3:
                m += 1
                continue
            t = v
""",
    "flag": """
            if v > 0:
                up = not up
            elif v < 0:
                down = up
            if up:
                n += 1
            if down:
                m += 1
""",
    "either": """
            if v < -1 or v == 2 or v > 50:
                n += 1
                s += v
            elif v > -1 and v < 1 and not v == 0:
                t -= v
            m += 1 if v == 7 or (k > 3 and v != v) else (2 if v > w else 3)
""",
    "integers": """
            if k % 3 == 0:
                n += k
            elif k % 3 == 1:
                n -= k << 2
                m ^= k
            else:
                m |= n
""",
}

KERNEL = """
def kernel(x, count, floats, ints):
    i = cuda.grid(1)
    if i < count:
        one = np.float32(1)
        w = np.float32(0.5)
        s = np.float32(0)
        t = np.float32(i)
        n = 0
        m = i
        up = False
        down = i > 2
        for k in range(i % 4, x.size):
            v = x[k]
{}
        floats[i, 0] = s
        floats[i, 1] = t
        ints[i, 0] = n
        ints[i, 1] = m
"""


def expected(body, count):
    """What CPython makes of it, thread by thread."""
    floats, ints = np.zeros((count, 2), np.float32), np.zeros((count, 2), np.int64)

    class cuda:
        @staticmethod
        def grid(n):
            return thread

    space = {"cuda": cuda, "np": np}
    exec(KERNEL.format(body), space)
    with np.errstate(all="ignore"):
        for thread in range(count):
            space["kernel"](X, count, floats, ints)
    return floats, ints


@pytest.mark.parametrize("name", BODIES)
def test_as_python(name):
    count = 70
    kernel = gpu.jit(define(KERNEL.format(BODIES[name])))
    floats, ints = np.zeros((count, 2), np.float32), np.zeros((count, 2), np.int64)
    kernel[3, 32](X, count, floats, ints)
    want = expected(BODIES[name], count)
    np.testing.assert_array_equal(ints, want[1])
    np.testing.assert_array_equal(floats, want[0])


def gradient(h, x, y):
    h = h & 3
    if h == 0:
        return x + y
    elif h == 1:
        return -x + y
    elif h == 2:
        return x - y
    return -x - y


def direction(h, x, y, z):
    h = h & 15
    u = x if h < 8 else y
    v = y if h < 4 else (x if h == 12 or h == 14 else z)
    return (u if h & 1 == 0 else -u) + (v if h & 2 == 0 else -v)


def noise(table, points, out):
    i = gpu.grid(1)
    if i < out.shape[0]:
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        out[i, 0] = gradient(table[i], x, y)
        out[i, 1] = direction(table[i], x, y, z)


cuda = gpu


def test_functions_with_several_returns():
    n = 64
    points = np.random.default_rng(1).normal(0, 1, (n, 3)).astype(np.float32)
    table, out = np.arange(n, dtype=np.int32), np.zeros((n, 2), np.float32)
    gpu.jit(noise)[2, 32](table, points, out)
    want = [(gradient(int(h), x, y), direction(int(h), x, y, z)) for h, (x, y, z) in zip(table, points)]
    np.testing.assert_array_equal(out, want)


def test_their_ways_are_selections():
    made = gpu.compile_ptx(noise, "void(int32[::1], float32[:,::1], float32[:,::1])", cc="sm_90", coarsen=1)[0]
    assert len(re.findall(r"\bbra\b|\bbrx\b", made)) == 1  # around the thread's work


COUNTS = """
def kernel(x, first, last, step, out):
    n = 0
    d = 0
    for k in range(first, last, step):
        n += 1
        if x[k % x.size] > 0:
            d += 1
        elif x[k % x.size] < 0:
            d -= 1
    out[0] = n
    out[1] = d
    out[2] = np.float32(n) == n
"""


@pytest.mark.parametrize("ends", [(0, 100, 1), (5, 5, 1), (2**31 - 40, 2**31 - 1, 1), (2**31 - 5, 2**31 + 70, 7), (90, -1, -1), (-(2**31) - 9, -(2**31) + 9, 2), (7, 0, 3)])
def test_counts(ends):
    """A number of iterations, at the ends of 32 bits too."""
    kernel = gpu.jit(define(COUNTS))
    out = np.zeros(3, np.int64)
    kernel[1, 1](X, *ends, out)
    signs = np.sign(X[[k % X.size for k in range(*ends)]])
    assert list(out) == [len(range(*ends)), np.nansum(signs), 1]


def halves(x, y, steps, out):
    """Two intervals that are halved in turn: five variables, of which each half changes three."""
    i = gpu.threadIdx.x
    south, north, west, east, value = -90.0, 90.0, -180.0, 180.0, 0
    along = True
    for _ in range(steps):
        value *= 2
        if along:
            middle = (west + east) / 2
            if x[i] >= middle:
                value += 1
                west = middle
            else:
                east = middle
        else:
            middle = (south + north) / 2
            if y[i] >= middle:
                value += 1
                south = middle
            else:
                north = middle
        along = not along
    out[i] = value + south + north + west + east


def test_halves_of_many_variables():
    random = np.random.default_rng(3)
    x, y = (np.append(random.uniform(-r, r, 29), (math.nan, 0, r)) for r in (180, 90))
    for steps in (0, 1, 5, 12):
        run(halves, [x, y, steps, np.zeros(32)], 1, 32)
    ptx = ptx_of(halves, "narrow (float64[::1], float64[::1], int64, float64[::1])")
    assert len(re.findall(r"selp\.[bf]64", ptx)) >= 4


@needs_llc
def test_halves_as_selections():
    entries = Entries(halves, "narrow (float64[::1], float64[::1], int64, float64[::1])", 2)
    random = np.random.default_rng(4)
    x, y, out, expected = random.uniform(-180, 180, 32), random.uniform(-90, 90, 32), np.zeros(32), np.zeros(32)
    simulate(halves, [x, y, 11, expected], 1, 32)
    entries.run((1, 1, 1), (32, 1, 1), [x, y, 11, out], False)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("least", [1, 2, 5, 40])
def test_ways_out_of_a_loop(least):
    """A side that only counts, and may leave the loop, is no branch of its own (nvptx/branches/if_conversion.c)."""

    def kernel(x, least, out):
        for start in range(4):
            count = 0
            for k in range(start, x.size):
                if x[k] >= 3:
                    count += 1
                    if count == least:
                        break
            out[start] = count
            last = steps = 0
            for k in range(start, x.size):
                steps += 1
                if x[k] < 3:
                    continue
                last = k
                if steps > least:
                    break
            out[start + 4] = last * 100 + steps
            total = 0
            for k in range(start, x.size):
                if x[k] & 1:
                    total += 3
                    if total >= least:
                        total = -1
                        break
            out[start + 8] = total

    run(kernel, [np.array([1, 3, 4, 0, 2, 9, 3, 3, 2, 5, 7], np.int32), least, np.zeros(12, np.int64)])
