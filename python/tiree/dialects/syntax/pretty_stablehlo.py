"""Short forms of StableHLO ops, as JAX and `stablehlo-opt` print them.

`READERS` maps an op's name to the function that reads what follows it. Most ops are operands, then `key = value` parts,
then an attribute dictionary and a type; the few with syntax of their own are below in `pretty_stablehlo_special`.
Properties get StableHLO's names in the generic form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, StringAttr, TensorType, i32, i64
from xdsl.ir import Attribute, Operation

from tiree.dialects import stablehlo, stablehlo_attrs
from tiree.dialects.syntax.pretty_func import read_return
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.support.typed import is_complex_type, is_tensor_type


@lru_cache(maxsize=4096)
def _array(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


def i64_array(values: Sequence[int]) -> DenseArrayBase:
    """`array<i64: ...>`."""
    return _array(tuple(values))


@lru_cache(maxsize=256)
def i64_attr(value: int) -> IntegerAttr:
    """`value : i64`."""
    return IntegerAttr(value, i64)


def read_attributes(reader: Reader, name: str, position: int) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """An optional `{...}`: properties of op `name` and other attributes, apart."""
    if not reader.at("{"):
        return {}, {}
    attributes = reader.read_dictionary()
    known = getattr(reader.op_class(name, position), "PROPERTIES", ())
    return {key: attributes.pop(key) for key in known if key in attributes}, attributes


def read_signature(reader: Reader, count: int) -> tuple[list[Attribute], list[Attribute]]:
    """`: type` for all operands and the one result, or `: (types) -> types`."""
    reader.want(":", " and the type of the operation")
    if reader.peek() == "(":
        inputs, outputs = reader.read_function_type()
        return list(inputs), list(outputs)
    type = reader.read_type()
    return [type] * count, [type]


def finish(
    reader: Reader,
    name: str,
    position: int,
    operands: Sequence[str],
    properties: dict[str, Attribute] | None = None,
) -> Operation:
    """The attribute dictionary and the type, and with them the op."""
    inherent, attributes = read_attributes(reader, name, position)
    inputs, outputs = read_signature(reader, len(operands))
    values = reader.resolve_all(operands, inputs, position)
    return reader.build(name, position, values, outputs, {**(properties or {}), **inherent}, attributes)


def read_plain(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b : type` or `%a, %b : (types) -> types`."""
    return finish(reader, name, position, reader.operand_names())


# Values after `key =`.

Part = Callable[[Reader], Attribute]


def _part_array(reader: Reader) -> Attribute:
    return i64_array(reader.integers())


def _part_i64(reader: Reader) -> Attribute:
    return i64_attr(reader.integer())


def _part_bool(reader: Reader) -> Attribute:
    return BoolAttr.from_bool(reader.want_word("true", "false") == "true")


def _part_string(reader: Reader) -> Attribute:
    return StringAttr(reader.read_string())


def _part_enum(cls: type[stablehlo_attrs.EnumAttr]) -> Part:
    def read(reader: Reader) -> Attribute:
        return enum_value(reader, cls)

    return read


def enum_value(reader: Reader, cls: type[stablehlo_attrs.EnumAttr]) -> stablehlo_attrs.EnumAttr:
    """One of the values of an enumeration."""
    return cls(reader.want_word(*cls.VALUES))


def keyed(*, may_lack: Collection[str] = (), **parts: tuple[str, Part]) -> CustomReader:
    """A reader of `%a, %b, key = value, ...`; `parts` maps a key to its property and the reader of its value.

    Keys of `may_lack` have a default, which MLIR leaves out.
    """

    def read(reader: Reader, name: str, position: int) -> Operation:
        operands: list[str] = []
        properties: dict[str, Attribute] = {}
        while True:
            operand = reader.percent()
            if operand is not None:
                operands.append(operand)
            elif not reader.at(":") and not reader.at("{"):
                key = reader.want_word(*parts)
                reader.want("=", f" after {key}")
                properties[parts[key][0]] = parts[key][1](reader)
            if not reader.take(","):
                break
        missing = [key for key, (inherent, _) in parts.items() if inherent not in properties and key not in may_lack]
        if missing:
            reader.fail(f"{name} needs {' and '.join(f'{key} = ...' for key in missing)}, found {reader.found()}")
        return finish(reader, name, position, operands, properties)

    return read


