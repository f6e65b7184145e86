"""Runs the entries of a kernel's GPU module on the CPU, one thread after another: LLVM's IR of the module, with reads of threadIdx and so
on from variables, through llc. So the coarsened entry can be compared with the kernel's own where there is no GPU."""

import ctypes
import itertools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from pyptx import _pyptx

LLC, CC = shutil.which("llc-22") or shutil.which("llc"), shutil.which("cc")
needs_llc = pytest.mark.skipif(
    not LLC or not CC or "version 22" not in subprocess.run([LLC, "--version"], capture_output=True, text=True).stdout,
    reason="no llc of LLVM 22, or no C compiler",
)
REGISTERS = [f"{name}_{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz"]
SCALARS = {("f", 4): ctypes.c_float, ("f", 8): ctypes.c_double, ("i", 4): ctypes.c_int32, ("i", 8): ctypes.c_int64}


# The GPU's approximations, here as good as they can be.
APPROXIMATIONS = """
declare double @llvm.sqrt.f64(double)
define internal float @approx_rsqrt(float %x) {
 %d = fpext float %x to double
 %r = call double @llvm.sqrt.f64(double %d)
 %q = fdiv double 1.0, %r
 %y = fptrunc double %q to float
 ret float %y
}
define internal float @approx_rcp(float %x) {
 %y = fdiv float 1.0, %x
 ret float %y
}
"""


def library(ir):
    text = re.sub(r"^(target|source_filename|declare.*sreg).*$", "", ir, flags=re.M)
    text = text.replace("ptx_kernel ", "").replace("addrspace(1)", "")
    text = re.sub(r"@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.(\w)", r"@read_\1_\2", text)
    text, used = re.subn(r"@llvm\.nvvm\.(rsqrt|rcp)\.approx\.ftz\.f\b", r"@approx_\1", text)
    text = re.sub(r"^declare.*@approx_.*$", "", text, flags=re.M) + APPROXIMATIONS * (used > 0)
    for name in REGISTERS:
        text += f"\n@{name} = global i32 0\ndefine internal i32 @read_{name}() {{\n %v = load i32, ptr @{name}\n ret i32 %v\n}}\n"
    folder = Path(tempfile.mkdtemp())
    (folder / "k.ll").write_text(text)
    subprocess.run([LLC, "-O1", "-mattr=+fma", "-filetype=obj", "-relocation-model=pic", folder / "k.ll", "-o", folder / "k.o"], check=True)
    subprocess.run([CC, "-shared", folder / "k.o", "-o", folder / "k.so", "-lm"], check=True)
    return ctypes.CDLL(str(folder / "k.so"))


class Entries:
    """A kernel and its coarsened entry, as @cuda.jit(coarsen=factor, **options) makes them (options of _pyptx.Dispatcher)."""

    def __init__(self, kernel, signature, factor, **options):
        made = _pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, {"coarsen": factor, **options}, "ptx,llvm_opt")
        self.note, self.symbol, self.params, self.factor = made["coarsening"], made["symbol"], made["params"], factor
        self.coarsened = "$coarse" in made["ptx"]
        self.axis = "xyz".index(self.note[-1]) if self.coarsened else 0
        self.code = library(made["llvm_opt"])

    def _values(self, arguments, blocks):
        for kind, size, axis, leaf, _ in self.params:
            if kind == "BLOCKS":
                if blocks is not None:
                    yield ctypes.c_int32(blocks)
                continue
            a = arguments[leaf]
            if kind == "POINTER":
                yield ctypes.c_void_p(a.ctypes.data)
            elif kind == "EXTENT32":
                yield ctypes.c_int32(a.shape[axis])
            elif kind == "STRIDE":
                yield ctypes.c_int64(a.strides[axis])
            else:
                assert kind == "SCALAR", kind
                yield SCALARS["f" if isinstance(a, float) else "i", size](a)

    def _set(self, name, values):
        for axis, value in zip("xyz", values):
            ctypes.c_int32.in_dll(self.code, f"{name}_{axis}").value = value

    def run(self, grid, block, arguments, coarse):
        grid, blocks = list(grid), grid[self.axis] if coarse else None
        if coarse:
            grid[self.axis] = -(-blocks // self.factor)
        entry = getattr(self.code, self.symbol + "$coarse" * coarse)
        values = list(self._values(arguments, blocks))
        self._set("nctaid", grid)
        self._set("ntid", block)
        for at in itertools.product(*map(range, reversed(grid))):
            self._set("ctaid", reversed(at))
            for thread in itertools.product(*map(range, reversed(block))):
                self._set("tid", reversed(thread))
                entry(*values)

    def check(self, grid, block, *arguments):
        """Both entries leave the same in every array."""
        after = [[a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
        self.run(grid, block, after[0], False)
        self.run(grid, block, after[1], True)
        for plain, coarse in zip(*after):
            if isinstance(plain, np.ndarray):
                assert plain.tobytes() == coarse.tobytes(), (self.symbol, self.note, grid, block)
