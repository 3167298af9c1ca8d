"""Sizes that are computed, and disagree: the error names operation, place, dimension and both sizes.

The checks stand where no argument's shape can answer them: in bodies of loops and branches, in called functions, behind
concatenations. Both runtimes, both local devices.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.runtime.errors import StatusError

V = "tensor<?xf32>"


@dataclass(frozen=True)
class Kind:
    """`body` makes %z of %x (2 a elements), %b and the number %n. `right` and `wrong` are a, the elements
    of %b, and %n; the message of the second has all of `said`, and both sizes."""

    body: str
    right: tuple[int, int, int]
    wrong: tuple[int, int, int]
    said: tuple[str, ...]
    expected: int
    have: int


ROWS = f"""
    %rd = stablehlo.get_dimension_size %x, dim = 0 : ({V}) -> tensor<i32>
    %rr = stablehlo.reshape %rd : (tensor<i32>) -> tensor<1xi32>
    %rc = stablehlo.constant dense<1> : tensor<1xi32>
    %rs = stablehlo.concatenate %rr, %rc, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %x2 = stablehlo.dynamic_reshape %x, %rs : ({V}, tensor<2xi32>) -> tensor<?x1xf32>
"""
NUMBER = """
    %k = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %c0 = stablehlo.constant dense<0> : tensor<1xi32>
    %c1 = stablehlo.constant dense<1> : tensor<1xi32>
    %c2 = stablehlo.constant dense<2> : tensor<1xi32>
