"""The node tests that come with the `onnx` package: imported by iree-import-onnx, compiled and run by Tiree, compared.

    python -m tests.onnx.node_tests [--only REGEX] [--without REGEX] [--jobs N] [--json FILE] [--list] [--dynamic]

Each is a graph of a few operators with inputs and expected outputs. Some give as inputs what is constant in every model
(a shape, axes, scales): where that is refused, the small ones are put into the graph as constants, and the test counts
all the same. The summary has a line for each operator; `--list` adds one for each test that did not pass.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

PASS, REFUSED, WRONG, FAILED, NOT_IMPORTED = "pass", "refused", "wrong", "failed", "not imported"
_SECONDS = 120
_SMALL = 64
_UNITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
"""Results of 16-bit floats may be two units off in the last place: they are rounded at other places on the way."""
_SUMS = {"DFT": 1e-6}
"""Operators of which each result is a sum of all elements: as exact as the largest of them."""


@dataclass(frozen=True)
class Verdict:
    """What became of a test; `operator` is the one that it is about."""

    name: str
    operator: str
    status: str
    detail: str = ""


@cache
def all_cases() -> dict[str, Any]:
    """Every node test by name."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None)}


def import_text(model: Any) -> str:
    """The text that iree-import-onnx writes for a model."""
    import onnx
    from iree.compiler.extras import onnx_importer
    from iree.compiler.ir import Context

    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    info = onnx_importer.ModelInfo(inferred)
    module = info.create_module(context=Context()).operation
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    return module.get_asm()


