"""Array methods and attributes in kernels: view, flat, transpose, swapaxes, item, fill, as NumPy has them."""

import harness
import numpy as np
import pytest
from pyptx import cuda

RNG = np.random.default_rng(5)


def numbers(shape, dtype=np.float32):
    return (RNG.standard_normal(shape) * 100).astype(dtype)


PAIRS = [("float32", "int32"), ("float32", "uint8"), ("uint8", "float32"), ("int64", "float64"), ("complex64", "float32"), ("float64", "complex128"),
         ("int16", "uint16"), ("uint8", "bool"), ("float16", "uint16"), ("uint16", "uint64"), ("complex128", "int32")]  # fmt: skip


@pytest.mark.parametrize(("of", "to"), PAIRS)
def test_elements_of_another_type(of, to):
    """Reads and writes through views of the same bytes, whatever the sizes."""
    t = np.dtype(to)
    T = t.type
    last = 64 // np.dtype(of).itemsize

    def kernel(a, out):
        v = a.view(T)
        out[0, 0] = v.shape[1]
        out[0, 1] = v.itemsize
        out[0, 2] = v.nbytes
        out[0, 3] = v.dtype == T
        v[1, 2] = v[0, 1]
        v[2, -1] = v[1, 0]
        row = a[2].view(T)
        row[0] = row[1]

    a = numbers((3, last), of) if of != "uint8" or to != "bool" else RNG.integers(0, 2, (3, last)).astype(np.uint8)
    harness.run(kernel, (a, np.zeros((1, 4))))


def test_of_same_size_with_any_strides():
    def kernel(a, out):
        i = cuda.grid(1)
        v = a.view(np.int32)
        out[i] = v[i, 1] ^ v.T[0, i]
        a.T.view(np.uint32)[2, i] = i

    for a in (numbers((6, 8))[::2, 1::2], np.asfortranarray(numbers((3, 4))), numbers((3, 4))):
        harness.run(kernel, (a, np.zeros(3, np.int32)), block=3)


def test_bytes_that_are_not_aligned():
    def kernel(a, out):
        i = cuda.grid(1)
        v = a[1:9].view(np.float32)
        out[i] = v[i]
        a[9:13].view(np.int32)[0] = 0x01020304

    harness.run(kernel, (np.frombuffer(np.arange(1.0, 5.0, dtype=np.float32).tobytes(), np.uint8).copy(), np.zeros(2, np.float32)), block=2)


def test_shared_memory_in_parts_of_several_types():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        memory = cuda.shared.array(1024, np.uint8, alignment=8)
        doubles, ints = memory[:256].view(np.float64), memory[256:384].view(np.int32)
        doubles[i] = x[i] * 2
        ints[i] = i + 1
        cuda.syncthreads()
        out[i] = doubles[31 - i] + ints[31 - i]

    x, out = np.arange(32.0), np.zeros(32)
    kernel[1, 32](x, out)
    assert out.tolist() == [2 * k + k + 1 for k in range(31, -1, -1)]


@pytest.mark.host_only
def test_bytes_that_are_no_whole_elements():
    @cuda.jit
    def kernel(a, out):
        out[0] = a.view(np.float64)[0, 0]

    with pytest.raises(ValueError, match="the last axis has 12 bytes, which are no whole elements of 8"):
        kernel[1, 1](np.zeros((2, 3), np.float32), np.zeros(1))


def test_flat():
    def kernel(a, b, out):
        i = cuda.grid(1)
        out[i] = a.flat[i] + a.flat[-1 - i]
        if i == 0:
            for k, v in enumerate(a.flat):
                out[12] += k * v
            out[13] = len(a.flat)
            out[14] = sum(v for v in a.flat)
            b.flat = 7
            b.flat[3] += 1
            b[::2].flat[1] = 2

    harness.run(kernel, (numbers((3, 4)), np.zeros((6,)), np.zeros(15, np.float32)), block=1)
    harness.run(kernel, (numbers((3, 4)), np.zeros((6,)), np.zeros(15, np.float32)), block=12)


