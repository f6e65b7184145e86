"""Tools of the CUDA toolkit that pyptx runs when asked: ptxas, nvdisasm and fatbinary.

They are looked for in CUDA_HOME and CUDA_PATH, on PATH, in NVIDIA's packages of pip (nvidia/*/bin
beside pyptx) and in /usr/local/cuda. PYPTX_PTXAS, PYPTX_NVDISASM and PYPTX_FATBINARY are orders:
then nothing else is looked at."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

_PACKAGES = {"ptxas": "nvidia-cuda-nvcc", "fatbinary": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}


class ToolError(RuntimeError):
    """A tool of the CUDA toolkit is missing, or has failed."""


def folders():
    """Where the tools are looked for beside PATH: (before it, after it)."""
    homes = [os.path.join(home, "bin") for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")) if home]
    wheels = [path for entry in sys.path for path in sorted(glob.glob(os.path.join(glob.escape(entry or "."), "nvidia", "*", "bin")), reverse=True)]
    return homes, [*wheels, "/usr/local/cuda/bin"]


def find(tool):
    """The path of a tool. ToolError says what to install."""
    variable = f"PYPTX_{tool.upper()}"
    given = os.environ.get(variable)
    if given:
        if not shutil.which(given):
            raise ToolError(f"{variable} is '{given}', which is not a program")
        return given
    before, after = folders()
    places = os.pathsep.join([*before, os.environ.get("PATH", os.defpath), *after])
    path = shutil.which(tool, path=places)
    if not path:
        raise ToolError(f"{tool} was not found\n  help: pip install {_PACKAGES[tool]}, or install the CUDA toolkit and set CUDA_HOME to its folder; "
                        f"{variable} names the program itself")
    return path


def _run(command, log=False):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise ToolError(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()}")
    return done.stderr + done.stdout if log else done.stdout


# --- PTX to machine code ---


@dataclass
class Usage:
    """What ptxas says of a kernel: registers of a thread; bytes of shared memory of a block
    (static), of a thread's stack, and of what is stored to and loaded from local memory because the
    registers do not suffice."""

    registers: int = 0
    shared: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    constant: int = 0


_NUMBERS = {
    "registers": r"Used (\d+) registers", "shared": r"(\d+) bytes smem", "stack": r"(\d+) bytes stack frame",
    "spill_stores": r"(\d+) bytes spill stores", "spill_loads": r"(\d+) bytes spill loads",
}  # fmt: skip


def read_usage(log, symbol):
    """Usage of an entry, from what `ptxas -v` prints."""
    _, found, rest = log.partition(f"Compiling entry function '{symbol}'")
    if not found:
        raise ToolError(f"ptxas says nothing of '{symbol}': {log.strip()[:400]}")
    text = rest.partition("Compiling entry function")[0]
    # Of other functions of the module there are properties too: an entry's stand under its name.
    own = text[text.find(f"Function properties for {symbol}\n"):]
    usage = Usage(**{name: int(match[1]) if (match := re.search(pattern, own)) else 0 for name, pattern in _NUMBERS.items()})
    usage.constant = sum(int(n) for n in re.findall(r"(\d+) bytes cmem\[\d+\]", own))
    return usage


def target_of(ptx, arch):
    """The architecture that the PTX names where it is `arch` with a letter (sm_90a), else `arch`."""
    named = re.search(r"^\.target\s+(\w+)", ptx, re.MULTILINE)
    return named[1] if named and named[1].rstrip("af") == arch else arch


def assemble(ptx, arch, options=()):
    """(cubin, what ptxas -v says) of PTX for an architecture. What ptxas refuses is a CompileError
    where it is about a line in Python (PT411, PT413, PT414), and a ToolError elsewhere."""
    ptxas = find("ptxas")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        try:
            log = _run([ptxas, "-v", f"-arch={target_of(ptx, arch)}", *options, "-o", str(cubin), str(source)], log=True)
        except ToolError as error:
            from pyptx import _pyptx

            _pyptx._assembled_advice(None, ptx, 0, 0, str(error))  # raises what it finds a line for
            raise
        return cubin.read_bytes(), log


def disassemble(cubin, options=()):
    """SASS of a cubin."""
    nvdisasm = find("nvdisasm")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        return _run([nvdisasm, "-c", *options, str(path)])


_DECLARED = re.compile(r"^(?P<what>(?:\.(?:visible|weak|common|extern)\s+)*)\.(?:global|const|shared|func)\b(?P<rest>[^\n]*)", re.MULTILINE)
_NAME = re.compile(r"([$\w]+)\s*(?:\[[^\]]*\]\s*)*(?:=|;|$|\()")


def _own_symbols(ptx):
    """The names of a PTX text's module that no other text refers to."""
    found = set()
    for declared in _DECLARED.finditer(ptx):
        if not declared["what"]:
            rest = re.sub(r"^\s*\([^)]*\)", "", declared["rest"])  # a function's result
            found.update(name[1] for name in [_NAME.search(rest)] if name)
    return found


