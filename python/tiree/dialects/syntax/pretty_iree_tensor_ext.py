"""Short forms of the `iree_tensor_ext` dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, i64
from xdsl.ir import Attribute

from tiree.dialects.syntax.forms import Custom, Parts, forms
from tiree.dialects.syntax.reader import CustomReader, Reader


def _mixed_list(name: str) -> Custom:
    """`[0, %a, 4]`: constants in `static_<name>`, values as operands `name`."""

    def read(reader: Reader, parts: Parts) -> None:
        constants: list[int] = []
        values = parts.operands[name] = []
        reader.want("[", f" before the {name}")
        while not reader.take("]"):
            value = reader.percent()
            if value is None:
                constants.append(reader.integer())
            else:
                values.append(value)
                constants.append(DYNAMIC_INDEX)
            if not reader.take(",") and not reader.at("]"):
                reader.fail(f"expected ',' or ']' in the {name}, found {reader.found()}")
        parts.properties[f"static_{name}"] = DenseArrayBase.from_list(i64, constants)

    return read


def _read_three_indices(reader: Reader, parts: Parts) -> None:  # noqa: ARG001 (a custom piece's signature)
    index: Attribute = IndexType()
    parts.types.update(x=[index], y=[index], z=[index])


_SLICE = "offsets = !offsets , sizes = !sizes , strides = !strides {}"

_FORMS = {
    "iree_tensor_ext.dispatch.tensor.load": (f"$source , {_SLICE} : ~source (? {{ $source_dims }} )? -> ~result"),
    "iree_tensor_ext.dispatch.tensor.store": (
        f"$value , $target , {_SLICE} : ~value -> ~target (? {{ $target_dims }} )?"
    ),
    "iree_tensor_ext.dispatch.workgroup_count_from_slice": "( $operands_ ) {} !indices",
    "iree_tensor_ext.dispatch.workload.ordinal": "$operand , $ordinal:index {} : ~operand",
    "iree_tensor_ext.bitcast": ("$source : ~source (? { $source_dims } )? -> ~result (? { $result_dims } )? {}"),
    "iree_tensor_ext.compute_barrier.start": "$value : ~value (? { $value_dims } )? -> ~result {}",
    "iree_tensor_ext.compute_barrier.end": "$value : ~value (? { $value_dims } )? -> ~result {}",
}

READERS: dict[str, CustomReader] = forms(
    _FORMS,
    custom={
        "offsets": _mixed_list("offsets"),
        "sizes": _mixed_list("sizes"),
        "strides": _mixed_list("strides"),
        "indices": _read_three_indices,
    },
)
