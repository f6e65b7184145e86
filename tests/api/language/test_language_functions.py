"""Device functions and plain functions, closures, frozen globals."""

import math
import types

import numpy as np
import pytest
from harness import define, jit, run
from pyptx import cuda, float32

SCALE = 2.5
COUNT = 7
TABLE = (3, 1, 4, 1, 5)
STRONG = np.float32(0.1)
FLAG = True


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit(device=True)
def with_defaults(x, scale=2, offset=10):
    return x * scale + offset


@cuda.jit(device=True)
def several(x):
    return x + 1, x * 2, (x - 1, 0.5)


@cuda.jit(device=True)
def writes(a, i, v):
    a[i] = v


@cuda.jit(device=True)
def calls_others(x):
    a, b, (c, d) = several(square(x))
    return with_defaults(a, offset=b) + c + d


def plain(x, y=3):
    if x > y:
        return x
    return y


def keyword_only(x, *, factor=4, shift):
    return x * factor + shift


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def returns_on_some_paths(x):
    if x > 0:
        return x
    if x < -3:
        return 2 * x
    return 0


def nothing(x):
    x + 1


def position():
    return cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x


def var_positional(*values):
    return values[0] + values[-1] + len(values)


def x_values(dtype=np.int64, n=16):
    return np.arange(-5, n - 5).astype(dtype)


BODIES = {
    "device function": "square(x[i])",
    "of another type": "square(x[i] * 0.5)",
    "defaults": "with_defaults(x[i])",
    "positional over default": "with_defaults(x[i], 5)",
    "keyword": "with_defaults(x[i], offset=1)",
    "keywords in another order": "with_defaults(offset=1, scale=3, x=x[i])",
    "tuple": "several(x[i])[1] + several(x[i])[2][1]",
    "nested calls": "calls_others(x[i])",
    "plain function": "plain(x[i])",
    "plain function with default": "plain(x[i], y=0)",
    "keyword only": "keyword_only(x[i], shift=2)",
    "keyword only given": "keyword_only(x[i], shift=2, factor=x[i])",
    "gcd": "gcd(abs(x[i]), 12)",
    "several returns": "returns_on_some_paths(x[i])",
    "position": "position() * 2",
    "star parameters": "var_positional(x[i], 2, 3)",
    "star arguments": "with_defaults(*(x[i], 2))",
    "recursion": "factorial(abs(x[i]) % 7)",
    "double recursion": "fibonacci(abs(x[i]) % 10)",
    "mutual recursion": "even(abs(x[i]))",
    "global float": "SCALE * x[i]",
    "global int": "COUNT + x[i]",
    "global tuple": "TABLE[2] + TABLE[i % 5] + len(TABLE)",
    "global strong scalar": "STRONG * x[i]",
    "global bool": "1 if FLAG else x[i]",
    "math constants": "math.pi * x[i] + math.e",
    "comparison of functions' results": "plain(x[i]) == plain(x[i], 3)",
    "lambda": "(lambda v, w=2: v * w + x[i])(x[i])",
}


@pytest.mark.parametrize("name", BODIES)
def test_calls(name):
    kernel = define(
        f"""def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = {BODIES[name]}
""",
        **{k: v for k, v in globals().items() if not k.startswith("__")},
    )
    for dtype in (np.int64, np.int32, np.float64):
        run(kernel, [x_values(dtype), np.zeros(16)], 1, 16)


def test_function_that_returns_nothing():
    def kernel(x, out):
        i = cuda.grid(1)
        nothing(x[i])
        writes(out, i, x[i] * 2)

    run(kernel, [x_values(), np.zeros(16, np.int64)], 1, 16)


def test_function_writes_an_array_and_returns():
    def add_to(a, i, v=1):
        a[i] += v
        return a[i]

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = add_to(x, i) + add_to(x, i, 5)

    run(kernel, [x_values(), np.zeros(16, np.int64)], 1, 16)


