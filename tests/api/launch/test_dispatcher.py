"""@cuda.jit in all its forms, and what the dispatcher it makes can do."""

import functools
import pickle
import sys
import threading
import time

import numpy as np
import pyptx
import pytest
from harness import define
from pyptx import cuda, float32, float64, int32, int64, void
from pyptx.types import f4, i4


@cuda.jit
def add(x, y, out):
    """Adds."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def scale(x, k=2, *, offset=0):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * k + offset


def result(kernel, *args, dtype=np.float64, n=4, **kwargs):
    x = np.arange(n).astype(dtype)
    kernel[1, 32](x, *args, **kwargs)
    cuda.synchronize()
    return x.tolist()


# --- decorator forms -----------------------------------------------------------------------------------------------


def test_lazy_forms():
    for decorate in (cuda.jit, cuda.jit(), cuda.jit(debug=False), cuda.jit(None)):
        assert result(decorate(scale)) == [0, 2, 4, 6]
    assert result(cuda.jit(scale, opt=0)) == [0, 2, 4, 6]


@pytest.mark.parametrize("signature", [
    "void(float32[:], int32)", "(float32[:], int32)", "float32[:], int32", "void(f4[:], i4)", "void(float32[::1],int32)",
    (float32[:], int32), (f4[::1], i4), void(float32[:], int32), void(f4[:], i4), ["void(float32[:], int32)"], [void(float32[:], int32)],
    [(float32[:], int32)], [(f4[:], i4), (float64[:], int64)], "none(float32[:], int32)", ("float32[:]", np.int32), (float32[:], np.dtype("i4")),
], ids=str)
def test_eager_forms(signature):
    kernel = cuda.jit(signature)(scale)
    assert len(kernel.signatures) == len(signature) if isinstance(signature, list) else 1
    assert result(kernel, 3, dtype=np.float32) == [0, 3, 6, 9]
    with pytest.raises(TypeError, match="was declared for"):
        result(kernel, 3, dtype=np.int8)


@pytest.mark.parametrize("signature", ["float33[:]", "void(float32[:]", "", "float32[:, ::2]", "(((", "float32[::1, ::1], int32", "void(void)"])
def test_bad_signatures(signature):
    with pytest.raises((ValueError, TypeError)):
        cuda.jit(signature)(scale)


@pytest.mark.parametrize("signature", ["foo(float32[:], int32)", "void(float32[:], int32", "float32 x(float32[:], int32)"])
def test_what_stands_around_the_arguments_of_a_signature(signature):
    with pytest.raises(ValueError, match=r"'foo' is not a type|'\)' is missing|expected '\('"):
        cuda.jit(signature)(scale)


def test_a_kernel_with_a_result_in_its_signature():
    with pytest.raises(TypeError, match="returns nothing: its signature begins with void"):
        cuda.jit("float32(float32[:], int32)")(scale)
    cuda.jit("float32(float32[:], int32)", device=True)(scale)
    cuda.jit("void (float32[:], int32)")(scale)


def test_too_many_types_in_a_signature():
    with pytest.raises(TypeError, match="takes 3 arguments"):
        cuda.jit("float32[:], int32, int32, int32")(scale)


def test_eager_kernels_convert_numbers():
    kernel = cuda.jit("void(float32[:], int32)")(scale)
    for k in (3, np.int16(3), np.int32(3), np.uint8(3), True + 2, np.int64(3), np.uint64(3)):
        assert result(kernel, k, dtype=np.float32) == [0, 3, 6, 9]
    for k in (2.5, np.float32(3), 3j, None):
        with pytest.raises(TypeError, match="declared"):
            result(kernel, k, dtype=np.float32)
    with pytest.raises(OverflowError):
        result(kernel, 1 << 40, dtype=np.float32)
    assert len(kernel.overloads) == 1


def test_eager_kernels_take_the_nearest_signature():
    @cuda.jit(["void(float64[:], float64)", "void(float64[:], int64)"])
    def kernel(out, v):
        out[0] = v / 2 if v == 3 else v // 2

    out = np.zeros(1)
    kernel[1, 1](out, 3)
    cuda.synchronize()
    assert out[0] == 1.5
    assert len(kernel.overloads) == 2


def test_eager_arrays_of_any_layout_take_contiguous_ones():
    kernel = cuda.jit("void(float64[:], int64)")(scale)
    x = np.arange(8.0)
    kernel[1, 32](x[::2], 10)
    cuda.synchronize()
    assert x.tolist() == [0, 1, 20, 3, 40, 5, 60, 7]
    contiguous = cuda.jit("void(float64[::1], int64)")(scale)
    if cuda.get_current_device().is_host:
        with pytest.raises(TypeError, match="declared"):
            contiguous[1, 32](x[::2], 10)
    with pytest.raises(TypeError, match="declared"):
        contiguous[1, 32](cuda.to_device(x)[::2], 10)


OPTIONS = [
    {"debug": True}, {"opt": 0}, {"opt": True}, {"opt": False}, {"fastmath": True}, {"fastmath": ("ftz", "div")}, {"fastmath": "func"},
    {"lineinfo": True}, {"max_registers": 32}, {"launch_bounds": 128}, {"launch_bounds": (128, 2)}, {"launch_bounds": (128, 2, 4)}, {"cache": True}, {"inline": "always"},
    {"inline": "never"}, {"forceinline": True}, {"shared_memory_carveout": 50}, {"link": []}, {"typing": "numpy"}, {"typing": "numba"},
    {"fma": False}, {"exceptions": True}, {"boundscheck": True}, {"coarsen": 1}, {"stack": 2048}, {"device": False}, {"dump": ""},
    {"opt": "unchecked"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_keep_the_result(options):
    assert result(cuda.jit(**options)(scale), 3) == [0, 3, 6, 9]


@pytest.mark.parametrize("options, error, words", [
    ({"fastmth": True}, TypeError, "did you mean 'fastmath'"), ({"whatever": 1}, TypeError, "boundscheck"), ({"opt": 4}, ValueError, "opt"),
    ({"opt": "O3"}, ValueError, "opt"), ({"debug": 3}, TypeError, "debug"), ({"max_registers": -1}, ValueError, "max_registers"),
    ({"max_registers": "all"}, TypeError, "max_registers"), ({"launch_bounds": (1, 2, 3, 4)}, ValueError, "Got 4 launch bounds"),
    ({"launch_bounds": 0}, ValueError, "at most 0 threads"), ({"launch_bounds": (0, 2)}, ValueError, "at most 0 threads"),
    ({"abi": "stabel"}, ValueError, "did you mean 'stable'"),
    ({"fastmath": {"nonsense"}}, ValueError, "nonsense"), ({"typing": "cobol"}, ValueError, "typing"), ({"inline": "maybe"}, ValueError, "inline"),
    ({"link": ["a.txt"]}, ValueError, "Don't know how to link file with extension .txt"), ({"dump": 3}, TypeError, "dump"), ({"fastmath": "reasoc"}, ValueError, "did you mean 'reassoc'"),
    ({"max_registers": 2**31}, ValueError, "from 1 to 2147483647"), ({"launch_bounds": (1, "2")}, TypeError, "launch_bounds"),
    ({"stack": 63}, ValueError, "from 64 to 262144, not 63"), ({"coarsen": 9}, ValueError, "from 1 to 8, not 9"), ({"typing": None}, ValueError, "'numpy' or 'numba'"),
], ids=str)
def test_bad_options(options, error, words):
    with pytest.raises(error, match=words):
        cuda.jit(**options)


@pytest.mark.parametrize("variable, text, words", [
    ("PYPTX_TYPING", "cobol", "PYPTX_TYPING must be 'numpy' or 'numba', not 'cobol'"),
    ("PYPTX_COARSEN", "9", "PYPTX_COARSEN must be a whole number from 1 to 8, not '9'"),
])
def test_bad_variables_of_options(monkeypatch, variable, text, words):
    monkeypatch.setenv(variable, text)
    with pytest.raises(ValueError, match=words):
        cuda.jit(scale)
    assert cuda.jit(typing="numpy", coarsen=1)(scale)


@pytest.mark.parametrize("options", [{name: None} for name in ("fma", "opt", "fastmath", "coarsen", "launch_bounds", "max_registers", "stack", "inline", "debug")], ids=str)
def test_none_is_the_default(options):
    """fma's is True."""
    signature = "float32[::1], float32[::1]"

    def kernel(x, y):
        y[cuda.grid(1)] += x[0] * x[1]

    assert cuda.compile_ptx(kernel, signature, cc=(9, 0), **options) == cuda.compile_ptx(kernel, signature, cc=(9, 0))


