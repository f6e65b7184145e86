"""bench/gemm.py measures in a child process: one that hangs, dies or says that results are wrong
costs only the side that was running."""

import argparse
import importlib.util
import json
import sys
import types
from pathlib import Path

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


def test_a_side_is_left_out_of_a_line(monkeypatch, capsys):
    """It says why, and comes again with the next shape."""
    monkeypatch.setattr(gemm, "LIMIT", 5)
    text = CHILD.format(fails="say(failed=name, why='ValueError: 7 elements are wrong')")
    rows = []
    assert gemm.measure_all(("cublas", "pipeline"), SHAPES, [sys.executable, "-c", text], lambda *row: rows.append(row))
    assert len(rows) == 3 and capsys.readouterr().out == "128x64x64: pipeline failed: ValueError: 7 elements are wrong\n"


class Gpu:
    """A GPU that takes the time that a run says, behind what it has been given before."""

    def __init__(self):
        self.now, self.slept, self.order = 0.0, 0, []
        gpu = self

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                self.at = gpu.now

            def synchronize(self):
                pass

            def elapsed_time(self, other):
                return 1e3 * (other.at - self.at)

        self.cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: None, _sleep=self.sleep)

    def sleep(self, cycles):
        self.now += cycles / 1e9
        self.slept += 1

    def run(self, name, takes):
        def call(number):
            self.order.append((name, number))
            self.now += takes

        return call


def test_both_ways_to_measure(monkeypatch, capsys):
    """Medians of a call, whatever the pauses; sets of inputs rotate; the order in turns is none."""
    monkeypatch.setattr(gemm, "PAUSE", 0)
    gpu = Gpu()
    runs = {name: gpu.run(name, takes) for name, takes in (("a", 2e-5), ("b", 1e-3))}
    assert list(gemm.measured(gpu, runs, ["burst"])) == ["burst"] and gpu.slept == 2 * gemm.TURNS
    gpu.order.clear()
    times = gemm.measured(gpu, runs, ["burst", "turns"], 5)
    for mode in ("burst", "turns"):
        assert abs(times[mode]["a"] - 2e-5) < 1e-9 and abs(times[mode]["b"] - 1e-3) < 1e-9, times
    assert [number for name, number in gpu.order[:10] if name == "a"] == [0, 1, 2, 3, 4]
    gpu.order.clear()
    assert abs(gemm.measured(gpu, runs, ["burst"], 1, twice=True)["burst"]["b"] - 1e-3) < 1e-9
    assert gpu.order == [("a", 0), ("a", 0), ("b", 0), ("b", 0)]
    said = [json.loads(line)["running"] for line in capsys.readouterr().out.splitlines()][2 * gemm.TURNS + 10 :]
    assert set(zip(said[::2], said[1::2])) == {("a", "b"), ("b", "a")}
    with pytest.raises(ValueError, match="no side is left"):
        gemm.measured(gpu, {}, ["burst"])


def test_a_wrong_side_says_why(capsys):
    gpu = Gpu()
    assert gemm.passes(gpu, "a", lambda: None) and not gemm.passes(gpu, "b", lambda: 1 / 0)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()][1:] == [{"running": "b"}, {"failed": "b", "why": "ZeroDivisionError: division by zero"}]

    def lost():
        raise RuntimeError("the GPU is lost")

    gpu.cuda.synchronize = lost
    with pytest.raises(RuntimeError, match="the GPU is lost"):
        gemm.passes(gpu, "b", lambda: 1 / 0)


def test_chosen_sides():
    args = argparse.Namespace(sides="warps")
    assert gemm.chosen(args, ("cublas", "warps", "pipeline"), ("cublas",)) == ["cublas", "warps"]
    args.sides = None
    assert gemm.chosen(args, ("cublas", "warps")) == ["cublas", "warps"]
    args.sides = "warp"
    with pytest.raises(SystemExit, match="there is no warp here, but cublas, warps"):
        gemm.chosen(args, ("cublas", "warps"))


@pytest.mark.parametrize("name", ["gemm", "gemm_fp8", "gemm_steps", "epilogues", "attention", "rows"])
def test_options(name, monkeypatch, capsys):
    """Each takes them, and says that there is no GPU."""
    spec = importlib.util.spec_from_file_location(f"bench_{name}", Path(gemm.__file__).with_name(f"{name}.py"))  # examples have these names, too
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", [name, "--quick", "--turns", "--sides", "pipeline"])
    with pytest.raises(SystemExit) as e:
        module.main()
    assert not e.value.code and "nothing to measure" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["gelu", "all"])
def test_epilogues(name):
    """Those of bench/epilogues.py are what their names say."""
    import epilogues
    import ml_dtypes
    import numpy as np

    rng = np.random.default_rng(1)
    m, n, k = 136, 264, 72
    a, b, d, bias = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n), (m, n), n))
    scale, c = rng.standard_normal(m).astype(np.float32), np.full((m, n), np.nan, ml_dtypes.bfloat16)
    epilogues.launch(2, name)(a, b, c, {"d": d, "bias": bias, "scale": scale})
    want = a.astype(np.float64) @ b.astype(np.float64)
    want = (want * scale[:, None] if name == "all" else want) + bias.astype(np.float64)
    want = want / 2 * (1 + np.tanh(0.7978845608028654 * (want + 0.044715 * want**3)))
    want = want + d.astype(np.float64) if name == "all" else want
    # rounded to 8 bits; sums of 72 products in float32, and what a function does with them
    assert (np.abs(c.astype(np.float64) - want) <= 2.0**-8 * np.abs(want) + 2.0**-16 * k).all()
