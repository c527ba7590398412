"""F7, F9, attacks 25 and 27: Postgres itself keeps agents apart, under roles that may do little."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from app.domain.agent import AgentId
from app.settings import load_settings
from app.store import agent_indexes, schema
from app.store.engine import (
    Patience,
    connect_for_agent,
    create_engine,
    fetch_rows,
    get_driver,
)
from app.store.roles import SERVICE_LOGIN, Role, build_service_url
from app.store.tables import archived_log
from app.store.unfit import MissingRoles
from support.agent_indexes import build_index
from support.builders import contents, editor, store
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.service import running
from support.transfers import brought_back, exported, other, telling
from support.urls import name_of, with_database

# On a cluster, agents have no indexes and Citus has tables of its own. What keeps agents from each
# other there is tested in tests/store/test_cluster.py.
pytestmark = needs_one_server

Connection = psycopg.Connection[tuple[object, ...]]

MINE, THEIRS = "told-0", "told-1"

# The service adds rows to these tables and removes them.
NEVER_CHANGED = {"indexed_memories", "frequent_words", "counted_strengths"}

# Fill the table that has rows only while an erasure edits an archive.
COPIED = ", ".join(column.name for column in archived_log.columns)
COPY_LOG = f"INSERT INTO archived_log ({COPIED}) SELECT {COPIED} FROM consolidation_log"

OF_AGENTS = """
    SELECT c.relname FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'agent_id' AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relnamespace = 'public'::regnamespace
    ORDER BY c.relname
"""

EVERY_RELATION = """
    SELECT n.nspname, c.relname FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_toast'
"""


@pytest.fixture(scope="module")
def url(server_url: str, template_url: str) -> Iterator[str]:
    """A database with agents that have something in every table."""
    with telling(server_url, template_url) as (client, url):
        for agent in (MINE, THEIRS):
            with other(client, agent) as one:
                store(one, "Has a cat")
                sent = one.post(
                    "/v1/memories", headers={"Idempotency-Key": "k"}, json={"content": "Has a dog"}
                )
                assert sent.is_success, sent.text
                assert one.post("/v1/sweeps", json={}).status_code == 202
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(agent_indexes, "COUNTED_FROM", 1)
                build_index(url, agent)
        with psycopg.connect(url) as connection:
            connection.execute(COPY_LOG.encode())
        yield url


@pytest.fixture
def superuser(url: str) -> Iterator[Connection]:
    with psycopg.connect(url) as connection:
        yield connection
        connection.rollback()


@pytest.fixture
def login(url: str) -> Iterator[Connection]:
    """A session of the service's login."""
    with psycopg.connect(build_service_url(url)) as connection:
        yield connection
        connection.rollback()


def begin(connection: Connection, role: Role, agent: str | None = None) -> None:
    connection.rollback()
    connection.execute("SELECT set_config('role', %s, true)", [role])
    if agent is not None:
        connection.execute("SELECT set_config('palimpsest.agent', %s, true)", [agent])


def tables_of_agents(connection: Connection) -> list[str]:
    return [str(name) for (name,) in connection.execute(OF_AGENTS)]


def count(connection: Connection, *relation: object, where: str = "true") -> int:
    name = sql.Identifier(*map(str, relation))
    condition = sql.SQL(where)  # type: ignore[arg-type]  # a constant
    row = connection.execute(
        sql.SQL("SELECT count(*) FROM {} WHERE {}").format(name, condition)
    ).fetchone()
    assert row
    return int(str(row[0]))


# --- the catalog -------------------------------------------------------------------------------


def test_every_table_that_holds_an_agent_forces_row_level_security(superuser: Connection) -> None:
    names = tables_of_agents(superuser)
    assert {"agents", "memories", "consolidation_log", "reviews", "idempotency_keys"} <= set(names)
    for name in names:
        row = superuser.execute(
            "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = %s::regclass",
            [name],
        ).fetchone()
        assert row == (True, True), name
        policies = superuser.execute(
            "SELECT roles::text[], cmd, qual, with_check FROM pg_policies WHERE tablename = %s",
            [name],
        ).fetchall()
        condition = "(agent_id = current_setting('palimpsest.agent'::text, true))"
        assert sorted(policies, key=str) == [
            ([Role.OPERATOR], "SELECT", "true", None),
            ([Role.SERVICE], "ALL", condition, None),
        ], name


