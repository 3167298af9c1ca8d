"""The hal and stream dialects print what iree-opt reads, and read what iree-opt prints."""

import subprocess
import sys
from pathlib import Path

import pytest
from tiree.dialects import get_context, print_module, read_module
from tiree.dialects.hal import HAL, element_type_value
from tiree.dialects.stream import Stream
from xdsl.dialects.builtin import BFloat16Type, ComplexType, Float32Type, IntegerType, Signedness

SAMPLES = Path(__file__).parent / "samples"


def iree_opt(text: str) -> str:
    command = [str(Path(sys.executable).parent / "iree-opt"), "--mlir-print-op-generic", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.mlir")), ids=lambda path: path.stem)
def test_round_trip_is_the_same_for_iree(sample: Path) -> None:
    generic = iree_opt(sample.read_text())
    module = read_module(generic.encode(), get_context())
    module.verify()
    assert iree_opt(print_module(module, generic=True)) == generic


def test_samples_hold_every_operation() -> None:
    text = "".join(iree_opt(path.read_text()) for path in sorted(SAMPLES.glob("*.mlir")))
    missing = [op.name for dialect in (HAL, Stream) for op in dialect.operations if f'"{op.name}"(' not in text]
    assert missing == []


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (IntegerType(1), 0x13000008),
        (IntegerType(32), 0x10000020),
        (IntegerType(8, Signedness.UNSIGNED), 0x12000008),
        (IntegerType(64, Signedness.SIGNED), 0x11000040),
        (Float32Type(), 0x21000020),
        (BFloat16Type(), 0x22000010),
        (ComplexType(Float32Type()), 0x23000040),
    ],
)
def test_element_types(type, value: int) -> None:
    assert element_type_value(type) == value
