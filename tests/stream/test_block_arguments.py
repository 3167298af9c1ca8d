"""Loop-invariant values are no block arguments; what changes stays one."""

from tiree.stream.block_arguments import remove_constant_arguments
from tiree.stream.lower_control_flow import lower_region

from tests.stream.stream_harness import read

LOOP = """
util.func public @main(%n: index, %w: i32, %x: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %w, %b = %x, %c = %x) -> (i32, i32, i32) {
    %s = arith.addi %a, %b : i32
    scf.yield %a, %s, %c : i32, i32, i32
  }
  util.return %r#0, %r#1 : i32, i32
}
"""


def test_invariants_are_removed() -> None:
    (function,) = read(LOOP).ops
    region = function.regions[0]
    lower_region(region)
    header = region.blocks[1]
    assert len(header.args) == 4
    remove_constant_arguments(region)
    function.verify()
    assert [str(argument.type) for argument in header.args] == ["index", "i32"]
    terminator = region.blocks[-1].last_op
    assert terminator is not None
    assert terminator.operands[0] is region.blocks[0].args[1]


def test_swapped_values_stay() -> None:
    (function,) = read(LOOP.replace("scf.yield %a, %s, %c", "scf.yield %c, %s, %a")).ops
    region = function.regions[0]
    lower_region(region)
    remove_constant_arguments(region)
    function.verify()
    assert len(region.blocks[1].args) == 4


def test_values_that_are_passed_crosswise_become_the_one_they_are() -> None:
    """`%c` is `%a` after the first turn, and both begin as `%x`."""
    (function,) = read(LOOP.replace("%a = %w", "%a = %x").replace("scf.yield %a, %s, %c", "scf.yield %a, %s, %a")).ops
    region = function.regions[0]
    lower_region(region)
    remove_constant_arguments(region)
    function.verify()
    assert [str(argument.type) for argument in region.blocks[1].args] == ["index", "i32"]
