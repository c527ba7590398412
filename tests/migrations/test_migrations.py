import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from procrastinate.schema import SchemaManager

from app.settings import load_settings
from app.store import schema
from app.store.engine import sqlalchemy_url
from app.store.roles import Role
from app.store.tables import metadata
from app.store.unfit import UnfitDatabase
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.service import running
from support.stored_text import read_statistics
from support.urls import with_user

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


def list_checks_not_validated(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT conname FROM pg_constraint WHERE NOT convalidated")
        return sorted(name for (name,) in rows)


def test_checks_are_validated_without_locking_writers_out(server_url: str) -> None:
    """A check that is added to a table with rows is validated by a later revision."""
    with fresh_database(server_url) as url:
        schema.migrate_database(url)
        assert list_checks_not_validated(url) == []
        schema.migrate_down(url, "2026_11_22_a")
        with schema._open_migration(url) as (_, config):
            command.upgrade(config, "2026_11_22_h")
        assert list_checks_not_validated(url) == [
            "consolidation_log_chain_check",
            "memories_covered_check",
            "memory_beliefs_covered_check",
        ]
        with psycopg.connect(url) as writer:
            writer.execute("LOCK memories, memory_beliefs, consolidation_log IN ROW EXCLUSIVE MODE")
            with schema._open_migration(url) as (_, config):
                command.upgrade(config, "2026_11_22_i")
        assert list_checks_not_validated(url) == []


@needs_one_server  # no version so old knows a cluster
def test_earlier_beliefs_get_the_chain_of_their_version(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        home = {"content": "Lives in Porto", "key": "home", "value": "Porto"}
        first = client.post("/v1/memories", json=home).json()["memory"]["id"]
        client.post("/v1/memories", json=home | {"value": "Braga"})
    schema.migrate_down(database_url, "2026_11_22_i")
    schema.migrate_database(database_url)
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT memory_id, chain_id FROM memory_beliefs").fetchall()
    assert rows == [(UUID(first), UUID(first))]


@needs_one_server  # no version so old knows a cluster
def test_an_owner_who_is_no_superuser_sees_the_rows_to_change(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        home = {"content": "Lives in Porto", "key": "home", "value": "Porto"}
        client.post("/v1/memories", json=home).raise_for_status()
        client.post("/v1/memories", json=home | {"value": "Braga"}).raise_for_status()
    schema.migrate_down(database_url, "2026_11_22_i")
    with plain_owner(database_url) as url, schema._open_migration(url) as (_, config):
        command.upgrade(config, "2026_11_23_a")
    with psycopg.connect(database_url) as connection:
        [row] = connection.execute("SELECT count(*), count(chain_id) FROM memory_beliefs")
        assert row == (1, 1)
        forced = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname IN ('memories', 'memory_beliefs')"
        )
        assert forced.fetchall() == [(True,), (True,)]
    schema.migrate_database(database_url)


@needs_one_server  # statistics of a cluster lie on its nodes
@pytest.mark.parametrize("is_superuser", [True, False])
def test_statistics_of_texts_made_earlier_are_removed_or_go_with_an_erasure(
    database_url: str, is_superuser: bool
) -> None:
    """Before Postgres 18 only a superuser can remove them."""
    with serve(database_url) as client:
        fact = {"content": "Zebra lives in Porto", "entity": "zebra", "tags": ["zebra"]}
        client.post("/v1/memories", json=fact).raise_for_status()
    schema.migrate_down(database_url, "2026_11_27_a")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("ANALYZE")
        can_remove = is_superuser or connection.info.server_version >= 180000
    assert "zebra" in read_statistics(database_url).casefold()
    with nullcontext(database_url) if is_superuser else plain_owner(database_url) as url:
        schema.migrate_database(url)
    assert ("zebra" in read_statistics(database_url).casefold()) is not can_remove
    with serve(database_url) as client:
        client.post("/v1/erasures", json={"agent_id": "default"}).raise_for_status()
    assert "zebra" not in read_statistics(database_url).casefold()


def test_idempotency_keys_are_hashed(database_url: str) -> None:
    with serve(database_url) as client:
        headers = {"Idempotency-Key": "zebra"}
        client.post("/v1/memories", json={"content": "x"}, headers=headers).raise_for_status()
    schema.migrate_down(database_url, "2026_11_27_a")
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE idempotency_keys SET key = 'zebra'")
    schema.migrate_database(database_url)
    with serve(database_url) as client:
        again = client.post("/v1/memories", json={"content": "x"}, headers=headers)
        assert again.headers["Idempotency-Replayed"] == "true"


@needs_one_server  # no version so old knows a cluster
def test_stored_texts_are_hashed_anew_under_the_rules_of_now(database_url: str) -> None:
    texts = ["The pump draws 5 mW", "Lives in Porto"]
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        for text in texts:
            fact = {"content": text, "value": text, "key": text}
            client.post("/v1/memories", json=fact).raise_for_status()
    read_hashes = "SELECT id, fuzzy_hash, folded_hash, value_hash FROM memories ORDER BY id"
    with psycopg.connect(database_url) as connection:
        right = connection.execute(read_hashes).fetchall()
    schema.migrate_down(database_url, "2026_11_26_b")
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "UPDATE memories SET fuzzy_hash = 'old', folded_hash = 'old', value_hash = 'old'"
        )
    schema.migrate_database(database_url)
    with psycopg.connect(database_url) as connection:
        assert connection.execute(read_hashes).fetchall() == right


@needs_one_server  # no version so old knows a cluster
def test_a_question_is_asked_without_the_sentence_that_its_review_had(database_url: str) -> None:
    settings = load_settings(database_url=database_url)

    def read_sentences() -> list[str]:
        with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
            return [review["sentence"] for review in client.get("/v1/reviews").json()["items"]]

    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        for value, trust in (("Vim", 90), ("Nano", 10)):
            fact = {"content": f"Uses {value}", "key": "editor", "value": value, "trust": trust}
            client.post("/v1/memories", json=fact).raise_for_status()
    assert read_sentences() == ["Does “Uses Nano” end “Uses Vim”?"]
    schema.migrate_down(database_url, "2026_11_26_i")
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT sentence FROM reviews").fetchall() == [("",)]
    schema.migrate_database(database_url)
    assert read_sentences() == ["Does “Uses Nano” end “Uses Vim”?"]


@contextmanager
def serve(url: str) -> Iterator[httpx.Client]:
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@contextmanager
def plain_owner(url: str) -> Iterator[str]:
    """The address of the database for an owner of its tables and functions who is no superuser."""
    name = f"owner_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'")
        superuser.execute(f"GRANT ALL ON SCHEMA public TO {name} WITH GRANT OPTION")
        superuser.execute(f"GRANT {', '.join(Role)} TO {name} WITH INHERIT FALSE, SET TRUE")
        tables = superuser.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in tables.fetchall():
            superuser.execute(f'ALTER TABLE public."{table}" OWNER TO {name}')
        functions = superuser.execute(
            "SELECT oid::regprocedure::text FROM pg_proc"
            " WHERE pronamespace = 'public'::regnamespace AND proowner = current_user::regrole"
            " AND prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c')"
        )
        for (function,) in functions.fetchall():
            superuser.execute(f"ALTER FUNCTION {function} OWNER TO {name}")
        try:
            yield with_user(url, name, "secret")
        finally:
            superuser.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER")
            superuser.execute(f"DROP OWNED BY {name}")
            superuser.execute(f"DROP ROLE {name}")


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
        AND conrelid::regclass::text NOT IN ('encoder', 'api_keys', 'console_sessions', 'alembic_version')
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

    `encoder`, `api_keys`, `console_sessions` and the tables of webhooks describe the database as a whole.
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


