"""Modules as text: the generic form by a writer of our own, custom syntax by xDSL's printer.

The generic writer spells every distinct attribute once and walks operations without a call per token. Values are
numbered per function, as MLIR does: `%0`, `%0#1` for one of several results, `%arg0` for block arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import StringIO

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove

from tiree.dialects.dense import DenseAttr
from tiree.dialects.syntax.dense_text import dense_text
from tiree.dialects.syntax.floats import float_bits, format_float, is_formatted
from tiree.support.typed import operands_of

_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*")
_PLAIN_STRING = re.compile(r"[ !#-\[\]-~]*")


def string_literal(text: str) -> str:
    """`text` in quotes, with MLIR's escapes."""
    if _PLAIN_STRING.fullmatch(text):
        return f'"{text}"'
    parts: list[str] = []
    for byte in text.encode():
        if byte == 0x5C:
            parts.append("\\\\")
        else:
            parts.append(chr(byte) if 0x20 <= byte < 0x7F and byte != 0x22 else f"\\{byte:02X}")
    return f'"{"".join(parts)}"'


def print_module(
    module: Operation, generic: bool = True, *, debuginfo: bool = False, elide_larger_than: int | None = None
) -> str:
    """See `tiree.dialects.print_module`."""
    if generic:
        writer = GenericWriter(debuginfo=debuginfo, elide_larger_than=elide_larger_than)
        writer.write_op(module, "")
        writer.parts.append("\n")
        return "".join(writer.parts)
    stream = StringIO()
    printer = ModulePrinter(stream, print_debuginfo=debuginfo)
    printer.elide_larger_than = elide_larger_than
    printer.print_op(module)
    stream.write("\n")
    return stream.getvalue()


class ModulePrinter(Printer):
    """xDSL's printer with MLIR's names for values, MLIR's floats, and large constants left out on demand."""

    elide_larger_than: int | None = None
    _argument_count = 0

    def print_float(self, value: float, type: AnyFloat) -> None:
        if is_formatted(type):
            self.print_string(format_float(float_bits(value, type.__class__), type.__class__, type.bitwidth))
        else:
            super().print_float(value, type)

    def _print_results(self, op: Operation) -> None:
        if not op.results:
            return
        name = self._name_of(op.results[0])
        self.print_string(f"%{name} = " if len(op.results) == 1 else f"%{name}:{len(op.results)} = ")

    def print_ssa_value(self, value: SSAValue) -> str:
        if isinstance(value, OpResult) and len(value.op.results) > 1:
            name = f"{self._name_of(value.op.results[0])}#{value.index}"
        else:
            name = self._name_of(value)
        self.print_string(f"%{name}")
        return name

    def _name_of(self, value: SSAValue) -> str:
        name = self._ssa_values.get(value)
        if name is None:
            hint = value.name_hint or ("arg" if isinstance(value, BlockArgument) else None)
            name = self._get_new_valid_name_id() if hint is None else self._unique(hint)
            self._ssa_values[value] = name
        return name

    def _unique(self, hint: str) -> str:
        """`hint`, numbered if it is taken; arguments without a name of their own are numbered from 0 on."""
        count = self.ssa_names.get(hint, 0)
        self.ssa_names[hint] = count + 1
        if hint == "arg":
            return f"arg{count}"
        return hint if count == 0 else f"{hint}_{count - 1}"


