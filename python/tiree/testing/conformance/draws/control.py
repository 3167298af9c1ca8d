"""Control flow, tuples, random bits, and the ops of several devices on one."""

from __future__ import annotations

import numpy as np

from tiree.testing.conformance.draws.program import Draw, Drawer, Drawn, Entry, Value, body, is_float, tensor


def _while(d: Draw, name: str, element: str) -> Drawn:
    """Adds or multiplies a tensor up to a number of times that is an argument."""
    shape = d.shape(highest=3)
    limit = d.argument((), "i32", low=-1, high=6, edges=0)
    value = d.argument(shape, element, low=0.5, high=1.5, edges=0)
    step = d.argument(shape, element, low=0.5, high=1.5, edges=0)
    zero = d.scalar(0, "i32")
    types = ", ".join(f"%{label}: {each}" for label, each in (("i", "tensor<i32>"), ("v", value.type)))
    op = d.pick(("add", "multiply"))
    condition = (
        f"{{\n  ^bb0({types}):\n"
        f"    %c = stablehlo.compare LT, %i, {limit.name} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        '    "stablehlo.return"(%c) : (tensor<i1>) -> ()\n  }'
    )
    loop = (
        f"{{\n  ^bb0({types}):\n    %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "    %n = stablehlo.add %i, %one : tensor<i32>\n"
        f"    %w = stablehlo.{op} %v, {step.name} : {value.type}\n"
        f'    "stablehlo.return"(%n, %w) : (tensor<i32>, {value.type}) -> ()\n  }}'
    )
    results = [((), "i32"), (shape, element)]
    return d.done(d.op(name, [zero, value], results, "", [condition, loop]))


def _branch(op: str, value: Value) -> str:
    return (
        f'{{\n    %b = "stablehlo.{op}"({value.name}, {value.name}) : ({value.type}, {value.type}) -> {value.type}\n'
        f'    "stablehlo.return"(%b) : ({value.type}) -> ()\n  }}'
    )


