"""cuda.wgmma: every type, major and swizzle against NumPy's products, its PTX, and what the host device and the compiler find wrong."""

import re
import subprocess

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cuda
from test_instructions import has
from test_ptx import PTXAS, ROOT, assemble, example, ptx_of

STEPS = {"float16": 16, "bfloat16": 16, "float32": 8, "float8_e4m3fn": 32, "float8_e5m2": 32, "int8": 32, "uint8": 32}
SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float8_e4m3fn": 1, "float8_e5m2": 1, "int8": 1, "uint8": 1}


def here():
    """wgmma is compute capability 9.0's alone."""
    return has(9, 0) and (cuda.get_current_device().is_host or cuda.get_current_device().compute_capability < (10, 0))


on_device = pytest.mark.skipif("not here()", reason="needs compute capability 9.0 (wgmma is Hopper's alone), or the host device")

SWIZZLES = {128: "row % 8", 64: "row // 2 % 4", 32: "row // 4 % 2"}


def product(factor, n, swizzle=128, a_major="k", b_major="k", registers=False, sums=None):
    """D = A @ B.T + C by one warpgroup; A is 64 x K, B n x K. Tiles are filled by threads, as the hardware's swizzle has them."""
    step, width = STEPS[factor], swizzle // SIZES[factor]
    depth = width if "k" in (a_major, b_major) or registers else 2 * step
    sums = sums or ("int32" if "int" in factor else "float32")

    def tile(name, major, lines):
        parts = max(1, lines // width)
        shape = f"({lines}, {width})" if major == "k" else f"({parts}, {depth}, {width})"
        at = f"s{name}[line, column(line, k)]" if major == "k" else f"s{name}[line // {width}, k, column(k, line % {width})]"
        view = f"s{name}[:, kk:kk + {step}]" if major == "k" else f"s{name}[:, kk:kk + {step}, :]" if lines >= width else f"s{name}[0, kk:kk + {step}, :{lines}]"
        return (f"    s{name} = cuda.shared.array({shape}, dtype, alignment=1024)\n    for i in range(t, {lines * depth}, 128):\n"
                f"        line, k = i // {depth}, i % {depth}\n        {at} = {name}[line, k]\n"), view  # fmt: skip

    fill_a, view_a = tile("a", a_major, 64)
    fill_b, view_b = tile("b", b_major, n)
    each = 4 // SIZES[factor]
    if registers:
        fill_a, places = "", [(i // each % 2 * 8, i % each + 4 * each * (i // each // 2)) for i in range(step // 2)]
        view_a = "(" + ", ".join(f"a[16 * w + g + {r}, kk + q * {each} + {k}]" for r, k in places) + ")"
    # the fragment of A is computed, so it passes through the fence
    fragment = f"        f = {view_a}\n        f, acc = cuda.wgmma.fence(f, acc)\n" if registers else ""
    majors = f", a_major='{a_major}', b_major='{b_major}'"
    place = "16 * w + g + i // 2 % 2 * 8, 8 * (i // 4) + 2 * q + i % 2"
    kernel = (f"def column(row, k):\n    return k ^ ({SWIZZLES[swizzle]}) * {16 // SIZES[factor]}\n\n\ndef kernel(d, a, b, c):\n    t = cuda.threadIdx.x\n"
              f"    w, g, q = t // 32, t % 32 // 4, t % 4\n{fill_a}{fill_b}    cuda.fence_proxy_async_shared()\n    cuda.syncthreads()\n"
              f"    acc = cuda.wgmma.zeros(64, {n}, np.{sums})\n    cuda.wgmma.fence()\n    for kk in range(0, {depth}, {step}):\n{fragment}"
              f"        acc = cuda.wgmma.mma({'f' if registers else view_a}, {view_b}, acc, swizzle={swizzle}{majors})\n"
              f"{'        cuda.wgmma.commit()' + chr(10) + '        acc = cuda.wgmma.wait(0, acc)' + chr(10) if registers else ''}"
              f"    cuda.wgmma.commit()\n    acc = cuda.wgmma.wait(0, acc)\n    for i in range({n // 2}):\n        d[{place}] = acc[i] + c[{place}]\n")  # fmt: skip
    return define(kernel, dtype=getattr(__import__("pyptx"), factor)), depth, sums


CASES = [("float16", 128, 128, "k", "k"), ("float16", 256, 128, "k", "k"), ("bfloat16", 64, 128, "k", "k"), ("bfloat16", 8, 64, "k", "k"), ("float16", 24, 32, "k", "k"),
         ("float16", 128, 128, "m", "n"), ("bfloat16", 128, 128, "k", "n"), ("float16", 32, 128, "m", "n"), ("float16", 96, 64, "m", "n"), ("float16", 64, 32, "m", "n"),
         ("bfloat16", 64, 64, "m", "k"), ("float32", 64, 128, "k", "k"), ("float32", 16, 32, "k", "k"), ("int8", 128, 128, "k", "k"), ("uint8", 48, 64, "k", "k"),
         ("int8", 32, 32, "k", "k"), ("float8_e4m3fn", 256, 128, "k", "k"), ("float8_e5m2", 64, 128, "k", "k"), ("float8_e4m3fn", 40, 64, "k", "k"),
         ("float8_e5m2", 16, 32, "k", "k")]  # fmt: skip
IN_REGISTERS = [("float16", 64, 128, "k", "k"), ("bfloat16", 32, 128, "k", "n"), ("float32", 32, 64, "k", "k"), ("int8", 32, 64, "k", "k"),
                ("float8_e4m3fn", 32, 128, "k", "k")]  # fmt: skip
ALL = [(*c, False) for c in CASES] + [(*c, True) for c in IN_REGISTERS]
NAMES = ["-".join(map(str, c)) for c in ALL]


def numbers(rng, dtype, *shape):
    if "int" in dtype:
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    x = rng.standard_normal(shape).astype(np.float32)
    if dtype == "float32":  # what tf32 keeps: 10 bits of the fraction
        return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return x.astype(dtype)


@on_device
@pytest.mark.parametrize("factor, n, swizzle, a_major, b_major, registers", ALL, ids=NAMES)
def test_products(factor, n, swizzle, a_major, b_major, registers):
    """Integers have NumPy's sums. Floats: 2**-20 of the sum of the sizes allows for sums in float32 in any order, with the hardware's truncation of
    each of the up to 8 operations. Of 8-bit floats the hardware keeps, of each of the 32 products and of the sum before, 13 bits behind the leading
    one of the largest of them."""
    if factor in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        pytest.importorskip("ml_dtypes")
    kernel, depth, sums = product(factor, n, swizzle, a_major, b_major, registers)
    rng = np.random.default_rng(n)
    a, b = numbers(rng, factor, 64, depth), numbers(rng, factor, n, depth)
    c = rng.integers(-100, 100, (64, n)).astype(sums)
    d = np.zeros_like(c)
    cuda.jit(kernel)[1, 128](d, a, b, c)
    if sums == "int32":
        assert np.array_equal(d, a.astype(np.int32) @ b.astype(np.int32).T + c)
    else:
        a, b, c = (v.astype(np.float64) for v in (a, b, c))
        cut = 33 * 2.0**-13 * depth / 32 if "float8" in factor and not cuda.get_current_device().is_host else 2.0**-20
        assert (abs(d - (a @ b.T + c)) <= cut * (abs(a) @ abs(b).T + abs(c))).all()


@pytest.mark.parametrize("factor, n, swizzle, a_major, b_major, registers", ALL[:1] + ALL[5:15:3] + ALL[16:18] + ALL[-5:])
def test_ptx(factor, n, swizzle, a_major, b_major, registers, tmp_path, one_entry):
    kernel, depth, sums = product(factor, n, swizzle, a_major, b_major, registers)
    text = ptx_of(kernel, f"{sums}[:,::1], {factor}[:,::1], {factor}[:,::1], {sums}[:,::1]", "sm_90")
    ptx = {"float16": "f32.f16.f16", "bfloat16": "f32.bf16.bf16", "float32": "f32.tf32.tf32", "float8_e4m3fn": "f32.e4m3.e4m3", "float8_e5m2": "f32.e5m2.e5m2",
           "int8": "s32.s8.s8", "uint8": "s32.u8.u8"}[factor]
    tail = "" if "int" in factor else ", 1, 1"
    if SIZES[factor] == 2:
        tail += ("" if registers else f", {int(a_major == 'm')}") + f", {int(b_major == 'n')}"
    found = re.findall(rf"wgmma\.mma_async\.sync\.aligned\.m64n{n}k{STEPS[factor]}\.{ptx} \{{[%rf\d,]+\}}, (%rd\d+|\{{[%r\d,]+\}}), %rd\d+, 1{tail};", text)
    assert len(found) == depth // STEPS[factor] and ".target sm_90a" in text
    assert_not_serialised(text, tmp_path)


IN_HALVES = [("float16", 128, 128, "m", "n", False), ("float16", 8, 64, "k", "k", False), ("float16", 64, 128, "k", "k", True), ("float8_e4m3fn", 256, 128, "k", "k", False),
             ("float8_e5m2", 24, 32, "k", "k", False), ("float8_e4m3fn", 32, 128, "k", "k", True)]  # fmt: skip


@on_device
@pytest.mark.parametrize("case", IN_HALVES, ids=lambda c: "-".join(map(str, c)))
def test_products_with_sums_in_float16(case):
    """Each operation rounds the sum to 11 bits, and d's own; a sum is at most the sum of the sizes. Of 8-bit floats a GPU may cut each of the 32
    products and the sum before at that."""
    pytest.importorskip("ml_dtypes")
    factor, n = case[:2]
    kernel, depth, sums = product(*case, sums="float16")
    rng = np.random.default_rng(n)
    a, b = numbers(rng, factor, 64, depth), numbers(rng, factor, n, depth)
    c, d = rng.integers(-100, 100, (64, n)).astype(sums), np.full((64, n), np.nan, sums)
    cuda.jit(kernel)[1, 128](d, a, b, c)
    a, b, c = (v.astype(np.float64) for v in (a, b, c))
    each = 1 if cuda.get_current_device().is_host else STEPS[factor] + 1
    bound = (each * depth / STEPS[factor] + 1) * 2.0**-10 * (abs(a) @ abs(b).T + abs(c))
    assert (abs(d - (a @ b.T + c)) <= bound).all()


@pytest.mark.parametrize("case", IN_HALVES, ids=lambda c: "-".join(map(str, c)))
def test_ptx_with_sums_in_float16(case, tmp_path, one_entry):
    """Two sums to a register, which no permutation touches."""
    factor, n = case[:2]
    kernel, depth, sums = product(*case, sums="float16")
    text = ptx_of(kernel, f"float16[:,::1], {factor}[:,::1], {factor}[:,::1], float16[:,::1]", "sm_90")
    found = re.findall(rf"wgmma\.mma_async\.sync\.aligned\.m64n{n}k{STEPS[factor]}\.f16\.(?:f16\.f16|e4m3\.e4m3|e5m2\.e5m2) \{{([%r\d,]+)\}}, ", text)
    assert len(found) == depth // STEPS[factor] and all(r.count("%r") == n // 4 for r in found)
    assert_not_serialised(text, tmp_path)


def test_a_sum_in_float16_is_one_of_float16():
    kernel = product("bfloat16", 64, sums="float16")[0]
    with pytest.raises(CompileError, match="no matrix operation has factors of bfloat16 and bfloat16, and sums of float16"):
        ptx_of(kernel, "float16[:,::1], bfloat16[:,::1], bfloat16[:,::1], float16[:,::1]", "sm_90")


def begun(sa, sb, k, acc):
    return cuda.wgmma.mma(sa[:, k : k + 16], sb[:, k : k + 16], acc)


def begun_all(sa, sb, acc):
    cuda.wgmma.fence()
    return begun(sa, sb, 48, begun(sa, sb, 32, begun(sa, sb, 16, begun(sa, sb, 0, acc))))


def ended(acc):
    cuda.wgmma.commit()
    return cuda.wgmma.wait(0, acc)


def products_of_functions(d):
    sa, sb = cuda.shared.array((64, 64), np.float16, alignment=1024), cuda.shared.array((64, 64), np.float16, alignment=1024)
    acc = ended(begun_all(sa, sb, cuda.wgmma.zeros(64, 64, np.float32)))
    acc = ended(begun_all(sa, sb, acc))
    for i in range(32):
        d[cuda.threadIdx.x, i] = acc[i]


def test_functions_with_matrix_operations_are_inlined(tmp_path, one_entry, monkeypatch):
    """Operations in flight pass no call: ptxas would end them there (C7510)."""
    monkeypatch.setenv("PYPTX_INLINE_LIMIT", "0")  # as in a program beyond the limit
    text = ptx_of(products_of_functions, "float32[:,::1]", "sm_90")
    assert text.count("wgmma.mma_async") == 8 and ".func" not in text
    assert_not_serialised(text, tmp_path)


def assert_not_serialised(text, tmp_path):
    """ptxas warns (C7510 and others) where it makes the operations wait for one another."""
    if not PTXAS:
        pytest.skip("ptxas is not on PATH")
    (tmp_path / "kernel.ptx").write_text(text)
    run = subprocess.run([PTXAS, "-arch=sm_90a", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "kernel.ptx")], capture_output=True, text=True)
    assert run.returncode == 0 and "C75" not in run.stderr + run.stdout, run.stderr


# --- a pipeline: tiles of the next step are filled while those of the last are read ---


def column(row, k):
    return k ^ row % 8 * 8


@cuda.jit
def gemm(out, a, b):
    """64 x 64 of A @ B.T for each block, two stages, a group in flight while the next stage is filled."""
    sa = cuda.shared.array((2, 64, 64), np.float16, alignment=1024)
    sb = cuda.shared.array((2, 64, 64), np.float16, alignment=1024)
    t, top, left = cuda.threadIdx.x, 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    acc = cuda.wgmma.zeros(64, 64, np.float32)
    for step in range(a.shape[1] // 64):
        s = step % 2
        for i in range(t, 64 * 64, 128):
            row, k = i // 64, i % 64
            sa[s, row, column(row, k)] = a[top + row, 64 * step + k]
            sb[s, row, column(row, k)] = b[left + row, 64 * step + k]
        cuda.fence_proxy_async_shared()
        cuda.syncthreads()
        cuda.wgmma.fence()
        for k in range(0, 64, 16):
            acc = cuda.wgmma.mma(sa[s, :, k : k + 16], sb[s, :, k : k + 16], acc)
        cuda.wgmma.commit()
        cuda.wgmma.wait(1)
        cuda.syncthreads()
    acc = cuda.wgmma.wait(0, acc)
    w, g, q = t // 32, t % 32 // 4, t % 4
    for i in range(32):
        out[top + 16 * w + g + i // 2 % 2 * 8, left + 8 * (i // 4) + 2 * q + i % 2] = acc[i]


@on_device
def test_a_group_in_flight():
    """Sums of K products in float32, at most K roundings of half a unit, of the sum of the sizes."""
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((128, 320)).astype(np.float16), rng.standard_normal((192, 320)).astype(np.float16)
    out = np.zeros((128, 192), np.float32)
    gemm[(3, 2), 128](out, a, b)
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert (abs(out - a @ b.T) <= 320 * 2.0**-24 * (abs(a) @ abs(b).T)).all()


def test_a_group_in_flight_assembles(tmp_path):
    assert_not_serialised(ptx_of(gemm.py_func, "float32[:,::1], float16[:,::1], float16[:,::1]", "sm_90"), tmp_path)


SIGNATURE = "bfloat16[:,::1], bfloat16[:,::1], bfloat16[:,::1]"


def test_the_example_assembles(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    text = ptx_of(example("gemm_warpgroups.gemm").py_func, SIGNATURE, "sm_90", launch_bounds=(256, 1))
    assert text.count("wgmma.mma_async") == 4  # a stage's: the loop over k is unrolled
    assert ".extern .shared .align 1024" in text
    assert_not_serialised(text, tmp_path)


@pytest.fixture
def pipeline(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return __import__("gemm_pipeline")


def finished(value, row, column, scale, bias):
    """A row's scale, a column's bias, and an activation."""
    return max(value * scale[row] + bias[column], np.float32(0))


def finished_sum(value, old, row, column, scale, bias):
    """And what is added."""
    return max(value * scale[row] + bias[column] + old, np.float32(0))


def form_of(pipeline, form):
    """One of FORMS, or a transposed one: m, n, turns."""
    return pipeline.FORMS[form] if isinstance(form, int) else pipeline.Form(*form[:2], 8, form[2], transposed=True)


EPILOGUES = {"none": (None, False), "finished": (finished, False), "sum": (finished_sum, True)}


@pytest.mark.parametrize("form, majors, cluster, epilogue", [
    (0, "kn", 0, "none"), (0, "mk", 1, "sum"), (0, "kn", 0, "finished"), (1, "kn", 0, "sum"), (1, "kn", 1, "finished"), (1, "mk", 0, "none"), (2, "mn", 1, "none"), (2, "kk", 0, "sum"),
    (1, "kn", 2, "none"), (1, "mk", 2, "sum"), (3, "kn", 1, "none"), (3, "mk", 0, "sum"), (3, "kk", 2, "finished"),
    ((128, 152, True), "kk", 0, "none"), ((128, 176, True), "kn", 0, "sum"), ((192, 104, True), "kn", 0, "finished"), ((192, 176, False), "kk", 3, "none"), ((256, 176, False), "kn", 3, "sum"),
])  # fmt: skip
def test_the_pipeline_assembles(form, majors, cluster, epilogue, tmp_path, pipeline):
    """Every accumulator in a register, with an epilogue too, the groups of registers moved between
    the roles, and in the loop over k nothing but additions for a stage's descriptors."""
    form = form_of(pipeline, form)._replace(cluster=(*pipeline.CLUSTERS, (1, 2))[cluster])
    gemm = pipeline.make_gemm(form, *majors, *EPILOGUES[epilogue], steps=4 if form.transposed == (epilogue == "sum") else 3)
    kernel, registers = gemm.py_func, (40, 232, 168) if gemm.threads == 384 else (32, 160, 128)
    more = "()" if epilogue == "none" else "(float32[::1], float32[::1])"
    text = ptx_of(kernel, f"narrow ({SIGNATURE}, bfloat16[:,::1], int64, {more})", "sm_90", launch_bounds=(gemm.threads, 1))
    assert f"setmaxnreg.dec.sync.aligned.u32 {registers[0]};" in text and f"setmaxnreg.inc.sync.aligned.u32 {registers[1]};" in text
    loop = re.split(r"\$L__BB0_\d+:", text)[-1 :: -1]
    parts = form.m // 64 if form.turns else form.m // 128 if form.m == 256 else 1
    # behind it may be that of the last columns
    loop = next(part for part in loop if part.count("wgmma.mma_async") == 4 * parts)
    assert loop.count("wgmma.commit_group") == 1
    assert not re.search(r"\b(shr|or|and|selp|setp\.\w+\.s64)\S* *\t?%rd", loop), loop
    activations = 0 if epilogue == "none" else form.n // 2 * parts
    assert text.count("selp") < 16 + activations, "accumulators are looked for"
    assert_not_serialised(text, tmp_path)
    said = subprocess.run([PTXAS, "-arch=sm_90a", "-v", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "kernel.ptx")], capture_output=True, text=True).stderr
    assert " 0 bytes spill stores" in said and f"Used {registers[2]} registers" in said and "setmaxnreg" not in said, said


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only  # on GPUs in a child process: tests/gpu/test_gpu_gemm.py
@pytest.mark.parametrize("form, majors", [(0, "kn"), (0, "mk"), (1, "kk"), (2, "mn"), (3, "kn"), (3, "mk"), ((128, 152, True), "kk")])
def test_the_pipeline_of_other_types_and_orders(form, majors, pipeline):
    """float16, more rows of tiles than a group has and fewer, blocks with several tiles and with
    none. Whole numbers: exact."""
    rng = np.random.default_rng(8)
    shapes = [(264, 520, 184, 2, 8), (704, 264, 120, 3, 2), (136, 520, 56, 2, 1)]
    shapes += [(8, 8, 56, 3, 100)] * (form == 0)  # one round: another kernel, which begins early
    form = form_of(pipeline, form)
    if form.transposed:
        shapes = shapes[0], (264, 520, 72, 2, 8), (8, 8, 8, 3, 100)  # the last k block is multiplied in part
    for m, n, k, blocks, group in shapes:
        a, b = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((m, k), (k, n)))
        c = np.empty((m, n), np.float16)
        stored = a if majors[0] == "k" else np.ascontiguousarray(a.T), b if majors[1] == "n" else np.ascontiguousarray(b.T)
        for cluster in ((1, 2 if k == 72 else 1),) if form.transposed else pipeline.CLUSTERS:
            c[:] = np.nan
            pipeline.launch(max(blocks, cluster[0] * cluster[1]), *majors, group=group, form=form._replace(cluster=cluster))(*stored, c)
            assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32)), (m, n, k, cluster)


def test_every_form_is_picked(pipeline):
    """Deep products take the largest tile, others one whose last round has few idle blocks; blocks
    share what is slow to copy."""
    forms = [pipeline.pick(*shape, 132) for shape in ((4096, 4096, 4096), (4096, 4096, 14336), (4096, 4096, 1024), (8192, 8192, 1024))]
    assert forms == [pipeline.FORMS[i] for i in (0, 0, 2, 1)]
    assert pipeline.pick(5000, 3072, 2048, 132)[:2] == (128, 152)  # 792 tiles of 132 blocks: six rounds
    assert pipeline.pick(5000, 3000, 2000, 132, 2000, 3000) == pipeline.FORMS[1]._replace(cluster=(2, 1))
    assert pipeline.pick(4104, 4104, 4104, 132, 4104, 4104)[:5] == (256, 192, 8, False, (1, 2))
    assert pipeline.pick(2056, 2056, 2056, 132, 2056, 2056)[:2] == (192, 176)  # and one round
    # n is then along wgmma's other axis
    assert not pipeline.pick(4104, 4104, 4104, 132, 4104, 4104, a_major="m").transposed
    assert pipeline.pick(100, 100, 100, 1, 104, 104).cluster == (1, 1)


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only
def test_the_pipeline_with_an_epilogue(pipeline):
    """At edges, too, whose threads have no element."""
    rng = np.random.default_rng(9)
    m, n, k = 136, 264, 72
    a, b, residual = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((m, k), (k, n), (m, n)))
    scale, bias = (rng.integers(-2, 3, size).astype(np.float32) for size in (m, n))
    want = np.maximum(a.astype(np.float32) @ b.astype(np.float32) * scale[:, None] + bias + residual, 0)
    for form in (*pipeline.FORMS[:2], form_of(pipeline, (128, 152, True))):
        c = np.full((m, n), np.nan, np.float16)
        pipeline.launch(1, epilogue=finished_sum, residual=True, form=form)(a, b, c, residual, scale, bias)
        assert np.array_equal(c, want), form


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89", "sm_120"])
def test_the_example_of_warps_assembles(arch, tmp_path):
    """In the loop over k a matrix operation for each 16 x 8 x 16, and fragments as they came."""
    text = ptx_of(example("gemm_warps.gemm").py_func, SIGNATURE, arch, launch_bounds=(256, 1))
    parts = re.split(r"\$L__BB0_\d+:", text)
    loop = next(here + further for here, further in zip(parts, parts[1:]) if "mma.sync" in here)  # with copies, and without in the last steps
    assert loop.count("mma.sync") == 64 and loop.count("ldmatrix") == 16 and ".local" not in text
    assert not re.search(r"mov\.b32 *\t?\{?%r\d+, \{|prmt|%rs", loop), loop
    assemble(text, arch, tmp_path)


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only  # on GPUs: tests/gpu/test_gpu_gemm.py
def test_warps_of_other_sizes(monkeypatch):
    """Fewer steps than stages, a first step of 8, edges. Whole numbers: exact."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    launch = __import__("gemm_warps").launch
    rng = np.random.default_rng(10)
    for m, n, k in ((1, 8, 8), (128, 256, 32), (130, 264, 136), (300, 72, 200)):
        a, b = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((m, k), (k, n)))
        c = np.full((m, n), np.nan, np.float16)
        launch(a, b, c)
        assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32)), (m, n, k)


def worst(a, b, c, added=0.0):
    """The largest error of c = a @ b + added, over its bound: sums of exact products in float32 have k
    roundings or truncations of at most 2**-23 of the sum of the sizes, and one more for what is added;
    c is rounded to the 11 bits of a float16, or to a multiple of its smallest, 2**-24."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    want, size = a @ b + added, np.abs(a) @ np.abs(b) + np.abs(added)
    return np.max(np.abs(c - want) / (2.0**-11 * np.abs(want) + 2.0**-25 + (1 + 2.0**-11) * (a.shape[1] + 1) * 2.0**-23 * size))


@pytest.fixture
def warps(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return __import__("gemm_warps")


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only  # on GPUs: tests/gpu/test_gpu_gemm.py
@pytest.mark.parametrize("majors", ["", "kn", "mk"])
def test_products_of_any_size(majors, pipeline, warps):
    """Sizes that are no multiples of 8, views that begin anywhere, and steps of 2."""
    run = pipeline.launch(2, *majors, form=pipeline.FORMS[2]) if majors else warps.launch
    rng = np.random.default_rng(12)
    for m, n, k in ((1, 1, 1), (7, 17, 7), (17, 1, 129), (129, 131, 65), (201, 99, 103), (40, 33, 48), (33, 40, 41)):
        for off, step in ((0, 1), (1, 1), (3, 2)):
            a, b, c = (rng.standard_normal((off + step * h, off + step * w)).astype(np.float16)[off::step, off::step] for h, w in ((m, k), (k, n), (m, n)))
            c[:] = np.nan
            run(a.T.copy() if "m" in majors else a, b.T.copy() if majors[1:] == "k" else b, c)
            assert worst(a, b, c) <= 1, (m, n, k, off, step)


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only
def test_infinities_stay_where_they_are(pipeline, warps):
    """What a copy has more is no factor of an infinity."""
    a, b, c = np.ones((3, 5), np.float16), np.ones((5, 7), np.float16), np.zeros((3, 7), np.float16)
    a[1, 4] = b[4, 6] = np.inf
    for run in (warps.launch, pipeline.launch(1)):
        c[:] = np.nan
        run(a, b, c)
        assert np.array_equal(c == np.inf, (a == np.inf).any(1)[:, None] | (b == np.inf).any(0)) and np.isin(c, (5, np.inf)).all()


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only
@pytest.mark.parametrize("form", [0, 1])
def test_an_epilogue_of_any_size(form, pipeline):
    """The function sees the rows and columns that there are."""
    rng = np.random.default_rng(11)
    m, n, k = 139, 261, 67
    a, b, d = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (m, n)))
    bias = rng.standard_normal(n).astype(np.float32)
    for residual in (False, True):
        c = np.full((m, n), np.nan, np.float16)
        finish = (lambda value, old, row, column, bias: value + bias[column] + old) if residual else (lambda value, row, column, bias: value + bias[column])
        pipeline.launch(1, epilogue=finish, residual=residual, form=pipeline.FORMS[form])(a, b, c, *([d] if residual else []), bias)
        assert worst(a, b, c, bias.astype(np.float64) + (d if residual else 0)) <= 1, residual


