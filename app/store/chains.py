"""An agent's lock, its clock, and the chains that a write may touch."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
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
from app.store.engine import fetch_rows, read_clock
from app.store.fragments import NEVER, NEVER_SQL, ONE_VALUE, build_holds
from app.store.rows import belief_from_row
from app.turns import iterate_in_turns

_TICK = timedelta(microseconds=1)

# So many versions are read whole faster than in part.
LONGEST_WHOLE = 200

# The row lock by which the writes of an agent follow one another. Postgres takes the lock before it
# fixes what this statement sees, and a change of the embeddings (store/reembed.py) waits for the
# lock. So the encoder read here stays the encoder until the transaction ends.
_LOCK = """
    SELECT last_known_at, last_erased_at, mode, log_head, closures_counted_from,
           (SELECT name FROM encoder) AS encoder
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
_HAS_DATED_START = "dated_by ->> 'from' IS NOT NULL AS has_dated_start"
VERSION_COLUMNS = ", ".join(
    [
        *(
            name
            for name in COLUMN_NAMES
            if name in _VERSION_FIELDS or name in _SLOT_COLUMNS or name in BELIEF_COLUMNS
        ),
        _HAS_DATED_START,
    ]
)

_HAS_SAME_VALUE = """
    CASE
        WHEN m.value_hash IS NOT NULL AND fact.value_hash IS NOT NULL
        THEN m.value_hash = fact.value_hash
        ELSE m.folded_hash = fact.folded_hash
    END
"""

# A version of the fact's slot that holds ever.
_IN_SLOT = f"""
    m.agent_id = :agent AND m.slot_hash = fact.slot AND NOT m.void AND {ONE_VALUE}
    AND (m.valid_until IS NULL OR m.valid_until > m.valid_from)
"""
_SAME_VALUE = f"{_IN_SLOT} AND {_HAS_SAME_VALUE}"
_OTHER_VALUE = f"{_IN_SLOT} AND NOT {_HAS_SAME_VALUE}"

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

# The same for texts, slots and ids, and the clock; but if there are more than `:whole` versions,
# none of them. Postgres plans this in an eighth of the time that it takes for _READ_NEAR_CHAINS.
_READ_FEW_CHAINS = f"""
    WITH chain AS MATERIALIZED (
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND id = ANY(:ids)
        UNION
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes)
        UNION (
            SELECT chain_id FROM memories
            WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
            LIMIT CAST(:whole AS bigint) + 1
        )
    ),
    counted AS MATERIALIZED (
        SELECT count(*) <= :whole AS are_few FROM (
            SELECT FROM memories
            WHERE agent_id = :agent AND chain_id IN (SELECT chain_id FROM chain)
            LIMIT CAST(:whole AS bigint) + 1
        ) AS version
    )
    SELECT clock_timestamp() AS clock, are_few, v.*
    FROM counted LEFT JOIN (
        SELECT {VERSION_COLUMNS} FROM memories
        WHERE agent_id = :agent AND chain_id IN (SELECT chain_id FROM chain)
            AND (SELECT are_few FROM counted)
    ) AS v ON true
"""

