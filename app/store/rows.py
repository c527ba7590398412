"""Rows of the database as values of the domain."""

from sqlalchemy.engine import RowMapping

from app.domain.memory import Belief, Tier
from app.store.tables import BELIEF_COLUMNS


def belief_of(row: RowMapping) -> Belief:
    """The belief in a row of `memories` or `memory_beliefs`."""
    claims = {name: row[name] for name in BELIEF_COLUMNS}
    return Belief(**claims | {"tier": Tier(row["tier"])})
