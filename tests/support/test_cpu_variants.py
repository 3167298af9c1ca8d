"""Lists of CPUs: how they are read, in which order they are tried, and what tells them apart."""

import re
from pathlib import Path

import pytest
from tiree.support.cpu_variants import (
    PROCESSOR_BITS,
    checked_features,
    processor_mask,
    resolve_cpu_targets,
)
from tiree.support.errors import CompileError

RUNTIME = Path(__file__).parents[2] / "rust/hal/src/executable/cpu.rs"
LEVELS = "x86-64-v2,x86-64-v3,x86-64-v4"


def resolved(cpus: str, triple: str = "x86_64", features: str = "") -> list[str]:
    return [target["cpu"] for target in resolve_cpu_targets(triple, cpus, features, 32768)]


@pytest.mark.parametrize("cpus", [LEVELS, "x86-64-v4, x86-64-v2,x86-64-v3"])
def test_the_cpu_with_the_most_features_is_first(cpus: str) -> None:
    assert resolved(cpus) == ["x86-64-v4", "x86-64-v3", "x86-64-v2"]


def test_features_belong_to_a_name_or_to_all() -> None:
    first, second = resolve_cpu_targets("aarch64", "generic,generic+dotprod+i8mm", "+lse", 32768)
    assert first["cpu_features"] == "+dotprod,+i8mm,+lse,+reserve-x18"
    assert second["cpu_features"] == "+lse,+reserve-x18"


def test_what_is_asked_of_a_machine() -> None:
    asked = [checked_features("x86_64", one["cpu_features"]) for one in resolve_cpu_targets("x86_64", LEVELS, "", 1)]
    assert asked == [["avx512cd", "avx512vl", "avx512dq", "avx512bw"], ["fma", "f16c", "avx2"], ["sse4.2"]]
    assert processor_mask("x86_64", asked[1]) == 1 << 11 | 1 << 14 | 1 << 15
    assert checked_features("x86_64", "") == []


@pytest.mark.parametrize(
    ("cpus", "triple", "features", "message"),
    [
        ("x86-64-v3,", "x86_64", "", "a name is missing"),
        ("x86-64-v3,nocpu", "x86_64", "", "cpu=nocpu: no such x86_64 CPU"),
        ("generic,generic+nofeature", "x86_64", "", "no feature 'nofeature'"),
        ("generic,x86-64", "x86_64", "", "x86-64 and generic cannot be told apart"),
        ("haswell,x86-64-v3", "x86_64", "", "haswell and x86-64-v3 cannot be told apart"),
        ("generic,cortex-a76", "aarch64", "", "what aarch64 CPU cortex-a76 has is not known here"),
        ("generic,generic+neon", "armv7a", "", "nothing can be asked of arm machines"),
        ("generic,host", "x86_64", "host", "features=host makes them all the same"),
        ("generic,generic+host", "x86_64", "", "host is no feature"),
    ],
)
def test_refused(cpus: str, triple: str, features: str, message: str) -> None:
    with pytest.raises(CompileError, match=re.escape(message)):
        resolve_cpu_targets(triple, cpus, features, 32768)


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
def test_bits_are_those_of_the_runtime(arch: str) -> None:
    text = RUNTIME.read_text()
    table = text[text.index(f'target_arch = "{arch}"') :]
    table = table[: table.index("];")]
    bits = {name: int(bit) for name, bit in re.findall(r'\("([^"]+)", (\d+)\)', table)}
    assert bits
    assert bits.items() <= PROCESSOR_BITS[arch].items()
