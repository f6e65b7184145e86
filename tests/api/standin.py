"""Tests of GPU paths without a GPU: a process of its own on the stand-in driver (tests/standin), whose device memory is host memory and
whose launches do nothing. PYPTX_STANDIN names the library; without it such tests are skipped.

In the process, `from standin import driver` gives its controls, as standin.h describes them."""

import ctypes
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# Where test modules and what they share lie: pytest imports them by their names alone, and so do processes of their own.
FOLDERS = [str(HERE), *sorted(str(folder) for folder in HERE.iterdir() if folder.is_dir() and folder.name != "__pycache__")]
LIBRARY = os.environ.get("PYPTX_STANDIN", "")
needs_standin = pytest.mark.skipif(not LIBRARY, reason="PYPTX_STANDIN does not name the stand-in driver")


def run(source, **env):
    """Runs the source on the stand-in; a failing assertion or exception there fails the test here."""
    env = {**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": LIBRARY, **env}
    env["PYTHONPATH"] = os.pathsep.join([*FOLDERS, env.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True, timeout=120, env=env
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


class Control(ctypes.Structure):
    _fields_ = [
        (name, ctypes.CFUNCTYPE(result, *arguments))
        for name, result, *arguments in [
            ("fail", None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int),
            ("fired", ctypes.c_int),
            ("fired_call", ctypes.c_char_p),
            ("stick", None, ctypes.c_int),
            ("calls", ctypes.c_int, ctypes.c_char_p),
            ("forget", None),
            ("live", ctypes.c_int, ctypes.c_int),
            ("misuse", ctypes.c_int),
            ("set_memory", None, ctypes.c_size_t),
            ("set_attribute", None, ctypes.c_int, ctypes.c_int),
            ("on_launch", None, ctypes.c_void_p, ctypes.c_void_p),
            ("last", ctypes.c_void_p),
            ("busy", None, ctypes.c_int),
            ("order", ctypes.c_char_p),
            ("capture", None, ctypes.c_void_p),
            ("block", None, ctypes.c_int),
            ("reachable", ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t),
            ("context", ctypes.c_void_p),
            ("answer", None, ctypes.c_int),
            ("say", None, ctypes.c_char_p),
        ]
    ]


def driver():
    library = ctypes.CDLL(os.environ["PYPTX_DRIVER"])
    library.standin_control.restype = ctypes.POINTER(Control)
    return library.standin_control().contents


def order(control, **streams):
    """What was put on the streams since forget(), as "launch S", "S after T": names of streams by handle; 0 is "default"."""
    names = {v: k for k, v in streams.items()} | {0: "default", 1: "default"}
    recorded, lines = {}, []
    for line in control.order().decode().splitlines():
        what, event, stream = line.split()
        stream = names.get(0 if stream == "(nil)" else int(stream, 16), stream)
        if what == "launch":
            lines.append(f"launch {stream}")
        elif what == "record":
            recorded[event] = stream
        else:
            lines.append(f"{stream} after {recorded[event]}")
    return lines
