"""Random kernels whose accesses each have a line of their own, with barriers, warp operations, loops and conditions, in
blocks of several shapes, on arrays of several layouts: a race is reported if and only if there is one, and the element,
both threads and both lines of the report are those of a pair that races. Costs 2 s."""

import itertools
import random
import re
import sys
import time
import types

import numpy as np
import pytest

from pyptx import cuda
from pyptx.errors import RaceError

pytestmark = [pytest.mark.filterwarnings("ignore::pyptx.Advice"),
              pytest.mark.skipif(not cuda.get_current_device().is_host, reason="check= is for the host device")]

BLOCKS = [(32,), (64,), (33,), (96,), (16,), (128,), (8, 8), (16, 4), (4, 16), (32, 2), (7, 5), (5, 20), (4, 4, 4), (1, 40)]
LAYOUTS = {"plain": lambda n, t: np.zeros(n, t), "backwards": lambda n, t: np.zeros(n, t)[::-1], "steps": lambda n, t: np.zeros(2 * n, t)[::2],
           "shifted": lambda n, t: np.zeros(n + 5, t)[5:], "unaligned": lambda n, t: np.zeros(n * np.dtype(t).itemsize + 1, np.uint8)[1:].view(t)}
BARRIER, WARP = "cuda.syncthreads()", "cuda.syncwarp()"


def index_of(r, a, threads, blocks):
    n = a.n
    if a.is_global and n >= threads * blocks + 8 and r.random() < 0.35:
        return f"B * {threads} + T + {r.randint(0, 4)}"
    ways = [f"T + {r.randint(0, n - threads)}", f"{n - 1} - T", f"(T ^ {r.choice([1, 2, 4, 8, 16, 31, 32])}) % {n}"] if n >= threads else []
    scattered = f"({r.choice([0, 1, 1, 2, 3, 7])} * T + {r.choice([0, 1, threads])} * B + {r.randint(0, n)} + {r.choice([0, 1, threads])} * q) % {n}"
    return r.choice([*ways, scattered, scattered])


def draw(seed):
    """The kernel's source, its launch, and its steps: (line, array, index, kind, condition), BARRIER, WARP, or
    (times, steps) of a loop."""
    r = random.Random(seed)
    block, grid = r.choice(BLOCKS), r.choice([(1,), (1,), (2,), (3,), (2, 2), (1, 3)])
    threads, blocks = int(np.prod(block)), int(np.prod(grid))
    arrays = []
    for k in range(r.randint(1, 3)):
        is_global, n = r.random() < 0.67, r.choice([threads, threads + 3, 2 * threads, threads * blocks + 8, 17, 300])
        dtype, layout = r.choice(["int32", "float32", "float64", "int64", "int16", "int8"]), r.choice(["plain", *LAYOUTS])
        arrays.append(types.SimpleNamespace(name=f"a{k}", is_global=is_global, n=n, dtype=dtype, layout=layout))
    lines = ["@cuda.jit", f"def kernel(out, {', '.join(a.name for a in arrays if a.is_global)}):",
             *(f"    {a.name} = cuda.shared.array({a.n}, np.{a.dtype})" for a in arrays if not a.is_global),
             "    T = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)",
             "    B = cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y", "    s, q = 0.0, 0"]
    meets = r.random() < 0.75

    def access(indent):
        a = r.choice(arrays)
        is_atomic = a.dtype not in ("int8", "int16") and a.layout != "unaligned"
        kind = r.choices(["read", "write", "update", "atomic"], [4, 4, 2, int(is_atomic)])[0]
        m = r.randint(2, 4)
        condition = r.choice(["", "", "", f"T < {r.randint(1, threads)}", f"T % {m} == {r.randrange(m)}", f"B == {r.randrange(blocks)}", f"T // 16 == {m - 2}"])
        index = index_of(r, a, threads, blocks)
        if condition:
            lines.append(f"{indent}if {condition}:")
            indent += "    "
        value = f"100 * (T + 1000 * B + 100000 * q) + {len(lines)}" if a.dtype not in ("int8", "int16") else f"(T + 31 * B + {17 * len(lines)} + 5 * q) % 120"
        lines.append(indent + {"read": f"s += {a.name}[{index}]", "write": f"{a.name}[{index}] = np.{a.dtype}({value})",
                               "update": f"{a.name}[{index}] += np.{a.dtype}(1)", "atomic": f"cuda.atomic.add({a.name}, {index}, 1)"}[kind])
        return len(lines), a, index, kind, condition, value

    def steps(n, indent="    "):
        for _ in range(n):
            what = r.random() if meets else 1
            if what < 0.42:
                lines.append(indent + (BARRIER if what < 0.3 else WARP))
                yield lines[-1].strip()
            else:
                yield access(indent)

    program = [*steps(r.randint(1, 4))]
    if r.random() < 0.4:
        times = r.randint(2, 3)
        lines.append(f"    for q in range({times}):")
        program.append((times, [*steps(r.randint(1, 4), "        ")]))
        lines.append("    q = 0")
    program += steps(r.randint(0, 3))
    lines.append(f"    out[{threads} * B + T] = s")
    return "\n".join(lines) + "\n", grid, block, arrays, program


