"""Records in kernels, against NumPy running the same function on the same arrays."""

import numpy as np
import pytest
from harness import STRONG, define, run
from pyptx import cuda, float32, from_dtype
from test_ptx import assemble, ptx_of

POINT = np.dtype([("x", "f4"), ("y", "i4")])
BODY = np.dtype([("p", POINT), ("v", "f8", (3,)), ("m", "i2", (2, 3)), ("on", "?"), ("name", "S5"), ("k", "u1")])
ALIGNED = np.dtype([("a", "i1"), ("b", "f8"), ("c", "u2"), ("p", np.dtype([("x", "f4"), ("z", "i1")], align=True))], align=True)
PACKED = np.dtype([("a", "i1"), ("b", "f8"), ("c", "u2"), ("p", [("z", "i1"), ("x", "f4")]), ("w", "i8", (2,))])
OFFSETS = np.dtype({"names": ["lo", "hi", "all"], "formats": ["u4", "f4", "u8"], "offsets": [4, 12, 4], "itemsize": 24})


def filled(dtype, *shape, seed=3):
    """Small numbers in every field, so that no store is out of range."""
    a = np.zeros(shape, dtype)
    rng = np.random.default_rng(seed)

    def fill(part):
        if part.dtype.names:
            for name in part.dtype.names:
                fill(part[name])
        elif part.dtype.kind in "SU":
            part[...] = b"abc"
        else:
            part[...] = rng.integers(0, 2 if part.dtype.kind == "b" else 50, part.shape)

    fill(a)
    return a


def records(dtype, *shape, seed=3):
    """The same with attributes: a.x, a[i].x."""
    return filled(dtype, *shape, seed=seed).view(np.recarray)


# Statements on a, b: POINT (6); s: BODY (4); t: BODY (4); out: float64 (8); i = 2, n = 3.
STATEMENTS = [
    "a[i].x = 3",
    "a[i]['x'] = b[i].x + b[n]['y']",
    "a['x'][i] = 5",
    "a.x[i] = b.y[i]",
    "a[i].y += 7",
    "a[i][0] = a[i][1] + a[i][-1]",
    "r = a[i]; r.x = 9; out[0] = a[i].x",
    "r = a[i]; a[i]['y'] = 11; out[0] = r['y']",
    "a[i] = b[n]",
    "a[-1] = a[0]",
    "a[i] = (1, 2)",
    "a[i] = 4",
    "a[i], a[n] = a[n], a[i]",
    "a[:] = b",
    "a[1:3] = b[3:5]",
    "a[::2] = b[i]",
    "a[::-1] = b",
    "a[...] = 7",
    "a['y'] = 3",
    "a['y'][1:n] = b['x'][:i]",
    "a['x'] = b['y']",
    "x, y = a[i]; out[0] = x - y",
    "out[0] = len(a); out[1] = len(a[i]); out[2] = a.shape[0]; out[3] = a.size; out[4] = a.itemsize",
    "for k, r in enumerate(a):\n        r.y += k",
    "for p, q in zip(a, b):\n        p.x = q.y",
    "for v in a['y']:\n        out[0] += v",
    "for k in range(6):\n        a[k].x = b[5 - k].y if k < 3 else a[k].y",
    "r = a[i] if n > 2 else b[i]\n    r.x = 50",
    "r = a[0]\n    for k in range(1, 6):\n        if a[k].x > r.x:\n            r = a[k]\n    r.y = -1",
    "s[i].p.x = s[n].p.y",
    "s[i].p = a[n]",
    "s['p']['x'][i] = 2",
    "s.p.x[i] = 2",
    "s[i]['v'][1] = 2.5",
    "s['v'][i, 2] = 1.5",
    "s.v[i][2] = 1.5",
    "s[i].v[:] = 7",
    "s[i].v = t[n].v",
    "s[i].v[::-1] = t[n].v",
    "s['v'][:, 1] = out[:4]",
    "s[i].m[1, -1] = 5",
    "s[i].m[1] = s[i].m[0]",
    "s[i].m.T[2, 1] = 8",
    "s[i].m[:, 1:] = 3",
    "for row in s[i].m:\n        for k in range(len(row)):\n            row[k] += k",
    "out[0] = s[i].m.shape[0]; out[1] = s[i].m.size; out[2] = len(s[i].v); out[3] = s['m'].ndim",
    "s[i].on = not s[i].on",
    "out[0] = 1 if s[i].on else 2",
    "s[i] = t[n]",
    "s[1:3] = t[:2]",
    "name = 'k'; s[i][name] = 200",
    "v = s[i].v\n    v[0] += v[1] * v[2]",
    "s[i].v = (1, 2.5, n)",
    "s['v'][i] = (i, n, 0)",
    "s[i].m[0] = (1, 2, 3)",
    "a['y'][1:3] = (8, 9)",
    "for v in a[i]:\n        out[0] += v",
    "a.reshape(2, 3)[1, i].y = 4",
    "out[0] = a.T[i].x + a.nbytes",
    "u = (a[i], b[n])\n    u[0].x = u[1].y\n    u[1].x = 1",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement):
    kernel = define(f"def kernel(a, b, s, t, out, i, n):\n    {statement}\n")
    args = [records(POINT, 6), records(POINT, 6, seed=5), records(BODY, 4), records(BODY, 4, seed=9), np.arange(8.0), 2, 3]
    run(kernel, args)


