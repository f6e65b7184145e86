"""Each driver call that Python can reach fails in turn, with "out of memory" and with an error of no meaning, on the stand-in driver: the
exception names the call and is of the right class, nothing is left behind, and the same work succeeds afterwards.

Each scenario runs in a process of its own, which imports this file. Calls that only clean up, and those that others can stand in for, may
also fail without an exception; the tables say which."""

import ctypes
import gc
import itertools
import os
import re
import threading
from pathlib import Path

import pytest
import standin

pytestmark = standin.needs_standin

TABLE = Path(__file__).parents[3] / "runtime/driver/driver.def"
CALLS = re.findall(r"^(?:ENTRY|OPTIONAL)\((\w+),", TABLE.read_text(), re.M) if TABLE.exists() else []
CODES = {2: "CUDA_ERROR_OUT_OF_MEMORY", 999: "CUDA_ERROR_UNKNOWN"}
KINDS = range(1, 9)  # of standin.h: all but contexts

# A failure of these is no error of what was asked for: it was done, or is done in another way.
SILENT = {
    "cuCtxGetCurrent": "the context is set then",
    "cuMemFree": "cleans up", "cuMemFreeAsync": "cleans up", "cuMemFreeHost": "cleans up", "cuMemHostUnregister": "cleans up",
    "cuStreamDestroy": "cleans up", "cuEventDestroy": "cleans up", "cuModuleUnload": "cleans up", "cuGraphDestroy": "cleans up",
    "cuGraphExecDestroy": "cleans up", "cuIpcCloseMemHandle": "cleans up", "cuLinkDestroy": "cleans up", "cuDevicePrimaryCtxRelease": "cleans up",
    "cuGraphExecUpdate": "the graph is made anew", "cuStreamIsCapturing": "no wait can be put there", "cuPointerGetAttributes": "asked of foreign addresses",
    "cuMemGetInfo": "only words of an error", "cuGetErrorName": "only words of an error", "cuGetErrorString": "only words of an error",
    "cuMemPoolGetAttribute": "only words of an error, or statistics", "cuMemAllocAsync": "tried once more",
    "cuMemAlloc": "tried once more", "cuStreamSynchronize": "waits before cleaning up", "cuCtxSynchronize": "waits before cleaning up",
    "cuCtxSetCurrent": "cleans up in a context that was made current before", "cuMemPoolTrimTo": "gives back what can be given back",
    "cuStreamEndCapture": "a capture that is thrown away", "cuStreamQuery": "the wait itself follows",
    "cuEventQuery": "the wait itself follows",
}
STAGING = {"cuMemHostRegister", "cuStreamCreate", "cuEventCreate"}  # without them a large copy is the driver's own
# The stand-in keeps what the failing call was to free.
LEAKS = {
    "cuMemFree", "cuMemFreeAsync", "cuMemFreeHost", "cuMemHostUnregister", "cuStreamDestroy", "cuEventDestroy", "cuModuleUnload", "cuGraphDestroy",
    "cuGraphExecDestroy", "cuStreamEndCapture", "cuLinkDestroy", "cuCtxSetCurrent", "cuDevicePrimaryCtxRelease",
}
# Where they cannot be told to fail: answered without the stand-in's bookkeeping.
UNREACHED = {
    "cuGetErrorName": "asked for codes that no table has", "cuGetErrorString": "asked for codes that no table has",
    "cuDeviceGetUuid": "of drivers without cuDeviceGetUuid_v2", "cuDriverGetVersion": "opening: below", "cuInit": "opening: below",
    "cuDeviceGetCount": "opening: below", "cuDeviceGet": "opening: below", "cuDeviceGetName": "opening: below", "cuDeviceGetUuid_v2": "opening: below",
    "cuDeviceTotalMem": "opening: below", "cuDevicePrimaryCtxRetain": "opening: below", "cuDeviceGetDefaultMemPool": "opening: below",
    "cuMemPoolSetAttribute": "opening: below", "cuDevicePrimaryCtxRelease": "opening: below",
    "cuCtxGetDevice": "of a context that another library made: test_devices.py",
}
OPENING = [name for name, why in UNREACHED.items() if why == "opening: below" and name not in ("cuDevicePrimaryCtxRelease",)]


# --- the scenarios: each leaves nothing behind -------------------------------------------------------------------------------


