"""Which arguments a kernel writes to: on a GPU host arrays are copied back by that, and everywhere read-only memory is refused by it."""

import collections
import operator

import numpy as np
import pytest
from harness import define, jit, run
from pyptx import cuda

Pair = collections.namedtuple("Pair", "first second")
GLOBALS = {"Pair": Pair, "operator": operator}

HELPERS = """
def put(v, x):
    v[1] = x
    return v[0]

def put_in(arrays, k, x):
    arrays[k][2] = x

def pick(arrays, k):
    return arrays[k]

def down(arrays, n):
    if n > 0:
        arrays[n - 1][n] = 7
        down(arrays, n - 1)

"""
# Each writes to both arrays, `a` and `b`, over the values 0 and 1 of i; of `c` it reads at most.
WRITES = {
    "loop": "for v in (a, b): v[i] = 9",
    "index": "(a, b)[i][3] = 9",
    "from the end": "(a, b)[-1 - i][3] = 9",
    "list": "for v in [a, b]: v[i] = 9",
    "nested": "for v, k in ((a, 1), (b, 2)): v[k] += 9",
    "tuple in a tuple": "((a, c), (b, c))[i][0][1] = 5",
    "enumerate": "for k, v in enumerate((a, b), 2): v[k] = k",
    "zip": "for v, w in zip((a, b), (b, c)): v[1] = w[2]",
    "zip of enumerate": "for (k, v), w in zip(enumerate((a, b)), (c, c)): v[k] = w[0]",
    "reversed": "for v in reversed((a, b)): v[i] = 9",
    "generator expression": "c[:1].size + sum(put(v, 3) for v in (a, b))",
    "generator of indices": "sum(put((a, b)[k], 3 + k) for k in range(2))",
    "named tuple": "for v in Pair(a, b): v[i] = 9",
    "element of a named tuple": "Pair(a, b)[i][1] = 9",
    "atomic": "cuda.atomic.add((a, b)[i], 2, 5)",
    "compare and swap": "for v in (a, b): cuda.atomic.cas(v, 1, v[1], 77)",
    "fill": "for v in (a, b): v.fill(9)",
    "slice": "for v in (a, b): v[:] = c",
    "part": "(a[1:], b[1:])[i][::2] = 4",
    "in place": "for v in (a, b): v[2:] -= 3",
    "operator on all": "for v in (a, b): v += c",
    "ufunc": "for v in (a, b): np.multiply(v, 3, out=v)",
    "another layout": "for v in (a, b[::-1]): v[1] = 5",
    "reshaped": "(a.reshape(2, 4), b.reshape(2, 4))[i][1, 2] = 5",
    "transposed": "(a.reshape(2, 4).T, b.reshape(2, 4).T)[i][1][1] = 5",
    "other type": "(a.view(np.float64), b.view(np.float64))[i][2] = 0.5",
    "condition": "v = a if i else b\nv[1] = 5",
    "branch": "v = a\nif i: v = b\nv[1] = 5",
    "tuples that meet": "t = (a, c)\nif i: t = (b[::2], c[::2])\nt[0][1] = 5",
    "tuples that meet, by index": "t = (a, a[1:])\nif i: t = (b[::2], b[1::2])\nt[i][1] = 5",
    "swapped": "v, w = a, b\nfor k in range(3):\n    v, w = w, v\n    v[k] = 5",
    "walrus": "(v := (a, b)[i])[1] = 5",
    "closure": "def own(x): (a, b)[i][1] = x\nown(5)",
    "default": "f = lambda k, t=(a, b): put(t[k], 6)\nf(i)",
    "function's tuple": "put_in((a, b), i, 5)",
    "function's result": "pick((a, b), i)[3] = 5",
    "twice picked": "pick((pick((a, b), 0), pick((a, b), 1)), i)[3] = 5",
    "recursion": "down((a, b), 2)",
    "operator": "operator.setitem((a, b)[i], 1, 5)",
    "record's fields": "r = np.int64(3)\nfor v in (a, b): v[i] = r",
    "match": "match (a, b)[i]:\n    case v:\n        v[1] = 5",
}


def kernel_of(body, head="a, b, c, i"):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return define(f"{HELPERS}def kernel({head}):\n{lines}", **GLOBALS)


def arrays():
    return [np.arange(10 * k, 10 * k + 8) for k in (1, 2, 3)]


@pytest.mark.parametrize("way", WRITES)
def test_what_is_written(way):
    """The arrays after it are CPython's, for both arrays; each is refused where it is read-only, and what is not written to is not."""
    kernel = kernel_of(WRITES[way])
    for i in (0, 1):
        run(kernel, [*arrays(), i])
    compiled = jit(kernel)
    for written in range(3):
        given = arrays()
        given[written].flags.writeable = False
        if written == 2:
            compiled[1, 1](*given, 0)
            continue
        before = given[written].copy()
        with pytest.raises(ValueError, match=rf"writes to an array that is read-only: argument {written + 1} \('{'ab'[written]}'\)"):
            compiled[1, 1](*given, written)
        assert np.array_equal(before, given[written])


