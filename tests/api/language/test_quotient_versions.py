"""Loops that multiply and divide what they carry along, in two versions (codegen/ssa/quotient_versions.c)."""

import numpy as np
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of


def fraction(n, root, starts, terms, out):
    """The continued fraction of a square root; terms are written behind all that may stop an iteration."""
    m, d, a = starts[0], starts[1], starts[2]
    length = 0
    while a != 2 * root:
        m = d * a - m
        d = (n - m * m) // d
        a = (root + m) // d
        if length == 12:
            length = -1
            break
        terms[length] = a
        length += 1
    out[0] = length
    out[1] = m
    out[2] = d
    out[3] = a


def cofactors(x, y, out):
    """Euclid's algorithm with the numbers of its steps, which have signs."""
    a, b = x[0], y[0]
    s, t = 1, 0
    while b != 0:
        q = a // b
        a, b = b, a - q * b
        s, t = t, s - q * t
    out[0] = a
    out[1] = s
    out[2] = t


def wrapped(v):
    return (v + 2**63) % 2**64 - 2**63


def divided(x, y):
    return wrapped(x // y) if y else 0


def fraction_of(n, root, m, d, a):
    terms, length = [0] * 12, 0
    while a != wrapped(2 * root):
        m = wrapped(d * a - m)
        d = divided(wrapped(n - m * m), d)
        a = divided(wrapped(root + m), d)
        if length == 12:
            length = -1
            break
        terms[length] = a
        length += 1
    return terms, [length, m, d, a]


def cofactors_of(a, b):
    s, t = 1, 0
    while b:
        q = divided(a, b)
        a, b = b, wrapped(a - q * b)
        s, t = t, wrapped(s - q * t)
    return [a, s, t]


@needs_llc
def test_fractions_at_the_edges():
    """The first version is entered, left on the way for each number, and not entered."""
    entries = Entries(fraction, "(int64, int64, int64[::1], int64[::1], int64[::1])", 1)
    roots = [1, 2, 5, 127, 181, 2**15 - 1, 2**15, 46340, 2**29 - 1, 2**29, 2**30, 2**31 + 5, -7]
    starts = [(0, 1), (3, 2), (-5, 4), (2**15 - 1, 1), (2**15, 1), (0, 2**15), (0, 2**15 - 1), (1, -3), (0, 0), (2**40, 2**41)]
    for root in roots:
        for more in (1, 2, 3, root + 1, 2 * root - 1, -(2**33)):
            for m, d in starts:
                for a in (root, 2**15 - 1, 2**15, -1):
                    n = root * root + more
                    terms, got = np.zeros(12, np.int64), np.zeros(4, np.int64)
                    entries.run((1, 1, 1), (1, 1, 1), [n, root, np.array([m, d, a]), terms, got], False)
                    assert (terms.tolist(), got.tolist()) == fraction_of(n, root, m, d, a), (n, root, m, d, a)


@needs_llc
def test_cofactors_at_the_edges():
    entries = Entries(cofactors, "(int64[::1], int64[::1], int64[::1])", 1)
    rng = np.random.default_rng(5)
    numbers = [0, 1, -1, 6, 2**15 - 1, 2**15, 46368, 75025, 2**30 - 1, 2**30, 2**31 - 1, -(2**31), 2**62 + 1, -(2**63)]
    numbers += [int(v) for bits in (10, 15, 30, 45, 62) for v in rng.integers(-(2**bits), 2**bits, 4)]
    for x in numbers:
        for y in numbers:
            got = np.zeros(3, np.int64)
            entries.run((1, 1, 1), (1, 1, 1), [np.array([x]), np.array([y]), got], False)
            assert got.tolist() == cofactors_of(x, y), (x, y)


def test_quotients_have_32_bits():
    """In the first of the two versions; a loop whose products are divided by what it does not change has one."""

    def powers(x, n, out):
        total, e = 1, x[0]
        while e > 0:
            total = total * e % n
            e //= 3
        out[0] = total

    both, other, one = (
        ptx_of(k, f"narrow ({s})")
        for k, s in (
            (fraction, "pyint, pyint, int64[::1], int64[::1], int64[::1]"),
            (cofactors, "int64[::1], int64[::1], int64[::1]"),
            (powers, "int64[::1], int64, int64[::1]"),
        )
    )
    assert "32767" in both or "32768" in both
    assert "32767" in other or "32768" in other or "65536" in other
    assert "32768" not in one and "65535" not in one
