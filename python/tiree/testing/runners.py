"""One way to call a function in each implementation: the reference, this runtime, and IREE's."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tiree.testing import wanted
from tiree.testing.archive import Module, Signature, read
from tiree.testing.contents import argument_bytes, digest, of_reference, of_runtime
from tiree.testing.faults import Fault, OutOfSteps
from tiree.testing.native import NATIVE, native_module
from tiree.testing.objects import Buffer
from tiree.testing.reference import Context
from tiree.testing.scalars import SCALARS, signed

Numbers = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Outcome:
    """What a call came to: `code` is `OK` or the name of a status; `results` are (letter, bits), for references 0 for
    null or a number made of the contents."""

    code: str
    results: Numbers = ()

    def __str__(self) -> str:
        shown = ", ".join(f"{kind}:{bits:#x}" for kind, bits in self.results)
        return f"{self.code} ({shown})" if self.code == "OK" else self.code

    def without_contents(self) -> Outcome:
        """The same, references being 0 or 1."""
        return Outcome(self.code, tuple((kind, min(bits, 1) if kind == "r" else bits) for kind, bits in self.results))


class Runner(Protocol):
    """Calls exports of the last of the modules that it was made of. State lasts from call to call."""

    def call(self, function: str, arguments: Sequence[int]) -> Outcome:
        """`arguments` are those of a `Call`."""
        ...


class Reference:
    """The interpreter of `tiree.testing.reference`. Raises `OutOfSteps` from `call`.

    `scalars` is what instructions on numbers compute; a class that replaces some is an implementation with bugs.
    """

    scalars: Mapping[str, Callable[..., int]] = SCALARS

    def __init__(self, modules: Sequence[bytes], steps: int = 100_000, departures: set[str] | None = None) -> None:
        wanted.modules(type(self).__name__, modules)
        self.context = Context([NATIVE, *modules], steps, departures, self.scalars)
        self.module: Module = read(modules[-1])

    def call(self, function: str, arguments: Sequence[int]) -> Outcome:
        signature = self.module.function(function).signature
        values = [self._value(kind, bits) for kind, bits in zip(signature.scalars, arguments, strict=True)]
        try:
            results = self.context.invoke(function, values)
        except Fault as fault:
            return Outcome(fault.code)
        numbers = [
            digest(of_reference(r)) if k == "r" else r[1] for k, r in zip(signature.results, results, strict=True)
        ]
        return Outcome("OK", tuple(zip(signature.results, numbers, strict=True)))

    def _value(self, kind: str, bits: int) -> Any:
        if kind != "r":
            return kind, bits
        data = argument_bytes(bits)
        return None if data is None else Buffer(data, True)


class _Lists:
    """What the Python APIs of both runtimes have in common."""

    def __init__(self, runtime: Any, modules: Sequence[bytes], natives: Sequence[Any] = ()) -> None:
        wanted.modules(type(self).__name__, modules)
        self.runtime = runtime
        self.instance = runtime.VmInstance()
        self.loaded = [*natives, *(runtime.VmModule.copy_buffer(self.instance, module) for module in modules)]
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
        if kind in "fF":
            raise NotImplementedError("pass floats as integers: their bits would not survive")
        if kind != "r":
            inputs.push_int(signed(bits, 32 if kind == "i" else 64))
            return
        data, buffer = argument_bytes(bits), None
        if data is not None:
            buffer = self.runtime.VmBuffer(len(data), 0, True)
            memoryview(buffer)[:] = data
        inputs.push_ref(buffer)

    def result(self, outputs: Any, index: int, kind: str) -> tuple[str, int]:
        if kind == "r":
            return "r", digest(of_runtime(self.runtime, outputs, index))
        if kind not in "iI":
            raise NotImplementedError("return floats as integers: their bits would not survive")
        return kind, outputs.get_variant(index) & (0xFFFFFFFF if kind == "i" else 0xFFFFFFFFFFFFFFFF)


class Tiree(_Lists):
    """This runtime, in this process."""

    def __init__(self, modules: Sequence[bytes]) -> None:
        import tiree.runtime

        super().__init__(tiree.runtime, modules, [native_module()])


class Iree(_Lists):
    """IREE's runtime, in this process: what kills it, kills the process."""

    def __init__(self, modules: Sequence[bytes]) -> None:
        super().__init__(import_module("iree.runtime"), modules)

    def result(self, outputs: Any, index: int, kind: str) -> tuple[str, int]:
        """References only as null or not: this API has no way to read all of them."""
        return (
            ("r", int(outputs.get_variant(index) is not None)) if kind == "r" else super().result(outputs, index, kind)
        )


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
