"""The command ``pyptx``: ``pyptx compile`` turns kernels of a file into PTX without a GPU, ``pyptx port`` lists where NumPy's rules and
Numba's give a kernel other types, ``pyptx info`` says what is installed, ``pyptx doctor`` what is wrong with it, ``pyptx cache`` lists, checks
and removes the kernels that are kept on disk.

Exit status: 0 done; 1 a kernel cannot be compiled (the message is on stderr), or a kept one is damaged; 2 the command line is wrong.
"""

import argparse
import contextlib
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from pyptx._numbers import whole
from pyptx._occupancy import GPUS
from pyptx._options import OPTIONS
from pyptx._sources import Usage, find_kernels, is_dispatcher, load_or_explain, split_source, suggestion

OK, FAILED, USAGE = 0, 1, 2
LARGEST = (1 << 31) - 1

@dataclass(frozen=True)
class Emit:
    """A row of what --emit gives. text: the compiler's, that it is or is made from; comment: how one begins, None of what stands in a file
    of its own."""

    suffix: str
    text: str = "ptx"
    comment: str | None = None
    each_arch: bool = True
    where: str = "both"  # or "gpu", "host"


EMIT = {
    "ptx": Emit(".ptx", comment="//", where="gpu"),
    "cubin": Emit(".cubin", "cubin", where="gpu"),
    "fatbin": Emit(".fatbin", each_arch=False, where="gpu"),
    "sass": Emit(".sass", comment="//", where="gpu"),
    "header": Emit(".h", comment="//", each_arch=False, where="gpu"),
    "json": Emit(".json", comment="//", each_arch=False, where="gpu"),
    "html": Emit(".html", where="gpu"),
    "llvm": Emit(".ll", "llvm", ";"),
    "llvm-opt": Emit(".opt.ll", "llvm_opt", ";"),
    "ssa": Emit(".ssa", "ssa", "#", each_arch=False),
    "types": Emit(".types", "types", "#", each_arch=False),
    "asm": Emit(".s", "asm", "#", where="host"),
}
DESCRIBING = {"header", "json"}  # of the stable parameter block alone

# PTX runs on its architecture and on every later one: the oldest that current toolkits take serves
# all of them.
DEFAULT_ARCH = "sm_75"


@dataclass
class Unit:
    """One thing to compile: a function with a signature, for some architectures."""

    name: str
    function: object
    signature: str
    archs: list
    options: dict
    symbol: str | None = None  # as --name says it, or because there are several of one kernel
    label: str = ""
    compiled: dict = field(default_factory=dict)  # what the compiler gave, by architecture
    cubins: dict = field(default_factory=dict)  # (cubin, log), by architecture
    report: dict = field(default_factory=dict)  # of --emit html: GPUs by architecture, block and dynamic shared memory


@dataclass
class Result:
    """What is written: a file, or a part of standard output."""

    label: str
    emit: str
    data: bytes


# --- the command line ---


def parser():
    top = argparse.ArgumentParser(prog="pyptx", description="A JIT compiler from Python functions to PTX.")
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    info = commands.add_parser("info", help="print what a bug report needs: versions, devices, libraries")
    info.add_argument("--json", action="store_true", help="as JSON")
    doctor = commands.add_parser("doctor", help="look for what is wrong with this machine, and say the remedy")
    doctor.add_argument("--json", action="store_true", help="as JSON")
    add_compile(commands)
    add_cache(commands)
    add_port(commands)
    return top


def add_port(commands):
    p = commands.add_parser(
        "port", help="list where NumPy's rules and Numba's give the expressions of kernels other types",
        description="Lists the expressions of kernels to which NumPy's rules (pyptx's own) and Numba's give other types, and what to write for Numba's.",
        epilog="PYPTX_ADVICE=port python program.py lists them for all kernels of a program, with the types of its launches.")
    add_source(p)
    p.add_argument("--all", action="store_true", help="also list what only follows from other places")


