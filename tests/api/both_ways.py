"""Runs a program and compares its launches: the compiled kernel on the host device against the kernel's own Python, thread by thread.

usage: PYPTX_DEVICE=python python tests/api/both_ways.py PROGRAM [ARGUMENT ...]

The first launch of each kernel with arguments of its types is repeated with a grid of at most two blocks (a kernel must do for any grid) on
copies of its arguments, both ways, with fma=False and fastmath off: Python neither fuses nor approximates. The arrays must be equal bit for
bit; where atomics add floats in another order, or NumPy's power stands for the C library's, within 1e-5 of their largest element. The program
itself goes on with the whole launch, compiled. The last line says how many kernels were compared.
"""

import pathlib
import runpy
import sys

import numpy as np

from pyptx import _pyptx, _stepping, cuda

ROUNDING = 1e-5  # float32: some hundred additions in another order, each within 6e-8
MOST = 4_000_000  # of numbers in an array: threads by strides of the grid would go over them one by one
compared, passed_over = [], []
in_python = _stepping.launch


def copied(x):
    if isinstance(x, _pyptx.DeviceArray):
        return cuda.to_device(x.copy_to_host())
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, tuple):
        items = [copied(item) for item in x]
        return type(x)._make(items) if hasattr(x, "_make") else tuple(items)
    return x


def arrays_of(x):
    if isinstance(x, _pyptx.DeviceArray):
        x = x.copy_to_host()
    if isinstance(x, np.ndarray):
        if x.dtype.names:
            for name in x.dtype.names:
                yield from arrays_of(x[name])
        else:
            yield x
    elif isinstance(x, tuple):
        for item in x:
            yield from arrays_of(item)


def same(a, b):
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind not in "fc":
        return False
    scale = np.abs(a[np.isfinite(a)]).max(initial=0)
    return np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * scale, equal_nan=True)


def compare(launcher, args, keywords):
    kernel, stream = launcher.dispatcher, launcher.stream
    signatures, fields = kernel._made
    plain = type(kernel)(kernel.py_func, signatures, **{**fields, "fma": False, "fastmath": 0})
    for signature in signatures:
        plain.compile(signature)
    how = launcher.__reduce__()[1]
    grid, block = launcher.griddim, launcher.blockdim
    if len(how) == 4:
        grid, block = (-(-how[0] // 128), 1, 1), (how[1] or 128, 1, 1)
    small = tuple(min(n, 2) if axis == 0 else 1 for axis, n in enumerate(grid))
    results = []
    for python in (False, True):
        mine = [copied(x) for x in args]
        run = plain.configure(small, block, 0, how[3])
        if python:
            in_python(run, mine, keywords)
        else:
            run(*mine, **keywords)
        cuda.synchronize()
        results.append(list(arrays_of(tuple(mine))))
    for number, (a, b) in enumerate(zip(*results)):
        assert same(a, b), f"{kernel.__name__}: array {number} differs: compiled {a[a != b][:5]}, in Python {b[a != b][:5]}"
    if stream:
        stream.synchronize()


def launch_both(launcher, args, keywords):
    kernel = launcher.dispatcher
    key = kernel.py_func.__code__, tuple(getattr(x, "dtype", type(x)) for x in args)
    if key not in compared:
        compared.append(key)
        if launcher.cluster or any(getattr(x, "size", 0) > MOST for x in args):
            passed_over.append(kernel.__name__)
        else:
            compare(launcher, args, keywords)
    return launcher(*args, **keywords)


def main():
    program, sys.argv = sys.argv[1], sys.argv[1:]
    sys.path.insert(0, str(pathlib.Path(program).parent))  # as Python has it for a program
    _stepping.launch = launch_both
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as done:
        assert not done.code, f"{program} ended with {done.code}"
    print(f"{len(compared) - len(passed_over)} kernels the same both ways; passed over: {', '.join(passed_over) or 'none'}")


if __name__ == "__main__":
    main()
