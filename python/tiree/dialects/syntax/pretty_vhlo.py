"""The short form of `vhlo.func_v1`; all other operations of VHLO are written in the generic form."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Attribute, Operation

from tiree.dialects.syntax import vhlo
from tiree.dialects.syntax.pretty_func import read_arguments, read_results
from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_func(reader: Reader, name: str, position: int) -> Operation:
    """`@name(arguments) -> (results) { region } { attributes }`."""
    given: dict[str, Attribute] = {"sym_name": StringAttr(reader.read_symbol_name())}
    arguments, inputs, _ = read_arguments(reader)
    outputs, _ = read_results(reader)
    given["function_type"] = FunctionType.from_lists(inputs, outputs)
    region = reader.read_region(arguments)
    given |= reader.read_dictionary() if reader.at("{") else {}
    made, properties, attributes = vhlo.translated(reader, name, position, given)
    function = reader.build(made, position, (), (), properties, attributes, [region])
    vhlo.finish_function(function)
    return function


READERS: dict[str, CustomReader] = {"vhlo.func_v1": _read_func}
