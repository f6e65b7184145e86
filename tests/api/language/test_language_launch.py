"""Grids of one to three axes, forall, positions, launches of every form."""

import numpy as np
import pytest
from harness import jit, run
from pyptx import cuda


def positions(out):
    x, y, z = cuda.grid(3)
    sx, sy, sz = cuda.gridsize(3)
    n = x + sx * (y + sy * z)
    out[n, 0] = cuda.threadIdx.x
    out[n, 1] = cuda.threadIdx.y
    out[n, 2] = cuda.threadIdx.z
    out[n, 3] = cuda.blockIdx.x
    out[n, 4] = cuda.blockIdx.y
    out[n, 5] = cuda.blockIdx.z
    out[n, 6] = cuda.blockDim.x * 10000 + cuda.blockDim.y * 100 + cuda.blockDim.z
    out[n, 7] = cuda.gridDim.x * 10000 + cuda.gridDim.y * 100 + cuda.gridDim.z
    out[n, 8] = cuda.grid(1) + cuda.gridsize(1) * 1000
    out[n, 9] = cuda.grid(2)[0] * 100 + cuda.grid(2)[1]
    out[n, 10] += 1
    out[n, 11] = cuda.laneid
    out[n, 12] = cuda.warpsize


CONFIGS = [
    (1, 1),
    (3, 5),
    ((3,), (5,)),
    ((2, 3), 4),
    (2, (4, 3)),
    ((2, 3), (4, 3)),
    ((2, 3, 4), (3, 2, 2)),
    ((1, 1, 5), (1, 1, 7)),
    (1, 70),
]


@pytest.mark.parametrize("grid, block", CONFIGS)
def test_positions(grid, block):
    n = int(np.prod(grid) * np.prod(block))
    out = run(positions, [np.zeros((n, 13), np.int64)], grid, block)[0]
    assert (out[:, 10] == 1).all()


@pytest.mark.parametrize("n", [1, 31, 100, 1000, 12345])
@pytest.mark.parametrize("tpb", [0, 32, 100])
def test_forall(n, tpb):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] + 1

    x, out = np.arange(n), np.zeros(n, np.int64)
    jit(kernel).forall(n, tpb=tpb)(x, out)
    cuda.synchronize()
    assert np.array_equal(out, x + 1)


def test_forall_of_nothing():
    def kernel(x):
        x[0] = 1

    x = np.zeros(1)
    jit(kernel).forall(0)(x)
    cuda.synchronize()
    assert x[0] == 0


def test_configured_kernel_is_reusable():
    def kernel(x, v):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += v

    x = np.zeros(100)
    configured = jit(kernel)[4, 32]
    for v in (1, 2.5, np.float32(0.5)):
        configured(x, v)
    cuda.synchronize()
    assert (x == 4).all()


def has_clusters():
    device = cuda.get_current_device()
    return device.is_host or device.compute_capability >= (9, 0)


@pytest.mark.parametrize("cluster, grid", [(1, 5), (4, 12), ((2, 2), (6, 4)), ([2, 1, 2], (4, 3, 2)), (8, 8)])
@pytest.mark.skipif(not has_clusters(), reason="clusters need compute capability 9.0")
def test_clusters(cluster, grid):
    """All blocks run, however they are grouped."""

    @cuda.jit
    def mark(seen):
        b = cuda.blockIdx
        cuda.atomic.add(seen, (b.x, b.y, b.z), cuda.threadIdx.x)

    shape = ((grid,) if isinstance(grid, int) else grid) + (1, 1, 1)
    for launch in (mark.configure(grid, 32, cluster=cluster), mark[grid, 32, 0, 0, cluster]):
        assert launch.cluster == (None if cluster == 1 else (*np.atleast_1d(cluster), 1, 1)[:3])
        seen = cuda.to_device(np.zeros(shape[:3], np.int64))
        launch(seen)
        assert (seen.copy_to_host() == 31 * 16).all()
        bound = launch.bind(seen)
        bound()
        assert (seen.copy_to_host() == 2 * 31 * 16).all()


@pytest.mark.skipif(not has_clusters(), reason="clusters need compute capability 9.0")
def test_clusters_that_cannot_be():
    @cuda.jit
    def nothing(x):
        pass

    x = cuda.device_array(1)
    assert nothing[4, 32].cluster is None and nothing.configure(4, 32, cluster=None).cluster is None
    with pytest.raises(ValueError, match=r"the grid \(5, 1, 1\) is not a multiple of the cluster \(2, 1, 1\)"):
        nothing.configure(5, 32, cluster=2)(x)
    with pytest.raises(ValueError, match=r"a cluster of \(32, 1, 1\) blocks; it can have at most 16"):
        nothing.configure(32, 32, cluster=32)(x)
    for bad, error in ((0, ValueError), (2.0, TypeError), ((1, 1, 1, 1), ValueError), ("2", TypeError)):
        with pytest.raises(error, match="cluster"):
            nothing.configure(4, 32, cluster=bad)

    @cuda.jit
    def meets(x):
        cuda.cg.this_grid().sync()
        x[0] = 1

    with pytest.raises(ValueError, match="synchronises its grid: such a launch takes no cluster"):
        meets.configure(4, 32, cluster=2)(x)


def test_grid_stride_loop():
    def kernel(x, out):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[i] = x[i] * 3

    run(kernel, [np.arange(1000), np.zeros(1000, np.int64)], 3, 16)


