"""`emit_archive`: a compiled module (the `vm` phase) becomes the bytes of a `.vmfb`."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, TupleType
from xdsl.ir import Attribute, Operation

from tiree.dialects import vm
from tiree.dialects import vm_isa as isa
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.marks import FOREIGN_SCHEDULE, SCHEDULED
from tiree.support.options import CompileOptions
from tiree.support.typed import dictionary_of
from tiree.vm.archive import IDENTIFIER, Buffer, Segment, place_segments, write_archive
from tiree.vm.debug import debug_database
from tiree.vm.encode import Ordinals, encode_function, used_types
from tiree.vm.flatbuffer import FlatBufferBuilder, reference, scalar
from tiree.vm.imports import import_decl
from tiree.vm.rodata import value_pieces

_LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}
_VALUE_TYPES = ("i8", "i16", "i32", "i64", "f32", "f64")
_DIGITS = "00000000"


def emit_archive(module: ModuleOp, options: CompileOptions) -> bytes:
    """The whole file. Raises `CompileError` when something in the module cannot be encoded."""
    return b"".join(emit_pieces(module, options))


def emit_pieces(module: ModuleOp, options: CompileOptions) -> Iterator[Buffer]:
    """The file in pieces, in order; constants are the buffers that the module holds, not copies."""
    target = next((op for op in module.body.block.ops if isinstance(op, vm.ModuleOp)), None)
    if target is None:
        raise CompileError(Diagnostic("there is no vm.module to emit", location_of(module), "run the vm phase first"))
    writer = _ModuleWriter(target, options, SCHEDULED in module.attributes)
    flatbuffer = writer.build()
    return write_archive(flatbuffer, writer.segments, options.vm_emit_polyglot_zip)


class _ModuleWriter:
    """Collects the parts of one module and writes its FlatBuffer."""

    def __init__(self, module: vm.ModuleOp, options: CompileOptions, scheduled: bool) -> None:
        ops = list(module.body.block.ops)
        self.module = module
        self.options = options
        self.scheduled = scheduled
        self.functions = [op for op in ops if isinstance(op, vm.FuncOp)]
        self.imports = [op for op in ops if isinstance(op, vm.ImportOp)]
        self.exports = [op for op in ops if isinstance(op, vm.ExportOp)]
        self.rodata = [op for op in ops if isinstance(op, vm.RodataOp)]
        self.global_bytes, self.global_refs, offsets = _place_globals(ops)
        self.types = _type_table(self.functions)
        self.ordinals = Ordinals(
            {op.sym_name.data: i for i, op in enumerate(self.functions)},
            {op.sym_name.data: i for i, op in enumerate(self.imports)},
            {op.sym_name.data: i for i, op in enumerate(self.rodata)},
            offsets,
            {name: i for i, name in enumerate(self.types)},
        )
        self.encoded = [encode_function(f, self.ordinals) for f in self.functions]
        self.segments = [_segment(op) for op in self.rodata]
        place_segments(self.segments, options.vm_emit_polyglot_zip)

    def build(self) -> bytes:
        """The FlatBuffer with its size prefix; its last checksum is filled in over the finished bytes."""
        bytecode, descriptors = self._bytecode()
        digest = self._digest(bytecode)
        data = self._flatbuffer(bytecode, descriptors, digest)
        position = data.index(digest.encode()) + len(digest) - len(_DIGITS)
        checksum = f"{zlib.crc32(memoryview(data)[4:]):08x}".encode()
        return data[:position] + checksum + data[position + len(_DIGITS) :]

    def _bytecode(self) -> tuple[bytes, list[bytes]]:
        code = bytearray()
        descriptors: list[bytes] = []
        for f in self.encoded:
            code += bytes(-len(code) % 8)
            fields = (len(code), len(f.code), f.features, 0, f.block_count, f.cell_count, f.ref_count)
            descriptors.append(struct.pack("<iiIhhHH", *fields))
            code += f.code
        return bytes(code), descriptors

    def _digest(self, bytecode: bytes) -> str:
        parts = [f"bc:{zlib.crc32(bytecode):08x}"]
        for i, segment in enumerate(self.segments):
            if segment.is_executable or segment.is_external:
                parts.append(f"{'r' if segment.is_executable else 'c'}{i}:{segment.crc():08x}")
        return ",".join([*parts, f"fb:{_DIGITS}"])

    def _flatbuffer(self, bytecode: bytes, descriptors: list[bytes], digest: str) -> bytes:
        b = FlatBufferBuilder()
        features = 0
        for f in self.encoded:
            features |= f.features & ~isa.FEATURES["unwind"]
        debug = None
        if not self.options.vm_strip_source_map:
            debug = debug_database(b, self.functions, self.encoded)
        code = b.bytes_vector(bytecode, 8)
        descriptor_vector = b.struct_vector(descriptors)
        state = None
        if self.global_bytes or self.global_refs:
            state = b.table(scalar(0, "i", self.global_bytes), scalar(1, "i", self.global_refs))
        rodata = b.offset_vector([self._rodata(b, s) for s in self.segments])
        signatures = b.offset_vector([self._signature(b, f) for f in self.functions])
        exports = b.offset_vector([self._export(b, op) for op in self.exports])
        imports = b.offset_vector([self._import(b, op) for op in self.imports]) if self.imports else None
        dependencies = self._dependencies(b)
        types = b.offset_vector([b.table(reference(0, b.string(name))) for name in self.types]) if self.types else None
        attrs = self._attributes(b, digest)
        name = b.string(self.module.sym_name.data)
        major, minor = isa.BYTECODE_VERSION
        version = self.module.version.value.data if self.module.version is not None else 0
        root = b.table(
            reference(0, name),
            scalar(1, "I", version),
            scalar(2, "I", features),
            reference(3, attrs),
            reference(4, types),
            reference(5, dependencies),
            reference(6, imports),
            reference(7, exports),
            reference(8, signatures),
            reference(9, rodata),
            reference(11, state),
            reference(12, descriptor_vector),
            scalar(13, "I", major << 16 | minor),
            reference(14, code),
            reference(15, debug),
        )
        return b.finish(root, IDENTIFIER)

    def _attributes(self, b: FlatBufferBuilder, digest: str) -> int:
        from tiree.vm.provenance import module_attributes

        pairs = module_attributes(self.options)
        runs_kernels = any(one.sym_name.data.startswith(("hal.", "hal_inline.")) for one in self.imports)
        if runs_kernels and not self.scheduled:
            pairs.append(FOREIGN_SCHEDULE)
        pairs.append(("tiree.digest", digest))
        return b.offset_vector([_attr_def(b, k, v) for k, v in pairs])

    def _rodata(self, b: FlatBufferBuilder, segment: Segment) -> int:
        if segment.is_external:
            return b.table(scalar(3, "Q", segment.external_offset), scalar(4, "Q", segment.size))
        data = b"".join(segment.pieces)
        return b.table(reference(2, b.bytes_vector(data, segment.alignment)))

    def _signature(self, b: FlatBufferBuilder, function: vm.FuncOp) -> int:
        inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
        cconv = f"0{_cconv(inputs)}_{_cconv(outputs)}"
        reflection = function.attributes.get("iree.reflection")
        attrs = None
        if isinstance(reflection, DictionaryAttr) and reflection.data:
            attrs = b.offset_vector([_attr_def(b, k, _text(v)) for k, v in sorted(reflection.data.items())])
        return b.table(reference(0, b.string(cconv)), reference(1, attrs))

    def _export(self, b: FlatBufferBuilder, op: vm.ExportOp) -> int:
        ordinal = self.ordinals.functions[op.function_ref.root_reference.data]
        return b.table(reference(0, b.string(op.export_name.data)), scalar(1, "i", ordinal))

    def _import(self, b: FlatBufferBuilder, op: vm.ImportOp) -> int:
        signature = b.table(reference(0, b.string(_import_cconv(op))))
        flags = 2 if op.is_optional is not None else 1
        name = b.string(op.sym_name.data)
        return b.table(reference(0, name), reference(1, signature), scalar(2, "I", flags, default=1))

    def _dependencies(self, b: FlatBufferBuilder) -> int | None:
        """The modules of all imports. One of which every import is optional may itself be absent; as in IREE, optional
        imports ask for no version."""
        versions: dict[str, tuple[bool, int]] = {}
        for op in self.imports:
            module = op.sym_name.data.partition(".")[0]
            minimum = op.minimum_version.value.data if op.minimum_version is not None else 0
            wanted = (False, 0) if op.is_optional is not None else (True, minimum)
            versions[module] = max(versions.get(module, (False, 0)), wanted)
        tables = [
            b.table(reference(0, b.string(m)), scalar(1, "I", version), scalar(2, "I", 1 if required else 2, default=1))
            for m, (required, version) in versions.items()
        ]
        return b.offset_vector(tables) if tables else None


def _attr_def(b: FlatBufferBuilder, key: str, value: str) -> int:
    return b.table(reference(0, b.string(key)), reference(1, b.string(value)))


def _text(attr: Attribute) -> str:
    return attr.data if isinstance(attr, StringAttr) else str(attr)


def _cconv(types: tuple[Attribute, ...]) -> str:
    return "".join(_LETTERS.get(str(t), "r") for t in types) or "v"


def _import_cconv(op: vm.ImportOp) -> str:
    try:
        return import_decl(op.sym_name.data).cconv
    except KeyError:
        return _declared_cconv(op)


def _declared_cconv(op: vm.ImportOp) -> str:
    """The calling convention of an import that the table does not list, from its declaration."""
    attrs = op.arg_attrs.data if op.arg_attrs is not None else ()
    letters: list[str] = []
    for i, type in enumerate(op.function_type.inputs.data):
        parts = type.types.data if isinstance(type, TupleType) else (type,)
        text = "".join(_LETTERS.get(str(t), "r") for t in parts)
        variadic = i < len(attrs) and "vm.variadic" in dictionary_of(attrs[i]).data
        letters.append(f"C{text}D" if variadic else text)
    return f"0{''.join(letters) or 'v'}_{_cconv(op.function_type.outputs.data)}"


def _type_table(functions: list[vm.FuncOp]) -> list[str]:
    """Value types first, then the rest by name."""
    names = {name for f in functions for name in used_types(f)}
    return sorted(names, key=lambda n: (n not in _VALUE_TYPES, _VALUE_TYPES.index(n) if n in _VALUE_TYPES else 0, n))


def _place_globals(ops: list[Operation]) -> tuple[int, int, dict[str, int]]:
    """Scalars by size (64-bit first, so that all are aligned) as byte offsets, references as slots."""
    offsets: dict[str, int] = {}
    size = refs = 0
    scalars: list[tuple[int, str]] = []
    for op in ops:
        if op.name.startswith("vm.global.") and "sym_name" in op.properties:
            name, suffix = _text(op.properties["sym_name"]), op.name.rpartition(".")[2]
            if suffix == "ref":
                offsets[name] = refs
                refs += 1
            else:
                scalars.append((8 if suffix in ("i64", "f64") else 4, name))
    for width in (8, 4):
        for scalar_width, name in scalars:
            if scalar_width == width:
                offsets[name] = size
                size += width
    return size, refs, offsets


def _segment(op: vm.RodataOp) -> Segment:
    alignment = max(1, op.alignment.value.data if op.alignment is not None else 16)
    is_executable = op.mime_type is not None
    if op.mime_type is not None and op.mime_type.data == "application/x-elf":
        # Loaders copy what they run; they only read words of the headers in place.
        alignment = min(alignment, 8)
    return Segment(op.sym_name.data, list(value_pieces(op.value, op)), alignment, is_executable)
