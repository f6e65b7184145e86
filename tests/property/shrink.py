"""Makes a failing program small: statements go, expressions become one of their parts, as long as it still fails.

In: a Failure. Out: the Failure of a program no step makes smaller, and the text of a script that
shows it. Only programs that still have a meaning are tried, so what is left is a true counterexample.
"""

import ast
import contextlib
import copy
import os
import signal
import threading
import warnings
from pathlib import Path

import differential
import kinds
from scalars import Array, Invalid, Named, is_date

BLOCKS = ("body", "orelse")


def smaller(tree):
    """Every program that is one step smaller, largest steps first."""
    yield from without_statements(tree)
    yield from without_results(tree)
    yield from with_parts(tree)


def edited(tree, number, edit):
    """A copy of the tree, with edit applied to the node that ast.walk meets as that number."""
    fresh = copy.deepcopy(tree)
    for k, node in enumerate(ast.walk(fresh)):
        if k == number:
            edit(node)
            return fresh
    raise AssertionError("no such node")


def without_statements(tree):
    for number, node in enumerate(ast.walk(tree)):
        for field in BLOCKS:
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            for k, statement in enumerate(block):
                if isinstance(statement, ast.FunctionDef) and statement.name == "prog":
                    continue

                def remove(n, field=field, k=k):
                    del getattr(n, field)[k]
                    if field == "body" and not n.body and not isinstance(n, ast.Module):
                        n.body.append(ast.Pass())

                if not isinstance(statement, ast.Pass) or len(block) > 1:
                    yield edited(tree, number, remove)
                for part in BLOCKS:
                    inner = getattr(statement, part, None)
                    if isinstance(inner, list) and inner and not isinstance(statement, ast.FunctionDef):

                        def lift(n, field=field, k=k, part=part):
                            getattr(n, field)[k : k + 1] = getattr(getattr(n, field)[k], part)

                        yield edited(tree, number, lift)
        if isinstance(node, ast.Match) and len(node.cases) > 1:
            for k in range(len(node.cases)):
                yield edited(tree, number, lambda n, k=k: n.cases.pop(k))


def without_results(tree):
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) > 1:
            for k in range(len(node.value.elts)):
                yield edited(tree, number, lambda n, k=k: n.value.elts.pop(k))


def parts(e):
    """Expressions that may stand where e stands."""
    for child in ast.iter_child_nodes(e):
        if isinstance(child, ast.expr) and not isinstance(child, (ast.Slice, ast.Lambda)):
            yield child
        if isinstance(child, ast.Lambda):
            yield child.body
    if isinstance(e, (ast.BoolOp, ast.Compare, ast.Call, ast.Tuple)):
        for field in ("values", "args", "elts", "comparators"):
            items = getattr(e, field, [])
            for k in range(len(items)):
                if len(items) > 2 or isinstance(e, (ast.Call, ast.Tuple)) and len(items) > 1:
                    fresh = copy.deepcopy(e)
                    del getattr(fresh, field)[k]
                    if isinstance(e, ast.Compare):
                        del fresh.ops[k]
                    yield fresh
    if not isinstance(e, ast.Constant) and not (isinstance(e, ast.UnaryOp) and isinstance(e.operand, ast.Constant)):
        yield ast.Constant(1)
    if isinstance(e, ast.Constant) and e.value not in (0, 1):
        yield ast.Constant(1)


def with_parts(tree):
    for number, node in enumerate(ast.walk(tree)):
        for field, value in ast.iter_fields(node):
            places = (
                [(field, None, value)]
                if isinstance(value, ast.expr)
                else [(field, k, v) for k, v in enumerate(value)]
                if isinstance(value, list)
                else []
            )
            for name, k, e in places:
                if not isinstance(e, ast.expr) or isinstance(getattr(e, "ctx", None), ast.Store):
                    continue
                if isinstance(node, ast.Call) and name == "func" or name in ("targets", "target"):
                    continue
                if isinstance(node, (ast.MatchValue, ast.arguments)):
                    continue
                for part in parts(e):

                    def replace(n, name=name, k=k, part=part):
                        fresh = copy.deepcopy(part)
                        if k is None:
                            setattr(n, name, fresh)
                        else:
                            getattr(n, name)[k] = fresh

                    yield edited(tree, number, replace)


