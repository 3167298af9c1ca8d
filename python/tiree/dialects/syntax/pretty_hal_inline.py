"""Short forms of the `hal_inline` dialect."""

from __future__ import annotations

from tiree.dialects.syntax.forms import Parts, forms
from tiree.dialects.syntax.pretty_hal import read_query_default
from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_length(reader: Reader, parts: Parts) -> None:
    """`{%length}`: what the source is said to have, once more."""
    del parts
    reader.want("{", " and the size of the buffer")
    reader.want_percent()
    reader.want("}")


_VIEW = "< $buffer_view : ~buffer_view >"
_BUFFER = "< $buffer : ~buffer >"

_FORMS = {
    "hal_inline.buffer.allocate": ("alignment ( $minimum_alignment ) : ~result { $allocation_size } in ~storage {}"),
    "hal_inline.buffer.allocate.initialized": (
        "source ( $source : ~source ) [ $source_offset , $source_length ] alignment ( $minimum_alignment ) "
        ": ~result !length in ~storage {}"
    ),
    "hal_inline.buffer.wrap": "source ( $source : ~source ) [ $source_offset , $source_length ] : ~result {}",
    "hal_inline.buffer.subspan": "< $source_buffer : ~source_buffer > [ $source_offset , $length ] : ~result {}",
    "hal_inline.buffer.length": f"{_BUFFER} : ~result {{}}",
    "hal_inline.buffer.storage": f"{_BUFFER} : ~result {{}}",
    "hal_inline.buffer_view.create": (
        "buffer ( $source_buffer : ~source_buffer ) [ $source_offset , $source_length ] shape ( [ $shape ] ) "
        "type ( $element_type ) encoding ( $encoding_type ) : ~result {}"
    ),
    "hal_inline.buffer_view.assert": (
        f"{_VIEW} message ( $message:string ) shape ( [ $shape ] ) type ( $element_type ) "
        "encoding ( $encoding_type ) {}"
    ),
    "hal_inline.buffer_view.buffer": f"{_VIEW} : ~result {{}}",
    "hal_inline.buffer_view.element_type": f"{_VIEW} : ~result {{}}",
    "hal_inline.buffer_view.encoding_type": f"{_VIEW} : ~result {{}}",
    "hal_inline.buffer_view.rank": f"{_VIEW} : ~result {{}}",
    "hal_inline.buffer_view.dim": f"{_VIEW} [ $index:index ] : ~result {{}}",
    "hal_inline.device.query": "key ( $category:string :: $key:string ) : ~ok , ~value !default {}",
}

READERS: dict[str, CustomReader] = forms(_FORMS, custom={"default": read_query_default, "length": _read_length})
