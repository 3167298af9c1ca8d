"""What a call and a start cost from Python, as ratios in one run: Tiree, iree.runtime, and ONNX Runtime if it is there.

    python benches/python/overhead.py [--rounds N] [--peers FOLDER] [--json FILE]

Calls: `4xf32 + 4xf32` with numpy arrays in and a numpy array out, on local-sync and local-task, and 1 MB in and out.
The contestants take turns, each time for some milliseconds; of each the least counts, which others on the machine
disturb least. Starts are whole processes that take turns too: the median counts. `--peers` names a folder that
`pip install --target FOLDER onnxruntime onnx` filled, unless both are installed.

A verdict line for each thing that the project promises: `ok` or `MISSED`; the exit code is 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

BIN = Path(sys.executable).parent
MILLISECONDS = 4e-3
ELEMENTS = 1 << 18
Call = Callable[[], Any]


@dataclass(frozen=True)
class Verdict:
    """One promise: `what` costs `ours`, the other `theirs`, and at most `limit` times that is promised."""

    what: str
    ours: float
    theirs: float
    limit: float
    unit: str

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    def __str__(self) -> str:
        word = "ok    " if self.ratio <= self.limit else "MISSED"
        return (
            f"{word} {self.what:<66} {self.ours:9.2f} {self.unit} against {self.theirs:9.2f} {self.unit}: "
            f"{self.ratio:.3f}, at most {self.limit:g}"
        )


def program(elements: int) -> str:
    kind = f"tensor<{elements}xf32>"
    return f"""func.func @add(%a: {kind}, %b: {kind}) -> {kind} {{
  %0 = stablehlo.add %a, %b : {kind}
  return %0 : {kind}
}}
"""


def least(contestants: dict[str, Call], rounds: int) -> dict[str, float]:
    """Microseconds of one call of each, the least of rounds in turns."""
    counts: dict[str, int] = {}
    for name, call in contestants.items():
        for _ in range(20):
            call()
        start = time.perf_counter()
        for _ in range(20):
            call()
        counts[name] = max(1, int(MILLISECONDS / ((time.perf_counter() - start) / 20)))
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, call in contestants.items():
            count = range(counts[name])
            start = time.perf_counter()
            for _ in count:
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / counts[name] * 1e6)
    return best


def iree_call(elements: int, device: str, a: np.ndarray, b: np.ndarray) -> Call:
    import iree.compiler
    import iree.runtime

    flags = ["--iree-llvmcpu-target-cpu=host"]
    module = iree.compiler.compile_str(program(elements), target_backends=["llvm-cpu"], extra_args=flags)
    function = iree.runtime.load_vm_flatbuffer(module, driver=device)["add"]
    return lambda: np.asarray(function(a, b))


def onnx_call(elements: int, a: np.ndarray, b: np.ndarray) -> Call | None:
    """ONNX Runtime's way to the same sum; None where it is not installed."""
    try:
        import onnx
        import onnxruntime
    except ImportError:
        return None
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    values = [helper.make_tensor_value_info(name, kind, [elements]) for name in "abc"]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "add", values[:2], values[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names, inputs = ["c"], {"a": a, "b": b}
    return lambda: session.run(names, inputs)[0]


def calls(rounds: int) -> list[Verdict]:
    import tiree

    verdicts: list[Verdict] = []
    for elements, what in ((4, "call of 4xf32 + 4xf32"), (ELEMENTS, "call with 1 MB in, twice, and 1 MB out")):
        a, b = (np.arange(elements, dtype=np.float32) + i for i in (0, 1))
        compiled = tiree.compile(program(elements))
        contestants: dict[str, Call] = {}
        for device in ("local-sync", "local-task"):
            contestants[f"tiree {device}"] = _asarray(tiree.load(compiled, device=device).add, a, b)
            contestants[f"iree {device}"] = iree_call(elements, device, a, b)
        onnx = onnx_call(elements, a, b)
        if onnx is not None:
            contestants["onnxruntime"] = onnx
        for call in contestants.values():
            np.testing.assert_array_equal(call(), a + b)
        found = least(contestants, rounds)
        sync, task = found["tiree local-sync"], found["tiree local-task"]
        small = elements == 4
        verdicts.append(
            Verdict(f"{what}, local-sync, to iree.runtime", sync, found["iree local-sync"], 0.3 if small else 1.0, "us")
        )
        verdicts.append(Verdict(f"{what}, local-task, to iree.runtime", task, found["iree local-task"], 1.0, "us"))
        if small:
            verdicts.append(Verdict(f"{what}, local-task, to our local-sync", task, sync, 1.2, "us"))
        if onnx is not None:
            verdicts.append(Verdict(f"{what}, local-sync, to ONNX Runtime", sync, found["onnxruntime"], 1.0, "us"))
    return verdicts


def _asarray(function: Callable[..., Any], a: np.ndarray, b: np.ndarray) -> Call:
    return lambda: np.asarray(function(a, b))


def starts(commands: dict[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Milliseconds of a whole process of each, the median of rounds in turns."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
            # The first turn writes bytecode and fills caches.
            if turn:
                times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def starting(rounds: int) -> list[Verdict]:
    import tiree

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "add.vmfb"
        tiree.compile(program(4), output=path)
        flags = [f"--module={path}", "--function=add", "--input=4xf32=1 2 3 4", "--input=4xf32=5 6 7 8"]
        found = starts(
            {
                "import tiree.runtime": [sys.executable, "-c", "import tiree.runtime"],
                "import iree.runtime": [sys.executable, "-c", "import iree.runtime"],
                "tiree-run-module": [str(BIN / "tiree-run-module"), *flags],
                "iree-run-module": [str(BIN / "iree-run-module"), *flags],
                "python": [sys.executable, "-c", "pass"],
            },
            rounds,
        )
    print(f"       python alone takes {found['python']:.2f} ms")
    return [
        Verdict("import tiree.runtime", found["import tiree.runtime"], found["import iree.runtime"], 1.0, "ms"),
        Verdict("tiree-run-module on add", found["tiree-run-module"], found["iree-run-module"], 2.0, "ms"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--peers", type=Path, help="a folder with onnxruntime and onnx")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--only", choices=["calls", "starts"], help="one half")
    options = parser.parse_args()
    if options.peers:
        sys.path.append(str(options.peers))
    verdicts = calls(options.rounds) if options.only != "starts" else []
    verdicts += starting(max(5, options.rounds // 2)) if options.only != "calls" else []
    for verdict in verdicts:
        print(verdict)
    if options.json:
        options.json.write_text(json.dumps([{**asdict(v), "ratio": v.ratio} for v in verdicts], indent=2) + "\n")
    return int(any(verdict.ratio > verdict.limit for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
