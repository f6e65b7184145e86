"""Rows of small matrices and records that a thread reads and writes piece by piece: in accesses of up to 16 bytes
where all addresses of a warp are multiples of those, and as they are written elsewhere; records of other sizes by
way of shared memory. Against NumPy, in rows that begin everywhere."""

import numpy as np
import pytest
from pyptx import cuda

N = 71  # rows: two warps, and a part of one


def four(a, out):
    t = cuda.grid(1)
    if t < a.shape[0]:
        p, q, r, s = a[t, 0], a[t, 1], a[t, 2], a[t, 3]
        out[t, 0] = p + q
        out[t, 1] = q + r
        out[t, 2] = r + s
        out[t, 3] = s + p


def triangle(a, out):
    """Stores of a part of each row, in the order of the rows."""
    t = cuda.grid(1)
    if t < a.shape[0]:
        p, q, r, s = a[t, 0, 0], a[t, 0, 1], a[t, 1, 0], a[t, 1, 1]
        u, v, w, x = a[t, 2, 0], a[t, 2, 1], a[t, 3, 0], a[t, 3, 1]
        out[t, 0, 0] = p * x
        out[t, 1, 0] = q * w
        out[t, 1, 1] = r * v
        out[t, 2, 0] = s * u
        out[t, 2, 1] = u + p
        out[t, 2, 2] = v + q
        out[t, 3, 0] = w + r
        out[t, 3, 1] = x + s
        out[t, 3, 2] = p
        out[t, 3, 3] = q


def backwards(a, out):
    """What is stored twice, and to rows that may be the same ones: the last store counts."""
    t = cuda.grid(1)
    if t < a.shape[0]:
        p, q, r, s = a[t, 3], a[t, 2], a[t, 1], a[t, 0]
        out[t, 3] = p
        out[t, 2] = q
        out[t, 1] = r
        out[t, 0] = s
        out[t, 2] = p + s


def overlapping(a, rows, out):
    """Rows of `out` that two stores of a thread may both reach."""
    t = cuda.grid(1)
    if t < a.shape[0]:
        p, q, r, s = a[t, 0], a[t, 1], a[t, 2], a[t, 3]
        first, second = 2 * t, 2 * t + rows[t]
        out[first, 0] = p
        out[second, 0] = q
        out[first, 1] = r
        out[second, 1] = s
        out[first, 2] = s
        out[second, 2] = r
        out[first, 3] = q
        out[second, 3] = p


def gathered(a, index, out):
    t = cuda.grid(1)
    if t < index.size:
        i = index[t]
        out[t] = a[i, 0] + 2 * a[i, 1] + 3 * a[i, 2] + 4 * a[i, 3]


def in_loops(a, count, out):
    """Rows of a thread, one after the other: all, and up to the first that ends with 9."""
    t = cuda.grid(1)
    if t < out.shape[0]:
        n = 0
        for k in range(count):
            i = count * t + k
            n += int(a[i, 0]) * int(a[i, 1]) - int(a[i, 2]) * int(a[i, 3])
        out[t, 0] = n
        for k in range(count):
            i = count * t + k
            p, q, r, s = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
            n += int(p) * int(q) - int(r)
            if s == 9:
                break
        out[t, 1] = n


def in_common(a, count, out):
    """Rows that all threads read."""
    t = cuda.grid(1)
    if t < out.size:
        n = 0
        for k in range(count):
            n += int(a[k, 0]) * int(a[k, 1]) + int(a[k, 2]) * int(a[k, 3]) * t
        out[t] = n


def records(a, out):
    """Nine numbers in three rows of each thread, not in their order."""
    t = cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y + cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    if t < a.shape[0]:
        p, q, r = a[t, 0], a[t, 1], a[t, 2]
        out[t, 0, 1] = p
        out[t, 0, 0] = q
        out[t, 0, 2] = r
        out[t, 1, 0] = p + q
        out[t, 1, 1] = q + r
        out[t, 1, 2] = r + p
        out[t, 2, 2] = p * q
        out[t, 2, 1] = q * r
        out[t, 2, 0] = r * p
        a[t, 0] = out[t, 0, 1] + out[t, 2, 0]


def every_other(a, out):
    """Records of threads that have none between them; and of some threads only."""
    t = cuda.grid(1)
    if t < a.shape[0] and a[t, 2] != 1:
        out[2 * t, 0] = a[t, 0]
        out[2 * t, 1] = a[t, 1]
        out[2 * t, 2] = a[t, 2]


def rows_of(rng, dtype, shape, begin):
    """An array on the device whose first element is `begin` elements behind a multiple of 256 bytes, and its values."""
    n = int(np.prod(shape))
    values = rng.integers(1, 10, n + begin).astype(dtype)
    return cuda.to_device(values)[begin:].reshape(shape), values[begin:].reshape(shape)


@pytest.mark.parametrize("begin", [0, 1, 2])
@pytest.mark.parametrize("width", [4, 6, 7])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
def test_rows_that_begin_anywhere(dtype, width, begin):
    rng = np.random.default_rng(width)
    a, at = rows_of(rng, dtype, (N, width), begin)
    out, was = rows_of(rng, dtype, (N, width), 2 * begin)
    cuda.jit(four)[2, 64](a, out)
    was[:, :4] = at[:, :4] + at[:, [1, 2, 3, 0]]
    np.testing.assert_array_equal(out.copy_to_host(), was)
    cuda.jit(backwards)[2, 64](a, out)
    was[:, :4] = at[:, :4]
    was[:, 2] = at[:, 3] + at[:, 0]
    np.testing.assert_array_equal(out.copy_to_host(), was)
    index = rng.integers(0, N, N).astype(np.int32)
    sums = cuda.device_array(N, np.int64)
    cuda.jit(gathered)[2, 64](a, cuda.to_device(index), sums)
    np.testing.assert_array_equal(sums.copy_to_host(), (at[index, :4].astype(np.int64) * (1, 2, 3, 4)).sum(axis=1))