# The versions that facts may meet in the chains of their texts and slots, and the clock. A chain of
# more than `:whole` versions is not read whole, but around the starts of facts and the versions
# that are named by id or text: there, `:reach` versions on either side, and the temporary ones that
# lie between. A fact without a start of its own starts at its known time, which lies within `:span`
# of the clock or of the agent's last operation.
# - `slot_chain` holds one version of each slot for each of its chains, by which a chain is known as
#   one of the slot. Of a long chain its first version is read too, by which chains have an order,
#   and a constraint or else the most trusted version, which decide who may join the chain.
# - The chains of a slot are of two sorts: those of its one value, and all others. A slot is
#   `crowded` if it has more than `:most_chains` of one sort. Then so many of each sort are read:
#   constraints first, then those that came first. Chains with a version that `repeat`s a fact are
#   read too.
# - `other` holds the versions of a slot with another value that begin next before and next after a
#   `compared` fact, by which a fact and a repetition of it are two.
_READ_NEAR_CHAINS = f"""
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS clock),
    fact AS MATERIALIZED (
        SELECT f.slot, f.value_hash, f.folded_hash,
               coalesce(f.start, greatest(clock, CAST(:last AS timestamptz))) AS start
        FROM moment, unnest(
            CAST(:slots AS bytea[]),
            CAST(:starts AS timestamptz[]),
            CAST(:value_hashes AS bytea[]),
            CAST(:folded_hashes AS bytea[])
        ) AS f (slot, start, value_hash, folded_hash)
    ),
    named AS MATERIALIZED (
        SELECT id, chain_id FROM memories WHERE agent_id = :agent AND id = ANY(:ids)
        UNION
        SELECT id, chain_id FROM memories WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes)
    ),
    slot_chain AS (
        SELECT DISTINCT ON (slot_hash, chain_id)
               id, chain_id, slot_hash, created_at, kind, ({ONE_VALUE}) AS one_value
        FROM memories
        WHERE agent_id = :agent AND slot_key IS NOT NULL
            AND slot_hash IN (SELECT slot FROM fact)
        ORDER BY slot_hash, chain_id, ({ONE_VALUE}) DESC, created_at
    ),
    ranked AS MATERIALIZED (
        SELECT id, chain_id, slot_hash, row_number() OVER (
            PARTITION BY slot_hash, one_value
            ORDER BY kind = 'constraint' DESC, created_at, chain_id
        ) AS rank
        FROM slot_chain
    ),
    crowded AS MATERIALIZED (
        SELECT DISTINCT slot_hash FROM ranked WHERE rank = CAST(:most_chains AS bigint) + 1
    ),
    repeat AS (
        SELECT v.id, v.chain_id FROM fact CROSS JOIN LATERAL (
            SELECT m.id, m.chain_id FROM memories m
            WHERE {_SAME_VALUE}
                AND {build_holds("m.", "fact.start")}
            ORDER BY m.created_at, m.chain_id LIMIT :reach
        ) AS v
        WHERE fact.slot IN (SELECT slot_hash FROM crowded)
    ),
    other AS (
        SELECT v.id, v.chain_id FROM fact CROSS JOIN LATERAL (
            (
                SELECT m.id, m.chain_id FROM memories m
                WHERE {_OTHER_VALUE} AND m.valid_from <= fact.start
                ORDER BY m.valid_from DESC, m.asserted_at DESC LIMIT :reach
            )
            UNION ALL
            (
                SELECT m.id, m.chain_id FROM memories m
                WHERE {_OTHER_VALUE} AND m.valid_from > fact.start
                ORDER BY m.valid_from, m.asserted_at LIMIT :reach
            )
        ) AS v
        WHERE CAST(:compared AS boolean)
    ),
    chain AS MATERIALIZED (
        SELECT id, chain_id FROM ranked
        WHERE :most_chains IS NULL OR rank <= :most_chains
        UNION SELECT id, chain_id FROM repeat
        UNION SELECT id, chain_id FROM other
    ),
    sized AS MATERIALIZED (
        SELECT chain_id, count(*) > :whole AS is_long FROM memories
        WHERE agent_id = :agent AND chain_id IN (
            SELECT chain_id FROM named UNION SELECT chain_id FROM chain
        )
        GROUP BY chain_id
    ),
    place AS (
        SELECT chain_id, valid_from, asserted_at, id, temporary,
               id IN (SELECT id FROM named) AS is_marked, 0 AS step
        FROM memories
        WHERE agent_id = :agent AND NOT void
            AND chain_id IN (SELECT chain_id FROM sized WHERE is_long)
        UNION ALL
        SELECT chain_id, start, 'infinity', NULL, true, true, 1
        FROM sized, (SELECT DISTINCT start FROM fact) AS starts WHERE is_long
        UNION ALL
        SELECT chain_id, start + CAST(:span AS interval), 'infinity', NULL, true, true, -1
        FROM sized, (SELECT DISTINCT start FROM fact) AS starts WHERE is_long
    ),
    counted AS (
        SELECT id, chain_id, is_marked, sum(step) OVER line > 0 AS is_within_span,
               count(*) FILTER (WHERE NOT temporary) OVER line AS lasting
        FROM place
        WINDOW line AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
    ),
    near AS (
        SELECT id, is_within_span OR bool_or(is_marked) OVER (
            PARTITION BY chain_id ORDER BY lasting
            GROUPS BETWEEN :reach PRECEDING AND :reach FOLLOWING
        ) AS is_near
        FROM counted
    ),
    wanted AS (
        SELECT id FROM near WHERE is_near AND id IS NOT NULL
        UNION SELECT id FROM named
        UNION SELECT id FROM chain
        UNION SELECT chain_id FROM sized
        UNION SELECT deciding.id FROM sized CROSS JOIN LATERAL (
            SELECT m.id FROM memories m
            WHERE m.agent_id = :agent AND m.chain_id = sized.chain_id
            ORDER BY m.kind = 'constraint' DESC, m.trust DESC LIMIT 1
        ) AS deciding WHERE is_long
    )
    SELECT clock, v.*
    FROM moment LEFT JOIN (
        SELECT {VERSION_COLUMNS},
               chain_id = ANY(ARRAY(SELECT chain_id FROM sized WHERE is_long))
               OR slot_hash = ANY(ARRAY(SELECT slot_hash FROM crowded)) AS is_in_part
        FROM memories
        WHERE agent_id = :agent AND (
            chain_id = ANY(ARRAY(SELECT chain_id FROM sized WHERE NOT is_long))
            OR id = ANY(ARRAY(SELECT id FROM wanted))
        )
    ) AS v ON true
"""


# The memories that were declared successors of a memory, in turn.
_SUCCESSORS = """
    WITH RECURSIVE following AS (
        SELECT ended_by AS id FROM memories
        WHERE agent_id = :agent AND id = :id AND ended_by IS NOT NULL
        UNION
        SELECT m.ended_by
        FROM memories m JOIN following f ON f.id = m.id
        WHERE m.agent_id = :agent AND m.ended_by IS NOT NULL
    )
    SELECT id FROM following
"""


