"""Time of a launch as the caller sees it, beside cuLaunchKernel from C with the same kernel and parameter block, and the peers.

    python bench/launch.py [--json OUT]

First three arrays, which the peers (numba-cuda, CuPy, Triton, PyTorch; what is installed) launch as well. Then a table by arguments: own
arrays (3, 4, 16), scalars (16), PyTorch's tensors and CuPy's arrays (4 each), a launch that was bound; each line beside a C loop that
launches the very kernel that pyptx compiled with the very same parameters, in the same process and turn by turn; "over C" is the median
of the differences of neighbours. "Bare extension" is the least that a launch from Python can cost: a C function that looks at no
argument, releases the GIL, calls cuLaunchKernel and takes the GIL again.

All in one process and taking turns, medians of batches of launches of a tiny kernel; the device is
drained between batches, outside the clock. "over C" is the difference to the driver call from a C
loop (from ctypes if there is no C compiler: then no floor). On the host device there is no driver:
the launch of an empty kernel is measured alone.
"""

import ctypes
import importlib.machinery
import importlib.util
import re
import shutil
import statistics
import struct
import subprocess
import sysconfig
import tempfile
import time
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
    library = compiled(C)
    if not library:
        return None
    many = library.launch_many
    address = ctypes.cast(driver.lib.cuLaunchKernel, ctypes.c_void_p)

    def work(n):
        assert many(address, function, 256, params, n) == 0

    return work


C_BLOCK = """
typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
void *, void **, void **); int launch_block(Launch launch, void *function, unsigned block, void *params, unsigned long bytes, int n) {
  void *extra[] = {(void *)1, params, (void *)2, &bytes, (void *)0};
  for (int i = 0; i < n; i++) {
    int result = launch(function, 1, 1, 1, block, 1, 1, 0, 0, 0, extra);
    if (result)
      return result;
  }
  return 0;
}
"""


EXTENSION = """
#include <Python.h>
typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static Launch launch;
static void *function;
static char params[4096];
static unsigned long bytes;

static PyObject *bare_set(PyObject *self, PyObject *args) {
  unsigned long long launch_at, function_at;
  Py_buffer block;
  if (!PyArg_ParseTuple(args, "KKy*", &launch_at, &function_at, &block))
    return NULL;
  launch = (Launch)launch_at;
  function = (void *)function_at;
  bytes = (unsigned long)block.len;
  memcpy(params, block.buf, bytes);
  PyBuffer_Release(&block);
  Py_RETURN_NONE;
}

static PyObject *bare_launch(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  void *extra[] = {(void *)1, params, (void *)2, &bytes, (void *)0};
  int result;
  Py_BEGIN_ALLOW_THREADS
  result = launch(function, 1, 1, 1, 256, 1, 1, 0, 0, 0, extra);
  Py_END_ALLOW_THREADS
  if (result)
    return PyErr_Format(PyExc_RuntimeError, "CUresult %d", result);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"set", bare_set, METH_VARARGS, 0}, {"launch", (PyCFunction)(void (*)(void))bare_launch, METH_FASTCALL, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "bare", 0, -1, methods};
PyMODINIT_FUNC PyInit_bare(void) { return PyModule_Create(&module); }
"""


def built(source, *flags):
    """Path of the C source as a library, or None without a C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return None
    folder = Path(tempfile.mkdtemp())
    (folder / "launch.c").write_text(source)
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", *flags, "-o", folder / "launch.so", folder / "launch.c"], check=True
    )
    return folder / "launch.so"


def compiled(source):
    """The C source as a library of ctypes, or None without a C compiler."""
    path = built(source)
    return path and ctypes.CDLL(str(path))


def bare_extension(driver, kernel, arguments):
    """A contestant: the same launch from an extension that does nothing else, or None without a C compiler or CPython's headers."""
    headers = Path(sysconfig.get_path("include"))
    path = built(EXTENSION, f"-I{headers}") if (headers / "Python.h").exists() else None
    if not path:
        return None
    spec = importlib.util.spec_from_file_location("bare", path, loader=importlib.machinery.ExtensionFileLoader("bare", str(path)))
    bare = importlib.util.module_from_spec(spec)
    function, params = function_and_block(driver, kernel, arguments)
    bare.set(ctypes.cast(driver.lib.cuLaunchKernel, ctypes.c_void_p).value, function.value, params)
    return loop(bare.launch, *arguments)


def block_floor(driver, library, kernel, arguments):
    """A contestant: n launches of what pyptx compiled for its only signature, from a C loop, with the very parameters."""
    function, params = function_and_block(driver, kernel, arguments)
    address = ctypes.cast(driver.lib.cuLaunchKernel, ctypes.c_void_p)

    def work(n):
        assert library.launch_block(address, function, 256, params, ctypes.c_ulong(len(params)), n) == 0

    return work


def function_and_block(driver, kernel, arguments):
    """What pyptx compiled for the kernel's only signature, loaded once more, and the parameters of such a launch."""
    (overload,) = kernel.overloads.values()
    function = driver.function(driver.load(overload.ptx.encode() + b"\0"), overload.symbol)
    return function, block_of(overload.ptx, overload.symbol, values_of(arguments))


