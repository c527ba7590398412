"""Bringing a database to the schema of this code, and refusing one that does not fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

import app
from app.store import unfit
from app.store.engine import NoAddress, sqlalchemy_url

MINIMUM_SERVER = 160000
MINIMUM_PGVECTOR = (0, 8, 4)
CONNECT_TIMEOUT = 10  # seconds

# A page holds 8,160 bytes; what else a memory has can shrink to about 1,500 of them.
MOST_DIMENSIONS_IN_ROW = 1_536

# An arbitrary number that all processes of this service agree on, so that only one migrates at a time.
_MIGRATION_LOCK = 7_265_104_377


def migrate_database(url: str) -> None:
    """Brings the database to the schema of this code, one process at a time. Raises UnfitDatabase for a server that is too old."""
    with _open_migration(url) as config:
        command.upgrade(config, "head")


def migrate_down(url: str, revision: str = "base") -> None:
    """Takes the database back to an earlier revision; what only later ones hold is lost."""
    with _open_migration(url) as config:
        command.downgrade(config, revision)


@contextmanager
def _open_migration(url: str) -> Iterator[Config]:
    with _connect_database(url) as connection:
        _check_server(connection)
        connection.execute(sa.text("SELECT pg_advisory_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        connection.commit()
        yield _alembic_config(connection)
        connection.commit()


def check_schema(url: str) -> None:
    """Raises UnfitDatabase unless the database can be served as it is."""
    with _connect_database(url) as connection:
        _check_server(connection)
        if _read_stored_revision(connection) != _read_head_revision():
            raise unfit.OtherSchema
        _check_pgvector(connection, "pg_extension", "extversion", "extname")


def claim_encoder(url: str, name: str, dimensions: int) -> None:
    """Records which model makes this database's vectors. Raises UnfitDatabase where another one does."""
    with _connect_database(url) as connection:
        claim = sa.text(
            "INSERT INTO encoder (the_one, name, dimensions) VALUES (true, :name, :dimensions) ON CONFLICT DO NOTHING"
        )
        first = connection.execute(claim, {"name": name, "dimensions": dimensions}).rowcount == 1
        if first:
            connection.execute(
                sa.text(
                    f"ALTER TABLE memories ALTER COLUMN embedding SET STORAGE {choose_vector_storage(dimensions)}"
                )
            )
        connection.commit()
        stored = connection.execute(sa.text("SELECT name, dimensions FROM encoder")).one()
    if tuple(stored) != (name, dimensions):
        raise unfit.OtherEncoder(stored=(stored.name, stored.dimensions), own=(name, dimensions))


def choose_vector_storage(dimensions: int) -> str:
    """How vectors of this size are stored: in the row where they fit it beside everything else, for a scan would fetch each one apart."""
    return "PLAIN" if dimensions <= MOST_DIMENSIONS_IN_ROW else "EXTERNAL"


def get_language_oid(url: str, name: str) -> int:
    """The oid of a text search configuration. Raises UnfitDatabase where this server has none of that name."""
    find = sa.text(
        "SELECT oid FROM pg_ts_config WHERE cfgname = :name AND pg_ts_config_is_visible(oid)"
    )
    with _connect_database(url) as connection:
        found: int | None = connection.execute(find, {"name": name}).scalar()
    if found is None:
        raise unfit.UnknownTextLanguage(name)
    return found


def _connect_database(url: str) -> sa.Connection:
    try:
        return sa.create_engine(
            sqlalchemy_url(url),
            poolclass=sa.NullPool,
            connect_args={"connect_timeout": CONNECT_TIMEOUT},
        ).connect()
    except NoAddress as problem:
        raise unfit.UnreadableAddress(str(problem)) from None
    except sa.exc.OperationalError as problem:
        reason = str(problem.orig).strip().splitlines()[0]
        raise unfit.NoConnection(reason) from None


def _check_server(connection: sa.Connection) -> None:
    version = connection.execute(
        sa.text(
            "SELECT current_setting('server_version_num')::int, current_setting('server_version')"
        )
    ).one()
    if version[0] < MINIMUM_SERVER:
        raise unfit.OldServer(version[1])
    _check_pgvector(
        connection,
        "pg_available_extensions",
        "coalesce(installed_version, default_version)",
        "name",
    )


def _check_pgvector(connection: sa.Connection, catalog: str, version: str, name: str) -> None:
    found = connection.execute(
        sa.text(f"SELECT {version} FROM {catalog} WHERE {name} = 'vector'")
    ).scalar()
    needed = ".".join(map(str, MINIMUM_PGVECTOR))
    if found is None:
        raise unfit.MissingExtension(needed)
    if tuple(int(part) for part in found.split(".")) < MINIMUM_PGVECTOR:
        raise unfit.OldExtension(found, needed)


def _alembic_config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_find_migrations_folder()))
    config.attributes["connection"] = connection
    return config


def _find_migrations_folder() -> Path:
    """Beside the package in a checkout, inside it when installed from a wheel."""
    package = Path(app.__file__).parent
    return next(
        folder
        for folder in (package.parent / "migrations", package / "migrations")
        if (folder / "env.py").exists()
    )


def _read_head_revision() -> str | None:
    return ScriptDirectory(str(_find_migrations_folder())).get_current_head()


def _read_stored_revision(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()
