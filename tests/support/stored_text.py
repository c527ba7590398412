"""All that a database and its folders hold, as text to search in."""

from pathlib import Path

import psycopg
from psycopg import sql


def everything(url: str) -> str:
    """All rows of all tables as text, those of the job library and large objects included, and the planner's statistics."""
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
    return "\n".join([*rows, *large, read_statistics(url)])


def read_statistics(url: str) -> str:
    """All that Postgres' planner keeps of the values in columns."""
    views = ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs")
    query = sql.SQL("SELECT s.*::text FROM {} AS s WHERE schemaname IN ('public', 'jobs')")
    with psycopg.connect(url) as connection:
        return "\n".join(
            str(row)
            for view in views
            for row in connection.execute(query.format(sql.Identifier(view))).fetchall()
        )


def in_files(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
