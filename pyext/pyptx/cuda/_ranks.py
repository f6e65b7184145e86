"""Which device a process of a job works on: one of several on its machine."""

import os

from pyptx import _pyptx
from pyptx.cuda._devices import Gpus

# The number of a process among those of its machine, as its launcher says it: the first that is
# set.
LOCAL_RANKS = (
    "LOCAL_RANK",  # torchrun
    "OMPI_COMM_WORLD_LOCAL_RANK",  # Open MPI
    "MPI_LOCALRANKID",  # MPICH, Intel MPI
    "MV2_COMM_WORLD_LOCAL_RANK",  # MVAPICH
    "PALS_LOCAL_RANKID",  # HPE
    "FLUX_TASK_LOCAL_ID",
    "JSM_NAMESPACE_LOCAL_RANK",  # jsrun
    "SLURM_LOCALID",  # last: a launcher above may run inside of one task of a job
)


def local_rank():
    """The number of this process among those that its launcher started on this machine, from 0; 0
    for a process that nothing launched.

    Of torchrun, Open MPI, MPICH, Intel MPI, MVAPICH, PALS, Flux, jsrun and srun, by the variables
    that they set. ValueError if one of these is no number.

    Example:

        rank = cuda.local_rank()  # 0 in a program that was started by itself
    """
    for name in LOCAL_RANKS:
        text = os.environ.get(name)
        if text is None:
            continue
        if not (text.isascii() and text.isdigit()):
            raise ValueError(f"{name} is '{text[:40]}': a launcher sets it to the number of the process on its machine, 0, 1, …")
        return int(text)
    return 0


def select_local_device():
    """Selects the GPU for this process among those that it sees, number ``local_rank() %
    len(gpus)``, and returns it; without a GPU, or where ``PYPTX_DEVICE=host`` says so, the host
    device.

    Processes share GPUs where there are more processes; a process that sees one GPU
    (CUDA_VISIBLE_DEVICES, ``srun --gpus-per-task=1``) takes that. As :func:`select_device`, for the
    calling thread. ValueError as :func:`local_rank`. ::

        device = cuda.select_local_device()
    """
    rank, count = local_rank(), len(Gpus())
    return _pyptx.select_device(rank % count if count else "host")
