"""Slices that are parts of other tensors' memory: no copy where none is needed, and the same values everywhere."""

from __future__ import annotations

import random

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.dialects.stream import ResourceAccess
from tiree.stream.schedule import SchedulePass
from tiree.stream.slice_views import SliceView, copy_costly_views
from tiree.stream.storage import Command, Range, Storage

from tests.stream.stream_harness import apply, iree_opt, print_module, read

READ, WRITE = int(ResourceAccess.READ), int(ResourceAccess.WRITE)

HEADS = """
func.func @main(%x: tensor<1x64xf32>, %w: tensor<64xWIDTHxf32>) -> (tensor<4x16xf32>RESULTS) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<1x64xf32>, tensor<64xWIDTHxf32>) -> tensor<1xWIDTHxf32>
  %a = stablehlo.slice %y [0:1, A:A64] : (tensor<1xWIDTHxf32>) -> tensor<1x64xf32>
  %b = stablehlo.slice %y [0:1, B:B64] : (tensor<1xWIDTHxf32>) -> tensor<1x64xf32>
  %c = stablehlo.slice %y [0:1, C:C64] : (tensor<1xWIDTHxf32>) -> tensor<1x64xf32>
  %q = stablehlo.reshape %a : (tensor<1x64xf32>) -> tensor<4x16xf32>
  %k = stablehlo.reshape %b : (tensor<1x64xf32>) -> tensor<4x16xf32>
  %v = stablehlo.reshape %c : (tensor<1x64xf32>) -> tensor<4x16xf32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1]
      : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x4xf32>
  %r = stablehlo.dot_general %s, %v, contracting_dims = [1] x [0]
      : (tensor<4x4xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %rMORE : tensor<4x16xf32>RESULTS
}
"""


def scheduled(text: str) -> str:
    return bytes(tiree.compile(text, flags=["--compile-to=stream"])).decode()


def heads(starts: tuple[int, int, int], width: int, more: str = "", results: str = "") -> str:
    text = HEADS.replace("RESULTS", results).replace("MORE", more).replace("WIDTH", str(width))
    for name, start in zip("ABC", starts, strict=True):
        text = text.replace(f"{name}64", str(start + 64)).replace(f"{name}:", f"{start}:")
    return text


@pytest.mark.parametrize(
    ("starts", "width", "copies"),
    [((0, 64, 128), 192, 0), ((64, 64, 0), 192, 0), ((0, 8, 80), 192, 1), ((1, 65, 129), 193, 3)],
)
def test_parts_of_a_projection_are_not_copied_where_bindings_are_aligned(
    starts: tuple[int, int, int], width: int, copies: int
) -> None:
    text = heads(starts, width)
    assert scheduled(text).count('"stream.cmd.copy"') == copies
    stream = np.random.default_rng(1)
    x, w = (stream.integers(-3, 4, shape).astype(np.float32) for shape in ((1, 64), (64, width)))
    q, k, v = ((x @ w)[:, start : start + 64].reshape(4, 16) for start in starts)
    np.testing.assert_array_equal(rt.load(tiree.compile(text)).main(x, w), q @ k.T @ v)


def test_a_result_that_is_a_part_is_a_copy_of_its_own() -> None:
    """A caller owns results whole, so those parts are copied, once each; the one that is only used inside is not."""
    text = heads((0, 64, 128), 192, ", %a, %b", ", tensor<1x64xf32>, tensor<1x64xf32>")
    assert scheduled(text).count('"stream.cmd.copy"') == 2
    x = np.ones((1, 64), np.float32)
    w = np.random.default_rng(2).integers(-3, 4, (64, 192)).astype(np.float32)
    _, a, b = rt.load(tiree.compile(text)).main(x, w)
    np.testing.assert_array_equal(a, (x @ w)[:, :64])
    np.testing.assert_array_equal(b, (x @ w)[:, 64:128])


def command(reads: list[Storage], writes: list[Storage]) -> Command:
    ranges = [Range(storage, storage.length) for storage in (*reads, *writes)]
    return Command("dispatch", ranges, [READ] * len(reads) + [WRITE] * len(writes))


def view(source: Storage, length: int, position: int) -> SliceView:
    result = Storage(length, inside=(source, 0))
    source.views.append(result)
    return SliceView(result, source, 0, position, None)


