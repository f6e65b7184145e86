"""Kernels of the GPU on the CPU: choose() makes the stand-in driver (tests/standin) run what is launched, from its PTX.

    PYPTX_STANDIN=…/standin/libcuda.so.1        and then ptx_on_cpu.choose()

Everything up to the driver is what runs with a GPU. A fault is the launch's: the next call of the driver fails, as with a GPU, and
`faults` and the standard error say which instruction it was. What the machine does not know (an instruction, a cooperative launch) is
refused by the launch itself, and by no call after it."""

import ctypes
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .translate import Translated

CC = shutil.which("gcc") or shutil.which("cc")
FLAGS = ["-O1", "-std=gnu11", "-w", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fPIC", "-shared"]
FAULTS = {1: "a wild access", 2: "an access that is not aligned", 3: "a trap", 4: "a write to what is constant", 5: "an address of another space", 6: "too many calls", 7: "an operation of other lanes"}
RESULTS = {1: 700, 2: 716, 3: 719, 4: 700, 5: 717, 6: 700, 7: 719}
NOT_SUPPORTED = 801
faults = []  # what went wrong, in words
most = {"local": 0, "calls": 0}  # bytes of local memory and calls at the deepest of all launches


class Launch(ctypes.Structure):
    """As StandinLaunch of standin.h."""

    _fields_ = [
        ("kernel", ctypes.c_char * 128), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("dynamic_shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t), ("params", ctypes.c_ubyte * 4096), ("cooperative", ctypes.c_int), ("cluster", ctypes.c_uint * 3), ("fields", ctypes.c_void_p),
        ("ptx", ctypes.c_char_p),
    ]  # fmt: skip


class Machine(ctypes.Structure):
    """The beginning of machine.h's."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("dynamic_shared", ctypes.c_uint64), ("poison", ctypes.c_uint64), ("nranges", ctypes.c_uint64),
        ("ranges", ctypes.c_void_p), ("params", ctypes.c_void_p), ("param_bytes", ctypes.c_uint64), ("fault", ctypes.c_uint64), ("line", ctypes.c_uint64),
        ("address", ctypes.c_uint64), ("size", ctypes.c_uint64), ("deepest", ctypes.c_uint64), ("deepest_calls", ctypes.c_uint64), ("accesses", ctypes.c_uint64),
    ]  # fmt: skip


class Program:
    """A module's PTX, translated and compiled."""

    def __init__(self, text):
        self.text = text
        made = Translated(text)
        self.entries = made.entries
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "ptx.c"), Path(folder, "ptx.so")
            source.write_text(made.source)
            subprocess.run([CC, *FLAGS, source, "-o", library, "-lm"], check=True)
            self.code = ctypes.CDLL(str(library))
        self.bytes = ctypes.c_uint.in_dll(self.code, "machine_bytes").value

    def run(self, kernel, grid, block, params, ranges, dynamic_shared=0, poison=0xA5A5A5A5A5A5A5A5):
        """ranges: (from, to) of global memory, in order. What the machine says afterwards."""
        memory = ctypes.create_string_buffer(self.bytes)
        m = Machine.from_buffer(memory)
        table = (ctypes.c_uint64 * (3 * len(ranges) + 1))(*(x for r in ranges for x in (*r, 1)))
        params, param_bytes = ctypes.create_string_buffer(bytes(params), len(params) + 16), len(params)
        m.grid, m.block, m.dynamic_shared, m.poison = tuple(grid), tuple(block), dynamic_shared, poison
        m.nranges, m.ranges, m.params, m.param_bytes = len(ranges), ctypes.addressof(table), ctypes.addressof(params), param_bytes
        self.code.run(ctypes.byref(m), self.entries[kernel])
        most["local"], most["calls"] = max(most["local"], m.deepest), max(most["calls"], m.deepest_calls)
        return Machine.from_buffer_copy(m)

    def explain(self, m):
        """A fault in words, or None."""
        if not m.fault:
            return None
        line = self.text.splitlines()[m.line - 1].strip() if m.line else ""
        return f"{FAULTS[m.fault]} of {m.size} bytes at {m.address:#x} in line {m.line} of the PTX: {line}"


@functools.lru_cache(8)
def program(text):
    return Program(text)


def reachable(control):
    """(from, to) of every allocation of the stand-in."""
    n, found = None, control.reachable(None, 0)
    while n != found:  # other threads allocate and free
        n, table = found, (ctypes.c_uint64 * (2 * found + 1))()
        found = control.reachable(table, n)
    return list(zip(table[0 : 2 * n : 2], table[1 : 2 * n : 2]))


def run_launch(control, launch):
    if not launch.ptx:
        raise NotImplementedError("only PTX runs on the CPU, not cubins")
    if launch.cooperative or any(launch.cluster):
        raise NotImplementedError("threads that wait for others do not run on the CPU")
    made = program(launch.ptx.decode())
    m = made.run(launch.kernel.decode(), launch.grid, launch.block, bytes(launch.params[: launch.bytes]), reachable(control), launch.dynamic_shared)
    return RESULTS.get(m.fault, 0), made.explain(m)


def choose():
    """Has this process use the machine: before pyptx looks for a GPU. Those that it starts find PYPTX_ON_PTX, and have to choose too."""
    library = os.environ.get("PYPTX_STANDIN")
    if not library:
        raise RuntimeError("PYPTX_STANDIN does not name the stand-in driver (build/release/standin/libcuda.so.1)")
    os.environ.update(PYPTX_DEVICE="gpu", PYPTX_DRIVER=os.environ.get("PYPTX_DRIVER") or library, PYPTX_ON_PTX="1")
    install()


@functools.cache
def install():
    """Returns the stand-in's controls."""
    from standin import driver

    control = driver()

    def run(launch, _):
        try:
            result, fault = run_launch(control, launch.contents)
            if result:
                control.stick(result)  # until clear()
        except Exception as e:
            result, fault = NOT_SUPPORTED, f"{type(e).__name__}: {e}"
            control.answer(result)
        if result:
            faults.append(fault)
            print(f"PTX on the CPU: {fault}", file=sys.stderr, flush=True)

    callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(Launch), ctypes.c_void_p)(run)
    control.on_launch(ctypes.cast(callback, ctypes.c_void_p), None)
    install.keep = callback
    return control


def clear():
    """After a fault: the driver works again, which a GPU's would not. Returns the faults since the last time, in words."""
    if not install.cache_info().currsize:
        return []
    install().stick(0)
    found = faults[:]
    faults.clear()
    return found