def test_the_roles_and_the_login_of_the_service_are_plain(superuser: Connection) -> None:
    rows = superuser.execute(
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin"
        " FROM pg_roles WHERE rolname LIKE 'palimpsest%'"
    ).fetchall()
    assert {row[0] for row in rows} >= {*Role, "palimpsest"}
    assert not [row for row in rows if any(row[1:5])]
    assert [row[0] for row in rows if row[5]] == ["palimpsest"]


def test_few_functions_act_for_another_role(superuser: Connection) -> None:
    rows = superuser.execute(
        "SELECT proname, proacl::text FROM pg_proc"
        " WHERE prosecdef AND pronamespace = 'public'::regnamespace"
    ).fetchall()
    of_indexes = {
        *("create_index_table", "build_index_table", "attach_index_table", "drop_index_table"),
        *("find_nearest_indexed", "find_indexed_by_words", "find_indexed_of_category"),
        "count_indexed_by_words",
    }
    assert {row[0] for row in rows} == of_indexes | {
        "claim_encoder",
        "refresh_statistics",
        "refresh_text_statistics",
        "operations_on",
    }
    assert not [acl for _, acl in rows if re.search(r"[{,]=", str(acl))], "granted to PUBLIC"


# --- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.SERVICE, Role.LOG_EDITOR])
@pytest.mark.parametrize("agent", [None, "", "reset"])
def test_without_an_agent_no_row_of_any_table_is_seen(
    login: Connection, superuser: Connection, role: Role, agent: str | None
) -> None:
    if agent == "reset":  # after a transaction that set it, the setting is an empty string
        begin(login, role, MINE)
        assert count(login, "memories")
        login.commit()
        agent = None
    seen = {}
    for relation in superuser.execute(EVERY_RELATION).fetchall():
        begin(login, role, agent)
        try:
            seen[relation] = count(login, *relation)
        except InsufficientPrivilege:
            continue
    assert {("public", name) for name in tables_of_agents(superuser)} <= set(seen)
    assert {relation: rows for relation, rows in seen.items() if rows} == {}


def test_with_an_agent_no_row_of_another_is_seen(login: Connection, superuser: Connection) -> None:
    for name in tables_of_agents(superuser):
        begin(login, Role.SERVICE, MINE)
        theirs = f"agent_id <> '{MINE}'"
        assert count(superuser, name, where=theirs), f"{name} holds nothing of others to see"
        assert count(login, name), name
        assert count(login, name, where=theirs) == 0, name


def test_rows_of_another_agent_are_neither_written_nor_changed(
    login: Connection, superuser: Connection
) -> None:
    for name in tables_of_agents(superuser):
        begin(login, Role.LOG_EDITOR, MINE)
        table = sql.Identifier(name)
        if name in NEVER_CHANGED:
            remove = sql.SQL("DELETE FROM {} WHERE agent_id = %s").format(table)
            assert login.execute(remove, [THEIRS]).rowcount == 0, name
            continue
        change = sql.SQL("UPDATE {} SET agent_id = agent_id WHERE agent_id = %s").format(table)
        assert login.execute(change, [THEIRS]).rowcount == 0, name
        forge = sql.SQL("UPDATE {} SET agent_id = %s").format(table)
        with pytest.raises(InsufficientPrivilege, match="row-level security"):
            login.execute(forge, [THEIRS])
    begin(login, Role.SERVICE, MINE)
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        login.execute(
            "INSERT INTO agents (agent_id, created_at, last_known_at) VALUES ('new', now(), now())"
        )


