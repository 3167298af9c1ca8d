"""Programs about allocators, buffers, views, files and fences."""

from __future__ import annotations

from interop.hal_programs import DEFAULT, DENSE, F32, HOST_TYPES, I8, I32, Calls, program
from runtime.vm_program import Value

ALIGNED = bytes(range(1, 129))


@program("devices.count", "devices.get")
def devices(c: Calls) -> None:
    missing = c.hal("devices.get", 7)
    c.f.result(c.hal("devices.count"), c.f.line(f"vm.cmp.nz.ref {missing} : !vm.ref<?>", "i"))


@program("device.query.i64")
def queries(c: Calls) -> None:
    for category, key in [
        ("hal.device.id", "local*"), ("hal.device.id", "l?cal-*"), ("hal.device.id", "cuda*"),
        ("hal.executable.format", "embedded-elf-x86_64"), ("hal.executable.format", "vmvx-bytecode-fb"),
        ("hal.executable.format", "vulkan-spirv-fb"), ("hal.device", "concurrency"),
        ("hal.cpu", "no-such-thing"), ("nothing", "at all"), ("", ""),
    ]:  # fmt: skip
        ok, value = c.hal("device.query.i64", c.device, category, key)
        c.f.result(ok, value)


@program("allocator.allocate", "buffer.length", "buffer.store", "buffer.load")
def allocate(c: Calls) -> None:
    buffer = c.hal("allocator.allocate", c.allocator, -1, HOST_TYPES, DEFAULT, 16)
    c.hal("buffer.store", 0x01020384, buffer, 0, 4)
    c.hal("buffer.store", 0x0506, buffer, 4, 2)
    c.hal("buffer.store", 0x07, buffer, 6, 1)
    c.hal("buffer.store", -1, buffer, 12, 4)
    c.f.result(c.hal("buffer.length", buffer))
    for offset, length in [(0, 1), (0, 2), (0, 4), (4, 2), (6, 1), (12, 4), (1, 2), (1, 4)]:
        c.f.result(c.hal("buffer.load", buffer, offset, length))


@program("buffer.load")
def load_past_the_end(c: Calls) -> None:
    c.f.result(c.hal("buffer.load", c.buffer(), 14, 4))


@program("buffer.load")
def load_of_eight(c: Calls) -> None:
    c.f.result(c.hal("buffer.load", c.buffer(), 0, 8))


@program("buffer.store")
def store_past_the_end(c: Calls) -> None:
    c.hal("buffer.store", 1, c.buffer(), 16, 1)


def aligned_memory(c: Calls) -> Value:
    """A `vm.buffer` at a 64-byte boundary with 1 at its beginning and 5 at 64."""
    length, alignment = c.f.line("vm.const.i64 128", "I"), c.f.line("vm.const.i32 64", "i")
    memory = c.f.line(f"vm.buffer.alloc {length}, {alignment} : !vm.buffer", "r")
    for offset, value in ((0, 1), (16, 5)):
        index, number = c.f.line(f"vm.const.i64 {offset}", "I"), c.f.line(f"vm.const.i32 {value}", "i")
        c.f.line(f"vm.buffer.store.i32 {number}, {memory}[{index}] : i32 -> !vm.buffer")
    return c.f.line(f"vm.cast.ref.any {memory} : !vm.buffer -> !vm.ref<?>", "r")


for _try in (0, 1):

    def _import(c: Calls, attempt: int = _try) -> None:
        buffer = c.hal("allocator.import", c.allocator, attempt, -1, 0x30, 0x80C03, aligned_memory(c), 64, 16)
        c.f.result(c.hal("buffer.length", buffer))
        c.return_words(buffer)

    _import.__name__ = f"import_memory_{_try}"
    program("allocator.import")(_import)


@program("allocator.import")
def import_unaligned(c: Calls) -> None:
    """Null when it was only tried."""
    buffer = c.hal("allocator.import", c.allocator, 1, -1, 0x30, 0x80C03, aligned_memory(c), 4, 16)
    c.f.result(c.f.line(f"vm.cmp.nz.ref {buffer} : !vm.ref<?>", "i"))
    c.hal("allocator.import", c.allocator, 0, -1, 0x30, 0x80C03, aligned_memory(c), 4, 16)


@program("allocator.import")
def import_outside(c: Calls) -> None:
    c.hal("allocator.import", c.allocator, 0, -1, 0x30, 0x80C03, ALIGNED, 64, 100)


@program("allocator.select")
def select(c: Calls) -> None:
    device, affinity = c.hal("allocator.select", HOST_TYPES, DEFAULT, 0, [(c.device, 1), (c.device, 3)])
    c.f.result(affinity, c.f.line(f"vm.cmp.eq.ref {device}, {c.device} : !vm.ref<?>", "i"))


