"""Functions of device arrays beside NumPy's: new arrays, methods, reductions, np.FUNCTION(d), repr, and what runs on the host."""

import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pyptx
import pytest
from pyptx import cuda, errors
from test_operators import DTYPES, host, numbers, same


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error", pyptx.Advice)
        yield


# --- new arrays


def test_new_arrays():
    for dtype in ("?", "u1", "i8", "f2", "f8", "F", "M8[s]"):
        same(cuda.zeros((2, 3), dtype), np.zeros((2, 3), dtype))
        same(cuda.ones(4, dtype, "F"), np.ones(4, dtype))
    assert cuda.zeros(3).dtype == np.float64 and cuda.empty((2, 3), np.int16, "F").strides == (2, 4)
    same(cuda.full(3, 7), np.full(3, 7)), same(cuda.full((2, 2), 1.5, np.float32), np.full((2, 2), 1.5, np.float32))
    same(cuda.full((2, 3), np.arange(3)), np.full((2, 3), np.arange(3))), same(cuda.zeros(()), np.zeros(())), same(cuda.ones(0), np.ones(0))
    record = np.dtype([("x", "f4"), ("n", "i8")])
    same(cuda.zeros(3, record), np.zeros(3, record))
    same(cuda.zeros(2, "U3"), np.zeros(2, "U3"))
    with pytest.raises(OverflowError):
        cuda.full(3, 300, np.uint8)
    with pytest.raises(ValueError):
        cuda.zeros(-1)


def test_like():
    x = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
    for like in (x, cuda.to_device(x)):
        for make, numpy in ((cuda.zeros_like, np.zeros_like), (cuda.ones_like, np.ones_like)):
            same(make(like), numpy(x)), same(make(like, np.float32), numpy(x, np.float32)), same(make(like, shape=4), numpy(x, shape=4))
            assert make(like).strides == numpy(x).strides and make(like, order="C").strides == (6, 2)
        same(cuda.full_like(like, 3), np.full_like(x, 3))
        assert cuda.empty_like(like).shape == (2, 3)
    same(np.zeros_like(cuda.to_device(x)), np.zeros_like(x)), same(np.full_like(cuda.to_device(x), 2), np.full_like(x, 2))
    assert type(np.ones_like(cuda.to_device(x))) is cuda.DeviceNDArray


@pytest.mark.parametrize("arguments", [(5,), (2, 9), (9, 2, -2), (0, 1, 0.1), (0.5, 3, np.float32(0.3)), (3, 3), (True,), (10, 0), (1e6, 1e6 + 1, 0.1)], ids=repr)
def test_arange(arguments):
    for dtype in (None, "u8", "f2", "f4", "f8", "i4"):
        same(cuda.arange(*arguments, dtype=dtype), np.arange(*arguments, dtype=dtype))


def test_arange_of_others():
    day = np.timedelta64(1, "D")
    same(cuda.arange(np.datetime64("2020-01-01"), np.datetime64("2020-01-05"), day), np.arange(np.datetime64("2020-01-01"), np.datetime64("2020-01-05"), day))
    with pytest.raises(ZeroDivisionError):
        cuda.arange(0, 3, 0)
    for arguments in ((np.inf,), (0, 1, 1e-30), (0, np.nan)):
        with pytest.raises(ValueError, match="arange: "):
            cuda.arange(*arguments)


# --- methods


