"""Fusing one structured op into another: composed maps, concatenated bodies.

`fuse_producer` puts an elementwise producer into a consumer that reads it; `merge_results` makes one op with the
results of two elementwise ops over the same space. Both mutate; the callers decide whether it pays.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import AddiOp, MuliOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from tiree.dialects.arith import ConstantOp
from tiree.flow.affine import build, compose, linear_form
from tiree.flow.structured import (
    body_of,
    element_type_of,
    erase_op,
    input_count,
    inputs_of,
    is_elementwise,
    is_generic,
    iterators_of,
    make_generic,
    make_index,
    make_yield,
    maps_of,
    set_maps,
    set_segments,
    yielded,
)
from tiree.support.typed import int_of, op_of, result_of


def producer_dims(producer: Operation, result: int, read_map: AffineMap) -> list[AffineExpr] | None:
    """The producer's loop dims as expressions of the reader's, or None when they are not linear."""
    store = maps_of(producer)[input_count(producer) + result]
    dims: list[AffineExpr] = [AffineDimExpr(0)] * store.num_dims
    for position, expr in enumerate(store.results):
        assert isinstance(expr, AffineDimExpr)
        form = linear_form(read_map.results[position])
        if form is None:
            return None
        dims[expr.position] = build(form)
    return dims


def fused_maps(producer: Operation, result: int, consumer: Operation, operand: int) -> list[AffineMap] | None:
    """The maps of the producer's inputs in the consumer's space; None where they cannot be composed or a loop of the
    consumer would lose its extent."""
    maps = maps_of(consumer)
    dims = producer_dims(producer, result, maps[operand])
    if dims is None:
        return None
    num_dims = maps[operand].num_dims
    new = [compose(map, dims, num_dims) for map in maps_of(producer)[: input_count(producer)]]
    found: set[int] = set()
    for index, map in enumerate([*maps, *new]):
        if index != operand:
            found.update(expr.position for expr in map.results if isinstance(expr, AffineDimExpr))
    return new if len(found) == num_dims else None


def can_fuse(producer: Operation, consumer: Operation, operand: int) -> bool:
    """Whether `fuse_producer` applies: an elementwise producer whose inits are not read."""
    if not is_generic(producer) or not is_elementwise(producer):
        return False
    args = body_of(producer).args
    if any(arg.first_use is not None for arg in args[input_count(producer) :]):
        return False
    result = result_of(consumer.operands[operand]).index
    return fused_maps(producer, result, consumer, operand) is not None


def _index_value(expr: AffineExpr, block: Block, anchor: Operation) -> SSAValue:
    """Index arithmetic for a linear expression of the loops of `block`, before `anchor`."""
    form = linear_form(expr)
    assert form is not None
    total: SSAValue | None = None
    for dim, factor in form[1]:
        index = make_index(dim)
        block.insert_op_before(index, anchor)
        term: SSAValue = index.results[0]
        if factor != 1:
            term = _binary(MuliOp, term, _constant(factor, block, anchor), block, anchor)
        total = term if total is None else _binary(AddiOp, total, term, block, anchor)
    if total is None:
        return _constant(form[0], block, anchor)
    return _binary(AddiOp, total, _constant(form[0], block, anchor), block, anchor) if form[0] else total


def _constant(value: int, block: Block, anchor: Operation) -> SSAValue:
    op = ConstantOp.index(value)
    block.insert_op_before(op, anchor)
    return op.result


def _binary(kind: type[Operation], left: SSAValue, right: SSAValue, block: Block, anchor: Operation) -> SSAValue:
    from xdsl.dialects.arith import IntegerOverflowAttr

    op = kind.create(
        operands=[left, right],
        result_types=[IndexType()],
        properties={"overflowFlags": IntegerOverflowAttr("none")},
    )
    block.insert_op_before(op, anchor)
    return op.results[0]


def _inline_body(
    source: Operation, block: Block, arguments: Sequence[SSAValue], dims: Sequence[AffineExpr], move: bool
) -> list[SSAValue]:
    """Puts the body of `source` at the start of `block`; returns the values it yields there.

    `arguments` stand for the source's input arguments. The ops are moved when `move`, else copied.
    """
    anchor = block.first_op
    assert anchor is not None
    origin = body_of(source)
    mapping: dict[SSAValue, SSAValue] = dict(zip(origin.args, arguments, strict=False))
    if move:
        for old, new in mapping.items():
            old.replace_all_uses_with(new)
        mapping = {}
    results: list[SSAValue] = []
    for op in list(origin.ops):
        if op.name == "linalg.yield":
            results = [mapping.get(value, value) for value in op.operands]
        elif op.name == "linalg.index":
            value = _index_value(dims[int_of(op.properties["dim"])], block, anchor)
            if move:
                op.results[0].replace_all_uses_with(value)
            else:
                mapping[op.results[0]] = value
        elif move:
            op.detach()
            block.insert_op_before(op, anchor)
        else:
            block.insert_op_before(op.clone(mapping), anchor)
    return results


def fuse_producer(consumer: Operation, operand: int) -> None:
    """Evaluates the producer of input `operand` inside `consumer` (see `can_fuse`); erases it when nothing uses it."""
    value = consumer.operands[operand]
    producer, result = op_of(value), result_of(value).index
    maps = maps_of(consumer)
    new_maps = fused_maps(producer, result, consumer, operand)
    dims = producer_dims(producer, result, maps[operand])
    assert new_maps is not None
    assert dims is not None
    block = body_of(consumer)
    new_inputs = list(inputs_of(producer))
    count = input_count(consumer)
    arguments = [
        block.insert_arg(arg.type, operand + 1 + offset)
        for offset, arg in enumerate(body_of(producer).args[: len(new_inputs)])
    ]
    single = all(other is value or other.first_use is None for other in producer.results) and value.has_one_use()
    results = _inline_body(producer, block, arguments, dims, move=single)
    old_argument = block.args[operand]
    old_argument.replace_all_uses_with(results[result])
    block.erase_arg(old_argument)
    consumer.operands = [*consumer.operands[:operand], *new_inputs, *consumer.operands[operand + 1 :]]
    set_maps(consumer, [*maps[:operand], *new_maps, *maps[operand + 1 :]])
    set_segments(consumer, count - 1 + len(new_inputs), len(consumer.operands) - count + 1 - len(new_inputs))
    if all(other.first_use is None for other in producer.results):
        if single:
            _empty_body(producer)
        erase_op(producer)


def _empty_body(op: Operation) -> None:
    """Drops the terminator left behind by a moved body, whose operands now live elsewhere."""
    last = body_of(op).last_op
    assert last is not None
    erase_op(last)


def same_space(first: Operation, second: Operation) -> list[int] | None:
    """For two elementwise ops where `second` reads results of `first`: the loop of `second` that each loop of `first`
    is, or None when some read is not through one common permutation."""
    found: list[int] | None = None
    maps = maps_of(second)
    for index, value in enumerate(inputs_of(second)):
        if value.owner is not first:
            continue
        dims = producer_dims(first, result_of(value).index, maps[index])
        if dims is None or not all(isinstance(dim, AffineDimExpr) for dim in dims):
            return None
        positions = [dim.position for dim in dims if isinstance(dim, AffineDimExpr)]
        if len(set(positions)) != maps[index].num_dims or len(positions) != maps[index].num_dims:
            return None
        if found is not None and found != positions:
            return None
        found = positions
    return found


def merge_results(first: Operation, second: Operation, positions: Sequence[int]) -> Operation:
    """One op over the loops of `second` with the results of both; it takes the place of `second`.

    `positions[i]` is the loop of `second` that loop i of `first` is. Both are elementwise and read no init; nothing
    between the two may use a result of `first`.
    """
    dims: list[AffineExpr] = [AffineDimExpr(position) for position in positions]
    num_dims = len(positions)
    first_count, second_count = input_count(first), input_count(second)
    first_maps = [compose(map, dims, num_dims) for map in maps_of(first)]
    second_maps = maps_of(second)
    kept = [i for i in range(second_count) if second.operands[i].owner is not first]
    inputs = [*first.operands[:first_count], *(second.operands[i] for i in kept)]
    inits = [*first.operands[first_count:], *second.operands[second_count:]]
    maps = [
        *first_maps[:first_count],
        *(second_maps[i] for i in kept),
        *first_maps[first_count:],
        *second_maps[second_count:],
    ]
    body = Block(arg_types=[element_type_of(value) for value in [*inputs, *inits]])
    anchor = make_yield([])
    body.add_op(anchor)
    first_results = _inline_body(first, body, body.args[:first_count], dims, move=True)
    _append_second(second, first, body, anchor, first_results, first_count, kept)
    anchor.operands = [*first_results, *yielded(second)]
    merged = make_generic(inputs, inits, maps, iterators_of(second), body, second.location)
    assert second.parent is not None
    second.parent.insert_op_before(merged, second)
    for op, offset in ((first, 0), (second, len(first.results))):
        for index, result in enumerate(op.results):
            result.replace_all_uses_with(merged.results[offset + index])
    for op in (second, first):
        _empty_body(op)
        erase_op(op)
    return merged


def drop_equal_results(op: Operation) -> Operation:
    """`op` with one result for each distinct value that it stores; a new op if that is fewer."""
    count = input_count(op)
    maps = maps_of(op)
    values = list(yielded(op))
    first: dict[tuple[SSAValue, AffineMap, Attribute], int] = {}
    kept: list[int] = []
    same: list[int] = []
    for index, value in enumerate(values):
        place = first.setdefault((value, maps[count + index], op.results[index].type), len(kept))
        if place == len(kept):
            kept.append(index)
        same.append(place)
    if len(kept) == len(values):
        return op
    body = body_of(op)
    end = body.last_op
    assert end is not None
    end.operands = [values[index] for index in kept]
    for index in reversed(range(len(values))):
        if index not in kept:
            body.erase_arg(body.args[count + index])
    op.regions[0].detach_block(body)
    new = make_generic(
        op.operands[:count],
        [op.operands[count + index] for index in kept],
        [*maps[:count], *(maps[count + index] for index in kept)],
        iterators_of(op),
        body,
        op.location,
    )
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
    for result, place in zip(op.results, same, strict=True):
        result.replace_all_uses_with(new.results[place])
    erase_op(op)
    return new


def _append_second(
    second: Operation,
    first: Operation,
    body: Block,
    anchor: Operation,
    first_results: Sequence[SSAValue],
    first_count: int,
    kept: Sequence[int],
) -> None:
    """Moves the body of `second` before `anchor`, its arguments replaced by the merged op's values."""
    block = body_of(second)
    for index, value in enumerate(inputs_of(second)):
        if value.owner is first:
            block.args[index].replace_all_uses_with(first_results[result_of(value).index])
        else:
            block.args[index].replace_all_uses_with(body.args[first_count + kept.index(index)])
    for op in list(block.ops):
        if op.name != "linalg.yield":
            op.detach()
            body.insert_op_before(op, anchor)


__all__ = ["can_fuse", "fuse_producer", "fused_maps", "merge_results", "producer_dims", "same_space"]
