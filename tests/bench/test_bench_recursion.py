"""bench/recursion.py: what it expects is what its Python functions give on the host device, and its CUDA C++ compiles."""

import shutil

import numpy as np
import pytest

import recursion
from pyptx import cuda

THREADS = 128


@pytest.mark.parametrize("number", range(4))
def test_results(number):
    title, kernel, arrays, expected = list(recursion.problems(np.random.default_rng(1)))[number]
    out, masks = np.zeros(THREADS, np.int32), np.zeros(THREADS, np.uint32)
    cut = [a[:THREADS] if len(a) == recursion.THREADS else a for a in arrays]
    cuda.jit(kernel)[1, THREADS](*cut, out, masks)
    cuda.synchronize()
    assert (out == expected[:THREADS]).all(), title
    assert (masks == 0xFFFFFFFF).all()


def test_the_other_side_compiles():
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not on PATH")
    assert recursion.compiled("sm_80")[:4] == b"\x7fELF"
