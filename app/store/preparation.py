"""Prepare a database for an installation: check what is there, and make what is missing."""

import re
from typing import Any, LiteralString

import psycopg
import sqlalchemy as sa
from psycopg import sql

from app.store import unfit
from app.store.installation import SEARCH_PATH, Installation
from app.store.roles import Role, get_driver, to_script
from app.store.tables import metadata

# --- names ---------------------------------------------------------------------------------------

_SET_PATH = f"SELECT set_config('search_path', {SEARCH_PATH}, true)"


def set_path(installation: Installation, connection: sa.Connection) -> None:
    """Let names mean those of the installation, until the end of the transaction."""
    connection.exec_driver_sql(_SET_PATH, {"schema": installation.schema})


_ROLE = re.compile(rf"\b({'|'.join(Role)})\b")
_QUEUE_SCHEMA = re.compile(r"\b(SCHEMA|search_path TO) jobs\b")


def name_as_installed(connection: sa.Connection, installation: Installation) -> None:
    """Let statements name the roles and the queue by their names for the default schema.

    Migrations do, whichever installation they are for.
    """

    def rename(
        _connection: object, _cursor: object, statement: str, parameters: Any, *_: object
    ) -> tuple[str, Any]:
        statement = _ROLE.sub(lambda role: installation.name_role(role[1]), statement)
        statement = _QUEUE_SCHEMA.sub(rf"\1 {installation.queue_schema}", statement)
        return statement, parameters

    sa.event.listen(connection, "before_cursor_execute", rename, retval=True)


# --- checking ------------------------------------------------------------------------------------

# Alembic's table, which outlives a downgrade. Other programs have one, too.
_REVISIONS = "alembic_version"

# Read what has to be known before anything is made.
_READ_PLACE = sa.text("""
    SELECT
        CAST(current_setting('transaction_read_only') AS boolean) AS is_read_only,
        to_regnamespace(:queue) IS NOT NULL AS has_queue,
        ARRAY(
            SELECT CAST(relname AS text) FROM pg_class
            WHERE relnamespace = CAST(to_regnamespace(quote_ident(:schema)) AS oid)
              AND relname = ANY(:tables)
            ORDER BY relname
        ) AS tables,
        ARRAY(
            SELECT CAST(nspname AS text)
            FROM pg_class AS log
            JOIN pg_class AS revision USING (relnamespace)
            JOIN pg_namespace AS n ON n.oid = log.relnamespace
            WHERE log.relname = 'consolidation_log' AND revision.relname = 'alembic_version'
            ORDER BY nspname
        ) AS others
""")


def check_place(
    connection: sa.Connection, installation: Installation, *, is_named: bool, revisions: set[str]
) -> bool:
    """Return whether nothing of the installation is there yet.

    `is_named` is False if no setting names the schema; `revisions` are those of this code. Raise
    UnfitDatabase if the place belongs to another program, or to another version.
    """
    schema = installation.schema
    tables = [*metadata.tables, _REVISIONS]
    names = {"schema": schema, "queue": installation.queue_schema, "tables": tables}
    place = connection.execute(_READ_PLACE, names).one()
    if place.is_read_only:
        raise unfit.DatabaseTakesNoWrites
    stored: set[str] = set()
    if _REVISIONS in place.tables:
        table = sa.table(_REVISIONS, sa.column("version_num"), schema=schema)
        stored = set(connection.execute(sa.select(table.c.version_num)).scalars())
    if stored - revisions:
        if "consolidation_log" not in place.tables:
            raise unfit.ForeignTables(schema, [_REVISIONS])
        # Revisions have their dates for names.
        raise unfit.UnreleasedSchema if max(stored) < min(revisions) else unfit.NewerSchema
    if stored:
        return False
    foreign = [table for table in place.tables if table != _REVISIONS]
    if foreign:
        raise unfit.ForeignTables(schema, foreign)
    if place.others and not is_named:
        raise unfit.OtherPlace(place.others[0])
    if place.has_queue:
        raise unfit.ForeignSchema(installation.queue_schema)
    return True


# --- making --------------------------------------------------------------------------------------

