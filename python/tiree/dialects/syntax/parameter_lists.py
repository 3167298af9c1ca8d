"""`{ %scope::%key[%offset] : type{%size}, ... }`: the parameters of an operation, in its short form."""

from __future__ import annotations

from tiree.dialects.syntax.forms import Custom, Parts
from tiree.dialects.syntax.reader import Reader
from tiree.dialects.syntax.symbols import read_list


def parameters_reader(sizes: str) -> Custom:
    """Reads the list; the operand segment of the lengths is called `sizes`. All scopes are one."""

    def read(reader: Reader, parts: Parts) -> None:
        keys = parts.operands["source_keys"] = []
        offsets = parts.operands["source_offsets"] = []
        lengths = parts.operands[sizes] = []
        types = parts.types["results_"] = []
        scopes: dict[str | None, None] = {}

        def read_one() -> None:
            first = reader.want_percent()
            scope = first if reader.take("::") else None
            scopes[scope] = None
            keys.append(first if scope is None else reader.want_percent())
            reader.want("[", " and the offset in the parameter")
            offsets.append(reader.want_percent())
            reader.want("]")
            reader.want(":", " and the type of what is loaded")
            types.append(reader.read_type())
            reader.want("{", " and its size")
            lengths.append(reader.want_percent())
            reader.want("}")
            if len(scopes) > 1:
                reader.fail("parameters of several scopes in one operation")

        reader.want("{", " before the parameters")
        read_list(reader, read_one, "}")
        parts.operands["source_scope"] = [scope for scope in scopes if scope is not None]

    return read
