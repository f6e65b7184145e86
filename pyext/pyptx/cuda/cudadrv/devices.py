"""Devices and contexts, as numba.cuda.cudadrv.devices names them."""

from pyptx.cuda import close as reset
from pyptx.cuda import current_context as get_context
from pyptx.cuda import gpus, require_context

__all__ = ["get_context", "gpus", "require_context", "reset"]
