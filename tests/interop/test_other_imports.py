"""The functions of `hal_inline`, `hal_loader` and `vmvx`, called by bytecode, do what IREE 3.13's do; those of `check`,
which IREE's tools lack, do what their names say."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from interop.hal_programs import ADD, FORMAT, kernels
from proofs import iree_reference as iree
from runtime.import_table import rows
from runtime.vm_program import Function, Value, VmProgram
from tools.runtime_tool import ours, refused, theirs

pytestmark = iree.needs_iree

PROGRAM = VmProgram("others")
BUILDERS: dict[str, Callable[[Function], None]] = {}
F32, I32 = 0x21000020, 0x10000020
MINIMUM = -(2**31)

# What IREE does otherwise, and what is right.
DIFFERENT = {
    "divs_by_zero": "division by zero",  # dies of a signal
    "divu_by_zero": "division by zero",
    "divs_overflow": "-2147483648",
    "mmt4d_f16": "flags 0x203 name no known kernel",
    "inline_wrap": "result[4]: i32=6",  # UNIMPLEMENTED
    "dim_outside": "dimension 3 of a view of shape [2x2]",  # 0
}


def program(name: str) -> Callable[[Callable[[Function], None]], None]:
    def add(build: Callable[[Function], None]) -> None:
        BUILDERS[name] = build

    return add


class Memory:
    """A `vm.buffer` of 32-bit words."""

    def __init__(self, f: Function, words: Sequence[int | float], alignment: int = 64) -> None:
        self.f = f
        length = f.line(f"vm.const.i64 {4 * len(words)}", "I")
        aligned = f.line(f"vm.const.i32 {alignment}", "i")
        self.buffer = f.line(f"vm.buffer.alloc {length}, {aligned} : !vm.buffer", "r")
        for index, word in enumerate(words):
            bits = struct.unpack("<i", struct.pack("<f", word))[0] if isinstance(word, float) else word
            at, value = f.line(f"vm.const.i64 {index}", "I"), f.line(f"vm.const.i32 {bits}", "i")
            f.line(f"vm.buffer.store.i32 {value}, {self.buffer}[{at}] : i32 -> !vm.buffer")
        self.ref = f.line(f"vm.cast.ref.any {self.buffer} : !vm.buffer -> !vm.ref<?>", "r")

    def return_words(self, count: int) -> None:
        self.f.result(*(load(self.f, self.buffer, index) for index in range(count)))


def load(f: Function, buffer: Value, index: int) -> Value:
    at = f.line(f"vm.const.i64 {index}", "I")
    return f.line(f"vm.buffer.load.i32 {buffer}[{at}] : !vm.buffer -> i32", "i")


def as_buffer(f: Function, ref: Value) -> Value:
    return f.line(f"vm.cast.any.ref {ref} : !vm.ref<?> -> !vm.buffer", "r")


# hal_inline


@program("inline_allocate")
def _inline_allocate(f: Function) -> None:
    buffer, storage = f.call("hal_inline.buffer.allocate", 64, 32)
    f.call("hal_inline.buffer.length", buffer)
    inside = as_buffer(f, storage)
    at, value = f.line("vm.const.i64 3", "I"), f.line("vm.const.i32 77", "i")
    f.line(f"vm.buffer.store.i32 {value}, {inside}[{at}] : i32 -> !vm.buffer")
    again = as_buffer(f, f.call("hal_inline.buffer.storage", buffer))
    f.result(f.call("hal_inline.buffer.length", buffer), load(f, again, 3))


@program("inline_initialized")
def _inline_initialized(f: Function) -> None:
    source = Memory(f, [1, 2, 3, 4, 5, 6])
    buffer, storage = f.call("hal_inline.buffer.allocate.initialized", 64, source.ref, 8, 12)
    f.result(f.call("hal_inline.buffer.length", buffer), *(load(f, as_buffer(f, storage), i) for i in range(3)))


@program("inline_wrap")
def _inline_wrap(f: Function) -> None:
    """Writes through the memory are seen in the buffer and in a part of it."""
    source = Memory(f, [1, 2, 3, 4, 5, 6, 7, 8] * 4)
    buffer = f.call("hal_inline.buffer.wrap", source.ref, 64, 32)
    part = f.call("hal_inline.buffer.subspan", buffer, 8, 16)
    at, value = f.line("vm.const.i64 18", "I"), f.line("vm.const.i32 99", "i")
    f.line(f"vm.buffer.store.i32 {value}, {source.buffer}[{at}] : i32 -> !vm.buffer")
    f.result(f.call("hal_inline.buffer.length", part))
    inside = as_buffer(f, f.call("hal_inline.buffer.storage", part))
    f.result(*(load(f, inside, i) for i in range(4)))


@program("inline_view")
def _inline_view(f: Function) -> None:
    buffer, _ = f.call("hal_inline.buffer.allocate.initialized", 64, Memory(f, [1, 2, 3, 4] * 8).ref, 0, 64)
    view = f.call("hal_inline.buffer_view.create", buffer, 16, 16, I32, 1, [2, 2])
    f.call("hal_inline.buffer_view.assert", view, "x", I32, 1, [2, 2])
    f.call("hal_inline.buffer_view.trace", "key", [view])
    for name in ("rank", "element_type", "encoding_type"):
        f.result(f.call(f"hal_inline.buffer_view.{name}", view))
    f.result(f.call("hal_inline.buffer_view.dim", view, 1))
    f.result(f.call("hal_inline.buffer.length", f.call("hal_inline.buffer_view.buffer", view)))


@program("inline_assert")
def _inline_assert(f: Function) -> None:
    buffer, _ = f.call("hal_inline.buffer.allocate", 64, 16)
    view = f.call("hal_inline.buffer_view.create", buffer, 0, 16, I32, 1, [2, 2])
    f.call("hal_inline.buffer_view.assert", view, "x", F32, 1, [2, 2])


@program("dim_outside")
def _dim_outside(f: Function) -> None:
    buffer, _ = f.call("hal_inline.buffer.allocate", 64, 16)
    view = f.call("hal_inline.buffer_view.create", buffer, 0, 16, I32, 1, [2, 2])
    f.result(f.call("hal_inline.buffer_view.dim", view, 3))


@program("inline_query")
def _inline_query(f: Function) -> None:
    f.result(f.call("hal_inline.device.query.i64", "nothing", "at all")[0])


# hal_loader


def load_add(f: Function) -> tuple[Value, Value]:
    executable = f.call("hal_loader.executable.load", FORMAT, kernels(), None)
    return executable, f.call("hal_loader.executable.lookup.function", executable, ADD)


@program("loader_support")
def _loader_support(f: Function) -> None:
    for name in (FORMAT, "vmvx-bytecode-fb", "no-such-format"):
        f.result(f.call("hal_loader.executable.query_support", name))


@program("loader_dispatch")
def _loader_dispatch(f: Function) -> None:
    executable, entry = load_add(f)
    a, b = Memory(f, [1.0, 2.0, 3.0, 4.0] * 8), Memory(f, [0.5] * 4)
    result = Memory(f, [0] * 32)
    bindings = [(a.ref, 64, 16), (b.ref, 0, 16), (result.ref, 64, 16)]
    f.call("hal_loader.executable.dispatch", executable, entry, 1, 1, 1, [], bindings)
    result.return_words(20)


@program("loader_outside")
def _loader_outside(f: Function) -> None:
    executable, entry = load_add(f)
    memory = Memory(f, [0] * 4)
    bindings = [(memory.ref, 0, 16), (memory.ref, 0, 16), (memory.ref, 8, 16)]
    f.call("hal_loader.executable.dispatch", executable, entry, 1, 1, 1, [], bindings)


@program("loader_unknown")
def _loader_unknown(f: Function) -> None:
    f.call("hal_loader.executable.load", "no-such-format", kernels(), None)


@program("loader_no_function")
def _loader_no_function(f: Function) -> None:
    executable, _ = load_add(f)
    f.result(f.call("hal_loader.executable.lookup.function", executable, "nothing"))


# vmvx


def binary(name: str, function: str, lhs: Sequence[Any], rhs: Sequence[Any]) -> None:
    """On 2 x n elements, the right side transposed and the result written with a gap."""

    def build(f: Function) -> None:
        n = len(lhs) // 2
        a, b, out = Memory(f, lhs), Memory(f, rhs), Memory(f, [0] * (2 * n + 3))
        f.call(
            f"vmvx.{function}", a.ref, 0, n, 1, b.ref, 0, 1, 2, out.ref, 1, n + 1, 1, 2, n
        )  # fmt: skip
        out.return_words(2 * n + 3)

    BUILDERS[name] = build


INTEGERS = [7, -7, 1, MINIMUM, 5, 123456789]
for _name in ["add", "sub", "mul", "and", "or", "xor", "divs", "divu", "shl", "shrs", "shru"]:
    binary(f"{_name}_i32", f"{_name}.2d.i32", INTEGERS, [3, 2, 33, -3, 31, 1])
for _name in ["add", "sub", "mul", "div"]:
    binary(
        f"{_name}_f32", f"{_name}.2d.f32", [1.5, -2.0, 0.0, float("inf"), 3e38, 1e-45], [1.0, 3.0, 0.0, 1.0, 7.0, 3.0]
    )
binary("divs_by_zero", "divs.2d.i32", [1, 1], [0, 0])
binary("divu_by_zero", "divu.2d.i32", [1, 1], [0, 0])
binary("divs_overflow", "divs.2d.i32", [MINIMUM, MINIMUM], [-1, -1])


def unary(name: str, words: Sequence[Any], rows: int = 2) -> None:
    def build(f: Function) -> None:
        columns = len(words) // rows
        source, out = Memory(f, words), Memory(f, [0] * len(words))
        f.call(f"vmvx.{name}", source.ref, 0, columns, 1, out.ref, 0, 1, rows, rows, columns)
        out.return_words(len(words))

    BUILDERS[name] = build


for _name in ["abs", "ceil", "floor", "neg", "rsqrt", "exp", "log"]:
    unary(f"{_name}.2d.f32", [1.0, -2.5, 0.0, 4.0, -0.0, 0.25])
unary("ctlz.2d.i32", [0, 1, -1, 255, MINIMUM, 65536])
for _bits in (8, 16, 32, 64):
    unary(f"copy.2d.x{_bits}", list(range(0x01020304, 0x01020304 + 8)), rows=1 if _bits == 64 else 2)


@program("copy_outside")
def _copy_outside(f: Function) -> None:
    a, b = Memory(f, [1, 2, 3, 4]), Memory(f, [0] * 4)
    f.call("vmvx.copy.2d.x32", a.ref, 1, 4, 1, b.ref, 0, 4, 1, 1, 4)


@program("copy_nothing")
def _copy_nothing(f: Function) -> None:
    a, b = Memory(f, [1, 2, 3, 4]), Memory(f, [0] * 4)
    f.call("vmvx.copy.2d.x32", a.ref, 0, 4, 1, b.ref, 0, 4, 1, 0, 4)
    b.return_words(4)


@program("fill.2d.x32")
def _fill(f: Function) -> None:
    out = Memory(f, [0] * 12)
    f.call("vmvx.fill.2d.x32", 7, out.ref, 1, 5, 2, 3)
    out.return_words(12)


def mmt4d(name: str, flags: int, words: Callable[[int], list[Any]]) -> None:
    """Two by three tiles of 2x3x2, of matrices with a gap between rows of tiles."""

    def build(f: Function) -> None:
        m, n, k, m0, n0, k0 = 2, 3, 2, 2, 3, 2
        lhs, rhs, out = Memory(f, words(m * (k * m0 * k0 + 4))), Memory(f, words(n * k * n0 * k0)), Memory(f, [5] * 40)
        strides = (k * m0 * k0 + 4, k * n0 * k0, n * m0 * n0)
        f.call(
            "vmvx.mmt4d", lhs.ref, 0, strides[0], rhs.ref, 0, strides[1], out.ref, 2, strides[2], m, n, k, m0, n0, k0,
            flags,
        )  # fmt: skip
        out.return_words(40)

    BUILDERS[name] = build


for _flags in (0x201, 0x301):
    mmt4d(f"mmt4d_f32_{_flags:x}", _flags, lambda count: [0.5 * i - 3 for i in range(count)])
for _flags in (0x202, 0x302):
    mmt4d(f"mmt4d_i8_{_flags:x}", _flags, lambda count: [(i * 0x01FE7F03) % 2**31 for i in range(count)])
mmt4d("mmt4d_f16", 0x203, lambda count: [0] * count)


def packing(kind: str, flags: int, padding: int = 99) -> None:
    """3x5 and tiles of 2x4."""

    def build(f: Function) -> None:
        outer, inner = (2, 2), (2, 4)
        outer = outer[::-1] if flags & 0x200 else outer
        inner = inner[::-1] if flags & 0x100 else inner
        plain, packed = Memory(f, list(range(1, 41))), Memory(f, list(range(100, 140)))
        tiles = (packed.ref, 2, 8 * outer[1], 8)
        if kind == "pack":
            f.call("vmvx.pack", plain.ref, 3, 6, 1, *tiles, 3, 5, *outer, *inner, padding, flags)
            packed.return_words(40)
        else:
            f.call("vmvx.unpack", *tiles, plain.ref, 3, 6, 1, *outer, *inner, 3, 5, flags)
            plain.return_words(40)

    BUILDERS[f"{kind}_{flags:x}"] = build


for _kind in ("pack", "unpack"):
    for _flags in (1, 3, 0x101, 0x201, 0x301, *((2, 0x302) if _kind == "pack" else ()), 4):
        packing(_kind, _flags)


@program("query_tile_sizes.2d")
def _query(f: Function) -> None:
    for operation in range(8):
        for role in range(5):
            f.result(*f.call("vmvx.query_tile_sizes.2d", 100, 100, operation << 8 | role))


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name, build in BUILDERS.items():
        with PROGRAM.function(name.replace(".", "_")) as f:
            build(f)
    path = tmp_path_factory.mktemp("others") / "m.vmfb"
    path.write_bytes(PROGRAM.compile())
    return path


@pytest.mark.usefixtures("module")
def test_every_function_has_a_program():
    wanted = {f"{name}.{function}" for name in ("hal_inline", "hal_loader", "vmvx") for function in rows(name)}
    assert set(PROGRAM.imports) == wanted


@pytest.mark.parametrize("name", BUILDERS)
def test_program(module: Path, name: str):
    flags = [f"--module={module}", "--device=local-sync", f"--function={name.replace('.', '_')}"]
    if right := DIFFERENT.get(name):
        assert right in (ours("run-module", *flags).out if right[-1].isdigit() else refused("run-module", *flags))
        return
    found, wanted = ours("run-module", *flags), theirs("run-module", *flags)
    assert (found.code, found.out) == (wanted.code, wanted.out), found.err + wanted.err


class TestCheck:
    """`check` is a module of test programs."""

    @pytest.fixture(scope="class")
    @classmethod
    def module(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        program = VmProgram("checks")
        for name, function, values in cls.CASES:
            with program.function(name) as f:
                device = f.call("hal.devices.get", 0)
                allocator = f.call("hal.device.allocator", device)
                views = []
                for words in values:
                    buffer = f.call("hal.allocator.allocate", allocator, -1, 0x76, 0x9000C03, 4 * len(words))
                    for index, word in enumerate(words):
                        bits = struct.unpack("<i", struct.pack("<f", word))[0] if isinstance(word, float) else word
                        f.call("hal.buffer.store", bits, buffer, 4 * index, 4)
                    element = F32 if isinstance(words[0], float) else I32
                    views.append(f.call("hal.buffer_view.create", buffer, 0, -1, element, 1, [len(words)]))
                tolerance = (0.001, 0.0) if function == "expect_almost_eq" else ()
                f.call(f"check.{function}", device, *views, *tolerance)
        for value in (0, 1, -1):
            for function in ("expect_true", "expect_false"):
                with program.function(f"{function}_{value + 1}") as f:
                    f.call(f"check.{function}", value)
        path = tmp_path_factory.mktemp("check") / "m.vmfb"
        path.write_bytes(program.compile())
        return path

    NAN = float("nan")
    CASES = (
        ("all_true", "expect_all_true", ([1, 2, -1],)),
        ("all_true_no", "expect_all_true", ([1, 0, -1],)),
        ("eq", "expect_eq", ([1, 2], [1, 2])),
        ("eq_float", "expect_eq", ([1.0, NAN], [1.0, NAN])),
        ("eq_no", "expect_eq", ([1, 2], [1, 3])),
        ("eq_type_no", "expect_eq", ([1, 2], [1.0, 2.0])),
        ("eq_shape_no", "expect_eq", ([1, 2], [1, 2, 3])),
        ("almost", "expect_almost_eq", ([1.0, NAN], [1.0005, NAN])),
        ("almost_no", "expect_almost_eq", ([1.0], [1.01])),
    )
    MESSAGES: ClassVar[dict[str, str]] = {
        "all_true_no": "expected all elements to be true but the tensor is 3xi32=1 0 -1",
        "eq_no": "element at index 1 differs; expected 2xi32=1 3 but the tensor is 2xi32=1 2",
        "eq_type_no": "expected 2xf32 but the tensor is 2xi32",
        "eq_shape_no": "expected 3xi32 but the tensor is 2xi32",
        "almost_no": "element at index 0 differs; expected 1xf32=1.01 but the tensor is 1xf32=1",
    }

    @pytest.mark.parametrize("name", [case[0] for case in CASES])
    def test_tensors(self, module: Path, name: str):
        flags = [f"--module={module}", f"--function={name}"]
        if name in self.MESSAGES:
            assert self.MESSAGES[name] in refused("run-module", *flags)
        else:
            assert ours("run-module", *flags).code == 0

    def test_scalars(self, module: Path):
        for value in (0, 1, -1):
            for function, holds in (("expect_true", value != 0), ("expect_false", value == 0)):
                done = ours("run-module", f"--module={module}", f"--function={function}_{value + 1}")
                assert (done.code == 0) == holds
                assert holds or f"expected {str(function == 'expect_true').lower()}" in done.err
