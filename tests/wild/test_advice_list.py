"""What the compiler advises of the examples, the benchmark's kernels and the kernels here, as tests/data/advice.txt has it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import advice_list  # noqa: E402 - its folder is on the path now


def test_the_list_is_what_the_compiler_says(capsys):
    said = advice_list.listed()
    assert said == advice_list.FILE.read_text(), "python tests/tools/advice_list.py writes it: look at each line that is new"


def test_the_examples_give_no_advice():
    lines = advice_list.FILE.read_text().splitlines()
    assert {p.name for p in (advice_list.ROOT / "examples").glob("*.py")} >= {line.split()[0][9:] for line in lines if line.startswith("examples/")}
    assert not any(a.startswith("examples/") and b.startswith(" ") for a, b in zip(lines, lines[1:]))
