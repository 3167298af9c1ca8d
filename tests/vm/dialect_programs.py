"""One module with a function for every operation of the `vm` dialect that is no instruction, in IREE's short form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

I32 = [0, 1, -1, 7, 200, 255, 32768, 65535, 2**31 - 1, -(2**31)]
I64 = [0, 1, -1, 200, 2**31, 2**32 + 255, 2**63 - 1, -(2**63)]
# All of them are f32s: that is what the API of IREE passes on.
F32 = [0.0, -0.0, 1.0, 1.0 + 2**-23, 1.0 + 2**-16, -1.0, 2.0, float("inf"), -3.5]
CODES = {"i32": I32, "i64": I64, "f32": F32, "f64": F32}


@dataclass(frozen=True)
class Case:
    """`arguments` are types; the function is called with all pairs of their edge values."""

    name: str
    arguments: tuple[str, ...]
    result: str
    body: str

    @property
    def symbol(self) -> str:
        return self.name.replace(".", "_")

    def text(self) -> str:
        arguments = ", ".join(f"%{letter}: {type}" for letter, type in zip("abc", self.arguments, strict=False))
        result = self.result or "()"
        return f"  vm.export @{self.symbol}\n  vm.func @{self.symbol}({arguments}) -> {result} {{\n{self.body}\n  }}\n"


def _value(name: str, arguments: tuple[str, ...], result: str, text: str) -> Case:
    return Case(name, arguments, result, f"    %r = vm.{name} {text}\n    vm.return %r : {result}")


def cases() -> Iterator[Case]:
    for type in ("i32", "i64"):
        for kind in ("gt", "gte", "lte"):
            for sign in "su":
                yield _value(f"cmp.{kind}.{type}.{sign}", (type, type), "i32", f"%a, %b : {type}")
    for type in ("f32", "f64"):
        for kind in ("gt", "gte"):
            for order in "ou":
                yield _value(f"cmp.{kind}.{type}.{order}", (type, type), "i32", f"%a, %b : {type}")
        yield _value(f"cmp.eq.{type}.near", (type, type), "i32", f"%a, %b : {type}")
        for order in "ou":
            yield _value(f"cmp.nz.{type}.{order}", (type,), "i32", f"%a : {type}")
        yield _value(f"fpowi.{type}", (type, "i64"), type, f"%a, %b : {type}")
    for source in ("i8", "i16"):
        for sign in "su":
            yield _value(f"ext.{source}.i64.{sign}", ("i32",), "i64", "%a : i32 -> i64")
    yield _value("trunc.i16.i8", ("i32",), "i32", "%a : i32 -> i32")
    for target in ("i8", "i16"):
        yield _value(f"trunc.i64.{target}", ("i64",), "i32", "%a : i64 -> i32")
    yield _value("optimization_barrier", ("i32",), "i32", "%a : i32")
    yield from _checks()
    yield from _control_flow()
    yield from _others()


def _checks() -> Iterator[Case]:
    for kind in ("eq", "ne"):
        for type in ("i32", "i64", "f32", "f64"):
            body = f'    vm.check.{kind} %a, %b, "{kind} fails" : {type}\n    vm.return'
            yield Case(f"check.{kind}.{type}", (type, type), "", body)
    for type in ("i32", "i64", "f32"):
        yield Case(f"check.nz.{type}", (type,), "", f'    vm.check.nz %a, "is zero" : {type}\n    vm.return')
    for type in ("f32", "f64"):
        body = f'    vm.check.nearly_eq %a, %b, "too far" : {type}\n    vm.return'
        yield Case(f"check.nearly_eq.{type}", (type, type), "", body)
    yield Case("cond_fail", ("i32",), "", '    %s = vm.const.i32 3\n    vm.cond_fail %a, %s, "bad"\n    vm.return')
    # The status is the condition; small ones are codes.
    body = '    %m = vm.const.i32 15\n    %s = vm.and.i32 %a, %m : i32\n    vm.cond_fail %s, "bad"\n    vm.return'
    yield Case("cond_fail.status", ("i32",), "", body)


def _control_flow() -> Iterator[Case]:
    for kind in ("yield", "break"):
        body = f"    vm.{kind} ^bb1(%a : i32)\n  ^bb1(%r: i32):\n    vm.return %r : i32"
        yield Case(kind, ("i32",), "i32", body)
    body = "    vm.cond_break %a, ^bb1(%a : i32)\n  ^bb1(%r: i32):\n    vm.return %r : i32"
    yield Case("cond_break", ("i32",), "i32", body)
    table = """    vm.br_table %a {
      default: ^bb1(%b : i32),
      0: ^bb1(%a : i32),
      1: ^bb2,
      2: ^bb1(%a : i32)
    }
  ^bb1(%r: i32):
    vm.return %r : i32
  ^bb2:
    %n = vm.const.i32 77
    vm.return %n : i32"""
    yield Case("br_table", ("i32", "i32"), "i32", table)
    references = """    %c = vm.const.i64 8
    %l = vm.const.i32 16
    %x = vm.buffer.alloc %c, %l : !vm.buffer
    %y = vm.rodata.inline : !vm.buffer = "four"
    vm.br_table %a {
      default: ^bb1(%x : !vm.buffer),
      0: ^bb1(%y : !vm.buffer),
      1: ^bb2
    }
  ^bb1(%r: !vm.buffer):
    %n = vm.buffer.length %r : !vm.buffer -> i64
    vm.return %n : i64
  ^bb2:
    %m = vm.buffer.length %x : !vm.buffer -> i64
    vm.yield ^bb3(%y, %m : !vm.buffer, i64)
  ^bb3(%z: !vm.buffer, %p: i64):
    %q = vm.buffer.length %z : !vm.buffer -> i64
    %s = vm.add.i64 %p, %q : i64
    vm.return %s : i64"""
    yield Case("br_table.refs", ("i32",), "i64", references)


def _others() -> Iterator[Case]:
    for op in ("trace", "print"):
        yield Case(op, ("i32", "i64"), "", f'    vm.{op} "event"(%a, %b) : i32, i64\n    vm.return')
    for type in ("i32", "i64", "f32", "f64"):
        pointer = f"!util.ptr<{type}>"
        yield Case(
            f"global.{type}", (type,), type,
            f"    %p = vm.global.address @g_{type} : {pointer}\n"
            f"    vm.global.store.indirect.{type} %a, %p : {type} -> {pointer}\n"
            f"    %r = vm.global.load.indirect.{type} %p : {pointer} -> {type}\n    vm.return %r : {type}",
        )  # fmt: skip
        body = f"    %r = vm.global.load.{type} @set_{type} : {type}\n    vm.return %r : {type}"
        yield Case(f"initial.{type}", (), type, body)
    pointer = "!util.ptr<!vm.buffer>"
    yield Case(
        "global.ref", ("i32",), "i64",
        f'    %d = vm.rodata.inline "named" : !vm.buffer = dense<[1, 2, 3]> : tensor<3xi16>\n'
        f"    %p = vm.global.address @g_ref : {pointer}\n"
        f"    vm.global.store.indirect.ref %d, %p : !vm.buffer -> {pointer}\n"
        f"    %b = vm.global.load.indirect.ref %p : {pointer} -> !vm.buffer\n"
        f"    %r = vm.buffer.length %b : !vm.buffer -> i64\n    vm.return %r : i64",
    )  # fmt: skip
    yield Case(
        "table", ("i32",), "i32",
        '    %t:2 = vm.rodata.table.inline i32 : !vm.buffer, !vm.buffer = ["ab", dense<5> : tensor<3xi8>, "xyz"]\n'
        "    %m = vm.const.i32 7\n    %i = vm.and.i32 %a, %m : i32\n    %o = vm.ext.i32.i64.u %i : i32 -> i64\n"
        "    %e = vm.buffer.load.i8.u %t#1[%o] : !vm.buffer -> i32\n"
        "    %five = vm.const.i64 5\n    %f = vm.buffer.load.i32 %t#0[%five] : !vm.buffer -> i32\n"
        "    %r = vm.add.i32 %e, %f : i32\n    vm.return %r : i32",
    )  # fmt: skip
    any = "    %r = vm.cast.ref.any %x : !vm.buffer -> !vm.ref<?>\n    %n = vm.cmp.nz.ref %r : !vm.ref<?>"
    made = '    %x = vm.rodata.inline : !vm.buffer = "x"\n'
    yield Case("cast.ref.any", (), "i32", f"{made}{any}\n    vm.return %n : i32")


GLOBALS = """
  vm.global.i32 private mutable @g_i32 : i32
  vm.global.i64 private mutable @g_i64 : i64
  vm.global.f32 private mutable @g_f32 : f32
  vm.global.f64 private mutable @g_f64 : f64
  vm.global.ref private mutable @g_ref : !vm.buffer
  vm.global.i32 private mutable @set_i32 = -5 : i32
  vm.global.i64 private mutable @set_i64 = 12345678901 : i64
  vm.global.f32 private mutable @set_f32 = 0.5 : f32
  vm.global.f64 private mutable @set_f64 : f64
  vm.initializer {
    %c = vm.const.f64 2.5
    vm.br ^bb1(%c : f64)
  ^bb1(%d: f64):
    vm.global.store.f64 %d, @set_f64 : f64
    vm.return
  }
  vm.initializer {
    %x = vm.global.load.f64 @set_f64 : f64
    %y = vm.add.f64 %x, %x : f64
    vm.global.store.f64 %y, @set_f64 : f64
    vm.return
  }
"""


def module_text(chosen: Iterable[Case]) -> str:
    """The module of some of the cases."""
    return "vm.module @m {" + GLOBALS + "".join(case.text() for case in chosen) + "}\n"


MODULE = module_text(cases())
