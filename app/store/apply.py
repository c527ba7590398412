"""Carrying plans out: every statement by which a plan changes something.

The caller owns the transaction and holds the agent's lock. Nothing here commits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.relation import Operation
from app.domain.version import Version
from app.planning.agent_questions import SHOWN_AT_MOST
from app.planning.plan import Insertion, Plan, ReviewStatus
from app.store.columns import BELIEF_COLUMNS
from app.store.engine import fetch_rows, get_driver
from app.store.inserts import NOTHING, Part, build_insert, insert_rows
from app.store.log.chain import LogChain
from app.store.revert_effects import undo_side_effects
from app.store.rows import (
    BELIEF_TYPES,
    LINK_TYPES,
    LOG_TYPES,
    MEMORY_TYPES,
    REVIEW_TYPES,
    CallInfo,
    Row,
    belief_row,
    belief_values,
    log_row,
    memory_row,
    relationship_row,
    review_row,
)
from app.store.tables import memories


@dataclass(frozen=True, slots=True)
class LoggedPlan:
    """The operation under which a plan was logged, and the review that the plan left, if any."""

    log_id: UUID
    review_id: UUID | None


@dataclass(frozen=True, slots=True)
class _Step:
    """A plan with the ids that its operation and its review get."""

    plan: Plan
    log_id: UUID
    review_id: UUID


async def apply_plans(
    connection: AsyncConnection,
    agent: AgentId,
    plans: Sequence[Plan],
    *,
    vectors: Mapping[UUID, NDArray[np.float32]],
    language: int,
    request: CallInfo,
    texts: Mapping[UUID, str],
    log_chain: LogChain,
) -> list[LoggedPlan]:
    """Carry the plans out in their order, and log each as one operation.

    `vectors` holds the embedding of each inserted memory, of length 1. `language` is the oid of the
    text search configuration. `texts` are those of stored memories that need not be read.
    `log_chain` ends with the last operation afterwards.
    """
    if not plans:
        return []
    steps = [_Step(plan, log_id=uuid7(), review_id=uuid7()) for plan in plans]
    rows = _build_rows(agent, steps, vectors, language)
    corrected = await _read_metadata_before(connection, agent, plans)
    ended = await _read_ended_texts(connection, agent, plans, texts)
    log = (
        log_row(agent, step.log_id, step.plan, request, corrected=before, texts=ended)
        for step, before in zip(steps, corrected, strict=True)
    )
    if len(plans) == 1 and len(rows.updated) <= _FEW:
        await _write_one(connection, agent, plans[0], rows, log, log_chain)
    else:
        await _write_many(connection, agent, plans, rows, log, log_chain)
    await _update_metadata(connection, agent, plans)
    for step in steps:
        await _settle_review(connection, agent, step)
    logged = []
    for step in steps:
        await undo_side_effects(connection, agent, step.plan, step.log_id)
        logged.append(LoggedPlan(step.log_id, step.review_id if step.plan.review else None))
    return logged


# --- rows ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Outcome:
    """The versions that several plans leave behind.

    Each version has only its latest state here. `past` holds every belief that a plan replaced,
    with the known time at which the plan replaced it.
    """

    inserted: dict[UUID, Insertion] = field(default_factory=dict)
    updated: dict[UUID, Version] = field(default_factory=dict)
    past: list[tuple[Version, datetime]] = field(default_factory=list)
    marks: dict[UUID, str | None] = field(default_factory=dict)

    def add_plan(self, plan: Plan) -> None:
        for inserted in plan.inserted:
            self.inserted[inserted.version.id] = inserted
            self.marks[inserted.version.id] = plan.look_again
        for change in plan.changed:
            self.past.append((change.before, plan.now))
            version = change.after
            if version.id in self.inserted:
                inserted = self.inserted[version.id]
                self.inserted[version.id] = replace(inserted, version=version)
            else:
                self.updated[version.id] = version


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows that some plans write, and the stored versions that they update.

    The rows of memories are an iterator, so that a row is made while the server takes in the row
    before it.
    """

    memories: Iterable[Row]
    updated: Sequence[Version]
    beliefs: Sequence[Row]
    links: Sequence[Row]
    reviews: Sequence[Row]


