"""@cuda.jit: reads the decorator's many forms and options, and makes a Dispatcher (in C) of a function."""

import math
import os
import sys

# tokenize, which linecache imports late since CPython 3.15, and _progress, which compilations call,
# come with this module: a child of fork would wait for ever for a module that another thread of its
# parent was importing.
import tokenize  # noqa: F401

from pyptx import _progress, _pyptx  # noqa: F401
from pyptx._numbers import whole
from pyptx._options import FASTMATH, OPTIONS
from pyptx._pyptx import Dispatcher, Signature, Type
from pyptx.cuda._link import read_link

_FUNCTION = type(lambda: None)
_INLINE = {False: 0, "auto": 0, True: 1, "always": 1, "never": 2}
_FAST = {name: bits for name, bits, _ in FASTMATH}
_FAST_TRUE = {name for name, _, in_true in FASTMATH if in_true}


# --- options: a reader takes the row and the value, which is not None, and gives what goes into the
# row's fields, in their order


def _read_flag(option, value):
    if value not in (True, False):
        raise TypeError(f"{option.name} must be True or False, not {value!r}")
    return (bool(value),)


def _read_number(option, value, none=()):
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{option.name} must be an int, not {value!r}")
    value = value.__index__()
    if value not in none and not option.least <= value <= option.most:
        raise ValueError(f"{option.name} must be from {option.least} to {option.most}, not {value!r}")
    return (value,)


def _read_count(option, value):
    return _read_number(option, value, none=(0,))


def _read_choice(option, value):
    if value not in option.type:
        hint = _near(value, option.type) if isinstance(value, str) else ""
        raise ValueError(f"{option.name} must be {' or '.join(map(repr, option.type))}, not {value!r}{hint}")
    return (option.type.index(value),)


def _read_opt(option, value):
    if value == "unchecked" and isinstance(value, str):
        return option.most, True
    if value is True or value is False:
        return (option.most if value else 0,)
    if isinstance(value, int) and option.least <= value <= option.most:
        return (value,)
    raise ValueError(f"opt must be {option.least} to {option.most}, True, False or 'unchecked', not {value!r}")


def _read_fastmath(option, value):
    if value is True or value is False:
        names = _FAST_TRUE if value else ()
    else:
        names = {value} if isinstance(value, str) else set(value) if isinstance(value, (set, frozenset, list, tuple)) else {None}
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"fastmath must be True, False or a set of flags ({', '.join(_FAST)}), not {value!r}")
    bits = 0
    for name in sorted(names):
        if name not in _FAST:
            raise ValueError(f"unknown fastmath flag {name!r}{_near(name, _FAST, '; known: ')}")
        bits |= _FAST[name]
    return (bits,)


def _read_launch_bounds(option, value):
    bounds = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(bounds) <= 3:
        raise ValueError(f"Got {len(bounds)} launch bounds: they are max_threads, (max_threads, min_blocks) or "
                         f"(max_threads, min_blocks, max_cluster), not {value!r}")
    if bounds[0] is not None and not isinstance(bounds[0], bool) and bounds[0] == 0:
        raise ValueError(f"launch_bounds: a block of at most 0 threads cannot be launched: write the most threads that it has, or leave the option out, "
                         f"not {value!r}")
    return tuple(_read_count(option, bound)[0] for bound in (*bounds, 0, 0)[:3])


def _read_inline(option, value):
    if not isinstance(value, (str, bool)) or value not in _INLINE:
        raise ValueError(f"inline must be 'always', 'never' or 'auto', not {value!r}")
    return (_INLINE[value],)


def _read_coarsen(option, value):
    if isinstance(value, bool):
        return (-1 if value else 1,)  # True: as without the option, and so in compile_ptx too
    return _read_number(option, value)


def _read_cache(option, value):
    return (2 if _read_flag(option, value)[0] else 1,)  # PxCaching; unset: PYPTX_CACHE_DIR decides


def _read_link(option, value):
    return (read_link(value),)


def _read_dump(option, value):
    if not isinstance(value, str):
        raise TypeError(f"dump must be letters of passes, not {value!r}")
    return (value,)


_CHECKS = {"race": 1, "sync": 2, "init": 4, "nan": 8, "overflow": 16}
_CHECKS_OF_PROGRAM = 32  # PYPTX_CHECK asks: kernels that cannot be followed run unchecked


def check_bits(value):
    """The bits of check=, RT_CHECK_… of runtime/abi.h: of a name, names with commas between, an iterable of names, or a bool."""
    if value is True or value is False:
        return 7 if value else 0
    names = value.replace(" ", "").split(",") if isinstance(value, str) else list(value) if hasattr(value, "__iter__") else [None]
    bits = 0
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"check must be True or names of checks ({', '.join(_CHECKS)}), not {value!r}")
        if name not in _CHECKS:
            raise ValueError(f"check must be of {', '.join(_CHECKS)}, not {name!r}{_near(name, _CHECKS)}")
        bits |= _CHECKS[name]
    return bits


