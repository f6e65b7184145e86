"""Iterators in variables: enumerate, zip, reversed, x.flat and generator expressions, which Python uses up.

What a kernel takes does what CPython does with the same function. What would use an iterator twice is an error (PT127), and a generator
expression whose variables change before it is consumed is one too (PT120): both must be refused, whatever way the iterator takes.
"""

import numpy as np
import pytest
from harness import define, jit, run
from pyptx import CompileError

HEAD = """
def first(a, b=None):
    return a

def total(e):
    s = 0.0
    for p in e:
        s += p[0] * p[1]
    return s

def again(e):
    s = 0.0
    for p in e:
        s += p[0]
    for p in e:
        s += p[1]
    return s

def pair(e):
    return e, 2

def kernel(x, m, n, out):
"""

ONCE = """
e = enumerate(x)                    | for i, v in e: out[0] += i * v
e = reversed(x)                     | out[0] = sum(e)
e = reversed((1, 2, 3))             | out[0] = 2 in e
e = reversed((1, 2, n))             | a, b, c = e | out[0] = a * 100 + b * 10 + c
e = reversed((1, 2, n))             | a, *b = e | out[0] = a * 10 + b[1]
e = reversed((1, n))                | out[0] = divmod(*e)[0]
e = reversed((1, n))                | t = (0, *e) | out[0] = t[1] * 10 + t[2]
e = reversed((3, 1, 2))             | t = tuple(e) | out[0] = t[0] * 100 + t[1] * 10 + t[2]
e = reversed((3, 1, 2))             | out[0] = max(e) | out[1] = min(reversed((n, 5, 4)), key=lambda v: -v)
e = reversed(range(5))              | out[0] = any(e) | out[1] = all(reversed(range(3)))
e = reversed(x)                     | out[0] = total(enumerate(e, 1))
e = enumerate(x, 2)                 | out[0] = total(e) | out[1] = total(zip(x, x))
e = zip(x, reversed(x))             | out[0] = first(total)(first(e))
e = enumerate(x)                    | for i, v in e: | ~if i == 1: break | e = enumerate(x, 3) | for i, v in e: out[0] += i * v
for k in range(3):                  | ~e = zip(x, range(k, 9)) | ~for a, b in e: out[0] += a * b
e = enumerate(x)                    | for k in range(3): | ~for i, v in e: out[0] += i * v | ~break
e = enumerate(x) if n else enumerate(x, 9) | out[0] = total(e)
e = enumerate(x)                    | if n > 1: out[0] = total(e) | else: | ~for i, v in e: out[0] += v
e = enumerate(x)                    | if n > 1: | ~out[0] = total(e) | ~return | out[0] = -total(e)
t = (zip(x, x), 3, enumerate(x))    | out[0] = total(t[0]) + t[1] | out[1] = total(t[-1])
t = (zip(x, x), enumerate(x))       | a, b = t | out[0] = total(a) | out[1] = total(b)
t = (1, (2, zip(x, x)))             | out[0] = total(t[1][1]) + t[1][0] + t[0]
a, *b = enumerate(x), zip(x, x), 4  | out[0] = total(a) | out[1] = total(b[0]) + b[1]
a, *b = (enumerate(x),)             | out[0] = total(a) + len(b)
for e in (enumerate(x), enumerate(x, 2)): | ~for i, v in e: out[0] += i * v
e, k = pair(enumerate(x))           | out[0] = total(e) * k
e = enumerate(x)                    | f = lambda: total(e) | out[0] = f()
e = enumerate(x)                    | f = lambda a=e: total(a) | out[0] = f()
f = lambda: enumerate(x)            | out[0] = total(f()) | out[1] = total(f())
e = enumerate(x)                    | out[0] = sum(i * v for i, v in e)
e = zip(x, x)                       | if e is not None and not isinstance(e, tuple): out[0] = total(e)
t = (n, zip(x, x))                  | match t: | ~case (1, e): out[0] = total(e) | ~case (2, e): out[0] = -total(e)
f = m.flat                          | f[2] = 8 | for v in f: out[0] += v * len(f) | out[1] = f[3]
for v in m.flat: out[0] += v        | for v in m.flat: out[0] += v * v
r = range(n, 5)                     | for i in r: out[0] += i | for i in r: out[1] += i * i
g = (v * n for v in x)              | out[0] = sum(g)
a = x                               | g = (v * n for v in a) | a = m[0] | out[0] = sum(g)
w = 2                               | out[0] = sum(v * w for v in x) | w = 3 | out[1] = sum(v * w for v in x)
for w in range(3): out[0] += sum(v * w for v in x)
g = first((v * n for v in x))       | out[0] = sum(g)
"""

