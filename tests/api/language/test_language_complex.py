"""Complex numbers in kernels, compared with NumPy's scalars and CPython's complex: types and values, bit for bit where not said."""

import cmath

import numpy as np
import pytest
from harness import COMPLEX, STRONG, define, jit, pairs, run, same, specials
from pyptx import cuda
from test_ptx import assemble, ptx_of

PART = {"complex64": "float32", "complex128": "float64"}


def values(dtype, n=400, seed=1):
    """Ordinary values over many magnitudes, and a thinned grid of special ones."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    x = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-8, 8, (n, 2))
    special = specials(dtype, small=True)
    return np.concatenate([(x[:, 0] + 1j * x[:, 1]).astype(dtype), special])


def results(expression, args, out, **options):
    """The expression over x[i], y[i] … in a kernel, stored into an array like `out`."""
    names = ["x", "y", "z"][: len(args)]
    reads = "".join(f"        {n} = a{n}[i]\n" for n in names)
    kernel = define(
        f"def kernel({', '.join('a' + n for n in names)}, out):\n    i = cuda.grid(1)\n    if i < out.size:\n"
        f"{reads}        out[i] = {expression}\n",
        cmath=cmath,
    )
    options.setdefault("fma", False)
    jit(kernel, **options)[-(-out.size // 64), 64](*args, out)
    cuda.synchronize()
    return out


def expected(expression, args):
    names = ["x", "y", "z"][: len(args)]
    with np.errstate(all="ignore"):
        rows = [eval(expression, {"np": np, **dict(zip(names, row))}) for row in zip(*args)]
    return np.array(rows, type(rows[0]) if isinstance(rows[0], np.generic) else None)


def check(expression, *args, ulps=0, reference=None):
    """reference: what NumPy evaluates instead, where its result is defined by it."""
    want = expected(reference or expression, args)
    got = results(expression, args, np.zeros(want.size, want.dtype))
    right = same(got, want, ulps)
    worst = int(np.argmin(right))
    assert right.all(), f"{expression} of {[a[worst] for a in args]}: {got[worst]!r}, NumPy {want[worst]!r}"


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_arithmetic_has_numpys_bits(dtype, op):
    few = specials(dtype, small=True)[::3]
    x, y = pairs(few, few)
    rng = np.random.default_rng(2)
    some = rng.permutation(values(dtype, 3000))
    check(f"x {op} y", np.concatenate([x, some]), np.concatenate([y, rng.permutation(some)]))


@pytest.mark.parametrize("other", STRONG)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_arithmetic_with_real_numbers(dtype, other):
    x, y = pairs(values(dtype, 8)[:40], specials(other, small=True))
    for expression in ["x + y", "y - x", "x * y", "y / x", "x == y", "x != y"]:
        check(expression, x, y)


@pytest.mark.parametrize("expression", ["x * 2j", "1j - x", "x / 2", "3.5 / x", "x + True", "x * (1+2j) - 1", "-x", "+x", "x == 1j", "x != 0.5"])
@pytest.mark.parametrize("dtype", [*STRONG, *COMPLEX])
def test_weak_numbers_beside_strong_ones(dtype, expression):
    if dtype == "bool" and expression in ("-x", "+x"):
        pytest.skip("NumPy has none")
    check(expression, specials(dtype, small=True)[:60])


@pytest.mark.parametrize("expression", ["x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "x < 1.5", "1j >= y"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_comparisons_are_numpys(dtype, expression):
    few = specials(dtype, small=True)[::2]
    check(expression, *pairs(few, few))


@pytest.mark.parametrize("expression", ["x.real", "x.imag", "x.conjugate()", "bool(x)", "not x", "x if x else x + 1", "x in (y, 1j)", "+x", "-x"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_parts_and_truth(dtype, expression):
    x = specials(dtype)
    check(expression, x, x[::-1].copy())


@pytest.mark.parametrize("dtype", COMPLEX)
def test_abs(dtype, device):
    """hypot: on the host device the C library's, as NumPy's scalars have it; on the GPU another within 1 ulp, and the C library's has an error too."""
    x = values(dtype)
    check("abs(x)", x, ulps={"host": 0, "gpu": 2}[device])


