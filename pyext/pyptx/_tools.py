"""Tools of the CUDA toolkit that pyptx runs when asked: a disassembler for inspect_sass."""

import shutil
import subprocess
import tempfile
from pathlib import Path


def disassemble(ptx, arch):
    ptxas, nvdisasm, cuobjdump = (shutil.which(tool) for tool in ("ptxas", "nvdisasm", "cuobjdump"))
    if not ptxas or not (nvdisasm or cuobjdump):
        raise RuntimeError("inspect_sass needs ptxas and nvdisasm or cuobjdump of the CUDA toolkit on PATH")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        _run([ptxas, f"-arch={arch}", "-o", str(cubin), str(source)])
        return _run([nvdisasm, "-c", str(cubin)] if nvdisasm else [cuobjdump, "-sass", str(cubin)])


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
    return done.stdout


def sass(asm, capability):
    """SASS of one PTX text, or of each text in a dict."""
    arch = f"sm_{capability}"
    if isinstance(asm, dict):
        return {signature: disassemble(ptx, arch) for signature, ptx in asm.items()}
    return disassemble(asm, arch)
