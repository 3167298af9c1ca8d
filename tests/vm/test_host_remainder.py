"""`arith.remf` on numbers that the host computes with: C's `fmod`, which the instruction of the VM is not."""

import math

import pytest
import tiree
import tiree.runtime as rt


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_the_sign_is_the_dividends(type: str) -> None:
    text = f"""
func.func @f(%a: {type}, %b: {type}) -> {type} {{
  %0 = arith.remf %a, %b : {type}
  return %0 : {type}
}}"""
    module = rt.load(tiree.compile(text), device="local-sync")
    values = (5.0, -5.0, 3.0, -3.0, 4.0, 4.5, -4.5, 0.25, -0.25, 0.0, -0.0, 7.0, 1024.0)
    for a in values:
        for b in (*values, math.inf, -math.inf):
            got = module.f(a, b)
            if b == 0:
                assert math.isnan(got)
            else:
                assert (got, math.copysign(1, got)) == (math.fmod(a, b), math.copysign(1, math.fmod(a, b))), (a, b)
    assert math.isnan(module.f(math.inf, 1.0))
    assert math.isnan(module.f(1.0, math.nan))
