"""Heat on a plate over the processes of an MPI job: a slab of rows for each, halos exchanged as device arrays.

    mpiexec -n 2 python heat_mpi.py [--staged] [--module heat.json] [--rows N] [--columns N] [--steps N]

mpi4py takes device arrays as they are: those of the host device are memory of the host, those of a GPU need an MPI that was built for CUDA.
With any other MPI, --staged sends the halos through pinned memory. --module loads the kernel that slurm/prepare.sh compiled, on GPUs. Needs mpi4py;
rank 0 checks the result against NumPy.
"""

import argparse
import sys
import time

import numpy as np
from heat_gpus import BLOCK, R, blocks, heat, hot_plate, reference
from mpi4py import MPI
from pyptx import cuda


class Halos:
    """The rows that a slab shows its neighbours, and the rows that it has of them."""

    def __init__(self, comm: MPI.Intracomm, columns: int, staged: bool) -> None:
        self.comm = comm
        self.above = comm.rank - 1 if comm.rank else MPI.PROC_NULL
        self.below = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
        self.buffers = cuda.pinned_array((4, columns), np.float32) if staged else None

    def exchange(self, u: cuda.DeviceNDArray) -> None:
        rows = u[0], u[-1], u[1], u[-2]  # two to fill, two to send
        if self.buffers is not None:
            for row, buffer in zip(rows[2:], self.buffers[2:]):
                row.copy_to_host(buffer)
        else:
            cuda.synchronize()  # MPI knows nothing of streams
        first, last, top, bottom = rows if self.buffers is None else self.buffers
        MPI.Request.Waitall([
            self.comm.Irecv(first, self.above), self.comm.Irecv(last, self.below),
            self.comm.Isend(top, self.above), self.comm.Isend(bottom, self.below),
        ])  # fmt: skip
        if self.buffers is not None:
            for row, buffer, of in zip(rows, self.buffers, (self.above, self.below)):
                if of != MPI.PROC_NULL:
                    row.copy_to_device(buffer)


def main() -> int:
    parser = argparse.ArgumentParser(description="Heat on a plate over the processes of an MPI job.")
    parser.add_argument("--staged", action="store_true", help="send halos through the host's memory")
    parser.add_argument("--module", help="the description of the compiled kernel")
    for name, default in ("rows", 514), ("columns", 512), ("steps", 50):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    comm = MPI.COMM_WORLD
    device = cuda.select_local_device()
    step = cuda.Module(args.module)["heat"] if args.module and not device.is_host else heat
    plate = hot_plate(args.rows, args.columns)
    at = np.linspace(1, len(plate) - 1, comm.size + 1).astype(int)
    first, last = at[comm.rank], at[comm.rank + 1]
    u, new = (cuda.to_device(plate[first - 1 : last + 1]) for _ in range(2))
    halos = Halos(comm, args.columns, args.staged)
    count = last - first
    comm.Barrier()
    start = time.perf_counter()
    for _ in range(args.steps):
        step[blocks(count, args.columns), BLOCK](u, new, 1, 1, count, R)
        u, new = new, u
        halos.exchange(u)
    cuda.synchronize()
    seconds = comm.allreduce(time.perf_counter() - start, MPI.MAX)
    names = comm.gather(f"{MPI.Get_processor_name()}: {device.name} {max(device.id, 0)}")
    parts = comm.gather(u.copy_to_host()[1:-1])
    if names is None or parts is None:  # only rank 0 has them
        return 0
    print(f"{args.steps} heat steps of {args.rows} x {args.columns} float32 in {comm.size} processes ({', '.join(names)})")
    print(f"  {1e3 * seconds / args.steps:.3f} ms a step")
    # as in heat_gpus.py: an explicit step adds at most five roundings of values up to 4 times r, and two of values up to 1
    bound = args.steps * (5 * 4 * R + 2) * np.finfo(np.float32).eps / 2
    error = np.abs(np.concatenate([plate[:1], *parts, plate[-1:]]) - reference(plate, args.steps)).max()
    print(f"  largest error {error:.1e}, bound {bound:.1e}")
    print("matches NumPy" if error <= bound else "does NOT match NumPy")
    return 0 if error <= bound else 1


if __name__ == "__main__":
    sys.exit(main())
