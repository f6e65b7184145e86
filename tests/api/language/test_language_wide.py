"""Python integers beyond 64 bits in constant expressions: exact while the kernel is compiled, an error where one would have to be stored."""

import math
import operator
import random
import time

import numpy as np
import pytest
from pyptx import CompileError, cuda

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
             "&": operator.and_, "|": operator.or_, "^": operator.xor}  # fmt: skip
COMPARISONS = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge}


def kernel_of(lines, names):
    """A kernel that stores each expression in an element of its argument."""
    source = "def kernel(out):\n" + "".join(f"    out[{k}] = {line}\n" for k, line in enumerate(lines))
    scope = dict(names)
    exec(compile(source, "<wide>", "exec"), scope)
    return cuda.jit(scope["kernel"])


def results(lines, names, dtype):
    out = np.zeros(len(lines), dtype)
    kernel_of(lines, names)[1, 1](out)
    return out


def drawn(rng):
    """A number near a power of two, or any of up to 200 bits."""
    bits = rng.choice([1, 31, 32, 33, 62, 63, 64, 65, 96, 127, 128, 200])
    v = rng.choice([1 << bits, (1 << bits) - 1, (1 << bits) + 1, rng.getrandbits(bits)])
    return -v if rng.random() < 0.5 else v


@pytest.mark.parametrize("seed", range(4))
def test_operators_as_python_has_them(seed):
    """Names stand for the numbers, so that CPython's own folding does not do the work."""
    rng = random.Random(seed)
    names, lines = {}, []
    for k in range(60):
        a, b = drawn(rng), drawn(rng)
        op = rng.choice(list(OPERATORS))
        if op in ("//", "%") and b == 0:
            b = 7
        shift, power = rng.randrange(130), rng.randrange(6)
        names |= {f"a{k}": a, f"b{k}": b, f"r{k}": OPERATORS[op](a, b), f"n{k}": shift, f"p{k}": power}
        names |= {f"s{k}": (a << shift, a >> shift), f"x{k}": a**power, f"u{k}": (-a, ~a, abs(a), a.bit_length(), a.bit_count())}
        lines += [f"(a{k} {op} b{k}) == r{k}", f"(a{k} << n{k}, a{k} >> n{k}) == s{k}", f"a{k} ** p{k} == x{k}"]
        lines += [f"(-a{k}, ~a{k}, abs(a{k}), a{k}.bit_length(), a{k}.bit_count()) == u{k}"]
        for c, holds in COMPARISONS.items():
            lines.append(f"(a{k} {c} b{k}) == {holds(a, b)}")
        lines.append(f"(min(a{k}, b{k}), max(a{k}, b{k})) == ({min(a, b)}, {max(a, b)})")
    out = results(lines, names, bool)
    assert out.all(), [lines[k] for k in np.flatnonzero(~out)]


@pytest.mark.parametrize("seed", range(3))
def test_floats_are_rounded_once(seed):
    rng = random.Random(seed)
    names, lines, want = {}, [], []
    for k in range(60):
        a, b = drawn(rng), drawn(rng) or 3
        if k % 6 == 0:
            b <<= rng.choice([900, 1050, 1074])  # quotients that are subnormal
        if k % 6 == 1:
            a <<= 700
        names |= {f"a{k}": a, f"b{k}": b}
        lines += [f"a{k} / b{k}", f"float(a{k})", f"0.5 * a{k}", f"np.float32(a{k})"]
        with np.errstate(over="ignore"):
            want += [a / b, float(a), 0.5 * a, float(np.float32(float(a)))]
    with np.errstate(over="ignore"):
        out = results(lines, names | {"np": np}, np.float64)
    assert out.tobytes() == np.array(want).tobytes()


def test_beside_floats():
    big = {"a": 2**100, "b": -(10**30), "h": 2**53 + 1, "inf": math.inf, "nan": math.nan, "t": 2.0**100, "u": 0.1}
    lines = [f"{x} {op} {y}" for x in "abh" for y in ("inf", "-inf", "nan", "t", "u") for op in COMPARISONS]
    lines += [f"{y} {op} {x}" for x in "ab" for y in ("inf", "-inf", "nan", "t", "u") for op in COMPARISONS]
    want = [eval(line, dict(big)) for line in lines]
    assert results(lines, big, bool).tolist() == want


def test_against_numbers_of_the_launch():
    """No 64-bit integer reaches them, so the answer is known."""
    names = {"high": 2**63, "low": -(2**63) - 1, "far": 10**40}
    source = "def kernel(out, n, u):\n"
    tests = ["n < high", "n > low", "n == far", "far >= n", "n <= low", "u[0] < high * 2", "u[0] > low", "u[0] < high", "n != far", "-far < u[0]"]
    source += "".join(f"    out[{k}] = {t}\n" for k, t in enumerate(tests))
    scope = dict(names)
    exec(source, scope)
    u = np.array([2**64 - 1], np.uint64)
    for n in (-(2**63), 2**63 - 1, 0):
        out = np.zeros(len(tests), bool)
        cuda.jit(scope["kernel"])[1, 1](out, n, u)
        assert out.tolist() == [bool(eval(t, {**names, "n": n, "u": u})) for t in tests]


