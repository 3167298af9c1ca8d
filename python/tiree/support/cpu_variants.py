"""Several CPUs in one file: their names in a flag, which is tried first, and what a machine must have for each.

`--iree-llvmcpu-target-cpu=x86-64-v2,x86-64-v3,x86-64-v4` makes every kernel three times; what runs is the first, from
the one with the most features on, whose features the machine has. A name may carry features of its own, as
`generic+dotprod`. What can be asked of a machine are the features that executables find in their environment (the
processor data of library version 6): the others of a CPU are taken to come with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiree.support.cpu_target import enabled_features, implied_features, resolve_cpu_target
from tiree.support.errors import CompileError, Diagnostic

FLAG = "--iree-llvmcpu-target-cpu"

PROCESSOR_BITS: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "sse3": 0, "ssse3": 1, "sse4.1": 2, "sse4.2": 3, "sse4a": 4, "avx": 10, "fma": 11, "fma4": 12, "xop": 13,
        "f16c": 14, "avx2": 15, "avx512f": 20, "avx512cd": 21, "avx512vl": 22, "avx512dq": 23, "avx512bw": 24,
        "avx512ifma": 25, "avx512vbmi": 26, "avx512vpopcntdq": 27, "avx512vnni": 28, "avx512vbmi2": 29,
        "avx512bitalg": 30, "avx512bf16": 31, "avx512fp16": 32, "amx-tile": 50, "amx-int8": 51, "amx-bf16": 52,
    },
    "aarch64": {
        "fp-armv8": 0, "lse": 1, "lse128": 2, "fullfp16": 10, "fp16fml": 11, "dotprod": 12, "i8mm": 13, "bf16": 14,
        "sve": 20, "sve2": 21, "sve2p1": 22, "sve2-bitperm": 23, "f32mm": 24, "f64mm": 25, "sme": 30, "sme2": 31,
        "sme2p1": 32, "sme-f16f16": 33, "sme-f64f64": 34, "sme-i16i64": 35,
    },
    "riscv64": {
        "v": 0, "zvfhmin": 1, "zvfh": 2, "zvfbfwma": 3, "zvl256b": 5, "zvl1024b": 6, "zvl4096b": 7,
    },
}  # fmt: skip
"""The bit of each feature in the first word of processor data, by architecture and LLVM's name."""


_X86 = ("x86_64", "i386")


def architecture(triple: str) -> str:
    """The architecture of a target's (normalised) triple."""
    return triple.partition("-")[0]


def checked_features(arch: str, features: str) -> list[str]:
    """What must be asked of a machine before kernels with `features` run there, without what the others imply."""
    known = PROCESSOR_BITS.get(arch, {})
    wanted = enabled_features(features) & known.keys()
    implied = {other for name in wanted for other in implied_features(name)}
    return sorted(wanted - implied, key=lambda name: known[name])


def processor_mask(arch: str, features: Sequence[str]) -> int:
    """The bits of processor data that a machine with `features` has set. Raises `KeyError` for a name without one."""
    return sum(1 << PROCESSOR_BITS[arch][name] for name in features)


def resolve_cpu_targets(triple: str, cpus: str, features: str, stack_limit: int) -> list[dict[str, Any]]:
    """`resolve_cpu_target` of each CPU in a comma-separated list, those with the most features first.

    Raises `CompileError` as it does, and for several CPUs between which a machine cannot choose.
    """
    names = [name.strip() for name in cpus.split(",")]
    if len(names) == 1 and "+" not in names[0]:
        return [resolve_cpu_target(triple, cpus, features, stack_limit)]
    if features == "host" and len(names) > 1:
        raise _error(cpus, "--iree-llvmcpu-target-cpu-features=host makes them all the same", "leave it out")
    found = [(name, _resolve(triple, name, features, stack_limit)) for name in names]
    arch = architecture(found[0][1]["target_triple"])
    if len(found) > 1 and arch not in PROCESSOR_BITS:
        raise _error(cpus, f"nothing can be asked of {arch} machines when a file is loaded", "name one CPU")
    found.sort(key=lambda one: -len(enabled_features(one[1]["cpu_features"])))
    asked: dict[tuple[str, ...], str] = {}
    for name, target in found:
        if len(found) > 1 and arch not in _X86 and name.partition("+")[0] not in ("generic", "host"):
            hint = f"name the features, as generic+{next(iter(PROCESSOR_BITS[arch]))}"
            raise _error(cpus, f"what {arch} CPU {name} has is not known here", hint)
        checks = tuple(checked_features(arch, target["cpu_features"]))
        other = asked.setdefault(checks, name)
        if other is not name:
            what = f"{other} and {name} cannot be told apart when a file is loaded"
            raise _error(cpus, what, "leave one of them out")
    return [target for _, target in found]


def _resolve(triple: str, name: str, features: str, stack_limit: int) -> dict[str, Any]:
    cpu, *own = name.split("+")
    if not cpu:
        raise _error(name, "a name is missing", "write CPU or CPU+FEATURE, separated by commas")
    if "host" in own:
        raise _error(name, "host is no feature", "write host alone")
    parts = [f"+{one}" for one in own] + ([features] if features else [])
    return resolve_cpu_target(triple, cpu, ",".join(parts), stack_limit)


def _error(value: str, what: str, hint: str) -> CompileError:
    return CompileError(Diagnostic(f"{FLAG}={value}: {what}", "<flags>", hint))
