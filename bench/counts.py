"""Instruction counts of a handful of kernels, kept as goldens: they repeat exactly where times do not.

    python bench/counts.py             the counts, and what differs from tests/bench/counts.json
    python bench/counts.py --update    writes that file
    python bench/counts.py --build A [--build B] [--arch sm_90 --arch sm_75]
                                       two builds (wheels or folders with the package; without B the one on the path): PTX and SASS
                                       of every kernel of bench/kernels and of the examples, and what differs

* PTX for sm_90: instructions by kind.
* SASS: instructions, registers, spills and stack as ptxas makes them; by kind where nvdisasm is on PATH. The goldens
  belong to one version of ptxas.
* Host instructions of a compile and of a launch through the stand-in driver, by valgrind's callgrind. One version of
  CPython, since most of a launch from Python is CPython's own; within a few per cent (see TOLERANCE).
"""

import argparse
import atexit
import collections
import functools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tests" / "bench" / "counts.json"
PLAIN = ("vadd", "jacobi", "heat3d", "block_sum", "softmax", "matmul_tiled", "black_scholes", "nbody", "spmv", "fft")
COARSE = {4: ("vadd", "jacobi", "heat3d", "black_scholes", "fft"), 8: ("matmul_tiled",)}
# name: (kernel, options of @cuda.jit)
SOME = {name: (name, {}) for name in PLAIN}
SOME |= {f"{name}, coarsen={k}": (name, {"coarsen": k}) for k, names in COARSE.items() for name in names}
ARCH = "sm_90"

# The counts repeat exactly on one machine with one build. A Release build beside RelWithDebInfo differs by up to 2.7 %
# (measured), another C library's copies and another patch release of CPython by less.
TOLERANCE = 0.04


# --- PTX


def ptx_of(name):
    """PTX of one of SOME. With coarsen= both entries of the module count."""
    from kernels import BY_NAME
    from pyptx import cuda

    kernel, options = BY_NAME[SOME[name][0]], SOME[name][1]
    return cuda.compile_ptx(kernel.function, kernel.signature, cc=ARCH, **options)[0]


def ptx_counts(ptx):
    """{kind: instructions}; a kind is the operation, with its state space where it has one."""
    counts = collections.Counter()
    for line in ptx.splitlines():
        line = re.sub(r"//.*", "", line).strip()
        line = re.sub(r"^@!?%?\w+\s+", "", line)
        if not line or not line.endswith(";") or line.startswith((".", "{", "}")):
            continue
        parts = line.rstrip(";").split()[0].split(".")
        spaces = [p for p in parts[1:] if p in ("global", "shared", "local", "param", "const")]
        counts[".".join([parts[0], *spaces[:1]])] += 1
    return dict(sorted(counts.items()))


# --- SASS


def ptxas_version(ptxas):
    text = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", text)
    return found.group(1) if found else "unknown"


def sections(elf):
    """{name: bytes} of the sections of a 64-bit ELF file."""
    offset, = struct.unpack_from("<Q", elf, 0x28)
    entry, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + k * entry) for k in range(count)]
    text = headers[names][4]

    def name(at):
        return elf[text + at : elf.index(b"\0", text + at)].decode()

    return {name(h[0]): elf[h[4] : h[4] + h[5]] for h in headers}


def sass_counts(ptx, ptxas, nvdisasm, arch=ARCH, loops=False):
    """What ptxas says and makes of the PTX: {"instructions", "registers", "stack", "spills", "kinds" or None, "loops" if asked for}.

    Of several entries the sum, but of registers the most.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, image = Path(folder) / "k.ptx", Path(folder) / "k.cubin"
        source.write_text(ptx)
        done = subprocess.run([ptxas, "-v", f"-arch={arch}", "-o", image, source], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        said = done.stdout + done.stderr
        code = sum(len(body) for name, body in sections(image.read_bytes()).items() if name.startswith(".text."))
        frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
        counts = {
            "instructions": code // 16, "registers": max(map(int, re.findall(r"Used (\d+) registers", said))),
            "stack": sum(int(f[0]) for f in frames), "spills": sum(int(f[1]) + int(f[2]) for f in frames), "kinds": None,
        }  # fmt: skip
        if nvdisasm:
            listing = subprocess.run([nvdisasm, "-c", image], capture_output=True, text=True, check=True).stdout
            counts["kinds"] = dict(sorted(collections.Counter(op for op, _ in sass_lines(listing) if op).items()))
            if loops:
                counts["loops"] = loop_lengths(listing)
        return counts


def sass_lines(listing):
    """Of each instruction of a listing of nvdisasm (operation, operands), of each label (None, label)."""
    for line in listing.splitlines():
        m = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w*)(.*)", line)
        if m:
            yield m.groups()
        elif m := re.match(r"(\.L_\w+):", line):
            yield None, m.group(1)


def loop_lengths(listing):
    """Instructions from the target to the end of each branch backwards; ptxas's own last one, which does nothing, aside."""
    at, labels, lengths = 0, {}, []
    for op, text in sass_lines(listing):
        if op is None:
            labels[text] = at
            continue
        at += op != "NOP"
        target = re.search(r"\.L_\w+", text) if op == "BRA" else None
        if target and at - labels.get(target.group(), at) > 1:
            lengths.append(at - labels[target.group()])
    return lengths


