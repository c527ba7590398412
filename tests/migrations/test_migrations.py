import warnings
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from conftest import fresh_database
from procrastinate.schema import SchemaManager

from app.store import schema
from app.store.engine import sqlalchemy_url
from app.store.tables import metadata


def tables(url: str) -> dict[str, list[str]]:
    """What a database holds, in words that can be compared."""
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(generation_expression, '') "
            "FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'"
        ).fetchall()
        rules = connection.execute(
            "SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'alembic_version'"
        ).fetchall()
        indexes = connection.execute(
            "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
        ).fetchall()
    found: dict[str, list[str]] = {}
    for table, line in [*columns, *rules, *indexes]:
        found.setdefault(table, []).append(line)
    return {table: sorted(lines) for table, lines in found.items()}


def test_up_down_up_gives_the_same_tables(server_url: str) -> None:
    with fresh_database(server_url) as url:
        schema.migrate_database(url)
        first = tables(url)
        assert set(first) >= {
            "agents",
            "memories",
            "memory_beliefs",
            "memory_usage",
            "consolidation_log",
        }
        schema.migrate_down(url)
        assert tables(url) == {}
        schema.migrate_database(url)
        assert tables(url) == first


def test_the_tables_in_code_are_those_of_the_migrations(database_url: str) -> None:
    engine = sa.create_engine(sqlalchemy_url(database_url), poolclass=sa.NullPool)
    with engine.connect() as connection, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Alembic says that it cannot compare generated columns
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": False}
        )
        assert compare_metadata(context, metadata) == []


def test_agent_id_comes_first_in_every_key(database_url: str) -> None:
    """Sharding by agent is then configuration (DESIGN §5); `encoder` describes the database as a whole."""
    with psycopg.connect(database_url) as connection:
        keys = connection.execute(
            "SELECT conname, (SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]) FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'f') "
            "AND conrelid::regclass::text NOT IN ('encoder', 'alembic_version')"
        ).fetchall()
        triggers = connection.execute(
            "SELECT count(*) FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid "
            "WHERE NOT tgisinternal AND c.relnamespace <> 'jobs'::regnamespace"
        ).fetchone()
    assert keys
    assert {name for _, name in keys} == {"agent_id"}
    assert triggers == (0,)


def test_the_job_library_finds_the_tables_that_it_expects() -> None:
    """Another version of it may come with other tables: then it is time for a migration, and for a copy of its schema of then."""
    copied = Path(__file__).parents[2] / "migrations" / "job_library.sql"
    assert copied.read_text() == SchemaManager.get_schema()


def test_a_database_behind_is_refused_with_the_command_to_run(server_url: str) -> None:
    with (
        fresh_database(server_url) as url,
        pytest.raises(schema.UnfitDatabase, match="palimpsest migrate"),
    ):
        schema.check_schema(url)


def test_a_server_that_is_too_old_is_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MINIMUM_SERVER", 990000)
    with pytest.raises(schema.UnfitDatabase, match="too old: 16 or newer"):
        schema.check_schema(database_url)


def test_a_pgvector_that_is_too_old_is_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MINIMUM_PGVECTOR", (99, 0, 0))
    with pytest.raises(schema.UnfitDatabase, match="ALTER EXTENSION vector UPDATE"):
        schema.check_schema(database_url)


def test_a_missing_extension_is_named(unchecked_database_url: str) -> None:
    with psycopg.connect(unchecked_database_url, autocommit=True) as connection:
        connection.execute("DROP EXTENSION vector CASCADE")
    with pytest.raises(schema.UnfitDatabase, match="vector"):
        schema.check_schema(unchecked_database_url)


def test_a_database_that_does_not_answer_is_named() -> None:
    with pytest.raises(schema.UnfitDatabase, match="Cannot connect"):
        schema.check_schema("postgresql://nobody@127.0.0.1:1/nothing")
