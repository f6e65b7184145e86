"""On which stream a launch with other libraries' arrays runs, and what is ordered with it: seen by the stand-in driver."""

import standin
from standin import needs_standin

HEAD = """
import numpy as np
import dlpack_fake as fake
from pyptx import cuda
from standin import driver, order

control = driver()
kernel = cuda.jit(lambda x, y, z: None)

class Interface:
    def __init__(self, d, stream):
        self.__cuda_array_interface__ = {**d.__cuda_array_interface__, "stream": stream}

class Library:
    # One with a stream of its own that is current, and tensors by the C exchange API.
    def __init__(self):
        self.own = cuda.stream()
        self.handle = self.own.handle
        self.made = fake.Library()
        self.made.stream = self.handle
        self.type = fake.exchange_class(self.made)

    def tensor(self, d, device=0):
        return self.type(np.zeros(d.shape, d.dtype), data=d.gpu_data.device_pointer, device_type=2, device_id=device)

d = cuda.to_device(np.zeros(8))
a, b, mine = Library(), Library(), cuda.stream()
kernel[1, 1](d, d, d)
names = {"a": a.handle, "b": b.handle, "mine": mine.handle}

def launch(*args, stream=0):
    control.forget()
    kernel[1, 1, stream](*args)
    return order(control, **names)
"""


def run(source, **env):
    standin.run(HEAD + source, **env)


@needs_standin
def test_one_library():
    run("""
assert launch(a.tensor(d), a.tensor(d), 1) == ["launch a"]
a.made.stream = 0
assert launch(a.tensor(d), a.tensor(d), 1) == ["launch default"]
assert launch(d, a.tensor(d), 1) == ["launch default"]
""")


@needs_standin
def test_arrays_of_ours_are_in_order_too():
    run("""
expected = ["a after default", "launch a", "default after a"]
assert launch(d, a.tensor(d), 1) == expected
assert launch(a.tensor(d), np.zeros(3), 1) == expected
assert launch((1, (a.tensor(d), 2)), d, 1) == expected
""")


@needs_standin
def test_two_libraries():
    run("""
assert launch(a.tensor(d), b.tensor(d), 1) == ["a after b", "launch a", "b after a"]
assert launch(b.tensor(d), d, a.tensor(d)) == ["b after a", "b after default", "launch b", "a after b", "default after b"]
assert launch(a.tensor(d), Interface(d, b.handle), 1) == ["b after a", "launch b", "a after b"]
""")


@needs_standin
def test_the_stream_of_the_array_interface():
    run("""
assert launch(Interface(d, a.handle), 1, 1) == ["launch a"]
for default in (None, 1):
    assert launch(Interface(d, default), 1, 1) == ["launch default"]
assert launch(Interface(d, a.handle), 1, 1, stream=mine) == ["mine after a", "launch mine"]
assert launch(Interface(d, a.handle), 1, 1, stream=a.own) == ["launch a"]
assert launch(Interface(d, 1), d, 1, stream=mine) == ["mine after default", "launch mine"]
assert launch(Interface(d, None), d, 1, stream=mine) == launch(d, d, 1, stream=mine) == ["launch mine"]
""")


@needs_standin
def test_synchronisation_can_be_left_to_the_user():
    run('assert launch(Interface(d, a.handle), d, 1) == ["launch default"]', PYPTX_CAI_SYNC="0")


@needs_standin
def test_a_stream_that_is_named_is_used():
    run("""
assert launch(a.tensor(d), b.tensor(d), d, stream=mine)[-1] == "launch mine"
assert set(launch(a.tensor(d), b.tensor(d), 1, stream=mine)) == {"mine after a", "mine after b", "launch mine"}
assert launch(a.tensor(d), 1, 1, stream=a.own) == ["launch a"]
a.made.stream = 0
assert launch(a.tensor(d), 1, 1, stream=cuda.legacy_default_stream()) == ["launch default"]
""")


@needs_standin
def test_many_libraries():
    run("""
libraries = [Library() for _ in range(9)]
one = cuda.jit(lambda x: None)

def together(n):
    control.forget()
    one[1, 1](tuple(l.tensor(d) for l in libraries[:n]))
    return order(control, **{str(i): l.handle for i, l in enumerate(libraries)})

assert together(8) == [f"0 after {i}" for i in range(1, 8)] + ["launch 0"] + [f"{i} after 0" for i in range(1, 8)]
try:
    together(9)
except ValueError as e:
    assert "more than 8 streams" in str(e)
else:
    raise AssertionError
""")


@needs_standin
def test_streams_that_are_captured_are_left_alone():
    run("""
control.capture(a.handle)
assert launch(a.tensor(d), b.tensor(d), d) == ["launch a"]
control.capture(None)
""")


@needs_standin
def test_events_are_kept():
    run("""
launch(a.tensor(d), b.tensor(d), d)
events = control.live(5)
for _ in range(100):
    launch(a.tensor(d), b.tensor(d), d)
assert control.live(5) == events and control.calls(b"cuEventCreate") == 0
""")


@needs_standin
def test_failures_on_the_way():
    """Each call of an ordered launch fails in turn: an exception, nothing leaks, and the next launch works."""
    run("""
launch(a.tensor(d), b.tensor(d), d)
events = control.live(5)
for call in (b"cuEventRecord", b"cuStreamWaitEvent", b"cuLaunchKernel"):
    for nth in (1, 2, 3, 4):
        control.forget()
        control.fail(call, nth, 999)
        try:
            kernel[1, 1](a.tensor(d), b.tensor(d), d)
        except cuda.CudaAPIError as e:
            assert call.decode() in str(e), e
        else:
            assert not control.fired(), (call, nth)
control.forget()
assert launch(a.tensor(d), 1, 1) == ["launch a"]
assert control.live(5) == events and control.misuse() == 0
""")


