"""Several threads at once, and what one of them raised."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

# Seconds, for what ends by itself.
LIMIT = 60


def in_threads(works: Sequence[Callable[[], None]]) -> None:
    """Runs them at once; raises what one raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure
