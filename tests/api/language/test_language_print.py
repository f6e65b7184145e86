"""print and f-strings: the text is Python's own.

Each kernel is run as plain Python first, and what that prints is what the host device must print.
The GPU's printf has no shortest form for floats: there a test reads numbers back instead.
"""

import ctypes
import io
import itertools
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, redirect_stdout

import numpy as np
import pytest
from harness import define, simulate
from pyptx import CompileError, cuda
from standin import needs_standin, run
from test_ptx import assemble, ptx_of


def check(kernel, args, capfd, device, exact=True):
    simulate(kernel, args)
    want = capfd.readouterr().out
    cuda.jit(kernel)[1, 1](*args)
    cuda.synchronize()
    got = capfd.readouterr().out
    if device == "gpu" and not exact:
        assert [float(w) for w in got.split()] == pytest.approx([float(w) for w in want.split()], rel=1e-6)
    else:
        assert got == want


def test_sep_and_end(capfd, device):
    def kernel(a):
        print(a, 2, "x", sep="-", end="!\n")
        print("{", a, "}", "100%", sep="")
        print()
        print(a, end="")
        print("", sep="?", end="\n\n")
        print(*(1, 2, 3), sep=", ")
        print("a\tb", None, True, a > 3, sep=None, end=None)

    check(kernel, (5,), capfd, device)


INT_SPECS = [
    f"{align}{sign}{alt}{width}{group}{kind}"
    for align, sign, alt, width, group, kind in itertools.product(
        ["", "<", ">", "^", "*^", "=", "0=", "x<"], ["", "+", " "], ["", "#"], ["", "12", "015"], ["", "_"], ["", "d", "b", "x", "X", "o"]
    )
]


@pytest.mark.parametrize("value", [0, 7, -12345, 2**40 + 3, -(2**63)])
@pytest.mark.parametrize("part", range(3))
def test_integers(value, part, capfd, device):
    specs = INT_SPECS[part::17]
    lines = [f'    print(f"[{{a:{s}}}]")' for s in specs[value % 7 :: 7]]
    check(define("def kernel(a):\n" + "\n".join(lines)), (value,), capfd, device)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"])
def test_types_of_integers(dtype, capfd, device):
    info = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)

    def kernel(a, b):
        print(a, b, f"{a} {b!s}")
        print(f"{a:d} {b:>24d} {b:,} {a:_x} {b:#b} {a:+d} {b:08d}")

    check(kernel, tuple(np.dtype(dtype).type(v) for v in info), capfd, device)


def test_grouping(capfd, device):
    def kernel(a, b):
        print(f"{a:,} {b:,} {a:_} {a:012,} {b:06,} {b:04,} {a:_b} {a:_x} {a:*>20,} {b:,d}")

    check(kernel, (1234567, 123), capfd, device)
    check(kernel, (-1234567, -1234), capfd, device)


def test_floats_with_a_type(capfd, device):
    def kernel(a):
        print(f"{a:f} {a:.0f} {a:.3f} {a:10.2f} {a:<10.2f}| {a:+.1f} {a: .1f} {a:010.3f} {a:F}")
        print(f"{a:e} {a:.2e} {a:14.3E} {a:g} {a:.3g} {a:10G} {a:.1%} {a:9.0%}")

    for value in (0.0, 1.5, -2.25, 1e-7, 123456789.125, -1e20, np.float64(0.1), np.float32(0.1)):
        check(kernel, (value,), capfd, device)


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_floats_are_the_shortest_that_read_back(kind, capfd, device):
    def kernel(x):
        for i in range(x.size):
            print(x[i])

    def plain(x):
        for i in range(x.size):
            print(float(x[i]))

    rng = np.random.default_rng(3)
    dtype = np.float32 if kind is np.float32 else np.float64
    limit = 100 if dtype == np.float64 else 30
    random = rng.standard_normal(300) * 10.0 ** rng.integers(-limit, limit, 300)
    powers = [2.0**k for k in range(-140 if limit == 30 else -1074, 127 if limit == 30 else 1023, 7)]
    special = [0.0, -0.0, 0.1, 1e15, 1e16, 123456.0, 1e-4, 1e-5, 1 / 3, 2 / 3, 5e-324, np.inf, -np.inf]
    x = np.array([*random, *powers, *special]).astype(dtype)
    check(plain if kind is float else kernel, (x,), capfd, device, exact=False)


