"""Small sources that would be huge if they were followed to the end: inlined, unrolled, unpacked or computed while they are compiled. Each is compiled
quickly or ends in an error that says what is too large. What functions that call the next one twice compute: test_long_functions.py."""

import re

import pytest
from test_hostile import SETUP, run

BEGIN = """
import enum, time
def attempt(f, *args):
    tried(f, *args)
    assert time.process_time() < 30, time.process_time()  # of this process alone, so that a busy machine changes little; most take 0.3
"""
DOUBLED = "def kernel(o, a):\n    t = {start}\n" + "    t = {step}\n" * 40 + "    o[0] = {use}\n"
LARGE = "PT117: the tuple is too large to compile: it has more than 4096 elements"


def doubled(start, step, use="1"):
    return DOUBLED.format(start=start, step=step, use=use)


def chain(function, levels=40, start="    return x + 1.0", **names):
    """Functions f0 to f39, each made of `function`, which may call the one before, and a kernel that calls the last."""
    return (
        f"def f0(x):\n{start}\n"
        + "".join(function.format(this=f"f{k + 1}", below=f"f{k}", k=k) for k in range(levels))
        + f"def kernel(o, a):\n    o[0] = f{levels}(a)\n"
    )


FORCED = "@cuda.jit(device=True, inline=\"always\")\ndef {this}(x):\n    return {below}(x) + {below}(x + 1)\n"
BARRIERS = "def {this}(x):\n    return {below}(x) if x > {k} else {below}(x + 1)\n"
MEETING = "    cuda.syncthreads()\n    return x + 1.0"
NESTED_SUMS = "def {this}(x):\n    return sum({below}(x + q) if x > q else {below}(x - q) for q in range(1))\n"

