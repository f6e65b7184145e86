"""cuda.Module: kernels and variables of other compilers (CUDA C++, PTX, cubins, fatbins) and of
`pyptx compile`, launched in our syntax."""

import ctypes
import json
import os
import re
import struct

import numpy as np

from pyptx import _abi, _pyptx
from pyptx.cuda._link import Cubin, Fatbin, LinkableCode, read_link

_ELF, _FATBIN = b"\x7fELF", b"\x50\xed\x55\xba"
_WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}


# --- parameters, as PTX declares them ---


class Parameter:
    """Of a kernel: its place in the block and what PTX says it is. kind: "u", "s", "f", "b" (bits),
    or "" where only the size is known."""

    __slots__ = ("offset", "size", "kind", "is_block")

    def __init__(self, offset, size, kind="", is_block=False):
        self.offset, self.size, self.kind, self.is_block = offset, size, kind, is_block

    def __repr__(self):
        if self.is_block:
            return f"{self.size} bytes"
        words = {"u": "an integer or an address", "s": "an integer", "f": "a float", "b": "a number", "": "a value"}
        return f"{words[self.kind]} of {self.size * 8} bits"


_ENTRY = re.compile(r"\.entry\s+([\w$.]+)\s*(?:\(([^)]*)\))?")
_PARAM = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z]+)(\d+)\b[^\[,]*?(?:\[(\d+)\])?\s*$", re.DOTALL)


def entries_of(ptx):
    """{name: [Parameter]} of the kernels of a PTX text."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", ptx, flags=re.DOTALL)
    found = {}
    for name, declared in _ENTRY.findall(text):
        end, parameters = 0, []
        for one in filter(str.strip, declared.split(",")):
            match = _PARAM.match(one.strip())
            if not match:
                raise ValueError(f"the PTX declares a parameter of {name} that is not understood: {one.strip()}")
            align, kind, bits, count = match.groups()
            width = _WIDTHS[bits]
            size = width * int(count or 1)
            align = int(align) if align and count else width
            end = -(-end // align) * align
            parameters.append(Parameter(end, size, kind if not count else "b", bool(count)))
            end += size
        found[name] = parameters
    return found


_GLOBAL = re.compile(r"\.(?:global|const)\s+(?:\.align\s+\d+\s+)?\.([a-z])(\d+)\s+([\w$.]+)\s*(\[)?")


def globals_of(ptx):
    """{name: dtype} of the variables of a PTX text; of arrays and structures, whose types PTX does
    not say, None."""
    numbers = {"u": "uint", "s": "int", "b": "uint", "f": "float"}
    return {name: None if many or bits == "128" else np.dtype(f"{numbers[kind]}{bits}") for kind, bits, name, many in _GLOBAL.findall(ptx)}


# --- arguments of kernels of which PTX tells the widths ---


def is_array(value):
    return isinstance(value, (_pyptx.DeviceArray, np.ndarray)) or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__pyptx_way__") \
        or (hasattr(value, "__dlpack__") and not isinstance(value, np.generic))


def _mismatch(where, value, parameter):
    return TypeError(f"{where} is {parameter!r}, not {_said(value)}")


def _said(value):
    if isinstance(value, np.generic):
        return f"{value.dtype} ({value.dtype.itemsize} bytes)"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{len(value)} bytes"
    return f"{type(value).__name__} {value!r:.40}"


def _integer_bytes(where, value, size):
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise OverflowError(f"{where}: {value} does not fit {8 * size} bits")
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def _float_bytes(where, value, size, parameter):
    if size not in _FLOATS:
        raise _mismatch(where, value, parameter)
    try:
        return struct.pack(_FLOATS[size], value)
    except OverflowError:
        raise OverflowError(f"{where}: {value!r} does not fit a float of {8 * size} bits") from None


def value_bytes(where, value, parameter):
    """The bytes of an argument that is no array, exactly as many as the parameter has."""
    size, kind = parameter.size, parameter.kind
    if isinstance(value, (bytes, bytearray, memoryview)):  # a structure, packed by the caller
        data = bytes(value)
    elif isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
        data = bytes(value)
    elif isinstance(value, np.generic):
        wrong = not parameter.is_block and (kind == "f" and value.dtype.kind not in "f" or kind in ("u", "s") and value.dtype.kind in "f")
        data = b"" if wrong else value.tobytes()
    elif isinstance(value, (bool, int)) and not parameter.is_block:
        data = _float_bytes(where, value, size, parameter) if kind == "f" else _integer_bytes(where, int(value), size)
    elif isinstance(value, float) and kind not in ("u", "s") and (not parameter.is_block or size == 2):
        data = _float_bytes(where, value, size, parameter)
    elif isinstance(value, complex) and size in (8, 16) and kind in ("b", ""):
        data = struct.pack("<2f" if size == 8 else "<2d", value.real, value.imag)
    elif value is None and size == 8 and kind in ("u", "b", ""):
        data = bytes(8)
    elif hasattr(value, "device_ctypes_pointer") and size == 8:  # cuda.MemoryPointer
        data = struct.pack("<Q", value.device_ctypes_pointer.value or 0)
    else:
        raise _mismatch(where, value, parameter)
    if len(data) != size:
        raise _mismatch(where, value, parameter)
    return data


class _Declared:
    """Parameters of which the widths are known: what a launch does with its arguments."""

    def __init__(self, parameters, names=None):
        self.parameters = parameters
        self.bytes = max((p.offset + p.size for p in parameters), default=0)
        self.stops = ()

    def signature(self):
        return ", ".join(map(repr, self.parameters))

    def plan(self, arguments):
        """The fields that these arguments' arrays fill; the same for arguments of the same
        kinds."""
        arrays = [p for p, value in zip(self.parameters, arguments) if is_array(value)]
        return [("POINTER", 0, number, p.offset) for number, p in enumerate(arrays)]

    def bind(self, name, arguments, keywords):
        if keywords:
            raise TypeError(f"{name}: the parameters of this kernel have no names: pass arguments by position")
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{name} takes {len(self.parameters)} argument{'s' * (len(self.parameters) != 1)}, but {len(arguments)} "
                            f"{'was' if len(arguments) == 1 else 'were'} given")
        block, arrays = bytearray(self.bytes), []
        for number, (value, p) in enumerate(zip(arguments, self.parameters), 1):
            where = f"{name}: argument {number}"
            if is_array(value):
                if p.size != 8 or p.kind == "f" or p.is_block:
                    raise TypeError(f"{where} is {p!r}, not an array: an array is passed as its address")
                arrays.append(value)
            else:
                block[p.offset:p.offset + p.size] = value_bytes(where, value, p)
        return bytes(block), tuple(arrays)


# --- arguments of kernels with a description ---


_WEAK = {"pyint": "int64", "pyfloat": "float64", "pybool": "bool", "pycomplex": "complex128"}


def _number_bytes(where, value, dtype, size):
    """A number as the declared type holds it."""
    dtype = _WEAK.get(dtype, dtype)
    if isinstance(value, (np.ndarray, str, bytes)) or not np.isscalar(value) and not isinstance(value, np.generic):
        raise TypeError(f"{where} is {dtype}, not {_said(value)}")
    if dtype.startswith("enum "):
        return _integer_bytes(where, int(value), size)
    if dtype == "bfloat16":
        bits, = struct.unpack("<I", struct.pack("<f", value))
        rounded = bits + 0x7FFF + (bits >> 16 & 1) if value == value else bits | 0x400000
        return (rounded >> 16 & 0xFFFF).to_bytes(2, "little")
    target = _pyptx._type(dtype).dtype  # of 8-bit floats that of ml_dtypes
    kind = np.asarray(value).dtype.kind
    if target.kind in "iu":
        if kind not in "iub":
            raise TypeError(f"{where} is {dtype}, not {_said(value)}")
        if not np.iinfo(target).min <= int(value) <= np.iinfo(target).max:
            raise OverflowError(f"{where}: {value} does not fit {dtype}")
    elif target.kind == "f" and kind == "c" or target.kind == "b" and kind not in "biu" or target.kind in "mM" and kind not in "mM":
        raise TypeError(f"{where} is {dtype}, not {_said(value)}")
    return np.asarray(value).astype(target).tobytes()


def _transposed(value):
    if isinstance(value, (np.ndarray, _pyptx.DeviceArray)):
        return value.T
    if hasattr(value, "__pyptx_way__"):  # cuda.In and its like
        return type(value)(_transposed(value.value))
    return _pyptx.as_cuda_array(value).T


def _record_dtype(text):
    return None if text.startswith("record(") else text


class _Described:
    """Parameters of a kernel that `pyptx compile` has described."""

    def __init__(self, description):
        self.description = description
        self.arguments = description["arguments"]
        self.bytes = description["parameter_bytes"]
        self.stops = description["stops"]
        self.types = _abi.arguments_of(description["signature"])
        kinds = {"pointer": "POINTER", "extent": "EXTENT64", "stride": "STRIDE", "trap": "TRAP", "grid": "GRID"}
        arrays = [number for number, argument in enumerate(self.arguments) if "ndim" in argument]
        self.fields = [(kinds[f["kind"]], self._axis(f), arrays.index(f["argument"]) if "argument" in f else 0, f["offset"])
                       for f in description["fields"] if f["kind"] != "scalar"]
        self.scalars = {f["argument"]: f for f in description["fields"] if f["kind"] == "scalar"}

    def _axis(self, field):
        """Of the array as it is passed on: one in Fortran order as its transpose, since copies of
        NumPy's arrays are in C order."""
        axis, argument = field.get("axis", 0), self.arguments[field["argument"]] if "argument" in field else {}
        return argument["ndim"] - 1 - axis if argument.get("layout") == "F" else axis

    def signature(self):
        return self.description["signature"]

    def plan(self, arguments):
        return self.fields

    def names(self):
        return self.description.get("parameters") or []

    def bind(self, name, arguments, keywords):
        names = self.names()
        given = list(arguments)
        for parameter in names[len(given):]:
            if parameter in keywords:
                given.append(keywords.pop(parameter))
        if keywords:
            raise TypeError(f"{name} has no parameter '{next(iter(keywords))}', or it is given twice; there are {', '.join(names)}")
        if len(given) != len(self.types):
            raise TypeError(f"{name} takes {len(self.types)} argument{'s' * (len(self.types) != 1)} ({self.signature()}), but {len(given)} "
                            f"{'was' if len(given) == 1 else 'were'} given")
        block, arrays, at = bytearray(self.bytes), [], 0
        for number, (value, text) in enumerate(zip(given, self.types), 1):
            for leaf in self._leaves(f"{name}: argument {number}", value, text):
                at = self._add(f"{name}: argument {number}", leaf, at, block, arrays)
        return bytes(block), tuple(arrays)

    def _leaves(self, where, value, text):
        parts = [kind for _, kind in _abi.leaves("x", text)]
        if parts == [text]:
            return [] if text in ("none", "None") else [value]
        items = _abi.split_types(text[text.index("("):])
        if not isinstance(value, tuple) or len(value) != len(items):
            raise TypeError(f"{where} is {text}, a tuple of {len(items)}, not {_said(value)}")
        named = not text.startswith("(")
        return [leaf for item, kind in zip(value, items) for leaf in self._leaves(where, item, kind.partition(":")[2].strip() if named else kind)]

    def _add(self, where, value, at, block, arrays):
        argument = self.arguments[at]
        if "ndim" in argument:
            self._check_array(where, value, argument)
            arrays.append(_transposed(value) if argument["layout"] == "F" else value)
        else:
            field = self.scalars[at]
            block[field["offset"]:field["offset"] + field["size"]] = _number_bytes(where, value, argument["type"], field["size"])
        return at + 1

    def _check_array(self, where, value, argument):
        if not is_array(value):
            raise TypeError(f"{where} is {argument['type']}, not {_said(value)}")
        seen = value.value if hasattr(value, "__pyptx_way__") else value
        if not isinstance(seen, (np.ndarray, _pyptx.DeviceArray)):
            seen = _pyptx.as_cuda_array(seen)
        dtype, shape, strides = seen.dtype, tuple(seen.shape), tuple(seen.strides)
        wanted = _record_dtype(argument["dtype"])
        same = str(dtype) == wanted if wanted else dtype.itemsize == _abi.item_bytes(argument["dtype"])
        if not same or len(shape) != argument["ndim"]:
            raise TypeError(f"{where} is {argument['type']}, not an array of {dtype} with {len(shape)} axes")
        step, order = dtype.itemsize, range(len(shape)) if argument["layout"] == "F" else range(len(shape) - 1, -1, -1)
        for axis in order if argument["layout"] in "CF" and 0 not in shape else ():
            if shape[axis] > 1 and strides[axis] != step:
                raise TypeError(f"{where} is {argument['type']}, contiguous in {argument['layout']} order; this array has strides {strides}")
            step *= shape[axis]
        count = int(np.prod(shape, dtype=object)) if shape else 1
        if not argument["wide"] and max((count, *shape)) > (1 << 31) - 1:
            raise ValueError(f"{where} is {argument['type']}, compiled for fewer than 2**31 elements; compile it for '{argument['type'].replace('[', '[!')}'")
        flags = getattr(seen, "flags", None)
        if argument["writes"] and isinstance(seen, np.ndarray) and not flags.writeable:
            raise ValueError(f"{where} is written to by the kernel, and this array is read-only")


# --- kernels ---


class ModuleKernel:
    """A kernel of a Module: ``kernel[grid, block, stream, shared](…)`` launches it. Made by
    ``module["name"]``."""

    def __init__(self, module, name, symbol, parameters):
        self.module, self.name, self.symbol = module, name, symbol
        self._parameters = parameters
        self._handles = {}
        self._handle = self._kernel(parameters.plan(())) if isinstance(parameters, _Described) else None
        if parameters is None:
            self._parameters = self._ask_driver()

    def _kernel(self, fields, size=None):
        key = tuple(fields)
        if key not in self._handles:
            self._handles[key] = _pyptx._module_kernel(self.module._handle, self.symbol, self._parameters.bytes if size is None else size, fields)
        return self._handles[key]

    def _ask_driver(self):
        found = _pyptx._module_params(self._kernel([], 0))
        self._handles.clear()
        if not found and self.module._kind != "ptx":
            driver = _pyptx._facts()["driver"] or 0
            if isinstance(driver, int) and driver < 12040 or not isinstance(driver, int):
                raise RuntimeError(f"{self.name}: the driver does not say which parameters a kernel of a cubin has (CUDA 12.4 and later do): load PTX, or the "
                                   "description that pyptx compile --emit json writes")
        return _Declared([Parameter(offset, size) for offset, size in found])

    def __getitem__(self, key):
        if not isinstance(key, tuple) or not 2 <= len(key) <= 4:
            raise ValueError(f"write {self.name}[blocks, threads](…), and if needed a stream and the bytes of dynamic shared memory behind them")
        grid, block, stream, shared = (*key, 0, 0)[:4] if len(key) < 4 else key
        return ModuleLauncher(self, (grid, block, stream, 0 if shared is None else shared))

    def __call__(self, *args, **kwargs):
        raise TypeError(f"the launch configuration was not specified: write {self.name}[blocks, threads](…)")

    def __repr__(self):
        return f"<pyptx kernel {self.name} of {self.module.name}: ({self._parameters.signature()})>"

    @property
    def parameters(self):
        """The parameters, as text: their types where a description says them, else their widths."""
        return self._parameters.signature()

    @property
    def resources(self):
        """{"registers", "static_shared", "constant", "local", "max_threads"}: registers of a
        thread; bytes of a block's static shared memory, of constant memory and of a thread's local
        memory; the most threads of a block."""
        return _pyptx._module_facts(self._kernel(self._parameters.plan(())))

    def _launch(self, key, args, kwargs):
        block, arrays = self._parameters.bind(self.name, args, dict(kwargs))
        handle = self._handle or self._kernel(self._parameters.plan(args))
        stopped = _pyptx._module_launch(handle, key, block, arrays)
        if stopped is not None:
            self._raise(*stopped)

    def _raise(self, site, block, thread, values):
        import builtins

        stop = self._parameters.stops[site]
        kind = getattr(builtins, stop["exception"] or "", RuntimeError)
        message = re.sub(r"\{(\d)[^}]*\}", lambda m: str(values[int(m[1])]), stop["message"] or "")
        raise kind(f"{message}\n  {stop['file']}:{stop['line']}, thread {thread} of block {block} of {self.name}")


class ModuleLauncher:
    """A kernel of a Module with its launch configuration: calling it launches."""

    __slots__ = ("kernel", "_key")

    def __init__(self, kernel, key):
        self.kernel, self._key = kernel, key

    def __call__(self, *args, **kwargs):
        self.kernel._launch(self._key, args, kwargs)

    def __repr__(self):
        return f"<pyptx launch of {self.kernel.name}[{self._key[0]}, {self._key[1]}]>"


# --- modules ---


class _Memory:
    """A variable of a module, for cuda.as_cuda_array; keeps the module."""

    def __init__(self, module, address, shape, dtype):
        self.module = module
        self.__cuda_array_interface__ = {"shape": shape, "typestr": dtype.str, "descr": dtype.descr, "data": (address, False), "version": 3}


def _is_path(source):
    if isinstance(source, os.PathLike):
        return True
    return isinstance(source, str) and "\n" not in source and "{" not in source and (os.path.splitext(source)[1] != "" or os.path.exists(source))


class Module:
    """Kernels and variables of CUDA C++, PTX, a cubin or a fatbin, loaded on the current GPU.

    source: CUDA C++ or PTX as text, machine code as bytes, or the path of a .cu, .ptx, .cubin,
        .fatbin or of the .json that ``pyptx compile --emit json`` writes. A .ptx, .cubin or .fatbin
        that has its description beside it (of the same name, .json) is launched by that.
    Of CUDA C++ alone: options: NVRTC's, as ("--use_fast_math",); defines: macros, as {"N": 16,
        "FAST": None}; include: folders of headers; names: name expressions of templates and
        overloads, as ("scale<float>",), by which kernels are then found; std: "c++17".
    link: what defines functions that the code declares, as in cuda.jit(link=…).
    name: in error messages; default: the path, or "<source>".

        module = cuda.Module(r'''
        extern "C" __global__ void scale(float *x, float factor, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) x[i] *= factor;
        }''')
        module["scale"][blocks, threads](d_x, 2.0, d_x.size)

    Arguments are checked against the kernel's parameters, by number and width, before the launch:
    device arrays (ours, CuPy's, PyTorch's …) and NumPy arrays, which are copied to the GPU and
    back, give an address; ints and floats take the parameter's width; NumPy's scalars must have it;
    bytes, NumPy's records and ctypes structures are structures; None is a null pointer.

    Raises CompileError (with the source line and a caret) where the source does not compile,
    ModuleError where the driver refuses the code, RuntimeError without NVRTC.
    """

    def __init__(self, source, *, options=(), defines=None, include=(), names=(), link=None, std="c++17", name=None):
        self._description, self._ptx, self._expressions = None, "", {}
        self._folder = None
        if _is_path(source):
            path = os.fsdecode(source)
            source, name = self._read(path), name or path
        self.name = name or "<source>"
        self._kernels = {}
        links = list(read_link(link))
        image = self._image(source, dict(options=options, defines=defines, include=include, names=names, std=std), bool(links))
        self._kind = "ptx" if self._ptx else "binary"
        self._handle = self._load(image, links)

    def _read(self, path):
        self._folder = os.path.dirname(os.path.abspath(path))
        suffix = os.path.splitext(path)[1].lower()
        if suffix == ".json":
            return self._read_description(path)
        with open(path, "rb") as file:
            data = file.read()
        beside = os.path.splitext(path)[0]
        for candidate in (beside, re.sub(r"\.sm_\w+$", "", beside)):
            if suffix in (".ptx", ".cubin", ".fatbin") and os.path.exists(candidate + ".json"):
                self._describe(candidate + ".json")
                break
        return data if suffix in (".cubin", ".fatbin") else data.decode()

    def _describe(self, path):
        with open(path, encoding="utf-8") as file:
            try:
                description = json.load(file)
            except ValueError as error:
                raise ValueError(f"{path} is no description of a kernel: {error}") from None
        if not isinstance(description, dict) or description.get("format") != _abi.FORMAT:
            raise ValueError(f"{path} is no description of a kernel; pyptx compile --emit json writes them")
        if description["abi"] != _abi.VERSION:
            raise ValueError(f"{path} describes version {description['abi']} of the parameter block, and this is version {_abi.VERSION}: compile the kernel again")
        self._description = description

    def _read_description(self, path):
        self._describe(path)
        capability = _capability()
        choice = _choose(self._description["images"], capability)
        if choice is None:
            raise ValueError(f"{path} names no image for sm_{capability}: compile with --emit ptx,json or fatbin,json and -o")
        file = os.path.join(self._folder, choice["file"])
        with open(file, "rb") as image:
            data = image.read()
        return data.decode() if choice["kind"] == "ptx" else data

    def _image(self, source, given, linked):
        if isinstance(source, LinkableCode):
            self.name = source.name if self.name == "<source>" else self.name
            source = source.data if isinstance(source, (Cubin, Fatbin)) else source.data.decode()
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            if data.startswith((_ELF, _FATBIN)):
                _refuse(given, "machine code")
                return data
            try:
                source = data.decode()
            except UnicodeDecodeError:
                raise ValueError(f"{self.name}: these bytes are neither a cubin nor a fatbin nor text") from None
        if not isinstance(source, str):
            raise TypeError(f"cuda.Module takes CUDA C++ or PTX as text, machine code as bytes or a path, not {type(source).__name__}")
        if re.search(r"^\s*\.version\s+\d", re.sub(r"//[^\n]*", "", source), re.MULTILINE):
            _refuse(given, "PTX")
            self._ptx = source
            return source.encode()
        return self._compile(source, linked=linked, **given)

    def _compile(self, source, options, defines, include, names, std, linked):
        from pyptx.cuda import _nvrtc

        if not source.strip():
            raise ValueError(f"{self.name}: there is nothing in it")
        capability = _capability()
        if capability is None:
            raise RuntimeError("cuda.Module needs a GPU, and the current device is the host: kernels in Python run there, CUDA C++ does not")
        folders = [include] if isinstance(include, (str, os.PathLike)) else list(include)
        flags = [f"--gpu-architecture=sm_{capability}", f"--std={std}", *(["--relocatable-device-code=true"] if linked else []),
                 *(f"-D{macro}" if value is None else f"-D{macro}={value}" for macro, value in (defines or {}).items()),
                 *(f"-I{os.fsdecode(folder)}" for folder in folders), *([options] if isinstance(options, str) else options)]
        names = (names,) if isinstance(names, str) else tuple(names)
        made = _nvrtc.build(source.encode(), self.name, flags, self._folder, names, ("PTX",) if linked else ("PTX", "CUBIN"))
        self._ptx, self._expressions = made.ptx.decode(), made.names
        major, minor = _nvrtc.version()
        driver = _pyptx._facts()["driver"] or 0
        newer = isinstance(driver, int) and driver < 1000 * major + 10 * minor  # the driver would not read its PTX
        return made.cubin if newer and not linked else made.ptx

    def _load(self, image, links):
        capability = _capability()
        if capability is None:
            raise RuntimeError("cuda.Module needs a GPU, and the current device is the host: kernels in Python run there, PTX and machine code do not")
        if not links:
            return _pyptx._module_open(self.name, image, [])
        if image.startswith((_ELF, _FATBIN)):
            raise ValueError(f"{self.name}: link= is for CUDA C++ and PTX; machine code is linked when it is made")
        from pyptx.cuda._link import link_lto

        inputs = [item.image(capability) for item in links]
        whole = link_lto(capability, self.name, image, inputs)
        return _pyptx._module_open(self.name, whole, []) if whole else _pyptx._module_open(self.name, image, inputs)

    # --- what is in it ---

    @property
    def ptx(self):
        """The PTX text, or None of machine code."""
        return self._ptx or None

    @property
    def kernels(self):
        """The names of its kernels, as PTX has them; name expressions besides. Of machine code, the
        one that is described, or none that is known."""
        found = list(entries_of(self._ptx)) if self._ptx else [self._description["symbol"]] if self._description else []
        return [*found, *self._expressions]

    def _symbol(self, name):
        if name in self._expressions:
            return self._expressions[name]
        known = list(entries_of(self._ptx)) if self._ptx else []
        if not known or name in known:
            return name
        mangled = [symbol for symbol in known if re.match(rf"_Z{len(name.encode())}{re.escape(name)}(?![a-z_A-Z0-9]*_Z)", symbol)]
        if len(mangled) == 1:  # a C++ function without overloads
            return mangled[0]
        if mangled:
            raise KeyError(f"{self.name} has several kernels '{name}': say which in names=, as names=('{name}<float>',), or by its symbol ({', '.join(mangled)})")
        if self._description and name == self._description["kernel"]:
            return self._description["symbol"]
        import difflib

        near = difflib.get_close_matches(name, self.kernels, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(self.kernels)}" if known else ""
        template = f": instances of templates are asked for when the Module is made, names=('{name}',)" if "<" in name else hint
        raise KeyError(f"{self.name} has no kernel '{name}'{template}")

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"a kernel is found by its name, a str, not {type(name).__name__}")
        if name not in self._kernels:
            symbol = self._symbol(name)
            parameters = None
            if self._description and symbol in (self._description["symbol"], self._description["kernel"]):
                symbol, parameters = self._description["symbol"], _Described(self._description)
            elif self._ptx:
                parameters = _Declared(entries_of(self._ptx)[symbol])
            self._kernels[name] = ModuleKernel(self, name, symbol, parameters)
        return self._kernels[name]

    def __contains__(self, name):
        return name in self.kernels

    def global_(self, name, dtype=None, shape=None):
        """A variable of the module (__device__, __constant__ or __managed__), as a device array
        over its memory.

        dtype: of its elements; default: what PTX says of a number, bytes (uint8) of arrays and
            structures.
        shape: default: () of one element, else as many as there are. Its name is the symbol, or one
            of the name expressions.

        Example:

            module.global_("weights", np.float32)[:] = 1
        """
        address, size = _pyptx._module_global(self._handle, self._expressions.get(name, name))
        dtype = np.dtype(dtype if dtype is not None else globals_of(self._ptx).get(self._expressions.get(name, name)) or np.uint8)
        if shape is None:
            if size % dtype.itemsize:
                raise ValueError(f"{name} has {size} bytes, which are no whole number of {dtype}")
            shape = () if size == dtype.itemsize else (size // dtype.itemsize,)
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        if int(np.prod(shape, dtype=object)) * dtype.itemsize > size:
            raise ValueError(f"{name} has {size} bytes: an array of shape {shape} and dtype {dtype} does not fit")
        return _pyptx.as_cuda_array(_Memory(self, address, shape, dtype))

    def __repr__(self):
        return f"<pyptx module {self.name}: {', '.join(self.kernels) or 'machine code'}>"

    def __reduce__(self):
        raise TypeError("a Module lives on one GPU of one process and cannot be pickled: pickle its source")


def _refuse(given, what):
    """Options of NVRTC where there is nothing to compile."""
    for option, value in given.items():
        if value and option != "std":
            raise ValueError(f"cuda.Module({option}=…) is for CUDA C++; this is {what}")


def _capability():
    """Of the current GPU, as 90; None of the host device."""
    device = _pyptx.get_current_device()
    if device.is_host:
        return None
    major, minor = device.compute_capability
    return 10 * major + minor


def _choose(images, capability):
    """Of a description's images: a fatbin, the cubin of this GPU, or the newest PTX that it
    runs."""
    from pyptx._occupancy import capability as number

    best = None
    for image in images:
        if image["kind"] == "fatbin":
            return image
        if image["kind"] == "cubin" and number(image["arch"]) == capability:
            return image
        if image["kind"] == "ptx" and number(image["arch"]) <= (capability or 0) and (best is None or number(image["arch"]) > number(best["arch"])):
            best = image
    return best
