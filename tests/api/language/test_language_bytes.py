"""bytes in kernels: constant sequences of Python ints; np.round, type(x) and isinstance(x, np.ndarray)."""

import sys
import numpy as np
import pytest
from harness import FLOATS, define, run
from pyptx import cuda

WORD = b"GATTACA\x00\xff"


def test_items_and_loops():
    def kernel(text, out):
        i = cuda.grid(1)
        out[i] = WORD[i] * 1000  # a Python int: no wrapping at 8 bits
        if i == 0:
            n = 0
            for c in WORD:
                n += c
            for k, c in enumerate(b"ACGT"):
                n += k * c
            out[9] = n
            out[10] = len(WORD) + WORD[-1] + (text[0] in b"GT") + (65 in WORD) + (66 not in WORD)
            out[11] = max(WORD) + sum(v for v in WORD if v > 70) + sum(b"ab")
            for c, v in zip(b"GAT", text):
                out[12] += c == v

    text = np.frombuffer(b"GCT", np.uint8).copy()
    run(kernel, (text, np.zeros(13, np.int64)), block=9)


def test_a_search_for_a_constant_word():
    def kernel(text, out):
        i = cuda.grid(1)
        if i + len(b"ATA") <= text.size:
            out[i] = all(text[i + k] == c for k, c in enumerate(b"ATA"))

    text = np.frombuffer(b"GATATATTACATA", np.uint8).copy()
    run(kernel, (text, np.zeros(text.size, bool)), block=text.size)


@pytest.mark.parametrize("dtype", FLOATS)
def test_round(dtype):
    def kernel(x, out):
        i = cuda.grid(1)
        out[0, i] = np.round(x[i])
        out[1, i] = np.round(x[i], 2)
        out[2, i] = np.around(x[i], decimals=-1)
        out[3, i] = np.round(x[i], 1) / 3  # of x's type

    x = np.array([2.5, -0.5, 3.14159, -7.567, 1234.5, 0.125, np.inf, 1.5], dtype)
    run(kernel, (x, np.zeros((4, x.size))), block=x.size)


def test_round_of_other_numbers():
    def kernel(x, out):
        out[0] = np.round(x[0])
        out[1] = np.round(x[0], 3)
        out[2] = np.round(2.5) / 3
        out[3] = np.round(7) / 2

    run(kernel, (np.array([41], np.int16), np.zeros(4)))


def test_types_of_numbers():
    def kernel(x, n, out):
        out[0] = type(x[0])(1) / 3
        out[1] = type(x[0]) is np.float32
        out[2] = type(x[0]) == np.float64
        out[3] = type(n) is int
        out[4] = type(2.5)(3) / 2
        out[5] = type(x[0]) == type(x[1])
        out[6] = isinstance(x, np.ndarray)
        out[7] = isinstance(x[0], np.ndarray)
        out[8] = isinstance((1, 2), (np.ndarray, tuple))

    run(kernel, (np.ones(2, np.float32), 3, np.zeros(9)))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("cuda.threadIdx + 1", "it has parts"),
        ("cuda.blockDim[0]", "it has parts"),
        ("cuda.atomic[0]", "PT205(?!.*it has parts)"),
        ("x[0] ^ 2", r"x \*\* 2 is a power"),
        ("x[0] > 0 & x[1] < 3", "bind tighter"),
        ("sum(range(x.shape))", r"x\.shape\[0\]"),
        ("type(x)", "PT209: type"),
        ("np.round(x)", r"PT209: numpy\.round"),
        ("np.round(1j)", r"PT209: numpy\.round"),
        ("b'abc'[0:2]", "PT301" if sys.version_info < (3, 14) else "PT303"),  # CPython 3.14 knows the result
        ("b'abc'[1.5]", "PT301"),
    ],
)
def test_errors(expression, message):
    kernel = define(f"def kernel(x, out):\n    out[0] = {expression}\n", np=np)
    with pytest.raises(TypeError, match=f"(?s){message}"):
        cuda.jit(kernel)[1, 1](np.zeros(2, np.float32), np.zeros(1))


def test_rest_of_an_array_has_advice():
    def kernel(x, out):
        first, *rest = x
        out[0] = first

    with pytest.raises(TypeError, match=r"x\[1:\]"):
        cuda.jit(kernel)[1, 1](np.zeros(2), np.zeros(1))