@dataclass(frozen=True, slots=True)
class LockedAgent:
    """An agent whose row is locked.

    `last_known_at` is the known time of its last operation, `last_erased_at` that of its last
    erasure. `mode` is the mode that was chosen for the agent, None if the settings decide.
    `log_head` is the hash of the last operation, None if no operation has one yet. Endings by
    judges up to `closures_counted_from` do not count against the cap of an hour.
    """

    last_known_at: datetime | None
    last_erased_at: datetime | None
    mode: Mode | None
    log_head: bytes | None
    closures_counted_from: datetime | None

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
        closures_counted_from=row["closures_counted_from"],
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
    return await _chains_from_rows(rows), rows[0]["clock"]


async def list_successors(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID
) -> list[UUID]:
    """Return the memories of other chains that superseded the memory and, in turn, each other."""
    rows = await fetch_rows(connection, _SUCCESSORS, {"agent": agent, "id": memory_id})
    return [row["id"] for row in rows]


@dataclass(frozen=True, slots=True)
class Starting:
    """A fact with the start that it will have; None if it starts at its known time."""

    fact: Fact
    start: datetime | None


def list_starts(fact: Fact) -> list[Starting]:
    """Return the fact with each start that it may have.

    A fact without a start of its own begins when its words were spoken, but not after its known
    time.
    """
    if fact.valid_from is not None or fact.said_at is None:
        return [Starting(fact, fact.valid_from)]
    return [Starting(fact, fact.said_at), Starting(fact, None)]


@dataclass(frozen=True, slots=True)
class NearChains:
    """Chains around some facts, those of them that were not read whole, and the clock."""

    chains: Chains
    in_part: frozenset[UUID]
    clock: datetime


async def read_near_chains(
    connection: AsyncConnection,
    agent: AgentId,
    facts: Sequence[Starting],
    *,
    ids: Iterable[UUID] = (),
    compared: bool,
    last_known_at: datetime | None,
    reach: int,
    most_chains: int | None,
) -> NearChains:
    """Return what these facts may meet in the chains that `read_chains` reads, and the clock.

    Of a long chain these are the versions next to the facts' starts and to the ids, `reach` on
    either side, not counting temporary ones: one is enough for facts that only take their place,
    and each fact that may move a stored version needs one more. Such chains are settled around
    these places as if they were whole. They must not be looked at elsewhere. For facts that are
    `compared` with what is stored, chains with the same texts are read too, and the next versions
    with other values. Of a slot with more than `most_chains` chains, the oldest of them and those
    that a fact repeats are read; None stands for all. A few chains are read whole.
    """
    ids = list(ids)
    if not facts and not ids:
        return NearChains(Chains(), frozenset(), await read_clock(connection))
    hashes = {starting.fact.fuzzy_hash for starting in facts} if compared else ()
    named = {
        "agent": agent,
        "ids": ids,
        "hashes": list(hashes),
        "slots": [_get_slot_digest(starting.fact) for starting in facts],
        "whole": LONGEST_WHOLE,
    }
    rows = await fetch_rows(connection, _READ_FEW_CHAINS, named)
    if rows[0]["are_few"]:
        return NearChains(await _chains_from_rows(rows), frozenset(), rows[0]["clock"])
    parameters = named | {
        "starts": [starting.start for starting in facts],
        "value_hashes": [starting.fact.value_hash for starting in facts],
        "folded_hashes": [starting.fact.folded_hash for starting in facts],
        "last": last_known_at,
        "span": _TICK * (len(facts) + 1),
        "reach": reach,
        "most_chains": most_chains,
        "compared": compared,
    }
    rows = await fetch_rows(connection, _READ_NEAR_CHAINS, parameters)
    in_part = frozenset(row["chain_id"] for row in rows if row["is_in_part"])
    return NearChains(await _chains_from_rows(rows), in_part, rows[0]["clock"])


def _get_slot_digest(fact: Fact) -> bytes | None:
    return None if fact.key is None else fact.slot.digest


async def _chains_from_rows(rows: Sequence[Mapping[str, Any]]) -> Chains:
    chains = Chains()
    async for row in iterate_in_turns(rows):
        if row["id"] is not None:
            chains.absorb_versions([version_from_row(row)])
    return chains


_BUILT_FIELDS = ("kind", "slot", "lifespan", "belief")
_PLAIN_FIELDS = [name for name in _VERSION_FIELDS if name not in _BUILT_FIELDS]


async def group_by_chain(rows: AsyncIterable[Mapping[str, Any]]) -> AsyncIterator[list[Version]]:
    """Yield the versions of rows of VERSION_COLUMNS, which are in order, chain by chain."""
    chain: list[Version] = []
    async for row in rows:
        if chain and chain[0].chain_id != row["chain_id"]:
            yield chain
            chain = []
        chain.append(version_from_row(row))
    if chain:
        yield chain


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
