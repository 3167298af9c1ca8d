"""The `vm` stage: host code as `hal`, `util`, `cf` and scalar `arith` becomes bytecode and the `.vmfb` around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions
    from tiree.vm.archive import Buffer


def vm_passes(options: CompileOptions) -> list[ModulePass]:
    """From the `hal` phase to the `vm` phase."""
    from tiree.vm.convert import VMConversion
    from tiree.vm.expand import Expand
    from tiree.vm.ref_lifetimes import RefLifetimes

    del options
    return [VMConversion(), Expand(), RefLifetimes()]


def arrival_passes(options: CompileOptions) -> list[ModulePass]:
    """From a `vm` module as it was written to one of instructions."""
    from tiree.vm.expand import Expand
    from tiree.vm.ref_lifetimes import RefLifetimes

    del options
    return [Expand(), RefLifetimes()]


def emit_archive(module: ModuleOp, options: CompileOptions) -> bytes:
    """The `.vmfb` of a module of the `vm` phase. Raises `CompileError` when something cannot be encoded."""
    from tiree.vm.emit import emit_archive as emit

    return emit(module, options)


def emit_pieces(module: ModuleOp, options: CompileOptions) -> Iterator[Buffer]:
    """The same in pieces, in order. Raises as `emit_archive` does, also later."""
    from tiree.vm.emit import emit_pieces as emit

    return emit(module, options)
