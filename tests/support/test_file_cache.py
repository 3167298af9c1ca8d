"""A folder of results: whole entries or none, the oldest go first, and any number of processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiree.support.file_cache import FileCache

KEYS = [f"{number:02x}" * 16 for number in range(8)]


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_is_put_is_found(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path / "new/folder"), 1 << 20)
    assert cache.get(KEYS[0]) is None
    cache.put(KEYS[0], [b"ab", memoryview(b"cdef")[1:], b""])
    assert cache.get(KEYS[0]) == b"abdef"
    cache.put(KEYS[0], [b"other"])
    assert cache.get(KEYS[0]) == b"other"
    assert cache.get(KEYS[1]) is None
    cache.put(KEYS[1], [])
    assert cache.get(KEYS[1]) == b""


@pytest.mark.parametrize("how", ["cut", "flipped", "longer", "empty", "other"])
def test_a_damaged_entry_is_none_and_goes(tmp_path: Path, how: str) -> None:
    cache = FileCache(str(tmp_path), 1 << 20)
    cache.put(KEYS[0], [bytes(range(256)) * 10])
    (path,) = entries(tmp_path)
    data = bytearray(path.read_bytes())
    if how == "flipped":
        data[len(data) // 2] ^= 1
    changed = {"cut": data[:-1], "flipped": data, "longer": data + b"\0", "empty": b"", "other": b"x" * 100}[how]
    path.write_bytes(bytes(changed))
    assert cache.get(KEYS[0]) is None
    assert entries(tmp_path) == []


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path), 5000)
    for number, key in enumerate(KEYS[:4]):
        cache.put(key, [bytes(1000)])
        os.utime(cache._path(key), (1000 + number, 1000 + number))
    assert cache.get(KEYS[0]) is not None  # used now
    cache.put(KEYS[4], [bytes(1000)])
    assert [cache.get(key) is not None for key in KEYS[:5]] == [True, False, True, True, True]
    cache.put(KEYS[5], [bytes(6000)])
    assert cache.get(KEYS[5]) is None
    assert sum(path.stat().st_size for path in entries(tmp_path)) <= 5000


def test_what_others_left_behind_goes(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path), 1000)
    old, new = tmp_path / "00/new-old.tmp", tmp_path / "00/new-new.tmp"
    old.parent.mkdir()
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    cache.put(KEYS[0], [b"x"])
    assert not old.exists()
    assert new.exists()


def test_files_of_others_stay(tmp_path: Path) -> None:
    """A user may name a folder that holds more than the cache."""
    names = (
        "notes.tmp",
        "a.entry",
        "00/notes.tmp",
        "00/notes.entry",
        "work/new-a.tmp",
        "work/abc.entry",
        "AB/12.entry",
    )
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(2000))
        os.utime(path, (1, 1))
    cache = FileCache(str(tmp_path), 1500)
    for key in KEYS[:3]:
        cache.put(key, [bytes(1000)])
    assert [cache.get(key) is not None for key in KEYS[:3]] == [False, False, True]
    assert all((tmp_path / name).exists() for name in names)


def test_an_error_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def pieces():
        yield b"first"
        raise ZeroDivisionError

    cache = FileCache(str(tmp_path), 1000)
    with pytest.raises(ZeroDivisionError):
        cache.put(KEYS[0], pieces())
    assert entries(tmp_path) == []


HAMMER = """
import random, sys
from tiree.support.file_cache import FileCache
folder, seed = sys.argv[1], int(sys.argv[2])
cache, rng = FileCache(folder, 40_000), random.Random(seed)
hits = 0
for _ in range(150):
    number = rng.randrange(12)
    key, value = f"{number:02x}" * 16, bytes([number]) * (1000 + 700 * number)
    found = cache.get(key)
    assert found in (None, value), (number, len(found))
    hits += found is not None
    if found is None:
        cache.put(key, [value[:500], value[500:]])
print(hits)
"""


def test_many_processes(tmp_path: Path) -> None:
    """Four read, write and evict the same entries: nobody ever sees another value, or an error."""
    command = [sys.executable, "-c", HAMMER, str(tmp_path)]
    running = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True) for seed in range(4)]
    hits = [int(process.communicate(timeout=120)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0, 0]
    assert all(hits)
    assert [path for path in entries(tmp_path) if path.suffix == ".tmp"] == []
    assert sum(path.stat().st_size for path in entries(tmp_path)) <= 80_000
