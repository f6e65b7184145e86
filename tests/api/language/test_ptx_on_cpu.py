"""PTX on the CPU (tests/ptx_on_cpu): the translator itself, on instructions whose results are known, on what it must refuse and what it must catch;
and, through the stand-in driver, kernels of the benchmark and of other tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from standin import needs_standin, run

TESTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS))
ptx_on_cpu = pytest.importorskip("ptx_on_cpu")
pytestmark = pytest.mark.skipif(not ptx_on_cpu.CC or sys.platform != "linux", reason="no C compiler")

HEAD = ".version 7.8\n.target sm_90\n.address_size 64\n"
KERNEL = HEAD + """{functions}.visible .entry k(.param .u64 .ptr .global .align 8 k_0)
{{
	.reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
	{local}
	ld.param.b64 %rd1, [k_0];
	{body}
	ret;
}}
"""


def kernel(body, functions="", local=""):
    return ptx_on_cpu.Program(KERNEL.format(body=body, functions=functions, local=local))


def launched(program, memory, **options):
    """The memory is the kernel's one argument; what went wrong, or None."""
    at = memory.ctypes.data
    m = program.run("k", (1, 1, 1), (1, 1, 1), np.uint64(at).tobytes(), [(at, at + memory.nbytes)], **options)
    return program.explain(m)


def result(body, *given, out=np.uint64, **more):
    """The body finds the given 64-bit words at %rd1 + 8, + 16, …; what it stores at %rd1 is returned."""
    memory = np.array([0, *given], np.uint64)
    assert launched(kernel(body, **more), memory) is None
    return memory[:1].view(out)[0]


def one(op, width, *given, imm=""):
    """An instruction of one width on given bits."""
    reg = {16: "%rs", 32: "%r", 64: "%rd"}[width]
    loads = "".join(f"ld.global.b{width} {reg}{k + 2}, [%rd1+{8 * k + 8}]; " for k in range(len(given)))
    sources = "".join(f", {reg}{k + 2}" for k in range(len(given)))
    return int(result(f"{loads} {op} {reg}6{sources}{imm}; st.global.b{width} [%rd1], {reg}6;", *given))


def f32(x):
    return int(np.float32(x).view(np.uint32))


def f64(x):
    return int(np.float64(x).view(np.uint64))


def f16(x):
    return int(np.float16(x).view(np.uint16))


NAN32 = 0x7FFFFFFF
INSTRUCTIONS = [  # opcode, width, sources, result
    ("add.s32", 32, (0xFFFFFFFF, 2), 1),
    ("mul.lo.s16", 16, (0xFFFF, 0xFFFF), 1),
    ("mul.hi.s32", 32, (0x80000000, 0x80000000), 0x40000000),
    ("mul.hi.u64", 64, (2**63, 6), 3),
    ("div.s32", 32, (0x80000000, 0xFFFFFFFF), 0x80000000),
    ("rem.s64", 64, (2**64 - 7, 4), 2**64 - 3),
    ("neg.s16", 16, (0x8000,), 0x8000),
    ("abs.s64", 64, (2**63,), 2**63),
    ("min.s16", 16, (0x8000, 1), 0x8000),
    ("max.u16", 16, (0x8000, 1), 0x8000),
    ("min.relu.s32", 32, (0xFFFFFFFF, 5), 0),
    ("min.relu.s32", 32, (7, 5), 5),
    ("max.relu.s32", 32, (0xFFFFFFFF, 0xFFFFFFFE), 0),
    ("max.relu.s32", 32, (0xFFFFFFFF, 5), 5),
    ("prmt.b32", 32, (0x804020F0, 0x44332211, 0x7B80), 0x44FFFFF0),
    ("bfe.s32", 32, (0x00000F00, 8, 4), 0xFFFFFFFF),
    ("bfe.u32", 32, (0xFFFFFFFF, 28, 8), 0xF),
    ("bfi.b32", 32, (0xFF, 0, 4, 4), 0xF0),
    ("shf.l.wrap.b32", 32, (0x80000000, 1, 33), 3),
    ("clz.b32", 32, (0,), 32),
    ("popc.b32", 32, (0xF0F0,), 8),
    ("add.rn.f32", 32, (f32(1), f32(2.0**-24)), f32(1)),
    ("fma.rn.f32", 32, (f32(1 + 2.0**-23), f32(1 + 2.0**-23), f32(-1)), f32(2.0**-22 + 2.0**-46)),
    ("add.rp.f32", 32, (f32(1), f32(2.0**-30)), f32(1 + 2.0**-23)),
    ("fma.rz.f32", 32, (f32(1), f32(-1), f32(-(2.0**-30))), f32(-1)),
    ("min.f32", 32, (NAN32, f32(2)), f32(2)),
    ("min.f32", 32, (f32(0.0), f32(-0.0)), f32(-0.0)),
    ("max.NaN.f32", 32, (NAN32, f32(2)), NAN32),
    ("neg.f64", 64, (f64(0.0),), f64(-0.0)),
    ("copysign.f64", 64, (f64(-1), f64(3)), f64(-3)),
    ("sqrt.rn.f64", 64, (f64(2),), f64(2**0.5)),
    ("add.rn.f16", 16, (f16(2048), f16(1)), f16(2048)),
    ("mul.rn.bf16", 16, (0x3F81, 0x3F81), 0x3F82),
    ("fma.rn.f16", 16, (f16(1 + 2.0**-10), f16(1 + 2.0**-10), f16(2.0**-24)), 0x3C02),
    ("mul.ftz.f32", 32, (f32(2.0**-100), f32(2.0**-40)), 0),
    ("add.s16x2", 32, (0xFFFF0001, 0x00020001), 0x00010002),
    ("rcp.approx.ftz.f64", 64, (f64(3),), f64(1 / 3) & ~0xFFFFFFFF),
]


