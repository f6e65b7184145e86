"""How long work of the current device takes: by its events on a GPU, by the clock on the host device. `%cuda_timeit` is made of this."""

import statistics
import time
from dataclasses import dataclass, field

LEAST = 0.2  # seconds that the loops of a run take together, as timeit has it


def duration(seconds):
    """Seconds with three digits and a unit, as timeit writes them."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


@dataclass(frozen=True)
class Timing:
    """The runs of a statement. ``all_runs`` has the seconds of each run, ``timings`` those of one loop of it; ``best``, ``median``, ``worst`` and
    ``spread`` (worst - best) are of ``timings``, in seconds."""

    loops: int
    repeat: int
    all_runs: list
    device: str
    by: str  # "events" or "clock"
    timings: list = field(init=False, repr=False)

    def __post_init__(self):
        object.__setattr__(self, "timings", [run / self.loops for run in self.all_runs])

    @property
    def best(self):
        return min(self.timings)

    @property
    def worst(self):
        return max(self.timings)

    @property
    def median(self):
        return statistics.median(self.timings)

    @property
    def spread(self):
        return self.worst - self.best

    def __str__(self):
        plural = "s" * (self.loops != 1)
        how = "device events" if self.by == "events" else "the clock"
        return (f"{duration(self.median)} median, {duration(self.best)} min, {duration(self.worst)} max "
                f"({self.repeat} run{'s' * (self.repeat != 1)} of {self.loops:,} loop{plural} each, by {how}, on {self.device})")

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))


def clocked(run, loops):
    """Seconds of run(loops) by the clock; what it has launched is waited for."""
    from pyptx import cuda

    cuda.synchronize()
    begin = time.perf_counter()
    run(loops)
    cuda.synchronize()
    return time.perf_counter() - begin


def by_events(run, loops):
    """Seconds between two events on the default stream, for which the work of other streams waits and which waits for it."""
    from pyptx import cuda

    begin, end = cuda.event(), cuda.event()
    cuda.synchronize()
    begin.record()
    run(loops)
    end.record()
    end.synchronize()
    cuda.synchronize()  # what kernels have raised
    return cuda.event_elapsed_time(begin, end) * 1e-3


def loops_for(measure, run):
    """1, 2, 5, 10, 20, 50 … loops: the first that take LEAST seconds together."""
    loops = 1
    while True:
        for factor in (1, 2, 5):
            if measure(run, loops * factor) >= LEAST:
                return loops * factor
        loops *= 10


def measure(run, loops=None, repeat=7):
    """The Timing of run(n), which executes a statement n times, on the current device.

    loops: how many in a run (default: so many that a run takes 0.2 s); repeat: runs. The statement is executed once before, so that no
    compilation is measured. ValueError for numbers below 1; what the statement and its kernels raise.
    """
    from pyptx import _progress, cuda

    if repeat < 1 or (loops is not None and loops < 1):
        raise ValueError(f"{loops if repeat > 0 else repeat} {'loops' if repeat > 0 else 'runs'}: at least 1 is needed")
    device = cuda.get_current_device()
    timed = clocked if device.is_host else by_events
    clocked(run, 1)
    progress = _progress.begin("cuda_timeit", repeat)
    try:
        loops = loops or loops_for(timed, run)
        runs = []
        for _ in range(repeat):
            runs.append(timed(run, loops))
            if progress:
                progress.done += 1
    finally:
        _progress.end(progress)
    return Timing(loops, repeat, runs, f"the host device, '{device.name}'" if device.is_host else f"'{device.name}'", "clock" if device.is_host else "events")