@program("buffer.allocation.preserve", "buffer.allocation.discard", "buffer.allocation.is_terminal")
def ownership(c: Calls) -> None:
    buffer = c.buffer()
    c.f.result(c.hal("buffer.allocation.is_terminal", buffer))
    c.hal("buffer.allocation.preserve", buffer)
    c.f.result(c.hal("buffer.allocation.is_terminal", buffer))
    c.f.result(c.hal("buffer.allocation.discard", buffer))
    c.f.result(c.hal("buffer.allocation.is_terminal", buffer), c.hal("buffer.allocation.discard", buffer))


@program("buffer.subspan")
def subspan(c: Calls) -> None:
    whole = c.buffer(32, 1, 2, 3, 4, 5, 6, 7, 8)
    part = c.hal("buffer.subspan", whole, 8, 16)
    inner = c.hal("buffer.subspan", part, 4, 8)
    c.hal("buffer.store", 99, inner, 0, 4)
    c.f.result(c.hal("buffer.length", inner))
    c.return_words(whole, 8)


@program("buffer.subspan")
def subspan_outside(c: Calls) -> None:
    c.f.result(c.hal("buffer.length", c.hal("buffer.subspan", c.buffer(16), 8, 9)))


@program("buffer.assert")
def buffer_assert(c: Calls) -> None:
    c.hal("buffer.assert", c.buffer(16), "x", c.allocator, 16, 0x10, 0xC03)
    c.f.result(1)


@program("buffer.assert")
def buffer_assert_length(c: Calls) -> None:
    c.hal("buffer.assert", c.buffer(16), "x", c.allocator, 1000, 0x10, 0xC03)


@program("buffer.assert")
def buffer_assert_usage(c: Calls) -> None:
    buffer = c.hal("allocator.allocate", c.allocator, -1, HOST_TYPES, 3, 16)
    c.hal("buffer.assert", buffer, "x", c.allocator, 16, 0x10, 0xC03)


@program(
    "buffer_view.create", "buffer_view.buffer", "buffer_view.dim", "buffer_view.element_type",
    "buffer_view.encoding_type", "buffer_view.rank", "buffer_view.assert",
)  # fmt: skip
def view(c: Calls) -> None:
    view = c.hal("buffer_view.create", c.buffer(32, 1, 2, 3, 4, 5, 6), 8, 16, I32, DENSE, [2, 2])
    c.f.result(c.hal("buffer_view.rank", view), c.hal("buffer_view.dim", view, 0), c.hal("buffer_view.dim", view, 1))
    c.f.result(c.hal("buffer_view.element_type", view), c.hal("buffer_view.encoding_type", view))
    c.return_words(c.hal("buffer_view.buffer", view))
    c.hal("buffer_view.assert", view, "x", I32, DENSE, [2, 2])
    c.f.result(view)


def _element_view(element: int) -> None:
    def view_of(c: Calls) -> None:
        words = (0x3F800000, 0x40490FDB, 0x00013C00, 0x80C0FF01)
        view = c.hal("buffer_view.create", c.buffer(16, *words), 0, -1, element, DENSE, [1])
        c.f.result(c.hal("buffer_view.element_type", view), view)

    view_of.__name__ = f"view_of_{element:08x}"
    program("buffer_view.create", "buffer_view.element_type")(view_of)


ELEMENTS = (
    0x10000008, 0x10000010, 0x10000020, 0x10000040, 0x11000008, 0x11000010, 0x11000020, 0x11000040,
    0x12000008, 0x12000010, 0x12000020, 0x12000040, 0x13000008, 0x21000010, 0x21000020, 0x21000040, 0x22000010,
    0x23000040, 0x23000080, 0x24000008, 0x25000008, 0x26000008, 0x27000008, 0x28000008, 0x00000008, 0x00000010,
    0x00000020, 0x00000040,
)  # fmt: skip
for _element in ELEMENTS:
    _element_view(_element)


@program("buffer_view.create")
def view_of_rank_zero(c: Calls) -> None:
    c.f.result(c.hal("buffer_view.create", c.buffer(16, 7), 0, 4, I32, DENSE, []))


@program("buffer_view.create")
def view_without_elements(c: Calls) -> None:
    c.f.result(c.hal("buffer_view.create", c.buffer(16), 4, 0, F32, DENSE, [3, 0, 2]))


@program("buffer_view.create")
def view_too_large(c: Calls) -> None:
    c.f.result(c.hal("buffer_view.create", c.buffer(16), 0, 16, I32, DENSE, [5]))


@program("buffer_view.dim")
def dim_outside(c: Calls) -> None:
    c.f.result(c.hal("buffer_view.dim", c.hal("buffer_view.create", c.buffer(16), 0, 16, I32, DENSE, [4]), 1))