@on_device
def test_tiles_in_dynamic_shared_memory():
    """Behind static memory, and aligned as it says."""

    @cuda.jit
    def kernel(out, a):
        used = cuda.shared.array(5, np.int32)
        tile = cuda.shared.array(0, np.float16, alignment=1024)[:4096].reshape(64, 64)
        t = cuda.threadIdx.x
        if t < 5:
            used[t] = t
        for i in range(t, 4096, 128):
            tile[i // 64, column(i // 64, i % 64)] = a[i // 64, i % 64]
        cuda.fence_proxy_async_shared()
        cuda.syncthreads()
        acc = cuda.wgmma.fence(cuda.wgmma.zeros(64, 64, np.float32))
        for k in range(0, 64, 16):
            acc = cuda.wgmma.mma(tile[:, k : k + 16], tile[:, k : k + 16], acc)
        cuda.wgmma.commit()
        acc = cuda.wgmma.wait(0, acc)
        for i in range(32):
            out[t // 32 * 16 + t % 32 // 4 + i // 2 % 2 * 8, 8 * (i // 4) + 2 * (t % 4) + i % 2] = acc[i] + np.float32(used[4])

    a = np.random.default_rng(6).integers(-4, 5, (64, 64)).astype(np.float16)
    out = np.zeros((64, 64), np.float32)
    kernel[1, 128, 0, 8192](out, a)
    assert np.array_equal(out, a.astype(np.float32) @ a.astype(np.float32).T + 4)  # whole numbers: exact


@on_device
def test_two_accumulators_and_two_warpgroups():
    """Each warpgroup multiplies its half of A by both halves of B, in two groups; the first accumulators are read while the second are in flight."""

    @cuda.jit
    def kernel(out, a, b):
        sa = cuda.shared.array((128, 64), np.float16, alignment=1024)
        sb = cuda.shared.array((2, 32, 64), np.float16, alignment=1024)
        t = cuda.threadIdx.x
        for i in range(t, 128 * 64, 256):
            sa[i // 64, column(i // 64, i % 64)] = a[i // 64, i % 64]
        for i in range(t, 64 * 64, 256):
            sb[i // 2048, i // 64 % 32, column(i // 64, i % 64)] = b[i // 64, i % 64]
        cuda.fence_proxy_async_shared()
        cuda.syncthreads()
        half = t // 128
        x = y = cuda.wgmma.zeros(64, 32, np.float32)
        x, y = cuda.wgmma.fence(x, y)
        for k in range(0, 64, 16):
            x = cuda.wgmma.mma(sa[64 * half : 64 * half + 64, k : k + 16], sb[0, :, k : k + 16], x)
        cuda.wgmma.commit()
        cuda.wgmma.fence()
        for k in range(0, 64, 16):
            y = cuda.wgmma.mma(sa[64 * half : 64 * half + 64, k : k + 16], sb[1, :, k : k + 16], y)
        cuda.wgmma.commit()
        w, g, q = t // 32, t % 32 // 4, t % 4
        x = cuda.wgmma.wait(1, x)
        for i in range(16):
            out[16 * w + g + i // 2 % 2 * 8, 8 * (i // 4) + 2 * q + i % 2] = x[i]
        y = cuda.wgmma.wait(0, y)
        for i in range(16):
            out[16 * w + g + i // 2 % 2 * 8, 32 + 8 * (i // 4) + 2 * q + i % 2] = y[i]

    rng = np.random.default_rng(4)
    a, b = rng.integers(-4, 5, (128, 64)).astype(np.float16), rng.integers(-4, 5, (64, 64)).astype(np.float16)
    out = np.zeros((128, 64), np.float32)
    kernel[1, 256](out, a, b)
    assert np.array_equal(out, a.astype(np.float32) @ b.astype(np.float32).T)  # whole numbers: exact


# --- what the compiler finds ---

HEAD = """def kernel(x):
    t = cuda.threadIdx.x
    a = cuda.shared.array((64, 64), np.float16, alignment=1024)
    b = cuda.shared.array((64, 64), np.float16, alignment=1024)
    wide = cuda.shared.array((16, 128), np.float16)
    i8 = cuda.shared.array((64, 128), np.int8)
    acc = cuda.wgmma.zeros(64, 64, np.float32)
"""
TILES = "a[:, :16], b[:, :16]"


@pytest.mark.parametrize("body, what", [
    ("cuda.wgmma.zeros(32, 64, np.float32)", "a warpgroup has 64 rows, not 32"), ("cuda.wgmma.zeros(64, 60, np.float32)", "a multiple of 8"),
    ("cuda.wgmma.zeros(64, 40, np.int32)", "a multiple of 16), not 40"), ("cuda.wgmma.zeros(64, t, np.float32)", "must be known"),
    ("cuda.wgmma.zeros(64, 64, np.float64)", "must be float32, float16 or int32"), ("cuda.wgmma.wait(8)", "0 to 7 groups"), ("cuda.wgmma.wait(t)", "must be known"),
    ("cuda.wgmma.wait(0, t)", "must be accumulators"), ("cuda.wgmma.wait()", "the argument 'pending' is missing"), ("cuda.wgmma.fence((1.0, t))", "a tuple of numbers of one type"),
    ("cuda.wgmma.mma(x, b, acc)", "argument 1 ('a') must be a tile"), ("cuda.wgmma.mma(a, acc, acc)", "argument 2 ('b') must be a tile"),
    (f"cuda.wgmma.mma({TILES}, t)", "argument 3 ('c') must be accumulators"), ("cuda.wgmma.mma(a[:, :16], i8[:, :32], acc)", "no matrix operation has factors of float16 and int8"),
    (f"cuda.wgmma.mma({TILES}, acc, swizzle=16)", "swizzle is 128, 64 or 32"), (f"cuda.wgmma.mma({TILES}, acc, swizzle=t)", "must be known"),
    (f"cuda.wgmma.mma({TILES}, acc, a_major='n')", "a_major is 'k' or 'm'"), ("cuda.wgmma.mma(a, b[:, :16], acc)", "tile a has 64 columns, and must have 16 here"),
    ("cuda.wgmma.mma(a[:32, :16], b[:, :16], acc)", "tile a has 32 rows, and must have 64"), ("cuda.wgmma.mma(a[:, :16], b[8:, :16], acc)", "tile b has 56 rows, and must have 64"),
    ("cuda.wgmma.mma(a[:, :16], wide, acc, b_major='n')", "tile b has 128 columns, and must have 64"), ("cuda.wgmma.mma((acc[0],), b[:, :16], acc)", "no matrix operation has factors"),
    ("cuda.wgmma.mma((a[0, 0],) * 4, b[:, :16], acc)", "a fragment of A has 8 elements"), ("cuda.wgmma.mma(a[0], b[:, :16], acc)", "must be a tile of two axes"),
    ("cuda.wgmma.mma(i8[:, :32], i8[:, :32], cuda.wgmma.zeros(64, 64, np.int32), a_major='m')", "is for elements of 16 bits"),
    ("cuda.wgmma.mma(a[:, :16], cuda.shared.array((64, 16), np.float16), acc)", "rows of tile b are 32 bytes apart, and swizzle=128 needs 128"),
    ("cuda.wgmma.mma(a[:, :16], wide[None, :, :96], cuda.wgmma.zeros(64, 96, np.float32), b_major='n')", "tile b has whole parts of 64 columns"),
])  # fmt: skip
def test_wrong_calls(body, what):
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(define(HEAD + f"    {body}\n"), "float16[:,::1]", "sm_90")


@pytest.mark.parametrize("body", [
    "x[t] = acc[0]", "acc = cuda.wgmma.fence(acc)\n    x[t] = acc[t % 32]", "for v in acc:\n        x[t] = v", "s = (acc, acc)\n    x[t] = s[1][3]", "x[t] = give(acc)",
    "acc = keep(acc)\n    x[t] = acc[0]", "acc, n = keep((acc, t))\n    x[t] = n + acc[1]", "acc, other = cuda.wgmma.fence(acc, (np.float32(1),) * 8)\n    x[t] = other[0] + acc[0]", "for k in range(t):\n        x[k] = acc[0]\n        acc = cuda.wgmma.wait(0, acc)\n        acc = cuda.wgmma.mma(a[:, :16], b[:, :16], acc)",
])  # fmt: skip
def test_read_before_the_wait(body):
    source = "def give(acc):\n    return acc[3]\n\n\ndef keep(acc):\n    return acc\n\n\n" + HEAD + f"    acc = cuda.wgmma.mma({TILES}, acc)\n    cuda.wgmma.commit()\n    {body}\n"
    with pytest.raises(CompileError, match="PT412: accumulators of cuda.wgmma.mma are read here while it may be in flight"):
        ptx_of(define(source), "float32[::1]", "sm_90")


def test_through_functions_and_tuples():
    source = "def step(a, b, acc):\n    return cuda.wgmma.mma(a[:, :16], b[:, :16], acc), t0()\n\n\ndef t0():\n    return cuda.threadIdx.x\n\n\n" + HEAD
    source += "    for k in range(t):\n        acc, _ = step(a, b, acc)\n    cuda.wgmma.commit()\n    acc = cuda.wgmma.wait(0, acc)\n    x[t] = acc[3]\n"
    assert "wgmma.mma_async" in ptx_of(define(source), "float32[::1]", "sm_90")


@pytest.mark.parametrize("step, rest", [
    ("acc, (stage + 1) % 2, phase ^ 1", "x[t] = stage + phase"),  # numbers beside accumulators in flight
    ("(other, (stage, phase)), acc", "(other, (stage, phase)), acc = (acc, (stage, phase)), other\n    x[t] = stage"),
    ("acc, other", "x[t] = other[1]"), ("(acc, t0(), other)[:2] + (3,)", "x[t] = 1"),
])  # fmt: skip
def test_what_is_beside_accumulators_can_be_read(step, rest):
    """And what another function gives back as it was."""
    names = step.replace("(stage + 1) % 2", "stage").replace("phase ^ 1", "phase").replace("(acc, t0(), other)[:2] + (3,)", "acc, _, _")
    source = f"def step(a, b, acc, other, stage, phase):\n    acc = cuda.wgmma.mma(a[:, :16], b[:, :16], acc)\n    return {step}\n\n\ndef t0():\n    return cuda.threadIdx.x\n\n\n" + HEAD
    source += "    stage = phase = 0\n    other = cuda.wgmma.zeros(64, 64, np.float32)\n    for k in range(t):\n"
    source += f"        {names} = step(a, b, acc, other, stage, phase)\n    {rest}\n    cuda.wgmma.commit()\n    acc = cuda.wgmma.wait(0, acc)\n    x[t] += acc[3]\n"
    assert "wgmma.mma_async" in ptx_of(define(source), "float32[::1]", "sm_90")


def test_another_architecture():
    kernel = define(HEAD + "    cuda.wgmma.fence()\n")
    for arch in ("sm_89", "sm_80"):
        with pytest.raises(ValueError, match=r"PT410: cuda.wgmma.fence \(wgmma.fence.sync.aligned\) needs sm_90a, and this is code for " + arch):
            ptx_of(kernel, "float32[::1]", arch)


# --- tiles that say how they lie, and where elements of accumulators are ---


def tiles(a, b, more=""):
    """A @ B of float16 by one warpgroup; b is K x N. Elements are stored where acc.row and acc.col say."""
    return define(f"""def kernel(out, a, b):
    t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
    sa = cuda.shared.array((64, 64), np.float16, alignment=1024)
    sb = cuda.shared.array((64, 64), np.float16, alignment=1024)
    for i in range(t, 4096, 128):
        r, c = i // 64, i % 64
        sa[r, 8 * (c // 8 ^ r % 8) + c % 8] = a[r, c]
        sb[r, 8 * (c // 8 ^ r % 8) + c % 8] = b[r, c]
    cuda.fence_proxy_async_shared()
    cuda.syncthreads()
    acc = cuda.wgmma.zeros(64, 64, np.float32)
    cuda.wgmma.fence()
    for kk in range(0, 64, 16):
        acc = cuda.wgmma.mma({a}, {b}, acc{more})
    cuda.wgmma.commit()
    acc = cuda.wgmma.wait(0, acc)
    for i in range(32):
        out[acc.row(i), acc.col(i)] = acc[i]
""")


A, B = "cuda.smem_tile(sa[:, kk:kk + 16])", "cuda.smem_tile(sb[kk:kk + 16, :], major='MN', swizzle=128)"


@on_device
@pytest.mark.parametrize("a, b, more, block", [
    (A, B, "", 128), (A, B.replace("MN", "N"), "", (32, 4)), ("sa[:, kk:kk + 16]", B, "", (16, 8)), (A, "sb[kk:kk + 16, :]", ", b_major='n'", 128), (A.replace("])", "], 'k')"), B.replace("MN", "n"), "", (64, 2)),
])  # fmt: skip
def test_tiles_that_say_how_they_lie(a, b, more, block):
    rng = np.random.default_rng(3)
    x, y = (rng.integers(-2, 3, (64, 64)).astype(np.float16) for _ in range(2))  # sums are whole and below 256
    out = np.zeros((64, 64), np.float32)
    cuda.jit(tiles(a, b, more))[1, block](out, x, y)
    assert (out == x.astype(np.float32) @ y.astype(np.float32)).all()


def test_tiles_give_the_same_ptx():
    plain = tiles("sa[:, kk:kk + 16]", "sb[kk:kk + 16, :]", ", b_major='n'")
    signature = "float32[:,::1], float16[:,::1], float16[:,::1]"
    texts = [re.sub(r"//.*", "", ptx_of(kernel, signature, "sm_90a")) for kernel in (plain, tiles(A, B))]
    assert texts[0] == texts[1] and "wgmma.mma_async" in texts[0]


@pytest.mark.parametrize("a, b, more, what", [
    (A, B, ", b_major='n'", "tile b is of cuda.smem_tile, which says how it lies: leave out b_major="), (A, B, ", swizzle=128", "tiles of cuda.smem_tile have their swizzle: leave out swizzle="),
    (A.replace("])", "], swizzle=64)"), B, "", "tile a has a swizzle of 64 bytes, and tile b of 128"), (A.replace("])", "], swizzle=16)"), B, "", "swizzle is 128, 64 or 32, the bytes of a row"),
    (A.replace("])", "], major='X')"), B, "", "the major axis is 'K' or 'MN'"), (A.replace("])", "], swizzle=len(a))"), B, "", "must be known"), ("cuda.smem_tile(a)", B, "", "a view of an array of cuda.shared.array"),
    (A.replace("])", "], major='M')"), B, "", "tile a has 64 rows"),
])  # fmt: skip
def test_wrong_tiles(a, b, more, what):
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(tiles(a, b, more), "float32[:,::1], float16[:,::1], float16[:,::1]", "sm_90a")


@pytest.mark.parametrize("use, what", [("acc.row(0.5)", "the number of an element"), ("acc.row()", "it takes the number of an element"), ("(1, 2, 3, 4).row(0)", "row"), ("acc.rows(0)", "rows")])
def test_no_places_of_other_tuples(use, what):
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(define(f"def kernel(x):\n    acc = cuda.wgmma.zeros(64, 8, np.float32)\n    x[0] = {use}\n"), "float32[::1]", "sm_90a")


# --- what the host device finds ---

FILL = """    for i in range(t, 4096, 128):
        a[i // 64, i % 64] = 1
        b[i // 64, i % 64] = 1
    cuda.fence_proxy_async_shared()
    cuda.syncthreads()
"""
MEET = "    cuda.syncthreads()\n"
FILL_ALL = FILL.replace("range(t, 4096, 128)", "range(t % 128, 4096, 128)")
MULTIPLY = "    acc = cuda.wgmma.mma(a[:, :16], b[:, :16], acc)\n"
COMMIT = "    cuda.wgmma.commit()\n"
FENCE = "    cuda.wgmma.fence()\n"
WAIT = "    acc = cuda.wgmma.wait(0, acc)\n"


@pytest.mark.host_only
@pytest.mark.parametrize("threads, body, what", [
    (128, FILL + MULTIPLY, r"mma: there is no wgmma\.fence\(\) between the last"),
    (128, FILL + FENCE + MULTIPLY + COMMIT + WAIT + MULTIPLY, r"mma: there is no wgmma\.fence\(\) between the last"),
    (128, FILL + FENCE + "    f = (a[0, 0],) * 8\n    acc = cuda.wgmma.mma(a[:, :16], b[:, :16], acc)\n" + COMMIT + "    acc = cuda.wgmma.mma(f, b[:, :16], acc)\n",
     r"mma: .* its fragment of A have been computed"),
    (128, FILL.replace("    cuda.fence_proxy_async_shared()\n", "") + FENCE + MULTIPLY, r"mma: row 0 of tile a has been written by threads since the last proxy fence"),
    (128, FILL + "    b[5, 41] = 2\n    cuda.syncthreads()\n" + FENCE + MULTIPLY, r"mma: row 5 of tile b has been written by threads since"),
    (96, FENCE, r"fence: warpgroup 0 has 96 threads, and takes 128"), (192, FENCE, r"fence: warpgroup 1 has 64 threads, and takes 128"),
    (128, "    if t < 96:\n        cuda.wgmma.fence()\n", r"fence: 96 of the 128 threads of warpgroup 0 have come, and the others have ended"),
    (128, FILL + FENCE + "    if t < 32:\n        cuda.wgmma.commit()\n    else:\n        cuda.wgmma.wait(0)\n", r"(commit|wait): thread \d+ of warpgroup 0 is at another operation than thread 0"),
    (128, FILL + FENCE + "    acc = cuda.wgmma.mma(a[:, 16 * (t // 32):16 * (t // 32) + 16], b[:, :16], acc)\n", r"mma: thread 32 of warpgroup 0 .* has other tiles"),
    (128, FILL + FENCE + MULTIPLY + WAIT, r"wait: these accumulators are of a group that may still be in flight"),
    (128, FILL + FENCE + MULTIPLY + COMMIT + "    acc = cuda.wgmma.wait(1, acc)\n", r"wait: these accumulators .* wait for fewer than 1 groups"),
    (128, FILL + FENCE + "    other = cuda.wgmma.mma(a[:, :16], b[:, :16], acc)\n    one = cuda.wgmma.mma(a[:, :16], b[:, :16], other)\n    two = cuda.wgmma.mma(a[:, :16], b[:, :16], other)\n",
     r"mma: these accumulators have been given to another mma already"),
    (128, FILL + FENCE + MULTIPLY + COMMIT + "    a[3, 25] = 5\n    cuda.syncthreads()\n" + WAIT, r"wait: tile a of the mma in line \d+ has been written while that was in flight"),
    (128, FILL + FENCE + MULTIPLY + COMMIT + "    b[63, 57] = 5\n    cuda.wgmma.wait(0)\n", r"wait: tile b of the mma in line \d+ has been written while"),
    (128, FILL + FENCE + "    acc = cuda.wgmma.mma(a[:, :16], b[:, 12:28], acc)\n", r"mma: tile b begins 24 bytes beyond a multiple of 1024: it may begin at a multiple of 8 rows"),
    (128, FILL + FENCE + "    n = x.size\n    acc = cuda.wgmma.mma(a[n - 60:, :16], b[:, :16], acc)\n", r"mma: tile a has 60 rows, and must have 64 here"),
    (128, FILL + FENCE + "    n = x.size - 64\n    acc = cuda.wgmma.mma(a[:, n:n + 32], b[:, :16], acc)\n", r"mma: tile a has 32 columns, and must have 16 here"),
    (128, FILL + FENCE + "    big = cuda.shared.array((72, 64), np.float16)\n    n = x.size - 60\n    acc = cuda.wgmma.mma(a[:, :16], big[n:n + 64, :16], acc)\n",
     r"mma: tile b begins 512 bytes beyond a multiple of 1024"),
    (128, FILL.replace(MEET, "") + FENCE + MULTIPLY, r"mma: tile a has been written by threads, and thread 1 of the warpgroup has not met them since: all meet between"),
    (128, FILL.replace(MEET, "    cuda.syncwarp()\n") + FENCE + MULTIPLY, r"mma: tile a has been written by threads, and thread 0 of the warpgroup has not met"),
    (128, FILL.replace(MEET, "    if t < 96:\n        cuda.barrier_sync(1, 96)\n") + FENCE + MULTIPLY, r"mma: tile a has been written by threads, and thread 0 of the warpgroup has not met"),
    (128, FILL + FENCE + MULTIPLY + COMMIT, r"mma: the block ends, and its warpgroup has not waited for this operation: commit\(\) it, then wait\(0\)"),
    (128, FILL + FENCE + MULTIPLY + "    cuda.wgmma.wait(0)\n", r"mma: the block ends, and its warpgroup has not waited for this operation"),
    (128, FILL + FENCE + MULTIPLY + COMMIT + "    cuda.wgmma.wait(1)\n", r"mma: the block ends, and its warpgroup has not waited for this operation"),
    (256, FILL_ALL + "    if t < 128:\n    " + FENCE + "    " + MULTIPLY + "    " + COMMIT + "        cuda.barrier_arrive(1, 256)\n    " + WAIT + "    else:\n        cuda.barrier_sync(1, 256)\n        a[t - 128 - 64 * (t // 192), 7] = 9\n",
     r"wait: tile a of the mma in line \d+ has been written while that was in flight: wait before"),
])  # fmt: skip
def test_wrong_use(threads, body, what):
    """Accumulators of float16 are found as those of float32 are."""
    for sums in ("float32", "float16") if "accumulators" in what else ("float32",):
        kernel = define(HEAD.replace("zeros(64, 64, np.float32)", f"zeros(64, 64, np.{sums})") + body)
        with pytest.raises((RuntimeError, ValueError), match=r"cuda\.wgmma\." + what):
            cuda.jit(kernel)[1, threads](np.zeros(64, np.float32))


PIPELINE = """def kernel(out, x):
    a = cuda.shared.array((2, 64, 64), np.float16, alignment=1024)
    full = cuda.shared.array(2, cuda.mbarrier)
    empty = cuda.shared.array(2, cuda.mbarrier)
    m = cuda.tensor_map(x, (64, 64), swizzle=128)
    t = cuda.threadIdx.x
    if t == 0:
        for k in range(2):
            cuda.mbarrier_init(full, k, 1)
            cuda.mbarrier_init(empty, k, 128)
        cuda.fence_mbarrier_init()
    cuda.syncthreads()
    if t >= 128:
        if t == 128:
            for k in range(6):
                cuda.mbarrier_wait_parity(empty, k % 2, (k // 2 + 1) % 2)
                cuda.mbarrier_arrive_expect_tx(full, k % 2, 8192)
                LOAD
    else:
        acc = cuda.wgmma.zeros(64, 64, np.float32)
        for k in range(6):
            cuda.mbarrier_wait_parity(full, k % 2, k // 2 % 2)
            cuda.wgmma.fence()
            for c in range(0, 64, 16):
                acc = cuda.wgmma.mma(a[k % 2, :, c:c + 16], a[k % 2, :, c:c + 16], acc)
            cuda.wgmma.commit()
            BODY
        acc = cuda.wgmma.wait(0, acc)
        out[t] = acc[0]
"""
LOADS = ["cuda.cp_async_bulk_tensor(a[k % 2], m, (64 * k, 0), full, k % 2)", "cuda.cp_async_bulk(a[k % 2], x[64 * k:64 * k + 64], full, k % 2)"]


@pytest.mark.host_only
@pytest.mark.parametrize("body, right", [
    ("acc = cuda.wgmma.wait(0, acc)\n            cuda.mbarrier_arrive(empty, k % 2)", True),
    ("cuda.wgmma.wait(1)\n            if k:\n                cuda.mbarrier_arrive(empty, (k + 1) % 2)", True),
    ("cuda.mbarrier_arrive(empty, k % 2)\n            acc = cuda.wgmma.wait(0, acc)", False),
    ("cuda.mbarrier_arrive(empty, k % 2)", False),
    ("cuda.wgmma.wait(1)\n            cuda.mbarrier_arrive(empty, k % 2)", False),
    ("cuda.wgmma.wait(2)\n            if k:\n                cuda.mbarrier_arrive(empty, (k + 1) % 2)", False),
])  # fmt: skip
@pytest.mark.parametrize("load", LOADS, ids=["boxes", "bytes"])
@pytest.mark.parametrize("ones", [False, True], ids=["", "all alike"])
def test_a_stage_that_is_filled_again(body, right, load, ones):
    """Too early is found where the copy begins, whatever the data are."""
    x = np.ones((384, 64), np.float16) if ones else np.arange(384 * 64).astype(np.float16).reshape(384, 64)
    kernel = cuda.jit(define(PIPELINE.replace("LOAD", load).replace("BODY", body)))
    out = np.zeros(128, np.float32)
    if right:
        kernel[2, 256](out, x)
        return
    with pytest.raises(RuntimeError, match=r"cuda\.cp_async_bulk(_tensor)?: the mma in line \d+ may still read this place: wgmma\.wait\(\) ends it(.*\n)*  in thread \(128, 0, 0\)"):
        kernel[2, 256](out, x)


@pytest.mark.host_only
@pytest.mark.parametrize("meet", [
    "    cuda.barrier_sync(1, 128)\n", "    cuda.cg.this_cluster().sync()\n",
    "    cuda.syncthreads()\n    a[t // 32 * 16 + t % 16, t % 32 // 16] = 2\n    cuda.fence_proxy_async_shared()\n    cuda.syncwarp()\n",
    "    bar = cuda.shared.array(1, cuda.mbarrier)\n    if t == 0:\n        cuda.mbarrier_init(bar, 0, 128)\n    cuda.syncwarp()\n    cuda.barrier_sync(2, 128)\n    b[t // 2, 3 + t % 2] = 5\n    cuda.fence_proxy_async_shared()\n"
    "    cuda.mbarrier_arrive(bar, 0)\n    cuda.mbarrier_wait_parity(bar, 0, 0)\n",
])  # fmt: skip
def test_ways_to_meet(meet):
    """Behind the fence, whatever lets a thread know of the others; of rows of A that each warp writes for itself a meeting of the warp."""
    cuda.jit(define(HEAD + FILL.replace(MEET, meet) + FENCE + MULTIPLY + COMMIT + "    cuda.wgmma.wait(0)\n"))[1, 128](np.zeros(64, np.float32))


@pytest.mark.host_only
@pytest.mark.parametrize("load", LOADS, ids=["boxes", "bytes"])
def test_a_stage_that_has_not_come(load):
    text = PIPELINE.replace("LOAD", load).replace("BODY", "cuda.wgmma.wait(0)").replace("            cuda.mbarrier_wait_parity(full, k % 2, k // 2 % 2)\n", "")
    with pytest.raises(RuntimeError, match="cuda.wgmma.mma: row 0 of tile a is still being copied: wait for the copy before, at its barrier"):
        cuda.jit(define(text))[1, 256](np.zeros(128, np.float32), np.ones((384, 64), np.float16))


@pytest.mark.host_only
def test_the_place_of_what_is_wrong():
    kernel = define(HEAD + FILL + MULTIPLY)
    with pytest.raises(RuntimeError) as caught:
        cuda.jit(kernel)[2, 128](np.zeros(64, np.float32))
    assert re.search(r"line \d+|:\d+:\d+", str(caught.value)) and "thread" in str(caught.value)
