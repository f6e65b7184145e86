"""Allocation beside cuMemAllocAsync, and what a million launches and allocations leave behind.

    python bench/memory.py [--json OUT] [--rounds 1000000]

Both sides in one process, taking turns, medians. Growth: resident memory of the process and free memory of the device, after the first
tenth of the rounds and at their end.
"""

import ctypes
import gc
import resource
import time

import numpy as np
from _bench import Driver, Report, batches, parser
from pyptx import cuda

SIZES = (1 << 10, 1 << 20, 64 << 20)


def resident():
    """KB of this process."""
    try:
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def ours(size):
    def work(n):
        for _ in range(n):
            cuda.device_array(size, np.uint8)

    return work


def drivers(lib, size):
    address, bytes_, stream = ctypes.c_uint64(), ctypes.c_size_t(size), ctypes.c_void_p()

    def work(n):
        for _ in range(n):
            lib.cuMemAllocAsync(ctypes.byref(address), bytes_, stream)
            lib.cuMemFreeAsync(address, stream)

    return work


@cuda.jit
def touch(x):
    x[0] += 1


def growth(rounds, report):
    keep = cuda.to_device(np.zeros(4, np.int32))
    launch = touch[1, 1]

    def some(n):
        for i in range(n):
            launch(keep)
            a = cuda.device_array(1 + i % 4096, np.float32)
            del a
            if i % 1000 == 0:
                cuda.synchronize()
        cuda.synchronize()
        gc.collect()
        return resident(), cuda.memory_info()

    before, info = some(max(rounds // 10, 1))
    start = time.perf_counter()
    after, later = some(rounds)
    report.row("process", rounds, after - before, "KB")
    report.row("device", rounds, (info.free - later.free) // 1024, "KB")
    report.row("live arrays", rounds, later.live_arrays - info.live_arrays, "")
    report.row("time a round", rounds, (time.perf_counter() - start) / rounds * 1e6, "µs")


def main():
    p = parser(__doc__)
    p.add_argument("--rounds", type=int, default=1_000_000)
    options = p.parse_args()
    device = cuda.get_current_device()
    report = Report("allocate and free", [("bytes", 10), ("pyptx µs", 10), ("driver µs", 10), ("ratio", 7)])
    lib = None if device.is_host else Driver().lib
    for size in SIZES:
        cuda.device_array(size, np.uint8)
        contestants = {"pyptx": ours(size), **({"driver": drivers(lib, size)} if lib else {})}
        times = batches(contestants, 1000, 31, cuda.synchronize)
        mine, other = times["pyptx"], times.get("driver")
        report.row(size, mine * 1e6, other and other * 1e6, other and mine / other)
    report.save(options.json, device=device.name)
    left = Report("growth", [("what", 14), ("rounds", 9), ("growth", 10), ("", 3)])
    growth(options.rounds, left)
    if options.json:
        left.save(options.json.with_suffix(".growth.json"), device=device.name)


if __name__ == "__main__":
    main()
