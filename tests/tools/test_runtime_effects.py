"""Every flag of the runtime's tools has an effect that a test sees; the tables of flags say which must be here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, MIXED, iree_module, tiree_module
from tiree import _native
from tiree.tools import benchmark_module, dump_module, parameter_files, run_module, runtime_session
from tools.effects import Effect, Ran, check, effect, prints, rows_of, run, says
from tools.runtime_tool import needs_iree

pytestmark = needs_iree

# One function, so that --function may be left out; its kernel packs, so that a worker needs scratch memory.
MATMUL = """func.func @matmul(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
"""
SAME = "".join(
    f"func.func @same_{t}(%a: tensor<2x{t}>) -> tensor<2x{t}> {{\n  return %a : tensor<2x{t}>\n}}\n"
    for t in ("f16", "bf16", "f32", "f64")
)
WEIGHTS = """module @net {
  util.global private @w = #flow.parameter.named<"w"> : tensor<4xf32>
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %w = util.global.load @w : tensor<4xf32>
    %0 = stablehlo.multiply %x, %w : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
Rows = dict[str, Effect | tuple[Effect, ...]]


def damaged_constant() -> bytes:
    """A module with a constant of 5 MB, one byte of which is wrong."""
    number = "07" * 5_000_000
    data = tiree_module(
        "func.func @constant() -> tensor<5000000xi8> {\n"
        "  %c = arith.constant dense_resource<c> : tensor<5000000xi8>\n  return %c : tensor<5000000xi8>\n}\n"
        f'{{-# dialect_resources: {{ builtin: {{ c: "0x01000000{number[:-2]}08" }} }} #-}}'
    )
    at = data.index(bytes([7]) * 1000)
    return data[:at] + b"\0" + data[at + 1 :]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("files")
    rt.save_archive_file({"w": np.full(4, 2, np.float32)}, folder / "w.irpa")
    return {
        "mixed.vmfb": iree_module(MIXED),
        "matmul.vmfb": tiree_module(MATMUL),
        "same.vmfb": tiree_module(SAME),
        "big.vmfb": damaged_constant(),
        "net.vmfb": iree_module(WEIGHTS),
        "system.vmfb": iree_module(ADD, "--iree-llvmcpu-link-embedded=false"),
        "w.irpa": (folder / "w.irpa").read_bytes(),
    }


def done_well(done: Ran) -> bool:
    return done.code == 0


MIXED_MODULE = ("--module=mixed.vmfb", "--device=local-sync")
TASK = "--dump_devices=local-task"
CONSTANT = (*MIXED_MODULE, "--function=constant")


def pinned(done: Ran) -> bool:
    return re.search(r"CPUs: \d", done.out) is not None


def shared_rows(head: str, *more: str) -> Rows:
    """Rows of the flags about modules and devices; `more` makes a run cheap, `head` is printed before a name."""
    constant = (*CONSTANT, *more)
    net = ("--module=net.vmfb", "--function=forward", "--input=4xf32=1 2 3 4", *more)
    sums = ("--function=add", "--input=4xf32=1", "--input=4xf32=2")
    big = ("--module=big.vmfb", "--device=local-sync", "--function=constant")
    scale = ("--function=scale", "--input=2.5", "--input=4xf32=1")
    product = ("--module=matmul.vmfb", "--function=matmul", "--input=512x512xf32=1", "--input=512x512xf32=1", *more)
    return {
        "help": effect("--help", prints("USAGE: "), *constant),
        "module": effect("--module=mixed.vmfb", done_well, *constant[1:]),
        "function": effect(
            "--function=constant", lambda done: f"{head}constant" in done.out and f"{head}next" not in done.out,
            *MIXED_MODULE, *more,
        ),
        "parameters": effect("--parameters=w.irpa", done_well, *net),
        "device": effect("--device=nowhere", says('no device "nowhere"'), *constant),
        "list_drivers": effect("--list_drivers", prints(" local-sync: "), *constant),
        "list_devices": (
            effect("--list_devices", prints("local-sync://\n"), *constant),
            effect("--list_devices=local-task", prints("local-task://\n"), "--list_devices=local-sync"),
        ),
        "dump_devices": effect("--dump_devices", prints("workers: "), *constant),
        "task_topology_group_count": effect("--task_topology_group_count=3", prints("workers: 3\n"), TASK),
        "task_topology_max_group_count": effect("--task_topology_max_group_count=1", prints("workers: 1\n"), TASK),
        "task_topology_cpu_ids": effect("--task_topology_cpu_ids=0,0", prints("CPUs: 0, 0\n"), TASK),
        "task_topology_nodes": (
            effect("--task_topology_nodes=99", says("node 99 of --task_topology_nodes has no core"), TASK),
            effect("--task_topology_nodes=numa", says("a device has one pool"), TASK),
        ),
        "task_topology_distribution": tuple(
            effect(f"--task_topology_distribution={way}", pinned, TASK) for way in ("scatter", "compact")
        ),
        "task_topology_favor": tuple(
            effect(f"--task_topology_favor={way}", pinned, TASK) for way in ("latency", "throughput")
        ),
        "task_worker_spin_us": effect("--task_worker_spin_us=77", prints("spin: 77 us\n"), TASK),
        "task_worker_stack_size": effect("--task_worker_stack_size=1048576", prints("stack: 1048576 bytes"), TASK),
        "task_worker_local_memory": (
            effect("--task_worker_local_memory=8192", prints("local memory: 8192 bytes"), TASK),
            effect("--task_worker_local_memory=4096", says("4096; raise --task_worker_local_memory"), *product),
        ),
        "trace": effect("--trace=t.json", lambda done: b'"ph":"X"' in done.files.get("t.json", b""), *constant),
        "system_executables": effect("--system_executables", done_well, "--module=system.vmfb", *sums, *more),
        "print_statistics": effect("--print_statistics", says("DEVICE_LOCAL"), *constant),
        "device_memory_limit": effect(
            "--device_memory_limit=1", says("which may use 1 bytes"), "--module=mixed.vmfb", *scale, *more
        ),
        "device_cache_limit": effect("--device_cache_limit=-1", says("cannot be negative"), *constant),
        "vm_fuel": effect("--vm_fuel=1", says("more than 1 instructions"), *constant),
        "vm_timeout_ms": effect("--vm_timeout_ms=0", says("before its deadline"), *constant),
        "vm_stack_depth": effect("--vm_stack_depth=0", says("stack overflow"), *constant),
        "vm_verify_constants": effect("--vm_verify_constants", says("checksum of _const.bin is"), *big, *more),
        "vm_memory_limit": effect("--vm_memory_limit=1", says("limit of 1 bytes"), *constant),
        "input": effect("--input=2x3xf32=1", done_well, *MIXED_MODULE, "--function=split", *more),
    }  # fmt: skip


def result_rows(*more: str) -> Rows:
    """Rows of the flags about results."""

    def close(element: str, given: str = "") -> Effect:
        base = ("--module=same.vmfb", f"--function=same_{element}", f"--input=2x{element}=1 2", *more)
        flag = given or f"--expected_{element}_threshold=0.5"
        return effect(flag, prints("[SUCCESS]"), *base, f"--expected_output=2x{element}=1.25 2.25")

    constant = (*CONSTANT, *more)
    return {
        "output": effect("--output=@x.npy", lambda done: "x.npy" in done.files, *constant),
        "expected_output": effect("--expected_output=3xi32=1,2,4", prints("[FAILED] result[0]"), *constant),
        "equality_mode": effect(
            "--equality_mode=exact", prints("[FAILED]"),
            *MIXED_MODULE, *more, "--function=square", "--input=f32=3", "--expected_output=f32=9.000001",
        ),
        **{f"expected_{element}_threshold": close(element) for element in ("f16", "bf16", "f32", "f64")},
        "expected_rtol": close("f32", "--expected_rtol=0.5"),
        "output_max_element_count": effect("--output_max_element_count=2", prints("3xi32=1 2...\n"), *constant),
    }  # fmt: skip


FEW = "--benchmark_min_time=2x"
BENCH = (*CONSTANT, FEW)


def csv_iterations(done: Ran) -> str:
    return done.out.splitlines()[1].split(",")[1] if done.out.startswith("name,") else ""


BENCHMARK_ROWS: Rows = {
    "enable_output_processing": effect("--enable_output_processing", prints("result[0]: hal.buffer_view"), *BENCH),
    "batch_size": effect(
        "--batch_size=4", lambda done: csv_iterations(done) == "4", *CONSTANT, "--benchmark_min_time=1x",
        "--benchmark_format=csv",
    ),
    "time_unit": (
        effect("--time_unit=ms", prints(" ms "), *BENCH, "--benchmark_time_unit=ns"),
        effect("--time_unit=us", prints(" us "), *BENCH),
        effect("--time_unit=ns", prints(" ns "), *BENCH),
    ),
    "benchmark_time_unit": tuple(
        effect(f"--benchmark_time_unit={unit}", prints(f" {unit} "), *BENCH) for unit in ("us", "ns", "s")
    ),
    "benchmark_filter": effect(
        "--benchmark_filter=nex", lambda done: "BM_constant" not in done.out, *MIXED_MODULE, FEW
    ),
    "benchmark_repetitions": effect("--benchmark_repetitions=2", prints("_median"), *BENCH),
    "benchmark_format": (
        effect("--benchmark_format=json", lambda done: done.out.startswith("{"), *BENCH),
        effect("--benchmark_format=csv", prints("name,iterations,"), *BENCH),
    ),
    "benchmark_out": effect("--benchmark_out=o.json", lambda done: "o.json" in done.files, *BENCH),
    "benchmark_out_format": (
        effect("--benchmark_out_format=csv", lambda done: done.files["o"].startswith(b"name,"), *BENCH,
               "--benchmark_out=o"),
        effect("--benchmark_out_format=console", lambda done: done.files["o"].startswith(b"---"), *BENCH,
               "--benchmark_out=o"),
    ),
    "benchmark_list_tests": effect(
        "--benchmark_list_tests", lambda done: done.out == "BM_constant/process_time/real_time\n", *BENCH
    ),
    "benchmark_report_aggregates_only": effect(
        "--benchmark_report_aggregates_only", lambda done: done.out.count("BM_") == 4, *BENCH,
        "--benchmark_repetitions=2",
    ),
    "dispatch_statistics": effect(
        "--dispatch_statistics", prints("dispatch  count"), "--module=matmul.vmfb", "--input=512x512xf32=1",
        "--input=512x512xf32=1", "--function=matmul", "--benchmark_min_time=1x",
    ),
    "benchmark_context": effect(
        "--benchmark_context=a=b", lambda done: json.loads(done.out)["context"].get("a") == "b", *BENCH,
        "--benchmark_format=json",
    ),
}  # fmt: skip
IMPORTS = "Imported Functions:"
DUMP_ROWS: Rows = {
    "help": effect("--help", prints("USAGE: "), "mixed.vmfb"),
    "output": (
        effect("--output=metadata", lambda done: "vm.func @" not in done.out and IMPORTS in done.out, "mixed.vmfb"),
        effect("--output=disassembly", lambda done: "vm.func @" in done.out and IMPORTS not in done.out, "mixed.vmfb"),
        effect("--output=assembly", lambda done: done.out.startswith("vm.module @"), "mixed.vmfb"),
        effect("--output=flatbuffer-binary", lambda done: done.raw[4:8] == b"IREE", "mixed.vmfb"),
        effect("--output=flatbuffer-json", lambda done: done.out.startswith("{"), "mixed.vmfb"),
    ),
    "function": effect(
        "--function=constant", lambda done: done.out.count("vm.func @") == 1, "mixed.vmfb", "--output=disassembly"
    ),
    "bytecode_offsets": effect(
        "--bytecode_offsets", lambda done: bool(re.search(r"^ *\[?[0-9A-F]{8}", done.out, re.MULTILINE)),
        "mixed.vmfb", "--output=disassembly",
    ),
    "pretty": effect("--pretty", lambda done: done.out.count("\n") > 50, "mixed.vmfb", "--output=flatbuffer-json"),
}  # fmt: skip
TABLES: dict[str, tuple[Any, Rows]] = {
    "run-module": (run_module, shared_rows("EXEC @") | result_rows()),
    "benchmark-module": (
        benchmark_module,
        shared_rows("BM_", FEW) | result_rows(FEW, "--enable_output_processing") | BENCHMARK_ROWS,
    ),
    "dump-module": (dump_module, DUMP_ROWS),
}
ELSEWHERE = {
    # `TestBenchmarkModule.test_times` of test_runtime_flags.py, with a clock of its own.
    "benchmark_min_time": "",
    "benchmark_min_warmup_time": "",
    "module_mode": "test_the_module_mode_decides_about_reading_ahead",
    "parameter_mode": "test_the_parameter_mode_decides_about_mapping",
}
DEFAULTS = {("module_mode", "preload"), ("module_mode", "mmap"), ("parameter_mode", "file"),
            ("parameter_mode", "preload"), ("equality_mode", "approximate"), ("benchmark_format", "console"),
            ("benchmark_out_format", "json"), ("benchmark_time_unit", "ms"), ("output", "all")}  # fmt: skip
"""Values that rows for the others, or tests elsewhere, rule out."""


@pytest.mark.parametrize(
    ("tool", "row"),
    [(tool, row) for tool, (_, rows) in TABLES.items() for _, row in rows_of(rows)],
    ids=lambda value: value if isinstance(value, str) else " ".join(value.given),
)
def test_effect(tool: str, row: Effect, tmp_path: Path, inputs: Mapping[str, bytes]) -> None:
    if "max_group_count" in row.given[0] and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("with one CPU there is one worker anyway")
    check(tool, row, tmp_path, inputs)


@pytest.mark.parametrize("tool", TABLES)
def test_every_flag_and_value_has_a_row(tool: str) -> None:
    module, rows = TABLES[tool]
    names = [flag.name for flag in module.FLAGS]
    elsewhere = [name for name in ELSEWHERE if name in names]
    assert sorted(names) == sorted([*rows, *elsewhere])
    assert set(ELSEWHERE.values()) - {""} <= set(globals())
    for name, row in rows_of(rows):
        assert any(text.lstrip("-").partition("=")[0] == name for text in row.given), name
    shown = {tuple(text.lstrip("-").split("=", 1)) for _, row in rows_of(rows) for text in row.given}
    for flag in module.FLAGS:
        assert {c for c in flag.choices if (flag.name, c) not in shown | DEFAULTS} == set(), flag.name


def _watched(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, watched: Callable[..., Any]) -> None:
    names = {key: getattr(_native, key) for key in dir(_native)}
    monkeypatch.setattr(where, "_native", SimpleNamespace(**{**names, name: watched}))


@pytest.mark.parametrize("tool", ["run-module", "benchmark-module"])
def test_the_module_mode_decides_about_reading_ahead(
    tool: str, tmp_path: Path, inputs: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    class Watched:
        @staticmethod
        def mmap(instance: rt.VmInstance, path: str) -> Any:
            module = _native.VmModule.mmap(instance, path)
            return _WithPrefetch(module, lambda: read.append(path))

    class _WithPrefetch:
        def __init__(self, module: rt.VmModule, prefetch: Callable[[], None]) -> None:
            self.module, self.prefetch = module, prefetch

        def __getattr__(self, name: str) -> Any:
            return getattr(self.module, name)

    context = _native.VmContext
    _watched(monkeypatch, runtime_session, "VmModule", Watched)  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(
        runtime_session._native, "VmContext",
        lambda instance, modules, **limits: context(instance, [getattr(m, "module", m) for m in modules], **limits),
    )  # fmt: skip
    for flags, wanted in (
        ([], ["mixed.vmfb"]),
        (["--module_mode=mmap"], []),
        (["--module_mode=preload"], ["mixed.vmfb"]),
    ):
        read.clear()
        more = (FEW,) if tool == "benchmark-module" else ()
        assert run(tool, (*CONSTANT, *more, *flags), tmp_path, inputs).code == 0
        assert read == wanted


@pytest.mark.parametrize("tool", ["run-module", "benchmark-module"])
def test_the_parameter_mode_decides_about_mapping(
    tool: str, tmp_path: Path, inputs: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped: list[bool] = []

    class Watched:
        def __init__(self) -> None:
            self.index = _native.ParameterIndex()

        def load(self, path: str, mmap: bool) -> None:
            mapped.append(mmap)
            self.index.load(path, mmap=mmap)

        def create_provider(self, scope: str) -> rt.ParameterProvider:
            return self.index.create_provider(scope=scope)

    _watched(monkeypatch, parameter_files, "ParameterIndex", Watched)
    flags = ("--module=net.vmfb", "--function=forward", "--input=4xf32=1", "--parameters=w.irpa")
    for mode in ([], ["--parameter_mode=preload"], ["--parameter_mode=file"]):
        more = (FEW,) if tool == "benchmark-module" else ()
        assert run(tool, (*flags, *more, *mode), tmp_path, inputs).code == 0
    assert mapped == [True, False, True]
