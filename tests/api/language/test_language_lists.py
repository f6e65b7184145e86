"""Lists that are written out: fixed sequences as tuples are, but equal to lists only, as in Python."""

import numpy as np
import pytest
from pyptx import cuda

EXPRESSIONS = """
[1, 2] == (1, 2) | [1, 2] != (1, 2) | [1, 2] == [1, 2] | [1, 2] == [c, 2] | g == [1, 2] | same([1, 2]) | same((1, 2)) | [] == () | [] == []
[1] + [2] == [1, 2] | [1] * 2 == [1, 1] | [1] * 2 == (1, 1) | (*t, 3) == (1, 2, 3) | (*t, 3) == [1, 2, 3] | (*[1, 2], c) == (1, 2, 1)
[*t, 3] == [1, 2, 3] | [*t, 3] == (1, 2, 3) | [1, 2, 3][:2] == [1, 2] | [1, 2, 3][::-1] == (3, 2, 1) | tuple([1, 2]) == (1, 2) | tuple([1, 2]) == [1, 2]
isinstance([1], tuple) | isinstance([1], list) | isinstance((1,), list) | isinstance((1,), (list, tuple)) | [1, 2] < [1, 3] | (1, 2) in [[1, 2]] | [1, 2] in [[1, 2]]
([1],) == ((1,),) | [(1, 2)] == [(1, 2)] | ([1, 2] if c else [3, 4]) == (1, 2) | ([1, 2] if c else [3, 4]) == [1, 2] | rest(t) == [2] | rest(t) == (2,)
""".replace("\n", "|")
EXPRESSIONS = [e.strip() for e in EXPRESSIONS.split("|") if e.strip()]


def same(v):
    return v == (1, 2)


def rest(t):
    _, *b = t
    return b


def test_comparisons_and_operators_are_pythons():
    source = "def kernel(out, c):\n    t = (1, 2)\n" + "".join(f"    out[{k}] = {e}\n" for k, e in enumerate(EXPRESSIONS))
    scope = {"g": (1, 2), "same": same, "rest": rest}
    exec(source, scope)
    out, want = np.zeros((2, len(EXPRESSIONS)), bool)
    cuda.jit(scope["kernel"])[1, 1](out, 1)
    scope["kernel"](want, 1)
    assert out.tolist() == want.tolist(), [e for e, a, b in zip(EXPRESSIONS, out, want) if a != b]


@pytest.mark.parametrize("expression", ["[1, 2] < (1, 3)", "[1] + (2,)", "(1,) + [2]"])
def test_what_python_refuses(expression):
    scope = {}
    exec(f"def kernel(out):\n    out[0] = len({expression}) if 0 else 1\n    x = {expression}\n", scope)
    with pytest.raises(TypeError, match="PT204.*a list"):
        cuda.jit(scope["kernel"])[1, 1](np.zeros(1))


def test_a_variable_is_a_list_or_a_tuple():
    def kernel(out, c):
        v = [1, 2]
        if c:
            v = (1, 2)
        out[0] = v[0]

    with pytest.raises(TypeError, match=r"a list \[pyint, pyint\] on one path and a tuple"):
        cuda.jit(kernel)[1, 1](np.zeros(1), 1)


def test_print_shows_lists(capfd):
    @cuda.jit
    def kernel(t):
        first, *others = t
        print(others, [1, 2.5], [], [[1], (2,)], f"{others}")

    kernel[1, 1]((1, 2, 3))
    cuda.synchronize()
    assert capfd.readouterr().out == "[2, 3] [1, 2.5] [] [[1], (2,)] [2, 3]\n"
