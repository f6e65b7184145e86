"""Where device and reference differ: which of them is right, as CPython running the program itself says.

The reference (meaning.py) types loops and joins by rules of its own, and cannot tell which code a known value leaves dead. So a difference is
a failure only if the program itself, with NumPy's own numbers, does not give what the device gave. In doubt it is a failure: a row that
raises here, as for a Python int beyond 64 bits, says nothing.
"""

import collections
import functools
import itertools
import math
import sys
import types
import warnings

import kinds
import numpy as np
import pyptx
import scalars
from scalars import Array, Invalid, Named, Tuple


def type_of(value):
    return Tuple(map(type_of, value)) if isinstance(value, tuple) else scalars.type_of(value)


CUDA = types.SimpleNamespace(local=types.SimpleNamespace(array=lambda shape, t: scalars.local_array(shape, t if isinstance(t, str) else np.dtype(t).name)))


def scope_of(source):
    """What the program defines, run with the names that it uses."""
    scope = {"np": np, "math": math, "cuda": CUDA, "pyptx": pyptx, "collections": collections, "__name__": __name__}
    exec(compile(source, "<program>", "exec", dont_inherit=True), scope)
    return scope


def texts(found, wanted):
    """Of the types with each result's own or the reference's, which holds for all rows."""
    return {kinds.shown(Tuple(t)) for t in itertools.product(*zip(found, wanted))}


def row_agrees(case, slots, arrays, inferred, row, got, given):
    try:
        found = type_of(got)
    except Invalid:
        return False
    if inferred is not None and inferred not in texts(found, case.meaning.result):
        return False
    for (array, k), value, t, own in zip(slots, got, case.meaning.result, found):
        if not isinstance(own, str):
            return False
        stored = kinds.row(own).packed(value)
        want = np.zeros(1, kinds.row(own).result_memory(kinds.STORED.get(own, own)))
        want[0] = stored
        device = arrays[array][k][row : row + 1]
        if t != own:
            device = device.astype(want.dtype)
        if not kinds.equal(device, want, "int64" if scalars.is_date(own) else own, 0).all():
            return False
    for name, t in case.program.parameters.items():
        if isinstance(t, Array):
            array, k = case.place[name]
            want = kinds.stored(given[name][None], t.dtype)
            if not kinds.equal(arrays[array][k][row : row + 1], want, t.dtype).all():
                return False
    return True


def arguments_of(case, scope, row):
    given = {}
    for name, t in case.program.parameters.items():
        a = case.arguments[name]
        if isinstance(t, Array):
            given[name] = kinds.loaded(a[row : row + 1].copy(), t.dtype)[0]
        else:
            given[name] = scope[t.name](*a) if isinstance(t, Named) else kinds.given(a[row], t)
    return given


def run(function, given):
    """(whether it ran to its end, its result). A read of an unset variable is an end too, with no result."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return True, function(*given.values())
    except UnboundLocalError:
        return True, None
    except (ArithmeticError, ValueError, TypeError):
        return False, None


def agrees(case, slots, arrays, inferred):
    """Whether the rows that CPython runs to their end, one at least, have the device's types, results and stores."""
    scope = scope_of(case.program.source)
    ran = 0
    for row in np.flatnonzero(~case.reference[2]):
        given = arguments_of(case, scope, row)
        whole, got = run(scope["prog"], given)
        ran += whole
        if whole and not row_agrees(case, slots, arrays, inferred, row, got, given):
            return False
    return ran > 0


def no_row_runs(case, error, source, entry):
    """Whether CPython, running the source on the rows, never comes to the expression that an error at compile time is about."""
    place = (error.lineno, error.end_lineno, (error.offset or 0) - 1, (error.end_offset or 0) - 1)
    scope = scope_of(source)
    met, ran = False, 0

    def trace(frame, event, arg):
        nonlocal met
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code.co_filename == "<program>":
            met = met or positions(frame.f_code)[frame.f_lasti // 2] == place
        return trace

    for row in range(case.rows):
        given = arguments_of(case, scope, row)
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            ran += run(scope[entry], given)[0]
        finally:
            sys.settrace(before)
        if met:
            return False
    return ran > 0


@functools.cache
def positions(code):
    return list(code.co_positions())
