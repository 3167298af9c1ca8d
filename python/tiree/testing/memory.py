"""Instructions on references, buffers, lists and globals, and those that move values about.

`MEMORY["list.size"](frame, list, result)` executes one on the registers of a frame; operands are as encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tiree.testing.faults import Fault
from tiree.testing.objects import MAX_LIST, Buffer, List, accepts, hash_bytes
from tiree.testing.scalars import signed

if TYPE_CHECKING:
    from tiree.testing.reference import Frame

MOVE = 0x4000
NUMBER = 0x3FFF
Handler = Callable[..., None]
_LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}
_SIZES = {"i32": 4, "i64": 8, "f32": 4, "f64": 8}


def one(function: Callable[[Frame, int], None]) -> Handler:
    """A handler with one operand. (These say what type the operands of a lambda have.)"""
    return function


def two(function: Callable[[Frame, int, int], None]) -> Handler:
    """A handler with two operands."""
    return function


def three(function: Callable[[Frame, int, int, int], None]) -> Handler:
    """A handler with three operands."""
    return function


def _object(frame: Frame, register: int, kind: type[Any], name: str) -> Any:
    value = frame.peek(register)
    if not isinstance(value, kind):
        raise Fault("INVALID_ARGUMENT", f"{name} is null" if value is None else "ref type mismatch")
    return value


def _buffer(frame: Frame, register: int) -> Buffer:
    return _object(frame, register, Buffer, "buffer")


def _list(frame: Frame, register: int) -> List:
    return _object(frame, register, List, "list")


def _check(frame: Frame, want: int, value: Any) -> None:
    type_name = frame.type_name(want)
    if type_name == "!vm.opaque" and value is not None:
        frame.departures.add("opaque")
    if not accepts(type_name, value):
        raise Fault("INVALID_ARGUMENT", "source ref type mismatch")


def _range(frame: Frame, offset: int, count: int, size: int = 1) -> None:
    """Notes ranges of buffers that do not fit 64 bits."""
    if (offset + count) * size >= 1 << 64:
        frame.departures.add("wrapping range")


# Globals.


def _state(frame: Frame, offset: int, size: int) -> slice:
    if offset + size >= 1 << 32:
        frame.departures.add("wrapping global")
    elif size == 8 and offset + 4 <= len(frame.instance.data) < offset + 8:
        frame.departures.add("last global")
    if offset + size > len(frame.instance.data):
        raise Fault("OUT_OF_RANGE", "global byte offset out of range")
    return slice(offset, offset + size)


def _slot(frame: Frame, slot: int) -> int:
    if slot >= len(frame.instance.refs):
        raise Fault("OUT_OF_RANGE", "global ref ordinal out of range")
    return slot


def _load(frame: Frame, offset: int, t: str, result: int) -> None:
    data = frame.instance.data[_state(frame, offset, _SIZES[t])]
    frame.set(_LETTERS[t], result, int.from_bytes(data, "little"))


def _store(frame: Frame, offset: int, t: str, value: int) -> None:
    place = _state(frame, offset, _SIZES[t])
    frame.instance.data[place] = frame.get(_LETTERS[t], value).to_bytes(_SIZES[t], "little")


def _load_ref(frame: Frame, slot: int, want: int, result: int) -> None:
    slot = _slot(frame, slot)
    value = frame.instance.refs[slot]
    _check(frame, want, value)
    if result & MOVE:
        frame.instance.refs[slot] = None
    frame.put(result, value)


def _store_ref(frame: Frame, slot: int, want: int, value: int) -> None:
    slot = _slot(frame, slot)
    _check(frame, want, frame.peek(value))
    frame.instance.refs[slot] = frame.take(value)


def _globals() -> Iterator[tuple[str, Handler]]:
    for t in _LETTERS:
        yield f"global.load.{t}", two(lambda f, offset, result, t=t: _load(f, offset, t, result))
        yield f"global.store.{t}", two(lambda f, offset, value, t=t: _store(f, offset, t, value))
        yield f"global.load.indirect.{t}", two(lambda f, at, result, t=t: _load(f, f.cells[at], t, result))
        yield f"global.store.indirect.{t}", two(lambda f, at, value, t=t: _store(f, f.cells[at], t, value))
    yield "global.load.ref", _load_ref
    yield "global.store.ref", _store_ref
    yield "global.load.indirect.ref", three(lambda f, at, want, result: _load_ref(f, f.cells[at], want, result))
    yield "global.store.indirect.ref", three(lambda f, at, want, value: _store_ref(f, f.cells[at], want, value))


# Values.


def _select_ref(frame: Frame, condition: int, want: int, yes: int, no: int, result: int) -> None:
    picked, other = (yes, no) if frame.cells[condition] else (no, yes)
    _check(frame, want, frame.peek(picked))
    value = frame.take(picked)
    frame.take(other)
    frame.put(result, value)


def _switch_ref(frame: Frame, index: int, want: int, default: int, values: tuple[int, ...], result: int) -> None:
    number = frame.cells[index]
    picked = values[number] if number < len(values) else default
    _check(frame, want, frame.peek(picked))
    frame.put(result, frame.take(picked))


def _cast(frame: Frame, operand: int, want: int, result: int) -> None:
    _check(frame, want, frame.peek(operand))
    frame.put(result, frame.take(operand))


def _discard(frame: Frame, registers: tuple[int, ...]) -> None:
    for register in registers:
        frame.put(register, None)


def _event(frame: Frame, name: bytes, registers: tuple[int, ...]) -> None:
    """No effect, but references that are moved are gone."""
    del name
    for register in registers:
        if register & 0x8000:
            frame.take(register)


def _resolved(frame: Frame, callee: int, result: int) -> None:
    frame.cells[result] = int(frame.instance.imports[callee & 0x7FFFFFFF] is not None)


def _values() -> Iterator[tuple[str, Handler]]:
    for t, k in _LETTERS.items():

        def select(f: Frame, condition: int, yes: int, no: int, result: int, k: str = k) -> None:
            f.set(k, result, f.get(k, yes if f.cells[condition] else no))

        def switch(f: Frame, index: int, default: int, values: tuple[int, ...], result: int, k: str = k) -> None:
            number = f.cells[index]
            picked = f.get(k, values[number] if number < len(values) else default)
            if k == "I" and number < len(values) and picked != signed(picked & 0xFFFFFFFF, 32) & 0xFFFFFFFFFFFFFFFF:
                f.departures.add("switch.i64")
            f.set(k, result, picked)

        yield f"const.{t}", two(lambda f, bits, result, k=k: f.set(k, result, bits))
        yield f"const.{t}.zero", one(lambda f, result, k=k: f.set(k, result, 0))
        yield f"select.{t}", select
        yield f"switch.{t}", switch
    yield "const.ref.zero", one(lambda f, result: f.put(result, None))
    yield "const.ref.rodata", two(lambda f, number, result: f.put(result, f.instance.rodata[number]))
    yield "select.ref", _select_ref
    yield "switch.ref", _switch_ref
    yield "cast.any.ref", _cast
    yield "assign.ref", two(lambda f, source, result: f.put(result, f.take(source)))
    yield "cmp.eq.ref", three(lambda f, a, b, result: f.set("i", result, int(f.peek(a) is f.peek(b))))
    yield "cmp.ne.ref", three(lambda f, a, b, result: f.set("i", result, int(f.peek(a) is not f.peek(b))))
    yield "cmp.nz.ref", two(lambda f, a, result: f.set("i", result, int(f.peek(a) is not None)))
    yield "discard.refs", _discard
    yield "trace", _event
    yield "print", _event
    yield "import.resolved", _resolved


# Lists.


def _index(frame: Frame, register: int) -> int:
    return signed(frame.cells[register], 32)


def _length(frame: Frame, count: int) -> int:
    if frame.cells[count] > MAX_LIST:
        frame.departures.add("list size")
    return frame.cells[count]


def _list_alloc(frame: Frame, element: int, capacity: int, result: int) -> None:
    _length(frame, capacity)  # A hint otherwise.
    frame.put(result, List(frame.type_name(element)))


def _list_size(frame: Frame, source: int, result: int) -> None:
    frame.cells[result] = len(_list(frame, source).items)


def _list_reserve(frame: Frame, target: int, count: int) -> None:
    _list(frame, target).reserve(_length(frame, count))


def _list_resize(frame: Frame, target: int, count: int) -> None:
    _list(frame, target).resize(_length(frame, count))


def _list_get_ref(frame: Frame, source: int, index: int, want: int, result: int) -> None:
    owner, at = _list(frame, source), _index(frame, index)
    value = owner.reference(at)
    if not accepts(frame.type_name(want), value):
        value = None
    elif result & MOVE:
        owner.set_reference(at, None)
    if result & MOVE and (source ^ result) & NUMBER == 0 and owner.element == "!vm.opaque":
        frame.departures.add("list onto itself")
    frame.put(result, value)


def _list_set_ref(frame: Frame, target: int, index: int, value: int) -> None:
    owner = _list(frame, target)
    owner.set_reference(_index(frame, index), frame.peek(value))
    frame.take(value)


def _lists() -> Iterator[tuple[str, Handler]]:
    for t, k in _LETTERS.items():

        def get(f: Frame, source: int, index: int, result: int, t: str = t, k: str = k) -> None:
            owner = _list(f, source)
            bits = owner.number(_index(f, index), t)
            if owner.kind_at(_index(f, index))[0] != t[0]:
                f.departures.add("list conversion")
            f.set(k, result, bits)

        def put(f: Frame, target: int, index: int, value: int, t: str = t, k: str = k) -> None:
            owner = _list(f, target)
            if owner.holds_numbers and owner.element[0] != t[0]:
                f.departures.add("list conversion")
            owner.set_number(_index(f, index), t, f.get(k, value))

        yield f"list.get.{t}", get
        yield f"list.set.{t}", put
    yield "list.alloc", _list_alloc
    yield "list.reserve", _list_reserve
    yield "list.resize", _list_resize
    yield "list.size", _list_size
    yield "list.get.ref", _list_get_ref
    yield "list.set.ref", _list_set_ref


# Buffers. Offsets and lengths are i64 registers; negative ones are huge.


def _copy(f: Frame, source: int, source_offset: int, target: int, target_offset: int, length: int) -> None:
    count = f.get("I", length)
    origin, destination = _buffer(f, source), _buffer(f, target)
    _range(f, f.get("I", source_offset), count)
    _range(f, f.get("I", target_offset), count)
    read = origin.range(f.get("I", source_offset), count)
    destination.writable()
    write = destination.range(f.get("I", target_offset), count)
    destination.data[write] = bytes(origin.data[read])


def _compare(f: Frame, left: int, left_offset: int, right: int, right_offset: int, length: int, result: int) -> None:
    count = f.get("I", length)
    a, b = _buffer(f, left), _buffer(f, right)
    _range(f, f.get("I", left_offset), count)
    _range(f, f.get("I", right_offset), count)
    same = a.data[a.range(f.get("I", left_offset), count)] == b.data[b.range(f.get("I", right_offset), count)]
    f.cells[result] = int(same)


def _hash(f: Frame, source: int, offset: int, length: int, result: int) -> None:
    buffer = _buffer(f, source)
    _range(f, f.get("I", offset), f.get("I", length))
    f.set("I", result, hash_bytes(bytes(buffer.data[buffer.range(f.get("I", offset), f.get("I", length))])))


def _alloc(f: Frame, length: int, alignment: int, result: int) -> None:
    if f.get("I", length) >> 63:
        f.departures.add("negative length")
    f.put(result, Buffer.allocate(signed(f.get("I", length), 64), f.cells[alignment]))


def _clone(f: Frame, source: int, offset: int, length: int, alignment: int, result: int) -> None:
    buffer = _buffer(f, source)
    _range(f, f.get("I", offset), f.get("I", length))
    data = buffer.data[buffer.range(f.get("I", offset), f.get("I", length))]
    Buffer.allocate(len(data), f.cells[alignment])
    f.put(result, Buffer(data, True))


def _elements() -> Iterator[tuple[str, Handler]]:
    for t, k, size in (
        ("i8", "i", 1),
        ("i16", "i", 2),
        ("i32", "i", 4),
        ("i64", "I", 8),
        ("f32", "f", 4),
        ("f64", "F", 8),
    ):
        mask = (1 << 8 * size) - 1

        def load(f: Frame, source: int, offset: int, result: int, k: str = k, size: int = size) -> None:
            _range(f, f.get("I", offset), 1, size)
            f.set(k, result, _buffer(f, source).load(f.get("I", offset), size))

        def load_signed(f: Frame, source: int, offset: int, result: int, size: int = size) -> None:
            _range(f, f.get("I", offset), 1, size)
            f.set("i", result, signed(_buffer(f, source).load(f.get("I", offset), size), 8 * size) & 0xFFFFFFFF)

        def store(
            f: Frame, target: int, offset: int, value: int, k: str = k, size: int = size, mask: int = mask
        ) -> None:
            _range(f, f.get("I", offset), 1, size)
            _buffer(f, target).store(f.get("I", offset), size, f.get(k, value) & mask)

        def fill(f: Frame, target: int, offset: int, length: int, value: int, k: str = k, size: int = size, mask: int = mask) -> None:  # fmt: skip  # noqa: E501
            _range(f, f.get("I", offset), f.get("I", length), size)
            _buffer(f, target).fill(f.get("I", offset), f.get("I", length), size, f.get(k, value) & mask)

        if size < 4:
            yield f"buffer.load.{t}.u", load
            yield f"buffer.load.{t}.s", load_signed
        else:
            yield f"buffer.load.{t}", load
        yield f"buffer.store.{t}", store
        yield f"buffer.fill.{t}", fill


def _buffers() -> Iterator[tuple[str, Handler]]:
    yield from _elements()
    yield "buffer.alloc", _alloc
    yield "buffer.clone", _clone
    yield "buffer.length", two(lambda f, source, result: f.set("I", result, len(_buffer(f, source).data)))
    yield "buffer.copy", _copy
    yield "buffer.compare", _compare
    yield "buffer.hash", _hash


def _all() -> Iterator[tuple[str, Handler]]:
    yield from _globals()
    yield from _values()
    yield from _lists()
    yield from _buffers()


MEMORY: dict[str, Handler] = dict(_all())
"""By mnemonic; all instructions that go on with the next one and are not in `SCALARS`."""