def with_constants(model: Any, inputs: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The model with its small inputs (the first only if a number) as initializers, and the inputs that are left."""
    import onnx

    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    kept: list[Any] = []
    described = list(changed.graph.input)
    for number, (value, array) in enumerate(zip(described, inputs, strict=True)):
        first = number == 0 and np.ndim(array) > 0
        if first or not isinstance(array, np.ndarray | np.generic) or array.size > _SMALL or array.ndim > 1:
            kept.append((value, array))
            continue
        changed.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), value.name))
    del changed.graph.input[:]
    changed.graph.input.extend(value for value, _ in kept)
    return changed, [array for _, array in kept]


def with_unknown_sizes(model: Any) -> Any:
    """The model with the first size of every input, and so whatever follows from it, known late only."""
    import onnx

    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for number, value in enumerate(changed.graph.input):
        dims = value.type.tensor_type.shape.dim
        if dims:
            dims[0].Clear()
            dims[0].dim_param = f"n{number}"
    for value in changed.graph.output:
        value.type.tensor_type.ClearField("shape")
    del changed.graph.value_info[:]
    return changed


def subject(case: Any) -> str:
    """The operator that a test is about: its only one, or what its name begins with."""
    operators = {node.op_type for node in case.model.graph.node}
    if len(operators) == 1:
        return operators.pop()
    return case.name.removeprefix("test_").split("_")[0]


def _array(value: Any) -> Any:
    """Tensors as arrays."""
    import onnx

    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def judge(name: str, dynamic: bool = False) -> Verdict:
    """The verdict on one test, perhaps `with_unknown_sizes`."""
    case = all_cases()[name]
    operator = subject(case)
    inputs, outputs = ([_array(value) for value in values] for values in case.data_sets[0])
    if dynamic:
        model, inputs = with_constants(case.model, inputs)
        return _judge(name, operator, case, with_unknown_sizes(model), inputs, outputs)
    verdict = _judge(name, operator, case, case.model, inputs, outputs)
    if verdict.status == REFUSED and inputs:
        model, kept = with_constants(case.model, inputs)
        again = _judge(name, operator, case, model, kept, outputs)
        return verdict if again.status == NOT_IMPORTED else again
    return verdict


def _judge(name: str, operator: str, case: Any, model: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Verdict:
    import tiree
    from tiree.support.errors import CompileError

    try:
        text = import_text(model)
    except Exception as error:
        return Verdict(name, operator, NOT_IMPORTED, f"{type(error).__name__}: {error}"[:200])
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_SECONDS)
    try:
        module = tiree.compile(text)
        function = getattr(tiree.load(module, device="local-sync"), model.graph.name)
        results = function(*inputs)
    except CompileError as error:
        internal = "internal error" in str(error)
        return Verdict(
            name, operator, FAILED if internal else REFUSED, " | ".join(d.message for d in error.diagnostics)
        )
    except Exception as error:
        return Verdict(name, operator, FAILED, f"{type(error).__name__}: {error}"[:300])
    finally:
        signal.alarm(0)
    found = list(results) if isinstance(results, tuple | list) else [results]
    largest = max((np.abs(one).max(initial=0) for one in outputs if one.dtype.kind == "f"), default=0)
    atol = max(case.atol, _SUMS.get(operator, 0) * largest)
    problem = difference([np.asarray(one) for one in found], outputs, case.rtol, atol)
    return Verdict(name, operator, WRONG if problem else PASS, problem)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"after {_SECONDS} s")


def difference(found: Sequence[np.ndarray], wanted: Sequence[Any], rtol: float, atol: float) -> str:
    """What is wrong with the results; empty if nothing is."""
    if len(found) != len(wanted):
        return f"{len(found)} results, not {len(wanted)}"
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if not isinstance(other, np.ndarray | np.generic):
            return f"result {number} is no tensor"
        if one.shape != other.shape:
            return f"result {number} has shape {one.shape}, not {other.shape}"
        if one.dtype != other.dtype and one.dtype.name.rstrip("0123456789") not in ("int", "uint"):
            return f"result {number} is {one.dtype}, not {other.dtype}"
        wide = np.float64 if other.dtype.kind in "fV" or other.dtype.name.startswith(("bf", "fl")) else None
        a, b = (x.astype(wide) if wide else x.astype(np.int64) for x in (one, other))
        unit = _UNITS.get(other.dtype.name, 0)
        if not np.allclose(a, b, rtol=max(rtol, 2 * unit), atol=atol, equal_nan=True):
            return f"result {number}: {a.reshape(-1)[:8].tolist()}, not {b.reshape(-1)[:8].tolist()}"
    return ""


def run(names: Sequence[str], jobs: int, dynamic: bool = False) -> Iterator[Verdict]:
    """The verdicts on tests; one that ends its process is a failure."""
    left = list(names)
    while left:
        with ProcessPoolExecutor(jobs) as pool:
            futures = [(name, pool.submit(judge, name, dynamic)) for name in left]
            for name, future in futures:
                try:
                    verdict = future.result()
                except BrokenExecutor:
                    left = left[left.index(name) + 1 :]
                    yield Verdict(name, subject(all_cases()[name]), FAILED, "the process ended")
                    break
                yield verdict
            else:
                left = []


def summary(verdicts: Sequence[Verdict]) -> str:
    """A line for each operator, then the sums."""
    by_operator: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        by_operator[verdict.operator][verdict.status] += 1
    states = (PASS, REFUSED, WRONG, FAILED, NOT_IMPORTED)
    lines = [f"{'operator':32}" + "".join(f"{state:>14}" for state in states)]
    for operator, counts in sorted(by_operator.items()):
        lines.append(f"{operator:32}" + "".join(f"{counts[state] or '':>14}" for state in states))
    total = Counter(verdict.status for verdict in verdicts)
    lines.append(f"{'all':32}" + "".join(f"{total[state]:>14}" for state in states))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression of the tests' names")
    parser.add_argument("--without", default="", help="the same of those left out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", default="", help="a file for all verdicts")
    parser.add_argument("--dynamic", action="store_true", help="with the first size of every input unknown")
    parser.add_argument("--list", action="store_true", help="show the tests that did not pass")
    options = parser.parse_args()
    names = [name for name in all_cases() if re.search(options.only, name)]
    names = [name for name in names if not options.without or not re.search(options.without, name)]
    verdicts: list[Verdict] = []
    for verdict in run(names, options.jobs, options.dynamic):
        verdicts.append(verdict)
        if options.list and verdict.status != PASS:
            print(f"{verdict.name} [{verdict.status}] {verdict.detail}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([asdict(verdict) for verdict in verdicts], file, indent=1)
    print(summary(verdicts))
    return 1 if any(verdict.status in (WRONG, FAILED) for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
