"""Random programs of scf and cf on tensors and scalars, with the values that reading them step by step gives.

`programs()` is a hypothesis strategy. A program is a module as text and a Python function that computes the same: every
generated operation is a line of MLIR and a closure over an environment of numpy values. Loops are bounded; floats only
meet additions, subtractions, minima and maxima, so that rounding stays relative to the largest value seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

Env = dict[str, Any]
Step = Callable[[Env], None]
Value = tuple[str, str]
"""A name and its type."""
Block = tuple[str, list[Value]]
"""A label and its arguments."""

TENSORS = ("tensor<4xf32>", "tensor<2x3xi32>", "tensor<f32>", "tensor<3xi1>", "tensor<0x2xi32>", "tensor<2xf64>")
SCALARS = ("f32", "i32", "i1", "i64", "f64")
TYPES = (*TENSORS, *SCALARS)
DTYPES = {"f32": np.float32, "i32": np.int32, "i1": np.bool_, "i64": np.int64, "f64": np.float64}


def element(type: str) -> str:
    return type.removesuffix(">").rpartition("x" if "x" in type else "<")[2]


def shape(type: str) -> tuple[int, ...]:
    return tuple(int(n) for n in type.removeprefix("tensor<").split("x")[:-1]) if "x" in type else ()


def sample(type: str, seed: int) -> Any:
    """A small value of `type`."""
    values = np.random.default_rng(seed).integers(-4, 5, shape(type))
    dtype = DTYPES[element(type)]
    return np.asarray(values > 0 if dtype is np.bool_ else values).astype(dtype)


class Source:
    """Choices, drawn from hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self._names = 0

    def below(self, limit: int) -> int:
        return self._draw(st.integers(0, limit - 1))

    def one(self, items: Sequence[Any]) -> Any:
        return items[self.below(len(items))]

    def name(self) -> str:
        self._names += 1
        return f"%v{self._names}"


@dataclass
class Function:
    """A finished function: what calls need, its text, and how it computes."""

    name: str
    inputs: list[str]
    outputs: list[str]
    text: str
    run: Callable[[Sequence[Any]], list[Any]]


@dataclass
class Body:
    """Lines and steps that are being written; `scope` are the values that may be used."""

    source: Source
    scope: list[Value]
    functions: list[Function]
    depth: int
    lines: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def add(self, types: Sequence[str], line: str, step: Callable[[Env], Sequence[Any]]) -> list[Value]:
        """An operation with results of `types`, whose values `step` computes."""
        base = self.source.name()
        results = [(base if len(types) == 1 else f"{base}#{i}", type) for i, type in enumerate(types)]
        names = {0: "", 1: f"{base} = "}.get(len(types), f"{base}:{len(types)} = ")
        self.lines.append(names + line)

        def run(env: Env) -> None:
            for (name, type), value in zip(results, step(env), strict=True):
                env[name] = np.asarray(value).astype(DTYPES.get(element(type), np.int64))

        self.steps.append(run)
        self.scope.extend(results)
        return results

    def pick(self, type: str) -> Value:
        """A value of `type`: one in scope, the newest preferred, or a new constant."""
        fitting = [value for value in self.scope if value[1] == type]
        if fitting and self.source.below(8):
            return fitting[-1 - self.source.below(min(len(fitting), 4))]
        return self.constant(type)

    def constant(self, type: str) -> Value:
        value = sample(type, self.source.below(100))
        if type.startswith("tensor"):
            text = f"dense<{np.array2string(value, separator=', ')}> : {type}" if value.size else f"dense<> : {type}"
            text = text.replace("True", "true").replace("False", "false").replace("\n", "")
            if "f" in element(type):
                text = text.replace(".,", ".0,").replace(".]", ".0]").replace(".>", ".0>")
        elif type == "i1":
            text = str(bool(value)).lower()
        else:
            text = f"{float(value) if 'f' in type else int(value)} : {type}"
        return self.add([type], f"arith.constant {text}", lambda _: [value])[0]

    def child(self, arguments: Sequence[Value] = ()) -> Body:
        return Body(self.source, [*self.scope, *arguments], self.functions, self.depth - 1)

    def run(self, env: Env) -> Env:
        for step in self.steps:
            step(env)
        return env


