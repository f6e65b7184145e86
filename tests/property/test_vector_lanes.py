"""Random programs in which every thread has another value: integers of all widths made of the thread's place, that wrap, decide branches and
index arrays, with and without barriers. NumPy computes the same expressions for all threads at once.

What this finds and programs of single threads do not: the host runs neighbouring threads as lanes of vectors, and decides for all of them by
what it knows of how values grow from one to the next.
"""

import random

import numpy as np
import pytest
from harness import define
from pyptx import cuda

TYPES = ("int32", "uint32", "int64", "int16", "uint8", "int8", "uint16")
THREADS, BLOCKS = 32, 3
N = THREADS * BLOCKS
PLACES = ("t ^ 5", "t * 3 % 32", "31 - t", "t & 3", "t // 2", "(t + 7) % 32", "t % 8 * 4 + t // 8")


class Program:
    def __init__(self, seed, barriers):
        self.random = r = random.Random(seed)
        self.barriers = barriers
        self.variables = []
        self.lines = []  # (name, type, condition, if true, if false, reads the array)
        for k in range(r.randint(2, 4)):
            t, compare, of = r.choice(TYPES), r.choice(("<", "<=", ">", ">=", "==", "!=")), r.choice(TYPES)
            left = self.expression(of, 2) if r.random() < 0.7 else f"{of}(i) * {of}({self.wrapping(of)})"
            right = f"{of}({self.constant(of)})" if r.random() < 0.7 else self.expression(of, 1)
            self.lines.append((f"v{k}", t, f"{left} {compare} {right}", self.expression(t, 2), self.expression(t, 2), r.random() < 0.5))
            self.variables.append((f"v{k}", t))

    def wrapping(self, t):
        """So large that a few of it are small again."""
        info = np.iinfo(t)
        whole = 1 << info.bits
        c = self.random.choice((whole // 15 + 1, whole // 7 + 1, whole // 31 + 1, whole // 4, whole // 3 + 1, 3 * whole // 32))
        return c - whole if c > info.max else c

    def constant(self, t):
        if self.random.random() < 0.5:
            return self.wrapping(t)
        return self.random.randint(max(-5, np.iinfo(t).min), 70)

    def expression(self, t, depth):
        r = self.random
        if not depth or r.random() < 0.15:
            known = [v for v, of in self.variables if of == t]
            if known and r.random() < 0.5:
                return r.choice(known)
            return f"{t}(i)" if r.random() < 0.75 else f"{t}({self.constant(t)})"
        if r.random() < 0.12:
            return f"{t}({self.expression(r.choice(TYPES), depth - 1)})"
        op = r.choice(("+", "-", "*", "*", "&", "|", "^", "//", "%", ">>", "<<"))
        a = self.expression(t, depth - 1)
        if op in ("//", "%"):
            b = f"{t}({r.choice((3, 5, 7, 8, 16, 64))})"
        elif op in (">>", "<<"):
            b = f"{t}({r.randint(0, 6)})"
        elif op == "*" and r.random() < 0.8:
            b = f"{t}({self.constant(t)})"
        else:
            b = self.expression(t, depth - 1)
        return f"({a} {op} {b})"

    def source(self):
        s = ["def kernel(out, a, n):", "    i, t = cuda.grid(1), cuda.threadIdx.x"]
        s += ["    tile = cuda.shared.array(32, int64)"] if self.barriers else ["    if i >= n:", "        return"]
        for k, (name, _, condition, yes, no, reads) in enumerate(self.lines):
            s += [f"    if {condition}:", f"        {name} = {yes}", "    else:", f"        {name} = {no}", f"    out[{k}, i] = int64({name})"]
            if reads:
                s += [f"    out[{k}, i] += a[int64({name}) % 64]"]
            if self.barriers:
                s += [f"    tile[t] = int64({name})", "    cuda.syncthreads()", f"    out[{k}, i] ^= tile[{PLACES[k % len(PLACES)]}]", "    cuda.syncthreads()"]
        return "\n".join(s) + "\n"

    def expected(self, a, n):
        i = np.arange(n)
        t = i % THREADS
        scope = {name: lambda x, name=name: np.asarray(x).astype(name) for name in TYPES}
        scope["i"] = i
        out = np.zeros((len(self.lines), N), np.int64)
        with np.errstate(all="ignore"):
            for k, (name, of, condition, yes, no, reads) in enumerate(self.lines):
                chosen = np.where(eval(condition, scope), eval(yes, scope), eval(no, scope))
                scope[name] = np.broadcast_to(chosen, (n,)).astype(of)
                values = scope[name].astype(np.int64)
                out[k, :n] = values + a[values % 64] if reads else values
                if self.barriers:
                    out[k, :n] ^= values[i - t + eval(PLACES[k % len(PLACES)], {"t": t})]
        return out


@pytest.mark.parametrize("first, barriers", [(0, False), (20, False), (40, False), (60, False), (80, True), (100, True)])
def test_threads_with_values_of_their_own(first, barriers):
    a = np.arange(64) * 1000
    for seed in range(first, first + 20):
        program = Program(seed, barriers)
        n = N if barriers else N - seed % 5
        kernel = define(program.source(), **{t: getattr(np, t) for t in TYPES})
        out = np.zeros((len(program.lines), N), np.int64)
        cuda.jit(kernel)[BLOCKS, THREADS](out, a, n)
        cuda.synchronize()
        assert (out == program.expected(a, n)).all(), f"seed {seed}\n{program.source()}"
