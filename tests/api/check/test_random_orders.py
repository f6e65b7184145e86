"""Random accesses, shifted, scattered, uniform, in rows and atomic, with barriers between, and some with fences and
atomic operations: a race is reported if and only if there is one. And without barriers in blocks of all widths,
whose vectors go across their boundaries, forwards, backwards, by steps and from the end. Costs 13 s."""

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


# --- blocks without barriers, joined to rows


@cuda.jit(check="race")
def rows(x, out, code, shift, table):
    i, j = cuda.grid(2)
    if i < out.shape[1] and j < out.shape[0]:
        t = j * out.shape[1] + i
        for k in range(code.size):
            c = code[k]
            at = t + shift[k]
            if c == 2 or c == 3:
                at = x.size - 1 - at
            elif c == 4 or c == 5:
                at = 2 * t + shift[k]
            elif c == 6:
                at = abs(shift[k])
            elif c == 8 or c == 9:
                at = table[k, t]
            if 0 <= at < x.size:
                if c == 7:
                    cuda.atomic.add(x, at, 1000)
                elif c == 1 or c == 3 or c == 5 or c == 9:
                    x[at] = t + 1000 * k
                else:
                    out[j, i] += x[at]


@cuda.jit(check="race")
def straight(x, out, code, shift, table):
    i, j = cuda.grid(2)
    if i < out.shape[1] and j < out.shape[0]:
        t = j * out.shape[1] + i
        a, b, c = t + shift[0], x.size - 1 - t - shift[1], 2 * t + shift[2]
        v = x[a] + x[a + 1] if 0 <= a < x.size - 1 else x[0]
        if 0 <= b < x.size and code[1] == 3:
            x[b] = t + 1000
        if 0 <= c < x.size and code[2] == 5:
            x[c] = t + 2000
        out[j, i] = v


@cuda.jit(check="race")
def wraps(x, out, code, shift, table):
    i, j = cuda.grid(2)
    if i < out.shape[1] and j < out.shape[0]:
        t = j * out.shape[1] + i
        a, b = t - abs(shift[0]), -1 - t - abs(shift[1])
        v = x[a]
        if code[0] != 2 and b >= -x.size:
            v += x[b]
        if code[1] == 3 and b >= -x.size:
            x[b] = t + 1000
        if code[2] == 5:
            x[a] = t + 2000
        out[j, i] = v


def rows_touch(kernel, n, code, shift, table):
    """(element, what) of each access, by thread."""
    t = np.arange(table.shape[1])
    if kernel is wraps:
        a, b = t - abs(shift[0]), -1 - t - abs(shift[1])
        a, b = a % n, np.where(b >= -n, b % n, -1)
        yield a, "r"
        yield from ((b, "r"),) if code[0] != 2 else ()
        yield from ((b, "w"),) if code[1] == 3 else ()
        yield from ((a, "w"),) if code[2] == 5 else ()
        return
    if kernel is straight:
        a, b, c = t + shift[0], n - 1 - t - shift[1], 2 * t + shift[2]
        inside = (0 <= a) & (a < n - 1)
        yield from ((a * inside, "r"), (np.where(inside, a + 1, 0), "r"))
        yield from ((at, "w") for at, k, wanted in ((b, 1, 3), (c, 2, 5)) if code[k] == wanted)
        return
    for k, c in enumerate(code):
        at = {2: n - 1 - t - shift[k], 3: n - 1 - t - shift[k], 4: 2 * t + shift[k], 5: 2 * t + shift[k], 6: np.full(t.size, abs(shift[k])),
              8: table[k], 9: table[k]}.get(c, t + shift[k])
        yield at, "rwrwrwrarw"[c]


def pairs_at_odds(n, touched):
    """By element: the threads and what they do, where some of them race."""
    seen = {}
    for at, what in touched:
        for t, j in enumerate(at):
            if 0 <= j < n:
                seen.setdefault(int(j), set()).add((t, what))
    return {j: them for j, them in seen.items()
            if any(t != u and ("w" in (a, b) or {a, b} == {"r", "a"}) for t, a in them for u, b in them)}


def draw_rows(rng):
    block = [(8, 2), (4, 4), (1, 8), (2, 3), (6, 2), (12, 1), (16, 2), (32, 1), (48, 1), (5, 3), (40, 1)][int(rng.integers(11))]
    shape = int(rng.integers(1, 9)), int(rng.integers(1, 90))
    total, steps = shape[0] * shape[1], int(rng.integers(3, 8))
    n = int(rng.choice([total, total + 5, 2 * total + 3, 4 * total]))
    reads, quiet = rng.random() < 0.5, rng.random() < 0.6
    code = rng.choice([0, 0, 2, 4, 6, 8] if reads else range(10), steps).astype(np.int32)
    if reads and rng.random() < 0.5:
        code[rng.integers(steps)] = rng.choice([1, 3, 5, 9])
    shift = rng.integers(-3, 4, steps).astype(np.int32)
    if quiet:
        code[np.isin(code, (2, 3, 4, 5, 6))] = rng.choice([0, 3, 5])
        code[code == 8], shift[:] = 0, rng.choice([0, 0, total])
    table = np.array([np.where(rng.random(total) < 0.5, rng.permutation(n)[:total], -1) for _ in range(steps)], np.int32)
    return block, shape, n, code, shift, table


@pytest.mark.parametrize("seed", range(3))
def test_a_race_is_found_in_rows_of_blocks(seed):
    rng, found = np.random.default_rng(100 + seed), 0
    for _ in range(250):
        block, shape, n, code, shift, table = draw_rows(rng)
        kernel = [rows, rows, straight, wraps][int(rng.integers(4))]
        dtype = [np.int16, np.float32, np.float64, np.complex128][int(rng.integers(3 if kernel is rows else 4))]
        x = np.zeros(n + 40, dtype)[int(rng.integers(40)):][:n]
        grid = -(-shape[1] // block[0]), -(-shape[0] // block[1])
        odd = pairs_at_odds(n, rows_touch(kernel, n, code, shift, table))
        program = kernel.__name__, block, shape, n, x.dtype, code.tolist(), shift.tolist(), table.tolist()
        try:
            kernel[grid, block](x, np.zeros(shape, dtype), code, shift, table)
            assert not odd, program
        except RaceError as e:
            found += 1
            both = [(b[1] * block[1] + t[1]) * shape[1] + b[0] * block[0] + t[0]
                    for b, t in ((e.block, e.thread), (e.other_block, e.other_thread))]
            at = int(e.array[e.array.index("[") + 1:-1])
            assert at in odd and set(both) <= {t for t, _ in odd[at]} and both[0] != both[1], (str(e), program)
    assert 60 < found < 240


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
