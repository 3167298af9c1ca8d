"""`FunctionInvoker`: a function of a bound module, callable with arrays and numbers; how asyncio waits for a call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tiree._native import FunctionInvoker, Invocation

if TYPE_CHECKING:
    import asyncio

__all__ = ["FunctionInvoker", "Invocation", "drive"]


async def drive(invocation: Invocation) -> Any:
    """Runs a call inside asyncio, letting other tasks run while it waits, and gives its results.

    This is what `await invocation` does. Raises what the call raises. When it is cancelled, the call stays where it is
    and can be awaited again.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    while not invocation.step(loop):
        ready: asyncio.Future[None] = loop.create_future()
        invocation.on_ready(partial(_wake_soon, loop, ready))
        left = invocation.time_left
        timer = None if left is None else loop.call_later(left, _wake, ready)
        try:
            await ready
        finally:
            if timer is not None:
                timer.cancel()
    return invocation.results()


async def drive_or_cancel(invocation: Invocation) -> Any:
    """As `drive`, for calls that nobody else knows: when it is cancelled, the call ends. This is `call_async`."""
    try:
        return await drive(invocation)
    except BaseException:
        invocation.cancel()
        raise


def _wake_soon(loop: asyncio.AbstractEventLoop, ready: asyncio.Future[None]) -> None:
    """Called on any thread. A loop that was closed meanwhile has nobody waiting."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(_wake, ready)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
