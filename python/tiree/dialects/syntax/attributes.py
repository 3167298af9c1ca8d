"""Reading types and attributes: each distinct text is read once and then found again by its text.

Common forms are read here; everything else goes to xDSL's parser and the dialects' own `parse_parameters`.
"""

from __future__ import annotations

import re

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    bf16,
    f16,
    f32,
    f64,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import StringLiteral

from tiree.dialects.dense import DenseAttr
from tiree.dialects.syntax import constants, locations
from tiree.dialects.syntax.floats import float_of_bits
from tiree.dialects.syntax.long_text import CutText
from tiree.dialects.syntax.resources import find_resources
from tiree.dialects.syntax.scanner import ANGLES, WS, Scanner
from tiree.support.typed import is_integer_type

_TYPE = re.compile(rf"{WS}([A-Za-z]\w*(?:{ANGLES})?|![\w.$-]+(?:{ANGLES})?)")
_NUMBER = re.compile(
    rf"{WS}(-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*(?:[eE][-+]?\d+)?)?)(?:\s*:\s*(?:[su]?i\d+|index|f16|bf16|f32|f64)\b)?)"
)
_HASH = re.compile(rf"{WS}(#[\w.$-]+)({ANGLES})?")
_ARRAY = re.compile(rf'{WS}(\[(?:[^\[\]"]|\[[^\[\]"]*+\])*+\])')
_BUILTIN = re.compile(rf"{WS}((?:affine_map|affine_set|array|strided){ANGLES})")
_SYMBOL = re.compile(rf'{WS}(@(?:[\w.$-]+|"[^"\\]*")(?:::@(?:[\w.$-]+|"[^"\\]*"))*)')
_SYMBOL_PART = re.compile(r'@([\w.$-]+|"[^"\\]*")')
_ENTRY = re.compile(rf'{WS}(?:"((?:[^"\\]++|\\.)*+)"|([A-Za-z_][\w$.]*)){WS}(=(?!=))?')
_ALIAS_LINE = re.compile(r"^[ \t]*(#[\w$.-]+)\s*=", re.MULTILINE)
_DENSE_ARRAY = re.compile(rf"array<{WS}([su]?i\d+|f32|f64){WS}(?::([^>]*))?>")
_FLOATS = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}
_FLOAT_CLASSES = (Float16Type, BFloat16Type, Float32Type, Float64Type)


