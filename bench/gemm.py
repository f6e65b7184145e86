"""The matrix products of examples/ and Triton's tutorial kernel beside torch.matmul (cuBLAS), in one
process: time on the GPU, and the speed of each over cuBLAS's.

    python bench/gemm.py [--quick] [--turns] [--json OUT]

"warps" is examples/gemm_warps.py (cp_async, ldmatrix, mma_sync); "groups"
examples/gemm_warpgroups.py (wgmma) and "pipeline" examples/gemm_pipeline.py (tensor maps, a ring of
stages, wgmma) are for compute capability 9.0 alone, "groups" for whole tiles of bfloat16. The
matrices are bfloat16 and row-major where nothing else is said; "A k x m" and "B n x k" are stored
so, and passed transposed to torch.matmul. They are normal random and of several copies in turn,
more than the cache holds together. Medians; results are compared with a product in float32. Two
ways to measure, as in shared/hopper/run_gemm.py, where every side has one call after another:

burst: each call behind an idle pause of 15 ms, so that the power limit does not rule.
turns (--turns, beside burst): in a new random order each round, without a pause, as on a busy GPU,
whose power limit rules. A short kernel is called several times between two events.

--quick measures a few shapes, --sides some of the sides: --sides pipeline,triton.

A kernel that waits for a barrier in vain never ends. So a child process measures, within LIMIT
seconds for each shape; where it fails, the reason is printed, and another one goes on without the
side that was running. A side whose results are wrong, or that does not take a shape, is named, and
left out of that line.
"""

import contextlib
import functools
import importlib.util
import json
import queue
import random
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from _bench import Report, need_gpu, parser
from pyptx import cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

SHAPES = (
    *((n, n, n) for n in (2048, 4096, 8192, 16384)),
    *((4096, 4096, 1024), (8192, 8192, 1024), (65536, 1024, 1024)),
    *((4096, 4096, 14336), (8192, 1024, 8192), (1024, 8192, 8192)),
    *((5000, 3000, 2000), (5000, 3072, 2048), (8200, 8200, 1032), *((n, n, n) for n in (1000, 2056, 4104))),
    *((1001, 999, 1003), *((n, n, n) for n in (2049, 4097, 8193))),
    *((n, n, k, "float16") for n, k in ((4096, 4096), (8192, 1024))),
    *((n, n, k, "bfloat16", a, b) for n, k in ((8192, 8192), (8192, 1024)) for a, b in ("kk", "mn", "mk")),
    (5000, 3000, 2000, "bfloat16", "k", "k"),
)
QUICK = (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 1024), (5000, 3000, 2000)
TURNS, CACHE, PAUSE, CYCLES = 15, 200 << 20, 15e-3, 4_000_000
SHORT, BUSY = 4e-4, 0.2  # without pauses: seconds between two events, and of the fastest side in all
CLOCK = 2e9  # cycles a second, at most
START, LIMIT = 90, 60  # seconds until the child is ready (it imports PyTorch), and for each shape (Triton tries six forms)
NEWEST = ("groups", "pipeline")


