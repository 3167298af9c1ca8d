"""tiree-new: every skeleton passes its own test, in good style and with strict types, under any name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tiree.support.errors import CompileError
from tiree.tools.new import KINDS, SKELETONS, skeleton
from tools.runtime_tool import ours

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"pass": "undo", "dialect": "my-ops", "kernel": "quick_tanh", "backend": "listing", "format": "scales"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one plugin of each kind."""
    made = tmp_path_factory.mktemp("new")
    for kind in KINDS:
        done = ours("new", kind, NAMES[kind], f"--folder={made}")
        assert done.code == 0, done.err
    return made


def check(folder: Path, *command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_skeleton_of_each_kind() -> None:
    assert sorted(path.name for path in Path(SKELETONS).iterdir()) == sorted(
        f"{kind}{part}.py.in" for kind in KINDS for part in ("", "_test")
    )


def test_their_tests_pass(folder: Path) -> None:
    check(folder, "pytest", "-q", "-W", "error")
    assert len(list(folder.glob("test_*.py"))) == len(KINDS)


def test_their_style_is_the_one_of_the_repository(folder: Path) -> None:
    config = str(ROOT / "pyproject.toml")
    check(folder, "ruff", "check", "--config", config, ".")
    check(folder, "ruff", "format", "--check", "--config", config, ".")


def test_their_types_are_strict(folder: Path) -> None:
    pytest.importorskip("pyright", reason="the type checker is a development dependency")
    import tiree

    settings = {
        "typeCheckingMode": "strict",
        "extraPaths": [str(Path(tiree.__file__).parents[1])],
        "exclude": ["test_*"],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    check(folder, "pyright", "--pythonpath", sys.executable)


def test_names() -> None:
    for name in ("two-words", "two_words"):
        files = skeleton("pass", name)
        assert list(files) == ["two_words.py", "test_two_words.py"]
        assert "class TwoWords(ModulePass)" in files["two_words.py"]
        assert 'name = "two-words"' in files["two_words.py"]
        assert not any("plugin.py" in text.replace("two_words.py", "") for text in files.values())
    for name in ("3d", "Drop", "a.b", "class", "", "../x"):
        with pytest.raises(CompileError, match="cannot be a plugin's name"):
            skeleton("pass", name)


def test_what_is_wrong_is_told(folder: Path) -> None:
    assert "undo.py exists already" in ours("new", "pass", "undo", f"--folder={folder}").err
    assert "no kind 'model'" in ours("new", "model", "x").err
    assert "a kind and a name are needed" in ours("new", "pass").err
    assert ours("new", "pass").code == 1
    text = ours("new", "--help").out
    assert all(kind in text for kind in KINDS)
    assert ours("new", "--version").out.startswith("Tiree version")
