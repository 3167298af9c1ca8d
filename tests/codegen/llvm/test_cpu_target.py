"""CPU targets: names against the installed LLVM, flags, descriptions, and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from tiree.support.cpu_target import describe_target, resolve_cpu_target
from tiree.support.errors import CompileError
from tiree.support.llvm_names import cpu_names, feature_names
from tiree.support.x86_cpus import x86_cpu_features, x86_feature_names

HELP = """
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.Target.from_triple("{arch}-unknown-unknown-elf").create_target_machine(cpu="help")
"""


def llvm_names(arch: str) -> tuple[set[str], set[str]]:
    """(CPUs, features) that LLVM lists for an architecture; it prints them on stderr."""
    text = subprocess.run(
        [sys.executable, "-c", HELP.format(arch=arch)], capture_output=True, text=True, check=True
    ).stderr
    cpus, _, features = text.partition("Available features")
    names = [set(re.findall(r"^\s+(\S+)\s+- ", part, re.MULTILINE)) for part in (cpus, features)]
    return names[0], names[1]


@pytest.mark.parametrize("arch", ["aarch64", "riscv64", "arm"])
def test_names_are_those_of_llvm(arch: str) -> None:
    cpus, features = llvm_names(arch)
    assert cpu_names(arch) == cpus
    assert feature_names(arch) == features


def test_x86_names_are_those_of_llvm() -> None:
    cpus, features = llvm_names("x86_64")
    assert x86_feature_names() == features
    assert set(x86_cpu_features()) <= cpus | {"generic"}
    for name, found in x86_cpu_features().items():
        assert found <= features, name


@pytest.mark.parametrize(
    ("cpu", "vector", "fma", "avx512"),
    [
        ("generic", 16, False, False),
        ("x86-64-v2", 16, False, False),
        ("sandybridge", 32, False, False),
        ("haswell", 32, True, False),
        ("skylake-avx512", 64, True, True),
        ("znver4", 64, True, True),
    ],
)
def test_named_cpus(cpu: str, vector: int, fma: bool, avx512: bool) -> None:
    configuration = resolve_cpu_target("x86_64-unknown-linux-gnu", cpu)
    assert configuration["native_vector_size"] == vector
    assert configuration["format"] == "embedded-elf-x86_64"
    described = describe_target(configuration)
    assert (described.vector_bytes, described.has_fma, described.has_avx512) == (vector, fma, avx512)
    assert described.lanes(4) == vector // 4


def test_features_are_merged_and_sorted_and_imply_others() -> None:
    configuration = resolve_cpu_target("x86_64", "generic", "+fma,+avx2,-sse4a")
    assert configuration["cpu_features"] == "+avx2,+fma,-sse4a"
    described = describe_target(configuration)
    assert described.vector_bytes == 32
    assert described.has_sse41
    off = describe_target(resolve_cpu_target("x86_64", "haswell", "-fma"))
    assert not off.has_fma


def test_host_is_this_machine_and_the_same_every_time() -> None:
    first, second = resolve_cpu_target(), resolve_cpu_target("", "generic", "host")
    assert first == resolve_cpu_target()
    assert first["cpu_features"] == second["cpu_features"]


@pytest.mark.parametrize(
    ("triple", "format", "target"),
    [
        ("aarch64-linux-gnu", "embedded-elf-arm_64", "aarch64-unknown-unknown-eabi-elf"),
        ("riscv64", "embedded-elf-riscv_64", "riscv64-unknown-unknown-eabi-elf"),
        ("armv7a-none-eabi", "embedded-elf-arm_32", "arm-unknown-unknown-eabi-elf"),
        ("i686-linux", "embedded-elf-x86_32", "i386-unknown-unknown-eabi-elf"),
    ],
)
def test_other_architectures(triple: str, format: str, target: str) -> None:
    configuration = resolve_cpu_target(triple, "generic")
    assert configuration["format"] == format
    assert configuration["target_triple"] == target
    assert describe_target(configuration).pointer_bytes == (4 if "32" in format else 8)


def test_data_layouts_are_those_of_llvm() -> None:
    from tiree.codegen.llvm.compile import create_machine

    for triple in ("x86_64", "i386", "aarch64", "arm", "riscv64"):
        described = describe_target(resolve_cpu_target(triple, "generic"))
        assert str(create_machine(described).target_data) == described.data_layout


@pytest.mark.parametrize(
    ("triple", "cpu", "features", "message"),
    [
        ("x86_64", "zen4", "", "no such x86_64 CPU"),
        ("x86_64", "generic", "+avx3", "has no feature 'avx3'"),
        ("x86_64", "generic", "avx2", "'avx2' has no sign"),
        ("sparc", "generic", "", "no code generation for architecture 'sparc'"),
        ("aarch64", "apple-m99", "", "no such aarch64 CPU"),
        ("riscv64", "generic", "host", "the target riscv64"),
    ],
)
def test_what_is_not_known_is_refused_by_name(triple: str, cpu: str, features: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        resolve_cpu_target(triple, cpu, features)
    assert message in str(caught.value)
    assert caught.value.diagnostics[0].hint