# Older migrations ran before any database could be distributed.
FIRST_ON_CLUSTERS = "2026_11_24"

ALTER = re.compile(r"ALTER TABLE[^;\"]*", re.DOTALL)
CHANGE_OF_RULE = re.compile(r"\b(ADD|DROP|ALTER|VALIDATE) CONSTRAINT\b")


def test_an_alter_that_changes_a_rule_changes_nothing_else() -> None:
    """Citus demands it."""
    for path in (Path(__file__).parents[2] / "migrations/versions").glob("*.py"):
        if path.name >= FIRST_ON_CLUSTERS:
            for alter in ALTER.findall(path.read_text()):
                changes = CHANGE_OF_RULE.findall(alter)
                assert len(changes) <= 1, f"{path.name}: {alter}"


@needs_one_server  # no version so old knows a cluster
def test_values_that_no_read_can_answer_are_emptied_before_checks_are_validated(
    unchecked_database_url: str,
) -> None:
    url = unchecked_database_url
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        client.post("/v1/memories", json={"content": "Has a dog"}).raise_for_status()
    schema.migrate_down(url, "2026_11_27_a")
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE consolidation_log SET after_state = '-1', usage = '[]'")
    with plain_owner(url) as owner, schema._open_migration(owner) as (_, config):
        command.upgrade(config, "2026_11_27_c2")
    assert list_checks_not_validated(url) == []
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT before_state, after_state, usage FROM consolidation_log")
        assert rows.fetchall() == [([], [], None)]
        forced = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname = 'consolidation_log'"
        )
        assert forced.fetchall() == [(True,)]
