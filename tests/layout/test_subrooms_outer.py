"""The sub-rooms of pyext and runtime: who includes whom, where things are declared, and what a reader finds there.

Needs no build: it reads the tree. A sub-room's README.md gives the reasons; a rule changes there and here together.
"""

import re

import pytest

from test_layout import INCLUDE, ROOT, files_of, sources_of

ROOMS = ("pyext", "runtime")

# What a sub-room may include of its own room, beside its own files: a folder (all of its headers) or a
# single header. The files at the top of a room are a sub-room too ("pyext/"). A row for a single file
# replaces its sub-room's: that file stands on another floor than its neighbours.
MAY_INCLUDE = {
    # What all others stand on.
    "pyext/": (),
    # … but for the file that puts the module together.
    "pyext/module.c": ("pyext/",),
    "pyext/objects": ("pyext/state.h", "pyext/raise.h", "pyext/attributes.def",
                      "pyext/launch/traps.h"),
    # A graph is launches that are kept: it is a client of launch, and the rest of objects is not.
    "pyext/objects/graph.c": ("pyext/raise.h", "pyext/objects/",
                              "pyext/array/device_array.h", "pyext/compile/dispatcher.h",
                              "pyext/compile/overload.h", "pyext/compile/signature.h",
                              "pyext/launch/launcher.h", "pyext/launch/traps.h",
                              "pyext/launch/typeof.h"),
    # Of compile only how types are written down, nothing of what compiles.
    "pyext/array": ("pyext/state.h", "pyext/raise.h", "pyext/objects/", "pyext/compile/numba.h",
                    "pyext/compile/record.h", "pyext/compile/signature.h", "pyext/compile/type.h",
                    "pyext/launch/arguments.h", "pyext/launch/traps.h"),
    "pyext/snapshot": ("pyext/state.h", "pyext/raise.h", "pyext/array/", "pyext/compile/dispatcher.h",
                       "pyext/compile/intrinsic.h", "pyext/compile/named_tuple.h",
                       "pyext/compile/numba.h", "pyext/compile/record.h",
                       "pyext/compile/signature.h", "pyext/compile/type.h", "pyext/launch/scalar.h"),
    # It asks launch to read arguments (the dispatcher) and to load what it has compiled (the overload).
    "pyext/compile": ("pyext/state.h", "pyext/raise.h", "pyext/objects/", "pyext/snapshot/snapshot.h",
                      "pyext/launch/entry_loading.h", "pyext/launch/launcher.h",
                      "pyext/launch/plan.h", "pyext/launch/scalar.h", "pyext/launch/typeof.h"),
    # Everything but the snapshot.
    "pyext/launch": ("pyext/state.h", "pyext/compat.h", "pyext/raise.h", "pyext/objects/",
                     "pyext/array/", "pyext/compile/"),
    "runtime/": (),
    # An error's text names the kernels that ran last.
    "runtime/status.c": ("runtime/", "runtime/driver/device_state.h", "runtime/driver/driver.h"),
    "runtime/cache": ("runtime/status.h",),
    "runtime/host": ("runtime/status.h", "runtime/internal.h", "runtime/abi.h",
                     "runtime/launch/launch.h"),
    # A device owns its streams' list, its rings and its kept memory, and a reset tells all of them.
    "runtime/driver": ("runtime/status.h", "runtime/status.def", "runtime/internal.h",
                       "runtime/host/host.h", "runtime/host/pool.h", "runtime/launch/capture.h",
                       "runtime/launch/kernel.h", "runtime/launch/stream_state.h",
                       "runtime/memory/"),
    # A capture comes before all that queues work.
    "runtime/memory": ("runtime/driver/", "runtime/host/pool.h", "runtime/launch/capture.h",
                       "runtime/launch/stream.h", "runtime/launch/stream_state.h"),
    "runtime/launch": ("runtime/abi.h", "runtime/driver/", "runtime/host/host.h",
                       "runtime/memory/block_cache.h", "runtime/memory/memory.h"),
}