def test_floats_without_a_type(capfd, device):
    def kernel(a):
        print(f"{a:10} {a:<10}| {a:+} {a:.3} {a:.10} {a:012}")

    if device == "gpu":
        pytest.skip("printf has no such form; the text is near it")
    for value in (1.0, 12.0, 123.456, -1e20, 0.5, 1234567.0, np.float32(0.1), np.float64(0.1)):
        check(kernel, (value,), capfd, device)


def test_nan_has_no_sign(capfd, device):
    def kernel(a):
        print(a, f"{a:f} {a:8.1f}")

    for value in (float("nan"), -float("nan")):
        check(kernel, (value,), capfd, device)


FLOAT_SPECS = [
    f"{align}{sign}{zero}{width}{precision}{kind}"
    for align, sign, zero, width, precision, kind in itertools.product(
        ["", "<", ">", "=", " <"], ["", "+", " ", "-"], ["", "0"], ["", "1", "8", "15"], ["", ".0", ".3"], ["", *"fFeEgG%"]
    )
]
FLOATS = [0.0, -0.0, 0.5, 0.05, -0.995, 0.994999, 1.0, 9.995, -99.5, 0.0449999, 1234567.0, 1e16, -1e22, 1e300, 5e-324]
FLOATS += [float("inf"), -float("inf"), float("nan"), -float("nan")]


def is_in_a_kernel(spec):
    """Python has the spec, and so has a kernel: zeros stand behind the sign, and nothing else does."""
    try:
        format(1.5, spec)
    except ValueError:
        return False
    zeros = spec.lstrip("<>=+ -").startswith("0")
    return zeros if spec.startswith("=") else not (zeros and spec.lstrip(" ")[:1] in tuple("<>"))


@pytest.mark.parametrize("part", range(3))
def test_every_padding_of_every_kind_of_float(part, capfd, device):
    """Each third of the specs; without a letter a GPU's printf has no such form."""
    specs = [s for s in filter(is_in_a_kernel, FLOAT_SPECS) if device == "host" or s[-1:] in tuple("fFeEgG%")][part::3]
    lines = [f'        print(f"[{{x[i]:{s}}}]")' for s in specs]
    kernel = cuda.jit(define("def kernel(x):\n    for i in range(x.size):\n" + "\n".join(lines)))
    kernel[1, 1](np.array(FLOATS))
    cuda.synchronize()
    got = capfd.readouterr().out.splitlines()
    want = [(s, x, f"[{x:{s}}]") for x in FLOATS for s in specs]
    assert len(got) == len(want)
    assert not [(s, x, g, w) for g, (s, x, w) in zip(got, want) if g != w]


@pytest.mark.parametrize("precision", [0, 1, 4])
def test_a_percentage_is_as_long_as_its_digits(precision, capfd, device):
    """Spaces behind it, next to each number that has a digit more."""
    edges = [10.0**k - 0.5 * 10.0**-precision for k in range(-1, 18)]
    x = np.array([v for e in edges for v in (np.nextafter(e, 0), e, np.nextafter(e, np.inf), -e)]) / 100
    spec = f"<24.{precision}%"
    check(define(f'def kernel(x):\n    for i in range(x.size):\n        print(f"[{{x[i]:{spec}}}]")'), (x,), capfd, device)


def test_strings_and_constants(capfd, device):
    def kernel(a):
        s = "abc"
        print(f"[{s:10}] [{s:>10}] [{s:^10}] [{s:*^9}] [{s:.2}] [{s!r}] [{s!r:>8}] [{s!s:5}]")
        print(f"{a=} {s=} {a = } {{}} {{{a}}} 50% {None} {True} {None!s:>6}")
        print(f"{f'{a}{s}'} {a:{8}d} {a:{'>'}{6}}")

    check(kernel, (5,), capfd, device)


