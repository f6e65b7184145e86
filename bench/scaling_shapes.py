"""Sources of generated kernels for bench/scaling.py: a shape each, as long as asked for.

Each function takes a size and returns the source of a function `kernel`, with what it calls, of two float32 arrays `a` and `b`; `arguments`
has as many arrays as its size. In those that tests/api/language/test_long_functions.py compares with CPython no thread reads what another writes but behind
a barrier, and no value overflows. SIZES has how large they are measured.
"""

TWO_ARRAYS = "float32[::1], float32[::1]"


def straight_lines(n):
    """About n lines: arithmetic with a branch and a loop here and there, on few variables."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]", "    y = b[i]", "    k = 0"]
    while len(lines) < n:
        j = len(lines)
        if j % 40 == 0:
            lines += [f"    if x > {j}.0:", "        y = x - y", "    else:", "        k = k + 1"]
        elif j % 97 == 0:
            lines += ["    for j in range(k):", "        x = x + b[j]"]
        else:
            lines.append(
                (f"    x = x * 0.5 + {j}.0", f"    y = a[i + {j}] - x", f"    k = (k ^ {j}) + i")[j % 3]
            )
    lines.append("    b[-1 - i] = x + y + k")
    return "\n".join(lines) + "\n"


def one_block(n):
    """n lines without a branch, each using the two before it."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    v0 = a[i]", "    v1 = b[i]"]
    lines += [
        f"    v{k} = v{k - 1} * v{k - 2} + a[i + {k % 1000}]" if k % 3 else f"    v{k} = v{k - 2} * 0.25 - 0.{k} * v{k - 1}"
        for k in range(2, n)
    ]
    lines.append(f"    b[i] = v{n - 1}")
    return "\n".join(lines) + "\n"


def many_values(n):
    """n values loaded first and n sums of them later: all live at once."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    s = np.float32(0)"]
    lines += [f"    v{k} = a[i + {k % 1000}]" for k in range(n)]
    lines += [f"    s = s * v{k} + v{n - 1 - k}" for k in range(n)]
    lines.append("    b[i] = s")
    return "\n".join(lines) + "\n"


def choices(n):
    """A chain of n elif, each with a checked access of its own."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    if i == 0:", "        b[i] = a[i]"]
    for k in range(1, n + 1):
        lines += [f"    elif i == {k}:", f"        b[i] = a[i] + {k}"]
    return "\n".join(lines) + "\n"


def cases(n):
    """A match of n cases."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]", "    match i:"]
    for k in range(n):
        lines += [f"        case {k}:", f"            x = x * {k}.5 + b[{k % 1000}]"]
    lines += ["        case _:", "            x = np.float32(0)", "    b[i] = x"]
    return "\n".join(lines) + "\n"


def ifs(n):
    """n ifs one behind the other, each changing one of four variables."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = y = z = w = a[i]"]
    for k in range(n):
        v, u = "xyzw"[k % 4], "xyzw"[(k + 1) % 4]
        lines += [f"    if {u} > -0.{k}:", f"        {v} = {v} * 0.5 + b[i + {k % 1000}]"]
    lines.append("    b[-1 - i] = x + y + z + w")
    return "\n".join(lines) + "\n"


def nested_ifs(n, depth=90):
    """Ifs in ifs, each 90 deep (CPython's limit is 100 levels of indentation), n in all."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]"]
    for start in range(0, n, depth):
        here = min(depth, n - start)
        for k in range(here):
            pad = "    " + " " * k
            lines += [f"{pad}if x > {start + k}.0:", f"{pad} x = x - b[i + {(start + k) % 1000}]"]
        for k in reversed(range(here)):
            pad = "    " + " " * k
            lines += [f"{pad}else:", f"{pad} x = x + {start + k}.25"]
    lines.append("    b[-1 - i] = x")
    return "\n".join(lines) + "\n"


def loops(n):
    """n loops one behind the other."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    n = a.size", "    x = a[i]"]
    for k in range(n):
        lines += [f"    for j in range({k % 7}, n):", f"        x = x * 0.{k} + b[j] * a[i]"]
    lines.append("    b[-1 - i] = x")
    return "\n".join(lines) + "\n"


def nests(n):
    """Nests of loops, 1 to 6 deep in turn, n loops in all."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    n = a.size", "    x = a[i]"]
    made = turn = 0
    while made < n:
        depth = min(turn % 6 + 1, n - made)
        for d in range(depth):
            pad = "    " * (d + 1)
            lines.append(f"{pad}for j{d} in range(n - {d}):")
        at = " + ".join(f"j{d}" for d in range(depth))
        lines.append("    " * (depth + 1) + f"x = x * 0.{turn} + b[{at}]")
        made += depth
        turn += 1
    lines.append("    b[-1 - i] = x")
    return "\n".join(lines) + "\n"


def whiles(n):
    """n while loops with a break each, one behind the other."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]", "    k = 0"]
    for j in range(n):
        lines += [f"    while k < i + {j}:", "        k += 1", f"        if x > {j}.0:", "            break"]
        lines += ["        x += b[k]"]
    lines.append("    b[-1 - i] = x")
    return "\n".join(lines) + "\n"


