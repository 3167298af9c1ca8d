"""Timelines of what the runtime does, for Perfetto (https://ui.perfetto.dev) and Chrome's `about:tracing`."""

from __future__ import annotations

import os
from types import TracebackType

from tiree import _native


class trace:
    """Writes a timeline of all calls of the process to `path` while the `with` block runs.

    One timeline is written at a time: RuntimeError when there is one already, also one that another thread began.
    OSError when the file cannot be written, before the block runs. The file can be read after an exception in the
    block, and even when the process ends without leaving it; then up to a tenth of a second of events is missing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __enter__(self) -> trace:
        _native.begin_trace(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            _native.end_trace()
        except OSError as incomplete:
            if error is None:
                raise
            # The error of the block says more than that of its record.
            error.add_note(str(incomplete))

    def __repr__(self) -> str:
        return f"tiree.runtime.trace({self.path!r})"
