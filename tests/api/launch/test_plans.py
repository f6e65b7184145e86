"""A launch by plan (pyext/launch/plan.c) passes what the long way passes, and refuses what that refuses.

bind() always takes the long way, so the stand-in driver shows both: the parameter block of a bound launch, and that of the same launch
once its plan is made, field by field as the PTX declares them."""

import numpy as np
import pytest
import standin
from pyptx import cuda
from standin import needs_standin

HEAD = """
import ctypes, re
import numpy as np
import dlpack_fake as fake
import pyptx
from pyptx import cuda
from standin import driver

control = driver()

class Launch(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char * 128), ("shape", ctypes.c_uint * 7), ("stream", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t), ("params", ctypes.c_ubyte * 4096)]

def fields(overload):
    header = overload.ptx[overload.ptx.index(f".entry {overload.symbol}("):]
    end = 0
    for line in header[: header.index(")")].splitlines():
        found = re.search(r"\\.param\\s+(?:\\.align\\s+(\\d+)\\s+)?\\.[a-z](\\d+)\\b.*?(?:\\[(\\d+)\\])?,?$", line)
        if found:
            size = int(found[2]) // 8
            align = int(found[1] or size)
            at = -(-(end + 16) // align) * align - 16  # the first lies 16 bytes beyond a multiple of 64
            end = at + size * int(found[3] or 1)
            yield at, end

def last():
    return ctypes.cast(control.last(), ctypes.POINTER(Launch)).contents

def passed(overload):
    l = last()
    return l.kernel, l.stream, [bytes(l.params[a:b]) for a, b in fields(overload)]

def check(kernel, *args, **kwargs):
    signatures, options = kernel._made
    alone = type(kernel)(kernel.py_func, signatures, **options)  # with one overload, whose block it is
    alone[1, 32].bind(*args, **kwargs)()
    overload = next(o for o in alone.overloads.values() if list(fields(o))[-1][1] == last().bytes)
    long = passed(overload)
    for _ in range(2):
        kernel[1, 32](*args, **kwargs)
        assert passed(overload) == long, (args, kwargs, passed(overload), long)
    assert long[2]

def raises(error, f, *args, **kwargs):
    try:
        f(*args, **kwargs)
    except error as e:
        return str(e)
    raise AssertionError(f"no {error.__name__}")

def body(a, b, s):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i, 0] = b[0, i] + s + a.shape[1] + b.shape[1]

def line(a, s):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] + s

def own(shape, dtype=np.float64):
    return cuda.to_device(np.ones(shape, dtype))

library = fake.Library()
Tensor = fake.exchange_class(library)

def tensor(d, **changes):
    return Tensor(np.ones(d.shape, d.dtype), **{"data": d.gpu_data.device_pointer, "device_type": 2, "device_id": 0, **changes})
"""


def run(source):
    standin.run(HEAD + source)


@needs_standin
def test_own_arrays_of_every_layout():
    run("""
kernel, c = cuda.jit(body), own((8, 6))
for a in (c, c.T, c[::2, ::3], c[:0], c[:1], c[:, :1]):
    for b in (c, c.T, c[::2, ::3], c[2:, 3:], own((8, 6), np.float32), own((3, 5), np.int16)):
        check(kernel, a, b, 1.5)
        check(kernel, b, a, True) if b.dtype.kind == "f" else None
""")


@needs_standin
def test_numbers():
    run("""
numbers = [0, -1, 7, 2**40, -2**63, 2**63 - 1, 0.5, float("nan"), float("inf"), -0.0, True, False]
a = own(5)
for options in ({}, {"typing": "numba"}):
    kernel = cuda.jit(line, **options)
    for s in numbers * 2:
        check(kernel, a, s)
    raises(OverflowError, kernel[1, 32], a, 2**64)
    raises(TypeError, kernel[1, 32], a, "1")
    raises(TypeError, kernel[1, 32], a)
    raises(TypeError, kernel[1, 32], a, 1, 2)
    check(kernel, a, 1)
""")


