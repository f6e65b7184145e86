"""Programs that say `from numba import cuda`, unchanged: python -m pyptx.numba, pyptx.numba.install() and uninstall(), with Numba installed or not.

Each program runs in a process of its own. The installed Numba of these tests is a stand-in: a package with what programs import of it, in front of
sys.path; the same programs run beside the real one where it is installed."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

HERE = Path(__file__).parent
HAS_NUMBA = importlib.util.find_spec("numba") is not None

# A Numba with a cuda of its own, by a redirecting finder as numba-cuda's; what pyptx must leave alone and what it must replace.
FAKE = {
    "numba/__init__.py": "from numba.core import types\n__version__ = '0.60'\nfloat32 = types.float32\ndef njit(f):\n    f.kept = True\n    return f\n",
    "numba/core/__init__.py": "",
    "numba/core/types.py": "class Type:\n    pass\nclass Number(Type):\n    pass\nclass Float(Number):\n    name = 'float32'\nfloat32 = Float()\n",
    "numba_cuda/numba/cuda/__init__.py": "from numba.cuda.api import jit, grid\nreal = True\n",
    "numba_cuda/numba/cuda/api.py": "def jit(f):\n    return 'real kernel'\ndef grid(n):\n    return 'real grid'\n",
    "sitecustomize.py": """
        import importlib.util, sys
        class Finder:
            def find_spec(self, name, path=None, target=None):
                if 'numba.cuda' in name:
                    place = [p.replace('/numba', '/numba_cuda/numba', 1) if 'numba_cuda' not in p else p for p in path]
                    if place == path:
                        return None
                    for finder in sys.meta_path:
                        found = finder.find_spec(name, place, target)
                        if found is not None:
                            return found
        sys.meta_path.insert(0, Finder())
        """,
}

KERNEL = """
import sys
import numpy as np
from numba import cuda, float32
import numba.cuda.random
from numba.cuda.cudadrv.driver import CudaAPIError
from numba.cuda import float64, libdevice

@cuda.jit
def kernel(x, out):
    tile = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[31 - i] * 0.1

def run():
    x, out = np.arange(32, dtype=np.float32), np.zeros(32)
    kernel[1, 32](x, out)
    return out[0]
"""


# An installed Numba that nothing finds.
NOT_THERE = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda cls, name, path=None, target=None: None if name.split(".")[0] == "numba" else find(name, path, target))
"""


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


