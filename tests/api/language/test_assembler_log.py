"""What the GPU's assembler says of a kernel is an error or advice of its line: by ptxas where that is, by the driver's compiler in a launch."""

import importlib
import re
import shutil

import pytest
from standin import needs_standin, run

from pyptx import CompileError, cli, cuda

HEAD = """
import numpy as np
from pyptx import cuda

@cuda.jit('void(float32[:,::1], float16[:,::1], int64)'OPTIONS)
def kernel(out, x, n):
    t = cuda.threadIdx.x
    s = cuda.shared.array((256, 64), np.float16, alignment=1024)
    for i in range(t, 256 * 64, 128):
        s[i // 64, i % 64] = x[i // 64, i % 64]
    cuda.fence_proxy_async_shared()
    cuda.syncthreads()
    acc = cuda.wgmma.zeros(64, WIDTH, np.float32)
    two = cuda.wgmma.zeros(64, WIDTH, np.float32)
    for step in range(n):
        cuda.wgmma.fence()
        for kk in range(0, 64, 16):
            acc = cuda.wgmma.mma(s[:64, kk:kk + 16], s[:WIDTH, kk:kk + 16], acc)  # here
            BODY
        cuda.wgmma.commit()
        END
    acc, two = cuda.wgmma.wait(0, acc, two)
    for i in range(WIDTH // 2):
        out[i, t] = acc[i] + two[i]
"""


def products(width, body, end, options=""):
    return HEAD.replace("WIDTH", str(width)).replace("BODY", body).replace("END", end).replace("OPTIONS", options)


BOTH = "two = cuda.wgmma.mma(s[64:128, kk:kk + 16], s[:WIDTH, kk:kk + 16], two)"
WAIT = "acc, two = cuda.wgmma.wait(0, acc, two)"
ROLES = """
from pyptx import cuda

@cuda.jit('void(float32[::1])')
def kernel(x):
    if cuda.threadIdx.x // 128 == 0:
        cuda.setmaxregister_decrease(40)  # here
    else:
        cuda.setmaxregister_increase(232)
    x[cuda.grid(1)] = 1
"""
SPILLS = """
from pyptx import cuda

@cuda.jit(max_registers=32)
def kernel(out, x):
    t = cuda.threadIdx.x
    values = cuda.local.array(96, 'float32')
    for k in range(96):
        values[k] = x[t + 1024 * k]
    cuda.syncthreads()
    for k in range(96):
        out[t + 1024 * k] = values[k] * x[t]
"""
# what is wrong: the source, the code, what the assembler says
WRONG = {
    "two accumulators that do not fit": (products(256, BOTH.replace("WIDTH", "256"), WAIT), "PT413", "serialized due to insufficient register resources"),
    "fewer registers than one takes": (products(256, "pass", WAIT, ", max_registers=64"), "PT413", r"Insufficient registers \(64\)"),
    "exchanged in flight": (products(128, "pass", "acc, two = two, acc\n        acc = cuda.wgmma.wait(1, acc)"), "PT414", "serialized due to non wgmma instructions"),
    "how many threads is not known": (ROLES, "PT809", "'setmaxnreg' ignored; unable to determine register count at entry"),
}
RIGHT = products(128, BOTH.replace("WIDTH", "128"), WAIT)


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
@pytest.mark.parametrize("what", WRONG)
def test_of_ptxas(what, tmp_path, capsys):
    source, code, words = WRONG[what]
    path = tmp_path / "wrong.py"
    path.write_text(source)
    status = cli.main(["compile", str(path), "--arch", "sm_90", "--emit", "cubin", "-o", str(tmp_path / "k.cubin")])
    said = capsys.readouterr().err
    line = source[: source.index("# here")].count("\n") + 1
    assert re.search(rf"{code}: .*{words}", said) and f"wrong.py:{line}:" in said, said
    assert (status == 0) == (code == "PT809")


def imported(source, path, monkeypatch):
    path.write_text(source)
    monkeypatch.syspath_prepend(path.parent)
    return importlib.import_module(path.stem).kernel


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
def test_resources_of_ptxas(tmp_path, monkeypatch):
    """The numbers are those that stand in the log; advice has the line."""
    kernel = imported(ROLES, tmp_path / "resources_roles.py", monkeypatch)
    found = kernel.resources("void(float32[::1])", arch="H100")
    assert [(a.code, a.line) for a in found["advice"]] == [("PT809", 1 + ROLES.split("# here")[0].count("\n"))]
    assert "'setmaxnreg' ignored" in found["log"] and found["registers"] == int(re.search(r"Used (\d+) registers", found["log"])[1])
    right = imported(RIGHT, tmp_path / "resources_right.py", monkeypatch)
    signature = "void(float32[:,::1], float16[:,::1], int64)"
    found = right.resources(signature, arch="sm_90")
    assert found["advice"] == [] and found["static_shared"] == 256 * 64 * 2 and found["local"] == found["spill_stores"] == 0
    fewer = imported(SPILLS, tmp_path / "resources_spills.py", monkeypatch)
    found = fewer.resources("void(float32[::1], float32[::1])", arch="sm_90")
    assert found["registers"] == 32 and found["spill_stores"] > 32 and [a.code for a in found["advice"]] == ["PT807"]
    with pytest.raises(ValueError, match="arch is a GPU's"):
        fewer.resources("void(float32[::1], float32[::1])", arch="host")


