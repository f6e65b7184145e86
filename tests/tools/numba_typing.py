"""What Numba gives: type and values of expressions, as tests/data/numba_typing.json.

usage: python tests/tools/numba_typing.py      needs numba and numba-cuda, which pyptx does not; no GPU

Types are those of Numba's CUDA target. Values are computed by its CPU target (error_model="numpy", as on the GPU), where that gives the same
type; math functions have no values here, since libraries differ in their last bits. tests/api/test_numba_typing.py compares
@cuda.jit(typing="numba") with the table.
"""

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


def expressions():
    """(source of a function f, types of its arguments)."""
    for name in TYPES + COMPLEX:
        for e in UNARY:
            yield f"def f(a):\n    return {e}\n", [name]
        for block in BLOCKS.values():
            body = "".join(f"    {line}\n" for line in block.splitlines())
            yield f"def f(a):\n{body}    return r\n", [name]
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
    for source, names in expressions():
        scope = {"math": math, "np": np, "cuda": cuda}
        exec(source, scope)
        f, sig = scope["f"], tuple(eval(n, vars(types)) for n in names)
        try:
            result = str(cuda.compile_ptx(f, sig, device=True, cc=(9, 0))[1])
        except Exception as e:  # what Numba rejects
            result = None
            seen[type(e).__name__] = seen.get(type(e).__name__, 0) + 1
        values = None
        if result and "math." not in source and "[" not in names[0]:
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
