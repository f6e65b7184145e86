"""The disk cache between processes and threads: locks, a full disk, hits of the next process, a hundred at once."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cached import files, folder, make, use  # noqa: F401
from pyptx import cli


def test_a_holder_that_stalls(folder, monkeypatch):
    """Another process has the lock and never finishes: after a while this one compiles alone."""
    use(make())
    (file,) = files(folder)
    file.unlink()
    lock = file.with_suffix(".lock")
    with open(lock, "w") as stalled:
        fcntl.flock(stalled, fcntl.LOCK_EX)
        monkeypatch.setenv("PYPTX_CACHE_WAIT", "0.2")
        assert use(make()) == "miss" and files(folder) == [file]
    monkeypatch.setenv("PYPTX_CACHE_WAIT", "30")
    file.unlink()
    assert lock.exists(), "it was another's"
    assert use(make()) == "miss" and not lock.exists(), "a lock without a holder is nobody's"


def test_waiting_for_another(folder):
    """The holder finishes while we wait: its kernel is taken."""
    use(make())
    (file,) = files(folder)
    away = file.rename(folder.parent / "away")
    lock = file.with_suffix(".lock")
    stalled = open(lock, "w")
    fcntl.flock(stalled, fcntl.LOCK_EX)

    def finish():
        away.rename(file)
        lock.unlink()
        stalled.close()

    timer = threading.Timer(0.3, finish)
    timer.start()
    assert use(make()) == "hit"
    timer.join()


def test_waiting_can_be_interrupted(folder):
    use(make())
    (file,) = files(folder)
    file.unlink()

    def stop(*_):
        raise InterruptedError("enough")

    with open(file.with_suffix(".lock"), "w") as stalled:
        fcntl.flock(stalled, fcntl.LOCK_EX)
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with pytest.raises(InterruptedError, match="enough"):
                use(make())
        finally:
            signal.signal(signal.SIGALRM, before)
    assert use(make()) == "miss"


FULL = """
import resource, signal, warnings
import numpy as np
from pyptx import cuda, errors
@cuda.jit
def scale(x):
    x[0] = 2
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    scale.compile("(float32[::1],)")
(o,) = scale.overloads.values()
assert o.cache == "miss", o.cache
assert issubclass(said[0].category, errors.CacheWarning) and "cannot take another kernel" in str(said[0].message), said
"""


def test_a_disk_that_is_full(folder):
    """The kernel is used all the same, and nothing half written stays."""
    done = subprocess.run([sys.executable, "-c", FULL], capture_output=True, text=True,
                          env={**os.environ, "PYPTX_DEVICE": "host"})  # a GPU's driver writes files, too
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []


def test_threads(folder):
    uses = []
    work = [threading.Thread(target=lambda: uses.append(use(make()))) for _ in range(12)]
    for t in work:
        t.start()
    for t in work:
        t.join()
    assert sorted(uses) == ["hit"] * 11 + ["miss"]


PROGRAM = """
import json, sys
import numpy as np
from pyptx import cuda, _pyptx
@cuda.jit(cache=True)
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size and factor in {2.0, 3.0} and MODE in {"fast", "slow", "other", "none"}:
        x[i] *= factor
MODE = "fast"
x = np.ones(8, np.float32)
scale[1, 8](x, 2.0)
cuda.synchronize()
(o,) = scale.overloads.values()
print(json.dumps({"use": o.cache, "x": x.tolist(), "llvm": _pyptx._cache_state()["llvm_initialised"], "ptx": o.ptx}))
"""


def start(tmp_path, **environment):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_next_process(folder, tmp_path, device):
    """Also with other hashes of str, which order sets differently."""
    results = [start(tmp_path, PYTHONHASHSEED=str(seed)) for seed in (1, 2, 3)]
    assert [r["use"] for r in results] == ["miss", "hit", "hit"]
    assert all(r["x"] == [2.0] * 8 for r in results) and len(files(folder)) == 1
    if device == "gpu":
        assert results[0]["llvm"] and not results[1]["llvm"], "a hit needs no LLVM"


def test_a_gpu_needs_no_llvm(folder, tmp_path):
    """The same through the stand-in driver, which runs no code."""
    driver = os.environ.get("PYPTX_STANDIN")
    if not driver or not Path(driver).exists():
        pytest.skip("PYPTX_STANDIN: the stand-in driver is not built")
    results = [start(tmp_path, PYPTX_DEVICE="gpu", PYPTX_DRIVER=driver) for _ in range(2)]
    assert [r["use"] for r in results] == ["miss", "hit"] and [r["llvm"] for r in results] == [True, False]
    assert results[0]["ptx"] == results[1]["ptx"] and ".visible .entry scale" in results[0]["ptx"]


FORKS = """
import json, os, sys
import numpy as np
from pyptx import cuda
n, folder = 100, sys.argv[1]
def make(factor):
    def scale(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * factor
    return cuda.jit(scale)
gate, opened = os.pipe()
results = []
for k in range(n):  # before anything is compiled: forking is safe
    back, out = os.pipe()
    if os.fork() == 0:
        os.close(opened)
        os.read(gate, 1)
        kernels = [make(f) for f in (2, 3, 4)]
        x = np.arange(8, dtype=np.float32)
        uses = []
        for factor, kernel in zip((2, 3, 4), kernels):
            y = np.zeros_like(x)
            kernel[1, 8](x, y)
            ok = (y == x * factor).all()
            (o,) = kernel.overloads.values()
            uses.append(o.cache if ok else "wrong")
        os.write(out, json.dumps(uses).encode())
        os._exit(0)
    os.close(out)
    results.append(back)
os.close(gate)
os.close(opened)  # all at once
uses = []
for back in results:
    uses.append(json.loads(os.read(back, 1000)))
    os.wait()
print(json.dumps(uses))
"""


def test_a_hundred_processes(folder, tmp_path):
    """All start on an empty cache: none sees half a file, and few compile a kernel."""
    done = subprocess.run([sys.executable, "-c", FORKS, str(folder)], capture_output=True, text=True, env={**os.environ, "PYPTX_DEVICE": "host", "PYPTX_HOST_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    uses = json.loads(done.stdout)
    assert len(uses) == 100 and {u for process in uses for u in process} == {"hit", "miss"}
    for kernel in range(3):
        assert sum(process[kernel] == "miss" for process in uses) <= 3
    assert len(files(folder)) == 3 and len(list(folder.iterdir())) == 3
    assert cli.main(["cache", "verify", "--dir", str(folder)]) == 0
