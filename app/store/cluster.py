"""The tables of a Citus cluster: put each in its place, and find what is not as it should be.

Where each table belongs is in `placement`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from app.planning.audit.faults import Fault
from app.store.engine import fetch_rows
from app.store.placement import DISTRIBUTED, REFERENCE

# Nodes whose clocks differ by more may date a use before the write of what was used.
MOST_CLOCK_SKEW = timedelta(seconds=0.5)

_IS_INSTALLED = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS is_installed"

_IS_DISTRIBUTED = """
    SELECT EXISTS (
        SELECT FROM pg_dist_partition WHERE logicalrelid = CAST('agents' AS regclass)
    ) AS is_distributed
"""

# Find the place of each of these tables: "distributed" with the agents, "reference", or neither.
_FIND_PLACES = """
    SELECT
        name,
        coalesce(p.partkey IS NULL AND p.repmodel = 't', false) AS is_reference,
        coalesce(p.partkey IS NOT NULL AND p.colocationid = a.colocationid, false) AS is_distributed
    FROM unnest(CAST(:tables AS text[])) AS name
    LEFT JOIN pg_dist_partition AS p ON p.logicalrelid = CAST(name AS regclass)
    LEFT JOIN pg_dist_partition AS a ON a.logicalrelid = CAST('agents' AS regclass)
"""

# --- putting tables in their place ---------------------------------------------------------------


def is_installed(connection: sa.Connection) -> bool:
    """Return whether the database has the extension."""
    return bool(connection.execute(sa.text(_IS_INSTALLED)).scalar())


def is_distributed(connection: sa.Connection) -> bool:
    """Return whether the tables of agents lie on several nodes. The extension is installed."""
    return bool(connection.execute(sa.text(_IS_DISTRIBUTED)).scalar())


def place_new_tables(connection: sa.Connection) -> None:
    """Put each table in its place that is not there, if the database is distributed."""
    if is_installed(connection) and is_distributed(connection):
        place_tables(connection, shards=None)


_CREATE_REFERENCE = sa.text("SELECT create_reference_table(:table)")

_DISTRIBUTE = sa.text("SELECT create_distributed_table(:table, 'agent_id', shard_count => :shards)")

_DISTRIBUTE_ALONGSIDE = sa.text(
    "SELECT create_distributed_table(:table, 'agent_id', colocate_with => 'agents')"
)

# Remove the rows that stay behind in the coordinator's own table, where nobody sees them.
_REMOVE_LOCAL_ROWS = sa.text("SELECT truncate_local_data_after_distributing_table(:table)")


def place_tables(connection: sa.Connection, *, shards: int | None) -> list[str]:
    """Put each table in its place, and return the names of those that were not there.

    `shards` is the number of parts of a distributed table, None for that of those that are there.
    """
    tables = {"tables": [*REFERENCE, *DISTRIBUTED]}
    places = {row.name: row for row in connection.execute(sa.text(_FIND_PLACES), tables)}
    missing = [table for table in REFERENCE if not places[table].is_reference]
    spread = [table for table in DISTRIBUTED if not places[table].is_distributed]
    # One connection to each node, so that a table finds there what it points to.
    connection.execute(sa.text("SET LOCAL citus.multi_shard_modify_mode = 'sequential'"))
    for table in missing:
        connection.execute(_CREATE_REFERENCE, {"table": table})
    for table in spread:
        with _without_own_references(connection, table):
            if table == "agents":
                connection.execute(_DISTRIBUTE, {"table": table, "shards": shards})
            else:
                connection.execute(_DISTRIBUTE_ALONGSIDE, {"table": table})
    for table in reversed([*missing, *spread]):
        connection.execute(_REMOVE_LOCAL_ROWS, {"table": table})
    return [*missing, *spread]


_LIST_OWN_REFERENCES = sa.text("""
    SELECT conname AS name, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint
    WHERE contype = 'f' AND conrelid = CAST(:table AS regclass) AND confrelid = conrelid
