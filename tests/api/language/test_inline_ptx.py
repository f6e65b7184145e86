"""cuda.inline_ptx: operands and their letters, what the text of a PTX kernel becomes, host=, errors with their lines."""

import os
import re
import shutil
import stat

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, _pyptx, cuda
from test_ptx import assemble, ptx_of

ARCH = "sm_80"


@cuda.jit
def multiply_add(out, x, y):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = cuda.inline_ptx("mad.lo.s32 %0, %1, %2, %3;", "=r", np.int32, "r", x[i], "r", y[i], "n", 7,
                                 host=lambda a, b, c: a * b + c)  # fmt: skip


def changed(v, w):
    return (1, v + w) if v > 0 else (0, v)


@cuda.jit
def several(out, f):
    i = cuda.grid(1)
    if i < f.size:
        positive, v = cuda.inline_ptx(
            """{
            .reg .pred p;              // %9 in a comment is none of the operands
            setp.gt.f32 p, %1, 0f00000000;
            @p add.f32 %1, %1, %2;
            selp.s32 %0, 1, 0, p;
            }""",
            ("=r", np.int32), ("+f", f[i]), ("f", 2), host=changed)  # fmt: skip
        out[i] = v + np.float32(positive)


@cuda.jit
def every_letter(out, h, r, d):
    i = cuda.grid(1)
    if i < r.size:
        a = cuda.inline_ptx("add.u16 %0, %1, %2;", "=h", np.uint16, "h", h[i], "h", 3, host=lambda x, y: x + y)
        b = cuda.inline_ptx("mul.wide.s32 %0, %1, %1;", "=l", np.int64, "r", r[i], host=lambda x: np.int64(x) * x)
        c = cuda.inline_ptx("add.f64 %0, %0, %1;", "+d", d[i], "d", 0.5, host=lambda x, y: x + y)
        out[i] = np.float64(a) + np.float64(b) + c


def test_a_result():
    x = np.arange(-50, 50, dtype=np.int32)
    out = np.zeros_like(x)
    multiply_add[2, 64](out, x, x[::-1].copy())
    assert (out == x * x[::-1] + 7).all()


def test_results_in_their_order_and_values_that_change():
    f = np.linspace(-1, 1, 64, dtype=np.float32)
    out = np.zeros_like(f)
    several[1, 64](out, f)
    assert np.array_equal(out, np.where(f > 0, f + np.float32(2) + np.float32(1), f))


def test_letters_take_the_types_of_their_width():
    h = np.array([0, 1, 65535], np.uint16)
    r, d, out = np.array([3, -70000, 1 << 30], np.int32), np.array([0.25, 1.0, -3.0]), np.zeros(3)
    every_letter[1, 32](out, h, r, d)
    assert np.array_equal(out, (h + np.uint16(3)).astype(float) + r.astype(np.int64).astype(float) ** 2 + d + 0.5)


@pytest.mark.parametrize("kernel, signature", [
    (multiply_add, "int32[::1], int32[::1], int32[::1]"), (several, "float32[::1], float32[::1]"),
    (every_letter, "float64[::1], uint16[::1], int32[::1], float64[::1]")])  # fmt: skip
def test_assembles(kernel, signature, tmp_path):
    assemble(ptx_of(kernel.py_func, signature, ARCH), ARCH, tmp_path)


def test_what_the_text_becomes(tmp_path):
    """Registers and labels keep their names; addresses of arrays, those of shared ones in 32 bits too."""

    def kernel(out, x):
        s = cuda.shared.array(32, np.float32)
        s[cuda.threadIdx.x] = 1
        cuda.syncwarp()
        v = cuda.inline_ptx("ld.shared.f32 %0, [%1];", "=f", np.float32, "r", s)
        w = cuda.inline_ptx("{ mov.u32 %0, %%laneid; bra $after; $after: ld.f32 %1, [%2]; }", "=r", np.uint32, "=f", "float32", "l", x)
        out[w[0]] = v + w[1]
        cuda.inline_ptx("membar.gl;")
        cuda.inline_ptx("mov.b16 %0, %1;", "=h", np.float16, "h", np.float16(out[0]))

    ptx = ptx_of(kernel, "float32[::1], float32[::1]", ARCH)
    assert re.search(r"mov.u32 %r\d+, %laneid; bra \$after; \$after: ld.f32 %r\d+, \[%rd\d+\];", ptx)
    assert re.search(r"ld.shared.f32 %r\d+, \[%r\d+\];", ptx) and "membar.gl;" in ptx
    assemble(ptx, ARCH, tmp_path)


def test_an_empty_text_is_for_the_host_alone():
    def kernel(x):
        cuda.inline_ptx("", "f", x[0], host=lambda v: put(x, v))

    assert "inline_ptx" not in ptx_of(kernel, "float32[::1]", ARCH) and "st.global" not in ptx_of(kernel, "float32[::1]", ARCH)
    x = np.ones(1, np.float32)
    cuda.jit(kernel)[1, 1](x)
    cuda.synchronize()
    assert x[0] == (6 if cuda.get_current_device().is_host else 1)


def put(x, v):
    x[0] = v + 5


def test_what_the_text_needs_chooses_the_architecture():
    def kernel(x):
        cuda.inline_ptx("wgmma.fence.sync.aligned;")
        x[0] = 1

    ptx = ptx_of(kernel, "float32[::1]", "sm_90")
    assert ".target sm_90a\n" in ptx and ".version 8.0\n" in ptx
    with pytest.raises(ValueError, match=r"PT410: wgmma\. in this text needs sm_90a, and this is code for sm_80"):
        ptx_of(kernel, "float32[::1]", "sm_80")
    with pytest.raises(ValueError, match=r"needs PTX 8\.0, and this is code for PTX 7\.8"):
        _pyptx._compile(kernel, "float32[::1]", "nvptx", "sm_90", 78, {}, "ptx")


