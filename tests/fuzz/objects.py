"""Fuzz targets that only Python can drive: what objects of other libraries say of their memory, and what is typed on the command line.

    python tests/fuzz/objects.py TARGET [--seed S] [--count N] [--seconds T] [FILE ...]

A seed is a case: it is printed before it runs, so that the last one of a run that died is the finding, and `--seed S --count 1` repeats it.
A file is a case too, whose bytes are what the choices are drawn from: libFuzzer makes these (python_target.c), for all but cache_files.
Targets: array_interface, dlpack, command_line, signatures, cache_files. Seeds that are worth keeping are in corpus/objects/TARGET, one a line;
tests/api/host/test_fuzz_objects.py runs them, and scripts/soak new ones. Best under a sanitized module (scripts/sanitized).
"""

import argparse
import contextlib
import io
import os
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "api")]

# What a user's mistake may become; anything else (SystemError, a crash, PT405) is ours.
ALLOWED = (TypeError, ValueError, BufferError, OverflowError, AttributeError, NotImplementedError, MemoryError, IndexError, RuntimeError)
NUMBERS = [0, 1, 2, 3, 7, -1, -2, 16, 64, 255, 2**15, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30]
STRANGE = [None, True, 1.5, float("nan"), "", "3", b"x", (), [], {}, object(), (1, 2), [[1]], np.int8(3), np.float64(2), Ellipsis, 1j]


class Drawn(random.Random):
    """Choices by the bytes of an input; zeros when these have run out."""

    def __init__(self, data):
        super().__init__(0)
        self.left = data

    def __new__(cls, data):
        return super().__new__(cls, 0)

    def getrandbits(self, bits):
        size = (bits + 7) // 8
        taken, self.left = self.left[:size], self.left[size:]
        return int.from_bytes(taken, "little") & ((1 << bits) - 1)

    def random(self):
        return self.getrandbits(16) / 65536

    def _randbelow(self, n):
        return self.getrandbits((n - 1).bit_length()) % n if n > 1 else 0


def number(r):
    return r.choice(NUMBERS) if r.random() < 0.8 else r.choice(STRANGE)


def some(r, *usual):
    """Mostly what is usual."""
    return r.choice(usual) if r.random() < 0.75 else number(r)


def raised(work, *more):
    """Runs it; what it raises must be an exception of ALLOWED, with a text that is no internal error."""
    try:
        return work()
    except (*ALLOWED, *more) as e:
        assert "PT405" not in str(e), e
    return None


def kernels():
    from pyptx import cuda

    if not hasattr(kernels, "made"):

        @cuda.jit
        def add(x, out):
            i = cuda.grid(1)
            if i < x.size and i < 64:
                out[0] += 1

        @cuda.jit
        def touch(x):
            x.shape

        kernels.made = add, touch
    return kernels.made


# --- what objects say of their memory: shape, strides and type lie, the address never does, and what is there is large enough ---


class Interface:
    def __init__(self, name, value, keep):
        self.keep = keep
        setattr(self, name, value)


def array_interface(r):
    from pyptx import cuda

    memory = np.zeros(4096, np.uint8)
    typestr = r.choice(["<f4", "<f8", "|u1", "<i8", ">f4", "|b1", "<c8", "<f2", "|V8", "<M8[s]", "<U4", "|O", "", "f", "<f3", "<i128", "zz", "<f4" * 50])
    item = 16
    length = r.randint(0, 8)
    shape = r.choice([(length,), (2, length), (1,) * r.randint(0, 70), [length], length, (0, length)])
    if r.random() < 0.3:
        shape = tuple(number(r) for _ in range(r.randint(0, 5)))
        if all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
            shape = tuple(min(n, 2) for n in shape)[:6]  # what is said to be there is there
    d = {
        "shape": shape,
        "typestr": some(r, typestr, typestr, "<f4"),
        "data": (memory.ctypes.data, r.random() < 0.5),
        "version": some(r, 2, 3, 3),
        "strides": r.choice([None, None, (item,), tuple(number(r) for _ in range(r.randint(0, 3)))]),
        "descr": r.choice([[("", typestr)], None, [("x", "<f4"), ("y", "<i4")], number(r)]),
        "mask": r.choice([None, None, None, number(r)]),
        "stream": r.choice([None, 1, 2, 0, number(r)]),
    }
    for name in list(d):
        if r.random() < 0.12:
            del d[name]
    d = r.choice([d, d, d, number(r), dict(list(d.items())[:2]), {**d, 1: 2}])
    name = r.choice(["__cuda_array_interface__", "__array_interface__"])
    if name == "__cuda_array_interface__" and isinstance(d, dict) and r.random() < 0.3:  # the other one NumPy believes
        d["data"] = r.choice([(0, False), number(r), (number(r),), (number(r), 1, 2), (memory.ctypes.data,), memory])
    if name == "__array_interface__" and isinstance(d, dict) and d.get("typestr") == "|O":
        d["typestr"] = "<f4"  # NumPy's own pointers to objects
    thing = Interface(name, d, memory)
    _, touch = kernels()
    raised(lambda: cuda.is_cuda_array(thing))
    raised(lambda: touch[1, 1](thing))
    if name == "__cuda_array_interface__":
        raised(lambda: cuda.as_cuda_array(thing))
        raised(lambda: cuda.from_cuda_array_interface(d, owner=memory))
    elif isinstance(d, dict) and d.get("strides") is None:
        raised(lambda: cuda.to_device(thing))


