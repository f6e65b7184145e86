"""datetime64 and timedelta64 in kernels and on the host side, against NumPy running the same function."""

import datetime

import numpy as np
import pytest
import pyptx
from harness import define, jit, run
from pyptx import _pyptx, cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of

NAT = np.timedelta64("NaT")
SCOPE = dict(
    START=np.datetime64("2020-01-01"),
    LEAP=np.datetime64("2000-02-29T12:34:56"),
    YEAR=np.datetime64("1969", "Y"),
    STEP=np.timedelta64(36, "h"),
    MONTH=np.timedelta64(5, "M"),
    PLAIN=np.timedelta64(7),
    NAT=NAT,
    NODATE=np.datetime64("NaT"),
    D=np.dtype("M8[D]"),
    MS=np.dtype("m8[ms]"),
)

# t, u: timedelta64[s] and timedelta64[25ms]; d, e: datetime64[s] and datetime64[D]; n, x: int64 and float64
EXPRESSIONS = [
    # one operand
    "-t",
    "+t",
    "abs(t)",
    "np.absolute(u)",
    "np.negative(u)",
    *(["np.sign(t)"] if np.sign(np.timedelta64(1, "s")).dtype.kind == "m" else []),  # a float64 from NumPy 2.5 on
    "bool(t)",
    "bool(d)",
    "not t",
    "np.isnat(t)",
    "np.isnat(d)",
    "np.isnan(t)",
    "np.isfinite(e)",
    "np.isinf(t)",
    # sums and differences
    "t + t",
    "t + u",
    "u - t",
    "d - e",
    "e - d",
    "d - d",
    "d + t",
    "t + e",
    "e - t",
    "e + STEP",
    "d + n",
    "5 + t",
    "5 - t",
    "n + e",
    "t - n",
    "t + np.uint64(5)",
    "t + True",
    "np.add(t, u)",
    "np.subtract(d, e)",
    "YEAR + MONTH",
    "YEAR - START",
    "YEAR + t",
    "LEAP - d",
    "PLAIN + t",
    "PLAIN + PLAIN",
    "PLAIN + d",
    "d - PLAIN",
    "t + NAT",
    "NODATE - d",
    "NODATE + t",
    # products and quotients
    "t * n",
    "3 * t",
    "t * x",
    "0.5 * t",
    "t * np.float32(2.5)",
    "t * np.uint64(5)",
    "t * np.int8(-3)",
    "t * True",
    "t * np.nan",
    "t / n",
    "t // n",
    "t // -2",
    "t / 2",
    "t / x",
    "t // x",
    "t / 0",
    "t / 0.0",
    "t / u",
    "t // u",
    "t % u",
    "u % t",
    "u // t",
    "t % STEP",
    "STEP % t",
    "t / t",
    "divmod(t, u)[0]",
    "divmod(t, u)[1]",
    "np.divmod(u, t)[1]",
    "np.remainder(t, u)",
    "np.floor_divide(t, u)",
    "np.divide(t, 7)",
    "np.multiply(7, t)",
    "MONTH / np.timedelta64(1, 'Y')",
    "MONTH % np.timedelta64(2, 'M')",
    # comparisons
    "t == u",
    "t != u",
    "t < u",
    "t <= u",
    "t > u",
    "t >= u",
    "t == t",
    "t != t",
    "t <= t",
    "d < e",
    "d == e",
    "d >= START",
    "START <= e",
    "YEAR < d",
    "d == d",
    "d != d",
    "t > 5",
    "t == 7",
    "n <= t",
    "t == 7.0",
    "t != 7.5",
    "d == 7",
    "d == t",
    "d != t",
    "t is None",
    "t == None",
    "np.less(t, u)",
    "np.equal(d, e)",
    "u in (t, t + 1)",
    "MONTH == np.timedelta64(1, 'Y')",
    "NODATE == NODATE",
    # the larger and the smaller one
    "np.minimum(t, u)",
    "np.maximum(t, u)",
    "np.fmin(t, u)",
    "np.fmax(t, u)",
    "np.minimum(d, e)",
    "np.fmax(d, e)",
    "np.maximum(NAT, t)",
    "np.fmin(NAT, t)",
    "min(t, t + 1)",
    "max(d, d - 1)",
    "min(d, START.astype('M8[s]'), LEAP)",
    # making and converting
    "np.timedelta64(5, 's')",
    "np.timedelta64(n, '25s')",
    "np.timedelta64(n, ('s', 25))",
    "np.timedelta64(5)",
    "np.timedelta64('NaT', 's')",
    "np.timedelta64(True, 'h')",
    "np.timedelta64(t, 'm')",
    "np.timedelta64(u, 's')",
    "np.timedelta64(t, '7ms')",
    "np.timedelta64(MONTH, 'Y')",
    "np.timedelta64(PLAIN, 'D')",
    "np.timedelta64(t)",
    "np.datetime64(7, 'D')",
    "np.datetime64('NaT')",
    "np.datetime64('NaT', 'D')",
    "np.datetime64(d, 'D')",
    "np.datetime64(d, 'W')",
    "np.datetime64(d, 'M')",
    "np.datetime64(d, 'Y')",
    "np.datetime64(d, '10Y')",
    "np.datetime64(e, '3M')",
    "np.datetime64(e, 'ns')",
    "np.datetime64(YEAR, 'M')",
    "np.datetime64(YEAR, 'h')",
    "n.astype('M8[M]').astype('M8[D]')",
    "n.astype('M8[7Y]').astype('M8[s]')",
    "np.datetime64(d)",
    "d.astype('datetime64[M]')",
    "d.astype('M8[D]')",
    "d.astype(D)",
    "d.astype(np.datetime64)",
    "d.astype(np.int64)",
    "t.astype('timedelta64[h]')",
    "t.astype(np.int32) if not np.isnat(t) else np.int32(0)",
    "t.astype(np.float32)",
    "t.astype(bool)",
    "n.astype('m8[s]')",
    "np.int32(5).astype('M8[D]')",
    "x.astype('m8[s]')",
    "x.astype('M8[25s]')",
    "t.itemsize",
    "isinstance(t, np.timedelta64)",
    "isinstance(t, np.datetime64)",
    # variables and functions
    "t if n > 0 else t + 1",
    "(t, d)[0]",
    "(t, t + 1, -t)[n % 3]",
    "later(d, t)",
    "later(d)",
    "total(t, 3)",
    "counted(t, 3)",
    "sum((t, u, t))",
    "t and t + 1",
]
PRELUDE = """
def later(d, t=STEP):
    return d + t

def total(t, n):
    all = t - t
    for _ in range(n):
        all += t
    return all

def counted(t, n):
    all = 0
    for _ in range(n):
        all += t
    return all

"""
SECONDS = [0, 1, -1, 7, -7, 3661, -86401, 951782400, 2**40, -(2**40), "NaT"]
OTHERS = [3, -3, "NaT", 0, 40, 5, -1000, 2**31, 7, 1, 2]


