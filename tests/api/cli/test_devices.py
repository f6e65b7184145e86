"""Several GPUs, in processes of their own with the stand-in driver's two: what belongs to which, what is copied how, what is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path

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


def run(source, devices=2, **env):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + source + "\nassert misuse() == 0, misuse()"], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": STANDIN, "PYPTX_STANDIN_DEVICES": str(devices), **env},
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout.strip().split("\n")


@pytest.mark.parametrize("device", ["host", "python"])
def test_a_program_that_is_to_run_on_the_host_sees_no_gpu(device):
    """Though there are two: one that goes through the GPUs, or has one for each rank, runs on the host device as a
    whole."""
    assert run("""
assert len(cuda.gpus) == 0 and not cuda.list_devices() and cuda.gpus[0].is_host
refused(lambda: cuda.gpus[1], IndexError)
os.environ["LOCAL_RANK"] = "1"
assert cuda.select_local_device().is_host
print(cuda.is_available())
""", PYPTX_DEVICE=device) == ["there is no GPU 1: 0 found", "True"]


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
        f"argument 1 ('x') lives on {zero}, but the kernel runs on {one}; copy it there, or launch in `with array.device:`",
        f"the stream belongs to {zero}, not to {one}", f"the stream belongs to {zero}, not to {one}",
        f"the stream belongs to {zero}, not to {one}",
        f"argument 1 ('x') lives on {one}, but the kernel runs on {zero}; copy it there, or launch in `with array.device:`",
        f"argument 1 ('x') lives on {zero}, but the kernel runs on the host device; copy it there, or launch in `with array.device:`",
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


# What another library does: it makes contexts current, and asks which one is.
NEIGHBOUR = """
import gc
from pyptx import _pyptx

host = _pyptx._device("host")

def set_device(i):
    context = ctypes.c_void_p()
    assert i is None or library.cuDevicePrimaryCtxRetain(ctypes.byref(context), i) == 0
    assert library.cuCtxSetCurrent(context) == 0

def device_now():
    context, device = ctypes.c_void_p(), ctypes.c_int()
    assert library.cuCtxGetCurrent(ctypes.byref(context)) == 0
    return library.cuCtxGetDevice(ctypes.byref(device)) or device.value if context.value else None

def here():
    return cuda.get_current_device().id

library.cuInit(0)
"""


@pytest.mark.parametrize("first", [None, 0, 1])
@pytest.mark.parametrize("ends", ["quietly", "with an error", "after the neighbour has changed it", "after another was selected"])
def test_a_block_leaves_the_context_that_it_found(first, ends):
    run(NEIGHBOUR + f"""
first, ends = {first}, {ends!r}
cuda.gpus[0], cuda.gpus[1]
set_device(first)
for other in 1, 0:
    try:
        with cuda.gpus[other]:
            assert device_now() == other == here()
            x = cuda.to_device(np.ones(3))
            kernel[1, 1](x)
            with host:
                assert here() == -1 and device_now() == other
            with cuda.gpus[1 - other]:
                assert device_now() == 1 - other
                y = cuda.device_array(4)
                kernel[1, 1](y)
            assert device_now() == other == here()
            if ends == "with an error":
                raise KeyError
            if ends == "after the neighbour has changed it":
                set_device(1 - other)
                kernel[1, 1](x)                          # the block's device, and the neighbour's choice stays
                assert here() == other and device_now() == 1 - other
            if ends == "after another was selected":
                cuda.select_device(1 - other)
                kernel[1, 1](y)
    except KeyError:
        assert ends == "with an error"
    assert device_now() == first
cuda.close()
with host:
    cuda.select_device(1)                                # in the block of a device without a context
assert device_now() == first and here() == (first or 0)
""")


def test_a_thread_that_selected_nothing_works_where_its_context_is():
    run(NEIGHBOUR + """