def loop_of_lines(n):
    """One loop around n lines."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]", "    y = b[i]"]
    lines.append("    for j in range(i):")
    for k in range(n):
        lines.append((f"        x = x * 0.5 + a[j + {k % 1000}]", f"        y = y * 0.5 - x * 0.{k}")[k % 2])
    lines.append("    b[i] = x + y")
    return "\n".join(lines) + "\n"


def checked(n):
    """n reads and writes at places that differ, of which each is checked where bounds are."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)"]
    lines += [f"    b[i * {k + 2}] = a[i + {k % 1000}]" for k in range(n)]
    return "\n".join(lines) + "\n"


def conjunction(n):
    """One condition of n parts with `and`, and one with `or`."""
    half = n // 2
    parts = [f"a[i + {k % 1000}] > -{k}.5" for k in range(half)] + [f"a[i + {k % 1000}] > {n - 1 - k}.0" for k in range(half, n)]
    return (
        "def kernel(a, b):\n    i = cuda.grid(1)\n"
        f"    if {' and '.join(parts[:half])}:\n        b[i] = 1.0\n"
        f"    if {' or '.join(parts[half:])}:\n        b[i] = 2.0\n"
    )


def local_arrays(n):
    """n local arrays of 8, each written and read in a loop."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]"]
    for k in range(n):
        lines += [f"    t{k} = cuda.local.array(8, np.float32)", f"    t{k}[i & 7] = x", f"    x = x + t{k}[(i + {k}) & 7]"]
    lines.append("    b[i] = x")
    return "\n".join(lines) + "\n"


def tuples(n):
    """n tuples of four, each made of the one before."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    t = (a[i], b[i], i, 1.5)"]
    lines += [f"    t = (t[1], t[0] * {k}.0 + t[3], t[2] ^ {k}, t[3])" for k in range(n)]
    lines.append("    b[i] = t[0] + t[1] + t[2]")
    return "\n".join(lines) + "\n"


def big_tuple(n):
    """A tuple of n computed entries, indexed by constants and by a variable."""
    entries = ", ".join(f"x * {k}.5" for k in range(n))
    return f"def kernel(a, b):\n    i = cuda.grid(1)\n    x = a[i]\n    t = ({entries})\n    b[i] = t[i] + t[{n // 2}]\n"


def constant_tuple(n):
    """A tuple of n constants, indexed by a variable."""
    entries = ", ".join(f"{k}.5" for k in range(n))
    return f"def kernel(a, b):\n    i = cuda.grid(1)\n    t = ({entries})\n    b[i] = t[i] + a[i]\n"


def calls(n):
    """n calls of one function of 40 lines."""
    lines = ["def f(x, y, k):"]
    lines += [f"    {'xy'[j % 2]} = {'yx'[j % 2]} * 0.5 - {'xy'[j % 2]} + {j}.0 + k" for j in range(39)]
    lines += ["    return x - y", "def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]"]
    lines += [f"    x = f(x, b[i + {k % 1000}], {k})" for k in range(n)]
    lines.append("    b[-1 - i] = x")
    return "\n".join(lines) + "\n"


def call_tree(n):
    """n functions, each calling two others (as a binary tree, from the leaves up), and a kernel that calls the root."""
    lines = []
    for k in reversed(range(n)):
        below = [c for c in (2 * k + 1, 2 * k + 2) if c < n]
        terms = " + ".join(f"f{c}(x * {c}.0, k + {c})" for c in below) or "x * x + k"
        lines += [f"def f{k}(x, k):", f"    if k > {k}:", "        x = x + k", f"    return {terms}"]
    lines += ["def kernel(a, b):", "    i = cuda.grid(1)", "    b[i] = f0(a[i], i)"]
    return "\n".join(lines) + "\n"


def calls_twice(n):
    """n functions, each with two calls of the one before, of which a thread makes one: inlined in full they would be 2**n times as long."""
    lines = ["def f0(x, k):", "    return x * 0.5 + k"]
    for k in range(1, n + 1):
        lines += [f"def f{k}(x, k):", f"    if (k ^ {k}) & 3:", f"        return f{k - 1}(x * 0.5, k + {k}) + 1.0", f"    return f{k - 1}(x + 0.25, k) - x"]
    lines += ["def kernel(a, b):", "    i = cuda.grid(1)", f"    b[i] = f{n}(a[i], i)"]
    return "\n".join(lines) + "\n"


