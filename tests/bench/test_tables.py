"""What the benchmark prints and draws, without a GPU: rows, summaries, options, the picture, two builds side by side."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import kernels.__main__ as runner
import numpy as np
import pytest
from _bench import Report
from _markdown import markdown
from kernels import BY_NAME, builds, native
from kernels import sweeps as sweeps_of_kernels
from kernels.declare import Problem, agree, check
from kernels.peers import rebound
from kernels.picture import draw, draw_curves, place
from kernels.sweeps import Sweep

BENCH = Path(runner.__file__).resolve().parents[1]


def found(**ms):
    sides = [side for side in ms if side != "copy"]
    return {"ms": ms, "right": dict.fromkeys(sides, True), "facts": {"pyptx": {"regs": 12}, "nvcc": {"regs": 16}}}


def test_a_row_and_the_summary(capsys):
    kernel = BY_NAME["vadd"]
    problem = kernel.problem(np.random.default_rng(1), 1000)
    report = Report("t", runner.COLUMNS)
    first = found(pyptx=0.5, nvcc=1.0, numba=2.0, copy=0.45)
    report.row(*runner.row_of(kernel, problem, 256, first, []))
    second = found(pyptx=2.0, nvcc=1.0, copy=1.0)
    second["right"]["nvcc"] = False
    report.row(*runner.row_of(kernel, problem, (32, 8), second, []))
    for row in report.rows:
        row["kind"] = kernel.kind
    a, b = report.rows
    assert (a["/nvcc"], a["/numba"], a["/cupy"], a["of copy"], a["regs"], a["right"]) == (
        0.5, 0.25, None, 0.9, "12/16", "yes",
    )  # fmt: skip
    assert a["GB/s"] == pytest.approx(12 * 1000 / 0.5e-3 / 1e9)
    assert (b["block"], b["/numba"], b["right"]) == ("32x8", None, "NO: nvcc")
    said = runner.summary(report)
    assert said["/nvcc"] == {"mean": pytest.approx(1.0), "worst": 2.0, "kernel": "vadd", "kernels": 2}
    assert said["/numba"]["mean"] == 0.25 and said["of copy"]["least"] == 0.5
    assert "worst 2.000 (vadd, 32x8)" in capsys.readouterr().out


def test_the_faster_of_two_cuda_texts_counts():
    kernel = BY_NAME["pathfinder"]
    problem = kernel.problem(np.random.default_rng(1), kernel.test)
    report = Report("t", runner.COLUMNS)
    report.row(*runner.row_of(kernel, problem, 256, found(pyptx=1.0, nvcc=2.0), []))
    both = found(**{"pyptx": 1.0, "nvcc": 2.0, "nvcc int": 1.6})
    both["facts"]["nvcc int"] = {"regs": 20}
    report.row(*runner.row_of(kernel, problem, 256, both, []))
    one, two = report.rows
    assert (one["nvcc ms"], one["/nvcc"], one["int64/int"], one["regs"]) == (2.0, 0.5, None, "12/16")
    assert (two["nvcc ms"], two["/nvcc"], two["int64/int"], two["regs"]) == (1.6, 0.625, "2/1.6", "12/20")


def test_markdown(tmp_path):
    kernel, report, path = BY_NAME["vadd"], Report("kernels on X", runner.COLUMNS), tmp_path / "k.json"
    problem = kernel.problem(np.random.default_rng(1), 1000)
    for block in (64, 128):
        report.row(*runner.row_of(kernel, problem, block, found(pyptx=0.5, nvcc=1.0, copy=0.45), []))
        report.rows[-1]["kind"] = kernel.kind
    report.save(path, summary=runner.summary(report))
    text = markdown(json.loads(path.read_text()))
    assert "| vadd | 64: 0.50 (0.90), 128: 0.50 (0.90) |" in text
    assert "over nvcc: geometric mean 0.50, worst 0.50 (vadd); streaming kernels move at least 90 %" in text
    del report.rows[1]
    report.save(path, summary=runner.summary(report))
    assert "| vadd | 64 | 0.500 | 0.50 |  |  |  | 0 | 0.90 |" in markdown(json.loads(path.read_text()))
    rows = [
        {"kernel": "vadd", "pyptx ms": 2.0, "openmp ms": 1.0, "pyptx/openmp": 2.0},
        {"kernel": "geometric mean", "pyptx ms": None, "openmp ms": None, "pyptx/openmp": 2.0},
    ]
    text = markdown({"title": "host device: X", "threads": 2, "rows": rows})
    assert "| vadd | 2.00 | 1.00 | 2.00 |" in text and text.endswith("geometric mean 2.00")


def test_options_of_a_variant():
    assert runner.options_of("coarsen=1, fma=False, opt='unchecked'") == {"coarsen": 1, "fma": False, "opt": "unchecked"}


def test_the_picture_is_xml_and_shows_each_kernel():
    rows = [
        {"kernel": "a<b", "block": "256", "/nvcc": 0.5, "/numba": None},
        {"kernel": "c", "block": "-", "/nvcc": 3.0, "/numba": 0.01},
    ]
    text = "".join(ElementTree.fromstring(draw(rows, "GPU & co")).itertext())
    assert "a<b 256" in text and "0.50" in text and "3.00" in text and "0.01" in text and "GPU & co" in text
    assert place(0.5) < place(1) < place(2) == place(3)


def sweep_of(*points, axis="widths"):
    """A Sweep of (at, pyptx ms, nvcc ms)."""
    rows = [{"at": at, "label": f"at<{at}", "pyptx ms": ours, "nvcc ms": nvcc, "/nvcc": nvcc and ours / nvcc, "right": "yes"} for at, ours, nvcc in points]
    return Sweep("k & k", axis, rows)


def test_the_worst_point_of_a_sweep():
    sweep = sweep_of((1, 0.001, 0.0005), (2, 0.02, 0.025), (4, 0.03, 0.02), (8, 0.002, 0.003), (16, 0.5, None))
    assert sweep.worst()["at"] == 4 and sweep.latest()["at"] == 1
    assert str(sweep) == "k & k along widths: worst 1.500 at at<4, geometric mean 1.095 of 2; below 10 µs at most +0.50 µs, at at<1, of 2"
    assert str(sweep_of((1, 0.5, None))).endswith("along widths: nothing to compare with")
    assert sweep_of((1, 0.5, None)).worst() is None
    text = markdown({"title": "sweeps on X", "worst": sweeps_of_kernels.worst_of([sweep, sweep_of((1, 0.5, None))])})
    assert "| k & k | widths | 1.50 | at<4 | +0.50, at<1 |" in text and "| k & k | widths |  |  |  |" in text


def test_the_picture_of_sweeps():
    """A panel for each, whatever points it has; the worst is named, and every point has its figures."""
    sweeps = [
        sweep_of((1, 0.001, 0.0005), (2, 0.02, 0.025), (300, 0.3, 0.2)), sweep_of((0, 0.02, 0.02), axis="blocks"), sweep_of((1, 0.5, None)),
        sweep_of((1, 0.001, 0.001)), sweep_of((1, 1.0, 9.0), (2, 9.0, 1.0), axis="thin"),
    ]  # fmt: skip
    root = ElementTree.fromstring(draw_curves(sweeps, "GPU & co"))
    text = "|".join(root.itertext())
    for said in ("k & k along blocks", "worst 1.50 at at<300", "nothing to compare with", "all below 10 µs", "worst 9.00 at at<2", "at<2: 0.800, 0.02 ms", "GPU & co"):
        assert said in text, said
    tag = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{tag}polyline")) == 5 and len(root.findall(f".//{tag}circle")) == 7
    assert all(0 <= float(c.get("cy")) <= 130 and 0 <= float(c.get("cx")) <= 270 for c in root.iter(f"{tag}circle"))
    assert draw_curves([], "none")


def test_a_point_that_cannot_be_launched():
    class Broken:
        @staticmethod
        def measure(kernel, problem, *rest):
            if len(problem.arguments[0]) % 2:
                raise RuntimeError("nvcc's vadd was not launched\nmore")
            return {"ms": {"pyptx": 1.0, "nvcc": 2.0, "nvcc int": 0.5}, "right": {"pyptx": True}}

    report = Report("t", sweeps_of_kernels.COLUMNS)
    sweep = sweeps_of_kernels.measured(BY_NAME["vadd"], "extents", 0.00001, Broken, lambda problem: None, report)
    said = [(row["/nvcc"], row["right"]) for row in sweep.rows]
    assert set(said) == {(2.0, "yes"), (None, "NO: nvcc's vadd was not launched")} and sweep.worst()["/nvcc"] == 2.0
    assert draw_curves([sweep], "x")


def test_the_checks_tell_wrong_from_right():
    problem = Problem((), (), (0,), None)
    exact, close = [(np.s_[:], np.arange(4), 0)], [(np.array([0, 2]), np.array([0.0, 2.0]), 0.5)]
    assert check(problem, [np.arange(4)], exact) == (True, 0)
    assert not check(problem, [np.arange(4)[::-1]], exact)[0]
    assert check(problem, [np.array([0.25, 9.0, 2.0])], close) == (True, 0.5)
    assert not check(problem, [np.array([0.0, 0.0, 3.0])], close)[0]
    assert not check(problem, [np.array([np.nan, 0.0, 2.0])], close)[0]
    assert check(problem, [np.array([1.0, 0.0, 2.0])], close, slack=2)[0]
    assert agree(problem, [np.array([0.0, 1.0, 2.0])], [np.array([0.0, 2.5, 2.0])], close)
    assert not agree(problem, [np.array([0.0, 1.0, 2.0])], [np.array([0.0, 4.5, 2.0])], close)
    assert not agree(problem, [np.arange(4)], [np.arange(1, 5)], exact)


def test_arguments_of_the_c_sides():
    kernel = BY_NAME["saxpy"]
    problem = kernel.problem(np.random.default_rng(1), 10)
    values = native.packed(problem, problem.arguments, lambda a: a.ctypes.data)
    assert [v.value for v in values] == [2.5, *(a.ctypes.data for a in problem.arguments[1:]), 10]


def test_a_kernel_for_another_package():
    """Names of pyptx are replaced, called functions become that package's device functions, the code is the same."""
    made = []

    class Cuda:
        @staticmethod
        def jit(device):
            return lambda function: made.append(function) or function

    class Package:
        float32 = object()

    kernel = BY_NAME["black_scholes"].function
    copy = rebound(kernel, Package, Cuda)
    assert copy.__code__ is kernel.__code__ and copy.__globals__["cuda"] is Cuda
    assert [f.__name__ for f in made] == ["normal_cdf"] and copy.__globals__["normal_cdf"] is made[0]
    assert rebound(BY_NAME["nbody"].function, Package, Cuda).__globals__["float32"] is Package.float32
    assert kernel.__globals__["cuda"] is not Cuda


