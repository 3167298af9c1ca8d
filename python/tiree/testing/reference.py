"""A slow interpreter of bytecode, written for reading: the oracle that the runtime is compared with.

It shares nothing with the runtime: modules are read by `archive.py`, decoded by `decode.py`, numbers are Python ints,
and every operand is checked where it is used. `Context([module]).invoke("f", [1, 2])` runs a function.

Values outside are (kind, bits) for numbers, kind being a letter of calling conventions (`i`, `I`, `f`, `F`) and bits
not negative, and objects for references: `Buffer`, `List`, anything with a `type_name`, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tiree.testing import archive
from tiree.testing.archive import Function, Module, Signature
from tiree.testing.decode import Decoded, Remap, function_code
from tiree.testing.faults import CODES, Fault, NotDecodable, OutOfSteps
from tiree.testing.memory import MEMORY
from tiree.testing.objects import Buffer, accepts
from tiree.testing.scalars import SCALARS

IMPORT = 0x80000000
REF, MOVE, REF_MASK = 0x8000, 0x4000, 0x3FFF
PLAIN = 0xFFFF
MAX_DEPTH = 150
"""Calls inside calls that programs may rely on: the runtime has room for as many frames of 64 cells."""

Number = tuple[str, int]
Value = Any
HostFunction = Callable[..., Any]


@dataclass
class HostModule:
    """A module of Python functions: name -> (calling convention, function of values).

    A span arrives as a list of values, or of tuples. The function returns None, a value, or a tuple of values.
    """

    name: str
    functions: dict[str, tuple[str, HostFunction]]


@dataclass
class Instance:
    """A bytecode module in a context: its state and what its imports are bound to."""

    module: Module
    data: bytearray
    refs: list[Any]
    rodata: list[Buffer]
    imports: list[tuple[Instance | HostModule, int | str] | None] = field(default_factory=list[Any])
    code: dict[int, dict[int, Decoded]] = field(default_factory=dict[int, dict[int, Decoded]])

    def decoded(self, ordinal: int) -> dict[int, Decoded]:
        """Instructions of a function by pc."""
        if ordinal not in self.code:
            self.code[ordinal] = function_code(self.module.functions[ordinal].code)
        return self.code[ordinal]


class Frame:
    """Registers of one call."""

    def __init__(self, instance: Instance, ordinal: int, departures: set[str]) -> None:
        self.instance = instance
        self.departures = departures
        self.ordinal = ordinal
        self.function: Function = instance.module.functions[ordinal]
        self.cells = [0] * (1 << max(self.function.cells - 1, 0).bit_length())
        self.refs: list[Any] = [None] * (1 << max(self.function.refs - 1, 0).bit_length())

    def get(self, kind: str, register: int) -> int:
        """The bits of a number register."""
        low = self.cells[register]
        return low | self.cells[register + 1] << 32 if kind in "IF" else low

    def set(self, kind: str, register: int, bits: int) -> None:
        self.cells[register] = bits & 0xFFFFFFFF
        if kind in "IF":
            self.cells[register + 1] = bits >> 32

    def peek(self, register: int) -> Any:
        """A reference, left where it is."""
        return self.refs[register & REF_MASK]

    def take(self, register: int) -> Any:
        """A reference, moved out when the register says so."""
        value = self.refs[register & REF_MASK]
        if register & MOVE:
            self.refs[register & REF_MASK] = None
        return value

    def put(self, register: int, value: Any) -> None:
        self.refs[register & REF_MASK] = value

    def read(self, kind: str, register: int) -> Value:
        """A value of any kind, as it is passed."""
        return self.take(register) if kind == "r" else (kind, self.get(kind, register))

    def write(self, kind: str, register: int, value: Value) -> None:
        if kind == "r":
            self.put(register, value)
        else:
            self.set(kind, register, value[1])

    def remap(self, pairs: Remap) -> None:
        for source, target in pairs:
            if source & REF:
                self.put(target, self.take(source))
            else:
                self.cells[target] = self.cells[source]

    def type_name(self, ordinal: int) -> str:
        return self.instance.module.types[ordinal]


def argument_registers(kinds: Sequence[str]) -> list[int]:
    """Where a function finds arguments of these kinds."""
    cell = ref = 0
    registers: list[int] = []
    for kind in kinds:
        if kind == "r":
            registers.append(REF | ref)
            ref += 1
            continue
        if kind in "IF":
            cell += cell % 2
        registers.append(cell)
        cell += 2 if kind in "IF" else 1
    return registers


class Context:
    """Modules linked in order; each may import from those before it. Runs their `__init`.

    `steps` bounds the instructions of one `invoke`. `departures` collects the names of what was met in which IREE
    differs (see `tiree.testing.departures`). Raises `Fault` as the runtime would: NOT_FOUND for imports that are
    missing, whatever an `__init` raises.
    """

    def __init__(
        self,
        modules: Sequence[Module | bytes | HostModule],
        steps: int = 1_000_000,
        departures: set[str] | None = None,
        scalars: Mapping[str, Callable[..., int]] = SCALARS,
    ) -> None:
        self.steps = steps
        self.scalars = scalars
        self.left = steps
        self.departures: set[str] = set() if departures is None else departures
        self.modules: dict[str, Instance | HostModule] = {}
        for module in modules:
            if isinstance(module, HostModule):
                self.modules[module.name] = module
                continue
            parsed = archive.read(module) if isinstance(module, bytes) else module
            instance = self._instance(parsed)
            self.modules[parsed.name] = instance
            if "__init" in parsed.exports:
                self._run(instance, parsed.exports["__init"], [])
        self.last = list(self.modules)[-1] if self.modules else ""

    def _instance(self, module: Module) -> Instance:
        rodata = [Buffer(data, False) for data in module.rodata]
        instance = Instance(module, bytearray(module.state_bytes), [None] * module.state_refs, rodata)
        for wanted in module.imports:
            provider = self.modules.get(wanted.module)
            bound: tuple[Instance | HostModule, int | str] | None = None
            if isinstance(provider, HostModule) and wanted.function in provider.functions:
                bound = (provider, wanted.function)
            elif isinstance(provider, Instance) and wanted.function in provider.module.exports:
                bound = (provider, provider.module.exports[wanted.function])
            elif not wanted.optional:
                raise Fault("NOT_FOUND", f"import {wanted.module}.{wanted.function}")
            instance.imports.append(bound)
        return instance

    def invoke(self, function: str, arguments: Sequence[Value] = (), module: str = "") -> list[Value]:
        """Calls an export of `module` (the last one unless named). Raises `Fault`, or `OutOfSteps`."""
        instance = self.modules[module or self.last]
        if not isinstance(instance, Instance):
            raise NotDecodable("host functions are called by bytecode only")
        self.left = self.steps
        return self._run(instance, instance.module.exports[function], list(arguments))

    def _run(self, instance: Instance, ordinal: int, arguments: list[Value], depth: int = 0) -> list[Value]:
        if depth > MAX_DEPTH:
            raise OutOfSteps("deeper calls than the reference follows")
        frame = Frame(instance, ordinal, self.departures)
        kinds = frame.function.signature.scalars
        for kind, register, value in zip(kinds, argument_registers(kinds), arguments, strict=True):
            frame.write(kind, register, value)
        code = instance.decoded(ordinal)
        pc: int | None = 0
        while True:
            self.left -= 1
            if self.left < 0:
                raise OutOfSteps
            decoded = code[pc]
            try:
                if decoded.mnemonic == "return":
                    results = frame.function.signature.results
                    return [frame.read(k, r) for k, r in zip(results, _registers(decoded.operands[0]), strict=False)]
                pc = self._step(frame, decoded, depth)
            except Fault as fault:
                if fault.place is None:
                    fault.place = (instance.module.name, ordinal, decoded.pc)
                raise

    def _step(self, frame: Frame, decoded: Decoded, depth: int) -> int:
        """Executes one instruction other than `return`; returns the pc of the next."""
        name = decoded.mnemonic
        if name in self.scalars:
            *inputs, (target, kind) = [(o, s.kind) for o, s in zip(decoded.operands, decoded.row.operands, strict=True)]
            values = [frame.get(k, r) for r, k in inputs if isinstance(r, int)]
            assert isinstance(target, int)
            try:
                frame.set(kind, target, self.scalars[name](*values))
            except Fault:
                self.departures.add("division")
                raise
            return decoded.next
        if name in MEMORY:
            MEMORY[name](frame, *decoded.operands)
            return decoded.next
        if name.startswith("call"):
            return self._call(frame, decoded, depth)
        return CONTROL[name](frame, decoded)

    def _call(self, frame: Frame, decoded: Decoded, depth: int) -> int:
        operands = dict(zip((o.name for o in decoded.row.operands), decoded.operands, strict=True))
        callee = operands["callee"]
        assert isinstance(callee, int)
        given, taken = _registers(operands["operands"]), _registers(operands["results"])
        if callee & IMPORT:
            declared = frame.instance.module.imports[callee & ~IMPORT]
            sizes = operands.get("segment_sizes")
            kinds = flatten(declared.signature, None if sizes is None else _registers(sizes))
            values = [frame.read(k, r) for k, r in zip(kinds, given, strict=False)]
            results = self._call_import(frame.instance, callee & ~IMPORT, values, sizes, depth)
            kinds_out = declared.signature.results
        else:
            signature = frame.instance.module.functions[callee].signature
            values = [frame.read(k, r) for k, r in zip(signature.scalars, given, strict=False)]
            results = self._run(frame.instance, callee, values, depth + 1)
            kinds_out = signature.results
        for kind, register, value in zip(kinds_out, taken, results, strict=False):
            frame.write(kind, register, value)
        target = operands.get("dest_pc")
        return target if isinstance(target, int) else decoded.next

    def _call_import(self, instance: Instance, number: int, values: list[Value], sizes: Any, depth: int) -> list[Value]:
        bound = instance.imports[number]
        if bound is None:
            raise Fault("NOT_FOUND", "optional import is not resolved")
        provider, function = bound
        if isinstance(provider, Instance):
            assert isinstance(function, int)
            return self._run(provider, function, values, depth + 1)
        assert isinstance(function, str)
        cconv, implementation = provider.functions[function]
        signature = Signature.parse(cconv)
        result = implementation(*_gather(signature, values, sizes))
        if len(signature.results) == 1:
            return [result]
        return list(result) if result is not None else []


def _registers(operand: Any) -> tuple[int, ...]:
    assert isinstance(operand, tuple)
    return cast("tuple[int, ...]", operand)


def flatten(signature: Signature, sizes: Sequence[int] | None) -> list[str]:
    """Kinds of all arguments of one call, spans unrolled."""
    if sizes is None:
        return list(signature.scalars)
    kinds: list[str] = []
    for argument, size in zip(signature.arguments, sizes, strict=False):
        kinds += [argument] if isinstance(argument, str) else list(argument) * size
    return kinds


def _gather(signature: Signature, values: list[Value], sizes: Any) -> list[Any]:
    """Flat values as a host function takes them."""
    if sizes is None:
        return values
    arguments: list[Any] = []
    rest = iter(values)
    for argument, size in zip(signature.arguments, sizes, strict=False):
        if isinstance(argument, str):
            arguments.append(next(rest))
        elif len(argument) == 1:
            arguments.append([next(rest) for _ in range(size)])
        else:
            arguments.append([tuple(next(rest) for _ in argument) for _ in range(size)])
    return arguments


def _jump(frame: Frame, target: Any, pairs: Any) -> int:
    frame.remap(pairs)
    return target


def _branch(frame: Frame, decoded: Decoded) -> int:
    target, pairs = decoded.operands
    if decoded.mnemonic == "yield":
        frame.departures.add("yield")
    return _jump(frame, target, pairs)


def _conditional(frame: Frame, decoded: Decoded) -> int:
    condition, *edges = decoded.operands
    assert isinstance(condition, int)
    return _jump(frame, *(edges[:2] if frame.cells[condition] else edges[2:]))


def _table(frame: Frame, decoded: Decoded) -> int:
    index, default, pairs, _, cases = decoded.operands
    assert isinstance(index, int)
    assert isinstance(cases, tuple)
    number = frame.cells[index]
    if number < len(cases):
        case: Any = cases[number]
        return _jump(frame, *case)
    return _jump(frame, default, pairs)


def _conditional_break(frame: Frame, decoded: Decoded) -> int:
    _, target, pairs = decoded.operands
    return _jump(frame, target, pairs)


def _fail(frame: Frame, decoded: Decoded) -> int:
    status, message = decoded.operands
    assert isinstance(status, int)
    assert isinstance(message, bytes)
    code = frame.cells[status]
    if code == 0:
        return decoded.next
    if code & 31 in (0, 17) or code & 31 >= len(CODES):
        frame.departures.add("status code")
    name = CODES[code & 31] if code & 31 < len(CODES) else "UNKNOWN"
    raise Fault("UNKNOWN" if name == "OK" else name, message.decode(errors="replace"))


def _next(frame: Frame, decoded: Decoded) -> int:
    del frame
    return decoded.next


CONTROL: dict[str, Callable[[Frame, Decoded], int]] = {
    "Block": _next,
    "br": _branch,
    "yield": _branch,
    "break": _branch,
    "cond_break": _conditional_break,
    "cond_br": _conditional,
    "br_table": _table,
    "fail": _fail,
}
"""Instructions that say where to go on."""

__all__ = ["Buffer", "Context", "Fault", "Frame", "HostModule", "OutOfSteps", "accepts"]
