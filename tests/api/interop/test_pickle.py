"""Kernels and device arrays in other processes: pickle, cloudpickle, copy, and the pools of multiprocessing, concurrent.futures and joblib."""

import concurrent.futures
import copy
import multiprocessing
import pickle
import subprocess
import sys
import types
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import pyptx
from pyptx import cuda

SCALE, OFFSET = 3, 100


@cuda.jit
def scale(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= SCALE


class Space:
    @cuda.jit
    def one(x):
        x[0] = 1


def ran(kernel, n=5):
    x = np.arange(n, dtype=np.int64)
    kernel[1, n](x)
    return x.tolist()


def in_fresh_process(code, data=b""):
    """What the code prints in a new interpreter; data is its standard input."""
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def main_module(source):
    """Functions and kernels of a notebook: their module is __main__, and no file has their source."""
    space = {"__name__": "__main__", "cuda": cuda}
    exec(source, space)
    return types.SimpleNamespace(**space)


LOAD_AND_RUN = """
import sys, pickle, numpy as np
x = np.arange(5, dtype=np.int64)
for k in pickle.loads(sys.stdin.buffer.read()):
    k[1, 5](x)
print(x.tolist())
"""


# --- by reference --------------------------------------------------------------------------------------------------


def test_a_kernel_of_a_module_pickles_as_its_name():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(scale, protocol)
        assert len(data) < 80 and pickle.loads(data) is scale
    assert pickle.loads(pickle.dumps(Space.one)) is Space.one
    assert cloudpickle.loads(cloudpickle.dumps(scale)) is scale and len(cloudpickle.dumps(scale)) < 80


def made_in_a_function(factor):
    def plain(v):
        return v * factor

    @cuda.jit(device=True)
    def inner(v, shift=1):
        return plain(v) + shift

    @cuda.jit
    def local(x):
        if cuda.grid(1) == 0:
            x[0] = inner(x[0]) + OFFSET

    return local


def test_a_kernel_made_in_a_function_is_pickled_by_value():
    local = made_in_a_function(3)
    data = pickle.dumps(local)
    assert pickle.loads(data) is local  # here it is known
    program = f"""
import pickle, sys, numpy as np
sys.path.append({str(Path(__file__).parent)!r})
launch = pickle.loads({pickle.dumps(local[2, 8])!r})
x = np.array([5.0])
launch(x)
print(launch.griddim, launch.blockdim, x[0])
"""
    assert in_fresh_process(program) == "(2, 1, 1) (8, 1, 1) 116.0"


def test_ufuncs_made_in_a_function_are_pickled_by_value():
    @pyptx.vectorize(["int64(int64)", "float64(float64)"])
    def double(x):
        return x * 2

    @pyptx.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(x, out):
        out[0] = 0
        for v in x:
            out[0] += v

    again, sums = pickle.loads(pickle.dumps(double)), pickle.loads(pickle.dumps(total))
    assert again(np.arange(4)).tolist() == [0, 2, 4, 6] and again.types == double.types
    assert sums(np.ones((2, 3))).tolist() == [3, 3] and pickle.loads(pickle.dumps(again)).types == double.types


def test_a_kernel_of_main_pickles_as_its_name():
    # What multiprocessing does with "spawn": the worker runs the main module under another name and calls it __main__.
    program = """
import pickle, sys
from pyptx import cuda
@cuda.jit
def kernel(x):
    x[cuda.threadIdx.x] += 1
data = pickle.dumps(kernel)
assert pickle.loads(data) is kernel
print(len(data) < 80)
"""
    assert in_fresh_process(program) == "True"


# --- by value ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_kernel_of_a_notebook_goes_by_value(protocol):
    notebook = main_module("""
STEP = 7
def helper(v):
    return v + STEP
@cuda.jit(device=True)
def device(v):
    return helper(v) * 2
@cuda.jit
def kernel(x):
    x[cuda.threadIdx.x] = device(x[cuda.threadIdx.x])
""")
    data = cloudpickle.dumps([notebook.kernel], protocol)
    assert in_fresh_process(LOAD_AND_RUN, data) == str([(i + 7) * 2 for i in range(5)])


def test_closures_go_by_value():
    def make(n):
        offset = np.arange(5) * n

        @cuda.jit
        def kernel(x):
            x[cuda.threadIdx.x] += offset[cuda.threadIdx.x]

        return kernel

    data = cloudpickle.dumps([make(10), make(100)])
    code = "import sys; sys.path.insert(0, {!r})\n".format(str(__file__).rpartition("/")[0])
    assert in_fresh_process(code + LOAD_AND_RUN, data) == str([i * 111 for i in range(5)])


def test_kernels_that_name_themselves_and_each_other():
    notebook = main_module("""
@cuda.jit(device=True)
def even(n):
    return n == 0 if n <= 0 else not even(n - 2) if n == 1 else n % 2 == 0
@cuda.jit
def first(x):
    other = second
    x[cuda.threadIdx.x] += 1
@cuda.jit
def second(x):
    other = first
    x[cuda.threadIdx.x] *= 10
""")
    data = cloudpickle.dumps([notebook.first, notebook.second])
    code = "import sys, pickle; f, s = pickle.loads(sys.stdin.buffer.read())\n" \
           "print(f.py_func.__globals__['second'] is s, s.py_func.__globals__['first'] is f, f.py_func.__globals__['first'] is f)"
    assert in_fresh_process(code, data) == "True True True"
    in_fresh_process("import sys, pickle; k = pickle.loads(sys.stdin.buffer.read())[0]; "
                     "assert k.py_func.__globals__['even'] is k", cloudpickle.dumps([notebook.even]))


def test_options_signatures_and_attributes_go_along():
    @cuda.jit("void(float32[:], int64)", debug=True, fastmath={"ftz"}, max_registers=32)
    def kernel(x, n):
        x[n] = 1

    kernel.note = [1, 2]
    data = cloudpickle.dumps(kernel)
    code = """
import sys, pickle, numpy as np
k = pickle.loads(sys.stdin.buffer.read())
print(k.declared_signatures, k._made[1]["debug"], k._made[1]["fastmath"], k._made[1]["max_registers"], k.note, k.device)
try:
    k[1, 1](np.zeros(2, np.float32), 5)
    from pyptx import cuda; cuda.synchronize()
except IndexError as e:
    print("IndexError")
"""
    assert in_fresh_process(code, data).split("\n") == [f"{kernel.declared_signatures} True 1 32 [1, 2] False", "IndexError"]


def test_in_one_process_a_kernel_stays_itself():
    @cuda.jit
    def kernel(x):
        x[0] = 1

    assert cloudpickle.loads(cloudpickle.dumps(kernel)) is kernel


def test_a_kernel_that_comes_twice_is_compiled_once():
    notebook = main_module("@cuda.jit\ndef kernel(x):\n    x[cuda.threadIdx.x] += 1\n")
    one, two = cloudpickle.dumps(notebook.kernel), cloudpickle.dumps((notebook.kernel, 0))
    code = f"""
import pickle, numpy as np
x = np.zeros(4, np.int64)
a = pickle.loads({one!r})
a[1, 4](x)
was = id(a)
del a
b = pickle.loads({two!r})[0]
print(id(b) == was, len(b.overloads))
"""
    assert in_fresh_process(code) == "True 1"


def test_a_module_registered_by_value():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        data = cloudpickle.dumps([scale])
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert in_fresh_process(LOAD_AND_RUN, data) == str([i * SCALE for i in range(5)])


def test_plain_functions_that_name_kernels():
    notebook = main_module("""
import numpy as np
@cuda.jit
def kernel(x):
    x[cuda.threadIdx.x] += 40
def work(n):
    x = np.full(n, 2)
    kernel[1, n](x)
    return x.tolist()
""")
    code = "import sys, pickle; print(pickle.loads(sys.stdin.buffer.read())(3))"
    assert in_fresh_process(code, cloudpickle.dumps(notebook.work)) == "[42, 42, 42]"


# --- configurations ------------------------------------------------------------------------------------------------


def test_configurations_travel_with_their_kernels():
    for config in (scale[(2, 1, 3), (4, 5)], scale.configure(1, 32, 0, 16), scale.forall(100, 32)):
        for back in (pickle.loads(pickle.dumps(config)), copy.copy(config), copy.deepcopy(config)):
            assert repr(back) == repr(config) and back.dispatcher is scale
    with pytest.raises(TypeError, match="cannot pickle or copy <pyptx stream"):
        pickle.dumps(scale[1, 1, cuda.stream()])


# --- device arrays -------------------------------------------------------------------------------------------------


ARRAYS = {
    "int64": np.arange(12), "float16": np.arange(6, dtype=np.float16), "complex": np.arange(4) + 2j, "bool": np.array([True, False]),
    "2d": np.arange(12, dtype=np.float32).reshape(3, 4), "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "empty": np.zeros((0, 3), np.int8), "no axes": np.array(5.0), "dates": np.array(["2024-05-06"], "M8[D]"),
    "records": np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_device_arrays_pickle_by_value(name):
    a = ARRAYS[name]
    d = cuda.to_device(a)
    for back in (pickle.loads(pickle.dumps(d)), cloudpickle.loads(cloudpickle.dumps(d)), copy.copy(d), copy.deepcopy(d)):
        assert type(back) is type(d) and back.dtype == d.dtype and back.shape == d.shape and back.device is d.device
        assert back.strides == d.strides and back.copy_to_host().tobytes() == a.tobytes()
        assert back.gpu_data is not d.gpu_data


def test_views_pickle_their_own_elements():
    d = cuda.to_device(np.arange(1000))
    back = pickle.loads(pickle.dumps(d[10:20:3]))
    assert back.copy_to_host().tolist() == [10, 13, 16, 19] and back.alloc_size == 32
    assert copy.copy(d[::-1][:3]).copy_to_host().tolist() == [999, 998, 997]


def test_bfloat16_arrays_pickle():
    dtypes = pytest.importorskip("ml_dtypes")
    d = cuda.to_device(np.arange(5).astype(dtypes.bfloat16))
    back = pickle.loads(pickle.dumps(d))
    assert back.dtype == d.dtype and back.copy_to_host().tolist() == [0, 1, 2, 3, 4]


def test_a_copy_is_another_array():
    d = cuda.to_device(np.arange(4))
    c, box = copy.copy(d), copy.deepcopy([d, d])
    c[0] = 99
    box[0][1] = 77
    assert d.copy_to_host().tolist() == [0, 1, 2, 3]
    assert box[0] is box[1] and box[0].copy_to_host().tolist() == [0, 77, 2, 3]


def test_buffers_out_of_band():
    buffers = []
    d = cuda.to_device(np.arange(1000.0))
    data = pickle.dumps(d, 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and len(buffers) == 1
    assert pickle.loads(data, buffers=buffers).copy_to_host().tolist() == list(range(1000))


# --- what stays ----------------------------------------------------------------------------------------------------


def test_kernels_are_their_own_copies():
    assert copy.copy(scale) is scale and copy.deepcopy([scale])[0] is scale


@pytest.mark.parametrize("make", [
    cuda.stream, cuda.default_stream, cuda.event, cuda.current_context, lambda: scale.compile("int64[:]"),
    lambda: cuda.to_device(np.zeros(1)).gpu_data,
])
def test_what_belongs_to_the_process_refuses(make):
    thing = make()
    for way in (pickle.dumps, cloudpickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle or copy <pyptx .*: it belongs to this process"):
            way(thing)


def test_devices_travel_as_their_numbers():
    d = cuda.get_current_device()
    assert pickle.loads(pickle.dumps(d)) is d and copy.deepcopy(d) is d


# --- pools of processes --------------------------------------------------------------------------------------------


def work(job):
    kernel, array = job
    kernel[1, 8](array)
    return array


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_of_multiprocessing(method):
    jobs = [(scale, cuda.to_device(np.arange(n, n + 8))) for n in range(4)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        for n, back in enumerate(pool.map(work, jobs)):
            assert back.copy_to_host().tolist() == [i * SCALE for i in range(n, n + 8)]


def test_workers_of_concurrent_futures():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        back = pool.submit(work, (scale, cuda.to_device(np.arange(8)))).result(120)
    assert back.copy_to_host().tolist() == [i * SCALE for i in range(8)]


def test_workers_of_joblib():
    joblib = pytest.importorskip("joblib")

    @cuda.jit
    def local(x):  # not importable: joblib sends it through cloudpickle
        x[cuda.threadIdx.x] += 5

    def job(n):
        x = cuda.to_device(np.arange(n, n + 4))
        local[1, 4](x)
        return x.copy_to_host().tolist(), len(local.overloads)

    got = joblib.Parallel(n_jobs=2)(joblib.delayed(job)(n) for n in range(4))
    assert got == [([i + 5 for i in range(n, n + 4)], 1) for n in range(4)]
