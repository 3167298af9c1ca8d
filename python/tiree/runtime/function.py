"""`FunctionInvoker`: a function of a bound module, callable with arrays and numbers; how asyncio waits for a call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from tiree._native import FunctionInvoker, Invocation

if TYPE_CHECKING:
    import asyncio

__all__ = ["FunctionInvoker", "Invocation", "drive"]

# What the calls of a context hold, one at a time, while a thread helps the loop with one. Keyed by loop and context,
# which live as long as calls in them do.
_lanes: WeakValueDictionary[tuple[int, int], asyncio.Lock] = WeakValueDictionary()


async def drive(invocation: Invocation) -> Any:
    """Runs a call inside asyncio, letting other tasks run while it waits or computes for long, and gives its results.

    This is what `await invocation` does. Raises what the call raises. When it is cancelled, the call stays where it is
    and can be awaited again.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    place = id(loop), invocation.context_id
    while True:
        # Calls that share variables take turns, as they would on the loop's thread.
        ended = None if place in _lanes else invocation.turn(loop)
        if ended is None:
            ended = await _with_help(invocation, loop, place)
        if ended:
            return invocation.results()
        if ended is False:
            ready: asyncio.Future[None] = loop.create_future()
            invocation.on_ready(partial(_wake_soon, loop, ready))
            left = invocation.time_left
            timer = None if left is None else loop.call_later(left, _wake, ready)
            try:
                await ready
            finally:
                if timer is not None:
                    timer.cancel()


async def _with_help(invocation: Invocation, loop: asyncio.AbstractEventLoop, place: tuple[int, int]) -> bool | None:
    """A turn of the call that another thread may do: whether the call has ended, None when there is more to do."""
    import asyncio
    import contextvars

    lane = _lanes.get(place)
    if lane is None:
        lane = _lanes[place] = asyncio.Lock()
    try:
        async with asyncio.timeout(invocation.time_left):
            await lane.acquire()
    except TimeoutError:
        # Raises, as the time of the call is over.
        return invocation.turn(loop)
    helped: asyncio.Future[None] = loop.create_future()
    handed_on = False
    try:
        ended = invocation.turn(loop)
        if ended is not None:
            return ended
        try:
            # Not for short calls.
            from tiree.runtime.coroutines import helpers

            work = helpers().submit(contextvars.copy_context().run, invocation.help)
        except RuntimeError:
            # The interpreter is about to end, and starts no more threads.
            return invocation.help()
        # Also when nobody waits for it any more.
        work.add_done_callback(partial(_helped_soon, loop, lane, helped))
        handed_on = True
    finally:
        if not handed_on:
            lane.release()
    await helped
    return work.result()


def _helped_soon(
    loop: asyncio.AbstractEventLoop, lane: asyncio.Lock, helped: asyncio.Future[None], _work: object
) -> None:
    """Called on any thread."""

    def out() -> None:
        lane.release()
        _wake(helped)

    _soon(loop, out)


async def drive_or_cancel(invocation: Invocation) -> Any:
    """As `drive`, for calls that nobody else knows: when it is cancelled, the call ends. This is `call_async`."""
    try:
        return await drive(invocation)
    except BaseException:
        invocation.cancel()
        raise


def _wake_soon(loop: asyncio.AbstractEventLoop, ready: asyncio.Future[None]) -> None:
    """Called on any thread. A loop that was closed meanwhile has nobody waiting."""
    _soon(loop, partial(_wake, ready))


def _soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    # RuntimeError from one that is closed.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
