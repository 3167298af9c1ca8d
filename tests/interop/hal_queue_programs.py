"""Programs about queues, command buffers and executables."""

from __future__ import annotations

from typing import Any

from interop.hal_programs import ADD, DEFAULT, FORMAT, HOST_TYPES, SCALED, TRIPLE, Calls, kernels, program
from runtime.vm_program import Value

ONE, TWO, HALF = 0x3F800000, 0x40000000, 0x3F000000
DATA = bytes(range(200))


@program("device.queue.alloca", "device.queue.fill", "device.queue.dealloca", "device.queue.barrier")
def transient(c: Calls) -> None:
    """alloca, fill, copy out, dealloca, each after the one before."""
    fences = [c.fence() for _ in range(5)]
    buffer = c.hal("device.queue.alloca", c.device, -1, None, fences[0], 0, 0x30, DEFAULT, 64, 0)
    c.hal("device.queue.fill", c.device, -1, fences[0], fences[1], buffer, 0, 64, 0x11223344, 4, 0)
    target = c.buffer(16)
    c.hal("device.queue.copy", c.device, -1, fences[1], fences[2], buffer, 32, target, 0, 16, 0)
    c.hal("device.queue.dealloca", c.device, -1, fences[2], fences[3], buffer, 0)
    c.hal("device.queue.barrier", c.device, -1, fences[3], fences[4], 0)
    c.check(fences[4])
    c.return_words(target)


@program("device.queue.alloca")
def alloca_of_unknown_pool(c: Calls) -> None:
    c.hal("device.queue.alloca", c.device, -1, None, c.fence(), 5, 0x30, DEFAULT, 64, 0)


@program("device.queue.dealloca")
def dealloca_of_what_was_not_alloca(c: Calls) -> None:
    buffer, fence = c.buffer(16, 5, 6, 7, 8), c.fence()
    c.hal("device.queue.dealloca", c.device, -1, None, fence, buffer, 1)
    c.check(fence)
    c.return_words(buffer)


@program("device.queue.copy")
def copies(c: Calls) -> None:
    source, target, fence = c.buffer(32, 1, 2, 3, 4, 5, 6, 7, 8), c.buffer(32), c.fence()
    c.hal("device.queue.copy", c.device, -1, None, fence, source, 4, target, 8, 12, 0)
    c.check(fence)
    c.return_words(target, 8)


@program("device.queue.copy")
def copy_outside(c: Calls) -> None:
    fence = c.fence()
    c.hal("device.queue.copy", c.device, -1, None, fence, c.buffer(16), 8, c.buffer(16), 0, 12, 0)
    c.f.result(c.wait(fence))


@program("device.queue.copy")
def copy_onto_itself(c: Calls) -> None:
    buffer, fence = c.buffer(32, 1, 2, 3, 4, 5, 6, 7, 8), c.fence()
    c.hal("device.queue.copy", c.device, -1, None, fence, buffer, 0, buffer, 4, 16, 0)
    c.f.result(c.wait(fence))


@program("device.queue.update")
def updates(c: Calls) -> None:
    buffer, fence = c.buffer(16), c.fence()
    c.hal("device.queue.update", c.device, -1, None, fence, DATA, 8, buffer, 4, 8, 0)
    c.check(fence)
    c.return_words(buffer)


for _pattern, _length in ((0xAB, 1), (0x1234, 2), (0x11223344, 4)):

    def _fill(c: Calls, pattern: int = _pattern, length: int = _length) -> None:
        buffer, fence = c.buffer(32), c.fence()
        c.hal("device.queue.fill", c.device, -1, None, fence, buffer, 4, 16, pattern, length, 0)
        c.check(fence)
        c.return_words(buffer, 8)

    _fill.__name__ = f"fill_with_{_length}"
    program("device.queue.fill")(_fill)


@program("device.queue.fill")
def fill_with_three(c: Calls) -> None:
    fence = c.fence()
    c.hal("device.queue.fill", c.device, -1, None, fence, c.buffer(), 0, 12, 1, 3, 0)
    c.f.result(c.wait(fence))


