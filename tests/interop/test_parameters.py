"""Modules that iree-compile 3.13 makes read their parameters from each kind of file, with iree-run-module's output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from programs.parameters import TYPES, program
from proofs import iree_reference as iree
from tools.runtime_tool import ours, refused, same

pytestmark = iree.needs_iree


def arrays() -> dict[str, np.ndarray]:
    named = {f"w.{name}": (np.arange(15) * 3 - 7).astype(dtype).reshape(3, 5) for name, dtype in TYPES.items()}
    return {**named, "state": np.array([1, 2, 3, 4], np.int32)}


def write_irpa(path: Path) -> None:
    rt.save_archive_file(arrays(), path)


def write_splats(path: Path) -> None:
    index = rt.ParameterIndex()
    for key, array in arrays().items():
        if array.itemsize <= 4:
            index.add_splat(key, array.ravel()[1], array.nbytes)
        else:  # IREE cannot fill with 8 bytes.
            index.add_buffer(key, array)
    index.create_archive_file(str(path))


def write_safetensors(path: Path) -> None:
    pytest.importorskip("safetensors.numpy", reason="a development dependency").save_file(arrays(), path)


def write_gguf(path: Path) -> None:
    """IREE's reader knows no integers: their bytes are given as those of floats."""
    gguf = pytest.importorskip("gguf", reason="a development dependency")
    writer = gguf.GGUFWriter(path, "none")
    for key, array in arrays().items():
        plain = array if array.dtype in (np.float32, np.float16) else None
        if plain is None:
            padded = array.tobytes() + bytes(-array.nbytes % 2)
            plain = np.frombuffer(padded, np.float16) if array.nbytes % 2 == 0 else None
        if plain is not None:
            writer.add_tensor(key, plain)
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
        write()
    writer.close()


MAKERS = {
    "model.irpa": write_irpa,
    "splats.irpa": write_splats,
    "model.safetensors": write_safetensors,
    "model.gguf": write_gguf,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parameters")
    (folder / "m.vmfb").write_bytes(iree.compile_text(program()))
    rt.save_archive_file({"w.i8": arrays()["w.i8"]}, folder / "bytes.irpa")
    return folder


@pytest.mark.parametrize("device", iree.DRIVERS)
@pytest.mark.parametrize("file", MAKERS)
def test_values(folder: Path, file: str, device: str):
    path = folder / file
    if not path.exists():
        MAKERS[file](path)
    flags = [f"--module={folder / 'm.vmfb'}", f"--device={device}", f"--parameters=m={path}", f"--parameters={path}"]
    if file == "model.gguf":
        flags.append(f"--parameters=m={folder / 'bytes.irpa'}")  # Fifteen bytes are no floats.
    for name in TYPES:
        same("run-module", *flags, f"--function=add_{name}", f"--input=3x5x{name}=2")
    text = same("run-module", *flags, "--parameter_mode=preload", "--function=next", "--input=4xi32=10")
    assert ("=1 2 3 4\n" in text) == (file != "splats.irpa")


def test_state_is_not_written_to_the_file(folder: Path):
    path = folder / "state.irpa"
    write_irpa(path)
    before = path.read_bytes()
    instance, device = rt.VmInstance(), rt.get_device("local-sync")
    index = rt.ParameterIndex()
    index.load(str(path), writable=True)
    providers = [index.create_provider(), index.create_provider(scope="m")]
    modules = [
        rt.create_io_parameters_module(instance, *providers),
        rt.VmModule.mmap(instance, str(folder / "m.vmfb")),
    ]
    module = rt.load_vm_modules(*modules, config=rt.Config(device=device))[1]
    for _ in range(3):
        _, new = module.next(np.full(4, 1, np.int32))
    assert new.to_host().tolist() == [4, 5, 6, 7]
    assert path.read_bytes() == before


class TestRefusals:
    def test_other_size(self, folder: Path):
        path = folder / "other.safetensors"
        numpy_format = pytest.importorskip("safetensors.numpy", reason="a development dependency")
        numpy_format.save_file({**arrays(), "w.f32": np.ones((3, 6), np.float32)}, path)
        flags = [f"--module={folder / 'm.vmfb'}", f"--parameters=m={path}", f"--parameters={path}", "--function=next"]
        message = refused("run-module", *flags, "--input=4xi32=1")
        assert f"'w.f32' of {path} (scope 'm') has 72 bytes, the program needs 60" in message

    def test_missing(self, folder: Path):
        path = folder / "bytes.irpa"
        flags = [f"--module={folder / 'm.vmfb'}", f"--parameters=m={path}", "--function=next", "--input=4xi32=1"]
        assert f"scope 'm' ({path}) has: w.i8" in refused("run-module", *flags)
        assert "no provider registered that handles scopes like" in refused("run-module", *flags[:1], *flags[2:])

    @pytest.mark.parametrize("file", MAKERS)
    def test_cut(self, folder: Path, file: str):
        """Nothing runs with half a file."""
        path = folder / file
        if not path.exists():
            MAKERS[file](path)
        cut = folder / f"cut.{file}"
        whole = path.read_bytes()
        for part in (0.1, 0.5, 0.9):
            cut.write_bytes(whole[: int(len(whole) * part)])
            if file.endswith(".irpa") and part > 0.3:
                continue  # The rest fills the file up to a page.
            message = refused("run-module", f"--module={folder / 'm.vmfb'}", f"--parameters={cut}", "--function=next")
            assert f"cannot load {cut}: " in message


def test_exported_parameters(tmp_path: Path):
    """A value that iree-compile moved into an archive, as it does with globals that are not folded."""
    values = ",".join("[" + ",".join(f"{row * 64 + column}.5" for column in range(64)) + "]" for row in range(4))
    text = f"""
util.global private mutable @w = dense<[{values}]> : tensor<4x64xf32>
func.func @f(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {{
  %w = util.global.load @w : tensor<4x64xf32>
  %0 = stablehlo.add %x, %w : tensor<4x64xf32>
  util.global.store %0, @w : tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}}
"""
    path = tmp_path / "exported.irpa"
    module = tmp_path / "m.vmfb"
    module.write_bytes(iree.compile_with_tool(text, f"--iree-parameter-export=s={path}"))
    assert "1 entries, 1024 total bytes" in ours("dump-parameters", f"--parameters=s={path}").out
    for device in iree.DRIVERS:
        flags = [f"--module={module}", f"--device={device}", f"--parameters=s={path}", "--input=4x64xf32=1"]
        assert "1.5 2.5 3.5" in same("run-module", *flags)
