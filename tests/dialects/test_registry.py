"""The context: dialects found by module name, loaded on first use, consistent with xDSL's."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tiree.dialects import get_context, read_module
from tiree.dialects.arith import ConstantOp
from tiree.dialects.registry import UPSTREAM, dialect_factories, load_dialect
from tiree.support.errors import CompileError
from xdsl.dialects.builtin import UnregisteredAttr


@pytest.mark.parametrize("name", dialect_factories())
def test_every_dialect_loads_and_defines_each_name_once(name: str) -> None:
    dialect = load_dialect(name)
    assert dialect.name == name
    names = [op.name for op in dialect.operations]
    assert len(names) == len(set(names))
    assert all(op.startswith(f"{name}.") for op in names)


def test_the_dialects_of_every_stage_are_there() -> None:
    own = {"util", "stablehlo", "chlo", "flow", "iree_tensor_ext", "stream", "hal", "vm"}
    assert own <= set(dialect_factories())
    assert set(UPSTREAM) <= set(dialect_factories())


def test_our_constant_takes_the_place_of_xdsls() -> None:
    assert get_context().get_optional_op("arith.constant") is ConstantOp


def test_dialects_are_imported_when_their_first_op_is_read() -> None:
    program = (
        "import sys; from tiree.dialects import get_context, read_module;"
        "read_module('func.func @f() {\\n return\\n}\\n', get_context());"
        "print([n for n in ('stream', 'stablehlo', 'hal', 'vm') if f'tiree.dialects.{n}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_attributes_are_kept_and_unknown_operations_refused() -> None:
    context = get_context()
    attr = context.get_optional_attr("nowhere.attr")
    assert attr is not None
    assert issubclass(attr, UnregisteredAttr)
    assert context.get_optional_op("nowhere.op") is None
    with pytest.raises(CompileError, match="no dialect 'nowhere'"):
        read_module('"nowhere.op"() : () -> ()\n', context)
    module = read_module('"nowhere.op"() : () -> ()\n', get_context(allow_unregistered=True))
    assert '"nowhere.op"() : () -> ()' in str(module)


def test_casts_take_shapes_and_stay_strict() -> None:
    good = 'func.func @f(%a: tensor<2xi1>) {\n %0 = "arith.extui"(%a) : (tensor<2xi1>) -> tensor<2xi8>\n return\n}\n'
    read_module(good).verify()
    from xdsl.utils.exceptions import VerifyException

    for wrong in ("tensor<3xi8>", "tensor<2xi1>", "i8"):
        with pytest.raises(VerifyException):
            read_module(good.replace("tensor<2xi8>", wrong)).verify()


def test_scalar_tensors_can_be_expanded() -> None:
    text = (
        "func.func @f(%a: tensor<f32>) {{\n %0 = tensor.expand_shape %a [] output_shape [1, 1] : "
        "tensor<f32> into tensor<{}xf32>\n return\n}}\n"
    )
    read_module(text.format("1x1")).verify()
