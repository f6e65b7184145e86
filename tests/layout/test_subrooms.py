"""The house rules inside a room: which sub-room includes which, where things are declared, that nothing is exported in
vain, that each README names what lies beside it, and that comments fit the page.

Needs no build: it reads the tree. A sub-room's README.md gives the reasons; a rule changes there and here together.
"""

import re
from pathlib import Path

import pytest
from test_layout import INCLUDE, ROOMS, ROOT, files_of, sources_of

# What a sub-room may include of its own room, beside its own files: a folder ("ir/base/") or a single header. The
# files at the top of a room are a sub-room too ("pyext/"). A room without sub-rooms has no row.
MAY_INCLUDE = {
    "ir/": ("ir/base/",),
    "ir/base": (),
    "typeinfer/": (),
    "typeinfer/value": ("typeinfer/ty.h",),
    # These two call each other: an operator is a function (operator.add), a function is made of operators.
    "typeinfer/resolve": ("typeinfer/ty.h", "typeinfer/value/", "typeinfer/rules/", "typeinfer/engine/door.h"),
    "typeinfer/rules": ("typeinfer/ty.h", "typeinfer/value/", "typeinfer/resolve/", "typeinfer/engine/door.h"),
    "typeinfer/engine": ("typeinfer/", "typeinfer/value/", "typeinfer/resolve/", "typeinfer/rules/"),
    "codegen/": ("codegen/llvm/", "codegen/lower/", "codegen/ssa/"),
    # Kernels as bytes: what a compilation was asked for, and what the targets leave.
    "codegen/store": ("codegen/compile.h", "codegen/fork_lock.h", "codegen/llvm/", "codegen/host/", "codegen/nvptx/"),
    "codegen/nvptx": ("codegen/passes.h", "codegen/flatten/", "codegen/llvm/", "codegen/lower/",
                      "codegen/ssa/", "codegen/nvptx/ranges/", "codegen/nvptx/loops/"),
    # Rooms of passes: each asks the ranges, which ask nobody.
    "codegen/nvptx/ranges": ("codegen/nvptx/nvptx.h", "codegen/llvm/"),
    "codegen/nvptx/branches": ("codegen/nvptx/nvptx.h", "codegen/llvm/"),
    "codegen/nvptx/floats": ("codegen/nvptx/nvptx.h", "codegen/nvptx/ranges/", "codegen/llvm/"),
    "codegen/nvptx/integers": ("codegen/nvptx/nvptx.h", "codegen/nvptx/ranges/", "codegen/nvptx/loops/loop_marks.h",
                               "codegen/llvm/"),
    "codegen/nvptx/loops": ("codegen/nvptx/nvptx.h", "codegen/nvptx/ranges/", "codegen/llvm/"),
    "codegen/nvptx/locals": ("codegen/nvptx/nvptx.h", "codegen/nvptx/ranges/", "codegen/nvptx/loops/", "codegen/llvm/"),
    "codegen/nvptx/memory": ("codegen/nvptx/nvptx.h", "codegen/nvptx/ranges/", "codegen/nvptx/loops/loop_marks.h",
                             "codegen/llvm/"),
    "codegen/host": ("codegen/target.h", "codegen/passes.h", "codegen/fission/", "codegen/lanes/", "codegen/llvm/",
                     "codegen/lower/"),
    "codegen/coarsen": ("codegen/target.h", "codegen/llvm/", "codegen/ssa/"),
    "codegen/flatten": ("codegen/llvm/",),
    "codegen/lanes": ("codegen/llvm/",),
    "codegen/fission": ("codegen/llvm/",),
    "codegen/lower": ("codegen/target.h", "codegen/llvm/", "codegen/ssa/"),
    "codegen/ssa": (),
    "codegen/llvm": (),
    # What all others stand on.
    "pyext/": (),
    "pyext/objects": ("pyext/state.h", "pyext/raise.h", "pyext/attributes.def",
                      "pyext/launch/timeouts.h", "pyext/launch/traps.h"),
    # Of compile only how types are written down, nothing of what compiles.
    "pyext/array": ("pyext/state.h", "pyext/raise.h", "pyext/objects/", "pyext/compile/numba.h",
                    "pyext/compile/record.h", "pyext/compile/signature.h", "pyext/compile/type.h",
                    "pyext/launch/arguments.h", "pyext/launch/timeouts.h", "pyext/launch/traps.h"),
    "pyext/snapshot": ("pyext/state.h", "pyext/raise.h", "pyext/array/", "pyext/compile/dispatcher.h",
                       "pyext/compile/intrinsic.h", "pyext/compile/named_tuple.h",
                       "pyext/compile/numba.h", "pyext/compile/record.h",
                       "pyext/compile/signature.h", "pyext/compile/type.h", "pyext/launch/scalar.h"),
    # It asks launch to read arguments (the dispatcher) and to load what it has compiled (the overload).
    "pyext/compile": ("pyext/state.h", "pyext/raise.h", "pyext/objects/", "pyext/snapshot/snapshot.h",
                      "pyext/snapshot/captures.h",
                      "pyext/launch/checking.h", "pyext/launch/dims.h",
                      "pyext/launch/entry_loading.h", "pyext/launch/launcher.h",
                      "pyext/launch/plan.h", "pyext/launch/scalar.h", "pyext/launch/typeof.h"),
    # Everything but the snapshot.
    "pyext/launch": ("pyext/state.h", "pyext/compat.h", "pyext/raise.h", "pyext/objects/",
                     "pyext/array/", "pyext/compile/", "pyext/snapshot/captures.h"),
    "runtime/": (),
    "runtime/cache": ("runtime/status.h",),
    "runtime/host": ("runtime/status.h", "runtime/internal.h", "runtime/abi.h", "runtime/clock.h",
                     "runtime/launch/launch.h", "runtime/memory/unset.h"),
    # A device owns its streams' list, its rings and its kept memory, and a reset tells all of them.
    "runtime/driver": ("runtime/status.h", "runtime/status.def", "runtime/internal.h",
                       "runtime/host/host.h", "runtime/host/pool.h", "runtime/launch/capture.h",
                       "runtime/launch/kernel.h", "runtime/launch/stream_state.h",
                       "runtime/memory/"),
    # A capture comes before all that queues work.
    "runtime/memory": ("runtime/driver/", "runtime/host/pool.h", "runtime/launch/capture.h",
                       "runtime/launch/stream.h", "runtime/launch/stream_state.h"),
    "runtime/launch": ("runtime/abi.h", "runtime/clock.h", "runtime/driver/", "runtime/host/host.h",
                       "runtime/memory/block_cache.h", "runtime/memory/memory.h"),
}

