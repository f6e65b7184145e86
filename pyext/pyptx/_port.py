"""Where NumPy's rule and Numba's give another type: what ``pyptx port`` and PYPTX_ADVICE=port list.

A function is typed under both typings (nothing else is compiled), and the types of its values are
compared, one by one: both come from the same lifted function, whose values have the same numbers
(typeinfer/engine/values.c). A value whose types differ while those of its operands agree is a place
where the rules differ; the others follow from such places.
"""

import ast
import atexit
import linecache
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

STRONG = {"pyint": "int64", "pyfloat": "float64", "pycomplex": "complex128", "pybool": "bool"}
NUMBERS = {"bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float16", "float32", "float64", "complex64", "complex128"}
COMPARISONS = {"lt", "le", "eq", "ne", "gt", "ge"}
NOWHERE = {"param", "phi", "read", "ret", "br", "condbr", "setitem", "setattr"}  # values that no expression makes
MOVES = {"param", "phi", "read", "getattr", "call", "getitem", "tuple", "unpack", "iter_item"}  # and those that compute no number from others
OURSELVES = str(Path(__file__).parent) + os.sep  # kernels call functions that are written in Python here
JOINED = -1  # the number of the value that a function returns
NEGATIVE_POWER = "a negative exponent gives 0 by NumPy's rules; by Numba's the whole part of the power, which is not 0 of 1 and -1"
KEEP_ALL = 'typing="numba" in @cuda.jit, or PYPTX_TYPING=numba, keeps all of Numba\'s types and results'


@dataclass
class Value:
    """A row of values.c."""

    number: int
    at: tuple  # line, column, last line, last column; columns from 0, in bytes
    op: str
    name: str
    type: str
    operands: list


@dataclass
class Function:
    name: str
    file: str
    result: str
    values: dict = field(default_factory=dict)  # by number, in the order of the blocks

    def is_like(self, other):
        """Are they one function, for two rows of argument types."""
        common = self.values.keys() & other.values.keys()
        return (self.name, self.file) == (other.name, other.file) and all(self.values[n].at == other.values[n].at for n in common)

    def agreement(self, other):
        """How many parameters have the same types."""
        return sum(same(v.type, other.values[n].type) for n, v in self.values.items() if v.op == "param" and n in other.values)


@dataclass(frozen=True, order=True)
class Place:
    """A place where the two typings differ. line and column count from 1, the column in characters.
    """

    file: str
    line: int
    column: int
    expression: str
    ours: str
    theirs: str
    write: str = ""
    note: str = ""  # in place of the types
    follows: bool = False  # from another place

    def __str__(self):
        here = f"{self.file}:{self.line}:{self.column}: {self.expression}\n    "
        if self.note:
            return here + self.note
        how = "follows from another place" if self.follows else f"for Numba's: {self.write}" if self.write else ""
        return f"{here}{self.ours} by NumPy's rules, {self.theirs} by Numba's" + (f"; {how}" if how else "")


# --- reading ---


def strong(type):
    """The type with that of a strong number for each Python number: what Numba takes it for."""
    return re.sub(r"\bpy(?:int|float|complex|bool)\b", lambda weak: STRONG[weak[0]], type)


def same(a, b):
    return strong(a) == strong(b)


def only_registers(ours, theirs):
    """Do they differ in what special registers are, threadIdx.x among them: Python's integers,
    Numba's int32, of one value."""
    words = [re.split(r"(\W+)", type) for type in (ours, theirs)]
    return len(words[0]) == len(words[1]) and all(same(a, b) or (a, b) == ("pyint", "int32") for a, b in zip(*words))


def parse(text):
    """[Function] of the text that _compile gives as "values"."""
    functions = []
    for line in text.splitlines():
        head, *rest = line.split("\t")
        if head == "func":
            functions.append(Function(*rest))
            continue
        *at, op, name, type, operands = rest
        functions[-1].values[int(head)] = Value(int(head), tuple(map(int, at)), op, name, type, [int(n) for n in operands.split()])
    for f in functions:  # what several returns bring is joined, as what reaches a variable
        returns = [v for v in f.values.values() if v.op == "ret"]
        if len(returns) > 1:
            f.values[JOINED] = Value(JOINED, returns[0].at, "phi", "", f.result, [n for v in returns for n in v.operands])
    return functions


