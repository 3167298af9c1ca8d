"""The compiler as data: `PHASES` in order, each a name, a line that says what the module is afterwards, and its passes.

The command line, the documentation and the tests read the one list. Stages are imported when their phase runs. A
`PipelineObserver` sees every pass; printing, timing and progress are observers (`pipeline_observers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from tiree.extension_points import ExtensionPoint, Group, points_of, woven
from tiree.support.errors import CompileError, Diagnostic, InternalError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tiree.support.options import CompileOptions

PassList = Callable[["CompileOptions"], "list[ModulePass]"]


def _stage(module: str, *functions: str) -> PassList:
    """The passes of stage package `tiree.<module>`, whose functions are named; imported on call."""

    def passes(options: CompileOptions) -> list[ModulePass]:
        from importlib import import_module

        package = import_module(f"tiree.{module}")
        return [one for function in functions for one in getattr(package, function)(options)]

    return passes


def _preprocessing(options: CompileOptions) -> list[ModulePass]:
    return [*_stage("hal", "assign_target_passes")(options), *_stage("flow", "preprocessing_passes")(options)]


def _global_optimization(options: CompileOptions) -> list[ModulePass]:
    from functools import partial

    from tiree.constant_evaluation import evaluate
    from tiree.flow import global_optimization_passes

    return global_optimization_passes(options, partial(evaluate, options))


def _nothing(options: CompileOptions) -> list[ModulePass]:
    del options
    return []


@dataclass(frozen=True)
class Phase:
    """One step of the compiler. `checked` phases end a stage: the module is verified there.

    `arrival` are passes that run when compilation starts after this phase: they bring what another compiler printed
    there to the forms that Tiree's own passes leave, and change nothing else. `groups` name passes between which
    plugins can put theirs.
    """

    name: str
    description: str
    passes: PassList
    checked: bool = False
    arrival: PassList = _nothing
    groups: tuple[Group, ...] = ()

    @property
    def points(self) -> list[ExtensionPoint]:
        """Where plugins can put passes; none in a phase of no work."""
        return [] if self.passes is _nothing else points_of(self.name, self.description, self.groups)


_tensors = _stage("input", "arrival_passes")
_sized = _stage("input", "abi_arrival_passes")


def _simplified(options: CompileOptions) -> list[ModulePass]:
    return [*_sized(options), *_stage("flow", "global_optimization_arrival_passes")(options)]


def _in_regions(options: CompileOptions) -> list[ModulePass]:
    return [*_tensors(options), *_stage("flow", "dispatch_creation_arrival_passes")(options)]


def _configurations(options: CompileOptions) -> list[ModulePass]:
    vmvx = _stage("vmvx", "configuration_passes")(options)
    return [*_stage("codegen", "configuration_passes")(options), *vmvx]


def _translations(options: CompileOptions) -> list[ModulePass]:
    return [*_stage("codegen", "target_passes")(options), *_stage("vmvx", "target_passes")(options)]


def _configured(options: CompileOptions) -> list[ModulePass]:
    codegen = _stage("codegen", "arrival_passes")(options)
    return [*codegen, *_tensors(options), *_configurations(options)]


PHASES: tuple[Phase, ...] = (
    Phase("start", "the module as it was read", _nothing),
    Phase(
        "input",
        "linalg, tensor, arith, math and scf in util.func",
        _stage("input", "input_passes"),
        arrival=_stage("input", "input_arrival_passes"),
        groups=(Group("linalg", "what users write becomes linalg", "tiree-stablehlo-to-linalg"),),
    ),
    Phase(
        "abi",
        "entry points take and return !hal.buffer_view",
        _stage("input", "abi_passes"),
        checked=True,
        arrival=_sized,
    ),
    Phase("preprocessing", "the target device is assigned", _preprocessing, arrival=_sized),
    Phase(
        "global-optimization",
        "the whole program is simplified",
        _global_optimization,
        arrival=_simplified,
        groups=(Group("constant-folding", "constants are computed", "tiree-global-opt-fold-constants"),),
    ),
    Phase(
        "dispatch-creation",
        "fused work stands in dispatch regions",
        _stage("flow", "dispatch_creation_passes"),
        arrival=_in_regions,
        groups=(
            Group("fusion", "elementwise work is fused", "tiree-dispatch-creation-fuse-elementwise"),
            Group("dispatches", "work is put into dispatch regions", "tiree-dispatch-creation-form-workgroups"),
        ),
    ),
    Phase(
        "flow",
        "dispatches of outlined, deduplicated executables",
        _stage("flow", "flow_passes"),
        checked=True,
        arrival=_tensors,
    ),
    Phase(
        "stream",
        "an asynchronous schedule with packed memory",
        _stage("stream", "stream_passes"),
        checked=True,
        arrival=_tensors,
        groups=(Group("schedule", "work is put in order and memory is planned", "tiree-stream-schedule"),),
    ),
    Phase(
        "executable-sources",
        "executables for their target, in tensors",
        _stage("hal", "executable_sources_passes"),
        arrival=_tensors,
    ),
    Phase(
        "executable-configurations",
        "a strategy chosen for every dispatch",
        _configurations,
        arrival=_configured,
    ),
    Phase(
        "executable-targets",
        "executables as machine code",
        _translations,
        groups=(Group("kernels", "dispatches become loops over memory", "tiree-codegen-lower-to-kernels"),),
        arrival=_stage("codegen", "target_arrival_passes"),
    ),
    Phase("hal", "command buffers, buffers and device initialisation", _stage("hal", "hal_passes"), checked=True),
    Phase(
        "vm",
        "the host program in VM instructions",
        _stage("vm", "vm_passes"),
        checked=True,
        arrival=_stage("vm", "arrival_passes"),
    ),
    Phase("end", "the .vmfb file", _nothing),
)

EXTENSION_POINTS: dict[str, ExtensionPoint] = {point.name: point for phase in PHASES for point in phase.points}
"""Every place for passes of plugins, by name, in the order in which compilation comes by."""

PHASE_NAMES: tuple[str, ...] = tuple(phase.name for phase in PHASES)


class PipelineObserver:
    """Told about every pass and phase; does nothing by itself."""

    needs_passes = True
    """Whether it makes something of what it is told; without such, an output of an earlier compilation will do."""

    def begin(self) -> None:
        """The input is about to be read."""

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        """`one` is about to change `module`."""

    def after_pass(self, one: ModulePass, module: ModuleOp, seconds: float) -> None:
        """`one` has changed `module` in that time."""

    def after_step(self, what: str, seconds: float) -> None:
        """Something that is no pass took that time, such as reading the file."""

    def after_phase(self, phase: Phase, module: ModuleOp) -> None:
        """All passes of `phase` have run."""

    def finish(self) -> None:
        """The work has ended, perhaps by an error. May be called more than once."""


def phase_index(name: str) -> int:
    """The place of a phase in `PHASES`. Raises `CompileError` naming the phases."""
    if name not in PHASE_NAMES:
        raise CompileError(Diagnostic(f"no phase {name!r}", "<options>", f"phases are: {', '.join(PHASE_NAMES)}"))
    return PHASE_NAMES.index(name)


def verify_module(module: ModuleOp, culprit: str | None = None) -> None:
    """Checks every operation. Raises `CompileError` for the user's module, `InternalError` after pass `culprit`."""
    from xdsl.utils.exceptions import DiagnosticException, VerifyException

    from tiree.support.verification import verify

    if culprit is None:
        _check_symbols(module)
    try:
        verify(module)
    except (VerifyException, DiagnosticException) as error:
        if culprit is not None:
            raise InternalError(f"the module is not valid after {culprit}: {_last_line(error)}", culprit) from error
        raise _invalid(module, _last_line(error)) from error
    except Exception as error:
        # What an op of xDSL checks of another before that one has been checked itself, or says in its own way.
        if culprit is not None:
            raise
        raise _invalid(module, _unreadable(error)) from error
    if culprit is None:
        _check_order(module)


