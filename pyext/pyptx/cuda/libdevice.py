"""NVIDIA's libdevice, function by function: ``libdevice.erfcinv(x)``, ``libdevice.fma_rd(x, y, z)`` in a kernel.

Arguments are converted to the types that libdevice declares. What its C functions write to addresses is returned in a tuple, after the result:
``m, e = libdevice.frexp(x)``, ``s, c = libdevice.sincosf(x)``. Unsigned integers are passed and returned as the bits of signed ones.
"""

from pyptx import _pyptx

_space = _pyptx.intrinsics["libdevice"]
__all__ = sorted(dir(_space))
globals().update({name: getattr(_space, name) for name in __all__})
