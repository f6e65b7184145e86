"""`pyptx doctor`: each finding, on a machine that has the trouble. Most of them are faked by a folder that stands for the root of the file
system and by other answers of the driver; some are the stand-in driver's, in a process of its own."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from pyptx import _pyptx, cli, doctor
from standin import LIBRARY, needs_standin

FACTS = {"driver": 13000, "driver_ptx": 90, "driver_path": "/usr/lib/libcuda.so.580.65.06", "libdevice": None, "ptxas": None}
NONE = {**FACTS, "driver": 0, "driver_ptx": 0, "driver_path": None}


def gpu(capability=(9, 0), name="NVIDIA H200", mode=0, memory=lambda: (100 << 30, 140 << 30), number=0):
    return SimpleNamespace(id=number, name=name, compute_capability=capability, COMPUTE_MODE=mode, memory_info=memory, is_host=False)


class Machine(doctor.Machine):
    """files: {path: text} below a folder that stands for "/"; gpus: what the driver answers."""

    def __init__(self, folder, env=None, files=(), facts=FACTS, gpus=None, packages=(("pyptx-cuda", _pyptx.__version__),), locked=(), error=None, libc=("glibc", "2.36")):
        super().__init__()
        self.env, self.root, self.packages, self.locked, self._libc = env or {}, str(folder), packages, locked, libc
        self.core = SimpleNamespace(_facts=lambda: facts, _arch_min_ptx=_pyptx._arch_min_ptx, gpu_count=lambda: len(self._gpus), __version__=_pyptx.__version__,
                                    cuda_error=lambda: error)  # fmt: skip
        self._gpus = [gpu()] if gpus is None else gpus
        self.path = [str(folder / "site")]
        for path, text in dict(files).items():
            file = folder / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def gpus(self):
        return self._gpus

    def distributions(self):
        return [(name, version, (folder or [self.path[0]])[0]) for name, version, *folder in self.packages]

    def may_use(self, path):
        return path not in self.locked

    def libc(self):
        return self._libc


def found(check, machine):
    return [(f.level, str(f)) for f in check(machine)]


def one(check, machine, level, *words):
    """The check's only finding that is not ok."""
    bad = [f for f in check(machine) if f.level != "ok"]
    assert [f.level for f in bad] == [level] * (level != "ok"), bad
    for finding in bad:
        assert all(word in str(finding) for word in words), str(finding)
        assert finding.remedy and "\n" not in str(finding)
    return bad


DEVICE_FILES = dict.fromkeys(["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1"], "")
CARD = {"/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n"}
WSL = {"/dev/dxg": "", "/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n"}


def test_a_healthy_machine(tmp_path):
    m = Machine(tmp_path, files={**DEVICE_FILES, **CARD, "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun\n"})
    for check in (doctor.check_libcuda, doctor.check_device_files, doctor.check_kernel_module, doctor.check_visible, doctor.check_gpus, doctor.check_settings,
                  doctor.check_libc, doctor.check_python):
        assert all(level == "ok" for level, _ in found(check, m)), check
    assert found(doctor.check_libcuda, m) == [("ok", "ok       driver: CUDA 13.0, PTX up to 9.0 (/usr/lib/libcuda.so.580.65.06)")]
    assert "NVIDIA H200, sm_90" in found(doctor.check_gpus, m)[0][1]


# --- packages ---


def test_another_package_of_the_name(tmp_path):
    m = Machine(tmp_path, packages=[("pyptx-cuda", _pyptx.__version__), ("pyptx", "0.3")])
    one(doctor.check_package, m, "problem", "another package named pyptx (0.3 in", "pip uninstall pyptx pyptx-cuda")


def test_another_folder_of_the_name(tmp_path):
    m = Machine(tmp_path, files={"/site/pyptx/__init__.py": ""})
    one(doctor.check_package, m, "warning", f"another folder named pyptx on sys.path: {tmp_path}/site/pyptx", "remove one")


def test_a_file_of_the_name(tmp_path, monkeypatch):
    (tmp_path / "pyptx.py").write_text("")
    monkeypatch.chdir(tmp_path)
    one(doctor.check_package, Machine(tmp_path), "warning", "holds a pyptx.py", "rename it")