def read_typed(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b : type, type`: operand types in a list; a result of the same types (barriers, tokens)."""
    operands = reader.operand_names()
    inherent, attributes = read_attributes(reader, name, position)
    types: list[Attribute] = []
    if operands or reader.at(":"):
        reader.want(":", " and the types of the operation")
        if reader.peek() == "(":
            inputs, outputs = reader.read_function_type()
            return reader.build(
                name, position, reader.resolve_all(operands, inputs, position), outputs, inherent, attributes
            )
        types = list(reader.read_types())
    # A token op without operands still has its one result.
    results = types if name == "stablehlo.optimization_barrier" or not operands else types[:1]
    operand_types = types if operands else []
    if len(types) == 1:
        operand_types = types * len(operands)
    values = reader.resolve_all(operands, operand_types, position)
    return reader.build(name, position, values, results, inherent, attributes)


def _read_select(reader: Reader, name: str, position: int) -> Operation:
    """`%p, %a, %b : predicate type, type` or a function type."""
    operands = reader.operand_names()
    _, attributes = read_attributes(reader, name, position)
    reader.want(":", " and the types of select")
    if reader.peek() == "(":
        inputs, outputs = reader.read_function_type()
    else:
        predicate = reader.read_type()
        reader.want(",", " and the type of the values")
        type = reader.read_type()
        inputs, outputs = [predicate, type, type], [type]
    return reader.build(name, position, reader.resolve_all(operands, inputs, position), outputs, {}, attributes)


def _read_compare(reader: Reader, name: str, position: int) -> Operation:
    """`LT, %a, %b, FLOAT : (types) -> type`."""
    properties: dict[str, Attribute] = {
        "comparison_direction": enum_value(reader, stablehlo_attrs.ComparisonDirectionAttr)
    }
    reader.want(",")
    operands = [reader.want_percent()]
    reader.want(",")
    operands.append(reader.want_percent())
    if reader.take(","):
        properties["compare_type"] = enum_value(reader, stablehlo_attrs.ComparisonTypeAttr)
    return finish(reader, name, position, operands, properties)


def _read_constant(reader: Reader, name: str, position: int) -> Operation:
    """`dense<...> : type`, whose type is that of the result, or `() {value = ...} : () -> type`."""
    if reader.take("("):
        reader.want(")")
        return finish(reader, name, position, ())
    _, attributes = read_attributes(reader, name, position)
    if reader.take_word("dense"):
        value: Attribute = reader.read_dense()
    else:
        value = reader.read_attribute()
    type = getattr(value, "type", None)
    if type is None:
        reader.fail("a constant needs a dense<...> value", position)
    return reader.build(name, position, (), [type], {"value": value}, attributes)


def _read_slice(reader: Reader, name: str, position: int) -> Operation:
    """`%a [start:limit:stride, ...] : (type) -> type`."""
    operand = reader.want_percent()
    bounds: list[tuple[int, int, int]] = []
    reader.want("[", " before the slice")
    while not reader.take("]"):
        start = reader.integer()
        reader.want(":")
        limit = reader.integer()
        bounds.append((start, limit, reader.integer() if reader.take(":") else 1))
        if not reader.take(",") and not reader.at("]"):
            reader.fail(f"expected ',' or ']' in a slice, found {reader.found()}")
    names = ("start_indices", "limit_indices", "strides")
    properties = {key: i64_array([bound[i] for bound in bounds]) for i, key in enumerate(names)}
    return finish(reader, name, position, [operand], dict(properties))


def _read_tuple_element(reader: Reader, name: str, position: int) -> Operation:
    """`%t[0] : (tuple<...>) -> type`."""
    operand = reader.want_percent()
    reader.want("[")
    index = IntegerAttr(reader.integer(), i32)
    reader.want("]")
    return finish(reader, name, position, [operand], {"index": index})


def _read_tuple(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b : tuple<types>`."""
    operands = reader.operand_names()
    _, attributes = read_attributes(reader, name, position)
    reader.want(":", " and a tuple type")
    type = reader.read_type()
    types = getattr(type, "types", None)
    if types is None:
        reader.fail("expected a tuple type", position)
    return reader.build(name, position, reader.resolve_all(operands, list(types), position), [type], {}, attributes)


def _read_reduce_precision(reader: Reader, name: str, position: int) -> Operation:
    """`%a, format = e5m10 : type`."""
    operand = reader.want_percent()
    reader.want(",")
    reader.want_word("format")
    reader.want("=")
    at = reader.skip()
    exponent, _, mantissa = reader.want_word().removeprefix("e").partition("m")
    if not (exponent.isdigit() and mantissa.isdigit()):
        reader.fail("expected a format such as e5m10", at)
    properties = {
        "exponent_bits": IntegerAttr(int(exponent), i32),
        "mantissa_bits": IntegerAttr(int(mantissa), i32),
    }
    return finish(reader, name, position, [operand], dict(properties))


def _read_complex(reader: Reader, name: str, position: int) -> Operation:
    """`%re, %im : tensor<complex<T>>`: the operands are of T."""
    operands = reader.operand_names()
    _, attributes = read_attributes(reader, name, position)
    inputs, outputs = read_signature(reader, len(operands))
    result = outputs[0]
    first = inputs[0]
    if is_tensor_type(first) and is_complex_type(first.element_type):
        part = TensorType(first.element_type.element_type, first.get_shape(), first.encoding)
        inputs = [part] * len(operands)
    return reader.build(name, position, reader.resolve_all(operands, inputs, position), [result], {}, attributes)


def _read_constant_type(reader: Reader, name: str, position: int) -> Operation:
    """`: type` only."""
    return finish(reader, name, position, [])


def _elementwise_names() -> list[str]:
    own = {"stablehlo.select", "stablehlo.compare", "stablehlo.reduce_precision"}
    kinds = (stablehlo.ElementwiseOp,)
    return [name for name, op in stablehlo.OPS.items() if issubclass(op, kinds) and name not in own]


def _readers() -> dict[str, CustomReader]:
    from tiree.dialects.syntax.pretty_stablehlo_special import SPECIAL

    dims = ("broadcast_dimensions", _part_array)
    readers: dict[str, CustomReader] = dict.fromkeys(_elementwise_names(), read_plain)
    readers |= {
        f"stablehlo.{name}": read_plain
        for name in ("bitcast_convert", "dynamic_pad", "dynamic_reshape", "dynamic_update_slice", "real_dynamic_slice")
    }
    readers |= {
        "stablehlo.reshape": read_plain,
        "stablehlo.complex": _read_complex,
        "stablehlo.select": _read_select,
        "stablehlo.compare": _read_compare,
        "stablehlo.constant": _read_constant,
        "stablehlo.slice": _read_slice,
        "stablehlo.tuple": _read_tuple,
        "stablehlo.get_tuple_element": _read_tuple_element,
        "stablehlo.reduce_precision": _read_reduce_precision,
        "stablehlo.return": read_return,
        "stablehlo.after_all": read_typed,
        "stablehlo.optimization_barrier": read_typed,
        "stablehlo.create_token": _read_constant_type,
        "stablehlo.partition_id": _read_constant_type,
        "stablehlo.replica_id": _read_constant_type,
        "stablehlo.iota": keyed(dim=("iota_dimension", _part_i64)),
        "stablehlo.dynamic_iota": keyed(dim=("iota_dimension", _part_i64)),
        "stablehlo.broadcast": keyed(sizes=("broadcast_sizes", _part_array)),
        "stablehlo.broadcast_in_dim": keyed(dims=dims),
        "stablehlo.dynamic_broadcast_in_dim": keyed(dims=dims),
        "stablehlo.transpose": keyed(dims=("permutation", _part_array)),
        "stablehlo.reverse": keyed(dims=("dimensions", _part_array)),
        "stablehlo.concatenate": keyed(dim=("dimension", _part_i64)),
        "stablehlo.get_dimension_size": keyed(dim=("dimension", _part_i64)),
        "stablehlo.set_dimension_size": keyed(dim=("dimension", _part_i64)),
        "stablehlo.dynamic_slice": keyed(sizes=("slice_sizes", _part_array)),
        "stablehlo.cholesky": keyed(may_lack=("lower",), lower=("lower", _part_bool)),
        "stablehlo.einsum": keyed(config=("einsum_config", _part_string)),
        "stablehlo.unary_einsum": keyed(config=("einsum_config", _part_string)),
        "stablehlo.torch_index_select": keyed(dim=("dim", _part_i64), batch_dims=("batch_dims", _part_i64)),
        "stablehlo.pad": keyed(
            low=("edge_padding_low", _part_array),
            high=("edge_padding_high", _part_array),
            interior=("interior_padding", _part_array),
        ),
        "stablehlo.rng": keyed(distribution=("rng_distribution", _part_enum(stablehlo_attrs.RngDistributionAttr))),
        "stablehlo.rng_bit_generator": keyed(algorithm=("rng_algorithm", _part_enum(stablehlo_attrs.RngAlgorithmAttr))),
        "stablehlo.fft": keyed(
            type=("fft_type", _part_enum(stablehlo_attrs.FftTypeAttr)), length=("fft_length", _part_array)
        ),
    }
    return readers | SPECIAL


READERS = _readers()
