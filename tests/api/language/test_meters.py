"""What a loop makes of a value beside a bounded counter (ir/interval_meters.c): results are those of 64 bits."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda
from test_ptx import ptx_of

TEXTS = [b"999.255.0.1", b"1234567890123", b"..1.23.456.7890", b"", b"99999999999999999999.99999999999", b"0000000000100000000001"]


@pytest.mark.parametrize("text", TEXTS)
def test_digits(text):
    def kernel(text, out):
        part = address = digits = dots = wide = ten = eleven = last = 0
        for k in range(text.size):
            c = int(text[k])
            if ord("0") <= c <= ord("9"):
                if digits < 3:
                    part = 10 * part + c - ord("0")
                    digits += 1
                if ten < 10:
                    wide = 10 * wide + c
                    ten += 1
                elif eleven < 88:
                    last = 100 * last - c
                    eleven += 11
            elif dots < 3:
                address = address << 8 | part
                part = digits = 0
                dots += 1
            else:
                ten = 0
        out[0], out[1], out[2], out[3] = part, address, wide, last
        out[4] = max(part, address) // 7 - min(wide, last) % 13

    run(kernel, [np.frombuffer(text, np.uint8).copy(), np.zeros(5, np.int64)])


@pytest.mark.parametrize("values", [[255] * 12, [127, 128, 255, 3, 0, 200, 129, 1, 7, 90, 128, 2], [128] * 12])
def test_shifts_and_other_ways(values):
    def kernel(values, out):
        value = shift = down = free = both = twice = times = 0
        left = 5
        for k in range(values.size):
            b = int(values[k])
            if shift < 35:
                value |= (b & 127) << shift
                shift += 7
            if left > 0:
                down = down * 77 - b
                left -= 1
            else:
                down = -down  # beside the counter
            if b & 1 and times < 4:
                both = both * 30 + 1
                times += 1
            elif b & 2:
                times = 0  # without the value, which goes on
            free = free * 3 + b
            if b > 100 and twice < 6:
                twice += 1
                free = 1
        out[0], out[1], out[2], out[3] = value, down, free, both
        out[4] = max(value, down) // 5 + min(free, both) // 9

    run(kernel, [np.array(values, np.uint8), np.zeros(5, np.int64)])


def test_a_loop_within():
    def kernel(values, out):
        x = n = 0
        for k in range(values.size):
            if n < 2:
                for j in range(k + 3):
                    x = 9 * x + int(values[k])
                n += 1
        out[0] = x
        out[1] = max(x, n) // 3

    run(kernel, [np.arange(1, 9, dtype=np.uint8), np.zeros(2, np.int64)])


def test_few_digits_have_32_bits():
    def kernel(text, ends, out):
        i = cuda.grid(1)
        if i < out.size:
            part = digits = 0
            for k in range(ends[i]):
                c = int(text[i, k])
                if digits < 4:
                    part = 10 * part + c
                    digits += 1
                elif c == 46:
                    part = digits = 0
                else:
                    break
            out[i] = min(part, 255)

    assert "mul.lo.s64" not in ptx_of(kernel, "narrow (uint8[:,::1], int32[::1], int64[::1])")
    assert "min.s64" not in ptx_of(kernel, "narrow (uint8[:,::1], int32[::1], int64[::1])")
