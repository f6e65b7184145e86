# Sourced by the other scripts: where things are, how the rooms and the wheels are built.
#
# Settings, all from the environment:
#   JOBS        parallel jobs (default: the number of cores)
#   PYTHON      the interpreter that .venv is made from (default: the system's python3)
#   SKIP_SETUP  1: take the machine as it is
#   EXTRA_PYTHONS   versions beside .venv's that get an environment where the machine has them (3.12 3.13)
#   EXTRA_PACKAGES  of the system, that scripts/setup installs beside its own
#   CCACHE_DIR  as ccache itself reads it
# shellcheck shell=bash

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}
export CMAKE_BUILD_PARALLEL_LEVEL=$JOBS
EXTRA_PYTHONS=${EXTRA_PYTHONS-3.12 3.13}

say() { printf '\n== %s\n' "$*"; }
note() { printf '   %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

setup() {
  if [ "${SKIP_SETUP:-0}" != 1 ]; then "$ROOT/scripts/setup"; fi
}

# The virtual environments that scripts/setup made, .venv first.
venvs() {
  [ -x .venv/bin/python ] || die "no .venv: run scripts/setup"
  echo .venv
  local v
  for v in $EXTRA_PYTHONS; do
    if [ -x ".venv-$v/bin/python" ]; then echo ".venv-$v"; fi
  done
}

# A machine without a CUDA toolkit gets ptxas and libdevice from the package that scripts/setup installed.
use_packaged_toolkit() {
  local home
  command -v ptxas >/dev/null && return
  for home in "$ROOT"/.venv/lib/python3*/site-packages/nvidia/cuda_nvcc; do
    [ -x "$home/bin/ptxas" ] || continue
    note "ptxas and libdevice: ${home#"$ROOT"/}"
    export CUDA_HOME=$home PATH=$home/bin:$PATH
    return
  done
}

# configure DIR OPTIONS...: CMake.
configure() {
  cmake -S . -B "$1" -G Ninja -DWERROR=ON "${@:2}" >"$1.log" 2>&1 || {
    cat "$1.log" >&2
    return 1
  }
}

# configure_and_check DIR OPTIONS...: builds the rooms and their C tests in DIR and runs CTest, of CHECK_ONLY's names if that is set.
configure_and_check() {
  local dir=$1 only
  configure "$@" || return 1
  if [ -n "${CHECK_ONLY:-}" ]; then
    mapfile -t only < <(ctest --test-dir "$dir" -N -R "$CHECK_ONLY" | sed -n 's/^ *Test *#[0-9]*: //p') # each is a program's name
    cmake --build "$dir" --target "${only[@]}" || return 1
    ctest --test-dir "$dir" --output-on-failure -R "$CHECK_ONLY"
  else
    cmake --build "$dir" || return 1
    cmake --build "$dir" --target check
  fi
}

# install_into VENV [OPTIONS...]: builds the module for that interpreter and installs it there, with its sources.
# OPTIONS go to pip.
install_into() {
  "$1/bin/python" -m pip install --quiet --no-deps --no-build-isolation --no-index "${@:2}" .
}

# use_standin: the stand-in driver that was built last with the C tests; what needs it is skipped without it.
use_standin() {
  local built
  built=$(ls -t build/{release,dev}/standin/libcuda.so.1 2>/dev/null | head -n 1) || true
  if [ -n "$built" ]; then export PYPTX_STANDIN=$ROOT/$built; fi
}

# .venv-full: as .venv, with requirements-full.txt, and pyptx in it.
full_environment() {
  if [ ! -x .venv-full/bin/python ]; then
    say ".venv-full: as .venv, with requirements-full.txt"
    .venv/bin/python -m venv .venv-full
  fi
  .venv-full/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -r requirements-full.txt
  install_into .venv-full
}

# tee_out NAME: copies its input to the terminal, and to $OUT/NAME where OUT is set.
tee_out() {
  if [ -n "${OUT:-}" ]; then tee "$OUT/$1"; else cat; fi
}

# With root's rights, where there is sudo or we have them.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
