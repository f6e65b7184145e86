"""PTX text as data: a module's variables and functions, a function's statements. Only what LLVM's NVPTX back end, libdevice and our
fix-ups write is understood; anything else raises Unknown with its line."""

import re
from dataclasses import dataclass, field


class Unknown(Exception):
    """What the translator has no meaning for."""


SIZE = {kind + str(bits): bits // 8 for kind in "busf" for bits in (8, 16, 32, 64)} | {"b128": 16, "f16x2": 4, "bf16x2": 4}
SIZE |= {"bf16": 2, "pred": 1}


@dataclass
class Variable:
    """Of .global, .const, .shared, .local or .param."""

    name: str
    type: str
    align: int
    count: int  # elements; 0: an array whose size the launch gives
    values: list | None = None  # numbers and names, of the elements
    space: str = ""

    @property
    def bytes(self):
        return SIZE[self.type] * self.count


@dataclass
class Statement:
    line: int
    kind: str  # "op", "label", "{", "}", "reg", or a space with a variable
    op: str = ""
    operands: list = field(default_factory=list)
    guard: str = ""  # "%p1" or "!%p1"
    variable: Variable | None = None
    names: list = field(default_factory=list)  # of registers: (name, count or None)


@dataclass
class Function:
    name: str
    entry: bool
    results: list
    params: list
    body: list | None  # None: a declaration
    line: int


@dataclass
class Module:
    variables: list
    functions: list  # definitions, and declarations of what is defined nowhere


VARIABLE = re.compile(
    r"^\.?(?P<space>param|global|const|shared|local)\s+(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+"
    r"(?:\.ptr\s*(?:\.(?:global|const|shared|local|param)\s*)?(?:\.align\s+\d+\s*)?)?(?P<name>[\w$%]+)\s*(?P<array>\[\d*\])?\s*(?:=\s*(?P<values>.*))?$",
    re.S,
)


def variable(text, line):
    m = VARIABLE.match(text.strip())
    if not m or m["type"] not in SIZE:
        raise Unknown(f"line {line}: {text.strip()[:100]}")
    count = 1 if m["array"] is None else int(m["array"][1:-1] or 0)
    values = None if m["values"] is None else [v.strip() for v in m["values"].strip("{} \t\n").split(",")]
    return Variable(m["name"], m["type"], int(m["align"] or SIZE[m["type"]]), count, values, m["space"])


def without_comments(text):
    """And without what is for debuggers; as many lines as before."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^[ \t]*\.(?:loc|file)\s[^\n]*", "", text, flags=re.M)
    return re.sub(r"/\*.*?\*/|^\s*\.section\s+[\w.]+\s*\{[^}]*\}", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S | re.M)


def split_operands(text):
    """At the commas that no bracket encloses."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "[{(") - (c in "]})")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [*parts, part.strip()] if part.strip() else parts


def statement(text, line):
    m = re.match(r"@(!?%?[\w$]+)\s+", text)
    guard, text = (m[1], text[m.end() :]) if m else ("", text)
    op, _, rest = text.partition(" ") if not re.match(r"\S+\s", text) else (re.match(r"\S+", text)[0], "", re.sub(r"^\S+\s+", "", text))
    if op == ".reg":
        names = [re.match(r"([\w$%]+)(?:<(\d+)>)?$", n) for n in split_operands(re.sub(r"^\.\w+\s+", "", rest))]
        if not all(names):
            raise Unknown(f"line {line}: {text}")
        return Statement(line, "reg", op=re.match(r"\.(\w+)", rest)[1], names=[(n[1], int(n[2]) if n[2] else None) for n in names])
    if op in (".param", ".local", ".shared"):
        return Statement(line, op[1:], variable=variable(text, line))
    if op == ".pragma":
        return Statement(line, "pragma")
    return Statement(line, "op", op, split_operands(rest), guard)


def body_of(text, line):
    """The statements between a function's braces."""
    found, at, counted = [], 0, 0
    token = re.compile(r"\s*(?:(?P<brace>[{}])|(?P<label>[\w$.]+)\s*:(?!:)|(?P<text>[^;]+?)\s*;|(?P<empty>;))", re.S)
    text = text.rstrip()
    while at < len(text):
        m = token.match(text, at)
        if not m:
            raise Unknown(f"line {line}: {text[at : at + 60]!r}")
        line += text.count("\n", counted, m.start(m.lastgroup))
        here, counted = line, m.start(m.lastgroup)
        if m["brace"]:
            found.append(Statement(here, m["brace"]))
        elif m["label"]:
            found.append(Statement(here, "label", m["label"]))
        elif m["text"]:
            found.append(statement(re.sub(r"\s+", " ", m["text"]), here))
        at = m.end()
    return found


HEADER = re.compile(
    r"(?P<entry>\.entry|\.func)\s*(?:\((?P<results>[^)]*)\)\s*)?(?P<name>[\w$]+)\s*(?:\((?P<params>[^)]*)\))?(?P<rest>[^{;]*)(?P<end>[{;])", re.S
)


def parameters(text, line):
    return [variable(p, line) for p in (text or "").split(",") if p.strip()]


def closing(text, at):
    """Behind the brace that closes the one before `at`."""
    depth = 1
    for m in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if m[0] == "{" else -1
        if not depth:
            return m.end()
    raise Unknown("a brace is not closed")


def parse(text):
    text = without_comments(text)
    module, at, functions = Module([], []), 0, {}
    top = re.compile(r"\s*(?:(?P<directive>\.(?:version|target|address_size)[^\n]*)|(?P<linkage>\.(?:visible|extern|weak|common|internal)\b)|(?P<rest>\.))")
    while text[at:].strip():
        m = top.match(text, at)
        line = 1 + text.count("\n", 0, m.end() if m else at)
        if not m:
            raise Unknown(f"line {line}: {text[at : at + 80]!r}")
        if m.lastgroup != "rest":
            at = m.end()
            continue
        at = m.start("rest")
        h = HEADER.match(text, at)
        if not h:
            end = text.index(";", at)
            module.variables.append(variable(text[at:end], line))
            at = end + 1
            continue
        at = h.end()
        body = None
        if h["end"] == "{":
            end = closing(text, at)
            body = body_of(text[at : end - 1], 1 + text.count("\n", 0, at))
            at = end
        made = Function(h["name"], h["entry"] == ".entry", parameters(h["results"], line), parameters(h["params"], line), body, line)
        known = functions.get(made.name)
        if known and shape(known) != shape(made):
            raise Unknown(f"line {line}: {made.name} was declared with other parameters")
        if not known or body is not None:
            functions[made.name] = made
    module.functions = list(functions.values())
    return module


def shape(f):
    return [(v.bytes, v.align) for v in f.results], [(v.bytes, v.align) for v in f.params]
