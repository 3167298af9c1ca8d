"""Pass `tiree-vm-conversion`: a module of `hal`, `util`, `cf` and scalar `arith` becomes one `vm.module`.

In: the `hal` phase (control flow as branches, executables as binaries). Out: `builtin.module` that holds one
`vm.module` with globals, rodata, functions, imports and exports; all `util.initializer`s run in order in one exported
`__init`.
Unsupported operations are reported together.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.dialects import vm
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.symbols import RESERVED, SymbolNames
from tiree.support.typed import is_float_attr, is_integer_attr, is_integer_type, symbol_name
from tiree.vm import (
    convert_arith,
    convert_buffers,
    convert_hal,
    convert_host,
    convert_inline,
    convert_kernel,
    convert_math,
    convert_parameters,
)
from tiree.vm.builder import FunctionBuilder, ModuleState, convert_type, fail, scalar_suffix
from tiree.vm.imports import import_op, is_import

HANDLERS = {
    **convert_arith.HANDLERS,
    **convert_buffers.HANDLERS,
    **convert_hal.HANDLERS,
    **convert_host.HANDLERS,
    **convert_inline.HANDLERS,
    **convert_kernel.HANDLERS,
    **convert_math.HANDLERS,
    **convert_parameters.HANDLERS,
}

_DECLARATIONS = ("util.global", "util.func", "util.initializer", "hal.executable")


class VMConversion(ModulePass):
    """See the module docstring."""

    name = "tiree-vm-conversion"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        _check_supported(op)
        name = op.sym_name.data if op.sym_name is not None else "module"
        target = _convert_module(op, name)
        for source in list(op.body.block.ops):
            source.detach()
            source.erase(safe_erase=False)
        op.body.block.add_op(target)
        op.attributes["vm.toplevel"] = UnitAttr()
        op.attributes.pop("stream.affinity.default", None)


_EARLIER_DIALECTS = frozenset(("func", "stablehlo", "chlo", "linalg", "tensor", "flow", "stream"))
"""What no longer exists after phase `hal`."""


def _check_supported(module: ModuleOp) -> None:
    """One report of everything that has no conversion."""
    diagnostics: list[Diagnostic] = []
    for op in module.body.block.ops:
        if op.name not in _DECLARATIONS:
            diagnostics.append(_unsupported(op))
        elif op.name in ("util.func", "util.initializer"):
            diagnostics += [
                _unsupported(o) for block in op.regions[0].blocks for o in block.ops if o.name not in HANDLERS
            ]
    if diagnostics:
        raise CompileError(diagnostics)


def _unsupported(op: Operation) -> Diagnostic:
    hint = "this operation runs on no host"
    if op.name.partition(".")[0] in _EARLIER_DIALECTS:
        hint = "the module is at an earlier phase than --compile-from= says: name that one, or leave the flag out"
    return Diagnostic(f"'{op.name}' has no lowering to the vm dialect", location_of(op), hint)


def _convert_module(source: ModuleOp, name: str) -> vm.ModuleOp:
    ops = list(source.body.block.ops)
    functions = [op for op in ops if op.name == "util.func" and op.regions[0].blocks]
    # Of other modules; those that nothing calls need not be there.
    called = {_callee(op) for function in functions for op in function.walk() if op.name == "util.call"}
    foreign = [op for op in ops if op.name == "util.func" and not op.regions[0].blocks and _symbol(op) in called]
    names = SymbolNames(source)
    state = ModuleState(names)
    state.function_names = {s: names.unique(s) for s in map(_symbol, functions) if s in RESERVED or is_import(s)}
    state.yielding_functions = _yielding_functions(functions)
    state.fallbacks = _fallbacks(foreign, functions)
    for op in ops:
        if op.name == "hal.executable":
            executable = _symbol(op)
            for binary in op.regions[0].block.ops:
                if binary.name == "hal.executable.binary":
                    state.binaries[executable, _symbol(binary)] = binary

    private = [op for op in functions if _is_private(op)]
    public = [op for op in functions if not _is_private(op)]
    converted = [_convert_function(state, op) for op in (*private, *public)]
    init = _convert_initializers(state, ops)
    exports: list[Operation] = [_export(state, op) for op in public]
    if init is not None:
        converted.append(init)
        exports.append(vm.ExportOp("__init", "__init"))
    if state.size_check is not None:
        converted.append(state.size_check)

    target = vm.ModuleOp(name)
    body = target.body.block
    body.add_ops(_convert_global(op) for op in ops if op.name == "util.global" and not _only_described(op))
    body.add_ops(state.rodata.values())
    body.add_ops(_import(op) for op in foreign)
    body.add_ops(import_op(decl) for decl in sorted(state.imports.values(), key=lambda d: d.order))
    body.add_ops(converted)
    body.add_ops(exports)
    body.add_op(vm.ModuleTerminatorOp())
    return target


def _symbol(op: Operation) -> str:
    return symbol_name(op)


def _callee(op: Operation) -> str:
    callee = op.properties["callee"]
    assert isinstance(callee, SymbolRefAttr)
    return callee.root_reference.data


def _fallbacks(foreign: list[Operation], functions: list[Operation]) -> dict[str, str]:
    """`vm.fallback` of functions of other modules."""
    known = {_symbol(op): op for op in functions}
    found: dict[str, str] = {}
    for op in foreign:
        fallback = op.attributes.get("vm.fallback")
        if fallback is None:
            continue
        name = fallback.root_reference.data if isinstance(fallback, SymbolRefAttr) else str(fallback)
        if name not in known:
            raise fail(op, f"vm.fallback of @{_symbol(op)} is @{name}, which this module does not define")
        if known[name].properties["function_type"] != op.properties["function_type"]:
            raise fail(
                op, f"@{name} cannot stand in for @{_symbol(op)}: their types differ", "pass numbers or buffer views"
            )
        found[_symbol(op)] = name
    return found


def _import(op: Operation) -> vm.ImportOp:
    """The import of a function of another module. As in IREE, `vm.version` is the least version of that module, and
    `vm.fallback` the function that is called when it is not there."""
    version = op.attributes.get("vm.version")
    if version is not None and not is_integer_attr(version):
        raise fail(op, f"vm.version of @{_symbol(op)} is {version}, not a number such as `3 : i32`")
    type = op.properties["function_type"]
    assert isinstance(type, FunctionType)
    inputs, outputs = ([convert_type(t, op) for t in types.data] for types in (type.inputs, type.outputs))
    return vm.ImportOp(
        properties={
            "sym_name": StringAttr(_symbol(op)),
            "sym_visibility": StringAttr("private"),
            "function_type": FunctionType.from_lists(inputs, outputs),
            "minimum_version": None if version is None else IntegerAttr(version.value.data, i32),
            "is_optional": UnitAttr() if "vm.fallback" in op.attributes else None,
        },
        regions=[Region()],
    )


def _is_private(op: Operation) -> bool:
    visibility = op.properties.get("sym_visibility")
    return isinstance(visibility, StringAttr) and visibility.data == "private"


def _yielding_functions(functions: list[Operation]) -> set[str]:
    """Functions that wait on fences, themselves or through calls."""
    yielding: set[str] = set()
    callers: dict[str, list[str]] = {}
    for function in functions:
        for block in function.regions[0].blocks:
            for op in block.ops:
                if op.name == "hal.fence.await":
                    yielding.add(_symbol(function))
                elif op.name == "util.call":
                    callers.setdefault(_callee(op), []).append(_symbol(function))
    work = list(yielding)
    while work:
        for caller in callers.get(work.pop(), ()):
            if caller not in yielding:
                yielding.add(caller)
                work.append(caller)
    return yielding


def _only_described(op: Operation) -> bool:
    """Whether a global says what a device is, for compilers; a program without devices still has it."""
    return op.properties["type"].name == "hal.device" and op.properties.get("initial_value") is not None


def _convert_global(op: Operation) -> Operation:
    type = op.properties["type"]
    register_type = convert_type(type, op)
    suffix = scalar_suffix(register_type)
    properties: dict[str, Attribute] = {
        "sym_name": op.properties["sym_name"],
        "sym_visibility": StringAttr("private"),
        "type": register_type,
        "is_mutable": UnitAttr(),
    }
    value = op.properties.get("initial_value")
    if is_integer_attr(value):
        assert is_integer_type(register_type)
        properties["initial_value"] = IntegerAttr(value.value.data, register_type)
    elif is_float_attr(value):
        properties["initial_value"] = value
    elif value is not None:
        raise CompileError(Diagnostic(f"a global cannot start as {value}", location_of(op)))
    return vm.global_op(suffix).create(properties=properties)


def _convert_function(state: ModuleState, op: Operation) -> Operation:
    signature = op.properties["function_type"]
    assert isinstance(signature, FunctionType)
    inputs = [convert_type(t, op) for t in signature.inputs.data]
    outputs = [convert_type(t, op) for t in signature.outputs.data]
    region = Region()
    builder = FunctionBuilder(state, region)
    _convert_body(builder, op.regions[0], new_entry=False)
    builder.finish()
    function = vm.FuncOp(state.function_name(_symbol(op)), inputs, outputs, region)
    reflection = op.attributes.get("iree.reflection")
    if reflection is not None:
        function.attributes["iree.reflection"] = reflection
    return function


def _convert_body(b: FunctionBuilder, source: Region, *, new_entry: bool) -> None:
    """Converts all blocks of `source`; the first continues the current block when `new_entry`."""
    blocks = list(source.blocks)
    for block in blocks[1:] if new_entry else blocks:
        place = block.first_op or block.parent_op()
        assert place is not None
        target = Block(arg_types=[convert_type(a.type, place) for a in block.args])
        b.blocks[block] = target
        b.values.update(zip(block.args, target.args, strict=True))
    for i, block in enumerate(blocks):
        if i or not new_entry:
            b.start(b.blocks[block])
        for op in block.ops:
            b.location = op.location
            HANDLERS[op.name](b, op)


def _convert_initializers(state: ModuleState, ops: list[Operation]) -> Operation | None:
    """All initializers, in order, as one function; None when there are none."""
    initializers = [op for op in ops if op.name == "util.initializer"]
    if not initializers:
        return None
    region = Region()
    builder = FunctionBuilder(state, region)
    builder.start(Block())
    for op in initializers:
        single = len(op.regions[0].blocks) == 1
        after = None if single else Block()
        builder.return_block = after
        builder.inlined = single
        _convert_body(builder, op.regions[0], new_entry=True)
        if after is not None:
            builder.start(after)
    builder.block.add_op(vm.return_op())
    builder.finish()
    return vm.FuncOp("__init", [], [], region)


def _export(state: ModuleState, op: Operation) -> Operation:
    export = vm.ExportOp(_symbol(op), state.function_name(_symbol(op)))
    for key in ("iree.abi.stub", "iree.reflection"):
        attr = op.attributes.get(key)
        if attr is not None and (not isinstance(attr, DictionaryAttr) or attr.data):
            export.attributes[key] = attr
    return export
