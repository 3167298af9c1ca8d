"""Loops, branches, memory and the dispatch interface."""

from __future__ import annotations

import numpy as np
import pytest
from tiree.support.errors import CompileError

from tests.codegen.harness import bindings, build, compile_kernel, layout, parse


def kernel(body: str, *types: str, readonly=(), constants: int = 0, head: str = "") -> str:
    start = bindings(*types, readonly=readonly, constants=constants)
    return f"{head}\nfunc.func @kernel() {{\n{start}\n{body}\nfunc.return\n}}"


@pytest.mark.parametrize(("low", "high", "step"), [(0, 0, 1), (0, 1, 1), (3, 3, 2), (2, 11, 3), (0, 64, 1), (5, 2, 1)])
@pytest.mark.parametrize("known", [True, False])
def test_for_loops_carry_values(low: int, high: int, step: int, known: bool) -> None:
    bounds = "\n".join(
        f"%{name} = arith.constant {value} : index"
        if known
        else f"%p{i} = arith.constant {i} : index\n%{name} = memref.load %b1[%p{i}] : memref<3xindex>"
        for i, (name, value) in enumerate([("low", low), ("high", high), ("step", step)])
    )
    text = kernel(
        f"""{bounds}
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %sum, %count = scf.for %i = %low to %high step %step iter_args(%s = %zero, %n = %one) -> (i64, i64) {{
          %x = arith.index_cast %i : index to i64
          %t = arith.addi %s, %x : i64
          %m = arith.addi %n, %one : i64
          scf.yield %t, %m : i64, i64
        }}
        %c1 = arith.constant 1 : index
        memref.store %sum, %b0[%c0] : memref<2xi64>
        memref.store %count, %b0[%c1] : memref<2xi64>""",
        "2xi64",
        "3xindex",
    )
    out = np.zeros(2, np.int64)
    compile_kernel(text).run(out, np.array([low, high, step]))
    values = list(range(low, high, step))
    assert list(out) == [sum(values), 1 + len(values)]


def test_nested_loops_with_swapped_values() -> None:
    text = kernel(
        """
        %c10 = arith.constant 10 : index
        %c1 = arith.constant 1 : index
        %a0 = arith.constant 1 : i32
        %b0_ = arith.constant 2 : i32
        %a, %b = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %a0, %y = %b0_) -> (i32, i32) {
          %p, %q = scf.for %j = %c0 to %i step %c1 iter_args(%u = %x, %v = %y) -> (i32, i32) {
            %w = arith.addi %u, %v : i32
            scf.yield %v, %w : i32, i32
          }
          scf.yield %q, %p : i32, i32
        }
        memref.store %a, %b0[%c0] : memref<2xi32>
        memref.store %b, %b0[%c1] : memref<2xi32>""",
        "2xi32",
    )
    out = np.zeros(2, np.int32)
    compile_kernel(text).run(out)
    x, y = 1, 2
    for i in range(10):
        u, v = x, y
        for _ in range(i):
            u, v = v, (u + v) & 0xFFFFFFFF
        x, y = v, u
    assert [int(n) & 0xFFFFFFFF for n in out] == [x, y]


