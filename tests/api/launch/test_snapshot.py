"""What a kernel sees of the Python around it: globals, closures, defaults, modules, functions, NumPy's and users' objects.

Kernels are compiled for the device and run; the expected value is what the same Python expression gives on the host.
"""

import collections
import enum
import gc
import itertools
import math
import sys
import types
import weakref

import numpy as np
import pyptx
import pytest
from harness import define
from pyptx import cuda

COUNTER = itertools.count()


def evaluate(expression, body="", **scope):
    """The value of an expression in a kernel, stored in a float64; names in scope are its globals."""
    kernel = define(f"def kernel(out):\n    {body or 'pass'}\n    out[0] = {expression}\n", **scope)
    out = np.zeros(1)
    cuda.jit(kernel)[1, 1](out)
    cuda.synchronize()
    return out[0]


def same(expression, **scope):
    host = eval(expression, {"math": math, "np": np, **scope})
    assert evaluate(expression, **scope) == float(host), expression


class Color(enum.IntEnum):
    RED = 3
    BLUE = 5


class Mode(enum.Enum):
    FAST = 2
    EXACT = 7


class Config:
    N = 12
    SCALE = np.float32(0.5)


Point = collections.namedtuple("Point", "x y")


# --- constants -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 1, -1, True, 2**62, -(2**63), 2.5, -0.0, 1e300, np.int8(-3), np.uint8(200), np.int64(-(2**40)), np.uint64(7),
                                   np.float32(0.1), np.float64(0.1), np.bool_(True)], ids=repr)
def test_numbers(value):
    same("N + 0", N=value)


def test_numpy_scalars_are_strong_and_python_s_weak():
    # 200 + 100 wraps in uint8 and does not in Python.
    assert evaluate("N + M", N=np.uint8(200), M=np.uint8(100)) == 44
    assert evaluate("N + M", N=200, M=100) == 300
    assert evaluate("x * N", body="x = np.float32(0.1)", N=3.0) == float(np.float32(0.1) * np.float32(3))


def test_unsigned_64_bits():
    assert evaluate("N > 5", N=np.uint64(2**63 + 1)) == 1


@pytest.mark.parametrize("expression, scope", [
    ("T[0] + T[1] * T[-1]", {"T": (2, 3.5, 4)}),
    ("len(T)", {"T": (1,) * 50}),
    ("T[1][0][0]", {"T": (1, ((2,), 3))}),
    ("P.x * 10 + P.y", {"P": Point(3, 4)}),
    ("P[1]", {"P": Point(3, 4)}),
    ("C.RED + C.BLUE * 10", {"C": Color}),
    ("E + 1", {"E": Color.BLUE}),
    ("M + 1", {"M": 4}),
    ("G.N * G.SCALE", {"G": Config}),
    ("S.a + S.b", {"S": types.SimpleNamespace(a=1, b=2.5)}),
], ids=str)
def test_compound_constants(expression, scope):
    same(expression, **scope)


def test_enum_members_have_their_values():
    assert evaluate("E.value + 1", E=Mode.EXACT) == 8
    assert evaluate("M.FAST.value * 10", M=Mode) == 20


def test_strings_compare():
    assert evaluate("1 if MODE == 'fast' else 2", MODE="fast") == 1
    assert evaluate("1 if MODE == 'fast' else 2", MODE="slow") == 2


def test_membership():
    assert evaluate("1 if 3 in {1, 2, 3} else 0") == 1
    assert evaluate("1 if N in (1, 2) else 0", N=3) == 0


def test_large_tuples_compile_or_are_refused_clearly():
    big = tuple(range(1000))
    assert evaluate("BIG[7] + len(BIG)", BIG=big) == 1007
    huge = tuple(range(100_000))
    try:
        assert evaluate("HUGE[99_999]", HUGE=huge) == 99_999
    except pyptx.CompileError as error:
        assert "tuple" in str(error)


def test_deep_tuples():
    deep = (1,)
    for _ in range(5000):
        deep = (deep,)
    with pytest.raises(pyptx.CompileError):
        evaluate("DEEP + 1", DEEP=deep)


def test_tuples_that_contain_themselves_do_not_hang():
    holder = []
    loop = (1, holder)
    holder.append(loop)
    assert evaluate("LOOP[0]", LOOP=loop) == 1


