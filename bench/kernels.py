"""Kernel times beside nvcc -O3 of the same natural source (bench/kernels.cu), in one process; results are compared.

    python bench/kernels.py [--json OUT] [--only NAME]

Medians of 9 batches of 10 launches, each batch timed by events; the two take turns. The ratio is
pyptx's time over nvcc's: below 1 pyptx is faster. Needs a GPU and nvcc.
"""

import ctypes
import importlib.util
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _bench import Driver, Report, need_gpu, parser
from pyptx import cuda, float32

HERE = Path(__file__).resolve().parent
LAUNCHES, BATCHES = 10, 9


def example(name):
    spec = importlib.util.spec_from_file_location(name, HERE.parent / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cuda.jit
def vadd(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 32 + ty, cuda.blockIdx.x * 32 + tx
    acc = 0.0
    for start in range(0, a.shape[1], 32):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for i in range(32):
            acc += tile_a[ty, i] * tile_b[i, tx]
        cuda.syncthreads()
    c[row, col] = acc


class Case:
    """One kernel: our dispatcher, the name in kernels.cu, a configuration, and arguments for both."""

    def __init__(self, name, kernel, symbol, grid, block, ours, theirs, outputs, rtol):
        self.__dict__.update(locals())


def cases():
    rng = np.random.default_rng(1)
    dev = cuda.to_device

    def rand(*shape):
        return dev(rng.random(shape, np.float32))

    def like(a):
        return dev(np.zeros(a.shape, a.dtype))

    n = 1 << 26
    x, y, out = rand(n), rand(n), dev(np.zeros(n, np.float32))
    for threads in (128, 256, 1024):
        yield Case(
            f"vadd 2^26, {threads}",
            vadd,
            "vadd",
            n // threads,
            threads,
            (x, y, out),
            (x, y, out, n),
            [out],
            0,
        )
    yield Case(
        "saxpy 2^26, 256",
        saxpy,
        "saxpy",
        n // 256,
        256,
        (2.5, x, y, out),
        (np.float32(2.5), x, y, out, n),
        [out],
        0,
    )
    transpose = example("transpose").transpose
    a = rand(8192, 8192)
    b = like(a)
    yield Case(
        "transpose 8192^2", transpose, "transpose", (256, 256), (32, 8), (a, b), (a, b, 8192, 8192), [b], 0
    )
    jacobi = example("jacobi").sweep
    yield Case(
        "Jacobi 8192^2, 32x8", jacobi, "jacobi", (256, 1024), (32, 8), (a, b), (a, b, 8192, 8192), [b], 0
    )
    m = 2048
    p, q = rand(m, m), rand(m, m)
    r = like(p)
    yield Case(
        "matmul tiled 2048",
        matmul_tiled,
        "matmul_tiled",
        (64, 64),
        (32, 32),
        (p, q, r),
        (p, q, r, m, m, m),
        [r],
        1e-5,
    )
    naive = example("matmul").matmul_naive
    yield Case(
        "matmul naive 2048",
        naive,
        "matmul_naive",
        (64, 256),
        (32, 8),
        (p, q, r),
        (p, q, r, m, m, m),
        [r],
        1e-5,
    )
    black = example("black_scholes").black_scholes
    k = 1 << 24
    price, strike, years = (
        dev((low + (high - low) * rng.random(k, np.float32)).astype(np.float32))
        for low, high in ((5, 30), (1, 100), (0.25, 10))
    )
    call, put = like(price), like(price)
    yield Case(
        "Black-Scholes 2^24",
        black,
        "black_scholes",
        k // 256,
        256,
        (price, strike, years, 0.02, 0.30, call, put),
        (price, strike, years, np.float32(0.02), np.float32(0.30), call, put, k),
        [call, put],
        1e-3,
    )
    total = dev(np.zeros(1, np.float32))
    yield Case(
        "block sum 2^26",
        example("reduce").block_sum,
        "block_sum",
        1024,
        256,
        (x, total),
        (x, total, n),
        [total],
        1e-2,
    )
    data, counts = dev(rng.integers(0, 256, n, dtype=np.uint8)), dev(np.zeros(256, np.int32))
    yield Case(
        "histogram 2^26",
        example("histogram").histogram,
        "histogram",
        1024,
        256,
        (data, counts),
        (data, counts, n),
        [counts],
        0,
    )


def nvcc_module(driver, device):
    nvcc = shutil.which("nvcc")
    if not nvcc:
        print("nvcc is not on PATH: nothing to compare with")
        sys.exit(0)
    major, minor = device.compute_capability
    cubin = Path(tempfile.mkdtemp()) / "kernels.cubin"
    subprocess.run(
        [nvcc, "-O3", f"-arch=sm_{major}{minor}", "-cubin", "-o", cubin, HERE / "kernels.cu"], check=True
    )
    return driver.load(cubin.read_bytes())


def pack(value):
    if hasattr(value, "__cuda_array_interface__"):
        return ctypes.c_uint64(value.__cuda_array_interface__["data"][0])
    return ctypes.c_float(value) if isinstance(value, np.float32) else ctypes.c_int32(value)


def dims(value):
    value = (value,) if isinstance(value, int) else value
    return (*value, 1, 1)[:3]


def native_launch(driver, function, case):
    values = [pack(v) for v in case.theirs]
    params = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    launch = driver.lib.cuLaunchKernel

    def run(_keep=values):
        assert launch(function, *dims(case.grid), *dims(case.block), 0, None, params, None) == 0

    return run


def batch_ms(run):
    start, end = cuda.event(), cuda.event()
    start.record()
    for _ in range(LAUNCHES):
        run()
    end.record()
    end.synchronize()
    return cuda.event_elapsed_time(start, end) / LAUNCHES


def results(case, run):
    for array in case.outputs:
        array.copy_to_device(np.zeros(array.shape, array.dtype))
    run()
    cuda.synchronize()
    return [array.copy_to_host() for array in case.outputs]


def main():
    p = parser(__doc__)
    p.add_argument("--only", default="", help="kernels whose name contains this")
    args = p.parse_args()
    device = need_gpu()
    driver = Driver()
    warm = cuda.to_device(np.zeros(1))  # the primary context is current from here on
    module = nvcc_module(driver, device)
    report = Report(
        f"kernels on {device.name}",
        [("kernel", 22), ("pyptx ms", 10), ("nvcc ms", 10), ("pyptx / nvcc", 12), ("equal", 6)],
    )
    ratios, wrong = [], 0
    for case in cases():
        if args.only not in case.name:
            continue
        configured = case.kernel[case.grid, case.block]
        ours = lambda: configured(*case.ours)
        theirs = native_launch(driver, driver.function(module, case.symbol), case)
        same = all(
            np.allclose(a, b, rtol=case.rtol, atol=case.rtol)
            for a, b in zip(results(case, ours), results(case, theirs))
        )
        wrong += not same
        times = {"ours": [], "theirs": []}
        for _ in range(BATCHES + 2):
            times["ours"].append(batch_ms(ours))
            times["theirs"].append(batch_ms(theirs))
        mine, native = (statistics.median(t[2:]) for t in times.values())
        ratios.append(mine / native)
        report.row(case.name, mine, native, mine / native, "yes" if same else "NO")
    geometric = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    report.row("geometric mean", None, None, geometric, None)
    report.save(args.json, device=device.name)
    del warm
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