def values(kind, values):
    return np.array([np.iinfo("i8").min if v == "NaT" else v for v in values]).view(kind)


def arguments():
    """Values that meet each other and NaT in all pairs that matter; n is never 0 where it counts months."""
    return [
        values("m8[s]", SECONDS),
        values("m8[25ms]", OTHERS),
        values("M8[s]", SECONDS),
        values("M8[D]", [0, -1, "NaT", 59, 60, -719528, 11016, 100000, 365, -365, 18321]),
        np.array([1, -1, 2, 3, -3, 7, 5, 0, 600, -600, 4]),
        np.array([0.5, 2, -1.5, np.nan, np.inf, 1e300, 3, -3, 0.0, 1e-9, 7]),
    ]


def kernel_of(result):
    return define(f"{PRELUDE}\ndef kernel(ts, us, ds, es, ns, xs, out):\n    for i in range(out.size):\n        t = ts[i]; u = us[i]; d = ds[i]; e = es[i]; n = ns[i]; x = xs[i]\n        {result}\n", **SCOPE)


def dtype_of(expression):
    """The dtype of the result in NumPy."""
    t, u, d, e, n, x = (a[1] for a in arguments())
    scope = {**SCOPE, "np": np, "t": t, "u": u, "d": d, "e": e, "n": n, "x": x}
    exec(PRELUDE, scope)
    with np.errstate(all="ignore"):
        result = eval(expression, scope)
    return np.asarray(result).dtype, result


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression):
    dtype, _ = dtype_of(expression)
    with np.errstate(all="ignore"):
        run(kernel_of(f"out[i] = {expression}"), [*arguments(), np.zeros(len(SECONDS), dtype)])


