"""cuda.reduce beside CuPy's sum (CUB's DeviceReduce) and a device copy: time on the GPU, in one process.

    python bench/reduce.py [--powers 20 24] [--json OUT]

"over CUB" is our time over CuPy's; "of copy" the bytes a second that we read over those that a copy reads and writes. Aims: 1.2 at most
at 2**20 elements, 0.9 at least from 2**24 on. Without CuPy its columns are empty; on the host device NumPy's sum stands there, and the
times are those of calls.
"""

import statistics
import time

import numpy as np
from _bench import Report, parser
from pyptx import cuda

REPEAT = 15


@cuda.reduce
def add(a, b):
    return a + b


def on_gpu(work, launches):
    """Seconds that the device takes for one of `launches` calls that are queued behind one another."""
    start, end = cuda.event(), cuda.event()
    stream = cuda.default_stream()
    start.record(stream)
    for _ in range(launches):
        work()
    end.record(stream)
    end.synchronize()
    return cuda.event_elapsed_time(start, end) / 1e3 / launches


def in_graph(work, launches):
    """The same of a CUDA graph of them, which leaves out what Python takes to queue one."""
    stream = cuda.stream()
    with cuda.graph(stream) as graph:
        for _ in range(launches):
            work(stream)
    start, end = cuda.event(), cuda.event()

    def once():
        start.record(stream)
        graph.launch(stream)
        end.record(stream)
        end.synchronize()
        return cuda.event_elapsed_time(start, end) / 1e3 / launches

    once()
    return once


def by_clock(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cub():
    """CuPy with CUB as its only accelerator, or None."""
    try:
        import cupy
    except ImportError:
        return None
    cupy._core.set_reduction_accelerators(["cub"])
    cupy._core.set_routine_accelerators(["cub"])
    return cupy


def contestants(n, dtype, gpu, cupy):
    """name → a function that gives the seconds of one call."""
    x = np.ones(n, dtype)
    d, res, into = cuda.to_device(x), cuda.device_array(1, dtype), cuda.device_array(n, dtype)
    launches = max(4, min(100, (1 << 28) // d.nbytes))
    if not gpu:
        return {"reduce": lambda: by_clock(lambda: add(d, res=res)), "peer": lambda: by_clock(x.sum), "copy": lambda: by_clock(lambda: into.copy_to_device(d))}
    add(d, res=res)  # compiled
    assert res[0] == np.asarray(n).astype(dtype)
    out = {"reduce": in_graph(lambda stream: add(d, res=res, stream=stream), launches),
           "copy": lambda: on_gpu(lambda: into.copy_to_device(d), launches)}
    if cupy:
        c = cupy.asarray(d)
        out["peer"] = cupy_graph(cupy, lambda: c.sum(dtype=dtype), launches)
    return out


def cupy_graph(cupy, work, launches):
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        work()
        kept = []
        try:
            stream.begin_capture()
            kept += [work() for _ in range(launches)]
            graph = stream.end_capture()
        except Exception:  # CuPy's pool may have to allocate, which a capture does not allow: then queued calls
            return lambda: _cupy_events(cupy, stream, lambda: [work() for _ in range(launches)], launches)
    return lambda: _cupy_events(cupy, stream, lambda: graph.launch(stream), launches, kept)


def _cupy_events(cupy, stream, work, launches, kept=None):
    with stream:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record(stream)
        work()
        end.record(stream)
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3 / launches


def main():
    p = parser(__doc__)
    p.add_argument("--powers", type=int, nargs="+", help="of 2, for the numbers of elements")
    args = p.parse_args()
    device = cuda.get_current_device()
    gpu, cupy = not device.is_host, cub() if not device.is_host else None
    report = Report(f"sums on {device.name}", [("elements", 10), ("dtype", 8), ("µs", 9), ("peer µs", 9), ("copy µs", 9), ("over CUB", 9), ("of copy", 8)])
    for power in args.powers or ((12, 16, 20, 22, 24, 26, 28) if gpu else (12, 16, 20, 22)):
        for dtype in ("int32", "float32", "float64", "uint8"):
            race = contestants(1 << power, dtype, gpu, cupy)
            times = {name: [] for name in race}
            for _ in range(REPEAT):
                for name, work in race.items():
                    times[name].append(work())
            t = {name: statistics.median(v) for name, v in times.items()}
            peer = t.get("peer")
            report.row(f"2**{power}", dtype, t["reduce"] * 1e6, peer and peer * 1e6, t["copy"] * 1e6, peer and t["reduce"] / peer,
                       t["copy"] / 2 / t["reduce"])  # a copy moves each byte twice
    report.save(args.json, device=device.name, cupy=getattr(cupy, "__version__", None))


if __name__ == "__main__":
    main()
