"""How values followed one another: churn, flip-flops, lives, lengths of chains.

A line is the values of one slot, where that holds one at a time, else those of one chain: versions that were not withdrawn, in the order
of valid time. Hints go by the same lines.
"""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import fetch_rows
from app.store.insights.asked import MOST_IDS, InsightsScope, where_known_in_window
from app.store.tables import IN_SLOT

_OF_SLOTS = f"NOT void AND {IN_SLOT}"
_OF_CHAINS = f"NOT void AND NOT ({IN_SLOT})"

# An erased value is like no other.
_SAID = "coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))"

_NEWEST = "valid_from DESC, asserted_at DESC, id DESC"


def _union_lines_sql(select: str, *, of_top: bool = False) -> str:
    """The rows of all lines: `select` over those of slots and over those of chains, each by an index that covers it, in the index's order;
    with `of_top`, of the lines in `top` alone.

    `{members}` says which rows, `{by}` is the column that holds a line together, `{line}` names the line among both: the hash of its slot,
    or the 16 bytes of its chain's id.
    """
    slot, chain = (
        (" AND slot_hash = top.line", " AND chain_id = top.chain_id") if of_top else ("", "")
    )
    slots = select.format(members=_OF_SLOTS + slot, by="slot_hash", line="slot_hash")
    chains = select.format(members=_OF_CHAINS + chain, by="chain_id", line="uuid_send(chain_id)")
    return f"{slots} UNION ALL {chains}"


_CHAIN_OF_LINE = (
    "CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS chain_id"
)

# Of the lines in `top`: their versions, newest first, the one that holds, and the words and text of the newest.
_MEMBERS = "SELECT id, valid_from, valid_until, asserted_at FROM memories WHERE agent_id = :agent AND {members}"
_TOLD = f"""
    CROSS JOIN LATERAL (
        SELECT (array_agg(id ORDER BY {_NEWEST}))[1:{MOST_IDS}] AS ids, count(*) AS versions,
               (array_agg(id ORDER BY {_NEWEST}) FILTER (WHERE valid_from <= :as_of AND (valid_until IS NULL OR valid_until > :as_of)))[1]
                   AS current
        FROM ({_union_lines_sql(_MEMBERS, of_top=True)}) AS member
    ) AS whole
    JOIN (
        SELECT id AS last_id, entity, category, key, CASE WHEN erased_at IS NULL THEN content END AS content
        FROM memories WHERE agent_id = :agent
    ) AS last ON last.last_id = whole.ids[1]
"""

# Every version, with what the one before it says.
_STEPS = f"""
    SELECT {{by}}, id, kind, valid_from, asserted_at, created_at, {_SAID} AS said, lag({_SAID}) OVER line AS said_before
    FROM memories WHERE agent_id = :agent AND {{members}}
    WINDOW line AS (PARTITION BY {{by}} ORDER BY valid_from, asserted_at, id)
"""


# --- churn -------------------------------------------------------------------------------------------------------------

_CHANGES = f"""
    SELECT {{line}} AS line, kind, valid_from FROM ({_STEPS}) AS step WHERE said <> said_before AND {where_known_in_window("created_at")}
"""

_CHURN = f"""
    WITH top AS (
        SELECT line, {_CHAIN_OF_LINE}, kind, count(*) AS changes, min(valid_from) AS first_changed_at, max(valid_from) AS last_changed_at
        FROM ({_union_lines_sql(_CHANGES)}) AS change GROUP BY line, kind ORDER BY changes DESC, last_changed_at DESC, line, kind LIMIT :limit
    )
    SELECT top.*, whole.ids AS memory_ids, whole.versions, whole.current, last.* FROM top {_TOLD}
    ORDER BY changes DESC, last_changed_at DESC, line, kind
"""


async def read_churn(connection: AsyncConnection, scope: InsightsScope) -> list[dict[str, Any]]:
    """Lines by how often another value followed, and by the kind of what came; the most changed first."""
    return await fetch_rows(connection, _CHURN, scope.parameters)


# --- flip-flops --------------------------------------------------------------------------------------------------------

# Neighbours that say the same are one value, which begins with the first of them.
_RETURNS = f"""
    SELECT {{line}} AS line, id, kind, valid_from, first_id, first_from, between_id, between_from FROM (
        SELECT {{by}}, id, kind, valid_from, created_at, said, lag(said, 2) OVER run AS said_first,
               lag(id, 2) OVER run AS first_id, lag(valid_from, 2) OVER run AS first_from,
               lag(id) OVER run AS between_id, lag(valid_from) OVER run AS between_from
        FROM ({_STEPS}) AS step WHERE said IS DISTINCT FROM said_before
        WINDOW run AS (PARTITION BY {{by}} ORDER BY valid_from, asserted_at, id)
    ) AS value WHERE said = said_first AND {where_known_in_window("created_at")}
"""


def _latest_value_sql(column: str) -> str:
    return f"(array_agg({column} ORDER BY valid_from DESC, id DESC))[1] AS {column}"