class Source:
    """Parts of a file by their places."""

    def __init__(self, file):
        self.lines = [line.encode() for line in linecache.getlines(file)]

    def text(self, at):
        """'' where it is not known."""
        line, column, last, end = at
        if not 0 < line <= last <= len(self.lines) or column < 0 or end < 0:
            return ""
        lines = self.lines[line - 1 : last]
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][column:]
        return " ".join(part.decode(errors="replace").strip() for part in lines)

    def column(self, at):
        line, column = at[:2]
        before = self.lines[line - 1][: max(column, 0)] if 0 < line <= len(self.lines) else b""
        return len(before.decode(errors="replace")) + 1


# --- what to write ---


def holds(theirs, ours):
    """Is the common type of these numbers `theirs`."""
    return ours in NUMBERS and theirs in NUMBERS and np.promote_types(ours, theirs) == theirs


def widens(ours, theirs):
    """The same, of numbers of one kind."""
    kinds = {np.dtype(t).kind.replace("u", "i").replace("b", "i") for t in (ours, theirs) if t in NUMBERS}
    return len(kinds) == 1 and holds(theirs, ours)


def is_tuple(text):
    try:
        return isinstance(ast.parse(text, mode="eval").body, ast.Tuple)
    except SyntaxError:
        return False


def gives(a, b, type):
    """Does NumPy promote these, of which one may be a Python number, to that type."""
    weak = {"pyint": 0, "pyfloat": 0.0, "pycomplex": 0j, "pybool": False}
    try:
        return np.result_type(weak.get(a, a), weak.get(b, b)) == type
    except TypeError:
        return False


def cast(node, type, numpy):
    return ast.Call(ast.Attribute(ast.Name(numpy), type), [node], [])


def convert_pair(left, right, types, type, numpy):
    """The two with as few conversions as give `type`."""
    if gives(type, types[1], type):
        return cast(left, type, numpy), right
    if gives(types[0], type, type):
        return left, cast(right, type, numpy)
    return cast(left, type, numpy), cast(right, type, numpy)


def rewritten(node, types, type, numpy):
    """The expression or augmented assignment with operands of these types, made to compute in
    `type`; None where that is not known."""
    if isinstance(node, ast.BinOp):
        node.left, node.right = convert_pair(node.left, node.right, types, type, numpy)
        return node
    if isinstance(node, ast.AugAssign):
        left, right = convert_pair(ast.parse(ast.unparse(node.target), mode="eval").body, node.value, types, type, numpy)
        return ast.Assign([node.target], ast.BinOp(left, node.op, right), lineno=1)
    if isinstance(node, ast.UnaryOp):
        node.operand = cast(node.operand, type, numpy)
        return node
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        node.left, node.comparators[0] = convert_pair(node.left, node.comparators[0], types, type, numpy)
        return node
    if isinstance(node, ast.Call) and not node.keywords:
        node.args = [cast(arg, type, numpy) for arg in node.args]
        return node
    return None


def remedy(text, types, ours, theirs, numpy):
    """What to write instead of an expression, so that NumPy's rules give `theirs`; '' where that is
    not known."""
    if theirs not in NUMBERS:
        return ""
    try:
        node = ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return ""
    statement = not isinstance(node, ast.Expr)
    body = node if statement else node.value
    if widens(strong(ours), theirs) or isinstance(body, ast.Compare):
        made = rewritten(body, types, theirs, numpy)
    else:
        if isinstance(body, ast.AugAssign):
            body = ast.Assign([body.target], ast.BinOp(ast.parse(ast.unparse(body.target), mode="eval").body, body.op, body.value), lineno=1)
            body.value = cast(body.value, theirs, numpy)
        made = body if isinstance(body, ast.Assign) else None if statement else cast(body, theirs, numpy)
    return ast.unparse(ast.fix_missing_locations(made)) if made else ""


