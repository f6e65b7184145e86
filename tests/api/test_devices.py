"""Several GPUs, in processes of their own with the stand-in driver's two: what belongs to which, what is copied how, what is refused."""

import os
import subprocess
import sys

import pytest

STANDIN = os.environ.get("PYPTX_STANDIN", "")
pytestmark = pytest.mark.skipif(not STANDIN, reason="PYPTX_STANDIN names no stand-in driver")

BEGIN = """
import ctypes, os, threading
import numpy as np
from pyptx import cuda

library = ctypes.CDLL(os.environ["PYPTX_DRIVER"])
library.standin_control.restype = ctypes.POINTER(ctypes.c_void_p)
control = library.standin_control()
calls = lambda name: ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(control[4])(name.encode())
misuse = lambda: ctypes.CFUNCTYPE(ctypes.c_int)(control[7])()

@cuda.jit
def kernel(x):
    x[0] = 1

def refused(call, error=ValueError):
    try:
        call()
    except error as e:
        print(e)
    else:
        raise AssertionError("nothing was raised")
"""


def run(source):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + source + "\nassert misuse() == 0, misuse()"], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": STANDIN, "PYPTX_STANDIN_DEVICES": "2"},
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout.strip().split("\n")


def test_devices_are_chosen_by_block_and_by_thread():
    assert run("""
assert len(cuda.gpus) == 2 and cuda.gpus.current.id == 0
with cuda.gpus[1] as d:
    assert d is cuda.gpus[1] is cuda.get_current_device() and cuda.device_array(1).device is d and cuda.stream().device is d
    with cuda.gpus[0]:
        assert cuda.to_device(np.zeros(2)).device.id == 0
    assert cuda.get_current_device().id == 1
    seen = []
    t = threading.Thread(target=lambda: seen.append(cuda.get_current_device().id))
    t.start(); t.join()
    assert seen == [0]
assert cuda.get_current_device().id == 0
""") == [""]


def test_kernels_are_loaded_once_a_device():
    assert run("""
x = cuda.device_array(4)
with cuda.gpus[1]:
    y = cuda.device_array(4)
for _ in range(3):
    kernel[1, 1](x)
    with cuda.gpus[1]:
        kernel[1, 1](y)
assert calls("cuModuleLoadDataEx") == 2 and calls("cuLaunchKernel") == 6
""") == [""]


def test_what_belongs_to_another_device_is_refused_by_number():
    out = run("""
x, s, e = cuda.device_array(4), cuda.stream(), cuda.event()
with cuda.gpus[1]:
    y = cuda.device_array(4)
    refused(lambda: kernel[1, 1](x))
    refused(lambda: kernel[1, 1, s](y))
    refused(lambda: cuda.device_array(4, stream=s))
    refused(lambda: y.copy_to_host(stream=s))
refused(lambda: kernel[1, 1]((x, y)[1]))
with cuda.select_device("host"):
    refused(lambda: kernel[1, 1](x))
""")
    zero, one = "GPU 0 (Stand-in GPU 0)", "GPU 1 (Stand-in GPU 1)"
    help = "help: use a stream of the device that holds the data"
    out = [line for line in out if not line.strip().startswith("help")]
    assert out == [
        f"argument 1 ('x') lives on {zero}, but the kernel runs on {one}; copy it there, or select its device",
        f"the stream belongs to {zero}, not to {one}", f"the stream belongs to {zero}, not to {one}",
        f"the stream belongs to {zero}, not to {one}",
        f"argument 1 ('x') lives on {one}, but the kernel runs on {zero}; copy it there, or select its device",
        f"argument 1 ('x') lives on {zero}, but the kernel runs on the host device; copy it there, or select its device",
    ], (out, help)


def test_copies_between_devices_do_not_pass_the_host():
    assert run("""
a = np.arange(24.0).reshape(4, 6)
x, s = cuda.to_device(a), cuda.stream()
with cuda.gpus[1]:
    y, t = cuda.device_array((4, 6)), cuda.stream()
    y.copy_to_device(x)
    assert (y.copy_to_host() == a).all() and calls("cuMemcpyPeer") == 1
    z = cuda.to_device(x, stream=t)
    assert z.device.id == 1 and (z.copy_to_host(stream=t) == a).all()
x[...] = 0
assert (x.copy_to_host() == 0).all()
x.copy_to_device(y, stream=s)                       # a stream of the one
x.copy_to_device(y, stream=t)                       # or of the other
assert (x.copy_to_host() == a).all()
assert calls("cuMemcpyPeerAsync") == 3 and calls("cuMemcpyPeer") == 1 and calls("cuMemcpyDtoDAsync") == 0
x[1:3] = y[:2]                                      # contiguous parts
x[:, ::2] = y[:, 1::2]                              # the others by way of the host
b = a.copy(); b[1:3] = a[:2]; b[:, ::2] = a[:, 1::2]
assert (x.copy_to_host() == b).all() and calls("cuMemcpyPeer") == 2
with cuda.gpus[1]:
    x.copy_to_device(np.asfortranarray(a)); w = cuda.to_device(x.T)
    assert (w.copy_to_host() == a.T).all() and w.device.id == 1
with cuda.select_device("host"):
    h = cuda.to_device(x)
    assert h.device.is_host and (h.copy_to_host() == a).all()
    x.copy_to_device(h)
""") == [""]


def test_arrays_are_freed_on_their_own_device():
    assert run("""
import gc, copy
x = cuda.to_device(np.arange(5))
with cuda.gpus[1]:
    y, s = cuda.to_device(np.arange(5)), cuda.stream()
    c = copy.copy(x)
    assert c.device.id == 0
    x.copy_to_device(y, stream=s)                    # memory of 0 is used by a stream of 1
    before = cuda.current_context().get_memory_info()
    del x, c
gc.collect()
x = cuda.to_device(np.arange(7))
del y
gc.collect()
assert x.copy_to_host().tolist() == list(range(7))
""") == [""]


def test_one_device_is_reset_and_the_other_goes_on():
    assert run("""
x = cuda.to_device(np.arange(3))
with cuda.gpus[1]:
    y = cuda.to_device(np.arange(3))
    kernel[1, 1](y)
cuda.gpus[0].reset()
with cuda.gpus[1]:
    kernel[1, 1](y)
    assert y.copy_to_host().tolist() == [0, 1, 2]
""") == [""]
