"""What plugins bring to one compilation: passes, where they run, dialects, lowerings, kernels, backends, input formats.

A stage reads `CompileOptions.extensions`, which is empty unless a plugin was named; nothing is registered for the whole
process. Entries are plain values that `tiree.plugins.Registry` has checked. Assumes xDSL only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.ir import Dialect, Operation
    from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Origin:
    """Where an extension comes from."""

    name: str
    """The file or module, as messages name it."""
    digest: str = ""
    """Of the source, in hexadecimal."""
    file: str = ""
    """The file whose lines tracebacks name."""

    @property
    def label(self) -> str:
        """What an artifact says of it: no path, so that the same source gives the same bytes anywhere."""
        stem = self.name.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
        return f"{stem}@{self.digest[:16]}"

    def __str__(self) -> str:
        return f"plugin {self.name}"


@dataclass(frozen=True)
class Extensions:
    """Everything that the plugins of a compilation brought, by kind."""

    origins: tuple[Origin, ...] = ()
    passes: Mapping[str, tuple[type[ModulePass], Origin]] = field(
        default_factory=dict[str, "tuple[type[ModulePass], Origin]"]
    )
    placed: Mapping[str, Sequence[ModulePass]] = field(default_factory=dict[str, "Sequence[ModulePass]"])
    """The passes at each extension point, in the order in which they run."""
    lowerings: Mapping[str, Callable[[Any, Operation], None]] = field(
        default_factory=dict[str, "Callable[[Any, Operation], None]"]
    )
    """How an op becomes linalg, by op name: handlers of the input stage."""
    kernels: tuple[Any, ...] = ()
    """Strategies of the codegen stage, which are asked before Tiree's own."""
    backends: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What executables can be compiled for besides the CPU, by name."""
    target: Any = None
    """The backend that is compiled for; None: the CPU."""
    formats: tuple[Any, ...] = ()
    """Input formats besides MLIR."""
    dialects: Mapping[str, Callable[[], Dialect]] = field(default_factory=dict[str, "Callable[[], Dialect]"])

    def format_of(self, filename: str, input_type: str) -> Any:
        """The input format that a flag or the name of a file chooses, or None: MLIR."""
        named = next((one for one in self.formats if one.name == input_type), None)
        if named is not None or input_type != "auto":
            return named
        return next((one for one in self.formats if filename.endswith(one.suffixes)), None)

    def at(self, point: str, passes: Sequence[ModulePass]) -> Extensions:
        """These and `passes` behind the others at an extension point."""
        if not passes:
            return self
        return replace(self, placed={**self.placed, point: (*self.placed.get(point, ()), *passes)})


OWN_BACKENDS = ("llvm-cpu", "vmvx", "vmvx-inline")
"""What executables can be compiled for without a plugin."""
NONE = Extensions()
"""What a compilation without plugins has."""
