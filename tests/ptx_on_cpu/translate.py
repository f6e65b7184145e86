"""A PTX module as one C file: a function a function, a variable a register, goto for branches. See machine.h for what it runs on."""

import re
from pathlib import Path

from .opcodes import ATOMIC, DROPPED, bits, c_type, find
from .parse import SIZE, Unknown, parse, shape

PRELUDE = Path(__file__).with_name("machine.h")
WIDTH = {"pred": "bool"} | {k + str(n): f"uint{n}_t" for k in ("b", "u", "s", "f") for n in (16, 32, 64)} | {"b128": "uint128_t"}
SPACES = {"global": "GLOBAL", "const": "CONST", "shared": "SHARED", "local": "LOCAL", "param": "PARAM"}
SPECIAL = {f"%{n}.{a}": f"m->{f}[{k}]" for n, f in dict(tid="tid", ctaid="ctaid", ntid="block", nctaid="grid").items() for k, a in enumerate("xyz")}
SPECIAL |= {"%dynamic_smem_size": "m->dynamic_shared", "%laneid": "lane_of(m)", "%lanemask_eq": "own_lane(m)", "%lanemask_lt": "(own_lane(m) - 1)",
            "%lanemask_le": "(own_lane(m) * 2 - 1)", "%lanemask_gt": "~(own_lane(m) * 2 - 1)", "%lanemask_ge": "~(own_lane(m) - 1)"}
SHUFFLES = ("up", "down", "bfly", "idx")
NOTHING = {"membar", "fence", "nanosleep", "prefetch", "discard", "applypriority"}
VOTES = {  # at a barrier: type and C of the result
    ("red", "popc", "u32"): ("u32", "m->votes"),
    ("red", "and", "pred"): ("pred", "m->votes == m->voters"),
    ("red", "or", "pred"): ("pred", "m->votes != 0"),
}
NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)[uU]?$")


def c_name(name):
    return re.sub(r"[%.]", "_", name)


def number(text):
    return int(text.rstrip("uU"), 0) if not re.match(r"-?0\d", text) else int(text.rstrip("uU"), 8)


