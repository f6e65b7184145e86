"""Machine code of the sets' kernels, kernel by kernel and inner loop by inner loop, beside tests/bench/loops.txt.

    python bench/loops.py              what differs from that file
    python bench/loops.py --update     writes it
    python bench/loops.py NAME...      the lines of these kernels

It needs no GPU and no toolkit: ptxas and nvdisasm are those of pip's packages (requirements-dev.txt), so that the figures repeat exactly.
The code is what launches take whose integers and extents fit 31 bits: that of the narrow signature.
A line is an entry of a kernel (coarsened ones have two) or, indented, one of its inner loops in the order of the code:

    code    instructions, those that only pad aside
    int64   integer instructions of 64 bits, and parts of such: IMAD.WIDE, .X and .EX with their carries, SHF.L.U64, F2I.S64
    loads   from global memory (LDG, LD)
    early   loads of the loop's body before anything that one of them has loaded is used: how many are in flight
    regs    registers of a thread
    local   bytes of a thread's local memory: stack and spills

An inner loop reaches from the target of a branch backwards to that branch and has no other in it.
"""

import argparse
import difflib
import glob
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tests" / "bench" / "loops.txt"
ARCH = "sm_90"
BYTES = 16  # of an instruction
COLUMNS = ("code", "int64", "loads", "early", "regs", "local")


class Instruction(NamedTuple):
    name: str  # with its modifiers: "LDG.E.64"
    operands: str
    to: int | None = None  # the number of the instruction that a branch goes to


def of_pip(*parts):
    """The path of a file of pip's packages of the toolkit; None where they are not installed."""
    found = [path for entry in sys.path for path in sorted(glob.glob(os.path.join(glob.escape(entry or "."), "nvidia", "*", *parts)))]
    return found[0] if found else None


def packaged(tool):
    return of_pip("bin", tool)


def missing():
    """None, or what is not installed."""
    tools = [tool for tool in ("ptxas", "nvdisasm") if not packaged(tool)]
    return f"pip's packages of {' and '.join(tools)} are not installed (requirements-dev.txt)" if tools else None


# --- listings of nvdisasm


def disassembled(codes):
    """[[Instruction]] of pieces of machine code. One call for all: nvdisasm takes 0.4 s to begin."""
    from pyptx import _tools

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code"
        path.write_bytes(b"".join(codes))
        listing = _tools._run([packaged("nvdisasm"), "--binary", ARCH.replace("sm_", "SM"), "--no-dataflow", str(path)])
    return pieces(listing, [len(code) for code in codes])


