"""What a loop adds to on ways that exclude one another (ir/interval_drift.c): results are those of 64 bits."""

import numpy as np
from harness import run
from pyptx import cuda
from test_ptx import ptx_of


def test_additions_on_ways_that_exclude_one_another():
    """Each turn makes those of one way (ir/interval_drift.c); those in a row, or of loops around, all count."""

    def kernel(kinds, step, out):
        one = both = left = nested = 0
        far = 3
        for k in range(50_000):
            kind = kinds[k % 8]
            if kind == 0:
                one += 40_000
            elif kind == 1:
                one = 7
            else:
                one += 39_999
            if kind >= 0:
                both += 40_000
            if kind != 9:
                both += 40_000
            left += 42_949
            if k == 49_999 and kind < 9:
                left += 60_000
                break
        else:
            left += 60_000
        for j in range(3):
            for k in range(20_000):
                if kinds[k % 8] == 0:
                    nested += 40_000
                else:
                    nested += 40_001
            nested += 5
        for k in range(step, 50_000 + step):
            if kinds[0] < 5:
                far += 42_949
            else:
                far -= 42_949
        out[0], out[1], out[2], out[3], out[4] = one, both, left, nested, far
        out[5] = max(one, both) - max(left, nested) * 3 + far // 5

    for kinds in ([0] * 8, [2] * 8, [0, 1, 2, 3] * 2, [9] * 8):
        run(kernel, [np.array(kinds), 2, np.zeros(6, np.int64)])


def test_lengths_of_runs_have_32_bits():
    def kernel(text, ends, longest):
        i = cuda.grid(1)
        if i < longest.size:
            length = most = 0
            inside = False
            for k in range(ends[i]):
                c = text[i, k]
                if c == ord('"'):
                    inside = not inside
                    length += 1
                elif c == ord(",") and not inside:
                    most = max(most, length)
                    length = 0
                else:
                    length += 1
            longest[i] = max(most, length)

    assert "max.s64" not in ptx_of(kernel, "narrow (uint8[:,::1], int32[::1], int64[::1])")
    text = np.random.default_rng(3).choice(np.frombuffer(b',"aaa', np.uint8), (64, 45))
    ends = np.arange(64).astype(np.int32) % 46
    run(kernel, [text, ends, np.zeros(64, np.int64)], 2, 32)