@contextlib.contextmanager
def limited(seconds):
    """TimeoutError after so long, in the main thread: a loop whose step was cut away does not end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(signum, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, over)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)


def failure_of(source, failure):
    """The failure of the changed program on the same arguments, if it is one of the same kind."""
    old = failure.case
    try:
        case = old.remade(source)
        with limited(5):
            case.reference = case.expected()
    except (Invalid, TimeoutError, SyntaxError, ValueError, TypeError, IndexError, KeyError, AssertionError, RecursionError):
        return None
    found = differential.check([case], **failure.options)
    if not found or found[0].kind != failure.kind:
        return None
    if failure.kind == "exception" and found[0].text.split(":")[:2] != failure.text.split(":")[:2]:
        return None
    return found[0]


def shrunk(failure, attempts=1500):
    """The same failure in the smallest program that the steps reach."""
    if failure.kind == "batch":
        return failure
    tree = ast.parse(failure.case.program.source)
    progress = True
    while progress and attempts > 0:
        progress = False
        for candidate in smaller(tree):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.fix_missing_locations(candidate)
                try:
                    source = ast.unparse(candidate) + "\n"
                except (ValueError, AttributeError, IndexError):
                    continue
                if len(source) >= len(failure.case.program.source):
                    continue
                attempts -= 1
                found = failure_of(source, failure)
            if found is not None:
                failure, tree, progress = found, ast.parse(source), True
                break
            if attempts <= 0:
                break
    return failure


def the_device():
    """What has a script use the device of this process, where the environment's PYPTX_DEVICE does not say it."""
    if "PYPTX_ON_PTX" not in os.environ:
        return []
    tests = Path(__file__).resolve().parents[1]
    return ["import sys", f"sys.path[:0] = [{str(tests)!r}, {str(tests / 'api')!r}]", "import ptx_on_cpu", "ptx_on_cpu.choose()"]


def reproducer(failure):
    """A script that runs the one program on the device and prints its results beside what is right."""
    case = failure.case
    types = case.program.parameters
    lines = [f'"""{failure}"""', "import collections", "import math", "import numpy as np", *the_device(), "import pyptx", "from pyptx import cuda", ""]
    lines += [case.program.source]
    rows = case.rows
    names = list(types)

    def argument(n, t):
        if isinstance(t, Named):
            return n
        return f"{n}[i]" if isinstance(t, Array) or t not in kinds.WEAK_CAST else f"{kinds.WEAK_CAST[t]}({n}[i])"

    arguments = [argument(n, t) for n, t in types.items()]
    results = [f"r{k}" for k in range(len(case.meaning.result))]
    head = ["n", *names, *results]
    lines += [f"@cuda.jit(fma=False, {', '.join(f'{k}={v!r}' for k, v in failure.options.items())})"]
    lines += [f"def kernel({', '.join(head)}):", "    i = cuda.grid(1)", "    if i < n:"]
    lines += [f"        r = prog({', '.join(arguments)})"]
    shapes = ["int64" if is_date(t) else kinds.STORED.get(t, t) for t in case.meaning.result]
    lines += [f"        r{k}[i] = {kinds.row(t).result.format(f'r[{k}]')}" for k, t in enumerate(case.meaning.result)]
    lines += ["", *(f"{n} = {written(case.arguments[n], t)}" for n, t in types.items())]
    wanted = case.reference[0]
    lines += [f"r{k} = np.zeros({rows}, {str(kinds.memory(t))!r})" for k, t in enumerate(shapes)]
    lines += [f"kernel[1, {rows}]({rows}, {', '.join(names + results)})", "cuda.synchronize()"]
    for k, (w, t) in enumerate(zip(wanted, shapes)):
        lines += [f"want = {kinds.literal(w, t)}", f"print('result {k}')", f"for i in range({rows}):"]
        lines += [f"    print(i, r{k}[i], want[i], '' if repr(r{k}[i]) == repr(want[i]) else '<-- differs')"]
    for n, want in case.reference[1].items():
        lines += [f"want = {kinds.literal(want, types[n].dtype)}", f"for i in np.ndindex({n}.shape):"]
        lines += [f"    if repr({n}[i]) != repr(want[i]):", f"        print('{n}', i, {n}[i], want[i], '<-- differs')"]
    if failure.kind == "types":
        lines += ["print(*kernel.inspect_types().values())"]
    return "\n".join(lines) + "\n"


def written(argument, t):
    """An expression of one argument of the script's kernel."""
    if isinstance(t, Named):
        return kinds.scalar_literal(argument, t)
    return kinds.literal(argument, t.dtype if isinstance(t, Array) else kinds.STORED.get(t, t))


def store(failure, folder="build/failures"):
    """Writes the reproducer; its path."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    seed = "".join(c if c.isalnum() else "_" for c in str(failure.case.program.seed))
    path /= f"{failure.kind}_{seed}.py"
    path.write_text(reproducer(failure))
    return path