class AttributeReader(Scanner):
    """Types, attributes, locations."""

    def __init__(self, ctx: Context, source: CutText, filename: str) -> None:
        super().__init__(ctx, source, filename)
        self._types: dict[str, TypeAttribute] = {}
        self._attributes: dict[str, Attribute] = {}
        self._resources = find_resources(self.text, self.take_piece)
        self._alias_lines: dict[str, int] | None = None
        self._reading_aliases: set[str] = set()

    # Types.

    def read_type(self) -> TypeAttribute:
        match = _TYPE.match(self.text, self.p)
        if match is not None:
            found = self._types.get(match.group(1))
            if found is not None:
                self.p = match.end()
                return found
        found = self._read_new_type(match)
        if found is None:
            self.fail(f"expected a type, found {self.found()}")
        return found

    def _read_new_type(self, match: re.Match[str] | None) -> TypeAttribute | None:
        if match is None:
            if self.peek() == "(":
                return FunctionType.from_lists(*self.read_function_type())
            if self.peek() != "!":
                return None
        if self._at_vhlo("!"):
            from tiree.dialects.syntax.vhlo import read_type

            found = read_type(self)
        else:
            self.to_tokens()
            found = super().parse_optional_type()
            self.to_chars()
        if found is not None and match is not None:
            end, self.p = self.p, match.end()
            if end == self.skip():
                self._types[match.group(1)] = found
            self.p = end
        return found

    def read_types(self) -> list[TypeAttribute]:
        """`type, type, ...`, at least one."""
        types = [self.read_type()]
        while self.take(","):
            types.append(self.read_type())
        return types

    def read_type_list(self) -> list[TypeAttribute]:
        """`(type, type, ...)`, perhaps empty."""
        self.want("(")
        if self.take(")"):
            return []
        types = self.read_types()
        self.want(")", " after the types")
        return types

    def read_function_type(self) -> tuple[list[TypeAttribute], list[TypeAttribute]]:
        """Input and result types of `(types) -> type` or `(types) -> (types)`."""
        inputs = self.read_type_list()
        self.want("->", " in a function type")
        return inputs, self.read_result_types()

    def read_result_types(self) -> list[TypeAttribute]:
        return self.read_type_list() if self.peek() == "(" else [self.read_type()]

    # Attributes.

    def read_attribute(self) -> Attribute:
        found = self.read_optional_attribute()
        if found is None:
            self.fail(f"expected an attribute, found {self.found()}")
        return found

    def read_optional_attribute(self) -> Attribute | None:
        match self.peek():
            case '"':
                return self._read_string_attribute()
            case "[":
                return self._read_array()
            case "{":
                return DictionaryAttr(self.read_dictionary())
            case "@":
                return self.read_symbol()
            case "#":
                return self.read_hash()
            case "(" | "!":
                return self.read_type()
            case character if character.isdigit() or character == "-":
                return self._read_number()
            case character if character.isalpha() or character == "_":
                return self._read_word()
            case _:
                return None

    def _cached(self, key: str, end: int) -> Attribute | None:
        found = self._attributes.get(key)
        if found is not None:
            self.p = end
        return found

    def _remember(self, key: str, start_end: int, found: Attribute) -> Attribute:
        """Keeps `found` under its text if the text is exactly what was read."""
        end, self.p = self.p, start_end
        if end == self.skip():
            self._attributes[key] = found
        self.p = end
        return found

    def _read_by_xdsl(self) -> Attribute | None:
        self.to_tokens()
        found = super().parse_optional_attribute()
        self.to_chars()
        return found

    def read_angle_brackets(self) -> str:
        """What stands in `<...>`, as text: brackets in it are balanced."""
        self.to_tokens()
        found = self._parse_dialect_symbol_body()
        self.to_chars()
        return found

    def read_string(self) -> str:
        """A string literal; raises if it is not UTF-8."""
        start = self.skip()
        if not self.text.startswith('"', start):
            self.fail(f"expected a string, found {self.found()}")
        end = self.text.find('"', start + 1)
        if end > 0 and self.text.find("\\", start + 1, end) < 0:
            self.p = end + 1
            return self.text[start + 1 : end]
        raw = self._string_bytes(start)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.fail("a string that is not UTF-8", start)

    def _string_bytes(self, start: int) -> bytes:
        end = start + 1
        while True:
            quote = self.text.find('"', end)
            if quote < 0:
                self.fail("this string has no closing quote", start)
            slash = self.text.find("\\", end, quote)
            if slash < 0:
                break
            end = slash + 2
        self.p = quote + 1
        return StringLiteral(start, quote + 1, Input(self.text, self.filename)).bytes_contents

    def _read_string_attribute(self) -> Attribute:
        start = self.skip()
        end = self.text.find('"', start + 1)
        if end > 0 and self.text.find("\\", start + 1, end) < 0:
            self.p = end + 1
            key = self.text[start : end + 1]
            if len(key) > 80:
                return StringAttr(key[1:-1])
            found = self._attributes.get(key)
            if found is None:
                found = self._attributes[key] = StringAttr(key[1:-1])
            return found
        raw = self._string_bytes(start)
        try:
            return StringAttr(raw.decode())
        except UnicodeDecodeError:
            return BytesAttr(raw)

    def _read_array(self) -> Attribute:
        match = _ARRAY.match(self.text, self.p)
        if match is not None and (found := self._cached(match.group(1), match.end())) is not None:
            return found
        self.want("[")
        items: list[Attribute] = []
        if not self.take("]"):
            items.append(self.read_attribute())
            while self.take(","):
                items.append(self.read_attribute())
            self.want("]", " or ',' in an array")
        made = ArrayAttr(items)
        return made if match is None else self._remember(match.group(1), match.end(), made)

    def read_dictionary(self) -> dict[str, Attribute]:
        """`{name = value, flag, ...}`."""
        self.want("{")
        return self.read_entries("}")

    def read_entries(self, closing: str) -> dict[str, Attribute]:
        """`name = value, flag, ...` up to and with `closing`."""
        entries: dict[str, Attribute] = {}
        if self.take(closing):
            return entries
        while True:
            match = _ENTRY.match(self.text, self.p)
            if match is None:
                self.fail(f"expected an attribute name, found {self.found()}")
            name = match.group(2) or self._unescape(match)
            if name in entries:
                self.fail(f"attribute '{name}' is given twice")
            self.p = match.end()
            entries[name] = UnitAttr() if match.group(3) is None else self.read_attribute()
            if not self.take(","):
                break
        self.want(closing, " or ',' in an attribute dictionary")
        return entries

    def _unescape(self, match: re.Match[str]) -> str:
        if "\\" not in match.group(1):
            return match.group(1)
        start = match.start(1) - 1
        return StringLiteral(start, match.end(1) + 1, Input(self.text, self.filename)).string_contents

    def read_symbol(self) -> SymbolRefAttr:
        match = _SYMBOL.match(self.text, self.p)
        if match is None:
            found = self._read_by_xdsl() if self.peek() == "@" else None
            if not isinstance(found, SymbolRefAttr):
                self.fail(f"expected a symbol (@name), found {self.found()}")
            return found
        self.p = match.end()
        found = self._attributes.get(match.group(1))
        if found is None:
            root, *nested = (part.strip('"') for part in _SYMBOL_PART.findall(match.group(1)))
            found = self._attributes[match.group(1)] = SymbolRefAttr(root, nested)
        assert isinstance(found, SymbolRefAttr)
        return found

    def read_symbol_name(self) -> str:
        """`@name` without the sign."""
        return self.read_symbol().root_reference.data

    def _at_vhlo(self, sign: str) -> bool:
        """Whether a type (`!`) or attribute (`#`) of VHLO comes next; what reads it is loaded then."""
        return self.text.startswith((f"{sign}vhlo.", f"{sign}vhlo<"), self.skip())

    def read_hash(self) -> Attribute | None:
        """A dialect attribute or alias: `#name`, `#dialect.attr<...>`."""
        match = _HASH.match(self.text, self.p)
        if self._at_vhlo("#"):
            from tiree.dialects.syntax.vhlo import read_attribute

            return read_attribute(self)
        if match is None:
            return self._read_by_xdsl()
        if (found := self._cached(match.group(0).lstrip(), match.end())) is not None:
            return found
        if match.group(2) is None and "." not in match.group(1) and not self.text.startswith("<", match.end()):
            self.p = match.end()
            return self.read_alias(match.group(1), match.start(1))
        found = self._read_by_xdsl()
        return found if found is None else self._remember(match.group(0).lstrip(), match.end(), found)

    def read_alias(self, name: str, position: int) -> Attribute:
        """What the alias `name` stands for. MLIR puts some definitions at the end of a file: those are looked up."""
        found = self.attribute_aliases.get(name)
        if found is not None:
            return found
        if self._alias_lines is None:
            self._alias_lines = {match.group(1): match.end() for match in _ALIAS_LINE.finditer(self.text)}
        start = self._alias_lines.get(name)
        if start is None or name in self._reading_aliases:
            self.fail(f"alias {name} {'refers to itself' if start is not None else 'is not defined'}", position)
        here, self.p = self.p, start
        self._reading_aliases.add(name)
        found = self.attribute_aliases[name] = self.read_attribute()
        self._reading_aliases.discard(name)
        self.p = here
        return found

    def _read_number(self) -> Attribute:
        match = _NUMBER.match(self.text, self.p)
        if match is None:
            self.fail(f"expected a number, found {self.found()}")
        key = match.group(1)
        if (found := self._cached(key, match.end())) is not None:
            return found
        digits, _, type_name = (part.strip() for part in key.partition(":"))
        if not type_name and self.text.startswith(":", self._after(match.end())):
            found = self._read_by_xdsl()
            assert found is not None
            return found
        found = self._number_attribute(digits, type_name)
        self.p = match.end()
        self._attributes[key] = found
        return found

    def _after(self, position: int) -> int:
        here, self.p = self.p, position
        after, self.p = self.skip(), here
        return after

    def _number_attribute(self, digits: str, type_name: str) -> Attribute:
        is_hex = "0x" in digits
        if type_name in _FLOATS or (not type_name and not is_hex and "." in digits):
            type = _FLOATS.get(type_name, f64)
            if not is_hex:
                return FloatAttr(float(digits), type)
            if int(digits, 16) >> (8 * type.compile_time_size):
                self.fail(f"{digits} has more bits than {type}")
            return FloatAttr(float_of_bits(int(digits, 16), type.__class__), type)
        if "." in digits:
            self.fail(f"{digits} is not a value of type {type_name}")
        type = i64 if not type_name else self._integer_type(type_name)
        return IntegerAttr(int(digits, 16 if is_hex else 10), type)

    def _integer_type(self, name: str) -> IntegerType | IndexType:
        found = self._types.get(name)
        if found is None:
            here = self.p
            match = _NUMBER.match(self.text, here)
            assert match is not None
            self.p = self.text.index(name, here)
            found = self.read_type()
            self.p = here
        assert is_integer_type(found) or isinstance(found, IndexType)
        return found

    def _read_word(self) -> Attribute | None:
        start = self.p
        match = _BUILTIN.match(self.text, start)
        if match is not None:
            if (found := self._cached(match.group(1), match.end())) is not None:
                return found
            found = self._dense_array(match)
            if found is None:
                found = self._read_by_xdsl()
            return found if found is None else self._remember(match.group(1), match.end(), found)
        word = self.word()
        match word:
            case "true" | "false":
                return BoolAttr.from_bool(word == "true")
            case "unit":
                return UnitAttr()
            case "dense":
                return self.read_dense()
            case "dense_resource":
                return self.read_dense_resource()
            case "loc":
                self.p = start
                return self.read_optional_location()
            case _:
                pass
        self.p = start
        type_match = _TYPE.match(self.text, start)
        if type_match is not None and (found := self._types.get(type_match.group(1))) is not None:
            self.p = type_match.end()
            return found
        if word in ("opaque", "sparse", "distinct"):
            return self._read_by_xdsl()
        return self._read_new_type(type_match)

    def _dense_array(self, match: re.Match[str]) -> Attribute | None:
        parts = _DENSE_ARRAY.fullmatch(match.group(1))
        if parts is None:
            return None
        texts = [text.strip() for text in parts.group(2).split(",")] if parts.group(2) else []
        name = parts.group(1)
        try:
            if name in _FLOATS:
                found = DenseArrayBase.from_list(_FLOATS[name], [float(text) for text in texts])
            else:
                booleans = {"true": 1, "false": 0}
                values = [booleans[text] if text in booleans else int(text, 0) for text in texts]
                found = DenseArrayBase.from_list(IntegerType(int(name[1:])), values) if name[0] == "i" else None
        except ValueError:
            return None
        if found is not None:
            self.p = match.end()
        return found

    # Constants and locations.

    def read_dense(self) -> DenseAttr:
        """What follows `dense`: `<...> : type`."""
        return constants.read_dense(self)

    def read_dense_resource(self) -> DenseAttr:
        """What follows `dense_resource`: `<key> : type`; the bytes are in the file's resource section."""
        return constants.read_dense_resource(self, self._resources)

    def read_optional_location(self) -> LocationAttr | None:
        """`loc(...)`, if present."""
        return locations.read_optional_location(self)

    # The same for xDSL code that parses by tokens.

    def parse_optional_type(self) -> TypeAttribute | None:
        self.to_chars()
        match = _TYPE.match(self.text, self.p)
        found = self._types.get(match.group(1)) if match is not None else None
        if found is not None and match is not None:
            self.p = match.end()
        else:
            found = self._read_new_type(match)
        self.to_tokens()
        return found

    def parse_type(self) -> TypeAttribute:
        self.to_chars()
        found = self.read_type()
        self.to_tokens()
        return found

    def parse_optional_attribute(self) -> Attribute | None:
        self.to_chars()
        found = self.read_optional_attribute()
        self.to_tokens()
        return found

    def parse_attribute(self) -> Attribute:
        self.to_chars()
        found = self.read_attribute()
        self.to_tokens()
        return found

    def parse_optional_location(self) -> LocationAttr | None:
        self.to_chars()
        found = self.read_optional_location()
        self.to_tokens()
        return found
