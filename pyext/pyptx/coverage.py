"""A plugin of coverage.py: lines of kernels and device functions that ran compiled on the host device count as executed.

    [run]
    plugins = pyptx.coverage

In: the lines that launches came to. Out: what coverage.py would have seen if they had run as Python (docs/guide/debugging.md).
"""

import ast
import os
import sys

from pyptx import _pyptx


def coverage_init(registry, options):
    """coverage.py calls this before the program begins."""
    _pyptx._cover(os.path.join(os.path.dirname(os.path.abspath(__file__)), ""))


def _jumps(file, running):
    """Pairs of lines, as coverage.py finds them in the source. A number below 0 is the beginning or the end of the function at that line."""
    from coverage.exceptions import CoverageException
    from coverage.python import PythonFileReporter

    try:
        return sorted(pair for pair in PythonFileReporter(file, running).arcs() if max(pair) > 0)
    except CoverageException:  # no source, or none that parses
        return []


def _walks(file, lines):
    """Lines in the order in which a trace would have them: all in turn; where coverage.py counts branches, each by itself, and each jump
    between two that have run."""
    coverage = sys.modules.get("coverage")
    running = coverage and coverage.Coverage.current()
    if not running or not running.get_option("run:branch"):
        return [tuple(sorted(lines))]
    if file not in _known:
        _known[file] = set(), _jumps(file, running)
    known, jumps = _known[file]
    known |= lines
    jumps = [pair for pair in jumps if not lines.isdisjoint(pair) and all(n < 0 or n in known for n in pair)]
    return [*((n,) for n in lines), *jumps]


_known, _programs = {}, {}


def _program(file, walk):
    """A `pass` at each line, in a function of its own where the walk begins or ends one."""

    def place(line):
        return {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}

    body = [ast.Pass(**place(line)) for line in walk if line > 0]
    for first in [-line for line in walk if line < 0]:
        none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        call = ast.copy_location(ast.Expr(ast.Call(ast.Name("f", ast.Load()), [], [])), body[0])
        body = [ast.FunctionDef("f", none, body, [], type_params=[], **place(first)), call]
    return compile(ast.fix_missing_locations(ast.Module(body, [])), file, "exec")


def _tell(found):
    """found: {file: {line, …}}. A program that passes these lines runs, so that whoever traces sees them, by their own rules about files."""
    for file, lines in found.items():
        for walk in _walks(file, lines):
            if (file, walk) not in _programs:
                _programs[file, walk] = _program(file, walk)
            exec(_programs[file, walk], {"__name__": "__main__"})