def test_astype():
    for a, b in itertools.product(DTYPES, DTYPES):
        if (DTYPES.index(a) + DTYPES.index(b)) % 7:  # a seventh of the pairs; the host has them all
            continue
        x = numbers(a)
        if x.dtype.kind in "fc":  # what NumPy leaves open: floats that the integers do not hold
            x = (np.nan_to_num(abs(x), posinf=1, neginf=0) % 100).astype(a)
        d = cuda.to_device(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            same(d.astype(b), x.astype(b))


def test_astype_keywords():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    d = cuda.to_device(x)
    assert d.astype(np.float32, copy=False) is d and d.astype(np.float32) is not d
    assert d.astype(int, order="F").flags["F_CONTIGUOUS"] and d.T.astype(int).flags["F_CONTIGUOUS"]
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        d.astype(np.int32, casting="safe")
    with pytest.warns(np.exceptions.ComplexWarning):
        (d * 1j).astype(float)
    dates = np.array(["2020-01-01", "NaT"], "M8[s]")
    same(cuda.to_device(dates).astype(np.int64), dates.astype(np.int64)), same(cuda.arange(3).astype("m8[s]"), np.arange(3).astype("m8[s]"))
    same(d[::-1, ::2].astype(np.int8), x[::-1, ::2].astype(np.int8))


def test_methods():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    d = cuda.to_device(x)
    same(d.copy(), x), same(d.T.copy(), x.T), same(d[:, ::2].copy(), x[:, ::2])
    c = d.copy()
    assert c.fill(7) is None and c is not d
    same(c, np.full_like(x, 7)), same(d, x)
    c[1:, ::2].fill(-1)
    assert host(c)[1, 0] == -1 and host(c)[1, 1] == 7
    for index in ((), (5,), (-1,), (1, 2), ((1, 2),)):
        if index:
            assert d.item(*index) == x.item(*index) and type(d.item(*index)) is int
    assert cuda.full(1, 2.5).item() == 2.5 and d.tolist() == x.tolist() and cuda.to_device(np.float32(3)).tolist() == 3.0
    for index, error in (((), ValueError), ((12,), IndexError), ((1, 2, 3), ValueError)):
        with pytest.raises(error):
            d.item(*index)
    same(d.get(), x), same(d.get(order="F"), x)
    out = np.empty_like(x)
    assert d.get(out=out) is out and (out == x).all()
    d.set(x * 2)
    same(d, x * 2)
    for wrong, error in ((x[:2], ValueError), (x * 1.0, TypeError)):
        with pytest.raises(error):
            d.set(wrong)


# --- reductions


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "any", "all"])
def test_reductions(name):
    """Sums of integers and the rest are equal; sums of floats have an error of at most n additions,
    each half an ulp of the sum of absolute values."""
    for dtype in ("i1", "f2", "F") if name == "sum" else ("u2", "f4"):
        x = numbers(dtype, 300).reshape(10, 30)[:, :24]
        if x.dtype.kind in "fc" and name in ("sum", "mean", "prod"):
            x = np.clip(np.nan_to_num(x.real, posinf=1, neginf=-1), -2, 2).astype(dtype)
        d = cuda.to_device(x)
        for keywords in ({}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}):
            got, want = host(getattr(d, name)(**keywords)), getattr(x, name)(**keywords)
            assert got.dtype == want.dtype and np.shape(got) == np.shape(want)
            if want.dtype.kind in "fc" and name in ("sum", "mean", "prod"):
                size = np.abs(x).astype(np.float64).sum(**keywords) / (x.size / want.size if name == "mean" else 1)
                bound = np.finfo(want.dtype).eps * x.size * (size if name != "prod" else np.abs(want))
                assert (np.abs(got - want) <= bound).all()
            else:
                np.testing.assert_array_equal(got, want)


def test_reductions_by_numpys_names():
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    d = cuda.to_device(x)
    for f in (np.sum, np.amin, np.any, np.count_nonzero):
        same(f(d), f(x))
    same(np.sum(d, dtype=np.float32), np.sum(x, dtype=np.float32)), same(np.sum(d, initial=10), np.sum(x, initial=10))
    out = cuda.zeros(4, np.int64)
    assert np.sum(d, axis=0, out=out) is out
    same(out, x.sum(axis=0)), same(d[:, ::-2].sum(axis=0), x[:, ::-2].sum(axis=0))
    assert type(d.sum()) is np.int64 and type(d.sum(axis=0)) is cuda.DeviceNDArray
    same(d[:0].sum(), x[:0].sum()), same(d[:0].sum(axis=0), x[:0].sum(axis=0)), same(d[:0].all(), x[:0].all())
    with pytest.raises(ValueError, match="zero-size array to reduction operation minimum"):
        d[:0].min()
    with pytest.raises(np.exceptions.AxisError):
        d.sum(axis=2)
    with pytest.raises(TypeError, match="out must be an array, not int"):
        d.sum(out=3)


