"""Kernels that LLVM's code generator or ptxas once compiled wrongly; the work-arounds are codegen/nvptx/prepare.c and codegen/nvptx/ptx_fixup.c."""

import math

import numpy as np
import pyptx
import pytest
from harness import define, run
from pyptx import cuda

COUNTS = [0, 1, 3, 63, 64, 65, 2**32, 2**32 + 1, 2**52, 2**62, -1, -(2**40)]


def shifted(count, x, s):
    """The guard of the shift and the branches before it are what LLVM took apart."""
    match count:
        case 1:
            pass
        case 3:
            pass
        case _:
            if 1 > 1 // x < 1 < s[-8]:
                pass
    return 1 << count


def test_the_upper_half_of_a_shift_count_counts():
    def kernel(counts, x, s, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = shifted(int(counts[i]), x[i], s)

    n = len(COUNTS)
    counts = np.array(COUNTS)
    out = np.zeros(n, np.int64)
    cuda.jit(kernel)[1, 32](counts, np.full(n, -63.5, np.float32), np.arange(8, dtype=np.int16), out)
    cuda.synchronize()
    assert out.tolist() == [int(np.int64(1) << np.int64(c)) if 0 <= c < 64 else 0 for c in COUNTS]


def test_counts_of_shifts_are_clamped_and_not_asked_again():
    def kernel(x, counts, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = (x[i] << counts[i]) ^ (x[i] >> (counts[i] & np.uint64(2**40 + 127)))

    counts = np.array([0, 1, 31, 32, 33, 63, 64, 65, 255, 2**32, 2**32 + 1, 2**62], np.uint64)
    x = np.random.default_rng(2).integers(0, 2**64, counts.size, np.uint64)
    run(kernel, [x, counts, np.zeros(counts.size, np.uint64)], 1, 16)
    made = cuda.compile_ptx(kernel, "narrow (uint64[::1], uint64[::1], uint64[::1])", cc="sm_90")[0]
    assert made.count("min.u64") == 2 and "selp" not in made


@pytest.mark.parametrize("opt", [0, 3])
def test_inverted_zero_behind_a_branch(opt):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            if x[i] == 0:
                if np.uint16(x[i]) | ~x[i]:
                    out[i] = 1

    run(kernel, [np.array([0, 5, 0, 2**63], np.uint64), np.full(4, 8, np.uint64)], 1, 4, opt=opt)


@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int32, np.int64])
@pytest.mark.parametrize("combine", ["~v % 8", "~v & 7", "~v | 1", "~v ^ 5", "~v >> 1", "~v * 3"])
def test_inverted_zero_in_arithmetic(combine, dtype, opt):
    """As an index and as a value, behind a branch that has found it to be 0."""
    kernel = define(f"def kernel(x, out):\n    i = cuda.grid(1)\n    v = x[i]\n    if v == 0:\n        out[i, 0] = {combine}\n        out[i, ({combine}) % 8] = out[i, 3]\n")
    x = np.array([0, 5, 0, 1, 9, 0, 2, 0], dtype)
    run(kernel, [x, np.arange(64).astype(dtype).reshape(8, 8)], 1, 8, opt=opt)


@pytest.mark.parametrize("field", ["<f8", "<f4", "<f2"])
@pytest.mark.parametrize("offset", [1, 2, 4])
def test_bytes_of_floats_in_unaligned_fields(field, offset):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i]["f"] = x[i]

    dtype = np.dtype({"names": ["f"], "formats": [field], "offsets": [offset], "itemsize": offset + np.dtype(field).itemsize})
    run(kernel, [np.arange(20, 60, dtype=np.int32), np.zeros(40, dtype)], 2, 32)


def test_negated_smallest_int16():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = np.int64(-x[i]) + np.int64(abs(x[i]))

    run(kernel, [np.array([-32768, -1, 32767], np.int16), np.zeros(3, np.int64)], 1, 3)


