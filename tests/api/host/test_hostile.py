"""Input made to break the compiler: each case ends in an error or works; none crashes, hangs or runs out of C stack.

Each runs in a process of its own, with a time limit, on a thread with a small stack too.
"""

import os
import subprocess
import sys
import textwrap

import pytest

SETUP = """
import gc, sys, threading, types, collections, linecache
import numpy as np
import pyptx
from pyptx import cuda
OUT = np.zeros(16)
STACK = 0
def define(source, name="kernel", **scope):
    linecache.cache["hostile.py"] = (len(source), None, source.splitlines(True), "hostile.py")
    namespace = {"cuda": cuda, "np": np, **scope}
    exec(compile(source, "hostile.py", "exec"), namespace)
    return namespace[name]
def launch(f, *args):
    cuda.jit(f)[1, 1](OUT, *args)
    cuda.synchronize()
    print("ran")
def attempt(f, *args):
    if not STACK:
        return tried(f, *args)
    threading.stack_size(STACK)
    failed = []
    def body():
        try:
            tried(f, *args)
        except BaseException as e:
            failed.append(e)
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert not failed, failed
def tried(f, *args):
    try:
        launch(f, *args)
    except Exception as e:
        assert len(str(e).splitlines()) <= 15, str(e)
        assert "PT405" not in str(e), str(e)
        print(type(e).__name__, str(e).splitlines()[0][:150])
"""

