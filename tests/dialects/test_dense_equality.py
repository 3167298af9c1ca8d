"""Constants are equal when all their bytes are; of large ones parts are hashed."""

from __future__ import annotations

import pytest
from tiree.dialects.dense import DenseAttr
from xdsl.dialects.builtin import TensorType, i8


def constant(data: bytes) -> DenseAttr:
    return DenseAttr.from_buffer(TensorType(i8, [len(data)]), data)


@pytest.mark.parametrize("size", [8, 4096, 65_536, 65_537, 1_000_003])
@pytest.mark.parametrize("place", [0.0, 0.013, 0.5, 0.77, 1.0])
def test_one_byte_makes_a_difference(size: int, place: float) -> None:
    data = bytearray(size)
    one, same = constant(bytes(data)), constant(bytes(data))
    data[int(place * (size - 1))] = 1
    other = constant(bytes(data))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert len({one, same, other}) == 2
