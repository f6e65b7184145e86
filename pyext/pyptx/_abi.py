"""The stable parameter block of compiled kernels: its description (JSON), and the C header that is
written from it.

The description is what `pyptx compile --emit json` writes, the header's only source, and what
pyptx.cuda.Module reads to launch a kernel with the same Python arguments. docs/guide/modules.md
documents both."""

import json
import re

VERSION = 1  # of the order, names, sizes and alignments of the fields
FORMAT = "pyptx kernel"

_C_WORDS = frozenset("""alignas alignof and asm auto bitand bitor bool break case catch char class compl const constexpr continue decltype default
delete do double else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not nullptr operator or
private protected public register restrict return short signed sizeof static struct switch template this throw true try typedef typeid typename
typeof union unsigned using virtual void volatile wchar_t while xor""".split())

_C_TYPES = {
    "bool": "uint8_t", "pybool": "uint8_t", "pyint": "int64_t", "pyfloat": "double", "float32": "float", "float64": "double", "float16": "uint16_t",
    "bfloat16": "uint16_t", "float8_e4m3fn": "uint8_t", "float8_e5m2": "uint8_t", "float8_e8m0fnu": "uint8_t", "complex64": "pyptx_complex64", "complex128": "pyptx_complex128", "pycomplex": "pyptx_complex128",
    **{f"{u}int{n}": f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip


# --- types, as signatures write them ---


def split_types(text):
    """The types of "float32[:,::1], (int32, float64)", or of the same in parentheses."""
    text = text.strip()
    if text.startswith("(") and _closes_at_end(text):
        text = text[1:-1]
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c in "[(") - (c in "])")
        if c == "," and not depth:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [part for part in parts if part]


def _closes_at_end(text):
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if not depth:
            return i == len(text) - 1
    return False


def arguments_of(text):
    """The types of a signature, whose result ("void(…)") is left out."""
    text = text.strip()
    match = re.match(r"[a-z]\w*\s*\(", text)
    is_type = text.startswith(("enum ", "record(")) or re.match(r"\w+\s*\(\s*\w+\s*:(?!:)", text)  # an Enum, a record, a named tuple
    rest = text[match.end() - 1:] if match and not is_type else ""
    return split_types(rest if rest and _closes_at_end(rest) else text)


def plain_signature(text):
    """The one form of a signature's arguments: "float32[:], int32", without parentheses, but for a
    single tuple, and without a result."""
    parts = arguments_of(text)
    plain = ", ".join(parts)
    return plain if arguments_of(plain) == parts else f"({plain})"


def leaves(name, text):
    """[(name, type)] of an argument: of tuples those of the items, depth first."""
    match = re.fullmatch(r"(?!record\b)(\w*)\s*(\(.*\))", text, re.DOTALL)
    if not match or text.startswith("enum "):
        return [(name, text)]
    out = []
    for number, item in enumerate(split_types(match[2])):
        field, colon, rest = item.partition(":") if match[1] else ("", "", item)
        out += leaves(f"{name}_{field.strip() if colon else number}", rest.strip())
    return out


def array_type(text):
    """{dtype, ndim, layout, …} of an array's type; None of others."""
    match = re.fullmatch(r"((?:readonly |align\d )*)(.*)\[([:,1! ]*)\]", text, re.DOTALL)
    if not match:
        return {"dtype": text, "ndim": 0, "layout": "C", "readonly": False, "align": 0, "wide": False} if text.startswith("record(") else None
    words, dtype, axes = match[1], match[2], match[3].replace(" ", "")
    wide, axes = axes.startswith("!"), axes.lstrip("!")
    each = axes.split(",") if axes else []
    layout = "C" if not each or each[-1] == "::1" else "F" if each[0] == "::1" else "A"
    align = re.search(r"align(\d)", words)
    return {"dtype": dtype, "ndim": len(each), "layout": layout, "readonly": "readonly" in words, "align": int(align[1]) if align else 0, "wide": wide}


# --- the description ---


def c_name(text):
    """A name for C of one of Python's."""
    text = "".join(c if c.isascii() else f"_u{ord(c):x}" for c in text)
    return text + "_" if text in _C_WORDS else text


def _named_leaves(names, signature):
    return [(c_name(leaf), text) for name, given in zip(names, arguments_of(signature)) for leaf, text in leaves(name, given)]


def _field_name(kind, axis, leaf, taken):
    name = {"POINTER": f"{leaf}_data", "EXTENT64": f"{leaf}_shape{axis}", "STRIDE": f"{leaf}_stride{axis}", "SCALAR": leaf,
            "TRAP": "pyptx_trap", "GRID": "pyptx_grid"}[kind]
    while name in taken:
        name += "_"
    taken.add(name)
    return name


_KINDS = {"POINTER": "pointer", "EXTENT64": "extent", "STRIDE": "stride", "SCALAR": "scalar", "TRAP": "trap", "GRID": "grid"}


def describe(kernel, names, signature, out, images=()):
    """The description, as a dict, of what _pyptx._compile(abi="stable") gave. names: of the
    kernel's parameters; images: [(kind, arch, file)]."""
    named = [(name, text) for name, text in _named_leaves(names, signature) if text not in ("none", "None")]
    given = [argument for argument, (name, text) in zip(out["args"], _named_leaves(names, signature)) if text not in ("none", "None")]
    numbers = [i for i, (name, text) in enumerate(_named_leaves(names, signature)) if text not in ("none", "None")]
    arguments, taken, fields = [], set(), []
    for (name, text), (is_array, read, written) in zip(named, given):
        shape = array_type(text) if is_array else None
        arguments.append({"name": name, "type": text, **({**shape, "reads": read, "writes": written} if shape else {})})
    for kind, size, axis, leaf, offset in out["params"]:
        if kind == "BLOCKS":  # of the coarsened entry, which only our own launches know
            continue
        argument = numbers.index(leaf) if kind not in ("TRAP", "GRID") else None
        field = {"name": _field_name(kind, axis, arguments[argument]["name"] if argument is not None else "", taken), "kind": _KINDS[kind], "offset": offset,
                 "size": size}
        if argument is not None:
            field["argument"] = argument
        if kind in ("EXTENT64", "STRIDE"):
            field["axis"] = axis
        fields.append(field)
    return {
        "format": FORMAT, "abi": VERSION, "kernel": kernel, "symbol": out["symbol"], "signature": plain_signature(signature),
        "parameters": list(names)[:len(arguments_of(signature))], "parameter_bytes": out["param_bytes"], "arguments": arguments, "fields": fields,
        "static_shared": out["static_shared"], "dynamic_shared": out["dynamic_shared"], "cooperative": any(f["kind"] == "grid" for f in fields),
        "stops": [{"exception": e, "message": m, "file": f, "line": n} for e, m, f, n, _ in out["sites"]],
        "images": [{"kind": kind, "arch": arch, "file": file} for kind, arch, file in images],
    }  # fmt: skip


def as_json(description):
    return json.dumps(description, indent=1, ensure_ascii=True) + "\n"


# --- the header ---

_COMMON = """\
#ifndef PYPTX_ABI_TYPES
#define PYPTX_ABI_TYPES 1
typedef struct __attribute__((aligned(8))) pyptx_complex64 { float re, im; } pyptx_complex64;
typedef struct __attribute__((aligned(16))) pyptx_complex128 { double re, im; } pyptx_complex128;
/* What a thread leaves that stops with an exception; all 0 before the launch. state 2: it is complete,
 * site is the number of the exception in the description's "stops". */
typedef struct pyptx_trap_record {
  uint32_t state, site, block[3], thread[3];
  int64_t values[4];
} pyptx_trap_record;
#endif
"""


def _c_type(field, arguments):
    if field["kind"] == "scalar":
        return _C_TYPES.get(arguments[field["argument"]]["type"], f"int{8 * field['size']}_t")
    return {"pointer": "CUdeviceptr", "extent": "int64_t", "stride": "int64_t", "trap": "CUdeviceptr", "grid": "CUdeviceptr"}[field["kind"]]


_FIELD_NOTES = {"trap": "address of a pyptx_trap_record", "grid": "address of a uint32_t, 0 before every launch"}


def _note(field, arguments):
    if "argument" not in field:
        return _FIELD_NOTES[field["kind"]]
    argument = arguments[field["argument"]]
    what = {"pointer": f"{argument['type']}: address of element 0", "scalar": argument["type"]}
    return what.get(field["kind"]) or f"axis {field['axis']}, {'elements' if field['kind'] == 'extent' else 'bytes'}"


def _of(description, argument, kind):
    return [f["name"] for f in description["fields"] if f.get("argument") == argument and f["kind"] == kind]


_ITEM_BYTES = {"bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e8m0fnu": 1, "float16": 2, "bfloat16": 2, "complex64": 8, "complex128": 16}


def item_bytes(dtype):
    """Bytes of an element of an array."""
    if dtype.startswith("record("):
        return int(dtype.rstrip(")").rpartition(";")[2])
    if dtype.startswith(("datetime64", "timedelta64")):
        return 8
    return _ITEM_BYTES.get(dtype) or int(re.search(r"\d+$", dtype)[0]) // 8


def _contiguous(argument):
    """Axes from the last that varies fastest."""
    axes = range(argument["ndim"])
    return list(reversed(axes)) if argument["layout"] != "F" else list(axes)


def _setter(symbol, description, number):
    argument = description["arguments"][number]
    (data,), shape, stride = (_of(description, number, kind) for kind in ("pointer", "extent", "stride"))
    order = "Fortran" if argument["layout"] == "F" else "C"
    yield f"/* {argument['name']}: {argument['type']}. A contiguous array in {order} order; its strides follow from its shape. */"
    parameters = "".join(f", int64_t shape{axis}" for axis in range(len(shape)))
    yield f"static inline void {symbol}_set_{argument['name']}({symbol}_params *p, CUdeviceptr data{parameters}) {{"
    yield f"  p->{data} = data;"
    for axis, name in enumerate(shape):
        yield f"  p->{name} = shape{axis};"
    size = str(item_bytes(argument["dtype"]))
    for axis in _contiguous(argument):
        yield f"  p->{stride[axis]} = {size};"
        size = f"p->{stride[axis]} * p->{shape[axis]}"
    yield "}"


def _check(description, number):
    """What the kernel was compiled for, of an array: returns 0 from the function where it does not
    hold."""
    argument = description["arguments"][number]
    (data,), shape, stride = (_of(description, number, kind) for kind in ("pointer", "extent", "stride"))
    bad = [f"p->{name} < 0" for name in shape]
    if not argument["wide"]:
        bad += [f"p->{name} > INT32_MAX" for name in shape]
        if len(shape) > 1:
            bad.append(f"!pyptx_fits_31_bits(shape, {len(shape)})")
    align = argument.get("align") or _natural(argument["dtype"])
    if align > 1:
        bad += [f"(p->{name} & {align - 1}) != 0" for name in (data, *(stride if argument["layout"] == "A" else ()))]
    if shape and argument["layout"] in "CF":
        bad.append(f"!pyptx_is_contiguous(shape, stride, {len(shape)}, {item_bytes(argument['dtype'])}, {int(argument['layout'] == 'F')})")
    yield "  {"
    for what, names in (("shape", shape), ("stride", stride)):
        if any(f"{what}," in condition for condition in bad):
            yield f"    const int64_t {what}[] = {{" + ", ".join(f"p->{name}" for name in names) + "};"
    yield "    if (" + " ||\n        ".join(bad or ["0"]) + ")\n      return 0;\n  }"


def _natural(dtype):
    if dtype.startswith("record("):  # what its size preserves from one record to the next
        size = item_bytes(dtype)
        return min(size & -size, 16)
    return min(item_bytes(dtype), 8 if not dtype.startswith("complex") else item_bytes(dtype) // 2)


_HELPERS = """\
#ifndef PYPTX_ABI_CHECKS
#define PYPTX_ABI_CHECKS 1
/* Are there fewer than 2^31 elements? Extents are at least 0. */
static inline int pyptx_fits_31_bits(const int64_t *shape, int ndim) {
  uint64_t count = 1;
  for (int k = 0; k < ndim; k++) {
    if (shape[k] > INT32_MAX)
      return 0;
    count *= (uint64_t)shape[k];
    if (count > INT32_MAX)
      return 0;
  }
  return 1;
}
/* Are the strides those of an array without gaps? Of an axis of one element any will do. */
static inline int pyptx_is_contiguous(const int64_t *shape, const int64_t *stride, int ndim, int64_t item, int fortran) {
  int64_t next = item;
  for (int k = 0; k < ndim; k++)
    if (!shape[k])
      return 1;
  for (int k = 0; k < ndim; k++) {
    int axis = fortran ? k : ndim - 1 - k;
    if (shape[axis] > 1 && stride[axis] != next)
      return 0;
    next *= shape[axis];
  }
  return 1;
}
#endif
"""


def header(description):
    """C (C99 and later, and C++) that packs the block and launches the kernel through the driver
    API."""
    symbol = c_name(description["symbol"].replace("$", "_"))
    fields, arguments = description["fields"], description["arguments"]
    out = [f"/* {symbol}: the parameters of the kernel {json.dumps(description['kernel'])[1:-1]} ({_comment(description['signature'])}) and its launch.",
           f" * Written by pyptx compile; parameter ABI {VERSION}. Docs: docs/guide/modules.md of pyptx. */",
           f"#ifndef PYPTX_KERNEL_{symbol}", f"#define PYPTX_KERNEL_{symbol} {VERSION}", "#include <cuda.h>", "#include <stddef.h>", "#include <stdint.h>",
           "#ifdef __cplusplus", 'extern "C" {', "#endif", _COMMON + _HELPERS]
    out.append(f'#define {symbol}_SYMBOL "{description["symbol"]}"')
    out.append(f"typedef struct {symbol}_params {{")
    out += [f"  {_c_type(f, arguments)} {f['name']}; /* {_comment(_note(f, arguments))} */" for f in fields] or ["  char unused;"]
    out.append(f"}} {symbol}_params;")
    out.append(f"enum {{ {symbol}_params_bytes = {description['parameter_bytes']}, {symbol}_static_shared = {description['static_shared']} }};")
    out += [f"typedef char {symbol}_at_{f['name']}[offsetof({symbol}_params, {f['name']}) == {f['offset']} ? 1 : -1];" for f in fields]
    arrays = [number for number, argument in enumerate(arguments) if "ndim" in argument]
    for number in arrays:
        out += _setter(symbol, description, number)
    out.append("/* Is the block what the kernel was compiled for: extents, contiguous strides, alignment? */")
    out.append(f"static inline int {symbol}_is_valid(const {symbol}_params *p) {{")
    out.append("  (void)p;")
    for number in arrays:
        out += _check(description, number)
    out.append("  return 1;\n}")
    out += _launch(symbol, description)
    out += ["#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    return "\n".join(out)


def _comment(text):
    return text.replace("*/", "* /").replace("\n", " ")


def _launch(symbol, description):
    form = "unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz"
    yield "/* Queues a launch. CUDA_ERROR_INVALID_VALUE where the block is not valid; else what the driver says. */"
    yield f"static inline CUresult {symbol}_launch(CUfunction kernel, {form},\n    unsigned dynamic_shared, CUstream stream, {symbol}_params *p) {{"
    yield f"  if (!{symbol}_is_valid(p))\n    return CUDA_ERROR_INVALID_VALUE;"
    if description["cooperative"]:
        yield "  void *fields[] = {" + ", ".join(f"&p->{f['name']}" for f in description["fields"]) + "};"
        yield "  return cuLaunchCooperativeKernel(kernel, gx, gy, gz, bx, by, bz, dynamic_shared, stream, fields);\n}"
        return
    yield f"  size_t bytes = {symbol}_params_bytes;"
    yield "  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, p, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};"
    yield "  return cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, dynamic_shared, stream, NULL, bytes ? extra : NULL);\n}"
