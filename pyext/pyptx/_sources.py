"""Where `pyptx compile` finds kernels: a Python file, a module by its name, a notebook, or the
standard input.

Compile errors show source lines through linecache, so what is no file is entered there."""

import ast
import importlib
import importlib.machinery
import importlib.util
import json
import linecache
import os
import re
import sys
import traceback
import types
from pathlib import Path


class Usage(Exception):
    """The command line is wrong: the text says how."""


def suggestion(name, known):
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


# --- what the command line names ---


def is_module_name(text):
    """'package.module', which is no file: a name of a file has a suffix."""
    parts = text.split(".")
    return all(part.isidentifier() for part in parts) and parts[-1] not in ("py", "ipynb")


def split_source(text):
    """'dir/file.py:a,b' → (Path, ['a', 'b']); a str for '-' and for a module's name. A colon that
    belongs to the path is not a separator."""
    path, names = Path(text), None
    if not path.exists() and ":" in text:
        head, _, names = text.rpartition(":")
        text, path = head, Path(head)
    text = "-" if text == "<stdin>" else text
    wanted = [name.strip() for name in (names or "").split(",") if name.strip()]
    if text == "-" or (not path.exists() and is_module_name(text)):
        path = text
    elif not path.is_file():
        where = "is a folder" if path.is_dir() else "does not exist"
        raise Usage(f"{path}: {where}; give a Python file, as in vecadd.py:add, a module, as in package.vecadd:add, or - for the standard input")
    if names is not None and not wanted:
        raise Usage(f"{text}:: no kernel is named after the colon")
    if len(set(wanted)) < len(wanted):
        raise Usage(f"{text}: a kernel is named twice")
    return path, wanted


# --- loading ---

def module_name(path):
    """(name, folder for sys.path): 'pkg.mod' for a file in a package, so that its relative imports
    work."""
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    if path.stem == "__init__" and len(parts) > 1:
        parts.pop()
    name = ".".join(parts)
    # A file called numpy.py or __main__.py must not pose as the module of that name.
    if len(parts) == 1 and (name in sys.modules or name in sys.stdlib_module_names or not name.isidentifier()
                            or name.startswith("__")):
        name = "pyptx_compiled_" + re.sub(r"\W", "_", name)
    return name, folder


def load_file(path):
    path = path.resolve()
    name, folder = module_name(path)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    if "." in name:
        importlib.import_module(name.rpartition(".")[0])
    loader = importlib.machinery.SourceFileLoader(name, str(path))  # whatever the file's suffix is
    spec = importlib.util.spec_from_file_location(name, str(path), loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def import_named(name):
    """The module of that name, as `python -m` in this folder would find it."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise Usage(f"there is no file and no module '{name}': give a Python file, as in vecadd.py:add, or a module that can be imported from here") from None
        raise


def run_texts(name, texts):
    """A module of these [(file, source text)], run one after the other."""
    module = types.ModuleType(name)
    module.__dict__["__file__"] = texts[0][0] if texts else name
    sys.modules[name] = module
    for file, text in texts:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), vars(module))
    return module


_MAGIC = re.compile(r"(\s*)(?:[%!?].*|.*\?\s*|[\w\s.,*()\[\]]+=\s*[%!].*)")


def _without_magics(source):
    """A cell without lines of IPython's own language (%magic, !command, x = !command, name?): they
    are empty, or pass where they may be all of a block."""
    try:
        ast.parse(source)
        return source  # a % may stand first in a line of Python too
    except (SyntaxError, ValueError):
        lines = [(line, _MAGIC.fullmatch(line)) for line in source.split("\n")]
        return "\n".join((found[1] and found[1] + "pass") if found else line for line, found in lines)


def cells(path):
    """[(name, source)] of a notebook's code cells, as Python; cells of %%magic are left out."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        found = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in found]
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise Usage(f"{path}: this is no notebook that can be read ({type(error).__name__}: {error})") from None
    out = []
    for number, source in enumerate(sources, 1):
        if not source.lstrip().startswith("%%"):
            out.append((f"{path}, code cell {number}", _without_magics(source) + "\n"))
    return out


def load(source):
    if source == "-":
        return run_texts("pyptx_compiled_stdin", [("<stdin>", sys.stdin.read())])
    if isinstance(source, str):
        return import_named(source)
    if source.suffix == ".ipynb":
        return run_texts("pyptx_compiled_notebook", cells(source))
    return load_file(source)


def files_of(source):
    """The beginning of the names of the files whose frames a traceback shows."""
    if source == "-":
        return "<stdin>"
    if isinstance(source, str):
        spec = importlib.util.find_spec(source)
        return os.path.realpath(spec.origin) if spec and spec.origin else source
    return str(source) if source.suffix == ".ipynb" else os.path.realpath(source)


def is_of(frame, files):
    name = frame.tb_frame.f_code.co_filename
    return os.path.realpath(name) == files or name.startswith(files)


def load_or_explain(source):
    """The module, or Usage with the traceback from the source on: this program's own frames and
    importlib's are left out."""
    from pyptx import _pyptx
    from pyptx.errors import CompileError

    said = "the standard input" if source == "-" else source
    try:
        # Kernels with declared types are compiled when they are decorated: for the host, which is
        # always there.
        with _pyptx._device("host"):
            return load(source)
    except (CompileError, Usage):  # of an eager signature: a compile error like any other
        raise
    except SystemExit as error:
        raise Usage(f"{said}: ended the program while it was loaded (exit status {error.code}); "
                    "guard what is not definitions with: if __name__ == '__main__':") from None
    except Exception as error:
        frame, files = error.__traceback__, files_of(source)
        while frame and not is_of(frame, files):
            frame = frame.tb_next
        lines = traceback.format_exception(type(error), error.with_traceback(frame), frame, chain=False)
        raise Usage(f"{said} cannot be loaded:\n" + "".join(lines).rstrip()) from None


# --- kernels of a module ---


def is_dispatcher(value):
    from pyptx import _pyptx

    return isinstance(value, _pyptx.Dispatcher)


def is_function(value):
    return is_dispatcher(value) or isinstance(value, type(load))


def is_own(value, module):
    return getattr(getattr(value, "py_func", value), "__module__", None) == module.__name__


def find_kernels(module, path, wanted):
    """{name: function}: those named, or the @cuda.jit kernels that the file defines."""
    own = {name: value for name, value in vars(module).items() if is_function(value) and is_own(value, module)}
    if not wanted:
        found = {}
        for name, value in own.items():
            if is_dispatcher(value) and not value.device and not any(value is v for v in found.values()):
                found[name] = value
        if not found:
            hint = f"; name a function, as in {path}:{next(iter(own))}" if own else ""
            raise Usage(f"{path} has no @cuda.jit kernel{hint}")
        return found
    return {name: find_kernel(module, path, name, own) for name in wanted}


def find_kernel(module, path, name, own):
    value = module
    for part in name.split("."):  # Class.method, for kernels that are static methods
        value = getattr(value, part, None)
        if value is None:
            raise Usage(f"{path} has no kernel '{name}'{suggestion(name, list(own))}")
    if not is_function(value):
        raise Usage(f"'{name}' in {path} is a {type(value).__name__}, not a function")
    return value