"""


def real_slice(start: str, limit: str) -> str:
    types = f"({V}, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> {V}"
    return f"{NUMBER}    %z = stablehlo.real_dynamic_slice %x, {start}, {limit}, %c1 : {types}"


KINDS = {
    "add": Kind(
        f"%z = stablehlo.add %x, %b : {V}",
        (2, 4, 0),
        (2, 5, 0),
        ("stablehlo.add at", "dimension 0", "must equal"),
        4,
        5,
    ),
    "select": Kind(
        f"""%c = stablehlo.compare LT, %x, %x : ({V}, {V}) -> tensor<?xi1>
    %z = stablehlo.select %c, %x, %b : tensor<?xi1>, {V}""",
        (2, 4, 0),
        (2, 0, 0),
        ("stablehlo.select at", "dimension 0"),
        4,
        0,
    ),
    "result": Kind(
        f"""%y = "stablehlo.add"(%x, %x) : ({V}, {V}) -> tensor<4xf32>
    %z = stablehlo.concatenate %y, %b, dim = 0 : (tensor<4xf32>, {V}) -> {V}""",
        (2, 4, 0),
        (3, 1, 0),
        ("stablehlo.add at", "dimension 0", "must equal 4"),
        4,
        6,
    ),
    "product": Kind(
        f"""%y = stablehlo.dot_general %x, %b, contracting_dims = [0] x [0] : ({V}, {V}) -> tensor<f32>
    %r = stablehlo.reshape %y : (tensor<f32>) -> tensor<1xf32>
    %z = stablehlo.concatenate %r, %x, dim = 0 : (tensor<1xf32>, {V}) -> {V}""",
        (2, 4, 0),
        (2, 3, 0),
        ("stablehlo.dot_general at", "dimension 0"),
        4,
        3,
    ),
    "slice": Kind(
        f"""%y = stablehlo.slice %x [1:4] : ({V}) -> tensor<3xf32>
    %z = stablehlo.concatenate %y, %b, dim = 0 : (tensor<3xf32>, {V}) -> {V}""",
        (2, 1, 0),
        (1, 1, 0),
        ("stablehlo.slice at", "limit 4 of dimension 0 is out of range", "must be at least 4"),
        4,
        2,
    ),
    "dynamic_slice": Kind(
        f"""%y = stablehlo.dynamic_slice %x, %n, sizes = [3] : ({V}, tensor<i32>) -> tensor<3xf32>
    %z = stablehlo.concatenate %y, %b, dim = 0 : (tensor<3xf32>, {V}) -> {V}""",
        (2, 1, 1),
        (1, 1, 0),
        ("stablehlo.dynamic_slice at", "a slice is larger than its operand in dimension 0"),
        3,
        2,
    ),
    "update": Kind(
        f"%z = stablehlo.dynamic_update_slice %x, %b, %n : ({V}, {V}, tensor<i32>) -> {V}",
        (2, 3, 1),
        (1, 3, 0),
        ("stablehlo.dynamic_update_slice at", "the update is larger than its operand in dimension 0"),
        3,
        2,
    ),
    "reshape": Kind(
        f"""{NUMBER}    %s = stablehlo.concatenate %c2, %k, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %y = stablehlo.dynamic_reshape %x, %s : ({V}, tensor<2xi32>) -> tensor<2x?xf32>
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %z = stablehlo.reduce(%y init: %i) applies stablehlo.add across dimensions = [0]
      : (tensor<2x?xf32>, tensor<f32>) -> {V}""",
        (2, 1, 2),
        (2, 1, 3),
        ("stablehlo.dynamic_reshape at", "the number of elements of the result"),
        6,
        4,
    ),
    "negative_reshape": Kind(
        f"{NUMBER}    %z = stablehlo.dynamic_reshape %x, %k : ({V}, tensor<1xi32>) -> {V}",
        (2, 1, 4),
        (2, 1, -3),
        ("stablehlo.dynamic_reshape at", "dimension 0 of the result"),
        0,
        -3,
    ),
    "pad": Kind(
        f"""%i = stablehlo.constant dense<0.0> : tensor<f32>
    %z = stablehlo.pad %x, %i, low = [-3], high = [0], interior = [0] : ({V}, tensor<f32>) -> {V}""",
        (2, 1, 0),
        (1, 1, 0),
        ("stablehlo.pad at", "more is cut than there is in dimension 0"),
        0,
        -1,
    ),
    "dynamic_pad": Kind(
        f"""{NUMBER}    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %z = stablehlo.dynamic_pad %x, %i, %k, %c0, %c0
      : ({V}, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> {V}""",
        (2, 1, -4),
        (2, 1, -6),
        ("stablehlo.dynamic_pad at", "more is cut than there is in dimension 0"),
        0,
        -2,
    ),
    "join": Kind(
        f"""{ROWS}
    %bd = stablehlo.get_dimension_size %b, dim = 0 : ({V}) -> tensor<i32>
    %br = stablehlo.reshape %bd : (tensor<i32>) -> tensor<1xi32>
    %bs = stablehlo.concatenate %br, %rc, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %b2 = stablehlo.dynamic_reshape %b, %bs : ({V}, tensor<2xi32>) -> tensor<?x1xf32>
    %y = stablehlo.concatenate %x2, %b2, dim = 1 : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %z = stablehlo.reduce(%y init: %i) applies stablehlo.add across dimensions = [1]
      : (tensor<?x2xf32>, tensor<f32>) -> {V}""",
        (2, 4, 0),
        (2, 1, 0),
        ("stablehlo.concatenate at", "dimension 0"),
        4,
        1,
    ),
    "slice_end": Kind(
        real_slice("%c0", "%k"),
        (2, 1, 4),
        (2, 1, 5),
        ("stablehlo.real_dynamic_slice at", "ends behind its operand in dimension 0"),
        5,
        4,
    ),
    "slice_start": Kind(
        real_slice("%k", "%c2"),
        (2, 1, 1),
        (2, 1, -1),
        ("stablehlo.real_dynamic_slice at", "starts before its operand in dimension 0"),
        0,
        -1,
    ),
    "slice_order": Kind(
        real_slice("%c2", "%k"),
        (2, 1, 3),
        (2, 1, 1),
        ("stablehlo.real_dynamic_slice at", "ends before it starts in dimension 0", "must be at least 2"),
        2,
        1,
    ),
    "gather": Kind(
        f"""{NUMBER}    %y = "stablehlo.gather"(%x, %k) {{dimension_numbers = #stablehlo.gather<offset_dims = [0],
      start_index_map = [0]>, slice_sizes = array<i64: 3>}} : ({V}, tensor<1xi32>) -> tensor<3xf32>
    %z = stablehlo.concatenate %y, %b, dim = 0 : (tensor<3xf32>, {V}) -> {V}""",
        (2, 1, 0),
        (1, 1, 0),
        ("stablehlo.gather at", "a slice is larger than its operand in dimension 0"),
        3,
        2,
    ),
    "dynamic_gather": Kind(
        f"""{NUMBER}    %z = "stablehlo.dynamic_gather"(%x, %c0, %k) {{dimension_numbers = #stablehlo.gather<
      offset_dims = [0], start_index_map = [0]>}} : ({V}, tensor<1xi32>, tensor<1xi32>) -> {V}""",
        (2, 1, 4),
        (2, 1, 6),
        ("stablehlo.dynamic_gather at", "a slice is larger than its operand in dimension 0"),
        6,
        4,
    ),
    "broadcast": Kind(
        f"""{NUMBER}    %z = stablehlo.dynamic_broadcast_in_dim %x, %k, dims = [0] : ({V}, tensor<1xi32>) -> {V}""",
        (2, 1, 4),
        (2, 1, 5),
        ("stablehlo.dynamic_broadcast_in_dim at", "dimension 0", "must be 1 or equal"),
        5,
        4,
    ),
    "iota": Kind(
        f"{NUMBER}    %z = stablehlo.dynamic_iota %k, dim = 0 : (tensor<1xi32>) -> {V}",
        (2, 1, 4),
        (2, 1, -7),
        ("stablehlo.dynamic_iota at", "dimension 0 of the result"),
        0,
        -7,
    ),
    "scatter": Kind(
        f"""{ROWS}    %i = stablehlo.convert %x2 : (tensor<?x1xf32>) -> tensor<?x1xi32>
    %z = "stablehlo.scatter"(%x, %i, %b) ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        stablehlo.return %q : tensor<f32>
    }}) {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} : ({V}, tensor<?x1xi32>, {V}) -> {V}""",
        (2, 4, 0),
        (2, 7, 0),
        ("stablehlo.scatter at", "dimension 0"),
        4,
        7,
    ),
    "sort": Kind(
        f"""%z, %y = "stablehlo.sort"(%x, %b) ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
        %l = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
    }}) {{dimension = 0 : i64}} : ({V}, {V}) -> ({V}, {V})""",
        (2, 4, 0),
        (2, 6, 0),
        ("stablehlo.sort at", "dimension 0"),
        4,
        6,
    ),
    "top_k": Kind(
        f"""%y, %i = chlo.top_k(%x, k = 3) : {V} -> (tensor<3xf32>, tensor<3xi32>)
    %z = stablehlo.concatenate %y, %b, dim = 0 : (tensor<3xf32>, {V}) -> {V}""",
        (2, 1, 0),
        (1, 1, 0),
        ("chlo.top_k at", "k = 3 is out of range", "dimension 0"),
        3,
        2,
    ),
    "assertion": Kind(
        f"""%d = stablehlo.get_dimension_size %x, dim = 0 : ({V}) -> tensor<i32>
    %l = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare GE, %d, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%c, %d) {{api_version = 2 : i32,
      error_message = "the length must be 3 or more, not {{0}}", has_side_effect = true}}
      : (tensor<i1>, tensor<i32>) -> ()
    %z = stablehlo.add %x, %x : {V}""",
        (2, 1, 0),
        (1, 1, 0),
        ("the length must be 3 or more",),
        3,
        2,
    ),
}

ARGUMENTS = f"%a: {V}, %b: {V}, %n: tensor<i32>"
JOIN = f"stablehlo.concatenate %a, %a, dim = 0 : ({V}, {V}) -> {V}"


def in_loop(name: str, body: str) -> str:
    return f"""