@pytest.mark.parametrize("begin", [0, 1, 2, 4])
@pytest.mark.parametrize("width", [4, 6, 8, 12])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.float64])
def test_rows_that_a_loop_reads(dtype, width, begin):
    a, at = rows_of(np.random.default_rng(width), dtype, (8 * N, width), begin)
    out = cuda.device_array((N, 2), np.int64)
    cuda.jit(in_loops)[2, 64](a[:, :4] if width == 12 else a, 8, out)
    p, q, r, s = at.astype(np.int64)[:, :4].T.reshape(4, N, 8)
    read = np.cumsum(s == 9, axis=1) - (s == 9) == 0
    total = (p * q - r * s).sum(axis=1)
    expected = np.stack([total, total + ((p * q - r) * read).sum(axis=1)], axis=1)
    np.testing.assert_array_equal(out.copy_to_host(), expected)
    sums = cuda.device_array(N, np.int64)
    cuda.jit(in_common)[2, 64](a, 8, sums)
    np.testing.assert_array_equal(sums.copy_to_host(), (p * q)[0].sum() + (r * s)[0].sum() * np.arange(N))


@pytest.mark.parametrize("columns", [4, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_of_rows(dtype, columns):
    rng = np.random.default_rng(columns)
    a, at = rows_of(rng, dtype, (N, 4, 2), 0)
    out, was = rows_of(rng, dtype, (N, 4, columns), 0)
    cuda.jit(triangle)[2, 64](a, out)
    p, q, r, s, u, v, w, x = at.reshape(N, 8).T
    was[:, 0, 0], was[:, 1, 0], was[:, 1, 1] = p * x, q * w, r * v
    was[:, 2, :3] = np.stack([s * u, u + p, v + q], axis=1)
    was[:, 3, :4] = np.stack([w + r, x + s, p, q], axis=1)
    np.testing.assert_array_equal(out.copy_to_host(), was)


@pytest.mark.parametrize("block", [32, (8, 8), (7, 5), 512], ids=str)
@pytest.mark.parametrize("width", [3, 4])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_records_of_a_warp(dtype, width, block):
    rng = np.random.default_rng(width)
    a, at = rows_of(rng, dtype, (N, 3), 1)
    out, was = rows_of(rng, dtype, (N, 3, width), 1)
    x, y = block if isinstance(block, tuple) else (block, 1)
    cuda.jit(records)[-(-N // (x * y)), (x, y)](a, out)
    p, q, r = at.T
    was[:, 0, :3] = np.stack([q, p, r], axis=1)
    was[:, 1, :3] = np.stack([p + q, q + r, r + p], axis=1)
    was[:, 2, :3] = np.stack([r * p, q * r, p * q], axis=1)
    np.testing.assert_array_equal(out.copy_to_host(), was)
    np.testing.assert_array_equal(a.copy_to_host()[:, 0], p + r * p)


@pytest.mark.parametrize("width", [3, 5])
def test_records_with_others_between(width):
    rng = np.random.default_rng(width)
    a, at = rows_of(rng, np.float64, (N, 3), 0)
    out, was = rows_of(rng, np.float64, (2 * N, width), 0)
    cuda.jit(every_other)[2, 64](a, out)
    some = at[:, 2] != 1
    was[::2, :3][some] = at[some]
    np.testing.assert_array_equal(out.copy_to_host(), was)


def test_stores_keep_their_order():
    rng = np.random.default_rng(3)
    a, at = rows_of(rng, np.float32, (N, 4), 0)
    out, was = rows_of(rng, np.float32, (2 * N, 4), 0)
    rows = rng.integers(0, 2, N)
    cuda.jit(overlapping)[2, 64](a, cuda.to_device(rows), out)
    for t in range(N):
        was[2 * t] = at[t, [0, 2, 3, 1]]
        was[2 * t + rows[t]] = at[t, [1, 3, 2, 0]]
    np.testing.assert_array_equal(out.copy_to_host(), was)


def test_the_gpus_code(one_entry):
    """Accesses of 16 bytes, behind a test; none where neighbouring threads read side by side, or in rows of three."""

    def three(a, out):
        t = cuda.grid(1)
        if t < a.shape[0]:
            out[t] = a[t, 0] + a[t, 1] + a[t, 2]

    def stencil(a, out):
        j, i = cuda.grid(2)
        if j < a.shape[1] - 4:
            out[i, j] = a[i, j] + a[i, j + 1] + a[i, j + 2] + a[i, j + 3]

    def code(function, signature, **options):
        return cuda.compile_ptx(function, signature, cc="sm_90", **options)[0]

    ptx = code(four, "float32[:,::1], float32[:,::1]")
    assert ptx.count("ld.global.v4.b32") == ptx.count("st.global.v4.b32") == 1 and "vote.sync" not in ptx  # rows of one width
    doubles = "float64[:,:,::1], float64[:,:,::1]"
    ptx, few = code(triangle, doubles), code(triangle, doubles, max_registers=24)  # of which 12 may be loaded at once
    assert (ptx.count("ld.global.v2.b64"), few.count("ld.global.v2.b64")) == (4, 3)
    ptx = code(records, "float32[:,::1], float32[:,:,::1]")
    assert ptx.count("st.shared") == ptx.count("ld.shared") == 9 and ".shared .align 8 .b8 staged$0[9216]" in ptx
    assert "global.v" not in code(three, "float32[:,::1], float32[::1]")
    assert "global.v" not in code(stencil, "float32[:,::1], float32[:,::1]")
