"""What type checkers are told of a kernel's arguments."""

from typing import Any, Protocol


class Array(Protocol):
    """An array as a kernel sees it, for annotations. pyptx itself ignores them: types come from the arguments.

    NumPy arrays, device arrays and arrays of other libraries that have these members are Arrays to a type checker;
    elements are ``Any``.

    Example:

        @cuda.jit
        def double(x: cuda.Array, n: int) -> None:
            i = cuda.grid(1)
            if i < n:
                x[i] *= 2
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> Any: ...  # in kernels an int; a tensor of PyTorch has a method of this name
    @property
    def dtype(self) -> Any: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