def test_fields_that_a_dispatcher_has_not():
    kernel = cuda.jit(scale)
    for fields in ({"nothing": 1}, {"opt": "3"}, {"opt": 2**40}, {"link": 3}, {"dump": 3}, {"dump": "\ud800"}, {"caching": None},
                   {"coarsen": 9}, {"coarsen": -3}, {"inlining": 3}, {"caching": -1}, {"fastmath": 512}, {"stack": -1}, {"max_threads": -1}):
        with pytest.raises((TypeError, UnicodeEncodeError)):
            type(kernel)(scale, (), **fields)


@pytest.mark.parametrize("thing", [3, len, int, object(), functools.partial(scale), "text()("])
def test_what_cannot_be_decorated(thing):
    with pytest.raises((TypeError, ValueError)):
        made = cuda.jit(thing)
        if callable(made) and not hasattr(made, "py_func"):
            made(scale)
        pytest.fail("nothing was raised")


def test_decorating_a_dispatcher_again_changes_the_options():
    again = cuda.jit(opt=0)(add)
    assert again is not add and again.py_func is add.py_func


def test_static_methods():
    class Kernels:
        @staticmethod
        @cuda.jit
        def inner(x):
            x[0] = 5

        @cuda.jit
        @staticmethod
        def outer(x):
            x[0] = 6

    for kernel, value in ((Kernels.inner, 5), (Kernels.outer, 6)):
        x = np.zeros(1)
        kernel[1, 1](x)
        cuda.synchronize()
        assert x[0] == value


