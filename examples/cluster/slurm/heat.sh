#!/usr/bin/env bash
#SBATCH --job-name=heat
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=00:10:00
# heat_mpi.py on the GPUs of two nodes, one process for each. Before: ./prepare.sh build, on the login node.
#
#   sbatch heat.sh        with an MPI that was not built for CUDA: sbatch heat.sh --staged
set -euo pipefail
here=${SLURM_SUBMIT_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}

# What is compiled on the nodes nevertheless is kept on their own disks, where it is fast, and not in a home folder that all nodes share.
export PYPTX_CACHE_DIR=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/pyptx-$USER-${SLURM_JOB_ID:?this is a job: sbatch heat.sh}

# srun sets SLURM_LOCALID in each process, by which cuda.select_local_device() takes its GPU.
srun python "$here/../heat_mpi.py" --module "$here/build/heat.json" --rows 16384 --columns 16384 --steps 200 "$@"
