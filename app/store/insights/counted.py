"""The insights of a large agent, as a worker counted them last.

The worker counts now and then what a question without a window answers, and stores the rows with
the index of the agent. They quote memories. An erasure of one that they name removes them, in its
own transaction.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.insights import Section
from app.store.counting import build_is_due
from app.store.engine import begin_for_agent, fetch_rows, lift_statement_timeout
from app.store.fragments import CLOCK
from app.store.insights.constraints import read_stale_constraints
from app.store.insights.outcomes import read_retire_rates, read_signal_outcomes
from app.store.insights.scope import InsightsScope, open_insights_snapshot
from app.store.insights.values import (
    read_chain_lengths,
    read_churn,
    read_flip_flops,
    read_lifetimes,
)
from app.store.memories import read_moment

Rows = list[dict[str, Any]]

_READERS = {
    Section.CHURN: read_churn,
    Section.FLIP_FLOPS: read_flip_flops,
    Section.LIFETIMES: read_lifetimes,
    Section.RETIRE_RATES: read_retire_rates,
    Section.SIGNALS: read_signal_outcomes,
    Section.STALE_CONSTRAINTS: read_stale_constraints,
    Section.CHAIN_LENGTHS: read_chain_lengths,
}

# Stale constraints are found by indexes, so each call reads them anew.
COUNTED = tuple(section for section in Section if section is not Section.STALE_CONSTRAINTS)
# Entries of a section that are stored. A question for more is answered anew.
MOST_ENTRIES = 100


async def read_section(connection: AsyncConnection, section: Section, scope: InsightsScope) -> Rows:
    """Return the rows of a section. The connection is that of an insights snapshot."""
    return await _READERS[section](connection, scope)


# --- what was counted ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CountedInsights:
    """The rows of sections, and the moment of valid time as of which they were counted."""

    as_of: datetime
    rows: Mapping[Section, Rows]


def _is_total(section: Section, row: Mapping[str, Any]) -> bool:
    """Return True for a row about the whole agent, which `limit` does not leave out."""
    if section is Section.LIFETIMES:
        return row["kind"] is not None
    return section is Section.CHAIN_LENGTHS and row["chains"] is not None


# Read the stored rows of sections, as text.
_FIND = """
    SELECT section, i.insights_as_of, CAST(i.insights -> section AS text) AS rows
    FROM agent_indexes i
    CROSS JOIN unnest(CAST(:sections AS text[])) AS section
    WHERE i.agent_id = :agent AND i.insights IS NOT NULL
"""


async def find_counted_insights(
    connection: AsyncConnection, agent: AgentId, sections: Iterable[Section], limit: int
) -> CountedInsights | None:
    """Return what was counted last for these sections, with `limit` entries each.

    Only a large agent has such insights, and they have no more than MOST_ENTRIES.
    """
    if limit > MOST_ENTRIES:
        return None
    names = [section for section in sections if section in COUNTED]
    stored = await fetch_rows(connection, _FIND, {"agent": agent, "sections": names})
    if not stored:
        return None
    rows = {}
    for one in stored:
        section = Section(one["section"])
        counted: Rows = json.loads(one["rows"], object_hook=_decode_value)
        totals = [row for row in counted if _is_total(section, row)]
        entries = [row for row in counted if not _is_total(section, row)]
        rows[section] = totals + entries[:limit]
    return CountedInsights(stored[0]["insights_as_of"], rows)


# --- rows as JSON --------------------------------------------------------------------------------


def _encode_value(value: object) -> object:
    """Return a value of a row as JSON. The name of a line is made from words and is left out."""
    match value:
        case datetime():
            return {"time": value.isoformat()}
        case UUID():
            return {"id": str(value)}
        case bytes():
            return None
    raise TypeError(type(value).__name__)


def _decode_value(value: dict[str, Any]) -> object:
    match value:
        case {"time": time_text, **others} if not others:
            return datetime.fromisoformat(time_text)
        case {"id": id_text, **others} if not others:
            return UUID(id_text)
    return value


def _list_ids(value: object) -> Iterator[UUID]:
    """Yield the ids in the rows of a section."""
    match value:
        case UUID():
            yield value
        case dict():
            yield from _list_ids(list(value.values()))
        case list():
            for one in value:
                yield from _list_ids(one)


# --- counting ------------------------------------------------------------------------------------

# Is it time to count anew, and when was the last erasure?
_READ_NEED = f"""
    SELECT {build_is_due("i.insights_as_of", "i.insights_seconds")} AS is_due, a.last_erased_at
    FROM agent_indexes i
    JOIN agents a ON a.agent_id = :agent
    CROSS JOIN {CLOCK}
    WHERE i.agent_id = :agent
"""

# Wait for a write under way, and read when the last erasure was.
_LOCK_ERASURES = "SELECT last_erased_at FROM agents WHERE agent_id = :agent FOR SHARE"

_STORE = """
    UPDATE agent_indexes
    SET insights = CAST(:insights AS jsonb),
        insights_ids = :ids,
        insights_as_of = :as_of,
        insights_seconds = :seconds
    WHERE agent_id = :agent
"""


async def refresh_insights(engine: AsyncEngine, agent: AgentId) -> None:
    """Count the insights of a large agent anew if it is time.

    The result is dropped if something was erased meanwhile. The next call works on what is left.
    """
    async with begin_for_agent(engine, agent) as connection:
        needs = await fetch_rows(connection, _READ_NEED, {"agent": agent})
    if not needs or not needs[0]["is_due"]:
        return
    started = time.monotonic()
    async with open_insights_snapshot(engine, agent, None) as connection:
        await lift_statement_timeout(connection)
        moment = await read_moment(connection, agent)
        scope = InsightsScope(agent, moment.as_of, None, None, MOST_ENTRIES, 0)
        rows = {name: await read_section(connection, name, scope) for name in COUNTED}
    values = {
        "agent": agent,
        "insights": json.dumps(rows, default=_encode_value),
        "ids": list(set(_list_ids(rows))),
        "as_of": moment.as_of,
        "seconds": time.monotonic() - started,
    }
    async with begin_for_agent(engine, agent) as connection:
        [lock] = await fetch_rows(connection, _LOCK_ERASURES, {"agent": agent})
        if lock["last_erased_at"] == needs[0]["last_erased_at"]:
            await fetch_rows(connection, _STORE, values)


# --- erasing -------------------------------------------------------------------------------------

_FORGET = """
    UPDATE agent_indexes SET insights = NULL, insights_ids = NULL
    WHERE agent_id = :agent AND EXISTS (
        SELECT unnest(insights_ids) INTERSECT SELECT unnest(CAST(:ids AS uuid[]))
    )
"""


async def forget_insights(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]) -> None:
    """Remove the stored insights of a large agent if they name one of these memories.

    The agent is locked. The worker counts them anew.
    """
    await fetch_rows(connection, _FORGET, {"agent": agent, "ids": list(ids)})
