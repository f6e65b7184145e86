"""Shifts of 8 and 16 bits by variable counts (codegen/nvptx/shifts.c)."""

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of


def shifted(x, counts, left, right, bits):
    for k in range(counts.size):
        left[k] = x[k] << counts[k]
        right[k] = x[k] >> counts[k]
        bits[k] = x[k] >> (counts[k] & 7) & 1


@needs_llc
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_thin_shifts_by_all_counts(dtype):
    info = np.iinfo(dtype)
    values = [info.min, info.min + 1, 0, 1, 5, 0x35, info.max - 1, info.max]
    counts = np.repeat(np.arange(info.bits + 3), len(values)).astype(dtype)
    x = np.tile(values, info.bits + 3).astype(dtype)
    name = np.dtype(dtype).name
    got = [np.zeros(x.size, t) for t in (dtype, dtype, np.int32)]
    entries = Entries(shifted, f"({name}[::1], {name}[::1], {name}[::1], {name}[::1], int32[::1])", 1)
    entries.run((1, 1, 1), (1, 1, 1), [x, counts, *got], False)
    left, right = np.left_shift(x, counts), np.right_shift(x, counts)
    for have, want in zip(got, (left, right, np.right_shift(x, counts & 7) & 1)):
        assert have.tolist() == want.tolist()


def test_a_bit_of_a_map_by_a_shift_of_32_bits():
    def bit(x, blocked, out):
        k = int(x[0])
        while not blocked[k // 8] >> (k % 8) & 1:
            k += int(x[k])
        out[0] = k

    ptx = ptx_of(bit, "narrow (int16[::1], uint8[::1], int32[::1])")
    assert "shr.u16" not in ptx and "shr.u32" in ptx
