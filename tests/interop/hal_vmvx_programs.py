"""Programs that dispatch bytecode kernels (`vmvx-bytecode-fb`) made for what they show of the loader."""

from __future__ import annotations

from functools import cache

from interop.hal_programs import Calls, program
from runtime.vm_program import Function, Value, VmProgram

FORMAT = "vmvx-bytecode-fb"
KINDS = "rrriiiiiiiii"


def _binding(f: Function, index: int) -> Value:
    at = f.line(f"vm.const.i32 {index}", "i")
    bindings = f.line(f"vm.cast.any.ref {f.arguments[2]} : !vm.ref<?> -> !vm.list<!vm.buffer>", "r")
    return f.line(f"vm.list.get.ref {bindings}, {at} : (!vm.list<!vm.buffer>, i32) -> !vm.buffer", "r")


def _store(f: Function, buffer: Value, index: Value, value: Value) -> None:
    f.line(f"vm.buffer.store.i32 {value}, {buffer}[{index}] : i32 -> !vm.buffer")


@cache
def kernels() -> bytes:
    """`state` writes what it is given, `ids` numbers its workgroups, `fails` and `outside` fail."""
    made = VmProgram("kernels")
    with made.function("state", KINDS) as f:
        f.reflection = {"binding_count": "1", "constant_count": "3"}
        values = list(f.arguments[3:])
        constants = f.line(f"vm.cast.any.ref {f.arguments[1]} : !vm.ref<?> -> !vm.buffer", "r")
        length = f.line(f"vm.buffer.length {constants} : !vm.buffer -> i64", "I")
        values.append(f.line(f"vm.trunc.i64.i32 {length} : i64 -> i32", "i"))
        out = _binding(f, 0)
        for index, value in enumerate(values):
            _store(f, out, f.line(f"vm.const.i64 {index}", "I"), value)
    with made.function("ids", KINDS) as f:
        f.reflection = {"binding_count": "1"}
        out, (x, y, z, _, _, _, count_x, count_y, _) = _binding(f, 0), f.arguments[3:]
        row = f.line(f"vm.mul.i32 {z}, {count_y} : i32", "i")
        row = f.line(f"vm.add.i32 {row}, {y} : i32", "i")
        at = f.line(f"vm.mul.i32 {row}, {count_x} : i32", "i")
        at = f.line(f"vm.add.i32 {at}, {x} : i32", "i")
        _store(f, out, f.line(f"vm.ext.i32.i64.s {at} : i32 -> i64", "I"), at)
    with made.function("fails", KINDS) as f:
        f.reflection = {"binding_count": "1"}
        code = f.line("vm.const.i32 9", "i")
        f.line(f'vm.cond_fail {code}, "on purpose"')
    with made.function("outside", KINDS) as f:
        f.reflection = {"binding_count": "1"}
        at = f.line("vm.const.i64 99", "I")
        _store(f, _binding(f, 0), at, f.line("vm.const.i32 1", "i"))
    return made.compile()


@cache
def lasting_kernels() -> bytes:
    """`keep` keeps a binding that `peek` reads later; `constant` writes an executable constant. IREE has no globals."""
    made = VmProgram("kernels")
    made.globals.append("  vm.global.ref private mutable @kept : !vm.buffer")
    made.globals.append("  vm.global.i32 private mutable @given = 5 : i32")
    with made.function("keep", KINDS) as f:
        f.line(f"vm.global.store.ref {_binding(f, 0)}, @kept : !vm.buffer")
    at = "vm.const.i64 1"
    with made.function("peek", KINDS) as f:
        kept, index = f.line("vm.global.load.ref @kept : !vm.buffer", "r"), f.line(at, "I")
        value = f.line(f"vm.buffer.load.i32 {kept}[{index}] : !vm.buffer -> i32", "i")
        _store(f, _binding(f, 0), index, value)
    with made.function("constant", KINDS) as f:
        _store(f, _binding(f, 0), f.line(at, "I"), f.line("vm.global.load.i32 @given : i32", "i"))
    with made.function("__set_constants", "r") as f:
        buffer = f.line(f"vm.cast.any.ref {f.arguments[0]} : !vm.ref<?> -> !vm.buffer", "r")
        value = f.line(f"vm.buffer.load.i32 {buffer}[{f.line(at, 'I')}] : !vm.buffer -> i32", "i")
        f.line(f"vm.global.store.i32 {value}, @given : i32")
    return made.compile()


