"""Random accesses, shifted, scattered, uniform, in rows and atomic, with barriers between, and some with fences and
atomic operations: a race is reported if and only if there is one. Costs 7 s."""

import sys
import time

import numpy as np
import pytest

from pyptx import cuda
from pyptx.errors import RaceError

pytestmark = pytest.mark.skipif(not cuda.get_current_device().is_host, reason="check= is for the host device")

SHIFTED_READ, SHIFTED_WRITE, READ, WRITE, BARRIER, UNIFORM, ROW_READ, ROW_WRITE, ATOMIC = range(9)
STYLES = [
    [SHIFTED_READ] * 3 + [BARRIER, UNIFORM, SHIFTED_WRITE],
    [SHIFTED_READ, SHIFTED_WRITE, READ, WRITE, BARRIER, BARRIER, UNIFORM, ROW_READ, ROW_WRITE, ATOMIC],
    [SHIFTED_READ] * 4 + [READ, ROW_READ, UNIFORM, BARRIER],
    [BARRIER, ROW_READ, ROW_WRITE, BARRIER, SHIFTED_READ, SHIFTED_WRITE],
]


@cuda.jit(check="race")
def kernel(x, out, code, shift, table):
    t = cuda.grid(1)
    for k in range(code.size):
        c = code[k]
        j = t + shift[k]
        if c == 0:
            if 0 <= j < x.size:
                out[t] += x[j]
        elif c == 1:
            if 0 <= j < x.size:
                x[j] = t + 1000 * k
        elif c == 2:
            j = table[k, t]
            if j >= 0:
                out[t] += x[j]
        elif c == 3:
            j = table[k, t]
            if j >= 0:
                x[j] = t + 1000 * k
        elif c == 4:
            cuda.syncthreads()
        elif c == 5:
            out[t] += x[abs(shift[k])]
        elif c == 6:
            j = t * 4 + shift[k]
            if 0 <= j < x.size:
                out[t] += x[j]
        elif c == 7:
            j = t * 4 + shift[k]
            if 0 <= j < x.size:
                x[j] = t + 1000 * k
        elif c == 8:
            j = table[k, t]
            if j >= 0:
                cuda.atomic.add(x, j, 1000)


def elements(code, shift, targets, threads):
    t = np.arange(threads)
    return {SHIFTED_READ: t + shift, SHIFTED_WRITE: t + shift, UNIFORM: np.full(threads, abs(shift)), ROW_READ: 4 * t + shift,
            ROW_WRITE: 4 * t + shift}.get(code, targets)


