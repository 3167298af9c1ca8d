"""Files that are written over by who may not change their folder or does not own them; owners, modes, other names."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from tiree.support.replacing import replace_file

NOBODY = 65534
# A number that is no owner's here.
SOMEBODY = 1234


def may_become_others() -> bool:
    """Whether this process is root with its rights, which containers may take away."""
    script = f"import os; os.setgroups([]); os.chown('.', -1, -1); os.setresuid({NOBODY}, {NOBODY}, {NOBODY})"
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    return subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0


AS_ROOT = pytest.mark.skipif(not may_become_others(), reason="needs root, who may become another user")


def save(path: Path, contents: bytes) -> None:
    rt.save_archive_file({"b": contents}, path)


def replace(path: Path, contents: bytes) -> None:
    replace_file(path, contents)


Write = Callable[[Path, bytes], None]
both = pytest.mark.parametrize("write", [save, replace])


def file_of(path: Path, owner: int, mode: int) -> Path:
    path.write_bytes(b"old")
    os.chown(path, owner, owner)
    path.chmod(mode)
    return path


def as_nobody(body: Callable[[], None]) -> str:
    """What `body` raises in a process of a user without rights, "" if nothing."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Of JAX, whose threads the child has no use for, where other tests have imported it.
        warnings.simplefilter("ignore", RuntimeWarning)
        child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            body()
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading, "rb") as answer:
        return answer.read().decode()


@pytest.fixture
def place() -> Generator[Path, None, None]:
    """A folder of root that others may enter, as those of pytest are not."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@AS_ROOT
@both
class TestFolders:
    def test_own_file_in_a_folder_of_others(self, place: Path, write: Write) -> None:
        path = file_of(place / "x", NOBODY, 0o644)
        before = path.stat()
        path.write_bytes(bytes(5000))
        assert as_nobody(lambda: write(path, b"1234")) == ""
        assert b"1234" in path.read_bytes()
        assert path.stat().st_size < 5000
        assert (path.stat().st_ino, path.stat().st_uid) == (before.st_ino, NOBODY)
        assert os.listdir(place) == ["x"]

    def test_file_of_others_in_a_sticky_folder(self, place: Path, write: Write) -> None:
        place.chmod(0o1777)
        path = file_of(place / "x", 0, 0o666)
        path.write_bytes(bytes(5000))
        assert as_nobody(lambda: write(path, b"1234")) == ""
        assert b"1234" in path.read_bytes()
        assert path.stat().st_size < 5000
        assert path.stat().st_uid == 0
        assert os.listdir(place) == ["x"]

    def test_file_that_may_not_be_written(self, place: Path, write: Write) -> None:
        path = file_of(place / "x", NOBODY, 0o444)
        error = as_nobody(lambda: write(path, b"1234"))
        assert "Permission denied" in error
        assert "folder" not in error
        assert path.read_bytes() == b"old"

    def test_new_file(self, place: Path, write: Write) -> None:
        error = as_nobody(lambda: write(place / "x", b"1234"))
        assert f"(by the folder {place})" in error
        assert os.listdir(place) == []

    @pytest.mark.parametrize("mode", [0o755, 0o1777])
    def test_mapped_file(self, place: Path, write: Write, mode: int) -> None:
        place.chmod(mode)
        path = file_of(place / "x", 0, 0o666)
        path.write_bytes(bytes(5000))

        def body() -> None:
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
                write(path, b"1234")

        error = as_nobody(body)
        assert f"by the folder {place}, and" in error
        assert "mapped" in error
        assert path.read_bytes() == bytes(5000)
        assert os.listdir(place) == ["x"]


@AS_ROOT
@both
class TestOwners:
    def test_owner_and_group_stay(self, place: Path, write: Write) -> None:
        path = file_of(place / "x", SOMEBODY, 0o640)
        inode = path.stat().st_ino
        write(path, b"1234")
        status = path.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (SOMEBODY, SOMEBODY, 0o640)
        assert status.st_ino != inode

    def test_new_contents_do_not_run_as_the_owner(self, place: Path, write: Write) -> None:
        path = file_of(place / "x", NOBODY, 0o6755)
        write(path, b"1234")
        assert path.stat().st_mode & 0o7777 == 0o755

    def test_file_of_others_in_an_own_folder(self, place: Path, write: Write) -> None:
        os.chown(place, NOBODY, NOBODY)
        path = file_of(place / "x", 0, 0o4777)
        assert as_nobody(lambda: write(path, b"1234")) == ""
        assert b"1234" in path.read_bytes()
        assert path.stat().st_mode & 0o7777 == 0o777


@both
class TestOtherNames:
    def test_they_stay(self, tmp_path: Path, write: Write) -> None:
        (tmp_path / "x").write_bytes(bytes(5000))
        os.link(tmp_path / "x", tmp_path / "y")
        write(tmp_path / "x", b"1234")
        assert os.path.samefile(tmp_path / "x", tmp_path / "y")
        assert b"1234" in (tmp_path / "y").read_bytes()
        assert (tmp_path / "y").stat().st_size < 5000

    def test_a_mapped_file_keeps_its_contents(self, tmp_path: Path, write: Write) -> None:
        """Under its other names, and for who has mapped it."""
        (tmp_path / "x").write_bytes(b"old" * 2000)
        os.link(tmp_path / "x", tmp_path / "y")
        mapped = np.memmap(tmp_path / "y", np.uint8, "r")
        write(tmp_path / "x", b"1234")
        assert b"1234" in (tmp_path / "x").read_bytes()
        assert (tmp_path / "y").read_bytes() == bytes(mapped) == b"old" * 2000


class TestErrors:
    def test_nothing_written_in_place_changes_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"old")
        os.link(tmp_path / "x", tmp_path / "y")
        with pytest.raises(TypeError):
            replace_file(tmp_path / "x", "text")  # type: ignore[arg-type]
        assert (tmp_path / "y").read_bytes() == b"old"

    def test_an_index_at_an_offset_of_a_file_with_other_names(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"old" * 2000)
        os.link(tmp_path / "x", tmp_path / "y")
        index = rt.ParameterIndex()
        index.add_buffer("k", b"1234")
        index.create_archive_file(str(tmp_path / "x"), 4096)
        contents = (tmp_path / "y").read_bytes()
        assert contents[:4096] == (b"old" * 2000)[:4096]
        assert contents[4096:4100] == b"IRPA"
