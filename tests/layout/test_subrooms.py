"""The house rules inside a room: which way its sub-rooms call, that each README names what lies beside
it, that nothing is exported in vain, and that comments fit the page.

The tables below are filled room by room: what is not in one is not checked yet. Needs no build.
"""

import re
from pathlib import Path

import pytest
from test_layout import INCLUDE, ROOMS, ROOT, files_of, sources_of

# What a sub-room may include of its room, beside its own files: a folder, or a single file. "" is what
# lies in the room's folder itself.
SUBROOMS = {
    "typeinfer": {
        "": (),
        "value": ("ty.h",),
        # These two call each other: an operator is a function (operator.add), a function is made of
        # operators.
        "resolve": ("ty.h", "value/", "rules/", "engine/door.h"),
        "rules": ("ty.h", "value/", "resolve/", "engine/door.h"),
        "engine": ("ty.h", "infer.h", "value/", "resolve/", "rules/"),
    },
    "codegen": {
        "": ("coarsen/", "fission/", "flatten/", "host/", "lanes/", "llvm/", "lower/", "nvptx/", "ssa/",
             "store/"),
        # Kernels as bytes: what a compilation was asked for, and what the targets leave.
        "store": ("compile.h", "fork_lock.h", "llvm/", "host/", "nvptx/"),
        "nvptx": ("target.h", "passes.h", "coarsen/", "flatten/", "llvm/", "lower/", "ssa/"),
        "host": ("target.h", "passes.h", "fission/", "lanes/", "llvm/", "lower/", "ssa/"),
        "coarsen": ("target.h", "llvm/", "lower/", "ssa/"),
        "flatten": ("target.h", "llvm/", "lower/", "ssa/"),
        "lanes": ("target.h", "llvm/", "lower/", "ssa/"),
        "fission": ("target.h", "llvm/", "lower/", "ssa/"),
        "lower": ("target.h", "llvm/", "ssa/"),
        "ssa": (),
        "llvm": (),
    },
}

# Today's exceptions, as (header, why, files that include it). One that nobody needs any more goes.
UPWARD = [
    ("codegen/compile.h", "the fields of a parameter block are part of what a compilation gives",
     "codegen/ssa/params.h"),
    ("typeinfer/infer.h", "the signatures that a function declares are texts, which ty_signature reads",
     "typeinfer/resolve/declared.c"),
    ("codegen/compile.h", "a Cg holds the request, of which most files want the options alone",
     "codegen/llvm/cg.h", "codegen/llvm/compat.c"),
    ("codegen/compile.h", "which ptxas to run is part of the request", "codegen/nvptx/ptxas.c"),
    ("codegen/target.h", "asks the target for its triple and data layout", "codegen/llvm/cg.c"),
    ("codegen/target.h", "asks the target what line tables it wants", "codegen/llvm/debuginfo.c"),
    ("codegen/passes.h", "notes the pass that is running", "codegen/lower/lower.c",
     "codegen/coarsen/coarsen.c"),
    ("codegen/nvptx/masked_unroll.h", "marks the loops that this pass rewrites",
     "codegen/lower/unroll_hints.c"),
    ("codegen/nvptx/nvptx.h", "names of special registers and address spaces",
     "codegen/coarsen/shape.c", "codegen/coarsen/write_entry.c", "codegen/flatten/flatten.c",
     "codegen/flatten/machine.c"),
    ("codegen/store/store.h", "libdevice's linked code is kept as bytes", "codegen/nvptx/libdevice.h"),
    ("codegen/host/host.h", "marks of loops and fields of the launch, which belong into llvm/",
     "codegen/lanes/control.c", "codegen/lanes/loop_versions.c", "codegen/lanes/shape.c",
     "codegen/lanes/unroll.c", "codegen/lanes/values.c", "codegen/lanes/warp.c"),
    ("codegen/fission/fission.h", "which calls are barriers: marks that belong into llvm/",
     "codegen/lanes/control.c", "codegen/lanes/loop_versions.c", "codegen/lanes/shape.c",
     "codegen/lanes/unroll.c", "codegen/lanes/values.c", "codegen/lanes/warp.c"),
    ("codegen/lanes/lanes.h", "asks which values all lanes share", "codegen/fission/fission.c"),
]


def upward(room, path, text):
    """Headers that a file of `room` (path from the root) includes against the table's arrows."""
    here = path.split("/")[1] if path.count("/") > 1 else ""
    allowed = SUBROOMS[room][here]
    return [
        name for kind, name in INCLUDE.findall(text)
        if kind == '"' and name.startswith(room + "/")
        and (name.split("/")[1] if name.count("/") > 1 else "") != here
        and not any(name[len(room) + 1 :] == a or (a.endswith("/") and name.startswith(f"{room}/{a}"))
                    for a in allowed)
    ]


@pytest.mark.parametrize("room", SUBROOMS)
def test_arrows(room):
    known = {(file, header) for header, why, *files in UPWARD for file in files
             if file.startswith(room + "/")}
    found = {(path.relative_to(ROOT).as_posix(), header) for path in sources_of(room)
             for header in upward(room, path.relative_to(ROOT).as_posix(), path.read_text())}
    assert not (new := found - known), "\n".join(f"{f} may not include {h}" for f, h in sorted(new))
    assert not (gone := known - found), "\n".join(f"{f} needs {h} no more: strike it from UPWARD"
                                                  for f, h in sorted(gone))


