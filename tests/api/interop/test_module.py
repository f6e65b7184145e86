"""cuda.Module: CUDA C++, PTX, machine code and described kernels, launched with our arguments. Launches need a GPU, or its code on the CPU."""

import ctypes
import json
import pickle
import shutil
import subprocess

import numpy as np
import pytest
from pyptx import cli, cuda
from pyptx.cuda import _module, _nvrtc
from pyptx.errors import CompileError, ModuleError

SOURCE = r"""
#ifndef STEP
#define STEP 1
#endif
struct Pair { float a; int b; };
__device__ int counter;
__device__ float table[4];
extern "C" __global__ void scale(float *x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
extern "C" __global__ void widths(double *out, float f, double d, int i, long long l, unsigned char c, short s, Pair p, bool b) {
  out[0] = f; out[1] = d; out[2] = i; out[3] = (double)l; out[4] = c; out[5] = s; out[6] = p.a; out[7] = p.b; out[8] = b; out[9] = STEP;
}
extern "C" __global__ void none() { }
__global__ void plain(int *x, int n) { x[0] = n; }
template <typename T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }
"""
ADD = """
.version 6.3
.target sm_75
.address_size 64
.visible .global .align 4 .u32 total;
.visible .entry store(.param .u64 .ptr .global .align 4 store_param_0, .param .u32 store_param_1)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd1, [store_param_0];
    ld.param.u32 %r1, [store_param_1];
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


def has_nvrtc():
    try:
        return bool(_nvrtc._open())
    except RuntimeError:
        return False


on_host = cuda.get_current_device().is_host
gpu_only = pytest.mark.skipif(on_host, reason="kernels of other compilers run on GPUs")
needs_nvrtc = pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")


@pytest.fixture(scope="module")
def module():
    if on_host or not has_nvrtc():
        pytest.skip("it takes a GPU and NVRTC")
    return cuda.Module(SOURCE, names=("twice<float>", "twice<int>"))


# --- what is read from PTX, without a GPU -----------------------------------------------------------------------------


def test_parameters_of_ptx():
    found = _module.entries_of("""
        // .entry wrong(.param .u32 a)
        .visible .entry f(
            .param .u64 .ptr .global .align 4 f_param_0, .param .u8 f_param_1,
            .param .align 8 .b8 f_param_2[24], /* , */ .param .f32 f_param_3
        ) .maxntid 128 { ret; }
        .entry g() { ret; }
        .visible .entry h { ret; }""")
    assert list(found) == ["f", "g", "h"] and found["g"] == found["h"] == []
    assert [(p.offset, p.size, p.kind, p.is_block) for p in found["f"]] == [(0, 8, "u", False), (8, 1, "u", False), (16, 24, "b", True), (40, 4, "f", False)]


@needs_nvrtc
def test_parameters_of_nvrtc_are_where_the_compiler_reads_them():
    ptx = _nvrtc.compile(SOURCE.encode(), "widths.cu", 80).decode()
    widths = _module.entries_of(ptx)["widths"]
    assert [p.size for p in widths] == [8, 4, 8, 4, 8, 1, 2, 8, 1]
    assert [p.kind for p in widths] == ["u", "f", "f", "u", "u", "u", "u", "b", "u"]
    assert _module.globals_of(ptx) == {"counter": np.uint32, "table": None}


def parameter(size, kind="", is_block=False):
    return _module.Parameter(0, size, kind, is_block)


@pytest.mark.parametrize("value, p, data", [
    (3, parameter(4, "u"), b"\3\0\0\0"), (-1, parameter(4, "u"), b"\xff" * 4), (2**32 - 1, parameter(4, "u"), b"\xff" * 4), (True, parameter(1, "u"), b"\1"),
    (1.5, parameter(4, "f"), np.float32(1.5).tobytes()), (3, parameter(8, "f"), np.float64(3).tobytes()), (1.5, parameter(4), np.float32(1.5).tobytes()),
    (np.float32(2), parameter(4, "f"), np.float32(2).tobytes()), (np.int16(-2), parameter(2, "u"), b"\xfe\xff"), (None, parameter(8, "u"), bytes(8)),
    (b"12345678", parameter(8, "b", True), b"12345678"), (1j, parameter(8, "b", True), np.complex64(1j).tobytes()),
    (np.complex128(2), parameter(16, "b", True), np.complex128(2).tobytes()), (1.5, parameter(2, "b", True), np.float16(1.5).tobytes()),
    (ctypes.c_uint64.from_buffer_copy(b"abcdefgh"), parameter(8, "u"), None),
])
def test_numbers_by_width(value, p, data):
    if data is None:  # a number of ctypes is none of ours
        with pytest.raises(TypeError):
            _module.value_bytes("k: argument 1", value, p)
    else:
        assert _module.value_bytes("k: argument 1", value, p) == data


@pytest.mark.parametrize("value, p, error, words", [
    (2**32, parameter(4, "u"), OverflowError, "does not fit 32 bits"), (-(2**31) - 1, parameter(4, "u"), OverflowError, "does not fit 32 bits"),
    (1.5, parameter(4, "u"), TypeError, "an integer or an address of 32 bits, not float 1.5"), (1e39, parameter(4, "f"), OverflowError, "float of 32 bits"),
    (np.float64(1), parameter(4, "f"), TypeError, r"a float of 32 bits, not float64 \(8 bytes\)"), (np.int32(1), parameter(4, "f"), TypeError, "int32"),
    (np.int64(1), parameter(4, "u"), TypeError, r"int64 \(8 bytes\)"), (b"123", parameter(8, "b", True), TypeError, "8 bytes, not 3 bytes"),
    (3, parameter(8, "b", True), TypeError, "8 bytes, not int 3"), ("x", parameter(8, "u"), TypeError, "str"), (None, parameter(4, "u"), TypeError, "NoneType"),
])
def test_numbers_that_do_not_fit(value, p, error, words):
    with pytest.raises(error, match=words):
        _module.value_bytes("k: argument 1", value, p)


# --- what is wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not on_host, reason="there is a GPU")
def test_the_host_device_is_told():
    for source in (SOURCE, ADD):
        with pytest.raises(RuntimeError, match="needs a GPU, and the current device is the host"):
            cuda.Module(source)


@needs_nvrtc
@pytest.mark.skipif(on_host, reason="CUDA C++ is compiled for a GPU")
def test_errors_show_the_line(tmp_path):
    with pytest.raises(CompileError) as caught:
        cuda.Module('extern "C" __global__ void f(int *x) {\n  x[0] = missing;\n  other();\n}', name="bad.cu")
    error, text = caught.value, str(caught.value)
    assert (error.filename, error.lineno, error.offset) == ("bad.cu", 2, 10) and error.text == "  x[0] = missing;"
    lines = text.splitlines()
    assert lines[0] == 'bad.cu does not compile: identifier "missing" is undefined' and lines[1] == "  bad.cu:2:10"
    assert lines[3].index("^") == lines[2].index("missing") and "1 more error:" in text and 'bad.cu:3: identifier "other"' in text
    path = tmp_path / "k.cu"
    path.write_text('#include "nowhere.h"\n')
    with pytest.raises(CompileError, match=r"k\.cu:1.*\n.*nowhere\.h"):
        cuda.Module(path)


@pytest.mark.parametrize("source, options, error, words", [
    (ADD, {"defines": {"N": 1}}, ValueError, r"defines=…\) is for CUDA C\+\+; this is PTX"), (b"\x7fELF", {"options": ("-x",)}, ValueError, "machine code"),
    (b"\xff\xfe\xff", {}, ValueError, "neither a cubin nor"), (3, {}, TypeError, "not int"), ("nowhere.cu", {}, FileNotFoundError, "nowhere"),
])
def test_sources_that_are_none(source, options, error, words):
    with pytest.raises(error, match=words):
        cuda.Module(source, **options)


def test_descriptions_that_are_none(tmp_path):
    path = tmp_path / "k.json"
    for text, words in (("{", "no description"), ("[]", "no description"), (json.dumps({"format": "pyptx kernel", "abi": 99}), "version 99"),
                        (json.dumps({"format": "pyptx kernel", "abi": 1, "images": []}), "names no image")):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            cuda.Module(path)


@gpu_only
def test_ptx_that_the_driver_refuses():
    with pytest.raises(ModuleError):
        cuda.Module(".version 6.3\nrefuse this\n")


# --- launches ---------------------------------------------------------------------------------------------------------


def test_a_kernel_of_cuda(module):
    x = np.arange(100, dtype=np.float32)
    d_x = cuda.to_device(x)
    module["scale"][4, 32](d_x, 2, x.size)
    np.testing.assert_array_equal(d_x.copy_to_host(), 2 * x)
    stream = cuda.stream()
    module["scale"][4, 32, stream, 0](d_x, np.float32(0.5), np.int32(50))
    stream.synchronize()
    np.testing.assert_array_equal(d_x.copy_to_host(), np.where(np.arange(100) < 50, x, 2 * x))
    module["none"][1, 1]()


def test_host_arrays_are_copied_both_ways(module):
    x = np.arange(10, dtype=np.float32)
    module["scale"][1, 32](x, 3.0, 10)
    np.testing.assert_array_equal(x, 3 * np.arange(10))


def test_every_width(module):
    out = cuda.to_device(np.zeros(10))
    pair = np.zeros((), dtype=[("a", np.float32), ("b", np.int32)])
    pair["a"], pair["b"] = 0.5, -7

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_float), ("b", ctypes.c_int)]

    for given in (pair[()], Pair(0.5, -7), pair.tobytes()):
        module["widths"][1, 1](out, 1.5, 2.5, -3, -(2**40), 200, -5, given, True)
        assert out.copy_to_host().tolist() == [1.5, 2.5, -3, -(2.0**40), 200, -5, 0.5, -7, 1, 1]
    assert cuda.Module(SOURCE, defines={"STEP": 5})["widths"].parameters == module["widths"].parameters


@needs_nvrtc
@gpu_only
def test_macros_and_headers(tmp_path):
    (tmp_path / "step.h").write_text("#define STEP 7\n")
    path = tmp_path / "k.cu"
    path.write_text('#include "step.h"\n' + SOURCE)
    (tmp_path / "more").mkdir()
    for made in (cuda.Module(path), cuda.Module(SOURCE, defines={"STEP": 7}), cuda.Module('#include "step.h"\n' + SOURCE, include=tmp_path)):
        out = np.zeros(10)
        made["widths"][1, 1](out, 0, 0, 0, 0, 0, 0, bytes(8), False)
        assert out[9] == 7


def test_names(module):
    x = cuda.to_device(np.arange(4, dtype=np.float32))
    module["twice<float>"][1, 4](x)
    assert x.copy_to_host().tolist() == [0, 2, 4, 6]
    n = np.arange(4, dtype=np.int32)
    module["twice<int>"][1, 4](n)
    assert n.tolist() == [0, 2, 4, 6]
    module["plain"][1, 1](n, 9)  # C++'s name of it is another
    assert n[0] == 9 and "scale" in module and "twice<int>" in module and module["scale"] is module["scale"]
    for name, words in (("scales", "did you mean 'scale'"), ("twice<double>", r"names=\('twice<double>',\)"), ("twice", "several kernels 'twice'")):
        with pytest.raises(KeyError, match=words):
            module[name]
    with pytest.raises(TypeError, match="a str"):
        module[3]


def test_arguments_are_checked_before_the_launch(module):
    x = cuda.to_device(np.zeros(4, np.float32))
    k = module["scale"][1, 4]
    for arguments, error, words in (((x, 1.0), TypeError, "takes 3 arguments, but 2 were given"), ((x, 1.0, 2.0), TypeError, "argument 3 is an integer"),
                                    ((x, x, 4), TypeError, "argument 2 is a float of 32 bits, not an array"), ((1.0, 1.0, 4), TypeError, "argument 1"),
                                    ((x, 1.0, 2**40), OverflowError, "argument 3: .* does not fit 32 bits")):
        with pytest.raises(error, match=words):
            k(*arguments)
    with pytest.raises(TypeError, match="have no names"):
        k(x, 1.0, n=4)
    with pytest.raises(TypeError, match="launch configuration was not specified"):
        module["scale"](x, 1.0, 4)
    with pytest.raises(ValueError, match="write scale"):
        module["scale"][1]
    with pytest.raises(ValueError, match="the grid is 0"):
        module["scale"][0, 4](x, 1.0, 4)
    with pytest.raises(ValueError, match="-1 bytes"):
        module["scale"][1, 4, 0, -1](x, 1.0, 4)
    assert repr(module["scale"]).startswith("<pyptx kernel scale of <source>: (an integer or an address of 64 bits, a float of 32 bits")


def test_globals(module):
    counter, table = module.global_("counter"), module.global_("table", np.float32)
    assert (counter.shape, counter.dtype, table.shape) == ((), np.uint32, (4,)) and module.global_("table").shape == (16,)
    table.copy_to_device(np.arange(4, dtype=np.float32))
    assert module.global_("table", np.float32, (2, 2)).copy_to_host().tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="does not fit"):
        module.global_("table", np.float64, 3)
    with pytest.raises(ModuleError, match="no global variable 'nothing'"):
        module.global_("nothing")


@gpu_only
def test_ptx_and_paths(tmp_path):
    path = tmp_path / "store.ptx"
    path.write_text(ADD)
    for made in (cuda.Module(ADD), cuda.Module(ADD.encode()), cuda.Module(path), cuda.Module(str(path)), cuda.Module(cuda.PTXSource(ADD, "store"))):
        assert made.kernels == ["store"] and ".entry store" in made.ptx
        x = np.zeros(1, np.int32)
        made["store"][1, 1](x, 41)
        assert x[0] == 41 and made["store"].resources["max_threads"] > 0
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(made)


@gpu_only
def test_a_module_lives_as_long_as_what_is_of_it():
    kernel = cuda.Module(ADD)["store"]
    launch, x = kernel[1, 1], np.zeros(1, np.int32)
    variable = cuda.Module(ADD).global_("total")
    del kernel
    launch(x, 5)
    assert x[0] == 5 and variable.copy_to_host().shape == ()


@gpu_only
@pytest.mark.skipif("PYPTX_ON_PTX" in __import__("os").environ, reason="only PTX runs on the CPU, not cubins")
@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
@pytest.mark.parametrize("kind", ["cubin", "fatbin"])
def test_machine_code(tmp_path, kind):
    major, minor = cuda.get_current_device().compute_capability
    (tmp_path / "k.cu").write_text(SOURCE)
    subprocess.run(["nvcc", f"-{kind}", f"-arch=sm_{major}{minor}", "-o", tmp_path / f"k.{kind}", tmp_path / "k.cu"], check=True)
    for made in (cuda.Module(tmp_path / f"k.{kind}"), cuda.Module((tmp_path / f"k.{kind}").read_bytes())):
        x = np.arange(10, dtype=np.float32)
        made["scale"][1, 32](x, 2.0, 10)
        np.testing.assert_array_equal(x, 2 * np.arange(10))
        with pytest.raises(TypeError, match="takes 3 arguments"):
            made["scale"][1, 32](x, 2.0)
        with pytest.raises(ModuleError, match="no kernel 'nothing'"):
            made["nothing"]


# --- kernels of pyptx compile -----------------------------------------------------------------------------------------


KERNELS = '''
from pyptx import cuda

@cuda.jit
def mix(t, n, m, out, b):
    i = cuda.grid(1)
    if i < out.size and b:
        out[i] = t[0] * t[1][i] + m[i, 0] + n
'''
TYPES = "(float64, float64[:]), uint16, float32[::1,:], float64[::1], bool"


@pytest.fixture
def compiled(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    assert cli.main(["compile", str(tmp_path / "kernels.py"), "--sig", TYPES, "--emit", "ptx,json", "-o", str(tmp_path / "mix.ptx")]) == 0
    return tmp_path


@gpu_only
def test_a_described_kernel(compiled):
    x, m = np.arange(20, dtype=np.float64), np.asfortranarray(np.arange(30, dtype=np.float32).reshape(10, 3))
    expected = 2.5 * x[::2] + m[:, 0] + 7
    for file in ("mix.ptx", "mix.json"):
        kernel = cuda.Module(compiled / file)["mix"]
        assert kernel.parameters == TYPES
        out = np.zeros(10)
        kernel[1, 32]((2.5, cuda.to_device(x)[::2]), 7, m, out, True)
        np.testing.assert_array_equal(out, expected)
        kernel[1, 32]((0.0, x[::2]), 0, m=cuda.to_device(m), out=out, b=np.True_)
        np.testing.assert_array_equal(out, m[:, 0])
        with pytest.raises(TypeError, match="contiguous in F order"):
            kernel[1, 32]((2.5, x), 7, np.ascontiguousarray(m), out, True)
        with pytest.raises(TypeError, match="not an array of float32"):
            kernel[1, 32]((2.5, x), 7, m, out.astype(np.float32), True)
        with pytest.raises(OverflowError, match="does not fit uint16"):
            kernel[1, 32]((2.5, x), 70000, m, out, True)
        with pytest.raises(TypeError, match="argument 1 is .* a tuple of 2"):
            kernel[1, 32](2.5, 7, m, out, True)
        with pytest.raises(TypeError, match="takes 5 arguments"):
            kernel[1, 32]((2.5, x), 7)
        with pytest.raises(TypeError, match="no parameter 'q'"):
            kernel[1, 32]((2.5, x), 7, m, out, True, q=1)
        frozen = out.copy()
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            kernel[1, 32]((2.5, x), 7, m, frozen, True)


@gpu_only
def test_what_stops_a_described_kernel_is_raised(tmp_path):
    (tmp_path / "kernels.py").write_text("def k(x, n):\n    i = x[0]\n    if n > 2:\n        raise ValueError('n is too large')\n    x[0] = n + i\n")
    assert cli.main(["compile", str(tmp_path / "kernels.py:k"), "--sig", "int32[:], int32", "--exceptions", "--emit", "ptx,json", "-o", str(tmp_path / "k.ptx")]) == 0
    kernel, x = cuda.Module(tmp_path / "k.ptx")["k"], np.zeros(1, np.int32)
    kernel[1, 1](x, 2)
    with pytest.raises(ValueError, match=r"n is too large\n  .*kernels\.py:4, thread \(0, 0, 0\) of block \(0, 0, 0\) of k"):
        kernel[1, 1](x, 3)
    kernel[1, 1](x, 1)
    assert x[0] == 3


def written(tmp_path, text, *options):
    (tmp_path / "kernels.py").write_text(text)
    assert cli.main(["compile", str(tmp_path / "kernels.py:k"), *options]) == 0


@gpu_only
def test_launches_are_recorded_in_a_graph(tmp_path):
    written(tmp_path, "def k(x, n):\n    x[0] = 2 * x[0] + n\n", "--sig", "int32[::1], int32", "--emit", "ptx,json", "-o", str(tmp_path / "k.ptx"))
    x, kernel = cuda.to_device(np.array([1], np.int32)), cuda.Module(tmp_path / "k.ptx")["k"]
    with cuda.graph() as graph:
        kernel[1, 1](x, 1)
        kernel[1, 1](x, 5)
    assert x[0] == 1 and [n.kind for n in graph.nodes] == ["kernel"] * 2 and graph.nodes[0].args[0] is x
    assert repr(graph.nodes[0]) == "<pyptx graph node: a kernel of a Module>" and graph.nodes[0].griddim == (1, 1, 1)
    del kernel
    for _ in range(2):
        graph.launch()
    assert x[0] == (1 * 4 + 7) * 4 + 7
    with pytest.raises((ValueError, TypeError), match="in Python"):
        graph.nodes[0].set_args(x, 1)


@gpu_only
def test_what_is_not_recorded(tmp_path):
    written(tmp_path, "def k(x, n):\n    if n > 2:\n        raise ValueError('n')\n    x[0] = n\n", "--sig", "int32[:], int32", "--exceptions",
            "--emit", "ptx,json", "-o", str(tmp_path / "k.ptx"))
    x, kernel = cuda.device_array(1, np.int32), cuda.Module(tmp_path / "k.ptx")["k"]
    with pytest.raises(RuntimeError, match="cannot be recorded in a graph"), cuda.graph():
        kernel[1, 1](x, 1)


CALLER = r"""
extern "C" __device__ int thrice(int x);
extern "C" __global__ void call(int *x) { x[0] = thrice(x[0]); }
"""
THRICE = 'extern "C" __device__ int thrice(int x) { return 3 * x; }'


def lto_of(source, capability):
    flags = [f"--gpu-architecture=compute_{capability}", "--relocatable-device-code=true", "-dlto"]
    return cuda.LTOIR(_nvrtc.build(source.encode(), "thrice.cu", flags, wanted=("LTOIR",)).ltoir, "thrice.ltoir")


def has_nvjitlink():
    from pyptx.cuda import _nvjitlink

    try:
        return bool(_nvjitlink.open_library())
    except RuntimeError:
        return False


needs_nvjitlink = pytest.mark.skipif(not has_nvjitlink() or not has_nvrtc(), reason="nvJitLink or NVRTC is not installed")


@needs_nvjitlink
def test_code_for_link_time_optimisation_is_linked():
    from pyptx.cuda._link import link_lto

    def k(x):
        x[0] = thrice(x[0])

    code = lto_of(THRICE, 80)
    thrice = cuda.declare_device("thrice", "int32(int32)", link=code, abi="c")
    ptx, _ = cuda.compile_ptx(k, "(int32[::1],)", cc=(8, 0))
    cubin = link_lto(80, "k", ptx.encode(), [code.image(80)])
    assert cubin.startswith(b"\x7fELF") and b"thrice" in cubin
    assert link_lto(80, "k", ptx.encode(), []) is None
    for what in ((6, "bad.ltoir", b"nonsense"), (1, "bad.ptx", b"nonsense")):
        with pytest.raises(RuntimeError, match="nvJitLink cannot link .*bad"):
            link_lto(80, "k", ptx.encode(), [code.image(80), what])


@needs_nvjitlink
@gpu_only
@pytest.mark.skipif("PYPTX_ON_PTX" in __import__("os").environ, reason="only PTX runs on the CPU, not cubins")
def test_linked_modules_and_kernels():
    major, minor = cuda.get_current_device().compute_capability
    for link in (lto_of(THRICE, 10 * major + minor), cuda.CUSource(THRICE, "thrice.cu")):
        x = np.full(1, 5, np.int32)
        cuda.Module(CALLER, link=link)["call"][1, 1](x)
        assert x[0] == 15
    thrice = cuda.declare_device("thrice", "int32(int32)", link=lto_of(THRICE, 10 * major + minor), abi="c")

    @cuda.jit
    def k(x):
        x[0] = thrice(x[0])

    k[1, 1](x)
    assert x[0] == 45


@gpu_only
@needs_nvrtc
def test_what_is_linked_with_machine_code_is_refused():
    with pytest.raises(ValueError, match="machine code is linked when it is made"):
        cuda.Module(b"\x7fELF" + bytes(60), link=cuda.PTXSource(ADD))
