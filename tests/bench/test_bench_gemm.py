"""bench/gemm.py measures in a child process: one that hangs, dies or says that results are wrong
costs only the side that was running."""

import sys

import gemm
import pytest

SHAPES = ((64, 64, 64), (128, 64, 64), (256, 64, 64))
CHILD = """
import json, sys, time
def say(**what): print(json.dumps(what), flush=True)
print("words of somebody else", flush=True)
say(ready=True)
for line in sys.stdin:
    shape = json.loads(line)
    for name in sys.argv[1:]:
        say(running=name)
        if name == "pipeline" and shape[0] == 128:
            {fails}
    say(times=dict.fromkeys(sys.argv[1:], shape[0]))
"""


@pytest.mark.parametrize("fails, reason", [
    ("time.sleep(60)", "it has not ended after 1 s"), ("sys.exit(3)", "it ended with status 3"), ("raise ValueError('7 elements are wrong')", "ValueError: 7 elements are wrong"),
])  # fmt: skip
def test_the_others_go_on(fails, reason, monkeypatch, capsys):
    monkeypatch.setattr(gemm, "LIMIT", 1)
    rows = []
    command = [sys.executable, "-c", CHILD.format(fails=fails)]
    assert gemm.measure_all(("cublas", "warps", "pipeline"), SHAPES, command, lambda *row: rows.append(row))
    assert [shape for shape, _ in rows] == list(SHAPES)
    assert rows[0][1] == {"cublas": 64, "warps": 64, "pipeline": 64} and rows[1][1] == {"cublas": 128, "warps": 128} and rows[2][1] == {"cublas": 256, "warps": 256}
    assert f"128x64x64: pipeline failed: {reason}" in capsys.readouterr().out


def test_cases_that_are_no_shapes(monkeypatch, capsys):
    """Those of bench/rows.py and bench/attention.py are named, too."""
    monkeypatch.setattr(gemm, "LIMIT", 1)
    command = [sys.executable, "-c", CHILD.format(fails="sys.exit(3)").replace("shape[0] == 128", "True")]
    assert gemm.measure_all(("cublas", "pipeline"), [("float32", 5000)], command, lambda *row: None, label=lambda case: " ".join(map(str, case)))
    assert "float32 5000: pipeline failed: it ended with status 3" in capsys.readouterr().out


def test_cublas_has_no_substitute(monkeypatch, capsys):
    monkeypatch.setattr(gemm, "START", 1)
    assert not gemm.measure_all(("cublas", "pipeline"), SHAPES, [sys.executable, "-c", "import sys; sys.exit('no GPU here')"], None)
    assert "no GPU here" in capsys.readouterr().out
