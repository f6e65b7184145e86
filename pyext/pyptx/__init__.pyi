"""pyptx: Python functions as GPU kernels."""

from pyptx import cuda as cuda
from pyptx import types as types
from pyptx._gufunc import guvectorize as guvectorize
from pyptx._ufunc import vectorize as vectorize
from pyptx.errors import CompileError as CompileError
from pyptx.types import void as void
from pyptx.types import boolean as boolean
from pyptx.types import int8 as int8
from pyptx.types import int16 as int16
from pyptx.types import int32 as int32
from pyptx.types import int64 as int64
from pyptx.types import uint8 as uint8
from pyptx.types import uint16 as uint16
from pyptx.types import uint32 as uint32
from pyptx.types import uint64 as uint64
from pyptx.types import float16 as float16
from pyptx.types import bfloat16 as bfloat16
from pyptx.types import float32 as float32
from pyptx.types import float64 as float64
from pyptx.types import complex64 as complex64
from pyptx.types import complex128 as complex128
from pyptx.types import b1 as b1
from pyptx.types import i1 as i1
from pyptx.types import i2 as i2
from pyptx.types import i4 as i4
from pyptx.types import i8 as i8
from pyptx.types import u1 as u1
from pyptx.types import u2 as u2
from pyptx.types import u4 as u4
from pyptx.types import u8 as u8
from pyptx.types import f2 as f2
from pyptx.types import f4 as f4
from pyptx.types import f8 as f8
from pyptx.types import c8 as c8
from pyptx.types import c16 as c16
from pyptx.types import intp as intp
from pyptx.types import uintp as uintp
from pyptx.types import intc as intc
from pyptx.types import uintc as uintc
from pyptx.types import from_dtype as from_dtype

__version__: str

def load_ipython_extension(shell: object) -> None: ...
