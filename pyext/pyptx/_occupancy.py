"""Occupancy without a GPU: how many blocks of a kernel a multiprocessor of an architecture can hold
at once.

The limits are those of the table "Technical Specifications per Compute Capability" of NVIDIA's CUDA
C++ programming guide (CUDA 13). How registers and shared memory are handed out is said there and by
the occupancy calculator that comes with the toolkit; a test compares with its header."""

from typing import NamedTuple

WARP = 32
REGISTERS = 65536  # of a multiprocessor, and the most of a block
PARTITIONS = 4  # of a multiprocessor: each has a fourth of its registers and of its warps
REGISTERS_UNIT = 256  # a warp gets a multiple
MOST_REGISTERS = 255  # of a thread


class Limits(NamedTuple):
    """Of a multiprocessor: resident threads and blocks, KB of shared memory; KB a block can have;
    bytes that the system keeps for each block; what a block gets is a multiple of `unit` bytes."""

    threads: int
    blocks: int
    shared: int
    shared_block: int
    reserved: int = 1024
    unit: int = 128


LIMITS = {  # compute capability, as 90 for 9.0
    75: Limits(1024, 16, 64, 64, 0, 256),
    80: Limits(2048, 32, 164, 163),
    86: Limits(1536, 16, 100, 99),
    87: Limits(1536, 16, 164, 163),
    88: Limits(1536, 16, 100, 99),
    89: Limits(1536, 24, 100, 99),
    90: Limits(2048, 32, 228, 227),
    100: Limits(2048, 32, 228, 227),
    103: Limits(2048, 32, 228, 227),
    110: Limits(1536, 24, 228, 227),
    120: Limits(1536, 24, 100, 99),
    121: Limits(1536, 24, 100, 99),
}

GPUS = {  # names by which --arch and inspect_sass(arch=) know them
    "t4": 75, "rtx2080": 75, "a100": 80, "a30": 80, "a40": 86, "a10": 86, "rtx3090": 86, "rtx3080": 86, "orin": 87, "l4": 89, "l40": 89, "l40s": 89,
    "rtx4090": 89, "rtx4080": 89, "h100": 90, "h200": 90, "gh200": 90, "b200": 100, "gb200": 100, "b300": 103, "gb300": 103, "thor": 110,
    "rtx5090": 120, "rtx5080": 120, "rtxpro6000": 120, "gb10": 121, "spark": 121,
}  # fmt: skip


class Occupancy(NamedTuple):
    """Blocks that a multiprocessor holds at once, the part of its warps that they fill (0 to 1),
    and what limits them."""

    blocks: int
    part: float
    limit: str


def capability(arch):
    """90 of "sm_90a"."""
    return int(arch.removeprefix("sm_").rstrip("af"))


def _up(n, unit):
    return -(-n // unit) * unit


def occupancy(arch, threads, registers, shared):
    """Of blocks of `threads` threads of `registers` registers, with `shared` bytes of shared
    memory, static and dynamic. None where the limits of the architecture are not known."""
    limits = LIMITS.get(capability(arch))
    if limits is None:
        return None
    warps = _up(threads, WARP) // WARP
    taken = _up(warps, PARTITIONS)  # what a block may have is counted for whole rows of warps
    of_warp = _up(max(registers, 1) * WARP, REGISTERS_UNIT)
    by = {
        "blocks": limits.blocks,
        "warps": limits.threads // WARP // warps,
        "registers": REGISTERS // PARTITIONS // of_warp * PARTITIONS // warps if of_warp * taken <= REGISTERS else 0,
    }
    size = _up(shared + limits.reserved, limits.unit)
    if size:
        by["shared memory"] = limits.shared * 1024 // size if shared <= limits.shared_block * 1024 else 0
    limit = min(by, key=by.get)
    blocks = by[limit]
    return Occupancy(blocks, blocks * warps * WARP / limits.threads, limit)


def report(name, arch, usage, dynamic_shared=0, block=None):
    """Lines for people: what ptxas says of a kernel, and its occupancy for some sizes of blocks, or
    for one."""
    yield (f"{name}, {arch}: {usage.registers} registers a thread, {usage.shared} bytes of static shared memory a block, "
           f"{usage.stack} bytes of stack, spills of {usage.spill_stores} bytes stored and {usage.spill_loads} loaded")
    for threads in (block,) if block else (128, 256, 512, 1024):
        found = occupancy(arch, threads, usage.registers, usage.shared + dynamic_shared)
        if found is None:
            yield f"{name}, {arch}: the limits of this architecture are not known, so its occupancy is not"
            return
        if not found.blocks:
            yield f"{name}, {arch}: a block of {threads} threads cannot run: too many {found.limit}" if found.limit == "registers" else \
                f"{name}, {arch}: a block of {threads} threads cannot run: too much {found.limit}"
            continue
        yield (f"{name}, {arch}: {threads} threads a block: {found.blocks} block{'s' * (found.blocks != 1)} a multiprocessor, "
               f"occupancy {found.part:.0%}, limited by {found.limit}")
