"""Weights that move between module and parameter files while compiling, with iree-compile's flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tools.runtime_tool import ours, refused, same

BIG = (np.arange(8 * 16) % 7 - 3).astype(np.float32).reshape(8, 16)
BIAS = (np.arange(16) * 0.5).astype(np.float32)
PARAMETERS = """
util.global private @w = #flow.parameter.named<"m"::"w"> : tensor<8x16xf32>
util.global private @b = #flow.parameter.named<"m"::"b"> : tensor<16xf32>
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = util.global.load @w : tensor<8x16xf32>
  %b = util.global.load @b : tensor<16xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<16xf32>) -> tensor<4x16xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}
"""
CPU = "--iree-llvmcpu-target-cpu=generic"
X = "--input=4x8xf32=2"


def text_of(array: np.ndarray) -> str:
    return str(array.tolist())


def constants() -> str:
    """The same program with its values in it: one in a global, one in the function."""
    return (
        PARAMETERS.replace('#flow.parameter.named<"m"::"b">', f"dense<{text_of(BIAS)}>")
        .replace('util.global private @w = #flow.parameter.named<"m"::"w"> : tensor<8x16xf32>', "")
        .replace(
            "%w = util.global.load @w : tensor<8x16xf32>",
            f"%w = stablehlo.constant dense<{text_of(BIG)}> : tensor<8x16xf32>",
        )
    )


def state() -> str:
    """Values of several types that the program changes, one of them the same everywhere."""
    values = {
        "f32": "[1.5, -2.5]", "f16": "[0.5, 4.0]", "i8": "[-1, 7]", "i1": "[true, false]", "i64": "[5, -6]",
        "f64": "2.5", "i32": "9",
    }  # fmt: skip
    lines = [f"util.global private mutable @g_{t} = dense<{v}> : tensor<2x{t}>" for t, v in values.items()]
    arguments = ", ".join(f"%{t}: tensor<2x{t}>" for t in values)
    types = ", ".join(f"tensor<2x{t}>" for t in values)
    lines.append(f"func.func @main({arguments}) -> ({types}) {{")
    lines += [f"  %old_{t} = util.global.load @g_{t} : tensor<2x{t}>" for t in values]
    lines += [f"  util.global.store %{t}, @g_{t} : tensor<2x{t}>" for t in values]
    lines.append(f"  return {', '.join(f'%old_{t}' for t in values)} : {types}\n}}")
    return "\n".join(lines)


def state_inputs(folder: Path) -> list[str]:
    np.save(folder / "i1.npy", np.array([True, True]))
    types = ("f32", "f16", "i8", "i1", "i64", "f64", "i32")
    return [f"--input=@{folder / 'i1.npy'}" if t == "i1" else f"--input=2x{t}=3" for t in types]


def build(text: str, path: Path, *flags: str) -> Path:
    path.write_bytes(bytes(tiree.compile(text, flags=[CPU, *flags])))
    return path


def entries(path: Path) -> dict[str, Any]:
    index = rt.ParameterIndex()
    index.load(str(path))
    return dict(index.items())


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.irpa"
    rt.save_archive_file({"w": BIG, "b": BIAS}, path)
    return path


def expected() -> np.ndarray:
    return np.full((4, 8), 2, np.float32) @ BIG + BIAS


class TestImport:
    @pytest.mark.parametrize(
        ("flags", "left"),
        [
            (("-keys=w", "-keys=b"), ()),
            (("-keys=w",), ("b",)),
            (("-maximum-size=64",), ("w",)),
            (("-maximum-size=63", "-keys=w"), ("b",)),
            (("-maximum-size=512",), ()),
        ],
    )
    def test_chosen_parameters_are_constants(self, weights: Path, tmp_path: Path, flags: tuple[str, ...], left: Any):
        given = [f"--iree-parameter-import=m={weights}", *(f"--iree-parameter-import{flag}" for flag in flags)]
        text = bytes(tiree.compile(PARAMETERS, flags=[CPU, *given, "--compile-to=global-optimization"])).decode()
        assert [key for key in ("w", "b") if f'"m"::"{key}"' in text] == list(left)
        assert text.count("util.global.load") == len(left)  # What never changes is folded as any constant.
        module = build(PARAMETERS, tmp_path / "m.vmfb", *given)
        again = [f"--parameters=m={weights}"] if left else []
        done = ours("run-module", f"--module={module}", X, *again, f"--expected_output=@{self._npy(tmp_path)}")
        assert (done.code, done.err) == (0, "")

    @staticmethod
    def _npy(folder: Path) -> Path:
        np.save(folder / "expected.npy", expected())
        return folder / "expected.npy"

    @pytest.mark.parametrize("format", ["safetensors", "splat", "gguf"])
    def test_other_files(self, tmp_path: Path, format: str):
        path = tmp_path / f"weights.{'irpa' if format == 'splat' else format}"
        values = {"w": BIG, "b": BIAS}
        if format == "splat":
            index = rt.ParameterIndex()
            index.add_splat("w", np.float32(1.5).tobytes(), BIG.nbytes)
            index.add_splat("b", b"\0", BIAS.nbytes)
            index.create_archive_file(str(path))
            values = {"w": np.full_like(BIG, 1.5), "b": np.zeros_like(BIAS)}
        elif format == "safetensors":
            pytest.importorskip("safetensors.numpy", reason="a development dependency").save_file(values, path)
        else:
            writer = pytest.importorskip("gguf", reason="a development dependency").GGUFWriter(path, "none")
            for key, array in values.items():
                writer.add_tensor(key, array)
            for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
                write()
            writer.close()
        flags = [f"--iree-parameter-import=m={path}", "--iree-parameter-import-maximum-size=4096"]
        module: Any = rt.load(tiree.compile(PARAMETERS, flags=[CPU, *flags]))
        x = np.full((4, 8), 2, np.float32)
        np.testing.assert_array_equal(np.asarray(module.main(x)), x @ values["w"] + values["b"])

    def test_no_scope_and_state(self, tmp_path: Path):
        """iree-compile ends with a crash here. What changes stays a global, with the value that it starts with."""
        text = """
