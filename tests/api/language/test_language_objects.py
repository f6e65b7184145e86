"""What kernels do with objects: star calls, keyword defaults, ranges, reversed, methods of numbers, changes in place.

As everywhere, Python itself runs the kernel's function for the expected values.
"""

import math
import operator

import numpy as np
import pytest
from harness import define, run
from pyptx import CompileError, cuda

X = np.arange(1, 25, dtype=np.float32)
TEXT = "größe"


def out(n=16, dtype=np.float64):
    return np.zeros(n, dtype)


def many(p, q=2, *rest, y=1, z=0):
    return p + q * 10 + len(rest) * 100 + y * 1000 + z * 10000


BITS = np.array([0, -0.0, 1.5, np.inf, -np.inf, np.nan, 1e-310, -2])


@pytest.mark.parametrize("real, integer", [("float64", "int64"), ("float64", "uint64"), ("float32", "int32"), ("float32", "uint32"),
                                           ("float16", "int16"), ("float16", "uint16")])  # fmt: skip
def test_bits_of_numbers(real, integer):
    kernel = define(f"""
def kernel(x, bits, back, half):
    i = cuda.grid(1)
    bits[i] = x[i].view(np.{integer})
    back[i] = bits[i].view(x.dtype)
    half[i] = (x[i].view(np.{integer}) >> np.{integer}(3)).view(np.{real})
""")
    x = BITS.astype(real)
    run(kernel, [x, out(8, integer), out(8, real), out(8, real)], 1, 8)


def test_bits_of_integers():
    def kernel(x, o):
        i = cuda.grid(1)
        o[i] = x[i].view(np.uint8) + 1000 * np.int64(np.uint32(i * 600000000).view(np.int32))

    run(kernel, [np.arange(-4, 4).astype(np.int8), out(8, np.int64)], 1, 8)


def test_inverse_square_root_by_bits():
    def kernel(x, o):
        i = cuda.grid(1)
        y = (np.int32(0x5F3759DF) - (x[i].view(np.int32) >> 1)).view(np.float32)
        o[i] = y * (np.float32(1.5) - np.float32(0.5) * x[i] * y * y)

    run(kernel, [X, out(24, np.float32)], 1, 24)


@pytest.mark.parametrize("call", ["x[0].view(np.float64)", "x[0].view(np.complex64)", "x[0].view(np.bool_)", "x[0].view(3)", "(3).view(np.int64)"])
def test_bits_that_do_not_fit(call):
    with pytest.raises(CompileError):
        cuda.jit(define(f"def kernel(x, o):\n    o[0] = {call}\n"))[1, 1](X.copy(), out(1))


def test_characters():
    def kernel(o):
        o[0] = ord("A") + ord("é") * 1000
        o[1] = ord("€")
        o[2] = ord("😀")

    run(kernel, [out(3)])


def test_ravel_is_a_view():
    def kernel(a, o):
        i = cuda.grid(1)
        o[i] = a.ravel()[i]
        a.ravel()[i] += 1

    run(kernel, [X.reshape(4, 6), out(24)], 1, 24)


def test_length_of_texts():
    def kernel(o):
        o[0] = len("abc") + 10 * len("é€😀") + 100 * len("")
        o[1] = len(TEXT)

    run(kernel, [out(2)])


def test_star_calls():
    def kernel(o, t):
        o[0] = many(*t)
        o[1] = many(*t, y=3)
        o[2] = many(*t, *t, y=3, z=2)
        o[3] = many(7, *t, z=t[0])
        o[4] = max(*t, 5)

    run(kernel, (out(), (1, np.int32(2))))


def test_keyword_only_defaults_of_nested_functions():
    def kernel(o, k):
        def first(u, *, w=7, v=k):
            return u + w * 10 + v * 100

        second = lambda u=4, *, w=k, v: u + w * 10 + v * 100  # noqa: E731
        o[0] = first(1)
        o[1] = first(1, v=2)
        o[2] = first(1, w=2, v=3)
        o[3] = second(v=5)
        o[4] = second(1, w=2, v=3)

    run(kernel, (out(), np.int64(3)))


def test_ranges_as_values():
    def kernel(o, n, s):
        r = range(2, n, s)
        o[0] = len(r) + r.start * 10 + r.stop * 100 + r.step * 1000
        o[1] = r[1] + r[-1]
        o[2] = range(10, 0, -3)[2] + range(5)[-1]
        hits = 0
        for k in range(-5, 40):
            hits = hits * 2 % 1000003 + (k in r) + (k not in range(20, 3, -4)) + (k in range(7))
        o[3] = hits
        o[4] = len(tuple(range(4))) + tuple(range(1, 8, 3))[2]

    run(kernel, (out(), 20, 3))
    run(kernel, (out(), 33, 7))


def test_unsigned_values_beyond_int64_are_in_no_range():
    def kernel(o, u):
        o[0] = u in range(-5, 5)

    run(kernel, (out(), np.uint64(2**64 - 1)))


