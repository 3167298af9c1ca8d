"""Pass `tiree-vm-expand`: operations without an instruction become instructions, initial values become stores.

In: `vm.module`s with any operation of the dialect. Out: operations that are instructions, globals that start at zero,
and one `__init` that stores initial values, then does what the initializers do, in order, then what was in it before.
Comparisons of floats are those of IEEE also where a NaN is compared: `a >= b` is `b <= a`.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, f32, f64, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import vm
from tiree.dialects.vm_composed import VALUES, InitializerOp
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import is_integer_attr, string_of
from tiree.vm.rodata import expand_rodata

_FAILED_PRECONDITION = 9
_SCALARS: dict[str, Attribute] = {"i32": i32, "i64": i64, "f32": f32, "f64": f64}
_NEAR = {"f32": 100, "f64": 50_000_000_000}
"""How far apart the bits of nearly equal numbers may be."""


class Expand(ModulePass):
    """See the module docstring."""

    name = "tiree-vm-expand"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for module in op.body.block.ops:
            if isinstance(module, vm.ModuleOp):
                _initialize(module)
                expand_rodata(module)
                for function in module.body.block.ops:
                    if isinstance(function, vm.FuncOp):
                        _expand_function(function)


# Initial values and initializers.


def _initialize(module: vm.ModuleOp) -> None:
    body = module.body.block
    stores = [op for one in body.ops if one.name.startswith("vm.global.") for op in _store_of(one)]
    initializers = [op for op in body.ops if isinstance(op, InitializerOp)]
    if not stores and not initializers:
        return
    old = next((op for op in body.ops if isinstance(op, vm.FuncOp) and op.sym_name.data == "__init"), None)
    region = Region(Block(stores))
    for op in (*initializers, *([old] if old is not None else [])):
        _append(region, op.body)
        op.detach()
        op.erase()
    last = region.blocks[-1]
    last.add_op(vm.return_op())
    last_op = body.last_op
    made: list[Operation] = [vm.FuncOp("__init", [], [], region)]
    if not any(isinstance(op, vm.ExportOp) and op.export_name.data == "__init" for op in body.ops):
        made.append(vm.ExportOp("__init", "__init"))
    if last_op is not None and last_op.name == "vm.module_terminator":
        body.insert_ops_before(made, last_op)
    else:
        body.add_ops(made)


def _store_of(op: Operation) -> list[Operation]:
    """What gives a global its initial value, which it then has no more."""
    value = op.properties.pop("initial_value", None)
    if value is None or (is_integer_attr(value) and value.value.data == 0):
        return []
    suffix = op.name.rpartition(".")[2]
    constant = vm.value_op(f"const.{suffix}").create(result_types=[_SCALARS[suffix]], properties={"value": value})
    properties: dict[str, Attribute] = {"global": vm.symbol(string_of(op.properties["sym_name"]))}
    store = vm.value_op(f"global.store.{suffix}").create(operands=[constant.results[0]], properties=properties)
    constant.location = store.location = op.location
    return [constant, store]


def _append(region: Region, body: Region) -> None:
    """Goes on behind the last block of `region` with `body`; where `body` returned, what is appended next follows."""
    first, *others = body.blocks
    after = Block()
    for block in (first, *others):
        end = block.last_op
        if end is not None and end.name == "vm.return":
            jump = vm.BranchOp(after)
            jump.location = end.location
            end.detach()
            end.erase()
            block.add_op(jump)
    last = region.blocks[-1]
    for block in (first, *others):
        body.detach_block(block)
        region.add_block(block)
    last.add_op(vm.BranchOp(first))
    region.add_block(after)


# Operations.


class _Builder:
    """Makes operations before one that they replace."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def add(self, name: str, operands: list[SSAValue], type: Attribute, **properties: Attribute) -> SSAValue:
        made = vm.value_op(name).create(operands=operands, result_types=[type], properties=dict(properties))
        made.location = self.op.location
        block = self.op.parent_block()
        assert block is not None
        block.insert_op_before(made, self.op)
        return made.results[0]

    def constant(self, value: int, type: str = "i32") -> SSAValue:
        number = IntegerAttr(value, i32 if type == "i32" else i64)
        return self.add(f"const.{type}", [], _SCALARS[type], value=number)

    def zero(self, type: str) -> SSAValue:
        return self.add(f"const.{type}.zero", [], _SCALARS[type])

    def negated(self, value: SSAValue) -> SSAValue:
        return self.add("xor.i32", [value, self.constant(1)], i32)

    def compare(self, name: str, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.add(f"cmp.{name}", [left, right], i32)

    def near(self, operands: list[SSAValue], type: str) -> SSAValue:
        """Numbers of one sign whose bits are close; of two signs, only zeros."""
        bits = f"i{type[1:]}"
        zero = self.zero(type)
        signs = [self.compare(f"lt.{type}.o", value, zero) for value in operands]
        equal = self.compare(f"eq.{type}.o", *operands)
        words = [self.add(f"bitcast.{type}.{bits}", [value], _SCALARS[bits]) for value in operands]
        distance = self.add(f"abs.{bits}", [self.add(f"sub.{bits}", words, _SCALARS[bits])], _SCALARS[bits])
        close = self.compare(f"lt.{bits}.s", distance, self.constant(_NEAR[type], bits))
        differ = self.compare("ne.i32", *signs)
        return self.add("select.i32", [differ, equal, close], i32)


def _comparison(b: _Builder, name: str) -> SSAValue:
    operands = list(b.op.operands)
    _, kind, type, *order = name.split(".")
    if order == ["near"]:
        return b.near(operands, type)
    suffix = f"{type}.{order[0]}"
    if kind == "nz":
        return b.compare(f"ne.{suffix}", operands[0], b.zero(type))
    left, right = operands
    if kind == "gt":
        return b.compare(f"lt.{suffix}", right, left)
    if type in ("f32", "f64"):
        return b.compare(f"lte.{suffix}", right, left)
    return b.negated(b.compare(f"lt.{suffix}", *((left, right) if kind == "gte" else (right, left))))


_STEPS: dict[str, tuple[str, str]] = {
    "ext.i8.i64.s": ("ext.i8.i32.s", "ext.i32.i64.s"),
    "ext.i8.i64.u": ("ext.i8.i32.u", "ext.i32.i64.u"),
    "ext.i16.i64.s": ("ext.i16.i32.s", "ext.i32.i64.s"),
    "ext.i16.i64.u": ("ext.i16.i32.u", "ext.i32.i64.u"),
    "trunc.i16.i8": ("ext.i16.i32.u", "trunc.i32.i8"),
    "trunc.i64.i8": ("trunc.i64.i32", "trunc.i32.i8"),
    "trunc.i64.i16": ("trunc.i64.i32", "trunc.i32.i16"),
}


def _conversion(b: _Builder, name: str) -> SSAValue:
    first, second = _STEPS[name]
    return b.add(second, [b.add(first, [b.op.operands[0]], i32)], b.op.results[0].type)


def _fails_when(b: _Builder, name: str) -> SSAValue:
    """Whether a check fails."""
    operands = list(b.op.operands)
    type = "ref" if vm.is_ref(operands[0].type) else str(operands[0].type)
    order = ".o" if type in ("f32", "f64") else ""
    match name:
        case "check.eq":
            return b.compare(f"ne.{type}{order}", *operands)
        case "check.ne":
            return b.compare(f"eq.{type}{order}", *operands)
        case "check.nz" if order:
            return b.compare(f"eq.{type}{order}", operands[0], b.zero(type))
        case "check.nz":
            return b.negated(b.add(f"cmp.nz.{type}", operands, i32))
        case _:
            if type not in _NEAR:
                raise CompileError(Diagnostic(f"vm.{name} compares floats, not {type}", location_of(b.op)))
            return b.negated(b.near(operands, type))


def _expand_failure(op: Operation, name: str) -> Block:
    """A check or `vm.cond_fail` ends its block; returns the block that goes on."""
    b = _Builder(op)
    if name == "cond_fail":
        condition, status = op.operands[0], op.operands[-1]
    else:
        condition, status = _fails_when(b, name), b.constant(_FAILED_PRECONDITION)
    block = op.parent_block()
    assert block is not None
    region = block.parent_region()
    assert region is not None
    message = op.properties.get("message")
    failure = vm.fail_op(status, message.data if isinstance(message, StringAttr) else "")
    rest = block.split_before(op)
    failing = Block([failure])
    region.insert_block_after(failing, region.blocks[-1])
    branch = vm.CondBranchOp(condition, failing, [], rest, [])
    failure.location = branch.location = op.location
    block.add_op(branch)
    op.detach()
    op.erase()
    return rest


def _replace(op: Operation, values: list[SSAValue]) -> None:
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.erase()


_NAMES = frozenset(f"vm.{name}" for name in VALUES)


def _expand_function(function: vm.FuncOp) -> None:
    for block in list(function.body.blocks):
        current: Block | None = block
        while current is not None:
            current = _expand_block(current)


def _expand_block(block: Block) -> Block | None:
    """Expands what is in `block`, up to the first operation that splits it; the block behind it."""
    for op in list(block.ops):
        if op.name not in _NAMES:
            continue
        name = op.name.removeprefix("vm.")
        if name == "cond_fail" or name.startswith("check."):
            return _expand_failure(op, name)
        if name == "optimization_barrier":
            _replace(op, list(op.operands))
        elif name == "cast.ref.any":
            _replace(op, [_Builder(op).add("assign.ref", list(op.operands), op.results[0].type)])
        else:
            make: Callable[[_Builder, str], SSAValue] = _comparison if name.startswith("cmp.") else _conversion
            _replace(op, [make(_Builder(op), name)])
    return None
