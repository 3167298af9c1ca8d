"""The flag parser."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module

import pytest
from tiree.support.errors import CompileError
from tiree.tools.flags import Flag, help_text, parse_flags

FLAGS = (
    Flag("o", "str", "output", "-"),
    Flag("count", "int", "a number", 3),
    Flag("fast", "bool", "a switch", True),
    Flag("mode", "choice", "one of", "a", choices=("a", "b"), refused={"c": "c needs a GPU"}),
    Flag("names", "list", "several"),
    Flag("version", "action", "print and exit"),
)


def parse(*arguments: str):
    return parse_flags(arguments, FLAGS, {"gone": "use --count instead"})


def test_every_way_to_write_a_flag() -> None:
    parsed = parse(
        "in.mlir", "-o", "x", "--count=0x10", "-fast=false", "--mode", "b", "--names=p,q", "--names=r", "--version"
    )
    assert parsed.positional == ["in.mlir"]
    assert [parsed[name] for name in ("o", "count", "fast", "mode", "names", "version")] == [
        "x", 16, False, "b", ["p", "q", "r"], True,
    ]  # fmt: skip
    assert parsed.given["names"] == ["p,q", "r"]


def test_defaults_and_bare_booleans() -> None:
    parsed = parse("--fast", "-")
    assert parsed["fast"] is True
    assert parsed["count"] == 3
    assert parsed["names"] == []
    assert parsed.positional == ["-"]
    assert set(parsed.given) == {"fast"}


def test_everything_after_two_dashes_is_a_file() -> None:
    assert parse("--", "--count=4").positional == ["--count=4"]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--cuont=1", "unknown flag --cuont\n  did you mean --count?"),
        ("--gone=1", "--gone is not available: use --count instead"),
        ("--count=x", "'x' is not an integer"),
        ("--fast=maybe", "'maybe' is not a boolean"),
        ("--mode=c", "--mode=c is not available: c needs a GPU"),
        ("--mode=d", "--mode=d: no such value"),
        ("--count", "--count needs a value"),
    ],
)
def test_errors_name_the_flag_and_the_way_out(argument: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(argument)
    assert message in str(caught.value)


def test_help_lists_flags_defaults_and_what_is_not_available() -> None:
    text = help_text("tool [options]", FLAGS, {"gone": "x"})
    assert "USAGE: tool [options]" in text
    assert "--mode=a|b" in text
    assert "(default 3)" in text
    assert "--gone" in text


TOOLS = ("compile", "opt", "run_module", "benchmark_module", "dump_module")


def test_reasons_lead_to_flags_that_exist() -> None:
    """Why a flag or a value is not available may say what to use instead; that must not be refused in turn."""
    tables = {tool: import_module(f"tiree.tools.{tool}") for tool in TOOLS}
    available = {flag.name for module in tables.values() for flag in module.FLAGS}
    for module in tables.values():
        reasons = dict(getattr(module, "REFUSED", None) or getattr(module, "_REFUSED", {}))
        for flag in module.FLAGS:
            reasons |= {f"{flag.name}={value}": reason for value, reason in (flag.refused or {}).items()}
            if flag.refused:
                assert not set(flag.refused) & set(flag.choices)
        for name, reason in reasons.items():
            assert len(reason) >= 15, name
            for other in re.findall(r"--([a-z][\w-]+)", reason):
                assert other in available or f"iree-opt --{other}" in reason, (name, reason)
        names = [flag.name for flag in module.FLAGS]
        assert len(set(names)) == len(names)
        assert not set(names) & set(reasons)


@pytest.mark.parametrize(
    ("tool", "flag"),
    [
        ("compile", "iree-llvmcpu-stack-allocation-limit"),
        ("create_parameters", "alignment"),
        ("run_module", "vm_fuel"),
        ("benchmark_module", "device_cache_limit"),
    ],
)
def test_numbers_that_nothing_holds(tool: str, flag: str) -> None:
    command = [sys.executable, "-m", f"tiree.tools.{tool}", f"--{flag}={1 << 100}", "x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"--{flag}={1 << 100}: is not between 0 and {2**63 - 1}" in done.stderr
