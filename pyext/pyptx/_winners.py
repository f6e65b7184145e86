"""What @cuda.autotune has found, in the directory of the disk cache: NAME.tuned, a text of JSON with every trial. NAME is a hash over what the
compiler sees of each candidate, their launches, the key and the device.

Nothing that is wrong with the directory stops a program: it tunes again, and says once what was wrong (CacheWarning)."""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
import time
import warnings

FORMAT = 1
SUFFIX = ".tuned"


def name_of(*facts):
    """Of facts that are the same in every process."""
    return hashlib.blake2b(json.dumps([FORMAT, *facts]).encode(), digest_size=20).hexdigest()


def _directories():
    from pyptx import _cache

    info = _cache.cache_info()
    return [d for d in (info.directory, *info.readonly) if d]


_warned = set()


def _warn(error):
    from pyptx.errors import CacheWarning

    text = f"what autotune found is not kept: {error}"
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, CacheWarning, stacklevel=4)


def read(path):
    """What is in a file, or None: it is not there, damaged or of another format."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        trials = [(times and [float(t) for t in times], error and str(error)) for times, error in found["trials"]]
        whole = found["format"] == FORMAT and {"title", "when"} <= found.keys() and all(bool(times) != bool(error) for times, error in trials)
        return {**found, "trials": trials} if whole and any(times for times, _ in trials) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def load(name, number):
    """The trials of so many candidates: [(seconds of the runs or None, error or None)]; None: they are not known."""
    for directory in _directories():
        found = read(os.path.join(directory, name + SUFFIX))
        if found and len(found["trials"]) == number:
            return found["trials"]
    return None


def store(name, trials, **about):
    """Keeps the trials: written beside its place, then renamed, so that nobody sees half of them."""
    try:
        directory = _made_directory()
        handle, path = tempfile.mkstemp(suffix=".tmp", prefix="." + name, dir=directory)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"format": FORMAT, **about, "when": time.strftime("%Y-%m-%d %H:%M"), "trials": trials}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(path, os.path.join(directory, name + SUFFIX))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
    except OSError as error:
        _warn(error)


def _made_directory():
    directory = next(iter(_directories()), None)
    if not directory:
        raise OSError("there is no home directory, and PYPTX_CACHE_DIR is not set")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    return directory


def _wait(handle, seconds):
    until = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return None
        except OSError:  # a file system without locks
            return None
        time.sleep(0.05)


@contextlib.contextmanager
def locked(name, seconds):
    """One process at a time measures these candidates; the others wait, for so many seconds at most, and then find what it has found."""
    try:
        path = os.path.join(_made_directory(), f".{name}.lock")
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        _warn(error)
        yield
        return
    try:
        _wait(handle, seconds)
        yield
        with contextlib.suppress(OSError):
            os.unlink(path)
    finally:
        os.close(handle)


# --- the command ---


def listed(directory):
    """[(file, bytes, what is in it or None)], the newest first."""
    out = []
    for entry in os.scandir(directory):
        if entry.name.endswith(SUFFIX):
            out.append((entry.stat().st_mtime, entry.name, entry.stat().st_size, read(entry.path)))
    return [row[1:] for row in sorted(out, reverse=True)]


def clear(directory):
    """How many were removed."""
    files = listed(directory)
    for file, _, _ in files:
        os.unlink(os.path.join(directory, file))
    return len(files)
