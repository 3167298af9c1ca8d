"""`PythonModule`: a class whose annotated methods are the functions of a module.

    class Stats(rt.PythonModule, name="stats"):
        def __init__(self) -> None:
            self.seen = 0

        def note(self, value: rt.i32) -> rt.i32:
            self.seen += 1
            return value * 10

    context = rt.SystemContext(vm_modules=[Stats.create(), compiled])

Every context gets an object of its own. Annotations are read when the class is defined, and refused there.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

from tiree import _native
from tiree.runtime.annotations import Kind, UnknownAnnotation, kind_of


@dataclass(frozen=True)
class Export:
    """A method that became a function."""

    name: str
    parameters: tuple[tuple[str, Kind], ...]
    results: tuple[Kind, ...]
    callable: Callable[..., Any]

    @property
    def cconv(self) -> str:
        arguments = "".join(kind.letter for _, kind in self.parameters) or "v"
        return f"0{arguments}_{''.join(kind.letter for kind in self.results) or 'v'}"

    @property
    def attributes(self) -> list[tuple[str, str]]:
        arguments = ", ".join(f"%{name}: {kind.mlir}" for name, kind in self.parameters)
        results = ", ".join(f"%output{i}: {kind.mlir}" for i, kind in enumerate(self.results))
        return [("iree.abi.declaration", f"sync func @{self.name}({arguments}) -> ({results})")]


class PythonModule:
    """Base of modules written in Python: `class Name(PythonModule, name="name", version=0)`.

    Methods with annotations and without a leading underscore are exports, static ones and those of the class too.
    `async def` methods suspend the call.
    `create()` gives the `VmModule`; `__init__` runs for each context, and the object lives as long as the context.
    """

    exports: ClassVar[tuple[Export, ...]] = ()
    module_name: ClassVar[str] = ""
    module_version: ClassVar[int] = 0

    def __init_subclass__(cls, *, name: str | None = None, version: int = 0, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.module_name = cls.__name__ if name is None else name
        cls.module_version = version
        if not cls.module_name or "." in cls.module_name:
            raise TypeError(f'a module cannot be called "{cls.module_name}": names have no dots and are not empty')
        cls.exports = tuple(_export(cls, name, method) for name, method in _methods(cls).items())

    @classmethod
    def create(cls, factory: Callable[[], Self] | None = None) -> _native.VmModule:
        """The module. Each context that it is put into has an object of its own, made by `factory`: the class, if none.

        A factory that gives the same object again shares it between contexts; calls then come from all their threads.
        """
        make = cls if factory is None else factory
        interface = _native.PyModuleInterface(cls.module_name, lambda _: make(), cls.module_version)
        for export in cls.exports:
            interface.export(export.name, export.cconv, export.callable, export.attributes)
        return interface.create()


@dataclass(frozen=True)
class Method:
    """A public method: `first` is what its first parameter takes, nothing for a static one."""

    function: Callable[..., Any]
    first: str


def _methods(cls: type) -> dict[str, Method]:
    """Public annotated methods of a class and its bases, the nearest of each name, in order of first definition."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base not in (object, PythonModule):
            found.update({name: value for name, value in vars(base).items() if not name.startswith("_")})
    methods = {name: _method(value) for name, value in found.items()}
    return {name: method for name, method in methods.items() if method and method.function.__annotations__}


def _method(value: Any) -> Method | None:
    """Functions, also static ones, those of classes, and what decorators made of them."""
    if isinstance(value, staticmethod | classmethod):
        function: Callable[..., Any] = cast("Any", value).__func__
        return Method(function, "the class" if isinstance(value, classmethod) else "")
    is_method = callable(value) and not isinstance(value, type) and hasattr(value, "__get__")
    return Method(value, "self") if is_method and hasattr(value, "__annotations__") else None


