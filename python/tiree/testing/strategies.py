"""Strategies for hypothesis (`pip install tiree[testing]`): programs, modules, damaged modules, arguments.

What they draw is built from many small decisions, so hypothesis shrinks a failing example to a short program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from tiree.testing import wanted
from tiree.testing.archive import Signature
from tiree.testing.choices import EDGES, RandomChoices
from tiree.testing.contents import variant_list
from tiree.testing.damage import mutate
from tiree.testing.generate_program import Program, generate
from tiree.testing.scalars import signed

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "the strategies of tiree.testing need hypothesis: pip install 'tiree[testing]'", name=error.name
    ) from error


class _Drawn:
    """Decisions that hypothesis makes: counts, and for each part a number from which its details follow.

    So an example has few decisions, which is fast, and shrinks by losing parts, which is what makes it readable.
    """

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self.draw = draw
        self.details: RandomChoices | None = None

    def below(self, limit: int) -> int:
        return 0 if self.details is None else self.details.below(limit)

    def count(self, limit: int) -> int:
        return self.draw(st.integers(0, limit - 1))

    def part(self) -> None:
        seed = self.draw(st.integers(0, 2**32 - 1))
        # The simplest of all parts has the simplest details.
        self.details = RandomChoices(seed) if seed else None


@st.composite
def _programs(draw: Any, natives: bool, libraries: bool) -> Program:
    return generate(_Drawn(draw), natives=natives, libraries=libraries)


def programs(*, natives: bool = True, libraries: bool = True) -> st.SearchStrategy[Program]:
    """Valid programs: one or two modules, and calls to make one after the other in one context.

    They have every instruction, branches, tables and loops, calls, imports of another module, of optional functions
    that are not there, and of native functions (with spans, suspending, failing), references, lists, buffers, globals,
    constants and failures. Each ends, and has one defined outcome, which `expected` computes.

    `natives=False`: nothing is imported from the module `native` (`native_module()`); `libraries=False`: one module.
    """
    wanted.flag("programs", "natives", natives)
    wanted.flag("programs", "libraries", libraries)
    return _programs(natives, libraries)


def modules(*, natives: bool = True) -> st.SearchStrategy[bytes]:
    """Valid modules as `.vmfb`. They import from no module but `native`, and nothing with `natives=False`."""
    wanted.flag("modules", "natives", natives)
    return programs(natives=natives, libraries=False).map(_last_module)


def _last_module(program: Program) -> bytes:
    return program.modules[-1]


@st.composite
def _mutations(draw: Any, of: bytes | st.SearchStrategy[bytes]) -> bytes:
    choices = _Drawn(draw)
    data: object = draw(of) if isinstance(of, st.SearchStrategy) else of
    wanted.module("mutations", "of", data)
    return mutate(bytes(cast("bytes", data)), choices)


def _can_be_damaged(of: object) -> bool:
    return isinstance(of, (*wanted.BYTES, st.SearchStrategy))


def mutations(of: bytes | st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Damaged copies of a module, or of modules that a strategy draws: one to four changes to bits, words and operands,
    runs of bytes moved, cut or put in, half of them in the bytecode. Some still load."""
    wanted.need("mutations", "of", of, _can_be_damaged(of), "the bytes of a module, or a strategy that draws such")
    return _mutations(of)


def _integers(kind: str) -> st.SearchStrategy[int]:
    width = 32 if kind == "i" else 64
    edges = st.sampled_from([signed(bits, width) for bits in EDGES[kind]])
    return edges | st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1)


def _scalar(kind: str) -> st.SearchStrategy[Any]:
    if kind in "iI":
        return _integers(kind)
    if kind in "fF":
        return st.floats(width=32 if kind == "f" else 64)
    return references()


@st.composite
def _buffers(draw: Any, max_length: int) -> Any:
    from tiree.runtime import VmBuffer

    data: bytes = draw(st.binary(max_size=max_length))
    buffer = VmBuffer(len(data), 0, True)
    memoryview(buffer)[:] = data
    return buffer


def buffers(max_length: int = 64) -> st.SearchStrategy[Any]:
    """`tiree.runtime.VmBuffer`s with any bytes, writable."""
    wanted.number("buffers", "max_length", max_length)
    return _buffers(max_length)


@st.composite
def _lists(draw: Any, items: st.SearchStrategy[Any], max_size: int) -> Any:
    return variant_list(draw(st.lists(items, max_size=max_size)))


def lists(max_size: int = 4) -> st.SearchStrategy[Any]:
    """`tiree.runtime.VmVariantList`s of whole numbers, floats, nulls, buffers and lists of numbers."""
    wanted.number("lists", "max_size", max_size)
    numbers = _integers("I") | st.floats()
    inner = _lists(numbers, max_size)
    return _lists(numbers | st.none() | buffers(16) | inner, max_size)


def references() -> st.SearchStrategy[Any]:
    """What may be passed where a reference is taken: None for null, buffers, lists."""
    return st.none() | buffers() | lists()


def arguments(signature: str | Any) -> st.SearchStrategy[tuple[Any, ...]]:
    """Arguments for a function, as a tuple.

    `signature` is a calling convention such as `"0iIfCiFDr_v"`: ints, floats, `references()`, and for each span a list
    of values, or of tuples where it has tuples. Or it is a function of a loaded module (`tiree.load(...).add`), and the
    arguments are what it takes in Python: numpy arrays of the types and shapes it declares (dynamic dimensions up to 4)
    and numbers.
    """
    if isinstance(signature, str):
        return st.tuples(*map(_argument, Signature.parse(signature).arguments))
    from tiree.testing.tensors import declared_arguments

    return declared_arguments(signature)


def _argument(item: str | tuple[str, ...]) -> st.SearchStrategy[Any]:
    if isinstance(item, str):
        return _scalar(item)
    parts = [_scalar(kind) for kind in item]
    return cast("st.SearchStrategy[Any]", st.lists(parts[0] if len(parts) == 1 else st.tuples(*parts), max_size=4))
