"""Launches that are refused, and threads that stop: bounds, assert and raise, with the place and the thread.

In a kernel's text a line that ends in "# here" is the one that the report must name.
"""

import decimal
import fractions
import re

import numpy as np
import pytest
from harness import define
from pyptx import cuda
from test_errors import load


@cuda.jit
def add_one(x, v=1):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += v


@pytest.mark.parametrize(
    "config",
    [
        (0, 1),
        (1, 0),
        ((1, 0), 1),
        (1, 2000),
        (1, (32, 33)),
        (-1, 1),
        (1, -5),
        (1 << 40, 1),
        ((1, 70000), 1),
        (1, (1, 1, 128)),
        (1,),
        ((1, 1, 1, 1), 1),
        (1.5, 1),
        ("1", 1),
        (None, 1),
    ],
)
def test_bad_launch_configuration(config):
    with pytest.raises((ValueError, TypeError)) as caught:
        add_one[config](np.zeros(4))
    assert len(str(caught.value)) > 15 and len(str(caught.value).splitlines()) <= 15


@pytest.mark.parametrize(
    "grid, block, words", [(0, 1, "0"), (1, 2000, "2000|1024"), ((1, 0), 1, "0"), (1, (32, 33), "1056|1024")]
)
def test_bad_launch_configuration_says_what(grid, block, words):
    with pytest.raises(ValueError, match=words):
        add_one[grid, block](np.zeros(4))


def test_errors_of_launches_name_the_kernel_as_python_does():
    def scale(x):
        x[0] = 1

    kernel = cuda.jit(scale)
    name = re.escape(scale.__qualname__)
    assert "<locals>" in scale.__qualname__
    with pytest.raises(ValueError, match=f"kernel '{name}'"):
        kernel[1, 1, 0, 1 << 30](np.zeros(4))
    kernel[1, 1](np.zeros(4))


def test_a_large_unsigned_index_is_shown_as_it_is(checked):
    kernel = define("def kernel(x, i):\n    x[i] = 1\n")
    with pytest.raises(IndexError, match="index 18446744073709551610 is out of bounds for axis 0 of 'x'"):
        cuda.jit(**checked)(kernel)[1, 1](np.zeros(4), np.uint64(2**64 - 6))
        cuda.synchronize()
    with pytest.raises(IndexError, match="index -6 is out of bounds"):
        cuda.jit(**checked)(kernel)[1, 1](np.zeros(4), np.int64(-6))
        cuda.synchronize()


def test_too_much_dynamic_shared_memory():
    with pytest.raises(ValueError, match="shared"):
        add_one[1, 1, 0, 1 << 30](np.zeros(4))


def test_forgotten_dynamic_shared_memory_says_where_it_is_given(checked):
    kernel = define("def kernel(x):\n    t = cuda.shared.array(0, np.float32)\n    t[0] = x[0]\n    x[0] = t[0]\n")
    with pytest.raises(IndexError, match=r"axis 0 of 't' with size 0: the launch gives .* kernel\[grid, block, stream, bytes\]"):
        cuda.jit(**checked)(kernel)[1, 1](np.zeros(4))
        cuda.synchronize()


def test_unconfigured_call_shows_the_form():
    with pytest.raises(ValueError, match=r"\["):
        add_one(np.zeros(4))


@pytest.mark.parametrize(
    "arguments, keywords",
    [
        ((), {}),
        ((np.zeros(4), 1, 2), {}),
        ((np.zeros(4),), {"w": 2}),
        ((np.zeros(4), 1), {"v": 2}),
        ((), {"v": 1}),
    ],
)
def test_wrong_arguments(arguments, keywords):
    with pytest.raises(TypeError, match="add_one"):
        add_one[1, 1](*arguments, **keywords)


@pytest.mark.parametrize(
    "argument",
    [
        object(),
        "text",
        {"a": 1},
        {1, 2},
        [1, 2],
        lambda: 0,
        np.zeros(4, "S3"),
        np.zeros(4, object),
        np.zeros(4, "M8[s]"),
        np.zeros(4, "f2"),
        np.zeros(4, "c8"),
        np.zeros(4, ">f4"),
        type,
        2**70,
    ],
)
def test_unsupported_argument(argument):
    x = np.zeros(4)
    with pytest.raises((TypeError, OverflowError)) as caught:
        add_one[1, 1](x, argument)
    text = str(caught.value)
    assert "v" in text or "argument" in text
    assert len(text.splitlines()) <= 15
    assert not x.any()


def test_unsupported_dtype_of_an_array():
    for array in (np.zeros(3, np.longdouble), np.zeros(3, object)):
        with pytest.raises(TypeError, match=r"argument 1 \('x'\) is an array of .*: pass x.astype\(np.float64\)"):
            add_one[1, 1](array)


