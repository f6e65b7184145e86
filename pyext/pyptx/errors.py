"""The exceptions of pyptx.

A compile error is a :class:`CompileError` and also the builtin that fits: ``CompileTypeError`` is a ``TypeError``. It has
``code`` ("PT204"), ``filename``, ``lineno``, ``offset`` (column, from 1), ``end_lineno``, ``end_offset`` and ``text`` (the source line).

A remark about a kernel that compiles is an :class:`Advice`, a warning.
"""

import os
import sys
import warnings


class CompileError(Exception):
    """A kernel cannot be compiled. str() shows where, why and what to do.

    Example:

        try:
            cuda.compile_ptx(lambda x: [x], "void(int32)")
        except pyptx.CompileError as error:
            print(error.code)
    """

    code: str | None = None
    filename: str | None = None
    lineno: int | None = None
    offset: int | None = None
    end_lineno: int | None = None
    end_offset: int | None = None
    text: str | None = None

    def __str__(self):
        return str(self.args[0]) if self.args else ""


def _compile_error(base):
    # The class attributes above must not hide SyntaxError's own members, which tracebacks read.
    own = {n: getattr(base, n) for n in ("filename", "lineno", "offset", "end_lineno", "end_offset", "text") if hasattr(base, n)}
    own.update(__module__=__name__, __doc__=f"A CompileError that is {base.__name__} too.")
    return type("Compile" + base.__name__, (CompileError, base), own)


CompileSyntaxError = _compile_error(SyntaxError)
CompileTypeError = _compile_error(TypeError)
CompileValueError = _compile_error(ValueError)
CompileNameError = _compile_error(NameError)
CompileUnboundLocalError = _compile_error(UnboundLocalError)
CompileAttributeError = _compile_error(AttributeError)
CompileIndexError = _compile_error(IndexError)
CompileOverflowError = _compile_error(OverflowError)
CompileRecursionError = _compile_error(RecursionError)
CompileNotImplementedError = _compile_error(NotImplementedError)
CompileRuntimeError = _compile_error(RuntimeError)
CompileMemoryError = _compile_error(MemoryError)


class CheckError(Exception):
    """What a launch with ``check=`` has found (docs/guide/debugging.md). str() shows both places, with both threads, and what to do.

    ``thread`` and ``block`` are of the thread that came second, ``filename``, ``lineno``, ``offset`` (column, from 1) and ``text`` (the source
    line) its place, the innermost one outside of pyptx; ``array`` is the element ("tile[3, 4]"), or None. ``other_thread``, ``other_block``, ``other_filename`` and
    ``other_lineno`` are of the other side, or None. The launch has ended early; the next one works.

    Example:

        @cuda.jit(check="race")
        def shift(x):
            i = cuda.grid(1)
            x[i] = x[i + 1]

        try:
            shift[1, 64](np.zeros(65))
        except pyptx.CheckError as error:
            print(error.array, error.lineno, error.other_lineno)
    """

    thread = block = other_thread = other_block = None
    filename = lineno = offset = end_lineno = end_offset = text = None
    other_filename = other_lineno = None
    array: str | None = None

    def __str__(self):
        return str(self.args[0]) if self.args else ""


class RaceError(CheckError):
    """Two threads use one element without an order, and one of them writes it: check="race"."""


class SyncError(CheckError):
    """A barrier that not all threads of the block reach, or a warp operation whose lanes are not there: check="sync"."""


class UnsetError(CheckError):
    """An element is read before anything has written it: check="init"."""


class NonFiniteError(CheckError, ArithmeticError):
    """An operation on finite numbers makes a nan or an infinity: check="nan"."""


class WrapError(CheckError, OverflowError):
    """An integer does not fit: check="overflow"."""


