"""Where each table lies if several nodes share the rows of agents, as with Citus."""

from app.store.tables import metadata

# Every node has a copy. Statements may read these tables together with those of agents.
REFERENCE = ("encoder", "webhooks", "webhook_positions")

# They lie on one node, and no statement reads them together with tables of agents.
LOCAL = (
    "alembic_version",
    "api_keys",
    "console_sessions",
    "oauth_grants",
    "webhook_deliveries",
)

# All rows of an agent lie on one node, chosen by `agent_id`. No table comes before one that it
# points to.
DISTRIBUTED = tuple(
    table.name for table in metadata.sorted_tables if table.name not in (*REFERENCE, *LOCAL)
)
