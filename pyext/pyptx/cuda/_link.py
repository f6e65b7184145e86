"""Code of other compilers in kernels: what cuda.jit(link=...) takes, functions that cuda.declare_device declares, CUDA C++ through NVRTC."""

import os

from pyptx._pyptx import Signature
from pyptx.errors import LinkFileError, LinkFileNotFoundError

_CUBIN, _PTX, _FATBIN, _OBJECT, _LIBRARY, _SOURCE, _LTOIR = range(7)  # as the driver numbers its inputs; CUDA C++ is made PTX first, LTO-IR goes to nvJitLink


class LinkableCode:
    """Code to be linked with kernels: bytes, or a str for text. `name` appears in error messages.

    Example:

        code = cuda.CUSource('extern "C" __device__ float twice(float x) { return 2 * x; }', "mine.cu")

        @cuda.jit(link=code)
        def kernel(x):
            x[0] = 1
    """

    kind = suffix = None
    is_text = False

    def __init__(self, data, name=None):
        if isinstance(data, str) and self.is_text:
            data = data.encode()
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"{type(self).__name__} takes {'str or ' if self.is_text else ''}bytes, not {type(data).__name__}")
        if not data:
            raise ValueError(f"{type(self).__name__}: there is nothing in it")
        self.data = bytes(data)
        self.name = name or f"<{type(self).__name__}>"

    def __repr__(self):
        return f"<pyptx {type(self).__name__} {self.name}, {len(self.data)} bytes>"

    def image(self, capability):
        """(kind, name, bytes) for the driver's linker."""
        return self.kind, self.name, self.data


class PTXSource(LinkableCode):
    """PTX text.

    Example:

        code = cuda.PTXSource(".version 7.5 …", name="mine.ptx")
    """

    kind, suffix, is_text = _PTX, ".ptx", True


class Cubin(LinkableCode):
    """Machine code of one architecture, compiled for linking: ``nvcc -cubin -rdc=true``.

    Example:

        code = cuda.Cubin(open("mine.cubin", "rb").read())
    """

    kind, suffix = _CUBIN, ".cubin"


class Fatbin(LinkableCode):
    """Code for several architectures: ``nvcc -fatbin -rdc=true``.

    Example:

        code = cuda.Fatbin(open("mine.fatbin", "rb").read())
    """

    kind, suffix = _FATBIN, ".fatbin"


class Object(LinkableCode):
    """An object file with device code: ``nvcc -c -rdc=true``.

    Example:

        code = cuda.Object(open("mine.o", "rb").read())
    """

    kind, suffix = _OBJECT, ".o"


class Archive(LinkableCode):
    """A static library of objects with device code.

    Example:

        code = cuda.Archive(open("libmine.a", "rb").read())
    """

    kind, suffix = _LIBRARY, ".a"


class CUSource(LinkableCode):
    """CUDA C++, compiled by NVRTC for the GPU when a kernel that uses it is first launched. NVRTC comes with the CUDA toolkit or
    ``pip install nvidia-cuda-nvrtc``.

    Example:

        code = cuda.CUSource('extern "C" __device__ int one() { return 1; }')
    """

    kind, suffix, is_text = _SOURCE, ".cu", True

    def image(self, capability):
        from pyptx.cuda import _nvrtc

        folder = os.path.dirname(self.name) if os.path.exists(self.name) else None
        return _PTX, self.name, _nvrtc.compile(self.data, self.name, capability, folder)


class LTOIR(LinkableCode):
    """Code for link-time optimisation: ``nvcc -dlto -ltoir``, NVRTC's ``-dlto``. Kernels with such code are linked by nvJitLink, which comes with the
    CUDA toolkit or ``pip install nvidia-nvjitlink``.

    Example:

        code = cuda.LTOIR(open("mine.ltoir", "rb").read())
    """

    kind, suffix = _LTOIR, ".ltoir"


_KINDS = {kind.suffix: kind for kind in (PTXSource, Cubin, Fatbin, Object, Archive, CUSource, LTOIR)}


def _read(item):
    if isinstance(item, LinkableCode):
        return item
    if not isinstance(item, (str, os.PathLike)):
        raise TypeError(f"link= takes paths and objects such as cuda.PTXSource(text), not {type(item).__name__}")
    path = os.fsdecode(item)
    suffix = os.path.splitext(path)[1].lower()
    kind = _KINDS.get(suffix)
    if kind is None:
        what = f"extension {suffix}" if suffix else "no extension"
        raise LinkFileError(f"Don't know how to link file with {what}: {path!r} is none of {', '.join(sorted(_KINDS))}")
    try:
        with open(path, "rb") as file:
            return kind(file.read(), path)
    except FileNotFoundError:
        raise LinkFileNotFoundError(f"{path} not found") from None


def read_link(value):
    """A tuple of LinkableCode of what link= was given: one item or a sequence of them."""
    if value is None:
        return ()
    return tuple(_read(item) for item in (value if isinstance(value, (tuple, list, set, frozenset)) else (value,)))


