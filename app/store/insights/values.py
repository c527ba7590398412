"""Successions of values: churn, flip-flops, lives, lengths of chains.

A line is the values of one slot that holds one value at a time, or else those of one chain: the
versions that were not withdrawn, in the order of valid time. Hints go by the same lines.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import fetch_rows
from app.store.fragments import ONE_VALUE, build_holds
from app.store.insights.scope import (
    MOST_IDS,
    InsightsScope,
    select_examined,
    where_known_in_window,
)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of one sort: the condition on their versions, and the column that joins a line.

    `name` is the SQL that names a line among those of both sorts: the hash of its slot, or the 16
    bytes of its chain's id.
    """

    members: str
    column: str
    name: str


_SLOTS = _Lines(f"NOT void AND {ONE_VALUE}", "slot_hash", "slot_hash")
_CHAINS = _Lines(f"NOT void AND NOT ({ONE_VALUE})", "chain_id", "uuid_send(chain_id)")

_SLOTS_IN_TOP = _Lines(f"{_SLOTS.members} AND slot_hash = top.line", _SLOTS.column, _SLOTS.name)
_CHAINS_IN_TOP = _Lines(
    f"{_CHAINS.members} AND chain_id = top.chain_id", _CHAINS.column, _CHAINS.name
)


def _union_lines_sql(select: Callable[[_Lines], str]) -> str:
    """Return the rows of all lines. An index covers either half, in the index's order."""
    return f"{select(_SLOTS)} UNION ALL {select(_CHAINS)}"


def _union_top_lines_sql(select: Callable[[_Lines], str]) -> str:
    """Return the rows of the lines in the CTE `top`."""
    return f"{select(_SLOTS_IN_TOP)} UNION ALL {select(_CHAINS_IN_TOP)}"


# The chain of a line that is one.
_CHAIN_OF_LINE = """
    CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS chain_id
"""

# An erased value equals no other.
_VALUE = "coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))"

_NEWEST_FIRST = "valid_from DESC, asserted_at DESC, id DESC"

# What is counted of a memory.
_EXAMINED = select_examined(
    "memories",
    """
        id,
        chain_id,
        slot_hash,
        slot_key,
        single_valued,
        kind,
        value_hash,
        folded_hash,
        valid_from,
        valid_until,
        asserted_at,
        created_at,
        void
    """,
)


def _build_forms(build: Callable[[bool], str]) -> Mapping[bool, str]:
    """Return the statements of a section, by whether the scope is bounded."""
    return {is_bounded: build(is_bounded) for is_bounded in (False, True)}


def _choose_source(is_bounded: bool) -> str:
    """Return the FROM and the beginning of the WHERE of what is counted."""
    return "FROM examined WHERE true" if is_bounded else "FROM memories WHERE agent_id = :agent"


def _start_statement(is_bounded: bool) -> str:
    return f"WITH {_EXAMINED}," if is_bounded else "WITH"


def _select_members(lines: _Lines) -> str:
    return f"""
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND {lines.members}
    """


# Joins to a line in `top` its versions, newest first, the one that holds, and the words and text
# of the newest.
_DESCRIPTION = f"""
    CROSS JOIN LATERAL (
        SELECT
            (array_agg(id ORDER BY {_NEWEST_FIRST}))[1:{MOST_IDS}] AS ids,
            count(*) AS versions,
            (
                array_agg(id ORDER BY {_NEWEST_FIRST}) FILTER (
                    WHERE {build_holds("member.", ":as_of")}
                )
            )[1] AS current
        FROM ({_union_top_lines_sql(_select_members)}) AS member
    ) AS whole
    JOIN (
        SELECT
            id AS last_id,
            entity,
            category,
            key,
            CASE WHEN erased_at IS NULL THEN content END AS content
        FROM memories
        WHERE agent_id = :agent
    ) AS last ON last.last_id = whole.ids[1]
"""


