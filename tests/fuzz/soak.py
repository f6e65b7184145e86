"""Everything that can run for as long as you like: random programs, fuzz targets, leaks, faults. One line a part,
one at the end.

    scripts/soak --minutes M [--seed S] [PART ...]

Parts: programs (tests/property, on the host device), ptx (the same by the GPU's code on the CPU), natural (random
kernels of many threads, on both), fuzz (libFuzzer's targets, built by clang in build/fuzz), objects (objects.py),
checks (random programs whose races are known, tests/api/check/test_random_*.py), leaks (leaks.py), faults (of the
machine, tests/api/host; the driver's calls fail in turn, tests/api/cli/test_driver_sweep.py and
tests/full/test_every_driver_call.py), calls (random ones of the driver fail in tests of the API: faulty.py). Each
has an equal share of the time. What a part lacks is said, and its time goes to the others. New inputs of libFuzzer
go to build/fuzz/new, findings to build/failures. With build/sanitized (scripts/sanitized) objects run there. Exit
status 1 if anything was found.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAILURES = ROOT / "build" / "failures"
FUZZ = ROOT / "build" / "fuzz"
DRIVER = ROOT / "build" / "dev" / "standin" / "libcuda.so.1"
SITE = ROOT / "build" / "sanitized" / "site"


class Lacking(Exception):
    """A part cannot run here."""


def run(command, seconds=None, **env):
    return subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True, env={**os.environ, **env}, timeout=seconds)


def keep(name, text):
    FAILURES.mkdir(parents=True, exist_ok=True)
    path = FAILURES / name
    path.write_text(text)
    return str(path.relative_to(ROOT))


def standin():
    path = os.environ.get("PYPTX_STANDIN") or DRIVER
    if not Path(path).exists():
        raise Lacking("no stand-in driver: build it by scripts/test c, or name it in PYPTX_STANDIN")
    return str(path)


# --- the parts: each gets its seconds and a first seed, and returns what it did and a list of findings ---


def batches(seconds, seed, size, **env):
    """Random programs in batches, each with seeds of its own."""
    end, programs, failures, device = time.monotonic() + seconds, 0, [], "ptx" if env else "host"
    while programs == 0 or time.monotonic() < end:
        done = run([sys.executable, "tests/property/soak.py", size, "--seed", seed + programs, "--device", device, "--jobs", os.cpu_count() or 1], **env)
        programs += size
        last = re.search(r"^soak: .*failed: (.*)$", done.stdout, re.M)
        if not last or last[1] != "none":
            failures.append(f"{last[1] if last else 'it died'}: {keep(f'programs-{device}-{seed + programs - size}.txt', done.stdout + done.stderr)}")
    return f"{programs} random programs on {device}, seeds {seed} to {seed + programs - 1}", failures


def programs(seconds, seed):
    return batches(seconds, seed, 64)


def ptx(seconds, seed):
    return batches(seconds, seed, 32, PYPTX_STANDIN=standin())


def natural(seconds, seed):
    """Random kernels of many threads, on both devices as far as they are here."""
    end, done, failures = time.monotonic() + seconds, 0, []
    devices = [("host", {})] + ([("ptx", {"PYPTX_STANDIN": standin()})] if os.environ.get("PYPTX_STANDIN") or DRIVER.exists() else [])
    while done == 0 or time.monotonic() < end:
        for device, env in devices:
            ran = run([sys.executable, "tests/property/natural_kernels.py", 32, "--seed", seed + done, "--device", device], **env)
            if ran.returncode:
                failures.append(f"seeds from {seed + done} on {device}: {keep(f'natural-{device}-{seed + done}.txt', ran.stdout + ran.stderr)}")
        done += 32
    return f"natural kernels of seeds {seed} to {seed + done - 1} on {' and '.join(device for device, _ in devices)}", failures


def objects_module():
    sys.path.insert(0, str(HERE))
    import objects

    return objects


def built():
    """libFuzzer's programs by target."""
    if not shutil.which("clang"):
        raise Lacking("no clang")
    done = run(["cmake", "-S", ".", "-B", FUZZ, "-G", "Ninja", "-DFUZZ=ON", "-DSANITIZE=ON", "-DMODULE=ON", f"-DPython_EXECUTABLE={sys.executable}"], CC="clang", CXX="clang++")
    done = done.returncode and done or run(["ninja", "-C", FUZZ, "fuzzers"])
    if done.returncode:
        raise Lacking(f"build/fuzz: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
    targets = re.findall(r"^fuzz/fuzz_(\w+):", run(["ninja", "-C", FUZZ, "-t", "targets", "all"]).stdout, re.M)
    return {t: FUZZ / "fuzz" / f"fuzz_{t}" for t in sorted(targets)}


def fuzz(seconds, seed):
    made, counts, failures = built(), [], []
    for name, program in made.items():
        new, found = FUZZ / "new" / name, FAILURES / f"{name}-"
        new.mkdir(parents=True, exist_ok=True)
        FAILURES.mkdir(parents=True, exist_ok=True)
        limit = max(1, round(seconds / len(made)))
        done = run([program, f"-max_total_time={limit}", f"-seed={seed % 2**31 + 1}", f"-artifact_prefix={found}", "-print_final_stats=1", "-rss_limit_mb=4096", "-timeout=60",
                    new, HERE / "corpus" / name], ASAN_OPTIONS="alloc_dealloc_mismatch=0")  # LLVM, which is not instrumented, has pairs of its own
        executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        counts.append(f"{name} {executed[1] if executed else '?'}")
        if done.returncode:
            artifact = re.search(r"Test unit written to (\S+)", done.stderr)
            failures.append(f"{name}: {artifact[1] if artifact else keep(f'{name}.txt', done.stderr)}")
    lacking = "" if "dlpack" in made else "; without those of Python, which cannot be embedded here"
    return f"libFuzzer: {', '.join(counts)} inputs{lacking}", failures


def sanitized():
    """The command line and environment of Python with the sanitized module; of Python as it is where that is not
    built.
    """
    if not any(SITE.glob("pyptx/_pyptx*.so")):
        return [sys.executable], {}, ""
    preload = " ".join(run([os.environ.get("CC", "cc"), f"-print-file-name={library}"]).stdout.strip() for library in ("libasan.so", "libubsan.so", "libstdc++.so"))
    env = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "PYTHONMALLOC": "malloc",
           "PYTHONPATH": os.pathsep.join([str(SITE), os.environ.get("PYTHONPATH", "")])}
    return [sys.executable], env, ", sanitized"