def _if(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(highest=3)
    condition, value = d.argument((), "i1"), d.argument(shape, element)
    regions = [_branch("add", value), _branch("subtract", value)]
    return d.done([d.one(name, [condition], shape, element, "", regions)])


def _case(d: Draw, name: str, element: str) -> Drawn:
    """An index out of range takes the last branch."""
    shape = d.shape(highest=3)
    index, value = d.argument((), "i32", low=-2, high=4, edges=10), d.argument(shape, element)
    regions = [_branch(op, value) for op in ("add", "subtract", "multiply")[: 1 + d.below(3)]]
    return d.done([d.one(name, [index], shape, element, "", regions)])


def _optimization_barrier(d: Draw, name: str, element: str) -> Drawn:
    values = [d.argument(d.shape(), element) for _ in range(2)]
    return d.done(d.op(name, values, [(value.shape, value.element) for value in values]))


def _composite(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    values = [d.argument(shape, element) for _ in range(2)]
    type = tensor(shape, element)
    d.functions.append(
        f"func.func private @part(%a: {type}, %b: {type}) -> {type} {{\n"
        f"  %r = stablehlo.add %a, %b : {type}\n  return %r : {type}\n}}\n"
    )
    properties = 'name = "own.part", decomposition = @part, version = 0 : i32'
    return d.done([d.one(name, values, shape, element, properties)])


def _tuple(d: Draw, name: str, element: str) -> Drawn:
    """A tuple and what `get_tuple_element` takes from it: `name` is either."""
    del name
    values = [d.argument(d.shape(), element), d.argument(d.shape(), "i32")]
    types = ", ".join(value.type for value in values)
    names = ", ".join(value.name for value in values)
    at = len(d.lines)
    d.lines.append(f'%{at}:1 = "stablehlo.tuple"({names}) : ({types}) -> tuple<{types}>')
    results: list[Value] = []
    for index, value in enumerate(values):
        place = len(d.lines)
        d.lines.append(
            f'%{place}:1 = "stablehlo.get_tuple_element"(%{at}#0) <{{index = {index} : i32}}> '
            f": (tuple<{types}>) -> {value.type}"
        )
        results.append(Value(f"%{place}#0", value.shape, value.element))
    return d.done(results)


def _rng_bit_generator(d: Draw, name: str, element: str) -> Drawn:
    algorithm = d.pick(("THREE_FRY", "PHILOX"))
    words = 2 if algorithm == "THREE_FRY" else d.pick((2, 3))
    random = np.random.RandomState(d.below(1 << 31))
    state = d.given(random.randint(0, 1 << 62, words).astype(np.uint64), "ui64")
    shape = d.shape(highest=3)
    properties = f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>"
    return d.done(d.op(name, [state], [((words,), "ui64"), (shape, element)], properties))


def _rng(d: Draw, name: str, element: str) -> Drawn:
    """Uniform numbers of an interval that holds one: what else comes out is up to the implementation."""
    shape = d.shape(highest=2)
    low = d.scalar(3, element)
    high = d.scalar(3 if is_float(element) else 4, element)
    sizes = d.constant(np.array(shape, np.int64), "i64")
    return d.done(
        [d.one(name, [low, high, sizes], shape, element, "rng_distribution = #stablehlo<rng_distribution UNIFORM>")]
    )


_GROUP = "replica_groups = dense<0> : tensor<1x1xi64>"


def _collective(properties: str, region: bool = False) -> Drawer:
    def draw(d: Draw, name: str, element: str) -> Drawn:
        shape = d.shape(lowest=1, highest=3)
        value = d.argument(shape, element, edges=0)
        regions = [body("stablehlo.add", element)] if region else []
        return d.done([d.one(name, [value], shape, element, properties, regions)])

    return draw


def _own_number(d: Draw, name: str, element: str) -> Drawn:
    return d.done([d.one(name, [], (), element)])


def _token(d: Draw, name: str, element: str) -> Drawn:
    """Tokens order effects; there are none here."""
    value = d.argument(d.shape(highest=2), element)
    d.lines.append('%t0 = "stablehlo.create_token"() : () -> !stablehlo.token')
    if name == "stablehlo.after_all":
        d.lines.append('%t1 = "stablehlo.after_all"(%t0) : (!stablehlo.token) -> !stablehlo.token')
    return d.done([value])


def _dimension_size(d: Draw, name: str, element: str) -> Drawn:
    """The size that a bounded dimension is set to is asked back."""
    extent = 1 + d.below(6)
    value = d.argument((8, 3), element)
    size = d.constant(np.array(extent, np.int64), "i32")
    at = len(d.lines)
    bounded = f"tensor<?x3x{element}, #stablehlo.bounds<8, ?>>"
    d.lines.append(
        f'%{at}:1 = "{name}"({value.name}, {size.name}) <{{dimension = 0 : i64}}> '
        f": ({value.type}, {size.type}) -> {bounded}"
    )
    place = len(d.lines)
    d.lines.append(
        f'%{place}:1 = "stablehlo.get_dimension_size"(%{at}#0) <{{dimension = 0 : i64}}> : ({bounded}) -> tensor<i32>'
    )
    return d.done([Value(f"%{place}#0", (), "i32")])


_SOME = ("f32", "i32")
CONTROL: dict[str, Entry] = {
    "stablehlo.while": Entry(_while, ("f32", "i32", "f64")),
    "stablehlo.if": Entry(_if, ("f32", "i32")),
    "stablehlo.case": Entry(_case, ("f32", "i32")),
    "stablehlo.optimization_barrier": Entry(_optimization_barrier, ("f32", "i1")),
    "stablehlo.composite": Entry(_composite, _SOME),
    "stablehlo.tuple": Entry(_tuple, _SOME),
    "stablehlo.get_tuple_element": Entry(_tuple, _SOME),
    "stablehlo.rng_bit_generator": Entry(_rng_bit_generator, ("ui32", "ui64", "ui8", "ui16")),
    "stablehlo.rng": Entry(_rng, ("f32", "i32", "f64")),
    "stablehlo.all_gather": Entry(_collective(f"all_gather_dim = 0 : i64, {_GROUP}"), _SOME),
    "stablehlo.all_reduce": Entry(_collective(_GROUP, region=True), _SOME),
    "stablehlo.all_to_all": Entry(
        _collective(f"split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, {_GROUP}"), _SOME
    ),
    "stablehlo.reduce_scatter": Entry(_collective(f"scatter_dimension = 0 : i64, {_GROUP}", region=True), _SOME),
    "stablehlo.collective_permute": Entry(_collective("source_target_pairs = dense<0> : tensor<1x2xi64>"), _SOME),
    "stablehlo.collective_broadcast": Entry(_collective(_GROUP), _SOME),
    "stablehlo.collective_reduce": Entry(_collective(_GROUP, region=True), _SOME),
    "stablehlo.replica_id": Entry(_own_number, ("ui32",)),
    "stablehlo.partition_id": Entry(_own_number, ("ui32",)),
    "stablehlo.create_token": Entry(_token, ("f32",)),
    "stablehlo.after_all": Entry(_token, ("f32",)),
    "stablehlo.set_dimension_size": Entry(_dimension_size, _SOME),
}
