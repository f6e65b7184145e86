"""The kinds of values that random programs compute with: one row each, and a new kind is a new row.

A row says which types the kind has and how often one is drawn, how its values are drawn, what constants and
expressions it has, how its arrays lie in memory and in the reference, how values are compared and written down.
Real numbers have no expressions here: programs.py builds those of operators, functions and casts.
"""

import re
from dataclasses import dataclass, field

import numpy as np
from bfloat import BFloat16
from scalars import CONVERT, KIND, STRONG, WEAK, Array, Named, Record, Tuple, is_date

# --- values, drawn
# -----------------------------------------------------------------------------------------------------------


def special_integers(t):
    info, bits = np.iinfo(t), t.itemsize * 8
    values = {info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 10, bits - 1, bits, bits + 1}
    values |= {-1, -2, -3, -10, info.min // 3, info.max // 3}
    values |= {1 << k for k in range(bits)} | {(1 << k) - 1 for k in range(bits)}
    values |= {(1 << k) + 1 for k in (24, 53)} | {-((1 << k) + 1) for k in (24, 53)}
    return np.array(sorted(v for v in values if info.min <= v <= info.max), t)


SPECIAL_FLOATS = [
    0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.1, 7.0, 10.0, 63.5, 127.0, 128.0, 255.5, 256.0, 32767.5, 65536.0,
    2.0**24 + 1, 2.0**31, 2.0**32, 2.0**53 + 1, 2.0**63, 2.0**64, 1e10, 1e30, np.inf, np.nan,
]  # fmt: skip


def special_floats(t):
    info = np.finfo(t)
    tiny = [info.max, info.tiny, info.smallest_subnormal, info.tiny / 2, info.eps]
    with np.errstate(over="ignore"):
        values = np.array(SPECIAL_FLOATS + [float(x) for x in tiny]).astype(t)
    return np.concatenate([values, -values])


def booleans(rng, name, n):
    return rng.choice(np.array([False, True]), n)


def mixed(rng, special, small, bits):
    """Special values, small ones, any bits."""
    n = len(small)
    choice = rng.random(n)
    return np.where(choice < 0.45, rng.choice(special, n), np.where(choice < 0.8, small, bits)).astype(special.dtype)


def any_bits(rng, t, n):
    return rng.integers(0, 256, (n, t.itemsize), np.uint8).view(t)[:, 0]


def integers(rng, name, n):
    t = np.dtype(name)
    small = rng.integers(0 if t.kind == "u" else -20, 20, n).astype(t)
    return mixed(rng, special_integers(t), small, any_bits(rng, t, n))


def floats(rng, name, n):
    t = np.dtype(name)
    small = (rng.integers(-20, 20, n).astype(t) * t.type(0.25)).astype(t)
    bits = any_bits(rng, t, n)
    bits = np.where(np.isnan(bits), t.type(np.nan), bits)  # no signalling nans: C libraries differ in what fmax makes of them
    return mixed(rng, special_floats(t), small, bits)


LAST_FLOATS = [3.3895313892515355e38, 1.1754943508222875e-38, 9.183549615799121e-41, 2.0**-7, 257.0, 1.00390625]
SPECIAL_BFLOATS = np.array(
    [b for v in SPECIAL_FLOATS + LAST_FLOATS for b in (BFloat16(v).bits(), BFloat16(-v).bits())], np.uint16
)


def bfloats(rng, name, n):
    """Bits."""
    small = np.array([BFloat16(v * 0.25).bits() for v in rng.integers(-20, 20, n)], np.uint16)
    bits = any_bits(rng, np.dtype(np.uint16), n)
    bits = np.where(bits & 0x7FFF > 0x7F80, np.uint16(0x7FC0), bits)
    return mixed(rng, SPECIAL_BFLOATS, small, bits)


def complexes(rng, name, n):
    part = "float32" if name == "complex64" else "float64"
    z = np.empty(n, name)
    z.real, z.imag = floats(rng, part, n), floats(rng, part, n)
    return z


RANGE = {"Y": 1 << 11, "M": 1 << 14, "D": 1 << 21, "h": 1 << 25, "m": 1 << 30, "s": 1 << 36, "ms": 1 << 46, "us": 1 << 56}
NAT = np.iinfo(np.int64).min


def counts(rng, name, n):
    """Dates and spans of a few thousand years at most, so that conversions stay in 64 bits; NaT."""
    multiple, unit = re.fullmatch(r"\w+64(?:\[(\d*)(\w+)\])?", name).groups()
    limit = RANGE.get(unit, 1 << 40) // int(multiple or 1)
    special = np.array([0, 1, -1, 2, 7, -7, 59, 60, 365, -365, 1000, -1000, limit, -limit, NAT, NAT])
    small, wide = rng.integers(-20, 20, n), rng.integers(-limit, limit, n)
    return mixed(rng, special, small, wide).view(np.dtype(name))


# --- in memory and in the reference, compared and written down
# --------------------------------------------------------------------


def ordered(x):
    """Floats (or the bits of bfloat16) as integers in their order, so that neighbours differ by 1."""
    bits = np.ascontiguousarray(x).view(f"i{x.itemsize}").astype(object)
    low = -(1 << (8 * x.itemsize - 1))
    return np.where(bits < 0, low - bits, bits)


def same_bits(got, want, ulps=0):
    return np.ascontiguousarray(got).view(f"u{got.itemsize}") == np.ascontiguousarray(want).view(f"u{want.itemsize}")


def same_floats(got, want, ulps=0, isnan=np.isnan):
    """Elementwise: the same bits, any nan like any nan; with ulps, that many representable numbers apart."""
    same = same_bits(got, want) | (isnan(got) & isnan(want))
    if ulps and not same.all():
        near = np.abs(ordered(got) - ordered(want)) <= ulps
        same |= near.astype(bool) & ~isnan(got) & ~isnan(want)
    return same


def same_bfloats(got, want, ulps=0):
    return same_floats(got, want, ulps, lambda bits: bits & 0x7FFF > 0x7F80)


def same_complexes(got, want, ulps=0):
    return same_floats(got.real, want.real, ulps) & same_floats(got.imag, want.imag, ulps)


def bits_text(array):
    bits = np.ascontiguousarray(array).view(f"u{min(array.itemsize, 8)}")
    return f"np.array({bits.tolist()}, np.uint{8 * min(array.itemsize, 8)}).view({array.dtype.str!r})"


def bfloat_text(array):
    return f"np.array({array.tolist()}, np.uint16).view('V2')"


def bfloat_objects(bits):
    out = np.empty(bits.shape, object)
    out[...] = np.array([BFloat16.of_bits(b) for b in bits.ravel()], object).reshape(bits.shape)
    return out


def bfloat_bits(objects):
    return np.array([x.bits() for x in objects.ravel()], np.uint16).reshape(objects.shape)


def unchanged(x):
    return x


# --- the rows
# -----------------------------------------------------------------------------------------------------------


@dataclass
class Kind:
    letters: str  # NumPy's, which the types of the kind have
    types: dict  # {type: how often it is that of a parameter or an array}
    draw: object  # (generator of NumPy's, type, n): n values, as they lie in memory
    # Templates of expressions: {c} {n} {i} {f} {m} {M} are expressions of a complex number, a real number, an integer, a
    # float, a span, a date; {s} a strong one of this kind; {u} a unit, {t} a type's name.
    constants: tuple = ()
    expressions: tuple = ()  # of this kind
    numbers: tuple = ()  # of numbers, from this kind
    updates: tuple = (("= = += -= *=", "n"),)  # operators of assignments to an element, what stands on the right
    memory: object = field(default=lambda t: np.dtype(STRONG[t]))  # the dtype of its arrays
    loaded: object = unchanged  # an array as the reference has it
    stored: object = unchanged  # and back
    packed: object = unchanged  # a number as an element of an array
    given: object = field(default=lambda x, t: CONVERT[t](x))  # and back
    result: str = "{}"  # what a kernel stores of a result
    result_memory: object = field(default=lambda t: np.dtype(STRONG[t]))
    shown: object = unchanged  # a type's name in the typed program
    equal: object = same_bits
    literal: object = bits_text


def date_kind(letter, **row):
    return Kind(
        letter, draw=counts, memory=np.dtype, given=lambda x, t: x, result="{}.astype(np.int64)", packed=lambda x: x.astype(np.int64),
        result_memory=lambda t: np.dtype(np.int64), shown=lambda t: "int64", **row,
    )  # fmt: skip


KINDS = [
    Kind("b", {"bool": 2}, booleans, literal=lambda a: f"np.array({a.tolist()}, np.bool_)", equal=lambda g, w, u=0: g == w),
    Kind("iu", {t: 4 for t in STRONG if KIND[t] in "iu"} | {"int32": 6}, integers),
    Kind("f", {"float16": 4, "float32": 8, "float64": 6}, floats, equal=same_floats),
    Kind(
        "f", {"bfloat16": 5}, bfloats, memory=lambda t: np.dtype("V2"), loaded=bfloat_objects, stored=bfloat_bits, packed=BFloat16.bits,
        given=lambda x, t: BFloat16.of_bits(x), result_memory=lambda t: np.dtype(np.uint16), equal=same_bfloats, literal=bfloat_text,
    ),
    Kind(
        "c", {"complex64": 3, "complex128": 3}, complexes, equal=same_complexes,
        literal=lambda a: bits_text(np.stack([a.real, a.imag], -1)) + f".view(np.{a.dtype.name})[..., 0]",
        constants=("2j", "1j", "-3j", "(1.5-2j)", "np.complex64(0.5-1j)", "np.complex128(3j)"),
        expressions=(
            *(f"({{c}} {op} {{{x}}})" for op in "+-*/" for x in "ccn"),
            *(f"({{n}} {op} {{c}})" for op in "+-*/"),
            "{c}.conjugate()", "(-{c})", "(+{c})", "np.complex64({n})", "np.complex128({c})", "np.complex64({c})", "complex({n}, {f})", "complex({c})",
            "({c} ** 2)", "({c} ** 3)", "({c} ** -1)", "({c} ** 0)", "np.conjugate({c})", "np.add({c}, {n})", "np.negative({c})", "{s}.astype(np.complex64)",
        ),
        numbers=(
            *("{c}.real", "{c}.imag") * 4, "({c} == {c})", "({c} != {n})", "({c} < {c})", "({c} >= {c})", "({n} <= {c})", "bool({c})", "(not {c})",
            "np.isnan({c})", "np.isfinite({c})", "np.equal({c}, {n})", "np.logical_not({c})", "({c} in ({c}, {c}))",
        ),
        updates=(("= += -= *=", "c"), ("= += *= /=", "n")),
    ),
    date_kind(
        "m", types={"timedelta64[s]": 1.5, "timedelta64[25ms]": 1, "timedelta64[D]": 1, "timedelta64[M]": 0.5, "timedelta64": 0.5},
        constants=("np.timedelta64(5, 's')", "np.timedelta64(-36, 'h')", "np.timedelta64(7, '25s')", "np.timedelta64(5, 'D')", "np.timedelta64(2, 'Y')"),
        expressions=(
            "({m} + {m})", "({m} - {m})", "({M} - {M})", "({m} * {i})", "({i} * {m})", "({m} * {f})", "({f} * {m})", "({m} / {i})", "({m} / {f})",
            "({m} // {i})", "({m} // {f})", "({m} % {m})", "(-{m})", "(+{m})", "abs({m})", "({m} + {i})", "({i} - {m})", "np.timedelta64({i}, '{u}')",
            "np.timedelta64({m}, '{u}')", "{m}.astype('m8[{u}]')", "min({m}, {m})", "max({m}, {m})", "np.minimum({m}, {m})", "np.fmax({m}, {m})",
            "np.subtract({M}, {M})", "np.remainder({m}, {m})", "np.negative({m})", "np.absolute({m})", "divmod({m}, {m})[1]",
        ),
        numbers=(
            *(f"({{m}} {op} {{m}})" for op in "== != < <= > >= / //".split()), "({m} < {i})", "({i} >= {m})", "np.isnat({m})", "np.isfinite({m})",
            "(not {m})", "bool({m})", "{m}.astype(np.int64)", "divmod({m}, {m})[0]", "np.less({m}, {m})", "({m} in ({m}, {m}))",
        ),
        updates=(("= += -=", "m"), ("= *= //=", "i")),
    ),
    date_kind(
        "M", types={"datetime64[s]": 1.5, "datetime64[D]": 1.5, "datetime64[ms]": 1, "datetime64[M]": 0.5, "datetime64[Y]": 0.5, "datetime64[25s]": 0.5},
        constants=("np.datetime64(18262, 'D')", "np.datetime64(951827696, 's')", "np.datetime64(-1, 'Y')", "np.datetime64(600, 'M')"),
        expressions=(
            *("({M} + {m})", "({M} - {m})", "({m} + {M})") * 2, "({M} + {i})", "({M} - {i})", "np.datetime64({M}, '{u}')", "np.datetime64({i}, '{u}')",
            "{M}.astype('M8[{u}]')", "min({M}, {M})", "max({M}, {M})", "np.maximum({M}, {M})", "np.fmin({M}, {M})", "np.add({M}, {m})",
        ),
        numbers=(
            *(f"({{M}} {op} {{M}})" for op in "== != < <= > >=".split()), "np.isnat({M})", "{M}.astype(np.int64)", "np.greater({M}, {M})",
            "({M} in ({M}, {M}))",
        ),
        updates=(("= =", "M"), ("+= -=", "m"), ("+= -=", "i")),
    ),
]  # fmt: skip
UNITS = "D s ms 25s h W M Y us".split()
OPERANDS = {"c": "c", "n": "biuf", "i": "iu", "f": "f", "m": "m", "M": "M"}
OTHERS = "cmM"  # kinds that have expressions here
ROW = {t: k for k in KINDS for t in k.types}
ROW_OF_LETTER = {letter: k for k in KINDS for letter in k.letters if letter in OTHERS}
TYPES = {t: w for k in KINDS for t, w in k.types.items()}  # of parameters and arrays
REAL_TYPES = [t for t in TYPES if KIND[t] in "biuf"]
WEAK_TYPES = {"pyint": 4, "pyfloat": 3, "pybool": 1, "pycomplex": 1}
STORED = {"pybool": "bool", "pyint": "int64", "pyfloat": "float64", "pycomplex": "complex128"}  # what a weak number lies in
WEAK_CAST = {"pybool": "bool", "pyint": "int", "pyfloat": "float", "pycomplex": "complex"}


def row(t):
    """The row of a scalar type."""
    t = str(STORED.get(t, t))
    return ROW.get(t) or ROW_OF_LETTER[KIND[t]]


def row_of_letter(kinds):
    return ROW_OF_LETTER[kinds]


def cast_text(t):
    """What a program calls to make a number of type t."""
    return "pyptx.bfloat16" if t == "bfloat16" else "np.bool_" if t == "bool" else f"np.{t}"


def dtype_text(t):
    return repr(str(t)) if is_date(t) else cast_text(t)


# --- arrays, records and named tuples
# ----------------------------------------------------------------------------------------

RECORD_FIELDS = "x y z w".split()


def record_type(r, depth=1):
    """A random structured dtype: numbers, dates, arrays of these, a record inside. (r: of random)"""
    fields = {}
    choices = {t: w for t, w in TYPES.items() if t != "bfloat16"}
    for name in RECORD_FIELDS[: r.choice([1, 2, 2, 3])]:
        t, = r.choices(list(choices), list(choices.values()))
        shape = r.choice([(2,), (3,), (2, 2)])
        fields[name] = Array(t, len(shape), shape) if r.random() < 0.25 else t
    if depth and r.random() < 0.4:
        fields["p"] = record_type(r, depth - 1)
    return Record(fields, r.random() < 0.5)


def named_types(r, count):
    """Types of fields of a named tuple that a launch can be given."""
    choices = {t: w for t, w in {**TYPES, **WEAK_TYPES}.items() if t != "bfloat16"}
    return r.choices(list(choices), list(choices.values()), k=count)


def memory(t):
    """The dtype of arrays of type t, a scalar's or a record's."""
    if not isinstance(t, Record):
        return row(t).memory(STORED.get(t, t))
    parts = [(n, *((memory(f.dtype), f.shape) if isinstance(f, Array) else (memory(f),))) for n, f in t.fields.items()]
    return np.dtype(parts, align=t.align)


def draw(rng, t, shape):
    """A random array of elements of type t, as it lies in memory."""
    n = int(np.prod(shape))
    if not isinstance(t, Record):
        t = STORED.get(t, t)
        return row(t).draw(rng, t, n).reshape(shape)
    out = np.zeros(shape, memory(t))
    for name, f in t.fields.items():
        out[name] = draw(rng, f.dtype, (*shape, *f.shape)) if isinstance(f, Array) else draw(rng, f, shape)
    return out


def loaded(array, t):
    """A copy as the reference has it."""
    return array.copy().view(np.recarray) if isinstance(t, Record) else row(t).loaded(array.copy())


def stored(array, t):
    return array.view(np.ndarray).view(memory(t)) if isinstance(t, Record) else row(t).stored(array)


def launched(array, t):
    """An array of memory as a kernel takes it."""
    return array.view("V2") if t == "bfloat16" else array


def equal(got, want, t, ulps=0):
    """Elementwise, whether two arrays of memory hold the same values; of records, whether all fields do."""
    if not isinstance(t, Record):
        return row(t).equal(got, want, ulps)
    same = np.ones(got.shape, bool)
    for name, f in t.fields.items():
        inner = equal(got[name], want[name], f.dtype if isinstance(f, Array) else f)
        same &= inner.reshape(*got.shape, -1).all(-1)
    return same


def literal(array, t):
    """A NumPy expression of exactly these values."""
    if not isinstance(t, Record):
        return row(t).literal(array)
    d = array.dtype
    return f"np.frombuffer(bytes.fromhex({array.tobytes().hex()!r}), {dtype_literal(d)}).reshape({array.shape}).copy()"


def dtype_literal(d):
    def of(x):
        return repr(x.str) if not x.names else dtype_literal(x)

    parts = [(n, x[0], x[1]) for n, x in d.fields.items()]
    formats = [f"({of(x.base)}, {x.shape})" for _, x, _ in parts]
    return f"np.dtype({{'names': {[n for n, *_ in parts]}, 'formats': [{', '.join(formats)}], 'offsets': {[o for *_, o in parts]}, 'itemsize': {d.itemsize}}})"


def scalar_literal(value, t):
    """An expression of one argument of type t, a scalar of NumPy's or Python's or a named tuple."""
    if isinstance(t, Named):
        return f"{t.name}({', '.join(scalar_literal(v, x) for v, x in zip(value, t))})"
    if t in WEAK:
        lies = np.array([value], STORED[t])
        return f"{WEAK_CAST[t]}({literal(lies, STORED[t])}[0])"
    return f"{literal(np.array([value], memory(t)), t)}[0]"


def given(element, t):
    """What a program is given that lies in memory as that element."""
    return CONVERT[t](element) if t in STORED else row(t).given(element, t)


def shown(t):
    """The text of a type in the typed program."""
    if isinstance(t, Tuple):
        return str(Tuple(map(shown, t)))
    return row(t).shown(t) if t not in WEAK else t


def letters_in(t):
    """The kinds of the scalars inside a type."""
    if isinstance(t, Array):
        return letters_in(t.dtype)
    if isinstance(t, Record):
        return set().union(*map(letters_in, t.fields.values()))
    if isinstance(t, Tuple):
        return set().union(*map(letters_in, t)) if t else set()
    return {KIND[t]} if isinstance(t, str) and (t in KIND or is_date(t)) else set()
