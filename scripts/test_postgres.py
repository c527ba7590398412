"""Runs tests on the Postgres that is installed on this system, 16 to 18, in a folder that goes away.

Says in one line what is missing, and ends with status 1, if there is no such server, or it has no
pgvector. Tests of poolers are skipped without PgBouncer.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VERSIONS = (18, 17, 16)
POSTGRES = "postgres"  # the account that Debian makes for it
TESTS = (
    "tests/migrations",
    "tests/store/test_addresses.py",
    "tests/store/test_connections.py",
    "tests/store/test_roles.py",
    "tests/store/test_statements.py",
    "tests/attacks/test_database.py",
    "tests/attacks/test_isolation.py",
    "tests/attacks/test_pooler.py",
    "tests/attacks/test_shared_databases.py",
)
CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = '256MB'
"""


def main() -> None:
    programs = find_programs()
    if programs is None:
        sys.exit("No Postgres 16 to 18 is installed (on Debian: postgresql-17).")
    if not has_vectors(programs):
        sys.exit(f"{programs} has no pgvector (on Debian: postgresql-17-pgvector).")
    if "--check" in sys.argv:
        return
    if shutil.which("pgbouncer") is None:
        print("PgBouncer is not installed, so its tests are skipped.")
    with run_server(programs) as url:
        environment = {**os.environ, "PALIMPSEST_TEST_DATABASE_URL": url}
        tests = [sys.executable, "-m", "pytest", "-rs", *TESTS]
        sys.exit(subprocess.run(tests, env=environment, check=False).returncode)


def find_programs() -> Path | None:
    """Return the folder of the newest server's programs: those of Debian, or those on the path."""
    for version in VERSIONS:
        folder = Path(f"/usr/lib/postgresql/{version}/bin")
        if (folder / "initdb").exists():
            return folder
    on_path = shutil.which("postgres")
    if on_path is None:
        return None
    said = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=True)
    is_right = int(said.stdout.split()[2].split(".")[0]) in VERSIONS
    return Path(on_path).resolve().parent if is_right else None


def has_vectors(programs: Path) -> bool:
    debian = Path("/usr/share/postgresql") / programs.parent.name
    shares = (debian, programs.parent / "share", programs.parent / "share" / "postgresql")
    return any((share / "extension" / "vector.control").exists() for share in shares)


@contextmanager
def run_server(programs: Path) -> Iterator[str]:
    """Run a server on a free port of loopback, and yield its address."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-postgres-") as folder:
        if os.getuid() == 0:
            shutil.chown(folder, POSTGRES)
        data, port = Path(folder) / "data", find_free_port()
        create = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        run_program(programs / "initdb", "-D", data, *create)
        with (data / "postgresql.conf").open("a") as configuration:
            configuration.write(f"{CONFIGURATION}port = {port}\n")
        control = (programs / "pg_ctl", "-D", data)
        run_program(*control, "-l", f"{folder}/log", "-w", "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            run_program(*control, "-m", "immediate", "stop")


def run_program(*command: str | Path) -> None:
    """Run a program of Postgres, which refuses to run as root."""
    account = POSTGRES if os.getuid() == 0 else None
    groups: list[str] | None = [] if account else None
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        cwd="/",
        user=account,
        group=account,
        extra_groups=groups,
    )


def find_free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
