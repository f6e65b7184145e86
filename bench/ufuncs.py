"""Ufuncs beside a natural kernel: what a call costs beyond a launch, and the time of the kernels.

    python bench/ufuncs.py [--json OUT]

Calls: an addition of few float32, outputs given, so that all of it is the call; "over" is the microseconds beyond the launch of a natural
kernel with the same arrays, at most 2 where all are contiguous. Kernels: an addition of 2**24 and 2**26 float32; "ratio" is the natural
kernel's time over ours.
"""

import statistics

import numpy as np
from _bench import Report, batches, loop, parser
from pyptx import cuda, vectorize


@vectorize(["float32(float32, float32)"])
def add(a, b):
    return a + b


@cuda.jit
def natural(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def natural_rows(a, b, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = a[y, x] + b[x]


def call_add(a, b, out):
    add(a, b, out=out)


def calls(report):
    d = cuda.to_device(np.ones(1024, np.float32))
    out = cuda.device_array_like(d)
    square, square_out = d.reshape(32, 32), out.reshape(32, 32)
    launch = natural[4, 256]
    runners = {
        "a launch": loop(launch, d, d, out),
        "contiguous": loop(call_add, d, d, out),
        "contiguous, 2-D": loop(call_add, square, square, square_out),
        "with a number": loop(call_add, d, 2.0, out),
        "broadcast": loop(call_add, square, d[:32], square_out),
        "strided": loop(call_add, square.T, square, square_out),
        "result created": loop(add, d, d),
    }
    times = batches(runners, 1000, 25, cuda.synchronize)
    for name, seconds in times.items():
        report.row(name, seconds * 1e6, (seconds - times["a launch"]) * 1e6)


def seconds_on_gpu(work, launches=20):
    start, end = cuda.event(), cuda.event()
    start.record()
    for _ in range(launches):
        work()
    end.record()
    end.synchronize()
    return cuda.event_elapsed_time(start, end) / 1e3 / launches


def by_clock(work, launches=5):
    return batches({"": lambda n: [work() for _ in range(n)]}, launches, 1, cuda.synchronize)[""]


def kernels(report, gpu):
    measure = seconds_on_gpu if gpu else by_clock
    for power in (24, 26) if gpu else (20, 22):
        n = 1 << power
        a, b, out = (cuda.to_device(np.ones(n, np.float32)) for _ in range(3))
        rows, row, rows_out = a.reshape(n >> 10, 1 << 10), b[: 1 << 10], out.reshape(n >> 10, 1 << 10)
        grid = (1 << 10) // 256, n >> 10
        race = {
            "contiguous": (lambda: add(a, b, out=out), lambda: natural[-(-n // 256), 256](a, b, out)),
            "a row broadcast": (lambda: add(rows, row, out=rows_out), lambda: natural_rows[grid, (256, 1)](rows, row, rows_out)),
        }
        for name, (ours, theirs) in race.items():
            if name == "a row broadcast" and grid[1] > 65535:
                continue
            ours(), theirs()
            pairs = [(measure(ours), measure(theirs)) for _ in range(9)]
            mine, other = (statistics.median(t) for t in zip(*pairs))
            report.row(f"2**{power}", name, mine * 1e6, other * 1e6, other / mine)


def main():
    args = parser(__doc__).parse_args()
    device = cuda.get_current_device()
    report = Report(f"calls on {device.name}", [("call", 16), ("µs", 8), ("over", 8)])
    calls(report)
    times = Report(f"kernels on {device.name}", [("elements", 10), ("operands", 16), ("µs", 9), ("natural", 9), ("ratio", 7)])
    kernels(times, not device.is_host)
    report.rows += times.rows
    report.save(args.json, device=device.name)


if __name__ == "__main__":
    main()
