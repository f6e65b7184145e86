"""Control flow: every form, compared with CPython running the same function."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda


def outputs(n=32, dtype=np.int64):
    return np.zeros(n, dtype)


def if_elif_else(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] < 0:
            out[i] = -1
        elif x[i] == 0:
            out[i] = 0
        elif x[i] < 10:
            out[i] = 1
        else:
            out[i] = 2


def nested_if(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = 0
        if x[i] > -5:
            if x[i] > 5:
                if x[i] > 10:
                    v = 3
                else:
                    v = 2
            else:
                v = 1
            v += 10
        out[i] = v


def while_loop(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n = abs(x[i])
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        out[i] = steps


def while_else(x, out):
    i = cuda.grid(1)
    if i < x.size:
        k = 0
        while k < 10:
            if k == x[i]:
                out[i] = 100 + k
                break
            k += 1
        else:
            out[i] = -7


def while_true(x, out):
    i = cuda.grid(1)
    if i < x.size:
        k = 0
        while True:
            k += 3
            if k > x[i]:
                break
        out[i] = k


def for_else(x, out):
    i = cuda.grid(1)
    if i < x.size:
        for k in range(2, 20):
            if x[i] % k == 0:
                out[i] = k
                break
        else:
            out[i] = -1


def for_continue(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = 0
        for k in range(20):
            if k % 3 == x[i] % 3:
                continue
            if k > 15:
                break
            total += k
        out[i] = total


def nested_loops(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = 0
        for a in range(5):
            for b in range(a, 6):
                if b == x[i]:
                    break
                c = 0
                while c < b:
                    c += 1
                    if c == 3:
                        continue
                    total += a * b + c
            else:
                total += 1000
        out[i] = total


def early_return(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] < 0:
        out[i] = -1
        return
    for k in range(10):
        if k * k > x[i]:
            out[i] = k
            return
    out[i] = 99


def ranges(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n = x[i]
        total = 0
        for k in range(n):
            total += k
        for k in range(3, n):
            total += 100 * k
        for k in range(n, -3, -2):
            total += 10000 * k
        for k in range(0, n, 3):
            total -= k
        for k in range(5, 5):
            total += 1
        out[i] = total


def range_with_step_argument(x, start, stop, step, out):
    i = cuda.grid(1)
    if i == 0:
        n = 0
        for k in range(start, stop, step):
            out[n] = k
            n += 1


def range_counter_after_loop(x, out):
    i = cuda.grid(1)
    if i < x.size:
        k = -1
        for k in range(x[i]):
            if k == 4:
                break
        out[i] = k


def assigning_the_counter(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = 0
        for k in range(5):
            total += k
            k = 100
            total += k
        out[i] = total


def conditional_expression(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 2 if x[i] > 0 else (-x[i] if x[i] < -5 else 77)


def boolean_logic(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i] = (v > 3 and v < 10) + 2 * (v < -3 or v > 12) + 4 * (not v) + 8 * (not (v > 0 and v % 2))


def boolean_values(x, out):
    """and, or give an operand, not a bool."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = (x[i] or 5) * 2 + (x[i] and 3)


def short_circuit(x, out):
    """The right operand is out of bounds where the left one is false."""
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        out[i] = 1
    if i >= x.size or x[i] < 0:
        if i < x.size:
            out[i] = 2


def chained_comparison(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = 0
        if -3 < x[i] <= 4:
            v += 1
        if 0 <= x[i] < 10 != x[i]:
            v += 2
        if not -1 <= x[i] <= 1:
            v += 4
        out[i] = v


def chained_evaluates_once(x, out):
    i = cuda.grid(1)
    if i == 0:
        n = 0 < cuda.atomic.add(out, 0, 1) < 10
        m = -1 < cuda.atomic.add(out, 0, 1) < 10
        out[1] = n
        out[2] = m


def infinite_is_cut(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n = 0
        while 1:
            while True:
                n += 1
                if n % 7 == 0:
                    break
            if n > 20:
                break
        out[i] = n


def swap_in_loop(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a, b = 0, 1
        for _ in range(abs(x[i])):
            a, b = b, a + b
        out[i] = a


def variables_through_loops(x, out):
    """Three values rotate through a loop: every phi needs the others' old values."""
    i = cuda.grid(1)
    if i < x.size:
        a, b, c = 1, 2, 3
        n = 0
        while n < 7:
            a, b, c = c, a, b
            n += 1
        out[i] = a * 100 + b * 10 + c


def set_in_both_branches(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0:
            kind = 1
            scale = x[i]
        else:
            kind = 2
            scale = -x[i]
        out[i] = kind * 30 + scale


def pass_statements(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0:
            pass
        for _ in range(3):
            pass
        out[i] = 5


def return_from_nested_loop(x, out):
    i = cuda.grid(1)
    if i < x.size:
        for a in range(6):
            for b in range(6):
                if a * b == x[i]:
                    out[i] = 10 * a + b
                    return
        out[i] = -1


def walrus(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if (v := x[i] * 2) > 4:
            out[i] = v
        else:
            out[i] = v - 1


def condition_of_a_number(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n = 0
        if x[i]:
            n = 1
        while x[i] - n:
            n += 1
            if n > 9:
                break
        out[i] = n


def in_tuple(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = (x[i] in (1, 4, 9)) + 2 * (x[i] not in (-1, 0, 1))


KERNELS = [
    f
    for f in list(globals().values())
    if getattr(f, "__module__", None) == __name__ and f.__code__.co_varnames[:2] == ("x", "out")
]


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda f: f.__name__)
def test_control_flow(kernel, dtype):
    x = np.arange(-12, 18).astype(dtype)
    run(kernel, [x, outputs()], 2, 16)


@pytest.mark.parametrize(
    "start, stop, step",
    [(0, 10, 1), (10, 0, -1), (0, 10, 3), (10, 0, -4), (5, 5, 1), (5, 0, 1), (-5, 5, 2), (3, -9, -5)],
)
def test_range_with_step_argument(start, stop, step):
    run(range_with_step_argument, [np.zeros(1), start, stop, step, outputs()], 1, 1)


def test_unsigned_range():
    def kernel(n, out):
        total = 0
        for k in range(n[0]):
            total += k
        out[0] = total

    for dtype in ("uint8", "uint32", "int16"):
        run(kernel, [np.full(1, 100, dtype), outputs(1)])


def test_compile_time_branch_on_none():
    def kernel(x, bias, out):
        i = cuda.grid(1)
        if i < x.size:
            v = x[i]
            if bias is not None:
                v += bias[i]
            out[i] = v

    x = np.arange(8, dtype=np.float32)
    run(kernel, [x, None, np.zeros(8, np.float32)], 1, 8)
    run(kernel, [x, x * 3, np.zeros(8, np.float32)], 1, 8)


def test_is_none_else():
    def kernel(x, out):
        if x is None:
            out[0] = 1
        else:
            out[0] = x + 5

    run(kernel, [None, outputs(1)])
    run(kernel, [3, outputs(1)])


def test_a_conditional_expression_as_a_condition_asks_each_by_itself():
    """Each by its own type: 2**24 is no int8, and -129 and 256 would be others as one."""

    def kernel(x, which, out):
        i = cuda.grid(1)
        small = np.int8(0)
        wide = int(x[i])
        if small if which[i] else wide:
            out[i] = 1
        while small if which[i] else wide:
            out[i] += 2
            wide = 0

    x = np.array([1 << 24, 256, 0, -129, 1 << 40, 5], np.int64)
    which = np.array([0, 0, 0, 0, 1, 0], np.bool_)
    run(kernel, [x, which, outputs(6)], 1, 6)
