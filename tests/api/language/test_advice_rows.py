"""The rows PT802 to PT807 of errors.def: on kernels that deserve them, with their places, and not on others that look alike.

Each advice is the same for both targets. PT807 needs what an assembler says: the stand-in driver's figures, and ptxas.
"""

import shutil
import sys
import time
import warnings

import numpy as np
import pyptx
import pytest
from pyptx import _pyptx, cli, cuda
from standin import needs_standin, run
from test_advice import CASES, TABLE, load

HEAD = """import math

import numpy as np
from pyptx import cuda, float32

ROOT_2 = np.sqrt(2.0)
HALF = 0.5
WEIGHTS = np.array([0.25, 0.5])


def at(a, i, j):
    return a[i, j]


def place(i, j, n):
    return i * n + j


def kernel(%s):
%s
"""
A2, A3, V = "float32[:,::1]", "float32[:,:,::1]", "float32[::1]"


def module(tmp_path, parameters, body, options):
    text = HEAD % (parameters, "\n".join("    " + line for line in body.strip("\n").split("\n")))
    path = tmp_path / "rows.py"
    path.write_text(text.translate(dict.fromkeys(map(ord, "«»‹"))))
    return load(path).kernel, text, options


def place_of(text, mark):
    """(line, column) of a mark, other marks of its line not counted."""
    before = text[: text.index(mark)]
    line = before[before.rfind("\n") + 1 :]
    return before.count("\n") + 1, len(line.translate(dict.fromkeys(map(ord, "«»‹")))) + 1


def advice_of(function, signature, options):
    """Of both targets, which must not differ."""
    both = [_pyptx._compile(function, signature, *target, 0, options, "types")["advice"] for target in (("host", None), ("nvptx", "sm_90"))]
    assert [str(a) for a in both[0]] == [str(a) for a in both[1]]
    return both[0]


NUMBA = {"typing": "numba"}
# CPython 3.14 makes no tuple of these, and stores both in one step: what is named is the number.
TWO_AT_ONCE = "s, k = ‹0.0, 0" if sys.version_info >= (3, 14) else "‹s, k = 0.0, 0"

