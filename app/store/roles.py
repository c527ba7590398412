"""The roles that every transaction runs under, and how a migration makes them.

No role can log in. A login is granted the roles and takes one on for a transaction
(`app/store/engine.py`). What each may do is in the migration of row-level security.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

import psycopg
import sqlalchemy as sa
from psycopg import sql

from app.store import unfit
from app.store.installation import Installation


class Role(StrEnum):
    """The roles in the database, by their names for the default schema.

    Another installation has roles of its own (`Installation.name_role`).

    SERVICE reads and writes one agent, and only adds to the log. LOG_EDITOR may change and remove
    rows of that agent's log too: for reverts, erasures, retention and repairs. OPERATOR reads every
    agent. JOBS reads and writes the queue, KEYS the keys of callers.
    """

    SERVICE = "palimpsest_service"
    LOG_EDITOR = "palimpsest_log_editor"
    OPERATOR = "palimpsest_operator"
    JOBS = "palimpsest_jobs"
    KEYS = "palimpsest_keys"


# The login that the service uses in the embedded Postgres.
SERVICE_LOGIN = "palimpsest"


def build_service_url(owner_url: str) -> str:
    """Return the URL by which the service logs in to the embedded database of this URL."""
    parts = urlsplit(owner_url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{SERVICE_LOGIN}@{host}").geturl()


def ensure_roles(
    connection: sa.Connection,
    installation: Installation,
    *,
    login: str | None,
    password: str | None,
) -> None:
    """Create the roles that are missing, and grant them to this login and to the present one.

    A missing login is created, with this password; None is the present login. Roles belong to all
    databases of the server, so the roles may exist already, or another database's migration may
    create them meanwhile. Raise MissingRoles if something is missing that this login may not make.
    """
    driver = get_driver(connection)
    logins = _Logins(driver.info.user, login or driver.info.user, password)
    for statement in _iterate_missing(driver, installation, logins):
        try:
            with driver.transaction():
                driver.execute(statement)
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            continue  # another migration was faster
        except psycopg.errors.InsufficientPrivilege:
            missing = _iterate_missing(driver, installation, replace(logins, password=None))
            raise unfit.MissingRoles(to_script(missing)) from None


def to_script(statements: Iterable[sql.Composable]) -> str:
    """Return statements as one line that a person can run."""
    return " ".join(f"{statement.as_string()};" for statement in statements)


@dataclass(frozen=True, slots=True)
class _Logins:
    """The login that owns the tables, and that of the service with its password."""

    owner: str
    service: str
    password: str | None

    def __iter__(self) -> Iterator[str]:
        """Yield the names, each once."""
        return iter(dict.fromkeys((self.owner, self.service)))


def get_driver(connection: sa.Connection) -> psycopg.Connection[Any]:
    """Return the psycopg connection of a connection, in the same transaction."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def _iterate_missing(
    driver: psycopg.Connection[Any], installation: Installation, logins: _Logins
) -> Iterator[sql.Composed]:
    roles = [installation.name_role(role) for role in Role]
    for role in roles:
        if not _exists(driver, role):
            yield sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role))
    editor, service = map(installation.name_role, (Role.LOG_EDITOR, Role.SERVICE))
    if not _may_set(driver, editor, service):
        yield sql.SQL("GRANT {} TO {} WITH INHERIT TRUE").format(
            sql.Identifier(service), sql.Identifier(editor)
        )
    if not _exists(driver, logins.service):
        yield _create_login(driver, logins.service, logins.password)
    # A login may take the roles on. Until it does, it may do nothing that they may.
    grant = sql.SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE")
    for name in logins:
        if not all(_may_set(driver, name, role) for role in roles):
            granted = sql.SQL(", ").join(map(sql.Identifier, roles))
            yield grant.format(granted, sql.Identifier(name))


# Find a role by its name.
_FIND_ROLE = "SELECT 1 FROM pg_roles WHERE rolname = %s"

# Find a role that may take another one on. A superuser may take on every role.
_FIND_MEMBER = """
    SELECT 1 FROM pg_roles AS member
    JOIN pg_roles AS role ON role.rolname = %s
    WHERE member.rolname = %s AND pg_has_role(member.oid, role.oid, 'SET')
"""


def _exists(driver: psycopg.Connection[Any], name: str) -> bool:
    return driver.execute(_FIND_ROLE, [name]).fetchone() is not None


def _may_set(driver: psycopg.Connection[Any], member: str, role: str) -> bool:
    return driver.execute(_FIND_MEMBER, [role, member]).fetchone() is not None


def _create_login(
    driver: psycopg.Connection[Any], login: str, password: str | None
) -> sql.Composed:
    """Return the statement that creates a plain login. The server does not see the password."""
    statement = sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(login))
    if password is None:
        return sql.Composed([statement])
    verifier = driver.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256")
    return statement + sql.SQL(" PASSWORD {}").format(sql.Literal(verifier.decode()))
