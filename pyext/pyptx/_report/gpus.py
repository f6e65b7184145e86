"""GPUs by name: what bounds a kernel there.

Multiprocessors, memory bandwidth and float32 rates are those of NVIDIA's data sheets and
architecture white papers (boost clock, no tensor cores, no sparsity). What a multiprocessor does in
a cycle by type is the table "Throughput of Native Arithmetic Instructions" of the CUDA C++
programming guide; the compute capability is in `_occupancy.GPUS`."""

import re
from typing import NamedTuple

from pyptx._occupancy import GPUS


class Gpu(NamedTuple):
    """title; multiprocessors; GB/s of its memory; TFLOPS of float32."""

    title: str
    multiprocessors: int
    bandwidth: float
    float32: float


TABLE = {
    "h100": Gpu("H100 SXM", 132, 3350, 67),
    "h200": Gpu("H200 SXM", 132, 4800, 67),
    "a100": Gpu("A100 SXM 80 GB", 108, 2039, 19.5),
    "b200": Gpu("B200", 148, 8000, 75),
    "l4": Gpu("L4", 58, 300, 30.3),
    "t4": Gpu("T4", 40, 320, 8.1),
    "a10": Gpu("A10", 72, 600, 31.2),
    "a30": Gpu("A30", 56, 933, 10.3),
    "a40": Gpu("A40", 84, 696, 37.4),
    "l40s": Gpu("L40S", 142, 864, 91.6),
    "rtx3090": Gpu("GeForce RTX 3090", 82, 936, 35.6),
    "rtx4090": Gpu("GeForce RTX 4090", 128, 1008, 82.6),
    "rtx5090": Gpu("GeForce RTX 5090", 170, 1792, 104.8),
}

# Of float32 additions and multiplications a cycle, the part that float64 has.
FLOAT64 = {75: 1 / 32, 80: 1 / 2, 86: 1 / 64, 89: 1 / 64, 90: 1 / 2, 100: 1 / 2, 120: 1 / 64}

DEFAULT = "h100"


def key_of(name):
    """'rtx4090' of "NVIDIA GeForce RTX 4090", 'h100' of "NVIDIA H100 80GB HBM3"; None: not in the
    table."""
    words = re.sub(r"nvidia|geforce|tesla", " ", name.lower()).replace("-", " ").split()
    joined = "".join(words)
    return joined if joined in TABLE else next((word for word in words if word in TABLE), "".join(words[:2]) if "".join(words[:2]) in TABLE else None)


def of_arch(arch):
    """The first GPU of the table for which code for this architecture is made, or None."""
    capability = int(re.sub(r"\D", "", arch))
    return next((key for key in TABLE if GPUS[key] == capability), None)


def facts(key):
    """What the report says of a GPU of the table."""
    gpu, capability = TABLE[key], GPUS[key]
    return {"name": key.upper(), "title": gpu.title, "arch": f"sm_{capability}", "multiprocessors": gpu.multiprocessors, "bandwidth": gpu.bandwidth,
            "float32": gpu.float32, "float64": gpu.float32 * FLOAT64[capability]}  # fmt: skip