# --- arguments -----------------------------------------------------------------------------------------------------


def test_keywords_and_defaults():
    kernel = cuda.jit(scale)
    assert result(kernel) == [0, 2, 4, 6]
    assert result(kernel, 3) == [0, 3, 6, 9]
    assert result(kernel, k=3) == [0, 3, 6, 9]
    assert result(kernel, offset=1) == [1, 3, 5, 7]
    assert result(kernel, 3, offset=1.5) == [1.5, 4.5, 7.5, 10.5]
    assert result(kernel, offset=1, k=np.float32(0.5)) == [1, 1.5, 2, 2.5]
    x = np.ones(4)
    kernel[1, 32](k=7, x=x)
    cuda.synchronize()
    assert x.tolist() == [7] * 4


@pytest.mark.parametrize("args, kwargs, words", [
    ((), {}, "missing the argument 'x'"), ((), {"k": 2}, "missing the argument 'x'"), ((np.zeros(1), 1, 2), {}, "takes 2 arguments, but 3"),
    ((np.zeros(1),), {"x": 2}, "two values for the argument 'x'"), ((np.zeros(1),), {"scale": 2}, "no parameter 'scale'"),
])
def test_wrong_arguments(args, kwargs, words):
    with pytest.raises(TypeError, match=words):
        cuda.jit(scale)[1, 1](*args, **kwargs)


def test_positional_only_parameters():
    kernel = cuda.jit(define("def kernel(x, /, k):\n    x[0] = k\n"))
    x = np.zeros(1)
    kernel[1, 1](x, k=3)
    cuda.synchronize()
    assert x[0] == 3
    with pytest.raises(TypeError, match="no parameter 'x'"):
        kernel[1, 1](x=x, k=3)


@pytest.mark.parametrize("bad", [[1, 2], {"a": 1}, {1}, "text", b"bytes", object(), len, lambda: 0, np, range(3), np.zeros(2, object), np.zeros(2, ">M8[s]"),
                                 np.zeros(2, "U3"), np.zeros(2, [("a", "O")]), np.str_("text"), (1, [2])], ids=lambda b: type(b).__name__)
def test_unsupported_arguments(bad):
    with pytest.raises(TypeError, match="argument 2"):
        cuda.jit(scale)[1, 1](np.zeros(1), bad)


def test_integers_beyond_64_bits():
    for k in (1 << 63, -(1 << 63) - 1, 10**30):
        with pytest.raises(OverflowError, match="argument 2"):
            cuda.jit(scale)[1, 1](np.zeros(1), k)
    assert result(cuda.jit(scale), np.uint64(1 << 63), n=2)[1] == 2.0**63


def test_tuples_as_arguments():
    @cuda.jit
    def kernel(out, t, nested):
        out[0] = t[0] + t[1][0]
        out[1] = nested[0][0] * nested[1]
        out[2] = len(t)

    x, out = np.array([5.0, 6.0]), np.zeros(3)
    kernel[1, 1](out, (1, x), ((2.5,), 4))
    cuda.synchronize()
    assert out.tolist() == [6, 10, 2]


