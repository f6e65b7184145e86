"""The fuzz targets that Python drives, and the leak rounds (tests/fuzz), for as long as each change can have them: the corpus, new seeds, few
rounds. scripts/soak runs them for longer, under sanitizers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
sys.path.insert(0, str(FUZZ))
import objects  # noqa: E402 - its folder is on the path now

ENV = {**os.environ, "PYPTX_DEVICE": "host", "PYPTX_ADVICE": "0"}
pytestmark = pytest.mark.host_only("runs on the host device by itself")


def run(*command, **env):
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, env={**ENV, **env}, cwd=FUZZ)


@pytest.mark.parametrize("target", objects.TARGETS)
def test_corpus_and_new_seeds(target, tmp_path):
    seeds, files = objects.corpus(target)
    last = tmp_path / "last"
    program = f"import objects; print(objects.run({target!r}, {seeds!r}), objects.run({target!r}, range(10**6, 10**6 + {len(seeds)})))"
    done = run("-W", "ignore", "-X", "faulthandler", "-c", program, PYPTX_FUZZ_LAST=str(last))
    assert done.returncode == 0, f"{target} --seed {last.read_text()}\n{done.stderr[-3000:]}"
    assert done.stdout.split() == [str(len(seeds))] * 2 and len(seeds) > 3
    if target != "cache_files":  # of which libFuzzer has its own, fuzz_cache and fuzz_packed
        done = run("-X", "faulthandler", "objects.py", target, *files)
        assert done.returncode == 0, f"{done.stdout.split()[-1]}\n{done.stderr[-3000:]}"
        assert done.stdout.split() == list(map(str, files)) and len(files) > 5


def test_choices_by_bytes():
    """Every choice follows from the bytes, and an input that is too short is one with zeros behind it."""

    def drawn(data):
        r = objects.Drawn(data)
        return [r.choice("abcdef"), r.randint(-3, 3), r.random() < 0.5, r.randrange(300), r.choice([1]), r.getrandbits(7)]

    assert drawn(bytes([2, 6, 0, 0x90, 44, 1, 255])) == ["c", 3, False, 0, 1, 127]
    assert drawn(b"\x05") == drawn(b"\x05" + bytes(9)) == ["f", -3, True, 0, 1, 0]


def test_a_seed_is_a_case():
    """The same seed makes the same case, and a finding names it."""
    import random

    seen = []
    objects.TARGETS["planted"] = lambda r: seen.append(r.random()) or seen[-1] < 0.9 or pytest.fail("found")
    try:
        with pytest.raises(BaseException, match="found") as found:
            objects.run("planted", range(10**9))
        seed = len(seen) - 1
        assert found.value.__notes__ == [f"python tests/fuzz/objects.py planted --seed {seed} --count 1"]
        assert random.Random(seed).random() == seen[-1]
    finally:
        del objects.TARGETS["planted"]


@pytest.mark.unchecked("the memory of checks is kept")
def test_leak_rounds():
    done = run("leaks.py", "--rounds", 2000, "--seconds", 0.4)
    assert done.returncode == 0 and done.stdout.splitlines()[-1].endswith("actions, none leaking"), done.stdout + done.stderr


@pytest.mark.parametrize("leak", ["libc.malloc(16)", "libc.mmap(None, 4096, 0, 34, -1, 0)", "kept.append(object())", "kept.append(bytearray(600))"])
def test_leak_rounds_find_what_is_planted(leak):
    program = f"import ctypes, sys, leaks\nlibc, kept = ctypes.CDLL(None), []\nlibc.malloc.restype = ctypes.c_void_p\n" \
              f"leaks.ACTIONS = {{'planted': lambda: {leak}}}\nsys.argv[1:] = ['--rounds', '20000']\nsys.exit(leaks.main())"
    done = run("-c", program)
    assert done.returncode == 1 and "LEAKS" in done.stdout, done.stdout + done.stderr
