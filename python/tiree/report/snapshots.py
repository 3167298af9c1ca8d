"""The IR and what each pass changed, as edits of lines, at a bounded cost.

A module is kept by its sections (functions, globals, executables). Values keep their names from pass to pass, so that
an edit holds what a pass changed and nothing that was only numbered anew. What did not change is not printed again:
a walk compares every op with what it was. Of a long block only the first and last ops are printed, and when `LIMIT`
characters are kept, or `VISITS` ops walked, later changes are counted only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove

from tiree.dialects.syntax.printer import ModulePrinter
from tiree.report.diff import Edit, edits
from tiree.support.symbols import defined_symbol
from tiree.support.typed import operands_of

LIMIT = 4_000_000
"""Characters of IR that are kept of one compilation."""
VISITS = 2_000_000
"""Ops that are walked in one compilation to find what changed."""
FIRST_OPS, LAST_OPS = 1500, 300
"""Of a block that has more ops (those in its ops count too), about these are printed."""
EXECUTABLES = 32
"""Of the executables of a module, the first are printed."""
LINE = 1500
"""Characters of one line."""

_LONG_STRING = re.compile(r'"((?:[^"\\]|\\.){48})(?:[^"\\]|\\.){112,}"')
_Mark = tuple[Any, ...]


@dataclass
class Change:
    """What a pass did."""

    ops: int
    """The ops of the module afterwards."""
    added: int = 0
    removed: int = 0
    """Lines."""
    sections: dict[str, list[Edit]] = field(default_factory=dict[str, "list[Edit]"])
    gone: list[str] = field(default_factory=list[str])
    order: list[str] | None = None
    """The sections in order, where it is another one than before."""
    hidden: list[str] = field(default_factory=list[str])
    """Sections that changed where their text is left out."""

    @property
    def is_empty(self) -> bool:
        return not (self.sections or self.gone or self.hidden or self.order)


class Snapshots:
    """The text of one module as it was when it was last looked at."""

    def __init__(self) -> None:
        self.is_full = False
        """Whether a limit was reached: nothing is compared any more."""
        self._lines: dict[str, list[str]] = {}
        self._walk = _Walk(None)
        self._texts: dict[Operation, tuple[int, str]] = {}
        self._kept = self._visited = 0

    def take(self, module: ModuleOp) -> Change | None:
        """What changed since the last look; None when a limit was reached, now or before."""
        if self.is_full:
            return None
        try:
            return self._take(module)
        except RecursionError:
            # Printing takes more of the stack than compiling: what is nested too deeply for it may still compile.
            self.is_full = True
            return None

    def _take(self, module: ModuleOp) -> Change:
        walk = _Walk(self._walk)
        sections = _sections(module)
        changed = [key for key, op in sections.items() if walk.section(op)]
        walk.name_values()
        self._texts = {op: text for op, text in self._texts.items() if op in walk.marks and op not in walk.dirty}
        if walk.renamed:
            self._texts.clear()
        change = Change(walk.visited)
        known = {**self._lines}
        now = {key: known[key] for key in sections if key in known}
        shown = set(_shown(sections))
        for key in sections:
            if key in changed or key not in known:
                now[key] = self._section(sections[key], walk) if key in shown else [_left_out(sections[key])]
                self._compare(change, key, known.get(key), now[key], sections[key] in walk.long or key not in shown)
        module_line = [f"builtin.module attributes {_attributes(module.attributes)}"] if module.attributes else []
        now = {"module": module_line, **{key: now[key] for key in sections}}
        self._compare(change, "module", known.get("module", []), now["module"], False)
        change.gone = [key for key in known if key not in now]
        change.removed += sum(len(known[key]) for key in change.gone)
        if list(now) != [key for key in known if key in now]:
            change.order = list(now)
        self._walk, self._lines = walk, now
        self._visited += walk.visited
        self._kept += sum(len(line) for es in change.sections.values() for _, _, lines in es for line in lines)
        self.is_full = self._visited > VISITS or self._kept > LIMIT
        return change

    def _compare(self, change: Change, key: str, old: list[str] | None, new: list[str], long: bool) -> None:
        if old == new:
            if long:
                change.hidden.append(key)
            return
        found = edits(old or [], new)
        change.sections[key] = found
        change.added += sum(len(lines) for _, _, lines in found)
        change.removed += sum(count for _, count, _ in found)

    def _section(self, op: Operation, walk: _Walk) -> list[str]:
        stream = StringIO()
        _SnapshotPrinter(stream, walk, self._texts).print_op(op)
        return [_short(line) for line in stream.getvalue().split("\n")]


def printed(op: Operation, lines: int) -> list[str]:
    """`op` by itself as it is shown, at most that many lines."""
    walk = _Walk(None)
    walk.section(op)
    walk.name_values()
    stream = StringIO()
    _SnapshotPrinter(stream, walk, {}).print_op(op)
    text = [_short(line) for line in stream.getvalue().split("\n")]
    if len(text) > lines:
        text[lines:] = [f"// {len(text) - lines} more lines"]
    return text


class _Walk:
    """One walk over a module: what every op is made of, which are not what they were, and the names of all values."""

    def __init__(self, before: _Walk | None) -> None:
        self.marks: dict[Operation, _Mark] = {}
        self.dirty: set[Operation] = set()
        self.sizes: dict[Operation, int] = {}
        """The number of ops in each op that has regions, itself included."""
        self.long: set[Operation] = set()
        """Ops that hold a block which is too long to be printed whole."""
        self.names: dict[SSAValue, str] = {}
        self.renamed = False
        self.visited = 0
        self._counts: dict[Operation, Counter[str]] = {}
        self._values: dict[Operation, list[SSAValue]] = {}
        self._before = before

    def section(self, op: Operation) -> bool:
        """Walks `op` and what is in it; whether anything changed."""
        return self._op(op, op, self._values.setdefault(op, []))

    def _op(self, op: Operation, scope: Operation, values: list[SSAValue]) -> bool:
        """`values` are those of `scope`, in order."""
        self.visited += 1
        results = op.results
        if results:
            values.append(results[0])
        children, changed = None, False
        if op.regions:
            start = self.visited - 1
            children, changed = self._regions(op, scope, values)
            self.sizes[op] = self.visited - start
        properties, attributes = op.properties, op.attributes
        mark: _Mark = (
            op.parent,
            operands_of(op),
            results[0].type if len(results) == 1 else tuple([result.type for result in results]),
            properties and (*properties.items(),),
            attributes and (*attributes.items(),),
            op.successors and (*op.successors,),
            children,
        )
        self.marks[op] = mark
        if changed or self._before is None or self._before.marks.get(op) != mark:
            self.dirty.add(op)
            return True
        return False

    def _regions(self, op: Operation, scope: Operation, values: list[SSAValue]) -> tuple[list[Any], bool]:
        """All that is directly in `op`, and whether anything in there changed."""
        children: list[Any] = []
        changed = False
        if op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            scope, values = op, self._values.setdefault(op, [])
        for region in op.regions:
            for block in region.blocks:
                ops = list(block.ops)
                children += [block, *block.args, *[argument.type for argument in block.args], *ops]
                values.extend(block.args)
                start = self.visited
                for child in ops:
                    changed |= self._op(child, scope, values)
                    if child in self.long:
                        self.long.add(op)
                if self.visited - start > FIRST_OPS + LAST_OPS:
                    self.long.add(op)
        return children, changed

    def name_values(self) -> None:
        """Gives every value its name: the one it had, or a new one that its function has not seen."""
        before = self._before
        old = before.names if before is not None else {}
        for scope, values in self._values.items():
            counts = Counter(before._counts.get(scope, ())) if before is not None else Counter[str]()
            taken: set[str] = set()
            fresh: list[SSAValue] = []
            for value in values:
                name = old.get(value)
                if name is None or name in taken:
                    self.renamed |= name is not None
                    fresh.append(value)
                else:
                    taken.add(name)
                    self.names[value] = name
            for value in fresh:
                self.names[value] = name = _new_name(value, taken, counts)
                taken.add(name)
            self._counts[scope] = counts
        # Only the names of what is there are kept, and nothing of the walk before.
        self._before = None


def _new_name(value: SSAValue, taken: set[str], counts: Counter[str]) -> str:
    hint = value.name_hint or ("arg" if isinstance(value, BlockArgument) else "")
    while True:
        count = counts[hint]
        counts[hint] += 1
        name = f"{hint}{count}"
        if value.name_hint:
            name = hint if count == 0 else f"{hint}_{count - 1}"
        if name not in taken:
            return name


class _SnapshotPrinter(ModulePrinter):
    """Prints with the names of a walk; ops of functions that did not change as they were printed before."""

    def __init__(self, stream: StringIO, walk: _Walk, texts: dict[Operation, tuple[int, str]]) -> None:
        super().__init__(stream)
        self.elide_larger_than = 16
        self._walk, self._texts, self._text_stream = walk, texts, stream

    def _name_of(self, value: SSAValue) -> str:
        first = value.op.results[0] if isinstance(value, OpResult) else value
        return self._walk.names.get(first) or super()._name_of(value)

    def print_op(self, op: Operation) -> None:
        parent = op.parent_op()
        if parent is None or not parent.name.endswith(".func") or op.successors:
            super().print_op(op)
            return
        known = self._texts.get(op)
        if known is not None and known[0] == self._indent:
            self.print_string(known[1], indent=0)
            return
        start = self._text_stream.tell()
        super().print_op(op)
        self._text_stream.seek(start)
        self._texts[op] = (self._indent, self._text_stream.read())

    def print_block(self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True) -> None:
        ops = list(block.ops) if block.last_op is not None else []
        first, last = self._bounds(ops)
        if first >= last:
            super().print_block(block, print_block_args, print_block_terminator)
            return
        if print_block_args:
            self._print_new_line()
            self.print_block_name(block)
            if block.args:
                with self.in_parens():
                    self.print_list(block.args, self.print_block_argument)
            self.print_string(":")
        with self.indented():
            for op in ops[:first]:
                self._print_new_line()
                self.print_op(op)
            self._print_new_line()
            self.print_string(f"// {last - first} operations are left out here")
            for op in ops[last:]:
                self._print_new_line()
                self.print_op(op)

    def _bounds(self, ops: list[Operation]) -> tuple[int, int]:
        """Up to which op of a block is printed, and from which one on."""
        sizes = [self._walk.sizes.get(op, 1) for op in ops]
        if sum(sizes) <= FIRST_OPS + LAST_OPS:
            return len(ops), len(ops)
        first, count = 0, 0
        while first < len(ops) and count < FIRST_OPS:
            count += sizes[first]
            first += 1
        last, count = len(ops), 0
        while last > first and count < LAST_OPS:
            last -= 1
            count += sizes[last]
        return first, last


def _sections(module: ModuleOp) -> dict[str, Operation]:
    """The ops of the module by a name that stays theirs when other ops come and go."""
    found: dict[str, Operation] = {}
    for op in module.body.block.ops:
        symbol = defined_symbol(op)
        key = base = f"@{symbol}" if symbol is not None else op.name
        number = 1
        while key in found:
            number += 1
            key = f"{base} #{number}"
        found[key] = op
    return found


def _shown(sections: dict[str, Operation]) -> list[str]:
    executables = 0
    shown: list[str] = []
    for key, op in sections.items():
        executables += "executable" in op.name
        if "executable" not in op.name or executables <= EXECUTABLES:
            shown.append(key)
    return shown


def _left_out(op: Operation) -> str:
    return f"// {op.name} @{defined_symbol(op)} is left out here"


def _attributes(attributes: Mapping[str, Attribute]) -> str:
    stream = StringIO()
    printer = ModulePrinter(stream)
    printer.elide_larger_than = 16
    for key, value in attributes.items():
        printer.print_string(f"{', ' if stream.tell() else ''}{key} = ")
        printer.print_attribute(value)
    return _short(f"{{{stream.getvalue()}}}")


def _short(line: str) -> str:
    if len(line) > 160:
        line = _LONG_STRING.sub(lambda found: f'"{found[1]}…({len(found[0]) - 2} characters)"', line)
    return line if len(line) <= LINE else f"{line[:LINE]}… ({len(line) - LINE} more characters)"