def _build_rows(
    agent: AgentId,
    steps: Sequence[_Step],
    vectors: Mapping[UUID, NDArray[np.float32]],
    language: int,
) -> _Rows:
    outcome = _Outcome()
    links: list[Row] = []
    reviews: list[Row] = []
    for step in steps:
        plan = step.plan
        outcome.add_plan(plan)
        for link in dict.fromkeys(plan.links):
            links.append(relationship_row(agent, link, step.log_id, plan.now))
        if plan.review:
            reviews.append(review_row(agent, step.review_id, plan.review, plan, step.log_id))
    inserted = (
        memory_row(agent, insertion, vectors[memory_id], language, outcome.marks[memory_id])
        for memory_id, insertion in outcome.inserted.items()
    )
    return _Rows(
        memories=inserted,
        updated=list(outcome.updated.values()),
        beliefs=[belief_row(agent, version, until) for version, until in outcome.past],
        links=links,
        reviews=reviews,
    )


# --- writing -------------------------------------------------------------------------------------

# Up to this number, one statement for each changed version takes less time than the round trips
# that it saves.
_FEW = 20

_BELIEF_CHANGES = ",\n        ".join(f"{name} = %s" for name in BELIEF_COLUMNS)

# The new belief about a stored version. The version may hold again, so it is no longer cold.
_UPDATE_BELIEF = f"""
    UPDATE memories SET
        {_BELIEF_CHANGES},
        revision = %s,
        cold = false
    WHERE agent_id = %s AND id = %s
"""

# A duplicate confirms a stored memory, and a merge its merged one. Counters have a table of their
# own, so that they change neither revisions nor beliefs.
_REINFORCE = """
    INSERT INTO memory_usage (agent_id, memory_id, access_count, last_reinforced_at)
    VALUES (%s, %s, %s, %s)
    ON CONFLICT (agent_id, memory_id) DO UPDATE SET
        access_count = memory_usage.access_count + excluded.access_count,
        last_reinforced_at = excluded.last_reinforced_at
"""

_SET_END_OF_LOG = "UPDATE agents SET last_known_at = %s, log_head = %s WHERE agent_id = %s"


def _list_belief_parameters(agent: AgentId, version: Version) -> list[object]:
    return [*belief_values(version.belief).values(), version.revision, agent, version.id]


async def _write_one(
    connection: AsyncConnection,
    agent: AgentId,
    plan: Plan,
    rows: _Rows,
    log: Iterable[Row],
    log_chain: LogChain,
) -> None:
    """Write the rows of one plan in one round trip, which would otherwise be up to nine."""
    insert_log = build_insert("consolidation_log", LOG_TYPES, map(log_chain.link_row, log))
    reinforcement: Part = NOTHING
    if parameters := _list_reinforcement(agent, plan):
        reinforcement = (_REINFORCE, parameters)
    parts: list[Part] = [
        build_insert("memories", MEMORY_TYPES, rows.memories),
        *((_UPDATE_BELIEF, _list_belief_parameters(agent, version)) for version in rows.updated),
        build_insert("memory_beliefs", BELIEF_TYPES, rows.beliefs),
        reinforcement,
        build_insert("memory_relationships", LINK_TYPES, rows.links),
        build_insert("reviews", REVIEW_TYPES, rows.reviews),
        (_SET_END_OF_LOG, [plan.now, log_chain.head, agent]),
    ]
    statement, values = _compose_parts(parts, insert_log)
    driver = get_driver(connection)
    # A cursor that takes the statement as Postgres does: to look for placeholders in so long a one
    # takes a third of a millisecond.
    await psycopg.AsyncRawCursor(driver).execute(statement.encode(), values)