def objects(seconds, seed):
    targets = objects_module()
    python, env, how = sanitized()
    counts, failures, last = [], [], FUZZ.parent / "last-seed"
    for target in targets.TARGETS:
        share = max(1, seconds / len(targets.TARGETS))
        done = run([*python, "-X", "faulthandler", HERE / "objects.py", target, "--seed", seed, "--seconds", share], **env, PYPTX_FUZZ_LAST=str(last))
        ran = re.match(r"(\d+) cases", done.stdout)
        counts.append(f"{target} {ran[1] if ran else '?'}")
        if done.returncode:
            case = last.read_text() if last.exists() else "?"
            failures.append(f"{target} --seed {case}: {keep(f'{target}-{case}.txt', done.stdout + done.stderr)}")
    return f"objects{how}: {', '.join(counts)} cases", failures


def leaks(seconds, seed):
    done = run([sys.executable, HERE / "leaks.py", "--total", seconds])
    rounds = list(map(int, re.findall(r": (\d+) rounds", done.stdout)))
    return f"{len(rounds)} actions of the API, {sum(rounds)} rounds", [keep("leaks.txt", done.stdout + done.stderr)] if done.returncode else []


FAULTS = ("tests/api/host/test_faults.py", "tests/api/cli/test_driver_sweep.py", "tests/full/test_every_driver_call.py",
          "tests/api/host/test_short_of_memory.py", "tests/api/host/test_processes.py", "tests/api/cli/test_cache_processes.py")
CALLED = ("tests/api/arrays", "tests/api/launch", "tests/api/interop")


