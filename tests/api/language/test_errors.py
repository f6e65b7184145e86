"""Every message of ir/base/errors.def: raised from Python, with its class, place, caret, remedy and length.

In a kernel's text «…» marks where the caret must stand (its first column and line); a line that
ends in "# here" fixes the line alone, for statements. The last test compares the rows raised with
the rows of the table.
"""

import importlib.util
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import pyptx
from pyptx import cuda

ROOT = Path(__file__).resolve().parents[3]
ROW = re.compile(
    r'^E\((\w+),\s*"(PT\d+)",\s*"(\w+)",\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\)', re.MULTILINE
)
TABLE = {m[1]: m.groups()[1:] for m in ROW.finditer((ROOT / "ir/base/errors.def").read_text())}

# Rows that no Python program reaches, each with its reason; tests/unit holds what can be tested of
# them in C.
UNREACHABLE = {
    "LLVM": "only if LLVM refuses a module that our verifier passed",
    "INTERNAL": "only if a pass breaks its contract",
    "REWRITTEN": "needs pytest's rewriting: test_asserts.py",
    "MEMORY": "only when malloc fails; tests/unit makes it fail",
}

X = lambda: [np.zeros(4)]
RECORDS = lambda: [np.zeros(4, [("y", "i4"), ("name", "S3"), ("length", "f8"), ("v", "f4", (2,))])]

