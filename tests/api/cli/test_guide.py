"""The Python of the guide and of the README: it parses, and a file's programs run one after the other.

A block after "<!-- not run -->" is a fragment. Output that a comment promises (print(...)  # [0. 3.]) is compared.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
BLOCK = re.compile(r"(<!-- not run -->\n)?```python\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_python_of_the_page(page, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "guide"}
    for number, (fragment, source) in enumerate(BLOCK.findall(page.read_text())):
        code = compile(source, f"{page.name} block {number}", "exec")
        if fragment:
            continue
        exec(code, scope)
        printed = capsys.readouterr().out.splitlines()
        promised = re.findall(r"^print\(.*\)\s+# (.*)$", source, re.MULTILINE)
        assert printed == promised or not promised, (printed, promised)
