"""More functions for the front end's tests: what corpus.py leaves out. Recorded by record.py; nothing here is run.

Functions named bad_* must fail to lift.
"""
cuda = None


def helper(x, y):
    return x + y


def ternary_in_call(a, x):
    a[0] = max(x if x > 0 else 1, 2 if x else 3)
    a[1] = cuda.atomic.add(a, 0 if x else 1, x if x < 3 else helper(x, x or 4))


def conditional_message(a, x):
    assert x, ("zero" if a[0] else "one")
    assert a[1] > 0, f"a[1] is {a[1]}"


def star_calls(a, t, u):
    a[0] = helper(*t)
    a[1] = helper(1, *t)
    a[2] = helper(*t, *u)
    print(*t)


def star_tuples(a, t):
    x = (1, *t, 2)
    y = [*t, a[0]]
    a[0] = x[0] + y[0]


def nested_unpack(a, t):
    (x, y), z = t
    p, *q, r = t
    a[0] = x + y + z + p + r + q[0]


def rotate4(a, p, q, r, s):
    p, q, r, s = s, r, q, p
    a[0], a[1], a[2], a[3] = p, q, r, s


def while_else(a, n):
    i = 0
    while i < n:
        if a[i] == 3:
            break
        if a[i] == 4:
            i += 2
            continue
        i += 1
    else:
        a[0] = -1
    a[1] = i


def nested_loops(a, n):
    for i in range(n):
        k = 0
        while k < i:
            if a[k] < 0:
                return
            for j in (1, 2, 3):
                if j == k:
                    continue
                a[j] += k
            else:
                k += 1
            k += 1
        else:
            a[i] = k
    else:
        a[0] = n


def forever(a):
    a[0] = 1
    while True:
        pass


def none_tests(a, x, y):
    if x is None:
        a[0] = 1
    if x is not None and y is None:
        a[1] = 1
    while x is not None:
        x = y
    a[2] = 1 if y is None else 2
    a[3] = x is None or y is not None


def chained_while(a, n):
    i = 0
    while 0 <= i < n and not a[i]:
        i += 1
    a[0] = 0 < i < n < 100


def mixed_booleans(a, x, y, z):
    a[0] = x and y or z
    a[1] = x or y and z
    a[2] = not (x and y)
    if (x or y) and (y or z):
        a[3] = 1
    if not (x or (y and z)) or a[4]:
        a[4] = 2
    b = x > 0
    if b:
        a[5] = 3
    a[6] = (x and y) if z else (y or x)
    c = x < 1 and y < 2
    a[7] = c


def formats(a, x, y, w):
    print(f"{x!r} {y:>5} {x:{w}} {x!s:>{w}} {x=}", f"{x}", f"{f'{x}'}!", f"")


def match_more(a, x, t):
    match x:
        case -1:
            a[0] = 1
        case None:
            a[0] = 2
        case "fast":
            a[0] = 3
        case y if y > 7:
            a[0] = y
    match t:
        case (p, q):
            a[1] = p + q
        case [p, *rest]:
            a[1] = p + rest[0]
        case _:
            a[1] = 0


def closures(a, k):
    m = k + 1
    f = lambda x, y=2, z=a: x * k + y + m
    def g(x: int, y: float = 3.0) -> float:
        return x + y + k
    a[0] = f(1) + g(a[1])


def closure_in_loop(a, n):
    for i in range(n):
        k = a[i]
        def scaled(x):
            return x * k
        a[i] = scaled(2)


def closure_of_closure(a, k):
    def outer(x):
        def inner(y):
            return y + k
        return inner(x)
    a[0] = outer(3)


def variadic(a, *rest, scale=2.0, offset):
    a[0] = rest[0] * scale + offset


def annotated(a):
    x: float = 3.0
    a[0] = x


def subscripts(a, i, j):
    a[..., 0] = a[None, i:j:2]
    a[i:j] = 1
    a[i:j] += 1
    a[:] = a[i, j, ::-1][0]
    a[1, 2:3, 4] = a[(1, 2)]


def identity(a, x):
    if x is True:
        a[0] = 1
    if x is not False:
        a[1] = 1
    a[2] = x is True


def raises(a, n):
    if n == 0:
        raise ValueError("n") from None
    if n == 1:
        raise
    if n == 2:
        raise IndexError


