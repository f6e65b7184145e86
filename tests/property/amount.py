"""How much is drawn: what each change has, PYPTX_MORE times (tests/full/test_generators.py)."""

import os
import sys

MORE = int(os.environ.get("PYPTX_MORE", "1"))


def seeds(n, step=1):
    """Of so many programs, which the oldest interpreter and the newer ones share out: each has its own half."""
    half = n * MORE // 2
    first = half * (sys.version_info >= (3, 12))
    return range(first, first + half, step)
