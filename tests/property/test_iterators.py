"""Random programs that hold iterators and generators in variables, tuples and functions and use them once or more often, against CPython.

Each use changes the result by each item and its place, so that a use that begins anew where Python goes on shows. What a kernel refuses
(PT127: used twice; PT120, PT122: generators whose variables change, or that are consumed elsewhere) is no test of what it computes; but
a program that uses each iterator once must be taken.
"""

import random

import amount
import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cuda

PROGRAMS, SHARD = 600, 100
HEAD = """
def same(e, other=None):
    return e

def total(e, s):
    for p, q in e:
        s = (s * 3 + p - 2 * q) % 1009
    return s

def some(e, s, limit):
    for p, q in e:
        s = (s * 5 + p + q) % 1009
        if s > limit:
            break
    return s

def prog(x, y, n):
    s, w = 1.0, 2.0
"""


class Source:
    """`once`: no iterator is used twice. `live`: names of iterators by kind, whose values have one type."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.once, self.count, self.live = self.r.random() < 0.4, 0, {}

    def name(self):
        self.count += 1
        return f"e{self.count}"

    def new(self, kind):
        a, b, k = self.r.choice("xy"), self.r.choice("xy"), self.r.randint(-1, 3)
        return {"E": f"enumerate({a}, {k})", "Z": f"zip({a}, {b})", "R": f"zip(reversed({a}), {b})", "T": f"enumerate(reversed((3, {k}, n)), {k})"}[kind]

    def take(self, kind=None):
        """An expression that gives an iterator, and its kind; one that is there is used up if none is to be used twice."""
        names = [n for n, k in self.live.items() if kind in (None, k)]
        if not names or self.r.random() < 0.15:
            kind = kind or self.r.choice("EZRT")
            return self.new(kind), kind
        name = self.r.choice(names)
        kind = self.live[name]
        if self.once or self.r.random() < 0.6:
            del self.live[name]
        return self.r.choice([name, name, f"same({name})", f"({name}, 1)[0]", f"(lambda k: k)({name})", f"(1, {name})[-1]"]), kind

    def hold(self):
        name, other = self.name(), self.name()
        e, kind = self.take()
        if self.r.random() < 0.3:
            f, _ = self.take(kind)
            lines = self.r.choice([[f"{name} = {e} if n > {self.r.randint(0, 3)} else {f}"], [f"{name}, {other} = {e}, {f}"]])
            if ", e" in lines[0].split(" = ")[0]:
                self.live[other] = kind
        else:
            lines = [f"{name} = {e if self.r.random() < 0.5 else self.new(kind)}"]
        self.live[name] = kind
        return lines

    def use(self):
        e, _ = self.take()
        limit = self.r.choice([300, 600, 2000])
        return self.r.choice(
            [
                [f"s = total({e}, s)"],
                [f"s = some({e}, s, {limit})"],
                [f"for p, q in {e}:", "    s = (s * 7 + p + 3 * q) % 1009", f"    if s > {limit}:", "        break"],
                [f"s += sum(p * q + 1 for p, q in {e})"],
                [f"h = lambda: total({e}, 1.0)", "s += h()" if self.once else "s += h() + h()"],
                [f"s += max((p - q for p, q in {e}), default=5)"],
            ]
        )

    def together(self):
        e, _ = self.take()
        f, _ = self.take()
        return [f"for (a, b), (c, d) in zip({e}, {f}):", "    s = (s * 3 + a - b + 2 * c - d) % 1009"]

    def late(self):
        """All of a generator's variables but the first iterable."""
        lines = [f"g = ({self.r.choice(['p * w', 'p + sum(u * w for u in y)', 'p * w + s'])} for p in x{self.r.choice(['', ' if p > w'])})"]
        if not self.once and self.r.random() < 0.5:
            lines.append(self.r.choice(["w += 1", "s = s + 1", "x = y"]))
        return [*lines, "s += sum(g)"]

    def within(self):
        """Under a condition, or in a loop, where each round uses what it has made, unless an iterator may be used twice."""
        live, before = dict(self.live), set(self.live)
        if not self.once and self.r.random() < 0.5:
            lines = [f"for k in range({self.r.randint(1, 3)}):", *indented(self.statement())]
        elif self.r.random() < 0.5:
            self.live = {}  # only iterators of its own
            lines = ["for k in range(2):", *indented(self.hold() + self.use())]
            self.live = live
        else:
            lines = [f"if n > {self.r.randint(0, 3)}:", *indented(self.statement())]
        # what was used up there is used up behind it; what was made there may not be there
        self.live = live if not self.once else {n: k for n, k in live.items() if n in before & set(self.live)}
        return lines

    def statement(self):
        return self.r.choice([self.hold, self.use, self.use, self.together, self.late])()

    def program(self):
        lines = self.hold()
        for _ in range(self.r.randint(2, 6)):
            lines += self.r.choice([self.hold, self.use, self.use, self.together, self.late, self.within])()
        return HEAD + "".join(f"{line}\n" for line in indented([*lines, "return s % 1009"]))


def indented(lines):
    return ["    " + line for line in lines]


def run(seed):
    """Whether a kernel takes the program, which then computes what CPython does."""
    program = Source(seed)
    source = program.program()
    prog = define(source, "prog")
    x, y = np.array([3.0, 1, 4, 1, 5]), np.array([2.0, 7, 1, 8])
    expected = [float(prog(x, y, n)) for n in range(4)]

    def kernel(x, y, out):
        for n in range(4):
            out[n] = prog(x, y, n)

    out = np.zeros(4)
    try:
        cuda.jit(kernel, opt=seed % 2 * 3)[1, 1](x, y, out)
    except CompileError as e:
        assert str(e)[:5] in ("PT120", "PT122", "PT127") and not program.once, f"seed {seed}: {e}\n{source}"
        return False
    cuda.synchronize()
    assert out.tolist() == expected, f"seed {seed}: device {out.tolist()}, Python {expected}\n{source}"
    return True


@pytest.mark.parametrize("first", amount.seeds(PROGRAMS, SHARD))
def test_iterators(first):
    taken = sum(map(run, range(first, first + SHARD)))
    assert SHARD // 4 < taken < SHARD, "some programs use iterators once, some twice"