def sides(torch, names):
    """name → (a function (a, b, c, a_major, b_major) that computes c = a @ b, what m, n and k are
    multiples of, the types, whether it takes all layouts)."""
    import gemm_pipeline
    import gemm_warpgroups
    import gemm_warps

    def cublas(a, b, c, a_major, b_major):
        torch.matmul(a if a_major == "k" else a.t(), b if b_major == "n" else b.t(), out=c)

    if "triton" in names:
        say(running="triton")
        import _triton_tutorials

    def by_triton(a, b, c, a_major, b_major):
        _triton_tutorials.matmul(a if a_major == "k" else a.t(), b if b_major == "n" else b.t(), c)()

    def groups(a, b, c, *_):
        module = gemm_warpgroups
        module.gemm[(c.shape[1] // module.N, c.shape[0] // module.M), module.THREADS, 0, module.SHARED](a, b, c)

    @functools.cache
    def launch(*majors):
        return gemm_pipeline.launch(cuda.get_current_device().MULTIPROCESSOR_COUNT, *majors)

    both = "bfloat16", "float16"
    every = {
        "cublas": (cublas, (1, 1, 1), both, True),
        "warps": (lambda a, b, c, *_: gemm_warps.launch(a, b, c), (1, 1, 1), both, False),
        "groups": (groups, (gemm_warpgroups.M, gemm_warpgroups.N, gemm_warpgroups.K), both[:1], False),
        "pipeline": (lambda a, b, c, *majors: launch(*majors)(a, b, c), (1, 1, 1), both, True),
        "triton": (by_triton, (1, 1, 1), both, True),
    }
    return {name: every[name] for name in names}


def complete(shape):
    """m, n, k, the dtype, the contiguous axis of A and that of B."""
    return (*shape, *("bfloat16", "k", "n")[len(shape) - 3 :])


def label(shape):
    m, n, k, dtype, a_major, b_major = complete(shape)
    more = (dtype * (dtype != "bfloat16"), "A k x m" * (a_major == "m"), "B n x k" * (b_major == "k"))
    return ", ".join((f"{m}x{n}x{k}", *filter(None, more)))


def seconds(torch, work, first=None):
    """Of one call, behind `first`, which is not timed: what that leaves for the memory to write is there."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    time.sleep(PAUSE)
    torch.cuda._sleep(CYCLES)  # while the GPU waits, the call is queued: what Python takes for it does not count
    if first:
        first()
    start.record()
    work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


def host_seconds(torch, run, calls=10):
    """What Python takes for a call."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for k in range(calls):
        run(k)
    took = (time.perf_counter() - start) / calls
    torch.cuda.synchronize()
    return took


def in_turns(torch, runs, estimate, side_of=str):
    """Seconds of each run on a busy GPU. estimate: those of the fastest."""
    estimate = max(estimate, 5e-6)
    takes = {name: host_seconds(torch, run) for name, run in runs.items()}
    calls = max(1, round(SHORT / estimate))
    rounds = int(max(12, min(300, BUSY / (estimate * calls))))
    order, count, events = random.Random(3), 0, []
    for part in range(-1, rounds):  # the first heats the GPU
        for name in order.sample(list(runs), len(runs)):
            say(running=side_of(name))
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            if takes[name] > estimate / 2:  # its calls are queued while the GPU waits
                torch.cuda._sleep(int(CLOCK * 1.2 * takes[name] * calls))
            start.record()
            for _ in range(calls if part >= 0 else max(3, int(0.1 / estimate / len(runs)))):
                count += 1
                runs[name](count)
            end.record()
            if part >= 0:
                events.append((name, start, end))
        if part % 8 == 7:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return {name: statistics.median(start.elapsed_time(end) / calls / 1e3 for who, start, end in events if who == name) for name in runs}


def measured(torch, runs, modes, turns=TURNS, side_of=str, twice=False):
    """mode → name → seconds. runs: name → a function of the number of the call; side_of: whose it is;
    twice: a call of a burst follows one of the same."""
    times = {name: [] for name in runs}
    for turn in range(turns):
        for name, run in runs.items():
            say(running=side_of(name))
            work = functools.partial(run, turn)
            times[name].append(seconds(torch, work, work if twice else None))
    burst = {name: statistics.median(t) for name, t in times.items()}
    if not burst:
        raise ValueError("no side is left")
    return {"burst": burst, **({"turns": in_turns(torch, runs, min(burst.values()), side_of)} if "turns" in modes else {})}


def measure(torch, shape, contestants, modes):
    """Seconds of each side by mode; those that do not take the shape are left out."""
    m, n, k, dtype, *majors = complete(shape)
    say(running="cublas")
    torch.backends.cuda.matmul.allow_tf32 = False
    copies = 2 + CACHE // (2 * (m * k + k * n + m * n))
    kinds = ((m, k) if majors[0] == "k" else (k, m), (k, n) if majors[1] == "n" else (n, k), (m, n))
    sets = [[torch.randn(kind, device="cuda", dtype=getattr(torch, dtype)) for kind in kinds] for _ in range(copies)]
    runs = {}
    for name, (run, units, types, all_layouts) in contestants.items():
        if not any(x % u for x, u in zip(shape, units)) and dtype in types and (all_layouts or majors == ["k", "n"]):
            runs[name] = run
    left, right = (x.float() for x in sets[0][:2])
    want = (left if majors[0] == "k" else left.t()) @ (right if majors[1] == "n" else right.t())
    del left, right

    def check(run):
        sets[0][2].fill_(float("nan"))
        run(*sets[0], *majors)  # compiles
        # sums in float32 are rounded once to the 8 bits of a bfloat16; they differ by their order
        far = ~((sets[0][2].float() - want).abs() <= 2.0**-8 * want.abs() + 2.0**-12 * k**0.5)
        if far.any():
            raise ValueError(f"{int(far.sum())} of {m * n} elements are wrong")

    # cuBLAS adds some parts of k in bfloat16 where it splits k, which PyTorch allows it
    runs = {name: run for name, run in runs.items() if name == "cublas" or passes(torch, name, lambda run=run: check(run))}
    return measured(torch, {name: lambda i, run=run: run(*sets[i % copies], *majors) for name, run in runs.items()}, modes)


# --- the child: a shape comes as a line, and lines of JSON go back ---


def say(**what):
    print(json.dumps(what), flush=True)


def passes(torch, name, check):
    """Does a side pass? If not, it is said why; an error of the GPU ends the process."""
    say(running=name)
    try:
        check()
    except Exception as e:
        torch.cuda.synchronize()
        say(failed=name, why=f"{type(e).__name__}: {e}")
        return False
    return True


def child(words, sides=sides, measure=measure):
    """words: the modes, then the names of the sides."""
    import torch

    modes, *names = words
    contestants = sides(torch, names)
    torch.zeros(1, device="cuda")
    say(ready=True)
    for line in sys.stdin:
        say(times=measure(torch, json.loads(line), contestants, modes.split(",")))


class Child:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.errors, self.running = queue.Queue(), [], "nothing yet"
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def answer(self, key, limit):
        """What it says under that key, within so many seconds; else a RuntimeError with the
        reason."""
        end = time.monotonic() + limit
        while True:
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"it has not ended after {limit} s") from None
            if line is None:
                self.process.wait()
                time.sleep(0.2)  # for the last of its words
                raise RuntimeError("".join(self.errors[-1:]).strip() or f"it ended with status {self.process.returncode}")
            with contextlib.suppress(ValueError):  # other words than ours
                said = json.loads(line)
                if key in said:
                    return said[key]
                self.running = said.get("running", self.running)
                if "failed" in said:
                    print(f"{self.measured}: {said['failed']} failed: {said['why']}", flush=True)

    def measure(self, shape, called):
        self.measured = called
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(shape) + "\n")
            self.process.stdin.flush()
        return self.answer("times", LIMIT)

    def close(self):
        self.process.kill()


