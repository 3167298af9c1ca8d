"""`iree.abi.output`: results in memory that the caller gives, in every execution model and in both runtimes."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.compiler.api import compile_str
from tiree.runtime.errors import StatusError
from tiree.support.errors import CompileError

CPU = "--iree-llvmcpu-target-cpu=host"
MODELS = {
    "async-internal": (CPU,),
    "inline-dynamic": ("--iree-execution-model=inline-dynamic", CPU),
    "inline-static": ("--iree-execution-model=inline-static",),
}
OUT = "{iree.abi.output = 0 : index}"
SUM = f"""func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""
PROGRAMS = {
    "sum": SUM,
    "argument": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
      return %a : tensor<8xf32>
    }}""",
    "constant": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
      %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
      return %c : tensor<8xf32>
    }}""",
    "splat": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
      %c = stablehlo.constant dense<3.0> : tensor<8xf32>
      return %c : tensor<8xf32>
    }}""",
    "reshape": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<2x4xf32> {OUT}) -> tensor<2x4xf32> {{
      %0 = stablehlo.add %a, %a : tensor<8xf32>
      %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<2x4xf32>
      return %1 : tensor<2x4xf32>
    }}""",
    "slice": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<4xf32> {OUT}) -> (tensor<4xf32>, tensor<8xf32>) {{
      %0 = stablehlo.add %a, %a : tensor<8xf32>
      %1 = stablehlo.slice %0 [2:6] : (tensor<8xf32>) -> tensor<4xf32>
      return %1, %0 : tensor<4xf32>, tensor<8xf32>
    }}""",
    "update": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
      %i = stablehlo.constant dense<3> : tensor<i32>
      %u = stablehlo.constant dense<9.0> : tensor<2xf32>
      %0 = stablehlo.dynamic_update_slice %a, %u, %i
          : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }}""",
    "dynamic": f"""func.func @main(%a: tensor<?xf32>, %out: tensor<?xf32> {OUT}) -> tensor<?xf32> {{
      %0 = stablehlo.add %a, %a : tensor<?xf32>
      return %0 : tensor<?xf32>
    }}""",
    "loop": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
      %n = stablehlo.constant dense<3> : tensor<i32>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<8xf32>
       cond {{
        %c = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        %j = stablehlo.subtract %i, %one : tensor<i32>
        %y = stablehlo.add %x, %x : tensor<8xf32>
        stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
      }}
      return %r#1 : tensor<8xf32>
    }}""",
    "read": f"""func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
      %0 = stablehlo.add %a, %out : tensor<8xf32>
      return %0 : tensor<8xf32>
    }}""",
    "kept": f"""util.global private mutable @g = dense<0.0> : tensor<8xf32>
    func.func @main(%a: tensor<8xf32>, %out: tensor<8xf32> {OUT}) -> tensor<8xf32> {{
      %0 = stablehlo.add %a, %a : tensor<8xf32>
      util.global.store %0, @g : tensor<8xf32>
      return %0 : tensor<8xf32>
    }}
    func.func @get() -> tensor<8xf32> {{
      %0 = util.global.load @g : tensor<8xf32>
      return %0 : tensor<8xf32>
    }}""",
}
A = np.arange(8, dtype=np.float32)


def given(name: str) -> np.ndarray:
    """Memory for the result: aligned as any kernel wants it, so that no runtime copies it."""
    raw = np.zeros(8 * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    count = 4 if name == "slice" else 8
    found = raw[start : start + count * 4].view(np.float32)
    found[:] = 100
    return found.reshape(2, 4) if name == "reshape" else found


def wanted(name: str) -> np.ndarray:
    updated = A.copy()
    updated[3:5] = 9
    values = {
        "argument": A, "constant": A + 1, "splat": np.full(8, 3, np.float32), "reshape": (A + A).reshape(2, 4),
        "slice": (A + A)[2:6], "update": updated, "loop": A * 8, "read": A + 100,
    }  # fmt: skip
    return values.get(name, A + A)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_result_is_in_the_memory_that_was_given(name: str, model: str) -> None:
    module, memory = rt.load(tiree.compile(PROGRAMS[name], flags=list(MODELS[model])), "local-sync"), given(name)
    # Arrays of numpy are copied by modules with variables; what is shared on purpose is not.
    got = module.main(A, rt.from_dlpack(memory) if name == "kept" else memory)
    got = got[0] if isinstance(got, tuple) else got
    np.testing.assert_array_equal(np.asarray(got), wanted(name))
    np.testing.assert_array_equal(memory, wanted(name))
    if name == "kept":  # what a variable keeps is not the caller's
        memory[:] = 0
        np.testing.assert_array_equal(np.asarray(module.get()), A + A)


@pytest.mark.parametrize("name", PROGRAMS)
@iree.needs_iree
def test_in_the_runtime_of_iree(name: str) -> None:
    module = bytes(tiree.compile(PROGRAMS[name], flags=list(MODELS["async-internal"])))
    for driver in iree.DRIVERS:
        np.testing.assert_array_equal(iree.call(module, "main", [A, given(name)], driver)[0], wanted(name))


def test_nothing_is_allocated_for_it() -> None:
    text = compile_str(SUM, extra_args=[CPU, "--compile-to=stream"], output_generic_mlir=True)
    assert text is not None
    assert b"stream.resource.alloca" not in text
    assert b"stream.cmd.copy" not in text


def test_a_caller_with_fences() -> None:
    module = rt.load(tiree.compile(SUM, flags=[CPU, "--iree-execution-model=async-external"]), "local-task")
    memory = given("sum")
    np.testing.assert_array_equal(np.asarray(module.main(A, memory)), A + A)
    np.testing.assert_array_equal(memory, A + A)


@pytest.mark.parametrize("phase", ["abi", "flow", "stream"])
@iree.needs_iree
def test_phases_are_what_iree_reads(phase: str) -> None:
    text = compile_str(SUM, extra_args=[CPU, f"--compile-to={phase}"], output_generic_mlir=True)
    assert text is not None
    iree.accept([text.decode()])
    module = iree.compile_text(text.decode(), compile_from=phase)
    np.testing.assert_array_equal(iree.call(module, "main", [A, given("sum")], "local-sync")[0], A + A)


@pytest.mark.parametrize("phase", ["abi", "flow"])
@iree.needs_iree
def test_phases_of_iree_are_read(phase: str) -> None:
    text = iree.run_tool("iree-compile", "-", *iree.TARGET, f"--compile-to={phase}", stdin=SUM)
    module = compile_str(text.encode(), extra_args=[CPU, f"--compile-from={phase}"])
    assert module is not None
    memory = given("sum")
    np.testing.assert_array_equal(np.asarray(rt.load(module, "local-sync").main(A, memory)), A + A)
    np.testing.assert_array_equal(memory, A + A)


@pytest.mark.parametrize("model", MODELS)
def test_memory_that_is_too_small_is_named(model: str) -> None:
    module = rt.load(tiree.compile(PROGRAMS["dynamic"], flags=list(MODELS[model])), "local-sync")
    said = r"@main: argument 2 \(%out\) has fewer bytes than the result .*:\d+; expected 32 but have 12"
    with pytest.raises(StatusError, match=said) as caught:
        module.main(A, given("sum")[:3].copy())
    assert caught.value.code_name == "INVALID_ARGUMENT"


@pytest.mark.parametrize("name", ["dynamic", "sum", "constant"])
@iree.needs_iree
def test_memory_that_is_too_small_in_the_runtime_of_iree(name: str) -> None:
    module = bytes(tiree.compile(PROGRAMS[name], flags=[CPU]))
    with pytest.raises(ValueError, match=r"argument 2 \(%out\) has fewer bytes .*expected 32 but have 12"):
        iree.call(module, "main", [A, given("sum")[:3].copy()], "local-sync")


@pytest.mark.parametrize(
    ("attribute", "type", "message"),
    [
        ("{iree.abi.output = 1 : index}", "tensor<8xf32>", "names no tensor among the 1 results"),
        ("{iree.abi.output}", "tensor<8xf32>", "names no tensor among the 1 results"),
        (OUT, "tensor<7xf32>", "is memory of tensor<7xf32>, and the result is tensor<8xf32>"),
        (OUT, f"tensor<8xf32> {OUT}, %b: tensor<8xf32>", "is also on argument 1"),
    ],
)
def test_memory_for_no_result_is_refused(attribute: str, type: str, message: str) -> None:
    text = f"""func.func @main(%a: tensor<8xf32>, %out: {type} {attribute}) -> tensor<8xf32> {{
      %0 = stablehlo.add %a, %a : tensor<8xf32>
      return %0 : tensor<8xf32>
    }}"""
    with pytest.raises(CompileError, match=message):
        tiree.compile(text, flags=[CPU])


def test_a_result_is_no_memory() -> None:
    text = SUM.replace(f" {OUT}", "").replace("-> tensor<8xf32>", f"-> (tensor<8xf32> {OUT})", 1)
    with pytest.raises(CompileError, match=r"iree\.abi\.output on an argument or result is not supported"):
        tiree.compile(text, flags=[CPU])