def add_source(p):
    p.add_argument("source", metavar="SOURCE[:KERNEL,…]",
                   help="FILE.py, NOTEBOOK.ipynb, package.module, or - for standard input; without names: every @cuda.jit kernel there")
    p.add_argument("--sig", action="append", default=[], metavar="TYPES",
                   help='argument types, as "float32[:], int32"; KERNEL=TYPES, once a kernel in their order, once for all, or several of one kernel')


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
    add_source(p)
    p.add_argument("--name", action="append", default=[], metavar="SYMBOL",
                   help="the name of the entry; once each signature (default: the kernel's, with the types behind it where it has several signatures)")
    p.add_argument("--arch", action="append", default=[], metavar="SM",
                   help=f"sm_75 … sm_120, a GPU's name as H100, or host for this CPU; can be repeated (default: {DEFAULT_ARCH})")
    p.add_argument("--ptx-version", metavar="X.Y", help="PTX ISA version (default: the lowest that the architecture allows)")
    p.add_argument("--emit", action="append", default=[], metavar="WHAT", type=emits,
                   help=f"what to write, separated by commas: {', '.join(EMIT)} (default: ptx; asm for the host)")
    p.add_argument("-o", "--output", metavar="OUT", default="-",
                   help="a file, whose name without its suffix serves several --emit; a folder for several kernels, signatures or architectures; "
                        "- for standard output (default)")
    p.add_argument("--resource-usage", action="store_true",
                   help="print registers, spills, shared memory and occupancy on standard error (needs ptxas)")
    p.add_argument("--block", type=number(1, 1024), metavar="N", help="with --resource-usage or --emit html: threads of a block (default: 128, 256, 512 and 1024)")
    p.add_argument("--dynamic-shared", type=number(0, LARGEST), default=0, metavar="BYTES", help="with --resource-usage or --emit html: dynamic shared memory of a block")
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


def emits(text):
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in EMIT:
            raise argparse.ArgumentTypeError(f"'{name}' cannot be emitted{suggestion(name, list(EMIT))}; there are {', '.join(EMIT)}")
    return names


def launch_bounds(text):
    parts = [number(1, LARGEST)(part.strip()) for part in text.split(",")]
    if len(parts) > 3:
        raise argparse.ArgumentTypeError("expected THREADS, THREADS,BLOCKS or THREADS,BLOCKS,CLUSTER")
    return tuple(parts)


READERS = {"launch_bounds": launch_bounds}  # of values that are not one number


def options_of(args):
    """The options given on the command line: those that were not are the decorator's, or the default's."""
    given = {name: value for name in OPTIONS if (value := getattr(args, name, None)) is not None}
    return {"abi": "stable", **given}  # the command's own default: its PTX is for others to launch


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
    gpu = GPUS.get(re.sub(r"^(nvidia|geforce)+|[\s_-]", "", re.sub(r"[\s_-]", "", name)))
    name = f"sm_{gpu}" if gpu else name
    known = known_archs()
    plain = [n for n in known if n[-1].isdigit()]
    if match and int(match[1] + match[2]) < int(plain[0].removeprefix("sm_")):
        raise Usage(f"architecture '{text}' is too old: the oldest is {plain[0]}")
    if name not in known:
        raise Usage(f"unknown architecture '{text}'{suggestion(name, known)}; known are host and {', '.join(plain)}")
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


# --- compiling ---


def signatures_of(function, name, sigs, index, kernels):
    """The signatures to compile one kernel for: of --sig, else of its decorator."""
    own = [types for kernel, types in sigs if kernel == name]
    rest = [types for kernel, types in sigs if kernel is None]
    if own:
        return own
    if rest:
        return rest if len(kernels) == 1 else [rest[index] if len(rest) > 1 else rest[0]]
    if is_dispatcher(function) and function.declared_signatures:
        return function.declared_signatures
    form = '--sig "float32[:], float32[:], int32"'
    several = f", once for each of {', '.join(kernels)}" if len(kernels) > 1 else ""
    raise Usage(f"the argument types of '{name}' are not known: add {form}{several}")


