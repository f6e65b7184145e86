"""The Python side of the disk cache of compiled kernels: settings, counters, and what ``pyptx cache`` does.

The cache itself is in C (runtime/cache/cache_files.c, codegen/store/cache_key.c, pyext/compile/disk_cache.c). See docs/guide/caching.md.
"""

import os
from typing import NamedTuple

from pyptx import _pyptx


class CacheInfo(NamedTuple):
    """What ``cuda.cache_info()`` returns."""

    directory: str  # where kernels are kept: of every kernel with PYPTX_CACHE_DIR, else of those with cache=True
    enabled: bool  # for every kernel: PYPTX_CACHE_DIR or PYPTX_CACHE_READONLY_DIR is set
    readonly: tuple  # directories that are read and never written
    limit: int  # bytes that all kernels in the directory together may have; 0: no limit
    hits: int  # kernels that this process took from the cache …
    misses: int  # … and that it compiled because they were not there
    stored: int  # files written
    damaged: int  # files that were no kernels any more


class CompileStats(NamedTuple):
    """What ``kernel.stats`` returns: Numba's names."""

    cache_path: str  # None if the cache was not asked for any signature
    cache_hits: dict  # {signature: number}, a signature counting once for each device
    cache_misses: dict


def cache_info():
    """Settings of the disk cache, and what it did for this process, as a :class:`CacheInfo`."""
    state = _pyptx._cache_state()
    readonly = tuple(path for path in (state["readonly"] or "").split(":") if path)
    return CacheInfo(state["directory"], bool(state["whole_process"] or readonly), readonly, state["limit"], state["hits"],
                     state["misses"], state["stored"], state["damaged"])


def stats(overloads):
    """:class:`CompileStats` of compiled kernels."""
    counts = {"hit": {}, "miss": {}}
    for overload in overloads:
        if overload.cache:
            of = counts[overload.cache]
            of[overload.signature] = of.get(overload.signature, 0) + 1
    asked = counts["hit"] or counts["miss"]
    return CompileStats(_pyptx._cache_state()["directory"] if asked else None, counts["hit"], counts["miss"])


# --- the command ---


def size_text(n):
    for unit in ("B", "KB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"


def print_list(directory, out):
    """One line for each kernel, the one used last first, and for each winner of autotune."""
    import time

    from pyptx import _winners

    kernels = sorted(_pyptx._cache_list(directory), key=lambda k: -k["used"])
    for k in kernels:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(k["used"]))
        name, types, target, version, place = (k["label"].split("\t") + [""] * 5)[:5]
        about = f"{name}({types.strip('()')})  {target}  {version}  {place}" if not k["fault"] else f"damaged: {k['fault']}"
        out.write(f"{k['file'][:12]}  {used}  {size_text(k['size']):>9}  {about}\n")
    total = sum(k["size"] for k in kernels)
    tuned = _winners.listed(directory)
    for file, size, found in tuned:
        about = f"autotune: {found['title']}" if found else "damaged: nothing that autotune has written"
        out.write(f"{file[:12]}  {found['when'] if found else '':16}  {size_text(size):>9}  {about}\n")
    out.write(f"{directory}: {len(kernels)} kernel{'s' * (len(kernels) != 1)}, {size_text(total)}{_tuned(len(tuned))}\n")


def _tuned(n):
    return f", {n} tuned kernel{'s' * (n != 1)}" if n else ""


def verify(directory, remove, out):
    """Reads and checks every file. Returns the number of damaged ones."""
    kernels = _pyptx._cache_list(directory)
    damaged = [k for k in kernels if k["fault"]]
    for k in damaged:
        out.write(f"{os.path.join(directory, k['file'])}: {k['fault']}\n")
    note = ""
    if remove and damaged:
        files, _ = _pyptx._cache_clear(directory, True)
        note = f", {files} removed"
    out.write(f"{directory}: {len(kernels) - len(damaged)} whole, {len(damaged)} damaged{note}\n")
    return len(damaged)


def clear(directory, out):
    from pyptx import _winners

    files, size = _pyptx._cache_clear(directory, False)
    out.write(f"{directory}: removed {files} kernel{'s' * (files != 1)}, {size_text(size)}{_tuned(_winners.clear(directory))}\n")
