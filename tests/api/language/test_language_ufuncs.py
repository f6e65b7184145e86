"""operator.*, NumPy's ufuncs on numbers and cuda's bit functions, each compared with itself on the host: values and result types.

A kernel stores each value, and a number computed from it that depends on its type (PROBES), where
Python numbers differ from NumPy's too. Functions of floats have the bounds of test_language_math;
all else is exact.
"""

import operator

import numpy as np
import pytest
from harness import FLOATS, INTS, STRONG, define, jit, pairs, run, same, specials
from pyptx import cuda
from test_language_math import ONE, TWO, bound
from test_ptx import assemble, ptx_of

FUNCTIONS = {  # by the name in math, which has the bound
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "fabs": "fabs", "deg2rad": "radians", "radians": "radians", "rad2deg": "degrees", "degrees": "degrees",
}  # fmt: skip
FUNCTIONS2 = {"arctan2": "atan2", "hypot": "hypot", "copysign": "copysign", "nextafter": "remainder"}
EXACT1 = [
    "rint", "floor", "ceil", "trunc", "absolute", "sign", "square", "reciprocal", "negative", "positive", "invert",
    "isnan", "isinf", "isfinite", "signbit", "logical_not", "spacing", "bitwise_count",
]  # fmt: skip
EXACT2 = [
    "heaviside", "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "minimum", "maximum", "fmin", "fmax",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
]  # fmt: skip
# The reference is NumPy's own function in float64: its error, up to 4 ulps of it, is added for float64.
NUMPYS_OWN = 4


def ulps_of(entry, dtype, device):
    """Bound of a function of float_loop(dtype). float16's is computed in float32, whose few ulps move a rounding by 1 at most."""
    if dtype in ("bool", "int8", "uint8", "float16"):
        return 1
    kind = "float32" if dtype in ("float32", "int16", "uint16") else "float64"
    return bound(entry, kind, device) + NUMPYS_OWN


def numpy_result(f, args):
    """f of each row as NumPy scalars; None where it has no loop."""
    with np.errstate(all="ignore"):
        try:
            values = [f(*row) for row in zip(*args)]
        except TypeError:
            return None
    return np.array(values, values[0].dtype)


PROBES = {"b": "~{r}", "i": "(({r} & 0) + e[0]) * 100 * 100 * 100 * 100", "f": "({r} * 0 + f[0]) / 3 + ({r} * 0 + 1) / 3"}


class Case:
    """f in a kernel against f here; zeros: their signs count."""

    def __init__(self, call, f, args, ulps=0, zeros=True):
        self.call, self.args, self.ulps, self.zeros = call, args, ulps, zeros
        self.want = want = numpy_result(f, args)
        self.probe = PROBES["b" if want is None or want.dtype.kind == "b" else "f" if want.dtype.kind == "f" else "i"]
        self.arrays = [*args, np.zeros(len(args[0]), "float64" if want is None else want.dtype), np.zeros(len(args[0]), np.float64)]

    def expression(self, k=""):
        return self.call.format(*(f"{n}{k}[i]" for n in ["x", "y"][: len(self.args)]))

    def names(self, k):
        return [f"{n}{k}" for n in [*["x", "y"][: len(self.args)], "out", "probe"]]

    def lines(self, k):
        return (f"    if i < x{k}.size:\n        r{k} = {self.expression(k)}\n        out{k}[i] = r{k}\n"
                f"        probe{k}[i] = {self.probe.format(r=f'r{k}')}\n")  # fmt: skip

    def verify(self, scope):
        out, probe, want = self.arrays[-2], self.arrays[-1], self.want
        right = same(out, want, self.ulps) if self.zeros else same(out + 0, want + 0, self.ulps)
        worst = int(np.argmin(right))
        assert right.all(), f"{self.expression()} of {[a[worst] for a in self.args]}: {out[worst]!r}, NumPy {want[worst]!r}"
        with np.errstate(all="ignore"):
            wanted = [eval(self.probe.format(r="r"), {"r": r, **scope}) for r in want]
        assert same(probe, np.array(wanted, np.float64)).all(), f"{self.expression()} is no {want.dtype}"


