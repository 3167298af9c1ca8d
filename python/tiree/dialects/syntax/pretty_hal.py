"""Short forms of the `hal` dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IndexType, StringAttr, i32, i64
from xdsl.ir import Attribute

from tiree.dialects.hal_attrs import ExecutableTargetAttr, PipelineLayoutAttr
from tiree.dialects.syntax.forms import Custom, Kind, Parts, flags_kind, forms
from tiree.dialects.syntax.pretty_func import read_arguments
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.symbols import read_list, read_visibility

MEMORY_TYPES = {
    "None": 0,
    "Optimal": 0x01,
    "HostVisible": 0x02,
    "HostCoherent": 0x04,
    "HostCached": 0x08,
    "HostLocal": 0x46,
    "DeviceVisible": 0x10,
    "DeviceLocal": 0x30,
}
BUFFER_USAGES = {
    "None": 0,
    "TransferSource": 0x1,
    "TransferTarget": 0x2,
    "Transfer": 0x3,
    "DispatchIndirectParameters": 0x100,
    "DispatchUniformRead": 0x200,
    "DispatchStorageRead": 0x400,
    "DispatchStorageWrite": 0x800,
    "DispatchStorage": 0xC00,
    "DispatchImageRead": 0x1000,
    "DispatchImageWrite": 0x2000,
    "DispatchImage": 0x3000,
    "SharingExport": 0x10000,
    "SharingReplicate": 0x20000,
    "SharingConcurrent": 0x40000,
    "SharingImmutable": 0x80000,
    "MappingScoped": 0x1000000,
    "MappingPersistent": 0x2000000,
    "MappingOptional": 0x4000000,
    "MappingAccessRandom": 0x8000000,
    "MappingAccessSequentialWrite": 0x10000000,
    "Mapping": 0x9000000,
}
_STAGES = {"None": 0, "CommandIssue": 1, "CommandProcess": 2, "Dispatch": 4, "Transfer": 8, "CommandRetire": 16}
_MODES = {"None": 0, "OneShot": 1, "AllowInlineExecution": 16, "Unvalidated": 32}
_ACCESS = {"None": 0, "Read": 1, "Write": 2, "Discard": 4, "DiscardWrite": 6, "MayAlias": 8, "Unaligned": 16, "Any": 32}


def _named_or_not(attribute: type[ExecutableTargetAttr | PipelineLayoutAttr]) -> Kind:
    """A whole attribute, or one without its name: `<"llvm-cpu", "embedded-elf-x86_64", {...}>`."""

    def read(reader: Reader) -> Attribute:
        if not reader.at("<"):
            return reader.read_attribute()
        reader.to_tokens()
        parameters = attribute.parse_parameters(reader)
        reader.to_chars()
        return attribute.new(parameters)

    return read


_KINDS: dict[str, Kind] = {
    "target": _named_or_not(ExecutableTargetAttr),
    "layout": _named_or_not(PipelineLayoutAttr),
    "memory": flags_kind(MEMORY_TYPES, i32),
    "usage": flags_kind(BUFFER_USAGES, i32),
    "stages": flags_kind({**_STAGES, "Host": 32}, i32),
    "modes": flags_kind(_MODES, i32),
    "categories": flags_kind({"None": 0, "Transfer": 1, "Dispatch": 2, "Any": 3}, i32),
    "access": flags_kind(_ACCESS, i32),
    "descriptor": flags_kind({"None": 0, "ReadOnly": 1, "Indirect": 2}, i32),
    "none": flags_kind({"None": 0}, i64),
    "dealloca": flags_kind({"None": 0, "PreferOrigin": 1}, i64),
}


def _read_encoding(reader: Reader, parts: Parts) -> None:
    """`dense_row_major`, which the generic form leaves out, or an attribute."""
    if not reader.take_word("dense_row_major"):
        parts.properties["encoding"] = reader.read_attribute()


def read_bindings(reader: Reader, parts: Parts) -> None:
    """`[ (%buffer_or_slot : type)[%offset, %length], ... ]`."""
    fields = ("binding_buffers", "binding_offsets", "binding_lengths")
    buffers, offsets, lengths = (parts.operands.setdefault(name, []) for name in fields)
    types = parts.types["binding_buffers"] = []

    def read_one() -> None:
        reader.want("(", " before a binding")
        buffers.append(reader.want_percent())
        reader.want(":")
        types.append(reader.read_type())
        reader.want(")")
        reader.want("[", " and the range of a binding")
        offsets.append(reader.want_percent())
        reader.want(",")
        lengths.append(reader.want_percent())
        reader.want("]")

    reader.want("[", " before the bindings")
    read_list(reader, read_one, "]")


def _read_selection(reader: Reader, parts: Parts) -> None:
    """`([(%device, %affinity : !hal.device, i64), ...])`."""
    devices, affinities = parts.operands.setdefault("devices", []), parts.operands.setdefault("queue_affinities", [])
    types = parts.types.setdefault("devices", [])

    def read_one() -> None:
        reader.want("(", " before a device")
        devices.append(reader.want_percent())
        reader.want(",")
        affinities.append(reader.want_percent())
        reader.want(":")
        types.append(reader.read_type())
        reader.want(",")
        reader.read_type()
        reader.want(")")

    reader.want("(", " before the devices")
    reader.want("[", " before the devices")
    read_list(reader, read_one, "]")
    reader.want(")")


def read_query_default(reader: Reader, parts: Parts) -> None:
    """`= value`: of the type of the queried value, i1 as a word."""
    if reader.take("="):
        parts.properties["default_value"] = reader.read_attribute()


def _read_export_regions(reader: Reader, parts: Parts) -> None:
    """`count(%device: !hal.device, ...) -> (index, index, index) { ... }` and `condition(...) -> i1 { ... }`."""
    for word, field in (("condition", "condition"), ("count", "workgroup_count")):
        if reader.take_word(word):
            arguments, _, _ = read_arguments(reader)
            reader.want("->", f" and the types of the {word}")
            reader.read_result_types()
            parts.regions[field] = reader.read_region(arguments)


def _read_constant_block(reader: Reader, parts: Parts) -> None:
    """`(%device: !hal.device) -> (types) as ("key", ...) { ... }`."""
    arguments, inputs, _ = read_arguments(reader)
    outputs: list[Attribute] = []
    if reader.take("->"):
        outputs = list(reader.read_result_types())
    parts.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    reader.want_word("as")
    keys: list[Attribute] = []
    if reader.take("("):
        read_list(reader, lambda: keys.append(StringAttr(reader.read_string())))
    else:
        keys.append(StringAttr(reader.read_string()))
    parts.properties["keys"] = ArrayAttr(keys)
    if reader.at("attributes"):
        reader.want_word("attributes")
        parts.keep(reader.read_dictionary())
    parts.regions["body"] = reader.read_region(arguments)


def _read_condition(reader: Reader, parts: Parts) -> None:
    """`(%device: !hal.device) -> i1 { ... }`."""
    arguments, inputs, _ = read_arguments(reader)
    reader.want("->", " and the type of the condition")
    outputs = list(reader.read_result_types())
    parts.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    parts.regions["body"] = reader.read_region(arguments)


def _read_sources(reader: Reader, parts: Parts) -> None:
    """`sources({...})`."""
    if reader.take_word("sources"):
        reader.want("(")
        parts.properties["sources"] = DictionaryAttr(reader.read_dictionary())
        reader.want(")")


def _read_barrier(reader: Reader, parts: Parts) -> None:
    """`join(%tensor, ... : types)`: the results have the types of the tensors."""
    parts.operands["sources"] = reader.operand_names()
    reader.want(":")
    parts.types["sources"] = parts.types["results_"] = list(reader.read_types())


def _read_aliased(reader: Reader, parts: Parts) -> None:
    """The type of the tensor, which the result has, too."""
    parts.types["source"] = parts.types["result"] = [reader.read_type()]


def _read_imported_type(reader: Reader, parts: Parts) -> None:
    """`type` or `type as type`: what the encoding is, and what the tensor is seen as."""
    encoding: Attribute = reader.read_type()
    type = encoding
    if reader.take_word("as"):
        type = reader.read_type()
    parts.properties["target_encoding"], parts.types["target"] = encoding, [type]


def _read_exported_type(reader: Reader, parts: Parts) -> None:
    encoding: Attribute = reader.read_type()
    type = encoding
    if reader.take_word("as"):
        type = reader.read_type()
    parts.properties["source_encoding"], parts.types["source"] = encoding, [type]


def _read_slot(reader: Reader, parts: Parts) -> None:
    """`(? upper_bound N )?` of a workgroup query."""
    if reader.take_word("upper_bound"):
        from xdsl.dialects.builtin import IntegerAttr

        parts.properties["upper_bound"] = IntegerAttr(reader.integer(), IndexType())


_CUSTOM: dict[str, Custom] = {
    "visibility": read_visibility,
    "encoding": _read_encoding,
    "bindings": read_bindings,
    "selection": _read_selection,
    "default": read_query_default,
    "export_regions": _read_export_regions,
    "constant_block": _read_constant_block,
    "condition": _read_condition,
    "sources": _read_sources,
    "barrier": _read_barrier,
    "aliased": _read_aliased,
    "imported": _read_imported_type,
    "exported": _read_exported_type,
    "upper_bound": _read_slot,
}

_VIEW = "< $buffer_view : ~buffer_view >"
_COMMANDS = "< $command_buffer : ~command_buffer >"
_QUEUE = "< $device : ~device > affinity ( $queue_affinity ) wait ( $wait_fence ) signal ( $signal_fence )"
_FLAGS = "flags ( $flags:none ) {}"
_FENCE = "< $fence : ~fence >"
_MEMORY = "affinity ( $queue_affinity ) type ( $memory_types ) usage ( $buffer_usage )"
_SOURCE = "source ( $source_buffer : ~source_buffer ) [ $source_offset ]"
_TARGET = "target ( $target_buffer : ~target_buffer ) [ $target_offset ]"

_HOST = {
    "hal.tensor.import": (
        "(? on ( $affinity:attribute ) )? (? wait ( $wait_fence ) => )? ?consume $source "
        "(? into ( $storage : ~storage ) )? (? $name:string )? : ~source -> !imported (? { $target_dims } )? {}"
    ),
    "hal.tensor.export": (
        "(? on ( $affinity:attribute ) )? $source (? $name:string )? : !exported (? { $source_dims } )? -> ~target {}"
    ),
    "hal.tensor.alias": (
        "(? on ( $affinity:attribute ) )? (? wait ( $wait_fence ) => )? $source : !aliased (? { $source_dims } )? "
        "to $storage : ~storage {}"
    ),
    "hal.tensor.barrier": "join ( !barrier ) => $signal_fence : ~signal_fence {}",
    "hal.element_type": "< $type:type > {} : ~result",
    "hal.encoding_type": "< !encoding > {} : ~result",
    "hal.memory_type": "< $type:memory > {} : ~result",
    "hal.buffer_usage": "< $usage:usage > {} : ~result",
    "hal.buffer_view.assert": (
        f"{_VIEW} message ( $message:string ) shape ( [ $shape ] ) type ( $element_type ) "
        "encoding ( $encoding_type ) {}"
    ),
    "hal.buffer_view.buffer": f"{_VIEW} : ~result {{}}",
    "hal.buffer_view.create": (
        "buffer ( $source_buffer : ~source_buffer ) [ $source_offset , $source_length ] shape ( [ $shape ] ) "
        "type ( $element_type ) encoding ( $encoding_type ) : ~result {}"
    ),
    "hal.buffer_view.element_type": f"{_VIEW} : ~result {{}}",
    "hal.buffer_view.encoding_type": f"{_VIEW} : ~result {{}}",
    "hal.buffer_view.rank": f"{_VIEW} : ~result {{}}",
    "hal.buffer_view.dim": f"{_VIEW} [ $index:index ] : ~result {{}}",
    "hal.buffer.assert": (
        "< $buffer : ~buffer > message ( $message:string ) allocator ( $allocator : ~allocator ) "
        "minimum_length ( $minimum_length ) type ( $memory_types:memory ) usage ( $buffer_usage:usage ) {}"
    ),
    "hal.buffer.subspan": "< $source_buffer : ~source_buffer > [ $source_offset , $length ] : ~result {}",
    "hal.buffer.length": "< $buffer : ~buffer > : ~result {}",
    "hal.buffer.load": "< $source_buffer : ~source_buffer > [ $source_offset ] : ~result {}",
    "hal.buffer.store": "< $target_buffer : ~target_buffer > [ $target_offset ] value ( $value : ~value ) {}",
    "hal.allocator.allocate": f"< $allocator : ~allocator > {_MEMORY} : ~result {{ $result_size }} {{}}",
    "hal.allocator.import": (
        f"< $allocator : ~allocator > source ( $source : ~source ) [ $offset , $length ] {_MEMORY} "
        ": ~did_import , ~result {}"
    ),
    "hal.allocator.select": (
        "from !selection type ( $memory_types ) usage ( $buffer_usage ) "
        ": ~selected_device , ~selected_queue_affinity {}"
    ),
    "hal.ex.file.from_memory": (
        "device ( $device : ~device ) affinity ( $queue_affinity ) access ( $access:access ) "
        "buffer ( $buffer : ~buffer ) [ $offset for $length ] flags ( $flags ) : ~result {}"
    ),
    "hal.devices.count": "{} : ~result",
    "hal.devices.get": "$index {} : ~result",
    "hal.device.allocator": "< $device : ~device > : ~result {}",
    "hal.device.query": "< $device : ~device > key ( $category:string :: $key:string ) {} : ~ok , ~value !default",
}

_QUEUES = {
    "hal.device.queue.alloca": (
        f"{_QUEUE} pool ( $pool ) type ( $memory_types ) usage ( $buffer_usage ) flags ( $flags:none ) "
        ": ~result { $result_size } {}"
    ),
    "hal.device.queue.dealloca": f"{_QUEUE} buffer ( $buffer : ~buffer ) flags ( $flags:dealloca ) {{}}",
    "hal.device.queue.fill": f"{_QUEUE} {_TARGET} length ( $length ) pattern ( $pattern : ~pattern ) {_FLAGS}",
    "hal.device.queue.update": f"{_QUEUE} {_SOURCE} {_TARGET} length ( $length ) {_FLAGS}",
    "hal.device.queue.copy": f"{_QUEUE} {_SOURCE} {_TARGET} length ( $length ) {_FLAGS}",
    "hal.device.queue.read": (
        f"{_QUEUE} source ( $source_file : ~source_file ) [ $source_offset ] {_TARGET} length ( $length ) {_FLAGS}"
    ),
    "hal.device.queue.barrier": f"{_QUEUE} {_FLAGS}",
    "hal.device.queue.execute": f"{_QUEUE} commands ( $command_buffer ) {_FLAGS}",
    "hal.device.queue.execute.indirect": f"{_QUEUE} commands ( $command_buffer ) bindings ( !bindings ) {_FLAGS}",
    "hal.fence.create": "device ( $device : ~device ) flags ( $flags:none ) : ~result {}",
    "hal.fence.join": "at ( [ $fences ] ) flags ( $flags:none ) -> ~result {}",
    "hal.fence.query": f"{_FENCE} : ~status {{}}",
    "hal.fence.signal": f"{_FENCE} {{}}",
    "hal.fence.fail": f"{_FENCE} status ( $status ) {{}}",
    "hal.fence.await": "until ( [ $fences ] ) timeout_millis ( $timeout_millis ) flags ( $flags:none ) : ~status {}",
}

_COMMAND_BUFFERS = {
    "hal.command_buffer.create": (
        "device ( $device : ~device ) mode ( $modes:modes ) categories ( $command_categories:categories ) "
        "affinity ( $queue_affinity ) (? bindings ( $binding_capacity ) )? : ~result {}"
    ),
    "hal.command_buffer.finalize": f"{_COMMANDS} {{}}",
    "hal.command_buffer.execution_barrier": (
        f"{_COMMANDS} source ( $source_stage_mask:stages ) target ( $target_stage_mask:stages ) {_FLAGS}"
    ),
    "hal.command_buffer.begin_debug_group": f"{_COMMANDS} label ( $label:string ) {{}}",
    "hal.command_buffer.end_debug_group": f"{_COMMANDS} {{}}",
    "hal.command_buffer.fill_buffer": (
        f"{_COMMANDS} target ( $target_buffer : ~target_buffer ) [ $target_offset , $length ] "
        f"pattern ( $pattern : ~pattern ) {_FLAGS}"
    ),
    "hal.command_buffer.update_buffer": (
        f"{_COMMANDS} source ( $source_buffer : ~source_buffer {{ $source_size }} ) [ $source_offset ] {_TARGET} "
        f"length ( $length ) {_FLAGS}"
    ),
    "hal.command_buffer.copy_buffer": f"{_COMMANDS} {_SOURCE} {_TARGET} length ( $length ) {_FLAGS}",
    "hal.command_buffer.dispatch": (
        f"{_COMMANDS} target ( $executable : ~executable ) [ $function_id ] "
        "workgroups ( [ $workgroup_x , $workgroup_y , $workgroup_z ] ) (? constants ( [ $constants ] ) )? "
        f"bindings ( !bindings ) {_FLAGS}"
    ),
}

_WORKGROUP = "[ $dimension:index ] !upper_bound {} : ~result"

_EXECUTABLES = {
    "hal.return": "{} (? $arguments : ~arguments )?",
    "hal.executable": "!visibility $sym_name:name {}+ ^body/hal.executable_end",
    "hal.executable.variant": (
        "!visibility $sym_name:name target ( $target:target ) (? objects ( $objects:attribute ) )? !sources {}+ "
        "^body/hal.executable.variant_end"
    ),
    "hal.executable.export": (
        "!visibility $sym_name:name (? ordinal ( $ordinal:index ) )? layout ( $layout:layout ) !export_regions <> {}+"
    ),
    "hal.executable.binary": "!visibility $sym_name:name <> {}+",
    "hal.executable.constant.block": "!constant_block",
    "hal.executable.condition": "!condition",
    "hal.executable.create": (
        "device ( $device : ~device ) affinity ( $queue_affinity ) target ( $executable_target:symbol ) "
        "(? constants ( [ $constants ] ) )? : ~result {}"
    ),
    "hal.executable.lookup.function": (
        "target ( $executable : ~executable ) function ( $entry_point:symbol ) : ~result {}"
    ),
    "hal.interface.workgroup.id": _WORKGROUP,
    "hal.interface.workgroup.count": _WORKGROUP,
    "hal.interface.workgroup.size": _WORKGROUP,
    "hal.interface.constant.load": (
        "layout ( $layout:layout ) ordinal ( $ordinal:index ) (? alignment ( $alignment:index ) )? "
        "(? values ( $values:attribute ) )? {} : ~result"
    ),
    "hal.interface.binding.subspan": (
        "layout ( $layout:layout ) binding ( $binding:index ) (? alignment ( $alignment:index ) )? "
        "(? offset ( $byte_offset ) )? (? flags ( $descriptor_flags:descriptor ) )? : ~result "
        "(? { $dynamic_dims } )? {}"
    ),
}

READERS: dict[str, CustomReader] = forms(
    {**_HOST, **_QUEUES, **_COMMAND_BUFFERS, **_EXECUTABLES}, kinds=_KINDS, custom=_CUSTOM
)
