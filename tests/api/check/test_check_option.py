"""check=, cuda.checking and PYPTX_CHECK: which launches are checked, what findings say, and what goes on afterwards."""

import asyncio
import os
import pickle
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import standin
from harness import define

import pyptx
from pyptx import cuda
from pyptx.errors import CheckError, NonFiniteError, RaceError, SyncError, UnsetError, WrapError

on_host = pytest.mark.skipif(not cuda.get_current_device().is_host, reason="check= is for the host device")


def shift(x):
    t = cuda.threadIdx.x
    x[t] = x[t + 1]


def double(x):
    i = cuda.grid(1)
    x[i] = 2 * x[i]


@on_host
def test_a_finding_says_both_sides():
    with pytest.raises(RaceError) as found:
        cuda.jit(shift, check="race")[1, 32](np.ones(33))
    e = found.value
    assert isinstance(e, CheckError) and e.array == "x[1]"
    line = shift.__code__.co_firstlineno + 2
    assert (e.lineno, e.other_lineno, e.filename, e.other_filename) == (line, line, __file__, __file__)
    assert (tuple(e.thread), tuple(e.other_thread)) == ((1, 0, 0), (0, 0, 0)) and tuple(e.block) == tuple(e.other_block) == (0, 0, 0)
    text = str(e)
    assert "race on x[1]: thread (1, 0, 0) of block (0, 0, 0) writes it, thread (0, 0, 0) of block (0, 0, 0) read it" in text
    assert f":{line}:5, in shift\n    x[t] = x[t + 1]\n    ^^^^\n" in text and f"read it: {__file__}:{line}:12" in text
    assert "           ^^^^^^^^\n  help: " in text and e.text.strip() == "x[t] = x[t + 1]"


@on_host
def test_the_next_launch_works():
    kernel = cuda.jit(shift, check=True)
    x = np.arange(33.0)
    for _ in range(3):
        with pytest.raises(RaceError):
            kernel[1, 32](x)
    one = np.arange(4.0)
    kernel[1, 1](one)
    assert one.tolist() == [1, 1, 2, 3]


@on_host
@pytest.mark.unchecked("it asks for its checks itself")
def test_checking_is_for_the_block_and_the_thread():
    kernel = cuda.jit(shift)
    x = np.ones(33)
    kernel[1, 32](x)
    with cuda.checking("race"):
        with pytest.raises(RaceError):
            kernel[1, 32](x)
        with pytest.raises(RaceError):
            kernel.forall(32)(x)
        with cuda.checking("sync"), pytest.raises(RaceError):
            kernel[1, 32](x)
    kernel[1, 32](x)
    with cuda.checking("sync"):
        kernel[1, 32](x)
    assert len(kernel.overloads) == 1


@on_host
@pytest.mark.unchecked("it asks for its checks itself")
def test_blocks_end_in_any_order():
    kernel, first, second = cuda.jit(shift), cuda.checking("race"), cuda.checking("sync")

    def is_checked():
        try:
            kernel[1, 32](np.ones(33))
        except RaceError:
            return True
        return False

    async def waits():  # coroutines of one thread: the second one's block ends within that of the first
        with first:
            await asyncio.sleep(0)
            assert is_checked()

    async def ends_later():
        with second:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not is_checked()

    async def both():
        await asyncio.gather(waits(), ends_later())

    asyncio.run(both())
    assert not is_checked()
    with first, first:
        pass
    assert not is_checked()
    with first:
        with first:
            pass
        assert is_checked()
    with pytest.raises(RuntimeError, match="has not begun"):
        second.__exit__(None, None, None)


@on_host
@pytest.mark.unchecked("it asks for its checks itself")
def test_checked_blocks_end_with_exceptions():
    for checking in (cuda.checking(), cuda.checking("race,sync")):
        for _ in range(2):
            with pytest.raises(RaceError), checking:
                cuda.jit(shift)[1, 32](np.ones(33))
    cuda.jit(shift)[1, 32](np.ones(33))


