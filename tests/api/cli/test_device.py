"""Devices: which one a thread uses, what it says of itself, and PYPTX_DEVICE."""

import os
import pickle
import re
import subprocess
import sys
import threading

import pytest

from pyptx import cuda


@pytest.fixture(autouse=True)
def selected_before():
    """Leaves the selection as it was."""
    device = cuda.get_current_device()
    yield
    cuda.select_device(device)


def python(code, **env):
    """Runs code in a process of its own, where nothing has chosen a device yet."""
    full = {k: v for k, v in os.environ.items() if k != "PYPTX_DEVICE"}
    done = subprocess.run([sys.executable, "-c", "from pyptx import cuda\n" + code], env={**full, **env}, capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stdout.strip(), done.stderr


# --- a device --------------------------------------------------------------------------------------------------------


def test_identity(device):
    d = cuda.get_current_device()
    assert d.is_host == (device == "host")
    assert d.id == (-1 if d.is_host else 0)
    assert isinstance(d.name, str) and d.name
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", d.uuid)
    major, minor = d.compute_capability
    assert (major, minor) == (0, 0) if d.is_host else major >= 7
    assert d.name in repr(d)
    assert d is cuda.get_current_device() and d == cuda.get_current_device() and hash(d) == hash(cuda.get_current_device())


def test_attributes_by_name():
    d = cuda.get_current_device()
    assert d.WARP_SIZE == d.CU_DEVICE_ATTRIBUTE_WARP_SIZE == 32
    assert d.MAX_THREADS_PER_BLOCK == 1024
    assert d.MULTIPROCESSOR_COUNT >= 1
    assert d.MAX_SHARED_MEMORY_PER_BLOCK >= 48 * 1024
    assert "WARP_SIZE" in dir(d) and "name" in dir(d) and "CLUSTER_LAUNCH" in dir(d)
    with pytest.raises(AttributeError, match="NO_SUCH_THING"):
        d.NO_SUCH_THING
    with pytest.raises(AttributeError):
        d.name = "other"


@pytest.mark.host_only("a CPU does not have every attribute of a GPU")
def test_attributes_that_a_cpu_lacks():
    d = cuda.get_current_device()
    with pytest.raises(AttributeError, match="the host device has no attribute 'MAX_PITCH'\n  help: ask a GPU"):
        d.MAX_PITCH
    assert not hasattr(d, "MAX_PITCH") and getattr(d, "CU_DEVICE_ATTRIBUTE_CLOCK_RATE", 7) == 7


def test_devices_pickle_by_number():
    d = cuda.get_current_device()
    assert pickle.loads(pickle.dumps(d)) is d


def test_devices_are_not_made_by_hand():
    with pytest.raises(TypeError):
        type(cuda.get_current_device())()


def test_memory_info():
    free, total = cuda.get_current_device().memory_info()
    assert 0 < free <= total


# --- the current device ------------------------------------------------------------------------------------------------


def test_select_host_and_back():
    before = cuda.get_current_device()
    host = cuda.select_device("host")
    assert host.is_host and cuda.get_current_device() is host
    assert cuda.select_device(before) is before and cuda.get_current_device() is before


def test_a_selection_for_a_block():
    before = cuda.get_current_device()
    with cuda.select_device("host") as host:
        assert host.is_host and cuda.get_current_device() is host
        with pytest.raises(ZeroDivisionError), cuda.select_device(before):
            assert cuda.get_current_device() is before
            1 / 0
        assert cuda.get_current_device() is host
    assert cuda.get_current_device() is before
    cuda.select_device("host")
    with cuda.select_device(before):                    # another selection in between: its own end
        pass
    assert cuda.get_current_device() is host
    with host:                                          # which was selected already, and stays so
        pass
    assert cuda.get_current_device() is host
    cuda.close()
    assert cuda.get_current_device() is before


def test_selection_is_a_thread_s_own():
    before, seen = cuda.get_current_device(), []

    def other():
        seen.append(cuda.get_current_device())
        seen.append(cuda.select_device("host"))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen[0] is before and seen[1].is_host and cuda.get_current_device() is before


def test_a_device_is_a_context():
    before = cuda.get_current_device()
    host = cuda.select_device("host")
    cuda.select_device(before)
    with host as inside:
        assert inside is host and cuda.get_current_device() is host
        with pytest.raises(ZeroDivisionError), before:
            assert cuda.get_current_device() is before
            1 / 0
        assert cuda.get_current_device() is host
    assert cuda.get_current_device() is before


@pytest.mark.parametrize("bad, error", [("toaster", ValueError), (1.5, TypeError), (None, TypeError), ([], TypeError),
                                        (-2, ValueError), (10**30, (OverflowError, ValueError))])
def test_no_such_device(bad, error):
    with pytest.raises(error):
        cuda.select_device(bad)


def test_a_gpu_that_is_not_there():
    from pyptx.errors import NoDeviceError, NoDriverError

    with pytest.raises((NoDeviceError, NoDriverError)) as caught:
        cuda.select_device(1000)
    assert "help:" in str(caught.value)


def test_gpus():
    assert len(cuda.gpus) == len(list(cuda.gpus)) == len(cuda.list_devices())
    if len(cuda.gpus):
        with cuda.gpus[0] as d:
            assert cuda.gpus.current is not None and d.id in (0, -1)
    with pytest.raises((IndexError, RuntimeError)):
        cuda.gpus[1000]


def test_questions_that_never_fail(device):
    assert cuda.is_available() is True or device == "host"
    assert cuda.detect() in (True, False)
    assert cuda.is_supported_version() in (True, False) and cuda.is_float16_supported() and cuda.is_bfloat16_supported()


def test_profiling_is_quiet_where_there_is_no_profiler():
    assert cuda.profile_start() is None and cuda.profile_stop() is None
    with pytest.raises(KeyError), cuda.profiling():
        raise KeyError


def test_cuda_error(device):
    """None where a GPU can be used, else why not: whatever device kernels run on."""
    why = cuda.cuda_error()
    assert why is None if cuda.is_available() else isinstance(why, str) and why
    assert device == "host" or why is None


def test_synchronize():
    assert cuda.synchronize() is None and cuda.get_current_device().synchronize() is None


def test_reset_of_the_host_changes_nothing():
    cuda.select_device("host").reset()
    a = cuda.to_device([1.0, 2.0])
    assert a.copy_to_host().tolist() == [1.0, 2.0]


def test_close_forgets_the_selection():
    before = cuda.get_current_device()
    cuda.select_device("host")
    cuda.close()
    assert cuda.get_current_device() is before


# --- PYPTX_DEVICE ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["auto", "", None])
def test_auto_is_the_best_there_is(choice):
    env = {} if choice is None else {"PYPTX_DEVICE": choice}
    code, out, err = python("print(cuda.get_current_device().is_host, cuda.is_available())", **env)
    assert code == 0, err
    assert out in ("True False", "False True", "True True")


def test_host_is_the_host():
    code, out, err = python("print(cuda.get_current_device().is_host)", PYPTX_DEVICE="host")
    assert (code, out) == (0, "True"), err


def test_a_bad_choice_is_told_when_a_device_is_needed():
    code, _, err = python("print('imported'); cuda.get_current_device()", PYPTX_DEVICE="toaster")
    assert code == 1
    assert "ValueError: PYPTX_DEVICE is 'toaster': it must be gpu, host, python or auto" in err


def test_gpu_without_one_says_what_to_do():
    code, _, err = python("cuda.get_current_device()", PYPTX_DEVICE="gpu", PYPTX_DRIVER="/nowhere/libcuda.so.1")
    assert code == 1
    assert "NoDriverError" in err and "/nowhere/libcuda.so.1" in err and "help:" in err


def test_auto_without_a_driver_is_the_host():
    code, out, err = python("print(cuda.get_current_device().is_host, cuda.is_available(), len(cuda.gpus), cuda.gpus[0].is_host)",
                            PYPTX_DRIVER="/nowhere/libcuda.so.1")
    assert (code, out) == (0, "True False 0 True"), err
