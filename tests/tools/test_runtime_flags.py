"""Every flag of iree-run-module, -benchmark-module and -dump-module has an effect here or is refused by name."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from runtime import modules
from runtime.modules import ADD, ASYNC_FLAGS, MIXED, iree_module, tiree_module
from tiree import _native
from tiree.tools import benchmark_module, dump_module, run_module
from tools.runtime_tool import needs_iree, ours, refused, theirs

# One of the weights is in no scope.
WEIGHTS = modules.WEIGHTS.replace('named<"model"::"b">', 'named<"b">')
VALUE = "--input=4xf32=1 2 3 4"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flags")
    (folder / "mixed.vmfb").write_bytes(iree_module(MIXED))
    (folder / "add.vmfb").write_bytes(tiree_module(ADD))
    (folder / "async.vmfb").write_bytes(iree_module(ADD, *ASYNC_FLAGS))
    (folder / "net.vmfb").write_bytes(iree_module(WEIGHTS))
    for name, value in (("w", 2), ("b", 10)):
        rt.save_archive_file({name: np.full(4, value, np.float32)}, folder / f"{name}.irpa")
    return folder


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


TOOLS = {"run-module": run_module, "benchmark-module": benchmark_module, "dump-module": dump_module}


@needs_iree
@pytest.mark.parametrize("tool", TOOLS)
def test_no_flag_of_iree_is_unknown(tool: str):
    """Their --help is the list; what is not a flag here is refused with a reason, and so is nothing else."""
    text = theirs(tool, "--help").out + theirs(tool, "--help").err
    flags = set(re.findall(r"^#? ?--([a-z_0-9]+)", text, re.MULTILINE))
    assert len(flags) >= 5
    known = {flag.name for flag in TOOLS[tool].FLAGS} | {"flagfile"}
    for name in sorted(flags - known):
        message = refused(tool, f"--{name}=1")
        assert f"--{name} is not available: " in message
        assert len(message) > 40 + len(name)


BENCHMARK_FLAGS = ("filter", "repetitions", "min_time", "min_warmup_time", "format", "out", "out_format", "list_tests",
                   "time_unit", "context", "report_aggregates_only")  # fmt: skip


def test_flags_of_google_benchmark_are_known():
    assert {f"benchmark_{name}" for name in BENCHMARK_FLAGS} <= {flag.name for flag in benchmark_module.FLAGS}


@pytest.mark.parametrize("tool", TOOLS)
class TestAllTools:
    def test_help(self, tool: str):
        done = ours(tool, "--help")
        assert done.code == 0
        assert f"USAGE: tiree-{tool} " in done.out
        for flag in TOOLS[tool].FLAGS:
            assert f"--{flag.name}" in done.out

    def test_unknown_flag(self, tool: str):
        assert "unknown flag --functio" in refused(tool, "--functio=x")
        assert "did you mean --function?" in refused(tool, "--functio=x")

    def test_flagfile(self, tool: str, tmp_path: Path):
        path = tmp_path / "flags.txt"
        path.write_text("# a comment\n\n  --help  \n")
        assert ours(tool, f"--flagfile={path}").out == ours(tool, "--help").out
        assert "--flagfile needs a path" in refused(tool, "--flagfile")
        assert "none.txt" in refused(tool, "--flagfile=none.txt")
        assert "--flagfile=/dev/zero: more than 16 MiB" in refused(tool, "--flagfile=/dev/zero")


class TestRunModule:
    def test_flagfile_between_other_flags(self, tmp_path: Path):
        path = tmp_path / "flags.txt"
        path.write_text("--function=add\n# --function=other\n--input=4xf32=1 2 3 4\n")
        done = ours("run-module", "--module=add.vmfb", f"--flagfile={path}", "--input=4xf32=1")
        assert done.out.endswith("4xf32=2 3 4 5\n")

    def test_module(self):
        """In order of registration; the function is looked for in all of them."""
        done = ours("run-module", "--module=mixed.vmfb", "--module=add.vmfb", "--function=constant")
        assert done.out.endswith("3xi32=1 2 3\n")
        assert "pass --module=file.vmfb" in refused("run-module")
        assert "did you mean --module=add.vmfb?" in refused("run-module", "add.vmfb")
        for path in ("library.so", "library.so@create"):
            assert "native libraries with modules are not supported" in refused("run-module", f"--module={path}")

    @pytest.mark.parametrize("mode", ["preload", "mmap"])
    def test_module_mode(self, mode: str):
        done = ours("run-module", "--module=add.vmfb", f"--module_mode={mode}", VALUE, VALUE)
        assert done.out.endswith("4xf32=2 4 6 8\n")
        assert "no such value" in refused("run-module", "--module=add.vmfb", "--module_mode=other")

    def test_function(self):
        assert ours("run-module", "--module=add.vmfb", VALUE, VALUE).out.startswith("EXEC @add\n")
        assert "--function is needed" in refused("run-module", "--module=mixed.vmfb")
        message = refused("run-module", "--module=mixed.vmfb", "--function=constan")
        assert 'module has no function "constan"' in message
        assert 'Did you mean "constant"?' in message

    def test_device(self):
        for flags in (["--device=local-sync"], ["--device=local-task"], ["--device=local-task://0"], []):
            assert ours("run-module", "--module=add.vmfb", VALUE, VALUE, *flags).code == 0
        assert ours("run-module", "--module=add.vmfb", VALUE, VALUE, *["--device=local-sync"] * 2).code == 0
        assert 'no device "cuda"' in refused("run-module", "--module=add.vmfb", VALUE, VALUE, "--device=cuda")

    def test_asynchronous_module(self):
        done = ours("run-module", "--module=async.vmfb", "--function=add", VALUE, VALUE)
        assert done.out == "EXEC @add\nresult[0]: hal.buffer_view\n4xf32=2 4 6 8\n"

    def test_print_statistics(self):
        done = ours("run-module", "--module=add.vmfb", "--device=local-sync", VALUE, VALUE, "--print_statistics")
        assert "Device: local-sync" in done.err
        peak = re.search(r"DEVICE_LOCAL: +(\d+)B peak", done.err)
        assert peak is not None
        assert int(peak[1]) >= 48
        assert ours("run-module", "--module=add.vmfb", VALUE, VALUE, "--print_statistics=false").err == ""

    def test_values_of_flags(self):
        for flag, text in [
            ("--output_max_element_count=x", "'x' is not an integer"),
            *((f"--{name}={value}", text) for name in FLOATS for value, text in NO_AMOUNTS),
            ("--vm_timeout_ms=-inf", "--vm_timeout_ms=-inf: cannot be negative"),
            ("--print_statistics=maybe", "'maybe' is not a boolean"),
            ("--equality_mode=fuzzy", "values are approximate, exact"),
        ]:
            assert text in refused("run-module", "--module=add.vmfb", flag)


# Flags with a fraction.
FLOATS = ("vm_timeout_ms", "expected_rtol", *(f"expected_{t}_threshold" for t in ("f16", "bf16", "f32", "f64")))
NO_AMOUNTS = (("x", "'x' is not a number"), ("nan", "'nan' is not a number"), ("-1", "=-1: cannot be negative"))

NATURAL = (
    "topology_group_count",
    "topology_max_group_count",
    "worker_spin_us",
    "worker_stack_size",
    "worker_local_memory",
)


class TestDevices:
    @needs_iree
    def test_list_devices(self):
        for flag in ("--list_devices=local-task", "--list_devices=local-sync"):
            assert ours("run-module", flag).out == theirs("run-module", flag).out
        assert ours("run-module", "--list_devices").out == theirs("run-module", "--list_devices").out + "null://\n"
        assert "no such driver" in refused("run-module", "--list_devices=cuda")

    @needs_iree
    def test_layouts(self):
        """Headings and columns are iree-run-module's, for the drivers that both have."""
        for flags in (["--dump_devices=local-sync"], ["--dump_devices=local-task"]):
            heads = [
                [line for line in run("run-module", *flags).out.splitlines() if line.startswith("#")]
                for run in (ours, theirs)
            ]
            assert heads[0] == heads[1]
            assert heads[0]
        found, wanted = ours("run-module", "--list_drivers").out, theirs("run-module", "--list_drivers").out
        assert found.splitlines()[:5] == wanted.splitlines()[:5]
        for name in ("local-sync", "local-task"):
            (mine,), (other,) = (re.findall(f"^ +{name}: ", text, re.MULTILINE) for text in (found, wanted))
            assert mine == other

    def test_list_drivers(self):
        assert re.findall(r"^ +(\S+): ", ours("run-module", "--list_drivers").out, re.MULTILINE) == [
            "local-sync",
            "local-task",
            "null",
        ]

    def test_null_device(self):
        """Nothing is computed, and what would have been is printed."""
        flags = ["--module=add.vmfb", "--device=null", VALUE, VALUE, "--print_statistics"]
        done = ours("run-module", *flags)
        assert done.code == 0
        counted = dict(re.findall(r"^ +(\w+): (\d+)$", done.err, re.MULTILINE))
        assert (counted["executions"], counted["dispatches"], counted["fills"]) == ("1", "1", "0")
        assert int(counted["workgroups"]) >= 1
        assert "=2 4 6 8" not in done.out
        assert "operations" not in ours("run-module", *flags[:1], *flags[2:]).err

    def dumped(self, *flags: str) -> str:
        done = ours("run-module", "--dump_devices=local-task", *flags)
        assert done.code == 0, done.err
        return done.out

    def test_dump_devices(self):
        assert "local-sync://" in ours("run-module", "--dump_devices").out
        assert "local-task://" in self.dumped()
        assert "local-sync" not in self.dumped()

    def test_task_flags(self):
        assert "workers: 3\n" in self.dumped("--task_topology_group_count=3")
        assert "workers: 1\n" in self.dumped("--task_topology_max_group_count=1")
        assert "workers: 2\n" in self.dumped("--task_topology_cpu_ids=0,0")
        assert "CPUs: 0, 0\n" in self.dumped("--task_topology_cpu_ids=0,0")
        assert "spin: 77 us\n" in self.dumped("--task_worker_spin_us=77")
        assert "stack: 1048576 bytes per worker\n" in self.dumped("--task_worker_stack_size=1048576")
        assert "local memory: 4096 bytes per worker\n" in self.dumped("--task_worker_local_memory=4096")

    @pytest.mark.parametrize(
        ("flag", "text"),
        [
            ("--task_topology_cpu_ids=x", "not a comma-separated list of CPU numbers"),
            ("--task_topology_cpu_ids=100000", "cpu 100000 of --task_topology_cpu_ids is not usable here"),
            ("--task_topology_group_count=100000", "at most 256 are possible"),
            *((f"--task_{name}=-1", "cannot be negative") for name in NATURAL),
            *((f"--task_{name}=99999999999999999999999", "is not between 0 and") for name in NATURAL),
            ("--task_topology_cpu_ids=0,-1", "-1 cannot be negative"),
            ("--task_topology_cpu_ids=4294967296", "is not between 0 and"),
            ("--task_worker_spin_us=18446744073709551615", "is not between 0 and 4294967295"),
            ("--device_memory_limit=99999999999999999999999", "is not between 0 and"),
            ("--vm_fuel=99999999999999999999999", "is not between 0 and"),
        ],
    )
    def test_refusals(self, flag: str, text: str):
        assert text in refused("run-module", "--module=mixed.vmfb", "--function=large", "--input=2000xf32=1", flag)


