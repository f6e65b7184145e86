"""Operators and NumPy's ufuncs on device arrays.

A `DeviceUFunc` is one of NumPy's ufuncs as a UFunc of ours (_ufunc.py): NumPy says which of its
loops the operands take, so promotion and its errors are NumPy's own, and the kernels of that loop
call the same ufunc. OPERATIONS is what a device array's slots and methods call, by the names of
pyext/array/operators.def; what they call runs with the array's device selected.
"""

import numpy as np

from pyptx import _array_functions as functions
from pyptx._array_functions import NotOnDevice, on_host, ordered_stream, the_device
from pyptx._elementwise import Work, define, is_array
from pyptx._pyptx import DeviceArray, _layouts, device_array, from_dtype
from pyptx._ufunc import Loop, UFunc, cast_to_dtype, elementwise, result_type
from pyptx.errors import CompileError

_NOT_FUSED = {"fma": False}  # products of complex numbers are rounded as NumPy's
_COMPARISONS = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}


def kind_of(value):
    """What NumPy's promotion sees of what `read` gives: a dtype, or the type of a weak number."""
    if is_array(value) or isinstance(value, np.generic):
        return value.dtype
    return np.dtype(bool) if isinstance(value, bool) else next(t for t in (int, float, complex) if isinstance(value, t))


def has_type(dtype):
    """Can kernels have elements of that dtype."""
    try:
        return from_dtype(dtype) is not None
    except TypeError:
        return False


def _exponent(dtype):
    cast = cast_to_dtype(dtype)

    def whole(value):
        if value < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return cast(value)

    return whole


class DeviceUFunc(UFunc):
    """One of NumPy's ufuncs of one result, for device arrays."""

    def __init__(self, ufunc):
        self.numpy, self.nin, self.nout = ufunc, ufunc.nin, ufunc.nout
        self.__name__ = self.__qualname__ = ufunc.__name__
        self._most, self._host, self._static, self._options = 1 << 30, False, False, _NOT_FUSED
        self._inferred, self._plans = {}, {}

    def _find_loop(self, values, out=None, signature=None, casting="same_kind"):
        """The loop for these values; NumPy's TypeError where it has none, NotOnDevice where kernels
        have no such types."""
        kinds = tuple(kind_of(v) for v in values)
        key = *kinds, None if out is None else out.dtype, signature, casting
        loop = self._inferred.get(key)
        if loop is None:
            more = {} if signature is None else {"signature": signature}
            dtypes = self.numpy.resolve_dtypes((*kinds, None if out is None else out.dtype), casting=casting, **more)
            loop = self._inferred.setdefault(key, self._make_loop(kinds, dtypes[:-1], dtypes[-1]))
        return loop

    def _make_loop(self, kinds, inputs, result):
        from pyptx.cuda._jit import jit

        given = [loop if isinstance(kind, type) else kind for kind, loop in zip(kinds, inputs)]
        if not all(has_type(t) for t in (*given, *inputs, result)):
            raise NotOnDevice(f"of {', '.join(dict.fromkeys(str(t) for t in (*given, result) if not has_type(t)))}")
        names = [f"x{k}" for k in range(self.nin)]
        scope = {"ufunc": self.numpy, **{f"T{k}": loop.type for k, loop in enumerate(inputs)}}
        dates = any(t.kind in "mM" for t in inputs)  # whose units the kernel brings together
        arguments = ", ".join(name if kind == loop or dates else f"T{k}({name})" for k, (name, kind, loop) in enumerate(zip(names, given, inputs)))
        core = define(self.__name__, f"def {self.__name__}({', '.join(names)}):\n    return ufunc({arguments})\n", scope)
        try:
            result_type(core, [repr(from_dtype(t)) for t in given], self._options)
        except CompileError as error:
            if isinstance(error, MemoryError):
                raise
            raise NotOnDevice("") from None
        integers = self.numpy is np.power and inputs[-1].kind == "i"
        return Loop(jit(device=True, **self._options)(core), inputs, result, self.__name__, self._options, [cast_to_dtype, _exponent] if integers else None)

    # --- calls

    def compute(self, args, out=None, stream=0, *, where=True, dtype=None, signature=None, casting="same_kind", order="K"):
        """The ufunc of these operands, as NumPy's keywords say, in `out` or a new device array."""
        if any(isinstance(x, np.ndarray) and isinstance(x, np.ma.MaskedArray) for x in args):
            raise NotOnDevice("of a masked array")
        if where is not True:
            return self._where(args, out, stream, where, dtype=dtype, signature=signature, casting=casting, order=order)
        if dtype is not None:
            signature = (*(None,) * self.nin, type(np.dtype(dtype)))
        if order not in ("K", "A", "C", "F"):
            raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
        work = Work(args, stream)
        if out is not None and isinstance(out, DeviceArray) and not out.flags["WRITEABLE"]:
            raise ValueError("output array is read-only")
        constant = self._constant(work.values, out) if self.numpy in _COMPARISONS else None
        if constant is not None:
            return constant
        loop = self._find_loop(work.values, out, signature, casting)
        plain = signature is None and casting == "same_kind" and order in "KA"
        if out is not None and not np.can_cast(loop.result, out.dtype, "same_kind"):  # casting="unsafe"
            out[...] = functions.astype(self.compute(args, None, stream, signature=signature, casting=casting), out.dtype)
            return out
        if order in "CF" and out is None:
            out = device_array(np.broadcast_shapes(*(v.shape for v in work.arrays())), loop.result, order=order, stream=stream)
        return self._compute(work, loop, out, _layouts(out, *args) if plain else None)

    def _constant(self, values, out):
        """A comparison with a Python int that the other side's type does not hold is the same for
        all elements; None of any other."""
        weak = [k for k, v in enumerate(values) if type(v) is int]
        other = values[1 - weak[0]] if len(weak) == 1 else None
        if other is None or not is_array(other) or other.dtype.kind not in "iu":
            return None
        limits = np.iinfo(other.dtype)
        if limits.min <= values[weak[0]] <= limits.max:
            return None
        answer = self.numpy(*(v if type(v) is int else np.zeros((), v.dtype) for v in values))
        if out is None:
            return functions.full(other.shape, bool(answer), bool)
        functions.fill(out, answer)
        return out

    def _where(self, args, out, stream, where, **rest):
        result = self.compute(args, None, stream, **rest)
        shape = np.broadcast_shapes(result.shape, np.shape(where))
        if out is None:
            out = device_array(shape, result.dtype, stream=stream)
        elif not np.can_cast(result.dtype, out.dtype, rest["casting"]):
            self._find_loop(Work(args, stream).values, out, rest["signature"], rest["casting"])  # raises
        result = functions.astype(result, out.dtype, copy=False)
        return elementwise(_chosen, where if isinstance(where, DeviceArray) else np.asarray(where, bool), result, out, out=out, stream=stream)

    def operate(self, *args):
        """An operator: its operands and the stream that one of them is bound to, or None."""
        *args, stream = args
        result = self.planned(args) if stream is None else None
        if result is not None:
            return result
        if not all(map(is_operand, args)):
            return NotImplemented
        return self._placed(args, None, stream)

    def planned(self, args):
        """The result where an earlier call has left a plan, else None. On the default stream."""
        plan = self._plans.get(_layouts(None, *args))
        if plan is None:
            return None
        shape, dtype, order = plan.result
        out = device_array(shape, dtype, order=order)
        try:
            plan.run([out, *args], 0)
        except OverflowError:  # a number that the types of the plan do not hold
            return None
        return out

    def update(self, a, b, stream):
        """An operator in place."""
        plan = self._plans.get(_layouts(a, a, b)) if stream is None else None
        if plan is not None:
            plan.run([a, a, b], 0)
            return a
        return self._placed((a, b), a, stream) if is_operand(b) else NotImplemented

    def _placed(self, args, out, stream):
        with ordered_stream(args, stream) as s:
            try:
                result = self.compute(args, out, s)
            except NotOnDevice as no:
                return on_host(self.numpy, args, {} if out is None else {"out": (out,)}, why=no)
        return result.bind(s) if s and out is None else result