@pytest.mark.parametrize(
    "expression", ["complex(x, y)", "complex(x)", "complex(x, 1j)", "complex(1j * x, y)", "complex(x, imag=y)", "complex(imag=x)", "complex(imag=y, real=x)", "complex(1j * x, 2j * y)", "complex()"]
)
def test_complex_of_two_numbers(expression):
    """A Python complex: computed in float64, and it gives way to NumPy's types."""
    x = np.array([1.5, -0.0, 3.25, np.inf, 1e300])
    want = [eval(expression, {"x": float(a), "y": float(b)}) for a, b in zip(x, x[::-1])]
    kernel = define(f"def kernel(out, x, y):\n    out[0] = {expression}\n")
    for a, b, w in zip(x, x[::-1], want):
        out = np.zeros(1, complex)
        jit(kernel)[1, 1](out, float(a), float(b))
        cuda.synchronize()
        assert same(out, np.array([w])).all()


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("source", [*STRONG, *COMPLEX])
def test_conversions(source, dtype):
    check(f"np.{dtype}(x)", specials(source))
    if source not in COMPLEX:
        check(f"np.{dtype}(x, x)", specials(source))


def python_results(expression, x, y):
    kernel = define(f"def kernel(out, x, y):\n    out[0] = {expression}\n")
    out = np.zeros(1, complex)
    jit(kernel, fma=False)[1, 1](out, x, y)
    cuda.synchronize()
    return out


