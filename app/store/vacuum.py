"""Rewrite the files of the database, so that none holds a byte of what was erased."""

import time

import psycopg
import sqlalchemy as sa

from app.store import schema, unfit
from app.store.installation import read_installation

# Seconds to wait for transactions that still see what was erased, and for each table.
PATIENCE = 60

_LIMIT_WAITING = sa.text(f"SET lock_timeout = '{PATIENCE}s'")

# Our tables, and at last the planner's statistics, of which each ANALYZE leaves the earlier ones.
_LIST_TABLES = sa.text("""
    SELECT CAST(CAST(c.oid AS regclass) AS text)
    FROM pg_class c
    JOIN pg_class m ON m.oid = to_regclass(quote_ident(:schema) || '.memories')
    WHERE c.relkind = 'r'
      AND c.relowner = m.relowner
      AND c.relnamespace IN (m.relnamespace, CAST(:queue AS regnamespace))
    UNION ALL
    SELECT 'pg_catalog.pg_statistic'
""")

_GET_PRESENT = sa.text("SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)")

# Does a transaction, a replica or a replication slot still see what was deleted before that time?
_IS_PAST_SEEN = sa.text("""
    SELECT EXISTS (
        SELECT FROM (
            SELECT backend_xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid()
            UNION ALL SELECT transaction FROM pg_prepared_xacts
            UNION ALL SELECT xmin FROM pg_replication_slots
            UNION ALL SELECT catalog_xmin FROM pg_replication_slots
        ) AS open (oldest)
        WHERE oldest IS NOT NULL AND age(oldest) > age(CAST(:present AS xid))
    )
""")

_COUNT_SEGMENTS = sa.text("SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'")

# Begin the next segment. Postgres fills the rest of the present one with zeros. The commit of this
# statement is the first record of the next one, without which that would not be switched.
_SWITCH_SEGMENT = sa.text("SELECT pg_current_xact_id(), pg_switch_wal()")

_CHECKPOINT = sa.text("CHECKPOINT")


def rewrite_files(owner_url: str) -> bool:
    """Rewrite the tables of the database, and the write-ahead log of its server.

    Each table is locked meanwhile. Return False if this login may not rewrite the write-ahead log.
    Raise PastInUse if a transaction still sees what was erased, and TableInUse; both may be tried
    again.
    """
    installation = read_installation(owner_url)
    names = {"schema": installation.schema, "queue": installation.queue_schema}
    with schema.open_owner(owner_url) as opened:
        connection = opened.execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(_LIMIT_WAITING)
        _wait_for_readers(connection)
        for table in connection.execute(_LIST_TABLES, names).scalars().all():
            _rewrite_table(connection, table)
        try:
            _rewrite_log(connection)
        except sa.exc.ProgrammingError as problem:
            if not isinstance(problem.orig, psycopg.errors.InsufficientPrivilege):
                raise
            return False
    return True


def _wait_for_readers(connection: sa.Connection) -> None:
    """Wait for transactions that began before now: VACUUM keeps what they see."""
    present = {"present": connection.execute(_GET_PRESENT).scalar_one()}
    deadline = time.monotonic() + PATIENCE
    while connection.execute(_IS_PAST_SEEN, present).scalar_one():
        if time.monotonic() > deadline:
            raise unfit.PastInUse
        time.sleep(0.1)


def _rewrite_table(connection: sa.Connection, table: str) -> None:
    try:
        connection.execute(sa.text(f"VACUUM (FULL) {table}"))
    except sa.exc.OperationalError as problem:
        if not isinstance(problem.orig, psycopg.errors.LockNotAvailable):
            raise
        raise unfit.TableInUse(table) from None


def _rewrite_log(connection: sa.Connection) -> None:
    """Write over every segment of the write-ahead log.

    A checkpoint reuses old segments as they are, as segments to come. So the first round ends them
    all, and the second one writes over those that were reused.
    """
    for _ in range(2):
        for _ in range(connection.execute(_COUNT_SEGMENTS).scalar_one()):
            connection.execute(_SWITCH_SEGMENT)
        connection.execute(_CHECKPOINT)