def _select_steps(lines: _Lines) -> str:
    """Return every version with its value and the value of the one before it."""
    return f"""
        SELECT
            {lines.column},
            id,
            kind,
            valid_from,
            asserted_at,
            created_at,
            {_VALUE} AS value,
            lag({_VALUE}) OVER line AS value_before
        FROM memories
        WHERE agent_id = :agent AND {lines.members}
        WINDOW line AS (PARTITION BY {lines.column} ORDER BY valid_from, asserted_at, id)
    """


def _select_value_before(lines: _Lines, condition: str = "true") -> str:
    """Return the value of the last version before `step` in its line that meets the condition."""
    return f"""
        (
            SELECT {_VALUE}
            FROM memories
            WHERE agent_id = :agent
                AND {lines.members}
                AND {lines.column} = step.{lines.column}
                AND (valid_from, asserted_at, id) < (step.valid_from, step.asserted_at, step.id)
                AND {condition}
            ORDER BY {_NEWEST_FIRST}
            LIMIT 1
        )
    """


def _select_examined_steps(lines: _Lines) -> str:
    """Return the same of the versions in `examined`. The versions before them are looked up."""
    return f"""
        SELECT
            {lines.column},
            id,
            kind,
            valid_from,
            asserted_at,
            created_at,
            {_VALUE} AS value,
            {_select_value_before(lines)} AS value_before
        FROM examined AS step
        WHERE {lines.members}
    """


# --- churn -------------------------------------------------------------------------------------


def _select_changes(lines: _Lines, *, is_bounded: bool) -> str:
    select_steps = _select_examined_steps if is_bounded else _select_steps
    return f"""
        SELECT {lines.name} AS line, kind, valid_from
        FROM ({select_steps(lines)}) AS step
        WHERE value <> value_before AND {where_known_in_window("created_at")}
    """


def _build_churn(is_bounded: bool) -> str:
    """Return the statement that counts the changes of each line by the kind of the new value."""
    changes = _union_lines_sql(partial(_select_changes, is_bounded=is_bounded))
    return f"""
    {_start_statement(is_bounded)} top AS (
        SELECT
            line,
            {_CHAIN_OF_LINE},
            kind,
            count(*) AS changes,
            min(valid_from) AS first_changed_at,
            max(valid_from) AS last_changed_at
        FROM ({changes}) AS change
        GROUP BY line, kind
        ORDER BY changes DESC, last_changed_at DESC, line, kind
        LIMIT :limit
    )
    SELECT top.*, whole.ids AS memory_ids, whole.versions, whole.current, last.*
    FROM top
    {_DESCRIPTION}
    ORDER BY changes DESC, last_changed_at DESC, line, kind
    """


_CHURN = _build_forms(_build_churn)


async def read_churn(connection: AsyncConnection, scope: InsightsScope) -> list[dict[str, Any]]:
    """Return lines with the number of their changes, by the kind of the new value.

    The most changed lines come first.
    """
    return await fetch_rows(connection, _CHURN[scope.is_bounded], scope.parameters)


# --- flip-flops --------------------------------------------------------------------------------


def _select_returns(lines: _Lines) -> str:
    """Return the values that came back after one other value.

    Equal neighbours are one value, which begins with the first of them.
    """
    return f"""
        SELECT
            {lines.name} AS line,
            id,
            kind,
            valid_from,
            first_id,
            first_from,
            between_id,
            between_from
        FROM (
            SELECT
                {lines.column},
                id,
                kind,
                valid_from,
                created_at,
                value,
                lag(value, 2) OVER run AS first_value,
                lag(id, 2) OVER run AS first_id,
                lag(valid_from, 2) OVER run AS first_from,
                lag(id) OVER run AS between_id,
                lag(valid_from) OVER run AS between_from
            FROM ({_select_steps(lines)}) AS step
            WHERE value IS DISTINCT FROM value_before
            WINDOW run AS (PARTITION BY {lines.column} ORDER BY valid_from, asserted_at, id)
        ) AS run
        WHERE value = first_value AND {where_known_in_window("created_at")}
    """


