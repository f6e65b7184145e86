"""Arguments at which functions are hardest to compute: where angles cancel against multiples of pi/2, logarithms and powers against 1.

Random arguments never meet these: of all float64 some thousands lie so near a multiple of pi/2 that a reduction with too few bits of pi
shows, and the floats around 1 are one in 10**15 of those that `samples` draws from.
"""

from itertools import pairwise, takewhile

import numpy as np
from exact import pi

PI_BITS = 2600


def convergents(top, bottom):
    """Denominators of the convergents of a fraction, smallest first."""
    before, now = 1, 0
    while bottom:
        quotient, rest = divmod(top, bottom)
        before, now = now, quotient * now + before
        yield now
        top, bottom = bottom, rest


def near_quarter_turns(dtype, each=3):
    """Of every exponent from 1/2 up the floats nearest to multiples of pi/2: m * 2**e for the m that the continued fraction of
    2**e / (pi/2) gives, in both signs by turns."""
    info = np.finfo(dtype)
    bits, half = info.nmant + 1, pi(PI_BITS) >> 1
    out = []
    for e in range(-bits, int(info.maxexp) - bits + 1):
        top, bottom = (1 << PI_BITS + e, half) if e >= 0 else (1 << PI_BITS, half << -e)
        found = list(takewhile(lambda k: k < 1 << bits, convergents(top, bottom)))[-6:]
        multiples = {k * -(-(1 << bits - 1) // k) for k in found}  # with all their bits
        near = {m for m in (*found, *multiples, *map(sum, pairwise(found))) if m < 1 << bits}
        by_distance = sorted(near, key=lambda m: min(m * top % bottom, -m * top % bottom))
        out += [(-1) ** e * np.ldexp(dtype(m), e) for m in by_distance[:each]]
    return np.array(out, dtype)


def around(points, dtype, steps=3):
    """The floats next to each point, on both sides, and it."""
    points = np.asarray(points, dtype)
    kind = f"i{np.dtype(dtype).itemsize}"
    steps = np.arange(-steps, steps + 1).astype(kind)
    return np.unique((points.view(kind)[:, None] + steps).view(dtype).ravel())


def angles(dtype, rng, n=300):
    """near_quarter_turns, and floats around multiples of pi/2 of every size."""
    info = np.finfo(dtype)
    sizes = np.exp2(rng.uniform(0, info.maxexp - 2, n))
    small = rng.integers(1, 1 << 30, n) * (np.pi / 2)
    return np.concatenate([near_quarter_turns(dtype), around(small, dtype, 1), sizes.astype(dtype)])


def half_turns(dtype, rng, n=300):
    """For sine and cosine of multiples of pi: floats around halves of whole numbers."""
    bits = np.finfo(dtype).nmant
    halves = rng.integers(1, 1 << bits, n) >> rng.integers(0, bits, n)
    return around(np.maximum(halves, 1) / 2, dtype)


def around_one(dtype, rng, n=300):
    """1 and the floats around it at all distances."""
    distance = np.exp2(rng.uniform(-np.finfo(dtype).nmant - 1, -1, n)) * rng.choice([-1, 1], n)
    return np.concatenate([around([1], dtype, 30), (1 + distance).astype(dtype)])


def powers(dtype, rng, n=600):
    """(x, y) with x around 1 and results of every size: what the logarithm's error, times y, does."""
    x = around_one(dtype, rng, n)
    x = x[x != 1]
    limit = float(np.log(np.finfo(dtype).max))
    y = rng.uniform(-limit, limit, x.size) / np.log1p((x - 1).astype(np.longdouble))
    return x, y.astype(dtype)


def exponents(dtype, rng, base=np.e, n=600):
    """Arguments of exp over all its range, more of them at its ends."""
    info = np.finfo(dtype)
    low, high = (np.log2(float(v)) / np.log2(base) for v in (info.smallest_subnormal, info.max))
    x = np.concatenate([rng.uniform(low, high, n), around([low, high, 1e-8], dtype, 10)]).astype(dtype)
    return x[(x > low) & (x < high)]


def errors(dtype, rng, n=800):
    """Arguments of erf and erfc: from where they are 1 - x to where erfc vanishes."""
    end = 10.5 if dtype is np.float32 else 27.3
    return np.concatenate([rng.uniform(-6, end, n), np.exp2(rng.uniform(-60, 0, n // 4)), -np.exp2(rng.uniform(-60, 0, n // 4))]).astype(dtype)


def sides(dtype, rng, n=1500):
    """(x, y) of right triangles of every size and shape: also where squares overflow, vanish or are subnormal."""
    info = np.finfo(dtype)
    size = rng.uniform(info.minexp - info.nmant, info.maxexp - 1, n)
    x = np.exp2(size)
    y = x * np.where(rng.random(n) < 0.5, rng.uniform(0, 1, n), np.exp2(rng.uniform(-info.nmant - 2, 0, n)))
    ends = np.array([info.max, info.max / 2, info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal])
    pairs = [(a, b) for a in ends for b in ends]
    with np.errstate(under="ignore"):
        return np.append(x, [a for a, _ in pairs]).astype(dtype), np.append(y, [b for _, b in pairs]).astype(dtype)