def kernels():
    import numpy as np
    from pyptx import cuda

    global cuda, np, devices  # in the child only
    devices = cuda.list_devices()

    def add(x, v):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += v

    def stops(x, v):
        if v > 1e30:
            raise ValueError("too much")
        x[0] = v

    def meets(x, v):
        x[0] = v
        cuda.cg.this_grid().sync()
        x[1] = v

    def big(x, v):
        s = cuda.shared.array(0, np.float32)
        s[0] = v
        x[0] = s[0]

    def boxes(x, v):
        tile = cuda.shared.array(8, np.float64, alignment=128)
        bars = cuda.shared.array(1, cuda.mbarrier)
        box = cuda.tensor_map(x, (8,))
        if cuda.threadIdx.x == 0:
            cuda.mbarrier_init(bars, 0, 1)
            cuda.mbarrier_arrive_expect_tx(bars, 0, box.nbytes)
            cuda.cp_async_bulk_tensor(tile, box, (0,), bars, 0)
            cuda.mbarrier_wait_parity(bars, 0, 0)
        x[0] = tile[0] + v

    return {f.__name__: f for f in (add, stops, meets, big, boxes)}


LENGTHS = itertools.cycle(range(8, 136, 2))  # launches keep the tensor maps of the last arrays


def load(k):
    x = cuda.device_array(next(LENGTHS))
    for f in k.values():
        kernel = cuda.jit(f)
        kernel[1, 8, 0, 100_000 if f.__name__ == "big" else 0](x, 1.0)
    cuda.jit(k["stops"], exceptions=True)[1, 8](x, 1.0)
    kernel.configure(4, 8, cluster=2)(x, 1.0)
    kernel.configure(16, 8, cluster=16)(x, 1.0)
    kernel.forall(100)(x, 1.0)
    compiled = kernel.overloads[next(iter(kernel.overloads))]
    compiled.max_cooperative_grid_blocks(32)
    compiled.max_active_clusters(2, 32)
    cuda.synchronize()


def link(k):
    twice = cuda.declare_device("twice", "float64(float64)", abi="c", link=cuda.PTXSource(".version 7.0\n.func twice"))

    def calls(x):
        x[0] = twice(x[0])

    cuda.jit(calls)[1, 1](cuda.device_array(8))


def modules(k):
    ptx = ".version 6.3\n.target sm_75\n.visible .global .align 4 .u32 total;\n.visible .entry store(.param .u64 a, .param .u32 n) { ret; }"
    made = cuda.Module(ptx)
    made["store"][1, 1](cuda.device_array(4), 1)
    assert made.global_("total").shape == ()
    cuda.Module(b"\x7fELF" + bytes(60))["any"][1, 1]()  # of which the driver is asked for the parameters


def launch(k):
    s = cuda.stream()
    x = cuda.to_device(np.zeros(8), stream=s)
    for name in ("add", "stops", "meets"):
        compiled[name][1, 8, s](x, 1.0)
        compiled[name][1, 8](x, 1.0)
    host = np.zeros(8)
    compiled["add"][1, 8](host, 1.0)
    s.synchronize()


def staged(k):
    a = np.arange(1 << 19, dtype=np.float64)  # 4 MB: the smallest that is staged
    x = cuda.to_device(a)
    assert (x.copy_to_host() == a).all()
    b = a.reshape(512, 1024)
    y = cuda.to_device(b[:, ::2])
    assert (y.copy_to_host() == b[:, ::2]).all()


def copy(k):
    a = np.arange(100.0)
    x = cuda.to_device(a)
    assert (x.copy_to_host() == a).all()
    x.copy_to_device(x)
    x[:10] = x[10:20]
    x[10:20] = 7
    assert x[3] == 13 and x[12] == 7
    z = cuda.device_array((32, 32))
    z[:, ::2] = z[:, 1::2]
    y = cuda.device_array((32, 32))
    y[4:8, 1:17] = z[4:8, :16]
    assert z[:, 8:24].copy_to_host().shape == (32, 16)
    s = cuda.stream()
    x.copy_to_device(a, stream=s)
    assert x.copy_to_host(stream=s)[5] == 5
    s.synchronize()


ours = []


def memory(k):
    p, m, g = cuda.pinned_array(100), cuda.mapped_array(100), cuda.managed_array(100)
    ours.append((np.zeros(5000), np.zeros(5000)))  # addresses that no other run has: memory may stay pinned to the driver
    with cuda.pinned(ours[-1][0]):
        pass
    with cuda.mapped(ours[-1][1]):
        pass
    with cuda.defer_cleanup():
        x = cuda.device_array(1 << 16)
        del x
    cuda.trim_memory()
    assert cuda.memory_info().total and cuda.current_context().get_memory_info().free
    del p, m, g