def pieces(listing, sizes):
    """The listing cut where a piece of so many bytes ends; places count from the piece's beginning."""
    out, begin, rest = [], 0, iter(instructions(listing))
    for size in sizes:
        piece = [next(rest) for _ in range(size // BYTES)]
        out.append([i._replace(to=i.to - begin if i.to is not None else None) for i in piece])
        begin += size // BYTES
    return out


def instructions(listing):
    """Every Instruction of a listing, in order; `to` counts instructions from the beginning."""
    for line in listing.splitlines():
        m = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;", line)
        if m:
            to = re.search(r"\b0x([0-9a-f]+)$", m.group(2)) if m.group(1).split(".")[0] == "BRA" else None
            yield Instruction(*m.groups(), int(to.group(1), 16) // BYTES if to else None)


def inner_loops(code):
    """The instructions of each inner loop, in the order of the code."""
    loops = {}
    for at, i in enumerate(code):
        if i.to is not None and i.to < at:  # the branch to itself at a kernel's end is no loop
            loops[i.to] = at + 1
    return [code[a:b] for a, b in sorted(loops.items()) if not any((a, b) != (c, d) and a <= c and d <= b for c, d in loops.items())]


# --- counts

MEMORY = re.compile(r"(LD|ST|ATOM|RED|CCTL)")
FLOAT = re.compile(r"(F(?!2I)|D|H|MUFU)")


def is_wide(i):
    """Is this an integer operation of 64 bits, or a part of one."""
    return not MEMORY.match(i.name) and not FLOAT.match(i.name) and re.search(r"\.(X|EX|WIDE|64|[US]64)\b", i.name) is not None


def is_load(i):
    return i.name.split(".")[0] in ("LDG", "LD")


def registers(text):
    return {int(n) for n in re.findall(r"\bR(\d+)\b", text)}


def loaded_by(i):
    """Registers that a load writes."""
    first = re.match(r"R(\d+)", i.operands)
    size = {"64": 2, "128": 4}.get(next((part for part in i.name.split(".") if part in ("64", "128")), ""), 1)
    return set(range(int(first.group(1)), int(first.group(1)) + size)) if first else set()


def used_by(i):
    """Registers that an instruction reads."""
    stores = i.name.split(".")[0] in ("ST", "STG", "STS", "STL", "RED")
    return registers(i.operands if stores else i.operands.partition(",")[2])


def early_loads(body):
    count, waiting = 0, set()
    for i in body:
        if used_by(i) & waiting:
            break
        if is_load(i):
            count += 1
            waiting |= loaded_by(i)
    return count


def counts(body):
    """code, int64, loads, early."""
    body = [i for i in body if i.name != "NOP"]
    return len(body), sum(map(is_wide, body)), sum(map(is_load, body)), early_loads(body)


# --- the table


def row(name, values):
    cells = "".join(f"{v:>8}" for v in values)
    return f"{name:<34}{cells}".rstrip()


def assembled(kernel):
    """[(entry, its code, what ptxas says of it)] of a kernel's entries."""
    from counts import sections
    from pyptx import _tools, cuda

    ptx = cuda.compile_ptx(kernel.function, f"narrow ({kernel.signature})", cc=ARCH, coarsen=True)[0]
    cubin, log = _tools.assemble(ptx, ARCH)
    codes = {name.removeprefix(".text."): code for name, code in sections(cubin).items() if name.startswith(".text.")}
    names = re.findall(r"\.visible \.entry ([\w$]+)", ptx)
    return [(name, codes[name], _tools.read_usage(log, name)) for name in sorted(names)]


def lines_of(label, code, usage):
    """The lines of an entry."""
    return [row(label, (*counts(code), usage.registers, usage.stack)), *(row("  loop", counts(loop)) for loop in inner_loops(code))]


def table(wanted=lambda kernel: True):
    """All lines. Kernels are assembled side by side, on all cores."""
    from kernels import SETS
    from pyptx import _tools

    kernels = [(of, kernel) for of in SETS if of != "trips" for kernel in SETS[of] if wanted(kernel)]
    pinned = {"PYPTX_PTXAS": packaged("ptxas"), "PYPTX_LIBDEVICE": of_pip("nvvm", "libdevice", "libdevice.10.bc")}
    before = {name: os.environ.get(name) for name in pinned}
    os.environ.update(pinned)
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(assembled, [kernel for _, kernel in kernels]))
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    parts = [(f"{of} {kernel.name}" + " coarse" * name.endswith("$coarse"), code, usage)
             for (of, kernel), of_kernel in zip(kernels, found) for name, code, usage in of_kernel]
    codes = disassembled([code for _, code, _ in parts])
    version = re.search(r"V(\d+\.\d+\.\d+)", _tools._run([packaged("ptxas"), "--version"])).group(1)
    return [row(f"{ARCH}, ptxas {version}", COLUMNS), *(line for (label, _, usage), code in zip(parts, codes) for line in lines_of(label, code, usage))]


def differences(new, old):
    """Lines of a diff, each under the kernel that it belongs to."""
    return list(difflib.unified_diff(old, new, "loops.txt", "now", lineterm="", n=2))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", help="words of kernels' names: print their lines")
    p.add_argument("--update", action="store_true", help=f"write {GOLDEN.relative_to(HERE.parent)}")
    args = p.parse_args()
    if missing():
        raise SystemExit(missing())
    if args.names:
        print("\n".join(table(wanted=lambda kernel: any(word in kernel.name for word in args.names))))
        return 0
    new = table()
    old = GOLDEN.read_text().splitlines() if GOLDEN.exists() else []
    print("\n".join(differences(new, old)) or "as the goldens")
    if args.update:
        GOLDEN.write_text("\n".join(new) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
