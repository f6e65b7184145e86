"""Every kernel of the benchmark, where there is no GPU: right on the device at a small size, as PTX that assembles, and its C sides."""

import shutil
import subprocess

import numpy as np
import pytest
from kernels import BY_NAME, KERNELS, SETS, native, pick, trips
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
    assert len(BY_NAME) == len(ALL) and len(KERNELS) >= 20 and len(SETS["second"]) >= 40 and len(SETS["third"]) >= 20
    assert [k.name for k in pick(["BabelStream"])] == [f"stream_{s}" for s in ("copy", "mul", "add", "triad", "dot")]
    assert pick([]) == KERNELS == SETS["first"] and pick([], "second") == SETS["second"]
    assert [k.name for k in pick(["substring"], "second")] == ["count_substring"]
    with pytest.raises(SystemExit, match="no set fourth: first, second, third, trips"):
        pick([], "fourth")


@all_kernels
def test_on_the_device(kernel):
    problem = problem_of(kernel)
    arguments = own_copies(problem.arguments)
    cuda.jit(kernel.function)[problem.grid_for(kernel.block), kernel.block](*arguments)
    verify(problem, arguments)


@all_kernels
def test_the_check_sees_an_error(kernel):
    problem = problem_of(kernel)
    arguments = own_copies(problem.arguments)
    for k in problem.outputs:
        arguments[k][...] = np.asarray(-12345).astype(arguments[k].dtype)  # unsigned ones wrap
    passed, _ = check(problem, [arguments[k] for k in problem.outputs], problem.expected())
    assert not passed


@pytest.mark.parametrize("kernel", [k for k in ALL if k.sweep], ids=lambda k: k.name)
def test_block_sizes(kernel):
    problem = problem_of(kernel)
    for block in kernel.sweep:
        assert np.prod(dims(block)) <= 1024
        arguments = own_copies(problem.arguments)
        cuda.jit(kernel.function)[problem.grid_for(block), block](*arguments)
        verify(problem, arguments)


@all_kernels
def test_assembles(kernel, tmp_path):
    ptx, _ = cuda.compile_ptx(kernel.function, kernel.signature, cc="sm_90")
    if not PTXAS:
        pytest.skip("ptxas is not on PATH")
    source = tmp_path / "kernel.ptx"
    source.write_text(ptx)
    done = subprocess.run([PTXAS, "-arch=sm_90", "-o", tmp_path / "kernel.cubin", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def loops():
    if not native.compiler():
        pytest.skip("there is no C compiler")
    return native.openmp_library(ALL)


@all_kernels
def test_openmp(kernel, loops):
    problem = problem_of(kernel)
    arguments = own_copies(problem.arguments)
    native.openmp_call(loops, kernel, problem, arguments)()
    verify(problem, arguments, problem.sequential)


@pytest.mark.skipif(not NVCC, reason="nvcc is not on PATH")
@pytest.mark.parametrize("text", ("cuda", "cuda_int"))
@pytest.mark.parametrize("of", SETS)
def test_cuda_texts_compile(of, text):
    kernels = [k for k in SETS[of] if getattr(k, text)]
    if not kernels:
        pytest.skip(f"no kernel of this set has {text}")
    image = native.cubin(kernels, "sm_90", text)
    for kernel in kernels:
        assert kernel.name.encode() + b"\0" in image
