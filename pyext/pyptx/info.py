"""What a bug report needs, as text or JSON: ``pyptx info``. Nothing here may fail: what cannot be found out says why."""

import os
import platform
import subprocess
import sys


def attempt(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return f"not known: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")


def version_of(package):
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def numpy_version():
    return version_of("numpy") or __import__("numpy").__version__


def libc():
    return " ".join(platform.libc_ver()).strip() or "not known"


def dotted(version, minor):
    """13000 → 13.0 (driver, minor=10), 90 → 9.0 (PTX, minor=1)."""
    return f"{version // (100 * minor)}.{version % (100 * minor) // 10}" if minor > 1 else f"{version // 10}.{version % 10}"


def ptxas_version(path):
    out = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    return out.strip().splitlines()[-2].rpartition(", ")[2] if "release" in out else out.strip().splitlines()[-1]


def size(nbytes):
    return f"{nbytes / 1e9:.1f} GB"


def device_line(device):
    free, total = device.memory_info()
    memory = f"{size(total)} ({size(free)} free)"
    if device.is_host:
        return f"{device.name}, {device.MULTIPROCESSOR_COUNT} threads, {memory}"
    major, minor = device.compute_capability
    return f"{device.name}, sm_{major}{minor}, {device.MULTIPROCESSOR_COUNT} multiprocessors, {memory}, {device.uuid}"


def why_no_gpu():
    from pyptx import _pyptx

    try:
        return repr(_pyptx._gpu(0))
    except Exception as error:
        return str(error).splitlines()[0]


def devices():
    """{name: line}: the host, and each GPU that a driver answers for."""
    from pyptx import _pyptx

    found = {}
    for ordinal in range(_pyptx.gpu_count()):
        found[f"GPU {ordinal}"] = attempt(lambda: device_line(_pyptx._gpu(ordinal)))
    if not found and _pyptx._facts()["driver"]:
        found["GPU"] = f"none: {why_no_gpu()}"
    found["host"] = attempt(lambda: device_line(_pyptx._device("host")))
    return found


def current_device():
    from pyptx import _pyptx

    return repr(_pyptx.get_current_device())


def driver(facts):
    if not facts["driver"]:
        return f"none: {why_no_gpu()}"
    return f"CUDA {dotted(facts['driver'], 10)} ({facts['driver_path']})"


def libdevice(facts):
    return facts["libdevice"] or "not found; looked in " + facts["libdevice_looked"].replace("\n", ", ").rstrip(", ")


def ptxas(facts):
    if not facts["ptxas"]:
        return "not found (needed for --emit cubin alone)"
    return f"{facts['ptxas']} ({attempt(ptxas_version, facts['ptxas'])})"


def cache():
    from pyptx._cache import cache_info

    state = cache_info()
    who = "of every kernel" if state.enabled else "of kernels with cache=True"
    return f"{state.directory or 'no home directory'}, {who}" + "".join(f"; {path}, read only" for path in state.readonly)


def environment():
    names = ("CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH")
    return {n: v for n, v in sorted(os.environ.items()) if n.startswith("PYPTX_") or n in names}


def collect():
    """A dict of texts, or of dicts of texts, in the order to print."""
    from pyptx import _pyptx

    facts = _pyptx._facts()
    return {
        "pyptx": f"{_pyptx.__version__} ({os.path.dirname(os.path.abspath(__file__))})",
        "Python": f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})",
        "NumPy": attempt(numpy_version),
        "platform": f"{platform.platform()}, {libc()}",
        "LLVM": facts["llvm"],
        "host CPU": f"{facts['host_cpu']}, {facts['host_threads']} threads used",
        "driver": driver(facts),
        "PTX ISA": f"up to {dotted(facts['driver_ptx'], 1)}" if facts["driver_ptx"] else "as the architecture needs (no driver)",
        "libdevice": libdevice(facts),
        "ptxas": ptxas(facts),
        "cache": cache(),
        "devices": devices(),
        "default device": attempt(current_device),
        "environment": environment(),
    }


def as_text():
    lines = []
    for key, value in collect().items():
        if not isinstance(value, dict):
            lines.append(f"{key + ':':<16}{value}")
            continue
        lines.append(f"{key}:" if value else f"{key + ':':<16}nothing set")
        lines += [f"  {name + ':':<14}{text}" for name, text in value.items()]
    return "\n".join(lines)


def as_json():
    import json

    return json.dumps(collect(), indent=2, ensure_ascii=False)
