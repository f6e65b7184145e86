"""Random accesses to a shared tile, in rows, columns, backwards and by steps, with barriers and warp barriers between,
written out as programs whose threads are the lanes of vectors: a race is reported if and only if there is one, and
both its threads and lines are of one. Costs 8 s."""

import linecache
import sys
import time

import numpy as np
import pytest

from pyptx import cuda
from pyptx.errors import RaceError

pytestmark = pytest.mark.skipif(not cuda.get_current_device().is_host, reason="check= is for the host device")

BLOCKS = [(16, 16), (16, 16), (32, 8), (32, 4), (16, 4), (8, 8), (64, 2), (48, 2), (20, 3)]
DTYPES = [np.int8, np.int16, np.float32, np.float64, np.complex128]


def places(rng, block):
    """(index of a thread's element as text, is it one of its own)"""
    x, y = block
    w, h = x + int(rng.integers(0, 3)), y + int(rng.integers(0, 3))
    shift, step = int(rng.integers(0, 4)), int(rng.choice([2, 3, 4, 5]))
    return [(f"ty * {w} + tx", True), (f"tx * {h} + ty", True), (f"{y - 1} * {w} - ty * {w} + tx", True), (f"ty * {w} + {x - 1} - tx", True),
            ("t", True), (f"t + {shift}", True), (f"{x * y - 1} - t", True), (f"t * {step} + {shift}", True), (f"t - t % 32 + {shift}", False),
            (f"t ^ {1 << shift}", True), (str(shift), False), (f"abs(t - {shift})", False), (f"t * {step} % {x * y}", False)]


def draw(rng):
    """(block, the steps: what, index, condition)"""
    block = BLOCKS[int(rng.integers(len(BLOCKS)))]
    forms, steps = places(rng, block), []
    own = [f for f, is_own in forms if is_own]
    for _ in range(int(rng.integers(2, 5))):
        how = rng.choice(["reads", "own", "any"], p=[0.35, 0.35, 0.3])
        same = str(rng.choice(own))
        for _ in range(int(rng.integers(1, 4))):
            what = "r" if how == "reads" or rng.random() < 0.4 else "w"
            place = same if how == "own" else str(rng.choice([f for f, _ in forms]))
            t = int(rng.integers(block[0] * block[1]))
            steps.append((what, place, str(rng.choice(["", "", "", f"t < {t}", f"t >= {t}", f"t == {t}", f"tx < {t % block[0]}"]))))
            if block[0] * block[1] % 32 == 0 and rng.random() < 0.15:
                steps.append(("warp", "", ""))
        steps.append(("barrier", "", ""))
    return block, steps


def touched(block, steps):
    """Of each step: by thread, the element or -1."""
    t = np.arange(block[0] * block[1])
    names = {"t": t, "tx": t % block[0], "ty": t // block[0], "abs": abs}
    for what, place, condition in steps:
        if what in "rw":
            at = np.broadcast_to(eval(place, names), t.shape)  # noqa: S307 - our own text
            yield np.where(eval(condition, names), at, -1) if condition else at  # noqa: S307
        else:
            yield np.full(t.shape, -1)


def races(block, steps):
    """By all pairs of accesses: {(element, step, thread, step, thread)}."""
    seen, found, epoch, tick = {}, set(), 0, 0
    for k, (at, (what, _, _)) in enumerate(zip(touched(block, steps), steps)):
        epoch, tick = epoch + (what == "barrier"), tick + (what == "warp")
        for t, j in enumerate(at):
            if j >= 0:
                for step, u, e, w, other in seen.get(j, ()):
                    if u != t and e == epoch and "w" in (what, other) and (u // 32 != t // 32 or w == tick):
                        found |= {(int(j), k, t, step, u), (int(j), step, u, k, t)}
                seen.setdefault(j, []).append((k, t, epoch, tick, what))
    return found


def program(block, steps, dtype, size, number):
    lines = ["def kernel(out):", f"    tile = cuda.shared.array({size}, np.{np.dtype(dtype).name})", "    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y",
             f"    t = ty * {block[0]} + tx", "    v = out[cuda.blockIdx.x, t]"]
    line_of = {}
    for k, (what, place, condition) in enumerate(steps):
        text = {"r": f"v += tile[{place}]", "w": f"tile[{place}] = t", "barrier": "cuda.syncthreads()", "warp": "cuda.syncwarp()"}[what]
        lines += [f"    if {condition}:", f"        {text}"] if condition else [f"    {text}"]
        line_of[len(lines)] = k
    text, name, space = "\n".join([*lines, "    out[cuda.blockIdx.x, t] = v", ""]), f"tile {number}.py", {"cuda": cuda, "np": np}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), space)  # noqa: S102 - our own text
    return space["kernel"], line_of, text


def tiles(rng):
    """None, or how a random program was judged wrongly; and was a race found?"""
    block, steps = draw(rng)
    dtype = DTYPES[int(rng.integers(len(DTYPES)))]
    size = 1 + max(int(at.max(initial=0)) for at in touched(block, steps))
    kernel, line_of, text = program(block, steps, dtype, size, int(rng.integers(1 << 40)))
    there, e = races(block, steps), None
    try:
        cuda.jit(kernel, check="race")[2, block](np.zeros((2, block[0] * block[1]), dtype))
    except RaceError as race:
        e = race
    if e is None:
        return there and f"no race, where there is one: {block}, {dtype.__name__}\n{text}", False
    threads = [t[1] * block[0] + t[0] for t in (e.thread, e.other_thread)]
    said = int(e.array[e.array.index("[") + 1:-1]), line_of[e.lineno], threads[0], line_of[e.other_lineno], threads[1]
    return said not in there and f"a race that is none: {e}\n{block}, {dtype.__name__}\n{text}", True


@pytest.mark.filterwarnings("ignore::pyptx.Advice")
@pytest.mark.parametrize("seed", range(2))
def test_a_race_is_found_in_a_tile(seed):
    rng, found = np.random.default_rng(seed), 0
    for _ in range(25):
        wrong, race = tiles(rng)
        assert not wrong, wrong
        found += race
    assert 4 < found < 22


if __name__ == "__main__":  # SEED SECONDS: how many programs ran, and those that were judged wrongly (scripts/soak)
    rng, end, ran = np.random.default_rng(int(sys.argv[1])), time.monotonic() + float(sys.argv[2]), 0
    bad = []
    while time.monotonic() < end:
        wrong, _ = tiles(rng)
        ran, bad = ran + 1, bad + [wrong] * bool(wrong)
    print(f"{ran} programs", *bad, sep="\n")
    sys.exit(bool(bad))
