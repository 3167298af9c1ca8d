"""Runs programs in two implementations and says where they differ."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tiree.testing import wanted
from tiree.testing.faults import Fault, NotDecodable, OutOfSteps
from tiree.testing.generate_program import Call, Program
from tiree.testing.runners import Outcome, Reference, Runner, code_of

RunnerFactory = Callable[[Sequence[bytes]], Runner]


@dataclass(frozen=True)
class Expected:
    """What a program does by the reference: outcomes of loading it (none when that works) and of its calls.

    `departures` are the names of what it met in which IREE differs; `is_bounded` is False when it took too many steps.
    """

    outcomes: tuple[Outcome, ...]
    departures: frozenset[str]
    is_bounded: bool


def outcomes(runner: RunnerFactory, program: Program) -> tuple[Outcome, ...]:
    """The outcome of each call in one context; one outcome when the modules do not even load or initialize."""
    wanted.runner("outcomes", runner)
    wanted.program("outcomes", program)
    try:
        made = runner(program.modules)
    except (OutOfSteps, NotDecodable) as error:
        return (Outcome(type(error).__name__),)
    except (Fault, ValueError, RuntimeError, IndexError, NotImplementedError) as error:
        return (Outcome(code_of(error)),)
    return tuple(_outcome(made, call) for call in program.calls)


def _outcome(runner: Runner, call: Call) -> Outcome:
    try:
        return runner.call(call.function, call.arguments)
    except (OutOfSteps, NotDecodable) as error:
        return Outcome(type(error).__name__)


def isolated_outcomes(runner: RunnerFactory, program: Program, seconds: int = 10) -> tuple[Outcome, ...]:
    """As `outcomes`, in a child process: one outcome such as `killed by SIGSEGV` when it does not survive."""
    wanted.runner("isolated_outcomes", runner)
    wanted.program("isolated_outcomes", program)
    wanted.number("isolated_outcomes", "seconds", seconds, 1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(seconds)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(outcomes(runner, program), pipe)
            pipe.flush()
            # Neither this process's handlers nor its objects are the child's to end.
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return (Outcome(f"killed by {signal.Signals(os.WTERMSIG(status)).name}"),)
    return pickle.loads(data)


def expected(program: Program, steps: int = 100_000) -> Expected:
    """What the reference interpreter makes of a program."""
    wanted.program("expected", program)
    wanted.number("expected", "steps", steps)
    departures: set[str] = set()
    try:
        reference = Reference(program.modules, steps, departures)
        results = tuple(reference.call(call.function, call.arguments) for call in program.calls)
    except Fault as fault:
        return Expected((Outcome(fault.code),), frozenset(departures), True)
    except NotDecodable as error:
        # Never so for valid programs: a difference to whoever loads them.
        return Expected((Outcome(type(error).__name__),), frozenset(departures), True)
    except OutOfSteps:
        return Expected((), frozenset(departures), False)
    return Expected(results, frozenset(departures), True)


def difference(program: Program, runner: RunnerFactory, *, like_iree: bool = False) -> str:
    """Where `runner` and the reference differ, or nothing.

    `like_iree`: what IREE defines differently, or its Python API cannot pass, is not compared.
    """
    wanted.program("difference", program)
    wanted.runner("difference", runner)
    reference = expected(program)
    want = reference.outcomes
    if not reference.is_bounded or (like_iree and (reference.departures or not program.is_for_iree)):
        return ""
    if like_iree:
        want = tuple(outcome.without_contents() for outcome in want)
    have = outcomes(runner, program)
    if have == want:
        return ""
    lines = [f"{name}: {', '.join(map(str, what))}" for name, what in (("have", have), ("want", want))]
    return "\n".join(lines)
