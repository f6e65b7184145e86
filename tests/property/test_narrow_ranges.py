"""Random programs of integers whose numbers are arguments of launches, near the limits of what a narrow version of a kernel takes (2**30) and of 32
bits: guards, clamps, remainders, counters and loops. CPython runs the same source on integers that wrap around at 64 bits; the GPU's code runs on the
CPU, in a process of its own."""

import operator
import random
import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "api"))
import standin  # noqa: E402
from amount import MORE  # noqa: E402

LIMITS = (0, 2**29, 2**30, 2**31, 2**32, 2**40, 2**62, 46341, 46341**2)


class Int64:
    """An integer that wraps around, as those of kernels do."""

    def __init__(self, value):
        self.value = (int(value) + 2**63) % 2**64 - 2**63

    def __index__(self):
        return self.value

    def __bool__(self):
        return self.value != 0

    def __neg__(self):
        return Int64(-self.value)

    def __invert__(self):
        return Int64(~self.value)

    def __abs__(self):
        return Int64(abs(self.value))


def _divided(op):
    return lambda a, b: op(a, b) if b else 0


for _name, _op in {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "floordiv": _divided(operator.floordiv), "mod": _divided(operator.mod), "rshift": operator.rshift,
}.items():  # fmt: skip
    setattr(Int64, f"__{_name}__", lambda a, b, op=_op: Int64(op(int(a), int(b))))
    setattr(Int64, f"__r{_name}__", lambda b, a, op=_op: Int64(op(int(a), int(b))))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Int64, f"__{_name}__", lambda a, b, op=getattr(operator, _name): op(int(a), int(b)))


class Program:
    """Lines that compute with the names n, m (arguments), size (an extent) and t (the thread), and
    add what they find to s. Rows begin and end where the array `ends` says, and are read from x."""

    def __init__(self, seed):
        self.r, self.lines, self.names = random.Random(seed), ["s = n * 0"], ["n", "m", "size", "t"]
        for _ in range(6):
            self.statement("", 0)

    def value(self, depth=0):
        r = self.r
        if depth > 2 or r.random() < 0.35:
            return r.choice(self.names) if r.random() < 0.8 else str(r.choice((0, 1, 2, 3, 7, 255, 2**30 - 1, 2**30, 2**31 - 1)))
        a, b = self.value(depth + 1), self.value(depth + 1)
        form = r.choice(("({a} + {b})", "({a} - {b})", "({a} + {k})", "({a} - {k})", "min({a}, {b})", "max({a}, {b})", "min(max({a}, 0), {b})",
                         "({a} % {k})", "({a} // {k})", "({a} % {d})", "({a} // {d})", "({a} >> {k})", "({a} & {b})", "({a} | {b})", "({a} ^ {b})",
                         "({a} * {k})", "({a} * {b})", "({a} * {b} + {k} & 4294967295)", "({a} - {b} >> {k} & 1048575)", "abs({a})", "(-{a})", "({a} if {a} < {b} else {b})", "(~{a})"))  # fmt: skip
        return form.format(a=a, b=b, d=r.choice(self.names), k=r.randint(1, 9))

    def condition(self):
        a, b = self.value(1), self.value(1)
        return self.r.choice((f"{a} < {b}", f"{a} >= {b}", f"0 <= {a} < {b}", f"{a} == {b}", f"{a} <= {b} and {b} != {a}"))

    def statement(self, indent, depth):
        r, kept, name = self.r, list(self.names), f"v{len(self.lines)}"
        kind = r.choice(("set", "set", "if", "for", "while", "sum", "row", "lag")) if depth < 2 else "set"
        if kind == "set":
            self.lines.append(f"{indent}{name} = n * 0 + {self.value()}")
            self.names.append(name)
            self.lines.append(f"{indent}s = s * 3 + {name}")
            return
        k = r.randint(1, 4)
        a = r.choice(self.names)
        if kind == "if":
            self.lines.append(f"{indent}if {self.condition()}:")
        elif kind == "for":
            self.lines.append(f"{indent}for {name} in range({a} - {k}, {a} + {r.randint(0, 4)}, {r.randint(1, 3)}):")
            self.names.append(name)
        elif kind == "while":
            self.lines += [f"{indent}{name} = {a} - {k}", f"{indent}while {name} < {a}:", f"{indent}    {name} += {r.randint(1, 3)}"]
            self.names.append(name)
        elif kind == "row":
            start = r.choice(("ends[{}]", "ends[{}] + t")).format(r.randrange(4))
            stop = r.choice(("ends[{}] + {}", "{a} + {}", "{}")).format(r.randrange(4), r.randint(1, 9), a=start)
            stop = f"min({stop}, {start} + 12)"
            self.lines.append(f"{indent}for {name} in range({start}, {stop}, {r.choice((1, 1, 1, 3))}):")
            self.names.append(name)
            self.lines.append(f"{indent}    if -7 <= {name} < 6:")
            self.lines.append(f"{indent}        s = s * 3 + x[{name}] - x[{r.choice((name, f'{name} + 1'))}] * 5")
        elif kind == "lag":  # an index that moves with the counter, and is negative at one end, at both, or nowhere
            self.lines.append(f"{indent}p{name} = min(max({a}, {r.choice((-2, 0, 3))}), 5)")
            self.lines.append(f"{indent}for {name} in range({self.value()} % 3 - 1, {self.value()} % 9{r.choice((', 2', '', ''))}):")
            self.names.append(name)
            index = r.choice((f"p{name} - {name}", f"{name} - p{name}", f"{name} + p{name}", f"p{name} - 1 - {name}", f"{name} * (p{name} - 2) - 1"))
            above = r.choice(("-7 <= {}", "0 <= {}", "{} > -3")).format(index)
            self.lines.append(f"{indent}    if {above} and {index} < 7:")
            self.lines.append(f"{indent}        s = s * 3 + x[{index}]")
            self.lines.append(f"{indent}    if -1 <= p{name} - 1 and {name} {r.choice(('<=', '<'))} p{name}:")
            self.lines.append(f"{indent}        s = s * 5 - x[p{name} - {name}]")
        else:
            self.lines.append(f"{indent}s = s + {self.value()}")
            return
        for _ in range(r.randint(1, 2)):
            self.statement(indent + "    ", depth + 1)
        self.names = kept

    def source(self, name):
        return f"def {name}(n, m, size, t, ends, x):\n" + textwrap.indent("\n".join([*self.lines, "return s"]), "    ") + "\n"