CASES = {  # source, argument, what comes of it
    "a tuple of itself": (doubled("(a, a)", "(t, t)", "t" + "[0]" * 41), 1, LARGE),
    "a tuple of itself in a loop": ("def kernel(o, a):\n    t = (a,)\n    for i in range(40):\n        t = (t, t)\n    o[0] = len(t)\n", 1, "PT203"),
    "a tuple and itself": (doubled("(a, a)", "t + t", "t[0]"), 1, LARGE),
    "a tuple a billion times": ("def kernel(o, a):\n    o[0] = ((a, a) * 10**9)[3]\n", 1, LARGE),
    "a tuple that functions double": (chain("def {this}(x):\n    return {below}((x, x))\n", start="    return x"), 1, LARGE),
    "types that functions double": (chain("def {this}(x):\n    return {below}((x, 1)) + {below}((1, x))\n", start="    return 1"), 1, "PT117: .* calls more than 4096 functions"),
    "values that functions double": (chain("def {this}(n):\n    return {below}(n) + {below}(n + 2**{k})\n", start="    return cuda.local.array(x, np.int8).size").replace("f40(a)", "f40(1)"), 1, "PT117: .* calls more than 4096 functions"),
    "closures of closures": ("def twice(f):\n    return lambda x: f(f(x) * 0.5) if x < 0 else x\ndef kernel(o, a):\n    g0 = lambda x: x + a\n" + "".join(f"    g{k + 1} = twice(g{k})\n" for k in range(45)) + "    o[0] = g45(a)\n", 1.0, "ran"),
    "sums in sums": (chain(NESTED_SUMS, 60), 1.0, "ran"),
    "sums of sums": ("def kernel(o, a):\n    o[0] = " + "sum(" * 15 + "a" + "".join(f" for i{k} in range(1))" for k in range(15)) + "\n", 1.0, "ran"),
    "inlined on demand": (chain(FORCED), 1.0, "PT117: .* it has to have inlined it has more than 131072 operations"),
    "inlined for their barriers": (chain(BARRIERS, start=MEETING), 1.0, "ran|PT117: .* it has to have inlined it has more than 131072 operations"),
    "400 calls deep": (chain("def {this}(x):\n    return {below}(x) if x > {k} else {below}(x + 1)\n", 400), 1.0, "ran"),
    "600 calls deep": (chain("def {this}(x):\n    return {below}(x) + 1\n", 600), 1.0, "PT222: calls are nested more than 500 deep"),
    "a power": ("def kernel(o, a):\n    n = 10\n    o[0] = n ** (n ** 7)\n", 1, "PT206"),
    "squares": (doubled("3", "t * t", "t % 7"), 1, "PT206"),
    "a shift": ("def kernel(o, a):\n    n = 1\n    o[0] = (n << (n << 40)) > 0\n", 1, "PT206"),
    "a modular power": ("def kernel(o, a):\n    n = 3\n    o[0] = pow(n, 10**18, 7)\n", 1, "ran"),
    "a factorial": ("import math\ndef kernel(o, a):\n    o[0] = math.factorial(10**9)\n", 1, "OverflowError|ran"),
    "a number of digits": ("def kernel(o, a):\n    o[0] = X > 5\n", 1, "PT206"),
    "a long text": ("def kernel(o, a):\n    o[0] = len('a' * 10**10)\n", 1, "PT114"),
    "a text of itself": (doubled("'ab'", 'f"{t}{t}"', "t == 'a'"), 1, "PT117: the text is too large"),
    "bytes and themselves": (doubled("b'ab'", "t + t", "len(t)"), 1, "PT204"),
    "a wide format": ('def kernel(o, a):\n    print(f"{a:1000000000}")\n', 1, "PT121"),
    "a precise format": ('def kernel(o, a):\n    print(f"{a:.1000000000f}")\n', 1.5, "PT121"),
    "a membership": ("def kernel(o, a):\n    o[0] = 10**17 in range(0, 10**18, 3)\n", 1, "ran"),
    "a long loop of constants": ("def kernel(o, a):\n    n = 0\n    for i in range(10**15):\n        n ^= i * i\n        if n > 50:\n            break\n    o[0] = n\n", 1, "ran"),
    "a large local array": ("def kernel(o, a):\n    o[0] = cuda.local.array((1 << 31, 1 << 31, 1 << 31), np.int8)[0, 0, 0]\n", 1, "PT305"),
    "slices of slices": (doubled("slice(a, a)", "slice(t, t, t)", "o[t]"), 1, "PT301|PT117"),
    "pairs of iterators": (doubled("zip(o, o)", "zip(t, t)").replace("o[0] = 1", "\n    for q in t:\n        pass"), 1, "PT127"),
    "comparisons of large tuples": (doubled("(a, a)", "(t, t)", "t == t").replace("    t = (t, t)\n" * 40, "    t = (t, t)\n" * 10), 1, "ran"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bombs(case):
    source, argument, outcome = CASES[case]
    body = f"attempt(define({source!r}, X=10**10000), {argument!r})\n"
    assert re.search(outcome, run(SETUP + BEGIN + body)), case


@pytest.mark.parametrize("what", ["Enum", "tuple"])
def test_large_objects(what):
    """Everything that goes through an object's parts, of one with 5,000: more than a tuple may have."""
    make = {
        "Enum": "E = enum.Enum('E', [f'M{k}' for k in range(5000)])",
        "tuple": "E = tuple(range(5000))",
    }
    uses = ["for m in E:\n        n += 1", "for i, m in enumerate(E):\n        n += i", "for m, q in zip(E, E):\n        n += 1", "for m in reversed(E):\n        n += 1",
            "x, *y = E", "t = tuple(E)", "t = (*E, *E)", "n = len(E)", "n = a in E", "n = sum(1 for m in E)", "n = any(m == a for m in E)", "n = max(E)", "n = E == E",
            "print(E)", "n = list(E)[0]", "n = E[3]", "n = g(*E)", "t = E + E", "t = E[::-1]", "match E:\n        case (x, *y):\n            n = 1"]  # fmt: skip
    body = f"""
{make[what]}
for use in {uses!r}:
    attempt(define("def g(*t):\\n    return len(t)\\ndef kernel(o, a):\\n    n = 0\\n    " + use + "\\n    o[0] = n\\n", E=E), 3)
"""
    assert "PT117" in run(SETUP + BEGIN + body)