def _export(cls: type[PythonModule], name: str, method: Method) -> Export:
    """Raises `TypeError` for annotations without a meaning, and for methods that cannot be called with an object."""
    where = f"{cls.module_name}.{name}()"
    function = method.function
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError) as error:
        raise TypeError(f"{where}: an annotation cannot be evaluated: {error}") from error
    declared = list(inspect.signature(function).parameters.values())
    if method.first:
        _check_first(where, declared, hints, method.first)
        del declared[0]
    parameters: list[tuple[str, Kind]] = []
    for parameter in declared:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(f'{where}: parameter "{parameter.name}" is not positional; a function takes a fixed number')
        if parameter.name not in hints:
            raise TypeError(f'{where}: parameter "{parameter.name}" has no annotation')
        parameters.append((parameter.name, _kind(hints[parameter.name], f'{where}: parameter "{parameter.name}"')))
    if "return" not in hints:
        raise TypeError(f"{where}: the result has no annotation; write `-> None` if there is none")
    results = _results(hints["return"], f"{where}: the result")
    return Export(name, tuple(parameters), results, _adapted(where, _with_self(cls, method), parameters, results))


def _check_first(where: str, parameters: list[inspect.Parameter], hints: dict[str, Any], what: str) -> None:
    """The first parameter takes the object."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in positional:
        raise TypeError(f"{where} has no parameter for {what}; add one, or make it a @staticmethod")
    first = parameters[0].name
    if first in hints and first not in ("self", "cls"):
        raise TypeError(
            f'{where}: its first parameter "{first}" would be {what}, but has an annotation; add a parameter before '
            "it, or make it a @staticmethod"
        )


def _with_self(cls: type, method: Method) -> Callable[..., Any]:
    """The method as a function of the object and the arguments."""
    if method.first == "self":
        return method.function
    before: tuple[Any, ...] = (cls,) if method.first else ()
    function = method.function
    if inspect.iscoroutinefunction(function):

        async def called_async(_: Any, *arguments: Any) -> Any:
            return await function(*before, *arguments)

        return called_async

    def called(_: Any, *arguments: Any) -> Any:
        return function(*before, *arguments)

    return called


def _kind(annotation: Any, where: str) -> Kind:
    try:
        return kind_of(annotation)
    except UnknownAnnotation as error:
        raise TypeError(f"{where} is annotated as {error}") from None


def _results(annotation: Any, where: str) -> tuple[Kind, ...]:
    if annotation is types.NoneType:
        return ()
    if typing.get_origin(annotation) is not tuple:
        return (_kind(annotation, where),)
    parts = typing.get_args(annotation)
    if len(parts) < 2 or Ellipsis in parts:
        raise TypeError(f"{where} is annotated as {annotation}; several results are tuple[A, B, ...] of fixed length")
    return tuple(_kind(part, where) for part in parts)


def _place(error: Exception, place: str) -> None:
    """Adds the place of an error to its text, or as a note where the class may make its text of other arguments."""
    if type(error) in (TypeError, ValueError):
        raise type(error)(f"{place} {error}") from None
    error.add_note(place)


def _adapted(
    where: str, method: Callable[..., Any], parameters: list[tuple[str, Kind]], results: tuple[Kind, ...]
) -> Callable[..., Any]:
    """The method with its arguments and results converted; itself where there is nothing to convert."""
    takes = [(number, name, kind.take) for number, (name, kind) in enumerate(parameters) if kind.take is not None]
    gives = any(kind.give is not None for kind in results)
    if not takes and not gives:
        return method

    def taken(arguments: tuple[Any, ...]) -> list[Any]:
        values = list(arguments)
        for number, name, take in takes:
            try:
                values[number] = take(values[number])
            except Exception as error:
                _place(error, f'{where}: argument {number + 1} ("{name}")')
                raise
        return values

    def given(returned: Any) -> Any:
        several = cast("tuple[Any, ...]", returned) if len(results) > 1 else (returned,)
        # What is not as many values as there are results is refused natively.
        if not gives or type(several) is not tuple or len(several) != len(results):
            return returned
        try:
            values = [kind.give(one) if kind.give else one for one, kind in zip(several, results, strict=True)]
        except Exception as error:
            _place(error, f"{where}: the result")
            raise
        return tuple(values) if len(results) > 1 else values[0]

    if inspect.iscoroutinefunction(method):

        async def adapted_async(self: Any, *arguments: Any) -> Any:
            return given(await method(self, *taken(arguments)))

        return adapted_async

    def adapted(self: Any, *arguments: Any) -> Any:
        return given(method(self, *taken(arguments)))

    return adapted
