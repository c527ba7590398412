"""Databases that others set up: pgvector anywhere, schemas and roles of all kinds, several services in one."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from app.advice import advise_operator
from app.database_urls import set_schema
from app.jobs.worker import run_worker
from app.settings import load_settings
from app.store import schema, vacuum
from app.store.installation import Installation
from app.store.roles import Role
from app.store.unfit import MissingRights, MissingRoles, UnfitDatabase
from support.agent_indexes import build_index
from support.builders import contents, editor, store
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.service import running
from support.transfers import brought_back, exported, other
from support.urls import name_of, with_user

pytestmark = needs_one_server  # a cluster is set up for one service

ODD = 'My "Own" % Mem;'


@dataclass(frozen=True)
class Shared:
    """An empty database without pgvector, and a login in it that may nothing."""

    superuser: psycopg.Connection[Any]
    url: str

    def run(self, statement: str, *names: str) -> None:
        identifiers = map(sql.Identifier, names)
        self.superuser.execute(sql.SQL(statement).format(*identifiers))  # type: ignore[arg-type]

    @property
    def login(self) -> str:
        return str(psycopg.conninfo.conninfo_to_dict(self.url)["user"])

    def migrate(self, url: str) -> list[str]:
        """Migrate, and do what each refusal advises. Return the statements of the advice."""
        advised = []
        for _ in range(4):
            try:
                schema.migrate_database(url)
            except (MissingRights, MissingRoles) as refusal:
                advised.append(refusal.statements)
            else:
                return advised
            assert "\n" not in advised[-1]
            assert self.list_relations() == [], "nothing is half done"
            self.superuser.execute(advised[-1])  # type: ignore[call-overload]
        raise AssertionError(advised)

    def list_relations(self) -> list[str]:
        rows = self.superuser.execute("""
            SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
            WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1
        """)
        return [name for (name,) in rows.fetchall()]


@pytest.fixture
def shared(server_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shared]:
    monkeypatch.setattr("app.wiring._get_database_url", lambda settings, _: settings.database_url)
    login = f"login_{uuid4().hex}"
    with fresh_database(server_url) as url, psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute(f"CREATE ROLE {login} LOGIN PASSWORD 'secret'")  # type: ignore[arg-type]
        address = psycopg.conninfo.conninfo_to_dict(url)
        own = (
            with_user(url, login, "secret")
            if str(address["host"]).startswith("/")
            else (f"postgresql://{login}:secret@{address['host']}:{address['port']}/{name_of(url)}")
        )
        try:
            yield Shared(superuser, own)
        finally:
            for drop in ("DROP OWNED BY {} CASCADE", "DROP ROLE {}"):
                superuser.execute(sql.SQL(drop).format(sql.Identifier(login)))  # type: ignore[arg-type]


@contextmanager
def serving(url: str, **settings: Any) -> Iterator[httpx.Client]:
    with (
        running(load_settings(database_url=url, use_flush_seconds=0.1, **settings)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": "ada"}, timeout=60) as client,
    ):
        yield client


def use(client: httpx.Client, word: str) -> None:
    """Store, change, search, index, capture, export, bring back and erase."""
    store(client, f"The {word} sleeps in the barn")
    store(client, **editor(f"{word}-1"))
    store(client, **editor(f"{word}-2"))
    items = [{"content": f"The {word} has number {number}"} for number in range(30)]
    assert client.post("/v1/memories/batch", json={"items": items}).is_success
    found = client.get("/v1/search", params={"q": f"{word} barn"}).json()["results"]
    assert word in found[0]["memory"]["content"]
    with other(client, f"{word}-copy") as copy:
        brought_back(copy, exported(client))
        assert contents(copy) == contents(client)
        assert copy.post("/v1/erasures", json={"agent_id": f"{word}-copy"}).is_success
        assert contents(copy) == set()
    assert client.post("/v1/sweeps", json={}).is_success
    problems = client.get("/v1/doctor").json()["problems"]
    assert problems == []


# --- one service ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vectors", "tables", "path"),
    [
        ("extensions", None, None),
        ("extensions", None, ""),
        ("extensions", None, "mem, public"),
        ("extensions", "mem", "public, extensions"),
        ("public", "mem", None),
        ("public", "mem", '"$user"'),
        ("mem", "mem", "public"),
        (ODD, ODD, ""),
        (ODD.lower(), ODD, "mem, public"),
    ],
)
def test_tables_and_pgvector_lie_in_any_schema_whatever_the_path_of_the_login(
    shared: Shared, vectors: str, tables: str | None, path: str | None
) -> None:
    if vectors != "public":
        shared.run("CREATE SCHEMA {}", vectors)
    shared.run("CREATE EXTENSION vector WITH SCHEMA {}", vectors)
    if path is not None:
        if path == "mem, public":
            shared.run("CREATE SCHEMA IF NOT EXISTS mem")
            shared.run("GRANT ALL ON SCHEMA mem TO {}", shared.login)
        shared.run(f"ALTER ROLE {{}} SET search_path = {path or repr('')}", shared.login)
    url = set_schema(shared.url, tables) if tables else shared.url
    shared.migrate(url)
    schema.migrate_database(url)  # there is nothing more to do
    with serving(url) as client:
        use(client, "fox")
    assert_healthy(url)
    asyncio.run(run_worker(load_settings(database_url=url), until_idle=True))
    schema.migrate_down(url)
    schema.migrate_database(url)
    schema.check_schema(url)


def test_indexes_of_agents_are_built_and_searched_wherever_pgvector_is(shared: Shared) -> None:
    shared.run("CREATE SCHEMA extensions; CREATE EXTENSION vector WITH SCHEMA extensions")
    url = set_schema(shared.url, ODD)
    shared.migrate(url)
    with serving(url) as client:
        use(client, "fox")
        build_index(url, "ada")
        found = client.get("/v1/search", params={"q": "fox barn"}).json()["results"]
        assert "barn" in found[0]["memory"]["content"]
        problems = client.get("/v1/doctor").json()["problems"]
        assert problems == []


def test_the_login_of_another_owner_of_the_database_is_advised_once_per_kind(
    shared: Shared,
) -> None:
    advised = shared.migrate(set_schema(shared.url, "mem"))
    assert len(advised) == 2, "what may be made, then the roles"
    assert "CREATE EXTENSION vector" in advised[0]
    assert "GRANT CREATE ON DATABASE" in advised[0]


# --- several in one database ---------------------------------------------------------------------


@pytest.fixture
def two(server_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Addresses of two services in one database, each with logins of its own."""
    monkeypatch.setattr("app.wiring._get_database_url", lambda settings, _: settings.database_url)
    with fresh_database(server_url) as owner_url:
        urls = []
        for name in ("public", "second"):
            own = set_schema(owner_url, name)
            schema.migrate_database(own)
            urls.append(own)
        yield urls


