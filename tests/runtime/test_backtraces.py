"""A failed call names the functions and places of the program, when the module has its debug database."""

from __future__ import annotations

import re

import pytest
import tiree
import tiree.runtime as rt
from runtime.modules import iree_module

DIVIDE = """func.func @quotient(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 3 : i32
  %1 = arith.addi %a, %c : i32
  %0 = arith.divsi %1, %b : i32
  return %0 : i32
}
"""

# Calls itself, so that no compiler puts one function into the other.
RECURSE = """func.func @quotient(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %more = arith.cmpi sgt, %a, %c0 : i32
  cf.cond_br %more, ^bb1, ^bb2
^bb1:
  %0 = arith.subi %a, %c1 : i32
  %1 = func.call @quotient(%0, %b) : (i32, i32) -> i32
  return %1 : i32
^bb2:
  %2 = arith.divsi %c1, %b : i32
  return %2 : i32
}
"""


def failure(data: bytes) -> rt.StatusError:
    module = rt.load(data, "local-sync")
    assert module.quotient(1, 4) == 1
    with pytest.raises(ValueError, match=r"quotient\(\) failed: integer ") as caught:
        module.quotient(1, 0)
    assert isinstance(caught.value, rt.StatusError)
    return caught.value


@pytest.mark.parametrize("maker", ["tiree", "iree"])
def test_places_of_the_program(maker: str):
    data = tiree.compile(DIVIDE) if maker == "tiree" else iree_module(DIVIDE)
    error = failure(data)
    assert error.code_name == "INVALID_ARGUMENT"
    place = r"at \S*:4:\d+"
    assert re.search(rf"by zero \(division by zero\) {place}$", str(error)), str(error)
    assert re.match(rf"\[ 0\] bytecode module@\d+:\d+ quotient {place}", error.status.split("\n")[1]), error.status


def test_without_a_source_map():
    error = failure(tiree.compile(DIVIDE, flags=["--iree-vm-bytecode-module-strip-source-map"]))
    assert " at " not in str(error)
    assert "[ 0] bytecode module@" in error.status


def test_places_of_calling_frames():
    module = rt.load(tiree.compile(RECURSE), "local-sync")
    assert module.quotient(2, 1) == 1
    with pytest.raises(ValueError, match="division by zero") as caught:
        module.quotient(2, 0)
    assert isinstance(caught.value, rt.StatusError)
    frames = [line for line in caught.value.status.split("\n") if line.startswith("[")]
    places = [re.search(r" at \S*:(\d+):\d+", line) for line in frames]
    # The division, twice the call, and the exported function around them.
    assert [int(place[1]) for place in places if place] == [11, 8, 8, 1], frames


# Two functions that iree-compile keeps apart; the place of the division is known by the name of its function only.
TWO = """util.func private @inner(%a: i32, %b: i32) -> i32 attributes {inlining_policy = #util.inline.never} {
  %0 = arith.divsi %a, %b : i32
  util.return %0 : i32
}
util.func public @outer(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = util.call @inner(%0, %b) : (i32, i32) -> i32
  util.return %1 : i32
}
"""


def test_no_place_of_another_function():
    """iree-compile 3.13 writes the places of its last function only: the others have none, rather than wrong ones."""
    module = rt.load(iree_module(TWO), "local-sync")
    assert module.outer(4, 2) == 4
    with pytest.raises(rt.StatusError, match="by zero") as caught:
        module.outer(1, 0)
    division, caller = caught.value.status.split("\n")[1:3]
    assert "outer" not in division
    assert ":2:" in division or " at " not in division
    assert re.search(r"outer at \S*:7:\d+", caller), caught.value.status
