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

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isinf

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.dialects.dense import DenseAttr, decode_scalar
from tiree.dialects.iree_linalg_ext import AttentionOp
from tiree.dialects.iree_linalg_ext import YieldOp as ExtYieldOp
from tiree.dialects.iree_linalg_ext_attention import MASKED_SCORE, float_attr, form_of, plain_dims
from tiree.dialects.tensor_dims import dim_size
from tiree.flow.attention_scores import ScoreChain, mask_block, read_scores
from tiree.flow.structured import (
    body_of,
    erase_op,
    function_blocks,
    input_count,
    insert_before,
    is_elementwise,
    is_generic,
    iterators_of,
    make_generic,
    maps_of,
    replace_op,
    shape_of,
    yielded,
)
from tiree.support.typed import is_float_attr, is_tensor_type, tensor_type

LEAST_SCORES = 1 << 16
"""Scores of one batch from which on they are kept out of memory."""
LEAST_ROWS = 8
_CASTS = ("arith.extf", "arith.truncf")

Labels = tuple[int, ...]
"""The loop of the attention that each dimension of a tensor runs along."""


@dataclass
class _Found:
    """An attention in the program."""

    value: SSAValue
    value_labels: Labels
    output_labels: Labels
    weighted: Operation
    steps: list[Operation] = field(default_factory=list[Operation])
    """What becomes unused, from the last to the first."""
    scores: ScoreChain | None = None
    score_labels: Labels = ()
    query: SSAValue | None = None
    key: SSAValue | None = None
    query_labels: Labels = ()
    key_labels: Labels = ()
    loops: int = 0


def source(value: SSAValue) -> SSAValue:
    """`value` before casts between floats."""
    while isinstance(value.owner, Operation) and value.owner.name in _CASTS:
        value = value.owner.operands[0]
    return value


def _operand(op: Operation, value: SSAValue) -> int | None:
    """The number of the input that a value of a body is, apart from casts."""
    value = source(value)
    if isinstance(value, BlockArgument) and value.owner is body_of(op) and value.index < input_count(op):
        return value.index
    return None


def _made_by(value: SSAValue, name: str) -> Operation | None:
    """The op of that name that makes a value of a body, apart from casts."""
    owner = source(value).owner
    return owner if isinstance(owner, Operation) and owner.name == name else None


def _generic(value: SSAValue, block: Block | None) -> Operation | None:
    """The generic of one result in `block` that makes a tensor."""
    op = value.owner
    if not isinstance(op, Operation) or not is_generic(op) or op.parent is not block or len(op.results) != 1:
        return None
    return op


def _users(value: SSAValue) -> set[Operation]:
    return {use.operation for use in value.uses}


def _start_of(op: Operation) -> float | None:
    """The number that a reduction starts from."""
    init = op.operands[-1].owner
    attr = constant_of(init.operands[0]) if isinstance(init, Operation) and init.name == "linalg.fill" else None
    if attr is None:
        attr = constant_of(op.operands[-1])
    if isinstance(attr, DenseAttr) and attr.is_splat:
        return float(decode_scalar(attr.element_type, bytes(attr.buffer)))
    return float(attr.value.data) if is_float_attr(attr) else None


def _loops_by(op: Operation, number: int, labels: Labels) -> dict[int, int] | None:
    """The label of each loop that operand `number` is indexed by."""
    dims = plain_dims(maps_of(op)[number])
    return None if dims is None or len(dims) != len(labels) else dict(zip(dims, labels, strict=True))


def _labels(op: Operation, number: int, loops: dict[int, int]) -> Labels | None:
    """The labels of operand `number`."""
    dims = plain_dims(maps_of(op)[number])
    if dims is None or any(d not in loops for d in dims):
        return None
    return tuple(loops[d] for d in dims)


