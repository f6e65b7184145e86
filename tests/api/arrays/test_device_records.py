"""Device arrays and device records of structured dtype, from the host."""

import numpy as np
import pytest
from pyptx import cuda

DTYPE = np.dtype([("x", "f4"), ("y", "i4"), ("v", "f8", (3,)), ("p", [("a", "i1"), ("b", "f4")]), ("name", "S4")])


def host(n=5):
    a = np.zeros(n, DTYPE)
    a["x"], a["y"], a["name"] = np.arange(n), 10 * np.arange(n), b"abc"
    a["v"] = np.arange(3 * n).reshape(n, 3)
    a["p"]["b"] = -np.arange(n)
    return a


def same(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want)


def test_fields_are_views():
    a = host()
    d = cuda.to_device(a)
    for path in (["x"], ["y"], ["v"], ["p"], ["p", "b"], ["name"]):
        part, want = d, a
        for name in path:
            part, want = part[name], want[name]
        assert part.strides == want.strides
        same(part.copy_to_host(), want)
    same(d.x.copy_to_host(), a["x"])
    same(d[["x", "p"]].copy_to_host(), a[["x", "p"]])
    same(d[::-2]["v"].copy_to_host(), a[::-2]["v"])
    same(d["v"][1:, ::2].copy_to_host(), a["v"][1:, ::2])
    assert d["x"].gpu_data is d.gpu_data


def test_writing_fields():
    a = host()
    d = cuda.to_device(a)
    d["x"] = 7
    a["x"] = 7
    d["y"][1:3] = [5, 6]
    a["y"][1:3] = [5, 6]
    d.v = np.ones((5, 3))
    a["v"] = 1
    d["p"]["b"][-1] = 0.5
    a["p"]["b"][-1] = 0.5
    same(d.copy_to_host(), a)


def test_records():
    a = host()
    d = cuda.to_device(a)
    r = d[2]
    assert "record" in repr(r) and "array" not in repr(r).split(",")[0] and r.shape == () and r.dtype == DTYPE
    assert r[()] == a[2] and r["x"] == a[2]["x"] and r.y == a[2]["y"] and type(r["x"]) is np.float32
    same(r["v"].copy_to_host(), a[2]["v"])
    r["x"], r.y, r["p"]["b"] = 9, 8, 7.5
    r["v"][1] = -1
    a[2]["x"], a[2]["y"], a[2]["p"]["b"], a[2]["v"][1] = 9, 8, 7.5, -1
    d[0] = a[4]
    a[0] = a[4]
    d[1] = (1, 2, (3, 4, 5), (6, 7), b"new")
    a[1] = (1, 2, (3, 4, 5), (6, 7), b"new")
    d[3] = d[2]
    a[3] = a[2]
    same(d.copy_to_host(), a)
    assert [x["y"] for x in d] == a["y"].tolist()


def test_record_to_device_and_back():
    a = host()
    for record in (a[3], np.array(a[3]), a.view(np.recarray)[3]):
        r = cuda.to_device(record)
        assert r.shape == () and r.copy_to_host()[()] == a[3]
        out = np.zeros((), DTYPE)
        r.copy_to_host(out)
        assert out[()] == a[3]

        @cuda.jit
        def kernel(r):
            r.x += 1
            r["v"][2] = r["y"]

        kernel[1, 1](r)
        assert r["x"] == a[3]["x"] + 1 and r["v"].copy_to_host()[2] == a[3]["y"]


def test_device_array_of_records():
    d = cuda.device_array((2, 3), DTYPE)
    assert d.dtype == DTYPE and d.itemsize == DTYPE.itemsize and d.nbytes == 6 * DTYPE.itemsize
    like = cuda.device_array_like(host())
    assert like.dtype == DTYPE and like.shape == (5,)
    same(cuda.to_device(host(6).reshape(2, 3)).T.copy_to_host(), host(6).reshape(2, 3).T)


def test_view_as_another_structure():
    a = host()
    d = cuda.to_device(a)
    other = np.dtype({"names": ["lo", "tail"], "formats": ["u4", "u1"], "offsets": [0, DTYPE.itemsize - 1], "itemsize": DTYPE.itemsize})
    same(d.view(other)["lo"].copy_to_host(), a.view(other)["lo"])
    same(d.view(np.uint8).copy_to_host(), a.view(np.uint8))
    pairs = np.arange(8, dtype="f4")
    xy = np.dtype([("x", "f4"), ("y", "f4")])
    same(cuda.to_device(pairs).view(xy).copy_to_host(), pairs.view(xy))
    same(cuda.to_device(pairs.view(xy)).view("f4").copy_to_host(), pairs)
    with pytest.raises(ValueError):
        cuda.to_device(np.zeros(3, "f4")).view(xy)


def test_errors():
    d = cuda.to_device(host())
    with pytest.raises(KeyError, match="no field 'z'.*'x', 'y'"):
        d["z"]
    with pytest.raises(KeyError):
        d["z"] = 1
    with pytest.raises(AttributeError, match="'z'"):
        d.z
    with pytest.raises(AttributeError):
        d.z = 1
    with pytest.raises(TypeError, match="has no fields"):
        cuda.to_device(np.zeros(3))["x"]
    with pytest.raises(ValueError, match="could not convert|invalid literal|could not be"):
        d["x"] = "text"
    with pytest.raises(IndexError, match="out of bounds"):
        d[5]
    assert d.shape == (5,) and not hasattr(d, "w")


@pytest.mark.skipif("cuda.get_current_device().is_host", reason="needs GPU memory")
def test_cuda_array_interface():
    a = host()
    d = cuda.to_device(a)
    interface = d.__cuda_array_interface__
    assert interface["typestr"] == DTYPE.str and interface["descr"] == DTYPE.descr
    same(cuda.from_cuda_array_interface(interface, owner=d).copy_to_host(), a)
    assert d["y"].__cuda_array_interface__["strides"] == (DTYPE.itemsize,)
