"""F5, F9: the embedded Postgres is killed, its disk is full, and other accounts try to get in."""

import ctypes
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from app.store.embedded import embedded_postgres
from app.store.embedded_account import find_programs
from app.store.embedded_server import open_server
from support.service_process import served
from support.writers import four_writers, is_ready, list_contents, wait_until

STRANGER = 65534  # the account `nobody`

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another account")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="prctl, tmpfs and /proc are Linux's")


# --- killed ------------------------------------------------------------------------------------


def find_postmaster(folder: Path) -> psutil.Process:
    first_line, _, _ = (folder / "postgres" / "postmaster.pid").read_text().partition("\n")
    return psutil.Process(int(first_line))


def kill_postgres(folder: Path) -> None:
    postmaster = find_postmaster(folder)
    for process in (postmaster, *postmaster.children()):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs([postmaster], timeout=10)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_whose_postgres_is_killed_resumes_by_itself(
    data_folder: Path, workers: str
) -> None:
    with served(data_folder, "--workers", workers) as service:
        with four_writers(service) as acknowledged:
            for _ in range(2):
                time.sleep(0.3)
                before = find_postmaster(data_folder)
                kill_postgres(data_folder)
                wait_until(lambda: is_ready(service))
                assert find_postmaster(data_folder) != before
            time.sleep(0.3)
        assert acknowledged
        assert acknowledged <= list_contents(service)
    assert not (data_folder / "postgres" / "postmaster.pid").exists(), "the service stops it too"


def test_one_that_cannot_start_is_tried_again(data_folder: Path) -> None:
    program = data_folder / "postgres" / "PG_VERSION"
    with embedded_postgres(data_folder) as url:
        right_version = program.read_text()
        program.write_text("1\n")
        kill_postgres(data_folder)
        log = data_folder / "postgres" / "log"
        wait_until(lambda: "incompatible with server" in log.read_text())
        program.write_text(right_version)
        wait_until(lambda: can_connect(url))


def can_connect(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def first_process() -> Iterator[None]:
    """Make this process the parent of orphans, as the first process of a container is."""
    libc, set_child_subreaper = ctypes.CDLL(None), 36
    libc.prctl(set_child_subreaper, 1, 0, 0, 0)
    yield
    libc.prctl(set_child_subreaper, 0, 0, 0, 0)


@on_linux
@pytest.mark.usefixtures("first_process")
def test_it_resumes_if_the_service_is_the_first_process_of_a_container(data_folder: Path) -> None:
    with embedded_postgres(data_folder) as url:
        for _ in range(2):
            before = find_postmaster(data_folder)
            wait_until(lambda process=before: process.ppid() == os.getpid())
            kill_postgres(data_folder)
            wait_until(lambda: can_connect(url))
            assert find_postmaster(data_folder) != before
    children = psutil.Process().children()
    assert not [child for child in children if child.status() == psutil.STATUS_ZOMBIE]


# --- a full disk -------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=150m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill_disk(disk: Path) -> Path:
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(65_536))
    return ballast


def begin_log_file(data_dir: Path) -> None:
    """Use the log up faster. Postgres dies if it cannot make the next file of its log."""
    url = open_server(data_dir / "postgres").get_url("postgres")
    with suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_switch_wal()")


@on_linux
def test_a_service_resumes_by_itself_when_a_full_disk_is_freed(
    small_disk: Path, tmp_path: Path
) -> None:
    acknowledged = set()
    with (
        served(tmp_path, PALIMPSEST_DATA_DIR=str(small_disk / "data")) as service,
        httpx.Client(base_url=service.address, timeout=60) as client,
    ):
        ballast = fill_disk(small_disk)
        for number in range(10_000):
            if "does not start" in service.log.read_text():
                break
            fact = f"Fact {number}" + " is large" * 500
            response = client.post("/v1/memories", json={"content": fact, "classify": False})
            assert response.status_code in {201, 503}, response.text
            if response.status_code == 201:
                acknowledged.add(fact)
            begin_log_file(small_disk / "data")
        assert not is_ready(service)
        ballast.unlink()
        wait_until(lambda: is_ready(service))
        assert acknowledged <= list_contents(service)
        assert client.post("/v1/memories", json={"content": "Has a cat"}).status_code == 201


# --- other accounts ----------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account can enter and read."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def run_as_stranger(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        user=STRANGER,
        group=STRANGER,
        extra_groups=[],
    )


def ask_as_stranger(url: str) -> subprocess.CompletedProcess[str]:
    psql = find_programs(None) / "psql"
    return run_as_stranger(str(psql), url, "-Atc", "SELECT 'let in'")


