"""The rules of the tutorials, docs/tutorials/*.ipynb: what they say is made when they run (tests/full), so the tree has
no outputs; and each is built alike."""

import json
import re

import pytest
from test_prose import ROOT, anchors, links, long_lines, tracked

NOTEBOOKS = tracked("docs/tutorials/*.ipynb")
LARGEST = 30_000  # bytes
CODE_COLUMNS = 84  # what a page of the site shows without a scroll bar
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)


def prose(path):
    cells = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


@each_notebook
def test_the_file(path):
    """As Jupyter's "Clear All Outputs" leaves it, without what differs from editor to editor."""
    notebook = json.loads(path.read_text())
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info"}
    assert notebook["metadata"]["language_info"] == {"name": "python"}, "no version of Python"
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert all(len(line.rstrip("\n")) <= CODE_COLUMNS for line in cell["source"]), cell["id"]
        assert not cell.get("outputs") and cell.get("execution_count") is None and not cell["metadata"], cell["id"]
    assert path.stat().st_size <= LARGEST


@each_notebook
def test_the_plan(path):
    text = prose(path)
    head = text[0]
    assert head.startswith(f"# {int(path.stem[:2])}. ")
    learn = head.partition("What you will learn:\n\n")[2].partition("\n\n")[0]
    assert len(re.findall(r"^\* ", learn, re.M)) == 3, "three lines that say what one learns"
    whole = "\n\n".join(text)
    assert "\n## Exercise\n" in whole and "<summary>Solution</summary>\n\n" in whole
    following = [p.name for p in NOTEBOOKS if p.name > path.name][:1]
    assert all("**Next:** [" in text[-1] and f"]({name})" in text[-1] for name in following)


@each_notebook
def test_width_and_links(path):
    wrong = []
    for text in prose(path):
        wrong += [f"longer than 100 columns: {text.splitlines()[n - 1]}" for n in long_lines(text)]
        for target, name in links(text):
            file = (path.parent / target).resolve()
            if not file.exists() or (name and file.suffix == ".md" and name not in anchors(file)):
                wrong.append(f"{target}#{name}")
    assert not wrong, "\n".join(wrong)


def test_the_steps():
    """The page of the matrix product shows each step's program, line by line as it is."""
    page = (ROOT / "docs/tutorials/gemm.md").read_text()
    sections = re.split(r"^## \d\. ", page, flags=re.M)[1:]
    programs = tracked("examples/gemm_steps/step?_*.py")
    assert len(sections) == len(programs) == 8
    for section, program in zip(sections, programs, strict=True):
        assert f"[{program.name}](../../examples/gemm_steps/{program.name})" in section
        text = program.read_text()
        shown = re.findall(r"```python\n(.*?)```", section, re.S)
        assert shown
        for part in shown:
            indented = (re.sub(r"^(?=.)", " " * columns, part, flags=re.M) for columns in range(0, 25, 4))
            assert any(f"\n{lines}" in text for lines in indented), part


def test_the_list():
    """README.md names each of them, in their order."""
    named = re.findall(r"\]\((\w+\.ipynb)\)", (ROOT / "docs/tutorials/README.md").read_text())
    assert named == [path.name for path in NOTEBOOKS] and len(named) == 8