# (row, kernel source, arguments). Source may define helpers; the kernel is called "kernel".
CASES = [
    # --- constructs ---
    (
        "IN_FLIGHT",
        "def kernel(x):\n    a = cuda.shared.array((64, 64), np.float16, alignment=1024)\n    acc = cuda.wgmma.zeros(64, 64, np.float32)\n"
        "    acc = cuda.wgmma.mma(a[:, :16], a[:, :16], acc)\n    cuda.wgmma.commit()\n    x[0] = acc[0]  # here\n",
        X,
    ),
    (
        "TRY",
        "def kernel(x):\n    try:  # here\n        x[0] = 1\n    except ValueError:\n        x[0] = 2\n",
        X,
    ),
    ("TRY", "def kernel(x):\n    try:  # here\n        x[0] = 1\n    finally:\n        x[0] = 2\n", X),
    ("WITH", "def kernel(x):\n    with open('f') as f:  # here\n        x[0] = 1\n", X),
    ("GENERATOR", "def kernel(x):\n    yield x[0]\n", X),
    ("ASYNC", "async def kernel(x):\n    x[0] = 1\n", X),
    ("COMPREHENSION", "def kernel(x):\n    v = «[i * 2 for i in range(3)]»\n    x[0] = v[0]\n", X),
    ("GENEXPR", "def kernel(x):\n    x[0] = max(*(i * 2 for i in (1, 2)))  # here\n", X),
    # the place of a loop is what is looped over from 3.13 on
    ("GENEXPR_ITEMS", "def kernel(x):\n    x[0], y = " + ("(i * 2 for i in «(1, 2)» if i > 1)" if sys.version_info >= (3, 13) else "«(i * 2 for i in (1, 2) if i > 1)»") + "\n", X),
    ("COMPREHENSION", "def kernel(x):\n    v = «{i: 2 for i in range(3)}»\n    x[0] = v[0]\n", X),
    ("DICT", "def kernel(x):\n    v = «{1: x[0]}»\n    x[0] = v[1]\n", X),
    ("SET", "def kernel(x):\n    v = «{x[0], 2}»\n    x[0] = 1\n", X),
    ("IMPORT", "def kernel(x):\n    import math  # here\n    x[0] = math.pi\n", X),
    ("CLASS", "def kernel(x):\n    class A:  # here\n        pass\n    x[0] = 1\n", X),
    ("STAR_CALL", "def f(*a, **k):\n    return 1\n\ndef kernel(x):\n    x[0] = «f(**x)»\n", X),
    ("STAR_CALL", "def f(a, b):\n    return a\n\ndef kernel(x):\n    x[0] = «f(*x)»\n", X),
    ("FROZEN_SIZE", "import numpy as np\nG = np.zeros(1 << 30)\n\ndef kernel(x):\n    x[0] = «G[len(x)]»\n", X),
    ("FROZEN_SIZE", "import numpy as np\nG = np.broadcast_to(1, (3000, 10**6))\n\ndef kernel(x):\n    for v in G[0]:  # here\n        x[0] += v\n", X),
    ("GLOBAL_STORE", "G = 0\n\ndef kernel(x):\n    global G\n    «G» = x[0]\n", X),
    (
        "NONLOCAL_STORE",
        "def make():\n    v = 0\n    def kernel(x):\n        nonlocal v\n        «v» = x[0]\n    return kernel\n\nkernel = make()\n",
        X,
    ),
    (
        "DATE_UNIT",
        "import numpy as np\nSTEP, MONTH = np.timedelta64(1, 'D'), np.timedelta64(1, 'M')\n\ndef kernel(x):\n    x[0] = «STEP < MONTH»\n",
        X,
    ),
    (
        "ENUM_VALUE",
        "import enum\nColor = enum.Enum('Color', 'RED BLUE')\n\ndef kernel(x):\n    c = Color.RED if x[0] else Color.BLUE\n    x[0] = «c.name» == 'RED'\n",
        X,
    ),
    ("DELETE", "def kernel(x):\n    del x[0]  # here\n", X),
    ("STRING_BUILD", "def kernel(x):\n    x[0] = «f'{x[0]}' == '0.0'»\n", X),
    ("STRING_BUILD", "def kernel(x):\n    x[0] = «f'{x[0]}' in ('1.0', '0.0')»\n", X),
    ("ARGUMENTS", "def kernel(x):\n    x[0] = len(«(1, 2)[::0]»)\n", X),
    ("ARGUMENTS", "def kernel(x):\n    x[0] = «int('1\\x002')»\n", X),
    ("ARGUMENTS", "def kernel(x):\n    x[0] = «np.timedelta64(1, ('4s', 2**62))» > 0\n", X),
    ("STRING_BUILD", "def kernel(x):\n    s = 'a'\n    t = «s + 'b'»\n    x[0] = t == 'ab'\n", X),
    (
        "MATCH_PATTERN",
        "def kernel(x):\n    match x[0]:\n        case {'a': 1}:  # here\n            x[0] = 1\n",
        X,
    ),
    ("VARARGS_KERNEL", "def f(a, **rest):\n    return a\n\ndef kernel(x):\n    x[0] = f(x[0])\n", X),
    ("VARARGS_KERNEL", "def kernel(x, **rest):\n    x[0] = 1\n", X),
    ("NOT_CONSTANT", "def kernel(n, x):\n    x[0] = «(1, 2, 3)[n:]»[0]\n", lambda: [2, np.zeros(4)]),
    ("TOO_LARGE", "def kernel(x):\n    a = x[0]\n" + "    a = a * a + a\n" * 300000 + "    x[0] = a\n", X),
    ("LIST", "def kernel(x):\n    v = [x[0], 2]\n    «v[0]» = 3\n    x[0] = v[0]\n", X),
    ("CAPTURE", "def kernel(x):\n    k = x[0]\n    f = lambda v: v * k\n    g = lambda v: f(v) + 1\n    «k» = 2\n    x[0] = g(1)\n", X),
    ("CAPTURE", "def kernel(x):\n    k = x[0]\n    t = (lambda v: v * k, 1)\n    «k» = 2\n    x[0] = t[0](1)\n", X),
    ("CAPTURE", "def kernel(x):\n    k = x[0]\n    f = lambda v: v * k\n    g = lambda v, h=f: h(v)\n    «k» = 2\n    x[0] = g(1)\n", X),
    ("CAPTURE", "def kernel(x):\n    k = x[0]\n    f = lambda v: v * k\n    «k» = 2\n    x[0] = f(1)\n", X),
    (
        "ITERATOR_USED",
        "def kernel(x):\n    e = enumerate(x)\n    for i, v in e:\n        break\n    for i, v in «e»:\n        x[0] = v\n",
        X,
    ),
    ("ITERATOR_USED", "def kernel(x):\n    for e in «(enumerate(x),) * 2»:\n        for i, v in e:\n            x[0] = v\n", X),
    # --- names and types ---
    ("UNDEFINED", "def kernel(x):\n    x[0] = «undefined_name» + 1\n", X),
    ("UNDEFINED", "def kernel(x):\n    x[0] = «prnt»(1)\n", X),
    ("UNSET_VAR", "def kernel(x):\n    if x[0] > 0:\n        v = 1\n        del v\n    x[1] = «v»\n", X),
    ("UNSET_VAR", "def kernel(x):\n    if x.ndim > 1:\n        v = 1\n    x[1] = «v»\n", X),
    ("UNSET_VAR", "def kernel(x):\n    for i in range(x.size):\n        x[0] = «v»\n        v += i\n", X),
    ("UNSET_VAR", "def kernel(x):\n    v = 1\n    del v\n    x[1] = «v»\n", X),
    ("UNSET_VAR", "def kernel(x):\n    del «v»\n    v = 1\n", X),
    ("UNSET_VAR", "def kernel(x):\n    «v» += 1\n    x[1] = v\n", X),
    ("NO_ATTRIBUTE", "def kernel(x):\n    x[0] = «x.length»\n", X),
    ("NO_ATTRIBUTE", "def kernel(x):\n    x[0] = «cuda.gird»(1)\n", X),
    ("NO_ATTRIBUTE", "def kernel(x):\n    x[0] = «math.nosuch»(x[0])\n", X),
    ("NO_ATTRIBUTE", "def kernel(x):\n    v = x[0]\n    x[0] = «v.foo»\n", X),
    (
        "NO_COMMON_TYPE",
        "def kernel(x):\n    if x[0] > 0:\n        v = 1\n    else:\n        v = (1, 2)\n    x[0] = v\n",
        X,
    ),
    (
        "NO_COMMON_TYPE",
        "def kernel(x, y):\n    if x[0] > 0:\n        v = x\n    else:\n        v = y\n    x[0] = v[0]\n",
        lambda: [np.zeros(4), np.zeros(4, np.int32)],
    ),
    ("NO_COMMON_TYPE", "def kernel(x):\n    v = None\n    if x[0] > 0:\n        v = x\n    x[0] = v[0]\n", X),
    ("MAYBE_NONE", "def kernel(x):\n    v = None\n    if x[0] > 0:\n        v = 1\n    «print(v)»\n", X),
    ("STATIC_ASSERT", "def kernel(x):\n    «cuda.static_assert(x.ndim == 2, 'x must be a matrix')»\n", X),
    ("NOT_CONSTANT", "def kernel(x):\n    «cuda.static_assert(x[0] > 0, 'positive')»\n", X),
    ("ARGUMENT_TYPE", "def kernel(x):\n    «cuda.static_assert(x.ndim == 1, x[0])»\n", X),
    ("WHOLE_ARRAY", "def kernel(x):\n    x[0] = «x + x»\n", X),
    ("BAD_OPERANDS", "def kernel(x):\n    x[0] = «x[0] << 1»\n", X),
    ("WHOLE_ARRAY", "def kernel(x):\n    x[0] = «x @ x»\n", X),
    ("BAD_OPERANDS", "def kernel(x):\n    x[0] = «x[0] @ x[0]»\n", X),
    ("BAD_OPERANDS", "def kernel(x):\n    x[0] = «(1, 2) - x[0]»\n", X),
    ("BAD_OPERAND", "def kernel(x):\n    x[0] = «~x[0]»\n", X),
    ("WHOLE_ARRAY", "def kernel(x):\n    x[0] = «-x»\n", X),
    ("LITERAL_RANGE", "def kernel(x):\n    x[0] = «x[0] + 300»\n", lambda: [np.zeros(4, np.uint8)]),
    ("NOT_CALLABLE", "def kernel(x):\n    x[0] = «x[0](3)»\n", X),
    ("ARGUMENTS", "def f(a, b):\n    return a + b\n\ndef kernel(x):\n    x[0] = «f(1)»\n", X),
    ("ARGUMENTS", "def f(a, b):\n    return a + b\n\ndef kernel(x):\n    x[0] = «f(1, 2, 3)»\n", X),
    ("ARGUMENTS", "def f(a, b):\n    return a + b\n\ndef kernel(x):\n    x[0] = «f(1, c=2)»\n", X),
    ("ARGUMENT_TYPE", "def kernel(x):\n    print(x[0], sep=3)  # here\n", X),
    ("BAD_OPERAND", "def kernel(x):\n    x[0] = «len(3)»\n", X),
    (
        "NOT_CONSTANT",
        "def kernel(n, x):\n    t = «cuda.local.array(n, np.float32)»\n    t[0] = 1\n    x[0] = t[0]\n",
        lambda: [4, np.zeros(4)],
    ),
    ("NOT_CONSTANT", "def kernel(n, x):\n    x[0] = «cuda.grid(n)»\n", lambda: [1, np.zeros(4)]),
    ("RETURN_VALUE", "def kernel(x):\n    return x[0]  # here\n", X),
    (
        "RETURN_TYPES",
        "def f(v):\n    if v > 0:\n        return 1\n    return (1, 2)  # here\n\ndef kernel(x):\n    x[0] = f(x[0])\n",
        X,
    ),
    ("RECURSION", "def f(n):\n    return f(n - 1) + 1\n\ndef kernel(x):\n    x[0] = f(3)\n", X),
    ("UNPACK_COUNT", "def kernel(x):\n    a, b = (1, 2, x[0])  # here\n    x[0] = a\n", X),
    ("NOT_ITERABLE", "def kernel(x):\n    for i in «x[0]»:\n        x[1] = i\n", X),
    ("NOT_ITERABLE", "def kernel(x):\n    for i in «x.size»: x[i] = 0\n", X),
    ("LOOP_MIXED", "def kernel(x):\n    for f in «(math.sin, math.cos)»:\n        x[0] = f(1)\n", X),
    ("INDEX_TYPE", "def kernel(x):\n    x[0] = «x[x.size > 2]»\n", X),
    ("INDEX_TYPE", "def kernel(x):\n    «x[x.size > 2]» = 1\n", X),
    ("STORE_TYPE", "def kernel(x):\n    «x[0]» = math\n", X),
    ("FORMAT", "def kernel(x):\n    print(f'{x[0]:q}')  # here\n", X),
    ("OBJECT_VALUE", "def kernel(x):\n    print(x)  # here\n", X),
    ("STORE_TYPE", "OBJECT = object()\n\ndef kernel(x):\n    x[0] = OBJECT  # here\n", X),
    ("TUPLE_INDEX", "def kernel(x):\n    t = (1, 2)\n    x[0] = «t[2]»\n", X),
    ("TUPLE_MIXED", "def kernel(n, x):\n    t = (1, 2.5, x)\n    x[0] = «t[n]»\n", lambda: [1, np.zeros(4)]),
    (
        "FUNCTION_PHI",
        "def f(a):\n    return a\n\ndef g(a):\n    return -a\n\ndef kernel(x):\n    h = f if x[0] > 0 else g\n    x[0] = «h(1)»\n",
        X,
    ),
    (
        "TOO_DEEP",
        "def f(t, n):\n    return 0 if n == 0 else f((t, 1), n - 1)\n\ndef kernel(n, x):\n    x[0] = f((1, 2), n)\n",
        lambda: [5, np.zeros(4)],
    ),
    # --- arrays and memory ---
    ("INDEX_COUNT", "def kernel(x):\n    x[0] = «x[0, 1]»\n", X),
    ("INDEX_COUNT", "def kernel(x):\n    «x[0, 1]» = 1\n", X),
    ("INDEX_COUNT", "def kernel(x):\n    x[0] = «x[" + "None, " * 16 + "]».ndim\n", X),
    ("INDEX_TYPE", "def kernel(x):\n    x[0] = «x[0.5]»\n", X),
    ("INDEX_TYPE", "def kernel(x):\n    x[0] = «x[x[0]]»\n", X),
    (
        "READ_ONLY",
        "T = np.zeros(4)\n\ndef kernel(x):\n    t = cuda.const.array_like(T)\n    «t[0]» = x[0]\n",
        X,
    ),
    ("STORE_TYPE", "def kernel(x):\n    «x[0]» = (1, 2)\n", X),
    ("STORE_TYPE", "def kernel(x):\n    «x[0]» = None\n", X),
    ("STORE_VIEW", "def kernel(x):\n    «x[1:3]» = None\n", X),
    ("SHAPE", "def kernel(x):\n    t = «cuda.shared.array(-3, np.float32)»\n    x[0] = t[0]\n", X),
    ("SHAPE", "def kernel(x):\n    t = «cuda.local.array(0, np.float32)»\n    x[0] = t[0]\n", X),
    ("DTYPE", "PAIR = np.dtype([('a', 'i4'), ('b', 'i4')])\n\ndef kernel(x):\n    x[0] = «x[0].astype(PAIR)»\n", X),
    ("DTYPE", "PAIR = np.dtype([('a', 'i4'), ('b', 'i4')])\n\ndef kernel(x):\n    x[0] = «x[0].view(PAIR)»\n", X),
    ("DTYPE", "def kernel(x):\n    t = «cuda.shared.array(3, 4)»\n    x[0] = t[0]\n", X),
    (
        "SHARED_SIZE",
        "def kernel(x):\n    t = cuda.shared.array(1 << 20, np.float64)\n    t[0] = x[0]\n    cuda.syncthreads()\n    x[0] = t[1]\n",
        X,
    ),
    (
        "LOCAL_SIZE",
        "def kernel(x):\n    t = cuda.local.array(1 << 22, np.float64)\n    t[0] = x[0]\n    x[0] = t[1]\n",
        X,
    ),
    ("ATOMIC_TYPE", "def kernel(x):\n    «cuda.atomic.add(x, 0, 1)»\n", lambda: [np.zeros(4, bool)]),
    ("ATOMIC_TYPE", "def kernel(x):\n    «cuda.atomic.xor(x, 0, 1)»\n", X),
    ("ATOMIC_TYPE", "def kernel(x):\n    «cuda.atomic.inc(x, 0, 1)»\n", lambda: [np.zeros(4, np.int64)]),
    ("CONST_ARRAY", "def kernel(x):\n    t = «cuda.const.array_like(x)»\n    x[0] = t[0]\n", X),
    ("SETATTR", "def kernel(x):\n    «x.shape» = 3\n", X),
    ("SETATTR", "def kernel(r):\n    «r.shape» = 3\n", RECORDS),
    ("NO_ATTRIBUTE", "def kernel(r):\n    r[0].y = «r[0].lenght»\n", RECORDS),
    ("NO_ATTRIBUTE", "def kernel(r):\n    «r[0]['z']» = 1\n", RECORDS),
    ("RECORD_FIELD", "def kernel(r):\n    r[0].y = «r[0].name»[0]\n", RECORDS),
    ("RECORD_FIELD", "def kernel(r):\n    «r[0]['name']» = 1\n", RECORDS),
    ("RECORD_VALUE", "def kernel(r):\n    «r[0]» = (1, 2)\n", RECORDS),
    ("RECORD_VALUE", "def kernel(r):\n    «r[0]» = r['v']\n", RECORDS),
    ("RECORD_OPERAND", "def kernel(r):\n    r[0].y = «r[0] == r[1]»\n", RECORDS),
    ("RECORD_OPERAND", "def kernel(r):\n    r[0].y = «r[0] + 1»\n", RECORDS),
    ("INDEX_TYPE", "def kernel(r):\n    r[0].y = «r['v']['y']»[0]\n", RECORDS),
    ("INDEX_TYPE", "def kernel(r):\n    r[0].y = «r[['y', 'v']]»[0].y\n", RECORDS),
    ("NO_COMMON_TYPE", "def kernel(r):\n    t = cuda.local.array(2, r.dtype)\n    s = t[0] if r[0].y else r[1]\n    «s.y» = 1\n", RECORDS),
    ("NOT_CONSTANT", "def kernel(r):\n    r[0].y = «r[0][r[1].y]»\n", RECORDS),
    ("TUPLE_INDEX", "def kernel(r):\n    r[0].y = «r[0][7]»\n", RECORDS),
    ("RECORD_OPERAND", "def kernel(r):\n    «r[1:]» += 1\n", RECORDS),
    ("RECORD_OPERAND", "def kernel(r):\n    x = «not r[0]»\n    r[0].y = x\n", RECORDS),
    ("UNPACK_COUNT", "def kernel(r):\n    «x, y» = r[0]\n    r[0].y = x\n", RECORDS),
    ("STORE_VIEW", "def kernel(r):\n    «r[0].length» = r[1]\n", RECORDS),
    ("BARRIER", "def kernel(x):\n    b = cuda.shared.array(2, cuda.mbarrier)\n    «b[0] = x[0]»\n", X),
    ("ATOMIC_ALIGN", "def kernel(r):\n    «cuda.atomic.add(r['length'], 0, 1)»\n", RECORDS),
    (
        "LAYOUT",
        "def kernel(x):\n    v = «x.reshape(8)»\n    x[0, 0] = v[1]\n",
        lambda: [cuda.to_device(np.zeros((4, 4)))[:, ::2]],
    ),
    # --- code generation ---
    (
        "HOST_ONLY",
        "def f(n):\n    if n > 0:\n        cuda.syncthreads()\n        f(n - 1)\n\ndef kernel(x):\n    f(3)\n    x[0] = 1\n",
        X,
    ),
    (
        "PARAM_SIZE",
        "def kernel(t, x):\n    for v in t:\n        x[0] += v\n",
        lambda: [tuple(np.float64(i) for i in range(800)), np.zeros(4)],
    ),
]

