"""`tiree-dispatch-creation-raise-attention`: two contractions around a softmax become `iree_linalg_ext.attention`.

In: fused generics. What is looked for, from its end:

    out = P V;  P = E / sum(E);  E = exp(S - max(S));  S = scale (Q K) [+ mask, or where(mask, ., value)]

where maxima and sums run over the keys, nothing but the next step reads S, E, P, the maxima and the sums, and every
tensor is indexed by bare loops, in any order. A transposition behind it is taken along. What makes the mask becomes an
op of its own, which the dispatch computes where it is read.

The op computes scores and sums in f32 (f64 for f64). So scores that the program rounds to f16, where they could
overflow, are left alone; roundings of probabilities, which are at most one, and of scores to bf16 are left out.

Cost: scores that stay in the second-level cache are as well made by separate dispatches, each of which is spread over
all workers; they go through memory from `LEAST_SCORES` on. One kernel needs tiles of rows (`LEAST_ROWS`) and products
of a known, moderate length (`MOST_DEPTH`). Sizes that are not known are taken to be long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isinf

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp
from tiree.dialects.flow import TensorReshapeOp
from tiree.dialects.iree_linalg_ext import AttentionOp
from tiree.dialects.iree_linalg_ext import YieldOp as ExtYieldOp
from tiree.dialects.iree_linalg_ext_attention import MASKED_SCORE, float_attr, form_of, sum_type
from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.dialects.tensor_dims import dim_size, dynamic_dims
from tiree.flow.attention_scores import mask_block
from tiree.flow.match_attention import UNIT, Found, Labels, Matcher, dims_of, labels_of
from tiree.flow.structured import (
    body_of,
    erase_op,
    function_blocks,
    input_count,
    insert_before,
    is_elementwise,
    is_generic,
    make_generic,
    replace_op,
    shape_of,
    yielded,
)
from tiree.support.typed import is_tensor_type, tensor_type

LEAST_SCORES = 1 << 16
"""Scores of one batch from which on they are kept out of memory."""
LEAST_ROWS = 8

# The op ---------------------------------------------------------------------------------------------------------------


def _map(labels: Sequence[int], loops: Sequence[int]) -> AffineMap:
    return AffineMap(len(loops), 0, tuple(AffineDimExpr(loops.index(label)) for label in labels))


def _transposition(op: Operation) -> Operation | None:
    """The generic that does nothing but move the result of `op`, and alone reads it."""
    value = op.results[0]
    users = [use.operation for use in value.uses]
    if len(users) != 1 or not is_generic(users[0]) or users[0].parent is not op.parent:
        return None
    user = users[0]
    if input_count(user) != 1 or len(user.results) != 1 or not is_elementwise(user):
        return None
    if yielded(user)[0] is not body_of(user).args[0]:
        return None
    read, written = dims_of(user, 0), dims_of(user, 1)
    # A broadcast has loops that it does not read along.
    return user if read is not None and written is not None and set(written) <= {*read, None} else None


def _without_units(value: SSAValue, labels: Labels, anchor: Operation) -> tuple[SSAValue, Labels] | None:
    """A tensor in another shape, without dimensions of size one; None where its sizes are not known."""
    if UNIT not in labels:
        return value, labels
    dims = dynamic_dims(value)
    if dims is None:
        return None
    shape = [size for size, label in zip(shape_of(value), labels, strict=True) if label != UNIT]
    reshape = _reshaped(value, TensorType(tensor_type(value).element_type, shape), dims)
    insert_before(anchor, reshape)
    return reshape.results[0], tuple(label for label in labels if label != UNIT)


def _reshaped(value: SSAValue, type: Attribute, dims: Sequence[SSAValue]) -> Operation:
    return TensorReshapeOp.create(
        operands=[value, *dims, *dims],
        result_types=[type],
        properties={"operandSegmentSizes": segment_sizes(1, len(dims), len(dims))},
    )


def _mask(found: Found, anchor: Operation) -> tuple[SSAValue, Labels] | None:
    """The mask, perhaps made by a new op before `anchor`, and its labels; None where it cannot be made."""
    chain = found.scores
    assert chain is not None
    assert chain.mask is not None
    op = chain.op
    if isinstance(chain.mask, BlockArgument) and chain.mask.owner is body_of(op) and not chain.inverted:
        labels = labels_of(op, chain.mask.index, dict(enumerate(found.score_labels)))
        if labels is not None:
            return op.operands[chain.mask.index], labels
    inputs, dims, body = mask_block(chain)
    read = [dims_of(op, n) for n in inputs]
    stored = dims_of(op, len(op.operands) - 1)
    if stored is None or any(d not in stored for d in dims):
        return None
    sizes = [dim_size(op.results[0], stored.index(d)) for d in dims]
    shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    dynamic = [size for size in sizes if isinstance(size, SSAValue)]
    empty = EmptyOp.create(operands=dynamic, result_types=[TensorType(body.args[-1].type, shape)])
    maps: list[AffineMap] = []
    for one in read:
        if one is None:
            return None
        exprs = [AffineConstantExpr(0) if d is None else AffineDimExpr(dims.index(d)) for d in one]
        maps.append(AffineMap(len(dims), 0, tuple(exprs)))
    maps.append(AffineMap.identity(len(dims)))
    values = [op.operands[n] for n in inputs]
    made = make_generic(values, [empty.results[0]], maps, [True] * len(dims), body, op.location)
    insert_before(anchor, empty, made)
    return made.results[0], tuple(found.score_labels[d] for d in dims)


def _result(found: Found) -> tuple[Operation, Labels]:
    """The last op that the attention replaces, and the labels of its result."""
    last, labels = found.weighted, found.output_labels
    moved = _transposition(last)
    read, written = (dims_of(moved, 0), dims_of(moved, 1)) if moved is not None else (None, None)
    if moved is None or read is None or written is None:
        return last, labels
    place = dict(zip(read, labels, strict=True))
    return moved, tuple(UNIT if d is None else place[d] for d in written)


def _build(found: Found) -> bool:
    """Replaces what was found by the op; False where the op has no form that one kernel computes."""
    assert found.query is not None
    assert found.key is not None
    last, output = _result(found)
    init = last.operands[-1]
    if isinstance(init.owner, Operation) and init.owner.name == "linalg.fill":
        init = init.owner.operands[1]
    type = sum_type((found.query, found.key, found.value))
    scale = ConstantOp.create(result_types=[type], properties={"value": float_attr(_scale(found), type)})
    insert_before(last, scale)
    given = [(found.query, found.query_labels), (found.key, found.key_labels), (found.value, found.value_labels)]
    if found.scores is not None and found.scores.mask is not None:
        mask = _mask(found, last)
        if mask is None:
            return False
        given.append(mask)
    read = [one for value, labels in given if (one := _without_units(value, labels, last)) is not None]
    dims = dynamic_dims(init)
    if len(read) != len(given) or dims is None:
        return False
    if UNIT in output:
        shape = [size for size, label in zip(shape_of(init), output, strict=True) if label != UNIT]
        empty = EmptyOp.create(operands=dims, result_types=[TensorType(tensor_type(init).element_type, shape)])
        insert_before(last, empty)
        init = empty.results[0]
    labels = [*(one[1] for one in read[:3]), (), *(one[1] for one in read[3:]), [d for d in output if d != UNIT]]
    loops = sorted({label for one in labels for label in one})
    body = Block(arg_types=[type])
    body.add_op(ExtYieldOp.create(operands=[body.args[0]]))
    op = AttentionOp.create(
        operands=[*(one[0] for one in read[:3]), scale.results[0], *(one[0] for one in read[3:]), init],
        result_types=[init.type],
        properties={"indexing_maps": ArrayAttr([AffineMapAttr(_map(one, loops)) for one in labels])},
        regions=[Region(body)],
        location=last.location,
    )
    if found.scores is not None and found.scores.masked is not None and not isinf(found.scores.masked):
        op.attributes[MASKED_SCORE] = float_attr(found.scores.masked, type)
    insert_before(last, op)
    if form_of(op) is None:
        erase_op(op)
        return False
    result = op.results[0]
    if UNIT in output:
        reshape = _reshaped(result, last.results[0].type, dims)
        insert_before(last, reshape)
        result = reshape.results[0]
    replace_op(last, [result])
    for step in found.steps:
        if step is not last and all(value.first_use is None for value in step.results):
            erase_op(step)
    return True


def _scale(found: Found) -> float:
    return 1.0 if found.scores is None else found.scores.scale


def is_worth(found: Found) -> bool:
    """The cost model (see the head of this file)."""
    sizes: dict[int, int] = {}
    assert found.query is not None
    assert found.key is not None
    for value, labels in ((found.query, found.query_labels), (found.key, found.key_labels)):
        sizes.update(zip(labels, shape_of(value), strict=True))
    sizes[UNIT] = 1
    rows = [sizes[d] for d in found.query_labels if d not in found.key_labels]
    keys = [sizes[d] for d in found.key_labels if d not in found.query_labels]
    if DYNAMIC_INDEX in (*rows, *keys):
        return True
    count = 1
    for size in (*rows, *keys):
        count *= size
    return max(rows, default=1) >= LEAST_ROWS and count >= LEAST_SCORES


def raise_block(block: Block, wanted: Callable[[Operation], bool] = is_generic) -> None:
    """Raises the attentions of one block whose last contraction is `wanted`."""
    for op in list(block.ops):
        if op.parent is not block or not is_generic(op) or not wanted(op):
            continue
        if not all(is_tensor_type(value.type) for value in op.operands):
            continue
        found = Matcher(op).match()
        if found is not None and is_worth(found):
            _build(found)


class RaiseAttention(ModulePass):
    """See the module's docstring."""

    name = "tiree-dispatch-creation-raise-attention"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            raise_block(block)


def feeders_of(op: Operation) -> list[Operation]:
    """Elementwise ops that only attention `op` reads, and that its dispatch computes where it reads them: what makes
    the mask, and the queries, of which each tile of rows reads its own once."""
    found: list[Operation] = []
    for number in (0, 4):
        value = op.operands[number] if number < len(op.operands) - 1 else None
        made = value.owner if isinstance(value, OpResult) and value.has_one_use() else None
        if not isinstance(made, Operation) or not is_generic(made) or made.parent is not op.parent:
            continue
        if is_elementwise(made) and len(made.results) == 1 and (number == 4 or not _ends(made)):
            found.append(made)
    return found


def _ends(op: Operation) -> bool:
    from tiree.flow.fuse_elementwise import is_epilogue_candidate

    return is_epilogue_candidate(op)