class Body:
    """A function's C."""

    def __init__(self, module, function):
        self.module, self.f = module, function
        self.scopes = [{}]  # of registers and parameters
        self.out = []
        self.depot = [s.variable for s in function.body if s.kind == "local"]
        self.tables = {a.op: b.operands for a, b in zip(function.body, function.body[1:]) if a.kind == "label" and b.op == ".branchtargets"}
        for p in [*function.results, *function.params]:
            self.scopes[0][p.name] = p

    def fail(self, s, why=""):
        raise Unknown(f"line {s.line}: {s.op} {', '.join(s.operands)} {why}".strip())

    def held(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def register(self, name, s):
        """The type of the register's class; "b" stands for bits alone."""
        t = self.held(name)
        if isinstance(t, str):
            return t
        m = re.match(r"(%[a-z]+)(\d+)$", name)
        family = self.held(m[1] + "<>") if m else None
        if not family or int(m[2]) >= family[1]:
            self.fail(s, f"({name} is not declared)")
        return family[0]

    def address(self, text, s):
        """Of "name", "name+8", "%rd1+8", "8" or a register: C of a uint64_t."""
        m = re.match(r"([%\w$]+)\s*(?:\+\s*(-?\d+))?$", text)
        if not m:
            self.fail(s)
        base, offset = m[1], int(m[2] or 0)
        if base in self.module.places:
            return f"({self.module.places[base]} + {offset})"
        if self.f.entry and any(p.name == base for p in self.f.params):
            return f"((uint64_t)P{c_name(base)} + {offset})"
        if base == "__local_depot" or any(v.name == base for v in self.depot):
            return f"(frame.from + {self.local_offset(base) + offset})"
        if NUMBER.match(base):
            return f"({number(base) & 2**64 - 1}u + {offset})"
        if bits(self.register(base, s)) != 64:
            self.fail(s, "(an address of other than 64 bits)")
        return f"(R{c_name(base)} + {offset})"

    def local_offset(self, name):
        at = 0
        for v in self.depot:
            at = -(-at // v.align) * v.align
            if v.name == name:
                return at
            at += v.bytes
        raise KeyError(name)

    def local_bytes(self):
        return self.local_offset(self.depot[-1].name) + self.depot[-1].bytes if self.depot else 0

    def source(self, text, t, s):
        """C of an operand, of type c_type(t)."""
        if text in SPECIAL:
            return f"({c_type(t)}){SPECIAL[text]}"
        m = re.match(r"0([fd])([0-9a-fA-F]+)$", text)
        if m:
            raw, width = "0x" + m[2] + ("u" if m[1] == "f" else "ull"), 32 if m[1] == "f" else 64
        elif NUMBER.match(text):
            raw, width = f"{number(text) & 2**64 - 1}ull", 64
        elif text.startswith("!"):
            return f"!{self.source(text[1:], t, s)}"
        elif text in self.module.places or any(v.name == text for v in [*self.depot, *self.f.params]) or "+" in text:
            raw, width = self.address(text, s), 64
        else:
            known = self.register(text, s)
            raw, width = "R" + c_name(text), bits(known)
            if width < bits(t) or (width == 1) != (t == "pred"):
                self.fail(s, f"({text} is of {width} bits)")
        if t in ("f16", "bf16", "f32", "f64"):
            return f"{t}_of({raw})"
        return raw if t == "pred" else f"({c_type(t)}){raw}"

    def put(self, to, t, text, s):
        """An assignment of C of type t to a register."""
        if to == "_":
            return
        width = bits(self.register(to, s))
        if width < bits(t) or (width == 1) != (t == "pred"):
            self.fail(s, f"({to} is of {width} bits)")
        if t in ("f16", "bf16", "f32", "f64"):
            text = f"of_{t}({text})"
        else:
            text = f"({c_type(t)})({text})"
        self.say(f"R{c_name(to)} = {text};", s)

    def say(self, text, s):
        self.out.append(f"{text}" if not s else f"/*{s.line}*/ {text}")

    # --- statements

    def statement(self, s):
        if s.kind == "{":
            self.scopes.append({})
            self.out.append("{")
        elif s.kind == "}":
            self.scopes.pop()
            self.out.append("}")
        elif s.kind == "label":
            self.out.append(f"L{c_name(s.op)}:;")
        elif s.kind == "reg":
            self.declare(s)
        elif s.kind == "param":
            self.scopes[-1][s.variable.name] = s.variable
            name, size = c_name(s.variable.name), s.variable.bytes
            self.out.append(f"_Alignas(16) unsigned char P{name}[{size}]; memset(P{name}, m->poison, {size});")
        elif s.kind == "op":
            self.operation(s)
        elif s.kind not in ("local", "shared", "pragma"):  # these have their places
            self.fail(s)

    def declare(self, s):
        for name, count in s.names:
            if s.op not in WIDTH:
                self.fail(s)
            value = "m->poison & 1" if s.op == "pred" else "m->poison"
            self.scopes[-1][name + "<>" if count else name] = (s.op, count) if count else s.op
            for k in range(count) if count else [""]:
                self.out.append(f"{WIDTH[s.op]} R{c_name(name)}{k} = {value};")

    def operation(self, s):
        if s.guard:
            self.out.append(f"if ({self.source(s.guard, 'pred', s)}) {{")
        name = s.op.split(".")[0]
        special = getattr(self, "op_" + name, None)
        if name in NOTHING or s.op == ".branchtargets":
            self.out.append(";")
        elif name == "mov" and any(o.startswith("{") for o in s.operands):
            self.split_or_join(s)
        elif name == "setp" and self.combined(s):
            pass
        elif special:
            special(s)
        else:
            self.by_table(s)
        if s.guard:
            self.out.append("}")

    def by_table(self, s):
        if s.op.endswith("16x2"):
            return self.by_halves(s)
        row, flushes = find(s.op)
        if not row or len(s.operands) != 1 + len(row[1]):
            self.fail(s, "is not in the table")
        result, types, text = row
        text = text.replace("{LINE}", str(s.line))
        self.compute(s, s.operands[0], result, types, text, s.operands[1:], flushes)

    def by_halves(self, s):
        """Of two numbers in a register: the instruction for one, twice."""
        row, _ = find(s.op[:-2])
        if not row or len(s.operands) != 1 + len(row[1]) or {bits(t) for t in (row[0], *row[1])} != {16}:
            self.fail(s, "is not in the table")
        given = [self.source(o, "b32", s) for o in s.operands[1:]]
        self.out.append("{ uint32_t both = 0;")
        for shift in (0, 16):
            self.out.append("{ uint16_t half;")
            for letter, t, text in zip("abcd", row[1], given):
                of = f"{t}_of" if t in ("f16", "bf16") else f"({c_type(t)})"
                self.out.append(f"const {c_type(t)} {letter} = {of}((uint16_t)({text} >> {shift}));")
            back = f"of_{row[0]}" if row[0] in ("f16", "bf16") else "(uint16_t)"
            self.out.append(f"half = {back}({row[2]}); both |= (uint32_t)half << {shift}; }}")
        self.put(s.operands[0], "b32", "both", s)
        self.out.append("}")

    def compute(self, s, to, result, types, text, operands, flushes=False):
        self.out.append("{")
        for letter, t, operand in zip("abcd", types, operands):
            value = self.source(operand, t, s)
            self.out.append(f"const {c_type(t)} {letter} = {f'flush({value})' if flushes and t == 'f32' else value};")
        self.put(to, result, f"flush({text})" if flushes and result == "f32" else text, s)
        self.out.append("}")

    def combined(self, s):
        """setp.CMP.BOOL.T p, a, b, c"""
        parts = s.op.split(".")
        if len(parts) < 4 or parts[2] not in ("and", "or", "xor"):
            return False
        row, flushes = find(".".join([*parts[:2], *parts[3:]]))
        if not row or len(s.operands) != 4:
            self.fail(s, "is not in the table")
        sign = {"and": "&&", "or": "||", "xor": "!="}[parts[2]]
        self.compute(s, s.operands[0], "pred", [*row[1], "pred"], f"({row[2]}) {sign} c", s.operands[1:], flushes)
        return True

    def split_or_join(self, s):
        to, given = s.operands
        whole = bits(s.op.split(".")[1])
        names = [n.strip() for n in (to if to.startswith("{") else given).strip("{}").split(",")]
        part = whole // len(names)
        self.out.append("{")
        if to.startswith("{"):
            self.out.append(f"uint{whole}_t whole = {self.source(given, f'b{whole}', s)};")
            for k, n in enumerate(names):
                self.put(n, f"b{part}", f"whole >> {k * part}", s)
        else:
            joined = " | ".join(f"(uint{whole}_t){self.source(n, f'b{part}', s)} << {k * part}" for k, n in enumerate(names))
            self.put(to, f"b{whole}", joined, s)
        self.out.append("}")

    def op_bra(self, s):
        self.say(f"goto L{c_name(s.operands[0])};", s)

    def op_brx(self, s):
        """Where LLVM has a switch; an index beyond the table goes nowhere."""
        index, table = s.operands
        if s.op != "brx.idx" or table not in self.tables:
            self.fail(s)
        cases = " ".join(f"case {k}: goto L{c_name(to)};" for k, to in enumerate(self.tables[table]))
        self.say(f"switch ({self.source(index, 'b32', s)}) {{ {cases} default: stop(m, FAULT_ADDRESS, {s.line}, 0, 0); }}", s)

    def op_ret(self, s):
        self.say("leave(m); return;", s)

    def op_exit(self, s):
        self.say(f"stop(m, THREAD_ENDS, {s.line}, 0, 0);", s)

    def op_bar(self, s):
        parts = tuple(p for p in s.op.split(".")[1:] if p not in DROPPED and p != "aligned")
        if parts == ("warp", "sync"):
            self.say(f"meet(m, MEET, {self.source(s.operands[0], 'b32', s)}, 0, 0, 0, {s.line});", s)
        elif parts == ("sync",) and s.operands == ["0"]:
            self.say("wait_for_block(m);", s)
        elif parts in VOTES and len(s.operands) == 3 and s.operands[1] == "0":
            t, text = VOTES[parts]
            self.say(f"m->vote = {self.source(s.operands[2], 'pred', s)}; wait_for_block(m);", s)
            self.put(s.operands[0], t, text, s)
        else:
            self.fail(s, "is no barrier that is known")

    op_barrier = op_bar

    def op_shfl(self, s):
        """shfl.sync.MODE.b32 d|p, a, b, c, mask"""
        parts = s.op.split(".")
        if len(parts) != 4 or parts[1] != "sync" or parts[2] not in SHUFFLES or parts[3] != "b32" or len(s.operands) != 5:
            self.fail(s, "is no shuffle that is known")
        to, _, inside = s.operands[0].partition("|")
        given = ", ".join(self.source(o, "b32", s) for o in s.operands[1:])
        self.out.append(f"{{ bool inside; uint32_t got = shuffle(m, SHFL_{parts[2].upper()}, {given}, {s.line}, &inside); (void)inside;")
        self.put(to.strip(), "b32", "got", s)
        if inside:
            self.put(inside.strip(), "pred", "inside", s)
        self.out.append("}")

    def op_match(self, s):
        """match.all.sync.T d|p, a, mask; match.any has a row."""
        parts = s.op.split(".")
        if parts[1:3] != ["all", "sync"]:
            return self.by_table(s)
        to, _, same = s.operands[0].partition("|")
        value, mask = (self.source(o, t, s) for o, t in zip(s.operands[1:], (parts[3], "b32")))
        self.out.append(f"{{ uint32_t got = match_any(m, {value}, {mask}, {s.line}); got = got == here_of(m) ? got : 0;")
        self.put(to.strip(), "b32", "got", s)
        if same:
            self.put(same.strip(), "pred", "got != 0", s)
        self.out.append("}")

    def op_trap(self, s):
        self.say(f"stop(m, FAULT_TRAP, {s.line}, 0, 0);", s)

    # --- memory

    def access(self, s):
        """(space or "param", number of parts, type) of ld and st."""
        parts = [p for p in s.op.split(".")[1:] if p not in DROPPED and "::" not in p]
        space = parts.pop(0) if parts[0] in SPACES else ""
        count = int(parts.pop(0)[1:]) if re.match(r"v[248]$", parts[0]) else 1
        if len(parts) != 1 or parts[0] not in SIZE:
            self.fail(s, "is no access that is known")
        return space, count, parts[0]

    def parameter(self, text, size, s):
        """C of a pointer into a parameter, which must hold all of it."""
        m = re.match(r"\[\s*([\w$]+)\s*(?:\+\s*(\d+))?\s*\]$", text)
        if not m:  # of the kernel, by its address
            return self.reach(text, "param", size, False, s)
        v = self.held(m[1])
        at = int(m[2] or 0)
        if v is None or isinstance(v, (str, tuple)) or at + size > v.bytes or at % size:
            self.fail(s, "is beyond its parameter")
        return f"(P{c_name(v.name)} + {at})"

    def reach(self, text, space, size, writes, s):
        at = self.address(text.strip("[]").strip(), s)
        return f"reach(m, {at}, {size}, {SPACES.get(space, 'GENERIC')}, {int(writes)}, {s.line})"

    def op_ld(self, s):
        space, count, t = self.access(s)
        size = SIZE[t]
        names = [n.strip() for n in s.operands[0].strip("{}").split(",")]
        if len(names) != count:
            self.fail(s)
        at = self.parameter(s.operands[1], size * count, s) if space == "param" else self.reach(s.operands[1], space, size * count, False, s)
        c = ("int" if t[0] == "s" else "uint") + f"{8 * size}_t" if t != "b128" else "uint128_t"
        self.out.append(f"{{ const {c} *at = (const {c} *){at};")
        for k, n in enumerate(names):
            if n != "_":
                self.register(n, s)
                self.say(f"R{c_name(n)} = at[{k}];", s)
        self.out.append("}")

    def op_st(self, s):
        space, count, t = self.access(s)
        size = SIZE[t]
        given = [n.strip() for n in s.operands[1].strip("{}").split(",")]
        if len(given) != count:
            self.fail(s)
        at = self.parameter(s.operands[0], size * count, s) if space == "param" else self.reach(s.operands[0], space, size * count, True, s)
        c = f"uint{8 * size}_t"
        self.out.append(f"{{ {c} *at = ({c} *){at};")
        for k, n in enumerate(given):
            value = "R" + c_name(n) if n.startswith("%") else self.source(n, f"b{8 * size}", s)
            if n.startswith("%"):
                self.register(n, s)
            self.say(f"at[{k}] = ({c}){value};", s)
        self.out.append("}")

    def op_atom(self, s, returns=True):
        parts = [p for p in s.op.split(".")[1:] if p not in DROPPED and "::" not in p and p != "noftz"]
        space = parts.pop(0) if parts[0] in SPACES else ""
        if len(parts) != 2 or parts[0] not in ATOMIC:
            self.fail(s, "is no atomic operation that is known")
        name, t = parts
        operands = list(s.operands)
        to = operands.pop(0) if returns else "_"
        c = c_type(t)
        raw = f"uint{bits(t)}_t"
        of = f"{t}_of" if c in ("float", "double") else f"({c})"
        back = f"of_{t}" if c in ("float", "double") else f"({raw})"
        at = self.address(operands[0].strip("[]").strip(), s)
        self.out.append(f"{{ {raw} *at = ({raw} *)reach_atomic(m, {at}, {bits(t) // 8}, {SPACES.get(space, 'GENERIC')}, {s.line}); const {c} o = {of}(*at);")
        for letter, operand in zip("ab", operands[1:]):
            self.out.append(f"const {c} {letter} = {self.source(operand, t, s)};")
        self.say(f"*at = {back}({ATOMIC[name]});", s)
        self.put(to, t, "o", s)
        self.out.append("}")

    def op_red(self, s):
        self.op_atom(s, returns=False)

    # --- calls

    def op_call(self, s):
        operands = list(s.operands)
        results = self.names_of(operands.pop(0)) if operands[0].startswith("(") else []
        name = operands.pop(0)
        given = self.names_of(operands.pop(0)) if operands and operands[0].startswith("(") else []
        f = self.module.functions.get(name)
        if not f or operands:
            self.fail(s, "(what is called is not known)")
        held = [[self.held(n) for n in names] for names in (results, given)]
        if any(v is None or isinstance(v, (str, tuple)) for v in held[0] + held[1]):
            self.fail(s, "(an argument that is no parameter)")
        wanted = shape(f)
        if tuple([v.bytes for v in vs] for vs in held) != tuple([b for b, _ in vs] for vs in wanted):
            self.fail(s, f"(its prototype: {wanted})")
        if any(v.align < a for vs, ws in zip(held, wanted) for v, (_, a) in zip(vs, ws)):
            self.fail(s, f"(parameters less aligned than its prototype's: {wanted})")
        self.say(f"{self.module.c_function(f)}({', '.join(['m', *('P' + c_name(n) for n in results + given)])});", s)

    @staticmethod
    def names_of(text):
        return [n.strip() for n in text.strip("()").split(",") if n.strip()]

    def c(self):
        align = max([v.align for v in self.depot] or [1])
        self.out = [f"{self.module.header(self.f)} {{", "Frame frame; uint32_t cc = m->poison; (void)cc;"]
        self.out.append(f"enter(m, &frame, {self.local_bytes()}, {align}, {self.f.line});")
        if self.f.entry:
            at = 0
            for p in self.f.params:
                at = -(-at // p.align) * p.align
                self.out.append(f"const unsigned char *P{c_name(p.name)} = params + {at}; (void)P{c_name(p.name)};")
                at += p.bytes
        for s in self.f.body:
            self.statement(s)
        self.out.append("leave(m); }")
        return "\n".join(self.out)


class Translated:
    """A module and its C source."""

    def __init__(self, text):
        self.parsed = parse(text)
        self.functions = {f.name: f for f in self.parsed.functions}
        self.places, self.static_shared = {}, 0
        variables = [*self.parsed.variables, *(s.variable for f in self.parsed.functions for s in f.body or [] if s.kind == "shared")]
        ops = {s.op for f in self.parsed.functions for s in f.body or [] if s.kind == "op"}
        # Lanes that ask activemask who is there can be told that they are alone.
        meets = ("bar", "barrier", "shfl", "match") if "activemask.b32" in ops else ("bar", "barrier", "shfl", "match", "vote", "redux")
        self.threads_meet = any(op.split(".")[0] in meets for op in ops)
        held, declared = [], []
        for v in variables:
            if v.space == "shared" and v.count:
                self.static_shared = -(-self.static_shared // v.align) * v.align
                self.places[v.name] = f"((uint64_t)m->shared + {self.static_shared})"
                self.static_shared += v.bytes
            elif v.space != "shared":
                declared.append(self.declaration(v))
                held.append(f"held[{len(held)}] = (Held){{(uint64_t)V{c_name(v.name)}, (uint64_t)V{c_name(v.name)} + {v.bytes}, {SPACES[v.space]}}};")
                self.places[v.name] = f"((uint64_t)V{c_name(v.name)})"
        self.static_shared = -(-self.static_shared // 16) * 16
        for v in variables:
            if v.space == "shared" and not v.count:
                self.places[v.name] = f"((uint64_t)m->shared + {self.static_shared})"
        entries = [f for f in self.parsed.functions if f.entry]
        self.entries = {f.name: k for k, f in enumerate(entries)}
        defined = [f for f in self.parsed.functions if f.body is not None]
        missing = [f.name for f in self.parsed.functions if f.body is None and f.name != "vprintf"]
        if missing:
            raise Unknown(f"{missing[0]} is declared and not defined")
        self.source = "\n".join([
            f'#include "{PRELUDE}"', f"static Held held[{len(held) + 1}]; static const unsigned nheld = {len(held)};",
            f"static const uint64_t static_shared = {self.static_shared}; static const bool threads_meet = {int(self.threads_meet)};", *declared,
            *(self.header(f) + ";" for f in defined), *(Body(self, f).c() for f in defined),
            "void run(Machine *m, unsigned which) {", *held, f"static Entry *const entries[] = {{{', '.join(self.c_function(f) for f in entries)}}};",
            "launch(m, entries[which]); }", "",
        ])  # fmt: skip

    def c_function(self, f):
        return "ptx_vprintf" if f.name == "vprintf" else "F" + c_name(f.name)

    def header(self, f):
        if f.entry:
            return f"static void {self.c_function(f)}(Machine *m, const unsigned char *params)"
        given = [f"unsigned char *P{c_name(p.name)}" for p in f.results] + [f"const unsigned char *P{c_name(p.name)}" for p in f.params]
        return f"static void {self.c_function(f)}({', '.join(['Machine *m', *given])})"

    def declaration(self, v):
        """A variable of global or constant memory, red before and behind it by its alignment alone: others may lie beside it, as in a GPU's."""
        c = {"f32": "float", "f64": "double"}.get(v.type) if v.values and any("." in x or "e" in x for x in v.values) else f"uint{8 * SIZE[v.type]}_t"
        values = ", ".join(self.constant(x, v) for x in v.values or ["0"])
        return f"static _Alignas({max(v.align, 16)}) {c} V{c_name(v.name)}[{max(v.count, 1)}] = {{{values}}};"

    def constant(self, text, v):
        m = re.match(r"0([fd])([0-9a-fA-F]+)$", text)
        if m:
            return "0x" + m[2] + "ull"
        if NUMBER.match(text):
            return f"({'u' if v.type[0] != 's' else ''}int{8 * SIZE[v.type]}_t){number(text) & 2**64 - 1}ull"
        raise Unknown(f"the constant {text} of {v.name}")
