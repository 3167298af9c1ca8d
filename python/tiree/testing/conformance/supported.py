"""`python -m tiree.testing.conformance.supported`: writes docs/reference/supported_ops.md, or checks it with `--check`.

What is supported is asked of the compiler: a program for each op and element type goes through the phase that lowers
StableHLO. Needs `ml_dtypes`, not JAX.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from tiree.dialects import chlo, stablehlo
from tiree.support.errors import CompileError, InternalError
from tiree.testing.choices import RandomChoices
from tiree.testing.conformance.draws import DRAWS, Draw
from tiree.testing.conformance.draws.program import DTYPES, is_float

PAGE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "supported_ops.md"

_FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("i1", ("i1",)),
    ("small integers", ("i2", "ui2", "i4", "ui4")),
    ("integers", ("i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64")),
    ("small floats", tuple(name for name in DTYPES if is_float(name) and DTYPES[name].itemsize == 1)),
    ("floats", ("f16", "bf16", "f32", "f64")),
    ("complex", ("complex<f32>", "complex<f64>")),
)

_REMARKS = {
    "stablehlo.case": "an index out of range takes the last branch",
    "stablehlo.composite": "its decomposition is inlined",
    "stablehlo.convolution": "any layout, dilation, grouping; padding may be negative",
    "stablehlo.custom_call": "targets below",
    "stablehlo.dynamic_slice": "starts are clamped",
    "stablehlo.dynamic_update_slice": "starts are clamped",
    "stablehlo.async_done": "waits for nothing: the operation is made where it is started",
    "stablehlo.async_start": "its body runs at once",
    "stablehlo.infeed": "there is no host that feeds; refused",
    "stablehlo.outfeed": "there is no host that takes; refused",
    "stablehlo.recv": "a program is one process; refused",
    "stablehlo.send": "a program is one process; refused",
    "stablehlo.return": "ends a region",
    "stablehlo.fft": "RFFT takes floats, IRFFT gives them",
    "stablehlo.gather": "starts are clamped; batching dimensions",
    "stablehlo.map": "the body is scalar ops",
    "stablehlo.reduce": "any number of operands; the body is scalar ops",
    "stablehlo.reduce_window": "any number of operands; the body is scalar ops",
    "stablehlo.rng": "numbers differ from those of other implementations",
    "stablehlo.scatter": "updates out of range are dropped; batching dimensions; the body is scalar ops",
    "stablehlo.sort": "any number of operands and any comparator",
}

_HEAD = """# Supported ops

Written by `python -m tiree.testing.conformance.supported`, which asks the compiler: a program for each op and element
type is lowered. An op whose row is empty is refused, with its place in the source. [Conformance](conformance.md) says
which of them compute what they must.

Small integers are i2, ui2, i4, ui4; small floats the types of 4, 6 and 8 bits. A cell says `all` where every type of
its column is taken. Types that an op does not have by StableHLO's specification are not taken either. Quantized types
(`!quant.uniform`) are listed with `uniform_quantize` and `uniform_dequantize`. Every op takes `?` dimensions unless its
program says otherwise; [dynamic shapes](../decisions/dynamic_shapes.md).

| op | {families} | remarks |
|---|{rules}|---|
"""


def accepts(op: str, element: str) -> bool:
    """Whether a program of `op` on elements of a type is lowered. Raises `InternalError` for a compiler's fault."""
    from tiree.dialects import get_context, read_module
    from tiree.pipeline import run_pipeline
    from tiree.support.options import CompileOptions

    try:
        text = DRAWS[op].draw(Draw(RandomChoices(1)), op, element).text
    except Exception:
        # No such program exists, as for a comparison of complex numbers by size.
        return False
    try:
        ctx = get_context()
        run_pipeline(read_module(text.encode(), ctx, "<op>"), CompileOptions(), "start", "input", ctx=ctx)
    except CompileError:
        return False
    return True


def _is_taken(op: str, element: str) -> bool:
    try:
        return accepts(op, element)
    except InternalError:
        return False


def _cell(op: str, elements: tuple[str, ...]) -> str:
    taken = [element for element in elements if op in DRAWS and _is_taken(op, element)]
    if len(taken) == len(elements):
        return "yes" if len(elements) == 1 else "all"
    return ", ".join(taken).replace("|", "\\|")


def page(ops: Iterable[str] = (*stablehlo.OPS, *chlo.OPS)) -> str:
    """The page as text."""
    names = [name for name, _ in _FAMILIES]
    lines = [_HEAD.format(families=" | ".join(names), rules="|".join(["---"] * len(names)))]
    for op in sorted(ops):
        cells = [_cell(op, elements) for _, elements in _FAMILIES]
        lines.append(f"| `{op}` | {' | '.join(cells)} | {_REMARKS.get(op, '')} |\n")
    return "".join([*lines, "\n", _targets()])


def _targets() -> str:
    from tiree.input.expansions.dynamic_random_bits import TARGET
    from tiree.input.factorizations.custom_calls import ROUTINES
    from tiree.input.lowering.control_flow import FUNCTION_TARGETS, IDENTITY_TARGETS

    lines = ["Targets of `stablehlo.custom_call`:\n\n"]
    lines.append(f"- on one device without effect: {_listed(IDENTITY_TARGETS)}\n")
    lines.append(f"- functions: {_listed([*FUNCTION_TARGETS, TARGET])}\n")
    lines.append(f"- LAPACK, as `lapack_<s, d, c or z><routine>_ffi`: {_listed(ROUTINES)}\n")
    return "".join(lines)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def main() -> int:
    """Exit status 1 when `--check` finds the page out of date."""
    parser = argparse.ArgumentParser(description="Writes the page of supported ops.")
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    flags = parser.parse_args()
    text = page()
    if not flags.check:
        PAGE.write_text(text)
    elif not PAGE.is_file() or PAGE.read_text() != text:
        print(f"{PAGE} is out of date: run python -m tiree.testing.conformance.supported", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
