"""The native format: the tables as sections of lines. Export and import both go by this, so that a column added to a table travels."""

from dataclasses import dataclass

import sqlalchemy as sa
from pgvector.sqlalchemy import Vector
from sqlalchemy.dialects.postgresql import REGCONFIG

from app.store.other_columns import NOT_EXPORTED
from app.store.tables import (
    agents,
    consolidation_log,
    folded_operations,
    log_archives,
    log_checkpoints,
    memories,
    memory_beliefs,
    memory_relationships,
    memory_usage,
    reviews,
)

FORMAT = 1

# The line's own `type` says which section it belongs to; a column of that name travels under another.
_WIRE_NAMES = {"type": "relationship_type"}


@dataclass(frozen=True, slots=True)
class TableSection:
    """The lines of one table: the `type` each carries, and their order, which an index of the table gives."""

    type: str
    table: sa.Table
    order: tuple[str, ...]

    @property
    def columns(self) -> dict[str, sa.Column[object]]:
        """What travels, by its name on the line: every column but the agent and what is computed."""
        return list_exported_columns(self.table)


def list_exported_columns(table: sa.Table) -> dict[str, sa.Column[object]]:
    """The columns of a table that travel, by their names on the line."""
    return {
        _WIRE_NAMES.get(c.name, c.name): c
        for c in table.columns
        if c.name not in NOT_EXPORTED[table.name]
    }


def is_vector(column: sa.Column[object]) -> bool:
    return isinstance(column.type, Vector)


def is_language(column: sa.Column[object]) -> bool:
    return isinstance(column.type, REGCONFIG)


# In the order of the foreign keys: what a line points to stands before it, or in its own section.
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
)

AGENT_COLUMNS = list_exported_columns(agents)
