"""Fusing one structured op into another: composed maps, concatenated bodies.

`fuse_producer` puts an elementwise producer into a consumer that reads it; `merge_results` makes one op with the
results of two elementwise ops over the same space. Both mutate; the callers decide whether it pays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.arith import AddiOp, MuliOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from tiree.dialects.arith import ConstantOp
from tiree.flow.affine import build, compose, linear_form, names_dims_in_order
from tiree.flow.structured import (
    body_of,
    erase_op,
    input_count,
    inputs_of,
    is_elementwise,
    is_generic,
    iterators_of,
    make_generic,
    make_index,
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
        read = read_map.results[position]
        if not isinstance(read, AffineDimExpr):
            form = linear_form(read)
            if form is None:
                return None
            read = build(form)
        dims[expr.position] = read
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


def _copy_body(
    source: Operation, block: Block, anchor: Operation, arguments: Sequence[SSAValue], dims: Sequence[AffineExpr]
) -> list[SSAValue]:
    """Copies the body of `source` into `block`, before `anchor`; returns the values it yields there.

    `arguments` stand for the source's input arguments.
    """
    origin = body_of(source)
    mapping: dict[SSAValue, SSAValue] = dict(zip(origin.args, arguments, strict=False))
    results: list[SSAValue] = []
    for op in origin.ops:
        if op.name == "linalg.yield":
            results = [mapping.get(value, value) for value in op.operands]
        elif op.name == "linalg.index":
            mapping[op.results[0]] = _index_value(dims[int_of(op.properties["dim"])], block, anchor)
        else:
            block.insert_op_before(op.clone(mapping), anchor)
    return results


def _move_body(
    source: Operation, block: Block, anchor: Operation, arguments: Sequence[SSAValue], dims: Sequence[AffineExpr]
) -> list[SSAValue]:
    """As `_copy_body`, but takes the ops away from `source`, which is left with an empty body."""
    origin = body_of(source)
    _rewrite_indices(origin, dims)
    for old, new in zip(origin.args, arguments, strict=False):
        old.replace_all_uses_with(new)
    end = origin.last_op
    assert end is not None
    results = list(end.operands)
    erase_op(end)
    for op in list(origin.ops):
        op.detach()
        block.insert_op_before(op, anchor)
    return results


def fuse_producer(consumer: Operation, operand: int, producer_first: bool = True) -> None:
    """Evaluates the producer of input `operand` inside `consumer` (see `can_fuse`); erases it when nothing uses it.

    The producer is evaluated before all of `consumer`, which is cheap where its body is the larger one, or (without
    `producer_first`) right before the op that uses it, which keeps few values waiting and is cheap where it is small.
    """
    value = consumer.operands[operand]
    producer, result = op_of(value), result_of(value).index
    maps = maps_of(consumer)
    new_maps = fused_maps(producer, result, consumer, operand)
    dims = producer_dims(producer, result, maps[operand])
    assert new_maps is not None
    assert dims is not None
    new_inputs = list(inputs_of(producer))
    count = input_count(consumer)
    single = all(other is value or other.first_use is None for other in producer.results) and value.has_one_use()
    if single and producer_first:
        _take_over(producer, consumer, operand, result, dims)
    else:
        _inline(producer, consumer, operand, result, dims, _move_body if single else _copy_body)
    consumer.operands = [*consumer.operands[:operand], *new_inputs, *consumer.operands[operand + 1 :]]
    set_maps(consumer, [*maps[:operand], *new_maps, *maps[operand + 1 :]])
    set_segments(consumer, count - 1 + len(new_inputs), len(consumer.operands) - count + 1 - len(new_inputs))
    if all(other.first_use is None for other in producer.results):
        erase_op(producer)


def _inline(
    producer: Operation,
    consumer: Operation,
    operand: int,
    result: int,
    dims: Sequence[AffineExpr],
    put: Callable[..., list[SSAValue]],
) -> None:
    """Puts the body of `producer` into that of `consumer`, its arguments in the place of argument `operand`."""
    block = body_of(consumer)
    types = [arg.type for arg in body_of(producer).args[: input_count(producer)]]
    arguments = [block.insert_arg(type, operand + 1 + offset) for offset, type in enumerate(types)]
    argument = block.args[operand]
    anchor = _only_user(argument) or block.first_op
    assert anchor is not None
    results = put(producer, block, anchor, arguments, dims)
    argument.replace_all_uses_with(results[result])
    block.erase_arg(argument)


def _only_user(argument: BlockArgument) -> Operation | None:
    """The op of the block that alone uses `argument`."""
    if not argument.has_one_use():
        return None
    assert argument.first_use is not None
    user = argument.first_use.operation
    return user if user.parent is argument.block else None


def _take_over(producer: Operation, consumer: Operation, operand: int, result: int, dims: Sequence[AffineExpr]) -> None:
    """Moves the body of `consumer` behind that of `producer`, and both into `consumer`.

    In a chain the producer holds all that was fused before, the consumer next to nothing: moving the small body keeps
    the fusion of a chain linear.
    """
    block, old = body_of(producer), body_of(consumer)
    _rewrite_indices(block, dims)
    end = block.last_op
    assert end is not None
    value = end.operands[result]
    erase_op(end)
    inputs = input_count(producer)
    for argument in reversed(block.args[inputs:]):
        block.erase_arg(argument)
    before, after = old.args[:operand], old.args[operand + 1 :]
    new = [block.insert_arg(arg.type, index) for index, arg in enumerate(before)]
    new += [block.insert_arg(arg.type, operand + inputs + index) for index, arg in enumerate(after)]
    old.args[operand].replace_all_uses_with(value)
    for argument, replacement in zip([*before, *after], new, strict=True):
        argument.replace_all_uses_with(replacement)
    for op in list(old.ops):
        op.detach()
        block.add_op(op)
    producer.regions[0].detach_block(block)
    consumer.regions[0].detach_block(old)
    old.erase()
    consumer.regions[0].add_block(block)


def _rewrite_indices(block: Block, dims: Sequence[AffineExpr]) -> None:
    """Makes `linalg.index` ops of `block` count the loops that `dims` name."""
    if names_dims_in_order(dims):
        return
    for op in [op for op in block.ops if op.name == "linalg.index"]:
        value = _index_value(dims[int_of(op.properties["dim"])], block, op)
        op.results[0].replace_all_uses_with(value)
        erase_op(op)


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
    """One op over the loops of `second` with the results of both; it takes the place of `second`. Results of `first`
    that only `second` reads are gone.

    `positions[i]` is the loop of `second` that loop i of `first` is. Both are elementwise and read no init; nothing
    between the two may use a result of `first`. The body of `second` moves behind that of `first`.
    """
    dims: list[AffineExpr] = [AffineDimExpr(position) for position in positions]
    first_count, second_count = input_count(first), input_count(second)
    first_maps = [compose(map, dims, len(positions)) for map in maps_of(first)]
    second_maps = maps_of(second)
    read = [i for i in range(second_count) if second.operands[i].owner is not first]
    kept = [i for i, result in enumerate(first.results) if any(use.operation is not second for use in result.uses)]
    body = _appended_body(first, second, dims, read, kept)
    merged = make_generic(
        [*first.operands[:first_count], *(second.operands[i] for i in read)],
        [*(first.operands[first_count + i] for i in kept), *second.operands[second_count:]],
        [
            *first_maps[:first_count],
            *(second_maps[i] for i in read),
            *(first_maps[first_count + i] for i in kept),
            *second_maps[second_count:],
        ],
        iterators_of(second),
        body,
        second.location,
    )
    assert second.parent is not None
    second.parent.insert_op_before(merged, second)
    old = [*(first.results[i] for i in kept), *second.results]
    for result, replacement in zip(old, merged.results, strict=True):
        result.replace_all_uses_with(replacement)
    for op in (second, first):
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


def _appended_body(
    first: Operation, second: Operation, dims: Sequence[AffineExpr], read: Sequence[int], kept: Sequence[int]
) -> Block:
    """The body of `first` with that of `second` behind it, detached from both.

    Its arguments are the inputs of `first`, the inputs `read` of `second`, the inits of the results `kept` of `first`
    and those of `second`.
    """
    block, tail = body_of(first), body_of(second)
    _rewrite_indices(block, dims)
    inputs = input_count(first)
    end = block.last_op
    assert end is not None
    values = list(end.operands)
    erase_op(end)
    for index in reversed(range(len(values))):
        if index not in kept:
            block.erase_arg(block.args[inputs + index])
    for offset, index in enumerate(read):
        tail.args[index].replace_all_uses_with(block.insert_arg(tail.args[index].type, inputs + offset))
    for index, value in enumerate(inputs_of(second)):
        if value.owner is first:
            tail.args[index].replace_all_uses_with(values[result_of(value).index])
    for argument in tail.args[input_count(second) :]:
        argument.replace_all_uses_with(block.insert_arg(argument.type, len(block.args)))
    for op in list(tail.ops):
        op.detach()
        block.add_op(op)
    end = block.last_op
    assert end is not None
    end.operands = [*(values[i] for i in kept), *end.operands]
    first.regions[0].detach_block(block)
    second.regions[0].detach_block(tail)
    return block


__all__ = ["can_fuse", "fuse_producer", "fused_maps", "merge_results", "producer_dims", "same_space"]