REFUSED = """
from pyptx import cuda

@cuda.jit
def kernel(x):
    x[0] = 1
    cuda.inline_ptx("mov.u32 nowhere, 1;")  # here
"""


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
@pytest.mark.parametrize("call", ["resources", "inspect_sass", "report", "cubin", "sass", "--resource-usage"])
def test_a_text_that_ptxas_refuses(call, tmp_path, monkeypatch, capsys):
    """Whoever has it assembled gets its line."""
    path = tmp_path / f"refused_{call.strip('-').replace('-', '_')}.py"
    kernel = imported(REFUSED, path, monkeypatch)
    if call in ("resources", "inspect_sass"):
        with pytest.raises(CompileError) as caught:
            getattr(kernel, call)("float32[::1]", arch="sm_90")
        said = str(caught.value)
    elif call == "report":  # which has all the rest
        (data,) = kernel.report("float32[::1]", arch="sm_90").data
        said = data["usage_missing"]
    else:
        emit = [call] if call.startswith("--") else ["--emit", call]
        assert cli.main(["compile", str(path), "--sig", "float32[::1]", "--arch", "sm_90", *emit, "-o", str(tmp_path / "k")]) == 1
        said = capsys.readouterr().err
    assert re.search(r"PT411: the assembler refuses line 1 of the text", said) and f"{path.name}:{1 + REFUSED.split('# here')[0].count(chr(10))}:" in said, said


ARRAYS = """
import numpy as np
from pyptx import cuda

@cuda.jit(device=True)
def fill(values, x, n):
    for k in range(n):
        values[k] = x[k]

@cuda.jit(device=True)
def largest(x, n):
    places = cuda.local.array(8, np.int32)
    for k in range(n):
        places[k % 8] = k
    return places[n % 8]

@cuda.jitOPTIONS
def kernel(x, n):
    BODY
"""
# what lies in local memory: (body, options, the lines of its arrays and their bytes)
WHERE = {
    "an index of the launch": ("a = cuda.local.array(32, np.float32)\n    for k in range(n):\n        a[k * k % 32] = x[k]\n    x[0] = a[n]", "", [(1, 128)]),
    "large": ("a = cuda.local.array((20, 10), np.float32)\n    for k in range(200):\n        a[k // 10, k % 10] = x[k]\n    for k in range(200):\n        x[k] = a[19 - k // 10, k % 10]", "", [(1, 800)]),
    "handed to a function": ("a = cuda.local.array(16, np.float32)\n    fill(a, x, n)\n    x[0] = a[0] + a[15]", "", [(1, 64)]),
    "made in a function": ("x[0] = largest(x, n)", "", [(-6, 32)]),
    "one of two": ("a = cuda.local.array(4, np.float32)\n    b = cuda.local.array(64, np.float32)\n    for k in range(4):\n        a[k] = x[k]\n    for k in range(n):\n        b[k] = a[0] * x[k] + a[3]\n    x[0] = b[n]", "",
                   [(2, 256)]),
    "two": ("a = cuda.local.array(16, np.float32)\n    b = cuda.local.array(64, np.int8)\n    fill(a, x, n)\n    for k in range(n):\n        b[k] = x[k]\n    x[0] = b[n] + a[n]", "", [(1, 64), (2, 64)]),
    "unrolled": ("a = cuda.local.array(16, np.float32)\n    for k in range(16):\n        a[k] = x[k]\n    for k in range(16):\n        x[k] = a[15 - k]", "", []),
    "constants": ("a = cuda.local.array(100, np.float32)\n    a[3] = x[0]\n    a[90] = x[n]\n    x[1] = a[3] * a[90]", "", []),
    "shared": ("a = cuda.shared.array(32, np.float32)\n    a[n] = x[0]\n    x[1] = a[n + 1]", "", []),
    "spills alone": ("a = cuda.local.array(96, np.float32)\n    for k in range(96):\n        a[k] = x[n + 1024 * k]\n    cuda.syncthreads()\n    for k in range(96):\n        x[1024 * k] = a[k] * x[n]", "(max_registers=32)", []),
    "every value of a debugged kernel": ("a = cuda.local.array(32, np.float32)\n    a[n] = x[0]\n    x[1] = a[n - 1]", "(debug=True)", []),
}  # fmt: skip


