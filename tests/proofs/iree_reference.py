"""IREE 3.13 as oracle: its compiler inside this process, its runtime, and its tools as programs.

Import it as `proofs.iree_reference`. A failing compiler prints its diagnostics to stderr, where pytest captures them.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TARGET = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-demote-f64-to-f32=false",
)
DRIVERS = ("local-sync", "local-task")

needs_iree = pytest.mark.skipif(
    find_spec("iree") is None or find_spec("iree.compiler") is None or find_spec("iree.runtime") is None,
    reason="the oracle is IREE: iree-base-compiler and iree-base-runtime are not installed",
)


def tool_path(name: str) -> Path:
    """The program behind a console script of the wheels: started directly, it costs no second Python."""
    package = "iree.compiler._mlir_libs" if name in ("iree-opt", "iree-compile") else "iree._runtime_libs"
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations))) / name


def run_tool(name: str, *arguments: str | Path, stdin: str | bytes = b"", ok: bool = True) -> str:
    """What a tool prints; with `ok`, a failing one fails the test with its messages."""
    done = subprocess.run(
        [str(tool_path(name)), *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    errors = done.stderr.decode(errors="replace")
    assert done.returncode == 0 or not ok, f"{name}: exit code {done.returncode}\n{errors[:3000]}"
    return done.stdout.decode(errors="replace") + ("" if ok else errors)


def accept(texts: Sequence[str]) -> None:
    """Fails unless iree-opt reads and verifies every module of `texts`."""
    run_tool("iree-opt", "--split-input-file", "-", "-o", "/dev/null", stdin="\n// -----\n".join(texts))


def compile_text(text: str, *flags: str, compile_from: str = "start") -> bytes:
    """The `.vmfb` that iree-compile makes of a module of phase `compile_from`."""
    from iree.compiler.api import Output, Session, Source, ctypes_dl

    session = Session()
    session.set_flags(*TARGET, *flags)
    invocation = session.invocation()
    invocation.enable_console_diagnostics()
    start_at = ctypes_dl._dylib.ireeCompilerInvocationSetCompileFromPhase
    start_at.argtypes, start_at.restype = [ctypes.c_void_p, ctypes.c_char_p], None
    start_at(invocation._inv_p, compile_from.encode())
    source = Source.wrap_buffer(session, text.encode() + b"\0")
    if not (invocation.parse_source(source) and invocation.execute()):
        raise AssertionError(f"iree-compile refuses the {compile_from} module; its messages are on stderr")
    output = Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    return bytes(output.map_memory())


def compile_with_tool(text: str, *flags: str) -> bytes:
    """As `compile_text`, by the program: it also takes flags that are global to a process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.vmfb"
        run_tool("iree-compile", "-", *TARGET, *flags, "-o", path, stdin=text)
        return path.read_bytes()


def call(module: bytes, function: str, inputs: Sequence[Any], driver: str) -> list[np.ndarray]:
    """The results of a call in IREE's runtime."""
    import iree.runtime as rt

    context = rt.SystemContext(config=_config(driver))
    loaded = rt.VmModule.copy_buffer(context.instance, module)
    context.add_vm_module(loaded)
    results = context.modules[loaded.name][function](*inputs)
    return [np.asarray(r) for r in (results if isinstance(results, list | tuple) else [results])]


_CONFIGS: dict[str, Any] = {}


def _config(driver: str) -> Any:
    import iree.runtime as rt

    if driver not in _CONFIGS:
        _CONFIGS[driver] = rt.Config(driver)
    return _CONFIGS[driver]


def same_dump(module: bytes, folder: Path) -> None:
    """Fails unless tiree-dump-module and iree-dump-module print the same: metadata, disassembly and sizes."""
    from tiree import _native

    path = folder / "dumped.vmfb"
    path.write_bytes(module)
    for output in ("all", "disassembly"):
        theirs = run_tool("iree-dump-module", f"--output={output}", path).splitlines()
        ours = _native.dump_module(str(path), output, "", False, False).splitlines()
        different = [(a[:200], b[:200]) for a, b in zip(ours, theirs, strict=False) if a != b]
        assert not different, different[0]
        assert len(ours) == len(theirs)
