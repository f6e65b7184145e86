"""Code of other compilers in kernels: declared device functions, link=, and what the driver's linker is given."""

import pickle
import shutil
import subprocess

import cloudpickle
import numpy as np
import pytest
from pyptx import cuda, float32, int32, int64, void
from pyptx.cuda import _nvrtc
from standin import needs_standin, run

TWICE = r"""
.version 6.3
.target sm_75
.address_size 64
.visible .func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [twice_param_0];
    shl.b32 %r2, %r1, 1;
    st.param.b32 [func_retval0], %r2;
    ret;
}
.visible .func (.param .b32 func_retval0) weigh(.param .b64 weigh_param_0, .param .b32 weigh_param_1, .param .b64 weigh_param_2)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd1, [weigh_param_0];
    ld.param.f32 %f1, [weigh_param_1];
    ld.param.u64 %rd2, [weigh_param_2];
    ld.f32 %f2, [%rd2+4];
    mul.f32 %f3, %f1, %f2;
    st.f32 [%rd1], %f3;
    mov.u32 %r1, 0;
    st.param.b32 [func_retval0], %r1;
    ret;
}
.visible .func note(.param .b64 note_param_0, .param .b32 note_param_1)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [note_param_0];
    ld.param.u32 %r1, [note_param_1];
    st.u32 [%rd1], %r1;
    ret;
}
"""
SOURCE = r"""
extern "C" __device__ int twice(int x) { return 2 * x; }
extern "C" __device__ int weigh(float *result, float x, const float *w) { *result = x * w[1]; return 0; }
extern "C" __device__ void note(int *to, int x) { *to = x; }
"""
code = cuda.PTXSource(TWICE, "twice.ptx")
twice = cuda.declare_device("twice", "int32(int32)", link=code, abi="c")
weigh = cuda.declare_device("weigh", float32(float32, float32[::1]), link=[code])
note = cuda.declare_device("note", void(int32[:], int32), link=code, abi="c")
gpu_only = pytest.mark.skipif("cuda.get_current_device().is_host", reason="functions of other modules are called on GPUs")


def kernel(out, factors, x, w):
    i = cuda.grid(1)
    mine = cuda.local.array(1, np.int32)
    note(mine, 3)
    if i < out.size:
        out[i] = twice(i) + mine[0]
        factors[i] = weigh(x[i], w)


SIGNATURE = "(int32[:], float32[:], float32[:], float32[::1])"


def has_nvrtc():
    try:
        return bool(_nvrtc._open())
    except RuntimeError:
        return False


# --- declaring ---------------------------------------------------------------------------------------------------------


def test_what_is_declared():
    assert repr(twice) == "<pyptx declared device function twice: int32(int32)>"
    assert weigh.signature == "float32(float32, float32[::1])" and weigh.abi == "numba" and weigh.link == (code,)
    assert note.signature == "void(int32[:], int32)"
    assert cuda.declare_device("f", "int32( readonly int32[::1], bool,)").signature == "int32(readonly int32[::1], bool)"
    with pytest.raises(TypeError, match="kernels call it"):
        twice(1)
    back = pickle.loads(pickle.dumps(weigh))
    assert (back.name, back.signature, back.link[0].data) == ("weigh", weigh.signature, TWICE.encode())


@pytest.mark.parametrize("name, sig, options, error, words", [
    ("a b", "int32(int32)", {}, ValueError, "C identifier"),
    ("été", "int32(int32)", {}, ValueError, "C identifier"),
    (3, "int32(int32)", {}, ValueError, "C identifier"),
    ("f", "int32", {}, ValueError, "no signature with a result"),
    ("f", "int32(complex64)", {}, ValueError, "complex64 cannot be passed"),
    ("f", "float16(int32)", {}, ValueError, "float16 cannot be returned"),
    ("f", "int32[:](int32)", {}, ValueError, r"int32\[:\] cannot be returned"),
    ("f", "int32((int32, int32))", {}, ValueError, "cannot be passed"),
    ("f", "int32(nonsense)", {}, ValueError, "nonsense"),
    ("f", 7, {}, TypeError, "Return type must be provided"), ("f", "(int32,)", {}, TypeError, "Return type must be provided"),
    ("f", "int32(int32)", {"abi": "pascal"}, ValueError, "abi must be"),
    ("f", "int32(int32)", {"use_cooperative": True}, ValueError, "synchronise the grid"),
    ("f", "int32(int32)", {"link": "f.txt"}, ValueError, "Don't know how to link file with extension .txt"),
    ("f", "int32(int32)", {"link": "f.bc"}, ValueError, r"\.ltoir"),
    ("f", "int32(int32)", {"link": "/nowhere/f.ptx"}, FileNotFoundError, "nowhere"),
    ("f", "int32(int32)", {"link": [3]}, TypeError, "link= takes paths"),
])
def test_what_cannot_be_declared(name, sig, options, error, words):
    with pytest.raises(error, match=words):
        cuda.declare_device(name, sig, **options)


