"""What Numba gives: type and values of expressions, as tests/data/numba_typing.json.

usage: python tests/tools/numba_typing.py      needs numba and numba-cuda, which pyptx does not; no GPU

Types are those of Numba's CUDA target. Values are computed by its CPU target (error_model="numpy", as on the GPU), where that gives the same
type; math functions have no values here, since libraries differ in their last bits. tests/api/language/test_numba_typing.py compares
@cuda.jit(typing="numba") with the table.
"""

import cmath  # noqa: F401  the expressions use it
import json
import math  # noqa: F401  the expressions use it
import sys
import warnings
from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parents[1] / "data" / "numba_typing.json"
TYPES = ["boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "<", "==", "and", "or"]
# of one argument, then statements: the result is r
UNARY = [
    "-a", "+a", "~a", "not a", "abs(a)", "int(a)", "float(a)", "bool(a)", "round(a)", "a + 1", "1 + a", "a - 1", "a * 2", "a / 2", "a // 2", "a % 3",
    "a ** 2", "a ** 3", "2 ** a", "a << 1", "a >> 1", "a & 1", "a + 1.5", "a * 0.5", "a / 2.0", "a ** 0.5", "a < 1", "a == 1.0", "a + 2j",
    "a + True", "a if a > 1 else 0", "a if a > 1 else 0.5", "min(a, 1)", "max(a, 1.5)", "np.int32(a)", "np.uint8(a)",
    "np.float32(a)", "np.float32(a) * 2.0", "np.float32(a) + 1", "np.int16(a) * np.int16(2)",
    "math.sin(a)", "math.sqrt(a)", "math.floor(a)", "math.ceil(a)", "math.pow(a, 2)", "math.fabs(a)", "math.isnan(a)", "math.exp(a) * 2",
]
BLOCKS = {
    "join with 0": "if a > 1:\n    r = a\nelse:\n    r = 0",
    "join with 0.0": "if a > 1:\n    r = a\nelse:\n    r = 0.0",
    "sum from 0": "r = 0\nfor k in range(3):\n    r += a",
    "sum from 0.0": "r = 0.0\nfor k in range(3):\n    r += a",
    "product from 1": "r = 1\nfor k in range(2):\n    r *= a",
    "own sum": "r = a\nr += a",
    "counter": "r = 0\nfor k in range(4):\n    if k % 2 == 0:\n        r += k",
    "last of range": "r = 0\nfor k in range(int(a) % 5 + 2):\n    r = k",
}
BLOCKS_OF_TWO = {
    "join": "if a > 1:\n    r = a\nelse:\n    r = b",
    "sum": "r = a\nfor k in range(2):\n    r = r + b",
}
# of arrays, for their types only
ARRAYS = ["float32[::1]", "int16[::1]", "uint64[::1]", "complex64[::1]"]
OF_ARRAYS = [
    "cuda.threadIdx.x", "cuda.blockIdx.y", "cuda.blockDim.z", "cuda.gridDim.x", "cuda.laneid", "cuda.warpsize", "cuda.grid(1)", "cuda.gridsize(1)",
    "cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x", "cuda.threadIdx.x + 1", "cuda.threadIdx.x * 0.5", "cuda.grid(1) // 2",
    "a.shape[0]", "len(a)", "a.size", "a.ndim", "a[0]", "a[0] + 1", "a[0] * 2.0", "a[0] + cuda.threadIdx.x", "a[cuda.grid(1)] + a[1]", "a[0] == 0",
    "a.shape[0] - 1", "cuda.grid(1) < a.size", "cuda.grid(1) + np.int32(1)", "cuda.threadIdx.x + np.int32(1)",
]
# of one argument: builtins, methods, intrinsics, ufuncs, half precision
MORE = [
    "complex(a)", "complex(a, a)", "complex(a, 1)", "round(a, 1)", "round(a, 0)", "divmod(a, 3)", "divmod(a, a)", "pow(a, 2)", "pow(a, a)",
    "sum((a, a))", "abs(-a)", "cuda.popc(a)", "cuda.clz(a)", "cuda.brev(a)", "cuda.ffs(a)", "cuda.selp(a > 1, a, a)", "cuda.fma(a, a, a)",
    "cuda.cbrt(a)", "a.real", "a.imag", "a.conjugate()", "max(a, 1, 2.5)", "min(a, a)", "min((a, a))", "a == True", "a != 1", "a is None",
    "(a, 1)[0]", "(a, 1)[1]", "(a, 2.0)", "a and 1", "a or 2.0", "1 if a else 2", "float(a) * 2", "int(a) * 2", "int(a) / 3", "bool(a) + 1",
    "True + True", "a + None if False else a", "np.int8(a) + np.int8(1)", "np.int32(a) + np.int32(1)", "np.uint32(a) + np.int32(1)",
    "np.uint64(a) + 1", "np.uint64(a) + np.int64(1)", "np.float64(a)", "np.complex64(a)", "np.bool_(a)", "np.int64(a) // np.uint32(2)",
    "np.uint8(1) << a", "1 >> np.uint8(3)", "-np.uint32(a)", "~np.uint8(a)", "+np.int8(a)", "abs(np.int8(a))", "np.sin(a)", "np.sqrt(a)",
    "np.abs(a)", "np.exp(a)", "np.log(a)", "np.floor(a)", "np.cos(a)", "np.tan(a)", "np.arctan2(a, a)", "np.maximum(a, a)", "np.minimum(a, 1)",
    "np.power(a, 2)", "np.add(a, 1)", "np.isnan(a)", "np.sign(a)", "math.gamma(a)", "math.lgamma(a)", "math.erf(a)", "math.erfc(a)", "math.log(a)",
    "math.log2(a)", "math.log10(a)", "math.log1p(a)", "math.expm1(a)", "math.tanh(a)", "math.asin(a)", "math.degrees(a)", "math.radians(a)",
    "math.trunc(a)", "math.isinf(a)", "math.isfinite(a)", "math.frexp(a)", "math.modf(a)", "math.ldexp(a, 2)", "math.pow(a, 0.5)", "math.pow(2, a)",
    "math.atan2(a, 1)", "math.hypot(a, 2.0)", "math.fmod(a, 2)", "math.remainder(a, 2)", "math.copysign(1, a)", "math.nextafter(a, 1.0)",
    "math.pi * a", "cmath.exp(a)", "cmath.sqrt(a)", "cmath.phase(a)", "cmath.polar(a)", "cmath.isnan(a)", "cmath.log(a)", "cmath.sin(a)",
    "cuda.shfl_sync(-1, a, 0)", "cuda.shfl_down_sync(-1, a, 1)", "cuda.ballot_sync(-1, a)", "cuda.all_sync(-1, a)", "cuda.any_sync(-1, a)",
    "cuda.eq_sync(-1, a)", "cuda.match_any_sync(-1, a)", "cuda.match_all_sync(-1, a)", "cuda.activemask()", "cuda.lanemask_lt()",
    "cuda.syncthreads_count(a)", "cuda.syncthreads_and(a)", "a < 2 < 3", "a in (1, 2)", "len((a, a))", "(a, a) == (1, 2)", "a ** -1", "2.0 ** a",
    "a ** a", "a % 2.5", "a // 0.5", "1 - a", "1.0 - a", "2 // a", "2 % a", "2.5 // a", "1 << a", "1 & a", "True & a", "True | (a > 1)",
    "(a > 1) + 1", "(a > 1) * 2.0", "(a > 1) & (a < 3)", "not (a > 1)", "cuda.gridDim.x * a", "cuda.grid(1) * a", "cuda.grid(2)", "cuda.gridsize(2)",
    "cuda.threadIdx.x * a", "cuda.threadIdx.x - 1", "cuda.threadIdx.x // 2", "cuda.threadIdx.x % 32", "cuda.laneid + a", "cuda.warpsize * a",
    "np.float16(a)", "np.float16(a) + 1", "np.float16(a) * np.float16(2)", "np.float16(a) + np.float32(1)", "np.float16(a) > 1",
    "abs(np.float16(a))", "-np.float16(a)", "float(np.float16(a))", "int(np.float16(a))", "np.float16(a) ** 2", "np.float16(a) / 2",
    "np.float16(a) + np.int32(2)", "np.float16(a) + np.int8(1)", "min(np.float16(a), np.float16(1))", "math.sin(np.float16(a))",
    "np.sin(np.float16(a))", "np.arctan2(a, 1)", "np.arctan2(a, 2.5)", "np.maximum(a, 2.5)", "np.minimum(a, True)", "np.maximum(a, np.int32(2))",
    "np.maximum(a, np.float32(2))", "np.hypot(a, 2)", "np.add(a, 2.5)", "np.add(a, a)", "np.subtract(a, 1)", "np.multiply(a, a)", "np.fmod(a, 2)",
    "np.mod(a, 3)", "np.remainder(a, a)", "np.true_divide(a, 2)", "np.divide(a, a)", "np.floor_divide(a, 2)", "np.floor_divide(a, a)",
    "np.copysign(a, 1)", "np.power(a, 0.5)", "np.power(a, a)", "np.fmax(a, a)", "np.fmin(a, 1)", "np.logaddexp(a, a)", "np.square(a)",
    "np.negative(a)", "np.absolute(a)", "np.fabs(a)", "np.rint(a)", "np.ceil(a)", "np.trunc(a)", "np.reciprocal(a)", "np.exp2(a)", "np.log2(a)",
    "np.expm1(a)", "np.isfinite(a)", "np.isinf(a)", "np.signbit(a)", "np.logical_and(a, 1)", "np.logical_not(a)", "np.equal(a, 1)",
    "np.greater(a, 2.5)", "np.bitwise_and(a, 1)", "np.bitwise_or(a, a)", "np.invert(a)", "np.left_shift(a, 1)", "np.right_shift(a, a)",
    "np.deg2rad(a)", "np.conjugate(a)", "np.real(a)", "np.ldexp(a, 1)", "np.arcsin(a)", "np.sinh(a)", "np.cbrt(a)", "cuda.fma(a, 1.0, 1.0)",
    "cuda.fma(a, np.float32(1), 1.0)", "math.ldexp(np.float32(1), a)", "math.atan2(a, a)", "math.hypot(a, 1)", "round(np.float32(a), 2)",
    "abs(np.int8(-3)) + a",
]
# statements: loops, joins, local and shared arrays; the result is r
MORE_BLOCKS = [
    "r = 0\nfor i in range(a):\n    r = i", "r = 0\nfor i in range(1, a):\n    r = i + 1", "r = a\nfor i in range(10, 0, -1):\n    r = i",
    "r = 0\nfor i, x in enumerate((a, a)):\n    r = i", "r = 0\nfor i, x in enumerate((a, a)):\n    r = x",
    "r = 0\nfor x, y in zip((a, a), (1, 2)):\n    r = x + y", "x, y = a, 1\nx, y = y, x\nr = x", "r = a\nwhile r < 3:\n    r += 1",
    "r = a\nwhile r < 3:\n    r += 1.5", "r = a\nr *= 2", "r = a\nr /= 2", "r = a\nr //= 2", "r = a\nr **= 2", "r = a\nr <<= 1",
    "r = np.float32(0)\nfor i in range(3):\n    r += i", "r = np.float32(0)\nfor i in range(3):\n    r += a * i", "r = 0\nif a > 1:\n    r = 1.5",
    "r = True\nif a > 1:\n    r = 2", "r = np.int8(1)\nif a > 1:\n    r = np.uint8(2)", "r = np.int32(1)\nif a > 1:\n    r = np.float32(2)",
    "r = (a, 1)\nif a > 1:\n    r = (1, a)", "r = (a, 1.0)", "r = np.int32(1)\nr = r + 1",
    "s = cuda.local.array(4, np.int16)\ns[0] = a\nr = s[0] + s[1]", "s = cuda.local.array(4, np.float32)\ns[0] += a\nr = s[0] * 2",
    "s = cuda.shared.array(4, np.uint8)\nr = s[0] * s[1]", "s = cuda.shared.array(4, np.int32)\nr = cuda.atomic.add(s, 0, 1)",
    "s = cuda.shared.array(4, np.float32)\nr = cuda.atomic.max(s, 0, a)", "s = cuda.shared.array(4, np.int32)\nr = cuda.atomic.cas(s, 0, 1, 2)",
    "s = cuda.local.array((2, 3), np.int32)\nr = s.shape",
    "s = cuda.local.array((2, 3), np.int32)\nr = s.shape[0] + len(s) + s.size + s.ndim + s.itemsize",
    "s = cuda.local.array(4, np.complex64)\nr = s[0].real + a", "s = cuda.local.array(4, np.float32)\nr = 0\nfor x in s:\n    r += x",
    "s = cuda.local.array(4, np.float32)\nr = s[0] * 0.5 + s[1] * 2", "s = cuda.local.array(4, np.int32)\nr = s[0] * s[1] + s[2]",
]
FUNCTIONS_OF_TWO = ["min(a, b)", "max(a, b)", "math.pow(a, b)", "math.atan2(a, b)", "math.hypot(a, b)", "math.fmod(a, b)", "math.copysign(a, b)"]


def numbers(name):
    """Three values of a type, one of them at an end of its range."""
    if name == "boolean":
        return [False, True, True]
    if name.startswith("complex"):
        return [1.5 + 2j, -0.25 - 1j, 3 + 0j]
    if name.startswith("float"):
        return [1.75, -2.5, 7.0]
    info = np.iinfo(name)
    return [3, -5 if info.min else 200, int(info.max)]


def others(name):
    """Partners of numbers(name): small, so that powers and shifts mean something; the last is 0."""
    if name == "boolean":
        return [True, True, False]
    if name.startswith("complex"):
        return [2 - 1j, 0.5 + 0.5j, 1j]
    if name.startswith("float"):
        return [0.5, 3.0, -0.0]
    return [2, 3, 0]


def more_expressions():
    """The same, for their types only."""
    for name in TYPES + COMPLEX:
        for e in MORE:
            yield f"def f(a):\n    return {e}\n", [name]
        for block in MORE_BLOCKS:
            body = "".join(f"    {line}\n" for line in block.splitlines())
            yield f"def f(a):\n{body}    return r\n", [name]


def expressions():
    """(source of a function f, types of its arguments)."""
    for name in TYPES + COMPLEX:
        for e in UNARY:
            yield f"def f(a):\n    return {e}\n", [name]
        for block in BLOCKS.values():
            body = "".join(f"    {line}\n" for line in block.splitlines())
            yield f"def f(a):\n{body}    return r\n", [name]
    yield from more_expressions()
    for name in ARRAYS:
        for e in OF_ARRAYS:
            yield f"def f(a):\n    return {e}\n", [name]
    for left in TYPES + COMPLEX:
        for right in TYPES + COMPLEX:
            for op in BINARY:
                yield f"def f(a, b):\n    return a {op} b\n", [left, right]
            for e in FUNCTIONS_OF_TWO:
                yield f"def f(a, b):\n    return {e}\n", [left, right]
            for block in BLOCKS_OF_TWO.values():
                body = "".join(f"    {line}\n" for line in block.splitlines())
                yield f"def f(a, b):\n{body}    return r\n", [left, right]


def bits(dtype, value):
    """A value as hexadecimal bytes of its type, little endian: nan, -0.0 and integers travel alike."""
    return np.array([value]).astype(dtype).tobytes().hex()


def main():
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # numba-cuda asks for it
    warnings.simplefilter("ignore")
    from numba import cuda, njit, types

    rows, seen = [], {}
    types_only = {source for source, _ in more_expressions()}
    for source, names in expressions():
        scope = {"math": math, "cmath": cmath, "np": np, "cuda": cuda}
        exec(source, scope)
        f, sig = scope["f"], tuple(eval(n, vars(types)) for n in names)
        try:
            result = str(cuda.compile_ptx(f, sig, device=True, cc=(9, 0))[1])
        except Exception as e:  # what Numba rejects
            result = None
            seen[type(e).__name__] = seen.get(type(e).__name__, 0) + 1
        values = None
        if result and "math." not in source and "[" not in names[0] and source not in types_only:
            try:
                on_cpu = njit(sig, error_model="numpy")(f)
                if str(on_cpu.nopython_signatures[0].return_type) == result:
                    dtype = np.dtype(result if result != "bool" else "?")
                    arguments = [[np.dtype("?" if n == "boolean" else n).type(v) for v in vs]
                                 for n, vs in zip(names, (numbers(names[0]), others(names[-1])))]
                    values = [bits(dtype, on_cpu(*row)) for row in zip(*arguments)]
            except Exception as e:
                seen[repr(e)[:60]] = seen.get(repr(e)[:60], 0) + 1
        rows.append([source, names, result, values])
    import numba

    TABLE.write_text("[" + ",\n ".join(json.dumps(r) for r in rows) + "]\n")
    print(f"numba {numba.__version__}: {len(rows)} rows, {sum(r[2] is not None for r in rows)} typed, "
          f"{sum(r[3] is not None for r in rows)} with values, NumPy {np.__version__}; {seen}", file=sys.stderr)


if __name__ == "__main__":
    main()
