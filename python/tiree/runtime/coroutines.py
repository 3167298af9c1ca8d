"""Where the coroutines of Python modules run: in the event loop that drives the call, or in one of the process; and
the threads that help event loops with calls that compute for long.

Called natively: `launch` when a function of a Python module returned a coroutine, `cancel` when the call ended first.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tiree._native import HalFence

# What the call that waits for this coroutine leaves to the calls that it makes.
share_of_call: contextvars.ContextVar[object] = contextvars.ContextVar("share_of_call", default=None)

Started = asyncio.Task[Any] | Future[Any]

_lock = threading.Lock()
_background: tuple[threading.Thread, asyncio.AbstractEventLoop] | None = None
_helpers: ThreadPoolExecutor | None = None


def _after_fork() -> None:
    """The thread is gone in a forked child, and whoever held the lock."""
    global _lock, _background, _helpers
    _lock, _background, _helpers = threading.Lock(), None, None


os.register_at_fork(after_in_child=_after_fork)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Runs `loop` for good. SystemExit and KeyboardInterrupt end a run of the loop, after the task that raised them has
    them as its result: the call gets them, and the tasks of others go on."""
    while not loop.is_closed():
        with contextlib.suppress(BaseException):
            loop.run_forever()


def background_loop() -> asyncio.AbstractEventLoop:
    """A loop in a daemon thread, for coroutines of calls that no event loop drives. A forked child gets its own."""
    global _background
    with _lock:
        if _background is None or not _background[0].is_alive():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), name="tiree-coroutines", daemon=True)
            thread.start()
            _background = thread, loop
        return _background[1]


def helpers() -> ThreadPoolExecutor:
    """Threads for what event loops have no time for. What they are given does not wait for each other."""
    global _helpers
    with _lock:
        if _helpers is None:
            _helpers = ThreadPoolExecutor(min(32, (os.cpu_count() or 1) + 4), thread_name_prefix="tiree-helper")
        return _helpers


def launch(
    coroutine: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop | None, ended: HalFence, share: object
) -> Started:
    """Starts `coroutine` in `loop`, on this thread; without one, in that of the process. Signals `ended` at its end.

    RuntimeError when this thread is the one of that loop: the call that waits would keep it from running.
    """
    if loop is None and _background is not None and asyncio.events._get_running_loop() is _background[1]:
        coroutine.close()
        raise RuntimeError("the call would wait for a coroutine in the event loop of this thread; use await")
    context = contextvars.copy_context()
    context.run(share_of_call.set, share)
    started: Started
    if loop is None:
        started = context.run(asyncio.run_coroutine_threadsafe, coroutine, background_loop())
    else:
        started = loop.create_task(coroutine, context=context)
    started.add_done_callback(lambda _: ended.signal())
    return started


def cancel(started: Started) -> None:
    """Cancels a coroutine that nobody waits for any more, from any thread."""
    started.add_done_callback(_look_at)
    if isinstance(started, Future):
        started.cancel()
        return
    loop = started.get_loop()
    if asyncio.events._get_running_loop() is loop:
        started.cancel()
    elif not loop.is_closed():
        loop.call_soon_threadsafe(started.cancel)


def _look_at(ended: Started) -> None:
    """So that asyncio does not report an exception that nobody asked for."""
    if not ended.cancelled():
        ended.exception()
