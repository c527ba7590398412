"""Bring a database to the schema of this code, and refuse one that does not fit."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

import app
from app.store import cluster, roles, unfit
from app.store.engine import NoAddress, sqlalchemy_url
from app.store.installation import Installation, names_schema, read_installation
from app.store.preparation import (
    check_place,
    ensure_schemas,
    name_as_installed,
    open_to_roles,
    set_path,
)
from app.store.roles import Role

MINIMUM_SERVER = 160000
MINIMUM_PGVECTOR = (0, 8, 0)
# Earlier ones may damage the index of a large agent when it is vacuumed, or fail to vacuum it.
SOUND_PGVECTOR = (0, 8, 4)
logger = logging.getLogger(__name__)

CONNECT_TIMEOUT = 10  # seconds

# A page holds 8,160 bytes. The other columns of a memory can shrink to about 1,500 of them.
MOST_DIMENSIONS_IN_ROW = 1_536

# An arbitrary number that all processes of this service agree on, so that one migrates at a time.
_MIGRATION_LOCK = 7_265_104_377


# --- migrations --------------------------------------------------------------------------------


def migrate_database(owner_url: str, service_url: str | None = None) -> None:
    """Bring the database to the schema of this code, one process at a time.

    The login of `owner_url` owns the tables. The login of `service_url`, by default the same, is
    created if it is missing, and may take on the roles of the service from then on. If the tables
    are distributed over a cluster, new ones are too. Raise UnfitDatabase if the server, pgvector or
    the owner's rights do not do. An empty schema stays empty then.
    """
    service = _read_address(service_url or owner_url)
    with (
        explain_refusal(unfit.MigrationRefused),
        _open_migration(owner_url) as (connection, config),
    ):
        installation = read_installation(owner_url)
        is_new = check_place(
            connection,
            installation,
            is_named=names_schema(owner_url),
            revisions={script.revision for script in _open_scripts().walk_revisions()},
        )
        if is_new:
            ensure_schemas(connection, installation)
        roles.ensure_roles(
            connection, installation, login=service.username, password=service.password
        )
        open_to_roles(connection, installation, login=service.username)
        if not is_new:
            # What one revision locks is free again before the next one scans.
            connection.commit()
        command.upgrade(config, "head")
        cluster.place_new_tables(connection)


def migrate_down(url: str, revision: str = "base") -> None:
    """Take the database back to an earlier revision. Data that only later ones hold is lost."""
    with _open_migration(url) as (_, config):
        command.downgrade(config, revision)


@contextmanager
def explain_refusal(refused: Callable[[str], unfit.UnfitDatabase]) -> Iterator[None]:
    """Raise what `refused` makes of the reason if the server refuses a statement of the block."""
    try:
        yield
    except sa.exc.DBAPIError as problem:
        [reason, *_] = str(problem.orig).strip().splitlines()
        raise refused(reason) from None


@contextmanager
def open_owner(url: str) -> Iterator[sa.Connection]:
    """Open a migrated database for a change of its tables, while nobody migrates it.

    The login of `url` owns the tables. Raise UnfitDatabase.
    """
    check_schema(url)
    with _open_migration(url) as (connection, _):
        yield connection


@contextmanager
def _open_migration(url: str) -> Iterator[tuple[sa.Connection, Config]]:
    installation = read_installation(url)
    with _connect_database(url) as connection:
        _check_server(connection)
        lock = sa.text("SELECT pg_advisory_lock(:lock)")
        connection.execute(lock, {"lock": _MIGRATION_LOCK})
        connection.commit()
        name_as_installed(connection, installation)
        config = Config()
        folder = str(_find_migrations_folder())
        config.set_main_option("script_location", folder.replace("%", "%%"))  # as in any .ini file
        config.attributes["connection"] = connection
        config.attributes["schema"] = installation.schema
        yield connection, config
        connection.commit()


def _find_migrations_folder() -> Path:
    """Return the folder next to the package in a checkout, or inside it in a wheel."""
    package = Path(app.__file__).parent
    checkout = package.parent / "migrations"
    if (checkout / "env.py").exists():
        return checkout
    return package / "migrations"


# --- checks ------------------------------------------------------------------------------------


def check_schema(url: str) -> None:
    """Raise UnfitDatabase unless the database can be served as it is."""
    installation = read_installation(url)
    table_place = {"version_table_schema": installation.schema}
    with _connect_database(url) as connection:
        _check_server(connection)
        try:
            _become_operator(connection, installation)
            context = MigrationContext.configure(connection, opts=table_place)
            revision = context.get_current_revision()
        except (sa.exc.ProgrammingError, sa.exc.DataError):
            # A database that was never migrated, or not for this login, has no such role or table.
            raise unfit.OtherSchema from None
        if revision != _open_scripts().get_current_head():
            raise unfit.OtherSchema
        version = connection.execute(_INSTALLED_PGVECTOR).scalar()
        _check_pgvector(version)
        if _read_version(str(version)) < SOUND_PGVECTOR:
            sound = ".".join(map(str, SOUND_PGVECTOR))
            logger.warning("pgvector %s may damage large indexes; install %s", version, sound)


# Take on the role of the operator, for one transaction.
_BECOME_OPERATOR = sa.text("SELECT set_config('role', :role, true)")


def _become_operator(connection: sa.Connection, installation: Installation) -> None:
    connection.execute(_BECOME_OPERATOR, {"role": installation.name_role(Role.OPERATOR)})


def _open_scripts() -> ScriptDirectory:
    return ScriptDirectory(str(_find_migrations_folder()))


# The server's version, as a number and as people write it.
_SERVER_VERSION = sa.text("""
    SELECT
        CAST(current_setting('server_version_num') AS integer) AS number,
        current_setting('server_version') AS name
