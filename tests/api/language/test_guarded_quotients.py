"""Quotients behind equal branches are there once (codegen/nvptx/branches/guarded_quotients.c), and loads go in front of branches
around quotients (codegen/nvptx/memory/loads_first.c)."""

import math

import numpy as np
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda
from test_ptx import ptx_of

SIGNATURE = "narrow (float32[::1], float32[::1], float32, float32[::1])"


def flux(hl, nl, hr, nr, least):
    ul = nl / hl if hl > least else 0.0
    ur = nr / hr if hr > least else 0.0
    return ul * nl + ur * nr, math.sqrt(hl) / hr if hr > least else -1.0


def faces(h, p, least, out):
    """Two faces of each cell share its speed; of one cell in three all is 0."""
    i = cuda.grid(1)
    a, b = flux(h[i], p[i], h[i + 1], p[i + 1], least)
    c, d = flux(h[i + 1], p[i + 1], h[i + 2], p[i + 2], least)
    out[i] = a - c + b * d


def walk(h, p, least, out):
    """The same in a loop, of which the numbers move on."""
    i = cuda.grid(1)
    total = out[i]
    for k in range(3):
        a, b = p[i + k], h[i + k]
        u = a / b if b > least else 1.0
        v = a / b if b > least else 1.0
        w = a / b if b > least else -1.0
        total += u * v + w
        least = least + b
    out[i] = total


def on_cpu(kernel, h, p, least, out):
    f = np.float32

    def of(hl, nl, hr, nr):
        ul = nl / hl if hl > least else f(0)
        ur = nr / hr if hr > least else f(0)
        return ul * nl + ur * nr, np.sqrt(hl) / hr if hr > least else f(-1)

    for i in range(len(out)):
        if kernel is faces:
            (a, b), (c, d) = of(h[i], p[i], h[i + 1], p[i + 1]), of(h[i + 1], p[i + 1], h[i + 2], p[i + 2])
            out[i] = a - c + b * d
        else:
            at = least
            for k in range(3):
                u = p[i + k] / h[i + k] if h[i + k] > at else f(1)
                w = p[i + k] / h[i + k] if h[i + k] > at else f(-1)
                out[i] += u * u + w
                at = at + h[i + k]


@needs_llc
def test_faces_and_walks():
    rng = np.random.default_rng(3)
    for kernel in (faces, walk):
        entries = Entries(kernel, SIGNATURE, 1, fma=False)
        for least in (0.0, 0.5, -1.0, np.inf, np.nan):
            h, p = rng.uniform(0, 1, (2, 34)).astype(np.float32)
            h[::3] = 0
            h[5], p[9] = np.nan, np.inf
            got, want = np.ones(32, np.float32), np.ones(32, np.float32)
            entries.run((4, 1, 1), (8, 1, 1), [h, p, np.float32(least), got], False)
            with np.errstate(all="ignore"):
                on_cpu(kernel, h, p, np.float32(least), want)
            np.testing.assert_array_equal(got, want)


def test_a_shared_face_divides_once_and_loads_first():
    text = ptx_of(faces, SIGNATURE)
    assert text.count("div.rn.f32") == 5  # three cells' speeds, and two of the roots' quotients
    assert text.rindex("ld.global") < text.index("div.rn.f32")
    assert ptx_of(walk, SIGNATURE).count("div.rn.f32") in (1, 3)  # one for each iteration, rolled or not
