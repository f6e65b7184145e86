#!/usr/bin/env bash
# On the login node, once: compiles the kernel for the GPUs of the cluster, so that jobs only load it. No GPU is needed, only ptxas and
# fatbinary (pip install nvidia-cuda-nvcc).
#
#   ./prepare.sh [FOLDER] [ARCHITECTURES]      ./prepare.sh build sm_80,sm_90
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-build}
archs=${2:-sm_80,sm_90}
mkdir -p "$out"
pyptx compile "$here/../heat_gpus.py:heat" --arch "$archs" --emit fatbin,json -o "$out/heat.json" \
  --sig "float32[:,::1], float32[:,::1], pyint, pyint, pyint, pyfloat"
echo "$out/heat.json and $out/heat.fatbin, for $archs"
