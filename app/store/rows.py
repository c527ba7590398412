"""Rows of the database as values of the domain."""

from collections.abc import Mapping
from typing import Any

from app.domain.memory import Belief, Tier
from app.store.tables import BELIEF_COLUMNS


def belief_of(row: Mapping[str, Any]) -> Belief:
    """The belief in a row of `memories` or `memory_beliefs`."""
    claims = {name: row[name] for name in BELIEF_COLUMNS}
    return Belief(**claims | {"tier": Tier(row["tier"])})
