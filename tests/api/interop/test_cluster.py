"""What jobs of several processes and devices rest on, as far as it needs no further package: ranks, device arrays as bytes, the examples.

Dask, MPI, PyTorch and JAX themselves: tests/full/test_engines.py.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyptx import _dask, cuda
from pyptx.cuda import _ranks

ROOT = Path(__file__).resolve().parents[3]
CLUSTER = ROOT / "examples" / "cluster"
STANDIN = os.environ.get("PYPTX_STANDIN", "")
needs_standin = pytest.mark.skipif(not STANDIN, reason="PYPTX_STANDIN names no stand-in driver")
ON_PTX = """
import runpy, sys
sys.path[:0] = [sys.argv[1] + "/tests", sys.argv[1] + "/tests/api", sys.argv[1] + "/examples/cluster"]
import ptx_on_cpu
ptx_on_cpu.choose()
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run_on_two(*arguments):
    """What a program prints on the stand-in's two GPUs, whose PTX runs on the CPU."""
    done = subprocess.run([sys.executable, "-c", ON_PTX, str(ROOT), *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYPTX_STANDIN_DEVICES": "2"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- ranks ---


@pytest.fixture
def launched(monkeypatch):
    """launched(NAME=value…): the environment of a process that some launcher started."""

    def set_them(**variables):
        for name in _ranks.LOCAL_RANKS:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    set_them()
    return set_them


def test_local_rank_of_each_launcher(launched):
    assert cuda.local_rank() == 0
    for name in _ranks.LOCAL_RANKS:
        launched(**{name: "3"})
        assert cuda.local_rank() == 3
    launched(SLURM_LOCALID="0", LOCAL_RANK="2")  # torchrun in a task of srun
    assert cuda.local_rank() == 2


@pytest.mark.parametrize("text", ["", "one", "-1", "1.0", "٣"])
def test_a_rank_that_is_no_number(launched, text):
    launched(SLURM_LOCALID=text)
    with pytest.raises(ValueError, match="SLURM_LOCALID is '"):
        cuda.local_rank()


def test_without_a_gpu_every_rank_has_the_host(launched, device):
    launched(SLURM_LOCALID="5")
    before = cuda.get_current_device()
    try:
        chosen = cuda.select_local_device()
        assert chosen is cuda.get_current_device()
        assert chosen.is_host if device == "host" else chosen.id == 5 % len(cuda.gpus)
    finally:
        cuda.select_device("host" if before.is_host else before.id)
        cuda.close()


@needs_standin
def test_each_rank_has_a_gpu(tmp_path):
    program = tmp_path / "ranks.py"
    program.write_text("import os\nfrom pyptx import cuda\nfor rank in range(5):\n    os.environ['SLURM_LOCALID'] = str(rank)\n"
                       "    print(cuda.select_local_device().id, cuda.device_array(3).device.id)\n")
    assert run_on_two(program).split("\n")[:-1] == ["0 0", "1 1", "0 0", "1 1", "0 0"]


# --- device arrays as bytes ---


ARRAYS = {
    "C": np.arange(12.0).reshape(3, 4),
    "F": np.asfortranarray(np.arange(12, dtype=np.int16).reshape(3, 4)),
    "empty": np.zeros((0, 3), np.float32),
    "one": np.array(5, np.complex64),
    "records": np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
    "dates": np.array(["2024-01-01", "NaT"], "datetime64[D]"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_pickles_with_buffers_beside_them(name):
    a, buffers = ARRAYS[name], []
    d = cuda.to_device(a)
    data = pickle.dumps(d, protocol=5, buffer_callback=buffers.append)
    back = pickle.loads(data, buffers=buffers)
    assert type(back) is type(d) and back.dtype == a.dtype and back.copy_to_host().tobytes("A") == a.tobytes("A") and back.strides == d.strides
    assert pickle.loads(pickle.dumps(d)).copy_to_host().tolist() == a.tolist()


@pytest.mark.host_only("its memory is not the host's")
def test_on_the_host_device_a_buffer_is_the_array_itself():
    d, buffers = cuda.to_device(np.arange(1000.0)), []
    data = pickle.dumps(d, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 400 and len(buffers) == 1
    assert np.shares_memory(np.frombuffer(buffers[0]), np.from_dlpack(d))
    back = pickle.loads(data, buffers=buffers)
    cuda.to_device(np.zeros(1000), to=back)
    assert d.copy_to_host()[3] == 3  # what arrives is an array of its own


def test_pickles_of_views_have_their_own_elements_alone():
    d, buffers = cuda.to_device(np.arange(1000.0)), []
    back = pickle.loads(pickle.dumps(d[10:20:3], protocol=5, buffer_callback=buffers.append), buffers=buffers)
    assert back.copy_to_host().tolist() == [10, 13, 16, 19] and sum(b.raw().nbytes for b in buffers) == 32


def test_frames_of_a_gpu(device):
    d = cuda.to_device(np.arange(24.0).reshape(4, 6))
    if device == "host":
        with pytest.raises(NotImplementedError):
            _dask.to_device_frames(d)
        return
    for view in d, d.T, d[::2, 1:4], d.reshape(2, 3, 4):
        header, (frame,) = _dask.to_device_frames(view)
        assert frame.dtype == np.uint8 and frame.nbytes == view.nbytes
        back = _dask.from_device_frames(header, [frame])
        assert (back.copy_to_host() == view.copy_to_host()).all() and back.shape == view.shape


# --- the examples ---


@pytest.mark.host_only("the next test is for GPUs")
def test_heat_on_the_host():
    done = subprocess.run([sys.executable, CLUSTER / "heat_gpus.py", "--rows", "66", "--columns", "40", "--steps", "6", "--slabs", "3"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "  3 slabs: largest error" in done.stdout and "matches NumPy" in done.stdout and "  1 device: " in done.stdout


@needs_standin
def test_heat_on_two_gpus():
    out = run_on_two(CLUSTER / "heat_gpus.py", "--rows", 34, "--columns", 33, "--steps", 3)
    assert "  2 slabs: largest error" in out and "matches NumPy" in out and "  2 devices: " in out


@pytest.mark.parametrize("script", sorted(p.name for p in (CLUSTER / "slurm").glob("*.sh")))
def test_scripts_are_valid(script):
    path = CLUSTER / "slurm" / script
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", path], check=True)


def test_every_example_is_listed():
    readme = (ROOT / "examples" / "README.md").read_text()
    for folder in "cluster", "cluster/slurm", "libraries":
        for path in (ROOT / "examples" / folder).glob("*.*"):
            assert f"{folder}/{path.name}" in readme, path
