"""The house rules that a compiler cannot check: who includes whom, and how large a file may grow.

Needs no build: it reads the tree. docs/ARCHITECTURE.md gives the reasons; a rule changes there and
here together.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("ir", "frontend", "typeinfer", "codegen", "runtime", "pyext")

# What a room may include beside its own files: a folder (all of it) or a single file.
MAY_INCLUDE = {
    "ir": (),
    "frontend": ("ir/",),
    "typeinfer": ("ir/",),
    # Data only: the bytes that a kernel receives, which the compiler lays out and the launch fills.
    "codegen": ("ir/", "frontend/lift.h", "frontend/snapshot.h", "typeinfer/", "runtime/abi.def", "runtime/abi.h"),
    # Data only: the bounds of special registers, which are the limits of a launch.
    "runtime": ("ir/registers.def",),
    "pyext": ("ir/", "runtime/", "frontend/snapshot.h", "frontend/lift.h", "codegen/compile.h",
              "codegen/options.def", "codegen/fastmath.def", "codegen/store/store.h"),
}

# <...> headers that have a home, by the start of their name; no other room may include them.
HOMES_OF = {
    "Python.h": ("pyext",),
    "structmember.h": ("pyext",),
    "frameobject.h": ("pyext",),
    "opcode": ("pyext",),
    "internal/": ("pyext",),
    "cpython/": ("pyext",),
    "llvm-c/": ("codegen",),
    "llvm/Config/llvm-config.h": ("codegen",),
    "dlfcn.h": ("runtime", "codegen"),
    "pthread.h": ("runtime", "codegen"),
}

# Never: LLVM's C++ headers, the CUDA toolkit, NumPy's C API.
NOWHERE = ("llvm/", "cuda", "nvrtc", "numpy/")

# The upper end of "about 700 lines"; a file that reaches it is two files.
MAX_LINES = 800
GENERATED = (".pyi",)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def include_faults(room, path, text):
    """The include lines of a file of `room` that break the rules, as messages."""
    faults = []
    for kind, name in INCLUDE.findall(text):
        if kind == '"':
            if name.startswith(room + "/"):
                continue
            if name.startswith("tests/") or name.split("/")[0] not in ROOMS:
                faults.append(f'{path}: "{name}" is not written from the root as "room/file.h"')
            elif not any(
                name == allowed or (allowed.endswith("/") and name.startswith(allowed))
                for allowed in MAY_INCLUDE[room]
            ):
                faults.append(f'{path}: {room}/ may not include "{name}"')
        else:
            homes = next((h for start, h in HOMES_OF.items() if name.startswith(start)), None)
            if homes is None and name.startswith(NOWHERE):
                faults.append(f"{path}: <{name}> has no place in this project")
            elif homes is not None and room not in homes:
                faults.append(f"{path}: <{name}> belongs to {' and '.join(homes)}")
    return faults


def files_of(*patterns):
    """The project's own files, tracked or about to be, in a checkout or in a plain copy of it."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z", "--", *patterns],
            cwd=ROOT, capture_output=True, check=True, text=True,
        ).stdout.split("\0")
        found = [ROOT / name for name in listing if name]
    except (OSError, subprocess.CalledProcessError):
        skipped = ("build", ".venv", ".wheels", ".git")
        found = [
            path for pattern in patterns for path in ROOT.rglob(pattern)
            if not path.relative_to(ROOT).parts[0].startswith(skipped)
        ]
    return sorted(path for path in found if path.is_file())


def sources_of(room):
    return [p for p in files_of(f"{room}/*.c", f"{room}/*.h", f"{room}/*.def")
            if p.relative_to(ROOT).parts[0] == room]


@pytest.mark.parametrize("room", ROOMS)
def test_includes(room):
    faults = []
    for path in sources_of(room):
        faults += include_faults(room, path.relative_to(ROOT), path.read_text())
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "room, line, fault",
    [
        ("ir", '#include "ir/fn.h"', None),
        ("ir", '#include "frontend/lift.h"', "may not include"),
        ("ir", "#include <Python.h>", "belongs to pyext"),
        ("typeinfer", '#include "frontend/lift.h"', "may not include"),
        ("codegen", "#include <llvm-c/Core.h>", None),
        ("codegen", "#include <llvm/IR/Module.h>", "no place"),
        ("codegen", '#include "runtime/abi.def"', None),
        ("codegen", '#  include "runtime/driver/device.h"', "may not include"),
        ("runtime", '#include "ir/type.h"', "may not include"),
        ("runtime", '#include "ir/registers.def"', None),
        ("runtime", "#include <cuda.h>", "no place"),
        ("runtime", "#include <pthread.h>", None),
        ("pyext", '#include "codegen/compile.h"', None),
        ("pyext", '#include "codegen/lower/lower.h"', "may not include"),
        ("pyext", '#include "state.h"', "not written from the root"),
    ],
)
def test_the_include_rule_itself(room, line, fault):
    faults = include_faults(room, "x.c", f"int before;\n{line}\n")
    assert len(faults) == (fault is not None)
    assert not fault or fault in faults[0]


