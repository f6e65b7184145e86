"""What a machine may do to a program: signals at any moment, a thousand threads, low limits of the process, a clock that goes backwards, a cache
that is removed or made read-only meanwhile. Nothing crashes, hangs or computes wrongly, and what goes wrong says what it is.

Each runs in a process of its own. Out of memory is test_short_of_memory.py's, the end of the interpreter test_processes.py's, a full disk
test_cache_processes.py's, the driver's calls test_driver_sweep.py's."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyptx
import pytest

HEAD = """
import os, random, resource, shutil, signal, sys, tempfile, threading, time, warnings
if "AS_NOBODY" in os.environ and os.getuid() == 0:  # root may write everywhere, and start any number of processes
    os.setuid(65534)
    os.environ["PYPTX_CACHE_DIR"] = os.path.join(tempfile.mkdtemp(), "cache")
import numpy as np
from pyptx import cuda, errors

MORE = [0]

def made(number):
    "A new kernel: its constant is no other's."
    def add(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] + number
    return cuda.jit(add)

def right(kernel, number):
    x, out = np.arange(50.0), np.zeros(50)
    kernel[2, 32](x, out)
    assert (out == x + number).all(), (number, out)
"""


def run(tmp_path, source, timeout=120, **env):
    (tmp_path / "program.py").write_text(HEAD + textwrap.dedent(source))
    env = {**os.environ, "PYPTX_DEVICE": "host", "PYPTX_ADVICE": "0", "PYPTX_CACHE_DIR": str(tmp_path / "cache"), **env}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout


def as_nobody(needed):
    """What makes the process another user's where this one is root's. Skips what needs that where others cannot read the environment."""
    folders = {p for file in (sys.executable, sys.base_prefix, np.__file__, pyptx.__file__) for p in Path(file).resolve().parents}
    if os.getuid() or all(p.stat().st_mode & 0o005 == 0o005 for p in folders):
        return {"AS_NOBODY": "1"}
    if needed:
        pytest.skip("for root there is no such limit, and another user cannot read this environment")
    return {}


@pytest.mark.host_only("the processes choose the host device")
@pytest.mark.parametrize("raises", [False, True], ids=["that return", "that raise"])
def test_signals_at_random_moments(tmp_path, raises):
    """While kernels are compiled, kept, launched and copied. A handler's exception ends what is under way, and the next attempt is right."""
    out = run(tmp_path, f"""
        class Stop(Exception):
            pass

        def handler(*_):
            MORE[0] += 1
            if {raises}:
                raise Stop

        signal.signal(signal.SIGALRM, handler)
        r, ended, number = random.Random(5), 0, 0
        end = time.monotonic() + 5
        while time.monotonic() < end or number <= 20:  # a loaded machine takes longer
            number += 1
            kernel = None
            try:
                signal.setitimer(signal.ITIMER_REAL, r.choice([1e-4, 1e-3, 5e-3, 2e-2]) * (r.random() + 1e-3), 0 if {raises} else 1e-3)
                kernel = made(number)
                kernel = cuda.jit(cache=True)(kernel.py_func)
                right(kernel, number)
                a = cuda.to_device(np.arange(1000.0))
                assert (a + 1).sum() == 500500
                with cuda.pinned(np.zeros(64)):
                    a[3:5] = 0
            except Stop:
                ended += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            right(kernel or made(number), number)
        print(number, MORE[0], ended)
        """)
    rounds, signals, ended = map(int, out.split())
    assert signals > 20 and (ended > 20 or not raises) and rounds > 20, out


@pytest.mark.host_only("the processes choose the host device")
def test_a_thousand_threads(tmp_path):
    """All are alive at once: each compiles or finds a kernel, launches it on a stream of its own and copies."""
    run(tmp_path, """
        threading.stack_size(256 << 10)
        kernels, failed = [made(k) for k in range(7)], []
        meet = threading.Barrier(1000)

        def body(number):
            try:
                meet.wait(60)
                stream = cuda.stream()
                x, out = cuda.to_device(np.arange(40.0), stream=stream), cuda.device_array(40, stream=stream)
                for k in range(number, number + 3):
                    kernels[k % 7][1, 64, stream](x, out)
                assert (out.copy_to_host(stream=stream) == np.arange(40.0) + (number + 2) % 7).all()
            except BaseException as e:
                failed.append(e)

        threads = [threading.Thread(target=body, args=(k,)) for k in range(1000)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed, failed[:3]
        """)


