"""`Reduce`, which is `cuda.reduce`."""

from pyptx._reduce import Reduce

__all__ = ["Reduce"]
