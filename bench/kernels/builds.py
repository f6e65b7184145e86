"""Two builds of pyptx side by side: each in a process of its own, batch by batch in turn.

The parent sends a line of JSON, the worker answers with one: {"kernel": …} prepares and checks a kernel,
{"batch": true} measures one batch, an end of input ends the worker.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
from _bench import Report

WARM_UP, BATCHES, BATCH_MS = 1, 9, 2.0
MAIN = Path(__file__).resolve().parent


def folder_of(build, keep):
    """Where `import pyptx` finds this build: a folder as it is, a wheel unpacked into a folder of `keep`."""
    path = Path(build)
    if path.is_file() and path.suffix == ".whl":
        folder = Path(tempfile.mkdtemp(dir=keep))
        zipfile.ZipFile(path).extractall(folder)
        return folder
    if (path / "pyptx" / "__init__.py").exists():
        return path.resolve()
    raise SystemExit(f"{build} is neither a wheel nor a folder with the package pyptx")


class Worker:
    """A process with one build."""

    def __init__(self, folder, device):
        path = [str(folder)] if folder else []
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")])}
        if device == "host":
            env["PYPTX_DEVICE"] = "host"
        self.process = subprocess.Popen(
            [sys.executable, str(MAIN), "--worker"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the worker ended with {self.process.wait()}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def host_batch(call):
    """As bench/host.py measures: the fastest call of a batch."""
    begin = time.perf_counter()
    call()
    count = max(3, min(100, round(20e-3 / max(time.perf_counter() - begin, 1e-7))))

    def batch():
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        return min(times) * 1e3

    return batch


def gpu_batch(call):
    from kernels.gpu import Clock

    clock = Clock()
    count = max(2, round(BATCH_MS / max(clock.batch(call, 2, 500), 1e-6)))
    return lambda: clock.batch(call, count, 10 * count + 50)


def prepare(name, scale, block=None):
    """(the kernel's batch function, whether it is right) on the device of this process."""
    from kernels import BY_NAME
    from kernels.declare import check
    from pyptx import cuda

    kernel, host = BY_NAME[name], cuda.get_current_device().is_host
    problem = kernel.problem(np.random.default_rng(1), kernel.scaled(kernel.host if host else kernel.gpu, scale))
    block = tuple(block) if isinstance(block, list) else block or kernel.block
    arrays = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in problem.arguments]
    configured = cuda.jit(kernel.function)[problem.grid_for(block), block]

    def call():
        configured(*arrays)
        if host:
            cuda.synchronize()

    call()
    cuda.synchronize()
    passed, _ = check(problem, [arrays[k].copy_to_host() for k in problem.outputs], problem.expected())
    return (host_batch if host else gpu_batch)(call), passed


def work():
    """The worker: answers until its input ends."""
    batch, answers = None, sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        if "kernel" in request:
            batch, passed = prepare(request["kernel"], request["scale"])
            answer = {"passed": passed}
        else:
            answer = {"ms": batch()}
        print(json.dumps(answer), file=answers, flush=True)
    return 0


def compare(args, kernels):
    """The table of A, B and B / A; 0 if both are right and no kernel is beyond the limit."""
    from kernels.__main__ import geometric_mean

    keep = tempfile.mkdtemp(prefix="pyptx-builds-")
    names = args.build if len(args.build) == 2 else [*args.build, None]
    if len(names) != 2:
        raise SystemExit("--build is given once or twice")
    workers = [Worker(folder_of(b, keep) if b else None, args.device) for b in names]
    print("A:", names[0], "\nB:", names[1] or "the one on the path")
    report = Report("two builds", [("kernel", 19), ("A ms", 10), ("B ms", 10), ("B/A", 8), ("right", 6)])
    right = True
    try:
        for kernel in kernels:
            passed = all([w.ask(kernel=kernel.name, scale=args.scale)["passed"] for w in workers])  # both are asked
            times = [[], []]
            for _ in range(WARM_UP + BATCHES):
                for worker, of in zip(workers, times):
                    of.append(worker.ask(batch=True)["ms"])
            a, b = (statistics.median(t[WARM_UP:]) for t in times)
            report.row(kernel.name, a, b, b / a, "yes" if passed else "NO")
            right &= passed
    finally:
        for worker in workers:
            worker.close()
        shutil.rmtree(keep)
    worst = max(report.rows, key=lambda r: r["B/A"])
    mean = geometric_mean([r["B/A"] for r in report.rows])
    print(f"B / A: geometric mean {mean:.3f}, worst {worst['B/A']:.3f} ({worst['kernel']})")
    report.save(args.json, builds=names, mean=mean)
    return 0 if right and (not args.limit or worst["B/A"] <= args.limit) else 1
