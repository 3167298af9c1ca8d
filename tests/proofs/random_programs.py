"""jax.random: every distribution, and the generators' bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.proofs.program import Program

KEY = np.array([0x243F6A88, 0x85A308D3], np.uint32)
LONG_KEY = np.array([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], np.uint32)
SHAPE = (7, 13)
# What a draw may differ by, in units of the last place: a handful of functions of the accuracy table, one of another.
DRAWS = 16.0
# These take a difference of numbers that are nearly equal, or a square root beside 0: errors of their draws grow.
AMPLIFIED = {"r.wald(k, a)": 64.0, "r.double_sided_maxwell(k, 0.5, a)": 64.0}

# Expressions over `r` (jax.random), `k` (the key), `a` (positive parameters of SHAPE), `p` (probabilities). What only
# moves bits is exact.
EXACT = """
r.key_data(r.key(12345))
r.key_data(r.wrap_key_data(k))
r.split(k, 5)
r.split(k, (2, 3))
r.fold_in(k, 77)
r.clone(k)
r.bits(k, (7, 13))
r.bits(k, (7, 13), 'uint8')
r.bits(k, (7, 13), 'uint16')
r.bits(k, (1001,))
r.bits(k, ())
r.uniform(k, (7, 13))
r.uniform(k, (7, 13), minval=-3., maxval=5.)
r.uniform(k, (7, 13), 'float16')
r.uniform(k, (7, 13), 'bfloat16')
r.uniform(k, (0, 3))
r.randint(k, (7, 13), -5, 17)
r.randint(k, (7, 13), 0, 100, 'uint8')
r.randint(k, (7, 13), -100, 100, 'int16')
r.randint(k, (7, 13), -128, 127, 'int8')
r.bernoulli(k, 0.3, (7, 13))
r.bernoulli(k, p)
r.rademacher(k, (7, 13))
r.rademacher(k, (7, 13), 'float32')
r.permutation(k, 23)
r.permutation(k, a)
r.permutation(k, a, axis=1)
r.permutation(k, a, axis=1, independent=True)
r.choice(k, 50, (9,))
r.choice(k, a, (4,), replace=False)
r.choice(k, 13, (9,), p=p[0] / p[0].sum())
r.choice(k, 13, (9,), replace=False, p=p[0] / p[0].sum())
r.categorical(k, a)
r.categorical(k, a, axis=0, shape=(5, 13))
r.categorical(k, a, replace=False, shape=(3, 7))
r.geometric(k, p)
r.poisson(k, a)
r.poisson(k, 20 * a)
r.binomial(k, 20., p)
r.binomial(k, 200., p)
r.multinomial(k, 11., p / p.sum(1, keepdims=True))
"""
CLOSE = """
r.normal(k, (7, 13))
r.normal(k, (7, 13), 'float16')
r.normal(k, (7, 13), 'bfloat16')
r.normal(k, (7, 13), 'complex64')
r.truncated_normal(k, -1.5, 2., (7, 13))
r.multivariate_normal(k, a[0, :5], np.diag(np.arange(1, 6, dtype='float32')) + 0.3, (6,))
r.orthogonal(k, 5)
r.exponential(k, (7, 13))
r.gumbel(k, (7, 13))
r.gumbel(k, (7, 13), mode='high')
r.logistic(k, (7, 13))
r.laplace(k, (7, 13))
r.cauchy(k, (7, 13))
r.beta(k, a, a + 1)
r.gamma(k, a)
r.gamma(k, a * 0.2)
r.loggamma(k, a)
r.dirichlet(k, a)
r.t(k, a)
r.chisquare(k, a)
r.f(k, a, a + 2)
r.pareto(k, a)
r.maxwell(k, (7, 13))
r.double_sided_maxwell(k, 0.5, a)
r.weibull_min(k, a, a + 1)
r.wald(k, a)
r.rayleigh(k, a)
r.lognormal(k, 0.7, (7, 13))
r.triangular(k, -1., 0.5, a + 2)
r.generalized_normal(k, 1.5, (7, 13))
r.ball(k, 3, 2.5, (7,))
"""
# The other generators, and the keys of the older one made otherwise.
OTHER = """
r.bits(k, (7, 13))
r.uniform(k, (7, 13))
r.split(k, 3)
r.fold_in(k, 9)
r.randint(k, (7, 13), -5, 17)
r.permutation(k, 23)
"""


def arguments(expression: str) -> tuple[np.ndarray, ...]:
    """The key, and the parameters that the expression names."""
    stream = np.random.default_rng(11)
    a = stream.uniform(0.3, 4, SHAPE).astype(np.float32)
    p = stream.uniform(0.05, 0.95, SHAPE).astype(np.float32)
    named = set(compile(expression, "<row>", "eval").co_names)
    return tuple(value for name, value in (("k", KEY), ("a", a), ("p", p)) if name in named)


def _function(expression: str, implementation: str = "") -> Callable[..., Any]:
    import jax
    from jax import random

    code = compile(expression, "<row>", "eval")
    names = [name for name in ("k", "a", "p") if name in code.co_names]

    def function(*values: Any) -> Any:
        known = dict(zip(names, values, strict=True))
        if implementation:
            known["k"] = random.wrap_key_data(known["k"], impl=implementation)
        result = eval(code, {"r": random, "np": np} | known)
        keyed = jax.dtypes.issubdtype(result.dtype, jax.dtypes.prng_key)
        return random.key_data(result) if keyed else result

    return function


def programs() -> Iterator[Program]:
    """One for each row."""
    for row in EXACT.strip().splitlines():
        yield Program(row, _function(row), arguments(row), exact=True)
    for row in CLOSE.strip().splitlines():
        yield Program(row, _function(row), arguments(row), draws=AMPLIFIED.get(row, DRAWS))
    for implementation in ("rbg", "unsafe_rbg"):
        for row in OTHER.strip().splitlines():
            yield Program(f"{implementation}: {row}", _function(row, implementation), (LONG_KEY,), exact=True)
    yield Program("bits in 64", _function("r.bits(k, (7, 13), 'uint64')"), (KEY,), True, x64=True)
    yield Program("uniform in f64", _function("r.uniform(k, (7, 13), 'float64')"), (KEY,), True, x64=True)
    yield Program("randint in i64", _function("r.randint(k, (7, 13), -2**40, 2**41, 'int64')"), (KEY,), True, x64=True)
    yield Program("normal in f64", _function("r.normal(k, (7, 13), 'float64')"), (KEY,), draws=DRAWS, x64=True)