READS = {
    "loop": "s = 0\nfor v in (a, b): s += v[i]\nc[0] = s",
    "index": "c[0] = (a, b)[i][3]",
    "extents": "c[0] = (a, b[1:])[i].size + (a, b[1:])[i].shape[0]",
    "zip": "for v, w in zip((a, b), (b, a)): c[1] = v[1] + w[2]",
    "through a function": "c[0] = pick((a, b), i)[3]",
    "sum": "c[0] = sum(v[0] for v in (a, b))",
    "assert": "assert (a, b)[i][0] > 5, (a, b)[i][1]",
    "copied from": "c[:] = (a, b)[i]",
    "condition": "v = a if i else b\nc[1] = v[1]",
}


@pytest.mark.parametrize("way", READS)
def test_what_is_read_only(way):
    """Read-only arrays, and bytes, that are read through a tuple are taken."""
    kernel = kernel_of(READS[way])
    a, b, c = arrays()
    a = np.frombuffer(a.tobytes(), np.int64)
    b.flags.writeable = False
    for i in (0, 1):
        want, got = c.copy(), c.copy()
        kernel(a, b, want, i)
        jit(kernel)[1, 1](a, b, got, i)
        assert np.array_equal(got, want)


@pytest.mark.parametrize("body", ["t[i][1] = 9", "for v in t: v[1] = 9", "(t[0], t[1])[i][1] = 9"])
@pytest.mark.parametrize("pack", [lambda a, b: (a, b), Pair, lambda a, b: Pair(a[::2], b[::2])], ids=["tuple", "named", "strided"])
def test_tuples_as_arguments(pack, body):
    kernel = kernel_of(body, "t, i")
    for i in (0, 1):
        (a, b, _), (x, y, _) = arrays(), arrays()
        kernel(pack(a, b), i)
        jit(kernel)[1, 1](pack(x, y), i)
        assert np.array_equal(a, x) and np.array_equal(b, y)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only: argument 1"):
        jit(kernel)[1, 1](pack(x, y), 1)


RECORD = np.dtype([("x", "i4"), ("v", "f8", (3,))])


@pytest.mark.parametrize(
    "body",
    [
        '(p, q)[i][1]["x"] = 9',
        'for r in (p, q): r[2]["v"][1] = 0.5',
        'for r in (p[0], q[0]): r["x"] = 5',
        '(p["v"], q["v"])[i][1, 2] = 4.5',
        "for r in (p, q): r[1] = r[2]",
        'for r in (p, q): r["x"][:] = 3',
    ],
)
def test_records(body):
    kernel = kernel_of(body, "p, q, i")
    for i in (0, 1):
        run(kernel, [np.zeros(3, RECORD), np.ones(3, RECORD), i])
    given = [np.zeros(3, RECORD), np.ones(3, RECORD)]
    given[1].flags.writeable = False
    with pytest.raises(ValueError, match="read-only: argument 2"):
        jit(kernel)[1, 1](*given, 1)


def test_random_states():
    """The states that a generator takes its numbers from change."""
    from pyptx.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

    @cuda.jit
    def kernel(p, q, out):
        for k, states in enumerate((p, q)):
            out[k] = xoroshiro128p_uniform_float32(states, 0)

    p, q = (create_xoroshiro128p_states(2, seed=s).copy_to_host() for s in (1, 2))
    out, before = np.zeros(2, np.float32), q.copy()
    kernel[1, 1](p, q, out)
    assert not np.array_equal(before, q) and out.any()
    q.flags.writeable = False
    with pytest.raises(ValueError, match="read-only: argument 2"):
        kernel[1, 1](p, q, out)


@pytest.mark.parametrize("hint", ["stcg", "stcs", "stwt"])
def test_cache_hints(hint):
    kernel = kernel_of(f"for k, v in enumerate((a, b)): cuda.{hint}(v, k, 9)", "a, b")
    (a, b, _), (x, y, _) = arrays(), arrays()
    a[0] = b[1] = 9
    jit(kernel)[1, 1](x, y)
    assert np.array_equal(a, x) and np.array_equal(b, y)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only: argument 2"):
        jit(kernel)[1, 1](x, y)


def test_complex_parts():
    kernel = kernel_of("(a.real, b.real)[i][1] = 9\n(a.imag, b.imag)[1 - i][1] = 8", "a, b, i")
    for i in (0, 1):
        run(kernel, [np.ones(3, np.complex64), np.ones(3, np.complex64), i])
