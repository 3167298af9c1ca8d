"""Short forms as data: one line of text says how an operation is written, and a small interpreter reads it.

A form is a list of pieces, separated by blanks, over the fields that the op class declares:

| piece | reads |
|---|---|
| `$name` | an operand, or as many as come when the field is variadic; or a property, as an attribute |
| `$name:kind` | a property by one of `KINDS` or of the table that is given: `index`, `symbol`, `string`, `type`... |
| `~name` | the type, or types, of an operand or result |
| `?word` or `?word=name` | the word, if it is there: sets the unit property |
| `{}` | an attribute dictionary, if it is there; declared properties in it become properties |
| `{}+` | the same after the word `attributes` |
| `<>` | `<name = value, ...>`, properties, if it is there |
| `^name` | a region; `^name/op` gives its block the terminator `op` where the text leaves it out |
| `!name` | a function of the table that is given: `(reader, parts) -> None` |
| `(? ... )?` and `(? ... \\|? ... )?` | what follows if its first piece is there; else what comes after the bar |
| anything else | itself |

Types that the text leaves out follow from the declaration of the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, IntegerType, StringAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OptionalDef,
    VariadicDef,
)
from xdsl.traits import IsTerminator

from tiree.dialects.syntax.reader import CustomReader, Reader

Kind = Callable[[Reader], Attribute]


@dataclass
class Parts:
    """What has been read of one operation."""

    name: str
    position: int
    definition: OpDef
    operands: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    types: dict[str, list[Attribute]] = field(default_factory=dict[str, list[Attribute]])
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: dict[str, Region] = field(default_factory=dict[str, Region])

    def keep(self, entries: Mapping[str, Attribute]) -> None:
        """Sorts the entries of an attribute dictionary into properties and attributes."""
        for key, value in entries.items():
            (self.properties if key in self.definition.properties else self.attributes)[key] = value


Custom = Callable[[Reader, Parts], None]


# Kinds of properties.


def _index(reader: Reader) -> Attribute:
    return IntegerAttr(reader.integer(), IndexType())


def _i64(reader: Reader) -> Attribute:
    return IntegerAttr(reader.integer(), i64)


def _i32(reader: Reader) -> Attribute:
    return IntegerAttr(reader.integer(), i32)


def _string(reader: Reader) -> Attribute:
    return StringAttr(reader.read_string())


def _name(reader: Reader) -> Attribute:
    return StringAttr(reader.read_symbol_name())


KINDS: dict[str, Kind] = {
    "index": _index,
    "i64": _i64,
    "i32": _i32,
    "string": _string,
    "symbol": Reader.read_symbol,
    "name": _name,
    "type": Reader.read_type,
    "attribute": Reader.read_attribute,
}


def flags_kind(values: Mapping[str, int], type: IntegerType) -> Kind:
    """The kind of a bit set that is written as `Word` or `"Word|Word"`."""

    def read(reader: Reader) -> Attribute:
        at = reader.skip()
        text = reader.read_string() if reader.at('"') else reader.want_word()
        bits = 0
        for word in text.split("|"):
            if word not in values:
                reader.fail(f"unknown flag '{word}'; known are {', '.join(values)}", at)
            bits |= values[word]
        return IntegerAttr(bits, type)

    return read


# Forms.


@dataclass(frozen=True)
class _Group:
    """An optional group: `taken` if its first piece is there, `otherwise` if not."""

    taken: tuple[str | _Group, ...]
    otherwise: tuple[str | _Group, ...]


def _group(pieces: list[str]) -> tuple[str | _Group, ...]:
    """The pieces up to the end of this group, which is taken off."""
    found: list[str | _Group] = []
    while pieces and pieces[0] not in (")?", "|?"):
        piece = pieces.pop(0)
        if piece != "(?":
            found.append(piece)
            continue
        taken, otherwise = _group(pieces), ()
        if pieces.pop(0) == "|?":
            otherwise = _group(pieces)
            pieces.pop(0)
        found.append(_Group(taken, otherwise))
    return tuple(found)


class _Form:
    """The reader of one form."""

    def __init__(self, text: str, kinds: Mapping[str, Kind], custom: Mapping[str, Custom]) -> None:
        self.text = text
        self.kinds = {**KINDS, **kinds}
        self.custom = custom
        self._pieces: tuple[str | _Group, ...] | None = None

    def __call__(self, reader: Reader, name: str, position: int) -> Operation:
        if self._pieces is None:
            self._pieces = _group(self.text.split())
        parts = new_parts(reader, name, position)
        self._read(reader, parts, self._pieces)
        return build(reader, parts)

    def _read(self, reader: Reader, parts: Parts, pieces: Sequence[str | _Group]) -> None:
        for piece in pieces:
            if isinstance(piece, _Group):
                present = self._starts(reader, parts, piece.taken[0])
                self._read(reader, parts, piece.taken if present else piece.otherwise)
            else:
                self._read_piece(reader, parts, piece)

    def _starts(self, reader: Reader, parts: Parts, piece: str | _Group) -> bool:
        """Whether the text goes on with `piece`."""
        assert isinstance(piece, str)
        if piece[0] == "$":
            if _field(parts.definition.operands, piece[1:]) is not None:
                return reader.at("%")
            return not reader.at(":") and not reader.at("{")
        if piece[0].isalpha():
            here = reader.p
            found = reader.take_word(piece)
            reader.p = here
            return found
        return reader.at(piece)

    def _read_piece(self, reader: Reader, parts: Parts, piece: str) -> None:
        match piece[0]:
            case "$" if len(piece) > 1:
                self._read_field(reader, parts, piece[1:])
            case "~":
                read_field_types(reader, parts, piece[1:])
            case "?" if len(piece) > 1:
                word, _, prop = piece[1:].partition("=")
                if reader.take_word(word):
                    parts.properties[prop or word] = UnitAttr()
            case "!":
                self.custom[piece[1:]](reader, parts)
            case "^":
                name, _, terminator = piece[1:].partition("/")
                parts.regions[name] = read_body(reader, terminator)
            case _ if piece == "{}":
                if reader.at("{"):
                    parts.keep(reader.read_dictionary())
            case _ if piece == "{}+":
                if reader.take_word("attributes"):
                    parts.keep(reader.read_dictionary())
            case _ if piece == "<>":
                if reader.take("<"):
                    parts.keep(reader.read_entries(">"))
            case _:
                take_literal(reader, piece, parts.name)

    def _read_field(self, reader: Reader, parts: Parts, text: str) -> None:
        name, _, kind = text.partition(":")
        definition = None if kind else _field(parts.definition.operands, name)
        if definition is None:
            parts.properties[name] = self.kinds[kind or "attribute"](reader)
        elif isinstance(definition, VariadicDef) and not isinstance(definition, OptionalDef):
            parts.operands[name] = reader.operand_names()
        else:
            parts.operands[name] = [reader.want_percent()]


def form(
    text: str, kinds: Mapping[str, Kind] | None = None, custom: Mapping[str, Custom] | None = None
) -> CustomReader:
    """The reader of a form; the text is looked at when the first operation comes."""
    return _Form(text, kinds or {}, custom or {})


def forms(
    table: Mapping[str, str], kinds: Mapping[str, Kind] | None = None, custom: Mapping[str, Custom] | None = None
) -> dict[str, CustomReader]:
    """Readers of a table of forms by op name."""
    return {name: form(text, kinds, custom) for name, text in table.items()}


# Steps that hand-written readers use as well.


def new_parts(reader: Reader, name: str, position: int) -> Parts:
    cls = reader.op_class(name, position)
    assert issubclass(cls, IRDLOperation)
    return Parts(name, position, cls.get_irdl_definition())


def take_literal(reader: Reader, text: str, name: str) -> None:
    """Steps over a word or punctuation that op `name` must have here."""
    if text[0].isalpha():
        if not reader.take_word(text):
            reader.fail(f"expected '{text}' in {name}, found {reader.found()}")
    else:
        reader.want(text, f" in {name}")


def read_field_types(reader: Reader, parts: Parts, name: str) -> None:
    """The types of field `name`: as many as it has operands, or as many as come for variadic results."""
    names = parts.operands.get(name)
    if names is not None:
        parts.types[name] = list(reader.read_types()) if names else []
        return
    definition = _field(parts.definition.results, name)
    parts.types[name] = list(reader.read_types()) if isinstance(definition, VariadicDef) else [reader.read_type()]


def read_body(reader: Reader, terminator: str = "") -> Region:
    """`{ ops }`; a single block gets the terminator that the text leaves out."""
    at = reader.skip()
    region = reader.read_region()
    if terminator:
        end_body(reader, region, terminator, at)
    return region


def end_body(reader: Reader, region: Region, terminator: str, position: int) -> None:
    """Adds `terminator` where the last block of `region` has none."""
    if not region.blocks:
        region.add_block(Block())
    last = region.blocks.last
    assert last is not None
    if last.last_op is None or not last.last_op.has_trait(IsTerminator, value_if_unregistered=False):
        last.add_op(reader.build(terminator, position))


def build(reader: Reader, parts: Parts) -> Operation:
    """The operation, its operands in the order of the declaration."""
    operands: list[SSAValue] = []
    sizes: list[int] = []
    for name, definition in parts.definition.operands:
        names = parts.operands.get(name, [])
        types = parts.types.get(name)
        if types is None:
            types = [_declared_type(definition.constr)] * len(names) if names else []
        operands += reader.resolve_all(names, types, parts.position)
        sizes.append(len(names))
    if any(isinstance(option, AttrSizedOperandSegments) for option in parts.definition.options):
        parts.properties["operandSegmentSizes"] = segments(tuple(sizes))
    results: list[Attribute] = []
    for name, definition in parts.definition.results:
        types = parts.types.get(name)
        results += [_declared_type(definition.constr)] if types is None else types
    regions = [parts.regions.get(name) or Region() for name, _ in parts.definition.regions]
    return reader.build(parts.name, parts.position, operands, results, parts.properties, parts.attributes, regions)


@cache
def segments(sizes: tuple[int, ...]) -> DenseArrayBase:
    """`operandSegmentSizes`."""
    return DenseArrayBase.from_list(i32, sizes)


def _field(fields: Sequence[tuple[str, object]], name: str) -> object | None:
    return next((definition for key, definition in fields if key == name), None)


def _declared_type(constraint: object) -> Attribute:
    """The type that a field must have."""
    constraint = getattr(constraint, "constraint", constraint)  # of a range whose length is fixed
    constraint = getattr(constraint, "constr", constraint)  # of each in a range
    found: Attribute | type[Attribute] | None = getattr(constraint, "attr", None)
    if isinstance(found, Attribute):
        return found
    if found is not None:
        return found()
    raise AssertionError(f"the declaration leaves the type open: {constraint}")