@program("device.queue.fill")
def fill_unaligned(c: Calls) -> None:
    fence = c.fence()
    c.hal("device.queue.fill", c.device, -1, None, fence, c.buffer(), 2, 8, 1, 4, 0)
    c.f.result(c.wait(fence))


@program("device.queue.flush")
def flush(c: Calls) -> None:
    c.hal("device.queue.flush", c.device, -1)
    c.f.result(1)


@program("fence.fail", "device.queue.fill")
def failed_wait(c: Calls) -> None:
    """An operation after a failed fence does not run; its own fence fails alike."""
    buffer, failed, fence = c.buffer(16, 1), c.fence(), c.fence()
    c.hal("fence.fail", failed, 15)
    c.hal("device.queue.fill", c.device, -1, failed, fence, buffer, 0, 16, 0, 1, 0)
    c.f.result(c.hal("fence.query", fence))
    c.return_words(buffer)


@program(
    "command_buffer.create", "command_buffer.finalize", "command_buffer.fill_buffer", "command_buffer.copy_buffer",
    "command_buffer.update_buffer", "command_buffer.execution_barrier", "device.queue.execute",
)  # fmt: skip
def transfers(c: Calls) -> None:
    buffer, commands = c.buffer(32), c.commands(categories=1)
    c.hal("command_buffer.fill_buffer", commands, buffer, 0, 8, 0, 0x55, 1, 0)
    c.barrier(commands)
    c.hal("command_buffer.update_buffer", commands, DATA, 4, buffer, 8, 8, 0, 0)
    c.barrier(commands)
    c.hal("command_buffer.copy_buffer", commands, 0, 0, buffer, 4, buffer, 16, 12, 0)
    c.execute(commands)
    c.return_words(buffer, 8)


@program("command_buffer.advise_buffer", "command_buffer.begin_debug_group", "command_buffer.end_debug_group")
def hints(c: Calls) -> None:
    buffer, commands = c.buffer(16), c.commands()
    c.hal("command_buffer.begin_debug_group", commands, "outer")
    c.hal("command_buffer.begin_debug_group", commands, "inner")
    c.hal("command_buffer.advise_buffer", commands, buffer, 0, 0, 0, 0)
    c.hal("command_buffer.end_debug_group", commands)
    c.hal("command_buffer.fill_buffer", commands, buffer, 0, 16, 0, 3, 1, 0)
    c.hal("command_buffer.end_debug_group", commands)
    c.execute(commands)
    c.return_words(buffer)


@program("command_buffer.flush_buffer", "command_buffer.invalidate_buffer")
def caches(c: Calls) -> None:
    buffer, commands = c.buffer(16), c.commands()
    c.hal("command_buffer.fill_buffer", commands, buffer, 0, 16, 0, 3, 1, 0)
    c.hal("command_buffer.flush_buffer", commands, 0, buffer, 0, 16)
    c.hal("command_buffer.invalidate_buffer", commands, 0, buffer, 0, 16)
    c.execute(commands)
    c.return_words(buffer)


def bindings(*buffers: Any) -> list[tuple[Any, ...]]:
    """Direct bindings of whole buffers."""
    return [(0, 0, buffer, 0, -1) for buffer in buffers]


@program("executable.create", "executable.lookup.function", "command_buffer.dispatch")
def dispatch(c: Calls) -> None:
    executable = c.executable()
    a, b, result = c.buffer(16, ONE, TWO, ONE, HALF), c.buffer(16, ONE, ONE, HALF, HALF), c.buffer(16)
    commands = c.commands(mode=1)
    entry = c.entry(executable, ADD)
    c.hal("command_buffer.dispatch", commands, executable, entry, 1, 1, 1, 0, [], bindings(a, b, result))
    c.execute(commands)
    c.return_words(result)


@program("executable.lookup.function")
def ordinals(c: Calls) -> None:
    executable = c.executable()
    c.f.result(*(c.entry(executable, name) for name in (ADD, TRIPLE)))


@program("executable.lookup.function")
def unknown_function(c: Calls) -> None:
    c.f.result(c.entry(c.executable(), "nothing"))


