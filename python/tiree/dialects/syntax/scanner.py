"""The reader's lowest layer: regular expressions over the whole text, positions, errors, and the bridge to xDSL.

Reading works on character positions (`Scanner.p`) with one regular expression per construct. xDSL's parser works on a
current token. `LazyState` lets both share one place in the text: `to_tokens` hands over to xDSL code, `to_chars` takes
back; a token is only made when somebody asks for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from tiree.dialects.syntax.long_text import CutText, Piece

WS = r"(?:\s++|//[^\n]*+)*+"
"""White space and comments."""

STRING = r'"(?:[^"\\]++|\\.)*+"'
ANGLE_INNER = rf'(?:->|[^<>"]|{STRING})'
_ANGLE3 = rf'<(?:->|[^<>"]|{STRING})*+>'
_ANGLE2 = rf'<(?:->|[^<>"]|{STRING}|{_ANGLE3})*+>'
_ANGLE1 = rf'<(?:->|[^<>"]|{STRING}|{_ANGLE2})*+>'
ANGLES = rf'<(?:->|[^<>"]|{STRING}|{_ANGLE1})*+>'
"""A balanced `<...>` to five levels; deeper text is read without this short cut."""

_SKIP = re.compile(WS)
_WORD = re.compile(rf"{WS}([A-Za-z_][\w$.]*)")
_PERCENT = re.compile(rf"{WS}(%[\w.$-]+(?:#\d+)?)")
_INTEGER = re.compile(rf"{WS}(-?(?:0x[0-9a-fA-F]+|\d+))")
_NEWLINE = re.compile(r"\n")


class _TokenLexer(MLIRLexer):
    """xDSL's lexer without its regular expression that takes exponential time on a string that is not closed."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')
    _whitespace_regex = re.compile(WS)


class LazyState(ParserState[MLIRTokenKind]):
    """xDSL's parser state whose current token is lexed on demand."""

    def __init__(self, lexer: MLIRLexer) -> None:
        self.lexer = lexer
        self.dialect_stack = ["builtin"]
        self._token: Token[MLIRTokenKind] | None = None
        self._position = 0

    @property
    def current_token(self) -> Token[MLIRTokenKind]:
        if self._token is None:
            self.lexer.pos = self._position
            self._token = self.lexer.lex()
        return self._token

    @current_token.setter
    def current_token(  # pyright: ignore[reportIncompatibleVariableOverride]: a plain attribute in xDSL's class
        self, token: Token[MLIRTokenKind]
    ) -> None:
        self._token = token

    def seek(self, position: int) -> None:
        """Continue at `position`; the token there is made when it is needed."""
        self._token = None
        self._position = position

    def tell(self) -> int:
        """Where the current token starts."""
        return self._position if self._token is None else self._token.span.start


