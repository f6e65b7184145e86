"""What a report says of one kernel, one signature and one GPU, as plain data: dicts, lists, texts and
numbers, from which `page.py` draws and which tests compare."""

import json
import re
from collections import Counter

from pyptx import CompileError, _occupancy, _pyptx, _tools
from pyptx._report import gpus
from pyptx._report.count import Program
from pyptx._report.listings import block_of, constant_bytes, ptx_rows, sass_rows, sections, segment, source_lines, ssa_rows
from pyptx._report.types import Types

USUAL_BLOCK = 256
GET_TOOLS = "pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm, or install the CUDA toolkit and set CUDA_HOME to its folder"


def gather(kernel, signature, arch, gpu, block=None, dynamic_shared=0, options=None, symbol=None):
    """gpu: a key of gpus.TABLE, or None. The other arguments are those of the report; the signature
    is text."""
    out = _pyptx._compile(kernel, signature, "nvptx", arch, 0, {**(options or {}), "lineinfo": True}, "ptx,typed,apart", symbol)
    description = json.loads(out["typed"])
    files = description["files"]
    machine = assembled(kernel, signature, out, arch, files)
    own = block_of(out["ptx"])
    chosen = block or min(own or USUAL_BLOCK, USUAL_BLOCK)
    facts = gpus.facts(gpu) if gpu else None
    work = counted(description)
    said = [*out["advice"], *machine.pop("advice")]
    return {
        "kernel": getattr(kernel, "__qualname__", out["symbol"]), "signature": signature, "arch": arch, "gpu": facts, "symbol": out["symbol"],
        "version": _pyptx.__version__, "files": files, "sources": sources(description), "ssa": ssa_rows(description),
        "ptx": ptx_rows(out["ptx"], files), **machine,
        "occupancy": occupancies(arch, machine["usage"], chosen, own, block, dynamic_shared),
        "work": work, "roofline": roofline(work, facts) if facts else None,
        "advice": [{"code": a.code, "file": a.file, "line": a.line, "message": first_line(a), "text": str(a)} for a in said],
    }  # fmt: skip


def first_line(advice):
    return re.sub(rf"^{advice.code}: ", "", str(advice).partition("\n")[0])


def sources(description):
    out = []
    for file, first, last, names in sections(description):
        rows = Types(description, file, first, last).rows()
        out.append({"file": file, "first": first, "last": last, "functions": names, "lines": rows})
    return out


# --- machine code ---


def assembled(kernel, signature, out, arch, files):
    """usage and SASS, each None with the reason where there is none."""
    made = {"usage": None, "usage_from": "", "usage_missing": "", "sass": None, "sass_missing": "", "advice": []}
    if f".entry {out['symbol']}(" not in out["ptx"]:
        why = "a device function has no machine code of its own: it becomes a part of the kernels that call it"
        return {**made, "usage_missing": why, "sass_missing": why}
    try:
        cubin, log = _tools.assemble(out["ptx"], arch, ["-lineinfo"])
    except (_tools.ToolError, CompileError) as error:
        # what ptxas refuses, the driver refuses, too
        usage = of_module(kernel, signature, arch) if isinstance(error, _tools.ToolError) else None
        return {**made, "usage": usage, "usage_from": "the module that the driver has loaded" if usage else "", "usage_missing": str(error),
                "sass_missing": str(error)}
    usage = _tools.read_usage(log, out["symbol"])
    made["advice"] = _pyptx._assembled_advice(getattr(kernel, "py_func", kernel).__code__, out["ptx"], usage.stack, usage.registers, log, True)
    banks = constant_bytes(cubin, out["symbol"])
    made |= {"usage_from": f"ptxas for {arch}", "usage": {
        "registers": usage.registers, "shared": usage.shared, "stack": usage.stack, "spill_stores": usage.spill_stores,
        "spill_loads": usage.spill_loads, "constant": {str(bank): n for bank, n in sorted(banks.items())}}}  # fmt: skip
    try:
        made["sass"] = sass_rows(_tools.disassemble(cubin, ["-g"]), files)
    except _tools.ToolError as error:
        made["sass_missing"] = str(error)
    return made