# A header declares what the file of its name holds. These are the doors of a folder: what other rooms
# may ask of it, whichever file answers.
DOORS = {
    "pyext/state.h": ("pyext/module.c", "pyext/array/make.c", "pyext/array/memory.c",
                      "pyext/compile/disk_cache.c", "pyext/compile/type.c", "pyext/objects/device.c",
                      "pyext/objects/graph.c", "pyext/objects/stream.c"),
    "pyext/snapshot/work.h": ("pyext/snapshot/snapshot.c",),
    "runtime/internal.h": ("runtime/status.c",),
    "runtime/driver/device.h": ("runtime/driver/device.c", "runtime/driver/context.c",
                                "runtime/driver/driver.c"),
    "runtime/driver/device_state.h": ("runtime/driver/device.c",),
    "runtime/host/host.h": ("runtime/host/host.c", "runtime/host/print.c"),
    "runtime/host/meet.h": ("runtime/host/meet.c", "runtime/host/host.c"),
    "runtime/launch/capture.h": ("runtime/launch/graph.c",),
    "runtime/launch/kernel.h": ("runtime/launch/launch.c", "runtime/launch/module.c"),
    "runtime/launch/launch.h": ("runtime/launch/launch.c", "runtime/launch/module.c",
                                "runtime/launch/cooperative.c"),
    "runtime/launch/stream_state.h": ("runtime/launch/stream.c",),
    "runtime/memory/block_cache.h": ("runtime/memory/memory.c",),
    "runtime/memory/memory.h": ("runtime/memory/memory.c", "runtime/memory/pinned.c",
                                "runtime/memory/staging.c", "runtime/memory/strided_copies.c"),
}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def subroom_of(name):
    """The folder of a file; the files at the top of a room are in "room/"."""
    folder = name.rsplit("/", 1)[0]
    return folder if "/" in folder else folder + "/"


def allows(allowed, header):
    if allowed.endswith("/"):
        return subroom_of(header) in (allowed, allowed[:-1])
    return header == allowed


def includes():
    """(file, header) of every include of these rooms that crosses a border between sub-rooms."""
    for room in ROOMS:
        for path in sources_of(room):
            for kind, header in INCLUDE.findall(path.read_text()):
                if kind == '"' and header.startswith(room + "/") and subroom_of(header) != subroom_of(name_of(path)):
                    yield name_of(path), header


def row_of(name):
    return name if name in MAY_INCLUDE else subroom_of(name)


def test_arrows():
    faults = [
        f'{name}: {row_of(name)} may not include "{header}"'
        for name, header in includes()
        if name != "pyext/module.c" and not any(allows(a, header) for a in MAY_INCLUDE.get(row_of(name), ()))
    ]
    assert not faults, "\n".join(faults)


def test_the_table_of_arrows_is_no_longer_than_needed():
    used = {(row_of(name), a) for name, header in includes() for a in MAY_INCLUDE.get(row_of(name), ()) if allows(a, header)}
    own = {(row, a) for row, allowed in MAY_INCLUDE.items() for a in allowed if subroom_of(row + "/x" if "." not in row else row) in (a, a[:-1])}
    unused = [(row, a) for row, allowed in MAY_INCLUDE.items() for a in allowed if (row, a) not in used | own]
    assert not unused


@pytest.mark.parametrize("name, header, allowed", [
    ("pyext/objects/stream.c", "pyext/launch/traps.h", True),
    ("pyext/objects/stream.c", "pyext/launch/launcher.h", False),
    ("pyext/objects/graph.c", "pyext/launch/launcher.h", True),
    ("pyext/array/make.c", "pyext/compile/dispatcher.h", False),
    ("runtime/memory/memory.c", "runtime/driver/context.h", True),
    ("runtime/cache/cache_files.c", "runtime/driver/device.h", False),
])
def test_the_rule_about_arrows_itself(name, header, allowed):
    assert any(allows(a, header) for a in MAY_INCLUDE[row_of(name)]) == allowed


def code_of(path):
    return COMMENT.sub("", path.read_text())


