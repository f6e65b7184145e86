from collections.abc import Callable
from typing import Any, Literal, NamedTuple

_Use = Literal["matrix_a", "matrix_b", "accumulator"]
_Layout = Literal["row_major", "col_major"]

matrix_a: Literal["matrix_a"]
matrix_b: Literal["matrix_b"]
accumulator: Literal["accumulator"]
row_major: Literal["row_major"]
col_major: Literal["col_major"]
mem_row_major: Literal["row_major"]
mem_col_major: Literal["col_major"]

class Fragment(NamedTuple):
    x: Any
    use: str
    shape: str
    dtype: str
    layout: Any

def fragment(use: _Use, m: int, n: int, k: int, dtype: Any, layout: _Layout | None = None) -> Fragment:
    """A fragment of zeros: wmma::fragment<use, m, n, k, dtype, layout>."""

def fill_fragment(f: Fragment, value: Any) -> Fragment:
    """The fragment with `value` in all of its elements."""

def map_fragment(function: Callable[..., Any], a: Fragment, b: Fragment | None = None) -> Fragment:
    """The fragment of function(x), or of function(x, y) with the elements of a second one of the same kind."""

def load_matrix_sync(f: Fragment, array: Any, index: int | tuple[int, int], layout: _Layout | None = None, ldm: int | None = None) -> Fragment:
    """The fragment f with the elements of the tile of `array` that begins at `index`."""

def store_matrix_sync(array: Any, index: int | tuple[int, int], f: Fragment, layout: _Layout, ldm: int | None = None) -> None:
    """Stores an accumulator as the tile of `array` that begins at `index`."""

def mma_sync(a: Fragment, b: Fragment, c: Fragment) -> Fragment:
    """A @ B + C of a warp: the fragment d of C++'s mma_sync(d, a, b, c), of c's kind."""
