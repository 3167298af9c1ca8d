"""The codegen stage: executables of tensors become machine code.

Each function returns the passes of one phase, in order; nothing heavy is imported before it is called. Every backend,
Tiree's own and those of plugins, adds the passes that treat its variants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions


def _backends(options: CompileOptions) -> list[Any]:
    from tiree.codegen.cpu.backend import LLVMCPU

    return [LLVMCPU(), *options.extensions.backends.values()]


def configuration_passes(options: CompileOptions) -> list[ModulePass]:
    """Phase `executable-configurations`: a strategy for every dispatch."""
    return [one for backend in _backends(options) for one in backend.configuration_passes(options)]


def target_passes(options: CompileOptions) -> list[ModulePass]:
    """Phase `executable-targets`: kernels, then machine code."""
    return [one for backend in _backends(options) for one in backend.target_passes(options)]


def arrival_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """What brings executables that another compiler has configured to the form that Tiree configures."""
    from tiree.codegen.read_configured import ReadConfiguredExecutables

    return [ReadConfiguredExecutables()]


def target_arrival_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """What sees to it that executables that another compiler has translated are images."""
    from tiree.codegen.check_images import CheckImages

    return [CheckImages()]
