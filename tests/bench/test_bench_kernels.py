"""Every kernel of the benchmark, where there is no GPU: right on the device at a small size, as PTX that assembles, and its C sides."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from kernels import BY_NAME, KERNELS, SETS, native, pick, sweeps, trips
from kernels.declare import check, dims
from pyptx import cuda

trips.ELEMENTS = 1 << 16  # a row's length counts, not how many there are
ALL = [kernel for kernels in SETS.values() for kernel in kernels]
all_kernels = pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.name)
NVCC, PTXAS = shutil.which("nvcc"), shutil.which("ptxas")


def problem_of(kernel):
    return kernel.problem(np.random.default_rng(1), kernel.scaled(kernel.test, 1))


def own_copies(arguments):
    return [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]


def verify(problem, arguments, slack=1.0):
    passed, share = check(problem, [arguments[k] for k in problem.outputs], problem.expected(), slack)
    assert passed, f"{share} of the bound"


def test_names():
    assert len(BY_NAME) == len(ALL) and len(KERNELS) >= 20 and len(SETS["second"]) >= 40
    assert len(SETS["third"]) >= 20 and len(SETS["fourth"]) >= 24 and len(SETS["fifth"]) >= 31 and len(SETS["sixth"]) >= 39
    assert len(SETS["seventh"]) >= 30 and len(SETS["eighth"]) >= 30 and len(SETS["ninth"]) >= 30
    assert len(SETS["tenth"]) >= 48 and len(SETS["eleventh"]) >= 36 and len(SETS["twelfth"]) >= 36
    assert [k.name for k in pick(["BabelStream"])] == [f"stream_{s}" for s in ("copy", "mul", "add", "triad", "dot")]
    assert pick([]) == KERNELS == SETS["first"] and pick([], "second") == SETS["second"]
    assert [k.name for k in pick(["substring"], "second")] == ["count_substring"]
    with pytest.raises(SystemExit, match="no set thirteenth: first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth, trips"):
        pick([], "thirteenth")


@all_kernels
def test_numbers_are_declared_as_they_are_launched(kernel):
    """A Python int beside a float32 gives a float32, an int64 a float64."""
    types = re.split(r",\s*(?![^\[(]*[\])])", kernel.signature)
    names = {int: "pyint", float: "pyfloat"}
    for argument, declared in zip(problem_of(kernel).arguments, types, strict=True):
        if not isinstance(argument, (np.ndarray, tuple)):
            assert declared == names.get(type(argument), np.asarray(argument).dtype.name)


@all_kernels
def test_on_the_device(kernel):
    """In blocks of each size of its sweep, too."""
    problem, compiled = problem_of(kernel), cuda.jit(kernel.function)
    for block in dict.fromkeys((kernel.block, *kernel.sweep)):
        assert np.prod(dims(block)) <= 1024
        arguments = own_copies(problem.arguments)
        compiled[problem.grid_for(block), block](*arguments)
        verify(problem, arguments)


@all_kernels
def test_the_check_sees_an_error(kernel):
    problem = problem_of(kernel)
    arguments = own_copies(problem.arguments)
    for k in problem.outputs:
        arguments[k][...] = np.asarray(-12345).astype(arguments[k].dtype)  # unsigned ones wrap
    passed, _ = check(problem, [arguments[k] for k in problem.outputs], problem.expected())
    assert not passed


@all_kernels
def test_its_ptx(kernel, tmp_path):
    """It assembles, coarsened too. lineinfo=True adds lines and no instruction: each pass is in one of these."""
    text, lined = (cuda.compile_ptx(kernel.function, kernel.signature, cc="sm_90", coarsen=4, lineinfo=lines)[0] for lines in (False, True))

    def code(text):
        return [row for row in text.splitlines() if re.match(r"\t(?!\.loc|\.file|\.section)", row) and row.strip()]

    assert code(lined) == code(text)
    if not PTXAS:
        pytest.skip("ptxas is not on PATH")
    source = tmp_path / "kernel.ptx"
    source.write_text(text)
    # -O0: optimised, test_loops.py assembles each
    done = subprocess.run([PTXAS, "-O0", "-arch=sm_90", "-o", tmp_path / "kernel.cubin", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("kernel", "axis"), [
    pytest.param(k, axis, id=f"{k.name}-{axis}") for k in ALL for axis in ("widths", "thin") if getattr(k, axis)
])  # fmt: skip
def test_along(kernel, axis):
    """Some points of each sweep: the ends, and between."""
    compiled, points = cuda.jit(kernel.function), sweeps.points(kernel, axis, kernel.scaled(kernel.test, 1))
    for point in points[:: max(1, len(points) // 4)] + points[-1:]:
        problem = point.problem()
        arguments = own_copies(problem.arguments)
        compiled[problem.grid_for(point.block), point.block](*arguments)
        verify(problem, arguments)


def test_points_of_a_sweep():
    def labels(name, axis, n):
        return [point.label for point in sweeps.points(BY_NAME[name], axis, n)]

    assert labels("vadd", "blocks", 10) == ["64", "128", "256", "512", "1024"]
    assert labels("vadd", "extents", 1000) == ["n=761", "n=767", "n=768", "n=769", "n=896"]
    assert labels("jacobi", "extents", 70) == ["n=61", "n=63", "n=64", "n=65", "n=80"]
    assert labels("stream_copy", "extents", 4096) == [] == labels("vadd", "widths", 9) == labels("transpose", "blocks", 9)
    assert labels("transpose", "thin", 20)[:4] == ["1x400", "400x1", "2x200", "200x2"]
    assert labels("heat3d", "thin", 30)[:3] == ["3x95x95", "95x3x95", "95x95x3"]
    assert labels("transpose", "thin", 9000)[0] == "1x400000"
    widths = sweeps.points(BY_NAME["warp_row_sums"], "widths", 100)
    assert [len(p.problem().arguments[0]) for p in (widths[0], widths[39], widths[-1])] == [800, 800, 22]
    assert set(range(1, 41)) <= {p.at for p in widths} and sum(p.at % 2 for p in widths) > 30
    assert sweeps.axes_of("all") == sweeps.AXES and sweeps.axes_of("thin,blocks") == ("thin", "blocks")
    with pytest.raises(SystemExit, match="no axis size: blocks, extents, widths, thin, all"):
        sweeps.axes_of("size")


def openmp_loops(kernels):
    if not native.compiler():
        pytest.skip("there is no C compiler")
    return native.openmp_library(kernels, "-O1")


def openmp_is_right(kernel, loops):
    problem = problem_of(kernel)
    arguments = own_copies(problem.arguments)
    native.openmp_call(loops, kernel, problem, arguments)()
    verify(problem, arguments, problem.sequential)


def cuda_text_compiles(kernels, text):
    if not NVCC:
        pytest.skip("nvcc is not on PATH")
    kernels = [k for k in kernels if getattr(k, text)]
    if not kernels:
        pytest.skip(f"no kernel of this set has {text}")
    image = native.cubin(kernels, "sm_90", text)
    for kernel in kernels:
        assert kernel.name.encode() + b"\0" in image


@pytest.fixture(scope="module")
def loops():
    return openmp_loops(KERNELS)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_openmp(kernel, loops):
    """Of the first set; tests/full/test_bench_texts.py has the C texts of all."""
    openmp_is_right(kernel, loops)


def test_cuda_texts_compile():
    cuda_text_compiles(KERNELS, "cuda")
