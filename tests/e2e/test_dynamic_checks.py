"""Sizes that disagree: an error names argument, dimension, both sizes and the operation before any kernel runs.

Sixty generated functions, each with a pair of operands whose `?` sizes must be equal, called with sizes that are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.runtime.errors import StatusError

BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "atan2", "remainder")
TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i8": np.int8, "i64": np.int64}


@dataclass(frozen=True)
class Program:
    """`text` is a function; calling it with `inputs` must fail with all of `said` in the message."""

    text: str
    inputs: tuple[np.ndarray, ...]
    said: tuple[str, ...]


def tensor(shape: Sequence[int | str], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Generator:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(60)

    def sizes(self, rank: int) -> list[int]:
        return [int(size) for size in self.rng.integers(0, 9, rank)]

    def other(self, size: int) -> int:
        """Another size, 0 and 1 among them."""
        return int(self.rng.choice([n for n in range(9) if n != size]))

    def element(self, floats: bool = False) -> str:
        return str(self.rng.choice(["f32", "f64"] if floats else list(TYPES)))

    def zeros(self, shape: Sequence[int], element: str) -> np.ndarray:
        return np.zeros(shape, TYPES[element])

    def elementwise(self, name: str) -> Program:
        op = str(self.rng.choice(BINARY))
        element = self.element(op in ("power", "atan2", "divide", "remainder"))
        rank = int(self.rng.integers(1, 4))
        known = [bool(n) for n in self.rng.integers(0, 2, rank)]
        wrong = int(self.rng.integers(0, rank))
        known[wrong] = False
        a = self.sizes(rank)
        b = [self.other(size) if d == wrong else size for d, size in enumerate(a)]
        type = tensor([size if fixed else "?" for size, fixed in zip(a, known, strict=True)], element)
        text = f"""func.func @{name}(%x: {type}, %y: {type}) -> {type} {{
  %0 = stablehlo.{op} %x, %y : {type}
  return %0 : {type}
}}
"""
        said = (f"@{name}", "argument 2 (%y)", f"dimension {wrong}", f"stablehlo.{op} at", *both(a, b, wrong))
        return Program(text, (self.zeros(a, element), self.zeros(b, element)), said)

    def against_known(self, name: str) -> Program:
        """One operand's size stands in its type."""
        element = self.element()
        size = int(self.rng.integers(1, 9))
        given = self.other(size)
        first, second = ("?", size) if self.rng.integers(2) else (size, "?")
        types = tensor([first], element), tensor([second], element)
        inputs = [self.zeros([given if s == "?" else size], element) for s in (first, second)]
        text = f"""func.func @{name}(%x: {types[0]}, %y: {types[1]}) -> {tensor([size], element)} {{
  %0 = "stablehlo.add"(%x, %y) : ({types[0]}, {types[1]}) -> {tensor([size], element)}
  return %0 : {tensor([size], element)}
}}
"""
        number = 1 if first == "?" else 2
        return Program(text, tuple(inputs), (f"argument {number}", "dimension 0", *both([size], [given], 0)))

    def product(self, name: str) -> Program:
        """Contracted, or batch, sizes."""
        n, k, m, b = self.sizes(4)
        wrong_batch = bool(self.rng.integers(2))
        k2, b2 = (k, self.other(b)) if wrong_batch else (self.other(k), b)
        text = f"""func.func @{name}(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {{
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}}
"""
        inputs = self.zeros([b, n, k], "f32"), self.zeros([b2, k2, m], "f32")
        wrong = both([b], [b2], 0) if wrong_batch else both([k], [k2], 0)
        return Program(text, inputs, ("argument 2 (%y)", f"dimension {0 if wrong_batch else 1}", *wrong))

    def select(self, name: str) -> Program:
        a = self.sizes(2)
        wrong = int(self.rng.integers(0, 2))
        c = [self.other(size) if d == wrong else size for d, size in enumerate(a)]
        text = f"""func.func @{name}(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>)
    -> tensor<?x?xf32> {{
  %0 = stablehlo.compare LT, %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
  %1 = stablehlo.select %0, %x, %z : tensor<?x?xi1>, tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}}
"""
        x, z = self.zeros(a, "f32"), self.zeros(c, "f32")
        return Program(text, (x, x, z), ("argument 3 (%z)", f"dimension {wrong}", *both(a, c, wrong)))

    def joined(self, name: str) -> Program:
        """The other dimensions of a concatenation."""
        a = self.sizes(2)
        b = [int(self.rng.integers(0, 9)), self.other(a[1])]
        text = f"""func.func @{name}(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {{
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}}
"""
        said = ("argument 2 (%y)", "dimension 1", "stablehlo.concatenate at", *both(a, b, 1))
        return Program(text, (self.zeros(a, "f32"), self.zeros(b, "f32")), said)

    def computed(self, name: str) -> Program:
        """A size that is a sum of others."""
        a, b = self.sizes(2)
        c = self.other(a + b)
        text = f"""func.func @{name}(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {{
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.add %0, %z : tensor<?xf32>
  return %1 : tensor<?xf32>
}}
"""
        inputs = tuple(self.zeros([size], "f32") for size in (a, b, c))
        return Program(text, inputs, ("argument 3 (%z)", "dimension 0", "stablehlo.add at", *both([a + b], [c], 0)))


