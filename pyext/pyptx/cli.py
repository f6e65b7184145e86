"""The command ``pyptx``: ``pyptx compile`` turns kernels of a file into PTX without a GPU, ``pyptx info`` says what is installed,
``pyptx cache`` lists, checks and removes the kernels that are kept on disk.

Exit status: 0 done; 1 a kernel cannot be compiled (the message is on stderr), or a kept one is damaged; 2 the command line is wrong.
"""

import argparse
import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from pyptx._numbers import whole
from pyptx._options import OPTIONS

OK, FAILED, USAGE = 0, 1, 2
LARGEST = (1 << 31) - 1

# What --emit gives: key of the compiler's answer, file suffix, start of a comment, does it depend
# on the architecture.
EMIT = {
    "ptx": ("ptx", ".ptx", "//", True),
    "cubin": ("cubin", ".cubin", None, True),
    "llvm": ("llvm", ".ll", ";", True),
    "llvm-opt": ("llvm_opt", ".opt.ll", ";", True),
    "ssa": ("ssa", ".ssa", "#", False),
    "types": ("types", ".types", "#", False),
    "asm": ("asm", ".s", "#", True),
}
GPU_ONLY, HOST_ONLY = {"ptx", "cubin"}, {"asm"}

# PTX runs on its architecture and on every later one: the oldest that current toolkits take serves
# all of them.
DEFAULT_ARCH = "sm_75"


class Usage(Exception):
    """The command line is wrong: the text says how."""


@dataclass
class Unit:
    """One thing to compile: a function for one architecture."""

    name: str
    function: object
    signature: str
    arch: str
    options: dict
    label: str = ""
    result: object = None


# --- the command line ---


def parser():
    top = argparse.ArgumentParser(prog="pyptx", description="A JIT compiler from Python functions to PTX.")
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    info = commands.add_parser("info", help="print what a bug report needs: versions, devices, libraries")
    info.add_argument("--json", action="store_true", help="as JSON")
    add_compile(commands)
    add_cache(commands)
    return top


def add_cache(commands):
    p = commands.add_parser(
        "cache", help="list, check or remove the kernels that are kept on disk",
        description="Kernels of @cuda.jit(cache=True), and of every process with PYPTX_CACHE_DIR, are kept on disk.")
    p.add_argument("action", choices=("list", "verify", "clear"),
                   help="list: one line a kernel; verify: read and check every file; clear: remove all kernels")
    p.add_argument("--dir", metavar="DIR", help="the cache's directory (default: PYPTX_CACHE_DIR, else the user's)")
    p.add_argument("--remove", action="store_true", help="with verify: remove what is damaged")


def add_compile(commands):
    p = commands.add_parser(
        "compile",
        help="compile kernels of a file to PTX, no GPU needed",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compile kernels of a Python file. No GPU and no arrays are needed: types come from --sig.",
        epilog='example: pyptx compile saxpy.py:saxpy --sig "float32, float32[::1], float32[::1]" --arch sm_90 -o saxpy.ptx',
    )
    p.add_argument("source", metavar="FILE.py[:KERNEL,…]", help="without names: every @cuda.jit kernel of the file")
    p.add_argument("--sig", action="append", default=[], metavar="TYPES",
                   help='argument types, as "float32[:], int32"; once a kernel in their order, or once for all')
    p.add_argument("--arch", action="append", default=[], metavar="SM",
                   help=f"sm_75 … sm_120, or host for this CPU; can be repeated (default: {DEFAULT_ARCH})")
    p.add_argument("--ptx-version", metavar="X.Y", help="PTX ISA version (default: the lowest that the architecture allows)")
    p.add_argument("--emit", choices=EMIT, help="what to write (default: ptx; asm for the host)")
    p.add_argument("-o", "--output", metavar="OUT", default="-",
                   help="a file; a folder for several kernels or architectures; - for standard output (default)")
    p.add_argument("--passes", action=Passes, nargs=0, help="print what the compiler does, pass by pass, and exit")
    add_options(p.add_argument_group("options of @cuda.jit", "They add to what the decorator says."))