def test_dtypes_and_classes(capfd, device):
    def kernel(x, f):
        print(x.dtype, f.dtype, np.float32, type(x[0]), x.dtype.type, int, bool, np.bool_, (f.dtype, complex))
        print(f"{x.dtype} {f.dtype!r} {f.dtype!s} {np.int8} {type(f[0])!r}")

    for dtype in (np.float16, np.complex64, np.bool_):
        check(kernel, (np.arange(3), np.zeros(2, dtype)), capfd, device)


def test_repr_of_numpy_numbers(capfd, device):
    def kernel(a, b, f):
        print(f"{a=} {b!r} {f!r}", (a, 1, b), ((f,), "s", None, True, 2.5), (), (a,))

    check(kernel, (np.int32(-3), np.bool_(True), np.float32(1.5)), capfd, device)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers(dtype, capfd, device):
    def kernel(a, z):
        for i in range(a.size):
            print(a[i], (a[i], z), f"<{a[i]}> {a[i]!r}")

    def formatted(x):
        print(f"{x[0]} {x[0]!s} {x[0]!r}")

    if device == "host":
        for dtype_of_one in ("float16", "float32", "float64", dtype):
            check(formatted, (np.array([0.1], dtype_of_one),), capfd, device)
    rounded = [1.5 - 2.5j, 3 + 0j, -0.25 + 1e10j, complex(-0.0, 2)]
    check(kernel, (np.array(rounded[:3], dtype), 1 - 0.5j), capfd, device)
    if device == "host":
        hard = [*rounded, 2j, -0j, 0.1 - 0.2j, 1e7 + 1e16j, 1 / 3 + 1e-5j, complex(np.nan, -np.inf), complex(0, np.nan)]
        check(kernel, (np.array(hard, dtype), 2j), capfd, device)


def test_booleans(capfd, device):
    def kernel(a):
        flag = a > 3
        print(flag, f"{flag} {flag!r} {flag:5} {flag:d} {flag!s}")

    check(kernel, (5,), capfd, device)


def test_messages_are_formatted_by_python(device):
    def kernel(a, b):
        if a > 3:
            raise ValueError(f"a={a:05d} b={b:8.3f}|{a:,}|{b!s}")

    with pytest.raises(ValueError) as error:
        cuda.jit(debug=True)(kernel)[1, 1](54321, 2.5)
        cuda.synchronize()
    assert str(error.value).startswith(f"a={54321:05d} b={2.5:8.3f}|{54321:,}|2.5")


@pytest.mark.parametrize(
    "line, code",
    [
        ('print(f"{b:q}")', "PT121"),
        ('print(f"{b:*^9.2f}")', "PT121"),
        ('print(f"{a:.3}")', "PT121"),
        ('print(f"{a:,x}")', "PT121"),
        ('print(f"{a:{a}}")', "PT210"),
        ('print(f"{(1, 2):5}")', "PT121"),
        ("print(a, sep=3)", "PT209"),
        ("print(a, end=a)", "PT209"),
        ("print(a, file=None)", "PT208"),
        ('s = f"{a}"\n    b + s', "PT204"),
        ('s = f"{a}" if a > 1 else f"{b}"\n    print(s)', "PT114"),
    ],
)
def test_errors(line, code):
    kernel = define(f"def kernel(a, b):\n    {line}\n")
    with pytest.raises(CompileError) as error:
        cuda.jit(kernel)[1, 1](3, 2.5)
    assert error.value.code == code, str(error.value)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_ptx_assembles(arch, tmp_path):
    kernel = define('def kernel(a, x):\n    print(a, x[0], f"{a:#_b} {a:,} {x[0]:8} {x[0]:.3} {a > 1}", (x[0], a), sep="; ")\n')
    assemble(ptx_of(kernel, "int32, float32[::1]", arch=arch), arch, tmp_path)


STRINGS = ["", "it's", 'a "b"', "it's \"both\"", "a\\b\tc\r\n\x01\x7f", "\x80\x9f\xa0\xadaé€😀", "x" * 200, "a\0b"]