def name_of(value):
    """A type as messages have it."""
    python = {bool: "a Python bool", int: "a Python int", float: "a Python float"}
    return python.get(type(value)) or repr(pyptx.from_dtype(np.asarray(value).dtype))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_type_of_expression(expression):
    """The value's type is NumPy's, with unit and multiple: an attribute that is not there says it."""
    _, result = dtype_of(expression)
    kernel = cuda.jit(kernel_of(f"({expression}).nope"))
    with pytest.raises(AttributeError) as caught:
        kernel[1, 1](*arguments(), np.zeros(1))
    weak = {"t.itemsize", "bool(t)", "bool(d)", "not t", "t is None", "t == None"}  # Python's own, as in Python
    want = name_of(result)
    assert want in str(caught.value) or (expression in weak | {"u in (t, t + 1)"} and "Python" in str(caught.value))


UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s", "7D", "10Y", "3M", "90m"]


@pytest.mark.parametrize("kind", ["m8", "M8"])
def test_common_units(kind):
    """The unit of a sum, and which pairs have none, as np.promote_types; units whose ratio overflows are an error in both."""
    for a in UNITS:
        for b in UNITS:
            x, y = np.zeros(1, f"{kind}[{a}]"), np.zeros(1, f"{kind}[{b}]")
            try:
                want = repr(pyptx.from_dtype(np.promote_types(x.dtype, y.dtype)))
            except (TypeError, OverflowError):
                want = None
            kernel = define("def kernel(x, y):\n    min(x[0], y[0]).nope\n")
            with pytest.raises((AttributeError, TypeError)) as caught:
                ptx_of(kernel, f"{pyptx.from_dtype(x.dtype)!r}[:], {pyptx.from_dtype(y.dtype)!r}[:]")
            if want:
                assert f"{want} has no attribute" in str(caught.value), (a, b)
            else:
                assert "have no common unit" in str(caught.value) or "is not defined for" in str(caught.value), (a, b)


