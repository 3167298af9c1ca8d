"""One way to call a function in each implementation: the reference, this runtime, and IREE's."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tiree.testing.archive import Module, Signature, read
from tiree.testing.faults import Fault, OutOfSteps
from tiree.testing.reference import Context
from tiree.testing.scalars import signed

Numbers = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Outcome:
    """What a call came to: `code` is `OK` or the name of a status; `results` are (letter, bits), `("r", 0 or 1)` for a
    reference that is null or not."""

    code: str
    results: Numbers = ()

    def __str__(self) -> str:
        shown = ", ".join(f"{kind}:{bits:#x}" for kind, bits in self.results)
        return f"{self.code} ({shown})" if self.code == "OK" else self.code


class Runner(Protocol):
    """Calls exports of the last of the modules that it was made of. State lasts from call to call."""

    def call(self, function: str, arguments: Sequence[int]) -> Outcome:
        """`arguments` are the bits of numbers, in order; no function takes references."""
        ...


class Reference:
    """The interpreter of `tiree.testing.reference`. Raises `OutOfSteps` from `call`."""

    def __init__(self, modules: Sequence[bytes], steps: int = 1_000_000) -> None:
        self.context = Context(modules, steps)
        self.module: Module = read(modules[-1])

    def call(self, function: str, arguments: Sequence[int]) -> Outcome:
        kinds = self.module.function(function).signature.scalars
        try:
            results = self.context.invoke(function, list(zip(kinds, arguments, strict=True)))
        except Fault as fault:
            return Outcome(fault.code)
        expected = self.module.function(function).signature.results
        return Outcome(
            "OK", tuple(r if k != "r" else ("r", int(r is not None)) for k, r in zip(expected, results, strict=True))
        )


class _Lists:
    """What the Python APIs of both runtimes have in common."""

    def __init__(self, runtime: Any, modules: Sequence[bytes]) -> None:
        self.runtime = runtime
        self.instance = runtime.VmInstance()
        self.loaded = [runtime.VmModule.copy_buffer(self.instance, module) for module in modules]
        self.context = runtime.VmContext(self.instance, self.loaded)
        self.signatures: dict[str, tuple[Any, Signature]] = {}
        self.module = read(modules[-1])

    def call(self, function: str, arguments: Sequence[int]) -> Outcome:
        if function not in self.signatures:
            self.signatures[function] = (
                self.loaded[-1].lookup_function(function),
                self.module.function(function).signature,
            )
        callee, signature = self.signatures[function]
        inputs = self.runtime.VmVariantList(len(arguments))
        for kind, bits in zip(signature.scalars, arguments, strict=True):
            self.push(inputs, kind, bits)
        outputs = self.runtime.VmVariantList(len(signature.results))
        try:
            self.context.invoke(callee, inputs, outputs)
        except Exception as error:  # Each runtime has classes of its own.
            return Outcome(code_of(error))
        return Outcome("OK", tuple(self.result(outputs, i, kind) for i, kind in enumerate(signature.results)))

    def push(self, inputs: Any, kind: str, bits: int) -> None:
        if kind not in "iI":
            raise NotImplementedError("pass floats as integers: their bits would not survive")
        inputs.push_int(signed(bits, 32 if kind == "i" else 64))

    def result(self, outputs: Any, index: int, kind: str) -> tuple[str, int]:
        value = outputs.get_variant(index)
        if kind == "r":
            return "r", int(value is not None)
        if kind not in "iI":
            raise NotImplementedError("return floats as integers: their bits would not survive")
        return kind, value & (0xFFFFFFFF if kind == "i" else 0xFFFFFFFFFFFFFFFF)


class Tiree(_Lists):
    """This runtime, in this process."""

    def __init__(self, modules: Sequence[bytes]) -> None:
        import tiree.runtime

        super().__init__(tiree.runtime, modules)


class Iree(_Lists):
    """IREE's runtime, in this process: what kills it, kills the process."""

    def __init__(self, modules: Sequence[bytes]) -> None:
        super().__init__(import_module("iree.runtime"), modules)


def code_of(error: BaseException) -> str:
    """The status code that a message of either runtime names."""
    from tiree.testing.faults import CODES

    text = str(error)
    found = [(at, code) for code in CODES if (at := text.find(code)) >= 0]
    if not found:
        raise error
    return min(found)[1]


def subprocess_outcome(
    modules: Sequence[bytes], function: str, arguments: Sequence[int], seconds: float = 10
) -> Outcome | str:
    """What a call in IREE's runtime comes to, in a process of its own: an outcome, `killed by SIGSEGV`, or `no end`."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.vmfb" for number in range(len(modules))]
        for path, module in zip(paths, modules, strict=True):
            path.write_bytes(module)
        command = [sys.executable, "-m", "tiree.testing.iree_call", function, *map(str, arguments), *map(str, paths)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert child.stdout is not None
            child.stdout.readline()
            out, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return "no end"
        finally:
            child.kill()
            child.communicate()
    if child.returncode < 0:
        return f"killed by {signal.Signals(-child.returncode).name}"
    code, *results = out.split() or ["no answer"]
    pairs = (text.partition(":") for text in results)
    return Outcome(code, tuple((kind, int(bits)) for kind, _, bits in pairs))


__all__ = ["Iree", "OutOfSteps", "Outcome", "Reference", "Runner", "Tiree", "subprocess_outcome"]
