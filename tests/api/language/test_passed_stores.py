"""Loads in front of the stores that they come behind (codegen/nvptx/memory/passed_stores.c): arrays that overlap in every
place, of one type and of two, against the same statements in NumPy; how many loads there are in front of the first
store."""

import numpy as np
import pytest
from pyptx import cuda

PLACES = [(more, out) for more in range(-4, 5) for out in range(-4, 5)]


def sums(x, more, out, t):
    out[t] = x[t] + more[t]
    out[t + 1] = x[t + 1] + more[t + 1]
    out[t + 2] = x[t + 2] + more[t + 2]


def swapped(x, more, out, t):
    """Two stores to one place, and a load behind both; a load of what was just stored."""
    out[t] = x[t + 1] + more[t + 2]
    out[t + 1] = x[t + 2] - more[t + 1]
    out[t] = x[t] - more[t]
    out[t + 2] = more[t + 1] + x[t + 3]
    more[t] = out[t + 1] + x[t + 2]


def moving(x, more, out, t):
    """An index that was loaded behind a store."""
    out[t] = x[t] + 1
    k = int(more[t + 1]) & 3
    out[t + 1] = x[k] + more[k]
    out[t + 2] = x[3 - k]


def guarded(x, more, out, t):
    """Stores behind conditions, and loads behind those."""
    a = x[t]
    b = more[t]
    if a > b:
        out[t] = a - b
    c = more[t + 1]
    if c > 50:
        out[t + 1] = c + a
    d = x[t + 2]
    if a > 20 and d < 80:
        out[t] = d
    out[t + 2] = x[t] + more[t + 2]
    if d > c:
        more[t] = x[t + 1]
    out[t + 3] = x[t + 3] + more[t] + x[t + 1]


def several(x, more, out, t):
    """Elements of a thread, each loaded and stored behind its condition."""
    for k in range(4):
        if t + k < x.size - 1:
            out[t + k] = x[t + k] + more[t + k]
        if t + 3 - k < more.size:
            more[t + 3 - k] = x[t + k] + 1


STATEMENTS = [sums, swapped, moving, guarded, several]


@pytest.mark.parametrize("statements", STATEMENTS)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64, np.float64, np.int16])
def test_arrays_that_overlap(statements, dtype):
    @cuda.jit
    def kernel(x, more, out):
        statements(x, more, out, cuda.threadIdx.x)

    start = np.random.default_rng(5).integers(0, 100, 24).astype(dtype)
    for more, out in PLACES:
        places = [8, 8 + more, 8 + out]
        want, memory = start.copy(), cuda.to_device(start)
        statements(*(want[at : at + 4] for at in places), 0)
        kernel[1, 1](*(memory[at : at + 4] for at in places))
        assert memory.copy_to_host().tobytes() == want.tobytes(), (more, out)


@pytest.mark.parametrize("dtypes", [(np.int32, np.float32), (np.float64, np.int64), (np.int32, np.float64), (np.int32, np.int64), (np.int32, np.int16)])
def test_two_types_of_one_memory(dtypes):
    """What is stored as one type is loaded as another, of the same size or not."""

    def mixed(x, other, out, t):
        out[t] = x[t] + 1
        kept = other[t + 1]
        out[t + 1] = x[t + 1] + 2
        other[t + 2] = other[t]
        out[t + 2] = x[t + 2] + 3
        other[t + 3] = kept

    @cuda.jit
    def kernel(x, other, out):
        mixed(x, other, out, cuda.threadIdx.x)

    one, two = dtypes
    start = np.random.default_rng(6).integers(0, 100, 32).astype(one)
    for more, out in PLACES:
        want, memory = start.copy(), cuda.to_device(start)

        def views(m, at=(more, out)):
            others = m.view(two)[(12 + at[0]) * start.itemsize // np.dtype(two).itemsize :]
            return m[12:16], others[:4], m[12 + at[1] : 16 + at[1]]

        mixed(*views(want), 0)
        kernel[1, 1](*views(memory))
        assert memory.copy_to_host().tobytes() == want.tobytes(), (more, out)


def rows(points, bodies, shifts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        body = bodies[i]
        out[i, 0] = points[i, 0] + shifts[body, 0]
        out[i, 1] = points[i, 1] + shifts[body, 1]
        out[i, 2] = points[i, 2] + shifts[body, 2]


@pytest.mark.parametrize("n", [1, 33, 300])
def test_rows(n):
    rng = np.random.default_rng(7)
    points, shifts, bodies = rng.random((n, 3), np.float32), rng.random((9, 3), np.float32), rng.integers(0, 9, n, np.int32)
    out = cuda.device_array((n, 3), np.float32)
    cuda.jit(rows)[3, 128](*map(cuda.to_device, (points, bodies, shifts)), out)
    assert (out.copy_to_host() == points + shifts[bodies]).all()


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_loads_are_in_front(monkeypatch):
    signature = "void(float32[:,::1], int32[::1], float32[:,::1], float32[:,::1])"

    def loads_in_front():
        return cuda.compile_ptx(rows, signature, cc="sm_90", coarsen=1)[0].split("st.global")[0].count("ld.global")

    assert loads_in_front() == 7
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.passed_stores")
    assert loads_in_front() == 3
