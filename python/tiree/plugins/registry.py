"""`Registry`: what a plugin's `register` function is handed, and says what it brings to.

Every method checks its arguments at once, so that a mistake is reported with the plugin's file and line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Dialect, Operation
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from tiree.codegen.cpu.strategies import strategy_named
from tiree.codegen.cpu.strategy import Strategy
from tiree.dialects.registry import dialect_factories
from tiree.input.lowering.context import Lowering
from tiree.pass_registry import pass_locations
from tiree.pipeline import EXTENSION_POINTS
from tiree.plugins.backends import Backend, GuardedBackend
from tiree.plugins.formats import GuardedFormat, InputFormat
from tiree.plugins.guard import GuardedPass
from tiree.plugins.kernels import GuardedKernel
from tiree.plugins.lowerings import guarded_lowering
from tiree.support.extensions import OWN_BACKENDS, Extensions, Origin
from tiree.support.input_type import INPUT_TYPES


class RegistrationError(Exception):
    """A plugin registers something that cannot be; the message says what and why."""


class Registry:
    """Collects what the plugins of one compilation bring; `extensions()` is the result."""

    def __init__(self) -> None:
        self._origins: list[Origin] = []
        self._passes: dict[str, tuple[type[ModulePass], Origin]] = {}
        self._placed: dict[str, list[ModulePass]] = {}
        self._dialects: dict[str, Callable[[], Dialect]] = {}
        self._lowerings: dict[str, Callable[[Any, Operation], None]] = {}
        self._kernels: list[GuardedKernel] = []
        self._backends: dict[str, GuardedBackend] = {}
        self._formats: list[GuardedFormat] = []

    def begin(self, origin: Origin) -> None:
        """What comes now is of this plugin."""
        self._origins.append(origin)

    @property
    def origin(self) -> Origin:
        """The plugin whose turn it is."""
        return self._origins[-1]

    def add_pass(self, new: type[ModulePass] | ModulePass, at: str | None = None) -> None:
        """A pass, which pipelines can name; it runs in every compilation if `at` names an extension point.

        An instance runs with its options, a class with the defaults. The same class may be added at several points.
        """
        cls = _class_of(new)
        name: Any = getattr(cls, "name", None)
        if not isinstance(name, str) or not name:
            raise RegistrationError(f'pass {cls.__name__} has no name: write name = "..." in the class')
        if name in pass_locations():
            raise RegistrationError(f"pass {name!r} is Tiree's own; give this one another name")
        known = self._passes.get(name)
        if known is not None and known[0] is not cls:
            raise RegistrationError(f"pass {name!r} exists: {known[1]} has one of that name")
        self._passes[name] = (cls, self.origin)
        if at is not None:
            self._check_point(at)
            instance = self._instance(cls) if isinstance(new, type) else new
            self._placed.setdefault(at, []).append(GuardedPass(instance, self.origin))

    def _instance(self, cls: type[ModulePass]) -> ModulePass:
        try:
            return cls()
        except TypeError as error:
            raise RegistrationError(
                f"pass {cls.name} cannot be made without options: {error}; add an instance"
            ) from None

    def _check_point(self, name: str) -> None:
        if name not in EXTENSION_POINTS:
            from difflib import get_close_matches

            close = get_close_matches(name, EXTENSION_POINTS, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(EXTENSION_POINTS)}"
            raise RegistrationError(f"no extension point {name!r}; {hint}")

    def add_lowering(self, op: type[Operation] | str, lowering: Callable[[Lowering, Any], None]) -> None:
        """How an op of a dialect of yours becomes linalg.

        `lowering(builder, op)` emits ops with `builder` and says with `builder.set(op.results[0], value)` what stands
        for each result.
        """
        name = op if isinstance(op, str) else op.name
        dialect = name.partition(".")[0]
        if dialect in dialect_factories():
            raise RegistrationError(f"{name} is of Tiree's dialect {dialect}: change its ops in a pass before-linalg")
        if name in self._lowerings:
            raise RegistrationError(f"{name} has a lowering already")
        self._lowerings[name] = guarded_lowering(lowering, self.origin)

    def add_kernel(self, kernel: Strategy) -> None:
        """A way of running dispatches, asked before Tiree's own: an `LLVMKernel`, a `TileKernel` or any strategy."""
        name = getattr(kernel, "name", None)
        if not isinstance(name, str) or not name:
            raise RegistrationError(f"kernel {kernel!r} has no name")
        if strategy_named(name, self._kernels) is not None:
            raise RegistrationError(f"a kernel or strategy {name!r} exists already; give this one another name")
        self._kernels.append(GuardedKernel(kernel, self.origin))

    def add_backend(self, backend: Backend) -> None:
        """Something else to compile executables for, which `--iree-hal-target-backends=NAME` chooses."""
        if not getattr(backend, "name", ""):
            raise RegistrationError(f"backend {backend!r} has no name")
        if backend.name in (*OWN_BACKENDS, "local") or backend.name in self._backends:
            raise RegistrationError(f"backend {backend.name!r} exists already; give this one another name")
        self._backends[backend.name] = GuardedBackend(backend, self.origin)

    def add_input_format(self, format: InputFormat) -> None:
        """A kind of program file that is not MLIR."""
        if format.name in INPUT_TYPES or any(format.name == known.name for known in self._formats):
            raise RegistrationError(f"input type {format.name!r} exists already; give this one another name")
        for suffix in format.suffixes:
            if not suffix.startswith(".") or any(suffix in known.suffixes for known in self._formats):
                raise RegistrationError(f"suffix {suffix!r} is taken, or does not begin with a dot")
        self._formats.append(GuardedFormat(format, self.origin))

    def add_dialect(self, dialect: Dialect | Callable[[], Dialect], name: str = "") -> None:
        """A dialect, or a function that makes it when the first op of `name` is read."""
        if isinstance(dialect, Dialect):
            made = dialect
            name, dialect = made.name, lambda: made
        if not name or not callable(dialect):
            raise RegistrationError("add_dialect needs a Dialect, or a function that makes one and the dialect's name")
        if name in dialect_factories() or name in self._dialects:
            raise RegistrationError(f"dialect {name!r} exists already; give this one another name")
        self._dialects[name] = dialect

    def add_universe(self, universe: Universe) -> None:
        """The passes and dialects of an xDSL universe, by name."""
        for make in universe.all_passes.values():
            self.add_pass(make())
        for name, factory in universe.all_dialects.items():
            self.add_dialect(factory, name)

    def extensions(self) -> Extensions:
        """All that was added."""
        return Extensions(
            origins=tuple(self._origins),
            passes=dict(self._passes),
            dialects=dict(self._dialects),
            lowerings=dict(self._lowerings),
            kernels=tuple(self._kernels),
            backends=dict(self._backends),
            formats=tuple(self._formats),
            placed={point: tuple(passes) for point, passes in self._placed.items()},
        )


def _class_of(new: Any) -> type[ModulePass]:
    cls = new if isinstance(new, type) else type(new)
    if not issubclass(cls, ModulePass):
        raise RegistrationError(f"{cls.__name__} is not a pass: it does not inherit xdsl.passes.ModulePass")
    return cls
