"""Runs many random programs, in several processes, and reports those whose results are not NumPy's.

    scripts/soak N [--seed S] [--device host|cuda|ptx] [--jobs J] [--batch B] [--rows R] [--opt 0-3] [--coarsen K] [--out FOLDER]

Seeds S, S+1, … S+N-1 each give one program (programs.py). Every failure is shrunk and written as a
script to build/failures. The device ptx is the GPU's code on the CPU (tests/ptx_on_cpu). A process that dies takes its batch with it: the programs of that batch are run
again one by one, each in a process of its own, so the one that did it is named. Exit status 1 if any failed.
"""

import argparse
import gc
import multiprocessing
import os
import queue
import sys
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent))


def optimisation(number, wanted):
    """Half of the batches as the optimiser leaves them, half as they are lowered: two chances for a bug to show."""
    return (3, 0)[number % 2] if wanted is None else wanted


def batch_size(device, opt):
    """Programs a second are most with these: ptxas takes longer than proportionally for long kernels, most of all for unoptimised ones."""
    if device == "cuda":
        return 64 if opt else 32
    return 16


def run_batch(seeds, rows, opt):
    """(number of rows compared, of kernels that were coarsened, [(kind, text, path of the reproducer)]). A difference that is the reference's
    own, as CPython says, is of the kind "reference" and no failure."""
    import differential
    import shrink

    cases = [differential.case_of(s, rows) for s in seeds]
    found, coarsened = [], differential.COARSENED[True]
    for failure in differential.check(cases, opt):
        if differential.is_of_reference(failure):
            found.append(("reference", "", ""))
            continue
        small = shrink.shrunk(failure)
        found.append((small.kind, f"{small}\n{small.case.program.source}", str(shrink.store(small))))
    return sum(c.rows for c in cases), differential.COARSENED[True] - coarsened, found


def work(tasks, results, device):
    os.environ["PYPTX_DEVICE"] = "gpu" if device == "cuda" else "host"
    os.environ.setdefault("PYPTX_ADVICE", "0")  # programs read what some path leaves unset
    if device == "ptx":
        sys.path[:0] = [str(TESTS), str(TESTS / "api")]
        import ptx_on_cpu

        ptx_on_cpu.choose()
    gc.set_threshold(200_000, 20, 100)  # syntax trees are many young objects
    while (task := tasks.get()) is not None:
        number, seeds, rows, opt = task
        results.put(("start", os.getpid(), number))
        try:
            results.put(("done", os.getpid(), number, len(seeds), *run_batch(seeds, rows, opt)))
        except Exception as e:  # the test's own fault: reported, and fatal for the result
            import traceback

            text = f"seeds {seeds[0]}…{seeds[-1]}: {e!r}\n{traceback.format_exc()}"
            results.put(("done", os.getpid(), number, len(seeds), 0, 0, [("broken", text, "")]))


class Soak:
    def __init__(self, options):
        self.o = options
        self.context = multiprocessing.get_context("spawn")
        self.tasks, self.results = self.context.Queue(), self.context.Queue()
        self.pending, self.running, self.workers = {}, {}, []
        self.programs = self.rows = self.coarsened = self.references = 0
        self.failures, self.kinds = [], Counter()
        self.start = self.last = time.monotonic()

    def worker(self):
        p = self.context.Process(
            target=work, args=(self.tasks, self.results, self.o.device), daemon=True
        )
        p.start()
        self.workers.append(p)

    def run(self):
        o = self.o
        first, self.next = o.seed, 0
        while first < o.seed + o.n:
            opt = optimisation(self.next, o.opt)
            seeds = list(range(first, min(first + (o.batch or batch_size(o.device, opt)), o.seed + o.n)))
            self.pending[self.next] = (seeds, opt)
            self.tasks.put((self.next, seeds, o.rows, opt))
            self.next += 1
            first += len(seeds)
        for _ in range(o.jobs):
            self.worker()
        while self.pending:
            try:
                self.take(self.results.get(timeout=1))
            except queue.Empty:
                self.replace_dead()
            self.progress()
        for _ in self.workers:
            self.tasks.put(None)
        return self.summary()

    def take(self, message):
        kind, pid, number, *rest = message
        if kind == "start":
            self.running[pid] = number
            return
        self.running.pop(pid, None)
        self.pending.pop(number, None)
        count, rows, coarsened, failures = rest
        self.programs += count
        self.rows += rows
        self.coarsened += coarsened
        for f in failures:
            if f[0] == "reference":
                self.references += 1
            else:
                self.fail(*f)

    def fail(self, kind, text, path):
        self.kinds[kind] += 1
        self.failures.append((kind, text, path))
        print(f"\n--- {text}\n    {path}", flush=True)

    def replace_dead(self):
        for p in [p for p in self.workers if not p.is_alive()]:
            self.workers.remove(p)
            number = self.running.pop(p.pid, None)
            if number in self.pending:
                seeds, opt = self.pending.pop(number)
                if len(seeds) == 1:
                    self.programs += 1
                    self.fail("crash", f"seed {seeds[0]} (opt {opt}): the process died, exit code {p.exitcode}", "")
                else:
                    for s in seeds:
                        self.pending[self.next] = ([s], opt)
                        self.tasks.put((self.next, [s], self.o.rows, opt))
                        self.next += 1
            self.worker()

    def progress(self):
        now = time.monotonic()
        if now - self.last >= 10:
            self.last = now
            rate = self.programs / (now - self.start)
            print(f"{self.programs} of {self.o.n} programs, {rate:.1f} a second, {len(self.failures)} failed", flush=True)

    def summary(self):
        seconds = time.monotonic() - self.start
        kinds = ", ".join(f"{n} {k}" for k, n in self.kinds.items()) or "none"
        print(
            f"soak: {self.programs} programs (seeds {self.o.seed} to {self.o.seed + self.o.n - 1}) on {self.o.device}, "
            f"{self.rows} rows, {f'{self.coarsened} kernels coarsened, ' if self.o.coarsen else ''}{seconds:.0f} s, {self.programs / seconds:.1f} programs a second; "
            f"{f'CPython against the reference: {self.references}; ' if self.references else ''}failed: {kinds}"
        )
        return 1 if self.failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, help="programs to run")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--device", choices=["host", "cuda", "ptx"], default="host")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--batch", type=int, help="programs a kernel (host and ptx 16, cuda 64 and 32)")
    parser.add_argument("--rows", type=int, help="rows of arguments a program (host and ptx 24, cuda 64)")
    parser.add_argument("--coarsen", type=int, help="GPU and ptx: kernels run with coarsen=K, in blocks of 8 threads (docs/COARSENING.md)")
    parser.add_argument("--opt", type=int, choices=range(4), help="default: batches take turns at 3 and 0")
    options = parser.parse_args()
    if options.coarsen:
        os.environ["PYPTX_COARSEN"] = str(options.coarsen)  # the processes inherit it
        options.batch = options.batch or 1  # longer kernels are not coarsened
        options.rows = options.rows or 70
        options.opt = 3 if options.opt is None else options.opt  # opt=0 switches it off
    options.rows = options.rows or {"host": 24, "ptx": 24, "cuda": 64}[options.device]
    return Soak(options).run()


if __name__ == "__main__":
    sys.exit(main())