def _compose_parts(parts: Sequence[Part], last: Part) -> Part:
    """Return one statement of all parts, with numbered placeholders; the last one is its body."""
    clauses: list[str] = []
    values: list[object] = []
    for statement, parameters in parts:
        if statement:
            clauses.append(f"part{len(clauses)} AS ({statement})")
            values += parameters
    body, parameters = last
    first, *others = f"WITH {', '.join(clauses)} {body}".split("%s")
    numbered = first + "".join(f"${number}{rest}" for number, rest in enumerate(others, 1))
    return numbered, [*values, *parameters]


async def _write_many(
    connection: AsyncConnection,
    agent: AgentId,
    plans: Sequence[Plan],
    rows: _Rows,
    log: Iterable[Row],
    log_chain: LogChain,
) -> None:
    linked_log = await insert_rows(
        connection,
        "memories",
        MEMORY_TYPES,
        rows.memories,
        meanwhile=map(log_chain.link_row, log),
    )
    driver = get_driver(connection)
    async with driver.cursor() as cursor:
        if rows.updated:
            beliefs = [_list_belief_parameters(agent, version) for version in rows.updated]
            await cursor.executemany(_UPDATE_BELIEF.encode(), beliefs)
        reinforcements = [_list_reinforcement(agent, plan) for plan in plans]
        if any(reinforcements):
            await cursor.executemany(_REINFORCE.encode(), filter(None, reinforcements))
    await insert_rows(connection, "memory_beliefs", BELIEF_TYPES, rows.beliefs)
    await insert_rows(connection, "consolidation_log", LOG_TYPES, linked_log)
    await insert_rows(connection, "memory_relationships", LINK_TYPES, rows.links)
    await insert_rows(connection, "reviews", REVIEW_TYPES, rows.reviews)
    end_of_log = (plans[-1].now, log_chain.head, agent)
    await driver.execute(_SET_END_OF_LOG.encode(), end_of_log)


def _list_reinforcement(agent: AgentId, plan: Plan) -> list[object]:
    """Return the parameters of `_REINFORCE`; none if the plan confirms nothing."""
    if plan.confirmations:
        return [agent, plan.target, plan.confirmations, plan.now]
    return [agent, plan.reinforced, 1, plan.now] if plan.reinforced else []


_READ_CONFIRMATIONS = """
    SELECT memory_id, access_count FROM memory_usage
    WHERE agent_id = :agent AND memory_id = ANY(:ids)
"""


async def count_confirmations(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]
) -> Sequence[Plan]:
    """Return the plans, merges with the confirmations that go over to the merged memory."""
    merges = [plan for plan in plans if plan.operation is Operation.MERGE]
    if not merges:
        return plans
    ids = [memory_id for plan in merges for memory_id in plan.superseded]
    rows = await fetch_rows(connection, _READ_CONFIRMATIONS, {"agent": agent, "ids": ids})
    counts: Counter[UUID | None] = Counter({r["memory_id"]: r["access_count"] for r in rows})
    counted: list[Plan] = []
    for plan in plans:
        if plan.reinforced:
            counts[plan.reinforced] += 1
        if plan.operation is Operation.MERGE:
            counts[plan.target] = 1 + sum(counts[memory_id] for memory_id in plan.superseded)
            counted.append(plan.with_confirmations(counts[plan.target]))
        else:
            counted.append(plan)
    return counted


# --- texts for the log ---------------------------------------------------------------------------

# Read the texts of memories that are not erased.
_READ_TEXTS = """
    SELECT id, content FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL
"""


async def _read_ended_texts(
    connection: AsyncConnection,
    agent: AgentId,
    plans: Sequence[Plan],
    texts: Mapping[UUID, str],
) -> dict[UUID, str]:
    """Return the texts of what the plans end; the log keeps them. Those at hand are not read.

    A plan may end what an earlier plan of the same call inserts.
    """
    known = dict(texts)
    ended: set[UUID] = set()
    for plan in plans:
        ended.update(plan.ended)
        for inserted in plan.inserted:
            known[inserted.version.id] = inserted.fact.content
    unknown = ended - known.keys()
    if unknown:
        rows = await fetch_rows(connection, _READ_TEXTS, {"agent": agent, "ids": list(unknown)})
        known |= {row["id"]: row["content"] for row in rows}
    return {memory_id: known[memory_id] for memory_id in ended if memory_id in known}