def test_none_as_argument():
    @cuda.jit
    def kernel(out, maybe):
        if maybe is None:
            out[0] = 1
        else:
            out[0] = maybe

    for argument, want in ((None, 1), (7, 7), (2.5, 2.5)):
        out = np.zeros(1)
        kernel[1, 1](out, argument)
        cuda.synchronize()
        assert out[0] == want
    assert len(kernel.overloads) == 3


def test_read_only_arrays():
    @cuda.jit
    def kernel(x, out):
        out[0] = x[0]

    locked = np.array([3.0])
    locked.flags.writeable = False
    out = np.zeros(1)
    kernel[1, 1](locked, out)
    cuda.synchronize()
    assert out[0] == 3
    with pytest.raises(ValueError, match="read-only"):
        kernel[1, 1](out, locked)
    assert locked[0] == 3


def test_host_arrays_of_all_layouts():
    @cuda.jit
    def kernel(x):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            x[i, j] += 10 * i + j

    base = np.zeros((6, 8))
    for view in (base, base.T, base[::2], base[:, ::-1], base[1:4, 2:5], np.asfortranarray(base)):
        view[...] = 1
        want = view + 10 * np.arange(view.shape[0])[:, None] + np.arange(view.shape[1])
        outside = base.copy()
        kernel[(1, 1), (8, 8)](view)
        cuda.synchronize()
        assert np.array_equal(view, want)
        view[...] = 1
        assert np.array_equal(base, outside)


def test_the_same_host_array_twice():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i] + 1

    x = np.arange(5.0)
    kernel[1, 32](x, x)
    cuda.synchronize()
    assert x.tolist() == [1, 2, 3, 4, 5]


def test_arrays_without_axes():
    @cuda.jit
    def kernel(x):
        x[()] += 1

    x = np.array(3.0)
    kernel[1, 1](x)
    cuda.synchronize()
    assert x == 4


# --- what a dispatcher knows ---------------------------------------------------------------------------------------


def test_it_looks_like_the_function():
    assert add.__name__ == "add" and add.__doc__ == "Adds." and add.__module__ == __name__ and add.__wrapped__ is add.py_func
    assert "add" in repr(add) and "add" in repr(add[1, 2])
    add.note = 5
    assert add.note == 5
    del add.note


def test_device_functions():
    @cuda.jit(device=True)
    def helper(x):
        return x + 1

    assert helper.device and not add.device
    for call in (lambda: helper(1), lambda: helper[1, 1], lambda: helper.forall(3)):
        with pytest.raises((TypeError, RuntimeError), match="device function"):
            call()
    assert helper.py_func(1) == 2


def test_an_unconfigured_call_shows_the_form():
    with pytest.raises(ValueError, match=r"add\[blocks, threads\]\(\.\.\.\)"):
        add(1, 2, 3)


def test_kernels_return_nothing():
    @cuda.jit
    def kernel(x):
        return x[0]

    with pytest.raises(TypeError, match="PT211"):
        kernel[1, 1](np.zeros(1))


def test_overloads_and_signatures():
    kernel = cuda.jit(scale)
    assert kernel.overloads == {} and kernel.signatures == []
    result(kernel, 2)
    result(kernel, 2.5)
    result(kernel, 7)
    assert [tuple(map(str, s)) for s in kernel.signatures] == [("float64[::1]", "pyint"), ("float64[::1]", "pyfloat")]
    compiled = kernel.overloads[kernel.signatures[0]]
    assert compiled.signature == kernel.signatures[0] and compiled.device is cuda.get_current_device()
    assert compiled.max_threads_per_block >= 256


def test_compile_and_specialize():
    kernel = cuda.jit(scale)
    compiled = kernel.compile("float32[::1], pyint")
    assert kernel.compile((float32[::1], pyptx.types._type("pyint"))) is compiled
    assert kernel.specialize(np.zeros(3, np.float32), 5).signatures == kernel.signatures
    assert len(kernel.overloads) == 1
    result(kernel, 3, dtype=np.float32)
    assert len(kernel.overloads) == 1