def dlpack(r):
    import dlpack_fake
    from pyptx import cuda

    array = np.zeros(tuple(r.randint(0, 4) for _ in range(r.randint(0, 4))), r.choice(["f4", "f8", "i1", "u2", "c8", "?", "f2"]))
    library = dlpack_fake.Library()
    changes = {}
    for name, choices in {"ndim": [0, 1, 2, 65, -1, 2**31 - 1], "code": range(20), "bits": [0, 1, 4, 7, 8, 16, 32, 64, 128, 255], "lanes": [0, 1, 2, 4, 65535],
                          "device_type": [0, 1, 2, 3, 4, 13, 99, -1], "device_id": [0, 1, -1, 2**31 - 1], "byte_offset": [0, 1, 4, 2**63, 2**64 - 8],
                          "shape": [None], "strides": [None], "data": [None]}.items():
        if r.random() < 0.15:
            changes[name] = r.choice(list(choices))
    if changes.get("ndim", array.ndim) > array.ndim:
        changes["ndim"] = r.choice([-1, 65, 2**31 - 1])  # its shape is read only where there is one
    make = r.choice([dlpack_fake.Fake, dlpack_fake.OldFake])
    fake = make(array, library, flags=r.choice([0, 1, 2, 4, 255]), version=r.choice([(1, 0), (1, 9), (0, 8), (2, 0), (255, 255)]),
                versioned=r.choice([None, True, False]), **changes)
    if r.random() < 0.1:
        fake.__class__ = type("Wrong", (make,), {"__dlpack__": lambda self, **k: r.choice(STRANGE)})
    if r.random() < 0.1:
        fake.device = r.choice([(1,), (1, 2, 3), "ab", None, (2**40, 0), 5])
    _, touch = kernels()
    raised(lambda: cuda.from_dlpack(fake))
    raised(lambda: touch[1, 1](fake))
    raised(lambda: cuda.as_cuda_array(fake))
    del fake
    import gc

    gc.collect()
    assert library.live == 0, f"{library.live} tensors were not given back"


# --- the command line ---

WORDS = ["compile", "info", "doctor", "cache", "port", "--sig", "float32[:]", "float32[:], int64", "((((", "[:,::1]", "--arch", "sm_90", "sm_1", "--emit", "ptx", "ssa",
         "html", "header,json", "--passes", "-o", "-", "--name", "--name=é\x01", "--abi", "stable", "-O", "3", "99", "--debug", "--no-fma", "--coarsen", "--json",
         "list", "clear", "--help", "--version", "", "--", "-", "\udce4", "a" * 3000, "--sig=", "kernels.py:add", "kernels.py:", "kernels.py:nothing", "kernels.py",
         "missing.py:add", "folder", "broken.py:x", "--typing", "numba", "--fastmath", "--max-registers", "-1", "1e9", "--launch-bounds", "1,2,3,4", "--resource-usage"]


def command_line(r):
    from pyptx import cli

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("kernels.py").write_text("from pyptx import cuda\n\n\n@cuda.jit\ndef add(x, y):\n    x[0] = y[0]\n")
        Path("broken.py").write_bytes(bytes(r.randrange(256) for _ in range(30)))
        Path("folder").mkdir()
        words = [r.choice(WORDS) for _ in range(r.randint(0, 7))]
        if r.random() < 0.5:
            words = ["compile", "kernels.py:add", "--sig", r.choice(["float32[:], float32[:]", *WORDS]), "--arch", r.choice(["sm_90", *WORDS]), *words]
        if any(w in ("doctor", "port") for w in words[:1]):
            words = words[1:]  # doctor asks the machine, which takes seconds
        out, before = io.StringIO(), list(sys.path)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                status = cli.main(words)
            except SystemExit as e:
                status = e.code
        sys.path[:] = before
        text = out.getvalue()
        assert status in (None, 0, 1, 2) or isinstance(status, str), (status, words)
        assert "PT405" not in text and "Traceback" not in text, (words, text[-2000:])