TWICE = """
e = enumerate(x)                    | for i, v in e: | ~if i == 1: break | for i, v in e: out[0] += v
e = reversed(x)                     | out[0] = sum(e) | out[1] = max(e, default=0)
e = reversed((1, 2, 3))             | out[0] = 2 in e | out[1] = 2 in e
e = enumerate(x)                    | for a, b in zip(e, e): out[0] += a[0] * b[1]
e = enumerate(x)                    | out[0] = first(total(e), total(e))
e = enumerate(x)                    | out[0] = again(e)
out[0] = again(zip(x, x))
e = zip(x, x)                       | for k in range(2): out[0] += total(e)
e = zip(x, x)                       | k = 0 | while k < 3: | ~k += 1 | ~for a, b in e: | ~~out[0] += a | ~~break
e = enumerate(x)                    | f = e | out[0] = total(f) | out[1] = total(e)
e = enumerate(x)                    | t = (e, 1) | out[0] = total(e) | out[1] = total(t[0])
t = (zip(x, x), 3)                  | out[0] = total(t[0]) | out[1] = total(t[0])
t = (zip(x, x), 3)                  | a, b = t | out[0] = total(a) | out[1] = total(t[0])
t = (zip(x, x), 3)                  | a, *b = t | out[0] = total(a) | out[1] = total(t[0])
t = pair(zip(x, x))                 | out[0] = total(t[0]) | a, b = t | out[1] = total(a)
e = enumerate(x)                    | for f in (e, e): out[0] += total(f)
for f in (enumerate(x),) * 2: out[0] += total(f)
for f in 2 * [enumerate(x)]: out[0] += total(f)
t = (enumerate(x), enumerate(x))    | for f in t: out[0] += total(f) | for f in t: out[1] += total(f)
t = (enumerate(x), enumerate(x))    | out[0] = total(t[n - 1]) | out[1] = total(t[n - 1])
e = reversed((1, 2))                | a, b = e | for v in e: out[0] += v
e = reversed((1, 2))                | a, b = e | c, d = e
e = reversed((1, 2))                | t = (*e, *e) | out[0] = len(t)
e = reversed((1, 2))                | out[0] = divmod(*e)[0] | out[1] = divmod(*e)[1]
e = zip(x, x)                       | f = e if n > 1 else zip(x, m[0]) | out[0] = total(f) | out[1] = total(e)
e = zip(x, x)                       | out[0] = total(e) | if n < 2: e = zip(x, x) | out[1] = total(e)
e = enumerate(x)                    | f = lambda: total(e) | out[0] = f() | out[1] = f()
e = enumerate(x)                    | f = lambda: total(e) | out[0] = f() | out[1] = total(e)
e = enumerate(x)                    | f = lambda: again(e) | out[0] = f()
e = enumerate(x)                    | f = lambda a=e: total(a) | out[0] = f() | out[1] = f()
e = enumerate(x)                    | f = lambda: e | out[0] = total(f()) | out[1] = total(f())
e = enumerate(x)                    | f = lambda k: total(e) if k else 0.0 | for k in range(3): out[0] += f(k)
e = enumerate(x)                    | out[0] = total(first(e)) | out[1] = total(first(e))
e = enumerate(x)                    | out[0] = sum(v for i, v in e) | out[1] = sum(v for i, v in e)
e = enumerate(x)                    | out[0] = sum(v * w for v in x for i, w in e)
f = m.flat                          | for v in f: out[0] += v | for v in f: out[0] += v
f = m.flat if n else x              | for v in f: out[0] += v | for v in f: out[0] += v
f = m.flat                          | for a, b in zip(f, f): out[0] += a * b
g = first((v * n for v in x))       | out[0] = sum(g) | out[1] = sum(g)
"""