@on_host
@pytest.mark.unchecked("it asks for its checks itself")
def test_memory_that_others_write_counts_as_written():
    with cuda.checking("init"):
        kernel = cuda.jit(double)
        new = cuda.device_array(64, np.float32)
        with pytest.raises(UnsetError, match=r"x\[0\] is read before"):
            kernel[2, 32](new)
        for fill in (lambda d: d.copy_to_device(np.ones(64, np.float32)), lambda d: d.__setitem__(slice(None), 1),
                     lambda d: d.__setitem__(slice(None, None, 2), 1) or d.__setitem__(slice(1, None, 2), 1),
                     lambda d: np.from_dlpack(d).fill(1)):
            d = cuda.device_array(64, np.float32)
            fill(d)
            kernel[2, 32](d)
        half = cuda.device_array(64, np.float32)
        half[:32] = 1
        with pytest.raises(UnsetError, match=r"x\[32\]"):
            kernel[2, 32](half)
        unknown = cuda.device_array(64, np.float32)
    cuda.jit(double)[2, 32](unknown)  # whatever it writes
    with cuda.checking("init"):
        for array in (cuda.zeros(64), cuda.to_device(np.ones(64)) + 1, cuda.full(64, 3)):
            kernel[2, 32](array)
        kernel[2, 32](unknown)


@on_host
def test_an_index_has_all_axes():
    @cuda.jit(check="race")
    def kernel(a):
        i, j = cuda.grid(2)
        a[j, 0, i % 2] = i

    with pytest.raises(RaceError, match=r"race on a\[0, 0, 0\]"):
        kernel[1, (8, 2)](np.zeros((2, 1, 2)))


@on_host
def test_nan_and_overflow():
    @cuda.jit(check="nan, overflow")
    def kernel(x, n, out):
        i = cuda.grid(1)
        out[i] = n[i] + n[i]
        x[i] = 1 / x[i]

    def launch(x=1.0, n=1, out=np.int32):
        kernel[1, 1](np.array([x], np.float32), np.array([n], np.int32), np.zeros(1, out))

    launch()
    launch(x=np.inf)
    with pytest.raises(NonFiniteError, match=r"the operands are 1.0 and 0.0\n.*\n    x\[i\] = 1 / x\[i\]"):
        launch(x=0)
    with pytest.raises(WrapError, match=r"1500000000 \+ 1500000000 does not fit int32"):
        launch(n=1500000000)
    with pytest.raises(WrapError, match="300 does not fit uint8, the type of out"):
        launch(n=150, out=np.uint8)
    assert issubclass(WrapError, OverflowError) and issubclass(NonFiniteError, ArithmeticError)


def negative(x, n):
    x[0] = -x[0]


def absolute(x, n):
    x[0] = np.abs(x[0])


def quotient(x, n):
    x[0] = divmod(x[0], x[1])[0]


def atomic_sum(x, n):
    cuda.atomic.sub(x, 0, x[2])


def exchanged(x, n):
    cuda.atomic.exch(x, 0, n)


def neighbours(x, n):
    cuda.vector.store(x, 0, (1, n))


@on_host
@pytest.mark.parametrize("function, text", [
    (negative, r"-\(-128\)"), (absolute, r"abs\(-128\)"), (quotient, "-128 // -1"), (atomic_sum, "-128 - 5"), (exchanged, "300"), (neighbours, "300")])
def test_what_does_not_fit(function, text):
    kernel = cuda.jit(function, check="overflow")
    kernel[1, 1](np.array([-127, -1, 0], np.int8), 100)
    with pytest.raises(WrapError, match=text + " does not fit int8"):
        kernel[1, 1](np.array([-128, -1, 5], np.int8), 300)