if sys.version_info >= (3, 12):
    CASES.append(("BYTECODE", "def kernel(x):\n    type T = int\n    x[0] = 1\n", X))

# The same, where what to do depends on the operand or the name: a part of the help instead of the row's remedy.
ADVISED = [
    ("BAD_OPERANDS", "def kernel(x):\n    x[0] = «None + x[0]»\n", "is not None"),
    ("UNDEFINED", "def kernel(x):\n    x[0] = «sqrt»(x[0])\n", "write math.sqrt, or import the name"),
    ("UNDEFINED", "def kernel(x):\n    «syncthreads»()\n", "write cuda.syncthreads, or import the name"),
    ("UNDEFINED", "def kernel(x):\n    y = cuda.local.array(2, «float32»)\n", "write np.float32, or import the name"),
    ("BAD_OPERAND", "WEIGHTS = [1, 2]\n\ndef kernel(x):\n    x[0] = «WEIGHTS[1]»\n", "a tuple or a NumPy array"),
    ("BAD_OPERAND", "def kernel(x):\n    t = (1, 2)\n    «t[0]» = x[0]\n", "cuda.local.array"),
    ("BAD_OPERAND", "@cuda.jit\ndef inner(x):\n    x[0] = 1\n\ndef kernel(x):\n    «inner[1, 1]»(x)\n", "launch"),
    ("ARGUMENT_TYPE", "def kernel(x):\n    x[0] = «math.sin(x)»\n", "one element"),
    ("ARGUMENT_TYPE", "def kernel(x):\n    for i in «range(x[0])»:\n        x[0] = 1\n", "//"),
    ("ARGUMENT_TYPE", "def kernel(x):\n    x[0] = «sum(x[0])»\n", "sum(v * v for v in x)"),
    ("WHOLE_ARRAY", "def kernel(x):\n    x[0] = «max(x.reshape(2, 2))»\n", "max(v for v in x.flat)"),
    ("ARGUMENT_TYPE", "def kernel(x):\n    x[0] = «np.add(x, 1)»\n", "np.add(x, y, out)"),
    ("NOT_CALLABLE", "import functools\nF = functools.partial(max, 1)\n\ndef kernel(x):\n    x[0] = «F(x[0])»\n", "a closure"),
    ("NOT_CALLABLE", "class P:\n    x = 1\n\ndef kernel(x):\n    x[0] = «P()».x\n", "a typing.NamedTuple"),
    ("UNPACK_COUNT", "def kernel(x):\n    a, b, c = x.shape  # here\n    x[0] = a\n", "the array has 1 axis here: pass one with as many"),
    ("UNPACK_COUNT", "def kernel(x):\n    y = x.reshape(2, 2)\n    a, b, *c, d = y.strides  # here\n    x[0] = a\n", "or use 2 in the kernel"),
    ("TUPLE_INDEX", "def kernel(x):\n    n = x.shape\n    x[0] = «n[1]»\n", "the array has 1 axis here"),
    ("ARGUMENTS", "def kernel(*x):  # here\n    x[0][0] = 1\n", "one that takes a tuple"),
    ("ARGUMENTS", "def kernel(x):\n    x[0] = «math.sin()»\n", "write math.sin(x)"),
    ("ARGUMENTS", "def kernel(x):\n    x[0] = «cuda.grid(1, 2)»\n", "write cuda.grid(ndim)"),
    ("ARGUMENTS", "def kernel(x):\n    «cuda.atomic.add(x[0], 1)»\n", "write cuda.atomic.add(ary, idx, val)"),
    ("NOT_CONSTANT", "def kernel(x):\n    t = «cuda.shared.array(x.size, np.float32)»\n    x[0] = t[0]\n", "dynamic shared memory"),
    ("INDEX_TYPE", "def kernel(x):\n    x[0] = «x[[0, 1]]»\n", "loop over the indices"),
    ("INDEX_TYPE", "def kernel(x):\n    «x[[0, 1, 2]]» = 1\n", "loop over the indices"),
    ("BAD_OPERAND", "def kernel(x):\n    «i», j = cuda.grid(1)\n    x[i] = j\n", "cuda.grid(2) gives two numbers"),
    ("BAD_OPERAND", "def kernel(x):\n    «raise 'bad'»\n", "raise an exception"),
    ("WHOLE_ARRAY", "def kernel(x):\n    if «x == None»:\n        x[0] = 1\n", "write 'is None'"),
    ("WHOLE_ARRAY", "def kernel(x):\n    x[0] = «1 in x»\n", "any(v == x for v in a)"),
    ("WHOLE_ARRAY", "def kernel(x):\n    if «x != None»:\n        x[0] = 1\n", "write 'is not None'"),
    ("NOT_ITERABLE", "L = [1, 2]\n\ndef kernel(x):\n    for v in «L»:\n        x[0] = v\n", "freeze a tuple"),
    ("BAD_OPERAND", "L = [1, 2]\n\ndef kernel(x):\n    x[0] = «len(L)»\n", "freeze a tuple"),
]