def _read_check(option, value):
    bits = check_bits(value)
    if bits & _CHECKS["init"]:
        _pyptx._watch_unset(1)  # for good: arrays that are made from now on are noted
    return (bits,)


_LONGEST = 2_000_000  # seconds: what fits a field in ms


def timeout_ms(value):
    """timeout= in ms, rounded up: seconds as a number, or None or 0 for none. A text is the
    environment's."""
    if value is None:
        return 0
    try:
        if isinstance(value, bool):
            raise TypeError
        seconds = float(value)
    except TypeError:
        raise TypeError(f"timeout must be a number of seconds or None, not {value!r}") from None
    except (ValueError, OverflowError):
        seconds = -1.0
    if not 0 <= seconds <= _LONGEST:
        raise ValueError(f"timeout must be from 0 to {_LONGEST} seconds, not {value!r}")
    return max(math.ceil(round(seconds * 1000, 6)), 1 if seconds else 0)  # 0.1 * 3 is 300, 1e-10 is 1


def _read_timeout(option, value):
    ms = timeout_ms(value)
    return (ms, ms > 0)


def timed(kernel, timeout):
    """(A kernel, ms): the kernel as it is compiled for launches with such a timeout."""
    ms = timeout_ms(timeout)
    signatures, fields = kernel._made
    if not ms or fields.get("timed"):
        return kernel, ms
    variant = kernel.__dict__.get("_timed")
    if variant is None:
        variant = type(kernel)(kernel.py_func, signatures, **{**fields, "timed": True})
        for signature in signatures:
            variant.compile(signature)
        variant = kernel.__dict__.setdefault("_timed", variant)
    return variant, ms


def _read_forceinline(option, value):
    return {"inlining": 1} if _read_flag(option, value)[0] else ()


_CARVEOUTS = {"default", "maxl1", "maxshared"}


def _read_shared_memory_carveout(option, value):
    if isinstance(value, str):
        if value.lower() not in _CARVEOUTS:
            raise ValueError(f"Invalid carveout value: {value!r} is none of 'default', 'MaxL1' and 'MaxShared'")
    elif isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"shared_memory_carveout must be an int, 'default', 'MaxL1' or 'MaxShared', not {value!r}")
    elif not -1 <= value.__index__() <= 100:
        raise ValueError(f"shared_memory_carveout must be between -1 and 100, not {value!r}")
    return ()


def _read_lto(option, value):
    return ()


def _read_extensions(option, value):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"extensions must be a list of objects with prepare_args, not {value!r}")
    for extension in value:
        if not callable(getattr(extension, "prepare_args", None)):
            raise TypeError(f"extensions: {extension!r} has no method prepare_args(ty, val, stream=, retr=)")
    return (tuple(value) or None,)


_READERS = {name: globals()[f"_read_{name if option.kind == 'OWN' else option.kind.lower()}"] for name, option in OPTIONS.items()}


def _near(name, known, otherwise=None):
    """The known name that was meant, or all of them behind `otherwise`."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"{otherwise}{', '.join(known)}" if otherwise else ""


def _read(option, value):
    """What an option's value is in the fields of a Dispatcher. None: as if the option were not there, where one of a name must be."""
    if value is None and option.kind != "CHOICE":
        return option.fields
    found = _READERS[option.name](option, value)
    return found if isinstance(found, dict) else dict(zip(option.fields, found))


def _read_given(options):
    out = {}
    for name, value in options.items():
        if name not in OPTIONS:
            raise TypeError(f"@cuda.jit has no option '{name}'{_near(name, OPTIONS, ': they are ')}")
        out.update(_read(OPTIONS[name], value))
    return out


def _read_environment(option):
    """What the option's variable says of it for kernels that do not: {} where it is not set."""
    text = os.environ.get(option.environment)
    if not text:
        return {}
    try:
        found = _read(option, whole(text, option.least, option.most) if option.most else text)
        return {"check": found["check"] | _CHECKS_OF_PROGRAM} if option.name == "check" else found
    except ValueError as error:
        raise ValueError(f"{option.environment} {str(error).removeprefix(option.name + ' ')}") from None


def _read_options(options):
    out = {}
    for option in OPTIONS.values():
        if option.environment and option.name not in options:
            out.update(_read_environment(option))
    config = sys.modules.get("pyptx.config")
    if config and config.CUDA_DEBUGINFO_DEFAULT:
        out.update(_read(OPTIONS["debug"], True))
    out.update(_read_given(options))
    return out