@needs_standin
def test_capsules_order_their_consumer():
    run("""
def export(**arguments):
    control.forget()
    d.__dlpack__(**arguments)
    return order(control, **names)

assert export() == export(stream=1) == export(stream=-1) == []
assert export(stream=a.handle) == ["a after default"]
on_mine = cuda.device_array(8, stream=mine)
d = on_mine
assert export(stream=mine.handle) == [] and export(stream=1) == ["default after mine"]
assert export(stream=-1) == []
""")


@needs_standin
def test_producers_are_told_our_stream():
    run("""
class Producer(fake.Fake):
    pass

x = Producer(np.zeros(8), data=d.gpu_data.device_pointer, device_type=2)
launch(x, 1, 1)
launch(x, 1, 1, stream=mine)
cuda.from_dlpack(x)
assert [c[0] for c in x.library.calls] == [1, mine.handle, 1] and x.library.live == 0
""")


@needs_standin
def test_arrays_of_another_gpu():
    run("""
def refused(*args, error=ValueError):
    try:
        launch(*args)
    except error as e:
        return str(e)
    raise AssertionError("not refused")

assert "GPU 1" in refused(a.tensor(d, device=1), 1, 1)
with cuda.gpus[1]:
    there = cuda.to_device(np.zeros(8))
assert "GPU 1" in refused(Interface(there, None), 1, 1)
x = fake.Fake(np.zeros(8), data=there.gpu_data.device_pointer, device_type=2, device_id=1)
assert "GPU 1" in refused(x, 1, 1) and x.library.live == 0
try:
    cuda.as_cuda_array(Interface(there, None))
except ValueError as e:
    assert "GPU 1" in str(e)
assert "host memory" in refused(fake.Fake(np.zeros(3)), 1, 1, error=TypeError)
assert there.__dlpack_device__() == (2, 1) and d.__dlpack_device__() == (2, 0)
with cuda.gpus[1]:
    assert cuda.from_dlpack(there).device.id == 1
""", PYPTX_STANDIN_DEVICES="2")


@needs_standin
def test_cupy():
    """CuPy's attributes, and its current stream."""
    run("""
import sys, types

class Pointer:
    def __init__(self, ptr, device_id):
        self.ptr, self.device_id = ptr, device_id

cupy, cuda_module = types.ModuleType("cupy"), types.ModuleType("cupy.cuda")
current = types.SimpleNamespace(ptr=0)
cuda_module.get_current_stream = lambda: current
ndarray = type("ndarray", (), {"__module__": "cupy"})
cupy.ndarray, cupy.cuda = ndarray, cuda_module
sys.modules["cupy"], sys.modules["cupy.cuda"] = cupy, cuda_module

def array(d, device=0):
    x = ndarray()
    x.data, x.dtype, x.shape, x.strides = Pointer(d.gpu_data.device_pointer, device), d.dtype, d.shape, d.strides
    return x

assert launch(array(d), array(d), 1) == ["launch default"]
current.ptr = a.handle
assert launch(array(d), array(d), 1) == ["launch a"]
assert launch(array(d), d, b.tensor(d)) == ["a after b", "a after default", "launch a", "b after a", "default after a"]
for bad in ({"shape": 3}, {"strides": (1,) * 17}, {"data": None}, {"dtype": np.dtype("U3")}, {"dtype": 5}):
    x = array(d)
    x.__dict__.update(bad)
    try:
        launch(x, 1, 1)
    except (TypeError, AttributeError):
        pass
    else:
        raise AssertionError(bad)
try:
    launch(array(d, 1), 1, 1)
except ValueError as e:
    assert "GPU 1" in str(e)
else:
    raise AssertionError
""")


@needs_standin
def test_bound_launches_follow_too():
    """The stream that is current at the call, not at bind."""
    run("""
launch = kernel[1, 1].bind(a.tensor(d), d, 1)
for stream, expected in ((a.handle, ["a after default", "launch a", "default after a"]), (0, ["launch default"]),
                         (b.handle, ["b after default", "launch b", "default after b"])):
    a.made.stream = stream
    control.forget()
    launch()
    assert order(control, **names) == expected
control.forget()
kernel[1, 1, mine].bind(a.tensor(d), d, 1)()
assert order(control, **names) == ["mine after b", "launch mine"]
""")


@needs_standin
def test_memory_is_freed_behind_the_default_stream_too():
    """A stream made elsewhere need not wait for the default stream, so a free on it alone would come too early."""
    run("""
def freed(stream):
    x = cuda.device_array(4)
    kernel[1, 1, stream](x, 1, 1)
    kernel[1, 1](x, 1, 1)
    control.forget()
    del x
    return order(control, **names)

theirs = cuda.external_stream(a.handle)
assert freed(theirs) == ["a after default"]
assert freed(mine) == []                                # one of ours waits by itself
assert freed(0) == []
assert freed(cuda.legacy_default_stream()) == []
with cuda.graph() as g:
    pass
names["g"] = g.stream.handle
assert freed(g.stream) == ["g after default"]           # made so that it does not
""")