# The steps of a return are looked up for the lines that are told.
_FLIP_FLOPS = f"""
    WITH top AS (
        SELECT line, {_CHAIN_OF_LINE}, count(*) AS returns, max(valid_from) AS again_from
        FROM ({_union_lines_sql(_RETURNS)}) AS returned
        GROUP BY line ORDER BY returns DESC, again_from DESC, line LIMIT :limit
    )
    SELECT top.*, latest.*, whole.current, last.* FROM top CROSS JOIN LATERAL (
        SELECT (array_agg(id ORDER BY valid_from DESC, id DESC))[1:{MOST_IDS}] AS memory_ids,
               {", ".join(map(_latest_value_sql, ("kind", "first_id", "first_from", "between_id", "between_from")))}
        FROM ({_union_lines_sql(_RETURNS, of_top=True)}) AS returned
    ) AS latest {_TOLD}
    ORDER BY returns DESC, again_from DESC, line
"""


async def read_flip_flops(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """Lines in which a value came back after one other, with the latest such return; those in which it happened most often first."""
    return await fetch_rows(connection, _FLIP_FLOPS, scope.parameters)


# --- lives -------------------------------------------------------------------------------------------------------------

_LIVES = f"""
    SELECT {{line}} AS line, id, kind, valid_from,
           CASE WHEN valid_until <= :as_of THEN date_part('epoch', valid_until - valid_from) / 86400 END AS days
    FROM memories
    WHERE agent_id = :agent AND {{members}} AND valid_from <= :as_of AND (valid_until IS NULL OR valid_until > valid_from)
      AND {where_known_in_window("created_at")}
"""

_COUNTED = "count(days) AS ended, count(*) - count(days) AS open, avg(days) AS mean_days"
_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY days) AS median_days"

_LIFETIMES = f"""
    WITH lives AS MATERIALIZED ({_union_lines_sql(_LIVES)}),
    kinds AS (SELECT kind, {_COUNTED}, {_MEDIAN} FROM lives GROUP BY kind),
    shortest AS (
        SELECT line, {_COUNTED} FROM lives GROUP BY line HAVING count(days) > 0 ORDER BY mean_days, ended DESC, line LIMIT :limit
    ),
    top AS (
        SELECT line, {_CHAIN_OF_LINE}, ended, open, mean_days, {_MEDIAN},
               (array_agg(id ORDER BY valid_from DESC, id DESC))[1:{MOST_IDS}] AS memory_ids
        FROM shortest JOIN lives USING (line) WHERE days IS NOT NULL GROUP BY line, ended, open, mean_days
    )
    SELECT kind, CAST(NULL AS bytea) AS line, CAST(NULL AS uuid) AS chain_id, ended, open, mean_days, median_days, memory_ids,
           CAST(NULL AS uuid) AS current, CAST(NULL AS text) AS entity, CAST(NULL AS text) AS category, CAST(NULL AS text) AS key,
           CAST(NULL AS text) AS content
    FROM kinds CROSS JOIN LATERAL (
        SELECT array_agg(id ORDER BY valid_from DESC, id DESC) AS memory_ids FROM (
            SELECT id, valid_from FROM lives WHERE lives.kind = kinds.kind AND days IS NOT NULL
            ORDER BY valid_from DESC, id DESC LIMIT {MOST_IDS}
        ) AS newest
    ) AS ids
    UNION ALL
    SELECT NULL, line, chain_id, ended, open, mean_days, median_days, memory_ids, current, entity, category, key, content FROM top {_TOLD}
    ORDER BY kind NULLS LAST, mean_days, ended DESC, line
"""


async def read_lifetimes(connection: AsyncConnection, scope: InsightsScope) -> list[dict[str, Any]]:
    """How many days values held that have ended: per kind, then per line (`kind` is None), the shortest first. What never held does not
    count."""
    return await fetch_rows(connection, _LIFETIMES, scope.parameters)


# --- lengths -----------------------------------------------------------------------------------------------------------

_IN_CHAINS = f"SELECT chain_id FROM memories WHERE agent_id = :agent AND {{members}} AND {where_known_in_window('created_at')}"

_CHAIN_LENGTHS = f"""
    WITH chains AS MATERIALIZED (
        SELECT chain_id, count(*) AS length FROM ({_union_lines_sql(_IN_CHAINS)}) AS version GROUP BY chain_id
    ),
    top AS (SELECT chain_id, length FROM chains ORDER BY length DESC, chain_id DESC LIMIT :limit)
    SELECT * FROM (
        SELECT length, count(*) AS chains, CAST(NULL AS uuid) AS chain_id, CAST(NULL AS uuid[]) AS memory_ids, CAST(NULL AS text) AS kind,
               CAST(NULL AS text) AS entity, CAST(NULL AS text) AS category, CAST(NULL AS text) AS key, CAST(NULL AS text) AS content
        FROM chains GROUP BY length
        UNION ALL
        SELECT length, NULL, top.chain_id, ids, kind, entity, category, key, CASE WHEN erased_at IS NULL THEN content END
        FROM top CROSS JOIN LATERAL (
            SELECT (array_agg(id ORDER BY {_NEWEST}))[1:{MOST_IDS}] AS ids FROM memories
            WHERE agent_id = :agent AND chain_id = top.chain_id AND NOT void AND {where_known_in_window("created_at")}
        ) AS whole JOIN memories AS last ON last.agent_id = :agent AND last.id = ids[1]
    ) AS told ORDER BY chains IS NULL, CASE WHEN chains IS NULL THEN -length ELSE length END, chain_id DESC
"""


async def read_chain_lengths(
    connection: AsyncConnection, scope: InsightsScope
) -> list[dict[str, Any]]:
    """How many chains have how many versions, shortest first; then the longest chains (`chains` is None)."""
    return await fetch_rows(connection, _CHAIN_LENGTHS, scope.parameters)
