"""python -m pyptx.numba PROGRAM [ARGS], or -m MODULE [ARGS], or -c TEXT [ARGS]: runs it as Python
does, with numba.cuda from pyptx."""

import os
import runpy
import sys

_USAGE = """usage: python -m pyptx.numba [--typing numba|numpy] PROGRAM [ARGS]
       python -m pyptx.numba [--typing numba|numpy] -m MODULE [ARGS]

Runs a program, a folder with a __main__.py or a module as Python does; `from numba import cuda` gives pyptx.
--typing: the rules of types in kernels that do not say (numba: as in Numba; numpy: as in NumPy 2, which keeps float32).
"""


def main():
    from pyptx.numba import install

    words, typing = sys.argv[1:], None
    if words[:1] == ["--typing"] and len(words) > 1:
        typing, words = words[1], words[2:]
    if words[:1] in (["-h"], ["--help"]):
        sys.stdout.write(_USAGE)
        return
    if not words or words[0].startswith("-") and (words[0] != "-m" or len(words) < 2):
        sys.exit(_USAGE.rstrip())
    try:
        install(typing)
    except ValueError as error:
        sys.exit(f"pyptx.numba: {error}")
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(words[0]):
        sys.exit(f"pyptx.numba: cannot find '{words[0]}'")
    sys.argv = words
    sys.path[0] = os.path.dirname(os.path.realpath(words[0]))
    runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