func.func @{name}({ARGUMENTS}) -> {V} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%iw = %zero, %xw = %a) : tensor<i32>, {V}
   cond {{
    %cw = stablehlo.compare LT, %iw, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %cw : tensor<i1>
   }} do {{
    %jw = stablehlo.add %iw, %one : tensor<i32>
    %x = {JOIN.replace("%a", "%xw")}
    {body}
    stablehlo.return %jw, %z : tensor<i32>, {V}
   }}
  return %w#1 : {V}
}}
"""


def in_branch(name: str, body: str) -> str:
    return f"""
func.func @{name}({ARGUMENTS}) -> {V} {{
  %limit = stablehlo.constant dense<1000> : tensor<i32>
  %low = stablehlo.compare LT, %n, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %w = "stablehlo.if"(%low) ({{
    %x = {JOIN}
    {body}
    stablehlo.return %z : {V}
  }}, {{
    stablehlo.return %a : {V}
  }}) : (tensor<i1>) -> {V}
  return %w : {V}
}}
"""


def in_case(name: str, body: str) -> str:
    return f"""
func.func @{name}({ARGUMENTS}) -> {V} {{
  %number = stablehlo.multiply %n, %n : tensor<i32>
  %w = "stablehlo.case"(%number) ({{
    %x = {JOIN}
    {body}
    stablehlo.return %z : {V}
  }}, {{
    %x = {JOIN}
    {body}
    stablehlo.return %z : {V}
  }}) : (tensor<i32>) -> {V}
  return %w : {V}
}}
"""


def in_call(name: str, body: str) -> str:
    return f"""
