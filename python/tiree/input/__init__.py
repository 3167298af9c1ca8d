"""The input stage: what users write becomes linalg on tensors in `util.func`s; then the functions get their ABI.

Assumes a verified module in StableHLO, CHLO, ONNX's operators, linalg, tensor, arith, math, scf, cf and
func. Passes are imported when asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions


def input_passes(options: CompileOptions) -> list[ModulePass]:
    """The passes that end phase `input`."""
    from tiree.input.canonicalize import CanonicalizePass
    from tiree.input.check_operations import CheckOperationsPass
    from tiree.input.convert_to_linalg import ConvertToLinalgPass
    from tiree.input.convert_types import ConvertTypesPass
    from tiree.input.drop_bounds import DropBoundsPass
    from tiree.input.expand_operations import ExpandOperationsPass
    from tiree.input.flatten_tuples import FlattenTuplesPass
    from tiree.input.generalize_named_ops import GeneralizeNamedOpsPass
    from tiree.input.legalize_quantized import LegalizeQuantizedPass
    from tiree.input.onnx.convert_onnx import ConvertOnnxPass
    from tiree.input.pack_small_integers import PackSmallIntegersPass
    from tiree.input.record_argument_names import RecordArgumentNamesPass
    from tiree.input.share_layers import ShareLayersPass
    from tiree.input.widen_small_integers import WidenSmallIntegersPass

    passes: list[ModulePass] = [ConvertOnnxPass()]
    if options.share_layers:
        passes.append(ShareLayersPass())
    passes += [DropBoundsPass(), FlattenTuplesPass(), LegalizeQuantizedPass(), CheckOperationsPass()]
    if not options.vm_strip_source_map:
        passes.append(RecordArgumentNamesPass())
    passes.append(ExpandOperationsPass())
    conversion = ConvertTypesPass(
        demote_f64_to_f32=options.demote_f64_to_f32,
        demote_i64_to_i32=options.demote_i64_to_i32,
        promote_f16_to_f32=options.promote_f16_to_f32,
        promote_bf16_to_f32=options.promote_bf16_to_f32,
    )
    if conversion.is_needed:
        passes.append(conversion)
    passes += [
        ConvertToLinalgPass(options.extensions.lowerings),
        GeneralizeNamedOpsPass(),
        PackSmallIntegersPass(),
        WidenSmallIntegersPass(),
        CanonicalizePass(),
    ]
    return passes


def abi_passes(options: CompileOptions) -> list[ModulePass]:
    """The passes that take phase `input` to phase `abi`."""
    from tiree.input.resolve_sizes import ResolveSizesPass
    from tiree.input.wrap_entry_points import WrapEntryPointsPass

    passes: list[ModulePass] = [WrapEntryPointsPass(execution_model=options.execution_model), ResolveSizesPass()]
    if options.strip_assertions:
        from tiree.input.strip_assertions import StripAssertionsPass

        passes.append(StripAssertionsPass())
    return passes


def input_arrival_passes(options: CompileOptions) -> list[ModulePass]:
    """As `arrival_passes`, where functions still have the arguments and results of the user's."""
    from tiree.input.carry_sizes import CarrySizesPass

    return [*arrival_passes(options), CarrySizesPass()]


def abi_arrival_passes(options: CompileOptions) -> list[ModulePass]:
    """As `input_arrival_passes`, where entry points have buffer views already: sizes are resolved at once."""
    from tiree.input.carry_sizes import CarrySizesPass

    return [*arrival_passes(options), CarrySizesPass(resolve=True)]


def arrival_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """What brings a module that another compiler printed, at any phase with tensors in it, to Tiree's forms."""
    from tiree.input.expand_indices import ExpandIndicesPass
    from tiree.input.generalize_named_ops import GeneralizeNamedOpsPass
    from tiree.input.remove_hints import RemoveHintsPass
    from tiree.input.static_bindings import StaticBindingsPass

    return [RemoveHintsPass(), ExpandIndicesPass(), StaticBindingsPass(), GeneralizeNamedOpsPass()]
