"""tiree-create-, -convert- and -dump-parameters against IREE's, and what they refuse."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from tiree.tools import convert_parameters, create_parameters, dump_parameters
from tools.runtime_tool import needs_iree, ours, refused, same, theirs

TOOLS = {
    "create-parameters": create_parameters,
    "convert-parameters": convert_parameters,
    "dump-parameters": dump_parameters,
}


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def archive(tmp_path: Path) -> str:
    path = tmp_path / "in.irpa"
    entries = {"w": np.arange(6, dtype=np.float32), "b": np.ones(3, np.int8), "s": rt.SplatValue(np.int16(3), 8)}
    rt.save_archive_file(entries, path)
    return str(path)


@pytest.fixture
def safetensors(tmp_path: Path) -> str:
    numpy_format = pytest.importorskip("safetensors.numpy", reason="a development dependency")
    path = tmp_path / "in.safetensors"
    numpy_format.save_file({"a": np.arange(4, dtype=np.float16), "x": np.ones(2)}, path)
    return str(path)


@needs_iree
@pytest.mark.parametrize("tool", TOOLS)
def test_flags_are_those_of_iree(tool: str):
    lines = [line.lstrip("# ") for line in theirs(tool, "--help").out.splitlines()]
    flags = {line.lstrip("-").partition("=")[0].rstrip(" \\") for line in lines if line.startswith("--")}
    assert {flag.name for flag in TOOLS[tool].FLAGS} == flags - {"flagfile"}
    assert f"USAGE: tiree-{tool} " in ours(tool, "--help").out
    assert "did you mean --help?" in refused(tool, "--hel")
    assert "all arguments are flags" in refused(tool, "x.irpa")


@needs_iree
class TestCreate:
    @pytest.mark.parametrize(
        "flags",
        [
            ["--splat=a=4xf32=1.5"],
            ["--splat=a=4xf32=1.5", "--splat=b=2x3xi16=123", "--splat=zero=8xi64", "--splat=h=f16=-2"],
            ["--splat=wide=2xcf64=0000803f00000040"],
        ],
        ids=len,
    )
    def test_splats(self, flags: list[str]):
        assert (
            ours("create-parameters", *flags, "--output=ours.irpa").out
            == theirs("create-parameters", *flags, "--output=theirs.irpa").out
        )
        assert Path("ours.irpa").read_bytes() == Path("theirs.irpa").read_bytes()

    @pytest.mark.parametrize("alignment", [16, 64, 4096])
    def test_data(self, alignment: int):
        """IREE's tool fails to write the data; all but its contents can be compared."""
        flags = ["--data=a=4xf32", "--splat=s=2xi8=7", "--data=b=3xi16=-5", f"--alignment={alignment}"]
        assert ours("create-parameters", *flags, "--quiet", "--output=ours.irpa").out == ""
        theirs("create-parameters", *flags, "--output=theirs.irpa")
        written = rt.ParameterIndex()
        written.load("ours.irpa")
        found = dict(written.items())
        assert list(found) == ["s", "a", "b"]
        assert bytes(found["a"].file_view) == bytes(16)
        assert np.frombuffer(found["b"].file_view, np.int16).tolist() == [-5] * 3
        assert all(found[key].file_storage[1] % alignment == 0 for key in "ab")
        header, entries = 0x60, min(found[key].file_storage[1] for key in "ab")
        compared = entries if alignment == 64 else header  # IREE's entries always say 64.
        assert Path("ours.irpa").read_bytes()[:compared] == Path("theirs.irpa").read_bytes()[:compared]

    @pytest.mark.parametrize(
        ("flag", "message"),
        [
            ("--splat=a", "not a declaration"),
            ("--data==4xf32", "not a declaration"),
            ("--splat=a=4xfloat", "did you mean f32?"),
            ("--splat=a=4xi8=300", "out of range for i8"),
            ("--splat=a=8xf32=1 2 3", "a pattern has 1, 2, 4, 8 or 16 bytes"),
            ("--alignment=48", "not a power of two"),
            ("--output=", "pass --output=file.irpa"),
            ("--output=nowhere/x.irpa", "nowhere/x.irpa"),
        ],
    )
    def test_refusals(self, flag: str, message: str):
        flags = [] if flag.startswith("--output") else ["--output=x.irpa"]
        assert message in refused("create-parameters", "--data=w=4xf32=1", *flags, flag)

    def test_more_than_there_is_room_for(self, tmp_path: Path):
        free = shutil.disk_usage(tmp_path).free
        said = refused("create-parameters", "--data=w=99999999999999xf32=1", "--data=v=4xi8", "--output=x.irpa")
        match = re.search(rf"x\.irpa: the parameters take 400000000000000 bytes; .* {tmp_path} has (\d+) free", said)
        assert match, said
        assert abs(int(match[1]) - free) < 1 << 34
        assert "--splat= declares" in said
        assert not list(tmp_path.iterdir())
        assert ours("create-parameters", "--splat=w=99999999999999xf32=1", "--output=x.irpa").code == 0

    def test_names_are_declared_once(self):
        assert "declared twice" in refused("create-parameters", "--splat=a=i8=1", "--data=a=i8=1", "--output=x.irpa")


