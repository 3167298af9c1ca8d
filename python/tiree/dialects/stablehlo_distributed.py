"""StableHLO ops between devices, hosts and streams, and the random number generators.

None of them is lowered yet; they are declared so that a program that uses them is read and reported as a whole.
"""

from __future__ import annotations

from tiree.dialects.stablehlo_base import PureOp, StableHLOOp


# Random numbers.
class RngOp(StableHLOOp):
    name = "stablehlo.rng"
    PROPERTIES = ("rng_distribution",)


class RngBitGeneratorOp(PureOp):
    name = "stablehlo.rng_bit_generator"
    PROPERTIES = ("rng_algorithm",)


# Communication.
class AllGatherOp(StableHLOOp):
    name = "stablehlo.all_gather"
    PROPERTIES = ("all_gather_dim", "replica_groups", "channel_handle", "use_global_device_ids")


class AllReduceOp(StableHLOOp):
    name = "stablehlo.all_reduce"
    PROPERTIES = ("replica_groups", "channel_handle", "use_global_device_ids")


class AllToAllOp(StableHLOOp):
    name = "stablehlo.all_to_all"
    PROPERTIES = ("split_dimension", "concat_dimension", "split_count", "replica_groups", "channel_handle")


class CollectiveBroadcastOp(StableHLOOp):
    name = "stablehlo.collective_broadcast"
    PROPERTIES = ("replica_groups", "channel_handle", "has_dynamic_root")


class CollectivePermuteOp(StableHLOOp):
    name = "stablehlo.collective_permute"
    PROPERTIES = ("source_target_pairs", "channel_handle")


class CollectiveReduceOp(StableHLOOp):
    name = "stablehlo.collective_reduce"
    PROPERTIES = ("replica_groups", "channel_handle", "use_global_device_ids", "has_dynamic_root")


class CrossReplicaSumOp(StableHLOOp):
    name = "stablehlo.cross-replica-sum"
    PROPERTIES = ("replica_groups",)


class InfeedOp(StableHLOOp):
    name = "stablehlo.infeed"
    PROPERTIES = ("infeed_config", "layout")


class OutfeedOp(StableHLOOp):
    name = "stablehlo.outfeed"
    PROPERTIES = ("outfeed_config",)


class PartitionIdOp(StableHLOOp):
    name = "stablehlo.partition_id"


class RecvOp(StableHLOOp):
    name = "stablehlo.recv"
    PROPERTIES = ("channel_handle", "is_host_transfer", "source_target_pairs")


class ReduceScatterOp(StableHLOOp):
    name = "stablehlo.reduce_scatter"
    PROPERTIES = ("scatter_dimension", "replica_groups", "channel_handle", "use_global_device_ids")


class ReplicaIdOp(StableHLOOp):
    name = "stablehlo.replica_id"


class SendOp(StableHLOOp):
    name = "stablehlo.send"
    PROPERTIES = ("channel_handle", "is_host_transfer", "source_target_pairs")


class AsyncStartOp(StableHLOOp):
    name = "stablehlo.async_start"


class AsyncDoneOp(StableHLOOp):
    name = "stablehlo.async_done"
