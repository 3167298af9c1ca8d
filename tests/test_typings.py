"""Our type stubs of llvmlite name what the installed package has, with its parameters."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

TYPINGS = Path(__file__).resolve().parents[1] / "typings"
PATHS = {str(path.relative_to(TYPINGS)): path for path in sorted(TYPINGS.rglob("*.pyi"))}


@pytest.mark.parametrize("name", PATHS)
def test_a_stub_agrees_with_the_package(name: str) -> None:
    module = name.removesuffix(".pyi").removesuffix("/__init__").replace("/", ".")
    body = ast.parse(PATHS[name].read_text()).body
    assert list(differences(body, import_module(module))) == []


def differences(body: list[ast.stmt], owner: object) -> Iterator[str]:
    """What the declarations say that `owner` (a module or class) has not."""
    for node in body:
        if isinstance(node, ast.AnnAssign):
            name = ast.unparse(node.target)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = node.name
        else:
            continue
        if not hasattr(owner, name):
            yield f"{name} is missing"
        elif isinstance(node, ast.ClassDef):
            yield from differences(node.body, getattr(owner, name))
        elif isinstance(node, ast.FunctionDef):
            raw = inspect.getattr_static(owner, name)
            declared = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
            real = list(inspect.signature(getattr(raw, "__func__", raw)).parameters)
            # Python gives the three arguments of `__exit__` by position.
            if name != "__exit__" and real != declared:
                yield f"{name} takes {real}, the stub says {declared}"
