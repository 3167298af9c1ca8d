"""`tiree-global-opt-hoist-constant-expressions`: what depends on constants only is computed once, not in every call.

Constants are data of the program, and globals that never change, as parameters. In: canonical generics. Out: the
largest such expressions are constants, where they are small enough to be computed while compiling, or else globals
that an initializer computes when the program is loaded. An expression is worth it if it computes something from data
(a broadcast, a splat or a counter is cheaper where it is used) and does not add more than a threshold to its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.dialects.arith import ConstantOp, constant_of
from tiree.dialects.dense import DenseAttr, element_byte_size
from tiree.flow.structured import body_of, domain_size, element_count, host_blocks
from tiree.support.symbols import SymbolNames
from tiree.support.typed import is_tensor_type

Evaluate = Callable[[Sequence[SSAValue]], "Sequence[DenseAttr] | None"]
"""Computes values that depend on constants only; None where that is not possible."""
THRESHOLD = 1 << 20
"""Bytes that an expression may add, as in IREE."""
MAX_POINTS = 1 << 20
"""Numbers that are computed while compiling."""
GLOBAL = "__hoisted"
_PURE = frozenset(
    {
        "linalg.generic", "linalg.fill", "tensor.empty", "tensor.expand_shape", "tensor.collapse_shape",
        "tensor.extract_slice", "tensor.insert_slice",
    }
)  # fmt: skip
_MOVEMENT = frozenset({"linalg.yield", "linalg.index", "arith.constant"})


Leaf = DenseAttr | tuple[str, int]


@dataclass
class _Facts:
    """Of the values that depend on constants only."""

    fixed: frozenset[str] = frozenset()
    """Globals that have one value for as long as the program is loaded."""
    leaves: dict[SSAValue, frozenset[Leaf]] = field(default_factory=dict[SSAValue, "frozenset[Leaf]"])
    """The data behind each: constants that are not splats, and globals by name and bytes."""
    worth: set[SSAValue] = field(default_factory=set[SSAValue])
    """Those that computed something, and did not grow."""


def _outside(op: Operation) -> Iterator[SSAValue]:
    """The values that an op and its regions use and do not define."""
    yield from op.operands
    inside = {inner for region in op.regions for block in region.blocks for inner in block.ops}
    blocks = {block for region in op.regions for block in region.blocks}
    for inner in inside:
        for value in inner.operands:
            if value.owner not in inside and value.owner not in blocks:
                yield value


def _bytes(value: SSAValue) -> int:
    assert is_tensor_type(value.type)
    return element_count(value) * element_byte_size(value.type.element_type)


def _is_static(op: Operation) -> bool:
    return all(is_tensor_type(result.type) and min(result.type.get_shape(), default=0) >= 0 for result in op.results)


def _computes(op: Operation) -> bool:
    """Whether an op does more than move numbers."""
    return op.name == "linalg.generic" and any(inner.name not in _MOVEMENT for inner in body_of(op).ops)


def _read(op: Operation, facts: _Facts) -> None:
    """Adds what is to be known of the results of `op`."""
    if op.name == "arith.constant":
        value = constant_of(op.results[0])
        data = isinstance(value, DenseAttr) and not value.is_splat
        facts.leaves[op.results[0]] = frozenset([value]) if data and isinstance(value, DenseAttr) else frozenset()
        return
    if isinstance(op, util.GlobalLoadOp) and op.global_.string_value() in facts.fixed and _is_static(op):
        facts.leaves[op.results[0]] = frozenset([(op.global_.string_value(), _bytes(op.results[0]))])
        return
    if op.name not in _PURE or not _is_static(op):
        return
    if any(isinstance(value, BlockArgument) or value not in facts.leaves for value in op.operands):
        return
    used = list(_outside(op))
    if any(isinstance(value, BlockArgument) or value not in facts.leaves for value in used):
        return
    leaves = frozenset[Leaf]().union(*(facts.leaves[value] for value in used))
    read = [value for value in used if is_tensor_type(value.type) and _owner(value).name != "tensor.empty"]
    sizes = [_bytes(value) for value in read]
    for result in op.results:
        facts.leaves[result] = leaves
        grows = _bytes(result) > max(sizes, default=0)
        if leaves and (_computes(op) or (not grows and any(value in facts.worth for value in used))):
            facts.worth.add(result)


def _roots(block: Block, facts: _Facts, threshold: int) -> Iterator[SSAValue]:
    """The results that something uses which is not itself worth it."""
    for op in block.ops:
        for result in op.results:
            if result not in facts.worth:
                continue
            added = _bytes(result) - sum(map(_size_of, facts.leaves[result]))
            users = (use.operation for use in result.uses)
            if added <= threshold and any(not _all_worth(user, facts) for user in users):
                yield result


def _size_of(leaf: Leaf) -> int:
    return leaf.buffer.nbytes if isinstance(leaf, DenseAttr) else leaf[1]


def _all_worth(user: Operation, facts: _Facts) -> bool:
    return bool(user.results) and all(result in facts.worth for result in user.results)


def expression_of(roots: Sequence[SSAValue]) -> list[Operation]:
    """The ops that compute `roots`, those that others need first."""
    ordered: dict[Operation, None] = {}
    pending: list[tuple[Operation, bool]] = [(_owner(root), False) for root in reversed(roots)]
    while pending:
        op, done = pending.pop()
        if done:
            ordered[op] = None
        elif op not in ordered:
            pending.append((op, True))
            pending += [(_owner(value), False) for value in _outside(op)]
    return list(ordered)


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def cloned(roots: Sequence[SSAValue], block: Block) -> list[SSAValue]:
    """Adds copies of what computes `roots` to `block`; returns theirs."""
    mapping: dict[SSAValue, SSAValue] = {}
    for op in expression_of(roots):
        block.add_op(op.clone(value_mapper=mapping))
    return [mapping[root] for root in roots]


@dataclass(frozen=True)
class HoistConstantExpressions(ModulePass):
    """See the module's docstring."""

    name = "tiree-global-opt-hoist-constant-expressions"
    threshold: int = THRESHOLD
    hoist: bool = True
    """Whether what is not computed while compiling is computed when the program is loaded."""
    evaluate: Evaluate | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        facts = _Facts(_fixed_globals(op))
        roots: list[SSAValue] = []
        entries: list[Block] = []
        """For each root, the first block of its function."""
        for function in op.ops:
            if not isinstance(function, (util.FuncOp, util.InitializerOp)) or not function.body.blocks:
                continue
            blocks = list(host_blocks(function.body))
            for block in blocks:
                for inner in block.ops:
                    _read(inner, facts)
            found = [root for block in blocks for root in _roots(block, facts, self.threshold)]
            roots += found
            entries += [function.body.blocks[0]] * len(found)
        if not roots:
            return
        late: list[tuple[SSAValue, Block]] = []
        for root, entry, value in zip(roots, entries, self._values(roots), strict=True):
            if value is not None:
                _replace(root, ConstantOp(value), entry)
            elif isinstance(entry.parent_op(), util.FuncOp):
                late.append((root, entry))
        if late and self.hoist:
            _hoist(op, late)
        for root in roots:
            _erase_unused(root)
        for initializer in list(op.ops):
            if isinstance(initializer, util.InitializerOp):
                _make_initial_values(op, initializer)

    def _values(self, roots: Sequence[SSAValue]) -> Sequence[DenseAttr | None]:
        """What can be computed now."""
        nothing = [None] * len(roots)
        if self.evaluate is None:
            return nothing
        ready = [root for root in roots if not any(isinstance(op, util.GlobalLoadOp) for op in expression_of([root]))]
        points = sum(domain_size(op) for op in expression_of(ready) if op.name == "linalg.generic")
        if not ready or points > MAX_POINTS:
            return nothing
        known = dict(zip(ready, self.evaluate(ready) or (), strict=False))
        return [known.get(root) for root in roots]