def _is_signature_list(value):
    """True for a list of signatures, as distinct from one signature that is a list or tuple of types."""
    return isinstance(value, list) and all(isinstance(s, (str, tuple, list, Signature)) for s in value) and not all(
        isinstance(s, str) and "(" not in s and "," not in s for s in value)


def _plain_function(function):
    function = _pyptx._own(function)  # numba.njit(f) is f
    if isinstance(function, Dispatcher):
        return function.py_func
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if not isinstance(function, _FUNCTION):
        kind = "a class" if isinstance(function, type) else f"a {type(function).__name__}"
        raise TypeError(f"@cuda.jit decorates a function written in Python, not {kind}")
    return function


def _make(function, signatures, read):
    kernel = Dispatcher(_plain_function(function), signatures, **read)
    if signatures and not kernel.device and os.environ.get("PYPTX_DEVICE") != "python":
        for signature in signatures:
            kernel.compile(signature)
    return kernel


def jit(func_or_sig=None, **options):
    """Makes a kernel, or with device=True a function that kernels call, of a Python function.

    Forms: ``@cuda.jit``; ``@cuda.jit(options)``; ``@cuda.jit("void(float32[:], int32)", options)`` with a signature as text, as
    ``void(float32[:], int32)``, as a tuple of types, or a list of these: the kernel is then compiled immediately, and for these types only.

    Example:

        @cuda.jit
        def double(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] *= 2

        double[1, 256](d)
        print(d.copy_to_host()[:3])             # [0. 2. 4.]

    Options, with their defaults (docs/reference/options.md has their table):
    """
    read = _read_options(options)
    func_or_sig = _pyptx._own(func_or_sig)
    if func_or_sig is None or func_or_sig == []:
        return lambda function: _make(function, (), read)
    if _is_signature_list(func_or_sig):
        signatures = tuple(func_or_sig)
    elif isinstance(func_or_sig, (str, tuple, list, Type, Signature)):
        signatures = (func_or_sig,)
    else:
        return _make(func_or_sig, (), read)
    return lambda function: _make(function, signatures, read)


if jit.__doc__:
    jit.__doc__ = jit.__doc__.rstrip() + "\n" + "".join(f"        {f'{o.name}={o.default}':<28}  {o.doc}\n" for o in OPTIONS.values())


def cache_info():
    """Settings of the disk cache and what it did for this process: a named tuple (docs/guide/caching.md).

    Fields: directory, enabled (for every kernel), readonly (directories), limit (bytes), hits, misses, stored (files), damaged (files).

    Example:

        enabled = cuda.cache_info().enabled
    """
    from pyptx import _cache

    return _cache.cache_info()


# --- compiling without launching ---


def _arch(cc):
    if cc is None:
        device = _pyptx.get_current_device()
        if device.is_host:
            return "sm_75"
        cc = device.compute_capability
    if isinstance(cc, str):
        return cc
    if not isinstance(cc, tuple) or len(cc) not in (2, 3):
        raise TypeError(f'cc is (major, minor), (major, minor, "a") or "sm_90", not {cc!r}')
    return "sm_" + "".join(map(str, cc))


def _read_abi(function, device, options):
    """Takes Numba's abi= and abi_info= out of the options: device functions have C's, kernels the one that Numba calls its own. The
    symbol, or None."""
    abi = options.get("abi")
    if abi == "c" and not device:
        raise NotImplementedError("The C ABI is not supported for kernels: abi=\"stable\" is the one for other programs")
    if abi == "numba" and device:
        raise NotImplementedError("abi=\"numba\" is not supported for device functions: they have the C ABI, abi=\"c\"")
    if abi in ("c", "numba"):
        del options["abi"]
    elif isinstance(abi, str) and abi not in OPTIONS["abi"].type:
        raise NotImplementedError(f"Unsupported ABI: {abi}; device functions have \"c\", kernels {' or '.join(map(repr, OPTIONS['abi'].type))}")
    named = function.__name__ if abi == "c" and function.__name__.isidentifier() else None
    return (options.pop("abi_info", None) or {}).get("abi_name", named)


def _converted(function, result):
    """The device function with its result as a type: a function of the same name and parameters."""
    function = _plain_function(function)
    code = function.__code__
    names = ", ".join(code.co_varnames[:code.co_argcount])
    scope = {"function": Dispatcher(function, (), **_read_options({"device": True})), "result": result}
    exec(f"def converted({names}): return result(function({names}))", scope)
    scope["converted"].__code__ = scope["converted"].__code__.replace(co_name=code.co_name, co_qualname=code.co_qualname)
    scope["converted"].__name__, scope["converted"].__qualname__ = function.__name__, function.__qualname__
    return scope["converted"]


