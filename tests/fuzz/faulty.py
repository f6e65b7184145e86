"""A plugin of pytest: each test of the API runs while one call of the driver fails, a random one of those that
it makes.

    PYPTX_DEVICE=ptx PYPTX_STANDIN=… PYTHONPATH=tests/fuzz python -m pytest -p faulty tests/api/arrays

On the stand-in driver (tests/standin, with tests/ptx_on_cpu), each test runs as it is, and a few times with a
failing call, which may raise the error of that call or fail what the test asserts. A finding is an exception of
another kind, a failure that nobody hears of, wrong use of the driver, a process that dies, or a test that fails
afterwards. FAULTY_SEED: which calls, and in which order the tests run; FAULTY_SECONDS: tests that would begin
later are left out.
"""

import gc
import os
import random
import threading
import time

import pytest

CODES = (1, 2, 700, 999)
ROUNDS = 4  # of a test
NOBODY = "there is no error"
RANDOM = random.Random(int(os.environ.get("FAULTY_SEED", 0)))
END = time.monotonic() + float(os.environ.get("FAULTY_SECONDS", "inf"))
tried, findings = 0, []


def causes(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def verdict(error, call, fired):
    """What is wrong with the outcome of a test in which a call failed; None: nothing."""
    import test_driver_failures as failures
    from pyptx import cuda

    if error is None:
        heard = not fired or call in failures.SILENT or call in failures.STAGING or call in failures.LEAKS
        return None if heard else NOBODY
    if isinstance(error, (AssertionError, Warning, pytest.fail.Exception, pytest.skip.Exception)):
        return None  # the test sees what the failure did
    if any(isinstance(e, cuda.CudaAPIError) or (call and call in str(e)) for e in causes(error)):
        return None
    return f"{type(error).__name__}: {str(error)[:300]}"


def with_failure(test, control, calls):
    """(what is wrong, or None; the call that failed)"""
    nth, code = RANDOM.randint(1, calls), RANDOM.choice(CODES)
    control.forget()
    control.fail(None, nth, code)
    error, in_threads = None, []
    hook, threading.excepthook = threading.excepthook, lambda args: in_threads.append(args.exc_value)
    try:
        test()
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as e:
        error = e
    threading.excepthook = hook
    error = error or next(iter(in_threads), None)
    call, fired = (control.fired_call() or b"").decode(), control.fired()
    control.fail(None, 0, 0)
    wrong = verdict(error, call, fired)
    if control.misuse() and not wrong:
        wrong = "the driver was used wrongly"
    return wrong, f"call {nth} of {calls}, {call or 'not reached'}, fails with {code}"


def pytest_collection_modifyitems(items):
    RANDOM.shuffle(items)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    global tried
    import standin

    control = standin.driver()
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    def test():
        pyfuncitem.obj(**arguments)

    if time.monotonic() > END:
        pytest.skip("the time is over")
    test()
    control.forget()
    try:
        test()
    except BaseException:  # it can run once only
        return True
    calls = control.calls(None)
    if not calls:
        return True
    for _ in range(ROUNDS):
        wrong, what = with_failure(test, control, calls)
        tried += 1
        gc.collect()
        control.forget()
        try:
            test()
        except (Exception, pytest.fail.Exception) as e:
            wrong = wrong or f"and then {type(e).__name__}: {str(e)[:300]}"
        # of autotuning a candidate that fails is a row of a table
        if wrong and not (wrong == NOBODY and "test_autotune" in pyfuncitem.nodeid):
            findings.append(f"{pyfuncitem.nodeid}: {what}: {wrong}")
            break
    return True


def pytest_terminal_summary(terminalreporter):
    for finding in findings:
        terminalreporter.write_line(f"FAULTY {finding}")
    terminalreporter.write_line(f"faulty: {tried} calls failed, {len(findings)} findings")
