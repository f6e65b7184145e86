"""PTX of the examples and of the language tests: compiled for each architecture and assembled by ptxas; lines that must be there."""

import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import test_language_control
from harness import STRONG, define
from llvm_text import as_22
from pyptx import _pyptx, cuda
from test_miscompiled import recursion_never_reached

ROOT = Path(__file__).resolve().parents[3]
ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
PTXAS = shutil.which("ptxas")
sys.path.insert(0, str(ROOT / "bench"))
EXAMPLES = importlib.import_module("compile").SIGNATURES


def example(path):
    file, name = path.split(".")
    spec = importlib.util.spec_from_file_location(file, ROOT / "examples" / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def ptx_of(kernel, signature, arch="sm_80", **options):
    return _pyptx._compile(kernel, signature, "nvptx", arch, 0, options, "ptx")["ptx"]


def assemble(ptx, arch, tmp_path):
    if not PTXAS:
        pytest.skip("ptxas is not on PATH")
    known = subprocess.run([PTXAS, "--help"], capture_output=True, text=True).stdout
    if arch not in known:
        pytest.skip(f"this ptxas does not know {arch}")
    source = tmp_path / "kernel.ptx"
    source.write_text(ptx)
    result = subprocess.run(
        [PTXAS, f"-arch={arch}", "-o", str(tmp_path / "kernel.cubin"), str(source)],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr + "\n" + ptx


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("path", EXAMPLES)
def test_examples_assemble(path, arch, tmp_path):
    ptx = ptx_of(example(path), EXAMPLES[path], arch)
    assert f".target {arch}" in ptx
    assemble(ptx, arch, tmp_path)


OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<", "=="]
INTEGER_OPERATORS = ["&", "|", "^", "<<", ">>"]


@pytest.mark.parametrize("dtype", [d for d in STRONG if d != "bool"])
def test_operators_assemble(dtype, tmp_path):
    operators = OPERATORS + (INTEGER_OPERATORS if "int" in dtype else [])
    lines = "".join(f"        out[{n}, i] = x[i] {o} y[i]\n" for n, o in enumerate(operators))
    kernel = define(f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < x.size:\n{lines}")
    for arch in ("sm_75", "sm_120"):
        assemble(ptx_of(kernel, f"{dtype}[:], {dtype}[:], float64[:,:]", arch), arch, tmp_path)


@pytest.mark.parametrize("kernel", test_language_control.KERNELS, ids=lambda f: f.__name__)
def test_control_flow_assembles(kernel, tmp_path):
    assemble(ptx_of(kernel, "int32[:], int64[:]", "sm_90"), "sm_90", tmp_path)


@pytest.mark.parametrize("operation", ["add", "sub", "max", "min", "and_", "or_", "xor", "exch"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float32", "float64"])
def test_atomics_assemble(operation, dtype, tmp_path):
    if "float" in dtype and operation in ("and_", "or_", "xor"):
        pytest.skip("no bits of floats")
    kernel = define(f"""def kernel(x, out):
    tile = cuda.shared.array(8, np.{dtype})
    t = cuda.threadIdx.x
    tile[t] = 0
    cuda.syncthreads()
    cuda.atomic.{operation}(tile, t % 4, x[t])
    cuda.syncthreads()
    cuda.atomic.{operation}(out, t % 8, tile[t])
""")
    for arch in ("sm_75", "sm_90"):
        assemble(ptx_of(kernel, f"{dtype}[:], {dtype}[:]", arch), arch, tmp_path)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("dtype", STRONG)
def test_warp_operations_assemble(dtype, arch, tmp_path):
    scalar = "bool_" if dtype == "bool" else dtype
    kernel = define(f"""def kernel(x, lanes, out):
    i = cuda.grid(1)
    m = cuda.activemask() | cuda.lanemask_lt() | cuda.lanemask_eq()
    v = cuda.shfl_sync(0xffffffff, x[i], 3)
    v = np.{scalar}(v + cuda.shfl_up_sync(m, x[i], i))
    v = np.{scalar}(v + cuda.shfl_down_sync(0xffffffff, v, 1))
    v = cuda.shfl_xor_sync(0xffffffff, v, 8)
    out[i] = v
    cuda.syncwarp(m)
    lanes[i] = cuda.match_any_sync(0xffffffff, v)
    same, p = cuda.match_all_sync(m, v)
    if cuda.all_sync(m, p) or cuda.any_sync(m, v) or cuda.eq_sync(m, v):
        lanes[i] = cuda.ballot_sync(m, v) + same
""")
    ptx = ptx_of(kernel, f"{dtype}[:], uint32[:], {dtype}[:]", arch)
    words = 2 if "64" in dtype else 1
    assert len(re.findall(r"\bshfl\.sync", ptx)) == 4 * words
    assert f"match.any.sync.b{32 * words}" in ptx
    assemble(ptx, arch, tmp_path)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("options", [{}, {"debug": True}], ids=["plain", "debug"])
def test_the_barrier_of_the_grid_assembles(options, arch, tmp_path):
    kernel = define("""@cuda.jit(device=True, inline="never")
def meet(x):
    x[cuda.grid(1)] = 1
    cuda.cg.this_grid().sync()

def kernel(x):
    meet(x)
    x[cuda.grid(1)] += x[0]
    cuda.cg.this_grid().sync()
""")
    made = _pyptx._compile(kernel, "float32[:]", "nvptx", arch, 0, options, "ptx,llvm_opt")
    ptx = made["ptx"]
    assert not re.search(r"phi .*\bundef\b", made["llvm_opt"])  # the rounds of waiting are counted from 0
    assert as_22(ptx).count("atom.global.add") == 1  # one function, called twice
    assert "exit;" in ptx if options else "exit;" not in ptx
    assemble(ptx, arch, tmp_path)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_math_assembles(dtype, tmp_path):
    names = [
        "acos",
        "atan2",
        "cos",
        "erf",
        "exp",
        "floor",
        "fmod",
        "gamma",
        "hypot",
        "log",
        "log2",
        "pow",
        "sin",
        "sqrt",
        "tan",
        "tanh",
    ]
    lines = "".join(
        f"    out[{n}] = math.{f}({'x[0], x[1]' if f in ('atan2', 'fmod', 'hypot', 'pow') else 'x[0]'})\n"
        for n, f in enumerate(names)
    )
    kernel = define(f"def kernel(x, out):\n{lines}")
    try:
        ptx = ptx_of(kernel, f"{dtype}[:], {dtype}[:]", "sm_90")
    except RuntimeError as e:
        assert "PT400" in str(e)
        pytest.skip("libdevice was not found")
    assemble(ptx, "sm_90", tmp_path)


@pytest.mark.parametrize("name", ["_", "__", "_1", "é"])
def test_names_that_ptx_has_not_are_kernels_too(name, tmp_path):
    ptx = ptx_of(define(f"def {name}(out):\n    out[0] = 1\n", name), "int32[:]", "sm_90")
    assemble(ptx, "sm_90", tmp_path)


# --- lines ---


def body(ptx):
    return ptx[ptx.index(".entry") :]


@pytest.mark.usefixtures("one_entry")
def test_saxpy_is_one_fma():
    ptx = ptx_of(example("saxpy.saxpy"), "pyfloat, float32[::1], float32[::1]")
    assert len(re.findall(r"\bfma\.rn\.f32", body(ptx))) == 1
    assert not re.search(r"\bmul\.(rn\.)?f32|\badd\.(rn\.)?f32", body(ptx))


def test_no_fma_where_it_is_off():
    ptx = ptx_of(example("saxpy.saxpy"), "pyfloat, float32[::1], float32[::1]", fma=False)
    assert "fma." not in body(ptx)
    # .rn keeps ptxas from fusing them
    assert "mul.rn.f32" in ptx and "add.rn.f32" in ptx


def test_no_double_precision_in_float32_kernels():
    for path in (
        "black_scholes.black_scholes",
        "nbody.accelerate",
        "softmax.softmax",
        "matmul.matmul_tiled",
        "spmv.spmv",
        "heat3d.heat",
    ):
        # conversion of a float64 parameter (a weak float) is the only thing allowed
        text = re.sub(
            r"cvt\.rn\.f32\.f64[^\n]*|ld\.param\.\w*f64[^\n]*|\.param \.\w*f64[^\n]*|\.reg [^\n]*",
            "",
            body(ptx_of(example(path), EXAMPLES[path])),
        )
        assert not re.search(r"\.f64", text), path


@pytest.mark.usefixtures("one_entry")
def test_vector_add_has_no_local_memory_and_32_bit_indices():
    ptx = body(ptx_of(example("vector_add.vector_add"), EXAMPLES["vector_add.vector_add"]))
    assert ".local" not in ptx and "__local_depot" not in ptx
    assert len(re.findall(r"\bld\.global", ptx)) == 2 and len(re.findall(r"\bst\.global", ptx)) == 1
    assert "call" not in ptx and "trap" not in ptx


def test_device_functions_are_inlined():
    ptx = body(ptx_of(example("black_scholes.black_scholes"), EXAMPLES["black_scholes.black_scholes"]))
    assert "normal_cdf" not in ptx


def test_ieee_division_and_square_root():
    kernel = define("def kernel(x, out):\n    out[0] = x[0] / x[1]\n    out[1] = math.sqrt(x[2])\n")
    ptx = ptx_of(kernel, "float32[::1], float32[::1]")
    assert "div.rn.f32" in ptx and "sqrt.rn.f32" in ptx
    fast = ptx_of(kernel, "float32[::1], float32[::1]", fastmath=True)
    assert re.search(r"div\.(approx|full)(\.ftz)?\.f32", fast) and re.search(
        r"sqrt\.approx(\.ftz)?\.f32", fast
    )


def test_shared_memory_and_barrier():
    ptx = ptx_of(example("transpose.transpose"), EXAMPLES["transpose.transpose"])
    assert re.search(r"\.shared \.align \d+ \.b8 \S+\[4224\]", ptx)
    assert "bar.sync" in ptx or "barrier.sync" in ptx


@pytest.mark.parametrize(
    "dtype, line",
    [
        ("int32", r"(atom|red)\.global\.add\.[us]32"),
        ("float32", r"(atom|red)\.global\.add\.f32"),
        ("float64", r"(atom|red)\.global\.add\.f64"),
        ("uint64", r"(atom|red)\.global\.add\.u64"),
    ],
)
def test_atomics_are_native(dtype, line):
    kernel = define("def kernel(out):\n    cuda.atomic.add(out, 0, 1)\n")
    assert re.search(
        line, ptx_of(kernel, f"{dtype}[::1]").replace(".relaxed.gpu", "").replace(".relaxed.sys", "")
    ), ptx_of(kernel, f"{dtype}[::1]")


def test_ptx_version_is_not_newer_than_asked():
    ptx = ptx_of(example("vector_add.vector_add"), EXAMPLES["vector_add.vector_add"], "sm_75")
    version = tuple(map(int, re.search(r"\.version (\d+)\.(\d+)", ptx).groups()))
    assert version <= (8, 8)


def test_dispatcher_inspection():
    @cuda.jit("void(float32[:], float32[:])")
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i]

    assert any("kernel" in text or "entry" in text for text in np.ravel(list(kernel.inspect_asm().values())))
    assert inspect.isfunction(kernel.py_func)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("opt", [0, 3])
def test_recursion_that_nothing_reaches_assembles(opt, arch, tmp_path):
    """ptxas ends with a segmentation fault where such a function could be called from nowhere else."""
    assemble(ptx_of(recursion_never_reached, "int64[::1], int64[::1]", arch, opt=opt), arch, tmp_path)