@pytest.mark.parametrize("call, what", [
    ("'add.s32 %0, %1, %2;', '=r', np.int32, 'r', x[0]", "line 1 of the text names %2, but there are 2 operands"),
    ("'\\n\\nmov.u32 %1, %1;', '=r', np.int32", "line 3 of the text names %1, but there are 1 operands"),
    ("'mov.u32 %0, %1;', '=r', np.float32, 'r', x[0]", "operand %0: '=r' takes an integer of 32 bits, not float32"),
    ("'mov.u32 %0, %1;', '=r', np.int32, 'r', f[0]", "operand %1: 'r' takes an integer of 32 bits, not float32"),
    ("'mov.u32 %0, %1;', '=r', np.int32, 'l', x[0]", "operand %1: 'l' takes an integer of 64 bits, not int32"),
    ("'mov.u32 %0, %1;', '=r', np.int32, 'r', x", "operand %1: 'r' takes an integer of 32 bits, not a 1d int32 array"),
    ("'mov.f32 %0, %0;', '+f', x[0]", "operand %0: '+f' takes a float32, not int32"),
    ("'mov.u32 %0, %1;', '=q', np.int32", "operand %0: '=q' is no constraint: h r l f d, with = or + for results, or n"),
    ("'mov.u32 %0, 1;', '=r', x[0]", "operand %0: behind '=r' stands the type of a result, and here a value"),
    ("'mov.u32 %0, 1;', '=r'", "operand %0 has a constraint and no value"),
    ("'mov.u32 %0, 1;', 3, np.int32", "operand %0 begins with a Python int, and not with a constraint such as '=r'"),
    ("'{ mov.u32 %0, 1;', '=r', np.int32", "a brace of the text is not closed"),
    ("'mov.u32 %0, 1;\\n}', '=r', np.int32", "line 2 of the text closes a brace that is not open"),
    ("'mov.u32 %0, %1;', '=r', np.int32, 'n', x[0]", "operand %1 ('n') of cuda.inline_ptx must be known"),
    ("x[0], '=r', np.int32", "the first argument is the text"), ("'  '", "the first argument is the text"),
    ("'', '=r', np.int32, host=lambda: 1", "an empty text gives no results"),
])  # fmt: skip
def test_wrong_calls(call, what):
    kernel = define(f"def kernel(x, f):\n    x[0] = cuda.inline_ptx({call})\n")
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(kernel, "int32[::1], float32[::1]", ARCH)


@pytest.mark.parametrize("host, what", [
    ("None", "PT407: cuda.inline_ptx is not available on the host device"),
    ("lambda v: (v, v)", "result 1 of host= is a tuple"),
    ("lambda v: 1j * v", "result 1 of host= is complex"),
    ("lambda: 1", "it takes 0 positional arguments, but 1 is given"),
])  # fmt: skip
def test_wrong_host_functions(host, what, device):
    if device != "host":
        pytest.skip("host= is for the host device")
    kernel = define(f"def kernel(x):\n    x[0] = cuda.inline_ptx('mov.u32 %0, %1;', '=r', np.int32, 'r', x[0], host={host})\n")
    with pytest.raises(CompileError, match=what):
        cuda.jit(kernel)[1, 1](np.zeros(4, np.int32))


def test_host_functions_of_several_results(device):
    if device != "host":
        pytest.skip("host= is for the host device")
    kernel = define("def kernel(x):\n    x[0], x[1] = cuda.inline_ptx('', ('=r', np.int32), ('=r', np.int32), host=lambda: 5)\n".replace("''", "'mov.u32 %0, 1;'"))
    with pytest.raises(CompileError, match="host= gives a Python int, but there are 2 results"):
        cuda.jit(kernel)[1, 1](np.zeros(4, np.int32))


def wrong_text(x):
    x[0] = cuda.inline_ptx("""mov.u32 %0, 1;
        add.s32 %0, %0, 1.5;""", "=r", np.int32)  # fmt: skip


def assembled(tmp_path, monkeypatch):
    with pytest.raises(ValueError) as caught:
        _pyptx._compile(wrong_text, "int32[::1]", "nvptx", ARCH, 0, {}, "cubin")
    return str(caught.value)


def test_the_assembler_s_errors_have_the_line_of_the_text(tmp_path, monkeypatch):
    """What ptxas says of a line of PTX is said of that line of the text, and of the kernel's. Here by one that finds an error in the line with 1.5."""
    fake = tmp_path / "ptxas"
    fake.write_text('#!/bin/sh\nfor f; do case "$f" in *.ptx) n=$(grep -nF "1.5;" "$f" | cut -d: -f1);; esac; done\n'
                    'echo "ptxas kernel.ptx, line $n; error   : Arguments mismatch for instruction \'add\'"; exit 255\n')  # fmt: skip
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    text = assembled(tmp_path, monkeypatch)
    line = wrong_text.__code__.co_firstlineno + 1
    assert text.startswith("PT411: the assembler refuses line 2 of the text of cuda.inline_ptx: Arguments mismatch for instruction 'add'")
    assert f"test_inline_ptx.py:{line}" in text and "compare the instruction with its page" in text


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
def test_errors_of_ptxas_itself(tmp_path, monkeypatch):
    assert "PT411: the assembler refuses line 2 of the text of cuda.inline_ptx" in assembled(tmp_path, monkeypatch)


def test_numba_cuda_mlir_s_name():
    kernel = define("def kernel(x):\n    cuda.experimental.inline_ptx('mov.u32 %0, %1;', '=r', np.int32, 'r', x[0])\n")
    assert "mov.u32" in ptx_of(kernel, "int32[::1]", ARCH)
