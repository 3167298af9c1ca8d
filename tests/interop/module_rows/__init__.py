"""The table of modules that iree-compile 3.13 makes and Tiree's runtime runs: `ROWS`, gathered by subject."""

from __future__ import annotations

from interop.module_rows import elements, programs, settings
from interop.module_rows.row import Row

ROWS: tuple[Row, ...] = (*elements.ROWS, *programs.ROWS, *settings.ROWS)
