"""The codegen stage: executables of tensors become machine code.

Each function returns the passes of one phase, in order; nothing heavy is imported before it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions


def configuration_passes(options: CompileOptions) -> list[ModulePass]:
    """Phase `executable-configurations`: a strategy for every dispatch."""
    from tiree.codegen.cpu.select_strategies import SelectStrategies

    extensions = options.extensions
    others = [one for backend in extensions.backends.values() for one in backend.configuration_passes(options)]
    return [SelectStrategies(extensions.kernels), *others]


def target_passes(options: CompileOptions) -> list[ModulePass]:
    """Phase `executable-targets`: kernels, then machine code."""
    from tiree.codegen.cpu.lower_again import Originals
    from tiree.codegen.cpu.lower_to_kernels import LowerToKernels
    from tiree.codegen.translate_executables import TranslateExecutables

    originals = Originals()
    passes: list[ModulePass] = [
        LowerToKernels(originals.bodies, options.extensions.kernels),
        TranslateExecutables(
            debug_symbols=options.llvmcpu_debug_symbols,
            debug_level=options.hal_executable_debug_level,
            threads=options.threads,
            dump_intermediates_to=options.dump_intermediates_to,
            originals=originals,
        ),
    ]
    if options.llvmcpu_debug_symbols and options.hal_executable_debug_level >= 3:
        from tiree.codegen.capture_sources import CaptureSources

        passes.insert(0, CaptureSources())
    for backend in options.extensions.backends.values():
        passes += backend.target_passes(options)
    return passes


def arrival_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """What brings executables that another compiler has configured to the form that Tiree configures."""
    from tiree.codegen.read_configured import ReadConfiguredExecutables

    return [ReadConfiguredExecutables()]


def target_arrival_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """What sees to it that executables that another compiler has translated are images."""
    from tiree.codegen.check_images import CheckImages

    return [CheckImages()]
