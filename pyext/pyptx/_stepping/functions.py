"""Functions of numbers, as the host device computes them: math.sin, np.exp, cuda.popc, cuda.libdevice.…

Each is compiled by itself for the types of its arguments when it is first called with them, so that results have the types and the bits that
the kernel has when it is compiled.
"""


import numpy as np

from pyptx import _pyptx
from pyptx._elementwise import define
from pyptx.errors import CompileError

_WEAK = {bool: "pybool", int: "pyint", float: "pyfloat", complex: "pycomplex"}
_RESULTS = {"pybool": (np.bool_, bool), "pyint": (np.int64, int), "pyfloat": (np.float64, float), "pycomplex": (np.complex128, complex)}
_made = {}


def is_number(x):
    return type(x) in _WEAK or (isinstance(x, np.generic) and not isinstance(x, np.void)) or type(x).__module__ == "ml_dtypes"


def _is_python_s(x):
    """Is it a number that NumPy and Python compute with: a date, an integer of more than 64 bits."""
    return isinstance(x, (np.datetime64, np.timedelta64)) or type(x) is int and not -(2**63) <= x < 2**63


def _type_of(x):
    weak = _WEAK.get(type(x))
    return weak or str(_pyptx.from_dtype(x.dtype))


def function(compiled, name, otherwise=None):
    """What calls it. otherwise: what does for arguments that are no numbers; None: they are an error."""

    def call(*args, **keywords):
        if not all(map(is_number, args)) or (keywords and otherwise) or any(map(_is_python_s, args)):
            if otherwise is None:
                raise TypeError(f"{name}() takes numbers: {', '.join(type(x).__name__ for x in args)} given")
            return otherwise(*args, **keywords)
        key = compiled, *map(type, args)
        how = _made.get(key)
        if how is None:
            how = _make(compiled, name, args)
            if not how.depends:
                _made[key] = how
        return how(args)

    call.__name__ = call.__qualname__ = name
    call.__wrapped__ = compiled
    return call


def _source(compiled, head, body):
    return define(head.partition("(")[0], f"def {head}:\n    {body}\n", {"f": compiled})


def _make(compiled, name, args):
    """What computes it for numbers of these types; with .depends, for these ints alone, where they must be known to the compiler."""
    try:
        return _kernel(compiled, name, args, ())
    except CompileError:
        ints = tuple(k for k, x in enumerate(args) if type(x) is int)
        if not ints or len(ints) == len(args):
            raise
        return _kernel(compiled, name, args, ints)


def _kernel(compiled, name, args, known):
    from pyptx.cuda import jit

    given = [repr(x) if k in known else f"a{k}" for k, x in enumerate(args)]
    names = [f"a{k}" for k in range(len(args)) if k not in known]
    types = [_type_of(x) for k, x in enumerate(args) if k not in known]
    one = _source(compiled, f"{name.rpartition('.')[2]}({', '.join(names)})", f"return f({', '.join(given)})")
    result = _pyptx._compile(one, f"({', '.join(types)},)", "host", "", 0, {"device": True, "fma": False}, "types", None)["result"]
    inner = result.strip("()").rstrip(",").split(", ") if result.startswith("(") else None
    dtypes = [_RESULTS.get(r) or (_dtype(r), None) for r in inner or [result]]
    outs = [f"o{k}" for k in range(len(dtypes))]
    stores = "; ".join(f"o{k}[0] = r[{k}]" for k in range(len(outs))) if inner else "o0[0] = r"
    kernel = jit(_source(compiled, f"run({', '.join(outs + names)})", f"r = f({', '.join(given)}); {stores}"), fma=False)[1, 1]

    def compute(args):
        results = [np.zeros(1, dtype) for dtype, _ in dtypes]
        kernel(*results, *(x for k, x in enumerate(args) if k not in known))
        values = [weak(r[0]) if weak else r[0] for r, (_, weak) in zip(results, dtypes)]
        return tuple(values) if inner else values[0]

    compute.depends = bool(known)
    return compute


def _dtype(text):
    return _pyptx._type("bool" if text == "boolean" else text).dtype


