"""_pyptx._compile, which the command line, the tools and compile_ptx stand on: what it gives, and whose options count."""

import gc
import threading

import pytest

import pyptx
from pyptx import _pyptx, cuda

ALL = "ptx,ssa,types,llvm,llvm_opt"


def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


SIG = "float32, float32[::1], float32[::1]"


def compiled(function, signature=SIG, want="ptx", arch="sm_90", target="nvptx", version=0, **options):
    return _pyptx._compile(function, signature, target, arch, version, options, want)


def test_texts_are_given_as_wanted():
    out = compiled(cuda.jit(axpy), want=ALL)
    assert all(isinstance(out[name], str) and out[name] for name in ALL.split(","))
    assert not {"ssa", "types", "llvm"} & compiled(cuda.jit(axpy)).keys()


def test_facts():
    out = compiled(axpy)
    assert out["symbol"] in out["ptx"]
    assert out["args"] == [(False, False, False), (True, True, False), (True, True, True)]
    kinds = [(kind, leaf) for kind, size, axis, leaf, offset in out["params"]]
    assert ("SCALAR", 0) in kinds and ("POINTER", 1) in kinds and ("POINTER", 2) in kinds
    # The driver refuses a block that is longer than the parameters, by a byte of padding too.
    assert out["param_bytes"] == max(offset + size for _, size, _, _, offset in out["params"])
    assert out["static_shared"] == 0 and out["barrier"] is False and out["dynamic_shared"] is False
    assert all(isinstance(name, str) and ms >= 0 for name, ms in out["timings"])


def test_shared_memory_and_barriers_are_told():
    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(64, pyptx.float32)
        tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
        cuda.syncthreads()
        x[cuda.threadIdx.x] = tile[63 - cuda.threadIdx.x]

    out = compiled(kernel, "float32[::1]")
    assert out["static_shared"] >= 256 and out["barrier"] is True


def test_places_that_can_stop_a_thread_are_told():
    out = compiled(axpy, debug=True)
    assert any(exception == "IndexError" and file == __file__ and line > 0 for exception, message, file, line, col in out["sites"])
    assert compiled(axpy)["sites"] == []


def test_device_functions_have_a_result():
    out = compiled(cuda.jit(device=True)(lambda x: x * x), "float32")
    assert out["result"] == "float32" and ".entry" not in out["ptx"]


def test_the_host():
    out = compiled(axpy, target="host", arch=None, want="asm,llvm")
    assert out["asm"] and "define" in out["llvm"] and "ptx" not in out


def test_given_options_go_before_the_decorator_s():
    kernel = cuda.jit(fma=False, max_registers=40)(axpy)
    assert ".maxnreg 40" in compiled(kernel)["ptx"] and "fma.rn" not in compiled(kernel)["ptx"]
    more = compiled(kernel, launch_bounds=128)["ptx"]
    assert ".maxnreg 40" in more and ".maxntid 128" in more and "fma.rn" not in more
    assert "fma.rn" in compiled(kernel, fma=True)["ptx"]
    assert ".maxnreg 24" in compiled(kernel, max_registers=24)["ptx"]
    assert ".maxnreg 40" in compiled(kernel)["ptx"], "the kernel's own options have changed"


@pytest.mark.usefixtures("one_entry")
def test_options_that_equal_the_default_count_too():
    kernel = cuda.jit(opt=0)(axpy)
    assert len(compiled(kernel)["ptx"]) > len(compiled(kernel, opt=3)["ptx"])


@pytest.mark.parametrize("arguments, error", [
    (dict(want="ptx,banana"), ValueError),
    (dict(target="gpu"), ValueError),
    (dict(arch=None), ValueError),
    (dict(target="host", arch=None, want="cubin"), ValueError),
    (dict(signature="float33"), ValueError),
    (dict(arch="sm_1"), ValueError),
    (dict(banana=True), TypeError),
    (dict(opt=9), ValueError),
    (dict(function=print), TypeError),
    (dict(function=3), TypeError),
    (dict(signature=3), TypeError),
])
def test_bad_requests(arguments, error):
    with pytest.raises(error):
        compiled(**{"function": axpy, **arguments})


def test_compiling_holds_nothing():
    kernel = cuda.jit(axpy)
    compiled(kernel, fma=False)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        compiled(kernel, fma=False)
        with pytest.raises(pyptx.CompileError):
            compiled(kernel, "float32")
    gc.collect()
    assert len(gc.get_objects()) < before + 50


def test_threads_compile_side_by_side():
    outs = [None] * 8

    def work(n):
        outs[n] = compiled(axpy, arch=("sm_80", "sm_90")[n % 2])["ptx"]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert outs[::2] == [outs[0]] * 4 and outs[1::2] == [outs[1]] * 4 and outs[0] != outs[1]
