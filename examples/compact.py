"""Keep the positive numbers of an array, in their order: an exclusive scan of a block finds their places, and one of the blocks' counts where each block begins."""

import sys

import numpy as np
from pyptx import cuda

THREADS, ITEMS = 256, 4


@cuda.jit
def count_kept(x: cuda.Array, counts: cuda.Array) -> None:
    block = cuda.coop.this_block(THREADS)
    mine = cuda.local.array(ITEMS, np.float32)
    block.load(x, mine, cuda.blockIdx.x * THREADS * ITEMS, arrangement="striped")
    kept = 0
    for k in range(ITEMS):
        kept += mine[k] > 0
    kept = block.sum(kept)
    if cuda.threadIdx.x == 0:
        counts[cuda.blockIdx.x] = kept


@cuda.jit
def first_places(counts: cuda.Array) -> None:
    """One block: each count becomes the sum of those before it."""
    block = cuda.coop.this_block(THREADS)
    before = 0
    for start in range(0, counts.size, THREADS):
        i = start + cuda.threadIdx.x
        place, total = block.exclusive_sum(counts[i] if i < counts.size else 0, total=True)
        if i < counts.size:
            counts[i] = before + place
        before += total


@cuda.jit
def keep(x: cuda.Array, first: cuda.Array, out: cuda.Array) -> None:
    block = cuda.coop.this_block(THREADS)
    mine = cuda.local.array(ITEMS, np.float32)
    block.load(x, mine, cuda.blockIdx.x * THREADS * ITEMS, arrangement="transposed")  # each thread has neighbouring elements
    kept = 0
    for k in range(ITEMS):
        kept += mine[k] > 0
    place = first[cuda.blockIdx.x] + block.exclusive_sum(kept)
    for k in range(ITEMS):
        if mine[k] > 0:
            out[place] = mine[k]
            place += 1


def main() -> int:
    device = cuda.get_current_device()
    n = 5_000_001 if not device.is_host else 200_001
    print(f"positive numbers among {n} on {device.name}")
    x = np.random.default_rng(5).standard_normal(n).astype(np.float32)
    blocks = -(-n // (THREADS * ITEMS))
    d_x, first, out = cuda.to_device(x), cuda.device_array(blocks, np.int64), cuda.device_array(n, np.float32)
    count_kept[blocks, THREADS](d_x, first)
    first_places[1, THREADS](first)
    keep[blocks, THREADS](d_x, first, out)
    want = x[x > 0]
    got = out.copy_to_host()[: want.size]
    correct = np.array_equal(got, want)
    print(f"  {want.size} kept; the first: {got[:3]}")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