def _check_symbols(module: ModuleOp) -> None:
    from tiree.support.locations import location_of
    from tiree.support.symbols import defined_symbol

    first: dict[str, str] = {}
    for op in module.body.block.ops:
        name = defined_symbol(op)
        if name is not None and name in first:
            raise CompileError(Diagnostic(f"@{name} is defined twice; first at {first[name]}", location_of(op)))
        if name is not None:
            first[name] = location_of(op)


def _check_order(module: ModuleOp) -> None:
    from xdsl.ir import Operation

    from tiree.support.branches import wrong_branch
    from tiree.support.dominance import undefined_use
    from tiree.support.locations import location_of

    branch = wrong_branch(module)
    if branch is not None:
        raise CompileError(Diagnostic(f"{branch[0].name} {branch[1]}", location_of(branch[0])))
    found = undefined_use(module)
    if found is not None:
        op, value = found
        name = f"%{value.name_hint}" if value.name_hint else f"a value of type {value.type}"
        owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        place = f", which is defined at {location_of(owner)}" if owner is not None else ""
        raise CompileError(Diagnostic(f"{op.name} uses {name} where it is not visible{place}", location_of(op)))


def _unreadable(error: Exception) -> str:
    if type(error) is Exception:
        return _last_line(error)
    return f"a property is missing or of another kind ({_last_line(error)})"


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:400] if lines else type(error).__name__


def _invalid(module: ModuleOp, message: str) -> CompileError:
    """Names the operations whose own checks fail; xDSL's exception carries none."""
    from tiree.support.locations import location_of

    found = invalid_operations(module)
    result = CompileError(found or Diagnostic(f"the module is not valid: {message}", location_of(module)))
    result.module = module
    return result