# (row, parameters, signature, body with «place» and ‹ in the line of the note, options)
SAID = [
    # neighbours far apart: x is not the index that runs along the memory
    ("SWAP_INDICES", "a, b", f"{A2}, {A2}", "i, j = ‹cuda.grid(2)\nif i < a.shape[0] and j < a.shape[1]:\n    b[i, j] = 2 * «a[i, j]»"),
    ("SWAP_INDICES", "a, b", f"{A2}, {A2}", "i, j = ‹cuda.grid(2)\nb[i][j] = «a[i][j]»"),
    ("SWAP_INDICES", "a, b", f"{A2}, {A2}", "j, i = ‹cuda.grid(2)\nb.T[i, j] = «a.T[i, j]»"),
    ("SWAP_INDICES", "a, n", f"{V}, pyint", "i, j = ‹cuda.grid(2)\n«a[i * n + j]» = 1"),
    ("SWAP_INDICES", "a, n", f"{V}, pyint", "i, j = ‹cuda.grid(2)\n«a[place(i, j, n)]» = 1"),
    ("SWAP_INDICES", "a", V, "k = ‹cuda.threadIdx.x * 32 + cuda.threadIdx.y\n«a[k]» = 1"),
    ("SWAP_INDICES", "a, b", f"{A3}, {A3}", "x, y, z = ‹cuda.grid(3)\nb[x, y, z] = «a[x, y, z]»"),
    ("SWAP_INDICES", "image", "uint8[:,:,::1]", "i, j = ‹cuda.grid(2)\nfor c in range(3):\n    image[i, j, c] = 255 - «image[i, j, c]»"),
    ("SWAP_INDICES", "a, b", f"{A2}, {A2}",
     "r = cuda.blockIdx.y * 16 + ‹cuda.threadIdx.x\nc = cuda.blockIdx.x * 16 + cuda.threadIdx.y\nb[r, c] = «a[max(r - 1, 0), c]»"),
    ("SWAP_INDICES", "a, b", f"{A2}, {A2}", "i, j = ‹cuda.grid(2)\nb[1:-1, 1:][i, j] = «a[1:-1, 1:][i, j]»"),
    ("SWAP_INDICES", "a", "int32[:,::1]", "i, j = ‹cuda.grid(2)\n«cuda.atomic.add(a, (i, j), 1)»"),
    # a row for each thread
    ("ROW_A_THREAD", "a, out", f"{A2}, {V}", "i = ‹cuda.grid(1)\nbest = float32(0)\nfor k in range(a.shape[1]):\n    best = max(best, «a[i, k]»)\nout[i] = best"),
    ("ROW_A_THREAD", "a, out", f"{A2}, {V}", "i = ‹cuda.grid(1)\ns, k = np.float64(0), 0\nwhile k < a.shape[1]:\n    s += «a[i, k + 1]»\n    k += 2\nout[i] = s"),
    ("ROW_A_THREAD", "a, out", f"{A2}, {V}", "i = ‹cuda.grid(1)\nrow = a[i]\ns = np.float64(0)\nfor k in range(row.size):\n    s += «row[k]»\nout[i] = s"),
    ("ROW_A_THREAD", "a, out", f"{V}, {V}", "i = ‹cuda.grid(1)\ns = np.float64(0)\nfor k in range(64):\n    s += «a[i * 64 + k]»\nout[i] = s"),
    # right but for the order in memory
    ("FORTRAN_ORDER", "a, b", f"float32[::1,:], {A2}", "j, i = ‹cuda.grid(2)\nb[i, j] = 2 * «a[i, j]»"),
    ("FORTRAN_ORDER", "a, out", f"float32[::1,:], {V}",
     "i = ‹cuda.grid(1)\nbest = float32(0)\nfor k in range(a.shape[0]):\n    best = max(best, «a[k, i]»)\nout[i] = best"),
    # sums of few bits
    ("WRAPPED_SUM", "a, out", "uint8[::1], int64[::1]", "s = ‹0\nfor v in a:\n    «s += v»\nout[0] = s"),
    ("WRAPPED_SUM", "a, out", "int16[::1], int64[::1]", "s = ‹1\nfor k in range(4):\n    «s *= a[k]»\nout[0] = s"),
    ("WRAPPED_SUM", "a, out", "int8[::1], int64[::1]", "s = ‹0\nfor k in range(a.size):\n    if a[k] > 0:\n        s = «s + a[k]»\nout[0] = s"),
    ("WRAPPED_SUM", "a, out", "uint8[:,::1], int64[::1]",
     "s = ‹0\nfor y in range(3):\n    for x in range(3):\n        if y != x:\n            «s += a[y, x] * 2»\nout[0] = s"),
    ("WRAPPED_SUM", "a, out", "uint16[::1], int64[::1]", "out[0] = sum«(v for v in a)»"),
    ("WRAPPED_SUM", "a, out", "uint8[::1], int64[::1]", "s = ‹0\nfor k in range(4):\n    s = «s << 4 | a[k]»\nout[0] = s"),
    ("WRAPPED_SUM", "a, out", "uint16[::1], int64[::1]", "s = ‹1\nfor v in a:\n    s = «(s << 5) ^ v»\nout[0] = s"),
    ("WRAPPED_SUM", "a, m, out", "uint8[::1], pyint, int64[::1]",
     "code = ‹0\nfor v in a:\n    code = («(code << 2) | (v & 3)») & m\nout[0] = code"),
    ("WRAPPED_SUM", "a, m, out", "uint8[::1], pyint, int64[::1]", "h = ‹7\nfor v in a:\n    h = («h * 31 + v») % m\nout[0] = h"),
    # Python numbers beside numbers of few bits
    ("CUT_NUMBER", "a, out", "uint8[::1], int32[::1]", "cuda.atomic.add(out, «cuda.threadIdx.x * 256 + a[0]», 1)"),
    ("CUT_NUMBER", "a, k, out", "uint8[::1], pyint, int32[::1]", "out[0] = «a[0] + k»"),
    ("CUT_NUMBER", "a, k, out", "int16[::1], pyint, int16[::1]", "out[0] = «a[0] + k» > 5"),
    ("CUT_NUMBER", "a, k, out", "int16[::1], pyint, int16[::1]", "s = «k - a[0]» if a[1] else a[2]\nout[0] = 1 / s"),
    ("CUT_NUMBER", "a, k, out", "int8[::1], pyint, int32[::1]", "out[0] = «k & a[0]»"),
    ("CUT_NUMBER", "a, k, out", "uint8[::1], pyint, uint8[::1]", "out[0] = «a[0] // k»"),
    ("CUT_NUMBER", "a, k, out", "uint8[::1], pyint, int32[::1]", "out[0] = «max(a[0], k)»"),
    ("CUT_NUMBER", "a, out", "uint8[::1], int32[::1]", "for j in range(out.size):\n    out[«j + a[j]»] = 1"),
    ("CUT_NUMBER", "a, out", "uint8[::1], int32[::1]", "out[0] = «1 << a[0]»"),
    ("CUT_NUMBER", "a, k, out", "uint8[::1], pyint, int32[::1]", "n = a[0]\nif n > 9:\n    n = «k + 1»\nout[0] = n"),
    # bits of which none is left
    ("NOT_CALLED", "a, out", f"{V}, {V}", "out[0] = a[0]\n«cuda.syncthreads»\nout[1] = a[1]"),
    ("NOT_CALLED", "a, out", f"{V}, {V}", "if a[0]:\n    «math.sin»\nout[1] = a[1]"),
    ("SHIFTED_OUT", "a, out", "uint8[::1], int64[::1]", "out[0] = a[0] | «a[1] << 8»"),
    ("SHIFTED_OUT", "a, out", "int32[::1], int64[::1]", "out[0] = «a[0] << 32» | a[1]"),
    ("SHIFTED_OUT", "a, out", "uint8[::1], uint8[::1]", "grey = a[0] * 77 + a[1] * 150\nout[0] = «grey >> 8»"),
    ("ROUNDED_SUM", "a, out", f"{V}, {V}", "s = ‹0.0\nfor v in a:\n    «s += v»\nout[0] = s / a.size"),
    ("ROUNDED_SUM", "a, b, out", f"{A2}, {A2}, {A2}",
     "j, i = cuda.grid(2)\ns = ‹0.0\nfor k in range(a.shape[1]):\n    «s += a[i, k] * b[k, j]»\nout[i, j] = s"),
    ("ROUNDED_SUM", "a, out", f"{V}, {V}", "s = ‹0\nfor t in range(64):\n    for k in range(32):\n        «s -= a[t * 32 + k]»\nout[0] = s"),
    ("ROUNDED_SUM", "a, out", "float16[::1], float16[::1]", "s = ‹0.0\nfor k in range(8):\n    «s += a[k]»\nout[0] = s"),
    ("ROUNDED_SUM", "a, out", "bfloat16[::1], bfloat16[::1]", "s = ‹0.0\nfor k in range(8):\n    «s += a[k]»\nout[0] = s"),
    ("ROUNDED_SUM", "a, out", "float8_e4m3fn[::1], float8_e4m3fn[::1]", "s = ‹0.0\nfor k in range(8):\n    «s += a[k]»\nout[0] = s"),
    ("ROUNDED_SUM", "a, out", "float8_e5m2[::1], float8_e5m2[::1]", "s = ‹0.0\nfor k in range(8):\n    «s += a[k]»\nout[0] = s"),
    ("ROUNDED_SUM", "a, out", f"{V}, {V}", f"{TWO_AT_ONCE}\nwhile k < a.size:\n    «s += a[k]»\n    out[k] = s\n    k += 1"),
    # float64 among float32
    ("WIDE_AMONG_NARROW", "a, c", f"{V}, float64", "i = cuda.grid(1)\na[i] = «a[i] * c»"),
    ("WIDE_AMONG_NARROW", "a, c", f"{V}, float64", "i = cuda.grid(1)\nd = c * 2\nif «a[i] - d» > 1:\n    a[i] = 0"),
    ("WIDE_AMONG_NARROW", "a", V, "i = cuda.grid(1)\na[i] = «a[i] * ‹ROOT_2»"),
    ("WIDE_AMONG_NARROW", "a", V, "i = cuda.grid(1)\na[i] = «a[i] * ‹WEIGHTS[1]» + a[i + 1] * WEIGHTS[0]"),
    ("WIDE_AMONG_NARROW", "a, n", f"{V}, int32[::1]", "i = cuda.grid(1)\na[i] = «a[i] / ‹n[i]»"),
    ("WIDE_AMONG_NARROW", "a", V, "i = cuda.grid(1)\na[i] = «‹0.5 * a[i]» + 2.0", NUMBA),
    ("WIDE_AMONG_NARROW", "a", V, "i = cuda.grid(1)\na[i] = «a[i] * ‹math.pi»", NUMBA),
    ("WIDE_AMONG_NARROW", "a", "complex64[::1]", "i = cuda.grid(1)\na[i] = «a[i] * ‹2j»", NUMBA),
    ("WIDE_AMONG_NARROW", "a, z", "complex64[::1], complex128", "i = cuda.grid(1)\na[i] = «a[i] + z»"),
]

