"""A primary and a standby that streams from it, on loopback, run by the wheel's programs."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from app.store.embedded_account import choose_account, find_programs
from support.service_process import free_port
from support.writers import wait_until


@dataclass(frozen=True)
class Node:
    """A Postgres of a replicated pair. Other accounts must be able to enter its folder."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *words: str) -> None:
        account = choose_account(self.folder)
        command = [str(find_programs(account) / program), "-D", str(self.folder), *words]
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
            **(account.as_options() if account else {}),
        )

    def start(self) -> None:
        options = (
            f"-p {self.port} -c fsync=off -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        )
        self.run("pg_ctl", "start", "-w", "-l", str(self.folder / "log"), "-o", options)

    def ask(self, statement: str) -> object:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement).fetchone()  # type: ignore[call-overload]  # constants
        return row[0] if row else None

    def kill(self) -> None:
        processes = self._list_processes()
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, timeout=10)

    @contextmanager
    def silenced(self) -> Iterator[None]:
        """Stop all its processes, which keeps every connection open, until the block ends."""
        processes = self._list_processes()
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        try:
            yield
        finally:
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def _list_processes(self) -> list[psutil.Process]:
        first_line, _, _ = (self.folder / "postmaster.pid").read_text().partition("\n")
        postmaster = psutil.Process(int(first_line))
        return [postmaster, *postmaster.children()]


@contextmanager
def replicated_pair(folder: Path, *, synchronous: bool = True) -> Iterator[tuple[Node, Node]]:
    """Yield a primary and its standby. A synchronous one has whatever the primary acknowledges."""
    primary, standby = (Node(folder / name, free_port()) for name in ("primary", "standby"))
    for node in (primary, standby):
        node.folder.mkdir(mode=0o700)
    try:
        primary.run("initdb", "--username=postgres", "--auth=trust", "--encoding=utf8", "--no-sync")
        primary.start()
        standby.run("pg_basebackup", "-R", "-d", primary.url, "--checkpoint=fast", "--no-sync")
        standby.start()
        if synchronous:
            _wait_for_standby(primary)
        yield primary, standby
    finally:
        for node in (primary, standby):
            with suppress(OSError, psutil.Error):
                node.kill()


def _wait_for_standby(primary: Node) -> None:
    """Make commits of the primary wait for its standby."""
    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        connection.execute("SELECT pg_reload_conf()")
    state = "SELECT sync_state FROM pg_stat_replication"
    wait_until(lambda: primary.ask(state) == "sync")
