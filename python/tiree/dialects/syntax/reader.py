"""MLIR text to xDSL operations, in one pass.

Every operation's generic form is read here. Short forms are read by the functions of `pretty_<dialect>.py` modules
where they exist (found by name, imported on first use) and by the op class's own xDSL `parse` otherwise. Every op gets
the place of its name as its location unless the text says another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.parser.core import ForwardDeclaredValue, UnresolvedOperand
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.lexer import Span

from tiree.dialects.registry import canonical_name
from tiree.dialects.syntax.attributes import AttributeReader
from tiree.dialects.syntax.long_text import CutText
from tiree.dialects.syntax.repeated_lines import RepeatedLines
from tiree.dialects.syntax.scanner import WS
from tiree.dialects.syntax.unknown import Unknown

_NAME = r"%[\w.$-]+"
_HEAD = re.compile(
    rf'{WS}(?:({_NAME}(?::\d+)?(?:{WS},{WS}{_NAME}(?::\d+)?)*){WS}={WS})?(?:"([^"\\\s]+)"|([A-Za-z_][\w$.]*))'
)
_OPERANDS = re.compile(rf"{WS}\({WS}((?:{_NAME}(?:#\d+)?{WS},?{WS})*)\)")
_SUCCESSORS = re.compile(rf"{WS}\[{WS}(\^[\w.$-]+(?:{WS},{WS}\^[\w.$-]+)*){WS}\]")
_LABEL = re.compile(rf"{WS}(\^[\w.$-]+)")
_NUMBERED = re.compile(r"(?:arg|in_|out_)?\d[\w$.-]*")
_DEFAULT_LABEL = re.compile(r"bb\d+")

CustomReader = Callable[["Reader", str, int], Operation]
"""Reads what follows an op's name; gets the reader, the op's full name, and the position of the name."""


@cache
def custom_readers(dialect: str) -> Mapping[str, CustomReader]:
    """The short forms of a dialect: `READERS` of `tiree.dialects.syntax.pretty_<dialect>`, if there is one."""
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"pretty_{dialect}.py")):
        return {}
    return import_module(f"tiree.dialects.syntax.pretty_{dialect}").READERS


class Reader(AttributeReader):
    """Reads one text. Names of values and blocks live in scopes; the innermost are undone when a region ends."""

    def __init__(self, ctx: Context, source: CutText, filename: str) -> None:
        super().__init__(ctx, source, filename)
        self._classes: dict[str, type[Operation]] = {}
        self._custom: dict[str, CustomReader | None] = {}
        self._scope: dict[str, tuple[SSAValue, ...] | None] = {}
        self._first_uses: dict[str, int] = {}
        self._lines = RepeatedLines(self)
        self.unknown = Unknown()

    # Values.

    def define(self, name: str, values: tuple[SSAValue, ...], position: int) -> None:
        """Binds `name` (without `%`) in the innermost scope and settles uses that came before."""
        if name in self._scope:
            self.fail(f"value %{name} is already defined", position)
        self._scope[name] = self.ssa_values.get(name)
        self.ssa_values[name] = values
        if name in self.forward_ssa_references:
            self._settle(name, values, position)
        if _NUMBERED.fullmatch(name) is None:
            for value in values:
                value.name_hint = name

    def _settle(self, name: str, values: tuple[SSAValue, ...], position: int) -> None:
        self._first_uses.pop(name, None)
        for index, placeholder in self.forward_ssa_references.pop(name).items():
            if index >= len(values):
                self.fail(f"%{name}#{index} is used, but %{name} has {len(values)} results", position)
            if placeholder.type != values[index].type:
                self.fail(f"%{name} is {values[index].type}, but used before as {placeholder.type}", position)
            placeholder.replace_all_uses_with(values[index])

    def resolve(self, name: str, type: Attribute, position: int) -> SSAValue:
        """The value of an operand name such as `%0#1`, which must have `type`."""
        name, _, index = name[1:].partition("#")
        number = int(index) if index else 0
        values = self.ssa_values.get(name)
        if values is None:
            references = self.forward_ssa_references.setdefault(name, {})
            self._first_uses.setdefault(name, position)
            if number not in references:
                references[number] = ForwardDeclaredValue(type)
            value = references[number]
        elif number >= len(values):
            self.fail(f"%{name} has {len(values)} results, #{number} is not one of them", position)
        else:
            value = values[number]
        if value.type is not type and value.type != type:
            self.fail(f"%{name} is {value.type}, but used here as {type}", position)
        return value

    def resolve_all(self, names: Sequence[str], types: Sequence[Attribute], position: int) -> list[SSAValue]:
        if len(names) != len(types):
            self.fail(f"{len(names)} operands but {len(types)} operand types", position)
        return [self.resolve(name, type, position) for name, type in zip(names, types, strict=True)]

    def operand_names(self) -> list[str]:
        """`%a, %b, ...` without brackets; perhaps none."""
        names: list[str] = []
        while (name := self.percent()) is not None:
            names.append(name)
            if not self.take(","):
                break
        return names

    def operand_list(self) -> list[str]:
        """`(%a, %b, ...)`."""
        match = _OPERANDS.match(self.text, self.p)
        if match is None:
            self.want("(", " before the operands")
            self.fail(f"expected operands (%name), found {self.found()}")
        self.p = match.end()
        return [name.strip() for name in match.group(1).split(",")] if match.group(1) else []

    # Operations.

    def op_class(self, name: str, position: int, *, generic: bool = False) -> type[Operation]:
        """The class of op `name`; for an unknown one in generic form, a stand-in."""
        found = self._classes.get(name)
        if found is None:
            found = self.ctx.get_optional_op(name)
            if found is None and generic:
                return self.unknown.stand_in(name, position)
            if found is None:
                self.unknown.give_up(self, name, position)
            self._classes[name] = found
        return found

    def build(
        self,
        name: str,
        position: int,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
    ) -> Operation:
        """An op of the class that `name` has, located at `position`."""
        return self.op_class(name, position).create(
            operands=operands,
            result_types=result_types,
            properties=properties or {},
            attributes=attributes or {},
            regions=regions,
            successors=successors,
            location=self.location_at(position),
        )

    def read_operation(self) -> Operation | None:
        """The next operation, or None if there is none here."""
        match = _HEAD.match(self.text, self.p)
        if match is None:
            return None
        self.p = match.end()
        names, generic, custom = match.groups()
        if generic is not None:
            op = self._read_generic(generic, match.start(2) - 1)
        else:
            op = self._read_custom(custom, match.start(3))
        if (location := self.read_optional_location()) is not None:
            op.location = location
        if names is not None:
            self._bind_results(op, names, match.start(1))
        if self.forward_ssa_references and op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            self._check_all_defined()
        return op

    def _check_all_defined(self) -> None:
        for name in self.forward_ssa_references:
            self.fail(f"value %{name} is used but never defined", self._first_uses[name])

    def _bind_results(self, op: Operation, names: str, position: int) -> None:
        results = op.results
        if ":" not in names and "," not in names:
            if len(results) != 1:
                self.fail(f"{op.name} has {len(results)} results, 1 name is given", position)
            self.define(names[1:].rstrip(), (results[0],), position)
            return
        start = 0
        for part in names.split(","):
            name, _, count = part.strip().partition(":")
            end = start + (int(count) if count else 1)
            self.define(name[1:], tuple(results[start:end]), position)
            start = end
        if start != len(results):
            self.fail(f"{op.name} has {len(results)} results, {start} names are given", position)

    def _read_generic(self, name: str, position: int) -> Operation:
        is_vhlo = name.startswith("vhlo.")
        cls = Operation if is_vhlo else self.op_class(name, position, generic=True)
        names = self.operand_list()
        successors: list[Block] = []
        match = _SUCCESSORS.match(self.text, self.p)
        if match is not None:
            self.p = match.end()
            successors = [self.block_named(label.strip(), position) for label in match.group(1).split(",")]
        properties: dict[str, Attribute] = {}
        if self.take("<"):
            properties = self.read_dictionary()
            self.want(">", " after the properties")
        regions = self._read_region_list() if self.at("(") else []
        attributes = self.read_dictionary() if self.at("{") else {}
        self.want(":", " and the type of the operation")
        types_at = self.skip()
        inputs, outputs = self.read_function_type()
        operands = self.resolve_all(names, inputs, types_at)
        if is_vhlo:
            # Loaded for files that hold VHLO: it brings the tables of the bytecode.
            from tiree.dialects.syntax.vhlo import translated

            name, properties, attributes = translated(self, name, position, {**attributes, **properties})
            cls = self.op_class(name, position)
        elif attributes:
            _move_properties(cls, properties, attributes)
        op = cls.create(
            operands=operands,
            result_types=outputs,
            properties=properties,
            attributes=attributes,
            successors=successors,
            regions=regions,
            location=self.location_at(position),
        )
        if is_vhlo and name == "func.func":
            from tiree.dialects.syntax.vhlo import finish_function

            finish_function(op)
        return op

    def _read_region_list(self) -> list[Region]:
        self.want("(")
        regions = [self.read_region()]
        while self.take(","):
            regions.append(self.read_region())
        self.want(")", " after the regions")
        return regions

    def _read_custom(self, name: str, position: int) -> Operation:
        written = self._full_name(name, position)
        name = canonical_name(written)
        if name not in self._custom:
            self._custom[name] = custom_readers(name.partition(".")[0]).get(name)
        reader = self._custom[name]
        if reader is not None:
            return reader(self, name, position)
        cls = self.op_class(written, position)
        if cls.parse.__func__ is Operation.parse.__func__ or issubclass(cls, UnregisteredOp):
            self.fail(f'{name} has no short form here; write "{name}"(...) in the generic form', position)
        self.to_tokens()
        self._parser_state.dialect_stack.append(cls.dialect_name())
        op = cls.parse(self)
        self._parser_state.dialect_stack.pop()
        self.to_chars()
        op.location = self.location_at(position)
        return op

    def _full_name(self, name: str, position: int) -> str:
        """The name with its dialect: `return` inside `func.func` is `func.return`."""
        if "." in name:
            return name
        for dialect in ("builtin", "func"):
            full = f"{dialect}.{name}"
            if full in self._default_names(dialect):
                return full
        return self.fail(f"expected an operation, found '{name}'", position)

    def _default_names(self, dialect: str) -> set[str]:
        return {op.name for op in self.ctx.get_dialect(dialect).operations}

    # Blocks and regions.

    def block_named(self, label: str, position: int) -> Block:
        """The block of `^label`; made now if it is defined later."""
        name = label[1:]
        found = self.blocks.get(name)
        if found is None:
            block = Block()
            if _DEFAULT_LABEL.fullmatch(name) is None:
                block.name_hint = name
            span = Span(position, position + 1, self._parser_state.lexer.input)
            self.forward_block_references[name] = [span]
            found = self.blocks[name] = (block, None)
        return found[0]

    def read_successor(self) -> Block:
        """`^label`."""
        match = _LABEL.match(self.text, self.p)
        if match is None:
            self.fail(f"expected a block (^name), found {self.found()}")
        self.p = match.end()
        return self.block_named(match.group(1), match.start(1))

    def read_region(self, arguments: Sequence[tuple[str, Attribute, LocationAttr | None, int]] = ()) -> Region:
        """`{ ops and blocks }`. `arguments` (name, type, location, position) belong to an entry block without label."""
        self.want("{", " to open a region")
        outer = self.blocks, self.forward_block_references, self._scope
        self.blocks, self.forward_block_references, self._scope = {}, {}, {}
        region = Region()
        if arguments and self.at("^"):
            self.fail("the first block of a region whose arguments have names stands without a label")
        if arguments or not (self.at("^") or self.at("}")):
            block = Block(arg_types=[type for _, type, _, _ in arguments])
            for argument, (name, _, location, position) in zip(block.args, arguments, strict=True):
                self.define(name[1:], (argument,), position)
                argument.location = self.location_at(position) if location is None else location
            region.add_block(block)
            self._read_block_body(block)
        while not self.take("}"):
            match = _LABEL.match(self.text, self.p)
            if match is None:
                self.fail(f"expected an operation or '}}', found {self.found()}")
            self.p = match.end()
            region.add_block(self._read_block(match.group(1), match.start(1)))
        for name, spans in self.forward_block_references.items():
            self.fail(f"block ^{name} is not defined in its region", spans[0].start)
        for name, previous in self._scope.items():
            if previous is None:
                self.ssa_values.pop(name, None)
            else:
                self.ssa_values[name] = previous
        self.blocks, self.forward_block_references, self._scope = outer
        return region

    def _read_block(self, label: str, position: int) -> Block:
        name = label[1:]
        if name in self.blocks and name not in self.forward_block_references:
            self.fail(f"block ^{name} is defined twice", position)
        block = self.block_named(label, position)
        self.forward_block_references.pop(name, None)
        if self.take("("):
            while not self.take(")"):
                at = self.skip()
                argument_name = self.want_percent()
                self.want(":", " and a type after a block argument")
                argument = block.insert_arg(self.read_type(), len(block.args))
                argument.location = self.read_optional_location() or self.location_at(at)
                self.define(argument_name[1:], (argument,), at)
                if not self.take(",") and not self.at(")"):
                    self.fail(f"expected ',' or ')' in the block's arguments, found {self.found()}")
        self.want(":", " after the block's label")
        self._read_block_body(block)
        return block

    def _read_block_body(self, block: Block) -> None:
        lines = self._lines
        while True:
            line = lines.next_line()
            op = None if line is None else lines.read(line)
            if op is None:
                op = self.read_operation()
                if op is None:
                    return
                if line is not None:
                    lines.learn(line, op)
            block.add_op(op)

    # Whole files.

    def read_module(self) -> ModuleOp:
        """All operations of the text; a module is put around them unless it is one."""
        ops: list[Operation] = []
        while self.p < len(self.text):
            match self.peek():
                case "#" | "!":
                    self._read_alias_definition()
                case "{" if self.at("{-#"):
                    end = self.text.find("#-}", self.p)
                    if end < 0:
                        self.fail("the resource section is not closed by #-}")
                    self.p = end + 3
                case "":
                    break
                case _:
                    op = self.read_operation()
                    if op is None:
                        self.fail(f"expected an operation, found {self.found()}")
                    ops.append(op)
        self._check_all_defined()
        self.check_pieces()
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        if not ops:
            self.fail("the file holds no operation")
        return ModuleOp(ops)

    def _read_alias_definition(self) -> None:
        sign = self.peek()
        start = self.p
        self.p += 1
        name = sign + self.want_word()
        self.want("=", f" after the alias {name}")
        if name in self.attribute_aliases and name not in (self._alias_lines or {}):
            self.fail(f"alias {name} is defined twice", start)
        self.attribute_aliases[name] = self.read_type() if sign == "!" else self.read_attribute()

    # The same for xDSL code that parses by tokens.

    def parse_operation(self) -> Operation:
        self.to_chars()
        op = self.read_operation()
        if op is None:
            self.fail(f"expected an operation, found {self.found()}")
        self.to_tokens()
        return op

    def parse_optional_operation(self) -> Operation | None:
        self.to_chars()
        op = self.read_operation()
        self.to_tokens()
        return op

    def parse_optional_region(self, arguments: Sequence[Parser.Argument] | None = None) -> Region | None:
        self.to_chars()
        if not self.at("{"):
            self.to_tokens()
            return None
        given = [(arg.name.text, arg.type, arg.location, arg.name.start) for arg in arguments or ()]
        region = self.read_region(given)
        if arguments is not None and not region.blocks:
            region.add_block(Block())
        self.to_tokens()
        return region

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:
        return self.resolve(f"{operand.span.text}#{operand.index}", type, operand.span.start)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        self.define(name, tuple(values), span.start)

    def _get_block_from_name(self, block_name: Span) -> Block:
        return self.block_named(block_name.text, block_name.start)

    def parse_optional_successor(self) -> Block | None:
        self.to_chars()
        block = self.read_successor() if self.at("^") else None
        self.to_tokens()
        return block


def _move_properties(cls: type[Operation], properties: dict[str, Attribute], attributes: dict[str, Attribute]) -> None:
    """Older text has properties among the attributes."""
    known = cls.get_irdl_definition().properties if issubclass(cls, IRDLOperation) else getattr(cls, "PROPERTIES", ())
    for name in known:
        if name in attributes and name not in properties:
            properties[name] = attributes.pop(name)