def test_reductions_of_no_elements_have_the_dtype_asked_for():
    x = np.zeros((0, 3), np.int16)
    d = cuda.to_device(x)
    for f in (np.sum, np.prod, np.add.reduce):
        for axis in (0, 1, (0, 1)):
            same(f(d, axis=axis, dtype=np.float32), f(x, axis=axis, dtype=np.float32))
    same(np.mean(d, axis=1, dtype=np.float32), np.zeros(0, np.float32))
    with pytest.raises(ValueError, match=r"the result has the shape \(\), but out has \(1,\)"):
        np.sum(d, out=cuda.zeros(1, np.int64))


@pytest.mark.parametrize("axis", [0, -1, np.int8(0)])
def test_an_array_without_axes_has_a_last_one_for_reductions(axis):
    """As NumPy's have, but not for mean and tuples."""
    x = np.array(3, np.int16)
    d = cuda.to_device(x)
    for f in (np.sum, np.max, np.any, np.count_nonzero, np.add.reduce):
        same(f(d, axis=axis), f(x, axis=axis))
    for f, wrong in ((np.sum, 1), (np.sum, (0,)), (np.mean, axis)):
        for a in (d, x):
            with pytest.raises(np.exceptions.AxisError):
                f(a, axis=wrong)


def test_reduce_with_keywords_that_kernels_do_not_have():
    x = np.array([3, 0, 300], np.int16)
    with pytest.warns(pyptx.Advice, match=r"np\.maximum \(with dtype=\)"):
        same(np.maximum.reduce(cuda.to_device(x), dtype=np.int64), np.int64(300))
    for some in (x, x[:0]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(np.logical_or.reduce(cuda.to_device(some), initial=True), np.True_)
    with warnings.catch_warnings(), pytest.raises(TypeError, match=r"max\(\) got an unexpected keyword argument 'dtype'"):
        warnings.simplefilter("ignore")
        cuda.to_device(x).max(dtype=np.int64)


def test_it_is_compiled_once():
    from pyptx._array_functions import _kernels, sum_core

    cuda.arange(10, dtype=np.int8).sum()
    made = dict(_kernels[sum_core])
    cuda.arange(20, dtype=np.int8).sum()
    assert _kernels[sum_core] == made


# --- NumPy's functions


def test_functions_on_the_device():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    d = cuda.to_device(x)
    same(np.where(d > 5, d, 0), np.where(x > 5, x, 0)), same(np.where(x > 5, 1, d), np.where(x > 5, 1, x))
    same(np.clip(d, 2, 5), np.clip(x, 2, 5)), same(np.clip(d, None, 5), np.clip(x, None, 5)), same(np.copy(d), x)
    assert np.shape(d) == (3, 4) and np.ndim(d) == 2 and np.size(d) == 12 and np.size(d, 1) == 4 and not np.iscomplexobj(d)
    same(np.transpose(d), x.T), same(np.transpose(d, (1, 0)), x.T), same(np.squeeze(d[:1]), x[0]), same(np.real(d * 1j), (x * 1j).real)
    same(np.imag(d * 1j), (x * 1j).imag), same(np.imag(d), x.imag)
    assert np.result_type(d, np.float64) == np.float64 and np.can_cast(d, np.float64)
    np.copyto(d, 3)
    same(d, np.full_like(x, 3))
    with pytest.raises(TypeError, match="same_kind"):
        np.copyto(d, 1j)
    assert type(np.asarray(d)) is np.ndarray  # as in Numba


def said(function, *args, **keywords):
    """(its result, the advice that it gave)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **keywords)
    return result, [w for w in caught if w.category is pyptx.Advice]


def test_other_functions_run_on_the_host(monkeypatch):
    monkeypatch.setattr(errors, "_places", {})
    x = np.arange(6.0)
    d = cuda.to_device(x)
    result, advice = said(np.median, d)
    assert result == np.median(x) and [a.message.code for a in advice] == ["PT821"] and advice[0].filename == __file__
    assert str(advice[0].message).startswith("PT821: np.median of a device array runs on the host, on a copy\n  test_array_functions.py:")
    assert "help: d.copy_to_host()" in str(advice[0].message)
    assert said(np.median, d)[1] == []  # once
    result, advice = said(np.concatenate, [d, d])
    assert type(result) is np.ndarray and result.shape == (12,) and len(advice) == 1
    result, advice = said(np.linalg.norm, d)
    assert result == np.linalg.norm(x) and "np.linalg.norm of" in str(advice[0].message)
    quotient, advice = said(np.divmod, d, 2.0)
    np.testing.assert_array_equal(quotient, np.divmod(x, 2.0))
    result, advice = said(np.cumsum, d)
    np.testing.assert_array_equal(result, np.cumsum(x))


def test_what_the_host_writes_comes_back(monkeypatch):
    monkeypatch.setenv("PYPTX_ADVICE", "0")
    x = np.arange(6.0)
    d = cuda.to_device(x)
    out = cuda.zeros(6)
    assert np.cumsum(d, out=out) is out
    same(out, np.cumsum(x))
    np.put(d, [0, 1], -5), np.put(x, [0, 1], -5)
    same(d, x)
    np.add.at(d, [2, 2], 1), np.add.at(x, [2, 2], 1)
    same(d, x)
    fraction, whole = cuda.zeros(6), cuda.zeros(6)
    assert np.modf(d / 4, out=(fraction, whole))[1] is whole
    same(whole, np.modf(x / 4)[1])
    np.copyto(d, 0, where=x > 3), np.copyto(x, 0, where=x > 3)
    same(d, x)


def test_advice_as_an_error(monkeypatch):
    monkeypatch.setattr(errors, "_places", {})
    d = cuda.arange(3)
    monkeypatch.setenv("PYPTX_ADVICE", "error")
    for _ in range(2):
        with pytest.raises(pyptx.Advice, match="np.median"):
            np.median(d)
    monkeypatch.setenv("PYPTX_ADVICE", "0")
    assert said(np.median, d) == (1.0, [])


def test_types_that_kernels_do_not_have(monkeypatch):
    monkeypatch.setattr(errors, "_places", {})
    x = np.arange(3, dtype=np.longdouble)
    d = cuda.to_device(x)
    result, advice = said(lambda: d + 1)
    assert type(result) is np.ndarray and (result == x + 1).all() and "float128" in str(advice[0].message)
    result, advice = said(d.sum)
    assert result == 3 and len(advice) == 1
    result, advice = said(cuda.arange(3).astype, np.longdouble)
    assert type(result) is cuda.DeviceNDArray and (host(result) == x).all()
    assert (host(cuda.to_device(np.array(["a", "bc"]))) == ["a", "bc"]).all()


# --- repr


SHAPES = [(0,), (3,), (), (1000,), (1001,), (2, 3), (40, 40), (7, 200), (6, 300), (3, 4, 100), (2, 0, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_repr_is_numpys(shape):
    rng = np.random.default_rng(0)
    for dtype in ("f4", "i8", "?", "F"):
        x = np.asarray(rng.normal(size=shape) * 100).astype(dtype)
        text = repr(cuda.to_device(x))
        values = np.array2string(x, separator=", ", prefix="DeviceArray(") if x.size else "[]"
        assert text.startswith(f"DeviceArray({values},") and f"shape={shape}, dtype={x.dtype.name}, device=" in text
    assert max(map(len, text.splitlines())) <= 90


def test_repr_copies_the_edges_alone():
    d = cuda.zeros((3000, 3000), np.int8)
    before = cuda.memory_info().live_bytes
    assert repr(d).count("...") == 7 and cuda.memory_info().live_bytes == before
    assert "values" not in repr(cuda.zeros((2,) * 10, np.int8)) and "shape (7, 7, 7, 7, 7, 7, 7)" in repr(cuda.zeros((7,) * 7, np.int8))


def test_repr_never_raises():
    d = cuda.to_device(np.arange(4, dtype=np.float32))
    with cuda.graph():
        assert repr(d).startswith("<pyptx device array, shape (4,), float32, on ")  # nothing can be copied here
    assert "dtype=datetime64[s]" in repr(cuda.zeros(2, "M8[s]")) and "abc" in repr(cuda.to_device(np.array(["abc"])))
    assert "on stream" not in repr(d.bind(cuda.stream())) and repr(cuda.to_device(np.zeros(2, [("x", "f4")]))).startswith("DeviceArray([(0.,), (0.,)]")


# --- values of other libraries


def named(name, module, **members):
    return type(name, (), {"__module__": module, **members})


def pandas_like(values):
    """What a kernel sees of a Series: an object with __array__ whose array is read-only."""
    values = values.copy()
    values.flags.writeable = False
    return named("Series", "pandas.core.series", __array__=lambda self, dtype=None, copy=None: values)()


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]


def test_series_and_data_arrays():
    x = np.arange(4.0)
    out = np.zeros(4)
    double[1, 4](pandas_like(x), out)
    same(out, 2 * x)
    with pytest.raises(ValueError, match=r"read-only: argument 2 \('out'\)\n  help: pandas shares the memory.*copy-on-write.*to_numpy\(copy=True\)"):
        double[1, 4](x, pandas_like(x))
    copies = named("Series", "pandas", __array__=lambda self, dtype=None, copy=None: x.copy())()
    with pytest.raises(ValueError, match="copy-on-write"):  # what is written would be lost
        double[1, 4](x, copies)
    for data in (np.zeros(4), cuda.zeros(4)):
        wrapped = named("DataArray", "xarray.core.dataarray", data=data)()
        double[1, 4](x, wrapped)
        same(data, 2 * x)
    loop = named("DataArray", "xarray", data=property(lambda self: self))()
    with pytest.raises(TypeError, match="it wraps itself"):
        double[1, 4](x, loop)
    with pytest.raises(ZeroDivisionError):
        double[1, 4](named("Series", "pandas", __array__=lambda self, dtype=None, copy=None: 1 // 0)(), out)


def test_pandas_leaves_operators_to_device_arrays():
    class Series:
        __pandas_priority__ = 3000

        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

        def __array_ufunc__(self, *args, **keywords):
            return NotImplemented

        def __add__(self, other):
            return NotImplemented if other.__pandas_priority__ > self.__pandas_priority__ else "pandas"

    same(Series() + cuda.arange(3), np.arange(3.0) * 2), same(cuda.arange(3) + Series(), np.arange(3.0) * 2)


def test_tracers():
    tracer = named("DynamicJaxprTracer", "jax._src.interpreters.partial_eval", __array__=None, aval=None)
    tracer = type("Traced", (named("Tracer", "jax._src.core", __dlpack__=lambda self: 1 // 0, aval=None),), {})()
    words = "a JAX tracer has no memory; call the kernel outside of jax.jit, or through jax.pure_callback or jax.ffi"
    for call in (lambda: double[1, 4](tracer, np.zeros(4)), lambda: cuda.as_cuda_array(tracer), lambda: cuda.arange(3) + tracer):
        with pytest.raises(TypeError, match=words):
            call()


@pytest.mark.parametrize("variables, threads", [({"OMP_NUM_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": " 2 , 4"}, 2), ({"OMP_NUM_THREADS": "5000"}, 1024),
                                                ({"OMP_NUM_THREADS": "3", "PYPTX_HOST_THREADS": "2"}, 2), ({"OMP_NUM_THREADS": "0"}, None),
                                                ({"OMP_NUM_THREADS": "many"}, None), ({"OMP_NUM_THREADS": "-4"}, None), ({"OMP_NUM_THREADS": "4x"}, None)])
def test_openmps_number_of_threads(variables, threads):
    code = "from pyptx import cuda; print(cuda.get_current_device().MULTIPROCESSOR_COUNT)"
    clean = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "PYPTX_HOST_THREADS")}

    def count(**more):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**clean, "PYPTX_DEVICE": "host", **more})
        return int(done.stdout)

    assert count(**variables) == (threads or count())
