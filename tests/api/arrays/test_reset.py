"""What goes on after device.reset(): kernels are loaded again when a launch wants them, and what is gone says so. On the stand-in driver, whose
memory is gone with a reset as a GPU's is."""

import os
import subprocess
import sys
import textwrap

import pytest
import standin
from standin import needs_standin

HEAD = """
import numpy as np
from pyptx import cuda, errors
from standin import driver

control = driver()
device = cuda.get_current_device()

@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]

@cuda.jit
def numbers(n):
    pass

def arrays(n=64):
    return [cuda.to_device(np.arange(n, dtype=np.float32)) for _ in range(3)]

def loads():
    return control.calls(b"cuModuleLoadDataEx")

def lost(f):
    try:
        f()
    except errors.ContextLostError as error:
        return str(error)
    assert False, "not refused"
"""


def run(source, **env):
    standin.run(HEAD + textwrap.dedent(source) + "\nassert control.misuse() == 0, control.misuse()\n", **env)


@needs_standin
def test_a_kernel_goes_on_with_new_arrays():
    run("""
    for k in range(12):                                  # more often than a dispatcher keeps plans
        control.forget()
        a = arrays()
        for _ in range(3):
            add[1, 64](*a)
        assert loads() == 1 and control.calls(b"cuLaunchKernel") == 3, (k, loads())
        numbers[1, 1](5)
        numbers[1, 1](6)
        assert loads() == 2 and len(add.overloads) == 1
        device.reset()
    """)


@needs_standin
def test_an_old_array_is_refused_by_launches_and_copies():
    run("""
    old, view = arrays(), arrays()[0][::2]
    for _ in range(3):
        add[1, 64](*old)
    device.reset()
    everywhere = "argument 1 ('x') was made before"
    assert lost(lambda: add[1, 64](*old)).startswith(everywhere)
    new = arrays()
    for _ in range(3):
        add[1, 64](*new)                                 # by a plan from here on
        assert lost(lambda: add[1, 64](*old)).startswith(everywhere)
        text = lost(lambda: add[1, 64](new[0], old[1], new[2]))
    assert text == ("argument 2 ('y') was made before GPU 0 (Stand-in GPU 0) was reset, which took its memory away\\n"
                    "  help: make it again"), text
    for use in (old[0].copy_to_host, view.copy_to_host, lambda: old[0].copy_to_device(np.zeros(64, np.float32)), lambda: old[0][3],
                lambda: new[0].copy_to_device(old[0]), lambda: old[0].copy_to_device(new[0]), lambda: view.__setitem__(..., 1),
                lambda: old[0].copy_to_device(np.zeros(128, np.float32)[::2]), lambda: cuda.to_device(old[0]),
                lambda: old[0].__cuda_array_interface__, lambda: view.__dlpack__(), lambda: old[0].device_ctypes_pointer):
        assert lost(use).startswith("the device array was made before GPU 0"), use
    del old, view
    add[1, 64](*new)
    """)


@needs_standin
def test_bound_launches_and_graphs_are_made_again():
    run("""
    x = arrays()
    bound = add[1, 64].bind(*x)
    with cuda.graph() as g:
        add[1, 64](*x)
    bound()
    device.reset()
    text = lost(bound)
    assert "was reset after the launch of add was bound" in text and "help: bind it again, to new arrays" in text, text
    assert "capture a new one, with cuda.graph()" in lost(g.launch)
    add[1, 64](*arrays())
    lost(bound)
    add[1, 64].bind(*arrays())()
    """)


@needs_standin
def test_a_kernel_that_names_arrays_says_so():
    run("""
    table = arrays()[0]
    @cuda.jit
    def look(out):
        out[0] = table[1]
    look[1, 1](arrays()[0])
    device.reset()
    text = lost(lambda: look[1, 1](arrays()[0]))
    assert "with device arrays among its globals or closure values, which are gone" in text and "cuda.jit(kernel.py_func)" in text, text
    assert "a device array that the kernel names was made before" in lost(lambda: cuda.jit(look.py_func)[1, 1](arrays()[0]))
    table = arrays()[0]
    cuda.jit(look.py_func)[1, 1](arrays()[0])
    """)


@needs_standin
def test_traps_attributes_and_second_entries():
    run("""
    @cuda.jit(exceptions=True)
    def stops(x):
        if x[0] < 0:
            raise ValueError("no")
    fill = cuda.jit(add.py_func)
    for _ in range(3):
        a, big = arrays(), arrays(1 << 20)
        stops[1, 1](a[0])
        cuda.synchronize()
        control.forget()
        fill[4096, 256](*big)
        fill[1, 64](*a)
        assert loads() == 2                              # both entries
        fill.forall(1000)(*big)
        device.reset()
        assert list(fill.get_regs_per_thread().values()) == [32] and loads() == 3
        device.reset()
    """)


@needs_standin
def test_many_threads_launch_after_a_reset():
    run("""
    import threading
    add[1, 64](*arrays())
    device.reset()
    control.forget()
    a, failures = arrays(), []
    def work():
        try:
            for _ in range(50):
                add[1, 64](*a)
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures and loads() == 1, (failures, loads())
    """)


@needs_standin
@pytest.mark.parametrize("call", [b"cuModuleLoadDataEx", b"cuMemHostAlloc", b"cuModuleGetFunction"])
def test_a_failure_while_a_kernel_is_loaded_again(call):
    run(f"""
    @cuda.jit(exceptions=True)
    def stops(x):
        if x[0] < 0:
            raise ValueError("no")
    stops[1, 1](arrays()[0])
    device.reset()
    x = arrays()[0]
    control.fail({call!r}, 1, 2)
    try:
        stops[1, 1](x)
    except errors.DriverError as error:
        assert {call.decode()!r} in error.call, error.call
    else:
        assert False
    stops[1, 1](x)
    """)


RESULTS = """
import numpy as np
import ptx_on_cpu
ptx_on_cpu.choose()
from pyptx import cuda
table = np.arange(8.0)

@cuda.jit(debug=True)
def look(x):
    i = cuda.grid(1)
    if x[i] < 0:
        raise ValueError("negative")
    x[i] += table[i]

for k in range(3):
    x = cuda.to_device(np.arange(8.0))
    look[1, 8](x)
    assert x.copy_to_host().tolist() == [2.0 * i for i in range(8)]
    x[3] = -1
    try:
        look[1, 8](x)
        cuda.synchronize()
    except ValueError as error:
        assert "negative" in str(error) and error.thread == (3, 0, 0)
    else:
        assert False
    cuda.get_current_device().reset()
"""


@needs_standin
def test_constants_and_exceptions_of_a_kernel_that_was_loaded_again():
    """The code itself, run on the CPU."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([os.path.dirname(here), os.path.dirname(os.path.dirname(here)), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYPTX_DEVICE": "ptx", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", RESULTS], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
