"""What a kernel must compute, from CPython and NumPy alone: semantics.md's rule, made executable.

In: the source of a function, and the types of its arguments. Out: the types of its results, and a
Python function that computes them on NumPy scalars. Nothing of pyptx takes part.

The types come from abstract interpretation of the syntax tree; the type of every operation is the
type that NumPy gives for that operation on sample scalars. The function is the same source, with
calls put in only where a kernel means something else than Python, and only for:

* joins: a variable (a conditional expression, a result) whose type differs from path to path has the promotion
  of all the types that reach it. It keeps the value that it was given, and reading it converts to that type;
* weak integers, which wrap at 64 bits, and wrap again beside a strong integer they do not fit;
* division of weak numbers by zero, shifts by too much, negative integer powers (semantics.md, 2);
* stores and constructors, which convert as C does, saturating from floats (4 and 6);
* math.*, which keeps float32 (6).

Everything else is CPython running NumPy. `Invalid` means that this page of the language says
nothing about the program (a type error): such a program is no test. A variable that some path leaves unset raises UnboundLocalError
where it is read so, as in CPython; or is zero there, as GPUs have it (scalars.UNSET_IS_ZERO).
`Unspecified` is raised by the function for arguments whose result no rule fixes: the sign of a nan.
"""

import ast
import functools
import itertools

import numpy as np
from expressions import Expressions
from rewriting import as_type, call, constant_type, has_array, inexact_name, is_literal, load, retuple, sampled, to
from scalars import (
    CONFLICT,
    CONVERT,
    INTEGERS,
    KIND,
    REAL,
    RUNTIME,
    STRONG,
    Array,
    Const,
    Func,
    Invalid,
    Maybe,
    NamedClass,
    Record,
    Tuple,
    Unspecified,
    constancy,
    is_scalar,
    join,
    known,
    may_be_unset,
    mixed,
    need_scalar,
    plain,
    python_operator,
    same,
    type_of,
    unknown,
)

class Loop:
    def __init__(self):
        self.breaks, self.continues = [], []


class Meaning:
    """One program: its functions specialised for types, the rewritten source, the type of the result."""

    def __init__(self, source, name, types):
        self.tree = ast.parse(source)
        self.instances, self.bodies = {}, []
        self.counter = itertools.count()
        self.globals = {
            n.name: Func(n, {}, n.name) for n in self.tree.body if isinstance(n, ast.FunctionDef)
        }
        for n in self.tree.body:
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda):
                self.globals[n.targets[0].id] = Func(n.value, {}, n.targets[0].id)
        classes = [n for n in self.tree.body if isinstance(n, ast.Assign) and not isinstance(n.value, ast.Lambda)]
        for n in classes:
            self.globals[n.targets[0].id] = named_class(n)
        self.inexact = {}  # result index → name of the function
        self.reads_unset = False  # is a variable read that some path leaves unset
        self.main = name
        entry, self.result, _ = self.instance(self.globals[name], tuple(types))
        if not isinstance(self.result, Tuple) or not all(map(is_scalar, self.result)):
            raise Invalid("the program returns no tuple of numbers")
        module = ast.Module([*classes, *self.bodies], [])
        located(module)
        self.module, self.entry = module, entry

    def function(self):
        scope = dict(RUNTIME)
        exec(compile(self.module, "<meaning>", "exec"), scope)
        return scope[self.entry]

    # functions ---------------------------------------------------------------------------------------------

    def instance(self, func, types):
        """(name of the specialised function, type of its result, names it captures)."""
        captured = [n for n in free_names(func.node) if n in func.env and not isinstance(func.env[n], Maybe)]
        inner = {n: known(func.env[n]) if constant_type(func.env[n]) else plain(func.env[n]) for n in captured}
        seen = (*types, *inner.values())
        key = (func.node, seen, tuple(map(constancy, seen)))
        if key in self.instances:
            found = self.instances[key]
            if isinstance(found, Body):
                if not found.returns or captured:
                    raise Invalid("recursion before any result")
                found.recursive = plain(found.returns[0])
                return found.name, found.recursive, []
            return found
        if deleted_cells(func.node):
            raise Invalid("del of what a nested function uses")
        env = dict(inner)
        names = [a.arg for a in func.node.args.args]
        env.update(zip(names, types))
        walker = Body(self, env, func.qualname == self.main and func.qualname in self.globals)
        walker.name = f"{func.qualname}__{next(self.counter)}"
        self.instances[key] = walker
        if isinstance(func.node, ast.Lambda):
            body, result = walker.expr(func.node.body)
            body = [ast.Return(body)]
        else:
            body, end = walker.block(func.node.body)
            if end is not None or not walker.returns:
                raise Invalid("a path without a result")
            result = walker.returns[0]
            for other in walker.returns[1:]:
                result = join(result, other)
            if result is CONFLICT:
                raise Invalid("results without a common type")
            if walker.recursive is not None and any(t != walker.recursive for t in walker.returns):
                raise Invalid("recursion whose types change")
            if len(set(walker.returns)) > 1 or mixed(result):
                body = [ReturnConversion(result).visit(s) for s in body]
            result = plain(result)
        name = walker.name
        captured = [n for n in captured if not isinstance(func.env[n], Func)]
        captured += [n for n in walker.passed_on if n not in captured]
        passed = [n for n, t in zip(names, types) if not isinstance(t, Func)]
        parameters = [ast.arg(n) for n in captured + passed]
        arguments = ast.arguments([], parameters, None, [], [], None, [])
        definition = ast.FunctionDef(name, arguments, body, [], None)
        definition.type_params = []
        self.bodies.append(definition)
        self.instances[key] = name, result, captured
        return self.instances[key]


