"""What the benchmarks share: timing, tables, --json, the CUDA driver through ctypes."""

import argparse
import ctypes
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path


def parser(doc):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--json", metavar="OUT", type=Path, help="also write the figures there")
    return p


class Report:
    """Rows of one table; printed as they come, written as JSON at the end."""

    def __init__(self, title, columns):
        self.title, self.columns, self.rows = title, columns, []
        print(f"{title}\n" + "  ".join(f"{c:>{w}}" for c, w in columns))

    def row(self, *values):
        self.rows.append(dict(zip((c for c, _ in self.columns), values)))
        cells = []
        for v, (_, w) in zip(values, self.columns):
            text = (
                "-"
                if v is None
                else (f"{v:.3g}" if abs(v) < 1 else f"{v:.2f}")
                if isinstance(v, float)
                else str(v)
            )
            cells.append(f"{text:>{w}}")
        print("  ".join(cells), flush=True)

    def save(self, path, **facts):
        if path:
            path.write_text(
                json.dumps(
                    {"title": self.title, "python": platform.python_version(), **facts, "rows": self.rows},
                    indent=1,
                )
            )


def batches(contestants, launches, repeat, finish):
    """Median seconds a launch of each contestant. They take turns batch by batch, so that all see the same machine."""
    times = {name: [] for name in contestants}
    for work in contestants.values():
        work(3)
    finish()
    for _ in range(repeat):
        for name, work in contestants.items():
            start = time.perf_counter()
            work(launches)
            times[name].append((time.perf_counter() - start) / launches)
            finish()
    return {name: statistics.median(t) for name, t in times.items()}


def loop(function, *arguments):
    """A contestant that calls the function n times, as a program would: function(a0, a1, …), with no tuple to unpack."""
    names = [f"a{i}" for i in range(len(arguments))]
    bound = "".join(f", {name}={name}" for name in ["function", *names])
    scope = dict(zip(names, arguments), function=function)
    exec(f"def work(n{bound}):\n for _ in range(n):\n  function({', '.join(names)})\n", scope)
    return scope["work"]


class Driver:
    """cuda.h's functions on the primary context that pyptx uses; every call is checked."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ.get("PYPTX_DRIVER", "libcuda.so.1"))  # the one that pyptx loads

    def __getattr__(self, name):
        function = getattr(self.lib, name)

        def call(*arguments):
            result = function(*arguments)
            if result:
                raise RuntimeError(f"{name} returned {result}")

        return call

    def load(self, image):
        module = ctypes.c_void_p()
        self.cuModuleLoadDataEx(ctypes.byref(module), image, 0, None, None)
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.cuModuleGetFunction(ctypes.byref(function), module, name.encode())
        return function


def need_gpu():
    """The current device, or exit: this benchmark measures nothing without a GPU."""
    from pyptx import cuda

    device = cuda.get_current_device()
    if device.is_host:
        print(f"no GPU (the device is {device.name}): nothing to measure")
        sys.exit(0)
    return device
