#!/usr/bin/env python3
"""Golden cases: TOPIC/NAME.py with sibling files, whose extension picks the stage.

usage: python tests/cases/run.py [--update] [TOPIC/NAME ...]

The head of NAME.py says what is compiled, in comments:
    # kernel: NAME          the function (default: the only @cuda.jit function of the file)
    # sig: TYPES            its signature (not needed for .out)
    # arch: sm_80           default sm_80
    # options: -O0          further options of `pyptx compile`
Siblings:
    .ssa   the lifted function        .types  the typed program
    .ll    LLVM IR after lowering: lines that must appear in order
    .ptx   lines that must appear in order (white space folded; a line that starts with '!' must not appear anywhere)
    .err   the whole message of the error that compiling gives, or the advice, file names without folders
    .out   what the program prints on the host device
NAME.3.11.ssa and the like win over NAME.ssa under that Python, where CPython's own compiler differs.
--update rewrites .ssa, .types, .err and .out; .ll and .ptx are written by hand.
"""
import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

HERE = Path(__file__).resolve().parent
STAGES = {".ssa": "ssa", ".types": "types", ".ll": "llvm", ".ptx": "ptx"}
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def head(path):
    """The `# key: value` comments at the top of a case."""
    found = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        key, _, value = line[1:].partition(":")
        found[key.strip()] = value.strip()
    return found


def compile_case(path, emit):
    """(exit status, text, messages) of `pyptx compile` on a case."""
    from pyptx import cli

    options = head(path)
    target = f"{path}:{options['kernel']}" if "kernel" in options else str(path)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        args = ["compile", target, "--sig", options["sig"], "--arch", options.get("arch", "sm_80"), "--abi", "compact", "--emit", emit, "-o", str(out)]
        args += options.get("options", "").split()
        said = io.StringIO()
        with redirect_stderr(said), redirect_stdout(said):
            try:
                status = cli.main(args)
            except SystemExit as e:
                status = e.code
        return status or 0, out.read_text() if out.exists() else "", said.getvalue()


def run_case(path):
    """What the program prints on the host device."""
    # Into a pipe sys.stdout holds text back, which is to come out before what kernels print.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | {"PYPTX_DEVICE": "host"}
    # -P: a case named like a module is not imported for it
    done = subprocess.run([sys.executable, "-P", str(path)], env=env, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr + (f"exit status {done.returncode}\n" if done.returncode else "")


def without_folders(text):
    return re.sub(r"[^\s\"'(]*/([\w.-]+\.py)", r"\1", text)


def fold(line):
    return re.sub(r"\s+", " ", line).strip()


def in_order(wanted, text):
    """The first wanted line that does not follow the ones before it in text, or None."""
    lines = [fold(x) for x in text.splitlines()]
    at = 0
    for want in (fold(w) for w in wanted.splitlines()):
        if not want or want.startswith("//"):
            continue
        if want.startswith("!"):
            if any(want[1:].strip() in x for x in lines):
                return want
            continue
        while at < len(lines) and want not in lines[at]:
            at += 1
        if at == len(lines):
            return want
        at += 1
    return None


def golden_of(path, extension):
    special = path.with_suffix(f".{VERSION}{extension}")
    return special if special.exists() else path.with_suffix(extension)


def cases():
    """(path of NAME.py, extension) of every golden."""
    for path in sorted(HERE.glob("*/*.py")):
        for extension in (*STAGES, ".err", ".out"):
            if path.with_suffix(extension).exists():
                yield path, extension


def produce(path, extension):
    if extension == ".out":
        return without_folders(run_case(path))
    status, text, said = compile_case(path, STAGES.get(extension, "ptx"))
    if extension == ".err":
        return without_folders(said) or "no error\n"
    if status:
        raise AssertionError(f"{path.name} does not compile:\n{said}")
    return without_folders(text)


def check(path, extension, update=False):
    """None if the case holds, else what is wrong."""
    golden = golden_of(path, extension)
    want, got = golden.read_text(), produce(path, extension)
    if extension in (".ptx", ".ll"):
        if not want.strip():
            return f"{golden.name} is empty: write the lines that matter of\n{got}"
        missing = in_order(want, got)
        return f"{golden.name}: '{missing}' is not there, in this order:\n{got}" if missing else None
    if want == got:
        return None
    if update:
        golden.write_text(got)
        return None
    return f"{golden.name} differs (run.py --update rewrites it):\n--- wanted\n{want}--- got\n{got}"


def main(argv):
    update = "--update" in argv
    names = [a for a in argv if not a.startswith("-")]
    passed = failed = 0
    for path, extension in cases():
        if names and str(path.relative_to(HERE).with_suffix("")) not in names:
            continue
        try:
            wrong = check(path, extension, update)
        except AssertionError as e:
            wrong = str(e)
        passed += not wrong
        failed += bool(wrong)
        if wrong:
            print(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
