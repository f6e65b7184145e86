"""The command pyptx: what it prints, where it writes, and how it says that something is wrong."""

import os
import subprocess
import sys
import textwrap

import pytest

from pyptx import cli

KERNELS = """
    import math
    from pyptx import cuda

    SCALE = 3

    @cuda.jit
    def add(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] + b[i] * SCALE

    @cuda.jit
    def root(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = math.sqrt(a[i])

    @cuda.jit(device=True)
    def twice(x):
        return x + x

    @cuda.jit("void(float64[::1])")
    def eager(a):
        a[0] = 1.0

    def plain(a):
        a[0] = 2

    @cuda.jit
    def broken(a):
        a[0] = undefined_name
"""
ADD = "float32[::1], float32[::1], float32[::1]"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(textwrap.dedent(KERNELS))
    return path


@pytest.fixture
def run(capfdbinary):
    """run(arguments…) → (exit status, standard output, standard error)."""

    def call(*arguments):
        code = cli.main([str(a) for a in arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(errors="replace"), err.decode()

    return call


# --- what it makes ---------------------------------------------------------------------------------------------------


def test_ptx_goes_to_stdout(run, source):
    code, out, err = run("compile", f"{source}:add", "--sig", ADD, "--arch", "sm_90")
    assert (code, err) == (0, "")
    assert ".target sm_90" in out and ".visible .entry add" in out


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"])
def test_every_architecture(run, source, arch):
    code, out, _ = run("compile", f"{source}:add", "--sig", ADD, "--arch", arch)
    assert code == 0 and f".target {arch}" in out


@pytest.mark.parametrize("spelling", ["90", "9.0", "compute_90", "SM_90", "sm_90"])
def test_architectures_have_several_spellings(spelling):
    assert cli.arch_name(spelling) == "sm_90"


def test_the_default_architecture_serves_all_gpus(run, source):
    code, out, _ = run("compile", f"{source}:add", "--sig", ADD)
    assert code == 0 and ".target sm_75" in out


@pytest.mark.parametrize("emit, has", [("ssa", "func"), ("types", "float32"), ("llvm", "define"), ("llvm-opt", "define")])
def test_other_stages(run, source, emit, has):
    code, out, err = run("compile", f"{source}:add", "--sig", ADD, "--emit", emit, "--arch", "sm_90")
    assert (code, err) == (0, "") and has in out


def test_host_code(run, source):
    code, out, _ = run("compile", f"{source}:add", "--sig", ADD, "--arch", "host")
    assert code == 0 and ".text" in out
    code, out, _ = run("compile", f"{source}:add", "--sig", ADD, "--arch", "host", "--emit", "llvm")
    assert code == 0 and "define" in out and "nvptx" not in out


def test_one_file(run, source, tmp_path):
    out = tmp_path / "new" / "add.ptx"
    code, printed, _ = run("compile", f"{source}:add", "--sig", ADD, "-o", out)
    assert (code, printed) == (0, "") and ".entry add" in out.read_text()


def test_several_kernels_and_architectures(run, source, tmp_path):
    code, _, err = run("compile", f"{source}:add,root", "--sig", ADD, "--sig", "float64[:]", "--arch", "sm_80",
                       "--arch", "sm_90,sm_100", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert names == sorted(f"{k}.{a}.ptx" for k in ("add", "root") for a in ("sm_80", "sm_90", "sm_100"))
    assert "f64" in (tmp_path / "out" / "root.sm_90.ptx").read_text()


def test_several_to_stdout_are_told_apart(run, source):
    code, out, _ = run("compile", f"{source}:add,root", "--sig", ADD, "--sig", "float32[::1]", "--arch", "sm_80")
    assert code == 0 and out.count(".version") == 2
    assert "// --- add.sm_80" in out and "// --- root.sm_80" in out


def test_stages_before_the_target_come_once(run, source, tmp_path):
    code, _, _ = run("compile", f"{source}:add,root", "--sig", ADD, "--sig", "float32[::1]", "--arch", "sm_80", "--arch",
                     "sm_90", "--emit", "ssa", "-o", tmp_path / "out")
    assert code == 0 and sorted(p.name for p in (tmp_path / "out").iterdir()) == ["add.ssa", "root.ssa"]


def test_one_signature_serves_all(run, tmp_path):
    path = tmp_path / "two.py"
    path.write_text("from pyptx import cuda\n" + "".join(f"@cuda.jit\ndef {n}(a):\n    a[0] = 1\n" for n in "xy"))
    code, out, _ = run("compile", path, "--sig", "int32[:]")
    assert code == 0 and ".entry x" in out and ".entry y" in out


def test_signatures_of_the_decorator_serve(run, source):
    code, out, _ = run("compile", f"{source}:eager", "--arch", "sm_90")
    assert code == 0 and ".entry eager" in out


def test_plain_functions_can_be_named(run, source):
    code, out, _ = run("compile", f"{source}:plain", "--sig", "int64[:]")
    assert code == 0 and ".entry plain" in out


def test_device_functions(run, source):
    code, out, err = run("compile", f"{source}:twice", "--sig", "float32")
    assert (code, err) == (0, "") and ".entry" not in out and "twice" in out
    code, out, _ = run("compile", f"{source}:plain", "--sig", "int64[:]", "--device-function")
    assert code == 0 and ".entry" not in out


def test_options_reach_the_compiler(run, tmp_path):
    path = tmp_path / "options.py"
    path.write_text("from pyptx import cuda\n@cuda.jit\ndef k(a, b):\n    i = cuda.grid(1)\n    a[i] = a[i] * b[i] + a[i] / b[i]\n")
    common = ("compile", path, "--sig", "float32[::1], float32[::1]", "--arch", "sm_90")
    _, default, _ = run(*common)
    assert "fma.rn.f32" in default and "div.rn.f32" in default
    _, text, _ = run(*common, "--no-fma")
    assert "fma.rn" not in text
    _, text, _ = run(*common, "--fastmath")
    assert "div.rn.f32" not in text
    _, text, _ = run(*common, "--coarsen", "2")
    assert "k$coarse" in text
    _, text, _ = run(*common, "--max-registers", "32")
    assert ".maxnreg 32" in text
    _, text, _ = run(*common, "--launch-bounds", "256,2")
    assert ".maxntid 256" in text and ".minnctapersm 2" in text
    _, text, _ = run(*common, "--lineinfo")
    assert ".loc" in text and "options.py" in text
    _, text, _ = run(*common, "--ptx-version", "8.3")
    assert ".version 8.3" in text
    _, slow, _ = run(*common, "-O", "0")
    assert slow and slow != default


def test_stack_of_recursion(run, tmp_path):
    path = tmp_path / "recursion.py"
    path.write_text("from pyptx import cuda\ndef f(n):\n    return n if n < 2 else f(n - 1) * f(n - 2)\n@cuda.jit\ndef k(a):\n    a[0] = f(a[0])\n")
    for options, size in (((), 1024), (("--stack", "4000"), 4000)):
        _, text, _ = run("compile", path, "--sig", "int64[::1]", "--arch", "sm_90", *options)
        assert f"__local_depot0[{size}]" in text


def test_neighbours_can_be_imported(run, tmp_path):
    (tmp_path / "cli_test_constants.py").write_text("STEP = 7\n")
    path = tmp_path / "uses.py"
    path.write_text("import cli_test_constants as c\nfrom pyptx import cuda\n@cuda.jit\ndef k(a):\n    a[0] = c.STEP\n")
    code, out, err = run("compile", path, "--sig", "int32[:]")
    assert (code, err) == (0, "") and "7" in out


def test_files_of_packages_keep_their_relative_imports(run, tmp_path):
    package = tmp_path / "cli_test_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "numbers.py").write_text("STEP = 9\n")
    (package / "kernels.py").write_text("from .numbers import STEP\nfrom pyptx import cuda\n@cuda.jit\ndef k(a):\n    a[0] = STEP\n")
    code, _, err = run("compile", package / "kernels.py", "--sig", "int32[:]")
    assert (code, err) == (0, "")


def test_the_main_guard_holds(run, tmp_path):
    path = tmp_path / "guarded.py"
    path.write_text("from pyptx import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\n"
                    "if __name__ == '__main__':\n    raise SystemExit('ran')\n")
    assert run("compile", path, "--sig", "int32[:]")[0] == 0


def test_a_file_may_have_the_name_of_a_module(run, tmp_path):
    path = tmp_path / "math.py"
    path.write_text("from pyptx import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\n")
    assert run("compile", path, "--sig", "int32[:]")[0] == 0
    import math

    assert math.pi > 3


@pytest.mark.unchecked("its process may run on a GPU, which gives advice")
def test_it_needs_no_gpu(source):
    """In a process of its own, with a driver that cannot be found even where there is one."""
    env = {**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": "/nowhere/libcuda.so.1"}
    command = [sys.executable, "-m", "pyptx", "compile", f"{source}:add", "--sig", ADD, "--arch", "sm_90"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and ".entry add" in done.stdout and done.stderr == ""


def test_cubin(run, source, tmp_path):
    from pyptx import _pyptx

    if not _pyptx._facts()["ptxas"]:
        pytest.skip("ptxas is not installed")
    out = tmp_path / "add.cubin"
    code, _, err = run("compile", f"{source}:add", "--sig", ADD, "--arch", "sm_90", "--emit", "cubin", "-o", out)
    assert (code, err) == (0, "") and out.read_bytes()[:4] == b"\x7fELF"


# --- what is wrong with the kernel: 1 --------------------------------------------------------------------------------


def test_a_compile_error_is_shown_and_nothing_written(run, source, tmp_path):
    code, out, err = run("compile", f"{source}:add,broken", "--sig", ADD, "--sig", "int32[:]", "-o", tmp_path / "out")
    assert code == 1 and out == ""
    assert "undefined_name" in err and "kernels.py" in err and "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_every_error_is_shown(run, source, tmp_path):
    code, _, err = run("compile", f"{source}:broken,add", "--sig", "int32[:]")
    assert code == 1
    assert "undefined_name" in err and "add" in err.split("undefined_name")[-1]


def test_an_eager_error_is_a_compile_error(run, tmp_path):
    path = tmp_path / "eager_broken.py"
    path.write_text("from pyptx import cuda\n@cuda.jit('void(int32[:])')\ndef k(a):\n    a[0] = missing\n")
    code, _, err = run("compile", path)
    assert code == 1 and "missing" in err and "Traceback" not in err


# --- what is wrong with the command: 2 -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["nowhere.py"], "does not exist"),
        (["nowhere.py:add"], "does not exist"),
        (["{dir}"], "is a folder"),
        (["{source}:ad", "--sig", "int32"], "did you mean 'add'?"),
        (["{source}:nothing_like_it", "--sig", "int32"], "has no kernel 'nothing_like_it'"),
        (["{source}:SCALE", "--sig", "int32"], "is a int, not a function"),
        (["{source}:add"], "--sig"),
        (["{source}:add,root"], "once for each of add, root"),
        (["{source}:add,add", "--sig", ADD], "named twice"),
        (["{source}:", "--sig", ADD], "no kernel is named after the colon"),
        (["{source}:add,root", "--sig", ADD, "--sig", ADD, "--sig", ADD], "3 --sig for 2 kernels"),
        (["{source}:add", "--sig", "float33[:]"], "float33"),
        (["{source}:add", "--sig", "float32[:"], "signature"),
        (["{source}:add", "--sig", ADD, "--arch", "sm_91"], "unknown architecture 'sm_91'; did you mean 'sm_9"),
        (["{source}:add", "--sig", ADD, "--arch", "sm_70"], "architecture 'sm_70' is too old: the oldest is sm_75"),
        (["{source}:add", "--sig", ADD, "--arch", "banana"], "unknown architecture 'banana'"),
        (["{source}:add", "--sig", ADD, "--arch", "host", "--emit", "ptx"], "not possible for --arch host"),
        (["{source}:add", "--sig", ADD, "--arch", "sm_90", "--emit", "asm"], "not possible for --arch sm_90"),
        (["{source}:add", "--sig", ADD, "--ptx-version", "eight"], "write it as 8.3"),
        (["{source}:add", "--sig", ADD, "--arch", "sm_120", "--ptx-version", "6.4"], "needs PTX"),
        (["{source}:add", "--sig", ADD, "--ptx-version", "8.9"], "there are 6.4, "),
        (["{source}:add", "--sig", ADD, "--ptx-version", "08.3"], "write it as 8.3"),
        *((["{source}:add", "--sig", ADD, "--ptx-version", n], f"--ptx-version {n[:37]}") for n in ("9" * 20 + ".3", "9" * 5000 + ".3", "\u0668.\u0663", "8.3\n", "")),
        *((["{source}:add", "--sig", ADD, option, n], f"{bounds}, not '{n[:37]}")
          for option, bounds in (("-O", "from 0 to 3"), ("--max-registers", "from 1 to 2147483647"), ("--launch-bounds", "from 1 to 2147483647"),
                                 ("--coarsen", "from 1 to 8"), ("--stack", "from 64 to 262144"))
          for n in ("-1", "9" * 20, "9" * 5000, "x", "1.5", "0x10", "\u0663", "1_0", "2147483648")),
        (["{source}:add", "--sig", ADD, "--launch-bounds", "256,0"], "from 1 to 2147483647, not '0'"),
        (["{source}:add", "--sig", ADD, "--coarsen", "9"], "from 1 to 8, not '9'"),
        (["{source}:add", "--sig", ADD, "--launch-bounds", "1,2,3,4"], "THREADS,BLOCKS"),
        (["{source}:add", "--sig", ADD, "--stack", "63"], "from 64 to 262144, not '63'"),
        (["{source}:add", "--sig", ADD, "--stack", "262145"], "from 64 to 262144, not '262145'"),
        (["{source}:add", "--sig", ADD, "--stack", "1k"], "not '1k'"),
        (["{source}:add,root", "--sig", "int32", "--emit", "cubin"], "cubin is binary"),
        (["{source}:add,root", "--sig", "int32", "-o", "{source}"], "name a folder"),
        ([], "the following arguments are required"),
    ],
)
def test_usage(run, source, arguments, says):
    code, out, err = run("compile", *(a.format(source=source, dir=source.parent) for a in arguments))
    assert code == 2 and out == ""
    assert says in err and "Traceback" not in err


@pytest.mark.parametrize(
    "text, says",
    [
        ("def f(:\n", "SyntaxError"),
        ("import no_such_module_here\n", "No module named 'no_such_module_here'"),
        ("def f():\n    return 1 / 0\nf()\n", "ZeroDivisionError"),
        ("raise SystemExit(3)\n", "exit status 3"),
        ("x = 1\n", "has no @cuda.jit kernel"),
        ("def lonely(a):\n    pass\n", "name a function"),
    ],
)
def test_files_that_cannot_be_used(run, tmp_path, text, says):
    path = tmp_path / "bad_file.py"
    path.write_text(text)
    code, _, err = run("compile", path, "--sig", "int32")
    assert code == 2 and says in err and "cli.py" not in err and "importlib" not in err


def test_no_command_prints_the_help(run):
    code, _, err = run()
    assert code == 2 and "compile" in err and "info" in err


# --- info ------------------------------------------------------------------------------------------------------------


def test_info(run):
    code, out, err = run("info")
    assert (code, err) == (0, "")
    for key in ("pyptx", "Python", "NumPy", "LLVM", "driver", "PTX ISA", "libdevice", "ptxas", "cache", "devices", "host",
                "PYPTX_DEVICE"):
        assert f"{key}:" in out
    assert "not known" not in out


def test_info_as_json(run):
    import json

    code, out, _ = run("info", "--json")
    assert code == 0 and json.loads(out)["devices"]["host"]


def test_info_survives_a_bad_setting():
    env = {**os.environ, "PYPTX_DEVICE": "toaster"}
    done = subprocess.run([sys.executable, "-m", "pyptx", "info"], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "toaster" in done.stdout


def test_version(run):
    code, out, _ = run("--version")
    assert code == 0 and out.startswith("pyptx ")
