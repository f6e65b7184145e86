"""What type checkers find in a user's program, and that they find nothing in a right one: mypy and pyright, both strict."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pyptx
import pytest
from pyptx import cuda

ROOT = pathlib.Path(__file__).resolve().parents[2]

RIGHT = '''
import numpy as np
from pyptx import cuda, float32, vectorize

@cuda.jit(device=True)
def square(x: float) -> float:
    return x * x

@cuda.jit
def twice(x: float) -> float:  # a device function too: it returns something
    return 2 * x

@cuda.jit
def add(a: cuda.Array, b: cuda.Array, n: int) -> None:
    i = cuda.grid(1)
    tile = cuda.shared.array((32, 32), float32)
    j, k = cuda.grid(2)
    x, y, z = cuda.grid(3)
    cuda.syncthreads()
    if i < n and cuda.any_sync(0xFFFFFFFF, True):
        tile[j, k] = a[i] + x + y + z
        b[i] = square(1.5) + twice(2.5) + cuda.shfl_sync(0xFFFFFFFF, 1.0, 0)
        cuda.atomic.add(b, i, 1)

@cuda.jit(fastmath=True)
def clear(a: cuda.Array) -> None:
    a[cuda.grid(1)] = 0

@cuda.jit("void(float32[:])")
def declared(a: cuda.Array) -> None:
    a[cuda.grid(1)] = 0

x = np.ones(10, np.float32)
d = cuda.to_device(x)
add[1, 32](d, x, 10)
add[np.int64(1), (32, 1, 1)](d, x, n=10)
add[[1, 2], 32, 0](d, x, 10)
add[1, 32, cuda.stream(), 0, None](d, x, 10)
add.forall(10)(d, x, 10)
add.configure(1, 32, sharedmem=64)(d, x, 10)
add[1, 32].bind(d, x, 10)()
clear[1, 10](d)
declared[1, 10](d)
add[1, 32](cuda.In(x), cuda.InOut(x), 10)
clear[1, 10](cuda.Out(x))

def on_all(device: cuda.Device, stream: cuda.Stream, a: cuda.DeviceNDArray, *kernels: cuda.Dispatcher[[cuda.Array]]) -> cuda.Event:
    with device:
        for kernel in kernels:
            kernel[1, 10, stream](a)
        done = cuda.event()
        done.record(stream)
    return done

on_all(cuda.get_current_device(), cuda.stream(), d, clear, declared).wait()

class Tensor:  # as PyTorch's: size is a method
    shape, ndim, dtype = (10,), 1, "float32"
    def size(self) -> int: return 10
    def __len__(self) -> int: return 10
    def __getitem__(self, index: object) -> float: return 0
    def __setitem__(self, index: object, value: float) -> None: ...

def with_tensor(t: Tensor) -> None:
    clear[1, 10](t)

vectorize(lambda v: v + 1)(d)
vectorize(lambda v, w: v + w)(d, d)
'''

# Each line that is wrong says what both checkers find: one of these words is in their messages.
WRONG = '''
import numpy as np
from pyptx import cuda
x = np.ones(10, np.float32)

@cuda.jit
def add(a: cuda.Array, n: int) -> None:
    i = cuda.grid(1)
    print(i.x)  # attribute
    cuda.grid(4)  # overload|Literal
    cuda.syncthreads(1)  # argument

@cuda.jit(fastmath=True)
def clear(a: cuda.Array) -> None:
    a[cuda.grid(1)] = 0

add(x, 10)  # callable
add[1, 32](x)  # missing
add[1, 32](x, 10, 3)  # positional|many
add[1, 32](x, "10")  # int
add[1](x, 10)  # index|assign
add[1.5, 32](x, 10)  # float
clear(x)  # callable
clear[1, 2]()  # missing
clear[1, 2](3)  # Array
cuda.jit(fastmat=True)  # overload
cuda.to_device(x).copy_to_hots()  # attribute
'''


def mypy(folder):
    """{(file, line): message} of the errors in a folder's programs."""
    files = [str(p) for p in sorted(folder.rglob("*.py"))]
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", *files],
                         cwd=folder, capture_output=True, text=True)
    found = {(pathlib.Path(file).name, int(line)): text for file, line, text in re.findall(r"^([^:\n]+):(\d+): error: (.*)$", ran.stdout, re.M)}
    assert not ran.stderr and ran.returncode == bool(found), ran.stderr + ran.stdout
    return found


def pyright(folder):
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    ran = subprocess.run([str(pathlib.Path(sys.executable).parent / "basedpyright"), "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)],
                         cwd=folder, capture_output=True, text=True)
    answer = json.loads(ran.stdout)
    assert answer["summary"]["filesAnalyzed"] == len(list(folder.rglob("*.py")))
    return {(pathlib.Path(d["file"]).name, d["range"]["start"]["line"] + 1): d["message"] for d in answer["generalDiagnostics"] if d["severity"] == "error"}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_right_program(tmp_path, checker):
    (tmp_path / "right.py").write_text(RIGHT)
    assert checker(tmp_path) == {}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_examples(tmp_path, checker):
    """All of examples, those with Dask, JAX, MPI and PyTorch too."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    assert checker(tmp_path) == {}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_every_public_name_is_known(tmp_path, checker):
    """What `import a as b` says in a stub is known to the stub alone."""
    names = [f"pyptx.{name}" for name in pyptx.__all__] + [f"cuda.{name}" for name in cuda.__all__]
    (tmp_path / "names.py").write_text("\n".join(["import pyptx", "from pyptx import cuda", *(f"print({name})" for name in names)]))
    assert checker(tmp_path) == {}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_wrong_program(tmp_path, checker):
    (tmp_path / "wrong.py").write_text(WRONG)
    found = {line: text for (_, line), text in checker(tmp_path).items()}
    wanted = {n: line.split("  # ")[1] for n, line in enumerate(WRONG.splitlines(), 1) if "  # " in line}
    assert found.keys() == wanted.keys(), found
    for line, words in wanted.items():
        assert re.search(words, found[line], re.I), (line, found[line])


def test_the_programs_run(tmp_path):
    """The right one does; of the wrong one each line that is called wrong raises, too."""
    exec(compile(RIGHT, "right.py", "exec"), {})
