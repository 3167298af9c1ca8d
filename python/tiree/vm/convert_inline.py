"""`hal_inline` and `hal_loader` operations to calls of the runtime's modules of those names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from tiree.dialects import vm
from tiree.vm.builder import FunctionBuilder, Span, fail
from tiree.vm.convert_hal import device_query, int_of, segments, set_results, text_of

Handler = Callable[[FunctionBuilder, Operation], None]


def _in_order(b: FunctionBuilder, op: Operation) -> None:
    """The operands as they are."""
    set_results(b, op, b.call_import(op.name, [b.get(value) for value in op.operands]))


def _view_dim(b: FunctionBuilder, op: Operation) -> None:
    number = b.i32(int_of(op.properties["index"]))
    set_results(b, op, b.call_import(op.name, [b.get(op.operands[0]), number]))


def _shaped(leading: int, message: bool, b: FunctionBuilder, op: Operation) -> None:
    """`leading` operands (behind the first the message, if there is one), then the sizes of a shape."""
    values = [b.get(value) for value in op.operands]
    head: list[SSAValue | Span] = list(values[:leading])
    if message:
        head.insert(1, b.string(text_of(op, "message")))
    shape: Span = [(size,) for size in values[leading:]]
    set_results(b, op, b.call_import(op.name, [*head, shape]))


def _view_trace(b: FunctionBuilder, op: Operation) -> None:
    views: Span = [(b.get(value),) for value in op.operands]
    b.call_import(op.name, [b.string(text_of(op, "key")), views])


def _query_support(b: FunctionBuilder, op: Operation) -> None:
    set_results(b, op, b.call_import(op.name, [b.string(text_of(op, "executable_format"))]))


def _executable_load(b: FunctionBuilder, op: Operation) -> None:
    if len(op.operands) > 1:
        raise fail(op, "constants of executables are not supported in programs without devices")
    arguments = [b.string(text_of(op, "format")), b.get(op.operands[0]), b.null(vm.BufferType())]
    set_results(b, op, b.call_import(op.name, arguments))


def _lookup_function(b: FunctionBuilder, op: Operation) -> None:
    entry_point = op.properties["entry_point"]
    assert isinstance(entry_point, SymbolRefAttr)
    name = entry_point.string_value().split(".")[-1]
    set_results(b, op, b.call_import(op.name, [b.get(op.operands[0]), b.string(name)]))


def _dispatch(b: FunctionBuilder, op: Operation) -> None:
    groups = segments(op)
    head: list[SSAValue | Span] = [b.get(group[0]) for group in groups[:5]]
    constants: Span = [(b.get(value),) for value in groups[5]]
    bindings: Span = [tuple(b.get(value) for value in one) for one in zip(*groups[6:], strict=True)]
    b.call_import(op.name, [*head, constants, bindings])


_INLINE: dict[str, Handler] = {
    "buffer.allocate": _in_order,
    "buffer.allocate.initialized": _in_order,
    "buffer.wrap": _in_order,
    "buffer.subspan": _in_order,
    "buffer.length": _in_order,
    "buffer.storage": _in_order,
    "buffer_view.create": partial(_shaped, 5, False),
    "buffer_view.assert": partial(_shaped, 3, True),
    "buffer_view.buffer": _in_order,
    "buffer_view.element_type": _in_order,
    "buffer_view.encoding_type": _in_order,
    "buffer_view.rank": _in_order,
    "buffer_view.dim": _view_dim,
    "buffer_view.trace": _view_trace,
    "device.query": partial(device_query, "hal_inline.device.query.i64"),
}
_LOADER: dict[str, Handler] = {
    "query_support": _query_support,
    "load": _executable_load,
    "lookup.function": _lookup_function,
    "dispatch": _dispatch,
}
HANDLERS: dict[str, Handler] = {
    **{f"hal_inline.{name}": handler for name, handler in _INLINE.items()},
    **{f"hal_loader.executable.{name}": handler for name, handler in _LOADER.items()},
}