# What single files may include beyond that: (header or folder, why, files).
EXCEPTIONS = [
    ("codegen/compile.h", "the fields of a parameter block are part of what a compilation gives",
     "codegen/ssa/params.h"),
    ("codegen/ssa/params.h", "which arrays among the parameters may be written, and where their extents are",
     "codegen/host/exact_rows.c", "codegen/host/inputs.c", "codegen/host/lasting_inputs.c",
     "codegen/host/own_sums.c", "codegen/nvptx/memory/apart.c"),
    ("typeinfer/infer.h", "the signatures that a function declares are texts, which ty_signature reads",
     "typeinfer/resolve/declared.c"),
    ("codegen/compile.h", "a Cg holds the request, of which most files want the options alone",
     "codegen/llvm/cg.h", "codegen/llvm/compat.c"),
    ("codegen/compile.h", "which ptxas to run is part of the request", "codegen/nvptx/ptxas.c"),
    ("codegen/target.h", "asks the target for its triple and data layout", "codegen/llvm/cg.c"),
    ("codegen/target.h", "asks the target what line tables it wants", "codegen/llvm/debuginfo.c"),
    ("codegen/passes.h", "notes the pass that is running", "codegen/lower/lower.c",
     "codegen/coarsen/coarsen.c"),
    ("codegen/nvptx/loops/loop_marks.h", "marks the loops that this pass rewrites",
     "codegen/lower/unroll_hints.c"),
    ("codegen/nvptx/locals/local_arrays.h", "which local arrays will be registers",
     "codegen/nvptx/loops/alternating.c"),
    ("codegen/nvptx/prepare.h", "the kernel written twice, for blocks of two sizes", "codegen/nvptx/locals/local_shared.c"),
    ("codegen/nvptx/nvptx.h", "names of special registers and address spaces",
     "codegen/coarsen/shape.c", "codegen/coarsen/write_entry.c", "codegen/flatten/flatten.c",
     "codegen/flatten/machine.c"),
    ("codegen/store/store.h", "libdevice's linked code is kept as bytes", "codegen/nvptx/libdevice.h"),
    ("codegen/host/host.h", "marks of loops and fields of the launch, which belong into llvm/",
     "codegen/lanes/align.c", "codegen/lanes/control.c", "codegen/lanes/lane_loops.c",
     "codegen/lanes/loop_versions.c", "codegen/lanes/mask_versions.c", "codegen/lanes/shape.c",
     "codegen/lanes/strides.c", "codegen/lanes/unroll.c", "codegen/lanes/values.c", "codegen/lanes/warp.c"),
    ("codegen/fission/fission.h", "which calls are barriers: marks that belong into llvm/",
     "codegen/lanes/control.c", "codegen/lanes/estimate.c", "codegen/lanes/loop_versions.c",
     "codegen/lanes/mask_versions.c", "codegen/lanes/shape.c", "codegen/lanes/strides.c",
     "codegen/lanes/unroll.c", "codegen/lanes/values.c", "codegen/lanes/warp.c"),
    ("codegen/lanes/lanes.h", "asks which values all lanes share", "codegen/fission/fission.c"),
    *((header, "a graph is launches that are kept: it is a client of launch, and the rest of objects is not",
       "pyext/objects/graph.c")
      for header in ("pyext/array/device_array.h", "pyext/compile/coverage.h", "pyext/compile/dispatcher.h", "pyext/compile/overload.h",
                     "pyext/compile/signature.h", "pyext/launch/launcher.h", "pyext/launch/overlap.h", "pyext/launch/prints.h", "pyext/launch/typeof.h")),
    ("pyext/launch/checking.h", "PYPTX_DEVICE=python says how launches run, and is read where devices are chosen",
     "pyext/objects/device.c"),
    *((f"pyext/{folder}/", "the file that puts the module together", "pyext/module.c")
      for folder in ("array", "compile", "launch", "objects", "snapshot")),
    *((f"runtime/driver/{header}", "an error's text names the kernels that ran last", "runtime/status.c")
      for header in ("device_state.h", "driver.h")),
]

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
                                "runtime/launch/cooperative.c", "runtime/launch/cluster.c"),
    "runtime/launch/stream_state.h": ("runtime/launch/stream.c",),
    "runtime/memory/block_cache.h": ("runtime/memory/memory.c",),
    "runtime/memory/memory.h": ("runtime/memory/memory.c", "runtime/memory/pinned.c",
                                "runtime/memory/staging.c", "runtime/memory/strided_copies.c"),
}


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


