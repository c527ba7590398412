"""Reads for reverts: operations of the log as values, and the operations that depend on them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.relation import Operation, Relation
from app.domain.version import Belief
from app.planning.reverts import (
    CLAIMS,
    ClaimChange,
    LaterOperation,
    LoggedOperation,
    MetadataChange,
)
from app.store.engine import fetch_rows
from app.store.log.state import (
    decode_beliefs,
    decode_fact,
    decode_links,
    decode_metadata,
    decode_settled,
)
from app.store.log.touching import find_operations_touching

# Read operations and follow each line of reverts down to the first operation. If that is a
# DUPLICATE, odd reverts took the confirmation back and even ones restored it.
_FIND = """
    WITH RECURSIVE undid AS (
        SELECT id AS by, id, created_at, reverts, operation, relation, target_memory_id,
               reverted_by, 0 AS depth
        FROM consolidation_log
        WHERE agent_id = :agent AND id = ANY(:ids)
        UNION ALL
        SELECT u.by, l.id, l.created_at, l.reverts, l.operation, l.relation, l.target_memory_id,
               l.reverted_by, u.depth + 1
        FROM undid u
        JOIN consolidation_log l
          ON l.agent_id = :agent AND l.id = u.reverts AND l.created_at < u.created_at
    )
    SELECT l.id, l.operation, l.relation, l.created_at, l.incoming, l.before_state, l.after_state,
           l.reverted_by, duplicate.target_memory_id AS confirmed,
           duplicate.depth % 2 = 1 AS taken_back,
           line.ids AS line, line.undone AS line_undone
    FROM consolidation_log l
    JOIN (
        SELECT by, array_agg(id ORDER BY depth) AS ids,
               array_agg(reverted_by IS NOT NULL ORDER BY depth) AS undone
        FROM undid
        GROUP BY by
    ) line ON line.by = l.id
    LEFT JOIN undid duplicate
      ON duplicate.by = l.id
      AND duplicate.operation = 'NOOP' AND duplicate.relation = 'DUPLICATE'
    WHERE l.agent_id = :agent AND l.id = ANY(:ids)
    ORDER BY l.created_at DESC, l.id DESC
"""


async def find_done_operations(
    connection: AsyncConnection, agent: AgentId, ids: Iterable[UUID]
) -> list[LoggedOperation]:
    """Return those of these operations that are in the log, newest first."""
    rows = await fetch_rows(connection, _FIND, {"agent": agent, "ids": list(ids)})
    return list(map(_operation_from_row, rows))


# --- operations of a selection -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Selection:
    """The operations to undo; None selects all.

    `request_id` names a call, such as a batch or an import. `capture_id` selects the operations
    that stored the facts of a capture.
    """

    log_ids: list[UUID] | None = None
    operation: Operation | None = None
    request_id: str | None = None
    session_id: str | None = None
    source: str | None = None
    decided_by: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    capture_id: UUID | None = None


_CONDITIONS = {
    "log_ids": "{0}.id = ANY(:log_ids)",
    "operation": "{0}.operation = :operation",
    "request_id": "{0}.request_id = :request_id",
    "session_id": "{0}.session_id = :session_id",
    "source": "{0}.incoming ->> 'source' = :source",
    "decided_by": "{0}.decided_by = :decided_by",
    "actor": "{0}.actor = :actor",
    "since": "{0}.created_at >= :since",
    "until": "{0}.created_at < :until",
    "capture_id": """{0}.id IN (
        SELECT f.log_id
        FROM turns t
        JOIN captured_facts f ON f.agent_id = :agent AND f.turn_id = t.id
        WHERE t.agent_id = :agent AND t.capture_id = :capture_id
    )""",
}

# List the operations of a selection to undo, newest first. Undoing a selected revert restores the
# operation that it undid. If both are selected, both stay as they are. A revert that stored a text
# is undone in any case, and so is the operation that it undid, after it.
_STANDING = """
    SELECT l.id
    FROM consolidation_log l
    WHERE {selected} AND l.operation <> 'ERASE'
      AND (
          l.reverted_by IS NULL
          OR EXISTS (
              SELECT FROM consolidation_log r
              WHERE {by_selected} AND r.id = l.reverted_by AND r.reverted_by IS NULL
                AND r.incoming IS NOT NULL
          )
      )
      AND (
          l.operation <> 'REVERT'
          OR l.incoming IS NOT NULL
          OR NOT EXISTS (
              SELECT FROM consolidation_log u
              WHERE {undone_selected} AND u.id = l.reverts
          )
      )
    ORDER BY l.created_at DESC, l.id DESC
    LIMIT :limit