# (parameters, signature, body, options): nothing is said
QUIET = [
    # names that are no functions, and functions that something takes
    ("a, out", f"{V}, {V}", "cuda.threadIdx\na.shape\nmath.pi\nout[0] = a[0]"),
    ("a, out", f"{V}, {V}", "f = at\nout[0] = a[0] if f is at or place else 0\nmath.sin and place\ncuda.syncthreads()\nat(a.reshape(1, 4), 0, 1)"),
    # bits that are set, and shifts that leave some
    ("a, out", "uint8[::1], int64[::1]", "s = 0\nfor v in a:\n    s |= v\nout[0] = s"),
    ("a, out", "uint8[::1], int64[::1]", "s = 0\nfor v in a:\n    s ^= v << 7\nout[0] = int(s) | int(a[0]) << 8"),
    ("a, out", "uint8[::1], int64[::1]", "out[0] = a[0] | a[1] << 8", NUMBA),
    ("a, out", "int8[::1], int64[::1]", "out[0] = (a[0] >> 8) + (a[1] >> 7)"),
    # Python numbers that fit, or of which nobody sees more than the low bits
    ("a, k, out", "uint8[::1], pyint, uint8[::1]", "out[0] = (a[0] ^ k) * 3 - (k << 2)"),
    ("a, k, out", "uint8[::1], pyint, int32[::1]", "out[0] = a[0] + (k & 15) + (1 << (a[1] & 7))"),
    ("a, k, out", "uint8[::1], pyint, int32[::1]", "out[0] = (a[0] & k) + (a[1] >> k)"),
    ("a, k, out", "uint8[::1], pyint, int32[::1]", "out[0] = int(a[0]) + k\nout[1] = np.uint8(k) * a[1]"),
    ("a, k, out", "uint8[::1], pyint, uint8[::1]", "out[0] = a[0] < k and min(k, 7) < a[1]"),
    ("a, k, out", "uint8[::1], pyint, int32[::1]", "out[0] = a[0] + k", NUMBA),
    ("a, k, out", "int32[::1], pyint, int64[::1]", "out[0] = a[0] + k"),
    # neighbours beside each other, or nobody knows
    ("a, b", f"{A2}, {A2}", "j, i = cuda.grid(2)\nb[i, j] = a[i, j]"),
    ("a, b", "float32[::1,:], float32[::1,:]", "i, j = cuda.grid(2)\nb[i, j] = a[i, j]"),
    ("a, b", "float32[:,:], float32[:,:]", "i, j = cuda.grid(2)\nb[i, j] = a[i, j]"),  # any strides
    ("a, b", f"{A2}, {A2}", "i, j = cuda.grid(2)\nb[j, i] = a[i, j]"),  # a transposition: one of both it must be
    ("a, b", f"{A2}, {A2}", "i, j = cuda.grid(2)\nb[i, 0] = a[i, 0]"),  # a column
    ("a, b", f"{A2}, {A2}", "i = cuda.grid(1)\nfor c in range(3):\n    b[i, c] = a[i, c]"),  # points
    ("a, b", f"{A2}, {A2}", "i, c = cuda.grid(2)\nif i < a.shape[0] and c < 3:\n    b[i, c] = a[i, c]"),
    ("a, b", f"{A3}, {A3}", "x, y = cuda.grid(2)\nfor c in range(a.shape[2]):\n    b[y, x, c] = a[y, x, c]"),  # channels
    ("a, b", f"{A3}, {A3}", "x, y = cuda.grid(2)\nb[y, x, :] = a[y, x, :]"),
    ("a, b", f"{A3}, {A3}", "x, y = cuda.grid(2)\np, q = a[y, x], b[y, x]\nfor c in range(len(p)):\n    q[c] = p[c]"),
    ("a", "uint8[:,:,:,::1]", "x, y, n = cuda.grid(3)\nfor c in range(a.shape[3]):\n    a[n, y, x, c] += 1"),
    ("a", "uint8[:,:,::1]", "x, y, c = cuda.grid(3)\na[y, x, c] += 1"),
    ("a", V, "i = cuda.grid(1)\na[4 * i] = a[4 * i + 1]"),
    ("a, n", f"{V}, pyint", "i = cuda.grid(1)\na[i * n] = 0"),  # n channels, perhaps
    ("a, n", f"{A2}, int32[::1]", "i, j = cuda.grid(2)\na[n[i], j] = 0"),  # a gather
    ("a, w", f"{A2}, pyint", "i = cuda.grid(1)\na[i % w, i // w] = 0"),
    ("a", A2, "i = cuda.grid(1)\na[i, i] = 0"),  # the diagonal
    ("a", A2, "tile = cuda.shared.array((32, 33), float32)\nx, y = cuda.threadIdx.x, cuda.threadIdx.y\ntile[x, y] = a[y, x]\na[y, x] = tile[x, y]"),
    ("a", A2, "own = cuda.local.array((2, 64), float32)\nx = cuda.grid(1)\nfor k in range(64):\n    own[x, k] = a[k, x]\na[0, x] = own[1, x]"),
    ("a, q, out", f"{A2}, {A2}, {V}",
     "i = cuda.grid(1)\nfor j in range(a.shape[0]):\n    d = float32(0)\n    for k in range(a.shape[1]):\n        d += (a[j, k] - q[i, k]) ** 2\n    out[i] = d"),
    ("a, out", f"{A2}, {V}", "r, t = cuda.blockIdx.x, cuda.threadIdx.x\nfor k in range(t, a.shape[1], 128):\n    a[r, k] = 0"),
    # sums as wide as they are meant
    ("a, out", "uint8[::1], int64[::1]", "s = np.int64(0)\nfor v in a:\n    s += v\nout[0] = s"),
    ("a, out", "uint8[::1], int64[::1]", "s = np.uint8(0)\nfor v in a:\n    s += v\nout[0] = s"),
    ("a, out", "uint8[::1], int64[::1]", "s = 0\nfor v in a:\n    s += int(v)\nout[0] = s"),
    ("a, out", "uint8[::1], int64[::1]", "s = 0\nfor v in a:\n    s += v > 3\nout[0] = s"),
    ("a, out", "uint8[::1], int64[::1]", "s = 0\nfor v in a:\n    s = max(s, v)\nout[0] = s"),
    ("a, out", "uint8[::1], int64[::1]", "s = 0\nfor v in a:\n    s += v\nout[0] = s", NUMBA),
    ("a, out", "int32[::1], int64[::1]", "s = 0\nfor v in a:\n    s += v\nout[0] = s"),
    ("a, out", f"{V}, {V}", "s = 0.0\nfor v in a:\n    s += float(v)\nout[0] = s"),
    ("a, out", f"{V}, {V}", "s = float32(0)\nfor v in a:\n    s += v\nout[0] = s"),
    ("a, out", f"{V}, {V}", "s = np.float64(0)\nfor v in a:\n    s += v\nout[0] = s"),
    ("a, out", f"{V}, {V}", "out[0] = sum((v for v in a), np.float64(0))"),
    ("a, out", "float64[::1], float64[::1]", "s = 0.0\nfor v in a:\n    s += v\nout[0] = s"),
    ("a, out", f"{V}, {V}", "s = 0.0\nfor k in range(27):\n    s += a[k]\nout[0] = s"),  # few
    ("a, out", f"{V}, {V}", "s = 0.0\nfor i in range(3):\n    for j in range(3):\n        s += a[3 * i + j]\nout[0] = s"),
    ("a, out", f"{V}, {V}", "s = 0.0\nfor k in range(cuda.grid(1), a.size, cuda.gridsize(1)):\n    s += a[k]\nout[cuda.grid(1)] = s"),
    ("a, out", f"{V}, {V}", "s = 0.0\nfor k in range(cuda.threadIdx.x, a.size, 128):\n    s += a[k]\nout[cuda.grid(1)] = s"),
    ("a, out", f"{V}, {V}", "x = 1.0\nfor k in range(a.size):\n    x -= (x * x - a[k]) / (2 * x)\nout[0] = x"),  # Newton's
    ("a, out", f"{V}, {V}", "x = 0.0\nfor k in range(a.size):\n    x = x * a[0] + a[k]\nout[0] = x"),  # Horner's
    ("a, out", f"{V}, {V}", "x = 0.0\nfor k in range(a.size):\n    x = a[k] - x\nout[0] = x"),
    # float32 stays float32, and float64 where it is wanted
    ("a, c", f"{V}, pyfloat", "i = cuda.grid(1)\na[i] = 0.5 * a[i] + c * math.pi + HALF + i"),
    ("a, c", f"{V}, float32", "i = cuda.grid(1)\na[i] = c * a[i] / 3"),
    ("a, n", f"{V}, int16[::1]", "i = cuda.grid(1)\na[i] = a[i] * n[i]"),  # which float32 holds
    ("a, b, c", "float64[::1], float64[::1], float64", "i = cuda.grid(1)\na[i] = b[i] * c"),
    ("a, b, c", f"float64[::1], {V}, float64", "i = cuda.grid(1)\na[i] = b[i] * c"),  # kept
    ("a, b", f"float64[::1], {V}", "i = cuda.grid(1)\na[i] += b[i]"),
    ("a, b", f"float64[::1], {V}", "cuda.atomic.add(a, 0, b[cuda.grid(1)] * a[1])"),
    ("a", V, "i = cuda.grid(1)\na[i] = a[i] * np.float64(0.1)"),  # asked for
    ("a, c", f"{V}, float64", "i = cuda.grid(1)\na[i] = np.float64(a[i]) * c"),
    ("a, c", f"{V}, float64", "i = cuda.grid(1)\na[i] = a[i] * np.float32(c)"),
    ("a, c", f"{V}, float64", "i = cuda.grid(1)\nif a[i] < c:\n    a[i] = 0"),
    ("a", "complex64[::1]", "i = cuda.grid(1)\na[i] = a[i] * 2j + 0.5"),
    ("a", V, "i = cuda.grid(1)\ns = 0.0\nfor v in a:\n    s += v\na[i] = s", NUMBA),  # an accumulator
    # pyptx's own functions
    ("a, n", f"{V}, int64", "i = cuda.grid(1)\na[i] = round(a[i], n)", NUMBA),
    ("z", "complex64[::1]", "i = cuda.grid(1)\nz[i] = z[i] ** z[i + 1]", NUMBA),
]