def test_resources():
    kernel = cuda.jit(scale)
    result(kernel, 2)
    for query in (kernel.get_regs_per_thread, kernel.get_shared_mem_per_block, kernel.get_const_mem_size, kernel.get_local_mem_per_thread,
                  kernel.get_max_threads_per_block):
        values = query()
        assert list(values) == kernel.signatures and all(v >= 0 for v in values.values())
        assert query(kernel.signatures[0]) == values[kernel.signatures[0]]


def test_inspection(device):
    kernel = cuda.jit(scale)
    result(kernel, 2)
    (signature,) = kernel.signatures
    asm = kernel.inspect_asm(signature)
    assert kernel.inspect_asm() == {signature: asm}
    assert (".visible .entry" in asm) == (device == "gpu")
    assert "define" in kernel.inspect_llvm(signature) and "scale" in kernel.inspect_types(signature)
    assert "scale" in kernel.inspect_ssa()[signature]
    # A signature that was not launched is compiled to be looked at.
    assert kernel.inspect_asm("float32[:], int32") != asm
    assert len(kernel.signatures) == 1


def test_compile_ptx():
    ptx, result_type = cuda.compile_ptx(scale, (float32[:], int32), cc=(9, 0))
    assert ".target sm_90" in ptx and ".entry" in ptx and result_type == pyptx.types.void
    ptx, result_type = cuda.compile(lambda x, y: x + y, (float32, float32), cc="sm_80")
    assert ".target sm_80" in ptx and result_type == float32
    with pytest.raises(pyptx.CompileError):
        cuda.compile_ptx(scale, (float32[:], int32), cc=(1, 0))


def test_pickling():
    assert pickle.loads(pickle.dumps(add)) is add
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(cuda.jit(eval("lambda x: None")))


def test_functions_that_are_redecorated_share_nothing():
    first, second = cuda.jit(scale), cuda.jit(scale)
    result(first, 2)
    assert len(first.overloads) == 1 and second.overloads == {}


# --- compiling once, threads ---------------------------------------------------------------------------------------


@pytest.mark.unchecked("all threads add to one element")
def test_a_kernel_is_compiled_once_for_many_threads():
    body = "".join(f"        x[i] = x[i] * {k}.5 + x[(i * {k}) % x.size]\n" for k in range(60))
    kernel = cuda.jit(define(f"def kernel(x):\n    i = cuda.grid(1)\n    if i < x.size:\n{body}"))
    failures, start = [], threading.Barrier(8)

    def work():
        try:
            start.wait()
            for _ in range(3):
                kernel[1, 32](np.zeros(4))
            cuda.synchronize()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(kernel.overloads) == 1


def test_other_threads_run_while_one_compiles():
    body = "".join(f"    x[{k}] = math.sin(x[{k}]) ** {k}.5 + x[0]\n" for k in range(150))
    kernel = cuda.jit(define(f"def kernel(x):\n{body}"))
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    try:
        kernel.compile("float64[::1]")
    finally:
        stop.set()
        thread.join()
    end = time.perf_counter()
    during = sum(begin < t < end for t in ticks)
    # Held for the whole compilation, the GIL would let one tick through at most.
    assert end - begin < 0.02 or during > 3


def test_failed_compilations_can_be_repeated():
    kernel = cuda.jit(define("def kernel(x):\n    x[0] = LATER\n"))
    for _ in range(2):
        with pytest.raises(NameError):
            kernel[1, 1](np.zeros(1))
    kernel.py_func.__globals__["LATER"] = 5
    x = np.zeros(1)
    kernel[1, 1](x)
    cuda.synchronize()
    assert x[0] == 5


def test_arguments_are_released():
    x = np.zeros(4)
    d = cuda.to_device(x)
    result(cuda.jit(scale), 2)
    kernel = cuda.jit(scale)[1, 32]
    before = sys.getrefcount(x), sys.getrefcount(d)
    for _ in range(50):
        kernel(x, 2)
        kernel(d, k=2)
        with pytest.raises(TypeError):
            kernel(x, [])
    cuda.synchronize()
    assert (sys.getrefcount(x), sys.getrefcount(d)) == before
    x.resize(8, refcheck=True)  # no buffer is held