""")

# The version of pgvector that the database has, or would get.
_AVAILABLE_PGVECTOR = sa.text("""
    SELECT coalesce(installed_version, default_version)
    FROM pg_available_extensions
    WHERE name = 'vector'
""")

# The version of pgvector that the database has.
_INSTALLED_PGVECTOR = sa.text("""
    SELECT extversion
    FROM pg_extension
    WHERE extname = 'vector'
""")


def _check_server(connection: sa.Connection) -> None:
    server = connection.execute(_SERVER_VERSION).one()
    if server.number < MINIMUM_SERVER:
        raise unfit.OldServer(server.name)
    _check_pgvector(connection.execute(_AVAILABLE_PGVECTOR).scalar())


def _check_pgvector(version: str | None) -> None:
    needed = ".".join(map(str, MINIMUM_PGVECTOR))
    if version is None:
        raise unfit.MissingExtension(needed)
    if _read_version(version) < MINIMUM_PGVECTOR:
        raise unfit.OldExtension(version, needed)


def _read_version(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


# --- what a database is made for ---------------------------------------------------------------

# Record the model of the vectors, unless a model is recorded. A function of the owner does so,
# because the storage of the vectors depends on their size.
_CLAIM_ENCODER = sa.text("SELECT claim_encoder(:name, :dimensions, :storage)")

# Read the recorded model.
_READ_ENCODER = sa.text("""
    SELECT name, dimensions
    FROM encoder
""")


def claim_encoder(url: str, name: str, dimensions: int) -> None:
    """Record which model makes the database's vectors. Raise UnfitDatabase if another one does."""
    with _connect_database(url) as connection:
        _become_operator(connection, read_installation(url))
        storage = choose_vector_storage(dimensions)
        values = {"name": name, "dimensions": dimensions, "storage": storage}
        connection.execute(_CLAIM_ENCODER, values)
        stored = connection.execute(_READ_ENCODER).one()
        connection.commit()
    if tuple(stored) != (name, dimensions):
        raise unfit.OtherEncoder(stored=(stored.name, stored.dimensions), own=(name, dimensions))


def choose_vector_storage(dimensions: int) -> str:
    """Return the storage of vectors of this size.

    A vector is stored in the row if it fits there with the other columns. A scan would fetch every
    vector that is not.
    """
    return "PLAIN" if dimensions <= MOST_DIMENSIONS_IN_ROW else "EXTERNAL"


# Find a text search configuration.
_FIND_LANGUAGE = sa.text("""
    SELECT oid FROM pg_ts_config
    WHERE cfgname = :name AND pg_ts_config_is_visible(oid)
""")


def get_language_oid(url: str, name: str) -> int:
    """Return the oid of a text search configuration.

    Raise UnfitDatabase if this server has none of that name.
    """
    with _connect_database(url) as connection:
        oid: int | None = connection.execute(_FIND_LANGUAGE, {"name": name}).scalar()
    if oid is None:
        raise unfit.UnknownTextLanguage(name)
    return oid


def _connect_database(url: str) -> sa.Connection:
    """Connect to the database. Each transaction has the path of the installation."""
    try:
        engine = sa.create_engine(
            _read_address(url),
            poolclass=sa.NullPool,
            # A pooler may lie between.
            connect_args={"connect_timeout": CONNECT_TIMEOUT, "prepare_threshold": None},
        )
        sa.event.listen(engine, "begin", partial(set_path, read_installation(url)))
        return engine.connect()
    except sa.exc.OperationalError as problem:
        [reason, *_] = str(problem.orig).strip().splitlines()
        raise unfit.NoConnection(reason) from None


def _read_address(url: str) -> sa.URL:
    try:
        return sqlalchemy_url(url)
    except NoAddress as problem:
        raise unfit.UnreadableAddress(str(problem)) from None
