"""Tiree's dialects and passes as an xDSL universe, so that `xdsl-opt` and other xDSL tools find them.

`pyproject.toml` names `TIREE_UNIVERSE` under the entry point group `xdsl.universe`. Dialects that xDSL has under the
same name stay xDSL's there, since a universe must not define a name twice.
"""

from __future__ import annotations

from functools import partial

from xdsl.universe import Universe

from tiree.dialects.registry import UPSTREAM, dialect_factories
from tiree.pass_registry import load_pass, pass_locations

TIREE_UNIVERSE = Universe(
    all_dialects={name: factory for name, factory in dialect_factories().items() if name not in UPSTREAM},
    all_passes={name: partial(load_pass, name) for name in pass_locations()},
)