util.global private mutable @s = #flow.parameter.named<"s"> : tensor<2xi32>
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %s = util.global.load @s : tensor<2xi32>
  util.global.store %x, @s : tensor<2xi32>
  return %s : tensor<2xi32>
}
"""
        rt.save_archive_file({"s": np.array([4, 5], np.int32)}, tmp_path / "s.irpa")
        options: dict[str, Any] = {"parameter_import": (str(tmp_path / "s.irpa"),), "parameter_import_keys": ("s",)}
        module: Any = rt.load(tiree.compile(text, **options))
        assert np.asarray(module.main(np.array([1, 2], np.int32))).tolist() == [4, 5]
        assert np.asarray(module.main(np.array([1, 2], np.int32))).tolist() == [1, 2]

    def test_the_bytes_are_those_of_the_mapped_file(self, weights: Path):
        from tiree.dialects.dense import DenseAttr
        from tiree.support.parameter_archives import ParameterFiles
        from xdsl.dialects.builtin import TensorType, f32

        entry = ParameterFiles([f"m={weights}"]).find("m", "w")
        assert entry is not None
        value = DenseAttr.from_buffer(TensorType(f32, [8, 16]), entry.data)
        mapped = np.frombuffer(entry.data, np.uint8)
        assert np.shares_memory(np.frombuffer(value.buffer, np.uint8), mapped)
        assert str(weights) in Path("/proc/self/maps").read_text()

    @pytest.mark.parametrize(
        ("keys", "scope", "message"),
        [
            (
                "w",
                "m",
                r"parameter 'w' of .*small.irpa \(scope 'm'\) has 12 bytes, the program needs 512 for tensor<8x",
            ),
            ("b", "m", r"-keys=b: .*small.irpa \(scope 'm'\) has no such parameter\n.*it has: w"),
            ("nokey", "m", r"-keys=nokey: the program has no such parameter\n.*its parameters are: w, b"),
            ("w", "n", r"-keys=w: the parameter is of scope 'm', of which no file is imported"),
        ],
    )
    def test_refused(self, tmp_path: Path, keys: str, scope: str, message: str):
        path = tmp_path / "small.irpa"
        rt.save_archive_file({"w": np.ones(3, np.float32)}, path)
        flags = [f"--iree-parameter-import={scope}={path}", f"--iree-parameter-import-keys={keys}"]
        with pytest.raises(tiree.CompileError, match=message):
            tiree.compile(PARAMETERS, flags=flags)

    def test_types_without_a_form_in_files(self, tmp_path: Path):
        rt.save_archive_file({"w": np.ones(4, np.int8)}, tmp_path / "a.irpa")
        text = 'util.global private @w = #flow.parameter.named<"m"::"w"> : tensor<4xi4>\n'
        flags = [f"--iree-parameter-import=m={tmp_path / 'a.irpa'}", "--iree-parameter-import-keys=w"]
        with pytest.raises(tiree.CompileError, match=r"parameter 'w' of .* as tensor<4xi4>, whose bytes in a file"):
            tiree.compile(text, flags=flags)

    @pytest.mark.parametrize(
        ("name", "message"),
        [("none.irpa", "No such file"), ("x.mlir", "unsupported file format"), ("cut.irpa", "cut short or damaged")],
    )
    def test_files_that_cannot_be_read(self, tmp_path: Path, weights: Path, name: str, message: str):
        (tmp_path / "x.mlir").write_text("")
        (tmp_path / "cut.irpa").write_bytes(weights.read_bytes()[:100])
        flags = [f"--iree-parameter-import=m={tmp_path / name}", "--iree-parameter-import-keys=w"]
        with pytest.raises(tiree.CompileError, match=rf"--iree-parameter-import=m=.*{name}: .*{message}"):
            tiree.compile(PARAMETERS, flags=flags)


class TestExport:
    def test_values_leave_the_module(self, tmp_path: Path):
        path = tmp_path / "out.irpa"
        module = build(constants(), tmp_path / "m.vmfb", f"--iree-parameter-export=m={path}")
        found = entries(path)
        assert {key: entry.length for key, entry in found.items()} == {"b": 64, "__constant_tensor_8x16xf32": 512}
        np.testing.assert_array_equal(np.frombuffer(found["b"].file_view, np.float32), BIAS)
        whole = build(constants(), tmp_path / "whole.vmfb")
        assert BIG.tobytes() in whole.read_bytes()
        assert BIG.tobytes() not in module.read_bytes()
        expected_out = ours("run-module", f"--module={whole}", X).out
        assert ours("run-module", f"--module={module}", f"--parameters=m={path}", X).out == expected_out
        assert "no provider" in refused("run-module", f"--module={module}", X)

    def test_minimum_size(self, tmp_path: Path):
        path = tmp_path / "out.irpa"
        for size, names in ((64, {"b", "__constant_tensor_8x16xf32"}), (65, {"__constant_tensor_8x16xf32"}), (513, ())):
            flags = [f"--iree-parameter-export={path}", f"--iree-parameter-export-minimum-size={size}"]
            build(constants(), tmp_path / "m.vmfb", *flags)
            assert set(entries(path)) == set(names)

    def test_equal_constants_are_one(self, tmp_path: Path):
        text = f"""
