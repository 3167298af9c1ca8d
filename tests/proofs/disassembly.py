"""Reads the text of a VM function: its blocks, branches, loops and calls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Block:
    """One basic block: `lines` without the label, `targets` as block numbers."""

    lines: list[str] = field(default_factory=list)

    @property
    def targets(self) -> list[int]:
        return [int(number) for line in self.lines for number in re.findall(r"\^bb(\d+)", line)]

    def calls(self, name: str) -> list[str]:
        """The lines that call import `@name`."""
        return [line for line in self.lines if f"@{name}" in line and re.search(rf"@{re.escape(name)}[ (]", line)]


def blocks_of(module: Path, function: str) -> list[Block]:
    """The blocks of `function` of a `.vmfb`, as tiree-dump-module prints it."""
    from tiree import _native

    text = _native.dump_module(str(module), "disassembly", "", False, False)
    body = text.partition(f"vm.func @{function}(")[2].partition("\n}")[0]
    blocks: list[Block] = []
    for line in body.splitlines()[1:]:
        if re.match(r"\^bb\d+:", line):
            blocks.append(Block())
        elif blocks:
            blocks[-1].lines.append(line.strip())
    assert blocks, f"no function {function}"
    return blocks


def loops(blocks: list[Block]) -> list[list[Block]]:
    """For each branch backwards the blocks from its target to where it starts: blocks stand in program order."""
    found = []
    for index, block in enumerate(blocks):
        found += [blocks[target : index + 1] for target in block.targets if target <= index]
    return found


def constant(blocks: list[Block], register: str) -> int:
    """The value of the only constant that is ever put into `register`, such as `%i4`."""
    lines = [line for block in blocks for line in block.lines]
    written = [line for line in lines if re.match(rf"{re.escape(register)}(:\d+)? = ", line)]
    assert len(written) == 1, written
    match = re.search(r"vm\.const\.i(?:32|64)(?:\.zero| (-?\d+))", written[0])
    assert match, written
    return int(match[1] or 0)