def ipc(k):
    with cuda.shareable():
        x = cuda.to_device(np.arange(10.0))
    with x.get_ipc_handle() as y:
        assert y.copy_to_host()[3] == 3
    del x


def streams(k):
    import asyncio

    s, t = cuda.stream(), cuda.stream()
    e, f = cuda.event(), cuda.event()
    e.record(s)
    e.wait(t)
    f.record(t)
    f.synchronize()
    assert f.query() and s.query() and cuda.event_elapsed_time(e, f) >= 0
    told = []
    s.add_callback(lambda stream, status, arg: told.append(status))

    async def done():
        await s.async_done()

    asyncio.run(done())
    if told[0]:
        raise told[0]
    with t.auto_synchronize():
        pass
    with cuda.profiling():
        pass
    cuda.synchronize()


def graphs(k):
    x, y = cuda.to_device(np.zeros(8)), cuda.device_array(8)
    with cuda.graph() as g:
        compiled["add"][1, 8](x, 1.0)
        compiled["stops"][1, 8](x, 1.0)
        y.copy_to_device(x)
    g.launch()
    g.nodes[0].set_args(x, 2.0)
    with g.update():
        compiled["add"][1, 8](x, 3.0)
        compiled["stops"][1, 8](x, 3.0)
        y.copy_to_device(x)
    g.launch()
    cuda.synchronize()


def peers(k):
    with cuda.gpus[1]:
        y, t = cuda.to_device(np.arange(8.0)), cuda.stream()
    x = cuda.device_array(8)
    x.copy_to_device(y)
    with cuda.gpus[1]:
        y.copy_to_device(x, stream=t)
        t.synchronize()


def follow(k):
    x, s = cuda.to_device(np.zeros(8)), cuda.stream()

    class Foreign:  # another library's array, whose work is on a stream of its own
        __cuda_array_interface__ = {**x.__cuda_array_interface__, "stream": s.handle}

    view = cuda.as_cuda_array(Foreign())
    compiled["add"][1, 8](Foreign(), 1.0)
    assert view.shape == (8,) and cuda.is_cuda_array(Foreign())


def attributes(k):
    d = cuda.get_current_device()
    assert d.MULTIPROCESSOR_COUNT == 132 and d.memory_info()[1]
    d.synchronize()


def reset(k):
    x = cuda.device_array(4)
    cuda.get_current_device().reset()
    del x
    cuda.jit(k["add"])[1, 8](cuda.device_array(4), 1.0)


SCENARIOS = [load, link, modules, launch, staged, copy, memory, ipc, streams, graphs, peers, follow, attributes, reset]


# --- the child ---------------------------------------------------------------------------------------------------------------


def settle():
    """What a call, or an exception with its frames, still holds is let go."""
    for thread in threading.enumerate():  # of callbacks: they hold an event until they end
        if thread is not threading.current_thread():
            thread.join(20)
    ctypes.CDLL(os.environ["PYPTX_DRIVER"]).cuCtxSetCurrent(None)  # a block whose end failed has left another device's
    for device in devices:
        device.synchronize()  # kernels that can raise are kept until then
    gc.collect()
    for device in devices:
        with device:
            cuda.trim_memory()


def live(control):
    return [control.live(kind) for kind in KINDS]


def attempt(work, k, name, code, problems, what):
    try:
        work(k)
    except (cuda.OutOfMemoryError if code == 2 else cuda.CudaAPIError) as e:
        if e.call != name or e.result != code or CODES[code] not in str(e):
            problems.append(f"{what}: the error is of another call: {e}")
    except BaseException as e:
        problems.append(f"{what}: {type(e).__name__}: {e}")
    else:
        if name not in SILENT and (work is not staged or name not in STAGING):
            problems.append(f"{what}: no exception")