def test_calendar():
    """Days and months of 4000 years, both ways, at the borders of months and of the eras of 400 years."""
    months = np.arange(-24000, 24000, dtype="i8").view("M8[M]")
    days = np.concatenate([months.astype("M8[D]"), months.astype("M8[D]") - 1, np.arange(-800000, 800000, 977).view("M8[D]")])

    def kernel(months, days, first, month, year):
        i = cuda.grid(1)
        if i < months.size:
            first[i] = months[i]
        if i < days.size:
            month[i] = np.datetime64(days[i], "M")
            year[i] = np.datetime64(days[i], "Y")

    first, month, year = np.zeros(months.size, "M8[D]"), np.zeros(days.size, "M8[M]"), np.zeros(days.size, "M8[Y]")
    cuda.jit(kernel)[(days.size + 255) // 256, 256](months, days, first, month, year)
    cuda.synchronize()
    assert (first == months.astype("M8[D]")).all()
    assert (month == days.astype("M8[M]")).all()
    assert (year == days.astype("M8[Y]")).all()


STATEMENTS = """
def kernel(t, d, sums, out):
    i = cuda.grid(1)
    last = START
    for k in range(d.size):
        if d[k] > last:
            last = d[k]
    local = cuda.local.array(3, MS)
    shared = cuda.shared.array(2, 'timedelta64[s]')
    for k in range(3):
        local[k] = t[k]
    shared[0] = local[0] + local[1]
    shared[1] = TABLE[1]
    local[:2] = shared
    sums[0] = shared[0]
    sums[1] = local[1]
    sums[2:4] = t[:2]
    sums[4:] = local[2]
    sums[1:3] += t[0]
    sums[2:4] *= 2
    sums[3:] //= 3
    out[0] = last
    out[1] = TABLE[0] + START
    out[2:] = (START, d[0])
    for v in t[::2]:
        out[0] += v
    pair = (last, t[1])
    out[1], step = pair
    out[1] += step
"""


def test_statements():
    table = np.array([90, 61], "m8[m]")
    args = [values("m8[s]", [90, -7, 11]), values("M8[h]", [3, 500000, "NaT"]), np.zeros(6, "m8[s]"), np.zeros(4, "M8[s]")]
    run(define(STATEMENTS, TABLE=table, **SCOPE), args)
    run(define(STATEMENTS, TABLE=table, **SCOPE), [args[0], args[1], np.zeros(12, "m8[s]")[::2], np.zeros((4, 2), "M8[s]")[:, 1]])


def test_scalars_tuples_and_defaults():
    def kernel(t, d, pair, out, more=np.timedelta64(3, "D")):
        out[0] = t
        out[1] = pair[0] + pair[1]
        out[2] = more
        out[3] = d - np.datetime64(0, "s")

    args = [np.timedelta64(90, "25s"), np.datetime64("2021-05-05T05:05"), (np.timedelta64(1, "m"), np.timedelta64("NaT", "s")), np.zeros(4, "m8[ms]")]
    run(kernel, args)
    run(kernel, [np.timedelta64("NaT"), np.datetime64("NaT"), (np.timedelta64(1), np.timedelta64(2, "s")), np.zeros(4, "m8[ms]"), np.timedelta64(1, "us")])


def test_shuffle_and_select():
    def kernel(t, out):
        i = cuda.grid(1)
        other = cuda.shfl_xor_sync(0xFFFFFFFF, t[i], 1)
        out[i] = cuda.selp(other > t[i], other, t[i])

    t, out = np.arange(32).view("m8[s]"), np.zeros(32, "m8[ms]")
    cuda.jit(kernel)[1, 32](t, out)
    cuda.synchronize()
    assert (out == np.maximum(t, t.reshape(16, 2)[:, ::-1].ravel())).all()


def test_constant_memory():
    table = np.array(["2020-02-29", "NaT"], "M8[D]")
    kernel = jit(define("def kernel(out):\n    fixed = cuda.const.array_like(TABLE)\n    i = cuda.grid(1)\n    out[i] = fixed[i] - fixed[0] + np.timedelta64(1)\n", TABLE=table))
    out = np.zeros(2, "m8[h]")
    kernel[1, 2](out)
    cuda.synchronize()
    assert out[0] == np.timedelta64(1, "D") and np.isnat(out[1])


def test_records():
    dtype = np.dtype([("when", "M8[ms]"), ("n", "i4"), ("steps", "m8[s]", 2), ("any", "m8")])
    rows = np.zeros(3, dtype)
    rows["when"] = np.array(["2020-01-01", "2001-01-01", "1969-07-20"], "M8[ms]")
    rows["steps"] = np.arange(6).reshape(3, 2)

    def kernel(rows, out):
        i = cuda.grid(1)
        if i < rows.size:
            r = rows[i]
            out[i] = r["when"] + r["steps"][1]
            r["n"] = r["when"] > np.datetime64(0, "D")
            r["steps"][0] = out[i] - r["when"]
            r["when"] += 5
            r["any"] = 3

    got = run(kernel, [rows, np.zeros(3, "M8[s]")], 1, 3)[0]
    assert got["when"][0] == np.datetime64("2020-01-01T00:00:00.005")
    text = repr(pyptx.from_dtype(dtype))
    assert "when: datetime64[ms] @0" in text and "steps: timedelta64[s][2]" in text and "any: timedelta64 @" in text
    assert pyptx.from_dtype(dtype) == _pyptx._type(text) and pyptx.from_dtype(dtype).dtype == dtype


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[25s]", "M8[Y]", "m8", "M8[3M]", "m8[as]"])
def test_types_and_device_arrays(dtype):
    dtype = np.dtype(dtype)
    kind = pyptx.from_dtype(dtype)
    assert kind.dtype == dtype and repr(kind) == dtype.name and _pyptx._type(repr(kind)) == kind
    assert repr(kind[:, ::1]) == f"{dtype.name}[:,::1]" and _pyptx._type(repr(kind[:])) == kind[:]
    host = values(dtype, [5, -3, "NaT", 2**62])
    device = cuda.to_device(host)
    assert device.dtype == dtype and (device.copy_to_host().view("i8") == host.view("i8")).all()
    assert device[0].dtype == dtype and device[0] == host[0]
    device[1] = host[0]
    device[2:] = host[:2]
    assert (device.copy_to_host() == host[[0, 0, 0, 1]]).all()
    empty = cuda.device_array(3, dtype)
    empty.copy_to_device(host[:3])
    assert (empty.copy_to_host().view("i8") == host[:3].view("i8")).all()

    def kernel(a, b):
        i = cuda.grid(1)
        b[i] = a[i]

    copy = cuda.jit((kind[::1], kind[:]))(kernel)
    assert repr(copy.signatures[0]) == f"({dtype.name}[::1], {dtype.name}[:])"
    out = np.zeros(8, dtype)[::2]
    copy[1, 4](cuda.to_device(host), out)
    cuda.synchronize()
    assert (out.view("i8") == host.view("i8")).all()
    frozen = cuda.to_device(host)
    run_frozen = cuda.jit(define("def kernel(b):\n    b[0] = FROZEN[1]\n", FROZEN=frozen))
    run_frozen[1, 1](out)
    cuda.synchronize()
    assert out[0] == host[1]


def test_overload_by_unit():
    kernel = jit(define("def kernel(t, out):\n    out[0] = t\n"))
    out = np.zeros(1, "m8[ms]")
    for t in (np.timedelta64(1, "s"), np.timedelta64(1, "25s"), np.timedelta64(1, "s"), np.timedelta64(1), 1):
        kernel[1, 1](t, out)
        cuda.synchronize()
        assert out[0] == t
    names = [repr(s[0]) for s in kernel.signatures]
    assert names == ["timedelta64[s]", "timedelta64[25s]", "timedelta64", "pyint"]


@pytest.mark.parametrize("text", ["datetime64[", "datetime64[s", "datetime64[x]", "timedelta64[0s]", "timedelta64[99999999999s]", "timedelta64[s]s", "m8[s"])
def test_bad_text(text):
    with pytest.raises(ValueError, match="bad signature"):
        cuda.jit(f"({text},)")(define("def kernel(t):\n    pass\n"))


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("d + d", TypeError, r"\+ is not defined for datetime64\[s\]"),
        ("t - d", TypeError, "- is not defined"),
        ("5 - d", TypeError, "- is not defined"),
        ("t + 1.5", TypeError, r"\+ is not defined for timedelta64\[s\] and a Python float"),
        ("t * t", TypeError, r"\* is not defined"),
        ("t * 1j", TypeError, r"\* is not defined"),
        ("t % 2", TypeError, "% is not defined"),
        ("5 // t", TypeError, "// is not defined"),
        ("t ** 2", TypeError, r"\*\* is not defined"),
        ("t & 1", TypeError, "& is not defined"),
        ("t < 5.5", TypeError, "< is not defined"),
        ("d < 7", TypeError, "< is not defined"),
        ("d < t", TypeError, "< is not defined"),
        ("-d", TypeError, "unary - is not defined for datetime64"),
        ("abs(d)", TypeError, "is not defined for datetime64"),
        ("~t", TypeError, "is not defined for timedelta64"),
        ("t + MONTH", TypeError, r"timedelta64\[s\] and timedelta64\[M\] have no common unit"),
        ("t == MONTH", TypeError, "no common unit"),
        ("d + MONTH", TypeError, "no common unit"),
        ("np.timedelta64(MONTH, 'D')", TypeError, r"timedelta64\[M\] and timedelta64\[D\] have no common unit"),
        ("MONTH.astype('m8[D]')", TypeError, "no common unit"),
        ("d.astype('m8[s]')", TypeError, "no common unit"),
        ("np.timedelta64(n, 'x')", TypeError, "the unit must be known"),
        ("np.timedelta64(5.5, 's')", TypeError, "the value must be an integer or a timedelta64"),
        ("np.datetime64('2020-01-01')", TypeError, "texts are read on the host"),
        ("np.datetime64(n)", TypeError, "an integer needs a unit"),
        ("np.datetime64(t, 's')", TypeError, "must be an integer or a datetime64"),
        ("np.datetime64(1, 's', 2)", TypeError, "a value and a unit"),
        ("np.isnat(n)", TypeError, "must be a datetime64 or a timedelta64"),
        ("np.sqrt(t)", TypeError, "must be a number"),
        ("np.minimum(t, d)", TypeError, "is not defined for"),
        ("min(t, d)", TypeError, "is not defined for"),
        ("int(t)", TypeError, "is not defined for timedelta64"),
        ("float(t)", TypeError, "is not defined for timedelta64"),
        ("round(t)", TypeError, "must be a number"),
        ("t is d - d", TypeError, "'is' is not defined"),
        ("out[t]", TypeError, "an index must be an integer"),
        ("(t if n else d)", TypeError, "no common type"),
        ("(t if n else 1.5)", TypeError, "no common type"),
        ("t.item()", AttributeError, "item"),
        ("cuda.selp(n, t, d)", TypeError, "selp is not defined for"),
        ("cuda.atomic.add(out, 0, t)", TypeError, "is not available for elements of type timedelta64"),
    ],
)
def test_errors(expression, error, message):
    kernel = jit(define(f"def kernel(t, d, n, out):\n    x = {expression}\n    out[0] = x\n", **SCOPE))
    with pytest.raises(error, match=message):
        kernel[1, 1](np.timedelta64(1, "s"), np.datetime64(1, "s"), np.int64(3), np.zeros(1, "m8[s]"))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("i8", "t"), ("f8", "t"), ("?", "d"), ("m8[s]", "d"), ("M8[s]", "t"), ("m8[s]", "1.5"), ("m8[D]", "MONTH"), ("m8", "t")],
)
def test_bad_stores(dtype, value):
    for target in ("out[0]", "out[:]"):
        kernel = jit(define(f"def kernel(t, d, out):\n    {target} = {value}\n", **SCOPE))
        with pytest.raises(TypeError, match="cannot store"):
            kernel[1, 1](np.timedelta64(1, "s"), np.datetime64(1, "s"), np.zeros(2, dtype))


