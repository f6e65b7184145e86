"""No kernel of right_kernels.py, right_disguises.py and right_orders.py is complained of, and checked code computes what other code does. tests/full/test_checked.py has more."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import right_disguises  # noqa: E402, F401 - it adds to the rows
import right_kernels  # noqa: E402 - its folder is on the path now
import right_orders  # noqa: E402, F401 - so does this

from pyptx import cuda  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::pyptx.Advice"),
              pytest.mark.skipif(not cuda.get_current_device().is_host, reason="check= is for the host device")]


def filled():
    out = cuda.device_array(64, np.float32)
    out[:] = 1
    return out


# what they leave depends on which thread comes first, or was never set
ANY_ORDER = {"compaction", "a_stack_without_locks", "a_lock_for_each_bucket", "slots_claimed_by_cas", "sums_aggregated_by_match",
             "a_record_returned_half_set"}
MAKE = {"device_array": lambda: cuda.device_array(64, np.float32), "filled": filled,
        "to_device": lambda: cuda.to_device(np.arange(64, dtype=np.float32))}


def passed(arguments):
    return [MAKE[a]() if isinstance(a, str) else a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def host(a, written):
    return a.copy_to_host()[:written] if hasattr(a, "copy_to_host") else a


def test_there_are_many():
    assert len({row[0].__code__ for row in right_kernels.ROWS}) >= 80


@pytest.mark.parametrize("row", right_kernels.ROWS, ids=lambda row: row[0].__name__)
def test_nothing_is_found(row):
    function, blocks, threads, arguments = row
    for checks in (True, "race"):  # alone, races are looked for in joined blocks
        mine = passed(arguments)
        cuda.jit(function, check=checks)[blocks, threads](*mine)
    others = passed(arguments)
    cuda.jit(function)[blocks, threads](*others)
    if function.__name__ not in ANY_ORDER:
        for a, b in zip(mine, others):
            np.testing.assert_array_equal(host(a, 32), host(b, 32))


@pytest.mark.parametrize("row", right_kernels.ROWS, ids=lambda row: row[0].__name__)
def test_no_number_is_complained_of(row):
    function, blocks, threads, arguments = row
    cuda.jit(function, check="race,sync,init,nan,overflow")[blocks, threads](*passed(arguments))