def signatures(r):
    from pyptx import cuda

    pieces = ["float32", "int64", "[:]", "[::1]", "[:,::1]", "[", "]", "(", ")", ",", " ", "void", "record(x: float32 @0; 4)", "align4 ", "narrow ", "!", "Point(", ": ", "é", "\0",
              "9" * 40, "float32[" + ":," * 40 + ":]", "(" * 2000, "enum Color(RED=1)", "datetime64[s]", "pyint", "\n", "x"]
    text = "".join(r.choice(pieces) for _ in range(r.randint(0, 9)))
    what = r.choice([text, text, (text,), [text], text.encode(), number(r), (number(r), text), {text: 1}])
    add, _ = kernels()
    from pyptx import CompileError

    made = raised(lambda: cuda.jit(add.py_func).compile(what), CompileError, RecursionError, UnicodeError)
    assert made is None or "\0" not in str(what), what


def cache_files(r):
    """A kernel's file is damaged; the launch is right all the same."""
    import subprocess

    if not hasattr(cache_files, "folder"):
        cache_files.folder = tempfile.TemporaryDirectory()
        Path(cache_files.folder.name, "program.py").write_text(
            "import sys, os\nimport numpy as np\nfrom pyptx import cuda\n\n\n@cuda.jit(cache=True)\ndef k(x, n):\n    x[cuda.grid(1)] = n + 1\n\n\n"
            "x = np.zeros(4, np.int64)\nk[1, 4](x, 41)\nassert (x == 42).all()\n")
    folder = cache_files.folder.name
    kept = Path(folder, "kept")
    kept.mkdir(mode=0o700, exist_ok=True)
    for path in kept.rglob("*.kernel"):
        data = bytearray(path.read_bytes())
        for _ in range(r.choice([0, 1, 1, 2, 8])):
            data[r.randrange(len(data)) if r.random() < 0.5 else r.randrange(min(len(data), 128))] = r.randrange(256)
        path.write_bytes(data[: r.choice([len(data), len(data), r.randrange(len(data) + 1), 64, 0])] + bytes(r.choice([0, 0, 1, 5000])))
    env = {**os.environ, "PYPTX_DEVICE": "host", "PYPTX_CACHE_DIR": str(kept)}
    done = subprocess.run([sys.executable, "program.py"], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


TARGETS = {f.__name__: f for f in (array_interface, dlpack, command_line, signatures, cache_files)}


def run(target, seeds, seconds=None):
    """How many seeds ran. The one that runs is in the environment's PYPTX_FUZZ_LAST, a file, if that names one."""
    last, ran, end = os.environ.get("PYPTX_FUZZ_LAST"), 0, time.monotonic() + (seconds or float("inf"))
    for seed in seeds:
        if time.monotonic() > end:
            break
        if last:
            Path(last).write_text(str(seed))
        try:
            TARGETS[target](random.Random(seed))
        except BaseException as e:
            e.add_note(f"python tests/fuzz/objects.py {target} --seed {seed} --count 1")
            raise
        ran += 1
    return ran


def one(target):
    """The target as libFuzzer calls it: with the bytes of an input."""
    import gc

    kernels()
    gc.freeze()  # what is there stays: collections look at what a case made
    return lambda data: TARGETS[target](Drawn(data))


def corpus(target):
    """The seeds and the files that are worth keeping."""
    seeds = [int(line) for line in (HERE / "corpus" / "objects" / target).read_text().split()]
    return seeds, sorted((HERE / "corpus" / target).glob("*"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    o = parser.parse_args()
    os.environ.setdefault("PYPTX_DEVICE", "host")
    os.environ.setdefault("PYPTX_ADVICE", "0")
    warnings.simplefilter("ignore")
    if o.files:
        for path in o.files:
            print(path, flush=True)
            one(o.target)(path.read_bytes())
        return
    count = o.count or (1 << 40 if o.seconds else 1000)
    print(f"{run(o.target, range(o.seed, o.seed + count), o.seconds)} cases of {o.target} from seed {o.seed}")


if __name__ == "__main__":
    main()
