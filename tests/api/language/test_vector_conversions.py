"""Conversions of floats to integers by neighbouring threads: on the host device as vectors (codegen/lanes/conversions.c).
Compared with Python's own numbers: those at which a conversion begins to saturate, of all sizes, infinities and nan.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from harness import store
from pyptx import cuda

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def converted(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


def under_masks(x, out):
    i = cuda.grid(1)
    if i < out.size:
        v = x[i]
        if v * v < 2**40 or v > 2**62:
            out[i] = v


def numbers(dtype):
    """Around every power of two, of both signs, and what is no number; then 64 that have few bits each."""
    whole = [dtype(2.0**k) for k in range(-3, 66)]
    near = [n for v in whole for n in (np.nextafter(v, dtype(0)), v, np.nextafter(v, dtype(np.inf)), v + dtype(0.5))]
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny]
    mixed = np.array([*near, *special], dtype)
    mixed = np.concatenate([mixed, -mixed])
    np.random.default_rng(3).shuffle(mixed)
    return np.concatenate([mixed, np.linspace(-120, 120, 64).astype(dtype), mixed[:21]])


def run(kernel, x, target):
    out = np.zeros(x.size, target)
    cuda.jit(kernel)[-(-x.size // 64), 64](x, out)
    cuda.synchronize()
    return out


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_numbers(source, target):
    x = numbers(source)
    want = np.array([store(target, v) for v in x], target)
    np.testing.assert_array_equal(run(converted, x, target), want)
    with np.errstate(all="ignore"):
        kept = (x * x < 2**40) | (x > 2**62)
    np.testing.assert_array_equal(run(under_masks, x, target), np.where(kept, want, 0))


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_numbers_of_one_thread(source, target):
    """Each is what the one before says: no thread has a neighbour (codegen/host/conversion_guards.c)."""

    def chained(x, order, out):
        at = 0
        while at < x.size:
            out[at] = x[at]
            at = order[at]

    x = numbers(source)
    out = np.zeros(x.size, target)
    cuda.jit(chained)[1, 1](x, np.arange(1, x.size + 1), out)
    cuda.synchronize()
    np.testing.assert_array_equal(out, np.array([store(target, v) for v in x], target))


@pytest.mark.host_only("about code for the host")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
def test_with_avx2():
    """The same in a process of its own, on CPUs with AVX-512 too."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__, "-k", "numbers"]
    env = {**os.environ, "PYPTX_HOST_FEATURES": "-avx512f,-avx512bw,-avx512dq,-avx512vl"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
