"""The stubs say what the built module has: the same names, members and parameters, no more and no less."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
import tiree
from tiree import _native

STUBS = [Path(tiree.__file__).with_name(name) for name in ("_native.pyi", "_native_functions.pyi")]
Function = ast.FunctionDef | ast.AsyncFunctionDef

# What every extension type has without having said so, and what type checkers know of every class.
IMPLIED = {
    *("__doc__", "__module__", "__new__", "__init__", "__repr__", "__hash__", "__dict__", "__weakref__"),
    "__slotnames__",  # what pickling notes
}


def declared(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """The names that a stub's body declares, each with its first overload; `_private` ones are helpers of the stub."""
    names: dict[str, ast.stmt] = {}
    for statement in body:
        if isinstance(statement, Function | ast.ClassDef):
            names.setdefault(statement.name, statement)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names[statement.target.id] = statement
    return {name: what for name, what in names.items() if not name.startswith("_") or name.startswith("__")}


def public(members: dict[str, Any]) -> set[str]:
    return {name for name in members if not name.startswith("_") or name.startswith("__")}


@pytest.fixture(scope="module")
def stub() -> dict[str, ast.stmt]:
    return declared([statement for stub in STUBS for statement in ast.parse(stub.read_text()).body])


CLASSES = sorted(name for name, value in vars(_native).items() if inspect.isclass(value))
FUNCTIONS = sorted(name for name, value in vars(_native).items() if inspect.isroutine(value))


def test_the_module_has_the_names_of_the_stub(stub: dict[str, ast.stmt]) -> None:
    own = {name for name in public(vars(_native)) if not name.startswith("__")}
    assert {name for name in stub if not name.startswith("__")} == own


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str, stub: dict[str, ast.stmt]) -> None:
    node = stub[name]
    assert isinstance(node, ast.ClassDef)
    members, real = declared(node.body), vars(getattr(_native, name))
    assert set(members) - IMPLIED == public(real) - IMPLIED
    assert ("__init__" in members or "__new__" in members) == ("__new__" in real)
    for member, statement in members.items():
        if member in IMPLIED or member.startswith("__"):
            continue
        assert _kind(statement) == _real_kind(real[member]), f"{name}.{member}"
        if isinstance(statement, Function) and _kind(statement) != "property":
            bound = inspect.signature(getattr(getattr(_native, name), member))
            _same_parameters(f"{name}.{member}", statement, bound)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, stub: dict[str, ast.stmt]) -> None:
    statement = stub[name]
    assert isinstance(statement, Function)
    _same_parameters(name, statement, inspect.signature(getattr(_native, name)))


def _kind(statement: ast.stmt) -> str:
    if not isinstance(statement, Function):
        return "property"
    decorators = {ast.unparse(decorator) for decorator in statement.decorator_list}
    for kind in ("property", "staticmethod", "classmethod"):
        if any(kind == name or name.endswith(".setter") for name in decorators) and kind == "property":
            return kind
        if kind in decorators:
            return kind
    return "method"


def _real_kind(member: Any) -> str:
    if isinstance(member, staticmethod):
        return "staticmethod"
    if type(member).__name__ == "classmethod_descriptor" or isinstance(member, classmethod):
        return "classmethod"
    return "method" if inspect.isroutine(member) else "property"


def _same_parameters(name: str, statement: Function, real: inspect.Signature) -> None:
    """Names, order, kinds and whether there is a default; pyo3 marks `self` as positional only, which stubs do not."""
    arguments = statement.args
    assert not arguments.posonlyargs, f"{name}: write parameters without a slash"
    required = len(arguments.args) - len(arguments.defaults)
    written = [(argument.arg, False, index >= required) for index, argument in enumerate(arguments.args)]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        written.append((argument.arg, True, default is not None))
    wildcards = (arguments.vararg is not None, arguments.kwarg is not None)
    found, star, stars = [], False, False
    for parameter in real.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            star = True
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            stars = True
        else:
            keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            found.append((parameter.name, keyword, parameter.default is not inspect.Parameter.empty))
    written = [entry for entry in written if entry[0] not in ("self", "cls")]
    found = [entry for entry in found if entry[0] not in ("self", "cls", "$self")]
    assert (written, wildcards) == (found, (star, stars)), name
