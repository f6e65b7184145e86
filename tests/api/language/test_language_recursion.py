"""Recursive functions: results beside CPython's on every device; and the GPU's code of them, which has no function that calls itself."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from harness import define, run
from pyptx import complex128, cuda, float64, int64
from test_ptx import ARCHITECTURES, assemble, ptx_of

OPTS = pytest.mark.parametrize("opt", [0, 1, 3])


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def hanoi(n, a, b, c):
    """Moves, and a number that depends on their order."""
    if n == 0:
        return 0, a
    k, x = hanoi(n - 1, a, c, b)
    m, y = hanoi(n - 1, c, b, a)
    return k + m + 1, (x * 7 + y + c) % 10007


def first(n, k):
    if n <= 0:
        return k
    total = 0
    for j in range(3):
        if (n + j) % 2:  # a loop that a call may leave out
            total += second(n - 1 - j, k + j)
        if j == n % 3:
            continue
        total += first(n - 2, k) * j
    return total % 1000003


@cuda.jit(device=True, inline="never")
def second(n, k):
    if n <= 0:
        return k * 2
    return first(n - 1, k) + second(n - 2, k + 1) + fib(n)


def local(n, pair):
    """An array of its own in each activation, alive behind the call."""
    values = cuda.local.array(4, float64)
    for j in range(4):
        values[j] = pair[j % 2] * (j + 1)
    if n == 0:
        return values[0] + values[3]
    below = local(n - 1, (pair[1], pair[0] + n))
    return below + values[1] - values[n % 4]


def quicksort(a, low, high):
    if low >= high:
        return
    pivot = a[(low + high) // 2]
    i, j = low, high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    quicksort(a, low, j)
    quicksort(a, i, high)


def apply(f, n):
    if n == 0:
        return 0
    return f(n) + 3 * apply(f, n - 1)


def kinds(n, x, flag, z):
    """Values of many kinds behind the call: bools, float32, complex numbers."""
    if n == 0:
        return x, z, flag
    y, w, f = kinds(n - 1, np.float32(x * np.float32(0.5)), not flag, z * 1j)
    return (y + x if flag else y - x), w + z, f != flag


def permutations(used, n, depth):
    """A loop with a call in it."""
    if depth == n:
        return 1
    count = 0
    for k in range(n):
        if used >> k & 1:
            continue
        if depth and used >> (k + 1) & 1 and k % 2:
            continue
        count += permutations(used | 1 << k, n, depth + 1)
    return count


def deep(n, x):
    if n == 0:
        return x[0]
    return (deep(n - 1, x) * 2 + n) % 1000003


CALLS = {
    "fib": "fib(n % 11)",
    "gcd": "gcd(n * 12, 18 + n)",
    "even": "even(n)",
    "odd": "odd(n % 7)",
    "ackermann": "ackermann(n % 3, n % 4)",
    "hanoi, moves": "hanoi(n % 6, 1, 2, 3)[0]",
    "hanoi, order": "hanoi(n % 6, 1, 2, 3)[1]",
    "mutual": "first(n % 7, 1)",
    "mutual, both entered": "first(n % 6, 1) * 1000 + second(n % 5, 2)",
    "function as argument": "apply(fib, n % 7)",
    "lambda": "apply(lambda v: v * v + n, n % 9)",
    "loop": "permutations(0, n % 6, 0)",
    "calls in arguments": "fib(fib(n % 6) % 9) + ackermann(1, fib(n % 5))",
    "condition": "fib(n % 9) > 7 and even(fib(n % 4))",
    "in a loop": "sum(fib(k) for k in range(n % 8))",
}


@OPTS
@pytest.mark.parametrize("name", CALLS)
def test_results(name, opt):
    source = f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        n = x[i]\n        out[i] = {CALLS[name]}\n"
    kernel = define(source, **{f.__name__: f for f in (fib, gcd, even, odd, ackermann, hanoi, first, second, apply, permutations)})
    run(kernel, [np.arange(40) * 7 % 23, np.zeros(40, np.int64)], 2, 32, opt=opt)


@OPTS
def test_local_arrays_and_tuples(opt):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = local(x[i] % 6, (float64(1.5), float64(x[i])))

    run(kernel, [np.arange(24), np.zeros(24)], 1, 32, opt=opt)


def turned(n, z):
    """Arrays whose elements are aligned to 16 and 1 bytes."""
    values = cuda.local.array(3, complex128)
    flags = cuda.local.array(3, bool)
    for j in range(3):
        values[j] = z * (j + 1)
        flags[j] = (n + j) % 2 == 0
    if n > 0:
        z = turned(n - 1, values[n % 3]) + values[(n + 1) % 3]
    return z * 2 if flags[n % 3] else z - 1


@OPTS
def test_arrays_that_are_aligned(opt):
    def kernel(z):
        i = cuda.grid(1)
        if i < z.size:
            z[i] = turned(i % 6, z[i])

    run(kernel, [np.arange(12) * (1 + 2j)], 1, 32, opt=opt)


@OPTS
def test_quicksort_of_a_local_array(opt):
    def kernel(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            own = cuda.local.array(12, int64)
            for k in range(12):
                own[k] = x[i, k]
            quicksort(own, 0, 11)
            for k in range(12):
                x[i, k] = own[k]

    x = np.random.default_rng(5).integers(-50, 50, (20, 12))
    (got,) = run(kernel, [x], 1, 32, opt=opt)
    assert (got == np.sort(x, axis=1)).all()


@OPTS
def test_values_of_many_kinds(opt):
    def kernel(x, out, z, flags):
        i = cuda.grid(1)
        if i < x.size:
            out[i], z[i], flags[i] = kinds(i % 5, x[i], i % 2 == 0, z[i])

    x = np.linspace(-3, 3, 20).astype(np.float32)
    run(kernel, [x, np.zeros(20, np.float32), np.arange(20) * (1 - 2j), np.zeros(20, bool)], 1, 32, opt=opt)


@OPTS
def test_checked(opt):
    """Stops inside of activations, and the context that a function hands on."""

    def kernel(n, x, out):
        i = cuda.grid(1)
        out[i] = deep(n[i], x)

    n = np.arange(32) % 20
    run(kernel, [n, np.ones(1, np.int64), np.zeros(32, np.int64)], 1, 32, opt=opt, debug=True)
    run(kernel, [n, np.ones(1, np.int64), np.zeros(32, np.int64)], 1, 32, opt=opt, lineinfo=True)
    with pytest.raises(IndexError, match="index 0 is out of bounds"):
        cuda.jit(kernel, opt=opt, debug=True)[1, 32](n, np.ones(0, np.int64), np.zeros(32, np.int64))
        cuda.synchronize()


@pytest.mark.parametrize("opt", [0, 3])
def test_barriers_inside(opt, device):
    if device == "host":
        pytest.skip("the host device has no barriers in recursive functions")

    def tree(n, x, t):
        if n == 0:
            return
        tree(n * 2 if n < 64 else 0, x, t)
        cuda.syncthreads()
        if t < n:
            x[t] += x[t + n]

    def kernel(x):
        tree(1, x, cuda.threadIdx.x)

    x = np.arange(128)
    cuda.jit(opt=opt)(kernel)[1, 128](x)
    cuda.synchronize()
    assert x[0] == 127 * 64


def deep_kernel(n, x, out):
    i = cuda.grid(1)
    out[i] = deep(n[i], x)


@pytest.mark.parametrize("exceptions", ["exceptions", "debug"])
def test_too_deep(exceptions, device):
    if device == "host":
        pytest.skip("the host's stack is the process's: below")
    n, x, out = np.full(32, 20), np.ones(1, np.int64), np.zeros(32, np.int64)
    n[7] = 500
    with pytest.raises(RecursionError, match=r"recursion is too deep for a thread's stack of 1024 bytes.*stack=BYTES(.|\n)*in thread \(7, 0, 0\)"):
        cuda.jit(deep_kernel, opt=0, **{exceptions: True})[1, 32](n, x, out)
        cuda.synchronize()


@OPTS
@pytest.mark.parametrize("stack", [None, 256 << 10])
def test_too_deep_for_the_process(opt, stack, device):
    """The launch's own thread and helpers of the pool run it; a thread of Python's has a stack of its own size."""
    if device != "host":
        pytest.skip("a GPU's stack is of the launch")
    found = []

    def launch():
        n, x, out = np.full(4096, 20), np.ones(1, np.int64), np.zeros(4096, np.int64)
        n[7::32] = 10**8
        with pytest.raises(RecursionError, match=r"recursion is too deep for the stack of the process's thread(.|\n)*in thread \(7, 0, 0\)"):
            cuda.jit(deep_kernel, opt=opt)[128, 32](n, x, out)
        n[:] = 20
        found.append(run(deep_kernel, [n[:32], x, out[:32]], 1, 32, opt=opt))

    if stack is None:
        launch()
    else:
        before = threading.stack_size(stack)
        thread = threading.Thread(target=launch)
        thread.start()
        threading.stack_size(before)
        thread.join()
    assert found


UNCHECKED = """
import os, sys
sys.path[:0] = {paths!r}
if "PYPTX_ON_PTX" in os.environ:
    import ptx_on_cpu
    ptx_on_cpu.choose()