@needs_standin
def test_declared_signatures_convert():
    run("""
for wanted, numbers in (("int32", [0, -5, 2**31 - 1, True]), ("float32", [1, 0.1, True, -2**40]), ("complex128", [1, 0.5, False]),
                      ("uint64", [0, 2**63 - 1]), ("float64", [3, 0.25]), ("int8", [-128, 127])):
    kernel = cuda.jit(f"void({'complex128' if wanted == 'complex128' else 'float64'}[:], {wanted})")(line)
    a = own(5, np.complex128 if wanted == "complex128" else np.float64)
    for s in numbers * 2:
        check(kernel, a, s)
        check(kernel, a[::2], s)
kernel = cuda.jit("void(float64[:], int8)")(line)
a = own(5)
check(kernel, a, 1)
first = raises(OverflowError, kernel[1, 32], a, 256)
assert raises(OverflowError, kernel[1, 32], a, 256) == first
raises(TypeError, kernel[1, 32], a, 0.5)
raises(TypeError, kernel[1, 32], own(5, np.float32), 1)
""")


@needs_standin
def test_numpy_scalars():
    run("""
kinds = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64,
         np.complex64, np.complex128, np.longlong, np.intc]
def two(a, s, t):
    a[0] = s
    a[1] = t
for options in ({}, {"typing": "numba"}):
    for kind in kinds:
        kernel, a = cuda.jit(two, **options), own(5, np.complex128)
        for s in (0, 1, 3):
            check(kernel, a, kind(s), 1)
            check(kernel, a, 0.5, kind(s))
            check(kernel, a, kind(s), kind(2))
class Mine(np.float32):
    pass
kernel = cuda.jit(two)
check(kernel, a, Mine(3), np.datetime64(5, "s").astype("int64"))
kernel = cuda.jit("void(float64[:], int32)")(line)
a = own(5)
for _ in range(2):
    for kind in (np.int16, np.uint8, np.int8, np.int32):
        check(kernel, a, kind(7))
    raises(TypeError, kernel[1, 32], a, np.float32(1))
""")


@needs_standin
def test_keywords():
    run("""
kernel, a, b = cuda.jit(body), own((4, 4)), own((4, 4))
for _ in range(2):
    check(kernel, a, b, s=1)
    check(kernel, a, s=0.5, b=b)
    check(kernel, s=1, b=b, a=a)
    check(kernel, **{"b": b, "a": a, "s": 1})
    for k in range(12):  # a new tuple of names each time
        check(kernel, a, **{"s": k, "b": b})
    raises(TypeError, kernel[1, 32], a, b, t=1)
    raises(TypeError, kernel[1, 32], a, b, 1, s=1)
    raises(TypeError, kernel[1, 32], a, s=1)
def three(a, s, t=2):
    a[0] = s + t
kernel = cuda.jit(three)
for _ in range(2):
    check(kernel, own(3), 1)
    check(kernel, own(3), 1, 5)
    check(kernel, own(3), t=1, s=5)
    check(kernel, own(3), s=5)
""")


@needs_standin
def test_tensors():
    run("""
def truth(a, s):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] and s > 0
for dtype in (np.float64, np.float32, np.float16, np.int32, np.int8, np.uint64, np.bool_, np.complex64, np.complex128):
    kernel = cuda.jit(truth if dtype is np.bool_ else line)
    for s in (1, True):
        check(kernel, tensor(own(48, dtype)), s)
kernel = cuda.jit(body)
c = own((8, 6))
def strided(shape, strides):
    t = tensor(c)
    filled = t.fill
    def fill(out):
        filled(out)
        for i, n in enumerate((*shape, *strides)):
            t.dims[i] = n
    t.fill = fill
    return t
for t in (tensor(c), strided((8, 3), (6, 2)), strided((6, 8), (1, 6)), strided((1, 6), (99, 1)), strided((8, 1), (1, 77)), strided((0, 6), (6, 1)),
          tensor(c, byte_offset=16), tensor(c, byte_offset=4), tensor(c, strides=None), tensor(c, device_type=3)):
    for u in (tensor(c), c):
        check(kernel, t, u, 1)
        check(kernel, u, t, 0.5)
for bad in ({"code": fake.OPAQUE}, {"lanes": 2}, {"bits": 7}, {"device_type": 1}, {"device_id": 1}, {"data": None}, {"ndim": 40}, {"shape": None}):
    first = raises(Exception, kernel[1, 32].bind, tensor(c), tensor(c, **bad), 1)
    assert raises(Exception, kernel[1, 32], tensor(c), tensor(c, **bad), 1) == first
    assert raises(Exception, kernel[1, 32], tensor(c), tensor(c, **bad), 1) == first
first = raises(BufferError, kernel[1, 32].bind, strided((8, -1), (6, 1)), c, 1)
assert raises(BufferError, kernel[1, 32], strided((8, -1), (6, 1)), c, 1) == first
first = raises(BufferError, kernel[1, 32].bind, strided((2**31 - 1, 2**40), (2**40, 1)), c, 1)
assert raises(BufferError, kernel[1, 32], strided((2**31 - 1, 2**40), (2**40, 1)), c, 1) == first
check(kernel, strided((2**31 + 8, 6), (6, 1)), c, 1)  # wide
""")


