"""Which groups the nodes of a block need, directly or not, while groups grow.

A node is a dispatch group or an op outside all groups. Every node has a bit set of the groups behind it, so that a
question is a few machine words. A new edge is passed on to the nodes that stand on its end, and to no others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class Dependencies:
    """The groups behind each node, by their numbers."""

    def __init__(self) -> None:
        self._behind: dict[Hashable, int] = {}
        """The groups that a node needs."""
        self._number: dict[Hashable, int] = {}
        """The number of the nodes that are groups."""
        self._users: dict[Hashable, dict[Hashable, None]] = {}

    def of(self, node: Hashable) -> int:
        """The groups that a user of `node` needs: those behind it, and `node` itself if it is one."""
        number = self._number.get(node)
        behind = self._behind.get(node, 0)
        return behind if number is None else behind | 1 << number

    def of_all(self, nodes: Iterable[Hashable]) -> int:
        bits = 0
        for node in nodes:
            bits |= self.of(node)
        return bits

    def needs(self, node: Hashable, number: int) -> bool:
        """Whether `node` needs group `number`; a group does not need itself."""
        return bool(self._behind.get(node, 0) >> number & 1)

    def add(self, node: Hashable, sources: Iterable[Hashable], number: int | None = None) -> None:
        """Makes `node` (group `number`, if it is one) a user of `sources`."""
        if number is not None:
            self._number[node] = number
        bits = 0
        for source in sources:
            self._users.setdefault(source, {})[node] = None
            bits |= self.of(source)
        self._pass_on(node, bits)

    def _pass_on(self, node: Hashable, bits: int) -> None:
        pending = [(node, bits)]
        while pending:
            node, bits = pending.pop()
            known = self._behind.get(node, 0)
            if bits & ~known:
                self._behind[node] = known | bits
                pending += [(user, bits) for user in self._users.get(node, ())]
