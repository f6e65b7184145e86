"""The disk cache: what is a hit and what is not, damaged files, directories that cannot be used, the command."""

import math
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from cached import SCALE, files, folder, make, run, use  # noqa: F401
from pyptx import _pyptx, cli, cuda, errors

# --- hits ------------------------------------------------------------------------------------------------------------


def test_hit(folder):
    first, second = make(), make()
    before = cuda.cache_info()
    assert use(first) == "miss" and use(second) == "hit"
    after = cuda.cache_info()
    assert run(first) == run(second) == [0, 3, 6, 9, 12]
    assert (after.hits - before.hits, after.misses - before.misses, after.stored - before.stored) == (1, 1, 1)
    assert after.directory == str(folder) and after.enabled and after.limit == 1 << 30 and after.damaged == before.damaged
    (file,) = files(folder)
    assert [p.name for p in folder.iterdir()] == [file.name], "locks and temporary files are removed"
    assert file.stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700


def test_stats(folder):
    kernel, again = make(), make()
    use(kernel), use(again)
    (types,) = kernel.signatures
    assert kernel.stats == (str(folder), {}, {types: 1}) and again.stats == (str(folder), {types: 1}, {})
    assert kernel.stats.cache_path == str(folder)
    assert make().stats == (None, {}, {}) == make(options={"cache": False}).stats


def test_timings_and_texts_of_a_hit(folder):
    first, second = make(), make()
    use(first), use(second)
    (a,), (b,) = first.overloads.values(), second.overloads.values()
    assert a.timings and not b.timings
    assert a.ptx == b.ptx and a.symbol == b.symbol and repr(a) == repr(b)
    assert a.regs_per_thread == b.regs_per_thread and a.shared_mem_per_block == b.shared_mem_per_block
    assert first.inspect_asm() == second.inspect_asm() and first.inspect_types() == second.inspect_types()