class Scanner(Parser):
    """A place in the text, and the small steps from it."""

    def __init__(self, ctx: Context, source: CutText, filename: str) -> None:
        self.ctx = ctx
        self.source = source
        self.text = text = source.text
        self._taken: set[int] = set()
        self.filename = filename
        self.p = 0
        self._parser_state = LazyState(_TokenLexer(Input(text, filename)))
        self.attribute_aliases = {}
        self.dialect_resources = set()
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = {}
        self.forward_ssa_references = {}
        self._filename_attr = StringAttr(filename)
        self._numbers: dict[int, IntAttr] = {}
        self._line_starts: list[int] | None = None

    def to_tokens(self) -> None:
        state = self._parser_state
        assert isinstance(state, LazyState)
        state.seek(self.p)

    def to_chars(self) -> None:
        state = self._parser_state
        assert isinstance(state, LazyState)
        self.p = state.tell()

    # Errors and locations.

    def fail(self, message: str, position: int | None = None, error: type[ParseError] = ParseError) -> NoReturn:
        """Raises the error that `message` describes at `position`, or at the next character that is not blank."""
        if position is None:
            position = self.skip()
        raise error(Span(position, position + 1, self._parser_state.lexer.input), message)

    def found(self) -> str:
        """What stands at the current place, for messages."""
        position = self.skip()
        if position >= len(self.text):
            return "the end of the file"
        end = position + 1
        if self.text[position].isalnum() or self.text[position] in '%@#!^_"':
            while end < len(self.text) and end - position < 24 and self.text[end] not in ' \n\t,:()<>{}[]="':
                end += 1
        return f"'{self.text[position:end]}'"

    def line_and_column(self, position: int) -> tuple[int, int]:
        """The one-based line and column of `position`."""
        if self._line_starts is None:
            self._line_starts = [0, *(match.end() for match in _NEWLINE.finditer(self.text))]
        line = bisect_right(self._line_starts, position)
        start = self._line_starts[line - 1]
        if self.source.cuts:
            return self.source.line_and_column(line, start, position)
        return line, position - start + 1

    def place(self, position: int) -> str:
        """`file:line:column`."""
        line, column = self.line_and_column(position)
        return f"{self.filename}:{line}:{column}"

    def location_at(self, position: int) -> FileLineColLoc:
        """The location of `position`; built without xDSL's checks, since every op gets one."""
        line, column = self.line_and_column(position)
        location = object.__new__(FileLineColLoc)
        vars(location).update(filename=self._filename_attr, line=self._number(line), column=self._number(column))
        return location

    def _number(self, value: int) -> IntAttr:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = object.__new__(IntAttr)
            vars(found)["data"] = value
        return found

    # Constants that were left out of the text.

    def take_piece(self, position: int) -> Piece | None:
        """The long constant that stood at `position`, if one did."""
        piece = self.source.pieces.get(position)
        if piece is not None:
            self._taken.add(position)
        return piece

    def check_pieces(self) -> None:
        """Every long constant must have been read: one inside something that is kept as text would be lost."""
        for position, piece in self.source.pieces.items():
            line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
            if position not in self._taken and "//" not in line:
                self.fail(f"a constant of {len(piece)} characters stands where no constant can be read", position)

    # Steps. Each skips white space first.

    def skip(self) -> int:
        match = _SKIP.match(self.text, self.p)
        assert match is not None
        self.p = match.end()
        return self.p

    def peek(self) -> str:
        """The next character that is not blank, or an empty string at the end."""
        self.skip()
        return self.text[self.p : self.p + 1]

    def at(self, token: str) -> bool:
        return self.text.startswith(token, self.skip())

    def take(self, token: str) -> bool:
        """Steps over `token` if it is next. Keywords need `take_word`."""
        position = self.skip()
        if self.text.startswith(token, position):
            self.p = position + len(token)
            return True
        return False

    def want(self, token: str, context: str = "") -> None:
        if not self.take(token):
            self.fail(f"expected '{token}'{context}, found {self.found()}")

    def word(self) -> str | None:
        """The next identifier, stepped over, or None."""
        match = _WORD.match(self.text, self.p)
        if match is None:
            return None
        self.p = match.end()
        return match.group(1)

    def take_word(self, word: str) -> bool:
        match = _WORD.match(self.text, self.p)
        if match is not None and match.group(1) == word:
            self.p = match.end()
            return True
        return False

    def want_word(self, *words: str) -> str:
        """One of `words`, or any identifier when none is named."""
        found = _WORD.match(self.text, self.p)
        if found is None or (words and found.group(1) not in words):
            self.fail(f"expected {' or '.join(map(repr, words)) or 'an identifier'}, found {self.found()}")
        self.p = found.end()
        return found.group(1)

    def integer(self) -> int:
        match = _INTEGER.match(self.text, self.p)
        if match is None:
            self.fail(f"expected an integer, found {self.found()}")
        self.p = match.end()
        return int(match.group(1), 0) if "x" in match.group(1) else int(match.group(1))

    def integers(self) -> list[int]:
        """`[1, 2, 3]`."""
        self.want("[")
        values: list[int] = []
        if not self.take("]"):
            values.append(self.integer())
            while self.take(","):
                values.append(self.integer())
            self.want("]")
        return values

    def percent(self) -> str | None:
        """The next operand name such as `%0#1`, stepped over, or None."""
        match = _PERCENT.match(self.text, self.p)
        if match is None:
            return None
        self.p = match.end()
        return match.group(1)

    def want_percent(self) -> str:
        name = self.percent()
        if name is None:
            self.fail(f"expected an operand (%name), found {self.found()}")
        return name
