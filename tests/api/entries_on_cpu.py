"""Runs the entries of a kernel's GPU module on the CPU: LLVM's IR of the module through llc, with reads of threadIdx and so on from variables.
The threads of a block take turns, each up to the next barrier or its end. So the coarsened entry can be compared with the kernel's own where
there is no GPU."""

import ctypes
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from llvm_text import MAJOR
from pyptx import _pyptx

LLC, CC = shutil.which(f"llc-{MAJOR}") or shutil.which("llc"), shutil.which("cc")
needs_llc = pytest.mark.skipif(
    not LLC or not CC or f"version {MAJOR}" not in subprocess.run([LLC, "--version"], capture_output=True, text=True).stdout,
    reason=f"no llc of LLVM {MAJOR}, or no C compiler",
)
LANES = ["laneid", *(f"lanemask_{which}" for which in ("eq", "lt", "le", "gt", "ge"))]
REGISTERS = [*(f"{name}_{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz"), *LANES]
SCALARS = {("f", 4): ctypes.c_float, ("f", 8): ctypes.c_double, ("i", 4): ctypes.c_int32, ("i", 8): ctypes.c_int64}
C_NAMES = {ctypes.c_float: "float", ctypes.c_double: "double", ctypes.c_int32: "int", ctypes.c_int64: "long", ctypes.c_void_p: "void *"}
DRIVER = """
#include <stdlib.h>
#include <ucontext.h>
extern unsigned laneid, lanemask_eq, lanemask_lt, lanemask_le, lanemask_gt, lanemask_ge;
extern int tid_x, tid_y, tid_z, ctaid_x, ctaid_y, ctaid_z, ntid_x, ntid_y, ntid_z, nctaid_x, nctaid_y, nctaid_z;
enum { MOST = 1024, STACK = 1 << 16 };
static ucontext_t scheduler, threads[MOST];
static int now, ended[MOST];
static void *barriers[MOST]; /* where a thread waits */
static void (*entry)(void);

void pass_barrier(int number) {
  barriers[now] = __builtin_return_address(0);
  swapcontext(&threads[now], &scheduler);
}

static void run_thread(void) {
  entry();
  ended[now] = 1;
}

/* 1: threads wait at different barriers, or at one that others do not come to any more. */
static int run_block(char *stacks) {
  int n = ntid_x * ntid_y * ntid_z, left = n, wrong = 0;
  for (int t = 0; t < n; t++) {
    getcontext(&threads[t]);
    threads[t].uc_stack.ss_sp = stacks + (size_t)t * STACK;
    threads[t].uc_stack.ss_size = STACK;
    threads[t].uc_link = &scheduler;
    makecontext(&threads[t], run_thread, 0);
    ended[t] = 0;
    barriers[t] = NULL;
  }
  while (left) {
    void *at = NULL;
    for (now = 0; now < n; now++) {
      if (ended[now])
        continue;
      tid_x = now % ntid_x, tid_y = now / ntid_x % ntid_y, tid_z = now / (ntid_x * ntid_y);
      laneid = now % 32, lanemask_eq = 1u << laneid, lanemask_lt = lanemask_eq - 1, lanemask_ge = ~lanemask_lt;
      lanemask_le = lanemask_lt | lanemask_eq, lanemask_gt = ~lanemask_le;
      swapcontext(&scheduler, &threads[now]);
      left -= ended[now];
      wrong |= !ended[now] && at && barriers[now] != at;
      at = ended[now] ? at : barriers[now];
    }
    wrong |= at && left < n;
  }
  return wrong;
}

int run_grid(void (*f)(void)) {
  int wrong = 0;
  char *stacks = malloc((size_t)MOST * STACK);
  entry = f;
  for (ctaid_z = 0; ctaid_z < nctaid_z; ctaid_z++)
    for (ctaid_y = 0; ctaid_y < nctaid_y; ctaid_y++)
      for (ctaid_x = 0; ctaid_x < nctaid_x; ctaid_x++)
        wrong |= run_block(stacks);
  free(stacks);
  return wrong;
}
"""

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

# A thread is alone in its warp, since the others run at other times.
VOTES = """
define internal i32 @activemask() {
 ret i32 1
}
define internal i1 @vote_all(i32 %mask, i1 %own) {
 ret i1 %own
}
"""


def callers(symbols, types):
    """C: arguments as variables a0, a1, … and for each entry a function without any that passes them."""
    names = [C_NAMES[t] for t in types]
    text = "".join(f"{name} a{k};\n" for k, name in enumerate(names))
    for symbol, n in symbols:
        text += f"void {symbol}({', '.join(names[:n]) or 'void'});\n"
        text += f"void call_{symbol}(void) {{ {symbol}({', '.join(f'a{k}' for k in range(n))}); }}\n"
    return text