def test_huge_integers_are_refused():
    with pytest.raises((OverflowError, pyptx.CompileError)):
        evaluate("HUGE + 1", HUGE=10**5000)


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, {1, 2}, object(), b"ab", 3j, np.str_("text"), lambda: (yield), open, np.linalg],
                         ids=lambda v: type(v).__name__)
def test_what_cannot_be_used_is_a_compile_error(value):
    with pytest.raises(pyptx.CompileError):
        evaluate("VALUE + 1", VALUE=value)


# --- arrays and types ----------------------------------------------------------------------------------------------


def test_dtypes_of_all_spellings():
    for dtype in (np.float32, np.dtype("f4"), np.dtype(np.float32), pyptx.float32, pyptx.types.f4):
        kernel = define("""
def kernel(out):
    t = cuda.local.array(2, DTYPE)
    t[0] = 0.1
    out[0] = t[0]
""", DTYPE=dtype)
        out = np.zeros(1)
        cuda.jit(kernel)[1, 1](out)
        cuda.synchronize()
        assert out[0] == float(np.float32(0.1))


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "int64", "float32", "float64"])
def test_conversion_by_type_objects(name):
    want = float(np.array(100.7).astype(name))
    assert evaluate("T(100.7)", T=getattr(pyptx, name)) == want
    assert evaluate("T(100.7)", T=getattr(np, name)) == want


def test_constant_arrays():
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    for array in (table, table.T, table[::2, ::-1]):
        kernel = define("""
def kernel(out):
    t = cuda.const.array_like(TABLE)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            out[i, j] = t[i, j]
""", TABLE=array)
        out = np.zeros(array.shape)
        cuda.jit(kernel)[1, 1](out)
        cuda.synchronize()
        assert np.array_equal(out, array)


# --- functions -----------------------------------------------------------------------------------------------------


def test_functions_of_all_kinds():
    def plain(x):
        return x + 1

    @cuda.jit
    def jitted(x):
        return plain(x) * 2

    @cuda.jit(device=True)
    def device(x, k=10, *, scale=1):
        return (jitted(x) + k) * scale

    assert evaluate("f(1)", f=plain) == 2
    assert evaluate("f(1)", f=jitted) == 4
    assert evaluate("f(1)", f=device) == 14
    assert evaluate("f(1, 20, scale=2)", f=device) == 48
    assert evaluate("f(3)", f=lambda x: x * x) == 9


def test_functions_in_modules_and_namespaces():
    module = types.ModuleType("helpers_of_test")
    exec("def double(x):\n    return OFFSET + 2 * x\n\nOFFSET = 5\nN = 3\n", module.__dict__)
    inner = types.ModuleType("helpers_of_test.inner")
    inner.triple = lambda x: 3 * x
    module.inner = inner
    assert evaluate("m.double(m.N)", m=module) == 11
    assert evaluate("m.inner.triple(2)", m=module) == 6
    assert evaluate("ns.f(4)", ns=types.SimpleNamespace(f=lambda x: x - 1)) == 3


def test_static_methods_of_classes():
    class Functions:
        N = 4

        @staticmethod
        def square(x):
            return x * x

    assert evaluate("F.N", F=Functions) == 4
    assert evaluate("F.square(3)", F=Functions) == 9


def test_builtins_and_modules_under_other_names():
    assert evaluate("largest(2, 3)", largest=max) == 3
    assert evaluate("root(16.0)", root=math.sqrt) == 4
    assert evaluate("m.sqrt(25.0)", m=math) == 5
    assert evaluate("m.pi", m=math) == math.pi
    assert evaluate("g(1)", g=cuda.grid) == 0


def test_builtins_can_be_hidden():
    assert evaluate("len(3)", len=lambda x: x + 100) == 103


def test_closures():
    def make(k, f):
        def kernel(out):
            out[0] = f(k) + k

        return kernel

    out = np.zeros(1)
    for k in (3, 2.5, np.float32(1.5)):
        cuda.jit(make(k, lambda x: x * 2))[1, 1](out)
        cuda.synchronize()
        assert out[0] == 3 * k


