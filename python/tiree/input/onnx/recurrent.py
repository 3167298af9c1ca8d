"""RNN, GRU and LSTM: one product for the operands of all steps, then a loop over the steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.activations import hard_sigmoid, relu, softplus
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.node import Conversion, Node

Activation = Callable[[SSAValue], SSAValue]


def _affine(build: OnnxBuild, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return build.add_(build.scale(x, alpha), build.like(x, beta))


def _activation(build: OnnxBuild, name: str, alpha: float | None, beta: float | None) -> Activation:
    """A function by its name, which may be written in any case; its defaults are those of the operators."""

    def either(given: float | None, default: float) -> float:
        return default if given is None else given

    def below(x: SSAValue, other: SSAValue) -> SSAValue:
        return build.select(build.compare("LT", x, build.like(x, 0)), other, x)

    def elu(x: SSAValue) -> SSAValue:
        return below(x, build.scale(build.unary("exponential_minus_one", x), either(alpha, 1.0)))

    def thresholded(x: SSAValue) -> SSAValue:
        above = build.compare("GE", x, build.like(x, either(alpha, 1.0)))
        return build.select(above, x, build.like(x, 0))

    known: dict[str, Activation] = {
        "affine": lambda x: _affine(build, x, either(alpha, 1.0), either(beta, 0.0)),
        "elu": elu,
        "hardsigmoid": lambda x: hard_sigmoid(build, x, either(alpha, 0.2), either(beta, 0.5)),
        "leakyrelu": lambda x: below(x, build.scale(x, either(alpha, 0.01))),
        "relu": lambda x: relu(build, x),
        "scaledtanh": lambda x: build.scale(build.unary("tanh", build.scale(x, either(beta, 1.0))), either(alpha, 1.0)),
        "sigmoid": lambda x: build.unary("logistic", x),
        "softplus": lambda x: softplus(build, x),
        "softsign": lambda x: build.divide(x, build.add_(build.unary("abs", x), build.like(x, 1))),
        "tanh": lambda x: build.unary("tanh", x),
        "thresholdedrelu": thresholded,
    }
    found = known.get(name.lower())
    if found is None:
        raise Unsupported(f"with the activation {name!r}")
    return found


_WITH_ALPHA = frozenset({"affine", "elu", "hardsigmoid", "leakyrelu", "scaledtanh", "thresholdedrelu"})
_WITH_BETA = frozenset({"affine", "hardsigmoid", "scaledtanh"})


def _activations(node: Node, defaults: Sequence[str], directions: int) -> list[list[Activation]]:
    """Of each direction. `activation_alpha` and `_beta` have entries for those functions that take them."""
    names = node.strings("activations", [*defaults] * directions)
    alphas, betas = iter(node.floats("activation_alpha")), iter(node.floats("activation_beta"))
    limit = node.float("clip", 0.0) if node.has("clip") else None
    made: list[Activation] = []
    for name in names:
        alpha = next(alphas, None) if name.lower() in _WITH_ALPHA else None
        beta = next(betas, None) if name.lower() in _WITH_BETA else None
        made.append(_clipped(node.build, _activation(node.build, name, alpha, beta), limit))
    count = len(defaults)
    return [made[index * count : (index + 1) * count] for index in range(directions)]


def _clipped(build: OnnxBuild, function: Activation, limit: float | None) -> Activation:
    if limit is None:
        return function
    return lambda x: function(build.clamp(build.like(x, -limit), x, build.like(x, limit)))


@dataclass
class _Direction:
    """The operands of one direction, without the dimension of directions."""

    functions: list[Activation]
    weights: SSAValue
    recurrent: SSAValue
    input_bias: SSAValue | None
    recurrent_bias: SSAValue | None
    peepholes: SSAValue | None
    backwards: bool


Step = Callable[[_Direction, SSAValue, "Sequence[SSAValue]"], "list[SSAValue]"]
"""The next states from what the operand gives to all gates, and the states."""


def _gate(build: OnnxBuild, value: SSAValue, number: int, size: int) -> SSAValue:
    axis = rank_of(value) - 1
    return build.part(value, axis, number * size, (number + 1) * size)


def _turned(build: OnnxBuild, state: SSAValue, matrix: SSAValue) -> SSAValue:
    """`state x matrix^T`."""
    return build.contract(state, matrix, ([1], [1]))


class _Recurrence:
    """A node: which operands it has, and how the steps go. `states` is 1, or 2 with a cell."""

    def __init__(self, node: Node, gates: int, states: int, defaults: Sequence[str]) -> None:
        self.node, self.build = node, node.build
        self.batch_first = bool(node.int("layout", 0))
        x = node.input(0)
        if DYNAMIC_INDEX in shape_of(x):
            raise Unsupported("on an operand of a dynamic shape")
        self.x = self.build.transpose(x, [1, 0, 2]) if self.batch_first else x
        self.steps, self.batch, _ = shape_of(self.x)
        self.directions, self.size = node.static(1)[0], node.static(2)[2]
        self.gates, self.states = gates, states
        self.functions = _activations(node, defaults, self.directions)
        self.lengths = node.optional(4)

    def _of_direction(self, index: int, direction: int) -> SSAValue | None:
        value = self.node.optional(index)
        if value is None:
            return None
        return self.build.squeeze(self.build.part(value, 0, direction, direction + 1), [0])

    def direction(self, number: int) -> _Direction:
        build, node = self.build, self.node
        weights, recurrent = self._of_direction(1, number), self._of_direction(2, number)
        assert weights is not None
        assert recurrent is not None
        bias = self._of_direction(3, number)
        wide = self.gates * self.size
        halves = (None, None) if bias is None else (build.part(bias, 0, 0, wide), build.part(bias, 0, wide, 2 * wide))
        peepholes = self._of_direction(7, number) if self.states == 2 else None
        kind = node.string("direction", "forward")
        backwards = kind == "reverse" or (kind == "bidirectional" and number == 1)
        return _Direction(self.functions[number], weights, recurrent, *halves, peepholes, backwards)

    def initial(self, state: int, number: int) -> SSAValue:
        """A state to begin with: as given, or zero."""
        build, value = self.build, self.node.optional(5 + state)
        if value is None:
            return build.full(element_of(self.x), [self.batch, self.size], 0)
        axis = 1 if self.batch_first else 0
        return build.squeeze(build.part(value, axis, number, number + 1), [axis])

    def run(self, number: int, step: Step) -> tuple[SSAValue, list[SSAValue]]:
        """All outputs of a direction (steps, batch, elements), and its last states."""
        build, one = self.build, self.direction(number)
        ahead = build.contract(self.x, one.weights, ([2], [1]))
        if one.input_bias is not None:
            ahead = build.add_(ahead, one.input_bias)
        states = [self.initial(state, number) for state in range(self.states)]
        outputs = build.full(element_of(self.x), [self.steps, self.batch, self.size], 0)
        zero = build.constant(i64, 0)

        def body(at: SSAValue, values: Sequence[SSAValue]) -> list[SSAValue]:
            *old, collected = values
            place = build.subtract(build.constant(i64, self.steps - 1), at) if one.backwards else at
            width = shape_of(ahead)[2]
            row = build.squeeze(build.dynamic_slice(ahead, [place, zero, zero], [1, self.batch, width]), [0])
            new = step(one, row, old)
            shown = new[0]
            if self.lengths is not None:
                # Behind the end of its sequence a state stays, and the output is zero.
                counts = build.unsqueeze(build.convert(self.lengths, i64), [1])
                within = build.compare("LT", place, counts)
                shown = build.select(within, shown, build.like(shown, 0))
                new = [build.select(within, a, b) for a, b in zip(new, old, strict=True)]
            part = build.unsqueeze(shown, [0])
            return [*new, build.update_slice(collected, part, [place, zero, zero])]

        *last, collected = build.count_up(build.constant(i64, self.steps), [*states, outputs], body)
        return collected, list(last)

    def results(self, step: Step) -> list[SSAValue | None]:
        build = self.build
        made = [self.run(number, step) for number in range(self.directions)]
        all_outputs = build.concatenate([build.unsqueeze(outputs, [1]) for outputs, _ in made], 1)
        lasts = [
            build.concatenate([build.unsqueeze(states[state], [0]) for _, states in made], 0)
            for state in range(self.states)
        ]
        if self.batch_first:
            all_outputs = build.transpose(all_outputs, [2, 0, 1, 3])
            lasts = [build.transpose(last, [1, 0, 2]) for last in lasts]
        return [all_outputs, *lasts]


def _with(build: OnnxBuild, value: SSAValue, bias: SSAValue | None) -> SSAValue:
    return value if bias is None else build.add_(value, bias)


def _rnn(node: Node) -> list[SSAValue | None]:
    build = node.build

    def step(one: _Direction, row: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        (function,) = one.functions
        total = _with(build, build.add_(row, _turned(build, states[0], one.recurrent)), one.recurrent_bias)
        return [function(total)]

    return _Recurrence(node, 1, 1, ["Tanh"]).results(step)


def _gru(node: Node) -> list[SSAValue | None]:
    build = node.build
    before = bool(node.int("linear_before_reset", 0))
    all_of = _Recurrence(node, 3, 1, ["Sigmoid", "Tanh"])
    size = all_of.size

    def step(one: _Direction, row: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        first, second = one.functions
        (state,) = states
        matrices = [build.part(one.recurrent, 0, number * size, (number + 1) * size) for number in range(3)]
        bias = one.recurrent_bias
        biases = [None if bias is None else _gate(build, bias, number, size) for number in range(3)]
        update, reset = (
            first(
                _with(
                    build, build.add_(_gate(build, row, number, size), _turned(build, state, matrices[number])),
                    biases[number],
                )
            )
            for number in (0, 1)
        )  # fmt: skip
        if before:
            inner = build.multiply(reset, _with(build, _turned(build, state, matrices[2]), biases[2]))
        else:
            inner = _with(build, _turned(build, build.multiply(reset, state), matrices[2]), biases[2])
        fresh = second(build.add_(_gate(build, row, 2, size), inner))
        rest = build.subtract(build.like(update, 1), update)
        return [build.add_(build.multiply(rest, fresh), build.multiply(update, state))]

    return all_of.results(step)


def _lstm(node: Node) -> list[SSAValue | None]:
    """Gates are input, output, forget, cell; peepholes input, output, forget."""
    build = node.build
    all_of = _Recurrence(node, 4, 2, ["Sigmoid", "Tanh", "Tanh"])
    size, coupled = all_of.size, bool(node.int("input_forget", 0))

    def step(one: _Direction, row: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        f, g, h = one.functions
        state, cell = states
        total = _with(build, build.add_(row, _turned(build, state, one.recurrent)), one.recurrent_bias)
        gates = [_gate(build, total, number, size) for number in range(4)]

        def seen(number: int, value: SSAValue) -> SSAValue:
            if one.peepholes is None:
                return gates[number]
            return build.add_(gates[number], build.multiply(_gate(build, one.peepholes, number, size), value))

        enter = f(seen(0, cell))
        forget = build.subtract(build.like(enter, 1), enter) if coupled else f(seen(2, cell))
        fresh = build.add_(build.multiply(forget, cell), build.multiply(enter, g(gates[3])))
        return [build.multiply(f(seen(1, fresh)), h(fresh)), fresh]

    return all_of.results(step)


CONVERSIONS: dict[str, Conversion] = {"GRU": _gru, "LSTM": _lstm, "RNN": _rnn}