def has_race(n, threads, total, code, shift, table):
    """By all pairs of accesses."""
    seen, epoch = {}, 0
    for k, c in enumerate(code):
        epoch += c == BARRIER
        for t, j in enumerate(elements(c, shift[k], table[k], total) if c != BARRIER else ()):
            if 0 <= j < n:
                seen.setdefault(j, set()).add((t, epoch, "rwrwxrrwa"[c]))
    return any(t != u and ("w" in (a, b) or {a, b} == {"r", "a"}) and (t // threads != u // threads or e == f)
               for them in seen.values() for t, e, a in them for u, f, b in them)


def draw(rng):
    threads, blocks = int(rng.choice([16, 20, 32, 48, 64])), int(rng.choice([1, 1, 2, 3]))
    total = threads * blocks
    n, steps, style = int(rng.choice([40, total, total + 5, 4 * total])), int(rng.integers(2, 16)), int(rng.integers(len(STYLES)))
    code = rng.choice(STYLES[style], steps).astype(np.int32)
    if style == 2:
        code[-1] = rng.choice([WRITE, SHIFTED_WRITE, ATOMIC])
    shift = rng.integers(-3, 4, steps).astype(np.int32)
    if style != 1 and rng.random() < 0.7:
        shift[code == SHIFTED_WRITE] = rng.choice([0, 0, 17])
    table = np.full((steps, total), -1, np.int32)
    for row in table:
        some = int(rng.choice([1, 2, total]))
        to = rng.permutation(max(n, total))[:total] if rng.random() < 0.6 else rng.integers(0, n, total)
        row[rng.permutation(total)[:some]] = np.where(to < n, to, -1)[:some]
    return n, threads, total, code, shift, table


def accesses(rng):
    """(was a race found, is there one, the program) of a random one."""
    n, threads, total, code, shift, table = draw(rng)
    x = np.zeros(n + 8)[int(rng.integers(9)):][:n]
    try:
        kernel[total // threads, threads](x, np.zeros(total), code, shift, table)
        race = False
    except RaceError:
        race = True
    return race, has_race(n, threads, total, code, shift, table), (n, threads, code.tolist(), shift.tolist(), table.tolist())


@pytest.mark.parametrize("seed", range(4))
def test_a_race_is_found_where_there_is_one(seed):
    rng, found = np.random.default_rng(seed), 0
    for _ in range(150):
        race, there_is, program = accesses(rng)
        assert race == there_is, program
        found += race
    assert 20 < found < 149


# --- fences and atomic operations


FENCE, RELEASE = 2, 3


@cuda.jit(check="race")
def agents(x, flag, out, code, element):
    """The first lane of each warp does its row of the code."""
    if cuda.threadIdx.x % 32 == 0:
        a = cuda.grid(1) // 32
        for k in range(code.shape[1]):
            c, j = code[a, k], element[a, k]
            if c == 0:
                x[j] = 100 * a + k
            elif c == 1:
                out[a] += x[j]
            elif c == 2:
                cuda.threadfence()
            else:
                cuda.atomic.add(flag, j, 1)


def is_racing(code, element):
    """By vectors of clocks: how much of each agent's row the others have seen. Agents run one after another."""
    n = len(code)
    flags, done = {}, []
    for a in range(n):
        seen, fenced = [0] * n, None
        for k, (c, j) in enumerate(zip(code[a], element[a])):
            if c == FENCE:
                fenced = [*seen[:a], k, *seen[a + 1 :]]
            elif c == RELEASE:
                seen = list(map(max, seen, flags.get(j, seen)))
                if fenced:
                    flags[j] = list(map(max, fenced, flags.get(j, fenced)))
            else:
                if any(i == j and b != a and 0 in (c, d) and when >= seen[b] for b, when, d, i in done):
                    return True
                done.append((a, k, c, j))
    return False


def releases(rng, flags):
    """The same of one with fences."""
    blocks, warps, steps = int(rng.integers(2, 4)), int(rng.integers(1, 3)), int(rng.integers(2, 9))
    code = rng.choice([0, 0, 1, FENCE, FENCE, RELEASE, RELEASE], (blocks * warps, steps))
    element = np.where(code == RELEASE, rng.integers(0, flags, code.shape), rng.integers(0, 3, code.shape))
    try:
        agents[blocks, 32 * warps](np.zeros(3), np.zeros(flags, np.int32), np.zeros(blocks * warps), code, element)
        race = False
    except RaceError:
        race = True
    return race, is_racing(code.tolist(), element.tolist()), (warps, code.tolist(), element.tolist())


@pytest.mark.parametrize("flags", [1, 3])
def test_a_release_orders_what_it_should(flags):
    rng, races, found = np.random.default_rng(flags), 0, 0
    for _ in range(200):
        race, there_is, program = releases(rng, flags)
        assert not race or there_is, program
        found, races = found + race, races + there_is
    assert 40 < found < 190 and found >= (races if flags == 1 else 0.95 * races), (found, races)


if __name__ == "__main__":  # SEED SECONDS: how many programs ran, and those that were judged wrongly (scripts/soak)
    seed, end = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    rng, ran, wrong = np.random.default_rng(seed), 0, []
    while time.monotonic() < end:
        for race, there_is, program in (accesses(rng), releases(rng, 1)):
            ran += 1
            if race != there_is:
                wrong.append(f"{'a race that is none' if race else 'no race, where there is one'}: {program}")
    print(f"{ran} programs", *wrong, sep="\n")
    sys.exit(bool(wrong))
