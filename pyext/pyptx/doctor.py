"""What is wrong with this machine, and the remedy: ``pyptx doctor``. One line a finding; the facts are those of ``pyptx info``.

A check is a function of a Machine that yields findings. It looks at one thing, raises nothing that a broken machine causes, and says `ok`
where it has looked and found nothing wrong."""

import glob
import os
import platform
import re
import stat
import sys
from dataclasses import asdict, dataclass

from pyptx import info
from pyptx.errors import advice_mode

OLDEST_GLIBC, OLDEST_NUMPY = (2, 27), (1, 26)
OLDEST_DRIVER = 11020  # CUDA's number of what the runtime takes
LITTLE = 100_000_000  # bytes free on the cache's file system


@dataclass
class Finding:
    """level: "ok", "warning" (works, but not as it could) or "problem"; what: what was looked at; remedy: what to do, "" where all is well."""

    level: str
    what: str
    text: str
    remedy: str = ""

    def __str__(self):
        return f"{self.level:<8} {self.what}: {self.text}" + (f"; {self.remedy}" if self.remedy else "")


def ok(what, text):
    return Finding("ok", what, text)


def warning(what, text, remedy):
    return Finding("warning", what, text, remedy)


def problem(what, text, remedy):
    return Finding("problem", what, text, remedy)


