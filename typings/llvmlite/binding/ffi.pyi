from types import TracebackType
from typing import Any, Self

# The C functions by name.
lib: Any

class ObjectRef:
    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None: ...

class OutputString:
    def __init__(self, owned: bool = True, init: object = None) -> None: ...
    def __enter__(self) -> OutputString: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None: ...
