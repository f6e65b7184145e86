"""The rules of Markdown in this tree, and of the places that cite it.

Needs no build: prose is broken at 100 columns, a long page has a list of contents, every relative link and
anchor leads somewhere, and a page or section that code, tests or pages cite by name exists.
"""

import re
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 100
LONG_PAGE = 15_000  # bytes
CODE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)
INLINE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)


def tracked(*patterns):
    """The project's files, tracked or about to be, in a checkout or in a plain copy of it."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z", "--", *patterns],
            cwd=ROOT, capture_output=True, check=True, text=True,
        ).stdout.split("\0")
        found = [ROOT / name for name in names if name]
    except (OSError, subprocess.CalledProcessError):
        skipped = ("build", ".venv", ".wheels", ".git")
        found = [p for pattern in patterns for p in ROOT.rglob(pattern)
                 if not p.relative_to(ROOT).parts[0].startswith(skipped)]
    return sorted(p for p in found if p.is_file())


PAGES = tracked("*.md")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


def long_lines(text):
    """Numbers of the prose lines that could have been broken before column 100."""
    long, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and len(line) > COLUMNS and not line.startswith(("|", "    ", "#", "<!--")):
            words = re.sub(r"^ *(?:[*+-]|\d+\.) |\]\([^)]*\)|(`+).+?\1", "x", line).split()
            if len(words) > 1:
                long.append(number)
    return long


@pytest.mark.parametrize("text, found", [
    ("word " * 30, [1]),
    ("word " * 19, []),
    ("| " + "cell " * 30, []),
    ("```\n" + "code " * 30 + "\n```\n" + "word " * 30, [4]),
    ("* [page](" + "x" * 100 + ")", []),
    ("* a [page](" + "x" * 100 + ")", [1]),
])
def test_the_rule_of_width_itself(text, found):
    assert long_lines(text) == found


@each_page
def test_width(page):
    assert not (found := long_lines(page.read_text())), f"lines of more than {COLUMNS} columns: {found}"


def headings(text):
    return re.findall(r"^(#+) +(.+?) *$", CODE.sub("", text), flags=re.M)


def anchor(heading):
    """The anchor that GitHub makes of a heading."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


@lru_cache(None)
def anchors(page):
    seen, found = {}, set()
    for _, heading in headings(page.read_text()):
        name = anchor(heading)
        again = seen.get(name, 0)
        seen[name] = again + 1
        found.add(f"{name}-{again}" if again else name)
    return found


def links(text):
    """(target, anchor) of every relative link, code left out."""
    text = INLINE.sub("", CODE.sub("", text))
    found = re.findall(r"\]\(([^)\s]*)\)", text)
    return [target.partition("#")[::2] for target in found if not re.match(r"[a-z]+:", target)]


@each_page
def test_links(page):
    wrong = []
    for target, name in links(page.read_text()):
        file = (page.parent / target).resolve() if target else page
        if not file.exists():
            wrong.append(f"{target}: no such file")
        elif name and file.suffix == ".md" and name not in anchors(file):
            wrong.append(f"{target}#{name}: no such heading")
    assert not wrong, "\n".join(wrong)


def test_the_rule_of_links_itself():
    assert links("[a](b.md#c) `[no](x)` [d](https://e.f) [g](#h)") == [("b.md", "c"), ("", "h")]
    assert anchor("Code of `other` compilers, and [more](x.md)") == "code-of-other-compilers-and-more"


def contents_missing(text):
    """Sections of a page that its list of contents does not link to, or None where it has no such list."""
    sections = [anchor(heading) for level, heading in headings(text) if level == "##"]
    if "contents" not in sections:
        return None
    start = re.search(r"^## +Contents *$", text, flags=re.M).end()
    end = text.find("\n## ", start)
    listed = {name for target, name in links(text[start:end]) if not target}
    return [name for name in sections if name not in listed and name != "contents"]


@each_page
def test_a_long_page_has_contents(page):
    text = page.read_text()
    missing = contents_missing(text)
    if missing is None:
        assert len(text.encode()) <= LONG_PAGE, "split the page, or give it a section Contents"
    else:
        assert not missing, f"not in the list of contents: {missing}"


def test_the_rule_of_contents_itself():
    assert contents_missing("# A\n\n## B\n") is None
    assert contents_missing("# A\n\n## Contents\n\n[b](#b)\n\n## B\n\n## C\n") == ["c"]


# --- citations: "docs/semantics.md, section 6", "COARSENING.md", `codegen/lanes/README.md` ---

CITING = ("*.c", "*.h", "*.def", "*.py", "*.pyi", "*.in", "*.cmake", "*.md", "CMakeLists.txt", "scripts/*")
FOREIGN = {"Objects/locations.md"}  # CPython's
CITATION = re.compile(
    r"(?<![\w*/.-])(?P<page>(?:[\w.-]+/)*[\w-]+\.md)\b"
    r"(?:#(?P<anchor>[\w-]+)|[,:]? *(?:\n[ */#]*)?(?:section|sections|§)? *(?P<section>\d+(?:\.\d+)*)\b)?"
)


