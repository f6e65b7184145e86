"""Two GPUs of one machine: kernels, copies and streams across them, from several threads."""

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
        with pytest.raises(ValueError, match=r"argument 1 lives on GPU 0 .* runs on GPU 1"):
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
