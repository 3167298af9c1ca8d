"""The compile cache: the same job is found, another one is not, and nothing goes wrong with many at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiree
from tiree import compile_cache
from tiree.support.errors import CompileError

PROGRAM = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
GENERIC = "--iree-llvmcpu-target-cpu=generic"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.entry"))


def never(*_: object) -> None:
    raise AssertionError("it is compiled again")


def test_the_second_time_nothing_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tiree.compile(PROGRAM, flags=[GENERIC])
    first = tiree.compile(PROGRAM, flags=[GENERIC], cache_dir=str(tmp_path))
    monkeypatch.setattr("tiree.driver._run", never)
    assert tiree.compile(PROGRAM, flags=[GENERIC, f"--tiree-cache-dir={tmp_path}"]) == first == wanted
    monkeypatch.setenv("TIREE_CACHE_DIR", str(tmp_path))
    assert tiree.compile(PROGRAM, flags=[GENERIC, "--mlir-disable-threading"]) == wanted
    with pytest.raises(AssertionError, match="compiled again"):
        tiree.compile(PROGRAM, flags=[GENERIC, "--tiree-cache-dir="])
    assert len(entries(tmp_path)) == 1


def test_what_changes_the_output_changes_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(program: str = PROGRAM, *flags: str) -> bytes:
        return tiree.compile(program, flags=[f"--tiree-cache-dir={tmp_path}", *flags])

    compiled()
    compiled(PROGRAM, GENERIC)
    compiled(PROGRAM.replace("add", "multiply"))
    compiled(PROGRAM, "--iree-opt-level=O2")
    compiled(PROGRAM, "--iree-vm-bytecode-module-strip-source-map")
    compiled(PROGRAM, "--iree-llvmcpu-target-cpu=generic", "--iree-llvmcpu-target-cpu-features=+avx2")
    (tmp_path / "m.mlir").write_text(PROGRAM)
    compiled(str(tmp_path / "m.mlir"))
    assert len(entries(tmp_path)) == 7
    monkeypatch.setattr(compile_cache, "VERSION", "another")
    compiled()
    monkeypatch.setattr(compile_cache, "compiler_identity", lambda: "another")
    compiled()
    assert len(entries(tmp_path)) == 9
    monkeypatch.setattr("tiree.driver._run", never)
    compiled()


def test_the_native_part_is_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes constants."""
    seen: list[str] = []
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: seen.append(str(path)) or stat(path, **more))
    compile_cache.compiler_identity.__wrapped__()
    assert any(os.path.basename(path).startswith("_native.") and not path.endswith((".py", ".pyi")) for path in seen)
    assert any(path.endswith("compile_cache.py") for path in seen)


def test_the_machine_is_part_of_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = [f"--tiree-cache-dir={tmp_path}"]
    tiree.compile(PROGRAM, flags=flags)
    monkeypatch.setattr("tiree.support.cpu_variants.resolve_cpu_targets", lambda *_: ["another machine"])
    monkeypatch.setattr("tiree.driver._run", never)
    with pytest.raises(AssertionError, match="compiled again"):
        tiree.compile(PROGRAM, flags=flags)


def test_a_damaged_entry_is_compiled_again(tmp_path: Path) -> None:
    flags = [GENERIC, f"--tiree-cache-dir={tmp_path}"]
    wanted = tiree.compile(PROGRAM, flags=flags)
    (path,) = entries(tmp_path)
    data = bytearray(path.read_bytes())
    data[-10] ^= 0xFF
    path.write_bytes(data)
    assert tiree.compile(PROGRAM, flags=flags) == wanted
    assert path.read_bytes() != data


def test_what_is_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Errors, phases, and whatever prints or dumps on the way."""
    cached = f"--tiree-cache-dir={tmp_path / 'cache'}"
    with pytest.raises(CompileError):
        tiree.compile("func.func @f() {\n  oops\n}\n", flags=[cached])
    tiree.compile(PROGRAM, flags=[cached, "--compile-to=flow"])
    for flags in (["--mlir-print-ir-after-all"], [f"--tiree-report={tmp_path / 'r.json'}"],
                  [f"--dump-compilation-phases-to={tmp_path / 'd'}"]):  # fmt: skip
        for _ in range(2):
            tiree.compile(PROGRAM, flags=[cached, *flags])
    assert entries(tmp_path / "cache") == []
    assert capsys.readouterr().err.count("// -----// IR Dump After") > 2
    assert (tmp_path / "r.json").exists()


def test_it_says_what_it_did_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = [GENERIC, f"--tiree-cache-dir={tmp_path}"]
    tiree.compile(PROGRAM, flags=flags)
    assert capsys.readouterr().err == ""
    (path,) = entries(tmp_path)
    tiree.compile(PROGRAM, flags=[*flags, "--mlir-timing"])
    key = (path.parent.name + path.stem)[:16]
    assert f"cache: hit {key}" in capsys.readouterr().err
    path.unlink()
    tiree.compile(PROGRAM, flags=[*flags, "--mlir-timing"])
    assert f"cache: miss {key}" in capsys.readouterr().err


def test_a_folder_that_cannot_be_used_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    flags = [GENERIC, f"--tiree-cache-dir={tmp_path / 'file'}"]
    assert tiree.compile(PROGRAM, flags=flags) == tiree.compile(PROGRAM, flags=[GENERIC])
    found = capsys.readouterr().err
    assert found.count("warning: the compile cache") == 1
    assert "cannot be used: " in found


def test_many_tools_at_once(tmp_path: Path) -> None:
    """Six compile two programs into one cache: all get what each gets alone."""
    wanted = []
    for number, op in enumerate(("add", "multiply")):
        (tmp_path / f"{number}.mlir").write_text(PROGRAM.replace("add", op))
        wanted.append(tiree.compile(tmp_path / f"{number}.mlir", flags=[GENERIC]))
    running = []
    for number in range(6):
        command = [sys.executable, "-m", "tiree.tools.compile", f"{tmp_path}/{number % 2}.mlir", GENERIC]
        command += [f"--tiree-cache-dir={tmp_path / 'cache'}", "-o", f"{tmp_path}/{number}.vmfb"]
        running.append(subprocess.Popen(command, stderr=subprocess.PIPE))
    for number, process in enumerate(running):
        assert process.communicate(timeout=300)[1] == b""
        assert (tmp_path / f"{number}.vmfb").read_bytes() == wanted[number % 2]
    assert len(entries(tmp_path / "cache")) == 2
