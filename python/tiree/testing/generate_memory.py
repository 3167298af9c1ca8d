"""The part of a function writer that knows registers, and writes instructions on references and globals."""

from __future__ import annotations

from collections.abc import Callable

from tiree.testing.choices import Choices, chance, number, pick
from tiree.testing.generate_text import ELEMENT_TYPES, LETTERS, REF_TYPES, TYPES, WIDE, Surroundings, cell, literal

CELLS = 16
"""Registers that any instruction may read and write."""
LOOSE = 24
"""From `CELLS` to here: floats that arithmetic made. Behind: counters, each for one purpose."""
_LOOSE_RANGES = {"f": (CELLS, CELLS + 4), "F": (CELLS + 4, LOOSE)}
"""Apart, as a part of a NaN's payload could become a number as part of a number of the other width."""
REFS = 6
_ELEMENTS = (("i8", "i", 1), ("i16", "i", 2), ("i32", "i", 4), ("i64", "I", 8), ("f32", "f", 4), ("f64", "F", 8))


class MemoryWriter:
    """Registers, labels and lines of a function. `tags` remember what reference registers probably hold."""

    def __init__(self, choices: Choices, around: Surroundings) -> None:
        self.choices = choices
        self.around = around
        self.lines: list[str] = []
        self.labels = 0
        self.next_fresh = LOOSE
        self.tags: list[tuple[str, int]] = [("", 0)] * REFS

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        self.lines.append(f"^{name}:")

    def new_label(self) -> str:
        self.labels += 1
        return f"bb{self.labels}"

    def fresh(self) -> int:
        """A cell that nothing else writes."""
        self.next_fresh += 1
        return self.next_fresh - 1

    # Registers.

    def is_loose(self, register: int) -> bool:
        return CELLS <= register < LOOSE

    def _any(self, kind: str, low: int, high: int) -> int:
        if kind in WIDE:
            return low + 2 * self.choices.below((high - low) // 2)
        return low + self.choices.below(high - low)

    def source(self, kind: str, *, loose: bool = False) -> int:
        """A register to read. `loose`: floats may come from the loose ones."""
        if loose and kind in "fF" and chance(self.choices, 60):
            return self._any(kind, *_LOOSE_RANGES[kind])
        return self._any(kind, 0, CELLS)

    def target(self, kind: str, *, loose: bool = False) -> int:
        """A register to write; `loose`: one of the loose ones."""
        return self._any(kind, *(_LOOSE_RANGES[kind] if loose else (0, CELLS)))

    def ref_target(self, tag: tuple[str, int] = ("", 0)) -> int:
        """A reference register to write, which will hold what `tag` says."""
        register = self.choices.below(REFS)
        self.tags[register] = tag
        return register

    def reference(self, kind: str = "", *, move: int = 0) -> str:
        """A reference register to read, mostly one that holds `kind`, moved in `move` of 100 cases."""
        fitting = [r for r, (tag, _) in enumerate(self.tags) if kind and tag == kind]
        if kind and not fitting and chance(self.choices, 92):
            if kind == "buffer":
                self.allocate_buffer()
            else:
                self.allocate_list(kind.removeprefix("list "))
            fitting = [r for r, (tag, _) in enumerate(self.tags) if tag == kind]
        register = pick(self.choices, fitting) if fitting and chance(self.choices, 97) else self.choices.below(REFS)
        if move and chance(self.choices, move):
            self.tags[register] = ("", 0)
            return f"%R{register}"
        return f"%r{register}"

    def remap(self) -> str:
        """Copies of a branch."""
        pairs: list[str] = []
        for _ in range(self.choices.below(4) if chance(self.choices, 40) else 0):
            if chance(self.choices, 30):
                source = self.reference(move=40)
                pairs.append(f"{source}->%r{self.ref_target()}")
            elif chance(self.choices, 20):
                pairs.append(f"%i{self.source('f', loose=True)}->%i{self.target('f', loose=True)}")
            else:
                pairs.append(f"%i{self._any('i', 0, CELLS)}->%i{self._any('i', 0, CELLS)}")
        return ", ".join(pairs)

    def wide(self) -> str:
        """A pair that nothing else writes."""
        self.next_fresh += self.next_fresh % 2 + 2
        return cell("I", self.next_fresh - 2)

    def set_wide(self, value: int) -> str:
        """A new register pair with a number."""
        register = self.wide()
        self.line(f"{register} = vm.const.i64 {literal('I', value)}")
        return register

    def small_index(self, limit: int) -> str:
        """A cell with a number mostly below `limit`."""
        if chance(self.choices, 4):
            return cell("i", self.source("i"))
        register = self.fresh()
        value = self.choices.below(max(limit, 1)) if chance(self.choices, 96) else number(self.choices, "i")
        self.line(f"%i{register} = vm.const.i32 {literal('i', value)}")
        return f"%i{register}"

    def offset(self, limit: int) -> str:
        """A pair with a number mostly up to `limit`."""
        if chance(self.choices, 2):
            return cell("I", self.source("I"))
        value = self.choices.below(max(limit, 0) + 1) if chance(self.choices, 97) else number(self.choices, "I")
        return self.set_wide(value)

    def type_of(self, register: str) -> str:
        """A type to name for a register: mostly the one of what it probably holds."""
        tag = self.tags[int(register[2:])][0]
        if tag and chance(self.choices, 90):
            return "!vm.buffer" if tag == "buffer" else "!vm.list<i32>"
        return pick(self.choices, REF_TYPES)

    # Instructions.

    def memory(self) -> None:
        """One of the instructions below."""
        families: list[Callable[[], None]] = [
            self.buffer_access, self.list_access, self.global_value, self.choose, self.new_buffer, self.new_list,
            self.byte_range, self.list_shape, self.list_reference, self.global_reference, self.choose_reference,
            self.move_reference, self.compare_references, self.event,
        ]  # fmt: skip
        pick(self.choices, families)()

    def new_buffer(self) -> None:
        roll = self.choices.below(3)
        if roll == 0 or not self.around.rodata:
            self.allocate_buffer()
        elif roll == 1:
            segment = self.choices.below(len(self.around.rodata))
            target = self.ref_target(("buffer", self.around.rodata[segment]))
            self.line(f"%r{target} = vm.const.ref.rodata {segment}")
        else:
            source = self.reference("buffer")
            length = self.length_of(source)
            offset, count, register = self.offset(length), self.offset(length), self.fresh()
            self.line(f"%i{register} = vm.const.i32 0")
            self.line(
                f"%r{self.ref_target(('buffer', length))} = vm.buffer.clone {source}, {offset}, {count}, %i{register}"
            )

    def allocate_buffer(self) -> None:
        length = (
            4 * self.choices.below(17) if chance(self.choices, 98) else pick(self.choices, (2**62, 2**63, 2**64 - 1))
        )
        alignment = pick(self.choices, (0, 16, 1, 64, 3)) if chance(self.choices, 10) else 0
        size, register = self.set_wide(length), self.fresh()
        self.line(f"%i{register} = vm.const.i32 {alignment}")
        self.line(f"%r{self.ref_target(('buffer', length))} = vm.buffer.alloc {size}, %i{register}")

    def length_of(self, source: str) -> int:
        tag, length = self.tags[int(source[2:])]
        return length if tag == "buffer" and length < 1 << 20 else 8

    def buffer_access(self) -> None:
        t, kind, size = pick(self.choices, _ELEMENTS)
        buffer = self.reference("buffer")
        count = self.length_of(buffer) // size
        roll = self.choices.below(3)
        offset = self.offset(max(count - 1, 0))
        if roll == 0:
            sign = pick(self.choices, (".u", ".s")) if size < 4 else ""
            self.line(f"{cell(kind, self.target(kind))} = vm.buffer.load.{t}{sign} {buffer}, {offset}")
        elif roll == 1:
            self.line(f"vm.buffer.store.{t} {cell(kind, self.source(kind))}, {buffer}, {offset}")
        else:
            length = self.offset(count // 2)
            self.line(f"vm.buffer.fill.{t} {buffer}, {offset}, {length}, {cell(kind, self.source(kind))}")

    def byte_range(self) -> None:
        buffer, other = self.reference("buffer"), self.reference("buffer")
        length = min(self.length_of(buffer), self.length_of(other))
        first, second, count = self.offset(length // 2), self.offset(length // 2), self.offset(length // 2)
        roll = self.choices.below(4)
        if roll == 0:
            self.line(f"{cell('I', self.target('I'))} = vm.buffer.length {buffer}")
        elif roll == 1:
            self.line(f"vm.buffer.copy {buffer}, {first}, {other}, {second}, {count}")
        elif roll == 2:
            self.line(f"%i{self.target('i')} = vm.buffer.compare {buffer}, {first}, {other}, {second}, {count}")
        else:
            self.line(f"{cell('I', self.target('I'))} = vm.buffer.hash {buffer}, {first}, {count}")

    def new_list(self) -> None:
        self.allocate_list(pick(self.choices, ELEMENT_TYPES))

    def allocate_list(self, element: str) -> None:
        capacity = self.small_index(8)
        target = self.ref_target((f"list {element}", 0))
        self.line(f"%r{target} = vm.list.alloc {capacity} : !vm.list<{element}>")
        if chance(self.choices, 95):
            count = self.fresh()
            self.line(f"%i{count} = vm.const.i32 {4 + self.choices.below(3)}")
            self.line(f"vm.list.resize %r{target}, %i{count}")

    def some_list(self, elements: tuple[str, ...]) -> str:
        """A register that probably holds a list of one of `elements`."""
        fitting = [tag for tag, _ in self.tags if tag.startswith("list ") and tag[5:] in elements]
        return self.reference(pick(self.choices, fitting) if fitting else f"list {pick(self.choices, elements)}")

    def list_shape(self) -> None:
        target = self.some_list(ELEMENT_TYPES)
        roll = self.choices.below(3)
        if roll == 0:
            self.line(f"%i{self.target('i')} = vm.list.size {target}")
        else:
            count = self.fresh()
            self.line(f"%i{count} = vm.const.i32 {3 + self.choices.below(6)}")
            self.line(f"vm.list.{('reserve', 'resize')[roll - 1]} {target}, %i{count}")

    def list_access(self) -> None:
        t, kind = pick(self.choices, tuple(LETTERS.items()))
        # Mostly the same sort of number, as other runtimes do not convert between them.
        same = tuple(e for e in ELEMENT_TYPES[:6] if (e[0] == "f") == (t[0] == "f"))
        target = self.some_list((*same, "!vm.opaque") if chance(self.choices, 80) else ELEMENT_TYPES)
        index = self.small_index(4)
        if chance(self.choices, 50):
            # The list may hold the other kind of float, whose NaN is converted.
            self.line(f"{cell(kind, self.target(kind, loose=kind in 'fF'))} = vm.list.get.{t} {target}, {index}")
        else:
            self.line(f"vm.list.set.{t} {target}, {index}, {cell(kind, self.source(kind))}")

    def list_reference(self) -> None:
        target = self.some_list(ELEMENT_TYPES[6:])
        index = self.small_index(4)
        if chance(self.choices, 50):
            result = f"%{pick(self.choices, 'rR')}{self.ref_target()}"
            self.line(f"{result} = vm.list.get.ref {target}, {index} : {pick(self.choices, REF_TYPES)}")
        else:
            self.line(f"vm.list.set.ref {target}, {index}, {self.reference('buffer', move=40)}")

    def global_value(self) -> None:
        t, kind = pick(self.choices, tuple(LETTERS.items()))
        size = 8 if kind in WIDE else 4
        if self.around.state_bytes < size:
            return
        loads = chance(self.choices, 50)
        indirect = chance(self.choices, 40)
        if indirect:
            place = f".indirect.{t}", f".rwdata[{self.small_index(self.around.state_bytes - size + 1)}]"
        else:
            place = f".{t}", f".rwdata[{self.choices.below(self.around.state_bytes - size + 1)}]"
        if loads:
            self.line(f"{cell(kind, self.target(kind))} = vm.global.load{place[0]} {place[1]}")
        else:
            self.line(f"vm.global.store{place[0]} {cell(kind, self.source(kind))}, {place[1]}")

    def global_reference(self) -> None:
        count = self.around.state_refs
        if not count:
            return
        indirect = chance(self.choices, 40)
        slot = self.small_index(count) if indirect else str(self.choices.below(count))
        name = ".indirect.ref" if indirect else ".ref"
        # Even slots are for buffers, odd ones for lists.
        holds_buffer = not indirect and int(slot) % 2 == 0
        if chance(self.choices, 50):
            type_name = "!vm.buffer" if holds_buffer else "!vm.list<i32>"
            result = f"%{pick(self.choices, 'rR')}{self.ref_target(('buffer', 8) if holds_buffer else ('', 0))}"
            self.line(f"{result} = vm.global.load{name} .refs[{slot}] : {type_name}")
        else:
            stored = self.reference("buffer" if holds_buffer else "list i32", move=40)
            type_name = "!vm.buffer" if holds_buffer else "!vm.list<i32>"
            self.line(f"vm.global.store{name} {stored}, .refs[{slot}] : {type_name}")

    def choose(self) -> None:
        """select or switch of numbers; loose when an operand is."""
        t, kind = pick(self.choices, tuple(LETTERS.items()))
        count = 2 if chance(self.choices, 50) else 1 + self.choices.below(4)
        values = [self.source(kind, loose=True) for _ in range(count + 1)]
        target = cell(kind, self.target(kind, loose=any(map(self.is_loose, values))))
        texts = [cell(kind, value) for value in values]
        if count == 2:
            self.line(f"{target} = vm.select.{t} {cell('i', self.source('i'))} ? {texts[0]} : {texts[1]}")
        else:
            index = self.small_index(count + 1)
            self.line(f"{target} = vm.switch.{t} {index}[{', '.join(texts[1:])}] else {texts[0]}")

    def choose_reference(self) -> None:
        type_name = "!vm.buffer" if chance(self.choices, 90) else pick(self.choices, REF_TYPES)
        values = [self.reference("buffer", move=30) for _ in range(2)]
        rest = [self.reference("buffer") for _ in range(self.choices.below(4))]
        target = f"%r{self.ref_target()}"
        if chance(self.choices, 50):
            condition = cell("i", self.source("i"))
            self.line(f"{target} = vm.select.ref {condition} ? {values[0]} : {values[1]} -> {type_name}")
        else:
            index = self.small_index(len(rest) + 1)
            self.line(f"{target} = vm.switch.ref {index}[{', '.join(rest)}] else {values[0]} -> {type_name}")

    def move_reference(self) -> None:
        roll = self.choices.below(4)
        if roll == 0:
            source = self.reference("buffer", move=40)
            tag = self.tags[int(source[2:])]
            self.line(f"%r{self.ref_target(tag)} = vm.assign.ref {source}")
        elif roll == 1:
            source = self.reference("buffer")
            type_name, tag = self.type_of(source), self.tags[int(source[2:])]
            self.line(f"%r{self.ref_target(tag)} = vm.cast.any.ref {source} : !vm.ref<?> -> {type_name}")
        elif roll == 2:
            self.line(f"%r{self.ref_target()} = vm.const.ref.zero")
        else:
            gone = [self.reference(move=50) for _ in range(self.choices.below(3))]
            for register in gone:
                self.tags[int(register[2:])] = ("", 0)
            self.line("vm.discard.refs " + ", ".join(gone))

    def compare_references(self) -> None:
        target = f"%i{self.target('i')}"
        roll = self.choices.below(4)
        if roll == 0 and self.around.imports:
            self.line(f"{target} = vm.import.resolved @{pick(self.choices, self.around.imports)}")
        elif roll == 1:
            self.line(f"{target} = vm.cmp.nz.ref {self.reference()}")
        else:
            name = pick(self.choices, ("eq", "ne"))
            self.line(f"{target} = vm.cmp.{name}.ref {self.reference()}, {self.reference()}")

    def event(self) -> None:
        name = pick(self.choices, ("trace", "print"))
        values = [cell(k, self.source(k, loose=True)) for k in "iIfF"[: self.choices.below(5)]]
        values += [self.reference(move=30) for _ in range(self.choices.below(3))]
        self.line(f'vm.{name} "event"({", ".join(values)})')


__all__ = ["CELLS", "LOOSE", "REFS", "TYPES", "MemoryWriter"]
