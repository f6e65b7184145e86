"""What docs/SECURITY.md promises, as far as no other file shows it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from cached import files, folder, make, run, use  # noqa: F401
from pyptx import cuda, errors

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
OTHER = 12345  # another user


@AS_ROOT
def test_a_directory_of_another_user(folder):
    folder.mkdir(mode=0o700)
    os.chown(folder, OTHER, -1)
    with pytest.warns(errors.CacheWarning, match=f"belongs to user {OTHER}, who could put code there"):
        kernel = make()
        assert use(kernel) is None
    assert run(kernel) == [0, 3, 6, 9, 12] and not files(folder)


@pytest.mark.parametrize("other", [pytest.param(True, marks=AS_ROOT), False], ids=["of another user", "that others can write to"])
def test_a_directory_that_is_only_read(folder, monkeypatch, other):
    """PYPTX_CACHE_READONLY_DIR has the same rules."""
    use(make())
    shipped = folder.rename(folder.with_name("shipped"))
    monkeypatch.setenv("PYPTX_CACHE_READONLY_DIR", str(shipped))
    assert use(make()) == "hit"
    os.chown(shipped, OTHER, -1) if other else shipped.chmod(0o757)
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(folder.with_name("own")))
    with pytest.warns(errors.CacheWarning, match=f"shipped (belongs to user {OTHER}|.mode 757. can be written to by other users).*; (name a|.chmod go-w. it, or name a)"):
        assert use(make()) == "miss"
    shipped.chmod(0o700)


@AS_ROOT
def test_a_file_of_another_user(folder):
    use(make())
    (file,) = files(folder)
    os.chown(file, OTHER, -1)
    assert use(make()) == "miss" and file.stat().st_uid == 0
    assert use(make()) == "hit"


def test_a_directory_that_is_exchanged(folder):
    """Somebody who can write to the directory above puts another one in its place, with a file for the next kernel."""
    assert use(make()) == "miss"
    own = folder.with_name("own")
    folder.rename(own)
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    (file,) = files(own)
    (folder / file.name).write_bytes(file.read_bytes()[:-40] + bytes(40))
    kernel = make()
    with pytest.warns(errors.CacheWarning, match="can be written to by other users"):
        assert use(kernel) is None
    assert run(kernel) == [0, 3, 6, 9, 12]
    assert use(make(FACTOR=5)) is None and len(files(folder)) == 1, "nothing is written there"


def test_no_file_is_unpickled(folder, tmp_path):
    """A cache file that is a pickle, or Python's bytecode, is a damaged file."""
    import marshal
    import pickle

    witness = tmp_path / "witness"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(witness),)

    use(make())
    (file,) = files(folder)
    for content in (pickle.dumps(Evil()), marshal.dumps(compile(f"import os; os.mkdir({str(witness)!r})", "x", "exec"))):
        for data in (content, file.read_bytes()[:200] + content, file.read_bytes()[:-32] + content):
            file.write_bytes(data)
            kernel = make()
            assert use(kernel) == "miss" and run(kernel) == [0, 3, 6, 9, 12]
    assert not witness.exists()


def test_modes(folder):
    old = os.umask(0)
    try:
        use(make())
    finally:
        os.umask(old)
    (file,) = files(folder)
    assert file.stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700


def run_cli(*args, **env):
    return subprocess.run([sys.executable, "-m", "pyptx", *args], env={**os.environ, **env}, capture_output=True, text=True, timeout=120)


PTXAS = """#!/bin/sh
find "$TMPDIR" -printf '%M %p\\n' >>"$TMPDIR/../seen"
exit 1
"""


def test_temporary_files_are_unguessable_and_gone(tmp_path):
    """A stand-in for ptxas writes down what it finds, and fails."""
    temporary, tool, source = tmp_path / "tmp", tmp_path / "ptxas", tmp_path / "kernels.py"
    temporary.mkdir()
    tool.write_text(PTXAS), tool.chmod(0o755)
    source.write_text("def scale(x):\n    x[0] = x[0] * 2\n")
    for _ in range(2):
        done = run_cli("compile", f"{source}:scale", "--sig", "float32[::1]", "--emit", "cubin", "-o", str(tmp_path / "out"), TMPDIR=str(temporary), PYPTX_PTXAS=str(tool))
        assert done.returncode == 1 and "ptxas" in done.stderr, done.stderr
    folders = [line for line in (tmp_path / "seen").read_text().splitlines() if line.startswith("d") and not line.endswith("/tmp")]
    assert len(set(folders)) == 2 and all(line.startswith("drwx------ ") for line in folders), folders
    assert list(temporary.iterdir()) == []


def test_names_that_a_shell_would_read(tmp_path):
    """In names of files and of kernels: they are arguments, whatever is in them."""
    folder = tmp_path / "$(touch broken); touch broken #'\""
    folder.mkdir()
    source = folder / "a b`touch broken`.py"
    source.write_text("def scale(x):\n    x[0] = x[0] * 2\n")
    out = folder / "out ;touch broken.ptx"
    done = subprocess.run(
        [sys.executable, "-m", "pyptx", "compile", f"{source}:scale", "--sig", "float32[::1]", "-o", str(out)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and ".entry" in out.read_text(), done.stderr
    assert not list(tmp_path.rglob("broken"))


@pytest.mark.parametrize("text", ["__import__('os').abort()", "float32[::__import__('os').abort()]", "float32[:], os.abort()", "[0].__class__", "int64(" * 5000])
def test_signatures_are_not_evaluated(text):
    with pytest.raises((TypeError, ValueError, errors.CompileError)):
        cuda.jit(text)(lambda x: None)
    with pytest.raises((TypeError, ValueError, errors.CompileError)):
        cuda.jit(lambda x: None).compile(text)


def test_pickles_hold_no_addresses():
    """A device array pickles as its elements; a kernel that holds one is refused, or takes the elements along."""
    import pickle

    cloudpickle = pytest.importorskip("cloudpickle")
    d = cuda.to_device(np.arange(4, dtype=np.float32))
    scope = {"cuda": cuda, "d": d, "__name__": "somewhere"}
    exec("def kernel(x):\n    x[0] = d[1]\n", scope)
    address = np.from_dlpack(d).ctypes.data if cuda.get_current_device().is_host else d.__cuda_array_interface__["data"][0]
    for data in (pickle.dumps(d), cloudpickle.dumps(cuda.jit(scope["kernel"]))):
        assert address.to_bytes(8, "little") not in data and str(address).encode() not in data