def compile_ptx(pyfunc, sig, cc=None, device=False, **options):
    """(PTX text, result type) of a function for a signature. cc: (major, minor), (major, minor, "a") or "sm_90"; the current GPU's, or
    sm_75 without one. The result of a device function is converted to the signature's, where that names one.

    Of a device function: abi="c", so that its symbol is its name, and abi_info={"abi_name": name} for another one.

    Example:

        def scale(x, k):
            i = cuda.grid(1)
            if i < x.size:
                x[i] *= k

        ptx, result = cuda.compile_ptx(scale, "void(float32[:], float32)", cc=(9, 0))
        print(ptx.count(".entry"), result)      # 1 void
    """
    symbol = _read_abi(pyfunc, device, options)
    if device:
        options["device"] = True
    text = sig if isinstance(sig, str) else _signature_text(sig)

    def compiled(function):
        out = _pyptx._compile(function, text, "nvptx", _arch(cc), 0, options, "ptx", symbol)
        return out["ptx"], _pyptx._type(out.get("result") or "none")

    ptx, result = compiled(pyfunc)
    if not device:
        return ptx, _pyptx._type("void")
    declared = getattr(_pyptx._type(text), "return_type", None) if not text.lstrip().startswith("(") else None
    if declared is not None and repr(declared) in _SCALARS and declared != result:
        ptx, result = compiled(_converted(pyfunc, declared))
    return ptx, result


_SCALARS = {"bool", "boolean", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float16", "float32", "float64"}


def compile(pyfunc, sig, cc=None, device=True, output="ptx", **options):
    """Like compile_ptx, but for device functions by default; output is "ptx".

    Example:

        def half(x):
            return x / 2

        ptx, result = cuda.compile(half, "float32(float32)", cc="sm_90")
        print(result)                           # float32
    """
    if output != "ptx":
        raise NotImplementedError(f"Unsupported output type: {output}; it is 'ptx', and `pyptx compile --emit` has others")
    return compile_ptx(pyfunc, sig, cc=cc, device=device, **options)


def compile_all(pyfunc, sig, cc=None, device=True, output="ptx", **options):
    """([PTX text, code that it links, ...], result type): like compile, with what link= and cuda.declare_device name. CUDA C++ among it is
    compiled by NVRTC; other code is what link= made of it, as cuda.Cubin.

    Example:

        codes, result = cuda.compile_all(half, "float32(float32)", cc="sm_90")
        print(len(codes))                       # 1
    """
    from pyptx.cuda._link import CUSource, PTXSource

    ptx, result = compile(pyfunc, sig, cc=cc, device=device, output=output, **options)
    linked = list(read_link(options.get("link")))
    for function in _declared_in(pyfunc):
        linked += [code for code in function.link if code not in linked]
    capability = int("".join(c for c in _arch(cc) if c.isdigit()))
    return [ptx, *(PTXSource(code.image(capability)[2], code.name) if isinstance(code, CUSource) else code for code in linked)], result


def _declared_in(function, seen=None):
    """Functions of cuda.declare_device that this function, or one that it calls, names."""
    from pyptx._pickle import cell_is_set

    seen = set() if seen is None else seen
    function = _plain_function(function)
    if function in seen:
        return
    seen.add(function)
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    for value in named + [cell.cell_contents for cell in function.__closure__ or () if cell_is_set(cell)]:
        if hasattr(value, "__pyptx_declared__"):
            yield value
        elif isinstance(value, (Dispatcher, _FUNCTION)):
            yield from _declared_in(value, seen)


def compile_ptx_for_current_device(pyfunc, sig, device=False, **options):
    """compile_ptx for the GPU that is current.

    Example:

        ptx, result = cuda.compile_ptx_for_current_device(half, "(float32,)", device=True)
    """
    return compile_ptx(pyfunc, sig, device=device, **options)


def compile_for_current_device(pyfunc, sig, device=True, output="ptx", **options):
    """compile for the GPU that is current.

    Example:

        ptx, result = cuda.compile_for_current_device(half, "(float32,)")
    """
    return compile(pyfunc, sig, device=device, output=output, **options)


def _signature_text(sig):
    sig = _pyptx._own(sig)
    if isinstance(sig, (Type, Signature)):
        return repr(sig) if isinstance(sig, Signature) else f"({sig!r})"

    def one(item):
        if isinstance(item, (tuple, list)):
            return "(" + ", ".join(map(one, item)) + ("," if len(item) == 1 else "") + ")"
        return item if isinstance(item, str) else repr(item)

    return "(" + ", ".join(map(one, sig)) + ")"
