"""Passes are found in the source; the xDSL universe offers them."""

from __future__ import annotations

import pytest
from tiree.pass_registry import load_pass, pass_locations
from tiree.pipeline import PHASES
from tiree.support.errors import CompileError
from tiree.support.options import CompileOptions
from xdsl.passes import ModulePass


@pytest.mark.parametrize("name", pass_locations())
def test_every_pass_loads_by_its_name(name: str) -> None:
    cls = load_pass(name)
    assert issubclass(cls, ModulePass)
    assert cls.name == name
    assert cls.__doc__, "a pass says what comes in and what goes out"


def test_every_pass_of_the_pipeline_is_found() -> None:
    used = {one.name for phase in PHASES for one in phase.passes(CompileOptions())}
    assert used <= set(pass_locations())


def test_an_unknown_pass_gets_a_suggestion() -> None:
    known = next(iter(pass_locations()))
    with pytest.raises(CompileError, match=f"did you mean {known}"):
        load_pass(known[:-1] + "z")


def test_the_universe_joins_xdsls_own() -> None:
    from tiree.universe import TIREE_UNIVERSE
    from xdsl.universe import XDSL_UNIVERSE

    assert not set(TIREE_UNIVERSE.all_dialects) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(TIREE_UNIVERSE.all_passes) & set(XDSL_UNIVERSE.all_passes)
    assert TIREE_UNIVERSE.all_dialects["util"]().name == "util"
    assert set(TIREE_UNIVERSE.all_passes) == set(pass_locations())
