"""Short forms of the `stream` dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, LocationAttr, i32
from xdsl.ir import Attribute

from tiree.dialects.syntax.forms import Custom, Parts, end_body, forms
from tiree.dialects.syntax.parameter_lists import parameters_reader
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.symbols import (
    read_alias,
    read_count_region,
    read_entry_points,
    read_list,
    read_visibility,
)

_ACCESSES = {"ro": 1, "wo": 2, "rw": 3}


def _read_execution_region(reader: Reader, parts: Parts) -> None:
    """`(%resource as %argument: type{%size}, ...) { commands }`."""
    resources = parts.operands["resource_operands"] = []
    sizes = parts.operands["resource_operand_sizes"] = []
    types = parts.types["resource_operands"] = []
    arguments: list[tuple[str, Attribute, LocationAttr | None, int]] = []

    def read_one() -> None:
        resources.append(reader.want_percent())
        reader.want_word("as")
        at = reader.skip()
        name = reader.want_percent()
        reader.want(":", " and the type of a resource")
        types.append(reader.read_type())
        reader.want("{", " and the size of a resource")
        sizes.append(reader.want_percent())
        reader.want("}")
        arguments.append((name, types[-1], None, at))

    reader.want("(", " before the resources")
    read_list(reader, read_one)
    body = parts.regions["body"] = reader.read_region(arguments)
    end_body(reader, body, "stream.yield", parts.position)


def _read_dispatch_resources(reader: Reader, parts: Parts) -> None:
    """`{ ro %resource[%offset for %length] : type{%size}, ... }`."""
    fields = ("resources", "resource_sizes", "resource_offsets", "resource_lengths")
    resources, sizes, offsets, lengths = (parts.operands.setdefault(name, []) for name in fields)
    types = parts.types["resources"] = []
    accesses: list[Attribute] = []

    def read_one() -> None:
        accesses.append(IntegerAttr(_ACCESSES[reader.want_word(*_ACCESSES)], i32))
        resources.append(reader.want_percent())
        reader.want("[")
        offsets.append(reader.want_percent())
        reader.want_word("for")
        lengths.append(reader.want_percent())
        reader.want("]")
        reader.want(":")
        types.append(reader.read_type())
        reader.want("{", " and the size of a resource")
        sizes.append(reader.want_percent())
        reader.want("}")

    reader.want("{", " before the resources")
    read_list(reader, read_one, "}")
    parts.properties["resource_accesses"] = ArrayAttr(accesses)


def _read_awaited(reader: Reader, parts: Parts) -> None:
    """`%resource, ... : type{%size}, ...`; both lists may be empty. The results have the types of the resources."""
    parts.operands["resource_operands"] = reader.operand_names()
    sizes = parts.operands["resource_operand_sizes"] = []
    types: list[Attribute] = []
    reader.want(":", " and the types of the resources")
    for _ in parts.operands["resource_operands"]:
        if types:
            reader.want(",")
        types.append(reader.read_type())
        reader.want("{", " and the size of a resource")
        sizes.append(reader.want_percent())
        reader.want("}")
    parts.types["resource_operands"] = parts.types["results_"] = types


_CUSTOM: dict[str, Custom] = {
    "visibility": read_visibility,
    "alias": read_alias,
    "count": read_count_region,
    "entry_points": read_entry_points,
    "execution": _read_execution_region,
    "resources": _read_dispatch_resources,
    "awaited": _read_awaited,
    "parameters": parameters_reader("result_sizes"),
}

_ON = "(? on ( $affinity:attribute ) )?"
_AWAIT = "(? await ( $await_timepoint ) => )?"
_TARGET_RANGE = "$target [ $target_offset for $target_length ]"
_WORKGROUP = "[ $dimension:index ] {} : ~result"

_FORMS = {
    "stream.executable": "!visibility $sym_name:name {}+ ^body/stream.executable.end",
    "stream.executable.export": "!visibility !alias (? workgroups !count )? {}+",
    "stream.return": "{} (? $arguments : ~arguments )?",
    "stream.yield": "{} (? $arguments : ~arguments )?",
    "stream.binding.subspan": "$binding [ $byte_offset ] : ~binding -> ~result (? { $dynamic_dims } )? {}",
    "stream.dispatch.workgroup.id": _WORKGROUP,
    "stream.dispatch.workgroup.count": _WORKGROUP,
    "stream.dispatch.workgroup.size": _WORKGROUP,
    "stream.tensor.import": (
        f"{_ON} ?consume $source : ~source -> $result_encoding:type (? {{ $result_encoding_dims }} )? "
        "in ~result { $result_size } {}"
    ),
    "stream.tensor.export": (
        f"{_ON} $source : $source_encoding:type (? {{ $source_encoding_dims }} )? "
        "in ~source { $source_size } -> ~result {}"
    ),
    "stream.resource.alloc": f"?uninitialized {_ON} : ~result {{ $storage_size }} {{}}",
    "stream.resource.alloca": (
        f"uninitialized ?indeterminate=indeterminate_lifetime {_ON} (? await ( $await_timepoint ) => |? : )? "
        "~result { $storage_size } => ~result_timepoint {}"
    ),
    "stream.resource.dealloca": (
        f"?origin=prefer_origin {_ON} {_AWAIT} $resource : ~resource {{ $resource_size }} => ~result_timepoint {{}}"
    ),
    "stream.resource.size": f"{_ON} $resource : ~resource {{}}",
    "stream.resource.try_map": (
        f"{_ON} $source [ $source_offset ] : ~source -> ~did_map , ~result {{ $result_size }} {{}}"
    ),
    "stream.resource.load": "$source [ $source_offset ] : ~source { $source_size } -> ~result {}",
    "stream.resource.subview": ("$source [ $source_offset ] : ~source { $source_size } -> ~result { $result_size } {}"),
    "stream.file.constant": (
        f"{_ON} $source [ $source_offset for $source_length ] : ~source {{ $source_size }} -> ~result {{}}"
    ),
    "stream.file.read": (
        f"{_ON} {_AWAIT} $source [ $source_offset ] , $target [ $target_offset ] , $length "
        ": ~source -> ~target { $target_size } => ~result_timepoint {}"
    ),
    "stream.cmd.execute": f"?once {_ON} {_AWAIT} with !execution => ~result_timepoint {{}}",
    "stream.cmd.parameter.load": f"{_ON} {_AWAIT} !parameters => ~result_timepoint {{}}",
    "stream.cmd.concurrent": "{}+ ^body/stream.yield",
    "stream.cmd.serial": "{}+ ^body/stream.yield",
    "stream.cmd.dispatch": (
        "!entry_points (? [ $workload ] )? (? ( $uniform_operands : ~uniform_operands ) )? !resources {}"
    ),
    "stream.cmd.copy": (
        "$source [ $source_offset ] , $target [ $target_offset ] , $length "
        ": ~source { $source_size } -> ~target { $target_size } {}"
    ),
    "stream.cmd.fill": f"$value , {_TARGET_RANGE} : ~value -> ~target {{ $target_size }} {{}}",
    "stream.cmd.flush": f"(? to ( $source_affinity:attribute ) )? {_TARGET_RANGE} : ~target {{ $target_size }} {{}}",
    "stream.cmd.invalidate": (
        f"(? from ( $source_affinity:attribute ) )? {_TARGET_RANGE} : ~target {{ $target_size }} {{}}"
    ),
    "stream.cmd.discard": f"{_TARGET_RANGE} : ~target {{ $target_size }} {{}}",
    "stream.timepoint.immediate": "{} => ~result_timepoint",
    "stream.timepoint.import": f"{_ON} $arguments : ( ~arguments ) => ~result_timepoint {{}}",
    "stream.timepoint.chain_external": f"{_ON} $await_timepoint => ( $external_values : ~external_values ) {{}}",
    "stream.timepoint.join": "max ( $await_timepoints ) => ~result_timepoint {}",
    "stream.timepoint.await": "?sync $await_timepoint => !awaited {}",
}

READERS: dict[str, CustomReader] = forms(_FORMS, custom=_CUSTOM)
