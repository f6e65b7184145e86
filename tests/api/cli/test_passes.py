"""The tables of passes as a user meets them: listed, dumped, skipped, verified."""

import re
from pathlib import Path

import numpy as np
import pytest
from pyptx import _pyptx, cli, cuda

ROOT = Path(__file__).resolve().parents[3]
ROWS = {"": "codegen", "ssa.": "codegen/ssa", "nvptx.": "codegen/nvptx", "host.": "codegen/host"}
NAMES = {start + name for start, folder in ROWS.items()
         for name in re.findall(r"^P\((\w+),", (ROOT / folder / "passes.def").read_text(), re.M)}


def distance(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        t = cuda.local.array(2, np.float32)  # some rows run for local arrays alone
        t[0], t[1] = x[i], y[i]
        out[i] = np.sqrt(t[0] * t[0] + t[1] * t[1])


def reverse(x):
    t = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    t[i] = x[i]
    cuda.syncthreads()
    x[i] = t[63 - i]


def total(x):
    s = np.float32(0)
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        s += x[i]
    cuda.atomic.add(x, 0, s)


def first_above(x, limits):
    i = cuda.grid(1)
    for k in range(limits.size):
        if limits[k] >= x[0]:
            break
        i += 1
        if i >= x[1]:
            break
    x[2] = i


SIGNATURE = "float32[::1], float32[::1], float32[::1]"
TWO_ENDS = "nvptx.llvm_rotate", "nvptx.exit_latches"  # for loops that both their ends leave
STRIDED = "nvptx.own_elements", "nvptx.llvm_unroll", "nvptx.strided_unroll"  # for loops whose step is known at run time


def texts(target, want):
    return _pyptx._compile(distance, SIGNATURE, target, "sm_90" if target == "nvptx" else None, 0, {}, want)


def test_all_passes_are_listed(capsys):
    assert cli.main(["compile", "--passes"]) == 0
    listed = re.findall(r"^\s*([\w.]+): .", capsys.readouterr().out, re.M)
    assert len(listed) == len(set(listed)) and set(listed) == NAMES


@pytest.mark.parametrize("target, names", [
    ("nvptx", [n for n in sorted(NAMES) if n.startswith(("ssa.", "nvptx.")) and n not in ("nvptx.alternating", "nvptx.apart", "nvptx.coarse_entry", "nvptx.drain", "nvptx.fence_copies", "nvptx.local_shared", *STRIDED, *TWO_ENDS)]),
    ("host", [n for n in sorted(NAMES) if n.startswith(("ssa.", "host.")) and not n.startswith(("ssa.narrow", "ssa.unroll", "ssa.range", "ssa.apart", "ssa.row", "ssa.sign", "ssa.checked", "ssa.condition", "ssa.factor", "ssa.sum", "ssa.short", "ssa.drift", "ssa.quotient", "ssa.two", "ssa.table", "ssa.early", "ssa.nest", "ssa.thin", "ssa.latches", "ssa.recurrences"))]),
])
def test_every_row_is_dumped(target, names, monkeypatch, capfd):
    monkeypatch.setenv("PYPTX_DUMP", ",".join(names))
    texts(target, "asm" if target == "host" else "ptx")
    text = capfd.readouterr().err
    dumped = re.findall(r"^== ([\w.]+): distance$", text, re.M)
    assert sorted(dumped) == names
    assert all(re.search(r"define |func |\.entry|\.text|^$", part) for part in re.split(r"^== .*$", text, flags=re.M))


def test_rows_for_strided_loops_are_dumped(monkeypatch, capfd):
    monkeypatch.setenv("PYPTX_DUMP", ",".join(STRIDED))
    _pyptx._compile(total, "float32[::1]", "nvptx", "sm_90", 0, {}, "ptx")
    assert tuple(re.findall(r"^== ([\w.]+): total$", capfd.readouterr().err, re.M)) == STRIDED


def test_rows_for_loops_of_two_ends_are_dumped(monkeypatch, capfd):
    monkeypatch.setenv("PYPTX_DUMP", ",".join(TWO_ENDS))
    _pyptx._compile(first_above, "float32[::1], float32[::1]", "nvptx", "sm_90", 0, {}, "ptx")
    assert tuple(re.findall(r"^== ([\w.]+): first_above$", capfd.readouterr().err, re.M)) == TWO_ENDS


def test_letters_and_names_mix(monkeypatch, capfd):
    monkeypatch.setenv("PYPTX_DUMP", "TL,nvptx.llvm,At")
    texts("nvptx", "ptx")
    heads = re.findall(r"^== (.*): distance$", capfd.readouterr().err, re.M)
    assert heads == ["T infer", "L lower", "nvptx.llvm", "A emit", "t timings"]


def test_the_steps_of_a_pass(monkeypatch, capfd):
    monkeypatch.setenv("PYPTX_DUMP", "host.whole_vectors")
    _pyptx._compile(reverse, "float32[::1]", "host", None, 0, {}, "asm")
    heads = re.findall(r"^== (.*): reverse$", capfd.readouterr().err, re.M)
    if len(heads) == 1:
        pytest.skip("this CPU has no vectors")
    assert heads == ["host.whole_vectors, loops unrolled", "host.whole_vectors, cut into segments", "host.whole_vectors"]


def test_a_skipped_pass_is_not_run(monkeypatch):
    plain = texts("nvptx", "ptx")["ptx"]
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.square_root")
    without = texts("nvptx", "ptx")["ptx"]
    assert "sqrt.rn" not in plain and "sqrt.rn" in without
    assert texts("nvptx", "ptx")["coarsening"]
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.square_root,nvptx.coarsen")
    assert "coarsening" not in texts("nvptx", "ptx")


def test_a_skip_is_a_kernel_of_its_own_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "kept"))
    x, out = np.array([3, 5, 8], np.float32), np.zeros(3, np.float32)
    before = cuda.cache_info()
    skips = ["host.wrapped_indices,nvptx.row_pointers", "host.atomics", "", ""]
    for skip in skips:
        monkeypatch.setenv("PYPTX_SKIP", skip)
        cuda.jit(cache=True)(distance)[1, 3](x, x, out)
        assert np.array_equal(out, np.sqrt(x * x + x * x))
    after = cuda.cache_info()
    assert (after.stored - before.stored, after.hits - before.hits) == (3, 1)


