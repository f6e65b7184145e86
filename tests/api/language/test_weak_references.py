"""Weak references to every kind of object that programs keep: they do not keep it alive, and are told when it goes."""

import gc
import threading
import weakref

import numpy as np
import pytest
from pyptx import _pyptx, cuda, float32


@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1


def device_array():
    return cuda.to_device(np.arange(4.0))


def captured():
    x = device_array()
    with cuda.graph() as g:
        add_one[1, 4](x)
    return g


def compiled():
    kernel = cuda.jit(lambda x: None)
    kernel[1, 1](device_array())
    return next(iter(kernel.overloads.values()))


MAKERS = {
    "DeviceArray": device_array,
    "a view": lambda: device_array()[1:3],
    "a field": lambda: cuda.to_device(np.zeros(3, "i4, f8"))["f1"],
    "Memory": lambda: device_array().gpu_data,
    "Stream": cuda.stream,
    "Event": cuda.event,
    "Graph": captured,
    "GraphNode": lambda: captured().nodes[0],
    "Dispatcher": lambda: cuda.jit(lambda x: None),
    "CompiledKernel": compiled,
    "Launcher": lambda: add_one[1, 4],
    "BoundLaunch": lambda: add_one[1, 4].bind(device_array()),
    "Type": lambda: float32[:, ::1],
    "a signature": lambda: float32(float32),
    "pinned memory": lambda: cuda.pinned_array(4),
    "mapped memory": lambda: cuda.mapped_array(4),
    "managed memory": lambda: cuda.managed_array(4),
    "HostMemory": lambda: host_memory(),
}


def host_memory():
    base = cuda.pinned_array(4)
    while isinstance(base, np.ndarray):
        base = base.base
    return base.obj if isinstance(base, memoryview) else base


def test_every_type_has_them():
    types = [t for t in vars(_pyptx).values() if isinstance(t, type)]
    assert len(types) >= 14 and not [t for t in types if not t.__weakrefoffset__]
    for lasting in cuda.get_current_device(), cuda.grid, cuda.atomic, cuda.current_context():
        assert weakref.ref(lasting)() is lasting


@pytest.mark.parametrize("kind", MAKERS)
def test_they_end_with_the_object(kind):
    made = MAKERS[kind]()
    told = []
    first, second = weakref.ref(made, told.append), weakref.ref(made)
    kept = weakref.WeakValueDictionary(it=made)
    assert first() is made and second() is made and kept["it"] is made
    weakref.finalize(made, told.append, "finalized")
    if type(made).__hash__ and kind not in ("DeviceArray", "a view", "a field"):  # == of arrays is elementwise, as NumPy's
        assert made in weakref.WeakSet([made])
    del made
    gc.collect()
    assert first() is None and second() is None and not kept
    assert len(told) == 2 and any(t is first for t in told) and "finalized" in told


@pytest.mark.parametrize("kind", MAKERS)
def test_a_reference_may_go_first(kind):
    made = MAKERS[kind]()
    told = []
    reference = weakref.ref(made, told.append)
    del reference
    del made
    gc.collect()
    assert not told


def test_in_a_cycle():
    """The collector's way: nothing is seen through a weak reference that was found dead with it."""
    class Owner:
        def __init__(self):
            self.array = device_array()

    owner = Owner()
    owner.view = _pyptx._array_at(owner.array.gpu_data.device_pointer, 32, np.float64, (4,), None, owner, False)[1:]
    told = []
    references = [weakref.ref(thing, lambda _: told.append([r() for r in references])) for thing in (owner, owner.view)]
    del owner
    gc.collect()
    assert [r() for r in references] == [None, None] and told == [[None, None]] * 2


def test_many_threads_refer_to_one():
    shared = [make() for kind, make in MAKERS.items() if kind in ("DeviceArray", "Stream", "Event", "Graph", "Launcher")]
    wrong = []

    def work():
        for _ in range(300):
            references = [weakref.ref(thing, lambda _: None) for thing in shared]
            wrong.extend(r for r, thing in zip(references, shared) if r() is not thing)
            own = device_array()
            reference = weakref.ref(own)
            del own
            if reference() is not None:
                wrong.append(reference)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