def test_a_small_view_does_not_keep_much_memory_alive_at_the_peak() -> None:
    large, other, end = Storage(1 << 20), Storage(1 << 20), Storage(64)
    part = view(large, 64, 1)
    commands = [command([], [large]), command([], [other]), command([other, part.result], [end])]
    assert copy_costly_views(commands, [part], lambda _: False) == [part]
    assert part.result.inside is None
    assert part.result.outermost() == (part.result, 0)


def test_a_view_stays_where_the_peak_is_elsewhere() -> None:
    large, small, end = Storage(1 << 20), Storage(64), Storage(64)
    part = view(large, 64, 1)
    commands = [command([], [large]), command([], [small]), command([small, part.result], [end])]
    assert copy_costly_views(commands, [part], lambda _: False) == []
    assert part.result.outermost() == (large, 0)


def test_a_view_of_a_view_becomes_a_copy_of_the_outer_one_alone_where_that_helps() -> None:
    large, other, end = Storage(1 << 20), Storage(1 << 20), Storage(64)
    half = view(large, 1 << 19, 1)
    part = view(half.result, 64, 2)
    commands = [command([], [large]), command([half.result], [other]), command([other, part.result], [end])]
    copied = copy_costly_views(commands, [half, part], lambda _: False)
    assert part in copied
    assert part.result.inside is None


def test_a_part_that_is_needed_after_the_run_keeps_no_whole_alive() -> None:
    large = Storage(1 << 20)
    part, rest = view(large, 64, 1), view(large, 64, 1)
    commands = [command([], [large]), command([rest.result], [Storage(64)])]

    def is_needed_later(storage: Storage) -> bool:
        return storage is part.result or any(one.inside is not None and is_needed_later(one) for one in storage.views)

    assert copy_costly_views(commands, [part, rest], is_needed_later) == [part]
    assert rest.result.inside is not None


