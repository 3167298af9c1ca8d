"""Whole JAX programs: random numbers, transformations, control flow, networks of Flax, optimisers, training.

A sample of them is run; with TIREE_ALL_PROGRAMS=1 (`make jax-programs`) all. `program.py` says what equal means.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

from tests.proofs.program import Program

pytest.importorskip("jax", reason="values come from JAX")

ALL = os.environ.get("TIREE_ALL_PROGRAMS") == "1"
GROUPS = ("random", "transform", "flax")
SAMPLE = {
    *(
        "r.bits(k, (7, 13))",
        "r.normal(k, (7, 13))",
        "r.permutation(k, 23)",
        "r.categorical(k, a)",
        "rbg: r.bits(k, (7, 13))",
    ),
    *("grad", "vmap of grad", "checkpoint", "scan", "grad of scan", "fori_loop", "while in while", "cond", "switch 2"),
    *("custom_vjp", "custom_jvp", "GRU, gradient", "Adam, one step", "SGD, 100 steps"),
}


def made(group: str) -> Callable[[], Iterator[Program]]:
    """What makes the programs of a group."""
    from tests.proofs import flax_programs, random_programs, transform_programs

    return {"random": random_programs, "transform": transform_programs, "flax": flax_programs}[group].programs


@cache
def programs(group: str) -> dict[str, Program]:
    if group == "flax":
        for package in ("flax", "optax"):
            pytest.importorskip(package, reason="the networks are Flax's")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {program.name: program for program in made(group)()}


def wrong(program: Program) -> list[str]:
    """What Tiree computes otherwise."""
    results = rt.load(tiree.compile(program.text), device="local-sync").main(*program.inputs)
    results = results if isinstance(results, tuple) else (results,)
    return program.wrong([np.asarray(result) for result in results])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", GROUPS)
def test_equal_to_jax(group: str) -> None:
    found: list[str] = []
    for name, program in programs(group).items():
        if not (ALL or name in SAMPLE):
            continue
        try:
            found += wrong(program)
        except Exception as error:
            found.append(f"{name}: {type(error).__name__}: {error}")
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
def test_the_sample_is_of_the_programs() -> None:
    assert not SAMPLE - {name for group in GROUPS for name in programs(group)}


@pytest.mark.filterwarnings("ignore")
def test_every_distribution_is_there() -> None:
    """All functions of jax.random's public names that draw from a key."""
    from jax import random

    rows = " ".join(programs("random"))
    names = {name for name in dir(random) if not name.startswith("_") and callable(getattr(random, name))}
    others = {"PRNGKey", "key_impl", "key_dtype"}
    missing = {name for name in names - others if f"r.{name}(" not in rows}
    assert not missing, missing
