"""Modules that time one dispatch each: what is written, and that Tiree's and IREE's tools time it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tools.runtime_tool import SCRIPTS, needs_iree, ours, theirs

CPU = "--iree-llvmcpu-target-cpu=generic"
FROM = "--compile-from=executable-configurations"
PROGRAM = """
func.func @f(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>, %p: tensor<8x8xf32>, %c: tensor<?xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<?xf32>) {
  %0 = stablehlo.dot %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot %0, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot %1, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.add %c, %c : tensor<?xf32>
  return %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<?xf32>
}
"""


def written(folder: Path, *flags: str) -> tuple[dict[str, Path], str]:
    """The benchmarks of the program by entry point, and what stderr got."""
    source = folder / "p.mlir"
    source.write_text(PROGRAM)
    dump = f"--iree-hal-dump-executable-benchmarks-to={folder / 'b'}"
    done = ours("compile", source, CPU, dump, "-o", folder / "p.vmfb", *flags)
    assert done.code == 0, done.err
    files = {path.name.removeprefix("p_").removesuffix("_benchmark.mlir"): path for path in (folder / "b").iterdir()}
    return files, done.err


def built(source: Path) -> Path:
    done = ours("compile", source, FROM, CPU, "-o", source.with_suffix(".vmfb"))
    assert done.code == 0, done.err
    return source.with_suffix(".vmfb")


def test_every_call_of_known_sizes_has_a_function(tmp_path: Path) -> None:
    files, err = written(tmp_path)
    names = sorted(re.sub(r"_dispatch_\d+", "", name) for name in files)
    assert names == ["f_matmul_8x8x4_f32", "f_matmul_8x8x8_f32"]
    # The dispatch of unknown size is not passed over in silence.
    assert re.search(r"remark: @f_dispatch_\d+_elementwise_D_f32: no benchmark of calls with sizes", err)
    for name, path in files.items():
        text = path.read_text()
        # The same kernel is called twice with bindings of the same lengths: one function.
        assert text.count('"hal.executable.export"() ') == text.count('"util.func"()') == 1
        assert f'sym_name = "{name}"' in text
        assert text.startswith(f"// tiree-compile {FROM} ")


def test_without_linking(tmp_path: Path) -> None:
    files, _ = written(tmp_path, "--iree-hal-link-executables=false")
    assert len(files) == 2
    for path in files.values():
        assert ours("benchmark-module", f"--module={built(path)}", "--benchmark_min_time=2x").code == 0


@needs_iree
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_both_tools_time_it(tmp_path: Path, device: str) -> None:
    files, _ = written(tmp_path)
    for name, path in files.items():
        flags = (f"--module={built(path)}", f"--device={device}", "--batch_size=5", "--benchmark_min_time=10x")
        for done in (ours("benchmark-module", *flags), theirs("benchmark-module", *flags)):
            assert done.code == 0, done.err
            assert re.search(rf"BM_{name}/process_time/real_time .* 10 ", done.out), done.out


def test_the_batch_is_how_often_the_dispatch_runs(tmp_path: Path) -> None:
    files, _ = written(tmp_path)
    path = next(path for name, path in files.items() if "8x8x4" in name)
    flags = (f"--module={built(path)}", "--dispatch_statistics", "--benchmark_min_time=6x")
    for batch, count in ((6, 6), (2, 6), (1, 6)):
        done = ours("benchmark-module", *flags, f"--batch_size={batch}")
        table = done.out[done.out.index("Dispatches of") :]
        (executions,) = re.findall(r"matmul_8x8x4\S* +(\d+)", table)
        assert int(executions) == count, done.out


def test_an_argument_of_ones_own_wins(tmp_path: Path) -> None:
    files, _ = written(tmp_path)
    path = next(iter(files.values()))
    done = ours("benchmark-module", f"--module={built(path)}", "--input=3", "--benchmark_min_time=1x",
                "--dispatch_statistics", f"--function={next(iter(files))}")  # fmt: skip
    assert done.code == 0, done.err
    assert re.search(r" in 1 call.*\n(.*\n)*?f_dispatch\S+ +3 ", done.out), done.out


@needs_iree
def test_a_benchmark_that_iree_wrote(tmp_path: Path) -> None:
    source = tmp_path / "p.mlir"
    static = PROGRAM.replace(", %c: tensor<?xf32>", "").replace(", tensor<?xf32>", "").replace(", %3 ", " ")
    source.write_text(re.sub(r".*%3 =.*\n", "", static))
    target = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", CPU)
    dump = f"--iree-hal-dump-executable-benchmarks-to={tmp_path / 'b'}"
    compiler = str(SCRIPTS / "iree-compile")
    subprocess.run([compiler, source, *target, dump, "-o", tmp_path / "p.vmfb"], check=True, timeout=120)
    path = sorted((tmp_path / "b").iterdir())[0]
    made = path.with_suffix(".vmfb")
    subprocess.run([compiler, path, *target, "-o", made], check=True, timeout=120)
    done = ours("benchmark-module", f"--module={made}", "--batch_size=4", "--benchmark_min_time=8x")
    assert done.code == 0, done.err
    assert re.search(r"BM_f_dispatch\S+ .* 8 ", done.out), done.out


def test_repeated_dispatches(tmp_path: Path) -> None:
    files, _ = written(tmp_path)
    path = next(iter(files.values()))
    made = path.with_suffix(".vmfb")
    flag = "--iree-hal-benchmark-dispatch-repeat-count=4"
    assert ours("compile", path, FROM, CPU, flag, "-o", made).code == 0
    done = ours("benchmark-module", f"--module={made}", "--benchmark_min_time=3x", "--dispatch_statistics")
    assert re.search(r" in 3 calls.*\n(.*\n)*?f_dispatch\S+ +12 ", done.out), done.out
    done = ours("compile", tmp_path / "p.mlir", CPU, flag, "--iree-execution-model=inline-static", "-o", made)
    assert done.code == 1
    assert "records no dispatches" in done.err
    done = ours("compile", tmp_path / "p.mlir", CPU, flag[:-1] + "0", "-o", made)
    assert done.code == 1
    assert "is not between 1 and" in done.err


def test_kernels_that_are_part_of_the_host_program(tmp_path: Path) -> None:
    model = "--iree-execution-model=inline-static"
    files, _ = written(tmp_path, model)
    for name, path in files.items():
        assert path.read_text().startswith(f"// tiree-compile {FROM} {model} ")
        made = path.with_suffix(".vmfb")
        done = ours("compile", path, FROM, "-o", made)
        assert done.code == 1
        assert "vmvx-inline" in done.err
        assert f"use {model}" in done.err
        assert ours("compile", path, FROM, model, "-o", made).code == 0
        done = ours("benchmark-module", f"--module={made}", "--batch_size=2", "--benchmark_min_time=2x")
        assert re.search(rf"BM_{name}/process_time/real_time .* 2 ", done.out), done.out