@pytest.mark.parametrize("op,width,given,wanted", INSTRUCTIONS, ids=[f"{r[0]}-{k}" for k, r in enumerate(INSTRUCTIONS)])
def test_instructions(op, width, given, wanted):
    assert hex(one(op, width, *given)) == hex(wanted)


@pytest.mark.parametrize(
    "op,source,wanted",
    [
        ("shl.b32", "32", 0),
        ("shr.s32", "40", 0xFFFFFFFF),
        ("shr.u32", "31", 1),
    ],
)
def test_shifts_clamp(op, source, wanted):
    assert one(op, 32, 0x80000000, imm=f", {source}") == wanted


def converted(op, given, of, to):
    reg = {"16": "%rs", "32": "%r", "64": "%rd"}
    return int(result(f"ld.global.b{of} {reg[of]}2, [%rd1+8]; {op} {reg[to]}6, {reg[of]}2; st.global.b{to} [%rd1], {reg[to]}6;", given))


@pytest.mark.parametrize(
    "op,given,wanted",
    [
        ("cvt.rzi.s32.f32", f32(1e20), 0x7FFFFFFF),
        ("cvt.rzi.s32.f32", NAN32, 0),
        ("cvt.rzi.s64.f64", 0x7FF8 << 48, 2**63),
        ("cvt.rzi.u32.f32", f32(-3), 0),
        ("cvt.rni.s32.f32", f32(2.5), 2),
        ("cvt.rmi.f64.f64", f64(-2.5), f64(-3)),
        ("cvt.rn.f32.f64", f64(1 + 2.0**-24), f32(1)),
        ("cvt.rp.f32.f64", f64(1 + 2.0**-30), f32(1 + 2.0**-23)),
        ("cvt.rn.f16.f32", f32(2.0**-25), 0),
        ("cvt.rn.f16.f32", f32(2.0**-25 * 1.5), 1),
        ("cvt.rn.f16.f32", f32(65520), 0x7C00),
        ("cvt.rn.f16.f32", f32(-0.0), 0x8000),
        ("cvt.rn.bf16.f32", f32(1 + 2.0**-8), 0x3F80),
        ("cvt.f32.f16", 1, f32(2.0**-24)),
        ("cvt.f32.bf16", 0xBF80, f32(-1)),
        ("cvt.rn.f32.u64", 2**64 - 1, f32(2.0**64)),
        ("cvt.rn.bf16.s64", 257 * 2**40 + 1, 0x5781),  # by way of float32 it would be a tie: 0x5780
        ("cvt.s32.s8", 0x180, 0xFFFFFF80),
        ("cvt.u16.u32", 0x12345678, 0x5678),
    ],
)
def test_conversions(op, given, wanted):
    kinds = op.split(".")[-2:]
    to, of = (k.lstrip("bfsu") for k in kinds)
    of = "32" if of == "8" else of
    assert hex(converted(op, given, of, to)) == hex(wanted)


