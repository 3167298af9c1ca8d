"""The page of the table, `docs/reference/iree_modules.md`. `python tests/interop/module_rows/page.py` writes it."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "docs" / "reference" / "iree_modules.md"

_HEAD = """# Modules of iree-compile that run

Each row is a module that iree-compile 3.13 makes. `tests/interop/test_module_table.py` compiles all of them, calls
their functions in `tiree-run-module` and through `tiree.runtime`, on local-sync and local-task, and compares with what
iree-run-module 3.13 prints and writes: byte for byte. `python tests/interop/module_rows/page.py` writes this page.

{count} modules, {calls} calls.

| subject | module | backend | calls |
|---|---|---|---|
"""

_TAIL = """
What iree-compile 3.13 refuses is not in the table: kernels of f16, bf16 and complex numbers for VMVX, rank-0 tensors of
2 and 4 bits, scalar results of async-external functions. What differs:

- Tensors of 2 and 4 bits have no text form in iree-run-module; their bytes are compared. Tiree prints them.
- `--input=` text: Tiree reads the nearest value of 8-bit floats, subnormals included; iree-run-module makes zero of
  subnormals. The bits of a NaN in text are up to the reader.
- `--input=i1` values are hex bytes in iree-run-module (`01 00`); Tiree also takes `1 0` and `true false`.
- Sizes of dynamic dimensions that disagree (`tensor<?xf32>` of 5 and of 3 elements, added): kernels of iree-compile do
  not check and read beyond the smaller one, in every runtime; modules of tiree-compile refuse the call. What can be
  checked from outside, declared types, ranks and static dimensions, is.
- iree-run-module has no `check` module; Tiree's is tested with bytecode of its own
  (`tests/interop/test_other_imports.py`).
"""


def page() -> str:
    """The text of the page."""
    from interop.module_rows import ROWS

    lines = []
    for _, rows in groupby(ROWS, lambda row: row.subject):
        for row in rows:
            count = f"{len(row.calls)}, then in sequence" if row.state else str(len(row.calls))
            name = row.name.removesuffix(f", {row.backend}")
            lines.append(f"| {row.subject} | {name} | {row.backend} | {count} |")
    calls = sum(len(row.calls) for row in ROWS)
    return _HEAD.format(count=len(ROWS), calls=calls) + "\n".join(lines) + "\n" + _TAIL


if __name__ == "__main__":
    sys.path.insert(0, str(REPOSITORY / "tests"))
    PAGE.write_text(page())
