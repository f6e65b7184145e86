"""What makes a batch of random programs fault on a GPU: runs it in many ways, each in a process of its own, and says which of them fault.

    scripts/gpu run python tests/gpu/faults.py SEED [SEED…] [--n 64] [--opt 3] [--seconds 300] [--ways TEXT,…] [--out FOLDER]

A batch is n programs from SEED on, one kernel, as `scripts/soak --device cuda` makes it. The ways: as it is; twice more; with the threads one
by one (blocks of one thread: no warp diverges); by the driver's compiler at each level; by ptxas at each level, where it is on PATH; with more stack;
with LLVM's optimisation at each level; under compute-sanitizer, where it is on PATH. Then the programs are halved for as long as one half
faults. FOLDER (or $OUT) gets the PTX, the cubin that the driver's compiler made, a core dump of the GPU and what compute-sanitizer says.

tests/gpu/driver_shim.c stands before the driver for some of that. It needs a C compiler."""

import argparse
import ctypes.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROPERTY = HERE.parent / "property"
PLACES = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/usr/local/cuda/compat"]


def one(seeds, opt, rows):
    """In a process of its own: exit status 0 if all is right, 3 if results differ, 4 for an exception."""
    sys.path.insert(0, str(PROPERTY))
    import differential

    if "PYPTX_ON_PTX" in os.environ:  # to try this script where there is no GPU
        sys.path[:0] = [str(HERE.parent), str(HERE.parent / "api")]
        import ptx_on_cpu

        ptx_on_cpu.choose()
    cases = [differential.case_of(s, rows) for s in seeds]
    for case in cases:
        case.reference = case.expected()
    batch = differential.Batch(cases)
    try:
        arrays, _ = batch.run(opt=opt)
    except Exception as e:
        print(f"{type(e).__name__}: {str(e).splitlines()[0]}")
        return 4
    failures = [differential.compare(c, s, arrays, None, k, "cuda") for k, (c, s) in enumerate(zip(cases, batch.slots))]
    for failure in filter(None, failures):
        print(str(failure)[:600])
    return 3 if any(failures) else 0


def driver():
    """The libcuda that is there."""
    own = os.environ.get("PYPTX_DRIVER")
    if own:
        return own
    for place in PLACES:
        if (Path(place) / "libcuda.so.1").exists():
            return str(Path(place) / "libcuda.so.1")
    return ctypes.util.find_library("cuda")


def shim(folder):
    library, real = Path(folder, "shim.so"), driver()
    command = ["gcc", "-shared", "-fPIC", "-O1", HERE / "driver_shim.c", "-o", library, "-Wl,--no-as-needed", real, f"-Wl,-rpath,{Path(real).parent}", "-ldl"]
    subprocess.run(command, check=True)
    return library


class Runs:
    def __init__(self, options, out, library):
        self.o, self.out, self.library = options, out, library
        self.end = time.monotonic() + options.seconds

    def run(self, seeds, name, before=(), opt=None, **env):
        """"right", "wrong", "fault …" or what else came of it."""
        left = self.end - time.monotonic()
        if left < 5:
            return "no time"
        command = [*before, sys.executable, __file__, "--one", *map(str, seeds), "--opt", str(self.o.opt if opt is None else opt), "--rows", str(self.o.rows)]
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=min(left, 120), env={**os.environ, "PYPTX_DRIVER": str(self.library), **env})
        except subprocess.TimeoutExpired:
            return "takes too long"
        seconds = time.monotonic() - start
        text = done.stdout.strip()
        (self.out / f"{name}.txt").write_text(f"{done.stdout}\n{done.stderr}")
        notes = " ".join(line[6:] for line in done.stderr.splitlines() if line.startswith("shim: ") and "local memory" in line)
        if done.returncode == 0:
            verdict = "right"
        elif done.returncode == 3:
            verdict = "wrong: " + text.splitlines()[0]
        elif "ILLEGAL_ADDRESS" in text or "700" in text:
            verdict = "FAULT"
        else:
            verdict = "other: " + ((text or done.stderr.strip() or str(done.returncode)).splitlines()[-1])[:200]
        return f"{verdict} ({seconds:.0f} s; {notes})"

    def ways(self, first):
        """(name, options of run)"""
        base = f"{first}"
        yield "as it is", dict(name=f"{base}_plain", SHIM_KEEP=str(self.out / f"{base}_plain"))
        yield "again, with a core dump", dict(
            name=f"{base}_core", CUDA_ENABLE_COREDUMP_ON_EXCEPTION="1", CUDA_ENABLE_LIGHTWEIGHT_COREDUMP="1", CUDA_COREDUMP_FILE=str(self.out / f"{base}.nvcudmp")
        )
        yield "blocks of one thread", dict(name=f"{base}_block1", PYPTX_SOAK_BLOCK="1")
        if shutil.which("compute-sanitizer"):
            yield "compute-sanitizer", dict(name=f"{base}_sanitizer", before=["compute-sanitizer", "--tool", "memcheck", "--print-limit", "4"])
        yield "64 KiB of stack", dict(name=f"{base}_stack", SHIM_STACK="65536")
        for level in (3, 2, 1, 0):
            yield f"driver's compiler, level {level}", dict(name=f"{base}_jit{level}", SHIM_LEVEL=str(level))
        if shutil.which("ptxas"):
            for level in (3, 2, 1, 0):
                yield f"ptxas -O{level}", dict(name=f"{base}_ptxas{level}", SHIM_PTXAS=f"-O{level}")
        for opt in (2, 1, 0):
            yield f"opt={opt}", dict(name=f"{base}_opt{opt}", opt=opt)

    def batch(self, first):
        seeds = range(first, first + self.o.n)
        verdict = "no time"
        for name, how in self.ways(first):
            if not any(word in name for word in self.o.ways.split(",")):
                continue
            found = self.run(seeds, **how)
            print(f"{first}: {name:32} {found}", flush=True)
            if name == "as it is":
                verdict = found
        if verdict.startswith("FAULT"):
            small = halved(list(seeds), lambda some: self.run(some, name=f"{first}_half").startswith("FAULT"))
            print(f"{first}: faults with {len(small)} programs: {small}", flush=True)
            self.run(small, name=f"{first}_small", SHIM_KEEP=str(self.out / f"{first}_small"))


def halved(seeds, faults):
    """As few of the seeds as halving finds that fault together: a half, or else all but a quarter, an eighth …"""
    parts = 2
    while len(seeds) > 1:
        size = -(-len(seeds) // parts)
        pieces = [seeds[k : k + size] for k in range(0, len(seeds), size)]
        for piece in pieces:
            rest = [s for s in seeds if s not in piece]
            if parts == 2 and faults(piece):
                seeds = piece
                break
            if parts > 2 and faults(rest):
                seeds, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(seeds))
    return seeds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--n", type=int, default=64)
    parser.add_argument("--opt", type=int, default=3)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=300, help="for all batches together")
    parser.add_argument("--ways", default="", help='only those with one of these texts in their names: "as it is,ptxas"')
    parser.add_argument("--out", default=os.environ.get("OUT", "build/faults"))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return one(options.seeds, options.opt, options.rows)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    os.environ["PYPTX_DEVICE"] = "gpu"
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, out.resolve(), shim(folder))
        for first in options.seeds:
            runs.batch(first)


if __name__ == "__main__":
    sys.exit(main())