import numpy as np
from pyptx import cuda
from pyptx.errors import ContextLostError
from test_language_recursion import deep_kernel
try:
    cuda.jit(stack=64)(deep_kernel)[1, 32](np.full(32, 50), np.ones(1, np.int64), np.zeros(32, np.int64))
    cuda.synchronize()
except ContextLostError as e:
    os._exit(7 if "stack=BYTES" in str(e) else 8)
"""


def test_too_deep_unchecked(device):
    """A fault that takes the context with it, so in a process of its own."""
    if device == "host":
        pytest.skip("the host's stack is the process's")
    here = Path(__file__).parent
    code = UNCHECKED.format(paths=[str(here), str(here.parent), str(here.parents[2])])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 7, done.stdout + done.stderr


def test_a_larger_stack():
    n = np.full(32, 3000)
    run(deep_kernel, [n // 10, np.ones(1, np.int64), np.zeros(32, np.int64)], 1, 32, opt=0, stack=24 << 10)


@pytest.mark.parametrize("wrong", [0, 63, 1 << 20])
def test_stacks_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="64 to 262144"):
        cuda.jit(stack=wrong)(deep_kernel)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("options", [dict(opt=3), dict(opt=0), dict(debug=True), dict(lineinfo=True)], ids=str)
def test_ptx_has_no_cycle_of_calls(arch, options, tmp_path):
    source = "def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        n = x[i]\n" + "".join(
        f"        out[{k}, i] = {text}\n" for k, text in enumerate(CALLS.values())
    )
    kernel = define(source, **{f.__name__: f for f in (fib, gcd, even, odd, ackermann, hanoi, first, second, apply, permutations)})
    ptx = ptx_of(kernel, "int64[::1], int64[:,::1]", arch, **options)
    bodies = dict(re.findall(r"\.(?:func|entry)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*\([^)]*\)[^{;]*\n\{\n(.*?)\n\}", ptx, re.S))
    calls = {name: set(re.findall(r"\b([\w$]+)\b", " ".join(re.findall(r"\tcall[^;]*;", body)))) & set(bodies) for name, body in bodies.items()}
    reached = dict(calls)
    for _ in calls:
        reached = {name: found.union(*(calls[f] for f in found)) for name, found in reached.items()}
    assert "kernel" in reached and not [name for name, found in reached.items() if name in found]
    assemble(ptx, arch, tmp_path)


def handed_on(n, x):
    if n <= 0:
        return x
    return handed_on(n - 1, x) + 1


def contradicted(n, x):
    match n:
        case 1:
            return handed_on(n, x) if 64 == n else x + 2
    return x


@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_a_function_that_only_itself_calls(arch, opt, tmp_path):
    """Inlining finds that the call from elsewhere never runs: then no call says what the arguments are that the function hands on to itself."""

    def kernel(n, x):
        i = cuda.grid(1)
        if i < n.size:
            x[i] = contradicted(n[i], x[i])

    run(kernel, [np.arange(8) % 3, np.arange(8.0)], 1, 8, opt=opt)
    assemble(ptx_of(kernel, "int64[::1], float64[::1]", arch, opt=opt), arch, tmp_path)


@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_ptx_of_recursion_with_warps_and_barriers(arch, opt, tmp_path):
    def halves(n, v):
        if n == 0:
            return v
        below = halves(n - 1, v + n)
        return below + cuda.shfl_xor_sync(0xFFFFFFFF, below, 1)

    def tree(n, x, t):
        if n == 0:
            return
        tree(n // 2, x, t)
        cuda.syncthreads()
        if t < n:
            x[t] += x[t + n]

    def kernel(n, x):
        i = cuda.grid(1)
        tree(n, x, cuda.threadIdx.x)
        x[i] += halves(n, x[i])

    ptx = ptx_of(kernel, "int64, int64[::1]", arch, opt=opt)
    assert "vote.sync.any" in ptx if arch == "sm_75" else "redux.sync.max.u32" in ptx
    assemble(ptx, arch, tmp_path)


def test_a_device_function_alone_calls_no_other(tmp_path):
    for options in (dict(opt=3), dict(opt=0), dict(debug=True)):
        ptx, _ = cuda.compile_ptx(fib, "int64", cc=(8, 0), device=True, **options)
        assert re.search(r"\.visible \.func\s+\(.param .b64 func_retval0\) fib\(", ptx) and not re.search(r"call[^;]*\bfib[,;]", ptx)
        assemble(ptx, "sm_80", tmp_path)
