"""Runs the input stage, and its output through the real iree-compile and IREE runtime: the oracle of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from iree_tools import iree

__all__ = ["iree"]


def lower(text: str, phase: str = "input", **options: Any) -> str:
    """The module after the passes up to `phase`, in generic form; verified."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.input import abi_passes, input_passes
    from tiree.pipeline import verify_module
    from tiree.support.options import CompileOptions

    context = get_context()
    module = read_module(text, context)
    verify_module(module)
    settings = CompileOptions(**options)
    passes = [*input_passes(settings), *(abi_passes(settings) if phase == "abi" else [])]
    for one in passes:
        one.apply(context, module)
        module.verify()
    return print_module(module)


@pytest.fixture
def lowered() -> Callable[..., str]:
    """`lower(text, phase="input", **options)`."""
    return lower