def test_the_index_of_an_agent_is_closed_but_for_its_functions(
    login: Connection, superuser: Connection
) -> None:
    tables = superuser.execute("""
        SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class
        WHERE relispartition AND relkind = 'r' ORDER BY 1
    """).fetchall()
    assert [isolated for _, isolated in tables] == [True, True]
    for name, _ in tables:
        for role in (Role.SERVICE, Role.LOG_EDITOR, Role.OPERATOR):
            begin(login, role, MINE)
            with pytest.raises(InsufficientPrivilege):
                count(login, name)
    searches = [
        "SELECT find_nearest_indexed(embedding::vector, 100) FROM one",
        "SELECT find_indexed_by_words('cat', 'cat', embedding::vector, 100, 100) FROM one",
        "SELECT find_indexed_of_category('', 100)",
    ]
    one = "WITH one AS (SELECT embedding FROM indexed_memories LIMIT 1)"
    [mine] = superuser.execute(
        "SELECT array_agg(id) FROM memories WHERE agent_id = %s", [MINE]
    ).fetchone() or [None]
    for search in searches:
        begin(login, Role.SERVICE, MINE)
        found = {row[0] for row in login.execute(f"{one} {search}").fetchall()}  # type: ignore[arg-type]
        assert found
        assert found <= set(mine)  # type: ignore[call-overload]
        begin(login, Role.SERVICE)
        assert login.execute(f"{one} {search}").fetchall() == []  # type: ignore[arg-type]
    for agents, expected in (([MINE], 1), ([], 0)):
        begin(login, Role.SERVICE, *agents)
        counted = login.execute("SELECT count_indexed_by_words('cat', 100)").fetchone()
        assert counted == (expected,)


def test_the_function_over_the_log_sees_one_agent(login: Connection, superuser: Connection) -> None:
    [ids] = superuser.execute(
        "SELECT array_agg(id) FROM memories WHERE agent_id = %s", [THEIRS]
    ).fetchone() or [None]
    begin(login, Role.SERVICE, THEIRS)
    assert login.execute("SELECT operations_on(%s)", [ids]).fetchall()
    begin(login, Role.SERVICE, MINE)
    assert login.execute("SELECT operations_on(%s)", [ids]).fetchall() == []
    begin(login, Role.SERVICE)
    assert login.execute("SELECT operations_on(%s)", [ids]).fetchall() == []


def test_a_read_leaves_no_role_and_no_agent_in_its_session(url: str) -> None:
    async def read() -> tuple[list[dict[str, object]], object]:
        engine = create_engine(build_service_url(url), pool_size=1, patience=Patience())
        try:
            async with connect_for_agent(engine, AgentId(MINE)) as connection:
                rows = await fetch_rows(
                    connection, "SELECT DISTINCT agent_id, current_user AS role FROM memories", {}
                )
                driver = get_driver(connection)
                left = await driver.execute(
                    "SELECT current_user, current_setting('palimpsest.agent', true),"
                    " current_setting('statement_timeout')"
                )
                return rows, await left.fetchone()
        finally:
            await engine.dispose()

    rows, left = asyncio.run(read())
    assert rows == [{"agent_id": MINE, "role": Role.SERVICE}]
    assert left == (SERVICE_LOGIN, "", "0")


# --- privileges --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE consolidation_log SET reasoning = 'none'",
        "UPDATE consolidation_log SET reverted_by = NULL",
        "DELETE FROM consolidation_log",
        "TRUNCATE consolidation_log",
        "UPDATE folded_operations SET actor = 'root'",
        "UPDATE log_archives SET file = NULL",
        "UPDATE log_checkpoints SET told = '{}'",
        "SELECT * FROM consolidation_log FOR UPDATE",
        "DELETE FROM agents",
        "DELETE FROM memories",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY one_agent ON memories",
        "CREATE TABLE public.mine (id int)",
        "SELECT claim_encoder('other', 3, 'PLAIN')",
        "SELECT * FROM jobs.procrastinate_jobs",
        "SELECT * FROM alembic_version",
        "SET session_replication_role = replica",
        "COPY memories TO PROGRAM 'true'",
    ],
)
def test_the_service_may_not(login: Connection, statement: str) -> None:
    begin(login, Role.SERVICE, MINE)
    with pytest.raises(InsufficientPrivilege):
        login.execute(statement)  # type: ignore[arg-type]  # constants


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.JOBS])
def test_the_other_roles_write_to_no_agent(
    login: Connection, superuser: Connection, role: Role
) -> None:
    for name in tables_of_agents(superuser):
        begin(login, role)
        with pytest.raises(InsufficientPrivilege):
            login.execute(sql.SQL("UPDATE {} SET agent_id = 'x'").format(sql.Identifier(name)))


