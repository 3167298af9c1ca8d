"""The IR of each kernel: in tensors when its strategy has been chosen, and in loops before it becomes machine code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tiree.dialects.hal_executable import ExecutableVariantOp
from tiree.report.snapshots import printed
from tiree.support.symbols import defined_symbol

LINES = 400
"""Of one kernel in one form; what is longer is cut."""
LIMIT = 1_000_000
"""Characters of all kernels in one form."""


class Kernels:
    """The texts, by executable and export."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def note(self, module: ModuleOp, form: str, backend: str = "") -> None:
        """Keeps how the kernels look now; those for one backend, if it is named."""
        kept = 0
        for executable in module.body.block.ops:
            if executable.name == "hal.executable":
                for variant, exports, function in _functions(executable, backend):
                    name = defined_symbol(function) or ""
                    if name in exports and kept < LIMIT:
                        try:
                            lines = printed(function, LINES)
                        except RecursionError:
                            lines = ["// nested too deeply to be printed"]
                        kept += sum(map(len, lines))
                        kernels = self._texts.setdefault((defined_symbol(executable) or "", name), [])
                        kernels.append({"variant": variant, "form": form, "lines": lines})

    def of(self, executable: str, export: str) -> list[dict[str, Any]]:
        """The forms of one kernel, in the order of compilation."""
        return self._texts.get((executable, export), [])


def _functions(executable: Operation, backend: str) -> Iterator[tuple[str, set[str], Operation]]:
    for variant in executable.regions[0].block.ops:
        if not isinstance(variant, ExecutableVariantOp) or backend not in ("", variant.target.backend.data):
            continue
        ops = list(variant.walk())
        exports = {defined_symbol(op) or "" for op in ops if op.name == "hal.executable.export"}
        for op in ops:
            if op.name == "func.func":
                yield defined_symbol(variant) or "", exports, op
