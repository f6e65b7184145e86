"""A library of tensors made of NumPy arrays, which speaks DLPack in every way that real ones do: ctypes on dlpack.h's layouts."""

import ctypes

import numpy as np

INT, UINT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL = range(7)
CPU, CUDA, CUDA_HOST = 1, 2, 3
CODES = {"i": INT, "u": UINT, "f": FLOAT, "c": COMPLEX, "b": BOOL}


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Exchange(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("older", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("managed_of", ctypes.c_void_p),
        ("object_of", ctypes.c_void_p),
        ("tensor_of", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    ]


ALLOCATE_FAIL = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ALLOCATE = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ALLOCATE_FAIL
)
MANAGED_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
OBJECT_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.py_object))
TENSOR_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
CURRENT_STREAM = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_name = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype = ctypes.c_char_p
capsule_name.argtypes = [ctypes.py_object]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


# Like the memory of a real library, an exported tensor (with its library) lives until its deleter is called. Without
# this the tensor, the library and its deleter are a cycle that a garbage collection may free before the consumer is done.
exported = {}


class Library:
    """What an exporter did: live counts tensors that were exported and not deleted yet."""

    def __init__(self):
        self.exports = {}
        self.deleted = 0
        self.stream = 0
        self.calls = []
        self.deleter = DELETER(self._delete)

    def _delete(self, address):
        self.deleted += 1
        del self.exports[address]
        del exported[address]

    @property
    def live(self):
        return len(self.exports)


class Fake:
    """A tensor. changes: fields of the DLPack tensor to lie about; versioned=None: as the consumer asks."""

    def __init__(self, array, library=None, flags=0, version=(1, 0), versioned=None, **changes):
        self.array, self.library = array, library or Library()
        self.flags, self.version, self.versioned, self.changes = flags, version, versioned, changes
        self.device = (changes.get("device_type", CPU), changes.get("device_id", 0))

    def fill(self, t):
        a = self.array
        bits = a.dtype.itemsize * 8
        self.dims = (ctypes.c_int64 * (2 * max(a.ndim, 1)))(*a.shape, *(s // a.itemsize for s in a.strides))
        t.data, t.ndim, t.code, t.bits, t.lanes = a.ctypes.data, a.ndim, CODES.get(a.dtype.kind, OPAQUE), bits, 1
        t.device_type, t.device_id, t.byte_offset = *self.device, 0
        t.shape = ctypes.cast(self.dims, ctypes.POINTER(ctypes.c_int64))
        t.strides = ctypes.cast(
            ctypes.addressof(self.dims) + 8 * a.ndim, ctypes.POINTER(ctypes.c_int64)
        )
        for name, value in self.changes.items():
            setattr(t, name, value)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.library.calls.append((stream, max_version))
        versioned = max_version is not None if self.versioned is None else self.versioned
        m = Versioned() if versioned else Managed()
        self.fill(m.tensor)
        m.deleter = ctypes.cast(self.library.deleter, ctypes.c_void_p)
        if versioned:
            (m.major, m.minor), m.flags = self.version, self.flags
        self.library.exports[ctypes.addressof(m)] = exported[ctypes.addressof(m)] = (m, self)
        return new_capsule(ctypes.addressof(m), b"dltensor_versioned" if versioned else b"dltensor", None)


class OldFake(Fake):
    """From before DLPack 1.0."""

    def __dlpack__(self, stream=None):
        return Fake.__dlpack__(self, stream=stream)


def exchange_class(library, name="FastFake", attribute="__dlpack_c_exchange_api__", major=1, owned=False):
    """A class of tensors that has the C exchange API, for borrowed tensors or owned ones; library.stream is its current stream."""

    def tensor_of(address, out):
        ctypes.cast(address, ctypes.py_object).value.fill(out.contents)
        return 0

    def managed_of(tensor, out):
        tensor.library = library
        capsule = Fake.__dlpack__(tensor, max_version=(1, 0))
        out[0] = capsule_pointer(capsule, b"dltensor_versioned")
        return 0

    def current_stream(device_type, device_id, out):
        out[0] = library.stream
        return 0

    table = Exchange(major=major, minor=3)
    keep = [TENSOR_OF(tensor_of), CURRENT_STREAM(current_stream), MANAGED_OF(managed_of)]
    table.tensor_of, table.current_stream, table.managed_of = (ctypes.cast(f, ctypes.c_void_p).value for f in keep)
    if owned:
        table.tensor_of = None
    capsule = new_capsule(ctypes.addressof(table), b"dlpack_exchange_api", None)
    return type(name, (Fake,), {attribute: capsule, "keep": (keep, table), "__dlpack__": None})


def bfloat16_bits(values):
    """The upper halves of float32 values: exact for the small integers of the tests."""
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
