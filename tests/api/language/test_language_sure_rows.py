"""Threads that run one by one: on the host device a row of them has no checks where all indices are in range for its
first and its last thread, and tables are as long as what indexes them is wide (codegen/host/sure_ranges.c).
"""

import numpy as np
import pytest
from harness import run
from pyptx import cuda


def encoded(data, alphabet, text):
    i = cuda.grid(1)
    k = 3 * i
    if k < data.size:
        bits = int(data[k]) << 16
        if k + 1 < data.size:
            bits |= int(data[k + 1]) << 8
        if k + 2 < data.size:
            bits |= int(data[k + 2])
        text[4 * i] = alphabet[bits >> 18]
        text[4 * i + 1] = alphabet[(bits >> 12) & 63]
        text[4 * i + 2] = alphabet[(bits >> 6) & 63] if k + 1 < data.size else 61
        text[4 * i + 3] = alphabet[bits & 63] if k + 2 < data.size else 61


LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)


def data_of(n, dtype=np.uint8):
    return np.random.default_rng(3).integers(0, 128, n).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("n", [1, 95, 96, 97, 191, 192])
def test_letters(n, dtype):
    """Rows of which all threads run, some, and none."""
    run(encoded, [data_of(n, dtype), LETTERS.copy(), np.zeros(4 * -(-n // 3), np.uint8)], 2, 32)


@pytest.mark.host_only
def test_a_table_that_is_too_short():
    data = np.zeros(192, np.uint8)
    run(encoded, [data, LETTERS[:63].copy(), np.zeros(256, np.uint8)], 2, 32)
    data[3 * 40 + 2] = 63
    with pytest.raises(IndexError, match=r"index 63 is out of bounds for axis 0 of 'alphabet' with size 63(.|\n)*thread \(8, 0, 0\) of block \(1, 0, 0\)"):
        cuda.jit(encoded)[2, 32](data, LETTERS[:63].copy(), np.zeros(256, np.uint8))


@pytest.mark.parametrize("size", [255, 254, 253, 252, 130])
@pytest.mark.host_only
def test_the_last_thread_is_out_of_range(size):
    with pytest.raises(IndexError, match=rf"index {size} is out of bounds for axis 0 of 'text' with size {size}"):
        cuda.jit(encoded)[2, 32](data_of(192), LETTERS.copy(), np.zeros(size, np.uint8))


@pytest.mark.parametrize("first", [0, 5, -70])
def test_two_axes_and_an_offset(first):
    """Along y the row's place differs; an offset may make the first indices negative, which count from the end."""

    def kernel(data, table, first, out):
        x, y = cuda.grid(2)
        k = first + 2 * x
        byte = int(data[y, k]) << 2 | int(data[y, k + 1]) >> 6
        out[y, x] = table[byte & 255] + table[byte >> 2]

    run(kernel, [data_of(8 * 70).reshape(8, 70), data_of(256), first, np.zeros((8, 32), np.int32)], (2, 2), (16, 4))