class KernelTimeoutError(TimeoutError):
    """A launch on the host device has run for longer than its timeout (docs/guide/debugging.md);
    str() shows where a thread was, and the calls that led there. Or this process has waited for
    longer than that for a launch on a GPU, where nothing can stop it.

    ``kernel`` is its name and ``timeout`` the limit in seconds; ``filename``, ``lineno``,
    ``offset`` (column, from 1) and ``text`` (the source line) are the place, the loop that the
    thread was in. ``thread`` and ``block`` are None where they are not known: not all threads of a
    block have one of their own. On the host device the launch has ended early, so its arrays are
    written in part; the next one works. On a GPU the kernel still runs, and no place is known.

    Example:

        @cuda.jit
        def wait(flag):
            while flag[0] == 0:
                pass

        try:
            wait.configure(1, 32, timeout=0.1)(np.zeros(1, np.int32))
        except pyptx.KernelTimeoutError as error:
            print(error.kernel, error.lineno)
    """

    kernel = timeout = thread = block = None
    # class attributes would hide those of OSError
    lineno = offset = end_lineno = end_offset = text = None

    def __str__(self):
        return str(self.args[0]) if self.args else ""


class Advice(UserWarning):
    """Something that the compiler noticed in a kernel that compiles, or that a launch shows (PT811 and above): a warning, once for each
    place in a process. The place of a launch's advice is the line that launches.

    ``code`` ("PT801"), ``message``, ``file``, ``line``, ``column`` (from 1) and ``help``; str() shows the source with a caret.
    ``warnings.simplefilter("error", pyptx.Advice)`` or PYPTX_ADVICE=error raises it where the kernel is compiled, PYPTX_ADVICE=0 omits it.

    Example:

        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("error", pyptx.Advice)
    """

    code = message = file = line = column = help = None
    _about = None  # which kernel, of advice about a launch: one line may launch several

    def __str__(self):
        return str(self.args[0]) if self.args else ""


def shown_name(file):
    """What messages call a source file: the notebook's name of a cell, "Cell In[3]", as IPython's own tracebacks have it; else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    number = shell and shell.compile._filename_map.get(file)
    return None if number is None else f"Cell In[{number}]"


def advice_class():
    """Advice, or what pyptx.numba.install() has in its place: a class derived from it that programs' filters for Numba's warnings know too."""
    install = sys.modules.get("pyptx.numba._install")
    return install.advice_class() if install else Advice


_advised = {}
_OF_NAMES = {"PT816"}  # of which one place may have several, each for a name


def advice_mode():
    """What PYPTX_ADVICE says: "0", "1" (also of "port", which adds a report of pyptx/_port.py) or "error"."""
    mode = os.environ.get("PYPTX_ADVICE") or "1"
    if mode not in ("0", "1", "error", "port"):
        raise ValueError(f"PYPTX_ADVICE is '{mode}': write 0 (no advice), 1 (warnings), error (raised) or port (places that Numba types differently)")
    return "1" if mode == "port" else mode


def show_advice(advice, module):
    """Warns of what was not said yet; `module` is the kernel's, for the filters of warnings."""
    mode = advice_mode()
    for a in advice if mode != "0" else ():
        if mode == "error":
            raise a
        place = (a.code, a.file, a.line, a.column, a.message if a.code in _OF_NAMES else a._about)
        if _advised.setdefault(place, a) is not a:
            continue
        a.__class__ = advice_class()
        try:
            warnings.warn_explicit(a, Advice, a.file or "<unknown>", a.line or 1, module=module)
        except BaseException:  # a filter has made it an error, which the next compilation raises too
            _advised.pop(place, None)
            raise


_places = {}


def advise(code, what):
    """Advice of a row of ir/base/errors.def about `what`, at the caller outside of pyptx and NumPy: once a process for each `what`."""
    import sys

    from pyptx import _pyptx

    if advice_mode() == "0" or (_places.get((code, what)) and advice_mode() != "error"):
        return
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("pyptx", "numpy"):
        frame = frame.f_back
    message, remedy = _pyptx._advice_row(code)
    message %= what
    file, line = frame.f_code.co_filename, frame.f_lineno
    advice = advice_class()(f"{code}: {message}\n  {os.path.basename(file)}:{line}, in {frame.f_code.co_name}\n  help: {remedy}")
    advice.code, advice.message, advice.help, advice.file, advice.line = code, message, remedy, file, line
    if advice_mode() == "error":
        raise advice
    _places[code, what] = file, line
    try:
        warnings.warn_explicit(advice, Advice, file, line, module=frame.f_globals.get("__name__"))
    except BaseException:
        del _places[code, what]
        raise


class CacheWarning(RuntimeWarning):
    """The disk cache cannot be used as requested; kernels are compiled nevertheless. Each reason is reported once in a process."""