def test_two_services_in_one_database_see_their_own_rows_alone(two: list[str]) -> None:
    with ExitStack() as stack:
        first, second = (stack.enter_context(serving(url)) for url in two)
        use(first, "fox")
        before = contents(first)
        use(second, "owl")
        assert contents(first) == before
        assert not [content for content in contents(second) if "fox" in content]
        for url in two:
            build_index(url, "ada")
        for url in two:
            asyncio.run(run_worker(load_settings(database_url=url), until_idle=True))
        assert (
            first.get("/v1/search", params={"q": "owl"})
            .json()["results"][0]["memory"]["content"]
            .count("fox")
        )
        events = second.get("/v1/events").json()
        assert "fox" not in str(events)
        assert second.post("/v1/erasures", json={"agent_id": "ada"}).is_success
        assert contents(first) == before
        assert vacuum.rewrite_files(two[1])
        schema.migrate_down(two[1])
        assert contents(first) == before
    for url in two[:1]:
        assert_healthy(url)


def test_the_roles_of_one_service_may_not_use_the_tables_of_another(two: list[str]) -> None:
    for url, name in ((two[0], "second"), (two[1], "public")):
        own = Installation("public" if name == "second" else "second")
        with psycopg.connect(url.partition("?schema")[0].partition("&schema")[0]) as connection:
            for role in Role:
                for table in ("memories", "api_keys", "consolidation_log"):
                    connection.execute("SELECT set_config('role', %s, true)", [own.name_role(role)])
                    with pytest.raises(InsufficientPrivilege):
                        connection.execute(
                            sql.SQL("SELECT FROM {}").format(sql.Identifier(name, table))
                        )
                    connection.rollback()


