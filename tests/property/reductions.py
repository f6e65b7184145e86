"""Generator expressions that a function consumes, sum(x * x for x in s if x > 0): the part of Expressions that knows of them."""

import ast

from rewriting import call, has_array, is_literal, load, spec
from scalars import CONFLICT, RUNTIME, Invalid, Unspecified, convert, is_scalar, join, need_scalar, plain

REDUCTIONS = ("sum", "any", "all", "min", "max")


def converted_items(items, t):
    return (convert(x, t) for x in items)


def added(step, items, start, t):
    total = convert(start, t)
    for x in items:
        total = convert(step(total, x), t)
    return total


def best(choose, items, t):
    items = list(items)
    if not items:
        raise Unspecified("the best of nothing")
    return convert(choose(*items) if len(items) > 1 else items[0], t)


RUNTIME |= {"_items": converted_items, "_added": added, "_best": best}


class Reductions:
    def reduction(self, name, e):
        """name(x for y in z if w), sum(x for y in z, start)."""
        if len(e.args) > 1 and name != "sum" or e.keywords or len(e.args) > 2 or len(e.args[0].generators) != 1:
            raise Invalid("such a generator expression")
        (loop,), outer = e.args[0].generators, self.env
        items, t = self.iterable(loop.iter)
        start, start_type = self.expr(e.args[1]) if len(e.args) > 1 else (ast.Constant(0), "pyint")
        if not has_array(t):
            t = plain(t)
            items = call("_items", items, call("_types_of", ast.Constant(spec(t))))
        self.env, items_outside = dict(outer), self.items
        self.conditional += 1
        target = self.bind(loop.target, t)
        self.items = {*(self.items or ()), *(n.id for n in ast.walk(target) if isinstance(n, ast.Name))}
        tests = [self.test(x) for x in loop.ifs]
        item, item_type = self.expr(e.args[0].elt)
        self.conditional -= 1
        self.env, self.items = outer, items_outside
        generator = ast.GeneratorExp(item, [ast.comprehension(target, items, tests, 0)])
        if name in ("any", "all"):
            self.truth(item_type)
            node, t = call(name, generator), "pybool"
        elif name == "sum":
            node, t = self.added(generator, plain(need_scalar(item_type)), start, plain(need_scalar(start_type)))
        else:
            node, t = self.best(name, generator, item_type, loop)
        self.known = False
        return node, t

    def added(self, generator, item_type, start, t):
        for _ in range(4):
            step, result = self.binary("Add", (load("_total"), t), (load("_item"), item_type))
            grown = join(t, result)
            if not is_scalar(grown):
                raise Invalid("a sum without a type")
            if grown == t:
                break
            t = plain(grown)
        step = ast.Lambda(ast.arguments([], [ast.arg("_total"), ast.arg("_item")], None, [], [], None, []), step)
        return call("_added", step, generator, start, call("_types_of", ast.Constant(spec(t)))), t

    def best(self, name, generator, item_type, loop):
        """A kernel raises ValueError where there are no items, for all of a launch: those are none of these programs."""
        t = plain(need_scalar(item_type))
        dynamic = isinstance(loop.iter, ast.Call) and not all(map(is_literal, loop.iter.args))
        if loop.ifs or dynamic:
            raise Invalid("perhaps no items")
        self.need_real([(None, t)])
        t = join("pybool", t)
        if t is CONFLICT:
            raise Invalid("no common type")
        t = plain(t)
        return call("_best", load(f"_{name}"), generator, call("_types_of", ast.Constant(spec(t)))), t


__all__ = ["REDUCTIONS", "Reductions"]