class DriverError(RuntimeError):
    """The CUDA driver or the device failed. ``call`` is the driver's entry point, ``result`` and ``result_name`` its result."""

    call = result = result_name = None


class CudaAPIError(DriverError):
    """A call of the driver failed."""


class NoDriverError(DriverError):
    """There is no NVIDIA driver, or it is too old."""


class NoDeviceError(DriverError):
    """There is no such GPU."""


class OutOfMemoryError(CudaAPIError, MemoryError):
    """The device has no memory left."""


class ContextLostError(CudaAPIError):
    """A kernel failed before (illegal address, trap), and with it the GPU's context: every call fails.

    A new process works. In this one `device.reset()` makes a new context, without the arrays, streams
    and graphs of the old one; after some faults the driver refuses that too. Also raised for what was
    made before a reset.
    """


class ModuleError(CudaAPIError):
    """The driver refused compiled code."""


class LinkFileError(ModuleError, ValueError):
    """A name given to link= does not say what kind of code the file holds."""


class LinkFileNotFoundError(ModuleError, FileNotFoundError):
    """There is no such file as link= names."""


CudaSupportError = DriverError
NumbaPerformanceWarning = Advice  # what programs for Numba silence


class _Plain(str):
    """A KeyError's message of several lines, which KeyError would show by its repr: in quotes, in one line."""

    __repr__ = str.__str__


# --- what checked launches find: numbers are those of RtFinding in runtime/abi.h

_FOUND = (None, RaceError, UnsetError, SyncError, SyncError, SyncError, SyncError, SyncError, SyncError, NonFiniteError, WrapError, SyncError)
_DID = ("reads it", "writes it", "changes it atomically")
_HAS_DONE = ("read it", "wrote it", "changed it atomically")


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _of_program(chain):
    """The index of the innermost place outside of pyptx's own functions, 0 if there is none."""
    return next((k for k, place in enumerate(chain) if not place[0].startswith((_PACKAGE, "<pyptx:"))), 0)


def _source_lines(chain, lead):
    """The lines of a message that show a place and the calls that led to it: file:line:column, the line, a caret under it."""
    if not chain:
        return [f"  {lead}at a place that is not known"]
    out = []
    for k, place in enumerate(chain[_of_program(chain) :]):
        out += _place_lines(place, "called from " if k else lead)
    return out


def _place_lines(place, lead):
    import linecache

    file, line, column, end_line, end_column, function = place
    out = [f"  {lead}{shown_name(file) or file}:{line}:{column + 1}, in {function}"]
    text = linecache.getline(file, line).rstrip()
    if text.strip():
        indent = len(text) - len(text.lstrip())
        end = end_column if end_line == line and end_column > column else len(text)
        out.append("    " + text.lstrip())
        if end_column > 0:  # columns are counted in bytes
            start, end = (len(text.encode()[:c].decode(errors="replace")) for c in (column, end))
            out.append("    " + " " * max(start - indent, 0) + "^" * max(end - max(start, indent), 1))
    return out


def _who(thread, block):
    return f"thread {tuple(thread)} of block {tuple(block)}"


def _race_text(detail, text, here, there, mine, other, same_block):
    kind, their_kind = detail & 3, detail >> 4 & 3  # 4, a relaxed read, is a read
    order = "no barrier between" if same_block else "no order between the two blocks"
    yield f"race on {text}: {mine} {_DID[kind]}, {other} {_HAS_DONE[their_kind]}, and there is {order}"
    yield from _source_lines(here, "")
    yield from _source_lines(there, f"{_HAS_DONE[their_kind]}: ")
    same = here and there and here[0] == there[0]
    if same:
        yield ("  help: several threads do this to one element: use cuda.atomic (cuda.atomic.add for +=), give each thread an element of its "
               "own, or let one thread do it")
    elif not same_block:
        yield ("  help: blocks of one launch run in any order: give each block elements of its own, use cuda.atomic, "
               "or launch a second kernel for the second step")
    elif here and there and here[0][0::5] == there[0][0::5] and here[0][1] == there[0][1] and not (kind and their_kind):
        yield ("  help: one statement reads what it writes in another thread: read from one array and write to another, or read into a "
               "variable, put cuda.syncthreads() behind that, and write then")
    elif kind and their_kind:
        yield "  help: let one thread write the element, use cuda.atomic, or put cuda.syncthreads() between the two"
    else:
        yield "  help: put cuda.syncthreads() between the two, where all threads of the block reach it"