class RandomProgram:
    """Rows of 16 f32 (64 bytes) that are multiplied, cut, put together and overwritten; with the values by numpy."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[np.ndarray] = []
        stream = np.random.default_rng(seed)
        self.inputs = [
            stream.integers(-1, 2, (8, 16)).astype(np.float32),
            np.asarray(np.eye(16)[stream.permutation(16)], np.float32),
        ]
        self._name(self.inputs[0])
        self.lines.append("%v0 = stablehlo.optimization_barrier %x : tensor<8x16xf32>")
        for _ in range(self.choose.randrange(4, 14)):
            self.choose.choice([self._product, self._slice, self._slice, self._update, self._concat, self._loop])()

    def _name(self, value: np.ndarray) -> str:
        self.values.append(value)
        return f"%v{len(self.values) - 1}"

    def _pick(self, least: int = 1) -> tuple[str, np.ndarray]:
        number = self.choose.choice([n for n, value in enumerate(self.values) if least <= len(value) <= 40])
        return f"%v{number}", self.values[number]

    def _product(self) -> None:
        name, value = self._pick()
        type = f"tensor<{len(value)}x16xf32>"
        result = self._name(value @ self.inputs[1])
        self.lines.append(
            f"{result} = stablehlo.dot_general {name}, %w, contracting_dims = [1] x [0]"
            f" : ({type}, tensor<16x16xf32>) -> {type}"
        )

    def _slice(self) -> None:
        name, value = self._pick(2)
        count = self.choose.randrange(1, len(value))
        start = self.choose.randrange(len(value) - count + 1)
        result = self._name(value[start : start + count])
        self.lines.append(
            f"{result} = stablehlo.slice {name} [{start}:{start + count}, 0:16]"
            f" : (tensor<{len(value)}x16xf32>) -> tensor<{count}x16xf32>"
        )

    def _update(self) -> None:
        name, value = self._pick(2)
        fitting = [n for n, part in enumerate(self.values) if len(part) < len(value)]
        if not fitting:
            return
        number = self.choose.choice(fitting)
        part = self.values[number]
        start = self.choose.randrange(len(value) - len(part) + 1)
        changed = value.copy()
        changed[start : start + len(part)] = part
        result = self._name(changed)
        self.lines.append(f"%i{len(self.lines)} = stablehlo.constant dense<{start}> : tensor<i32>")
        self.lines.append(
            f"{result} = stablehlo.dynamic_update_slice {name}, %v{number}, %i{len(self.lines) - 1}, %zero"
            f" : (tensor<{len(value)}x16xf32>, tensor<{len(part)}x16xf32>, tensor<i32>, tensor<i32>)"
            f" -> tensor<{len(value)}x16xf32>"
        )

    def _concat(self) -> None:
        (one, a), (two, b) = self._pick(), self._pick()
        result = self._name(np.concatenate([a, b]))
        self.lines.append(
            f"{result} = stablehlo.concatenate {one}, {two}, dim = 0"
            f" : (tensor<{len(a)}x16xf32>, tensor<{len(b)}x16xf32>) -> tensor<{len(a) + len(b)}x16xf32>"
        )

    def _loop(self) -> None:
        """Three turns; each multiplies the last row and puts the product in front."""
        name, value = self._pick(2)
        for _ in range(3):
            value = np.concatenate([value[-1:] @ self.inputs[1], value[:-1]])
        rows, result = len(value), self._name(value)
        type, tag = f"tensor<{rows}x16xf32>", f"l{len(self.lines)}"
        self.lines.append(f"""%{tag}:2 = stablehlo.while(%{tag}n = %zero, %{tag}x = {name}) : tensor<i32>, {type}
  cond {{
    %{tag}c = stablehlo.compare LT, %{tag}n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %{tag}c : tensor<i1>
  }} do {{
    %{tag}m = stablehlo.add %{tag}n, %one : tensor<i32>
    %{tag}s = stablehlo.slice %{tag}x [{rows - 1}:{rows}, 0:16] : ({type}) -> tensor<1x16xf32>
    %{tag}r = stablehlo.slice %{tag}x [0:{rows - 1}, 0:16] : ({type}) -> tensor<{rows - 1}x16xf32>
    %{tag}p = stablehlo.dot_general %{tag}s, %w, contracting_dims = [1] x [0]
        : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
    %{tag}y = stablehlo.concatenate %{tag}p, %{tag}r, dim = 0
        : (tensor<1x16xf32>, tensor<{rows - 1}x16xf32>) -> {type}
    stablehlo.return %{tag}m, %{tag}y : tensor<i32>, {type}
  }}""")
        self.lines.append(f"{result} = stablehlo.optimization_barrier %{tag}#1 : {type}")

    def text(self) -> tuple[str, list[np.ndarray]]:
        """The program and its results: the last value and a few others."""
        numbers = {len(self.values) - 1, *(self.choose.randrange(len(self.values)) for _ in range(2))}
        types = [f"tensor<{len(self.values[number])}x16xf32>" for number in sorted(numbers)]
        names = [f"%v{number}" for number in sorted(numbers)]
        constants = [f"%{n} = stablehlo.constant dense<{i}> : tensor<i32>" for i, n in ((0, "zero"), (1, "one"))]
        constants.append("%three = stablehlo.constant dense<3> : tensor<i32>")
        body = "\n  ".join([*constants, *self.lines, f"return {', '.join(names)} : {', '.join(types)}"])
        head = f"func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> ({', '.join(types)})"
        return f"{head} {{\n  {body}\n}}\n", [self.values[number] for number in sorted(numbers)]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_have_the_values_of_numpy(seed: int) -> None:
    program = RandomProgram(seed)
    text, wanted = program.text()
    got = rt.load(tiree.compile(text)).main(*program.inputs)
    for one, want in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
        np.testing.assert_array_equal(one, want, text)


DECODING = """
func.func @main(%x: tensor<1x64xf32>, %w: tensor<64x192xf32>) -> tensor<1x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %turns = stablehlo.constant dense<6> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<4x8x16xf32>
  %r:4 = stablehlo.while(%n = %zero, %y = %x, %keys = %none, %values = %none)
      : tensor<i32>, tensor<1x64xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %n, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0]
        : (tensor<1x64xf32>, tensor<64x192xf32>) -> tensor<1x192xf32>
    %a = stablehlo.slice %p [0:1, 0:64] : (tensor<1x192xf32>) -> tensor<1x64xf32>
    %b = stablehlo.slice %p [0:1, 64:128] : (tensor<1x192xf32>) -> tensor<1x64xf32>
    %d = stablehlo.slice %p [0:1, 128:192] : (tensor<1x192xf32>) -> tensor<1x64xf32>
    %q = stablehlo.reshape %a : (tensor<1x64xf32>) -> tensor<4x1x16xf32>
    %k = stablehlo.reshape %b : (tensor<1x64xf32>) -> tensor<4x1x16xf32>
    %v = stablehlo.reshape %d : (tensor<1x64xf32>) -> tensor<4x1x16xf32>
    %ks = stablehlo.dynamic_update_slice %keys, %k, %zero, %n, %zero
        : (tensor<4x8x16xf32>, tensor<4x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16xf32>
    %vs = stablehlo.dynamic_update_slice %values, %v, %zero, %n, %zero
        : (tensor<4x8x16xf32>, tensor<4x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16xf32>
    %s = stablehlo.dot_general %q, %ks, batching_dims = [0] x [0], contracting_dims = [2] x [2]
        : (tensor<4x1x16xf32>, tensor<4x8x16xf32>) -> tensor<4x1x8xf32>
    %o = stablehlo.dot_general %s, %vs, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        : (tensor<4x1x8xf32>, tensor<4x8x16xf32>) -> tensor<4x1x16xf32>
    %z = stablehlo.reshape %o : (tensor<4x1x16xf32>) -> tensor<1x64xf32>
    %t = stablehlo.tanh %z : tensor<1x64xf32>
    %m = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %m, %t, %ks, %vs : tensor<i32>, tensor<1x64xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>
  }
  return %r#1 : tensor<1x64xf32>
}
"""


def test_a_decoding_loop_writes_its_cache_in_place() -> None:
    """Two fills before the loop and no copy at all; the loop passes on the very resources that it was given."""
    text = scheduled(DECODING)
    assert text.count('"stream.cmd.copy"') == 0
    assert text.count('"stream.cmd.fill"') == 2
    x = np.full((1, 64), 0.5, np.float32)
    w = np.random.default_rng(5).standard_normal((64, 192), np.float32) / 8
    y, keys, values = x, np.zeros((4, 8, 16), np.float32), np.zeros((4, 8, 16), np.float32)
    for turn in range(6):
        q, keys[:, turn], values[:, turn] = (y @ w).reshape(3, 4, 16)
        y = np.tanh(np.einsum("hd,htd,hte->he", q, keys, values).reshape(1, 64))
    np.testing.assert_allclose(rt.load(tiree.compile(DECODING)).main(x, w), y, 1e-4, 1e-5)


BRANCHING = """
func.func @main(%x: tensor<8x16xf32>, %n: tensor<i32>) -> (RESULTS) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %p = stablehlo.compare GT, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y = "stablehlo.if"(%p) ({
    %t = stablehlo.add %x, %x : tensor<8x16xf32>
    stablehlo.return %t : tensor<8x16xf32>
  }, {
    stablehlo.return %x : tensor<8x16xf32>
  }) : (tensor<i1>) -> tensor<8x16xf32>
