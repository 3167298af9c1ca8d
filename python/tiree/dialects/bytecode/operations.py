"""The operations of a file, built in one pass.

Values have numbers: every region that is not isolated continues those of the region around it. A use may come before
its definition; a placeholder stands in until then.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import DictionaryAttr, LocationAttr, ModuleOp, NoneType, UnknownLoc, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser.core import ForwardDeclaredValue

from tiree.dialects.bytecode import file as versions
from tiree.dialects.bytecode.builtin import location
from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.file import BytecodeFile, section
from tiree.dialects.bytecode.properties import dictionary, inherent_names, read_properties
from tiree.dialects.bytecode.values import CONSTRUCTION_ERRORS, Values
from tiree.dialects.bytecode.vhlo_ops import NEWEST, from_vhlo, property_names
from tiree.dialects.registry import canonical_name
from tiree.support.typed import is_array_attr

_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _USE_LISTS, _PROPERTIES = (1 << bit for bit in range(7))
_UNKNOWN = UnknownLoc()
_PENDING = NoneType()


_OF_ARGUMENTS = ("arg_attrs", "res_attrs")


def _says_nothing(attribute: Attribute) -> bool:
    """Whether it holds empty dictionaries only: writers that take functions apart leave such."""
    return is_array_attr(attribute) and all(isinstance(one, DictionaryAttr) and not one.data for one in attribute.data)


class _Scope:
    """The values of a region that is isolated from what is around it, and of the regions in it."""

    def __init__(self) -> None:
        self.values: list[SSAValue | None] = []
        self.next: list[int] = []
        self.pending: dict[int, int] = {}
        """Number of each value that is used but not yet defined: where the first use is."""


class Unknown(NamedTuple):
    """An operation that no dialect has."""

    name: str
    location: Attribute


class Operations:
    """Builds the operations of one file."""

    def __init__(self, file: BytecodeFile, values: Values) -> None:
        self.file = file
        self.values = values
        self.unknown: list[Unknown] = []
        self._classes: dict[str, type[Operation]] = {}
        self._portable = False
        self._casts: list[Operation] = []
        self._scopes: list[_Scope] = []
        self.position = file.ir.position
        """Where the operation that is being read begins."""

    def read_module(self) -> ModuleOp:
        """All operations of the file; a module is put around them unless it is one."""
        self._scopes.append(_Scope())
        self._scopes[-1].next.append(0)
        block = Block()
        cursor = self.file.ir
        self._read_block(cursor, block, [block], None)
        cursor.done("the operations")
        self._check_defined(cursor)
        self._drop_casts()
        ops = list(block.ops)
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            ops[0].detach()
            return ops[0]
        if not ops:
            cursor.fail("the file holds no operation")
        return ModuleOp(Region(block))

    def _drop_casts(self) -> None:
        """Portable artifacts cast what VHLO gives to operations of other dialects; here both have the same types."""
        for cast in self._casts:
            if tuple(cast.operand_types) == tuple(cast.result_types):
                for result, operand in zip(cast.results, cast.operands, strict=True):
                    result.replace_all_uses_with(operand)
                cast.detach()
                cast.erase()

    # Values.

    def _define(self, cursor: Cursor, value: SSAValue) -> None:
        scope = self._scopes[-1]
        number = scope.next[-1]
        if number >= len(scope.values):
            cursor.fail("a region defines more values than it has said")
        scope.next[-1] += 1
        before = scope.values[number]
        scope.values[number] = value
        if before is not None:
            scope.pending.pop(number, None)
            before.replace_all_uses_with(value)

    def _operand(self, cursor: Cursor) -> SSAValue:
        at = cursor.position
        number = cursor.varint()
        scope = self._scopes[-1]
        if number >= len(scope.values):
            cursor.fail(f"there is no value {number} of {len(scope.values)}", at)
        found = scope.values[number]
        if found is None:
            found = scope.values[number] = ForwardDeclaredValue(_PENDING)
            scope.pending[number] = at
        return found

    def _check_defined(self, cursor: Cursor) -> None:
        for number, at in self._scopes[-1].pending.items():
            cursor.fail(f"value {number} is used but never defined", at)

    def _skip_use_lists(self, cursor: Cursor, count: int) -> None:
        """The order of uses, which nothing here depends on."""
        for _ in range(1 if count == 1 else cursor.count("orders of uses")):
            if count > 1:
                cursor.varint()
            length, pairs = cursor.flagged()
            if length > cursor.remaining:
                cursor.fail("an order of uses is too long")
            for _ in range(length):
                cursor.varint()
            del pairs

    # Regions and blocks.

    def _read_region(self, cursor: Cursor, region: Region, parent: Operation) -> None:
        count = cursor.count("blocks")
        if not count:
            return
        values = cursor.count("values")
        scope = self._scopes[-1]
        start = len(scope.values)
        scope.next.append(start)
        scope.values += [None] * values
        blocks = [Block() for _ in range(count)]
        for block in blocks:
            region.add_block(block)
        for block in blocks:
            self._read_block(cursor, block, blocks, parent)
        for number, at in scope.pending.items():
            if number >= start:
                cursor.fail(f"value {number} is used but never defined", at)
        del scope.values[start:]
        scope.next.pop()

    def _read_block(self, cursor: Cursor, block: Block, blocks: list[Block], parent: Operation | None) -> None:
        count, has_arguments = cursor.flagged()
        if count > cursor.remaining:
            cursor.fail(f"{count} operations do not fit into the {cursor.remaining} bytes that are left")
        if has_arguments:
            self._read_arguments(cursor, block)
            if self.file.version >= versions.USE_LIST_ORDERS and cursor.byte():
                self._skip_use_lists(cursor, len(block.args))
        for _ in range(count):
            block.add_op(self._read_op(cursor, blocks, parent))

    def _read_arguments(self, cursor: Cursor, block: Block) -> None:
        for _ in range(cursor.count("block arguments")):
            place: LocationAttr = _UNKNOWN
            if self.file.version >= versions.KNOWN_ARGUMENT_LOCATIONS:
                at = cursor.position
                index, has_location = cursor.flagged()
                type = self.values.type_at(cursor, index, at)
                if has_location:
                    place = location(self.values, cursor)
            else:
                type = self.values.type(cursor)
                place = location(self.values, cursor)
            argument = block.insert_arg(type, len(block.args))
            argument.location = place
            self._define(cursor, argument)

    # Operations.

    def _op_class(self, name: str, place: Attribute) -> type[Operation]:
        found = self._classes.get(name)
        if found is None:
            found = self.values.ctx.get_optional_op(name)
            if found is None or issubclass(found, UnregisteredOp):
                if not self.values.ctx.allow_unregistered:
                    self.unknown.append(Unknown(name, place))
                return UnregisteredOp.with_name(name)
            self._classes[name] = found
        return found

    def _read_op(self, cursor: Cursor, blocks: list[Block], parent: Operation | None) -> Operation:
        start = self.position = cursor.position
        index = cursor.varint()
        if index >= len(self.file.op_names):
            cursor.fail(f"there is no operation name {index} of {len(self.file.op_names)}", start)
        name, registered = self.file.op_names[index]
        mask = cursor.byte()
        place = location(self.values, cursor)
        attributes = dictionary(self.values, cursor) if mask & _ATTRIBUTES else {}
        properties: dict[str, Attribute] = {}
        if mask & _PROPERTIES:
            properties = self._properties(cursor, name, registered)
        types = self.values.types(cursor) if mask & _RESULTS else []
        operands: list[SSAValue] = []
        if mask & _OPERANDS:
            operands = [self._operand(cursor) for _ in range(cursor.count("operands"))]
        successors = self._successors(cursor, blocks) if mask & _SUCCESSORS else []
        if mask & _USE_LISTS and self.file.version >= versions.USE_LIST_ORDERS:
            self._skip_use_lists(cursor, len(types))
        regions, isolated = cursor.flagged() if mask & _REGIONS else (0, False)
        if regions > cursor.remaining:
            cursor.fail(f"{regions} regions do not fit into the {cursor.remaining} bytes that are left")
        if name.startswith("vhlo."):
            self._portable = True
            if property_names(name) is None:
                cursor.fail(f"{name} is of a StableHLO newer than {NEWEST}", start)
            try:
                name, attributes = from_vhlo(name, {**attributes, **properties}, parent)
                properties = {}
            except CONSTRUCTION_ERRORS as error:
                cursor.fail(f"{name} cannot be: {error}", start)
        cls = self._op_class(name, place)
        name = canonical_name(name)
        if attributes:
            for key in inherent_names(cls):
                if key in attributes and key not in properties:
                    properties[key] = attributes.pop(key)
        for key in _OF_ARGUMENTS:
            if key in properties and _says_nothing(properties[key]):
                del properties[key]
        made = [Region() for _ in range(regions)]
        try:
            op = cls.create(
                operands=operands,
                result_types=types,
                properties=properties,
                attributes=attributes,
                successors=successors,
                regions=made,
                location=place,
            )
        except CONSTRUCTION_ERRORS as error:
            cursor.fail(f"{name} cannot be: {error}", start)
        for result in op.results:
            self._define(cursor, result)
        if self._portable and name == "builtin.unrealized_conversion_cast":
            self._casts.append(op)
        if regions:
            self._read_regions(cursor, op, isolated)
        return op

    def _properties(self, cursor: Cursor, name: str, registered: bool | None) -> dict[str, Attribute]:
        """The properties whose index comes next; a dictionary where the writer did not know the operation."""
        if registered is False:
            return dictionary(self.values, cursor)
        at = cursor.position
        index = cursor.varint()
        if index >= len(self.file.properties):
            cursor.fail(f"there are no properties {index} of {len(self.file.properties)}", at)
        part = self.file.properties[index]
        found = self.values.ctx.get_optional_op(name)
        if found is not None and issubclass(found, UnregisteredOp):
            found = None
        return read_properties(self.values, Cursor(part.data, part.position, part.end), name, found)

    def _successors(self, cursor: Cursor, blocks: list[Block]) -> list[Block]:
        found: list[Block] = []
        for _ in range(cursor.count("successors")):
            at = cursor.position
            number = cursor.varint()
            if number >= len(blocks):
                cursor.fail(f"there is no block {number} of {len(blocks)}", at)
            found.append(blocks[number])
        return found

    def _read_regions(self, cursor: Cursor, op: Operation, isolated: bool) -> None:
        """Isolated regions see no value of those around them, and stand in a section of their own."""
        if not isolated:
            for region in op.regions:
                self._read_region(cursor, region, op)
            return
        inner = cursor
        if self.file.version >= versions.LAZY_REGIONS:
            at = cursor.position
            number, inner = section(cursor)
            if number != versions.IR:
                cursor.fail(f"expected the operations of {op.name}", at)
        self._scopes.append(_Scope())
        for region in op.regions:
            self._read_region(inner, region, op)
        if inner is not cursor:
            inner.done(f"the regions of {op.name}")
        self._check_defined(cursor)
        self._scopes.pop()