func.func private @{name}_called(%x: {V}, %b: {V}, %n: tensor<i32>) -> {V} attributes {{noinline}} {{
    {body}
  return %z : {V}
}}
func.func @{name}({ARGUMENTS}) -> {V} {{
  %x = {JOIN}
  %z = call @{name}_called(%x, %b, %n) : ({V}, {V}, tensor<i32>) -> {V}
  return %z : {V}
}}
"""


PLACES: dict[str, Callable[[str, str], str]] = {
    "loop": in_loop,
    "branch": in_branch,
    "case": in_case,
    "call": in_call,
}


def programs() -> dict[str, tuple[str, Kind]]:
    """Each kind in two places, all places in turn."""
    made: dict[str, tuple[str, Kind]] = {}
    for number, (name, kind) in enumerate(KINDS.items()):
        for place in (list(PLACES)[number % 4], list(PLACES)[(number + 1 + number // 4) % 4]):
            made[f"{name}_{place}"] = PLACES[place](f"{name}_{place}", kind.body), kind
    return made


PROGRAMS = programs()


@pytest.fixture(scope="module")
def module() -> bytes:
    return tiree.compile("".join(text for text, _ in PROGRAMS.values()))


def inputs(given: tuple[int, int, int]) -> list[np.ndarray]:
    return [np.ones(given[0], np.float32), np.ones(given[1], np.float32), np.array(given[2], np.int32)]


def complaints(name: str, kind: Kind, message: str) -> list[str]:
    have = kind.have % (1 << 64)
    said = ["INVALID_ARGUMENT", *map(re.escape, kind.said), rf"expected {kind.expected}(?!\d)"]
    said.append(rf"have ({kind.have}|{have})(?!\d)")
    wrong = [f"{name}: {one} not in {message}" for one in said if not re.search(one, message)]
    return wrong + ([f"{name}: {message}"] if "computed size" in message and "or more, not" not in message else [])


@pytest.mark.parametrize("device", iree.DRIVERS)
def test_both_sizes_are_named(module: bytes, device: str) -> None:
    loaded = rt.load(module, device)
    wrong: list[str] = []
    for name, (_, kind) in PROGRAMS.items():
        getattr(loaded, name)(*inputs(kind.right))
        with pytest.raises(StatusError) as caught:
            getattr(loaded, name)(*inputs(kind.wrong))
        wrong += complaints(name, kind, f"{caught.value.code_name} {caught.value.status}")
    assert not wrong, "\n".join(wrong)


def test_operands_are_named_where_no_argument_is(module: bytes) -> None:
    loaded = rt.load(module)
    for name, said in {
        "add_loop": "dimension 0 must equal dimension 0 of operand 1 (%x) for stablehlo.add at",
        "gather_call": "dimension 0 of argument 1 (%x) must be at least 3 for stablehlo.gather at",
        "add_branch": "dimension 0 must equal dimension 0 of argument 1 (%a) + dimension 0 of argument 1 (%a) for",
    }.items():
        with pytest.raises(StatusError, match=re.escape(said)):
            getattr(loaded, name)(*inputs(PROGRAMS[name][1].wrong))


@iree.needs_iree
def test_the_runtime_of_iree_names_them_too(module: bytes) -> None:
    wrong: list[str] = []
    for name, (_, kind) in PROGRAMS.items():
        iree.call(module, name, inputs(kind.right), "local-sync")
        try:
            iree.call(module, name, inputs(kind.wrong), "local-sync")
        except Exception as error:
            wrong += complaints(name, kind, str(error))
        else:
            wrong.append(f"{name}: no error")
    assert not wrong, "\n".join(wrong)


def test_a_negative_size_is_printed_as_such(module: bytes) -> None:
    loaded = rt.load(module)
    with pytest.raises(StatusError, match=r"; expected 0 but have -7$"):
        loaded.iota_call(*inputs(KINDS["iota"].wrong))


@iree.needs_iree
def test_programs_without_devices_name_both_sizes(tmp_path: Path) -> None:
    text = in_loop("f", KINDS["add"].body)
    path = tmp_path / "f.vmfb"
    tiree.compile(text, output=path, flags=["--iree-execution-model=inline-static"])
    loaded = rt.load(path.read_bytes())
    loaded.f(*inputs(KINDS["add"].right))
    with pytest.raises(StatusError) as caught:
        loaded.f(*inputs(KINDS["add"].wrong))
    given = "--input=2xf32=1", "--input=5xf32=1", "--input=i32=0"
    said = iree.run_tool("iree-run-module", f"--module={path}", "--function=f", *given, ok=False)
    for message in (str(caught.value), said):
        assert re.search(r"operand 1 \(%x\) for stablehlo.add at .*; .*expected 4 but have 5", message)
