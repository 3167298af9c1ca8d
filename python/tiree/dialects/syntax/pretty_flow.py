"""Short forms of the `flow` dialect."""

from __future__ import annotations

from tiree.dialects.syntax.forms import Custom, Parts, forms
from tiree.dialects.syntax.pretty_func import read_arguments
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.symbols import (
    read_alias,
    read_count_region,
    read_dims,
    read_entry_points,
    read_visibility,
    tied_signature,
)
from tiree.support.typed import is_tensor_type


def _element(container: str, element: str) -> Custom:
    """The type of field `element` is the element type of field `container`."""

    def read(reader: Reader, parts: Parts) -> None:
        type = parts.types[container][0]
        if not is_tensor_type(type):
            reader.fail(f"{parts.name} needs a tensor type", parts.position)
        parts.types[element] = [type.element_type]

    return read


def _same(source: str, target: str) -> Custom:
    def read(reader: Reader, parts: Parts) -> None:  # noqa: ARG001 (a custom piece's signature)
        parts.types[target] = parts.types[source]

    return read


def _read_value_type(reader: Reader, parts: Parts) -> None:
    """The result has the type of the constant."""
    type = getattr(parts.properties["value"], "type", None)
    if reader.take("->"):
        type = reader.read_type()
    if type is None:
        reader.fail(f"{parts.name} needs a typed value", parts.position)
    parts.types["result"] = [type]


def _read_tied_target(reader: Reader, parts: Parts) -> None:
    """`-> %target as type{dims}`."""
    reader.want("->")
    if reader.percent() is not None:
        reader.want_word("as")
    parts.types["target"] = parts.types["result"] = [reader.read_type()]
    parts.operands["target_dims"] = read_dims(reader)


def _read_workgroup_regions(reader: Reader, parts: Parts) -> None:
    """`= (%arg: type, ...) { ... } count(...) -> (index, index, index) { ... }`."""
    reader.want("=", " before the body of the dispatch")
    arguments, _, _ = read_arguments(reader)
    parts.regions["workgroup_body"] = reader.read_region(arguments)
    if reader.take_word("count"):
        read_count_region(reader, parts)


_CUSTOM: dict[str, Custom] = {
    "visibility": read_visibility,
    "alias": read_alias,
    "count": read_count_region,
    "entry_points": read_entry_points,
    "signature": tied_signature("arguments", "argument_dims", "results_", "result_dims"),
    "regions": _read_workgroup_regions,
    "value_type": _read_value_type,
    "splat_value": _element("result", "value"),
    "loaded": _element("source", "result"),
    "stored": _element("target", "value"),
    "same_result": _same("operand", "result"),
    "tied": _same("operand", "result"),
    "same_target": _same("target", "result"),
    "tied_target": _read_tied_target,
}

_VIEW = "$source : ~source (? { $source_dims } )? -> ~result (? { $result_dims } )? {}"

_WORKGROUP = "[ $dimension:index ] {} : ~result"

_FORMS = {
    "flow.return": "{} (? $operands_ : ~operands_ )?",
    "flow.executable": "!visibility $sym_name:name {}+ ^body/flow.executable_end",
    "flow.executable.export": "!visibility !alias (? workgroups !count )? {}+",
    "flow.dispatch": "!entry_points (? [ $workload ] )? ( $arguments ) {} : !signature",
    "flow.dispatch.workgroups": "(? [ $workload ] )? ( $arguments ) {} : !signature {}+ !regions",
    "flow.dispatch.tie_shape": "$operand : ~operand { $dynamic_dims } {} !tied",
    "flow.dispatch.workgroup.id": _WORKGROUP,
    "flow.dispatch.workgroup.count": _WORKGROUP,
    "flow.tensor.constant": "$value:attribute {} !value_type",
    "flow.tensor.tie_shape": "$operand : ~operand { $dynamic_dims } {} !tied",
    "flow.tensor.splat": "$value : ~result (? { $result_dims } )? {} !splat_value",
    "flow.tensor.empty": ": ~result (? { $result_dims } )? {}",
    "flow.tensor.alloca": ": ~result (? { $result_dims } )? {}",
    "flow.tensor.clone": "$operand : ~operand (? { $argument_dims } )? {} !same_result",
    "flow.tensor.transfer": "$operand : ~operand (? { $argument_dims } )? to $target:attribute {} !same_result",
    "flow.tensor.reshape": _VIEW,
    "flow.tensor.bitcast": _VIEW,
    "flow.tensor.load": "$source (? [ $indices ] )? : ~source (? { $source_dims } )? {} !loaded",
    "flow.tensor.store": (
        "$value , $target (? [ $indices ] )? : ~target (? { $target_dims } )? {} !stored !same_target"
    ),
    "flow.tensor.slice": (
        "$source [ $start_indices for $lengths ] : ~source (? { $source_dims } )? -> ~result (? { $result_dims } )? {}"
    ),
    "flow.tensor.update": ("$update , $target [ $start_indices ] : ~update (? { $update_dims } )? !tied_target {}"),
}

READERS: dict[str, CustomReader] = forms(_FORMS, custom=_CUSTOM)
