"""`tiree-vmvx-split-complex`, `-select-strategies` and `-lower-to-loops`: as codegen does, in scalars, for variants of
bytecode.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.passes import ModulePass

from tiree.codegen.cpu.lower_to_kernels import SCALARS, LowerToKernels
from tiree.codegen.cpu.select_strategies import SelectStrategies
from tiree.codegen.cpu.split_complex import SplitComplex


@dataclass(frozen=True)
class SplitPairs(SplitComplex, ModulePass):
    """Replaces complex numbers by two numbers."""

    name = "tiree-vmvx-split-complex"

    backend: str = "vmvx"


@dataclass(frozen=True)
class SelectScalars(SelectStrategies, ModulePass):
    """Records that dispatches are scalar loops."""

    name = "tiree-vmvx-select-strategies"

    backend: str = "vmvx"
    strategy: str = SCALARS


@dataclass(frozen=True)
class LowerToLoops(LowerToKernels, ModulePass):
    """Replaces dispatch functions by scalar loops over memory."""

    name = "tiree-vmvx-lower-to-loops"

    backend: str = "vmvx"
    strategy: str = SCALARS