RAISED = set()  # rows that a test has seen; test_every_row_is_raised reads it


def load(tmp_path, source):
    """Writes the module, without its marks, and imports it: (module, line, column) of the mark; None where there is none."""
    line = column = None
    for number, text in enumerate(source.splitlines(), 1):
        if "«" in text:
            line, column = number, text.index("«") + 1
        elif text.endswith("# here"):
            line = number
    file = tmp_path / "wrong.py"
    file.write_text(
        "import math\n\nimport numpy as np\nfrom pyptx import cuda\n\n"
        + source.replace("«", "").replace("»", "")
    )
    spec = importlib.util.spec_from_file_location(f"wrong_{abs(hash(source))}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, line and line + 5, column


def check_text(row, error, file=None, line=None, column=None, advice=None):
    """The exception's classes, and the report: code, place, caret, remedy (or advice), length."""
    code, exception, message, remedy = TABLE[row]
    RAISED.add(row)
    text = str(error)
    assert isinstance(error, pyptx.CompileError), type(error).__mro__
    assert isinstance(error, getattr(__import__("builtins"), exception)), type(error).__mro__
    assert text.startswith(code + ": "), text
    lines = text.splitlines()
    assert len(lines) <= 15, text
    fixed = [
        re.escape(part) for part in re.split(r"%(?:\.?\d*)(?:lld|llu|[sdux])", message.replace('\\"', '"'))
    ]
    assert re.search(".*".join(fixed), lines[0]), (message, lines[0])
    help = advice or remedy.replace('\\"', '"')
    assert any(part.startswith("  help: ") and help in part for part in lines), text
    if line is None:
        return
    place = re.match(r"\s*(.*):(\d+):(\d+), in (.*)", lines[1])
    assert place, text
    assert place[1].endswith(file) and int(place[2]) == line, text
    source = Path(place[1]).read_text().splitlines()[line - 1]
    assert lines[2].strip() == source.strip(), text
    assert set(lines[3].strip()) == {"^"}, text
    # The caret stands under the column that is named.
    assert lines[3].index("^") - 4 == int(place[3]) - 1 - (len(source) - len(source.lstrip())), text
    if column is not None:
        assert int(place[3]) == column, text


@pytest.mark.parametrize(
    "row, source, arguments", CASES, ids=[f"{row}-{n}" for n, (row, *_) in enumerate(CASES)]
)
def test_compile_error(row, source, arguments, tmp_path, device):
    if row == "HOST_ONLY" and device != "host":
        RAISED.add(row)
        pytest.skip("only the host device has no recursion with barriers")
    module, line, column = load(tmp_path, source)
    with pytest.raises(pyptx.CompileError) as caught:
        cuda.jit(module.kernel)[1, 1](*arguments())
    check_text(row, caught.value, "wrong.py", line, column)


@pytest.mark.parametrize(
    "row, source, advice", ADVISED, ids=[f"{row}-{n}" for n, (row, *_) in enumerate(ADVISED)]
)
def test_advice_by_operand(row, source, advice, tmp_path):
    module, line, column = load(tmp_path, source)
    with pytest.raises(pyptx.CompileError) as caught:
        cuda.jit(module.kernel)[1, 1](*X())
    check_text(row, caught.value, "wrong.py", line, column, advice)


def advice_rows():
    """(name, a word of the text) of ir/base/advice.def; a name in capitals for the text is a #define's."""
    text = (ROOT / "ir/base/advice.def").read_text()
    texts = dict(re.findall(r'^#define (\w+) "(.*)"$', text, re.MULTILINE))
    rows = re.findall(r'^ADVICE\("([^"]+)", (?:(\w+)|"(.*)")\)', text, re.MULTILINE)
    assert len(rows) == text.count("\nADVICE(")
    return [(name, (texts[define] if define else own).replace('\\"', '"')) for name, define, own in rows]


# What the prefixes of advice.def are tried with; and one of numpy that has no function of that name.
TRIED = {
    "numpy.zeros*": "numpy.zeros_like", "numpy.ones*": "numpy.ones_like", "numpy.empty*": "numpy.empty_like",
    "numpy.full*": "numpy.full", "numpy.random*": "numpy.random.rand", "numpy.linalg*": "numpy.linalg.norm",
    "numpy.m*": "numpy.mean", "numpy.am*": "numpy.amax", "numpy.arg*": "numpy.argmax", "numpy.cum*": "numpy.cumsum",
    "random.*": "random.random", "time.*": "time.perf_counter", "cuda.shared*": "cuda.shared.zeros",
    "cuda.local*": "cuda.local.zeros", "cuda.shfl*": "cuda.shfl_down", "cuda.device_array*": "cuda.device_array", "list.*": "list.append", "str.*": "str.join", "array.m*": "array.mean",
    "array.a*": "array.argmax", "array.cum*": "array.cumsum", "io.open": "open",
    "array.device*": "array.device_ctypes_pointer", "array.conj*": "array.conj", "numpy.histogram*": "numpy.histogram", "numpy.flip*": "numpy.flipud",
    "ufunc.reduce*": "ufunc.reduce", "array.flags*": "array.flags",
    "cuda.intrin.cp_async_bulk_tensor*": "cuda.intrin.cp_async_bulk_tensor_3d", "cuda.intrin.cp_async_bulk*": "cuda.intrin.cp_async_bulk_prefetch",
    "cuda.intrin.*": "cuda.intrin.warp_idx",
}  # fmt: skip


@pytest.mark.parametrize("name, text", advice_rows(), ids=[name for name, _ in advice_rows()])
def test_advice_by_name(name, text, tmp_path):
    """Each row of ir/base/advice.def is the help of a kernel that uses the name."""
    expression = TRIED.get(name, name)
    assert not expression.endswith("*"), "give test_errors.TRIED a name for it"
    for of, stands_for in {"array.": "x.", "list.": "().", "str.": "'a'.", "number.": "(1.5).", "ufunc.": "numpy.add."}.items():
        if expression.startswith(of):
            expression = stands_for + expression[len(of) :]
    module, line, column = load(
        tmp_path, f"import numpy\nimport random\nimport time\n\ndef kernel(x):\n    y = {expression}(x)\n    x[0] = 1\n"
    )
    with pytest.raises((TypeError, AttributeError)) as caught:
        cuda.jit(module.kernel)[1, 1](*X())
    row = "NO_ATTRIBUTE" if isinstance(caught.value, AttributeError) else "NOT_CALLABLE"
    check_text(row, caught.value, advice=text)


def test_class_of_the_main_program():
    scope = {"__name__": "__main__", "cuda": cuda}
    exec("class P:\n    pass\n\n@cuda.jit\ndef kernel(x):\n    P()\n", scope)
    with pytest.raises(TypeError, match="PT207: P cannot be called in a kernel"):
        scope["kernel"][1, 1](np.zeros(1))


def test_note_of_the_caller(tmp_path):
    """An error in a device function names the call too."""
    module, line, _ = load(
        tmp_path, "def f(a):\n    return a.foo  # here\n\ndef kernel(x):\n    x[0] = f(x[0])\n"
    )
    with pytest.raises(AttributeError) as caught:
        cuda.jit(module.kernel)[1, 1](*X())
    check_text("NO_ATTRIBUTE", caught.value, "wrong.py", line)
    assert f"wrong.py:{line + 3}:" in str(caught.value)


def test_hints_of_misspelt_names():
    """Two neighbours that are exchanged are nearer than another letter, and what is far is no hint."""
    for wrong, meant in (("float23", "float32"), ("int46[:]", "int64"), ("flaot32", "float32")):
        with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
            cuda.compile_ptx(lambda x: None, f"({wrong})", cc=(8, 0))
    with pytest.raises(AttributeError, match="did you mean 'grid'"):
        cuda.gird  # noqa: B018
    with pytest.raises(AttributeError) as error:
        cuda.nonsense  # noqa: B018
    assert "did you mean" not in str(error.value)


def test_misspelt_name_is_suggested(tmp_path):
    module, _, _ = load(tmp_path, "THRESHOLD = 3\n\ndef kernel(x):\n    x[0] = THRESHHOLD\n")
    with pytest.raises(NameError) as caught:
        cuda.jit(module.kernel)[1, 1](*X())
    check_text("UNDEFINED", caught.value)


@pytest.mark.parametrize("variable, value, what, among", [
    ("PYPTX_SKIP", "nvptx.coarsen,host.fision", "there is no pass 'host.fision'", "host.whole_vectors"),
    ("PYPTX_SKIP", "lower", "the code would be wrong without 'lower'", "ssa.narrow"),
    ("PYPTX_SKIP", "host.entry", "the code would be wrong without 'host.entry'", "host.lanes"),
    ("PYPTX_DUMP", "Tx", "there is no pass 'Tx'", "infer"),
    ("PYPTX_DUMP", "T,nvptx.roots", "there is no pass 'nvptx.roots'", "nvptx.square_root"),
])
def test_names_of_passes(variable, value, what, among, monkeypatch):
    def kernel(x):
        x[0] = 1

    monkeypatch.setenv(variable, value)
    with pytest.raises(pyptx.CompileError) as caught:
        cuda.jit(kernel)[1, 1](np.zeros(4))
    check_text("PASS", caught.value)
    assert variable in str(caught.value) and what in str(caught.value) and among in str(caught.value)


def test_what_an_architecture_lacks(tmp_path):
    module, line, column = load(tmp_path, "def kernel(x):\n    «cuda.inline_ptx('wgmma.fence.sync.aligned;')»\n    x[0] = 1\n")
    with pytest.raises(ValueError) as caught:
        cuda.compile_ptx(module.kernel, "float64[::1]", (8, 0))
    check_text("ARCH_LACKS", caught.value, "wrong.py", line, column)


def test_what_the_assembler_refuses_in_a_text(tmp_path, monkeypatch):
    """By a ptxas that finds an error in the line with 1.5."""
    fake = tmp_path / "ptxas"
    fake.write_text('#!/bin/sh\nfor f; do case "$f" in *.ptx) n=$(grep -nF "1.5;" "$f" | cut -d: -f1);; esac; done\n'
                    'echo "ptxas x.ptx, line $n; error   : Wrong"; exit 255\n')  # fmt: skip
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    module, line, _ = load(tmp_path, "def kernel(x):\n    cuda.inline_ptx('add.s32 %0, %0, 1.5;', '+r', 1)  # here\n    x[0] = 1\n")
    with pytest.raises(ValueError) as caught:
        pyptx._pyptx._compile(module.kernel, "float64[::1]", "nvptx", "sm_80", 0, {}, "cubin")
    check_text("INLINE_TEXT", caught.value, "wrong.py", line)


@pytest.mark.parametrize("row, words", [
    ("MATRIX_REGISTERS", "ptxas fatal   : (C7602) Insufficient registers (64) to compile instruction at line 9 in function kernel"),
    ("MATRIX_REGISTERS", "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources"),
    ("SERIALIZED", "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ill formed pipeline stage"),
])  # fmt: skip
def test_what_the_assembler_makes_of_matrix_operations(row, words, tmp_path):
    source = "def kernel(x):\n    s = cuda.shared.array((64, 64), np.float16, alignment=1024)\n    acc = cuda.wgmma.zeros(64, 64, np.float32)\n"
    source += "    acc = «cuda.wgmma.mma(s[:, :16], s[:, :16], acc)»\n    cuda.wgmma.commit()\n    acc = cuda.wgmma.wait(0, acc)\n    x[0] = acc[0]\n"
    module, line, column = load(tmp_path, source)
    ptx = pyptx._pyptx._compile(module.kernel, "float32[::1]", "nvptx", "sm_90", 0, {}, "ptx")["ptx"]
    with pytest.raises(ValueError) as caught:
        pyptx._pyptx._assembled_advice(module.kernel.__code__, ptx, 0, 0, words)
    check_text(row, caught.value, "wrong.py", line, column)


def test_corrupt_code():
    def kernel(x):
        x[0] = 1

    undefined = 255 if sys.version_info < (3, 14) else 127  # where 255 makes CPython itself crash when it is asked for co_code
    for garbage in (bytes([undefined, 255]) * 10, b"", kernel.__code__.co_code[:-2], bytes(len(kernel.__code__.co_code))):
        broken = type(kernel)(kernel.__code__.replace(co_code=garbage), globals(), "broken")
        with pytest.raises(pyptx.CompileError) as caught:
            cuda.jit(broken)[1, 1](np.zeros(4))
        assert caught.value.args
        if str(caught.value).startswith("PT118"):
            check_text("CORRUPT", caught.value)
    assert "CORRUPT" in RAISED


def test_instruction_without_a_meaning():
    """A stray inline cache, which no compiler makes."""
    import opcode

    def kernel(x):
        x[0] = 1

    code = kernel.__code__.co_code
    odd = bytes([opcode.opmap["CACHE"], 0])
    function = type(kernel)(kernel.__code__.replace(co_code=code[:2] + odd + code[2:]), globals(), "kernel")
    with pytest.raises(NotImplementedError) as caught:
        cuda.jit(function)[1, 1](np.zeros(4))
    check_text("BYTECODE", caught.value)
    assert "CACHE" in str(caught.value)


def test_an_error_of_the_whole_function_marks_its_first_line():
    with pytest.raises(SyntaxError) as caught:

        @cuda.jit
        async def kernel(x):
            x[0] = 1

        kernel[1, 1](np.zeros(4))
    place, source, caret = str(caught.value).splitlines()[1:4]
    assert re.search(r":\d+:1, in ", place)
    assert source.strip() and caret.strip("^ ") == "" and caret.index("^") == source.index(source.strip())


@pytest.mark.parametrize(
    "signature",
    ["floop32[:]", "void(float32[:)", "float32[:,::2]", "float32[:], ", "(((", "float32[:] float32[:]"],
)
def test_bad_signature(signature):
    with pytest.raises(ValueError) as caught:

        @cuda.jit(signature)
        def kernel(x, y):
            x[0] = 1

    check_text("SIGNATURE", caught.value)


# --- the command line raises what needs a target or a tool ---


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "pyptx.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
    )