def mutual_calls(n):
    """Two rows of n functions, each with calls of both that are one further back."""
    lines = ["def f0(x, k):", "    return x * 0.5 + k", "def g0(x, k):", "    return x * 0.25 - k"]
    for k in range(1, n + 1):
        for name, other in ("fg", "gf"):
            lines += [f"def {name}{k}(x, k):", f"    if (k ^ {k}) & 1:", f"        return {other}{k - 1}(x * 0.5, k + {k}) + 1.0", f"    return {name}{k - 1}(x + 0.25, k) - x"]
    lines += ["def kernel(a, b):", "    i = cuda.grid(1)", f"    b[i] = f{n}(a[i], i)"]
    return "\n".join(lines) + "\n"


def closures_twice(n):
    """n nested functions, each with two calls of the one before, which it captures."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    y = b[i]", "    f0 = lambda x: x * 0.5 + y"]
    for k in range(1, n + 1):
        lines.append(f"    f{k} = lambda x: f{k - 1}(x * 0.5 + {k}) - 1.0 if x > i else f{k - 1}(x + 0.25)")
    lines.append(f"    b[i] = f{n}(a[i])")
    return "\n".join(lines) + "\n"


def far_places(n):
    """n reads at places far from a thread's own, further than an access's own offset goes."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]"]
    lines += [f"    x = x * 0.5 + a[i + {7 * k}]" for k in range(n)]
    lines.append("    b[i] = x")
    return "\n".join(lines) + "\n"


def expression(n):
    """One sum of n products."""
    terms = " + ".join(f"a[i + {k % 1000}] * {k}.5" for k in range(n))
    return f"def kernel(a, b):\n    i = cuda.grid(1)\n    b[i] = {terms}\n"


def integers(n):
    """n lines of integer arithmetic on few variables."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    j = i + 1", "    k = i * 3"]
    for m in range(n):
        lines.append((f"    j = (j * {m} + k) & 1048575", f"    k = (k ^ {m}) + (j >> 3)", f"    j = j // {m % 7 + 2} + k % {m % 11 + 1}")[m % 3])
    lines.append("    b[i] = j + k")
    return "\n".join(lines) + "\n"


def barriers(n):
    """n barriers, with shared memory written and read between them."""
    lines = ["def kernel(a, b):", "    s = cuda.shared.array(256, np.float32)", "    i = cuda.grid(1)", "    t = cuda.threadIdx.x", "    x = a[i]"]
    for k in range(n):
        lines += ["    s[t] = x", "    cuda.syncthreads()", f"    x = x * 0.5 - s[(t + {k}) & 15]", "    cuda.syncthreads()"]
    lines.append("    b[i] = x")
    return "\n".join(lines) + "\n"


def functions_of_math(n):
    """n calls of functions of math."""
    names = ("sin", "exp", "sqrt", "log", "atan")
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]"]
    lines += [f"    x = math.{names[k % 5]}(x + {k}.0)" for k in range(n)]
    lines.append("    b[i] = x")
    return "\n".join(lines) + "\n"


def arguments(n):
    """n arrays as arguments, each read and written."""
    names = ", ".join(f"p{k}" for k in range(n))
    lines = [f"def kernel({names}):", "    i = cuda.grid(1)", "    x = p0[i]"]
    for k in range(n):
        lines += [f"    x = x * {k}.0 + p{k}[i]", f"    p{k}[i] = x"]
    return "\n".join(lines) + "\n"


def signature(shape, n):
    return ", ".join(["float32[::1]"] * n) if shape is arguments else TWO_ARRAYS


SIZES = {  # shape: the largest size measured for each device
    straight_lines: {"gpu": 8000, "host": 4000},
    one_block: {"gpu": 4000, "host": 2000},
    many_values: {"gpu": 1000, "host": 1000},
    far_places: {"gpu": 4000, "host": 2000},
    expression: {"gpu": 1000, "host": 1000},
    integers: {"gpu": 4000, "host": 2000},
    functions_of_math: {"gpu": 500, "host": 500},
    tuples: {"gpu": 1000, "host": 1000},
    big_tuple: {"gpu": 1000, "host": 1000},
    constant_tuple: {"gpu": 4000, "host": 2000},
    local_arrays: {"gpu": 500, "host": 500},
    arguments: {"gpu": 128, "host": 128},
    checked: {"gpu": 1000, "host": 1000},
    conjunction: {"gpu": 1000, "host": 1000},
    ifs: {"gpu": 1000, "host": 1000},
    nested_ifs: {"gpu": 720, "host": 720},
    choices: {"gpu": 1000, "host": 1000},
    cases: {"gpu": 1000, "host": 1000},
    loops: {"gpu": 500, "host": 500},
    nests: {"gpu": 500, "host": 500},
    whiles: {"gpu": 500, "host": 500},
    loop_of_lines: {"gpu": 2000, "host": 1000},
    calls: {"gpu": 400, "host": 250},
    call_tree: {"gpu": 400, "host": 400},
    calls_twice: {"gpu": 400, "host": 400},
    mutual_calls: {"gpu": 400, "host": 400},
    closures_twice: {"gpu": 30, "host": 30},
    barriers: {"gpu": 128, "host": 64},
}
