import re
import warnings
from collections import defaultdict
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from procrastinate.schema import SchemaManager

from app.store import schema
from app.store.engine import sqlalchemy_url
from app.store.tables import metadata
from app.store.unfit import UnfitDatabase
from support.cluster import needs_one_server
from support.databases import fresh_database

COLUMNS = """
    SELECT table_name, concat_ws(' ', column_name, data_type, is_nullable, generation_expression)
    FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name <> 'alembic_version'
"""

CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)
    FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'alembic_version'
"""

INDEXES = """
    SELECT tablename, indexdef FROM pg_indexes
    WHERE schemaname = 'public' AND tablename <> 'alembic_version'
"""


def describe_tables(url: str) -> dict[str, list[str]]:
    """Return a sorted line of text per column, constraint and index of each table."""
    lines: dict[str, list[str]] = defaultdict(list)
    with psycopg.connect(url) as connection:
        for query in (COLUMNS, CONSTRAINTS, INDEXES):
            for table, line in connection.execute(query).fetchall():
                lines[table].append(line)
    return {table: sorted(lines[table]) for table in lines}


@needs_one_server  # Citus has views of its own among the tables
def test_up_down_up_gives_the_same_tables(server_url: str) -> None:
    with fresh_database(server_url) as url:
        schema.migrate_database(url)
        first = describe_tables(url)
        assert set(first) >= {
            "agents",
            "memories",
            "memory_beliefs",
            "memory_usage",
            "consolidation_log",
        }
        schema.migrate_down(url)
        assert describe_tables(url) == {}
        schema.migrate_database(url)
        assert describe_tables(url) == first


def test_the_tables_in_code_are_those_of_the_migrations(database_url: str) -> None:
    engine = sa.create_engine(sqlalchemy_url(database_url), poolclass=sa.NullPool)
    with engine.connect() as connection, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Alembic says that it cannot compare generated columns
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": False}
        )
        assert compare_metadata(context, metadata) == []


FIRST_COLUMNS_OF_KEYS = """
    SELECT conname, attname FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
    WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'f')
        AND conrelid::regclass::text NOT IN ('encoder', 'api_keys', 'console_sessions', 'oauth_grants', 'alembic_version')
        AND conrelid::regclass::text NOT LIKE 'webhook%'
"""

TRIGGERS = """
    SELECT count(*) FROM pg_trigger
    JOIN pg_class table_of ON table_of.oid = tgrelid
    WHERE NOT tgisinternal AND table_of.relnamespace <> 'jobs'::regnamespace
"""


@needs_one_server  # the parts of a table have its keys
def test_agent_id_comes_first_in_every_key(database_url: str) -> None:
    """Sharding by agent is then configuration (DESIGN §5).

    `encoder`, `api_keys`, `console_sessions`, `oauth_grants` and the tables of webhooks describe the database as a whole.
    """
    with psycopg.connect(database_url) as connection:
        keys = connection.execute(FIRST_COLUMNS_OF_KEYS).fetchall()
        triggers = connection.execute(TRIGGERS).fetchone()
    assert keys
    assert {name for _, name in keys} == {"agent_id"}
    assert triggers == (0,)


def test_the_job_library_finds_the_tables_that_it_expects() -> None:
    """A version of the library with other tables calls for a migration and a new copy of them."""
    copied = Path(__file__).parents[2] / "migrations" / "job_library.sql"
    assert copied.read_text() == SchemaManager.get_schema()


def test_a_database_behind_is_refused(server_url: str) -> None:
    with (
        fresh_database(server_url) as url,
        pytest.raises(UnfitDatabase, match="schema is not that of this version"),
    ):
        schema.check_schema(url)


def test_a_server_that_is_too_old_is_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MINIMUM_SERVER", 990000)
    with pytest.raises(UnfitDatabase, match="too old: 16 or newer"):
        schema.check_schema(database_url)


def test_a_pgvector_that_is_too_old_is_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MINIMUM_PGVECTOR", (99, 0, 0))
    with pytest.raises(UnfitDatabase, match=r"too old: 99\.0\.0 or newer"):
        schema.check_schema(database_url)


def test_a_missing_extension_is_named(unchecked_database_url: str) -> None:
    with psycopg.connect(unchecked_database_url, autocommit=True) as connection:
        connection.execute("DROP EXTENSION vector CASCADE")
    with pytest.raises(UnfitDatabase, match="vector"):
        schema.check_schema(unchecked_database_url)


def test_a_database_that_does_not_answer_is_named() -> None:
    with pytest.raises(UnfitDatabase, match="Cannot connect"):
        schema.check_schema("postgresql://nobody@127.0.0.1:1/nothing")


ALTER = re.compile(r"ALTER TABLE[^;\"]*", re.DOTALL)
CHANGE_OF_RULE = re.compile(r"\b(ADD|DROP|ALTER|VALIDATE) CONSTRAINT\b")


def test_an_alter_that_changes_a_rule_changes_nothing_else() -> None:
    """Citus demands it."""
    for path in (Path(__file__).parents[2] / "migrations/versions").glob("*.py"):
        for alter in ALTER.findall(path.read_text()):
            changes = CHANGE_OF_RULE.findall(alter)
            assert len(changes) <= 1, f"{path.name}: {alter}"