func.func @main(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {{
  %a = stablehlo.constant dense<{text_of(BIG)}> : tensor<8x16xf32>
  %0 = stablehlo.add %x, %a : tensor<8x16xf32>
  %b = stablehlo.constant dense<{text_of(BIG)}> : tensor<8x16xf32>
  %1 = stablehlo.multiply %x, %b : tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}}
"""
        build(text, tmp_path / "m.vmfb", f"--iree-parameter-export=m={tmp_path / 'a.irpa'}")
        assert len(entries(tmp_path / "a.irpa")) == 1

    def test_initializers_see_the_values(self, tmp_path: Path):
        """All that starts as a parameter is there before the first initializer runs."""
        text = """
util.global private @a = dense<[1, 2]> : tensor<2xi32>
util.global private @c : tensor<2xi32>
util.initializer {
  %a = util.global.load @a : tensor<2xi32>
  %0 = arith.addi %a, %a : tensor<2xi32>
  util.global.store %0, @c : tensor<2xi32>
  util.return
}
util.global private @b = dense<[3, 4]> : tensor<2xi32>
func.func @main() -> tensor<2xi32> {
  %b = util.global.load @b : tensor<2xi32>
  %c = util.global.load @c : tensor<2xi32>
  %0 = arith.addi %b, %c : tensor<2xi32>
  return %0 : tensor<2xi32>
}
"""
        path = tmp_path / "a.irpa"
        module = build(text, tmp_path / "m.vmfb", f"--iree-parameter-export=m={path}")
        assert "2xi32=5 8" in ours("run-module", f"--module={module}", f"--parameters=m={path}").out

    def test_a_key_that_is_taken(self, tmp_path: Path):
        text = constants().replace(
            "@b = ", '@p = #flow.parameter.named<"m"::"b"> : tensor<2xi8>\nutil.global private @b = ', 1
        )
        with pytest.raises(tiree.CompileError, match="scope 'm' has a parameter 'b' already"):
            tiree.compile(text, flags=[f"--iree-parameter-export=m={tmp_path / 'a.irpa'}"])

    def test_a_place_that_cannot_be_written(self, tmp_path: Path):
        path = tmp_path / "nowhere" / "a.irpa"
        with pytest.raises(tiree.CompileError, match=rf"--iree-parameter-export=m={path}: .*No such file or directory"):
            tiree.compile(constants(), flags=[f"--iree-parameter-export=m={path}"])

    def test_the_artifact_does_not_depend_on_the_path(self, tmp_path: Path):
        one, other = (
            build(constants(), tmp_path / "m.vmfb", f"--iree-parameter-export=m={tmp_path / name}").read_bytes()
            for name in ("a.irpa", "b.irpa")
        )
        assert one == other

    def test_not_from_a_cache(self, tmp_path: Path):
        for _ in range(2):
            path = tmp_path / "a.irpa"
            flags = [f"--iree-parameter-export=m={path}", f"--tiree-cache-dir={tmp_path / 'cache'}"]
            build(constants(), tmp_path / "m.vmfb", *flags)
            assert entries(path)
            path.unlink()


class TestSplat:
    def test_zeros_for_every_parameter(self, tmp_path: Path):
        path = tmp_path / "zeros.irpa"
        module = build(PARAMETERS, tmp_path / "m.vmfb", f"--iree-parameter-splat={path}")
        assert {key: (e.length, e.is_splat) for key, e in entries(path).items()} == {"w": (512, True), "b": (64, True)}
        assert module.read_bytes() == build(PARAMETERS, tmp_path / "plain.vmfb").read_bytes()
        out = ours("run-module", f"--module={module}", f"--parameters=m={path}", X).out
        assert out.count(" 0") == 4 * 16 - 4

    def test_one_key_of_two_sizes(self, tmp_path: Path):
        text = PARAMETERS.replace('"m"::"b"', '"n"::"w"')
        with pytest.raises(tiree.CompileError, match="two scopes have a parameter 'w', of 512 and of 64 bytes"):
            tiree.compile(text, flags=[f"--iree-parameter-splat={tmp_path / 'a.irpa'}"])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["import=m=a.irpa"], "--iree-parameter-import=m=a.irpa imports nothing by itself"),
        (["import-keys=w"], "--iree-parameter-import-keys has no effect without --iree-parameter-import=FILE"),
        (["import-maximum-size=1"], "--iree-parameter-import-maximum-size has no effect without"),
        (["export-minimum-size=1"], "--iree-parameter-export-minimum-size has no effect without"),
        (["import=m=", "import-keys=w"], "--iree-parameter-import=m=: no file is named"),
        (["export=m=a.bin"], "a.bin does not end in .irpa"),
        (["export=m="], "nothing does not end in .irpa"),
        (["splat=a.safetensors"], "a.safetensors does not end in .irpa"),
        (["export=m=a.irpa", "splat=./a.irpa"], "that file is written by --iree-parameter-export"),
    ],
)
def test_flags_without_effect(flags: list[str], message: str):
    with pytest.raises(tiree.CompileError, match=message):
        tiree.compile(PARAMETERS, flags=[f"--iree-parameter-{flag}" for flag in flags])


@pytest.mark.parametrize("phase", ["--compile-to=abi", "--compile-from=flow"])
def test_phases_that_have_no_parameters(phase: str):
    with pytest.raises(tiree.CompileError, match="--iree-parameter-splat needs phase global-optimization"):
        tiree.compile(PARAMETERS, flags=["--iree-parameter-splat=a.irpa", phase])


@iree.needs_iree
class TestInterchange:
    def test_both_tools_run_what_was_exported(self, tmp_path: Path):
        path = tmp_path / "a.irpa"
        module = build(constants(), tmp_path / "m.vmfb", f"--iree-parameter-export=m={path}")
        for device in iree.DRIVERS:
            same("run-module", f"--module={module}", f"--device={device}", f"--parameters=m={path}", X)

    @pytest.mark.parametrize("compiler", ["ours", "theirs"])
    def test_archives_of_either_compiler(self, tmp_path: Path, compiler: str):
        """Either module runs with either archive, in either tool, with the same results."""
        archives = {"ours": tmp_path / "ours.irpa", "theirs": tmp_path / "theirs.irpa"}
        modules = {
            "ours": build(state(), tmp_path / "ours.vmfb", f"--iree-parameter-export=s={archives['ours']}"),
            "theirs": tmp_path / "theirs.vmfb",
        }
        modules["theirs"].write_bytes(
            iree.compile_with_tool(state(), f"--iree-parameter-export=s={archives['theirs']}")
        )
        lengths = [{key: entry.length for key, entry in entries(path).items()} for path in archives.values()]
        assert lengths[0] == lengths[1]
        plain = ours("run-module", f"--module={build(state(), tmp_path / 'plain.vmfb')}", *state_inputs(tmp_path)).out
        for archive in archives.values():
            flags = [f"--module={modules[compiler]}", "--device=local-sync", f"--parameters=s={archive}"]
            assert same("run-module", *flags, *state_inputs(tmp_path)) == plain

    def test_splats_of_either_compiler(self, tmp_path: Path):
        module = build(PARAMETERS, tmp_path / "m.vmfb", f"--iree-parameter-splat={tmp_path / 'ours.irpa'}")
        iree.compile_with_tool(PARAMETERS, f"--iree-parameter-splat={tmp_path / 'theirs.irpa'}")
        outputs = {
            same("run-module", f"--module={module}", "--device=local-sync", f"--parameters=m={tmp_path / name}.irpa", X)
            for name in ("ours", "theirs")
        }
        assert len(outputs) == 1

    def test_either_compiler_imports_what_the_other_exported(self, tmp_path: Path):
        """The values of `w` and `b`, which the exporting program changes and the importing one does not."""
        exported = f"""
util.global private mutable @w = dense<{text_of(BIG)}> : tensor<8x16xf32>
util.global private mutable @b = dense<{text_of(BIAS)}> : tensor<16xf32>
func.func @main(%x: tensor<8x16xf32>, %y: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>) {{
  %w = util.global.load @w : tensor<8x16xf32>
  %b = util.global.load @b : tensor<16xf32>
  util.global.store %x, @w : tensor<8x16xf32>
  util.global.store %y, @b : tensor<16xf32>
  return %w, %b : tensor<8x16xf32>, tensor<16xf32>
}}
"""
        mine, other = tmp_path / "ours.irpa", tmp_path / "theirs.irpa"
        build(exported, tmp_path / "x.vmfb", f"--iree-parameter-export=m={mine}")
        iree.compile_with_tool(exported, f"--iree-parameter-export=m={other}")
        size = "--iree-parameter-import-maximum-size=1000"
        ours_module = build(PARAMETERS, tmp_path / "ours.vmfb", f"--iree-parameter-import=m={other}", size)
        their_module = tmp_path / "theirs.vmfb"
        their_module.write_bytes(iree.compile_with_tool(PARAMETERS, f"--iree-parameter-import=m={mine}", size))
        np.save(tmp_path / "expected.npy", expected())
        for module in (ours_module, their_module):
            flags = [f"--module={module}", "--device=local-sync", X]
            same("run-module", *flags, f"--expected_output=@{tmp_path / 'expected.npy'}")