set_device(1)                                            # as torch.cuda.set_device(local_rank), before the first use
assert here() == 1 and cuda.gpus.current.id == 1
x, s, e = cuda.to_device(np.arange(3.0)), cuda.stream(), cuda.event()
assert x.device.id == s.device.id == 1 and cuda.pinned_array(3).size == 3
kernel[1, 1](x)
kernel[1, 1, s](x)
bound = kernel[1, 1].bind(x)
set_device(0)
assert here() == 0
y = cuda.to_device(np.arange(3.0))
assert y.device.id == 0
for _ in range(3):                                       # between two launches, with plans of both devices
    kernel[1, 1](y)
    bound()                                              # on the device that it was bound for
    assert device_now() == 0
    set_device(1)
    kernel[1, 1](x)
    set_device(0)
refused(lambda: kernel[1, 1](x))
cuda.select_device(1)                                    # holds from here on
set_device(0)
kernel[1, 1](x)
assert here() == 1 and device_now() == 0
refused(lambda: kernel[1, 1](y))
cuda.close()
assert here() == 0
cuda.select_device(1)
assert device_now() == 1
cuda.close()                                             # and what was before is back
assert device_now() == 0 == here()
cuda.select_device(1)
cuda.select_device("host")                               # which makes nothing current
assert device_now() == 1
cuda.close()
assert device_now() == 0 == here()
cuda.select_device(1)
cuda.select_device("host")
set_device(0)                                            # another library's since: it stays
set_device(1)
set_device(0)
cuda.close()
assert device_now() == 0
""")


def test_a_thread_without_a_context_works_on_the_default():
    run(NEIGHBOUR + """
def work():
    assert device_now() is None
    x = cuda.device_array(4)
    kernel[1, 1](x)
    assert x.device.id == 0 == device_now()
    seen.append(1)

seen = []
set_device(1)
x = cuda.device_array(4)                                 # 1 in this thread
t = threading.Thread(target=work)
t.start(); t.join()
def drop():                                              # what only frees and waits there leaves none behind
    arrays.clear()
    gc.collect()
    cuda.gpus[1].synchronize()
    assert device_now() is None
    seen.append(2)
with cuda.gpus[1]:
    arrays = [cuda.device_array(1 << 25), cuda.stream(), cuda.event(), cuda.pinned_array(4), cuda.managed_array(4)]
t = threading.Thread(target=drop)
t.start(); t.join()
assert seen == [1, 2] and device_now() == 1
""")


def test_what_is_done_on_the_other_gpu_leaves_the_context_alone():
    run(NEIGHBOUR + """
def alone(call):
    result = call()
    gc.collect()
    assert device_now() == 0, call
    return result

set_device(0)
x = cuda.to_device(np.arange(1 << 20, dtype=np.float32))
with cuda.gpus[1]:
    y, s, e = cuda.to_device(np.arange(1 << 20, dtype=np.float32)), cuda.stream(), cuda.event()
    big = cuda.device_array(1 << 24)
    kernel[1, 1](big)
    with cuda.graph() as g:
        kernel[1, 1](big)
    things = [cuda.device_array(1 << 25), cuda.stream(), cuda.event(), cuda.pinned_array(100), cuda.managed_array(100), g]
assert device_now() == 0
alone(lambda: y.copy_to_host())
alone(lambda: y.copy_to_device(np.ones(1 << 20, np.float32)))
alone(lambda: big.copy_to_device(np.ones(1 << 24)))      # staged
alone(lambda: big[::2].copy_to_host())
alone(lambda: x.copy_to_device(y))
alone(lambda: y.copy_to_device(x, stream=s))
alone(lambda: y.__setitem__(slice(None), 3))
alone(lambda: y[::2].copy_to_host())
alone(lambda: e.record(s))
alone(lambda: (e.query(), e.synchronize(), e.wait(s), s.synchronize()))
alone(cuda.gpus[1].synchronize)
alone(cuda.gpus[1].memory_info)
alone(lambda: g.launch(s))
alone(lambda: __import__("copy").copy(y))
while things:
    alone(things.pop)