LATE = """
w = 2                               | g = (v * w for v in x) | w = 3 | out[0] = sum(g)
w = 2                               | g = first((v * w for v in x)) | w = 3 | out[0] = sum(g)
w = 2                               | out[0] = sum((v * w for v in x), (w := 3))
w = x                               | g = (v * u for v in x for u in w) | w = m[0] | out[0] = sum(g)
w = 2                               | f = lambda v: v * w | g = (f(v) for v in x) | w = 3 | out[0] = sum(g)
w = 2                               | g = (v for v in x if v < w) | w = 3 | out[0] = max(g, default=0)
w = 2                               | t = (lambda: w,) + (lambda: 2 * w,) | w = 3 | out[0] = t[0]()
w = 2                               | t = (lambda: w,) * 2 | w = 3 | out[0] = t[0]()
w = 2                               | t = (lambda: w, 1) | t += (lambda: 2 * w,) | w = 3 | out[0] = t[2]()
w = 2                               | for f in (lambda: w,): | ~for k in range(2): | ~~out[0] += f() | ~~w = w + 1
w = 2                               | z = zip((lambda: w,), (1,)) | w = 3 | for f, k in z: out[0] += f()
w = 2                               | out[0] = sum((f() for f in (lambda: w,)), (w := 3))
"""


def programs(text):
    return [line for line in text.strip().splitlines()]


def kernel_of(program):
    lines = [part.strip().replace("~", "    ") for part in program.split("|")]
    return define(HEAD + "".join(f"    {line}\n" for line in lines))


def arguments():
    return [np.array([3.0, 1, 4, 1]), np.arange(6.0).reshape(2, 3), 2, np.zeros(2)]


@pytest.mark.parametrize("program", programs(ONCE))
def test_used_once(program):
    run(kernel_of(program), arguments())


@pytest.mark.parametrize("program", programs(TWICE))
def test_used_twice(program):
    with pytest.raises(TypeError, match="PT127"):
        jit(kernel_of(program))[1, 1](*arguments())


@pytest.mark.parametrize("program", programs(LATE))
def test_functions_and_generators_look_at_their_variables_late(program):
    with pytest.raises(SyntaxError, match=r"(?s)PT120: variable 'w' is assigned after .*( looks at its variables when it is consumed|<lambda> is defined here)"):
        jit(kernel_of(program))[1, 1](*arguments())


def test_the_places():
    """Where it was made and where it was used before, and in a loop that it was made outside."""
    with pytest.raises(CompileError) as e:
        jit(kernel_of("e = enumerate(x) | out[0] = total(e) | out[1] = total(e)"))[1, 1](*arguments())
    text = str(e.value)
    assert "the iterator 'e' may be used a second time here" in text
    assert text.index("out[1] = total(e)") < text.index("it is made here:") < text.index("it is used here before:") < text.index("help:")
    with pytest.raises(CompileError, match=r"(?s)'f', which holds an iterator, may.*it is made here, outside of the loop"):
        jit(kernel_of("e = enumerate(x) | f = lambda: total(e) | for k in range(n): out[0] += f()"))[1, 1](*arguments())


def test_a_reversed_object_is_no_tuple():
    for expression in ("reversed((1, 2))[0]", "len(reversed((1, 2)))", "reversed((1, 2)) + (3,)"):
        with pytest.raises(TypeError, match=r"PT20[45].*reversed"):
            jit(kernel_of(f"out[0] = {expression}"))[1, 1](*arguments())
