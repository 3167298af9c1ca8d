"""Types of callbacks, with IREE's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiree._native import HalBufferView

TraceKey = str
"""The name that a program gives to what it traces."""

HalModuleBufferViewTraceCallback = Callable[[TraceKey, list["HalBufferView"]], None]
"""What `HalModuleDebugSink` calls for each trace."""
