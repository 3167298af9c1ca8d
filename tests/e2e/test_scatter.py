"""scatter beyond small sizes against the specification's words in numpy, and against JAX; one copy, any threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(21)
NAMES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "i1": np.bool_,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}


@dataclass(frozen=True)
class Form:
    """Dimension numbers, as the specification names them, and shapes."""

    operand: Sequence[int]
    indices: Sequence[int]
    updates: Sequence[int]
    window: Sequence[int] = ()
    inserted: Sequence[int] = ()
    batching: Sequence[int] = ()
    indices_batching: Sequence[int] = ()
    to_operand: Sequence[int] = (0,)
    vector: int = 1
    unique: bool = False


FORMS = {
    "points": Form((1500,), (400, 1), (400,), inserted=(0,)),
    "points without a vector dimension": Form((700,), (30, 5), (30, 5), inserted=(0,), vector=2),
    "rows": Form((37, 129), (60, 1), (60, 129), window=(1,), inserted=(0,)),
    "wide rows": Form((9, 700), (120, 1), (120, 700), window=(1,), inserted=(0,)),
    "columns, window first": Form((130, 41), (50, 1), (130, 50), window=(0,), inserted=(1,), to_operand=(1,)),
    "boxes": Form((40, 50), (90, 2), (90, 7, 11), window=(1, 2), to_operand=(1, 0)),
    "many boxes": Form((300, 20), (900, 2), (900, 7, 3), window=(1, 2), to_operand=(0, 1)),
    "batches": Form((12, 90), (12, 80, 1), (12, 80), (), (1,), (0,), (0,), (1,), 2),
    "batches that cross": Form((30, 7, 12), (12, 8, 30, 1), (12, 8, 30), (), (1,), (0, 2), (2, 0), (1,), 3),
    "many batches": Form((64, 200), (64, 100, 1), (64, 100), (), (1,), (0,), (0,), (1,), 2),
    "one place": Form((), (5000, 0), (5000,), to_operand=(), vector=1),
    "one update": Form((90, 90), (1,), (90,), window=(0,), inserted=(0,), vector=0),
    "no index": Form((70, 80), (3, 0), (3, 70, 80), window=(1, 2), to_operand=(), vector=1),
    "unique points": Form((90000,), (60000, 1), (60000,), inserted=(0,), unique=True),
    "unique rows": Form((300, 200), (200, 1), (200, 200), window=(1,), inserted=(0,), unique=True),
    "many points": Form((5000,), (40000, 1), (40000,), inserted=(0,)),
}


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def text(form: Form, element: str, body: str, index: str = "i32", count: int = 1) -> str:
    """A program of one scatter; `body` has $old and $new, and gives %out."""
    operand, updates = tensor(form.operand, element), tensor(form.updates, element)
    scalar = tensor((), element)
    names = [f"%x{n}" for n in range(count)]
    sources = [f"%u{n}" for n in range(count)]
    old, new = [f"%a{n}" for n in range(count)], [f"%b{n}" for n in range(count)]
    types = ", ".join([operand] * count)
    lists = f"""update_window_dims = {list(form.window)}, inserted_window_dims = {list(form.inserted)},
      input_batching_dims = {list(form.batching)}, scatter_indices_batching_dims = {list(form.indices_batching)},
      scatter_dims_to_operand_dims = {list(form.to_operand)}, index_vector_dim = {form.vector}"""
    arguments = ", ".join(
        [
            *(f"{x}: {operand}" for x in names),
            f"%i: {tensor(form.indices, index)}",
            *(f"{u}: {updates}" for u in sources),
        ]
    )
    lines = "\n".join(
        body.replace("$old", a).replace("$new", b).replace("$T", scalar).replace("$n", str(n))
        for n, (a, b) in enumerate(zip(old, new, strict=True))
    )
    return f"""func.func @main({arguments}) -> ({types}) {{
  %r:{count} = "stablehlo.scatter"({", ".join([*names, "%i", *sources])}) <{{
    scatter_dimension_numbers = #stablehlo.scatter<{lists}>, unique_indices = {str(form.unique).lower()}}}> ({{
    ^bb0({", ".join(f"{v}: {scalar}" for v in [*old, *new])}):
      {lines}
      stablehlo.return {", ".join(f"%out{n}" for n in range(count))} : {", ".join([scalar] * count)}
  }}) : ({types}, {tensor(form.indices, index)}, {", ".join([updates] * count)}) -> ({types})
  return {", ".join(f"%r#{n}" for n in range(count))} : {types}
}}"""


ADD = "%out$n = stablehlo.add $old, $new : $T"
SET = "%out$n = stablehlo.add $new, $new : $T"


def reference(
    form: Form, operand: np.ndarray, indices: np.ndarray, updates: np.ndarray, combine: Callable[[Any, Any], Any]
) -> np.ndarray:
    """The specification of scatter, update by update."""
    result = operand.copy()
    batch_dims = [d for d in range(len(form.updates)) if d not in form.window]
    index_dims = [d for d in range(len(form.indices)) if d != form.vector]
    window_dims = [d for d in range(len(form.operand)) if d not in form.inserted and d not in form.batching]
    for at in np.ndindex(*[form.indices[d] for d in index_dims]):
        start = [0] * len(form.operand)
        for component, dim in enumerate(form.to_operand):
            place = list(at)
            if form.vector < len(form.indices):
                place.insert(form.vector, component)
            start[dim] = int(indices[tuple(place)])
        for dim, other in zip(form.batching, form.indices_batching, strict=True):
            start[dim] = at[index_dims.index(other)]
        sizes = [1] * len(form.operand)
        for dim, update in zip(window_dims, form.window, strict=True):
            sizes[dim] = form.updates[update]
        if any(s < 0 or s + n > whole for s, n, whole in zip(start, sizes, form.operand, strict=True)):
            continue
        where: list[Any] = [slice(None)] * len(form.updates)
        for dim, value in zip(batch_dims, at, strict=True):
            where[dim] = value
        box = tuple(slice(s, s + n) for s, n in zip(start, sizes, strict=True))
        window = updates[tuple(where)]
        dims = np.argsort(np.argsort([form.window[window_dims.index(d)] for d in window_dims])) if window_dims else ()
        shaped = np.transpose(window, dims).reshape(sizes) if window_dims else np.reshape(window, sizes)
        result[box] = combine(result[box], shaped)
    return result


def values(shape: Sequence[int], element: str) -> np.ndarray:
    type = NAMES[element]
    if type is np.bool_:
        return RNG.integers(0, 2, shape).astype(bool)
    if np.issubdtype(type, np.complexfloating):
        return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(type)
    return RNG.integers(0 if element == "ui8" else -50, 50, shape).astype(type)


def places(form: Form) -> np.ndarray:
    """Indices of which some are out of range on either side."""
    if form.unique:
        return RNG.permutation(form.operand[0])[: form.indices[0]].reshape(form.indices).astype(np.int32)
    found = np.zeros(form.indices, np.int32)
    along = np.moveaxis(found, form.vector, 0) if form.vector < len(form.indices) else found[np.newaxis]
    for component, dim in enumerate(form.to_operand):
        along[component] = RNG.integers(-2, form.operand[dim] + 2, along[component].shape)
    return found


def load(source: str, **options: Any) -> Any:
    return rt.load(tiree.compile(source, **options))


def same(got: Any, want: np.ndarray, element: str) -> None:
    exact = not element.startswith(("complex", "f"))
    tolerance = 0 if exact else 1e-5 if element != "f16" else 1e-2
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    form = FORMS[name]
    main = load(text(form, "f32", ADD)).main
    x, i, u = values(form.operand, "f32"), places(form), values(form.updates, "f32")
    if name == "one update":
        i[:] = 3
    same(main(x, i, u), reference(form, x, i, u, lambda a, b: a + b), "f32")


@pytest.mark.parametrize("element", [name for name in NAMES if name != "f32"])
def test_types(element: str) -> None:
    """Products with what is there, and values that replace it: of two to one place, the later."""
    form = FORMS["boxes"]
    multiply = "%out$n = stablehlo.multiply $old, $new : $T"
    replace = "%out$n = stablehlo.reshape $new : ($T) -> $T"
    x, i, u = values(form.operand, element), places(form), values(form.updates, element)
    ones = u / np.abs(u) if element.startswith("complex") else np.ones_like(u)
    same(load(text(form, element, replace)).main(x, i, u), reference(form, x, i, u, lambda _, b: b), element)
    same(load(text(form, element, multiply)).main(x, i, ones), reference(form, x, i, ones, lambda a, b: a * b), element)


def test_several_operands() -> None:
    """With a region that mixes them, and reads a value from outside."""
    form = FORMS["rows"]
    source = text(
        form, "f32", "%m$n = stablehlo.maximum %a0, $new : $T\n%out$n = stablehlo.add %m$n, %a1 : $T", count=2
    )
    x, y, i = values(form.operand, "f32"), values(form.operand, "f32"), places(form)
    u, v = values(form.updates, "f32"), values(form.updates, "f32")
    wanted = [x.copy(), y.copy()]
    for number, row in enumerate(i[:, 0]):
        if 0 <= row < form.operand[0]:
            a, b = wanted[0][row].copy(), wanted[1][row].copy()
            wanted[0][row] = np.maximum(a, u[number]) + b
            wanted[1][row] = np.maximum(a, v[number]) + b
    for got, want in zip(load(source).main(x, y, i, u, v), wanted, strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)


@pytest.mark.parametrize("index", ["ui8", "ui64", "i64", "i8"])
def test_index_types(index: str) -> None:
    form = FORMS["points"]
    types = {"ui8": np.uint8, "ui64": np.uint64, "i64": np.int64, "i8": np.int8}
    i = RNG.integers(0, 120, form.indices).astype(types[index])
    i[:3, 0] = np.array([-1, -128, 127]).astype(types[index])
    x, u = values(form.operand, "f32"), values(form.updates, "f32")
    main = load(text(form, "f32", ADD, index)).main
    same(main(x, i, u), reference(form, x, i, u, lambda a, b: a + b), "f32")


def test_threads_do_not_matter() -> None:
    """Sums in the order of the updates, bit by bit."""
    form = Form((3000, 40), (9000, 1), (9000, 40), window=(1,), inserted=(0,))
    x, u = np.zeros(form.operand, np.float32), RNG.standard_normal(form.updates).astype(np.float32)
    i = RNG.integers(0, 30, form.indices).astype(np.int32)
    wanted = x.copy()
    np.add.at(wanted, i[:, 0], u)
    module = tiree.compile(text(form, "f32", ADD))
    for device in ("local-sync", "local-task"):
        for _ in range(3):
            np.testing.assert_array_equal(np.asarray(rt.load(module, device=device).main(x, i, u)), wanted)


def test_work_in_the_size_of_the_updates(tmp_path: Path) -> None:
    """A hundred thousand updates of a million elements, which one pass for each element would not end today."""
    form = Form((1_000_000,), (100_000, 1), (100_000,), inserted=(0,))
    report = tmp_path / "report.json"
    module = tiree.compile(text(form, "i32", ADD), flags=[f"--tiree-report={report}"])
    x, i, u = values(form.operand, "i32"), places(form), values(form.updates, "i32")
    wanted = x.copy()
    inside = (i[:, 0] >= 0) & (i[:, 0] < len(x))
    np.add.at(wanted, i[inside, 0], u[inside])
    np.testing.assert_array_equal(np.asarray(rt.load(module).main(x, i, u)), wanted)
    assert "scalar-fallback" not in json.dumps(json.loads(report.read_text()))


def test_loops_update_in_place() -> None:
    """What a loop carries is changed where it is: one copy of the argument, before the loop."""
    jax = pytest.importorskip("jax", reason="its text is what is compiled")

    def program(x: Any, i: Any, u: Any) -> Any:
        def turn(n: Any, carried: Any) -> Any:
            return carried.at[i + n].add(u, mode="drop")

        return jax.lax.fori_loop(0, 5, turn, x)

    x, i = values((100, 64), "f32"), RNG.integers(0, 100, 80).astype(np.int32)
    u = values((80, 64), "f32")
    source = jax.jit(program).lower(x, i, u).as_text()
    np.testing.assert_allclose(np.asarray(load(source).main(x, i, u)), np.asarray(program(x, i, u)), rtol=1e-5)
    stream = bytes(tiree.compile(source, flags=["--compile-to=stream"])).decode()
    assert stream.count("stream.cmd.copy") == 1, stream