def arithmetic(body: Body) -> None:
    """A binary operation on two values of one type."""
    type = body.source.one(TYPES)
    a, b = body.pick(type), body.pick(type)
    tables: dict[str, dict[str, Callable[[Any, Any], Any]]] = {
        "f": {"addf": np.add, "subf": np.subtract, "maximumf": np.maximum, "minimumf": np.minimum},
        "i": {"addi": np.add, "subi": np.subtract, "muli": np.multiply, "xori": np.bitwise_xor, "maxsi": np.maximum},
        "i1": {"andi": np.logical_and, "xori": np.logical_xor, "ori": np.logical_or},
    }
    table = tables[element(type) if element(type) == "i1" else element(type)[0]]
    name = body.source.one(sorted(table))
    body.add([type], f"arith.{name} {a[0]}, {b[0]} : {type}", lambda env: [table[name](env[a[0]], env[b[0]])])


def compare(body: Body) -> None:
    type = body.source.one(("f32", "i32", "i64"))
    a, b = body.pick(type), body.pick(type)
    line = f"arith.cmp{type[0]} {'olt' if type[0] == 'f' else 'slt'}, {a[0]}, {b[0]} : {type}"
    body.add(["i1"], line, lambda env: [env[a[0]] < env[b[0]]])


def select(body: Body) -> None:
    type = body.source.one(TYPES)
    p, a, b = body.pick("i1"), body.pick(type), body.pick(type)
    line = f"arith.select {p[0]}, {a[0]}, {b[0]} : {type}"
    body.add([type], line, lambda env: [env[a[0]] if env[p[0]] else env[b[0]]])


def extract(body: Body) -> None:
    type = body.source.one([t for t in TENSORS if 0 not in shape(t)])
    tensor, place = body.pick(type), tuple(body.source.below(n) for n in shape(type))
    indices = [index(body, n) for n in place]
    line = f"tensor.extract {tensor[0]}[{', '.join(indices)}] : {type}"
    body.add([element(type)], line, lambda env: [env[tensor[0]][place]])


def insert(body: Body) -> None:
    type = body.source.one([t for t in TENSORS if 0 not in shape(t)])
    tensor, scalar = body.pick(type), body.pick(element(type))
    place = tuple(body.source.below(n) for n in shape(type))
    line = f"tensor.insert {scalar[0]} into {tensor[0]}[{', '.join(index(body, n) for n in place)}] : {type}"

    def step(env: Env) -> list[Any]:
        copy = np.array(env[tensor[0]])
        copy[place] = env[scalar[0]]
        return [copy]

    body.add([type], line, step)


def splat(body: Body) -> None:
    type = body.source.one(TENSORS)
    scalar = body.pick(element(type))
    line = f"tensor.splat {scalar[0]} : {type}"
    body.add([type], line, lambda env: [np.full(shape(type), env[scalar[0]])])


def index(body: Body, number: int) -> str:
    return body.add(["index"], f"arith.constant {number} : index", lambda _: [number])[0][0]


def call(body: Body) -> None:
    if body.functions:
        callee = body.source.one(body.functions)
        given = [body.pick(type) for type in callee.inputs]
        types, outputs = ", ".join(callee.inputs), ", ".join(callee.outputs)
        line = f"func.call @{callee.name}({', '.join(n for n, _ in given)}) : ({types}) -> ({outputs})"
        body.add(callee.outputs, line, lambda env: callee.run([env[n] for n, _ in given]))


def region(body: Body, types: Sequence[str], arguments: Sequence[Value] = (), size: int = 3) -> tuple[str, Any]:
    """A region that yields values of `types`: its text, and a function of the environment."""
    inner = body.child(arguments)
    fill(inner, 1 + body.source.below(size))
    yielded = [inner.pick(type) for type in types]
    listed = f" {', '.join(n for n, _ in yielded)} : {', '.join(types)}" if types else ""
    lines = [*inner.lines, f"scf.yield{listed}"]

    def run(env: Env) -> list[Any]:
        result = inner.run(dict(env))
        return [result[name] for name, _ in yielded]

    return "{\n" + "".join(f"  {line}\n" for line in lines) + "}", run


