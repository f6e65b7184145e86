"""Copies from and to views of device arrays with any strides: against NumPy doing the same. On a GPU many are the driver's own copies of
rows and planes; the stand-in driver makes them too, and refuses what the driver would."""

import resource

import numpy as np
import pytest
import standin
from pyptx import cuda

DTYPES = ["u1", "<f4", "<f8", "<c16", [("a", "<i4"), ("b", "u1")]]


def random_view(rng, shape):
    """Slices that pick at least one element of each axis, with steps of both signs."""
    key = []
    for n in shape:
        start, stop = sorted(int(v) for v in rng.integers(0, n, 2))
        step = int(rng.choice([1, 1, 1, 2, 3]))
        key.append(slice(stop, None if start == 0 else start - 1, -step) if rng.random() < 0.2 else slice(start, stop + 1, step))
    return tuple(key)


def random_array(rng, shape, dtype, order):
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.asarray(rng.integers(0, 100, count, dtype=np.uint8).view(dtype).reshape(shape), order=order)


def same(a, b):
    return a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def check(seed):
    rng = np.random.default_rng(seed)
    dtype = DTYPES[seed % len(DTYPES)]
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 5)))
    order = "CF"[int(rng.integers(2))]
    a, b = random_array(rng, shape, dtype, order), random_array(rng, shape, dtype, order)
    d, e = cuda.to_device(a), cuda.to_device(b)
    axes = rng.permutation(len(shape))
    key = random_view(rng, shape)
    view = lambda x: x[key].transpose(*axes)
    assert same(view(d).copy_to_host(), view(a))
    out = np.zeros_like(view(a))
    assert same(view(d).copy_to_host(out), view(a)) and same(out, view(a))
    view(d)[...] = view(e)  # on the device
    view(a)[...] = view(b)
    assert same(d.copy_to_host(), a)
    values = random_array(rng, view(a).shape, dtype, "CF"[int(rng.integers(2))])
    view(d)[...] = values  # from the host
    view(a)[...] = values
    assert same(d.copy_to_host(), a)
    other = random_array(rng, tuple(2 * n for n in view(a).shape), dtype, "C")[tuple(slice(None, None, 2) for _ in view(a).shape)]
    stream = cuda.stream()
    view(d).copy_to_device(other, stream=stream)  # strided on both sides
    view(a)[...] = other
    assert same(d.copy_to_host(stream=stream), a)
    fresh = cuda.to_device(view(d))
    assert same(fresh.copy_to_host(), view(a))
    d[...] = d[tuple(slice(None, None, -1) for _ in shape)]  # onto itself
    assert same(d.copy_to_host(), a[tuple(slice(None, None, -1) for _ in shape)])


@pytest.mark.parametrize("seed", range(60))
def test_views(seed):
    check(seed)


def most_memory():
    """Of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.host_only("whose memory NumPy reaches where it is")
def test_a_few_elements_far_apart_are_all_that_is_copied():
    d = cuda.device_array(1 << 31, np.uint8)  # takes memory where it is written
    before = most_memory()
    far = d[:: 1 << 28]
    far[:] = np.arange(8)
    d[-(1 << 28) :: -(1 << 28)][1:3] = 9
    assert far.copy_to_host().tolist() == [0, 1, 2, 3, 4, 9, 9, 7]
    with pytest.raises(ValueError):
        far[:] = [1, "x", 3, 4, 5, 6, 7, 8]
    assert far.tolist() == [0, 1, 2, 3, 4, 9, 9, 7]
    assert most_memory() < before + (1 << 28)


def planes(cuda):
    """Copies that the driver makes, by their names."""
    a = np.arange(4 * 6 * 128, dtype=np.float32).reshape(4, 6, 128)
    d, e = cuda.to_device(a), cuda.device_array_like(a)
    e[...] = 0
    yield same(d[:, 1:4, :64].copy_to_host(), a[:, 1:4, :64])
    yield same(d[1:3, ::2].copy_to_host(), a[1:3, ::2])
    e[:, :, ::2] = d[:, :, 1::2]
    b = np.zeros_like(a)
    b[:, :, ::2] = a[:, :, 1::2]
    yield same(e.copy_to_host(), b)
    e[:, 2:4, 32:96] = a[:, :2, :64]
    b[:, 2:4, 32:96] = a[:, :2, :64]
    yield same(e.copy_to_host(), b)
    e[::-1, 0] = d[::-1, 5]
    b[:, 0] = a[:, 5]
    yield same(e.copy_to_host(), b)


def test_rows_and_planes():
    assert all(planes(cuda))


@standin.needs_standin
def test_on_the_stand_in():
    standin.run("""
import test_strided_copies as t
control = t.standin.driver()
for seed in range(200):
    t.check(seed)
assert control.misuse() == 0 and control.calls(b"cuMemcpy3DAsync") > 100
control.forget()
assert all(t.planes(t.cuda))
assert control.calls(b"cuMemcpy3D") == 3 and control.calls(b"cuMemcpy3DAsync") == 2, (control.calls(b"cuMemcpy3D"), control.calls(b"cuMemcpy3DAsync"))
assert control.misuse() == 0
""")
