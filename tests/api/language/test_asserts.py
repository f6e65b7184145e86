"""Asserts of kernels in a module whose asserts pytest rewrites: they are what they are without pytest.

pytest rewrites this module, so the kernels below are as users write them in their tests.
"""

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cuda

CHECKED = {"debug": True}
LIMIT = 7


def positive(v):
    assert v > -100, "far below"
    return v > 0


class Site:
    low = 3


def run(kernel, value):
    """What the launch raises, and x afterwards."""
    x = np.array([value, 0.0], np.float32)
    error = None
    try:
        cuda.jit(**CHECKED)(kernel)[1, 1](x)
        cuda.synchronize()
    except AssertionError as e:
        error = e
    return error, x[1]


def comparison(x):
    assert x[0] > 1
    x[1] = 1


def chain(x):
    assert 1 < x[0] <= 5 < LIMIT, "not between"
    x[1] = 1


def and_or_not(x):
    assert x[0] > 1 and positive(x[0]) or not x.size, f"bad {x[0]:.1f}"
    x[1] = 1


def call(x):
    assert positive(x[0])
    x[1] = 1


def inverted(x):
    assert not x[0] < 1, 1 if x[0] > -3 else 2 ** 40
    x[1] = 1


def walrus(x):
    assert (n := x[0] * 2) > 2, f"{n:.1f} is twice"
    x[1] = n


def member(x):
    assert int(x[0]) in (2, 4, 6), (1, 2)
    x[1] = 1


def attribute(x):
    assert x.size == 2 and x.ndim == 1 and x[0] >= np.float32(Site_low)
    x[1] = 1


def in_a_loop(x):
    for i in range(2):
        for j in (1, 2):
            assert x[0] > i * j, f"at {i}, {j}"
            assert i < 3
    x[1] = 1


def nested(x):
    def inner(v, low=2):
        assert v > low, "inner"
        return v

    x[1] = inner(x[0])


def with_none(x, y=None):
    assert y is None or y[0] > 0
    assert x is not None and x[0] > 1
    x[1] = 1


def two_values(x):
    n = int(x[0])
    assert n and x[0] > 1.5
    x[1] = 1


def number(x):
    assert x[0] > 1, 17
    x[1] = 1


Site_low = Site.low

ALL = [comparison, chain, and_or_not, call, inverted, walrus, member, attribute, in_a_loop, nested,
       with_none, two_values, number]  # fmt: skip


def test_this_module_is_rewritten():
    assert "@pytest_ar" in comparison.__code__.co_names


@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.__name__)
def test_holds(kernel):
    error, result = run(kernel, 4)
    assert error is None and result > 0


@pytest.mark.parametrize(
    "kernel, value, message",
    [
        (comparison, 0, None),
        (chain, 6, "not between"),
        (chain, 1, "not between"),
        (and_or_not, 0.5, "bad 0.5"),
        (call, -4, None),
        (call, -400, "far below"),
        (inverted, -2, "1"),
        (inverted, -4, "1099511627776"),
        (walrus, 0.5, "1.0 is twice"),
        (member, 5, "(1, 2)"),
        (attribute, 2, None),
        (in_a_loop, 1, "at 1, 1"),
        (nested, 1, "inner"),
        (with_none, 1, None),
        (two_values, 0, None),
        (two_values, 1, None),
        (number, 1, "17"),
    ],
)
def test_fails(kernel, value, message):
    error, result = run(kernel, value)
    first = str(error).splitlines()[0]
    assert error is not None and result == 0
    assert "test_asserts.py" in str(error) and "@py" not in str(error)
    assert message is None or message in first


def test_in_cpython_too():
    for kernel in ALL:
        kernel(np.array([4, 0], np.float32))
        with pytest.raises(AssertionError):
            kernel(np.array([0 if kernel is not attribute else 2, 0], np.float32))


