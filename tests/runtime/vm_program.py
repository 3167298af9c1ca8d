"""Writes `vm.module` text, which iree-compile turns into bytecode as it is: programs that call single imports.

    program = VmProgram("m")
    with program.function("fill") as f:                     # results are what f.result() was given
        device = f.call("hal.devices.get", 0)
        ...
    module = program.compile()

Arguments are names of values, or Python numbers, strings and bytes (which become rodata). A span is a list; a span of
tuples is a list of tuples. References have no static type: the runtime checks them.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from proofs.iree_reference import tool_path
from runtime.import_table import SIGNATURES

TYPES = {"i": "i32", "I": "i64", "f": "f32", "F": "f64", "r": "!vm.ref<?>"}
NULL = None


class Value(str):
    """Name and kind of an SSA value."""

    kind: str

    def __new__(cls, name: str, kind: str) -> Value:
        value = super().__new__(cls, name)
        value.kind = kind
        return value


def split_cconv(cconv: str) -> tuple[list[str], list[str]]:
    """`0rICrID_v` → arguments ["r", "I", "CrID"], results []."""
    inputs, _, outputs = cconv.removeprefix("0").partition("_")
    return re.findall(r"C[^D]*D|[^v]", inputs), re.findall("[^v]", outputs)


class Function:
    """The body of one function, under construction."""

    def __init__(self, program: VmProgram, name: str, kinds: str) -> None:
        self.program = program
        self.name = name
        self.arguments = [Value(f"%arg{i}", kind) for i, kind in enumerate(kinds)]
        self.results: list[Value] = []
        self.reflection: dict[str, str] = {}
        self.lines: list[str] = []
        self.count = 0

    def fresh(self, kind: str) -> Value:
        self.count += 1
        return Value(f"%v{self.count}", kind)

    def value(self, given: Any, kind: str) -> Value:
        """`given` as a value of `kind`."""
        if isinstance(given, Value):
            return given
        made = self.fresh(kind)
        if kind == "r":
            if given is None:
                self.lines.append(f"{made} = vm.const.ref.zero : !vm.ref<?>")
            else:
                data = self.line(f"vm.const.ref.rodata {self.program.rodata(given)} : !vm.buffer", "r")
                self.lines.append(f"{made} = vm.cast.ref.any {data} : !vm.buffer -> !vm.ref<?>")
        else:
            text = repr(float(given)) if kind in "fF" else str(given)
            self.lines.append(f"{made} = vm.const.{TYPES[kind]} {text}")
        return made

    def call(self, name: str, *given: Any) -> Any:
        """Calls an import: None, a value or a list of values."""
        inputs, outputs = split_cconv(self.program.use(name))
        assert len(given) == len(inputs), f"{name} takes {inputs}, got {given}"
        operands: list[str] = []
        types: list[str] = []
        for argument, kind in zip(given, inputs, strict=True):
            if kind[0] == "C":
                operands.append(self._span(argument, kind[1:-1]))
                types.append(_span_type(kind[1:-1]) + " ...")
            else:
                operands.append(self.value(argument, kind))
                types.append(TYPES[kind])
        results = [self.fresh(kind) for kind in outputs]
        left = f"{', '.join(results)} = " if results else ""
        returned = ", ".join(TYPES[kind] for kind in outputs)
        variadic = ".variadic" if any(kind[0] == "C" for kind in inputs) else ""
        right = f"-> ({returned})" if not variadic or len(outputs) != 1 else f"-> {returned}"
        if variadic and not outputs:
            right = ""
        self.lines.append(f"{left}vm.call{variadic} @{name}({', '.join(operands)}) : ({', '.join(types)}) {right}")
        return results[0] if len(results) == 1 else (results or None)

    def _span(self, given: Sequence[Any], kinds: str) -> str:
        if len(kinds) == 1:
            return "[" + ", ".join(self.value(one, kinds) for one in given) + "]"
        rows = (", ".join(self.value(one, kind) for one, kind in zip(row, kinds, strict=True)) for row in given)
        return "[" + ", ".join(f"({row})" for row in rows) + "]"

    def line(self, text: str, kind: str = "") -> Value:
        """Any other operation; with `kind` it has a result."""
        if not kind:
            self.lines.append(text)
            return Value("", "")
        made = self.fresh(kind)
        self.lines.append(f"{made} = {text}")
        return made

    def result(self, *values: Any) -> None:
        """Adds to what the function returns; numbers are i32."""
        self.results += [self.value(value, "i") for value in values]

    def text(self) -> str:
        arguments = ", ".join(f"{a}: {TYPES[a.kind]}" for a in self.arguments)
        types = ", ".join(TYPES[r.kind] for r in self.results)
        ending = f"vm.return {', '.join(self.results)} : {types}" if self.results else "vm.return"
        body = "\n    ".join([*self.lines, ending])
        head = f"  vm.export @{self.name}\n  vm.func private @{self.name}({arguments}) -> ({types})"
        if self.reflection:
            pairs = ", ".join(f'{key} = "{value}"' for key, value in self.reflection.items())
            head += f" attributes {{iree.reflection = {{{pairs}}}}}"
        return f"{head} {{\n    {body}\n  }}\n"


def _span_type(kinds: str) -> str:
    return TYPES[kinds] if len(kinds) == 1 else f"tuple<{', '.join(TYPES[kind] for kind in kinds)}>"


class VmProgram:
    """A module of such functions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.imports: dict[str, str] = {}
        self.data: dict[bytes, str] = {}
        self.functions: dict[str, Function] = {}
        self.globals: list[str] = []

    def use(self, name: str) -> str:
        """Declares an import; returns its calling convention."""
        cconv = SIGNATURES[name]
        if name not in self.imports:
            inputs, outputs = split_cconv(cconv)
            arguments = ", ".join(
                f"%a{i}: {_span_type(kind[1:-1])} ..." if kind[0] == "C" else f"%a{i}: {TYPES[kind]}"
                for i, kind in enumerate(inputs)
            )
            results = f" -> ({', '.join(TYPES[kind] for kind in outputs)})" if outputs else ""
            attributes = " attributes {vm.yield}" if name == "hal.fence.await" else ""
            self.imports[name] = f"  vm.import private @{name}({arguments}){results}{attributes}"
        return cconv

    def rodata(self, data: str | bytes) -> str:
        data = data.encode() if isinstance(data, str) else bytes(data)
        return self.data.setdefault(data, f"@data{len(self.data)}")

    @contextlib.contextmanager
    def function(self, name: str, arguments: str = "") -> Iterator[Function]:
        made = Function(self, name, arguments)
        yield made
        self.functions[name] = made

    def text(self) -> str:
        rodata = []
        for data, name in self.data.items():
            values = f"dense<[{', '.join(map(str, data))}]> : vector<{len(data)}xi8>" if data else '""'
            if len(data) > 64:
                properties = (
                    f'sym_name = "{name[1:]}", sym_visibility = "private", alignment = 64 : i64, value = {values}'
                )
                rodata.append(f'  "vm.rodata"() <{{{properties}}}> : () -> ()')
            else:
                rodata.append(f"  vm.rodata private {name} {values}")
        functions = (function.text() for function in self.functions.values())
        return "\n".join(
            [f"vm.module @{self.name} {{", *self.imports.values(), *self.globals, *rodata, *functions, "}", ""]
        )

    def compile(self) -> bytes:
        """The module that iree-compile makes."""
        return compile_vm(self.text())


@cache
def compile_vm(text: str) -> bytes:
    """What iree-compile 3.13 makes of a `vm.module`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.vmfb"
        command = [tool_path("iree-compile"), "--compile-mode=vm", "-", "-o", path]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
        if done.returncode:
            raise AssertionError(f"iree-compile refuses:\n{done.stderr.decode()[:2000]}")
        return path.read_bytes()
