"""pyptx compile for other programs: the stable parameter block, header, description, fatbin, names, sources, resources."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from pyptx import _abi, _occupancy, _pyptx, _tools, cli, cuda

KERNELS = """
    from pyptx import cuda

    @cuda.jit
    def axpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    @cuda.jit
    def odd(t, long, z, m, b, h, unused, long_shape0):
        i = cuda.grid(1)
        if i < long.size and b:
            z[i] = t[0] * z[i] + m[i, 0] + t[1][i] + h

    @cuda.jit
    def needs_both(x, n):
        x[cuda.grid(1)] = n
        cuda.cg.this_grid().sync()
        assert n > 0
"""
AXPY = "float32, float32[::1], float32[::1]"
ODD = "(complex64, float64[:]), int64[::1], complex128[::1], float32[::1,:], bool, float16, int8[:,:], uint16"


def has(tool):
    try:
        return bool(_tools.find(tool))
    except _tools.ToolError:
        return False


needs_ptxas = pytest.mark.skipif(not has("ptxas"), reason="ptxas is not installed")
TOOLKIT = next((home for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if home and os.path.exists(f"{home}/include/cuda.h")), None)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(textwrap.dedent(KERNELS))
    return path


@pytest.fixture
def run(capfdbinary):
    def call(*arguments):
        code = cli.main(["compile", *(str(a) for a in arguments)])
        out, err = capfdbinary.readouterr()
        return code, out.decode(errors="replace"), err.decode()

    return call


# --- the block --------------------------------------------------------------------------------------------------------


def fields(kernel, signature, **options):
    out = _pyptx._compile(kernel, signature, "nvptx", "sm_80", 0, {"abi": "stable", **options}, "ptx")
    return [(kind, size, axis, leaf) for kind, size, axis, leaf, _ in out["params"]], out


def test_every_field_is_there_whatever_is_read_and_whatever_the_layout():
    def reads_nothing(a, n):
        pass

    def reads_all(a, n):
        a[cuda.grid(1), 0] = a.shape[0] + a.shape[1] + n

    for layout in (":,:", ":,::1", "::1,:"):
        for kernel in (reads_nothing, reads_all):
            found, out = fields(kernel, f"float32[{layout}], int8")
            assert found == [("POINTER", 8, 0, 0), ("EXTENT64", 8, 0, 0), ("EXTENT64", 8, 1, 0), ("STRIDE", 8, 0, 0), ("STRIDE", 8, 1, 0), ("SCALAR", 1, 0, 1)]
            assert out["param_bytes"] == 41 and out["ptx"].count(".param .") == 6
    compact, _ = fields(reads_nothing, "float32[:,:], int8", abi="compact")
    assert compact == []


def test_our_launches_take_the_stable_block_too():
    @cuda.jit(abi="stable")
    def mix(a, b, n, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i, 0] + b[i] * n

    a, b = np.asfortranarray(np.arange(20.0).reshape(10, 2)), np.arange(20.0)
    c = cuda.to_device(np.zeros(10))
    for _ in range(3):  # the first on the slow path, then by a plan
        mix[1, 16](cuda.to_device(a), cuda.to_device(b)[::2], 3, c)
        np.testing.assert_array_equal(c.copy_to_host(), a[:, 0] + 3 * b[::2])


def test_launches_of_others_compare_nothing():
    """So that arrays may overlap and numbers be large, whatever our own launches would have found out."""
    def scaled(scale, x, out, n):
        for k in range(cuda.grid(1), n, 1000):
            out[k] = x[k] * scale[0]

    types = "(float32[::1], float32[::1], float32[::1], pyint)"
    small, all_of_them = (fields(scaled, version + types)[1]["ptx"] for version in ("narrow ", ""))
    assert small == all_of_them


def test_an_unknown_block_is_refused():
    with pytest.raises(ValueError, match="stable"):
        cuda.jit(abi="stabel")(lambda: None)


# --- description and header -------------------------------------------------------------------------------------------


def describe(run, source, kernel, signature, *more):
    code, out, err = run(f"{source}:{kernel}", "--sig", signature, "--emit", "json", *more)
    assert (code, err) == (0, "")
    return json.loads(out)


def test_the_description(run, source):
    d = describe(run, source, "odd", ODD)
    assert (d["format"], d["abi"], d["symbol"], d["signature"]) == ("pyptx kernel", 1, "odd", ODD)
    assert [f["name"] for f in d["fields"]] == [
        "t_0", "t_1_data", "t_1_shape0", "t_1_stride0", "long__data", "long__shape0", "long__stride0", "z_data", "z_shape0", "z_stride0",
        "m_data", "m_shape0", "m_shape1", "m_stride0", "m_stride1", "b", "h", "unused_data", "unused_shape0", "unused_shape1", "unused_stride0", "unused_stride1",
        "long_shape0"]
    assert [a["name"] for a in d["arguments"]] == ["t_0", "t_1", "long_", "z", "m", "b", "h", "unused", "long_shape0"]
    m = d["arguments"][4]
    assert (m["dtype"], m["ndim"], m["layout"], m["reads"], m["writes"]) == ("float32", 2, "F", True, False)
    assert d["arguments"][3]["writes"] and d["fields"][-1]["offset"] + 2 == d["parameter_bytes"]
    assert d["parameters"] == ["t", "long", "z", "m", "b", "h", "unused", "long_shape0"] and d["images"] == []


def test_a_name_that_is_taken_gets_another(run, tmp_path):
    path = tmp_path / "k.py"
    path.write_text("def k(a, a_data, été):\n    a[0] = a_data\n")
    d = describe(run, path, "k", "int32[:], int32, none")
    assert [f["name"] for f in d["fields"]] == ["a_data", "a_shape0", "a_stride0", "a_data_"]


def test_what_stops_and_meets_is_said(run, source):
    d = describe(run, source, "needs_both", "int32[:], int32", "--exceptions")
    assert d["cooperative"] and [f["name"] for f in d["fields"]][-2:] == ["pyptx_trap", "pyptx_grid"]
    assert d["stops"][0]["exception"] == "AssertionError" and d["stops"][0]["file"].endswith("kernels.py")


@pytest.mark.skipif(not TOOLKIT, reason="cuda.h is not installed")
@pytest.mark.parametrize("compiler", ["gcc -std=c99", "gcc -std=c11", "g++ -x c++ -std=c++17"])
def test_headers_compile(run, source, tmp_path, compiler):
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"{compiler.split()[0]} is not installed")
    for kernel, signature in (("odd", ODD), ("axpy", AXPY), ("needs_both", "int32[:], int32")):
        assert run(f"{source}:{kernel}", "--sig", signature, "--emit", "header", "--exceptions", "-o", tmp_path / f"{kernel}.h")[0] == 0
    program = tmp_path / "t.c"
    program.write_text("""
        #include "odd.h"
        #include "axpy.h"
        #include "needs_both.h"
        int main(void) { (void)odd_launch; (void)axpy_launch; (void)needs_both_launch; (void)axpy_set_x; return 0; }""")
    flags = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-isystem", f"{TOOLKIT}/include", "-I", str(tmp_path), "-fsyntax-only"]
    done = subprocess.run([*compiler.split(), *flags, str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not TOOLKIT or not shutil.which("gcc"), reason="it takes gcc and cuda.h")
def test_what_is_no_valid_block(run, source, tmp_path):
    assert run(f"{source}:odd", "--sig", ODD, "--emit", "header", "-o", tmp_path / "odd.h")[0] == 0
    program = tmp_path / "t.c"
    program.write_text("""
        #include <stdio.h>
        #include "odd.h"
        static odd_params made(void) {
          odd_params p = {0};
          odd_set_long_(&p, 64, 4); odd_set_z(&p, 64, 4); odd_set_m(&p, 64, 4, 3); odd_set_t_1(&p, 64, 4); odd_set_unused(&p, 1, 2, 3);
          return p;
        }
        #define TRY(change) do { odd_params p = made(); change; printf("%d", odd_is_valid(&p)); } while (0)
        int main(void) {
          TRY((void)0); TRY(p.t_1_stride0 = 800); TRY(p.unused_stride0 = 7); TRY(p.m_stride1 = 400; p.m_shape1 = 1); TRY(p.m_stride1 = 400; p.m_shape0 = 0);
          TRY(p.m_stride1 = 400); TRY(p.z_shape0 = -1); TRY(p.m_data = 66); TRY(p.t_1_stride0 = 4); TRY(p.unused_shape0 = 1 << 20; p.unused_shape1 = 1 << 20);
          TRY(p.long__stride0 = 16); TRY(odd_set_z(&p, 64, 1LL << 31));
          return 0;
        }""")
    subprocess.run(["gcc", "-I", f"{TOOLKIT}/include", str(program), "-Wl,--unresolved-symbols=ignore-all", "-o", str(tmp_path / "t")], check=True)
    assert subprocess.run([tmp_path / "t"], capture_output=True, text=True).stdout == "111110000000"


# --- types of signatures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, types", [
    ("float32, int64[:,::1]", ["float32", "int64[:,::1]"]), ("void(float32, (int32, int8[:]))", ["float32", "(int32, int8[:])"]), ("(float32,)", ["float32"]),
    ("((int32, int8), float64)", ["(int32, int8)", "float64"]), ("Point(x: float32, y: int8), int32", ["Point(x: float32, y: int8)", "int32"]),
    ("Point(x: float32)", ["Point(x: float32)"]), ("enum Color(RED=1, BLUE=2)", ["enum Color(RED=1, BLUE=2)"]), ("", []), ("()", []), ("none()", []),
    ("record(x: float32 @0; 4)[:]", ["record(x: float32 @0; 4)[:]"]),
])
def test_signatures_are_split(text, types):
    assert _abi.arguments_of(text) == types


def test_leaves_and_arrays():
    assert _abi.leaves("p", "Point(x: float32, q: (int8, int16[:]))") == [("p_x", "float32"), ("p_q_0", "int8"), ("p_q_1", "int16[:]")]
    assert _abi.array_type("readonly align4 float64[!:,::1]") == {"dtype": "float64", "ndim": 2, "layout": "C", "readonly": True, "align": 4, "wide": True}
    assert _abi.array_type("int32") is None and _abi.item_bytes("record(x: float32 @0; 12)") == 12 and _abi.item_bytes("complex128") == 16


@pytest.mark.parametrize("wrong, near", [("flaot32", "float32"), ("int23[:]", "int2"), ("folat64[::1]", "float64"), ("bfloat61", "bfloat16")])
def test_misspelt_types(run, source, wrong, near):
    code, _, err = run(f"{source}:axpy", "--sig", f"{wrong}, float32[::1], float32[::1]")
    assert code == 2 and "did you mean '" in err and (near in err or near == "int2")
    with pytest.raises(ValueError, match="did you mean"):
        cuda.jit(f"void({wrong})")(lambda x: None)


# --- names, sources, outputs ------------------------------------------------------------------------------------------


def test_several_signatures_of_a_kernel(run, source, tmp_path):
    code, out, err = run(f"{source}:axpy", "--sig", AXPY, "--sig", "float64, float64[:], float64[:]")
    assert code == 0 and re.findall(r"\.entry (\w+)", out) == ["axpy__float32_float32_1c_float32_1c", "axpy__float64_float64_1s_float64_1s"]
    code, _, _ = run(f"{source}:axpy", "--sig", AXPY, "--sig", "float64, float64[:], float64[:]", "--name", "saxpy", "--name", "daxpy", "--emit", "ptx,header,json",
                     "-o", tmp_path / "out")
    assert code == 0 and sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(
        f"{n}.{s}" for n in ("saxpy", "daxpy") for s in ("sm_75.ptx", "h", "json"))
    assert json.loads((tmp_path / "out/daxpy.json").read_text())["images"] == [{"kind": "ptx", "arch": "sm_75", "file": "daxpy.sm_75.ptx"}]


def test_signatures_by_kernel(run, source):
    code, out, _ = run(f"{source}:axpy,needs_both", "--sig", f"axpy={AXPY}", "--sig", "needs_both=int32[:], int32", "--sig", "axpy=float64, float64[:], float64[:]")
    assert code == 0 and len(re.findall(r"\.entry", out)) == 3


@pytest.mark.parametrize("arguments, says", [
    (["--name", "a b"], "is a C identifier"), (["--name", "a", "--name", "b"], "2 --name for 1 entry"), (["--emit", "headre"], "did you mean 'header'"),
    (["--emit", "json", "--abi", "compact"], "leave out --abi compact"), (["--emit", "ptx,fatbin"], "a fatbin is binary"),
    (["--resource-usage", "--arch", "host"], "--resource-usage is of GPU kernels"), (["--block", "0"], "from 1 to 1024"),
])
def test_wrong_command_lines(run, source, arguments, says):
    code, out, err = run(f"{source}:axpy", "--sig", AXPY, *arguments)
    assert code == 2 and out == "" and says in err


@pytest.mark.parametrize("arguments, says", [
    (["--sig", "axpi=float32[:]"], "no kernel 'axpi' is compiled here; did you mean 'axpy'?"),
    (["--sig", "helper = float32"], "no kernel 'helper' is compiled here; there is 'axpy'; name another function behind the colon"),
    (["--sig", AXPY, "--sig", "float64, float64[:], float64[:]", "-o", "o3/all.ptx"], "-o o3/all.ptx: there are 2 results, which one file cannot have"),
    (["--sig", AXPY, "--emit", "cubin", "--arch", "sm_80,sm_90", "-o", "a.cubin"], "name a folder, as in -o a/"),
    (["--sig", "float23"], "did you mean 'float32'?"), (["--sig", AXPY, "--abi", "stabel"], "stabel"),
])
def test_what_was_meant(run, source, arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(f"{source}:axpy", *arguments)
    assert code == 2 and out == "" and says in err and sorted(p.name for p in tmp_path.iterdir() if p.is_dir() and p.name != "__pycache__") == []


def test_one_form_of_a_signature(run, source, tmp_path):
    said = set()
    for sig in ("int32[:], int32", "(int32[:], int32)", "void( int32[:],int32 )", "none(int32[:], int32)"):
        code, out, _ = run(f"{source}:needs_both", "--sig", sig, "--emit", "json", "--exceptions")
        said.add(json.loads(out)["signature"])
    assert said == {"int32[:], int32"}
    assert _abi.plain_signature("((int32, float32),)") == _abi.plain_signature("((int32, float32))") == "((int32, float32))"
    assert _abi.arguments_of("((int32, float32))") == ["(int32, float32)"]


def test_two_entries_of_one_name(run, source):
    code, _, err = run(f"{source}:axpy", "--sig", AXPY, "--sig", "float64, float64[:], float64[:]", "--name", "same", "--name", "same")
    assert code == 2 and "two entries would be called 'same'" in err


def test_one_file_names_the_others(run, source, tmp_path):
    assert run(f"{source}:axpy", "--sig", AXPY, "--emit", "ptx,header,json,ssa", "-o", tmp_path / "o" / "k.ptx")[0] == 0
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == ["k.h", "k.json", "k.ptx", "k.ssa"]


def test_modules_notebooks_and_standard_input(run, source, tmp_path, monkeypatch):
    package = tmp_path / "some_package_of_tests"
    package.mkdir()
    (package / "__init__.py").write_text("SCALE = 3\n")
    (package / "inner.py").write_text("from . import SCALE\ndef k(x):\n    x[0] = SCALE\n")
    monkeypatch.chdir(tmp_path)
    assert run("some_package_of_tests.inner:k", "--sig", "int32[:]")[0] == 0
    code, _, err = run("some_package_of_tests.outer:k", "--sig", "int32[:]")
    assert code == 2 and "no file and no module 'some_package_of_tests.outer'" in err

    cell = lambda *lines, kind="code": {"cell_type": kind, "source": [line + "\n" for line in lines]}  # noqa: E731
    book = tmp_path / "book.ipynb"
    book.write_text(json.dumps({"cells": [cell("# Words", kind="markdown"), cell("%matplotlib inline", "!ls", "from pyptx import cuda", "N = 4"), cell("%%bash", "exit 1"),
                                          cell("files = !ls", "x, y[0] = %pwd", "if N:", "    more = !ls", "print?"), cell("N = (9", "     % 5)"),
                                          cell("@cuda.jit", "def k(x):", "    x[0] = N"), cell("def bad(x):", "    x[0] = nothing")]}))
    code, out, err = run(f"{book}:k", "--sig", "int32[:]")
    assert code == 0 and ".entry k(" in out
    code, _, err = run(f"{book}:bad", "--sig", "int32[:]")
    assert code == 1 and "code cell 6" in err and "x[0] = nothing" in err and "^" in err
    book.write_text("{}")
    assert run(book, "--sig", "int32[:]")[0] == 2

    def piped(*arguments):
        return subprocess.run([sys.executable, "-m", "pyptx", "compile", *arguments, "--sig", AXPY], input=source.read_text(), capture_output=True, text=True)

    assert ".entry axpy(" in piped("-:axpy").stdout
    assert "1 / 0" in subprocess.run([sys.executable, "-m", "pyptx", "compile", "-"], input="1 / 0\n", capture_output=True, text=True).stderr


# --- tools ------------------------------------------------------------------------------------------------------------


def test_tools_are_looked_for_in_order(tmp_path, monkeypatch):
    def tool(folder, name="ptxas"):
        folder.mkdir(parents=True)
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
        return str(folder / name)

    home, path, wheel, own = (tool(tmp_path / f) for f in ("home/bin", "path", "site/nvidia/cu13/bin", "own"))
    for name in ("PYPTX_PTXAS", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _tools.find("ptxas") == wheel
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert _tools.find("ptxas") == path
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert _tools.find("ptxas") == home
    monkeypatch.setenv("PYPTX_PTXAS", own)
    assert _tools.find("ptxas") == own
    monkeypatch.setenv("PYPTX_PTXAS", own + "x")
    with pytest.raises(_tools.ToolError, match="is not a program"):
        _tools.find("ptxas")
    with pytest.raises(_tools.ToolError, match="pip install nvidia-cuda-nvdisasm"):
        monkeypatch.setattr(_tools, "folders", lambda: ([], []))
        _tools.find("nvdisasm")


def test_a_missing_tool_is_said(run, source, tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_FATBINARY", "/nowhere/fatbinary")
    monkeypatch.setenv("PYPTX_PTXAS", "/nowhere/ptxas")
    code, _, err = run(f"{source}:axpy", "--sig", AXPY, "--emit", "fatbin", "-o", tmp_path / "k.fatbin")
    assert code == 1 and "/nowhere/ptxas" in err and not (tmp_path / "k.fatbin").exists()


@needs_ptxas
@pytest.mark.skipif(not has("fatbinary"), reason="fatbinary is not installed")
def test_a_fatbin(run, source, tmp_path):
    code, out, err = run(f"{source}:axpy", "--sig", AXPY, "--emit", "fatbin,json", "--arch", "sm_80,H100", "-o", tmp_path / "k.fatbin", "--resource-usage", "--block", "1024")
    data = (tmp_path / "k.fatbin").read_bytes()
    assert code == 0 and out == "" and data[:4] == b"\x50\xed\x55\xba" and data.count(b"\x7fELF") == 2
    assert json.loads((tmp_path / "k.json").read_text())["images"] == [{"kind": "fatbin", "arch": "", "file": "k.fatbin"}]
    lines = err.splitlines()
    assert len(lines) == 4 and re.match(r"axpy, sm_80: \d+ registers a thread, 0 bytes of static shared memory", lines[0])
    assert lines[3] == "axpy, sm_90: 1024 threads a block: 2 blocks a multiprocessor, occupancy 100%, limited by warps"


@needs_ptxas
@pytest.mark.skipif(not has("nvdisasm"), reason="nvdisasm is not installed")
def test_sass_without_a_gpu(run, source):
    code, out, _ = run(f"{source}:axpy", "--sig", AXPY, "--emit", "sass", "--arch", "sm_90")
    assert code == 0 and out.startswith("// axpy, sm_90: ") and "EXIT" in out
    kernel = cuda.jit("void(float32[::1])")(lambda x: None)
    assert "EXIT" in kernel.inspect_sass("float32[::1]", arch="A100") and len(kernel.inspect_sass(arch="sm_80")) == 1


def test_sass_of_what_is_no_gpu():
    kernel = cuda.jit("void(float32[::1])")(lambda x: None)
    with pytest.raises(ValueError, match="did you mean"):
        kernel.inspect_sass(arch="sm_91")
    with pytest.raises(ValueError, match="inspect_asm shows the host's"):
        kernel.inspect_sass(arch="host")


LOG = """ptxas info    : 0 bytes gmem, 24 bytes cmem[4]
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    8 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 8 bytes cumulative stack size, 4096 bytes smem, 380 bytes cmem[0]
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
"""


def test_what_ptxas_says_is_read():
    assert _tools.read_usage(LOG, "first") == _tools.Usage(255, 4096, 8, 16, 20, 380)
    assert _tools.read_usage(LOG, "second") == _tools.Usage(4)
    with pytest.raises(_tools.ToolError, match="says nothing of 'third'"):
        _tools.read_usage(LOG, "third")


def test_a_block_that_cannot_run_is_said():
    lines = list(_occupancy.report("k", "sm_90", _tools.Usage(registers=255, shared=230 * 1024)))
    assert all("cannot run" in line for line in lines[1:]) and len(lines) == 5
    assert "limits of this architecture are not known" in list(_occupancy.report("k", "sm_99", _tools.Usage()))[1]


CALCULATOR = r"""
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_occupancy.h"
int main(void) {
  int cc, threads, registers, shared, most, kb, block_kb;
  while (scanf("%d %d %d %d %d %d %d", &cc, &threads, &registers, &shared, &most, &kb, &block_kb) == 7) {
    struct cudaOccDeviceProp p = {.computeMajor = cc / 10, .computeMinor = cc % 10, .maxThreadsPerBlock = 1024, .maxThreadsPerMultiprocessor = most,
      .regsPerBlock = 65536, .regsPerMultiprocessor = 65536, .warpSize = 32, .sharedMemPerBlock = 48 * 1024, .sharedMemPerMultiprocessor = kb * 1024,
      .numSms = 1, .sharedMemPerBlockOptin = block_kb * 1024, .reservedSharedMemPerBlock = cc >= 80 ? 1024 : 0};
    struct cudaOccFuncAttributes a = {.maxThreadsPerBlock = 1024, .numRegs = registers, .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
      .maxDynamicSharedSizeBytes = block_kb * 1024, .numBlockBarriers = 1};
    struct cudaOccDeviceState s = {.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
    struct cudaOccResult r;
    int failed = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, shared);
    printf("%d\n", failed ? -1 : r.activeBlocksPerMultiprocessor);
  }
}
"""


@pytest.mark.skipif(not TOOLKIT or not os.path.exists(f"{TOOLKIT}/include/cuda_occupancy.h") or not shutil.which("gcc"), reason="it takes gcc and the toolkit's header")
def test_occupancy_is_that_of_the_toolkit(tmp_path):
    (tmp_path / "c.c").write_text(CALCULATOR)
    subprocess.run(["gcc", "-w", "-I", f"{TOOLKIT}/include", str(tmp_path / "c.c"), "-o", str(tmp_path / "c"), "-lm"], check=True)
    random.seed(7)
    asked = [(cc, random.choice([32, 96, 256, 512, 1024, random.randint(1, 1024)]), random.randint(8, 255), random.choice([0, random.randint(0, l.shared_block * 1024)]), l)
             for cc, l in _occupancy.LIMITS.items() for _ in range(300)]
    lines = "\n".join(f"{cc} {t} {r} {s} {l.threads} {l.shared} {l.shared_block}" for cc, t, r, s, l in asked)
    theirs = subprocess.run([str(tmp_path / "c")], input=lines, capture_output=True, text=True, check=True).stdout.split()
    ours = [_occupancy.occupancy(f"sm_{cc}", t, r, s).blocks for cc, t, r, s, _ in asked]
    assert list(map(int, theirs)) == ours


SEVERAL = """
import numpy as np
from pyptx import cuda

