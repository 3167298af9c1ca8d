"""Prints the rows of the table: the largest error of each op and type over all target CPUs and the bytecode kernels.

python -m tests.proofs.accuracy [CHUNKS [OP,...]]
"""

from __future__ import annotations

import sys

from tests.proofs.accuracy.measure import CPUS, TYPES, measure
from tests.proofs.accuracy.ops import OPS


def main() -> int:
    parts = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    ops = tuple(op for op in OPS if len(sys.argv) < 3 or op.name in sys.argv[2].split(","))
    worst: dict[tuple[str, str], float] = {}
    wrong: list[str] = []
    for element in TYPES:
        for op in ops:
            for cpu, found in measure(op, element, CPUS, parts, ops).items():
                worst[op.name, element] = max(worst.get((op.name, element), 0.0), found.worst)
                wrong += [f"{cpu} {element}: {text}" for text in found.other]
            print(f"{op.name} {element}: {worst[op.name, element]:.3f}", file=sys.stderr, flush=True)
    for op in ops:
        print(f"| `{op.name}` | " + " | ".join(f"{worst[op.name, element]:.2f}" for element in TYPES) + " |")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