def _fixed_globals(module: ModuleOp) -> frozenset[str]:
    """Private immutable tensors: parameters, and what initializers set. None where these call functions, which may
    then run before all is set."""
    if any(one.name == "util.call" for op in module.ops if isinstance(op, util.InitializerOp) for one in op.walk()):
        return frozenset()
    return frozenset(
        op.sym_name.data
        for op in module.ops
        if isinstance(op, util.GlobalOp) and is_tensor_type(op.type) and op.is_mutable is None
    )


def _replace(root: SSAValue, new: Operation, entry: Block) -> None:
    """Puts `new`, at the start of the function, in the place of `root`."""
    first = entry.first_op
    assert first is not None
    new.location = _owner(root).location
    entry.insert_op_before(new, first)
    root.replace_all_uses_with(new.results[0])


def _hoist(module: ModuleOp, roots: Sequence[tuple[SSAValue, Block]]) -> None:
    """Makes globals of the roots, and one initializer that computes them, behind the others."""
    names = SymbolNames(module)
    block = Block()
    made: list[Operation] = []
    values = cloned([root for root, _ in roots], block)
    for (root, entry), value in zip(roots, values, strict=True):
        name = names.unique(GLOBAL)
        made.append(util.GlobalOp(name, root.type))
        block.add_op(util.GlobalStoreOp(value, name))
        _replace(root, util.GlobalLoadOp(name, root.type, immutable=True), entry)
    block.add_op(util.ReturnOp())
    initializer = util.InitializerOp(Region(block))
    initializer.location = _owner(roots[0][0]).location
    body = module.body.block
    before = [op for op in body.ops if isinstance(op, (util.GlobalOp, util.InitializerOp))]
    if before:
        body.insert_ops_after([*made, initializer], before[-1])
    else:
        first = body.first_op
        assert first is not None
        body.insert_ops_before([*made, initializer], first)


def _make_initial_values(module: ModuleOp, initializer: util.InitializerOp) -> None:
    """Globals that an initializer gives constants, and nothing else a value, begin with them."""
    ops = list(initializer.body.blocks[0].ops)
    stores = [one for one in ops if isinstance(one, util.GlobalStoreOp)]
    if not stores or any(one.name not in ("arith.constant", "util.global.store", "util.return") for one in ops):
        return
    globals = {one.sym_name.data: one for one in module.ops if isinstance(one, util.GlobalOp)}
    starts: list[tuple[util.GlobalOp, Attribute]] = []
    for store in stores:
        target = globals.get(store.global_.string_value())
        value = constant_of(store.value)
        if target is None or target.is_mutable is not None or target.initial_value is not None or value is None:
            return
        starts.append((target, value))
    for target, value in starts:
        target.properties["initial_value"] = value
    module.body.block.erase_op(initializer)


def _erase_unused(root: SSAValue) -> None:
    """Takes out what only computed `root`."""
    pending = [_owner(root)]
    while pending:
        op = pending.pop()
        if op.parent is None or any(result.uses for result in op.results):
            continue
        pending += [_owner(value) for value in _outside(op)]
        op.parent.erase_op(op)