def split_sig(text, kernels):
    """(kernel, types) of "add=float32[:]"; the kernel is None where none is named."""
    name, equals, types = text.partition("=")
    name = name.strip()
    if equals and name not in kernels and re.fullmatch(r"[^\W\d][\w.]*", name):
        known = "', '".join(kernels)
        raise Usage(f"--sig {text}: no kernel '{name}' is compiled here{suggestion(name, list(kernels)) or f'; there is {known!r}'}; name another function behind "
                    "the colon of the source, as in file.py:function")
    return (name, types) if equals and name in kernels else (None, text)


def mangled(name, signature):
    """'add__float32_1c_int32' of add and "float32[::1], int32": letters, digits and _ alone, the same for the same types."""
    from pyptx import _abi

    def one(text):
        shape = _abi.array_type(text)
        if not shape or not shape["ndim"]:
            return text
        return f"{text.split('[')[0]}_{shape['ndim']}{'s' if shape['layout'] == 'A' else shape['layout'].lower()}"

    parts = [one(text) for text in _abi.arguments_of(signature)] or ["none"]
    return re.sub(r"\W+", "_", f"{name}__{'_'.join(parts)}", flags=re.ASCII).rstrip("_")


def make_units(kernels, sigs, archs, options, names):
    sigs = [split_sig(text, kernels) for text in sigs]
    plain = sum(kernel is None for kernel, _ in sigs)
    if plain > 1 and len(kernels) > 1 and plain != len(kernels):
        raise Usage(f"{plain} --sig for {len(kernels)} kernels ({', '.join(kernels)}): "
                    "give one for each, in this order, one for all, or say which with KERNEL=TYPES")
    units = []
    for index, (name, function) in enumerate(kernels.items()):
        own = list(dict.fromkeys(signatures_of(function, name, sigs, index, kernels)))
        for signature in own:
            symbol = mangled(name, signature) if len(own) > 1 else None
            units.append(Unit(name, function, signature, archs, options, symbol))
    return named(units, names)


def named(units, names):
    if names and len(names) != len(units):
        entries = ", ".join(f"{unit.name}({unit.signature})" for unit in units)
        raise Usage(f"{len(names)} --name for {len(units)} entr{'y' if len(units) == 1 else 'ies'} ({entries}): give one for each, in this order")
    for unit, name in zip(units, names):
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise Usage(f"--name {name[:40]}: the name of an entry is a C identifier")
        unit.symbol = name
    seen = set()
    for unit in units:
        if unit.symbol and unit.symbol in seen:
            raise Usage(f"two entries would be called '{unit.symbol}': give each its own --name")
        seen.add(unit.symbol)
        unit.label = unit.symbol or unit.name
    return units


def texts_of(emit):
    """The compiler's texts that these are made from; PTX is always there."""
    return ",".join(dict.fromkeys(EMIT[name].text for name in emit))


def compile_units(units, version, emit):
    """Compiles all of them, so that one run shows every error. Returns the number that failed."""
    from pyptx import _pyptx
    from pyptx.errors import CompileError, advice_mode

    try:
        mode = advice_mode()
    except ValueError as error:
        raise Usage(str(error)) from None
    failed, advised = 0, set()
    for unit, arch in ((unit, arch) for unit in units for arch in unit.archs):
        host = arch == "host"
        try:
            out = _pyptx._compile(unit.function, unit.signature, "host" if host else "nvptx", None if host else arch, version, unit.options,
                                  texts_of(name for name in emit if EMIT[name].where != ("gpu" if host else "host")), unit.symbol)
            unit.compiled[arch] = out
            advice = [str(a) for a in out["advice"]] if mode != "0" else []
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


def code_of(unit):
    return getattr(unit.function, "py_func", unit.function).__code__


