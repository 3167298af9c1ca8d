"""Modified Bessel functions on scalars as Chebyshev series."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import math
from xdsl.ir import SSAValue

from tiree.input.lowering.scalar import ScalarBuilder, is_double

# exp(-x) I1(x) / x over 0 <= x <= 8 as a series in x / 4 - 1. The coefficients of both are the integrals that define
# them, computed with 40 digits; the truncation for f32 is at 2^-29, for f64 at 2^-58.
_NEAR = (
    0.12629359322181682741,
    -0.17641651835783405515,
    0.10264365868984709538,
    -0.052945981208094991427,
    0.024726449030626516828,
    -0.010564084894626198156,
    0.0041564229443128881567,
    -0.001513572450631253149,
    0.0005122859561685757729,
    -0.00016176081582589674559,
    0.000047815651075500542264,
    -0.000013273163656039435828,
    3.4702513081376784767e-6,
    -8.5687202646954547407e-7,
    2.0032947535521352623e-7,
    -4.4450591287963280807e-8,
    9.3815373864957717839e-9,
    -1.8872497517228292879e-9,
    3.625590281552117037e-10,
    -6.6634897235020277422e-11,
    1.1736186298890901631e-11,
    -1.9839743977649437152e-12,
    3.2237933659455747098e-13,
    -5.0421855047279116871e-14,
    7.6006842947354069341e-15,
    -1.105596947735386308e-15,
    1.5536319577362004689e-16,
    -2.1114212143581660782e-17,
)
# sqrt(x) exp(-x) I1(x) over x >= 8 as a series in 16 / x - 1.
_FAR = (
    0.38928811750914006024,
    -0.0097610974913614684078,
    -0.00011058893876262371629,
    -3.8825648088776903935e-6,
    -2.5122362378702089253e-7,
    -2.6314688468895195068e-8,
    -3.835380385964237022e-9,
    -5.5897434621965838069e-10,
    -1.8974958123505412345e-11,
    3.2526035830154882386e-11,
    1.4125807436613781332e-11,
    2.0356285441470895072e-12,
    -7.1985517762459085121e-13,
    -4.0835511110921973182e-13,
    -2.101541842772664313e-14,
    4.2724400167119513543e-14,
    1.0420276984128802764e-14,
    -3.8144030724370078048e-15,
    -1.8803547755107824485e-15,
    3.3082023109209282827e-16,
    2.9626289976459501391e-16,
    -3.2095259219934239588e-17,
    -4.6503053684893583256e-17,
    4.4143483230717079499e-18,
    7.5172963108421048054e-18,
)
_SINGLE = (17, 7)
"""How many terms f32 takes of each."""


def _chebyshev(s: ScalarBuilder, u: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """The sum of coefficient k times the Chebyshev polynomial k of u, by Clenshaw's recurrence."""
    twice = s.add_(u, u)
    above, current = s.constant(u.type, 0.0), s.constant(u.type, coefficients[-1])
    for coefficient in coefficients[-2:0:-1]:
        above, current = current, s.add_(s.sub(s.mul(twice, current), above), s.constant(u.type, coefficient))
    return s.add_(s.sub(s.mul(u, current), above), s.constant(u.type, coefficients[0]))


def bessel_i1e(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """exp(-|x|) I1(x)."""
    near_terms, far_terms = (len(_NEAR), len(_FAR)) if is_double(x.type) else _SINGLE
    eight, one = s.constant(x.type, 8.0), s.constant(x.type, 1.0)
    a = s.abs(x)
    is_near = s.cmpf("olt", a, eight)
    # Each series sees arguments of its own domain only.
    inside = s.select(is_near, a, eight)
    near = s.mul(_chebyshev(s, s.sub(s.mul(inside, s.constant(x.type, 0.25)), one), _NEAR[:near_terms]), a)
    outside = s.select(is_near, eight, a)
    far = _chebyshev(s, s.sub(s.div(s.constant(x.type, 16.0), outside), one), _FAR[:far_terms])
    far = s.div(far, s.unary(math.SqrtOp, outside))
    return s.binary(math.CopySignOp, s.select(is_near, near, far), x)