@needs_standin
def test_what_autograd_says_is_asked_each_time():
    run("""
class Graded(Tensor):
    requires_grad, negated = False, False
    def is_neg(self):
        return self.negated
    is_conj = is_neg
c = own(5)
t = Graded(np.ones(5), data=c.gpu_data.device_pointer, device_type=2, device_id=0)
kernel = cuda.jit(line)
check(kernel, t, 1)
t.requires_grad = True
assert "detach" in raises(TypeError, kernel[1, 32], t, 1)
assert "detach" in raises(TypeError, kernel[1, 32].bind, t, 1)
t.requires_grad = False
check(kernel, t, 1)
one = Graded(np.ones(1), data=c.gpu_data.device_pointer, device_type=2, device_id=0)
check(kernel, one, 1)
one.negated = True
assert "resolve_neg" in raises(TypeError, kernel[1, 32], one, 1)
check(kernel, t, 1)
""")


@needs_standin
def test_a_tensor_that_requires_grad_may_be_read():
    run("""
class Graded(Tensor):
    requires_grad = False
    is_neg = is_conj = lambda self: False
def twice(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = 2 * a[i]
kernel, c = cuda.jit(twice), own(5)
make = lambda: Graded(np.ones(5), data=c.gpu_data.device_pointer, device_type=2, device_id=0)
a, b = make(), make()
for _ in range(2):
    check(kernel, a, b)
    a.requires_grad = True
    check(kernel, a, b)
    b.requires_grad = True
    assert "detach" in raises(TypeError, kernel[1, 32], a, b)
    a.requires_grad = b.requires_grad = False
""")


@needs_standin
def test_a_library_is_asked_for_its_stream_once_a_launch():
    run("""
calls = []
table = Tensor.keep[1]
table.current_stream = ctypes.cast(fake.CURRENT_STREAM(lambda type, id, out: calls.append(id) or 0), ctypes.c_void_p).value
class Other(Tensor):
    pass
c = own((4, 4))
t = tensor(c)
kernel = cuda.jit(body)
for args in ((t, t, 1), (t, c, 1), (c, c, 1)):
    for _ in range(3):
        calls.clear()
        kernel[1, 32](*args)
        assert len(calls) == any(a is t for a in args)
""")


@needs_standin
def test_errors_of_a_library_arrive():
    run("""
fails = False
def tensor_of(address, out):
    ctypes.cast(address, ctypes.py_object).value.fill(out.contents)
    return -1 if fails else 0
table = Tensor.keep[1]
keep = fake.TENSOR_OF(tensor_of)
table.tensor_of = ctypes.cast(keep, ctypes.c_void_p).value
t = tensor(own(5))
kernel = cuda.jit(line)
check(kernel, t, 1)
fails = True
assert "gives no DLPack tensor" in raises(BufferError, kernel[1, 32], t, 1)
fails = False
check(kernel, t, 1)
""")


