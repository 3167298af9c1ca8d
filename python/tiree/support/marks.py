"""Attributes that tell a later phase what an earlier one has made sure of."""

from __future__ import annotations

SCHEDULED = "tiree.scheduled"
"""On a module: Tiree decided what device work does with arguments. It only reads them, and its kernels take memory that
is aligned to 16 bytes. Other compilers write to arguments in place, and their kernels need 64."""
FOREIGN_SCHEDULE = ("tiree.schedule", "foreign")
"""In a module file whose device work is not `SCHEDULED` by Tiree: the runtime hands it copies of a caller's arrays."""
SIZE_CHECK = "tiree.size_check"
"""On a `cf.assert`: it compares sizes of what the caller passed. Its failure is INVALID_ARGUMENT."""
INLINED = "tiree.inlined"
"""On a `hal.executable.export`: the function of the host program that does what the dispatch does."""