LIMITS = {
    "open files": ("RLIMIT_NOFILE", "len(os.listdir('/proc/self/fd'))"),  # one more may be opened
    "size of files": ("RLIMIT_FSIZE", "100"),
    "locked memory": ("RLIMIT_MEMLOCK", "0"),
    "stack": ("RLIMIT_STACK", "128 << 10"),
    "core": ("RLIMIT_CORE", "0"),
    "processes": ("RLIMIT_NPROC", "1"),
}


@pytest.mark.host_only("the processes choose the host device")
@pytest.mark.parametrize("which", LIMITS)
def test_low_limits(tmp_path, which):
    """A limit of the process costs the cache or the threads, with a warning, and no result."""
    name, value = LIMITS[which]
    run(tmp_path, f"""
        resource.setrlimit(resource.{name}, ({value},) * 2)
        warnings.simplefilter("error")
        for number in range(4):
            kernel = cuda.jit(cache=True)(made(number).py_func)
            try:
                right(kernel, number)
            except errors.CacheWarning as e:
                assert "cache" in str(e), e
                warnings.simplefilter("ignore")
                right(kernel, number)
        a = cuda.to_device(np.arange(1 << 20))
        assert (a + 1).sum() == (1 << 19) * ((1 << 20) + 1)
        cuda.pinned_array(1 << 16, np.uint8)[:] = 1
        cuda.stream().synchronize()
        """, **as_nobody(which == "processes"))


CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