def test_empty_cells_are_undefined():
    def make():
        def kernel(out):
            out[0] = later

        if out is None:
            later = 1
        return kernel

    out = np.zeros(1)
    with pytest.raises(NameError):
        cuda.jit(make())[1, 1](out)


def test_recursion_through_globals():
    kernel = define("""
def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)

def even(n):
    if n == 0:
        return 1
    return odd(n - 1)

def odd(n):
    if n == 0:
        return 0
    return even(n - 1)

def kernel(out, n):
    out[0] = gcd(n * 6, n * 4)
    out[1] = even(n)
""")
    out = np.zeros(2)
    cuda.jit(kernel)[1, 1](out, 7)
    cuda.synchronize()
    assert out.tolist() == [14, 0]


def test_inner_functions_see_globals():
    kernel = define("""
def kernel(out):
    def inner(x):
        return x * SCALE + helper(x)
    out[0] = inner(3)

def helper(x):
    return x + OFFSET

SCALE, OFFSET = 10, 100
""")
    out = np.zeros(1)
    cuda.jit(kernel)[1, 1](out)
    cuda.synchronize()
    assert out[0] == 133


def test_a_library_reached_by_accident_does_not_matter():
    """Attribute names that a module happens to have too are frozen, whatever they are."""
    kernel = define("""
def kernel(x, out):
    out[0] = x.size + x.shape[0] + math.sqrt(4.0) + np.float32(1)
""")
    out = np.zeros(1)
    cuda.jit(kernel)[1, 1](np.zeros(5), out)
    cuda.synchronize()
    assert out[0] == 13


def test_modules_are_not_asked_to_make_attributes():
    class Lazy(types.ModuleType):
        def __getattr__(self, name):
            raise AssertionError(f"asked for {name}")

    module = Lazy("lazy_module_of_test")
    module.N = 3
    assert evaluate("m.N + out.size", m=module) == 4
    with pytest.raises(AttributeError):
        evaluate("m.nothing", m=module)


# --- when ----------------------------------------------------------------------------------------------------------


def test_globals_are_frozen_at_the_first_compilation_of_a_signature():
    scope = {"N": 1}
    kernel = define("def kernel(out):\n    out[0] = N\n", **scope)
    jitted = cuda.jit(kernel)
    out = np.zeros(1)
    jitted[1, 1](out)
    kernel.__globals__["N"] = 2
    with pytest.warns(pyptx.Advice, match="PT816"):
        jitted[1, 1](out)
    cuda.synchronize()
    assert out[0] == 1
    other = np.zeros(1, np.int32)
    jitted[1, 1](other)
    cuda.synchronize()
    assert other[0] == 2


def test_names_may_be_defined_after_the_kernel():
    kernel = define("def kernel(out):\n    out[0] = helper(1)\n")
    jitted = cuda.jit(kernel)
    kernel.__globals__["helper"] = lambda x: x + 41
    out = np.zeros(1)
    jitted[1, 1](out)
    cuda.synchronize()
    assert out[0] == 42


def test_nothing_is_kept_alive():
    class Thing:
        pass

    thing = Thing()
    reference = weakref.ref(thing)
    kernel = define("def kernel(out):\n    out[0] = 1 if thing is None else 2\n", thing=thing)
    jitted = cuda.jit(kernel)
    try:
        jitted[1, 1](np.zeros(1))
    except pyptx.CompileError:
        pass
    kernel.__globals__.clear()
    del thing, kernel, jitted
    gc.collect()
    assert reference() is None


def test_no_reference_is_lost_or_leaked():
    table = np.arange(3.0)
    value = (1, 2.5, object())
    kernel = define("def helper(x):\n    return x + T[1]\n\ndef kernel(out):\n    out[0] = helper(1) + cuda.const.array_like(A)[1]\n", T=value, A=table)
    gc.collect()  # free-threaded CPython counts references to code there
    before = [sys.getrefcount(o) for o in (table, value, value[2], kernel.__code__)]
    for _ in range(20):
        cuda.jit(kernel)[1, 1](np.zeros(1))
    gc.collect()
    after = [sys.getrefcount(o) for o in (table, value, value[2], kernel.__code__)]
    assert [b - a for a, b in zip(before, after)] == [0] * 4
