"""A plugin of pytest for sanitize.py: ends the run after PYPTX_TESTS_SECONDS, and says how many tests it came to."""

import os
import time

SECONDS = float(os.environ.get("PYPTX_TESTS_SECONDS") or 0)
STATE = {"began": time.monotonic(), "ran": 0, "all": 0}


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: hash(item.nodeid.partition("[")[0]) % 997)  # functions from all of the file, in an order of their own


def pytest_collection_finish(session):
    STATE["all"] = len(session.items)
    STATE["session"] = session


def pytest_runtest_logfinish(nodeid, location):
    STATE["ran"] += 1
    if SECONDS and time.monotonic() - STATE["began"] > SECONDS:
        STATE["session"].shouldstop = "the seconds are over"


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"limited: {STATE['ran']} of {STATE['all']}")