def library(ir, symbols, types):
    text = re.sub(r"^(target|source_filename|declare.*sreg).*$", "", ir, flags=re.M)
    text = text.replace("ptx_kernel ", "").replace("addrspace(1)", "").replace("addrspace(3)", "")
    text = re.sub(r"(@[\w$]+ = internal) *global (\[.*\]) poison", r"\1 global \2 zeroinitializer", text)
    text = re.sub(r"@llvm\.nvvm\.barrier\.cta\.sync\.aligned\.all\b", "@pass_barrier", text)
    text = re.sub(r"@llvm\.nvvm\.read\.ptx\.sreg\.([\w.]+)", lambda m: "@read_" + m[1].replace(".", "_"), text)
    text = text.replace("@llvm.nvvm.d2ll.rz", "@llvm.fptosi.sat.i64.f64")
    text, used = re.subn(r"@llvm\.nvvm\.(rsqrt|rcp)\.approx\.ftz\.f\b", r"@approx_\1", text)
    text = re.sub(r"^declare.*@approx_.*$", "", text, flags=re.M) + APPROXIMATIONS * (used > 0)
    text = re.sub(r"^declare.*@llvm\.nvvm\.(activemask|vote\.all).*$", "", text, flags=re.M) + VOTES
    text = text.replace("@llvm.nvvm.activemask", "@activemask").replace("@llvm.nvvm.vote.all.sync", "@vote_all")
    for name in REGISTERS:
        text += f"\n@{name} = global i32 0\ndefine internal i32 @read_{name}() {{\n %v = load i32, ptr @{name}\n ret i32 %v\n}}\n"
    folder = Path(tempfile.mkdtemp())
    (folder / "k.ll").write_text(text)
    subprocess.run([LLC, "-O1", "-mattr=+fma", "-filetype=obj", "-relocation-model=pic", folder / "k.ll", "-o", folder / "k.o"], check=True)
    (folder / "driver.c").write_text(DRIVER + callers(symbols, types))
    subprocess.run([CC, "-O1", "-fPIC", "-shared", folder / "driver.c", folder / "k.o", "-o", folder / "k.so", "-lm"], check=True)
    return ctypes.CDLL(str(folder / "k.so"))


class Entries:
    """A kernel and its coarsened entry, as @cuda.jit(coarsen=factor, **options) makes them (options of _pyptx.Dispatcher)."""

    def __init__(self, kernel, signature, factor, **options):
        made = _pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, {"coarsen": factor, **options}, "ptx,llvm_opt")
        self.note, self.symbol, self.params, self.factor = made["coarsening"], made["symbol"], made["params"], factor
        self.in_row = made["in_row"]
        self.coarsened = "$coarse" in made["ptx"]
        self.axis = "xyz".index(self.note[-1]) if self.coarsened else 0
        fields = [f for f in self.params if f[0] != "BLOCKS"]
        symbols = [(self.symbol, len(fields))] + [(self.symbol + "$coarse", len(fields) + 1)] * self.coarsened
        self.types = [self._type(f, signature) for f in fields] + [ctypes.c_int32]
        self.code = library(made["llvm_opt"], symbols, self.types)

    @staticmethod
    def _type(field, signature):
        kind, size, _, leaf, _ = field
        if kind == "SCALAR":
            depth, name, names = 0, "", []
            for c in signature.split("(", 1)[-1].rstrip(")") + ",":
                depth += (c == "[") - (c == "]")
                names, name = (names + [name], "") if c == "," and not depth else (names, name + c)
            return SCALARS["f" if "float" in names[leaf] else "i", size]
        return {"POINTER": ctypes.c_void_p, "EXTENT32": ctypes.c_int32, "STRIDE": ctypes.c_int64}[kind]

    def _values(self, arguments):
        for kind, _, axis, leaf, _ in self.params:
            if kind != "BLOCKS":
                a = arguments[leaf]
                yield {"POINTER": lambda: a.ctypes.data, "EXTENT32": lambda: a.shape[axis], "STRIDE": lambda: a.strides[axis],
                       "SCALAR": lambda: a}[kind]()  # fmt: skip

    def _set(self, name, values):
        for axis, value in zip("xyz", values):
            ctypes.c_int32.in_dll(self.code, f"{name}_{axis}").value = value

    def run(self, grid, block, arguments, coarse, in_row=False):
        grid, blocks = list(grid), grid[self.axis]
        if coarse:
            left = blocks % self.factor
            grid[self.axis] = blocks // self.factor + (min(left, 1) if in_row else left)
        values = [*self._values(arguments), blocks]
        for k, (t, value) in enumerate(zip(self.types, values)):
            t.in_dll(self.code, f"a{k}").value = value
        self._set("nctaid", grid)
        self._set("ntid", block)
        wrong = self.code.run_grid(getattr(self.code, f"call_{self.symbol}" + "$coarse" * coarse))
        assert not wrong, "threads of a block stand at different barriers, or have ended"

    def check(self, grid, block, *arguments):
        """Both entries leave the same in every array, with what is left in a row and side by side where both may be."""
        ways = [(False, False), (True, False), (True, True)][: 3 if self.in_row else 2]
        after = [[a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in ways]
        for arrays, (coarse, in_row) in zip(after, ways):
            self.run(grid, block, arrays, coarse, in_row)
        for plain, coarse in [pair for arrays in after[1:] for pair in zip(after[0], arrays)]:
            if isinstance(plain, np.ndarray):
                assert plain.tobytes() == coarse.tobytes(), (self.symbol, self.note, grid, block)