@pytest.mark.unchecked("every thread reads a[1] while the second one changes it")
@pytest.mark.parametrize("dtype", [ALIGNED, PACKED, OFFSETS, np.dtype([("one", "f4")])], ids=["aligned", "packed", "offsets", "one"])
@pytest.mark.parametrize("layout", ["C", "step", "reversed", "2d"])
def test_layouts(dtype, layout):
    """Every scalar of every field, read and written, whatever the offsets and strides are."""
    paths = []

    def walk(d, path):
        for name in d.names:
            sub = d[name]
            if sub.names:
                walk(sub, f"{path}['{name}']")
            elif sub.shape:
                paths.append(f"{path}['{name}'][1]")
            else:
                paths.append(f"{path}['{name}']")

    walk(dtype, "")
    at = "[i, 1]" if layout == "2d" else "[i]"
    lines = [f"    b{at}{p} = a{at}{p}\n    a{at}{p} += 1\n" for p in paths]
    kernel = define("def kernel(a, b):\n    i = cuda.grid(1)\n" + "".join(lines) + "    b[0] = a[1]\n")
    shape = (6, 3) if layout == "2d" else (12,)
    cut = {"C": slice(None, 6), "step": slice(None, None, 2), "reversed": slice(None, 5, -1), "2d": slice(None)}[layout]
    run(kernel, [filled(dtype, *shape)[cut], filled(dtype, *shape, seed=8)[cut]], block=6)


@pytest.mark.parametrize("dtype", STRONG)
@pytest.mark.parametrize("packed", [False, True])
def test_field_types(dtype, packed):
    record = np.dtype([("pad", "i1"), ("x", dtype), ("v", dtype, (2,))], align=not packed)
    kernel = define("def kernel(a, b):\n    i = cuda.grid(1)\n    a[i]['x'] = b[i]['v'][1]\n    a[i]['v'][0] = b[i]['x']\n    a['v'][i, 1] = b['x'][i]\n")
    run(kernel, [filled(record, 7), filled(record, 7, seed=4)], block=7)


def test_unaligned_views_of_host_arrays():
    """Field views of a packed dtype are arrays whose elements start anywhere."""
    a, b = filled(PACKED, 9), filled(PACKED, 9, seed=6)

    def kernel(x, p, w):
        i = cuda.grid(1)
        x[i] = p[i]["x"] + w[i, 1]
        p[i]["x"] = 2

    run(kernel, [a["b"], b["p"], b["w"]], block=9)


