"""IREE's VM agrees with the values that the Rust VM is tested against (rust/vm/tests/data/cases.txt)."""

import math
import struct
import subprocess
import sysconfig
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "rust" / "vm" / "tests" / "data"
TOOL = Path(sysconfig.get_path("scripts")) / "iree-run-module"

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="iree-base-runtime is not installed")

CASES = [
    line.split("->")
    for line in (DATA / "cases.txt").read_text().splitlines()
    if line and not line.startswith(("#", "~"))
]


def same(kind: str, have: str, want: str) -> bool:
    """Whether two printed numbers are one; floats as the printer rounds them (6 digits after the point)."""
    if kind in ("i32", "i64"):
        return int(have) == int(want)
    a, b = float(have), float(want)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    signs = struct.pack("d", a)[7] & 0x80 == struct.pack("d", b)[7] & 0x80
    return signs and (a == b or math.isclose(a, b, rel_tol=1e-5))


@pytest.mark.parametrize(("call", "expected"), CASES, ids=[call.strip() for call, _ in CASES])
def test_case(call: str, expected: str):
    module, function, *args = call.split()
    command = [TOOL, f"--module={DATA / module}.vmfb", f"--function={function}"]
    done = subprocess.run(
        [*command, *(f"--input={arg.split('=')[1]}" for arg in args)], capture_output=True, text=True, check=False
    )
    if expected.strip().startswith("!"):
        code = expected.strip().removeprefix("!").strip()
        assert done.returncode == 1, done.stdout
        assert f" {code};" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    have = [line.partition(": ")[2] for line in done.stdout.splitlines() if line.startswith("result[")]
    want = expected.split()
    assert len(have) == len(want), done.stdout
    for a, b in zip(have, want, strict=True):
        (kind, number), (want_kind, want_number) = a.split("="), b.split("=")
        assert kind == want_kind
        assert same(kind, number, want_number), f"{a} is not {b}"