def measure_all(names, shapes, command, out, label=label):
    """out(shape, seconds by name) for each shape. A side that fails is named, and left out from
    there on. label(shape): what the shape is called."""
    names, shapes = list(names), list(shapes)
    while shapes:
        it = Child([*command, *names])
        try:
            it.answer("ready", START)
            while shapes:
                out(shapes[0], it.measure(shapes[0], label(shapes[0])))
                shapes.pop(0)
        except RuntimeError as e:
            print(f"{label(shapes[0])}: {it.running} failed: {e}", flush=True)
            if it.running not in names or it.running == "cublas":
                return False
            names.remove(it.running)
        finally:
            it.close()
    return True


def options(doc):
    p = parser(doc)
    p.add_argument("--quick", action="store_true", help="fewer lines")
    p.add_argument("--sides", help="only these of ours and of the peers, by their columns' names, after one another by commas")
    p.add_argument("--turns", action="store_true", help="on a busy GPU, too: in turns without a pause")
    return p


def command_of(file, args):
    """The child's, but for the sides' names."""
    return [sys.executable, file, "--child", "burst,turns" if args.turns else "burst"]


def chosen(args, names, always=()):
    """Those that --sides names, and those that the others are compared with."""
    wanted = args.sides.split(",") if args.sides else names
    if unknown := [name for name in wanted if name not in names]:
        sys.exit(f"--sides: there is no {unknown[0]} here, but {', '.join(names)}")
    return [name for name in names if name in wanted or name in always]


def peers(*modules):
    """Those that are installed; what is not is named."""
    there = tuple(name for name in modules if importlib.util.find_spec(name))
    for name in modules:
        if name not in there:
            print(f"{name} is not installed: its columns stay empty")
    return there


def main():
    args = options(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch"):
        print("torch is not installed: nothing to compare with")
        return 0
    ours = ("warps", *(NEWEST if device.compute_capability[0] == 9 else ()), "triton")
    names = chosen(args, ("cublas", *ours[:-1], *peers("triton")), ("cublas",))
    report = Report(f"C = A @ B on {device.name}", [("m x n x k", 33), ("mode", 5), ("cublas TFLOP/s", 14), *((name, 8) for name in ours)])

    def out(shape, modes):
        for mode, t in modes.items():
            report.row(label(shape), mode, 2 * shape[0] * shape[1] * shape[2] / t["cublas"] / 1e12, *(t["cublas"] / t[name] if name in t else None for name in ours))

    done = measure_all(names, QUICK if args.quick else SHAPES, command_of(__file__, args), out)
    report.save(args.json, device=device.name)
    return 0 if done else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        sys.exit(main())
