"""Run the migrations over the connection that `app.store.schema` hands in."""

from alembic import context

from app.store.tables import metadata

# A transaction for each revision: what one of them locks is free again before the next one scans.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transaction_per_migration=True,
    version_table_schema=context.config.attributes["schema"],
)
with context.begin_transaction():
    context.run_migrations()
