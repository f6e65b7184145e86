"""Loops with conditions of many terms or many branches, around which there are more paths than could be followed one by one: they compile in a
moment, and compute what Python does (codegen/ssa/waits.c)."""

import random

import pytest
from test_hostile import run

N = 24
PROGRAM = """
import linecache, types
import numpy as np
from pyptx import cuda
source = {source!r}
linecache.cache["long.py"] = (len(source), None, source.splitlines(True), "long.py")
code = compile(source, "long.py", "exec")
def kernel(cuda):
    exec(code, names := {{"cuda": cuda}})
    return names["kernel"]
x = np.arange({n}, 0, -1, dtype=np.int32)
x[{n} - 1] = 0
got, expected = np.zeros((2, {n}), np.int64)
cuda.jit(kernel(cuda))[1, {n}](x, got, 10, 3)
for i in range({n}):
    kernel(types.SimpleNamespace(grid=lambda _: i))(x.tolist(), expected, 10, 3)
assert got.tolist() == expected.tolist(), (got, expected)
assert len(set(got.tolist())) > 2, got
print("ran")
"""


def condition(terms, rng):
    if terms == 1:
        return f"{rng.choice('abci')} {rng.choice(['<', '>', '==', '!='])} {rng.choice(['n', '5', 'm', 'a', 'b', 'c', 'i'])}"
    first = rng.randint(1, terms - 1)
    return f"({condition(first, rng)} {rng.choice(['and', 'or'])} {condition(terms - first, rng)})"


BEGIN = "def kernel(x, out, n, m):\n    i = cuda.grid(1)\n    a = x[i]\n    b = a * 3\n    c = b - n\n    p = i\n"
TERMS = f"    while {condition(160, random.Random(80))}:\n        a -= 1\n        if a < -20:\n            break\n    out[i] = a\n"
BRANCHES = "".join(f"        if x[p] & {k + 1} > {k % 5}:\n            a += {k}\n" for k in range(24))
LOOPS = {
    "terms": TERMS,
    "branches": f"    while x[p] != 0:\n{BRANCHES}        p += 1\n    out[i] = a\n",
    "written": f"    while out[p] == 0:\n{BRANCHES}        out[p] = 1 + a\n    out[i] += a\n",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_long_loops(loop):
    run(PROGRAM.format(source=BEGIN + LOOPS[loop], n=N), seconds=60)