def _chosen(mask, new, old):
    return new if mask else old


_ufuncs = {}


def device_ufunc(ufunc):
    """NumPy's ufunc for device arrays; None for what has no kernels: several results, small arrays,
    ufuncs of other libraries."""
    found = _ufuncs.get(ufunc)
    if found is None and ufunc.nout == 1 and ufunc.signature is None and getattr(np, ufunc.__name__, None) is ufunc:
        found = _ufuncs.setdefault(ufunc, DeviceUFunc(ufunc))
    return found


def is_operand(x):
    """Is this something that arithmetic with device arrays takes. What it does not take may know
    what to do with a device array."""
    if isinstance(x, (DeviceArray, bool, int, float, complex, np.generic, list, tuple)):
        return not isinstance(x, (np.str_, np.bytes_, np.void))
    if isinstance(x, np.ndarray):
        return type(x).__array_ufunc__ is np.ndarray.__array_ufunc__
    kind = type(x)
    if hasattr(kind, "__array_ufunc__"):  # xarray wraps what it gets; pandas cannot
        return hasattr(kind, "__cuda_array_interface__") or hasattr(kind, "__pandas_priority__")
    return any(hasattr(kind, name) for name in ("__array__", "__dlpack__", "__cuda_array_interface__"))


# --- NumPy's protocol


