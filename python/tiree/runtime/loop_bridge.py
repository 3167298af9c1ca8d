"""`HalDeviceLoopBridge`: semaphores of a device as futures of an asyncio loop. No thread waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from tiree._native import HalDevice, HalSemaphore


class HalDeviceLoopBridge:
    """Turns points on timelines into futures of `loop`."""

    def __init__(self, device: HalDevice, loop: asyncio.AbstractEventLoop) -> None:
        self._device = device
        self._loop = loop
        self._stopped = False

    def on_semaphore(self, semaphore: HalSemaphore, payload: int, value: Any) -> asyncio.Future[Any]:
        """A future that gets `value` when `semaphore` reaches `payload`, or the exception of its failure.

        Raises `RuntimeError` after `stop()`.
        """
        if self._stopped:
            raise RuntimeError("the loop bridge was stopped")
        future: asyncio.Future[Any] = self._loop.create_future()

        def finish() -> None:
            if future.done():
                return
            try:
                semaphore.query()
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(value)

        def reached() -> None:
            # On whatever thread signals; a loop that is closed has nobody waiting.
            if not self._stopped and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(finish)

        semaphore.on_reached(payload, reached)
        return future

    def stop(self) -> None:
        """Signals that come later are not passed on."""
        self._stopped = True