@cache
def odd_kernels() -> bytes:
    """An entry point of another signature."""
    made = VmProgram("odd")
    with made.function("f", "ii") as f:
        f.result(f.arguments[0])
    return made.compile()


CONSTANTS = bytes([1, 0, 0, 0, 77, 0, 0, 0])


def _run(c: Calls, name: str, counts: tuple[int, int, int], constants: list[int], *buffers: Value) -> Value:
    executable = c.hal("executable.create", c.device, -1, FORMAT, kernels(), None)
    commands = c.commands()
    entry = c.entry(executable, name)
    bindings = [(0, 0, buffer, 0, -1) for buffer in buffers]
    c.hal("command_buffer.dispatch", commands, executable, entry, *counts, 0, constants, bindings)
    return commands


@program("executable.create", "command_buffer.dispatch")
def vmvx_state(c: Calls) -> None:
    out = c.buffer(64)
    c.execute(_run(c, "state", (1, 1, 1), [3, 4, 5], out))
    c.return_words(out, 10)


@program("command_buffer.dispatch")
def vmvx_workgroups(c: Calls) -> None:
    out = c.buffer(64)
    c.execute(_run(c, "ids", (2, 3, 2), [], out))
    c.return_words(out, 13)


@program("command_buffer.dispatch")
def vmvx_kept_binding(c: Calls) -> None:
    """What a kernel keeps stays in memory."""
    executable = c.hal("executable.create", c.device, -1, FORMAT, lasting_kernels(), CONSTANTS)
    out = c.buffer(16)
    for name in ("keep", "peek"):
        commands = c.commands()
        buffer = c.buffer(16, 1, 42) if name == "keep" else out
        bindings = [(0, 0, buffer, 0, -1)]
        entry = c.entry(executable, name)
        c.hal("command_buffer.dispatch", commands, executable, entry, 1, 1, 1, 0, [], bindings)
        c.execute(commands)
    c.return_words(out)


for _name in ("fails", "outside"):

    def _failing(c: Calls, name: str = _name) -> None:
        commands, fence = _run(c, name, (2, 1, 1), [], c.buffer(16)), c.fence()
        c.hal("command_buffer.finalize", commands)
        c.hal("device.queue.execute", c.device, -1, None, fence, commands, 0)
        c.f.result(c.wait(fence))

    _failing.__name__ = f"vmvx_{_name}"
    program("command_buffer.dispatch")(_failing)


@program("executable.create")
def vmvx_constants(c: Calls) -> None:
    executable = c.hal("executable.create", c.device, -1, FORMAT, lasting_kernels(), CONSTANTS)
    out, commands = c.buffer(16), c.commands()
    entry = c.entry(executable, "constant")
    c.hal("command_buffer.dispatch", commands, executable, entry, 1, 1, 1, 0, [], [(0, 0, out, 0, -1)])
    c.execute(commands)
    c.return_words(out, 2)


for _buffers, _constants in ((2, 0), (1, 1)):

    def _counts(c: Calls, buffers: int = _buffers, constants: int = _constants) -> None:
        """Unlike the kernel's. One device notices while recording, the other later."""
        commands = _run(c, "ids", (1, 1, 1), [1] * constants, *(c.buffer() for _ in range(buffers)))
        c.execute(commands)

    _counts.__name__ = f"vmvx_counts_{_buffers}_{_constants}"
    program("command_buffer.dispatch")(_counts)


@program("executable.create")
def vmvx_unwanted_constants(c: Calls) -> None:
    c.hal("executable.create", c.device, -1, FORMAT, kernels(), CONSTANTS)


@program("executable.create")
def vmvx_odd(c: Calls) -> None:
    c.hal("executable.create", c.device, -1, FORMAT, odd_kernels(), None)


@program("executable.create")
def vmvx_damaged(c: Calls) -> None:
    c.hal("executable.create", c.device, -1, FORMAT, kernels()[:500], None)