def array_ufunc(array, ufunc, method, *inputs, **keywords):
    """`__array_ufunc__`: the ufunc of these inputs, on the device of the arrays."""
    found = _ufuncs.get(ufunc) if method == "__call__" and not keywords else None
    if found is not None and all(x.stream is None and x.device is array.device for x in inputs if type(x) is DeviceArray):
        result = found.planned(inputs)
        if result is not None:
            return result
    out = keywords.pop("out", None)
    out = out[0] if out is not None and len(out) == 1 else out
    if out is not None and not isinstance(out, tuple) and not hasattr(out, "shape"):
        raise TypeError(f"return arrays must be arrays, not {type(out).__name__}")
    if not all(map(is_operand, inputs)):
        return NotImplemented
    rest = {**keywords, **({} if out is None else {"out": out})}
    device = the_device([*inputs, out, keywords.get("where")])
    found = device_ufunc(ufunc)
    keywords.pop("subok", None)
    try:
        if method == "__call__" and found is not None:
            with device, ordered_stream([*inputs, out], None) as s:
                keywords.setdefault("signature", keywords.pop("sig", None))
                result = found.compute(inputs, out, s, **keywords)
            return result.bind(s) if s and out is None and isinstance(result, DeviceArray) else result
        if method == "reduce" and ufunc in functions.REDUCTIONS and len(inputs) == 1:
            return functions.REDUCTIONS[ufunc](inputs[0], **{"axis": 0, **keywords}, out=out)
    except NotOnDevice as no:
        return on_host(getattr(ufunc, method), inputs, rest, f"np.{ufunc.__name__}", why=no)
    name = f"np.{ufunc.__name__}" + f".{method}" * (method != "__call__")
    return on_host(getattr(ufunc, method), inputs, rest, name, writes=method == "at")


# --- operators


def _equality(ufunc, answer):
    compare = device_ufunc(ufunc).operate

    def equality(a, b, stream):
        if not isinstance(a, DeviceArray):
            a, b = b, a
        if b is None or isinstance(b, (str, bytes)):  # no number equals these
            return functions.full(a.shape, answer, bool) if a.dtype.kind not in "SUV" else on_host(ufunc, (a, b), {})
        try:
            return compare(a, b, stream)
        except TypeError as error:
            if not hasattr(error, "dtypes"):  # NumPy's, of a ufunc without a loop for these
                raise
            return functions.full(np.broadcast_shapes(a.shape, np.shape(b)), answer, bool)

    return equality


def _power(operate):
    """`**` as NumPy's: some exponents are functions of their own."""
    special = {2: np.square, 1: np.positive, 0.5: np.sqrt, -1: np.reciprocal}
    whole = {"i": (1, 2), "u": (1, 2), "b": (2,)}  # of the kinds of integers, by Python's ints

    def power(a, b, stream):
        if type(b) in (int, float) and type(a) is DeviceArray and b in special:
            if a.dtype.kind in "fc" or (type(b) is int and b in whole.get(a.dtype.kind, ())):
                return device_ufunc(special[b]).operate(a, stream)
        return operate(a, b, stream)

    return power


def _divmod(a, b, stream):
    quotient = device_ufunc(np.floor_divide).operate(a, b, stream)
    return quotient if quotient is NotImplemented else (quotient, device_ufunc(np.remainder).operate(a, b, stream))


def _matmul(a, b, stream):
    raise TypeError("device arrays have no operator @: write a kernel with tiles in shared memory, or use cupy.asarray(a) @ cupy.asarray(b), "
                    "which shares the memory; np.matmul(a, b) multiplies on the host")


def _contains(a, x, stream):
    found = OPERATIONS["equal"](a, x, stream)
    return found is not NotImplemented and bool(functions.any_(found))


def _truth(a):
    if a.size == 1:
        return bool(functions.item(a))
    if not a.size:
        raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.")
    raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")


def _number(kind):
    def number(a):
        if a.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars: use a[i] or a.item()")
        return kind(a[()])

    return number


def _text(a):
    from pyptx._array_text import text

    return text(a)


def _unary(ufunc):
    operate = device_ufunc(ufunc).operate
    return lambda a: operate(a, a.stream)


OPERATIONS = {f.__name__: device_ufunc(f).operate for f in (
    np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.left_shift, np.right_shift, np.bitwise_and,
    np.bitwise_xor, np.bitwise_or, np.less, np.less_equal, np.greater, np.greater_equal)}
OPERATIONS |= {f"inplace_{f.__name__}": device_ufunc(f).update for f in (
    np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.power, np.left_shift, np.right_shift,
    np.bitwise_and, np.bitwise_xor, np.bitwise_or)}
OPERATIONS |= {"equal": _equality(np.equal, False), "not_equal": _equality(np.not_equal, True), "power": _power(device_ufunc(np.power).operate),
               "divmod": _divmod, "matmul": _matmul, "contains": _contains, "truth": _truth, "text": _text,
               "to_int": _number(int), "to_float": _number(float), "method___complex__": _number(complex),
               "method___array_ufunc__": array_ufunc, "method___array_function__": functions.array_function}
OPERATIONS |= {f.__name__: _unary(f) for f in (np.negative, np.positive, np.absolute, np.invert)}
OPERATIONS |= {f"method_{name}": f for name, f in functions.METHODS.items()}
