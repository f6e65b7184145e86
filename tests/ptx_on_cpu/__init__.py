"""PTX without a GPU: translated to C, and run on the CPU where every access to memory is checked. For tests of LLVM's NVPTX back end and
of what pyptx does to its output; grids and clusters whose threads wait for one another are refused."""

from .machine import CC, Program, choose, clear, most
from .parse import Unknown

__all__ = ["CC", "Program", "Unknown", "choose", "clear", "most"]
