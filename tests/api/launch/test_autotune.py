"""@cuda.autotune: candidates, keys, restored arrays, winners on disk, and candidates that hang or crash."""

import ast
import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import namedtuple

import cloudpickle
import numpy as np
import pytest
import standin
from cached import folder  # noqa: F401
from pyptx import _trials, _winners, cli, cuda, float32
from pyptx.errors import CacheWarning

pytestmark = pytest.mark.usefixtures("folder")
apart = pytest.mark.skipif("PYPTX_ON_PTX" in os.environ or os.environ.get("PYPTX_DEVICE") == "ptx", reason="another process does not run PTX on the CPU")
here_and_apart = pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=apart)])
on_host = pytest.mark.skipif(os.environ.get("PYPTX_DEVICE", "host") != "host", reason="a test of the host device")
N = 1000
CONFIGS = [cuda.Config(32, {"ITEMS": 1}), cuda.Config(block=(64,), kwargs={"ITEMS": 2}), cuda.Config(128, {"ITEMS": 4}, max_registers=32)]


def blocks(config):
    return -(-N // (config.threads * config["ITEMS"]))


def add_to(x, out, ITEMS):
    for k in range(ITEMS):
        i = (cuda.blockIdx.x * ITEMS + k) * cuda.blockDim.x + cuda.threadIdx.x
        if i < x.size:
            out[i] += x[i]


def made(function=add_to, configs=CONFIGS, key=("x",), **options):
    return cuda.autotune(configs, key, **{"isolate": False, **options})(cuda.jit(function))


def arrays(n=N):
    x = np.arange(n, dtype=np.float32)
    return x, cuda.to_device(x), cuda.to_device(np.ones(n, np.float32))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Nobody wants the times."""
    monkeypatch.setattr(_trials, "BUDGET", 0.001)
    monkeypatch.setattr(_trials, "WARM_UP", 0)


@pytest.fixture
def measured(monkeypatch):
    """The candidates that were measured in this process, in order."""
    seen, measure = [], _trials.Measuring.measure

    def note(self, candidate):
        seen.append(candidate)
        return measure(self, candidate)

    monkeypatch.setattr(_trials.Measuring, "measure", note)
    return seen


# --- the winner, and what it is launched with ---


@here_and_apart
def test_the_fastest_is_launched_once_on_the_arrays_as_they_were(isolate):
    kernel = made(isolate=isolate)
    x, d_x, out = arrays()
    kernel[blocks](d_x, out)
    assert np.array_equal(out.copy_to_host(), 1 + x)  # not 1 + x for each run of each trial
    assert len(kernel.trials) == 3 and all(len(t.times) >= 1 and t.error is None for t in kernel.trials)
    assert kernel.best is kernel.trials.best.config in CONFIGS
    assert kernel.trials.best.seconds == min(t.seconds for t in kernel.trials)
    kernel[blocks](d_x, out=out)
    assert np.array_equal(out.copy_to_host(), 1 + 2 * x)


def test_a_constant_is_one_where_the_kernel_is_compiled():
    """The shape of a shared array, which no argument of a launch can be; keyword-only parameters and defaults too."""

    def shift(x, out, *, TILE=7):
        tile = cuda.shared.array(TILE, float32)
        t = cuda.threadIdx.x
        tile[(t + 1) % TILE] = x[t] + TILE
        cuda.syncthreads()
        out[t] = tile[t]

    kernel = made(shift, [cuda.Config(8, {"TILE": 8}), cuda.Config(8, {"TILE": 8}, coarsen=1)])
    x, d_x, out = arrays(8)
    kernel[1](d_x, out)
    assert out.copy_to_host().tolist() == (np.roll(x, 1) + 8).tolist()
    with pytest.raises(TypeError, match=r"takes 'x', 'out'; 'TILE' are set by the configurations"):
        kernel[1](d_x, out, TILE=3)


def test_grids():
    kernel, (x, d_x, out) = made(), arrays()
    for n, launch in enumerate((kernel[blocks], kernel.forall(4 * N), kernel[lambda c: (blocks(c), 1)], kernel.configure((N, 1)), kernel[N])):
        launch(d_x, out)
        assert np.array_equal(out.copy_to_host(), 1 + (n + 1) * x)
    bound = kernel[blocks].bind(d_x, out)
    bound()
    assert np.array_equal(out.copy_to_host(), 1 + 6 * x) and bound.arguments
    stream = cuda.stream()
    kernel.configure(blocks, stream)(d_x, out)
    stream.synchronize()
    assert np.array_equal(out.copy_to_host(), 1 + 7 * x)
    with pytest.raises(TypeError, match=r"its block is its configuration's: add_to\[grid\]"):
        kernel[N, 32]
    with pytest.raises(TypeError, match=r"launch it as add_to\[grid\]"):
        kernel(d_x, out)
    with pytest.raises(ValueError, match="the grid is from one to three numbers of at least 1"):
        kernel[0]


def test_keys_and_types(measured):
    kernel = made()
    for n in (N, N, 100):
        x, d_x, out = arrays(n)
        kernel[blocks](d_x, out)
    assert len(measured) == 6 and len(kernel.tunings) == 2
    kernel[blocks](cuda.to_device(x.astype(np.int16)), out)
    assert len(measured) == 9
    (size,) = {values for values, _ in kernel.tunings if values == ((100,),)}
    assert size == ((100,),)


def test_a_key_by_a_function_and_prune(measured):
    def some(configs, arguments):
        assert list(arguments) == ["x", "out"]
        return [c for c in configs if c.threads <= arguments["x"].size]

    kernel = made(key=lambda x, out: np.int64(x.size).item().bit_length(), prune=some)
    for n in (1000, 1023, 70, 40):
        x, d_x, out = arrays(n)
        kernel.forall(4 * n)(d_x, out)
        assert np.array_equal(out.copy_to_host(), 1 + x)
    assert [len(of) for of in kernel.tunings.values()] == [3, 2] and len(measured) == 5  # of 40: one is left, and not measured
    assert kernel.best is CONFIGS[0] and kernel.trials is None
    with pytest.raises(ValueError, match="returns some of the configurations, at least one, not"):
        made(prune=lambda configs, arguments: [])[1](d_x, out)
    with pytest.raises(TypeError, match="but the key has a object"):
        made(key=lambda x, out: object())[1](d_x, out)
    with pytest.raises(TypeError, match="but the key has a dict"):
        made(key=lambda x, out: {})[1](d_x, out)


def test_tune_measures_again(measured):
    kernel, (x, d_x, out) = made(), arrays()
    trials = kernel[blocks].tune(d_x, out)
    assert trials is kernel.trials and np.array_equal(out.copy_to_host(), np.ones(N))
    assert len(kernel[blocks].tune(d_x, out)) == 3 and len(measured) == 6
    kernel[blocks](d_x, out)
    assert len(measured) == 6


# --- restoring ---


def runs_that_see(kernel, *values):
    """What out[0] holds before each run of the first candidate."""
    seen = []
    kernel_of = _trials.Measuring(values, None if kernel.restore is None else [1] * len(kernel.restore), [1] if kernel.reset_to_zero else [])
    time_it = kernel_of.clock.time

    def note(launch):
        seen.append(float(kernel_of.arguments.values[1].copy_to_host()[0]))
        return time_it(launch)

    kernel_of.clock.time = note
    kernel_of.measure(_trials.Candidate(kernel.variant(kernel.configs[0]), (1, 1, 1), (32, 1, 1), 0))
    kernel_of.arguments.restore()
    return set(seen), float(values[1].copy_to_host()[0])


def test_what_a_kernel_writes_is_restored():
    x = cuda.to_device(np.full(8, 2, np.float32))
    for options, before, after in (({}, {1.0}, 1.0), ({"restore": "out"}, {1.0}, 1.0), ({"reset_to_zero": ["out"]}, {0.0}, 1.0), ({"reset_to_zero": ["out"], "restore": ()}, {0.0}, 1.0)):
        out = cuda.to_device(np.ones(8, np.float32))
        assert runs_that_see(made(**options), x, out) == (before, after), options
    seen, left = runs_that_see(made(restore=()), x, cuda.to_device(np.ones(8, np.float32)))
    assert len(seen) > 5 and left > 10  # none of them is restored, as was asked


def test_only_what_is_written_is_copied():
    arguments = _trials.Arguments((np.zeros(3), (cuda.to_device(np.zeros(3)), 2)), None, [], True)

    def kernel(x, pair):
        pair[0][0] = x[0] + pair[1]

    arguments.save(cuda.jit(kernel))
    assert [a is arguments.values[1][0] for a, _ in arguments.saved.values()] == [True]


def test_a_candidate_that_writes_what_others_do_not():
    def kernel(x, out, WAY):
        if WAY:
            x[0] += 1
        out[0] = x[0]

    x, out = cuda.to_device(np.ones(1)), cuda.to_device(np.zeros(1))
    tuned = made(kernel, [cuda.Config(1, {"WAY": 0}), cuda.Config(1, {"WAY": 1})], key=())
    tuned[1].tune(x, out)
    assert (x.copy_to_host()[0], out.copy_to_host()[0]) == (1, 0)


def test_numpy_arrays_and_readonly_ones():
    kernel, x, out = made(), np.arange(N, dtype=np.float32), np.ones(N, np.float32)
    x.flags.writeable = False
    kernel[blocks](x, out)
    assert np.array_equal(out, 1 + x) and len(kernel.trials) == 3


@here_and_apart
def test_directions_of_arguments(isolate):
    kernel, x, out = made(isolate=isolate), np.arange(N, dtype=np.float32), np.ones(N, np.float32)
    kernel[blocks](cuda.In(x), cuda.InOut(out))
    assert np.array_equal(out, 1 + x) and list(kernel.tunings)[0][0] == ((N,),)


# --- what goes wrong ---


@pytest.mark.unchecked("all threads read what one has just written")
def test_candidates_that_fail_are_in_the_table():
    def kernel(x, TILE):
        tile = cuda.shared.array(TILE, float32)
        tile[cuda.threadIdx.x] = 1
        x[cuda.threadIdx.x] = tile[0]

    good, wide, wrong = cuda.Config(8, {"TILE": 8}), cuda.Config(2048, {"TILE": 8}), cuda.Config(8, {"TILE": -1})
    tuned, x = made(kernel, [wide, good, wrong]), cuda.to_device(np.zeros(8, np.float32))
    tuned[1](x)
    assert tuned.best is good and x.copy_to_host().tolist() == [1] * 8
    assert "2048 threads a block" in tuned.trials[0].error and "Error" in tuned.trials[2].error
    lines = str(tuned.trials).splitlines()
    assert lines[1].split() == ["block", "TILE", "median", "of", "best"] and lines[2].split()[0] == "8" and lines[2].endswith("1.00")
    assert sum("failed" in line for line in lines) == 2 and len(lines) == 5
    tuned = made(kernel, [wide, wrong])
    with pytest.raises(RuntimeError, match=r"(?s)none of the 2 configurations of kernel works:.*Config\(block=\(2048, 1, 1\).*2048 threads a block.*TILE': -1"):
        tuned[1](x)


SCRIPT = """
import os, sys, time
import numpy as np
from collections import namedtuple
from pyptx import cuda
Pair = namedtuple("Pair", "a b")
FACTOR = 3
def helper(v):
    return v * FACTOR
@cuda.jit(device=True)
def device(v, pair):
    return helper(v) + pair.b
def bad(x, out, pair, WAY):
    if WAY == 1:
        k = 0
        while x[0] == 0:
            k += 1
        out[0] = k
    if WAY == 2:
        out[1 << 40] = 1
    out[cuda.threadIdx.x] = device(x[cuda.threadIdx.x], pair)
configs = [cuda.Config(8, {"WAY": w}) for w in (0, 1, 2, 3)]
kernel = cuda.autotune(configs, key="x", timeout=2.0)(cuda.jit(opt="unchecked")(bad))
x, out = np.zeros(8, np.float32), np.ones(8, np.float32)
begin = time.monotonic()
kernel[1](x, out, Pair(1, 2))
print([t.error for t in kernel.trials])
print(out.tolist(), kernel.best["WAY"] in (0, 3), time.monotonic() - begin < 30)
"""


@on_host
def test_a_candidate_that_hangs_and_one_that_crashes_end_alone(tmp_path):
    """In a program of its own: functions, kernels and named tuples of the main program go along."""
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    errors, rest = done.stdout.splitlines()
    errors = ast.literal_eval(errors)
    assert errors[0] is errors[3] is None and errors[1] == "TimeoutError: not done after timeout=2 seconds"
    assert errors[2].startswith("the process ended by SIGSEGV")
    assert rest == f"{[2.0] * 8} True True"


@on_host
def test_waiting_can_be_interrupted(monkeypatch):
    """As Ctrl-C does: the process with the endless kernel is gone then."""
    children, begin = [], _trials.Child.__init__

    def note(self, data):
        children.append(self)
        begin(self, data)

    def endless(x):
        while x[0] == 0:
            x[1] += 1

    def stop(*_):
        raise InterruptedError("enough")

    monkeypatch.setattr(_trials.Child, "__init__", note)
    kernel = made(endless, [cuda.Config(1), cuda.Config(2)], isolate=True)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(InterruptedError, match="enough"):
            kernel[1](np.zeros(2))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert [child.process.poll() for child in children] == [-signal.SIGKILL]


@apart
def test_what_cannot_be_sent():
    class Thing:
        pass

    kernel, (x, d_x, out) = made(isolate=True), arrays()
    with pytest.raises(RuntimeError, match=r"(?s)cannot send it the kernel and its arguments.*isolate=False"):
        _trials.run_apart([_trials.Candidate(kernel.kernel, 1, 1, 0)], (Thing(),), None, [], 5, None)


@apart
def test_a_process_that_cannot_begin(monkeypatch):
    kernel, (x, d_x, out) = made(isolate=True), arrays()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match=r"(?s)could not begin in its other process: the process ended with status 1.*isolate=False"):
        kernel[blocks](d_x, out)
    monkeypatch.setattr(sys, "executable", None)
    with pytest.raises(RuntimeError, match="isolate=False"):
        kernel[blocks](d_x, out)


def test_decorations_that_are_wrong():
    config = cuda.Config(32)
    for make, error, text in [
        (lambda: cuda.autotune([]), TypeError, "a list of cuda.Config, at least one"),
        (lambda: cuda.autotune([{"BLOCK": 3}]), TypeError, "a list of cuda.Config"),
        (lambda: cuda.autotune([config], timeout=0), ValueError, "timeout is a number of seconds"),
        (lambda: cuda.autotune([config])(add_to), TypeError, "goes above @cuda.jit"),
        (lambda: cuda.autotune([config])(cuda.jit(device=True)(add_to)), TypeError, "is a device function"),
        (lambda: made(configs=[cuda.Config(32, {"TILE": 1})]), TypeError, "add_to has no parameter 'TILE'.*it has 'x', 'out', 'ITEMS'"),
        (lambda: made(configs=[cuda.Config(32, {"x": 1})]), TypeError, "come last or are keyword-only, but 'out' follows"),
        (lambda: made(key=["n"]), ValueError, r"key names parameters that a launch passes \('x', 'out'\), not 'n'"),
        (lambda: made(restore="ITEMS"), ValueError, "restore names parameters"),
        (lambda: made(reset_to_zero=["y"]), ValueError, "reset_to_zero names parameters"),
        (lambda: made(configs=[cuda.Config(32, {"ITEMS": 1}, coarsen=99)]), ValueError, r"coarsen must be from 1 to 8, not 99, in Config\("),
        (lambda: made(lambda *x: None, [config], key=()), TypeError, "starred parameters"),
        (lambda: cuda.Config({"BLOCK": 1}), TypeError, "begins with its block"),
        (lambda: cuda.Config(0), ValueError, "at least 1"),
        (lambda: cuda.Config("32"), TypeError, "block is an int or up to three"),
        (lambda: cuda.Config(32, {1: 2}), TypeError, "names of parameters"),
        (lambda: cuda.Config(32, sharedmem=-1), TypeError, "number of bytes"),
        (lambda: config["TILE"], KeyError, "sets no constants, not 'TILE'"),
        (lambda: made().variant(), ValueError, "tune first"),
        (lambda: made().variant(config), ValueError, "none of the configurations"),
        (lambda: made()[1](1), TypeError, "is missing 'out'"),
        (lambda: made()[1](1, x=2), TypeError, "several values for 'x'"),
        (lambda: made()[1](1, y=2), TypeError, "unexpected argument 'y'"),
        (lambda: made()[1](1, 2, 3), TypeError, "takes 'x', 'out'; 'ITEMS' are set by the configurations"),
    ]:
        with pytest.raises(error, match=text):
            make()


def test_nothing_is_tried_while_a_graph_is_captured():
    kernel, (x, d_x, out) = made(), arrays()
    graph = cuda.graph()
    with pytest.raises(RuntimeError, match="trials cannot be captured"), graph:
        kernel[blocks](d_x, out)
    kernel[blocks](d_x, out)
    with cuda.graph() as graph:
        kernel[blocks](d_x, out)
    graph.launch()
    assert np.array_equal(out.copy_to_host(), 1 + 2 * x)


# --- what is kept ---


def winners(folder):  # noqa: F811
    return sorted(folder.glob("*.tuned"))


def test_a_winner_is_found_again(folder, measured):  # noqa: F811
    x, d_x, out = arrays()
    first, second = made(), made()
    first[blocks](d_x, out)
    (file,) = winners(folder)
    assert len(measured) == 3 and json.loads(file.read_text())["kernel"] == "add_to"
    second[blocks](d_x, out)
    assert len(measured) == 3 and second.best is first.best and second.trials.cached and "as found before" in str(second.trials)
    assert [t.times for t in second.trials] == [t.times for t in first.trials]
    for other in (made(configs=CONFIGS[:2]), made(restore=["out"]), made(lambda x, out, ITEMS: None), made(configs=[*CONFIGS[:2], cuda.Config(99, {"ITEMS": 4})])):
        other[blocks](d_x, out)
        assert not other.trials.cached
    assert len(winners(folder)) == 5 and not list(folder.glob(".*"))
    made(cache=False)[blocks](d_x, out)
    assert len(winners(folder)) == 5


def test_damaged_files_and_those_of_others(folder, measured):  # noqa: F811
    x, d_x, out = arrays()
    made()[blocks](d_x, out)
    (file,) = winners(folder)
    whole = json.loads(file.read_text())
    for text in ("", "{", "[]", "3", json.dumps({**whole, "format": 9}), json.dumps({**whole, "trials": [[None, "no"]] * 3}),
                 json.dumps({**whole, "trials": [[["x"], None]] * 3}), json.dumps({**whole, "trials": 3})):
        file.write_text(text)
        assert _winners.read(file) is None, text
    file.write_text(json.dumps({**whole, "trials": whole["trials"][:2]}))
    made()[blocks](d_x, out)
    assert len(measured) == 6 and len(json.loads(file.read_text())["trials"]) == 3


def test_a_directory_that_cannot_be_written(folder, monkeypatch, tmp_path):  # noqa: F811
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "file" / "below"))
    x, d_x, out = arrays()
    with pytest.warns(CacheWarning, match="what autotune found is not kept"):
        made()[blocks](d_x, out)
    assert np.array_equal(out.copy_to_host(), 1 + x)


def test_readonly_directories(folder, monkeypatch, tmp_path, measured):  # noqa: F811
    x, d_x, out = arrays()
    made()[blocks](d_x, out)
    monkeypatch.setenv("PYPTX_CACHE_READONLY_DIR", str(folder))
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "other"))
    made()[blocks](d_x, out)
    assert len(measured) == 3


def test_the_command(folder, capsys):  # noqa: F811
    x, d_x, out = arrays()
    made()[blocks](d_x, out)
    (folder / "bad.tuned").write_text("{}")
    assert cli.main(["cache", "list"]) == 0
    said = capsys.readouterr().out
    assert "autotune: add_to(float32[::1], float32[::1]), x=(1000,), on " in said and "damaged: nothing that autotune" in said
    assert said.splitlines()[-1].endswith(", 2 tuned kernels")
    assert cli.main(["cache", "clear"]) == 0 and not winners(folder)
    assert capsys.readouterr().out.rstrip().endswith("2 tuned kernels")


PROCESS = """
import sys, time
import numpy as np
from pyptx import _trials, cuda
from test_autotune import CONFIGS, add_to, blocks, N
count = []
measure = _trials.Measuring.measure
_trials.Measuring.measure = lambda self, c: count.append(c) or time.sleep(0.05) or measure(self, c)
kernel = cuda.autotune(CONFIGS, ["x"], isolate=False)(cuda.jit(add_to))
x, out = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
kernel[blocks](x, out)
assert (out == 1 + x).all()
print(len(count), CONFIGS.index(kernel.best))
"""


@apart
def test_processes_share_a_winner(folder):  # noqa: F811
    """Of two at once one measures and the other waits for it; a third one, later, finds it."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*standin.FOLDERS, os.environ.get("PYTHONPATH", "")])}

    def start():
        return subprocess.Popen([sys.executable, "-c", PROCESS], stdout=subprocess.PIPE, text=True, env=env)

    both = [start(), start()]
    said = [p.communicate(timeout=100)[0].split() for p in both]
    assert sorted(n for n, _ in said) == ["0", "3"] and said[0][1] == said[1][1]
    assert start().communicate(timeout=100)[0].split() == ["0", said[0][1]]


def test_a_holder_that_stalls(folder, monkeypatch):  # noqa: F811
    with _winners.locked("a", 5):
        begin = time.monotonic()
        with _winners.locked("a", 0.2):
            assert 0.2 <= time.monotonic() - begin < 4


def test_threads(measured):
    kernel, (x, d_x, out) = made(), arrays()
    d_outs = [cuda.to_device(np.ones(N, np.float32)) for _ in range(4)]
    threads = [threading.Thread(target=kernel[blocks], args=(d_x, d_out)) for d_out in d_outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cuda.synchronize()
    assert len(measured) == 3 and all(np.array_equal(d.copy_to_host(), 1 + x) for d in d_outs)


# --- the object ---


@cuda.autotune(CONFIGS, key="x", isolate=False)
@cuda.jit
def of_a_module(x, out, ITEMS):
    """Its text."""
    out[0] = x[0] + ITEMS


def test_the_object():
    kernel = of_a_module
    assert kernel.__name__ == "of_a_module" and kernel.__doc__ == "Its text." and kernel.py_func is kernel.kernel.py_func
    assert repr(kernel) == "<autotuned kernel of_a_module, 3 configurations>"
    assert repr(CONFIGS[2]) == "Config(block=(128, 1, 1), kwargs={'ITEMS': 4}, max_registers=32)"
    assert pickle.loads(pickle.dumps(kernel)) is kernel is copy.deepcopy(kernel)
    x, d_x, out = arrays()
    other = cloudpickle.loads(cloudpickle.dumps(made()))
    other[blocks](d_x, out)
    assert np.array_equal(out.copy_to_host(), 1 + x) and other.best.block[0] in (32, 64, 128)
    config = pickle.loads(pickle.dumps(CONFIGS[2]))
    assert repr(config) == repr(CONFIGS[2]) and config.threads == 128
    with pytest.raises(TypeError):
        config.kwargs["ITEMS"] = 3


Point = namedtuple("Point", "x y", defaults=(3,))


def test_functions_by_value():
    """What the child gets of functions that it does not find by name."""
    def outer(n):
        def inner(v):
            return inner(v - 1) * FACTOR if v > 0 else n
        return inner

    scope = {"__name__": "__main__", "math": __import__("math"), "FACTOR": 2}
    source = "def f(x, /, a=1, *, b=2):\n    return math.floor(x) + a + b + g(x)\ndef g(x):\n    return FACTOR * x if x < 9 else f(x - 9)\n"
    exec(source, scope)
    f, inner = pickle.loads(bytes(_trials.pickled((scope["f"], outer(5)))))
    assert f(2.5) == 2 + 1 + 2 + 5 and f(1, 10, b=20) == 33 and f.__globals__ is not scope
    del inner
    moved = namedtuple("Pair", "a b", defaults=(1,))
    moved.__module__ = "__main__"
    back = pickle.loads(bytes(_trials.pickled(moved)))
    assert back(5) == (5, 1) and back.__name__ == "Pair"
    assert pickle.loads(bytes(_trials.pickled(Point))) is Point


# --- the GPU's path, without a GPU ---


@standin.needs_standin
def test_on_the_stand_in(folder):  # noqa: F811
    """Events, the L2 cache's filling before each run, restored arrays; a process of its own; one for the winner of another."""
    standin.run("""
        import numpy as np
        from standin import driver
        from pyptx import cuda
        from test_autotune import CONFIGS, add_to, blocks, N
        control = driver()
        x, out = cuda.to_device(np.arange(N, dtype=np.float32)), cuda.to_device(np.ones(N, np.float32))
        kernel = cuda.autotune(CONFIGS, ["x"], isolate=False)(cuda.jit(add_to))
        kernel[blocks].tune(x, out)
        runs = sum(len(t.times) for t in kernel.trials)
        assert runs >= 15 and kernel.trials.best.seconds > 0, kernel.trials
        launches = sum(control.calls(name) for name in (b"cuLaunchKernel", b"cuLaunchKernelEx"))
        copies = sum(control.calls(name) for name in (b"cuMemcpyDtoDAsync", b"cuMemcpyDtoDAsync_v2"))
        assert launches >= 2 * runs and copies >= runs, (launches, copies, runs)
        assert out.copy_to_host().tolist() == [1] * N
        apart = cuda.autotune(CONFIGS, ["out"])(cuda.jit(add_to))
        apart[blocks](x, out)
        assert len(apart.trials) == 3 and not apart.trials.cached and control.misuse() == 0
    """)
    assert len(winners(folder)) == 2