@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16"])
def test_maximum_of_narrow_integers_in_a_condition(dtype, opt):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = 1 if np.maximum(7, x[i]) == 7 else x[i]
            out[i, 1] = 1 if np.minimum(7, x[i]) == 7 else x[i]
            out[i, 2] = 1 if np.maximum(0, x[i]) else x[i]

    x = np.array([0, 5, 7, 8, 36, 127, -1, -5, -128]).astype(dtype)
    run(kernel, [x, np.zeros((x.size, 3), dtype)], 1, 32, opt=opt)


@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_absolute_value_of_the_smallest_integer(dtype, opt):
    def kernel(x, d, out):
        i = cuda.grid(1)
        if i < x.size:
            a = abs(x[i])
            out[i, 0] = a % d[i]
            out[i, 1] = a < 0
            out[i, 2] = a // d[i]

    x = np.array([np.iinfo(dtype).min, -1, 0, 100], dtype)
    run(kernel, [x, np.full(4, 13, dtype), np.zeros((4, 3), np.int64)], 1, 32, opt=opt)


def down(n, x):
    if n <= 0:
        return x
    return down(n - 1, x + 1) * 2


def recursion_never_reached(x, out):
    i = cuda.grid(1)
    if i < x.size:
        for k in range((x[i] << 1) % 2):  # of no turn, as ptxas finds out and LLVM does not at opt=0
            if down(x[i], k):
                out[i] = 1
        out[i] += 2


@pytest.mark.parametrize("opt", [0, 3])
def test_recursion_that_nothing_reaches(opt):
    run(recursion_never_reached, [np.arange(4), np.zeros(4, np.int64)], 1, 4, opt=opt)


@pytest.mark.parametrize("opt", [0, 3])
def test_numbers_of_comparisons(opt):
    def kernel(m, out):
        i = cuda.grid(1)
        if i < m.size:
            out[0, i] = float(np.copysign(pyptx.bfloat16(1.0), m[i]) < pyptx.bfloat16(0.0))
            out[1, i] = np.float32(-abs(m[i]) < 0) + np.float16(np.signbit(m[i]))

    m = np.array([0xBF40, 0x3F80, 0x8000, 0xFF80], np.uint16)
    out = np.zeros((2, 4))
    cuda.jit(opt=opt)(kernel)[1, 32](m.view("V2"), out)
    cuda.synchronize()
    assert out.tolist() == [[1, 0, 1, 1], [2, 1, 1, 2]]


@pytest.mark.parametrize("opt", [0, 3])
def test_negative_zero_of_a_false_condition(opt):
    def kernel(b, c, n, out):
        i = cuda.grid(1)
        if i < b.size:
            both = b[i] and c[i]
            out[0, i] = -float(both)
            out[1, i] = np.negative(np.float32(both))
            out[2, i] = float(both) * -1
            out[3, i] = np.float32(b[i]) * -1
            out[4, i] = np.float32(n[i] > 3) * -1
            out[5, i] = -float(np.int32(both))
            out[6, i] = -np.float64(np.float32(both)) - 0.0
            out[7, i] = -np.float16(both) if b[i] else np.float16(both)
            out[8, i] = -abs(float(both))
            out[9, i] = -float(n[i] & 1)
            out[10, i] = -pyptx.bfloat16(both)

    b, c = np.array([0, 1, 0, 1], bool), np.array([0, 0, 1, 1], bool)
    run(kernel, [b, c, np.array([0, 4, 3, 7], np.int32), np.ones((11, 4))], 1, 32, opt=opt)


@pytest.mark.parametrize("opt", [0, 3])
def test_large_integers_are_infinite_halves(opt):
    """Integers of one significant bit: LLVM takes the conversion for exact, and would leave the half out."""

    def kernel(x, u, out):
        i = cuda.grid(1)
        if i < x.size:
            v, w = x[i] * (7 << np.absolute(63)), u[i] << np.uint64(20)
            out[0, i] = v / np.float16(v)
            out[1, i] = np.float64(np.float16(w))
            out[2, i] = np.float32(np.float16(np.int32(x[i]) << 17))
            out[3, i] = np.float64(np.float16(x[i]))
            out[4, i] = np.float64(np.float16(u[i]))

    x = np.array([1, 3, 65503, 65504, 65519, 65520, 65535, 9], np.uint16)
    u = np.array([1, 0, 65504, 65519, 65520, 2**40, 2**63, 2**64 - 1], np.uint64)
    run(kernel, [x, u, np.zeros((5, 8))], 1, 32, opt=opt)


