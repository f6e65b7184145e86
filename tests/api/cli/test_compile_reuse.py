"""What compilations leave to later ones of the process (target machines, parts of libdevice) shows in no result."""

import math
import os
import subprocess
import sys
import threading

from pyptx import _pyptx, cuda

ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]  # times two levels: more than are kept


def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def waves(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(x[i]) * math.erf(y[i])


def sines(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(x[i]) + y[i]


KERNELS = [add, waves, sines]


def ptx_of(kernel, arch, opt):
    signature = "float32[::1], float32[::1], float32[::1]"
    return _pyptx._compile(kernel, signature, "nvptx", arch, 0, {"opt": opt}, "ptx")["ptx"]


def everything():
    return {(k.__name__, arch, opt): ptx_of(k, arch, opt) for arch in ARCHITECTURES for opt in (0, 3) for k in KERNELS}


def test_the_second_time_as_the_first():
    first = everything()
    assert everything() == first
    assert len(set(first.values())) == len(first)


def test_as_in_a_fresh_process():
    here = [ptx_of(k, "sm_90", 3) for k in KERNELS]
    for kernel, ptx in zip(KERNELS, here):
        code = f"import test_compile_reuse as t; print(t.ptx_of(t.{kernel.__name__}, 'sm_90', 3), end='')"
        done = subprocess.run([sys.executable, "-c", code], cwd=__file__.rsplit("/", 1)[0], capture_output=True, text=True, check=True)
        assert done.stdout == ptx


def test_in_threads():
    right, wrong = everything(), []

    def work():
        if everything() != right:
            wrong.append(threading.get_ident())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_damaged_libdevice_is_an_error_each_time(tmp_path):
    """Half of a file: found out when its functions are listed, not when it is opened."""
    broken = tmp_path / "half.bc"
    broken.write_bytes(b"BC\xc0\xde" + bytes(2000))
    code = (
        "import test_compile_reuse as t\n"
        "for _ in range(2):\n"
        "    try:\n        t.ptx_of(t.waves, 'sm_90', 3)\n"
        "    except RuntimeError as e:\n        print('which is damaged' in str(e))\n"
    )
    env = {**os.environ, "PYPTX_LIBDEVICE": str(broken)}
    done = subprocess.run([sys.executable, "-c", code], cwd=__file__.rsplit("/", 1)[0], capture_output=True, text=True, env=env)
    assert done.stdout == "True\nTrue\n", done.stderr