@as_root
@pytest.mark.parametrize("name", ["short", "long" * 30])
def test_another_account_cannot_connect(open_folder: Path, name: str) -> None:
    with embedded_postgres(open_folder / name) as url:
        assert can_connect(url)
        refused = ask_as_stranger(url)
        assert "let in" not in refused.stdout
        assert "Permission denied" in refused.stderr


@as_root
def test_another_account_is_refused_by_postgres_too(open_folder: Path) -> None:
    """Modes may be opened by mistake."""
    with embedded_postgres(open_folder / "data") as url:
        socket = open_folder / "data" / "postgres" / ".s.PGSQL.5432"
        socket.parent.chmod(0o755)
        socket.chmod(0o777)
        for login in ("postgres", "palimpsest", "nobody"):
            refused = ask_as_stranger(url.replace("//postgres@", f"//{login}@"))
            assert "Peer authentication failed" in refused.stderr


@as_root
def test_files_of_the_database_are_closed_to_others(open_folder: Path) -> None:
    with embedded_postgres(open_folder / "data"):
        seen = run_as_stranger("ls", str(open_folder / "data" / "postgres"))
        assert "Permission denied" in seen.stderr


@as_root
def test_a_folder_that_trusts_everybody_is_closed_while_it_runs(open_folder: Path) -> None:
    """Earlier versions let everybody in who reaches the socket."""
    folder = open_folder / "postgres"
    folder.mkdir()
    server = open_server(folder)
    server.start()
    access = folder / "pg_hba.conf"
    access.write_text("local all all trust\n")
    server._run_program("pg_ctl", "reload")
    folder.chmod(0o755)
    (folder / ".s.PGSQL.5432").chmod(0o777)
    wait_until(lambda: "let in" in ask_as_stranger(server.get_url("postgres")).stdout)
    with embedded_postgres(open_folder) as url:
        assert "trust" not in access.read_text()
        wait_until(lambda: "Peer authentication failed" in ask_as_stranger(url).stderr)
        assert can_connect(url)
    assert not server.is_running()


@as_root
def test_folders_above_keep_their_modes(open_folder: Path) -> None:
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    between = home / "between"
    between.mkdir(mode=0o750)
    with embedded_postgres(between / "data") as url:
        assert can_connect(url)
    assert [folder.stat().st_mode & 0o777 for folder in (home, between)] == [0o700, 0o750]


@as_root
def test_two_accounts_run_their_own_at_the_same_time(open_folder: Path) -> None:
    try:
        run_as_stranger(sys.executable, "-c", "")
    except PermissionError:
        pytest.skip("the other account may not run this Python")
    own, other, temporary = (open_folder / name for name in ("own", "other", "temporary"))
    for folder in (other, temporary):
        folder.mkdir()
        os.chown(folder, STRANGER, STRANGER)
    lock = temporary / ".lockfile"
    lock.touch(mode=0o600)
    where = {name: str(temporary) for name in ("TMPDIR", "XDG_RUNTIME_DIR", "HOME")}
    with embedded_postgres(own) as url:
        command = [sys.executable, "-m", "app.cli", "migrate"]
        migrated = run_as_stranger(*command, PALIMPSEST_DATA_DIR=str(other), **where)
        assert migrated.returncode == 0, migrated.stderr
        assert can_connect(url)
    assert (other / "postgres" / "PG_VERSION").stat().st_uid == STRANGER


@as_root
@pytest.mark.parametrize("name", ['it\'s "quoted"', "`id` $HOME", "a,b @c"])
def test_another_account_serves_a_folder_of_any_name(open_folder: Path, name: str) -> None:
    """Not root's Postgres, which sees no name: a shell starts this one."""
    folder = open_folder / name
    folder.mkdir()
    os.chown(folder, STRANGER, STRANGER)
    where = {"PALIMPSEST_DATA_DIR": str(folder), "HOME": str(folder)}
    try:
        migrated = run_as_stranger(sys.executable, "-m", "app.cli", "migrate", **where)
    except PermissionError:
        pytest.skip("the other account may not run this Python")
    assert migrated.returncode == 0, migrated.stderr


def test_a_lock_on_the_data_folder_blocks_nobody(tmp_path: Path) -> None:
    """Every account that may read a folder may lock it."""
    tmp_path.chmod(0o755)
    blocker = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(blocker, fcntl.LOCK_EX)
    environment = {**os.environ, "PALIMPSEST_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "app.cli", "migrate"]
    subprocess.run(command, env=environment, check=True, timeout=120)
    os.close(blocker)
    assert (tmp_path / "postgres.lock").stat().st_mode & 0o077 == 0


@on_linux
def test_postgres_gets_no_secret_of_the_environment(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_API_KEY", "a-secret-of-the-service-0123456789abcdef")
    with embedded_postgres(data_folder):
        environment = find_postmaster(data_folder).environ()
    assert "a-secret-of-the-service-0123456789abcdef" not in str(environment)
