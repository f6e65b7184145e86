"""A simulation of many short kernels as a CUDA graph: captured once, launched for each frame, with a new force for each."""

import sys
import time

import numpy as np
from pyptx import cuda


@cuda.jit
def push(v: cuda.Array, force: cuda.Array, dt: float) -> None:
    i = cuda.grid(1)
    if i < v.size:
        v[i] += force[0] * dt


@cuda.jit
def move(x: cuda.Array, v: cuda.Array, dt: float) -> None:
    i = cuda.grid(1)
    if i < x.size:
        x[i] += v[i] * dt


def frame(x: cuda.Array, v: cuda.Array, force: cuda.Array, dt: float, steps: int) -> None:
    for _ in range(steps):
        push[(x.size + 127) // 128, 128](v, force, dt)
        move[(x.size + 127) // 128, 128](x, v, dt)


def main() -> int:
    n, steps, frames, dt = 4096, 50, 10, 1 / 64
    device = cuda.get_current_device()
    print(f"{frames} frames of {2 * steps} kernels on {device.name}")
    forces = np.arange(frames, dtype=np.float64)
    x, v = cuda.to_device(np.zeros(n)), cuda.to_device(np.arange(n, dtype=np.float64))
    d_forces = cuda.to_device(forces)

    with cuda.graph() as g:
        frame(x, v, d_forces[0:1], dt, steps)
    cuda.synchronize()
    start = time.perf_counter()
    for k in range(frames):
        for node in g.nodes[::2]:  # the pushes
            node.set_args(v, d_forces[k : k + 1], dt)
        g.launch()
    cuda.synchronize()
    print(f"  {(time.perf_counter() - start) / frames * 1e6:.0f} µs a frame, new arguments included")
    out = x.copy_to_host()

    # All steps are multiples of 2**-12 well below 2**52, so each sum is exact: equal to the last bit.
    want, velocity = np.zeros(n), np.arange(n, dtype=np.float64)
    for k in range(frames):
        for _ in range(steps):
            velocity += forces[k] * dt
            want += velocity * dt
    correct = np.array_equal(out, want)
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