def test_installed_twice_or_half(tmp_path):
    version = _pyptx.__version__
    one(doctor.check_package, Machine(tmp_path, packages=[("pyptx-cuda", version), ("pyptx_cuda", version, "/elsewhere")]), "problem", "installed 2 times", "/elsewhere")
    here = os.path.dirname(os.path.dirname(doctor.__file__))
    one(doctor.check_package, Machine(tmp_path, packages=[("pyptx-cuda", "0.0.7", here)]), "problem", f"the metadata say 0.0.7, the module {version}")


def test_numpy(tmp_path, monkeypatch):
    one(doctor.check_numpy, Machine(tmp_path), "ok")
    one(doctor.check_numpy, Machine(tmp_path, packages=[("numpy", "2.1"), ("NumPy", "1.26")]), "warning", "installed 2 times (2.1, 1.26)")
    monkeypatch.setattr(doctor.info, "numpy_version", lambda: "1.21.3")
    one(doctor.check_numpy, Machine(tmp_path), "problem", "1.21.3 is too old", "numpy>=1.26")

    def fails():
        raise ImportError("numpy.core.multiarray failed to import")

    monkeypatch.setattr(doctor.info, "numpy_version", fails)
    one(doctor.check_numpy, Machine(tmp_path), "problem", "cannot be imported", "multiarray")


def test_python(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor.sys, "version_info", (3, 16, 0))
    one(doctor.check_python, Machine(tmp_path), "warning", "not tried", "3.11 to 3.15")


def test_c_library(tmp_path):
    one(doctor.check_libc, Machine(tmp_path, libc=("glibc", "2.17")), "problem", "glibc 2.17 is too old", "2.27")
    one(doctor.check_libc, Machine(tmp_path, libc=("", "")), "warning", "not known", "Alpine")


def test_who_is_numba_cuda(tmp_path):
    m = Machine(tmp_path, files={"/site/_numba_cuda_redirector.pth": ""}, packages=[("numba", "0.61")])
    one(doctor.check_numba, m, "warning", "numba-cuda, which is not installed", "_numba_cuda_redirector.pth")
    m.packages = [("numba", "0.61"), ("numba-cuda", "0.20")]
    assert "numba-cuda 0.20 answers to it" in found(doctor.check_numba, m)[0][1]
    assert "Numba 0.61's own" in found(doctor.check_numba, Machine(tmp_path / "b", packages=[("numba", "0.61")]))[0][1]
    assert found(doctor.check_numba, Machine(tmp_path / "c")) == []


# --- settings ---


@pytest.mark.parametrize("name, value, remedy", [
    ("PYPTX_DEVICE", "cuda", "auto, gpu, host or python"), ("PYPTX_HOST_THREADS", "many", "1 to 1024"), ("PYPTX_PROGRESS", "yes", "0 or 1"),
    ("PYPTX_ADVICE", "2", "0, 1 or error"), ("PYPTX_DRIVER", "/nowhere/libcuda.so.1", "a file that exists"),
    ("PYPTX_LIBDEVICE", "/nowhere/x.bc", "a file that exists"), ("CUDA_DISABLE_PTX_JIT", "1", "unset it"),
])  # fmt: skip
def test_settings(name, value, remedy, tmp_path, monkeypatch):
    monkeypatch.setenv(name, value)  # errors.advice_mode reads the process's own
    one(doctor.check_settings, Machine(tmp_path, env={name: value}), "problem", name, remedy)


def test_launches_that_wait(tmp_path):
    one(doctor.check_settings, Machine(tmp_path, env={"CUDA_LAUNCH_BLOCKING": "1"}), "warning", "every launch wait")


# --- the driver ---


def test_no_driver(tmp_path):
    plain = Machine(tmp_path / "a", facts=NONE, gpus=[])
    one(doctor.check_libcuda, plain, "warning", "no sign of an NVIDIA GPU", "install the NVIDIA driver")
    plain.env = {"PYPTX_DEVICE": "gpu"}
    one(doctor.check_libcuda, plain, "problem", "no sign of an NVIDIA GPU")
    plain.env = {"PYPTX_DEVICE": "host"}
    one(doctor.check_libcuda, plain, "ok")
    container = Machine(tmp_path / "b", facts=NONE, gpus=[], files={"/.dockerenv": ""})
    one(doctor.check_libcuda, container, "warning", "--gpus all")
    card = Machine(tmp_path / "c", facts=NONE, gpus=[], files=CARD)
    one(doctor.check_libcuda, card, "problem", "there is an NVIDIA GPU and no driver", "install the NVIDIA driver")
    half = Machine(tmp_path / "d", facts=NONE, gpus=[], files={"/run/.containerenv": "", **DEVICE_FILES})
    one(doctor.check_libcuda, half, "problem", "device files and no driver", "NVIDIA_DRIVER_CAPABILITIES=compute,utility")


