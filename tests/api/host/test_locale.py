"""A process whose locale writes numbers with a comma: kernels read and write them with a point, as Python does."""

import os
import shutil
import subprocess
import sys

import pytest

COMMA = """
comment_char %
escape_char /
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
"""

PROGRAM = """
import enum, locale
import numpy as np
from pyptx import cuda

locale.setlocale(locale.LC_NUMERIC, "comma")
assert locale.localeconv()["decimal_point"] == ","

class Mode(enum.Enum):
    SLOW = 0.5
    FAST = 2.25

def kernel(x, out, mode):
    out[0] = float("1.5")
    if mode is Mode.FAST:
        out[1] = Mode.FAST.value
    print(x[0], x[1], np.float32(0.1), np.float16(0.1), 1e22, complex(1.5, x[0]), f"{x[0]:.3f} {x[0]:e} {x[0]:g} {x[1]:8.2f}|")

x = np.array([1234.5, 0.1])
got, want = np.zeros(2), np.zeros(2)
cuda.jit(kernel)[1, 1](x, got, Mode.FAST)
cuda.synchronize()
kernel(x, want, Mode.FAST)
assert got.tolist() == want.tolist() == [1.5, 2.25], got
assert cuda.cache_info().limit == 1.5 * 2**20
"""


def made_locale(folder, name, category, *options):
    """The environment in which this locale can be set; skipped where the machine cannot make it (in Debian it takes the package locales)."""
    if not shutil.which("localedef"):
        pytest.skip("no localedef to make a locale with")
    # It warns that other categories are missing, and leaves with 1 then.
    said = subprocess.run(["localedef", "-c", *options, f"./{name}"], cwd=folder, capture_output=True, text=True).stderr
    env = {**os.environ, "LOCPATH": str(folder), "PYPTX_DEVICE": "host"}
    set_it = f"import locale; locale.setlocale(locale.{category}, {name!r})"
    if subprocess.run([sys.executable, "-c", set_it], env=env, capture_output=True).returncode:
        pytest.skip(f"localedef makes no locale: {said.strip()}")
    return env


def test_a_comma_in_numbers(tmp_path):
    (tmp_path / "comma.txt").write_text(COMMA)
    env = made_locale(tmp_path, "comma", "LC_NUMERIC", "-i", "comma.txt") | {"PYPTX_CACHE_SIZE": "1.5M"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    got, want = done.stdout.splitlines()
    assert got == want and "1234.5 0.1" in got


LETTERS = """
import locale
import numpy as np
from pyptx import _pyptx, cuda

locale.setlocale(locale.LC_CTYPE, "latin")

def erhöht(x):
    return x + 1

def größe(x, out):
    fläche = cuda.shared.array(4, np.float32)
    fläche[0] = x[0]
    out[0] = erhöht(fläche[0])

ptx = _pyptx._compile(größe, "float32[::1], float32[::1]", "nvptx", "sm_80", 0, {"opt": 0}, "ptx")["ptx"]
assert ptx.isascii() and ".entry gr____e(" in ptx, ptx
out = np.zeros(1, np.float32)
cuda.jit(größe)[1, 1](np.ones(1, np.float32), out)
cuda.synchronize()
assert out[0] == 2
"""


def test_letters_of_an_8_bit_locale_are_none_of_a_symbol(tmp_path):
    env = made_locale(tmp_path, "latin", "LC_CTYPE", "-i", "en_US", "-f", "ISO-8859-1") | {"PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", LETTERS], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