@pytest.mark.parametrize("room", SUBROOMS)
def test_every_folder_of_a_room_has_its_arrows(room):
    folders = {p.relative_to(ROOT / room).parent.as_posix() for p in sources_of(room)}
    assert {f if f != "." else "" for f in folders} == set(SUBROOMS[room])


@pytest.mark.parametrize("path, header, wrong", [
    ("typeinfer/value/cast.c", "typeinfer/value/dates.h", False),
    ("typeinfer/value/cast.c", "typeinfer/resolve/resolve.h", True),
    ("typeinfer/value/cast.c", "ir/cx.h", False),
    ("typeinfer/rules/cuda.c", "typeinfer/engine/door.h", False),
    ("typeinfer/rules/cuda.c", "typeinfer/engine/engine.h", True),
    ("typeinfer/ty.h", "typeinfer/value/value.h", True),
])
def test_the_rule_of_arrows_itself(path, header, wrong):
    assert upward("typeinfer", path, f'int before;\n#include "{header}"\n') == [header] * wrong


# --- READMEs -------------------------------------------------------------------------------------

HAVE_READMES = ("ir", "frontend", "typeinfer", *(f"typeinfer/{f}" for f in SUBROOMS["typeinfer"] if f))
NAMED = re.compile(r"`([\w./-]+\.(?:c|h|def|py|md))`")


def readmes():
    return [p for p in files_of("*/README.md", "*/*/README.md") if p.relative_to(ROOT).parts[0] in ROOMS]


def test_rooms_have_readmes():
    have = {p.parent.relative_to(ROOT).as_posix() for p in readmes()}
    assert not set(HAVE_READMES) - have


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


# --- exports -------------------------------------------------------------------------------------

KEPT = {
    # codegen/host/symbols.def pastes these names together, which no text search finds
    "cg_extendhfsf2", "cg_extendhfdf2", "cg_truncsfhf2", "cg_truncdfhf2", "cg_truncsfbf2", "cg_truncdfbf2",
    # the dispatch of lowering pastes these together from ir/ops.def
    *("lw_" + word for word in re.findall(r"\w+", (ROOT / "ir/ops.def").read_text())),
    # reads a program of several functions, as ir_print writes it: for tests of passes
    "ir_parse",
}
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DECLARED = re.compile(r"^(?!\s|#|static|typedef)[\w *]*?[\s*](\w+)\s*\([^;{}]*\)[^;{}]*;", re.M)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def needless_exports(headers, users):
    """Functions declared in headers which only the file that defines them mentions.

    Both are dictionaries of path to text. Tests count as users.
    """
    code = {path: NOT_CODE.sub(" ", text) for path, text in {**headers, **users}.items()}
    words = {path: WORD.findall(text) for path, text in code.items()}
    count = {}
    for path, all_words in words.items():
        for word in set(all_words):
            count.setdefault(word, []).append(path)
    return [
        f"{header}: {name}"
        for header in headers for name in DECLARED.findall(code[header])
        if len([p for p in count[name] if p != header]) < 2 and words[header].count(name) == 1
    ]


def test_no_export_without_a_user_outside_its_file():
    sources = {p: p.read_text() for room in ROOMS for p in sources_of(room)}
    headers = {p.relative_to(ROOT): t for p, t in sources.items() if p.suffix == ".h"}
    users = {p: t for p, t in sources.items() if p.suffix != ".h"}
    users |= {p: p.read_text() for p in files_of("tests/*.c", "tests/**/*.c", "tests/**/*.h")}
    found = [f for f in needless_exports(headers, users) if f.split(": ")[1] not in KEPT]
    assert not found, "make them static:\n" + "\n".join(found)


def test_the_rule_of_exports_itself():
    header = "int used(int a);\nint alone(int a); /* used */\nint gone(void);\n"
    home = "int used(int a) { return a; }\nint alone(int a) { return used(a); }\n"
    other = "int main(void) { return used(1); } /* alone */\n"
    assert needless_exports({"a.h": header}, {"a.c": home, "b.c": other}) == ["a.h: alone", "a.h: gone"]


# --- comments ------------------------------------------------------------------------------------

# Folders whose comments are done, with what lies in them directly.
REWRAPPED = ("ir", "ir/base", "frontend", "typeinfer", *(f"typeinfer/{f}" for f in SUBROOMS["typeinfer"] if f))


def long_comments(text):
    """Numbers of lines longer than 100 columns of which a part is a comment."""
    found, inside = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 100 and (inside or "/*" in line or "//" in line.split('"')[0]):
            found.append(number)
        begin, end = line.rfind("/*"), line.rfind("*/")
        inside = begin > end or (inside and end < 0)
    return found


@pytest.mark.parametrize("folder", REWRAPPED)
def test_comments_fit_the_page(folder):
    sources = [p for p in sources_of(folder.split("/")[0]) if p.parent == ROOT / folder]
    found = [f"{p.relative_to(ROOT)}:{n}" for p in sources for n in long_comments(p.read_text())]
    assert not found, "\n".join(found)


def test_the_rule_of_comments_itself():
    long = "x" * 101
    assert long_comments(f"/* {long} */\nint a;\n/* one\n * {long}\n */\nint {long};\n") == [1, 4]


def test_errors_stand_in_the_order_of_their_codes():
    codes = re.findall(r'^[EA]\(\w+,\s*"(PT\d+)"', (ROOT / "ir/base/errors.def").read_text(), re.M)
    assert len(codes) > 70 and codes == sorted(set(codes))