def images(link, declared, capability):
    """[(kind, name, bytes)] of all that a kernel is linked with, each thing once. Called when a kernel is loaded."""
    items = list(link or ())
    for function in declared:
        items += function.link
    seen, out = set(), []
    for item in items:
        key = (item.kind, item.data)
        if key not in seen:
            seen.add(key)
            out.append(item.image(capability))
    return out


def link_lto(capability, name, ptx, inputs):
    """A cubin of a kernel's PTX and what it is linked with, where LTO-IR is part of that; None where the driver links."""
    if all(kind != _LTOIR for kind, _, _ in inputs):
        return None
    from pyptx.cuda import _nvjitlink

    return _nvjitlink.link(capability, [(_PTX, name, ptx), *inputs])


# --- functions of other modules ---

_NUMBERS = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}


class DeclaredFunction:
    """A device function of another module: kernels call it by this object. Made by cuda.declare_device."""

    def __init__(self, name, signature, link, abi):
        self.name, self.signature, self.link, self.abi = name, signature, link, abi

    @property
    def __pyptx_declared__(self):
        return self.name, self.signature.replace("void(", "none(", 1), self.abi == "numba"

    @property
    def sig(self):
        """The signature, as ``int32(float32, int32[:])`` makes it."""
        from pyptx import _pyptx

        return _pyptx._type(self.signature.replace("readonly ", ""))

    def __repr__(self):
        return f"<pyptx declared device function {self.name}: {self.signature}>"

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.name} is a declared device function: kernels call it, on a GPU")


def _split(text):
    """("int32", ["float32[:]", …], ["readonly ", …]) of "int32(readonly float32[:], …)"; "" for what may be written."""
    from pyptx import _pyptx

    result, bracket, rest = text.partition("(")
    if not bracket or not rest.rstrip().endswith(")"):
        raise ValueError(f"{text!r} is no signature with a result: write 'int32(float32, int32)'")
    depth, parts, begin = 0, [], 0
    rest = rest.rstrip()[:-1]
    for i, c in enumerate(rest + ","):
        depth += (c in "[(") - (c in "])")
        if c == "," and not depth:
            parts.append(rest[begin:i].strip())
            begin = i + 1
    only_read = ["readonly " * (part.startswith("readonly ") and part.endswith("]")) for part in parts if part]
    types = [_pyptx._type(part[len(word):]) for part, word in zip(filter(None, parts), only_read)]
    return _pyptx._type(result.strip() or "void"), types, only_read


def declare_device(name, sig, link=None, use_cooperative=False, abi="numba"):
    """A device function of another module, as an object that kernels call.

    name: its symbol; in CUDA C++, a function declared ``extern "C" __device__``.
    sig: "int32(float32, float32[:])" or ``int32(float32, float32[:])``: bools, integers and floats of 32 and 64 bits; an array is passed as
        the address of its first element; "readonly float32[:]" is one that the function does not write to.
    link: the file or files that define it (see link= of cuda.jit), linked with every kernel that can call it.
    abi: "numba": the result is written to an address that is the first argument, and an int, the status, is returned:
        ``int f(float *result, float x)``. "c": ``float f(float x)``.

    Only on GPUs: in a kernel for the host device a call is an error. use_cooperative must be False.

    Example:

        code = cuda.CUSource('extern "C" __device__ float twice(float x) { return 2 * x; }')
        twice = cuda.declare_device("twice", "float32(float32)", link=code, abi="c")
    """
    if not isinstance(name, str) or not name.isascii() or not name.isidentifier():
        raise ValueError(f"the name of a declared device function is a C identifier, not {name!r}")
    if abi not in ("numba", "c"):
        raise ValueError(f"abi must be 'numba' or 'c', not {abi!r}")
    if use_cooperative:
        raise ValueError("use_cooperative: functions that synchronise the grid cannot be declared; call cuda.cg.this_grid().sync() in the kernel")
    if not isinstance(sig, (str, Signature)) or isinstance(sig, str) and sig.lstrip().startswith("("):
        raise TypeError(f"Return type must be provided for device declarations: write 'int32(float32)' or int32(float32), not {sig!r}")
    result, args, only_read = _split(sig if isinstance(sig, str) else repr(sig))
    for what in [result] * (repr(result) not in ("void", "none")) + args:
        scalar, is_array, _ = repr(what).partition("[")
        if scalar.startswith("CPointer("):
            scalar, is_array = scalar[len("CPointer("):-1], True
        if scalar not in _NUMBERS or (is_array and what is result):
            raise ValueError(f"{name}: {what!r} cannot be {'returned' if what is result else 'passed'}; bools, integers, floats of 32 and 64 bits"
                             f"{'' if what is result else ' and arrays of them'} can")
    text = f"{'void' if repr(result) == 'none' else result!r}({', '.join(f'{word}{what!r}' for word, what in zip(only_read, args))})"
    return DeclaredFunction(name, text, read_link(link), abi)