class GenericWriter:
    """Writes operations in the generic form into `parts`."""

    def __init__(self, *, debuginfo: bool = False, elide_larger_than: int | None = None) -> None:
        self.parts: list[str] = []
        self._debuginfo = debuginfo
        self._elide = elide_larger_than
        self._texts: dict[int, str] = {}
        self._kept: list[Attribute] = []
        self._names: dict[SSAValue, str] = {}
        self._blocks: dict[Block, str] = {}
        self._values = 0
        self._arguments = 0

    # Attributes.

    def text(self, attribute: Attribute) -> str:
        """`attribute` as it is written in the generic form."""
        found = self._texts.get(id(attribute))
        if found is None:
            found = self._new_text(attribute)
            if len(found) < 1 << 16:
                self._texts[id(attribute)] = found
                self._kept.append(attribute)  # Keeps the id valid.
        return found

    def _new_text(self, attribute: Attribute) -> str:
        match attribute:
            case StringAttr():
                return string_literal(attribute.data)
            case IntegerAttr() if not (isinstance(attribute.type, IntegerType) and attribute.type.width.data == 1):
                return f"{attribute.value.data} : {self.text(attribute.type)}"
            case ArrayAttr():
                return f"[{', '.join(map(self.text, attribute.data))}]"
            case DictionaryAttr():
                return self._dictionary(attribute.data)
            case DenseAttr():
                return f"{dense_text(attribute, self._elide)} : {self.text(attribute.type)}"
            case FunctionType():
                return self._signature(attribute.inputs.data, attribute.outputs.data)
            case FloatAttr() if is_formatted(attribute.type):
                kind = attribute.type.__class__
                bits = float_bits(attribute.value.data, kind)
                return f"{format_float(bits, kind, attribute.type.bitwidth)} : {self.text(attribute.type)}"
            case _:
                pass
        stream = StringIO()
        printer = ModulePrinter(stream, print_generic_format=True)
        printer.elide_larger_than = self._elide
        printer.print_attribute(attribute)
        return stream.getvalue()

    def _dictionary(self, entries: Mapping[str, Attribute]) -> str:
        texts: list[str] = []
        for name, value in entries.items():
            key = name if _IDENTIFIER.fullmatch(name) else string_literal(name)
            texts.append(key if value.__class__ is UnitAttr else f"{key} = {self.text(value)}")
        return f"{{{', '.join(texts)}}}"

    def _signature(self, inputs: Sequence[Attribute], outputs: Sequence[Attribute]) -> str:
        text = self.text
        results = [text(type) for type in outputs]
        if len(results) == 1 and not isinstance(outputs[0], FunctionType):
            return f"({', '.join([text(type) for type in inputs])}) -> {results[0]}"
        return f"({', '.join([text(type) for type in inputs])}) -> ({', '.join(results)})"

    # Operations.

    def _name(self, value: SSAValue) -> str:
        name = self._names.get(value)
        if name is None:
            # A use before its definition, in a block printed later.
            if isinstance(value, OpResult):
                self._name_results(value.op)
            else:
                self._name_argument(value)
            name = self._names[value]
        return name

    def _name_results(self, op: Operation) -> str:
        results = op.results
        base = f"%{self._values}"
        self._values += 1
        if len(results) == 1:
            self._names[results[0]] = base
            return base
        for index, result in enumerate(results):
            self._names[result] = f"{base}#{index}"
        return f"{base}:{len(results)}"

    def _name_argument(self, argument: SSAValue) -> str:
        name = self._names[argument] = f"%arg{self._arguments}"
        self._arguments += 1
        return name

    def write_op(self, op: Operation, indent: str) -> None:
        """Writes `op`, whose line is already indented, without a line break."""
        parts, text, names = self.parts, self.text, self._names
        results = op.results
        if results:
            known = names.get(results[0])
            if known is None:
                parts.append(f"{self._name_results(op)} = ")
            else:
                parts.append(f"{known.partition('#')[0]}{f':{len(results)}' if len(results) > 1 else ''} = ")
        operands = operands_of(op)
        get = names.get
        shown = ", ".join([get(value) or self._name(value) for value in operands])
        attributes = op.attributes
        if isinstance(op, UnregisteredOp):
            attributes = {key: value for key, value in attributes.items() if key != "op_name__"}
            parts.append(f'"{op.op_name.data}"({shown})')
        else:
            parts.append(f'"{op.name}"({shown})')
        if op.successors:
            parts.append(f"[{', '.join([self._block(block) for block in op.successors])}]")
        if op.properties:
            parts.append(f" <{self._dictionary(op.properties)}>")
        if op.regions:
            self._write_regions(op, indent)
        if attributes:
            parts.append(f" {self._dictionary(attributes)}")
        inputs = ", ".join([text(value.type) for value in operands])
        if len(results) == 1 and not isinstance(results[0].type, FunctionType):
            parts.append(f" : ({inputs}) -> {text(results[0].type)}")
        else:
            parts.append(f" : ({inputs}) -> ({', '.join([text(result.type) for result in results])})")
        if self._debuginfo:
            parts.append(f" {text(op.location)}")

    def _write_regions(self, op: Operation, indent: str) -> None:
        # Numbers start again in every function of the module, not deeper: tools differ in what they call isolated.
        counters = (self._values, self._arguments)
        isolated = len(indent) == 2 and not op.results and op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        if isolated:
            self._values = self._arguments = 0
        self.parts.append(" (")
        for index, region in enumerate(op.regions):
            self.parts.append(", " if index else "")
            self._write_region(region, indent)
        self.parts.append(")")
        if isolated:
            self._values, self._arguments = counters

    def _block(self, block: Block) -> str:
        name = self._blocks.get(block)
        if name is None:
            name = self._blocks[block] = f"^bb{len(self._blocks)}"
        return name

    def _write_region(self, region: Region, indent: str) -> None:
        parts = self.parts
        parts.append("{\n")
        outer, self._blocks = self._blocks, {}
        blocks = list(region.blocks)
        for number, block in enumerate(blocks):
            self._blocks[block] = f"^bb{number}"
        inner = f"{indent}  "
        for number, block in enumerate(blocks):
            # An empty entry block is only there if it has a label.
            if number or block.args or block.first_op is None:
                parts.append(f"{indent}{self._blocks[block]}{self._arguments_text(block)}:\n")
            op = block.first_op
            while op is not None:
                parts.append(inner)
                self.write_op(op, inner)
                parts.append("\n")
                op = op.next_op
        parts.append(f"{indent}}}")
        self._blocks = outer

    def _arguments_text(self, block: Block) -> str:
        if not block.args:
            return ""
        texts: list[str] = []
        for argument in block.args:
            name = self._names.get(argument) or self._name_argument(argument)
            place = f" {self.text(argument.location)}" if self._debuginfo else ""
            texts.append(f"{name}: {self.text(argument.type)}{place}")
        return f"({', '.join(texts)})"
