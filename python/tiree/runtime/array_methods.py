"""numpy's methods on results of calls: each is that of the array over the same memory, and gives what numpy gives.

One table of names, which the class of arrays takes over, and one of those that it leaves out, with the reasons.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "flatten", "max", "mean", "min", "nonzero",
    "prod", "ravel", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "tobytes",
    "tofile", "trace", "transpose", "var", "view",
)  # fmt: skip
"""Methods that compute, or show the elements in another way."""

PROPERTIES = ("flags", "flat", "imag", "itemsize", "mT", "real", "strides")

_TWO_SIDED = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift",
    "divmod",
)  # fmt: skip
_OTHERS = ("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "contains")

_BUILT_IN: dict[str, Callable[..., Any]] = {"divmod": divmod, "pow": pow}
"""Operators that the module `operator` has not, or with fewer operands."""

_SHARED = "results are not changed in place; x.copy() gives an array that can be"
_HOST = "it is about numpy's own object; x.to_host() gives that"
_CHANGING = ("byteswap", "fill", "partition", "put", "resize", "setfield", "setflags", "sort", "itemset")
_OWN = ("base", "ctypes", "data", "dump", "dumps", "getfield", "newbyteorder")
_DEVICE = "devices are objects here, and words in numpy; x.to_host() is on the CPU"
LEFT_OUT = {
    **dict.fromkeys(_CHANGING, _SHARED),
    **dict.fromkeys(_OWN, _HOST),
    "device": _DEVICE,
    "to_device": _DEVICE,
    "ptp": "numpy 2 has it as a function only: np.ptp(x)",
    "tostring": "numpy 2 has tobytes() only",
}
"""Public names of numpy's arrays that results do not have."""


def refusal(name: str) -> str:
    """The text of the error for a name that arrays do not have."""
    reason = LEFT_OUT.get(name)
    return f"'DeviceArray' object has no attribute '{name}'" + (f": {reason}" if reason else "")


def install(array_class: type, host: Callable[[Any], Any]) -> None:
    """Gives `array_class` all names of the tables; `host` is the array of numpy that has them."""

    def plain(value: Any) -> Any:
        return host(value) if isinstance(value, array_class) else value

    def method(name: str) -> Callable[..., Any]:
        def call(self: Any, *others: Any, **keywords: Any) -> Any:
            keywords = {key: plain(value) for key, value in keywords.items()} if keywords else keywords
            return getattr(host(self), name)(*map(plain, others), **keywords)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = f"As `numpy.ndarray.{name}`."
        return call

    def left(operation: Callable[..., Any]) -> Callable[..., Any]:
        # The operator and not the method of numpy's array: where that one knows no answer, the other operand is asked,
        # and has to see an array of numpy too.
        def call(self: Any, *others: Any) -> Any:
            return operation(host(self), *map(plain, others))

        return call

    def right(operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, other: Any) -> Any:
            return operation(plain(other), host(self))

        return call

    def special(name: str, call: Callable[..., Any]) -> None:
        call.__name__ = call.__qualname__ = name
        call.__doc__ = f"As `numpy.ndarray.{name}`."
        setattr(array_class, name, call)

    for name in METHODS:
        setattr(array_class, name, method(name))
    for name in (*_TWO_SIDED, *_OTHERS):
        operation = _BUILT_IN.get(name) or getattr(operator, f"__{name}__")
        special(f"__{name}__", left(operation))
        if name in _TWO_SIDED:
            special(f"__r{name}__", right(operation))
    for name in PROPERTIES:

        def get(self: Any, name: str = name) -> Any:
            return getattr(host(self), name)

        setattr(array_class, name, property(get, doc=f"As `numpy.ndarray.{name}`."))
