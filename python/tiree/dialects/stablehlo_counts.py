"""How many operands, results and regions StableHLO ops have, where all ops of a name have the same.

Each entry is (operands, results, regions); a count is a number, or a pair of the least and the most.
"""

from __future__ import annotations

_MANY = 1 << 30
Count = int | tuple[int, int]
Counts = tuple[Count, Count, Count]

UNARY: Counts = (1, 1, 0)
BINARY: Counts = (2, 1, 0)
_TERNARY: Counts = (3, 1, 0)
_CONSTANT: Counts = (0, 1, 0)

COUNTS: dict[str, Counts] = {
    **dict.fromkeys(
        ("chlo.constant", "constant", "create_token", "iota", "partition_id", "replica_id"), _CONSTANT
    ),
    **dict.fromkeys(
        ("bitcast_convert", "broadcast", "broadcast_in_dim", "chlo.constant_like", "cholesky",
         "collective_permute", "cross-replica-sum", "dynamic_iota", "fft", "get_dimension_size", "get_tuple_element",
         "reshape", "reverse", "slice", "transpose", "unary_einsum"),
        UNARY,
    ),
    **dict.fromkeys(
        ("convolution", "dot", "dot_general", "dynamic_broadcast_in_dim", "dynamic_reshape", "einsum", "gather", "pad",
         "set_dimension_size", "torch_index_select", "triangular_solve"),
        BINARY,
    ),
    **dict.fromkeys(
        ("chlo.broadcast_select", "chlo.ragged_dot", "clamp", "dynamic_conv", "dynamic_gather", "rng", "select"),
        _TERNARY,
    ),
    "rng_bit_generator": (1, 2, 0),
    "chlo.top_k": (1, 2, 0),
    "all_gather": ((1, _MANY), (1, _MANY), 0),
    "all_reduce": ((1, _MANY), (1, _MANY), 1),
    "all_to_all": ((1, _MANY), (1, _MANY), 0),
    "collective_broadcast": ((1, _MANY), (1, _MANY), 0),
    "reduce_scatter": (1, 1, 1),
    "async_start": ((0, _MANY), 1, (0, 1)),
    "async_done": (1, (0, _MANY), 0),
    "real_dynamic_slice": (4, 1, 0),
    "dynamic_pad": (5, 1, 0),
    "batch_norm_inference": (5, 1, 0),
    "batch_norm_grad": (5, 3, 0),
    "batch_norm_training": (3, 3, 0),
    "concatenate": ((1, _MANY), 1, 0),
    "dynamic_slice": ((1, _MANY), 1, 0),
    "dynamic_update_slice": ((2, _MANY), 1, 0),
    "select_and_scatter": (3, 1, 2),
    "map": ((1, _MANY), 1, 1),
    "sort": ((1, _MANY), (1, _MANY), 1),
    "reduce": ((2, _MANY), (1, _MANY), 1),
    "reduce_window": ((2, _MANY), (1, _MANY), 1),
    "scatter": ((3, _MANY), (1, _MANY), 1),
    "if": (1, (0, _MANY), 2),
    "case": (1, (0, _MANY), (1, _MANY)),
    "while": ((0, _MANY), (0, _MANY), 2),
}  # fmt: skip

ONE_EACH = frozenset(f"stablehlo.{name}" for name in ("all_gather", "all_reduce", "all_to_all", "optimization_barrier"))
"""Ops with a result for each operand."""


def wrong_count(counts: Counts, have: tuple[int, int, int]) -> str:
    """What is wrong with an op of `have` operands, results and regions; empty when nothing is."""
    for what, number, count in zip(("operand", "result", "region"), have, counts, strict=True):
        least, most = (count, count) if isinstance(count, int) else count
        if not least <= number <= most:
            need = str(least) if least == most else f"at least {least}"
            return f"it has {number} {what}{'' if number == 1 else 's'}, needs {need}"
    return ""
