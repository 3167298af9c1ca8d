"""`tiree-input-flatten-tuples`: values of tuple type become their elements, and tokens nothing at all.

A function that takes or returns a tuple takes or returns the elements, in order. Tokens order effects, of which
programs here have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.stablehlo_attrs import TokenType
from tiree.support.errors import CompileError, Diagnostic, linked
from tiree.support.locations import location_of
from tiree.support.typed import is_array_attr, is_integer_attr

_FUNCTIONS = ("func.func", "util.func")
_TOKENS = ("stablehlo.after_all", "stablehlo.create_token")


def elements(type: Attribute) -> list[Attribute] | None:
    """What a value of tuple or token type is made of; None for other types."""
    if isinstance(type, TokenType):
        return []
    if isinstance(type, TupleType):
        return [element for part in type.types.data for element in _flat(part)]
    return None


def _flat(type: Attribute) -> list[Attribute]:
    found = elements(type)
    return [type] if found is None else found


class FlattenTuplesPass(ModulePass):
    """In: any module. Out: the same without values of tuple and token type. Raises one `CompileError` for all ops
    that make or take apart a tuple of another type than they have."""

    name = "tiree-input-flatten-tuples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        concerned = [inner for inner in op.walk() if _concerned(inner)]
        wrong = list(_wrong(concerned))
        if wrong:
            raise CompileError(linked(wrong))
        if concerned:
            _Flattening().run(op)


def _concerned(op: Operation) -> bool:
    if any(elements(value.type) is not None for value in (*op.operands, *op.results)):
        return True
    if op.name in _OF_ELEMENTS:
        arguments = (arg for region in op.regions for block in region.blocks for arg in block.args)
        if any(elements(argument.type) is not None for argument in arguments):
            return True
    type = op.properties.get("function_type")
    return isinstance(type, FunctionType) and any(elements(t) is not None for t in (*type.inputs, *type.outputs))


_OF_ELEMENTS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_reduce",
        "map",
        "reduce",
        "reduce_scatter",
        "reduce_window",
        "scatter",
        "select_and_scatter",
        "sort",
    )
)
"""Ops whose bodies work on elements, which are in no tuple."""


def _wrong(ops: Sequence[Operation]) -> Iterator[Diagnostic]:
    for op in ops:
        reason = ""
        if op.name == "stablehlo.tuple":
            made, wanted = op.results[0].type, [operand.type for operand in op.operands]
            if not isinstance(made, TupleType) or list(made.types.data) != wanted:
                reason = f"its result is {made}; its operands make tuple<{', '.join(map(str, wanted))}>"
        elif op.name == "stablehlo.get_tuple_element":
            type, index = op.operands[0].type, _index(op)
            parts = type.types.data if isinstance(type, TupleType) else ()
            if index is None or not 0 <= index < len(parts):
                reason = f"its index is {index}; its operand {type} has {len(parts)} elements"
            elif op.results[0].type != parts[index]:
                reason = f"its result is {op.results[0].type}; element {index} of its operand is {parts[index]}"
        elif op.name == "stablehlo.return" and (parent := op.parent_op()) is not None and parent.name in _OF_ELEMENTS:
            tuples = [value.type for value in op.operands if elements(value.type) is not None]
            if tuples:
                reason, op = f"its body returns {tuples[0]}; it needs rank-0 tensors", parent
        elif op.name in _OF_ELEMENTS:
            arguments = [arg for region in op.regions for block in region.blocks for arg in block.args]
            tuples = [arg.type for arg in arguments if elements(arg.type) is not None]
            if tuples:
                reason = f"its body takes {tuples[0]}; it needs rank-0 tensors"
        if reason:
            yield Diagnostic(f"{op.name} is not valid: {reason}", location_of(op))


def _index(op: Operation) -> int | None:
    index = op.properties.get("index", op.attributes.get("index"))
    return index.value.data if is_integer_attr(index) else None


class _Flattening:
    def __init__(self) -> None:
        self.parts: dict[SSAValue, list[SSAValue]] = {}
        self.gone: list[Operation] = []

    def run(self, module: ModuleOp) -> None:
        self._region_ops(module)
        for op in reversed(self.gone):
            op.detach()
            op.erase()

    def of(self, value: SSAValue) -> list[SSAValue]:
        return self.parts.get(value, [value])

    def _region_ops(self, op: Operation) -> None:
        """Everything inside of `op`, in order: definitions come before uses."""
        for region in op.regions:
            for block in region.blocks:
                self._arguments(block)
            for block in region.blocks:
                for inner in list(block.ops):
                    self._op(inner)

    def _arguments(self, block: Block) -> None:
        for argument in list(block.args):
            types = elements(argument.type)
            if types is None:
                continue
            made: list[SSAValue] = []
            for number, type in enumerate(types):
                new = block.insert_arg(type, argument.index + 1 + number)
                new.location = argument.location
                made.append(new)
            self.parts[argument] = made

    def _op(self, op: Operation) -> None:
        if op.name == "stablehlo.tuple":
            self._drop(op, [part for operand in op.operands for part in self.of(operand)])
        elif op.name == "stablehlo.get_tuple_element":
            self._element(op)
        elif op.name in _TOKENS:
            self._drop(op, [])
        elif _concerned(op):
            self._again(op)
        else:
            self._region_ops(op)
        self._forget_arguments(op)

    def _drop(self, op: Operation, parts: list[SSAValue]) -> None:
        self.parts[op.results[0]] = parts
        self.gone.append(op)

    def _element(self, op: Operation) -> None:
        type, index = op.operands[0].type, _index(op)
        if not isinstance(type, TupleType) or index is None:
            return
        before = sum(len(_flat(part)) for part in type.types.data[:index])
        count = len(_flat(type.types.data[index]))
        parts = self.of(op.operands[0])[before : before + count]
        if elements(op.results[0].type) is None:
            op.results[0].replace_all_uses_with(parts[0])
        self._drop(op, parts)

    def _again(self, op: Operation) -> None:
        """`op` with the elements for operands and results of tuple type."""
        regions = [op.detach_region(region) for region in list(op.regions)]
        properties = dict(op.properties)
        type = properties.get("function_type")
        if isinstance(type, FunctionType):
            inputs, outputs = ([e for t in types.data for e in _flat(t)] for types in (type.inputs, type.outputs))
            properties["function_type"] = FunctionType.from_lists(inputs, outputs)
            for key, types in (("arg_attrs", type.inputs.data), ("res_attrs", type.outputs.data)):
                if is_array_attr(attrs := properties.get(key)):
                    properties[key] = _spread(attrs.data, types)
        new = op.__class__.create(
            operands=[part for operand in op.operands for part in self.of(operand)],
            result_types=[element for result in op.results for element in _flat(result.type)],
            properties=properties,
            attributes=op.attributes,
            successors=op.successors,
            regions=regions,
        )
        new.location = op.location
        block = op.parent
        assert block is not None
        block.insert_op_before(new, op)
        made = list(new.results)
        for result in op.results:
            types = elements(result.type)
            if types is None:
                result.replace_all_uses_with(made.pop(0))
            else:
                self.parts[result] = [made.pop(0) for _ in types]
        self.gone.append(op)
        self._region_ops(new)
        self._forget_arguments(new)

    def _forget_arguments(self, op: Operation) -> None:
        """Arguments of tuple type, whose uses are in ops that go."""
        for region in op.regions:
            for block in region.blocks:
                for argument in list(block.args):
                    if argument in self.parts:
                        for use in list(argument.uses):
                            _without_operand(use.operation, argument)
                        block.erase_arg(argument)


def _without_operand(op: Operation, value: SSAValue) -> None:
    op.operands = [operand for operand in op.operands if operand is not value]


def _spread(attrs: Sequence[Attribute], types: Sequence[Attribute]) -> ArrayAttr:
    made: list[Attribute] = []
    for attr, type in zip(attrs, types, strict=True):
        parts = elements(type)
        made += [attr] if parts is None else [DictionaryAttr({})] * len(parts)
    return ArrayAttr(made)
