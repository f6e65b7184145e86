"""Coarsening: results of every grid, tail and axis are those of the kernel that was written."""

import harness
import numpy as np
import pytest
from coarse_kernels import every, factors, in_place, scalar
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda


@every
@factors
def test_results(kernel, signature, make, launches, factor):
    """What plain Python gives for some of the launches; for all of them the bytes that the kernel leaves that is not coarsened. (On the
    host device, which has no use for it, both are the same code.)"""
    for grid, block in launches[factor % 4 :: 7]:
        arguments = [x if isinstance(x, np.ndarray) else scalar(x) for x in make()]
        harness.run(kernel, arguments, grid, block, fma=False, coarsen=factor)
    plain, coarse = cuda.jit(coarsen=1)(kernel), cuda.jit(coarsen=factor)(kernel)
    for grid, block in launches:
        arguments = make()
        a, b = ([cuda.to_device(x) if isinstance(x, np.ndarray) else scalar(x) for x in arguments] for _ in range(2))
        plain[grid, block](*a)
        coarse[grid, block](*b)
        for x, y in zip(a, b):
            if not isinstance(x, np.generic):
                assert x.copy_to_host().tobytes() == y.copy_to_host().tobytes(), (grid, block)


@needs_llc
@every
@factors
def test_results_of_the_gpu_code_on_the_cpu(kernel, signature, make, launches, factor):
    entries = Entries(kernel, signature, factor)
    assert entries.coarsened, entries.note
    for grid, block in launches:
        entries.check(grid, block, *make())


def test_large_grids_of_every_axis():
    """More blocks than an axis y or z could number after a multiplication by the factor, and a tail."""

    def mark(out):
        i = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
        out[i] += cuda.gridDim.x * 3 + cuda.gridDim.y * 5 + cuda.gridDim.z * 7

    for grid in ((65537, 3, 1), (3, 65535, 1), (1, 3, 65535)):
        out = cuda.to_device(np.zeros(grid[0] * grid[1] * grid[2], np.int64))
        cuda.jit(coarsen=8)(mark)[grid, 1](out)
        assert (out.copy_to_host() == grid[0] * 3 + grid[1] * 5 + grid[2] * 7).all()


def test_bound_launches_and_graphs():
    kernel = cuda.jit(coarsen=4)(in_place)
    x, y, z = (cuda.to_device(np.ones(1000, np.float32)) for _ in range(3))
    bound = kernel[9, 128].bind(x)
    bound()
    bound()
    with cuda.graph() as graph:
        kernel[9, 128](y)
    graph.launch()
    graph.launch()
    graph.nodes[0].set_args(z)
    graph.launch()
    graph.launch()
    cuda.synchronize()
    assert x.copy_to_host().tobytes() == y.copy_to_host().tobytes() == z.copy_to_host().tobytes()