DEFINED = re.compile(r"^(?!static\b|typedef\b)[A-Za-z_][\w \t*]*?[ *]((?:px|rt)_\w+)\([^;{}]*\)\s*\{", re.M)
DECLARED = re.compile(r"^(?!static\b|typedef\b|\s)[A-Za-z_][\w \t*]*?[ *]((?:px|rt)_\w+)\([^;{}]*\)[^;{}]*;", re.M)


def declarations():
    """(header, function) of these rooms."""
    for room in ROOMS:
        for path in sources_of(room):
            if path.suffix == ".h":
                yield from ((name_of(path), f) for f in DECLARED.findall(code_of(path)))


def definitions():
    return {f: name_of(path) for room in ROOMS for path in sources_of(room) if path.suffix == ".c"
            for f in DEFINED.findall(code_of(path))}


def test_a_header_declares_what_the_file_of_its_name_holds():
    held = definitions()
    astray = [
        f"{header} declares {f}, which {held.get(f, 'nobody')} holds"
        for header, f in declarations()
        if held.get(f) not in DOORS.get(header, (header[:-2] + ".c",))
    ]
    assert not astray, "\n".join(astray)


def test_the_doors_are_needed():
    held = definitions()
    behind = {(header, held[f]) for header, f in declarations() if f in held}
    data = {("pyext/state.h", name) for name in DOORS["pyext/state.h"]}  # the tables of functions
    assert not {(h, c) for h, files in DOORS.items() for c in files} - behind - data


def test_what_only_its_own_file_uses_is_static():
    """What only tests call is no use either: it belongs into tests/unit/support."""
    held = definitions()
    product = ("ir", "frontend", "typeinfer", "codegen", *ROOMS)
    words = {name_of(p): set(re.findall(r"\w+", code_of(p))) for room in product for p in sources_of(room)}
    lonely = [
        f"{held[f]}: {f} is used nowhere else"
        for header, f in declarations()
        if f in held and not any(f in w for name, w in words.items() if name not in (header, held[f]))
        # a macro or an inline function of the header may be the one that calls it
        and len(re.findall(rf"\b{f}\b", code_of(ROOT / header))) < 2
    ]
    assert not lonely, "\n".join(lonely)


READ_AT_ONCE = ("pyext", "runtime", "tests/unit", "tests/standin", "tests/ptx_on_cpu")
PROSE = re.compile(r"^\s*(?:/\*|\*|//|#)(?!\s*(?:include|define|if|el|endif|undef|error|pragma))")


def comment_lines(path):
    """(number, line) of the lines of a file that are a comment and nothing else."""
    inside = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        begins = bool(PROSE.match(line)) if path.suffix in (".c", ".h", ".def") else line.lstrip().startswith("#")
        if path.suffix in (".c", ".h", ".def"):
            whole = inside or begins
            opened, closed = line.rfind("/*"), line.rfind("*/")
            inside = opened > closed if opened >= 0 or closed >= 0 else inside
        else:
            whole = begins
        if whole:
            yield number, line


@pytest.mark.parametrize("room", READ_AT_ONCE)
def test_comments_within_100_columns(room):
    long = [
        f"{name_of(path)}:{number}: {len(line)} columns"
        for path in files_of(f"{room}/*.c", f"{room}/*.h", f"{room}/*.def", f"{room}/*.py", f"{room}/*.pyi")
        for number, line in comment_lines(path)
        if len(line) > 100
    ]
    assert not long, "\n".join(long)


FOLDERS = sorted({folder for room in ROOMS for p in sources_of(room) if "/" in (folder := subroom_of(name_of(p)).rstrip("/"))} | {"pyext"})


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_file_is_in_its_readme(folder):
    readme = ROOT / folder / "README.md"
    assert readme.is_file(), f"{folder} has no README.md"
    text = readme.read_text()
    assert not [p.name for p in (ROOT / folder).glob("*.c") if f"`{p.name}`" not in text]
    assert not [line for line in text.split("\n") if len(line) > 100 and not line.startswith("|")]
    prose = re.sub(r"`[^`]*`", "", text)
    linked = [ROOT / folder / target for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose)]
    assert not [str(target) for target in linked if not target.exists()]