"""


async def list_standing_operations(
    connection: AsyncConnection, agent: AgentId, selection: Selection, *, limit: int
) -> list[UUID]:
    """Return the operations of the selection that still stand, newest first."""
    stated = {name: getattr(selection, name) for name in _CONDITIONS}
    values = {name: value for name, value in stated.items() if value is not None}
    statement = _STANDING.format(
        selected=_where_selected("l", values),
        by_selected=_where_selected("r", values),
        undone_selected=_where_selected("u", values),
    )
    rows = await fetch_rows(connection, statement, {"agent": agent, "limit": limit, **values})
    return [row["id"] for row in rows]


def _where_selected(alias: str, names: Iterable[str]) -> str:
    """Return the condition that a row of the log is in a selection by these fields.

    Callers decide reverts, so a selection of what a judge decided has no reverts.
    """
    conditions = [f"{alias}.agent_id = :agent"]
    for name in names:
        conditions.append(_CONDITIONS[name].format(alias))
        if name == "decided_by":
            conditions.append(f"{alias}.operation <> 'REVERT'")
    return " AND ".join(conditions)


# --- operations that depend on another ---------------------------------------------------------

# The condition that an operation is on some memories. An operation that only makes or removes
# relationships is not: a relationship stays when one of its ends is withdrawn.
_TOUCHED = """
    id = ANY(:operations)
    AND (NOT jsonb_path_exists(before_state || after_state, '$[*].links')
         OR jsonb_path_exists(before_state || after_state, '$[*].id'))
"""

# List the operations after one that touched what it wrote and still stand. A revert cancels
# itself and the operation that it undid.
_DEPENDENTS = f"""
    SELECT id
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at > :after AND reverted_by IS NULL
      AND operation NOT IN ('ERASE', 'REVERT') AND {_TOUCHED}
    ORDER BY created_at DESC, id DESC
"""


async def list_dependents(
    connection: AsyncConnection, agent: AgentId, done: LoggedOperation
) -> list[UUID]:
    """Return the later operations that touched what this one wrote and stand, newest first."""
    operations = await find_operations_touching(connection, agent, done.ids)
    parameters = {"agent": agent, "after": done.at, "operations": operations}
    rows = await fetch_rows(connection, _DEPENDENTS, parameters)
    return [row["id"] for row in rows]


# List the operations after one that touched what it wrote, with all that undid these or undid the
# same. The revert of an operation that changed no memory is found only by what it undid.
_LATER = f"""
    WITH RECURSIVE undid AS (
        SELECT id, reverts, created_at
        FROM consolidation_log
        WHERE agent_id = :agent
          AND (id = :id OR created_at > :after AND operation <> 'ERASE' AND {_TOUCHED})
        UNION
        SELECT l.id, l.reverts, l.created_at
        FROM undid
        JOIN consolidation_log l ON l.agent_id = :agent AND l.id = undid.reverts
    ), tree AS (
        SELECT id AS base, id, reverts, created_at
        FROM undid
        WHERE reverts IS NULL
        UNION ALL
        SELECT tree.base, l.id, l.reverts, l.created_at
        FROM tree
        JOIN consolidation_log l ON l.agent_id = :agent AND l.reverts = tree.id
    )
    SELECT id, base, reverts
    FROM tree
    WHERE created_at > :after
    ORDER BY created_at, id
"""


async def list_later_operations(
    connection: AsyncConnection, agent: AgentId, done: LoggedOperation
) -> list[LaterOperation]:
    """Return the operations since on the memories and the line of this one, oldest first."""
    parameters = {
        "agent": agent,
        "id": done.log_id,
        "after": done.at,
        "operations": await find_operations_touching(connection, agent, done.ids),
    }
    rows = await fetch_rows(connection, _LATER, parameters)
    return [LaterOperation(row["id"], row["base"], row["reverts"]) for row in rows]


# --- a row of the log as a value ---------------------------------------------------------------


def _operation_from_row(row: Mapping[str, Any]) -> LoggedOperation:
    before, after = decode_beliefs(row["before_state"]), decode_beliefs(row["after_state"])
    corrected = decode_metadata(row["before_state"])
    return LoggedOperation(
        log_id=row["id"],
        operation=Operation(row["operation"]),
        relation=Relation(row["relation"]),
        at=row["created_at"],
        inserted=tuple(memory_id for memory_id in after if memory_id not in before),
        claimed=_list_claim_changes(before, after),
        corrected=MetadataChange(*corrected) if corrected else None,
        reinforced=None if row["taken_back"] else row["confirmed"],
        unconfirmed=row["confirmed"] if row["taken_back"] else None,
        links=decode_links(row["after_state"]),
        unlinked=decode_links(row["before_state"]),
        incoming=decode_fact(row["incoming"]) if row["incoming"] else None,
        undone_by=row["reverted_by"],
        settled=decode_settled(row["after_state"]),
        line=dict(zip(row["line"], row["line_undone"], strict=True)),
    )


def _list_claim_changes(
    before: Mapping[UUID, Belief], after: Mapping[UUID, Belief]
) -> tuple[ClaimChange, ...]:
    """Return what the operation changed in the claims of versions that were stored before it."""
    changes = []
    for memory_id in after:
        if memory_id not in before:
            continue
        old, new = _get_claims(before[memory_id]), _get_claims(after[memory_id])
        if old != new:
            changes.append(ClaimChange(memory_id, old, new))
    return tuple(changes)


def _get_claims(belief: Belief) -> dict[str, Any]:
    return {name: getattr(belief, name) for name in CLAIMS}