def numbers(seed):
    r = random.Random(seed)
    return r.choice((1, -1)) * r.choice(LIMITS) + r.randint(-3, 3)


def near(seed):
    return random.Random(seed).randint(-8, 8)


def check(first, programs, launches):
    """Runs the programs in one kernel, launched with several arguments."""
    import numpy as np
    import ptx_on_cpu

    ptx_on_cpu.choose()
    from pyptx import cuda

    sources = [Program(first + k).source(f"f{k}") for k in range(programs)]
    body = "".join(f"    out[{k}, t] = f{k}(n, m, size, t, ends, x)\n" for k in range(programs))
    text = "".join(sources) + "def kernel(n, m, a, ends, x, out):\n    t = cuda.grid(1)\n    size = a.shape[0]\n" + body
    path = Path(f"narrow_ranges_{first}.py")
    space, wrapping = {"cuda": cuda}, {"range": lambda *bounds: map(Int64, range(*map(int, bounds)))}
    exec(compile(text, str(path), "exec"), space)
    exec(compile("".join(sources), str(path), "exec"), wrapping)
    kernel, out = cuda.jit(space["kernel"]), cuda.to_device(np.zeros((programs, 2), np.int64))
    one, x = cuda.to_device(np.zeros(1, np.int8)), cuda.to_device(np.arange(1, 8))
    taken = set()
    for launch in range(launches):
        small = launch % 2 == 0
        n, m, size = (numbers(f"{first} {launch} {what}") for what in "nma")
        size = abs(size) % 2**40
        if small:  # as large as a narrow version takes
            n, m, size = (max(min(x, 2**30 - 1), -(2**30)) for x in (n, m, size))
        a = cuda.from_cuda_array_interface({**one.__cuda_array_interface__, "shape": (size,), "strides": (0,)}, owner=one)
        ends = [(numbers, near)[k % 2](f"{first} {launch} {k}") for k in range(4)]
        kernel[1, 2](n, m, a, cuda.to_device(np.array(ends)), x, out)
        got = out.copy_to_host()
        for k in range(programs):
            for t in range(2):
                want = int(wrapping[f"f{k}"](*map(Int64, (n, m, size, t)), [*map(Int64, ends)], [*map(Int64, range(1, 8))]))
                assert got[k, t] == want, f"n={n} m={m} size={size} t={t} ends={ends}: {got[k, t]}, not {want}\n{sources[k]}"
        taken |= {o.signature_text for o in kernel.overloads.values()}
    assert any(t.startswith("narrow") for t in taken)


@standin.needs_standin
@pytest.mark.parametrize("first", range(0, 1000 * MORE, 1000))
def test_near_the_limits(first):
    root = str(Path(__file__).parents[1])
    standin.run(f"import sys; sys.path[:0] = [{root!r}, {str(Path(__file__).parent)!r}]\nimport test_narrow_ranges\ntest_narrow_ranges.check({first}, 12, 8)\n")