@pytest.mark.parametrize("text", STRINGS, ids=ascii)
def test_repr_of_strings(text, capfd, device):
    def kernel():
        print(f"{text!r} {text!a} {text!r:>12}|{text!a:*^9}|", (text, (text,)), f"{(text,)!a}", len(text), text == "a", "\0" in text)

    check(kernel, (), capfd, device)


def test_a_nul_ends_texts():
    def kernel():
        print("a\0b")

    with pytest.raises(CompileError, match="a text with a NUL character cannot be used as a value"):
        cuda.jit(kernel).compile("()")


def test_texts_with_a_nul_keep_their_length():
    text = "a\0b"

    def kernel(out):
        out[0], out[1] = len(f"{text}c"), f"{text}c" == "a\0bc"

    out = np.zeros(2, np.int64)
    cuda.jit(kernel)[1, 1](out)
    cuda.synchronize()
    assert out.tolist() == [4, 1]


# --- beside Python's own output ----------------------------------------------------------------------------------------


def helper(x):
    print("kernel", x[0])


def says(x):
    helper(x)


def counts(x):
    print("kernel", x[0])
    x[0] += 1


def graph_of(kernel, x):
    with cuda.graph() as g:
        kernel[1, 1](x)
    return g.launch


WAYS = {
    "a launch": lambda kernel, x: lambda: kernel[1, 1](x),
    "on a stream": lambda kernel, x: lambda: kernel[1, 1, cuda.stream()](x),
    "forall": lambda kernel, x: lambda: kernel.forall(1, tpb=1)(x),
    "bound": lambda kernel, x: kernel[1, 1].bind(x),
    "a graph": graph_of,
}


@pytest.fixture
def standard(monkeypatch):
    """Makes a file the sys.stdout that Python began with."""
    def put(out):
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "__stdout__", out)

    yield put
    monkeypatch.undo()