def test_the_standard_library_has_other_dates():
    for value in (datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1), datetime.timedelta(1)):
        kernel = jit(define("def kernel(t):\n    pass\n"))
        with pytest.raises(TypeError, match=r"argument 1 .* pass np.datetime64\(x\) or np.timedelta64\(x\)"):
            kernel[1, 1](value)


def test_no_dlpack():
    with pytest.raises(BufferError, match=r"DLPack has no type for elements timedelta64\[s\]"):
        np.from_dlpack(cuda.to_device(np.zeros(2, "m8[s]")))


def test_bad_change_in_place():
    kernel = jit(define("def kernel(a, b):\n    a[:] -= b[0]\n"))
    with pytest.raises(TypeError, match="cannot store"):
        kernel[1, 1](np.zeros(2, "m8[s]"), np.zeros(2, "M8[s]"))
    kernel = jit(define("def kernel(a, b):\n    a[:] /= b[0]\n"))
    with pytest.raises(TypeError, match="cannot store"):
        kernel[1, 1](np.zeros(2, "m8[s]"), np.zeros(2, "m8[s]"))


def test_print(capfd):
    kernel = jit(define("def kernel(t, d):\n    print(t, d, NAT, (t,), f'{t}')\n", **SCOPE))
    kernel[1, 1](np.timedelta64(-5, "25s"), np.datetime64("2020-01-01"))
    cuda.synchronize()
    assert capfd.readouterr().out == "-5[25s] 18262[D] NaT (-5[25s],) -5[25s]\n"


