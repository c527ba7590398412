"""The roles and logins that a migration makes."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from app.store import schema
from app.store.roles import Role
from support.databases import fresh_database
from support.urls import with_user


@pytest.fixture
def new_login(server_url: str) -> Iterator[str]:
    """The name of a login that does not exist yet."""
    name = f"login_{uuid4().hex}"
    yield name
    with psycopg.connect(server_url, autocommit=True) as superuser:
        superuser.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


def test_a_missing_login_is_created_with_its_password(server_url: str, new_login: str) -> None:
    with fresh_database(server_url) as url, psycopg.connect(url) as superuser:
        schema.migrate_database(url, with_user(url, new_login, "secret"))
        row = superuser.execute(
            "SELECT rolcanlogin, rolsuper, rolcreaterole, rolpassword LIKE 'SCRAM-SHA-256$%%'"
            " FROM pg_authid WHERE rolname = %s",
            [new_login],
        ).fetchone()
        assert row == (True, False, False, True)
        granted = superuser.execute(
            "SELECT roleid::regrole::text, inherit_option, set_option FROM pg_auth_members"
            " WHERE member = %s::regrole ORDER BY 1",
            [new_login],
        ).fetchall()
        assert granted == [(role, False, True) for role in sorted(Role)]


@pytest.mark.slow
def test_databases_of_one_server_are_migrated_at_once(server_url: str, new_login: str) -> None:
    """Roles belong to the whole server: each migration finds those that another one just made."""
    processes = ProcessPoolExecutor(4, multiprocessing.get_context("spawn"))
    with ExitStack() as stack, processes:
        urls = [stack.enter_context(fresh_database(server_url)) for _ in range(4)]
        migrating = [
            processes.submit(schema.migrate_database, url, with_user(url, new_login, "secret"))
            for url in urls
        ]
        for migration in migrating:
            migration.result()
        for url in urls:
            schema.check_schema(url)
