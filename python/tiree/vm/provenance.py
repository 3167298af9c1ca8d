"""What a module says about its making: Tiree's version, the target and the flags."""

from __future__ import annotations

from tiree.support.options import CompileOptions
from tiree.version import VERSION


def module_attributes(options: CompileOptions) -> list[tuple[str, str]]:
    """Key and value of each attribute, in the order in which they are written."""
    from tiree.support.cpu_variants import architecture, resolve_cpu_targets

    names: list[str] = []
    for backend in options.hal_target_backends:
        if backend != "llvm-cpu":
            names.append(backend)
            continue
        targets = resolve_cpu_targets(
            options.llvmcpu_target_triple,
            options.llvmcpu_target_cpu,
            options.llvmcpu_target_cpu_features,
            options.llvmcpu_stack_allocation_limit,
        )
        arch = architecture(targets[0]["target_triple"])
        names.append(f"{arch}-{','.join(one['cpu'] for one in targets)}")
    pairs = [("tiree.version", VERSION), ("tiree.target", ",".join(names))]
    if options.recorded_flags:
        pairs.append(("tiree.flags", " ".join(options.recorded_flags)))
    return pairs