@pytest.mark.parametrize("opt", [0, 1, 3])
def test_negative_zero_of_comparisons_and_memberships(opt):
    def kernel(a, n, out):
        i = cuda.grid(1)
        if i < a.size:
            out[0, i] = -pyptx.bfloat16(2 in (a[0], a[1], i))
            out[1, i] = -np.float32(a[i] > 2)
            out[2, i] = math.copysign(np.uint32(1 not in (n[0], i)), -1)
            out[3, i] = -math.fabs(np.bool_(n[i] * a[0]))
            out[4, i] = -np.float16(n[i])
            out[5, i] = -np.float64(n[i] * 2)
            out[6, i] = -(a[i] if n[i] else np.float32(0))
            out[7, i] = np.float32(-1) if a[i] > 2 else np.float32(-0.0)
            out[8, i] = np.float32(1) if a[i] > 2 else np.float32(-0.0)
            out[9, i] = np.float32(n[i] > 3) * np.float32(-1)

    n = np.array([0, 1, 0, 7], np.uint32)
    run(kernel, [np.array([1, 0, 3, -0.0], np.float32), n, np.ones((10, 4))], 1, 32, opt=opt)


def first_or_more(v, limits, x):
    """v, negated; where a limit is passed the truth of a comparison. Both are in one register where the paths meet."""
    for k in range(limits.size):
        if v > limits[k]:
            v = float(1 // v > x)
            break
    return -v


def test_a_negation_behind_the_place_where_paths_meet():
    def kernel(v, limits, x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = first_or_more(float(v[i]), limits, x)

    run(kernel, [np.array([-3.0, 0.5, 1.0, 7.5, 1e10, 0.0]), np.array([1e6, 5.0]), -0.5, np.zeros(6)], 1, 32)


def test_a_negation_of_what_assembly_or_a_choice_has_made():
    def kernel(v, which, out):
        i = cuda.grid(1)
        if i < out.size:
            x = cuda.ldcs(v, i) if which[i, 0] else np.float32(1.0) if which[i, 1] else np.float32(-0.0)
            out[i] = x
            if which[i, 2]:
                out[i] = -x

    v, out = np.arange(8, dtype=np.float32) - np.float32(2.5), np.zeros(8, np.float32)
    which = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], bool)
    cuda.jit(kernel)[1, 32](v, which, out)
    cuda.synchronize()
    x = np.where(which[:, 0], v, np.where(which[:, 1], np.float32(1.0), np.float32(-0.0)))
    expected = np.where(which[:, 2], -x, x)
    assert np.array_equal(out, expected) and np.array_equal(np.signbit(out), np.signbit(expected))


def test_negations_in_extremes_of_three_numbers():
    """ptxas makes one instruction of max(max(x, -y), z), and took y for -y."""

    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.shape[1]:
            x, y, z = a[0, i], a[1, i], a[2, i]
            out[0, i] = max(max(x, -y), z)
            out[1, i] = max(z, max(abs(x), abs(y)))
            out[2, i] = min(min(x, -y), z)
            out[3, i] = max(max(-x, -y), z)
            out[4, i] = min(min(-x, -y), z)
            out[5, i] = max(abs(-x), z) + min(abs(x), z)
            out[6, i] = max(x, -x, z, -z)

    rng = np.random.default_rng(11)
    a = np.where(rng.random((3, 400)) < 0.5, rng.integers(-9, 10, (3, 400)), rng.integers(-(2**30), 2**30, (3, 400)))
    for opt in (0, 3):
        run(kernel, [a.astype(np.int32), np.zeros((7, 400), np.int32)], 4, 128, opt=opt)