@pytest.mark.parametrize("start", [1, 7, 27, 97])
def test_while_loops(start: int) -> None:
    text = kernel(
        """
        %n = memref.load %b0[%c0] : memref<1xi64>
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %two = arith.constant 2 : i64
        %three = arith.constant 3 : i64
        %last, %steps = scf.while (%x = %n, %k = %zero) : (i64, i64) -> (i64, i64) {
          %more = arith.cmpi ne, %x, %one : i64
          scf.condition(%more) %x, %k : i64, i64
        } do {
        ^bb0(%x: i64, %k: i64):
          %odd = arith.andi %x, %one : i64
          %is = arith.cmpi eq, %odd, %one : i64
          %next = scf.if %is -> (i64) {
            %t = arith.muli %x, %three : i64
            %u = arith.addi %t, %one : i64
            scf.yield %u : i64
          } else {
            %h = arith.shrui %x, %one : i64
            scf.yield %h : i64
          }
          %k2 = arith.addi %k, %one : i64
          scf.yield %next, %k2 : i64, i64
        }
        memref.store %steps, %b0[%c0] : memref<1xi64>""",
        "1xi64",
    )
    out = np.array([start])
    compile_kernel(text).run(out)
    steps, n = 0, start
    while n != 1:
        n, steps = (3 * n + 1 if n & 1 else n // 2), steps + 1
    assert out[0] == steps


def test_if_without_else_and_known_condition() -> None:
    text = kernel(
        """
        %c1 = arith.constant 1 : index
        %f = memref.load %b0[%c0] : memref<2xi32>
        %z = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %p = arith.cmpi sgt, %f, %z : i32
        scf.if %p {
          memref.store %one, %b0[%c1] : memref<2xi32>
        }
        %t = arith.constant true
        %r = scf.if %t -> (i32) {
          scf.yield %one : i32
        } else {
          scf.yield %z : i32
        }
        memref.store %r, %b0[%c0] : memref<2xi32>""",
        "2xi32",
    )
    compiled = compile_kernel(text)
    for value, expected in ((5, [1, 1]), (-5, [1, 0])):
        out = np.array([value, 0], np.int32)
        compiled.run(out)
        assert list(out) == expected


def test_workgroups_offsets_and_constants() -> None:
    binding = (
        f'"hal.interface.binding.subspan"(%c8) <{{binding = 0 : index, layout = {layout(1, 2)}, '
        "operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<4x3x2xi32>"
    )
    query = '"hal.interface.{kind}"() <{{dimension = {d} : index}}> : () -> index'
    load = '"hal.interface.constant.load"() <{{layout = {layout}, ordinal = {n} : index}}> : () -> {type}'
    text = f"""
func.func @kernel() {{
  %c8 = arith.constant 8 : index
  %m = {binding}
  %x = {query.format(kind="workgroup.id", d=0)}
  %y = {query.format(kind="workgroup.id", d=1)}
  %z = {query.format(kind="workgroup.id", d=2)}
  %cx = {query.format(kind="workgroup.count", d=0)}
  %cy = {query.format(kind="workgroup.count", d=1)}
  %cz = {query.format(kind="workgroup.count", d=2)}
  %k0 = {load.format(layout=layout(1, 2), n=0, type="i32")}
  %k1 = {load.format(layout=layout(1, 2), n=1, type="i32")}
  %xy = arith.muli %x, %cy : index
  %a = arith.addi %xy, %y : index
  %b = arith.muli %a, %cz : index
  %c = arith.addi %b, %z : index
  %d = arith.addi %c, %cx : index
  %v = arith.index_cast %d : index to i32
  %p = arith.muli %v, %k0 : i32
  %q = arith.addi %p, %k1 : i32
  memref.store %q, %m[%x, %y, %z] : memref<4x3x2xi32>
  func.return
}}"""
    out = np.full(26, -1, np.int32)
    compile_kernel(text).run(out, workgroups=(4, 3, 2), constants=[10, 7])
    assert list(out[:2]) == [-1, -1], "the byte offset is skipped"
    np.testing.assert_array_equal(out[2:], (np.arange(24) + 4) * 10 + 7)


def test_tables_stack_and_workgroup_memory() -> None:
    head = (
        '"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<4xf32>, constant, '
        "initial_value = dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>}> : () -> ()"
    )
    text = kernel(
        """
        %t = memref.get_global @table : memref<4xf32>
        %s = memref.alloca() : memref<4xf32>
        %w = memref.alloca() {tiree.workgroup_memory} : memref<2x1024xf32>
        %c1 = arith.constant 1 : index
        %v = vector.load %t[%c0] : memref<4xf32>, vector<4xf32>
        vector.store %v, %s[%c0] : memref<4xf32>, vector<4xf32>
        %x = vector.load %s[%c0] : memref<4xf32>, vector<4xf32>
        %y = arith.addf %x, %v : vector<4xf32>
        vector.store %y, %w[%c1, %c0] : memref<2x1024xf32>, vector<4xf32>
        %z = vector.load %w[%c1, %c0] : memref<2x1024xf32>, vector<4xf32>
        vector.store %z, %b0[%c0] : memref<4xf32>, vector<4xf32>""",
        "4xf32",
        head=head,
    )
    out = np.zeros(4, np.float32)
    compiled = compile_kernel(text)
    compiled.run(out)
    np.testing.assert_array_equal(out, [2, 4, 8, 16])
    assert compiled.image.kernels["kernel"].local_memory_pages == 2


def test_views() -> None:
    text = kernel(
        """
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %s = memref.subview %b0[1, 2] [2, 3] [1, 1] : memref<4x6xi32> to memref<2x3xi32, strided<[6, 1], offset: 8>>
        %v = memref.load %s[%c1, %c2] : memref<2x3xi32, strided<[6, 1], offset: 8>>
        %f = "memref.collapse_shape"(%b0) <{reassociation = [[0, 1]]}> : (memref<4x6xi32>) -> memref<24xi32>
        %w = memref.load %f[%c2] : memref<24xi32>
        memref.store %v, %b1[%c0] : memref<2xi32>
        memref.store %w, %b1[%c1] : memref<2xi32>""",
        "4x6xi32",
        "2xi32",
    )
    out = np.zeros(2, np.int32)
    compile_kernel(text).run(np.arange(24, dtype=np.int32).reshape(4, 6), out)
    assert list(out) == [2 * 6 + 4, 2]


def test_prefetch_and_strided_layout_compile() -> None:
    text = kernel("memref.prefetch %b0[%c0, %c0], read, locality<3>, data : memref<4x6xi32>", "4x6xi32")
    compile_kernel(text).run(np.zeros((4, 6), np.int32))


def test_several_kernels_in_one_image() -> None:
    text = "\n".join(
        kernel(f"%v = arith.constant {n} : i32\nmemref.store %v, %b0[%c0] : memref<1xi32>", "1xi32").replace(
            "@kernel", f"@k{n}"
        )
        for n in range(5)
    )
    compiled = compile_kernel(text)
    assert list(compiled.image.kernels) == [f"k{n}" for n in range(5)]
    for n in range(5):
        out = np.zeros(1, np.int32)
        compiled.run(out, name=f"k{n}")
        assert out[0] == n


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('"test.op"() : () -> ()', "unknown operation"),
        ("%t = tensor.empty() : tensor<4xf32>", "'tensor.empty' in kernel @kernel: has no lowering"),
        ("%v = arith.constant dense<0.0> : vector<2x2xf32>", "vector<2x2xf32> is not a fixed 1-D vector"),
        ("%s = memref.alloca() : memref<100000xf32>", "stack memory grows to 400000 bytes, the limit is 32768"),
        ("%x = arith.constant 0 : i32\nmemref.store %x, %b0[%c0] : memref<4xi32>", "stores to read-only memory"),
    ],
)
def test_what_cannot_be_lowered_is_refused(body: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        build(parse(kernel(body, "4xi32", readonly=[0])))
    assert message in str(caught.value)


def test_the_same_kernel_gives_the_same_bytes() -> None:
    text = kernel("%x = arith.constant 3 : i32\nmemref.store %x, %b0[%c0] : memref<4xi32>", "4xi32")
    images = {build(parse(text)).image for _ in range(3)}
    assert len(images) == 1