def test_the_login_alone_may_read_nothing(login: Connection, superuser: Connection) -> None:
    relations = superuser.execute(EVERY_RELATION).fetchall()
    for relation in relations:
        login.rollback()
        with pytest.raises(InsufficientPrivilege):
            count(login, *relation)


def test_the_service_logs_in_as_neither_owner_nor_superuser(url: str) -> None:
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": MINE}, timeout=60) as client,
        psycopg.connect(url) as superuser,
    ):
        assert client.get("/v1/memories").status_code == 200
        users = superuser.execute(
            "SELECT DISTINCT usename FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    assert users == [("palimpsest",)]


def test_transactions_are_opened_in_one_module_alone() -> None:
    """Elsewhere a transaction would begin without a role."""
    plain = re.compile(
        r"engine\.(begin|connect|raw_connection)\(|psycopg\.connect\(|AsyncConnection\.connect\("
    )
    modules = ("engine", "schema", "embedded")
    allowed = {f"app/store/{name}.py" for name in modules}
    found = {
        str(path)
        for path in Path("app").rglob("*.py")
        if plain.search(path.read_text()) and str(path) not in allowed
    }
    assert found == set()


# --- other owners ------------------------------------------------------------------------------


@pytest.fixture
def plain_owner(server_url: str) -> Iterator[tuple[str, Connection]]:
    """A database whose owner is no superuser and may create no roles; the URL of the owner, and a superuser's session there."""
    with fresh_database(server_url) as url, psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute("CREATE EXTENSION vector")
        owner = f"owner_{name_of(url)}"
        superuser.execute(f"CREATE ROLE {owner} LOGIN PASSWORD 'secret'")  # type: ignore[arg-type]
        superuser.execute(f"ALTER DATABASE {name_of(url)} OWNER TO {owner}")  # type: ignore[arg-type]
        address = psycopg.conninfo.make_conninfo(server_url, user=owner, password="secret")
        try:
            yield with_database(address, name_of(url)), superuser
        finally:
            superuser.execute(f"DROP OWNED BY {owner} CASCADE")  # type: ignore[arg-type]
            superuser.execute(f"ALTER DATABASE {name_of(url)} OWNER TO CURRENT_USER")  # type: ignore[arg-type]
            superuser.execute(f"DROP ROLE {owner}")  # type: ignore[arg-type]


def test_an_owner_who_may_not_grant_roles_is_told_what_an_administrator_runs(
    plain_owner: tuple[str, Connection],
) -> None:
    url, superuser = plain_owner
    with pytest.raises(MissingRoles) as refusal:
        schema.migrate_database(url)
    statements = refusal.value.statements
    assert "\n" not in statements
    assert "GRANT" in statements
    superuser.execute(statements)  # type: ignore[arg-type]
    schema.migrate_database(url)
    schema.check_schema(url)


def test_one_login_that_owns_the_tables_is_bound_too(
    plain_owner: tuple[str, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one address alone the service logs in as the owner. Foreign keys are checked, and rows come in."""
    url, superuser = plain_owner
    with pytest.raises(MissingRoles) as refusal:
        schema.migrate_database(url)
    superuser.execute(refusal.value.statements)  # type: ignore[arg-type]
    schema.migrate_database(url)
    monkeypatch.setattr("app.wiring._get_database_url", lambda *_: url)
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": "a"}, timeout=60) as client,
    ):
        store(client, **editor("vim"))
        store(client, **editor("emacs"))
        items = [{"content": f"Number {number}"} for number in range(30)]
        assert client.post("/v1/memories/batch", json={"items": items}).is_success
        with other(client) as copy:
            brought_back(copy, exported(client))
            assert contents(copy) == contents(client)
        assert client.post("/v1/erasures", json={"agent_id": "a"}).is_success
        assert contents(client) == set()
        left = contents(client, include_superseded=True)
        assert left == {None}, "texts are erased, rows stay"
    with psycopg.connect(url) as owner:
        assert count(owner, "agents") == 0
        assert superuser.execute("SELECT count(*) > 0 FROM agents").fetchone() == (True,)