BODY
}
"""
"""After the first branch the host knows `%p`, so that what follows needs no wait: a block that makes only a view."""

BOTH = """
  %s = stablehlo.slice %y [2:3, 0:16] : (tensor<8x16xf32>) -> tensor<1x16xf32>
  %r = "stablehlo.if"(%p) ({
    FIRST
  }, {
    SECOND
  }) : (tensor<i1>) -> tensor<1x16xf32>
  return %r : tensor<1x16xf32>"""

PASSED = "stablehlo.return %s : tensor<1x16xf32>"
ADDED = "%t = stablehlo.add %s, %s : tensor<1x16xf32>\n    stablehlo.return %t : tensor<1x16xf32>"

NESTED = """
  %s = stablehlo.slice %y [1:3, 0:16] : (tensor<8x16xf32>) -> tensor<2x16xf32>
  %a = "stablehlo.if"(%p) ({
    %t = stablehlo.slice %s [1:2, 0:16] : (tensor<2x16xf32>) -> tensor<1x16xf32>
    %u = "stablehlo.if"(%p) ({
      stablehlo.return %t : tensor<1x16xf32>
    }, {
      %v = stablehlo.add %t, %t : tensor<1x16xf32>
      stablehlo.return %v : tensor<1x16xf32>
    }) : (tensor<i1>) -> tensor<1x16xf32>
    stablehlo.return %u : tensor<1x16xf32>
  }, {
    %t = stablehlo.slice %s [0:1, 0:16] : (tensor<2x16xf32>) -> tensor<1x16xf32>
    stablehlo.return %t : tensor<1x16xf32>
  }) : (tensor<i1>) -> tensor<1x16xf32>
  return %a, %s : tensor<1x16xf32>, tensor<2x16xf32>"""

LOOP = """
  %s = stablehlo.slice %y [1:2, 0:16] : (tensor<8x16xf32>) -> tensor<1x16xf32>
  %l:3 = stablehlo.while(%i = %zero, %z = %y, %sum = %s)
      : tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %odd = stablehlo.and %i, %one : tensor<i32>
    %q = stablehlo.compare EQ, %odd, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %w = "stablehlo.if"(%q) ({
      %t = stablehlo.add %z, %z : tensor<8x16xf32>
      stablehlo.return %t : tensor<8x16xf32>
    }, {
      stablehlo.return %z : tensor<8x16xf32>
    }) : (tensor<i1>) -> tensor<8x16xf32>
    %b = stablehlo.slice %w [2:3, 0:16] : (tensor<8x16xf32>) -> tensor<1x16xf32>
    %r = "stablehlo.if"(%q) ({
      stablehlo.return %b : tensor<1x16xf32>
    }, {
      %t = stablehlo.add %b, %s : tensor<1x16xf32>
      stablehlo.return %t : tensor<1x16xf32>
    }) : (tensor<i1>) -> tensor<1x16xf32>
    %a = stablehlo.add %sum, %r : tensor<1x16xf32>
    stablehlo.return %j, %w, %a : tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>
  }
  return %l#1, %l#2, %s : tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>"""