def touched(program, threads, blocks):
    """By element: (block, thread, barriers before, warp operations before, kind, line, value) of each access."""
    seen, epochs, ticks = {}, 0, 0
    for q, step in ((q, s) for step in program for q, s in
                    (((q, s) for q in range(step[0]) for s in step[1]) if isinstance(step, tuple) and len(step) == 2 else [(0, step)])):
        epochs, ticks = epochs + (step == BARRIER), ticks + (step == WARP)
        if isinstance(step, str):
            continue
        line, a, index, kind, condition, value = step
        index, condition, value = (compile(text or "True", "<step>", "eval") for text in (index, condition, value))
        for B, T in itertools.product(range(blocks), range(threads)):
            names = {"T": T, "B": B, "q": q}
            if eval(condition, names):
                at = a.name, eval(index, names), None if a.is_global else B
                seen.setdefault(at, []).append((B, T, epochs, ticks, kind, line, eval(value, names)))
    return seen


def at_odds(x, y):
    """0: no race; 1: of writes of one value; 2: a race."""
    if x[:2] == y[:2] or (x[0] == y[0] and (x[2] != y[2] or (x[1] // 32 == y[1] // 32 and x[3] != y[3]))):
        return 0
    kinds = {x[4], y[4]}
    if kinds in ({"read"}, {"atomic"}):
        return 0
    return 1 if kinds == {"write"} and x[6] == y[6] else 2


def most(them):
    """The worst that these accesses to an element may be: who writes one value may be taken for who wrote it before."""
    writes = [x for x in them if x[4] != "read"]
    return 0 if not writes else 1 if {x[4] for x in writes} == {"write"} and len({x[6] for x in writes}) < len({x[:2] for x in writes}) else 2


def worst_of(seen):
    worst = 0
    for them in seen.values():
        limit = most(them)
        for x, y in itertools.combinations(them, 2) if limit > worst else ():
            worst = max(worst, min(at_odds(x, y), limit))
            if worst == 2:
                return 2
    return worst


def judge(seed):
    """(is there a race, what is wrong with what was said)"""
    source, grid, block, arrays, program = draw(seed)
    names = {"cuda": cuda, "np": np}
    exec(compile(source, "<kernel>", "exec"), names)
    threads, blocks = int(np.prod(block)), int(np.prod(grid))
    seen = touched(program, threads, blocks)
    worst = worst_of(seen)
    try:
        with cuda.checking("race"):
            names["kernel"][grid, block](np.zeros(threads * blocks), *(LAYOUTS[a.layout](a.n, a.dtype) for a in arrays if a.is_global))
    except RaceError as e:
        name, index = re.fullmatch(r"(\w+)\[(\d+)\]", e.array).groups()
        mine, other = ((b[0] + grid[0] * b[1], t[0] + block[0] * (t[1] + (*block, 1)[1] * t[2]), line)
                       for b, t, line in ((e.block, e.thread, e.lineno), (e.other_block, e.other_thread, e.other_lineno)))
        them = seen.get((name, int(index), None if next(a.is_global for a in arrays if a.name == name) else mine[0]), [])
        first, second = ([x for x in them if (*x[:2], x[5]) == who] for who in (mine, other))
        return worst, "" if any(at_odds(x, y) for x in first for y in second) else f"no such pair: {e}"
    return worst, "a race is not found" if worst == 2 else ""


@pytest.mark.unchecked("it asks for its checks itself")
def test_a_race_is_reported_as_it_is():
    races = 0
    for seed in (114, *range(16)):
        worst, wrong = judge(seed)
        assert not wrong, f"{seed}: {wrong}\n{draw(seed)[0]}"
        races += worst == 2
    assert 4 < races < 16, races


if __name__ == "__main__":  # SEED SECONDS: how many kernels ran, and those that were judged wrongly (scripts/soak)
    first, end, ran, wrong = int(sys.argv[1]), time.monotonic() + float(sys.argv[2]), 0, []
    while time.monotonic() < end:
        said = judge(first + ran)[1]
        if said:
            wrong.append(f"{first + ran}: {said}\n{draw(first + ran)[0]}")
        ran += 1
    print(f"{ran} programs", *wrong, sep="\n")
    sys.exit(bool(wrong))
