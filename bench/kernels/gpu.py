"""The sides of a kernel on the GPU, and their times.

All sides work on the same device arrays in the context that pyptx made current, on the default stream.
"""

import ctypes
import statistics
import sys
import time
import warnings

import numpy as np
from _bench import Driver
from kernels.declare import agree, check, dims
from kernels.native import cubin, packed
from pyptx import cuda

WARM_UP, BATCHES, BATCH_MS, MOST = 2, 9, 2.0, 50


def pointer(array):
    return array.__cuda_array_interface__["data"][0]


@cuda.jit
def wait(rounds):
    for _ in range(rounds):
        cuda.nanosleep(20000)


class Clock:
    """Milliseconds a call takes on the device.

    The device first waits for as long as the host needs to queue the batch: a side with a slow launch then
    pays for its kernel only.
    """

    def __init__(self):
        self.start, self.end = cuda.event(), cuda.event()

    def batch(self, call, count, delay_us):
        wait[1, 1](np.int32(delay_us // 20 + 1))
        self.start.record()
        for _ in range(count):
            call()
        self.end.record()
        self.end.synchronize()
        return cuda.event_elapsed_time(self.start, self.end) / count

    def medians(self, sides):
        """{side: median ms}; the sides take turns batch by batch."""
        plans, times = {}, {side: [] for side in sides}
        for side, call in sides.items():
            call()
            cuda.synchronize()
            begin = time.perf_counter()
            call()
            queued_us = (time.perf_counter() - begin) * 1e6
            ms = self.batch(call, 2, 2 * queued_us + 50)
            count = max(2, min(MOST, round(BATCH_MS / max(ms, 1e-6))))
            plans[side] = (count, min(count * queued_us * 1.2 + 20, 5000))
        for _ in range(WARM_UP + BATCHES):
            for side, call in sides.items():
                times[side].append(self.batch(call, *plans[side]))
        return {side: statistics.median(t[WARM_UP:]) for side, t in times.items()}


class Peers:
    """The packages that are here, each with how it sees a device array."""

    def __init__(self, wanted):
        self.make = {}
        for name, start in (("numba", self.numba), ("cupy", self.cupy), ("triton", self.triton)):
            if name in wanted:
                try:
                    self.make[name] = start()
                except ImportError as e:
                    print(f"{name}: {e}; left out", file=sys.stderr)

    def numba(self):
        if not hasattr(np, "row_stack"):
            np.row_stack = np.vstack  # numba-cuda wants it at import; NumPy 2.5 has it no more
        import numba
        from kernels.peers import rebound
        from numba import cuda as numba_cuda

        numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
        warnings.filterwarnings("ignore", module="numba")

        compiled = {}

        def side(kernel, problem, block, arrays):
            own = [numba_cuda.as_cuda_array(a) if hasattr(a, "gpu_data") else a for a in arrays]
            if kernel.name not in compiled:
                compiled[kernel.name] = numba_cuda.jit(rebound(kernel.function, numba, numba_cuda))
            configured = compiled[kernel.name][problem.grid_for(block), block]
            return lambda: configured(*own)

        return side

    def cupy(self):
        import cupy

        return self.library("cupy", cupy, cupy.asarray)

    def triton(self):
        import torch
        from kernels import triton_kernels

        return self.library("triton", triton_kernels, lambda a: torch.as_tensor(a, device="cuda"))

    @staticmethod
    def library(name, module, convert):
        def side(kernel, problem, block, arrays):
            if name not in kernel.peers:
                return None
            return kernel.peers[name](module, *[convert(a) if hasattr(a, "gpu_data") else a for a in arrays])

        return side


class Bench:
    """What all kernels share: the driver, nvcc's module, the peers, the clock."""

    def __init__(self, kernels, peers, nvcc=True, variants=()):
        self.driver, self.clock = Driver(), Clock()
        self.anchor = cuda.to_device(np.zeros(1))  # the primary context is current from here on
        major, minor = cuda.get_current_device().compute_capability
        arch, narrow = f"sm_{major}{minor}", [k for k in kernels if k.cuda_int]
        self.module = self.driver.load(cubin(kernels, arch)) if nvcc else None
        self.narrow = self.driver.load(cubin(narrow, arch, "cuda_int")) if nvcc and narrow else None
        self.peers, self.variants = Peers(peers), variants

    def attribute(self, function, number):
        value = ctypes.c_int()
        self.driver.cuFuncGetAttribute(ctypes.byref(value), number, function)
        return value.value

    def nvcc_side(self, module, kernel, problem, block, arrays):
        function = self.driver.function(module, kernel.name)
        values = packed(problem, arrays, pointer)
        params = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        shape = (*dims(problem.grid_for(block)), *dims(block))
        launch = self.driver.lib.cuLaunchKernel

        def call(_keep=values):
            if launch(function, *shape, 0, None, params, None):
                raise RuntimeError(f"nvcc's {kernel.name} was not launched")

        return call, {"regs": self.attribute(function, 4), "local": self.attribute(function, 3)}

    def copy_side(self, problem):
        """cuMemcpyDtoD that moves as many bytes as the kernel must: half of them read, half written."""
        half = int(problem.bytes) // 2
        source, target = (cuda.device_array(half, np.uint8) for _ in range(2))
        copy, size = self.driver.lib.cuMemcpyDtoDAsync_v2, ctypes.c_size_t(half)
        to, of = (ctypes.c_uint64(pointer(a)) for a in (target, source))

        def call(_keep=(source, target)):
            if copy(to, of, size, None):
                raise RuntimeError("cuMemcpyDtoD failed")

        return call

    def our_side(self, kernel, problem, block, arrays, **options):
        dispatcher = cuda.jit(kernel.function, **options)
        configured = dispatcher[problem.grid_for(block), block]
        return dispatcher, lambda: configured(*arrays)

    def sides(self, kernel, problem, block, arrays):
        """({side: call}, facts)."""
        dispatcher, ours = self.our_side(kernel, problem, block, arrays)
        sides, facts = {"pyptx": ours}, {}
        ours()
        facts["pyptx"] = {
            "regs": first(dispatcher.get_regs_per_thread()), "local": first(dispatcher.get_local_mem_per_thread()),
        }  # fmt: skip
        for text, options in self.variants:
            sides[f"pyptx {text}"] = self.our_side(kernel, problem, block, arrays, **options)[1]
        if self.module:
            sides["nvcc"], facts["nvcc"] = self.nvcc_side(self.module, kernel, problem, block, arrays)
            if kernel.cuda_int:
                sides["nvcc int"], facts["nvcc int"] = self.nvcc_side(self.narrow, kernel, problem, block, arrays)
        for name, make in self.peers.make.items():
            try:
                call = make(kernel, problem, block, arrays)
                if call:
                    call()
                    cuda.synchronize()
                    sides[name] = call
            except Exception as e:  # a peer that cannot do a kernel is a dash in the table
                print(f"{name} cannot do {kernel.name}: {type(e).__name__}: {e}", file=sys.stderr)
        return sides, facts

    def results(self, problem, arrays, call):
        """The outputs after one call on fresh ones; what a library returns anew counts as its output."""
        for k in problem.outputs:
            arrays[k].copy_to_device(problem.arguments[k])
        returned = call()
        cuda.synchronize()
        if returned is not None and len(problem.outputs) == 1:
            host = returned.get() if hasattr(returned, "get") else returned.cpu().numpy()
            return [np.atleast_1d(host)]
        return [arrays[k].copy_to_host() for k in problem.outputs]

    def measure(self, kernel, problem, expected, block, arrays, ours_only=False):
        """{"ms": {side: ms}, "right": {side: bool}, "share": {side: of the bound}, "facts": …} for one block size.

        ours_only: check pyptx's sides only, where the others were checked at another block size.
        """
        sides, facts = self.sides(kernel, problem, block, arrays)
        right, shares, first_results = {}, {}, None
        for name, call in sides.items():
            if ours_only and not name.startswith("pyptx"):
                continue
            got = self.results(problem, arrays, call)
            right[name], shares[name] = check(problem, got, expected, library_slack(problem, name))
            if first_results is None:
                first_results = got
            elif name in ("nvcc", "nvcc int", "numba") or name.startswith("pyptx"):
                right[name] &= agree(problem, first_results, got, expected)
        timed = dict(sides)
        if kernel.kind in ("streaming", "stencil"):
            timed["copy"] = self.copy_side(problem)
        return {"ms": self.clock.medians(timed), "right": right, "share": shares, "facts": facts}


def library_slack(problem, name):
    """A library takes another algorithm: the bound of a sum in any order holds for it."""
    return problem.sequential if name in ("cupy", "triton") else 1.0


def first(value):
    return next(iter(value.values())) if isinstance(value, dict) else value


def upload(problem):
    return [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in problem.arguments]