def test_message_of_an_exception():
    kernel = jit(define("def kernel(t):\n    raise ValueError(t)\n"), debug=True)
    with pytest.raises(ValueError, match=r"^-5\[s\]"):
        kernel[1, 1](np.timedelta64(-5, "s"))
        cuda.synchronize()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_assembles(arch, tmp_path):
    table = np.array([90, 61], "m8[m]")
    signature = "timedelta64[s][::1], datetime64[h][:], timedelta64[s][:], datetime64[s][:]"
    assemble(ptx_of(define(STATEMENTS, TABLE=table, **SCOPE), signature, arch), arch, tmp_path)
    lines = "; ".join(f"out[{k}] = {e}" for k, e in enumerate(EXPRESSIONS) if dtype_of(e)[0] == "m8[s]")
    signature = "timedelta64[s][:], timedelta64[25ms][:], datetime64[s][:], datetime64[D][:], int64[:], float64[:], timedelta64[s][:]"
    assemble(ptx_of(kernel_of(lines), signature, arch), arch, tmp_path)


def test_months_that_meet_weeks_on_the_way_to_seconds():
    """The variable in between counts weeks, which months are not: they become seconds straight from months."""

    def kernel(months, c, out):
        v = np.datetime64(1, "W") if c else months[0]
        w = v if c < 5 else np.timedelta64(5, "s") + months[0]
        out[0] = w.astype(np.int64)

    months, out = np.array(["1969-12"], "M8[M]"), np.zeros(1, np.int64)
    cuda.jit(kernel)[1, 1](months, 0, out)
    assert out[0] == months.astype("M8[s]").astype(np.int64)[0]