# --- callgrind

MARKS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_TOGGLE_COLLECT; }
void end(void) { CALLGRIND_TOGGLE_COLLECT; CALLGRIND_STOP_INSTRUMENTATION; }
"""
LAUNCHES = """
import numpy as np
x, y, out = (cuda.to_device(np.zeros(64, np.float32)) for _ in range(3))
kernel = cuda.jit(BY_NAME["vadd"].function)
configured = kernel[1, 64]
def work():
    %s
"""
COMPILES = """
kernel = BY_NAME[%r]
def work():
    cuda.compile_ptx(kernel.function, kernel.signature, cc="sm_90")
"""
# name: (source, calls before the count begins, calls that are counted)
HOST_WORK = {
    "launch, configured": (LAUNCHES % "configured(x, y, out)", 100, 1000),
    "launch, k[g, b](...)": (LAUNCHES % "kernel[1, 64](x, y, out)", 100, 1000),
    "compile vadd": (COMPILES % "vadd", 1, 1),
    "compile softmax": (COMPILES % "softmax", 1, 1),
}
FRAME = """
import ctypes
from pyptx import cuda
from kernels import BY_NAME
%s
def many(n):
    for _ in range(n):
        work()
many(%d)
marks = ctypes.PyDLL(%r)
marks.begin()
many(%d)
marks.end()
"""


@functools.cache
def scratch():
    """A folder that holds until exit."""
    folder = tempfile.TemporaryDirectory(prefix="pyptx-counts-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@functools.cache
def stripped_package():
    """The parent of a copy of the package without debug information, which valgrind may not know how to read."""
    import pyptx

    copy, module = scratch() / "pyptx", Path(pyptx._pyptx.__file__)
    shutil.copytree(Path(pyptx.__file__).parent, copy)
    target = copy / module.name
    target.unlink(missing_ok=True)
    subprocess.run(["strip", "-g", "-o", target, module.resolve()], check=True)
    return scratch()


@functools.cache
def marks():
    """The library with callgrind's switches, or None where valgrind's headers or a C compiler are missing."""
    source, library = scratch() / "marks.c", scratch() / "marks.so"
    source.write_text(MARKS)
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return None
    done = subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source], capture_output=True)
    return library if done.returncode == 0 else None


def why_no_host_counts():
    """None, or what is missing."""
    for tool in ("valgrind", "strip"):
        if not shutil.which(tool):
            return f"{tool} is not on PATH"
    if not os.environ.get("PYPTX_STANDIN"):
        return "PYPTX_STANDIN does not name the stand-in driver"
    return None if marks() else "no C compiler, or no valgrind/callgrind.h"


def host_counts(name):
    """Instructions of one call, CPython's around it included."""
    source, before, counted = HOST_WORK[name]
    path = os.pathsep.join([str(stripped_package()), str(HERE), *sys.path])
    env = {
        **os.environ, "PYTHONHASHSEED": "0", "PYPTX_CACHE_DIR": "", "PYTHONPATH": path, "PYPTX_DEVICE": "gpu",
        "PYPTX_DRIVER": os.environ["PYPTX_STANDIN"],
    }  # fmt: skip
    code = FRAME % (source, before, str(marks()), counted)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--instr-atstart=no",
         "--collect-atstart=no", sys.executable, "-c", code],
        capture_output=True, text=True, env=env,
    )  # fmt: skip
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(done.stderr[-2000:])
    return int(found.group(1)) // counted


def python_tag():
    return f"cp{sys.version_info[0]}{sys.version_info[1]}"


# --- goldens


def measure(old):
    """(all counts that this machine can make, the rest from `old`; what was left out and why)."""
    ptxas, nvdisasm = shutil.which("ptxas"), shutil.which("nvdisasm")
    why, missing = [], why_no_host_counts()
    new = {**old, "ptx": {}}
    if ptxas:
        new["sass"] = {"ptxas": ptxas_version(ptxas)}
    else:
        why.append("SASS: ptxas is not on PATH")
    for name in SOME:
        ptx = ptx_of(name)
        new["ptx"][name] = ptx_counts(ptx)
        if ptxas:
            new["sass"][name] = sass_counts(ptx, ptxas, nvdisasm)
    if ptxas and not nvdisasm:
        why.append("SASS by kind: nvdisasm is not on PATH")
    if missing:
        why.append(f"host: {missing}")
    else:
        new["host"] = {"python": python_tag(), **{name: host_counts(name) for name in HOST_WORK}}
    return new, why


