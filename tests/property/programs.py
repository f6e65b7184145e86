"""Random small programs, and their arguments.

In: a seed. Out: a Program, plain Python source of a function `prog` (and helpers `prog_…`) that takes
numbers and arrays and returns a tuple of numbers. It is built statement by statement; meaning.py
judges each, so that nearly every program has a meaning. Rows of the tables below are what to add
when the language grows: a construct is one method s_… (random_expressions.py: e_…) and its weight.
"""

import ast

import kinds as K
from math_functions import INEXACT_MATH
from meaning import Body, Meaning, named_class
from random_expressions import ExpressionGenerator, names_of, table
from scalars import (
    INEXACT_UFUNCS,
    KIND,
    REAL,
    Array,
    Func,
    Invalid,
    Named,
    NamedClass,
    Record,
    Tuple,
    plain,
)

PARAMETER_TYPES = {**K.TYPES, **K.WEAK_TYPES}  # how often a type is that of a parameter
VECTOR, MATRIX = (8,), (3, 4)  # shapes of the arrays that a program gets

INEXACT_EXPONENTS = "3 -2 0.25 1.5 3.0 -0.5 4".split()


class Program:
    def __init__(self, source, parameters, seed):
        self.source, self.parameters, self.seed = source, parameters, seed  # parameters: {name: type}

    def meaning(self):
        return Meaning(self.source, "prog", tuple(self.parameters.values()))


# --- the generator
# -----------------------------------------------------------------------------------------------------------