def test_two_builds(tmp_path):
    """The build under test beside itself, each in its own process: right, and a table with one row."""
    import pyptx

    here, out = str(Path(pyptx.__file__).parent.parent), tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, str(BENCH / "kernels"), "--build", here, "--build", here, "--device", "host", "--scale", "0.01",
         "--json", str(out), "vadd"],
        capture_output=True, text=True, timeout=120, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(out.read_text())["rows"]
    assert row["kernel"] == "vadd" and row["right"] == "yes" and row["B/A"] == pytest.approx(row["B ms"] / row["A ms"])


STANDIN = os.environ.get("PYPTX_STANDIN")


@pytest.mark.skipif(not STANDIN, reason="PYPTX_STANDIN does not name the stand-in driver")
def test_the_runner_on_a_driver_that_runs_nothing(tmp_path):
    """All sides are prepared, launched and timed; since no kernel runs, the checks must say that every side is wrong."""
    out, picture = tmp_path / "out.json", tmp_path / "out.svg"
    done = subprocess.run(
        [sys.executable, str(BENCH / "kernels"), "--scale", "0.001", "--peers", "", "--variant", "fma=False", "--json", str(out),
         "--picture", str(picture), "vadd", "jacobi"],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": STANDIN},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert [row["kernel"] for row in rows] == ["vadd", "jacobi"]
    for row in rows:
        assert row["right"].startswith("NO: pyptx, pyptx fma=False") and row["pyptx ms"] > 0 and row["of copy"]
        assert ("nvcc" in row["right"]) == (shutil.which("nvcc") is not None)
    assert "jacobi" in picture.read_text()


@pytest.mark.skipif(not STANDIN, reason="PYPTX_STANDIN does not name the stand-in driver")
def test_sweeps_on_a_driver_that_runs_nothing(tmp_path):
    out, picture = tmp_path / "out.json", tmp_path / "out.svg"
    done = subprocess.run(
        [sys.executable, str(BENCH / "kernels"), "--along", "blocks,extents", "--scale", "0.0001", "--json", str(out), "--picture", str(picture), "jacobi"],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": STANDIN},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert [(w["kernel"], w["along"]) for w in found["worst"]] == [("jacobi", "blocks"), ("jacobi", "extents")]
    assert len(found["rows"]) == len(BY_NAME["jacobi"].sweep) + 5
    assert all(row["right"].startswith("NO: pyptx") and row["pyptx ms"] > 0 for row in found["rows"])
    assert (found["worst"][0]["worst"] is not None) == (shutil.which("nvcc") is not None)
    assert "the worst point of each:" in done.stdout and "jacobi along extents" in picture.read_text()


@pytest.mark.skipif(not (STANDIN and shutil.which("nvcc")), reason="needs PYPTX_STANDIN, the stand-in driver, and nvcc")
def test_the_runner_with_two_cuda_texts(tmp_path):
    """The second set's kernels have two, each a side of its own; neither runs."""
    out = tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, str(BENCH / "kernels"), "--set", "second", "--scale", "0.001", "--peers", "", "--json", str(out), "pathfinder"],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": STANDIN},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    (row,) = json.loads(out.read_text())["rows"]
    assert row["right"] == "NO: pyptx, nvcc, nvcc int" and row["nvcc ms"] > 0
    assert [float(ms) > 0 for ms in row["int64/int"].split("/")] == [True, True]


@pytest.mark.skipif(not STANDIN, reason="PYPTX_STANDIN does not name the stand-in driver")
def test_two_builds_on_a_gpu_that_are_wrong(tmp_path):
    import pyptx

    here = str(Path(pyptx.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, str(BENCH / "kernels"), "--build", here, "--scale", "0.001", "vadd"],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": STANDIN},
    )  # fmt: skip
    assert done.returncode == 1 and "NO" in done.stdout and "geometric mean" in done.stdout, done.stdout + done.stderr


def test_what_is_no_build(tmp_path):
    with pytest.raises(SystemExit, match="neither a wheel nor a folder"):
        builds.folder_of(tmp_path, tmp_path)