@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]

@cuda.jit
def first(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    print("first", t)
    out[t] = s[63 - t]

@cuda.jit
def second(x, out):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    print("second", t)
    out[t] = s[31 - t]
"""
SIGS = ["--sig", "axpy=float32, float32[::1], float32[::1]", "--sig", "axpy=float64, float64[::1], float64[::1]", "--sig", "first=float32[::1], float32[::1]",
        "--sig", "second=float32[::1], float32[::1]"]


def test_several_kernels_are_one_ptx():


    source = {}
    exec(SEVERAL, source)
    texts = [cuda.compile_ptx(source[name], "float32[::1], float32[::1]", cc=(9, 0))[0] for name in ("first", "second")]
    merged = _tools.merge_ptx(texts)
    assert merged.count(".version") == 1 and re.findall(r"\.entry (\w+)", merged) == ["first", "second"]
    texts_of_both = re.findall(r"^\.global[^;]*?(\S+)\[\d+\]", merged, re.MULTILINE)
    assert len(texts_of_both) == len(set(texts_of_both)) >= 2  # each kernel has some
    assert len(re.findall(r"\.extern[^;]*vprintf", merged)) == 1
    with pytest.raises(_tools.ToolError, match="line numbers"):
        _tools.merge_ptx([texts[0], cuda.compile_ptx(source["second"], "float32[::1], float32[::1]", cc=(9, 0), lineinfo=True)[0]])


@pytest.mark.skipif(not shutil.which("fatbinary"), reason="fatbinary is not on PATH")
def test_several_kernels_in_one_fatbin(tmp_path):
    (tmp_path / "k.py").write_text(SEVERAL)
    assert cli.main(["compile", str(tmp_path / "k.py"), *SIGS, "--arch", "sm_80,sm_90", "--emit", "fatbin,json", "-o", str(tmp_path / "all.fatbin")]) == 0
    files = sorted(p.name for p in tmp_path.iterdir() if p.is_file())  # Python may have written __pycache__
    assert files == ["all.fatbin", *(f"axpy__float{n}_float{n}_1c_float{n}_1c.json" for n in (32, 64)), "first.json", "k.py", "second.json"]
    image = (tmp_path / "all.fatbin").read_bytes()
    for name in ("axpy__float32_float32_1c_float32_1c", "axpy__float64_float64_1c_float64_1c", "first", "second"):
        assert image.count(f".text.{name}\0".encode()) >= 2  # one for each architecture
    assert json.loads((tmp_path / "second.json").read_text())["images"] == [{"kind": "fatbin", "arch": "", "file": "all.fatbin"}]