def _select_examined_returns(lines: _Lines) -> str:
    """Return the same of the versions in `examined`, without the steps before them."""
    first_value = _select_value_before(lines, f"{_VALUE} <> step.value_before")
    return f"""
        SELECT {lines.name} AS line, valid_from
        FROM ({_select_examined_steps(lines)}) AS step
        WHERE value <> value_before AND value = {first_value}
    """


def _latest_value_sql(column: str) -> str:
    return f"(array_agg({column} ORDER BY valid_from DESC, id DESC))[1] AS {column}"


def _build_flip_flops(is_bounded: bool) -> str:
    """Return the statement that finds the lines with most returns.

    The steps of a return are looked up for these lines only.
    """
    select_returns = _select_examined_returns if is_bounded else _select_returns
    return f"""
    {_start_statement(is_bounded)} top AS (
        SELECT line, {_CHAIN_OF_LINE}, count(*) AS returns, max(valid_from) AS again_from
        FROM ({_union_lines_sql(select_returns)}) AS returned
        GROUP BY line
        ORDER BY returns DESC, again_from DESC, line
        LIMIT :limit
    )
    SELECT top.*, latest.*, whole.current, last.*
    FROM top
    CROSS JOIN LATERAL (
        SELECT
            (array_agg(id ORDER BY valid_from DESC, id DESC))[1:{MOST_IDS}] AS memory_ids,
            {_latest_value_sql("kind")},
            {_latest_value_sql("first_id")},
            {_latest_value_sql("first_from")},
            {_latest_value_sql("between_id")},
            {_latest_value_sql("between_from")}
        FROM ({_union_top_lines_sql(_select_returns)}) AS returned
    ) AS latest
    {_DESCRIPTION}
    ORDER BY returns DESC, again_from DESC, line
    """


_FLIP_FLOPS = _build_forms(_build_flip_flops)


