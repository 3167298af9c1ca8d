"""Generated pages are what the code makes today."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    "script", ["life_of_a_program", "artifact_bytes", "reference/compiler_flags", "reference/onnx"]
)
def test_generated_pages_are_fresh(script: str) -> None:
    path = DOCS / f"{script}.py"
    done = subprocess.run([sys.executable, str(path), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"python {path} writes it\n{done.stdout}{done.stderr}"