@pytest.mark.parametrize("number", [decimal.Decimal(2), fractions.Fraction(1, 3)])
def test_numbers_of_other_classes(number):
    with pytest.raises(TypeError, match=r"argument 2 \('v'\) has type .*: pass float\(x\)"):
        add_one[1, 1](np.zeros(4), number)


@pytest.mark.parametrize("shape", [4.0, 10 / 2, None, (2.0, 3)])
def test_shapes_that_are_no_ints(shape):
    with pytest.raises(TypeError, match="float|None"):
        cuda.device_array(shape)


# --- what stops a thread ---


def stopped(tmp_path, source, grid, block, *arguments, **options):
    module, line, _ = load(tmp_path, source)
    with pytest.raises(Exception) as caught:
        cuda.jit(**options)(module.kernel)[grid, block](*arguments)
        cuda.synchronize()
    return caught.value, line


@pytest.fixture(params=["always", "debug"])
def checked(request, device):
    """Options under which threads are checked: none are needed on the host device."""
    if request.param == "always" and device != "host":
        pytest.skip("only the host device checks without debug=True")
    return {"debug": True} if request.param == "debug" else {}


@pytest.mark.parametrize(
    "statement, index, extent",
    [
        ("x[i] = 1", 10, 10),
        ("v = x[i]", 10, 10),
        ("x[-i - 1] = 1", -11, 10),
        ("x[i + 5] = 1", 10, 10),
        ("x[i * 1000000000000] += 1", 10**12, 10),
    ],
)
def test_index_out_of_bounds(tmp_path, statement, index, extent, checked):
    use = "\n    x[0] = v" if statement.startswith("v") else ""
    error, line = stopped(
        tmp_path,
        f"def kernel(x):\n    i = cuda.grid(1)\n    {statement}  # here{use}\n",
        3,
        4,
        np.zeros(10),
        **checked,
    )
    text = str(error)
    assert isinstance(error, IndexError), repr(error)
    assert len(text.splitlines()) <= 15
    for word in ("x", str(extent), "wrong.py", str(line)):
        assert word in text, text
    assert re.search(r"block \(\d+, \d+, \d+\)", text) and re.search(r"thread \(\d+, \d+, \d+\)", text), text


def test_index_out_of_bounds_names_thread_and_block(tmp_path, checked):
    source = """def kernel(x, y):
    j, i = cuda.grid(2)
    if i == 5 and j == 2:
        y[i, j + 7] = x[i, j]  # here
"""
    error, line = stopped(tmp_path, source, (2, 3), (2, 2), np.zeros((6, 4)), np.zeros((6, 8)), **checked)
    text = str(error)
    assert isinstance(error, IndexError), repr(error)
    for part in ("y", "9", "8", "block (1, 2, 0)", "thread (0, 1, 0)", f"wrong.py:{line}"):
        assert part in text, text


@pytest.mark.parametrize("array", ["shared", "local"])
def test_shared_and_local_arrays_are_checked(tmp_path, array, checked):
    source = f"def kernel(x):\n    tile = cuda.{array}.array(8, np.float32)\n    tile[x.size + 1] = 1  # here\n    x[0] = tile[0]\n"
    error, line = stopped(tmp_path, source, 1, 1, np.zeros(7), **checked)
    assert isinstance(error, IndexError) and "tile" in str(error) and "8" in str(error), repr(error)


def test_no_thread_writes_out_of_bounds(tmp_path, checked):
    whole = np.zeros(100)
    error, _ = stopped(
        tmp_path,
        "def kernel(x):\n    i = cuda.grid(1)\n    x[i] = 1  # here\n",
        1,
        100,
        whole[:50],
        **checked,
    )
    assert isinstance(error, IndexError)
    assert not whole[50:].any()


def test_unchecked(device):
    if device != "host":
        pytest.skip("the GPU does not check without debug=True")

    @cuda.jit(opt="unchecked")
    def kernel(x):
        i = cuda.grid(1)
        x[i] = 1

    whole = np.zeros(100)
    kernel[1, 60](whole)
    assert whole.sum() == 60


def test_assert(tmp_path, checked):
    source = (
        "def kernel(x):\n    i = cuda.grid(1)\n    assert x[i] >= 0, 'negative input'  # here\n    x[i] = 1\n"
    )
    error, line = stopped(tmp_path, source, 2, 4, np.array([1.0, 1, 1, 1, 1, -1, 1, 1]), **checked)
    text = str(error)
    assert isinstance(error, AssertionError), repr(error)
    for part in ("negative input", f"wrong.py:{line}", "block (1, 0, 0)", "thread (1, 0, 0)"):
        assert part in text, text


def test_assert_without_a_message(tmp_path, checked):
    error, line = stopped(
        tmp_path, "def kernel(x):\n    assert x[0] == 1  # here\n", 1, 1, np.zeros(1), **checked
    )
    assert isinstance(error, AssertionError) and f"wrong.py:{line}" in str(error)