class Passes(argparse.Action):
    """Prints all passes, each row below the pass that it is a part of."""

    def __call__(self, parser, namespace, values, option_string=None):
        from pyptx import _pyptx

        rows = _pyptx._passes()
        for outer, within, _, outer_why, _ in rows:
            if within is None:
                print(f"{outer}: {outer_why}")
                for name, within, opt, why, skippable in rows:
                    if within == outer:
                        notes = [f"from opt={opt} on"] * bool(opt) + ["PYPTX_SKIP takes it"] * skippable
                        print(f"  {name}: {why}" + (f" ({', '.join(notes)})" if notes else ""))
        parser.exit()


def add_options(group):
    for option in OPTIONS.values():
        if not option.command:
            continue
        flag, _, value = option.command.partition(" ")
        text = option.summary
        if option.kind == "CHOICE":
            how = {"choices": option.type}
        elif value:
            how = {"metavar": value, "type": READERS.get(option.name) or number(option.least, option.most)}
        else:
            off = flag.startswith("--no-")
            how, text = {"action": "store_false" if off else "store_true"}, f"do not {text}" if off else text
        group.add_argument(flag, dest=option.name, default=None, help=text, **how)


def number(least, most):
    """What reads an option's number."""
    def read(text):
        try:
            return whole(text, least, most)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def launch_bounds(text):
    parts = [number(1, LARGEST)(part.strip()) for part in text.split(",")]
    if len(parts) > 2:
        raise argparse.ArgumentTypeError("expected THREADS or THREADS,BLOCKS")
    return tuple(parts)


READERS = {"launch_bounds": launch_bounds}  # of values that are not one number


def options_of(args):
    """The options given on the command line: those that were not are the decorator's, or the default's."""
    return {name: value for name in OPTIONS if (value := getattr(args, name, None)) is not None}


# --- architectures ---


def known_archs():
    from pyptx import _pyptx

    names = (f"sm_{number}{suffix}" for number in range(50, 130) for suffix in ("", "a", "f"))
    return [name for name in names if _pyptx._arch_min_ptx(name)]


def arch_name(text):
    """'sm_90' of 'sm_90', 'compute_90', '90' and '9.0'."""
    name = text.strip().lower()
    if name in ("host", "cpu"):
        return "host"
    match = re.fullmatch(r"(?:sm_|compute_)?(\d+)\.?(\d)([af]?)", name)
    name = f"sm_{match[1]}{match[2]}{match[3]}" if match else name
    known = known_archs()
    if name not in known:
        raise Usage(f"unknown architecture '{text}'{suggestion(name, known)}; "
                    f"known are host and {', '.join(n for n in known if n[-1].isdigit())}")
    return name


def ptx_version(text):
    """8.3 as 83; 0: not given."""
    from pyptx import _pyptx

    if text is None:
        return 0
    known = {f"{version // 10}.{version % 10}": version for version in _pyptx._ptx_versions()}
    if text not in known:
        said = text if len(text) <= 40 else text[:37] + "..."
        raise Usage(f"--ptx-version {said}: write it as 8.3; there are {', '.join(known)}")
    return known[text]


def check_ptx_version(version, archs):
    from pyptx import _pyptx

    for arch in archs:
        lowest = _pyptx._arch_min_ptx(arch) if arch != "host" else 0
        if version and version < lowest:
            raise Usage(f"--ptx-version {version // 10}.{version % 10}: {arch} needs PTX {lowest // 10}.{lowest % 10} or newer")


def suggestion(name, known):
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


# --- the file and its kernels ---


def split_source(text):
    """'dir/file.py:a,b' → (Path, ['a', 'b']). A colon that belongs to the path is not a separator."""
    path, names = Path(text), None
    if not path.exists() and ":" in text:
        head, _, names = text.rpartition(":")
        path = Path(head)
    if not path.is_file():
        where = "is a folder" if path.is_dir() else "does not exist"
        raise Usage(f"{path}: {where}; give a Python file, as in vecadd.py:add")
    wanted = [name.strip() for name in (names or "").split(",") if name.strip()]
    if names is not None and not wanted:
        raise Usage(f"{text}: no kernel is named after the colon")
    if len(set(wanted)) < len(wanted):
        raise Usage(f"{text}: a kernel is named twice")
    return path, wanted


