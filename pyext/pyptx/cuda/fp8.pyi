"""Conversions to floats of 8 bits in kernels, with the names of CUDA C++'s cuda_fp8.h: cvt_float_to_fp8, fp8_e4m3 …"""

import enum
from typing import Any

class saturation_t(enum.IntEnum):
    NOSAT = 0
    SATFINITE = 1

class fp8_interpretation_t(enum.IntEnum):
    E4M3 = 0
    E5M2 = 1

class cudaRoundMode(enum.IntEnum):
    cudaRoundZero = 1
    cudaRoundPosInf = 2

def __getattr__(name: str) -> Any: ...