@on_host
def test_python_integers_have_64_bits():
    @cuda.jit(check="overflow")
    def kernel(x, n):
        x[0] = -n

    with pytest.raises(WrapError, match=r"-\(-9223372036854775808\) does not fit 64 bits"):
        kernel[1, 1](np.zeros(1), -(2**63))


@on_host
@pytest.mark.parametrize("dtype, most", [(np.float16, 6e4), (np.float32, 3e38), (np.float64, 1e308)])
def test_atomic_sums_that_become_infinite(dtype, most):
    @cuda.jit(check="nan")
    def kernel(x, y):
        cuda.atomic.add(x, 0, y[0])

    x, y = np.array([np.inf, 0], dtype), np.array([most], dtype)
    kernel[4, 1](x, y)
    kernel[1, 1](x[1:], y)
    assert x.tolist() == [np.inf, y[0]]
    with pytest.raises(NonFiniteError, match="the operands are"):
        kernel[1, 1](x[1:], y)


@on_host
def test_dates_that_are_none_are_not_looked_at():
    @cuda.jit(check="overflow")
    def kernel(spans, days, months):
        i = cuda.grid(1)
        spans[i] = abs(-(spans[i] * 2 - spans[i]))
        spans[i] += np.timedelta64(5, "m") // -1
        days[i] = months[i] - np.timedelta64(1, "D")

    spans, months = np.array(["NaT", 3], "m8[s]"), np.array(["NaT", "2020-03"], "M8[M]")
    days = np.zeros(2, "M8[ms]")
    kernel[1, 2](spans, days, months)
    assert np.isnat(spans[0]) and np.isnat(days[0])
    assert spans[1] == np.timedelta64(-297, "s") and days[1] == np.datetime64("2020-02-29")


@on_host
@pytest.mark.parametrize("dtype, most", [(np.float16, 65504), (np.float32, 3e38), (np.float64, 1e308)])
def test_atomic_sums_that_leave_the_numbers(dtype, most):
    @cuda.jit(check="nan")
    def kernel(x, v):
        cuda.atomic.add(x, 0, v[0])
        cuda.atomic.sub(x, 1, v[0])

    def launch(x, v):
        kernel[1, 1](np.array([x, -x], dtype), np.array([v], dtype))

    for x, v in ((1, most), (most, -most), (np.inf, 1), (1, np.nan)):
        launch(x, v)
    with pytest.raises(NonFiniteError, match="of finite numbers: the operands are .* and .*\n.*\n *cuda.atomic.add"):
        launch(most, most)


@on_host
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_least_number_has_no_positive_one(dtype):
    least, name = np.iinfo(dtype).min, np.dtype(dtype).name
    for text, said in (("-x[0]", f"-({least})"), ("abs(x[0])", f"abs({least})"), ("x[0] // x[1]", f"{least} // -1"),
                       ("cuda.atomic.add(x, 0, x[1])", f"{least} + -1"), ("cuda.atomic.sub(x, 0, 1)", f"{least} - 1")):  # fmt: skip
        kernel = cuda.jit(check="overflow")(define(f"def kernel(x):\n    x[2] = {text}\n"))
        kernel[1, 1](np.array([least + 1, -1, 0], dtype))
        kernel[1, 1](np.array([7, 2, 0], dtype))
        with pytest.raises(WrapError, match=re.escape(f"{said} does not fit {name}")):
            kernel[1, 1](np.array([least, -1, 0], dtype))


@on_host
@pytest.mark.parametrize("step", [3, -3, 2**62, -(2**62)])
def test_the_ends_of_a_range_are_no_overflow(step):
    @cuda.jit(check="overflow")
    def kernel(out, a, b, s):
        for i in range(a[0], b[0], s[0]):
            out[0] += 1

    stop = 2**63 - 1 if step > 0 else -(2**63)
    out, (a, b, s) = np.zeros(1, np.int64), (np.array([v]) for v in (0 if abs(step) > 3 else stop - 4 * step, stop, step))
    kernel[1, 1](out, a, b, s)
    assert out[0] == len(range(a[0], b[0], s[0]))