def test_one_record():
    def kernel(r, s, out):
        r["x"] += s["y"]
        r["y"] = 3
        out[0] = s["x"]

    a = filled(POINT, 4)
    run(kernel, [a[1], a[2], np.zeros(1)])
    cuda.jit(kernel)[1, 1](a[1], a[2], np.zeros(1))
    cuda.synchronize()
    assert a["y"][1] == 3  # the record is its array's memory
    run(kernel, [np.array((1, 2), POINT), filled(POINT, 1)[0], np.zeros(1)])


def test_fields_named_as_attributes():
    """Arrays have their own attributes, a record has its fields."""
    dtype = np.dtype([("size", "i4"), ("real", "f4"), ("T", "i2")])
    a, out = filled(dtype, 5), np.zeros(5)

    def kernel(a, out):
        out[0] = a.size
        out[1] = a[1].size
        out[2] = a[2].real + a[3].T
        out[3] = a["size"][4]
        a[0].size = 77

    cuda.jit(kernel)[1, 1](a, out)
    cuda.synchronize()
    assert out.tolist() == [5, a["size"][1], a["real"][2] + a["T"][3], a["size"][4], 0] and a["size"][0] == 77


def test_read_only_record():
    a = filled(POINT, 2)
    a.flags.writeable = False

    def kernel(r):
        r["x"] = 1

    with pytest.raises(ValueError, match="read-only"):
        cuda.jit(kernel)[1, 1](a[0])


FROZEN = filled(BODY, 5)
ONE = FROZEN[2].copy()


def test_frozen_records():
    def kernel(out):
        i = cuda.grid(1)
        c = cuda.const.array_like(FROZEN)
        out[i] = FROZEN[i]["p"]["x"] + c[i]["v"][2] + ONE["k"]

    def plain(out):
        for i in range(5):
            out[i] = FROZEN[i]["p"]["x"] + FROZEN[i]["v"][2] + ONE["k"]

    got, want = np.zeros(5), np.zeros(5)
    cuda.jit(kernel)[1, 5](got)
    cuda.synchronize()
    plain(want)
    assert np.array_equal(got, want)


def test_local_and_shared_records():
    def kernel(a, out):
        i = cuda.threadIdx.x
        tile = cuda.shared.array(8, POINT)
        mine = cuda.local.array((2, 2), dtype=BODY)
        tile[i] = a[i]
        mine[1, 0]["v"][2] = i
        cuda.syncthreads()
        out[i] = tile[7 - i]["x"] * 100 + mine[1, 0]["v"][2]

    run(kernel, [filled(POINT, 8), np.zeros(8)], block=8)


RECORD_TYPE = from_dtype(POINT)


def test_dtypes_in_kernels():
    def kernel(a, out):
        t = cuda.local.array(3, RECORD_TYPE)
        u = cuda.local.array(2, a.dtype)
        t[1]["x"] = 2
        u[0] = t[1]
        out[0] = u[0]["x"] + a.dtype.itemsize + u.nbytes

    a, out = filled(POINT, 1), np.zeros(1)
    cuda.jit(kernel)[1, 1](a, out)
    cuda.synchronize()
    assert out[0] == 2 + 8 + 16


def test_device_functions():
    def longest(a):
        best = a[0]
        for r in a:
            if r["x"] > best["x"]:
                best = r
        return best

    def bump(r, by):
        r["y"] += by

    def kernel(a, i):
        bump(longest(a), 100)
        bump(a[i], 7)

    run(kernel, [filled(POINT, 8), 3])


def test_atomics_on_fields():
    def kernel(a, s):
        i = cuda.grid(1)
        cuda.atomic.add(a["y"], i % 3, 1)
        cuda.atomic.max(s["v"], (0, 1), i)
        cuda.atomic.add(s[1]["v"], 2, 1)

    aligned = np.dtype([("k", "i1"), ("v", "f8", (3,))], align=True)
    run(kernel, [filled(POINT, 3), filled(aligned, 2)], grid=4, block=16)


def test_signatures():
    def kernel(a, r):
        a[0]["x"] = r["y"]

    for signature in [(RECORD_TYPE[:], RECORD_TYPE), f"{RECORD_TYPE}[::1], {RECORD_TYPE}", [(from_dtype(POINT)[::1], POINT)]]:
        k = cuda.jit(signature)(kernel)
        a = filled(POINT, 4)
        k[1, 1](a, a[2])
        cuda.synchronize()
        assert a["x"][0] == a["y"][2]
        with pytest.raises(TypeError, match="declared"):
            k[1, 1](filled(PACKED, 3), a[2])


