"""`vmvx`: kernels as bytecode, for devices of any processor.

A backend made of two stages: dispatches become scalar loops as in codegen, and loops become functions of a VM module
as host code does. Each executable is a `.vmfb` of its own, which the loader of the device runs. Kernels do in order,
number by number, what the program says: the reference for kernels made of machine code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions


def configuration_passes(options: CompileOptions) -> list[ModulePass]:
    """What the phase `executable-configurations` does to variants of this backend."""
    from tiree.vmvx.inline import BACKEND
    from tiree.vmvx.lower import SelectScalars, SplitPairs

    del options
    return [SplitPairs(), SelectScalars(), SplitPairs(backend=BACKEND), SelectScalars(backend=BACKEND)]


def target_passes(options: CompileOptions) -> list[ModulePass]:
    """What the phase `executable-targets` does to variants of this backend."""
    from tiree.vmvx.inline import BACKEND, InlineKernels
    from tiree.vmvx.lower import LowerToLoops, SplitPairs
    from tiree.vmvx.translate import TranslateToVMVX

    own = [SplitPairs(), LowerToLoops(), TranslateToVMVX(options)]
    return [*own, SplitPairs(backend=BACKEND), LowerToLoops(backend=BACKEND), InlineKernels()]