KINDS = {
    "barrier and shared memory": """
        def kernel(x, out):
            t = cuda.shared.array(32, np.float32)
            i = cuda.threadIdx.x
            t[i] = x[i]
            cuda.syncthreads()
            out[i] = t[31 - i]
        """,
    "dynamic shared memory": """
        def kernel(x, out):
            t = cuda.shared.array(0, np.float32)
            i = cuda.threadIdx.x
            t[i] = x[i] + 1
            cuda.syncthreads()
            out[i] = t[(i + 1) % 32]
        """,
    "library": """
        def kernel(x, out):
            i = cuda.threadIdx.x
            out[i] = math.sin(x[i]) + math.erf(x[i]) + cuda.libdevice.erfinvf(x[i] / 64)
        """,
    "warp": """
        def kernel(x, out):
            i = cuda.threadIdx.x
            out[i] = cuda.shfl_xor_sync(0xffffffff, x[i], 5)
        """,
    "table in constant memory": """
        TABLE = np.arange(32, dtype=np.float32)[::-1]
        def kernel(x, out):
            i = cuda.threadIdx.x
            out[i] = x[i] * TABLE[i]
        """,
    "complex": """
        def kernel(x, out):
            i = cuda.threadIdx.x
            z = complex(x[i], 1) ** 2 / (2 - 1j)
            out[i] = z.real - z.imag
        """,
    "recursion": """
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)
        def kernel(x, out):
            i = cuda.threadIdx.x
            out[i] = fib(i % 10)
        """,
    "grid barrier": """
        def kernel(x, out):
            i = cuda.threadIdx.x
            out[i] = x[i]
            cuda.cg.this_grid().sync()
            out[i] += x[31 - i] * 0
        """,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_same_results_from_the_cache(folder, kind):
    x, results = np.arange(32, dtype=np.float32), []
    for want in ("miss", "hit"):
        kernel, out = make(KINDS[kind], "kernel"), np.zeros(32, np.float32)
        kernel[1, 32, 0, 128](x, out)
        cuda.synchronize()
        (overload,) = kernel.overloads.values()
        assert overload.cache == want
        results.append(out)
    assert results[0].any() and results[0].tobytes() == results[1].tobytes()


RAISES = """
def stop(x, out):
    i = cuda.grid(1)
    if x[i] > 2:
        raise ValueError("too much")
    out[i] = x[i]
"""


def test_exceptions_of_a_hit(folder):
    """The sites of a kernel come back, with the file's name of now."""
    for filename, want in (("/one/place.py", "miss"), ("/another/place.py", "hit")):
        kernel = make(RAISES, "stop", filename, {"exceptions": True})
        assert use(kernel) == want
        with pytest.raises(ValueError, match="too much") as caught:
            kernel[1, 4](np.arange(4, dtype=np.float32), np.zeros(4, np.float32))
            cuda.synchronize()
        assert filename in str(caught.value) and ":5" in str(caught.value)


# --- what the key holds ----------------------------------------------------------------------------------------------

CHANGES = {
    "global": ({"FACTOR": 3}, {"FACTOR": 4}),
    "type of a global": ({"FACTOR": 3}, {"FACTOR": 3.0}),
    "strength of a global": ({"FACTOR": 3.0}, {"FACTOR": np.float64(3)}),
    "sign of zero": ({"FACTOR": 0.0}, {"FACTOR": -0.0}),
    "constant": ({"source": SCALE}, {"source": SCALE.replace("* FACTOR", "* 7")}),
    "line": ({"source": SCALE}, {"source": "\n" + SCALE}),
    "operation": ({"source": SCALE}, {"source": SCALE.replace("* FACTOR", "+ FACTOR")}),
    "name": ({"source": SCALE}, {"source": SCALE.replace("scale", "other"), "name": "other"}),
    "variable's name": ({"source": SCALE}, {"source": SCALE.replace("(x, out)", "(a, out)").replace("x.size", "a.size").replace("x[i]", "a[i]")}),
    "option": ({"options": {}}, {"options": {"fma": False}}),
    "another option": ({"options": {}}, {"options": {"fastmath": True}}),
    "launch bounds": ({"options": {}}, {"options": {"launch_bounds": 128}}),
    "typing": ({"options": {}}, {"options": {"typing": "numba"}}),
    "debug": ({"options": {}}, {"options": {"debug": True}}),
    "file, where lines are kept": ({"filename": "/a.py", "options": {"lineinfo": True}}, {"filename": "/b.py", "options": {"lineinfo": True}}),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_a_miss(folder, change):
    one, other = CHANGES[change]
    assert [use(make(**v)) for v in (one, other, one, other)] == ["miss", "miss", "hit", "hit"]


def test_types_of_arguments(folder, device):
    x, out = np.zeros(4, np.float32), np.zeros(4, np.float32)
    strided = [(x[::2], out)] if device == "host" else []  # a GPU gets a compact copy
    for args in ((x, out), (x.astype(int), out), *strided, (np.zeros((4, 4))[0], out)):
        assert [use(make(), *args), use(make(), *args)] == ["miss", "hit"]


REACH = """
def helper(v, by={default}):
    return v * by + {constant} + TABLE[1]
def outer(n):
    def inner(v):
        return v + n
    return inner
add = outer({closure})
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = add(helper(x[i])) + space.value
"""


def reaching(default=2, constant=1, closure=5, table=(1, 2, 3), value=1):
    class space:
        pass

    space.value = value
    space.itself = space  # a cycle
    source = REACH.format(default=default, constant=constant, closure=closure)
    return make(source, TABLE=np.array(table, np.float32), space=space)


@pytest.mark.parametrize("change", [{"default": 3}, {"constant": 2}, {"closure": 6}, {"table": (1, 2, 4)}, {"table": (1, 2, 3, 0)}, {"value": 2}], ids=str)
def test_what_a_kernel_reaches(folder, change):
    assert [use(reaching()), use(reaching()), use(reaching(**change)), use(reaching(**change))] == ["miss", "hit", "miss", "hit"]


ENUMS = """
import enum
class Mode(enum.{base}):
    FAST = {fast}
    SLOW = {slow}
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if {test}:
            out[i] = 3
        else:
            out[i] = 4
"""


@pytest.mark.parametrize("base, test", [("IntEnum", "Mode.FAST == 1"), ("Enum", "Mode.FAST.value == 1"), ("Enum", "Mode.FAST is not Mode.SLOW")])
def test_enums(folder, base, test):
    def uses(fast):
        return use(make(ENUMS.format(base=base, test=test, fast=fast, slow=2)))

    assert [uses(1), uses(1), uses(3), uses(3)] == ["miss", "hit", "miss", "hit"]


def test_cycles_end(folder):
    """Functions that call each other, and namespaces that hold each other, under a name that the kernel reads."""
    source = """
    class Space:
        pass
    Space.other = Space
    Space.factor = FACTOR
    def even(n):
        return True if n == 0 else odd(n - 1)
    def odd(n):
        return False if n == 0 else even(n - 1)
    def scale(x, out):
        i = cuda.grid(1)
        if i < x.size and even(i):
            out[i] = Space.factor
            if FACTOR == 999:
                out[i] = Space.other.factor
    """
    assert [use(make(source)), use(make(source)), use(make(source, FACTOR=5))] == ["miss", "hit", "miss"]


def test_shared_tuples_are_not_walked_again_and_again(folder):
    """A tuple of 2 ** 40 leaves in 40 objects: hashed in no time."""
    deep = (1,)
    for _ in range(40):
        deep = (deep, deep)
    source = SCALE.replace("* FACTOR", "* (FACTOR if FACTOR == 3 else len(DEEP))")
    assert [use(make(source, DEEP=deep)), use(make(source, DEEP=deep)), use(make(source, DEEP=(deep, 1)))] == ["miss", "hit", "miss"]


def test_addresses_are_not_kept(folder):
    held = cuda.to_device(np.arange(4, dtype=np.float32))
    kernel = make(SCALE.replace("* FACTOR", "* HELD[i]"), HELD=held)
    assert use(kernel) is None and not files(folder)


def test_where_the_code_stands_does_not_matter(folder):
    assert use(make(filename="/one/a.py")) == "miss" and use(make(filename="<ipython-input-7>")) == "hit"


# --- who asks ----------------------------------------------------------------------------------------------------------


def test_who_decides(folder, monkeypatch):
    assert use(make(options={"cache": False})) is None and not files(folder)
    monkeypatch.delenv("PYPTX_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "xdg"))
    assert use(make()) is None
    assert use(make(options={"cache": True})) == "miss" and len(files(folder.parent / "xdg/pyptx")) == 1
    assert not cuda.cache_info().enabled and cuda.cache_info().directory == str(folder.parent / "xdg/pyptx")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(folder.parent / "home"))
    assert use(make(options={"cache": True})) == "miss" and len(files(folder.parent / "home/.cache/pyptx")) == 1
    assert use(make(options={"cache": True})) == "hit"
    with pytest.raises(TypeError, match="cache must be True or False"):
        make(options={"cache": "yes"})


def test_home_in_the_directory(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("PYPTX_CACHE_DIR", "~/kept")
    assert use(make()) == "miss" and len(files(folder.parent / "kept")) == 1
    monkeypatch.setenv("PYPTX_CACHE_DIR", "/" + "a" * 5000)
    with pytest.warns(errors.CacheWarning, match="too long"):
        assert use(make()) is None


def test_the_name_of_the_module_does_not_matter(folder):
    assert [use(make(__name__=name)) for name in ("__main__", "__mp_main__", "program")] == ["miss", "hit", "hit"]


def test_dumps_are_made_by_compiling(folder, monkeypatch, capfd):
    use(make())
    assert use(make(options={"dump": "T"})) is None
    assert "infer" in capfd.readouterr().err


def test_errors_are_not_kept(folder):
    for _ in range(2):
        with pytest.raises(errors.CompileError, match="nowhere"):
            use(make(SCALE.replace("FACTOR", "nowhere")))
    assert not list(folder.glob("*"))


def test_read_only_layer(folder, monkeypatch):
    assert use(make()) == "miss"
    shipped = folder.rename(folder.parent / "shipped")
    shipped.chmod(0o555)
    before = files(shipped)[0].stat().st_mtime_ns
    monkeypatch.setenv("PYPTX_CACHE_READONLY_DIR", f"{folder.parent}/nothing:{shipped}")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert use(make()) == "hit" and not files(folder)
        assert use(make(FACTOR=9)) == "miss" and len(files(folder)) == 1 and len(files(shipped)) == 1
        monkeypatch.delenv("PYPTX_CACHE_DIR")
        assert use(make()) == "hit" and use(make(FACTOR=9)) == "miss" and cuda.cache_info().enabled
    assert cuda.cache_info().readonly == (f"{folder.parent}/nothing", str(shipped))
    assert ["nothing" in str(w.message) for w in said] == [True], "each problem is said once"
    assert files(shipped)[0].stat().st_mtime_ns == before
    shipped.chmod(0o755)


# --- damage --------------------------------------------------------------------------------------------------------------


def cut(data):
    return data[:-5]


def flip(data):
    return data[:100] + bytes([data[100] ^ 1]) + data[101:]


def lengthen(data):
    return data + b"more"


def other_format(data):
    return data[:8] + b"\x02" + data[9:]


@pytest.mark.parametrize("damage", [cut, flip, lengthen, other_format, lambda d: b"", lambda d: b"\0" * 1000, lambda d: os.urandom(3000)])
def test_damaged_files_are_made_again(folder, damage, capsys):
    use(make())
    (file,) = files(folder)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    before = cuda.cache_info().damaged
    assert cli.main(["cache", "verify", "--dir", str(folder)]) == 1 and "0 whole, 1 damaged" in capsys.readouterr().out
    kernel = make()
    assert use(kernel) == "miss" and run(kernel) == [0, 3, 6, 9, 12]
    assert cuda.cache_info().damaged == before + 1
    assert file.read_bytes() == whole, "the same kernel gives the same bytes"
    assert use(make()) == "hit" and cli.main(["cache", "verify", "--dir", str(folder)]) == 0


def test_renamed_and_linked_files(folder):
    use(make()), use(make(FACTOR=4))
    a, b = files(folder)
    content = a.read_bytes()
    a.write_bytes(b.read_bytes())  # whole, but another kernel
    b.unlink()
    b.symlink_to(a)
    kernels = [make(), make(FACTOR=4)]
    assert [use(k) for k in kernels] == ["miss", "miss"]
    assert run(kernels[0]) == [0, 3, 6, 9, 12] and run(kernels[1]) == [0, 4, 8, 12, 16]
    assert a.read_bytes() == content and not b.is_symlink()


def test_a_file_that_others_can_write(folder):
    use(make())
    (file,) = files(folder)
    file.chmod(0o666)
    assert use(make()) == "miss" and file.stat().st_mode & 0o777 == 0o600


def test_a_directory_in_the_place_of_a_file(folder):
    use(make())
    (file,) = files(folder)
    file.unlink()
    file.mkdir()
    with pytest.warns(errors.CacheWarning, match="cannot take another kernel"):
        assert use(make()) == "miss"


# --- directories that cannot be used ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_directory_that_others_can_write_to(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    with pytest.warns(errors.CacheWarning, match="can be written to by other users.*chmod go-w"):
        kernel = make()
        assert use(kernel) is None
    assert run(kernel) == [0, 3, 6, 9, 12] and not files(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert use(make()) is None, "it is said once"


def test_a_warning_that_is_an_error(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.CacheWarning)
        with pytest.raises(errors.CacheWarning, match=str(folder)):
            use(make())
    assert use(make()) is None


def test_a_file_in_the_place_of_the_directory(folder):
    folder.write_text("")
    with pytest.warns(errors.CacheWarning, match="cannot be"):
        assert use(make()) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_made(folder):
    folder.parent.chmod(0o555)
    try:
        with pytest.warns(errors.CacheWarning, match="cannot be made"):
            assert use(make()) is None
    finally:
        folder.parent.chmod(0o755)


def test_sizes(folder, monkeypatch):
    for text, want in {"500": 500, "2K": 2048, "1.5M": 3 << 19, "2 GB": 2 << 30, "3g": 3 << 30, "4MiB": 4 << 20, "0": 0}.items():
        monkeypatch.setenv("PYPTX_CACHE_SIZE", text)
        assert cuda.cache_info().limit == want
    for text in ("much", "-1", "1X", "nan", "1e30"):
        monkeypatch.setenv("PYPTX_CACHE_SIZE", text)
        assert cuda.cache_info().limit == 1 << 30
        with pytest.warns(errors.CacheWarning, match=f"PYPTX_CACHE_SIZE={text}"):
            use(make())


def test_waits_that_are_no_times(folder, monkeypatch):
    for text in ("long", "-1", "nan", "inf", "30s", "1e10", "5 "):
        monkeypatch.setenv("PYPTX_CACHE_WAIT", text)
        with pytest.warns(errors.CacheWarning, match=f"PYPTX_CACHE_WAIT={text} is not a number of seconds.*it is 30$"):
            use(make())
    monkeypatch.setenv("PYPTX_CACHE_SIZE", "large")  # what is wrong is said of both
    with pytest.warns(errors.CacheWarning, match="PYPTX_CACHE_SIZE=large .*; PYPTX_CACHE_WAIT=5 "):
        use(make())
    monkeypatch.delenv("PYPTX_CACHE_SIZE")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("0", "0.5", "1e3", ""):
            monkeypatch.setenv("PYPTX_CACHE_WAIT", text)
            use(make())


def test_the_kernels_used_longest_ago_go(folder, monkeypatch):
    for factor in (11, 12, 13):
        use(make(FACTOR=factor))
    for age, file in enumerate(sorted(files(folder), key=lambda f: f.stat().st_mtime_ns)):
        os.utime(file, (1e9 + age, 1e9 + age))
    assert use(make(FACTOR=11)) == "hit"  # used now
    size = sum(f.stat().st_size for f in files(folder))
    monkeypatch.setenv("PYPTX_CACHE_SIZE", str(size + 200))
    assert use(make(FACTOR=14)) == "miss" and len(files(folder)) == 3
    assert [use(make(FACTOR=factor)) for factor in (11, 13, 14)] == ["hit", "hit", "hit"]
    monkeypatch.setenv("PYPTX_CACHE_SIZE", "100")  # less than one: nothing more is kept
    assert use(make(FACTOR=5)) == "miss" and use(make(FACTOR=5)) == "miss"
    monkeypatch.setenv("PYPTX_CACHE_SIZE", "0")
    assert use(make(FACTOR=5)) == "miss" and use(make(FACTOR=5)) == "hit"


# --- the command -----------------------------------------------------------------------------------------------------------


def test_command(folder, capsys, monkeypatch):
    assert cli.main(["cache", "list"]) == 0 and "nothing has been kept" in capsys.readouterr().out
    use(make()), use(make(FACTOR=4))
    assert cli.main(["cache", "list"]) == 0
    text = capsys.readouterr().out
    assert text.count("scale(float32[::1], float32[::1])") == 2 and f"{folder}: 2 kernels" in text and "kernels.py:2" in text
    (folder / "notes.txt").write_text("mine")
    victim = files(folder)[0]
    victim.write_bytes(b"x")
    assert cli.main(["cache", "list"]) == 0 and "damaged: it is cut off" in capsys.readouterr().out
    assert cli.main(["cache", "verify"]) == 1 and str(victim) in capsys.readouterr().out
    assert cli.main(["cache", "verify", "--remove"]) == 1 and "1 whole, 1 damaged, 1 removed" in capsys.readouterr().out
    assert cli.main(["cache", "verify"]) == 0 and len(files(folder)) == 1
    assert cli.main(["cache", "clear"]) == 0 and "removed 1 kernel," in capsys.readouterr().out
    assert [p.name for p in folder.iterdir()] == ["notes.txt"]


def test_command_errors(folder, capsys):
    assert cli.main(["cache", "list", "--dir", str(folder)]) == 2 and "no such directory" in capsys.readouterr().err
    assert cli.main(["cache", "clear", "--remove"]) == 2 and "--remove belongs to verify" in capsys.readouterr().err
    assert cli.main(["cache"]) == 2 and cli.main(["cache", "frobnicate"]) == 2
    folder.mkdir()
    folder.chmod(0o777)
    assert cli.main(["cache", "list"]) == 2 and "chmod go-w" in capsys.readouterr().err


def test_state_of_the_module():
    state = _pyptx._cache_state()
    assert set(state) == {"directory", "whole_process", "readonly", "limit", "hits", "misses", "stored", "damaged", "llvm_initialised"}