def test_halves_are_numpys():
    """Every float16 to float32 and back, and sums that round."""
    code = kernel("ld.global.b16 %rs2, [%rd1+2]; ld.global.b16 %rs3, [%rd1+4]; add.rn.f16 %rs4, %rs2, %rs3; st.global.b16 [%rd1], %rs4;")
    rng = np.random.default_rng(1)
    for x, y in rng.integers(0, 2**16, (300, 2)).astype(np.uint16).view(np.float16):
        memory = np.array([0, x, y, 0], np.float16)
        assert launched(code, memory) is None
        with np.errstate(all="ignore"):
            want = x + y
        assert memory[0] == want or np.isnan(memory[0]) and np.isnan(want), (x, y)


def test_carries_calls_local_memory_and_branches():
    function = """.func (.param .b64 r) f(.param .b64 n)
{
	.local .align 8 .b8 __local_depot0[16];
	.reg .b64 %SP; .reg .b64 %SPL; .reg .pred %p<2>; .reg .b64 %rd<8>;
	mov.b64 %SPL, __local_depot0;
	cvta.local.u64 %SP, %SPL;
	ld.param.b64 %rd1, [n];
	st.local.b64 [%SPL+8], %rd1;
	setp.eq.b64 %p1, %rd1, 0;
	@%p1 bra $L1;
	add.s64 %rd2, %rd1, -1;
	{ // callseq
	.param .b64 param0;
	.param .b64 retval0;
	st.param.b64 [param0], %rd2;
	call.uni (retval0), f, (param0);
	ld.param.b64 %rd3, [retval0];
	}
	ld.b64 %rd4, [%SP+8];
	mul.lo.s64 %rd5, %rd3, %rd4;
	st.param.b64 [r], %rd5;
	ret;
$L1:
	st.param.b64 [r], 1;
	ret;
}
"""
    body = """{ .param .b64 param0; .param .b64 retval0; ld.global.b64 %rd2, [%rd1+8]; st.param.b64 [param0], %rd2;
	call.uni (retval0), f, (param0); ld.param.b64 %rd3, [retval0]; }
	mov.b64 {%r1, %r2}, %rd3; add.cc.u32 %r3, %r1, -1; addc.u32 %r4, %r2, 0; mov.b64 %rd4, {%r3, %r4}; st.global.b64 [%rd1], %rd4;"""
    assert result(body, 20, functions=function) == 2432902008176640000 - 1 + 2**32
    code = kernel(body, function)
    assert launched(code, np.array([0, 5], np.uint64)) is None
    memory = np.array([0, 5000], np.uint64)
    assert "too many calls" in launched(code, memory)


@pytest.mark.parametrize(
    "body,fault",
    [
        ("st.global.b64 [%rd1+16], 1;", "a wild access of 8 bytes"),
        ("ld.global.b32 %r1, [%rd1+-4];", "a wild access of 4 bytes"),
        ("ld.global.v2.b64 {%rd2, %rd3}, [%rd1+8];", "a wild access of 16 bytes|an access that is not aligned of 16 bytes"),
        ("st.global.b32 [%rd1+2], 1;", "an access that is not aligned of 4 bytes"),
        ("st.shared.b32 [%rd1], 1;", "an address of another space"),
        ("ld.global.b64 %rd3, [%rd2];", "wild access|not aligned"),  # %rd2 was never written
        ("trap;", "a trap"),
        ("mov.b64 %rd3, table; st.global.b8 [%rd3], 1;", "another space"),
        ("mov.b64 %rd3, table; st.b8 [%rd3], 1;", "a write to what is constant"),
    ],
)
def test_faults(body, fault):
    memory = np.zeros(2, np.uint64)
    text = launched(kernel(body, ".const .align 4 .b8 table[4] = {1, 2};\n"), memory)
    assert text and any(f in text for f in fault.split("|")), text
    if "trap" not in body:
        assert body.split(";")[0].split(" ")[0] in text or "table" in body


@pytest.mark.parametrize("body", ["atom.add.u32 %r1, [%rd3], 1;", "atom.cas.b64 %rd2, [%rd3], 0, 1;", "red.and.b32 [%rd3], 1;"])
def test_local_memory_has_no_atomics(body):
    local = ".local .align 8 .b8 __local_depot0[16];"
    text = launched(kernel(f"mov.b64 %rd3, __local_depot0; {body}", local=local), np.zeros(2, np.uint64))
    assert "an address of another space" in text and body.split()[0] in text