@on_host
def test_unsigned_integers_wrap_and_conversions_are_the_programs():
    @cuda.jit(check="overflow")
    def kernel(x, out):
        out[0] = x[0] * np.uint32(2654435761)
        out[1] = np.uint8(x[0])

    out = np.zeros(2, np.uint32)
    kernel[1, 1](np.array([1000], np.uint32), out)
    assert out.tolist() == [1000 * 2654435761 % 2**32, 1000 % 256]


@pytest.mark.parametrize("value, error, text", [
    ("rase", ValueError, "did you mean 'race'"), ("foo", ValueError, "of race, sync, init, nan, overflow, not 'foo'$"), (3, TypeError, "names of checks"), (["race", 3], TypeError, "names of checks")])
def test_wrong_values(value, error, text):
    with pytest.raises(error, match=text):
        cuda.jit(shift, check=value)


@on_host
def test_names_may_come_in_any_form():
    for check in ("race,init", ["init", "race"], {"race"}, True):
        with pytest.raises(RaceError):
            cuda.jit(shift, check=check)[1, 32](np.ones(33))
    for check in (False, None, "sync", ()):
        cuda.jit(shift, check=check)[1, 32](np.ones(33))


@on_host
def test_it_travels_with_the_kernel():
    with pytest.raises(RaceError):
        pickle.loads(pickle.dumps(pickled))[1, 32](np.ones(33))


@cuda.jit(check="race")
def pickled(x):
    t = cuda.threadIdx.x
    x[t] = x[t + 1]


def run(source, **env):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(source)], env={**os.environ, "PYPTX_DEVICE": "host", **env}, capture_output=True,
                          text=True, timeout=120)


PROGRAM = """
    import sys, types
    source = "def shift(x):\\n    t = cuda.threadIdx.x\\n    x[t] = x[t + 1]\\n"
    import numpy as np
    from pyptx import cuda
    exec(source)
    kernel = cuda.jit(shift, cache=True)
    kernel[1, 32](np.ones(33))
    print("done", cuda.cache_info().hits)
"""


@on_host
@pytest.mark.unchecked("it asks for its checks itself")
def test_a_whole_program_and_the_disk_cache(tmp_path):
    def said(**env):
        done = run(PROGRAM, PYPTX_CACHE_DIR=str(tmp_path), **env)
        return done.stdout.strip() or done.stderr.strip()

    assert said() == "done 0" and said() == "done 1"
    for _ in range(2):  # compiled, then from the cache
        assert "RaceError: race on x[1]" in said(PYPTX_CHECK="race,sync")
    assert said() == "done 1"
    assert "ValueError: PYPTX_CHECK must be of race, sync" in said(PYPTX_CHECK="races!")


@standin.needs_standin
def test_on_a_gpu_advice_says_once_that_it_does_nothing():
    standin.run("""
        import warnings
        import numpy as np
        from pyptx import Advice, cuda

        @cuda.jit(check="race")
        def own(x):
            x[cuda.grid(1)] = 1

        @cuda.jit
        def other(x):
            x[cuda.grid(1)] = 1

        d = cuda.device_array(64)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            own[1, 64](d)
            own[1, 64](d)
            with cuda.checking("race"):
                other[1, 64](d)
                other[1, 64](d)
        said = [str(w.message) for w in caught if issubclass(w.category, Advice)]
        assert len(said) == 2 and all(s.startswith("PT817") for s in said), said
        assert "own runs unchecked" in said[0] and "other runs unchecked" in said[1] and "PYPTX_DEVICE=host" in said[0]
    """)


@on_host
def test_checked_launches_at_once():
    from concurrent.futures import ThreadPoolExecutor

    kernel = cuda.jit(shift, check=True)

    def launch(k):
        try:
            kernel[1, 32 if k % 2 else 1](np.ones(33))
            return False
        except RaceError:
            return True

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(launch, range(64))) == [bool(k % 2) for k in range(64)]