def test_every_row_is_here():
    assert {c[0] for c in CASES} | {c[0] for c in SAID} | {"SPILLED", "WAIT_ADDED", "REGISTERS_KEPT", "LOCAL_MEMORY"} == set(TABLE)  # of the assembler: below, test_assembler_log.py


@pytest.mark.parametrize("case", SAID, ids=lambda c: f"{c[0]}-{c[2]}")
@pytest.mark.unchecked("no other advice may be given")
def test_what_is_said(case, tmp_path):
    row, parameters, signature, body, *options = case
    function, text, options = module(tmp_path, parameters, body, *(options or [{}]))
    (advice,) = [a for a in advice_of(function, signature, options) if a.code == TABLE[row][0]]
    line, column = place_of(text, "«")
    marked = text[text.index("«") + 1 : text.index("»")].replace("‹", "")
    lines = str(advice).splitlines()
    assert (advice.line, advice.help) == (line, TABLE[row][2]), str(advice)
    if " for " not in marked:  # how much of a generator is marked depends on CPython's version
        assert advice.column == column and (len(lines[3].strip()) == len(marked) or "\n" in marked), str(advice)
    if "‹" in text:
        line, column = place_of(text, "‹")
        assert f"rows.py:{line}:{column}," in lines[4], str(advice)


