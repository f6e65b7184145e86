"""Functions for the tests of typing: joins, constants, calls, consumed generator expressions. Recorded by record.py; nothing here is run."""
cuda = math = np = None
N_ITER = 20


def set_in_loop(a):
    for k in range(N_ITER):
        x = a[k]
    a[0] = x
    for j in (1, 2, 3):
        y = j
    a[1] = y + k


def maybe_set_in_loop(a, n):
    for k in range(n):
        x = a[k]
    a[0] = x


def set_behind_break(a):
    for k in range(4):
        x = a[k]
        if x > 3:
            break
    a[0] = x


def tile(s, size):
    w = cuda.local.array(size, np.float32)
    for k in range(size):
        w[k] = s[k]
    return w[0]


def through(s, size):
    return tile(s, size)


def literal_shape(a):
    a[0] = through(a, 4) + tile(a, 8) + tile(a, 4)


def unknown_shape(a, n):
    a[0] = through(a, n)


def apply(f, x, y):
    return f(x) + y


def double(x):
    return x + x


def function_arguments(a, k):
    def scaled(x):
        return x * k
    a[0] = apply(double, a[0], 1)
    a[1] = apply(scaled, a[1], y=k)
    a[2] = apply(math.sqrt, a[2], y=2)
    a[3] = apply(lambda v, w=k: v + w, 3, 4)


def even(n):
    if n == 0:
        return True
    return odd(n - 1)


def odd(n):
    if n == 0:
        return False
    return even(n - 1)


def mutual(a, n):
    a[0] = even(n)
    a[1] = odd(a[1])


def two_values(x, y):
    return x + y, (x, None)


def tuples(a, i, j):
    s, (x, nothing) = two_values(i, a[0])
    t = (i, j)
    if i > j:
        t = (j, 2.5)
    p, q = t
    a[0] = s + x + p + q
    if nothing is None:
        a[1] = t == (1, 2)
    for v in (1, 2.5, i):
        a[2] += v
    m = (i, j, 3)
    a[3] = m[i]
    a[4] = (m + t)[-1] + len(m * 2) + sum(m) + min(m)


def weak(a, x, u):
    i = 0
    while x > i:
        i = i + u
    a[0] = i
    a[1] = 1 if x < 0 else 2.5
    a[2] = (x > 0) + (u > 0)
    a[3] = (i == 0) + True
    a[4] = x ** 2 + x ** 0.5 + x ** -1 + x ** 3
    a[5] = u ** 3 + 2 ** -1


def compare(a, u64, i64, n):
    a[0] = u64 < i64
    a[1] = i64 >= u64
    a[2] = u64 == n
    a[3] = i64 == n
    a[4] = u64 > -1
    a[5] = 18446744073709551615 > i64
    a[6] = u64 < 18446744073709551615
    a[7] = u64 ^ 0xcbf29ce484222325


def ranges(a, n):
    i = cuda.grid(1)
    for k in range(i, a.shape[0], cuda.gridsize(1)):
        a[4 * k + 3] = a[k // 2]
    for k in range(n):
        a[k + 1] = a[k % 7] + a[k >> 1] + a[k & 3] + a[(k * n) & 15]
    for k in range(n - 1, -1, -1):
        a[k] = a[k - 1]
    for k in range(0, n, n):
        a[k] = 1
    j = n
    while j > 0:
        a[j] = 0
        j >>= 1
    h = 5381
    for k in range(n):
        h = h * 33 + k
        a[h % n] = 1


def views(a, i):
    r = a[i]
    c = a[:, i]
    t = a.T
    p = a[1:, ::2]
    q = a[i:i + 2]
    z = a[..., None, 0]
    r[0] = c[1] + t[2, 3] + p[-1, -1] + q[0, i] + z[0, 0] + a[i][2]
    x, y = a[0, :2]
    a[0, 0] = x + y


def joined_views(a, b, n):
    v = a
    if n > 0:
        v = b
    v[0] = v.size


def swap_shared(a):
    s = cuda.shared.array(32, np.float32)
    t = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    for k in range(4):
        s[i] = t[31 - i] + k
        s, t = t, s
        cuda.syncthreads()
    d = cuda.shared.array(0, dtype=np.int32)
    a[i] = t[i] + d[i] + s.shape[0] + d.size


def rounding(a, x, i, u):
    a[0] = round(x) + round(x, 2) + round(i) + abs(i) + abs(u) + abs(-3)
    a[1] = max(x, i, 2) + min(i, u)
    a[2] = int(x) + float(i) + bool(x) + np.int8(x) + np.float32(i)
    q, r = divmod(i, 7)
    a[3] = q + r + math.floor(x) + math.ceil(i) + math.log(x, 2) + math.pow(i, 2)
    m, e = math.frexp(x)
    a[4] = m + e + math.degrees(x) + math.hypot(x, i) + math.isnan(x) + math.isnan(i)


def messages(a, n):
    if n < 0:
        raise ValueError(f"n is {n}, a[0] is {a[0]}")
    assert n < 100, ("too large", n)
    print("n", n, (n, a[0]), f"{n}!", None, "{x}", n > 3)


def conflict(a, n):
    x = a[0]
    if n > 0:
        x = (1, 2)
    a[0] = x


def harmless_conflict(a, n):
    x = a[0]
    if n > 0:
        x = (1, 2)
        a[1] = x[0]
    a[0] = 1


def retype(a, n):
    for k in range(n):
        x = a[k]
        a[k] = x
        x = (x, x)
        a[k] = x[1]


def inner_error(x):
    return x + None


def outer_error(a):
    a[0] = inner_error(a[0])


def options(a, mode="fast", n=3, *, scale=None):
    if mode == "fast" and scale is None:
        a[0] = n
    else:
        a[0] = scale


def augmented_view(a, k):
    row = a[k]
    row[0] += 1
    row[k] //= 2
    row[-1] -= row[-2]


def early(a, n):
    if n is None:
        return
    if not n:
        a[0] = 1
        return
    a[n] = 2 if a[0] in (1, 2, n) else 3


def reshaped(a, n):
    m = a.reshape(n, -1)
    k = a.reshape((2, 3, 4))
    m[1, 2] = k[0, 1, -1] + any((n, 0)) + all((n > 1, True, n)) + any(())


def folded_sides(a, n):
    a[0] = 255 <= N_ITER and n
    a[1] = 255 > N_ITER and n
    x = 1
    if N_ITER == 3:
        x = None
    elif N_ITER > 30:
        x = (1, 2)
    a[2] = x


def any_and_all(a, n):
    if any(v > 2 for v in a) and all(v < n for v in a):
        a[0] = any(v == w for v in a for w in (1, n) if v > 0)


def tuple_of_generator(a):
    a[0] = tuple(v for v in a)[0]