def assembled_advice(units, emit, args):
    """Advice of the assembler, where ptxas runs anyway. Returns the number of kernels that fail by it."""
    from pyptx import CompileError, _pyptx, _tools
    from pyptx.errors import advice_mode

    failed = 0
    runs = args.resource_usage or {"cubin", "fatbin"} & set(emit)
    for unit, arch in ((u, a) for u in units for a in u.archs if runs and a != "host"):
        out = unit.compiled[arch]
        try:
            log = cubin_of(unit, arch)[1]
            usage = _tools.read_usage(log, out["symbol"])
            found, listed = (_pyptx._assembled_advice(code_of(unit), out["ptx"], usage.stack, usage.registers, log, asked)
                             for asked in (False, args.resource_usage))
        except CompileError as error:
            sys.stderr.write(f"{arch}: {error}\n")
            failed += 1
            continue
        if advice_mode() != "0":
            sys.stderr.writelines(f"{arch}: {advice}\n" for advice in listed)
            failed += bool(found) and advice_mode() == "error"
    return failed


# --- what is written ---


def parameter_names(function):
    code = getattr(function, "py_func", function).__code__
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]


def cubin_of(unit, arch):
    from pyptx import _tools

    if arch not in unit.cubins:
        unit.cubins[arch] = _tools.assemble(unit.compiled[arch]["ptx"], arch)
    return unit.cubins[arch]


def description_of(unit, file_of):
    from pyptx import _abi

    out = unit.compiled[unit.archs[0]]
    return _abi.describe(unit.name, parameter_names(unit.function), unit.signature, out, file_of(unit))


def fatbin_of(units):
    """The kernels of all units in one image for each architecture."""
    from pyptx import _tools

    images = []
    for arch in units[0].archs:
        ptx = units[0].compiled[arch]["ptx"] if len(units) == 1 else _tools.merge_ptx([unit.compiled[arch]["ptx"] for unit in units])
        cubin = cubin_of(units[0], arch)[0] if len(units) == 1 else _tools.assemble(ptx, arch)[0]
        named = _tools.target_of(ptx, arch)
        images += [("cubin", named, cubin), ("ptx", named, as_bytes(ptx))]
    return _tools.fatbin(images)


def make(unit, emit, arch, file_of):
    """One thing to write, as text or bytes."""
    from pyptx import _abi, _tools

    if emit == "html":
        return report_of(unit, arch)
    if emit == "sass":
        return _tools.sass_of(unit.compiled[arch]["ptx"], arch)
    if emit == "fatbin":
        return fatbin_of([unit])
    if emit in DESCRIBING:
        description = description_of(unit, file_of)
        return _abi.header(description) if emit == "header" else _abi.as_json(description)
    return unit.compiled[arch][EMIT[emit].text]


def report_of(unit, arch):
    from pyptx._report import Report
    from pyptx._report.gather import gather

    return Report([gather(unit.function, unit.signature, arch, options=unit.options, symbol=unit.symbol, **unit.report[arch])]).html


def plan_reports(units, args):
    """What --emit html is of: the GPU that --arch has named, or the best known of the architecture."""
    from pyptx._report import gpus

    named = {arch_name(text): gpus.key_of(text) for texts in args.arch for text in texts.split(",")}
    for unit in units:
        unit.report = {arch: {"gpu": named.get(arch) or gpus.of_arch(arch), "block": args.block, "dynamic_shared": args.dynamic_shared}
                       for arch in unit.archs if arch != "host"}


def labels(unit, emit):
    """[(label, architecture)] of what an --emit gives for a unit."""
    if not EMIT[emit].each_arch:
        return [(unit.label, unit.archs[0])]
    return [(f"{unit.label}.{arch}", arch) for arch in unit.archs]


def as_bytes(result):
    if isinstance(result, bytes):
        return result
    return (result if result.endswith("\n") else result + "\n").encode()


