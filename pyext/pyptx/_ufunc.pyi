"""Functions of numbers as functions of arrays."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, final, overload

import numpy as np

from pyptx.types import Type

_Signature = str | Type | tuple[Any, ...]
# Lambdas: a checker takes their parameters from here, and none from Callable[..., Any].
_Lambda = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
_Target = Literal["cuda", "gpu", "cpu", "parallel"]

@final
class UFunc:
    """What @vectorize makes."""

    __name__: str
    py_func: Callable[..., Any]
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    max_blocksize: int
    def __init__(self, function: Callable[..., Any], signatures: Iterable[_Signature] = (), identity: Any = None, host: bool = False,
                 options: dict[str, Any] | None = None) -> None: ...
    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any: ...
    def reduce(self, array: Any, axis: int | tuple[int, ...] | None = 0, stream: Any = 0, out: Any = None) -> Any: ...

def elementwise(function: Callable[..., Any], *inputs: Any, out: Any = None, stream: Any = 0) -> Any: ...
@overload
def vectorize(signatures: _Lambda, target: _Target = "cuda", identity: Any = None, **options: Any) -> UFunc: ...
@overload
def vectorize(signatures: Callable[..., Any], target: _Target = "cuda", identity: Any = None, **options: Any) -> UFunc: ...
@overload
def vectorize(signatures: _Signature | Iterable[_Signature] = (), target: _Target = "cuda", identity: Any = None,
              **options: Any) -> Callable[[Callable[..., Any]], UFunc]: ...
def dtype_of(kind: Type) -> np.dtype[Any]: ...