def named_class(node):
    """The class of `Name = collections.namedtuple("Name", "field field")`."""
    c = node.value
    texts = [a.value for a in getattr(c, "args", []) if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if not isinstance(c, ast.Call) or ast.unparse(c.func) != "collections.namedtuple" or len(texts) != 2:
        raise Invalid("assignment outside of functions")
    return NamedClass(texts[0], tuple(texts[1].split()))


class ReturnConversion(ast.NodeTransformer):
    def __init__(self, result):
        self.result = result

    def visit_Return(self, node):
        return ast.Return(as_type(node.value, self.result))


def local_array(s):
    """The name that is set to a new local array, else None."""
    new = isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and ast.unparse(s.value.func) == "cuda.local.array"
    return s.targets[0].id if new else None


def filled_array(s):
    """The name of the array that `for k in range(…): name[k] = …` fills, else None."""
    store = s.body[0] if isinstance(s, ast.For) else None
    if not isinstance(store, ast.Assign) or not isinstance(store.targets[0], ast.Subscript):
        return None
    name = store.targets[0].value
    read = {n.id for n in ast.walk(store.value) if isinstance(n, ast.Name)}
    return name.id if isinstance(name, ast.Name) and name.id not in read else None


def leaves(body):
    return any(isinstance(n, (ast.Break, ast.Return)) for b in body for n in ast.walk(b))


def located(module):
    """Gives the new nodes a place, which compile wants: all the same, quicker than ast.fix_missing_locations."""
    todo = [module]
    while todo:
        node = todo.pop()
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                todo.append(value)
            elif isinstance(value, list):
                todo.extend(v for v in value if isinstance(v, ast.AST))


def stored(name):
    return isinstance(name.ctx, ast.Store)


def free_names(node):
    body = node.body if isinstance(node.body, list) else [node.body]
    seen = dict.fromkeys(n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name))
    return list(seen)


def deleted_cells(node):
    """Names that are deleted, and that a nested function uses somewhere."""
    deleted = {t.id for n in ast.walk(node) if isinstance(n, ast.Delete) for t in n.targets if isinstance(t, ast.Name)}
    nested = [n for n in ast.walk(node) if isinstance(n, (ast.Lambda, ast.GeneratorExp, ast.FunctionDef)) and n is not node] if deleted else []
    return deleted & {m.id for n in nested for m in ast.walk(n) if isinstance(m, ast.Name)}


