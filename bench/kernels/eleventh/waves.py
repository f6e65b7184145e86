"""Waves and grains: a packet of waves, vortices of angles, topples of sand."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.eleventh.adds import with_adds
from kernels.texts import plane
from pyptx import cuda, int16


def packet_step(now, before, potential, hop, step, after):
    """Schroedinger's equation on a grid, a step by the state before: 2i steps of what neighbours and the potential do."""
    x, y = cuda.grid(2)
    rows, cols = now.shape
    if y < 1 or x < 1 or y >= rows - 1 or x >= cols - 1:
        return
    around = now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1]
    energy = potential[y, x] * now[y, x] - hop * (around - 4 * now[y, x])
    after[y, x] = before[y, x] - 2j * step * energy


def vortex_counts(angles, charges, counts):
    """Vortices of an XY model: turns of the angle around each square, angles being 65536ths of a turn; edges are joined."""
    x, y = cuda.grid(2)
    rows, cols = angles.shape
    if y >= rows or x >= cols:
        return
    below, right = (y + 1) % rows, (x + 1) % cols
    a, b = angles[y, x], angles[y, right]
    c, d = angles[below, right], angles[below, x]
    turn = int(int16(b - a)) + int(int16(c - b)) + int(int16(d - c)) + int(int16(a - d))
    charge = turn // 65536
    charges[y, x] = charge
    if charge != 0:
        cuda.atomic.add(counts, 0 if charge > 0 else 1, 1)


def topple_step(sand, after, unstable):
    """Piles of sand that topple at four: a step for all at once; what falls over the edge is lost."""
    x, y = cuda.grid(2)
    rows, cols = sand.shape
    if y >= rows or x >= cols:
        return
    grains = sand[y, x] % 4
    if y > 0:
        grains += sand[y - 1, x] // 4
    if y < rows - 1:
        grains += sand[y + 1, x] // 4
    if x > 0:
        grains += sand[y, x - 1] // 4
    if x < cols - 1:
        grains += sand[y, x + 1] // 4
    after[y, x] = grains
    if grains >= 4:
        unstable[0] = 1


def packet_problem(rng, n):
    shape = (n, n + 5)
    now, before = ((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64) for _ in range(2))
    potential = rng.uniform(0, 2, shape).astype(np.float32)
    hop, step = np.float32(0.5), np.float32(0.1)

    def expected():
        p, v = now.astype(complex), potential.astype(float)
        around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        values = np.full(shape, 77, complex)
        energy = v[1:-1, 1:-1] * p[1:-1, 1:-1] - float(hop) * (around - 4 * p[1:-1, 1:-1])
        values[1:-1, 1:-1] = before[1:-1, 1:-1] - 2j * float(step) * energy
        size = abs(p).max() * 8
        return [(slice(None), values, 8 * EPS32 * (size * 2 * float(step) + abs(before)))]

    args = (now, before, potential, hop, step, np.full(shape, 77, np.complex64))
    return Problem(args, shape, (5,), expected, threads=shape[::-1], bytes=28.0 * np.prod(shape), flops=20.0 * np.prod(shape))


def vortex_problem(rng, n):
    shape = (n, n + 3)
    angles = rng.integers(0, 65536, shape).astype(np.uint16)

    def expected():
        a = angles
        b, d = np.roll(a, -1, 1), np.roll(a, -1, 0)
        c = np.roll(b, -1, 0)
        turn = sum((q - p).view(np.int16).astype(int) for p, q in ((a, b), (b, c), (c, d), (d, a)))
        charge = turn // 65536
        return [(slice(None), charge, 0), (slice(None), [(charge > 0).sum(), (charge < 0).sum()], 0)]

    args = (angles, np.full(shape, 99, np.int8), np.zeros(2, np.int32))
    return Problem(args, shape, (1, 2), expected, threads=shape[::-1], bytes=3.0 * np.prod(shape), flops=16.0 * np.prod(shape))


