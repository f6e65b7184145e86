"""The code of the documentation: README, everything under docs, CONTRIBUTING.

Python parses, and a page's programs run one after the other. What a comment promises (print(...)  # [0. 3.]) is
compared. `pyptx …` of a shell block runs too, in a folder that has the examples. "<!-- not run: reason -->" before
a block says why it does not run, "<!-- setup" brings what a fragment takes as given, out of the reader's sight.
"""

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from pyptx import cli, cuda

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:<!-- not run(?:: (?P<reason>.+?))? -->\n)?(?:<!-- setup\n(?P<setup>.*?)-->\n)?"
                   r"^(?P<indent> *)```(?P<language>[^\n]*)\n(?P<source>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)
SHOWN = {"", "text", "py", "c", "json", "toml", "yaml", "ini"}  # output, signatures, other programs: nothing to run here
COMMAND = re.compile(r"^ *(?:\S+=\S+ )?(?:pyptx|python|pip|scripts/\w+|cmake|build/\S+) ", re.MULTILINE)


def blocks(text):
    return [(m["language"], m["source"], m["setup"] or "", m[0].startswith("<!-- not run"), m["reason"]) for m in BLOCK.finditer(text)]


def run_python(name, setup, source, scope):
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(setup, f"{name} setup", "exec"), scope)
        exec(compile(source, name, "exec"), scope)
    printed = out.getvalue().splitlines()
    promised = re.findall(r"^print\(.*\)\s+# (.*)$", source, re.MULTILINE)
    assert printed == promised or not promised, (printed, promised)


def run_shell(source):
    for line in source.splitlines():
        words = shlex.split(line, comments=True)
        assert words[:1] == ["pyptx"], f"only pyptx is run here: {line}"
        with redirect_stdout(io.StringIO()):
            assert cli.main(words[1:]) == 0, line


UNCHECKED = pytest.mark.unchecked("its mistake is a SyncError then, which the page does not expect")


@pytest.mark.parametrize("page", [pytest.param(p, id=str(p.relative_to(ROOT)), marks=UNCHECKED if p.name == "collectives.md" else ()) for p in PAGES])
def test_code_of_the_page(page, tmp_path, monkeypatch, device):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    scope = {"__name__": "guide"}
    try:
        for number, (language, source, setup, is_fragment, _) in enumerate(blocks(page.read_text())):
            name = f"{page.name} block {number}"
            endless = "KernelTimeoutError" in source and device == "gpu"  # nothing stops such a kernel there
            if language == "python" and (is_fragment or endless):
                compile(source, name, "exec")
            elif language == "python":
                run_python(name, setup, source, scope)
            elif language == "sh" and not is_fragment:
                run_shell(source)
    finally:
        cuda.close()


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_say_what_they_are(page):
    """A language for each that is a program, and a reason for each that does not run."""
    text = re.sub(r"<!-- install -->.*?<!-- /install -->", "", page.read_text(), flags=re.DOTALL)
    for language, source, _, is_fragment, reason in blocks(text):
        assert language in {"python", "sh"} | SHOWN, f"```{language}: what is it\n{source}"
        assert not is_fragment or reason, f"why is it not run\n{source}"
        assert language or not COMMAND.search(source), f"```sh it is\n{source}"
    for indented in re.findall(r"\n\n((?: {4}.+\n)+)", BLOCK.sub("", text)):
        assert not COMMAND.search(indented), f"a fence, please\n{indented}"


def test_the_rules_themselves(tmp_path, monkeypatch):
    text = "<!-- not run: it is slow -->\n```python\nx\n```\n\n<!-- setup\ny = 1\n-->\n```python\nprint(y)  # 1\n```\n"
    assert blocks(text) == [("python", "x\n", "", True, "it is slow"), ("python", "print(y)  # 1\n", "y = 1\n", False, None)]
    run_python("a", "y = 1", "print(y)  # 1", {})
    with pytest.raises(AssertionError):
        run_python("a", "y = 2", "print(y)  # 1", {})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError):
        run_shell("pyptx compile nothing.py")
    with pytest.raises(AssertionError):
        run_shell("rm nothing")
    assert COMMAND.search("text\n\n    PYPTX_DUMP=t python x.py\n") and not COMMAND.search("a python x.py\n")