def both(wanted: Sequence[int], given: Sequence[int], dim: int) -> tuple[str, str]:
    return f"expected {wanted[dim]}", f"have {given[dim]}"


def programs() -> list[Program]:
    make = Generator()
    kinds = [make.elementwise] * 5 + [make.against_known, make.product, make.select, make.joined, make.computed]
    return [kinds[number % len(kinds)](f"f{number}") for number in range(60)]


PROGRAMS = programs()


@pytest.fixture(scope="module")
def module() -> bytes:
    return tiree.compile("".join(program.text for program in PROGRAMS))


@iree.needs_iree
def test_every_pair_that_disagrees_is_named(module: bytes) -> None:
    loaded = rt.load(module)
    wrong: list[str] = []
    for number, program in enumerate(PROGRAMS):
        for runner in ("tiree", "iree"):
            try:
                if runner == "tiree":
                    getattr(loaded, f"f{number}")(*program.inputs)
                else:
                    iree.call(module, f"f{number}", program.inputs, "local-sync")
            except Exception as error:
                missing = [
                    said
                    for said in ("INVALID_ARGUMENT", *program.said)
                    if not re.search(_word(said), getattr(error, "status", str(error)))
                ]
                if missing:
                    wrong.append(f"{runner} f{number}: {missing} not in {error}")
            else:
                wrong.append(f"{runner} f{number}: no error for\n{program.text}")
    assert not wrong, "\n".join(wrong)


def _word(text: str) -> str:
    """`text`, not as the beginning of a longer number."""
    return re.escape(text) + (r"(?!\d)" if text[-1].isdigit() else "")


def test_sizes_that_agree_pass(module: bytes) -> None:
    loaded = rt.load(module)
    for number, program in enumerate(PROGRAMS):
        if (
            "stablehlo.concatenate" in program.text
            or "dot_general" in program.text
            or '"stablehlo.add"' in program.text
        ):
            continue
        first = program.inputs[0]
        result = getattr(loaded, f"f{number}")(*[first] * len(program.inputs))
        assert np.asarray(result).shape == first.shape


def test_a_wrong_rank_is_refused() -> None:
    loaded = rt.load(tiree.compile(PROGRAMS[0].text))
    rank = PROGRAMS[0].inputs[0].ndim
    given = np.zeros([2] * (rank + 1), PROGRAMS[0].inputs[0].dtype)
    with pytest.raises(Exception, match=r'argument 1 \("x"\) has shape'):
        loaded.f0(given, given)


def test_sums_on_both_sides_are_about_one_argument() -> None:
    text = """
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.concatenate %z, %w, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = stablehlo.add %0, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}
"""
    loaded = rt.load(tiree.compile(text))
    ones = [np.ones(size, np.float32) for size in (2, 3, 1, 4)]
    assert np.asarray(loaded.f(*ones)).tolist() == [2.0] * 5
    said = r"argument 3 \(%z\) \+ dimension 0 of argument 4 \(%w\) must equal dimension 0 of argument 1"
    with pytest.raises(StatusError, match=said) as caught:
        loaded.f(*ones[:3], np.ones(6, np.float32))
    assert caught.value.code_name == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("kinds", "rows", "left"),
    [(("?", "?"), (4, 4), (1, 3, 4)), (("3", "?"), (3, 3), (2, 4, 3)), (("?", "3"), (5, 3), (1, 4, 5))],
)
def test_parts_that_do_not_fill_what_they_are_put_together_to(
    kinds: tuple[str, str], rows: tuple[int, int], left: tuple[int, int, int]
) -> None:
    """The numbers of the message are those of one part, and it says of which."""
    one, two = (f"tensor<{kind}x2xf32>" for kind in kinds)
    text = f"""func.func @f(%a: {one}, %b: {two}) -> tensor<7x2xf32> {{
  %0 = stablehlo.concatenate %a, %b, dim = 0 : ({one}, {two}) -> tensor<7x2xf32>
  return %0 : tensor<7x2xf32>
}}"""
    f = tiree.load(tiree.compile(text), device="local-sync").f
    argument, wanted, given = left
    with pytest.raises(StatusError) as caught:
        f(*(np.zeros((count, 2), np.float32) for count in rows))
    message = str(caught.value)
    assert "must equal 7 for stablehlo.concatenate at <input>:2:8" in message
    assert f"so dimension 0 of argument {argument} must be what the rest leaves" in message
    assert f"expected {wanted} but have {given}" in message


def test_set_dimension_size_that_changes_no_type() -> None:
    text = """func.func @main(%a: tensor<4x2xf32>, %s: tensor<i32>) -> tensor<4x2xf32> {
  %0 = stablehlo.set_dimension_size %a, %s, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}"""
    a = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(np.asarray(tiree.load(tiree.compile(text)).main(a, np.int32(2))), a)
