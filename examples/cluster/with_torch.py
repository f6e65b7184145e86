"""Tensors that kernels fill, summed over processes by torch.distributed: NCCL with a GPU for each process, else gloo on the CPU.

    torchrun --nproc-per-node 2 with_torch.py      or, without a launcher: python with_torch.py [PROCESSES]

Needs torch.
"""

import os
import socket
import sys
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from pyptx import cuda
from torch.multiprocessing.spawn import spawn  # pyright: ignore[reportUnknownVariableType]

N = 100_000


@cuda.jit
def fill(x: cuda.Array, rank: int) -> None:
    i = cuda.grid(1)
    if i < x.size:
        x[i] = np.float32(i) * (rank + 1)


@cuda.jit
def halve(x: cuda.Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= np.float32(0.5)


def work() -> int:
    """One process: its tensor is filled by a kernel, summed with those of the others, and used by a kernel again."""
    device = cuda.select_local_device()
    use_nccl = not device.is_host
    if use_nccl:
        torch.cuda.set_device(device.id)
    dist.init_process_group("nccl" if use_nccl else "gloo")  # rank and address from the environment
    rank, size = dist.get_rank(), dist.get_world_size()
    x = torch.empty(N, device=f"cuda:{device.id}" if use_nccl else "cpu")
    fill[-(-N // 256), 256](x, rank)  # on PyTorch's current stream
    dist.all_reduce(x)  # NCCL's stream waits for it, and the current stream for NCCL's
    halve[-(-N // 256), 256](x)
    # products up to 2**24 are exact in float32, larger ones and the sums of `size` of them are rounded, each by half an ulp of the sum
    want = np.arange(N) * (size * (size + 1) / 4)
    good = bool((abs(x.cpu().numpy() - want) <= 2 * size * np.finfo(np.float32).eps * want).all())
    seen: list[Any] = [None] * size
    dist.all_gather_object(seen, (good, device.name))
    dist.destroy_process_group()
    if rank == 0:
        print(f"{size} processes with {'NCCL' if use_nccl else 'gloo'} on {', '.join(name for _, name in seen)}")
        print("matches NumPy" if all(ok for ok, _ in seen) else "does NOT match NumPy", flush=True)
    return 0 if good else 1


def spawned(rank: int, size: int, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(size))
    sys.exit(work())


def main() -> int:
    if "LOCAL_RANK" in os.environ:  # torchrun
        return work()
    size = int(sys.argv[1]) if len(sys.argv) > 1 else len(cuda.gpus) or 2
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    # spawned, since CUDA does not survive a fork
    spawn(spawned, (size, port), nprocs=size)  # type: ignore[no-untyped-call]
    return 0


if __name__ == "__main__":
    sys.exit(main())