@pytest.mark.parametrize(
    "body,why",
    [
        ("frobnicate.b32 %r1, %r2;", "frobnicate.b32"),
        ("shfl.sync.idx.b64 %rd1, %rd2, 0, 31, -1;", "shfl"),
        ("add.s64 %rd2, %r1, 1;", "32 bits"),
        ("add.s32 %r9, %r1, 1;", "%r9 is not declared"),
        ("bar.sync 1;", "barrier"),
        ("bar.red.popc.u32 %r1, 1, %p1;", "barrier"),
        ("bar.red.xor.pred %p1, 0, %p1;", "barrier"),
        ("call.uni nothing, ();", "not known"),
        ("{ .param .b32 param0; st.param.b64 [param0], %rd1; }", "beyond its parameter"),
        ("{ .param .b32 param0; st.param.b32 [param0], %r1; call.uni f, (param0); }", "prototype"),
    ],
)
def test_refusals(body, why):
    with pytest.raises(ptx_on_cpu.Unknown, match="line") as e:
        kernel(body, ".func f(.param .b64 n)\n{\n ret;\n}\n")
    assert why in str(e.value)


def test_registers_that_nobody_wrote_are_poison():
    code = kernel("st.global.b32 [%rd1], %r5;")
    for poison in (0xA5A5A5A5A5A5A5A5, 0):
        memory = np.zeros(1, np.uint64)
        assert launched(code, memory, poison=poison) is None and memory[0] == poison & 0xFFFFFFFF


@needs_standin
def test_a_fault_is_the_launches():
    run(
        """
        import sys; sys.path.insert(0, TESTS)
        import ptx_on_cpu; ptx_on_cpu.choose()
        import numpy as np
        from pyptx import cuda, errors

        @cuda.jit
        def wild(x):
            x[10**7] = 1

        @cuda.jit
        def twice(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] *= 2

        x = np.arange(100.0)
        try:
            wild[1, 1](x)
            cuda.synchronize()
            raise SystemExit("no error")
        except errors.ContextLostError as e:
            assert "ILLEGAL_ADDRESS" in str(e)
        (text,) = ptx_on_cpu.clear()
        assert "a wild access of 8 bytes" in text and "st.global" in text, text
        twice[4, 32](x)
        assert (x == 2 * np.arange(100.0)).all()
        """.replace("TESTS", repr(str(TESTS)))
    )


@needs_standin
def test_a_refusal_is_of_its_launch_alone():
    """What the machine does not know stops neither the kernels that come after it, nor copies; a graph with such a kernel is refused too."""
    run(
        """
        import sys; sys.path.insert(0, TESTS)
        import ptx_on_cpu; ptx_on_cpu.choose()
        import numpy as np
        from pyptx import cuda, errors

        @cuda.jit
        def named(x):
            cuda.barrier_sync(1, 32)
            x[cuda.threadIdx.x] += 1

        @cuda.jit
        def twice(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] *= 2

        def refused(launch):
            try:
                launch()
            except RuntimeError as e:
                assert "NOT_SUPPORTED" in str(e), e
                return
            raise SystemExit("no error")

        x = cuda.to_device(np.arange(32.0))
        refused(lambda: named[1, 32](x))
        twice[1, 32](x)
        assert (x.copy_to_host() == 2 * np.arange(32.0)).all()
        graph = cuda.graph()
        with graph:
            twice[1, 32](x)
            named[1, 32](x)
        refused(graph.launch)
        twice[1, 32](x)
        assert (x.copy_to_host() == 8 * np.arange(32.0)).all()
        assert all("barrier" in f for f in ptx_on_cpu.clear())
        """.replace("TESTS", repr(str(TESTS)))
    )