def test_assert_that_holds(checked):
    kernel = define(
        "def kernel(x):\n    assert x[0] == 0, 'never'\n    x[0] = 5\n"
    )  # pytest rewrites asserts that it sees
    x = np.zeros(1)
    cuda.jit(**checked)(kernel)[1, 1](x)
    cuda.synchronize()
    assert x[0] == 5


@pytest.mark.parametrize(
    "raised, cls, words",
    [
        ("ValueError('bad value')", ValueError, "bad value"),
        ("ValueError", ValueError, ""),
        ("RuntimeError('gave up')", RuntimeError, "gave up"),
        ("KeyError('k')", KeyError, "k"),
        ("ZeroDivisionError('zero')", ZeroDivisionError, "zero"),
    ],
)
def test_raise(tmp_path, raised, cls, words, checked):
    source = f"def kernel(x):\n    i = cuda.grid(1)\n    if i == 3:\n        raise {raised}  # here\n    x[i] = 1\n"
    error, line = stopped(tmp_path, source, 1, 8, np.zeros(8), **checked)
    assert isinstance(error, cls), repr(error)
    for part in (words, f"wrong.py:{line}", "thread (3, 0, 0)"):
        assert part in str(error), str(error)
    assert str(error).splitlines()[0] == words  # of a KeyError as well, which shows other messages by their repr


def test_an_exception_that_a_function_makes_has_no_words_of_its_call(tmp_path, checked):
    source = "def wrong(limit):\n    return ValueError('above', limit)\n\ndef kernel(x):\n    raise wrong(31)  # here\n"
    error, line = stopped(tmp_path, source, 1, 1, np.zeros(1), **checked)
    assert isinstance(error, ValueError) and f"wrong.py:{line}" in str(error), repr(error)
    assert "31" not in str(error).splitlines()[0], str(error)


def test_launches_go_on_after_a_trap(tmp_path, checked):
    stopped(tmp_path, "def kernel(x):\n    assert x[0] == 1\n", 1, 1, np.zeros(1), **checked)
    x = np.zeros(4)
    add_one[1, 4](x)
    cuda.synchronize()
    assert (x == 1).all()


def test_trap_before_a_barrier(tmp_path, checked):
    """The other threads of the block do not wait for the one that stopped."""
    source = """def kernel(x):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(16, np.float64)
    tile[t] = x[t]
    assert t != 5, 'stopped'
    cuda.syncthreads()
    x[t] = tile[15 - t]
"""
    error, _ = stopped(tmp_path, source, 4, 16, np.zeros(16), **checked)
    assert isinstance(error, AssertionError) and "stopped" in str(error)


@pytest.mark.parametrize(
    "value, text",
    [(0.1, "0.1"), (np.float32(0.1), "0.1"), (1 / 3, "0.3333333333333333"), (100.0, "100.0"), (0.0, "0.0"),
     (1e300, "1e+300"), (float("nan"), "nan"), (-3, "-3")],
)
def test_numbers_in_messages_read_as_python_writes_them(value, text):
    kernel = define("def kernel(v):\n    assert v == 1, v\n")
    with pytest.raises(AssertionError) as caught:
        cuda.jit(debug=True)(kernel)[1, 1](value)
        cuda.synchronize()
    assert str(caught.value).splitlines()[0] == text


@pytest.mark.parametrize(
    "arguments",
    ['"{0} {x} {{ }} {"', '"{0}", v', 'f"{v}{{}}"', 'f"{{0}} {v}"', '"{1:x}"', '"a{0:f}", v, "}"', '"}{" + "{0}"', '"{0:F=.2}"'],
)
def test_braces_in_messages_stay(arguments):
    kernel = define(f"def kernel(v):\n    raise ValueError({arguments})\n")
    with pytest.raises(ValueError) as expected:
        kernel(3)
    with pytest.raises(ValueError) as caught:
        cuda.jit(debug=True)(kernel)[1, 1](3)
        cuda.synchronize()
    assert str(caught.value).splitlines()[0] == str(expected.value)


@pytest.mark.parametrize("index", [-9, -(2**63), 8, np.uint64(2**64 - 1), np.int8(-128)])
def test_the_index_is_reported_as_the_program_gave_it(index):
    def kernel(x, i):
        x[i] = 1

    x = np.zeros(8)
    with pytest.raises(IndexError) as caught:
        cuda.jit(debug=True)(kernel)[1, 1](x, index)
        cuda.synchronize()
    if int(index) < 2**63:
        assert f"index {int(index)} is out of bounds" in str(caught.value)
    assert not x.any()


@pytest.mark.parametrize("extent", [2**31, 2**63, 2**70, -(2**70)])
def test_extents_of_any_size_are_refused_with_their_value(extent):
    kernel = cuda.jit(lambda: None)
    for config in ((extent, 1), (1, (1, extent))):
        with pytest.raises(ValueError, match=f"is {extent}: it"):
            kernel[config]()
