"""Neighbouring points: layers of arrays of three axes, taps that a loop walks down, and a table's row in a local array
(codegen/nvptx/memory/row_distances.c, differences.c; loop-load-elim in codegen/llvm/optimize.def)."""

import re

import numpy as np
from pyptx import cuda, int32


def points(u, v, out):
    """Neighbours one and two layers, rows and columns away, and two corners."""
    x, y, z = cuda.grid(3)
    depth, height, width = u.shape
    if 0 < x < width - 1 and 1 < y < height - 2 and 1 < z < depth - 2:
        total = 8 * u[z, y, x] - u[z - 1, y, x] + 2 * u[z + 1, y, x] - 3 * u[z, y - 1, x] + 4 * u[z, y + 1, x]
        total += u[z - 2, y, x] - u[z + 2, y, x] + 5 * u[z, y - 2, x] - 6 * u[z, y + 2, x]
        total += 7 * u[z + 1, y, x - 1] - 8 * u[z, y - 1, x + 1] + 9 * u[z + 1, y + 1, x]
        out[z, y, x] = total + v[z, y, x] * v[z - 1, y, x] - 3 * v[z + 2, y, x] + v[z, y + 1, x - 1]


WEIGHTS = {
    (0, 0, 0): 8, (-1, 0, 0): -1, (1, 0, 0): 2, (0, -1, 0): -3, (0, 1, 0): 4, (-2, 0, 0): 1, (2, 0, 0): -1, (0, -2, 0): 5,
    (0, 2, 0): -6, (1, 0, -1): 7, (0, -1, 1): -8, (1, 1, 0): 9,
}  # fmt: skip


def taps(x, weights, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(weights.size):
            j = i - k
            if 0 <= j < x.size:
                total += weights[k] * x[j]
        out[i] = total


def table(first, second, lengths):
    """A longest common subsequence: each place of the row is made of the one before."""
    pair = cuda.grid(1)
    if pair < lengths.size:
        row = cuda.local.array(41, int32)
        for j in range(second.shape[1] + 1):
            row[j] = 0
        for i in range(first.shape[1]):
            diagonal = 0
            for j in range(second.shape[1]):
                up = row[j + 1]
                if first[pair, i] == second[pair, j]:
                    row[j + 1] = diagonal + 1
                else:
                    row[j + 1] = max(up, row[j])
                diagonal = up
        lengths[pair] = row[second.shape[1]]


def ptx_of(kernel, signature):
    return cuda.compile_ptx(kernel, f"narrow ({signature})", cc="sm_90", coarsen=1)[0]


def at(array, by):
    return np.roll(array, [-d for d in by], (0, 1, 2))


def test_points():
    rng = np.random.default_rng(0)
    for shape in ((7, 8, 9), (5, 6, 40), (4, 3, 2)):
        u, v = rng.integers(-100, 100, (2, *shape))
        for array in (u, np.asfortranarray(u), u[::-1, :, ::-1]):
            out, want = np.zeros_like(u), np.zeros_like(u)
            cuda.jit(points)[(2, 2, 2), (32, 4, 4)](array, v, out)
            inside = tuple(slice(edge, max(n - edge, edge)) for n, edge in zip(shape, (2, 2, 1)))
            for by, weight in WEIGHTS.items():
                want[inside] += weight * at(array, by)[inside]
            want[inside] += (v * at(v, (-1, 0, 0)) - 3 * at(v, (2, 0, 0)) + at(v, (0, 1, -1)))[inside]
            np.testing.assert_array_equal(out, want)


def test_layers_are_distances():
    made = ptx_of(points, "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1]")
    assert len(re.findall(r"mul\.wide\.s32 .*, -4;", made)) == 3  # in front, in both, and above
    assert len(re.findall(r"mad\.lo\.s32", made)) == 9  # x, y, z, a point of each array


def test_taps():
    rng = np.random.default_rng(1)
    x, out = rng.integers(-9, 9, 30), np.zeros(40, np.int64)
    for n in (0, 1, 3, 4, 7, 21):
        weights = rng.integers(-9, 9, n)
        cuda.jit(taps)[2, 32](x, weights, out)
        want = [sum(int(weights[k]) * int(x[i - k]) for k in range(n) if 0 <= i - k < 30) for i in range(40)]
        np.testing.assert_array_equal(out, want)


def test_an_extent_is_asked_once():
    made = ptx_of(taps, "float32[::1], float32[::1], float32[::1]")
    assert "setp.ge.u32" in made and not re.search(r"setp\.(lt|gt|ge)\.s32", made)
    assert len(re.findall(r"sub\.s32", made)) <= 4  # one for each loop over taps


def test_table():
    rng = np.random.default_rng(3)
    for m, n in ((1, 1), (5, 4), (9, 40), (12, 17)):
        first, second = rng.integers(0, 3, (6, m)).astype(np.int8), rng.integers(0, 3, (6, n)).astype(np.int8)
        lengths = np.zeros(6, np.int32)
        cuda.jit(table)[1, 32](first, second, lengths)
        for pair in range(6):
            rows = np.zeros((m + 1, n + 1), int)
            for i in range(m):
                for j in range(n):
                    same = first[pair, i] == second[pair, j]
                    rows[i + 1, j + 1] = rows[i, j] + 1 if same else max(rows[i, j + 1], rows[i + 1, j])
            assert lengths[pair] == rows[m, n]


def test_the_row_before_is_in_a_register():
    made = ptx_of(table, "int8[:,::1], int8[:,::1], int32[::1]")
    loop = max(made.split("$L__"), key=lambda part: part.count("max.s32"))
    assert loop.count("ld.local.b32") == loop.count("st.local.b32") == 4
