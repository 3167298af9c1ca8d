"""The hal stage: on what device work runs, and how it is handed over.

`assign_target_passes` names the device at the start of compilation; `executable_sources_passes` turns stream
executables into executables for its targets; `hal_passes` turns the schedule into recorded command buffers and queue
operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions


def assign_target_passes(options: CompileOptions) -> list[ModulePass]:
    """The passes that say for which device a module is compiled."""
    from tiree.hal.assign_target import AssignTargetPass

    backend = options.extensions.target
    if backend is not None:
        from tiree.dialects.hal import DeviceTargetAttr

        device = DeviceTargetAttr(backend.device, [backend.target(options)])
        return [AssignTargetPass(device=device, other_backends=tuple(options.extensions.backends))]
    return [
        AssignTargetPass(
            triple=options.llvmcpu_target_triple,
            cpu=options.llvmcpu_target_cpu,
            features=options.llvmcpu_target_cpu_features,
            stack_limit=options.llvmcpu_stack_allocation_limit,
            devices=options.hal_target_devices,
            default=options.hal_default_device,
            backends=options.hal_target_backends,
            other_backends=tuple(options.extensions.backends),
        )
    ]


def executable_sources_passes(options: CompileOptions) -> list[ModulePass]:
    """The passes of the phase `executable-sources`, in order."""
    from tiree.hal.materialize_interfaces import MaterializeInterfacesPass

    passes: list[ModulePass] = [MaterializeInterfacesPass()]
    if options.hal_link_executables:
        from tiree.hal.link_executables import LinkExecutablesPass

        passes.append(LinkExecutablesPass())
    return passes


def hal_passes(options: CompileOptions) -> list[ModulePass]:
    """The passes of the phase `hal`, in order."""
    from tiree.hal.convert_to_hal import ConvertToHALPass
    from tiree.hal.elide_staging_copies import ElideStagingCopiesPass
    from tiree.hal.inline.convert_to_inline import MODELS, STATIC, CheckHostOnlyPass, ConvertToInlinePass

    model, by_name = options.execution_model, options.hal_executable_debug_level > 0
    if model in MODELS:
        return [ElideStagingCopiesPass(), ConvertToInlinePass(static=model == STATIC, functions_by_name=by_name)]
    only_host: list[ModulePass] = [CheckHostOnlyPass()] if model == "host-only" else []
    convert = ConvertToHALPass(
        memoize=options.hal_memoization and options.hal_indirect_command_buffers,
        functions_by_name=by_name,
    )
    passes: list[ModulePass] = [*only_host, ElideStagingCopiesPass(), convert]
    if options.hal_benchmark_dispatch_repeat_count > 1:
        from tiree.hal.repeat_dispatches import RepeatDispatchesPass

        passes.append(RepeatDispatchesPass(options.hal_benchmark_dispatch_repeat_count))
    return passes
