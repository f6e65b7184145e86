"""Products that a loop compares and does not change, in front of it (codegen/ssa/early_numbers.c)."""

import numpy as np
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda
from test_ptx import ptx_of


def wrapped(v):
    return (v + 2**63) % 2**64 - 2**63


def window(x, by, out):
    """Both products are written in the inner loop; one is behind a guard that says that it is not negative."""
    i = cuda.grid(1)
    size, stride, pad, gap = by[0], by[1], by[2], by[3]
    total, last = 0, 0
    for a in range(size):
        for b in range(size):
            row = i * stride - pad + a
            if row >= 0:
                col = (i + 1) * stride - pad + b * gap
                if 0 <= col < x.shape[1] and row < x.shape[0]:
                    total += int(x[row, col]) * (a + 2 * b + 1)
                elif col > row:
                    total += 1
            last = row
    out[i, 0] = total
    out[i, 1] = last


def window_of(x, i, size, stride, pad, gap):
    total, last = 0, 0
    for a in range(size):
        for b in range(size):
            row = wrapped(i * stride - pad + a)
            if row >= 0:
                col = wrapped((i + 1) * stride - pad + b * gap)
                if 0 <= col < x.shape[1] and row < x.shape[0]:
                    total += int(x[row, col]) * (a + 2 * b + 1)
                elif col > row:
                    total += 1
            last = row
    return [total, last]


@needs_llc
def test_windows_at_the_edges_of_32_bits():
    """Strides and borders at the ends of what the tests in front of the loops let through, and far beyond."""
    entries = Entries(window, "narrow (int32[:,::1], int64[::1], int64[:,::1])", 1)
    x = np.random.default_rng(5).integers(-50, 50, (9, 11)).astype(np.int32)
    big = [2**15 - 1, 2**15, 2**29, 2**30 - 1, 2**30, 2**30 + 1, 2**31 - 1, 2**31, 2**32, 2**33 + 1, 2**62, 2**63 - 1]
    cases = [(3, 2, 1, 1), (5, 2, 3, 2), (5, 3, 4, -1), (0, 1, 1, 1), (1, 0, -1, 1), (9, 1, 1, 2)]
    cases += [(3, 2, s * (n + d), 1) for n in big for s in (1, -1) for d in (0, -1)]
    cases += [(3, s * n, s * n - 2, 1) for n in big[:-1] for s in (1, -1)]
    cases += [(3, n, 2 * n - 1, 1) for n in big[:-2]] + [(4, 2, 1, s * n) for n in big for s in (1, -1)]
    for case in cases:
        got = np.zeros((4, 2), np.int64)
        entries.run((2, 1, 1), (2, 1, 1), [x, np.array(case, np.int64), got], False)
        assert got.tolist() == [window_of(x, i, *case) for i in range(4)], case


def test_products_of_a_window_are_asked_for_in_front_of_its_loops():
    """In 32 bits then; a window's counter with a step of its own has 15 bits."""

    def places(x, size, stride, pad, out):
        i = cuda.grid(1)
        n = 0
        for a in range(size):
            for b in range(size):
                row = i * stride - pad + a
                col = (i + 1) * stride - pad + b
                if 0 <= row < x.shape[0] and 0 <= col < x.shape[1]:
                    n += x[row, col]
        out[i] = n

    def gaps(x, size, stride, gap, pad, out):
        i = cuda.grid(1)
        n = 0
        for b in range(size):
            col = i * stride - pad + b * gap
            if 0 <= col < x.size:
                n += x[col]
        out[i] = n

    texts = [ptx_of(places, "narrow (int32[:,::1], int64, int64, int64, int32[::1])"),
             ptx_of(gaps, "narrow (int32[::1], int64, int64, int64, int64, int32[::1])")]
    assert "1073741824" in texts[0]  # the test in front
    assert "1073676289" in texts[1]  # 32767 ** 2


def cells(x, sizes, n, out):
    """Divisions that inner loops do not change: in each iteration, behind a guard, by a constant, of another one."""
    i = cuda.grid(1)
    total = 0
    for a in range(-1, 2):
        for b in range(sizes[0]):
            row = (i + a + n) % n
            col = (i * 3 + b) % n
            if col > row:
                total += (i - a) // n
            total += row * 7 % 10 + 3 * (row // n) + x[col]
    for m in sizes:
        if m > 0:
            for b in range(m - 1):
                total += (i - 5) // n + b
    out[i] = total


def floored(a, n):
    return (a // n, a % n) if n else (0, 0)


def cells_of(x, sizes, n, i):
    total = 0
    for a in range(-1, 2):
        for b in range(sizes[0]):
            row, col = floored(wrapped(i + a + n), n)[1], floored(i * 3 + b, n)[1]
            if col > row:
                total += floored(i - a, n)[0]
            total += wrapped(row * 7) % 10 + 3 * floored(row, n)[0] + int(x[col])
    for m in sizes:
        if m > 0:
            for b in range(m - 1):
                total += floored(i - 5, n)[0] + b
    return total


@needs_llc
def test_divisions_in_front_of_loops(monkeypatch):
    """By numbers of either sign, and by 0; of loops that do not run, too."""
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.reciprocals")  # the CPU has no instruction for high halves
    entries = Entries(cells, "narrow (int32[::1], int64[::1], int64, int64[::1])", 1)
    x = np.random.default_rng(7).integers(-50, 50, 40).astype(np.int32)
    for n in (1, 2, 3, 7, 24, -1, -2, -5, -24, 0):
        for sizes in ([3, 1, 0, 4], [0, 2], [1, -1, 3], [2]):
            got = np.zeros(8, np.int64)
            entries.run((2, 1, 1), (4, 1, 1), [x, np.array(sizes, np.int64), n, got], False)
            assert got.tolist() == [cells_of(x, sizes, n, i) for i in range(8)], (n, sizes)


def test_divisions_of_an_outer_loop_are_in_front_of_the_inner_one(monkeypatch):
    """The one of an inner loop's own stays in it."""
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.reciprocals")

    def cell(start, side, out):
        i = cuda.grid(1)
        n = 0
        for dz in range(-1, 2):
            for dy in range(-1, 2):
                for dx in range(start[i]):
                    kx, ky, kz = (i + dx) % side, (3 * i + dy) % side, (7 * i + dz) % side
                    n += start[(kz * side + ky) * side + kx]
        out[i] = n

    signature = "narrow (int32[::1], int64, int32[::1])"
    few = ptx_of(cell, signature).count("rem.u32")
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.reciprocals,ssa.early_numbers")
    assert 2 * few < ptx_of(cell, signature).count("rem.u32")  # each of the unrolled iterations has three