@on_host
def test_what_counts_from_the_end_is_noted_by_vectors():
    def behind_a_read(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i - 1] = x[i]

    def exchanged(x, out):
        i = cuda.grid(1)
        if i < x.size // 2:
            x[i], x[x.size - 1 - i] = x[-1 - i], x[i]

    for function in (behind_a_read, exchanged):
        assert "call ptr @rt_check_row" in cuda.jit(function, check="race").inspect_llvm("int16[::1], int16[::1]")


@on_host
def test_a_barrier_that_threads_leave_names_both_lines():
    @cuda.jit(check="sync")
    def kernel(x):
        if cuda.threadIdx.x > 5:
            return
        cuda.syncthreads()

    with pytest.raises(SyncError) as found:
        kernel[1, 32](np.ones(1))
    text = str(found.value)
    assert "thread (0, 0, 0) of block (0, 0, 0) waits at a barrier that thread (6, 0, 0) of block (0, 0, 0) does not reach" in text
    assert "    if cuda.threadIdx.x > 5:" in text and "    cuda.syncthreads()\n    ^^^^^^^^^^^^^^^^^^\n" in text
    assert pyptx.CheckError is CheckError


# --- vectors of threads, whose accesses are noted by lines


@on_host
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("offset", [0, 1, 5])
def test_one_element_of_many_has_two_writers(dtype, offset):
    """Wherever arrays begin, and in pieces of shadow memory beyond the first."""
    @cuda.jit(check="race")
    def kernel(x, out, at, by):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] + x[i]
        if i == by:
            out[at] = x[i]

    n = 300_000
    x, out = np.ones(n + offset, dtype)[offset:], np.zeros(n + offset, dtype)[offset:]
    kernel[-(-n // 96), 96](x, out, n, n)  # nobody
    kernel[-(-n // 96), 96](x, out, 7, 7)  # the thread's own
    for at, by in ((0, n - 1), (n - 1, 0), (70_001, 270_017), (131_072, 131_071), (95, 96)):
        with pytest.raises(RaceError) as found:
            kernel[-(-n // 96), 96](x, out, at, by)
        e = found.value
        assert e.array == f"out[{at}]"
        assert {96 * b[0] + t[0] for t, b in ((e.thread, e.block), (e.other_thread, e.other_block))} == {at, by}


@on_host
def test_a_line_of_vectors_is_told_apart_by_bytes():
    @cuda.jit(check="race")
    def kernel(x, by):
        bytes_of = x.view(np.uint8)
        t = cuda.threadIdx.x
        x[t] = 1
        if t == 40:
            bytes_of[4 * by + 3] = 0

    kernel[1, 64](np.zeros(64, np.float32), 40)
    for by in (39, 41, 0):
        with pytest.raises(RaceError):
            kernel[1, 64](np.zeros(64, np.float32), by)


@on_host
def test_what_a_vector_reads_is_written_by_another():
    @cuda.jit(check="race")
    def kernel(x, out, gap):
        tile = cuda.shared.array(256, np.float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        if t < 256 - gap:
            out[t] = tile[t + gap]
        cuda.syncthreads()
        out[t] += tile[255 - t]
        cuda.syncthreads()
        tile[t] = out[t]

    kernel[1, 256](np.ones(256, np.float32), np.ones(256, np.float32), 0)
    for gap in (1, 8, 16, 32, 255):
        with pytest.raises(RaceError) as found:
            kernel[1, 256](np.ones(256, np.float32), np.ones(256, np.float32), gap)
        assert abs(found.value.thread[0] - found.value.other_thread[0]) == gap


@on_host
def test_the_same_value_by_all_lanes():
    @cuda.jit(check="race")
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[0] = 3
        out[1 + t // 2] = x[t]

    x = np.repeat(np.arange(32, dtype=np.float32), 2)
    kernel[1, 64](x, np.zeros(33, np.float32))
    x[41] = 7
    with pytest.raises(RaceError, match=r"race on out\[21\]"):
        kernel[1, 64](x, np.zeros(33, np.float32))


# --- memory that is short, and what else writes memory


@on_host
def test_without_memory_for_the_shadow_it_is_an_error():
    """The address space is 1.5 GB, of which the array has 0.3. 3 s."""
    done = run("""
        import resource
        import numpy as np
        from pyptx import cuda

        @cuda.jit
        def add(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] += 1

        x = np.zeros(300_000_000, np.uint8)
        small = np.zeros(64)
        with cuda.checking("race"):
            add[1, 64](small)
        resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
        try:
            with cuda.checking("race"):
                add[x.size // 256, 256](x)
        except MemoryError as error:
            print(error)
        add[1, 64](small)
        with cuda.checking("race"):
            add[1, 64](small)
        print(small[0])
    """)
    assert done.stdout.split("\n")[0] == "no memory for what a checked launch notes" and done.stdout.split()[-1] == "3.0", done.stdout + done.stderr


@on_host
@pytest.mark.unchecked("it asks for its checks itself")
def test_bound_within_the_block():
    kernel = cuda.jit(shift)
    with cuda.checking("race"):
        bound = kernel[1, 32].bind(cuda.to_device(np.ones(33)))
        with pytest.raises(RaceError):
            bound()
    with pytest.raises(RaceError):
        bound()
    kernel[1, 32].bind(cuda.to_device(np.ones(33)))()


@on_host
def test_copies_of_a_graph_write():
    @cuda.jit
    def double(x):
        x[cuda.grid(1)] *= 2

    with cuda.checking("init"):
        ones, a, b = cuda.to_device(np.ones(64)), cuda.device_array(64, np.float64), cuda.device_array(64, np.float64)
        with cuda.graph() as graph:
            a.copy_to_device(ones)
            double[1, 64](a)
        with pytest.raises(UnsetError):
            double[1, 64](b)
        graph.launch()
        double[1, 64](a)
    assert (a.copy_to_host() == 4).all()


@on_host
def test_freed_memory_keeps_no_marks():
    @cuda.jit
    def double(x):
        x[cuda.grid(1)] *= 2

    with cuda.checking("init"):
        for n in range(1, 64):
            for _ in range(8):
                a = cuda.device_array(n, np.uint8)
                del a
                double[1, 1](np.ones(1))
                double[1, 64](np.ones(64, np.uint8))


@on_host
def test_reductions_of_the_library():
    done = run("""
        import numpy as np
        from pyptx import cuda

        x = np.arange(34567, dtype=np.float32)
        assert cuda.to_device(x).sum() == cuda.reduce(lambda a, b: a + b)(cuda.to_device(x)) > 5e8
        print(cuda.to_device(x.reshape(-1, 13)).sum(0).shape, np.sort(cuda.to_device(x[::-1])).shape)
    """, PYPTX_CHECK="race,sync,init")
    assert done.stdout.split("\n")[0] == "(13,) (34567,)", done.stderr


@on_host
def test_a_program_runs_what_cannot_be_followed(tmp_path):
    source = """
        import sys, warnings
        import numpy as np
        from pyptx import Advice, cuda

        @cuda.jit
        def hand_over(out):
            s = cuda.shared.array(32, np.int32)
            t = cuda.threadIdx.x
            if t < 32:
                s[t] = t
                cuda.barrier_arrive(1, 64)
            else:
                cuda.barrier_sync(1, 64)
                out[t - 32] = s[t - 32]

        out = np.zeros(32, np.int32)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                hand_over[1, 64](out)
        assert (out == np.arange(32)).all()
        print([str(w.message).split(":")[0] for w in caught])
        for kernel, checks in ((hand_over, ["race"]), (cuda.jit(hand_over.py_func, check="race"), ["nan"])):
            try:
                with cuda.checking(*checks):
                    kernel[1, 64](out)
            except ValueError as error:
                print(error)
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(source))
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env={**os.environ, "PYPTX_DEVICE": "host", "PYPTX_CHECK": "race,sync"},
                          capture_output=True, text=True, timeout=120)
    said = done.stdout.splitlines()
    assert said[0] == "['PT819']" and said[1] == said[3] == "check= does not follow named barriers, clusters and asynchronous copies", done.stderr


# --- what findings name


@on_host
def test_elements_of_views_and_records():
    point = np.dtype([("n", np.int32), ("v", np.float32, (2,)), ("z", np.complex64)])

    def row(a):
        t = cuda.threadIdx.x
        one = a[1]
        one[2, t % 4] = t

    def slices(a):
        t = cuda.threadIdx.x
        some = a[1:, 1, ::2]
        some[2, t % 2] = t

    def transposed(a):
        t = cuda.threadIdx.x
        a.T[2, t // 32, 1] = t

    def reshaped(a):
        flat = a.reshape(64)
        flat[cuda.threadIdx.x // 2] = cuda.threadIdx.x

    def field(r):
        r[cuda.threadIdx.x // 2, 1].n = cuda.threadIdx.x

    def nested(r):
        r[cuda.threadIdx.x // 2, 1].v[1] = cuda.threadIdx.x

    def complex_field(r):
        r[cuda.threadIdx.x // 2, 1].z = cuda.threadIdx.x

    def item(pair):
        pair[1][cuda.threadIdx.x // 2] = cuda.threadIdx.x

    a, r, pair = np.zeros((4, 4, 4)), np.zeros((32, 2), point), (np.zeros(64), np.zeros(64))
    for kernel, argument, name in ((row, a, "a[1, 2, 0]"), (slices, a, "a[3, 1, 0]"), (transposed, a, "a[1, 0, 2]"), (reshaped, a, "a view of a[0]"),
                                   (field, r, "r[0, 1].n"), (nested, r, "r[0, 1].v[1]"), (complex_field, r, "r[0, 1].z"), (item, pair, "pair[1][0]")):
        with pytest.raises(RaceError) as found:
            cuda.jit(kernel, check="race")[1, 64](argument)
        assert found.value.array == name and f"race on {name}: " in str(found.value)


@on_host
def test_the_program_s_own_line_is_named():
    @cuda.jit(device=True)
    def get(tile, t):
        return tile[63 - t]

    @cuda.jit(check=True)
    def race(x):
        tile = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        x[t] = get(tile, t)

    with pytest.raises(RaceError) as found:
        race[1, 64](np.ones(64, np.float32))
    text = str(found.value)
    assert "read it: " in text and "in get\n    return tile[63 - t]" in text.replace("test_the_program_s_own_line_is_named.<locals>.", "")
    assert text.count("called from ") == 1 and "    x[t] = get(tile, t)\n" in text

    @cuda.jit(check=True)
    def barrier(x):
        block = cuda.cg.this_thread_block()
        block.sync()
        if block.thread_rank() < 32:
            block.sync()

    @cuda.jit(check=True)
    def warp(x):
        tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 32)
        if cuda.threadIdx.x < 5:
            x[0] = tile.shfl_down(x[0], 1)

    for kernel, line in ((barrier, 4), (warp, 3)):
        with pytest.raises(SyncError) as found:
            kernel[1, 64](np.ones(1))
        assert found.value.filename == __file__ and found.value.lineno == kernel.py_func.__code__.co_firstlineno + 1 + line
        assert "coop.py" not in str(found.value) and "_collectives" not in str(found.value)


@on_host
def test_help_fits_the_statement():
    with pytest.raises(RaceError, match="read from one array and write to another"):
        cuda.jit(shift, check="race")[1, 32](np.ones(33))