# --- metadata ------------------------------------------------------------------------------------


async def _read_metadata_before(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]
) -> list[dict[str, Any] | None]:
    """Return, for each plan, the metadata that the plan corrects as it is before; the log keeps it.

    A plan may correct a memory that an earlier plan of the same call inserts or corrects.
    """
    current: dict[UUID | None, dict[str, Any]] = {}
    before: list[dict[str, Any] | None] = []
    for plan in plans:
        for inserted in plan.inserted:
            current[inserted.version.id] = vars(inserted.fact)
        if not plan.metadata:
            before.append(None)
            continue
        known = current.get(plan.target, {})
        unknown = [name for name in plan.metadata if name not in known]
        if unknown:
            columns = [memories.c[name] for name in unknown]
            statement = sa.select(*columns).where(_is_memory(agent, plan.target))
            result = await connection.execute(statement)
            known = known | dict(result.mappings().one())
        before.append({name: known[name] for name in plan.metadata})
        current[plan.target] = known | plan.metadata
    return before


async def _update_metadata(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]
) -> None:
    """Correct metadata in place. Its history is in the log alone."""
    last_change: dict[UUID, int] = {}
    for place, plan in enumerate(plans):
        for change in plan.changed:
            last_change[change.after.id] = place
    for place, plan in enumerate(plans):
        if not plan.metadata or plan.target is None:
            continue
        # A later plan that changed the belief of the memory wrote a revision that counts this one.
        is_counted = last_change.get(plan.target, place) > place
        revision = memories.c.revision if is_counted else memories.c.revision + 1
        await connection.execute(
            memories.update()
            .where(_is_memory(agent, plan.target))
            .values(**plan.metadata, revision=revision)
        )


def _is_memory(agent: AgentId, memory_id: UUID | None) -> sa.ColumnElement[bool]:
    return sa.and_(memories.c.agent_id == agent, memories.c.id == memory_id)


# --- reviews -------------------------------------------------------------------------------------

# The decision on a review. A store that was held back is tied to the memory that it became. If an
# answer of an agent is undone, the review rests for agents and waits for a person.
_SETTLE = b"""
    UPDATE reviews r SET
        status = %(status)s,
        note = %(note)s,
        decided_at = %(decided_at)s,
        decision_log_id = %(log_id)s,
        memory_id = CASE WHEN incoming IS NULL THEN memory_id ELSE %(memory_id)s END,
        shown = CASE
            WHEN %(status)s = 'pending' AND EXISTS (
                SELECT FROM consolidation_log l
                WHERE l.agent_id = %(agent)s AND l.id = r.decision_log_id AND l.decided_by = 'agent'
            ) THEN greatest(shown, %(shown_at_most)s)
            ELSE shown
        END
    WHERE agent_id = %(agent)s AND id = %(id)s
"""


async def _settle_review(connection: AsyncConnection, agent: AgentId, step: _Step) -> None:
    """Write the decision that a plan makes on a review. A review that waits again has none."""
    settled = step.plan.settled
    if settled is None:
        return
    parameters: dict[str, Any] = {
        "agent": agent,
        "id": settled.review_id,
        "status": settled.after,
        "note": settled.note,
        "decided_at": step.plan.now,
        "log_id": step.log_id,
        "memory_id": step.plan.target,
        "shown_at_most": SHOWN_AT_MOST,
    }
    if settled.after is ReviewStatus.PENDING:
        parameters |= {"decided_at": None, "log_id": None, "memory_id": None}
    driver = get_driver(connection)
    await driver.execute(_SETTLE, parameters)