def test_linkable_code(tmp_path):
    for kind, suffix in [(cuda.PTXSource, ".ptx"), (cuda.Cubin, ".cubin"), (cuda.Fatbin, ".fatbin"), (cuda.Object, ".o"), (cuda.Archive, ".a"),
                         (cuda.CUSource, ".cu")]:
        path = tmp_path / f"code{suffix}"
        path.write_bytes(b"some bytes")
        (item,) = cuda.declare_device("f", "int32()", link=path).link
        assert type(item) is kind and item.data == b"some bytes" and item.name == str(path) and isinstance(item, cuda.LinkableCode)
    with pytest.raises(TypeError, match="takes bytes, not str"):
        cuda.Cubin("text")
    with pytest.raises(ValueError, match="nothing in it"):
        cuda.PTXSource("")
    assert "twice.ptx" in repr(code)


# --- calling -----------------------------------------------------------------------------------------------------------


def wrong(source, types):
    scope = {"twice": twice, "weigh": weigh}
    exec(source, scope)
    with pytest.raises(TypeError) as caught:
        cuda.compile_ptx(scope["f"], types, cc=(9, 0))
    return str(caught.value)


def test_wrong_calls():
    assert "twice(): it takes 1 argument, but 2 are given" in wrong("def f(x):\n  x[0] = twice(1, 2)", "(int32[:],)")
    assert "twice(): a declared function has no keywords" in wrong("def f(x):\n  x[0] = twice(x=1)", "(int32[:],)")
    assert "twice(): argument 1 must be int32, not a 1d int32 array" in wrong("def f(x):\n  x[0] = twice(x)", "(int32[:],)")
    for given in ("(float32[:],)", "(float64[::1],)", "(float32[:, ::1],)"):
        assert "weigh(): argument 2 must be a 1d float32 array (C), not a " in wrong("def f(x):\n  y = weigh(1, x)", given)


def test_two_declarations_of_one_name():
    other = cuda.declare_device("twice", "int64(int64)", abi="c")

    def f(x):
        x[0] = twice(1) + other(2)

    with pytest.raises(TypeError, match=r"twice\(\): the name is that of the kernel, or was declared with another signature"):
        cuda.compile_ptx(f, "(int32[:],)", cc=(9, 0))


@pytest.mark.host_only("there it is an error")
def test_the_host_device_calls_no_device_code():
    with pytest.raises(cuda.CompileError, match=r"the declared device function \w+\(\) is not available on the host device"):
        cuda.jit(kernel)[1, 1](np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.float32), np.zeros(2, np.float32))


def test_ptx_links_with_nvlink(tmp_path):
    if not shutil.which("nvlink") or not shutil.which("ptxas"):
        pytest.skip("nvlink and ptxas are not on PATH")
    ptx, _ = cuda.compile_ptx(kernel, SIGNATURE, cc=(9, 0))
    others = [TWICE.encode()] + ([_nvrtc.compile(SOURCE.encode(), "twice.cu", 90)] if has_nvrtc() else [])
    (tmp_path / "kernel.ptx").write_text(ptx)
    for n, other in enumerate(others):
        (tmp_path / f"other{n}.ptx").write_bytes(other.rstrip(b"\0"))
        cubins = []
        for name in ("kernel", f"other{n}"):
            cubins.append(str(tmp_path / f"{name}.cubin"))
            subprocess.run(["ptxas", "-c", "-arch=sm_90", "-o", cubins[-1], str(tmp_path / f"{name}.ptx")], check=True)
        subprocess.run(["nvlink", "-arch=sm_90", *cubins, "-o", str(tmp_path / "all.cubin")], check=True)


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_cuda_cpp_that_does_not_compile():
    with pytest.raises(RuntimeError, match=r"(?s)broken.cu does not compile: .*undefined_thing"):
        cuda.CUSource("__device__ int f() { return undefined_thing; }", "broken.cu").image(90)
    kind, name, ptx = cuda.CUSource('#include <cuda_fp16.h>\nextern "C" __device__ float f(__half h) { return h; }', "half.cu").image(90)
    assert kind == 1 and name == "half.cu" and b".func" in ptx


