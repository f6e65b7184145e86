"""Variables that some path leaves unset: CPython, running the same function, says which reads raise. What raises there raises on the host device,
and on a GPU with debug=True, with the place, the path and the thread; on a GPU without it is zero. How it is warned of: test_advice.py."""

import collections
import enum
import os
import types

import numpy as np
import pyptx
import pytest
from pyptx import cuda

pytestmark = pytest.mark.filterwarnings("ignore::pyptx.Advice")
HOST = os.environ["PYPTX_DEVICE"] == "host"


Point = collections.namedtuple("Point", "x y")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def condition(a, n):
    if n > 0:
        x = 1
    a[0] = x


def two_conditions(a, n):
    if n > 0:
        f = a[1] * 2
    if n == 0:
        f = a[2]
    a[0] = f


def condition_before_a_loop(a, n):
    if n > 0:
        x = 1.5
    for i in range(3):
        x = x + i
    a[0] = x


def behind_a_loop(a, n):
    for i in range(n):
        last = a[i] + i
    a[0] = last
    a[1] = i


def behind_a_loop_that_runs(a, n):
    for i in range(3):
        last = a[i] + i
    a[0] = last + i


def first_turn(a, n):
    for i in range(3):
        if i >= n:
            a[i] = before
        before = a[i] + i


def while_loop(a, n):
    while n > 0:
        n -= 1
        x = n * 2
    a[0] = x


def loop_else(a, n):
    for i in range(4):
        if i == n:
            break
    else:
        x = 9
    a[0] = x


def deleted(a, n):
    x = a[1]
    if n > 0:
        del x
    a[0] = x


def deleted_parameter(a, n):
    m = n
    if m > 0:
        del n
    a[0] = n


def deleted_twice(a, n):
    x = 1
    if n > 0:
        del x
    del x
    a[0] = 1


def walrus(a, n):
    if n > 0 and (y := a[1]) > 0:
        a[0] = y
    a[2] = y


def match_capture(a, n):
    match (n, 5):
        case (1, z):
            a[1] = z
        case (2, _):
            z = 3
    a[0] = z


def statement_alone(a, n):
    if n > 0:
        x = 1
    x  # noqa: B018
    a[0] = 7


def copied(a, n):
    if n > 0:
        x = 1
    y = x
    a[0] = 7


def order_of_effects(a, n):
    if n > 0:
        x = 1
    a[0] = 5
    a[1] = (a[0] if n > 1 else 2) + x


def same_condition(a, n):
    i = cuda.grid(1)
    if i < n:
        x = a[i] + 1
    if i < n:
        a[i] = x


def same_words(a, n):
    if a[0] < n:
        x = a[1] + 1
    a[0] -= 1
    if a[0] < n:
        a[1] = x


def same_words_of_a_variable(a, n):
    m = n
    if m > 1:
        x = a[1]
    m += a[1] > 0
    if m > 1:
        a[0] = x


def contrary(a, n):
    if not n > 1:
        a[3] = 1
    else:
        x = a[1]
    if n > 1 and a[1] > 0:
        a[0] = x


def condition_of_the_turn_before(a, n):
    for i in range(3):
        c = i < n
        if c:
            a[i] = x
        if not c:
            x = a[i] + 4


def own_condition_in_a_loop(a, n):
    for i in range(3):
        c = i > n
        if c:
            x = a[i]
        if c:
            a[i] = x + 1
            del x


def tuples(a, n):
    if n > 0:
        t = (1, 2.5, (a[1], True))
    a[0] = t[0] + t[1] + t[2][0]


def arrays(a, n):
    if n > 0:
        b = a[1:]
    for v in b:
        a[0] += v


def none(a, n):
    if n > 0:
        x = None
    a[0] = x is None


def functions(a, n):
    if n > 0:
        f = lambda v: v + 1
    a[0] = f(a[1])


def functions_with_values(a, n):
    k = a[2]
    if n > 0:
        f = lambda v: v + k
    a[0] = f(a[1])


def complex_numbers(a, n):
    if n > 0:
        z = a[1] * 2j
    a[0] = z.imag


def weak_and_strong(a, n):
    if n > 1:
        x = 1
    elif n > 0:
        x = np.uint8(200)
    a[0] = np.int16(x)


def helper_that_is_called(a, n):
    def inner(n):
        if n > 0:
            x = n
        return x

    a[0] = inner(n)


def captured(a, n):
    if n > 0:
        x = a[1]

    def f():
        return x + 1

    if n != 0:
        a[0] = f()


def captured_by_a_lambda_in_a_function(a, n):
    if n > 0:
        x = a[1]

    def f():
        return lambda v: x + v

    a[0] = f()(2)


def generator_expression(a, n):
    if n > 0:
        x = a[1]
    a[0] = sum(x * v for v in a[:n])