# What this login may do: in the schema, if there is one, and in the database.
_READ_RIGHTS = sa.text("""
    SELECT
        n.oid IS NOT NULL AS has_schema,
        n.oid IS NOT NULL
            AND has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION')
            AND has_schema_privilege(n.oid, 'CREATE WITH GRANT OPTION') AS may_use_schema,
        has_database_privilege(current_database(), 'CREATE') AS may_create_schemas,
        EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') AS has_vectors,
        coalesce(has_schema_privilege(to_regnamespace('public'), 'CREATE'), false) AS may_use_public
    FROM (VALUES (1)) AS one (row)
    LEFT JOIN pg_namespace AS n ON nspname = :schema
""")


def ensure_schemas(connection: sa.Connection, installation: Installation) -> None:
    """Create the schema of the tables and pgvector if they are missing.

    Raise MissingRights if this login may not, or may not create what comes after them.
    """
    driver = get_driver(connection)
    login, schema = sql.Identifier(driver.info.user), sql.Identifier(installation.schema)
    rights = connection.execute(_READ_RIGHTS, {"schema": installation.schema}).one()
    missing: list[sql.Composable] = []
    if not rights.may_create_schemas:
        database = sql.Identifier(driver.info.dbname)
        missing.append(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(database, login))
    elif not rights.has_schema:
        driver.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
    if rights.has_schema and not rights.may_use_schema:
        grant = sql.SQL("GRANT USAGE, CREATE ON SCHEMA {} TO {} WITH GRANT OPTION")
        missing.append(grant.format(schema, login))
    if not rights.has_vectors:
        place = sql.Identifier("public") if rights.may_use_public else schema
        create = sql.SQL("CREATE EXTENSION vector WITH SCHEMA {}").format(place)
        if missing or not _try(driver, create):
            missing.append(sql.SQL("CREATE EXTENSION vector"))
    if missing:
        raise unfit.MissingRights(to_script(missing))
    set_path(installation, connection)


_FIND_EXTENSION_SCHEMA = """
    SELECT nspname FROM pg_extension
    JOIN pg_namespace AS n ON n.oid = extnamespace
    WHERE extname = 'vector'
"""

_MAY_USE = "SELECT has_schema_privilege(%s, %s, 'USAGE')"
_MAY_CREATE_TEMPORARY = "SELECT has_database_privilege(%s, current_database(), 'TEMPORARY')"


def open_to_roles(
    connection: sa.Connection, installation: Installation, *, login: str | None
) -> None:
    """Let the roles use the schema, and pgvector's, and let both logins use that.

    Raise MissingRights if this login may not grant that.
    """
    driver = get_driver(connection)
    [extension] = driver.execute(_FIND_EXTENSION_SCHEMA).fetchone() or [installation.schema]
    users = [installation.name_role(role) for role in Role]
    logins = [driver.info.user, login or driver.info.user]
    uses = [(installation.schema, user) for user in users]
    uses += [(extension, user) for user in (*users, *logins)]
    missing = []
    for schema, user in dict.fromkeys(uses):
        grant = sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(
            sql.Identifier(schema), sql.Identifier(user)
        )
        if not _ensure(driver, grant, _MAY_USE, [user, schema]):
            missing.append(grant)
    service = installation.name_role(Role.SERVICE)
    grant = sql.SQL("GRANT TEMPORARY ON DATABASE {} TO {}").format(
        sql.Identifier(driver.info.dbname), sql.Identifier(service)
    )
    if not _ensure(driver, grant, _MAY_CREATE_TEMPORARY, [service]):
        missing.append(grant)
    if missing:
        raise unfit.MissingRights(to_script(missing))


def _ensure(
    driver: psycopg.Connection[Any], grant: sql.Composed, check: LiteralString, names: list[str]
) -> bool:
    """Grant what is missing. Return whether nothing is missing any more."""

    def is_there() -> bool:
        return bool((driver.execute(check, names).fetchone() or [False])[0])

    # A login that may use something, but not grant it, gets a warning.
    return is_there() or (_try(driver, grant) and is_there())


def _try(driver: psycopg.Connection[Any], statement: sql.Composed) -> bool:
    """Return whether this login was allowed to run the statement."""
    try:
        with driver.transaction():
            driver.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True
