"""Programs for tests of coverage: lines that end in `# yes` run, those in `# no` do not."""

LOOPS = """
@cuda.jit
def loops(x, out):
    i = cuda.grid(1)  # yes
    if i >= x.size:  # yes
        return  # yes
    total = 0  # yes
    for k in range(4):  # yes
        if x[i] < 0:  # yes
            continue  # no
        if k == 2:  # yes
            break  # yes
        pass  # yes
        total += 1  # yes
    else:
        total = -1  # no
    while total > 100:  # yes
        total //= 2  # no
    out[i] = total  # yes


loops[1, 128](np.arange(100), np.zeros(100, np.int64))
"""
MASKED = """
@cuda.jit
def masked(x, out):
    i = cuda.grid(1)  # yes
    if x[i] == 77:  # yes
        out[i] = 1  # yes
    elif x[i] == 500:  # yes
        out[i] = 2  # no
    else:
        out[i] = 3  # yes
    if x[i] > -1:  # yes
        out[i] += 1  # yes
    else:
        out[i] -= 1  # no


masked[1, 256](np.arange(256), np.zeros(256, np.int64))
"""
FUNCTIONS = """
@cuda.jit(device=True)
def called(v):
    if v > 3:  # yes
        return v * 2  # yes
    w = 1  # yes
    return w + v  # yes


@cuda.jit(device=True)
def one_way(v):
    if v > 1000:  # yes
        return v  # no
    return -v  # yes


@cuda.jit(device=True, inline="never")
def apart(v):
    return v + 1  # yes


def plain(v):
    return v  # yes


@cuda.jit(device=True)
def never(v):
    return v  # no


@cuda.jit
def functions(x):
    i = cuda.grid(1)  # yes
    double = lambda v: v * 2  # yes
    x[i] = one_way(called(x[i])) + apart(plain(double(x[i])))  # yes
    if x[i] == 12345:  # yes
        x[i] = never(x[i])  # no
    x[i] += sum(  # yes
        v for v in (1, 2)  # yes
    )


functions[1, 32](np.arange(32))
"""
BARRIERS = """
@cuda.jit
def barriers(x, out):
    tile = cuda.shared.array(64, np.int64)  # yes
    t = cuda.threadIdx.x  # yes
    tile[t] = x[t]  # yes
    cuda.syncthreads()  # yes
    if t == 3:  # yes
        out[0] = tile[63 - t]  # yes
    if t == 70:  # yes
        out[0] = 0  # no
    cuda.syncthreads()  # yes
    half = 32  # yes
    while half:  # yes
        if t < half:  # yes
            tile[t] += tile[t + half]  # yes
        cuda.syncthreads()  # yes
        half //= 2  # yes
    v = cuda.shfl_sync(0xFFFFFFFF, t, 0)  # yes
    if v > 64:  # yes
        out[0] = 1  # no


barriers[2, 64](np.arange(64), np.zeros(64, np.int64))
"""
STOPPED = """
@cuda.jit
def stopped(x):
    i = cuda.grid(1)  # yes
    x[0] = i  # yes
    x[i + 10] = 1  # yes
    x[0] = 2  # no


try:
    stopped[1, 1](np.zeros(10))
except IndexError as error:
    assert "index 10" in str(error)
else:
    raise AssertionError
"""
CONSTANTS = """
DEBUG, WAYS = False, 2


@cuda.jit
def constants(x):
    if DEBUG:  # yes
        x[0] = 1  # no
    if WAYS == 2:  # yes
        x[0] = 2  # yes
    else:
        x[0] = 3  # no
    for name in (1, 2):  # yes
        x[name] = 0  # yes
    assert x[0] == 2, "no"  # yes
    match WAYS:  # yes
        case 1:  # yes
            x[1] = 1  # no
        case 2:  # yes
            x[1] = 2  # yes


constants[1, 1](np.zeros(10))
"""
LAUNCHES = """
@cuda.jit
def again(x, way):
    if way == 1:  # yes
        x[0] = 1  # yes
    elif way == 2:  # yes
        x[0] = 2  # yes
    elif way == 3:  # yes
        x[0] = 3  # yes
    elif way == 4:  # yes
        x[0] = 4  # no


x = cuda.to_device(np.zeros(10))
for _ in range(5):
    again[1, 1](x, 1)
    again[1, 1](x, 0)
again[1, 1].bind(x, 2)()
with cuda.graph() as graph:
    again[1, 1](x, 3)
graph.launch()
cuda.synchronize()
"""