# --- comparing ---


class Comparison:
    """One function under both typings."""

    def __init__(self, ours, theirs, numpy):
        self.ours, self.theirs, self.numpy = ours, theirs, numpy
        self.source = Source(ours.file)
        self.differing = {n for n, v in ours.values.items() if n in theirs.values and self.differs(v, theirs.values[n])}

    def differs(self, a, b):
        if not a.type or not b.type or same(a.type, b.type):
            return False
        if a.op in COMPARISONS and all(np.dtype(strong(t)).kind in "iub" for t in (a.type, b.type) if strong(t) in NUMBERS):
            return False  # of whole numbers it is exact in every type
        return not (a.op in MOVES and only_registers(a.type, b.type))

    def before(self, value):
        """The operands whose types differ."""
        return [n for n in value.operands if n in self.differing]

    def starts(self, phi):
        """The operands of a variable with which it starts: their types agree."""
        values = [self.ours.values[n] for n in phi.operands if n in self.ours.values and n not in self.differing]
        return [v for v in values if v.op != "unset" and v.type]

    def follows_from_others(self, phi):
        """Is there a place that differs by itself among the values from which this variable comes.
        """
        seen, todo = {phi.number}, self.before(phi)
        while todo:
            n = todo.pop()
            if n in seen:
                continue
            seen.add(n)
            further = self.before(self.ours.values[n])
            if not further:
                return True
            todo += further
        return False

    def is_rule(self, value):
        """Do the rules differ here, and not before."""
        if value.op == "phi":
            return bool(self.starts(value)) and not self.follows_from_others(value)
        calls_function = value.op in ("call", "call_star") and "function" in self.ours.values[value.operands[0]].type
        return value.op not in NOWHERE and not calls_function and not self.before(value)

    def place_of_variable(self, phi, theirs):
        """Its start, converted; that of a parameter, where the variable is first read; what is
        returned, where it is."""
        start = self.starts(phi)[0]
        text = self.source.text((phi if phi.number == JOINED else start).at) or start.name
        if phi.name and is_tuple(text) and not phi.type.startswith("("):  # x, y = 0, 0
            text = phi.name
        shown = f"{phi.name} = {text}" if phi.name and phi.name != text else text
        bare = text.removeprefix("return ")
        to = f"{phi.name} = " if phi.name else "return " if bare != text else ""
        write = f"{to}{self.numpy}.{theirs.type}({bare})" if bare and holds(theirs.type, strong(phi.type)) else ""
        return self.place(phi if start.op == "param" or phi.number == JOINED else start, shown, phi.type, theirs.type, write)

    def places_of_variable(self, phi, theirs):
        """Where it starts; if another start would not change its type, the assignments after it."""
        later = [self.ours.values[n] for n in self.before(phi) if self.ours.values[n].op not in NOWHERE]
        if later and strong(phi.type) in NUMBERS and not holds(theirs.type, strong(phi.type)):
            return [self.place_of(value) for value in later]
        return [self.place_of_variable(phi, theirs)]

    def place(self, value, text, ours, theirs, *more, **named):
        return Place(self.ours.file, value.at[0], self.source.column(value.at), text, ours, theirs, *more, **named)

    def place_of(self, value):
        theirs = self.theirs.values[value.number]
        text = self.source.text(value.at) or value.name
        types = [self.ours.values[n].type for n in value.operands if n in self.ours.values]
        return self.place(value, text, value.type, theirs.type, remedy(text, types, value.type, theirs.type, self.numpy))

    def powers(self):
        """x ** -n of whole numbers, of one type in both: 0 here, in Numba the whole part of 1 / x
        ** n."""
        for value in self.ours.values.values():
            if value.op != "pow" or value.number in self.differing or strong(value.type) not in NUMBERS or np.dtype(strong(value.type)).kind not in "iu":
                continue
            text = self.source.text(value.at)
            exponent = self.ours.values.get(value.operands[1])
            if exponent and exponent.op != "const" and not exponent.type.startswith("u"):
                yield self.place(value, text, value.type, value.type, note=NEGATIVE_POWER)

    def places(self):
        roots = {n for n in self.differing if self.is_rule(self.ours.values[n])}
        for n in sorted(self.differing):
            value, theirs = self.ours.values[n], self.theirs.values[n]
            if n not in roots:
                if value.op not in NOWHERE:
                    yield self.place(value, self.source.text(value.at), value.type, theirs.type, follows=True)
            elif value.op != "phi":
                yield self.place_of(value)
            else:
                yield from self.places_of_variable(value, theirs)
        yield from self.powers()