def merge_ptx(texts):
    """The kernels of several PTX texts, of one architecture, as one text. What each has for itself is
    renamed, what several declare of others is declared once."""
    version, bodies, external, target = (0, 0), [], {}, None
    for number, text in enumerate(texts):
        if re.search(r"^\s*\.(file|section)\b", text, re.MULTILINE):
            raise ToolError("kernels with line numbers do not go into one image: leave out --lineinfo and --debug, or write each to a folder of its own")
        text = re.sub(r"//[^\n]*", "", text)
        head = re.search(r"\.version\s+(\d+)\.(\d+)\s+(\.target[^\n]*)\s+\.address_size\s+64", text)
        version, target = max(version, (int(head[1]), int(head[2]))), head[3].strip()
        body = text[head.end():]
        for outer in re.findall(r"^\.extern\s[^;]*;", body, re.MULTILINE):
            external[" ".join(outer.split())] = outer
        body = re.sub(r"^\.extern\s[^;]*;", "", body, flags=re.MULTILINE)
        own = sorted(_own_symbols(body))
        if number and own:
            body = re.sub(r"(?<![$\w%.])(" + "|".join(map(re.escape, own)) + r")(?![$\w])", rf"\1__{number}", body)
        bodies.append(re.sub(r"\n\s*\n+", "\n\n", body.strip()))
    return "\n\n".join([f".version {version[0]}.{version[1]}\n{target}\n.address_size 64", *external.values(), *bodies]) + "\n"


def fatbin(images):
    """A fatbin of [(kind, arch, bytes)], kind "ptx" or "cubin": the driver takes the cubin of its
    GPU, else it compiles the PTX."""
    fatbinary = find("fatbinary")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "kernel.fatbin"
        options = []
        for number, (kind, arch, data) in enumerate(images):
            path = Path(folder) / f"{number}.{kind}"
            path.write_bytes(data)
            options.append(f"--image3=kind={'elf' if kind == 'cubin' else 'ptx'},sm={arch.removeprefix('sm_')},file={path}")
        _run([fatbinary, "-64", f"--create={out}", *options])
        return out.read_bytes()


# --- kernel.inspect_sass ---


def sass(asm, capability):
    """SASS of one PTX text, or of each text in a dict."""
    arch = f"sm_{capability}"
    if isinstance(asm, dict):
        return {signature: sass_of(ptx, arch) for signature, ptx in asm.items()}
    return sass_of(asm, arch)


def sass_of(ptx, arch):
    """SASS of a kernel's PTX, under a comment that says what it needs of a multiprocessor."""
    cubin, log = assemble(ptx, arch)
    head = []
    for symbol in re.findall(r"\.visible \.entry ([\w$]+)", ptx):
        from pyptx import _occupancy

        head += [f"// {line}" for line in _occupancy.report(symbol, arch, read_usage(log, symbol))]
    return "\n".join([*head, disassemble(cubin)])


def for_arch(kernel, signature, arch, of):
    """of(what _compile gives, arch) of a kernel for an architecture that need not be there: for a
    signature, or for None of all that are compiled, by signature."""
    from pyptx import _pyptx
    from pyptx.cli import Usage as Wrong
    from pyptx.cli import arch_name
    from pyptx.cuda._jit import _signature_text

    try:
        arch = arch_name(arch)
    except Wrong as error:
        raise ValueError(str(error)) from None
    if arch == "host":
        raise ValueError("arch is a GPU's, whose machine code this is about; inspect_asm shows the host's")

    def one(text):
        return of(_pyptx._compile(kernel, text, "nvptx", arch, 0, {}, "ptx,apart"), arch)

    if signature is not None:
        return one(signature if isinstance(signature, str) else _signature_text(signature))
    return {types: one(_signature_text(types)) for types in kernel.signatures}


def sass_for(kernel, signature, arch):
    """kernel.inspect_sass(signature, arch=…)."""
    return for_arch(kernel, signature, arch, lambda out, arch: sass_of(out["ptx"], arch))


# --- kernel.resources ---


def resources_for(kernel, signature, arch):
    """kernel.resources(signature, arch=…)."""
    from pyptx import _pyptx

    def resources(out, arch):
        log = assemble(out["ptx"], arch)[1]
        usage = read_usage(log, out["symbol"])
        advice = _pyptx._assembled_advice(kernel.py_func.__code__, out["ptx"], usage.stack, usage.registers, log, True)
        return {"registers": usage.registers, "static_shared": usage.shared, "constant": usage.constant, "local": usage.stack,
                "spill_stores": usage.spill_stores, "spill_loads": usage.spill_loads, "max_threads": None, "advice": advice, "log": log}

    return for_arch(kernel, signature, arch, resources)
