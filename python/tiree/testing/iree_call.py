"""One call in IREE's runtime: `python -m tiree.testing.iree_call FUNCTION ARGUMENT... MODULE...`.

Prints `ready` when the modules are loaded, then the outcome: a status code and the results as letter:bits.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tiree.testing.runners import Iree


def main() -> None:
    """Arguments are whole numbers, modules are paths."""
    function, *rest = sys.argv[1:]
    numbers = [int(text) for text in rest if text.isdigit()]
    runner = Iree([Path(text).read_bytes() for text in rest if not text.isdigit()])
    print("ready", flush=True)
    outcome = runner.call(function, numbers)
    print(outcome.code, *(f"{kind}:{bits}" for kind, bits in outcome.results), flush=True)


if __name__ == "__main__":
    main()