@needs_standin
def test_lanes_that_do_not_come():
    """A warp operation whose mask names a lane that waits elsewhere for ever is a fault with its line; lanes that have ended are not waited for."""
    run(
        """
        import sys; sys.path.insert(0, TESTS)
        import ptx_on_cpu; ptx_on_cpu.choose()
        import numpy as np
        from pyptx import cuda, errors

        @cuda.jit
        def vain(x):
            if cuda.threadIdx.x == 0:
                x[0] = cuda.ballot_sync(3, True)
            cuda.syncthreads()

        @cuda.jit
        def ended(x):
            if cuda.threadIdx.x < 4:
                return
            x[cuda.threadIdx.x] = cuda.ballot_sync(0xFF, True)

        x = np.zeros(8, np.uint32)
        ended[1, 8](x)
        assert x.tolist() == [0] * 4 + [0xF0] * 4
        try:
            vain[1, 2](x)
            cuda.synchronize()
            raise SystemExit("no error")
        except errors.CudaAPIError:
            pass
        (text,) = ptx_on_cpu.clear()
        assert "an operation of other lanes" in text and "vote" in text, text
        """.replace("TESTS", repr(str(TESTS)))
    )


@needs_standin
def test_votes_at_barriers():
    """bar.red: threads that have ended have no vote, each barrier is a vote of its own, and all threads get the result."""
    run(
        """
        import sys; sys.path.insert(0, TESTS)
        import ptx_on_cpu; ptx_on_cpu.choose()
        import numpy as np
        from pyptx import cuda

        @cuda.jit
        def votes(x, out):
            i = cuda.threadIdx.x
            if i >= 40:
                return
            cuda.syncthreads()
            out[0, i] = cuda.syncthreads_count(x[i])
            out[1, i] = cuda.syncthreads_and(x[i] >= 0)
            out[2, i] = cuda.syncthreads_and(not x[i])
            out[3, i] = cuda.syncthreads_or(x[i] > 2)
            out[4, i] = cuda.syncthreads_or(x[i] == 2)

        x, out = np.arange(64) % 3, np.zeros((5, 64), np.int32)
        votes[1, 64](x, out)
        want = [np.count_nonzero(x[:40]), 1, 0, 0, 1]
        assert (out[:, :40].T == want).all() and not out[:, 40:].any(), out
        """.replace("TESTS", repr(str(TESTS)))
    )


# The kernels that show what ptxas compiles wrongly, with what the fix-ups wrote instead; atomic operations, with
# barriers; libdevice's functions where they are hardest to compute; what is written, as it is lowered too; where copies
# of a thread and loops without checks stop; arrays that overlap (4 s). In front: the environment (conftest.py).
ELSEWHERE = [
    "api/language/test_miscompiled.py",
    "api/language/test_language_short_loops.py",
    "api/language/test_language_trip_counts.py -k stride",
    "api/language/test_language_local_arrays.py -k insertion or selections or window or early or memory",
    "api/language/test_language_half.py -k test_atomic",
    "api/language/test_language_atomics.py -k nothing_else and (local or dynamic)",
    "api/language/test_language_writes.py",
    "PYPTX_TESTS_OPT=0 api/language/test_language_writes.py",
    "property/test_worst_arguments.py",
    "property/test_accuracy.py",
    "api/language/test_whole_numbers.py",
    "api/launch/test_coarsen_checks.py",
    "api/language/test_checked_loops.py",
    "api/language/test_language_trip_counts.py -k overlap",
    "api/language/test_language_print.py -k percentage",
    "api/language/test_language_warp.py -k votes or matches or tuples or lane_masks",
    "api/language/test_coop.py -k sorted_keys and (64 or 256) or sums_of_items and 33",
    "api/language/test_wmma.py -k elements or loads",
    "api/arrays/test_reduce.py -k sizes and 34567 or dtypes and int8",
]


@needs_standin
@pytest.mark.parametrize("which", ELSEWHERE)
def test_tests_of_the_language(which):
    *settings, which = re.split(r"(?<==\d) ", which)
    file, *rest = which.split(" ", 2)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(TESTS / file), *rest]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(command, capture_output=True, text=True, env={**env, "PYPTX_DEVICE": "ptx", **dict(s.split("=") for s in settings)})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


def test_the_machine_knows_the_launch_as_the_driver_does():
    """Fields and order of StandinLaunch, from its header."""
    text = (TESTS / "standin" / "standin.h").read_text()
    body = re.search(r"typedef struct StandinLaunch \{(.*?)\} StandinLaunch;", text, re.S)[1]
    names = re.findall(r"(\w+)(?:\[\d+\])?(?=[;,])", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
    assert names == [name for name, _ in ptx_on_cpu.machine.Launch._fields_]