# --- arrows --------------------------------------------------------------------------------------


def rights_of(name):
    """What lets a file include headers of its room: (the table's row, header or folder)."""
    rows = [(subroom_of(name), allowed) for allowed in MAY_INCLUDE.get(subroom_of(name), ())]
    return rows + [(name, header) for header, why, *files in EXCEPTIONS if name in files]


def crossings():
    """(file, header) of every include that crosses a border between sub-rooms of one room."""
    for room in ROOMS:
        for path in sources_of(room):
            for kind, header in INCLUDE.findall(path.read_text()):
                if kind == '"' and header.startswith(room + "/") and subroom_of(header) != subroom_of(name_of(path)):
                    yield name_of(path), header


def test_arrows():
    faults = [f"{name} may not include {header}" for name, header in crossings()
              if not any(allows(allowed, header) for row, allowed in rights_of(name))]
    assert not faults, "\n".join(faults)


def test_the_tables_of_arrows_are_no_longer_than_needed():
    used = {right for name, header in crossings() for right in rights_of(name) if allows(right[1], header)}
    rights = [(row, allowed) for row, all_allowed in MAY_INCLUDE.items() for allowed in all_allowed]
    rights += [(file, header) for header, why, *files in EXCEPTIONS for file in files]
    assert not (unused := [right for right in rights if right not in used]), unused
    assert len(rights) == len(set(rights))


def test_every_sub_room_has_its_arrows():
    folders = {subroom_of(name_of(path)) for room in ROOMS for path in sources_of(room)}
    alone = {room + "/" for room in ROOMS if not any(f.startswith(room + "/") and f != room + "/" for f in folders)}
    assert folders - alone == set(MAY_INCLUDE)


