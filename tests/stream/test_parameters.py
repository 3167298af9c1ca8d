"""Globals that start as parameters: the module asks for them by scope and key when it is loaded, in either runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as ours
from programs.parameters import TYPES, program
from proofs import iree_reference as iree


def loaded(runtime: Any, data: bytes) -> Any:
    arrays = {f"w.{name}": np.arange(15).astype(dtype) for name, dtype in TYPES.items()}
    config = runtime.Config("local-sync")
    named, plain = runtime.ParameterIndex(), runtime.ParameterIndex()
    for key, array in arrays.items():
        named.add_buffer(key, array.tobytes())
    plain.add_buffer("state", np.array([1, 2, 3, 4], np.int32).tobytes())
    parameters = runtime.create_io_parameters_module(
        config.vm_instance, named.create_provider(scope="m"), plain.create_provider()
    )
    hal = runtime.create_hal_module(config.vm_instance, config.device)
    module = runtime.VmModule.copy_buffer(config.vm_instance, data)
    return runtime.SystemContext(vm_modules=[hal, parameters, module], config=config).modules["parameters"]


def runtimes() -> list[Any]:
    import iree.runtime as theirs

    return [ours, theirs]


@iree.needs_iree
def test_each_type_in_both_runtimes() -> None:
    data = bytes(tiree.compile(program()))
    for runtime in runtimes():
        module = loaded(runtime, data)
        for name, dtype in TYPES.items():
            got = np.asarray(module[f"add_{name}"](np.full((3, 5), 2, dtype)))
            np.testing.assert_array_equal(got, np.arange(2, 17).astype(dtype).reshape(3, 5))
        for turn in range(3):
            old, new = module["next"](np.full(4, 10, np.int32))
            np.testing.assert_array_equal(np.asarray(old), np.arange(1, 5) + 10 * turn)
            np.testing.assert_array_equal(np.asarray(new), np.arange(1, 5) + 10 * turn + 10)


def test_one_load_for_each_scope() -> None:
    text = bytes(tiree.compile(program(), flags=["--compile-to=stream"])).decode()
    assert text.count("stream.cmd.parameter.load") == 2


def test_attributes_of_other_keys_are_others() -> None:
    from tiree.dialects.flow_parameters import FlowParameterAttr, StreamParameterAttr
    from xdsl.dialects.builtin import NoneAttr, StringAttr, i32

    one = FlowParameterAttr(StringAttr("m"), StringAttr("a"), i32)
    assert one == FlowParameterAttr(StringAttr("m"), StringAttr("a"), i32)
    others = [
        FlowParameterAttr(StringAttr("m"), StringAttr("b"), i32),
        FlowParameterAttr(NoneAttr(), StringAttr("a"), i32),
        StreamParameterAttr(StringAttr("m"), StringAttr("a"), i32),
    ]
    assert one not in others
    assert [str(attr) for attr in (one, others[1])] == [
        '#flow.parameter.named<"m"::"a"> : i32',
        '#flow.parameter.named<"a"> : i32',
    ]


def test_a_missing_provider_is_named() -> None:
    with pytest.raises(Exception, match=r"io_parameters|scope|provider"):
        ours.load(tiree.compile(program()))


@pytest.mark.parametrize(
    ("type", "parameter", "message"),
    [
        ("tensor<4xf32>", "tensor<5xf32>", r"global @w has type tensor<4xf32>, its parameter tensor<5xf32>"),
        ("tensor<?xf32>", "tensor<?xf32>", r"whose bytes are not known"),
    ],
)
def test_refused(type: str, parameter: str, message: str) -> None:
    text = f"""
util.global private @w = #flow.parameter.named<"m"::"w"> : {parameter}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  return %x : tensor<4xf32>
}}
"""
    if type != parameter:
        text = (
            f'"builtin.module"() ({{\n"util.global"() <{{sym_name = "w", sym_visibility = "private", type = {type}, '
            f'initial_value = #flow.parameter.named<"m"::"w"> : {parameter}}}> : () -> ()\n}}) : () -> ()\n'
        )
    with pytest.raises(tiree.CompileError, match=message):
        tiree.compile(text)
