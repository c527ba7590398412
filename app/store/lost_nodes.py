"""The nodes of a cluster that cannot be reached."""

import time
from collections.abc import Callable

# Seconds between two tries of a lost node. Each try holds a connection while it waits.
RETRY = 2.0

# Seconds after the last try in which a node is still held to be lost. Nobody may ask for it again:
# it may have left the cluster.
FORGET = 60.0


class LostNodes:
    """The lost nodes, each by the number of its group, and when each was last tried.

    Whoever waits for a lost node holds a connection. If all agents of that node waited, no
    connection would be left for the agents of other nodes.
    """

    def __init__(self, read_clock: Callable[[], float] = time.monotonic) -> None:
        self._read_clock = read_clock
        self._tried: dict[int, float] = {}

    def has_any(self) -> bool:
        """Return whether a node is lost."""
        if self._tried:
            forgotten = self._read_clock() - FORGET
            self._tried = {node: at for node, at in self._tried.items() if at > forgotten}
        return bool(self._tried)

    def note_loss(self, node: int) -> None:
        """Let nobody try the node for a while."""
        self._tried[node] = self._read_clock()

    def note_answer(self, node: int) -> None:
        """Let everybody use the node again."""
        self._tried.pop(node, None)

    def may_try(self, node: int) -> bool:
        """Return True if the node is not lost, and for one caller after each while."""
        tried = self._tried.get(node)
        if tried is None:
            return True
        if self._read_clock() < tried + RETRY:
            return False
        self.note_loss(node)
        return True
