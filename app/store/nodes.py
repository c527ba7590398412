"""Where the rows of each agent lie on a Citus cluster, and how a read goes there directly.

Through the coordinator, each statement is planned twice, there and on the node, every time. A node
is a plain Postgres for a statement that names the parts of the tables that lie on it
(memories_102008): it plans the statement once in a session.

Nothing that is kept here is trusted: each read asks its node whether the rows still lie there.
"""

import asyncio
import logging
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psycopg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.store.placement import DISTRIBUTED, LOCAL, REFERENCE

# Seconds for which the places of all parts are believed. A node that was cut off from the cluster
# may not know that it was replaced, or that a part has moved.
BELIEVED_FOR = 10.0
# Seconds between two looks at the places, however many of them turn out to be wrong.
_LEAST_PAUSE = 1.0
# Agents whose part is kept. If there are more, they are looked up again.
_MOST_AGENTS = 50_000

# Seconds until a lost node is tried again. They double until it answers.
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 60.0

logger = logging.getLogger(__name__)

# --- statements ----------------------------------------------------------------------------------

# They read tables of agents themselves, by names that are those of the whole cluster.
FUNCTIONS_OF_TABLES = (
    "attach_index_table",
    "choose_words",
    "claim_encoder",
    "count_indexed_by_words",
    "create_index_table",
    "drop_every_index_table",
    "find_indexed_by_words",
    "find_indexed_of_category",
    "find_nearest_indexed",
    "move_incoming",
    "operations_on",
    "refresh_statistics",
    "refresh_text_statistics",
    "set_vector_storage",
)

_TABLES = "|".join((*DISTRIBUTED, *REFERENCE, *LOCAL))
# The word after a table is its alias, unless it is a keyword, which we write in capitals.
_READ_TABLE = re.compile(rf"\b(FROM|JOIN)(\s+)({_TABLES})\b(\s+AS\b|\s+[a-z_])?")
# A table that is not read, such as that of an INSERT, or one before which no FROM stands.
_OTHER_TABLE = re.compile(rf"(?<!AS )(?<!%\()(?<![:.'\"])\b({_TABLES})\b(?!\.)")
_CALL = re.compile(rf"\b({'|'.join(FUNCTIONS_OF_TABLES)})\(")
_CHANGE = re.compile(r"(?<!')\b(INSERT|UPDATE|DELETE|MERGE|LOCK|SHARE)\b(?!')")

# The names of the parts of tables, by the names of the tables.
Names = tuple[tuple[str, str], ...]


def name_parts(statement: str, names: Names) -> str | None:
    """Return a read with the names of parts for those of tables.

    Return None for a statement that a node cannot run alone. Locks count as changes.
    """
    if _CHANGE.search(statement) or _CALL.search(statement):
        return None
    parts = dict(names)

    def name_part(read: re.Match[str]) -> str:
        keyword, space, table, alias = read.groups()
        part = parts.get(table, table)
        return f"{keyword}{space}{part}{alias or f' AS {table}'}"

    if any(read[3] not in parts for read in _READ_TABLE.finditer(statement)):
        return None
    if _OTHER_TABLE.search(_READ_TABLE.sub("", statement)):
        return None
    return _READ_TABLE.sub(name_part, statement)


# --- places --------------------------------------------------------------------------------------

# Ask the coordinator: run a statement, and return its rows.
Ask = Callable[[str, Mapping[str, Any]], Awaitable[list[dict[str, Any]]]]

# List the parts of the tables that lie together with those of `memories`, and where they lie. A
# table of which each node has a copy has no range.
_LIST_PARTS = """
    SELECT
        c.relname AS table,
        s.shardminvalue AS range,
        s.shardid AS part,
        shard_name(s.logicalrelid, s.shardid) AS name,
        node.nodename AS host,
        node.nodeport AS port
    FROM pg_dist_shard AS s
    JOIN pg_class AS c ON c.oid = s.logicalrelid
    JOIN pg_dist_partition AS t USING (logicalrelid)
    JOIN pg_dist_partition AS m ON m.logicalrelid = CAST('memories' AS regclass)
    JOIN pg_dist_placement AS place USING (shardid)
    JOIN pg_dist_node AS node USING (groupid)
    WHERE (t.colocationid = m.colocationid OR t.repmodel = 't')
      AND node.noderole = 'primary'
      AND node.isactive
      AND node.metadatasynced
"""

_FIND_PART = """
    SELECT get_shard_id_for_distribution_column('memories', CAST(:agent AS text)) AS part
"""


