"""The flow stage: simplify tensor programs, decide what runs together, and outline it into executables.

Each function returns the passes of one phase, in order; nothing heavy is imported before it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.flow.hoist_constants import Evaluate
    from tiree.support.options import CompileOptions


def preprocessing_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """Phase `preprocessing`: one clean-up before any decision."""
    from tiree.flow.cse import CSE

    return [CSE()]


def global_optimization_passes(options: CompileOptions, evaluate: Evaluate | None = None) -> list[ModulePass]:
    """Phase `global-optimization`: folding, data movement as structured ops, host arithmetic into bodies.

    `evaluate` computes constant expressions while compiling.
    """
    from tiree.flow.canonicalize import Canonicalize
    from tiree.flow.compute_on_host import ComputeOnHost
    from tiree.flow.cse import CSE
    from tiree.flow.dynamic_dispatches import FormDynamicDispatches
    from tiree.flow.fold_constants import FoldConstants
    from tiree.flow.loops import ConvertWhileToFor, RotateWhile
    from tiree.flow.raise_boxes import RaiseBoxes
    from tiree.flow.sink_scalars import SinkScalars
    from tiree.flow.slices import ConvertPadsAndConcats

    return [
        *_import_passes(options),
        FormDynamicDispatches(),
        Canonicalize(),
        ConvertWhileToFor(),
        ComputeOnHost(),
        RotateWhile(),
        RaiseBoxes(),
        ConvertPadsAndConcats(),
        SinkScalars(),
        FoldConstants(),
        Canonicalize(),
        CSE(),
        *_hoisting_passes(options, evaluate),
        *_export_passes(options),
    ]


def _hoisting_passes(options: CompileOptions, evaluate: Evaluate | None) -> list[ModulePass]:
    """What depends on constants only, computed once: now, or when the program is loaded."""
    wanted = evaluate if options.opt_const_eval else None
    if wanted is None and not options.opt_const_expr_hoisting:
        return []
    from tiree.flow.hoist_constants import HoistConstantExpressions

    threshold = options.opt_const_expr_max_size_increase_threshold
    return [HoistConstantExpressions(threshold, options.opt_const_expr_hoisting, wanted)]


def _import_passes(options: CompileOptions) -> list[ModulePass]:
    """Parameters become constants before anything is folded."""
    if not options.parameter_import:
        return []
    from tiree.flow.import_parameters import ImportParameters

    keys, maximum_size = tuple(options.parameter_import_keys), options.parameter_import_maximum_size
    return [ImportParameters(tuple(options.parameter_import), keys, maximum_size)]


def _export_passes(options: CompileOptions) -> list[ModulePass]:
    """Constants become parameters once all are folded that can be; then the parameters of the program are known."""
    from tiree.flow.export_parameters import ExportParameters, GenerateSplatParameterArchive

    passes: list[ModulePass] = []
    if options.parameter_export:
        passes.append(ExportParameters(options.parameter_export, options.parameter_export_minimum_size))
    if options.parameter_splat:
        passes.append(GenerateSplatParameterArchive(options.parameter_splat))
    return passes


def global_optimization_arrival_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """What another compiler leaves in a simplified program and Tiree's rules for dispatches do not expect."""
    from tiree.flow.dynamic_dispatches import FormDynamicDispatches
    from tiree.flow.slices import ConvertPadsAndConcats

    return [FormDynamicDispatches(), ConvertPadsAndConcats()]


def dispatch_creation_arrival_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """What another compiler leaves beside its dispatch regions."""
    from tiree.flow.carry_loop_sizes import CarryLoopSizes
    from tiree.flow.convert_to_flow import ConvertToFlow

    return [CarryLoopSizes(), ConvertToFlow()]


def dispatch_creation_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """Phase `dispatch-creation`: fusion and dispatch regions."""
    from tiree.flow.canonicalize import Canonicalize
    from tiree.flow.collapse_contractions import CollapseContractions
    from tiree.flow.convert_to_flow import ConvertToFlow
    from tiree.flow.cse import CSE
    from tiree.flow.form_dispatch_workgroups import FormDispatchWorkgroups
    from tiree.flow.fuse_elementwise import FuseElementwise
    from tiree.flow.materialize_slices import MaterializeSlices
    from tiree.flow.raise_attention import RaiseAttention
    from tiree.flow.reshapes import SinkReshapes
    from tiree.flow.unit_dims import DropUnitDims

    return [
        DropUnitDims(),
        FuseElementwise(),
        RaiseAttention(),
        CollapseContractions(),
        SinkReshapes(),
        FuseElementwise(),
        Canonicalize(),
        CSE(),
        MaterializeSlices(),
        FormDispatchWorkgroups(),
        CSE(),
        ConvertToFlow(),
        CSE(),
    ]


def flow_passes(options: CompileOptions) -> list[ModulePass]:  # noqa: ARG001
    """Phase `flow`: executables."""
    from tiree.flow.annotate_assumptions import AnnotateAssumptions
    from tiree.flow.inline_layers import InlineLayers
    from tiree.flow.outline_dispatches import OutlineDispatches

    return [OutlineDispatches(), InlineLayers(), AnnotateAssumptions()]
