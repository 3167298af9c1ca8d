"""Attention with its masks and caches, and rotary embeddings."""

from __future__ import annotations

from math import sqrt

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1, i64
from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.activations import swish
from tiree.input.onnx.build import OnnxBuild, Size, rank_of
from tiree.input.onnx.contraction import matmul
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.reductions import softmax
from tiree.input.onnx.types import element_of_number


def _heads(build: OnnxBuild, value: SSAValue, count: int) -> SSAValue:
    """Batch, heads, sequence, elements, of rows with all heads."""
    batch, sequence, width = build.sizes(value)
    if not isinstance(width, int):
        raise Unsupported("with rows whose length is known late only")
    return build.transpose(build.reshape(value, [batch, sequence, count, width // count]), [0, 2, 1, 3])


def _repeated(build: OnnxBuild, value: SSAValue, times: int) -> SSAValue:
    """Each head several times, one after the other."""
    if times == 1:
        return value
    sizes = build.sizes(value)
    spread: list[Size] = [*sizes[:2], times, *sizes[2:]]
    heads = sizes[1]
    assert isinstance(heads, int)
    return build.reshape(build.repeat(value, spread, [0, 1, 3, 4]), [sizes[0], heads * times, *sizes[2:]])


class _Bias:
    """What is added to the scores: zero or minus infinity, or what a mask says."""

    def __init__(self, node: Node, query: SSAValue, key: SSAValue, past: SSAValue | None) -> None:
        self.build = node.build
        self.node = node
        self.query = query
        self.shape: list[Size] = [node.build.sizes(query)[2], node.build.sizes(key)[2]]
        self.past = past
        self.lengths = node.optional(6)
        self.value: SSAValue | None = None

    def add(self, allowed: SSAValue) -> None:
        zero, never = (self.build.like(self.query, number) for number in (0, float("-inf")))
        self.add_value(self.build.select(allowed, zero, never))

    def add_value(self, value: SSAValue) -> None:
        self.value = value if self.value is None else self.build.add_(self.value, value)

    def mask(self, mask: SSAValue) -> None:
        """Keys that a mask does not reach take no part."""
        build = self.build
        missing, total = shape_of(mask)[-1], self.shape[1]
        if isinstance(total, int) and missing not in (total, DYNAMIC_INDEX):
            high = [0] * (rank_of(mask) - 1) + [total - missing]
            fill = build.like(mask, 0 if element_of(mask) == i1 else float("-inf"))
            mask = build.pad(mask, [0] * rank_of(mask), high, fill)
        if element_of(mask) == i1:
            self.add(mask)
        else:
            self.add_value(mask)

    def _places(self) -> tuple[SSAValue, SSAValue]:
        """Of queries among all keys, and of keys; with a dimension for the batch where each has its length."""
        build = self.build
        rows = build.places(self.shape, 0, i64)
        columns = build.places(self.shape, 1, i64)
        if self.past is not None:
            before = build.sizes(self.past)[2]
            offset = build.constant(i64, before) if isinstance(before, int) else build.convert(before, i64)
            rows = build.add_(rows, offset)
        elif self.lengths is not None:
            count = self.shape[0]
            own = build.constant(i64, count) if isinstance(count, int) else build.convert(count, i64)
            offsets = build.subtract(build.convert(self.lengths, i64), own)
            rows = build.add_(rows, build.unsqueeze(offsets, [1, 2, 3]))
        return rows, columns

    def causal(self) -> None:
        rows, columns = self._places()
        self.add(self.build.compare("LE", columns, rows))

    def window(self, left: int, right: int) -> None:
        build = self.build
        rows, columns = self._places()
        behind = build.subtract(rows, columns)
        if left >= 0:
            self.add(build.compare("LE", behind, build.constant(i64, left)))
        if right >= 0:
            self.add(build.compare("LE", build.unary("negate", behind), build.constant(i64, right)))

    def padding(self) -> None:
        if self.lengths is not None:
            build = self.build
            keys = build.places([self.shape[1]], 0, i64)
            self.add(build.compare("LT", keys, build.unsqueeze(build.convert(self.lengths, i64), [1, 2, 3])))


def _bias(node: Node, query: SSAValue, key: SSAValue) -> SSAValue | None:
    bias = _Bias(node, query, key, node.optional(4))
    mask = node.optional(3)
    if mask is not None:
        bias.mask(mask)
    if node.int("is_causal", 0):
        bias.causal()
    left, right = node.int("left_window_size", -1), node.int("right_window_size", -1)
    if left >= 0 or right >= 0:
        bias.window(left, right)
    bias.padding()
    return bias.value


def _attention(node: Node) -> list[SSAValue | None]:
    build = node.build
    query, key, value = (node.input(index) for index in range(3))
    flat = rank_of(query) == 3
    if flat:
        query = _heads(build, query, node.int("q_num_heads"))
        key, value = (_heads(build, one, node.int("kv_num_heads")) for one in (key, value))
    if node.optional(4) is not None:
        key = build.concatenate([node.input(4), key], 2)
        value = build.concatenate([node.input(5), value], 2)
    present = [key, value]
    heads, own = shape_of(query)[1], shape_of(key)[1]
    if DYNAMIC_INDEX in (heads, own) or heads % own:
        raise Unsupported(f"with {heads} heads of queries and {own} of keys")
    bias = _bias(node, query, key)
    key, value = (_repeated(build, one, heads // own) for one in (key, value))
    size = shape_of(query)[3]
    if size == DYNAMIC_INDEX and not node.has("scale"):
        raise Unsupported("with heads whose size is known late only")
    factor = sqrt(node.float("scale", 1 / sqrt(max(size, 1))))
    scores = matmul(build, build.scale(query, factor), build.transpose(build.scale(key, factor), [0, 1, 3, 2]))
    stages = [scores]
    cap = node.float("softcap", 0.0)
    if cap:
        scores = build.scale(build.unary("tanh", build.scale(scores, 1 / cap)), cap)
    stages.append(scores)
    scores = scores if bias is None else build.add_(scores, bias)
    stages.append(scores)
    element = element_of(query)
    wide = element_of_number(node.int("softmax_precision")) if node.has("softmax_precision") else element
    chances = softmax(build, build.convert(scores, wide), 3)
    if bias is not None:
        top = build.reduce_keeping(bias, [rank_of(bias) - 1], "maximum", float("-inf"))
        nothing = build.compare("EQ", top, build.like(top, float("-inf")))
        chances = build.select(nothing, build.like(chances, 0), chances)
    chances = build.convert(chances, element)
    stages.append(chances)
    result = matmul(build, chances, value)
    if flat:
        batch, count, rows, width = build.sizes(result)
        result = build.reshape(build.transpose(result, [0, 2, 1, 3]), [batch, rows, build.product([count, width])])
    return [result, *present, stages[node.int("qk_matmul_output_mode", 0)]]


def _rotary(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    flat = rank_of(value) == 3
    if flat:
        batch, rows, width = build.sizes(value)
        heads = node.int("num_heads")
        if not isinstance(width, int):
            raise Unsupported("with rows whose length is known late only")
        x = build.reshape(value, [batch, rows, heads, width // heads])
    else:
        x = build.transpose(value, [0, 2, 1, 3])
    size = shape_of(x)[3]
    turned = node.int("rotary_embedding_dim", 0) or size
    caches = [_cache(node, index) for index in (1, 2)]
    cosine, sine = (build.unsqueeze(cache, [2]) for cache in caches)
    interleaved = bool(node.int("interleaved", 0))
    if interleaved:
        first, second = (build.part(x, 3, start, turned, 2) for start in (0, 1))
    else:
        first, second = build.part(x, 3, 0, turned // 2), build.part(x, 3, turned // 2, turned)
    real = build.subtract(build.multiply(cosine, first), build.multiply(sine, second))
    imaginary = build.add_(build.multiply(sine, first), build.multiply(cosine, second))
    if interleaved:
        pairs = build.concatenate([build.unsqueeze(part, [4]) for part in (real, imaginary)], 4)
        rotated = build.reshape(pairs, [*build.sizes(x)[:3], turned])
    else:
        rotated = build.concatenate([real, imaginary], 3)
    whole = rotated if turned == size else build.concatenate([rotated, build.part(x, 3, turned, size)], 3)
    return build.reshape(whole, build.sizes(value)) if flat else build.transpose(whole, [0, 2, 1, 3])


def _cache(node: Node, index: int) -> SSAValue:
    """Rows of a table of angles for each token."""
    from tiree.input.onnx.indexing import gather_points

    places = node.optional(3)
    table = node.input(index)
    if places is None:
        return table
    return gather_points(node.build, table, node.build.unsqueeze(places, [2]))


def _swiglu(node: Node) -> SSAValue:
    return node.build.multiply(swish(node.build, node.input(0), node.float("alpha", 1.0)), node.input(1))


CONVERSIONS: dict[str, Conversion] = {"Attention": _attention, "RotaryEmbedding": _rotary, "SwiGLU": _swiglu}
