"""Random expressions: what a random program computes with, judged by meaning.py as they are made.

In: the names in scope with their types (`walker.env`). Out: texts of expressions of the wanted kinds of values, nearly
all with a meaning. A construct is one method e_… and its weight in the tables at the end; those of complex numbers,
dates and spans are templates in kinds.py.
"""

import ast
import random
import re

import kinds as K
from math_functions import EXACT_MATH, INTEGER_CALLS, PAIRS, TUPLE_CALLS
from scalars import (
    EXACT_UFUNCS,
    KIND,
    REAL,
    WEAK,
    Array,
    Func,
    Invalid,
    Maybe,
    Named,
    Record,
    Tuple,
    is_scalar,
)

LITERALS = "0 0 1 1 2 2 3 5 7 8 15 31 33 63 64 100 127 -1 -2 -7 0.0 0.5 1.5 2.0 -0.5 0.1 1e10 True False".split()
LITERALS = [(x, type(ast.literal_eval(x)).__name__[0]) for x in LITERALS]  # with the letter of its kind
EXPONENTS = "2 2 2.0 0.5 0.5 -1 -1.0 1 0".split()
SMALL = "0 1 2 3 4 5 6 7".split()
ARITHMETIC = "+ + + - - - * * * / // // % % **".split()
BITS = "& | ^ << >>".split()
COMPARE = "< <= == != > >=".split()
CASTS = [*map(K.cast_text, K.REAL_TYPES), "int", "float", "bool"]


