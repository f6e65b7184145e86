"""Two GPUs of one machine: kernels, copies and streams across them, from several threads, beside other libraries that choose one."""

import ctypes
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from pyptx import cuda


@pytest.fixture(autouse=True)
def two_gpus():
    if len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")


@cuda.jit
def fill(x, v):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = v * i


@pytest.mark.parametrize("n", [1, 1000, 1 << 24])
def test_copies_between_gpus(n):
    with cuda.gpus[0]:
        a, s = cuda.device_array(n), cuda.stream()
        fill[256, 256](a, 3.0)
    with cuda.gpus[1]:
        b, t = cuda.device_array(n), cuda.stream()
        b.copy_to_device(a)  # behind the kernel on GPU 0
        fill[256, 256](b[: n // 2], 5.0)
        expected = 3.0 * np.arange(n)
        expected[: n // 2] = 5.0 * np.arange(n // 2)
        assert np.array_equal(b.copy_to_host(), expected)
        c = cuda.to_device(a, stream=t)
        t.synchronize()
        assert c.device.id == 1 and np.array_equal(c.copy_to_host(), 3.0 * np.arange(n))
    a.copy_to_device(b, stream=s)
    s.synchronize()
    assert np.array_equal(a.copy_to_host(), expected)


def test_a_thread_for_each_gpu():
    wrong = []

    def work(k):
        with cuda.gpus[k]:
            for n in range(200):
                x = cuda.device_array(10_000)
                fill[20, 128](x, k + n)
                if n % 20 == 0 and not np.array_equal(x.copy_to_host(), (k + n) * np.arange(10_000.0)):
                    wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_what_belongs_to_another_gpu_is_refused():
    with cuda.gpus[0]:
        x, s = cuda.device_array(4), cuda.stream()
    with cuda.gpus[1]:
        with pytest.raises(ValueError, match=r"argument 1.* lives on GPU 0 .* runs on GPU 1"):
            fill[1, 4](x, 1.0)
        with pytest.raises(ValueError, match=r"the stream belongs to GPU 0"):
            fill[1, 4, s](cuda.device_array(4), 1.0)
    assert cuda.get_current_device().id == 0


@pytest.mark.alone
def test_memory_is_freed_on_its_own_gpu():
    with cuda.gpus[1]:
        before = cuda.current_context().get_memory_info().free
    for _ in range(50):
        with cuda.gpus[1]:
            x = cuda.device_array(1 << 27, np.uint8)
        del x  # while GPU 0 is current
    cuda.gpus[1].synchronize()
    with cuda.gpus[1]:
        assert before - cuda.current_context().get_memory_info().free < 1 << 31


# --- beside libraries that choose a GPU --------------------------------------------------------------------------------------


class Driver:
    """What every such library does in the end, with arrays of pyptx: contexts of the driver."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ.get("PYPTX_DRIVER", "libcuda.so.1"))

    def set_device(self, i):
        context = ctypes.c_void_p()
        assert self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), i) == 0
        assert self.library.cuCtxSetCurrent(context) == 0

    def device(self):
        device = ctypes.c_int()
        return device.value if self.library.cuCtxGetDevice(ctypes.byref(device)) == 0 else None

    def zeros(self, n):
        return cuda.to_device(np.zeros(n))

    def numpy(self, x):
        return x.copy_to_host()

    def device_of(self, x):
        return x.device.id

    def block(self, i):
        return cuda.gpus[i]


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")

    def set_device(self, i):
        self.torch.cuda.set_device(i)

    def device(self):
        return self.torch.cuda.current_device()

    def zeros(self, n):
        return self.torch.zeros(n, device="cuda", dtype=self.torch.float64)

    def numpy(self, x):
        return x.cpu().numpy()

    def device_of(self, x):
        return x.device.index

    def block(self, i):
        return self.torch.cuda.device(i)


class Cupy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")

    def set_device(self, i):
        self.cupy.cuda.Device(i).use()

    def device(self):
        return self.cupy.cuda.runtime.getDevice()

    def zeros(self, n):
        return self.cupy.zeros(n)

    def numpy(self, x):
        with self.cupy.cuda.Device(self.device_of(x)):
            return self.cupy.asnumpy(x)

    def device_of(self, x):
        return x.device.id

    def block(self, i):
        return self.cupy.cuda.Device(i)


@pytest.fixture(params=[Driver, Torch, Cupy], ids=["driver", "torch", "cupy"])
def library(request):
    library = request.param()
    library.set_device(0)
    yield library
    cuda.close()
    library.set_device(0)


def here():
    return cuda.get_current_device().id


def check(library, x, v):
    assert np.array_equal(library.numpy(x), v * np.arange(x.shape[0]))


def test_launches_follow_the_device_that_the_library_chose(library):
    for i in (1, 0, 1, 1, 0):
        library.set_device(i)
        x = library.zeros(1000)
        fill[8, 128](x, i + 2.0)
        y = cuda.device_array(1000)
        fill[8, 128](y, i + 3.0)
        assert here() == i == library.device() == library.device_of(x) == y.device.id
        check(library, x, i + 2.0)
        assert np.array_equal(y.copy_to_host(), (i + 3.0) * np.arange(1000))
    with library.block(1):
        x = library.zeros(10)
        fill[1, 32](x, 5.0)
        assert here() == 1
    check(library, x, 5.0)
    assert here() == 0 == library.device()


@pytest.mark.parametrize("first", [0, 1])
def test_a_block_leaves_the_librarys_device_alone(library, first):
    library.set_device(first)
    for other in (1 - first, first):
        with cuda.gpus[other]:
            assert library.device() == other == library.device_of(library.zeros(4))
            fill[1, 32](library.zeros(10), 1.0)
            with cuda.gpus[1 - other]:
                fill[1, 32](library.zeros(10), 1.0)
            assert library.device() == other
        assert library.device() == first == library.device_of(library.zeros(4))
    with pytest.raises(KeyError), cuda.gpus[1 - first]:
        raise KeyError
    assert library.device() == first == here()
    x = library.zeros(100)
    fill[1, 128](x, 2.0)
    check(library, x, 2.0)


def test_what_is_done_on_the_other_gpu_leaves_the_librarys_device_alone(library):
    n = 1 << 21
    with cuda.gpus[1]:
        y, s, e = cuda.to_device(np.arange(float(n))), cuda.stream(), cuda.event()
        with cuda.graph() as g:
            fill[64, 128](y, 3.0)
        bound = fill[64, 128].bind(y, 4.0)
        things = [cuda.device_array(1 << 25), cuda.stream(), cuda.event(), cuda.pinned_array(100), cuda.mapped_array(100),
                  cuda.managed_array(100), g, fill[64, 128].bind(y, 5.0)]
    a, x = np.arange(float(n)), cuda.device_array(n)
    work = [
        lambda: y.copy_to_device(a), lambda: y.copy_to_host(), lambda: y[::3].copy_to_host(), lambda: y[5:].copy_to_host(),
        lambda: x.copy_to_device(y), lambda: y.copy_to_device(x, stream=s), lambda: e.record(s), lambda: (e.query(), e.synchronize()),
        lambda: e.wait(s), s.synchronize, lambda: g.launch(s), g.launch, bound, lambda: y.__setitem__(slice(2, 9), 1.0),
        cuda.gpus[1].synchronize, cuda.gpus[1].memory_info, lambda: cuda.trim_memory(device=1), lambda: cuda.gpus[1].name,
    ]
    for f in work:
        f()
        assert library.device() == 0 == here(), work.index(f)
    bound()
    assert np.array_equal(y.copy_to_host(), 4 * a)
    g = None
    while things:
        kind = type(things.pop())
        gc.collect()
        assert library.device() == 0 == library.device_of(library.zeros(3)), kind
    ring = [cuda.gpus, []]  # freed by the collector, in the middle of the library's own work
    with cuda.gpus[1]:
        ring[1] += [ring, cuda.device_array(1 << 25), cuda.stream()]
    del ring
    gc.collect()
    assert library.device() == 0


def test_what_was_selected_holds_and_the_librarys_device_too(library):
    """The context is not the one that the launch expects: it is told so, launches in its own, and puts the other one back."""
    x = library.zeros(1000)
    cuda.select_device(1)
    assert library.device() == 1
    y, s = cuda.device_array(1000), cuda.stream()
    for v in range(1, 6):
        fill[8, 128](y, float(v))  # the short way: GPU 1 is current
        library.set_device(0)
        fill[8, 128, (0, s)[v % 2]](y[:500], 10.0 * v)  # no longer
        assert library.device() == 0 and here() == 1
        fill[8, 128, (s, 0)[v % 2]](y[500:], 20.0 * v)
        s.synchronize()
        assert library.device() == 0
        expected = np.r_[10.0 * v * np.arange(500), 20.0 * v * np.arange(500)]
        assert np.array_equal(y.copy_to_host(), expected)
        with pytest.raises(ValueError, match="GPU 0.* GPU 1"):
            fill[8, 128](x, 1.0)
        library.set_device(1)
    library.set_device(0)
    cuda.close()
    assert here() == 0
    fill[8, 128](x, 7.0)
    check(library, x, 7.0)


@cuda.jit
def meet(x):
    i = cuda.grid(1)
    x[i] = i
    cuda.cg.this_grid().sync()
    x[i] += x[x.size - 1 - i] * 0 + x.size - i


@pytest.mark.skipif("PYPTX_ON_PTX" in os.environ, reason="threads that wait for others do not run there")
def test_cooperative_launches_and_clusters_when_the_context_has_changed(library):
    cuda.select_device(1)
    y = cuda.device_array(256)
    clustered = fill.configure(4, 64, cluster=2) if cuda.get_current_device().compute_capability >= (9, 0) else fill[4, 64]
    for v in (1.0, 2.0):
        for launch, expected in ((lambda: meet[2, 128](y), np.full(256, 256.0)), (lambda: clustered(y, v), v * np.arange(256))):
            library.set_device(1)
            fill[4, 64](y, 0.0)
            library.set_device(0)
            launch()
            assert library.device() == 0
            assert np.array_equal(y.copy_to_host(), expected)


def test_an_array_of_the_other_gpu_is_refused_with_what_to_do(library):
    x = library.zeros(10)
    library.set_device(1)
    with pytest.raises(ValueError, match=r"lives on GPU 0.*GPU 1.*with (cuda.gpus\[0\]|array.device):"):
        fill[1, 32](x, 1.0)
    assert library.device() == 1
    with cuda.gpus[0]:
        fill[1, 32](x, 1.0)
    check(library, x, 1.0)


def test_a_capture_beside_the_other_gpu(library):
    library.set_device(1)
    x = cuda.device_array(100)
    fill[1, 128](x, 0.0)
    with cuda.gpus[0]:
        y = cuda.device_array(100)
        fill[1, 128](y, 0.0)
    with cuda.graph() as g:
        fill[1, 128](x, 6.0)
        with cuda.gpus[0]:
            fill[1, 128](y, 7.0)  # not captured: done now
        assert library.device() == 1
    assert np.array_equal(y.copy_to_host(), 7.0 * np.arange(100)) and not x.copy_to_host().any()
    library.set_device(0)
    g.launch()
    cuda.gpus[1].synchronize()
    assert library.device() == 0 and np.array_equal(x.copy_to_host(), 6.0 * np.arange(100))


def test_eight_threads_that_choose(library):
    wrong = []

    def work(k):
        own, other = k % 2, 1 - k % 2
        try:
            if k < 4:
                library.set_device(own)
            else:
                cuda.select_device(own)
            for n in range(100):
                x = library.zeros(1000)
                fill[8, 128](x, float(k + n))
                with cuda.gpus[other]:
                    y = library.zeros(1000)
                    fill[8, 128](y, float(n))
                    check(library, y, float(n))
                z = cuda.device_array(1000)
                z.copy_to_device(cuda.as_cuda_array(x))
                del y
                if library.device_of(x) != own or here() != own or library.device() != own or not np.array_equal(z.copy_to_host(), (k + n) * np.arange(1000.0)):
                    wrong.append((k, n))
        except Exception as e:
            wrong.append((k, e))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and library.device() == 0 == here()


def test_a_new_thread_starts_with_the_default(library):
    library.set_device(1)
    seen = []
    assert here() == 1
    with cuda.gpus[1]:
        arrays = [cuda.device_array(1 << 25)]

    def work():
        arrays.clear()  # what frees there leaves no context behind
        gc.collect()
        x = cuda.device_array(10)
        fill[1, 32](x, 1.0)
        seen.append((x.device.id, library.device()))

    t = threading.Thread(target=work)
    t.start()
    t.join()
    assert seen == [(0, 0)] and here() == 1 == library.device()


@pytest.mark.parametrize("order", ["the library first", "pyptx first"])
def test_processes_of_torchrun(order):
    Torch()
    program = """
import os, sys
import numpy as np
import torch
from pyptx import cuda

rank, order = int(os.environ["LOCAL_RANK"]), sys.argv[1]

@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]

if order == "pyptx first":
    assert cuda.get_current_device().id == 0
torch.cuda.set_device(rank)
x = torch.arange(1000.0, device="cuda")
y = cuda.device_array(1000, np.float32)
double[8, 128](x, y)
assert x.device.index == rank == y.device.id == torch.cuda.current_device()
assert torch.equal(torch.from_dlpack(y), 2 * x)
print("rank", rank)
"""
    workers = [
        subprocess.Popen([sys.executable, "-c", program, order], env={**os.environ, "LOCAL_RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    assert [w.communicate(timeout=120)[0] for w in workers] == ["rank 0\n", "rank 1\n"]
