"""Parallel copies: executed one by one they must have the effect of all at once."""

from hypothesis import given
from hypothesis import strategies as st
from tiree.vm.registers import parallel_copy

registers = st.integers(0, 12)


@given(st.dictionaries(registers, registers, max_size=12))
def test_sequential_copies_equal_the_parallel_ones(target_to_source: dict[int, int]) -> None:
    pairs = [(s, t) for t, s in target_to_source.items()]
    state = {n: f"old{n}" for n in range(13)}
    expected = dict(state)
    expected.update({t: state[s] for s, t in pairs})

    copies, cyclic = parallel_copy(pairs, None)
    if cyclic:
        copies, _ = parallel_copy(pairs, 99)
    for source, target in copies:
        state[target] = state[source]

    state.pop(99, None)
    assert state == expected


def test_swap_needs_the_scratch_register() -> None:
    assert parallel_copy([(0, 1), (1, 0)], None) == ([], True)
    copies, _ = parallel_copy([(0, 1), (1, 0)], 7)
    assert len(copies) == 3