def looped(y: np.ndarray, n: int) -> list[np.ndarray]:
    part = total = y[1:2]
    for turn in range(n):
        y = y * (1 + turn % 2)
        total = total + y[2:3] + (0 if turn % 2 else part)
    return [y, total, part]


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("kind", ["passed by one", "passed by the other", "passed by both", "nested", "loop"])
def test_a_view_that_leaves_a_block_without_commands_is_whole_in_every_successor(kind: str, n: int) -> None:
    x = np.arange(128, dtype=np.float32).reshape(8, 16)
    y = x + x if n else x
    row, two = "tensor<1x16xf32>", "tensor<2x16xf32>"
    body, results, wanted = {
        "passed by one": (BOTH.replace("FIRST", PASSED).replace("SECOND", ADDED), row, [y[2:3] * (1 if n else 2)]),
        "passed by the other": (
            BOTH.replace("FIRST", ADDED).replace("SECOND", PASSED),
            row,
            [y[2:3] * (2 if n else 1)],
        ),
        "passed by both": (BOTH.replace("FIRST", PASSED).replace("SECOND", PASSED), row, [y[2:3]]),
        "nested": (NESTED, f"{row}, {two}", [y[2:3] if n else y[1:2], y[1:3]]),
        "loop": (LOOP, f"tensor<8x16xf32>, {row}, {row}", looped(y, n)),
    }[kind]
    text = BRANCHING.replace("RESULTS", results).replace("BODY", body)
    iree_opt(scheduled(text))
    got = rt.load(tiree.compile(text)).main(x, np.array(n, np.int32))
    for one, want in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
        np.testing.assert_array_equal(one, want)


SIBLINGS = """
util.func private @read(%x: tensor<8x16xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  util.return %zero : i32
}
util.func public @main(%view: !hal.buffer_view, %c: i1) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<8x16xf32>
  MADE
  cf.cond_br %c, ^a, ^b
^a:
  ^USE
  cf.br ^d(%y : tensor<8x16xf32>)
^b:
  cf.br ^d(%y : tensor<8x16xf32>)
^d(%r: tensor<8x16xf32>):
  %e = hal.tensor.export %r : tensor<8x16xf32> -> !hal.buffer_view
  util.return %e : !hal.buffer_view
}
"""


@pytest.mark.parametrize(
    ("made", "use"),
    [
        ("%y = flow.tensor.empty : tensor<8x16xf32>", ""),
        (
            "%k = arith.constant 1.0 : f32\n  %y = flow.tensor.splat %k : tensor<8x16xf32>",
            "%i = util.call @read(%y) : (tensor<8x16xf32>) -> i32",
        ),
    ],
    ids=["untouched", "awaited"],
)
def test_a_block_uses_no_resource_of_its_sibling(made: str, use: str) -> None:
    module = read(SIBLINGS.replace("MADE", made).replace("^USE", use))
    iree_opt(print_module(apply(module, [SchedulePass()])))
