"""Random programs in which threads wait for what other threads do: along random graphs, in every manner in which one writes such a wait.

Each thread does some steps. Before a step it waits until another thread has done as many as the step needs, takes that thread's number, and says
that it has done the step. Which thread it is, is random: of the same block or another one, with a lower or a higher number. Python computes
the same, step after step. A wait that the compiler does not know for one never ends, and ends the test by its time limit.
"""

import os
import random

import numpy as np
import pytest
from harness import define
from pyptx import cuda

pytestmark = pytest.mark.skipif(
    os.environ["PYPTX_DEVICE"] != "host", reason="what waits may never end on a GPU, and tests/ptx_on_cpu runs threads one after the other"
)

READS = ("{f}[{j}]", "cuda.atomic.add({f}, {j}, 0)", "cuda.atomic.max({f}, {j}, -1)", "cuda.atomic.cas({f}, {j}, -7, -7)",
         "cuda.atomic.or_({f}, {j}, 0)", "look({f}, {j})")
WAITS = {
    "test": "while {read} < {level}:\n    pass",
    "break": "while True:\n    if {read} >= {level}:\n        break",
    "carried": "seen = {read}\nwhile seen < {level}:\n    seen = {read}",
    "done": "done = False\nwhile not done:\n    if {read} >= {level}:\n        done = True",
    "done first": "done = {read} >= {level}\nwhile not done:\n    done = {read} >= {level}",
    "asks a function": "while behind({f}, {j}, {level}):\n    pass",
    "in a function": "wait({f}, {j}, {level})",
    "sleeps": "while {read} < {level}:\n    cuda.nanosleep(20)",
    "counts turns": "turns = 0\nwhile {read} < {level}:\n    turns += 1",
    "backs off": "delay = 1\nwhile {read} < {level}:\n    for q in range(delay):\n        noise[i] = q\n    delay = min(delay * 2, 8)",
    "looks around": "k = 0\nwhile {read} < {level}:\n    k = (k + 1) % flags.size\n    noise[i] = flags[k]",
    "both": "while {read} < {level} or {f}[{j2}] < {level2}:\n    pass",
    "one by one": "k = 0\nwhile k < 2:\n    if {f}[{j} if k == 0 else {j2}] >= ({level} if k == 0 else {level2}):\n        k += 1",
    "asks all": "ready = False\nwhile not ready:\n    ready = True\n    for k in range(2):\n        if {f}[{j} if k else {j2}] < ({level} if k else {level2}):\n            ready = False",
    "goes on inside": "k = 0\nwhile k < 2:\n    while k < 2 and {f}[{j} if k else {j2}] >= ({level} if k else {level2}):\n        k += 1",
    "select": "seen = -1\nwhile seen < {level}:\n    now = {read}\n    seen = now if now > seen else seen",
    "returns": "if waits_all({f}, {j}, {level}, {j2}, {level2}) != 3:\n    values[i, step] = -1",
}
SAYS = ("cuda.atomic.add({f}, i, 1)", "cuda.atomic.exch({f}, i, step + 1)", "cuda.atomic.max({f}, i, step + 1)", "{f}[i] = step + 1")
BETWEEN = ("", "cuda.syncwarp(0xffffffff)", "noise[i] = cuda.shfl_sync(0xffffffff, t, t ^ 1)")

SOURCE = """
def look(f, j):
    return cuda.atomic.add(f, j, 0)

def behind(f, j, level):
    return f[j] < level

def wait(f, j, level):
    while cuda.atomic.add(f, j, 0) < level:
        pass

def waits_all(f, j, level, j2, level2):
    while True:
        if f[j] >= level:
            while f[j2] < level2:
                pass
            return 3

def kernel(flags, values, noise, after, need):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
{begin}
    for step in range(values.shape[1]):
        j, level = after[i, step, 0], need[i, step, 0]
        j2, level2 = after[i, step, 1], need[i, step, 1]
{wait}
        taken = values[j, level - 1] if level > 0 else 1
        taken += values[j2, level2 - 1] if level2 > 0 else 1
        values[i, step] = (taken * 5 + i + step) % 1000003
        cuda.threadfence()
        {say}
{end}
"""


class Program:
    STEPS = 5

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.blocks, self.threads = r.choice(((1, 40), (1, 7), (1, 128), (3, 32), (20, 1), (6, 16)))
        self.wait = r.choice(list(WAITS))
        self.read = r.choice(READS)
        n = self.blocks * self.threads
        self.shared = self.blocks == 1 and r.random() < 0.4
        kind = r.choice(("earlier steps", "order"))
        self.after = np.zeros((n, self.STEPS, 2), np.int64)
        self.need = np.zeros((n, self.STEPS, 2), np.int64)
        rank = list(range(n))
        {0: lambda: None, 1: rank.reverse, 2: lambda: r.shuffle(rank)}[r.randrange(3)]()
        self.order = sorted(range(n), key=rank.__getitem__) if kind == "order" else None
        for i in range(n):
            for s in range(self.STEPS):
                for k in range(2):
                    j = r.randrange(n) if self.order is None or not rank[i] else self.order[r.randrange(rank[i])]
                    most = s if self.order is None else self.STEPS if rank[j] < rank[i] else 0
                    self.after[i, s, k], self.need[i, s, k] = j, r.randint(0, most)

    def source(self):
        r = self.random
        f = "own" if self.shared else "flags"
        spread = lambda text, by: "\n".join(" " * by + line for line in text.split("\n"))
        wait = WAITS[self.wait]
        names = dict(f=f, j="j", j2="j2", level="level", level2="level2")
        wait = wait.format(read=self.read.format(f=f, j="j"), **names)
        if "level2" not in WAITS[self.wait]:
            wait += f"\nwhile cuda.atomic.add({f}, j2, 0) < level2:\n    pass"
        begin = f"    own = cuda.shared.array({self.threads}, np.int64)\n    own[t] = 0\n    cuda.syncthreads()" if self.shared else ""
        whole = self.threads % 32 == 0
        end = spread(r.choice(BETWEEN) if whole else "", 4)
        if r.random() < 0.3:
            end += "\n    cuda.syncthreads()\n    noise[i] = 7"
        return SOURCE.format(begin=begin, wait=spread(wait, 8), say=r.choice(SAYS).format(f=f), end=end)

    def expected(self):
        n = len(self.after)
        values = np.zeros((n, self.STEPS), np.int64)

        def do(i, s):
            taken = 0
            for k in range(2):
                level = self.need[i, s, k]
                taken += values[self.after[i, s, k], level - 1] if level > 0 else 1
            values[i, s] = (taken * 5 + i + s) % 1000003

        if self.order is None:
            for s in range(self.STEPS):
                for i in range(n):
                    do(i, s)
        else:
            for i in self.order:
                for s in range(self.STEPS):
                    do(i, s)
        return values


def run(seed, **options):
    p = Program(seed)
    n = p.blocks * p.threads
    values, noise = np.zeros((n, p.STEPS), np.int64), np.zeros(n, np.int64)
    kernel = cuda.jit(define(p.source(), "kernel", np=np, cuda=cuda), **options)
    kernel[p.blocks, p.threads](np.zeros(n, np.int64), values, noise, p.after, p.need)
    assert (values == p.expected()).all(), (seed, p.wait, p.read)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_waits(first):
    for seed in range(first, first + 10):
        run(seed)


def test_random_waits_without_optimisation():
    for seed in range(1000, 1006):
        run(seed, opt=0)
