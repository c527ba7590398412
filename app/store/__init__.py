"""All SQL: engine, tables, reads, writes, migrations and the embedded Postgres.

Writers never commit: whoever opens a transaction ends it.
"""