def test_reversed():
    def kernel(o, x, n):
        at = 0
        for k in reversed(range(n)):
            o[at] = k
            at += 1
        for k in reversed(range(1, n, 3)):
            o[at] = k
            at += 1
        for i, v in enumerate(reversed(x)):
            o[at + i] = v
        for i, v in enumerate(reversed((4, 5.5, 6))):
            o[at + 4 + i] = v

    run(kernel, (out(24), X[:4].copy(), 7))


def test_methods_of_numbers():
    def kernel(o, a, b, u):
        o[0] = int(a).bit_count() + int(-a).bit_length() * 10 + (0).bit_length()
        o[1] = a.bit_count() + u.bit_count() * 10
        o[2] = a.item() / 2
        o[3] = b.astype(np.int16) + a.astype(np.float32)
        o[4] = b.conjugate() + a.conjugate()
        o[5] = b.is_integer() + 10 * (b * 2).is_integer()
        o[6] = a.ndim + a.size + len(a.shape) + a.itemsize + b.nbytes
        o[7] = a.dtype == np.int32

    run(kernel, (out(), np.int32(-37), np.float64(2.5), np.uint8(255)))


def test_isinstance_is_decided_at_compile_time():
    def describe(v):
        if isinstance(v, tuple):
            return len(v)
        if isinstance(v, (np.float32, np.float64)):
            return 100 + v
        return 200 if isinstance(v, bool) else 300 if isinstance(v, int) else 400

    def kernel(o, f, d, i):
        o[0] = describe((1, 2, 3))
        o[1] = describe(f)
        o[2] = describe(d) + isinstance(d, float) + isinstance(f, float)
        o[3] = describe(i)
        o[4] = describe(True) + describe(7) + describe(1.5)

    run(kernel, (out(), np.float32(1.5), np.float64(2.5), np.int32(4)))


def test_texts():
    def kernel(o):
        s = "ab"
        o[0] = (s < "b") + 2 * (s <= "ab") + 4 * (s > "aa") + 8 * (s >= "abc")
        o[1] = float("inf")
        o[2] = float(" -1.5e3 ")
        o[3] = int("-1_000")
        o[4] = float("nan")
        o[5] = float("7")

    run(kernel, (out(),))


def test_tuples_compare_in_order():
    def kernel(o, a, b):
        o[0] = ((a, b) < (a, b + 1)) + 2 * ((a, b) <= (a, b)) + 4 * ((a,) < (a, b)) + 8 * ((b, a) > (a, b))
        o[1] = ((a, b) >= (a, b, 0)) + 2 * ((a, math.nan) < (a, 1.0))

    run(kernel, (out(), 3, 4))


BOUNDS = [None, 0, 1, 4, 5, 9, -1, -3, -5, -9]
STEPS = [None, 1, 2, 7, -1, -2, -7, 2**62, -(2**63) + 1]


def number(t):
    """All of a tuple's length and items in one number."""
    s = len(t)
    for v in t:
        s = s * 10 + v
    return s


@pytest.mark.parametrize("step", STEPS)
def test_slices_of_tuples(step):
    lines = [
        f"    o[{k}] = number(t[{i if i is not None else ''}:{j if j is not None else ''}:{step or ''}])"
        for k, (i, j) in enumerate((i, j) for i in BOUNDS for j in BOUNDS)
    ]
    kernel = define("def kernel(o, t):\n" + "\n".join(lines) + "\n", number=number)
    run(kernel, (out(len(lines)), (1, 2, 3, 4, 5)))


def test_slices_of_an_empty_tuple():
    def kernel(o):
        o[0] = len(()[::-1]) + len(()[2:-1:3])

    run(kernel, (out(),))


def test_slices_as_values():
    def kernel(o, x):
        s = slice(1, 7, 2)
        o[s] = x[slice(3)]
        o[8] = s.start + s.stop * 10 + s.step * 100

    run(kernel, (out(), X))


def test_power_with_modulus():
    def kernel(o, b, e, m):
        o[0] = pow(b, e, m)
        o[1] = pow(b, e, -m)
        o[2] = pow(3, 5, 7) + pow(-2, 3, 5)
        o[3] = pow(b, 2)

    run(kernel, (out(4, np.int64), 12345, 678, 97))
    run(kernel, (out(4, np.int64), -7, 10**9, 2**61 - 1))