def check_all(cases):
    """Those that NumPy computes in one kernel: what a kernel takes to compile is more than what a function adds."""
    scope = {"e": np.array([100], np.int8), "f": np.array([1], np.float32)}

    def launch(cases):
        names = [name for k, case in enumerate(cases) for name in case.names(k)]
        lines = "".join(case.lines(k) for k, case in enumerate(cases))
        kernel = define(f"def kernel(e, f, {', '.join(names)}):\n    i = cuda.grid(1)\n{lines}", operator=operator)
        most = max(len(case.args[0]) for case in cases)
        jit(kernel, fma=False)[-(-most // 64), 64](*scope.values(), *(a for case in cases for a in case.arrays))
        cuda.synchronize()

    computed = [case for case in cases if case.want is not None]
    for case in cases:
        if case.want is None:
            with pytest.raises(TypeError):
                launch([case])
    if computed:
        launch(computed)
    for case in computed:
        case.verify(scope)


def check(*case, **more):
    check_all([Case(*case, **more)])


def groups(names, size=6):
    """Names, some at once, as a parameter of tests."""
    names = list(names)
    some = [names[k : k + size] for k in range(0, len(names), size)]
    return pytest.mark.parametrize("names", some, ids="-".join)


def function(name):
    return getattr(np, name)


@pytest.mark.parametrize("dtype", STRONG)
@groups(FUNCTIONS)
def test_functions(names, dtype, device):
    def case(name):
        entry = ONE[FUNCTIONS[name]]
        x = np.array([0, 1], dtype)
        if dtype in FLOATS:
            low, high = np.clip(entry[:2], -6e4, 6e4) if dtype == "float16" else entry[:2]
            x = np.concatenate([np.linspace(low, high, 200), [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(dtype)
        return Case(f"np.{name}({{}})", function(name), [x], ulps_of(entry, dtype, device))

    check_all(list(map(case, names)))


@pytest.mark.parametrize("types", [(a, b) for a in STRONG for b in ("int8", "int16", "int64", "float16", "float32")], ids="-".join)
def test_functions_of_two(types, device):
    x, y = pairs(*(specials(t, small=True) for t in types))
    ulps = {name: bound(TWO[entry], "float64", device) + NUMPYS_OWN for name, entry in FUNCTIONS2.items()}
    ulps.update(copysign=0, nextafter=0)
    check_all([Case(f"np.{name}({{}}, {{}})", function(name), [x, y], ulps[name]) for name in FUNCTIONS2])


@pytest.mark.parametrize("dtype", STRONG)
@groups(EXACT1)
def test_exact_functions(names, dtype):
    def case(name):
        x = specials(dtype)
        if name == "reciprocal" and dtype not in FLOATS:
            x = x[x != 0]  # NumPy's value depends on the machine
        return Case(f"np.{name}({{}})", function(name), [x])

    check_all(list(map(case, names)))


@pytest.mark.parametrize("dtypes", [(a, b) for a in STRONG for b in ("bool", "int32", "uint64", "float16", "float32")], ids="-".join)
@groups(EXACT2)
def test_exact_functions_of_two(names, dtypes):
    def case(name):
        x, y = pairs(*(specials(t, small=True) for t in dtypes))
        if name in ("remainder", "floor_divide", "fmod"):
            keep = np.isfinite(x.astype(float)) & np.isfinite(y.astype(float)) & (y != 0)
            x, y = x[keep], y[keep]
        return Case(f"np.{name}({{}}, {{}})", function(name), [x, y], zeros=name not in ("minimum", "maximum", "fmin", "fmax"))

    check_all(list(map(case, names)))


@pytest.mark.parametrize("dtypes", [(a, b) for a in STRONG[1:] for b in ("int32", "uint64")], ids="-".join)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors(name, dtypes):
    x, y = pairs(*(specials(t, small=True) for t in dtypes))
    check(f"np.{name}({{}}, {{}})", function(name), [x, y])


# log1p and exp within bound(): their errors, times the slope 1 or less of either, and one rounding; the result of 1-2 ulps of
# the larger operand where that is the larger number.
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_of_logarithms(name, dtype):
    values = [0.0, 1.5, -2.25, 30.0, 700.0, -700.0, np.inf, -np.inf, np.nan]
    x, y = pairs(np.array(values, dtype), np.array(values, dtype))
    check(f"np.{name}({{}}, {{}})", function(name), [x, y], 16)


@pytest.mark.parametrize("name, count", [("divmod", 2), ("modf", 1), ("frexp", 1)])
@pytest.mark.parametrize("dtype", ["int32", *FLOATS])
@pytest.mark.parametrize("part", [0, 1])
def test_functions_with_two_results(name, count, dtype, part):
    x = np.array([7, -7, 0, 12, 5], dtype) / (1 if dtype == "int32" else 4)
    y = np.array([2, 2, 3, -5, 5], dtype)
    args = [x.astype(dtype), y][:count]
    holes = ", ".join(["{}"] * count)
    check(f"np.{name}({holes})[{part}]", lambda *a: function(name)(*a)[part], args)


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS])
def test_ldexp(dtype):
    """Of every type of exponent; NumPy has none of uint64."""
    for exponent in INTS[:-1]:
        x, y = pairs(np.array([3, 0, 7], dtype), np.array([0, 5, 7, 120], exponent))
        check("np.ldexp({}, {})", np.ldexp, [x, y])


@pytest.mark.parametrize("exponent", INTS[:-1])
def test_ldexp_of_python_numbers(exponent):
    """A Python int has no say beside an exponent of NumPy's, a float has one."""
    y = np.array([0, 5, 7], exponent)
    for x in (3, 2.5):
        check(f"np.ldexp({x}, {{}})", lambda v: np.ldexp(x, v), [y])
        check(f"np.ldexp({x}, int({{}}))", lambda v: np.ldexp(x, int(v)), [y])


@pytest.mark.parametrize("module", ["math", "np"])
def test_ldexp_of_an_exponent_beyond_63_bits(module):
    """An infinity, as for any large exponent; 0 stays 0."""
    kernel = define(f"def kernel(e, out):\n    out[0] = {module}.ldexp(1.0, e[0])\n    out[1] = {module}.ldexp(0.0, e[0])\n    out[2] = {module}.ldexp(1.0, e[1])")
    out = np.zeros(3)
    cuda.jit(kernel)[1, 1](np.array([2**64 - 1, 10], np.uint64), out)
    cuda.synchronize()
    assert out.tolist() == [np.inf, 0.0, 1024.0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_nextafter_goes_to_the_other_zero(dtype):
    """C's, and NumPy's since 2.5; before, of float16, it gave x itself where the two are equal."""
    kernel = define("def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = np.nextafter(x[i], y[i])")
    x = np.array([0.0, -0.0, 0.0, -0.0, 1.0, np.inf], dtype)
    y = np.array([-0.0, 0.0, 0.0, -0.0, 1.0, np.inf], dtype)
    out = np.ones_like(x)
    cuda.jit(kernel)[1, 6](x, y, out)
    cuda.synchronize()
    assert out.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", ["int32", *FLOATS])
def test_float_power(dtype):
    # pow of the C library and of libdevice: at most 2 ulps, and NumPy's own 4.
    check("np.float_power({}, 1.5)", lambda x: np.float_power(x, 1.5), [np.array([0, 2, 9, 100], dtype)], 6)


@pytest.mark.parametrize("name", ["sqrt", "floor", "sign", "absolute", "square", "negative", "isnan", "logical_not"])
@pytest.mark.parametrize("value", [4, 2.25, -3])
def test_python_numbers_give_numpy_numbers(name, value):
    check(f"np.{name}({value})", lambda x: function(name)(value), [np.zeros(2, np.int8)])


@pytest.mark.parametrize("name", ["add", "arctan2", "maximum", "less", "bitwise_or", "divide", "fmod"])
@pytest.mark.parametrize("dtype", ["int16", "int64", "float32"])
@pytest.mark.parametrize("value", [3, 0.5])
def test_python_numbers_beside_others(name, dtype, value, device):
    x = np.array([1, 2, 7], dtype)
    check(f"np.{name}({{}}, {value})", lambda a: function(name)(a, value), [x], 8 if name == "arctan2" else 0)


OPERATORS2 = ["add", "sub", "mul", "truediv", "and_", "or_", "xor", "lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("dtype", STRONG)
@pytest.mark.parametrize("name", [*OPERATORS2, "floordiv", "mod", "pow"])
def test_operators_of_two(name, dtype):
    x = np.array([1, 0, 1, 1] if dtype == "bool" else [3, 7, 100, 5], dtype)
    y = np.array([1, 1, 1, 1] if dtype == "bool" else [2, 3, 1, 2], dtype)
    ulps = 4 if name == "pow" else 0
    check(f"operator.{name}({{}}, {{}})", getattr(operator, name), [x, y], ulps)


@pytest.mark.parametrize("dtype", STRONG)
@pytest.mark.parametrize("name", ["neg", "pos", "invert", "inv", "abs"])
def test_operators_of_one(name, dtype):
    check(f"operator.{name}({{}})", getattr(operator, name), [specials(dtype)])


def test_operators_of_objects():
    def kernel(x, out):
        t = (3, 5, 7)
        operator.setitem(out, 0, operator.getitem(x, 1))
        out[1] = operator.getitem(t, 2)
        out[2] = operator.index(x[0])
        out[3] = operator.contains(t, x[0])
        out[4] = operator.not_(x[0])
        out[5] = operator.truth(x[0])
        out[6] = operator.is_(None, None)
        out[7] = operator.is_not(t, None)

    x, out = np.array([5, 9]), np.zeros(8, np.int64)
    jit(kernel)[1, 1](x, out)
    cuda.synchronize()
    assert out.tolist() == [9, 7, 5, 1, 0, 1, 1, 1]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_bits(dtype):
    def kernel(x, out, reversed):
        i = cuda.grid(1)
        if i < x.size:
            cuda.nanosleep(10)
            out[0, i] = cuda.popc(x[i])
            out[1, i] = cuda.clz(x[i])
            out[2, i] = cuda.ffs(x[i])
            out[3, i] = cuda.selp(x[i] > 7, 1, -1)
            reversed[i] = cuda.brev(x[i])

    x = specials(dtype)
    bits = x.itemsize * 8
    texts = [format(int(v) % 2**bits, f"0{bits}b") for v in x]
    out, reversed = np.zeros((4, x.size), np.int64), np.zeros_like(x)
    jit(kernel)[1, 64](x, out, reversed)
    cuda.synchronize()
    assert out[0].tolist() == [t.count("1") for t in texts]
    assert out[1].tolist() == [bits - len(t.lstrip("0")) for t in texts]
    assert out[2].tolist() == [len(t) - t.rindex("1") if "1" in t else 0 for t in texts]
    assert out[3].tolist() == [1 if v > 7 else -1 for v in x]
    assert np.array_equal(reversed, np.array([int(t[::-1], 2) for t in texts], f"u{x.itemsize}").astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_fma_and_cbrt(dtype, device):
    def kernel(x, out):
        out[0] = cuda.fma(x[0], x[0], x[1])
        out[1] = cuda.cbrt(x[2])

    eps = np.finfo(dtype).eps
    x, out = np.array([1 + eps, -1 - 2 * eps, 27], dtype), np.zeros(2, dtype)
    jit(kernel)[1, 1](x, out)
    cuda.synchronize()
    assert out[0] == eps * eps and abs(out[1] - 3) <= 4 * eps


@pytest.mark.parametrize("name", ["popc", "brev", "clz", "ffs"])
def test_bits_of_what_is_no_integer_are_an_error(name):
    kernel = define(f"def kernel(x):\n    x[0] = cuda.{name}(x[0])\n")
    for dtype in (np.float32, np.bool_):
        with pytest.raises(TypeError, match="must be an integer"):
            jit(kernel)[1, 1](np.zeros(1, dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float16", "bfloat16", "float32", "float64"])
def test_these_assemble(dtype, tmp_path):
    calls = [f"np.{n}(x[0])" for n in EXACT1 if n not in ("invert", "bitwise_count") or "int" in dtype]
    calls += [f"np.{n}(x[0], x[1])" for n in ("minimum", "fmax", "add", "divide", "copysign", "logical_xor", "less")]
    if "int" in dtype:
        calls += [f"cuda.{n}(x[0])" for n in ("popc", "brev", "clz", "ffs")] + ["np.fmod(x[0], x[1])", "cuda.selp(x[0], 1, 2)"]
    else:
        calls += ["np.sqrt(x[0])", "np.rint(x[0])", "np.deg2rad(x[0])", "cuda.fma(x[0], x[1], x[0])"]
    lines = "".join(f"    out[{n}] = {c}\n" for n, c in enumerate(calls))
    kernel = define(f"def kernel(x, out):\n    cuda.nanosleep(x[1])\n{lines}" if "int" in dtype else f"def kernel(x, out):\n{lines}")
    for arch in ("sm_75", "sm_120"):
        ptx = ptx_of(kernel, f"{dtype}[:], float64[:]", arch)
        assert "nanosleep" in ptx or "float" in dtype
        assemble(ptx, arch, tmp_path)


def test_where_and_clip():
    def kernel(x, o, p, q):
        i = cuda.grid(1)
        o[i] = np.where(x[i] > 0, x[i], -1) + np.where(i > 3, i, 2.5)
        p[i] = np.clip(x[i], -1, 1) + np.clip(x[i], None, 2.5)
        q[i] = np.clip(np.int32(i) * 100, 150, 600) + np.clip(i, 2, None) + np.where(x[i] != x[i], np.int8(1), np.uint8(200))

    for dtype in ("float16", "float32", "float64"):
        x = np.array([0, -0.0, 1.5, np.inf, -np.inf, np.nan, -7, 3], dtype)
        run(kernel, [x, np.zeros(8), np.zeros(8), np.zeros(8, np.int64)], 1, 8)


@pytest.mark.parametrize("dtype", STRONG)
def test_types_of_where_and_clip(dtype):
    """The result is stored with a type that shows its own: 1 / 3 in it."""
    kernel = define("""
def kernel(x, o):
    o[0] = np.where(x[0] > 0, x[0], 2) / 3
    o[1] = np.where(x[0] > 0, x[0], 2.5) / 3
    o[2] = np.clip(x[0], 1, x[1]) / 3
    o[3] = np.where(x[0] > 0, x[0], np.float32(2)) / 3
""")
    run(kernel, [np.array([5, 9]).astype(dtype), np.zeros(4)])


# --- ufuncs of arrays, with an array for the results


def values(*shape, dtype="f8", seed=0):
    return (np.random.default_rng(seed).integers(-50, 50, shape) / 4).astype(dtype)


INTO = {  # statements, arguments a, b, c
    "one": ("np.negative(a, b)", lambda: [values(8), np.zeros(8)]),
    "two and out=": ("np.add(a, b, b)\n    np.multiply(a, 2.0, out=c)", lambda: [values(3, 4), values(3, 4, seed=1), np.zeros((3, 4))]),
    "broadcast": ("np.add(a, c, b)\n    np.minimum(a[:, :1], c, out=b)", lambda: [values(3, 4), np.zeros((3, 4)), values(4, seed=3)]),
    "numbers": ("np.add(2, 3.5, b)\n    np.subtract(b, a[3], c)", lambda: [values(8), np.zeros(8), np.zeros(8)]),
    "views": ("np.absolute(a[::2], b[1:5])\n    np.greater(a, 0, c)", lambda: [values(8), np.zeros(8), np.zeros(8, bool)]),
    "float32": ("np.power(a, 2, c)\n    np.floor(a, b)", lambda: [values(8, dtype="f4"), np.zeros(8, "f4"), np.zeros(8, "f4")]),
    "complex": ("np.conjugate(a, b)", lambda: [values(8) + 1j * values(8, seed=2), np.zeros(8, complex)]),
    "three axes": ("np.square(a, b)\n    np.add(b, a, b)", lambda: [values(2, 3, 4), np.zeros((2, 3, 4))]),
    "F order": ("np.square(a, b)", lambda: [np.asfortranarray(values(4, 6)), np.zeros((6, 4)).T]),
    "integers": ("np.bitwise_and(a, 7, b)", lambda: [np.arange(20), np.zeros(20, np.int64)]),
}


@pytest.mark.parametrize("name", INTO)
def test_into_an_array(name, tmp_path):
    statements, arguments = INTO[name]
    args = arguments()
    kernel = define(f"def kernel({', '.join('abc'[: len(args)])}):\n    {statements}\n")
    run(kernel, args)
    if name in ("one", "three axes"):
        assemble(ptx_of(kernel, "float64[:,:], float64[:,:]"), "sm_80", tmp_path)


def test_into_local_memory():
    def kernel(a, b):
        t = cuda.local.array(8, np.float64)
        np.multiply(a, a, t)
        b[cuda.grid(1)] = t[cuda.grid(1)]

    run(kernel, [values(8), np.zeros(8)], 1, 8)


@pytest.mark.parametrize("statement, error", [
    ("np.sqrt(a, n)", "cannot store float64"), ("np.sqrt(m, a)", "cannot assign a 2d"), ("np.bitwise_and(a, 1, a)", "& is not defined"),
    ("np.modf(a, a)", "takes 1 argument"), ("np.add(a, a)", "must be a number"), ("np.add(a, a, where=a)", "no parameter 'where'"),
])  # fmt: skip
def test_what_does_not_go_into_an_array(statement, error):
    kernel = jit(define(f"def kernel(a, n, m):\n    {statement}\n"))
    with pytest.raises(TypeError, match=error) as caught:
        kernel[1, 1](values(4), np.zeros(4, int), values(2, 4))
    assert caught.value.filename.startswith("<generated")  # the user's line


def test_shapes_that_do_not_broadcast():
    kernel = jit(define("def kernel(a, b):\n    np.negative(a, b)\n"), debug=True)
    with pytest.raises(ValueError, match="could not be broadcast"):
        kernel[1, 1](values(3), np.zeros(4))
        cuda.synchronize()


@pytest.mark.parametrize("expression, words", [
    ("np.where(x[0] > 0, 'a', 1)", r"numpy\.where: argument 2 \('x'\) must be a number"),
    ("np.clip(x[0], None, 'a')", r"numpy\.clip: argument 3 \('a_max'\) must be a number"),
    ("np.angle('a')", r"numpy\.angle: argument 1 \('z'\) must be a number"),
    ("round(x[0] * 1j)", r"round: argument 1 \('number'\) must be a real number"),
    ("round(x[0] * 1j, 2)", r"round: argument 1 \('number'\) must be a real number"),
])
def test_errors_name_the_argument_that_is_wrong(expression, words):
    with pytest.raises(TypeError, match=words):
        cuda.jit(define(f"def kernel(x):\n    x[0] = {expression}\n"))[1, 1](np.ones(1))
