"""What a module says about its making: Tiree's version, the target and the flags."""

from __future__ import annotations

from tiree.support.options import CompileOptions
from tiree.version import VERSION


def module_attributes(options: CompileOptions) -> list[tuple[str, str]]:
    """Key and value of each attribute, in the order in which they are written."""
    from tiree.support.cpu_target import resolve_cpu_target

    target = resolve_cpu_target(
        options.llvmcpu_target_triple, options.llvmcpu_target_cpu, options.llvmcpu_target_cpu_features
    )
    arch = str(target["target_triple"]).partition("-")[0]
    pairs = [("tiree.version", VERSION), ("tiree.target", f"{arch}-{target['cpu']}")]
    if options.recorded_flags:
        pairs.append(("tiree.flags", " ".join(options.recorded_flags)))
    return pairs