def test_nvrtc_that_is_not_there(monkeypatch):
    monkeypatch.setattr(_nvrtc, "_library", None)
    monkeypatch.setenv("PYPTX_NVRTC", "/nowhere/libnvrtc.so")
    with pytest.raises(RuntimeError, match=r"(?s)needs NVRTC.*/nowhere/libnvrtc.so.*pip install nvidia-cuda-nvrtc"):
        cuda.CUSource("x").image(90)


# --- on a GPU ----------------------------------------------------------------------------------------------------------


def check(k):
    n = 1000
    out, factors = np.zeros(n, np.int32), np.zeros(n, np.float32)
    x, w = np.linspace(0, 1, n, dtype=np.float32), np.array([7, 3], np.float32)
    k[8, 128](out, factors, x, w)
    assert (out == 2 * np.arange(n) + 3).all() and (factors == x * np.float32(3)).all()


@gpu_only
def test_linked_by_the_declarations():
    check(cuda.jit(kernel))
    check(cloudpickle.loads(cloudpickle.dumps(cuda.jit(kernel))))


def bare(**options):
    """The kernel with functions that are declared without link=."""
    scope = {"cuda": cuda, "np": np, **{f.name: cuda.declare_device(f.name, f.signature, abi=f.abi) for f in (twice, weigh, note)}}
    function = type(kernel)(kernel.__code__, scope, "kernel")
    return cuda.jit(function, **options)


def built(form, folder):
    """A file with the functions, in that form."""
    arch = "sm_" + "".join(map(str, cuda.get_current_device().compute_capability))
    ptx, source, out = folder / "code.ptx", folder / "code.cu", folder / f"code.{form}"
    ptx.write_text(TWICE)
    source.write_text(SOURCE)
    nvcc = {"o": "-c", "fatbin": "-fatbin", "a": "-lib"}
    tool = {"cubin": "ptxas", **dict.fromkeys(nvcc, "nvcc")}.get(form)
    if tool and not shutil.which(tool) or form == "cu" and not has_nvrtc():
        pytest.skip(f"{tool or 'NVRTC'} is not installed")
    if form == "cubin":
        subprocess.run(["ptxas", "-c", f"-arch={arch}", "-o", str(out), str(ptx)], check=True)
    elif form in nvcc:
        subprocess.run(["nvcc", "-rdc=true", f"-arch={arch}", nvcc[form], "-o", str(out), str(source)], check=True)
    return out


@gpu_only
@pytest.mark.parametrize("form", ["ptx", "cu", "cubin", "fatbin", "o", "a"])
def test_linked_by_the_decorator(form, tmp_path):
    check(bare(link=[built(form, tmp_path)]))


@gpu_only
def test_functions_that_are_nowhere():
    for k in (bare(), bare(link=cuda.PTXSource(TWICE.replace("twice", "thrice")))):
        with pytest.raises(cuda.ModuleError, match=r"(?s)(note|twice|weigh).*pass the file that defines it with link="):
            check(k)


@gpu_only
def test_cooperative_kernels_and_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))

    def meet(out):
        out[cuda.grid(1)] = twice(cuda.grid(1))
        cuda.cg.this_grid().sync()
        out[cuda.grid(1)] += 1

    for _ in range(2):
        k, out = cuda.jit(meet, cache=True), np.zeros(64, np.int32)
        k[2, 32](out)
        assert (out == 2 * np.arange(64) + 1).all()


# --- on the stand-in driver --------------------------------------------------------------------------------------------

