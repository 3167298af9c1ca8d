"""Generated pages are what the code makes today."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_life_of_a_program_is_fresh() -> None:
    script = ROOT / "docs" / "life_of_a_program.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_of_flags_is_fresh() -> None:
    script = ROOT / "docs" / "reference" / "compiler_flags.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"python {script} writes it"


def test_the_list_of_onnx_operators_is_fresh() -> None:
    script = ROOT / "docs" / "reference" / "onnx.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"python {script} writes it"
