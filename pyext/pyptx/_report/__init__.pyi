from pathlib import Path
from typing import Any

class Report:
    """What became of a kernel: `data` is a list of dicts, one a signature; `html` the page."""

    data: list[dict[str, Any]]
    def __init__(self, data: list[dict[str, Any]]) -> None: ...
    @property
    def html(self) -> str: ...
    def save(self, path: str | Path) -> Path: ...
    def open(self) -> Path: ...
    def _repr_html_(self) -> str: ...

def report(
    kernel: Any,
    signature: Any = None,
    *,
    arch: str | None = None,
    gpu: str | None = None,
    block: int | None = None,
    dynamic_shared: int = 0,
) -> Report: ...