def module_name(path):
    """(name, folder for sys.path): 'pkg.mod' for a file in a package, so that its relative imports work."""
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


def load(path):
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


def load_or_explain(path):
    """The module, or Usage with the traceback from the file on: this program's own frames and importlib's are left out."""
    from pyptx import _pyptx
    from pyptx.errors import CompileError

    try:
        # Kernels with declared types are compiled when they are decorated: for the host, which is
        # always there.
        with _pyptx._device("host"):
            return load(path)
    except CompileError:  # of an eager signature: a compile error like any other
        raise
    except SystemExit as error:
        raise Usage(f"{path}: ended the program while it was loaded (exit status {error.code}); "
                    "guard what is not definitions with: if __name__ == '__main__':") from None
    except Exception as error:
        frame = error.__traceback__
        while frame and os.path.realpath(frame.tb_frame.f_code.co_filename) != os.path.realpath(path):
            frame = frame.tb_next
        lines = traceback.format_exception(type(error), error.with_traceback(frame), frame, chain=False)
        raise Usage(f"{path} cannot be loaded:\n" + "".join(lines).rstrip()) from None


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


# --- compiling ---


def signatures_of(function, name, sigs, index, kernels):
    """The signatures to compile one kernel for: of --sig, else of its decorator."""
    if sigs:
        return [sigs[index] if len(sigs) > 1 else sigs[0]]
    if is_dispatcher(function) and function.declared_signatures:
        return function.declared_signatures
    form = '--sig "float32[:], float32[:], int32"'
    several = f", once for each of {', '.join(kernels)}" if len(kernels) > 1 else ""
    raise Usage(f"the argument types of '{name}' are not known: add {form}{several}")


def make_units(kernels, sigs, archs, options):
    if len(sigs) > 1 and len(sigs) != len(kernels):
        raise Usage(f"{len(sigs)} --sig for {len(kernels)} kernel{'s' * (len(kernels) != 1)} ({', '.join(kernels)}): "
                    "give one for each, in this order, or one for all")
    units = []
    for index, (name, function) in enumerate(kernels.items()):
        own = signatures_of(function, name, sigs, index, kernels)
        for number, signature in enumerate(own):
            for arch in archs:
                label = name + (f".{number}" if len(own) > 1 else "") + (f".{arch}" if arch else "")
                units.append(Unit(name, function, signature, arch or DEFAULT_ARCH, options, label))
    return units


def compile_units(units, version, emit):
    """Compiles all of them, so that one run shows every error. Returns the number that failed."""
    from pyptx import _pyptx
    from pyptx.errors import CompileError, advice_mode

    try:
        mode = advice_mode()
    except ValueError as error:
        raise Usage(str(error)) from None
    failed, advised = 0, set()
    for unit in units:
        host = unit.arch == "host"
        try:
            texts = _pyptx._compile(unit.function, unit.signature, "host" if host else "nvptx", None if host else unit.arch,
                                    version, unit.options, EMIT[emit][0])
            unit.result = texts[EMIT[emit][0]]
            advice = [str(a) for a in texts["advice"]] if mode != "0" else []
            for text in advice:
                if text not in advised:  # for another architecture
                    sys.stderr.write(text.rstrip() + "\n")
                    advised.add(text)
            failed += bool(advice) and mode == "error"
        except CompileError as error:
            if error.code == "PT219":  # the signature is the command line's
                raise Usage(f"--sig for '{unit.name}': {error}") from None
            failed += 1
            sys.stderr.write(str(error).rstrip() + "\n")
    return failed


# --- writing ---


def as_bytes(result):
    if isinstance(result, bytes):
        return result
    return (result if result.endswith("\n") else result + "\n").encode()