def _folded(op: Operation, combine: str) -> SSAValue | None:
    """What a reduction of one input combines with its accumulator by op `combine`, if it does nothing else."""
    if input_count(op) != 1 or all(iterators_of(op)) or len(op.results) != 1:
        return None
    made = _made_by(yielded(op)[0], combine)
    if made is None:
        return None
    accumulator = body_of(op).args[-1]
    rest = [value for value in made.operands if source(value) is not accumulator]
    return rest[0] if len(rest) == 1 and _operand(op, rest[0]) == 0 else None


def _is_contraction(op: Operation) -> bool:
    """Whether `op` sums products of its two inputs from zero on."""
    if input_count(op) != 2 or len(op.results) != 1 or all(iterators_of(op)) or _start_of(op) != 0:
        return False
    total = _made_by(yielded(op)[0], "arith.addf")
    if total is None:
        return False
    accumulator = body_of(op).args[-1]
    rest = [value for value in total.operands if source(value) is not accumulator]
    product = _made_by(rest[0], "arith.mulf") if len(rest) == 1 else None
    return product is not None and {_operand(op, value) for value in product.operands} == {0, 1}


class _Matcher:
    """Finds the attention that ends in contraction `weighted`."""

    def __init__(self, weighted: Operation) -> None:
        self.weighted = weighted
        self.block = weighted.parent
        self.keys: frozenset[int] = frozenset()

    def match(self) -> _Found | None:
        op = self.weighted
        if not _is_contraction(op):
            return None
        loops = {d: d for d in range(len(iterators_of(op)))}
        self.keys = frozenset(d for d, parallel in enumerate(iterators_of(op)) if not parallel)
        labels = [_labels(op, number, loops) for number in range(3)]
        for number in (0, 1):
            powers, value, output = labels[number], labels[1 - number], labels[2]
            if powers is None or value is None or output is None:
                return None
            found = _Found(op.operands[1 - number], value, output, op, [op], loops=len(loops))
            if self._quotients(found, op.operands[number], powers):
                return found
        return None

    def _quotients(self, found: _Found, value: SSAValue, labels: Labels) -> bool:
        """P = E / sum(E)."""
        op = _generic(value, self.block)
        if op is None or not is_elementwise(op) or _users(value) != {self.weighted}:
            return False
        division = _made_by(yielded(op)[0], "arith.divf")
        loops = _loops_by(op, input_count(op), labels)
        if division is None or loops is None:
            return False
        above, below = (_operand(op, one) for one in division.operands)
        if above is None or below is None or input_count(op) != 2:
            return False
        tops, sums = _labels(op, above, loops), _labels(op, below, loops)
        total = _generic(op.operands[below], self.block)
        if tops is None or sums is None or total is None or _users(op.operands[below]) != {op}:
            return False
        if not self._reduces(total, "arith.addf", 0.0, op.operands[above], tops, sums):
            return False
        if _users(op.operands[above]) != {op, total}:
            return False
        found.steps += [op, total]
        return self._powers(found, op.operands[above], tops)

    def _reduces(
        self, op: Operation, combine: str, start: float, value: SSAValue, labels: Labels, result: Labels
    ) -> bool:
        """Whether `op` combines `value` over the keys."""
        if _folded(op, combine) is None or op.operands[0] is not value or _start_of(op) != start:
            return False
        loops = _loops_by(op, 0, labels)
        if loops is None or len(loops) != len(iterators_of(op)):
            return False
        reduced = frozenset(loops[d] for d, parallel in enumerate(iterators_of(op)) if not parallel)
        return reduced == self.keys and _labels(op, 1, loops) == result

    def _powers(self, found: _Found, value: SSAValue, labels: Labels) -> bool:
        """E = exp(S - max(S))."""
        op = _generic(value, self.block)
        if op is None or not is_elementwise(op) or input_count(op) != 2:
            return False
        power = _made_by(yielded(op)[0], "math.exp")
        difference = _made_by(power.operands[0], "arith.subf") if power is not None else None
        loops = _loops_by(op, 2, labels)
        if difference is None or loops is None:
            return False
        score, top = _operand(op, difference.operands[0]), _operand(op, _without_floor(difference.operands[1]))
        if score is None or top is None:
            return False
        scores, tops = _labels(op, score, loops), _labels(op, top, loops)
        largest = _generic(op.operands[top], self.block)
        if scores is None or tops is None or largest is None or _users(op.operands[top]) != {op}:
            return False
        if not self._reduces(largest, "arith.maximumf", -float("inf"), op.operands[score], scores, tops):
            return False
        if _users(op.operands[score]) != {op, largest}:
            return False
        found.steps += [op, largest]
        return self._scores(found, op.operands[score], scores)

    def _scores(self, found: _Found, value: SSAValue, labels: Labels) -> bool:
        """S = scale (Q K) + mask."""
        op = _generic(value, self.block)
        if op is None:
            return False
        if is_elementwise(op):
            chain = read_scores(op)
            loops = _loops_by(op, input_count(op), labels)
            if chain is None or loops is None:
                return False
            found.scores, found.score_labels = chain, tuple(loops[d] for d in range(len(loops)))
            found.steps.append(op)
            product, inner = op.operands[chain.product], _labels(op, chain.product, loops)
            if inner is None or _users(product) != {op}:
                return False
            value, labels, op = product, inner, _generic(product, self.block)
        if op is None or not _is_contraction(op) or tensor_type(value).element_type.name == "f16":
            return False
        loops = _loops_by(op, 2, labels)
        if loops is None:
            return False
        for d, parallel in enumerate(iterators_of(op)):
            if not parallel:
                loops[d] = found.loops
                found.loops += 1
        found.steps.append(op)
        return self._factors(found, op, loops)

    def _factors(self, found: _Found, op: Operation, loops: dict[int, int]) -> bool:
        for number in (0, 1):
            query, key = _labels(op, number, loops), _labels(op, 1 - number, loops)
            if query is None or key is None:
                return False
            if self.keys <= set(key) and not self.keys & set(query):
                found.query, found.key = op.operands[number], op.operands[1 - number]
                found.query_labels, found.key_labels = query, key
                return True
        return False


