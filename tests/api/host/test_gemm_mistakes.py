"""The steps of the matrix product (examples/gemm_steps), each with a mistake: what the host device
says of it, and that docs/tutorials/gemm.md quotes it."""

import contextlib
import importlib
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from pyptx import cuda

ROOT = Path(__file__).resolve().parents[3]
RELEASE = """\
            cuda.wgmma.wait(1)  # the stage before has been read
            if k > 0 and leader:
                cuda.mbarrier_arrive(empty, before)
"""
# The step, what is replaced, by what, the line of the finding and its words.
MISTAKES = [
    ("step2_shared", "        cuda.syncthreads()  # the tiles are there\n", "",
     "total += sa[y, i] * sb[i, x]", "race on"),
    ("step4_tensor_cores", "(top + row, k + column), 8)", "(top + row, k + column + 1), 8)",
     "cuda.vector.load(a,", "the address of element 1 is 2 bytes beyond a multiple of 16"),
    ("step6_wgmma", "            cuda.wgmma.fence()\n", "",
     "acc = cuda.wgmma.mma(", "there is no wgmma.fence() between the last wgmma.commit() or wait() and this mma"),
    ("step6_wgmma", "            cuda.syncthreads()  # both warpgroups have read the stage", "            pass",
     "cuda.cp_async_bulk_tensor(sa[s]", "may still read this place: wgmma.wait() ends it"),
    ("step6_wgmma", "            cuda.wgmma.wait(0)\n", "",
     "cuda.cp_async_bulk_tensor(sa[s]", "may still read this place: wgmma.wait() ends it"),
    ("step6_wgmma", "    acc = cuda.wgmma.wait(0, acc)\n", "",
     "cuda.vector.store(c,", "accumulators of cuda.wgmma.mma are read here while it may be in flight"),
    ("step7_roles", "2 * (M + N) * K\n", "2 * (M + N) * K + 128\n",
     "cuda.mbarrier_wait_parity(full,", "full[0] is waited for in vain: phase 0 still needs 0 arrivals and 128 bytes"),
    ("step7_roles", "stage, phase ^ 1)", "stage, phase)",
     "cuda.mbarrier_wait_parity(empty,", "empty[0] is waited for in vain: phase 0 still needs 2 arrivals and 0 bytes"),
    ("step7_roles", RELEASE, "            if leader:\n                cuda.mbarrier_arrive(empty, stage)\n",
     "cuda.cp_async_bulk_tensor(sa[stage]", "may still read this place: wgmma.wait() ends it"),
    ("step8_tma_stores", "                cuda.fence_proxy_async_shared()  # so that", "                # so that",
     "cuda.cp_async_bulk_tensor_store(", "has been written since the last fence_proxy_async_shared(), so the copy may not see it"),
]  # fmt: skip


@pytest.mark.host_only("finds what a GPU does not say")
@pytest.mark.parametrize("step, old, new, line, words", MISTAKES)
def test_mistake(step, old, new, line, words, tmp_path, monkeypatch, request):
    if words != "race on":  # which of its two accesses is named depends on what runs first
        request.getfixturevalue("unoptimised")
    monkeypatch.syspath_prepend(str(ROOT / "examples/gemm_steps"))
    text = (ROOT / f"examples/gemm_steps/{step}.py").read_text()
    assert text.count(old) == 1
    path = tmp_path / f"{step}_wrong.py"
    path.write_text(text.replace(old, new))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    depth = 192 if "128 bytes" in words else 448  # fewer stages than the ring has, or more
    rng = np.random.default_rng(1)
    a, b, c = (importlib.import_module("steps").random_bfloat16(rng, shape)[0] for shape in ((128, depth), (depth, 256), (128, 256)))
    with cuda.checking("race") if step == "step2_shared" else contextlib.nullcontext(), pytest.raises(Exception) as found:
        module.launch(a, b, c)
    said = str(found.value)
    assert words in said
    number = int(re.search(rf"{path.name}:(\d+):", said)[1])
    assert line in path.read_text().splitlines()[number - 1]
    assert words in " ".join((ROOT / "docs/tutorials/gemm.md").read_text().split())
