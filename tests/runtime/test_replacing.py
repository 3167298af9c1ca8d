"""Files that are written over: what is loaded from them stays, errors leave them alone, pipes and links work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from runtime.modules import ADD, tiree_module
from tiree.support.replacing import replace_file

W = np.arange(50_000, dtype=np.float32)


def archive(path: Path) -> Path:
    rt.save_archive_file({"w": W, "b": np.ones(3, np.int8)}, path)
    return path


def loaded(path: Path) -> rt.ParameterIndex:
    index = rt.ParameterIndex()
    index.load(str(path))
    return index


def run(tool: str, *flags: str, **settings: object) -> subprocess.CompletedProcess[bytes]:
    """In a process of its own, as reading a cut file ends one."""
    command = [sys.executable, "-m", f"tiree.tools.{tool}", *flags]
    return subprocess.run(command, capture_output=True, check=False, **settings)  # type: ignore[call-overload]


class TestArchives:
    def test_a_file_is_converted_onto_itself(self, tmp_path: Path) -> None:
        path = archive(tmp_path / "x.irpa")
        done = run("convert_parameters", f"--parameters={path}", f"--output={path}", "--exclude=b")
        assert done.returncode == 0, done.stderr
        (key, entry), *others = loaded(path).items()
        assert (key, others) == ("w", [])
        np.testing.assert_array_equal(np.frombuffer(entry.file_view, np.float32), W)
        assert os.listdir(tmp_path) == ["x.irpa"]

    @pytest.mark.parametrize("offset", [0, 4096])
    def test_an_index_is_written_onto_its_file(self, tmp_path: Path, offset: int) -> None:
        path = archive(tmp_path / "x.irpa")
        index, old = loaded(path), path.read_bytes()
        script = (
            "import sys, tiree.runtime as rt; index = rt.ParameterIndex(); index.load(sys.argv[1]);"
            "index.create_archive_file(sys.argv[1], int(sys.argv[2]))"
        )
        done = subprocess.run([sys.executable, "-c", script, path, str(offset)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        new = path.read_bytes()
        assert new[:offset] == old[:offset]
        assert new[offset : offset + 4] == b"IRPA"
        assert W.tobytes() in new[offset:]
        np.testing.assert_array_equal(np.frombuffer(index[0].file_view, np.float32), W)
        assert os.listdir(tmp_path) == ["x.irpa"]

    def test_an_entry_is_extracted_onto_its_file(self, tmp_path: Path) -> None:
        path = archive(tmp_path / "x.irpa")
        done = run("dump_parameters", f"--parameters={path}", f"--extract=w={path}")
        assert done.returncode == 0, done.stderr
        assert path.read_bytes() == W.tobytes()

    def test_an_error_leaves_the_file(self, tmp_path: Path) -> None:
        """The limit on the size of files stands for a full disk."""
        path = archive(tmp_path / "x.irpa")
        old = path.read_bytes()
        script = (
            "import resource, signal, sys, tiree.runtime as rt; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
            "rt.save_archive_file({'w': bytes(10000)}, sys.argv[1])"
        )
        done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, check=False)
        assert b"OSError: " in done.stderr
        assert path.read_bytes() == old
        assert os.listdir(tmp_path) == ["x.irpa"]

    @pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1"])
    def test_into_a_pipe(self, tmp_path: Path, path: str) -> None:
        wanted = archive(tmp_path / "x.irpa").read_bytes()
        done = run("convert_parameters", f"--parameters={tmp_path}/x.irpa", f"--output={path}", "--quiet")
        assert done.returncode == 0, done.stderr
        assert done.stdout == wanted

    def test_links_and_permissions_stay(self, tmp_path: Path) -> None:
        path = archive(tmp_path / "x.irpa")
        path.chmod(0o640)
        (tmp_path / "link").symlink_to("x.irpa")
        rt.save_archive_file({"b": b"1234"}, tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert [key for key, _ in loaded(path).items()] == ["b"]
        assert path.stat().st_mode & 0o777 == 0o640


def save(contents: bytes, path: Path | str) -> None:
    rt.save_archive_file({"b": contents}, path)


def replace(contents: bytes, path: Path | str) -> None:
    replace_file(path, contents)


@pytest.mark.parametrize("write", [save, replace])
class TestLinks:
    """Nothing here is run on links in `/dev` that could be replaced: the folders are those of a test."""

    def test_links_to_nothing_stay(self, tmp_path: Path, write: Callable[[bytes, Path], None]) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "second").symlink_to("folder/new")
        (tmp_path / "first").symlink_to(tmp_path / "second")
        write(b"1234", tmp_path / "first")
        assert b"1234" in (tmp_path / "folder/new").read_bytes()
        assert (tmp_path / "first").is_symlink()
        assert (tmp_path / "second").is_symlink()
        assert os.listdir(tmp_path / "folder") == ["new"]

    def test_links_that_lead_nowhere(self, tmp_path: Path, write: Callable[[bytes, Path], None]) -> None:
        (tmp_path / "nowhere").symlink_to("absent/new")
        (tmp_path / "circle").symlink_to("circle")
        for name in ("nowhere", "circle", "absent/new", ""):
            with pytest.raises(OSError, match=r"No such file|[Tt]oo many"):
                write(b"1234", tmp_path / name if name else "")
        assert sorted(os.listdir(tmp_path)) == ["circle", "nowhere"]

    def test_closed_streams_stay_links(self, tmp_path: Path, write: Callable[[bytes, Path], None]) -> None:
        """A link to a stream, as `/dev/stdout` is, while it is closed; and through folders of other names."""
        (tmp_path / "stdout").symlink_to("/proc/self/fd/987")
        (tmp_path / "fd").symlink_to("/proc/self/fd")
        for name in ("stdout", "fd/987", os.path.relpath("/proc/self/fd/987", tmp_path)):
            with pytest.raises(OSError, match="No such file"):
                write(b"1234", tmp_path / name)
        assert os.readlink(tmp_path / "stdout") == "/proc/self/fd/987"
        assert sorted(os.listdir(tmp_path)) == ["fd", "stdout"]

    def test_open_streams_are_written(self, tmp_path: Path, write: Callable[[bytes, Path], None]) -> None:
        """Also one that a file is at the end of: who gave the stream finds the bytes there."""
        with open(tmp_path / "x", "w+b") as file:
            (tmp_path / "stream").symlink_to(f"/proc/self/fd/{file.fileno()}")
            write(b"1234", tmp_path / "stream")
            assert b"1234" in file.read()
        assert sorted(os.listdir(tmp_path)) == ["stream", "x"]

    def test_devices_are_written(self, tmp_path: Path, write: Callable[[bytes, Path], None]) -> None:
        (tmp_path / "dev").symlink_to("/dev")
        with contextlib.suppress(ValueError):  # Once written, it cannot be loaded.
            write(b"1234", tmp_path / "dev/null")
        assert Path("/dev/null").is_char_device()

    def test_memory_files_are_replaced(self, write: Callable[[bytes, Path], None]) -> None:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            path = Path(folder) / "x"
            path.write_bytes(b"old")
            with open(path, "rb") as old:
                write(b"1234", path)
                assert old.read() == b"old"
            assert b"1234" in path.read_bytes()


class TestModules:
    @pytest.mark.parametrize("write", [tiree.CompiledModule.save, lambda module, path: replace_file(path, module)])
    def test_a_loaded_file_is_written_over(self, tmp_path: Path, write: Callable[[bytes, Path], None]) -> None:
        path = tmp_path / "x.vmfb"
        write(tiree.CompiledModule(tiree_module(ADD)), path)
        module = rt.load(str(path), "local-sync")
        write(tiree.CompiledModule(b"x"), path)
        ones = np.ones(4, np.float32)
        np.testing.assert_array_equal(np.asarray(module.add(ones, ones)), ones * 2)
        assert path.read_bytes() == b"x"
        assert os.listdir(tmp_path) == ["x.vmfb"]

    def test_an_error_leaves_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(b"old")
        with pytest.raises(TypeError):
            replace_file(path, "text")  # type: ignore[arg-type]
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["x"]
        with pytest.raises(OSError, match="nowhere/x") as caught:
            replace_file(tmp_path / "nowhere/x", b"")
        assert caught.value.filename == str(tmp_path / "nowhere/x")

    def test_into_a_pipe(self, tmp_path: Path) -> None:
        (tmp_path / "add.mlir").write_text(ADD)
        flags = ["add.mlir", "--iree-llvmcpu-target-cpu=generic", "-o"]
        direct, piped = (run("compile", *flags, path, cwd=tmp_path) for path in ("-", "/dev/stdout"))
        assert (direct.returncode, piped.returncode) == (0, 0)
        assert direct.stdout == piped.stdout


HALF = """
with replacing(sys.argv[1]) as file:
    file.write(bytes(100_000))
    print("half", flush=True)
    time.sleep(60)
