"""Every flag of tiree-compile and tiree-opt has an effect that a test sees; the tables of flags say which must be here.

Flags with one possible value are `FIXED`: that value is accepted, every other one is refused with a reason.
"""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from tiree.pipeline import PHASE_NAMES
from tiree.tools import compile_flags, opt
from tools.effects import Effect, Ran, check, lacks, rows_of, run, says
from tools.optimization_effects import OPTIMIZATION_EFFECTS, OPTIMIZATION_INPUTS
from tools.parameter_effects import PARAMETER_EFFECTS, parameter_inputs
from tools.runtime_tool import Done

ADD = """func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
TWO = """func.func @two(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = stablehlo.dot %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %1 = stablehlo.dot %0, %c : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8xf32>
}
"""
WIDE = """func.func @wide(%a: tensor<4xi64>, %b: tensor<4xf64>, %c: tensor<4xf16>, %d: tensor<4xbf16>)
    -> (tensor<4xi64>, tensor<4xf64>, tensor<4xf16>, tensor<4xbf16>) {
  return %a, %b, %c, %d : tensor<4xi64>, tensor<4xf64>, tensor<4xf16>, tensor<4xbf16>
}
"""
TRACED = """"vm.module"() <{sym_name = "m"}> ({
  "vm.func"() <{sym_name = "f", function_type = () -> ()}> ({
    "vm.trace"() {event_name = "here"} : () -> ()
    "vm.return"() : () -> ()
  }) : () -> ()
  "vm.export"() <{function_ref = @f, export_name = "f"}> : () -> ()
  "vm.module_terminator"() : () -> ()
}) : () -> ()
"""
MARK = """
from xdsl.dialects.builtin import UnitAttr
from xdsl.passes import ModulePass


class Mark(ModulePass):
    name = "mark"

    def apply(self, ctx, op):
        op.attributes[self.name] = UnitAttr()


class MarkLater(Mark):
    name = "mark-later"


def register(registry):
    registry.add_pass(Mark, at="before-input")
    registry.add_pass(MarkLater)
