"""Flags of the tools for assembly and parameters, and that no tool was forgotten: each flag's effect is seen."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
import tiree.runtime as rt
import tiree.tools
from onnx import helper, numpy_helper
from tiree import _native
from tiree.tools import (
    as_module,
    convert_parameters,
    create_parameters,
    dump_parameters,
    import_onnx,
    new,
    parameter_files,
)
from tools.effects import Effect, Ran, check, effect, lacks, prints, rows_of, run

Rows = dict[str, Effect | tuple[Effect, ...]]
GOOD = """vm.module @m version 1
vm.export @f
vm.func @f() -> () {
^bb0:
  vm.return
}
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("files")
    rt.save_archive_file({"w": np.arange(4, dtype=np.float32), "b": np.ones(2, np.int8)}, folder / "w.irpa")
    _save_model(folder / "m.onnx")
    return {
        "good.vmasm": GOOD.encode(),
        **{name: (folder / name).read_bytes() for name in ("w.irpa", "m.onnx", "b.bin")},
    }


def _save_model(path: Path) -> None:
    """Numbers in the shape of others, less those of a file beside the model."""
    nodes = [
        helper.make_node("Shape", ["z"], ["s"]),
        helper.make_node("Reshape", ["x", "s"], ["r"]),
        helper.make_node("Sub", ["r", "b"], ["y"]),
    ]
    constants = [numpy_helper.from_array(np.array([1.5], np.float32), "b")]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
            for name, shape in (("x", ["n", 2, 2]), ("z", ["n", 4]), ("y", None))]  # fmt: skip
    graph = helper.make_graph(nodes, "m", ends[:2], ends[2:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, path, save_as_external_data=True, location="b.bin", size_threshold=0)


def _data(done: Ran, name: str = "o.irpa") -> dict[str, rt.ParameterIndexEntry]:
    """The parameters of a written archive by name."""
    index = rt.ParameterIndex()
    index.load_from_file_handle(rt.FileHandle.wrap_memory(done.files[name], readable=True, writable=False), "irpa")
    return dict(index.items())


CREATE = ("--output=o.irpa",)
CONVERT = ("--parameters=w.irpa", "--output=o.irpa")
ONNX = ("m.onnx",)
TABLES: dict[str, tuple[Any, Rows]] = {
    "import-onnx": (
        import_onnx,
        {
            "help": effect("--help", prints("USAGE: "), *ONNX),
            "o": effect("-o m.mlir", lambda done: b"onnx.Reshape" in done.files.get("m.mlir", b""), *ONNX),
            "data-dir": effect("--data-dir=nowhere", lambda done: done.code == 1 and "nowhere" in done.err, *ONNX),
            "data-prop": effect("--data-prop=false", lacks("-> !torch.vtensor<[?,4],f32>\n"), *ONNX),
            "opset-version": effect("--opset-version=17", prints("opset_version = 17"), *ONNX),
        },
    ),
    "as-module": (
        as_module,
        {
            "help": effect("--help", prints("USAGE: "), "good.vmasm"),
            "output": effect("--output=m.vmfb", lambda done: "m.vmfb" in done.files, "good.vmasm"),
        },
    ),
    "dump-parameters": (
        dump_parameters,
        {
            "help": effect("--help", prints("USAGE: "), "--parameters=w.irpa"),
            "parameters": (
                effect("--parameters=w.irpa", prints("`w`")),
                effect("--parameters=s=w.irpa", prints("Parameter scope `s`"), "--parameters=w.irpa"),
            ),
            "extract": effect("--extract=w=w.bin", lambda done: "w.bin" in done.files, "--parameters=w.irpa"),
        },
    ),
    "convert-parameters": (
        convert_parameters,
        {
            "help": effect("--help", prints("USAGE: "), *CONVERT),
            "parameters": effect("--parameters=w.irpa", prints("`w`"), "--output=o.irpa"),
            "exclude": effect("--exclude=w", lacks("`w`"), *CONVERT),
            "rename": effect("--rename=w=v", prints("`v`"), *CONVERT),
            "strip": effect("--strip", lambda done: all(not e.is_file for e in _data(done).values()), *CONVERT),
            "splat": (
                effect("--splat=w", lambda done: not _data(done)["w"].is_file, *CONVERT),
                effect("--splat=w=f32=4.5", lambda done: not _data(done)["w"].is_file, *CONVERT),
            ),
            "quiet": effect("--quiet", lambda done: done.out == "", *CONVERT),
            "output": effect("--output=o.irpa", lambda done: "o.irpa" in done.files, "--parameters=w.irpa"),
        },
    ),
    "create-parameters": (
        create_parameters,
        {
            "help": effect("--help", prints("USAGE: "), *CREATE),
            "splat": effect("--splat=s=4xf32=1", prints("`s`"), *CREATE),
            "data": effect(
                "--data=d=4xf32=1", lambda done: "o.irpa" in done.files and _data(done)["d"].is_file, *CREATE
            ),
            "alignment": effect(
                "--alignment=4096",
                lambda done: _data(done)["d"].file_storage[1] % 4096 == 0,
                *CREATE,
                "--data=d=4xf32=1",
            ),
            "quiet": effect("--quiet", lambda done: done.out == "", *CREATE, "--data=d=4xf32=1"),
            "output": effect("--output=o.irpa", lambda done: "o.irpa" in done.files, "--data=d=4xf32=1"),
        },
    ),
    "new": (
        new,
        {
            "help": effect("--help", prints("USAGE: "), "pass", "mine"),
            "version": effect("--version", prints("version"), "pass", "mine"),
            "folder": effect("--folder=deep/er", lambda done: "deep/er/mine.py" in done.files, "pass", "mine"),
        },
    ),
}
ELSEWHERE = {"verify": "", "parameter_mode": "test_the_mode_decides_about_mapping"}
"""`verify`: test_as_module.py, with modules that a runtime refuses."""


@pytest.mark.parametrize(
    ("tool", "row"),
    [(tool, row) for tool, (_, rows) in TABLES.items() for _, row in rows_of(rows)],
    ids=lambda value: value if isinstance(value, str) else " ".join(value.given),
)
def test_effect(tool: str, row: Effect, tmp_path: Path, inputs: Mapping[str, bytes]) -> None:
    check(tool, row, tmp_path, inputs)


@pytest.mark.parametrize("tool", TABLES)
def test_every_flag_has_a_row(tool: str) -> None:
    module, rows = TABLES[tool]
    names = [flag.name for flag in module.FLAGS]
    assert sorted(names) == sorted([*rows, *(name for name in ELSEWHERE if name in names)])


@pytest.mark.parametrize("tool", ["dump-parameters", "convert-parameters"])
def test_the_mode_decides_about_mapping(
    tool: str, tmp_path: Path, inputs: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped: list[bool] = []
    real = _native.ParameterIndex

    def watched() -> Any:
        index = real()

        def load(path: str, mmap: bool) -> None:
            mapped.append(mmap)
            index.load(path, mmap=mmap)

        return SimpleNamespace(load=load, items=index.items, create_provider=index.create_provider, index=index)

    names = {key: getattr(_native, key) for key in dir(_native)}
    monkeypatch.setattr(parameter_files, "_native", SimpleNamespace(**{**names, "ParameterIndex": watched}))
    for mode in ([], ["--parameter_mode=preload"]):
        run(tool, ("--parameters=w.irpa", *mode), tmp_path, inputs)
    assert mapped == [True, False]


def test_no_tool_is_forgotten() -> None:
    from tools.test_runtime_effects import TABLES as RUNTIME

    found = {
        info.name.replace("_", "-")
        for info in pkgutil.iter_modules(tiree.tools.__path__)
        if hasattr(module := import_module(f"tiree.tools.{info.name}"), "FLAGS") and hasattr(module, "main")
    }
    assert found == {"compile", "opt", *RUNTIME, *TABLES}