def _sync_text(finding, here, there, mine, other, lane, from_lane, same_block):
    if finding in (3, 4):
        yield f"{mine} waits at a barrier that {other} does not reach"
        yield from _source_lines(here, "waits: ")
        yield from _source_lines(there, "has ended: " if finding == 3 else "is elsewhere: ")
        if same_block:
            yield "  help: every thread of a block must reach the same barrier: put it behind the if or the loop, and let no thread return before it"
        else:
            yield "  help: every block of the grid must reach its barrier: put sync() behind the if or the loop, and let no block return before it"
    elif finding == 5:
        yield f"{mine}, lane {lane} of its warp, waits for lane {from_lane}, which its mask names and which is elsewhere"
        yield from _source_lines(here, "waits: ")
        yield from _source_lines(there, "is elsewhere: ")
        yield "  help: the mask must name the lanes that come to this operation: cuda.ballot_sync before the branch says which do"
    elif finding == 8:
        yield f"{mine} is lane {lane} of its warp, which its own mask does not name"
        yield from _source_lines(here, "")
        yield "  help: add the lane to the mask: 1 << cuda.laneid, or 0xffffffff for a whole warp"
    else:
        gone = {6: "its mask names and which has ended", 7: "its mask names and which the block does not have", 11: "its mask does not name"}[finding]
        yield f"{mine}, lane {lane} of its warp, takes its value from lane {from_lane}, which {gone}"
        yield from _source_lines(here, "")
        if finding == 6:
            yield from _source_lines(there, "has ended: ")
        if finding == 11:
            yield "  help: the value of such a lane is undefined: take that of one that the mask names, such as cuda.ffs(mask) - 1, the first of them"
            return
        yield "  help: the value of such a lane is undefined: let all lanes take part, with a neutral value, and name in the mask only those there are"


def _as_in_source(text, places):
    """An element by the name that the program has for its array: "p.x[5]" for "p[0][5]"."""
    import ast
    import linecache
    import re

    parts = re.fullmatch(r"(an array|[^\W\d]\w*(?:\[\d+\])+)(\[[^][]*\].*)", text)
    if not parts or not places:
        return text
    file, line, column, end_line, end_column, _ = places[0]
    source = linecache.getline(file, line).encode()[column:end_column].decode(errors="replace") if end_line == line else ""
    try:
        node = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return text
    base = node.value if isinstance(node, ast.Subscript) else node.args[0] if isinstance(node, ast.Call) and node.args else None
    return ast.unparse(base) + parts[2] if isinstance(base, (ast.Name, ast.Attribute, ast.Subscript)) else text


def _finding(finding, detail, text, here, there, thread, block, other_thread, other_block, values):
    """The exception of a trap of checked code. here, there: (file, line, column, end line, end column, function), a list of such places,
    innermost first, or None."""
    here, there = ([x] if isinstance(x, tuple) else x or [] for x in (here, there))
    mine, other = _who(thread, block), _who(other_thread, other_block)
    text = _as_in_source(text, here)
    two = finding not in (2, 7, 8, 9, 10, 11)
    if finding == 1:
        lines = _race_text(detail, text, here, there, mine, other, tuple(block) == tuple(other_block))
    elif finding == 2:
        lines = [f"{text} is read before anything has written it, by {mine}", *_source_lines(here, ""),
                 "  help: write every element that is read: elements of shared, local and device_array memory have no value at first"]
    elif finding < 9 or finding == 11:
        lines = _sync_text(finding, here, there, mine, other, *values[:2], tuple(block) == tuple(other_block))
    else:
        lines = [text, *_source_lines(here, ""), f"  in {mine}"]
    error = _FOUND[finding]("\n".join(lines))
    error.thread, error.block = thread, block
    error._chosen = _of_program(here)
    if finding < 3:
        error.array = text
    if two:
        error.other_thread, error.other_block = other_thread, other_block
        if there:
            error.other_filename, error.other_lineno = there[_of_program(there)][:2]
    return error
