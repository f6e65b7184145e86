"""Functions of bfloat16 in kernels, with the names of CUDA C++'s cuda_bf16.h: hadd, hfma_relu, int32_to_bfloat16_rz …"""

from typing import Any

from pyptx.types import bfloat16 as bfloat16

def __getattr__(name: str) -> Any: ...
