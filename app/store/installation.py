"""One Palimpsest in a database, and the names in which it differs from another one there."""

import hashlib
import re
from dataclasses import dataclass

from app.database_urls import SCHEMA, split_options

DEFAULT_SCHEMA = "public"

# The names of roles have 63 bytes at most.
_LONGEST_STEM = 30


@dataclass(frozen=True, slots=True)
class Installation:
    """The service whose tables are in this schema.

    Its queue has a schema of its own, and its roles are granted nothing in another one's schemas.
    """

    schema: str = DEFAULT_SCHEMA

    @property
    def queue_schema(self) -> str:
        """The schema of the job library's tables. The name needs no quotes."""
        return self._name("jobs")

    def name_role(self, role: str) -> str:
        """Return the name that a role of the default schema has here. It needs no quotes."""
        prefix = "palimpsest_"
        return prefix + self._name(role.removeprefix(prefix))

    def _name(self, name: str) -> str:
        """Return the name here of what has this name in the default schema."""
        if self.schema == DEFAULT_SCHEMA:
            return name
        stem = re.sub(r"[^a-z0-9_]+", "_", self.schema.lower())
        if stem != self.schema or len(stem) > _LONGEST_STEM:
            digest = hashlib.sha256(self.schema.encode()).hexdigest()
            stem = f"{stem[:_LONGEST_STEM]}_{digest[:8]}"
        return f"{stem}_{name}"


def read_installation(url: str) -> Installation:
    """Return the installation that an address names."""
    _, options = split_options(url)
    return Installation(options.get(SCHEMA) or DEFAULT_SCHEMA)


def names_schema(url: str) -> bool:
    """Return whether an address says which schema is meant."""
    _, options = split_options(url)
    return bool(options.get(SCHEMA))


# Look names up among the tables of the installation, and then in the schema of pgvector, whatever
# the login's own path is. Temporary tables come last, so that none hides a table.
SEARCH_PATH = """
    concat_ws(
        ', ',
        quote_ident(CAST(%(schema)s AS text)),
        (
            SELECT quote_ident(nspname)
            FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace
            WHERE extname = 'vector' AND nspname <> CAST(%(schema)s AS text)
        ),
        'pg_temp'
    )
"""