def place(output, label, emit, alone):
    """The file of a result."""
    suffix = EMIT[emit].suffix
    path = Path(output)
    if alone == "one":
        return path
    if alone == "stem":  # of several --emit: the others beside the file that is named
        return path.with_suffix(suffix)
    if alone == "together":  # one fatbin of all kernels, what describes each beside it
        return path if emit == "fatbin" else path.parent / (label + suffix)
    return path / (label + suffix)


def manner(output, units, emit):
    """How results get their files: "one", "stem", "together" or "folder"; "-": standard output. Raises before the work is done rather than after it."""
    count = sum(len(labels(unit, name)) for unit in units for name in emit)
    binary = [name for name in emit if EMIT[name].comment is None]
    if output == "-":
        if binary and (count > 1 or sys.stdout.isatty()):
            what = "an html page is for a browser" if binary[0] == "html" else f"a {binary[0]} is binary"
            raise Usage(f"{what}: name a file or folder with -o")
        return "-"
    path = Path(output)
    if path.is_dir() or output.endswith(os.sep):
        return "folder"
    if count == 1:
        return "one"
    if "fatbin" in emit and len(units) > 1 and output.endswith(EMIT["fatbin"].suffix):
        return "together"
    one_each = all(len(labels(unit, name)) == 1 for unit in units for name in emit)
    if len(units) == 1 and one_each and any(output.endswith(EMIT[name].suffix) for name in emit):
        return "stem"
    if path.is_file():
        raise Usage(f"-o {output}: there are {count} results, and this is a file; name a folder")
    if path.suffix in {row.suffix for row in EMIT.values()}:
        raise Usage(f"-o {output}: there are {count} results, which one file cannot have; name a folder, as in -o {path.with_suffix('')}{os.sep}")
    return "folder"


def images_of(output, emit, how):
    """A function of a unit: [(kind, architecture, file)] of the images that are written with it, by their names beside the description."""
    def images(unit):
        return [(name, "" if name == "fatbin" else arch, place(output, label, name, how).name)
                for name in emit if name in ("ptx", "cubin", "fatbin") and how != "-" for label, arch in labels(unit, name)]

    return images


def write(output, results, how):
    if how == "-":
        return write_stdout(results)
    for result in results:
        path = place(output, result.label, result.emit, how)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(result.data)


def write_stdout(results):
    out = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None
    for result in results:
        data = result.data
        if len(results) > 1:
            data = f"{EMIT[result.emit].comment} --- {result.label}\n".encode() + data
        if out:
            sys.stdout.flush()
            out.write(data)
            out.flush()
        else:  # captured by a program
            sys.stdout.write(data.decode())


def print_usage(units, args):
    """--resource-usage, on standard error: standard output may be a file."""
    from pyptx import _occupancy, _tools

    for unit in units:
        for arch in unit.archs:
            usage = _tools.read_usage(cubin_of(unit, arch)[1], unit.compiled[arch]["symbol"])
            for line in _occupancy.report(unit.compiled[arch]["symbol"], arch, usage, args.dynamic_shared, args.block):
                sys.stderr.write(line + "\n")


def check_emit(emit, archs, options, args):
    for name in emit:
        wrong = [a for a in archs if EMIT[name].where == ("gpu" if a == "host" else "host")]
        if wrong:
            raise Usage(f"--emit {name} is not possible for --arch {wrong[0]}")
    describing = [name for name in emit if name in DESCRIBING]
    if describing and (options["abi"] != "stable" or options.get("device")):
        raise Usage(f"--emit {describing[0]} describes kernels with the stable parameter block: leave out "
                    f"{'--device-function' if options.get('device') else '--abi compact'}")
    if args.resource_usage and "host" in archs:
        raise Usage("--resource-usage is of GPU kernels: leave out --arch host")