"""
BEGIN = "import os, signal, sys, time, tiree.runtime as rt\nfrom tiree.support.replacing import replacing\n"
# As on file systems that have no files without a name.
NAMED = "del os.O_TMPFILE\n"
NATIVE = """
index = rt.ParameterIndex()
index.load(sys.argv[2])
print("half", flush=True)
index.create_archive_file(sys.argv[1])
"""


def is_written(process: subprocess.Popen[str], folder: Path) -> bool:
    """Whether the process has a second file open in the folder."""
    with contextlib.suppress(OSError):
        links = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{process.pid}/fd")]
        return any(link.startswith(str(folder)) and not link.endswith(("big.irpa", "/x")) for link in links)
    return False


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are those of Linux")
class TestEndedBySignals:
    """Nothing stays beside the file, and the process ends as it would have."""

    def ended(self, script: str, number: int, folder: Path, *more: str) -> None:
        (folder / "x").write_bytes(b"old")
        before = sorted(os.listdir(folder))
        words = [sys.executable, "-c", BEGIN + script, str(folder / "x"), *more]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "half\n"
            while not is_written(process, folder):
                assert process.poll() is None
            process.send_signal(number)
            assert process.wait(20) == -number
        assert sorted(os.listdir(folder)) == before
        assert (folder / "x").read_bytes() == b"old"

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
    def test_in_python(self, number: int, tmp_path: Path) -> None:
        self.ended(HALF, number, tmp_path)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_with_a_name(self, number: int, tmp_path: Path) -> None:
        self.ended(NAMED + HALF, number, tmp_path)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
    def test_natively(self, number: int, tmp_path: Path) -> None:
        big = tmp_path / "big.irpa"
        rt.save_archive_file({"w": np.zeros(200_000_000, np.int8)}, big)
        self.ended(NATIVE, number, tmp_path, str(big))

    def test_handlers_of_the_program_stay(self, tmp_path: Path) -> None:
        script = """
signal.signal(signal.SIGTERM, lambda *_: print("mine"))
signal.signal(signal.SIGHUP, signal.SIG_IGN)
before = signal.getsignal(signal.SIGTERM)
with replacing(sys.argv[1]) as file:
    file.write(b"new")
    os.kill(os.getpid(), signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGTERM)
assert signal.getsignal(signal.SIGTERM) is before and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
"""
        words = [sys.executable, "-c", BEGIN + NAMED + script, str(tmp_path / "x")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")
        assert (tmp_path / "x").read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["x"]