@pytest.mark.parametrize("expression", ["x + y", "x - y", "x * y", "x / y", "x == y", "x * 2 + y", "-x", "x ** 1", "x ** 2", "x ** -3", "(-x + 2) ** 7", "x ** 100", "x ** -100"])
def test_python_complex_arguments(expression):
    """Two Python numbers: CPython's arithmetic, whose division rounds otherwise than NumPy's."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        x, y = (complex(*(rng.normal(size=2) * 10.0 ** rng.integers(-5, 5, 2))) for _ in range(2))
        try:
            want = eval(expression)
            eval(expression.replace("** -", "** "))  # CPython 3.14 makes 0 of one over an infinity, where others raise
        except (OverflowError, ZeroDivisionError):  # an infinity or a nan in a kernel
            continue
        assert same(python_results(expression, x, y), np.array([want], complex)).all(), (x, y)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_scalar_arguments_keep_their_type(dtype):
    def kernel(out, a, b, probe):
        out[0] = a * b
        probe[0] = (a * 0.1).real

    x = np.dtype(dtype).type(1.1 - 2.3j)
    for b in (2 - 1j, np.complex64(0.3 + 0.7j), np.complex128(0.3 + 0.7j), 3, np.float32(1.7)):
        out, probe = np.zeros(1, np.result_type(x, b)), np.zeros(1)
        jit(kernel, fma=False)[1, 1](out, x, b, probe)
        cuda.synchronize()
        assert same(out, np.array([x * b])).all() and probe[0] == (x * 0.1).real


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("stride", [1, 2, -1, -3])
def test_arrays_of_any_strides(dtype, stride):
    def kernel(x, out):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i, j] += x[i, j] * 2 + x[-1, -1]

    x = values(dtype, 144)[:144].reshape(12, 12)
    run(kernel, [x[::stride, ::stride], np.ones((12, 12), dtype)], (1, 1), (12, 12))
    run(kernel, [x.T, np.ones((12, 12), dtype).T], (1, 1), (12, 12))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_parts_of_arrays_can_be_read_and_written(dtype):
    def kernel(x, y, z):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x.real[i] = y.imag[i, 1]
            x[i:].imag[0] += i
            y[i].real[:] = 3
            z.real[i] = x.real.size + y[:, 1].imag.shape[0]

    n = 10
    run(kernel, [values(dtype, n)[:n], values(dtype, 2 * n)[: 2 * n].reshape(n, 2)[::-1], np.zeros(n)], 1, n)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_slices(dtype):
    def kernel(x, y, r):
        x[1:3] = 2 - 1j
        x[3:] = y[::2]
        y[:, None][1] = r[1]
        y[5:7] = r[2:4]
        acc = 0
        for v in x[2:]:
            acc += v
        for v in (y[0], 1, 2.5):
            acc += v
        x[0] = acc

    run(kernel, [values(dtype, 8)[:8], values(dtype, 10)[:10], np.arange(8.0)], 1, 1)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_shared_local_and_frozen_arrays(dtype):
    table = values(dtype, 8)[:8].reshape(2, 4)
    scalar, weak = np.dtype(dtype).type(2 - 1j), 1.5j

    def kernel(x, out):
        shared = cuda.shared.array(32, dtype)
        local = cuda.local.array((2, 2), dtype)
        i = cuda.threadIdx.x
        shared[i] = x[i] * table[i % 2, i % 4]
        local[0, 1] = x[i]
        local[1, 0] = 2.5
        cuda.syncthreads()
        out[i] = shared[31 - i] + local[0, 1] - local[1, 0] * scalar / weak

    run(kernel, [values(dtype, 32)[:32], np.zeros(32, dtype)], 1, 32)


def test_constant_memory():
    table = np.array([1 + 2j, 3 - 4j], np.complex64)

    @cuda.jit
    def kernel(out):
        t = cuda.const.array_like(table)
        for i in range(t.size):
            out[i] = t[i]

    out = np.zeros(2, np.complex64)
    kernel[1, 1](out)
    cuda.synchronize()
    assert (out == table).all()


def swapped(z):
    return complex(z.imag, z.real), (z, 1j)


def recursive(z, n):
    if n == 0:
        return z
    return recursive(z * z + 0.25, n - 1)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_functions_tuples_and_joins(dtype):
    def kernel(x, out, n):
        i = cuda.grid(1)
        if i < x.size:
            z = 0
            if n > 1:
                z = x[i]
            a, (b, c) = swapped(z)
            t = (a, b, c) if i % 2 else (c, a, b)
            best = 0.5
            for v in t:
                best = best * v if i % 3 else best + v
            out[i] = best + recursive(b, n) + (b, t[1])[i % 2]

    x = np.array([0.3 + 0.5j, -0.25 + 0.5j, 0.125j, 1, -0.5 - 0.25j], dtype)
    with np.errstate(all="ignore"):
        # The weak numbers of the join are dtype's in the kernel; all values here are exact in both.
        kernel = jit(kernel, fma=False)
        out = np.zeros(x.size, np.complex128)
        kernel[1, 8](x, out, 2)
        cuda.synchronize()
        want = []
        for i, z in enumerate(x):
            a, (b, c) = swapped(z)
            t = (a, b, c) if i % 2 else (c, a, b)
            best = 0.5
            for v in t:
                best = best * v if i % 3 else best + v
            want.append(best + recursive(b, 2) + (b, t[1])[i % 2])
    eps = np.finfo(dtype).eps
    assert np.abs(out - want).max() < 32 * eps * max(1, np.abs(want).max())  # 12 roundings, of numbers below 4


def test_numbas_typing():
    """Literals and Python's numbers are complex128 there."""

    def kernel(x, out, weak, a, b):
        out[0] = x[0] * 1j
        out[1] = weak * 0.1
        a[0] = (x[0] * 0.1).real
        b[0] = (x[0] + 1).imag

    x = np.array([1.1 + 2.2j], np.complex64)
    out, a, b = np.zeros(2, complex), np.zeros(1), np.zeros(1)
    jit(kernel, typing="numba", fma=False)[1, 1](x, out, 0.3j, a, b)
    cuda.synchronize()
    assert (out == [np.complex128(x[0]) * 1j, 0.3j * 0.1]).all()
    assert a[0] == (np.complex128(x[0]) * 0.1).real and b[0] == np.complex128(x[0]).imag