def some_types(source: Source, least: int = 0) -> list[str]:
    return [source.one(TYPES) for _ in range(least + source.below(3))]


def signature(types: Sequence[str]) -> str:
    return f" -> ({', '.join(types)})" if types else ""


def branch_if(body: Body) -> None:
    types, p = some_types(body.source), body.pick("i1")
    then, run_then = region(body, types)
    other, run_other = region(body, types)
    line = f"scf.if {p[0]}{signature(types)} {then} else {other}"
    body.add(types, line, lambda env: run_then(env) if env[p[0]] else run_other(env))


def switch_index(body: Body) -> None:
    types, number = some_types(body.source), body.pick("i32")
    cast = body.add(["index"], f"arith.index_cast {number[0]} : i32 to index", lambda env: [env[number[0]]])[0][0]
    default, run_default = region(body, types)
    cases = {key: region(body, types) for key in range(body.source.below(3))}
    text = "".join(f"case {key} {text}\n" for key, (text, _) in cases.items())
    line = f"scf.index_switch {cast}{signature(types)}\n{text}default {default}"

    def step(env: Env) -> list[Any]:
        found = cases.get(int(env[cast]))
        return (found[1] if found else run_default)(env)

    body.add(types, line, step)


def loop_for(body: Body) -> None:
    types, trips = some_types(body.source), body.source.below(4)
    start, stop, one = index(body, 0), index(body, trips), index(body, 1)
    initial = [body.pick(type) for type in types]
    arguments = [(body.source.name(), type) for type in types]
    counter = body.source.name()
    text, run = region(body, types, [*arguments, (counter, "index")])
    given = ", ".join(f"{a} = {i}" for (a, _), (i, _) in zip(arguments, initial, strict=True))
    carried = f" iter_args({given}) -> ({', '.join(types)})" if types else ""

    def step(env: Env) -> list[Any]:
        values = [env[name] for name, _ in initial]
        for trip in range(trips):
            values = run({**env, counter: trip, **dict(zip((a for a, _ in arguments), values, strict=True))})
        return values

    body.add(types, f"scf.for {counter} = {start} to {stop} step {one}{carried} {text}", step)


def loop_while(body: Body) -> None:
    """Counts down from a small number; what it carries besides changes as it likes."""
    types, trips = ["i32", *some_types(body.source)], body.source.below(4)
    initial = [body.add(["i32"], f"arith.constant {trips} : i32", lambda _: [trips])[0]]
    initial += [body.pick(type) for type in types[1:]]
    before = [(body.source.name(), type) for type in types]
    after = [(body.source.name(), type) for type in types]
    head = body.child(before)
    fill(head, body.source.below(2))
    zero = head.add(["i32"], "arith.constant 0 : i32", lambda _: [0])[0][0]
    more = head.add(["i1"], f"arith.cmpi sgt, {before[0][0]}, {zero} : i32", lambda env: [env[before[0][0]] > 0])[0][0]
    passed = [before[0], *(head.pick(type) for type in types[1:])]
    listed, joined = ", ".join(n for n, _ in passed), ", ".join(types)
    tail = body.child(after)
    one = tail.add(["i32"], "arith.constant 1 : i32", lambda _: [1])[0][0]
    line = f"arith.subi {after[0][0]}, {one} : i32"
    less = tail.add(["i32"], line, lambda env: [env[after[0][0]] - 1])[0]
    fill(tail, 1 + body.source.below(3))
    yielded = [less, *(tail.pick(type) for type in types[1:])]
    given = ", ".join(f"{b} = {i}" for (b, _), (i, _) in zip(before, initial, strict=True))
    labels = ", ".join(f"{n}: {t}" for n, t in after)
    text = (
        f"scf.while ({given}) : ({joined}) -> ({joined}) {{\n"
        + "".join(f"  {line}\n" for line in [*head.lines, f"scf.condition({more}) {listed} : {joined}"])
        + f"}} do {{\n^bb0({labels}):\n"
        + "".join(f"  {x}\n" for x in [*tail.lines, f"scf.yield {', '.join(n for n, _ in yielded)} : {joined}"])
        + "}"
    )

    def step(env: Env) -> list[Any]:
        values = [env[name] for name, _ in initial]
        while True:
            seen = head.run({**env, **dict(zip((n for n, _ in before), values, strict=True))})
            values = [seen[name] for name, _ in passed]
            if not seen[more]:
                return values
            done = tail.run({**env, **dict(zip((n for n, _ in after), values, strict=True))})
            values = [done[name] for name, _ in yielded]

    body.add(types, text, step)