""")


@contextmanager
def _without_own_references(connection: sa.Connection, table: str) -> Iterator[None]:
    """Drop the foreign keys of the table to itself meanwhile, and add them again afterwards.

    The rows move in several statements, and a row may move before the one that it points to.
    """
    rules = connection.execute(_LIST_OWN_REFERENCES, {"table": table}).all()
    for rule in rules:
        connection.execute(sa.text(f"ALTER TABLE {table} DROP CONSTRAINT {rule.name}"))
    yield
    for rule in rules:
        add = f"ALTER TABLE {table} ADD CONSTRAINT {rule.name} {rule.definition}"
        connection.execute(sa.text(add))


# --- examining -----------------------------------------------------------------------------------

_LIST_NODES = """
    SELECT nodename || ':' || nodeport AS name, isactive AND metadatasynced AS is_ready
    FROM pg_dist_node
    ORDER BY 1
"""

# Read the clock of each worker, and that of the coordinator right before and after.
_READ_CLOCKS = """
    SELECT
        nodename || ':' || nodeport AS name,
        success,
        CASE WHEN success THEN CAST(result AS timestamptz) END AS clock,
        statement_timestamp() AS earliest,
        clock_timestamp() AS latest
    FROM run_command_on_workers('SELECT clock_timestamp()')
    ORDER BY 1
"""

# Find nodes that acknowledge a commit before it is on disk. Citus moves what is on disk. The
# coordinator is asked directly: it may let nobody log in as a node does, itself included.
_FIND_HASTY_NODES = """
    SELECT nodename || ':' || nodeport AS name
    FROM run_command_on_workers('SELECT current_setting(''synchronous_commit'')')
    WHERE success AND result = 'off'
    UNION ALL
    SELECT nodename || ':' || nodeport
    FROM pg_dist_node
    WHERE groupid = 0 AND current_setting('synchronous_commit') = 'off'
    ORDER BY 1
"""


async def find_cluster_faults(connection: AsyncConnection) -> list[Fault]:
    """Return what is wrong with the tables, the nodes and their clocks and settings.

    Return nothing if the database is not distributed.
    """
    [row] = await fetch_rows(connection, _IS_INSTALLED, {})
    if not row["is_installed"]:
        return []
    [row] = await fetch_rows(connection, _IS_DISTRIBUTED, {})
    if not row["is_distributed"]:
        return []
    faults = await _find_misplaced_tables(connection)
    for row in await fetch_rows(connection, _LIST_NODES, {}):
        if not row["is_ready"]:
            faults.append(_build_fault(row["name"], f"The node {row['name']} is not active."))
    faults += await _find_wrong_clocks(connection)
    for row in await fetch_rows(connection, _FIND_HASTY_NODES, {}):
        sentence = (
            f"The node {row['name']} has synchronous_commit = off. A part that moves to another "
            "node while it is written may lose what was acknowledged."
        )
        faults.append(_build_fault(row["name"], sentence))
    return faults


async def _find_misplaced_tables(connection: AsyncConnection) -> list[Fault]:
    tables = {"tables": [*REFERENCE, *DISTRIBUTED]}
    faults = []
    for row in await fetch_rows(connection, _FIND_PLACES, tables):
        name = row["name"]
        if name in REFERENCE and not row["is_reference"]:
            faults.append(_build_fault(name, f"Not every node has a copy of the table {name}."))
        if name in DISTRIBUTED and not row["is_distributed"]:
            sentence = f"The table {name} does not lie on the nodes where its agents lie."
            faults.append(_build_fault(name, sentence))
    return faults


async def _find_wrong_clocks(connection: AsyncConnection) -> list[Fault]:
    faults = []
    for row in await fetch_rows(connection, _READ_CLOCKS, {}):
        name = row["name"]
        if not row["success"]:
            faults.append(_build_fault(name, f"The node {name} does not answer."))
            continue
        skew = max(row["earliest"] - row["clock"], row["clock"] - row["latest"])
        if skew > MOST_CLOCK_SKEW:
            seconds = f"{skew.total_seconds():.1f} s"
            sentence = f"The clock of the node {name} differs from the coordinator's by {seconds}."
            faults.append(_build_fault(name, sentence))
    return faults


def _build_fault(name: str, sentence: str) -> Fault:
    return Fault("cluster", (name,), sentence)
