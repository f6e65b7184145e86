from typing import Any

from pyptx.cuda.coop import Block, Tile

class GridGroup:
    """What this_grid() gives."""
    @staticmethod
    def sync() -> Any:
        """Wait until all threads of the grid arrive; memory written before it is seen by all of them after it."""

class ClusterGroup:
    """What this_cluster() gives: the blocks of one cluster, k[grid, block, stream, shared, cluster]. One block in a launch without."""
    @staticmethod
    def block_rank() -> int:
        """Number of this block in its cluster, x fastest."""
    @staticmethod
    def num_blocks() -> int:
        """Blocks of the cluster."""
    @staticmethod
    def block_index() -> tuple[int, int, int]:
        """Index of this block in its cluster."""
    @staticmethod
    def dim_blocks() -> tuple[int, int, int]:
        """Blocks of the cluster along each axis."""
    @staticmethod
    def sync() -> None:
        """Wait until all threads of the cluster that have not ended arrive; memory written before it is seen by all of them after it."""
    @staticmethod
    def barrier_arrive() -> None:
        """The first half of sync()."""
    @staticmethod
    def barrier_wait() -> None:
        """The second half of sync()."""
    @staticmethod
    def map_shared_rank(array: Any, rank: int) -> Any:
        """The shared array of this block as the block of that rank has it; sync() before its first use and after its last."""

def this_cluster() -> ClusterGroup:
    """The blocks of this block's cluster."""

def this_grid() -> GridGroup:
    """The group of all threads of the launch."""

def this_thread_block(threads: int | tuple[int, ...] | None = None) -> Block:
    """cuda.coop.this_block."""

def this_warp() -> Tile:
    """cuda.coop.this_warp."""

def tiled_partition(group: Block | int, size: int | None = None) -> Tile:
    """cuda.coop.tiled_partition."""