@pytest.mark.parametrize("name, header, allowed", [
    ("typeinfer/value/cast.c", "typeinfer/resolve/resolve.h", False),
    ("typeinfer/value/cast.c", "typeinfer/ty.h", True),
    ("typeinfer/rules/cuda.c", "typeinfer/engine/door.h", True),
    ("typeinfer/rules/cuda.c", "typeinfer/engine/engine.h", False),
    ("typeinfer/ty.h", "typeinfer/value/value.h", False),
    ("codegen/llvm/compat.c", "codegen/compile.h", True),
    ("codegen/llvm/match.c", "codegen/compile.h", False),
    ("pyext/objects/stream.c", "pyext/launch/traps.h", True),
    ("pyext/objects/stream.c", "pyext/launch/launcher.h", False),
    ("pyext/objects/graph.c", "pyext/launch/launcher.h", True),
    ("pyext/array/make.c", "pyext/compile/dispatcher.h", False),
    ("runtime/memory/memory.c", "runtime/driver/context.h", True),
    ("runtime/cache/cache_files.c", "runtime/driver/device.h", False),
])
def test_the_rule_of_arrows_itself(name, header, allowed):
    assert any(allows(right, header) for row, right in rights_of(name)) == allowed


# --- declarations --------------------------------------------------------------------------------

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DECLARED = re.compile(r"^(?!\s|#|static|typedef)[\w *]*?[\s*](\w+)\s*\([^;{}]*\)[^;{}]*;", re.M)
DEFINED = re.compile(r"^(?!\s|#|static|typedef)[\w *]*?[\s*](\w+)\([^;{}]*\)\s*\{", re.M)
TYPE = re.compile(r"^typedef (?:struct|union|enum) (\w+) \{|^typedef [^;{}()]*?(\w+);|^typedef [^;{]*?\(\*(\w+)\)", re.M)
STATIC = re.compile(r"^static\s[^;{=#]*?(\w+)\s*(?:\(|\[|=|;)", re.M)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")

KEPT = {
    # codegen/host/symbols.def pastes these names together, which no text search finds
    "cg_extendhfsf2", "cg_extendhfdf2", "cg_truncsfhf2", "cg_truncdfhf2", "cg_truncsfbf2", "cg_truncdfbf2",
    # the dispatch of lowering pastes these together from ir/ops.def
    *("lw_" + word for word in WORD.findall((ROOT / "ir/ops.def").read_text())),
    # what tests of passes are made with: text in, one row or all rows of a pass, the order of the tables
    "cg_run_row", "cg_run_within", "cg_pass", "cg_misplaced_row",
    # what the reader of SSA text asks, which tests alone have
    "intern_n",
    # what the graph's tests ask; the graph itself is the only other that does
    "graph_dominates",
}  # fmt: skip


def code(rooms=ROOMS):
    """Text of every source, without comments and strings, by name."""
    return {name_of(p): NOT_CODE.sub(" ", p.read_text()) for room in rooms for p in sources_of(room)}


def needless_exports(sources):
    """Functions declared in headers that only the file which defines them mentions. Tests are no users: what only they
    call belongs into tests/unit/support."""
    words = {path: WORD.findall(text) for path, text in sources.items()}
    users = {}
    for path, all_words in words.items():
        for word in set(all_words):
            users.setdefault(word, set()).add(path)
    return [
        f"{header}: {name}"
        for header, text in sources.items() if header.endswith(".h") for name in DECLARED.findall(text)
        # a macro or an inline function of the header may be the one that calls it
        if len(users[name] - {header}) < 2 and words[header].count(name) == 1
    ]


def needless_types(sources):
    """Names of types that nothing mentions but their own definition."""
    count = {}
    for text in sources.values():
        for word in WORD.findall(text):
            count[word] = count.get(word, 0) + 1
    found = []
    for path, text in sources.items():
        for name in {a or b or c for a, b, c in TYPE.findall(text)}:
            own = len(re.findall(rf"\b(?:struct|union|enum) {name}\b", text)) + len(re.findall(rf"\}} *{name};", text))
            if count[name] <= max(own, 1):
                found.append(f"{path}: {name}")
    return found


def test_no_export_without_a_user_outside_its_file():
    found = [f for f in needless_exports(code()) if f.split(": ")[1] not in KEPT]
    assert not found, "make them static:\n" + "\n".join(found)


def test_no_type_without_a_user():
    assert not (found := needless_types(code())), found


def test_the_rules_of_exports_themselves():
    header = "int used(int a);\nint alone(int a);\nint gone(void);\ntypedef struct Seen { int a; } Seen;\nint of(Seen s);\n"
    header += "typedef enum Unseen { A } Unseen;\ntypedef int Number;\n"
    home = "int used(int a) { return a; }\nint alone(int a) { return used(a); }\nint of(Seen s) { return s.a; }\n"
    other = "int main(void) { return used(1) + of((Seen){0}); }\n"
    sources = {"a.h": header, "a.c": home, "b.c": other}
    assert needless_exports(sources) == ["a.h: alone", "a.h: gone"]
    assert sorted(needless_types(sources)) == ["a.h: Number", "a.h: Unseen"]


