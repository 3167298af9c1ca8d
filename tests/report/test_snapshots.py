"""What the report says a pass changed: replayed, the edits give the IR of every phase, under names that stay."""

from __future__ import annotations

import difflib
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.programs import ADD, CHAIN, LOOP, long_program
from tiree.dialects import get_context, print_module, read_module
from tiree.pipeline import PipelineObserver, run_pipeline
from tiree.report import Report, snapshots
from tiree.report.diff import applied, edits
from tiree.report.snapshots import Snapshots
from tiree.support.options import CompileOptions

LINES = st.lists(st.sampled_from("abcdef"), max_size=12)


@given(LINES, LINES)
def test_edits_make_the_new_lines_of_the_old(old: list[str], new: list[str]) -> None:
    found = edits(old, new)
    assert applied(old, found) == new
    assert all(start < later[0] for (start, _, _), later in pairwise(found))
    assert (found == []) == (old == new)


def test_edits_are_few_where_lines_differ() -> None:
    """As few as difflib's, on a text whose lines are moved, dropped and added at random."""
    chance = random.Random(0)
    for _ in range(30):
        old = [f"line {n}" for n in range(200)]
        new = [line for line in old if chance.random() > 0.05]
        for _ in range(10):
            new.insert(chance.randrange(len(new)), f"new {chance.random()}")
        changed = sum(count + len(lines) for _, count, lines in edits(old, new))
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        theirs = sum((b - a) + (d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")
        assert changed <= theirs


def test_edits_of_long_texts_are_fast() -> None:
    """Quadratic time would be 10^10 steps."""
    old = ["same"] * 100_000
    assert edits(old, ["other", *old, "other"])[0][2]


class Replay(PipelineObserver):
    """The report and, beside it, the text of the module after each phase."""

    def __init__(self) -> None:
        self.report = Report("program")
        self.texts: dict[str, str] = {}
        self.report.begin()

    def before_pass(self, one: Any, module: Any) -> None:
        self.report.before_pass(one, module)

    def after_pass(self, one: Any, module: Any, seconds: float) -> None:
        self.report.after_pass(one, module, seconds)

    def after_phase(self, phase: Any, module: Any) -> None:
        self.report.after_phase(phase, module)
        self.texts[phase.name] = print_module(module, False)


def replayed(program: str, last: str = "stream") -> tuple[Replay, dict[str, dict[str, list[str]]]]:
    """The sections after each phase, from nothing but the report's data."""
    ctx = get_context()
    replay = Replay()
    options = CompileOptions(llvmcpu_target_cpu="generic")
    run_pipeline(read_module(program.encode(), ctx, "p"), options, "start", last, ctx=ctx, observers=[replay])
    sections: dict[str, list[str]] = {}
    phases: dict[str, dict[str, list[str]]] = {}
    for step in replay.report.data()["passes"]:
        for key in step.get("gone", ()):
            del sections[key]
        for key, changes in step.get("sections", {}).items():
            sections[key] = applied(sections.get(key, []), changes)
        if "order" in step:
            sections = {key: sections[key] for key in step["order"] if key in sections}
        phases[step["phase"]] = dict(sections)
    return replay, phases


@pytest.mark.parametrize("program", [ADD, CHAIN, LOOP], ids=["add", "chain", "loop"])
def test_the_edits_give_the_module_of_every_phase(program: str) -> None:
    replay, phases = replayed(program)
    assert set(phases) >= {"input", "abi", "flow", "stream"}
    for phase, text in replay.texts.items():
        if phase not in phases:
            continue
        lines = [line for key, lines in phases[phase].items() if key != "module" for line in lines]
        (header,) = phases[phase].get("module") or ["builtin.module"]
        assert generic("\n".join([f"{header} {{", *lines, "}"])) == generic(text), phase


def generic(text: str) -> str:
    return print_module(read_module(text.encode(), get_context(), "p"))


def test_values_keep_their_names() -> None:
    """A pass that drops one op shows one line, not all that follow under new numbers."""
    ctx = get_context()
    program = long_program(20).replace("%a", "%1").replace("%b", "%2").replace("%c", "%3")
    module = read_module(program.encode(), ctx, "p")
    looks = Snapshots()
    first = looks.take(module)
    assert first is not None
    assert first.added == 63
    (function,) = module.body.block.ops
    ops = list(function.regions[0].block.ops)
    tanh = ops[1]
    tanh.results[0].replace_all_uses_with(tanh.operands[0])
    tanh.detach()
    tanh.erase()
    change = looks.take(module)
    assert change is not None
    assert (change.added, change.removed) == (1, 2)
    nothing = looks.take(module)
    assert nothing is not None
    assert nothing.is_empty


def test_a_change_in_what_is_left_out_is_not_silent() -> None:
    ctx = get_context()
    module = read_module(long_program(700).encode(), ctx, "p")
    looks = Snapshots()
    assert looks.take(module)
    (function,) = module.body.block.ops
    ops = list(function.regions[0].block.ops)
    assert len(ops) > snapshots.FIRST_OPS + snapshots.LAST_OPS
    middle = ops[snapshots.FIRST_OPS + 50]
    middle.attributes["seen"] = middle.results[0].type
    change = looks.take(module)
    assert change is not None
    assert change.hidden == ["@main"]
    assert not change.is_empty


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(snapshots, "LIMIT", 3000)
    replay, _ = replayed(CHAIN)
    steps = replay.report.data()["passes"]
    assert steps[0]["added"] > 0
    assert steps[-1]["compared"] is False
    replay.report.write(str(tmp_path / "r.html"))
    assert (tmp_path / "r.html").stat().st_size < 200_000


def test_long_lines_and_texts_are_cut() -> None:
    values = f"dense<{list(range(4000))}> : tensor<4000xi32>"
    text = f'func.func private @f() attributes {{a = "{"x" * 5000}", b = {values}}}'
    looks = Snapshots()
    change = looks.take(read_module(text.encode(), get_context(), "p"))
    assert change is not None
    ((_, _, lines),) = change.sections["@f"]
    assert max(map(len, lines)) < 1600
    assert "…(5000 characters)" in lines[0]
