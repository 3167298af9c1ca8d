"""Modules of whole programs under iree-run-module, and what their compilation takes beside iree-compile's.

    python -m tests.proofs.iree_runs [--every N] [--only TEXT] [--no-times]

Programs of JAX, functions of its namespaces, the models and the programs in text: each is compiled by tiree-compile and
run by iree-run-module, whose results must have the bits that Tiree's runtime gives (those are compared with JAX by the
tests of the same programs). iree-compile compiles it too, one after the other, and the user CPU time of both processes
is added up; what it refuses is in neither sum.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tiree.runtime as rt

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest's settings do
from programs import Bundle, text_programs
from programs.models import models
from proofs import iree_reference as iree

from tests.proofs import flax_programs, jax_functions, random_programs, transform_programs


@dataclass(frozen=True)
class Module:
    """A program's text and one call of it."""

    name: str
    text: str
    function: str
    inputs: Sequence[np.ndarray]


@dataclass
class Tally:
    """What became of the modules."""

    equal: int = 0
    faults: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    ours: float = 0.0
    theirs: float = 0.0

    def line(self) -> str:
        """The summary."""
        ran = self.equal + len(self.faults)
        ratio = f"{self.ours / self.theirs:.2f}" if self.theirs else "not measured"
        return (
            f"{self.equal} of {ran} modules give equal results under iree-run-module; user CPU time of compilation "
            f"{self.ours:.1f} s, iree-compile {self.theirs:.1f} s, ratio {ratio}; "
            f"{len(self.refused)} that iree-compile refuses are in neither"
        )


def modules() -> Iterator[Module]:
    """All of them: whole programs, functions of all groups in one type each, models, texts."""
    for group in (random_programs, transform_programs, flax_programs):
        for program in group.programs():
            yield Module(program.name, program.text, "main", program.inputs)
    for row in jax_functions.rows()[::3]:
        dtype = row.dtypes(every=False)[0]
        bundle = Bundle(row.call, list(jax_functions.cases([row], dtype)))
        yield Module(f"{row.call} {dtype}", bundle.text, "main", bundle.inputs)
    for model in models():
        yield Module(model.name, model.text, "main", model.inputs)
    for text in text_programs():
        # Numbers outside of tensors have no file that holds them.
        for function, inputs, _ in [run for run in text.runs if all(isinstance(v, np.ndarray) for v in run[1])][:1]:
            yield Module(f"text {text.name}", text.text, function, list(inputs))


def seconds(command: Sequence[object]) -> tuple[float, int, str]:
    """User CPU time of a process, its exit code and what it says."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen([*map(str, command)], stdout=errors, stderr=errors, env=environment)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return used.ru_utime, child.returncode, errors.read().decode(errors="replace")


def _argument(value: np.ndarray, path: Path) -> str:
    """An array as iree-run-module takes it."""
    np.save(path, value)
    return f"--input=@{path}"


def run(module: Module, path: Path, folder: Path) -> str:
    """What is wrong with the results of iree-run-module, or nothing."""
    results = getattr(rt.load(path, device="local-sync"), module.function)(*module.inputs)
    wanted = [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]
    outputs = [folder / f"out{position}.bin" for position in range(len(wanted))]
    arguments = [_argument(value, folder / f"in{position}.npy") for position, value in enumerate(module.inputs)]
    command = [iree.tool_path("iree-run-module"), f"--module={path}", "--device=local-sync"]
    command += [f"--function={module.function}", *arguments, *(f"--output=@{output}" for output in outputs)]
    _, code, text = seconds(command)
    if code:
        return f"exit code {code}: {text[:300]}"
    for position, (output, want) in enumerate(zip(outputs, wanted, strict=True)):
        if output.read_bytes() != np.ascontiguousarray(want).tobytes():
            return f"result {position} has other bits"
    return ""


def prove(module: Module, folder: Path, tally: Tally, times: bool) -> None:
    """Compiles it with both, runs ours in IREE."""
    source, path = folder / "program.mlir", folder / "program.vmfb"
    source.write_text(module.text)
    ours, code, text = seconds([sys.executable, "-m", "tiree.tools.compile", source, "-o", path])
    if code:
        tally.faults.append(f"{module.name}: tiree-compile: {text[:300]}")
        return
    fault = run(module, path, folder)
    if fault:
        tally.faults.append(f"{module.name}: {fault}")
    else:
        tally.equal += 1
    if times:
        tool = iree.tool_path("iree-compile")
        theirs, code, text = seconds([tool, source, *iree.TARGET, "-o", folder / "theirs.vmfb"])
        if code:
            tally.refused.append(module.name)
        else:
            tally.ours, tally.theirs = tally.ours + ours, tally.theirs + theirs
    print(f"{module.name}: {fault or 'equal'}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th program")
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs whose name has this text")
    parser.add_argument("--no-times", action="store_true", help="leave iree-compile out")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for position, module in enumerate(modules()):
            if position % arguments.every == 0 and arguments.only in module.name:
                prove(module, Path(folder), tally, not arguments.no_times)
    print("\n".join([*tally.faults, tally.line()]))
    return 1 if tally.faults or tally.ours > tally.theirs > 0 else 0


if __name__ == "__main__":
    raise SystemExit(main())