SKIPPABLE = [name for name, _, _, _, skippable in _pyptx._passes() if skippable]


@pytest.mark.parametrize("name", [*SKIPPABLE, ",".join(SKIPPABLE)], ids=[*SKIPPABLE, "all"])
def test_results_do_not_depend_on_what_may_be_skipped(name, monkeypatch):
    @cuda.jit
    def kernel(x, y, out, counts):
        shared = cuda.shared.array(64, np.int32)
        i, t = cuda.grid(1), cuda.threadIdx.x
        shared[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(shared, t // 2, 1 if x[i % x.size] > 0.5 else 2)
        cuda.syncthreads()
        total = np.float32(0)
        for k in range(i % 7):
            total += x[-k] * x[-k] + y[k]
        if i < out.size:
            out[i] = np.sqrt(total + total + x[i])
            counts[i] = shared[t]

    rng = np.random.default_rng(1)
    x, y = rng.random(200, np.float32), rng.random(200, np.float32)

    def run():
        out, counts = np.zeros(200, np.float32), np.zeros(200, np.int32)
        cuda.jit(kernel.py_func)[4, 64](x, y, out, counts)
        return out, counts

    out, counts = run()
    assert out.any() and counts.any()
    monkeypatch.setenv("PYPTX_SKIP", name)
    monkeypatch.setenv("PYPTX_VERIFY", "1")
    again = run()
    assert np.array_equal(counts, again[1])
    # At most seven terms: each form of the sum rounds at most 15 times, to half of the last of 24 bits; the root halves that.
    assert np.allclose(out, again[0], rtol=16 * 2.0**-24, atol=0)