@pytest.mark.parametrize("own", [True, False], ids=["own", "another"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cache", [False, True], ids=["", "kept"])
def test_what_python_wrote_before_comes_before(way, cache, own, capfd, monkeypatch, tmp_path):
    """sys.stdout holds text back wherever it is no terminal; a kernel's text passes through it unless it is the one that Python began with."""
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    x = cuda.to_device(np.zeros(1, np.int32))
    for _ in range(1 + cache):  # the second time from the disk
        kernel = cuda.jit(says, cache=cache)
        launch = WAYS[way](kernel, x)
        with open(os.dup(1), "w") as out, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            if own:
                patch.setattr(sys, "__stdout__", out)
            for i in range(3):
                x[0] = i
                print("python", i)
                launch()
                cuda.synchronize()
        assert capfd.readouterr().out == "".join(f"python {i}\nkernel {i}\n" for i in range(3))
    assert not cache or kernel.stats.cache_hits


class Flushed(io.StringIO):
    """Counts, and raises."""

    def __init__(self, raises=None):
        super().__init__()
        self.raises, self.count = raises, 0

    def flush(self):
        self.count += 1
        if self.raises:
            raise self.raises


@pytest.mark.parametrize("way", WAYS)
def test_only_kernels_that_print_flush(way, standard, capfd):
    def silent(x):
        x[0] += 1

    def never(x):
        if x.size > 9 and x.ndim == 2:
            print("never")

    x = cuda.to_device(np.zeros(1, np.int32))
    for function, each in (silent, 0), (never, 0), (says, 1):
        launch = WAYS[way](cuda.jit(function), x)
        out = Flushed()
        standard(out)
        for _ in range(3):
            launch()
        cuda.synchronize()
        assert out.count == 3 * each


@pytest.mark.parametrize("way", WAYS)
def test_a_redirected_stdout_gets_the_text(way, capfd):
    """In the block of the redirection, without waiting for the GPU, and in order; nothing of it on file descriptor 1."""
    x = cuda.to_device(np.zeros(1, np.int32))
    launch = WAYS[way](cuda.jit(says), x)
    out = io.StringIO()
    with redirect_stdout(out):
        for i in range(3):
            x[0] = i
            print("python", i)
            launch()
        print("end", flush=True)
    cuda.synchronize()
    assert out.getvalue() == "".join(f"python {i}\nkernel {i}\n" for i in range(3)) + "end\n"
    assert capfd.readouterr().out == ""


def test_capsys_sees_it(capsys):
    cuda.jit(says)[1, 1](np.full(1, 7, np.int32))
    assert capsys.readouterr().out == "kernel 7\n"


def test_file_descriptor_1_is_as_it_was(capfd):
    """Also where C's own stdout holds text back: what was written before stays before."""
    libc = ctypes.CDLL(None)
    was = os.fstat(1)
    libc.printf(b"before\n")
    with redirect_stdout(io.StringIO()) as out:
        cuda.jit(says)[1, 1](np.zeros(1, np.int32))
    libc.printf(b"after\n")
    libc.fflush(None)
    os.write(1, b"end\n")
    assert (os.fstat(1).st_dev, os.fstat(1).st_ino) == (was.st_dev, was.st_ino)
    assert out.getvalue() == "kernel 0\n" and capfd.readouterr().out == "before\nafter\nend\n"


def test_text_beyond_ascii_and_long_text():
    def kernel(n):
        for i in range(n):
            print("größer → 日本", i)

    with redirect_stdout(io.StringIO()) as out:
        cuda.jit(kernel)[1, 1](5000)
        cuda.synchronize()
    want = "".join(f"größer → 日本 {i}\n" for i in range(5000))
    assert out.getvalue() == want


def closed():
    file = io.StringIO()
    file.close()
    return file


class Unwritable(io.StringIO):
    def write(self, text):
        raise OSError(28, "full")


@pytest.mark.parametrize("out, error", [(None, None), (closed(), ValueError), (object(), AttributeError), (Unwritable(), OSError), ("deleted", RuntimeError)],
                         ids=["None", "closed", "no file", "full", "deleted"])
@pytest.mark.parametrize("way", ["a launch", "a graph", "a host array"])
def test_a_stdout_that_takes_nothing(out, error, way, capfd, monkeypatch):
    """What print() does: nothing for None, else what the file raises. The launch has happened."""
    x = np.zeros(1, np.int32) if way == "a host array" else cuda.to_device(np.zeros(1, np.int32))
    launch = WAYS.get(way, WAYS["a launch"])(cuda.jit(counts), x)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        if out == "deleted":
            patch.delattr(sys, "stdout")
        for _ in range(2):
            with pytest.raises(error) if error else nullcontext():
                print("python")
            with pytest.raises(error) if error else nullcontext():
                launch()
    assert np.asarray(x)[0] == 2
    cuda.synchronize()
    assert capfd.readouterr().out == ""


def test_an_own_stdout_that_cannot_be_flushed(standard, capfd):
    """As input() has it, that is the error of who writes next. What print() raises here is raised, too."""
    standard(Flushed(OSError(28, "full")))
    cuda.jit(says)[1, 1](np.zeros(1, np.int32))
    assert sys.stdout.getvalue() == "kernel 0\n"


@pytest.mark.host_only("a GPU's traps are known when it is waited for")
def test_what_a_stopped_kernel_printed(monkeypatch, capfd):
    def kernel(x):
        print("here", x[0])
        x[x[0] + 5] = 1

    with redirect_stdout(io.StringIO()) as out, pytest.raises(IndexError):
        cuda.jit(kernel)[1, 1](np.zeros(1, np.int32))
    assert out.getvalue() == "here 0\n"
    monkeypatch.setattr(sys, "unraisablehook", lambda info: hooked.append(info.exc_type))
    hooked = []
    with redirect_stdout(Unwritable()), pytest.raises(IndexError):
        cuda.jit(kernel)[1, 1](np.zeros(1, np.int32))
    assert hooked == [OSError]


@pytest.mark.host_only("a GPU hands its text over at the end")
def test_long_launches_are_heard_early(capfd):
    """Of a launch in the main thread, at least every tenth of a second."""
    class Heard(io.StringIO):
        def write(self, text):
            times.append(time.perf_counter())
            return super().write(text)

    def kernel(n, x):
        print("begins")
        for _ in range(n):
            for i in range(1000):
                x[i % 8] = x[(i + 3) % 8] * 1.0000001 + 1e-9
        print("ends")

    times = []
    jitted = cuda.jit(kernel)
    x = cuda.to_device(np.ones(8))
    with redirect_stdout(io.StringIO()):
        n, seconds = 1, 0.0
        while seconds < 0.4:
            n, begin = 2 * n, time.perf_counter()
            jitted[1, 1](n, x)
            seconds = time.perf_counter() - begin
    with redirect_stdout(Heard()) as out:
        jitted[1, 1](2 * n, x)
    assert out.getvalue() == "begins\nends\n" and len(times) == 2 and times[1] - times[0] > 0.2


def test_threads_and_their_text(capfd):
    """Several threads launch while stdout is redirected: nothing is lost, each thread's text is in order."""
    def kernel(who, i):
        print(who, i)

    jitted = cuda.jit(kernel)
    with redirect_stdout(io.StringIO()) as out:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda who: [jitted[1, 1](who, i) for i in range(50)], range(4)))
    cuda.synchronize()
    lines = [tuple(map(int, line.split())) for line in out.getvalue().splitlines()]
    assert sorted(lines) == [(who, i) for who in range(4) for i in range(50)]
    os.write(1, b"free\n")
    assert capfd.readouterr().out == "free\n"