class Body(Expressions):
    """Abstract interpretation of one function: every method returns the rewritten node and its type."""

    def __init__(self, meaning, env, is_main=False):
        self.m, self.env, self.is_main = meaning, env, is_main
        self.loops, self.returns = [], []
        self.conditional = 0
        self.items = None  # in a generator expression: the names of its items
        self.passed_on = {}  # what the functions called here capture further out
        self.name = self.recursive = None  # of the specialised function; the type of the calls of itself
        self.inexact_power = None  # a power that may have an error
        self.seen = None  # what tells the type of an expression judged before
        self.known = True  # whether all operands met so far in the expression may be known

    # statements ----------------------------------------------------------------------------------------------

    def block(self, statements):
        """(rewritten statements, types after them or None where the end is not reached)."""
        out = []
        for s, after in zip(statements, [*statements[1:], None]):
            if self.env is None:
                break  # unreachable: Python does not look at it either
            if local_array(s) and local_array(s) != filled_array(after):
                raise Invalid("a local array that is not filled at once: its elements are undefined")
            method = getattr(self, f"s_{type(s).__name__}", None)
            if method is None:
                raise Invalid(type(s).__name__)
            result = method(s)
            out.extend(result if isinstance(result, list) else [result])
        return out or [ast.Pass()], self.env

    @staticmethod
    def meet(envs):
        """The types where these paths meet; None if none comes there."""
        envs = [e for e in envs if e is not None]
        if not envs:
            return None
        met = {}
        for name in dict.fromkeys(itertools.chain(*envs)):
            types = [e[name] for e in envs if name in e]
            maybe = len(types) < len(envs) or any(isinstance(t, Maybe) for t in types)
            t = functools.reduce(join, (t.t if isinstance(t, Maybe) else t for t in types))
            if not maybe:
                met[name] = t
            elif may_be_unset(t):
                met[name] = Maybe(t)
        return met

    def s_Pass(self, s):
        return ast.Pass()

    def s_Expr(self, s):
        return ast.Expr(self.expr(s.value)[0])

    def s_Delete(self, s):
        for target in s.targets:
            if not isinstance(target, ast.Name) or not may_be_unset(self.env.get(target.id)) or isinstance(self.env[target.id], Maybe):
                raise Invalid("del")
            del self.env[target.id]
        return s

    def s_FunctionDef(self, s):
        self.env[s.name] = Func(s, dict(self.env), s.name)
        return []

    def bind(self, target, t):
        """Types of the names in an assignment's target."""
        if isinstance(target, ast.Name):
            self.env[target.id] = t
            return ast.Name(target.id, ast.Store())
        if isinstance(target, ast.Tuple):
            if isinstance(t, Array) and t.ndim == 1:
                raise Invalid("unpacking of an array")
            if not isinstance(t, Tuple) or len(t) != len(target.elts):
                raise Invalid("unpacking")
            return ast.Tuple([self.bind(x, y) for x, y in zip(target.elts, t)], ast.Store())
        raise Invalid("target")

    def s_Assign(self, s):
        if isinstance(s.value, ast.Lambda) and isinstance(s.targets[0], ast.Name):
            name = s.targets[0].id
            self.env[name] = Func(s.value, dict(self.env), name)
            return []
        if isinstance(s.targets[0], ast.Tuple) and isinstance(s.value, ast.Tuple) and len(s.targets) == 1:
            return self.assign_each(s.targets[0], s.value)
        value, t = self.raw(s.value)
        if len(s.targets) != 1:
            if not all(isinstance(x, ast.Name) for x in s.targets):
                raise Invalid("chained targets")
            return ast.Assign([self.bind(x, t) for x in s.targets], value)
        if isinstance(s.targets[0], (ast.Subscript, ast.Attribute)):
            return self.store(s.targets[0], *self.settled(value, t))
        if isinstance(s.targets[0], ast.Tuple):
            value, t = self.settled(value, t)
        return ast.Assign([self.bind(s.targets[0], t)], value)

    def assign_each(self, target, values):
        """x, y = y, x: no tuple is made of up to three, so each variable takes the other's types."""
        of = self.raw if len(values.elts) <= 3 and len(values.elts) == len(target.elts) else self.expr
        parts = [of(x) for x in values.elts]
        value = ast.Tuple([p for p, _ in parts], ast.Load())
        return ast.Assign([self.bind(target, Tuple(t for _, t in parts))], value)

    def store(self, target, value, t):
        place, element = self.place(target)
        if isinstance(element, Record):
            if t != element:
                raise Invalid("store of a record")
            return ast.Assign([place], value)
        if isinstance(element, Array):
            if isinstance(t, Array):
                if t.dtype != element.dtype:
                    raise Invalid("conversion of a slice")
                return ast.Assign([place], value)
            element = element.dtype
        if not is_scalar(element):
            raise Invalid("store")
        self.storable(t, element)
        return ast.Assign([place], to(value, element))

    def place(self, target):
        """(rewritten target, type of what lies there)."""
        if isinstance(target, ast.Attribute):
            place, t = self.attribute(target, ast.Store())
            if isinstance(self.expr(target.value)[1], Tuple):
                raise Invalid("store into a tuple")
            return place, t
        place, t = self.subscript(target, ast.Store())
        if isinstance(self.expr(target.value)[1], Tuple):
            raise Invalid("store into a tuple")
        return place, t

    def s_AugAssign(self, s):
        if isinstance(s.target, ast.Name):
            old = load(s.target.id)
            value, t = self.expr(ast.BinOp(old, s.op, s.value))
            return ast.Assign([self.bind(ast.Name(s.target.id, ast.Store()), t)], value)
        if isinstance(s.target, ast.Attribute) or isinstance(getattr(s.target.slice, "value", None), str):
            return self.field_in_place(s)
        # The place is evaluated once, the array before its subscript: both go to names first.
        array, at = self.expr(s.target.value)
        base, name = (f"_{letter}{next(self.m.counter)}" for letter in "bi")
        rewritten, it = self.index(s.target.slice)
        out = [ast.Assign([ast.Name(base, ast.Store())], array), ast.Assign([ast.Name(name, ast.Store())], rewritten)]
        array = load(base)
        element = self.element(at, it)
        if isinstance(element, Array):
            return [*out, self.slice_in_place(s, array, name, element.dtype)]
        if not is_scalar(element):
            raise Invalid("augmented assignment")
        old = ast.Subscript(array, load(name), ast.Load())
        right, rt = self.expr(s.value)
        value, t = self.binary(type(s.op).__name__, (old, element), (right, rt), s.value)
        self.storable(t, element)
        place = ast.Subscript(array, load(name), ast.Store())
        return [*out, ast.Assign([place], to(value, element))]

    def field_in_place(self, s):
        """record.x op= number."""
        place, element = self.place(s.target)
        old, _ = self.expr(s.target)
        value, t = self.binary(type(s.op).__name__, (old, need_scalar(element)), self.expr(s.value), s.value)
        self.storable(t, element)
        return ast.Assign([place], to(value, element))

    def slice_in_place(self, s, array, index, element):
        """array[index] op= number, as NumPy's arrays have it."""
        value, rt = self.expr(s.value)
        op = type(s.op).__name__
        t = sampled(op, python_operator(op), (element, need_scalar(rt)))
        if op not in ("Add", "Sub", "Mult", "BitAnd", "BitOr", "BitXor"):
            raise Invalid("operator in place")
        if "bfloat16" in (t, element) or KIND[t] not in REAL + "c":
            if t != element:
                raise Invalid("casting")
        elif not np.can_cast(STRONG[t], STRONG[element], "same_kind"):
            raise Invalid("casting")
        value, rt = self.complex_beside((value, rt), element)
        value = self.fitted(value, rt, element, s.value)
        if "bfloat16" in (element, rt) or KIND[element] == "c":  # as scalars: NumPy's loops round complex products otherwise
            return ast.Expr(call(f"_in_place_{op}", ast.Subscript(array, load(index), ast.Load()), value))
        return ast.AugAssign(ast.Subscript(array, load(index), ast.Store()), s.op, value)

    def s_If(self, s):
        test = self.test(s.test)
        before = dict(self.env)
        then, ends = self.block(s.body)
        self.env = before
        other, other_ends = self.block(s.orelse) if s.orelse else ([], before)
        self.env = self.meet([ends, other_ends])
        return ast.If(test, then, other)

    def test(self, e):
        """A condition: CPython tests the parts of these one by one, so that their types do not meet."""
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            return ast.UnaryOp(e.op, self.test(e.operand))
        if isinstance(e, ast.IfExp):
            first = self.test(e.test)
            self.conditional += 1
            node = ast.IfExp(first, self.test(e.body), self.test(e.orelse))
            self.conditional -= 1
            return node
        if isinstance(e, ast.BoolOp):
            parts = []
            for k, x in enumerate(e.values):
                self.conditional += k > 0
                parts.append(self.test(x))
                self.conditional -= k > 0
            return ast.BoolOp(e.op, parts)
        node, t = self.expr(e)
        self.truth(t)
        return node

    def truth(self, t):
        if isinstance(t, Const):
            raise Invalid("a condition that may be known")
        if isinstance(t, (Tuple, Array, Func, Record)) or t is CONFLICT:
            raise Invalid("truth")

    def loop(self, body, step, orelse):
        """A loop as `while True`: step() gives the statements of its head that may leave it."""
        before = self.env
        assigned = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and stored(n)}
        # What is known at the first pass may decide that there is no second one.
        first = before if leaves(body) else {n: unknown(t) if n in assigned else t for n, t in before.items()}
        head = first
        for _ in range(12):
            self.env = dict(head)
            loop = Loop()
            self.loops.append(loop)
            flag = f"_done{next(self.m.counter)}"
            enter, leave_env = step(flag)
            inner, end = self.block(body)
            self.loops.pop()
            met = self.meet([first, end, *loop.continues])
            if met.keys() == head.keys() and all(same(met[n], t) for n, t in head.items()):
                break
            head = met
        else:
            raise Invalid("types that do not settle")
        self.env = dict(leave_env)
        other, after = self.block(orelse) if orelse else ([], self.env)
        self.env = self.meet([after, *loop.breaks])
        out = [
            ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(False)),
            ast.While(ast.Constant(True), [*enter, *inner], []),
        ]
        if orelse:
            out.append(ast.If(load(flag), other, []))
        return out

    def s_While(self, s):
        names = {n.id for n in ast.walk(s.test) if isinstance(n, ast.Name)}
        counts = isinstance(s.test, ast.Compare) and isinstance(s.test.ops[0], ast.Lt) and s.test.comparators[0] != 0
        if not counts and all(constant_type(self.env.get(n, "")) for n in names):
            self.test(s.test)  # Invalid: no pass, perhaps

        def step(flag):
            test = self.test(s.test)
            leave = [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(True)), ast.Break()]
            return [ast.If(ast.UnaryOp(ast.Not(), test), leave, [])], dict(self.env)

        return self.loop(s.body, step, s.orelse)

    def s_For(self, s):
        iterable, items = self.iterable(s.iter)
        if items == "pyint" and self.known_start(s.iter) and leaves(s.body):
            items = Const(items)  # perhaps the first item is the only one
        state = f"_it{next(self.m.counter)}"

        def step(flag):
            leave_env = dict(self.env)
            item = f"_x{next(self.m.counter)}"
            leave = [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(True)), ast.Break()]
            return [
                ast.Assign([ast.Name(item, ast.Store())], call("next", load(state), load("_end"))),
                ast.If(ast.Compare(load(item), [ast.Is()], [load("_end")]), leave, []),
                ast.Assign([self.bind(s.target, items)], load(item) if has_array(items) else as_type(load(item), items)),
            ], leave_env

        return [
            ast.Assign([ast.Name(state, ast.Store())], call("iter", iterable)),
            *self.loop(s.body, step, s.orelse),
        ]

    def known_start(self, node):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "range":
            return False
        return len(node.args) == 1 or is_literal(node.args[0]) or isinstance(self.expr(node.args[0])[1], Const)

    def iterable(self, node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            if name == "range":
                args = [self.expr(a) for a in node.args]
                for _, t in args:
                    if t not in INTEGERS and t not in ("pyint", "pybool"):
                        raise Invalid("range of floats")
                if all(map(is_literal, node.args)):
                    if not range(*map(ast.literal_eval, node.args)):
                        raise Invalid("a loop of no pass")
                elif all(isinstance(t, Const) for _, t in args):
                    raise Invalid("a range that may be known")
                return call("range", *(a for a, _ in args)), "pyint"
            if name == "enumerate":
                inner, t = self.iterable(node.args[0])
                rest = [self.expr(a)[0] for a in node.args[1:]]
                return call("enumerate", inner, *rest), Tuple(("pyint", t))
            if name == "zip":
                parts = [self.iterable(a) for a in node.args]
                return call("zip", *(p for p, _ in parts)), Tuple(t for _, t in parts)
        value, t = self.expr(node)
        if isinstance(t, Array):
            return value, t.dtype if t.ndim == 1 else Array(t.dtype, t.ndim - 1)
        if isinstance(t, Tuple) and t:
            item = functools.reduce(join, t)
            if item is CONFLICT:
                raise Invalid("items without a common type")
            return value, plain(item) if mixed(item) else item
        raise Invalid("iteration")

    def s_Break(self, s):
        self.loops[-1].breaks.append(self.env)
        self.env = None
        return ast.Break()

    def s_Continue(self, s):
        self.loops[-1].continues.append(self.env)
        self.env = None
        return ast.Continue()

    def s_Return(self, s):
        if self.is_main and isinstance(s.value, ast.Tuple):
            parts = []
            for k, e in enumerate(s.value.elts):
                name = inexact_name(e)
                if name:
                    self.m.inexact[k] = name
                power = e if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Pow) else None
                self.inexact_power = power
                parts.append(self.expr(e, inexact_here=bool(name)))
                if power and self.inexact_power is None:
                    self.m.inexact[k] = "operator.pow"
                self.inexact_power = None
            value = ast.Tuple([p for p, _ in parts], ast.Load())
            t = Tuple(t for _, t in parts)
        else:
            value, t = self.raw(s.value)
        self.returns.append(t)
        self.env = None
        return ast.Return(value)

    def s_Match(self, s):
        subject, t = self.expr(s.subject)
        for x in t if isinstance(t, Tuple) else [t]:
            self.truth(x)
        ends, cases, exhaustive = [], [], False
        for case in s.cases:
            before = dict(self.env)
            self.pattern(case.pattern, t)
            guard = self.test(case.guard) if case.guard else None
            body, end = self.block(case.body)
            ends.append(end)
            cases.append(ast.match_case(case.pattern, guard, body))
            self.env = before
            if guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                exhaustive = True
                break
        if not exhaustive:
            ends.append(dict(self.env))
        self.env = self.meet(ends)
        return ast.Match(subject, cases)

    def pattern(self, p, t):
        if isinstance(p, ast.MatchValue):
            need_scalar(t)
        elif isinstance(p, ast.MatchOr):
            for q in p.patterns:
                self.pattern(q, t)
        elif isinstance(p, ast.MatchAs):
            if p.pattern is not None:
                self.pattern(p.pattern, t)
            if p.name:
                self.env[p.name] = t
        elif isinstance(p, ast.MatchSequence):
            if not isinstance(t, Tuple) or len(t) != len(p.patterns):
                raise Invalid("pattern")
            for q, x in zip(p.patterns, t):
                self.pattern(q, x)
        else:
            raise Invalid("pattern")



__all__ = ["CONVERT", "Body", "Invalid", "Meaning", "Unspecified", "is_literal", "join", "retuple", "type_of"]