def typed(function, signature, typing):
    """([Function], None) of one typing, or (None, its CompileError)."""
    from pyptx import _pyptx
    from pyptx._sources import is_dispatcher
    from pyptx.errors import CompileError

    options = {"typing": typing} if is_dispatcher(function) else {"typing": typing, "device": True}  # a plain function may return something
    try:
        return parse(_pyptx._compile(function, signature, "host", None, 0, options, "values")["values"]), None
    except CompileError as error:
        if error.code == "PT219":  # the signature
            raise
        return None, error


def refused(error, by_numpy):
    note = f"an error by {'NumPy' if by_numpy else 'Numba'}'s rules alone, {str(error).splitlines()[0]}"
    return Place(error.filename or "<unknown>", error.lineno or 0, error.offset or 0, (error.text or "").strip(), "", "", note=note)


def compare(function, signature):
    """[Place] for a kernel or function with argument types as text: where the two typings differ,
    in the order of the source.

    Raises CompileError if the signature cannot be read, or neither typing compiles the function.
    """
    ours, error = typed(function, signature, "numpy")
    theirs, other = typed(function, signature, "numba")
    if error and other:
        raise error
    if error or other:
        return [refused(error or other, bool(error))]
    scope = getattr(getattr(function, "py_func", function), "__globals__", {})
    numpy = next((name for name, value in scope.items() if value is np), "np")
    found = set()
    for k, f in enumerate(ours):
        twins = [(f.agreement(g), -abs(k - n), g) for n, g in enumerate(theirs) if f.is_like(g) and not f.file.startswith(OURSELVES)]
        if twins:
            found.update(Comparison(f, max(twins, key=lambda twin: twin[:2])[2], numpy).places())
    return sorted(found)


# --- reporting ---


def report(places, kernels, everything, out):
    """Prints the places, the total, and how to keep Numba's typing. kernels: how many were
    compared."""
    places = sorted(set(places))
    rules = [p for p in places if not p.follows]
    for place in places if everything else rules:
        out.write(f"{place}\n")
    follow = len(places) - len(rules)
    rest = f", and {follow} that follow{'s' * (follow == 1)} from them{'' if everything else ' (--all)'}" if follow else ""
    where = f"{kernels} kernel{'s' * (kernels != 1)}"
    if rules:
        out.write(f"{len(rules)} place{'s' * (len(rules) != 1)} in {where} where NumPy's rules and Numba's differ{rest}\n{KEEP_ALL}\n")
    else:
        out.write(f"NumPy's rules and Numba's give the same types in {where}\n")


_used = {}  # PYPTX_ADVICE=port: (function, signature) of what was compiled → its places


def used(kernel, signature):
    """Called with each kernel that is compiled while PYPTX_ADVICE is port; the report comes when
    the process ends."""
    if not _used:
        atexit.register(report_used)
    key = (kernel.py_func.__code__, signature)
    try:
        _used[key] = compare(kernel, signature)
    except Exception as error:  # of the comparison: the program goes on
        _used[key] = []
        sys.stderr.write(f"pyptx port: {kernel.__qualname__}{signature} cannot be compared: {str(error).splitlines()[0]}\n")


def report_used():
    kernels = {code for code, _ in _used}
    report([place for places in _used.values() for place in places], len(kernels), False, sys.stderr)
