"""All that a database and its archive folder hold, as text to search in."""

from pathlib import Path

import psycopg
from psycopg import sql


def everything(url: str) -> str:
    """All rows of all tables as text, those of the job library and large objects included."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'jobs') ORDER BY 1, 2"
        ).fetchall()
        rows = [
            str(row)
            for schema, table in tables
            for row in connection.execute(
                sql.SQL("SELECT t.*::text FROM {} AS t").format(sql.Identifier(schema, table))
            ).fetchall()
        ]
        large = [
            str(row)
            for row in connection.execute(
                "SELECT encode(lo_get(oid), 'escape') FROM pg_largeobject_metadata"
            ).fetchall()
        ]
    return "\n".join([*rows, *large])


def in_files(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