def drive(scenario):
    control, k, problems, reached = standin.driver(), kernels(), [], []
    global compiled
    work = globals()[scenario]
    compiled = {name: cuda.jit(f) for name, f in k.items()}
    warm = cuda.device_array(8)
    for kernel in compiled.values():
        kernel[1, 8](warm, 1.0)
    for _ in range(2):
        work(k)
        settle()
    gc.freeze()
    before = live(control)
    control.forget()
    work(k)
    counts = {name: control.calls(name.encode()) for name in CALLS}
    settle()
    assert live(control) == before, ("it leaves something behind", live(control), before)
    for name, count in sorted(counts.items(), key=lambda item: item[0] in LEAKS):
        for nth in sorted({1, min(2, count), count} - {0} if count else ()):
            for code in CODES:
                what = f"{name} number {nth} fails with {code}"
                control.forget()
                control.fail(name.encode(), nth, code)
                attempt(work, k, name, code, problems, what)
                control.fail(None, 0, 0)
                settle()
                if name in LEAKS:
                    before = live(control)
                elif live(control) != before:
                    problems.append(f"{what}: leaves {before} -> {live(control)}")
                    before = live(control)
                try:
                    work(k)
                except BaseException as e:
                    problems.append(f"{what}: and then {type(e).__name__}: {e}")
                settle()
                before = live(control) if name in LEAKS else before
                if control.misuse() and name not in LEAKS:
                    raise AssertionError(f"{what}: the driver was used wrongly\n" + "\n".join(problems))
        if count:
            reached.append(name)
    assert not problems, "\n".join(problems)
    print("reached", *reached)


@pytest.mark.parametrize("scenario", [f.__name__ for f in SCENARIOS])
def test_each_call_of_a_scenario_fails(scenario):
    out = standin.run(f"import test_driver_failures as t; t.drive({scenario!r})", PYPTX_STANDIN_DEVICES="2")
    assert out.split("reached ")[-1].split()


def test_the_scenarios_reach_every_call():
    """A new entry of driver.def needs a scenario, or a reason."""
    out = standin.run("""
import test_driver_failures as t
control, k = t.standin.driver(), t.kernels()
t.compiled = {name: t.cuda.jit(f) for name, f in k.items()}
for work in t.SCENARIOS:
    work(k)
t.settle()
print("missing", *[name for name in t.CALLS if not control.calls(name.encode()) and name not in t.UNREACHED])
""", PYPTX_STANDIN_DEVICES="2")
    assert out.split("missing")[-1].split() == []


@pytest.mark.parametrize("name", OPENING)
def test_opening_the_device(name):
    """The first use of the GPU fails, says why, and succeeds when it is tried again."""
    standin.run(f"""
from pyptx import cuda
import numpy as np
from standin import driver
control = driver()
for code in (2, 999):
    control.fail(b"{name}", 1, code)
    try:
        cuda.select_device("gpu")
    except cuda.CudaSupportError as e:
        assert "{name}" in str(e), e
    except (cuda.OutOfMemoryError if code == 2 else cuda.CudaAPIError) as e:
        assert e.call == "{name}" and e.result == code, e
    else:
        assert False
control.fail(None, 0, 0)
x = cuda.to_device(np.arange(4))
assert x.copy_to_host().tolist() == [0, 1, 2, 3] and control.misuse() == 0
""")


def test_local_memory_that_the_device_does_not_have():
    """A launch that wants more than there is says how much that is; what pools keep is given up for it first."""
    standin.run("""
import numpy as np, pytest
from pyptx import cuda
from standin import driver
control = driver()
LOCAL = 3
@cuda.jit
def kernel(x):
    a = cuda.local.array(60000, np.float64)
    for k in range(x.size):
        a[k] = x[k]
    x[0] = a[x.size - 1]
control.set_attribute(LOCAL, 480000)
x = cuda.to_device(np.zeros(4))
kernel[1, 1](x)
control.forget()
control.fail(b"cuLaunchKernel", 1, 2)
kernel[1, 1](x)  # once more, with what was freed but kept
assert control.fired() and control.calls(b"cuLaunchKernel") == 2 and control.calls(b"cuMemPoolTrimTo") == 1
control.stick(2)
with pytest.raises(cuda.OutOfMemoryError, match=r"(?s)kernel 'kernel': 480000 bytes of local memory a thread are [\\d.]+ [GM]B for the \\d+ threads that .* can run at once.*help: use smaller local arrays"):
    kernel[1, 1](x)
control.stick(0)
control.forget()
control.fail(b"cuLaunchKernel", 1, 1)
with pytest.raises(ValueError, match=r"(?s)kernel 'kernel': the driver refused 480000 bytes of local memory a thread; with the stack 524288 are the most.*help: use smaller local arrays"):
    kernel[1, 1](x)
control.set_attribute(LOCAL, 0)
kernel[1, 1](x)
""")