# What LLVM's C API makes every pass write for itself is written once, and only there.
ONLY_IN = {
    r"LLVMInstructionClone": ("codegen/llvm/copy.c",),
    r'LLVMBuild\w+\([^;"]*""\)': ("codegen/llvm/emit.h",),
    r"LLVMGet(Num)?Successors?": ("codegen/llvm/graph.c", "codegen/llvm/copy.c"),
}
# A structure of a block with its edges is a graph.
PRIVATE_GRAPH = re.compile(r"typedef struct \w+ \{[^}]*[\s*](succ|pred)\w*(\[\w+\])?[,;][^}]*\}")


def graph_faults(path, text):
    """What a file of codegen does that the layer over LLVM's functions (codegen/llvm/graph.h) is there for."""
    faults = [f"{path}: {found[0]} belongs to {' and '.join(homes)}"
              for call, homes in ONLY_IN.items() if path not in homes and (found := re.search(rf"\b{call}(?!\w)", text))]
    if path != "codegen/llvm/graph.h" and "LLVM" in text and PRIVATE_GRAPH.search(text):
        faults.append(f"{path}: a graph of its own; codegen/llvm/graph.h has one")
    return faults


def test_one_graph_over_llvm_functions():
    faults = []
    for path in sources_of("codegen"):
        faults += graph_faults(path.relative_to(ROOT).as_posix(), path.read_text())
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "path, text, fault",
    [
        ("codegen/llvm/copy.c", "c = LLVMInstructionClone(i);", None),
        ("codegen/llvm/graph.c", "n = LLVMGetNumSuccessors(end);", None),
        ("codegen/lanes/values.c", "c = LLVMInstructionClone(i);", "belongs to codegen/llvm/copy.c"),
        ("codegen/lanes/values.c", 'x = LLVMBuildAdd(b, y,\n  z, "");', "belongs to codegen/llvm/emit.h"),
        ("codegen/lanes/values.c", 'x = LLVMBuildAdd(b, y, z, "sum");', None),
        ("codegen/lanes/values.c", "LLVMSetSuccessor(end, 0, b);", None),
        ("codegen/host/entry.c", "b = LLVMGetSuccessor(end, 0);", "belongs to codegen/llvm/graph.c"),
        ("codegen/host/host.h", "typedef struct HostBlock {\n  LLVMBasicBlockRef b;\n  uint32_t *succ;\n} HostBlock;",
         "a graph of its own"),
        ("codegen/host/host.h", "typedef struct HostBlock {\n  LLVMBasicBlockRef b;\n} HostBlock;", None),
    ],
)
def test_the_graph_rule_itself(path, text, fault):
    faults = graph_faults(path, text)
    assert len(faults) == (fault is not None)
    assert not fault or fault in faults[0]


def reached(path, seen):
    """The headers, ours and others', that a file includes, by way of others too."""
    for kind, name in INCLUDE.findall((ROOT / path).read_text()):
        if name not in seen:
            seen[name] = path
            if kind == '"':
                reached(name, seen)
    return seen


def test_analyses_of_typed_ssa_know_no_llvm():
    faults = []
    for path in files_of("codegen/ssa/*.[ch]"):
        seen = reached(path.relative_to(ROOT).as_posix(), {})
        faults += [f"{path.name}: {seen[name]} includes <{name}>" for name in seen if name.startswith("llvm")]
    assert not faults, "\n".join(faults)
    assert any(name.startswith("llvm-c/") for name in reached("codegen/lower/lower.h", {}))


def test_file_sizes():
    large = []
    for path in files_of("*.c", "*.h", "*.def", "*.py", "*.pyi"):
        if path.suffix in GENERATED:
            continue
        lines = path.read_bytes().count(b"\n")
        if lines > MAX_LINES:
            large.append(f"{path.relative_to(ROOT)}: {lines} lines, the limit is {MAX_LINES}")
    assert not large, "\n".join(large)