def dead_code(a, n):
    if n:
        return 1
    else:
        return 2
    a[0] = 3


def returns(x):
    if x > 0:
        if x > 10:
            return x, 1
        return -x, 2
    for i in range(x):
        if i == 3:
            return (i, i)
    return None if x else (0, 0)


def ternary_returns(x, y):
    return 1 if x else None if y else -1


def constants(a):
    a[0] = 18446744073709551615
    a[1] = 123456789012345678901234567890
    a[2] = 1.5e300 + 2j
    a[3] = (1, (2.0, "x"), None, True)[0]
    a[4] = b"bytes"
    a[5] = 3 if a[6] in {1, 2} else 4


def delete_and_set(a, n):
    x = 1
    if n:
        del x
    else:
        x = 2
    a[0] = x


def walrus_more(a, n):
    if (x := a[0]) > 1 and (y := a[1]) > 2:
        a[2] = x + y
    while (n := n - 1):
        a[n] = 0


def delete_item(a, i):
    del a[i]


def empty_branches(a, n):
    if a[0]:
        pass
    for i in range(n):
        pass
    while a[1]:
        pass


def many_paths(a, x):
    y = 0 if x < 1 else 1 if x < 2 else 2 if x < 3 else 3
    z = (a[0] if y else a[1]) + (a[2] if x else a[3])
    a[y] = z


WIDE = "\n".join(
    ["def wide(a, n):", "    for i in range(n):", "        if a[0] > 1:"]
    + [f"            v{k} = a[{k + 300}] * {k + 0.5}" for k in range(280)]
    + ["        else:", "            v279 = 0", "            continue", "        a[i] = v279 + v3 + n270(v278)"]
).replace("n270", "name_beyond_255")
exec(compile(WIDE, "extra.py", "exec"))


def bad_capture(a):
    k = a[0]

    def scaled(x):
        return x * k
    k = a[1]
    a[2] = scaled(3)


def bad_capture_self(a, n):
    def fact(k):
        return k * fact(k - 1) if k > 1 else 1
    a[0] = fact(n)


def bad_capture_loop(a, n):
    k = 1
    f = lambda x: x * k
    for i in range(n):
        a[i] = f(i)
        k += 1


def bad_kwargs(a, **more):
    a[0] = 1


def bad_star_star(a, d):
    a[0] = helper(1, **d)


def bad_star_keyword(a, t):
    a[3] = helper(*t, y=3)


def bad_star_star_items(a, d):
    a[0] = helper(**{"x": 1}, y=2)


def bad_genexpr(a):
    a[0], a[1] = (x for x in a)


def bad_setcomp(a):
    a[0] = len({x for x in a})


def bad_dictcomp(a):
    a[0] = len({x: 1 for x in a})


def bad_nested_comprehension(a):
    for i in range(3):
        v = [[y + x for y in (1, 2)] for x in a if x]
        a[i] = v[0][0]


def bad_const_dict(a):
    d = {"x": 1, "y": 2, "z": a[0]}
    a[0] = d["x"]


def bad_kw_only_default(a):
    f = lambda x, *, y=2: x + y
    a[0] = f(1)


def bad_set_update(a):
    s = {1, 2, 3}
    a[0] = s


def bad_import_from(a):
    from os import path
    a[0] = 1


def bad_delete_global(a):
    global cuda
    del cuda


def bad_delete_attribute(a):
    del a.x


def bad_delete_cell(a):
    k = 1
    f = lambda: k
    del k
    a[0] = f()


def bad_nested_try(a, n):
    for i in range(n):
        if a[i]:
            try:
                a[i] = 1
            except (ValueError, IndexError) as e:
                a[i] = 2
            else:
                a[i] = 3


def bad_with_two(a):
    a[0] = 1
    with open("x") as x, open("y"):
        a[0] = 1


def bad_yield_from(a):
    yield from a


async def bad_await(a):
    await a


async def bad_async_generator(a):
    yield a


async def bad_async_for(a):
    async for x in a:
        a[0] = x


def bad_match_class(a, x):
    match x:
        case int():
            a[0] = 1


def bad_match_mapping(a, x):
    match x:
        case {"k": v}:
            a[0] = v


class Holder:
    def bad_super(self, a):
        super().f(a)


bad_super = Holder.bad_super