class Address(NamedTuple):
    """Where a node is."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Part:
    """What lies together of all tables. `number` is that of the part of `memories`."""

    number: int
    address: Address
    names: Names


def build_parts(rows: list[dict[str, Any]]) -> dict[int, Part]:
    """Return the parts by their numbers, from the rows of _LIST_PARTS."""
    copied = {row["table"]: row["name"] for row in rows if row["range"] is None}
    by_range: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["range"] is not None:
            by_range[row["range"]].append(row)
    parts = {}
    for together in by_range.values():
        names = copied | {row["table"]: row["name"] for row in together}
        numbers = [row["part"] for row in together if row["table"] == "memories"]
        addresses = {Address(row["host"], row["port"]) for row in together}
        if len(numbers) == 1 and len(addresses) == 1:
            parts[numbers[0]] = Part(numbers[0], addresses.pop(), tuple(sorted(names.items())))
    return parts


# --- nodes ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Node:
    """A node, and whether this process reads there.

    It is tried in the background, so that no reader waits for it.
    """

    address: Address
    engine: AsyncEngine
    is_open: bool = False
    _pause: float = FIRST_PAUSE
    _next_try: float = 0.0
    _is_logged: bool = False
    _trial: asyncio.Task[None] | None = None

    def try_in_time(self) -> None:
        """Begin to log in, if it is time to try that again."""
        if self._trial is None and time.monotonic() >= self._next_try:
            self._trial = asyncio.create_task(self._try())

    async def _try(self) -> None:
        try:
            async with self.engine.connect():
                self.is_open = True
        except (psycopg.Error, sa.exc.SQLAlchemyError, OSError) as problem:
            self.refuse(_describe(problem), self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
        else:
            if self._is_logged:
                logger.info("node %s is read directly again", self.address)
            self._is_logged, self._pause = False, FIRST_PAUSE
        finally:
            self._trial = None

    def refuse(self, reason: str, pause: float) -> None:
        """Read nothing here for so many seconds. The coordinator answers meanwhile."""
        self.is_open = False
        self._next_try = time.monotonic() + pause
        if not self._is_logged:
            logger.warning("node %s is read through the coordinator: %s", self.address, reason)
        self._is_logged = True

    async def dispose(self) -> None:
        """End the sessions, and one that is about to begin."""
        if self._trial is not None:
            await asyncio.wait([self._trial])
        await self.engine.dispose()


def _describe(problem: Exception) -> str:
    cause = problem.orig if isinstance(problem, sa.exc.DBAPIError) else problem
    return (str(cause).splitlines() or [type(cause).__name__])[0]


@dataclass(slots=True)
class Route:
    """The way to an agent's rows at the time of a read."""

    nodes: "Nodes"
    node: Node
    part: Part

    def note_move(self) -> None:
        """Look up the places again: the part does not lie here any more."""
        self.nodes.note_move()

    def note_trouble(self, problem: psycopg.Error | sa.exc.DBAPIError) -> bool:
        """Return whether the coordinator may do better, and read here no more if it is the node."""
        cause = problem.orig if isinstance(problem, sa.exc.DBAPIError) else problem
        code = getattr(cause, "sqlstate", None) or ""
        is_silent = not code and isinstance(cause, psycopg.OperationalError)
        if is_silent or code.startswith(("08", "53", "57P")):
            self.node.refuse(_describe(problem), FIRST_PAUSE)
        elif code in _GONE:
            self.note_move()
        elif code.startswith(("28", "42")):
            self.node.refuse(_describe(problem), LONGEST_PAUSE)
        else:
            return False
        return True


# The part was dropped before the read, or under it.
_GONE = {"42P01", "XX000"}


@dataclass(slots=True)
class Nodes:
    """The nodes of the cluster that a pool is of, and where each agent lies."""

    open_engine: Callable[[Address], AsyncEngine]
    is_cluster: bool = False
    _nodes: dict[Address, Node] = field(default_factory=dict)
    _parts: dict[int, Part] = field(default_factory=dict)
    _numbers: dict[AgentId, int] = field(default_factory=dict)
    _read_at: float = float("-inf")
    _has_moved: bool = False
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find_route(self, agent: AgentId, ask: Ask) -> Route | None:
        """Return the way to the agent's rows; None if a read has to take the coordinator."""
        if not self.is_cluster:
            return None
        if self._should_read():
            await self._read(ask)
        part = await self._find_part(agent, ask) if self._parts else None
        node = self._nodes.get(part.address) if part else None
        if part is None or node is None:
            return None
        if not node.is_open:
            node.try_in_time()
            return None
        return Route(self, node, part)

    def note_move(self) -> None:
        self._has_moved = True

    def _should_read(self) -> bool:
        age = time.monotonic() - self._read_at
        return age > (_LEAST_PAUSE if self._has_moved else BELIEVED_FOR)

    async def _read(self, ask: Ask) -> None:
        """Read the places of all parts. Whoever comes meanwhile goes by what is known."""
        if self._reading.locked():
            return
        async with self._reading:
            parts = build_parts(await ask(_LIST_PARTS, {}))
            if parts.keys() != self._parts.keys():
                self._numbers.clear()
            self._parts, self._has_moved = parts, False
            self._read_at = time.monotonic()
            for address in {part.address for part in self._parts.values()} - self._nodes.keys():
                self._nodes[address] = Node(address, self.open_engine(address))

    async def _find_part(self, agent: AgentId, ask: Ask) -> Part | None:
        number = self._numbers.get(agent)
        if number is None:
            [row] = await ask(_FIND_PART, {"agent": agent})
            number = row["part"]
            if len(self._numbers) >= _MOST_AGENTS:
                self._numbers.clear()
            self._numbers[agent] = number
        return self._parts.get(number)

    async def dispose(self) -> None:
        """End the sessions at the nodes. The coordinator answers from now on."""
        self.is_cluster = False
        for node in self._nodes.values():
            await node.dispose()