def differences(new, old):
    """Lines: what differs between two sets of counts."""
    out = []
    for name, counts in new["ptx"].items():
        for kind in sorted({*counts, *old["ptx"].get(name, {})}):
            was, now = old["ptx"].get(name, {}).get(kind, 0), counts.get(kind, 0)
            if was != now:
                out.append(f"ptx  {name:24} {kind:14} {was} -> {now}")
    for part in ("sass", "host"):
        for name, now in new.get(part, {}).items():
            was = old.get(part, {}).get(name)
            if was != now:
                out.append(f"{part} {name:24} {was} -> {now}")
    return out


# --- two builds


def subjects():
    """{name: (function, signature)}: the first set of bench/kernels and the examples."""
    from compile import SIGNATURES, load
    from kernels import KERNELS

    found = {kernel.name: (kernel.function, kernel.signature) for kernel in KERNELS}
    for path, signature in SIGNATURES.items():
        file, name = path.split(".")
        found[f"examples/{file}.{name}"] = (getattr(load(file), name), signature)
    return found


def print_ptx(archs):
    """What `ptx_by` reads: the PTX of all of them, coarsened as launches are, by this process's build."""
    from pyptx import cuda

    texts = {
        f"{name} {arch}": cuda.compile_ptx(function, signature, cc=arch, coarsen=True)[0]
        for name, (function, signature) in subjects().items() for arch in archs
    }  # fmt: skip
    print(json.dumps(texts))


def ptx_by(folder, archs):
    """{"kernel arch": PTX} by the build in a folder, None: the one on the path."""
    path = [str(folder)] if folder else []
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")]), "PYPTX_DEVICE": "host"}
    command = [sys.executable, __file__, "--print-ptx", *(f"--arch={a}" for a in archs)]
    return json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout)


COMPARED = ("instructions", "registers", "spills", "loops")


def compare_builds(builds, archs):
    """Prints what differs; for a whole, SASS instructions, those in loops, registers and bytes of spills."""
    from kernels.builds import folder_of

    ptxas, nvdisasm = shutil.which("ptxas"), shutil.which("nvdisasm")
    if not ptxas:
        raise SystemExit("ptxas is not on PATH")
    a, b = (ptx_by(folder_of(build, scratch()) if build else None, archs) for build in builds)
    total, changed = [collections.Counter(), collections.Counter()], 0
    for name, ptx in a.items():
        pair = [sass_counts(p, ptxas, nvdisasm, name.split()[-1], loops=True) for p in ([ptx] if ptx == b[name] else [ptx, b[name]])]
        pair = [{k: one.get(k, []) for k in COMPARED} for one in (pair[0], pair[-1])]
        for whole, one in zip(total, pair):
            whole.update({k: sum(v) if k == "loops" else v for k, v in one.items()})
        changed += ptx != b[name]
        if pair[0] != pair[1]:
            print(f"{name:44}", "  ".join(f"{k} {pair[0][k]} -> {pair[1][k]}" for k in COMPARED if pair[0][k] != pair[1][k]))
    print(f"of {len(a)} the PTX of {changed} differs;", "  ".join(f"{k} {total[0][k]} -> {total[1][k]}" for k in COMPARED))
    if not nvdisasm:
        print("no lengths of loops: nvdisasm is not on PATH")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--update", action="store_true", help=f"write {GOLDEN.relative_to(HERE.parent)}")
    p.add_argument("--build", action="append", metavar="WHEEL|FOLDER", help="compare with this build; twice: these two")
    p.add_argument("--arch", action="append", help=f"with --build: for these, default {ARCH} and sm_75")
    p.add_argument("--print-ptx", action="store_true", help=argparse.SUPPRESS)
    args = p.parse_args()
    archs = args.arch or [ARCH, "sm_75"]
    if args.print_ptx:
        return print_ptx(archs)
    if args.build:
        if len(args.build) > 2:
            p.error("--build is given once or twice")
        return compare_builds(args.build if len(args.build) == 2 else [*args.build, None], archs)
    old = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {"ptx": {}, "sass": {}, "host": {}}
    new, why = measure(old)
    for line in why:
        print("left as it was:", line)
    print("\n".join(differences(new, old)) or "as the goldens")
    if args.update:
        GOLDEN.write_text(json.dumps(new, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