HEAD = f"""
import numpy as np
from pyptx import cuda
from standin import driver
control = driver()
LINK, MODULE = 8, 3
TWICE = {TWICE!r}
code = cuda.PTXSource(TWICE)
twice = cuda.declare_device("twice", "int32(int32)", link=code, abi="c")
def function(x):
    x[0] = twice(1)
d = cuda.device_array(4, np.int32)
def live():
    return control.live(LINK), control.live(MODULE)
"""


@needs_standin
def test_arrays_that_the_function_may_write_to():
    """Without readonly in its signature it may: read-only arrays are refused, host arrays copied back. With it they are only read."""
    run(HEAD + """
code = cuda.PTXSource(".version 7.0\\n.func f")
writes = cuda.declare_device("f", "int32(int32, int32[:])", link=code, abi="c")
reads = cuda.declare_device("f", "int32(int32, readonly int32[:])", link=code, abi="c")
TABLE = np.arange(4, dtype=np.int32)

def kernel_of(f, constant=False):
    def kernel(out, a, b, i):
        out[0] = f(1, cuda.const.array_like(TABLE) if constant else (a, b)[i])
    return cuda.jit(kernel)

x, y = np.zeros(4, np.int32), np.zeros(4, np.int32)
y.flags.writeable = False
control.forget()
kernel_of(reads)[1, 1](d, x, y, 0)
assert control.calls(b"cuMemcpyDtoH") + control.calls(b"cuMemcpyDtoHAsync") == 0
try:
    kernel_of(writes)[1, 1](d, x, y, 0)
    raise SystemExit("not refused")
except ValueError as e:
    assert "read-only: argument 3 ('b')" in str(e), e
kernel_of(writes)[1, 1](d, x, x.copy(), 0)
assert control.calls(b"cuMemcpyDtoH") + control.calls(b"cuMemcpyDtoHAsync") == 2
kernel_of(reads, True)[1, 1](d, x, y, 0)
try:
    kernel_of(writes, True)[1, 1](d, x, y, 0)
    raise SystemExit("not refused")
except TypeError as e:
    assert "argument 2 is" in str(e) and "read-only, and the function may write to it" in str(e) and "write readonly before" in str(e), e
""")


@needs_standin
def test_what_the_linker_is_given():
    run(HEAD + """
k = cuda.jit(function, link=[code, cuda.Cubin(b"\\x7fELF and more")])
k[1, 1](d)
assert control.calls(b"cuLinkCreate") == control.calls(b"cuLinkComplete") == control.calls(b"cuLinkDestroy") == 1
assert control.calls(b"cuLinkAddData") == 3          # the kernel, the PTX once, the cubin
assert live() == (0, 1) and control.misuse() == 0
k[1, 1](d)
assert control.calls(b"cuLinkCreate") == 1
plain = cuda.jit(lambda x: None, link=[])
plain[1, 1](d)
assert control.calls(b"cuLinkCreate") == 1 and control.calls(b"cuModuleLoadDataEx") == 2
missing = cuda.declare_device("thrice", "int32(int32)", link=code, abi="c")
def other(x):
    x[0] = missing(1)
try:
    cuda.jit(other)[1, 1](d)
except cuda.ModuleError as e:
    assert "Undefined reference to 'thrice'" in str(e) and "kernel 'other'" in str(e) and "link=" in str(e), e
else:
    assert False
try:
    cuda.jit(function, link=cuda.PTXSource("no PTX", "bad.ptx"))[1, 1](d)
except cuda.ModuleError as e:
    assert "bad.ptx" in str(e), e
else:
    assert False
assert live() == (0, 2) and control.misuse() == 0
""")


@needs_standin
@pytest.mark.parametrize("call", ["cuLinkCreate", "cuLinkAddData", "cuLinkComplete", "cuLinkDestroy", "cuModuleLoadDataEx"])
@pytest.mark.parametrize("result", [2, 999])
def test_a_step_of_linking_fails(call, result):
    run(HEAD + f"""
control.fail(b"{call}", 1, {result})
try:
    cuda.jit(function)[1, 1](d)
except (cuda.OutOfMemoryError if {result} == 2 else cuda.CudaAPIError) as e:
    assert "{call}" in str(e), e
else:
    assert "{call}" == "cuLinkDestroy"               # the kernel is there by then
if "{call}" != "cuLinkDestroy":
    assert live() == (0, 0), live()
cuda.jit(function)[1, 1](d)
assert control.misuse() == 0
""")
