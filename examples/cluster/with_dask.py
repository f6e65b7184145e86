"""Kernels in Dask: map_blocks and map_overlap over the chunks of an array, on two workers; device arrays between tasks.

    python with_dask.py                    a LocalCluster of two processes
    python with_dask.py tcp://host:8786    the workers of a running scheduler, such as dask-cuda's, one for each GPU

Needs dask[array] and distributed.
"""

# Dask's own annotations are incomplete.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import sys

import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, LocalCluster
from pyptx import cuda

Floats = npt.NDArray[np.float32]


@cuda.jit
def smooth_kernel(x: cuda.Array, out: cuda.Array) -> None:
    """The mean of each inner element and its four neighbours; the rim as it is."""
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
            out[i, j] = (x[i, j] + x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) / np.float32(5)
        else:
            out[i, j] = x[i, j]


@cuda.jit
def scale_kernel(x: cuda.Array, factor: float) -> None:
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


def device_name() -> str:
    return cuda.get_current_device().name


def smooth(chunk: Floats) -> Floats:
    """A NumPy chunk, smoothed. With map_overlap it comes with a row and column of each neighbour."""
    out = np.empty_like(chunk)
    grid = -(-chunk.shape[1] // 32), -(-chunk.shape[0] // 8)
    smooth_kernel[grid, (32, 8)](np.ascontiguousarray(chunk), out)
    return out


def scaled(device_array: cuda.DeviceNDArray, factor: float) -> cuda.DeviceNDArray:
    """A new device array; it stays on the worker until another task wants it."""
    out = cuda.device_array_like(device_array)
    out.copy_to_device(device_array)
    scale_kernel.forall(out.size)(out, factor)
    return out


def reference(a: Floats) -> Floats:
    out = a.copy()
    out[1:-1, 1:-1] = (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 5
    return out


def main(address: str | None = None) -> int:
    cluster = None if address else LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]
    with Client(address or cluster) as client:  # type: ignore[no-untyped-call]
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        names = {client.submit(device_name, workers=[w], pure=False).result() for w in workers}
        print(f"{len(workers)} workers, on {', '.join(sorted(names))}")
        a = np.random.default_rng(1).random((1000, 900), np.float32)
        x = da.from_array(a, chunks=(300, 450))  # type: ignore[no-untyped-call]

        # a mean of five positive numbers, on both sides: four additions and a division, each rounded by half an ulp; 5 eps is less than rtol
        by_chunk = x.map_blocks(smooth, dtype=x.dtype)  # each chunk by itself
        alone = all(np.allclose(by_chunk.blocks[i].compute(), np.hstack([reference(c) for c in np.split(a[300 * i : 300 * i + 300], 2, 1)]), rtol=1e-6)
                    for i in range(3))
        whole = x.map_overlap(smooth, depth=1, boundary="none").compute()  # as if there were no chunks
        together = np.allclose(whole, reference(a), rtol=1e-6)

        chunk = client.submit(cuda.to_device, np.arange(5.0), workers=[workers[0]])
        moved = client.submit(scaled, chunk, 3, workers=[workers[-1]])  # the elements go to the other worker
        arrays = moved.result().copy_to_host().tolist() == [0, 3, 6, 9, 12]
    if cluster:
        cluster.close()
    print(f"map_blocks {alone}, map_overlap {together}, device arrays between workers {arrays}")
    correct = alone and together and arrays
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
