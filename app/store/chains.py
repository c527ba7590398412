"""An agent's lock, its clock, and the chains that a write may touch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId, Mode
from app.domain.chains import Chains
from app.domain.errors import AgentFrozen, EmbeddingsChanged
from app.domain.fact import Fact, Kind, Lifespan, Slot
from app.domain.policy import Policy
from app.domain.version import Version
from app.store.columns import BELIEF_COLUMNS, COLUMN_NAMES
from app.store.engine import fetch_rows
from app.store.fragments import NEVER, NEVER_SQL
from app.store.rows import belief_from_row

_TICK = timedelta(microseconds=1)

# The row lock by which the writes of an agent follow one another. Postgres takes the lock before it
# fixes what this statement sees, and a change of the embeddings (store/reembed.py) waits for the
# lock. So the encoder read here stays the encoder until the transaction ends.
_LOCK = """
    SELECT last_known_at, last_erased_at, mode, log_head, (SELECT name FROM encoder) AS encoder
    FROM agents
    WHERE agent_id = :agent
    FOR UPDATE
"""

# The first write of an agent creates its row, dated before everything. Of two first writes at once,
# one waits for the other here.
_CREATE_AGENT = sa.text(f"""
    INSERT INTO agents (agent_id, created_at, last_known_at)
    VALUES (:agent, clock_timestamp(), {NEVER_SQL})
    ON CONFLICT DO NOTHING
""")

_VERSION_FIELDS = {field.name for field in fields(Version)}
_SLOT_COLUMNS = ("slot_entity", "slot_category", "slot_key")
VERSION_COLUMNS = ", ".join(
    name
    for name in COLUMN_NAMES
    if name in _VERSION_FIELDS or name in _SLOT_COLUMNS or name in BELIEF_COLUMNS
)


# The whole chains that a write may touch, found by id, text or slot, and the clock. The clock is
# read here because a clock read in the statement that takes the lock can be older than the lock
# (DESIGN §2).
_READ_CHAINS = f"""
    SELECT clock_timestamp() AS clock, v.*
    FROM (SELECT 1) AS once LEFT JOIN (
        SELECT {VERSION_COLUMNS} FROM memories
        WHERE agent_id = :agent AND chain_id IN (
            SELECT chain_id FROM memories
            WHERE agent_id = :agent AND id = ANY(:ids)
            UNION
            SELECT chain_id FROM memories
            WHERE agent_id = :agent AND superseded_by = ANY(:withdrawable)
            UNION
            SELECT chain_id FROM memories
            WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes)
            UNION
            SELECT chain_id FROM memories
            WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
        )
    ) AS v ON true
"""


@dataclass(frozen=True, slots=True)
class LockedAgent:
    """An agent whose row is locked.

    `last_known_at` is the known time of its last operation, `last_erased_at` that of its last
    erasure. `mode` is the mode that was chosen for the agent, None if the settings decide.
    `log_head` is the hash of the last operation, None if no operation has one yet.
    """

    last_known_at: datetime | None
    last_erased_at: datetime | None
    mode: Mode | None
    log_head: bytes | None

    def refuse_if_frozen(self, policy: Policy) -> None:
        """Raise AgentFrozen if the agent takes no writes."""
        if policy.mode_of(self.mode) is Mode.FROZEN:
            raise AgentFrozen


async def lock_agent(
    connection: AsyncConnection, agent: AgentId, *, encoder: str | None
) -> LockedAgent:
    """Lock the agent's row until the transaction ends. The row is created if it is missing.

    `encoder` names the model of the vectors that the caller will write, None if it writes none.
    Raises EmbeddingsChanged if the vectors of the database are those of another model by now.
    """
    rows = await fetch_rows(connection, _LOCK, {"agent": agent})
    if not rows:
        await connection.execute(_CREATE_AGENT, {"agent": agent})
        rows = await fetch_rows(connection, _LOCK, {"agent": agent})
    row = rows[0]
    if encoder is not None and row["encoder"] != encoder:
        raise EmbeddingsChanged(row["encoder"], encoder)
    last_known_at = row["last_known_at"]
    return LockedAgent(
        last_known_at=None if last_known_at == NEVER else last_known_at,
        last_erased_at=row["last_erased_at"],
        mode=Mode(row["mode"]) if row["mode"] else None,
        log_head=row["log_head"],
    )


def next_known_time(clock: datetime, last: datetime | None) -> datetime:
    """Return the known time of the next operation.

    This is the clock, or one microsecond after the last known time if the clock is not later.
    """
    if last is None or clock > last:
        return clock
    return last + _TICK


async def read_chains(
    connection: AsyncConnection,
    agent: AgentId,
    *,
    facts: Sequence[Fact] = (),
    ids: Iterable[UUID] = (),
    withdrawable: Iterable[UUID] = (),
) -> tuple[Chains, datetime]:
    """Return the chains that a write may touch, and the clock of the database.

    These are the chains of the ids, those that share a text or a slot with the facts, and those
    with a version that was superseded by one of `withdrawable`.
    """
    slots = {fact.slot.digest for fact in facts if fact.key is not None}
    parameters = {
        "agent": agent,
        "ids": list(ids),
        "withdrawable": list(withdrawable),
        "hashes": list({fact.fuzzy_hash for fact in facts}),
        "slots": list(slots),
    }
    rows = await fetch_rows(connection, _READ_CHAINS, parameters)
    versions = [version_from_row(row) for row in rows if row["id"] is not None]
    return Chains(versions), rows[0]["clock"]


_BUILT_FIELDS = ("kind", "slot", "lifespan", "belief")
_PLAIN_FIELDS = [name for name in _VERSION_FIELDS if name not in _BUILT_FIELDS]


def version_from_row(row: Mapping[str, Any]) -> Version:
    """Return the version in a row of VERSION_COLUMNS."""
    plain = {name: row[name] for name in _PLAIN_FIELDS}
    return Version(
        kind=Kind(row["kind"]),
        slot=Slot(row["slot_entity"], row["slot_category"], row["slot_key"]),
        lifespan=Lifespan(row["lifespan"]),
        belief=belief_from_row(row),
        **plain,
    )