@needs_standin
def test_a_stream_that_another_library_captures_is_not_waited_for():
    run("""
    import io
    from contextlib import redirect_stdout
    import numpy as np
    from pyptx import cuda
    from standin import driver

    control, s = driver(), cuda.stream()
    kernel, x = cuda.jit(lambda x: print(x[0])), cuda.to_device(np.zeros(1))
    for captured in True, False:
        kernel[1, 1, s](x)
        control.forget()
        control.capture(s.handle if captured else None)
        with redirect_stdout(io.StringIO()):
            kernel[1, 1, s](x)
        waits = control.calls(b"cuStreamSynchronize") + control.calls(b"cuStreamQuery")
        assert (waits == 0) == captured and control.calls(b"cuLaunchKernel") == 1 and control.misuse() == 0
    """)


@needs_standin
def test_a_driver_that_cannot_be_waited_for():
    """The launch has failed then; file descriptor 1 is as it was."""
    run("""
    import io, os
    from contextlib import redirect_stdout
    import numpy as np
    from pyptx import cuda
    from pyptx.errors import CudaAPIError
    from standin import driver

    control, was = driver(), os.fstat(1).st_ino
    kernel, x = cuda.jit(lambda x: print(x[0])), cuda.to_device(np.zeros(1))
    kernel[1, 1](x)
    for call in b"cuStreamSynchronize", b"cuLaunchKernel":
        control.fail(call, 1, 719)
        try:
            with redirect_stdout(io.StringIO()):
                kernel[1, 1](x)
        except CudaAPIError as error:
            assert control.fired(), error
        else:
            assert False, call
        assert os.fstat(1).st_ino == was
    """)


def test_a_fork_in_the_middle(capfd):
    """The child prints where it would without its parent's capture."""
    class Forks(io.StringIO):
        def write(self, text):
            if not children:
                children.append(os.fork())
                if not children[0]:
                    os.write(1, b"child\n")
                    os._exit(0)
            return super().write(text)

    children = []
    kernel = cuda.jit(says)
    with redirect_stdout(Forks()) as out:
        kernel[1, 1](np.zeros(1, np.int32))
    os.waitpid(children[0], 0)
    assert out.getvalue() == "kernel 0\n" and capfd.readouterr().out == "child\n"


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_while_stdout_is_flushed(way, standard, capfd):
    launch = WAYS[way](cuda.jit(says), cuda.to_device(np.zeros(1, np.int32)))
    standard(Flushed(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        launch()
    cuda.synchronize()
    assert capfd.readouterr().out == ""