def rewritten(hook):
    """A kernel whose assert pytest rewrites, with its hook for asserts that pass or without."""
    import ast

    from _pytest.assertion import rewrite

    source = "def kernel(x):\n    assert x[0] > 1, 'small'\n    x[1] = 1\n"
    tree = ast.parse(source)
    if hook:
        r = rewrite.AssertionRewriter("m.py", None, source.encode())
        r.enable_assertion_pass_hook = True
        r.run(tree)
    else:
        rewrite.rewrite_asserts(tree, source.encode())
    space = {}
    exec(compile(tree, "m.py", "exec"), space)
    return space["kernel"]


def test_rewritten_by_hand():
    error, result = run(rewritten(hook=False), 0)
    assert "small" in str(error) and result == 0


def test_another_shape_has_its_own_error():
    with pytest.raises(SyntaxError, match="PT123.*pytest has rewritten"):
        run(rewritten(hook=True), 0)


def test_a_plain_one_is_the_same():
    source = "def kernel(x):\n    assert x[0] > 1, f'small {x[0]:.1f}'\n    x[1] = 1\n"
    error, result = run(define(source), 0)
    assert "small 0.0" in str(error) and result == 0


def test_assumptions():
    """As an assert where kernels raise; elsewhere no code."""

    def kernel(x):
        cuda.assume(x[0] > 1, "the first is 1 or less")
        x[1] = 1

    assert run(kernel, 2) == (None, 1)
    error, _ = run(kernel, 1)
    assert "the first is 1 or less" in str(error)
    signature = "float32[::1]"
    plain = cuda.compile_ptx(kernel, signature, cc="sm_75")[0]
    assert "exit" not in plain and "ld.global" not in plain
    assert "exit" in cuda.compile_ptx(kernel, signature, cc="sm_75", exceptions=True)[0]


@pytest.mark.parametrize("call, what", [("x[0] > 0, x[1]", "must be a literal text"), ("x, 'text'", "a truth value of a 1d float32 array")])
def test_wrong_assumptions(call, what):
    kernel = define(f"def kernel(x):\n    cuda.assume({call})\n")
    with pytest.raises(CompileError, match=what):
        cuda.compile_ptx(kernel, "float32[::1]", cc="sm_75")


# --- classes of exceptions ---


class Refused(Exception):
    pass


class Holder:
    class Refused(ValueError):
        pass


def thrower(refused):
    """A function of another module: it sees neither this one's globals nor the kernel's closure."""
    scope = {"__name__": "elsewhere", "Refused": refused}
    exec("def check(n):\n    if n == 4:\n        raise Refused('elsewhere')\n", scope)
    return scope["check"]


def test_classes_that_are_no_globals_of_the_kernel():
    """What is raised is the class itself, wherever the kernel or a function has it from, also where several share
    a name.
    """

    class Local(Exception):
        pass

    class Elsewhere(KeyError):
        pass

    Elsewhere.__name__ = Elsewhere.__qualname__ = "Refused"
    check = thrower(Elsewhere)

    @cuda.jit(debug=True)
    def kernel(n):
        if n == 0:
            raise Refused("global")
        if n == 1:
            raise Holder.Refused("attribute")
        if n == 2:
            raise Local("local")
        if n == 3:
            raise np.linalg.LinAlgError("of a module")
        check(n)

    for n, expected in enumerate([Refused, Holder.Refused, Local, np.linalg.LinAlgError, Elsewhere]):
        with pytest.raises(Exception, match=r"global|attribute|local|of a module|elsewhere") as caught:
            kernel[1, 1](n)
            cuda.synchronize()
        assert type(caught.value) is expected and caught.value.thread == (0, 0, 0)


@pytest.mark.filterwarnings("ignore:PT816")
def test_a_class_that_is_defined_again():
    """As in a notebook, whose cell is run again: `except Again` means the new one."""
    scope = {"__name__": "notebook", "cuda": cuda}
    cell = "class Again(Exception):\n    pass\n"
    exec(cell + "@cuda.jit(debug=True)\ndef kernel(n):\n    if n:\n        raise Again('stop')\n", scope)
    for _ in range(2):
        with pytest.raises(scope["Again"], match="stop"):
            scope["kernel"][1, 1](1)
            cuda.synchronize()
        exec(cell, scope)
