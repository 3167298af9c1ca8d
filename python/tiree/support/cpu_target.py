"""What a kernel is compiled for: triple, CPU and features, and what code generation concludes from them.

`resolve_cpu_target` turns the flags into the configuration of a `#hal.executable.target`; `describe_target` turns such
a configuration into a `TargetDescription`, which is all that tiling, vectorisation and LLVM lowering may know of the
machine. Both are deterministic; only `host` looks at the machine, once. llvmlite is imported for `host` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tiree.support.errors import CompileError, Diagnostic


@dataclass(frozen=True)
class _Arch:
    """Facts of an architecture: names as LLVM writes them, and the features that kernels need to avoid libcalls."""

    name: str
    format_suffix: str
    data_layout: str
    pointer_bytes: int = 8
    vector_registers: int = 32
    baseline: str = ""
    """Features assumed when no CPU is named: without them float code would call a runtime library."""
    forced: str = ""
    abi: str = ""


_ARCHES = {
    "x86_64": _Arch(
        "x86_64",
        "x86_64",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
        vector_registers=16,
    ),
    "i386": _Arch(
        "i386",
        "x86_32",
        "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128",
        pointer_bytes=4,
        vector_registers=8,
        baseline="+sse2",
    ),
    "aarch64": _Arch(
        "aarch64",
        "arm_64",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
        forced="+reserve-x18",
    ),
    "arm": _Arch(
        "arm",
        "arm_32",
        "e-m:e-p:32:32-Fi8-i64:64-v128:64:128-a:0:32-n32-S64",
        pointer_bytes=4,
        vector_registers=16,
        baseline="+armv7-a,+neon",
    ),
    "riscv64": _Arch(
        "riscv64",
        "riscv_64",
        "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128",
        baseline="+a,+c,+d,+f,+m",
        abi="lp64d",
    ),
}

_ARCH_ALIASES = {"amd64": "x86_64", "arm64": "aarch64", "i486": "i386", "i586": "i386", "i686": "i386", "x86": "i386"}


@dataclass(frozen=True)
class TargetDescription:
    """The machine as code generation sees it. Sizes are in bytes, cache sizes are those of one core."""

    triple: str
    arch: str
    cpu: str
    features: str
    data_layout: str
    abi: str
    pointer_bytes: int
    vector_bytes: int
    vector_registers: int
    has_fma: bool
    has_f16c: bool
    """Vector conversions between f16 and f32."""
    has_sse41: bool
    """Rounding instructions (also true of every target but x86)."""
    has_avx2: bool
    has_avx512: bool
    """F, BW, DQ and VL together: masked vector code of every element width."""
    has_vnni: bool
    has_amx_bf16: bool
    has_amx_int8: bool
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    stack_limit: int

    def lanes(self, element_bytes: int) -> int:
        """Elements in one vector register."""
        return max(1, self.vector_bytes // max(1, element_bytes))


def _arch_of(triple: str) -> _Arch:
    name = triple.partition("-")[0].lower()
    name = _ARCH_ALIASES.get(name, name)
    if name.startswith(("armv", "thumbv")):
        name = "arm"
    arch = _ARCHES.get(name)
    if arch is None:
        raise CompileError(
            Diagnostic(
                f"--iree-llvmcpu-target-triple={triple}: no code generation for architecture '{name}'",
                "<flags>",
                f"supported: {', '.join(sorted(_ARCHES))}",
            )
        )
    return arch


def host_arch() -> str:
    """The architecture of this machine in LLVM's spelling."""
    import platform

    name = platform.machine().lower()
    return _ARCH_ALIASES.get(name, name)