def cited_page(citing, name):
    """The file that a citation means: beside the citing file, from the root, or in docs."""
    for folder in (citing.parent, ROOT, ROOT / "docs", ROOT / "docs/guide"):
        if (folder / name).is_file():
            return folder / name
    return None


def has_section(page, number):
    return any(re.match(rf"{re.escape(number)}(?:\.|\s)", heading) for _, heading in headings(page.read_text()))


def wrong_citations(citing, text):
    wrong = []
    for found in CITATION.finditer(text):
        if found["page"] in FOREIGN:
            continue
        page = cited_page(citing, found["page"])
        if page is None:
            wrong.append(f"{found['page']}: no such page")
        elif found["section"] and not has_section(page, found["section"]):
            wrong.append(f"{found['page']}, section {found['section']}: no such section")
        elif found["anchor"] and found["anchor"] not in anchors(page):
            wrong.append(f"{found['page']}#{found['anchor']}: no such heading")
    return wrong


def test_citations():
    wrong = {}
    for path in tracked(*CITING):
        if path == Path(__file__).resolve():
            continue
        text = path.read_text()
        if path.suffix == ".md":  # links have a test of their own
            text = re.sub(r"\]\([^)]*\)", "]", text)
        if faults := wrong_citations(path, text):
            wrong[str(path.relative_to(ROOT))] = faults
    assert not wrong, wrong


@pytest.mark.parametrize("text, faults", [
    ("/* semantics.md, section 6 */", 0),
    ("(docs/semantics.md, 2)", 0),
    ("docs/semantics.md#arrays", 1),
    ("semantics.md section 77", 1),
    ("see docs/NOWHERE.md", 1),
    ("CONVENTIONS.md says so", 0),
])
def test_the_rule_of_citations_itself(text, faults):
    assert len(wrong_citations(ROOT / "codegen/compile.h", text)) == faults


def test_cited_deviations_exist():
    """The list of deviations from NumPy and Python is cited by number, wherever its page is."""
    listed = re.findall(r"^(\d+)\. ", (ROOT / "docs/guide/deviations.md").read_text(), flags=re.M)
    assert listed == [str(n + 1) for n in range(len(listed))]
    cited = {n for path in tracked(*CITING) for n in re.findall(r"\bdeviations? (\d+)", path.read_text())}
    assert cited and cited <= set(listed), cited - set(listed)


def test_the_glossary_is_short():
    """Words of our own are few: 25 entries at most."""
    rows = re.findall(r"^\| (?!word )", (ROOT / "docs/GLOSSARY.md").read_text(), flags=re.M)
    assert 0 < len(rows) <= 25


ROOMS = ("codegen", "runtime")


def test_each_room_has_a_readme():
    """Every folder of these rooms that holds C has a README.md, which names each of its .c and .def files."""
    wrong = []
    folders = {p.parent for room in ROOMS for p in tracked(f"{room}/*.c") if p.relative_to(ROOT).parts[0] == room}
    for folder in sorted(folders):
        page = next((up / "README.md" for up in (folder, *folder.parents) if (up / "README.md").is_file()), None)
        text = page.read_text()
        own = page.parent == folder
        for file in sorted([*folder.glob("*.c"), *folder.glob("*.def")]):
            name = file.name if own else f"{folder.name}/{file.name}"
            if f"`{name}`" not in text:
                wrong.append(f"{page.relative_to(ROOT)} does not name `{name}`")
    assert not wrong, "\n".join(wrong)


def test_readmes_name_files_that_exist():
    """`x.c`, `dir/x.h` in the README.md of a room: beside it, or from the root or the room's own folder."""
    wrong = []
    for page in PAGES:
        room = page.relative_to(ROOT).parts[0]
        if page.name != "README.md" or room not in ("ir", "frontend", "typeinfer", "codegen", "runtime", "pyext"):
            continue
        for name in re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:c|h|def))`", page.read_text()):
            folders = (page.parent, ROOT, ROOT / room)
            if not any((folder / name).is_file() for folder in folders):
                wrong.append(f"{page.relative_to(ROOT)}: {name}")
    assert not wrong, "\n".join(wrong)


def test_documents_name_files_that_exist():
    """A path of a source file in a page of docs leads to a file: from the root, or from its room."""
    rooms = [p for p in ROOT.iterdir() if p.is_dir()]
    wrong = []
    for page in tracked("docs/*.md", "README.md"):
        if "reference" in page.parts:
            continue
        for name in re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:c|h|def|py))`", page.read_text()):
            if not any((folder / name).is_file() for folder in (ROOT, *rooms)):
                wrong.append(f"{page.relative_to(ROOT)}: {name}")
    assert not wrong, "\n".join(wrong)