def test_one_overload_for_equal_dtypes():
    k = cuda.jit(define("def kernel(a):\n    a[0]['x'] = 1\n"))
    fields = [("x", "f4"), ("y", "i4")]
    for dtype in (np.dtype(fields), np.dtype(fields, align=True), np.dtype((np.record, fields)), np.dtype({"names": ["x", "y"], "formats": ["f4", "i4"]})):
        k[1, 1](np.zeros(3, dtype))
        k[1, 1](cuda.to_device(np.zeros(3, dtype)))
    assert len(k.overloads) == 1
    k[1, 1](np.zeros(3, [("x", "f4"), ("y", "u4")]))
    k[1, 1](np.zeros(3, [("x", "f4"), ("z", "i4")]))
    k[1, 1](np.zeros(3, {"names": ["x", "y"], "formats": ["f4", "i4"], "offsets": [0, 8]}))
    assert len(k.overloads) == 4


def test_from_dtype():
    t = from_dtype(BODY)
    assert t.dtype == BODY or t.dtype.fields["p"] == BODY.fields["p"]
    assert from_dtype(np.float32) == float32
    assert from_dtype(np.dtype([("a b", "f4"), ("ü", "i4"), ("1", "i4")])).dtype.names == ("a b", "ü", "1")
    import pickle

    assert pickle.loads(pickle.dumps(t)) == t and pickle.loads(pickle.dumps(t[:])) == t[:]
    for bad in ("U3", [("a", "O")], ">M8[s]"):
        with pytest.raises(TypeError, match="no type for the dtype"):
            from_dtype(np.dtype(bad))


def test_bounds():
    def kernel(a, i):
        a[i]["v"][1] = 1

    k = cuda.jit(debug=True)(kernel)
    k[1, 1](filled(BODY, 3), 2)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 of 'a' with size 3"):
        k[1, 1](filled(BODY, 3), 3)
        cuda.synchronize()


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("dtype", [ALIGNED, PACKED, OFFSETS, BODY], ids=["aligned", "packed", "offsets", "nested"])
def test_assembles(dtype, arch, tmp_path):
    kernel = define("def kernel(a, b, i):\n    a[i] = b[i]\n    a[1:i] = b[1:i]\n    t = cuda.local.array(2, T)\n    t[i] = a[i]\n    b[i] = t[0]\n", T=dtype)
    r = from_dtype(dtype)
    assemble(ptx_of(kernel, f"{r}[::1], {r}[:], int32", arch), arch, tmp_path)


def test_loads_are_as_wide_as_the_alignment_allows():
    kernel = define("def kernel(a, out):\n    out[0] = a[0]['x']\n")

    def loads(dtype):
        ptx = ptx_of(kernel, f"{from_dtype(dtype)}[::1], float64[::1]", "sm_80")
        return [line.split()[0] for line in ptx.splitlines() if "\tld.global" in line or "\tld.global.nc" in line]

    assert len(loads(np.dtype([("k", "i4"), ("x", "f8")], align=True))) == 1
    assert len(loads(np.dtype([("k", "i4"), ("x", "f8")]))) == 2  # 12 bytes a record: two of 4
    assert len(loads(np.dtype([("k", "i1"), ("x", "f8")]))) == 8


def test_fields_of_one_record_are_loaded_together(one_entry):
    kernel = define("def kernel(a, out):\n    i = cuda.grid(1)\n    r = a[i]\n    out[i] = r['x'] + r['y'] + r['z'] + r['w']\n")
    r = from_dtype([(n, "f4") for n in "xyzw"])
    assert "v4.f32" in ptx_of(kernel, f"{r}[::1], float32[::1]", "sm_80") or "v4.b32" in ptx_of(kernel, f"{r}[::1], float32[::1]", "sm_80")
