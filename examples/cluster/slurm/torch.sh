#!/usr/bin/env bash
#SBATCH --job-name=torch
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --time=00:10:00
# with_torch.py on two nodes: one torchrun on each, which starts a process for each of its GPUs.
#
#   sbatch torch.sh
set -euo pipefail
here=${SLURM_SUBMIT_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
export PYPTX_CACHE_DIR=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/pyptx-$USER-${SLURM_JOB_ID:?this is a job: sbatch torch.sh}
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun torchrun --nnodes "$SLURM_NNODES" --nproc-per-node "${SLURM_GPUS_ON_NODE:-gpu}" \
  --rdzv-backend c10d --rdzv-id "$SLURM_JOB_ID" --rdzv-endpoint "$head:29500" "$here/../with_torch.py"
