"""Whether functions take, return and work on values that the compiler knows: types of tensors and of scalars.

What an operation may do with a type that is known is its lowering's business; here is only what no part of the compiler
can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IndexType,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnrankedTensorType,
    UnregisteredAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

from tiree.dialects.syntax.small_floats import small_float
from tiree.support.errors import UNKNOWN, Diagnostic
from tiree.support.locations import location_of, location_text
from tiree.support.symbols import defined_symbol
from tiree.support.typed import is_array_attr, is_complex_type, is_integer_type, is_tensor_type

_WIDTHS = (1, 8, 16, 32, 64)
_SMALL_WIDTHS = (2, 4)
_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type)
_MOST_ELEMENTS = 2**60 - 1
"""Elements of the largest tensor: the size in bytes and every offset stay below 2^63, whatever the element type."""
_FUNCTIONS = ("func.func", "util.func")
_CALLS = ("func.call", "util.call")
_SCALARS = "i1, i8, i16, i32, i64, index, f32 and f64"
_ELEMENTS = (
    "i1, i2, i4, 8 to 64 bit integers, f16, bf16, f32 and f64, floats of 4, 6 and 8 bits, complex<f32> and complex<f64>"
)
_PACKED = "Inside a function it can be used; pass bytes (i8) and convert them."


def _tensor_problem(type: Attribute) -> tuple[str, str]:
    """What is wrong with a tensor type, and what to do; empty texts for a good one or for something else."""
    if isinstance(type, UnrankedTensorType):
        return "an unranked tensor", "Give the tensor a rank and sizes."
    if not is_tensor_type(type):
        return "", ""
    element = type.element_type
    if is_integer_type(element) and element.width.data not in (*_WIDTHS, *_SMALL_WIDTHS):
        return f"elements of type {element}", f"Tensors hold {_ELEMENTS}."
    if is_complex_type(element) and not isinstance(element.element_type, (Float32Type, Float64Type)):
        return f"elements of type {element}", "Complex numbers are complex<f32> and complex<f64>."
    if not isinstance(element, (IntegerType, IndexType, ComplexType, *_FLOATS)) and small_float(element) is None:
        return f"elements of type {element}", f"Tensors hold {_ELEMENTS}."
    if prod(size for size in type.get_shape() if size != DYNAMIC_INDEX) > _MOST_ELEMENTS:
        return f"the shape {type}, too many elements to address", "A tensor has less than 2^60 elements."
    return "", ""


def _value_problem(type: Attribute, imported: bool) -> tuple[str, str]:
    """The same for an argument or result of a public function, or of one of another module."""
    if is_tensor_type(type) and is_integer_type(type.element_type) and type.element_type.width.data in _SMALL_WIDTHS:
        if DYNAMIC_INDEX in type.get_shape():
            return (
                f"elements of type {type.element_type} in the shape {type}, which does not say how many bytes it has",
                _PACKED,
            )
        if imported:
            return f"elements of type {type.element_type}", _PACKED
    if is_tensor_type(type) or type.name == UnrankedTensorType.name:
        return _tensor_problem(type)
    known = isinstance(type, (IndexType, Float32Type, Float64Type)) or (
        is_integer_type(type) and type.width.data in _WIDTHS
    )
    if known or type.name.startswith(("hal.", "util.", "vm.")):
        return "", ""
    hint = f"Functions take and return tensors and the scalars {_SCALARS}."
    if isinstance(type, (AnyFloat, IntegerType, ComplexType)):
        hint += f" Pass a tensor<{type}> instead." if isinstance(type, (AnyFloat, ComplexType)) else ""
    return f"the type {type}", hint


def wrong_signatures(module: ModuleOp) -> Iterator[Diagnostic]:
    """A diagnostic for each argument or result of a public function, and each function, that cannot be compiled."""
    functions = [op for op in module.body.block.ops if op.name in _FUNCTIONS]
    known = {defined_symbol(op) for op in functions}
    empty = {defined_symbol(op): op for op in functions if not op.regions[0].blocks}
    for op in functions:
        visibility = op.properties.get("sym_visibility")
        public = not isinstance(visibility, StringAttr) or visibility.data == "public"
        if defined_symbol(op) in empty:
            if public:
                hint = "Give it a body, or declare it as private."
                yield Diagnostic(f"function @{defined_symbol(op)} is public, but has no body", location_of(op), hint)
            elif "." in (defined_symbol(op) or ""):
                yield from _wrong_values(op)
            else:
                yield from _unknown_types(op)
        elif public:
            yield from _wrong_values(op)
        yield from _wrong_returns(op)
    for op in module.walk():
        if op.name in _CALLS:
            callee = op.properties.get("callee")
            name = callee.root_reference.data if isinstance(callee, SymbolRefAttr) else ""
            if name in empty and "." not in name:
                hint = "Give it a body; a function of another module is declared as @module.function."
                yield Diagnostic(f"@{name} is called, but has no body", location_of(op), hint)
            elif name not in known:
                yield Diagnostic(f"@{name} is called, but this module has no such function", location_of(op))
        elif op.name == "builtin.module" and op is not module:
            hint = "Move its functions into the outer module."
            yield Diagnostic("a module inside a module cannot be compiled", location_of(op), hint)


def _wrong_returns(function: Operation) -> Iterator[Diagnostic]:
    """The return of StableHLO may end a function, and does not look at what it has to return."""
    type = function.properties["function_type"]
    assert isinstance(type, FunctionType)
    for block in function.regions[0].blocks:
        last = block.last_op
        if last is None or last.name != "stablehlo.return":
            continue
        types = [operand.type for operand in last.operands]
        if types != list(type.outputs.data):
            given, wanted = (", ".join(map(str, some)) or "nothing" for some in (types, type.outputs.data))
            what = f"stablehlo.return gives {given}; @{defined_symbol(function)} returns {wanted}"
            yield Diagnostic(what, location_of(last))


_COMPLETE = ("chlo", "mhlo", "quant", "stablehlo")
"""Dialects whose types are all known."""
_KEPT_AS_TEXT = ("stablehlo.future",)


def _unknown_part(type: Attribute) -> UnregisteredAttr | None:
    """A type or attribute of a dialect that is known, in `type`, which this dialect does not have."""
    if isinstance(type, UnregisteredAttr):
        name = type.attr_name.data
        return type if name.partition(".")[0] in _COMPLETE and name not in _KEPT_AS_TEXT else None
    inner: Sequence[Attribute] = type.parameters if isinstance(type, ParametrizedAttribute) else ()
    if is_array_attr(type):
        inner = type.data
    return next((found for part in inner if (found := _unknown_part(part)) is not None), None)


def _unknown_types(function: Operation) -> Iterator[Diagnostic]:
    """A declaration that nothing calls may have any types, if they are some."""
    type = function.properties["function_type"]
    assert isinstance(type, FunctionType)
    for kind, types in (("argument", type.inputs.data), ("result", type.outputs.data)):
        for number, one in enumerate(types, 1):
            part = _unknown_part(one)
            if part is not None:
                what = f"{kind} {number} of @{defined_symbol(function)} has the type {one}"
                yield Diagnostic(what, location_of(function), f"There is no {part}.")


def _wrong_values(function: Operation) -> Iterator[Diagnostic]:
    type = function.properties["function_type"]
    assert isinstance(type, FunctionType)
    block = function.regions[0].blocks.first
    imported = block is None
    arguments = block.args if block is not None else ()
    for number, one in enumerate(type.inputs.data, 1):
        problem, hint = _value_problem(one, imported)
        if problem and not arguments:
            what = f"argument {number} of @{defined_symbol(function)} has {problem}"
            yield Diagnostic(what, location_of(function), hint)
        elif problem:
            argument = arguments[number - 1]
            name = f" (%{argument.name_hint})" if argument.name_hint else ""
            what = f"argument {number}{name} of @{defined_symbol(function)} has {problem}"
            place = location_text(argument.location)
            named = place == UNKNOWN or place.startswith('"')
            yield Diagnostic(what, location_of(function) if named else place, hint)
    for number, one in enumerate(type.outputs.data, 1):
        problem, hint = _value_problem(one, imported)
        if problem:
            yield Diagnostic(
                f"result {number} of @{defined_symbol(function)} has {problem}", location_of(function), hint
            )


def wrong_types(module: ModuleOp) -> Iterator[Diagnostic]:
    """A diagnostic for each kind of operation and tensor type that cannot be compiled, at its first use."""
    verdicts: dict[Attribute, tuple[str, str]] = {}
    reported: set[tuple[str, str]] = set()
    for op in module.walk():
        for value in (*op.results, *(argument for region in op.regions for b in region.blocks for argument in b.args)):
            verdict = verdicts.get(value.type)
            if verdict is None:
                verdict = verdicts[value.type] = _tensor_problem(value.type)
            problem, hint = verdict
            if problem and op.name not in _FUNCTIONS and (op.name, problem) not in reported:
                reported.add((op.name, problem))
                yield Diagnostic(f"{op.name} with {problem} is not supported", location_of(op), hint)