@contextlib.contextmanager
def ptxas_known(wanted):
    """The compiler finds ptxas where _tools does; where nobody does, it words the error."""
    from pyptx import _tools

    added = wanted and not os.environ.get("PYPTX_PTXAS")
    try:
        os.environ.update({"PYPTX_PTXAS": _tools.find("ptxas")} if added else {})
    except _tools.ToolError:
        pass
    try:
        yield
    finally:
        if added:
            os.environ.pop("PYPTX_PTXAS", None)


def run_compile(args):
    from pyptx import CompileError, _tools

    archs = list(dict.fromkeys(arch_name(a) for text in args.arch or [DEFAULT_ARCH] for a in text.split(",")))
    emit = list(dict.fromkeys(name for names in args.emit for name in names)) or ["asm" if archs == ["host"] else "ptx"]
    options = options_of(args)
    check_emit(emit, archs, options, args)
    version = ptx_version(args.ptx_version)
    check_ptx_version(version, archs)
    source, wanted = split_source(args.source)
    kernels = find_kernels(load_or_explain(source), source, wanted)
    if not any(EMIT[name].each_arch or name == "fatbin" for name in emit) and not args.resource_usage:
        archs = archs[:1]
    units = make_units(kernels, args.sig, archs, options, args.name)
    how = manner(args.output, units, emit)
    if "html" in emit:
        plan_reports(units, args)
    with ptxas_known("cubin" in emit):
        failed = compile_units(units, version, emit)
    if failed:
        return FAILED
    images = images_of(args.output, emit, how)
    try:
        if assembled_advice(units, emit, args):
            return FAILED
        together = how == "together"
        results = [Result(label, name, as_bytes(make(unit, name, arch, images))) for unit in units for name in emit if not (together and name == "fatbin")
                   for label, arch in labels(unit, name)]
        if together:
            results.append(Result("", "fatbin", fatbin_of(units)))
        if args.resource_usage:
            print_usage(units, args)
    except CompileError as error:
        sys.stderr.write(f"{error}\n")
        return FAILED
    except _tools.ToolError as error:
        sys.stderr.write(f"pyptx: {error}\n")
        return FAILED
    write(args.output, results, how)
    return OK


def run_port(args):
    from pyptx import _port
    from pyptx.errors import CompileError

    source, wanted = split_source(args.source)
    kernels = find_kernels(load_or_explain(source), source, wanted)
    typed = kernels if args.sig else {name: f for name, f in kernels.items() if is_dispatcher(f) and f.declared_signatures}
    if not typed:
        raise Usage(f"the argument types of {', '.join(kernels)} are not known: add --sig \"float32[:], int32\", or run the program: "
                    "PYPTX_ADVICE=port python program.py uses the types of its launches")
    if len(typed) < len(kernels):
        sys.stderr.write(f"pyptx: not compared, since their argument types are not known: {', '.join(kernels.keys() - typed.keys())}\n")
    places, failed = [], 0
    for unit in make_units(typed, args.sig, [], {}, []):
        try:
            places += _port.compare(unit.function, unit.signature)
        except CompileError as error:
            if error.code == "PT219":
                raise Usage(f"--sig for '{unit.name}': {error}") from None
            failed += 1
            sys.stderr.write(str(error).rstrip() + "\n")
    if failed < len(typed):
        _port.report(places, len(typed) - failed, args.all, sys.stdout)
    return FAILED if failed else OK


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
    if args.command == "doctor":
        from pyptx import doctor

        return doctor.run(args.json)
    if args.command == "compile":
        return run_compile(args)
    if args.command == "cache":
        return run_cache(args)
    if args.command == "port":
        return run_port(args)
    top.print_help(sys.stderr)
    return USAGE


def main(argv=None):
    """Runs the command with these arguments (default: sys.argv) and returns its exit status."""
    top = parser()
    try:
        # "-:kernel" is standard input, and no option
        args = top.parse_args([f"<stdin>{text[1:]}" if text.startswith("-:") else text for text in (sys.argv[1:] if argv is None else argv)])
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