def test_wsl(tmp_path):
    one(doctor.check_libcuda, Machine(tmp_path / "a", facts=NONE, gpus=[], files=WSL), "warning", "/usr/lib/wsl/lib has none", "in Windows, not here")
    m = Machine(tmp_path / "b", facts=NONE, gpus=[], files={**WSL, "/usr/lib/wsl/lib/libcuda.so.1": ""})
    one(doctor.check_libcuda, m, "problem", "WSL's own", "wsl --shutdown")
    assert found(doctor.check_device_files, m) == []
    m.locked = ["/dev/dxg"]
    one(doctor.check_device_files, m, "problem", "/dev/dxg cannot be read and written", "chmod")


def test_a_stub_in_the_library_path(tmp_path):
    stubs = tmp_path / "cuda/lib64/stubs"
    stubs.mkdir(parents=True)
    (stubs / "libcuda.so").write_text("")
    m = Machine(tmp_path / "root", env={"LD_LIBRARY_PATH": f"/usr/lib:{stubs}"})
    one(doctor.check_libcuda, m, "problem", f"LD_LIBRARY_PATH has {stubs}", "remove this folder")
    loaded = Machine(tmp_path / "other", facts={**FACTS, "driver_path": "/usr/local/cuda/lib64/stubs/libcuda.so.1"})
    one(doctor.check_libcuda, loaded, "problem", "/usr/local/cuda/lib64/stubs", "empty libcuda")


def test_an_old_driver(tmp_path):
    one(doctor.check_libcuda, Machine(tmp_path, facts={**FACTS, "driver": 11000}), "problem", "CUDA 11.0", "is too old", "11.2")


def test_an_update_without_a_restart(tmp_path):
    version = {"/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module  570.133.20  Release Build\n"}
    one(doctor.check_kernel_module, Machine(tmp_path, files=version), "problem", "libcuda is of version 580.65.06, the kernel's module of 570.133.20", "restart the machine")
    one(doctor.check_kernel_module, Machine(tmp_path, files={**version, "/.dockerenv": ""}), "problem", "container's own")


def test_device_files(tmp_path):
    some = {name: "" for name in DEVICE_FILES if name != "/dev/nvidia-uvm"}
    one(doctor.check_device_files, Machine(tmp_path / "a", files=some), "problem", "there is no /dev/nvidia-uvm", "nvidia-modprobe")
    one(doctor.check_device_files, Machine(tmp_path / "b", files={"/.dockerenv": ""}), "problem", "the container has no /dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidia0", "--gpus all")
    locked = Machine(tmp_path / "c", files=DEVICE_FILES, locked=["/dev/nvidia0", "/dev/nvidiactl"])
    one(doctor.check_device_files, locked, "problem", "/dev/nvidiactl, /dev/nvidia0 cannot be read and written", "ls -l /dev/nvidia*")
    assert found(doctor.check_device_files, Machine(tmp_path / "d", facts=NONE, gpus=[])) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every file")
def test_a_file_that_is_locked(tmp_path):
    (tmp_path / "x").write_text("")
    (tmp_path / "x").chmod(0)
    machine = doctor.Machine()
    machine.root = str(tmp_path)
    assert not machine.may_use("/x")


@pytest.mark.parametrize("value, level, words", [
    ("", "problem", "hides every GPU"), ("-1", "problem", "hides every GPU"), ("0,7", "problem", "'7', which names no GPU: CUDA reads no further, and sees 1"),
    ("all", "problem", "hides every GPU"), ("1,1", "problem", "names 1 twice"), ("1,0", "ok", ""), ("GPU-8a1b2c3d,MIG-GPU-1/2/3", "ok", ""),
])  # fmt: skip
def test_visible_devices(value, level, words, tmp_path):
    bad = one(doctor.check_visible, Machine(tmp_path, env={"CUDA_VISIBLE_DEVICES": value}, files=DEVICE_FILES), level, words)
    assert bad or "CUDA_VISIBLE_DEVICES" in found(doctor.check_visible, Machine(tmp_path, env={"CUDA_VISIBLE_DEVICES": value}, files=DEVICE_FILES))[0][1]