def test_closures():
    def make(factor, table, function):
        def kernel(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = function(x[i]) * factor + table[1]

        return kernel

    for factor, table, function in (
        (2, (1, 2), square),
        (0.5, (1.5, 2.5), plain),
        (np.float32(3), (0, 0), square),
    ):
        run(make(factor, table, function), [x_values(), np.zeros(16)], 1, 16)


def test_nested_functions_call_captured_ones():
    """What has no storage, here a function without captures of its own, is captured beside parameters that have."""

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            double = lambda v: v * 2  # noqa: E731

            def shifted(v):
                return double(v) + i

            def both():
                return double(x[i]) - i

            out[i] = shifted(x[i]) * 100 + both() + (lambda q: double(1))(q=3.0)

    run(kernel, [x_values(), np.zeros(16, np.int64)], 1, 16)


def test_nested_function_captures():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            v = x[i]

            def scaled(k, offset=1):
                return v * k + offset

            out[i] = scaled(3) + scaled(2, offset=5)

    run(kernel, [x_values(), np.zeros(16, np.int64)], 1, 16)


def test_jit_function_called_from_a_kernel():
    @cuda.jit
    def helper(v):
        return v * 3

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = helper(x[i])

    run(kernel, [x_values(), np.zeros(16, np.int64)], 1, 16)


def test_globals_are_frozen_at_the_first_compilation():
    scope = {"FACTOR": 2}
    kernel = define(
        """def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * FACTOR
""",
        **scope,
    )
    compiled = jit(kernel)
    x, out = x_values(), np.zeros(16, np.int64)
    compiled[1, 16](x, out)
    kernel.__globals__["FACTOR"] = 100
    compiled[1, 16](x, out)
    cuda.synchronize()
    assert np.array_equal(out, x * 2)


def test_array_functions_of_several_shapes():
    def total(a):
        s = 0
        for i in range(len(a)):
            s += a[i]
        return s

    def kernel(x, y, out):
        out[0] = total(x)
        out[1] = total(y)
        out[2] = total((1, 2, 3))

    run(kernel, [x_values(), np.linspace(0, 1, 5), np.zeros(3)])


def test_functions_as_arguments_of_functions():
    def twice(f, v):
        return f(f(v))

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = twice(square, x[i]) + twice(plain, x[i])

    run(kernel, [x_values(), np.zeros(16, np.int64)], 1, 16)


def test_keyword_and_default_arguments_of_kernels():
    def kernel(x, out, scale=3, offset=0.5):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * scale + offset

    x = x_values()
    run(kernel, [x, np.zeros(16)], 1, 16)
    run(kernel, [x, np.zeros(16), 7], 1, 16)
    run(kernel, [x, np.zeros(16)], 1, 16, kwargs={"offset": 2})
    run(kernel, [x, np.zeros(16), 1], 1, 16, kwargs={"offset": np.float32(0.1)})


def test_deep_recursion_on_the_device():
    def depth(n):
        if n == 0:
            return 0
        return 1 + depth(n - 1)

    def kernel(out):
        out[0] = depth(100)

    run(kernel, [np.zeros(1, np.int64)])


def test_dtype_as_a_global():
    def kernel(out):
        tile = cuda.local.array(4, float32)
        tile[0] = 0.1
        out[0] = tile[0]

    run(kernel, [np.zeros(1)])


def test_math_imported_under_another_name():
    kernel = define("def kernel(out):\n    out[0] = m.sqrt(2.0) + sqrt(3.0)\n", m=math, sqrt=math.sqrt)
    out = np.zeros(1)
    jit(kernel)[1, 1](out)
    cuda.synchronize()
    assert out[0] == math.sqrt(2) + math.sqrt(3)


def test_a_captured_function_that_captures_nothing():
    """It has no storage, so it is not passed: the other parameters keep their places."""

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            one = lambda q: 1  # noqa: E731
            scaled = lambda q, r: one(q) + 2 * q + r  # noqa: E731
            out[i] = scaled(x[i], 10) + (lambda q: one(2))(x[i])

    run(kernel, [np.arange(5), np.zeros(5, np.int64)], 1, 8)


@pytest.mark.parametrize("argument", ["None", "lambda v: v * 2", "half"])
def test_recursion_passes_on_what_has_no_storage(argument):
    source = f"""
def half(v):
    return v / 2

def down(n, f):
    if n <= 0:
        return 1.0
    return down(n - 1, f) + (n if f is None else f(n))

def kernel(out):
    out[0] = down(3, {argument})
"""
    run(define(source), [np.zeros(1)])


# --- several functions of one code ---


def with_default(k):
    def f(x, d=k, *, e=10 * k):
        return x + d + e

    return f


def of_globals(f, **scope):
    """The same code with other globals, as a template is used in several modules."""
    return types.FunctionType(f.__code__, {"__builtins__": __builtins__, "cuda": cuda, **scope}, f.__name__)


def reads_globals(x):
    def inner(y):
        return y + OFFSET

    return inner(x) * 1000 + sum(OFFSET for k in range(3) if k < x)


ONE, TEN = with_default(1), with_default(10)
NEAR, FAR = of_globals(reads_globals, OFFSET=1), of_globals(reads_globals, OFFSET=5)


def test_functions_of_one_code_have_their_own_defaults_and_globals():
    adders = tuple(lambda x, k=k: x + k for k in range(3))

    def kernel(out):
        out[0], out[1] = ONE(0), TEN(0)
        out[2], out[3] = NEAR(2), FAR(2)
        out[4], out[5], out[6] = adders[0](0), adders[1](0), adders[2](0)
        out[7] = ONE is ONE and ONE is not TEN and ONE != TEN

    run(kernel, [np.zeros(8, np.int64)])


def test_a_function_that_is_one_of_several_of_one_code_is_an_error():
    def kernel(n, out):
        f = ONE if n > 3 else TEN
        out[0] = f(0)

    with pytest.raises(TypeError, match="PT220"):
        jit(kernel)[1, 1](4, np.zeros(1, np.int64))


# --- conditional expressions above what a call or a definition has on the stack ---


def first_and(*values, k, m=1):
    return values[0] + k * m


CONDITIONAL = [
    "first_and(*(n, 2), k=3 if n > 1 else 4)",
    "first_and(*(n, 2), k=3 if n > 1 else 4, m=n and 7)",
    "first_and(*(n, 2), k=(3 if n > 5 else 4) if n else (n or 1))",
    "first_and(*(2 if n else 3, n), *(n,), k=n or 5)",
    "(lambda x=1 if n else 2, *, k=3 if n > 1 else 4: x + k)()",
    "(lambda x=1, y=n or 2, *, k=3 if n > 1 else 4, m=n and 8: x + y + k * m + n)()",
    "sum((lambda x, *, k=q or n: x + k)(q) for q in range(3))",
]


@pytest.mark.parametrize("expression", CONDITIONAL)
def test_conditions_in_keywords_and_defaults(expression):
    kernel = define(
        f"def kernel(n, out):\n    out[0] = {expression}\n    for j in range(2):\n        out[1] += {expression}\n", first_and=first_and
    )
    for n in (0, 1, 7):
        run(kernel, [n, np.zeros(2, np.int64)])


def test_conditions_in_a_definition():
    def kernel(n, out):
        def f(x=1 if n else 2, *, k: int = 3 if n > 1 else 4) -> (int if n else float):
            return x + k * n

        out[0], out[1] = f(), f(5, k=6)

    for n in (0, 1, 7):
        run(kernel, [n, np.zeros(2, np.int64)])


def same(f):
    return f


def beside(f, x):
    return (x, f)


def applied(f, x):
    return f(x)


@pytest.mark.parametrize(
    "lines",
    [
        "g = lambda: v; f = same(g); v = 2; out[0] = f()",
        "g = lambda: v; t = beside(g, 1); v = 2; out[0] = t[1]()",
        "g = lambda: lambda: v; f = g(); v = 2; out[0] = f()",
        "g = lambda: v; f = same(*(g,)); v = 2; out[0] = f()",
        "g = lambda: v; h = lambda: g; f = same(h)(); v = 2; out[0] = f()",
    ],
)
def test_a_function_that_a_call_hands_back_keeps_its_variables(lines):
    """Python looks at the variable when the function is called; here its value was taken before, so it is an error."""
    source = "def kernel(out):\n    v = 1\n" + "".join(f"    {line}\n" for line in lines.split("; "))
    kernel = define(source, same=same, beside=beside)
    with pytest.raises(SyntaxError, match=r"(?s)PT120: variable 'v' is assigned after.*this call gives a function that uses 'v'"):
        cuda.jit(kernel)[1, 1](np.zeros(1))


def test_numbers_that_functions_made_are_no_functions():
    def kernel(out):
        v = 1
        g = lambda x: x * v
        y = applied(g, 3) + applied(*(g, 2))
        v = 2
        f = same(lambda x: x * 10)
        v += 5
        w = sum(v * k for k in range(3)) + max((v for k in range(2)), key=lambda x: x * v)
        v += 1
        out[0] = y + v + f(3) + w
        for n in range(3):
            out[0] += any(n > k for k in range(2))

    run(kernel, (np.zeros(1),))