def generator_expression_read(a, n):
    if n > 1:
        x = a[1]
    a[0] = sum(x * v for v in a[:n])


def generator_expression_in_max(a, n):
    if n > 0:
        x = a[1]
    a[0] = max((x * v for v in a[: max(n, 0)]), default=9)


def condition_of_a_generator_expression(a, n):
    if n > 0:
        x = a[1]
    a[0] = sum(v for v in a if n > 0 and v > x)


def function_captured(a, n):
    if n > 0:
        g = lambda v: v + 1

    def f():
        return g(2)

    if n >= 0:
        a[0] = f()


def constants_captured(a, n):
    if n > 0:
        s = "abc"
        t = (1, 2)

    def f():
        return s == "abc" and t[0] == 1

    a[0] = f()


def default(a, n):
    if n > 0:
        d = a[1]

    def f(x=d):
        return x

    a[0] = f()


def starred(a, n):
    if n > 0:
        t = (1, a[1])

    def f(x, y):
        return x + y

    a[0] = f(*t)


def conditional_expression(a, n):
    if n > 0:
        x = a[1]
    a[0] = x if n > 0 else 7


def chained_comparison(a, n):
    if 2 > n > (y := 0):
        a[1] = 3
    a[0] = y


def named_tuple(a, n):
    if n > 0:
        p = Point(1, a[2])
    a[0] = p.y


def enum_member(a, n):
    if n > 0:
        c = Color.BLUE
    if c is Color.BLUE:
        a[0] = 5


def date(a, n):
    if n > 0:
        d = np.datetime64(5, "D")
    a[0] = (d - np.datetime64(1, "D")) / np.timedelta64(1, "D")


def range_object(a, n):
    if n > 0:
        r = range(3)
    for i in r:
        a[0] += i


def kind_of_number(a, n):
    if n > 0:
        t = np.float32
    a[0] = t(2.5)


def nested_loops(a, n):
    for i in range(n):
        for j in range(n):
            if j > 0:
                x = i + j
            else:
                continue
            y = x
    a[0] = x + y


def recursive(a, n):
    def f(k):
        if k > 0:
            x = k
        return x

    a[0] = f(n) + f(n - 1)


def chain(a, n):
    if n > 0:
        x = 1
    if n > 1:
        y = x
    if n > 2:
        z = y
    if n != 1:
        a[0] = z


def pair_of_a_branch(c, first):
    if c > 0:
        v = first
    else:
        w = first
    return (first, v)


def return_behind_branches(a, n):
    a[0] = pair_of_a_branch(n, 5)[1]


def three_of_a_branch(c, first):
    if c > 1:
        v = first
        w = c
    elif c > 0:
        w = first
    return first, w, v


def longer_return_behind_branches(a, n):
    a[0] = three_of_a_branch(n, 5)[1]


FUNCTIONS = [f for f in list(globals().values()) if isinstance(f, types.FunctionType) and f.__code__.co_varnames[:2] == ("a", "n")]


class FakeCuda:
    grid = staticmethod(lambda n: 0)


def reference(function, n):
    """(the array after it, or None) and the exception of CPython."""
    a = np.arange(5, dtype=np.float64)
    scope = {**function.__globals__, "cuda": FakeCuda}
    try:
        type(function)(function.__code__, scope)(a, np.int64(n))
    except NameError as e:
        return None, e
    return a, None


def launch(kernel, n):
    a = np.arange(5, dtype=np.float64)
    kernel[1, 1](a, np.int64(n))
    cuda.synchronize()
    return a


@pytest.mark.parametrize("typing", ["numpy", "numba"])
@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_reads_raise_where_cpython_raises(function, opt, typing):
    kernel = cuda.jit(function, opt=opt, typing=typing, debug=not HOST)
    for n in (-1, 0, 1, 2, 3):
        want, error = reference(function, n)
        if error is None:
            assert (launch(kernel, n) == want).all(), n
            continue
        with pytest.raises(type(error)) as caught:
            launch(kernel, n)
        assert str(error).splitlines()[0] in str(caught.value), n
        assert caught.value.thread == (0, 0, 0) and caught.value.block == (0, 0, 0)
        assert not isinstance(caught.value, pyptx.CompileError)
        at = error.__traceback__
        while at.tb_next:
            at = at.tb_next
        assert caught.value.lineno - at.tb_lineno in (0, 1)  # 3.11 names the line before, once it has made one instruction of two


def test_both_places_are_named():
    kernel = cuda.jit(condition_before_a_loop, debug=not HOST)
    first = condition_before_a_loop.__code__.co_firstlineno
    with pytest.raises(UnboundLocalError, match=f"not set on a path from the condition in line {first + 1}") as caught:
        launch(kernel, 0)
    assert caught.value.lineno == first + 4


