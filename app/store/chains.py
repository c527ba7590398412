"""An agent's lock, its clock, and the chains that a write may touch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
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
from app.store.rows import (
    belief_from_row,
)

_TICK = timedelta(microseconds=1)


_NEVER = datetime(1, 1, 1, tzinfo=UTC)


# The row lock that makes an agent's writes one after the other. It is taken before this statement's view of the database, and a change
# of the embeddings waits for it (store/reembedding.py): the encoder seen here stays the one until the transaction ends.
_LOCK = "SELECT last_known_at, last_erased_at, mode, (SELECT name FROM encoder) AS encoder FROM agents WHERE agent_id = :agent FOR UPDATE"


# A first write creates its agent, dated before everything; of two at once, one waits for the other here.
_CREATE_AGENT = sa.text(
    "INSERT INTO agents (agent_id, created_at, last_known_at) VALUES (:agent, clock_timestamp(), '0001-01-01 00:00:00+00') "
    "ON CONFLICT DO NOTHING"
)


_VERSION_FIELDS = {field.name for field in fields(Version)}
_SLOT_COLUMNS = ("slot_entity", "slot_category", "slot_key")
VERSION_COLUMNS = ", ".join(
    name
    for name in COLUMN_NAMES
    if name in _VERSION_FIELDS or name in _SLOT_COLUMNS or name in BELIEF_COLUMNS
)


# Whole chains that a write may touch, found by id, text or slot, and the clock. It is read here because a clock read in the
# statement that takes the lock can be older than the lock (DESIGN §2).
_PICTURE = f"""
    SELECT clock_timestamp() AS clock, v.*
    FROM (SELECT 1) AS once LEFT JOIN (
        SELECT {VERSION_COLUMNS} FROM memories
        WHERE agent_id = :agent AND chain_id IN (
            SELECT chain_id FROM memories WHERE agent_id = :agent AND id = ANY(:ids)
            UNION SELECT chain_id FROM memories WHERE agent_id = :agent AND superseded_by = ANY(:withdrawable)
            UNION SELECT chain_id FROM memories WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes)
            UNION SELECT chain_id FROM memories WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
        )
    ) AS v ON true
"""


@dataclass(frozen=True, slots=True)
class LockedAgent:
    """An agent whose row is locked: the known times of its last operation and of its last erasure, and the mode that was chosen
    for it; None where there is none."""

    last_known_at: datetime | None
    last_erased_at: datetime | None
    mode: Mode | None

    def refuse_if_frozen(self, policy: Policy) -> None:
        """Raises AgentFrozen."""
        if policy.mode_of(self.mode) is Mode.FROZEN:
            raise AgentFrozen


async def lock_agent(
    connection: AsyncConnection, agent: AgentId, *, encoder: str | None
) -> LockedAgent:
    """Locks the agent's row, made where it is missing, until the transaction ends.

    `encoder` names the model of the vectors that will be written, None where none will. Raises EmbeddingsChanged where the
    database's are another model's by now.
    """
    found = await fetch_rows(connection, _LOCK, {"agent": agent})
    if not found:
        await connection.execute(_CREATE_AGENT, {"agent": agent})
        found = await fetch_rows(connection, _LOCK, {"agent": agent})
    if encoder is not None and found[0]["encoder"] != encoder:
        raise EmbeddingsChanged(found[0]["encoder"], encoder)
    last = found[0]["last_known_at"]
    mode = found[0]["mode"]
    return LockedAgent(
        None if last == _NEVER else last, found[0]["last_erased_at"], Mode(mode) if mode else None
    )


async def lift_statement_timeout(connection: AsyncConnection) -> None:
    """Lets the statements of this transaction take as long as they need: they grow with what is stored."""
    await fetch_rows(connection, "SET LOCAL statement_timeout = 0", {})


def next_known_time(clock: datetime, last: datetime | None) -> datetime:
    """The known time of the next operation: the clock, or one microsecond after the last where the clock is not ahead of it."""
    return clock if last is None or clock > last else last + _TICK


async def read_picture(
    connection: AsyncConnection,
    agent: AgentId,
    *,
    facts: Sequence[Fact] = (),
    ids: Iterable[UUID] = (),
    withdrawable: Iterable[UUID] = (),
) -> tuple[Chains, datetime]:
    """The chains around these facts (by text and slot) and ids, those that ended in one that may be withdrawn, and the database's clock."""
    parameters = {
        "agent": agent,
        "ids": list(ids),
        "withdrawable": list(withdrawable),
        "hashes": list({fact.fuzzy_hash for fact in facts}),
        "slots": list({fact.slot.digest for fact in facts if fact.key is not None}),
    }
    rows = await fetch_rows(connection, _PICTURE, parameters)
    return Chains(version_from_row(row) for row in rows if row["id"] is not None), rows[0]["clock"]


def version_from_row(row: Mapping[str, Any]) -> Version:
    """The version in a row of VERSION_COLUMNS."""
    return Version(
        kind=Kind(row["kind"]),
        slot=Slot(row["slot_entity"], row["slot_category"], row["slot_key"]),
        lifespan=Lifespan(row["lifespan"]),
        belief=belief_from_row(row),
        **{name: row[name] for name in _PLAIN_VERSION_FIELDS},
    )


_PLAIN_VERSION_FIELDS = tuple(
    f.name for f in fields(Version) if f.name not in ("kind", "slot", "lifespan", "belief")
)