@program("executable.create")
def unknown_format(c: Calls) -> None:
    c.hal("executable.create", c.device, -1, "no-such-format", kernels(), None)


@program("executable.create")
def unwanted_constants(c: Calls) -> None:
    c.hal("executable.create", c.device, -1, FORMAT, kernels(), bytes(8))


@program("executable.create")
def damaged_executable(c: Calls) -> None:
    c.hal("executable.create", c.device, -1, FORMAT, b"\x7fELF" + bytes(60), None)


@program("command_buffer.dispatch")
def many_workgroups(c: Calls) -> None:
    executable, commands = c.executable(), c.commands()
    size = 400000
    source, target = c.buffer(size), c.buffer(size)
    c.hal("command_buffer.fill_buffer", commands, source, 0, size, 0, 5, 4, 0)
    c.barrier(commands)
    entry = c.entry(executable, TRIPLE)
    c.hal("command_buffer.dispatch", commands, executable, entry, 25, 1, 1, 0, [], bindings(source, target))
    c.execute(commands)
    for offset in (0, 65536, 399996):
        c.return_words(target, 1, offset)


def scaled(c: Calls, commands: Value, executable: Value, factor: int, count: int, binding: list[Any]) -> None:
    entry = c.entry(executable, SCALED_NAME)
    c.hal("command_buffer.dispatch", commands, executable, entry, 1, 1, 1, 0, [factor, count, 0], binding)


SCALED_NAME = f"{SCALED}_elementwise_D_i32"


@program("command_buffer.dispatch")
def constants(c: Calls) -> None:
    executable, commands = c.executable(), c.commands()
    source, target = c.buffer(16, 1, 2, 3, 4), c.buffer(16)
    scaled(c, commands, executable, -7, 3, bindings(source, target))
    c.execute(commands)
    c.return_words(target)


@program("device.queue.execute.indirect", "command_buffer.dispatch", "command_buffer.fill_buffer")
def slots(c: Calls) -> None:
    """A command buffer whose buffers come with its execution, twice."""
    executable, commands = c.executable(), c.commands(capacity=3)
    table = [(0, slot, None, offset, 16) for slot, offset in ((1, 64), (0, 128))]
    scaled(c, commands, executable, 10, 4, table)
    c.hal("command_buffer.fill_buffer", commands, None, 0, 4, 2, 0x77, 1, 0)
    c.hal("command_buffer.update_buffer", commands, DATA, 0, None, 4, 4, 2, 0)
    c.hal("command_buffer.finalize", commands)
    first, second, third = c.buffer(256), c.buffer(256), c.buffer(16)
    for offset in range(0, 256, 4):
        c.hal("buffer.store", offset, second, offset, 4)
    for source, target in ((second, first), (first, second)):
        fence = c.fence()
        entries = [(target, 64, 192), (source, 64, 100), (third, 4, 8)]
        c.hal("device.queue.execute.indirect", c.device, -1, None, fence, commands, 0, entries)
        c.check(fence)
    for buffer in (first, second):
        c.return_words(buffer, 6, 188)
    c.return_words(third)


@program("command_buffer.copy_buffer", "device.queue.execute.indirect")
def copy_between_slots(c: Calls) -> None:
    commands = c.commands(capacity=2)
    c.hal("command_buffer.copy_buffer", commands, 1, 0, None, 4, None, 0, 8, 0)
    source, target = c.buffer(16, 1, 2, 3, 4), c.buffer(16)
    c.execute(commands, (target, 0, 16), (source, 4, 12))
    c.return_words(target)


@program("device.queue.execute.indirect")
def empty_slot(c: Calls) -> None:
    commands, fence = c.commands(capacity=1), c.fence()
    c.hal("command_buffer.fill_buffer", commands, None, 0, 4, 0, 1, 1, 0)
    c.hal("command_buffer.finalize", commands)
    c.hal("device.queue.execute.indirect", c.device, -1, None, fence, commands, 0, [(None, 0, 0)])
    c.f.result(c.wait(fence))