# Prefixes of docs/CONVENTIONS.md, and words that stand for one in a small header of their own.
PREFIX = re.compile(r"(?:ir|cx|fz|bc|ty|cg|lw|ln|fs|fl|co|hl|rt|px|l|graph|set|arena|buf|char|ins)_")


def test_statics_of_headers_have_a_prefix():
    """They are names in every file that includes the header."""
    plain = {f"{path}: {name}" for path, text in code().items() if path.endswith(".h")
             for name in STATIC.findall(text) if not PREFIX.match(name)}
    assert not plain


def declarations():
    """(header, function) of the rooms whose headers have the names of their files."""
    for path, text in code(("pyext", "runtime")).items():
        if path.endswith(".h"):
            yield from ((path, f) for f in DECLARED.findall(text))


def definitions():
    return {f: path for path, text in code(("pyext", "runtime")).items() if path.endswith(".c")
            for f in DEFINED.findall(text)}


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


# --- READMEs -------------------------------------------------------------------------------------

HAVE_READMES = {f.rstrip("/") for f in MAY_INCLUDE} - {"ir/base"} | {"frontend"}
NAMED = re.compile(r"`([\w./-]+\.(?:c|h|def|py|md))`")


def readmes():
    return [p for p in files_of("*/README.md", "*/*/README.md") if p.relative_to(ROOT).parts[0] in ROOMS]


def test_rooms_have_readmes():
    have = {p.parent.relative_to(ROOT).as_posix() for p in readmes()}
    assert not HAVE_READMES - have


def faults_of_readme(folder, text):
    """Sources of the folder that its README does not name, and names in it of files that are not there."""
    named = set(NAMED.findall(text))
    missing = [p.name for p in sorted((ROOT / folder).glob("*.c")) if p.name not in named]
    places = (ROOT / folder, ROOT / Path(folder).parts[0], ROOT)
    return missing + [n for n in sorted(named) if not any((p / n).exists() for p in places)]


@pytest.mark.parametrize("path", readmes(), ids=lambda p: p.parent.relative_to(ROOT).as_posix())
def test_a_readme_names_the_files_beside_it(path):
    assert not faults_of_readme(path.parent.relative_to(ROOT).as_posix(), path.read_text())


def test_the_rule_of_readmes_itself():
    faults = faults_of_readme("typeinfer/engine", "`infer.c`, `engine/spec.c`, `no_such_file.c`")
    assert "infer.c" not in faults and "spec.c" in faults and "no_such_file.c" in faults


# --- comments ------------------------------------------------------------------------------------

C = (".c", ".h", ".def")
PROSE = re.compile(r"^\s*(?:/\*|\*|//|#)(?!\s*(?:include|define|if|el|endif|undef|error|pragma))")


def long_comments(text, suffix):
    """Numbers of lines longer than 100 columns of which a part is a comment."""
    if suffix not in C:
        return [n for n, line in enumerate(text.split("\n"), 1) if len(line) > 100 and line.lstrip().startswith("#")]
    found, inside = [], False
    for number, line in enumerate(text.split("\n"), 1):
        whole = inside or PROSE.match(line) or (suffix != ".def" and ("/*" in line or "//" in line.split('"')[0]))
        if len(line) > 100 and whole:
            found.append(number)
        begin, end = line.rfind("/*"), line.rfind("*/")
        inside = begin > end or (inside and end < 0)
    return found


@pytest.mark.parametrize("room", ["ir", "frontend", "typeinfer", "codegen", "runtime", "pyext", "tests/unit", "tests/standin", "tests/ptx_on_cpu"])
def test_comments_fit_the_page(room):
    sources = files_of(*(f"{room}/*.{suffix}" for suffix in ("c", "h", "def", "py", "pyi")))
    found = [f"{name_of(p)}:{n}" for p in sources for n in long_comments(p.read_text(), p.suffix)]
    assert not found, "\n".join(found)


def test_the_rule_of_comments_itself():
    long = "x" * 101
    assert long_comments(f"/* {long} */\nint a;\n/* one\n * {long}\n */\nint {long};\n", ".c") == [1, 4]
    assert long_comments(f"# {long}\na = '{long}'\n", ".py") == [1]


def test_errors_stand_in_the_order_of_their_codes():
    codes = re.findall(r'^[EA]\(\w+,\s*"(PT\d+)"', (ROOT / "ir/base/errors.def").read_text(), re.M)
    assert len(codes) > 70 and codes == sorted(set(codes))