@needs_iree
class TestConvert:
    @pytest.mark.parametrize(
        "flags",
        [
            [],
            ["--exclude=b", "--rename=w=weight"],
            ["--strip", "--splat=w=f32=1.0"],
            ["--splat=w", "--splat=bias=i8=7", "--rename=b=bias"],
            ["--parameter_mode=preload", "--quiet"],
        ],
        ids=str,
    )
    def test_same_bytes(self, archive: str, safetensors: str, flags: list[str]):
        inputs = [f"--parameters={archive}", f"--parameters=other={safetensors}"]
        done = ours("convert-parameters", *inputs, *flags, "--output=ours.irpa")
        wanted = theirs("convert-parameters", *inputs, *flags, "--output=theirs.irpa")
        assert (done.code, done.out) == (0, wanted.out)
        assert Path("ours.irpa").read_bytes() == Path("theirs.irpa").read_bytes()

    def test_from_gguf(self):
        gguf = pytest.importorskip("gguf", reason="a development dependency")
        writer = gguf.GGUFWriter("in.gguf", "none")
        writer.add_tensor("x", np.arange(5, dtype=np.float32))
        writer.add_tensor("y", np.arange(5, dtype=np.float16))
        for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
            write()
        writer.close()
        assert ours("convert-parameters", "--parameters=in.gguf", "--output=ours.irpa").code == 0
        theirs("convert-parameters", "--parameters=in.gguf", "--output=theirs.irpa")
        assert Path("ours.irpa").read_bytes() == Path("theirs.irpa").read_bytes()

    def test_notes(self, archive: str):
        both = [f"--parameters={archive}", f"--parameters={archive}", "--output=x.irpa"]
        assert "several parameters called w" in ours("convert-parameters", *both).err
        done = ours("convert-parameters", *both, "--exclude=nope", "--rename=none=n")
        assert done.code == 0
        assert "--exclude=nope: there is no such parameter" in done.err
        assert "--rename=none: there is no such parameter" in done.err

    @pytest.mark.parametrize(
        ("flag", "message"),
        [
            ("--rename=w", "write --rename=OLD=NEW"),
            ("--splat=b=i16=1", "2 bytes do not divide the parameter's 3"),
            ("--splat=w=f32=x", "--splat=w=f32=x: "),
            ("--parameters=none.irpa", "no such file: none.irpa"),
        ],
    )
    def test_refusals(self, archive: str, flag: str, message: str):
        assert message in refused("convert-parameters", f"--parameters={archive}", flag, "--output=x.irpa")


@needs_iree
class TestDump:
    def test_tables(self, archive: str, safetensors: str):
        """Three files in two scopes; the last is cut to what IREE prints of it."""
        flags = [f"--parameters={archive}", f"--parameters=model={safetensors}", f"--parameters={safetensors}"]
        same("dump-parameters", *flags)
        same("dump-parameters", *flags, "--parameter_mode=preload")

    def test_extract(self, archive: str):
        flags = [f"--parameters={archive}", f"--parameters=m::n={archive}"]
        done = ours("dump-parameters", *flags, "--extract=w=w.bin", "--extract=m::n::s=s.bin")
        extracted = [line for line in done.out.splitlines() if line.startswith("Extracting")]
        assert extracted == [
            "Extracting parameter `w` (24b) to `w.bin`...",
            "Extracting parameter `s` (16b) to `s.bin`...",
        ]
        assert Path("w.bin").read_bytes() == np.arange(6, dtype=np.float32).tobytes()
        assert Path("s.bin").read_bytes() == np.full(8, 3, np.int16).tobytes()

    @pytest.mark.parametrize(
        ("flag", "message"),
        [
            ("--extract=w", "write --extract=KEY=FILE"),
            ("--extract=ww=x", "did you mean w?"),
            ("--extract=other::w=x", "there is no scope `other`"),
            ("--extract=w=nowhere/x", "nowhere/x: No such file"),
        ],
    )
    def test_refusals(self, archive: str, flag: str, message: str):
        assert message in refused("dump-parameters", f"--parameters={archive}", flag)

    def test_damage(self, archive: str):
        Path("cut.irpa").write_bytes(Path(archive).read_bytes()[:0x120])
        assert "cannot load cut.irpa: " in refused("dump-parameters", "--parameters=cut.irpa")
        assert "pass --parameters=file.irpa" in refused("dump-parameters")
