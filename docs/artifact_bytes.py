"""Writes docs/reference/artifact_bytes.md: what every byte of the artifact of `4xf32 + 4xf32` is for.

Usage:  python docs/artifact_bytes.py [--check]

With --check nothing is written and the exit code is 1 when the page is not what the compiler makes.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from tiree.dialects import read_module
from tiree.pipeline import compile_module
from tiree.support.options import CompileOptions

PAGE = Path(__file__).parent / "reference" / "artifact_bytes.md"

MODEL = """\
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

OPTIONS = CompileOptions(
    llvmcpu_target_triple="x86_64",
    llvmcpu_target_cpu="x86-64-v4",
    llvmcpu_debug_symbols=False,
    vm_strip_source_map=True,
    vm_emit_polyglot_zip=False,
    hal_executable_debug_level=0,
)

TEXT = f"""# Where the bytes of a small artifact are

This page is written by `python docs/artifact_bytes.py`, and a test checks it. The program:

```mlir
{MODEL}```

compiled for x86-64-v4 with the flags that save bytes (`--iree-llvmcpu-debug-symbols=false
--iree-vm-bytecode-module-strip-source-map=true --iree-vm-emit-polyglot-zip=false --iree-hal-executable-debug-level=0`).
Every byte is counted once.

"""

ENDING = """
The rest is the formats': a host needs the names and calling conventions of all functions that it links, a loader the
headers of an ELF file, and a call of `add` is 13 calls of the runtime. The kernel itself is one load of each argument,
an addition and a store. The table of kernels, 232 bytes, is filled in by the query function and takes none.
"""


class Map:
    """The parts of a file as ranges of bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.parts: list[tuple[int, int, str]] = []
        self.executable = (0, 0)

    def note(self, start: int, size: int, what: str) -> None:
        self.parts.append((start, start + size, what))

    def u32(self, place: int) -> int:
        return int(struct.unpack_from("<I", self.data, place)[0])

    def field(self, table: int, slot: int) -> int:
        """Where a reference of a table leads; 0 where it is absent."""
        vtable = table - int(struct.unpack_from("<i", self.data, table)[0])
        if 4 + 2 * slot >= int(struct.unpack_from("<H", self.data, vtable)[0]):
            return 0
        offset = int(struct.unpack_from("<H", self.data, vtable + 4 + 2 * slot)[0])
        return table + offset + self.u32(table + offset) if offset else 0

    def table(self, table: int, what: str) -> int:
        vtable = table - int(struct.unpack_from("<i", self.data, table)[0])
        own, size = struct.unpack_from("<HH", self.data, vtable)
        self.note(vtable, own, "layouts of tables")
        self.note(table, size, what)
        return table

    def string(self, place: int, what: str) -> None:
        if place:
            self.note(place, 4 + self.u32(place) + 1, what)

    def items(self, vector: int, what: str) -> list[int]:
        if not vector:
            return []
        count = self.u32(vector)
        self.note(vector, 4 + 4 * count, what)
        places = [vector + 4 + 4 * n for n in range(count)]
        return [self.table(place + self.u32(place), what) for place in places]

    def attributes(self, vector: int, what: str) -> None:
        for one in self.items(vector, what):
            self.string(self.field(one, 0), what)
            self.string(self.field(one, 1), what)

    def module(self) -> None:
        """The FlatBuffer."""
        self.note(0, 12, "size, root and identifier of the FlatBuffer")
        root = self.table(4 + self.u32(4), "root table")
        self.string(self.field(root, 0), "name of the module")
        self.attributes(self.field(root, 3), "version, target, flags and digest")
        for slot, what in ((4, "types"), (5, "dependency on `hal`"), (7, "exports")):
            for one in self.items(self.field(root, slot), what):
                self.string(self.field(one, 0), what)
        for one in self.items(self.field(root, 6), "imports: tables"):
            self.string(self.field(one, 0), "imports: names")
            self.string(
                self.field(self.table(self.field(one, 1), "imports: tables"), 0), "imports: calling conventions"
            )
        for one in self.items(self.field(root, 8), "signatures"):
            self.string(self.field(one, 0), "signatures")
            self.attributes(self.field(one, 1), "declaration of `add`")
        for one in self.items(self.field(root, 9), "constants: tables"):
            segment = self.field(one, 2)
            size = self.u32(segment)
            self.note(segment, 4, "constants: tables")
            if self.data[segment + 4 : segment + 8] == b"\x7fELF":
                self.executable = segment + 4, size
            else:
                self.note(segment + 4, size, "constants: names of arguments, format of the executable")
        self.table(self.field(root, 11), "state of the module")
        functions = self.field(root, 12)
        self.note(functions, 4 + 20 * self.u32(functions), "descriptors of functions")
        code = self.field(root, 14)
        self.note(code, 4 + self.u32(code), "bytecode of `add` and the initializer")

    def elf(self) -> None:
        """The executable: its parts by the tables that point to them."""
        start, size = self.executable
        image = self.data[start : start + size]
        segments = struct.unpack_from("<H", image, 56)[0]
        self.note(start, 64, "executable: file header")
        self.note(start + 64, 56 * segments, "executable: program headers")
        headers = [struct.unpack_from("<IIQQQQQQ", image, 64 + 56 * n) for n in range(segments)]
        dynamic, length = next((one[2], one[5]) for one in headers if one[0] == 2)
        tags = dict(struct.iter_unpack("<QQ", image[dynamic : dynamic + length]))
        symbols = tags[6]
        value, code = struct.unpack_from("<QQ", image, symbols + 24 + 8)
        self.note(start + dynamic, length, "executable: dynamic entries")
        self.note(start + symbols, 48, "executable: symbols, and the hash table in the null one")
        self.note(start + symbols + 48, value - symbols - 48, "executable: the kernel")
        self.note(start + value, code, "executable: the query function, which fills in the table")
        self.note(start + tags[5], tags[10], "executable: name of the query function")
        text = tags[5] + tags[10]
        self.note(start + text, len(image[text:dynamic].rstrip(b"\0")) + 1, "executable: names of library and kernel")
        rest = dynamic + length
        self.note(start + rest, size - rest, "executable: the rest of the null section header")

    def lines(self) -> list[str]:
        """The rows of the page's table, the largest part first."""
        sizes: dict[str, int] = {}
        place = 0
        for begin, end, what in sorted(self.parts):
            if begin > place:
                sizes["alignment"] = sizes.get("alignment", 0) + begin - place
            sizes[what] = sizes.get(what, 0) + max(0, end - max(begin, place))
            place = max(place, end)
        if place < len(self.data):
            sizes["alignment"] = sizes.get("alignment", 0) + len(self.data) - place
        assert sum(sizes.values()) == len(self.data)
        own = sizes["version, target, flags and digest"] + sizes["declaration of `add`"]
        rows = [f"| {what} | {size} |" for what, size in sorted(sizes.items(), key=lambda one: -one[1])]
        total = [
            f"| **all** | **{len(self.data)}** |",
            f"| all without attributes and declaration | {len(self.data) - own} |",
        ]
        return ["| part | bytes |", "|---|---|", *rows, *total]


def page() -> str:
    found = Map(compile_module(read_module(MODEL), OPTIONS))
    found.module()
    found.elf()
    return TEXT + "\n".join(found.lines()) + "\n" + ENDING


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