class ExpressionGenerator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.seed = seed
        self.names = 0
        self.lines = []
        self.loops = 0  # depth
        self.in_helper = False
        self.judged, self.judged_env = {}, None  # types of expressions, where the names have these types
        self.budget = 14  # statements
        self.wanted = {}  # what the parameters of functions are, by kind

    # pieces ------------------------------------------------------------------------------------------------------

    def fresh(self, stem="v"):
        self.names += 1
        return f"{stem}{self.names}"

    def env(self):
        return self.walker.env

    def present(self):
        """The kinds beside real numbers that the names in scope have."""
        return sorted(set().union(*map(K.letters_in, self.env().values())) & set(K.OTHERS)) if self.env() else []

    def some_kind(self, often=0.25):
        """The kind of a next value: real numbers mostly."""
        present = self.present()
        return self.r.choice(present) if present and self.r.random() < often else REAL

    def a_type(self):
        """A type of elements or of a function's parameter."""
        return self.r.choices(list(K.TYPES), list(K.TYPES.values()))[0]

    def scalars(self, kinds=REAL, strong=False):
        return [
            n
            for n, t in self.env().items()
            if is_scalar(t) and KIND[t] in kinds and not (strong and t in WEAK)
        ]

    def maybe_unset(self, kinds=REAL):
        """Variables that some path leaves unset."""
        return [n for n, t in self.env().items() if isinstance(t, Maybe) and is_scalar(t.t) and KIND[t.t] in kinds]

    def leaf(self, kinds=REAL):
        maybe = self.maybe_unset(kinds)
        if maybe and self.r.random() < 0.25:
            return self.r.choice(maybe)
        names = self.scalars(kinds)
        if names and self.r.random() < 0.8:
            return self.r.choice(names)
        holders = self.holders(kinds)
        if holders and self.r.random() < 0.4:
            return self.element(self.r.choice(holders), kinds)
        if kinds in K.OTHERS:
            return self.r.choice(names or K.row_of_letter(kinds).constants)
        options = [x for x, kind in LITERALS if kind in kinds]
        return self.r.choice(options or ["1"])

    def holders(self, kinds=None):
        """Names of arrays, records and named tuples with such values inside."""
        return [
            n for n, t in self.env().items()
            if isinstance(t, (Array, Record, Named)) and (kinds is None or K.letters_in(t) & set(kinds))
        ]  # fmt: skip

    def inside(self, text, t, kinds, extents):
        """An expression of a number of those kinds inside a value; None: of any kind."""
        r = self.r
        if is_scalar(t):
            return text
        if isinstance(t, Array) and not (isinstance(t.dtype, Record) and r.random() < 0.3):
            return self.inside(self.indexed(text, extents), t.dtype, kinds, None)
        fields = dict(zip(t.fields, t)) if isinstance(t, Named) else (t.dtype if isinstance(t, Array) else t).fields
        name = r.choice([f for f, x in fields.items() if kinds is None or K.letters_in(x) & set(kinds)])
        field, named = fields[name], r.random() < 0.5
        if isinstance(t, Named):
            return f"{text}.{name}" if named else f"{text}[{t.fields.index(name)}]"
        text = f"{text}.{name}" if named else f'{text}["{name}"]'
        if isinstance(t, Array):  # of records: the column, then the element
            shape = (*extents, *(field.shape if isinstance(field, Array) else ()))
            return self.inside(text, Array(field.dtype if isinstance(field, Array) else field, len(shape)), kinds, shape)
        return self.inside(text, field, kinds, getattr(field, "shape", None))

    def index(self, extent, depth=1):
        """An index that is in range whatever happens."""
        if not self.scalars("iu") or self.r.random() < 0.45:
            return str(self.r.randrange(-extent, extent))
        e = self.expr(depth, "iu")
        if self.in_helper:  # whose parameters may be floats
            return f"int({e}) % {extent}"
        # int() inside: a loop may make a float of a variable, and -1e-30 % 4 is 4.0.
        backwards, whole = self.r.random() >= 0.7, self.r.random() < 0.2
        text = f"int({e}) % {extent}" if backwards or whole else f"({e}) % {extent}"
        return f"-1 - {text}" if backwards else text

    def element(self, name, kinds=None):
        t = self.env()[name]
        return self.inside(name, t, kinds, self.extents.get(name, (1,) * getattr(t, "ndim", 1)))

    def indexed(self, text, extents):
        if len(extents) == 1:
            return f"{text}[{self.index(extents[0])}]"
        parts = [self.index(n, 0) for n in extents]
        return f"{text}[{', '.join(parts)}]" if self.r.random() < 0.6 else f"{text}[{']['.join(parts)}]"

    def expr(self, depth=3, kinds=REAL):
        r = self.r
        if depth <= 0 or r.random() < 0.15:
            return self.leaf(kinds)
        for _ in range(6):
            table = OTHER_EXPRESSIONS if kinds in K.OTHERS else EXPRESSIONS if kinds != "iu" else INTEGER_EXPRESSIONS
            method = r.choices(*table)[0]
            text = method(self, depth - 1, kinds)
            if text and self.judge(text, kinds):
                return text
        return self.leaf(kinds)

    def judge(self, text, kinds):
        """Whether the expression has a meaning and a type of those kinds. Parts judged before are not again."""
        saved = dict(self.env())
        if saved != self.judged_env:
            self.judged, self.judged_env = {}, saved
        tree = ast.parse(text, mode="eval").body
        judged = self.judged
        self.walker.seen = lambda e: judged.get(text[e.col_offset : e.end_col_offset])
        try:
            t = self.walker.raw(tree)[1]
        except Invalid:
            return False
        finally:
            self.walker.env, self.walker.seen = saved, None
        judged[text[tree.col_offset : tree.end_col_offset]] = t
        return is_scalar(t) and KIND[t] in kinds

    def filled(self, template, depth, letter):
        """A template of kinds.py with expressions in its places."""
        strong = [n for n in self.scalars(letter) if self.env()[n] not in WEAK]

        def part(match):
            what = match[1]
            if what == "u":
                return self.r.choice(K.UNITS)
            if what == "s":
                return self.r.choice(strong) if strong else K.row_of_letter(letter).constants[-1]
            return self.expr(depth, K.OPERANDS[what])

        return re.sub(r"\{(\w)\}", part, template)

    def e_template(self, depth, kinds):
        return self.filled(self.r.choice(K.row_of_letter(kinds).expressions), depth, kinds)

    def e_of_other_kind(self, depth, kinds):
        """A number from a complex number, a date, a span."""
        letters = self.present() or (["c"] if self.r.random() < 0.1 else [])
        if not letters:
            return None
        letter = self.r.choice(letters)
        return self.filled(self.r.choice(K.row_of_letter(letter).numbers), depth, letter)

    def e_binary(self, depth, kinds):
        operators = ARITHMETIC if self.r.random() < 0.75 else BITS
        op = self.r.choice(operators)
        left = self.expr(depth, "iu" if kinds == "iu" or op in BITS else kinds)
        if op == "**" and kinds != "iu" and self.r.random() < 0.5:
            return f"({left} ** {self.r.choice(EXPONENTS)})"
        if op == "**":
            return f"({left} ** {self.r.choice(SMALL[:5])})"
        right = self.expr(depth, "iu" if kinds == "iu" or op in BITS else kinds)
        return f"({left} {op} {right})"

    def e_unary(self, depth, kinds):
        return f"({self.r.choice(['-', '-', '~', '+'])}{self.expr(depth, kinds)})"

    def e_not(self, depth, kinds):
        return f"(not {self.expr(depth)})"

    def e_compare(self, depth, kinds):
        parts = [self.expr(depth)]
        for _ in range(self.r.choice([1, 1, 1, 2, 3])):
            parts += [self.r.choice(COMPARE), self.expr(depth)]
        return f"({' '.join(parts)})"

    def e_logic(self, depth, kinds):
        op = self.r.choice(["and", "or"])
        return "(" + f" {op} ".join(self.expr(depth, kinds) for _ in range(self.r.choice([2, 2, 3]))) + ")"

    def e_choice(self, depth, kinds):
        return f"({self.expr(depth, kinds)} if {self.condition(depth)} else {self.expr(depth, kinds)})"

    def e_cast(self, depth, kinds):
        return f"{self.r.choice(CASTS)}({self.expr(depth)})"

    def e_int_cast(self, depth, kinds):
        cast = self.r.choice([c for c in CASTS if "int" in c])
        return f"{cast}({self.expr(depth)})"

    def e_builtin(self, depth, kinds):
        name = self.r.choice("abs min max min max round round pow".split())
        if name == "round" and self.r.random() < 0.6:
            return f"round({self.expr(depth, kinds)}, {self.r.choice(SMALL)})"
        if name in ("abs", "round"):
            return f"{name}({self.expr(depth, kinds)})"
        if name == "pow":
            return f"pow({self.expr(depth, 'iu')}, {self.r.choice(SMALL[:5])})"
        n = self.r.choice([2, 2, 3])
        return f"{name}({', '.join(self.expr(depth, kinds) for _ in range(n))})"

    def e_ufunc(self, depth, kinds):
        name = self.r.choice(list(EXACT_UFUNCS))
        return f"np.{name}({', '.join(self.expr(depth, kinds) for _ in range(EXACT_UFUNCS[name]))})"

    def e_math(self, depth, kinds):
        if self.r.random() < 0.35:
            return self.integers_or_tuple(depth, kinds)
        name = self.r.choice(list(EXACT_MATH))
        parts = [self.expr(depth, "iu" if name == "ldexp" and k else REAL) for k in range(EXACT_MATH[name])]
        if name == "isclose" and self.r.random() < 0.5:
            parts += [f"rel_tol={self.r.choice(['1e-3', '0.5', '1e-12'])}", f"abs_tol={self.r.choice(['0.0', '1e-6', '2.0'])}"]
        item = f"[{self.r.randrange(2)}]" if name in PAIRS else ""
        return f"math.{name}({', '.join(parts)}){item}"

    def integers_or_tuple(self, depth, kinds):
        calls = INTEGER_CALLS if self.r.random() < 0.8 else TUPLE_CALLS
        operands = "iu" if calls is INTEGER_CALLS else REAL
        return self.r.choice(calls).format(x=self.expr(depth, operands), y=self.expr(depth, operands))

    def e_element(self, depth, kinds):
        holders = self.holders(kinds)
        return self.element(self.r.choice(holders), kinds) if holders else None

    def e_tuple_item(self, depth, kinds):
        names = [n for n, t in self.env().items() if isinstance(t, Tuple) and t]
        if not names or self.r.random() < 0.3:
            items = [self.expr(depth, kinds) for _ in range(self.r.choice([2, 3]))]
            return f"({', '.join(items)})[{self.index(len(items), 1)}]"
        name = self.r.choice(names)
        t = self.env()[name]
        text = f"{name}[{self.index(len(t), 0)}]"
        return text if self.judge(text, kinds) else f"{name}[{self.r.randrange(len(t))}]"

    def e_call(self, depth, kinds):
        functions = [n for n, t in {**self.walker.m.globals, **self.env()}.items() if isinstance(t, Func)]
        functions = [n for n in functions if n != "prog"]
        if not functions:
            return None
        name = self.r.choice(functions)
        func = self.env().get(name) or self.walker.m.globals[name]
        arguments = func.node.args
        required = len(arguments.args) - len(arguments.defaults)
        if name.startswith("prog_r"):
            return f"{name}(int({self.expr(depth)}) % {self.r.randint(2, 5)}, {self.expr(depth)})"
        wanted = self.wanted.get(name, ())
        tuples = [n for n, t in self.env().items() if isinstance(t, Tuple) and required <= len(t) <= len(arguments.args)]
        if tuples and self.r.random() < 0.5:
            return f"{name}(*{self.r.choice(tuples)})"
        if self.r.random() < 0.1:
            return f"{name}(*({', '.join(self.expr(depth) for _ in range(required))},))"
        given = self.r.randint(required, len(arguments.args))
        parts = []
        for k in range(given):
            text = self.expr(depth, wanted[k] if k < len(wanted) else REAL)
            named = k >= max(1, given - 1) and self.r.random() < 0.3
            parts.append(f"{arguments.args[k].arg}={text}" if named else text)
        return f"{name}({', '.join(parts)})"

    def e_lambda(self, depth, kinds):
        x = self.fresh("q")
        self.env()[x] = self.r.choice(["float32", "int16"])
        outer, self.in_helper = self.in_helper, True
        body = self.expr(1, kinds)
        self.in_helper = outer
        self.env().pop(x, None)
        return f"(lambda {x}: {body})({self.expr(depth, kinds)})"

    def e_reduction(self, depth, kinds):
        """sum(x * x for x in s if x > 0) and the like."""
        k, r = self.fresh("k"), self.r
        name = r.choice("sum sum sum any all min max".split()) if kinds != "c" else "sum"
        arrays = [n for n, t in self.env().items() if isinstance(t, Array) and t.ndim == 1 and is_scalar(t.dtype)]
        if arrays and r.random() < 0.5:
            text = r.choice(arrays)
            t = self.env()[text].dtype
        elif r.random() < 0.3:
            t = "float32"  # a guess: judged as what it is
            text = f"({', '.join(self.expr(depth - 1, REAL) for _ in range(r.choice([2, 3])))})"
        else:
            t, text = "pyint", r.choice([f"range({r.randint(1, 5)})", f"range({r.randint(3, 6)}, {r.randint(-2, 2)}, -1)"])
        self.env()[k] = t
        self.varying.add(k)
        value = self.expr(depth, kinds)
        test = f" if {self.condition(1)}" if name not in ("min", "max") and r.random() < 0.3 else ""
        self.env().pop(k, None)
        return f"{name}({value} for {k} in {text}{test})"

    def e_membership(self, depth, kinds):
        items = ", ".join(self.expr(depth - 1) for _ in range(3))
        return f"({self.expr(depth)} {self.r.choice(['in', 'not in'])} ({items}))"

    def e_shape(self, depth, kinds):
        arrays = [n for n, t in self.env().items() if isinstance(t, Array)]
        if not arrays or kinds in K.OTHERS:
            return None
        return self.r.choice(["{}.size", "len({})", "{}.shape[0]", "{}.ndim"]).format(self.r.choice(arrays))

    def condition(self, depth=2):
        """Something whose truth no compiler knows."""
        for _ in range(8):
            text = self.expr(depth) if self.r.random() < 0.3 else self.e_compare(depth, REAL)
            if any(n in self.varying for n in names_of(text)) and self.judge(text, REAL):
                return text
        name = self.r.choice(sorted(self.varying & set(self.scalars())) or ["a0"])
        return f"({name} > 0)"


def names_of(text):
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}


def table(owner, **weights):
    return [getattr(owner, name) for name in weights], list(weights.values())


EXPRESSIONS = table(
    ExpressionGenerator,
    e_binary=16, e_unary=2, e_not=1, e_compare=3, e_logic=2, e_choice=3, e_cast=3, e_builtin=3, e_ufunc=3,
    e_math=2, e_element=2, e_tuple_item=1, e_call=3, e_lambda=1, e_membership=1, e_shape=1, e_of_other_kind=6, e_reduction=2,
)  # fmt: skip
OTHER_EXPRESSIONS = table(ExpressionGenerator, e_template=8, e_choice=1, e_call=1, e_tuple_item=1, e_element=2, e_logic=1, e_reduction=1)
INTEGER_EXPRESSIONS = table(
    ExpressionGenerator,
    e_binary=10, e_unary=2, e_choice=2, e_int_cast=4, e_builtin=2, e_ufunc=1, e_element=1, e_call=1, e_shape=1,
)  # fmt: skip
