from typing import Any

from pyptx.cuda.coop import Block, Tile

class GridGroup:
    """What this_grid() gives."""
    @staticmethod
    def sync() -> Any:
        """Wait until all threads of the grid arrive; memory written before it is seen by all of them after it."""

def this_grid() -> GridGroup:
    """The group of all threads of the launch."""

def this_thread_block(threads: int | tuple[int, ...] | None = None) -> Block:
    """cuda.coop.this_block."""

def this_warp() -> Tile:
    """cuda.coop.this_warp."""

def tiled_partition(group: Block | int, size: int | None = None) -> Tile:
    """cuda.coop.tiled_partition."""
