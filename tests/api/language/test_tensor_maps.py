"""cuda.tensor_map and the copies of boxes: every rank, type and swizzle against NumPy, edges, the PTX, what the launch and the host device find wrong."""

import pickle
import re

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cli, cuda, types
from standin import needs_standin, run
from test_instructions import has, on_device  # noqa: F401 (on_device names it)
from test_ptx import assemble, ptx_of


def through_text(rank, box, swizzle, dtype):
    """A kernel that copies one box of x to shared memory, as bytes to `seen`, and from there to out, if no index is negative."""
    places = [f"i{k}" for k in range(rank)]
    index = f"({', '.join(places)},)" if rank > 1 else "i0"
    return f"""def kernel(out, x, seen, {', '.join(places)}):
    mx = cuda.tensor_map(x, {box}, swizzle={swizzle})
    mo = cuda.tensor_map(out, {box}, {swizzle})
    s = cuda.shared.array({box}, np.{dtype})
    full = cuda.shared.array(1, cuda.mbarrier)
    if cuda.threadIdx.x == 0:
        cuda.mbarrier_init(full, 0, 1)
        cuda.fence_mbarrier_init()
        cuda.mbarrier_arrive_expect_tx(full, 0, mx.nbytes)
        cuda.cp_async_bulk_tensor(s, mx, {index}, full, 0)
    cuda.syncthreads()
    cuda.mbarrier_wait_parity(full, 0, 0)
    flat = s.reshape(-1)
    for k in range(cuda.threadIdx.x, flat.size, 32):
        seen[k] = flat[k]
    cuda.fence_proxy_async_shared()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0 and {' and '.join(f"{place} >= 0" for place in places)}:
        cuda.cp_async_bulk_tensor_store(mo, {index}, s)
        cuda.cp_async_bulk_commit_group()
        cuda.cp_async_bulk_wait_group(0)
"""


def through(*case):
    return define(through_text(*case))


def box_of(x, box, index):
    """The elements, 0 outside."""
    out = np.zeros(box, x.dtype)
    inside = tuple(slice(max(0, i), max(0, min(n, i + b))) for i, b, n in zip(index, box, x.shape))
    there = tuple(slice(s.start - i, max(s.start, s.stop) - i) for s, i in zip(inside, index))
    out[there] = x[inside]
    return out