def test_no_visible_device_is_wanted(tmp_path):
    one(doctor.check_visible, Machine(tmp_path, env={"CUDA_VISIBLE_DEVICES": "", "PYPTX_DEVICE": "host"}, files=DEVICE_FILES), "ok")
    assert found(doctor.check_visible, Machine(tmp_path)) == []


# --- GPUs ---


def test_gpus(tmp_path):
    def with_gpu(facts=FACTS, **of):
        return Machine(tmp_path, facts=facts, gpus=[gpu(**of)])

    one(doctor.check_gpus, with_gpu({**FACTS, "driver_ptx": 72}), "problem", "needs PTX 7.8, and the driver takes PTX up to 7.2", "update the NVIDIA driver")
    one(doctor.check_gpus, with_gpu(capability=(6, 0), name="Tesla P100"), "problem", "compute capability 6.0", "7.5 or later")
    one(doctor.check_gpus, with_gpu(capability=(13, 0)), "problem", "does not know yet", "update pyptx")
    one(doctor.check_gpus, with_gpu(mode=2), "problem", "PROHIBITED", "nvidia-smi -i 0 -c DEFAULT")
    one(doctor.check_gpus, with_gpu(mode=3), "warning", "EXCLUSIVE_PROCESS")
    one(doctor.check_gpus, with_gpu(memory=lambda: (1 << 30, 140 << 30)), "warning", "1.1 GB of 150.3 GB are free", "nvidia-smi")
    assert any("an instance of MIG" in text for _, text in found(doctor.check_gpus, with_gpu(name="NVIDIA H100 80GB HBM3 MIG 1g.10gb")))

    def fails():
        raise RuntimeError("cuDevicePrimaryCtxRetain: CUDA_ERROR_ILLEGAL_ADDRESS")

    one(doctor.check_gpus, with_gpu(memory=fails), "problem", "answers and cannot be used", "ILLEGAL_ADDRESS")
    one(doctor.check_gpus, Machine(tmp_path, gpus=[], error="there is no GPU that CUDA can use"), "warning", "the driver finds none", "MIG")


# --- files and tools ---


def test_libdevice(tmp_path):
    one(doctor.check_libdevice, Machine(tmp_path), "warning", "not found", "PYPTX_LIBDEVICE")
    file = tmp_path / "libdevice.10.bc"
    machine = Machine(tmp_path, facts={**FACTS, "libdevice": str(file)})
    one(doctor.check_libdevice, machine, "problem", "cannot be read: No such file")
    file.write_bytes(b"<html>")
    one(doctor.check_libdevice, machine, "problem", "is no LLVM bitcode")
    file.write_bytes(b"BC\xc0\xde....")
    one(doctor.check_libdevice, machine, "ok")


def test_tools(tmp_path, monkeypatch):
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\nexit 3\n")
    tool.chmod(0o755)
    monkeypatch.setattr(doctor.os, "environ", os.environ)
    for name in ("PYPTX_PTXAS", "PYPTX_NVDISASM"):
        monkeypatch.setenv(name, str(tool))
    machine = Machine(tmp_path, env=os.environ)
    assert [(f.level, f.what) for f in doctor.check_tools(machine)] == [("problem", "ptxas"), ("problem", "nvdisasm")]
    assert "does not run" in str(next(doctor.check_tools(machine)))
    monkeypatch.setenv("PYPTX_PTXAS", str(tmp_path / "nothing"))
    assert "correct PYPTX_PTXAS" in str(next(doctor.check_tools(machine)))
    for name in ("PYPTX_PTXAS", "PYPTX_NVDISASM", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    from pyptx import _tools

    monkeypatch.setattr(_tools, "folders", lambda: ([], []))
    assert [(f.level, "pip install nvidia-cuda-" in f.text) for f in doctor.check_tools(machine)] == [("ok", True)] * 2
    tool.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\necho Build cuda_13.0\n")
    monkeypatch.setenv("PYPTX_PTXAS", str(tool))
    assert "(V13.0.88)" in str(next(doctor.check_tools(machine)))


def test_cache(tmp_path, monkeypatch):
    def at(directory):
        monkeypatch.setenv("PYPTX_CACHE_DIR", str(directory))
        return Machine(tmp_path)

    folder = tmp_path / "kept"
    one(doctor.check_cache, at(folder), "ok")  # made when it is needed
    folder.mkdir(mode=0o700)
    one(doctor.check_cache, at(folder), "ok")
    folder.chmod(0o777)
    one(doctor.check_cache, at(folder), "problem", "can be written by others", f"chmod go-w {folder}")
    folder.chmod(0o700)
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 12345)
    one(doctor.check_cache, at(folder), "problem", "belongs to user", "chown")
    monkeypatch.undo()
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: False)
    one(doctor.check_cache, at(folder), "problem", "cannot be written", "PYPTX_CACHE_DIR")
    monkeypatch.undo()
    monkeypatch.setattr(doctor, "free_bytes", lambda path: 5_000_000)
    one(doctor.check_cache, at(folder), "warning", "0.0 GB are free", "make room")
    monkeypatch.undo()
    (tmp_path / "file").write_text("")
    one(doctor.check_cache, at(tmp_path / "file"), "problem", "is no directory")
    monkeypatch.setenv("PYPTX_CACHE_READONLY_DIR", str(tmp_path / "nowhere"))
    one(doctor.check_cache, at(folder), "warning", "nowhere, which is no directory")