def checks(seconds, seed):
    programs, kept = 0, []
    names = "orders", "kernels", "tiles"
    for name in names:
        done = run([sys.executable, f"tests/api/check/test_random_{name}.py", seed, seconds / len(names)], PYPTX_DEVICE="host")
        programs += int((re.match(r"\d+(?= programs)", done.stdout) or "0")[0])
        if done.returncode:
            kept.append(keep(f"checks-{name}-{seed}.txt", done.stdout + done.stderr))
    return f"{programs} programs with and without races", kept


def called(tests, seconds, seed):
    """Of one file of tests: (calls that failed, what it printed, or None where nothing was found)."""
    folders = os.pathsep.join([str(HERE), str(ROOT / "tests/api/cli"), os.environ.get("PYTHONPATH", "")])
    try:
        done = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "faulty", "-W", "ignore", tests], seconds + 600, PYPTX_STANDIN=standin(),
                   PYPTX_DEVICE="ptx", PYTHONPATH=folders, FAULTY_SEED=str(seed), FAULTY_SECONDS=str(seconds))
        out, died = done.stdout + done.stderr, done.returncode < 0
    except subprocess.TimeoutExpired as error:
        out, died = f"{tests} hangs\n{error.stdout}", True
    tried = re.search(r"^faulty: (\d+) calls failed, (\d+) findings", out, re.M)
    return int(tried[1]) if tried else 0, None if tried and tried[2] == "0" and not died else out


def calls(seconds, seed):
    end = time.monotonic() + seconds
    tests = sorted(str(file.relative_to(ROOT)) for folder in CALLED for file in (ROOT / folder).glob("test_*.py"))
    random.Random(seed).shuffle(tests)
    standin()  # said here if there is none
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda file: called(file, end - time.monotonic(), seed) if time.monotonic() < end else None, tests))
    done = [each for each in done if each]
    found = [out for _, out in done if out]
    return (f"{sum(tried for tried, _ in done)} calls of the driver failed in tests of {len(done)} of {len(tests)} files",
            [keep(f"calls-{seed}.txt", "\n".join(found))] if found else [])


def faults(seconds, seed):
    library, end, passed, failures = standin(), time.monotonic() + seconds, 0, []
    for tests in FAULTS:
        if passed and time.monotonic() > end - seconds / 2:
            break
        done = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests], PYPTX_STANDIN=library)
        passed += int((re.search(r"(\d+) passed", done.stdout) or [0, 0])[1])
        if done.returncode:
            failures.append(keep(f"{Path(tests).stem}.txt", done.stdout + done.stderr))
    return f"{passed} tests of faults, of the machine and of the driver's calls", failures


PARTS = {f.__name__: f for f in (programs, ptx, natural, fuzz, objects, checks, leaks, faults, calls)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, help="default: the time, so that each run is another")
    o = parser.parse_args()
    if strangers := set(o.parts) - set(PARTS):
        parser.error(f"no part {', '.join(strangers)}: {', '.join(PARTS)}")
    seed = o.seed if o.seed is not None else int(time.time()) * 1000
    began, waiting = time.monotonic(), list(o.parts or PARTS)
    found, lacking, ran = [], [], []
    while waiting:
        name = waiting.pop(0)
        left = max(o.minutes * 60 - (time.monotonic() - began), 1)
        start = time.monotonic()
        try:
            what, findings = PARTS[name](left / (len(waiting) + 1), seed)
        except Lacking as why:
            lacking.append(name)
            print(f"{name}: left out: {why}", flush=True)
            continue
        ran.append(name)
        found += [f"{name} {finding}" for finding in findings]
        print(f"{name}: {what}, {time.monotonic() - start:.0f} s; {'; '.join(findings) or 'nothing found'}", flush=True)
    print(f"soak: {(time.monotonic() - began) / 60:.1f} minutes, seed {seed}: {', '.join(ran) or 'nothing'}{'; left out: ' if lacking else ''}{', '.join(lacking)}; "
          f"found: {len(found) or 'nothing'}")
    return 1 if found or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
