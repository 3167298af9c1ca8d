"""`HalExternalTimepoint`: a timepoint on its way from a semaphore to another one, or to another API.

Semaphores of CPU devices export and import those of the type `ASYNC_PRIMITIVE`, as IREE's do, and no events of GPUs.
"""

from __future__ import annotations

from tiree._native import HalSemaphore
from tiree.runtime.enums import ExternalTimepointFlags, ExternalTimepointType, SemaphoreCompatibility


class HalExternalTimepoint:
    """A kind, flags, and the event of a GPU where the kind is one."""

    __slots__ = ("_event", "_exported", "compatibility", "flags", "type")

    def __init__(self) -> None:
        self.compatibility = SemaphoreCompatibility.NONE
        self.flags = ExternalTimepointFlags.NONE
        self.type = ExternalTimepointType.NONE
        self._event = 0
        self._exported: tuple[HalSemaphore, int] | None = None

    def _export(self, semaphore: HalSemaphore, value: int) -> None:
        """Called natively: stands for `semaphore` at `value` from now on."""
        self.type, self.compatibility = ExternalTimepointType.ASYNC_PRIMITIVE, SemaphoreCompatibility.HOST_ONLY
        self._exported = (semaphore, value)

    def _set_event(self, kind: ExternalTimepointType, name: str, event: int) -> None:
        if self.type not in (kind, ExternalTimepointType.NONE):
            raise ValueError(f"Unexpected {name} event for non {name} timepoint")
        self.type, self._event = kind, event

    @property
    def cuda_event(self) -> int:
        """Address of a CUevent; setting it sets the kind. `ValueError` where the timepoint is of another kind."""
        return self._event

    @cuda_event.setter
    def cuda_event(self, event: int) -> None:
        self._set_event(ExternalTimepointType.CUDA_EVENT, "cuda", event)

    @property
    def hip_event(self) -> int:
        """Address of a hipEvent_t; setting it sets the kind. `ValueError` where the timepoint is of another kind."""
        return self._event

    @hip_event.setter
    def hip_event(self, event: int) -> None:
        self._set_event(ExternalTimepointType.HIP_EVENT, "hip", event)