def values_of(arguments):
    """What a kernel of kernel_of takes: each array's address, behind the first one's its extent too; then the numbers."""
    for i, a in enumerate(arguments):
        if isinstance(a, (int, float)):
            yield a
        else:
            yield a.data_ptr() if hasattr(a, "data_ptr") else a.__cuda_array_interface__["data"][0]
            if i == 0:
                yield a.shape[0]


def block_of(ptx, symbol, values):
    """The parameter block of a kernel, each value aligned as PTX aligns it."""
    header = ptx[ptx.index(f".entry {symbol}(") :]
    block = b""
    for line in header[: header.index(")")].splitlines():
        found = re.search(r"\.param\s+\.([a-z])(\d+)\b.*?,?$", line)
        if found:
            size, value = int(found[2]) // 8, next(values)
            form = {4: "f", 8: "d"} if isinstance(value, float) else {4: "i", 8: "q"}
            block += b"\0" * (-len(block) % size) + struct.pack(form[size], value)
    assert next(values, None) is None
    return block


def kernel_of(n, scalars=0):
    """A kernel of n arrays and so many scalars: all are used, so that all are passed."""
    names = [f"a{i}" for i in range(n)] + [f"s{i}" for i in range(scalars)]
    values = [f"a{i}[i]" for i in range(n)] + names[n:]
    scope = {"cuda": cuda}
    exec(
        f"def tiny({', '.join(names)}):\n i = cuda.grid(1)\n if i < a0.size:\n  a0[i] = {' + '.join(values)}\n",
        scope,
    )
    return cuda.jit(scope["tiny"])


def torch_tensors():
    import torch

    return [torch.zeros(256, device="cuda") for _ in range(4)]


def cupy_arrays():
    import cupy

    return [cupy.zeros(256, cupy.float32) for _ in range(4)]


def against(floor, ours):
    """Medians, of seconds a launch and of the difference in a round: one batch of each, in turns the one or the other first."""
    rounds = []
    for work in (floor, ours):
        work(3)
    for i in range(2 * REPEAT):
        seconds = {}
        for work in (floor, ours) if i % 2 else (ours, floor):
            cuda.synchronize()
            start = time.perf_counter()
            work(LAUNCHES)
            seconds[work] = (time.perf_counter() - start) / LAUNCHES
        rounds.append((seconds[floor], seconds[ours], seconds[ours] - seconds[floor]))
    cuda.synchronize()
    return [statistics.median(column) for column in zip(*rounds)]


def by_arguments(driver, args):
    """The second table."""
    library = compiled(C_BLOCK)
    if not library:
        print("no C compiler: no floor")
        return
    own = [cuda.to_device(np.zeros(256, np.float32)) for _ in range(16)]
    report = Report(
        "launch of a tiny kernel, by arguments",
        [("what", 28), ("µs", 8), ("C, µs", 8), ("over C, µs", 10), ("at most", 8)],
    )
    cases = [
        ("3 own arrays", lambda: own[:3], False, None),
        ("4 own arrays", lambda: own[:4], False, 0.15),
        ("16 own arrays", lambda: own, False, 0.3),
        ("16 scalars and an array", lambda: own[:1] + list(range(8)) + [0.5] * 8, False, 0.3),
        ("4 PyTorch tensors", torch_tensors, False, 0.6),
        ("4 CuPy arrays", cupy_arrays, False, 3.0),
        ("4 own arrays, bound", lambda: own[:4], True, None),
        ("4 PyTorch tensors, bound", torch_tensors, True, None),
    ]
    for name, make, bound, most in cases:
        try:
            arguments = make()
        except Exception as e:
            print(f"  ({name}: {type(e).__name__})")
            continue
        kernel = kernel_of(*(1, 16) if len(arguments) == 17 else (len(arguments),))
        configured = kernel[1, 256]
        configured(*arguments)
        cuda.synchronize()
        ours = loop(configured.bind(*arguments)) if bound else loop(configured, *arguments)
        floor = block_floor(driver, library, kernel, arguments)
        c, s, over = against(floor, ours)
        report.row(name, s * 1e6, c * 1e6, over * 1e6, most)
        bare = bare_extension(driver, kernel, arguments) if name == "4 own arrays" else None
        if bare:
            c, s, over = against(floor, bare)
            report.row("  bare extension", s * 1e6, c * 1e6, over * 1e6, None)
    report.save(args.json and args.json.with_suffix(".arguments.json"), device=cuda.get_current_device().name)


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
    contestants["pyptx, bound"] = loop(add[1, 256].bind(*arrays))
    contestants["pyptx, k[1, 256](...)"] = lambda count: [add[1, 256](*arrays) for _ in range(count)] and None
    contestants.update(peers(n))
    seconds = batches(contestants, LAUNCHES, REPEAT, cuda.synchronize)
    base = seconds.get("C, cuLaunchKernel")
    for name, s in seconds.items():
        report.row(name, s * 1e6, base and s / base, base and (s - base) * 1e6)
    report.save(args.json, device=device.name)
    by_arguments(driver, args)


if __name__ == "__main__":
    main()