class Generator(ExpressionGenerator):
    # statements -----------------------------------------------------------------------------------------------

    def accept(self, text, extents=None):
        """Whether the statement has a meaning here; then the types after it are in force."""
        saved = dict(self.env())
        try:
            self.walker.block(ast.parse(text).body)
            if self.walker.env is None:
                raise Invalid("unreachable")
        except Invalid:
            self.walker.env = saved
            return False
        self.extents.update(extents or {})
        return True

    def block(self, depth, count):
        """Lines of count statements; the types after them are in force."""
        lines = []
        for _ in range(count):
            for _ in range(5):
                method = self.r.choices(*STATEMENTS)[0]
                before, extents = dict(self.env()), dict(self.extents)
                made = method(self, depth)
                if made and self.accept("\n".join(made)):
                    self.budget -= 1
                    lines += made
                    break
                self.walker.env, self.extents = before, extents
        return lines or ["pass"]

    def inner(self, depth, count, names=None):
        """Lines of a block of its own: the types after it are those before it."""
        before, extents = self.walker.env, dict(self.extents)
        self.walker.env = {**before, **(names or {})}
        lines = self.block(depth - 1, count)
        self.walker.env, self.extents = before, extents
        return indented(lines)

    def target(self, kinds=REAL):
        names = [n for n in self.scalars(kinds if kinds not in "c" else REAL + "c") if n[0] in "vk" and n not in self.frozen]
        return self.r.choice(names) if names and self.r.random() < 0.5 else self.fresh()

    def s_assign(self, depth):
        kinds = self.some_kind()
        name = self.target(kinds)
        text = self.expr(3, kinds)
        if any(n in self.varying for n in names_of(text)):
            self.varying.add(name)
        return [f"{name} = {text}"]

    def s_augmented(self, depth):
        names = [n for n in self.scalars() if n[0] in "va" and n not in self.frozen]
        if not names:
            return None
        op = self.r.choice(["+", "-", "*", "+", "-", "//", "%", "&", "|", "^", ">>", "<<", "/"])
        return [f"{self.r.choice(names)} {op}= {self.expr(2)}"]

    def s_update(self, depth):
        """An augmented assignment to a variable that is no real number."""
        names = [n for n in self.scalars(K.OTHERS) if n[0] in "va" and n not in self.frozen]
        if not names:
            return None
        name = self.r.choice(names)
        return [f"{name} {self.update(KIND[self.env()[name]], '')}"]

    def update(self, letter, without="none"):
        """`= expression`, `+= expression`, as the row of the kind has it."""
        row = K.row_of_letter(letter) if letter in K.OTHERS else K.KINDS[1]
        operators, operand = self.r.choice(row.updates)
        op = self.r.choice([o for o in operators.split() if o != "=" or without] or ["+="])
        return f"{op} {self.expr(3, K.OPERANDS[operand])}"

    def s_tuple(self, depth):
        name = self.fresh("t")
        items = [self.expr(2, self.some_kind()) for _ in range(self.r.choice([1, 2, 3]))]
        classes = [t for t in self.walker.m.globals.values() if isinstance(t, NamedClass)]
        if classes and self.r.random() < 0.6:
            return [f"{name} = {self.named(self.r.choice(classes))}"]
        if self.r.random() < 0.2:
            items.append(f"({self.expr(1)}, {self.expr(1)})")
        return [f"{name} = ({', '.join(items)},)"]

    def named(self, cls):
        """A named tuple: made, or another one with a field replaced."""
        alike = [n for n, t in self.env().items() if isinstance(t, Named) and t.name == cls.name]
        field = self.r.choice(cls.fields)
        if alike and self.r.random() < 0.5:
            return f"{self.r.choice(alike)}._replace({field}={self.expr(2, self.some_kind())})"
        items = [self.expr(2, self.some_kind()) for _ in cls.fields]
        named = self.r.random() < 0.3
        return f"{cls.name}({', '.join(f'{f}={x}' if named else x for f, x in zip(cls.fields, items))})"

    def s_record(self, depth):
        """A reference to a record, or a copy of one."""
        arrays = [n for n, t in self.env().items() if isinstance(t, Array) and isinstance(t.dtype, Record) and n in self.extents]
        records = [n for n, t in self.env().items() if isinstance(t, Record) and "p" in t.fields]
        if records and self.r.random() < 0.4:
            return [f"{self.fresh('d')} = {self.r.choice(records)}.p"]
        if not arrays:
            return None
        name = self.r.choice(arrays)
        if self.r.random() < 0.3:
            return [f"{self.indexed(name, self.extents[name])} = {self.indexed(name, self.extents[name])}"]
        return [f"{self.fresh('d')} = {self.indexed(name, self.extents[name])}"]

    def s_unpack(self, depth):
        tuples = [n for n, t in self.env().items() if isinstance(t, Tuple)]
        if tuples and self.r.random() < 0.6:
            name = self.r.choice(tuples)
            targets = [
                f"({', '.join(self.fresh() for _ in t)},)" if isinstance(t, Tuple) else self.fresh()
                for t in self.env()[name]
            ]
            return [f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {name}"]
        names = [n for n in self.scalars() if n[0] == "v" and n not in self.frozen]
        if len(names) >= 2 and self.r.random() < 0.5:
            x, y = self.r.sample(names, 2)
            return [f"{x}, {y} = {y}, {x}"]
        return [f"{self.fresh()}, {self.fresh()} = {self.divmod_or_pair()}"]

    def divmod_or_pair(self):
        if self.r.random() < 0.5:
            return f"divmod({self.expr(2)}, {self.expr(2)})"
        return f"{self.expr(2)}, {self.expr(2)}"

    def s_walrus(self, depth):
        name = self.fresh()
        return [f"{self.fresh()} = ({name} := {self.expr(2)}) {self.r.choice(['+', '-', '*'])} {name}"]

    def s_store(self, depth):
        names = [n for n in self.holders() if not isinstance(self.env()[n], Named)]
        if not names:
            return None
        name = self.r.choice(names)
        letter = self.r.choice(sorted(K.letters_in(self.env()[name])))
        return [f"{self.element(name, letter)} {self.update(letter)}"]

    def s_picked(self, depth):
        """Stores into an array of which only the run says which one it is: an element of a tuple by its index, or one after the other."""
        r = self.r
        rows = [n for n, t in self.env().items() if isinstance(t, Array) and len(self.extents.get(n, ())) == 1 and not isinstance(t.dtype, Record)]
        if not rows:
            return None
        x = r.choice(rows)
        # A tuple's elements have one type: layout and memory too, which parameters and local arrays show by their names.
        y = r.choice([n for n in rows if n == x or n[0] == x[0] in "sl" and self.env()[n] == self.env()[x]])
        n, items = min(self.extents[x][0], self.extents[y][0]), [x, y, r.choice([x, y])][: r.choice([2, 2, 3])]
        if n > 1 and r.random() < 0.5:
            n, items = n - 1, [f"{item}[{r.choice(['1:', ':-1'])}]" for item in items]
        t, letter = self.env()[x], r.choice(sorted(K.letters_in(self.env()[x])))
        arrays = f"({', '.join(items)})"
        if self.loops >= 2 or r.random() < 0.5:
            place = self.inside(f"{arrays}[{self.index(len(items))}]", t, letter, (n,))
            return [f"{place} {self.update(letter)}"]
        k, w, v = self.fresh("k"), self.fresh("w"), self.fresh("w")
        target, source = r.choice([(w, arrays), (f"{k}, {w}", f"enumerate({arrays})"), (f"{w}, {v}", f"zip({arrays}, ({', '.join(items[::-1])}))")])
        self.extents[w] = (n,)
        return [f"for {target} in {source}:", f"    {self.inside(w, t, letter, (n,))} {self.update(letter)}"]

    def s_view(self, depth):
        arrays = [n for n, t in self.env().items() if isinstance(t, Array) and n in self.extents]
        if not arrays:
            return None
        source, name, r = self.r.choice(arrays), self.fresh("w"), self.r
        shape, item = self.extents[source], self.env()[source].dtype
        if isinstance(item, Record) and r.random() < 0.5:
            field = r.choice(list(item.fields))
            self.extents[name] = (*shape, *(getattr(item.fields[field], "shape", None) or ()))
            if len(self.extents[name]) > 2:
                return None
            return [f"{name} = {source}.{field}" if r.random() < 0.5 else f'{name} = {source}["{field}"]']
        if len(shape) == 2:
            kind = r.choice(["row", "column", "transposed", "part"])
            if kind == "row":
                self.extents[name] = shape[1:]
                return [f"{name} = {source}[{self.index(shape[0], 1)}]"]
            if kind == "column":
                self.extents[name] = shape[:1]
                return [f"{name} = {source}[:, {self.index(shape[1], 1)}]"]
            if kind == "transposed":
                self.extents[name] = shape[::-1]
                return [f"{name} = {source}.T"]
            if shape[0] < 2:
                return None
            self.extents[name] = (2, shape[1])
            return [f"{name} = {source}[{r.choice(['-2:', ':2', '::2' if shape[0] == 3 else ':2'])}]"]
        bounds = [r.choice(["", str(r.randrange(-9, 10))]) for _ in range(2)]
        step = r.choice(["", "", ":2", ":-1", ":-2", ":1", ":3"])
        picked = range(shape[0])[
            slice(*(int(b) if b else None for b in bounds), int(step[1:]) if step else None)
        ]
        if not picked:
            return None
        self.extents[name] = (len(picked),)
        return [f"{name} = {source}[{':'.join(bounds)}{step}]"]

    def s_fill(self, depth):
        arrays = [n for n, t in self.env().items() if isinstance(t, Array) and t.ndim == 1]
        if not arrays:
            return None
        part = self.r.choice(["1:3", ":", "::2", "-2:", "::-1"])
        op, name = self.r.choice(["=", "=", "+=", "-=", "*=", "&=", "|=", "^="]), self.r.choice(arrays)
        letters = K.letters_in(self.env()[name])
        return [f"{name}[{part}] {op} {self.expr(2, REAL if letters & set(REAL) else min(letters))}"]

    def s_local(self, depth):
        name, t = self.fresh("l"), self.a_type()
        n = self.r.choice([2, 4, 5])
        self.extents[name] = (n,)
        k = self.fresh("k")
        text = f"{name} = cuda.local.array({n}, {K.dtype_text(t)})"
        value = self.expr(2, KIND[t] if KIND[t] in K.OTHERS else REAL)
        return [text, f"for {k} in range({n}):", f"    {name}[{k}] = {value}"]

    def s_if(self, depth):
        if depth <= 0:
            return None
        lines = [f"if {self.condition()}:", *self.inner(depth, self.r.choice([1, 2, 2]))]
        if self.r.random() < 0.3:
            lines += [f"elif {self.condition()}:", *self.inner(depth, 1)]
        if self.r.random() < 0.6:
            lines += ["else:", *self.inner(depth, self.r.choice([1, 2]))]
        return lines

    def s_maybe(self, depth):
        """A variable that is set under a condition, and read under the same words: they need not mean the same by then."""
        if depth <= 0:
            return None
        name, test, value = self.fresh(), self.condition(1), self.expr(2, self.some_kind())
        try:
            t = plain(self.walker.expr(ast.parse(value, mode="eval").body)[1])
        except Invalid:
            return None
        before, extents = dict(self.env()), dict(self.extents)
        between = self.block(depth - 1, 1) if self.r.random() < 0.6 else []
        word = self.r.choice(["if {}:", "if {}:", "if not {}:", "while {}:"]).format(test)
        lines = [f"if {test}:", f"    {name} = {value}", *between, word, *self.inner(depth, 1, {name: t})]
        self.walker.env, self.extents = before, extents
        return [*lines, "    break"] if word.startswith("while") else lines

    def s_delete(self, depth):
        names = [n for n in self.scalars(REAL + K.OTHERS) if n[0] == "v" and n not in self.frozen]
        if not names or depth <= 0:
            return None
        return [f"if {self.condition(1)}:", f"    del {self.r.choice(names)}"]

    def loop_body(self, depth, names):
        self.loops += 1
        lines = self.inner(depth, self.r.choice([1, 2, 3]), names)
        self.loops -= 1
        if self.r.random() < 0.4:
            word = self.r.choice(["break", "continue"])
            at = self.r.randrange(len(lines) + 1)
            while at < len(lines) and not (lines[at][4] != " " and not lines[at].strip().startswith(("el",))):
                at += 1
            before, self.walker.env = self.walker.env, {**self.walker.env, **names}
            lines[at:at] = [f"    if {self.condition()}:", f"        {word}"]
            self.walker.env = before
        return lines

    def s_for(self, depth):
        if depth <= 0 or self.loops >= 2:
            return None
        k, r = self.fresh("k"), self.r
        kind = r.choice(["range", "range", "range", "dynamic", "array", "tuple", "enumerate", "zip"])
        arrays = [n for n, t in self.env().items() if isinstance(t, Array) and t.ndim == 1]
        names, target = {k: "pyint"}, k
        self.varying.add(k)
        if kind == "range":
            # None is empty: a compiler may see that, and then nothing of the body joins.
            text = r.choice(["range({})".format(r.randint(2, 6)), f"range({r.randint(-3, 2)}, {r.randint(4, 6)})",
                             f"range({r.randint(5, 9)}, {r.randint(-3, 2)}, {r.choice([-1, -2, -3])})"])  # fmt: skip
        elif kind == "dynamic":
            text = f"range(({self.expr(1, 'iu')}) % {r.randint(2, 7)})"
        elif kind == "tuple":
            kinds = self.some_kind()
            items = [self.expr(1, kinds) for _ in range(r.choice([2, 3]))]
            text = f"({', '.join(items)})"
            names = {k: self.guess(text)}
        elif not arrays:
            return None
        elif kind == "array":
            text = r.choice(arrays)
            names = {k: self.env()[text].dtype}
        else:
            x, y = r.choice(arrays), r.choice(arrays)
            j = self.fresh("k")
            target = f"{k}, {j}"
            self.varying.add(j)
            if kind == "enumerate":
                text, names = f"enumerate({x})", {k: "pyint", j: self.env()[x].dtype}
            else:
                text, names = f"zip({x}, {y})", {k: self.env()[x].dtype, j: self.env()[y].dtype}
        if None in names.values():
            return None
        lines = [f"for {target} in {text}:", *self.loop_body(depth, names)]
        if r.random() < 0.2:
            lines += ["else:", *self.inner(depth, 1)]
        return lines

    def guess(self, text):
        try:
            return self.walker.iterable(ast.parse(text, mode="eval").body)[1]
        except Invalid:
            return None

    def s_while(self, depth):
        if depth <= 0 or self.loops >= 2:
            return None
        w = self.fresh("n")
        n = self.r.randint(1, 5)
        self.varying.add(w)
        body = self.loop_body(depth, {w: "pyint"})
        lines = [f"while {w} < {n} and {self.condition(1)}:", f"    {w} += 1", *body]
        if self.r.random() < 0.3:
            lines[0] = f"while {w} < {n}:"
        if self.r.random() < 0.2:
            lines += ["else:", *self.inner(depth, 1)]
        return [f"{w} = 0", *lines]

    def s_match(self, depth):
        names = [n for n in self.scalars("iu") if n in self.varying]
        if depth <= 0 or not names:
            return None
        subject = self.r.choice(names)
        if self.r.random() < 0.5:
            subject = f"{subject} % 4"
        lines = [f"match {subject}:"]
        for value in self.r.sample(["0", "1", "2 | 3", "3", "7"], 2):
            lines += [f"    case {value}:", *indented(self.inner(depth, 1))]
        if self.r.random() < 0.7:
            lines += ["    case _:", *indented(self.inner(depth, 1))]
        return lines

    def s_match_pair(self, depth):
        names = [n for n in self.scalars("iu") if n in self.varying]
        if depth <= 0 or len(names) < 2:
            return None
        x, y = self.r.sample(names, 2)
        z = self.fresh("y")
        t = self.env()[y]
        return [
            f"match ({x} % 2, {y}):",
            f"    case (0, {z}) if {self.condition(1)}:",
            *indented(self.inner(depth, 1, {z: t})),
            "    case (_, 0):",
            *indented(self.inner(depth, 1)),
        ]

    def s_function(self, depth):
        if self.loops:
            return None
        name, x = self.fresh("g"), self.fresh("q")
        t = self.a_type()
        self.wanted[name] = [KIND[t] if KIND[t] in K.OTHERS else REAL]
        before = dict(self.env())
        captured = dict(before)
        self.walker.env = {**captured, x: t}
        outer, self.in_helper = self.in_helper, True
        if self.r.random() < 0.5:
            lines = [f"{name} = lambda {x}: {self.expr(2, self.some_kind())}"]
        else:
            kinds = self.some_kind()
            test = f"{x} > 1" if KIND[t] in REAL + "c" else f"np.isnat({x})"
            lines = [
                f"def {name}({x}):",
                f"    if {test}:",
                f"        return {self.expr(2, kinds)}",
                f"    return {self.expr(2, kinds)}",
            ]
        self.walker.env, self.in_helper = before, outer
        used = [n for n in names_of("\n".join(lines)) if n in before]
        self.frozen.update(used)
        return lines

    # programs -------------------------------------------------------------------------------------------------

    def helper(self, number):
        """A function of the module: one to three parameters, perhaps with a default."""
        r = self.r
        count = r.choice([1, 2, 2, 3])
        names = [f"x{k}" for k in range(count)]
        types = {n: r.choice(K.REAL_TYPES) if r.random() < 0.7 else self.a_type() for n in names}
        self.wanted[f"prog_h{number}"] = [KIND[t] if KIND[t] in K.OTHERS else REAL for t in types.values()]
        self.walker.env, self.varying, self.frozen, self.extents = dict(types), set(names), set(), {}
        self.budget = 3
        default = f"={r.choice(['1', '2', '0.5', '3'])}" if count > 1 and r.random() < 0.4 else ""
        head = f"def prog_h{number}({', '.join(names)}{default}):"
        body = self.block(1, r.choice([0, 1, 2]))
        kinds = self.some_kind()
        if r.random() < 0.4:
            body += [f"if {self.condition(1)}:", f"    return {self.expr(2, kinds)}"]
        body += [f"return {self.expr(3, kinds)}"]
        return "\n".join([head, *indented(body)]) + "\n"

    def recursive(self, number):
        """A function of the module that calls itself; its first argument says how often."""
        r, t = self.r, self.r.choice([t for t in K.REAL_TYPES if t != "bool"])
        cast, name = K.cast_text(t), f"prog_r{number}"
        self.walker.env = {"x0": "pyint", "x1": t}
        self.varying, self.frozen, self.extents = {"x0", "x1"}, set(), {}
        base, step = self.expr(2), self.expr(2)
        self.walker.env = {"x0": "pyint", "x1": t, "v0": t}
        last = self.expr(2)
        return (
            f"def {name}(x0, x1):\n    if x0 <= 0:\n        return {cast}({base})\n"
            f"    v0 = {name}(x0 - 1, {cast}({step}))\n    return {cast}({last})\n"
        )

    def inexact(self):
        if self.r.random() < 0.25:
            return f"{self.expr(1, 'f')} ** {self.r.choice([*INEXACT_EXPONENTS, self.expr(1, 'f')])}"
        table, room = self.r.choice([(INEXACT_MATH, "math"), (INEXACT_UFUNCS, "np")])
        name = self.r.choice(list(table))
        parts = [self.expr(1, self.r.choice(["f", "f", REAL])) for _ in range(table[name])]
        if name == "dist":
            parts = [f"({x}, {self.expr(1, REAL)})" for x in parts]
        return f"{room}.{name}({', '.join(parts)})"

    def program(self):
        r = self.r
        helpers = []
        empty = Meaning.__new__(Meaning)
        Meaning.__init__(empty, "def prog():\n    return (1,)\n", "prog", ())
        classes = []
        if r.random() < 0.2:
            fields = "x y n".split()[: r.choice([1, 2, 2, 3])]
            classes = [f'prog_P0 = collections.namedtuple("prog_P0", "{" ".join(fields)}")\n']
            empty.globals["prog_P0"] = named_class(ast.parse(classes[0]).body[0])
        for k in range(r.choice([0, 0, 1, 1, 2])):
            self.walker = Body(empty, {})
            self.in_helper = True
            text = self.helper(k)
            self.in_helper = False
            helpers.append(self.defined(empty, text))
        if r.random() < 0.15:
            self.walker = Body(empty, {})
            self.in_helper = True
            helpers.append(self.defined(empty, self.recursive(9)))
            self.in_helper = False
        types = list(PARAMETER_TYPES)
        chosen = r.choices(types, list(PARAMETER_TYPES.values()), k=r.choice([1, 2, 3, 3]))
        if KIND[chosen[0]] not in REAL:
            chosen.append(r.choice(K.REAL_TYPES))
        chosen.sort(key=lambda t: KIND[t] not in REAL)  # a0 is a number: conditions fall back on it
        parameters = {f"a{k}": t for k, t in enumerate(chosen)}
        if r.random() < 0.5:
            parameters["s"] = Array(self.a_type(), 1)
        if r.random() < 0.25:
            parameters["m"] = Array(self.a_type(), 2)
        if r.random() < 0.15:
            parameters["q"] = Array(K.record_type(r), 1)
        if classes and r.random() < 0.7:
            parameters["p"] = Named("prog_P0", fields, K.named_types(r, len(fields)))
        self.walker = Body(empty, dict(parameters), True)
        self.varying = {n for n in parameters if n[0] in "ap"}
        self.frozen, self.extents = set(), {}
        self.extents.update({n: {"m": MATRIX}.get(n, VECTOR) for n in parameters if n in "smq"})
        self.budget = 14
        body = self.block(2, r.choice([1, 2, 3, 4, 5]))
        results = [n for n in self.scalars(REAL + K.OTHERS) if n[0] == "v"]
        r.shuffle(results)
        results = results[:2] + [self.expr(3, self.some_kind(0.4)) for _ in range(r.choice([1, 1, 2]))]
        if r.random() < 0.3:
            text = self.inexact()
            if self.judge_inexact(text):
                results.append(text)
        body.append(f"return ({', '.join(results)},)")
        head = f"def prog({', '.join(parameters)}):"
        source = "".join(classes + helpers) + "\n".join([head, *indented(body)]) + "\n"
        return Program(source, parameters, self.seed)

    @staticmethod
    def defined(module, text):
        (node,) = ast.parse(text).body
        module.globals[node.name] = Func(node, {}, node.name)
        return text

    def judge_inexact(self, text):
        try:
            node = ast.parse(text, mode="eval").body
            self.walker.inexact_power = node
            self.walker.expr(node, inexact_here=True)
            self.walker.inexact_power = None
        except Invalid:
            return False
        return True


STATEMENTS = table(
    Generator,
    s_assign=10, s_augmented=5, s_update=2, s_record=2, s_tuple=2, s_unpack=3, s_walrus=1, s_store=3, s_picked=1, s_view=2, s_fill=1, s_local=1,
    s_if=4, s_for=4, s_while=2, s_match=1, s_match_pair=1, s_function=1, s_maybe=2, s_delete=0.5,
)  # fmt: skip


def indented(lines):
    return ["    " + line for line in lines]


def program(seed):
    """The program of a seed: (Program, Meaning), the next valid one of the seed's sequence."""
    for attempt in range(50):
        made = Generator(f"{seed}.{attempt}").program()
        try:
            return made, made.meaning()
        except Invalid:
            continue
    raise AssertionError(f"seed {seed} gives no program")

