"""`LLVMCPU`: the backend of CPUs. Backends of plugins offer the same two lists of passes (`tiree.plugins.Backend`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions


class LLVMCPU:
    """Vectorised kernels, LLVM IR, objects, and an embedded ELF for the variants of `llvm-cpu`."""

    name = "llvm-cpu"

    def configuration_passes(self, options: CompileOptions) -> list[ModulePass]:
        """A strategy for every dispatch."""
        from tiree.codegen.cpu.select_strategies import SelectStrategies
        from tiree.codegen.cpu.split_complex import SplitComplex

        return [SplitComplex(), SelectStrategies(options.extensions.kernels)]

    def target_passes(self, options: CompileOptions) -> list[ModulePass]:
        """Kernels, then machine code."""
        from tiree.codegen.cpu.lower_again import Originals
        from tiree.codegen.cpu.lower_to_kernels import LowerToKernels
        from tiree.codegen.cpu.split_complex import SplitComplex
        from tiree.codegen.translate_executables import TranslateExecutables

        originals = Originals()
        passes: list[ModulePass] = [
            SplitComplex(),
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
        return passes
