"""StableHLO's tests of its reference interpreter, read from a clone of its repository.

Each part of a file is a function that computes from constants and checks values. It becomes a plain function: values
that are checked are its results, and what they must be is compared here. Its constants become its arguments, so that
nothing can be computed while compiling, or stay where they are; both forms must hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, IntegerType, StringAttr, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiree.dialects import get_context, print_module, read_module
from tiree.dialects.dense import DenseAttr, element_byte_size
from tiree.dialects.stablehlo import ConvertOp
from tiree.support.typed import is_complex_type, is_integer_type, is_tensor_type
from tiree.testing.conformance.case import Case, Skip, Work
from tiree.testing.conformance.check_dialect import CHECK, limit
from tiree.testing.conformance.comparison import Array, almost_equal, equal, same_kind, within_ulps

_SPLIT = re.compile(r"^\s*//\s*-----.*$", re.MULTILINE)
_FUNCTION = re.compile(r"func\.func\s+(?:\w+\s+)?@([\w$.-]+)")
_CHECKED = re.compile(r"\bcheck\.(?:expect_|eq\b)")
_NOT_ONE_PROGRAM = {
    "interpreter.run_parallel": "runs several processes",
    "interpreter.probe": "looks at values on the way",
    "expect_serialized_eq": "looks at values on the way",
    "interpreter.print": "prints",
}
_ULPS = 1.0
_TOLERANCE = 1e-4

_SMALL_FLOATS = {
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3": "float8_e4m3",
    "f8E3M4": "float8_e3m4",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f4E2M1FN": "float4_e2m1fn",
}


class InterpreterTests:
    """The files below `stablehlo/tests/interpret` of `clone`; constants are arguments or are kept."""

    def __init__(self, clone: str, keep: bool) -> None:
        self.folder = Path(clone) / "stablehlo" / "tests" / "interpret" if clone else None
        self.keep = keep
        self.name = "interpreter-keep" if keep else "interpreter"
        self.title = f"interpreter tests, constants {'kept' if keep else 'as arguments'}"

    def missing(self) -> str | None:
        """Needs the clone."""
        if self.folder is None:
            return "no clone of the StableHLO repository was named (--stablehlo=DIR)"
        return None if self.folder.is_dir() else f"{self.folder} is not there: --stablehlo is not a clone of StableHLO"

    def cases(self) -> list[Case]:
        """One a function that checks something, by file and place in it."""
        found: list[Case] = []
        assert self.folder is not None
        for path in sorted(self.folder.rglob("*.mlir")):
            relative = path.relative_to(self.folder).with_suffix("").as_posix()
            parts = _SPLIT.split(path.read_text())
            for index, part in enumerate(parts):
                subject = re.sub(r"^chlo/(?:chlo_)?", "chlo.", relative)
                for function in _checked_functions(part):
                    load = partial(rewritten, part, function, self.keep)
                    found.append(Case(f"{relative}/{index}:{function}", subject, load))
        return found


def _checked_functions(text: str) -> list[str]:
    """The functions that hold checks, by where their text begins."""
    starts = list(_FUNCTION.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return [match[1] for match, end in zip(starts, ends, strict=False) if _CHECKED.search(text, match.start(), end)]


@dataclass
class _Check:
    """Result number `first` against `wanted`, or against result number `second`."""

    op: Operation
    first: int
    second: int = -1
    wanted: Array | None = None


def rewritten(text: str, name: str, keep: bool) -> Work:
    """The test `name` as a function.

    Raises `Skip` for tests that are not one program and `CompileError` for text that Tiree cannot read.
    """
    for sign, reason in _NOT_ONE_PROGRAM.items():
        if sign in text:
            raise Skip(reason)
    ctx = get_context()
    ctx.load_dialect(CHECK)
    module = read_module(text, ctx)
    checked = [op for op in module.ops if any(inner.name.startswith("check.") for inner in op.walk())]
    (function,) = [op for op in checked if symbol_name(op) == name]
    for other in checked:
        if other is not function:
            other.detach()
    block = function.regions[0].block
    arguments = [] if keep else _constants_to_arguments(block.ops, function)
    checks, results = _take_checks(function)
    _set_signature(function, results)
    function.properties.pop("sym_visibility", None)
    return Work(print_module(module), name, arguments, lambda got: _verdict(checks, got))


def symbol_name(op: Operation) -> str:
    """The name of a function."""
    attr = op.properties.get("sym_name")
    return attr.data if isinstance(attr, StringAttr) else ""


def array_of(value: DenseAttr) -> Array:
    """A constant as an array; narrow floats by `ml_dtypes`. Raises TypeError for types that numpy cannot hold."""
    name = _SMALL_FLOATS.get(value.element_type.name) or _SMALL_FLOATS.get(str(value.element_type))
    if name is None:
        return value.to_numpy()
    import ml_dtypes

    flat = np.frombuffer(value.buffer, np.dtype(getattr(ml_dtypes, name)))
    return np.broadcast_to(flat.reshape(()), value.shape) if value.is_splat else flat.reshape(value.shape)


def _is_plain(type: Attribute) -> bool:
    """Whether values of an element type can be passed as they are."""
    if is_integer_type(type):
        return type.width.data in (1, 8, 16, 32, 64)
    return is_complex_type(type) or type.name in ("f16", "bf16", "f32", "f64")


def _constants_to_arguments(ops: Any, function: Operation) -> list[Array]:
    block = function.regions[0].block
    arguments: list[Array] = []
    for op in list(ops):
        value = op.properties.get("value") if op.name == "stablehlo.constant" else None
        if not isinstance(value, DenseAttr) or not _is_plain(value.element_type):
            continue
        # What only the checks use is what must come out.
        if all(use.operation.name.startswith("check.") for use in op.results[0].uses):
            continue
        argument = block.insert_arg(value.type, len(block.args))
        op.results[0].replace_all_uses_with(argument)
        op.detach()
        op.erase()
        arguments.append(np.ascontiguousarray(array_of(value)).reshape(value.shape))
    return arguments


def _take_checks(function: Operation) -> tuple[list[_Check], list[SSAValue]]:
    """Takes the checks out; gives them and the values that become results."""
    block = function.regions[0].block
    checks: list[_Check] = []
    results: list[SSAValue] = []
    found = [op for op in block.ops if op.name.startswith("check.")]
    end = block.last_op
    assert end is not None

    def result(value: SSAValue) -> int:
        wide = _widened(value.type)
        if wide is not None:
            convert = ConvertOp.create(operands=[value], result_types=[wide])
            Rewriter.insert_op(convert, InsertPoint.before(end))
            value = convert.results[0]
        results.append(value)
        return len(results) - 1

    for op in found:
        operands, wanted = list(op.operands), op.properties.get("value")
        if wanted is None:
            # Which of both is the constant is up to the test.
            constants = [_constant_of(operand) for operand in operands]
            if constants[1] is None and constants[0] is not None:
                operands, constants = operands[::-1], constants[::-1]
            wanted = constants[1]
        check = _Check(op, result(operands[0]))
        if isinstance(wanted, DenseAttr):
            check.wanted = _as_result(array_of(wanted), results[-1].type)
        else:
            check.second = result(operands[1])
        checks.append(check)
        op.detach()
    return checks, results


def _constant_of(value: SSAValue) -> DenseAttr | None:
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "stablehlo.constant":
        return None
    attr = owner.properties.get("value")
    return attr if isinstance(attr, DenseAttr) else None


def _widened(type: Attribute) -> TensorType[Attribute] | None:
    """The type of a result that no array of numpy's holds: bytes for smaller integers, f32 for smaller floats."""
    if not is_tensor_type(type):
        raise Skip(f"a result is of type {type}")
    element = type.element_type
    if _is_plain(element):
        return None
    if is_integer_type(element):
        return TensorType(IntegerType(8, element.signedness.data), type.get_shape())
    if element.name.startswith("f") or str(element).startswith("f"):
        return TensorType(f32, type.get_shape())
    raise Skip(f"a result has elements of type {element}")


