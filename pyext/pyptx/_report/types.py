"""Which types the lines of a function have, for the reader: from the places of ir/describe.h."""

import ast
import re
import textwrap

from pyptx._report.listings import coloured, segment, source_lines

_PYTHON = re.compile(r"\bpy(?=int\b|float\b|bool\b|complex\b)")
_HIDDEN = ("<", "void", "none", "range", "enumerate", "zip", "reversed", "slice", "'")
_NAMESPACES = re.compile(r"(cuda|math|cmath|numpy|np|operator|builtins|libdevice|pyptx)\.")

# What a GPU computes slowly, by how it is marked.
SLOW = {"float64": "f64", "complex128": "f64", "pyfloat": "f64", "pycomplex": "f64", "int64": "i64", "uint64": "i64", "pyint": "i64"}


def shown(type_name):
    """A type as users write it; Python's own numbers by their names there."""
    return _PYTHON.sub("", type_name)


def is_shown(type_name):
    return not type_name.startswith(_HIDDEN) and not _NAMESPACES.match(type_name)


def mark(type_name, how):
    """"f64", "i64", or "" of what costs no more than others do."""
    return "" if how else SLOW.get(type_name, "")


def explained(type_name, how):
    said = shown(type_name)
    if how == "known":
        return f"{said}, known at compile time"
    if how == "narrow":
        return f"{said}, computed in 32 bits"
    return said


def element(ins):
    """The type of what an instruction stores: 'float64'."""
    name = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}[ins["kind"]]
    return name if ins["kind"] == "b" else f"{name}{ins['bits']}"


class Types:
    """The types of one section of source: file number, first and last line."""

    def __init__(self, description, file, first, last):
        self.lines = source_lines(description["files"][file])[first - 1:last]
        self.all_lines = source_lines(description["files"][file])
        self.first = first
        self.places = {}  # (line, column, end line, end column) → {(type, how)}, in order
        self.set = {}  # (line, variable) → {(type, how)}
        self.of = {}  # variable → {(type, how)}, parameters too
        self.memory = set()  # (line, column, end column) of what is loaded or stored
        for function in description["functions"]:
            if function["file"] == file and first <= function["line"] <= last:
                self.take(function, file)
        self.take_reads()

    def take(self, function, file):
        for name, type_name in function["params"]:
            # A Python float gives way to the float32 that it meets: it is slow where it meets none.
            self.of.setdefault(name, {})[type_name, "given" if type_name == "pyfloat" else ""] = True
        for variable, at, line, column, end_line, end_column, type_name, how in function["places"]:
            if at != file or not is_shown(type_name):
                continue
            if variable and variable.isidentifier():
                self.set.setdefault((line, variable), {})[type_name, how] = True
                self.of.setdefault(variable, {})[type_name, how] = True
            if line == end_line:  # of the same place the last is the expression itself
                self.places.setdefault((line, column, end_line, end_column, function["symbol"]), []).append((type_name, how))
        for ins in (ins for block in function["blocks"] for ins in block["code"]):
            if ins["op"] in ("load", "store", "atomic") and ins["at"] and ins["at"][0] == file and ins["at"][1] == ins["at"][3]:
                _, line, column, _, end_column = ins["at"]
                self.memory.add((line, column, end_column))
                if ins["op"] == "store" and ins["kind"]:
                    self.places.setdefault((line, column, line, end_column, function["symbol"]), []).append((element(ins), ""))

    def take_reads(self):
        """Reads of variables are no instructions: the types of the variable."""
        try:
            tree = ast.parse(textwrap.dedent("\n".join(self.lines)))
        except SyntaxError:
            return
        indent = len(self.lines[0]) - len(self.lines[0].lstrip()) if self.lines else 0
        for node in ast.walk(tree):
            name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else node.arg if isinstance(node, ast.arg) else None
            if name in self.of:
                line = self.first + node.lineno - 1
                place = (line, node.col_offset + indent, line, node.col_offset + indent + len(name.encode()), "")
                self.places.setdefault(place, []).extend(self.of[name])

    def spans(self, number):
        """[(column, end column, explanation, mark)] of a line, in characters, outer before inner."""
        merged = {}
        text = self.lines[number - self.first]
        for (line, column, _, end, symbol), types in self.places.items():
            if line == number:
                merged.setdefault((column, end), {}).update(dict.fromkeys(types if not symbol else types[-1:]))
        out = []
        for (column, end), types in sorted(merged.items(), key=lambda item: (item[0][0], -item[0][1])):
            begin, stop = (len(text.encode()[:at].decode("utf-8", "replace")) for at in (column, end))
            out.append((begin, stop, " or ".join(dict.fromkeys(explained(*t) for t in types)), next((m for t in types if (m := mark(*t))), "")))
        return out

    def chips(self, number):
        """[(names, type, mark)] of a line: what is set there, its loads, and what is slow."""
        rows = {}
        variables = {variable: types for (line, variable), types in self.set.items() if line == number}
        if number == self.first or any(t in self.lines[number - self.first] for t in ("def ",)):
            variables = {**{name: self.of[name] for name in self.parameters(number)}, **variables}
        for variable, types in variables.items():
            for type_name, how in types:
                self.add(rows, variable, type_name, how)
        here = sorted((place[1], -place[3], types[-1]) for place, types in self.places.items() if place[0] == number and place[4])
        behind = {}  # mark → end of the widest expression that was taken for it
        for column, minus_end, (type_name, how) in here:
            slow, end = mark(type_name, how), -minus_end
            widest = slow and end > behind.get(slow, 0) and not any(type_name == t for types in variables.values() for t, _ in types)
            text = segment(self.all_lines, number, column, number, end)
            if text not in variables and how != "known" and ((number, column, end) in self.memory or widest):
                behind[slow] = max(end, behind.get(slow, 0))
                self.add(rows, text, type_name, how)
        return [(list(names), shown(type_name), marked) for (type_name, marked), names in rows.items()]

    def parameters(self, number):
        text = self.lines[number - self.first]
        return [name for name in re.findall(r"\w+", text.partition("(")[2]) if name in self.of] if "def " in text else []

    @staticmethod
    def add(rows, name, type_name, how):
        rows.setdefault((type_name, mark(type_name, how)), {})[name] = True

    def rows(self):
        """[{"number", "text", "colours", "spans", "types"}] of its lines."""
        colours = coloured(textwrap.dedent("\n".join(self.lines)).split("\n"))
        indent = len(self.lines[0]) - len(self.lines[0].lstrip()) if self.lines else 0
        return [{"number": self.first + k, "text": text, "colours": [(b + indent, e + indent, c) for b, e, c in colours.get(k, ())],
                 "spans": self.spans(self.first + k), "types": self.chips(self.first + k)} for k, text in enumerate(self.lines)]  # fmt: skip