async def read_flip_flops(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Return lines in which a value came back after one other, with the latest such return.

    The lines in which it happened most often come first.
    """
    return await fetch_rows(connection, _FLIP_FLOPS[scope.is_bounded], scope.parameters)


# --- lives -------------------------------------------------------------------------------------


def _select_lives(lines: _Lines, *, source: str) -> str:
    return f"""
        SELECT
            {lines.name} AS line,
            id,
            kind,
            valid_from,
            CASE
                WHEN valid_until <= :as_of
                THEN date_part('epoch', valid_until - valid_from) / 86400
            END AS days
        {source}
            AND {lines.members}
            AND valid_from <= :as_of
            AND (valid_until IS NULL OR valid_until > valid_from)
            AND {where_known_in_window("created_at")}
    """


_LIFE_COUNTS = "count(days) AS ended, count(*) - count(days) AS open, avg(days) AS mean_days"
_MEDIAN_DAYS = "percentile_cont(0.5) WITHIN GROUP (ORDER BY days) AS median_days"


def _build_lifetimes(is_bounded: bool) -> str:
    """Return the statement that counts the days that values held.

    It does so for each kind, and for the lines with the shortest lives.
    """
    source = _choose_source(is_bounded)
    lives = _union_lines_sql(partial(_select_lives, source=source))
    return f"""
    {_start_statement(is_bounded)} lives AS MATERIALIZED ({lives}),
    kinds AS (
        SELECT kind, {_LIFE_COUNTS}, {_MEDIAN_DAYS}
        FROM lives
        GROUP BY kind
    ),
    shortest AS (
        SELECT line, {_LIFE_COUNTS}
        FROM lives
        GROUP BY line
        HAVING count(days) > 0
        ORDER BY mean_days, ended DESC, line
        LIMIT :limit
    ),
    top AS (
        SELECT
            line,
            {_CHAIN_OF_LINE},
            ended,
            open,
            mean_days,
            {_MEDIAN_DAYS},
            (array_agg(id ORDER BY valid_from DESC, id DESC))[1:{MOST_IDS}] AS memory_ids
        FROM shortest
        JOIN lives USING (line)
        WHERE days IS NOT NULL
        GROUP BY line, ended, open, mean_days
    )
    SELECT
        kind,
        CAST(NULL AS bytea) AS line,
        CAST(NULL AS uuid) AS chain_id,
        ended,
        open,
        mean_days,
        median_days,
        memory_ids,
        CAST(NULL AS uuid) AS current,
        CAST(NULL AS uuid) AS last_id,
        CAST(NULL AS text) AS entity,
        CAST(NULL AS text) AS category,
        CAST(NULL AS text) AS key,
        CAST(NULL AS text) AS content
    FROM kinds
    CROSS JOIN LATERAL (
        SELECT array_agg(id ORDER BY valid_from DESC, id DESC) AS memory_ids
        FROM (
            SELECT id, valid_from
            FROM lives
            WHERE lives.kind = kinds.kind AND days IS NOT NULL
            ORDER BY valid_from DESC, id DESC
            LIMIT {MOST_IDS}
        ) AS newest
    ) AS ids
    UNION ALL
    SELECT
        NULL,
        line,
        chain_id,
        ended,
        open,
        mean_days,
        median_days,
        memory_ids,
        current,
        last_id,
        entity,
        category,
        key,
        content
    FROM top
    {_DESCRIPTION}
    ORDER BY kind NULLS LAST, mean_days, ended DESC, line
    """


_LIFETIMES = _build_forms(_build_lifetimes)


async def read_lifetimes(connection: AsyncConnection, scope: InsightsScope) -> list[dict[str, Any]]:
    """Return how many days values held that have ended, per kind and then per line.

    `kind` is None for a line; the lines with the shortest lives come first. A value that never
    held does not count.
    """
    return await fetch_rows(connection, _LIFETIMES[scope.is_bounded], scope.parameters)


# --- lengths -----------------------------------------------------------------------------------


def _select_chains(lines: _Lines, *, source: str) -> str:
    return f"""
        SELECT chain_id
        {source}
            AND {lines.members}
            AND {where_known_in_window("created_at")}
    """


def _build_chain_lengths(is_bounded: bool) -> str:
    """Return the statement that counts the chains of each length, and describes the longest."""
    source = _choose_source(is_bounded)
    versions = _union_lines_sql(partial(_select_chains, source=source))
    return f"""
    {_start_statement(is_bounded)} chains AS MATERIALIZED (
        SELECT chain_id, count(*) AS length
        FROM ({versions}) AS version
        GROUP BY chain_id
    ),
    top AS (
        SELECT chain_id, length
        FROM chains
        ORDER BY length DESC, chain_id DESC
        LIMIT :limit
    )
    SELECT *
    FROM (
        SELECT
            length,
            count(*) AS chains,
            CAST(NULL AS uuid) AS chain_id,
            CAST(NULL AS uuid[]) AS memory_ids,
            CAST(NULL AS text) AS kind,
            CAST(NULL AS text) AS entity,
            CAST(NULL AS text) AS category,
            CAST(NULL AS text) AS key,
            CAST(NULL AS text) AS content
        FROM chains
        GROUP BY length
        UNION ALL
        SELECT
            length,
            NULL,
            top.chain_id,
            ids,
            kind,
            entity,
            category,
            key,
            CASE WHEN erased_at IS NULL THEN content END
        FROM top
        CROSS JOIN LATERAL (
            SELECT (array_agg(id ORDER BY {_NEWEST_FIRST}))[1:{MOST_IDS}] AS ids
            FROM memories
            WHERE agent_id = :agent
                AND chain_id = top.chain_id
                AND NOT void
                AND {where_known_in_window("created_at")}
        ) AS whole
        JOIN memories AS last ON last.agent_id = :agent AND last.id = ids[1]
    ) AS lengths
    ORDER BY
        chains IS NULL,
        CASE WHEN chains IS NULL THEN -length ELSE length END,
        chain_id DESC
    """


_CHAIN_LENGTHS = _build_forms(_build_chain_lengths)


async def read_chain_lengths(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Return how many chains have how many versions, shortest first; then the longest chains.

    `chains` is None for a chain.
    """
    return await fetch_rows(connection, _CHAIN_LENGTHS[scope.is_bounded], scope.parameters)