/* The time of day goes backwards, by a second with each question. */
static long long back;
int clock_gettime(clockid_t which, struct timespec *t) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next)
    next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int failed = next(which, t);
  if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
    t->tv_sec -= __atomic_add_fetch(&back, 1, __ATOMIC_RELAXED);
  return failed;
}
time_t time(time_t *out) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return out ? (*out = t.tv_sec) : t.tv_sec;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec t;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &t);
  return out->tv_sec = t.tv_sec, out->tv_usec = t.tv_nsec / 1000, 0;
}
"""


@pytest.mark.host_only("the processes choose the host device")
@pytest.mark.skipif(not shutil.which("cc") or "PYPTX_SANITIZED" in os.environ, reason="no C compiler, or a library that must be loaded first")
def test_a_clock_that_goes_backwards(tmp_path):
    """Kernels are kept, found by the next process and dropped by their age; events and limits of time go by another clock."""
    (tmp_path / "clock.c").write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", "clock.so", "clock.c", "-ldl"], cwd=tmp_path, check=True)
    source = """
        assert time.time() > time.time(), "the clock does not go backwards"
        warnings.simplefilter("error")
        for number in range(30):
            right(cuda.jit(cache=True)(made(number).py_func), number)
        start, end = cuda.event(), cuda.event()
        start.record()
        time.sleep(0.01)
        end.record()
        end.synchronize()
        assert 5 < cuda.event_elapsed_time(start, end) < 5000
        print(cuda.cache_info().hits)
        x, out = np.zeros(3), np.zeros(3)
        made(1).configure(1, 32, timeout=20)(x, out)
        assert (out == 1).all()
        """
    env = {"LD_PRELOAD": str(tmp_path / "clock.so"), "PYPTX_CACHE_SIZE": "10M"}
    assert run(tmp_path, source, **env).split() == ["0"]
    assert run(tmp_path, source, **env).split() == ["30"]


@pytest.mark.host_only("the processes choose the host device")
@pytest.mark.parametrize("how", ["removed", "a file", "read-only", "full of folders"])
def test_a_cache_that_changes_meanwhile(tmp_path, how):
    """What was kept cannot be found, what is compiled cannot be kept: one warning says so, and each result is right."""
    run(tmp_path, f"""
        folder = os.environ["PYPTX_CACHE_DIR"]
        right(cuda.jit(cache=True)(made(0).py_func), 0)
        assert any(name.endswith(".kernel") for name in os.listdir(folder))
        if {how!r} == "read-only":
            os.chmod(folder, 0o500)
        elif {how!r} == "full of folders":
            for name in os.listdir(folder):
                os.remove(os.path.join(folder, name))
                os.mkdir(os.path.join(folder, name))
        else:
            shutil.rmtree(folder)
            if {how!r} == "a file":
                open(folder, "w").close()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for number in range(6):
                right(cuda.jit(cache=True)(made(number).py_func), number)
        words = [str(w.message) for w in caught]
        assert len(words) <= 1 and all("cache" in w for w in words), words
        if {how!r} == "read-only":
            os.chmod(folder, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
        """, **as_nobody(how == "read-only"))


@pytest.mark.host_only("the processes choose the host device")
def test_a_cache_that_changes_under_threads(tmp_path):
    """Eight threads compile the same kernels, while their directory is removed, a file, closed to everyone, or open to everyone."""
    run(tmp_path, """
        folder, ended, failed = os.environ["PYPTX_CACHE_DIR"], threading.Event(), []
        warnings.simplefilter("ignore")
        def disturb():
            r = random.Random(3)
            while not ended.wait(0.002):
                try:
                    match r.randrange(4):
                        case 0:
                            shutil.rmtree(folder, ignore_errors=True)
                        case 1:
                            shutil.rmtree(folder, ignore_errors=True)
                            os.path.exists(folder) or open(folder, "w").close()
                        case 2:
                            os.path.isfile(folder) and os.remove(folder)
                        case 3:
                            os.chmod(folder, r.choice([0o700, 0o777, 0]))
                except OSError:
                    pass
        def body():
            try:
                for number in range(15):
                    right(cuda.jit(cache=True)(made(number).py_func), number)
                    cuda.cache_info()
            except BaseException as e:
                failed.append(e)
        threads = [threading.Thread(target=body) for _ in range(8)]
        other = threading.Thread(target=disturb)
        for t in (other, *threads):
            t.start()
        for t in threads:
            t.join()
        ended.set()
        other.join()
        os.path.isdir(folder) and os.chmod(folder, 0o700)
        assert not failed, failed[:3]
        """)


IN_THE_MIDDLE = {
    "fork in a callback": """
        stream, pids, forked = cuda.stream(), [], threading.Event()
        def callback(*_):
            pid = os.fork()
            if not pid:
                signal.alarm(60)
                try:
                    right(made(5), 5)
                    os._exit(0)
                finally:
                    os._exit(1)
            pids.append(pid)
            forked.set()
        made(4)[1, 64, stream](cuda.to_device(np.zeros(8)), cuda.to_device(np.zeros(8)))
        stream.add_callback(callback)
        assert forked.wait(60) and os.waitpid(pids[0], 0)[1] == 0""",
    "wait and launch in a callback": """
        stream, done = cuda.stream(), threading.Event()
        def callback(*_):
            stream.synchronize()
            right(made(6), 6)
            done.set()
        stream.add_callback(callback)
        assert done.wait(60)""",
    "launch in the number of blocks": """
        kernel = made(7)
        class Blocks:
            def __index__(self):
                right(kernel, 7)
                MORE[0] += 1
                return 2
        x, out = np.arange(50.0), np.zeros(50)
        kernel[Blocks(), 32](x, out)
        assert (out == x + 7).all() and MORE[0] >= 1""",
    "launch in an array's interface": """
        kernel, x, out = made(8), np.arange(50.0), np.zeros(50)
        class Array:
            @property
            def __array_interface__(self):
                MORE[0] += 1
                right(kernel, 8)
                right(made(MORE[0]), MORE[0])
                return x.__array_interface__
        kernel[2, 32](Array(), out)
        assert (out == x + 8).all() and MORE[0] >= 1""",
    "an interface that changes its answer": """
        kernel, short, long, out = made(9), np.arange(3.0), np.arange(50.0), np.zeros(50)
        class Array:
            @property
            def __array_interface__(self):
                MORE[0] += 1
                return (long if MORE[0] == 1 else short).__array_interface__
        for _ in range(20):
            MORE[0] = 0
            kernel[2, 32](Array(), out)  # whichever it was, out is no longer than it
            assert (out[:3] == short + 9).all()""",
    "compile in a collection": """
        import gc
        def collected(phase, info):
            if phase == "start" and not within:
                within.append(True)
                MORE[0] += 1
                right(made(10), 10)
                within.clear()
        within = []
        gc.callbacks.append(collected)
        gc.set_threshold(10)
        kept = []
        for number in range(60):
            kept += [[] for _ in range(number % 11)]  # so many allocations fewer until the next collection
            right(made(number), number)
        gc.callbacks.clear()
        assert MORE[0] > 3, MORE""",
    "launch in what a kernel prints": """
        def say(x):
            print("element", x[0])
        say, real, said = cuda.jit(say), sys.stdout, []
        class Out:
            def write(self, text):
                said.append(text)
                if len(said) < 20:
                    say[1, 1](np.zeros(1))
            def flush(self):
                right(made(11), 11)
        sys.stdout = Out()
        say[1, 1](np.zeros(1))
        cuda.synchronize()
        sys.stdout = real
        assert "element" in "".join(said)""",
    "exceptions and launches in __del__": """
        kernel, x, out = made(12), np.arange(50.0), np.zeros(50)
        sys.unraisablehook = lambda what: MORE.__setitem__(0, MORE[0] + isinstance(what.exc_value, ArithmeticError))
        class Array:
            @property
            def __array_interface__(self):
                return x.__array_interface__
            def __del__(self):
                right(kernel, 12)
                raise ArithmeticError
        for _ in range(10):
            kernel[2, 32](Array(), out)
        assert (out == x + 12).all() and MORE[0] == 10, MORE""",
}


@pytest.mark.host_only("the processes choose the host device")
@pytest.mark.parametrize("where", IN_THE_MIDDLE)
def test_the_users_code_in_the_middle(tmp_path, where):
    """Code that pyptx calls while it works may itself launch, compile, wait, fork or raise."""
    run(tmp_path, IN_THE_MIDDLE[where])


VARIABLES = """PYPTX_ADVICE PYPTX_CACHE_DIR PYPTX_CACHE_READONLY_DIR PYPTX_CACHE_SIZE PYPTX_CACHE_WAIT PYPTX_CHECK PYPTX_COARSEN PYPTX_DEVICE
    PYPTX_DRIVER PYPTX_DUMP PYPTX_HOST_THREADS PYPTX_PTXAS PYPTX_SKIP PYPTX_TIMEOUT PYPTX_TYPING OMP_NUM_THREADS""".split()


@pytest.mark.host_only("the processes choose the host device")
@pytest.mark.parametrize("variable", VARIABLES)
def test_variables_with_odd_values(tmp_path, variable):
    """The program runs, or the error names the variable; 0.3 s for each of three values."""
    (tmp_path / "program.py").write_text(HEAD + "warnings.simplefilter('ignore')\nright(cuda.jit(cache=True)(made(3).py_func), 3)\n")
    for value in (b"%s%n" * 500, b"\xff/../\xc3", b"9" * 40):
        env = {**{k.encode(): v.encode() for k, v in os.environ.items()}, b"PYPTX_DEVICE": b"host", b"PYPTX_CACHE_DIR": str(tmp_path / "cache").encode(),
               variable.encode(): value}
        done = subprocess.run([sys.executable, "-X", "faulthandler", "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode in (0, 1) and "PT405" not in done.stderr, (value, done.returncode, done.stderr[-2000:])
        assert done.returncode == 0 or variable in done.stderr, (value, done.stderr[-2000:])
