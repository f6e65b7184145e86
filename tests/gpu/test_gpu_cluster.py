"""Halo exchange over the GPUs of a machine, and device arrays as the frames that workers of Dask send, on real streams and memory.

With PYPTX_DEVICE=ptx, on the stand-in's GPUs: the same calls, whose order nothing can disturb."""

import sys
from pathlib import Path

import numpy as np
import pytest
from pyptx import _dask, cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "cluster"))
import heat_gpus  # noqa: E402

STANDIN = len(cuda.gpus) and cuda.gpus[0].name.startswith("Stand-in")  # thread by thread on the CPU: small plates


@cuda.jit
def fill(x, v):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = np.float32(i) * v


@pytest.fixture
def gpus():
    if len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")
    return list(cuda.gpus)


def same(slabs, plate, steps):
    """Is the plate bit for bit what one slab on one GPU makes of it."""
    heat_gpus.run(slabs, steps)
    alone = heat_gpus.cut(plate, [slabs[0].device], 1)
    heat_gpus.run(alone, steps)
    return (heat_gpus.gathered(slabs, plate, steps) == heat_gpus.gathered(alone, plate, steps)).all()


@pytest.mark.parametrize("each", [1, 3])
@pytest.mark.parametrize("rows", [8, 67, 1030])
def test_halos_between_gpus(gpus, each, rows):
    columns, steps = (65, 5) if STANDIN else (2049, 301)
    plate = np.random.default_rng(rows).random((rows, columns), np.float32)  # every row matters, not only a hot middle
    slabs = heat_gpus.cut(plate, gpus[: min(len(gpus), rows - 2)], each if rows > 20 else 1)
    assert same(slabs, plate, steps)


def test_against_numpy(gpus):
    assert all(heat_gpus.checked(gpus[:n], 2) for n in range(1, len(gpus) + 1))


def test_frames_of_a_stream_that_works():
    """What is sent is what the kernels before it wrote, and what arrives can be used at once."""
    n = 1 << 12 if STANDIN else 1 << 22
    d = cuda.device_array(n, np.float32)
    fill[64, 64](d, 3.0)
    header, (frame,) = _dask.to_device_frames(d.reshape(2, -1))
    back = _dask.from_device_frames(header, [frame])
    fill[64, 64](d, 4.0)  # the frame is the array's own memory
    assert back.shape == (2, n // 2) and (back.copy_to_host().reshape(-1) == np.arange(n, dtype=np.float32) * 4).all()
