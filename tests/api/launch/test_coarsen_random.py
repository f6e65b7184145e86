"""Coarsening of random programs: loops, branches, shared arrays and barriers, both entries of the GPU's code against each other on the CPU."""

import os

import harness
import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc


class Program:
    """A random kernel of blocks of 16 threads: loops that all blocks run alike, branches on the data, the thread, the block and on what is the same
    for all; each thread writes its own elements of two shared arrays, and reads another's between two barriers."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.here = self.pick("i", "cuda.grid(1)")  # the second: where it is read first may be a way of its own
        body = ["if b == 11:", "    return"] * self.chance(0.3) + self.block(0, True)
        head = ["s, r = cuda.shared.array(16, int32), cuda.shared.array(16, int32)", "t = cuda.threadIdx.x",
                *(["b, i = cuda.blockIdx.x, cuda.grid(1)"] if self.here == "i" else ["b = cuda.grid(1) // 16"] * self.chance(0.5) or ["b = 3"]),
                f"u, v, w, k = x[{self.pick('t', self.here)}], x[t], n, 0", "s[t], r[t] = v, w"]  # fmt: skip
        tail = [f"out[{self.here}] = (u + v * 3 + w * 5 + s[t] * 7 + r[t] * 11) & 65535"]
        self.source = "def kernel(x, n, out):\n" + "".join(f"    {line}\n" for line in head + body + tail)

    def chance(self, p):
        return bool(self.rng.random() < p)

    def pick(self, *of):
        return of[self.rng.integers(len(of))]

    def value(self, depth=0):
        if depth < 2 and self.chance(0.6):
            return f"(({self.value(depth + 1)} {self.pick('+', '-', '*', '^', '&')} {self.value(depth + 1)}) & 1023)"
        return self.pick("u", "v", "w", "k", "t", "b", "n", f"x[{self.here}]", f"({self.here} & 63)", "x[t]", "s[t]", "r[t]", "cuda.laneid",
                         "cuda.popc(cuda.lanemask_le())", str(self.rng.integers(99)))

    def same(self):  # in all blocks
        return self.pick("t", "n", "x[t]", "((t * 3 + n) & 63)", "(x[15 - t] ^ 5)", "w")

    def block(self, depth, alike):
        return [line for _ in range(self.rng.integers(1, 5)) for line in self.statement(depth, alike)]

    def statement(self, depth, alike):
        kind = self.rng.integers(10 if depth < 3 else 5)
        indented = lambda lines: ["    " + line for line in lines]
        if kind < 2:
            return [f"{self.pick('u', 'v')} = {self.value()}"]
        if kind == 2:
            return [f"{self.pick('s', 'r')}[t] = {self.same() if self.chance(0.6) else self.value()}"]
        if kind == 3 and alike:
            return ["cuda.syncthreads()", f"v = v + {self.pick('s', 'r')}[(t + {self.rng.integers(16)}) % 16] & 4095", "cuda.syncthreads()"]
        if kind == 4:
            return [f"out[{self.here}] = {self.value()}", f"u = out[{self.here}] + {self.value()}"]
        if kind < 7 and alike:
            return [f"for k in range({self.pick('n', '2', '5', 'n + 1')}):", *indented(self.block(depth + 1, True))]
        if kind == 7 and alike:
            test = self.pick("n > 2", "n % 2 == 0", "w > 3") if alike else ""
            return [f"if {test}:", *indented(self.block(depth + 1, True)), "else:", *indented(self.block(depth + 1, True))]
        test = self.pick(f"{self.value()} > 400", f"t < {self.rng.integers(16)}", f"b % {self.rng.integers(2, 4)} == 0", f"{self.here} > 70", f"{self.value()} > {self.value()}")
        lines = [f"if {test}:", *indented(self.branch(depth + 1))]
        return lines + ["else:", *indented(self.branch(depth + 1))] * self.chance(0.5)

    def branch(self, depth):  # without loops and barriers
        return [line for _ in range(self.rng.integers(1, 4)) for line in self.statement(max(depth, 1), False)]


@needs_llc
@pytest.mark.parametrize("seed", range(int(os.environ.get("PYPTX_SEEDS", 16))))
def test_random_programs(seed):
    factor = (2, 3, 4, 8)[seed % 4]
    for attempt in range(10):  # some are none that can be coarsened: LLVM made a loop's end of a branch on the block
        kernel = harness.define(Program(100 * seed + attempt).source, int32=np.int32)
        entries = Entries(kernel, "int32[::1], int32, int32[::1]", factor)
        if entries.coarsened:
            break
    assert entries.coarsened, entries.note
    x = np.random.default_rng(seed).integers(0, 1000, 16 * 17, np.int32)
    for blocks in (1, factor - 1, factor, factor + 1, 2 * factor, 17):
        for n in (0, 3):
            entries.check((blocks, 1, 1), (16, 1, 1), x, n, np.zeros_like(x))