def test_axes_in_another_order():
    def kernel(a, out):
        i = cuda.grid(1)
        out[0, i] = a.transpose()[1, 2, i]
        out[1, i] = a.transpose(1, 2, 0)[2, 3, i]
        out[2, i] = a.transpose((0, -1, 1))[i, 3, 2]
        out[3, i] = a.swapaxes(0, 2)[3, 1, i]
        out[4, i] = a.mT[i, 1, 2]
        out[5, i] = a.transpose(None)[0, 0, i]
        out[6, i] = a.swapaxes(-1, 1).shape[2] + a.T.T[i, 0, 3] + a.transpose(0, 1, 2)[i, 1, 1]
        a.transpose(2, 0, 1)[3, i, 0] = i

    harness.run(kernel, (numbers((2, 3, 4)), np.zeros((7, 2), np.float32)), block=2)
    harness.run(kernel, (np.asfortranarray(numbers((2, 3, 4))), np.zeros((7, 2), np.float32)), block=2)


def test_item_and_fill():
    def kernel(a, out):
        out[0] = a.item(5) + a.item(1, 2) + a[0].item(1) + a.item((0, 3))
        out[1] = a.item(-1) / 3  # a Python float: float64
        a[1].fill(3)
        local = cuda.local.array(4, np.int32)
        local.fill(2)
        out[2] = local[3]

    harness.run(kernel, (numbers((3, 4)), np.zeros(3)))


def test_names_of_dtypes():
    def kernel(a, b, c, out):
        out[0] = a.dtype.name == "float32"
        out[1] = b.dtype.kind == "u"
        out[2] = c.dtype.kind == "c"
        out[3] = c[0].dtype.name == "complex64"
        out[4] = np.int16(3).dtype.kind == "i"

    harness.run(kernel, (numbers(2), np.zeros(2, np.uint8), np.zeros(2, np.complex64), np.zeros(5)))


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("a.T.flat[0]", TypeError, "PT312: .flat needs a C-contiguous array"),
        ("a[:, ::2].view(np.uint8)[0, 0]", TypeError, r"PT312: view\(\) as elements of another size needs a C-contiguous array"),
        ("a.view(3)", TypeError, "PT306: view: dtype must be a scalar type"),
        ("a.view(dtype=np.int32)[0, 0]", TypeError, "PT208: view: methods take no keywords"),
        ("a.reshape((4, 3), order='F')[0, 0]", TypeError, "PT208: reshape: methods take no keywords"),
        ("a.transpose(0, 0)[0, 0]", TypeError, "PT208: transpose: it takes the axes, each once"),
        ("a.transpose(0)[0, 0]", TypeError, "PT208: transpose: it takes the axes, each once"),
        ("a.swapaxes(0, 2)[0, 0]", TypeError, "PT208: swapaxes: axis 2 of an array of 2 axes"),
        ("a.swapaxes(0, int(a[0, 0]))[0, 0]", TypeError, "PT210: an axis of swapaxes"),
        ("a.item()", TypeError, "PT208: item: it takes an index"),
        ("a.imag[0, 0]", AttributeError, "it is 0"),
        ("a.flatten()[0]", AttributeError, r"x\.ravel\(\)"),
        ("a.squeeze()[0]", AttributeError, "by index"),
        ("np.add.at(a, 0, 1)", AttributeError, r"cuda\.atomic\.add"),
        ("np.transpose(a)[0, 0]", TypeError, r"x\.transpose"),
        ("np.histogram(a)[0]", TypeError, r"cuda\.atomic\.add"),
    ],
)
def test_errors(expression, error, message):
    scope = {"np": np}
    exec(f"def kernel(a, out):\n    out[0] = {expression}\n", scope)
    with pytest.raises(error, match=f"(?s){message}"):
        cuda.jit(scope["kernel"])[1, 1](numbers((3, 4)), np.zeros(1))