class TestParameters:
    FLAGS = ("--parameters=model=w.irpa", "--parameters=b.irpa")

    @pytest.mark.parametrize("mode", ["file", "preload"])
    def test_scopes(self, mode: str):
        done = ours("run-module", "--module=net.vmfb", VALUE, *self.FLAGS, f"--parameter_mode={mode}")
        assert done.out.endswith("4xf32=12 14 16 18\n"), done.err

    @needs_iree
    def test_as_iree(self):
        flags = ["--module=net.vmfb", VALUE, *self.FLAGS, "--device=local-sync"]
        assert ours("run-module", *flags).out == theirs("run-module", *flags).out

    def test_benchmark(self):
        done = ours(
            "benchmark-module", "--module=net.vmfb", "--function=forward", VALUE, *self.FLAGS, "--benchmark_min_time=2x"
        )
        assert done.code == 0

    def test_refusals(self):
        assert "no provider registered that handles scopes like 'model'" in refused(
            "run-module", "--module=net.vmfb", VALUE
        )
        message = refused("run-module", "--module=net.vmfb", VALUE, "--parameters=model=b.irpa", "--parameters=b.irpa")
        assert "key 'w'" in message
        assert "no such file: none.irpa" in refused("run-module", "--module=net.vmfb", "--parameters=model=none.irpa")
        message = refused("run-module", "--module=net.vmfb", "--parameters=mixed.vmfb")
        assert (
            "mixed.vmfb: unsupported file format `vmfb`; the extension must be .irpa, .gguf or .safetensors" in message
        )
        assert "no such value" in refused("run-module", "--module=net.vmfb", "--parameter_mode=other")