# --- refusals ------------------------------------------------------------------------------------


def refuse(url: str) -> str:
    with pytest.raises(UnfitDatabase) as refusal:
        schema.migrate_database(url)
    advice = advise_operator(refusal.value)
    assert "\n" not in advice
    return advice


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        (
            "CREATE TABLE memories (id int)",
            "tables of another program: memories. Set PALIMPSEST_DATABASE_SCHEMA",
        ),
        ("CREATE VIEW reviews AS SELECT 1 AS one", "another program: reviews."),
        (
            "CREATE TABLE alembic_version (version_num text); INSERT INTO alembic_version VALUES ('abc')",
            "another program: alembic_version.",
        ),
        (
            "CREATE SCHEMA jobs",
            "has a schema jobs of another program. Set PALIMPSEST_DATABASE_SCHEMA",
        ),
        (
            "CREATE FUNCTION operations_on(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql AS 'SELECT NULL::uuid'",
            "not migrated: function",
        ),
        (
            "CREATE EXTENSION vector; CREATE SCHEMA mem; CREATE TABLE mem.consolidation_log (); CREATE TABLE mem.alembic_version ()",
            "in the schema mem. Set PALIMPSEST_DATABASE_SCHEMA to it",
        ),
    ],
)
def test_what_is_in_the_way_is_named_and_stays_as_it_is(
    server_url: str, setup: str, words: str
) -> None:
    with fresh_database(server_url) as url, psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute(setup)  # type: ignore[arg-type]
        shared = Shared(superuser, url)
        before = shared.list_relations()
        assert words in refuse(url)
        assert shared.list_relations() == before
        if "mem." not in setup:
            own = set_schema(url, "palimpsest")
            schema.migrate_database(own)
            schema.check_schema(own)


def test_an_address_with_an_option_of_another_program_is_refused_in_one_line(
    database_url: str,
) -> None:
    wrong = set_schema(database_url, "mem") + "&connection_limit=1"
    assert "connection_limit" in refuse(wrong)
    with pytest.raises(UnfitDatabase, match="connection_limit"):
        schema.migrate_database(database_url, wrong)


@pytest.mark.parametrize("setting", ["default_transaction_read_only = on"])
def test_a_database_that_takes_no_writes_is_named(server_url: str, setting: str) -> None:
    with fresh_database(server_url) as url:
        with psycopg.connect(url, autocommit=True) as superuser:
            superuser.execute(f"ALTER DATABASE {name_of(url)} SET {setting}")  # type: ignore[arg-type]
        assert "takes no writes" in refuse(url)
        with psycopg.connect(url, autocommit=True) as superuser:
            superuser.execute("SET default_transaction_read_only = off")
            assert Shared(superuser, url).list_relations() == []


@pytest.mark.parametrize(
    ("revision", "words"),
    [
        ("2099_01_01_a", "later version. Run that version"),
        ("2026_11_30_c", "unreleased version from before. No migration leads on from it"),
    ],
)
def test_a_database_of_another_version_is_named(
    database_url: str, revision: str, words: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as superuser:
        row = superuser.execute("SELECT version_num FROM alembic_version").fetchone()
        superuser.execute("UPDATE alembic_version SET version_num = %s", [revision])
        assert words in refuse(database_url)
        superuser.execute("UPDATE alembic_version SET version_num = %s", row)
