"""Functions of small arrays over the leading axes of larger ones."""

from collections.abc import Callable, Iterable
from typing import Any, final, overload

from pyptx._ufunc import _Signature, _Target

@final
class GUFunc:
    """What @guvectorize makes."""

    __name__: str
    py_func: Callable[..., Any]
    signature: str
    nin: int
    nout: int
    nargs: int
    types: list[str]
    max_blocksize: int
    def __init__(self, function: Callable[..., Any], layout: str, signatures: Iterable[_Signature], host: bool, options: dict[str, Any]) -> None: ...
    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any: ...

@overload
def guvectorize(layout: str, /, *, target: _Target = "cuda", **options: Any) -> Callable[[Callable[..., Any]], GUFunc]: ...
@overload
def guvectorize(signatures: _Signature | Iterable[_Signature], layout: str, /, *, target: _Target = "cuda",
                **options: Any) -> Callable[[Callable[..., Any]], GUFunc]: ...