assert here() == 0
kernel[1, 1](x)
del g, big
gc.collect()
cuda.gpus[1].reset()
assert device_now() == 0 and cuda.current_context().get_memory_info()
kernel[1, 1](x)
""")


def test_a_graph_is_captured_on_the_device_of_the_context():
    run(NEIGHBOUR + """
set_device(1)
x = cuda.device_array(4)
kernel[1, 1](x)
with cuda.gpus[0]:
    y = cuda.device_array(4)
    kernel[1, 1](y)
with cuda.graph() as g:
    kernel[1, 1](x)
    assert here() == 1
    with cuda.gpus[0]:                                   # of another device: done now, and no part of it
        kernel[1, 1](y)
    kernel[1, 1](x)
    assert device_now() == 1
set_device(0)
g.launch()
assert device_now() == 0 and len(g.nodes) == 2
kernel[1, 1](y)
""")


def test_eight_threads_and_two_gpus():
    run(NEIGHBOUR + """
wrong = []

def work(k):
    own, other = k % 2, 1 - k % 2
    if k < 4:
        set_device(own)
    else:
        cuda.select_device(own)
    for n in range(60):
        x = cuda.to_device(np.arange(5) + n)
        kernel[1, 1](x)
        with cuda.gpus[other]:
            y = cuda.to_device(x)
            kernel[1, 1](y)
        del x
        if y.copy_to_host()[1] != n + 1 or here() != own or device_now() != own or y.device.id != other:
            wrong.append((k, n))
        del y

threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert not wrong, wrong
""")


def test_with_one_gpu_nobody_asks():
    run(NEIGHBOUR + """
x = cuda.device_array(4)
kernel[1, 1](x)
control_calls = calls("cuCtxGetCurrent") + calls("cuCtxGetDevice") + calls("cuCtxSetCurrent")
for _ in range(100):
    kernel[1, 1](x)
assert calls("cuCtxGetCurrent") + calls("cuCtxGetDevice") + calls("cuCtxSetCurrent") == control_calls
set_device(None)
with cuda.gpus[0]:
    kernel[1, 1](x)
assert device_now() is None
""", devices=1)


def test_the_host_device_follows_nobody():
    run(NEIGHBOUR + """
os.environ["PYPTX_DEVICE"] = "host"
set_device(1)
assert here() == -1 and cuda.device_array(3).device.is_host and device_now() == 1
cuda.close()
os.environ["PYPTX_DEVICE"] = "auto"
assert here() == 1
""")


def test_what_two_gpus_are_tested_with():
    """tests/gpu/test_gpu_devices.py, whose kernels run on the CPU. Libraries that have no GPU are skipped."""
    tests = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not 16777216", str(tests / "gpu" / "test_gpu_devices.py")],
        capture_output=True, text=True, timeout=240, cwd=tests.parent,
        env={**os.environ, "PYPTX_DEVICE": "ptx", "PYPTX_STANDIN_DEVICES": "2", "PYPTX_STANDIN_MEMORY": str(4 << 30)},
    )
    assert done.returncode == 0, (done.stdout[-5000:], done.stderr[-2000:])
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 13


def test_a_selection_for_a_block_puts_the_context_back():
    run(NEIGHBOUR + """
set_device(0)
with cuda.select_device(1) as d:
    assert d.id == 1 and here() == 1 and device_now() == 1
    with cuda.select_device("host"):
        assert here() == -1 and device_now() == 1
    assert here() == 1
assert here() == 0 and device_now() == 0
set_device(None)
with cuda.select_device(1):
    set_device(0)                                        # another library in the block
assert device_now() is None
cuda.select_device(1)
for same in (lambda: cuda.gpus[1], cuda.get_current_device, lambda: cuda.device_array(1).device):
    cuda.select_device(0)
    cuda.select_device(1)
    with same():                                         # the device of its own, which is to stay selected
        pass
    assert here() == 1, same
cuda.close()
set_device(1)
cuda.close()                                             # nothing is selected, so nothing is put back
assert device_now() == 1
""")
