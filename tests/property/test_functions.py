"""Random programs of functions against CPython: defaults, keywords, stars, closures, functions in tuples and as values, unpacking, match,
loops with else, generator expressions, conditions in every place of a call; iterators in variables, used once and more often; generators
whose variables change before they are consumed; equality of ranges, slices and tuples of them.

All numbers are Python ints, results are cut to 16 bits, so CPython running the same source is the reference. A nested function or a
generator used after a variable that it captures was assigned is an error in a kernel (PT120), and so are an iterator that is used twice
(PT127) and a generator consumed elsewhere (PT122): such a program is no test.
"""

import random

import amount
import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cuda

PROGRAMS, SHARD = 400, 50
A, B = np.array([0, 1, -3, 7, 100]), np.array([2, -1, 5, 0, 3])


class Signature:
    """Parameters p0, p1 …, of which the last `optional` have defaults; keyword-only ones; perhaps *rest."""

    def __init__(self, positional, optional, required, defaulted, star):
        self.positional, self.optional, self.required, self.defaulted, self.star = positional, optional, required, defaulted, star


class Pairs:
    """An iterator over pairs of ints."""


class Source:
    """The text of one program. `env` has the names in scope: None for an int, the length of a tuple, the Signature of a function, PAIRS."""

    def __init__(self, seed):
        self.r, self.count = random.Random(seed), 0

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def some(self, env, kind):
        names = [n for n, t in env.items() if (t is None if kind is None else isinstance(t, kind))]
        return self.r.choice(names) if names else None

    # --- expressions

    def leaf(self, env):
        name = self.some(env, None)
        return name if name and self.r.random() < 0.7 else str(self.r.randint(-4, 9))

    def expr(self, env, depth=0):
        if depth > 1 or self.r.random() < 0.3:
            return self.leaf(env)
        e = lambda: self.expr(env, depth + 1)
        c = lambda: self.test(env, depth + 1)
        tuple_, function = self.some(env, int), self.some(env, Signature)
        forms = [
            lambda: f"({e()} {self.r.choice('+-*&|^')} {e()})",
            lambda: f"({e()} if {c()} else {e()})",
            lambda: f"({e()} {self.r.choice(['and', 'or'])} {e()})",
            lambda: f"(({e()}, {e()}) {self.r.choice(['<', '<=', '==', '!='])} ({e()}, {e()}))",
            lambda: f"max({e()}, *({e()}, {e()}))",
            lambda: f"sum({self.expr({**env, 'q': None}, depth + 1)} for q in range({self.r.randint(0, 3)}) if {self.test({**env, 'q': None}, depth + 1)})",
            lambda: f"(lambda a, b={e()}: {self.expr({**env, 'a': None, 'b': None}, depth + 1)})({e()})",
        ]
        if tuple_:
            n = env[tuple_]
            forms.append(lambda: f"{tuple_}[{self.r.randint(-n, n - 1)}]")
            forms.append(lambda: f"sum({tuple_}[{self.r.randint(-3, 3)}::{self.r.choice([-2, -1, 1, 2])}], {e()})")
        if function and not depth:
            forms += [lambda: self.call(function, env[function], env)] * 5
        return self.r.choice(forms)()

    def test(self, env, depth=0):
        e = lambda: self.expr(env, depth + 1)
        if self.r.random() < 0.85:
            return self.r.choice([f"{e()} {self.r.choice(['<', '<=', '==', '!=', '>'])} {e()}", f"not {e()}", f"({e()} & 1)"])
        r = lambda: f"range({e()} & 3, {e()} & 7, {self.r.choice([1, 1, 2, 3, -1, -4])})"
        s = lambda: f"slice({e()} & 1, {self.r.choice(['None', f'{e()} & 1'])})"
        pair = self.r.choice([(r, r), (s, s), (r, s), (lambda: f"({e()} & 1, {r()})", lambda: f"({e()} & 1, {r()})")])
        return self.r.choice([f"{pair[0]()} {self.r.choice(['==', '!='])} {pair[1]()}", f"{pair[0]()} in ({pair[1]()}, None, {pair[0]()})"])

    def call(self, name, s, env):
        values = [self.expr(env, 1) for _ in range(s.positional - self.r.randint(0, s.optional))]
        if s.star and len(values) == s.positional:
            values += [self.expr(env, 1) for _ in range(self.r.randint(0, 2))]
        cut = self.r.randint(0, len(values)) if self.r.random() < 0.3 else len(values)
        arguments = values[:cut] + ([f"*({', '.join(values[cut:])},)"] if cut < len(values) else [])
        if len(values) < s.positional and self.r.random() < 0.5:
            arguments.append(f"p{s.positional - 1}={self.expr(env, 1)}")
        keywords = [*s.required, *(k for k in s.defaulted if self.r.random() < 0.5)]
        self.r.shuffle(keywords)
        return f"{name}({', '.join(arguments + [f'{k}={self.expr(env, 1)}' for k in keywords])})"

    # --- statements: lists of lines

    def function(self, env, depth):
        r, name = self.r, self.name("f")
        s = Signature(r.randint(0, 3), 0, [], [], r.random() < 0.25)
        s.optional = r.randint(0, s.positional)
        if r.random() < 0.4:
            s.required, s.defaulted = [self.name("k")][: r.randint(0, 1)], [self.name("k")]
        plain, optional = s.positional - s.optional, range(s.positional - s.optional, s.positional)
        parameters = [f"p{k}" for k in range(plain)] + [f"p{k}={self.expr(env, 1)}" for k in optional]
        parameters += ["*rest"] if s.star else ["*"] if s.defaulted else []
        parameters += s.required + [f"{k}={self.expr(env, 1)}" for k in s.defaulted]
        inner = {**env, **{f"p{k}": None for k in range(s.positional)}, **dict.fromkeys(s.required + s.defaulted)}
        body = self.block(inner, depth + 1, r.randint(0, 2))
        body.append(f"return ({self.expr(inner)}{' + len(rest)' if s.star else ''}) & 0xffff")
        env[name] = s
        return [f"def {name}({', '.join(parameters)}):", *indented(body)]

    def block(self, env, depth, n):
        out = [f"{(v := self.name('v'))} = {self.expr(env)}"]
        env[v] = None
        for _ in range(n):
            kinds = [self.set, self.make_tuple, self.branch, self.match, self.loop, self.count_down, self.unpack, self.function_value]
            kinds += [self.make_iterator, self.use_iterator, self.use_iterator, self.late]
            out += self.function(env, depth) if depth < 3 and self.r.random() < 0.25 else self.r.choice(kinds)(env)
        return out

    def set(self, env):
        name = self.name("v") if self.r.random() < 0.6 else next(n for n in reversed(env) if env[n] is None)
        line = f"{name} {self.r.choice(['=', '+=', '^=']) if name in env else '='} {self.expr(env)}"
        env[name] = None
        return [line]

    def make_tuple(self, env):
        name, n = self.name("t"), self.r.randint(1, 4)
        line = f"{name} = ({', '.join(self.expr(env) for _ in range(n))},)"
        env[name] = n
        return [line]

    def branch(self, env):
        v = self.name("v")
        lines = [f"if (w{v} := {self.expr(env)}) > 1:", f"    {v} = w{v} + {self.expr(env)}", f"elif {self.test(env)}:", f"    {v} = {self.expr(env)}"]
        lines += ["else:", f"    {v} = {self.expr(env)}"]
        env[v] = None
        return lines

    def match(self, env):
        v = self.name("v")
        lines = [
            f"match ({self.expr(env)}) & 3, ({self.expr(env)}) & 3:",
            f"    case 0, m if {self.test({**env, 'm': None})}:", f"        {v} = m",
            "    case (1 | 2) as m, _:", f"        {v} = m + {self.expr(env)}",
            "    case m, o:", f"        {v} = m * o + {self.expr(env)}",
        ]  # fmt: skip
        env[v] = None
        return lines

    def loop(self, env):
        v, t = self.name("v"), self.some(env, int)
        over = self.r.choice(["enumerate({0}, 3)", "zip({0}, reversed({0}))"]).format(t) if t else "zip(range(5), range(9, 3, -2))"
        inner = {**env, v: None, "x": None, "y": None}
        lines = [f"{v} = 0", f"for x, y in {over}:", f"    if {self.test(inner)}:", f"        {self.r.choice(['break', 'continue', 'pass'])}"]
        lines += [f"    {v} += {self.expr(inner)} & 255", "else:", f"    {v} -= 1"]
        env[v] = None
        return lines

    def iterator(self, env):
        """One that is there, which is not used again but rarely, or a new one."""
        e, t = self.some(env, Pairs), self.some(env, int)
        if e and self.r.random() < 0.8:
            if self.r.random() < 0.9:
                del env[e]
            return self.r.choice([e, e, f"({e}, 1)[0]", f"(lambda k: k)({e})", f"next_({e})"])
        over = ["enumerate({0}, 3)", "zip({0}, reversed({0}))", "enumerate(reversed({0}))"] if t else ["zip(range(5), range(9, 3, -2))"]
        return self.r.choice([*over, "enumerate(range(4), -1)"]).format(t)

    def make_iterator(self, env):
        name = self.name("e")
        line = f"{name} = {self.iterator(env)}"
        env[name] = Pairs()
        return [line]

    def use_iterator(self, env):
        v, e = self.name("v"), self.iterator(env)
        if self.r.random() < 0.4:
            line = f"{v} = sum(x * y for x, y in {e})" if self.r.random() < 0.5 else f"{v} = max((x - y for x, y in {e}), default=7)"
            env[v] = None
            return [line]
        inner = {**env, v: None, "x": None, "y": None}
        lines = [f"{v} = 0", f"for x, y in {e}:", f"    {v} += x + {self.expr(inner)} & 255"]
        lines += [f"    if {self.test(inner)}:", "        break"]
        if self.r.random() < 0.2:  # once more in each round of a loop
            lines = [lines[0], "for k in range(3):", *indented(lines[1:])]
        env[v] = None
        return lines

    def late(self, env):
        """A generator that has a name, and perhaps an assignment before it is consumed."""
        g, name = self.name("g"), next(n for n in reversed(env) if env[n] is None)
        v = self.name("v")
        lines = [f"{g} = ({self.expr({**env, 'q': None}, 1)} for q in range({self.expr(env, 1)} & 3))"]
        if self.r.random() < 0.4:
            lines.append(f"{name} = {self.expr(env)}")
        env[v] = None
        return [*lines, f"{v} = {self.r.choice(['sum', 'all', 'any'])}({g}) + 0"]

    def count_down(self, env):
        v = self.name("v")
        inner = {**env, v: None}
        lines = [f"{v} = {self.expr(env)}", f"n{v} = {self.r.randint(1, 4)}", f"while n{v} and {self.test(inner)}:", f"    n{v} -= 1"]
        lines += [f"    {v} = {self.expr(inner)} & 255", "else:", f"    {v} += 3"]
        env[v] = None
        return lines

    def unpack(self, env):
        v = self.name("v")
        line = f"({v}, (b{v}, *c{v}), d{v}) = ({self.expr(env)}, ({self.expr(env)}, {self.expr(env)}, {self.expr(env)}), {self.expr(env)})"
        env |= {v: None, f"b{v}": None, f"c{v}": 2, f"d{v}": None}
        return [line]

    def function_value(self, env):
        f = self.some(env, Signature)
        if not f:
            return []
        g, h = self.name("g"), self.name("h")
        env[g] = env[f]
        return [f"{h} = ({self.leaf(env)}, {f})", f"{g} = {h}[1]"]

    def program(self):
        env, lines = {}, ["def next_(e):", "    return e"]
        for _ in range(self.r.randint(0, 3)):
            lines += self.function(env, 1)
        env |= {"a": None, "b": None}
        body = self.block(env, 1, self.r.randint(1, 5))
        body.append(f"return ({self.expr(env)}) & 0xffff")
        return "\n".join([*lines, "def prog(a, b):", *indented(body)]) + "\n"


def indented(lines):
    return ["    " + line for line in lines]


def run(seed):
    """Whether it was a test: CPython takes the program, and a kernel can have it."""
    source = Source(seed).program()
    prog = define(source, "prog")
    expected = [prog(int(a), int(b)) for a, b in zip(A, B)]

    def kernel(a, b, out):
        i = cuda.grid(1)
        out[i] = prog(int(a[i]), int(b[i]))

    out = np.zeros(A.size, np.int64)
    try:
        cuda.jit(kernel, opt=seed % 2 * 3)[1, A.size](A, B, out)
    except CompileError as e:
        assert str(e)[:5] in ("PT120", "PT122", "PT127"), f"seed {seed}: {e}\n{source}"
        return False
    cuda.synchronize()
    assert out.tolist() == expected, f"seed {seed}: device {out.tolist()}, Python {expected}\n{source}"
    return True


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("first", amount.seeds(PROGRAMS, SHARD))
def test_functions(first, monkeypatch):
    if first // SHARD % 2:  # functions that stay calls, which short programs have none of
        monkeypatch.setenv("PYPTX_INLINE_LIMIT", "0")
    assert sum(map(run, range(first, first + SHARD))) > SHARD // 2, "most programs are tests"
