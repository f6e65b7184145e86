"""The suite of the GPU under compute-sanitizer: memcheck, racecheck, initcheck and synccheck must be clean,
and find what is planted.

    scripts/gpu run python tests/gpu/sanitize.py [--seconds S] [--jobs J] [TOOL ...]

First each tool runs a wrong kernel (planted.py) and must name its line. Then it runs the files of tests that
are about what it looks for, each in a process of its own, J at a time, for at most S seconds (pytest stops
after the test in which they end, and a process is ended after twice that time; 0: to the end). A line for each file,
as they end, and for each tool. Exit status 1 if a tool found something in a test, or missed what was planted.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Left out: tests that measure memory, that say why not, that are wrong on purpose; and atomic operations on the
# last of three small elements of dynamic shared memory, whose four-byte word memcheck takes for an access beyond.
NOT_HERE = ["-m", "not alone and not unsanitized and not unchecked", "-k", "not timeout and not out_of_memory and not too_much_memory"
            " and not (test_nothing_else_is_touched and dynamic)"]
SHARED = ["api/language/test_language_memory.py", "api/language/test_coop.py", "api/language/test_language_warp.py", "api/arrays/test_reduce.py",
          "api/language/test_language_together.py", "api/language/test_copies.py", "api/language/test_warp_steps.py", "wild"]
ARRAYS = ["api/arrays/test_device_array.py", "api/arrays/test_operators.py", "api/arrays/test_array_functions.py", "api/arrays/test_strided_copies.py"]
TESTS = {
    "memcheck": [*ARRAYS, *SHARED, "api/language/test_language_control.py", "api/language/test_language_atomics.py", "api/language/test_vector_access.py",
                 "api/language/test_stops.py", "api/launch/test_stream.py", "api/launch/test_graph.py",
                 "api/language/test_language_local_arrays.py", "gpu/test_gpu_memory.py", "gpu/test_gpu_streams.py", "gpu/test_gpu_recursion.py"],
    "racecheck": SHARED,
    "initcheck": [*ARRAYS, "api/arrays/test_reduce.py"],
    "synccheck": SHARED,
}


def under(tool, command, extra=(), limit=None):
    """After `limit` seconds it is ended, with all that it has started."""
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", "--print-limit", "20", *extra, sys.executable, *command]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYPTX_DEVICE": "gpu"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and what the test has started
            out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def planted(tool):
    """(found, what to print)."""
    done = under(tool, [str(HERE / "planted.py"), tool])
    line = re.search(r"^line (\d+)$", done.stdout, re.M)
    errors = re.search(r"ERROR SUMMARY: (\d+)|RACECHECK SUMMARY: (\d+) hazard", done.stdout)
    found = bool(line and errors and int(errors[1] or errors[2]) and f"planted.py:{line[1]}" in done.stdout)
    return found, f"{tool}: planted, {'found with its line' if found else 'NOT FOUND: ' + done.stdout[-2000:] + done.stderr[-1000:]}"


def sanitized(tool, tests, seconds):
    """(found, passed, collected, what to print)."""
    began = time.monotonic()
    done = under(tool, ["-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "limited", *NOT_HERE, f"tests/{tests}"],
                 limit=2 * seconds or None)
    took = time.monotonic() - began
    counts = re.search(r"^limited: (\d+) of (\d+)", done.stdout, re.M)
    ran, all_of = (int(counts[1]), int(counts[2])) if counts else (0, 0)
    last = [line for line in done.stdout.splitlines() if " passed" in line or " failed" in line][-1:]
    errors = re.search(r"ERROR SUMMARY: (\d+)|RACECHECK SUMMARY: (\d+) hazard", done.stdout)
    found = not errors or int(errors[1] or errors[2]) > 0
    if not errors and done.returncode == -signal.SIGKILL:
        test = [line for line in done.stdout.splitlines() if "::" in line][-1:]
        return True, ran, all_of, f"{tool} {tests}: ENDED after {took:.0f} s in {test[0] if test else '?'}"
    text = f"{tool} {tests}: {ran} of {all_of} tests in {took:.0f} s, {'clean' if not found else 'FOUND'}; {last[0].strip('= ') if last else '?'}"
    if found or not last or "failed" in last[0]:
        ours = [line for line in done.stdout.splitlines() if line.startswith("=========") or line.startswith("FAILED")]
        text += "\n" + "\n".join((ours or done.stdout.splitlines() + done.stderr.splitlines())[:40])
    return found, ran, all_of, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=f"default: {' '.join(TESTS)}")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    if strangers := set(options.tools) - set(TESTS):
        parser.error(f"no tool {', '.join(strangers)}: {', '.join(TESTS)}")
    options.tools = options.tools or list(TESTS)
    if not shutil.which("compute-sanitizer"):
        print("compute-sanitizer is not on PATH: nothing was checked")
        return 0
    os.environ["PYPTX_TESTS_SECONDS"] = str(options.seconds)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        plants = [pool.submit(planted, tool) for tool in options.tools]
        runs = {pool.submit(sanitized, tool, tests, options.seconds): tool for tool in options.tools for tests in TESTS[tool]}
        for found, text in (f.result() for f in plants):
            wrong += not found
            print(text, flush=True)
        counts = {tool: [0, 0, 0] for tool in options.tools}
        for run in concurrent.futures.as_completed(runs):
            *numbers, text = run.result()
            counts[runs[run]] = [a + b for a, b in zip(counts[runs[run]], numbers)]
            print(text, flush=True)
    for tool, (found, ran, all_of) in counts.items():
        wrong += found
        print(f"{tool}: {ran} of {all_of} tests of {len(TESTS[tool])} files ran, {found or 'no'} files with findings", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
