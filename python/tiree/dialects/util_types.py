"""Types and attributes of the `util` dialect; `util.py` re-exports them.

Assumes xDSL only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tiree.support.typed import int_of, is_array_attr


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """Host memory that the program reads: constants before they are uploaded."""

    name = "util.buffer"


@irdl_attr_definition
class ObjectType(ParametrizedAttribute, TypeAttribute):
    """Any reference object."""

    name = "util.object"


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """The address of a global that holds `target`."""

    name = "util.ptr"
    target: Attribute = param_def()


@irdl_attr_definition
class ListType(ParametrizedAttribute, TypeAttribute):
    """A growable list of `element_type`."""

    name = "util.list"
    element_type: Attribute = param_def()


@irdl_attr_definition
class InlineNeverAttr(ParametrizedAttribute):
    """Inlining policy: keep the function or global as it is."""

    name = "util.inline.never"


@irdl_attr_definition
class InlineAlwaysAttr(ParametrizedAttribute):
    """Inlining policy: always inline."""

    name = "util.inline.always"


@irdl_attr_definition
class UninitializedAttr(ParametrizedAttribute):
    """Initial value of a global whose contents do not matter; typed as `#util.uninitialized : tensor<4xf32>`."""

    name = "util.uninitialized"
    type: Attribute = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parser.parse_punctuation(":")
        return [parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(" : ")
        printer.print_attribute(self.type)


@irdl_attr_definition
class CompositeAttr(ParametrizedAttribute):
    """Constants laid out one after the other: `#util.composite<16xi8, [dense<...> : tensor<4xf32>]>`."""

    name = "util.composite"
    size: IntegerAttr = param_def()
    values: ArrayAttr = param_def()

    @staticmethod
    def of(values: Iterable[Attribute], size: int) -> CompositeAttr:
        return CompositeAttr(IntegerAttr(size, 64), ArrayAttr(values))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            size = parser.parse_shape_dimension(allow_dynamic=False)
            parser.parse_shape_delimiter()
            parser.parse_type()
            parser.parse_punctuation(",")
            parser.parse_punctuation("[")
            values: list[Attribute] = []
            while parser.parse_optional_punctuation("]") is None:  # IREE prints a comma after the last one, too.
                values.append(parser.parse_attribute())
                if parser.parse_optional_punctuation(",") is None:
                    parser.parse_punctuation("]")
                    break
        return [IntegerAttr(size, 64), ArrayAttr(values)]

    def print_parameters(self, printer: Printer) -> None:
        # IREE puts each value on a line of its own; unindented, since the values may be megabytes of hex.
        printer.print_string(f"<{self.size.value.data}xi8, [\n", indent=0)
        for value in self.values:
            printer.print_string("    ", indent=0)
            printer.print_attribute(value)
            printer.print_string(",\n", indent=0)
        printer.print_string("]>", indent=0)


@irdl_attr_definition
class IntAssumptionAttr(ParametrizedAttribute):
    """What is known of an integer: `#util.int.assumption<umin = 0, umax = 64, udiv = 64>`; every part may be absent."""

    name = "util.int.assumption"
    bounds: DictionaryAttr = param_def()

    @staticmethod
    def of(umin: int | None = None, umax: int | None = None, udiv: int | None = None) -> IntAssumptionAttr:
        given = {"umin": umin, "umax": umax, "udiv": udiv}
        return IntAssumptionAttr(
            DictionaryAttr({key: IntegerAttr(value, 64) for key, value in given.items() if value is not None})
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        bounds: dict[str, Attribute] = {}
        with parser.in_angle_brackets():
            while (key := parser.parse_optional_keyword_in(("umin", "umax", "udiv"))) is not None:
                parser.parse_punctuation("=")
                bounds[key] = IntegerAttr(parser.parse_integer(), 64)
                if parser.parse_optional_punctuation(",") is None:
                    break
        return [DictionaryAttr(bounds)]

    def print_parameters(self, printer: Printer) -> None:
        bounds = (f"{key} = {int_of(value)}" for key, value in self.bounds.data.items())
        printer.print_string(f"<{', '.join(bounds)}>")


def assumed_bounds(op: Operation, number: int) -> tuple[int, int | None, int]:
    """What all cases of a `util.assume.int` say of its operand `number`: the least, the most, and a divisor."""
    assumptions = op.properties["assumptions"]
    cases = assumptions.data[number] if is_array_attr(assumptions) else None
    found: tuple[int, int | None, int] | None = None
    for case in cases.data if is_array_attr(cases) else ():
        bounds = dict[str, int]()
        if isinstance(case, IntAssumptionAttr):
            bounds = {key: int_of(value) for key, value in case.bounds.data.items()}
        low, high, divisor = bounds.get("umin", 0), bounds.get("umax"), max(bounds.get("udiv", 1), 1)
        if found is not None:
            low, divisor = min(low, found[0]), gcd(divisor, found[2])
            high = None if high is None or found[1] is None else max(high, found[1])
        found = low, high, divisor
    return found or (0, None, 1)


TYPES_AND_ATTRIBUTES: list[type[Attribute]] = [
    BufferType,
    ObjectType,
    PtrType,
    ListType,
    InlineNeverAttr,
    InlineAlwaysAttr,
    UninitializedAttr,
    CompositeAttr,
    IntAssumptionAttr,
]