class TestBenchmarkModule:
    FEW = ("--module=mixed.vmfb", "--device=local-sync", "--benchmark_min_time=20x")

    def rows(self, *flags: str) -> list[dict]:
        done = ours("benchmark-module", *self.FEW, "--benchmark_format=json", *flags)
        assert done.code == 0, done.err
        return json.loads(done.out)["benchmarks"]

    def test_functions_without_arguments(self):
        names = [row["name"] for row in self.rows()]
        assert names == [f"BM_{name}/process_time/real_time" for name in ("nothing", "constant", "next")]
        message = refused("benchmark-module", "--module=add.vmfb")
        assert "no export without arguments" in message
        assert "there are: add" in message

    def test_function_and_inputs(self):
        (row,) = self.rows("--function=scale", "--input=2", VALUE)
        assert row["name"] == "BM_scale/process_time/real_time"
        assert (row["iterations"], row["time_unit"], row["run_type"]) == (20, "ms", "iteration")
        assert row["real_time"] > 0
        assert row["items_per_second"] == pytest.approx(1000 / row["real_time"])
        assert "takes 2 values" in refused("benchmark-module", *self.FEW, "--function=scale")
        assert "asynchronous" in refused("benchmark-module", "--module=async.vmfb", "--function=add", VALUE, VALUE)

    def test_units(self):
        for flag in ("time_unit", "benchmark_time_unit"):
            for unit in ("ms", "us", "ns"):
                (row,) = self.rows("--function=constant", f"--{flag}={unit}")
                assert row["time_unit"] == unit
                factor = {"ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
                assert row["items_per_second"] == pytest.approx(factor / row["real_time"])

    def test_repetitions_and_aggregates(self):
        rows = self.rows("--function=constant", "--benchmark_repetitions=3")
        assert [row.get("aggregate_name", "") for row in rows] == ["", "", "", "mean", "median", "stddev", "cv"]
        assert [row.get("repetition_index") for row in rows[:3]] == [0, 1, 2]
        times = [row["real_time"] for row in rows[:3]]
        assert rows[3]["real_time"] == pytest.approx(np.mean(times))
        assert rows[4]["real_time"] == pytest.approx(np.median(times))
        assert rows[5]["real_time"] == pytest.approx(np.std(times, ddof=1))
        assert rows[6]["real_time"] == pytest.approx(np.std(times, ddof=1) / np.mean(times))
        assert [row["aggregate_unit"] for row in rows[3:]] == ["time", "time", "time", "percentage"]
        only = self.rows("--function=constant", "--benchmark_repetitions=3", "--benchmark_report_aggregates_only")
        assert [row["aggregate_name"] for row in only] == ["mean", "median", "stddev", "cv"]
        assert "needs at least 1" in refused("benchmark-module", *self.FEW, "--benchmark_repetitions=0")

    def test_batch_size(self):
        """A call stands for as many iterations."""
        (row,) = self.rows("--function=constant", "--batch_size=4")
        assert row["iterations"] == 20
        (row,) = self.rows("--function=constant", "--batch_size=3")
        assert row["iterations"] == 21
        calls = ours("benchmark-module", *self.FEW, "--function=next", "--batch_size=4", "--enable_output_processing")
        # One call to warm up, five that are timed, one whose result is printed.
        assert calls.out.startswith("result[0]: hal.buffer_view\ni32=7\n")

    @pytest.mark.parametrize(
        ("flags", "calls", "iterations"),
        [
            # Calls before the measurement, with a clock that gives each call 1 ms.
            (["--benchmark_min_time=0.1s"], [1, 10, 100], 100),
            (["--benchmark_min_time=0.0001s"], [1], 1),
            (["--benchmark_min_time=3x"], [1], 3),
            (["--benchmark_min_time=3x", "--benchmark_min_warmup_time=0.005"], [1] * 5, 3),
            (["--benchmark_min_time=0.001s", "--benchmark_min_warmup_time=0.005"], [1] * 5, 1),
            (["--benchmark_min_time=4x", "--batch_size=2"], [1], 4),
            (["--benchmark_min_time=4x", "--benchmark_repetitions=2"], [1], 4),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) and isinstance(value[0], str) else "",
    )
    def test_times(self, flags: list[str], calls: list[int], iterations: int, monkeypatch: pytest.MonkeyPatch):
        made: list[int] = []

        def one_millisecond_each(_context: object, _function: object, _inputs: object, count: int) -> float:
            made.append(count)
            return count * 0.001

        monkeypatch.setattr(_native, "time_invocations", one_millisecond_each)
        done = ours("benchmark-module", *self.FEW[:2], "--function=constant", "--benchmark_format=json", *flags)
        rows = json.loads(done.out)["benchmarks"]
        assert rows[0]["iterations"] == iterations
        batch = 2 if "--batch_size=2" in flags else 1
        assert made == calls + [iterations // batch] * (2 if "--benchmark_repetitions=2" in flags else 1)
        assert rows[0]["real_time"] == pytest.approx(1 / batch)

    def test_bad_times(self):
        for value in ("soon", "-1s", "nan", "inf", "1e400s", "x", "1.5x", ""):
            message = refused("benchmark-module", *self.FEW[:2], "--function=constant", f"--benchmark_min_time={value}")
            assert "neither a time such as 0.5s nor a count such as 100x" in message
        for value in ("0x", "-3x", f"{10**30}x"):
            message = refused("benchmark-module", *self.FEW[:2], "--function=constant", f"--benchmark_min_time={value}")
            assert f"--benchmark_min_time={value}: needs a count from 1x to" in message
        for value, text in (
            ("-1", "cannot be negative"),
            ("nan", "is not a number"),
            ("inf", "needs seconds, 0 or more"),
        ):
            message = refused("benchmark-module", *self.FEW, "--benchmark_min_warmup_time=" + value)
            assert text in message

    def test_filter_and_list(self):
        assert [row["name"] for row in self.rows("--benchmark_filter=con|nex")] == [
            "BM_constant/process_time/real_time",
            "BM_next/process_time/real_time",
        ]
        assert "not a regular expression" in refused("benchmark-module", *self.FEW, "--benchmark_filter=(")
        done = ours("benchmark-module", *self.FEW, "--benchmark_list_tests", "--benchmark_filter=con")
        assert done.out == "BM_constant/process_time/real_time\n"

    @needs_iree
    def test_list_is_that_of_iree(self):
        flags = (*self.FEW, "--benchmark_list_tests")
        assert ours("benchmark-module", *flags).out == theirs("benchmark-module", *flags).out

    @needs_iree
    @pytest.mark.parametrize("form", ["json", "csv", "console"])
    def test_form_is_that_of_iree(self, form: str):
        """The same names, rows and columns; numbers differ."""
        flags = (*self.FEW, f"--benchmark_format={form}", "--benchmark_repetitions=2", "--time_unit=us")
        found, wanted = ours("benchmark-module", *flags).out, theirs("benchmark-module", *flags).out
        if form == "json":
            mine, other = json.loads(found)["benchmarks"], json.loads(wanted)["benchmarks"]
            numbers = ("real_time", "cpu_time", "items_per_second")
            plain = [[{k: v for k, v in row.items() if k not in numbers} for row in rows] for rows in (mine, other)]
            assert plain[0] == plain[1]
            assert [list(row) for row in mine] == [list(row) for row in other]
        elif form == "csv":
            mine, other = (list(csv.reader(io.StringIO(text))) for text in (found, wanted))
            assert mine[0] == other[0]
            assert [(r[0], r[1], r[4], len(r)) for r in mine] == [(r[0], r[1], r[4], len(r)) for r in other]
        else:
            shape = [re.sub(r"[\d.]+", "N", re.sub(r" +", " ", line)) for line in found.splitlines()]
            other = [re.sub(r"[\d.]+", "N", re.sub(r" +", " ", line)) for line in wanted.splitlines()]
            assert [re.sub(r"N[kMG]?/s", "R", line) for line in shape] == [
                re.sub(r"N[kMG]?/s", "R", line) for line in other
            ]

    def test_out_file(self, tmp_path: Path):
        path = tmp_path / "out"
        for form, first in (("json", "{"), ("csv", "name,"), ("console", "---")):
            done = ours("benchmark-module", *self.FEW, f"--benchmark_out={path}", f"--benchmark_out_format={form}")
            assert done.out.startswith("---")
            assert path.read_text().startswith(first)

    def test_context(self):
        flags = ("--benchmark_format=json", "--benchmark_context=commit=abc=d", "--benchmark_context=x=y")
        context = json.loads(ours("benchmark-module", *self.FEW, *flags).out)["context"]
        assert (context["commit"], context["x"]) == ("abc=d", "y")
        assert context["executable"] == "tiree-benchmark-module"
        assert "not key=value" in refused("benchmark-module", *self.FEW, "--benchmark_context=x")

    def test_output_processing(self, tmp_path: Path):
        path = tmp_path / "x.npy"
        flags = (*self.FEW, "--function=constant", "--enable_output_processing")
        assert ours("benchmark-module", *flags, f"--output=@{path}").code == 0
        assert np.load(path).tolist() == [1, 2, 3]
        assert ours("benchmark-module", *flags, "--expected_output=3xi32=1 2 3").code == 0
        assert ours("benchmark-module", *flags, "--expected_output=3xi32=1 2 4").code == 1
        message = refused("benchmark-module", *self.FEW, "--function=constant", "--output=-")
        assert "--output has no effect here" in message
        assert "add --enable_output_processing" in message

    def test_print_statistics(self):
        assert "DEVICE_LOCAL" in ours("benchmark-module", *self.FEW, "--print_statistics").err


class TestBenchmarkFromPython:
    def test_results(self, folder: Path):
        results = rt.benchmark_module(
            folder / "mixed.vmfb", "scale", ["2", np.ones(4, np.float32)], benchmark_min_time="3x"
        )
        (result,) = results
        assert result.benchmark_name == "BM_scale/process_time/real_time"
        assert result.iterations == "3"
        assert result.time.endswith(" ms")
        assert result.report["run_type"] == "iteration"

    def test_loaded_module(self, folder: Path):
        for module in (
            rt.VmModule.mmap(rt.VmInstance(), str(folder / "mixed.vmfb")),
            rt.VmModule.copy_buffer(rt.VmInstance(), (folder / "mixed.vmfb").read_bytes()),
        ):
            (result,) = rt.benchmark_module(module, "constant", benchmark_min_time="2x", executable=rt.benchmark_exe())
            assert result.benchmark_name == "BM_constant/process_time/real_time"

    def test_failures(self, folder: Path):
        with pytest.raises(rt.benchmark.BenchmarkToolError, match='no function "nope"'):
            rt.benchmark_module(folder / "mixed.vmfb", "nope")
        with pytest.raises(rt.benchmark.BenchmarkTimeoutError):
            rt.benchmark_module(folder / "mixed.vmfb", "constant", timeout=0.2, benchmark_min_time="30s")
        hal = rt.create_hal_module(rt.VmInstance(), rt.get_device("local-sync"))
        with pytest.raises(ValueError, match="only compiled modules can be timed"):
            rt.benchmark_module(hal)
