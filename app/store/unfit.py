"""The reasons why a database cannot be served, as facts; `app/advice.py` says what to do."""

from collections.abc import Sequence
from pathlib import Path


class UnfitDatabase(Exception):
    """The database cannot be served; the message is one line."""


class OtherSchema(UnfitDatabase):
    """The database has the schema of another version."""

    def __init__(self) -> None:
        super().__init__("The database schema is not that of this version.")


class OtherEncoder(UnfitDatabase):
    """Another model made the vectors in the database."""

    def __init__(self, stored: tuple[str, int], own: tuple[str, int]) -> None:
        """Each model is a name and the size of its vectors."""
        super().__init__(
            f"The vectors in this database were made by {stored[0]} ({stored[1]} dimensions), "
            f"not by {own[0]} ({own[1]})."
        )
        self.name = own[0]


class UnknownTextLanguage(UnfitDatabase):
    """The server has no text search configuration of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"this Postgres has no text search configuration {name!r}; `english` is one."
        )


class UnreadableAddress(UnfitDatabase):
    """The address of the database cannot be read."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The address of the database is wrong: {reason}")
        self.reason = reason


class NoConnection(UnfitDatabase):
    """The server cannot be reached, or refuses the connection."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Cannot connect to the database: {reason}")
        self.reason = reason


class MissingRoles(UnfitDatabase):
    """The database has not all roles, and this login may not create them.

    `statements` is the SQL with which an administrator creates them, in one line.
    """

    def __init__(self, statements: str) -> None:
        super().__init__("Roles are missing, and this login may not create them.")
        self.statements = statements


class MissingRights(UnfitDatabase):
    """The login that migrates lacks rights.

    `statements` is the SQL with which an administrator grants them, or makes what they are needed
    for, in one line.
    """

    def __init__(self, statements: str) -> None:
        super().__init__("This login has not all rights that a migration needs.")
        self.statements = statements


class ForeignTables(UnfitDatabase):
    """The schema holds tables of another program under names that are needed."""

    def __init__(self, schema: str, tables: Sequence[str]) -> None:
        names = ", ".join(tables)
        super().__init__(f"The schema {schema} holds tables of another program: {names}.")


class ForeignSchema(UnfitDatabase):
    """The database has a schema of another program under the name that the queue needs."""

    def __init__(self, schema: str) -> None:
        super().__init__(f"The database has a schema {schema} of another program.")


class OtherPlace(UnfitDatabase):
    """No setting names a schema, and the tables of this service are in one that is no default."""

    def __init__(self, schema: str) -> None:
        super().__init__(f"This database has the tables of Palimpsest in the schema {schema}.")
        self.schema = schema


class NewerSchema(UnfitDatabase):
    """The tables are those of a later version."""

    def __init__(self) -> None:
        super().__init__("The database was migrated by a later version.")


class UnreleasedSchema(UnfitDatabase):
    """The tables are older than the first revision of the schema."""

    def __init__(self) -> None:
        super().__init__("The database was made by an unreleased version from before.")


class DatabaseTakesNoWrites(UnfitDatabase):
    """The server is a standby, or the database or the login is set to read only."""

    def __init__(self) -> None:
        super().__init__("The database takes no writes.")


class MigrationRefused(UnfitDatabase):
    """The server refuses a statement of the migration."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The database was not migrated: {reason}.")


class OldServer(UnfitDatabase):
    """The server's version of Postgres is too old."""

    def __init__(self, version: str) -> None:
        super().__init__(f"Postgres {version} is too old: 16 or newer is needed.")


class MissingExtension(UnfitDatabase):
    """The server has no pgvector. `needed` is the oldest version that will do."""

    def __init__(self, needed: str) -> None:
        super().__init__("The extension `vector` (pgvector) is missing.")
        self.needed = needed


class OldExtension(UnfitDatabase):
    """The server's version of pgvector is too old."""

    def __init__(self, version: str, needed: str) -> None:
        super().__init__(f"pgvector {version} is too old: {needed} or newer is needed.")


class ClusterRefused(UnfitDatabase):
    """Citus does not distribute the database: the extension, a node or a right is missing."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The database was not distributed: {reason}")


class DataFolderUnwritable(UnfitDatabase):
    """The folder of the embedded Postgres cannot be made or opened."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(f"The data folder {folder} cannot be opened: {reason}.")
        self.folder = folder
        self.reason = reason


class DataFolderInUse(UnfitDatabase):
    """A process that cannot be seen from here runs a Postgres on the same files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is in use by a process that cannot be seen from here, "
            "such as one in another container."
        )


class EmbeddedServerFailed(UnfitDatabase):
    """The embedded Postgres does not start."""

    def __init__(self, folder: Path, reason: object) -> None:
        sentence = str(reason).removesuffix(".")
        super().__init__(f"The embedded Postgres in {folder} does not start: {sentence}")


class PastInUse(UnfitDatabase):
    """A transaction still sees rows that were changed or removed since it began."""

    def __init__(self) -> None:
        super().__init__("A transaction that began earlier still sees what was erased.")


class TableInUse(UnfitDatabase):
    """A transaction keeps a table from being locked."""

    def __init__(self, table: str) -> None:
        super().__init__(f"The table {table} is in use.")