@pytest.mark.parametrize("case", QUIET, ids=lambda c: c[1])
@pytest.mark.unchecked("no other advice may be given")
def test_what_is_not_said(case, tmp_path):
    parameters, signature, body, *options = case
    function, _, options = module(tmp_path, parameters, body, *(options or [{}]))
    said = advice_of(function, signature, options)
    assert not said, "\n".join(map(str, said))


def test_one_cause_is_said_once(tmp_path):
    body = "i, j = cuda.grid(2)\nb[i, j] = at(a, i, j) + a[i, j] + a[i, j + 1]"
    function, *_ = module(tmp_path, "a, b", body, {})
    assert len(advice_of(function, f"{A2}, {A2}", {})) == 1
    body = "i = cuda.grid(1)\na[i] = a[i] * c + (a[i] + c) * ROOT_2 + a[i] * ROOT_2"
    function, *_ = module(tmp_path, "a, c", body, {})
    said = [a.message for a in advice_of(function, f"{V}, float64", {})]
    assert len(said) == 2 and "'c'" in said[0] and "'ROOT_2'" in said[1]


@pytest.mark.parametrize("first, second", [("uint8", "int16"), ("int16", "uint8")])
def test_each_type_of_a_sum(tmp_path, first, second):
    function, *_ = module(tmp_path, "a, out", "s = 0\nfor v in a:\n    s += v\nout[0] = s", {})
    most = {"uint8": 255, "int16": 32767}
    for kind in (first, second):
        (advice,) = advice_of(function, f"{kind}[::1], int64[::1]", {})
        assert f"{kind}, which wraps around beyond {most[kind]} " in advice.message


