"""Each kernel of wrong_kernels.py, wrong_meetings.py, wrong_numbers.py and wrong_orders.py has a mistake, which is found in the right lines."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import wrong_kernels  # noqa: E402 - their folder is on the path now
import wrong_meetings  # noqa: E402, F401 - it adds to the rows
import wrong_numbers  # noqa: E402, F401 - and so does it
import wrong_orders  # noqa: E402, F401 - and this

from pyptx import CheckError, cuda  # noqa: E402
from pyptx.errors import RaceError  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::pyptx.Advice"), pytest.mark.skipif(not cuda.get_current_device().is_host, reason="check= is for the host device")]


def marked(kernel):
    """The numbers of the lines that end in #!: of the kernel and of the functions that it calls."""
    functions = [kernel, *(f for f in map(kernel.__globals__.get, kernel.__code__.co_names) if inspect.isfunction(f) and f.__module__ == kernel.__module__)]
    text = Path(kernel.__code__.co_filename).read_text().splitlines()
    lines = [n for f in functions for n in range(f.__code__.co_firstlineno, f.__code__.co_firstlineno + len(inspect.getsourcelines(f)[0]))]
    return {n for n in lines if text[n - 1].endswith("#!")}


def passed(arguments):
    make = {"device_array": lambda: cuda.device_array(64, np.float32)}
    return [make[a]() if isinstance(a, str) else a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def test_there_are_many():
    assert len(wrong_kernels.ROWS) >= 80


GOLDEN = Path(__file__).parent / "findings.json"


def finding(row):
    """[element, the line that came second, the line that came first]; `python test_wrong_kernels.py` writes them all."""
    check, _, function, blocks, threads, arguments = row
    with pytest.raises(CheckError) as found:
        cuda.jit(function, check=check)[blocks, threads](*passed(arguments))
    e = found.value
    lines = Path(function.__code__.co_filename).read_text().splitlines()
    return [e.array, *(n and lines[n - 1].strip().removesuffix("#!").strip() for n in (e.lineno, e.other_lineno))], e


@pytest.mark.parametrize("row", wrong_kernels.ROWS, ids=lambda row: row[2].__name__)
def test_it_is_found(row):
    _, error, function, _, _, _ = row
    said, e = finding(row)
    assert type(e) is error, e
    assert {e.lineno, e.other_lineno} - {None} == marked(function), e
    assert said == json.loads(GOLDEN.read_text())[function.__name__], e
    assert e.thread is not None and str(tuple(e.thread)) in str(e)
    again, e = finding(row)  # the next launch finds it as well
    assert again == said and type(e) is error


@pytest.mark.parametrize("row", [row for row in wrong_kernels.ROWS if row[1] is RaceError and "syncthreads" not in row[2].__code__.co_names], ids=lambda row: row[2].__name__)
def test_races_are_found_alone(row):
    _, _, function, blocks, threads, arguments = row
    with pytest.raises(RaceError) as e:
        cuda.jit(function, check="race")[blocks, threads](*passed(arguments))
    assert {e.value.lineno, e.value.other_lineno} - {None} == marked(function), e.value


if __name__ == "__main__":
    GOLDEN.write_text("{\n" + ",\n".join(f"  {json.dumps(row[2].__name__)}: {json.dumps(finding(row)[0])}" for row in wrong_kernels.ROWS) + "\n}\n")
