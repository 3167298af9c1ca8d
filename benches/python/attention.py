"""Attention as one kernel against separate dispatches, JAX and IREE 3.13, as ratios in one run.

    python benches/python/attention.py [--rounds N] [--only LENGTH,...] [--masks plain,causal,added]

softmax(Q K / 8 + mask) V of 12 heads of depth 64 in f32, for lengths from 64 to 2048. Calls of all contestants are
interleaved, the best of each counts; below 1 the kernel is faster. `GFLOP/s` counts the products alone, 4 * heads *
length^2 * depth; `share` is what that is of the rate of a product of
768 x 768 matrices, measured first. All results are compared with JAX's. Says little on a busy machine.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tiree
import tiree.runtime as rt
from tiree.flow import raise_attention

HEADS, DEPTH = 12, 64
LENGTHS = (64, 128, 197, 256, 384, 512, 1024, 2048)
Call = Callable[[], Any]


def function_of(mask: str) -> Callable[..., Any]:
    def attention(q: Any, k: Any, v: Any, *m: Any) -> Any:
        s: Any = jnp.einsum("bhqd,bhkd->bhqk", q, k) * 0.125
        length = q.shape[2]
        if mask == "causal":
            s = jnp.where(jnp.arange(length)[:, None] >= jnp.arange(length), s, -1e9)
        elif mask == "added":
            s = s + m[0]
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(s), v)

    return attention


def loaded(text: str, device: Any, least: int) -> Any:
    """Tiree's module, with attentions raised from `least` scores on."""
    raise_attention.LEAST_SCORES = least
    return rt.load(tiree.compile(text, flags=["--iree-llvmcpu-target-cpu=host"]), device=device).main


def iree_call(text: str, arguments: list[np.ndarray]) -> Call:
    import iree.runtime as irt

    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    with tempfile.TemporaryDirectory() as folder:
        source, module = Path(folder) / "in.mlir", Path(folder) / "out.vmfb"
        source.write_text(text)
        tool = str(Path(sys.executable).with_name("iree-compile"))
        command = [tool, *flags, "--iree-llvmcpu-target-cpu=host", str(source), "-o", str(module)]
        subprocess.run(command, check=True, capture_output=True)
        config = irt.Config("local-task")
        vm: Any = irt.VmModule.copy_buffer(config.vm_instance, module.read_bytes())
    context: Any = irt.SystemContext(config=config)
    context.add_vm_module(vm)
    main = context.modules[vm.name].main
    given = [irt.asdevicearray(config.device, one) for one in arguments]
    return lambda: np.asarray(main(*given))


def peak() -> float:
    """Operations a second of a product of matrices, by Tiree on all cores: what the two products could reach."""
    size = 768
    a = np.ones((size, size), np.float32)
    product = jax.jit(lambda x, y: jnp.einsum("ij,jk->ik", x, y)).lower(a, a).as_text()
    main = loaded(product, "local-task", 1 << 60)
    device = rt.get_device("local-task")
    given = [rt.asdevicearray(device, a) for _ in range(2)]
    best = min(timed(lambda: main(*given)) for _ in range(20))
    return 2 * size**3 / best


def timed(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def contestants(mask: str, length: int) -> tuple[dict[str, Call], np.ndarray]:
    rng = np.random.default_rng(length)
    arguments = [rng.standard_normal((1, HEADS, length, DEPTH)).astype(np.float32) for _ in range(3)]
    if mask == "added":
        arguments.append(np.where(np.tril(np.ones((length, length))), 0, -1e9).astype(np.float32))
    jitted = jax.jit(function_of(mask))
    text = jitted.lower(*arguments).as_text()
    device = rt.get_device("local-task")
    given = [rt.asdevicearray(device, one) for one in arguments]
    kernel, apart = loaded(text, device, 0), loaded(text, device, 1 << 60)
    placed = [jax.device_put(one) for one in arguments]
    calls: dict[str, Call] = {
        "kernel": lambda: np.asarray(kernel(*given)),
        "dispatches": lambda: np.asarray(apart(*given)),
        "JAX": lambda: np.asarray(jitted(*placed)),
    }
    with contextlib.suppress(ImportError):
        calls["IREE"] = iree_call(text, arguments)
    return calls, np.asarray(jitted(*arguments))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--masks", default="plain,causal,added")
    options = parser.parse_args()
    lengths = [int(one) for one in options.only.split(",") if one] or LENGTHS
    most = peak()
    print(f"a product of matrices: {most / 1e9:.0f} GFLOP/s\n")
    print("| mask | length | kernel, ms | GFLOP/s | share | to dispatches | to JAX | to IREE | error |")
    print("|---|---|---|---|---|---|---|---|---|")
    wrong = False
    for mask in options.masks.split(","):
        for length in lengths:
            calls, want = contestants(mask, length)
            error = float(np.max(np.abs(calls["kernel"]() - want)))
            wrong = wrong or not error < 1e-5
            best = dict.fromkeys(calls, float("inf"))
            for _ in range(options.rounds):
                for name, call in calls.items():
                    best[name] = min(best[name], timed(call))
            rate = 4 * HEADS * length * length * DEPTH / best["kernel"]
            others = ("dispatches", "JAX", "IREE")
            ratios = [f"{best['kernel'] / best[name]:.2f}" if name in best else "-" for name in others]
            cells = [mask, str(length), f"{best['kernel'] * 1e3:.2f}", f"{rate / 1e9:.0f}", f"{rate / most:.2f}"]
            print(f"| {' | '.join([*cells, *ratios, f'{error:.0e}'])} |", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