SIMPLE = (arithmetic, arithmetic, compare, select, extract, insert, splat, call)
NESTED = (branch_if, switch_index, loop_for, loop_while)


def fill(body: Body, count: int) -> None:
    """Appends operations."""
    for _ in range(count):
        kinds = (*SIMPLE, *NESTED, *NESTED) if body.depth > 0 else SIMPLE
        body.source.one(kinds)(body)


def results_of(body: Body) -> list[Value]:
    """What a function returns: values of its scope, the same one twice or an argument as it came included."""
    known = [value for value in body.scope if value[1] in TYPES]
    return [body.source.one(known) for _ in range(body.source.below(4))] if known else []


def structured(source: Source, name: str, functions: list[Function], visibility: str) -> Function:
    """A function of one block."""
    arguments = [(f"%a{i}", type) for i, type in enumerate(some_types(source, 1))]
    body = Body(source, list(arguments), functions, 2)
    fill(body, 1 + source.below(5))
    results = results_of(body)
    outputs = [type for _, type in results]
    listed = f" {', '.join(n for n, _ in results)} : {', '.join(outputs)}" if results else ""
    text = _function_text(name, visibility, arguments, outputs, [*body.lines, f"return{listed}"])

    def run(values: Sequence[Any]) -> list[Any]:
        env = body.run(dict(zip((n for n, _ in arguments), values, strict=True)))
        return [env[n] for n, _ in results]

    return Function(name, [t for _, t in arguments], outputs, text, run)


def _function_text(
    name: str, visibility: str, arguments: Sequence[Value], outputs: Sequence[str], lines: Sequence[str]
) -> str:
    listed = ", ".join(f"{n}: {t}" for n, t in arguments)
    return f"func.func {visibility} @{name}({listed}){signature(outputs)} {{\n" + "\n".join(lines) + "\n}\n"


@dataclass
class _Graph:
    """The blocks of a function in `cf` form: each a label, its arguments, and what it does."""

    source: Source
    entry: Body
    blocks: list[Block]
    leave: Block

    def edge(self, body: Body, target: Block, fuel: Value) -> tuple[str, Callable[[Env], list[Any]]]:
        """`^label(values : types)`, and the values; the first argument of a block but the last is the fuel."""
        label, arguments = target
        given = [fuel if position == 0 and target is not self.leave else body.pick(type)
                 for position, (_, type) in enumerate(arguments)]  # fmt: skip
        types = ", ".join(type for _, type in arguments)
        text = f"^{label}({', '.join(n for n, _ in given)} : {types})" if given else f"^{label}"
        return text, lambda env: [env[n] for n, _ in given]

    def jump(self, body: Body, fuel: Value) -> tuple[str, Callable[[Env], tuple[Block, list[Any]]]]:
        """A random branch: its text, and where it goes with what."""
        kind = self.source.below(3)
        targets = [self.source.one([*self.blocks, self.leave]) for _ in range(kind + 1 + (kind == 2))]
        flag = body.pick("i1") if kind == 1 else body.pick("i32")
        edges = [self.edge(body, target, fuel) for target in targets]
        if kind == 0:
            return f"cf.br {edges[0][0]}", lambda env: (targets[0], edges[0][1](env))
        if kind == 1:
            text = f"cf.cond_br {flag[0]}, {edges[0][0]}, {edges[1][0]}"
            keys = {True: 0}
        else:
            keys = {0: 1, -1: 2, 3: 3}
            cases = "".join(f", {key}: {edges[number][0]}" for key, number in keys.items())
            text = f"cf.switch {flag[0]} : i32, [default: {edges[0][0]}{cases}]"
        other = 1 if kind == 1 else 0

        def go(env: Env) -> tuple[Block, list[Any]]:
            number = keys.get(bool(env[flag[0]]) if kind == 1 else int(env[flag[0]]), other)
            return targets[number], edges[number][1](env)

        return text, go