def _without_floor(value: SSAValue) -> SSAValue:
    """A maximum without the minus infinity that it is at least."""
    made = _made_by(value, "arith.maximumf")
    if made is None:
        return value
    for number, one in enumerate(made.operands):
        attr = constant_of(source(one))
        if is_float_attr(attr) and isinf(attr.value.data) and attr.value.data < 0:
            return made.operands[1 - number]
    return value


# The op ---------------------------------------------------------------------------------------------------------------


def _map(labels: Sequence[int], loops: int) -> AffineMap:
    return AffineMap(loops, 0, tuple(AffineDimExpr(label) for label in labels))


def _transposition(op: Operation) -> Operation | None:
    """The generic that does nothing but move the result of `op`, and alone reads it."""
    value = op.results[0]
    users = [use.operation for use in value.uses]
    if len(users) != 1 or not is_generic(users[0]) or users[0].parent is not op.parent:
        return None
    user = users[0]
    if input_count(user) != 1 or len(user.results) != 1 or not is_elementwise(user):
        return None
    moves = yielded(user)[0] is body_of(user).args[0]
    return user if moves and plain_dims(maps_of(user)[0]) is not None else None


def _mask(found: _Found, anchor: Operation) -> tuple[SSAValue, Labels] | None:
    """The mask, perhaps made by a new op before `anchor`, and its labels."""
    chain = found.scores
    if chain is None or chain.mask is None:
        return None
    op = chain.op
    given = _operand(op, chain.mask)
    if given is not None and source(chain.mask) is chain.mask and not chain.inverted:
        labels = _labels(op, given, dict(enumerate(found.score_labels)))
        if labels is not None:
            return op.operands[given], labels
    inputs, dims, body = mask_block(chain)
    result = op.results[0]
    stored = plain_dims(maps_of(op)[-1]) or ()
    sizes = [dim_size(result, stored.index(d)) for d in dims]
    shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    element = body.args[-1].type
    dynamic = [size for size in sizes if isinstance(size, SSAValue)]
    empty = EmptyOp.create(operands=dynamic, result_types=[TensorType(element, shape)])
    within = {d: position for position, d in enumerate(dims)}
    maps = [_map([within[d] for d in plain_dims(maps_of(op)[n]) or ()], len(dims)) for n in inputs]
    maps.append(AffineMap.identity(len(dims)))
    values = [op.operands[n] for n in inputs]
    made = make_generic(values, [empty.results[0]], maps, [True] * len(dims), body, op.location)
    insert_before(anchor, empty, made)
    return made.results[0], tuple(found.score_labels[d] for d in dims)


