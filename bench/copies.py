"""Copies between the host and the device, beside the driver's own through ctypes: pageable, pinned, strided and small arrays.

    python bench/copies.py [--json OUT] [--mb 256]

Both sides in one process, taking turns, medians; "ratio" is our speed over the driver's for large copies, and "over C" the microseconds
that a small one takes beyond the driver call (which ctypes makes 0.3 µs slower than C does). On the host device there is no driver.
"""

import ctypes
import statistics
import time

import numpy as np
from _bench import Driver, Report, parser
from pyptx import cuda

REPEAT = 11


def medians(contestants, repeat=REPEAT, inner=1):
    """Median seconds a call of each; they take turns, in one order and then in the other: who comes after a copy to the host finds
    the array in the caches, or not."""
    times = {name: [] for name in contestants}
    for work in contestants.values():
        work()
    for i in range(2 * repeat):
        for name, work in list(contestants.items())[:: 1 if i % 2 else -1]:
            start = time.perf_counter()
            for _ in range(inner):
                work()
            times[name].append((time.perf_counter() - start) / inner)
    return {name: statistics.median(t) for name, t in times.items()}


def checked(result):
    if result:
        raise RuntimeError(f"the driver answered {result}")


def large(lib, report, n):
    """Copies of n bytes."""
    a = np.random.default_rng(1).integers(0, 256, n, np.uint8)
    out, wide = np.zeros_like(a), np.zeros((n // 4096, 8192), np.uint8)
    pinned = cuda.pinned_array(n, np.uint8)
    pinned[:] = a
    d = cuda.to_device(a)
    square = d[: n // 4096 * 4096].reshape(n // 4096, 4096)
    stream = cuda.stream()
    address, host, back = (ctypes.c_uint64(d.device_ctypes_pointer.value), ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(out.ctypes.data))
    size = ctypes.c_size_t(n)

    def on_stream(copy):
        copy(pinned, stream=stream)
        stream.synchronize()

    times = medians(
        {
            "to device, driver": lambda: checked(lib.cuMemcpyHtoD_v2(address, host, size)),
            "to device, pageable": lambda: d.copy_to_device(a),
            "to device, pinned": lambda: d.copy_to_device(pinned),
            "to device, pinned on a stream": lambda: on_stream(d.copy_to_device),
            "to device, strided": lambda: square.copy_to_device(wide[:, ::2]),
            "to device, rows of a wider array": lambda: square.copy_to_device(wide[:, :4096]),
            "to host, driver": lambda: checked(lib.cuMemcpyDtoH_v2(back, address, size)),
            "to host, pageable": lambda: d.copy_to_host(out),
            "to host, a new array": lambda: d.copy_to_host(),
            "to host, pinned": lambda: d.copy_to_host(pinned),
            "to host, rows of a wider array": lambda: square.copy_to_host(wide[:, :4096]),
        }
    )
    for name, t in times.items():
        report.row(name, n >> 20, n / t / 1e9, times[name.split(",")[0] + ", driver"] / t)
    d.copy_to_device(a)
    out[:] = 0
    d.copy_to_host(out)
    assert np.array_equal(out, a)


def sizes(lib, report):
    """Where staging begins to pay."""
    for mb in (0.25, 1, 2, 4, 6, 8, 16, 64):
        n = int(mb * (1 << 20))
        a = np.ones(n, np.uint8)
        d = cuda.to_device(a)
        address, host, size = ctypes.c_uint64(d.device_ctypes_pointer.value), ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(n)
        to = {"ours": lambda: d.copy_to_device(a), "driver": lambda: checked(lib.cuMemcpyHtoD_v2(address, host, size))}
        back = {"ours": lambda: d.copy_to_host(a), "driver": lambda: checked(lib.cuMemcpyDtoH_v2(host, address, size))}
        for name, contestants in (("to device, pageable", to), ("to host, pageable", back)):
            times = medians(contestants, inner=5)  # apart, so that both sides find the array as the other left it
            report.row(name, mb, n / times["ours"] / 1e9, times["driver"] / times["ours"])


def small(lib, report):
    for n in (8, 1024, 65536):
        a = np.zeros(n // 4, np.float32)
        d = cuda.to_device(a)
        address, host, size = ctypes.c_uint64(d.device_ctypes_pointer.value), ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(n)
        times = medians(
            {
                "to": lambda: d.copy_to_device(a),
                "c to": lambda: lib.cuMemcpyHtoD_v2(address, host, size),
                "from": lambda: d.copy_to_host(a),
                "c from": lambda: lib.cuMemcpyDtoH_v2(host, address, size),
                "new to": lambda: cuda.to_device(a),
            },
            repeat=31,
            inner=100,
        )
        us = {name: t * 1e6 for name, t in times.items()}
        report.row("copy_to_device", n, us["to"], us["c to"], us["to"] - us["c to"])
        report.row("copy_to_host", n, us["from"], us["c from"], us["from"] - us["c from"])
        report.row("to_device (new array)", n, us["new to"], us["c to"], us["new to"] - us["c to"])


def main():
    p = parser(__doc__)
    p.add_argument("--mb", type=int, default=256, help="size of the large copies")
    options = p.parse_args()
    if cuda.get_current_device().is_host:
        print("no GPU: nothing to copy to")
        return
    lib = Driver().lib
    report = Report("large copies", [("copy", 34), ("MB", 6), ("GB/s", 8), ("ratio", 7)])
    large(lib, report, options.mb << 20)
    sizes(lib, report)
    report.save(options.json, device=cuda.get_current_device().name)
    few = Report("small copies", [("copy", 24), ("bytes", 7), ("µs", 8), ("driver", 8), ("over C", 8)])
    small(lib, few)
    if options.json:
        few.save(options.json.with_suffix(".small.json"), device=cuda.get_current_device().name)


if __name__ == "__main__":
    main()