for _name, _arguments in {
    "type": (F32, DENSE, [4]),
    "rank": (I32, DENSE, [2, 2]),
    "shape": (I32, DENSE, [5]),
    "encoding": (I32, 0, [4]),
}.items():

    def _assert(c: Calls, arguments: tuple[int, int, list[int]] = _arguments) -> None:
        view = c.hal("buffer_view.create", c.buffer(16), 0, 16, I32, DENSE, [4])
        c.hal("buffer_view.assert", view, "input0", *arguments)

    _assert.__name__ = f"view_assert_{_name}"
    program("buffer_view.assert")(_assert)


@program("buffer_view.trace")
def trace(c: Calls) -> None:
    view = c.hal("buffer_view.create", c.buffer(16, 1, 2, 3, 4), 0, 16, I8, DENSE, [4])
    c.hal("buffer_view.trace", "key", [view, view])
    c.f.result(1)


@program("ex.file.from_memory", "device.queue.read")
def file_read(c: Calls) -> None:
    file = c.hal("ex.file.from_memory", c.device, -1, 1, ALIGNED, 32, 64, 0)
    buffer, fence = c.buffer(16, 9, 9, 9, 9), c.fence()
    c.hal("device.queue.read", c.device, -1, None, fence, file, 8, buffer, 4, 8, 0)
    c.check(fence)
    c.return_words(buffer)


@program("ex.file.from_memory")
def file_for_writing(c: Calls) -> None:
    c.hal("ex.file.from_memory", c.device, -1, 3, ALIGNED, 0, 64, 0)


@program("device.queue.read")
def file_read_outside(c: Calls) -> None:
    file = c.hal("ex.file.from_memory", c.device, -1, 1, ALIGNED, 32, 64, 0)
    fence = c.fence()
    c.hal("device.queue.read", c.device, -1, None, fence, file, 60, c.buffer(16), 0, 8, 0)
    c.f.result(c.wait(fence))


@program("device.queue.write")
def file_write(c: Calls) -> None:
    """Files over memory are read-only."""
    file = c.hal("ex.file.from_memory", c.device, -1, 1, ALIGNED, 32, 64, 0)
    fence = c.fence()
    c.hal("device.queue.write", c.device, -1, None, fence, c.buffer(16), 0, file, 0, 8, 0)
    c.f.result(c.wait(fence))


@program("fence.create", "fence.query", "fence.signal", "fence.await", "fence.join")
def fences(c: Calls) -> None:
    first, second = c.fence(), c.fence()
    both = c.hal("fence.join", 0, [first, second, None])
    c.f.result(c.hal("fence.query", first), c.hal("fence.query", both))
    c.hal("fence.signal", first)
    c.f.result(c.hal("fence.query", first), c.hal("fence.query", both))
    c.hal("fence.signal", second)
    c.f.result(c.hal("fence.query", both), c.wait(both, None, first), c.wait())
    nothing = c.hal("fence.join", 0, [])
    c.f.result(c.f.line(f"vm.cmp.nz.ref {nothing} : !vm.ref<?>", "i"))


@program("fence.await")
def await_without_time(c: Calls) -> None:
    c.f.result(c.hal("fence.await", 0, 0, [c.fence()]), c.hal("fence.await", 20, 0, [c.fence(), None]))


@program("fence.fail", "fence.query")
def fence_fail(c: Calls) -> None:
    fence = c.fence()
    c.hal("fence.fail", fence, 15)
    c.f.result(c.hal("fence.query", fence))


@program("fence.fail", "fence.await")
def await_failed(c: Calls) -> None:
    fence = c.fence()
    c.hal("fence.fail", fence, 15)
    c.f.result(c.wait(fence))


@program("fence.signal")
def signal_twice(c: Calls) -> None:
    fence = c.fence()
    c.hal("fence.signal", fence)
    c.hal("fence.signal", fence)
    c.f.result(c.hal("fence.query", fence))


@program("channel.create", "channel.rank_and_count")
def channel(c: Calls) -> None:
    for rank, count in ((0, 1), (-1, -1)):
        channel = c.hal("channel.create", c.device, -1, 0, None, None, rank, count)
        c.f.result(*c.hal("channel.rank_and_count", channel))


@program("channel.create")
def channel_of_two(c: Calls) -> None:
    c.hal("channel.create", c.device, -1, 0, "id", "group", 0, 2)


@program("channel.split")
def split(c: Calls) -> None:
    whole = c.hal("channel.create", c.device, -1, 0, None, None, 0, 1)
    c.f.result(*c.hal("channel.rank_and_count", c.hal("channel.split", whole, 3, 0, 0)))
    alone = c.hal("channel.split", whole, -1, 0, 0)
    c.f.result(c.f.line(f"vm.cmp.nz.ref {alone} : !vm.ref<?>", "i"))
