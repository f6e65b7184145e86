"""Random expressions over complex and real scalars: whatever NumPy's scalars give, the kernel gives, bit for bit."""

import numpy as np
from amount import MORE
from harness import COMPLEX, define, jit, same, specials
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyptx import cuda

LITERALS = ["0", "2", "1j", "0.5", "(1.5-2j)", "True", "-3j"]
TYPES = [*COMPLEX, "float32", "float64", "int32", "int8", "uint64", "bool"]


def extend(children):
    pairs = st.tuples(children, st.sampled_from(["+", "-", "*", "/", "==", "!="]), children)
    return st.one_of(
        pairs.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        children.map(lambda c: f"(-({c} + 0j))"),
        st.tuples(children, st.sampled_from(["real", "imag", "conjugate()"])).map(lambda t: f"({t[0]} + 0j).{t[1]}"),
        st.tuples(children, st.sampled_from(["2", "3", "1", "-2"])).map(lambda t: f"(({t[0]} + 0j) ** {t[1]})"),
    )


EXPRESSIONS = st.recursive(st.sampled_from(["a", "b", "c", "a", "b", *LITERALS]), extend, max_leaves=7)


def values(dtype, n, rng):
    special = rng.choice(specials(dtype, small=True), n)
    if np.dtype(dtype).kind in "biu":
        return special
    ordinary = (rng.normal(size=n) * 4).astype(dtype)
    if dtype in COMPLEX:
        ordinary += (1j * rng.normal(size=n)).astype(dtype)
    return np.where(rng.random(n) < 0.5, ordinary, special).astype(dtype)


def numpys(text, rows):
    """None where there is no such operation, or Python refuses what its own numbers should do: 1 / 0."""
    out = []
    for a, b, c in rows:
        try:
            r = eval(text, {"a": a, "b": b, "c": c})
        except (TypeError, ZeroDivisionError, OverflowError):
            return None
        out.append(r)
    return np.array(out).astype(complex)


@settings(max_examples=100 * MORE, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=EXPRESSIONS, types=st.tuples(*[st.sampled_from(TYPES)] * 3), seed=st.integers(0, 1000))
def test_expression(text, types, seed):
    assume(any(v in text for v in "abc"))
    # 1j + np.float64(x) is CPython's, not NumPy's, since float64 is a float: a Python complex comes out.
    assume("j" not in text.replace("+ 0j", "").replace("conj", "") or not {"float64", "complex128"} & set(types))
    rng = np.random.default_rng(seed)
    n = 24
    x, y, z = (values(t, n, rng) for t in types)
    with np.errstate(all="ignore"):
        want = numpys(text, list(zip(x, y, z)))
    assume(want is not None)
    kernel = define(f"""def kernel(x, y, z, out):
    i = cuda.grid(1)
    if i < x.size:
        a = x[i]
        b = y[i]
        c = z[i]
        out[i] = {text}
""")
    out = np.zeros(n, complex)
    jit(kernel, fma=False)[1, 32](x, y, z, out)
    cuda.synchronize()
    right = same(out, want)
    k = int(np.argmin(right))
    assert right.all(), f"{text} of {x[k]!r}, {y[k]!r}, {z[k]!r}: {out[k]!r}, NumPy {want[k]!r}"