def topple_problem(rng, n):
    shape = (n, n + 7)
    sand = rng.integers(0, 12, shape).astype(np.int32)

    def expected():
        values, falls = sand % 4, sand // 4
        values[1:] += falls[:-1]
        values[:-1] += falls[1:]
        values[:, 1:] += falls[:, :-1]
        values[:, :-1] += falls[:, 1:]
        return [(slice(None), values, 0), (slice(None), [(values >= 4).any()], 0)]

    args = (sand, np.full(shape, 99, np.int32), np.zeros(1, np.int32))
    return Problem(args, shape, (1, 2), expected, threads=shape[::-1], bytes=8.0 * np.prod(shape), flops=14.0 * np.prod(shape))


PACKET = plane(
    """packet_step(const float *__restrict__ now, const float *__restrict__ before, const float *__restrict__ potential,
                 float hop, float step, float *__restrict__ after, int rows, int cols)""",
    """
    if (row < 1 || col < 1 || row >= rows - 1 || col >= cols - 1) SKIP;
    INDEX at = row * cols + col;
    float re = now[2 * at], im = now[2 * at + 1], v = potential[at];
    float ar = now[2 * (at - cols)] + now[2 * (at + cols)] + now[2 * at - 2] + now[2 * at + 2];
    float ai = now[2 * (at - cols) + 1] + now[2 * (at + cols) + 1] + now[2 * at - 1] + now[2 * at + 3];
    float er = v * re - hop * (ar - 4 * re), ei = v * im - hop * (ai - 4 * im);
    after[2 * at] = before[2 * at] + 2 * step * ei;
    after[2 * at + 1] = before[2 * at + 1] - 2 * step * er;
""",
)
PACKET = {k: text.replace("SKIP", "continue" if k == "openmp" else "return") for k, text in PACKET.items()}

VORTEX = with_adds(plane(
    "vortex_counts(const unsigned short *__restrict__ angles, signed char *__restrict__ charges, int *__restrict__ counts, int rows, int cols)",
    """
    INDEX below = (row + 1) % rows, right = (col + 1) % cols;
    unsigned short a = angles[row * cols + col], b = angles[row * cols + right];
    unsigned short c = angles[below * cols + right], d = angles[below * cols + col];
    int turn = (short)(b - a) + (short)(c - b) + (short)(d - c) + (short)(a - d), charge = turn >> 16;
    charges[row * cols + col] = charge;
    if (charge != 0) ADD(counts[charge > 0 ? 0 : 1], 1);
""",
))  # fmt: skip

TOPPLE = plane(
    "topple_step(const int *__restrict__ sand, int *__restrict__ after, int *__restrict__ unstable, int rows, int cols)",
    """
    INDEX at = row * cols + col;
    int grains = sand[at] % 4;
    if (row > 0) grains += sand[at - cols] / 4;
    if (row < rows - 1) grains += sand[at + cols] / 4;
    if (col > 0) grains += sand[at - 1] / 4;
    if (col < cols - 1) grains += sand[at + 1] / 4;
    after[at] = grains;
    if (grains >= 4) unstable[0] = 1;
""",
)

KERNELS = [
    Kernel(
        "packets of waves", packet_step, "complex64[:,::1], complex64[:,::1], float32[:,::1], float32, float32, complex64[:,::1]",
        (32, 8), packet_problem, gpu=3001, host=301, test=37, power=2, kind="stencil", **PACKET,
    ),
    Kernel(
        "vortices of angles", vortex_counts, "uint16[:,::1], int8[:,::1], int32[::1]", (32, 8), vortex_problem, gpu=5003,
        host=401, test=37, power=2, kind="stencil", **VORTEX,
    ),
    Kernel(
        "sand that topples", topple_step, "int32[:,::1], int32[:,::1], int32[::1]", (32, 8), topple_problem, gpu=5003,
        host=401, test=37, power=2, kind="stencil", **TOPPLE,
    ),
]  # fmt: skip
