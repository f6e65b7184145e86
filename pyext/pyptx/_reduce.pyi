"""Reductions of arrays."""

from collections.abc import Callable, Iterable
from typing import Any, final

_Axis = int | tuple[int, ...] | None

@final
class Reduce:
    """What @cuda.reduce makes."""

    __name__: str
    py_func: Callable[..., Any]
    def __init__(self, functor: Callable[..., Any]) -> None: ...
    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0, *, axis: _Axis = ...,
                 keepdims: bool = False) -> Any: ...

def reduce(function: Callable[..., Any], array: Any, axis: _Axis = None, init: Any = ..., out: Any = None, stream: Any = 0,
           kernels: dict[Any, Any] | None = None, options: dict[str, Any] | None = None, keepdims: bool = False, ordered: Iterable[Any] = (),
           dtype: Any = None, load: Callable[..., Any] | None = None) -> Any: ...
