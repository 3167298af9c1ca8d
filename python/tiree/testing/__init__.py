"""For people who test and fuzz the VM: an oracle, generators of programs, and ways to compare implementations.

- `programs()`, `modules()`, `mutations(of)`, `arguments(signature)`, `buffers()`, `lists()`, `references()`: strategies
  for hypothesis, which is an optional dependency (`pip install tiree[testing]`);
- `generate(RandomChoices(seed))`: the same programs without hypothesis, and faster;
- `Reference`, `Tiree`, `Iree`: one way to call functions of a program in the reference interpreter (plain Python,
  sharing nothing with the runtime), in this runtime and in IREE's; `Outcome` is what a call comes to;
- `difference(program, runner)`: where a runner and the reference differ; `outcomes` and `expected` are its halves;
- `Program`, `Call`: modules as text, and what to call; `native_module()`: what they may import from;
- `DEPARTURES`: where IREE 3.13 differs on purpose.

docs/fuzzing.md shows them at work. Nothing here is needed to compile or run programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiree.testing.choices import Choices, RandomChoices
    from tiree.testing.compare import difference, expected, isolated_outcomes, outcomes
    from tiree.testing.contents import variant_list
    from tiree.testing.damage import mutate
    from tiree.testing.departures import DEPARTURES
    from tiree.testing.generate_program import Call, Program, generate
    from tiree.testing.native import native_module
    from tiree.testing.reduction import reduced
    from tiree.testing.runners import Iree, Outcome, Reference, Runner, Tiree
    from tiree.testing.scalars import SCALARS
    from tiree.testing.strategies import arguments, buffers, lists, modules, mutations, programs, references

__all__ = [
    "DEPARTURES",
    "SCALARS",
    "Call",
    "Choices",
    "Iree",
    "Outcome",
    "Program",
    "RandomChoices",
    "Reference",
    "Runner",
    "Tiree",
    "arguments",
    "buffers",
    "difference",
    "expected",
    "generate",
    "isolated_outcomes",
    "lists",
    "modules",
    "mutate",
    "mutations",
    "native_module",
    "outcomes",
    "programs",
    "reduced",
    "references",
    "variant_list",
]

_HOMES = {
    "choices": ("Choices", "RandomChoices"),
    "compare": ("difference", "expected", "isolated_outcomes", "outcomes"),
    "departures": ("DEPARTURES",),
    "generate_program": ("Call", "Program", "generate"),
    "contents": ("variant_list",),
    "damage": ("mutate",),
    "native": ("native_module",),
    "reduction": ("reduced",),
    "runners": ("Iree", "Outcome", "Reference", "Runner", "Tiree"),
    "scalars": ("SCALARS",),
    "strategies": ("arguments", "buffers", "lists", "modules", "mutations", "programs", "references"),
}


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used: only the strategies need hypothesis."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"tiree.testing.{home}"), name)
            return found
    raise AttributeError(f"module 'tiree.testing' has no attribute {name!r}")