def _as_result(wanted: Array, type: Attribute) -> Array:
    assert is_tensor_type(type)
    size = element_byte_size(type.element_type)
    return wanted if wanted.dtype.itemsize == size else wanted.astype(np.float32)


def _set_signature(function: Operation, results: Sequence[SSAValue]) -> None:
    block = function.regions[0].block
    inputs = [argument.type for argument in block.args]
    function.properties["function_type"] = FunctionType.from_lists(inputs, [value.type for value in results])
    for name in ("arg_attrs", "res_attrs"):
        function.properties.pop(name, None)
    end = block.last_op
    assert end is not None
    end.operands = list(results)


def _verdict(checks: Sequence[_Check], got: Sequence[Array]) -> str | None:
    for check in checks:
        value = np.ascontiguousarray(got[check.first]).reshape(got[check.first].shape)
        wanted = np.ascontiguousarray(got[check.second]) if check.wanted is None else check.wanted
        value = same_kind(wanted, value)
        match check.op.name.removeprefix("check.").removesuffix("_const"):
            case "expect_eq":
                wrong = equal(wanted, value)
            case "expect_almost_eq":
                wrong = almost_equal(wanted, value, limit(check.op, "tolerance", _TOLERANCE))
            case _:
                wrong = within_ulps(wanted, value, limit(check.op, "max_ulp_difference", _ULPS))
        if wrong is not None:
            return f"result {check.first}: {wrong}"
    return None