@cache
def _host() -> tuple[str, str]:
    """(CPU name, feature string) of this machine. A virtual machine may hide its model: trust the features."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    known = _feature_names(host_arch())
    flat = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items()) if name in known)
    return llvm.get_host_cpu_name(), flat


def _cpu_names(arch: str) -> frozenset[str]:
    if arch in ("x86_64", "i386"):
        from tiree.support.x86_cpus import x86_cpu_features

        return frozenset(x86_cpu_features())
    from tiree.support.llvm_names import cpu_names

    return cpu_names(arch)


def _feature_names(arch: str) -> frozenset[str]:
    if arch in ("x86_64", "i386"):
        from tiree.support.x86_cpus import x86_feature_names

        return x86_feature_names()
    from tiree.support.llvm_names import feature_names

    return feature_names(arch)


def _suggest(name: str, known: frozenset[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(known), 3)
    return f"did you mean {' or '.join(close)}?" if close else "see llc -mcpu=help for the names."


def _cpu_features(arch: _Arch, cpu: str) -> str:
    """The features of a named CPU."""
    if cpu in ("", "generic"):
        return arch.baseline
    known = _cpu_names(arch.name)
    if cpu not in known:
        raise CompileError(
            Diagnostic(
                f"--iree-llvmcpu-target-cpu={cpu}: no such {arch.name} CPU",
                "<flags>",
                _suggest(cpu, known) + " 'host' takes this machine, 'generic' any.",
            )
        )
    if arch.name in ("x86_64", "i386"):
        from tiree.support.x86_cpus import x86_cpu_features

        return ",".join(f"+{name}" for name in sorted(x86_cpu_features()[cpu]))
    return arch.baseline


def _checked_features(arch: _Arch, features: str) -> list[str]:
    known = _feature_names(arch.name)
    parts = [part.strip() for part in features.split(",") if part.strip()]
    for part in parts:
        if part[0] not in "+-":
            raise CompileError(
                Diagnostic(
                    f"--iree-llvmcpu-target-cpu-features={features}: '{part}' has no sign",
                    "<flags>",
                    f"write +{part} to add it or -{part} to remove it",
                )
            )
        if part[1:] not in known:
            raise CompileError(
                Diagnostic(
                    f"--iree-llvmcpu-target-cpu-features={features}: {arch.name} has no feature '{part[1:]}'",
                    "<flags>",
                    _suggest(part[1:], known),
                )
            )
    return parts


def _merge(*groups: str | list[str]) -> str:
    """One feature string, sorted by name; a later sign wins."""
    signs: dict[str, str] = {}
    for group in groups:
        for part in group.split(",") if isinstance(group, str) else group:
            if part:
                signs[part[1:]] = part[0]
    return ",".join(signs[name] + name for name in sorted(signs))


def resolve_cpu_target(
    triple: str = "", cpu: str = "host", features: str = "", stack_limit: int = 32768
) -> dict[str, Any]:
    """The configuration of an executable target.

    `triple` empty means this machine's architecture; `cpu` is an LLVM name, `host`, `generic` or empty; `features` is
    LLVM's `+a,-b` form or `host`. The keys are those of IREE's target attribute (`cpu`, `cpu_features`, `data_layout`,
    `max_stack_allocation_size`, `native_vector_size`, `target_triple`) and `format`. Raises `CompileError` for an
    unknown architecture, CPU or feature, and for `host` under another architecture's triple.
    """
    arch = _arch_of(triple or host_arch())
    wants_host = "host" in (cpu, features)
    if wants_host and arch.name != host_arch():
        if not triple or cpu == "host":
            # The default CPU is `host`; naming another architecture alone means that one's baseline.
            cpu = "generic"
        if features == "host":
            raise CompileError(
                Diagnostic(
                    f"--iree-llvmcpu-target-cpu-features=host: the host is {host_arch()}, the target {arch.name}",
                    "<flags>",
                    "name the features of the target",
                )
            )
    base = ""
    if cpu == "host":
        cpu, base = _host()
        if cpu not in _cpu_names(arch.name):
            cpu = "generic"
    else:
        base = _cpu_features(arch, cpu)
    extra = _host()[1] if features == "host" else features
    merged = _merge(base, _checked_features(arch, extra) if features != "host" else extra, arch.forced)
    return {
        "cpu": cpu,
        "cpu_features": merged,
        "data_layout": arch.data_layout,
        "max_stack_allocation_size": stack_limit,
        "native_vector_size": _vector_bytes(arch.name, _enabled(merged)),
        "target_triple": f"{arch.name}-unknown-unknown-eabi-elf",
        "format": f"embedded-elf-{arch.format_suffix}",
    }


_IMPLIED = {
    "ssse3": ("sse3",),
    "sse4.1": ("ssse3",),
    "sse4.2": ("sse4.1",),
    "sse4a": ("sse3",),
    "fma4": ("avx", "sse4a"),
    "xop": ("fma4",),
    "avx": ("sse4.2",),
    "avx2": ("avx",),
    "fma": ("avx",),
    "f16c": ("avx",),
    "avx512f": ("avx2", "fma", "f16c"),
    "avx512bw": ("avx512f",),
    "avx512cd": ("avx512f",),
    "avx512dq": ("avx512f",),
    "avx512vl": ("avx512f",),
    "avx512vnni": ("avx512f",),
    "avx512bf16": ("avx512bw",),
    "avx512ifma": ("avx512f",),
    "avx512vpopcntdq": ("avx512f",),
    "avx512vbmi": ("avx512bw",),
    "avx512vbmi2": ("avx512bw",),
    "avx512bitalg": ("avx512bw",),
    "avx512fp16": ("avx512bw",),
    "avxvnni": ("avx2",),
    "amx-int8": ("amx-tile",),
    "amx-bf16": ("amx-tile",),
    "sve": ("fullfp16",),
    "sve2": ("sve",),
    "sve2p1": ("sve2",),
    "sve2-bitperm": ("sve2",),
    "f32mm": ("sve",),
    "f64mm": ("sve",),
    "sme": ("bf16",),
    "sme2": ("sme",),
    "zvfh": ("zvfhmin",),
}
"""What LLVM switches on together with a feature, as far as code generation or the choice of a variant asks for it."""


def _known_features(arch: str, features: str) -> str:
    """`features` without the names that this LLVM does not have: another compiler's LLVM may be younger."""
    known = _feature_names(arch)
    parts = features.split(",")
    kept = [part for part in parts if part[1:] in known]
    return features if len(kept) == len(parts) else ",".join(kept)


