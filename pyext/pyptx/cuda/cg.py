"""Cooperative groups, by the names of CUDA C++: this_grid(), this_cluster(), this_thread_block(),
tiled_partition().

    block = cuda.cg.this_thread_block()
    tile = cuda.cg.tiled_partition(block, 8)
    total = tile.sum(x[i])

A block and a tile are those of pyptx.cuda.coop, whose functions they have.
"""

from pyptx import _pyptx

_intrinsics = _pyptx.intrinsics["cg"]
this_grid = _intrinsics.this_grid
GridGroup = _intrinsics.GridGroup
this_cluster = _intrinsics.this_cluster
ClusterGroup = _intrinsics.ClusterGroup

_COOP = {"this_thread_block": "this_block", "tiled_partition": "tiled_partition", "this_warp": "this_warp"}
_LAZY = frozenset(_COOP)  # what a kernel may name though it is not here yet (snapshot/object.c): it needs NumPy
__all__ = ["ClusterGroup", "GridGroup", "this_cluster", "this_grid", *_COOP]


def __getattr__(name):
    if name in _COOP:
        from pyptx.cuda import coop

        return globals().setdefault(name, getattr(coop, _COOP[name]))
    import difflib

    near = difflib.get_close_matches(name, __all__, n=1, cutoff=0.7)
    raise AttributeError(f"cuda.cg has no attribute '{name}'{f'; did you mean {near[0]!r}?' if near else ''}", name=name)


def __dir__():
    return __all__