def test_changes_in_place():
    def kernel(o, x, m):
        o[1:3] += 1
        o[::2] *= x[:8]
        o[3:] -= o[3]
        part = o[8:]
        part /= 2
        o += m[0, 0]
        m[1:] += x[:4]
        m[:, 0] -= m[:, 1]
        m[...] *= -1
        operator.iadd(x, 2)
        x[0] += 1

    run(kernel, (np.linspace(0, 3, 16), X.copy(), np.arange(12, dtype=np.float64).reshape(3, 4)))


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_overlapping_views_of_equal_strides_read_before_they_write(dtype):
    def kernel(x, m):
        x[1:] += x[:-1]
        x[:-2] += x[2:]
        x[3:] = x[:-3]
        x[:-1] = x[1:]
        x[::-1][1:] += x[::-1][:-1]
        m[1:, 1:] += m[:-1, :-1]
        m[:-1] = m[1:]

    run(kernel, (np.arange(1, 20).astype(dtype), np.arange(20).reshape(4, 5).astype(dtype)))


def test_in_place_types_are_numpys():
    def kernel(i, u, f):
        i += 7
        u[1:] += 3
        u *= u
        f += i
        f[::2] **= 2
        i <<= 1

    run(kernel, (np.arange(8, dtype=np.int16), np.arange(250, 258).astype(np.uint8), X[:8].copy()))


@pytest.mark.parametrize(
    "change, code",
    [
        (lambda i, f: operator.iadd(i, 1.5), "PT303"),
        (lambda i, f: operator.iadd(i, f), "PT303"),
        (lambda i, f: operator.iand(f, 1), "PT204"),
        (lambda i, f: operator.iadd(i, (1, 2)), "PT304"),
        (lambda i, f: operator.imatmul(i, i), "PT204"),
        (lambda i, f: i + 1, "PT313"),
        (lambda i, f: -i, "PT313"),
        (lambda i, f: i == f, "PT313"),
        (lambda i, f: 1 in i, "PT313"),
        (lambda i, f: not i, "PT313"),
        (lambda i, f: (1,) + i, "PT313"),
    ],
)
def test_whole_array_arithmetic_is_an_error(change, code):
    def kernel(i, f):
        change(i, f)

    with pytest.raises(CompileError) as error:
        cuda.jit(kernel)[1, 1](np.zeros(4, np.int32), np.zeros(4, np.float32))
    assert error.value.code == code


@pytest.mark.parametrize("use", [lambda x: 1 in x, lambda x: 1 not in x])
def test_an_array_is_not_searched(use):
    def kernel(o, x):
        o[0] = use(x)

    with pytest.raises(CompileError, match=r"PT313(.*\n)+.*help: look at each element: any\(v == x for v in a\)"):
        cuda.jit(kernel)[1, 1](np.zeros(1), np.zeros(4))


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: x > 1, lambda x: not x])
def test_an_array_of_one_element_is_told_from_a_number(use):
    def kernel(o, x):
        o[0] = use(x)

    with pytest.raises(CompileError, match=r"PT313(.*\n)+.*one element, x\[\(\)\]; as an argument pass x\.item\(\)"):
        cuda.jit(kernel)[1, 1](np.zeros(4), np.array(3.0))


def test_extent_functions():
    def kernel(o, m, a):
        o[0] = np.ndim(m) + np.size(m) * 10 + np.shape(m)[1] * 100
        o[1] = np.ndim(a) + np.size(a) + len(np.shape(a))

    run(kernel, (out(), np.zeros((2, 3)), np.int32(4)))


def test_operator_in_place_functions_of_numbers():
    def kernel(o, a, b):
        o[0] = operator.iadd(a, b) + operator.isub(a, b) + operator.imul(a, b) + operator.itruediv(a, b)
        o[1] = operator.ifloordiv(a, b) + operator.imod(a, b) + operator.ipow(a, b)
        o[2] = operator.iand(a, b) + operator.ior(a, b) + operator.ixor(a, b)
        o[3] = operator.ilshift(a, b) + operator.irshift(a, b)

    run(kernel, (out(), 13, 3))


def test_math_of_several_arguments():
    def kernel(o, a, b, c, f):
        o[0] = math.gcd() + math.gcd(a) + math.gcd(a, b) + math.gcd(a, b, c)
        o[1] = math.lcm() + math.lcm(a) + math.lcm(a, b, c)
        o[2] = math.hypot(3.0, 4.0) + math.hypot() + math.hypot(-2.0)
        o[3] = math.hypot(f)

    run(kernel, (out(), 12, -18, 8, np.float32(-2.5)))


def test_hypot_of_three():
    # Two roundings of at most 1 ulp each against CPython's, which rounds once.
    def kernel(o):
        o[0] = math.hypot(1.0, 2.0, 3.0)
        o[1] = math.hypot(1e200, 2e200, 3e200)

    run(kernel, (out(),), ulps=3)


def test_huge_unsigned_slice_bounds_are_clipped():
    def kernel(o, x, u):
        o[0] = x[:u].size
        o[1] = x[u:].size
        o[2] = x[2:u:3].size
        for k in range(1, 3):
            o[2 + k] = x[1:u:k].size

    run(kernel, (out(), X, np.uint64(2**63 + 5)))
    run(kernel, (out(), X, np.uint64(7)))