def branching(source: Source, name: str, functions: list[Function], visibility: str) -> Function:
    """A function of several blocks that jump to each other at will, as long as the fuel lasts."""
    arguments = [(f"%a{i}", type) for i, type in enumerate(some_types(source, 1))]
    entry = Body(source, list(arguments), functions, 1)
    fuel = entry.add(["i32"], "arith.constant 6 : i32", lambda _: [6])[0]
    fill(entry, source.below(3))
    blocks: list[Block] = [
        (f"b{i}", [(source.name(), "i32"), *((source.name(), t) for t in some_types(source))])
        for i in range(1 + source.below(3))
    ]
    outputs = some_types(source)
    leave: Block = ("leave", [(source.name(), type) for type in outputs])
    graph = _Graph(source, entry, blocks, leave)
    first, go = graph.jump(entry, fuel)
    shared = list(entry.scope)
    lines = [*entry.lines, first]
    code: dict[str, tuple[Body, Callable[[Env], tuple[Block, list[Any]]]]] = {}
    for block in blocks:
        text, code[block[0]] = _block(graph, block, shared)
        lines += text
    listed = ", ".join(f"{n}: {t}" for n, t in leave[1])
    returned = f" {', '.join(n for n, _ in leave[1])} : {', '.join(outputs)}" if outputs else ""
    lines += [f"^leave({listed}):" if outputs else "^leave:", f"return{returned}"]

    def run(values: Sequence[Any]) -> list[Any]:
        env = entry.run(dict(zip((n for n, _ in arguments), values, strict=True)))
        target, passed = go(env)
        while target is not leave:
            env.update(zip((n for n, _ in target[1]), passed, strict=True))
            body, leap = code[target[0]]
            target, passed = leap(body.run(env))
        return passed

    text = _function_text(name, visibility, arguments, outputs, lines)
    return Function(name, [t for _, t in arguments], outputs, text, run)


def _block(graph: _Graph, block: Block, shared: list[Value]) -> tuple[list[str], Any]:
    """The lines of a block and of the one that it goes on in while there is fuel; its body and its jump."""
    label, arguments = block
    body = Body(graph.source, [*shared, *arguments], graph.entry.functions, 1)
    one = body.add(["i32"], "arith.constant 1 : i32", lambda _: [1])[0][0]
    fuel = arguments[0][0]
    less = body.add(["i32"], f"arith.subi {fuel}, {one} : i32", lambda env: [env[fuel] - 1])[0]
    zero = body.add(["i32"], "arith.constant 0 : i32", lambda _: [0])[0][0]
    more = body.add(["i1"], f"arith.cmpi sgt, {less[0]}, {zero} : i32", lambda env: [env[less[0]] > 0])[0][0]
    fill(body, graph.source.below(4))
    out, out_values = graph.edge(body, graph.leave, less)
    mark = len(body.lines)
    onward = Body(graph.source, list(body.scope), body.functions, 1)
    fill(onward, graph.source.below(2))
    jump, go = graph.jump(onward, less)
    listed = ", ".join(f"{n}: {t}" for n, t in arguments)
    lines = [f"^{label}({listed}):", *body.lines[:mark], f"cf.cond_br {more}, ^{label}_on, {out}"]
    lines += [f"^{label}_on:", *onward.lines, jump]

    def leap(env: Env) -> tuple[Block, list[Any]]:
        return go(onward.run(env)) if env[more] else (graph.leave, out_values(env))

    return lines, (body, leap)


@dataclass
class Program:
    """`main` of `text` takes `inputs` and returns `results`."""

    text: str
    inputs: list[Any]
    results: list[Any]


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Program:
    """A module of up to three functions that call each other, the last one called `main`."""
    source = Source(draw)
    functions: list[Function] = []
    count = 1 + source.below(3)
    for number in range(count):
        make = source.one((structured, branching))
        name = "main" if number == count - 1 else f"f{number}"
        visibility = "" if name == "main" or source.below(2) else "private"
        functions.append(make(source, name, list(functions), visibility))
    main = functions[-1]
    inputs = [sample(type, source.below(100)) for type in main.inputs]
    with np.errstate(over="ignore"):
        results = main.run(inputs)
    return Program("".join(function.text for function in functions), inputs, results)