def test_no_two_files_of_tests_share_a_name():
    """pytest imports them by their names alone, and one run takes them all."""
    names = [path.name for path in files_of("tests/**/test_*.py")]
    assert not (shared := {name for name in names if names.count(name) > 1}), shared


def test_header_guards():
    """PYPTX_ROOM_FILE_H, so that no two headers share a guard."""
    wrong = []
    for room in ROOMS:
        for path in sources_of(room):
            if path.suffix != ".h":
                continue
            name = path.relative_to(ROOT).with_suffix("").as_posix()
            guard = "PYPTX_" + re.sub(r"[/.-]", "_", name).upper() + "_H"
            text = path.read_text()
            if f"#ifndef {guard}\n#define {guard}\n" not in text:
                wrong.append(f"{path.relative_to(ROOT)}: the guard is to be {guard}")
    assert not wrong, "\n".join(wrong)


def places(word, *rooms):
    """Files of `rooms` whose code (comments aside) has `word` as a whole word."""
    comment = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
    pattern = re.compile(rf"\b(?:{word})")
    return [
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in sources_of(room)
        if pattern.search(comment.sub("", path.read_text()))
    ]


CORE = ("ir", "frontend", "typeinfer", "codegen")


def test_one_setjmp():
    """A failure in the core unwinds to one place, codegen's front door."""
    assert len(places(r"_?(?:sig)?setjmp\s*\(|__builtin_setjmp", *CORE)) <= 1


def test_llvm_version_in_one_file():
    found = places("LLVM_VERSION_MAJOR", *ROOMS)
    assert {Path(path).stem for path in found} <= {"compat"}, found


def test_passes_do_not_go_on_with_a_line_of_elsewhere():
    """LLVM's builder keeps the line that it was given last, also in another function: l_at_end and l_insert do not."""
    found = places(r"LLVMPositionBuilderAtEnd|LLVMInsertIntoBuilder", "codegen")
    assert [path for path in found if path.startswith(("codegen/llvm/", "codegen/nvptx/"))] == ["codegen/llvm/emit.h"]


CALL_BY_FORMAT = re.compile(r"PyObject_Call(Function|Method)\s*\(")
ONE_OBJECT = re.compile(r'"(?:[ONSU]|O[!&])"')


def arguments_of_call(text, start):
    """The arguments of the C call whose parenthesis opens before `start`."""
    found, depth, quoted = [""], 0, False
    for at in range(start, len(text)):
        c = text[at]
        quoted ^= c == '"' and text[at - 1] != "\\"
        depth += 0 if quoted else (c in "([{") - (c in ")]}")
        if depth < 0:
            break
        if c == "," and not depth and not quoted:
            found.append("")
        else:
            found[-1] += c
    return [argument.strip() for argument in found]


def calls_that_unpack(text):
    """Calls in C by a format of one object: CPython makes the items of a tuple the arguments then."""
    return [
        f"PyObject_Call{call[1]}({', '.join(arguments)})"
        for call in CALL_BY_FORMAT.finditer(text)
        for arguments in [arguments_of_call(text, call.end())]
        if ONE_OBJECT.fullmatch(arguments[1 if call[1] == "Function" else 2])
    ]


def test_no_call_unpacks_a_tuple():
    """px_call_method and PyObject_CallOneArg pass one object as it is."""
    found = {p.name: calls for p in sources_of("pyext") if (calls := calls_that_unpack(p.read_text()))}
    assert not found


@pytest.mark.parametrize("code, found", [
    ('PyObject_CallMethod(st->numpy, "asarray", "O", f(a, b))', 1),
    ('PyObject_CallMethod(module,\n   name, "O",\n object)', 1),
    ('PyObject_CallFunction(px_class(st, "A, B"), "N", Py_NewRef(x))', 1),
    ('PyObject_CallMethod(st->numpy, "empty", "OOs", shape, dtype, order)', 0),
    ('PyObject_CallMethod(o, "O", "s", text) + PyObject_CallFunction(dtype, "(O)", x)', 0),
    ('PyObject_CallMethod(o, "copy", NULL)', 0),
])
def test_the_rule_about_tuples_itself(code, found):
    assert len(calls_that_unpack(code)) == found


def test_the_library_never_exits():
    assert not places(r"_?exit\s*\(|quick_exit\s*\(", *ROOMS)


def test_every_file_is_text():
    """Pictures, wheels and the like are made, not kept; only what a fuzzer begins with is bytes."""
    found = [p.relative_to(ROOT) for p in files_of("*") if p.is_file() and b"\0" in p.read_bytes()[:8192]]
    assert [p for p in found if p.parts[:3] != ("tests", "fuzz", "corpus")] == []