@program("device.queue.execute.indirect")
def slot_too_small(c: Calls) -> None:
    commands, fence = c.commands(capacity=1), c.fence()
    c.hal("command_buffer.fill_buffer", commands, None, 0, 64, 0, 1, 1, 0)
    c.hal("command_buffer.finalize", commands)
    c.hal("device.queue.execute.indirect", c.device, -1, None, fence, commands, 0, [(c.buffer(16), 0, 16)])
    c.f.result(c.wait(fence))


@program("device.queue.execute")
def table_is_missing(c: Calls) -> None:
    commands, fence = c.commands(capacity=1), c.fence()
    c.hal("command_buffer.fill_buffer", commands, None, 0, 4, 0, 1, 1, 0)
    c.hal("command_buffer.finalize", commands)
    c.hal("device.queue.execute", c.device, -1, None, fence, commands, 0)
    c.f.result(c.wait(fence))


for _flag in (1, 2):

    def _indirect(c: Calls, flag: int = _flag) -> None:
        executable, commands = c.executable(), c.commands()
        counts = c.counts(9, 1, 1, 1)
        source, target = c.buffer(16, 1, 2, 3, 4), c.buffer(16)
        entry = c.entry(executable, SCALED_NAME)
        c.hal(
            "command_buffer.dispatch.indirect", commands, executable, entry, 0, counts, 4, flag, [3, 4, 0],
            bindings(source, target),
        )  # fmt: skip
        c.execute(commands)
        c.return_words(target)

    _indirect.__name__ = f"counts_from_a_buffer_{_flag}"
    program("command_buffer.dispatch.indirect")(_indirect)


@program("command_buffer.dispatch.indirect")
def counts_from_a_slot(c: Calls) -> None:
    executable, commands = c.executable(), c.commands(capacity=1)
    source, target = c.buffer(16, 1, 2, 3, 4), c.buffer(16)
    entry = c.entry(executable, SCALED_NAME)
    c.hal(
        "command_buffer.dispatch.indirect", commands, executable, entry, 0, None, 4, 1, [3, 4, 0],
        bindings(source, target),
    )  # fmt: skip
    c.execute(commands, (c.counts(7, 7, 1, 1, 1), 4, 28))
    c.return_words(target)


@program("command_buffer.dispatch.indirect")
def counts_of_no_use(c: Calls) -> None:
    """The buffer is not for counts."""
    executable, commands, buffer = c.executable(), c.commands(), c.buffer(16, 1, 1, 1, 1)
    entry = c.entry(executable, SCALED_NAME)
    c.hal(
        "command_buffer.dispatch.indirect", commands, executable, entry, 0, buffer, 4, 1, [3, 4, 0],
        bindings(buffer, buffer),
    )  # fmt: skip


@program("command_buffer.dispatch")
def no_workgroups(c: Calls) -> None:
    executable, commands = c.executable(), c.commands()
    source, target = c.buffer(16, 1, 2, 3, 4), c.buffer(16, 5)
    entry = c.entry(executable, SCALED_NAME)
    c.hal("command_buffer.dispatch", commands, executable, entry, 1, 0, 1, 0, [3, 4, 0], bindings(source, target))
    c.execute(commands)
    c.return_words(target)


@program("command_buffer.dispatch")
def too_few_bindings(c: Calls) -> None:
    executable, commands = c.executable(), c.commands()
    entry = c.entry(executable, ADD)
    c.hal("command_buffer.dispatch", commands, executable, entry, 1, 1, 1, 0, [], bindings(c.buffer()))


@program("command_buffer.dispatch")
def too_many_constants(c: Calls) -> None:
    executable, commands = c.executable(), c.commands()
    entry, buffer = c.entry(executable, ADD), c.buffer()
    c.hal("command_buffer.dispatch", commands, executable, entry, 1, 1, 1, 0, [1], bindings(buffer, buffer, buffer))


@program("command_buffer.dispatch")
def no_such_function(c: Calls) -> None:
    executable, commands = c.executable(), c.commands()
    c.hal("command_buffer.dispatch", commands, executable, 77, 1, 1, 1, 0, [], bindings(c.buffer()))