@needs_standin
def test_tensor_maps():
    """Of every array and box its own; the driver is asked once, and again for another address or
    shape; what cannot have a map has an error each time."""
    run("""
def boxes(a, s, b, c):
    of_a, more_of_a, of_b = cuda.tensor_map(a, (8, 16)), cuda.tensor_map(a, (16, 8), swizzle=32), cuda.tensor_map(b, (4, 4, 8))
    shared = cuda.shared.array(128, a.dtype, alignment=128)
    if cuda.threadIdx.x == 0:
        cuda.cp_async_bulk_tensor_store(of_a, (0, 0), shared.reshape(8, 16))
        cuda.cp_async_bulk_tensor_store(more_of_a, (0, 0), shared.reshape(16, 8))
        cuda.cp_async_bulk_tensor_store(of_b, (0, 0, 0), shared.reshape(4, 4, 8))
        cuda.cp_async_bulk_commit_group()
        c[s] = a[s, 0]

def asked():
    return control.calls(b"cuTensorMapEncodeTiled")

kernel, c, a, b = cuda.jit(boxes), own(8, np.float32), own((32, 16), np.float32), own((5, 6, 8), np.float32)
for x, y in ((a, b), (a[:8], b), (a, own((2, 3, 12), np.float32)), (tensor(a), b), (a, tensor(b)), (tensor(a), tensor(b[1:]))):
    for s in (np.int32(1), 2):
        check(kernel, x, s, y, c)
kernel[1, 32](a, 1, b, c)
before = asked()
for _ in range(3):
    kernel[1, 32](a, 1, b, c)
assert asked() == before, "kept"
kernel[1, 32](own((64, 32), np.float32), 1, b, c)
assert asked() == before + 2, "two maps of another array"
wrong = own((32, 9), np.float32)
for _ in range(3):
    assert "rows of 36 bytes" in raises(ValueError, kernel[1, 32], wrong, 1, b, c)
for k in range(40):
    check(kernel, own((8 + k, 16), np.float32), 1, b, c)
""")


@needs_standin
def test_more_kinds_of_arguments_than_plans():
    run("""
kernel = cuda.jit(line)
arrays = [own(5, t) for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64)]
for _ in range(3):
    for a in arrays:
        for b in (a, a[::2]):
            check(kernel, b, 1)
            check(kernel, b, True)
""")


@needs_standin
def test_read_only_arrays():
    run("""
kernel = cuda.jit(body)
c, r = own((4, 4)), cuda.to_device(np.ones((4, 4)))
interface = {**r.__cuda_array_interface__, "data": (r.gpu_data.device_pointer, True)}
r = cuda.from_cuda_array_interface(interface, owner=r)
for _ in range(2):
    check(kernel, c, c, 1)
    check(kernel, c, r, 1)
    assert "read-only" in raises(ValueError, kernel[1, 32], r, c, 1)
""")


@needs_standin
def test_streams_and_forall():
    run("""
kernel, a, s = cuda.jit(line), own(5), cuda.stream()
for _ in range(3):
    for stream in (s, 0):
        kernel[1, 32, stream](a, 1)
        assert (last().stream or 0) == (stream.handle if stream else 0)
        kernel.forall(1000, stream=stream)(a, 1)
        assert (last().stream or 0) == (stream.handle if stream else 0)
control.forget()
kernel.forall(0)(a, 1)
assert control.calls(b"cuLaunchKernel") == 0
raises(TypeError, kernel.forall(10), a)
""")


@needs_standin
def test_devices():
    standin.run(
        HEAD
        + """
kernel = cuda.jit(line)
here = own(5)
with cuda.gpus[1]:
    there = own(5)
for _ in range(2):
    check(kernel, here, 1)
    assert "lives on" in raises(ValueError, kernel[1, 32], there, 1)
    with cuda.gpus[1]:
        check(kernel, there, 1)
        assert "lives on" in raises(ValueError, kernel[1, 32], here, 1)
""",
        PYPTX_STANDIN_DEVICES="2",
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64])
def test_alternating_arguments_compute_what_they_should(dtype):
    @cuda.jit
    def add(out, x, s):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] + s

    rng = np.random.default_rng(3)
    x = rng.integers(-50, 50, 64).astype(dtype)
    d, strided = cuda.to_device(x), cuda.to_device(np.repeat(x, 2))[::2]
    for k in range(12):
        out = cuda.device_array(64, dtype)
        source = (d, strided, cuda.to_device(x.astype(np.int8)))[k % 3]
        s = (k, True, 2 * k)[k % 2]
        add[2, 32](out, source, s) if k % 4 else add[2, 32](s=s, x=source, out=out)
        assert np.array_equal(out.copy_to_host(), x + dtype(s))
