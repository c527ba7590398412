"""The native format: the tables as sections of lines.

Export and import both derive their columns from the tables, so that a new column travels too.
"""

from dataclasses import dataclass

import sqlalchemy as sa
from pgvector.sqlalchemy import Vector
from sqlalchemy.dialects.postgresql import BYTEA, REGCONFIG, TIMESTAMP

from app.store.other_columns import NOT_EXPORTED
from app.store.tables import (
    agents,
    captured_facts,
    captures,
    consolidation_log,
    folded_operations,
    log_archives,
    log_checkpoints,
    memories,
    memory_beliefs,
    memory_relationships,
    memory_usage,
    reviews,
    turns,
)

FORMAT = 2

# The `type` of a line names its section, so a column of that name travels under another.
_WIRE_NAMES = {"type": "relationship_type"}


@dataclass(frozen=True, slots=True)
class TableSection:
    """The lines of one table: the `type` of each, and their order, which is that of an index."""

    type: str
    table: sa.Table
    order: tuple[str, ...]

    @property
    def columns(self) -> dict[str, sa.Column[object]]:
        """The columns that travel, by their names on the line."""
        return list_exported_columns(self.table)


def list_exported_columns(table: sa.Table) -> dict[str, sa.Column[object]]:
    """Return the columns of a table that travel, by their names on the line."""
    exported = [column for column in table.columns if column.name not in NOT_EXPORTED[table.name]]
    return {_WIRE_NAMES.get(column.name, column.name): column for column in exported}


def is_vector(column: sa.Column[object]) -> bool:
    return isinstance(column.type, Vector)


def wire_column_sql(column: sa.Column[object]) -> str:
    """Return the SQL of a column as its line carries it.

    Times are in UTC to the microsecond, hashes are in hexadecimal, languages are named.
    """
    if isinstance(column.type, TIMESTAMP):
        return f"""to_char({column.name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    if isinstance(column.type, BYTEA):
        return f"encode({column.name}, 'hex')"
    return f"{column.name}::text" if isinstance(column.type, REGCONFIG) else column.name


# The order is that of the foreign keys: a line points to earlier sections, or to its own.
SECTIONS = (
    TableSection("memory", memories, ("created_at", "id")),
    TableSection("belief", memory_beliefs, ("memory_id", "known_from")),
    TableSection("usage", memory_usage, ("memory_id",)),
    TableSection("operation", consolidation_log, ("created_at", "id")),
    TableSection("checkpoint", log_checkpoints, ("memory_id",)),
    TableSection("archive", log_archives, ("id",)),
    TableSection("folded", folded_operations, ("id",)),
    TableSection("relationship", memory_relationships, ("source_id", "target_id", "type")),
    TableSection("review", reviews, ("id",)),
    TableSection("capture", captures, ("id",)),
    TableSection("turn", turns, ("id",)),
    TableSection("captured", captured_facts, ("id",)),
)

AGENT_COLUMNS = list_exported_columns(agents)