@pytest.fixture(params=["without", "with", "real"])
def python(request, tmp_path):
    """Runs a program with these arguments: without Numba, beside a stand-in for one, beside the real one."""
    if request.param == "real" and not HAS_NUMBA:
        pytest.skip("Numba is not installed")
    path = tmp_path / "site"
    path.mkdir()
    if request.param == "with":
        write(path, FAKE)
    if request.param == "without" and HAS_NUMBA:
        write(path, {"sitecustomize.py": NOT_THERE})

    def run(*arguments, fails=False, **variables):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *filter(None, [os.environ.get("PYTHONPATH")])]), "PYPTX_DEVICE": "host", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables}
        environment.pop("PYPTX_TYPING", None)
        done = subprocess.run([sys.executable, *map(str, arguments)], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stderr if fails else done.stdout

    run.kind, run.folder = request.param, tmp_path
    return run


def program(python, text, name="program.py"):
    (python.folder / name).write_text(dedent(text))
    return name


def test_a_program_as_it_is(python):
    name = program(python, KERNEL + "print(__name__, __file__, sys.argv, type(kernel).__module__, run() == 31 * 0.1)\n")
    assert python("-m", "pyptx.numba", name, "a", "-b").split("\n")[0] == f"__main__ {name} ['{name}', 'a', '-b'] pyptx._pyptx True"


def test_a_module_and_typing(python):
    program(python, KERNEL + "print(__name__, __spec__.name, sys.argv[1:], run() == np.float32(31) * np.float32(0.1))\n")
    assert python("-m", "pyptx.numba", "--typing", "numpy", "-m", "program", "-c") == "__main__ program ['-c'] True\n"


def test_children_of_multiprocessing(python):
    if python.kind == "with":
        pytest.skip("one of them is enough")
    name = program(python, KERNEL + """
import multiprocessing
if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(pool.apply(run) == run())
""")
    assert python("-m", "pyptx.numba", name) == "True\nTrue\n"


def test_a_suite_of_pytest(python):
    if python.kind == "with":
        pytest.skip("one of them is enough")
    program(python, "import pyptx.numba\npyptx.numba.install()\n", "conftest.py")
    program(python, KERNEL + "def test_it():\n    assert run() > 3 and type(kernel).__module__ == 'pyptx._pyptx'\n", "test_program.py")
    assert "1 passed" in python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_program.py")


def test_off_unless_asked_for(python):
    said = python("-c", "import pyptx.numba, pyptx.cuda\ntry:\n    from numba import cuda\n    print(hasattr(cuda, 'real'))\nexcept ImportError:\n    print('none')")
    assert said == {"with": "True\n", "without": "none\n", "real": "False\n"}[python.kind]


def test_uninstall(python):
    said = python("-c", dedent("""
        import sys, pyptx.numba, multiprocessing.spawn as spawn
        before = set(sys.meta_path), spawn.get_preparation_data
        pyptx.numba.uninstall()
        pyptx.numba.install()
        pyptx.numba.install()
        from numba import cuda
        import numba.cuda.random, numba.cuda.extending
        assert cuda.jit(lambda: None).__class__.__module__ == "pyptx._pyptx" and pyptx.numba.installed()
        pyptx.numba.uninstall()
        assert (set(sys.meta_path), spawn.get_preparation_data) == before and not pyptx.numba.installed()
        assert not [name for name in sys.modules if name.startswith("numba.cuda")]
        try:
            from numba import cuda
            print(cuda.__name__, hasattr(cuda, "real"))
        except ImportError:
            print("none")
        """))
    assert said == {"with": "numba.cuda True\n", "without": "none\n", "real": "numba.cuda False\n"}[python.kind]


MISSING = """
from types import new_class
from numba import cuda
from numba.cuda.extending import intrinsic, overload
from numba.cuda import simulator, nvvmutils
from numba.cuda.core.typing.templates import AbstractTemplate as signature
import numba.cuda.codegen
uses = [lambda: intrinsic(3), lambda: simulator.kernel.x(), lambda: new_class("A", (signature,)), lambda: isinstance(1, overload),
        lambda: signature | 1, lambda: nvvmutils.x[0], lambda: [*nvvmutils.x], lambda: bool(overload), lambda: setattr(nvvmutils, "x", 1),
        lambda: numba.cuda.codegen.CUDACodeLibrary()]
for use in uses:
    try:
        use()
    except NotImplementedError as error:
        print(error)
try:
    import numba.cuda.no_such_module
except ModuleNotFoundError as error:
    print(error.name)
@cuda.jit
def kernel(out):
    out[0] = intrinsic(3) + nvvmutils.x.y(4)
import numpy
try:
    kernel[1, 1](numpy.zeros(1))
except TypeError as error:
    print(error)
try:
    cuda.no_such_name
except AttributeError as error:
    print(error)
try:
    from numba.cuda import no_such_name
except ImportError as error:
    print("ImportError")
"""


def test_what_is_not_there(python):
    said = python("-m", "pyptx.numba", program(python, MISSING)).splitlines()
    assert len(said) == 18 and said[0].startswith("pyptx has no numba.cuda.extending.intrinsic: kernels call plain Python functions")
    assert "PYPTX_DEVICE=host" in said[1] and "numba.cuda.core.typing.templates.AbstractTemplate" in said[2]
    assert "<object of type numba.cuda.extending.intrinsic> cannot be called in a kernel" in said[11]
    assert [said[10], *said[-2:]] == ["numba.cuda.no_such_module", "module 'pyptx.cuda' has no attribute 'no_such_name'", "ImportError"]


def test_imported_before(python):
    if python.kind == "without":
        pytest.skip("there is nothing to import before")
    program(python, "from numba import cuda\nfrom numba.cuda import jit, grid\n@jit\ndef late(x):\n    x[0] = 1\ndef make(f):\n    return jit(f)\n", "before.py")
    said = python("-c", dedent("""
        import before, numba, pyptx.numba
        from pyptx import cuda
        kept, early = [before.cuda], before.late
        pyptx.numba.install()
        import numba.cuda
        assert numba.cuda is before.cuda is not kept[0] and before.grid is cuda.grid and before.late is early
        assert isinstance(before.make(lambda x: None), type(cuda.jit(lambda: None)))
        pyptx.numba.uninstall()
        assert numba.cuda is kept[0] is before.cuda and before.grid is not cuda.grid
        print("good")
        """))
    assert said == "good\n"


def test_an_installed_numba_keeps_its_own(python):
    if python.kind != "with":
        pytest.skip("of the stand-in")
    assert python("-m", "pyptx.numba", program(python, """
        import numba
        from numba import cuda, njit
        print(njit(lambda: 0).kept, numba.__version__, numba.float32.name, cuda.HAS_NUMBA)
        """)) == "True 0.60 float32 True\n"


NJIT = """
import numpy as np
from numba import njit, jit, prange, cuda, config, types, void, int32, from_dtype, literal_unroll, vectorize
from numba.core.errors import TypingError, NumbaPerformanceWarning, NumbaDeprecationWarning
from numba.core import types as core_types
import warnings, pickle
warnings.simplefilter("ignore", NumbaDeprecationWarning)

@njit("int64(int64)")
def square(x):
    return x * x

@jit(nopython=True, parallel=True)
def total(a, start=0):
    s = start
    for i in prange(a.size):
        s += a[i]
    return s, (a[0] * 0.5, a[0] == 1)

@njit
def fill(a, v):
    for i in range(a.size):
        a[i] = v

@njit
def bad(x):
    return open(x)

@njit
def rows(a):
    return a[1:]

@cuda.jit
def kernel(out):
    out[0] = square(7)

out = np.zeros(3, np.uint8)
print(square(5), square(1.5), total(np.full(9, 200, np.uint8)), total(np.ones(2, np.float32), start=1))
print(fill(out, 4), out, square.py_func(3), pickle.loads(pickle.dumps(square)) is square)
kernel[1, 1](out)
print(out[0], cuda.HAS_NUMBA, types.float32 is core_types.float32 is cuda.float32)
for call in (lambda: bad(3), lambda: rows(out), lambda: jit(forceobj=True), lambda: square(object())):
    try:
        print(call())
    except TypingError as error:
        print("TypingError")
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
from numba import stencil, typed
try:
    typed.List()
except NotImplementedError as error:
    print(error)
try:
    import numba
    numba.nothing
except AttributeError as error:
    print(error)
"""


def test_without_numba(python):
    if python.kind != "without":
        pytest.skip("of programs without Numba")
    said = python("-m", "pyptx.numba", program(python, NJIT)).splitlines()
    assert said[:3] == ["25 1 (1800, (100.0, False)) (3.0, (0.5, True))", "None [4 4 4] 9 True", "49 False True"]
    assert said[3] == "TypingError" and said[4].startswith("TypeError a compiled function cannot return") and said[5].startswith("ValueError object mode")
    assert said[6].startswith("TypeError") and said[7] == "pyptx has no numba.typed.List: kernels take arrays and tuples"
    assert said[8] == "module 'numba' (which is pyptx, since Numba is not installed) has no attribute 'nothing'"


NAMES = """
import numpy as np
from numba import njit

@njit
def scale(f, r, x):  # names that a wrapper might use
    x[0] = f * r
    return f + r, (r, x[1])

@njit
def three():
    return 3

print(scale(2, 3.5, np.arange(3.0)), three(), njit(lambda r: -r)(3))
for arguments in ((1, 2, "text"), (1, 2**64, np.zeros(2)), (1, 2, np.broadcast_to(0.0, 2)), (1, 2, np.zeros(1))):
    try:
        scale(*arguments)
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        print(str(error).splitlines()[0])
"""


def test_errors_name_the_parameters_of_a_compiled_function(python):
    if python.kind != "without":
        pytest.skip("of programs without Numba")
    said = python("-m", "pyptx.numba", program(python, NAMES)).splitlines()
    assert said[0] == "(5.5, (3.5, 1.0)) 3 -3"
    assert said[1].startswith("argument 3 ('x') has type str") and said[2].startswith("argument 2 ('r') does not fit 64 bits")
    assert said[3].startswith("scale() writes to an array that is read-only: argument 3 ('x')")
    assert said[4] == "index 1 is out of bounds for axis 0 of 'x' with size 1"


CPU = """
import numpy as np
import numba
from numba import config, float32, float64, guvectorize, int32, njit, types, vectorize

@vectorize(["float64(float64)"])
def half(x):
    return x / 2

@vectorize(cache=True)
def product(x, y):
    return x * y

@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", cache=True)
def twice(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * 2

@njit(int32(int32))
def wraps(x):
    return x * 2

@njit(["int64(int64)", "float64(float64)"])
def more(x):
    return x + 1

@njit("float64(float64[:], int32)")
def element(a, i):
    return a[i]

@njit("void(float64[:])")
def fill(a):
    a[0] = 3

@njit(types.UniTuple(float32, 2)(int32))
def pair(x):
    return x, x * 0.1

@njit
def divide(a, b):
    return a / b

@njit
def floor(a, b):
    return a // b

@njit(error_model="numpy")
def quotient(a, b):
    return a / b

@njit
def calls(x):
    return wraps(x), more(x), half(x), product(x, x)

a = np.zeros(2)
for call in (lambda: half(np.arange(4)), lambda: half(np.array([1j])), lambda: product(np.arange(4, dtype=np.int8), 3), lambda: twice(np.arange(4)),
             lambda: wraps(2**31 - 1), lambda: wraps(2.7), lambda: wraps(2**40 + 1), lambda: wraps(1j), lambda: wraps(a), lambda: more(2),
             lambda: more(2.5), lambda: more(np.float32(1.5)), lambda: more(np.int8(3)), lambda: element(np.arange(4.0), 2.9),
             lambda: element(np.arange(8.0)[::2], 2), lambda: element(np.arange(4), 2), lambda: (fill(a), a), lambda: pair(3), lambda: divide(1, 0),
             lambda: divide(1.0, 0.0), lambda: floor(1, 0), lambda: quotient(1.0, 0.0), lambda: calls(2**31 - 1), lambda: calls(3.7)):
    try:
        print(repr(call()))
    except (TypeError, ArithmeticError) as error:
        print(type(error).__name__)
print(config.DISABLE_JIT, config.THREADING_LAYER, numba.config is config)
config.THREADING_LAYER, config.DISABLE_JIT = "omp", 1
print(config.THREADING_LAYER, type(njit(lambda x: x)).__name__)
try:
    config.NO_SUCH
except AttributeError as error:
    print("AttributeError")
"""


def test_the_cpu_side_is_as_numbas(python):
    """24 calls of ufuncs and compiled functions, compared with an installed Numba's (it takes its compilation time, 8 s)."""
    if python.kind == "with":
        pytest.skip("of the real Numba, and of none")
    name = program(python, CPU)
    said = python("-m", "pyptx.numba", name) if python.kind == "without" else python(name)
    expected = ["array([0. , 0.5, 1. , 1.5])", "TypeError", "array([0, 3, 6, 9])", "array([0., 2., 4., 6.])", "-2", "4", "2", "TypeError", "TypeError", "3",
                "3.5", "2.5", "4", "2.0", "4.0", "TypeError", "(None, array([3., 0.]))", "(3.0, 0.30000001192092896)", "ZeroDivisionError",
                "ZeroDivisionError", "ZeroDivisionError", "inf", "(-2, 2147483648, 1073741823.5, 4611686014132420609)", "(6, 4.7, 1.85, 13.690000000000001)",
                "0 default True", "omp function", "AttributeError"]
    assert said.splitlines() == expected


def test_settings_beside_numba(python):
    if python.kind != "real":
        pytest.skip("of the real Numba")
    text = """
        import warnings
        import pyptx, numba{}
        import pyptx.numba
        pyptx.numba.install()
        from numba import cuda
        from numba.core.errors import NumbaPerformanceWarning
        for name in ("CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY", "CUDA_DEBUGINFO_DEFAULT"):
            before = getattr(pyptx.config, name)
            setattr(numba.config, name, 1)
            print(before, getattr(pyptx.config, name), getattr(numba.config, name))
        for action in ("always", "ignore"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter(action, NumbaPerformanceWarning)
                pyptx.errors.advise("PT817", action)
            print([isinstance(w.message, pyptx.Advice) and issubclass(w.category, NumbaPerformanceWarning) for w in caught])
        pyptx.numba.uninstall()
        numba.config.CUDA_DEBUGINFO_DEFAULT = 0
        print(pyptx.config.CUDA_DEBUGINFO_DEFAULT, type(numba.config).__name__, pyptx.errors.advice_class() is pyptx.Advice)
        """
    for name in (program(python, text.format("")), program(python, text.replace("numba{}", "sys"). replace("from numba import cuda", "import numba.cuda"), "late.py")):
        assert python(name).splitlines() == ["0 1 1"] * 3 + ["[True]", "[]", "1 module True"]


def test_what_the_count_of_numbas_tests_takes_out():
    """tests/tools/numba_suite.py: rows of "Not applicable" take out tests that pass too."""
    spec = importlib.util.spec_from_file_location("numba_suite", HERE.parents[2] / "tests/tools/numba_suite.py")
    suite = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    rows = [("a::T.inside*", "Not applicable: Numba's internals"), ("a::*", "Not there yet"), ("b::*", "Different on purpose")]
    results = {"a::T.inside1": ("passed", ""), "a::T.inside2": ("failed", "E"), "a::T.inside3": ("skipped", "no"), "a::T.x": ("passed", ""),
               "a::T.y": ("failed", "E"), "c::T.z": ("failed", "E")}
    listed, unneeded = suite.classify(results, rows)
    assert [outcome for _, outcome, _ in listed] == ["not applicable", "not applicable", "skipped", "passed", "failed, named", "failed"]
    assert [why for _, _, why in listed[:2]] == ["passed", "failed: E"] and unneeded == ["b::*"]
    text, count, counted = suite.report(results, rows)
    assert (count["passed"], counted) == (1, 3) and "1 of 3 (33.3 %)" in text
    assert any(section.startswith("Not applicable") for _, section in suite.rows_of_page())


def test_usage(python):
    assert "usage" in python("-m", "pyptx.numba", fails=True) and "usage" in python("-m", "pyptx.numba", "--help")
    assert "cannot find 'nothing.py'" in python("-m", "pyptx.numba", "nothing.py", fails=True)
    assert "typing is 'numba' or 'numpy', not 'c'" in python("-m", "pyptx.numba", "--typing", "c", "nothing.py", fails=True)


def test_the_simulators_variable(python):
    name = program(python, "from numba import cuda\nimport os\nprint(os.environ.get('PYPTX_DEVICE'))\n")
    assert python("-m", "pyptx.numba", name, PYPTX_DEVICE="auto", NUMBA_ENABLE_CUDASIM="1") == "auto\n"
    text = "import os\nos.environ.pop('PYPTX_DEVICE')\nimport pyptx.numba as n\nn.install()\nfrom numba import cuda\nprint(cuda.get_current_device().is_host)\n"
    assert python("-c", text + "n.uninstall()\nprint('PYPTX_DEVICE' in os.environ)", NUMBA_ENABLE_CUDASIM="1") == "True\nFalse\n"


def test_types_of_values(python):
    name = program(python, """
        import numpy as np
        from numba import cuda
        from numba.cuda.types import float32, int64
        from numba.cuda.np import numpy_support
        from numba.cuda.typing.typeof import typeof

        f = np.asfortranarray(np.zeros((2, 3), np.float32))
        print(typeof(1) == int64, typeof(np.float32(1)) == float32, repr(typeof(f)), repr(typeof(f[::2])), repr(typeof(cuda.to_device(f.T))))
        print(numpy_support.as_dtype(float32))
    """)
    assert python("-m", "pyptx.numba", name).splitlines() == ["True True float32[::1,:] float32[:,:] float32[:,::1]", "float32"]