def test_grid_stride_loop_of_two_axes():
    def kernel(x, out):
        sx, sy = cuda.grid(2)
        gx, gy = cuda.gridsize(2)
        for i in range(sy, x.shape[0], gy):
            for j in range(sx, x.shape[1], gx):
                out[i, j] = x[i, j] - i * j

    run(kernel, [np.arange(35 * 17).reshape(35, 17), np.zeros((35, 17), np.int64)], (2, 3), (4, 2))


def test_one_dispatcher_many_signatures():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i] * 2

    compiled = jit(kernel, fma=False)
    for dtype in ("int8", "int32", "float32", "float64", "uint64"):
        run(compiled, [np.arange(10).astype(dtype), np.zeros(10, dtype)], 1, 16)
        run(compiled, [np.arange(20).astype(dtype)[::2], np.zeros(10, dtype)], 1, 16)


@pytest.mark.parametrize(
    "signature", ["void(float32[:], float32[:])", "(float32[:], float32[:])", "float32[::1], float32[::1]"]
)
def test_eager_signatures(signature):
    @cuda.jit(signature)
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * 2

    x, out = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    kernel[1, 16](x, out)
    cuda.synchronize()
    assert np.array_equal(out, x * 2)


def test_kernel_without_arguments_or_effect():
    @cuda.jit
    def kernel():
        pass

    kernel[10, 10]()
    cuda.synchronize()


def test_empty_arrays():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i]

    run(kernel, [np.zeros(0), np.zeros(0)], 1, 32)


def test_the_same_array_twice():
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i] + 1

    d = cuda.to_device(np.arange(10.0))
    jit(kernel)[1, 16](d, d)
    assert np.array_equal(d.copy_to_host(), np.arange(10.0) + 1)


def test_overlapping_device_views():
    def kernel(x, y):
        if cuda.grid(1) == 0:
            for i in range(x.size):
                y[i] = x[i] + 1

    d = cuda.to_device(np.zeros(10))
    jit(kernel)[1, 1](d[:-1], d[1:])
    assert np.array_equal(d.copy_to_host(), np.arange(10.0))


def advance(x, y):
    for i in range(len(x)):
        x[i] = x[i] + 1
        y[i] = y[i] * 2


# NumPy arrays are copied to a GPU: those that share memory share it there, too.
SHARED = {
    "moved": lambda u: (u[1:], u[:-1]),
    "moved back": lambda u: (u[:-1], u[1:]),
    "inside": lambda u: (u[2:5], u),
    "in other order": lambda u: (u[::-1], u),
    "every second": lambda u: (u[::2], u[::-2]),
    "steps": lambda u: (u[1::2], u[: u.size // 2]),
    "the same twice": lambda u: (u, u),
}


@pytest.mark.parametrize("how", SHARED)
def test_overlapping_numpy_views(how):
    want, u = np.arange(12.0), np.arange(12.0)
    x, y = SHARED[how](want)
    n = min(len(x), len(y))
    advance(x[:n], y[:n])
    x, y = SHARED[how](u)
    jit(advance)[1, 1](x[:n], y[:n])
    cuda.synchronize()
    assert np.array_equal(u, want)


def test_a_matrix_and_its_interior_and_rows():
    def kernel(inner, whole, row, twice):
        for i in range(inner.shape[0]):
            for j in range(inner.shape[1]):
                inner[i, j] += whole[i, j + 1] + row[j]
                whole[i + 1, j + 1] -= twice[1] % 3
                twice[1] += row[j + 1]

    u, want = (np.arange(30).reshape(5, 6) for _ in range(2))
    kernel(want[1:-1, 1:-1], want, want[2], want[2])
    # The row comes first, so that it moves to the matrix, which moves to nothing else.
    by_name = dict(inner=u[1:-1, 1:-1], whole=u)
    row = u[2]
    jit(kernel)[1, 1](**by_name, row=row, twice=row)
    cuda.synchronize()
    assert np.array_equal(u, want)


def test_records_and_their_fields():
    def kernel(a, r, b):
        r[1].a = 7
        for i in range(1, len(a)):
            a[i] += a[i - 1] + r[i].b
            b[i] = r[i - 1].a

    want = np.zeros(4, [("a", "i4"), ("b", "i8")]).view(np.recarray)
    got = want.copy()
    kernel(want.a, want, want.b)
    jit(kernel)[1, 1](got.a, got, got.b)
    cuda.synchronize()
    assert np.array_equal(got.a, want.a) and np.array_equal(got.b, want.b)


def test_many_arrays_become_one_block():
    def kernel(x, y, z, w):
        for i in range(len(x)):
            x[i] += 1
            y[i] += 10
            z[i] += 100
            w[i] += 1000

    u, want = np.zeros(40, np.int32), np.zeros(40, np.int32)
    kernel(want[:12], want[20:32], want[10:22], want[28:40])
    jit(kernel)[1, 1](u[:12], u[20:32], u[10:22], u[28:40])  # the third joins what lay apart
    cuda.synchronize()
    assert np.array_equal(u, want)


def test_declared_arrays_without_gaps():
    """A contiguous one is its place in the block; the copy of one with gaps stays a copy."""
    kernel = cuda.jit("void(float64[::1], float64[::1])")(advance)
    u, want = np.arange(12.0), np.arange(12.0)
    advance(want[1:], want[:-1])
    kernel[1, 1](u[1:], u[:-1])
    cuda.synchronize()
    assert np.array_equal(u, want)


def test_many_blocks():
    def kernel(counter):
        cuda.atomic.add(counter, 0, 1)

    counter = np.zeros(1, np.int64)
    jit(kernel)[(1000, 30, 2), 4](counter)
    cuda.synchronize()
    assert counter[0] == 1000 * 30 * 2 * 4