@program("command_buffer.create")
def one_shot_twice(c: Calls) -> None:
    commands, buffer = c.commands(mode=1), c.buffer()
    c.hal("command_buffer.fill_buffer", commands, buffer, 0, 16, 0, 1, 1, 0)
    c.execute(commands)
    fence = c.fence()
    c.hal("device.queue.execute", c.device, -1, None, fence, commands, 0)
    c.check(fence)


@program("command_buffer.create")
def inline(c: Calls) -> None:
    """May run while it is recorded; it has run when it was executed."""
    commands, buffer = c.commands(mode=17), c.buffer()
    c.hal("command_buffer.fill_buffer", commands, buffer, 0, 8, 0, 1, 1, 0)
    c.barrier(commands)
    c.hal("command_buffer.copy_buffer", commands, 0, 0, buffer, 0, buffer, 8, 4, 0)
    c.execute(commands)
    c.return_words(buffer)


for _mode in (32, 64, 128, 256, 32 | 64 | 128 | 256):

    def _mode_bits(c: Calls, mode: int = _mode) -> None:
        commands, buffer = c.commands(mode=mode), c.buffer()
        c.hal("command_buffer.fill_buffer", commands, buffer, 0, 8, 0, 1, 1, 0)
        c.execute(commands)
        c.return_words(buffer)

    _mode_bits.__name__ = f"mode_{_mode}"
    program("command_buffer.create")(_mode_bits)


@program("command_buffer.finalize")
def recording_after_finalize(c: Calls) -> None:
    commands = c.commands()
    c.hal("command_buffer.finalize", commands)
    c.hal("command_buffer.fill_buffer", commands, c.buffer(), 0, 8, 0, 1, 1, 0)


@program("command_buffer.fill_buffer")
def recording_outside(c: Calls) -> None:
    c.hal("command_buffer.fill_buffer", c.commands(), c.buffer(16), 8, 16, 0, 1, 1, 0)


@program("command_buffer.fill_buffer")
def slot_outside(c: Calls) -> None:
    c.hal("command_buffer.fill_buffer", c.commands(capacity=2), None, 0, 16, 2, 1, 1, 0)


@program("command_buffer.dispatch")
def wrong_category(c: Calls) -> None:
    executable, commands = c.executable(), c.commands(categories=1)
    entry, buffer = c.entry(executable, ADD), c.buffer()
    c.hal("command_buffer.dispatch", commands, executable, entry, 1, 1, 1, 0, [], bindings(buffer, buffer, buffer))


@program("command_buffer.fill_buffer")
def wrong_usage(c: Calls) -> None:
    buffer = c.hal("allocator.allocate", c.allocator, -1, HOST_TYPES, 0x400, 16)
    c.hal("command_buffer.fill_buffer", c.commands(), buffer, 0, 16, 0, 1, 1, 0)


for _kind in (0, 1, 2, 3, 4, 5, 8):

    def _collective(c: Calls, kind: int = _kind) -> None:
        """Of i32 (type 4), reduced by sums (1). Alone, one receives what one sends."""
        channel = c.hal("channel.create", c.device, -1, 0, None, None, 0, 1)
        commands, a, b = c.commands(capacity=2), c.buffer(16, 1, 2, 3, 4), c.buffer()
        op = 0x00040000 | (0x100 if kind in (1, 4, 5) else 0) | kind
        c.hal("command_buffer.collective", commands, channel, op, 0, 0, 0, a, b, 4, 8, 0, 8, 2)
        c.barrier(commands)
        c.hal("command_buffer.collective", commands, channel, op, 0, 1, 0, None, None, 0, 4, 12, 4, 1)
        c.execute(commands, (b, 0, 16), (a, 12, 4))
        c.return_words(b)

    _collective.__name__ = f"collective_{_kind}"
    program("command_buffer.collective", "channel.create")(_collective)


@program("command_buffer.collective")
def collective_outside(c: Calls) -> None:
    channel = c.hal("channel.create", c.device, -1, 0, None, None, 0, 1)
    c.hal(
        "command_buffer.collective", c.commands(), channel, 0x00040101, 0, 0, 0, c.buffer(), c.buffer(), 0, 8, 0, 8, 4
    )
