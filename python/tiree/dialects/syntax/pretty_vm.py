"""Short forms of the `vm` dialect: symbols, calls and control flow; values are read by `vm_values`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TupleType,
    UnitAttr,
    VectorType,
    i16,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region

from tiree.dialects.dense import DenseAttr
from tiree.dialects.syntax.forms import end_body, segments
from tiree.dialects.syntax.pretty_func import read_arguments, read_results, read_return
from tiree.dialects.syntax.pretty_vm_composed import COMPOSED_READERS
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.symbols import VISIBILITIES, read_list
from tiree.dialects.syntax.vm_values import SCALARS, dictionary, read_discard, read_message, shape_of, symbol_value
from tiree.support.typed import int_of


def _visibility(reader: Reader) -> dict[str, Attribute]:
    word = next((word for word in VISIBILITIES if reader.take_word(word)), None)
    return {"sym_visibility": StringAttr(word)} if word is not None else {}


def _keyword_dictionary(reader: Reader) -> dict[str, Attribute]:
    return reader.read_dictionary() if reader.take_word("attributes") else {}


def _angles(reader: Reader) -> dict[str, Attribute]:
    """`<name = value, ...>`, if present."""
    return reader.read_entries(">") if reader.take("<") else {}


# Symbols.


def _read_module(reader: Reader, name: str, position: int) -> Operation:
    properties = _visibility(reader)
    properties["sym_name"] = StringAttr(reader.read_symbol_name())
    properties.update(_angles(reader))
    if "version" in properties:
        properties["version"] = IntegerAttr(int_of(properties["version"]), i32)
    attributes = _keyword_dictionary(reader)
    body = reader.read_region()
    end_body(reader, body, "vm.module_terminator", position)
    return reader.build(name, position, (), (), properties, attributes, [body])


def _read_global(reader: Reader, name: str, position: int) -> Operation:
    """`private mutable @name {attributes} [: type] [= value]`."""
    properties = _visibility(reader)
    if reader.take_word("mutable"):
        properties["is_mutable"] = UnitAttr()
    properties["sym_name"] = StringAttr(reader.read_symbol_name())
    properties.update(_angles(reader))
    attributes = dictionary(reader)
    type: Attribute | None = None
    if reader.take("="):
        value = properties["initial_value"] = reader.read_attribute()
        type = getattr(value, "type", None)
    if reader.take(":"):
        type = reader.read_type()
    if type is None:
        reader.fail(f"{name} needs a type", position)
    properties["type"] = type
    return reader.build(name, position, (), (), properties, attributes)


def _read_rodata(reader: Reader, name: str, position: int) -> Operation:
    properties = _visibility(reader)
    properties["sym_name"] = StringAttr(reader.read_symbol_name())
    properties.update(_angles(reader))
    attributes = dictionary(reader)
    properties["value"] = reader.read_attribute()
    return reader.build(name, position, (), (), properties, attributes)


def _read_import(reader: Reader, name: str, position: int) -> Operation:
    """`private optional @module.name(%argument : type ..., ...) -> results attributes {..}`."""
    properties = _visibility(reader)
    if reader.take_word("optional"):
        properties["is_optional"] = UnitAttr()
    properties["sym_name"] = StringAttr(reader.read_symbol_name())
    inputs: list[Attribute] = []
    attrs: list[Attribute] = []

    def read_one() -> None:
        entry: dict[str, Attribute] = {}
        argument = reader.percent()
        if argument is not None:
            entry["vm.name"] = StringAttr(argument[1:])
            reader.want(":", " and a type after an argument")
        inputs.append(reader.read_type())
        if reader.take("..."):
            entry["vm.variadic"] = UnitAttr()
        attrs.append(DictionaryAttr(entry))

    reader.want("(", " before the arguments")
    read_list(reader, read_one)
    outputs, _ = read_results(reader)
    attributes = _keyword_dictionary(reader)
    for key in ("minimum_version",):
        if key in attributes:
            properties[key] = attributes.pop(key)
    properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    if attrs:
        properties["arg_attrs"] = ArrayAttr(attrs)
    return reader.build(name, position, (), (), properties, attributes, [Region()])


def _read_func(reader: Reader, name: str, position: int) -> Operation:
    properties = _visibility(reader)
    properties["sym_name"] = StringAttr(reader.read_symbol_name())
    arguments, inputs, arg_attrs = read_arguments(reader)
    outputs, res_attrs = read_results(reader)
    properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    for key, attrs in (("arg_attrs", arg_attrs), ("res_attrs", res_attrs)):
        if any(one.data for one in attrs):
            properties[key] = ArrayAttr(attrs)
    attributes = _keyword_dictionary(reader)
    if "inlining_policy" in attributes:
        properties["inlining_policy"] = attributes.pop("inlining_policy")
    body = reader.read_region(arguments) if reader.at("{") else Region()
    return reader.build(name, position, (), (), properties, attributes, [body])


def _read_export(reader: Reader, name: str, position: int) -> Operation:
    """`@function as("name") attributes {..}`."""
    function = reader.read_symbol()
    export = function.root_reference.data
    if reader.take_word("as"):
        reader.want("(")
        export = reader.read_string()
        reader.want(")")
    properties: dict[str, Attribute] = {"export_name": StringAttr(export), "function_ref": function}
    return reader.build(name, position, (), (), properties, _keyword_dictionary(reader))


# Calls and control flow.


def _read_call(reader: Reader, name: str, position: int) -> Operation:
    callee = reader.read_symbol()
    names = reader.operand_list()
    attributes = dictionary(reader)
    reader.want(":", " and the type of the call")
    inputs, outputs = reader.read_function_type()
    values = reader.resolve_all(names, inputs, position)
    return reader.build(name, position, values, outputs, {"callee": callee}, attributes)


def _read_variadic_call(reader: Reader, name: str, position: int) -> Operation:
    """`@f(%a, [%b, %c], [(%d, %e), ...]) : (type, type ..., tuple<types> ...) -> results`."""
    callee = reader.read_symbol()
    names: list[str] = []
    sizes: list[int] = []

    def read_segment() -> None:
        if not reader.take("["):
            names.append(reader.want_percent())
            sizes.append(-1)
            return
        count = 0

        def read_one() -> None:
            nonlocal count
            count += 1
            if reader.take("("):
                names.extend(reader.operand_names())
                reader.want(")")
            else:
                names.append(reader.want_percent())

        read_list(reader, read_one, "]")
        sizes.append(count)

    reader.want("(", " before the operands")
    read_list(reader, read_segment)
    attributes = dictionary(reader)
    reader.want(":", " and the type of the call")
    kinds: list[Attribute] = []

    def read_kind() -> None:
        kinds.append(reader.read_type())
        reader.take("...")

    reader.want("(", " before the operand types")
    read_list(reader, read_kind)
    outputs = list(reader.read_result_types()) if reader.take("->") else []
    if len(kinds) != len(sizes):
        reader.fail(f"{len(sizes)} operands and spans but {len(kinds)} types", position)
    types: list[Attribute] = []
    for kind, size in zip(kinds, sizes, strict=True):
        each = list(kind.types.data) if isinstance(kind, TupleType) else [kind]
        types += each * (1 if size < 0 else size)
    properties: dict[str, Attribute] = {
        "callee": callee,
        "segment_sizes": _sizes(sizes),
        "segment_types": ArrayAttr(kinds),
    }
    values = reader.resolve_all(names, types, position)
    return reader.build(name, position, values, outputs, properties, attributes)


def _sizes(values: Sequence[int]) -> Attribute:
    from array import array

    return DenseAttr.from_buffer(VectorType(i16, [len(values)]), array("h", values).tobytes())


def _read_yieldable_call(reader: Reader, name: str, position: int) -> Operation:
    """`@f(%a) <properties> : (types) -> ^block (types)`."""
    properties: dict[str, Attribute] = {"callee": reader.read_symbol()}
    names = reader.operand_list()
    properties.update(_angles(reader))
    attributes = dictionary(reader)
    reader.want(":", " and the type of the call")
    inputs = reader.read_type_list()
    reader.want("->")
    target = _read_label(reader)
    properties["result_types"] = ArrayAttr(reader.read_type_list() if reader.at("(") else [])
    values = reader.resolve_all(names, inputs, position)
    return reader.build(name, position, values, (), properties, attributes, (), [target])


def _read_label(reader: Reader) -> Block:
    reader.to_tokens()
    found = reader.parse_optional_successor()
    reader.to_chars()
    if found is None:
        reader.fail(f"expected a block label, found {reader.found()}")
    return found


def _read_successor(reader: Reader) -> tuple[Block, list[str], list[Attribute]]:
    """`^block(%a, %b : types)`."""
    block = _read_label(reader)
    if not reader.take("("):
        return block, [], []
    names = reader.operand_names()
    types: list[Attribute] = []
    if names:
        reader.want(":")
        types = list(reader.read_types())
    reader.want(")", " after the operands of a branch")
    return block, names, types


def _read_branch(reader: Reader, name: str, position: int) -> Operation:
    block, names, types = _read_successor(reader)
    values = reader.resolve_all(names, types, position)
    return reader.build(name, position, values, (), {}, dictionary(reader), (), [block])


def _read_cond_branch(reader: Reader, name: str, position: int) -> Operation:
    condition = reader.resolve(reader.want_percent(), i32, position)
    reader.want(",")
    yes, yes_names, yes_types = _read_successor(reader)
    reader.want(",")
    no, no_names, no_types = _read_successor(reader)
    values = reader.resolve_all([*yes_names, *no_names], [*yes_types, *no_types], position)
    properties: dict[str, Attribute] = {"operandSegmentSizes": segments((1, len(yes_names), len(no_names)))}
    return reader.build(name, position, [condition, *values], (), properties, dictionary(reader), (), [yes, no])


def _read_cond_break(reader: Reader, name: str, position: int) -> Operation:
    condition = reader.resolve(reader.want_percent(), i32, position)
    reader.want(",")
    block, names, types = _read_successor(reader)
    values = reader.resolve_all(names, types, position)
    return reader.build(name, position, [condition, *values], (), {}, dictionary(reader), (), [block])


def _read_branch_table(reader: Reader, name: str, position: int) -> Operation:
    """`%index { default: ^block(%a : type), 0: ^block, ... }`, the cases in order."""
    index = reader.resolve(reader.want_percent(), i32, position)
    targets: list[tuple[Block, list[str], list[Attribute]]] = []

    def read_one() -> None:
        if not targets:
            reader.want_word("default")
        elif (number := reader.integer()) != len(targets) - 1:
            reader.fail(f"case {len(targets) - 1} comes next, not {number}")
        reader.want(":")
        targets.append(_read_successor(reader))

    reader.want("{", " before the cases")
    read_list(reader, read_one, "}")
    if not targets:
        reader.fail(f"{name} needs a default", position)
    sizes = [len(names) for _, names, _ in targets]
    properties: dict[str, Attribute] = {
        "case_operand_segments": DenseArrayBase.from_list(i32, sizes[1:]),
        "operandSegmentSizes": segments((1, sizes[0], sum(sizes[1:]))),
    }
    names = [name for _, names, _ in targets for name in names]
    types = [type for _, _, types in targets for type in types]
    values = [index, *reader.resolve_all(names, types, position)]
    blocks = [block for block, _, _ in targets]
    return reader.build(name, position, values, (), properties, dictionary(reader), (), blocks)


def _read_fail(reader: Reader, name: str, position: int) -> Operation:
    """`%status, "message"`."""
    status = reader.resolve(reader.want_percent(), i32, position)
    properties: dict[str, Attribute] = {}
    if reader.take(","):
        properties["message"] = StringAttr(reader.read_string())
    return reader.build(name, position, [status], (), properties, dictionary(reader))


_SPECIAL: dict[str, CustomReader] = {
    **COMPOSED_READERS,
    "vm.yield": _read_branch,
    "vm.break": _read_branch,
    "vm.cond_break": _read_cond_break,
    "vm.br_table": _read_branch_table,
    "vm.global.address": symbol_value("global"),
    "vm.module": _read_module,
    "vm.rodata": _read_rodata,
    "vm.import": _read_import,
    "vm.func": _read_func,
    "vm.export": _read_export,
    "vm.call": _read_call,
    "vm.call.variadic": _read_variadic_call,
    "vm.call.yieldable": _read_yieldable_call,
    "vm.call.variadic.yieldable": _read_yieldable_call,
    "vm.import.resolved": symbol_value("import"),
    "vm.discard.refs": read_discard,
    "vm.trace": read_message("event_name"),
    "vm.print": read_message("message"),
    "vm.return": read_return,
    "vm.br": _read_branch,
    "vm.cond_br": _read_cond_branch,
    "vm.fail": _read_fail,
}


def _readers() -> dict[str, CustomReader]:
    from tiree.dialects.vm import value_names
    from tiree.dialects.vm_composed import VALUES

    readers: dict[str, CustomReader] = {f"vm.global.{kind}": _read_global for kind in (*SCALARS, "ref")}
    readers |= {f"vm.{name}": shape_of(name) for name in (*value_names(), *VALUES)}
    return readers | _SPECIAL


READERS: dict[str, CustomReader] = _readers()