def write_stdout(units, emit):
    out = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None
    for unit in units:
        data = as_bytes(unit.result)
        if len(units) > 1:
            data = f"{EMIT[emit][2]} --- {unit.label}\n".encode() + data
        if out:
            sys.stdout.flush()
            out.write(data)
            out.flush()
        else:  # captured by a program
            sys.stdout.write(data.decode())


def check_output(output, units, emit):
    """Raises before the work is done rather than after it."""
    if output == "-":
        if emit == "cubin" and (len(units) > 1 or sys.stdout.isatty()):
            raise Usage("a cubin is binary: name a file or folder with -o")
    elif len(units) > 1 and Path(output).is_file():
        raise Usage(f"-o {output}: there are {len(units)} results, and this is a file; name a folder")


def write(output, units, emit):
    if output == "-":
        return write_stdout(units, emit)
    path = Path(output)
    if len(units) > 1 or path.is_dir() or output.endswith(os.sep):
        path.mkdir(parents=True, exist_ok=True)
        for unit in units:
            (path / (unit.label + EMIT[emit][1])).write_bytes(as_bytes(unit.result))
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(units[0].result))


def run_compile(args):
    archs = list(dict.fromkeys(arch_name(a) for text in args.arch or [DEFAULT_ARCH] for a in text.split(",")))
    emit = args.emit or ("asm" if archs == ["host"] else "ptx")
    wrong = [a for a in archs if emit in (GPU_ONLY if a == "host" else HOST_ONLY)]
    if wrong:
        raise Usage(f"--emit {emit} is not possible for --arch {wrong[0]}")
    version = ptx_version(args.ptx_version)
    check_ptx_version(version, archs)
    path, wanted = split_source(args.source)
    kernels = find_kernels(load_or_explain(path), path, wanted)
    units = make_units(kernels, args.sig, archs if EMIT[emit][3] else [None], options_of(args))
    check_output(args.output, units, emit)
    failed = compile_units(units, version, emit)
    if failed:
        return FAILED
    write(args.output, units, emit)
    return OK


def run_cache(args):
    from pyptx import _cache

    directory = args.dir or _cache.cache_info().directory
    if args.remove and args.action != "verify":
        raise Usage("--remove belongs to verify; clear removes everything")
    if not directory:
        raise Usage("there is no home directory: say --dir")
    if not os.path.isdir(directory):
        if args.dir:
            raise Usage(f"{directory}: no such directory")
        print(f"{directory}: nothing has been kept yet")
        return OK
    try:
        if args.action == "verify":
            return FAILED if _cache.verify(directory, args.remove, sys.stdout) else OK
        (_cache.print_list if args.action == "list" else _cache.clear)(directory, sys.stdout)
        return OK
    except ValueError as error:  # it cannot be used: the reason and the remedy
        raise Usage(str(error)) from None


# --- main ---


def run(args, top):
    if args.version:
        from pyptx import _pyptx

        print(f"pyptx {_pyptx.__version__}")
        return OK
    if args.command == "info":
        from pyptx import info

        print(info.as_json() if args.json else info.as_text())
        return OK
    if args.command == "compile":
        return run_compile(args)
    if args.command == "cache":
        return run_cache(args)
    top.print_help(sys.stderr)
    return USAGE


def main(argv=None):
    """Runs the command with these arguments (default: sys.argv) and returns its exit status."""
    top = parser()
    try:
        args = top.parse_args(argv)
    except SystemExit as error:  # argparse has printed what is wrong
        return error.code if isinstance(error.code, int) else USAGE
    try:
        return run(args, top)
    except Usage as error:
        sys.stderr.write(f"pyptx: {error}\n")
        return USAGE
    except BrokenPipeError:  # the reader of our output left, as `| head` does
        sys.stdout = open(os.devnull, "w")
        return OK
    except OSError as error:
        sys.stderr.write(f"pyptx: {error}\n")
        return USAGE
    except Exception as error:
        from pyptx.errors import CompileError, DriverError

        if not isinstance(error, (CompileError, DriverError)):
            raise
        sys.stderr.write(str(error).rstrip() + "\n")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