"""
CPU = "--iree-llvmcpu-target-cpu=generic"
INPUTS = {f"{name}.mlir": text.encode() for name, text in
          {"add": ADD, "two": TWO, "wide": WIDE, "bad": "nonsense\n"}.items()}  # fmt: skip
INPUTS |= {"mark.py": MARK.encode(), **OPTIMIZATION_INPUTS}
PASS = "tiree-stablehlo-to-linalg"


def at(phase: str, file: str = "add", *flags: str) -> tuple[str, ...]:
    """The text of a phase on stdout."""
    return (f"{file}.mlir", CPU, f"--compile-to={phase}", *flags)


def module(file: str = "two", *flags: str) -> tuple[str, ...]:
    return (f"{file}.mlir", CPU, "-o", "x.vmfb", *flags)


def done_well(done: Ran) -> bool:
    return done.code == 0


def prints(text: str, count: int = 1) -> object:
    return lambda done: done.code == 0 and done.out.count(text) >= count


def refuses(text: str) -> object:
    return lambda done: done.code == 1 and text in done.err


def writes(suffix: str, folder: str) -> object:
    return lambda done: done.code == 0 and any(n.startswith(f"{folder}/") and n.endswith(suffix) for n in done.files)


def holds(*texts: bytes, lacks: tuple[bytes, ...] = ()) -> object:
    def shows(done: Ran) -> bool:
        data = done.files.get("x.vmfb", b"")
        return bool(data) and all(text in data for text in texts) and not any(text in data for text in lacks)

    return shows


def prints_binary(*texts: bytes, lacks: tuple[bytes, ...] = ()) -> object:
    """The texts are in a binary, which is printed as hexadecimal digits."""

    def shows(done: Ran) -> bool:
        wanted, others = ([text.hex().upper() in done.out for text in part] for part in (texts, lacks))
        return done.code == 0 and all(wanted) and not any(others)

    return shows


NAME, PLACE, TEXT = b"module_linked\0", b"two.mlir\0", b"configured.mlir\0"
LEVEL = "--iree-hal-executable-debug-level"
NO_MAP = "--iree-vm-bytecode-module-strip-source-map"


def effect(given: str, shows: object, base: tuple[str, ...]) -> Effect:
    return Effect(tuple(given.split(" ")), shows, base)  # pyright: ignore[reportArgumentType]


def demotes(flag: str, old: str, new: str) -> Effect:
    def shows(done: Done) -> bool:
        return f"tensor<4x{old}>" not in done.out and f"tensor<4x{new}>" in done.out

    return effect(f"--iree-input-{flag}", shows, at("input", "wide"))


def dumps(kind: str, suffix: str) -> Effect:
    return effect(f"--iree-hal-dump-executable-{kind}-to=d", writes(suffix, "d"), module())


DUMPED = {"sources": ".mlir", "configurations": ".mlir", "binaries": ".so", "intermediates": ".ll",
          "benchmarks": "_benchmark.mlir"}  # fmt: skip
EFFECTS: dict[str, Effect | tuple[Effect, ...]] = {
    "o": effect("-o y", lambda done: "y" in done.files and not done.raw, ("add.mlir", CPU)),
    "help": effect("--help", prints("USAGE: tiree-compile"), ("add.mlir", CPU, "--compile-to=input")),
    "version": effect("--version", prints("Tiree compiler version"), ("add.mlir", CPU, "--compile-to=input")),
    "iree-hal-list-target-backends": effect(
        "--iree-hal-list-target-backends", prints("Registered target backends:\n  llvm-cpu\n"), at("input")
    ),
    "iree-hal-target-device": (
        effect("--iree-hal-target-device=local", lambda done: done.err.startswith("note: compiling"),
               ("add.mlir", "--compile-to=preprocessing")),
        effect("--iree-hal-target-device=local[1]", prints("{ordinal = 1 : index}"), at("preprocessing")),
        effect("--iree-hal-target-device=b=local", prints("util.global private @b = "), at("preprocessing")),
    ),
    "iree-hal-default-device": effect(
        "--iree-hal-default-device=b", prints("default = #hal.device.affinity<@b>"),
        at("preprocessing", "add", "--iree-hal-target-device=a=local", "--iree-hal-target-device=b=local"),
    ),
    "iree-hal-local-target-device-backends": (
        effect("--iree-hal-local-target-device-backends=llvm-cpu", lambda done: done.err.startswith("note: compiling"),
               ("add.mlir", "--compile-to=preprocessing")),
        effect("--iree-hal-local-target-device-backends=vmvx", prints("vmvx-bytecode-fb"), at("preprocessing")),
        effect("--iree-hal-local-target-device-backends=vmvx-inline",
               refuses("use --iree-execution-model=inline-static"), at("preprocessing")),
    ),
    "iree-hal-target-backends": (
        effect("--iree-hal-target-backends=llvm-cpu", lambda done: done.err.startswith("note: compiling"),
               ("add.mlir", "--compile-to=preprocessing")),
        effect("--iree-hal-target-backends=vmvx", prints("vmvx-bytecode-fb"), at("preprocessing")),
        effect("--iree-hal-target-backends=vmvx-inline", refuses("use --iree-execution-model=inline-static"),
               at("preprocessing")),
    ),
    "iree-llvmcpu-target-cpu": (
        effect("--iree-llvmcpu-target-cpu=skylake-avx512", prints('cpu = "skylake-avx512"'),
               ("add.mlir", "--compile-to=preprocessing", "--iree-llvmcpu-target-triple=x86_64")),
        effect("--iree-llvmcpu-target-cpu=generic", prints('cpu = "generic"'),
               ("add.mlir", "--compile-to=preprocessing", "--iree-llvmcpu-target-cpu-features=")),
    ),
    "iree-llvmcpu-target-cpu-features": effect(
        "--iree-llvmcpu-target-cpu-features=+avx2,+fma", prints("+avx2,+fma"),
        at("preprocessing", "add", "--iree-llvmcpu-target-triple=x86_64"),
    ),
    "iree-llvmcpu-target-triple": effect(
        "--iree-llvmcpu-target-triple=riscv64-linux-gnu", prints("embedded-elf-riscv_64"), at("preprocessing")
    ),
    "iree-llvmcpu-debug-symbols": effect(
        "--iree-llvmcpu-debug-symbols=false", holds(NAME, lacks=(b".symtab", PLACE)), module("two", NO_MAP)
    ),
    "iree-llvmcpu-stack-allocation-limit": effect(
        # What codegen makes of it: tests/codegen/test_stack_limit.py.
        "--iree-llvmcpu-stack-allocation-limit=1024", prints("max_stack_allocation_size = 1024"), at("preprocessing")
    ),
    "iree-input-type": (
        effect("--iree-input-type=none", refuses("stablehlo.add is not allowed by input type 'none'"), at("input")),
        *(effect(f"--iree-input-type={one}", done_well, at("input", "add", "--iree-input-type=none"))
          for one in ("stablehlo", "stablehlo_xla", "vhlo")),
        effect("--iree-input-type=onnx", refuses("stablehlo.add is not allowed by input type 'onnx'"), at("input")),
    ),
    "iree-input-demote-i64-to-i32": demotes("demote-i64-to-i32", "i64", "i32"),
    "iree-input-demote-f64-to-f32": demotes("demote-f64-to-f32", "f64", "f32"),
    "iree-input-promote-f16-to-f32": demotes("promote-f16-to-f32", "f16", "f32"),
    "iree-input-promote-bf16-to-f32": demotes("promote-bf16-to-f32", "bf16", "f32"),
    "iree-opt-level": tuple(
        effect(f"--iree-opt-level={level}", lacks("hal.buffer_view.assert"), at("stream"))
        for level in ("O1", "O2", "O3")
    ),
    "O0": effect("-O0", refuses("-O0 contradicts --iree-opt-level=O1"), at("input", "add", "--iree-opt-level=O1")),
    **{
        level: (
            effect(f"-{level}", lacks("hal.buffer_view.assert"), at("stream")),
            effect(f"--{level}", refuses(f"-{level} contradicts -O0"), at("input", "add", "-O0")),
        )
        for level in ("O1", "O2", "O3")
    },
    "iree-opt-strip-assertions": (
        effect("--iree-opt-strip-assertions", lacks("hal.buffer_view.assert"), at("stream")),
        effect("--iree-opt-strip-assertions=false", prints("hal.buffer_view.assert"), at("stream", "add", "-O1")),
    ),
    "iree-execution-model": (
        effect("--iree-execution-model=async-external", prints("!hal.fence"), at("abi")),
        effect("--iree-execution-model=inline-dynamic", prints("hal_loader.executable.dispatch"), at("hal")),
        effect("--iree-execution-model=inline-static", lacks("hal.executable"), at("hal")),
        effect("--iree-execution-model=host-only", refuses("host-only makes programs of scalars"), at("hal")),
    ),
    **OPTIMIZATION_EFFECTS,
    "iree-hal-memoization": effect("--iree-hal-memoization=false", lacks("memoize"), at("hal")),
    "iree-hal-indirect-command-buffers": effect(
        "--iree-hal-indirect-command-buffers=false", lacks("memoize"), at("hal")
    ),
    "iree-hal-link-executables": effect(
        "--iree-hal-link-executables=false", prints('"hal.executable.variant"()', 2), at("executable-sources", "two")
    ),
    "iree-hal-executable-debug-level": (
        effect(f"{LEVEL}=0", holds(lacks=(NAME, PLACE, TEXT)), module("two", NO_MAP)),
        effect(f"{LEVEL}=1", holds(NAME, lacks=(PLACE, TEXT)), module("two", NO_MAP)),
        effect(f"{LEVEL}=2", holds(NAME, PLACE, lacks=(TEXT,)), module("two", NO_MAP, f"{LEVEL}=1")),
        effect(f"{LEVEL}=3", holds(NAME, PLACE, TEXT), module("two", NO_MAP)),
    ),
    "iree-hal-benchmark-dispatch-repeat-count": effect(
        "--iree-hal-benchmark-dispatch-repeat-count=3", prints("hal.command_buffer.dispatch", 3), at("hal")
    ),
    **{f"iree-hal-dump-executable-{kind}-to": dumps(kind, suffix) for kind, suffix in DUMPED.items()},
    "iree-hal-dump-executable-files-to": tuple(dumps("files", suffix) for suffix in (".mlir", ".so", ".ll", ".s")),
    "iree-vm-emit-polyglot-zip": effect(
        "--iree-vm-emit-polyglot-zip=false",
        lambda done: not zipfile.is_zipfile(BytesIO(done.files["x.vmfb"])), module(),
    ),
    "iree-vm-bytecode-module-strip-source-map": effect(
        NO_MAP, holds(lacks=(b"two.mlir",)), module("two", f"{LEVEL}=1")
    ),
    "iree-vm-bytecode-module-strip-debug-ops": effect(
        "--iree-vm-bytecode-module-strip-debug-ops",
        lambda done: done.code == 0 and b"here" not in done.files["x.vmfb"],
        ("traced.mlir", "--compile-mode=vm", "-o", "x.vmfb"),
    ),
    "iree-vm-bytecode-source-listing": effect(
        "--iree-vm-bytecode-source-listing=l.mlir", lambda done: b"vm.module" in done.files.get("l.mlir", b""), module()
    ),
    "iree-vm-bytecode-module-output-format": effect(
        "--iree-vm-bytecode-module-output-format=mlir-text", prints("vm.module"), ("add.mlir", CPU)
    ),
    "compile-from": tuple(
        effect(f"--compile-from={phase}", done_well, (f"at-{phase}.mlir", CPU, "-o", "x.vmfb"))
        for phase in ("hal", "vm")
    ),
    "compile-mode": effect("--compile-mode=vm", done_well, ("at-vm.mlir", "-o", "x.vmfb")),
    "mlir-print-ir-before-all": effect("--mlir-print-ir-before-all", says("IR Dump Before"), at("abi")),
    "mlir-print-ir-after-all": effect("--mlir-print-ir-after-all", says("IR Dump After"), at("abi")),
    "mlir-print-ir-after-change": effect(
        "--mlir-print-ir-after-change", lambda done: "IR Dump After CanonicalizePass (tiree-input-can" not in done.err,
        at("abi", "add", "--mlir-print-ir-after-all"),
    ),
    "mlir-print-ir-before": effect(
        f"--mlir-print-ir-before={PASS}", lambda done: done.err.count("IR Dump Before") == 1, at("abi")
    ),
    "mlir-print-ir-after": effect(
        f"--mlir-print-ir-after={PASS}", lambda done: done.err.count("IR Dump After") == 1, at("abi")
    ),
    "mlir-print-op-generic": effect("--mlir-print-op-generic", prints('"builtin.module"'), at("input")),
    "mlir-print-debuginfo": effect("--mlir-print-debuginfo", prints('loc("add.mlir":'), at("input")),
    "mlir-elide-elementsattrs-if-larger": effect(
        "--mlir-elide-elementsattrs-if-larger=3", prints("__elided__"), at("input", "two")
    ),
    **PARAMETER_EFFECTS,
    "tiree-plugin": effect("--tiree-plugin=mark.py", prints("attributes {mark}"), at("input")),
    "iree-print-plugin-info": effect(
        "--iree-print-plugin-info", prints("  passes: mark (before-input), mark-later\n"),
        ("add.mlir", CPU, "--tiree-plugin=mark.py"),
    ),
    "iree-preprocessing-pass-pipeline": effect(
        "--iree-preprocessing-pass-pipeline=mark-later", prints("mark-later"),
        at("preprocessing", "add", "--tiree-plugin=mark.py"),
    ),
    "mlir-timing": effect("--mlir-timing", says("Execution time report"), at("input")),
    "mlir-print-stacktrace-on-diagnostic": effect(
        "--mlir-print-stacktrace-on-diagnostic", says("Traceback"), ("bad.mlir", CPU)
    ),
    "dump-compilation-phases-to": effect("--dump-compilation-phases-to=d", writes(".2.abi.mlir", "d"), at("abi")),
    "tiree-cache-dir": effect(
        "--tiree-cache-dir=c", lambda done: any(name.endswith(".entry") for name in done.files), module()
    ),
    "tiree-cache-size": effect(
        "--tiree-cache-size=10", lambda done: not any(name.endswith(".entry") for name in done.files),
        (*module(), "--tiree-cache-dir=c"),
    ),
    "tiree-report": effect(
        "--tiree-report=r.json",
        lambda done: "r.json" in done.files and bool(json.loads(done.files["r.json"])["dispatches"][0]["strategy"]),
        module(),
    ),
}  # fmt: skip

FIXED: dict[str, tuple[str, str]] = {
    "iree-llvmcpu-link-embedded": ("true", "false"),
    "iree-llvmcpu-enable-ukernels": ("none", "mmt4d,default"),
    "iree-vm-target-index-bits": ("64", "32"),
    "iree-vm-target-extension-f32": ("true", "false"),
    "iree-vm-target-extension-f64": ("true", "false"),
    "output-format": ("vm-bytecode", "vm-c"),
}
ELSEWHERE = {
    "compile-to": "test_every_phase_is_one_of_its_own",
    "mlir-disable-threading": "test_threads",
}
AS_OTHERS = {("iree-input-type", "auto"), ("iree-opt-level", "O0"), ("iree-execution-model", "async-internal"),
             ("iree-vm-bytecode-module-output-format", "flatbuffer-binary"), ("compile-mode", "std")}  # fmt: skip
"""Default values, which the rows for the others rule out."""


def identity(value: str | Effect) -> str:
    return value if isinstance(value, str) else " ".join(value.given)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("phases")
    files = {**INPUTS, **parameter_inputs(folder), "traced.mlir": TRACED.encode()}
    for phase in ("input", "hal", "vm"):
        done = run("compile", at(phase), folder, INPUTS)
        assert done.code == 0, done.err
        files[f"at-{phase}.mlir"] = done.raw
    return files


@pytest.mark.parametrize(
    ("name", "row"), rows_of(EFFECTS), ids=lambda v: v if isinstance(v, str) else " ".join(v.given)
)
def test_effect(name: str, row: Effect, tmp_path: Path, inputs: dict[str, bytes]) -> None:
    assert any(text.lstrip("-").partition("=")[0] == name for text in row.given)
    check("compile", row, tmp_path, inputs)


@pytest.mark.parametrize("name", FIXED)
def test_a_flag_with_one_value_takes_no_other(name: str, tmp_path: Path, inputs: dict[str, bytes]) -> None:
    right, wrong = FIXED[name]
    plain = run("compile", module(), tmp_path, inputs)
    same = run("compile", module("two", f"--{name}={right}"), tmp_path, inputs)
    assert (same.code, same.files) == (0, plain.files)
    refused = run("compile", module("two", f"--{name}={wrong}"), tmp_path, inputs)
    assert refused.code == 1
    assert f"--{name}={wrong.partition(',')[0]} is not available: " in refused.err
    flag = next(flag for flag in compile_flags.FLAGS if flag.name == name)
    assert len(flag.choices) == 1 or (flag.kind == "bool" and flag.refused)


def test_every_phase_is_one_of_its_own(tmp_path: Path, inputs: dict[str, bytes]) -> None:
    outputs = {phase: run("compile", at(phase), tmp_path, inputs) for phase in PHASE_NAMES}
    assert [phase for phase, done in outputs.items() if done.code] == []
    # With one dispatch, nothing is left to do between some of them.
    same = {("preprocessing", "global-optimization")}
    for before, after in pairwise(PHASE_NAMES):
        assert (outputs[before].raw != outputs[after].raw) or (before, after) in same, after


@pytest.mark.parametrize("tool", ["compile", "opt"])
def test_threads(tool: str, tmp_path: Path, inputs: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    from tiree.codegen import translate_executables as translate

    counts: list[int] = []

    class Counted(translate.ThreadPoolExecutor):
        def __init__(self, workers: int) -> None:
            counts.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(translate, "ThreadPoolExecutor", Counted)
    monkeypatch.setattr(translate.os, "cpu_count", lambda: 3)
    one = run(tool, at("executable-targets", "two", "--mlir-disable-threading"), tmp_path, inputs)
    many = run(tool, at("executable-targets", "two"), tmp_path, inputs)
    assert counts == [1, 3]
    assert one.out == many.out


def test_every_flag_has_a_row() -> None:
    names = [flag.name for flag in compile_flags.FLAGS]
    assert sorted(names) == sorted([*EFFECTS, *FIXED, *ELSEWHERE])
    assert set(ELSEWHERE.values()) <= set(globals())


def test_every_value_has_a_row() -> None:
    """A value of a flag that nothing tells from the others is a value without effect."""
    shown = {tuple(text.lstrip("-").split("=", 1)) for _, row in rows_of(EFFECTS) for text in row.given}
    for flag in compile_flags.FLAGS:
        if len(flag.choices) > 1 and flag.name not in ("compile-to", "compile-from"):
            missing = {c for c in flag.choices if (flag.name, c) not in shown | AS_OTHERS}
            assert missing == set(), flag.name


OPT_EFFECTS: dict[str, Effect | tuple[Effect, ...]] = {
    "o": effect("-o y", lambda done: "y" in done.files and not done.raw, ("add.mlir",)),
    "help": effect("--help", prints("USAGE: tiree-opt"), ("add.mlir",)),
    "version": effect("--version", prints("Tiree optimizer version"), ("add.mlir",)),
    "pass-pipeline": effect(f"--pass-pipeline=builtin.module({PASS})", prints("linalg.generic"), ("add.mlir",)),
    "p": effect(f"-p {PASS}", prints("linalg.generic"), ("add.mlir",)),
    "iree-transformation-pipeline": effect(
        "--iree-transformation-pipeline", prints("vm.module"), ("add.mlir", CPU)
    ),
    "split-input-file": effect("--split-input-file", prints("// -----"), ("split.mlir",)),
    "verify-diagnostics": effect("--verify-diagnostics", done_well, ("expected.mlir",)),
    "verify-each": effect(
        "--verify-each=false", done_well, ("invalid.mlir", "--mlir-print-op-generic")
    ),
    "allow-unregistered-dialect": effect(
        "--allow-unregistered-dialect", prints('"my.op"'), ("unknown.mlir",)
    ),
    "no-implicit-module": effect("--no-implicit-module", refuses("does not hold one builtin.module"), ("add.mlir",)),
    "show-dialects": effect("--show-dialects", prints("Available Dialects: "), ("add.mlir",)),
    "compile-to": effect("--compile-to=abi", prints("hal.tensor.import"), ("add.mlir",)),
    "compile-from": effect(
        "--compile-from=abi", lacks("hal.tensor.import"), ("at-input.mlir", "--compile-to=preprocessing")
    ),
}  # fmt: skip
OPT_EFFECTS |= {
    "iree-llvmcpu-debug-symbols": effect(
        "--iree-llvmcpu-debug-symbols=false", prints_binary(NAME, lacks=(PLACE,)), at("executable-targets", "two")
    ),
    "iree-hal-executable-debug-level": (
        effect(f"{LEVEL}=0", prints_binary(lacks=(NAME, PLACE)), at("executable-targets", "two")),
        effect(f"{LEVEL}=1", prints_binary(NAME, lacks=(PLACE,)), at("executable-targets", "two")),
        effect(f"{LEVEL}=3", prints("sources = {configured = "), at("executable-targets", "two")),
    ),
}
OPT_ELSEWHERE = {"mlir-disable-threading": "test_threads"}
OPT_FIXED = {
    **FIXED,
    "iree-hal-target-device": ("local", "cuda"),
    "iree-hal-local-target-device-backends": ("llvm-cpu", "cuda"),
    "iree-hal-target-backends": ("llvm-cpu", "cuda"),
}
OPT_INPUTS = {
    "split.mlir": f"{ADD}// -----\n{ADD.replace('@add', '@more')}".encode(),
    "expected.mlir": b"// expected-error @+1 {{expected an operation}}\nnonsense\n",
    "invalid.mlir": b'func.func @f() {\n  %0 = "arith.constant"() : () -> i32\n  return\n}\n',
    "unknown.mlir": b'"my.op"() : () -> ()\n',
}


OPT_NAMES = [flag.name for flag in opt.FLAGS]


def _of_compile(name: str) -> list[tuple[str, Effect]]:
    """The rows of tiree-compile for a flag that tiree-opt has too, as far as they end in text; no -o, no note."""
    found = rows_of({name: EFFECTS[name]}) if name in EFFECTS and name not in {**OPT_EFFECTS, **OPT_FIXED} else []
    return [(name, row) for name, row in found if "-o" not in row.base]


SHARED = [row for name in OPT_NAMES for row in _of_compile(name)]


@pytest.mark.parametrize(("name", "row"), [*rows_of(OPT_EFFECTS), *SHARED], ids=identity)
def test_effect_in_opt(name: str, row: Effect, tmp_path: Path, inputs: dict[str, bytes]) -> None:
    del name
    check("opt", row, tmp_path, {**inputs, **OPT_INPUTS})


@pytest.mark.parametrize("name", [name for name in OPT_FIXED if name in OPT_NAMES])
def test_a_flag_of_opt_with_one_value_takes_no_other(name: str, tmp_path: Path, inputs: dict[str, bytes]) -> None:
    right, wrong = OPT_FIXED[name]
    plain = run("opt", at("hal"), tmp_path, inputs)
    same = run("opt", at("hal", "add", f"--{name}={right}"), tmp_path, inputs)
    assert (same.code, same.out) == (0, plain.out)
    assert " is not available: " in run("opt", at("hal", "add", f"--{name}={wrong}"), tmp_path, inputs).err


def test_every_flag_of_opt_has_a_row() -> None:
    shown = {name for name, _ in SHARED} | set(OPT_EFFECTS) | set(OPT_FIXED) | set(OPT_ELSEWHERE)
    assert [name for name in OPT_NAMES if name not in shown] == []


def test_flags_that_no_pass_reads_are_refused(tmp_path: Path, inputs: dict[str, bytes]) -> None:
    for flag in ("--iree-opt-strip-assertions", "-O1", "--compile-from=abi", "--iree-llvmcpu-target-cpu=generic"):
        done = run("opt", ("add.mlir", flag), tmp_path, inputs)
        assert done.code == 1
        assert f"{flag.partition('=')[0]} has no effect: no pass runs" in done.err