def compiled(file, kernel, *arguments, **environment):
    return command("compile", f"{file}:{kernel}", "--sig", "float32[:]", "--arch", "sm_80", *arguments, **environment)


def seen(row, result):
    code, _, _, remedy = TABLE[row]
    assert result.returncode == 1, result
    assert code in result.stderr and remedy in result.stderr, result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 15, result.stderr
    RAISED.add(row)


@pytest.fixture
def kernels(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(
        textwrap.dedent("""\
        import math
        from pyptx import cuda

        @cuda.jit
        def waves(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = math.sin(x[i])

        @cuda.jit
        def ones(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = 1
    """)
    )
    return file


@cuda.jit
def add_one(x, v=1):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += v


@pytest.mark.parametrize("arch", ["sm_10", "sm_999", "fast", "gfx90a", ""])
def test_unknown_architecture(arch):
    from pyptx import _pyptx

    with pytest.raises(pyptx.CompileError) as caught:
        _pyptx._compile(add_one, "float32[:]", "nvptx", arch, 0, {}, "ptx")
    check_text("ARCH", caught.value)


def test_libdevice_missing(kernels, tmp_path):
    seen("LIBDEVICE", compiled(kernels, "waves", PYPTX_LIBDEVICE=str(tmp_path / "nothing.bc")))


def test_ptxas_missing(kernels, tmp_path):
    nowhere = {"PATH": str(tmp_path), "CUDA_HOME": "", "CUDA_PATH": "", "PYPTX_PTXAS": str(tmp_path / "no")}
    seen("NO_PTXAS", compiled(kernels, "ones", "--emit", "cubin", "-o", tmp_path / "out.cubin", **nowhere))


def test_ptxas_fails(kernels, tmp_path):
    fake = tmp_path / "ptxas"
    fake.write_text("#!/bin/sh\necho 'ptxas fatal : no such thing' >&2\nexit 255\n")
    fake.chmod(0o755)
    seen("PTXAS", compiled(kernels, "ones", "--emit", "cubin", "-o", tmp_path / "out.cubin", PYPTX_PTXAS=str(fake)))


# --- the table itself ---


def test_table_is_well_formed():
    codes = [row[0] for row in TABLE.values()]
    assert len(codes) == len(set(codes))
    assert len(TABLE) == len(re.findall(r"^E\(", (ROOT / "ir/base/errors.def").read_text(), re.MULTILINE))
    for name, (_, exception, message, remedy) in TABLE.items():
        assert issubclass(getattr(__import__("builtins"), exception), Exception), name
        assert message and remedy and "%" not in remedy, name


def test_every_row_is_raised(request):
    if request.config.option.keyword or not {case[0] for case in CASES} <= RAISED:
        pytest.skip("needs the other tests of this file in the same process")
    missing = set(TABLE) - RAISED - set(UNREACHABLE)
    assert not missing, f"no test raises {sorted(missing)}"
    assert not set(UNREACHABLE) & RAISED, "reachable after all"