@pytest.mark.host_only("a GPU gets an aligned copy")
def test_unaligned_arrays():
    x = np.zeros(33, np.uint8)[1:].view(np.float64)
    x[:] = range(1, 5)
    kernel = cuda.jit(scale)
    kernel[1, 4](x, 2.0)
    packed = np.ones(3, np.dtype([("a", "u1"), ("b", "f8")]))
    kernel[1, 3](packed["b"], 3.0)
    cuda.synchronize()
    assert x.tolist() == [2, 4, 6, 8] and packed["b"].tolist() == [3, 3, 3]
    assert [str(s[0]) for s in kernel.signatures] == ["align1 float64[::1]", "align1 float64[:]"]


# --- bound launches ----------------------------------------------------------------------------------------------------


@cuda.jit
def add_scaled(x, y, factor=2.0, *, shift=0):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] += factor * x[i] + shift


def test_bound_launch():
    x, y = cuda.to_device(np.arange(8.0)), cuda.to_device(np.zeros(8))
    launch = add_scaled[1, 8].bind(x, y, 3.0)
    assert y.copy_to_host().tolist() == [0] * 8, "binding launches nothing"
    for _ in range(4):
        assert launch() is None
    assert np.array_equal(y.copy_to_host(), 12 * np.arange(8.0))
    assert launch.arguments == (x, y, 3.0) and "add_scaled" in repr(launch)


def test_bound_launch_with_keywords_stream_and_forall():
    x, y = cuda.to_device(np.arange(8.0)), cuda.to_device(np.zeros(8))
    stream = cuda.stream()
    add_scaled[1, 8, stream].bind(y=y, x=x, shift=1)()
    stream.synchronize()
    add_scaled.forall(8).bind(x, y)()
    assert np.array_equal(y.copy_to_host(), 4 * np.arange(8.0) + 1)
    add_scaled.forall(0).bind(x, y)()


def test_bound_launches_keep_their_arguments():
    y = cuda.to_device(np.zeros(8))
    launch = add_scaled[1, 8].bind(cuda.to_device(np.ones(8)), y)
    others = [cuda.to_device(np.full(8, 7.0)) for _ in range(20)]
    launch()
    assert y.copy_to_host().tolist() == [2] * 8 and len(others) == 20


def test_bound_launches_refuse():
    x = cuda.to_device(np.zeros(8))
    launch = add_scaled[1, 8].bind(x, x)
    with pytest.raises(TypeError, match="takes no arguments"):
        launch(x)
    with pytest.raises(TypeError, match="takes no arguments"):
        launch(x=x)
    with pytest.raises(TypeError, match="missing"):
        add_scaled[1, 8].bind(x)
    with pytest.raises(TypeError, match="cannot take"):
        add_scaled[1, 8].bind(x, {})
    if cuda.get_current_device().is_host:
        y = np.zeros(8)
        add_scaled[1, 8].bind(x, y, shift=1)()
        assert y.tolist() == [1] * 8
    else:
        with pytest.raises(TypeError, match="host array"):
            add_scaled[1, 8].bind(x, np.zeros(8))


@pytest.mark.host_only("the tensor is host memory")
def test_bound_launches_are_collected():
    import gc
    import weakref

    from dlpack_fake import Library, exchange_class

    argument = exchange_class(Library())(np.zeros(8))
    argument.launch = add_scaled[1, 8].bind(argument, argument)
    alive = weakref.ref(argument)
    del argument
    gc.collect()
    assert alive() is None


def test_parameters_with_letters_beyond_ascii():
    @cuda.jit
    def kernel(größe, x, *, λ=2):
        größe[0] = x * λ

    out = cuda.to_device(np.zeros(1))
    for _ in range(3):  # the second time by a plan
        kernel[1, 1](x=3, größe=out)
        assert out.copy_to_host()[0] == 6
        kernel[1, 1](out, λ=5, x=3)
        assert out.copy_to_host()[0] == 15
    for name in ("grösse", "\udcff"):
        with pytest.raises(TypeError, match="has no parameter"):
            kernel[1, 1](**{name: out})


@pytest.mark.parametrize("use", [
    lambda k: k.compile("float32[:]\0, int64"),
    lambda k: cuda.jit("float32[:]\0")(k.py_func),
    lambda k: pyptx._pyptx._type("float32\0"),
    lambda k: cuda.device_array((2, 3), "float32", order="C\0F"),
], ids=["compile", "jit", "types", "order"])
def test_a_text_with_a_nul_is_refused(use):
    """C would read the part before it."""
    @cuda.jit
    def first(x):
        x[0] = 1

    with pytest.raises(ValueError, match="NUL character in '.*x00"):
        use(first)