def test_bounds_and_steps_of_slices_end_at_64_bits():
    """As Python has them: beyond 64 bits they are as good as the nearest number that 64 bits hold."""
    parts = ["", "-far", "far", "high", "-high - 1", "1"]
    slices = [f"{a}:{b}:{c}" for a in parts for b in parts for c in ("", "far", "-far", "-1")]
    lines = [f"v[{s}].size + (10 * v[{s}][0] if v[{s}].size else 0)" for s in slices]
    lines += [f"len(t[{s}]) + sum(t[{s}])" for s in slices]
    scope = {"far": 2**100, "high": 2**63, "t": (3, 5, 7, 11)}
    exec("def kernel(out, v):\n" + "".join(f"    out[{k}] = {line}\n" for k, line in enumerate(lines)), scope)
    v, (out, want) = np.array([2.0, 3.0, 5.0]), np.zeros((2, len(lines)))
    cuda.jit(scope["kernel"])[1, 1](out, v)
    scope["kernel"](want, v)
    assert out.tolist() == want.tolist()


@pytest.mark.parametrize(
    "expression",
    ["10**400", "x**400", "x << 100", "10**10**10", "x**10**18", "1 << (1 << 40)", "-(10**400)", "BIG * BIG", "BIG - 1", "~BIG", "sum((BIG, BIG))", "max(x, BIG)", "abs(-BIG)", "out[-(10**2000):][0]"],
)
def test_what_no_integer_holds_is_an_error(expression):
    """And soon, without the memory that the number would take."""
    scope = {"BIG": 2**100}
    exec(f"def kernel(out):\n    x = 10\n    out[0] = {expression}\n", scope)
    start = time.perf_counter()
    with pytest.raises(CompileError, match="PT206: the integer .* does not fit") as e:
        cuda.jit(scope["kernel"])[1, 1](np.zeros(1, np.int64))
    assert isinstance(e.value, OverflowError)
    assert time.perf_counter() - start < 5


def test_64_bits_without_a_sign_are_not_taken_for_negative():
    """What uint64 holds and a Python int of the kernel does not: an error where it would be one, not a number that is negative."""

    def kernel(out, flag):
        x = 0xCBF29CE484222325
        if flag:
            x = 1
        out[0] = x

    with pytest.raises(OverflowError, match="np.uint64"):
        cuda.jit(kernel)[1, 1](np.zeros(1), 0)


def test_64_bits_beside_uint64_and_in_masks():
    mask = (1 << 64) - 1

    def kernel(out, a, n):
        h = 0xCBF29CE484222325
        for k in range(a.size):
            h = (h ^ a[k]) * 0x100000001B3
        out[0] = h
        out[1] = (n * 3) & mask
        out[2] = a[0] & mask

    a = np.array([2**63 + 5, 3, 9], np.uint64)
    out, want = np.zeros(3, np.uint64), np.zeros(3, np.uint64)
    cuda.jit(kernel)[1, 1](out, a, 12)
    with np.errstate(over="ignore"):
        kernel(want, a, 12)
    assert out.tolist() == want.tolist()


@pytest.mark.host_only
@pytest.mark.parametrize("call", ["math.factorial(n)", "math.perm(n, n)", "math.comb(3 * n, n)"])
def test_counting_functions_do_not_overflow_silently(call):
    def run(n):
        scope = {"math": math}
        exec(f"def kernel(out, n):\n    out[0] = {call}\n", scope)
        out = np.zeros(1, np.int64)
        cuda.jit(scope["kernel"])[1, 1](out, n)
        return out[0], eval(call, {"math": math, "n": n})

    assert len({*run(20)} if "comb" not in call else {*run(15)}) == 1
    with pytest.raises(OverflowError, match="does not fit 64 bits"):
        run(30)


BESIDE = ["high + n", "n - high", "n * high", "n | high", "high ^ n", "n + ones", "sum((n, high))", "(n > 3) + high", "out[n + high]"]


@pytest.mark.parametrize("expression", BESIDE)
def test_64_bits_without_a_sign_beside_a_number_of_the_launch(expression):
    """It would wrap: (high + n) // 2 would be negative."""
    scope = {"high": 2**63, "ones": 2**64 - 1}
    exec(f"def kernel(out, n):\n    out[0] = ({expression}) // 2\n", scope)
    with pytest.raises(CompileError, match=r"PT206: the integer \d+ does not fit int64"):
        cuda.jit(scope["kernel"])[1, 1](np.zeros(1, np.int64), 5)


def test_64_bits_without_a_sign_are_numbas_uint64():
    """What Numba 0.68 gives for each: int64 and uint64 make an int64 there, and compare by value."""

    def kernel(out, n):
        out[0] = 2**63 + n
        out[1] = 2**63 > n
        out[2] = n & (2**64 - 1)

    out = np.zeros(3, np.int64)
    cuda.jit(typing="numba")(kernel)[1, 1](out, 5)
    cuda.synchronize()
    assert out.tolist() == [5 - 2**63, 1, 5]
