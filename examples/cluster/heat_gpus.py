"""Heat on a plate over all GPUs of a machine: one process, a slab of rows for each device, halos exchanged by copies from GPU to GPU.

    python heat_gpus.py [--devices N] [--slabs N] [--rows N] [--columns N] [--steps N]

Each slab has two streams on its device. On one its first and last row are computed, and then copied into its neighbours' halos while the
other computes the rows between. It checks itself against NumPy and prints the time on 1, 2, … devices. Without a GPU there is one device, the
host; --slabs N gives each device several slabs, so that halos are exchanged there too.
"""

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Plate = npt.NDArray[np.float32]
Launch = Callable[[], None]

BLOCK = 32, 8
R = 0.125  # dt / dx^2, stable up to 1/4


@cuda.jit
def heat(u: cuda.Array, new: cuda.Array, first: int, step: int, count: int, r: float) -> None:
    """Rows first, first + step, … of a slab with a halo row on either side: `count` of them."""
    j, k = cuda.grid(2)
    if k < count and 0 < j < u.shape[1] - 1:
        i = first + k * step
        new[i, j] = u[i, j] + r * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - np.float32(4) * u[i, j])


def blocks(count: int, columns: int) -> tuple[int, int]:
    return -(-columns // BLOCK[0]), -(-count // BLOCK[1])


class Slab:
    """Some rows on one device, as an array with a halo row before and behind them; `steps` alternates between two such arrays."""

    def __init__(self, device: cuda.Device, rows: Plate) -> None:
        self.device, n = device, len(rows) - 2
        with device:
            self.arrays = [cuda.to_device(rows), cuda.to_device(rows)]
            self.edges, self.inner = cuda.stream(), cuda.stream()
            self.edges_done, self.inner_done, self.sent = (cuda.event(timing=False) for _ in range(3))
            self.steps = [self.kernels(old, new, n) for old, new in (self.arrays, self.arrays[::-1])]
            for event in self.edges_done, self.inner_done, self.sent:
                event.record(self.edges)

    def kernels(self, old: cuda.DeviceNDArray, new: cuda.DeviceNDArray, n: int) -> tuple[Launch, Launch | None]:
        """The launches of one step: of the two rows at the edges, and of those between."""
        columns = old.shape[1]
        edges = heat[blocks(2, columns), BLOCK, self.edges].bind(old, new, 1, max(n - 1, 1), min(n, 2), R)
        inner = heat[blocks(n - 2, columns), BLOCK, self.inner].bind(old, new, 2, 1, n - 2, R) if n > 2 else None
        return edges, inner

    def compute(self, t: int, neighbours: list["Slab"]) -> None:
        """Step t, once the halos of step t - 1 have come."""
        edges, inner = self.steps[t % 2]
        for event in (self.inner_done, *(n.sent for n in neighbours)):
            event.wait(self.edges)
        for event in (self.edges_done, self.sent):
            event.wait(self.inner)
        with self.device:
            edges()
            self.edges_done.record(self.edges)
            if inner:
                inner()
            self.inner_done.record(self.inner)

    def send(self, t: int, above: "Slab | None", below: "Slab | None") -> None:
        """The new first and last row, into the halos of the neighbours."""
        new = self.arrays[(t + 1) % 2]
        if above:
            above.arrays[(t + 1) % 2][-1].copy_to_device(new[1], stream=self.edges)
        if below:
            below.arrays[(t + 1) % 2][0].copy_to_device(new[-2], stream=self.edges)
        self.sent.record(self.edges)

    def wait(self) -> None:
        self.edges.synchronize()
        self.inner.synchronize()


def cut(plate: Plate, devices: list[cuda.Device], each: int) -> list[Slab]:
    """Slabs of the plate's inner rows, as even as possible; neighbours in memory are neighbours in the list."""
    places = [d for d in devices for _ in range(each)]
    at = np.linspace(1, len(plate) - 1, len(places) + 1).astype(int)
    return [Slab(d, plate[first - 1 : last + 1]) for d, first, last in zip(places, at, at[1:])]


def run(slabs: list[Slab], steps: int, begin: int = 0) -> float:
    """Seconds for `steps` steps, of which the first is number `begin`."""
    for slab in slabs:
        slab.wait()
    start = time.perf_counter()
    for t in range(begin, begin + steps):
        for k, slab in enumerate(slabs):
            slab.compute(t, slabs[max(k - 1, 0) : k] + slabs[k + 1 : k + 2])
        for k, slab in enumerate(slabs):
            slab.send(t, slabs[k - 1] if k else None, slabs[k + 1] if k + 1 < len(slabs) else None)
    for slab in slabs:
        slab.wait()
    return time.perf_counter() - start


def gathered(slabs: list[Slab], plate: Plate, t: int) -> Plate:
    """The plate after t steps; its border never changes."""
    return np.concatenate([plate[:1], *(slab.arrays[t % 2].copy_to_host()[1:-1] for slab in slabs), plate[-1:]])


def reference(plate: Plate, steps: int) -> npt.NDArray[np.float64]:
    u = plate.astype(np.float64)
    for _ in range(steps):
        u[1:-1, 1:-1] += R * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return u


def hot_plate(rows: int, columns: int) -> Plate:
    plate = np.zeros((rows, columns), np.float32)
    plate[rows // 4 : rows // 2, columns // 4 : columns // 2] = 1
    return plate


def checked(devices: list[cuda.Device], each: int) -> bool:
    """Does a small plate agree with NumPy."""
    plate, steps = hot_plate(130, 97), 25
    slabs = cut(plate, devices, each)
    run(slabs, steps)
    # The scheme is a weighted mean, so errors do not grow from step to step. One step adds at most five roundings of values up to 4 times r,
    # and two of values up to 1.
    bound = steps * (5 * 4 * R + 2) * np.finfo(np.float32).eps / 2
    error = np.abs(gathered(slabs, plate, steps) - reference(plate, steps)).max()
    print(f"  {len(slabs)} slabs: largest error {error:.1e}, bound {bound:.1e}")
    return bool(error <= bound)


def main() -> int:
    parser = argparse.ArgumentParser(description="Heat on a plate over all GPUs of a machine.")
    for name in "devices", "slabs", "rows", "columns", "steps":
        parser.add_argument(f"--{name}", type=int)
    args = parser.parse_args()
    found = list(cuda.gpus) or [cuda.get_current_device()]
    found = found[: args.devices]
    big = not found[0].is_host
    rows, columns, steps = args.rows or (16384 if big else 512), args.columns or (16384 if big else 512), args.steps or (200 if big else 50)
    each = args.slabs or (1 if big else 2)
    print(f"{steps} heat steps of {rows} x {columns} float32 on {', '.join(d.name for d in found)}")
    if not all([checked(found[:n], k) for n in range(1, len(found) + 1) for k in sorted({1, each})]):
        print("does NOT match NumPy")
        return 1
    print("matches NumPy")
    plate = hot_plate(rows, columns)
    seconds: list[float] = []
    for n in range(1, len(found) + 1):
        slabs = cut(plate, found[:n], each)
        run(slabs, 4)  # the first launches
        seconds.append(run(slabs, steps, 4))
        traffic = 2 * plate.nbytes * steps / seconds[-1]  # each value read and written once a step
        print(f"  {n} device{'s' * (n > 1)}: {1e3 * seconds[-1] / steps:.3f} ms a step, {traffic / 1e9:.0f} GB/s, {seconds[0] / seconds[-1]:.2f} times the speed of 1")
        del slabs
    return 0


if __name__ == "__main__":
    sys.exit(main())