def test_the_thread_is_named():
    @cuda.jit(debug=not HOST)
    def kernel(a):
        i = cuda.grid(1)
        if i != 37:
            x = a[i]
        cuda.syncthreads()
        a[i] = x + 1

    a = np.zeros(64)
    with pytest.raises(UnboundLocalError) as caught:
        kernel[2, 32](a)
        cuda.synchronize()
    assert caught.value.thread == (5, 0, 0) and caught.value.block == (1, 0, 0)


@pytest.mark.parametrize("n", [1, 31, 100, 1000])
def test_threads_that_set_it_under_one_condition_and_read_it_under_another(n):
    """As lanes of vectors: some set it, some do not; those that read it have it."""

    def body(x, out, n):
        i = cuda.grid(1)
        if i > 0:
            f = x[i - 1]
        if i == 0:
            f = 7.0
        if i % 3 == 1:
            g = f * 2
        if i < n:
            out[i] = f
        if i < n and i % 3 == 1:
            out[i] += g

    kernel = cuda.jit(body)
    x = np.arange(1024.0)
    out = np.zeros(1024)
    kernel[4, 256](x, out, n)
    cuda.synchronize()
    k = np.arange(1024)
    f = np.where(k > 0, k - 1.0, 7.0)
    assert (out == np.where(k < n, f + np.where(k % 3 == 1, f * 2, 0), 0)).all()


def test_what_no_path_sets_does_not_compile():
    def kernel(a, flag):
        if a.ndim > 1:
            x = 1
        a[0] = x

    with pytest.raises(pyptx.CompileError, match="PT201: variable 'x' is not set here: no path to this line sets it") as caught:
        cuda.jit(kernel)[1, 1](np.zeros(2), True)
    assert isinstance(caught.value, UnboundLocalError)


def test_a_value_without_a_type_is_pointed_at():
    def kernel(a, n):
        for i in range(n):
            if i > 0:
                a[i] = x
            x = x + 1

    with pytest.raises(pyptx.CompileError, match=r"'x' is set here, to what has no type without this"):
        cuda.jit(kernel)[1, 1](np.zeros(2), 1)


ZEROS = [condition, two_conditions, behind_a_loop, first_turn, while_loop, loop_else, deleted, deleted_parameter, walrus, match_capture, statement_alone,
         copied, tuples, arrays, complex_numbers, weak_and_strong, helper_that_is_called, captured, generator_expression_read, chain]  # fmt: skip


@pytest.mark.skipif(HOST, reason="the host device raises")
@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("typing", ["numpy", "numba"])
@pytest.mark.parametrize("function", ZEROS, ids=lambda f: f.__name__)
def test_a_gpu_has_zero_of_the_type(function, typing, opt):
    zeros = dict.fromkeys("x y z f last i before".split(), 0) | {"t": (0, 0.0, (0.0, False)), "b": np.zeros(0), "z": 0}
    source = rewritten(function)
    kernel = cuda.jit(function, typing=typing, opt=opt)
    for n in (-1, 0, 1, 2, 3):
        a = np.arange(5, dtype=np.float64)
        source(a, np.int64(n), zeros)
        assert (launch(kernel, n) == a).all(), n


def rewritten(function):
    """The function with every read of a local replaced by one that gives zeros[name] where it is unset."""
    import ast
    import inspect
    import textwrap

    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))}
    names |= {n.name for n in ast.walk(tree) if isinstance(n, ast.MatchAs) and n.name}
    names -= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}

    class Reads(ast.NodeTransformer):
        def visit_Name(self, node):
            if isinstance(node.ctx, ast.Load) and node.id in names and node.id in "x y z f last i before t b n".split():
                return ast.parse(f"_get(lambda: {node.id}, {node.id!r})", mode="eval").body
            return node

    tree = Reads().visit(tree)
    tree.body[0].args.args.append(ast.arg("zeros"))
    get = ast.parse("def _get(read, name):\n    try:\n        return read()\n    except NameError:\n        return zeros.get(name, 0)\n").body
    tree.body[0].body[:0] = get
    ast.fix_missing_locations(tree)
    scope = dict(function.__globals__)
    exec(compile(tree, "<zeros>", "exec"), scope)
    return scope[function.__name__]


def test_reads_that_are_known_to_be_set_cost_nothing():
    """No check, and no flag, where every path to the read sets the variable."""

    @cuda.jit("void(float64[::1], int64)")
    def kernel(a, n):
        i = cuda.grid(1)
        if i < n:
            x = a[i]
        for k in range(3):
            last = k
        if i < n:
            a[i] = x + last

    (text,) = kernel.inspect_types().values()
    assert "UnboundLocalError" not in text and not kernel.advice("void(float64[::1], int64)")