def test_storing_real_numbers_and_joins_with_them():
    def kernel(x, r, out, stored):
        i = cuda.grid(1)
        if i < r.size:
            acc = 0
            for k in range(i):
                acc += r[k] if k % 2 else x[k]
            out[i] = acc
            stored[i] = r[i]

    n = 6
    run(kernel, [values("complex128", n)[:n], np.arange(n) + 0.5, np.zeros(n, complex), np.zeros(n, complex)], 1, n)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_device_arrays(dtype):
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * 1j

    x = values(dtype, 20)[:20]
    d = cuda.to_device(x)
    assert d.dtype == x.dtype
    kernel[1, 32](d)
    assert (d.copy_to_host() == x * 1j).all()
    kernel[1, 32](d[::2])
    want = x * 1j
    want[::2] *= 1j
    assert (d.copy_to_host() == want).all() and d[3] == want[3]
    d[3] = 2 - 1j
    assert d.copy_to_host()[3] == 2 - 1j
    assert [str(t) for t in kernel.signatures[0]][0].startswith(dtype)


@pytest.mark.parametrize(
    "source",
    [
        "out[0] = 1 if 1j < 2 else 0", "out[0] = 1j // 2", "out[0] = z % 2", "out[0] = z << 1", "out[0] = int(z)", "out[0] = float(z)",
        "out[0] = np.float32(z)", "out[0] = complex(1, real=2)", "out[0] = complex(im=2)", "out[0] = complex((1, 2), 3)", "out[0] = round(z)", "out[0] = ~z", "r[0] = math.sqrt(z)", "out[z] = 1", "a, b = divmod(z, z)",
        "r[0] = z", "r[0:1] = z", "r[0:1] = out[0:1]", "cuda.atomic.add(r, 0, z)", "cuda.atomic.add(out, 0, 1)",
    ],
)  # fmt: skip
def test_what_complex_numbers_do_not_have(source):
    kernel = define(f"def kernel(out, r, z):\n    {source}\n")
    with pytest.raises(TypeError) as caught:
        jit(kernel)[1, 1](np.zeros(1, complex), np.zeros(1), np.complex64(1))
    if source.startswith("r[0"):
        assert "PT303" in str(caught.value) or "sqrt" in source


@pytest.mark.usefixtures("one_entry")
@pytest.mark.parametrize("sign", ["*", "/"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_whole_elements_are_moved_at_once(dtype, sign, tmp_path):
    kernel = define(
        f"def kernel(x, y, out, z):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = x[i] {sign} y[i] + z\n"
    )
    for arch in ("sm_75", "sm_90", "sm_120"):
        text = ptx_of(kernel, f"{dtype}[::1], {dtype}[:], {dtype}[::1], {dtype}", arch)
        assert text.count("ld.global") == 2 and text.count("st.global") == 1
        assemble(text, arch, tmp_path)


def test_messages_show_complex_numbers():
    kernel = define('def kernel(x):\n    assert x[0] == 0, f"{x[0]} and {x[1]}"\n')
    with pytest.raises(AssertionError, match=r"\(1.1-2.5j\) and 0.1j"):
        jit(kernel, debug=True)[1, 1](np.array([1.1 - 2.5j, 0.1j], np.complex64))
        cuda.synchronize()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_shuffles(dtype):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)

    x = values(dtype, 32)[:32]
    out = np.zeros(32, dtype)
    kernel[1, 32](x, out)
    cuda.synchronize()
    assert (out == x[np.arange(32) ^ 1]).all()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_elements_at_any_address(dtype):
    """Aligned as its parts are, or not at all: as a view of floats, or a field of a packed record."""

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * 2
            x.imag[i] = 1

    floats = np.arange(9.0).astype(PART[dtype])[1:].view(dtype)
    run(kernel, [floats, np.zeros(4, dtype)], 1, 4)
    packed = np.zeros(4, np.dtype([("c", "i1"), ("z", dtype)]))
    packed["z"] = values(dtype, 4)[:4]
    run(kernel, [packed["z"], np.zeros(4, dtype)], 1, 4)


@pytest.mark.usefixtures("one_entry")
@pytest.mark.parametrize("dtype", COMPLEX)
def test_a_quotient_takes_two_divisions(dtype):
    """The ratio of the divisor's parts, and a reciprocal; none for a divisor of 0."""

    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = x[i] / y[i]

    ptx = cuda.compile_ptx(kernel, f"void({', '.join([dtype + '[::1]'] * 3)})", cc="sm_90", coarsen=1)[0]
    assert ptx.count("div.rn.f") + ptx.count("rcp.rn.f") == 2
