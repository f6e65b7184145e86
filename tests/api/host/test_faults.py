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
