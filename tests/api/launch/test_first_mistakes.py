"""What those who are new to kernels do first, and what they are told."""

import dataclasses

import numpy as np
import pytest
from pyptx import cuda


@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] * 2


@cuda.jit
def up_to(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = n


@cuda.jit("void(float32[:])")
def declared(a):
    a[0] = 1


@cuda.jit("void(float32[::1], int32)")
def declared_number(a, n):
    a[0] = n


@dataclasses.dataclass
class Settings:
    n: int = 3


class Own:
    pass


def read_only():
    a = np.ones(40)
    a.flags.writeable = False
    return a


def nested(levels):
    """A structured dtype in a structured dtype in …"""
    dtype = np.dtype("f4")
    for _ in range(levels):
        dtype = np.dtype([("a", dtype)])
    return dtype


F32 = np.zeros((4, 4), np.float32)
MISTAKES = [
    ("a matrix for a vector", lambda: double[1, 32](np.ones((4, 4))), TypeError, r"an array with 2 axes .*\(a\[i\] is a row\).* a\[i, j\]"),
    ("a dataclass", lambda: up_to[1, 32](np.ones(32), Settings()), TypeError, r"argument 2 \('n'\) has type Settings, .*typing.NamedTuple"),
    ("a class", lambda: up_to[1, 32](np.ones(32), Own()), TypeError, "has type Own, which a kernel cannot take: .*typing.NamedTuple"),
    ("float64 for float32", lambda: declared[1, 1](np.ones(3)), TypeError, r"argument 1 \('a'\): pass x.astype\(np.float32\)"),
    ("a matrix for a declared vector", lambda: declared[1, 1](F32), TypeError, "argument 1 .* has 2 axes where 1 are declared"),
    ("a number for a declared array", lambda: declared[1, 1](np.float32(1)), TypeError, r"argument 1 \('a'\) is no array: pass np.array\(\[x\]\)"),
    ("an array for a declared number", lambda: declared_number[1, 1](F32[0], F32[0]), TypeError, r"argument 2 \('n'\) is an array where a number"),
    ("a number for an array", lambda: double[1, 32](3.0), AttributeError, "has no attribute 'size'(.|\n)*takes an array here"),
    ("None for an array", lambda: double[1, 32](None), AttributeError, "None has no attribute 'size'(.|\n)*takes an array here"),
    ("an array for a number", lambda: up_to[1, 32](np.ones(32), np.ones(3)), TypeError, "pass a number if one is meant"),
    ("a read-only array", lambda: double[2, 32](read_only()), ValueError, r"read-only: argument 1 \('a'\); .*np.broadcast_to.*x.copy\(\)"),
    ("a text on the device", lambda: cuda.to_device("abc"), TypeError, "copies arrays and numbers, not a str"),
    ("bytes on the device", lambda: cuda.to_device(b"abc"), TypeError, r"not a bytes.*np.frombuffer\(x, np.uint8\)"),
    ("a list", lambda: double[1, 32]([1.0, 2.0]), TypeError, r"pass np.array\(x\), or a tuple"),
    ("a dict", lambda: double[1, 32]({"a": 1}), TypeError, "has type dict, .* pass its values one by one"),
    ("objects in records", lambda: double[1, 32](np.zeros(3, "f4,O")), TypeError, "records have no Python objects in them"),
    ("records 40 levels deep", lambda: double[1, 32](np.zeros(3, nested(40))), TypeError, r"\[\('a'.*\.\.\., which .* 24 levels"),
    ("records whose dtype has no text", lambda: double[1, 32](np.zeros(3, nested(900))), TypeError, r"argument 1 \('a'\) is an array of .* 24 levels"),
    ("six values in brackets", lambda: double[1, 32, 0, 0, 1, 1], ValueError, "at least the griddim and blockdim, and at most five values"),
    ("a fraction of blocks", lambda: double[100 / 32, 32], TypeError, "divide with //"),
    ("no blocks", lambda: double(np.ones(3)), ValueError, r"write double\[blocks, threads\]"),
    ("no block size", lambda: double[32], ValueError, r"write double\[blocks, threads\]"),
    ("too many threads", lambda: double[1, 2048](np.ones(2048)), ValueError, "2048 threads a block"),
    ("an argument too few", lambda: double[1, 32](), TypeError, "missing the argument 'a'"),
    ("an argument too many", lambda: double[1, 32](F32[0], 1), TypeError, "takes 1 argument, but 2 were given"),
]  # fmt: skip


@pytest.mark.parametrize("what, call, error, text", MISTAKES, ids=[m[0] for m in MISTAKES])
def test_the_message(what, call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.host_only("on a GPU the kernel gets a copy, which is whole")
def test_a_part_for_a_declared_whole():
    with pytest.raises(TypeError, match="np.ascontiguousarray"):
        declared_number[1, 1](F32[:, 0], 1)


def test_launch_bounds_hold_on_both_devices():
    @cuda.jit(launch_bounds=128)
    def kernel(a):
        a[cuda.threadIdx.x] = 1

    a = np.zeros(256)
    kernel[1, 128](a)
    cuda.synchronize()
    assert a.sum() == 128
    with pytest.raises(ValueError, match="256 threads a block; .* allow"):
        kernel[1, 256](a)
    if cuda.get_current_device().is_host:
        (compiled,) = kernel.overloads.values()
        assert compiled.max_threads_per_block == 128


TYPES = [
    ("f32[:]", "'f32' is not a type; did you mean 'float32'"), ("i64", "did you mean 'int64'"), ("u32[::1]", "did you mean 'uint32'"),
    ("c64[:]", "did you mean 'complex64'"), ("flot32[:]", "did you mean 'float32'"), ("float[:]", "did you mean 'float64'"),
    ("int", "did you mean 'int64'"), ("np.float32[:]", "no module in front of it: write float32"), ("numpy.int32", "no module in front"),
    ("f33[:]", "'f33' is not a type"), ("void(float32[:], flaot64)", "did you mean 'float64'"),
]  # fmt: skip


@pytest.mark.parametrize("signature, text", TYPES)
def test_a_type_that_is_none(signature, text):
    with pytest.raises(ValueError, match=f"PT219: bad signature: .*{text}"):
        cuda.jit(signature)(lambda a, b=0: None)
