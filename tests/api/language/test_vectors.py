"""cuda.float32x4 and the like: made of numbers and vectors, read by name and index, passed to and from functions."""

import numpy as np
import pytest
from harness import define, jit, store
from pyptx import CompileError, cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of

BASES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
ALIASES = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32", "long": "int64",
    "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "half": "float16", "float": "float32", "double": "float64",
}  # fmt: skip
NAMES = [(f"{b}x{n}", b, n) for b in BASES for n in (1, 2, 3, 4)] + [
    (f"{a}{n}", b, n) for a, b in ALIASES.items() for n in (1, 2, 3, 4)
]


def launch(kernel, *args):
    jit(kernel, fma=False)[1, 1](*args)
    cuda.synchronize()


@pytest.mark.parametrize("name, base, n", NAMES, ids=[n for n, _, _ in NAMES])
def test_components_have_the_type(name, base, n):
    """Converted as a store converts; a sum shows the width, a third the kind."""
    components = ", ".join(["x[0]", "x[1]", "x[2]", "x[3]"][:n])
    reads = "".join(f"    out[{k}] = v.{c} + v.{c}\n    out[{4 + k}] = v.{c} / 3\n" for k, c in enumerate("xyzw"[:n]))
    kernel = define(f"def kernel(x, out):\n    v = cuda.{name}({components})\n{reads}")
    x, out = np.array([1.75, -3.0, 100.0, 300.5]), np.zeros(8)
    launch(kernel, x, out)
    with np.errstate(all="ignore"):
        v = [store(base, e) for e in x[:n]]
        want = [e + e for e in v] + [0] * (4 - n) + [e / np.dtype(base).type(3) if "float" in base else e / 3 for e in v]
    assert out[: 4 + n].tolist() == [float(w) for w in want]


def test_of_vectors_and_numbers():
    def kernel(out):
        a = cuda.float32x2(1, 2)
        b = cuda.float32x3(a, 3.5)
        c = cuda.float4(0, b)
        d = cuda.float32x4(a, a)
        e = cuda.int32x4(cuda.float2(6.9, 7), 8, True)
        f = cuda.float32x4(d)
        for k in range(4):
            out[0, k] = c[k]
            out[1, k] = d[k]
            out[2, k] = e[k]
            out[3, k] = f[k]
        out[4, 0], out[4, 1], out[4, 2] = b
        out[4, 3] = len(b)

    out = np.zeros((5, 4))
    launch(kernel, out)
    assert out.tolist() == [[0, 1, 2, 3.5], [1, 2, 1, 2], [6, 7, 8, 1], [1, 2, 1, 2], [1, 2, 3.5, 3]]


def test_through_functions_loops_and_branches():
    def cross(a, b):
        return cuda.float32x3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)

    @cuda.jit(device=True)
    def scaled(v, s):
        return cuda.float32x3(v.x * s, v.y * s, v.z * s)

    def kernel(x, out):
        v = cuda.float32x3(x[0], x[1], x[2])
        total = cuda.float32x3(0, 0, 0)
        for k in range(3):
            w = cross(v, cuda.float32x3(k, 1, 2))
            if k == 1:
                w = scaled(w, 10)
            total = cuda.float32x3(total.x + w.x, total.y + w.y, total.z + w.z)
        out[0] = total.x
        out[1] = total.y
        out[2] = total.z
        out[3] = total.x / 3

    x, out = np.array([1, 2, 3], np.float32), np.zeros(4)
    launch(kernel, x, out)
    parts = [np.cross(x, np.array([k, 1, 2], np.float32)) * (10 if k == 1 else 1) for k in range(3)]
    total = sum(parts)
    assert out.tolist() == [*total.tolist(), float(np.float32(total[0]) / np.float32(3))]


ERRORS = {
    "v = cuda.float32x4(1, 2, 3)": (TypeError, "it takes 4 components, but 3 are given"),
    "v = cuda.int2(cuda.int32x3(1, 2, 3))": (TypeError, "it takes 2 components, but 3 are given"),
    "v = cuda.float32x1()": (TypeError, "it takes 1 component, but 0 are given"),
    "v = cuda.float32x2(1, x)": (TypeError, "must be a number or a vector"),
    "v = cuda.float32x2(1, 2j)": (TypeError, "must be a number or a vector"),
    "v = cuda.float32x2((1, 2))": (TypeError, "must be a number or a vector"),
    "v = cuda.uint8x2(1, 300)": (OverflowError, "300"),
    "v = cuda.float32x2(1, 2) + cuda.float32x2(3, 4)": (TypeError, "a float32x2"),
    "v = 2 * cuda.float2(1, 2)": (TypeError, "a float32x2"),
    "cuda.float32x2(1, 2).x = 3": (Exception, "float32x2"),
    "v = cuda.float32x2(1, 2).z": (AttributeError, "'z'"),
    "v = cuda.float32x2(1, 2) if x[0] else cuda.float32x3(1, 2, 3)": (TypeError, "float32x3"),
    "v = cuda.float32x5(1, 2, 3, 4, 5)": (AttributeError, "float32x"),
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors(line):
    kernel = define(f"def kernel(x):\n    {line}\n    x[0] = v.x\n" if line.startswith("v") else f"def kernel(x):\n    {line}\n")
    exception, text = ERRORS[line]
    with pytest.raises(exception, match=text) as caught:
        launch(kernel, np.zeros(3))
    assert isinstance(caught.value, CompileError)


def test_on_the_host():
    assert "float32x4(*components)" in repr(cuda.float32x4)
    with pytest.raises(TypeError, match="in a kernel only"):
        cuda.float32x4(1, 2, 3, 4)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_assembles_without_memory(arch, tmp_path):
    """A vector is registers: no local memory comes of it, even where it is indexed."""

    def kernel(x, out):
        i = cuda.grid(1)
        v = cuda.float32x4(x[i], x[i + 1], x[i + 2], x[i + 3])
        out[i] = v[i % 4] + cuda.double2(v.x, v.y).y

    ptx = ptx_of(kernel, "float32[::1], float64[::1]", arch)
    assert ".local" not in ptx
    assemble(ptx, arch, tmp_path)
