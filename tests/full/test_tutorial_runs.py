"""The tutorials run: each notebook from its first cell to its last, and then the solutions of its exercises.

A cell that raises fails, and so does one that takes the notebook beyond its time.
"""

import re
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs/tutorials").glob("*.ipynb"))
SOLUTION = re.compile(r"<details.*?</details>", re.S)
CODE = re.compile(r"```python\n(.*?)```", re.S)
SECONDS = 20  # on two cores with nothing else to do; a busy machine gets three times as many


def with_solutions(notebook):
    """The notebook with each solution as a cell of code behind the text that hides it."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "markdown":
            for hidden in SOLUTION.findall(cell.source):
                cells += [nbformat.v4.new_code_cell(code) for code in CODE.findall(hidden)]
    added = len(cells) - len(notebook.cells)
    notebook.cells = cells
    return added


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(path, tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_DEVICE", "host")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert with_solutions(notebook) > 0, "an exercise has a solution"
    start = time.perf_counter()
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert time.perf_counter() - start < 3 * SECONDS
    kinds = {kind for cell in notebook.cells for out in cell.get("outputs", ()) for kind in out.get("data", ())}
    assert "image/png" in kinds, "a tutorial has a picture"


def test_there_are_eight():
    assert [p.name[:2] for p in NOTEBOOKS] == [f"{n:02}" for n in range(1, 9)]


def test_a_solution_that_is_wrong_fails(tmp_path):
    text = '<details markdown="1"><summary>Solution</summary>\n\n```python\nassert 1 == 2\n```\n</details>'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    assert with_solutions(notebook) == 1
    with pytest.raises(Exception, match="assert 1 == 2"):
        NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