CASES = {
    "frozen slices and tuples that hold the one before twice": """
        S, T, both = slice(1, 2), (1, 2), slice(1, 2)
        for _ in range(30):
            S, T, both = slice(S, S), (T, T), slice((both, both), (both, both))
        for name, frozen in (("S", S), ("T", T), ("both", both)):
            attempt(define(f"def kernel(o):\\n  if {name}:\\n    o[0] = 1", **{name: frozen}))
            attempt(define(f"def kernel(o):\\n  o[{name}] = 1", **{name: frozen}))
        """,
    "a list in itself as a signature": """
        def kernel(o): o[0] = 1
        l = []
        l.append(l)
        try:
            cuda.jit(kernel).compile(l)
        except RecursionError as e:
            print(e)
        """,
    "a list that reading it empties": """
        l = []
        class Evil:
            @property
            def dtype(self):
                l.clear()
                return np.dtype("f4")
            def __index__(self):
                l.clear()
                return 1
        def kernel(o): o[0] = 1
        l += [Evil(), Evil(), "float32"]
        try:
            cuda.jit(kernel).compile(l)
        except pyptx.CompileError as e:
            print(e)
        l += [Evil(), Evil(), 1]
        cuda.jit(kernel)[l, 1](OUT)
        """,
    "a class that says it has members": """
        class Items:
            def items(self): return [7]
        class Meta(type):
            def __iter__(self): return iter([1])
        class Weird(metaclass=Meta):
            __members__ = Items()
            _sort_order_ = 1 << 40
        attempt(define("def kernel(o):\\n    o[0] = Weird.x", Weird=Weird))
        attempt(define("def kernel(o, w):\\n    o[0] = 1"), Weird())
        """,
    "Enum members with other names": """
        import enum
        class E(enum.Enum):
            A = 1
            B = 2
            @property
            def name(self): return 5
        k = define("def kernel(o, m):\\n    o[0] = m is E.A\\n    o[1] = E.B.value", E=E)
        attempt(k, E.A)
        assert OUT[0] == 1 and OUT[1] == 2
        """,
    "cuda.In of itself": """
        class Loop:
            __pyptx_way__ = (True, True)
            @property
            def value(self): return self
        attempt(define("def kernel(o, x):\\n    o[0] = 1"), Loop())
        """,
    "an argument that makes its array anew": """
        class Fresh:
            __pyptx_way__ = (True, True)
            @property
            def value(self): return cuda.to_device(np.full(4, 7.0))
        attempt(define("def kernel(o, x):\\n    for i in range(x.size):\\n        o[i] = x[i]"), Fresh())
        assert (OUT[:4] == 7).all()
        """,
    "an interface beyond 63 bits": """
        class Huge:
            def __init__(self, shape, strides): self.shape, self.strides = shape, strides
            @property
            def __cuda_array_interface__(self):
                return {"shape": self.shape, "strides": self.strides, "typestr": "<f4", "data": (4096, False), "version": 3}
        for shape, strides in [((1 << 40, 1 << 40), None), ((1 << 62,), None), ((1 << 40,), (1 << 40,)), ((1 << 40, 1 << 40), (0, 0))]:
            try:
                cuda.as_cuda_array(Huge(shape, strides)).nbytes
            except TypeError as e:
                assert "63 bits" in str(e), e
                print(e)
            else:
                assert False, shape
        """,
    "an interface that its own numbers empty": """
        d = {}
        class Array:
            __cuda_array_interface__ = d
        class Index:
            def __index__(self):
                d.clear()
                return 4
        d.update(shape=(Index(), Index()), strides=(Index(), Index()), typestr="<f4", data=(Index(), Index()), version=3)
        try:
            cuda.as_cuda_array(Array())
        except TypeError as e:
            print(e)
        """,
    "sum of 10,000 terms": 'attempt(define("def kernel(o, a):\\n    b = a\\n" + "    b = b + a + a + a\\n" * 3333 + "    o[0] = b\\n"), 1)',
    "80 parentheses deep": 'attempt(define("def kernel(o, a):\\n    o[0] = " + "(a+" * 80 + "a" + ")" * 80), 1)',
    "chain of unary minus": 'attempt(define("def kernel(o, a):\\n    o[0] = " + "-" * 80 + "a"), 1)',
    "long attribute chain": 'attempt(define("def kernel(o):\\n    o[0] = o" + ".T" * 2000 + ".size"))',
    "long attribute chain of a module": 'attempt(define("def kernel(o):\\n    o[0] = cuda" + ".cuda" * 2000))',
    "long chain of subscripts": 'attempt(define("def kernel(o, t):\\n    o[0] = t" + "[0]" * 2000), (1,))',
    "1,000 calls": 'attempt(define("def f(x):\\n    return x + 1\\ndef kernel(o, a):\\n" + "    a = f(a)\\n" * 1000), 1)',
    "100 functions deep": """
        source = "def f0(x):\\n    return x\\n"
        for k in range(100):
            source += f"def f{k + 1}(x):\\n    return f{k}(x) + 1\\n"
        attempt(define(source + "def kernel(o):\\n    o[0] = f100(1)\\n"))""",
    "closures nested 15 deep": """
        source = "def kernel(o):\\n"
        for k in range(15):
            source += "    " * (k + 1) + f"def f{k}(x):\\n"
        source += "    " * 16 + "return x\\n"
        for k in reversed(range(15)):
            source += "    " * (k + 1) + (f"return f{k}\\n" if k else "o[0] = f0(1)\\n")
        attempt(define(source))""",
    "5,000 lines": 'attempt(define("def kernel(o, a):\\n" + "    a = a * 3 + 1\\n" * 5000 + "    o[0] = a\\n"), 1)',
    "3,000 ifs": 'attempt(define("def kernel(o, a):\\n" + "".join(f"    if a > {k}:\\n        a += 1\\n" for k in range(3000)) + "    o[0] = a\\n"), 1)',
    "10,000 locals": 'attempt(define("def kernel(o, a):\\n" + "".join(f"    v{k} = a + {k}\\n" for k in range(10000)) + "    o[0] = v9999\\n"), 1)',
    "tuple of 100,000 constants": 'attempt(define("def kernel(o):\\n    o[0] = T[5]\\n", T=tuple(range(100000))))',
    "literal of 20,000 constants": 'attempt(define("def kernel(o):\\n    t = (" + "1," * 20000 + ")\\n    o[0] = t[7]\\n"))',
    "argument of 100,000 items": 'attempt(define("def kernel(o, t):\\n    o[0] = 1\\n"), tuple(range(100000)))',
    "argument nested 5,000 deep": """
        t = (1,)
        for k in range(5000):
            t = (t,)
        attempt(define("def kernel(o, t):\\n    o[0] = 1\\n"), t)""",
    "global nested 100,000 deep": """
        t = (1,)
        for k in range(100000):
            t = (t,)
        attempt(define("def kernel(o):\\n    o[0] = len(T)\\n", T=t))""",
    "a list that holds itself": """
        x = []
        x.append(x)
        attempt(define("def kernel(o):\\n    o[0] = len(X)\\n", X=x))
        attempt(define("def kernel(o, x):\\n    o[0] = 1\\n"), x)""",
    "a tuple that holds itself": """
        x = []
        t = (x, 1)
        x.append(t)
        attempt(define("def kernel(o):\\n    o[0] = T[1]\\n", T=t))
        attempt(define("def kernel(o, t):\\n    o[0] = t[1]\\n"), t)""",
    "a function whose default is itself": """
        f = define("def f(x, g=None):\\n    return x\\n", "f")
        f.__defaults__ = (f,)
        attempt(define("def kernel(o):\\n    o[0] = f(1)\\n", f=f))""",
    "a closure that holds itself": """
        def outer():
            def f(x):
                return x if x < 1 else f(x - 1)
            def kernel(o):
                o[0] = f(3)
            return kernel
        attempt(outer())""",
    "a namedtuple in a cycle": """
        P = collections.namedtuple("P", "a b")
        box = []
        p = P(1, box)
        box.append(p)
        attempt(define("def kernel(o):\\n    o[0] = p.a\\n", p=p))
        attempt(define("def kernel(o, p):\\n    o[0] = p.a\\n"), p)""",
    "very long names": """
        n = "n" * 100000
        attempt(define(f"def kernel(o, {n}):\\n    o[0] = {n}\\n"), 1)
        attempt(define(f"def kernel(o):\\n    o[0] = {n}\\n"))
        attempt(define(f"def {n}(o):\\n    o[0] = 1\\n", n))
        attempt(define(f"def kernel(o):\\n    o.{n}\\n"))""",
    "strings with odd characters": r"""
        for text in ("a\0b", "\ud800", "line\nbreak", "\x1b[31m", "{0} %s %n", "'\"", "\u202e" * 100, "x" * 100000):
            attempt(define("def kernel(o):\n    print(S)\n    o[0] = S == 'a'\n", S=text))
            attempt(define("def kernel(o, s):\n    o[0] = 1\n"), text)
            attempt(define("def kernel(o):\n    assert o[0] < 0, S\n", S=text))""",
    "names with odd characters": r"""
        def f(o):
            o[0] = zzz
        for name in ("a\0b", "\ud800", "new\nline", "%s%n"):
            attempt(types.FunctionType(f.__code__.replace(co_name=name), {"zzz": 1}))
            attempt(types.FunctionType(f.__code__.replace(co_names=(name,)), {"zzz": 1}))
            attempt(types.FunctionType(f.__code__.replace(co_varnames=(name,)), {"zzz": 1}))
            attempt(types.FunctionType(f.__code__.replace(co_filename=name), {}))
            attempt(types.FunctionType(f.__code__.replace(co_qualname=name), {}))""",
    "replaced code": """
        import random
        def f(o, a):
            for i in range(5):
                if a > i:
                    o[i] = a + i * 2
        random.seed(1)
        for k in range(400):
            code = bytearray(f.__code__.co_code)
            for _ in range(random.randrange(1, 6)):
                # CPython itself crashes on some opcodes: only those that are there; and co_code clears the caches of
                # the last instruction where they would be, beyond the end: so the end stays as it is
                at = random.randrange(len(code) - 24)
                code[at] = random.randrange(256) if at % 2 else f.__code__.co_code[random.randrange(len(code) // 2) * 2]
            attempt_code = f.__code__.replace(co_code=bytes(code))
            try:
                cuda.compile_ptx(types.FunctionType(attempt_code, globals()), "void(float64[:], int64)")
            except Exception:
                pass
        for change in (dict(co_stacksize=0), dict(co_consts=()), dict(co_names=()), dict(co_code=b""), dict(co_firstlineno=2**31 - 1),
                       dict(co_linetable=b""), dict(co_linetable=b"\\xff" * 50), dict(co_exceptiontable=b"\\xff" * 50)):
            try:
                code = f.__code__.replace(**change)
            except Exception:
                continue
            attempt(types.FunctionType(code, globals()), 1)""",
    "constants that are not there": """
        def f(o):
            o[0] = 1000.5
        for consts in ((), f.__code__.co_consts[:1]):
            if 1000.5 not in consts:
                try:
                    launch(types.FunctionType(f.__code__.replace(co_consts=consts), globals()))
                except pyptx.CompileError as e:
                    assert "a constant is out of range" in str(e), e
                    print("refused")
                else:
                    assert False, (consts, OUT[0])""",
    "evil objects": """
        class Evil:
            def __getattr__(self, name): raise RuntimeError("getattr " + name)
            def __eq__(self, other): raise RuntimeError("eq")
            def __hash__(self): raise RuntimeError("hash")
            def __bool__(self): raise RuntimeError("bool")
            def __len__(self): raise RuntimeError("len")
            def __iter__(self): raise RuntimeError("iter")
            def __repr__(self): raise RuntimeError("repr")
        class Liar:
            @property
            def __class__(self): return np.ndarray
        class Raiser:
            @property
            def __class__(self): raise RuntimeError("class")
        class Meta(type):
            def __getattr__(cls, name): raise RuntimeError("meta")
            def __eq__(cls, other): raise RuntimeError("meta eq")
            __hash__ = None
        class Made(metaclass=Meta): pass
        def interface(value):
            class Array:
                @property
                def __cuda_array_interface__(self): return value() if callable(value) else value
                @property
                def __array_interface__(self): return value() if callable(value) else value
            return Array()
        good = {"shape": (3,), "typestr": "<f8", "data": (0, False), "version": 3}
        def boom(): raise RuntimeError("interface")
        things = [Evil(), Liar(), Raiser(), Made, Made(), interface(boom), interface(None), interface(5), interface({}),
                  interface({**good, "shape": (-3,)}), interface({**good, "shape": 7}), interface({**good, "typestr": "<f99"}),
                  interface({**good, "typestr": 5}), interface({**good, "data": None}), interface({**good, "strides": (1, 2, 3)}),
                  interface({**good, "shape": (2**62, 2**62)}), interface({**good, "version": "x"})]
        for thing in things:
            attempt(define("def kernel(o):\\n    o[0] = X\\n", X=thing))
            attempt(define("def kernel(o):\\n    o[0] = X.name\\n", X=thing))
            attempt(define("def kernel(o):\\n    X(1)\\n", X=thing))
            attempt(define("def kernel(o, x):\\n    o[0] = 1\\n"), thing)""",
    "array subclass with evil attributes": """
        class A(np.ndarray):
            @property
            def dtype(self): raise RuntimeError("dtype")
            @property
            def shape(self): return (10**9,)
        a = np.zeros(4).view(A)
        attempt(define("def kernel(o):\\n    o[0] = X[1]\\n", X=a))
        attempt(define("def kernel(o, x):\\n    o[0] = x[1]\\n"), a)""",
    "compiling while collecting": """
        class Late:
            def __del__(self):
                attempt(define("def kernel(o):\\n    o[0] = 2\\n"))
        def callback(phase, info):
            if phase == "start" and not callback.busy:
                callback.busy = True
                attempt(define("def kernel(o):\\n    o[0] = 3\\n"))
                callback.busy = False
        callback.busy = False
        gc.callbacks.append(callback)
        gc.set_threshold(5)
        for k in range(5):
            x = Late()
            x.me = x
            del x
            attempt(define(f"def kernel(o):\\n    o[0] = {k}\\n"))
        gc.collect()""",
    "interrupted": """
        import _thread, time
        f = define("def kernel(o, a):\\n" + "    a = a * 3 + 1\\n" * 3000 + "    o[0] = a\\n")
        threading.Timer(0.05, _thread.interrupt_main).start()
        try:
            attempt(f, 1)
            time.sleep(0.5)
        except KeyboardInterrupt:
            print("interrupted")
        attempt(define("def kernel(o):\\n    o[0] = 2\\n"))""",
}
SMALL = ["sum of 10,000 terms", "80 parentheses deep", "long attribute chain", "global nested 100,000 deep", "100 functions deep",
         "argument nested 5,000 deep", "evil objects", "3,000 ifs"]  # fmt: skip


KIB = 1024 * (8 if "PYPTX_SANITIZED" in os.environ else 1)  # frames of sanitized code are several times as large


def run(body, seconds=120):
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", body], capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    assert done.stdout.strip(), "nothing was tried"
    return done.stdout


@pytest.mark.parametrize("case", CASES)
def test_hostile_input(case):
    run(SETUP + textwrap.dedent(CASES[case]))


@pytest.mark.parametrize("case", SMALL)
def test_on_a_small_stack(case):
    run(SETUP + f"STACK = {64 * KIB}\n" + textwrap.dedent(CASES[case]))