class Machine:
    """Where the checks look; tests put another one in its place."""

    def __init__(self):
        from pyptx import _pyptx

        self.env, self.path, self.root = os.environ, sys.path, "/"
        self.core = _pyptx

    def file(self, path):
        return os.path.join(self.root, path.lstrip("/"))

    def exists(self, path):
        return os.path.exists(self.file(path))

    def glob(self, pattern):
        return sorted("/" + os.path.relpath(found, self.root) for found in glob.glob(self.file(pattern)))

    def read(self, path):
        try:
            with open(self.file(path), errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def may_use(self, path):
        return os.access(self.file(path), os.R_OK | os.W_OK)

    def facts(self):
        return self.core._facts()

    def gpus(self):
        """The GPUs that the driver answers for."""
        return [self.core._gpu(i) for i in range(self.core.gpu_count())]

    def distributions(self):
        """[(name, version, folder)] of every installed package, in the order of sys.path."""
        from importlib import metadata

        return [(d.metadata["Name"] or "", d.version, str(d.locate_file(""))) for d in metadata.distributions(path=list(self.path))]

    def libc(self):
        return platform.libc_ver()

    @property
    def is_wsl(self):
        return self.exists("/dev/dxg") or "microsoft" in self.read("/proc/sys/kernel/osrelease").lower()

    @property
    def is_container(self):
        return any(map(self.exists, ("/.dockerenv", "/run/.containerenv"))) or "container" in self.env

    @property
    def has_nvidia(self):
        """Is there anything of NVIDIA's beside a library: a device file, the kernel's module, a card on the bus."""
        cards = (self.read(path).strip() for path in self.glob("/sys/bus/pci/devices/*/vendor"))
        return bool(self.glob("/dev/nvidia*")) or self.exists("/proc/driver/nvidia/version") or self.exists("/dev/dxg") or "0x10de" in cards


def numbers(version):
    """(2, 28) of "2.28.1"."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


# --- this process ---


def check_package(m):
    """Which pyptx this is, and whether another one is in its way."""
    own = os.path.dirname(os.path.abspath(info.__file__))
    here = os.path.dirname(own)
    found = [(version, folder) for name, version, folder in m.distributions() if re.sub(r"[-_.]+", "-", name).lower() == "pyptx-cuda"]
    strangers = [f"{version} in {folder}" for name, version, folder in m.distributions() if name.lower() == "pyptx"]
    if strangers:
        yield problem("package", f"another package named pyptx ({strangers[0]}) overwrites the same files, or is overwritten",
                      "pip uninstall pyptx pyptx-cuda, then pip install pyptx-cuda")
    places = dict.fromkeys(os.path.realpath(os.path.join(entry or ".", "pyptx")) for entry in m.path
                           if os.path.isfile(os.path.join(entry or ".", "pyptx", "__init__.py")))
    others = [place for place in places if place != os.path.realpath(own)]
    if others:
        yield warning("package", f"there is another folder named pyptx on sys.path: {others[0]}; this is {own}",
                      "remove one of them: which is imported depends on where a program starts")
    if os.path.exists(os.path.join(os.getcwd(), "pyptx.py")):
        yield warning("package", f"{os.getcwd()} holds a pyptx.py, which programs there import instead", "rename it")
    wrong = [version for version, folder in found if os.path.realpath(folder) == os.path.realpath(here) and version != m.core.__version__]
    if wrong or len(found) > 1:
        text = f"the metadata say {wrong[0]}, the module {m.core.__version__}" if wrong else f"it is installed {len(found)} times: " + ", ".join(f for _, f in found)
        yield problem("package", text, "pip uninstall pyptx-cuda until there is none left, then install it once")
    if not (strangers or others or wrong or len(found) > 1):
        yield ok("package", f"pyptx {m.core.__version__} in {own}")


def check_python(m):
    version = sys.version_info[:2]
    text = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    if (3, 11) <= version <= (3, 15):
        yield ok("Python", text)
    else:
        yield warning("Python", f"{text}: not tried", "use CPython 3.11 to 3.15")


def check_numpy(m):
    found = [version for name, version, _ in m.distributions() if name.lower() == "numpy"]
    version = info.attempt(info.numpy_version)
    if version.startswith("not known"):
        yield problem("NumPy", f"it cannot be imported: {version.removeprefix('not known: ')}", "pip install --force-reinstall numpy")
    elif numbers(version) < OLDEST_NUMPY:
        yield problem("NumPy", f"{version} is too old", "pip install -U 'numpy>=1.26'")
    elif len(found) > 1:
        yield warning("NumPy", f"it is installed {len(found)} times ({', '.join(found)})", "pip uninstall numpy until there is none left, then install it once")
    else:
        yield ok("NumPy", version)


def check_libc(m):
    name, version = m.libc()
    text = f"{name} {version}".strip() or "not known"
    if name == "glibc" and numbers(version) < OLDEST_GLIBC:
        yield problem("C library", f"{text} is too old", "use a system with glibc 2.27 or later: Ubuntu 18.04, Debian 10, RHEL 8")
    elif name != "glibc":
        yield warning("C library", f"{text}: only glibc has been tried", "use a Python that is linked with glibc (not Alpine's)")
    else:
        yield ok("C library", text)


def check_numba(m):
    """Who answers to `numba.cuda`."""
    names = {name.lower(): version for name, version, _ in m.distributions()}
    redirects = [path for entry in m.path for path in glob.glob(os.path.join(glob.escape(entry or "."), "_numba_cuda_redirector.pth"))]
    if "numba-cuda" in names and redirects:
        yield ok("numba.cuda", f"numba-cuda {names['numba-cuda']} answers to it, and pyptx where pyptx.numba.install() or python -m pyptx.numba is used")
    elif redirects:
        yield warning("numba.cuda", f"{redirects[0]} redirects it to numba-cuda, which is not installed", "remove that file, or pip install numba-cuda")
    elif "numba" in names:
        yield ok("numba.cuda", f"Numba {names['numba']}'s own, and pyptx where pyptx.numba.install() or python -m pyptx.numba is used")


def check_settings(m):
    """Environment variables with values that nobody takes."""
    wrong = []
    if m.env.get("PYPTX_DEVICE", "auto") not in ("auto", "gpu", "host", "python", ""):
        wrong.append(("PYPTX_DEVICE", "auto, gpu, host or python"))
    if not re.fullmatch(r"|[1-9]\d{0,3}", m.env.get("PYPTX_HOST_THREADS", "")):
        wrong.append(("PYPTX_HOST_THREADS", "a number from 1 to 1024"))
    if m.env.get("PYPTX_PROGRESS", "") not in ("", "0", "1"):
        wrong.append(("PYPTX_PROGRESS", "0 or 1"))
    try:
        advice_mode()
    except ValueError:
        wrong.append(("PYPTX_ADVICE", "0, 1 or error"))
    for name in ("PYPTX_DRIVER", "PYPTX_LIBDEVICE", "PYPTX_NVRTC", "PYPTX_NVJITLINK"):
        if m.env.get(name) and not os.path.isfile(m.env[name]):
            wrong.append((name, "a file that exists"))
    for name, what in wrong:
        yield problem("settings", f"{name} is '{m.env.get(name, '')}'", f"set it to {what}, or unset it")
    if m.env.get("CUDA_DISABLE_PTX_JIT") == "1":
        yield problem("settings", "CUDA_DISABLE_PTX_JIT=1 keeps the driver from compiling PTX", "unset it")
    if m.env.get("CUDA_LAUNCH_BLOCKING") == "1":
        yield warning("settings", "CUDA_LAUNCH_BLOCKING=1 makes every launch wait for its kernel", "unset it when you do not look for a fault")


# --- the driver ---


def check_libcuda(m):
    """The library, and what can be found in its place."""
    facts = m.facts()
    stubs = [folder for folder in m.env.get("LD_LIBRARY_PATH", "").split(":")
             if folder and "stubs" in folder.split("/") and glob.glob(os.path.join(glob.escape(folder), "libcuda.so*"))]
    if stubs or "/stubs/" in (facts["driver_path"] or ""):
        yield problem("driver", f"LD_LIBRARY_PATH has {stubs[0] if stubs else os.path.dirname(facts['driver_path'])}, where the toolkit keeps an empty libcuda for linking",
                      "remove this folder from LD_LIBRARY_PATH")
    if facts["driver"]:
        if facts["driver"] < OLDEST_DRIVER:
            yield problem("driver", f"CUDA {info.dotted(facts['driver'], 10)} ({facts['driver_path']}) is too old", "install a driver of CUDA 11.2 or later")
        else:
            yield ok("driver", f"CUDA {info.dotted(facts['driver'], 10)}, PTX up to {info.dotted(facts['driver_ptx'], 1)} ({facts['driver_path']})")
        return
    why = info.why_no_gpu()
    if m.is_wsl and m.exists("/usr/lib/wsl/lib/libcuda.so.1"):
        yield problem("driver", f"WSL's own, /usr/lib/wsl/lib/libcuda.so.1, cannot be used: {why}", "update the NVIDIA driver of Windows, then `wsl --shutdown`")
    elif m.is_wsl:
        yield no_gpu(m, "driver", "Windows gives this WSL no libcuda: /usr/lib/wsl/lib has none", "install the NVIDIA driver in Windows, not here, then `wsl --shutdown`")
    elif m.is_container and m.has_nvidia:
        yield problem("driver", f"the container has device files and no driver: {why}",
                      "start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility and the NVIDIA Container Toolkit (--gpus all)")
    elif m.has_nvidia:
        yield problem("driver", f"there is an NVIDIA GPU and no driver: {why}", "install the NVIDIA driver (`nvidia-smi` tells whether it works)")
    else:
        remedy = "for a GPU start it with --gpus all" if m.is_container else "for a GPU install the NVIDIA driver"
        yield no_gpu(m, "driver", "none, and no sign of an NVIDIA GPU: kernels run on the host device", remedy)


def no_gpu(m, what, text, remedy):
    """Is it a problem that there is no GPU? Only where one is asked for."""
    if m.env.get("PYPTX_DEVICE") == "host":
        return ok(what, f"{text.partition(':')[0]}; PYPTX_DEVICE=host needs none")
    make = problem if m.env.get("PYPTX_DEVICE") == "gpu" else warning
    return make(what, text, remedy)


def check_device_files(m):
    """/dev/nvidia*: there, and ours to use."""
    if m.is_wsl:
        if m.exists("/dev/dxg") and not m.may_use("/dev/dxg"):
            yield problem("device files", "/dev/dxg cannot be read and written", "chmod a+rw /dev/dxg, as root")
        return
    if not (m.has_nvidia or m.facts()["driver"]) or m.env.get("PYPTX_DRIVER"):
        return
    cards = m.glob("/dev/nvidia[0-9]*")
    needed = ["/dev/nvidiactl", "/dev/nvidia-uvm", *(cards or ["/dev/nvidia0"])]
    missing = [path for path in needed if not m.exists(path)]
    locked = [path for path in needed if m.exists(path) and not m.may_use(path)]
    if missing and m.is_container:
        yield problem("device files", f"the container has no {', '.join(missing)}", "start it with --gpus all (Docker, Podman: --device nvidia.com/gpu=all)")
    elif missing:
        yield problem("device files", f"there is no {', '.join(missing)}", "load the driver's modules as root: `nvidia-modprobe -u -c=0`, or restart")
    if locked:
        who = "the groups of this user" if not m.is_container else "the container's cgroup and user"
        yield problem("device files", f"{', '.join(locked)} cannot be read and written", f"look at {who} and at `ls -l /dev/nvidia*` (udev rules, group video)")
    if not missing and not locked:
        yield ok("device files", ", ".join(needed))


def check_kernel_module(m):
    """The kernel's half of the driver, which an update leaves old until the next start."""
    loaded = re.search(r"Module\s+(\d+\.\d+(?:\.\d+)?)", m.read("/proc/driver/nvidia/version"))
    library = re.search(r"libcuda\.so\.(\d{3,}\.\d+(?:\.\d+)?)$", os.path.realpath(m.facts()["driver_path"] or ""))
    if loaded and library and loaded[1] != library[1]:
        yield problem("driver", f"libcuda is of version {library[1]}, the kernel's module of {loaded[1]}",
                      "restart the machine" if not m.is_container else "use the libcuda of the machine: remove the container's own")


def check_visible(m):
    """CUDA_VISIBLE_DEVICES: what it hides, and where CUDA stops reading."""
    text = m.env.get("CUDA_VISIBLE_DEVICES")
    if text is None:
        return
    remedy = "unset it, or name GPUs by number or by UUID (`nvidia-smi -L`)"
    entries = [entry.strip() for entry in text.split(",")]
    if text.strip() in ("", "-1", "NoDevFiles"):
        yield no_gpu(m, "CUDA_VISIBLE_DEVICES", f"'{text}' hides every GPU", remedy) if not m.has_nvidia or m.env.get("PYPTX_DEVICE") == "host" else \
            problem("CUDA_VISIBLE_DEVICES", f"'{text}' hides every GPU", remedy)
        return
    cards = len(m.glob("/dev/nvidia[0-9]*"))
    wrong = [e for e in entries if not re.fullmatch(r"\d+|(GPU|MIG)-[\w/-]+", e) or (cards and e.isdigit() and int(e) >= cards)]
    twice = [e for e in entries if entries.count(e) > 1]
    if wrong:
        hidden = "CUDA reads no further, and " + ("hides every GPU" if wrong[0] == entries[0] else f"sees {entries.index(wrong[0])} of them")
        yield problem("CUDA_VISIBLE_DEVICES", f"'{text}' has '{wrong[0]}', which names no GPU: {hidden}", remedy)
    elif twice:
        yield problem("CUDA_VISIBLE_DEVICES", f"'{text}' names {twice[0]} twice, and CUDA then sees none", remedy)
    else:
        yield ok("CUDA_VISIBLE_DEVICES", text)


def check_gpus(m):
    """Each GPU that answers: that the driver's PTX, its kind and its mode suit."""
    facts = m.facts()
    gpus = m.gpus()
    if facts["driver"] and not gpus:
        why = str(m.core.cuda_error()).splitlines()[0]
        yield no_gpu(m, "GPU", f"the driver finds none: {why}", "look at `nvidia-smi` (MIG: an instance is needed, `nvidia-smi mig -lgip`), "
                     "at CUDA_VISIBLE_DEVICES and at the lines above")  # fmt: skip
    for gpu in gpus:
        major, minor = gpu.compute_capability
        arch, what = f"sm_{major}{minor}", f"GPU {gpu.id}"
        least = m.core._arch_min_ptx(arch)
        if not least:
            old = major * 10 + minor < 75
            yield problem(what, f"{gpu.name} has compute capability {major}.{minor}, which pyptx {'never had' if old else 'does not know yet'}",
                          "use a GPU of compute capability 7.5 or later" if old else "update pyptx: pip install -U pyptx-cuda")
            continue
        if least > facts["driver_ptx"]:
            yield problem(what, f"{gpu.name} needs PTX {info.dotted(least, 1)}, and the driver takes PTX up to {info.dotted(facts['driver_ptx'], 1)}",
                          "update the NVIDIA driver")
        mode = info.attempt(lambda: gpu.COMPUTE_MODE)
        if mode == 2:
            yield problem(what, "its compute mode is PROHIBITED: no process may use it", f"nvidia-smi -i {gpu.id} -c DEFAULT, as root")
        elif mode == 3:
            yield warning(what, "its compute mode is EXCLUSIVE_PROCESS: one process at a time", f"nvidia-smi -i {gpu.id} -c DEFAULT, as root, for several")
        if " MIG " in gpu.name:
            yield ok(what, "it is an instance of MIG: a process sees one of them, and no memory of another GPU")
        memory = info.attempt(gpu.memory_info)
        if isinstance(memory, str):
            yield problem(what, f"{gpu.name} answers and cannot be used: {memory.removeprefix('not known: ')}", "look at `nvidia-smi` and `dmesg`; a restart may be due")
        elif memory[0] < memory[1] // 20:
            yield warning(what, f"{info.size(memory[0])} of {info.size(memory[1])} are free", "look at `nvidia-smi` for who has the rest")
        elif least <= facts["driver_ptx"] and mode != 2:
            yield ok(what, f"{gpu.name}, {arch}, {info.size(memory[1])}")


# --- files and tools ---


def check_libdevice(m):
    path = m.facts()["libdevice"]
    remedy = "pip install nvidia-cuda-nvcc, or set PYPTX_LIBDEVICE to a libdevice.10.bc"
    if not path:
        yield warning("libdevice", "not found: kernels for a GPU have only the math functions that PTX has instructions for", remedy)
        return
    try:
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError as error:
        yield problem("libdevice", f"{path} cannot be read: {error.strerror}", f"chmod a+r {path}, or {remedy}")
        return
    if head not in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
        yield problem("libdevice", f"{path} is no LLVM bitcode", remedy)
    else:
        yield ok("libdevice", path)


def check_tools(m):
    from pyptx import _tools

    for name, use in (("ptxas", "cubins, --resource-usage and inspect_sass"), ("nvdisasm", "inspect_sass")):
        try:
            path = _tools.find(name)
            version = info.ptxas_version(path)
        except _tools.ToolError as error:
            if m.env.get(f"PYPTX_{name.upper()}"):
                yield problem(name, str(error).splitlines()[0], f"correct PYPTX_{name.upper()}, or unset it")
            else:
                yield ok(name, f"not found (needed for {use} alone: pip install {_tools._PACKAGES[name]})")
        except Exception as error:
            yield problem(name, f"{path} does not run: {str(error).splitlines()[0]}", f"install it again: pip install --force-reinstall {_tools._PACKAGES[name]}")
        else:
            yield ok(name, f"{path} ({version})")


def check_cache(m):
    """The directory of compiled kernels: as the runtime wants it, owned by the user and written by no other."""
    from pyptx._cache import cache_info

    try:
        state = cache_info()
    except ValueError as error:
        yield problem("cache", str(error).splitlines()[0], "correct the variable, or unset it")
        return
    for path in state.readonly:
        if not os.path.isdir(path):
            yield warning("cache", f"PYPTX_CACHE_READONLY_DIR has {path}, which is no directory", "make it, or take it out")
    directory = state.directory
    if not directory:
        yield warning("cache", "there is no home directory: nothing is kept from one process to the next", "set PYPTX_CACHE_DIR")
        return
    standing = directory
    while not os.path.exists(standing) and os.path.dirname(standing) != standing:
        standing = os.path.dirname(standing)
    found = os.stat(standing)
    if not stat.S_ISDIR(found.st_mode):
        yield problem("cache", f"{standing} is no directory", "remove it, or set PYPTX_CACHE_DIR to another place")
    elif not os.access(standing, os.W_OK | os.X_OK):
        yield problem("cache", f"{standing} cannot be written: kernels are compiled anew in every process", "set PYPTX_CACHE_DIR to a directory of your own")
    elif standing == directory and found.st_uid != os.geteuid():
        yield problem("cache", f"{directory} belongs to user {found.st_uid}, and is not used", f"chown it, or set PYPTX_CACHE_DIR to a directory of your own")
    elif standing == directory and found.st_mode & 0o022:
        yield problem("cache", f"{directory} can be written by others, and is not used", f"chmod go-w {directory}")
    elif free_bytes(standing) < LITTLE:
        yield warning("cache", f"{info.size(free_bytes(standing))} are free for {directory}", "make room, or set PYPTX_CACHE_DIR to another file system")
    else:
        yield ok("cache", info.cache())


def free_bytes(path):
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


# --- does it work ---


def check_launch(m):
    """A kernel, compiled and launched on the host device and on the device that programs get."""
    from pyptx import _pyptx

    try:
        current = _pyptx.get_current_device()
    except Exception as error:
        yield problem("launch", str(error).splitlines()[0], "see the lines above")
        current = None
    for device in dict.fromkeys([_pyptx._device("host"), *([current] if current else [])]):
        name = "the host device" if device.is_host else f"GPU {device.id}"
        try:
            wrong = launched_wrong(device)
        except Exception as error:
            yield problem("launch", f"a kernel on {name} failed: {str(error).splitlines()[0]}", "see the lines above; if they are well, it is a bug of pyptx: "
                          "report it with what `pyptx info` says")  # fmt: skip
        else:
            text = f"a kernel on {name} gave {'a wrong result' if wrong else 'the right result'}"
            yield problem("launch", text, "the GPU may be damaged (`nvidia-smi -q -d ECC`); else report it with `pyptx info`") if wrong else ok("launch", text)


def launched_wrong(device):
    import numpy as np

    from pyptx import cuda

    def triple(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = 3 * x[i] + 1

    with device:
        values = np.arange(1000, dtype=np.int32)
        cuda.jit(triple)[8, 128](values)
        return not (values == 3 * np.arange(1000) + 1).all()


CHECKS = [check_package, check_python, check_numpy, check_libc, check_numba, check_settings, check_libcuda, check_device_files, check_kernel_module,
          check_visible, check_gpus, check_libdevice, check_tools, check_cache, check_launch]  # fmt: skip


def examine(machine=None):
    """All findings, in the order of the checks."""
    m = machine or Machine()
    found = []
    for check in CHECKS:
        try:
            found += check(m)
        except Exception as error:  # a machine that nobody thought of: the others are still of use
            found.append(warning(check.__name__.removeprefix("check_"), f"could not be looked at: {type(error).__name__}: {error}", "report this with `pyptx info`"))
    return found


def run(as_json=False):
    """Prints the findings; 1 if one of them is a problem, else 0."""
    found = examine()
    if as_json:
        import json

        print(json.dumps([asdict(f) for f in found], indent=2, ensure_ascii=False))
    else:
        print("\n".join(map(str, found)))
    return int(any(f.level == "problem" for f in found))
