"""Plugins by name: a file, an importable module, an entry point of the group `tiree.plugins`, or an object of Python.

A plugin is loaded when a compilation names it and never otherwise, so that what is installed changes no artifact. It
has a function `register(registry)`. A module without one is read as xDSL's tools read it: its `Universe`s, or else the
passes and dialects that it defines, become known by name.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from tiree.plugins.guard import fault
from tiree.plugins.registry import Registry
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.extensions import Extensions, Origin

GROUP = "tiree.plugins"
"""The entry point group; an entry names a module, or a `register` function."""

Plugin: TypeAlias = "str | Path | ModuleType | Callable[[Registry], None]"


def load_plugins(plugins: Sequence[Plugin]) -> Extensions:
    """What `plugins` bring, in their order, each once. Raises `CompileError` that names the plugin and the line."""
    registry = Registry()
    loaded: set[tuple[str, str, str]] = set()
    for plugin in plugins:
        found, origin = _find(plugin)
        identity = (origin.file, origin.digest, getattr(found, "__qualname__", ""))
        if identity in loaded:
            continue
        loaded.add(identity)
        registry.begin(origin)
        try:
            _register(found, registry)
        except CompileError:
            raise
        except (Exception, SystemExit) as error:
            report = fault(error, str(origin), origin)
            raise CompileError(report._replace(location=origin.name)) from error
    return registry.extensions()


def _register(plugin: Any, registry: Registry) -> None:
    register = getattr(plugin, "register", plugin)
    if callable(register):
        register(registry)
    else:
        _read(plugin, registry)


def _read(plugin: ModuleType, registry: Registry) -> None:
    """Adds what a module without `register` defines."""
    values = list(plugin.__dict__.values())
    universes = [value for value in values if isinstance(value, Universe)]
    for universe in universes:
        registry.add_universe(universe)
    own = [value for value in values if _is_own(value, plugin)] if not universes else []
    for value in own:
        registry.add_dialect(value) if isinstance(value, Dialect) else registry.add_pass(value)
    if not universes and not own:
        hint = "define register(registry): docs/extending.md shows one; tiree-new writes the file"
        raise CompileError(Diagnostic("the plugin registers nothing", registry.origin.name, hint))


def _is_own(value: Any, module: ModuleType) -> bool:
    """A pass that `module` defines itself, or a dialect of it."""
    if isinstance(value, type):
        return issubclass(value, ModulePass) and value.__module__ == module.__name__ and hasattr(value, "name")
    return isinstance(value, Dialect) and all(op.__module__ == module.__name__ for op in value.operations)


def _find(plugin: Plugin) -> tuple[Any, Origin]:
    """The module or function, and where it comes from."""
    if isinstance(plugin, (str, Path)):
        name = str(plugin)
        if name.endswith(".py") or os.sep in name:
            return _load_file(name)
        return _load_installed(name)
    module = plugin if isinstance(plugin, ModuleType) else sys.modules.get(getattr(plugin, "__module__", ""))
    name = module.__name__ if module is not None else repr(plugin)
    return plugin, _origin_of(module, name) if _file_of(module) else _origin_of_code(plugin, name)


def _load_file(path: str) -> tuple[ModuleType, Origin]:
    """Runs a file as a module of its own; once for each content, and leaves nothing behind beside it."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise CompileError(Diagnostic(f"plugin: {error.strerror or error}", path)) from None
    full = os.path.abspath(path)
    origin = Origin(path, hashlib.sha256(source).hexdigest(), full)
    stem = os.path.splitext(os.path.basename(path))[0]
    key = f"tiree_plugin_{stem}_{hashlib.sha256(full.encode() + source).hexdigest()[:16]}"
    loaded = sys.modules.get(key)
    if loaded is not None:
        return loaded, origin
    module = ModuleType(key)
    module.__file__ = full
    sys.modules[key] = module  # before it runs: dataclasses look their module up
    try:
        exec(compile(source, full, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[key]
        raise CompileError(_not_imported(error, origin)) from error
    return module, origin


def installed() -> list[str]:
    """The names of all installed plugins."""
    from importlib.metadata import entry_points

    return sorted({entry.name for entry in entry_points(group=GROUP)})


def _load_installed(name: str) -> tuple[Any, Origin]:
    """An entry point of that name, or else a module."""
    from importlib.metadata import entry_points

    found = list(entry_points(group=GROUP, name=name))
    origin = Origin(name)
    try:
        loaded = found[0].load() if found else import_module(name)
    except ModuleNotFoundError as error:
        if found or error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise CompileError(_not_imported(error, origin)) from error
        hint = "name a file (with .py), a module on PYTHONPATH, or an installed plugin"
        hint += f": {', '.join(installed())}" if installed() else ""
        raise CompileError(Diagnostic("no plugin and no module of this name", name, hint)) from None
    except (Exception, SystemExit) as error:
        raise CompileError(_not_imported(error, origin)) from error
    module = loaded if isinstance(loaded, ModuleType) else sys.modules.get(getattr(loaded, "__module__", ""))
    return loaded, _origin_of(module, name)


def _not_imported(error: BaseException, origin: Origin) -> Diagnostic:
    if isinstance(error, SyntaxError) and error.filename == origin.file:
        return Diagnostic(f"plugin cannot be read: {error.msg}", f"{origin.name}:{error.lineno}")
    report = fault(error, "plugin", origin)
    return report._replace(
        message=report.message.replace("plugin failed", "plugin cannot be imported", 1), location=origin.name
    )


def _file_of(module: ModuleType | None) -> str:
    return getattr(module, "__file__", None) or ""


def _origin_of_code(plugin: Any, name: str) -> Origin:
    """Of a function that is in no file, such as one of a notebook."""
    import inspect

    try:
        source = inspect.getsource(plugin)
    except (OSError, TypeError):
        source = ""
    return Origin(name, hashlib.sha256(source.encode()).hexdigest())


def _origin_of(module: ModuleType | None, name: str) -> Origin:
    """With the digest of the module's source; of a package, of all its source files."""
    file = _file_of(module)
    hashed = hashlib.sha256()
    for path in _sources(file):
        with open(path, "rb") as source:
            hashed.update(source.read())
    return Origin(name, hashed.hexdigest(), file)


def _sources(file: str) -> list[str]:
    if not file.endswith(".py"):
        return []
    if os.path.basename(file) != "__init__.py":
        return [file]
    found: list[str] = []
    for folder, _, names in os.walk(os.path.dirname(file)):
        found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)
