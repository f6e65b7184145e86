"""Engines that spread work over processes and devices, and libraries that call kernels: Dask, MPI, joblib, PyTorch, JAX, SLURM's scripts.

Each result is compared with NumPy's, or with the library's own. Workers are processes, as in a cluster; on a machine without a GPU they compute
on the host device. What SLURM itself does is not tested: its srun is a script that starts the processes by mpiexec, with SLURM's variables.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyptx import cuda

ROOT = Path(__file__).resolve().parents[2]
CLUSTER, LIBRARIES = ROOT / "examples" / "cluster", ROOT / "examples" / "libraries"
MPIEXEC = Path(sys.executable).parent / "mpiexec"
SINGLE = {**os.environ, "PYPTX_HOST_THREADS": "1", "OMP_NUM_THREADS": "1"}  # of two processes on two cores


def output(*command, **options):
    """What a command prints; it must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, **{"env": SINGLE, **options})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- Dask ---


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


def adding(amount):
    """A function of the kind that notebooks have: its kernel is known by value alone, and travels with it."""

    @cuda.jit
    def add(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += amount

    def add_to_chunk(chunk):
        out = chunk.copy()
        add[-(-out.size // 64), 64](out.reshape(-1))
        return out

    return add_to_chunk


def heat_step():
    @cuda.jit
    def step(u, new):
        i, j = cuda.grid(2)
        if i < u.shape[0] and j < u.shape[1]:
            inside = 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1
            new[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) * 0.25 if inside else u[i, j]

    def one(chunk):
        new = np.empty_like(chunk)
        step[(-(-chunk.shape[0] // 8), -(-chunk.shape[1] // 8)), (8, 8)](np.ascontiguousarray(chunk), new)
        return new

    return one


def test_map_blocks(client):
    import dask.array as da

    a = np.arange(120 * 70, dtype=np.int64).reshape(120, 70)
    x = da.from_array(a, chunks=(50, 40))
    assert (x.map_blocks(adding(7), dtype=x.dtype).compute() == a + 7).all()
    assert x.map_blocks(adding(1), dtype=x.dtype).map_blocks(adding(2), dtype=x.dtype).sum().compute() == (a + 3).sum()


def test_map_overlap(client):
    import dask.array as da

    a = np.random.default_rng(1).random((90, 110))
    x, step = da.from_array(a, chunks=(40, 50)), heat_step()
    for _ in range(3):
        x = x.map_overlap(step, depth=1, boundary="none")
    want = a.copy()
    for _ in range(3):
        want[1:-1, 1:-1] = (want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:]) * 0.25
    # the rim of a chunk is kept in each step too, but belongs to the overlap, which is cut away; and these are the same operations in the same order
    assert (x.compute() == want).all()


def test_device_arrays_between_workers(client):
    first, second = client.scheduler_info(n_workers=-1)["workers"]
    a = np.random.default_rng(2).random((300, 200))
    for values in a, np.asfortranarray(a), a.astype(np.float16), np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]), a[:0]:
        there = client.submit(cuda.to_device, values, workers=[first], pure=False)
        back = client.submit(lambda d: (type(d).__name__, d.copy_to_host(), d.strides, d.device.is_host), there, workers=[second], pure=False).result()
        assert back[0] == "DeviceArray" and back[1].dtype == values.dtype and (back[1] == values).all() and (back[2] == values.strides or not values.size)
        assert (there.result().copy_to_host() == values).all()  # and to the client


def test_scattered_device_arrays_and_their_sizes(client):
    from dask.sizeof import sizeof

    d = cuda.to_device(np.arange(100_000.0))
    assert 800_000 <= sizeof(d) < 801_000
    (future,) = client.scatter([d])
    assert client.submit(lambda d: float(d.copy_to_host().sum()), future).result() == np.arange(100_000.0).sum()


@pytest.mark.parametrize("order", ["import distributed, pyptx.cuda", "import pyptx.cuda, distributed", "import pyptx.cuda, dask.array, distributed.protocol"])
def test_serialisation_is_registered_in_any_order(order):
    code = f"""
{order}
import sys
import numpy as np
from distributed.protocol import deserialize, serialize
from pyptx import cuda
assert not any(type(finder).__module__ == "pyptx._dask" for finder in sys.meta_path)
d = cuda.to_device(np.arange(1000.0))
header, frames = serialize(d)
assert header["serializer"] == "dask", header
if d.device.is_host:
    assert np.shares_memory(np.frombuffer(frames[0]), np.from_dlpack(d))
    frame = bytearray(frames[0])
    e = deserialize(header, [frame])
    assert np.shares_memory(np.frombuffer(frame), np.from_dlpack(e))
    read_only = deserialize(header, [bytes(frame)])
    read_only[0] = 5.0
e = deserialize(header, [bytearray(memoryview(frames[0]))])
assert (e.copy_to_host() == np.arange(1000.0)).all()
"""
    output(sys.executable, "-c", code)


def test_what_arrives_first_is_understood():
    """A process that has met no device array before: it only receives."""
    send = "import sys, pickle, numpy, distributed\nfrom distributed.protocol import serialize\nfrom pyptx import cuda\n" \
           "h, f = serialize(cuda.to_device(numpy.arange(5.0)))\nsys.stdout.buffer.write(pickle.dumps((h, [bytes(x) for x in f])))"
    data = subprocess.run([sys.executable, "-c", send], capture_output=True, check=True, timeout=120).stdout
    receive = "import sys, pickle, distributed\nfrom distributed.protocol import deserialize\nprint(deserialize(*pickle.loads(sys.stdin.buffer.read()))" \
              ".copy_to_host().tolist())"
    done = subprocess.run([sys.executable, "-c", receive], input=data, capture_output=True, timeout=120)
    assert done.stdout.decode().strip() == "[0.0, 1.0, 2.0, 3.0, 4.0]", done.stderr.decode()


def test_the_dask_example():
    assert "map_blocks True, map_overlap True, device arrays between workers True" in output(sys.executable, CLUSTER / "with_dask.py")


# --- MPI ---


EXCHANGE = """
import numpy as np
from mpi4py import MPI
from pyptx import cuda

comm, other = MPI.COMM_WORLD, 1 - MPI.COMM_WORLD.rank
for dtype in np.float32, np.float64, np.int16, np.complex64:
    d, got = cuda.to_device(np.arange(10).astype(dtype) + comm.rank), cuda.device_array(10, dtype)
    comm.Sendrecv(d, other, 0, got, other, 0)
    assert (got.copy_to_host() == np.arange(10).astype(dtype) + other).all()
total = cuda.device_array(10, np.float64)
comm.Allreduce(cuda.to_device(np.arange(10.0) * (comm.rank + 1)), total)
assert (total.copy_to_host() == np.arange(10) * 3.0).all()
rows = cuda.to_device(np.full((3, 4), float(comm.rank)))
comm.Sendrecv(rows[1], other, 1, rows[2], other, 1)  # a row to fill is a view
assert rows.copy_to_host()[:, 0].tolist() == [comm.rank, comm.rank, other]
everything = comm.allgather(cuda.to_device(np.arange(3) + comm.rank))  # by pickle
assert [d.copy_to_host().tolist() for d in everything] == [[0, 1, 2], [1, 2, 3]]
print("done", cuda.local_rank())
"""


def test_device_arrays_are_buffers_of_mpi():
    if not cuda.get_current_device().is_host:
        pytest.skip("the MPI of PyPI is not built for CUDA: examples/cluster/heat_mpi.py --staged")
    assert sorted(output(MPIEXEC, "-n", 2, sys.executable, "-c", EXCHANGE).split("\n")[:-1]) == ["done 0", "done 1"]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("staged", [[], ["--staged"]])
def test_heat_with_mpi(ranks, staged):
    if not staged and not cuda.get_current_device().is_host:
        pytest.skip("the MPI of PyPI is not built for CUDA")
    out = output(MPIEXEC, "-n", ranks, sys.executable, CLUSTER / "heat_mpi.py", "--rows", 65, "--columns", 50, "--steps", 20, *staged)
    assert f"in {ranks} process" in out and "matches NumPy" in out


# --- joblib ---


def work_on_device(d, factor):
    """A device array in, a device array out, in another process."""

    @cuda.jit
    def times(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= factor

    times.forall(d.size)(d)
    return d, os.getpid()


def test_joblib():
    from joblib import Parallel, delayed

    a = np.arange(1000.0)
    results = Parallel(n_jobs=2)(delayed(work_on_device)(cuda.to_device(a), k) for k in range(6))
    assert all((d.copy_to_host() == a * k).all() for k, (d, _) in enumerate(results))
    assert os.getpid() not in {pid for _, pid in results}


# --- PyTorch and JAX ---


def test_an_operator_of_pytorch():
    out = output(sys.executable, LIBRARIES / "torch_op.py")
    assert "values True, gradients True" in out and "opcheck passed; under torch.compile True" in out


def test_torch_distributed_on_the_cpu():
    out = output(sys.executable, CLUSTER / "with_torch.py", 2, env={**SINGLE, "PYPTX_DEVICE": "host", "CUDA_VISIBLE_DEVICES": ""})
    assert "2 processes with gloo" in out and "matches NumPy" in out


def test_torchrun():
    out = output(Path(sys.executable).parent / "torchrun", "--nproc-per-node", 2, "--master-port", 29613, CLUSTER / "with_torch.py",
                 env={**SINGLE, "PYPTX_DEVICE": "host", "CUDA_VISIBLE_DEVICES": ""})
    assert "2 processes with gloo" in out and "matches NumPy" in out


def test_nccl_on_two_gpus():
    if len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")
    out = output(sys.executable, CLUSTER / "with_torch.py", 2)
    assert "2 processes with NCCL" in out and "matches NumPy" in out


def test_a_call_from_jax():
    out = output(sys.executable, LIBRARIES / "jax_call.py")
    assert "under jit True, gradients True" in out and "False" not in out


# --- one process, several GPUs ---


def test_heat_on_what_there_is():
    out = output(sys.executable, CLUSTER / "heat_gpus.py", env=os.environ)
    assert "matches NumPy" in out and f"  {max(len(cuda.gpus), 1)} device" in out


# --- SLURM ---


SRUN = """#!/bin/sh
# srun, with two tasks on this machine
export PYPTX_TESTS_SRUN=yes
exec "{mpiexec}" -n 2 sh -c 'SLURM_LOCALID=$MPI_LOCALRANKID; export SLURM_LOCALID; unset MPI_LOCALRANKID; exec "$@"' task "$@"
"""


def test_the_job_of_slurm(tmp_path):
    path = f"{tmp_path}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    srun = tmp_path / "srun"
    srun.write_text(SRUN.format(mpiexec=MPIEXEC))
    srun.chmod(0o755)
    submitted = tmp_path / "examples" / "cluster" / "slurm"  # the folder that sbatch was called in
    submitted.mkdir(parents=True)
    for name in "heat_gpus.py", "heat_mpi.py":
        (submitted.parent / name).symlink_to(CLUSTER / name)
    built = output(CLUSTER / "slurm" / "prepare.sh", submitted / "build", "sm_90", env={**SINGLE, "PATH": path})
    assert "heat.json" in built and (submitted / "build" / "heat.fatbin").stat().st_size > 1000
    env = {**SINGLE, "PATH": path, "USER": "somebody", "SLURM_JOB_ID": "17", "SLURM_SUBMIT_DIR": str(submitted), "SLURM_TMPDIR": str(tmp_path)}
    job = ["bash", CLUSTER / "slurm" / "heat.sh", "--rows", 66, "--columns", 40, "--steps", 5, "--staged"]
    out = output(*job, env=env)
    assert "in 2 processes" in out and "matches NumPy" in out
    kept = [p for p in (tmp_path / "pyptx-somebody-17").rglob("*") if p.is_file()]
    assert kept or not cuda.get_current_device().is_host, "the node's own cache holds the kernel"
    without = subprocess.run(["bash", CLUSTER / "slurm" / "heat.sh"], capture_output=True, text=True, env={**SINGLE, "USER": "somebody"}, timeout=60)
    assert without.returncode != 0 and "sbatch heat.sh" in without.stderr