def test_a_check_that_fails_is_a_finding(monkeypatch, tmp_path):
    def check_moon(m):
        raise KeyError("crater")
        yield

    monkeypatch.setattr(doctor, "CHECKS", [check_moon, doctor.check_python])
    moon, python = doctor.examine(Machine(tmp_path))
    assert moon.level == "warning" and "moon: could not be looked at: KeyError: 'crater'" in str(moon) and python.what == "Python"


# --- the command ---


def test_launches(monkeypatch):
    assert all(f.level == "ok" for f in doctor.check_launch(None))
    monkeypatch.setattr(doctor, "launched_wrong", lambda device: True)
    assert {f.level for f in doctor.check_launch(None)} == {"problem"} and "wrong result" in str(next(doctor.check_launch(None)))


def test_the_command(monkeypatch, capsys):
    assert cli.main(["doctor"]) in (0, 1)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.split()[0] in ("ok", "warning", "problem") for line in lines) and any("Python: CPython" in line for line in lines)
    monkeypatch.setattr(doctor, "CHECKS", [doctor.check_python])
    assert cli.main(["doctor", "--json"]) == 0
    assert [sorted(row) for row in json.loads(capsys.readouterr().out)] == [["level", "remedy", "text", "what"]]
    monkeypatch.setattr(doctor, "CHECKS", [lambda m: [doctor.problem("sky", "it falls", "run")]])
    assert cli.main(["doctor"]) == 1 and capsys.readouterr().out == "problem  sky: it falls; run\n"


def examined(**env):
    """The command's lines in a process of its own on the stand-in, and its status."""
    env = {**os.environ, "PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": LIBRARY, **env}
    env.pop("PYPTX_ON_PTX", None)
    done = subprocess.run([sys.executable, "-m", "pyptx", "doctor"], env=env, capture_output=True, text=True, timeout=120)
    return [line for line in done.stdout.splitlines() if not line.startswith("ok")], done.returncode, done.stdout + done.stderr


@needs_standin
@pytest.mark.parametrize("env, words", [
    ({"PYPTX_STANDIN_VERSION": "11000"}, ["CUDA 11.0", "needs PTX 7.8, and the driver takes PTX up to 7.0"]),
    ({"PYPTX_STANDIN_CAPABILITY": "60"}, ["compute capability 6.0"]),
    ({"PYPTX_STANDIN_DEVICES": "0"}, ["the driver finds none"]),
    ({"PYPTX_DRIVER": "/nowhere/libcuda.so.1"}, ["PYPTX_DRIVER is '/nowhere/libcuda.so.1'", "launch: the CUDA driver was not found"]),
    ({}, ["launch: a kernel on GPU 0 gave a wrong result"]),  # the stand-in's launches do nothing
], ids=["old driver", "old GPU", "no GPU", "no library", "no result"])  # fmt: skip
def test_on_the_stand_in(env, words):
    lines, status, all_said = examined(**env)
    assert status == 1 and all(any(line.startswith("problem") and word in line for line in lines) for word in words), all_said
