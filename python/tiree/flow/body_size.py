"""How large a body may grow by fusion: its machine code and its registers, estimated without lowering it.

Fusion pays once for a chain of any length, but the kernel's compile time, its code and its spilled registers grow with
the chain, faster than linearly at some point. So one dispatch holds at most `MAX_WEIGHT` instructions (an op counts as
many as it expands to) and `MAX_LIVE` values at one time; a longer chain runs in pieces. The storing and loading between
two pieces costs about ten instructions of the thousands in each.

`BodySizes` keeps the sizes of bodies while they grow, so that no body is walked once per fusion: estimates of a joined
body come from its parts, and the ops that fusion made redundant are removed each time a body has doubled.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from tiree.flow.cse import clean_body
from tiree.flow.simplify_generic import fold_scalars
from tiree.flow.structured import body_of

MAX_WEIGHT = 4096
"""The most instructions that fusion puts into one dispatch. The largest bodies of models (random numbers, gamma
functions) have some hundreds."""

MAX_LIVE = 128
"""The most values of a fused body that are waiting for their last use at one time: 8 KiB of the widest registers."""

SMALL = 16
"""Bodies of at most this many ops are cleaned after every fusion."""

_NOTHING = frozenset(
    ("linalg.yield", "arith.constant", "complex.re", "complex.im", "complex.create", "complex.constant")
)
_WEIGHTS = {
    "exp": 25, "exp2": 25, "expm1": 35, "log": 40, "log1p": 55, "log2": 50, "log10": 50, "powf": 130, "tanh": 35,
    "sinh": 45, "cosh": 40, "asinh": 105, "acosh": 105, "atanh": 60, "sin": 65, "cos": 65, "tan": 90, "asin": 45,
    "acos": 45, "atan": 45, "atan2": 75, "erf": 40, "erfc": 80, "cbrt": 70, "round": 10,
}  # fmt: skip
_COMPLEX = {
    "abs": 20, "add": 2, "angle": 75, "atan2": 700, "conj": 1, "cos": 250, "div": 60, "eq": 3, "exp": 180, "expm1": 250,
    "log": 230, "log1p": 230, "mul": 6, "neg": 2, "neq": 4, "pow": 450, "rsqrt": 60, "sign": 30, "sin": 250, "sqrt": 50,
    "sub": 2, "tan": 250, "tanh": 250,
}  # fmt: skip
"""Instructions on f64, of which a vector holds half as many as of f32."""
_LANE_BY_LANE = frozenset(
    f"arith.{name}" for name in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui", "remf")
)


def op_weight(op: Operation) -> int:
    """About how many vector instructions one op of a body becomes, those of its regions included."""
    if op.regions:
        return 4 + sum(op_weight(inner) for region in op.regions for block in region.blocks for inner in block.ops)
    name = op.name
    if name in _NOTHING:
        return 0
    if name.startswith("math."):
        return _WEIGHTS.get(name[5:], 2)
    if name.startswith("complex."):
        return _COMPLEX.get(name[8:], 10)
    if name == "tensor.extract":
        return 8
    return 40 if name in _LANE_BY_LANE else 1


@dataclass
class BodySize:
    """The size of one body: ops, weight, values that live at one time; `cleaned` is `ops` when it was last cleaned."""

    ops: int
    weight: int
    live: int
    cleaned: int


def measure(op: Operation) -> BodySize:
    """The size of the body of a structured op."""
    block = body_of(op)
    ops = weight = 0
    for inner in block.ops:
        ops += 1
        weight += op_weight(inner)
    return BodySize(ops, weight, count_live(block), ops)


def weight_of(op: Operation) -> int:
    """The weight of the body of `op`; 0 for an op without one."""
    if not op.regions:
        return 0
    return sum(op_weight(inner) for inner in body_of(op).ops)


def count_live(block: Block) -> int:
    """The most results of ops of `block` that wait for a later op at one time. Constants take no register."""
    remaining: dict[SSAValue, int] = {}
    most = 0
    for op in block.ops:
        if op.name == "arith.constant":
            continue
        for operand in op.operands:
            left = remaining.get(operand)
            if left == 1:
                del remaining[operand]
            elif left is not None:
                remaining[operand] = left - 1
        for result in op.results:
            uses = sum(1 for _ in result.uses)
            if uses:
                remaining[result] = uses
        most = max(most, len(remaining))
    return most


class BodySizes:
    """Sizes of the structured ops of a block while fusion changes them."""

    def __init__(self) -> None:
        self._sizes: dict[Operation, BodySize] = {}
        self._unclean: dict[Operation, None] = {}

    def of(self, op: Operation) -> BodySize:
        found = self._sizes.get(op)
        if found is None:
            found = self._sizes[op] = measure(op)
        return found

    def producer_first(self, producer: Operation, consumer: Operation) -> bool:
        """Whether the body of `producer` comes before that of `consumer`, which is the smaller one, or into it."""
        return self.of(producer).ops >= self.of(consumer).ops

    def joined(self, producer: Operation, consumer: Operation) -> BodySize:
        """The size of `consumer` with `producer` fused into it. Its `live` is no smaller than what `measure` finds."""
        first, second = self.of(producer), self.of(consumer)
        after = max(first.live, second.live + 1)
        inside = first.live + second.live
        live = after if self.producer_first(producer, consumer) else inside
        cleaned = max(first.cleaned, second.cleaned)
        return BodySize(first.ops + second.ops, first.weight + second.weight, live, cleaned)

    def beside(self, first: Operation, second: Operation) -> BodySize:
        """The size of the body with the results of both, `first` evaluated before `second`."""
        one, two = self.of(first), self.of(second)
        live = max(one.live, two.live + len(first.results))
        return BodySize(one.ops + two.ops, one.weight + two.weight, live, max(one.cleaned, two.cleaned))

    def fits(self, producer: Operation, consumer: Operation) -> bool:
        """Whether the two may become one body."""
        size = self.joined(producer, consumer)
        if size.live > MAX_LIVE:
            self._measure(producer)
            self._measure(consumer)
            size = self.joined(producer, consumer)
        return size.weight <= MAX_WEIGHT and size.live <= MAX_LIVE

    def _measure(self, op: Operation) -> None:
        """Replaces an estimate."""
        if op in self._unclean:
            cleaned = self._sizes[op].cleaned
            self._sizes[op] = measure(op)
            self._sizes[op].cleaned = cleaned

    def fused(self, consumer: Operation, size: BodySize) -> None:
        """Notes that `consumer` has grown to `size`; its redundant ops are removed now or later."""
        self._sizes[consumer] = size
        self._unclean[consumer] = None

    def clean(self, op: Operation) -> None:
        """Cleans the body of `op` if it is small or has doubled since the last time."""
        size = self._sizes[op]
        if size.ops <= SMALL or size.ops >= 2 * size.cleaned:
            self._clean(op)

    def clean_all(self) -> dict[Operation, None]:
        """Cleans what was put off; returns those ops."""
        late = {op: None for op in self._unclean if op.parent is not None}
        for op in late:
            self._clean(op)
        return late

    def rename(self, op: Operation, new: Operation) -> None:
        """`new` has taken the place of `op`, with the same body."""
        self._sizes[new] = self._sizes.pop(op)
        if op in self._unclean:
            del self._unclean[op]
            self._unclean[new] = None

    def _clean(self, op: Operation) -> None:
        fold_scalars(body_of(op))
        clean_body(op)
        self._sizes[op] = measure(op)
        del self._unclean[op]