def test_advice_from_the_disk_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))
    body = "i, j = cuda.grid(2)\ns = 0.0\nfor k in range(n):\n    s += a[i, j] * c\na[i, j] = s + a[i, j] * ROOT_2"
    function, *_ = module(tmp_path, "a, n, c", body, {})
    found = []
    for _ in range(2):
        kernel = cuda.jit(function, cache=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pyptx.Advice)
            kernel[1, 1](np.ones((2, 2), np.float32), 3, np.float32(1))
        ((said,),) = [kernel.advice().values()]
        found.append([str(a) for a in said])
    assert [o.cache for o in kernel.overloads.values()] == ["hit"]
    assert found[0] == found[1] and sorted(text[:5] for text in found[0]) == ["PT802", "PT805", "PT806"]


def test_a_long_sum_of_many_terms_ends(tmp_path):
    terms = " + ".join(f"a[0, {k}] * a[0, k + {k}]" for k in range(200))
    doubled = "\n".join(["d = cuda.grid(1)", *["d = d + d"] * 60])
    function, *_ = module(tmp_path, "a, out", f"{doubled}\ns = 0.0\nfor k in range(a.size):\n    s = s + {terms}\n    a[d * 2, k] = s\nout[0] = s", {})
    began = time.monotonic()
    advice_of(function, f"{A2}, {V}", {})
    assert time.monotonic() - began < 20