def of_module(kernel, signature, arch):
    """The same, of the kernel as the driver of the current GPU has made it; None where that is
    another architecture, or no GPU."""
    device = _pyptx.get_current_device()
    if device.is_host or f"sm_{device.compute_capability[0]}{device.compute_capability[1]}" != arch or not hasattr(kernel, "get_regs_per_thread"):
        return None
    return {"registers": kernel.get_regs_per_thread(signature), "shared": kernel.get_shared_mem_per_block(signature),
            "stack": kernel.get_local_mem_per_thread(signature), "spill_stores": None, "spill_loads": None,
            "constant": {"": kernel.get_const_mem_size(signature)}}  # fmt: skip


# --- occupancy ---


def occupancies(arch, usage, chosen, most, asked, dynamic_shared):
    """Of blocks of 32, 64 … 1024 threads; None where the registers or the architecture are not
    known."""
    if usage is None or _occupancy.capability(arch) not in _occupancy.LIMITS:
        return None
    def at(threads):
        found = _occupancy.occupancy(arch, threads, usage["registers"], usage["shared"] + dynamic_shared)
        return {"threads": threads, "blocks": found.blocks, "part": found.part, "limit": found.limit}

    why = "as asked" if asked else f"launch_bounds says at most {most} threads" if most and most < USUAL_BLOCK else "a usual size; block= says yours"
    return {"rows": [at(threads) for threads in range(32, 1025, 32)], "chosen": at(chosen), "why": why, "most": most,
            "dynamic_shared": dynamic_shared, "limits": _occupancy.LIMITS[_occupancy.capability(arch)]._asdict()}  # fmt: skip


# --- bytes and flops ---

SPACES = ("global", "shared", "local", "constant")


def counted(description):
    """{"terms": [{"loops": [{"file", "line", "text"}], "bytes": {space: [loaded, stored]}, "flops":
    {bits: n}, "functions": {bits: n}, "atomics": n}], "notes": […]}: most nested loops first."""
    def source_of(file, *place):
        return segment(source_lines(description["files"][file]), *place)

    program = Program(description, source_of)
    work = program.work()
    terms = []
    for loops, counts in sorted(work.items(), key=lambda item: (-len(item[0]), item[0])):
        if any(counts.values()):
            terms.append({
                "loops": [loop._asdict() for loop in loops],
                "bytes": {space: [counts["load", space], counts["store", space]] for space in SPACES
                          if counts["load", space] or counts["store", space]},
                "flops": numbers(counts, "flops"), "functions": numbers(counts, "functions"),
                "atomics": sum(n for (kind, _), n in counts.items() if kind == "atomic")})  # fmt: skip
    return {"terms": terms, "notes": sorted(program.notes)}


def numbers(counts, kind):
    return {str(bits): n for (name, bits), n in sorted(counts.items(), key=str) if name == kind and n}


def leading(work):
    """(bytes of global memory, Counter of flops by bits, loops) of what counts most for long loops:
    the terms with the most unknown trip counts, per round of these."""
    terms = work["terms"]
    depth = len(terms[0]["loops"]) if terms else 0
    chosen = [term for term in terms if len(term["loops"]) == depth]
    flops = Counter()
    for term in chosen:
        flops.update({int(bits): n for bits, n in term["flops"].items()})
    nbytes = sum(sum(term["bytes"].get("global", ())) for term in chosen)
    return nbytes, flops, [term["loops"] for term in chosen]


def roofline(work, gpu):
    """Where the kernel is in the roofline of a GPU: operations a byte (None: no global memory), the
    TFLOPS that this allows, and what bounds them. None for a kernel that does neither."""
    nbytes, flops, loops = leading(work)
    total = sum(flops.values())
    if not total or not nbytes:
        bound = "memory" if nbytes else "compute" if total else None
        return bound and {"intensity": 0.0 if nbytes else None, "bytes": nbytes, "flops": total, "peak": peak(flops, gpu) if total else gpu["float32"],
                          "attainable": 0.0 if nbytes else peak(flops, gpu), "bound": bound, "loops": loops}  # fmt: skip
    intensity, top = total / nbytes, peak(flops, gpu)
    by_memory = intensity * gpu["bandwidth"] / 1000
    return {"intensity": intensity, "bytes": nbytes, "flops": total, "peak": top, "attainable": min(by_memory, top),
            "bound": "memory" if by_memory < top else "compute", "loops": loops}  # fmt: skip


def peak(flops, gpu):
    """TFLOPS of this mixture: float64 at its rate, all others at float32's."""
    time = sum(n / gpu["float64" if bits == 64 else "float32"] for bits, n in flops.items())
    return sum(flops.values()) / time
