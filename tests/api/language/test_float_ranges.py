"""Selections by comparisons of floats that are made of integers (codegen/nvptx/floats/float_ranges.c)."""

import math

import numpy as np
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of

from pyptx import float32, float64, uint32


def compared(x, h, out):
    """At and beside the ends of ranges: of a random number, of a signed one, of a difference, of a long one."""
    for k in range(x.size):
        u = float32((x[k] >> uint32(8)) + uint32(1)) * float32(2**-24)
        n = float32(h[k])
        d = float64(40000) - float64(h[k])
        w = float32(x[k])
        out[k, 0] = 1 if u > float32(1) else 2
        out[k, 1] = 1 if u >= float32(1) else 2
        out[k, 2] = 1 if u < float32(2**-24) else 2
        out[k, 3] = 1 if u <= float32(2**-24) else 2
        out[k, 4] = 1 if n < float32(-32768) else 2
        out[k, 5] = 1 if n == float32(32767) else 2
        out[k, 6] = 1 if d >= float64(7233) else 2
        out[k, 7] = 1 if d > float64(72768) else 2
        out[k, 8] = 1 if w >= float32(2**32) else 2
        out[k, 9] = 1 if w * float32(2**90) < float32(2**122) else 2
        out[k, 10] = 1 if n * float32(3) + float32(1) > float32(98302) else 2
        out[k, 11] = 1 if u != float32(0) else 2


@needs_llc
def test_comparisons_at_the_ends_of_ranges():
    entries = Entries(compared, "(uint32[::1], int16[::1], int32[:, ::1])", 1)
    xs = np.array([0, 1, 255, 256, 257, 511, 2**31 - 1, 2**31, 2**32 - 257, 2**32 - 256, 2**32 - 129, 2**32 - 128, 2**32 - 1], np.uint32)
    for h in (-32768, -32767, -1, 0, 1, 32766, 32767):
        hs = np.full(len(xs), h, np.int16)
        out, wanted = np.zeros((2, len(xs), 12), np.int32)
        entries.run((1, 1, 1), (1, 1, 1), [xs, hs, out], False)
        compared(xs, hs, wanted)
        assert np.array_equal(out, wanted), h


def test_a_logarithm_of_a_random_number_asks_nothing():
    """Of one that may be 0 it asks."""

    def uniform(x, out):
        u = float32((x[0] >> uint32(8)) + uint32(1)) * float32(2**-24)
        out[0] = math.log(u)

    def any_number(x, out):
        out[0] = math.log(float32(x[0] >> uint32(8)) * float32(2**-24))

    first, second = (ptx_of(k, "(uint32[::1], float32[::1])") for k in (uniform, any_number))
    assert "setp" not in first and "setp" in second