# --- registers ---

SPILLING = """
import warnings
import numpy as np
from pyptx import cuda
from standin import driver

warnings.simplefilter("always")
driver().set_attribute(3, {local})  # CU_FUNC_LOCAL


@cuda.jit{options}
def kernel(x, n):
    {body}


with warnings.catch_warnings(record=True) as caught:
    for _ in range(2):
        kernel[1, 1](np.ones(3, np.float32), 1)
(said,) = kernel.advice().values()
asked = [a for a in said if a.code == "PT810"]  # of local arrays: for who asks, not at a launch
said = [a for a in said if a.code != "PT810"]
assert [str(w.message) for w in caught] == [str(a) for a in said]
(found,) = kernel.resources().values()
assert list(map(str, found["advice"])) == list(map(str, [*said, *asked]))
print([(a.code, a.line, a.message.split()[2]) for a in said], "@cuda.jit" in "".join(map(str, said)), [(a.line, "32" in str(a)) for a in asked])
"""
ARRAY = "t = cuda.local.array(32, np.float32)\n    for k in range(n):\n        t[k * k % 32] = x[k]\n    x[0] = t[n]"


@needs_standin
@pytest.mark.parametrize("local, options, body, bytes_spilled", [
    (160, "", "x[0] = 1", 160),
    (24, "", "x[0] = 1", 0),
    (128, "", ARRAY, 0),  # the array itself
    (288, "(max_registers=96)", ARRAY, 160),  # else one block would take the entry with more of them
    (160, "(debug=True)", "x[0] = 1", 0),
    (160, "", "print(n)", 0),  # a function is called: the frame may be its own
])
@pytest.mark.unchecked("no other advice may be given")
def test_registers_that_do_not_suffice(tmp_path, local, options, body, bytes_spilled):
    (tmp_path / "spilling.py").write_text(SPILLING.format(local=local, options=options, body=body))
    said = run(f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport spilling")
    asked = "[(13, True)]" if body == ARRAY else "[]"
    assert said.split("\n")[0] == (f"[('PT807', 11, '{bytes_spilled}')] True" if bytes_spilled else "[] False") + " " + asked


LIVE = """
from pyptx import cuda


@cuda.jit(max_registers=32)
def kernel(x):
    i = cuda.grid(1)
    a, b, c, d, e, f, g, h = x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7]
    p, q, r, s, t, u, v, w = x[i + 8], x[i + 9], x[i + 10], x[i + 11], x[i + 12], x[i + 13], x[i + 14], x[i + 15]
    for _ in range(20):
        a, b, c, d, e, f, g, h = a * p + h, b * q + a, c * r + b, d * s + c, e * t + d, f * u + e, g * v + f, h * w + g
        p, q, r, s, t, u, v, w = p * b + w, q * c + p, r * d + q, s * e + r, t * f + s, u * g + t, v * h + u, w * a + v
    x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7] = a, b, c, d, e, f, g, h
    x[i + 8], x[i + 9], x[i + 10], x[i + 11], x[i + 12], x[i + 13], x[i + 14], x[i + 15] = p, q, r, s, t, u, v, w
"""


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
@pytest.mark.unchecked("no other advice may be given")
def test_the_command_line_has_ptxas_say_it(tmp_path, capsys, monkeypatch):
    path = tmp_path / "live.py"
    path.write_text(LIVE)

    def compiled(mode, *arguments):
        monkeypatch.setenv("PYPTX_ADVICE", mode)
        status = cli.main(["compile", str(path), "--sig", "float64[::1]", "--arch", "sm_90", "-o", str(tmp_path / "kernel"), *arguments])
        return status, capsys.readouterr().err.count("PT807")

    assert compiled("1") == (0, 0)  # PTX alone
    assert compiled("1", "--resource-usage") == compiled("1", "--emit", "cubin") == (0, 1)
    assert compiled("1", "--emit", "cubin", "--max-registers", "255") == (0, 0)
    assert compiled("0", "--emit", "cubin") == (0, 0)
    assert compiled("error", "--emit", "cubin") == (1, 1)