def _enabled(features: str) -> frozenset[str]:
    found: set[str] = set()
    pending = [part[1:] for part in features.split(",") if part.startswith("+")]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(_IMPLIED.get(name, ()))
    return frozenset(found - {part[1:] for part in features.split(",") if part.startswith("-")})


def enabled_features(features: str) -> frozenset[str]:
    """The names that a feature string switches on, those that others imply included."""
    return _enabled(features)


def implied_features(name: str) -> frozenset[str]:
    """What comes with a feature, itself left out."""
    return _enabled(f"+{name}") - {name}


def _vector_bytes(arch: str, enabled: frozenset[str]) -> int:
    if arch in ("x86_64", "i386"):
        return 64 if "avx512f" in enabled else 32 if "avx" in enabled else 16
    return 16


_AVX512 = frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl"})


def describe_target(configuration: Mapping[str, Any]) -> TargetDescription:
    """The description of a configuration: `resolve_cpu_target`'s, or the data of a target attribute's dictionary."""

    def plain(key: str, default: Any) -> Any:
        value = configuration.get(key, default)
        value = getattr(value, "value", value)
        return getattr(value, "data", value)

    triple = plain("target_triple", "x86_64-unknown-unknown-eabi-elf")
    return _describe(
        triple, plain("cpu", ""), plain("cpu_features", ""), int(plain("max_stack_allocation_size", 32768))
    )


@cache
def _describe(triple: str, cpu: str, features: str, stack_limit: int) -> TargetDescription:
    arch = _arch_of(triple)
    features = _known_features(arch.name, features)
    on = _enabled(features)
    x86 = arch.name in ("x86_64", "i386")
    avx512 = on >= _AVX512
    vector_bytes = _vector_bytes(arch.name, on)
    l2 = {64: 1 << 20, 32: 512 << 10}.get(vector_bytes, 256 << 10)
    return TargetDescription(
        triple=triple,
        arch=arch.name,
        cpu=cpu,
        features=features,
        data_layout=arch.data_layout,
        abi=arch.abi if "d" in on else "",
        pointer_bytes=arch.pointer_bytes,
        vector_bytes=vector_bytes,
        vector_registers=32 if vector_bytes == 64 else arch.vector_registers,
        has_fma="fma" in on if x86 else arch.name in ("aarch64", "riscv64"),
        has_f16c="f16c" in on if x86 else arch.name == "aarch64",
        has_sse41="sse4.1" in on if x86 else arch.name == "aarch64",
        has_avx2="avx2" in on,
        has_avx512=avx512,
        has_vnni=(avx512 and "avx512vnni" in on) or "avxvnni" in on,
        has_amx_bf16="amx-bf16" in on,
        has_amx_int8="amx-int8" in on,
        l1_bytes=32 << 10,
        l2_bytes=l2,
        l3_bytes=8 * l2,
        stack_limit=stack_limit,
    )
