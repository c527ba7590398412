"""A Postgres of our own in a data folder, for when no database is configured.

Its users are processes: the service, and the commands that join it. Each of them watches it.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from app.store import unfit
from app.store.embedded_server import EmbeddedServer, open_server

logger = logging.getLogger(__name__)

DATABASE = "palimpsest"

# Seconds.
LOOK_EVERY = 0.5
SHORTEST_PAUSE = 0.5  # before a server that died is started again
LONGEST_PAUSE = 30.0


@contextmanager
def embedded_postgres(data_dir: Path) -> Iterator[str]:
    """Start or join the Postgres of `data_dir` and yield its URL. The last process stops it.

    The URL is that of its superuser. If Postgres dies it is started again. A Postgres that
    outlived a killed service is taken over. Raise UnfitDatabase if the folder cannot be written,
    or is in use out of sight: a second Postgres on the same files would ruin them.
    """
    folder = data_dir.resolve() / "postgres"
    with _open_folder(folder) as users, _open_lock_file(folder.with_suffix(".lock")) as door:
        with _locked(door):
            server = open_server(folder)
        try:
            with _locked(door):
                _join_server(server, users)
                _ensure_database(server.get_url("postgres"))
            with _watch_server(server, door):
                yield server.get_url(DATABASE)
        except unfit.NoConnection as problem:
            # Advice on it would name a setting that nobody has set.
            raise unfit.EmbeddedServerFailed(folder, problem.reason) from None
        finally:
            with _locked(door):
                _leave_server(server, users)


# --- who uses it -------------------------------------------------------------------------------


@contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """Create the folder if it is missing, and yield a descriptor to lock.

    A lock ends with its process, however that ends. Other containers see it.
    """
    if "\n" in str(folder):  # postmaster.pid has a line for the folder, and no escapes
        raise unfit.DataFolderUnwritable(
            folder=ascii(str(folder)), reason="A line break is in its name"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as problem:
        raise _explain_problem(problem) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _open_lock_file(path: Path) -> Iterator[int]:
    """Yield a descriptor of a file that no other account can open, and so none can lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        raise _explain_problem(problem) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _explain_problem(problem: OSError) -> unfit.DataFolderUnwritable:
    return unfit.DataFolderUnwritable(folder=str(problem.filename), reason=str(problem.strerror))


@contextmanager
def _locked(door: int) -> Iterator[None]:
    """Let one process at a time go in or out, or start the server again."""
    fcntl.flock(door, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(door, fcntl.LOCK_UN)


def _join_server(server: EmbeddedServer, users: int) -> None:
    """Make the server run. A shared lock on `users` lets it go on running."""
    if server.is_running():
        server.join()
    else:
        if not _is_only_user(users):
            raise unfit.DataFolderInUse(server.folder.parent)
        logger.info("Starting Postgres in %s.", server.folder)
        server.start()
    fcntl.flock(users, fcntl.LOCK_SH)


def _leave_server(server: EmbeddedServer, users: int) -> None:
    fcntl.flock(users, fcntl.LOCK_UN)
    if _is_only_user(users):
        server.stop()


def _is_only_user(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Find whether the service's database is there.
_FIND_DATABASE = """
    SELECT 1
    FROM pg_database
    WHERE datname = %s
"""


def _ensure_database(url: str) -> None:
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            is_there = connection.execute(_FIND_DATABASE, [DATABASE]).fetchone()
            if not is_there:
                connection.execute(f"CREATE DATABASE {DATABASE}")
    except psycopg.OperationalError as problem:
        raise unfit.NoConnection(str(problem).partition("\n")[0]) from None


# --- starting it again -------------------------------------------------------------------------


@contextmanager
def _watch_server(server: EmbeddedServer, door: int) -> Iterator[None]:
    """Start the server again whenever it dies: killed, out of memory, or on a full disk."""
    is_over = threading.Event()
    watcher = threading.Thread(
        target=_revive_until, args=(is_over, server, door), name="postgres-watch", daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


def _revive_until(is_over: threading.Event, server: EmbeddedServer, door: int) -> None:
    """Start the server again after each death, with pauses that grow while it dies again soon."""
    pause = SHORTEST_PAUSE
    last_start = time.monotonic()
    while not is_over.wait(LOOK_EVERY):
        if _seems_alive(server):
            continue
        if time.monotonic() - last_start > 2 * LONGEST_PAUSE:
            pause = SHORTEST_PAUSE
        logger.error("The embedded Postgres has died; it is started again in %.1f s.", pause)
        if is_over.wait(pause):
            break
        _try_to_revive(server, door)
        last_start = time.monotonic()
        pause = min(2 * pause, LONGEST_PAUSE)


def _seems_alive(server: EmbeddedServer) -> bool:
    try:
        return server.is_running()
    except Exception:  # such as too many open files: the next look may succeed
        logger.exception("The embedded Postgres cannot be watched at the moment.")
        return True


def _try_to_revive(server: EmbeddedServer, door: int) -> None:
    try:
        with _locked(door):  # another process watches it too
            if not server.is_running():
                server.start()
        logger.warning("The embedded Postgres runs again.")
    except unfit.UnfitDatabase as problem:
        logger.error("%s", problem)  # noqa: TRY400 - the message says it all
    except Exception:  # the next attempt may succeed
        logger.exception("The embedded Postgres could not be started again.")
