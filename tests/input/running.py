"""How tests of the input stage run a program."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import tiree


def run(text: str, *arguments: Any) -> list[np.ndarray]:
    """The results of the function `f` of `text`."""
    found: Any = tiree.load(tiree.compile(text), device="local-sync").f(*arguments)
    results = cast("tuple[Any, ...]", found) if isinstance(found, tuple) else (found,)
    return [np.asarray(one) for one in results]
