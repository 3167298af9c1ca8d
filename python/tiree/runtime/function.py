"""`FunctionInvoker`: a function of a bound module, callable with arrays and numbers; how asyncio waits for a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiree._native import FunctionInvoker, Invocation

if TYPE_CHECKING:
    import asyncio

__all__ = ["FunctionInvoker", "Invocation", "drive"]


async def drive(invocation: Invocation) -> Any:
    """Runs a started call inside asyncio, letting other tasks run while it waits, and gives its results.

    This is what `await invocation` does. Raises what the call raises.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    while not invocation.step():
        ready: asyncio.Future[None] = loop.create_future()
        invocation.on_ready(lambda ready=ready: _wake_soon(loop, ready))
        left = invocation.time_left
        timer = None if left is None else loop.call_later(left, _wake, ready)
        await ready
        if timer is not None:
            timer.cancel()
    return invocation.results()


def _wake_soon(loop: asyncio.AbstractEventLoop, ready: asyncio.Future[None]) -> None:
    """Called on any thread. A loop that was closed meanwhile has nobody waiting."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(_wake, ready)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
