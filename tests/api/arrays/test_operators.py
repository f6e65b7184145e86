"""Operators and ufuncs of device arrays beside NumPy's, on the same arrays.

+ - * // %, comparisons, bit operations and conversions are equal to the bit. Functions are within the sum of the errors that
docs/guide/accuracy.md states for them and that NumPy's own may have, 4 ulps; products of complex numbers within the rounding of their parts.
"""

import operator
import warnings

import numpy as np
import pytest
from pyptx import cuda

REAL = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
DTYPES = [*REAL, "F", "D"]
PAIRS = [("?", "i1"), ("i1", "u1"), ("i2", "f2"), ("u8", "i8"), ("u4", "f4"), ("f2", "i4"), ("i8", "F"), ("f4", "D"), ("u1", "?"), ("i4", "f4"),
         ("f2", "f4"), ("F", "f8"), ("u2", "i2"), ("i8", "f4")]


def host(x):
    return x.copy_to_host() if isinstance(x, cuda.DeviceNDArray) else x


def same(got, want):
    got, want = host(got), np.asarray(want)
    assert np.asarray(got).dtype == want.dtype and np.shape(got) == want.shape
    np.testing.assert_array_equal(got, want)


def numbers(dtype, n=40, seed=0):
    """Of all sizes, with those at the ends of the type."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
        x[:6] = 0, 1, limits.max, limits.min, limits.max - 1, 3
        return rng.permutation(x)
    x = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n)
    if dtype.kind == "c":
        x = x + 1j * rng.normal(size=n)
    else:
        x[:6] = 0.0, -0.0, np.nan, np.inf, -np.inf, 1.0
    return rng.permutation(x).astype(dtype)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")  # no advice: all of it runs on the device
        warnings.filterwarnings("ignore", "The 'generic' unit", DeprecationWarning)  # NumPy 2.5 says it of dates + 5
        yield


def apart(got, want):
    """How many ulps of `want` they differ by at most."""
    got, want = host(got), np.asarray(want)
    assert got.dtype == want.dtype and (np.isnan(got) == np.isnan(want)).all()
    finite = np.isfinite(want)
    assert (got[~finite & ~np.isnan(want)] == want[~finite & ~np.isnan(want)]).all()
    gap = np.abs(got[finite].astype(np.float64) - want[finite]) / np.spacing(np.abs(want[finite])).astype(np.float64)
    return gap.max(initial=0)


OPERATORS = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.lt, operator.eq, operator.and_]


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_to_the_bit(dtype):
    """What NumPy refuses is refused with its words."""
    x, y = numbers(dtype), numbers(dtype, seed=1)
    a, b = cuda.to_device(x), cuda.to_device(y)
    for op in OPERATORS:
        if op is operator.mul and x.dtype.kind == "c":
            continue
        try:
            want = op(x, y)
        except TypeError as error:
            with pytest.raises(TypeError) as caught:
                op(a, b)
            assert str(caught.value) == str(error)
            continue
        same(op(a, b), want)


@pytest.mark.parametrize("a, b", PAIRS)
def test_promotion(a, b):
    x, y = numbers(a), numbers(b)
    op = OPERATORS[PAIRS.index((a, b)) % 2 * 5]  # + and <
    same(op(cuda.to_device(x[:30]), cuda.to_device(y[:30])), op(x[:30], y[:30]))


@pytest.mark.parametrize("number", [True, 3, 2.5, 1j, np.float32(2), np.int16(-3), np.float64(0.5), np.True_], ids=repr)
def test_numbers(number):
    """NEP 50: Python's numbers are weak, NumPy's are not."""
    for dtype in ("?", "u1", "f2", "F"):
        x = numbers(dtype)
        a = cuda.to_device(x)
        same(a + number, x + number)
        same(number + a, number + x)


def test_a_number_out_of_range():
    for dtype in ("u1", "i8"):
        x = numbers(dtype)
        a = cuda.to_device(x)
        a + 1  # leaves a plan, which 2**70 does not fit
        for number in (2**70, -(2**70)):
            with pytest.raises(OverflowError):
                a + number
            a < 3
            same(a < number, x < number)
            same(a != number, x != number)


def test_complex_products():
    """Each part is a sum of two products, whose roundings may be NumPy's or those of a fused
    multiply-add."""
    for dtype in "FD":
        x, y = numbers(dtype), numbers(dtype, seed=1)
        got, eps = host(cuda.to_device(x) * y), np.finfo(dtype).eps
        assert (np.abs(got.real - (x * y).real) <= 2 * eps * (np.abs(x.real * y.real) + np.abs(x.imag * y.imag))).all()
        assert (np.abs(got.imag - (x * y).imag) <= 2 * eps * (np.abs(x.real * y.imag) + np.abs(x.imag * y.real))).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_functions(dtype):
    x = numbers(dtype)
    a, tolerance = cuda.to_device(x), 4
    for f in (np.sin, np.exp, np.log, np.tanh):
        assert apart(f(a), f(x)) <= tolerance
    assert apart(a / x[::-1], x / x[::-1]) == 0 and apart(np.sqrt(a), np.sqrt(x)) == 0
    assert apart(abs(a) ** a, abs(x) ** x) <= tolerance
    for power in (2, 1, -1, 3.0):
        assert apart(a**power, x**power) <= tolerance
    positive = abs(x)  # NumPy's versions differ in roots of -0.0 and -inf as powers
    assert apart(cuda.to_device(positive) ** 0.5, positive**0.5) <= tolerance


def test_unary_and_others():
    x = np.arange(-6, 6, dtype=np.int16).reshape(3, 4)
    a = cuda.to_device(x)
    for op in (operator.neg, operator.pos, operator.abs, operator.invert):
        same(op(a), op(x))
    same(a << 2, x << 2), same(a >> 1, x >> 1), same(a ^ 5, x ^ 5), same(5 | a, 5 | x), same(2 - a, 2 - x), same(7 // a, 7 // x)
    same(a**2, x**2), same(abs(a) ** abs(a).T[:4, :1].T, abs(x) ** abs(x).T[:4, :1].T)
    for got, want in zip(divmod(a, 4), divmod(x, 4)):
        same(got, want)
    with pytest.raises(ValueError, match="negative integer powers"):
        a**-2
    same((-1) ** abs(a), (-1) ** abs(x)), same(np.int16(-3) ** abs(a), np.int16(-3) ** abs(x)), same((a > 0) ** 2, (x > 0) ** 2)
    with pytest.raises(TypeError, match="no operator @"):
        a @ a


def test_dates():
    x = np.array(["2020-01-01", "NaT", "1999-12-31"], "M8[s]")
    y = x.astype("M8[D]")
    a, b = cuda.to_device(x), cuda.to_device(y)
    same(a - b, x - y), same(a + np.timedelta64(1, "D"), x + np.timedelta64(1, "D")), same(a + 5, x + 5), same(a < b, x < y)
    same((a - b) * 2.5, (x - y) * 2.5), same(np.isnat(a), np.isnat(x))
    assert a.min() == x.min() or np.isnat(a.min()) and np.isnat(x.min())
    for other in (3, 2.5, np.arange(3), [1.5, 2, 3], np.array([[1], [2]])):  # of what has no order with dates: all different
        same(a == other, x == other), same(a != other, x != other), same(other == a, other == x)
        with pytest.raises(TypeError):
            np.equal(a, np.array([1.5]))
    with pytest.raises(TypeError, match="cannot use operands"):
        a + a


def test_broadcasting_and_layouts():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    a = cuda.to_device(x)
    same(a + a[:, :1], x + x[:, :1]), same(a[::-1, :, ::2] * a[0, :, ::2], x[::-1, :, ::2] * x[0, :, ::2]), same(a.T - 1, x.T - 1)
    f = cuda.to_device(np.asfortranarray(x[0]))
    assert (f + 1).flags["F_CONTIGUOUS"] and not (f + 1).flags["C_CONTIGUOUS"]
    same(a[:, :0] + 1, x[:, :0] + 1), same(cuda.to_device(np.float32(3)) + 1, np.asarray(np.float32(3) + 1))
    same(a + [1, 2, 3, 4], x + [1, 2, 3, 4]), same(x + a, x + x), same(np.ones(4) * a, np.ones(4) * x)
    with pytest.raises(ValueError, match="broadcast"):
        a + a[:, :2]


def test_in_place():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    a = b = cuda.to_device(x)
    for op in (operator.iadd, operator.imul, operator.isub, operator.ifloordiv, operator.imod, operator.ilshift, operator.ixor, operator.ipow):
        a, x = op(a, 2), op(x, 2)
        same(a, x)
    assert a is b
    a += a[0]
    x += x[0]
    a[1:] += a[:-1]  # which overlap
    x[1:] += x[:-1]
    same(a, x)
    for number in (2.5, 1j, np.float64(1)):
        with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output from dtype.*to dtype.'int32'. with casting rule 'same_kind'"):
            a += number
    with pytest.raises(ValueError, match="broadcast"):
        a[0] += a


def test_read_only_arrays():
    x = np.arange(3.0)
    x.flags.writeable = False
    with cuda.mapped(x) as a:
        with pytest.raises(ValueError, match="read-only"):
            a += 1
        same(a + 1, x + 1)


def test_masked_arrays_keep_their_mask():
    """There are no kernels for them: the host works on a copy."""
    m = np.ma.masked_array([1.0, 2, 3], [0, 1, 0])
    d = cuda.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for got in (d + m, np.add(d, m), m + d, d * m + 1):
            assert isinstance(got, np.ma.MaskedArray) and got.tolist() == [2, None, 4]
        assert (d < m).tolist() == [False, None, True]


def test_truth_hash_and_membership():
    a, b = cuda.arange(3), cuda.arange(3)
    for several in (a, a == b):
        with pytest.raises(ValueError, match="more than one element is ambiguous"):
            bool(several)
    with pytest.raises(ValueError, match="empty array is ambiguous"):
        bool(a[:0])
    assert bool(a[1:2]) and not a[:1] and (a == b).all()
    assert hash(a) == hash(a) and len({a, b, a}) == 2 and {a: 1}[a] == 1
    assert a in [a, b] and [b, a].index(b) == 0 and 2 in a and 7 not in a and "x" not in a
    same(a == None, np.arange(3) == None), same(a != None, np.arange(3) != None), same(a == "x", np.full(3, False))  # noqa: E711
    assert (a == object()) is False and (a != object()) is True
    with pytest.raises(TypeError, match="not supported between"):
        a < object()
    with pytest.raises(TypeError, match="unsupported operand"):
        a + "x"


def test_python_numbers():
    a = cuda.to_device(np.float64(2.5))
    assert (float(a), int(a), complex(a)) == (2.5, 2, 2.5 + 0j) and type(float(a)) is float
    with pytest.raises(TypeError, match="only 0-dimensional"):
        float(cuda.arange(1))


def test_ufuncs_keywords():
    x = np.arange(6, dtype=np.int32)
    a, out = cuda.to_device(x), cuda.zeros(6, np.float64)
    assert np.add(a, 1, out=out) is out
    same(out, (x + 1).astype(float)), same(np.add(a, 1, dtype=np.float32), np.add(x, 1, dtype=np.float32))
    on_host = np.zeros(6)
    assert np.multiply(a, 2, out=on_host) is on_host
    same(on_host, x * 2.0)
    mask = x % 2 == 0
    for m in (mask, cuda.to_device(mask)):
        out = cuda.full(6, -1, np.int32)
        np.add(a, 10, out=out, where=m)
        same(out, np.where(mask, x + 10, -1).astype(np.int32))
    out = cuda.zeros(6, np.int8)
    same(np.add(a, 0.5, out=out, casting="unsafe"), np.arange(6, dtype=np.int8))
    with pytest.raises(TypeError, match="Cannot cast"):
        np.add(a, 0.5, out=out)
    assert np.add(a.reshape(2, 3), 1, order="F").flags["F_CONTIGUOUS"]
    with pytest.raises(ValueError, match="order must be one of"):
        np.add(a, 1, order="X")
    same(np.add.reduce(a), np.add.reduce(x)), same(np.maximum.reduce(a.reshape(2, 3)), np.maximum.reduce(x.reshape(2, 3)))
    with pytest.raises(TypeError):
        np.add(a, "x")
    for wrong in (3, [out], "x"):
        with pytest.raises(TypeError, match=f"return arrays must be arrays, not {type(wrong).__name__}"):
            np.add(a, 1, out=wrong)


def test_streams():
    stream, other = cuda.stream(), cuda.stream()
    x = np.arange(1000.0)
    a = cuda.to_device(x, stream=stream).bind(stream)
    b = a + 1
    assert b.stream is stream and np.sin(b).stream is stream and (b == b).stream is stream and (-b).stream is stream
    c = cuda.to_device(x).bind(other)
    same(b * c + cuda.to_device(x), (x + 1) * x + x)
    b += c
    assert b.stream is stream
    same(b, x + 1 + x)


def test_it_compiles_once():
    from pyptx._array_operators import device_ufunc

    a, ufunc = cuda.arange(10, dtype=np.int16), device_ufunc(np.hypot)
    np.hypot(a, a)
    loops, plans = len(ufunc._inferred), len(ufunc._plans)
    for _ in range(3):
        np.hypot(a, a), np.hypot(a + a, a)
    assert (len(ufunc._inferred), len(ufunc._plans)) == (loops, plans)


def test_graphs():
    """Kernels of operators can be recorded, if their arrays were made before; that of a slice too,
    whose assignment to itself copies nothing."""
    a = cuda.arange(6, dtype=np.float32)
    a[::2] += 1
    with cuda.graph() as g:
        a += 1
        a[::2] += 1
    before = host(a)
    g.launch()
    cuda.synchronize()
    before += 1
    before[::2] += 1
    same(a, before)


def test_arrays_of_another_device():
    """The result is on the device of the operands, whichever is the current one; two of them are
    refused."""
    here = cuda.arange(4)
    if here.device.is_host:
        pytest.skip("there is one device")
    with cuda.select_device("host"):
        there = cuda.arange(4)
    assert (there + 1).device is there.device and np.sin(there).device is there.device and there.sum() == 6
    assert cuda.zeros_like(there).device is there.device and cuda.get_current_device() is here.device
    for call in (lambda: here + there, lambda: np.add(here, there), lambda: np.where(here > 1, here, there)):
        with pytest.raises(ValueError, match="the arrays are on different devices"):
            call()
