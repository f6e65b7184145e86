"""Time of a launch as the caller sees it: three arrays, beside cuLaunchKernel from C and, where they are installed, the peers.

    python bench/launch.py [--json OUT]

All in one process and taking turns, medians of batches of launches of a tiny kernel; the device is
drained between batches, outside the clock. "over C" is the difference to the driver call from a C
loop (from ctypes if there is no C compiler: then no floor). On the host device there is no driver:
the launch of an empty kernel is measured alone.
"""

import ctypes
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from _bench import Driver, Report, batches, loop, parser
from pyptx import cuda

LAUNCHES, REPEAT = 200, 31

PTX = b"""
.version 6.4
.target sm_75
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<12>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.u32 %d4, %r5, 4;
  cvta.to.global.u64 %d5, %d1; cvta.to.global.u64 %d6, %d2; cvta.to.global.u64 %d7, %d3;
  add.u64 %d8, %d5, %d4; add.u64 %d9, %d6, %d4; add.u64 %d10, %d7, %d4;
  ld.global.f32 %f1, [%d8]; ld.global.f32 %f2, [%d9];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%d10], %f3;
done:
  ret;
}
\0"""

C = """
typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
void *, void **, void **); int launch_many(Launch launch, void *function, unsigned block, void
**params, int n) {
  for (int i = 0; i < n; i++) {
    int result = launch(function, 1, 1, 1, block, 1, 1, 0, 0, params, 0);
    if (result)
      return result;
  }
  return 0;
}
"""


def c_floor(driver, function, params):
    """A contestant: n launches from a C loop, or None without a C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return None
    folder = Path(tempfile.mkdtemp())
    (folder / "launch.c").write_text(C)
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-o", folder / "launch.so", folder / "launch.c"], check=True
    )
    many = ctypes.CDLL(str(folder / "launch.so")).launch_many
    address = ctypes.cast(driver.lib.cuLaunchKernel, ctypes.c_void_p)

    def work(n):
        assert many(address, function, 256, params, n) == 0

    return work


def peers(n):
    """Contestants among what is installed, each adding three arrays of n float32."""
    try:
        warnings.simplefilter("ignore")  # numba's about small grids
        if not hasattr(np, "row_stack"):
            np.row_stack = np.vstack  # numba-cuda imports what NumPy 2.5 dropped
        import numba.cuda as nb

        @nb.jit
        def nb_add(x, y, out):
            i = nb.grid(1)
            if i < out.size:
                out[i] = x[i] + y[i]

        arrays = [nb.to_device(np.zeros(n, np.float32)) for _ in range(3)]
        nb_add[1, 256](*arrays)
        yield "numba-cuda", loop(nb_add[1, 256], *arrays)
    except Exception as e:
        print(f"  (numba-cuda: {type(e).__name__}: {e})")
    try:
        import cupy

        raw = cupy.RawKernel(
            'extern "C" __global__ void add(const float *x, const float *y, float *out, int n) {'
            "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = x[i] + y[i]; }",
            "add",
        )
        a = [cupy.zeros(n, cupy.float32) for _ in range(3)]
        yield "CuPy RawKernel", loop(raw, (1,), (256,), (*a, n))
    except Exception as e:
        print(f"  (CuPy: {type(e).__name__})")
    try:
        import torch

        t = [torch.zeros(n, device="cuda") for _ in range(3)]
        yield "torch.add", loop(lambda x, y, out: torch.add(x, y, out=out), *t)
    except Exception as e:
        print(f"  (torch: {type(e).__name__})")
    try:
        import _triton_add

        yield "Triton", _triton_add.contestant(n, loop)
    except Exception as e:
        print(f"  (Triton: {type(e).__name__})")


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def nothing(x, y, out):
    pass


def main():
    args = parser(__doc__).parse_args()
    device = cuda.get_current_device()
    n = 256
    arrays = [cuda.to_device(np.zeros(n, np.float32)) for _ in range(3)]
    add[1, 256](*arrays)
    cuda.synchronize()
    report = Report(
        f"launch of a kernel with 3 arrays on {device.name}",
        [("what", 28), ("µs", 8), ("ratio to C", 10), ("over C, µs", 10)],
    )
    if device.is_host:
        nothing[1, 1](*arrays)
        seconds = batches(
            {"pyptx, host device, empty kernel": loop(nothing[1, 1], *arrays)},
            LAUNCHES,
            REPEAT,
            cuda.synchronize,
        )
        for name, s in seconds.items():
            report.row(name, s * 1e6, None, None)
        report.save(args.json, device=device.name)
        return

    driver = Driver()
    function = driver.function(driver.load(PTX), "add")
    values = [ctypes.c_uint64(a.__cuda_array_interface__["data"][0]) for a in arrays] + [ctypes.c_uint32(n)]
    params = (ctypes.c_void_p * 4)(*(ctypes.addressof(v) for v in values))
    contestants = {}
    floor = c_floor(driver, function, params)
    if floor:
        contestants["C, cuLaunchKernel"] = floor
    contestants["ctypes, cuLaunchKernel"] = loop(
        driver.lib.cuLaunchKernel, function, 1, 1, 1, n, 1, 1, 0, None, params, None
    )
    contestants["pyptx, configured"] = loop(add[1, 256], *arrays)
    contestants["pyptx, k[1, 256](...)"] = lambda count: [add[1, 256](*arrays) for _ in range(count)] and None
    contestants.update(peers(n))
    seconds = batches(contestants, LAUNCHES, REPEAT, cuda.synchronize)
    base = seconds.get("C, cuLaunchKernel")
    for name, s in seconds.items():
        report.row(name, s * 1e6, base and s / base, base and (s - base) * 1e6)
    report.save(args.json, device=device.name)


if __name__ == "__main__":
    main()