def exchanged(box, swizzle):
    """Rows of `swizzle` bytes in shared memory: piece k of 16 bytes of row r is at k XOR r, of which as many bits as there are pieces; narrower
    swizzles have several rows in the 128 bytes that the hardware counts."""
    rows = box.reshape(-1, box.shape[-1]).view(np.uint8).reshape(-1, swizzle // 16, 16)
    out = np.empty_like(rows)
    for r in range(len(rows)):
        for k in range(swizzle // 16):
            out[r, k ^ (r * swizzle // 128 % (swizzle // 16))] = rows[r, k]
    return out.reshape(-1).view(box.dtype)


CASES = [(1, (64,), 0, "float32", (300,), [(0,), (248,), (-12,)]), (2, (8, 32), 0, "float32", (20, 40), [(0, 0), (3, 4), (-2, -4), (15, 28), (50, 52)]),
         (2, (16, 64), 128, "float16", (100, 72), [(0, 0), (90, 32)]), (2, (8, 32), 64, "int16", (33, 64), [(30, 40)]), (2, (16, 4), 32, "float64", (20, 12), [(5, 2)]),
         (3, (2, 4, 16), 0, "uint8", (5, 7, 32), [(1, 2, 16), (4, 5, -16)]), (4, (2, 1, 3, 8), 0, "int32", (3, 4, 5, 8), [(0, 1, 2, 4), (2, 3, 4, -4)]),
         (5, (1, 2, 2, 2, 4), 0, "uint64", (2, 3, 4, 5, 6), [(1, 1, 1, 1, 2), (0, 2, 3, 4, 4)])]  # fmt: skip


@on_device
@pytest.mark.parametrize("rank, box, swizzle, dtype, shape, places", CASES, ids=[f"{c[0]}d-{c[3]}-{c[2]}" for c in CASES])
def test_boxes(rank, box, swizzle, dtype, shape, places):
    kernel = cuda.jit(through(rank, box, swizzle, dtype))
    x = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    for index in places:
        out, seen = np.zeros_like(x), np.zeros(np.prod(box), dtype)
        kernel[1, 32](out, x, seen, *index)
        want, stored = box_of(x, box, index), np.zeros_like(x)
        inside = tuple(slice(max(0, i), max(0, min(n, i + b))) for i, b, n in zip(index, box, shape))
        if min(index) >= 0:
            stored[inside] = x[inside]
        assert np.array_equal(seen, exchanged(want, swizzle) if swizzle else want.reshape(-1))
        assert np.array_equal(out, stored)


FORTRAN = [(1, (64,), 0, "float32", (300,), [(0,), (248,), (-12,)]), (2, (32, 8), 0, "float32", (40, 20), [(0, 0), (4, 3), (-4, -2), (28, 15), (52, 50)]), (2, (64, 16), 128, "float16", (72, 100), [(0, 0), (32, 90)]),
           (3, (16, 4, 2), 0, "uint8", (32, 7, 5), [(16, 2, 1), (-16, 5, 4)])]  # fmt: skip


def fortran(rank, box, swizzle, dtype):
    text = through_text(rank, box, swizzle, dtype).replace("swizzle=", "order='F', swizzle=").replace(f"mo = cuda.tensor_map(out, {box}, {swizzle})", f"mo = cuda.tensor_map(out, {box}, {swizzle}, 'F')")
    return define(text.replace(f"cuda.shared.array({box}", f"cuda.shared.array({box[::-1]}"))


@on_device
@pytest.mark.parametrize("rank, box, swizzle, dtype, shape, places", FORTRAN, ids=[f"{c[0]}d-{c[3]}-{c[2]}" for c in FORTRAN])
def test_fortran_order(rank, box, swizzle, dtype, shape, places, tmp_path):
    """Box and index follow the array's axes; in shared memory, too, the first one has neighbours."""
    kernel = cuda.jit(fortran(rank, box, swizzle, dtype))
    x = np.asfortranarray(np.arange(np.prod(shape)).astype(dtype).reshape(shape))
    for index in places:
        out, seen = np.zeros_like(x), np.zeros(np.prod(box), dtype)
        d_x, d_out = cuda.to_device(x), cuda.to_device(out)
        kernel[1, 32](d_out, d_x, seen, *index)
        want, stored = np.ascontiguousarray(box_of(x, box, index).T), np.zeros_like(x)
        inside = tuple(slice(max(0, i), max(0, min(n, i + b))) for i, b, n in zip(index, box, shape))
        if min(index) >= 0:
            stored[inside] = x[inside]
        assert np.array_equal(seen, exchanged(want, swizzle) if swizzle else want.reshape(-1))
        assert np.array_equal(d_out.copy_to_host(), stored)
    axes = ",".join(["::1"] + [":"] * (rank - 1))
    assemble(ptx_of(kernel.py_func, f"{dtype}[{axes}], {dtype}[{axes}], {dtype}[::1]" + ", int64" * rank, "sm_90"), "sm_90", tmp_path)


@pytest.mark.host_only
@pytest.mark.parametrize("shape, index, what", [
    ((40, 20), (6, 0), "so the first index, 6, has to be a multiple of 4"), ((41, 20), (0, 0), "a row of the array has 164 bytes"), ((40, 20), (0, -1), None),
])  # fmt: skip
def test_wrong_places_in_fortran_order(shape, index, what):
    x = np.zeros(shape, np.float32, order="F")
    text = through_text(2, (32, 8), 0, "float32").replace("swizzle=", "order='F', swizzle=").replace(", 0)\n    s =", ", 0, 'F')\n    s =").replace("array((32, 8)", "array((8, 32)")
    text = text if what else text.replace("i0 >= 0 and i1 >= 0", "i0 >= 0")
    with pytest.raises(RuntimeError, match=what or "the index of axis 1 is -1"):
        cuda.jit(define(text))[1, 32](x, x.copy(order="F"), np.zeros(256, np.float32), *index)


@cuda.jit
def two_blocks(out, x):
    """Each block of a cluster loads half of the rows for both."""
    m = cuda.tensor_map(x, (4, 32))
    s = cuda.shared.array((2, 4, 32), np.float32)
    full = cuda.shared.array(1, cuda.mbarrier)
    c = cuda.cg.this_cluster()
    t, me = cuda.threadIdx.x, c.block_rank()
    if t == 0:
        cuda.mbarrier_init(full, 0, 1)
        cuda.fence_mbarrier_init()
    c.sync()
    if t == 0:
        cuda.mbarrier_arrive_expect_tx(full, 0, 2 * m.nbytes)
        cuda.cp_async_bulk_tensor(s[me], m, (4 * me, 0), full, 0, multicast=3)
    cuda.mbarrier_wait_parity(full, 0, 0)
    for r in range(8):
        out[me, r, t] = s[r // 4, r % 4, t]
    c.sync()


@on_device
def test_multicast():
    x = np.arange(8 * 32, dtype=np.float32).reshape(8, 32)
    out = np.zeros((2, 8, 32), np.float32)
    two_blocks[2, 32, 0, 0, 2](out, x)
    assert (out == x).all()


@on_device
def test_launches_of_other_arrays():
    """A map is of the launch's array: bound launches, launches of arrays that change, and the same ones again."""
    kernel = cuda.jit(through(2, (4, 8), 0, "float32"))
    for shape in ((4, 8), (12, 16), (4, 8)):
        x = np.random.default_rng(0).random(shape, np.float32)
        dx, out, seen = cuda.to_device(x), cuda.to_device(np.zeros_like(x)), cuda.device_array(32, np.float32)
        kernel[1, 32](out, dx, seen, 0, 0)
        assert np.array_equal(seen.copy_to_host(), x[:4, :8].reshape(-1))
        seen[:] = 0
        kernel[1, 32].bind(out, dx, seen, 0, 0)()
        assert np.array_equal(seen.copy_to_host(), x[:4, :8].reshape(-1)) and np.array_equal(out.copy_to_host()[:4, :8], x[:4, :8])


# --- what is wrong ---


@pytest.mark.host_only
@pytest.mark.parametrize("shape, place, what", [
    ((20, 41), "s", r"cp_async_bulk_tensor: a row of the array has 164 bytes, and for a tensor map it is a multiple of 16"),
    ((20, 40), "s[1:]", r"1024 elements are to be copied to a place for 992"), ((20, 40), "w[1:33]", r"the address that is written is 128 bytes beyond a multiple of 1024"),
])  # fmt: skip
def test_wrong_on_the_host(shape, place, what):
    kernel = define(f"""def kernel(x):
    s = cuda.shared.array((32, 32), np.float32)
    w = cuda.shared.array((40, 32), np.float32)
    m = cuda.tensor_map(x, (32, 32), swizzle=128)
    full = cuda.shared.array(1, cuda.mbarrier)
    if cuda.threadIdx.x == 0:
        cuda.mbarrier_init(full, 0, 1)
        cuda.cp_async_bulk_tensor({place}, m, (0, 0), full, 0)
""")
    with pytest.raises(RuntimeError, match=what):
        cuda.jit(kernel)[1, 32](np.zeros(shape, np.float32))


@pytest.mark.host_only
@pytest.mark.parametrize("shape, index, what", [((300,), 250, "the last index, 250, has to be a multiple of 4"), ((300,), -10, "the last index, -10, has"),
                                                ((301,), 0, "a row of the array has 1204 bytes")])  # fmt: skip
def test_places_in_rows(shape, index, what):
    """On a GPU such an index is an illegal instruction, and a store goes on to the next multiple of 16 bytes."""
    x = np.zeros(shape, np.float32)
    with pytest.raises(RuntimeError, match=what):
        cuda.jit(through(1, (64,), 0, "float32"))[1, 32](x, x.copy(), np.zeros(64, np.float32), index)


@pytest.mark.host_only
@pytest.mark.parametrize("index, axis", [((-1, 0), 0), ((2, -4), 1)])
def test_stores_do_not_begin_before_the_array(index, axis):
    """On a GPU such an index is an illegal instruction; loads may."""
    kernel = define("""def kernel(x, i, j):
    s = cuda.shared.array((8, 32), np.float32)
    if cuda.threadIdx.x == 0:
        cuda.cp_async_bulk_tensor_store(cuda.tensor_map(x, (8, 32)), (i, j), s)
""")
    with pytest.raises(RuntimeError, match=f"does not begin before it: the index of axis {axis} is {min(index)}"):
        cuda.jit(kernel)[1, 32](np.zeros((8, 32), np.float32), *index)


@pytest.mark.host_only
@pytest.mark.parametrize("before, after, what", [
    ("s[0, t] = 1", "", "cp_async_bulk_tensor_store: byte 0 of the 1024 has been written since the last fence_proxy_async"),
    ("cuda.fence_proxy_async()", "s[1, t] = 1", "byte 128 of the 1024 was written before the copy had read it"),
])  # fmt: skip
def test_stores_are_looked_at(before, after, what):
    kernel = define(f"""def kernel(x):
    s = cuda.shared.array((8, 32), np.float32)
    m = cuda.tensor_map(x, (8, 32))
    t = cuda.threadIdx.x
    {before}
    cuda.syncthreads()
    if t == 0:
        cuda.cp_async_bulk_tensor_store(m, (0, 0), s)
        cuda.cp_async_bulk_commit_group()
    cuda.syncthreads()
    {after}
    cuda.syncthreads()
    cuda.cp_async_bulk_wait_group(0)
""")
    with pytest.raises(RuntimeError, match=what):
        cuda.jit(kernel)[1, 32](np.zeros((8, 32), np.float32))


@pytest.mark.parametrize("call, what", [
    ("tensor_map(x, 8)", "the box has an extent for each axis"), ("tensor_map(x, (8, 257))", "a box has 1 to 256 elements along each axis, not 257"),
    ("tensor_map(x, (0, 8))", "not 0"), ("tensor_map(x, (8, len(x)))", "must be known"), ("tensor_map(x, (8, 3))", "a row of the box has 12 bytes, and must have a multiple of 16"),
    ("tensor_map(x, (8, 64), swizzle=128)", "a row of the box has 256 bytes, and must have the 128 of the swizzle"), ("tensor_map(x, (8, 8), swizzle=48)", "the swizzle is 0, 32, 64 or 128"),
    ("tensor_map(x[2:], (8, 8))", "an argument of the kernel"), ("tensor_map(x.T, (8, 8))", "of an array in Fortran order it needs order='F'"), ("tensor_map(s, (8, 8))", "must be an array of numbers of 1 to 5 axes"),
    ("tensor_map(x, (8, 8), order='F')", "order='F' is for an array in Fortran order"), ("tensor_map(x, (8, 8), order='A')", "the order is 'C' or 'F'"), ("tensor_map(x, (8, 8), 0, 1)", "the order is"),
    ("tensor_map(x[:, 1:], (8, 8))", "needs a C-contiguous array"),
    ("cp_async_bulk_tensor(s, x, (0, 0), b, 0)", "must be what cuda.tensor_map gives"), ("cp_async_bulk_tensor(s, cuda.tensor_map(x, (8, 8)), (0, 0, 0), b, 0)", "an index for each axis"),
    ("cp_async_bulk_tensor(x, cuda.tensor_map(x, (8, 8)), (0, 0), b, 0)", "must be a C-contiguous shared array of float32"),
    ("cp_async_bulk_tensor(s, cuda.tensor_map(x, (8, 8)), (0, 0.5), b, 0)", "an index for each axis"),
    ("cp_async_bulk_tensor(s, cuda.tensor_map(x, (8, 8)), (1, 6), b, 0)", "so the last index is a multiple of 4, and not 6"),
    ("cp_async_bulk_tensor_store(cuda.tensor_map(x, (8, 8)), (-1, 0), s)", "does not begin before it, at -1"),
    ("cp_async_bulk_tensor_store(cuda.tensor_map(x, (8, 8)), (0, 0), i)", "must be a C-contiguous shared array of float32"),
])  # fmt: skip
def test_wrong_calls(call, what):
    kernel = define("def kernel(x):\n    s = cuda.shared.array((8, 8), np.float32)\n    i = cuda.shared.array((8, 8), np.int32)\n"
                    f"    b = cuda.shared.array(1, cuda.mbarrier)\n    cuda.{call}\n")  # fmt: skip
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(kernel, "float32[:,::1]", "sm_90")


@pytest.mark.parametrize("inline", ["always", "never"])
def test_a_map_stays_in_the_kernel(inline):
    fetch = cuda.jit(device=True, inline=inline)(define("def fetch(m, s, b):\n    cuda.cp_async_bulk_tensor(s, m, (0, 0), b, 0)\n", "fetch"))
    make = cuda.jit(device=True, inline=inline)(define("def make(x):\n    return cuda.tensor_map(x, (8, 8))\n", "make"))
    head = "def kernel(x):\n    s = cuda.shared.array((8, 8), np.float32)\n    b = cuda.shared.array(1, cuda.mbarrier)\n"
    for call, what in (("fetch(cuda.tensor_map(x, (8, 8)), s, b)", "copy with it in the kernel itself"), ("fetch(make(x), s, b)", "in the kernel itself, by the launch")):
        with pytest.raises(CompileError, match=what):
            ptx_of(define(f"{head}    {call}\n", fetch=fetch, make=make), "float32[:,::1]", "sm_90")


HOSTS_MAP = """def kernel(out, x, m, i, j):
    s, b = cuda.shared.array((4, 8), np.float32, alignment=128), cuda.shared.array(1, cuda.mbarrier)
    if cuda.threadIdx.x == 0:
        cuda.mbarrier_init(b, 0, 1)
        cuda.fence_mbarrier_init()
        cuda.mbarrier_arrive_expect_tx(b, 0, m.nbytes)
        cuda.cp_async_bulk_tensor(s, m, (i, j), b, 0)
    cuda.syncthreads()
    cuda.mbarrier_wait_parity(b, 0, 0)
    out[cuda.threadIdx.x // 8, cuda.threadIdx.x % 8] = s[cuda.threadIdx.x // 8, cuda.threadIdx.x % 8]
"""


@on_device
def test_maps_of_the_host():
    """As an argument, in a tuple too, and of an array in a tuple: what the kernel's own map copies.
    A kernel is compiled for the box."""
    kernel = cuda.jit(define(HOSTS_MAP))
    inside = cuda.jit(define(HOSTS_MAP.replace("m, i", "t, i").replace("    s, b", "    n, m = t\n    s, b", 1)))
    own = cuda.jit(define(HOSTS_MAP.replace("    s, b", "    m = cuda.tensor_map(m[1], (4, 8), swizzle=32)\n    s, b", 1)))
    x = np.arange(16 * 40, dtype=np.float32).reshape(16, 40)
    for place in (x, cuda.to_device(x)):
        for swizzle in (0, 32):
            m = cuda.create_tensor_map_from_tensor(place, (4, 8), swizzle)
            assert (m.array is place, m.box, m.swizzle, m.nbytes) == (True, (4, 8), swizzle, 128)
            for run, argument in ((kernel, m), (kernel, pickle.loads(pickle.dumps(m))), (inside, (3, m)), (own, (3, place))):
                for index in ((4, 8), (14, 36), (-1, -4)):
                    out = np.zeros((4, 8), np.float32)
                    run[1, 32](out, place, argument, *index)
                    want = box_of(x, (4, 8), index)
                    assert np.array_equal(out, want if swizzle == 0 and run is not own else exchanged(want, 32).reshape(4, 8))
    assert len(kernel.signatures) == 2
    turned = cuda.jit(define(HOSTS_MAP.replace("(4, 8)", "(8, 4)").replace("// 8", "// 4").replace("% 8", "% 4")))
    out, f = np.zeros((8, 4), np.float32), np.asfortranarray(x.T)  # box and index are in its own order
    turned[1, 32](out, f, cuda.create_tensor_map_from_tensor(f, (4, 8), swizzle=0), 4, 5)
    assert np.array_equal(out, f[4:8, 5:13].T)


@pytest.mark.parametrize("make, error, what", [
    ("x, (4, 8, 1)", ValueError, "the box has an extent for each: 3 for 2"), ("x, 8", ValueError, "1 for 2"), ("x, (4, 300)", ValueError, "1 to 256 elements along each axis, not (4, 300)"),
    ("x, (4, 8)", ValueError, "a row of the box has 32 bytes, and must have the 128 of the swizzle"), ("x, (4, 5), 0", ValueError, "has 20 bytes, and must have a multiple of 16"),
    ("x, (4, 8), 48", ValueError, "the swizzle is 0, 32, 64 or 128 bytes, not 48"), ("x[:, ::2], (4, 8), 0", ValueError, "contiguous: pass a copy"),
    ("x[:, :9].copy(), (4, 8), 32", ValueError, "a row of the array has 36 bytes, and for a tensor map it is a multiple of 16"), ("x > 1, (4, 32)", TypeError, "of integers or floats, not of bool"),
    ("[[1]], (4, 8)", TypeError, "__cuda_array_interface__"),
])  # fmt: skip
def test_wrong_maps_of_the_host(make, error, what):
    with pytest.raises(error, match=re.escape(what)):
        eval(f"cuda.create_tensor_map_from_tensor({make})", {"cuda": cuda, "x": np.zeros((8, 32), np.float32)})


def test_parameters_of_the_host_s_maps(tmp_path):
    """One for each map, of whichever array in tuples; a copy in a loop has the same."""
    made = type(cuda.create_tensor_map_from_tensor(np.zeros((16, 40), np.float32), (4, 8), 32))
    x = types.from_dtype(np.float32)[:, ::1]
    m = types.NamedTuple((x, types.UniTuple(types.int64, 2), types.int64, types.int64), made)
    text = HOSTS_MAP.replace("        cuda.cp_async_bulk_tensor(s, m, (i, j), b, 0)\n",
                             "        for k in range(4):\n            cuda.cp_async_bulk_tensor(s, m[0], (i + k, j), b, 0)\n            cuda.cp_async_bulk_tensor(s, m[2][1], (i, j), b, 0)\n")  # fmt: skip
    signature = f"{x}, {x}, {types.Tuple((m, types.int64, types.Tuple((types.int64, m))))}, int64, int64"
    ptx = ptx_of(define(text.replace("m.nbytes", "m[0].nbytes")), signature, "sm_90")
    assert len(re.findall(r"\.param \.align 64 \.b8 \w+\[128\]", ptx)) == 2 and ptx.count("cp.async.bulk.tensor.2d") == 8
    assemble(ptx, "sm_90", tmp_path)


# --- PTX ---

TABLE = dict.fromkeys(("CP_ASYNC_TENSOR", "CP_ASYNC_TENSOR_STORE"), (cuda.jit(through(2, (8, 32),
128, "float32")), "float32[:,::1], float32[:,::1], float32[::1], int64, int64"))


@pytest.mark.parametrize("arch", ["sm_90", "sm_90a"])
@pytest.mark.parametrize("case", CASES, ids=[f"{c[0]}d-{c[3]}-{c[2]}" for c in CASES])
def test_assembles(case, arch, tmp_path):
    rank, box, swizzle, dtype, _, _ = case
    axes = ",".join([":"] * (rank - 1) + ["::1"])
    text = ptx_of(through(rank, box, swizzle, dtype), f"{dtype}[{axes}], {dtype}[{axes}], {dtype}[::1]" + ", int64" * rank, arch)
    assemble(text, arch, tmp_path)


def test_no_map_for_other_programs():
    kernel, signature = TABLE["CP_ASYNC_TENSOR"]
    with pytest.raises(CompileError, match="(?s)a map is made by this package's launches.*help: compile it with --abi compact"):
        ptx_of(kernel.py_func, signature, "sm_90", abi="stable")


def test_the_command_line_with_a_map(tmp_path, capsys):
    """Its own default is for other programs, and its error names the option that is not."""
    path = tmp_path / "copies.py"
    path.write_text("from pyptx import cuda\n\n\n@cuda.jit\ndef kernel(x):\n    s = cuda.shared.array(64, 'float32')\n    b = cuda.shared.array(1, cuda.mbarrier)\n"
                    "    cuda.cp_async_bulk_tensor(s, cuda.tensor_map(x, 64), 0, b, 0)\n")
    command = ["compile", str(path), "--sig", "float32[::1]", "--arch", "sm_90", "-o", str(tmp_path / "k.ptx")]
    assert cli.main(command) == 1 and "PT208" in (said := capsys.readouterr().err) and "--abi compact" in said
    assert cli.main([*command, "--abi", "compact"]) == 0 and "cp.async.bulk.tensor" in (tmp_path / "k.ptx").read_text()


def test_maps_are_parameters():
    """One a pair of array and box, 128 bytes at a multiple of 64, which the instruction reads where they are; indices in the reverse order."""
    kernel, signature = TABLE["CP_ASYNC_TENSOR"]
    text = ptx_of(kernel.py_func, signature, "sm_90")
    assert len(re.findall(r"\.param \.align 64 \.b8 \w+\[128\]", text)) == 2 and ".local" not in text
    load = re.search(r"cp\.async\.bulk\.tensor\.2d\.shared::cluster\.global\.tile\.mbarrier::complete_tx::bytes \[%r\d+\], \[%rd\d+, \{(%r\d+), (%r\d+)\}\], \[%r\d+\];", text)
    assert load, text
    assert re.search(r"cp\.async\.bulk\.tensor\.2d\.global\.shared::cta\.tile\.bulk_group \[%rd\d+, \{%r\d+, %r\d+\}\], \[%r\d+\];", text), text
    assert text.count("cvta.param.u64") == 2, text


@needs_standin
def test_what_a_launch_finds():
    """The stand-in driver makes no maps, as drivers before CUDA 12 do not; arrays are looked at before it is asked."""
    run("""
        import numpy as np, test_tensor_maps
        from pyptx import cuda

        kernel = cuda.jit(test_tensor_maps.through(2, (4, 8), 0, "float32"))

        def finds(what, *shape):
            x = cuda.device_array(shape, np.float32)
            for launch in (lambda: kernel[1, 32](x, x, x[0], 0, 0), lambda: kernel[1, 32].bind(x, x, x[0], 0, 0)):
                try:
                    launch()
                except Exception as e:
                    assert what in str(e), e
                else:
                    assert False, "no error"

        finds("rows of 36 bytes", 4, 9)
        x, good = cuda.device_array((4, 9), np.float32), cuda.device_array((4, 12), np.float32)
        text = test_tensor_maps.HOSTS_MAP
        own = cuda.jit(test_tensor_maps.define(text.replace("    s, b", "    m = cuda.tensor_map(m[1], (4, 8))\\n    s, b", 1)))
        own[1, 32](good, good, (x, good), 0, 0)  # the second array's
        cuda.jit(test_tensor_maps.define(text))[1, 32](good, good, cuda.create_tensor_map_from_tensor(good, (4, 8), 0), 0, 0)
        try:
            own[1, 32](good, good, (good, x), 0, 0)
        except Exception as e:
            assert "rows of 36 bytes" in str(e), e
        else:
            assert False, "no error"
        kernel = cuda.jit(test_tensor_maps.fortran(2, (8, 4), 0, "float32"))
        x = cuda.device_array((9, 4), np.float32, order="F")
        try:
            kernel[1, 32](x, x, x[:, 0], 0, 0)
        except Exception as e:
            assert "rows of 36 bytes" in str(e), e
        else:
            assert False, "no error"
    """)