def _build(found: _Found) -> bool:
    """Replaces what was found by the op; False where the op has no form that one kernel computes."""
    assert found.query is not None
    assert found.key is not None
    last = found.weighted
    output = found.output_labels
    moved = _transposition(last)
    if moved is not None:
        read, written = plain_dims(maps_of(moved)[0]) or (), plain_dims(maps_of(moved)[1]) or ()
        place = dict(zip(read, output, strict=True))
        output = tuple(place[d] for d in written)
        last = moved
    init = last.operands[-1]
    if isinstance(init.owner, Operation) and init.owner.name == "linalg.fill":
        init = init.owner.operands[1]
    wide = "f64" if any(_type(v).name == "f64" for v in (found.query, found.key, found.value)) else "f32"
    type = _type(found.query) if _type(found.query).name == wide else _float(wide)
    scale = ConstantOp.create(result_types=[type], properties={"value": float_attr(_scale(found), type)})
    insert_before(last, scale)
    mask = _mask(found, last)
    labels = [found.query_labels, found.key_labels, found.value_labels, (), *([mask[1]] if mask else []), output]
    values = [found.query, found.key, found.value, scale.results[0], *([mask[0]] if mask else []), init]
    body = Block(arg_types=[type])
    body.add_op(ExtYieldOp.create(operands=[body.args[0]]))
    op = AttentionOp.create(
        operands=values,
        result_types=[last.results[0].type],
        properties={"indexing_maps": ArrayAttr([AffineMapAttr(_map(one, found.loops)) for one in labels])},
        regions=[Region(body)],
        location=last.location,
    )
    if found.scores is not None and found.scores.masked is not None and not isinf(found.scores.masked):
        op.attributes[MASKED_SCORE] = float_attr(found.scores.masked, type)
    insert_before(last, op)
    if form_of(op) is None:
        erase_op(op)
        return False
    replace_op(last, op.results)
    for step in found.steps:
        if step is not last and all(result.first_use is None for result in step.results):
            erase_op(step)
    return True


def _type(value: SSAValue) -> Attribute:
    return tensor_type(value).element_type


def _float(name: str) -> Attribute:
    from xdsl.dialects.builtin import Float32Type, Float64Type

    return Float64Type() if name == "f64" else Float32Type()


def _scale(found: _Found) -> float:
    return 1.0 if found.scores is None else found.scores.scale


def is_worth(found: _Found) -> bool:
    """The cost model (see the head of this file)."""
    sizes: dict[int, int] = {}
    assert found.query is not None
    assert found.key is not None
    for value, labels in ((found.query, found.query_labels), (found.key, found.key_labels)):
        sizes.update(zip(labels, shape_of(value), strict=True))
    rows = [sizes[d] for d in found.query_labels if d not in found.key_labels]
    keys = [sizes[d] for d in found.key_labels if d not in found.query_labels]
    if DYNAMIC_INDEX in (*rows, *keys):
        return True
    count = 1
    for size in (*rows, *keys):
        count *= size
    return max(rows, default=1) >= LEAST_ROWS and count >= LEAST_SCORES


def raise_block(block: Block) -> None:
    """Raises the attentions of one block."""
    for op in list(block.ops):
        if op.parent is not block or not is_generic(op) or not all(is_tensor_type(v.type) for v in op.operands):
            continue
        found = _Matcher(op).match()
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