# Costs 0.2 s a case, most of it ptxas.
@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
@pytest.mark.parametrize("what", WHERE)
def test_arrays_in_local_memory(what, tmp_path, monkeypatch):
    """PT810 has the place of each array that is kept in memory, and its bytes; what ptxas puts into registers is not mentioned."""
    body, options, lines = WHERE[what]
    source = ARRAYS.replace("OPTIONS", options).replace("BODY", body)
    kernel = imported(source, tmp_path / f"arrays_{list(WHERE).index(what)}.py", monkeypatch)
    found = kernel.resources("float32[::1], int64", arch="sm_90")
    first = source[: source.index("def kernel")].count("\n") + 1
    assert sorted((a.line - first, int(re.search(r"(\d+) bytes", a.message)[1])) for a in found["advice"] if a.code == "PT810") == lines, found["advice"]
    assert found["local"] >= sum(size for _, size in lines)
    assert "PT810" not in "".join(map(str, kernel.advice("float32[::1], int64")))  # which asks no assembler
    (data,) = kernel.report("float32[::1], int64", arch="sm_90").data
    assert sorted(a["line"] - first for a in data["advice"] if a["code"] == "PT810") == [line for line, _ in lines]


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
@pytest.mark.unchecked("no other advice may be given")
def test_arrays_in_local_memory_on_the_command_line(tmp_path, monkeypatch, capsys):
    """Who asks for resources is told; it is no warning, and no error where advice is."""
    path = tmp_path / "arrays.py"
    path.write_text(ARRAYS.replace("OPTIONS", "").replace("BODY", WHERE["large"][0]))

    def compiled(mode, *arguments):
        monkeypatch.setenv("PYPTX_ADVICE", mode)
        status = cli.main(["compile", str(path) + ":kernel", "--sig", "float32[::1], int64", "--arch", "sm_90", "-o", str(tmp_path / "k"), *arguments])
        return status, capsys.readouterr().err.count("PT810")

    assert compiled("1", "--resource-usage") == compiled("error", "--resource-usage") == (0, 1)
    assert compiled("1", "--emit", "cubin") == compiled("0", "--resource-usage") == (0, 0)


@pytest.mark.parametrize("arch", [None, "sm_90"])
def test_a_device_function_takes_no_resources(arch):
    with pytest.raises(RuntimeError, match="it is compiled in the kernels that call it"):
        cuda.jit(device=True)(lambda x: x).resources(arch=arch)


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
@pytest.mark.parametrize("emit", ["cubin", "fatbin", "sass"])
def test_nothing_of_right_kernels(emit, tmp_path, capsys):
    """And sm_90 with what only sm_90a has is assembled as that."""
    if emit != "cubin" and not shutil.which({"fatbin": "fatbinary", "sass": "nvdisasm"}[emit]):
        pytest.skip("the tool is not on PATH")
    path = tmp_path / "right.py"
    path.write_text(RIGHT)
    assert cli.main(["compile", str(path), "--arch", "sm_90", "--emit", emit, "-o", str(tmp_path / "k")]) == 0
    said = capsys.readouterr().err
    assert not re.search("PT41|PT80[89]", said) and (tmp_path / "k").stat().st_size > 1000, said


LAUNCH = """
import sys, warnings
import numpy as np
from pyptx import Advice, CompileError
from standin import driver

warnings.simplefilter("always")
driver().say(SAID)
import wrong
line = 1 + open(wrong.__file__).read().split("# here")[0].count("\\n")
args = [np.zeros((128, 128), np.float32), np.zeros((256, 64), np.float16), 1][:1 if "setmax" in open(wrong.__file__).read() else 3]
args[0] = args[0] if len(args) == 3 else args[0][0]
with warnings.catch_warnings(record=True) as caught:
    for _ in range(2):
        try:
            wrong.kernel[1, 128](*args)
            print("launched")
        except CompileError as e:
            print(e.code, e.lineno == line, str(e).splitlines()[0])
print([(w.message.code, w.message.line == line) for w in caught if w.message.code != "PT803"])
print([a.code for said in wrong.kernel.advice().values() for a in said if a.code != "PT803"])
if len(args) == 1:  # the one that works
    for found in wrong.kernel.resources().values():
        print([(a.code, a.line == line) for a in found["advice"]], found["log"], found["registers"], found["spill_stores"])
"""


@needs_standin
@pytest.mark.parametrize("what", WRONG)
@pytest.mark.unchecked("no other advice may be given")
def test_of_the_driver(what, tmp_path):
    """An error is raised by each launch; what works is advice, once."""
    source, code, words = WRONG[what]
    source = re.sub(r"'void\(.*?\)\)?'(, )?", "", source)  # compiled by the launch
    (tmp_path / "wrong.py").write_text(source)
    said = "ptxas info    : (C7500) Potential Performance Loss: " + {
        "PT413": "wgmma.mma_async instructions are serialized due to insufficient register resources for the function 'kernel'\n",
        "PT414": "wgmma.mma_async instructions are serialized due to non wgmma instructions reading accumulator registers\n",
        "PT809": "'setmaxnreg' ignored; unable to determine register count at entry.\n"}[code] + "ptxas info    : 8 bytes gmem\n"  # fmt: skip
    out = run(f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n" + LAUNCH.replace("SAID", repr(said.encode()))).splitlines()
    if code == "PT809":
        assert out == ["launched", "launched", "[('PT809', True)]", "['PT809']", "[('PT809', True)] ptxas info : (C7500) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry. ptxas info : 8 bytes gmem 32 None"], out
    else:
        assert [line.split(":")[0] for line in out[:2]] == [f"{code} True {code}"] * 2 and "8 bytes" not in out[0], out
        assert out[2] == "[]"