def invalid_operations(module: ModuleOp) -> list[Diagnostic]:
    """A finding for each operation whose own check fails."""
    from xdsl.utils.exceptions import VerifyException

    from tiree.support.locations import location_of

    found: list[Diagnostic] = []
    for op in module.walk(region_first=True):
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            found.append(Diagnostic(f"{op.name} is not valid: {_last_line(error)}", location_of(op)))
        except Exception as error:
            found.append(Diagnostic(f"{op.name} is not valid: {_unreadable(error)}", location_of(op)))
    return found


def run_passes(
    module: ModuleOp,
    passes: Iterable[ModulePass],
    ctx: Context,
    observers: Sequence[PipelineObserver] = (),
    foreign: list[str] | None = None,
) -> None:
    """Runs `passes` in order. An exception that is not a `CompileError` becomes an `InternalError` naming the pass.

    `foreign` takes what passes of plugins have run: an error of a later pass names them, for they may have caused it.
    """
    foreign = [] if foreign is None else foreign
    for one in passes:
        origin = getattr(one, "origin", None)
        for observer in observers:
            observer.before_pass(one, module)
        start = perf_counter()
        try:
            one.apply(ctx, module)
            if origin is not None:
                foreign.append(f"pass {one.name} of {origin}")
        except CompileError as error:
            if foreign and origin is None:
                raise _after_others(error, foreign) from error
            raise
        except InternalError:
            raise
        except RecursionError as error:
            raise CompileError(f"pass {one.name}: the program is nested too deeply") from error
        except Exception as error:
            from tiree.support.culprits import described

            where = f"pass {one.name}{described(error)}"
            raise InternalError(f"{where}: {type(error).__name__}: {error}", one.name) from error
        seconds = perf_counter() - start
        for observer in observers:
            observer.after_pass(one, module, seconds)


def _after_others(error: CompileError, foreign: Sequence[str]) -> CompileError:
    """`error`, which says which passes of plugins ran before."""
    *others, last = error.diagnostics
    hint = f"{last.hint}\n  " if last.hint else ""
    hint += f"{', '.join(dict.fromkeys(foreign))} ran before: does it happen without?"
    return CompileError([*others, last._replace(hint=hint)])


def run_pipeline(
    module: ModuleOp,
    options: CompileOptions,
    compile_from: str = "start",
    compile_to: str = "end",
    *,
    ctx: Context | None = None,
    observers: Sequence[PipelineObserver] = (),
) -> ModuleOp:
    """Takes `module` (in the form of phase `compile_from`) to phase `compile_to`, in place.

    Raises `CompileError` for what the program or the options have wrong, `InternalError` for faults of the compiler.
    """
    first, last = phase_index(compile_from), phase_index(compile_to)
    if last < first:
        hint = f"--compile-to must come after it: {', '.join(PHASE_NAMES[first:])}"
        raise CompileError(Diagnostic(f"cannot compile from {compile_from} to {compile_to}", "<options>", hint))
    if ctx is None:
        from tiree.dialects import get_context

        ctx = get_context()
    foreign: list[str] = []
    try:
        if last > first:
            run_passes(module, PHASES[first].arrival(options), ctx, observers, foreign)
        for phase in PHASES[first + 1 : last + 1]:
            run_passes(module, _passes_of(phase, options), ctx, observers, foreign)
            if phase.checked:
                verify_module(module, f"phase {phase.name}")
            for observer in observers:
                observer.after_phase(phase, module)
    finally:
        for observer in observers:
            observer.finish()
    return module


def _passes_of(phase: Phase, options: CompileOptions) -> list[ModulePass]:
    try:
        return woven(phase.name, phase.groups, phase.passes(options), options.extensions.placed)
    except CompileError:
        raise
    except Exception as error:
        raise InternalError(f"phase {phase.name}: {type(error).__name__}: {error}", phase.name) from error


def emit(module: ModuleOp, options: CompileOptions) -> bytes:
    """The `.vmfb` of a module of phase `vm`. Raises as `run_pipeline` does."""
    return b"".join(emit_in_pieces(module, options))


def emit_in_pieces(module: ModuleOp, options: CompileOptions) -> list[bytes | memoryview]:
    """The same in pieces, of which those with constants are views of what the module holds."""
    from tiree.vm import emit_pieces

    try:
        if options.vm_strip_debug_ops:
            from tiree.dialects import get_context
            from tiree.vm.strip_debug_ops import StripDebugOps

            StripDebugOps().apply(get_context(), module)
        return list(emit_pieces(module, options))
    except CompileError:
        raise
    except Exception as error:
        raise InternalError(f"writing the module file: {type(error).__name__}: {error}", "emit-archive") from error


def compile_module(
    module: ModuleOp,
    options: CompileOptions,
    compile_from: str = "start",
    *,
    ctx: Context | None = None,
    observers: Sequence[PipelineObserver] = (),
) -> bytes:
    """The `.vmfb` of `module`, which is changed on the way. Raises as `run_pipeline` does."""
    run_pipeline(module, options, compile_from, "end", ctx=ctx, observers=observers)
    return emit(module, options)
